"""The registry of providers: the bundled ones by a literal table, others by the entry-point group.

Only the chosen provider is imported. A plugin that claims a bundled name is refused, two plugins
that claim the same name are both refused, and a plugin that cannot be loaded fails alone, by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from pit_fetch import provider as author_api
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.provider import API_VERSION, Provider
from pit_fetch.support import bundled

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "pit_fetch.providers"
CHANGES = "docs/provider-api-4.md"

_BUNDLED: dict[tuple[str, ...], str] = {
    ("bz-news-api", "benzinga", "benzinga-news"): "pit_fetch_providers.bz_news_api:PROVIDER",
    ("alphavantage", "alpha-vantage", "av"): "pit_fetch_providers.alphavantage:PROVIDER",
    ("sec_full_text",): "pit_fetch_providers.sec_full_text:PROVIDER",
    ("sec_facts", "xbrl"): "pit_fetch_providers.sec_facts:PROVIDER",
    ("sec_filings",): "pit_fetch_providers.sec_filings:PROVIDER",
    ("fred", "alfred"): "pit_fetch_providers.fred:PROVIDER",
    ("perplexity", "pplx"): "pit_fetch_providers.perplexity:PROVIDER",
    ("earningscall", "earnings-call", "ecall"): "pit_fetch_providers.earningscall:PROVIDER",
    ("yahoo", "yahoo-finance", "yfinance"): "pit_fetch_providers.yahoo:PROVIDER",
    ("wayback", "wayback-machine", "internet-archive"): "pit_fetch_providers.wayback:PROVIDER",
    ("wikipedia", "wiki"): "pit_fetch_providers.wikipedia:PROVIDER",
    ("alpaca_news",): "pit_fetch_providers.alpaca_news:PROVIDER",
    ("tiingo_news",): "pit_fetch_providers.tiingo_news:PROVIDER",
    ("hackernews", "hacker-news", "hn"): "pit_fetch_providers.hackernews:PROVIDER",
    ("finnhub",): "pit_fetch_providers.finnhub:PROVIDER",
    ("gdelt",): "pit_fetch_providers.gdelt:PROVIDER",
    ("arxiv",): "pit_fetch_providers.arxiv:PROVIDER",
    ("federal_register", "fr"): "pit_fetch_providers.federal_register:PROVIDER",
    ("index_members",): "pit_fetch_providers.index_members:PROVIDER",
    ("official",): "pit_fetch_providers.official:PROVIDER",
}
BUNDLED_NAMES = tuple(names[0] for names in _BUNDLED)


class Listing(NamedTuple):
    """One row of ``--list-sources``: a provider, or the reason why it cannot be used."""

    name: str
    provider: Provider | None
    problem: str = ""


def load(source: str) -> Provider:
    """Return the provider that ``source`` names. Raise UsageError if there is none, or if it cannot be used."""
    target = _bundled_target(source)
    if target is not None:  # before any plugin: a bundled name cannot be taken, and reading metadata takes time
        return _import_bundled(target)
    claims = [entry for entry in _entry_points() if _key(entry.name) == _key(source)]
    if not claims:
        from pit_fetch.courtesy.names import closest
        from pit_fetch.support.wording import truncate

        named = next((each for each in _plugins() if _key(source) in map(_key, each.aliases)), None)
        if named is not None:
            return named
        names = source_names()
        known = ", ".join(names)
        close = closest(source, names, search_terms()) or closest(source, [*known_names(), *names])
        hint = f" (did you mean {close}?)" if close else " (a call has one source)" if "," in source else ""
        raise UsageError(Code.USAGE, text=f"--source {truncate(source)!r} is not known{hint}. Known sources: {known}.")
    listing = _examine(claims)
    if listing.provider is None:
        raise UsageError(Code.USAGE, text=f"--source {source}: {listing.problem}")
    return listing.provider


def listings() -> Iterator[Listing]:
    """Yield every source, the bundled ones first. Imports all of them; a broken one is a row with a problem."""
    for names, target in _BUNDLED.items():
        yield Listing(names[0], _import_bundled(target))
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in _entry_points():
        by_name.setdefault(_key(entry.name), []).append(entry)
    for _, claims in sorted(by_name.items()):
        yield _examine(claims)


def source_names() -> list[str]:
    """Return the names of all sources, the bundled ones first. Imports none of them."""
    return [*BUNDLED_NAMES, *sorted({entry.name for entry in _entry_points()})]


def known_names() -> list[str]:
    """Return the names of the bundled sources, followed by their aliases."""
    return [*BUNDLED_NAMES, *(alias for names in _BUNDLED for alias in names[1:])]


def search_terms() -> dict[str, str]:
    """Return other words for each source, by its name. Imports all of them."""
    return {listing.name: listing.provider.listing.search_terms for listing in listings() if listing.provider}


def is_bundled(name: str) -> bool:
    """Return whether ``name`` is the name or an alias of a bundled source."""
    return _bundled_target(name) is not None


def _key(name: str) -> str:
    return name.casefold().replace("_", "-")


def _bundled_target(source: str) -> str | None:
    return next((target for names, target in _BUNDLED.items() if _key(source) in map(_key, names)), None)


def _import_bundled(target: str) -> Provider:
    module, _, attribute = target.partition(":")
    bundled.load(module.partition(".")[0])
    provider: Provider = getattr(import_module(module), attribute)
    return provider


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    ours = set(_BUNDLED.values())  # packages of earlier versions, and an editable install of one, have entry points
    return [entry for entry in entry_points(group=GROUP) if entry.value not in ours]


def _plugins() -> Iterator[Provider]:
    return (listing.provider for listing in listings() if listing.provider and not is_bundled(listing.name))


def _examine(claims: list[EntryPoint]) -> Listing:
    entry = claims[0]
    if len(claims) > 1:
        packages = ", ".join(sorted(_package(claim) for claim in claims))
        return Listing(entry.name, None, f"claimed by several packages ({packages}): uninstall all but one")
    if _bundled_target(entry.name) is not None:
        return Listing(entry.name, None, f"{_package(entry)} claims the name of a bundled source: refused")
    try:
        provider = entry.load()
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything on import, even SystemExit
        problem = f"cannot be loaded ({type(error).__name__}){_advice(error)}"
        return Listing(entry.name, None, f"{_package(entry)} {problem}")
    problem = _problem_with(provider, entry)
    return Listing(entry.name, None, f"{_package(entry)} {problem}") if problem else Listing(entry.name, provider)


def _advice(error: BaseException) -> str:
    """Return a note about a plugin that is made for another version of the provider API, else ""."""
    class_name, _, rest = str(error).partition(".__new__() got an unexpected keyword")
    is_renamed = isinstance(error, TypeError) and bool(rest) and class_name in author_api.__all__
    if is_renamed or (isinstance(error, ImportError) and str(error.name).startswith("pit_fetch.")):
        return f": it is made for another provider API, and this is {API_VERSION}; {CHANGES} says what changed"
    return ""


def _problem_with(provider: object, entry: EntryPoint) -> str:
    if not isinstance(provider, Provider):
        return f"does not hold a Provider at {entry.value}"
    if _key(provider.name) != _key(entry.name):
        return f"registers {provider.name!r} under the name {entry.name!r}"
    return problem_with_options(provider)


def problem_with_options(provider: Provider) -> str:
    """Return what is wrong with the names of the provider's options, or ""."""
    from pit_fetch.request.options import COMMON_OPTIONS

    names = [option.name for option in (*COMMON_OPTIONS, *provider.all_options)]
    twice = next((name for name in names if names.count(name) > 1), None)
    common = any(option.name == twice for option in COMMON_OPTIONS)
    if twice is None:
        return ""
    return f"declares the option {twice}, which every source has" if common else f"declares the option {twice} twice"


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
