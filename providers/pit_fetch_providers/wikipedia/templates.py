"""What a template shows, as far as that can be known without its own source of the time. Pure.

A few templates show their values, a sign, or a quantity in a way that has been the same for years. Of any other it is
not known what becomes of its values, so it is shown by its own source: no value of it can be taken for another.

>>> shown("ndash", [], {}), shown("nowrap", ["5 km"], {})
('–', '5 km')
>>> shown("percentage", ["5", "20"], {}), shown("height", [], {"ft": "6"})
('{{percentage|5|20}}', '{{height|ft=6}}')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pit_fetch_providers.page_text import BACK, LOWERED, RAISED

# Notes, sources, remarks to readers and layout: they say nothing of the subject. Each is a whole name: with further
# words it is another template, as "end" and "end date" are.
_UNSAID = re.compile(
    r"cite .*|citation|sfn[a-z]*|efn[a-z-]*|refn|ref|reflist|notelist|r|rp|harv[a-z]*|main(?: article)?|see also"
    r"|further(?: information)?|about|for|redirect(?:-.*)?|hatnote|distinguish|other uses?(?: of)?|other people"
    r"|short description|use \w+ (?:dates|english)|pp(?:-.*)?|good article|featured article|authority control"
    r"|defaultsort|portal.*|commons.*|clear|toc.*|citation needed|cn|fact|by whom|when|who|which|flag ?icon|images?"
    r"|multiple image|col-.*|div col.*|end|navbox.*|sister.*|webarchive|dead link|cbignore|anchor|internetquelle"
    r"|literatur|einzelnachweise|lien web|ouvrage|article(?: détaillé)?|cita .*|cita|normdaten|autorité|refbegin|refend"
    r"|italic title|(?:defaultsort|displaytitle|sortierung|#tag):.*",
    re.IGNORECASE,
)
_SIGNS = {
    **dict.fromkeys(("ndash", "endash", "en dash", "nd", "–"), "–"),
    **dict.fromkeys(("mdash", "emdash", "em dash", "—"), "—"),
    **dict.fromkeys(("snd", "spnd", "sndash", "spndash", "spaced ndash", "spaced en dash"), " – "),
    **dict.fromkeys(("smd", "spaced mdash", "spaced em dash"), " — "),
    **dict.fromkeys(("nbsp", "space", "spaces", "thinsp", "thin space", "hairsp", "hair space", "nnbsp"), "\N{NBSP}"),
    **dict.fromkeys(("·", "•", "dot", "bull", "bullet", "middot", "interpunct", "*"), " · "),
    **dict.fromkeys(("shy", "wbr", "zwsp", "0"), ""),
    **dict.fromkeys(("br", "break"), "\n"),
    "minus": "−",
    "times": "×",
    "±": "±",
    "!": "|",
    "=": "=",
    "'": "'",
    "'s": "'s",
    "sic": "[sic]",
}
# Which value each shows, and no other one: the first, the second or the last.
_VALUES = {
    **dict.fromkeys(("nowrap", "nobr", "nobreak", "small", "smaller", "big", "larger", "nobold", "center", "centre",
                     "strong", "em", "math", "mvar", "var", "nts", "abbr", "tooltip", "vanchor", "visible anchor",
                     "plainlist", "flatlist", "plain list", "blockquote", "chem2"), 0),
    **dict.fromkeys(("lang", "align", "sort"), 1),
}  # fmt: skip
# What stands between the values of those that show them all.
_BETWEEN = {
    **dict.fromkeys(("hlist", "ubl", "ublist", "unbulleted list"), ", "),
    **dict.fromkeys(("quote", "quotation", "cquote"), " "),
}
_SHIFTING = {"sup": RAISED, "sub": LOWERED, "superscript": RAISED, "subscript": LOWERED}
_POWERS_OF_TEN = {"e": "×10", "10^": "10"}
_FRACTIONS = frozenset({"frac", "fraction", "sfrac"})
_QUANTITIES = frozenset({"convert", "cvt"})
# What "convert" may be told that leaves the quantity as it was given. "disp" can show another one alone.
_OF_CONVERT = frozenset({"abbr", "lk", "sigfig", "adj", "sp", "comma"})
# What "val" may be told besides a number: its power of ten, its unit, and how the unit is linked.
_OF_VAL = frozenset({"e", "u", "ul", "fmt"})
_FUNCTIONS = frozenset({"formatnum", "lc", "uc", "lcfirst", "ucfirst", "nowiki"})
_PLAIN_NUMBER = re.compile(r"[+\u2212-]?[0-9][0-9.,]*")
_WORD = re.compile(r"[^\W\d]\S*")


def is_unsaid(name: str) -> bool:
    """Return whether a template says nothing of the subject."""
    return _UNSAID.fullmatch(name) is not None


def shown(name: str, values: Sequence[str], named: Mapping[str, str]) -> str:
    """Return what a template shows of its values, or its own source if that is not known."""
    function, colon, value = name.partition(":")
    if colon:
        return value if function.lower() in _FUNCTIONS else source(name, values, named)
    made = _shown(name.lower(), values, named)
    return source(name, values, named) if made is None else made


def source(name: str, values: Sequence[str], named: Mapping[str, str]) -> str:
    """Return a template as it is written, with its values as they are shown."""
    parts = (name, *values, *(f"{key}={value}" for key, value in named.items()))
    return "{{" + "|".join(" ".join(part.split()) for part in parts) + "}}"


def _shown(name: str, values: Sequence[str], named: Mapping[str, str]) -> str | None:
    if name in _SIGNS:
        return _SIGNS[name] if not values or name == "0" else None
    if name in _BETWEEN and not named:
        return _BETWEEN[name].join(filter(None, values))
    if name in _VALUES:
        return values[_VALUES[name]] if len(values) > _VALUES[name] else None
    rule = _RULES.get(name)
    return None if rule is None else rule(name, values, named)


def _shift(name: str, values: Sequence[str], named: Mapping[str, str]) -> str | None:
    return f"{_SHIFTING[name]}{values[0]}{BACK}" if len(values) == 1 and not named else None


def _power(name: str, values: Sequence[str], named: Mapping[str, str]) -> str | None:
    return f"{_POWERS_OF_TEN[name]}{RAISED}{values[0]}{BACK}" if len(values) == 1 and not named else None


def _fraction(name: str, values: Sequence[str], named: Mapping[str, str]) -> str | None:
    """Return a fraction's numbers: of its whole, above and below its line. Each but the last can be missing."""
    if not 1 <= len(values) <= 3 or named:
        return None
    *whole, above, below = ["1", *values] if len(values) == 1 else values
    return f"{''.join(whole)}{RAISED}{above}{BACK}/{LOWERED}{below}{BACK}"


def _quantity(name: str, values: Sequence[str], named: Mapping[str, str]) -> str | None:
    """Return a quantity as it was given. Of more values, some say how it is converted, and others what is shown."""
    is_one = len(values) == 2 and _PLAIN_NUMBER.fullmatch(values[0].strip("'")) and _WORD.fullmatch(values[1])
    return f"{values[0]} {values[1]}" if is_one and named.keys() <= _OF_CONVERT else None


def _val(name: str, values: Sequence[str], named: Mapping[str, str]) -> str | None:
    if len(values) != 1 or not named.keys() <= _OF_VAL or _PLAIN_NUMBER.fullmatch(values[0]) is None:
        return None
    power = f"×10{RAISED}{named['e']}{BACK}" if named.get("e") else ""
    unit = named.get("u") or named.get("ul")
    return f"{values[0]}{power}" + (f" {unit}" if unit else "")


_Rule = Callable[[str, Sequence[str], Mapping[str, str]], str | None]
_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(_SHIFTING, _shift),
    **dict.fromkeys(_POWERS_OF_TEN, _power),
    **dict.fromkeys(_FRACTIONS, _fraction),
    **dict.fromkeys(_QUANTITIES, _quantity),
    "val": _val,
}
