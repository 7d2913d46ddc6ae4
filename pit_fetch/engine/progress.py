"""The lines that a person sees on stderr: progress and a summary on a terminal, and those of ``-v``.

In PIT mode nothing here may depend on withheld items, so requests, pages and pauses are reported
in open mode only; in PIT mode they go to the audit file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TextIO

from pit_fetch.gaps import Gap, GapType
from pit_fetch.provider import Record
from pit_fetch.support.redaction import redactor
from pit_fetch.support.terminal import line
from pit_fetch.times import format_for_people, in_new_york, is_aware

PROGRESS_STEP = 10
# The types of gap that an answer may have without lacking anything.
_ALWAYS = (GapType.PIT_EXCLUDED, GapType.UNVERIFIABLE)


class Progress:
    """The progress of one call, on ``stream``; None means silence.

    erases   the terminal can erase a line
    clean    redacts the secrets, once they are known
    as_of    the end of the summary: the PIT, once it is known
    reasons  those that the summary has stated
    nested   this fetch is one of several behind a diff or explain; only the final answer has a summary
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
        self.reasons: tuple[str, ...] = ()
        self.nested = False
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
        self.show(f"{source}: fetching ...")

    def kept(self, source: str, count: int) -> None:
        if count % PROGRESS_STEP == 0:
            self.show(f"{source}: {count} items ...")

    def summary(self, source: str, kept: Sequence[Record], gaps: Sequence[Gap]) -> None:
        if self.nested or not (self.terminal or self.verbose):
            return
        stamps = [record.available_at for record in kept if is_aware(record.available_at)]
        ends = dict.fromkeys(in_new_york(end(stamps)) for end in (min, max)) if stamps else ()
        span = f", {' to '.join(ends)}" if ends else ""
        kinds = ", ".join(dict.fromkeys(gap.type for gap in gaps))
        items = "1 item" if len(kept) == 1 else f"{len(kept)} items"
        # Why there is nothing, or not everything: a person would otherwise have to look for it in the JSON.
        self.reasons = tuple(dict.fromkeys(gap.reason for gap in gaps if gap.type not in _ALWAYS))
        summary = f"{source}: {items}{span}{self.as_of}" + (f" (gaps: {kinds})" if kinds else "")
        self._line(f"{summary}. {' '.join(self.reasons)}" if self.reasons else summary)

    def _line(self, text: str) -> None:
        if self.stream is not None:
            self.clear()
            self._write(line(self.clean(text)))

    def show(self, text: str) -> None:
        """Write ``text`` in the place of the progress line, on a terminal."""
        if self.terminal and self.erases:
            self.clear()
            self._write(text)
            self._progress_shown = True

    def tell(self, text: str) -> None:
        """Write a line that stays, on a terminal."""
        if self.terminal:
            self._line(text)

    def clear(self) -> None:
        """Remove the progress line, so that nothing is written after it on the same line."""
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
