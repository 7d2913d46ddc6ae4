"""``pit_fetch completion bash|zsh``: a script for the shell, with every command, source, operation and option in it.

The script holds the words as they are today, so that no key waits for the program to start. Make it again
after installing a source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from pit_fetch.cli import command
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.cli.commands import COMMANDS, normalize
from pit_fetch.cli.commands.archive import COMMANDS as ARCHIVE
from pit_fetch.cli.parser import COMMON_FLAGS, build_parser
from pit_fetch.engine import registry
from pit_fetch.formats import NAMES as FORMATS
from pit_fetch.normalize import PROVIDER as NORMALIZE
from pit_fetch.request.operations import OPTION
from pit_fetch.request.options import COMMON_OPTIONS
from pit_fetch.request.values import flag_of

_HELP = """\
bash: eval "$(pit_fetch completion bash)" in ~/.bashrc
zsh:  eval "$(pit_fetch completion zsh)" in ~/.zshrc, after compinit
"""

# $1 of a completion function is the program, $2 the word so far, $3 the one before it; as in zsh's bashcompinit.
# To bash, the "=" of --source=NAME is a word of its own; to zsh it is not.
_SCRIPT = """\
_pit_fetch_values() {{
    case "$1 $2" in
{values}
    esac
}}
_pit_fetch_words() {{
    case "$1" in
{sources}
    esac
}}
_pit_fetch_flags() {{
    case "$1" in
{commands_flags}
    *) return 1 ;;
    esac
}}
_pit_fetch() {{
    local word=$2 before=$3 source= lead= place
    COMPREPLY=()
    for ((place = 1; place < COMP_CWORD; place++)); do
        case "${{COMP_WORDS[place]}}" in
        --source=*) source=${{COMP_WORDS[place]#--source=}} ;;
        --source)
            source=${{COMP_WORDS[place + 1]}}
            [[ $source == "=" ]] && source=${{COMP_WORDS[place + 2]}} ;;
        esac
    done
    if [[ $word == "=" ]]; then
        word=
    elif [[ $before == "=" ]]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    elif [[ $word == --*=* ]]; then
        before=${{word%%=*}} lead=${{word%%=*}}= word=${{word#*=}}
    fi
    local offered=$(_pit_fetch_values "$source" "$before")
    if [[ -z $offered ]]; then
        case "$before" in
        {files}) COMPREPLY=($(compgen -f -- "$word")); return ;;
        {free}) return ;;
        esac
        if ((COMP_CWORD == 1)); then
            offered="{commands} {flags}"
        elif ! offered=$(_pit_fetch_flags "${{COMP_WORDS[1]}}"); then
            offered="{flags} $(_pit_fetch_words "$source")"
        fi
        case "${{COMP_WORDS[1]}}" in
        {works}) ((COMP_CWORD > 1)) && offered="$offered $(compgen -f -- "$word")" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$offered" -- "$word"))
    [[ -n $lead ]] && COMPREPLY=("${{COMPREPLY[@]/#/$lead}}")
    return 0
}}
complete -F _pit_fetch pit_fetch
"""
_FILE_FLAGS = ("--input-file", "--output", "--archive", "--pages", "--pit-file", "--tools")
# A shell would run what it does not read as a plain word, so that nothing else is offered.
_WORD = re.compile(r"[\w.,:/@%+-]+")


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> CommandResult:
    """Print the script for one shell."""
    parser = Parser("completion", "Print a script that completes pit_fetch's commands, sources and options.")
    parser.add_argument("shell", choices=("bash", "zsh"), nargs="?", help="the shell that reads the script")
    parser.epilog = _HELP.replace("\n", "; ").rstrip("; ")
    arguments = parser.parse_args(list(argv))
    if arguments.shell is None:
        parser.error("say which shell: pit_fetch completion bash, or pit_fetch completion zsh")
    before = "autoload -U +X bashcompinit && bashcompinit\n" if arguments.shell == "zsh" else ""
    return CommandResult(before + _script())


def _script() -> str:
    providers = [listing.provider for listing in registry.listings() if listing.provider]
    names = [name for provider in providers for name in (provider.name, *provider.aliases)]
    options = [*COMMON_OPTIONS, *(option for provider in providers for option in provider.all_options)]
    free = dict.fromkeys(flag_of(option.name) for option in options if option.kind != "flag")
    values, words = [*_row("*' --source'", names), *_row("*' --format'", FORMATS)], list[str]()
    for provider in providers:
        own_names = (provider.name, *provider.aliases)
        operations = [operation.name for operation in provider.operations]
        for option in provider.all_options:
            choices = option.choices or (operations if option.name == OPTION else ())
            values += _row("|".join(f"'{name} {flag_of(option.name)}'" for name in own_names), choices)
        flags = [flag_of(option.name) for option in provider.all_options]
        # An operation can be a bare word.
        words += _row("|".join(own_names), [*flags, *(operations if flag_of(OPTION) in flags else ())])
    return _SCRIPT.format(
        values="\n".join(values),
        sources="\n".join(words),
        commands_flags="\n".join(
            row for name in (*COMMANDS, "help") for row in _row(name, _command_words(name, names))
        ),
        files="|".join(_FILE_FLAGS),
        works="|".join(name for name in COMMANDS if COMMANDS[name].kind == "archive"),
        free="|".join(flag for flag in free if flag not in _FILE_FLAGS),
        flags=" ".join(COMMON_FLAGS),
        commands=" ".join((*COMMANDS, "help")),
    )


def _row(pattern: str, words: Iterable[str]) -> Iterator[str]:
    offered = " ".join(word for word in words if _WORD.fullmatch(word))
    if offered:
        yield f"    {pattern}) echo {quote(offered)} ;;"


def _command_words(name: str, sources: Sequence[str]) -> list[str]:
    """Return the words that a command takes, by its own help; none for one that takes a fetch's options."""
    if name == "help":
        return [*sources, *COMMANDS]
    if COMMANDS[name].kind == "fetch" and name != normalize.FORM.name:
        return []
    words = {"sources": sources, "completion": ("bash", "zsh"), "archive": tuple(ARCHIVE)}.get(name, ())
    flags = (flag for text in _help_texts(name) for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    return [*words, *dict.fromkeys(flags)]


def _help_texts(name: str) -> Iterator[str]:
    """Yield the help of a command, and of the commands within it."""
    if name == normalize.FORM.name:
        yield build_parser(NORMALIZE, normalize.FORM).format_help()
        return
    surroundings: tuple[Any, ...] = (None,) if COMMANDS[name].kind == "server" else ({}, "")
    for words in ([], *([each] for each in ARCHIVE if name == "archive")):
        yield command.run([name, *words, "--help"], *surroundings).text
