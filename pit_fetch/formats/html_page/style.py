"""The style sheet of a page: on a screen, light or dark, and on paper."""

_LIGHT = (
    "--ground:#fbfaf7;--sheet:#fff;--ink:#1d2430;--soft:#5c6675;--rule:#e4e1d9;--blue:#2457a7;--fill:#2457a71f;"
    "--odd:#8a3ea8;--pit:#b93a0e;--later:#8a8f991c;--grey:#a9afb9;--faint:#737b88;--warn:#8a5a00;--bad:#a3262a;--good:#1d7044;color-scheme:light"
)
_DARK = (
    "--ground:#11151b;--sheet:#171c24;--ink:#e4e8ee;--soft:#98a3b3;--rule:#2a323e;--blue:#86b4ff;--fill:#86b4ff26;"
    "--odd:#cf9bf0;--pit:#ff9a66;--later:#ffffff0d;--grey:#5d6776;--faint:#828d9d;--warn:#e3b35c;--bad:#ff8f8f;--good:#6cd09b;color-scheme:dark"
)

STYLE = (
    f":root{{{_LIGHT}}}@media(prefers-color-scheme:dark){{:root{{{_DARK}}}}}"
    """
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
body>*{max-width:1180px;margin-inline:auto;padding-inline:28px}
.skip{position:absolute;left:-99em}.skip:focus{left:1em;top:1em;background:var(--sheet);padding:.5em 1em}
:focus-visible{outline:2px solid var(--pit);outline-offset:2px;border-radius:3px}
header{padding-block:40px 8px}
.source{margin:0;color:var(--blue);font-weight:600;letter-spacing:.02em}
h1{margin:.1em 0 .3em;font:600 30px/1.2 Charter,"Iowan Old Style",Georgia,serif;text-wrap:balance}
h1 time{white-space:nowrap}
h1 small{font:400 15px/1.5 system-ui,sans-serif;color:var(--soft);white-space:nowrap}
header p{margin:.2em 0;color:var(--soft)}
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft);overflow-wrap:anywhere}
figure{margin-block:20px 8px}
svg{display:block;width:100%;height:auto;background:var(--sheet);border:1px solid var(--rule);border-radius:10px}
figcaption{margin-top:6px;color:var(--soft);font-size:13px}
.axis{stroke:var(--rule)}.tick{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
.later{fill:var(--later)}line.pit{stroke:var(--pit);stroke-width:1.5;stroke-dasharray:5 3}circle.pit{fill:var(--pit)}
text.pit{fill:var(--pit);font-size:12.5px;font-weight:600}
.new{--look:var(--good)}.changed,.revised{--look:var(--warn)}.late,.gone{--look:var(--grey)}.undated,.repeated{--look:var(--odd)}.unusable{--look:var(--bad)}
.bar{fill:var(--look,var(--blue))}.mark{stroke:var(--look,var(--blue));stroke-width:5;stroke-linecap:round}.hit{fill:transparent}a:hover .hit,a:focus .hit{fill:var(--fill)}
.area{fill:var(--fill)}.curve{fill:none;stroke:var(--look,var(--blue));stroke-width:1.75;stroke-linejoin:round}
.tip{fill:var(--look,var(--blue))}.curve.estimate{stroke:var(--soft);stroke-dasharray:4 3}
.stem{stroke:var(--soft)}circle.ring{fill:var(--sheet);stroke:var(--soft);stroke-width:1.5}
text.figure,text.name{paint-order:stroke;stroke:var(--sheet);stroke-width:4px;stroke-linejoin:round}text.name{fill:var(--ink)}
.key{list-style:none;margin:6px 0 0;padding:0;display:flex;flex-wrap:wrap;gap:2px 18px}.key li{white-space:nowrap}
.key i{display:inline-block;margin-right:.5em;vertical-align:middle}
.key .dot,.key .ring{width:9px;height:9px;border-radius:50%;background:var(--blue)}.key .ring{background:none;border:1.5px solid var(--soft)}
h2{font:600 13px/1.5 system-ui,sans-serif;color:var(--soft);margin:20px 0 6px}
.gaps ul{list-style:none;margin:0;padding:0}
.legend{list-style:none;margin-block:0;padding-block:0;display:flex;flex-wrap:wrap;gap:2px 22px;font-size:13px;color:var(--soft)}
.legend li::before{content:"";display:inline-block;width:.7em;height:.7em;margin-right:.5em;border-radius:2px;background:var(--look,var(--blue))}
.legend em{font-style:normal;font-weight:600}
.gaps li{display:grid;grid-template-columns:9.5em 1fr;gap:12px;padding:5px 0;border-top:1px solid var(--rule);font-size:14px;overflow-wrap:anywhere}
.gaps b{font-weight:600;color:var(--soft)}.truncated b{color:var(--warn)}
.config b,.upstream_error b,.input_error b,.internal_error b,.invalid_pit b{color:var(--bad)}
main{padding-block:22px}
.tools{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:0 0 10px;font-size:14px}
.tools input,.tools select{font:inherit;color:inherit;background:var(--sheet);border:1px solid var(--rule);border-radius:8px;padding:6px 10px;max-width:100%}
.tools input{flex:1 1 16em;min-width:0}.tools select{flex:0 1 auto;max-width:16em}.tools output{color:var(--soft);font-size:13px;font-variant-numeric:tabular-nums}
.tools output:empty{display:none}.tools ::placeholder{color:var(--faint);opacity:1}
th button{position:relative;font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}th button:hover{color:var(--blue)}
th button::after{content:"\\2195";opacity:0;position:absolute;left:100%;padding-left:.2em}th button:hover::after,th button:focus::after{opacity:.6}
th[aria-sort] button{color:var(--ink)}th[aria-sort] button::after{content:"\\2191";opacity:1}th[aria-sort=descending] button::after{content:"\\2193"}
.items{overflow-x:auto;background:var(--sheet);border:1px solid var(--rule);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;font-weight:600;color:var(--soft);padding:9px 14px;background:var(--sheet);white-space:nowrap;border-bottom:1px solid var(--rule)}
td{padding:7px 14px;vertical-align:top;border-top:1px solid var(--rule)}
tbody tr:first-child td{border-top:0}
tr:target td{background:var(--fill)}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.t{white-space:nowrap;font-variant-numeric:tabular-nums}.t i{font-style:normal;color:var(--soft)}
.id{white-space:nowrap;color:var(--soft);font:12px/1.8 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}.id.long{min-width:30em;white-space:normal}
td a{color:inherit;text-decoration-color:var(--grey);text-underline-offset:3px}td a:hover{color:var(--blue)}
td em{font-style:normal;font-weight:600;font-size:12.5px;color:var(--look,var(--blue))}
.items s,.grey td,.late td em,.gone td em{color:var(--faint)}.grey td i{color:inherit}
.more td{border-top:0;padding-block:0 5px;font-size:13px;line-height:1.35;color:var(--soft)}.grey+.more td{color:var(--faint)}
.more details,.more summary{display:inline}.more summary{cursor:pointer}.more summary::before{content:"\\25b8  "}
.more details[open] summary::before{content:"\\25be  "}
.more p{margin:.4em 0;max-width:80ch;overflow-wrap:anywhere}.more p b{color:var(--soft);font-weight:600}
.common{margin:0 0 8px}.common i{font-style:normal}.common b{font-weight:600;color:var(--ink)}
.common,.empty,.hidden,footer{color:var(--soft);font-size:13px}footer{padding-block:6px 40px}
.bar.claimed{fill:var(--fill);stroke:var(--blue);stroke-dasharray:2 2}
.mark.claimed{stroke-dasharray:2 2;stroke-linecap:butt}.curve.claimed{stroke-dasharray:6 3;stroke-width:1.25}
.tip.claimed{fill:var(--sheet);stroke:var(--blue);stroke-width:1.5;stroke-dasharray:3 1.4}
.claimed td:first-child{border-left:3px dashed var(--blue)}.claimed em{color:var(--warn)}
.legend li.claimed::before{background:none;border:1px dashed var(--blue)}
@media(max-width:640px){.wide{display:none}.items table{min-width:840px}.more td{padding-right:calc(874px - 100vw)}body>*{padding-inline:16px}h1{font-size:24px}h1 time,h1 small{white-space:normal}.gaps li{grid-template-columns:1fr;gap:0}}
"""
    f"@media print{{:root{{{_LIGHT};--ground:#fff}}"
    "body{font-size:10.5px}body>*{max-width:none;padding-inline:0}header{padding-top:0}table{font-size:10px}"
    "th,td{padding:3px 6px}.items,svg{border-radius:0}.items{overflow:visible;border:0}thead{display:table-header-group}"
    "tr,figure,.gaps li{break-inside:avoid}.skip,summary,.tools,th button::after{display:none}"
    "details::details-content{content-visibility:visible;block-size:auto}@page{margin:14mm}}"
)

# In a notebook, the page around it decides on colours.
FRAGMENT_STYLE = (
    # Notebooks align every cell to the right, by rules that are more specific than any of ours should be.
    ".pit-fetch table{border-collapse:collapse}.pit-fetch th,.pit-fetch td{text-align:left!important;vertical-align:top;"
    "padding:3px 10px}.pit-fetch .n{text-align:right!important;font-variant-numeric:tabular-nums}"
    ".pit-fetch .t{white-space:nowrap}"
    ".pit-fetch .t i,.pit-fetch .id{opacity:.65;font-style:normal}.pit-fetch .grey{opacity:.5}"
    ".pit-fetch .items{overflow-x:auto}.pit-fetch .gaps ul{list-style:none;padding:0}"
    ".pit-fetch .gaps b{display:inline-block;min-width:9em}.pit-fetch h2{font-size:1em;margin:.8em 0 .2em}"
)
