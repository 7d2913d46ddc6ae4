"""Which forms a filing date alone can date, and what it proves. Pure.

EDGAR's filing date is no publication date: letters and drafts are released months after it, and
notices of the staff are back-dated by up to 86 days. For the closed list here neither was ever
seen in 7,856 entries of the feed of current filings and some hundred SGML headers. A form is not
on it because of what it is, but because it was looked at; whatever else exists needs its header.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from pit_fetch.times import NEW_YORK, end_of_day

# Root forms; an amendment ("10-K/A") is published like its root.
ORDINARY = frozenset(
    {
        # Annual, quarterly and current reports, and the notices that they will be late: disseminated on acceptance.
        "10-K", "10-K405", "10-KSB", "10-KSB40", "10-KT", "10-Q", "10-QSB", "10-QT", "NT 10-K", "NT 10-Q",
        "8-K", "6-K", "20-F", "40-F", "11-K",
        # Proxy material in its definitive form. Preliminary material (PRE 14A) can be confidential.
        "DEF 14A", "DEFA14A",
        # Registration of domestic issuers (their drafts are forms DRS), and prospectuses. Not F-3:
        # 0001104659-23-069410 was accepted on the morning after its filing date.
        "S-1", "S-1MEF", "S-3", "S-3ASR", "S-3MEF", "S-4", "S-8", "S-11",
        "424B1", "424B2", "424B3", "424B4", "424B5", "424B7", "424B8",
        # Insiders and large holders: accepted until 22:00 with that day's filing date, public the same evening.
        "3", "4", "5", "144", "SC 13D", "SC 13G", "SCHEDULE 13D", "SCHEDULE 13G", "13F-HR",
    }
)  # fmt: skip

# How long before the PIT an ordinary filing must lie for its date to decide.
SETTLED_AFTER = timedelta(days=7)

# Until about 2002 headers have no acceptance time, and filings were disseminated up to five days
# after the filing date (0000950129-95-001652; 0001094891-00-000193, a form 4, two days).
_SAME_DAY_SINCE = date(2003, 1, 1)


def root(form: str) -> str:
    """The form that ``form`` amends, or itself."""
    return form.removesuffix("/A")


def all_ordinary(forms: Iterable[str]) -> bool:
    """Whether nothing but forms of the list is asked for; ``-4`` excludes a form and asks for none."""
    named = [form for form in forms if not form.startswith("-")]
    return bool(named) and all(root(form) in ORDINARY for form in named)


def public_by(filed: date) -> datetime | None:
    """The instant by which an ordinary filing with this filing date was public: a New York midnight.

    Never earlier for a later date, so it also bounds every ordinary filing of the days before.
    """
    if filed >= _SAME_DAY_SINCE:
        return end_of_day(filed, NEW_YORK)
    return end_of_day(min(filed + SETTLED_AFTER - timedelta(days=1), _SAME_DAY_SINCE), NEW_YORK)


def dated_by_filing(form: str, filed: date, today: date) -> bool:
    """Whether the filing date alone decides on a filing of ``form``; ``today`` is the PIT's New York day."""
    return root(form) in ORDINARY and filed <= today - SETTLED_AFTER
