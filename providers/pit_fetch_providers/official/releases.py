"""When official figures are released, as far as a calendar can say. Pure.

No file of the CFTC or of FINRA says when a figure was released, so an instant here is a claim. A delay that was
announced counts, and where it is known only that there was one, nothing does.

>>> cot_released(date(2024, 8, 20)).isoformat()
'2024-08-27T04:00:00+00:00'
>>> cot_released(date(2025, 9, 30)).isoformat()  # a shutdown: 50 days later
'2025-11-20T05:00:00+00:00'
>>> cot_released(date(2019, 1, 8)) is None
True
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta

from pit_fetch.times import NEW_YORK, delayed, end_of_day, next_business_day, wall_clock

# The days of reports, and when they were released instead of on the Friday after (the CFTC's announcements).
_COT_DELAYED: Mapping[str, str] = {
    "2018-12-24": "2019-02-01",
    "2023-01-31": "2023-02-24", "2023-02-07": "2023-03-03", "2023-02-14": "2023-03-08", "2023-02-21": "2023-03-10",
    "2023-02-28": "2023-03-14", "2023-03-07": "2023-03-16", "2023-03-14": "2023-03-21",
    "2025-09-30": "2025-11-19", "2025-10-07": "2025-11-21", "2025-10-14": "2025-11-25", "2025-10-21": "2025-12-02",
    "2025-10-28": "2025-12-05", "2025-11-04": "2025-12-09", "2025-11-10": "2025-12-10", "2025-11-18": "2025-12-12",
    "2025-11-25": "2025-12-15", "2025-12-02": "2025-12-17", "2025-12-09": "2025-12-19", "2025-12-16": "2025-12-23",
    "2025-12-23": "2025-12-29",
}  # fmt: skip
# Reports that were late by days that are not known: those after the shutdowns of 2013 and of January 2019.
_COT_UNKNOWN = ((date(2013, 10, 1), date(2013, 10, 29)), (date(2018, 12, 31), date(2019, 3, 5)))
_EVENING = time(20)


def business_days_after(day: date, count: int) -> date:
    """Return the business day of the United States that is so many after ``day``."""
    for _ in range(count):
        day = next_business_day(day)
    return day


def cot_released(report: date) -> datetime | None:
    """Return by when a report was out: the end of the fourth business day, or of the day that was announced.

    None where it was late by an unknown time.
    """
    if any(first <= report <= last for first, last in _COT_UNKNOWN) or report.year >= 9999:
        return None
    late = _COT_DELAYED.get(report.isoformat())
    return end_of_day(date.fromisoformat(late) if late else business_days_after(report, 4), NEW_YORK)


def short_interest_released(settlement: date) -> datetime | None:
    """Return by when FINRA had published the short interest of a day: the end of the ninth business day after it."""
    return None if settlement.year >= 9999 else end_of_day(business_days_after(settlement, 9), NEW_YORK)


def curve_released(day: date) -> datetime | None:
    """Return by when the Treasury had published the curve of a day: two hours after the usual 18:00 New York."""
    return delayed(wall_clock(datetime.combine(day, _EVENING), NEW_YORK), timedelta(0))
