"""Who may have claims served: the caller where nobody is bound, and the operator everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from pit_fetch.errors import UsageError
from pit_fetch.pipeline.claims import CLAIMED, PROVED
from pit_fetch.provider import Dating, Operation
from pit_fetch.request import evidence
from pit_fetch.request.evidence import VARIABLE
from tests.demo_source import PIT, PIT_TEXT, at_pit, demo, record
from tests.inprocess import Answer

SOURCE = demo(
    [record("proved"), record("edited", revised=-1)._replace(claimed_at=PIT - timedelta(minutes=2))],
    operations=(Operation(dating=Dating(claims="by its first stamp; the text may be later")),),
    aliases=("a_demo",),
)
REFUSED = "refused"

# Where a call is made.
CALLERS: Mapping[str, Mapping[str, str]] = {
    "nobody is bound": {},
    "an agent's client": {"CLAUDECODE": "1"},
    "wrapper-only": {"PIT_FETCH_WRAPPER_ONLY": "1"},
    "a ceiling": {"PIT_FETCH_CEILING": PIT_TEXT},
    "a ceiling in the user's file": {"": f'ceiling = "{PIT_TEXT}"\n'},
}
BOUND = tuple(CALLERS)[1:]

# What is said: the flag, the variable, the user's file, the project's file; the outcome where nobody is bound, and
# where somebody is.
_USERS = '[evidence]\ndemo = "claimed"'
_OTHERS = '[evidence]\nyahoo = "claimed"'
MEANS: Mapping[str, tuple[tuple[str, ...], str, str, str, str, str]] = {
    "nothing": ((), "", "", "", PROVED, PROVED),
    "the flag": (("--evidence", "claimed"), "", "", "", CLAIMED, REFUSED),
    "the flag, in one word": (("--evidence=claimed",), "", "", "", CLAIMED, REFUSED),
    "the flag, to narrow": (("--evidence", "proved"), "claimed", "", "", PROVED, PROVED),
    "the flag, as granted": (("--evidence", "claimed"), "claimed", "", "", CLAIMED, CLAIMED),
    "the flag, granted to others": (("--evidence", "claimed"), "yahoo=claimed", "", "", CLAIMED, REFUSED),
    "the flag, against the operator's word": (("--evidence", "claimed"), "proved", _USERS, "", CLAIMED, REFUSED),
    "the variable": ((), "claimed", "", "", CLAIMED, CLAIMED),
    "the variable, by source": ((), "yahoo=claimed, demo=claimed", "", "", CLAIMED, CLAIMED),
    "the variable, by an alias": ((), "A-Demo=claimed", "", "", CLAIMED, CLAIMED),
    "the variable, of others": ((), "yahoo=claimed", "", "", PROVED, PROVED),
    "the variable, but for this source": ((), "claimed,demo=proved", "", "", PROVED, PROVED),
    "the user's file, which an agent may have written": ((), "", _USERS, "", CLAIMED, PROVED),
    "the user's file, of others": ((), "", _OTHERS, "", PROVED, PROVED),
    "the variable before the user's file": ((), "yahoo=claimed", _USERS, "", PROVED, PROVED),
    "the project's file": ((), "", "", _USERS, REFUSED, REFUSED),
    "the project's file, to narrow": ((), "", "", '[evidence]\ndemo = "proved"', REFUSED, REFUSED),
    "the project's file, as granted": ((), "", _USERS, _USERS, REFUSED, REFUSED),
}


def ask(folder: Path, caller: str, words: tuple[str, ...], variable: str, users: str, projects: str) -> Answer:
    environ = dict(CALLERS[caller])
    text = environ.pop("", "") + users
    home, project = folder / "home", folder / "project"
    (home / ".config" / "pit_fetch").mkdir(parents=True)
    project.mkdir()
    for file, content in (
        (home / ".config" / "pit_fetch" / "config.toml", text),
        (project / "pit_fetch.toml", projects),
    ):
        if content:
            file.write_text(content)
    grant = {VARIABLE: variable} if variable else {}
    return at_pit(project, SOURCE, *words, env={"HOME": str(home), **environ, **grant})


def outcome(answer: Answer) -> str:
    if answer.status == 2:
        assert (answer.data, answer.gap_types) == ([], ["config"])
        return REFUSED
    assert answer.status == 0
    marks = {item["id"]: item.get("evidence") for item in answer.data}
    assert marks in ({"proved": None}, {"proved": None, "edited": "claimed"})
    return CLAIMED if len(marks) == 2 else PROVED


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("means", MEANS)
def test_who_may_widen_what(tmp_path: Path, caller: str, means: str) -> None:
    *given, unbound, bound = MEANS[means]
    answer = ask(tmp_path, caller, *given)  # type: ignore[arg-type]
    assert outcome(answer) == (bound if caller in BOUND else unbound)


@pytest.mark.parametrize("caller", CALLERS)
def test_python_is_held_to_the_same(caller: str) -> None:
    environ = dict(CALLERS[caller])
    if environ.pop("", ""):
        environ["PIT_FETCH_CEILING"] = PIT_TEXT
    if caller in BOUND:
        with pytest.raises(UsageError, match="operator's choice"):
            evidence.granted(SOURCE, CLAIMED, environ)
    else:
        assert evidence.granted(SOURCE, CLAIMED, environ) == CLAIMED
    assert evidence.granted(SOURCE, None, {**environ, VARIABLE: "claimed"}) == CLAIMED
    assert evidence.granted(SOURCE, PROVED, {**environ, VARIABLE: "claimed"}) == PROVED


@pytest.mark.parametrize(
    "text", ["yes", "Claimed", "demo", "demo=", "demo=1", "demo=claimed;x=claimed", "=", "claimed,x"]
)
def test_what_cannot_be_read_stops_the_call(tmp_path: Path, text: str) -> None:
    answer = at_pit(tmp_path, SOURCE, env={VARIABLE: text})
    assert (answer.status, answer.data, answer.gap_types) == (2, [], ["config"])
    assert "earningscall=claimed" in answer.complaint


@pytest.mark.parametrize("text", ['evidence = "claimed"', "[evidence]\ndemo = true", '[evidence]\ndemo = "x"',
                                  '[evidence]\n"a,b" = "claimed"', '[evidence.demo]\nx = "claimed"'])  # fmt: skip
def test_a_file_that_cannot_be_read_stops_the_call(tmp_path: Path, text: str) -> None:
    answer = ask(tmp_path, "nobody is bound", (), "", text, "")
    assert (answer.status, answer.data) == (2, [])
    assert "[evidence]" in answer.complaint


def test_the_request_says_its_grade_so_that_it_can_be_asked_again(tmp_path: Path) -> None:
    for number, (words, variable) in enumerate(((("--evidence", "claimed"), ""), ((), "claimed"))):
        answer = ask(tmp_path / str(number), "nobody is bound", words, variable, "", "")
        assert {gap["query"] for gap in answer.envelope["gaps"]} == {
            f"--source demo --evidence claimed --pit {PIT_TEXT}"
        }


def test_other_words_than_grades_are_refused(tmp_path: Path) -> None:
    answer = at_pit(tmp_path, SOURCE, "--evidence", "all")
    assert (answer.status, answer.data) == (2, [])
    assert "proved" in answer.complaint
