"""What would make the errors look too small: genes that hold the label, samples of one patient."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.results import Design
from genesig.words import is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
ROUNDING = 1e-10
GENES_AT_ONCE = 4096
# The whole name, but for blanks and punctuation: 'Patient ID' is one, 'patient age' is not.
UNITS = "patient|subject|donor|individual|animal|participant|person"
IDS = "id|ids|no|nr|num|number|code|identifier|name|barcode"
BELONGING = re.compile(rf"({UNITS})s?|.*({UNITS}|case|mouse)s?({IDS})")


def check_label_genes(expression: Expression, sheet: Sheet, where: str) -> Iterator[Problem]:
    """Warn of genes with |r| = 1 with the response: with classes, one value for each class."""
    design = sheet.design
    labels = sheet.obs[design.label].to_numpy()
    y = labels.astype(float) if design.classes is None else (labels == design.classes[1]) * 1.0
    parts = np.array_split(expression.X, len(expression.genes) // GENES_AT_ONCE + 1, axis=1)
    r = np.concatenate([correlations(part, y) for part in parts])
    found = [expression.genes[k] for k in np.flatnonzero(np.abs(r) >= 1 - ROUNDING)]
    if found:
        one = len(found) == 1
        what = f"{'gene' if one else 'genes'} {listing(found)} {'equals' if one else 'equal'} the "
        what += f"label '{design.label}' (correlation 1 over all samples); "
        what += "is it the label itself, or made from it? " if one else "are they made from it? "
        what += f"Take {'it' if one else 'them'} out, else the errors say nothing of new samples"
        yield Problem(where, what, "warning")


def correlations(X: Array, y: Array) -> Array:
    """Return each gene's correlation with y over the samples that have it, 0 for half or fewer."""
    known = np.isfinite(X)
    counts = np.maximum(known.sum(axis=0), 1)
    A = np.where(known, X, 0)
    A = np.where(known, A - A.sum(axis=0) / counts, 0)
    B = np.where(known, y[:, None] - (y @ known) / counts, 0)
    product = np.sqrt(np.sum(A**2, axis=0) * np.sum(B**2, axis=0))
    usable = (product > 0) & (2 * counts > len(y)) & (counts > 2)
    return np.asarray(np.divide(np.sum(A * B, axis=0), product, out=np.zeros(len(counts)),
                                where=usable))  # fmt: skip


def check_belonging(sheet: Sheet, where: str) -> Iterator[Problem]:
    """Warn of a column of patients that no group keeps on one side of the splits."""
    obs, design = sheet.obs, sheet.design
    for name in map(str, obs.columns):
        plain = re.sub(r"[\W_]+", "", name).casefold()
        if name == design.label or not BELONGING.fullmatch(plain):
            continue
        named = obs[[not is_missing(value) for value in obs[name]]]
        if _repeats(named, name, design) and _straddles(named, name, design.group):
            what = f"samples of one '{name}' would stand on both sides of a split; set data.group: "
            what += f"{name} and splits.scheme: stratified_group_kfold"
            yield Problem(f"{where}, column '{name}'", what, "warning")


def _repeats(named: pd.DataFrame, name: str, design: Design) -> bool:
    """Tell whether values repeat, other than one for all or as a second name of the classes."""
    if not named[name].duplicated().any() or len(set(named[name])) == 1:
        return False
    return design.classes is None or bool(named.groupby(design.label)[name].nunique().max() > 1)


def _straddles(named: pd.DataFrame, name: str, group: str | None) -> bool:
    if group is None or name == group:
        return group is None
    return bool(named.groupby(name)[group].nunique().max() > 1)
