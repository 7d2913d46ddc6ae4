"""Mistakes that a shell or another system left in a path, which would then lead to a file that nobody looks for.

>>> mistake("'t.csv'", "/nowhere"), mistake("saved/50% of it, in 2024.csv", "/nowhere")
('a path has quotes of its own: leave them out', '')
"""

from __future__ import annotations

import os
import re

# The first row whose pattern matches counts.
_MISTAKES = (
    ("(?:\\A|/)[\"'\u2018\u201c]|[\"'\u2019\u201d]\\Z", "a path has quotes of its own: leave them out"),
    (r"\A\s|\s\Z|[\x00-\x1f\x7f]", "a path begins or ends with a blank, or has an invisible character: leave it out"),
    (r"(?:\A|/)@", "a path stands alone here: leave out the @"),
    (r"\Afile:/", "a path is no address: leave out file://"),
    (r"\A[a-z][a-z0-9+.-]+:/", "an address is no file: name one on this machine"),
    (r"(?:\A|/)[A-Za-z]:|\\", "a path of Windows does not lead anywhere here: write it with / and no C:"),
    (r"\$[A-Za-z_{(]|%[A-Za-z_]+%", "a variable in a path was not replaced: a shell leaves $NAME in single quotes"),
)


def mistake(name: str, folder: str) -> str:
    """Return what is wrong with the path ``name``, with the fix; "" if nothing is, or if such a file or folder exists.

    Relative paths start in ``folder``.
    """
    for pattern, problem in _MISTAKES:
        match = re.search(pattern, name)
        if match is not None:
            end = name.find("/", match.end())
            path = os.path.join(folder, name if end < 0 else name[:end])
            return "" if "\0" not in path and os.path.lexists(path) else problem
    return ""
