"""``pit_fetch completion bash|zsh``: a script for the shell, with every command, source, operation and option in it.

A shell that asked the program at each key would wait for it to start; so the script holds the words
as they are today. Make it again after installing a source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

from pit_fetch import registry
from pit_fetch.coercion import flag_of
from pit_fetch.commands import Answer, Parser
from pit_fetch.operations import OPTION
from pit_fetch.options import COMMON_FLAGS, COMMON_OPTIONS
from pit_fetch.provider import Option, Provider

_HELP = """\
bash: eval "$(pit_fetch completion bash)" in ~/.bashrc
zsh:  eval "$(pit_fetch completion zsh)" in ~/.zshrc, behind compinit
"""

# $1 of a completion function is the program, $2 the word so far, $3 the one before it; as in zsh's bashcompinit.
_SCRIPT = """\
_pit_fetch_values() {{
    case "$1" in
{values}
    esac
}}
_pit_fetch_words() {{
    case "$1" in
{sources}
    esac
}}
_pit_fetch() {{
    local word=$2 before=$3 source= place
    for ((place = 1; place < COMP_CWORD; place++)); do
        [[ ${{COMP_WORDS[place]}} == --source ]] && source=${{COMP_WORDS[place + 1]}}
    done
    [[ ${{COMP_WORDS[1]}} == {normalize} ]] && source={normalize}
    local offered=$(_pit_fetch_values "$before")
    if [[ -z $offered ]]; then
        case "$before" in {files}) COMPREPLY=($(compgen -f -- "$word")); return ;; esac
        offered="{flags} $(_pit_fetch_words "$source")"
        ((COMP_CWORD == 1)) && offered="{commands} $offered"
        [[ ${{COMP_WORDS[1]}} == help || ${{COMP_WORDS[1]}} == sources ]] && offered="{names} {commands}"
        case "${{COMP_WORDS[1]}}" in
            archive) offered="{archive_flags} $(compgen -f -- "$word")"; ((COMP_CWORD == 2)) && offered="{archive}" ;;
            capture) offered="{capture_flags} $(compgen -f -- "$word")" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$offered" -- "$word"))
}}
complete -F _pit_fetch pit_fetch
"""
_FILE_FLAGS = ("--input-file", "--output", "--archive", "--pages")
CAPTURE_FLAGS = "--missing --again --dry-run --quiet --archive --json --help"
ARCHIVE_FLAGS = "--source --limit --before --dry-run --no-compare --archive --json --help"


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str) -> Answer:
    """The answer of the command."""
    parser = Parser("completion", "Print a script that completes pit_fetch's commands, sources and options.")
    parser.add_argument("shell", choices=("bash", "zsh"), nargs="?", help="the shell that reads the script")
    parser.epilog = _HELP.replace("\n", "; ").rstrip("; ")
    given = parser.parse_args(list(argv))
    if given.help:
        return Answer(parser.format_help())
    if given.shell is None:
        parser.error("say which shell: pit_fetch completion bash, or pit_fetch completion zsh")
    before = "autoload -U +X bashcompinit && bashcompinit\n" if given.shell == "zsh" else ""
    return Answer(before + _script())


def _script() -> str:
    from pit_fetch.cli import COMMANDS
    from pit_fetch.commands.archive import COMMANDS as ARCHIVE
    from pit_fetch.normalize import PROVIDER as NORMALIZE

    providers = [listing.provider for listing in registry.listings() if listing.provider]
    names = [name for one in providers for name in (one.name, *one.aliases)]
    choices = dict(_choices(COMMON_OPTIONS)) | {"--source": names}
    for one in providers:
        for flag, words in _choices(one.options):
            choices[flag] = sorted({*choices.get(flag, ()), *words})
    return _SCRIPT.format(
        values="\n".join(f"    {flag}) echo {quote(' '.join(words))} ;;" for flag, words in choices.items()),
        sources="\n".join(
            f"    {'|'.join((one.name, *one.aliases))}) echo {quote(_own(one))} ;;" for one in [*providers, NORMALIZE]
        ),
        normalize=NORMALIZE.name,
        files="|".join(_FILE_FLAGS),
        flags=" ".join(COMMON_FLAGS),
        commands=" ".join((*COMMANDS, "help")),
        archive=" ".join(ARCHIVE),
        archive_flags=ARCHIVE_FLAGS,
        capture_flags=CAPTURE_FLAGS,
        names=" ".join(names),
    )


def _choices(options: Sequence[Option]) -> Iterator[tuple[str, Sequence[str]]]:
    for option in options:
        if option.choices:
            yield flag_of(option.name), option.choices


def _own(provider: Provider) -> str:
    """The options of a source, and its operations, which can be bare words."""
    has_choice = any(option.name == OPTION for option in provider.options)
    operations = [one.name for one in provider.operations if has_choice]
    return " ".join((*map(flag_of, (option.name for option in provider.options)), *operations))
