"""What the names in a question stand for, by the lists that an archive holds: a company's number for its ticker.

A question that was just asked of its source goes by the list that the same fetch received. Any other goes by the last
list that was received by its instant or, without one, by the first list after it: what a name stands for is the one
thing that may come from later, and the answer says so. A name that this list lacks means what it meant in the last
recorded request for it by the instant, or else in the first one after it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from pit_fetch.archive.archived import Archived, ArchivedReplies
from pit_fetch.archive.interpreted import InterpretedFetch, interpret, resolve_names
from pit_fetch.archive.store import journal, microseconds
from pit_fetch.archive.store.journal import Key
from pit_fetch.errors import PitFetchError


class Meaning(NamedTuple):
    """A question with what its names stand for.

    has_every_name  nothing that it asks for is left out. A single name that no list has stays in the question, as it
                    does in a recorded request for it; of several names, those that the list lacks are left out
    """

    question: InterpretedFetch
    has_every_name: bool = True


def meaning(archived: Archived, question: InterpretedFetch, at: int, own: Key | None = None) -> Meaning | None:
    """Return what a question means as of ``at``; None without any list. Raise Damaged.

    ``own`` is the fetch of the question itself, if it was asked of its source.
    """
    if not _names(question):
        return Meaning(question)
    if own is not None:
        own_meaning = resolve_names(question, ArchivedReplies(archived, microseconds.ALWAYS, own))
        # It failed before it received the list.
        return None if own_meaning is None else Meaning(own_meaning)
    held = ArchivedReplies(archived, at)
    if (whole := _resolve_every_name(question, held)) is not None:
        return Meaning(whole)
    if (in_part := resolve_names(question, held)) is None:
        return None
    alike = (ArchivedReplies(archived, microseconds.ALWAYS, key) for key in _same_names(archived, question, at))
    whole = next(filter(None, (_resolve_every_name(question, own_list) for own_list in alike)), None)
    return Meaning(in_part, in_part.query == question.query) if whole is None else Meaning(whole)


def has_names(question: InterpretedFetch) -> bool:
    """Return whether a question has names, which stand for something at an instant."""
    return bool(_names(question))


def _resolve_every_name(question: InterpretedFetch, archive: ArchivedReplies) -> InterpretedFetch | None:
    """Return the question with what all of its names stand for; None if the list lacks one. As in a capture."""
    query = question.query
    found = resolve_names(question._replace(query=query._replace(capture=True)), archive)
    return None if found is None else found._replace(query=found.query._replace(capture=query.capture))


def _same_names(archived: Archived, question: InterpretedFetch, at: int) -> Iterator[Key]:
    """Yield the fetches that asked for the same names: the last one by ``at`` first, then those after it."""
    names = _names(question)
    letters = [_normalize(name) for of_option in names.values() for name in of_option]
    nearest_first = (
        "SELECT origin, seq, request FROM fetches WHERE source = ?2 ORDER BY began > ?1, abs(began - ?1), origin, seq"
    )
    for origin, seq, request in archived.connection.execute(nearest_first, (at, question.fetch.source)):
        text, key = _normalize(request), Key(origin, seq)
        fetch = None
        if all(name in text for name in letters):  # to interpret each of thousands would take seconds
            fetch = journal.fetch_of(archived.connection, key)
        if fetch is not None:
            with contextlib.suppress(PitFetchError):
                if _names(interpret(fetch, archived.find)) == names:
                    yield key


def _names(asked: InterpretedFetch) -> dict[str, frozenset[str]]:
    """Return the names in a request, by the option that has them, before they are resolved."""
    values = {
        option.name: asked.query.options[option.name]
        for option in asked.request.provider.all_options
        if option.stands_for
    }
    return {name: frozenset([value] if isinstance(value, str) else value) for name, value in values.items() if value}


def _normalize(text: str) -> str:
    """Return a text without what spellings of a name differ in."""
    return re.sub(r"[\W_]", "", text).casefold()
