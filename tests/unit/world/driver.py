"""``python -m tests.unit.world.driver OPTION ...``: ``pit_fetch run``, with a view of the invented ``echo.test``."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import datetime

from pit_fetch import views
from pit_fetch.cli.main import main
from pit_fetch.runtime import Runtime
from pit_fetch.views import Answer, Exchange, ViewOptions
from pit_fetch.world import sealed

BIG = b"0123456789abcdef" * 3_276_800  # 50 MB
# Another program in the place of the one that seals.
SEALED_VARIABLE = "PIT_FETCH_TEST_SEALED"
_refuse, _OPTIONS = views.answer, ViewOptions()


def answer(exchange: Exchange, pit: datetime, runtime: Runtime, options: ViewOptions = _OPTIONS) -> Answer:
    """Answer with what was asked, with 50 MB, or with validators and an encoding of then."""
    if exchange.host != "echo.test":
        return _refuse(exchange, pit, runtime, options)
    path = exchange.target.partition("?")[0]
    if path == "/broken":
        raise RuntimeError("a bug")
    if path == "/hanging":
        time.sleep(60)
    if path == "/digits":
        return Answer(200, (), BIG[:4_000], "viewed", "echo")
    if path == "/big":
        return Answer(200, (("content-type", "application/octet-stream"),), BIG, "viewed", "echo", 1, 2)
    told = {**exchange._asdict(), "body": exchange.body.decode("latin-1"), "pit": pit.isoformat()}
    headers = (("content-type", "application/json"), ("Date", "Sun, 29 Nov 2026 00:00:00 GMT"), ("connection", "close"))
    return Answer(200, headers, json.dumps(told).encode(), "viewed", "echo", 3, 4)


if __name__ == "__main__":
    views.answer = answer
    sealed.__file__ = os.environ.get(SEALED_VARIABLE, sealed.__file__)
    os._exit(main(["run", *sys.argv[1:]]))
