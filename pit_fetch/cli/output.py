"""The output of one run of the command: the text for stdout, the exit status, and a few lines for stderr."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, TextIO

from pit_fetch.errors import ExitStatus
from pit_fetch.gaps import Gap
from pit_fetch.request.audience import is_for_a_person, is_for_an_agent
from pit_fetch.support.bundled import gate
from pit_fetch.support.process import STDERR_SECONDS
from pit_fetch.support.terminal import deliver, line, visible_text

if TYPE_CHECKING:
    from pit_fetch.engine.progress import Progress
    from pit_fetch.runtime import Runtime


class Output:
    """The text and exit status to write, once everything is decided.

    complaint       why the exit status is not 0, for stderr
    notes           more lines for stderr
    is_refusal      the text is an envelope that says why nothing was asked
    progress        the progress line, if there is one, which is cleared first
    private_output  takes the place of stdout in a call that the guard has rebuilt
    """

    def __init__(self) -> None:
        self.text, self.status, self.complaint = "", int(ExitStatus.OK), ""
        self.is_refusal = False
        self.notes: tuple[str, ...] = ()
        self.progress: Progress | None = None
        self.private_output: TextIO | None = None

    def set(self, text: str, status: int = ExitStatus.OK, complaint: str = "", notes: tuple[str, ...] = ()) -> None:
        """Replace the text, the status and the lines for stderr."""
        self.text, self.status, self.complaint, self.notes = text, status, complaint, notes

    def refuse(self, gap: Gap, status: ExitStatus = ExitStatus.REFUSED) -> None:
        """Write an empty envelope with ``gap`` in the place of everything else."""
        from pit_fetch.formats.json import render
        from pit_fetch.pipeline.envelope import EnvelopeOptions, build

        self.set(render(build([], [gap], EnvelopeOptions())), status, gap.reason)
        self.is_refusal = status is ExitStatus.REFUSED

    def emit(self, runtime: Runtime) -> int:
        """Write everything and return the exit status. A reader that went away is not worth an error message."""
        status, complaint, notes = self.status, self.complaint, self.notes
        if self.progress is not None:
            self.progress.clear()
            notes = tuple(note for note in notes if not note.endswith(self.progress.reasons))
            complaint = "" if complaint in self.progress.reasons else complaint
        complaint = "" if any(note.endswith(complaint) for note in notes) else complaint
        if not is_for_an_agent(runtime.environ):
            from pit_fetch.engine.settings_files import misspelt

            notes = (*notes, *(gate.NOT_A_VARIABLE.format(name, meant) for name, meant in misspelt(runtime.environ)))
        stdout = self.private_output or runtime.stdout
        if stdout is None:
            return ExitStatus.CLOSED_PIPE
        try:
            # A person reads the reason of a refusal on stderr, and needs no envelope around it.
            is_told = self.is_refusal and self.private_output is None and is_for_a_person(runtime)
            deliver(stdout, visible_text("" if is_told else self.text, stdout))
            if self.private_output is not None:
                self.private_output.close()
        except BrokenPipeError:
            return ExitStatus.CLOSED_PIPE
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or "it is closed"
            status, complaint = ExitStatus.BUG, f"stdout cannot be written ({problem}): the answer is incomplete"
        lines = "".join(line(text) for text in (*notes, complaint) if text)
        if lines and runtime.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                deliver(runtime.stderr, lines, STDERR_SECONDS)
        return status
