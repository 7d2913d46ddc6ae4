"""Settings files: which one is stronger, and the settings that a file may not have."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from pit_fetch.cli import command
from pit_fetch.engine import settings_files, trusted_files
from pit_fetch.errors import UsageError
from tests.conftest import Foreign
from tests.demo_source import PIT, PIT_TEXT, ask, at_pit, demo, record
from tests.inprocess import Answer
from tests.providers.bz_news_api import server as benzinga

ROWS = [record(f"{n:02}", n, title="x" * 500) for n in range(20)]
LATER = "2024-03-01T16:00:00-05:00"
EARLIER = "2024-02-15T15:50:00-05:00"


class Place:
    """A home, a project beside it, and fetches from a folder inside the project."""

    def __init__(self, folder: Path) -> None:
        self.users = folder / "home" / ".config" / "pit_fetch" / "config.toml"
        self.project = folder / "project" / "pit_fetch.toml"
        self.inside = folder / "project" / "a" / "b"
        self.users.parent.mkdir(parents=True)
        self.inside.mkdir(parents=True)
        self.environ = {"HOME": str(folder / "home")}

    def ask(self, *words: str, **environ: str) -> Answer:
        return at_pit(self.inside, demo(ROWS), *words, env={**self.environ, **environ})

    def read(self, **environ: str) -> settings_files.Settings:
        return settings_files.read_settings({**self.environ, **environ}, str(self.inside))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_command_line_is_stronger_than_the_project_and_that_than_the_user(place: Place) -> None:
    place.users.write_text("limit = 7\nmax_pages = 3")
    assert len(place.ask().data) == 7
    place.project.write_text("limit = 5")
    assert len(place.ask().data) == 5
    assert len(place.ask("--limit", "2").data) == 2
    assert "--limit 5 --max-pages 3" in place.ask().envelope["gaps"][0]["query"]
    # The nearest project counts. Some editors write a byte order mark.
    (place.inside / "pit_fetch.toml").write_bytes(b"\xef\xbb\xbflimit = 4\r\n")
    assert len(place.ask().data) == 4


def test_the_environment_is_stronger_than_a_file(place: Place) -> None:
    place.users.write_text('max_chars = 5000\naudit = "/nowhere/at/all"\n[rate]\n"api.example.com" = "5/1"')
    settings = place.read(PIT_FETCH_MAX_CHARS="9000", PIT_FETCH_AUDIT="", PIT_FETCH_RATE_API_EXAMPLE_COM="7/1")
    assert settings.options == {}
    assert (settings.environ["PIT_FETCH_AUDIT"], settings.environ["PIT_FETCH_RATE_API_EXAMPLE_COM"]) == ("", "7/1")
    environ = place.read().environ
    assert (environ["PIT_FETCH_AUDIT"], environ["PIT_FETCH_RATE_API_EXAMPLE_COM"]) == ("/nowhere/at/all", "5/1")


@pytest.mark.parametrize(
    ("users", "projects", "variable", "counts"),
    [
        (None, None, None, None),
        (EARLIER, None, None, EARLIER),
        (None, EARLIER, None, EARLIER),
        (LATER, EARLIER, None, EARLIER),
        (EARLIER, LATER, None, EARLIER),
        (EARLIER, None, LATER, EARLIER),
        (LATER, LATER, EARLIER, EARLIER),
        (EARLIER, None, "unreadable", "unreadable"),
    ],
)
def test_a_ceiling_is_only_ever_lowered(
    place: Place, users: str | None, projects: str | None, variable: str | None, counts: str | None
) -> None:
    for file, text in ((place.users, users), (place.project, projects)):
        if text:
            file.write_text(f'ceiling = "{text}"')
    environ = {"PIT_FETCH_CEILING": variable} if variable else {}
    assert place.read(**environ).environ.get("PIT_FETCH_CEILING") == counts
    left = place.ask(**environ)
    assert left.code == (2 if counts else 0)
    assert counts != EARLIER or "a settings file" in left.err, "the variable may not be to blame"


def test_a_misspelt_restriction_is_refused_and_another_variable_is_named(place: Place) -> None:
    """A slip that went unnoticed would be no ceiling at all."""
    for name, meant in (
        ("PIT_FETCH_CELING", "PIT_FETCH_CEILING"),
        ("PIT_FETCH_WRAPPERS_ONLY", "PIT_FETCH_WRAPPER_ONLY"),
    ):
        left = place.ask(**{name: EARLIER})
        assert (left.code, left.data, [gap["type"] for gap in left.envelope["gaps"]]) == (2, [], ["config"])
        assert left.err == f"pit_fetch: {name} is not a variable of pit_fetch: write {meant}, or unset it.\n"
    left = place.ask(PIT_FETCH_ARCHVE="a.db", PIT_FETCH_CEILING_URL="http://127.0.0.1")
    assert (left.code, len(left.data)) == (0, 20)
    assert left.err == "pit_fetch: PIT_FETCH_ARCHVE is not a variable of pit_fetch: write PIT_FETCH_ARCHIVE\n"
    assert place.ask(PIT_FETCH_ARCHVE="a.db", CLAUDECODE="1").err == ""


BROKEN: Mapping[str, str] = {
    "limit = \nmax_pages = 1": "is not TOML (line 1)",
    f"limit = {'9' * 5000}": "is not TOML",
    "limit = 0": "--limit is a whole number",
    "limit = [1]": "limit takes a whole number",
    "limt = 7": "(did you mean limit?)",
    "pit = '2024-01-01T00:00:00Z'": "is not a setting",
    "source = 'demo'": "is not a setting",
    "api_key = 'SECRETSECRET'": "keys belong in the environment",
    "ceiling = '2024-02-15'": "a ceiling that is not an instant",
    "ceiling = 5": "a ceiling that is not an instant",
    "rate = '5/1'": "a rate that is not a table",
    "[rate]\n'api.example.com' = '5'": "cannot be used",
    "[rate]\n'api.example.com' = 5": "cannot be used",
    "[rate]\n'' = '5/1'": "cannot be used",
}


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("which", ["users", "project"])
def test_a_broken_file_is_a_gap_that_names_it_and_no_data(place: Place, text: str, which: str) -> None:
    file: Path = getattr(place, which)
    file.write_text(text)
    left = place.ask()
    assert (left.data, left.gap_types) == ([], ["config"])
    assert str(file) in left.err
    assert BROKEN[text] in left.err
    assert "SECRETSECRET" not in left.out + left.err
    assert ask(place.inside, demo(ROWS), "--help", env=place.environ).code == 0


@pytest.mark.parametrize("text", ["archive = '/tmp/x'", "audit = '/tmp/x'", "hosts = {}", "[url]\nx = 'https://x'"])
def test_a_project_s_file_never_names_an_archive_an_audit_file_or_a_host(place: Place, text: str) -> None:
    place.project.write_text(text)
    left = place.ask()
    assert (left.data, left.gap_types) == ([], ["config"])


SPOILT: Mapping[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "a broken link": lambda file: file.symlink_to("nowhere"),
    "a large file": lambda file: file.write_bytes(b"#" * 1_000_001),
    "deep nesting": lambda file: file.write_text("limit = " + "[" * 100_000),
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("kind", SPOILT)
@pytest.mark.parametrize("which", ["users", "project"])
def test_what_is_not_a_file_of_settings_stops_the_call_at_once(place: Place, kind: str, which: str) -> None:
    SPOILT[kind](getattr(place, which))
    left = place.ask()
    assert (left.data, left.gap_types) == ([], ["config"])
    assert str(getattr(place, which)) in left.err


@pytest.mark.parametrize("which", ["users", "project"])
def test_another_user_s_file_stops_the_call_and_is_named(place: Place, which: str, foreign: Foreign) -> None:
    """To pass it over could be to pass over a ceiling."""
    file = getattr(place, which)
    file.write_text("limit = 1")
    foreign(file)
    left = place.ask()
    assert (left.code, left.data, left.gap_types) == (2, [], ["config"])
    assert f"{file} is not followed, since it belongs to another user" in left.err


@pytest.mark.parametrize(("owner", "me", "is_followed"), [(7, 7, True), (0, 7, True), (7, 8, False), (7, 0, False)])
def test_a_file_is_followed_for_its_owner_and_if_root_s_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, me: int, is_followed: bool
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    monkeypatch.setattr(os, "geteuid", lambda: me)
    status = os.stat_result((*path.stat()[:4], owner, *path.stat()[5:]))
    monkeypatch.setattr(os, "fstat", lambda handle: status)
    monkeypatch.setattr(os, "lstat", lambda path: status)
    if is_followed:
        assert trusted_files.read_trusted(str(path)) == b"x"
    else:
        with pytest.raises(trusted_files.UntrustedFile, match=f"uid {owner}"):
            trusted_files.read_trusted(str(path))


def test_settings_for_people_do_not_count_for_agents(place: Place) -> None:
    place.users.write_text('format = "csv"\nverbose = true\nfail = true\ntimeout = 5\npretty = true')
    place.project.write_text("timeout = 0.001\nmax_chars = 0")
    assert place.read().options.keys() == {"format", "verbose", "fail", "timeout", "pretty", "max_chars"}
    assert place.read(CLAUDECODE="1").options == {"max_chars": 28_000}
    assert place.ask(CLAUDECODE="1").envelope["data"]
    assert place.read(PIT_FETCH_WRAPPER_ONLY="1").options == {"max_chars": 0}


# The commands.


def shown(place: Place, *words: str, **environ: str) -> Any:
    answer = command.run(words, {**place.environ, **environ}, str(place.inside))
    assert answer.status == 0
    return json.loads(answer.text) if "--json" in words else answer.text


def test_config_shows_each_value_and_its_origin_but_no_key(place: Place) -> None:
    place.users.write_text(
        'limit = 7\narchive = "~/a.sqlite"\n[rate]\n"api.benzinga.com" = "75/60"\n"a.example" = "5/1"'
    )
    place.project.write_text(f'max_chars = 15000\nceiling = "{LATER}"')
    environ = {"BENZINGA_API_KEY": "SECRETSECRET", "PIT_FETCH_AUDIT": "/tmp/audit"}
    rows = {row["name"]: (row["value"], row["from"]) for row in shown(place, "config", "--json", **environ)}
    assert rows["limit"] == (7, str(place.users))
    assert rows["max_chars"] == (15000, str(place.project))
    assert rows["ceiling"] == (LATER, str(place.project))
    assert rows["audit"] == ("/tmp/audit", "environment PIT_FETCH_AUDIT")
    assert rows["rate api.benzinga.com"] == ("75/60", str(place.users))
    assert rows["rate www.alphavantage.co"] == ("1/1", "default")
    assert rows["PIT_FETCH_RATE_A_EXAMPLE"] == ("5/1", f"{place.users}, for no host of an installed source")
    assert rows["timeout"] == (60.0, "default")
    assert rows["key BENZINGANEWS_API_KEY or BENZINGA_API_KEY"] == ("set", "environment BENZINGA_API_KEY")
    assert "SECRETSECRET" not in shown(place, "config", **environ)
    place.users.write_text("limit =")
    with pytest.raises(UsageError, match=r"config\.toml is not TOML"):
        shown(place, "config")


def test_sources_describes_operations_rules_and_fields(place: Place) -> None:
    text = shown(place, "sources", "av")
    assert "TIME_SERIES_DAILY\n  dated    20:00 New York of its day\n" in text
    assert "volume (integer)" in text
    assert shown(place, "sources", "av", "--json")["name"] == "alphavantage"
    assert len(shown(place, "sources", "--json")) == len(shown(place, "sources").splitlines()) // 2
    with pytest.raises(UsageError, match="did you mean benzinga"):
        command.run(["sources", "benzing"], {}, str(place.inside))


COMPLETIONS = {
    "co": ("config", "completion"),
    "--source be": ("benzinga", "benzinga-news"),
    "--source av TIME_SERIES_D": ("TIME_SERIES_DAILY", "TIME_SERIES_DAILY_ADJUSTED"),
    "--source benzinga --ti": ("--timeout", "--tickers"),
    "--format p": ("parquet",),
    "normalize --pag": ("--pages",),
    "sources al": ("alphavantage", "alpha-vantage", "alfred", "alpaca_news"),
    "arch": ("archive",),
    "archive re": ("replay", "rebuild", "repair"),
    "archive drop --be": ("--before",),
    "capture --mis": ("--missing",),
    "capture pit_fetch.to": ("pit_fetch.toml",),
    "--source=al": ("alphavantage", "alpha-vantage", "alfred", "alpaca_news"),
    "--source=av --op TIME_SERIES_D": ("TIME_SERIES_DAILY", "TIME_SERIES_DAILY_ADJUSTED"),
    "--source av --op=TIME_SERIES_D": ("TIME_SERIES_DAILY", "TIME_SERIES_DAILY_ADJUSTED"),
    "--source pplx --op s": ("search",),
    "--source benzinga --op s": (),
    "--limit -": (),
    "completion z": ("zsh",),
    "config --": ("--help", "--json"),
    "init --d": ("--deny", "--dry-run"),
    "diff --source benzinga --ti": ("--timeout", "--tickers"),
    "--archive pit_f": ("pit_fetch.toml",),
    "--source $(touch x) --ti": ("--timeout",),
}


# How each shell is told what was typed so far; zsh completes as sh does (_bash_complete of its bashcompinit).
SHELLS = {
    "bash": ("bash", "", ""),
    "zsh": ("zsh -f", "autoload -Uz compinit; compinit -u -D", "emulate -L sh; setopt kshglob noshglob braceexpand"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(place: Place, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    program, begun, as_sh = SHELLS[shell]
    # As the shell hands them over: to bash, "=" is a word of its own.
    typed = {text: (text.replace("=", " = ") if shell == "bash" else text).split() for text in COMPLETIONS}
    lines = [begun, shown(place, "completion", shell)]
    for words in typed.values():
        last, before = words[-1], ["pit_fetch", *words][-2]
        lines += [
            f"t() {{ {as_sh or ':'}; COMP_WORDS=({' '.join(map(quote, ['pit_fetch', *words]))}); COMPREPLY=()",
            f"COMP_CWORD={len(words)}; _pit_fetch pit_fetch {quote(last)} {quote(before)}",
            'echo "${COMPREPLY[@]}"; }; t',
        ]
    (place.project.parent / "pit_fetch.toml").touch()
    ran = subprocess.run(
        [*program.split(), "-c", "\n".join(lines)], capture_output=True, text=True, cwd=place.project.parent
    )
    assert ran.stderr == ""
    for (text, words), line in zip(typed.items(), ran.stdout.splitlines(), strict=True):
        offered = [word for word in line.split() if word.startswith(words[-1])]  # zsh itself narrows what is offered
        assert {word.partition("=")[2] or word for word in offered} == set(COMPLETIONS[text]), text
    assert not (place.project.parent / "x").exists()


def test_python_takes_its_defaults_from_the_files_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    import pit_fetch

    place.users.write_text("limit = 1")
    articles = [benzinga.article(number, PIT - timedelta(hours=number)) for number in (1, 2)]
    (place.inside / "reply.json").write_text(json.dumps(articles))
    monkeypatch.chdir(place.inside)
    monkeypatch.setenv("HOME", place.environ["HOME"])
    monkeypatch.delenv("PIT_FETCH_CEILING", raising=False)
    assert len(pit_fetch.fetch("benzinga", PIT_TEXT, input_file="reply.json").data) == 1
    assert len(pit_fetch.fetch("benzinga", PIT_TEXT, input_file="reply.json", limit=2).data) == 2
    assert len(pit_fetch.fetch("benzinga", PIT_TEXT, input_file="reply.json", limit=None).data) == 2
