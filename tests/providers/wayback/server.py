"""The Wayback Machine: its index and its captures, with nearest captures, links to later ones and resume keys."""

from __future__ import annotations

import re
from base64 import b32encode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha1
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest

VARIABLES = {"PIT_FETCH_CONTACT": "tests@example.com"}
BLOCKED = Response(
    b"org.archive.util.io.RuntimeIOException: org.archive.wayback.exception.AdministrativeAccessControlException: "
    b"Blocked Site Error\n",
    403,
    {"Content-Type": "text/plain;charset=UTF-8"},
)
# The archive's own pages, which come with any status and without Memento-Datetime.
EXCLUDED = Response(b"<html><title>Wayback Machine</title>Sorry. This URL has been excluded from the Wayback Machine.")
NONE = Response(b"<html><title>Wayback Machine</title>Hrm. The Wayback Machine has not archived that URL.", 404)
OFFLINE = Response(b"<html><title>Internet Archive: Temporarily Offline</title>Temporarily Offline")
COLUMNS = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")


class Capture(NamedTuple):
    """One capture. ``stamp`` is its 14 digits, ``date`` the origin's own, "" an unnamed second later, None for none.

    listed     the index has it; with another ``listed_status`` than its own, such as "-" for a revisit
    plays      the archive can show it; else it leads to the nearest other one
    encoding   the Content-Encoding that it is sent with, whatever its body is
    """

    stamp: str
    url: str = "https://www.example.com/news"
    body: bytes = b"<html><title>News</title><p>Something happened."
    status: int = 200
    location: str = ""
    content_type: str = "text/html"
    date: str | None = ""
    modified: str | None = None
    listed: bool = True
    listed_status: str = ""
    digest: str = ""
    plays: bool = True
    encoding: str = ""

    @property
    def at(self) -> datetime:
        return datetime.strptime(self.stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)

    @property
    def row(self) -> str:
        """Return its line in the index."""
        status = self.listed_status or str(self.status)
        kind = "warc/revisit" if status == "-" else self.content_type
        digest = self.digest or digest_of(self.body)
        return " ".join((surt(self.url), self.stamp, self.url, kind, status, digest, str(len(self.body))))

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Content-Type": self.content_type, "memento-datetime": http_date(self.at)}
        date = http_date(self.at + timedelta(seconds=1)) if self.date == "" else self.date
        headers |= {"x-archive-orig-date": date} if date is not None else {}
        headers |= {"Content-Encoding": self.encoding} if self.encoding else {}
        headers |= {"x-archive-orig-last-modified": self.modified} if self.modified is not None else {}
        if self.location:
            headers["Location"] = f"https://web.archive.org/web/{self.stamp}id_/{self.location}"
        return headers


def http_date(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def digits(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%d%H%M%S")


def digest_of(body: bytes) -> str:
    return b32encode(sha1(body).digest()).decode()


def surt(url: str) -> str:
    """Return the key by which the index sorts: ``com,example)/news``."""
    host, _, rest = re.sub(r"^https?://", "", url.lower()).partition("/")
    name = re.sub(r"^www\d*\.", "", host.removesuffix(":80").removesuffix(":443"))
    return ",".join(reversed(name.split("."))) + ")/" + rest.rstrip("/")


def app(captures: Sequence[Any], *, blocked: bool = False, lines: Sequence[str] = ()) -> App:
    """Return the archive that holds ``captures``, and whose index has ``lines`` besides."""

    def answer(request: HttpRequest) -> Response:
        if request.path == "/cdx/search/cdx":
            return BLOCKED if blocked else index([*captures, *lines], request.query)
        match = re.fullmatch(r"/web/(\d{14})id_/(.*)", _target(request), re.DOTALL)
        if match is None or blocked:
            return EXCLUDED
        return memento([capture for capture in captures if isinstance(capture, Capture)], match[1], match[2])

    return answer


def _target(request: HttpRequest) -> str:
    """Return path and query as they were sent: over a socket, the query comes apart."""
    path = re.sub(r"^https?://[^/]*", "", request.url)
    return path if "?" in path or not request.query else f"{path}?{urlencode(dict(request.query))}"


def index(captures: Iterable[Any], query: Mapping[str, Any]) -> Response:
    """Return a reply of the index: the rows in the order of their keys, cut at the limit, with the key of the rest."""
    key, match = surt(query["url"]), query.get("matchType", "exact")

    def matches(own: str) -> bool:
        if match == "host":
            return own.partition(")")[0] == key.partition(")")[0]
        return own.startswith(key) if match == "prefix" else own == key

    rows = [capture.row if isinstance(capture, Capture) else capture for capture in captures if _is_listed(capture)]
    rows = sorted(row for row in rows if matches(row.partition(" ")[0]))
    first, last = query.get("from", "0").ljust(14, "0"), query.get("to", "9").ljust(14, "9")
    rows = [row for row in rows if not row.split(" ")[1].isdigit() or first <= row.split(" ")[1] <= last]
    start, limit = _start(query.get("resumeKey", "")), int(query.get("limit", 150_000))
    shown = rows[start : start + limit]
    columns = query.get("fl", ",".join(COLUMNS)).split(",")
    text = "".join(" ".join(_values(row, columns)) + "\n" for row in shown)
    if query.get("showResumeKey") == "true" and start + limit < len(rows):
        text += "\n" + urlsafe_b64encode(str(start + limit).encode()).decode() + "\n"
    return Response(text.encode(), 200, {"Content-Type": "text/plain"})


def _is_listed(capture: Any) -> bool:
    return not isinstance(capture, Capture) or capture.listed


def _start(key: str) -> int:
    from base64 import urlsafe_b64decode

    return int(urlsafe_b64decode(key)) if key else 0


def _values(row: str, columns: Sequence[str]) -> list[str]:
    values = row.split(" ")
    named = dict(zip(COLUMNS, values, strict=False))
    return [named.get(column, "-") for column in columns] if len(values) == len(COLUMNS) else values


def memento(captures: Iterable[Capture], stamp: str, url: str) -> Response:
    """Return the capture of ``url`` at ``stamp``; without it, lead to the nearest one, before it or after."""
    own = sorted((capture for capture in captures if surt(capture.url) == surt(url)), key=lambda one: one.stamp)
    exact = [capture for capture in own if capture.stamp == stamp and capture.plays]
    if exact:
        found = next((capture for capture in exact if capture.url == url), exact[0])
        last = own[-1]
        links = f'<https://web.archive.org/web/{last.stamp}/{last.url}>; rel="next last memento"; datetime="{last.at}"'
        return Response(found.body, found.status, {**found.headers, "link": links})
    others = [capture for capture in own if capture.plays]
    if not others:
        return NONE
    wanted = int(stamp)
    nearest = min(others, key=lambda capture: abs(int(capture.stamp) - wanted))
    return Response(
        b"",
        302,
        {
            "Location": f"https://web.archive.org/web/{nearest.stamp}id_/{nearest.url}",
            "X-Archive-Redirect-Reason": f"found capture at {nearest.stamp}",
        },
    )
