"""A law of Python: what the API returns, and what it raises, neither shows nor hands on the environment."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pit_fetch
from pit_fetch.engine.registry import BUNDLED_NAMES, load
from pit_fetch.errors import PitFetchError
from tests.laws import sample
from tests.providers.bz_news_api.server import article

CANARY = "a-key-of-somebody-else"
# Every credential, and whatever else is in an environment.
_NAMES = [name for source in BUNDLED_NAMES for known in load(source).credentials for name in known.variables]
_ENVIRONMENT = {name: f"{CANARY}-{name}" for name in (*_NAMES, "AWS_SECRET_ACCESS_KEY")}
_NOWHERE = "http://127.0.0.1:9"


def law(rng: Random) -> int:
    """No repr, attribute, public attribute at any depth, or pickle of an object of the API has a canary."""
    case = sample.make(rng)
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, _environment(folder), clear=True):
        reply = Path(folder, "reply.json")
        reply.write_text(json.dumps([article(1, case.moment)]))
        made = [*_objects(case.moment.isoformat(), str(reply), folder)]
        for value in made:
            found = [where for where, text in _texts(value) if CANARY in text]
            assert not found, f"{type(value).__name__} shows the environment: {found[0]}"
    return len(made)


def _environment(folder: str) -> Mapping[str, str]:
    return {**_ENVIRONMENT, "HOME": folder, "PIT_FETCH_BENZINGA_URL": _NOWHERE, "PIT_FETCH_FRED_URL": _NOWHERE}


def _objects(pit: str, reply: str, folder: str) -> Iterator[object]:
    """Yield one of each kind of what a user of the API gets."""
    asked: Mapping[str, Any] = {"input_file": reply}
    yield pit_fetch.fetch("benzinga", pit, **asked)
    yield pit_fetch.explain("benzinga", pit, **asked)
    yield pit_fetch.diff("benzinga", (pit, "2031-01-01T00:00:00Z"), **asked)
    panel = pit_fetch.panel("benzinga", [pit], {"tickers": ["AAPL"]}, options=asked)
    yield from (panel, [*panel], panel.check(1), panel.to_df())
    requests = [{"source": "fred", "series_id": "GDP"}]
    yield pit_fetch.sources()
    yield _raised(lambda: pit_fetch.fetch("benzinga", pit, limit=-1))
    yield _raised(lambda: pit_fetch.fetch("alphavantage", pit, op="NOPE"))
    yield _raised(lambda: pit_fetch.diff("alphavantage", (pit, pit), op="NOPE"))
    yield _raised(lambda: pit_fetch.fetch("benzinga", pit, offline=True))
    yield _raised(lambda: pit_fetch.capture(requests, f"{folder}/archive.db"))


def _raised(call: Callable[[], object]) -> Exception:
    try:
        call()
    except PitFetchError as error:
        return error
    raise AssertionError("nothing was raised")


def _texts(value: object, where: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield what is shown of a value and of its public attributes, at any depth, and where it stands."""
    where = where or type(value).__name__
    yield where, repr(value)
    if isinstance(value, Exception):  # pytest and error trackers show the locals of its frames
        yield from ((f"locals of {where}", repr(frame.f_locals)) for frame, _ in traceback.walk_tb(value.__traceback__))
    yield f"vars of {where}", repr(getattr(value, "__dict__", ""))
    with suppress(TypeError, AttributeError, pickle.PicklingError):  # what cannot be pickled hands nothing on
        yield f"pickle of {where}", pickle.dumps(value).decode("latin-1")
    if depth > 3 or isinstance(value, (str, bytes, int, float, type(None))):
        return
    if isinstance(value, Mapping):
        inside = {str(name): part for name, part in value.items()}
    elif isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        inside = {str(place): part for place, part in enumerate(value)}
    elif type(value).__module__.startswith("pit_fetch"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inside = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
    else:
        return
    for name, part in inside.items():
        yield from _texts(part, f"{where}.{name}", depth + 1)
