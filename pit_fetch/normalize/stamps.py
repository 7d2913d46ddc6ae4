"""The instants that a saved page shows, and what they prove of a claim. Pure.

Where a claim may be read is a closed table, with names that state a change. What counts against a claim is not: every
instant that a page shows may be the time of a change, whatever it is called, but for the end of an offer or an article.

>>> known("meta", "article:published_time"), known("meta", "event:start")
('article:published_time', None)
>>> first = PageStamp("meta", "date", "2024-02-15T16:00:00-05:00")
>>> edited = PageStamp("data", "data-edited-at", "2024-02-16T09:00:00Z")
>>> proved = date_claim("meta", "date", first.text, [first, edited])
>>> proved.available_at.isoformat(), proved.revised_at.isoformat()
('2024-02-15T21:00:00+00:00', '2024-02-16T09:00:00+00:00')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from pit_fetch.times import end_of_day_anywhere, end_of_minute, parse_http_date, parse_rfc2822, parse_rfc3339

# Where a claim may be read, in small letters: names of the Open Graph protocol, schema.org, Dublin Core, RFC 9110, and
# those that large publishing systems write besides.
_SCHEMA = frozenset({"datepublished", "datemodified", "uploaddate"})
NAMES: Mapping[str, frozenset[str]] = {
    "meta": _SCHEMA
    | {
        "article:published_time", "article:published", "article.published", "og:published_time",
        "og:article:published_time", "og:pubdate", "dc.date", "dc:date", "dc.date.issued", "dcterms.date",
        "dcterms:date", "dcterms.issued", "dcterms:issued", "date", "pubdate", "publishdate", "publish-date",
        "publish_date", "bt:pubdate", "parsely-pub-date", "sailthru.date",
    },
    "json-ld": _SCHEMA,
    "header": frozenset({"last-modified", "date"}),
    "capture": frozenset({"available_at"}),
}  # fmt: skip

# When the page was received, or had been captured by a web archive: it was public by then, whatever it states.
_RECEIVED = ("header", "date")
CAPTURED = ("capture", "available_at")

# Names are matched without what is not a letter: "last-updated", "lastUpdated" and "data-last_updated_at" are one.
_CHANGED = "modif|updat|revis|chang|(?<!cr)edit|correct|amend|review"
_MADE = f"{_CHANGED}|publi[sc]|issue|create|upload|posted"
_STATED = re.compile(
    rf"(?:{_MADE}).*(?:date|time|stamp)|(?:date|time).*(?:{_MADE})|(?:mod|pub)(?:date|time)|lastmod|lastupdate"
    r"|(?:modified|updated|revised|changed|(?<!cr)edited|corrected|amended|reviewed|published|issued|created|posted)"
    r"(?:at|on|utc|gmt)?$"
)
_IS_CHANGE = re.compile(rf"{_CHANGED}|lastmod|mod(?:date|time)")
_LONGEST_NAME = 200
_TIMED = re.compile("date|time|stamp")
_TO_COME = re.compile("expir|valid|until|unavailable")  # "article:expiration_time", "priceValidUntil"

# RFC 3339, without a colon in the offset, and without seconds (W3C-DTF).
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)? ?(Z|[+-]\d{2}:?\d{2})", re.ASCII)
_EPOCH = re.compile(r"(\d{10})(?:\d{3})?(?:\.\d+)?", re.ASCII)
_MACHINE = re.compile(r"\s*(?:[A-Z][a-z]{2}, \d\d? [A-Z]|\d{4}([-/])\d\d\1\d\d).{0,30}", re.ASCII)
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_NUMBER = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR_FIRST = re.compile(r"(?<!\d)([12]\d{3})([-/.]?)(\d\d)\2(\d\d)(?!\d)", re.ASCII)
_YEAR_LAST = re.compile(r"(?<!\d)(\d\d?)[-/.](\d\d?)[-/.]([12]\d{3})(?!\d)", re.ASCII)
_DAY_FIRST = re.compile(rf"(?<!\d){_NUMBER}(?: of)?[\s-]+({_MONTH})[\s,-]+([12]\d{{3}})\b", re.ASCII | re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\s+{_NUMBER}[\s,]+([12]\d{{3}})\b", re.ASCII | re.IGNORECASE)
_MONTH_ALONE = re.compile(rf"\b({_MONTH})\s+([12]\d{{3}})\b", re.ASCII | re.IGNORECASE)

# What may stand between "Updated" and a date: "10:15 AM ET, Tue", "1535 GMT (2335 HKT)".
_BETWEEN = (
    r"(?:[\s:,|()\u00b7\u2022\u2013\u2014-]|(?:on|at|as of|the)\b|\d\d?[:.]\d\d(?![.\d])|\d{4}(?=\s[A-Z]{2,4}\b)"
    rf"|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*+\.?|[ap]\.?m\b\.?|(?-i:(?!(?i:{_MONTH}))[A-Z]{{2,4}}\b)){{0,40}}+"
)
_DATE_BEGINS = (
    rf"(?:\d{{4}}[-/.]\d|\d\d?[/.]\d\d?[/.]\d{{4}}|{_NUMBER}(?: of)?[\s-]{{1,4}}{_MONTH}|{_MONTH}\s+\d"
    r"|(?:\d{1,3}|an?|one)\s+[a-z]{1,9}\s+ago\b)"
)
_SAID = re.compile(
    r"\b(updated?|modified|revised|corrected|correction|edited|amended|published|posted)\b"
    rf"{_BETWEEN}(?=({_DATE_BEGINS}.{{0,24}}))",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)


class PageStamp(NamedTuple):
    """One time that a page states, and its place."""

    kind: str
    name: str
    text: str


class PageDating(NamedTuple):
    """The instants of publication and of the last change that the stamps of a page prove."""

    available_at: datetime
    revised_at: datetime | None = None


def known(kind: str, name: str) -> str | None:
    """Return ``name``, as a page writes it, in the form in which a claim names it; None if no claim can.

    A name of schema.org's may stand behind its vocabulary: ``schema:dateModified``, ``http://schema.org/dateModified``.
    """
    name = name.strip().lower()
    local = re.split("[:/#]", name)[-1]
    listed = local if local in _SCHEMA else name
    is_change = kind == "meta" and states_time(name) and _IS_CHANGE.search(_letters(name)) is not None
    return listed if is_change or listed in NAMES.get(kind, ()) else None


def states_time(name: str) -> bool:
    """Return whether a name says that its value is the time of a publication or of a change.

    >>> [states_time(name) for name in ("cXenseParse:modtime", "dateCreated", "data-last-updated", "data-update-url")]
    [True, True, True, False]
    """
    return _STATED.search(_letters(name)) is not None


def stamps_in(kind: str, name: str, text: str) -> Iterator[PageStamp]:
    """Yield what a page shows at a place: the time that its name states, readable or not, or any instant."""
    listed = known(kind, name)
    letters = _letters(name)
    if not text.strip() or (_TO_COME.search(letters) and not states_time(name)):
        return
    # Scripts and data attributes have switches and labels under such names.
    is_stated = listed is not None or (
        states_time(name) and (kind not in ("script", "data", "class") or re.search(r"\d\d|\bago\b", text) is not None)
    )
    if kind == "header" and not is_stated:  # other headers are of the reply, and not of the page
        return
    is_instant = _MACHINE.fullmatch(text) or kind == "time" or (_TIMED.search(letters) and _EPOCH.fullmatch(text))
    if is_stated or (is_instant and moment_of(text) is not None):
        yield PageStamp(kind, listed or name.lower(), text)


def stamps_said(text: str) -> Iterator[PageStamp]:
    """Yield the times of a change that a page states in words, also those that depend on when it was read.

    >>> [stamp.text[:17] for stamp in stamps_said("Updated 10:15 AM ET, Tue February 20, 2024 | Updates 3 forecasts")]
    ['February 20, 2024']
    """
    for word, said, _ in _SAID.findall(text):
        is_change = not word.lower().startswith("p")  # of a day without a year, a publication is not one
        if is_change or moment_of(said) is not None:
            yield PageStamp("text", word.lower(), said)


def date_claim(kind: str, name: str, claim: str, stamps: Iterable[PageStamp]) -> PageDating | None:
    """Return what ``stamps`` prove, if ``claim`` is at the named place; None if it is not, or proves nothing.

    A page that was changed later is another page: so every stamp counts, and one that cannot be read could be any. A
    capture proves the page whatever it states, and so does the header ``Date``, if it is the claim and no other header
    is later.
    """
    place = (kind, name)
    if known(kind, name) != name or not claim:
        return None
    moments = [((stamp.kind, stamp.name), moment_of(stamp.text)) for stamp in stamps]
    claimed = moment_of(claim)
    if claimed is None or (place, claimed) not in moments:
        return None
    if place == CAPTURED:
        return PageDating(claimed)
    captures = [moment for at, moment in moments if at == CAPTURED]
    every = captures or [
        moment for at, moment in moments if at != _RECEIVED and (place != _RECEIVED or at[0] == "header")
    ]
    if None in every:
        return None
    latest = max((moment for moment in every if moment is not None), default=claimed)
    return PageDating(claimed, latest if latest > claimed else None)


def moment_of(text: str) -> datetime | None:
    """Return the latest instant that ``text`` could mean: a day without an offset ends last at UTC-12; None for none.

    >>> print(moment_of("2024-02-15T09:30-0500"), moment_of("Feb. 15, 2024"), moment_of("soon"))
    2024-02-15 14:30:59.999999+00:00 2024-02-16 12:00:00+00:00 None
    """
    text = text.strip()
    if match := _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(match[1]), UTC) + timedelta(microseconds=999_999)
    if match := _ISO.fullmatch(text):
        offset = match[4] if len(match[4]) != 5 else f"{match[4][:3]}:{match[4][3:]}"
        moment = parse_rfc3339(f"{match[1]}T{match[2]}{match[3] or ':00'}{offset}")
        if moment is not None:
            return moment if match[3] else end_of_minute(moment)
    ends = [end_of_day_anywhere(day) for day in _days_in(text[:100])]
    return parse_rfc2822(text) or parse_http_date(text) or max(filter(None, ends), default=None)


def _days_in(text: str) -> Iterator[date]:
    """Yield the days in ``text``: of ``2/3/2024`` both that it can be."""
    written: list[tuple[str, str, str | int]] = [
        (year, month, day) for year, _, month, day in _YEAR_FIRST.findall(text)
    ]
    for first, second, year in _YEAR_LAST.findall(text):
        written += [(year, first, second), (year, second, first)]
    written += [(year, _month(name), day) for day, name, year in _DAY_FIRST.findall(text)]
    written += [(year, _month(name), day) for name, day, year in _MONTH_FIRST.findall(text)]
    if not written:  # a month ends with its last day
        written = [(year, _month(name), day) for name, year in _MONTH_ALONE.findall(text) for day in range(28, 32)]
    for year, month, day in written:
        try:
            yield date(int(year), int(month), int(day))
        except ValueError:
            continue


def _month(name: str) -> str:
    return str(_MONTHS.index(name[:3].lower()) // 3 + 1)


def _letters(name: str) -> str:
    return re.sub("[^a-z]", "", name[:_LONGEST_NAME].lower())
