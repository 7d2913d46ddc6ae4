"""Gaps: what is missing from an envelope, and why. Every reason that can be given is a member of :class:`Code`.

A reason is filled in from the request, the program's own state and public records, and from nothing
else. In PIT mode it must not depend on what was withheld: a gap that appears only when something
was withheld would tell an agent that something is going to happen.

>>> late = gap(Code.LATE, pit="Thursday 2024-02-15 16:00:00 in New York (-05:00)")
>>> late.type.value, late.is_failure
('pit_excluded', False)

To add a reason, add a member to :class:`Code`: its type, its text, and the flags that say how the rest of the program
treats it. Its name is the member's. Whether it counts as a failure, and the exit status under ``--fail``, follow from
its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, cast

from pit_fetch.support.bundled import gate
from pit_fetch.support.misuse import Misuse
from pit_fetch.support.process import INTERRUPTED

__all__ = ["Code", "Gap", "GapType", "Reason", "gap"]

# After these HTTP statuses the same request may succeed: too early, too often, or the server failed in passing.
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


class GapType(StrEnum):
    """The kinds of gap, as the envelope names them."""

    PIT_EXCLUDED = "pit_excluded"  # withheld: published or revised after the PIT
    UNVERIFIABLE = "unverifiable"  # cannot be shown to have been public, or to be complete
    NO_DATA = "no_data"
    TRUNCATED = "truncated"  # the fetch ended before the window was exhausted
    CONFIG = "config"
    INVALID_PIT = "invalid_pit"
    INPUT_ERROR = "input_error"
    UPSTREAM_ERROR = "upstream_error"
    INTERNAL_ERROR = "internal_error"


# The source was not read to its end.
CUTS = frozenset([GapType.TRUNCATED, GapType.UPSTREAM_ERROR])
# The fetch failed, wholly or in part. The other types state what an answer cannot show, or how to go on.
FAILURES = frozenset(
    [GapType.CONFIG, GapType.INVALID_PIT, GapType.INPUT_ERROR, GapType.UPSTREAM_ERROR, GapType.INTERNAL_ERROR]
)


class Reason(str):
    """A reason that can be given: its name in the program, and what the rest of the program needs to know of it.

    type      what the envelope shows as the gap's type
    template  the text, with the names of its parameters in braces
    per_fetch       a fetch's report writes it about its own answer; ``diff`` and ``explain`` leave it out of theirs
    is_cap          ``--limit`` or ``--max-pages`` ended the answer
    is_out_of_time  the fetch has no time left, so that asking for more is pointless
    costs_nothing   of a failing type, but the answer itself is complete
    is_uncaptured   an archive does not hold what was asked for: nothing is known of it
    is_of_choice    it tells what the answer was chosen from: with an archive, the choice is made again
    """

    type: GapType
    template: str
    per_fetch: bool
    is_cap: bool
    is_out_of_time: bool
    costs_nothing: bool
    is_uncaptured: bool
    is_of_choice: bool

    def __new__(
        cls,
        type: GapType,  # noqa: A002 - as the envelope calls it
        name: str,
        template: str,
        *,
        per_fetch: bool = False,
        is_cap: bool = False,
        is_out_of_time: bool = False,
        costs_nothing: bool = False,
        is_uncaptured: bool = False,
        is_of_choice: bool = False,
    ) -> Reason:
        reason = str.__new__(cls, name)
        reason.type, reason.template = type, template
        reason.per_fetch, reason.is_cap = per_fetch, is_cap
        reason.is_out_of_time, reason.costs_nothing = is_out_of_time, costs_nothing
        reason.is_uncaptured, reason.is_of_choice = is_uncaptured, is_of_choice
        return reason


class _Draft:
    """A reason that gets the name of the member of :class:`Code` to which it is assigned."""

    def __init__(self, type: GapType, template: str, **traits: Any) -> None:  # noqa: A002
        self.type, self.template, self.traits = type, template, traits

    def __set_name__(self, owner: Any, name: str) -> None:
        setattr(owner, name, Reason(self.type, name.lower(), self.template, **self.traits))


def _drafts(type: GapType) -> Callable[..., Reason]:  # noqa: A002
    return cast("Callable[..., Reason]", partial(_Draft, type))


_pit_excluded = _drafts(GapType.PIT_EXCLUDED)
_unverifiable = _drafts(GapType.UNVERIFIABLE)
_no_data = _drafts(GapType.NO_DATA)
_truncated = _drafts(GapType.TRUNCATED)
_config = _drafts(GapType.CONFIG)
_invalid_pit = _drafts(GapType.INVALID_PIT)
_input_error = _drafts(GapType.INPUT_ERROR)
_upstream_error = _drafts(GapType.UPSTREAM_ERROR)
_internal_error = _drafts(GapType.INTERNAL_ERROR)


class Code:
    """Every reason that can be given. Not an :class:`enum.Enum`: making one of this size takes 3 ms at each start."""

    # In every envelope of a fetch in PIT mode, no matter what the source served.
    LATE = _pit_excluded(
        "Anything published or last revised after the PIT, {pit}, is withheld; whether there was any is not disclosed.",
        per_fetch=True,
    )
    UNDATED = _unverifiable(
        "Anything without a provable publication time is withheld; whether there was any is not disclosed.",
        per_fetch=True,
    )
    # Of Dating.claims: the first three in each answer of the operation with a PIT once claims are accepted, two of
    # them in the place of those above.
    LATE_UNLESS_CLAIMED = _pit_excluded(
        "Anything published or last revised after the PIT, {pit}, is withheld unless a claim dates it by then; whether "
        "there was any is not disclosed.",
        per_fetch=True,
    )
    UNDATED_UNLESS_CLAIMED = _unverifiable(
        "Anything without a provable or claimed publication time is withheld; whether there was any is not disclosed.",
        per_fetch=True,
    )
    CLAIMED = _unverifiable('Items with "evidence": "claimed" are not proved, and may have changed since: {claims}.')
    # While they are not: in an answer without items. Only an operator can do that.
    CLAIMS_NOT_ACCEPTED = _unverifiable(
        "{operation} also has claims, which are no proof (pit_fetch sources {source}). To accept them: "
        "--evidence claimed, or for an agent PIT_FETCH_EVIDENCE={source}=claimed before its session.",
        per_fetch=True,
    )
    # Of public items: nobody can tell what they quote from an envelope of what came after the PIT.
    QUOTES_LATE_STAMP = _unverifiable(
        "Public items whose texts quote a stamp after the PIT, or a field of an envelope, are left out: the gate "
        "would refuse them.",
        per_fetch=True,
    )
    # A provider's fixed statement of what it cannot show; it depends on the request alone.
    CAVEAT = _unverifiable("{text}")
    PIT_AHEAD = _unverifiable("The PIT is yet to come: this is what is public by now, and more may be by then.")
    SNAPSHOT = _unverifiable(
        "{operation} is a snapshot{why}: it counts as published when it is fetched. For a PIT in the past the latest "
        "complete reply that an archive held by then is served, or nothing."
    )
    NEVER_DATED = _unverifiable(
        "{operation} cannot be verified at all{why}: with --pit the latest complete reply that an archive held by then "
        "is served, or nothing."
    )
    # Of Archiving.reach.
    NEWEST_ONLY = _unverifiable(
        "{operation} reaches back a limited time only: older records are missing, whether or not they were public."
    )
    # Of explain: an answer itself is the same from wherever it comes.
    OFFLINE = _unverifiable("Answered from the archive alone (--offline): what was never captured is missing.")
    # Of --offline. These depend on what recorded requests asked for, and not on what they brought.
    NOT_CAPTURED = _unverifiable(
        "This was never captured, or not as a whole: no recorded request that ran to its end asked for all of it. "
        "What is missing may have been public.",
        is_uncaptured=True,
    )
    WINDOW_NOT_CAPTURED = _unverifiable(
        "The window {window} was never captured, or not as a whole: no recorded request that ran to its end asked for "
        "all of it. What is missing may have been public.",
        is_uncaptured=True,
    )
    CAPTURED_UNTIL = _unverifiable(
        "What became public after {until} was never captured: what is missing from then on may have been public.",
        is_uncaptured=True,
    )
    CAPTURED_FROM_ANOTHER = _unverifiable(
        "It was captured from another address, which may say something else: set {variable} as it was then."
    )
    # Open mode only: there is no PIT, so there is nothing to disclose.
    UNDATED_SERVED = _unverifiable(
        "Items without a provable publication time: {count}. With --pit they would be withheld."
    )
    # Of public records alone.
    NOT_DATA = _unverifiable("{what} is public, and is left out: it is {problem}, and holds no data. {hint}")
    PASSED_OVER = _unverifiable(
        "This is not the newest of {what}: newer ones without {missing} were passed over ({count}, the newest is "
        "{newest}).",
        is_of_choice=True,
    )
    UNUSABLE = _unverifiable("Rows left out because they have no id: {count}.")
    EMPTY_TWICE = _unverifiable(
        "{host} sent an empty reply twice. Under load it does this even when it has the data: try again later."
    )
    NOTHING = _no_data("Nothing public matched, or the source does not know what was asked for.", per_fetch=True)
    NOTHING_HELD = _no_data("Nothing that was captured matches.", per_fetch=True)
    NOTHING_HELD_WITH_HINT = _no_data("Nothing that was captured matches. {hint}", per_fetch=True)
    NO_DIFFERENCE = _no_data("Nothing differs between the two answers.")
    # The hint depends on the request alone.
    NOTHING_WITH_HINT = _no_data(
        "Nothing public matched, or the source does not know what was asked for. {hint}", per_fetch=True
    )
    # The fetch ended before the window was exhausted.
    LIMIT = _truncated("More matches than --limit {limit}. Continue with {after}", per_fetch=True, is_cap=True)
    MAX_PAGES = _truncated(
        "Stopped after {public} public records (--max-pages {max_pages}). Continue with {after}",
        per_fetch=True,
        is_cap=True,
    )
    MAX_CHARS = _truncated("The output reached --max-chars {max_chars}. Continue with {after}")
    MAX_CHARS_FOR_GOOD = _truncated(
        "The output reached --max-chars {max_chars}, and cannot be continued: raise it, or narrow the request "
        "(--date-from, --date-to, --fields)."
    )
    CONTINUED = _truncated(
        "The first item alone is too long for this answer (--max-chars): this is a part of it. "
        "To get the rest of its texts, continue with {after}"
    )
    CHANGED_SINCE = _truncated("The item to be continued has changed since: it is shown from its beginning.")
    FIELD_LEFT_OUT = _truncated(
        "The first item alone exceeds --max-chars {max_chars}: its longest fields were left out ({fields})."
    )
    ITEM_LEFT_OUT = _truncated(
        "The next item exceeds --max-chars {max_chars} even without its texts, and is left out. Continue with {after}"
    )
    DEADLINE = _truncated("Stopped at the deadline (--timeout {timeout:g}) before the window was exhausted.")
    RESULT_CAP = _truncated(
        "The source returns no more records for this window. Narrow the request (--date-from, --date-to, filters)."
    )
    HISTORY_LIMIT = _truncated(
        "{host} keeps only a limited history of this, or was asked for its latest rows: older ones are missing."
    )
    SEARCH_LIMIT = _truncated("Looked back to {day} and no further. Narrow the request (--date-from, --date-to).")
    # Of public records alone.
    SEARCHED_IN_PART = _truncated("Looked at the newest {count} of {what}, back to {day}, and no further. {hint}")
    COMPARED_IN_PART = _truncated(
        "The answer as of {pit} was cut: what it may have left out was not compared. "
        "Raise --limit and --max-pages, or narrow the request (--date-from, --date-to)."
    )
    EXPLAINED_WINDOW = _pit_excluded(
        "Only what was published {since}to {until} was looked at: --date-from and --date-to choose what is."
    )
    EXPLAINED_IN_PART = _truncated("{limit} of {count} records are shown: raise --limit.")
    EXPLAINED_TO_A_LIMIT = _truncated("Older records were not asked for: raise --limit or --max-pages.")
    # For a file saved by a user, in open mode only: with a PIT the total would count what is withheld.
    PARTIAL_FILE = _truncated("The file holds {held} of {total} hits: it is one page of a longer result.")
    # The command line or its environment.
    PIT_MALFORMED = _invalid_pit(f"--pit must be {gate.PIT_FORM}; this one {{problem}}.")
    PIT_REPEATED = _invalid_pit("--pit is given more than once: give it once.")
    PIT_REQUIRED = _invalid_pit(
        "A ceiling is set (PIT_FETCH_CEILING, or a settings file): every call needs a --pit at or before {ceiling}."
    )
    PIT_ABOVE_CEILING = _invalid_pit(
        "--pit is after the ceiling (PIT_FETCH_CEILING, or a settings file): use an instant at or before {ceiling}."
    )
    CEILING_MALFORMED = _invalid_pit(
        f"PIT_FETCH_CEILING must be {gate.PIT_FORM}; this one {{problem}}. Fix or unset it."
    )
    VARIABLE_MISSPELT = _config("{name} is not a variable of pit_fetch: write {meant}, or unset it.")
    USAGE = _config("{text}")
    CREDENTIAL_MISSING = _config("{source} needs {variables}: set it in the environment or in a .env file. {hint}")
    CREDENTIAL_MALFORMED = _config("{variable} cannot be used: {problem} {hint}")
    CREDENTIAL_IN_REQUEST = _config(
        "The request repeats the value of a key, and an archive holds no keys: nothing was asked. Write it without."
    )
    ENV_FILE_UNREADABLE = _config("The .env file cannot be read: fix it, or set the variables in the environment.")
    ENV_FILE_UNTRUSTED = _config(
        "{file} {problem}: set the variables in the environment, or make the file your own with chown."
    )
    ENV_FILE_LINE = _config(
        "The .env file names {variable} in line {line}, but not as dotenv reads it: write {variable}=VALUE."
    )
    URL_MALFORMED = _config("{variable} must be https://HOST without a path (http only for a loopback host).")
    CLOCK_BEHIND = _config(
        "This machine's clock is more than ten minutes behind the Date of a reply from {host}: set the clock. Nothing "
        "is served or recorded."
    )
    CLOCK_AHEAD = _config(
        "This machine's clock is more than ten minutes ahead of the Date of a reply from {host}: set the clock, or ask "
        "past a cache that does not say how old its replies are (Age)."
    )
    CLOCK_BEFORE_ARCHIVE = _config(
        "The archive's last entry is more than ten minutes after this machine's clock: set the clock or, if the entry "
        "is wrong, delete it (pit_fetch archive info shows it, drop --after deletes)."
    )
    FILE_UNREADABLE = _config("{variable} does not name a readable file.")
    RATE_MALFORMED = _config(
        "{variable} must be REQUESTS/SECONDS, e.g. 5/1 for at most 5 requests in any second "
        "(up to {calls} requests, {seconds} seconds)."
    )
    OPERATORS_ONLY = _config(
        "{what}: it does not run under PIT_FETCH_CEILING, PIT_FETCH_WRAPPER_ONLY or an agent's client (CLAUDECODE)."
    )
    PEOPLE_ONLY = _config(
        "{command} is for people and scheduled jobs, since an archive holds what came after the PIT: it does not run "
        "under PIT_FETCH_CEILING or PIT_FETCH_WRAPPER_ONLY."
    )
    EVIDENCE_NOT_GRANTED = _config(
        "Under a ceiling or an agent's client --evidence claimed is the operator's choice: leave it out, "
        "or have PIT_FETCH_EVIDENCE={source}=claimed set before the session."
    )
    EVIDENCE_MALFORMED = _config(
        "PIT_FETCH_EVIDENCE must be claimed, proved, or such a grade by source: earningscall=claimed,yahoo=claimed."
    )
    OF_TODAY = _config("Under a ceiling nothing is identified by what is known today. {text}")
    SETTINGS_MALFORMED = _config("The settings file {file} {problem}. Correct or remove it.")
    OUTPUT_UNWRITABLE = _config("--output cannot be written ({problem}): name a file in a folder that can be.")
    DEPENDENCY_MISSING = _config("The package {package} is missing: run {command}")
    # Where a source's fields are not known beforehand; from the items of the answer.
    FIELD_UNKNOWN = _config("--fields: no item of this answer has {fields}; they have {known}.")
    OFFLINE_WITHOUT_ARCHIVE = _config("--offline needs an archive: set PIT_FETCH_ARCHIVE, or give --archive PATH.")
    ARCHIVE_UNUSABLE = _config(
        "The archive cannot be used: {problem}. Check where it is named: pit_fetch config shows it."
    )
    NOT_RECORDED = _config(
        "The archive cannot be used: {problem}. Nothing was recorded, and the answer is from the network alone. "
        "Check where it is named: pit_fetch config shows it.",
        costs_nothing=True,
    )
    RECORD_UNUSABLE = _config(
        "The record of what is shown cannot be used: {problem}. Nothing is shown: correct or unset PIT_FETCH_RECORD."
    )
    # The input file.
    INPUT_UNREADABLE = _input_error(
        "--input-file cannot be read: {problem}. Name a saved reply of the source, or - for standard input."
    )
    INPUT_MALFORMED = _input_error(
        "--input-file is not a reply from {source}: {problem}. Save a reply as it comes, and name that file."
    )
    INPUT_ENDS_EARLY = _input_error(
        "--input-file shows what was current up to {day} (its {field}), and not what was at the PIT: use a PIT up to "
        "then, or save a reply that reaches further."
    )
    ITEMS_MALFORMED = _input_error(
        "The items cannot be read: {problem}. Give one JSON array of objects on standard input (normalize --help)."
    )
    # The provider. Nothing it said is repeated.
    HTTP_STATUS = _upstream_error("{host} answered with HTTP {status}{meaning}: {advice}.")
    HTTP_WAIT = _upstream_error(
        "{host} answered with HTTP {status} and asks for a wait of {seconds} seconds: try again after that."
    )
    MOVED = _upstream_error(
        "{host} has nothing where its service should be (HTTP 404): check {variable} if it is set, "
        "or look for a newer version of this program."
    )
    CREDENTIAL_REFUSED = _upstream_error("{host} refused the credential: check {variables}.")
    THROTTLED = _upstream_error("{host} asks for fewer requests ({limit}): try again later.")
    THROTTLED_WAIT = _upstream_error(
        "{host} asks for fewer requests ({limit}) and a wait of {seconds} seconds: try again after that."
    )
    OWN_LIMIT = _upstream_error(
        "This machine's own limit for {host} ({limit}) leaves no room before the deadline: "
        "try again later, raise --timeout above {timeout:g}, or set {variable}.",
        is_out_of_time=True,
    )
    NOT_ENTITLED = _upstream_error(
        "This key's plan does not include {operation} at {host}: use a key whose plan does, or another operation."
    )
    BAD_CALL = _upstream_error("{host} does not know what was asked for: check the symbol and the parameters.")
    NETWORK = _upstream_error("{host} cannot be reached: check the network, or try again later.")
    UNRECORDED = _upstream_error(
        "What was recorded holds no reply of {host} to one of the requests: run the fetch again."
    )
    UNRESOLVED = _upstream_error(
        "The name {name} ({host}) cannot be resolved: check the network and its DNS, or try again later."
    )
    REFUSED = _upstream_error(
        "{host} refuses connections at {name}: check {variable} if it is set, or try again later."
    )
    PROXY = _upstream_error(
        "The proxy for {host} is blocking the connection: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, "
        "or add {name} to NO_PROXY."
    )
    CERTIFICATE = _upstream_error("The certificate that {host} presents at {name} is not accepted: {problem}.")
    CERTIFICATE_FILE = _upstream_error(
        "The certificates for verifying {host} cannot be read: check the file named by REQUESTS_CA_BUNDLE or "
        "CURL_CA_BUNDLE."
    )
    TLS = _upstream_error(
        "No secure connection (TLS) to {host} at {name} could be made: check whether there is a proxy in between, "
        "or try again later."
    )
    TIMEOUT = _upstream_error(
        "{host} did not answer completely before the deadline (--timeout {timeout:g}): try again later, or raise it.",
        is_out_of_time=True,
    )
    SLOW = _upstream_error("{host} takes too long to answer: try again later, or raise --timeout.")
    TOO_LARGE = _upstream_error(
        "{host} sent a reply larger than {megabytes} MB: narrow the request (--date-from, --date-to, filters)."
    )
    OVERSIZED = _upstream_error(
        "A file of more than {megabytes} MB is not read: give the document that you need (text document=EX-99.1), or "
        "use a browser for https://{host}{path}."
    )
    REDIRECTED = _upstream_error(
        "{host} redirects to another address; this is not followed. Check {variable} if it is set, and whether this "
        "network asks for a login."
    )
    NOT_A_PATH = _upstream_error(
        "An address to request is not a path on {host} (it must begin with a single /): it was not requested. "
        "Look for a newer version of this program."
    )
    MALFORMED = _upstream_error(
        "The source sent an unreadable reply: {problem}. Try again later, or look for a newer version of this program."
    )
    OFF_SUBJECT = _upstream_error("The source did not answer this request: {problem}. Check the symbol.")
    INCOMPLETE = _upstream_error("{host} answered from only part of its index: try again later.")
    NOT_SERVED = _upstream_error("{host} lists {what}, and does not serve it: try again later.")
    NOT_DATED = _upstream_error(
        "{host} lists {what}, which was public, but not when it was written: try again later, or without exact."
    )
    PAGING = _upstream_error(
        "The source keeps sending the same page: try again later, or narrow the request (--date-from, --date-to)."
    )
    ORDER_BROKEN = _upstream_error("The source sent records out of the requested order: try again later.")
    # Ours.
    PLUGIN_FAILED = _internal_error("The provider {source} failed; nothing it returned was used. {hint}")
    GATE_REFUSED = _internal_error(
        "The gate refused the envelope ({finding}); none of it is printed. Please report this, with the command line."
    )
    BUG = _internal_error(
        "pit_fetch failed unexpectedly ({error}); nothing from the fetch is printed. Please report this, with the "
        "command line."
    )
    INTERRUPTED = _internal_error(INTERRUPTED)


class Gap(NamedTuple):
    """One gap: a member of :class:`Code` and the parameters of its text. The envelope shows ``type`` and ``reason``."""

    code: Reason
    params: Mapping[str, Any]

    @property
    def type(self) -> GapType:
        return self.code.type

    @property
    def is_by_limit(self) -> bool:
        """Return whether ``--limit`` alone ended the answer, or the one that it is made of."""
        return self.code is Code.LIMIT or bool(self.params.get("is_by_limit"))

    @property
    def is_failure(self) -> bool:
        """Return whether the fetch failed, wholly or in part."""
        return self.type in FAILURES

    @property
    def is_lack(self) -> bool:
        """Return whether it says that something was cut, failed or never captured."""
        return self.type is GapType.TRUNCATED or self.is_failure or self.code.is_uncaptured

    @property
    def reason(self) -> str:
        if "{" not in self.code.template:  # most often
            return self.code.template
        return self.code.template.format_map({**self.params, **_derived(self.params)}).rstrip()


def _derived(params: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the template values computed from others: the ``--after`` option, the advice for an HTTP status."""
    if "package" in params and "command" not in params:
        from pit_fetch.support.install import install_command

        return {"command": install_command(params["package"])}
    return {**_after(params), **(_status_values(params) if "status" in params else {})}


def _status_values(params: Mapping[str, Any]) -> Mapping[str, str]:
    """Return what to do about a status, and what it means by the provider's own ``problem``, if it has one."""
    return {"advice": _advice(params["status"]), "meaning": f" ({params['problem']})" if "problem" in params else ""}


def _advice(status: int) -> str:
    """Return what to do about an HTTP status that is not an answer, for any host."""
    if status >= 500 or status in TRANSIENT_STATUSES:
        return "try again later"
    if status in (401, 403, 407):
        return "it refuses access; check the key, and whether it may be used from this network"
    if status in (404, 410):
        return "its service is not where it should be; look for a newer version of this program"
    if status >= 400:
        return "it does not accept the request; check the options, or look for a newer version of this program"
    return "that does not answer the request; try again later, or look for a newer version of this program"


def _after(params: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the option that continues from the cursor."""
    cursor = params.get("cursor")
    # Written with "=", a value that begins with a hyphen is not taken for an option.
    return {} if cursor is None else {"after": f"--after{'=' if cursor.startswith('-') else ' '}{cursor}"}


# By name.
REASONS: Mapping[str, Reason] = {reason: reason for reason in vars(Code).values() if isinstance(reason, Reason)}


def gap(code: Reason, /, **params: Any) -> Gap:
    """Return the gap ``code``, a member of :class:`Code`, with its parameters.

    Raise Misuse, a KeyError, if there is no such reason, or if its text needs a parameter that is missing.
    """
    reason = REASONS.get(code)
    if reason is None:
        raise Misuse(_not_a_code(code))
    made = Gap(reason, params)
    try:
        _ = made.reason
    except KeyError as error:
        raise Misuse(f'Code.{reason.upper()} needs {error.args[0]}=…, too: its text is "{reason.template}"') from None
    return made


def _not_a_code(code: object) -> str:
    """Return what to write in the place of what is no code. A text is not repeated, since it may be a server's."""
    if isinstance(code, int):
        return f"{code} is an HTTP status, and no code: write Code.HTTP_STATUS, host=HOST, status={code}"
    return (
        'a text stands where a code of pit_fetch.gaps.Code belongs: write Code.MALFORMED, problem="…" of a reply that '
        "is not what it should be, or the code of what else has failed"
    )
