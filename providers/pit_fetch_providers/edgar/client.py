"""The SEC's three hosts: the User-Agent, the rate, a refusal and a missing object."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Credential, HeaderKey, Host, HttpReply, Rate, RetryAfter, UpstreamError

EFTS = "efts.sec.gov"
DATA = "data.sec.gov"
WWW = "www.sec.gov"

# The SEC allows 10 requests a second per address, across all its hosts, and blocks for some ten minutes
# above that (sec.gov/os/accessing-edgar-data). Requests that leave here evenly can arrive in bunches.
_FAIR_ACCESS = Rate(calls=8, bucket="sec.gov")

_IDENTITY = HeaderKey("user_agent", "User-Agent")

HOSTS = (
    Host(EFTS, "https://efts.sec.gov", "PIT_FETCH_SEC_EFTS_URL", _FAIR_ACCESS, _IDENTITY),
    Host(DATA, "https://data.sec.gov", "PIT_FETCH_SEC_DATA_URL", _FAIR_ACCESS, _IDENTITY),
    Host(WWW, "https://www.sec.gov", "PIT_FETCH_SEC_WWW_URL", _FAIR_ACCESS, _IDENTITY),
)

# What each host says of an object that it does not have, as recorded: a status, and words of the body. All else with
# that status, a refusal above all, does not mean that there is none. A search cannot be missing.
_MISSING: Mapping[str, Collection[tuple[int, bytes]]] = {
    DATA: ((404, b"<Code>NoSuchKey</Code>"),),
    WWW: ((403, b"<Code>AccessDenied</Code>"), (404, b"")),
    EFTS: (),
}

_MAIL = re.compile(r"[^\s@<>(),;]+@[^\s@<>(),;]+")


def implausible(user_agent: str) -> str | None:
    """Return the problem with a User-Agent, or None. The SEC wants a name and an e-mail address, and refuses others."""
    mail = _MAIL.search(user_agent)
    if mail is None:
        return "it contains no e-mail address."
    if not re.search(r"\w", user_agent.replace(mail[0], "")):
        return "it contains an e-mail address but no name."
    return None if user_agent.isascii() else "it contains characters that a header cannot carry."


USER_AGENT = Credential(
    name="user_agent",
    variables=("SEC_USER_AGENT",),
    hint='The SEC wants to know who is asking: "Company contact@company.com".',
    secret=False,
    check=implausible,
)


def get(
    context: Context,
    host: str,
    path: str,
    params: Mapping[str, str] | None = None,
    retry_after: RetryAfter | None = None,
    patience: float = 1.0,
) -> HttpReply:
    """Return the reply: a 200, or that of a missing object. Raise UpstreamError for any other."""
    return checked(context.http.get(host, path, params, retry_after=retry_after, patience=patience), host)


def head(context: Context, host: str, path: str, patience: float = 1.0) -> HttpReply:
    """Return the reply to a HEAD request, as :func:`get` does."""
    return checked(context.http.head(host, path, patience=patience), host)


def checked(reply: HttpReply, host: str) -> HttpReply:
    """Return ``reply`` itself. Raise UpstreamError for a refusal, and for all else but a 200 and a missing object."""
    if reply.status == 200 or is_missing(reply, host):
        return reply
    if reply.status == 404:
        raise _moved(host)
    if reply.status != 403:
        raise UpstreamError(Code.HTTP_STATUS, host=host, status=reply.status)
    # Each is an HTML page: "Undeclared Automated Tool", and "Request Rate Threshold Exceeded".
    if b"threshold" in reply.body.lower():
        raise UpstreamError(Code.THROTTLED, host=host, limit="10 a second, for everyone who shares this address")
    raise UpstreamError(Code.CREDENTIAL_REFUSED, host=host, variables=" or ".join(USER_AGENT.variables))


# What ends the address of a filing's index page, behind its number.
INDEX_PAGES = ("-index.htm", "-index.html")


def folder(accession: str, cik: int) -> str:
    """Return the path of the folder of a filing that is listed under ``cik``."""
    return f"/Archives/edgar/data/{cik}/{accession.replace('-', '')}"


def required(reply: HttpReply, host: str) -> HttpReply:
    """Return the reply for an object that the host always has. Raise UpstreamError for any but a 200."""
    if is_missing(checked(reply, host), host):
        raise _moved(host)
    return reply


def _moved(host: str) -> UpstreamError:
    return UpstreamError(Code.MOVED, host=host, variable={entry.name: entry.url_variable for entry in HOSTS}[host])


def is_missing(reply: HttpReply, host: str) -> bool:
    """Return whether the host has no such object, by what it says of one."""
    return any(reply.status == status and words in reply.body for status, words in _MISSING[host])


def not_served(accession: str) -> UpstreamError:
    """Return the error for a public filing that cannot be had."""
    return UpstreamError(Code.NOT_SERVED, host=WWW, what=f"filing {accession}")


def not_dated(accession: str) -> UpstreamError:
    """Return the error for a filing that was public, and of which ``exact`` finds no proof of the instant."""
    return UpstreamError(Code.NOT_DATED, host=WWW, what=f"filing {accession}")
