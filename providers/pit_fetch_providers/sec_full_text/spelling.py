"""What was meant by a form that EDGAR spells differently: it finds nothing under "8K". Pure."""

from __future__ import annotations

import re

from pit_fetch_providers.sec_full_text.forms import ORDINARY

# Other forms that are asked for by name. A form on neither list is passed on as it is.
_FURTHER = (
    "10-12G", "10-D", "13F-NT", "25", "424A", "497", "485APOS", "485BPOS", "ARS", "CORRESP", "D",
    "DEF 14C", "DEFM14A", "DFAN14A", "DRS", "EFFECT", "F-1", "F-3", "F-4", "FWP", "N-CEN", "N-CSR", "N-PORT", "N-PX",
    "NO ACT", "NPORT-P", "PRE 14A", "PREC14A", "PREM14A", "PX14A6G", "QUALIF", "S-3D", "SC 13E3", "SC 14D9", "SC TO-I",
    "SC TO-T", "SD", "UPLOAD", "X-17A-5",
)  # fmt: skip

# What people say, if no change of punctuation turns it into a form.
_SAID = {
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


def meant(form: str) -> str | None:
    """EDGAR's spelling of ``form`` (in capitals, possibly after a "-"); None if it is right, or unknown.

    Several forms that were written as one are spelled with commas.
    """
    name = form.removeprefix("-")
    if name in _KNOWN.values():
        return None
    plain = _plain(name)
    parts = re.split(r"[\s;|]+", name)
    if len(parts) > 1 and plain not in _KNOWN and all(_plain(part) in _KNOWN for part in parts):
        return ",".join(_KNOWN[_plain(part)] for part in parts)
    return _KNOWN.get(plain) or _SAID.get(plain)


def _plain(name: str) -> str:
    return re.sub("[^A-Z0-9]", "", name).removeprefix("FORM")


_KNOWN = {_plain(name): name for form in (*sorted(ORDINARY), *_FURTHER) for name in (form, f"{form}/A")}
