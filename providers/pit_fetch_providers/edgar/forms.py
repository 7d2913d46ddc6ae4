"""Forms: the ordinary ones, those disseminated in the evening, and EDGAR's spelling of what people write. Pure.

Ordinary forms are filings that are nearly always disseminated on their filing date. A search for ordinary forms alone
goes back from the PIT and ends when it has enough. It can, because a filing that the daily index of its filing date
leaves out (it was released at another time) is left to --exact. So the list is about speed and dates nothing: no form
is immune to filing dates being moved back. Of 85,618 filings of these forms by 30 companies since 2003, 29 electronic
ones and 148 paper 11-Ks were accepted after their filing date.

>>> correct_spelling("10K"), is_wanted("8-K/A", ["8-K"]), is_wanted("4", ["-4"])
('10-K', True, False)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import date

from pit_fetch_providers.shared import refuse

ORDINARY = frozenset(
    {
        # Annual, quarterly and current reports, and notices that they will be late: disseminated on acceptance.
        "10-K", "10-K405", "10-KSB", "10-KSB40", "10-KT", "10-Q", "10-QSB", "10-QT", "NT 10-K", "NT 10-Q",
        "8-K", "6-K", "20-F", "40-F", "11-K",
        # Definitive proxy material. Preliminary material (PRE 14A) can be confidential.
        "DEF 14A", "DEFA14A",
        # Registrations by domestic issuers (their drafts are DRS forms), and prospectuses.
        "S-1", "S-1MEF", "S-3", "S-3ASR", "S-3MEF", "S-4", "S-8", "S-11",
        "424B1", "424B2", "424B3", "424B4", "424B5", "424B7", "424B8",
        # Insiders and large holders: accepted until 22:00 with that day's filing date, public the same evening.
        "3", "4", "5", "144", "SC 13D", "SC 13G", "SCHEDULE 13D", "SCHEDULE 13G", "13F-HR",
    }
)  # fmt: skip

# Insiders' reports, which are disseminated until 22:00 (17 CFR 232.13(a)(4)).
INSIDERS = frozenset({"3", "4", "5"})
# So are these, since the day on which the rule changed; and registrations of more of the same offering (MEF), always.
_LARGE_HOLDERS = dict.fromkeys(("SC 13D", "SC 13G", "SCHEDULE 13D", "SCHEDULE 13G"), date(2024, 2, 5))
_EVENING = {**dict.fromkeys(INSIDERS, date.min), **_LARGE_HOLDERS, "144": date(2023, 3, 20)}

# What any form begins with, behind the sign that excludes it.
_FORM = re.compile("-?[A-Z0-9]")

# Other forms that are asked for by name. A form on neither list is passed on as it is.
_FURTHER = (
    "10-12G", "10-D", "13F-NT", "25", "424A", "497", "485APOS", "485BPOS", "ARS", "CORRESP", "D",
    "DEF 14C", "DEFM14A", "DFAN14A", "DRS", "EFFECT", "F-1", "F-3", "F-4", "FWP", "N-CEN", "N-CSR", "N-PORT", "N-PX",
    "NO ACT", "NPORT-P", "PRE 14A", "PREC14A", "PREM14A", "PX14A6G", "QUALIF", "S-3D", "SC 13E3", "SC 14D9", "SC TO-I",
    "SC TO-T", "SD", "UPLOAD", "X-17A-5",
)  # fmt: skip

# What people write, if no change of punctuation turns it into a form.
_COLLOQUIAL = {
    "13D": "SCHEDULE 13D (until 2024: SC 13D)",
    "13G": "SCHEDULE 13G (until 2024: SC 13G)",
    "13F": "13F-HR",
    "PROXY": "DEF 14A",
    "ANNUAL": "10-K",
    "ANNUALREPORT": "10-K",
    "QUARTERLY": "10-Q",
    "QUARTERLYREPORT": "10-Q",
    "CURRENTREPORT": "8-K",
    "PROXYSTATEMENT": "DEF 14A",
    "INSIDER": "4",
}


def root(form: str) -> str:
    """Return the form that ``form`` amends, or the form itself."""
    return form.removesuffix("/A")


def is_ordinary(form: str) -> bool:
    """Return whether ``form``, or what it amends, is on the list."""
    return root(form) in ORDINARY


def is_evening(form: str, filed: date) -> bool:
    """Return whether ``form`` was disseminated until 22:00 when it was ``filed``."""
    return root(form).endswith("MEF") or filed >= _EVENING.get(root(form), date.max)


def is_wanted(form: str, wanted: Collection[str], groups: Collection[str] = ()) -> bool:
    """Return whether ``form`` is one of ``wanted``, of which ``-4`` excludes a form; without any, every form is.

    A form takes its amendments with it, and an amendment asked for by name means that form alone. ``groups`` are
    further names of the form.
    """
    names = {form, root(form), *groups}
    named = [name for name in wanted if not name.startswith("-")]
    is_named = any(name == form or (name == root(name) and name in names) for name in named)
    return (is_named or not named) and not any(f"-{name}" in wanted for name in names)


def all_ordinary(forms: Iterable[str]) -> bool:
    """Return whether only forms on the list are asked for; ``-4`` excludes a form and asks for none."""
    named = [form for form in forms if not form.startswith("-")]
    return bool(named) and all(map(is_ordinary, named))


def check(option: str, named: Iterable[str], found: str) -> None:
    """Raise ConfigError for what cannot be a form, or is spelled otherwise; ``found`` says what EDGAR does with that.

    ``named`` is in capitals, with a "-" before what is excluded.
    """
    for form in named:
        if not _FORM.match(form):
            refuse(f"{option}: a form begins with a letter or a digit, as 10-K does; -10-K excludes it.")
        likely = correct_spelling(form)
        if likely:
            refuse(f"{option}: EDGAR writes {likely}, and {found} nothing under other spellings.")


def correct_spelling(form: str) -> str | None:
    """Return EDGAR's spelling of ``form``; None if it is right, or unknown. EDGAR finds nothing under "8K".

    ``form`` is in capitals, possibly after a "-". Several forms written as one are returned with commas.
    """
    name = form.removeprefix("-")
    if name in _KNOWN.values():
        return None
    plain = _plain(name)
    parts = re.split(r"[\s;|]+", name)
    if len(parts) > 1 and plain not in _KNOWN and all(_plain(part) in _KNOWN for part in parts):
        return ",".join(_KNOWN[_plain(part)] for part in parts)
    return _KNOWN.get(plain) or _COLLOQUIAL.get(plain)


def _plain(name: str) -> str:
    return re.sub("[^A-Z0-9]", "", name).removeprefix("FORM")


_KNOWN = {_plain(name): name for form in (*sorted(ORDINARY), *_FURTHER) for name in (form, f"{form}/A")}
