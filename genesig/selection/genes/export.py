"""The signature as one annotated matrix, and neighbours on a chromosome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.described import described
from genesig.genome.order import Genome
from genesig.results import Dataset, Fits
from genesig.selection.genes.frequency import rounded

if TYPE_CHECKING:
    import pandas as pd


TYPES = {"rank": int, "block": int, "fdr_selected": bool, "core": bool}
"""Of the columns of signature.tsv that are no measures; ``class`` is text."""


def signature_dataset(dataset: Dataset, signature: pd.DataFrame) -> Dataset:
    """Return all samples and the genes of the signature, in its order.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    signature : DataFrame
        signature.tsv; its columns join those of ``var``, of one type whatever the study: a share
        of 1 in every row reads as a whole number, and no rows have no type. An unknown block
        becomes 0, any other number that is not known NaN.
    """
    place = {gene: column for column, gene in enumerate(dataset.genes)}
    columns = np.array([place[gene] for gene in signature["gene"]], dtype=np.int64)
    notes = signature.drop(columns="symbol").set_index("gene")
    notes["block"] = notes["block"].fillna(0)
    notes = notes.astype({name: TYPES.get(str(name), float) for name in notes if name != "class"})
    var = dataset.var.iloc[columns].join(notes)
    X = described(dataset).X[:, columns]
    return replace(dataset, X=X, var=var, unaligned=None)


def stretches_table(dataset: Dataset, nested: pd.DataFrame, final: Fits) -> pd.DataFrame:
    """Return stretches.tsv: the stretches of the final model, largest contribution first.

    A stretch is a run of genes of the model that are neighbours among those measured on a
    chromosome; a gene without a place is one by itself, and ``chromosome``, ``start`` and ``end``
    are blank. ``first`` and ``last`` name its ends,
    ``contribution`` is the sum of the weights, each times the gene's standard deviation, and
    ``frequency`` the mean selection frequency of its genes in the lists that the outer splits
    chose, ``least_cv_frequency`` the smallest.
    """
    import pandas as pd

    names, places = dataset.places()
    genome = Genome.from_columns(len(names), names, places)
    genes, weights = final.coef(0, int(final.choice[0, 2]))
    size = np.zeros(len(names))
    there = np.zeros(len(names), dtype=bool)
    order = genome.order
    size[genes] = weights * dataset.X[:, genes].std(axis=0)
    there[genes] = True
    chosen = nested[nested["mu"].isna()].set_index("gene")["cv_frequency"]
    often = chosen.reindex(dataset.genes).fillna(0.0).to_numpy()
    symbols = dataset.var["symbol"].to_numpy()
    rows = []
    for some in runs(there[order], genome.starts):
        part = order[some]
        first = part[0]
        last = part[-1]
        known = not names[first].startswith("\0")
        rows.append(
            (
                names[first] if known else "",
                places[first] if known else np.nan,
                places[last] if known else np.nan,
                len(part),
                symbols[first],
                symbols[last],
                size[part].sum(),
                often[part].mean(),
                often[part].min(),
            )
        )
    columns = [
        "chromosome",
        "start",
        "end",
        "genes",
        "first",
        "last",
        "contribution",
        "cv_frequency",
        "least_cv_frequency",
    ]
    table = pd.DataFrame(rows, columns=columns)
    order = np.argsort(-rounded(table["contribution"].abs().to_numpy(dtype=float)), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def runs(there: Array, starts: Array) -> list[slice]:
    """Return the runs of what is there, (d,) bool, which begin anew at each start."""
    begins = np.concatenate([[True], there[1:] != there[:-1]])
    begins[starts] = True
    first = np.flatnonzero(begins)
    stop = np.append(first[1:], len(there))
    return [slice(a, b) for a, b in zip(first, stop, strict=True) if there[a]]
