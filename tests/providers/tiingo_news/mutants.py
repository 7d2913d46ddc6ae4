"""Leaks of tiingo_news: the publisher's stamp, titles without a claim, errors."""

from __future__ import annotations

from typing import Any

from pit_fetch.times import parse_rfc3339
from tests.laws.mutants.leak import echoing, in_module

_leak = in_module("pit_fetch_providers.tiingo_news")
_NEWS, _FAILURES = ("tiingo_news: non-interference",), ("tiingo_news: failures",)


def _stamped(*names: str) -> Any:
    """Return the leak that dates a row by the first of these stamps that it has."""

    def make(real: Any) -> Any:
        def records(row: Any) -> Any:
            link, texts = real(row)
            known = next(filter(None, (parse_rfc3339(row.get(name)) for name in names)), None)
            return link._replace(available_at=known), texts._replace(claimed_at=known)

        return records

    return make


MUTANTS = (
    _leak("tiingo_news: the publisher's stamp counts", "records", _stamped("publishedDate"), _NEWS),
    _leak("tiingo_news: the crawl alone counts", "records", _stamped("crawlDate"), _NEWS),
    _leak("tiingo_news: one stamp is enough", "records", _stamped("crawlDate", "publishedDate"), _NEWS),
    _leak("tiingo_news: the error's text is echoed", "read_page", echoing(), _FAILURES),
)
