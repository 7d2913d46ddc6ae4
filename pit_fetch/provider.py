"""What the author of a provider imports: a provider is a frozen value, not a class to inherit from.

    PROVIDER = Provider(name="my-source", summary="…", fetch=fetch, read=read, hosts=(…,), options=(…,))

``fetch`` is a generator of records. It gets an HTTP client and its own credentials by hand; it
opens no socket, reads no environment, prints nothing, and never sorts, cuts or compares with the
PIT. It may narrow the server's window with :attr:`Query.horizon`; the framework filters again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.gaps import Gap, gap

__all__ = [
    "API_VERSION",
    "ConfigError",
    "Context",
    "Credential",
    "Gap",
    "Host",
    "Http",
    "Option",
    "Provider",
    "Query",
    "Rate",
    "Record",
    "Reply",
    "UpstreamError",
    "Watermark",
    "gap",
]

API_VERSION = 1

Kind = Literal["text", "list", "integer", "instant", "flag"]
SourceTag = Literal["neo4j_created", "edgar_accepted", "time_series_timestamp", "provider_metadata"]


class Record(NamedTuple):
    """One item of a source, with the instant at which it became public.

    id            the source's own identity of the item; "" when it has none (the item is then unusable)
    available_at  aware instant from which the item was public; None when that cannot be shown
    source        which kind of stamp that is
    payload       the item's fields, JSON values only
    revised_at    aware instant of the last revision, where the source serves only the latest one
    at_receipt    available_at is when the reply was received, since the source gives no time: the state of
                  today. Each run stamps it later, so its place in the order and its cursor rest on the id alone
    """

    id: str
    available_at: datetime | None
    source: SourceTag
    payload: Mapping[str, Any]
    revised_at: datetime | None = None
    at_receipt: bool = False


class Watermark(NamedTuple):
    """A promise that ``fetch`` makes between records: every later one was available at or before ``at``, or is undated.

    What is newer than ``at`` may then be delivered, and the fetch may stop once it has enough. A
    record that breaks the promise is an upstream error. ``at`` is aware.
    """

    at: datetime


class Query(NamedTuple):
    """One request, as a provider sees it. All instants are aware and UTC.

    now        the only "now": the PIT, or in open mode the wall clock
    started    the wall clock when the run began: for stamping snapshots, and to bound a PIT in the future
    pit        the PIT; None in open mode
    since      the first instant of --date-from; None without one
    until      the last instant of --date-to (inclusive); None without one
    horizon    no record after this instant can be wanted: narrow the server's window with it
    limit      how many records are wanted at the most
    options    the provider's own options, by name
    offline    an --input-file run: ``read`` is called, ``fetch`` is not
    """

    now: datetime
    started: datetime
    pit: datetime | None
    since: datetime | None
    until: datetime | None
    horizon: datetime
    limit: int
    options: Mapping[str, Any]
    offline: bool = False


# A parameter with several values is sent several times.
Params = Mapping[str, str | Sequence[str]]
T = TypeVar("T")


class Reply(NamedTuple):
    """A complete answer. ``received_at`` is the UTC instant after its last byte."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    received_at: datetime


class Http(Protocol):
    """The HTTP client that a provider is given; :class:`pit_fetch.http.Client` is the real one."""

    def get(
        self,
        host: str,
        path: str,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        busy: Callable[[Reply], float | None] | None = None,
    ) -> Reply:
        """The complete reply of a declared host, by its name. Raises UpstreamError once retries are spent.

        ``busy`` is for a host that says "later" with a good status: the seconds that a reply asks to
        wait before it is asked for again, or None to take it. The last such reply is returned.
        """

    def get_cached(
        self,
        host: str,
        path: str,
        headers: Mapping[str, str],
        seconds: float,
        decode: Callable[[Reply], T],
        keep: Callable[[T], bool] | None = None,
    ) -> T:
        """What ``decode`` makes of the reply, which may be up to ``seconds`` old: from this user's cache, or fetched.

        ``seconds`` may be infinite, for a file that never changes. For files that are the same for
        every request only: what lies in the cache must not tell what was asked for. ``decode`` raises
        UpstreamError for a reply without such a file; it is not kept then. ``keep`` says of what
        ``decode`` made whether it may be kept: that the file was asked for must not tell of anything
        that was withheld.
        """


class Context(NamedTuple):
    """What a fetch is given: the HTTP client for the declared hosts, and the declared credentials by name."""

    http: Http
    credentials: Mapping[str, str]


class Rate(NamedTuple):
    """At most ``calls`` requests in any ``seconds``, over all processes of this user on this machine.

    PIT_FETCH_RATE_API_EXAMPLE_COM=5/1 in the environment sets it for https://api.example.com.
    ``bucket`` names what is counted together, for hosts whose owner counts them together; "" counts
    each host and port for itself.
    """

    calls: int
    seconds: float = 1.0
    bucket: str = ""


class Host(NamedTuple):
    """A host that a provider may talk to; ``override`` names the variable that points it elsewhere."""

    name: str
    url: str
    override: str
    rate: Rate | None = None


class Credential(NamedTuple):
    """A secret (or, with ``secret=False``, an identification) taken from the first variable that is set.

    ``check`` returns what is wrong with a value, in words that do not repeat it, or None.
    """

    name: str
    variables: tuple[str, ...]
    hint: str = ""
    secret: bool = True
    check: Callable[[str], str | None] | None = None


class Option(NamedTuple):
    """A command-line option as data. ``name`` is the key in :attr:`Query.options`; the flag is ``--name``.

    kind: text, list (comma-separated), integer (at least ``minimum``), instant (a New York date, a
    full time stamp or Unix seconds), flag. ``positional`` lets bare words of the command line fill it: "one" takes
    exactly one word, "all" joins them with spaces. ``upper`` spells the value in capitals, so that it
    is the same request however it was typed; ``synonyms`` maps other words for a value to the value.
    """

    name: str
    help: str
    kind: Kind = "text"
    default: Any = None
    choices: tuple[str, ...] = ()
    minimum: int = 1
    metavar: str | None = None
    positional: Literal["", "one", "all"] = ""
    upper: bool = False
    synonyms: Mapping[str, str] = {}


def _everything(query: Query, record: Record) -> bool:
    return True


def _no_caveats(query: Query) -> Iterable[str]:
    return ()


def _no_hint(query: Query) -> str:
    return ""


@dataclass(frozen=True)
class Provider:
    """A source.

    fetch         (query, context) -> records and gaps, from the network; watermarks where it can promise an order
    read          (body, query) -> records, from one raw reply (--input-file, and fetch itself)
    select        (query, record) -> whether the record is asked for: the filters that are applied here
    caveats       (query) -> constant statements on what the request cannot show; from the request alone
    when_empty    (query) -> what to try when nothing was found, or ""; from the request alone
    newest_first  fetch yields public records in descending ``available_at``: the framework may stop it early
    page_size     how many public records --max-pages counts as one page
    fields        the payload's field names, where they are fixed
    """

    name: str
    summary: str
    fetch: Callable[[Query, Context], Iterable[Record | Gap | Watermark]]
    read: Callable[[bytes, Query], Iterable[Record | Gap]]
    select: Callable[[Query, Record], bool] = _everything
    caveats: Callable[[Query], Iterable[str]] = _no_caveats
    when_empty: Callable[[Query], str] = _no_hint
    aliases: tuple[str, ...] = ()
    hosts: tuple[Host, ...] = ()
    credentials: tuple[Credential, ...] = ()
    options: tuple[Option, ...] = ()
    newest_first: bool = False
    page_size: int = 100
    fields: tuple[str, ...] = ()
    help: str = ""
    api_version: int = field(default=API_VERSION)
