"""The author's API: the values that describe a source. A provider is a frozen value, not a class to inherit from.

    NEWS = Operation("news", fetch=fetch, parse_reply=parse_reply, fields=(Field("title"),))
    PROVIDER = Provider(name="my-source", summary="…", operations=(NEWS,), hosts=(…,), options=(…,))

``fetch`` is a generator of records and pages. It receives an HTTP client. It opens no sockets, reads no
environment variables, prints nothing, and never sorts, cuts, counts or compares with the PIT. It may
narrow the server's window with :attr:`Query.horizon`. The framework filters again, and stops asking
once it has enough records.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NoReturn, Protocol, TypeVar

from pit_fetch.errors import ConfigError, UpstreamError, UsageError
from pit_fetch.gaps import TRANSIENT_STATUSES, Code, Gap, gap
from pit_fetch.times import parse_rfc3339, window_end
from pit_fetch.transport import HttpReply, Params

__all__ = [
    "API_VERSION",
    "ENVELOPE_FIELDS",
    "Archiving",
    "Asked",
    "Basis",
    "Bearer",
    "Caveat",
    "ConfigError",
    "Context",
    "CoveredBy",
    "Credential",
    "Dating",
    "Field",
    "FieldKind",
    "FieldRole",
    "Gap",
    "HeaderKey",
    "Host",
    "Http",
    "HttpReply",
    "Listing",
    "Meaning",
    "Operation",
    "Option",
    "OptionKind",
    "Page",
    "Params",
    "Provider",
    "Query",
    "QueryKey",
    "Rate",
    "Reach",
    "Record",
    "Retry",
    "RetryAfter",
    "Row",
    "Stage",
    "UpstreamError",
    "UsageError",
    "View",
    "Watermark",
    "gap",
]

API_VERSION = 4

OptionKind = Literal["text", "list", "integer", "number", "instant", "flag"]
FieldKind = Literal["text", "number", "integer", "instant", "date", "flag", "list", "object"]
Reach = Literal["all", "newest", "some"]
CoveredBy = Literal["any", "superset", "evidence"]

# The fields that every item has besides its payload, in this order, regardless of --fields and --max-chars.
ENVELOPE_FIELDS = ("available_at", "available_at_source", "revised_at", "first_seen_at", "evidence", "id")


class Record(NamedTuple):
    """One item of a source, with the instant at which it became public.

    id            the source's own id of the item; "" if it has none, which makes the item unusable
    available_at  the aware instant from which the item was public; None if that cannot be shown
    payload       the fields of the item, JSON values only
    revised_at    the aware instant of the last revision, if the source serves the latest revision only
    at_receipt    ``available_at`` is when the reply was received, because the source states no time. Of something
                  that is still going on, such as a bar, it is the later of that and its end. A record that is
                  stamped after its receipt is withheld. Each run stamps such an item later, so its place in the order
                  and its cursor do not rest on the stamp
    first_seen_at when an archive first held the item, if that is the proof; providers leave it None
    claimed_at    the aware instant from which the item was public by :attr:`Dating.claims`, and never later than
                  its proof. Only where the operator accepts claims is it served by it, and only while nothing proves it
    claimed_payload  the fields of the item as the claim has them, if they differ from ``payload``
    is_claimed    whether it is served on its claim; providers leave it False
    available_at_source  the kind of stamp that ``available_at`` rests on, a word of the envelope's
    period        the text of :attr:`Operation.period`. A provider gives it, as an ISO date, only where no field has one

    A source may yield several records with the same id: the versions of one item, such as the vintages
    of an observation. The framework serves the newest one that was public at the PIT, by the later of its stamps.
    """

    id: str
    available_at: datetime | None
    payload: Mapping[str, Any]
    revised_at: datetime | None = None
    at_receipt: bool = False
    first_seen_at: datetime | None = None
    claimed_at: datetime | None = None
    claimed_payload: Mapping[str, Any] | None = None
    is_claimed: bool = False
    available_at_source: str = "provider_metadata"
    period: str = ""


class Watermark(NamedTuple):
    """A promise between the records of a fetch: every later record was available at or before ``at``, or is undated.

    The framework can then deliver everything newer than ``at``, and stop once it has enough. A record that
    breaks the promise is an upstream error. ``at`` is aware and depends on the request alone (a month, a
    day, a slice): derived from a stamp, it could reveal a withheld record.

    max_empty_slices  end the search after this many slices in a row without a public record, with a gap that
                      states where it ended; 0 searches on
    """

    at: datetime
    max_empty_slices: int = 0


class Page(NamedTuple):
    """The records of one reply. :mod:`pit_fetch.paging` makes pages.

    newest_first  later pages hold nothing newer than the oldest *public* record of this one, but for ``slack``
    slack    by how much a record of a later page may be newer: where stamps are less precise than the order
    continues_previous  the page continues the one before it
    """

    records: tuple[Record, ...]
    newest_first: bool = False
    slack: timedelta = timedelta(0)
    continues_previous: bool = False


FieldRole = Literal["", "estimate", "series", "kind", "start"]


class Field(NamedTuple):
    """A field of a payload.

    kind         the meaning of its values: a source may write a number as text
    is_evidence  it states how the record was dated, which may differ between two fetches of the same content
    is_origin    it names where this version of the record stands: a filing, say. Where it alone differs, the record was
                 repeated and not changed
    is_plotted   the HTML page draws a curve of it: the first such field that the items have
    is_required  every record of the source has it, null or not, so one without it comes from elsewhere. Leave the
                 field out of the payload if the row lacks it
    role         what it means for that drawing. "estimate": what the curve's figures were expected to be. "series": the
                 symbol, say, that an item is about: each has a curve. "kind": a bar or a dividend, say: a curve is of
                 one kind, and others are marks below it. "start": the day on which the period of a figure begins
    """

    name: str
    kind: FieldKind = "text"
    is_evidence: bool = False
    is_plotted: bool = False
    is_required: bool = False
    role: FieldRole = ""
    is_origin: bool = False


Meaning = Literal["publication", "interval_start", "interval_end", "start", "day"]


class Basis(NamedTuple):
    """The meaning of a field of the source's reply from which stamps derive. The author's kit checks the stamps by it.

    field  its name in the reply, or what else shows it: a header, a field of another reply
    means  "publication"; "interval_start" or "interval_end" of a bar; "start" of an event whose text appears
           later, such as a call; "day" of the record, whose instant something else shows: a calendar of releases,
           another reply
    after  how long after that instant the record was public at the earliest. Of a "day", and of a bar that is named
           by one, it counts from the day's beginning
    """

    field: str
    means: Meaning = "publication"
    after: timedelta = timedelta(0)


class Dating(NamedTuple):
    """How the records of an operation are dated.

    by      "record": each record by its own stamps; "receipt": a snapshot, public when it was fetched; "never": nothing
            shows when its records were public, so none is served with a PIT
    rule    the rule in words, for help and docs; why: the reason, with its source
    claims  what names the instant of a record that nothing proves (:attr:`Record.claimed_at`), and what may have
            changed since, in words for gaps, help and docs; "" if no convention is honest
    basis   the meaning of the fields from which stamps derive, where a field alone does not show it
    """

    by: Literal["record", "receipt", "never"] = "record"
    rule: str = ""
    why: str = ""
    claims: str = ""
    basis: tuple[Basis, ...] = ()


class Caveat(NamedTuple):
    """Something that a request cannot show, as a gap of its answer states it.

    of_today  a list or a name of today's says what the request means (a company by its ticker). The text says what to
              give instead: under a ceiling the request is refused with it
    """

    text: str
    of_today: bool = False


def _window_start(query: Query) -> datetime | None:
    return query.since if query.operation.window in ("available_at", "available_on") else None


class Archiving(NamedTuple):
    """What an archive must know of an operation. The defaults are those of records that are read back by their stamps.

    reach       how much of the records in the window a complete fetch holds. "all": what it lacks, the source no longer
                has. "newest": the source drops its oldest records after a while, so records older than those of a fetch
                are not gone; a gap states this. "some": the source makes a choice, such as a page of headlines or the
                best matches. Records after the PIT take part in it, and what it lacks is not gone: say so in
                :attr:`Operation.caveats`
    versions    the source sends several versions of an item. The horizon is then the PIT: a window that ended
                earlier would leave out the newest version, and bring a superseded one back
    as_of_pit   with a PIT, the source is asked for its state of then, so that a reply about the past shows nothing of
                its own moment. An archive answers with it for that PIT alone
    chooses     ``fetch`` reads back from the horizon and stops at the first record that it can use, since reading
                each takes a request; what it read on the way it yields, too. Which records come therefore depends on
                the horizon. So an archive lets such a fetch, even a capture, count from its own PIT on, derives its
                records by running ``fetch`` again, and takes nothing that it lacks for gone. ``derive`` makes the
                choice again, among the records of several fetches
    chooses_unless  the options that name what is wanted, such as a document by its number. With one of them given,
                ``fetch`` yields every record of it that it can use, whatever the horizon: a capture then answers for
                the time before it, too
    earliest    (query) -> the instant before which no record can be wanted, from the request alone; None if there is
                none. An archive looks no further back, and ``diff`` and ``explain`` begin their window there
    resolve     (query, context) -> the query with what names stand for in a list of the source's (a company's number
                for its ticker), in the option that takes these, and None in that of the names
                (:attr:`Option.stands_for`). Of several names that are all unknown, an empty tuple, which asks for
                nothing; a single unknown name stays. In a capture an unknown name is an error. ``fetch`` begins with
                it, and an archive does the same with the list that was recorded
    note        (query) -> a note for a capture that answers later questions otherwise than one may think, or ""
    """

    reach: Reach = "all"
    versions: bool = False
    as_of_pit: bool = False
    chooses: bool = False
    chooses_unless: tuple[str, ...] = ()
    earliest: Callable[[Query], datetime | None] = _window_start
    resolve: Callable[[Query, Context], Query] | None = None
    note: Callable[[Query], str] = lambda query: ""


def _read_files_alone(query: Query, context: Context) -> NoReturn:
    raise ConfigError(Code.USAGE, text="this source reads files alone: give one with --input-file.")


class Operation(NamedTuple):
    """One thing that a source can be asked for.

    name     the name by which a request chooses it; "" for a provider's only operation. A request that names none asks
             for the first one, unless there are more than eight
    fetch    (query, context) -> records, pages and gaps, from the network; watermarks if it can promise an order
    parse_reply  (body, query) -> the records of one raw reply. It reads ``--input-file``, and an archive reads each
             reply by it. None: a reply alone does not show its records, so an archive runs ``fetch`` on them again
    dating   how its records are dated
    needs    the options it requires; takes: the others it accepts. A single operation that names none accepts all
    fields   the fields that a payload can have, if they are known
    window   what --date-from and --date-to compare: "available_at", "available_on" (the day that ends with it), or a
             field of the payload, where a date counts as its last instant. "select": ``select`` applies them. "": dates
             mean nothing here, and a request with dates is refused
    period   the field with the date that a record is about. Of records that were public at one instant, of those of a
             snapshot and of undated ones, the newest period comes first. "" orders them by id
    caveats  (query) -> what a request cannot show; from the request alone
    normalize  (query) -> the query in the operation's own terms: an option under another name, a default. Raises
             ConfigError for values that only this operation refuses
    archiving  what an archive must know of it
    timeout  seconds that a fetch may take without --timeout; less than the 600 after which an agent's
             client gives up
    search_terms  words for it in other tools, separated by spaces: a wrong name is answered with a hint at this one
    """

    name: str = ""
    fetch: Callable[[Query, Context], Iterable[Record | Page | Gap | Watermark]] = _read_files_alone
    parse_reply: Callable[[bytes, Query], Iterable[Record | Gap]] | None = None
    dating: Dating = Dating()
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    window: str = "available_at"
    period: str = ""
    caveats: Callable[[Query], Iterable[str | Caveat]] = lambda query: ()
    normalize: Callable[[Query], Query] = lambda query: query
    archiving: Archiving = Archiving()
    timeout: float = 60.0
    search_terms: str = ""

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the fields that a record must have."""
        return tuple(field.name for field in self.fields if field.is_required)

    def missing_in(self, record: Record) -> tuple[str, ...]:
        """Return the names of the required fields that ``record`` does not have."""
        return tuple(name for name in self.required if name not in record.payload)


class Query(NamedTuple):
    """One request, as a provider sees it. All instants are aware and UTC.

    now        the only "now": the PIT, or the wall clock in open mode
    started    the wall clock when the run began: for stamping snapshots, and for capping a PIT in the future
    pit        the PIT; None in open mode
    since      the first instant of --date-from; None without it
    until      the last instant of --date-to, inclusive; None without it
    horizon    no record after this instant can be wanted: narrow the server's window with it
    limit      the maximum number of records wanted
    options    the provider's own options, by name
    operation  the chosen operation
    offline    the records come from --input-file: the framework calls ``parse_reply``, not ``fetch``
    capture    the fetch is made to be recorded: its records are not shown, as of whatever PIT
    accepts_claims  the operator accepts the claims of the operation: what has only those is wanted, too
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
    capture: bool = False
    accepts_claims: bool = False

    @property
    def open_mode(self) -> bool:
        """Whether the request has no PIT: nothing is filtered, and today's state may be shown."""
        return self.pit is None

    @property
    def chooses(self) -> bool:
        """Whether ``fetch`` chooses among records (:attr:`Archiving.chooses`): no option names what is wanted."""
        archiving = self.operation.archiving
        named = (self.options.get(name) for name in archiving.chooses_unless)
        return archiving.chooses and all(value is None or value is False for value in named)

    @property
    def may_report_today(self) -> bool:
        """Whether an error or a gap may depend on what the source knows today: that a symbol is unknown, say.

        With a PIT it may not, except in a capture, which shows no records and asks about today.
        """
        return self.pit is None or self.capture

    @property
    def last_stamp(self) -> datetime:
        """The latest ``available_at`` that a wanted record can have. It may belong to the day that the horizon ends."""
        is_by_day = self.operation.window == "available_on" and self.horizon < self.now
        return self.horizon + _LAST_INSTANT if is_by_day else self.horizon

    def in_window(self, record: Record) -> bool:
        """Return whether the record lies within --date-from and --date-to, by the field that its operation names.

        A record without a readable date there is kept: a filter must not hide what it cannot judge. The
        framework applies this to every record. A provider may use it to save a request for a record outside.
        """
        if self.since is None and self.until is None:
            return True
        instant = _instant_of(record, self.operation.window)
        if instant is None:
            return True
        return (self.since is None or instant >= self.since) and (self.until is None or instant <= self.until)


# A record at the very end of a day belongs to that day, although its instant is the first of the next.
_LAST_INSTANT = timedelta(microseconds=1)


def _instant_of(record: Record, window: str) -> datetime | None:
    if window in ("available_at", "available_on"):
        public = record.available_at
        return public - _LAST_INSTANT if public is not None and window == "available_on" else public
    text = record.payload.get(window)
    instant = parse_rfc3339(text)
    if instant is not None or not isinstance(text, str):
        return instant
    # A time without an offset is not an instant, but it has a day.
    return window_end(text[:10]) if text[10:11] in ("", " ", "T") else None


Stage = Callable[[Iterator[Record]], Iterator[Record | Gap]]
T = TypeVar("T")
RetryAfter = Callable[[HttpReply], float | None]


class Http(Protocol):
    """The HTTP client that a provider receives. :class:`pit_fetch.net.client.Client` implements it."""

    def get(
        self,
        host: str,
        path: str,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        retry_after: RetryAfter | None = None,
        follow: bool = True,
        patience: float = 1.0,
    ) -> HttpReply:
        """Return the complete reply of a declared host, which is given by name. Raise UpstreamError if all tries fail.

        The client adds the host's declared authentication, and follows redirects on the host unless ``follow`` is
        False: a redirect is then a reply like any other. ``retry_after`` is for a host that answers "later" with
        a success status, or another that :attr:`Retry.statuses` does not hold: it returns the seconds to wait before
        the next try, or None to accept the reply. When tries or time run out, the last such reply is returned.

        ``patience`` is the share of the time left that one exchange, or a pause before the next, may take. With less
        than all of it, an object that never comes fails alone, and leaves time for others.
        """

    def head(self, host: str, path: str, patience: float = 1.0) -> HttpReply:
        """Like :meth:`get`, for the status and the headers alone: ``Last-Modified`` of a large file, say."""

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
        """Like :meth:`get`, with ``json`` as the body. Failures are retried only if the request is ``repeatable``."""

    def load(self, host: str, path: str, params: Params, call: Callable[[], object]) -> HttpReply:
        """See :meth:`Context.load`."""

    def get_cached(
        self,
        host: str,
        path: str,
        seconds: float,
        decode: Callable[[HttpReply], T],
        keep: Callable[[T], bool] | None = None,
        most: int | None = None,
        patience: float = 1.0,
        is_head: bool = False,
        failed: UpstreamError | None = None,
    ) -> T:
        """Return ``decode(reply)`` for a reply up to ``seconds`` old, from this user's cache or freshly fetched.

        ``seconds`` may be infinite, for a file that never changes. Use it only for files that are the
        same for every request, or about something public: the contents of the cache must not reveal more. If the
        reply does not hold such a file, ``decode`` raises UpstreamError, and nothing is stored. ``keep`` decides from
        the decoded value whether to store it: that a file was fetched must not reveal anything withheld.
        Of the files that are stored with ``most``, about so many are kept, the newest ones. ``patience`` is as in
        :meth:`get`; ``is_head`` asks as :meth:`head` does. A host that ``failed`` is not asked: if the cache does not
        have the reply, that error is raised. A reply from the cache has the ``received_at`` of its receipt, before
        this fetch began, and of its headers ``Last-Modified`` alone.
        """


class Context(NamedTuple):
    """The means of a fetch: the HTTP client for the declared hosts, the declared credentials by name, and files."""

    http: Http
    credentials: Mapping[str, str]
    path_of: Callable[[str], str] = dict[str, str]().__getitem__

    def load(self, host: str, path: str, params: Params, call: Callable[[], object]) -> HttpReply:
        """Return the result of ``call()`` as a reply, for a library that does its own HTTP.

        The body is the result if that is bytes, else its JSON. ``host`` is the declared host that the
        library asks; ``path`` and ``params`` describe the request, as an address would. The host's rate and
        the deadline apply, and an exception counts as an unreachable host. Tests, recordings and replays
        answer in the place of the library: put everything that decides the answer into ``params``.
        """
        return self.http.load(host, path, params, call)

    def file(self, name: str) -> str:
        """Return the path of a declared file that exists. Raise ConfigError if it is not set or cannot be read."""
        return self.path_of(name)


class Rate(NamedTuple):
    """At most ``calls`` requests in any ``seconds``, across all processes of this user on this machine.

    PIT_FETCH_RATE_API_EXAMPLE_COM=5/1 in the environment overrides it for https://api.example.com. Hosts
    with the same ``bucket`` share one count, as their owner counts them. With "", each host and port has
    its own count.
    """

    calls: int
    seconds: float = 1.0
    bucket: str = ""


class Retry(NamedTuple):
    """When to repeat an exchange with a host.

    statuses  HTTP statuses after which it is repeated. When tries or time run out, the client raises UpstreamError, so
              no reply with such a status reaches the provider. A reply with any other status does, at once
    tries     the largest number of exchanges, the first included; 1: none is made again
    backoff   seconds before the second, doubled before each further one, and up to twice that at random. A longer wait
              that the server asks for takes its place
    final     the name of a header: a reply that has it is the answer, whatever its status. "" for none
    pause     seconds after a 429 in which no process of this machine asks the address again, whatever its rate: for a
              host that shuts out a client that does. 0 for none

    An exchange that breaks off is repeated like one of the ``statuses``. A POST is made once unless it is
    ``repeatable``, and a ``load`` always once.
    """

    statuses: AbstractSet[int] = TRANSIENT_STATUSES
    tries: int = 4
    backoff: float = 0.2
    final: str = ""
    pause: float = 0.0


class Bearer(NamedTuple):
    """``Authorization: Bearer`` with the value of a declared credential."""

    credential: str


class QueryKey(NamedTuple):
    """The value of a declared credential as a query parameter."""

    credential: str
    parameter: str


class HeaderKey(NamedTuple):
    """The value of a declared credential as a header.

    form    what the header holds: ``{value}`` stands for the credential, ``{version}`` for this program's version
    beside  the other header of a host that wants two, such as a key's id and its secret
    """

    credential: str
    header: str
    form: str = "{value}"
    beside: HeaderKey | None = None


class Host(NamedTuple):
    """A host that a provider may contact.

    url           scheme and host. The host's first part may be an option's value, in braces: ``https://{lang}.example.com``
    url_variable  the environment variable that replaces ``url``
    auth          how to authenticate. The client does it, so that no provider handles a key
    browser       the host refuses plain clients: contact it as a browser does, which needs the package curl_cffi
    retry         after which replies an exchange is made again
    evidence      the names of headers by which ``fetch`` dates records. An archive keeps them, and reads what was
                  recorded of the source by ``fetch`` alone: ``parse_reply`` does not see them. So ``fetch`` must make
                  the same requests without a PIT as with one of that moment
    free_calls    how many calls a day a free key has, for the plan of a capture; 0 if there is no such limit, or no key
    """

    name: str
    url: str
    url_variable: str
    rate: Rate | None = None
    auth: Bearer | QueryKey | HeaderKey | None = None
    browser: bool = False
    retry: Retry = Retry()
    evidence: tuple[str, ...] = ()
    free_calls: int = 0


class Credential(NamedTuple):
    """What the user sets for a source: a secret, an identification, or a local file. The first variable counts.

    hint     tells the user how to obtain it
    secret   its value must not get out. It has at least 8 characters
    check    returns what is wrong with a value, in words that do not repeat it, or None
    public   values that the source itself publishes, such as ``demo``: they are no secrets
    is_file  it is the path of a file, which :meth:`Context.file` returns for reading only: it is no secret
    """

    name: str
    variables: tuple[str, ...]
    hint: str = ""
    secret: bool = True
    check: Callable[[str], str | None] | None = None
    public: tuple[str, ...] = ()
    is_file: bool = False


class Option(NamedTuple):
    """An option as data. ``name`` is the key in :attr:`Query.options`; the flag is ``--name``.

    kind        text, list (comma-separated), integer (at least ``minimum``), number (of seconds), instant (a
                New York date, a full timestamp or Unix seconds) or flag
    positional  bare words of the command line fill it: "one" takes exactly one word, "all" joins them with spaces
    uppercase   convert the value to capitals, so that all spellings are one request
    synonyms    other words for a value, each with that value
    parse       parses the text in the place of ``kind``; raises UsageError
    repeatable  it may be given several times, for texts in which a comma is a comma; its value is a tuple
    affects_records  a record may look different with another value, or ``select`` cannot tell which records have it: an
                     archive answers with requests of the same value only (of lists: in any order and case). False
                     for a filter that ``select`` (or the window) applies in full
    covered_by   of an option that does not affect records, the recorded requests that asked for no less. "any": those
                 with any value, since the source is not asked for it. "superset": those without the option or, of a
                 list, with all values of it and maybe others; a value with a leading hyphen excludes, and those may
                 exclude nothing else. "evidence": of a flag that only adds evidence to records, those that have it if
                 the question does. What is missing in a request without that evidence is not gone
    field        of a list with ``covered_by="superset"``, the field of a record that lists the values that the option
                 is compared with, in any case: ``select`` refuses a record that has none of them. It is only faster
    stands_for   of an option that takes names, the option that takes what they stand for: :attr:`Archiving.resolve`
    search_terms  names of such an option in other tools, separated by spaces: an unknown option of such a name is
                  answered with a hint at this one
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
    repeatable: bool = False
    affects_records: bool = True
    covered_by: CoveredBy = "any"
    stands_for: str = ""
    field: str = ""
    search_terms: str = ""


class Row(NamedTuple):
    """A row of a source's reply to a program. ``keys`` lead to it: names, and places in lists. ``text`` is as sent."""

    value: Any
    keys: tuple[str | int, ...] = ()
    text: str = ""


class Asked(NamedTuple):
    """What a program asked a source, as a view sees it.

    query    as of the instant; its options are the parameters and the named groups of the path that have their names
    context  asks the source's hosts, with the program's own key
    params   those of the address, without the key; of several values of one, the last
    named    the named groups of the path and of the host
    body     the JSON document that a POST sends; None without one
    rest     of a row that is dated: the rest of its reply, decoded; of CSV, its header
    received_at  of a row that is dated: when its reply was received
    total    of a reply that is framed: how many rows were found to be public, on this page or not
    memo     what a view keeps for the rows of one request
    """

    host: str
    query: Query
    context: Context
    path: str
    params: Mapping[str, str] = MappingProxyType({})
    named: Mapping[str, str] = MappingProxyType({})
    body: Any = None
    rest: Any = None
    received_at: datetime | None = None
    total: int = 0
    memo: dict[str, Any] = {}  # noqa: RUF012 - each request gets its own

    def get(self, params: Params | None = None, path: str = "") -> HttpReply:
        """Return the source's reply: to the same request, or with other ``params``, or of another ``path``."""
        return self.context.http.get(self.host, path or self.path, self.params if params is None else params)


def _ask_once(asked: Asked) -> Generator[HttpReply, int, None]:
    yield asked.get()


def _all_rows(asked: Asked) -> tuple[int, int | None]:
    return 0, None


class View(NamedTuple):
    """How the replies of one endpoint look as of an instant, to a program that asks the source (``pit_fetch run``).

    Rows that were not public are taken out, by the rules of a fetch. Nothing else of a reply is kept, but what
    ``frame`` makes anew, so that nothing tells of them.

    host       the name of the declared host that is asked
    path       the path of the requests, as a regular expression. Its groups may have the names of options
    operation  the operation whose rule dates the rows
    rows       where the rows of a reply are: keys between slashes, ``*`` for any key or place. ``data/|`` is an object
               of columns. Of XML, the name of the element; of CSV, nothing
    record     (row, asked) -> the record of a row, as a fetch makes it; None leaves the row out
    ask        (asked) -> a generator of the replies whose rows are joined until a page is full. It makes the requests,
               and receives the number of rows of each reply
    page       (asked) -> how many public rows the page that is asked for skips, and how many it has (None: all)
    order      (row) -> what the rows are sorted by, if the source sorts them by what it knows today. All are read then
    fields     the keys, or columns, of a row that stay; () for all
    blank      keys of a row that know later, and what they hold instead: with slashes between, ``*`` for any place; or
               (row, asked) -> these
    frame      (asked, rows) -> the reply around the rows that stay; ``asked.rest`` is the first reply without its rows.
               Keys on the way to a row need not be made. Of XML, its text without rows
    nothing    the status and the reply where there is no row, and where the source says that it has none; None: what
               ``frame`` makes
    document   (asked) -> the reply of an endpoint without rows, with status, headers and body; None if there is none
    params     the parameters that choose this view, each with the values that it may have; None stands for its absence
    method     of the requests
    at         the hosts that a program asks, as a regular expression; "" for the one that is declared
    form       how the reply is written
    rule       the rule of the rows in words, if it is not that of the operation
    """

    host: str
    path: str
    operation: str = ""
    rows: tuple[str, ...] = ()
    record: Callable[[Row, Asked], Record | None] = lambda row, asked: None
    ask: Callable[[Asked], Generator[HttpReply, int, None]] = _ask_once
    page: Callable[[Asked], tuple[int, int | None]] = _all_rows
    order: Callable[[Row], Any] | None = None
    fields: tuple[str, ...] = ()
    blank: Mapping[str, Any] | Callable[[Row, Asked], Mapping[str, Any]] = MappingProxyType({})
    frame: Callable[[Asked, Sequence[Row]], Any] | None = None
    nothing: tuple[int, Any] | None = None
    document: Callable[[Asked], HttpReply | None] | None = None
    params: Mapping[str, tuple[str | None, ...]] = MappingProxyType({})
    method: Literal["GET", "POST"] = "GET"
    at: str = ""
    form: Literal["json", "csv", "xml"] = "json"
    rule: str = ""


class Listing(NamedTuple):
    """What a list of sources says of one, and how it is found there.

    packages      the packages that it needs beyond those of the program, as they are imported and installed: a listing
                  says which of them are missing
    search_terms  other words for the source, separated by spaces: an unknown source of such a name is answered
                  with a hint at this one
    """

    packages: tuple[str, ...] = ()
    search_terms: str = ""


class Provider(NamedTuple):
    """A source: its operations, and what they share.

    operations   the things that can be asked for; a single one without a name if there is no choice
    options      its own options. The one that names the operation, ``op``, comes from the operations
    select       (query, record) -> whether the request wants the record: the filters that are applied locally
    derive       (query) -> a stage that computes across records, or None. The stage receives public records only:
                 all of them, newest first, back from the PIT, regardless of --after and --date-to. What it yields
                 is in the order of an answer: by instant, by :attr:`Operation.period`, and by id. A gap of the stage
                 rests on public records, too, and so is in an archive's answer, where those of ``fetch`` are not
    when_empty   (query) -> a hint for an answer without records, or ""; it depends on the request alone
    page_size    the number of public records that --max-pages counts as one page
    listing      what a list of sources says of it
    views        () -> how its replies look to a program under ``pit_fetch run``; the function is called there alone
    """

    name: str
    summary: str
    operations: tuple[Operation, ...] = (Operation(),)
    options: tuple[Option, ...] = ()
    hosts: tuple[Host, ...] = ()
    credentials: tuple[Credential, ...] = ()
    select: Callable[[Query, Record], bool] = lambda query, record: True
    derive: Callable[[Query], Stage | None] = lambda query: None
    when_empty: Callable[[Query], str] = lambda query: ""
    aliases: tuple[str, ...] = ()
    page_size: int = 100
    listing: Listing = Listing()
    help: str = ""
    views: Callable[[], Iterable[View]] = tuple

    @property
    def all_options(self) -> tuple[Option, ...]:
        """Its options, after the one that names the operation, if it has several."""
        if len(self.operations) == 1:
            return self.options
        return (_operation_option(tuple(operation.name for operation in self.operations)), *self.options)


# With more operations than that, one has to be named: a default would be a guess, and a list of them no help.
_FEW = 8


@lru_cache
def _operation_option(names: tuple[str, ...]) -> Option:
    """Return the option that names an operation, in any case."""
    is_few = len(names) <= _FEW
    spelled = {name.casefold(): name for name in names}
    return Option(
        "op",
        "what to ask for",
        choices=names if is_few else (),
        default=names[0] if is_few else None,
        metavar="OP",
        positional="one",
        parse=lambda text: spelled.get(text.strip().casefold(), text.strip()),
    )
