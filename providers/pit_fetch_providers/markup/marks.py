"""Part what is raised or lowered, a footnote's mark or a power, from the figure that it stands at. Pure.

A page shows ``5,234<sup>4</sup>`` as a figure and its footnote, where bare text would say 52,344. While a line is
written, RAISED or LOWERED begins such a run, and BACK ends it. ``resolved`` writes them out.

>>> resolved(f"$123.4{RAISED}1{BACK} million, 10{RAISED}6{BACK}, CO{LOWERED}2{BACK}, 1{RAISED}st{BACK}")
'$123.4^1 million, 10^6, CO2, 1st'
>>> resolved(f"5{RAISED}1{BACK}/{LOWERED}2{BACK}% Notes, 7{RAISED}3/4{BACK}%")
'5 1/2% Notes, 7 3/4%'
"""

from __future__ import annotations

import re

# No page has these: they are no characters, and are dropped from its text.
RAISED, LOWERED, BACK = _SIGNS = "\ufdd3\ufdd4\ufdd5"
# Runs nest, as a mark in a line that is moved by a point. So many levels are told apart.
DEEPEST = 3

# Soft hyphens, zero-width spaces, joiners of words, marks of direction and of byte order. The joiners of letters stay
# in scripts that are written with them.
_INVISIBLE = re.compile(
    "(?<![\u0300-\U0010ffff])[\u200c\u200d]"
    "|[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufdd3-\ufdd5\ufeff]"
)
_PERHAPS_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufdd3-\ufdd5\ufeff]")
_FRACTION = re.compile(
    f"{RAISED} *([0-9]{{1,3}})[ {BACK}]*{LOWERED}?[/\u2044\u2215]([ {_SIGNS}]*)([0-9]{{1,3}})(?![.,]?[0-9])"
    f"(?: *{BACK})?"
)
# Below the line of a fraction that is not lowered. Else "^1/5" is a footnote, and a figure per another.
_DENOMINATORS = frozenset({"2", "3", "4", "5", "8", "16", "32", "64"})
# Pieces of one run follow each other as runs of their own.
_RUN = re.compile(
    f"({RAISED})((?:[^{_SIGNS}]|{BACK}{RAISED})*)(?:{BACK}|$)|({LOWERED})((?:[^{_SIGNS}]|{BACK}{LOWERED})*)(?:{BACK}|$)"
)
_STRAY = re.compile(rf"(?<=[\d.,])[{_SIGNS}]+(?=[.,]?\d)")
_ANY = re.compile(f"[{_SIGNS}]")
_DECIMALS = re.compile(f"[{_SIGNS}]*[.,]{BACK}*[0-9]")
_DECIMAL = re.compile(r"[.,][0-9]{2}$|[0-9]\.[0-9]+$")
_LINK = re.compile(r"\[(.{0,99}?)\]\([^()\s]*\)")

_LONGEST_MARK = 24
_MARK = re.compile(r"[\s,;:.&/()\[\]{}*+\u00b1\u2212\u2013-]*(?:[0-9]{1,3}|[A-Za-z]|[ivx]{2,5})(?![^\W_])")
_REST = re.compile(r"[\s,;:.&/()\[\]{}*+\u00b1\u2212\u2013-]*")
_THOUSANDS = re.compile(r"[0-9],[0-9]{3}")
_TRADEMARKS = frozenset({"R", "(R)", "TM", "SM", "MC", "MD"})
# Endings of ordinals, and of abbreviated words, have one letter or two, or are these.
_SHORTEST_WORD, _ORDINALS = 3, frozenset({"\u00e8me", "eme", "i\u00e8me", "\u00e8re"})
_CURRENCIES = frozenset("$\u20ac\u00a3\u00a5")
# Behind these a figure begins, which may stand a point higher.
_OPENING = _CURRENCIES | frozenset("([{")
_HYPHENS = frozenset("-\u2010\u2011\u2013")


def visible(text: str) -> str:
    """Return ``text`` without the characters that nobody sees."""
    if text.isascii() or _PERHAPS_INVISIBLE.search(text) is None:  # the cheap question first
        return text
    return _INVISIBLE.sub("", text)


def resolved(line: str) -> str:
    """Return a line in which ``^`` or ``_`` parts each raised or lowered run from what it stands at."""
    if line.isascii() or _ANY.search(line) is None:
        return line
    line = _FRACTION.sub(_fraction, line)
    for _ in range(DEEPEST):
        line = _RUN.sub(_run, line)
    return _ANY.sub("", _STRAY.sub(" ", line))


def _fraction(match: re.Match[str]) -> str:
    numerator, signs, denominator = match.groups()
    is_marked = bool(signs.strip()) or BACK not in match.string[match.start() : match.start(2)]
    before = _before(match)
    if before.isalpha() or not (is_marked or (denominator in _DENOMINATORS and not _stands_behind_a_decimal(match))):
        return match[0]
    is_attached = before.strip() and before not in _OPENING and before not in _HYPHENS
    return f"{' ' if is_attached else ''}{numerator}/{denominator}{' ' if _after(match).isdigit() else ''}"


def _stands_behind_a_decimal(match: re.Match[str]) -> bool:
    """Return whether a run stands at a figure with decimals, of which a fraction is no part."""
    return _DECIMAL.search(match.string[max(0, match.start() - 9) : match.start()].rstrip(_SIGNS)) is not None


def _run(match: re.Match[str]) -> str:
    """Return a run with what parts it from its neighbours."""
    shift = match[1] or match[3]
    run = (match[2] or match[4] or "").replace(BACK + shift, "")
    words, before, after = run.strip(), _before(match), _after(match)
    if not words:
        return " " if run and before.strip() else ""
    sign = _sign(shift, _LINK.sub(r"\1", words), before)
    is_joined = after.isalnum() if sign or words[0] in "^_" else _ends_a_figure(words) and after.isdigit()
    is_joined |= words[-1].isdigit() and _DECIMALS.match(match.string, match.end()) is not None
    head = " " if run[0] == " " and before.strip() else ""
    tail = " " if is_joined or run[-1] == " " != after else ""
    return f"{head}{sign}{words}{tail}"


def _ends_a_figure(words: str) -> bool:
    return words.rstrip(".,")[-1:].isdigit()


def _sign(shift: str, words: str, before: str) -> str:
    """Return what parts a run from the character before it."""
    is_attached = before.strip() and before not in _OPENING and words.lstrip(".,")[:1].isdigit()
    if shift == LOWERED:  # behind a letter it is a formula's
        return "_" if is_attached and not before.isalpha() else ""
    if words in _TRADEMARKS or before in _CURRENCIES:
        return ""
    return "^" if is_attached or _is_mark(words) or (before.isalnum() and _is_a_word(words)) else ""


def _is_a_word(words: str) -> bool:
    """Return whether a raised run is a word of its own, and no ending of the one that it stands at."""
    is_long = len(words) >= _SHORTEST_WORD and words.lower() not in _ORDINALS
    return words[:1].isalnum() and (is_long or any(map(str.isdigit, words)))


def _is_mark(words: str) -> bool:
    """Return whether a raised run is a footnote's mark or a power: short numbers and single letters."""
    if len(words) > _LONGEST_MARK or _THOUSANDS.search(words):
        return False
    end = 0
    while (mark := _MARK.match(words, end)) is not None:
        end = mark.end()
    return end > 0 and _REST.fullmatch(words, end) is not None


def _before(match: re.Match[str]) -> str:
    """Return the character before a match; "" at the beginning of a line."""
    return match.string[max(0, match.start() - 9) : match.start()].rstrip(_SIGNS)[-1:]


def _after(match: re.Match[str]) -> str:
    """Return the character behind a match; "" before the next run, which is parted by itself."""
    behind = match.string[match.end() : match.end() + 9].replace(BACK, "")
    return _ANY.split(behind, maxsplit=1)[0][:1]
