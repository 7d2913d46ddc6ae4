"""The places where a saved page states when it was published or changed, and what they prove. Pure.

The table is closed: a date of another name (an event's, a fiscal period's) is content, and no time of publication.
Names are those of the Open Graph protocol, schema.org, Dublin Core, RFC 9110 and sitemaps.org, and those that large
publishing systems write besides.

>>> known("meta", "article:published_time"), known("meta", "event:start")
('article:published_time', None)
>>> first = PageStamp("meta", "date", "2024-02-15T16:00:00-05:00")
>>> proved = dated("meta", "date", first.text, [first, PageStamp("meta", "lastmod", "2024-02-16T09:00:00Z")])
>>> proved.available_at.isoformat(), proved.revised_at.isoformat()
('2024-02-15T21:00:00+00:00', '2024-02-16T09:00:00+00:00')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from pit_fetch.times import (
    end_of_day_anywhere,
    end_of_minute,
    parse_date,
    parse_http_date,
    parse_rfc2822,
    parse_rfc3339,
)

# In small letters; those of JSON-LD and of elements with an itemprop are schema.org's.
_SCHEMA = frozenset({"datepublished", "datemodified", "uploaddate"})
NAMES: Mapping[str, frozenset[str]] = {
    "meta": _SCHEMA
    | {
        "article:published_time", "article:modified_time", "article:published", "article:modified",
        "og:published_time", "og:updated_time", "og:pubdate",
        "dc.date", "dc.date.issued", "dc.date.modified", "dcterms.date", "dcterms.issued", "dcterms.modified",
        "date", "pubdate", "publishdate", "publish-date", "publish_date", "last-modified", "lastmod", "revised",
        "article:updated", "article:updated_time", "article.published", "article.updated",
        "og:article:published_time", "og:article:modified_time", "og:modified_time",
        "dc:date", "dc.modified", "dcterms:date", "dcterms:issued", "dcterms:modified",
        "modified", "modified_time", "updated", "updated_time", "last_modified", "lastmodified", "last-updated",
        "last_updated", "lastupdated", "bt:pubdate", "bt:moddate", "parsely-pub-date", "sailthru.date",
    },
    "json-ld": _SCHEMA,
    "header": frozenset({"last-modified", "date"}),
    "sitemap": frozenset({"lastmod", "publication_date"}),
    "capture": frozenset({"available_at"}),
}  # fmt: skip

# When the page was received. It was public by then, whatever else it states, and this is not the time of a change.
_RECEIVED = ("header", "date")

# When a web archive had captured the page: its text was public by then, whatever else it states.
CAPTURED = ("capture", "available_at")

# The forms that pages have beside RFC 3339: without a colon in the offset, and without seconds (W3C-DTF).
_LOOSE = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]+)?)? ?(Z|[+-][0-9:]{4,6})"
)


def known(kind: str, name: str) -> str | None:
    """Return ``name``, as a page writes it, by its name in the table; None if it is no time of publication.

    A name of schema.org's may stand behind its vocabulary: ``schema:dateModified``,
    ``http://schema.org/dateModified``.
    """
    name = name.strip().lower()
    local = re.split("[:/#]", name)[-1]
    listed = local if local in _SCHEMA else name
    return listed if listed in NAMES[kind] else None


class PageStamp(NamedTuple):
    """One time that a page states, and its place."""

    kind: str
    name: str
    text: str


class Dated(NamedTuple):
    """The instants of publication and of the last change that the stamps of a page prove."""

    available_at: datetime
    revised_at: datetime | None = None


def dated(kind: str, name: str, claim: str, stamps: Iterable[PageStamp]) -> Dated | None:
    """Return what ``stamps`` prove, if ``claim`` is at the named place; None if it is not, or proves nothing.

    A page that was changed later is another page: so every time of publication or change on it counts, wherever it
    appears, and one that cannot be read could be any. Of a captured page, the capture counts alone if it is named, and
    as the last change if it is not.
    """
    place = (kind, name)
    if name not in NAMES.get(kind, ()) or not claim:
        return None
    stamps = list(stamps)
    claimed = _moment(PageStamp(*place, claim))
    own = [_moment(stamp) for stamp in stamps if (stamp.kind, stamp.name) == place]
    every = [_moment(stamp) for stamp in stamps if (stamp.kind, stamp.name) != _RECEIVED]
    if claimed is None or claimed not in own:
        return None
    if place == CAPTURED:
        return Dated(claimed)
    latest = max((moment for moment in every if moment is not None), default=claimed)
    if None in every:
        return None
    return Dated(claimed, latest if latest > claimed else None)


def _moment(stamp: PageStamp) -> datetime | None:
    """Return the instant of a stamp, the latest that it could mean; None without an offset, and for anything else."""
    if stamp.kind == "header":
        return parse_http_date(stamp.text)
    text = stamp.text.strip()
    day = parse_date(text)
    if day is not None:
        return end_of_day_anywhere(day)
    match = _LOOSE.fullmatch(text)
    if match is None:
        return parse_rfc2822(text) or parse_http_date(text)
    offset = match[4] if len(match[4]) != 5 else f"{match[4][:3]}:{match[4][3:]}"
    moment = parse_rfc3339(f"{match[1]}T{match[2]}{match[3] or ':00'}{offset}")
    return moment if moment is None or match[3] else end_of_minute(moment)
