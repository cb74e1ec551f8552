"""Short texts beside the page: the model card, and the last lines of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from genesig.results.files import load_text

if TYPE_CHECKING:
    from genesig.report.record import Report

INTENDED_USE = (
    "Research only: no decision about a patient may rest on this model before it was tested in an"
    " external cohort.",
    "`genesig predict results/model.json new.tsv` scores samples measured in the same way as the"
    " training samples, and refuses values on another scale. Not every gene of the model passes the"
    " FDR; `--fdr-selected` scores with those that do.",
)
LIMIT_OF_ACCURACY = "The accuracy is that of models built this way, not of the final model itself."
MAX_CARD_WORDS = 250  # warnings that do not fit are in the report alone
# characters that Markdown or HTML would take for markup
_MARKUP = re.compile(r"([\\`*_\[\]<>&#|])")
_ESCAPED_MARKUP = re.compile(rf"\\{_MARKUP.pattern}")
_SECTION = re.compile(r"^## (.+)\n\n(.+)$", re.MULTILINE)  # heading and first paragraph
_CLOSING_LABELS = {"Conclusion": "", "Accuracy": "Prediction. ", "Genes": "Genes. "}
"""Heading of the card -> label of its first paragraph in the last lines of a run."""


def write_card(data: Report, title: str) -> str:
    """Return model_card.md: at most 250 words, taken from the first screen of the report.

    data: the value of report_data.json.
    title: title of the report; Markdown in it is escaped.

    Source: Mitchell et al. 2019, Model Cards for Model Reporting: its headings.
    """
    # `closing_lines` needs none of them, and a run would wait for their imports.
    from genesig.report.answer.sentences import write_paragraphs
    from genesig.report.external.section import cohort_paragraphs
    from genesig.report.page.verdict import conclusion, headline
    from genesig.report.page.words import clean

    run = data["run"]
    origin = f"genesig {run['versions']['genesig']}, seed {run['seed']}. Methods: report.html."
    prediction, genes, *_ = write_paragraphs(data)
    parts = {
        "Intended use": INTENDED_USE,
        "Conclusion": _escape_markdown([f"{conclusion(data)}. {headline(data)}"]),
        "Accuracy": _escape_markdown([p.text for p in (prediction, *cohort_paragraphs(data))]),
        "Genes": _escape_markdown([genes.text]),
        "Limits": _escape_markdown([LIMIT_OF_ACCURACY]),
        "How it was made": _escape_markdown([origin]),
    }
    head = f"# Model card: {_escape_markdown([clean(title)])[0]}"
    for warning in _escape_markdown(data["warnings"]):
        extended = {**parts, "Limits": [*parts["Limits"], warning]}
        if len(_card_text(head, extended).split()) <= MAX_CARD_WORDS:
            parts = extended
    return _card_text(head, parts) + "\n"


def _card_text(head: str, parts: Mapping[str, Sequence[str]]) -> str:
    """Return the text of the card: its title, then paragraphs below the heading of each part."""
    sections = [f"## {name}\n\n" + "\n\n".join(paragraphs) for name, paragraphs in parts.items()]
    return "\n\n".join([head, *sections])


def _escape_markdown(words: Sequence[str]) -> list[str]:
    """Return texts with the characters of Markdown and HTML escaped."""
    return [_MARKUP.sub(r"\\\1", text) for text in words]


def closing_lines(folder: str | Path) -> str:
    """Return the last lines of a run: the path of the report, the conclusion, prediction, genes.

    Empty if the results in `folder` have no report, or an older one.
    """
    page, card, data = (
        Path(folder) / name for name in ("report.html", "model_card.md", "report_data.json")
    )
    is_complete = page.exists() and card.exists() and data.exists()
    if not is_complete or page.stat().st_mtime < data.stat().st_mtime:
        return ""
    paragraphs = dict(_SECTION.findall(load_text(card)))
    lines = [
        label + _ESCAPED_MARKUP.sub(r"\1", paragraphs[heading])
        for heading, label in _CLOSING_LABELS.items()
        if heading in paragraphs
    ]
    return "\n".join([f"Report: {page}", *lines])
