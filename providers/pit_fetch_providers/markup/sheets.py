"""Read how a page's own style sheets show its elements, as far as that is sure. Pure.

>>> sheet = Sheet([".fn, sup.a { vertical-align: super } .tab { display: none } .on .tab { display: block }"])
>>> sheet.values("span", "", ["fn"], ""), sheet.values("p", "", ["tab"], "")
({'vertical-align': 'super'}, {'display': 'revert'})

A selector that names an element by its tag, its id and up to two classes decides. Of any other one nobody says here
whether it matches: such a one hides nothing, and what it may show is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from pit_fetch_providers.markup.styles import declarations, without_nested

# A page whose sheets are longer than this is read without them. Of filings the largest have 1 MB.
_MOST = 2_000_000
_MOST_CLASSES = 8  # of one element, those that sheets name
_LONGEST_SELECTOR = 400
_IN_HTML = re.compile("<!--|-->")  # as the sheets of old pages are hidden from browsers that know none
_BRACE = re.compile(r"[{}]")
_SHOWING = re.compile(r"display|visib|vertical|font|float|position|margin|padding", re.IGNORECASE)
_NAME = r"(?:[\w-]|[^\x00-\x7f]|\\[^\n])+"
_SUBJECT = re.compile(rf"(\*|{_NAME})?((?:[.#]{_NAME})*)")
_PART = re.compile(rf"([.#])({_NAME})")
_ATTRIBUTE = re.compile(r"\[[^\]]*(?:\]|\Z)")
_ESCAPED = re.compile(r"\\(.)")
_COMBINATOR = re.compile(r"\s*[>+~]\s*|\s+")
# What an element is not by itself: another one that is made for it, or how it is while somebody points at it.
_PASSING = re.compile(
    r"::|:(?:before|after|first-l|hover|focus|active|target|visited|checked|placeholder|-)", re.IGNORECASE
)
_MEDIA = re.compile(r"@media\b(.*)", re.IGNORECASE | re.DOTALL)
_PERHAPS = re.compile(r"@(?:supports|layer|container|scope|document)\b", re.IGNORECASE)
_SCREEN, _PRINT = re.compile(r"(?:only\s+)?(?:screen|all)"), re.compile(r"(?:only\s+)?(?:print|speech|aural|braille)\b")
# What an element looks like that may be shown, although a rule that is sure hides it.
_SHOWN = {"display": "revert", "visibility": "visible", "font-size": "medium"}
_HIDING = {"display": re.compile("none"), "visibility": re.compile("hidden|collapse"),
           "font-size": re.compile(r"[+-]?0*\.?0*(?:[a-z]+|%)?")}  # fmt: skip

# Whether a declaration is important, the weight of its selector, and its place.
Rank = tuple[bool, tuple[int, int, int], int]
_OF_THE_ELEMENT = (1_000, 0, 0)


class Subject(NamedTuple):
    """What a selector says of the element itself: "" stands for any."""

    tag: str
    id: str
    classes: tuple[str, ...]


class _Rule(NamedTuple):
    selectors: str
    body: str
    is_sure: bool


class Sheet:
    """What the sheets of a page declare, by the elements that they name."""

    def __init__(self, sure: Iterable[str], doubtful: Iterable[str] = ()) -> None:
        self.declared: dict[Subject, dict[str, tuple[Rank, str]]] = {}
        self.place = 0
        every = [*((source, True) for source in sure), *((source, False) for source in doubtful)]
        if sum(len(source) for source, _ in every) <= _MOST:
            for source, is_sure in every:
                self._read(source, is_sure)
        self.tags = frozenset(subject.tag for subject in self.declared if subject.tag)
        self.ids = frozenset(subject.id for subject in self.declared if subject.id)
        self.classes = frozenset(name for subject in self.declared for name in subject.classes)

    def values(self, tag: str, identity: str, classes: Iterable[str], style: str) -> dict[str, str]:
        """Return the value that counts of each property of an element with such a tag, id, classes and style."""
        found: dict[str, tuple[Rank, str]] = {}
        for subject in self._subjects(tag, identity, classes):
            for name, ranked in self.declared.get(subject, {}).items():
                found[name] = max(found.get(name, ranked), ranked)
        for place, (name, value, is_important) in enumerate(declarations(style)):
            ranked = ((is_important, _OF_THE_ELEMENT, place), value)
            found[name] = max(found.get(name, ranked), ranked)
        return {name: value for name, (_, value) in found.items()}

    def _subjects(self, tag: str, identity: str, classes: Iterable[str]) -> Iterator[Subject]:
        named = sorted({name for name in classes if name in self.classes})[:_MOST_CLASSES]
        sets = [(), *((name,) for name in named), *combinations(named, 2)]
        for of_tag in ("", tag) if tag in self.tags else ("",):
            for of_id in ("", identity) if identity in self.ids else ("",):
                yield from (Subject(of_tag, of_id, of_classes) for of_classes in sets)

    def _read(self, source: str, is_sure: bool) -> None:
        for rule in _rules(source, is_sure):
            if _SHOWING.search(rule.body):
                declared = list(declarations(rule.body))
                for selector in rule.selectors.split(",") if declared else ():
                    self._declare(selector.strip(), declared, rule.is_sure)

    def _declare(self, selector: str, declared: list[tuple[str, str, bool]], is_sure: bool) -> None:
        if not selector or len(selector) > _LONGEST_SELECTOR or _PASSING.search(selector):
            return
        selector = _ATTRIBUTE.sub("[", selector)
        subject, is_whole = _subject(selector)
        weight = _weight(selector)
        of_subject = self.declared.setdefault(subject, {})
        for name, value, is_important in declared:
            said = value if is_sure and is_whole else _if_it_matches(name, value)
            if said is not None:
                self.place += 1
                ranked = ((is_important, weight, self.place), said)
                of_subject[name] = max(of_subject.get(name, ranked), ranked)


def is_for_screens(media: str) -> bool | None:
    """Return whether a screen is what a sheet is for; None if that depends on the screen."""
    wanted = [word.strip().lower() for word in media.split(",")]
    if not media.strip() or any(_SCREEN.fullmatch(word) for word in wanted):
        return True
    return False if all(_PRINT.match(word) for word in wanted) else None


def _rules(source: str, is_sure: bool) -> Iterator[_Rule]:
    """Yield the rules of a sheet. Those within another one are not sure."""
    source, begin = without_nested(_IN_HTML.sub("", source)), 0
    open_: list[tuple[str, list[str], bool | None]] = []  # of each block what is before it, in it, and if it counts
    for brace in _BRACE.finditer(source):
        said, begin = source[begin : brace.start()], brace.end()
        if brace[0] == "{":
            inner, _, prelude = said.rpartition(";")
            counts = open_[-1][2] if open_ else is_sure
            if open_:
                open_[-1][1].append(inner)
            open_.append((prelude.strip(), [], _counts(prelude.strip(), counts)))
        elif open_:
            prelude, parts, counts = open_.pop()
            if counts is not None and not prelude.startswith("@"):
                is_inner = any(not around.startswith("@") for around, _, _ in open_)
                yield _Rule(prelude, ";".join([*parts, said]), counts and not is_inner)


def _counts(prelude: str, around: bool | None) -> bool | None:
    """Return whether the rules in a block are sure to count; None if they do not."""
    if around is None or not prelude.startswith("@"):
        return around
    media = _MEDIA.match(prelude)
    if media is None:
        return False if _PERHAPS.match(prelude) else None
    is_for = is_for_screens(media[1])
    return None if is_for is False else around and is_for is True


def _subject(selector: str) -> tuple[Subject, bool]:
    """Return what a selector says of its element, and whether that is all that it says."""
    *around, last = _COMBINATOR.split(selector)
    match = _SUBJECT.match(last)
    tag, names = (match[1] or "", match[2]) if match is not None else ("", "")
    parts = [(sign, _ESCAPED.sub(r"\1", name)) for sign, name in _PART.findall(names)]
    ids = [name for sign, name in parts if sign == "#"]
    classes = sorted({name for sign, name in parts if sign == "."})
    is_whole = not around and match is not None and match.end() == len(last) and len(ids) < 2 and len(classes) < 3
    return Subject("" if tag == "*" else tag.lower(), "".join(ids[:1]), tuple(classes[:2])), is_whole


def _weight(selector: str) -> tuple[int, int, int]:
    """Return how much a selector outweighs others: its ids, its classes and the like, its tags."""
    parts = _COMBINATOR.split(selector)
    tags = sum(part[:1] not in (".", "#", "[", ":", "*", "") for part in parts)
    return selector.count("#"), sum(map(selector.count, ".[:")), tags


def _if_it_matches(name: str, value: str) -> str | None:
    """Return how an element may look by a rule that is not sure to match it; None if that does not count."""
    return None if name not in _SHOWN or _HIDING[name].fullmatch(value) else _SHOWN[name]
