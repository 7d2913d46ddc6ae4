"""``pit_fetch normalize``: items that a transformer extracted from saved pages, dated by the pages' own stamps.

An item names its page and the place in it that shows its time of publication. That place is read again here. A text
that the page does not contain is not served. So a model may extract, but never decides.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, NoReturn

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.normalize import items
from pit_fetch.normalize.items import Item
from pit_fetch.normalize.saved import SavedPage, capture_of, is_envelope, page_of
from pit_fetch.normalize.stamps import date_claim
from pit_fetch.provider import Context, Dating, Field, Operation, Option, Provider, Query, Record

# Several items of one page are the ordinary case.
_KEPT_PAGES = 32
_MAX_BYTES = 16_000_000  # of a page

_UNREADABLE = Record("", None, {})

_CAVEAT = (
    "An item is dated by what its saved page says of itself: a page that was changed without saying so cannot be told "
    "from one that was not. Texts that the page does not hold word for word are left out."
)


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield one record for each item of a transformer's output. Raise InputError, and ConfigError without a folder."""
    pages = query.options["pages"]
    if not os.path.isdir(pages) or not os.access(pages, os.R_OK | os.X_OK):
        raise ConfigError(Code.USAGE, text="--pages is not a folder that can be read.")

    @lru_cache(maxsize=_KEPT_PAGES)
    def bytes_of(name: str) -> bytes | None:
        return read_page(pages, name)

    @lru_cache(maxsize=_KEPT_PAGES)
    def saved(name: str) -> SavedPage | None:
        content = bytes_of(name)
        return None if content is None else page_of(content)

    @lru_cache(maxsize=_KEPT_PAGES)
    def captured(name: str, url: str) -> SavedPage | None:
        content = bytes_of(name)
        return None if content is None else capture_of(content, url)

    def page_of_item(item: Item) -> SavedPage | None:
        is_capture = is_envelope(bytes_of(item.page) or b"")
        page = captured(item.page, item.address) if is_capture else saved(item.page)
        return page if page is not None and item.address in page.addresses else None

    for item in items.parse_items(body):
        yield _UNREADABLE if item is None else _record(item, page_of_item(item), query.open_mode)


def read_page(folder: str, name: str) -> bytes | None:
    """Return the bytes of a regular file in ``folder``; None for anything else, and for a file outside it.

    The name was written by a model: it must not lead to another file, neither by ``..`` nor by a link.
    """
    root = os.path.realpath(folder)
    try:
        path = os.path.realpath(os.path.join(root, name))
        if os.path.isabs(name) or os.path.commonpath([root, path]) != root:
            return None
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    return content if len(content) <= _MAX_BYTES else None


def _record(item: Item, page: SavedPage | None, open_mode: bool) -> Record:
    """Return the record of one item: unchanged without a PIT, else with only the texts that its page contains."""
    dating = None if page is None else date_claim(item.kind, item.name, item.claim, page.stamps)
    payload = item.payload if open_mode or page is None else items.keep_quoted(item.payload, page)
    dated_by = None if dating is None else f"{item.kind} {item.name}"
    return Record(
        f"{item.address}#{_digest(payload)}",
        None if dating is None else dating.available_at,
        {"url": item.address, **payload, "dated_by": dated_by},
        None if dating is None else dating.revised_at,
    )


def _digest(payload: Mapping[str, Any]) -> str:
    return sha256(repr(sorted(payload.items())).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _nothing_to_ask(query: Query, context: Context) -> NoReturn:
    raise ConfigError(Code.USAGE, text="normalize reads items: give them on standard input, or with --input-file.")


def _caveats(query: Query) -> Iterable[str]:
    return () if query.open_mode else (_CAVEAT,)


PROVIDER = Provider(
    name="normalize",
    summary="items extracted from saved pages, dated by what the pages themselves say",
    operations=(
        Operation(
            fetch=_nothing_to_ask,
            parse_reply=parse_reply,
            dating=Dating(
                rule="the time at the place that the item names; revised at the latest time that its page says",
                why="what a model extracted is read again in the saved page",
            ),
            takes=("pages",),
            fields=(
                Field("url"),
                *(Field(name) for name in items.TEXTS),
                *(Field(name, "list") for name in items.LISTS),
                Field("dated_by", is_evidence=True),
            ),
            caveats=_caveats,
        ),
    ),
    options=(
        Option(
            "pages",
            "the folder of the saved pages",
            default=".",
            metavar="DIR",
            search_terms="page dir folder directory saved",
        ),
    ),
    page_size=1_000,
    help="""\
Reads items from standard input, or from --input-file: a JSON array of objects with url, page (a file in --pages),
published_at and evidence, {"kind": "meta", "name": "article:published_time"}; kind is meta, json-ld, header or
capture (the page is then a saved envelope of wayback page as=html).
""",
)
