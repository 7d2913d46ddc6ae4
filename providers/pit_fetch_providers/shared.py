"""Helpers that several bundled sources share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from pit_fetch.gaps import Code
from pit_fetch.provider import (
    ConfigError,
    Credential,
    Field,
    FieldKind,
    FieldRole,
    Host,
    HttpReply,
    Query,
    Record,
    UpstreamError,
    View,
)
from pit_fetch.times import NEW_YORK, is_weekend
from pit_fetch.wire import limited, strict_json

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# A row without identity: the framework counts it as unreadable, and serves nothing of it.
UNREADABLE = Record("", None, {})

_MAIL_OR_PAGE = r"[^\s@<>()]+@[^\s@<>()]+\.[^\s@<>()]+|https?://\S+"


def implausible(contact: str) -> str | None:
    """Return the problem with a contact, or None."""
    if not re.search(_MAIL_OR_PAGE, contact):
        return "it holds neither an e-mail address nor the address of a page."
    return None if contact.isascii() else "it contains characters that a header cannot carry."


CONTACT = Credential(
    name="contact",
    variables=("PIT_FETCH_CONTACT",),
    hint="Archives want to know whom to write to: an e-mail address, or a page of yours.",
    secret=False,
    check=implausible,
)


def views_of(package: str) -> Callable[[], tuple[View, ...]]:
    """Return the views of a source, by its package. Their module is imported when they are called for."""

    def views() -> tuple[View, ...]:
        found: tuple[View, ...] = import_module(f"{package}.views").VIEWS
        return found

    return views


def weekday_from(day: date) -> date:
    """Return ``day``, or the Monday after it."""
    return day + timedelta(days=7 - day.weekday() if is_weekend(day) else 0)


def new_york_day(moment: datetime) -> date:
    """Return the day in New York at ``moment``."""
    return moment.astimezone(NEW_YORK).date()


# What the page of an answer makes of a field of that name.
_PLOTTED = ("close", "value", "price", "adjusted_close", "reportedEPS", "revenue", "assets", "operating_cash_flow")
_ROLES: Mapping[str, FieldRole] = {
    "record_type": "kind",
    "action": "kind",
    "symbol": "series",
    "period_start": "start",
    "estimatedEPS": "estimate",
    "epsEstimate": "estimate",
}


def fields(
    text: str = "",
    date: str = "",
    number: str = "",
    integer: str = "",
    lists: str = "",
    instant: str = "",
    required: str = "",
) -> tuple[Field, ...]:
    """Return fields by their kinds; each argument holds names between spaces, ``required`` some of the others."""
    kinds: tuple[tuple[FieldKind, str], ...] = (
        ("text", text), ("date", date), ("number", number), ("integer", integer), ("list", lists), ("instant", instant),
    )  # fmt: skip
    return tuple(
        Field(name, kind, False, name in _PLOTTED, name in required.split(), _ROLES.get(name, ""))
        for kind, names in kinds
        for name in names.split()
    )


def with_a_pit(caveat: str) -> Callable[[Query], Iterable[str]]:
    """Return the ``Operation.caveats`` that state ``caveat``, in which {name} is the operation, with a PIT."""
    return lambda query: () if query.open_mode else (caveat.format(name=query.operation.name),)


_EVENING = (
    "A bar counts from 20:00 New York of its day, when its volume is final: as of the close, the newest one is of the "
    "day before. For that of the day, give a PIT from 20:00."
)


def evening_caveats(query: Query) -> Iterable[str]:
    """Return what is to be said of bars of days in an answer as of an instant between the close and 20:00."""
    is_after_close = query.pit is not None and 16 <= query.pit.astimezone(NEW_YORK).hour < 20
    return (_EVENING,) if is_after_close else ()


def refuse(text: str) -> NoReturn:
    """Raise ConfigError for a request that makes no sense."""
    raise ConfigError(Code.USAGE, text=text)


def status_error(reply: HttpReply, host: Host) -> UpstreamError:
    """Return the error of a reply whose status alone counts. A 404 is that of an address that has moved."""
    if reply.status == 404:
        return UpstreamError(Code.MOVED, host=host.name, variable=host.url_variable)
    return UpstreamError(Code.HTTP_STATUS, host=host.name, status=reply.status)


def key_refused(host: Host, key: Credential) -> UpstreamError:
    return UpstreamError(Code.CREDENTIAL_REFUSED, host=host.name, variables=" or ".join(key.variables))


def error_document(reply: HttpReply) -> dict[str, Any]:
    """Return the JSON object in the body of an error reply; an empty one if it holds none."""
    try:
        document = strict_json(reply.body)
    except UpstreamError:
        return {}
    return document if isinstance(document, dict) else {}


def require_one(requests: Iterable[Callable[[], object]]) -> None:
    """Make requests until one succeeds. Raise the UpstreamError of the last one if none does."""
    failure: UpstreamError | None = None
    for request in requests:
        try:
            request()
        except UpstreamError as error:
            if error.is_deadline:
                raise
            failure = error
        else:
            return
    if failure is not None:
        raise failure


def texts_in(row: Mapping[str, Any], *names: str) -> dict[str, str | None]:
    """Return the texts that a row has, None for a value that is none."""
    return {name: text_or_none(row[name]) for name in names if name in row}


def lists_in(row: Mapping[str, Any], *names: str) -> dict[str, list[str]]:
    """Return the lists of texts that a row has; what else is in them is left out."""
    listed = {name: row[name] if isinstance(row[name], list) else [] for name in names if name in row}
    return {name: [value for value in values if isinstance(value, str)] for name, values in listed.items()}


def utc_seconds(moment: datetime) -> str:
    """Return ``moment`` as ``2024-02-15T21:00:00Z``, without its parts of a second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def text_or_none(value: object) -> str | None:
    """Return ``value`` if it is a text, and None for anything else."""
    return value if isinstance(value, str) else None


def not_entitled(host: Host, what: str) -> ConfigError:
    """Return the error of a key whose plan does not include ``what``."""
    return ConfigError(
        Code.USAGE, text=f"this key's plan does not include {what} at {host.name}: use one whose plan does"
    )


def claimed_text(link: Record, texts: Mapping[str, Any]) -> tuple[Record, Record]:
    """Return a proved record, and its texts as an item of their own, which is claimed from the same instant on.

    For a source that shows when it first saw a page, and not whether it has read its title again since.
    """
    name = f"{link.id}:text" if link.id else ""
    return link, Record(name, None, {**link.payload, **texts}, claimed_at=link.available_at)


def parse_xml(source: str) -> Element | None:
    """Return the root of a document; None if it is not well formed, or has a document type.

    Raise UpstreamError for a document that would take far more memory than its size.
    """
    from xml.etree import ElementTree

    class Builder(ElementTree.TreeBuilder):
        def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
            # It can declare entities. None of EDGAR's forms has one, nor has a feed.
            raise ElementTree.ParseError("a document type")

    limited(source.encode("utf-8", "surrogatepass"))
    parser = ElementTree.XMLParser(target=Builder())  # noqa: S314 - see above
    try:
        parser.feed(source.strip())
        root: Element = parser.close()
    except (ElementTree.ParseError, ValueError):
        return None
    return root
