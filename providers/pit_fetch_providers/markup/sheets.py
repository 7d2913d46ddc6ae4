"""Read how a page's own style sheets show its elements, as far as that is sure. Pure.

>>> sheet = Sheet([".fn, sup.a { vertical-align: super } .tab { display: none } .on .tab { display: block }"])
>>> sheet.values("span", "", ["fn"], ""), sheet.values("p", "", ["tab"], "")
({'vertical-align': 'super'}, {})

A selector that names an element by its tag, its id and up to two classes is read. Of any other one nobody says here
whether it matches. So a sheet may part what tags leave together, but hides nothing, and joins nothing that tags part:
whether another rule undoes that cannot be told for sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from pit_fetch_providers.markup.styles import JOINING, declarations, is_hiding, winning, without_nested

# A page whose sheets are longer than this is read without them. Of filings the largest have 1 MB.
_MOST = 2_000_000
_MOST_CLASSES = 6  # of one element, the first that sheets name
_MOST_DECLARED = 100_000
_LONGEST_SELECTOR = 400
_IN_HTML = re.compile("<!--|-->")  # as the sheets of old pages are hidden from browsers that know none
_BRACE = re.compile(r"[{}]")
_SHOWING = re.compile(r"display|visib|vertical|font|float|position|margin|padding|border|inset|\ball\b", re.IGNORECASE)
_NAME = r"(?:[a-zA-Z0-9_-]|[^\x00-\x7f]|\\[^\n0-9a-fA-F])+"  # a letter that is given by its number is not read
_SUBJECT = re.compile(rf"(\*|{_NAME})?((?:[.#]{_NAME})*)")
_PART = re.compile(rf"([.#])({_NAME})")
_ESCAPED = re.compile(r"\\(.)")
_MEDIA = re.compile(r"@media\b(.*)", re.IGNORECASE | re.DOTALL)
_SCREEN = re.compile(r"(?:only\s+)?(?:screen|all)")

# How many ids, classes and tags a selector names.
Weight = tuple[int, int, int]
# Whether a declaration is important, the weight of its selector, and its place.
Rank = tuple[bool, Weight, int]
_OF_THE_ELEMENT = (1_000, 0, 0)


class Subject(NamedTuple):
    """What a selector says of the element itself: "" stands for any."""

    tag: str
    id: str
    classes: tuple[str, ...]


class _Rule(NamedTuple):
    selectors: str
    body: str


class Sheet:
    """What the sheets of a page declare, by the elements that they name.

    In quirks mode, names of classes and ids match whatever their capitals.
    """

    def __init__(self, sources: Sequence[str], *, has_quirks: bool = False) -> None:
        self.has_quirks = has_quirks
        self.declared: dict[Subject, dict[str, tuple[Rank, str]]] = {}
        self.place = 0
        if sum(map(len, sources)) <= _MOST:
            for source in sources:
                self._read(source)
        self.tags = frozenset(subject.tag for subject in self.declared if subject.tag)
        self.ids = frozenset(subject.id for subject in self.declared if subject.id)
        self.classes = frozenset(name for subject in self.declared for name in subject.classes)

    def values(self, tag: str, identity: str, classes: Iterable[str], style: str) -> dict[str, str]:
        """Return the value that counts of each property of an element with such a tag, id, classes and style."""
        found: dict[str, tuple[Rank, str]] = {}
        if self.has_quirks:
            identity, classes = identity.lower(), [name.lower() for name in classes]
        for subject in self._subjects(tag, identity, classes):
            for name, ranked in self.declared.get(subject, {}).items():
                if name not in found or found[name] < ranked:
                    found[name] = ranked
        for place, (name, value, is_important) in enumerate(declarations(style)):
            ranked = ((is_important, _OF_THE_ELEMENT, place), value)
            found[name] = max(found.get(name, ranked), ranked)
        return {name: value for name, (_, value) in found.items()}

    def _subjects(self, tag: str, identity: str, classes: Iterable[str]) -> Iterator[Subject]:
        named = sorted(list(dict.fromkeys(name for name in classes if name in self.classes))[:_MOST_CLASSES])
        sets = [(), *((name,) for name in named), *combinations(named, 2)]
        for of_tag in ("", tag) if tag in self.tags else ("",):
            for of_id in ("", identity) if identity in self.ids else ("",):
                yield from (Subject(of_tag, of_id, of_classes) for of_classes in sets)

    def _read(self, source: str) -> None:
        for rule in _rules(source):
            if _SHOWING.search(rule.body):
                declared = list(_parting(rule.body))
                for selector in dict.fromkeys(rule.selectors.split(",")) if declared else ():
                    if self.place < _MOST_DECLARED:
                        self._declare(selector.strip().lower() if self.has_quirks else selector.strip(), declared)

    def _declare(self, selector: str, declared: list[tuple[str, str, bool]]) -> None:
        read = _parsed(selector) if 0 < len(selector) <= _LONGEST_SELECTOR else None
        if read is None:
            return
        subject, weight = read
        of_subject = self.declared.setdefault(subject, {})
        for name, value, is_important in declared:
            self.place += 1
            ranked = ((is_important, weight, self.place), value)
            of_subject[name] = max(of_subject.get(name, ranked), ranked)


def is_for_screens(media: str) -> bool:
    """Return whether a sheet is for any screen, whatever it is like."""
    wanted = (word.strip().lower() for word in media.split(","))
    return not media.strip() or any(_SCREEN.fullmatch(word) for word in wanted)


def _parting(body: str) -> Iterator[tuple[str, str, bool]]:
    """Yield what a rule declares, but nothing that hides an element, or that undoes what its tag parts."""
    for name, value, is_important in winning(body):
        if not is_hiding({name: value}):
            yield name, "revert" if name == "display" and value in JOINING else value, is_important


def _rules(source: str) -> Iterator[_Rule]:
    """Yield the rules of a sheet that are sure to count, none of them within another one.

    The end of the sheet closes what is open.
    """
    source, begin = without_nested(_IN_HTML.sub("", source), "()"), 0
    open_: list[tuple[str, bool]] = []  # of each block what is before it, and whether rules in it count
    for brace in _BRACE.finditer(source + "}" * source.count("{")):
        said, begin = source[begin : brace.start()], brace.end()
        if brace[0] == "{":
            said, _, prelude = said.rpartition(";")
            outer, counts = open_[-1] if open_ else ("@", True)
            if counts and not outer.startswith("@"):
                yield _Rule(outer, said)
            open_.append((prelude.strip(), counts and outer.startswith("@") and _counts(prelude.strip())))
        elif open_:
            prelude, counts = open_.pop()
            if counts and not prelude.startswith("@"):
                yield _Rule(prelude, said)


def _counts(prelude: str) -> bool:
    """Return whether the rules in a block are sure to count."""
    media = _MEDIA.match(prelude)
    return not prelude.startswith("@") or (media is not None and is_for_screens(media[1]))


def _parsed(selector: str) -> tuple[Subject, Weight] | None:
    """Return what a selector says of its element, and how much it outweighs others; None if it says more."""
    match = _SUBJECT.fullmatch(selector)
    if match is None:
        return None
    tag, parts = match[1] or "", [(sign, _ESCAPED.sub(r"\1", name)) for sign, name in _PART.findall(match[2])]
    ids = [name for sign, name in parts if sign == "#"]
    classes = sorted({name for sign, name in parts if sign == "."})
    if len(ids) > 1 or len(classes) > 2:
        return None
    tag = "" if tag == "*" else tag.lower()
    return Subject(tag, "".join(ids), tuple(classes)), (len(ids), len(parts) - len(ids), int(bool(tag)))
