"""``--format html``: one page that holds everything: time line, items, gaps. Nothing comes from the network."""

from __future__ import annotations

from collections.abc import Mapping

from pit_fetch.formats import DEFAULTS, RenderOptions
from pit_fetch.formats.columns import Column, columns
from pit_fetch.formats.html_page.figure import figure, legend
from pit_fetch.formats.html_page.markup import escape
from pit_fetch.formats.html_page.script import DIGEST, SCRIPT
from pit_fetch.formats.html_page.style import FRAGMENT_STYLE, STYLE
from pit_fetch.formats.html_page.table import layout_of, size, table_of
from pit_fetch.pipeline.envelope import EVIDENCE, PlainEnvelope
from pit_fetch.support.version import __version__
from pit_fetch.times import format_for_people

# A page of 500 items is at most 150 kB, and larger ones grow with their items.
LARGEST, LARGEST_ITEMS = 150_000, 500
_NOTEBOOK_ROWS, _NOTEBOOK_BYTES = 50, 60_000

# The headings of the commands that look at several instants, by the first word of the query.
_HEADINGS = {
    "diff": "What changed, as of {}",
    "explain": "What was public, and what was not, at {}",
}
# Nothing may be loaded, and nothing may run but the script of the page, byte for byte, whatever an item holds.
POLICY = f"default-src 'none'; script-src '{DIGEST}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render(envelope: PlainEnvelope, options: RenderOptions = DEFAULTS) -> str:
    """Return a whole document, UTF-8."""
    source, _, pit, *_ = envelope.provenance
    typed = columns(envelope.data, envelope.provenance.kinds)
    by_name = {column.name: column for column in typed}
    title = (source or "pit_fetch") + (f" as of {format_for_people(pit)}" if pit else "")
    head = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><meta name="referrer" content="no-referrer"><meta http-equiv="Content-Security-Policy" '
        f'content="{POLICY}"><style>{STYLE}</style></head>\n'
        '<body><a class="skip" href="#items">Skip to the items</a>\n'
    )
    body = [_header(envelope, by_name), figure(envelope, typed), legend(envelope), _gaps(envelope), "<main>"]
    tail = (
        f"</main>\n<footer>pit_fetch {__version__}. Times are New York's.</footer>"
        f"<script>{SCRIPT}</script></body></html>\n"
    )
    count, rest = len(envelope.data), "".join((head, *body, tail))
    largest = LARGEST * max(count, LARGEST_ITEMS) // LARGEST_ITEMS - size(rest)
    room = largest
    while True:  # the size of a row is estimated from the first ones, and may turn out to be larger
        table = table_of(envelope, layout_of(envelope, typed, room / max(count, LARGEST_ITEMS)), count, room)
        if size(table) <= largest or room < LARGEST_ITEMS:
            return "".join((head, *body, table, tail))
        room = room * 3 // 4


def fragment(envelope: PlainEnvelope) -> str:
    """Return the items and gaps for a notebook, which has a page of its own."""
    shown = envelope.data[:_NOTEBOOK_ROWS]
    layout = layout_of(envelope, columns(shown, envelope.provenance.kinds), LARGEST / LARGEST_ITEMS)
    more = len(envelope.data) - len(shown)
    rest = f"<p>and {more} more in <code>.data</code></p>" if more else ""
    summary = f"<p><strong>{escape(envelope.provenance.source)}</strong> {_summary(envelope)}</p>"
    return (
        f'<div class="pit-fetch"><style>{FRAGMENT_STYLE}</style>{summary}'
        f"{table_of(envelope, layout, len(shown), _NOTEBOOK_BYTES)}{rest}{_gaps(envelope)}</div>"
    )


def _header(envelope: PlainEnvelope, by_name: Mapping[str, Column]) -> str:
    source, query, pit, *_ = envelope.provenance
    if pit is None:
        heading = "What the source says <small>open mode: no PIT, nothing is withheld</small>"
    else:
        # "Thursday 2024-02-15 16:00:00 in New York (-05:00)".
        weekday, day, clock, rest = format_for_people(pit).split(" ", 3)
        time = f'<time datetime="{pit.isoformat()}">{weekday} {day}, {clock}</time>'
        heading = f"{_HEADINGS.get(query.partition(' ')[0], 'What was public at {}').format(time)}"
        heading += f" <small>{escape(rest)}</small>"
    command = f"<code>pit_fetch {escape(query)}</code>" if query else ""
    return (
        f'<header><p class="source">{escape(source or "pit_fetch")}</p><h1>{heading}</h1>'
        f"<p>{_summary(envelope)}{_dated_by(by_name)}</p>{command}</header>\n"
    )


def _summary(envelope: PlainEnvelope) -> str:
    count = len(envelope.data)
    words = [f"{count:,} item{'' if count == 1 else 's'}"]
    for key in ("verdict", "change", EVIDENCE):
        kinds: dict[str, int] = {}
        for item in envelope.data:
            if key in item:
                kinds[str(item[key])] = kinds.get(str(item[key]), 0) + 1
        words += [f"{number:,} {escape(kind)}" for kind, number in kinds.items()]
    return ", ".join(words)


def _dated_by(by_name: Mapping[str, Column]) -> str:
    tags = sorted({str(tag) for tag in by_name["available_at_source"].values if tag}) if by_name else []
    return f", dated by {escape(' and '.join(tags))}" if tags else ""


def _gaps(envelope: PlainEnvelope) -> str:
    rows = "".join(
        f'<li class="{escape(str(gap.get("type", "")))}"><b>{escape(str(gap.get("type", "")).replace("_", " "))}</b> '
        f"<span>{escape(str(gap.get('reason', '')))}</span>"
        for gap in envelope.gaps
    )
    return f'<section class="gaps"><h2>What is missing, and why</h2><ul>{rows}</ul></section>\n' if rows else ""
