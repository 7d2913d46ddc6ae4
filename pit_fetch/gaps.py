"""Gaps: what an envelope says about what it does not hold. Every reason is a row of the table here.

A reason is filled from the request, from the program's own state and from public records only. In
PIT mode nothing in it may depend on what was withheld: a gap that appears only when something was
withheld would tell an agent that something is going to happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pit_fetch.process import INTERRUPTED

REASONS: Mapping[str, tuple[str, str]] = {
    # In every envelope of a fetch in PIT mode, whatever the source served.
    "late": (
        "pit_excluded",
        "Anything published or last revised after the PIT is withheld; whether there was any is not disclosed.",
    ),
    "undated": (
        "unverifiable",
        "Anything without a provable publication time is withheld; whether there was any is not disclosed.",
    ),
    # A provider's constant statement on what it cannot show; from the request alone.
    "caveat": ("unverifiable", "{text}"),
    # Open mode only: there is no PIT, so there is nothing to disclose.
    "undated_served": (
        "unverifiable",
        "Items without a provable publication time: {count}. With --pit they are withheld.",
    ),
    "unusable": ("unverifiable", "Rows without an identity, which are left out: {count}."),
    "empty_twice": (
        "unverifiable",
        "{host} sent an empty reply twice; under load it does so for what it knows, too: try again later.",
    ),
    "nothing": ("no_data", "Nothing public matched, or the source does not know what was asked for."),
    # The hint is from the request alone.
    "nothing_with_hint": (
        "no_data",
        "Nothing public matched, or the source does not know what was asked for. {hint}",
    ),
    # The fetch ended before the window was exhausted.
    "limit": ("truncated", "More matches than --limit {limit}. Continue with --after {cursor}"),
    "max_pages": (
        "truncated",
        "Stopped after {public} public records (--max-pages {max_pages}). Continue with --after {cursor}",
    ),
    "max_chars": ("truncated", "More than --max-chars {max_chars} holds. Continue with --after {cursor}"),
    "field_left_out": (
        "truncated",
        "The first item alone is larger than --max-chars {max_chars}: its longest texts are left out ({fields}).",
    ),
    "deadline": ("truncated", "Stopped at the deadline (--timeout {timeout:g}) before the window was exhausted."),
    "provider_ceiling": (
        "truncated",
        "The source gives no more records of this window. Narrow the request (--date-from, --date-to, filters).",
    ),
    "reach": (
        "truncated",
        "{host} serves this for a limited time back only, or was asked for its latest rows: older ones are missing.",
    ),
    "look_back": ("truncated", "Looked back to {day} and no further. Narrow the request (--date-from, --date-to)."),
    # Of a file that a user saved, in open mode: with a PIT the total would count what is withheld.
    "partial_file": ("truncated", "The file holds {held} of {total} hits: it is one page of a longer answer."),
    # The command line or its surroundings.
    "pit_malformed": (
        "invalid_pit",
        "--pit must be YYYY-MM-DDTHH:MM:SS with Z or an offset; this one {problem}.",
    ),
    "pit_repeated": ("invalid_pit", "--pit is given more than once: give it once."),
    "pit_required": ("invalid_pit", "PIT_FETCH_CEILING is set: every call needs a --pit at or before it."),
    "pit_above_ceiling": ("invalid_pit", "--pit is after PIT_FETCH_CEILING: give one at or before it."),
    "ceiling_malformed": (
        "invalid_pit",
        "PIT_FETCH_CEILING must be YYYY-MM-DDTHH:MM:SS with Z or an offset; this one {problem}. Correct or unset it.",
    ),
    "usage": ("config", "{text}"),
    "credential_missing": ("config", "{source} needs {variables}: set it in the environment or in a .env file. {hint}"),
    "credential_malformed": ("config", "{variable} is not usable: {problem} {hint}"),
    "env_file_unreadable": (
        "config",
        "The .env file cannot be read: correct it, or set the variables in the environment.",
    ),
    "url_malformed": ("config", "{variable} must be https://HOST (http only for a loopback host) without a path."),
    "rate_malformed": (
        "config",
        "{variable} must be REQUESTS/SECONDS, e.g. 5/1 for at most 5 requests in any second "
        "(up to {calls} requests, {seconds} seconds).",
    ),
    "dependency_missing": ("config", "The package {package} is missing: run {command}"),
    "operation": ("config", "{text}"),
    # The input file.
    "input_unreadable": ("input_error", "--input-file cannot be read: {problem}."),
    "input_malformed": ("input_error", "--input-file is not a reply of {source}: {problem}."),
    # The provider. Nothing that it said is repeated.
    "http_status": ("upstream_error", "{host} answered with HTTP {status}."),
    "http_wait": (
        "upstream_error",
        "{host} answered with HTTP {status} and asks to wait {seconds} seconds: try again then.",
    ),
    "moved": (
        "upstream_error",
        "{host} answered with HTTP 404 where its service should be: check {variable} if it is set, "
        "or look for a newer version of this program.",
    ),
    "credential_refused": ("upstream_error", "{host} refused the credential: check {variables}."),
    "throttled": ("upstream_error", "{host} asks for fewer requests ({limit}): try again later."),
    "throttled_wait": (
        "upstream_error",
        "{host} asks for fewer requests ({limit}) and to wait {seconds} seconds: try again then.",
    ),
    "own_limit": (
        "upstream_error",
        "This machine's own limit of {limit} for {host} leaves no turn before the deadline: "
        "try again later, give --timeout more than {timeout:g}, or set {variable}.",
    ),
    "not_entitled": ("upstream_error", "{host} does not serve {operation} on this key's plan."),
    "bad_call": ("upstream_error", "{host} does not know what was asked for: check the symbol and the parameters."),
    "network": ("upstream_error", "{host} cannot be reached: check the network, or try again later."),
    "unresolved": (
        "upstream_error",
        "The name {name} ({host}) cannot be resolved: check the network and its DNS, or try again later.",
    ),
    "refused": (
        "upstream_error",
        "{host} refuses the connection at {name}: check {variable} if it is set, or try again later.",
    ),
    "proxy": (
        "upstream_error",
        "The proxy on the way to {host} lets nothing through: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, "
        "or name {name} in NO_PROXY.",
    ),
    "certificate": ("upstream_error", "The certificate that {host} shows at {name} is not accepted: {problem}."),
    "certificate_file": (
        "upstream_error",
        "The certificates to check {host} by cannot be read: check the file that REQUESTS_CA_BUNDLE or "
        "CURL_CA_BUNDLE names.",
    ),
    "tls": (
        "upstream_error",
        "No secure connection (TLS) to {host} at {name} can be made: check whether a proxy stands between, "
        "or try again later.",
    ),
    "timeout": ("upstream_error", "{host} gave no complete answer before the deadline (--timeout {timeout:g})."),
    "too_large": ("upstream_error", "{host} sent a body larger than {megabytes} MB."),
    "redirected": ("upstream_error", "{host} redirects to another address, which is not followed."),
    "malformed": ("upstream_error", "The source sent a reply of an unknown shape: {problem}."),
    "off_subject": ("upstream_error", "The source did not answer this request: {problem}. Check the symbol."),
    "incomplete": ("upstream_error", "{host} answered from a part of its index only: try again later."),
    "paging": ("upstream_error", "The source sends the same page again and again."),
    "order_broken": ("upstream_error", "The source sent records out of the order that it was asked for."),
    # Ours.
    "plugin_failed": ("internal_error", "The provider {source} failed; nothing it returned is used. {hint}"),
    "gate_refused": ("internal_error", "The gate refused the envelope ({finding}); nothing of it is printed."),
    "bug": ("internal_error", "pit_fetch failed unexpectedly ({error}); nothing of the fetch is printed."),
    "interrupted": ("internal_error", INTERRUPTED),
}


class Gap(NamedTuple):
    """One gap: a row of the table and what fills it. ``type`` and ``reason`` are what the envelope shows."""

    code: str
    params: Mapping[str, Any]

    @property
    def type(self) -> str:
        return REASONS[self.code][0]

    @property
    def reason(self) -> str:
        return REASONS[self.code][1].format(**self.params)


def gap(code: str, /, **params: Any) -> Gap:
    """The gap ``code``, filled. Raises KeyError when the table has no such row or a parameter is missing."""
    made = Gap(code, params)
    _ = made.reason
    return made
