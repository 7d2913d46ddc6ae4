"""The page of ``--format html``: everything is in it, nothing runs but its own script or loads, and it stays small."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pit_fetch.answers import Envelope
from pit_fetch.formats.html import LARGEST, fragment, render
from pit_fetch.formats.html_page.figure import svg
from pit_fetch.formats.html_page.marks import Mark
from pit_fetch.formats.html_page.markup import strip_markup
from pit_fetch.formats.html_page.script import SCRIPT
from pit_fetch.formats.html_page.style import STYLE
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.provider import Field, FieldKind, FieldRole, Operation
from tests.demo_source import PIT, at_pit, demo, record
from tests.unit.formats.sample_pages import bars, claimed, earnings, explained, filings, news, several, versions

_ATTRIBUTES_THAT_LOAD = {"src", "srcset", "data", "poster", "background", "action", "formaction", "ping", "manifest"}


class _Page(HTMLParser):
    """What a page consists of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words = ""
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.scripts += [""] if tag == "script" else []
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.cdata_elem:
            self.scripts[-1] += data
        else:
            self.words += data

    def values(self, tag: str, name: str) -> list[str]:
        return [value for owner, key, value in self.attributes if (owner, key) == (tag, name)]


def _is_inert(page: _Page) -> bool:
    harmless = (
        page.scripts in ([], [SCRIPT])
        and not {"link", "img", "iframe", "object", "embed", "form", "base", "audio", "video"} & page.tags.keys()
    )
    loads = [name for _, name, _ in page.attributes if name in _ATTRIBUTES_THAT_LOAD or name.startswith("on")]
    links = page.values("a", "href")
    return harmless and not loads and all(link.startswith(("#", "http://", "https://")) for link in links)


@pytest.mark.parametrize("make", [news, bars])
@pytest.mark.parametrize("count", [1, 30, 500])
def test_a_page_is_small_and_has_every_item(make: Callable[[int], PlainEnvelope], count: int) -> None:
    envelope = make(count)
    text = render(envelope)
    page = _Page(text)
    assert len(text.encode()) <= LARGEST
    assert page.values("tr", "id") == [f"i{place}" for place in range(count)]
    assert all(item["id"] in text for item in envelope.data)
    assert all(gap["reason"] in page.words for gap in envelope.gaps)
    assert "Thursday 2024-02-15, 16:00:00" in page.words
    assert _is_inert(page)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("title", ["A headline", "\u65e5\u672c\u8a9e" * 60, "\"'&<" * 60, "x" * 900])
def test_however_much_there_is_a_headline_and_a_reason_are_shown(title: str) -> None:
    envelope = explained(500)
    for item in envelope.data:
        item |= {"title": f"Q9 {title}", "because": "R7 published on a day", "teaser": "t" * 70, "author": "a" * 50}
    text = render(envelope)
    assert len(text.encode()) <= LARGEST
    heads = re.findall(r"<th[^>]*>([a-z ]+)", text)
    assert (heads[:3], heads[-1]) == (["available at", "verdict", "title"], "id")
    words = _Page(text).words
    assert (words.count("Q9 "), words.count("R7 ")) == (500, 500)


def test_links_inside_the_page_lead_to_its_items() -> None:
    page = _Page(render(news(60)))
    inside = {link[1:] for link in page.values("a", "href") if link.startswith("#")}
    assert len(inside) > 10
    assert inside <= {value for _, name, value in page.attributes if name == "id"}


def test_an_article_is_text_and_its_beginning_is_there() -> None:
    text = render(news(3))
    assert "&lt;p&gt;" not in text
    assert ("&amp;" in text, "&amp;amp;" in text) == (True, False)
    assert text.count("<details>") == 3


@pytest.mark.parametrize(
    ("text", "shown"),
    {
        "Margins <10% but growth >20%, x<y, 5 < 6 > 4": "Margins <10% but growth >20%, x<y, 5 < 6 > 4",
        "if a<b and c>d": "if a<b and c>d",
        "<b and c>": "<b and c>",
        "A<B>C and <i>": "A<B>C and <i>",
        "see ?a=1&copy=2 &amp; R&D": "see ?a=1&copy=2 & R&D",
        "<p class='x'>Sales &lt; cost</p><br/><a href=\"/x?y>\">more</a>": 'Sales < cost <a href="/x?y>">more',
        "<p>Seen</p><script>if (a<b) c()</script><style>p{}</style><!-- no --> and read": "Seen and read",
        "<p>Cut <script>never ends": "Cut",
        "<script>alone</script>": "<script>alone</script>",
    }.items(),
)
def test_only_what_is_certainly_markup_is_taken_for_markup(text: str, shown: str) -> None:
    assert strip_markup(text) == shown
    item = {"available_at": PIT.isoformat(), "available_at_source": "provider_metadata", "id": "1", "title": text}
    assert shown in _Page(render(PlainEnvelope([item], [], Provenance("demo", "q", PIT)))).words


@given(st.text(alphabet="<>/bpa =\"'!-script&;", max_size=60))
def test_plain_text_without_a_tag_keeps_every_word(text: str) -> None:
    assume(not re.search(r"</(b|a|i|s|p)|<p[ />]", text) and "<!" not in text and "&" not in text)
    assert strip_markup(text) == " ".join(text.split())


def test_a_page_plots_the_field_that_is_declared_for_it(tmp_path: Path) -> None:
    rows = [record(str(number), number, volume=number, value=number) for number in range(6)]
    fields = (Field("volume", "number"), Field("value", "number", is_plotted=True))
    left = at_pit(tmp_path, demo(rows, operations=(Operation(fields=fields),)), "--format", "html")
    assert "<figcaption><b>value</b>, " in left.out


def dated(kinds: tuple[str, ...]) -> PlainEnvelope:
    """Snapshots: every row has the stamp of the receipt, and a date of its own."""
    stamps = {"available_at": PIT.isoformat(), "available_at_source": "provider_metadata"}
    items = [
        {**stamps, "id": f"{kind}{day}", "record_type": kind, "date": f"2024-01-{day:02}", "close": 100 * place + day}
        for place, kind in enumerate(kinds)
        for day in range(1, 9 + 9 * (not place))
    ]
    declared: dict[str, FieldKind] = {"date": "date", "close": "number"}
    return PlainEnvelope(items, [], Provenance("demo", "q", PIT, declared, ("close",), {"record_type": "kind"}))


def test_a_snapshot_is_drawn_along_its_own_dates() -> None:
    text = render(dated(("bar",)))
    (points,) = re.findall(r'<polyline class="curve" points="([^"]+)"', text)
    assert len({point.split(",")[0] for point in points.split()}) == 17
    assert "<figcaption><b>close</b>, by date, 1 January 2024 to 17 January 2024" in text


def test_a_curve_is_of_one_kind_of_rows() -> None:
    """Of the figures of quarters and years, only those of quarters make a line that can be read."""
    (points,) = re.findall(r'<polyline class="curve" points="([^"]+)"', render(dated(("quarter", "year"))))
    assert len(points.split()) == 17


def lines_in(envelope: PlainEnvelope) -> list[int]:
    """How many places each line of the page's figure has."""
    return [
        len(points.split()) for points in re.findall(r'<polyline class="curve[^"]*" points="([^"]+)"', render(envelope))
    ]


def test_prices_of_several_symbols_are_lines_of_their_own_scale_and_their_dividends_marks() -> None:
    text = render(several(60))
    assert lines_in(several(60)) == [60, 60, 60]
    assert re.findall(r'text-anchor="end">([A-Z]+)<', text) == ["ACME", "BIGCO", "CORP"]
    heights = [
        [float(point.partition(",")[2]) for point in points.split()]
        for points in re.findall(r'<polyline class="curve" points="([^"]+)"', text)
    ]
    assert all(max(line) - min(line) > 50 for line in heights)  # none is flat beside a larger one
    assert all(max(upper) < min(lower) for upper, lower in pairwise(heights))
    assert '">dividend</text>' in text
    assert text.count('<line class="mark') == 1


def test_estimates_stand_beside_what_was_reported() -> None:
    text = render(earnings(12))
    assert lines_in(earnings(12)) == [12]
    assert (text.count('<circle class="ring'), text.count('<circle class="tip')) == (12, 12)
    assert re.findall("</i>([a-zA-Z]+EPS)", text) == ["reportedEPS", "estimatedEPS"]
    assert '">annual</text>' in text


def test_restated_figures_stand_at_their_periods() -> None:
    made = versions(4)
    assert (lines_in(made), "by end, " in render(made)) == ([len(made.data)], True)


def test_kinds_without_figures_have_rows_of_marks() -> None:
    made = filings(70)
    text = render(made)
    names = re.findall(r'<text class="tick name"[^>]*>([^<]+)', text)
    assert set(names) == {item["form"] for item in made.data}
    pit = float(re.findall(r'<line class="pit" x1="([0-9.]+)%"', text)[0])
    marks = re.findall(r'<line class="mark( late)?" x1=([0-9.]+)%', text)
    assert all((float(x) > pit) == bool(late) for late, x in marks)
    assert {late for late, _ in marks} == {"", " late"}


@pytest.mark.parametrize("role", ["kind", "series"])
def test_more_kinds_or_series_than_can_be_told_apart_are_not_drawn_one_by_one(role: FieldRole) -> None:
    made = bars(60)
    for place, item in enumerate(made.data):
        item["which"] = f"<{place % 12}>"
    about = made.provenance._replace(plotted=("close",) if role == "series" else (), roles={"which": role})
    text = render(PlainEnvelope(made.data, [], about))
    assert len(re.findall('<polyline class="curve', text)) == (6 if role == "series" else 0)
    assert len(re.findall('<text class="tick name"', text)) == 7
    assert ("6 more not drawn" in text) is (role == "series")
    assert _is_inert(_Page(text))


def test_the_only_script_that_the_policy_lets_run_is_the_page_s() -> None:
    text = render(news(3))
    (policy,) = (value for _, name, value in _Page(text).attributes if name == "content" and "default-src" in value)
    (script,) = _Page(text).scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|fetch|import|http", script
    )


@pytest.mark.parametrize(
    ("field", "values"), [("verdict", ("late", "public", "undated")), ("change", ("gone", "new", "changed"))]
)
def test_a_page_says_what_its_verdicts_mean(field: str, values: tuple[str, ...]) -> None:
    items = [{"available_at": PIT.isoformat(), "available_at_source": "x", "id": v, field: v} for v in values]
    legend = render(PlainEnvelope(items, [], Provenance("demo", "q", PIT))).partition('class="legend"')[2]
    assert set(re.findall(r"<em>([a-z]+)</em> [a-z]", legend.partition("</ul>")[0])) == set(values)
    assert "legend" not in _Page(render(news(2))).values("ul", "class")


@pytest.mark.parametrize(
    "names", [("public", "late", "revised", "undated", "unusable"), ("new", "repeated", "changed", "gone")]
)
def test_no_two_verdicts_and_no_two_changes_have_one_colour(names: tuple[str, ...]) -> None:
    colours = {
        name: next(
            (rule[2] for rule in re.finditer(r"([^{}]+)\{--look:var\((--\w+)\)", STYLE) if f".{name}" in rule[1]), ""
        )
        for name in names
    }
    assert len({*colours.values()}) == len(names)


def test_what_all_items_have_in_common_is_said_once() -> None:
    text = render(dated(("bar",)))
    words = " ".join(_Page(text).words.split())
    assert "All shown: available at Thu 2024-02-15 16:00:00, record type bar" in words
    assert re.findall(r"<th[^>]*>([a-z ]+)", text) == ["date", "close", "id"]


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("--source demo", "What was public at Thursday"),
        ("explain --source demo", "What was public, and what was not, at Thursday"),
        ("diff --source demo", "What changed, as of Thursday"),
    ],
)
def test_a_page_says_what_it_shows(query: str, heading: str) -> None:
    stamps = {"available_at": PIT.isoformat(), "available_at_source": "provider_metadata", "id": "1"}
    why = f"published 40 minutes after the PIT, on {'x' * 100}"
    item = {**stamps, "verdict": "late", "because": why, "title": "t", "created": PIT.isoformat(), "updated": "x"}
    text = render(PlainEnvelope([item], [], Provenance("demo", query, PIT, {"created": "instant"})))
    assert heading in _Page(text).words
    assert re.search(r"<th>verdict<th>title<th>updated", text)
    assert f"<tr class=more><td colspan=99>{why}" in text
    assert "Not shown here: created." in text


@pytest.mark.parametrize(
    "value",
    [
        *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "</style><b>"),
        *("\x1b[31m\x00", "\ud800"),
    ],
)
@pytest.mark.parametrize("name", ["title", "url", "body", "id", "verdict", "<b>"])
def test_nothing_that_an_item_holds_becomes_part_of_the_page(name: str, value: str) -> None:
    item = {"available_at": PIT.isoformat(), "available_at_source": "provider_metadata", "id": "1", "title": "t"}
    envelope = PlainEnvelope(
        [{**item, name: value}], [{"type": value, "reason": value, "query": value}], Provenance(value, value)
    )
    for text in (render(envelope), fragment(envelope)):
        page = _Page(text)
        assert _is_inert(page)
        assert page.tags["style"] == 1
        assert "\x1b" not in text


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
_NAMES = st.sampled_from(["title", "url", "close", "body", "verdict", "change", "x", "available_at", "id"])


@given(st.lists(st.dictionaries(_NAMES, _JSON, max_size=5), max_size=4))
def test_any_items_make_an_inert_page(items: list[dict[str, Any]]) -> None:
    stamped = [{"available_at": None, "available_at_source": "provider_metadata", "id": "1", **item} for item in items]
    envelope = PlainEnvelope(stamped, [], Provenance("demo", "q", PIT, plotted=("close",)))
    assert _is_inert(_Page(render(envelope)))
    assert _is_inert(_Page(fragment(envelope)))


@pytest.mark.parametrize(
    "span", [0, 1, 3_600, 86_400, 30 * 86_400, 400 * 86_400, 40 * 365 * 86_400, 300 * 365 * 86_400]
)
def test_a_time_line_of_any_length_has_a_few_round_ticks(span: int) -> None:
    marks = [Mark(PIT - timedelta(seconds=span * part / 20), f"i{part}") for part in range(21)]
    drawn = svg(marks, PIT, "x")
    ticks = re.findall(r'class="tick(?: wide)?" x="([0-9.]+)%"', drawn)
    assert 1 <= len(ticks) <= 9
    assert all(0 <= float(number) <= 100 for number in re.findall(r' (?:x|cx|x1|x2)="?([0-9.]+)%', drawn))
    assert drawn.count("<a ") == len(re.findall('class="bar" ', drawn))


@pytest.mark.parametrize("days", [1, 30, 3_000])
def test_no_bar_is_on_both_sides_of_the_pit(days: int) -> None:
    at_pit, second = Mark(PIT, "i0"), timedelta(seconds=days)
    drawn = svg([at_pit, Mark(PIT + second, "i1", look="late"), Mark(PIT - timedelta(days=days), "i2")], PIT, "")
    pit = float(re.findall(r'<line class="pit" x1="([0-9.]+)%"', drawn)[0])
    bars = re.findall(r'class="?bar( late)?"? x=([0-9.]+)% width=([0-9.]+)%', drawn)
    assert [bool(grey) for grey, _, _ in bars] == [False, False, True]
    assert all(pit <= float(x) if grey else float(x) + float(width) <= pit for grey, x, width in bars)


@pytest.mark.parametrize(
    ("make", "shape"),
    [(news, "rect"), (filings, "line"), (bars, "polyline"), (several, "polyline"), (versions, "polyline")],
)
def test_what_only_a_claim_dates_is_drawn_apart(make: Callable[[int], PlainEnvelope], shape: str) -> None:
    """In bars, in marks, in a line, and in each of several lines."""
    drawn = re.compile(f'<{shape} class="(?:bar|mark|curve)[^"]* claimed"')
    made = claimed(make(40))
    usual, text, count = render(make(40)), render(made), len(made.data[::2])
    assert drawn.search(text)
    assert f", {count} claimed" in text
    assert len(re.findall(r'<tr id=i\d+ class="[^"]*claimed">.*?<td><em>claimed</em>', text)) == count
    assert '<li class="claimed"><em>claimed</em> a claim dates it' in text
    assert "claimed" not in usual.replace(STYLE, "")


def test_a_notebook_shows_the_first_items_and_every_gap() -> None:
    made = news(80)
    text = Envelope(made.data, made.gaps, made.provenance)._repr_html_()
    assert text.count("<tr id=") == 50
    assert "and 30 more" in text
    assert "Continue with --after" in text


def test_a_changed_value_stands_beside_the_one_that_it_replaced() -> None:
    item = {"available_at": PIT.isoformat(), "available_at_source": "feed", "id": "a", "change": "changed", "eps": 3.25}
    page = render(PlainEnvelope([{**item, "before": {"eps": 3.6, "title": "<b>"}, "title": "A word"}]))
    assert "<s>3.6</s> 3.25" in page
    assert "<s></s> A word" not in page
    assert "<s>&lt;b&gt;</s> A word" in page or "<s></s>" not in page
