"""The hours at which EDGAR accepts filings around an instant, for the worlds of its sources."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from random import Random

from tests.laws.worlds import NEW_YORK

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def in_business(rng: Random, moment: datetime) -> datetime:
    """Return an hour of business, of a day at least two days before ``moment``, or of its own day, two hours before."""
    local = moment.astimezone(NEW_YORK)
    if rng.random() < 0.3 and local.weekday() < 5 and 11 <= local.hour < 17:
        return local - timedelta(hours=2)
    day = weekday(local.date() - rng.choice((3, 4, 30, 300)) * DAY)
    hour, minute = rng.choice(((9, 30), (12, 30), (16, 30), (17, 20)))
    return datetime.combine(day, time(hour, minute, rng.randrange(60)), NEW_YORK)


def after(rng: Random, moment: datetime) -> tuple[datetime, date]:
    """Return an instant after ``moment`` and its filing day: perhaps within the hours by which a ``Z`` can be wrong."""
    seconds = rng.choice((1, 60, 3_600, 14_400, 18_000, 86_400, 3_000_000))
    accepted = (moment + timedelta(seconds=seconds)).astimezone(NEW_YORK)
    return accepted, weekday(accepted.date() + (accepted.hour >= 17) * DAY)


def late(rng: Random, moment: datetime) -> datetime:
    """Return an evening before ``moment``, of up to four days ago: what came then may have waited for days."""
    day = moment.astimezone(NEW_YORK).date() - rng.choice((1, 2, 4)) * DAY
    return datetime.combine(weekday(day), time(rng.choice((18, 19, 21)), 16), NEW_YORK)


def weekday(day: date) -> date:
    """Return ``day``, or the Monday after it."""
    return day + timedelta(days=7 - day.weekday()) if day.weekday() > 4 else day
