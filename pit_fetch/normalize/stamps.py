"""The instants that a saved page shows, and what they prove of a claim. Pure.

Where a claim may be read is a closed table of publications. What counts against a claim is not: any instant may be the
time of a change, whatever it is called and wherever it stands. So one reader, ``stamps_in``, reads every piece of
a page in every form that ``moment_of`` knows.

>>> known("meta", "article:published_time"), known("meta", "article:modified_time")
('article:published_time', None)
>>> first = PageStamp("meta", "date", "2024-02-15T16:00:00-05:00")
>>> edited = [*stamps_in("attribute", "data-page", '{"edited": {"iso": "2024-02-16T09:00:00Z"}}')]
>>> proved = date_claim("meta", "date", first.text, [first, *edited])
>>> proved.available_at.isoformat(), proved.revised_at.isoformat()
('2024-02-15T21:00:00+00:00', '2024-02-16T09:00:00+00:00')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from html import unescape
from typing import NamedTuple
from urllib.parse import unquote

from pit_fetch.times import end_of_day_anywhere, end_of_minute, parse_http_date, parse_rfc2822, parse_rfc3339

# Where a claim may be read, in small letters: names of the Open Graph protocol, schema.org, Dublin Core, RFC 9110, and
# those that large publishing systems write besides. None is the name of a change: index pages of EDGAR repeat the time
# of acceptance as their own Last-Modified, and are changed later.
_SCHEMA = frozenset({"datepublished", "uploaddate"})
NAMES: Mapping[str, frozenset[str]] = {
    "meta": _SCHEMA
    | {
        "article:published_time", "article:published", "article.published", "og:published_time",
        "og:article:published_time", "og:pubdate", "dc.date", "dc:date", "dc.date.issued", "dcterms.date",
        "dcterms:date", "dcterms.issued", "dcterms:issued", "date", "pubdate", "publishdate", "publish-date",
        "publish_date", "bt:pubdate", "parsely-pub-date", "sailthru.date",
    },
    "json-ld": _SCHEMA,
    "header": frozenset({"date"}),
    "capture": frozenset({"available_at"}),
}  # fmt: skip

# When the page was received, or had been captured by a web archive: it was public by then, whatever it states.
_RECEIVED = ("header", "date")
CAPTURED = ("capture", "available_at")

# Names and words of a change. Names are matched without what is not a letter: "last-updated" and "lastUpdated" are one.
_CHANGED = "modif|updat|revis|chang|(?<!cr)edit|correct|amend|review|clarif|refresh|reissu|republi[sc]"
_MADE = f"{_CHANGED}|publi[sc]|issue|create|upload|posted"
_STATED = re.compile(
    rf"(?:{_MADE}).*(?:date|time|stamp)|(?:date|time).*(?:{_MADE})|(?:mod|pub)(?:date|time)|lastmod|lastupdate"
    rf"|(?:(?:{_CHANGED})i?ed|published|issued|created|posted)(?:at|on|utc|gmt)?$"
)
# A number under such a name, or of a day in digits alone, is a time.
_TIMED = re.compile(rf"date|time|stamp|epoch|unix|^seconds$|(?:^|data)(?:ts|at|dt)$|{_STATED.pattern}")
_TO_COME = re.compile("expir|until|through|unavailable")  # "article:expiration_time", "priceValidUntil"
_LONGEST_NAME, _LONGEST_TIME = 200, 60
# In these places whatever stands under the name of a time is one, and elsewhere there are switches and labels.
_STRICT = frozenset({"meta", "json-ld", "header"})
_DURATION = re.compile(r"\s*P(?:\d|T\d)")  # "PT3M", the time that a text takes to read

# RFC 3339, without a colon in the offset, and without seconds (W3C-DTF).
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)? ?(Z|[+-]\d{2}:?\d{2})", re.ASCII)
_EPOCH = re.compile(r"(\d{10})(?:\d{3}){0,3}(?:\.\d+)?", re.ASCII)
_MILLISECONDS = re.compile(r"1\d{12}", re.ASCII)
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*+\.?"
_NUMBER = r"(\d{1,2})(?:st|nd|rd|th)?"
_CLOCK = r"\d\d:\d\d(?::\d\d)?"
_YEAR_FIRST = re.compile(r"(?<!\d)([12]\d{3})([-/.]?)(\d\d)\2(\d\d)(?=(?:\d{4}|\d{6})?(?!\d))", re.ASCII)
_YEAR_LAST = re.compile(r"(?<!\d)(\d\d?)[-/.](\d\d?)[-/.]([12]\d{3})(?!\d)", re.ASCII)
_DAY_FIRST = re.compile(rf"(?<!\d){_NUMBER}(?: of)?[\s-]+({_MONTH})[\s,-]+([12]\d{{3}})\b", re.ASCII | re.IGNORECASE)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\s+{_NUMBER}[\s,]+(?:{_CLOCK}\s+(?:[A-Z]{{3,4}}\s+)?)?([12]\d{{3}})\b", re.ASCII | re.IGNORECASE
)
_MONTH_ALONE = re.compile(rf"\b({_MONTH})\s+([12]\d{{3}})\b", re.ASCII | re.IGNORECASE)

# Instants as machines write them, found within any text: RFC 3339, the basic form of ISO 8601, RFC 2822 and C's.
_OFFSET = r"(?: ?(?:Z\b|GMT\b|UTC\b|[+-]\d\d:?\d\d\b))?"
_INSTANT = re.compile(
    rf"(?<!\d)(?:\d{{4}}-\d\d-\d\d(?P<t>T)?(?(t)|[ ]){_CLOCK}(?:\.\d{{1,9}})?{_OFFSET}|\d{{8}}T\d{{4,6}}Z?(?!\d)"
    rf"|(?:[A-Z][a-z]{{2}}, )?\d\d? [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}{_OFFSET})"
    rf"|\b[A-Z][a-z]{{2}} [ \d]?\d (?:\d{{4}} {_CLOCK}|{_CLOCK} (?:[A-Z]{{3,4}} )?\d{{4}})",
    re.ASCII,
)
# A text that is a time and nothing else: "Tuesday, 20 February 2024 at 10:15 AM ET".
_TIME_ALONE = re.compile(
    rf"(?:[\W_]|\d+(?:st|nd|rd|th)?|T(?=\d)|\b(?:{_MONTH}|{_WEEKDAY}|(?:at|on|of|the)\b|[ap]\.?m\b|(?-i:[A-Z]{{1,5}})\b))++",
    re.IGNORECASE,
)
_UNCLEAR = r"(?:yesterday|today|tonight|(?:just )?now|(?:an? few |an? |one )?\w{1,9} ?\w{0,9}\.? ago)\b"
_LIKE_A_TIME = re.compile(r"\d\d|\b(?:ago|now|tonight)\b|day\b", re.IGNORECASE)
# The texts between the quotation marks of a script, its numbers, and its lists of numbers; and the key before one.
_VALUE = re.compile(
    r"(?<=[\"'`])\s*+(\w[^\"'`<>{}]{2,59})(?=[\"'`])"
    r"|(?<=[:=(\[,\s])(\d{10}(?:\d{3}){0,3}(?:\.\d{1,9})?|(?<=\[)[12]\d{3}, ?\d\d?, ?\d\d?)(?=[\s,;)}\]+-]|$)",
    re.ASCII,
)
_KEY = re.compile(r"[\W\d]{0,12}([\w:.$ -]{1,60})", re.ASCII)  # read backwards
_LOOKED_BACK = 80
_ESCAPED = re.compile(r"\\+(?:(?:u00|x)([0-7][0-9A-Fa-f])|(?=[\"'`/]))")
# What looks alike in a page is read alike: white space within a line, dashes, and what nobody sees.
_ALIKE = {
    " ": re.compile(r"[^\S\n]+"),
    "-": re.compile("[\u2010-\u2015\u2212]"),
    "": re.compile("[\0\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"),
}

# Between a word and its time, as "Updated / February 20", "Updated \u00bb February 20", and with a bullet or an arrow.
_MARKS = r":,|()\[\]\u00ab\u00b7\u00bb\u2016-\u2bff-"
_SIGNS = rf"\s{_MARKS}"
# What may stand between "Updated" and a date: "by Ann Lee, 10:15 AM ET, Tue", "1535 GMT (2335 HKT)".
_BETWEEN = (
    rf"(?:[{_SIGNS}]|(?<=\s)[/>*~]|(?:on|at|as of|the|date|version|published)\b|\d\d?[:.]\d\d(?![.\d])"
    rf"|\d{{4}}(?=\s[A-Z]{{2,4}}\b)|{_WEEKDAY}|[ap]\.?m\b\.?|(?-i:(?!(?i:{_MONTH}))[A-Z]{{2,4}}\b)"
    rf"|(?:by|with)(?:\s(?!on\s|at\s|\d|{_MONTH})[\w.'-]{{1,20}}){{1,4}}){{0,40}}+"
)
_DATE_BEGINS = (
    rf"(?:\d{{4}}[-/.]?\d\d[-/.]?\d\d|\d\d?[-/.]\d\d?[-/.]\d{{4}}|{_NUMBER}(?: of)?[\s-]{{1,4}}{_MONTH}"
    rf"|{_MONTH}\s+\d|\d{{10}}|(?:\d{{1,3}}|an?|one)\s+[a-z]{{1,9}}\s+ago\b)"
)
_WORD = rf"\b((?:{_CHANGED})[a-z]*+|published|posted)"
_SAID = re.compile(rf"{_WORD}{_BETWEEN}(?=({_DATE_BEGINS}.{{0,24}}))", re.ASCII | re.IGNORECASE | re.DOTALL)
# "February 20, 2024: This story has been updated".
_SAID_BEHIND = re.compile(
    rf"((?:{_MONTH}\s+{_NUMBER}|{_NUMBER}\s+{_MONTH}),?\s+[12]\d{{3}})[{_SIGNS}]{{1,4}}"
    rf"(?:(?:this|the|story|article|page|report|was|has|been|is)\s+){{0,6}}(?:{_CHANGED})",
    re.ASCII | re.IGNORECASE,
)
# As a label, and not within a sentence: a company may have revised its outlook yesterday.
_SAID_UNCLEARLY = re.compile(
    rf"(?:^|[\n.;{_MARKS}]\s*|\blast\s+"
    rf"|\b(?:story|article|page|post|report|content)\s+(?:(?:has been|was|is)\s+)?)(?P<word>(?:{_CHANGED})[a-z]*+)"
    rf"(?:[{_SIGNS}']|(?:on|at)\b){{0,9}}+"
    rf"(?P<time>{_UNCLEAR}|\d\d?[-/.]\d\d?(?:[-/.]\d\d)?\b|{_WEEKDAY}|\d\d?:\d\d)",
    re.ASCII | re.IGNORECASE,
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

    A name of schema.org's may stand behind its vocabulary: ``schema:datePublished``, ``http://schema.org/datePublished``.
    """
    name = name.strip().lower()
    local = re.split("[:/#]", name)[-1]
    listed = local if local in _SCHEMA else name
    return listed if listed in NAMES.get(kind, ()) else None


@lru_cache(maxsize=1_024)
def states_time(name: str) -> bool:
    """Return whether a name says that its value is the time of a publication or of a change.

    >>> [states_time(name) for name in ("cXenseParse:modtime", "dateCreated", "data-last-updated", "data-update-url")]
    [True, True, True, False]
    """
    return _STATED.search(_letters(name)) is not None


@lru_cache(maxsize=1_024)
def is_timed(name: str) -> bool:
    """Return whether a name says that a number, or a text in words, is a time."""
    return _TIMED.search(_letters(name)) is not None


def _as_it_looks(text: str) -> str:
    for sign, alike in _ALIKE.items():
        text = alike.sub(sign, text)
    return text


def stamps_in(kind: str, name: str, text: str) -> Iterator[PageStamp]:
    """Yield every time that a piece of a page states, readable or not.

    kind  meta, json-ld, header, time, attribute, element (a text that its element names), script, comment or text
    name  what the page calls the piece

    >>> [stamp.text for stamp in stamps_in("script", "", '{"updatedAt": 1708423200, "id": 1708423201}')]
    ['1708423200']
    >>> [stamp.text for stamp in stamps_in("text", "", "Updated 10:15 AM ET, Tue February 20, 2024")]
    ['February 20, 2024']
    """
    text = _as_it_looks(text)
    if known(kind, name) or kind == "time" or (kind in _STRICT and states_time(name)):
        if text.strip() and not _DURATION.match(text):
            yield PageStamp(kind, known(kind, name) or name.lower(), text)
        return
    if kind == "header" or not _LIKE_A_TIME.search(text):  # other headers are of the reply, and not of the page
        return
    plain = _as_it_looks(
        unescape(unquote(_ESCAPED.sub(lambda found: chr(int(found[1] or "0", 16)) if found[1] else "", text)))
    )
    if kind != "text":
        values = ((found.start(), found[1] or found[2]) for found in _VALUE.finditer(plain))
        members = ((_key(plain, at, name), value) for at, value in values if _LIKE_A_TIME.search(value))
        for key, value in ((name, plain), *members):
            if _is_time(key, value.strip()):
                yield PageStamp(kind, key, value)
    for found in _INSTANT.finditer(plain):
        key = _key(plain, found.start(), name)
        if not _is_to_come(key) and (found["t"] or kind != "text"):
            yield PageStamp(kind, key, found[0])
    # Of a day without a year, a publication is not a change.
    said = [(word, time) for word, time, _ in _SAID.findall(plain)]
    said += [("updated", found[0]) for found in _SAID_BEHIND.findall(plain)]
    for found in _SAID_UNCLEARLY.finditer(plain):
        if _SAID.match(plain, found.start("word")) is None:
            said.append((found["word"], found["time"]))
    for word, time in said:
        if re.match(_CHANGED, word.lower()) or moment_of(time) is not None:
            yield PageStamp("text", word.lower(), time)


def _is_time(name: str, text: str) -> bool:
    """Return whether a whole text is a time: one that can be read, or another under a name that states one."""
    if len(text) > _LONGEST_TIME or _is_to_come(name):
        return False
    if text.isdecimal() or _EPOCH.fullmatch(text):
        is_day = len(text.partition(".")[0]) in (8, 10, 12, 14, 16, 19) and is_timed(name)
        return (is_day or _MILLISECONDS.fullmatch(text) is not None) and moment_of(text) is not None
    is_readable = _TIME_ALONE.fullmatch(text) is not None and moment_of(text) is not None
    return is_readable or (states_time(name) and _LIKE_A_TIME.search(text) is not None)


@lru_cache(maxsize=1_024)
def _is_to_come(name: str) -> bool:
    return _TO_COME.search(_letters(name)) is not None and not states_time(name)


def _key(text: str, start: int, around: str) -> str:
    """Return the key before a value in a script, or the name around it."""
    found = _KEY.match(text[max(0, start - _LOOKED_BACK) : start][::-1])
    return found[1][::-1].strip() if found else around


def date_claim(kind: str, name: str, claim: str, stamps: Iterable[PageStamp]) -> PageDating | None:
    """Return what ``stamps`` prove, if ``claim`` is at the named place; None if it is not, or proves nothing.

    A page that was changed later is another page: so every stamp counts, and one that cannot be read could be any. But
    a capture proves the page, whatever it states, and nothing of it was changed after it was received: by its header
    ``Date``, or by a later header.
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
    received = _latest(moment for at, moment in moments if at[0] == "header")
    received = received if any(at == _RECEIVED for at, _ in moments) else None
    stated = _latest(moment for at, moment in moments if at != _RECEIVED)
    if any(at == CAPTURED for at, _ in moments):
        latest = _latest(moment for at, moment in moments if at == CAPTURED)
    else:
        latest = received if place == _RECEIVED else min(filter(None, (stated, received)), default=None)
    return None if latest is None else PageDating(claimed, latest if latest > claimed else None)


def _latest(moments: Iterable[datetime | None]) -> datetime | None:
    """Return the latest of ``moments``; None if there is none, or one that cannot be read."""
    every = list(moments)
    return None if None in every else max(filter(None, every), default=None)


def moment_of(text: str) -> datetime | None:
    """Return the latest instant that ``text`` could mean: a day without an offset ends last at UTC-12; None for none.

    >>> print(moment_of("2024-02-15T09:30-0500"), moment_of("Feb. 15, 2024"), moment_of("soon"))
    2024-02-15 14:30:59.999999+00:00 2024-02-16 12:00:00+00:00 None
    """
    text = _as_it_looks(text).strip()
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
