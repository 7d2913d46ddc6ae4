"""Leaks of normalize: a model's claim is believed, or a page is read as less than it states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pit_fetch.times import NEW_YORK, end_of_day, parse_http_date, parse_rfc3339, parse_wall_clock, start_of_day
from tests.laws.mutants.leak import Mutant, fails, first
from tests.laws.plant import Make

_HERE, _LAW = "pit_fetch.normalize", ("normalize: non-interference",)


def _believed(real: Any) -> Any:
    def date_claim(kind: Any, name: Any, claim: Any, stamps: Any) -> Any:
        from pit_fetch.normalize.stamps import PageDating

        moment = parse_rfc3339(claim) or parse_http_date(claim)
        return None if moment is None else PageDating(moment)

    return date_claim


def _of_the_place_alone(real: Any) -> Any:
    return lambda kind, name, claim, stamps: real(
        kind, name, claim, [stamp for stamp in stamps if (stamp.kind, stamp.name, stamp.text) == (kind, name, claim)]
    )


def _readable_alone(real: Any) -> Any:
    def date_claim(kind: Any, name: Any, claim: Any, stamps: Any) -> Any:
        from pit_fetch.normalize.stamps import moment_of

        return real(kind, name, claim, [stamp for stamp in stamps if moment_of(stamp.text) is not None])

    return date_claim


def _days(by: Callable[[Any], Any]) -> Make:
    return lambda real: lambda day: by(day)


def _naive_is_new_york(real: Any) -> Any:
    def date_claim(kind: Any, name: Any, claim: Any, stamps: Any) -> Any:
        from pit_fetch.normalize.stamps import PageDating

        moment = parse_wall_clock(claim, NEW_YORK)
        return PageDating(moment) if moment else real(kind, name, claim, stamps)

    return date_claim


def _any_name(real: Any) -> Any:
    return {**real, "meta": real["meta"] | {"event-date"}}


def _name_of_a_change(real: Any) -> Any:
    return {**real, "header": real["header"] | {"last-modified"}}


def _readable_words(real: Any) -> Any:
    def stamps_in(kind: Any, name: Any, text: Any) -> Any:
        from pit_fetch.normalize.stamps import moment_of

        return [stamp for stamp in real(kind, name, text) if stamp.kind != "text" or moment_of(stamp.text) is not None]

    return stamps_in


def _at_these_places(is_read: Callable[[str, str, str], bool]) -> Make:
    return lambda real: lambda kind, name, text: real(kind, name, text) if is_read(kind, name, text) else ()


def _where_a_claim_may_be(kind: str, name: str, text: str) -> bool:
    from pit_fetch.normalize.stamps import known

    return known(kind, name) is not None


def _is_no_number(kind: str, name: str, text: str) -> bool:
    return not text.strip().isdigit()


def _hiding_nothing(real: Any) -> Any:
    return lambda content: real(content.replace(b"<div hidden>", b"<div>"))


class _Any(frozenset[str]):
    def __contains__(self, address: object) -> bool:
        return True


def _of_any_address(real: Any) -> Any:
    return lambda content: (page := real(content)) and page._replace(addresses=_Any())


def _anywhere(real: Any) -> Any:
    def read(folder: Any, name: Any) -> Any:
        try:
            with open(f"{folder}/{name}", "rb") as file:
                return file.read()
        except OSError:
            return None

    return read


def _every_row(real: Any) -> Any:
    def read(body: bytes) -> Any:
        rows = [*real(body)]
        return fails() if None in rows else rows

    return read


def _without_its_capture(real: Any) -> Any:
    def capture_of(content: Any, address: Any) -> Any:
        page = real(content, address)
        return page and page._replace(stamps=tuple(stamp for stamp in page.stamps if stamp.kind != "capture"))

    return capture_of


MUTANTS = (
    Mutant("normalize: what a model says is believed", f"{_HERE}.stamps:date_claim", _believed, _LAW),
    Mutant("normalize: only the named place counts", f"{_HERE}.stamps:date_claim", _of_the_place_alone, _LAW),
    Mutant("normalize: an unreadable time is none", f"{_HERE}.stamps:date_claim", _readable_alone, _LAW),
    Mutant(
        "normalize: a day begins at its midnight",
        "pit_fetch.times:end_of_day_anywhere",
        _days(lambda day: start_of_day(day, NEW_YORK)),
        _LAW,
    ),
    Mutant(
        "normalize: a day ends in New York",
        "pit_fetch.times:end_of_day_anywhere",
        _days(lambda day: end_of_day(day, NEW_YORK)),
        ("perplexity: non-interference", *_LAW),
    ),
    Mutant("normalize: a time without an offset is New York's", f"{_HERE}.stamps:date_claim", _naive_is_new_york, _LAW),
    Mutant("normalize: a date of any name is a publication", f"{_HERE}.stamps:NAMES", _any_name, _LAW),
    Mutant(
        "normalize: only where a claim may be, a change is read",
        f"{_HERE}.stamps:stamps_in",
        _at_these_places(_where_a_claim_may_be),
        _LAW,
    ),
    *(
        Mutant(
            f"normalize: a change is not read in {what}",
            f"{_HERE}.stamps:stamps_in",
            _at_these_places(lambda kind, name, text, left_out=kind: kind != left_out),  # type: ignore[misc]
            _LAW,
        )
        for what, kind in (
            ("time elements", "time"),
            ("attributes", "attribute"),
            ("scripts", "script"),
            ("JSON-LD", "json-ld"),
            ("comments", "comment"),
            ("texts that their elements name", "element"),
            ("words", "text"),
        )
    ),
    Mutant(
        "normalize: a time that is no text is none", f"{_HERE}.stamps:stamps_in", _at_these_places(_is_no_number), _LAW
    ),
    Mutant(
        "normalize: what looks alike is not read alike",
        f"{_HERE}.stamps:stamps_in",
        _at_these_places(lambda kind, name, text: text.isascii()),
        _LAW,
    ),
    Mutant("normalize: a change dates an item alone", f"{_HERE}.stamps:NAMES", _name_of_a_change, _LAW),
    Mutant("normalize: a word of a change without a time is none", f"{_HERE}.stamps:stamps_in", _readable_words, _LAW),
    Mutant("normalize: what a page hides is quoted", f"{_HERE}.saved:page_of", _hiding_nothing, _LAW),
    Mutant("normalize: a capture is no change of its page", f"{_HERE}.saved:capture_of", _without_its_capture, _LAW),
    Mutant("normalize: a page is of any address", f"{_HERE}.saved:page_of", _of_any_address, _LAW),
    Mutant(
        "normalize: what the page does not say is kept",
        f"{_HERE}.items:keep_quoted",
        lambda real: lambda payload, said: dict(payload),
        _LAW,
    ),
    Mutant("normalize: a page may lie outside the folder", f"{_HERE}:read_page", _anywhere, _LAW),
    Mutant("normalize: an unreadable item fails all", f"{_HERE}.items:parse_items", _every_row, _LAW),
    Mutant("normalize: a minute begins with its first second", f"{_HERE}.stamps:end_of_minute", first, _LAW),
)
