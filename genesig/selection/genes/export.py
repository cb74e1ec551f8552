"""The signature as one annotated matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from genesig.data.steps.described import described
from genesig.results import Dataset

if TYPE_CHECKING:
    import pandas as pd


TYPES = {"rank": int, "block": int, "named": bool, "core": bool}
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
