"""SEC's three hosts: who asks, how often, and how a refusal differs from a missing object."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pit_fetch.provider import Context, Credential, Host, Rate, Reply, UpstreamError

EFTS = "efts.sec.gov"
DATA = "data.sec.gov"
WWW = "www.sec.gov"

# SEC allows 10 requests a second and address, over all its hosts, and blocks for some ten minutes
# above that (sec.gov/os/accessing-edgar-data). What leaves here evenly can arrive bunched.
_FAIR_ACCESS = Rate(calls=8, bucket="sec.gov")

HOSTS = (
    Host(EFTS, "https://efts.sec.gov", "PIT_FETCH_SEC_EFTS_URL", _FAIR_ACCESS),
    Host(DATA, "https://data.sec.gov", "PIT_FETCH_SEC_DATA_URL", _FAIR_ACCESS),
    Host(WWW, "https://www.sec.gov", "PIT_FETCH_SEC_WWW_URL", _FAIR_ACCESS),
)

_MAIL = re.compile(r"[^\s@<>(),;]+@[^\s@<>(),;]+")


def implausible(user_agent: str) -> str | None:
    """What is wrong with a User-Agent, or None. SEC asks for a name and a mail address and refuses others."""
    mail = _MAIL.search(user_agent)
    if mail is None:
        return "it holds no mail address."
    if not re.search(r"\w", user_agent.replace(mail[0], "")):
        return "it holds a mail address only, and no name."
    return None if user_agent.isascii() else "it holds characters that a header cannot carry."


USER_AGENT = Credential(
    name="user_agent",
    variables=("SEC_USER_AGENT",),
    hint='SEC wants to know who asks: "Company contact@company.com".',
    secret=False,
    check=implausible,
)


def headers(context: Context) -> dict[str, str]:
    return {"User-Agent": context.credentials[USER_AGENT.name], "Accept-Encoding": "gzip"}


def get(
    context: Context,
    host: str,
    path: str,
    params: Mapping[str, str] | None = None,
    busy: Callable[[Reply], float | None] | None = None,
) -> Reply:
    """The reply, 200 or a missing object's. Raises UpstreamError for every other one."""
    return checked(context.http.get(host, path, params, headers(context), busy), host)


def checked(reply: Reply, host: str) -> Reply:
    """``reply`` itself. Raises UpstreamError for a refusal, and for any status but 200 and a missing object's."""
    if reply.status == 200 or is_missing(reply):
        return reply
    if reply.status != 403:
        raise UpstreamError("http_status", host=host, status=reply.status)
    # An HTML page each: "Undeclared Automated Tool", and "Request Rate Threshold Exceeded".
    if b"threshold" in reply.body.lower():
        raise UpstreamError("throttled", host=host, limit="10 a second, for all who share this address")
    raise UpstreamError("credential_refused", host=host, variables=" or ".join(USER_AGENT.variables))


def is_missing(reply: Reply) -> bool:
    """Whether there is no such object. Behind www.sec.gov a store answers 403 with an XML error then, not 404."""
    return reply.status == 404 or (reply.status == 403 and b"<Code>AccessDenied</Code>" in reply.body)
