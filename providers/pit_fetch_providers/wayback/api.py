"""Ask the Internet Archive's two services: the index of captures, and the captures themselves."""

from __future__ import annotations

from collections.abc import Mapping

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, HeaderKey, Host, HttpReply, Rate, Retry, UpstreamError
from pit_fetch_providers.shared import status_error

# A reply with this header is a capture, whatever its status. One without it is the archive's own page, even with 200.
MEMENTO = "memento-datetime"
# The origin's own dates: a capture's stamp can be months too early, and these show it.
ORIGIN_DATES = ("x-archive-orig-date", "x-archive-orig-last-modified")

# The archive asks for at most 30 requests to the index in a minute and 600 for captures, by network. It names no
# wait in a 429; one that is ignored for a minute blocks the network for an hour.
_RETRY = Retry(tries=3, backoff=2.0, final=MEMENTO, pause=60.0)
_URL, _VARIABLE = "https://web.archive.org", "PIT_FETCH_WAYBACK_URL"
_AGENT = HeaderKey("contact", "User-Agent", "pit_fetch/{version} ({value})")
INDEX = Host("Wayback index", _URL, _VARIABLE, Rate(24, 60, "wayback-index"), _AGENT, retry=_RETRY)
CAPTURES = Host(
    "Wayback Machine", _URL, _VARIABLE, Rate(8, 1, "wayback"), _AGENT, retry=_RETRY, evidence=(MEMENTO, *ORIGIN_DATES)
)

# How the index says that a site, or robots, forbid it to answer, and that it has nothing.
_NO_CAPTURES = (b"AccessControlException", b"ResourceNotInArchiveException")
_MISSING = (403, 404, 410, 451)
# Why a capture cannot be received whole, now or when a recorded reply is read again.
UNREADABLE_CODES = (Code.MALFORMED, Code.TOO_LARGE, Code.UNRECORDED)


def index(context: Context, params: Mapping[str, str]) -> bytes:
    """Return the rows of the index. Raise UpstreamError.

    A blocked site has none: it was blocked after its captures were made, which an answer with a PIT must not tell.
    """
    reply = context.http.get(INDEX.name, "/cdx/search/cdx", params)
    if reply.status in _MISSING and any(text in reply.body for text in _NO_CAPTURES):
        return b""
    _check(reply, INDEX)
    if reply.status != 200:
        raise status_error(reply, INDEX)
    if reply.body.lstrip()[:1] == b"<":
        raise UpstreamError(Code.MALFORMED, problem="the index answered with a page")
    return reply.body


def capture(context: Context, timestamp: str, url: str) -> HttpReply | None:
    """Return the capture of ``url`` at ``timestamp`` as it was received; None if the archive has no such capture.

    Raise UpstreamError.
    """
    # From a capture that it cannot show, the archive redirects to the nearest one, which may be later: not followed.
    path = f"/web/{timestamp}id_/{url}"
    try:
        reply = context.http.get(CAPTURES.name, path, follow=False)
    except UpstreamError as error:
        # Too large, or not compressed as it says: nothing dates it, so it must not fail the fetch.
        if error.gap.code in UNREADABLE_CODES:
            return None
        raise
    if reply.header(MEMENTO):
        return reply
    _check(reply, CAPTURES)
    if reply.status in _MISSING or 200 <= reply.status < 400:
        return None
    raise status_error(reply, CAPTURES)


def _check(reply: HttpReply, host: Host) -> None:
    if b"Temporarily Offline" in reply.body:  # also with status 200
        raise UpstreamError(Code.HTTP_STATUS, host=host.name, status=503)
