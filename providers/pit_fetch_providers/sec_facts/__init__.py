"""Company facts (XBRL) as filed: what a company had reported by an instant, and as which version.

Each filing that reports a fact is a version of it, public from the release of that filing on. All choices among
versions, concepts and periods are made after the PIT has been applied, in :func:`answer_stage`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from pit_fetch.gaps import Code, Gap
from pit_fetch.provider import (
    Archiving,
    Basis,
    Caveat,
    Context,
    Dating,
    Field,
    Listing,
    Operation,
    Option,
    Provider,
    Query,
    Record,
    Stage,
    UpstreamError,
)
from pit_fetch.times import parse_date
from pit_fetch_providers.edgar import client, subject
from pit_fetch_providers.sec_facts import facts, lines, statements
from pit_fetch_providers.sec_facts.periods import CADENCES, PERIOD_KINDS, period_kind
from pit_fetch_providers.shared import UNREADABLE, fields, new_york_day, refuse, views_of

if TYPE_CHECKING:
    from pit_fetch_providers.edgar.archive import Archive
    from pit_fetch_providers.edgar.release import ListedFiling
    from pit_fetch_providers.sec_facts.facts import Version

# What the option period can be; the first is the default.
_PERIODS = {"facts": ("any", *PERIOD_KINDS), "statement": CADENCES}
_ABSENCE = "The SEC's file lacks facts by segment and those with a company's own tags, and may lack a report."
_FILE = "A saved reply does not show when its filings were released: with --pit, nothing in it is served."


def fetch(query: Query, context: Context) -> Iterator[Record]:
    """Yield the wanted versions of the company's facts, each with the release of its filing. Raise UpstreamError."""
    # What dates filings takes 4 ms to import, and nobody needs it who answers from an archive.
    from pit_fetch_providers.edgar.archive import answering_archive
    from pit_fetch_providers.edgar.release import ListedFiling

    query = subject.resolve(query, context)
    cik = subject.cik_of(query)
    if cik is None:
        return
    archive = answering_archive(query, context)
    archive.check_company(cik)  # whatever the facts are, so that its failure tells nothing of them
    reply = client.get(context, client.DATA, f"/api/xbrl/companyfacts/CIK{cik:010d}.json")
    if client.is_missing(reply, client.DATA):
        return
    company = facts.document(reply.body)
    if company.cik != cik:
        raise UpstreamError(Code.MALFORMED, problem="it is of another company")
    released: dict[ListedFiling, Sequence[datetime | None]] = {}
    records: list[Record] = []
    last = new_york_day(query.horizon)
    for version in facts.versions(company.taxonomies, _filter(query)):
        if version is None:
            records.append(UNREADABLE)
        elif version.filed <= last:  # what is filed on a later day cannot have been public
            filing = ListedFiling(version.payload["accession"], version.payload["form"], version.filed)
            if filing not in released:
                released[filing] = release_instants(filing, cik, archive, query)
            records += [_record(version, cik, at) for at in released[filing]]
    yield from records  # all of them or, where one is missed, none


def release_instants(filing: ListedFiling, cik: int, archive: Archive, query: Query) -> Sequence[datetime | None]:
    """Return when a filing was released: None if that cannot be shown, and nothing if it was after the PIT in any case.

    Raise UpstreamError for one that cannot be dated and was public by the PIT: an older version would stand in the
    place of its own.
    """
    from pit_fetch_providers.edgar import forms, release

    submitted = archive.submitted(filing.accession, cik, filing.filed)
    reading = release.reading_of(filing, submitted)
    if not query.open_mode and release.is_to_come(reading, query.horizon):
        return ()
    at = None
    if forms.is_ordinary(filing.form):
        at = release.date_by_row(filing, reading, cik, archive, query.horizon, for_any_instant=query.capture)
    if at is None:
        failure = release.missed(query, archive, filing.accession, release.undoubted_by_row(filing, submitted))
        if failure is not None:
            raise failure
    return (at,)


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the wanted versions of one saved companyfacts reply, undated: it shows no release."""
    company = facts.document(body)
    subject.check_saved(query, [company.cik])
    for version in facts.versions(company.taxonomies, _filter(query)):
        yield UNREADABLE if version is None else _record(version, company.cik, None)


def answer_stage(query: Query) -> Stage:
    """Return the stage that chooses among public versions, or computes from them, what the operation answers."""

    def stage(records: Iterator[Record]) -> Iterator[Record | Gap]:
        # An archive has what other requests asked for, too. Thousands of records have some fifty concepts.
        is_wanted = cache(_filter(query))
        public = [made for made in records if is_wanted(made.payload["taxonomy"], made.payload["concept"])]
        company = public[0].id.partition(":")[0] if public else ""
        items: Iterable[Record]
        options, vintage = query.options, query.options["vintage"]
        match query.operation.name:
            case "statement":
                items = statements.statements(public, options["statement"], options["period"], vintage, company)
            case "concepts":
                items = facts.concepts(public, company)
            case _:
                items = facts.choose_versions(public, vintage, options["concept"] or ())
        if query.operation.name != "concepts":
            yield from facts.unreadable(public)
        yield from items

    return stage


def select(query: Query, record: Record) -> bool:
    """Return whether a fact is of the concept, the unit and the kind of period that are asked for."""
    if query.operation.name != "facts":
        return True
    if not _filter(query)(record.payload["taxonomy"], record.payload["concept"]):
        return False
    unit, period, payload = query.options["unit"], query.options["period"], record.payload
    end = parse_date(payload["end"])
    is_of_period = period == "any" or (end is not None and period_kind(parse_date(payload["start"]), end) == period)
    return is_of_period and (unit is None or unit.casefold() == payload["unit"].casefold())


def when_empty(query: Query) -> str:
    """Return a hint that depends on the request alone."""
    symbol = f"{subject.SYMBOLS} " if query.options["symbol"] else ""
    if query.operation.name == "facts":
        hint = f"{symbol}Names of concepts are the company's choice: concepts cik=NUMBER lists those it had reported."
        return f"{hint} {_meant_concepts(query)}".rstrip()
    return f"{symbol}Companies began to report XBRL in 2009 to 2011; funds and many foreign filers do not."


def _meant_concepts(query: Query) -> str:
    """Return the concepts of statements whose names are close to those asked for, as a question; "" for none."""
    names = (name.rpartition(":")[2] for statement in lines.STATEMENTS for name in sorted(lines.concepts(statement)))
    known = {name.casefold(): name for name in names}
    asked = [name.rpartition(":")[2].casefold() for name in query.options["concept"] or ()]
    close = (_close_concept(name, known) for name in asked if name not in known)
    meant = [known[name] for name in close if name]
    return f"Did you mean {' or '.join(meant)}?" if meant else ""


def _close_concept(name: str, known: Iterable[str]) -> str:
    """Return the known concept that a name slips from, or that has its words: EPSDiluted, DilutedEPS."""
    from difflib import get_close_matches

    for kind in ("basic", "diluted"):
        if name in (f"eps{kind}", f"{kind}eps"):
            return f"earningspershare{kind}"
    return next(iter(get_close_matches(name, known, n=1, cutoff=0.8)), "")


def _note(query: Query) -> str:
    """Return the notes for a capture that it has some times hours late, and by number no list of symbols."""
    times = (
        "The SEC's list tells some times of acceptance hours late, and a capture goes by them: as of its own day "
        "or the night after it, a filing can be missing."
    )
    return times if query.options["symbol"] else f"{times} {subject.WITHOUT_LIST}"


def _filter(query: Query) -> Callable[[str, str], bool]:
    """Return whether a concept is wanted, by its taxonomy and name."""
    match query.operation.name:
        case "concepts":
            return lambda taxonomy, concept: True
        case "statement":
            needed = lines.concepts(query.options["statement"])
            return lambda taxonomy, concept: f"{taxonomy}:{concept}" in needed
    names = {name.casefold() for name in query.options["concept"] or ()}

    def is_named(taxonomy: str, concept: str) -> bool:
        name = concept.casefold()
        return f"{taxonomy.casefold()}:{name}" in names or (name in names and taxonomy in facts.TAXONOMIES)

    return is_named


def _record(version: Version, cik: int, released: datetime | None) -> Record:
    of = version.payload
    fact = f"{cik:010d}:{of['taxonomy']}:{of['concept']}:{of['unit']}:{of['start'] or ''}:{of['end']}"
    return Record(f"{fact}:{of['accession']}", released, of, available_at_source="edgar_accepted")


def _normalize(query: Query) -> Query:
    """Return the query with the defaults of its operation. Raise ConfigError for one that no company could answer."""
    options = subject.normalize(query.options)
    subject.check_offline(query)
    if not query.offline and (query.options["cik"] is None) == (query.options["symbol"] is None):
        refuse(subject.EITHER)
    name = query.operation.name
    if name == "statement":
        options["statement"] = options["statement"] or lines.STATEMENTS[0]
    periods = _PERIODS.get(name, ())
    if periods and options["period"] is None:
        options["period"] = periods[0]
    if periods and options["period"] not in periods:
        refuse(f"period of {name} is one of {', '.join(periods)}.")
    if name == "statement" and options["vintage"] == "all":
        refuse("vintage of statement is latest or first: a statement has one figure a cell.")
    operation = query.operation
    if name == "statement":  # the lines of the other two are no fields of its items
        cells = lines.cell_names(options["statement"])
        own = [field for field in operation.fields if field.name in cells or field.name not in _CELLS]
        operation = operation._replace(fields=tuple(own))
    return query._replace(options=options, operation=operation)


def _caveats(query: Query) -> Iterator[str | Caveat]:
    yield from subject.holder_caveats(query)
    if not query.open_mode:
        yield _FILE if query.offline else _ABSENCE


_FACTS = Operation(
    name="facts",
    fetch=fetch,
    parse_reply=parse_reply,
    dating=Dating(
        rule="the release of the filing that reports it: an hour after its acceptance, or 09:00 after a night",
        why="a filing day is no instant, and filing dates are moved back on request",
        basis=(Basis("filed", "day"),),
    ),
    needs=("concept",),
    takes=("symbol", "cik", "unit", "period", "vintage"),
    fields=(
        *fields("taxonomy"),
        Field("concept", role="series"),
        Field("unit", role="series"),
        Field("start", "date", role="start"),
        *fields(date="end", number="value"),
        Field("form", is_origin=True),
        Field("accession", is_origin=True),
        Field("restated", "flag"),
    ),
    window="end",
    period="end",
    normalize=_normalize,
    caveats=_caveats,
    archiving=Archiving(resolve=subject.resolve, note=_note),
    search_terms="fact fundamentals xbrl companyfacts concept",
)

_CELLS = dict.fromkeys(name for statement in lines.STATEMENTS for name in lines.cell_names(statement))


PROVIDER = Provider(
    views=views_of(__name__),
    name="sec_facts",
    summary="Company facts (SEC XBRL): fundamentals and statements as filed, as of an instant, first or latest version",
    select=select,
    derive=answer_stage,
    when_empty=when_empty,
    hosts=client.HOSTS,
    credentials=(client.USER_AGENT,),
    options=(
        subject.SYMBOL,
        subject.CIK,
        Option(
            "concept",
            "facts: these concepts, such as Assets or us-gaap:Revenues",
            kind="list",
            metavar="Assets,Revenues",
            affects_records=False,
            covered_by="superset",
            search_terms="concepts tag tags fact item metric",
        ),
        Option("unit", "facts: in this unit only", metavar="USD", affects_records=False),
        Option(
            "period",
            "facts: any, annual, quarter, ytd or instant; statement: annual, quarter or ttm",
            choices=("any", *PERIOD_KINDS, "ttm"),
            metavar="PERIOD",
            affects_records=False,
            search_terms="frequency freq",
        ),
        Option(
            "vintage",
            "the version that was newest, the first one, or (facts) all",
            choices=("latest", "first", "all"),
            default="latest",
            affects_records=False,
            metavar="VINTAGE",
        ),
        Option("statement", "statement: which one (default income)", choices=lines.STATEMENTS, metavar="NAME"),
    ),
    operations=(
        _FACTS,
        _FACTS._replace(
            name="statement",
            needs=(),
            takes=("symbol", "cik", "statement", "period", "vintage"),
            dating=_FACTS.dating._replace(rule="the latest release among the filings of its cells"),
            fields=(
                *fields(date="period_end period_start", text="period currency", number=" ".join(_CELLS)),
                Field("sources", "object", is_origin=True),
                Field("derived", "list"),
                Field("omitted", "object"),
            ),
            window="period_end",
            period="period_end",
            search_terms="statements income balance cashflow financials",
        ),
        _FACTS._replace(
            name="concepts",
            needs=(),
            takes=("symbol", "cik"),
            dating=_FACTS.dating._replace(rule="the release of the newest filing that reports it"),
            fields=fields("taxonomy concept unit", date="first_end last_end"),
            window="last_end",
            period="",
            search_terms="tags taxonomy",
        ),
    ),
    page_size=1_000,
    listing=Listing(search_terms="xbrl fundamentals financials companyfacts edgar-facts"),
    help="""An earnings release is hours or weeks earlier than the report whose figures are here: --source sec_filings
text cik=... form=8-K item=2.02 document=EX-99.1
facts serves one item for each concept, unit and period, in the version that was newest at the PIT; with
vintage=first the one that was first, with vintage=all every one. --date-from and --date-to compare end.
statement serves one item a period with the usual lines; sources names concept and filing of each cell,
derived the cells that were computed. A cell that no filing gives is null; omitted names those that are
null although there are figures, and why (restated, say). concepts lists what the company had reported.
value is a number in unit; periods are told by their days, never by the filing's fiscal year.
""",
)
