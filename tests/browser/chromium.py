"""Chromium, headless, with an empty profile and without a network; spoken to in its DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
SECONDS = 60


def find() -> str | None:
    """The browser on this machine, if there is one (on Debian: apt-get install chromium)."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Tab:
    """One page of the browser. ``events`` holds what it reported, by method."""

    def __init__(self, process: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._process, self._to, self._back = process, to, back
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime", "Accessibility"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one command. Raises RuntimeError if the browser refuses it."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._read()
            if reply.get("id") == self._number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                result: dict[str, Any] = reply["result"]
                return result
            self.events.append((reply.get("method", ""), reply.get("params", {})))

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._back, 1 << 20)
            if not more:
                raise RuntimeError("the browser went away")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, path: Path) -> None:
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        while self.script("document.readyState") != "complete":
            pass

    def script(self, expression: str, wait: bool = False) -> Any:
        """The value of an expression, evaluated from outside the page; ``wait`` for one that is a promise."""
        made = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=wait)
        return made["result"].get("value")

    def press(self, key: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text)

    def look(self, width: int, height: int, media: str = "", scheme: str = "light") -> bytes:
        """A picture (PNG) of the page in a window of that size."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[feature])
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def print(self) -> bytes:
        """The page on paper (PDF)."""
        return base64.b64decode(self.ask("Page.printToPDF", preferCSSPageSize=True)["data"])


@contextlib.contextmanager
def tab(program: str) -> Iterator[Tab]:
    """A tab in a browser of its own, which ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        read_by_it, to = os.pipe()
        back, written_by_it = os.pipe()

        def move_descriptors() -> None:  # the protocol's descriptors are 3 and 4
            low, high = os.dup(read_by_it), os.dup(written_by_it)
            os.dup2(low, 3)
            os.dup2(high, 4)

        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            command, close_fds=False, preexec_fn=move_descriptors, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(read_by_it)
        os.close(written_by_it)
        try:
            yield Tab(process, to, back)
        finally:
            os.close(to)
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(back)
