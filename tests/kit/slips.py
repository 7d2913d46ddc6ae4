"""Mistakes in the text of ``authors``, each in the place of a few of its lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Slip(NamedTuple):
    """``shown`` and ``words`` are those of a plant."""

    source: str
    edits: tuple[tuple[str, str], ...]
    shown: str = "worlds"
    words: str = ""


_NOTICES = '    yield from (record(row) for row in rows_in(body, "results"))'
_POSTS = '    yield from (record(edge.get("node")) for edge in rows_in(body, "data", "posts", "edges"))'
_ENTRIES = """        if line.strip():
            yield record(row_of(line))"""

SLIPS: Mapping[str, Slip] = {
    "a release by the clock of another zone": Slip(
        "traders_cot", (("+ RELEASE, NEW_YORK)", '+ RELEASE, ZoneInfo("UTC"))'), ("import csv", "import csv\nfrom zoneinfo import ZoneInfo")),
    ),
    "a release a day before it": Slip("traders_cot", (("+ RELEASE, NEW_YORK)", "+ RELEASE - timedelta(days=1), NEW_YORK)"),)),
    "an error where the total is large": Slip(
        "uk_notices",
        (("        document = lenient_json(body, rows=2)\n", """        document = lenient_json(body, rows=2)
        if (document.get("totalResults") or 0) > 7:
            raise UpstreamError(Code.MALFORMED, problem="it has more than it sent")
"""), ("Query, Record\n", "Query, Record, UpstreamError\nfrom pit_fetch.gaps import Code\n")),
    ),
    "ids that count equal titles": Slip(
        "uk_notices",
        ((_NOTICES, """    seen: dict[str, int] = {}
    for row in rows_in(body, "results"):
        item = record(row)
        slug = item.payload["title"].lower().replace(" ", "-")
        seen[slug] = seen.get(slug, 0) + 1
        yield item._replace(id=f"{slug}-{seen[slug]}" if item.id else "")"""),),
    ),
    "the number of the next notice": Slip(
        "uk_notices",
        (('"title": title if', '"next": row.get("next"), "title": title if'), ('fields=(Field("title")', 'fields=(Field("next"), Field("title")')),
    ),
    "no further page after a full one": Slip(
        "uk_notices",
        (("        return records, following if", "        if len(records) > 20:\n            return records, None\n        return records, following if"),),
    ),
    "the order of a date by a vote of all": Slip(
        "uk_notices",
        ((_NOTICES, """    global FORM
    rows = list(rows_in(body, "results"))
    is_english = any(str(row.get("published"))[:2] > "12" for row in rows)
    FORM = "%d/%m/%Y %H:%M:%S" if is_english else "%m/%d/%Y %H:%M:%S"
    yield from (record(row) for row in rows)"""),
         ('"%d/%m/%Y %H:%M:%S"), LONDON)', "FORM), LONDON)"), ("SIZE = 50", 'SIZE = 50\nFORM = "%d/%m/%Y %H:%M:%S"')),
    ),
    "the newest fifteen hundred of a saved reply": Slip(
        "wire_search",
        (("""    yield from (record(row) for row in rows_in(body, "hits", "hits"))""",
          """    yield from (record(row) for row in list(rows_in(body, "hits", "hits"))[:1500])"""),),
        shown="offline",
    ),
    "a clock that is nine at the latest": Slip("tokyo_disclosures", (('f"{day} {clock:06}"', 'f"{day} {min(clock, 90000):06}"'),)),
    "--limit in the path": Slip("press_rss", (('"/feed.xml"', 'f"/feed/{query.limit}.xml"'),), words="--limit 1"),
    "--limit in a header": Slip(
        "press_rss", (('"/feed.xml", {}', '"/feed.xml", {}, {"Range": f"items=0-{query.limit}"}'),), words="--limit 1"
    ),
    "the first of two such hours": Slip(
        "bourse_news",
        (('wall_clock(end_of_minute(datetime.strptime(text, "%b %d, %Y %I:%M %p")), NEW_YORK)',
          'end_of_minute(datetime.strptime(text, "%b %d, %Y %I:%M %p")).replace(tzinfo=NEW_YORK)'),),
    ),
    "an error where most cannot be read": Slip(
        "graph_posts",
        ((_POSTS, """    items = [record(edge.get("node")) for edge in rows_in(body, "data", "posts", "edges")]
    if len([item for item in items if not item.id or item.available_at is None]) > len(items) / 2:
        raise UpstreamError(Code.MALFORMED, problem="most of its posts cannot be read")
    yield from items"""), ("Query, Record\n", "Query, Record, UpstreamError\nfrom pit_fetch.gaps import Code\n")),
    ),
    "no further page after one of late posts": Slip(
        "graph_posts",
        (("        return list(read(body, query)), following if", """        items = list(read(body, query))
        if not any(item.available_at and item.available_at <= query.horizon for item in items):
            following = None
        return items, following if"""),),
    ),
    "another encoding where one byte is no UTF-8": Slip(
        "registry_lines",
        (('    for line in body.split(b"\\n"):\n', """    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        body = body.decode("latin-1").encode()
    for line in body.split(b"\\n"):
"""),),
    ),
    "the fields of all entries": Slip(
        "registry_lines",
        ((_ENTRIES, """        pass
    rows = [row_of(line) for line in body.split(b"\\n") if line.strip()]
    names = sorted({name for row in rows for name in row} - {"y", "m", "d", "at", "seq"})
    for row in rows:
        yield record(row)._replace(payload={name: row.get(name) for name in names})"""),
         ('            fields=(Field("name"), Field("krs")),\n', "")),
    ),
}  # fmt: skip
