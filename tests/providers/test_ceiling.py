"""Under a ceiling no source identifies anything by a list or a name of today's."""

from __future__ import annotations

from pathlib import Path

import pytest

from pit_fetch.testing import HttpRequest, Response
from tests.provider_harness import run_command

PIT = "2024-02-15T16:00:00-05:00"
# Source and words -> what to give instead of what is known today; "" where nothing of today's is asked.
OF_TODAY = {
    "sec_full_text concern --tickers META": "--ciks",
    "sec_full_text concern --entity Meta": "--ciks",
    "sec_full_text concern --tickers META --ciks 1326801": "--ciks",
    "sec_full_text concern --ciks 1326801": "",
    "sec_facts statement symbol=META": "cik=",
    "sec_facts statement cik=1326801": "",
    "sec_filings text form=10-K symbol=META": "cik=",
    "sec_filings cik=1326801": "",
    "earningscall transcript symbol=META": "exchange=",
    "earningscall events symbol=META year=2023": "exchange=",
    "earningscall slides symbol=META": "exchange=",
    "earningscall transcript symbol=META exchange=NASDAQ": "",
    "earningscall calendar date=2023-02-01": "",
}


@pytest.mark.parametrize(("call", "fix"), OF_TODAY.items())
def test_under_a_ceiling_nothing_is_looked_up_in_a_list_of_today(tmp_path: Path, call: str, fix: str) -> None:
    asked: list[str] = []

    def app(request: HttpRequest) -> Response:
        asked.append(request.path)
        # Without this file www.sec.gov fails as a whole, unless the list is there: nothing is looked up in it then.
        return Response(b"", 200 if request.path == "/robots.txt" else 404)

    source, *words = call.split()
    done = run_command(source, tmp_path, app, "--pit", PIT, *words, env={"PIT_FETCH_CEILING": PIT})
    gaps = done.envelope["gaps"]
    assert not {"/symbols-v2.txt", "/files/company_tickers.json"} & {*asked}
    if fix:
        assert (asked, [gap["type"] for gap in gaps]) == ([], ["config"])
        assert fix in gaps[0]["reason"]
    else:
        assert asked
        assert "config" not in [gap["type"] for gap in gaps]
