"""The card of the model: what model.json is for and how far it may be trusted, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from genesig.report.answer.sentences import write_paragraphs
from genesig.report.page.verdict import conclusion, headline
from genesig.report.page.words import clean
from genesig.report.record import Report

USE = (
    "Research only: no decision about a patient may rest on this model before it was tested in an"
    " independent cohort.",
    "`genesig predict results/model.json new.tsv` scores samples measured in the same way as the"
    " training samples, and refuses values on another scale. Not every gene of the model passes the"
    " FDR; `--fdr-selected` scores with those that do.",
)
INTERNAL = "The accuracy is that of models built this way, not of the final model itself."
MAX_WORDS = 250
"""Words of the card; warnings that do not fit are in the report alone."""
MARKS = re.compile(r"([\\`*_\[\]<>&#|])")


def card(data: Report, title: str) -> str:
    """Return model_card.md: at most 250 words, taken from the first screen of the report.

    Parameters
    ----------
    data : Report
        The value of report_data.json.
    title : str
        That of the report; it may be anything, and is no mark-up here.

    References
    ----------
    Mitchell et al. 2019, Model Cards for Model Reporting: its headings.
    """
    run = data["run"]
    origin = f"genesig {run['versions']['genesig']}, seed {run['seed']}. Methods: report.html."
    prediction, genes, *_ = write_paragraphs(data)
    parts = {
        "Intended use": USE,
        "Conclusion": _plain([f"{conclusion(data)}. {headline(data)}"]),
        "Accuracy": _plain([prediction.text]),
        "Genes": _plain([genes.text]),
        "Limits": _plain([INTERNAL]),
        "How it was made": _plain([origin]),
    }
    head = f"# Model card: {_plain([clean(title)])[0]}"
    for warning in _plain(data["warnings"]):
        extended = {**parts, "Limits": [*parts["Limits"], warning]}
        if len(_joined(head, extended).split()) <= MAX_WORDS:
            parts = extended
    return _joined(head, parts) + "\n"


def _joined(head: str, chapters: Mapping[str, Sequence[str]]) -> str:
    """Return the text of the card."""
    sections = [f"## {name}\n\n" + "\n\n".join(text) for name, text in chapters.items()]
    return "\n\n".join([head, *sections])


def _plain(words: Sequence[str]) -> list[str]:
    """Return texts in which the marks of Markdown and HTML are escaped."""
    return [MARKS.sub(r"\\\1", text) for text in words]
