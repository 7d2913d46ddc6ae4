"""What a provider's author imports: a provider is a frozen value, not a class to inherit from.

    PROVIDER = Provider(name="my-source", summary="…", fetch=fetch, parse_reply=parse_reply, hosts=(…,), options=(…,))

``fetch`` is a generator of records and pages. It is handed an HTTP client; it opens no sockets,
reads no environment variables, prints nothing, and never sorts, cuts, counts or compares with the
PIT. It may narrow the server's window with :attr:`Query.horizon`; the framework filters again, and
stops asking once it has enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from pit_fetch.errors import ConfigError, UpstreamError
from pit_fetch.gaps import Gap, gap
from pit_fetch.transport import HttpReply, Params

__all__ = [
    "API_VERSION",
    "Basis",
    "Bearer",
    "ConfigError",
    "Context",
    "Credential",
    "Field",
    "File",
    "Gap",
    "HeaderKey",
    "Host",
    "Http",
    "HttpReply",
    "Operation",
    "Option",
    "Page",
    "Params",
    "Provider",
    "Query",
    "QueryKey",
    "Rate",
    "Record",
    "UpstreamError",
    "Watermark",
    "Window",
    "gap",
]

API_VERSION = 3

OptionKind = Literal["text", "list", "integer", "number", "instant", "flag"]
FieldKind = Literal["text", "number", "integer", "instant", "date", "flag", "list", "object"]
SourceTag = Literal["neo4j_created", "edgar_accepted", "time_series_timestamp", "provider_metadata"]
Dating = Literal["record", "receipt", "never"]

# What an item carries besides its payload, in this order, regardless of --fields and the budget.
STAMPS = ("available_at", "available_at_source", "revised_at", "first_seen_at", "id")


class Window(Enum):
    """For :attr:`Operation.window`: the provider applies --date-from and --date-to itself.

    BY_SELECT   ``select`` applies them, so an archive can apply them to records of any request
    BY_ASKING   ``fetch`` applies them in its requests, and no later filter can
    """

    BY_SELECT = "by select"
    BY_ASKING = "by asking"


class Record(NamedTuple):
    """One item of a source, with the instant at which it became public.

    id            the source's own id for the item; "" if it has none (the item is then unusable)
    available_at  aware instant from which the item was public; None if that cannot be shown
    available_at_source  what kind of stamp that is
    payload       the item's fields, JSON values only
    revised_at    aware instant of the last revision, if the source serves only the latest one
    at_receipt    available_at is when the reply was received, because the source gives no time: today's
                  state. Each run stamps it later, so its place in the order and its cursor rest on the id alone
    first_seen_at set by an archive, never by a provider: when it was first held, if that is the proof

    A source may yield several records with the same id: the versions of one item, such as the vintages
    of an observation. Of those that were public at the PIT, the newest is served, by the later of its stamps.
    """

    id: str
    available_at: datetime | None
    available_at_source: SourceTag
    payload: Mapping[str, Any]
    revised_at: datetime | None = None
    at_receipt: bool = False
    first_seen_at: datetime | None = None


class Watermark(NamedTuple):
    """A promise made by ``fetch`` between records: every later one was available at or before ``at``, or is undated.

    Anything newer than ``at`` can then be delivered, and the fetch can stop once it has enough. A
    record that breaks the promise is an upstream error. ``at`` is aware, and depends on the request alone
    (a month, a day, a slice): derived from a stamp, it could reveal a withheld record.

    max_empty_slices  the search ends after this many slices in a row without a public record, and a gap says
               where; 0: it never ends for that reason
    """

    at: datetime
    max_empty_slices: int = 0


class Page(NamedTuple):
    """The records of one reply; :mod:`pit_fetch.paging` makes pages.

    order    for a source that sends its newest records first: maps the oldest *public* instant of the
             page to one at or before which everything on later pages was available. The framework applies it
    continues_previous  the page continues the one before it
    """

    records: tuple[Record, ...]
    order: Callable[[datetime], datetime] | None = None
    continues_previous: bool = False


class Field(NamedTuple):
    """A field of a payload. ``kind`` is what it means: a source may write a number as text.

    is_evidence  it says how the record was dated, not what the source says: a fetch may find it, or not
    """

    name: str
    kind: FieldKind = "text"
    is_evidence: bool = False


def _no_caveats(query: Query) -> Iterable[str]:
    return ()


def _as_given(query: Query) -> Query:
    return query


def _by_window(query: Query) -> datetime | None:
    return query.since if query.operation.window in ("", "available_on") else None


Meaning = Literal["publication", "interval_start", "interval_end", "start"]


class Basis(NamedTuple):
    """What a field of the source's reply means, on which stamps rest. The author's kit holds the stamps to it.

    field  its name in the reply
    means  "publication"; "interval_start" or "interval_end" of a bar; "start" of an event, a call say, whose
           text appears later
    after  how long after what the field says the record was public at the earliest
    """

    field: str
    means: Meaning = "publication"
    after: timedelta = timedelta(0)


class Operation(NamedTuple):
    """One thing that a source can be asked for, and how its records are dated.

    name     what a request calls it; "" for a provider's only operation
    rule     how a record is dated, in words; why: the reason, with its source. Help and docs show them
    dating   "record": each by its own stamps; "receipt": a snapshot, public when it was fetched;
             "never": nothing shows when its records were public, so none is served with a PIT
    needs    options it requires; takes: the others it accepts. If there is only one operation and both
             are empty, it accepts all
    fields   what a payload can hold, if that is known
    window   the field that --date-from and --date-to compare: a date counts as its last instant.
             "" is ``available_at``, "available_on" the day that ends with it. Window.BY_SELECT: ``select``
             applies it; Window.BY_ASKING: ``fetch`` does, while it asks, and nobody can later. None: there is no
             window, and a request for one is refused
    caveats  fixed statements of what a request cannot show; they depend on the request alone
    basis    what the fields mean on which stamps rest, where a field alone does not show it
    normalize_query  returns the query as the operation understands it: an option under another name, values
             that only this operation refuses. Raises ConfigError
    versions    the source sends several versions of an item. The horizon is then the PIT: a window that ended
                earlier would leave out the newest version, and bring a superseded one back
    earliest    nothing that was available before this instant can be wanted (None: there is no bound); an
             archive looks no further. It depends on the request alone
    timeout     seconds that a fetch may take if --timeout is not given; less than the ten minutes after which
                an agent's client gives up
    """

    name: str = ""
    rule: str = ""
    why: str = ""
    dating: Dating = "record"
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    window: str | Window | None = ""
    caveats: Callable[[Query], Iterable[str]] = _no_caveats
    normalize_query: Callable[[Query], Query] = _as_given
    earliest: Callable[[Query], datetime | None] = _by_window
    basis: tuple[Basis, ...] = ()
    versions: bool = False
    timeout: float = 60.0


class Query(NamedTuple):
    """One request, as a provider sees it. All instants are aware and UTC.

    now        the only "now": the PIT, or the wall clock in open mode
    started    the wall clock when the run began: for stamping snapshots, and for capping a PIT in the future
    pit        the PIT; None in open mode
    since      the first instant of --date-from; None if not given
    until      the last instant of --date-to (inclusive); None if not given
    horizon    no record after this instant can be wanted: narrow the server's window with it
    limit      the maximum number of records wanted
    options    the provider's own options, by name
    operation  the operation asked for
    offline    an --input-file run: ``parse_reply`` is called, ``fetch`` is not
    """

    now: datetime
    started: datetime
    pit: datetime | None
    since: datetime | None
    until: datetime | None
    horizon: datetime
    limit: int
    options: Mapping[str, Any]
    operation: Operation = Operation()
    offline: bool = False

    @property
    def open_mode(self) -> bool:
        """Whether there is no PIT: nothing is filtered, and today's state may be shown."""
        return self.pit is None


Stage = Callable[[Iterator[Record]], Iterator[Record]]
T = TypeVar("T")
RetryAfter = Callable[[HttpReply], float | None]


class Http(Protocol):
    """The HTTP client that a provider is given; :class:`pit_fetch.net.client.Client` is the real one."""

    def get(
        self,
        host: str,
        path: str,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        retry_after: RetryAfter | None = None,
    ) -> HttpReply:
        """The complete reply of a declared host, given by name. Raises UpstreamError once retries are exhausted.

        The host's declared authentication is added. ``retry_after`` is for a host that says "later" with a
        success status: it returns how many seconds to wait before asking again, or None to accept the
        reply. When tries or time run out, the last such reply is returned.
        """

    def post(
        self,
        host: str,
        path: str,
        json: object,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        retry_after: RetryAfter | None = None,
        repeatable: bool = False,
    ) -> HttpReply:
        """The same with ``json`` as the body. It is retried only if ``repeatable`` says that a repeat is harmless."""

    def load(self, host: str, path: str, params: Params, call: Callable[[], object]) -> HttpReply:
        """See :meth:`Context.load`."""

    def get_cached(
        self,
        host: str,
        path: str,
        seconds: float,
        decode: Callable[[HttpReply], T],
        keep: Callable[[T], bool] | None = None,
    ) -> T:
        """What ``decode`` makes of a reply up to ``seconds`` old, from this user's cache or freshly fetched.

        ``seconds`` may be infinite, for a file that never changes. Use it only for files that are the
        same for every request: the contents of the cache must not reveal what was asked for. If the reply
        does not hold such a file, ``decode`` raises UpstreamError, and nothing is kept. ``keep`` decides,
        from what ``decode`` made, whether it may be kept: the fact that the file was asked for must not
        reveal anything that was withheld.
        """


def _no_files(name: str) -> str:
    raise KeyError(name)


class Context(NamedTuple):
    """What a fetch is given: the HTTP client for the declared hosts, the declared credentials by name, and files."""

    http: Http
    credentials: Mapping[str, str]
    path_of: Callable[[str], str] = _no_files

    def load(self, host: str, path: str, params: Params, call: Callable[[], object]) -> HttpReply:
        """What ``call()`` returns, as a reply: for a library that does its own HTTP.

        The body is what it returns if that is bytes, else its JSON. ``host`` is the declared host that the
        library asks; ``path`` and ``params`` say what is asked, as an address would. Its rate and the
        deadline hold; an exception is an unreachable host. A test answers in the place of the library,
        and so does whatever records and replays: everything that decides the answer belongs in ``params``.
        """
        return self.http.load(host, path, params, call)

    def file(self, name: str) -> str:
        """The path of a declared file, which exists. Raises ConfigError if it is not set or cannot be read."""
        return self.path_of(name)


class Rate(NamedTuple):
    """At most ``calls`` requests in any ``seconds``, across all processes of this user on this machine.

    PIT_FETCH_RATE_API_EXAMPLE_COM=5/1 in the environment sets it for https://api.example.com. Hosts
    with the same ``bucket`` are counted together, as their owner does; with "", each host and port is
    counted separately.
    """

    calls: int
    seconds: float = 1.0
    bucket: str = ""


class Bearer(NamedTuple):
    """``Authorization: Bearer`` with the value of a declared credential."""

    credential: str


class QueryKey(NamedTuple):
    """The value of a declared credential as a query parameter."""

    credential: str
    parameter: str


class HeaderKey(NamedTuple):
    """The value of a declared credential as a header."""

    credential: str
    header: str


class Host(NamedTuple):
    """A host that a provider may talk to; ``url_variable`` names the variable that points it elsewhere.

    ``auth`` says how to authenticate; the client does it, so that no provider handles a key. ``browser``: the
    host refuses plain clients, and is asked as a browser would ask it. That needs the package curl_cffi.
    """

    name: str
    url: str
    url_variable: str
    rate: Rate | None = None
    auth: Bearer | QueryKey | HeaderKey | None = None
    browser: bool = False


class Credential(NamedTuple):
    """A secret (or an identification, with ``secret=False``), taken from the first variable that is set.

    ``check`` returns what is wrong with a value, in words that do not repeat it, or None.
    """

    name: str
    variables: tuple[str, ...]
    hint: str = ""
    secret: bool = True
    check: Callable[[str], str | None] | None = None


class File(NamedTuple):
    """A local file that a provider reads, and the variable that says where it is.

    ``hint`` says how to come by it. :meth:`Context.file` gives its path, for reading only.
    """

    name: str
    variable: str
    hint: str = ""


class Option(NamedTuple):
    """An option as data. ``name`` is the key in :attr:`Query.options`; the flag is ``--name``.

    kind: text, list (comma-separated), integer (at least ``minimum``), number (of seconds), instant (a
    New York date, a full timestamp or Unix seconds), flag. ``positional`` lets bare words of the command
    line fill it: "one" takes exactly one word, "all" joins them with spaces. ``uppercase`` puts the value in
    capitals, so that it is the same request however it was typed; ``synonyms`` maps other words for a
    value to that value. ``parse`` replaces the kind for a text with a rule of its own; it raises
    UsageError. ``short`` is a second flag, such as "-v". ``repeatable``: it may be given several times, for
    texts in which a comma is a comma; its value is a tuple.

    affects_records  a record may look different with another value. False for a filter that ``select`` (or the
            window) applies in full: an archive then answers with what was seen under any value of it
    """

    name: str
    help: str
    kind: OptionKind = "text"
    default: Any = None
    choices: tuple[str, ...] = ()
    minimum: int = 1
    metavar: str | None = None
    positional: Literal["", "one", "all"] = ""
    uppercase: bool = False
    synonyms: Mapping[str, str] = MappingProxyType({})
    parse: Callable[[str], Any] | None = None
    short: str = ""
    repeatable: bool = False
    affects_records: bool = True


def _everything(query: Query, record: Record) -> bool:
    return True


def _nothing(query: Query) -> Stage | None:
    return None


def _no_hint(query: Query) -> str:
    return ""


class Provider(NamedTuple):
    """A source.

    fetch       (query, context) -> records, pages and gaps, from the network; watermarks if it can promise an order
    parse_reply (body, query) -> records, from one raw reply (--input-file, and fetch itself)
    select      (query, record) -> whether the record was asked for: the filters that are applied locally
    derive      (query) -> a stage that computes across records, or None. It sees public records only: all
                of them, newest first, back from the PIT, regardless of --after and --date-to
    when_empty  (query) -> what to try if nothing was found, or ""; it depends on the request alone
    operations  what can be asked for; a single one without a name if there is no choice
    page_size   how many public records --max-pages counts as one page
    """

    name: str
    summary: str
    fetch: Callable[[Query, Context], Iterable[Record | Page | Gap | Watermark]]
    parse_reply: Callable[[bytes, Query], Iterable[Record | Gap]]
    select: Callable[[Query, Record], bool] = _everything
    derive: Callable[[Query], Stage | None] = _nothing
    when_empty: Callable[[Query], str] = _no_hint
    operations: tuple[Operation, ...] = (Operation(),)
    aliases: tuple[str, ...] = ()
    hosts: tuple[Host, ...] = ()
    credentials: tuple[Credential, ...] = ()
    files: tuple[File, ...] = ()
    options: tuple[Option, ...] = ()
    page_size: int = 100
    help: str = ""
    api_version: int = API_VERSION
