"""Gaps: what is missing from an envelope, and why. Every reason is a row of the table below.

A reason is filled in from the request, the program's own state and public records, and from nothing
else. In PIT mode it must not depend on what was withheld: a gap that appears only when something
was withheld would tell an agent that something is going to happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pit_fetch.support.process import INTERRUPTED

Code = Literal[
    "late", "undated", "caveat", "snapshot", "never_dated", "undated_served", "unusable", "empty_twice", "nothing",
    "nothing_with_hint", "limit", "max_pages", "max_chars", "continued", "changed_since", "field_left_out",
    "deadline", "search_limit", "result_cap", "history_limit", "partial_file", "pit_malformed",
    "pit_repeated", "pit_required", "pit_above_ceiling", "ceiling_malformed", "usage", "credential_missing",
    "credential_malformed", "env_file_unreadable",
    "url_malformed", "file_missing", "file_unreadable", "rate_malformed", "output_unwritable", "settings_malformed",
    "operators_only", "people_only", "no_difference", "compared_in_part", "explained_in_part", "explained_to_a_limit",
    "dependency_missing", "operation", "input_unreadable", "input_malformed", "items_malformed", "http_status",
    "http_wait", "moved", "credential_refused", "throttled", "throttled_wait", "own_limit",
    "not_entitled", "bad_call", "network", "unresolved", "refused", "proxy", "certificate", "certificate_file", "tls",
    "timeout", "too_large", "redirected", "malformed", "off_subject", "incomplete", "paging", "order_broken",
    "offline", "offline_without_archive", "archive_unusable", "field_unknown", "not_recorded", "snapshot_held",
    "never_dated_held", "plugin_failed", "gate_refused", "bug", "interrupted", "not_a_path",
    "max_chars_for_good", "quotes_late_stamp",
]  # fmt: skip

REASONS: Mapping[Code, tuple[str, str]] = {
    # In every envelope of a fetch in PIT mode, no matter what the source served.
    "late": (
        "pit_excluded",
        "Anything published or last revised after the PIT, {pit}, is withheld; whether there was any is not disclosed.",
    ),
    "undated": (
        "unverifiable",
        "Anything without a provable publication time is withheld; whether there was any is not disclosed.",
    ),
    # Of public items: nobody can tell what they quote from an envelope of what came after the PIT.
    "quotes_late_stamp": (
        "unverifiable",
        "Public items whose texts quote a stamp after the PIT, or a field of an envelope, are left out: the gate "
        "would refuse them.",
    ),
    # A provider's fixed statement of what it cannot show; it depends on the request alone.
    "caveat": ("unverifiable", "{text}"),
    "snapshot": (
        "unverifiable",
        "{operation} is a snapshot{why}: it counts as published when it is fetched, so nothing is served for a PIT "
        "in the past.",
    ),
    "never_dated": (
        "unverifiable",
        "{operation} cannot be verified at all{why}: with --pit, nothing is served.",
    ),
    # With an archive, if it held something at the PIT.
    "snapshot_held": (
        "unverifiable",
        "{operation} is a snapshot{why}: the latest complete reply that the archive held at the PIT is served.",
    ),
    "never_dated_held": (
        "unverifiable",
        "{operation} cannot be verified at all{why}: the latest complete reply that the archive held at the PIT "
        "is served.",
    ),
    "offline": ("unverifiable", "Answered from the archive alone (--offline): what was never captured is missing."),
    # Open mode only: there is no PIT, so there is nothing to disclose.
    "undated_served": (
        "unverifiable",
        "Items without a provable publication time: {count}. With --pit they would be withheld.",
    ),
    "unusable": ("unverifiable", "Rows left out because they have no id: {count}."),
    "empty_twice": (
        "unverifiable",
        "{host} sent an empty reply twice. Under load it does this even when it has the data: try again later.",
    ),
    "nothing": ("no_data", "Nothing public matched, or the source does not know what was asked for."),
    "no_difference": ("no_data", "Nothing differs between the two answers."),
    # The hint depends on the request alone.
    "nothing_with_hint": (
        "no_data",
        "Nothing public matched, or the source does not know what was asked for. {hint}",
    ),
    # The fetch ended before the window was exhausted.
    "limit": ("truncated", "More matches than --limit {limit}. Continue with {after}"),
    "max_pages": (
        "truncated",
        "Stopped after {public} public records (--max-pages {max_pages}). Continue with {after}",
    ),
    "max_chars": ("truncated", "The output reached --max-chars {max_chars}. Continue with {after}"),
    "max_chars_for_good": (
        "truncated",
        "The output reached --max-chars {max_chars}, and cannot be continued: raise it, or narrow the request "
        "(--date-from, --date-to, --fields).",
    ),
    "continued": (
        "truncated",
        "The first item alone exceeds --max-chars {max_chars}: this is a part of it. "
        "To get the rest of its texts, continue with {after}",
    ),
    "changed_since": ("truncated", "The item to be continued has changed since: it is shown from its beginning."),
    "field_left_out": (
        "truncated",
        "The first item alone exceeds --max-chars {max_chars}: its longest fields were left out ({fields}).",
    ),
    "deadline": ("truncated", "Stopped at the deadline (--timeout {timeout:g}) before the window was exhausted."),
    "result_cap": (
        "truncated",
        "The source returns no more records for this window. Narrow the request (--date-from, --date-to, filters).",
    ),
    "history_limit": (
        "truncated",
        "{host} keeps only a limited history of this, or was asked for its latest rows: older ones are missing.",
    ),
    "search_limit": ("truncated", "Looked back to {day} and no further. Narrow the request (--date-from, --date-to)."),
    "compared_in_part": (
        "truncated",
        "The answer as of {pit} was cut: what is older than its last item was not compared. "
        "Raise --limit and --max-pages, or narrow the request (--date-from, --date-to).",
    ),
    "explained_in_part": ("truncated", "{limit} of {count} records are shown: raise --limit."),
    "explained_to_a_limit": ("truncated", "Older records were not asked for: raise --limit or --max-pages."),
    # For a file saved by a user, in open mode only: with a PIT the total would count what is withheld.
    "partial_file": ("truncated", "The file holds {held} of {total} hits: it is one page of a longer result."),
    # The command line or its environment.
    "pit_malformed": (
        "invalid_pit",
        "--pit must be YYYY-MM-DDTHH:MM:SS with Z, an offset or a [Zone/Name]; this one {problem}.",
    ),
    "pit_repeated": ("invalid_pit", "--pit is given more than once: give it once."),
    "pit_required": (
        "invalid_pit",
        "A ceiling is set (PIT_FETCH_CEILING, or a settings file): every call needs a --pit at or before it.",
    ),
    "pit_above_ceiling": (
        "invalid_pit",
        "--pit is after the ceiling (PIT_FETCH_CEILING, or a settings file): use an instant at or before it.",
    ),
    "ceiling_malformed": (
        "invalid_pit",
        "PIT_FETCH_CEILING must be YYYY-MM-DDTHH:MM:SS with Z, an offset or a [Zone/Name]; this one {problem}. "
        "Fix or unset it.",
    ),
    "usage": ("config", "{text}"),
    "credential_missing": ("config", "{source} needs {variables}: set it in the environment or in a .env file. {hint}"),
    "credential_malformed": ("config", "{variable} cannot be used: {problem} {hint}"),
    "env_file_unreadable": (
        "config",
        "The .env file cannot be read: fix it, or set the variables in the environment.",
    ),
    "url_malformed": ("config", "{variable} must be https://HOST without a path (http only for a loopback host)."),
    "file_missing": ("config", "{source} needs {variable}: the path of its file ({name}). {hint}"),
    "file_unreadable": ("config", "{variable} does not name a readable file."),
    "rate_malformed": (
        "config",
        "{variable} must be REQUESTS/SECONDS, e.g. 5/1 for at most 5 requests in any second "
        "(up to {calls} requests, {seconds} seconds).",
    ),
    "operators_only": (
        "config",
        "explain shows what is withheld: it does not run under PIT_FETCH_CEILING, PIT_FETCH_WRAPPER_ONLY or an "
        "agent's client (CLAUDECODE).",
    ),
    "people_only": (
        "config",
        "{command} is for people and scheduled jobs, since an archive holds what came after the PIT: it does not run "
        "under PIT_FETCH_CEILING or PIT_FETCH_WRAPPER_ONLY.",
    ),
    "settings_malformed": ("config", "The settings file {file} {problem}. Correct or remove it."),
    "output_unwritable": ("config", "--output cannot be written ({problem}): name a file in a folder that can be."),
    "dependency_missing": ("config", "The package {package} is missing: run {command}"),
    "operation": ("config", "{text}"),
    # Where a source's fields are not known beforehand; from the items of the answer.
    "field_unknown": ("config", "--fields: no item of this answer has {fields}; they have {known}."),
    "offline_without_archive": ("config", "--offline needs an archive: set PIT_FETCH_ARCHIVE, or give --archive PATH."),
    "archive_unusable": ("config", "The archive cannot be used: {problem}. Check PIT_FETCH_ARCHIVE or --archive."),
    "not_recorded": (
        "config",
        "The archive cannot be used: {problem}. Nothing was recorded, and the answer is from the network alone. "
        "Check PIT_FETCH_ARCHIVE or --archive.",
    ),
    # The input file.
    "input_unreadable": (
        "input_error",
        "--input-file cannot be read: {problem}. Name a saved reply of the source, or - for standard input.",
    ),
    "input_malformed": (
        "input_error",
        "--input-file is not a reply from {source}: {problem}. Save a reply as it comes, and name that file.",
    ),
    "items_malformed": (
        "input_error",
        "The items cannot be read: {problem}. Give one JSON array of objects on standard input (normalize --help).",
    ),
    # The provider. Nothing it said is repeated.
    "http_status": ("upstream_error", "{host} answered with HTTP {status}: {advice}."),
    "http_wait": (
        "upstream_error",
        "{host} answered with HTTP {status} and asks for a wait of {seconds} seconds: try again after that.",
    ),
    "moved": (
        "upstream_error",
        "{host} has nothing where its service should be (HTTP 404): check {variable} if it is set, "
        "or look for a newer version of this program.",
    ),
    "credential_refused": ("upstream_error", "{host} refused the credential: check {variables}."),
    "throttled": ("upstream_error", "{host} asks for fewer requests ({limit}): try again later."),
    "throttled_wait": (
        "upstream_error",
        "{host} asks for fewer requests ({limit}) and a wait of {seconds} seconds: try again after that.",
    ),
    "own_limit": (
        "upstream_error",
        "This machine's own limit for {host} ({limit}) leaves no room before the deadline: "
        "try again later, raise --timeout above {timeout:g}, or set {variable}.",
    ),
    "not_entitled": (
        "upstream_error",
        "This key's plan does not include {operation} at {host}: use a key whose plan does, or another operation.",
    ),
    "bad_call": ("upstream_error", "{host} does not know what was asked for: check the symbol and the parameters."),
    "network": ("upstream_error", "{host} cannot be reached: check the network, or try again later."),
    "unresolved": (
        "upstream_error",
        "The name {name} ({host}) cannot be resolved: check the network and its DNS, or try again later.",
    ),
    "refused": (
        "upstream_error",
        "{host} refuses connections at {name}: check {variable} if it is set, or try again later.",
    ),
    "proxy": (
        "upstream_error",
        "The proxy for {host} is blocking the connection: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, "
        "or add {name} to NO_PROXY.",
    ),
    "certificate": ("upstream_error", "The certificate that {host} presents at {name} is not accepted: {problem}."),
    "certificate_file": (
        "upstream_error",
        "The certificates for verifying {host} cannot be read: check the file named by REQUESTS_CA_BUNDLE or "
        "CURL_CA_BUNDLE.",
    ),
    "tls": (
        "upstream_error",
        "No secure connection (TLS) to {host} at {name} could be made: check whether there is a proxy in between, "
        "or try again later.",
    ),
    "timeout": (
        "upstream_error",
        "{host} did not answer completely before the deadline (--timeout {timeout:g}): try again later, or raise it.",
    ),
    "too_large": (
        "upstream_error",
        "{host} sent a reply larger than {megabytes} MB: narrow the request (--date-from, --date-to, filters).",
    ),
    "redirected": (
        "upstream_error",
        "{host} redirects to another address; this is not followed. Check {variable} if it is set, and whether this "
        "network asks for a login.",
    ),
    "not_a_path": (
        "upstream_error",
        "An address to request is not a path on {host} (it must begin with a single /): it was not requested. "
        "Look for a newer version of this program.",
    ),
    "malformed": (
        "upstream_error",
        "The source sent an unreadable reply: {problem}. Try again later, or look for a newer version of this program.",
    ),
    "off_subject": ("upstream_error", "The source did not answer this request: {problem}. Check the symbol."),
    "incomplete": ("upstream_error", "{host} answered from only part of its index: try again later."),
    "paging": (
        "upstream_error",
        "The source keeps sending the same page: try again later, or narrow the request (--date-from, --date-to).",
    ),
    "order_broken": ("upstream_error", "The source sent records out of the requested order: try again later."),
    # Ours.
    "plugin_failed": ("internal_error", "The provider {source} failed; nothing it returned was used. {hint}"),
    "gate_refused": (
        "internal_error",
        "The gate refused the envelope ({finding}); none of it is printed. Please report this, with the command line.",
    ),
    "bug": (
        "internal_error",
        "pit_fetch failed unexpectedly ({error}); nothing from the fetch is printed. Please report this, with the "
        "command line.",
    ),
    "interrupted": ("internal_error", INTERRUPTED),
}


class Gap(NamedTuple):
    """One gap: a row of the table and what fills it in. The envelope shows ``type`` and ``reason``."""

    code: Code
    params: Mapping[str, Any]

    @property
    def type(self) -> str:
        return REASONS[self.code][0]

    @property
    def reason(self) -> str:
        return REASONS[self.code][1].format_map({**self.params, **_derived(self.params)}).rstrip()


def _derived(params: Mapping[str, Any]) -> Mapping[str, str]:
    """What a reason says besides its parameters, and because of them."""
    return {**_after(params), **({"advice": _advice(params["status"])} if "status" in params else {})}


def _advice(status: int) -> str:
    """What to do about a status that is not an answer, whatever its host."""
    if status >= 500 or status in (408, 425, 429):
        return "try again later"
    if status in (401, 403, 407):
        return "it refuses access; check the key, and whether it may be used from this network"
    if status in (404, 410):
        return "its service is not where it should be; look for a newer version of this program"
    if status >= 400:
        return "it does not accept the request; check the options, or look for a newer version of this program"
    return "that does not answer the request; try again later, or look for a newer version of this program"


def _after(params: Mapping[str, Any]) -> Mapping[str, str]:
    """The option that continues from the cursor. A value that begins with a hyphen would be taken for an option."""
    cursor = params.get("cursor")
    return {} if cursor is None else {"after": f"--after{'=' if cursor.startswith('-') else ' '}{cursor}"}


def gap(code: Code, /, **params: Any) -> Gap:
    """The gap ``code``, filled in. Raises KeyError when the table has no such row or a parameter is missing."""
    made = Gap(code, params)
    _ = made.reason
    return made
