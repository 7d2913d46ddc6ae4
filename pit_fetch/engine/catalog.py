"""A description of each source: its summary, its operations, and which credentials are set, never their values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Any

from pit_fetch.engine.credentials import lookup
from pit_fetch.engine.registry import Listing
from pit_fetch.errors import ConfigError
from pit_fetch.provider import Credential, Option, Provider
from pit_fetch.request.operations import DATINGS
from pit_fetch.support.install import install_command


def table(listings: Iterable[Listing], environ: Mapping[str, str], folder: str, as_json: bool) -> str:
    """Return one row per source, as text or as a JSON array."""
    rows = [_row(listing, environ, folder) for listing in listings]
    if as_json:
        return json.dumps(rows, indent=2) + "\n"
    width = max((len(row["name"]) for row in rows), default=0)
    return "".join(_line(row, width) for row in rows)


def _row(listing: Listing, environ: Mapping[str, str], folder: str) -> dict[str, Any]:
    provider = listing.provider
    if provider is None:
        return {"name": listing.name, "usable": False, "problem": listing.problem}
    packages = [{"name": name, "installed": find_spec(name) is not None} for name in provider.listing.packages]
    missing = [package_text(package) for package in packages if not package["installed"]]
    return {
        "name": provider.name,
        "usable": not missing,
        **({"problem": "; ".join(missing)} if missing else {}),
        "aliases": list(provider.aliases),
        "summary": provider.summary,
        "credentials": [
            {"variables": list(credential.variables), "set": _is_set(credential, environ, folder)}
            for credential in provider.credentials
        ],
        "packages": packages,
    }


def describe(listing: Listing, environ: Mapping[str, str], folder: str) -> dict[str, Any]:
    """Return one source as JSON values: its row, its operations with their rules and fields, and its options."""
    row, provider = _row(listing, environ, folder), listing.provider
    if provider is None:
        return row
    row["hosts"] = [host.url for host in provider.hosts]
    row["operations"] = [
        {
            "name": operation.name,
            "dating": operation.dating.by,
            "rule": operation.dating.rule,
            "why": operation.dating.why,
            "claims": operation.dating.claims,
            "needs": list(operation.needs),
            "takes": list(operation.takes),
            "fields": [{"name": field.name, "kind": field.kind} for field in operation.fields],
        }
        for operation in provider.operations
    ]
    row["options"] = [
        {
            "name": option.name,
            "kind": option.kind,
            "help": option.help,
            "choices": list(option.choices),
            "default": option.default,
        }
        for option in provider.all_options
    ]
    return row


def markdown(provider: Provider) -> str:
    """Return the tables of a source's page, from its declarations: operations with their rules, fields and options."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for operation in provider.operations:
        dating = operation.dating
        rule = (dating.rule or "by its own stamps") if dating.by == "record" else DATINGS[dating.by]
        fields = ", ".join(f"`{field.name}`" for field in operation.fields)
        key = (", ".join(operation.needs), rule, dating.why, dating.claims, fields)
        alike.setdefault(key, []).append(f"`{operation.name}`" if operation.name else "")
    titles = ("operation", "needs", "an item is dated", "because", "on a claim", "fields")
    operations = [(" ".join(names), *key) for key, names in alike.items()]
    used = [place for place in range(len(titles)) if any(row[place] for row in operations)]
    options = [(f"`{each.name}`", _meaning(each)) for each in provider.all_options]
    settings = [
        *(
            (" or ".join(f"`{name}`" for name in each.variables), each.hint or "required")
            for each in provider.credentials
        ),
        # Hosts of one address may differ in their rate alone.
        *dict.fromkeys((f"`{host.url_variable}`", f"replaces `{host.url}`") for host in provider.hosts),
    ]
    tables = (
        ([titles[place] for place in used], [[row[place] for place in used] for row in operations]),
        (["option", "meaning"], options),
        (["variable", "meaning"], settings),
    )
    return "\n".join(markdown_table(heads, rows) for heads, rows in tables if rows)


def markdown_table(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table of Markdown, without a bar that would end a cell early."""
    cells = [[*titles], *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{'---|' * len(cells[0])}", *lines[1:]]) + "\n"


def _meaning(option: Option) -> str:
    default = "" if option.default in (None, False) else f"default {option.default}"
    notes = "; ".join(filter(None, [", ".join(option.choices), default]))
    return f"{option.help} ({notes})" if notes else option.help


def _is_set(credential: Credential, environ: Mapping[str, str], folder: str) -> bool:
    try:
        return bool(lookup(credential, environ, folder)[1])
    except ConfigError:  # a .env that cannot be read: a fetch reports it
        return False


def _line(row: Mapping[str, Any], width: int) -> str:
    if "summary" not in row:  # it cannot be loaded
        return f"{row['name']:<{width}}  not usable: {row['problem']}\n"
    needs = [
        f"{' or '.join(credential['variables'])} {'is set' if credential['set'] else 'is not set'}"
        for credential in row["credentials"]
    ]
    needs = needs or ["no key needed"]
    needs += [package_text(package) for package in row["packages"]]
    aliases = f" (also {', '.join(row['aliases'])})" if row["aliases"] else ""
    return f"{row['name']:<{width}}  {row['summary']}{aliases}\n{'':<{width}}  {'; '.join(needs)}\n"


def package_text(package: Mapping[str, Any]) -> str:
    """Return whether a package of :func:`describe` is installed, or the command that installs it."""
    name = package["name"]
    return f"{name} is installed" if package["installed"] else f"{name} is missing: run {install_command(name)}"
