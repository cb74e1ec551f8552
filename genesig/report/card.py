"""The card of the model: what model.json is for and how far it may be trusted, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from genesig.report.methods import methods
from genesig.report.page.words import clean
from genesig.report.record import Report
from genesig.report.writeup import limits_words, results

USE = (
    "Research. It scores samples measured in the same way as the training samples: `genesig predict"
    " results/model.json new.tsv` refuses values on another scale and says of each sample why its"
    " score may be wrong.",
    "It is no medical device: no decision about a patient may rest on it before it was tested in"
    " samples like those it is to be used on. Its genes need no evidence of their own; those that"
    " have it are the FDR-selected genes, which `--fdr-selected` scores by.",
)
MARKS = re.compile(r"([\\`*_\[\]<>&#|])")


def card(data: Report, title: str) -> str:
    """Return model_card.md, whose words are those of the report.

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
    made = f"genesig {run['versions']['genesig']}, seed {run['seed']}."
    parts = {
        "Intended use": USE,
        "How well it predicts": _plain(results(data)),
        "Limits": _plain([limits_words(data)]),
        "How it was made": _plain([made, *methods(data)]),
    }
    sections = [f"## {name}\n\n" + "\n\n".join(text) for name, text in parts.items()]
    return "\n\n".join([f"# Model card: {_plain([clean(title)])[0]}", *sections]) + "\n"


def _plain(words: Sequence[str]) -> list[str]:
    """Take their meaning from the marks of Markdown and HTML."""
    return [MARKS.sub(r"\\\1", text) for text in words]
