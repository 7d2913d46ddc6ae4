"""Opens the largest pages in Chromium and looks at them as a reader would: light, dark, narrow, on paper, by keyboard.

    python -m tests.browser.check [FOLDER]

Exit status 1 names what is wrong. FOLDER keeps the pages and their pictures.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from pit_fetch.formats.html import fragment, render
from pit_fetch.pipeline.envelope import PlainEnvelope
from tests.browser.chromium import Tab, find, tab
from tests.unit.formats.sample_pages import (
    bars,
    claimed,
    compared,
    earnings,
    explained,
    filings,
    news,
    several,
    snapshot,
    versions,
)

PAGES: dict[str, Callable[[], PlainEnvelope]] = {
    "news": lambda: news(500),
    "bars": lambda: bars(500),
    "explained": lambda: explained(60),
    "snapshot": lambda: snapshot(60),
    "compared": lambda: compared(12),
    "several": lambda: several(180),
    "earnings": lambda: earnings(16),
    "versions": lambda: versions(9),
    "filings": lambda: filings(70),
    "claimed": lambda: claimed(several(90)),
    "claimed_filings": lambda: claimed(filings(70)),
    "claimed_news": lambda: claimed(news(60)),
    "one": lambda: news(1),
    "empty": lambda: news(0),
}
TAB, ENTER = 9, 13
# Whether a line of the sentence below a row ends beyond the window.
_REASONS_BEYOND = """[...document.querySelectorAll('.more td')].some(cell => {
    const sentence = document.createRange();
    sentence.selectNodeContents(cell);
    return [...sentence.getClientRects()].some(line => line.right > innerWidth);
})"""


def main(folder: str = "") -> int:
    program = find()
    if program is None:
        print("no Chromium on this machine: apt-get install chromium")
        return 1
    with tempfile.TemporaryDirectory() as temporary, tab(program) as browser:
        directory = Path(folder or temporary)
        directory.mkdir(parents=True, exist_ok=True)
        faults = [f"{name}: {fault}" for name in PAGES for fault in check(browser, directory, name)]
        faults += [*check_notebook(browser, directory), *check_policy(browser, directory)]
    print("\n".join(faults) or f"{len(PAGES)} pages are as they should be")
    return 1 if faults else 0


# What JupyterLab says of every cell, in a rule that is more specific than one of a class and an element.
_NOTEBOOK = (
    "<!doctype html><style>.jp-RenderedHTMLCommon:not(.jp-RenderedMarkdown) td,.jp-RenderedHTMLCommon:not("
    '.jp-RenderedMarkdown) th{text-align:right}</style><div class="jp-RenderedHTMLCommon">'
)


def check_notebook(browser: Tab, folder: Path) -> Iterator[str]:
    """Texts are read from the left in a notebook, too, and figures are aligned to the right."""
    path = folder / "notebook.html"
    path.write_text(f"{_NOTEBOOK}{fragment(bars(20))}</div>", encoding="utf-8")
    browser.open(path)
    (folder / "notebook.png").write_bytes(browser.look(1000, 600))
    for side, cells in {"left": "td:not(.n),th:not(.n)", "right": "td.n,th.n"}.items():
        aligned = f"[...document.querySelectorAll('{cells}')].map(e => getComputedStyle(e).textAlign)"
        if browser.script(f"[...new Set({aligned})].join()") != side:
            yield f"notebook: the cells {cells} are not aligned to the {side}"


def check_policy(browser: Tab, folder: Path) -> Iterator[str]:
    """A script that had found its way into a page would not run."""
    path = folder / "hostile.html"
    smuggled = "<script>ran = 1</script><img src=x onerror='ran = 1'><main>"
    path.write_text(render(news(5)).replace("<main>", smuggled), encoding="utf-8")
    browser.open(path)
    if browser.script("typeof ran") != "undefined":
        yield "hostile: a script ran"
    if not browser.script("document.querySelectorAll('th button').length"):
        yield "hostile: the page's own script did not run"


def check(browser: Tab, folder: Path, name: str) -> Iterator[str]:
    envelope = PAGES[name]()
    path = folder / f"{name}.html"
    path.write_text(render(envelope), encoding="utf-8")
    browser.open(path)
    yield from _rows(browser, envelope)
    yield from _looks(browser, folder, name)
    yield from _keyboard(browser, envelope)
    yield from _table(browser, envelope)
    yield from _quiet(browser, path)
    yield from _without_script(browser, path, envelope)


def _rows(browser: Tab, envelope: PlainEnvelope) -> Iterator[str]:
    rows = browser.script("document.querySelectorAll('tbody tr[id]').length") or 0
    if rows != len(envelope.data):
        yield f"{rows} rows for {len(envelope.data)} items"
    if browser.script("document.compatMode") != "CSS1Compat":
        yield "the browser is in quirks mode"
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    for role, name in (("heading", "heading"), ("link", "link that has a name")):
        named = [bool(node["name"]["value"]) for node in nodes if node.get("role", {}).get("value") == role]
        if not named or not all(named):
            yield f"a screen reader finds no {name}"


def _looks(browser: Tab, folder: Path, name: str) -> Iterator[str]:
    shown = {
        "light": browser.look(1200, 1000),
        "dark": browser.look(1200, 1000, scheme="dark"),
        "narrow": browser.look(390, 844),
    }
    if browser.script("document.documentElement.scrollWidth > innerWidth"):
        yield "a narrow window has to be scrolled sideways"
    place = "document.querySelector('line.pit')?.getBoundingClientRect().x ?? 0"
    if not 0 <= browser.script(place) <= 390:
        yield "a narrow window does not show the PIT"
    if browser.script(_REASONS_BEYOND):
        yield "a narrow window cuts a reason off"
    for kind, picture in shown.items():
        (folder / f"{name}-{kind}.png").write_bytes(picture)
    light, dark = _first_pixel(shown["light"]), _first_pixel(shown["dark"])
    if not (min(light) > 200 and max(dark) < 60):
        yield f"the ground is {light} where it is light, and {dark} where it is dark"
    paper = browser.print()
    (folder / f"{name}.pdf").write_bytes(paper)
    if not re.search(rb"/Type\s*/Page\b", paper):
        yield "it cannot be printed"


def _first_pixel(picture: bytes) -> tuple[int, ...]:
    """The colour at the top left of a PNG, where every filter leaves it as it is."""
    data = b"".join(
        picture[at + 8 : at + 8 + int.from_bytes(picture[at : at + 4])]
        for at in (chunk.start() - 4 for chunk in re.finditer(rb"IDAT", picture))
    )
    return tuple(zlib.decompressobj().decompress(data, 64)[1:4])


def _keyboard(browser: Tab, envelope: PlainEnvelope) -> Iterator[str]:
    """The first stop leads past the time line; the items can be reached and scrolled; every stop says what it is."""
    browser.look(1200, 1000)
    if browser.script("[...document.querySelectorAll('tbody tr[id]')].some(e => e.offsetHeight > 60)"):
        yield "a row is higher than two lines"
    browser.press("Tab", TAB)
    if browser.script("document.activeElement.className") != "skip":
        yield "the first stop of the keyboard is not the way to the items"
    browser.press("Enter", ENTER)
    if browser.script("location.hash") != "#items":
        yield "the way to the items leads elsewhere"
    stops = "[...document.querySelectorAll('a[href],[tabindex=\"0\"],summary')]"
    unnamed = f"{stops}.filter(e => !(e.getAttribute('aria-label') || e.textContent.trim())).length"
    if browser.script(unnamed):
        yield "a stop of the keyboard has no name"
    if envelope.data and browser.script("document.getElementById('items').tabIndex") != 0:
        yield "the items cannot be scrolled by keyboard"


_ORDER = "[...document.querySelectorAll('tbody tr[id]')].map(e => Number(e.id.slice(1)))"
_SHOWN = "[...document.querySelectorAll('tbody tr[id]')].filter(e => e.offsetHeight).length"


def _table(browser: Tab, envelope: PlainEnvelope) -> Iterator[str]:
    """A click on a head sorts, what is typed finds, and a link of the figure brings back the row that it leads to."""
    count = len(envelope.data)
    if count < 2:
        return
    heads = browser.script("[...document.querySelectorAll('th button')].map(e => e.textContent)")
    if "available at" in heads:
        click = f"document.querySelectorAll('th button')[{heads.index('available at')}].click()"
        stamps = [item["available_at"] or "9" for item in envelope.data]
        for descending in (False, True):
            browser.script(click)
            order = browser.script(_ORDER)
            dated = [stamps[place] for place in order if stamps[place] != "9"]
            if sorted(order) != list(range(count)) or dated != sorted(dated, reverse=descending):
                yield "a click on a head does not sort"
    browser.script("document.querySelector('.tools input').value = 'no such words'")
    browser.script("document.querySelector('.tools input').dispatchEvent(new Event('input'))")
    if browser.script(_SHOWN) != 0 or browser.script("document.querySelector('.tools output').textContent") == "":
        yield "what is typed does not find"
    browser.script("location.hash = 'i1'")
    browser.script("new Promise(done => setTimeout(done))", wait=True)
    if browser.script(_SHOWN) != count:
        yield "a link to a row that is not shown leads nowhere"


def _without_script(browser: Tab, path: Path, envelope: PlainEnvelope) -> Iterator[str]:
    """Where no script runs, every item is shown, and nothing that would not work."""
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(path)
    rows, tools = browser.script(_SHOWN), browser.script("document.querySelectorAll('.tools, th button').length")
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    if (rows, tools) != (len(envelope.data), 0):
        yield f"without its script it shows {rows} rows and {tools} tools"


def _quiet(browser: Tab, path: Path) -> Iterator[str]:
    """Nothing was asked of a network, nothing ran, nothing was complained about."""
    for method, params in browser.events:
        if method == "Network.requestWillBeSent" and params["request"]["url"].partition("#")[0] != path.as_uri():
            yield f"it asked for {params['request']['url']}"
        if method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            yield f"the browser says: {params.get('entry', {}).get('text', method)}"
    if browser.script("document.scripts.length") != 1:
        yield "there is more than one script in it"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
