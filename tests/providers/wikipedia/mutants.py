"""Leaks of wikipedia: today's page under a title, stamps that are too early, requests that tell, its errors."""

from __future__ import annotations

import re
from copy import copy
from datetime import timedelta
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from tests.laws.mutants.leak import fails, in_module

_history = in_module("pit_fetch_providers.wikipedia.history")
_api = in_module("pit_fetch_providers.wikipedia.api")
_wikitext = in_module("pit_fetch_providers.wikipedia.wikitext")
_WORLDS, _FAILURES = ("wikipedia: non-interference",), ("wikipedia: failures",)
_PARTIAL = ("wikipedia: partial failure",)
_IMPORTED = ("wikipedia: imported",)
_RESUMED = ("wikipedia: resumed",)
_FIGURES = ("wikipedia: figures",)


def _always(value: Any) -> Any:
    return lambda real: lambda *given: value


def _any_comment_is_a_move(real: Any) -> Any:
    def had_title(self: Any, title: Any, newest: Any) -> bool:
        later = tuple(revision and revision._replace(sha1="") for revision in self.later)
        newest = newest and newest._replace(sha1="")
        return real(self._replace(later=later), title, newest)  # type: ignore[no-any-return]

    return had_title


def _what_is_hidden_is_nothing(real: Any) -> Any:
    def revision(row: Any) -> Any:
        hidden = {"sha1hidden", "commenthidden"} & row.keys()
        return real({"minor": False, **row, "comment": "" if hidden else row.get("comment")})

    return revision


def _with_new_numbers(real: Any) -> Any:
    return lambda pages: float("inf")


def _stays(real: Any) -> Any:
    return lambda events, title, since: None


def _in_the_articles(real: Any) -> Any:
    return lambda *given: (move := real(*given)) and move._replace(namespace=0)


def _without_a_page(real: Any) -> Any:
    def newest(context: Any, place: Any, until: Any, after: str = "", *, text: bool = False) -> Any:
        return (None, None) if place.pageid == 0 else real(context, place, until, after, text=text)

    return newest


def _of_later(real: Any) -> Any:
    def is_imported(self: Any, revision: Any) -> Any:
        compared = copy(self)
        compared.near = self.near.copy()
        return real(compared, revision)

    return is_imported


def _strict(real: Any) -> Any:
    return lambda row: made if (made := real(row)) is not None else fails("a revision")


def _echoed(real: Any) -> Any:
    def error(error: Any) -> Any:
        made = real(error)
        return UpstreamError(Code.MALFORMED, problem=str(error)) if made.gap.code == Code.MALFORMED else made

    return error


def _values_alone(real: Any) -> Any:
    return lambda code: re.sub(r"\{\{[^{}|]*\|?([^{}]*)\}\}", r"\1", real(code))


def _without_gaps(real: Any) -> Any:
    return lambda code: re.sub("(?<=[0-9]) (?=[0-9])", "", real(code))


MUTANTS = (
    _history("wikipedia: a revision is public at its stamp", "MARGIN", lambda real: timedelta(0), _WORLDS),
    _history("wikipedia: a title is that of today's page", "Place.had_title", _always(True), _FAILURES),
    _history("wikipedia: any comment with two titles is a move", "Place.had_title", _any_comment_is_a_move, _WORLDS),
    _history("wikipedia: a move that is hidden is none", "parse_revision", _what_is_hidden_is_nothing, _FAILURES),
    _history("wikipedia: only its own numbers show an import", "lowest_number", _with_new_numbers, _IMPORTED),
    _history("wikipedia: what became an article was one", "first_move", _in_the_articles, _FAILURES),
    _history("wikipedia: a page that was moved away is gone", "first_move", _stays, _WORLDS),
    _history("wikipedia: a stamp of long ago was entered then", "Numbers.is_imported", _always(False), _WORLDS),
    _history("wikipedia: only revisions after the PIT show an import", "Numbers.is_imported", _of_later, _WORLDS),
    _history("wikipedia: a list that begins in the middle shows no import", "following", _always([]), _RESUMED),
    _history("wikipedia: later moves show among a few revisions", "MOST_LATER", lambda real: 1, _FAILURES),
    _history("wikipedia: only a page that is there is asked for", "newest", _without_a_page, _PARTIAL),
    _history("wikipedia: an unreadable revision fails the fetch", "parse_revision", _strict, _WORLDS),
    _api("wikipedia: the error's text is echoed", "upstream_error", _echoed, _FAILURES),
    _wikitext("wikipedia: what is left out joins the figures beside it", "plain_text", _without_gaps, _FIGURES),
    _wikitext("wikipedia: of a template its values are shown alone", "plain_text", _values_alone, _FIGURES),
)
