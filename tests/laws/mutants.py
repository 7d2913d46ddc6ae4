"""Named leaks, one small change each: what was (or could be) done wrong. The laws must see every one of them.

To add one, add a row: a name, the file, the text that stands there once, what would leak in its
place, and the laws that ought to see it first (the others run after them).
"""

from __future__ import annotations

from typing import NamedTuple

BZ = ("bz-news-api: non-interference",)
BZ_ALL = (*BZ, "bz-news-api: ceiling", "bz-news-api: failures", "bz-news-api: sizes")
BZ_FILES = ("bz-news-api: files",)
AV = ("alphavantage: non-interference",)
AV_ALL = (*AV, "alphavantage: failures", "alphavantage: sizes")
SEC = ("sec_full_text: non-interference",)
SEC_ALL = (*SEC, "sec_full_text: failures", "sec_full_text: sizes", "sec_full_text: monotone")
JUDGE, HOOK, REFUSALS, CORPUS = ("gate: judges",), ("gate: hook",), ("command: refusals",), ("corpus: no leak",)
SHELL, OPTIONS = ("guard: shell",), ("guard: options",)
ANY = (*BZ, *AV, *SEC)


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str
    laws: tuple[str, ...]


_ENGINE, _PIT, _TIMES = "pit_fetch/engine.py", "pit_fetch/pit.py", "pit_fetch/times.py"
_GATE, _GUARD = "hooks/pit_gate.py", "hooks/pit_guard.py"
_BZ = "providers/pit_fetch_providers/bz_news_api/__init__.py"
_BZ_API, _BZ_ARTICLES = (f"providers/pit_fetch_providers/bz_news_api/{name}.py" for name in ("api", "articles"))
_AV = "providers/pit_fetch_providers/alphavantage/"
_SEC = "providers/pit_fetch_providers/sec_full_text/"

MUTANTS: tuple[Mutant, ...] = (
    # The pipeline.
    Mutant("a revision after the PIT is not looked at", _PIT, "stamps = (record.available_at, record.revised_at)",
           "stamps = (record.available_at,)", BZ),
    Mutant("undated is public", _PIT, 'return "undated"', 'return "public"', BZ),
    Mutant("limit before filter", _ENGINE, "records = public(_until_it_ends(fetch, source),",
           "records = public(__import__('itertools').islice(_until_it_ends(fetch, source), request.limit),", ANY),
    Mutant("order before filter", _ENGINE, "in_order(records, provider.newest_first and not request.input_file)",
           "public(in_order(_until_it_ends(fetch, source), provider.newest_first), _cutoff(request, fetch.world), "
           "fetch.tally)", BZ),
    Mutant("the gap only when something was late", _ENGINE, 'gaps = [gap("late"), gap("undated"), *gaps]',
           'gaps = [*([gap("late")] if tally.late else []), gap("undated"), *gaps]', ANY),
    Mutant("the gap only when something was undated", _ENGINE, 'gaps = [gap("late"), gap("undated"), *gaps]',
           'gaps = [gap("late"), *([gap("undated")] if tally.undated else []), *gaps]', ANY),
    Mutant("a count of undated items in a gap", _ENGINE, 'gaps = [gap("late"), gap("undated"), *gaps]',
           'gaps = [gap("late"), gap("undated_served", count=len(tally.undated)), *gaps]', ANY),
    Mutant("spoilt rows are counted", _ENGINE, 'gaps = [gap("late"), gap("undated"), *gaps]',
           'gaps = [gap("late"), gap("undated"), *gaps, *([gap("unusable", count=tally.unusable)] if tally.unusable '
           "else [])]", ANY),
    Mutant("no_data only when nothing was late", _ENGINE, "if not page.kept and not failed:",
           "if not page.kept and not failed and not tally.late:", ANY),
    Mutant("the exit code tells of late items", _ENGINE, "status = ExitStatus.BUG if fetch.failure else ExitStatus.OK",
           "status = ExitStatus.BUG if fetch.failure or fetch.tally.late else ExitStatus.OK", ANY),
    Mutant("ids of late items on stderr", _ENGINE, "fetch.log.summary(request.provider.name, page.kept[:kept], gaps)",
           "fetch.log.detail(' '.join(fetch.tally.late))", ANY),
    Mutant("a count of late items on stderr", _ENGINE,
           "fetch.log.summary(request.provider.name, page.kept[:kept], gaps)",
           "fetch.log.detail(str(len(fetch.tally.late)))", ANY),
    Mutant("requests told with -v", "pit_fetch/log.py", "if not self.pit_mode:", "if True:", ANY),
    Mutant("the audit file is on by default", "pit_fetch/audit.py", 'name = environ.get(VARIABLE, "")',
           'name = environ.get(VARIABLE, environ.get("HOME", "") + "/audit.jsonl")', ANY),
    Mutant("provider order kept", _PIT, "for record in run if len(run) == 1 else sorted(_once_each(run), key=position):",
           "for record in _once_each(run):", (*AV, *SEC)),
    Mutant("ties in the order of arrival", _PIT, "    return _age(record), record.id",
           '    return _age(record), ""', ANY),
    Mutant("of several copies the first to arrive", _PIT,
           "chosen[record.id] = min(held, record, key=_preference)", "pass", BZ),
    Mutant("the wall clock is the PIT", _ENGINE, "return lambda: pit\n", "return world.clock.now\n", ANY),
    Mutant("a PIT in the future is taken at its word", _ENGINE, "return lambda: min(pit, world.clock.now())",
           "return lambda: pit", ("bz-news-api: future", "alphavantage: future")),
    Mutant("a page cache across PITs", _ENGINE, "    try:\n        outcome, kept = _finish(fetch)\n    except (TypeError",
           "    fetch.page = run.__dict__.setdefault(request.canonical.split('--pit')[0], fetch.page)\n"
           "    try:\n        outcome, kept = _finish(fetch)\n    except (TypeError", ANY),
    Mutant("withheld records use up the page cap", _ENGINE,
           "elif isinstance(one, (Record, Watermark)):\n                yield one",
           "elif isinstance(one, (Record, Watermark)):\n                fetch.page.scanned += 1\n                yield one",
           ANY),
    Mutant("a reply's text in an error", "pit_fetch/wire.py", 'problem="it is not valid JSON"', "problem=text", BZ_ALL[2:]),
    Mutant("a row that is no JSON costs the others", "pit_fetch/wire.py", "value = _loads_row_by_row(text, rows)", "raise",
           BZ),
    # The command line.
    Mutant("--pit may be abbreviated", "pit_fetch/options.py",
           "        argument_default=argparse.SUPPRESS,\n        allow_abbrev=False,\n        add_help=False,\n    )\n    for title",
           "        argument_default=argparse.SUPPRESS,\n        allow_abbrev=True,\n        add_help=False,\n    )\n    for title",
           REFUSALS),
    Mutant("--pit may be repeated", "pit_fetch/options.py", "if hasattr(namespace, self.dest):", "if False:", REFUSALS),
    Mutant("the ceiling is not kept", "pit_fetch/request.py", "if pit > ceiling:", "if False:", REFUSALS),
    Mutant("an unreadable ceiling is none", "pit_fetch/request.py",
           'raise UsageError("ceiling_malformed", problem=problem(text))', "return",
           REFUSALS),
    Mutant("an unreadable --pit is open mode", "pit_fetch/request.py", 'raise UsageError("pit_malformed", problem=problem(text, words))',
           "return None", REFUSALS),
    Mutant("a finer --pit is rounded up", _TIMES, "_utc(gate.parse_iso8601(text))",
           "_utc(gate.parse_iso8601(text, round_up=True))", BZ),
    # Times.
    Mutant("the start of the day", _TIMES, "return start_of_day(day + timedelta(days=1), zone)",
           "return start_of_day(day, zone)", AV),
    Mutant("the first pass of a repeated hour", _TIMES, "return max((reading for reading", "return min((reading for reading",
           (*AV, *SEC)),
    Mutant("RFC 2822 without its offset", _TIMES, '(wall + offset if sign == "-" else wall - offset)', "wall", BZ),
    Mutant("RFC 2822 with the offset's sign turned", _TIMES, '(wall + offset if sign == "-" else wall - offset)',
           '(wall - offset if sign == "-" else wall + offset)', BZ),
    Mutant("-0000 is UTC", _TIMES, 'or (sign, hours, minutes) == ("-", "00", "00"):', "or False:", BZ),
    Mutant("a wrong weekday is overlooked", _TIMES, "if weekday is not None and weekday != _DAYS[wall.weekday()]:",
           "if False:", BZ),
    Mutant("a stamp without seconds is the start of its minute", _TIMES,
           "wall += timedelta(minutes=1, microseconds=-1)", "pass", CORPUS),
    # The gate.
    Mutant("the gate is a day late", _GATE, "    if moment > pit:\n", "    if moment > pit + timedelta(days=1):\n", JUDGE),
    Mutant("the gate rounds stamps down", _GATE, "moment = parse_iso8601(stamp, round_up=True)\n    if moment is None:\n        if _is_naive",
           "moment = parse_iso8601(stamp)\n    if moment is None:\n        if _is_naive", JUDGE),
    Mutant("the gate overlooks revisions", _GATE, "return None if revised is None else _check_stamp",
           "return None if True else _check_stamp", JUDGE),
    Mutant("the gate overlooks nested stamps", _GATE, "if len(stamped) > len(data):", "if False:", JUDGE),
    Mutant("the gate takes a forbidden key by its case", _GATE, "if key.lower() in FORBIDDEN_KEYS:",
           "if key in FORBIDDEN_KEYS:", JUDGE),
    Mutant("the gate takes a repeated key", _GATE, "        if len(built) != len(pairs):\n", "        if False:\n", JUDGE),
    Mutant("the gate takes unknown keys", _GATE, 'if not payload.keys() <= {"data", "gaps"}:', "if False:", JUDGE),
    Mutant("the gate takes any source", _GATE, "if not isinstance(source, str) or source.strip() not in VALID_SOURCES:",
           "if not isinstance(source, str):", JUDGE),
    Mutant("the gate takes NaN", _GATE, 'raise _Refused(PIT_INVALID_JSON, "Tool output holds a number that JSON does not have")',
           "return 0", JUDGE),
    Mutant("the gate takes the latest of two PITs", _GATE, "return min(moments, default=None)",
           "return max(moments, default=None)", HOOK),
    Mutant("the gate takes a listing with more behind it", _GATE,
           "    arguments = wrapper_arguments(command)\n    if not arguments:\n        return False\n    return arguments[0] in",
           "    arguments = command.split()\n    if not arguments:\n        return False\n    return arguments[0] in", HOOK),
    Mutant("the gate takes an empty answer", _GATE, "if not any(text.strip() for text in texts):", "if False:",
           HOOK),
    Mutant("the gate takes an empty PIT for none", _GATE, "        moment = parse_iso8601(pit)\n        if moment is None:\n",
           "        moment = parse_iso8601(pit)\n        if pit in ('', None):\n            continue\n        if moment is None:\n", HOOK),
    Mutant("the gate looks for a PIT at the top alone", _GATE, "            pending.extend(values(node.items()))\n",
           "            values(node.items())\n", HOOK),
    Mutant("the gate overlooks a PIT in JSON text", _GATE, 'node.lstrip().startswith(("{", "["))', "False", HOOK),
    Mutant("the gate takes an assignment for a program", _GATE, 'r"(?:~?/|[\\w.])[^=]*"', 'r"(?:~?/|[\\w.]).*"', SHELL),
    Mutant("the gate takes an option of Python for its script", _GATE, 'r"(?:~?/|[\\w.])[^=]*"', 'r"[^=]*"', SHELL),
    Mutant("the gate takes a ~ that the shell expands", _GATE, "[A-Za-z0-9_./:=,@%+-]", "[A-Za-z0-9_./:=,@%+~-]", SHELL),
    Mutant("the gate takes a second line for a word", _GATE, "+)[ \\t]*'", "+)\\s*'", SHELL),
    Mutant("the gate takes an expansion inside quotes", _GATE, '"[^"$`', '"[^"`', SHELL),
    # The guard.
    Mutant("an adapter chooses the time", _GUARD, '"max-pages", "fields",', '"max-pages", "timeout", "fields",', OPTIONS),
    Mutant("an adapter reads a file", _GUARD, "if name[2:] not in allowed:", "if word[2:] in ('timeout', 'fail', 'verbose'):",
           OPTIONS),
    Mutant("an adapter chooses by name=value", _GUARD, "and _option(name) not in allowed", "and False", OPTIONS),
    Mutant("options behind -- count", "pit_fetch/request.py", 'end = argv.index("--") if "--" in argv else len(argv)',
           "end = len(argv)", OPTIONS),
    # bz-news-api.
    Mutant("bz: the revision is not passed on", _BZ_ARTICLES, "payload, updated if dated else None)", "payload, None)",
           BZ),
    Mutant("bz: without a revision it is dated all the same", _BZ_ARTICLES,
           "available_at = created if dated or query.pit is None else None", "available_at = created", BZ),
    Mutant("bz: a stamp without offset is New York time", _BZ_ARTICLES, "if moment is None and query.pit is None and",
           "if moment is None and", BZ),
    Mutant("bz: an early stop at a page of later items", _BZ, "if len(rows) < PAGE_SIZE:\n                return",
           "if len(rows) < PAGE_SIZE or all(r.available_at and r.available_at > query.now for r in "
           "(articles.record(row, query) for row in rows)):\n                return", BZ_ALL),
    Mutant("bz: a page without identities is a repeated one", _BZ, "records = [articles.record(row, self.query) for row in rows]",
           "records = [articles.record(row, self.query) for row in rows]\n"
           "        if len(rows) == PAGE_SIZE and not any(record.id for record in records):\n"
           '            raise UpstreamError("paging")', BZ_ALL),
    Mutant("bz: a page of the same bytes is a repeated one", _BZ, "records = [articles.record(row, self.query) for row in rows]",
           "records = [articles.record(row, self.query) for row in rows]\n"
           "        if len(rows) == PAGE_SIZE and rows == getattr(self, 'before', None):\n"
           '            raise UpstreamError("paging")\n'
           "        self.before = rows", BZ_ALL),
    Mutant("bz: withheld articles count as repeated", _BZ, 'if verdict(record, cutoff) == "public":', "if True:", BZ_ALL),
    Mutant("bz: what was repeated is counted page by page", _BZ, "records = [articles.record(row, self.query) for row in rows]",
           "records = [articles.record(row, self.query) for row in rows]\n"
           "        known = [record.id for record in records if record.id in self.seen]\n"
           "        if known and len(known) == len([r for r in records if r.id]):\n"
           '            raise UpstreamError("paging")', BZ_ALL),
    Mutant("bz: a window at the ceiling is not split", _BZ,
           "shrunk = last if window.reached is None else _day(window.reached, 1)", "shrunk = last", BZ_ALL[1:]),
    Mutant("bz: later items use up the pages", _BZ, "for page in range(PAGES_PER_WINDOW):", "for page in range(2):",
           BZ_ALL),
    Mutant("bz: an unknown symbol is an error", _BZ_API, 'if said == [] or _has_error(said, "no_data_found"):', "if False:",
           BZ_ALL[2:]),
    Mutant("bz: the error's text is echoed", _BZ_API, 'raise UpstreamError("http_status", host=HOST.name, status=reply.status)',
           'raise UpstreamError("http_status", host=reply.body.decode(), status=reply.status)', BZ_ALL[2:]),
    Mutant("bz: a moved endpoint's page is echoed", _BZ_API,
           'raise UpstreamError("moved", host=HOST.name, variable=HOST.override)',
           'raise UpstreamError("moved", host=reply.body.decode(), variable=HOST.override)', BZ_ALL[2:]),
    Mutant("bz: a spoilt later row fails the fetch", _BZ_ARTICLES,
           "row[key] for key in keys if row.get(key) and isinstance(row[key], list)",
           "row[key] for key in keys if row.get(key)", BZ),
    Mutant("bz: a later row that cannot be read fails the fetch", _BZ_API, "return rows(lenient_json(reply.body, 1))",
           "return rows(strict_json(reply.body))", BZ),
    Mutant("bz: a later row that cannot be read fails a file", _BZ, "reply = lenient_json(body, 2 if in_object else 1)",
           "reply = __import__('json').loads(body)", BZ_FILES),
    Mutant("bz: a file in an object is one row", _BZ, "reply = lenient_json(body, 2 if in_object else 1)",
           "reply = lenient_json(body, 1)", BZ_FILES),
    Mutant("bz: a file is not one of articles when one row is not", _BZ,
           "not any(articles.is_article(row) for row in readable)", "any(row is None for row in rows)", BZ_FILES),
    Mutant("bz: the hint depends on what was withheld", _ENGINE, "if fetch.when_empty else", "if not tally.late else",
           BZ),
    Mutant("bz: the look-back counts back from now", _BZ,
           "end = query.now if query.until is None else min(query.now, query.until)", "end = query.started", BZ),
    # alphavantage.
    Mutant("av: a bar at its label", _AV + "bars.py", 'start + timedelta(minutes=_minutes(meta.get("interval"), asked))',
           "start", AV),
    Mutant("av: an Eastern label read as UTC", _AV + "bars.py",
           'zone = ZONES.get(meta["time_zone"]) if "time_zone" in meta else function.zone', "zone = UTC", AV),
    Mutant("av: a day's bar at the close", _AV + "bars.py", "EVENING = timedelta(hours=20)",
           "EVENING = timedelta(hours=16)", AV),
    Mutant("av: a running week's bar", _AV + "bars.py", 'if function.period == "week":', 'if function.period == "":', AV),
    Mutant("av: a running month's bar", _AV + "bars.py", 'elif function.period == "month":', 'elif function.period == "":',
           AV),
    Mutant("av: a coin's day before the evening", _AV + "bars.py", "is None else max(evening, ends)", "is None else ends",
           CORPUS),
    Mutant("av: adjusted columns are served", _AV + "rows.py", 'if not name.startswith("adjusted")}', "if True}", AV),
    Mutant("av: adjusted prices are asked for", _AV + "options.py", 'found["adjusted"] = "false"',
           'found["adjusted"] = "true"', AV),
    Mutant("av: the compact size under a PIT", _AV + "options.py", 'if query.pit is not None or options["month"] is not None:\n        return "full"',
           'if options["month"] is not None:\n        return "full"', AV),
    Mutant("av: a report at the end of its fiscal period", _AV + "earnings.py",
           "is None else end_of_day(reported, NEW_YORK)", "is None else end_of_day(ends, NEW_YORK)", AV),
    Mutant("av: a year by the later of two reports", _AV + "earnings.py", "public = min(reports)", "public = max(reports)",
           AV),
    Mutant("av: a year by rows that were not public", _AV + "earnings.py",
           "return one.available_at is not None and one.available_at <= year.available_at", "return True", AV),
    Mutant("av: an expected report without a figure", _AV + "earnings.py",
           'if reported is None or row.get("reportedEPS") is None else', "if reported is None else", CORPUS),
    Mutant("av: a dividend by its ex-date", _AV + "rows.py",
           'row.get("ex_dividend_date") if declared is None else declared', 'row.get("ex_dividend_date")', AV),
    Mutant("av: options at the end of their day", _AV + "rows.py",
           "return _end(_next_weekday(parse_date(row.get(function.date))))",
           "return _end(parse_date(row.get(function.date)))", AV),
    Mutant("av: a date of publication is its midnight", _AV + "news.py",
           "return end_of_day(stamp.date(), UTC) if stamp is not None and is_date_only(row) else stamp", "return stamp",
           AV),
    Mutant("av: summaries and scores under a PIT", _AV + "news.py", "if query.pit is None:\n        payload |=",
           "if True:\n        payload |=", AV),
    Mutant("av: later articles end the paging", _AV + "windows.py", "public |= _wanted(found, query, select)",
           "public |= {one.id: one.available_at for one in found if one.available_at}", ("alphavantage: news",)),
    Mutant("av: months of later bars count as full", _AV + "windows.py",
           "empty = 0 if _public(kept, query) else empty + 1", "empty = 0 if kept else empty + 1", AV),
    Mutant("av: later bars count as wanted", _AV + "windows.py", "wanted += len(_wanted(kept, query, select))",
           "wanted += len(kept)", AV),
    Mutant("av: later bars decide on the reach", _AV + "windows.py",
           "if not reached and len(_wanted(found, query, select)) <= query.limit:",
           "if not reached and len(found) <= query.limit:", AV),
    Mutant("av: an unknown symbol is an error", _AV + "ask.py", 'case "bad_call" if query.pit is None:',
           'case "bad_call":', AV_ALL[1:]),
    Mutant("av: a message with the key is echoed", _AV + "ask.py", 'limit="the key\'s daily limit"', "limit=message",
           AV_ALL[1:]),
    Mutant("av: a spoilt row fails the fetch", _AV + "reply.py",
           "_dated(tidy(row), function) if isinstance(row, dict) else None", "_dated(tidy(row), function)", AV),
    # sec_full_text.
    Mutant("sec: public when accepted", _SEC + "acceptance.py", "DISSEMINATION = timedelta(minutes=3)",
           "DISSEMINATION = timedelta(0)", SEC),
    Mutant("sec: public at midnight of the filing date", _SEC + "acceptance.py", "OPENING_HOUR = 6", "OPENING_HOUR = 0",
           SEC),
    Mutant("sec: the next business day is overlooked", _SEC + "acceptance.py",
           "bounds.append(wall_clock(datetime(filed.year, filed.month, filed.day, OPENING_HOUR), NEW_YORK))",
           "bounds.append(accepted)", SEC),
    Mutant("sec: acceptance read as UTC", _SEC + "acceptance.py", "else wall_clock(acceptance.accepted, NEW_YORK)",
           "else wall_clock(acceptance.accepted, __import__('datetime').UTC)", SEC),
    Mutant("sec: a private letter at its acceptance", _SEC + "acceptance.py",
           "if acceptance.private or acceptance.accepted is None or (released is not None and released > filed):",
           "if acceptance.accepted is None:", SEC),
    Mutant("sec: an unmarked letter at its acceptance", _SEC + "acceptance.py",
           "if acceptance.private or acceptance.accepted is None or (released is not None and released > filed):",
           "if acceptance.private or acceptance.accepted is None:", SEC),
    Mutant("sec: the start of the release day", _SEC + "acceptance.py",
           "end_of_day(max(released, filed), NEW_YORK))",
           "end_of_day(max(released, filed) - timedelta(days=1), NEW_YORK))", SEC),
    Mutant("sec: the Z of a submissions file is believed", _SEC + "acceptance.py",
           "else Acceptance(moment, day, coarse=True)", "else Acceptance(moment - timedelta(hours=5), day, coarse=True)",
           SEC),
    Mutant("sec: letters are dated by their filing date", _SEC + "forms.py", '"8-K", "6-K",', '"8-K", "CORRESP", "6-K",',
           SEC),
    Mutant("sec: back-dated notices are dated by their filing date", _SEC + "forms.py", '"8-K", "6-K",',
           '"8-K", "EFFECT", "6-K",', SEC),
    Mutant("sec: a failing header of a later filing is an error", _SEC + "archive.py",
           'if error.is_deadline:', "if True:", SEC),
    Mutant("sec: today's names under a PIT", _SEC + "filings.py",
           'list(names or (filing.today["company_names"] if open_mode else ()))', 'list(filing.today["company_names"])',
           SEC),
    Mutant("sec: today's codes under a PIT", _SEC + "filings.py", "if open_mode:\n        payload |=",
           "if True:\n        payload |=", SEC),
    Mutant("sec: documents in the server's order", _SEC + "filings.py",
           "hits = sorted(hits, key=lambda one: (one.documents[0][:3], one.ciks))", "hits = list(hits)", SEC),
    Mutant("sec: a gap where many hits are", _SEC + "search.py", "        if answer.capped:\n",
           "        if answer.total > 3:\n", SEC),
    Mutant("sec: a header that breaks the promised order", _SEC + "__init__.py",
           "if ordered and stamp.at is not None and (bound is None or stamp.at > bound):", "if False:", ("sec_full_text: ordered",)),
)  # fmt: skip
