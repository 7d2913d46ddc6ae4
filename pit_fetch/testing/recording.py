"""A recording: what an author knows of a source, as data. The kit alone makes a server of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args

# What an author says of a field, where its name or its value could mean something else.
#
# constant   the same in each reply, beside the rows: a unit, say; of a parameter: no size of a page
# fixed      as it was published for ever: neither a counter nor a time of revision, whatever its name
# planned    the date of something to come
# revision   a time of revision
# counts_on  a number that goes on growing
Role = Literal["constant", "fixed", "planned", "revision", "counts_on"]
ROLES: tuple[Role, ...] = get_args(Role)


class Document(NamedTuple):
    """What one address answers with.

    content  the bytes, or the document as a value
    encode   makes the bytes of such a value, also of one that a test has changed; without it they are JSON
    """

    content: Any
    encode: Callable[[Any], bytes] | None = None
    status: int = 200
    headers: Mapping[str, str] = {}


class Pages(NamedTuple):
    """How the source cuts its list into pages. Names are those of parameters, in the address or in what is posted.

    size    how many rows are asked for, or how many a page always has
    number  which page is asked for, from ``first`` on
    start   at which row the page begins, from 0 on
    after   the id of the last row of the page before it
    cursor  the token of the page before it
    next    where the document announces the next page, which is null on the last one: by a token, or by ``link``
    link    a text with the token at ``{}``: ``/v1/items?cursor={}``
    more    where the document says whether there is a next page
    total   the header that says how many pages there are
    """

    size: str | int = 0
    number: str = ""
    first: int = 1
    start: str = ""
    after: str = ""
    cursor: str = ""
    next: str = ""
    link: str = "{}"
    more: str = ""
    total: str = ""


class Bounds(NamedTuple):
    """The window by which the source cuts its list: a ``field`` of its rows, from ``since`` to ``to``, both inclusive.

    Those are names of parameters.
    """

    field: str
    to: str = ""
    since: str = ""


class Form(NamedTuple):
    """How the source writes a stamp, by ``strptime``: ``Form("%d/%m/%Y %H:%M", zone="Europe/London")``."""

    text: str
    zone: str = ""


class Recording(NamedTuple):
    """What a source answered with.

    documents  the reply to every request; or replies by the path that is asked for (``/v1/items``), by host
               and path, or by path and parameters (``/query?function=NEWS``), the one with the rows first. What is
               asked for once for each row is a mapping: ``{"/v1/items/{id}": {"7": reply, "8": reply}}``, by the
               values of the row's fields in the braces; a page that is left out is not there. A reply is bytes, a
               value, or a Document
    rows       where the rows are: ``data.results``; by default the longest list
    id         the field of a row that names it
    pages      how the source cuts its rows into pages; by default all come at once
    window     by what it cuts them otherwise; by default by nothing
    stamps     forms of stamps by the names of their fields, if others than ISO 8601, RFC 2822, Unix time and the like;
               also where only the source knows which of two numbers is the month
    fields     what fields are, by their names
    """

    documents: Any
    rows: str = ""
    id: str = "id"
    pages: Pages | None = None
    window: Bounds | None = None
    stamps: Mapping[str, Form] = {}
    fields: Mapping[str, Role] = {}
