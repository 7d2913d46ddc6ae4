"""What a person sees on stderr: a progress line and a summary on a terminal, and the lines of ``-v``.

In PIT mode nothing here may depend on withheld items, so requests, pages and pauses are reported
in open mode only; in PIT mode they go to the audit file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TextIO

from pit_fetch.gaps import Gap
from pit_fetch.provider import Record
from pit_fetch.support.redaction import redactor
from pit_fetch.support.terminal import line
from pit_fetch.times import format_for_people, in_new_york

PROGRESS_STEP = 10


class Progress:
    """``stream`` None means silence. ``clean`` is set once the secrets are known, ``as_of`` once the PIT is.

    ``erases``: the terminal can erase a line. ``told`` holds the reasons given. While ``reads`` is set, what is done
    is a read of an answer that is made of several, and only that answer has a summary.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        terminal: bool = False,
        verbose: bool = False,
        pit_mode: bool = True,
        erases: bool = True,
    ) -> None:
        self.stream, self.terminal, self.verbose, self.pit_mode = stream, terminal, verbose, pit_mode
        self.erases = erases
        self.clean: Callable[[str], str] = str
        self.as_of = ""
        self.told: tuple[str, ...] = ()
        self.reads = False
        self._progress_shown = False

    def detail(self, text: str) -> None:
        if self.verbose:
            self._line(text)

    def request(self, url: str) -> None:
        if not self.pit_mode:
            self.detail(f"GET {url}")

    def begin(self, source: str, pit: datetime | None, now: datetime) -> None:
        """Log the question: the source, and the PIT or, in open mode, the wall clock."""
        self.as_of = f", as of {format_for_people(pit)}" if pit else ""
        self.detail(f"{source} as of {format_for_people(pit or now)}" + ("" if pit else " (open mode)"))

    def hide(self, secrets: Sequence[str]) -> None:
        """Redact ``secrets`` from now on."""
        self.clean = redactor(secrets)

    def start(self, source: str) -> None:
        self.progress(f"{source}: fetching ...")

    def kept(self, source: str, count: int) -> None:
        if count % PROGRESS_STEP == 0:
            self.progress(f"{source}: {count} items ...")

    def summary(self, source: str, kept: Sequence[Record], gaps: Sequence[Gap]) -> None:
        if self.reads or not (self.terminal or self.verbose):
            return
        every = (record.available_at for record in kept)
        stamps = [stamp for stamp in every if stamp is not None and stamp.utcoffset() is not None]
        span = f", {in_new_york(min(stamps))} to {in_new_york(max(stamps))}" if stamps else ""
        kinds = ", ".join(dict.fromkeys(one.type for one in gaps))
        items = "1 item" if len(kept) == 1 else f"{len(kept)} items"
        # Why there is nothing, or not everything: a person would otherwise have to look for it in the JSON.
        self.told = tuple(dict.fromkeys(one.reason for one in gaps if one.type not in ("pit_excluded", "unverifiable")))
        summary = f"{source}: {items}{span}{self.as_of}" + (f" (gaps: {kinds})" if kinds else "")
        self._line(f"{summary}. {' '.join(self.told)}" if self.told else summary)

    def _line(self, text: str) -> None:
        if self.stream is not None:
            self.clear()
            self._write(line(self.clean(text)))

    def progress(self, text: str) -> None:
        """Shows ``text`` in the place of the progress line, on a terminal."""
        if self.terminal and self.erases:
            self.clear()
            self._write(text)
            self._progress_shown = True

    def clear(self) -> None:
        """Removes the progress line, so that nothing is written after it on the same line."""
        if self._progress_shown:
            self._write("\r\x1b[K")
            self._progress_shown = False

    def _write(self, text: str) -> None:
        if self.stream is not None:
            try:
                self.stream.write(text)
                self.stream.flush()
            except (OSError, ValueError):  # a closed stderr must not cost the envelope
                self.stream = None
