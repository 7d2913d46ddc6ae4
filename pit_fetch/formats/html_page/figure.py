"""The figure of a page, with its caption and legend. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pit_fetch.formats.columns import Column
from pit_fetch.formats.html_page.lines import by_series, class_of, is_relative
from pit_fetch.formats.html_page.marks import GREY, Drawing, drawing
from pit_fetch.formats.html_page.markup import cut, escaped
from pit_fetch.formats.html_page.timeline import svg
from pit_fetch.pipeline.envelope import EVIDENCE, PlainEnvelope

_NAME = 40  # the most characters of a series' name
# The legend, in its order.
_MEANINGS = {
    "public": "a fetch at the PIT shows it",
    "late": "published, or first seen, after the PIT",
    "revised": "changed after the PIT, and the source no longer serves what it said by then",
    "undated": "nothing shows when it was published",
    "unusable": "it has no id",
    "new": "only the later answer has it",
    "repeated": "both have it in the same words, and the later one from another place, such as a newer filing",
    "changed": "both have it, and below it is what it held before",
    "gone": "only the earlier answer has it",
    "claimed": "a claim dates it and nothing proves it: it may have changed since",
}


def figure(envelope: PlainEnvelope, typed: Sequence[Column]) -> str:
    """Return the time line of the items, with lines of their figures if they have some; "" without a time."""
    drawn = drawing(envelope, typed)
    if drawn is None:
        return ""
    first, last = min(mark.at for mark in drawn.marks), max(mark.at for mark in drawn.marks)
    form = "%-d %B %Y" if drawn.by_day else "%-d %B %Y, %H:%M"
    span = f"{first:{form}} to {last:{form}}"
    by = "" if drawn.by == "available_at" else f"by {escaped(drawn.by)}, "
    label = f"Time line of {len(drawn.marks)} items, {span}"
    picture = svg(drawn.marks, envelope.provenance.pit, label)
    return f"<figure>{picture}<figcaption>{_what(drawn)}{by}{span}{_key(drawn)}</figcaption></figure>\n"


def _what(drawn: Drawing) -> str:
    """Return what the lines show."""
    if not drawn.value:
        return ""
    change = ", change since the first shown" if is_relative(by_series(drawn.marks)) else ""
    versions = ", each version until the next" if any(mark.version_of for mark in drawn.marks) else ""
    return f"<b>{escaped(drawn.value)}</b>{change}{versions}, "


def _key(drawn: Drawing) -> str:
    """Return the legend of the lines; "" if there is but one."""
    names = list(by_series(drawn.marks))
    rows = [
        f'<li><i class="line{class_of(number)}"></i>{escaped(cut(name or "other", _NAME))}'
        for number, name in enumerate(names)
        if len(names) > 1
    ]
    if drawn.estimate and any(mark.estimate is not None for mark in drawn.marks):
        rows += [f"<li><i class=dot></i>{escaped(drawn.value)}"] if not rows else []
        rows.append(f"<li><i class=ring></i>{escaped(drawn.estimate)}")
    if drawn.left_out:
        rows.append(f"<li>{drawn.left_out} more not drawn")
    return f'<ul class="key" aria-label="Lines">{"".join(rows)}</ul>' if rows else ""


def legend(envelope: PlainEnvelope) -> str:
    """Return what the verdicts of ``explain``, the changes of ``diff`` and a claim mean; "" if there are none."""
    present = {str(item.get(key)) for item in envelope.data for key in ("verdict", "change", EVIDENCE)}
    rows = "".join(
        f'<li class="{name}{" grey" if name in GREY else ""}"><em>{name}</em> {meaning}'
        for name, meaning in _MEANINGS.items()
        if name in present
    )
    return f'<ul class="legend" aria-label="Legend">{rows}</ul>\n' if rows else ""
