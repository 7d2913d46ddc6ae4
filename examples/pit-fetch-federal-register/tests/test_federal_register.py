"""federal-register on a reply in the API's shape: the standard tests of pit_fetch, and what is particular to it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pit_fetch_federal_register import PAGE_SIZE, PROVIDER

import pit_fetch
from pit_fetch.testing import (
    Answering,
    Bounds,
    HttpRequest,
    Pages,
    ProviderSuite,
    Recording,
    Response,
    TestClock,
    run,
)

REPLY = Path(__file__).parent / "reply.json"


class TestFederalRegister(ProviderSuite):
    provider = PROVIDER
    reply = REPLY.read_bytes()
    options = {}
    zone = "America/New_York"


class TestServerWithAWindow(TestFederalRegister):
    recording = Recording(
        {"/api/v1/documents.json": REPLY.read_bytes()},
        rows="results",
        pages=Pages(size="per_page", number="page"),
        window=Bounds("publication_date", to="conditions[publication_date][lte]"),
    )


def fetch(**options: object) -> list[str]:
    return [item["id"] for item in pit_fetch.fetch("federal-register", input_file=REPLY, **options)["data"]]


def test_a_document_counts_from_the_end_of_its_day() -> None:
    assert "2024-03175@2024-02-15" not in fetch(pit="2024-02-15T23:59:59-05:00")
    assert "2024-03175@2024-02-15" in fetch(pit="2024-02-16T00:00:00-05:00")


@pytest.mark.parametrize("window", [{"date_from": "2024-02-15"}, {"date_from": "2024-02-15", "date_to": "2024-02-15"}])
def test_the_window_is_on_publication_dates(window: dict[str, str]) -> None:
    found = fetch(pit="2024-03-01T00:00:00-05:00", **window)
    assert ("2024-03301@2024-02-16" in found) is ("date_to" not in window)
    assert "2024-03101@2024-02-15" in found
    assert "2024-02908@2024-02-13" not in found


def test_what_is_asked_for_and_how_pages_are_followed(tmp_path: Path) -> None:
    full = [{"document_number": f"{n}", "publication_date": "2024-02-15"} for n in range(PAGE_SIZE)]
    pages = {"1": full, "2": [{"document_number": "last", "publication_date": "2024-02-14"}]}

    def app(request: HttpRequest) -> Response:
        return Response(json.dumps({"count": PAGE_SIZE + 1, "results": pages[request.params["page"]]}).encode())

    clock = TestClock(datetime(2024, 3, 2, tzinfo=UTC))
    server = Answering(app, clock.now)
    words = "--source federal-register --pit 2024-03-01T00:00:00-05:00 agency=treasury-department type=rule --limit 500"
    left = run(words.split(), transport=server, clock=clock.value(), environ={}, folder=tmp_path, provider=PROVIDER)
    asked = [request.params for request, _ in server.exchanges]
    assert (len(left.data), len(asked)) == (PAGE_SIZE + 1, 2)
    assert asked[0]["conditions[publication_date][lte]"] == "2024-03-02"
    assert (asked[0]["conditions[agencies][]"], asked[0]["conditions[type][]"]) == ("treasury-department", "RULE")
