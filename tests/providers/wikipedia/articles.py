"""A law of the text of articles: figures that an article parts do not run together, and none of them vanishes."""

from __future__ import annotations

import re
from random import Random

from pit_fetch_providers.wikipedia import wikitext

# What may stand between two figures, with figures of its own.
_SAID = ("{{{{percentage|{0}|20}}}}", "{{{{height|ft={0}}}}}", "{{{{val|20|e={0}|u=kg}}}}", "<math>x^{0}</math>",
         "<sup>{0}</sup>", "<sub>{0}</sub>", "{{{{sup|{0}}}}}", "<p>{0}</p>",
         "{{{{frac|{0}|{0}}}}}", "{{{{e|{0}}}}}", "\n{{| \n| {0} || {0}\n|}}\n", "<div>{0}</div>", "<s>{0}</s>",
         "{{{{su|p={0}}}}}", "{{{{age|{0}}}}}", "<li>{0}</li>", "{{{{#expr:{0}}}}}")  # fmt: skip
_UNSAID = ("<ref>{0}</ref>", "{{{{efn|{0}}}}}", "{{{{ndash}}}}", "{{{{snd}}}}", "{{{{times}}}}", "{{{{nbsp}}}}", "<br>",
           "[[File:{0}.png]]", "<span style='display:none'>{0}</span>", "{{{{cite web|{0}}}}}")  # fmt: skip


def figures(rng: Random) -> int:
    """No figure of a text is made of two, and each is there whose template or tag says something."""
    signs = rng.sample("3456789", 7)
    pieces = [rng.choice(_SAID + _UNSAID) for _ in range(3)]
    figure = [rng.choice(("", "In ")), signs[0] * 3]
    for place, piece in enumerate(pieces):
        figure += [rng.choice(("", "", " ", ".")), piece.format(signs[2 * place + 1] * 3), signs[2 * place + 2] * 3]
    source = "".join(figure)
    text = wikitext.plain_text(wikitext.parse(source))
    for found in re.findall(r"[0-9]+(?:[.,][0-9]+)*", text.replace("|20}}", "}}").replace("{{val|20|", "")):
        assert len(set(found) - {".", ","}) == 1, f"{found} in {text!r} of {source!r}"
    said = [*signs[::2], *(signs[2 * place + 1] for place, piece in enumerate(pieces) if piece not in _UNSAID)]
    for sign in said:
        assert sign * 3 in text, f"{sign} of {source!r} is not in {text!r}"
    return 1
