"""How Wikipedia's API and its pages look to a program as of an instant: the revision that stood under a title.

Its HTML expands the templates, modules and images of today. So a page is made of the wikitext of then, as plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import dropwhile, islice
from typing import Any
from urllib.parse import quote

from pit_fetch.provider import Asked, HttpReply, View
from pit_fetch.times import parse_rfc3339
from pit_fetch_providers.shared import refuse
from pit_fetch_providers.wikipedia import api, fetch_revisions, history, standing_revision, titles, wikitext
from pit_fetch_providers.wikipedia.history import Revision

_KNOWN = frozenset(
    ("action", "format", "formatversion", "prop", "titles", "redirects", "rvprop", "rvlimit", "rvslots", "rvstart",
     "rvdir", "rvcontinue", "explaintext", "exintro", "exlimit", "exsectionformat", "inprop", "ppprop", "maxlag",
     "continue", "utf8", "origin", "converttitles", "ascii", "smaxage", "maxage")
)  # fmt: skip
_PROPS = frozenset(("revisions", "extracts", "info", "pageprops"))
_MOST_TITLES, _MOST_REVISIONS, _MOST_REDIRECTS = 10, 500, 3
_INTRODUCTION = re.compile(r"^==", re.MULTILINE)


def _query(asked: Asked) -> HttpReply:
    """Return the answer of ``action=query`` about titles. Raise ConfigError for what has no axis of time."""
    params = asked.params
    props = set(filter(None, params.get("prop", "").split("|")))
    names = [name for name in params.get("titles", "").split("|") if name]
    unknown = sorted({*params} - _KNOWN) + sorted(props - _PROPS)
    if (
        params.get("action") != "query"
        or params.get("format") != "json"
        or unknown
        or not 0 < len(names) <= _MOST_TITLES
    ):
        refuse(
            f"the API answers action=query&format=json with up to {_MOST_TITLES} titles and prop=revisions, extracts "
            "or info alone: lists, searches and pages by number are today's."
        )
    if params.get("rvdir", "older") != "older":
        refuse("rvdir is older: what came after the instant is not shown.")
    started = parse_rfc3339(params.get("rvstart"))
    if started is not None:
        now = min(asked.query.now, started + history.MARGIN)
        asked = asked._replace(query=asked.query._replace(now=now, horizon=now))
    is_second = params.get("formatversion") in ("2", "latest")
    result: dict[str, Any] = {"normalized": [], "redirects": [], "pages": []}
    further: dict[str, str] = {}
    for name in names:
        title = titles.normalized_or_none(name) or refuse("a title is one article's.")
        if title != name:
            result["normalized"].append({"from": name, "to": title})
        result["pages"].append(_page(asked, title, props, result["redirects"], further))
    if not is_second:
        numbered = {str(page.get("pageid", -1 - place)): page for place, page in enumerate(result["pages"])}
        result["pages"] = numbered
    found = {name: value for name, value in result.items() if value}
    head = {"continue": further} if further else {"batchcomplete": True if is_second else ""}
    return _reply(asked, json.dumps({**head, "query": found}, ensure_ascii=False), "application/json; charset=utf-8")


def _page(asked: Asked, title: str, props: set[str], redirects: list[Any], further: dict[str, str]) -> dict[str, Any]:
    is_second = asked.params.get("formatversion") in ("2", "latest")
    standing = _standing(asked, title, redirects if "redirects" in asked.params else None)
    if standing is None:
        return {"ns": 0, "title": title, "missing": True if is_second else ""}
    title, pageid, revision = standing
    page: dict[str, Any] = {"pageid": pageid, "ns": 0, "title": title}
    text = revision.text or ""
    if "info" in props:
        url = f"https://{asked.named['lang']}.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"
        page |= {"contentmodel": "wikitext", "pagelanguage": asked.named["lang"], "lastrevid": revision.revid}
        page |= {"length": len(text.encode()), "touched": history.spelled(revision.at)}
        page |= {"fullurl": url, "canonicalurl": url} if "url" in asked.params.get("inprop", "") else {}
    if "extracts" in props:
        source = _INTRODUCTION.split(text, maxsplit=1)[0] if "exintro" in asked.params else text
        page["extract"] = wikitext.plain_text(wikitext.parse(source)).strip()
    if "revisions" in props:
        page["revisions"] = list(_revisions(asked, title, revision, further, is_second))
    return page


def _standing(asked: Asked, title: str, redirects: list[Any] | None) -> tuple[str, int, Revision] | None:
    """Return the title, the number and the revision that stood; with ``redirects``, those to which it redirected."""
    wikitext.require_parser()
    query = asked.query._replace(options={**asked.query.options, "lang": asked.named["lang"]})
    for _ in range(_MOST_REDIRECTS):
        standing = standing_revision(query, asked.context, title)
        if standing is None:
            return None
        target = wikitext.redirect_target(standing[1].text or "") if redirects is not None else None
        following = titles.normalized_or_none(target or "")
        if following is None or redirects is None:
            return title, standing[0], standing[1]
        redirects.append({"from": title, "to": following})
        title = following
    return None


def _revisions(
    asked: Asked, title: str, standing: Revision, further: dict[str, str], is_second: bool
) -> Iterator[Mapping[str, Any]]:
    """Yield the revisions that are asked for, newest first."""
    wanted = asked.params.get("rvprop", "ids|timestamp|flags|comment").split("|")
    limit = asked.params.get("rvlimit", "1")
    most = _MOST_REVISIONS if limit == "max" else min(int(limit), _MOST_REVISIONS) if limit.isdecimal() else 1
    if most == 1 and "rvcontinue" not in asked.params:
        described = {"revision": standing.revid, "parent": standing.parentid, "edited_at": history.spelled(standing.at)}
        described |= {"size": standing.size, "sha1": standing.sha1, "comment": standing.comment or ""}
        yield _revision({**described, "is_minor": standing.is_minor}, wanted, standing.text, asked, is_second)
        return
    if "content" in wanted:
        refuse("content comes with rvlimit=1: the text that stood. Give rvstart for an earlier one.")
    query = asked.query._replace(options={**asked.query.options, "title": title})
    records = (record for page in fetch_revisions(query, asked.context) for record in page.records)
    public = (record.payload for record in records if record.available_at and record.available_at <= query.now)
    last = asked.params.get("rvcontinue", "").rpartition("|")[2]
    rows = list(islice(dropwhile(lambda row: bool(last) and str(row["revision"]) != last, public), most + 1))
    if len(rows) > most:
        stamp = re.sub("[^0-9]", "", rows[most]["edited_at"])
        further |= {"rvcontinue": f"{stamp}|{rows[most]['revision']}", "continue": "||"}
    yield from (_revision(row, wanted, None, asked, is_second) for row in rows[:most])


def _revision(
    row: Mapping[str, Any], wanted: list[str], text: str | None, asked: Asked, is_second: bool
) -> dict[str, Any]:
    """Return a revision in the API's words."""
    made: dict[str, Any] = {"revid": row["revision"], "parentid": row["parent"]} if "ids" in wanted else {}
    if "flags" in wanted and (is_second or row["is_minor"]):
        made["minor"] = row["is_minor"] if is_second else ""
    made |= {"timestamp": row["edited_at"]} if "timestamp" in wanted else {}
    made |= {name: row[name] for name in ("size", "sha1", "comment") if name in wanted}
    if "content" in wanted:
        kind, key = {"contentmodel": "wikitext", "contentformat": "text/x-wiki"}, "content" if is_second else "*"
        made |= {"slots": {"main": {**kind, key: text}}} if "rvslots" in asked.params else {**kind, key: text}
    return made


def _text(asked: Asked, title: str) -> str | None:
    standing = _standing(asked, titles.normalized_or_none(title) or "", None)
    return None if standing is None else standing[2].text


def _raw(asked: Asked) -> HttpReply | None:
    text = _text(asked, asked.params.get("title", ""))
    return None if text is None else _reply(asked, text, "text/x-wiki; charset=UTF-8")


def _html(asked: Asked) -> HttpReply | None:
    title = titles.normalized_or_none(asked.named["title"]) or ""
    standing = _standing(asked, title, [])
    if standing is None:
        return None
    paragraphs = wikitext.plain_text(wikitext.parse(standing[2].text or "")).split("\n")
    body = "\n".join(f"<p>{escape(line)}</p>" for line in paragraphs if line.strip())
    head = f'<html><head><meta charset="utf-8"><title>{escape(standing[0])} - Wikipedia</title></head>'
    page = f"<!DOCTYPE html>\n{head}<body><h1>{escape(standing[0])}</h1>\n{body}\n</body></html>\n"
    return _reply(asked, page, "text/html; charset=UTF-8")


def _reply(asked: Asked, text: str, content_type: str) -> HttpReply:
    body = text.encode("utf-8", "replace")
    return HttpReply(200, {"content-type": content_type}, body, asked.query.started)


# What asks for another revision than the one that stood, or for a part of it.
_STANDING = dict.fromkeys(("oldid", "diff", "curid", "section", "direction"), (None,))
_AT = r"(?P<lang>[a-z][a-z-]*)(?:\.m)?\.wikipedia\.org"
VIEWS = (
    View(api.HOST.name, r"/w/api\.php", "article", document=_query, at=_AT),
    View(api.HOST.name, r"/w/index\.php", "article", document=_raw, at=_AT, params={"action": ("raw",), **_STANDING}),
    View(
        api.HOST.name,
        r"/wiki/(?P<title>[^:]+)",
        "article",
        document=_html,
        at=_AT,
        params={"action": (None, "view"), **_STANDING},
    ),
)
