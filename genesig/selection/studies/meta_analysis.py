"""Meta-analysis of each gene: does it hold in all studies, and which of them disagrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.quality.false_discovery import q_values
from genesig.results import Dataset
from genesig.selection.studies.effects import EFFECTS
from genesig.selection.studies.moderated import moderated
from genesig.selection.studies.random_effects import together

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


COLUMNS = ("gene", "symbol", "effect", "low", "high", "p_value", "q_value", "tau", "i2",
           "q_p_value", "agree", "least", "most")  # fmt: skip


def meta_table(dataset: Dataset) -> pd.DataFrame:
    """Return meta.tsv: one row for each gene, over the studies.

    Columns: gene, symbol, ``effect``, its 95 % interval ``low`` to ``high`` and ``p_value`` (see
    `moderated`), ``q_value`` by Benjamini and Hochberg over the genes; ``tau``, ``i2`` and
    ``q_p_value``, how far studies differ in the gene itself (see `together`); ``agree``, the share
    of them with the sign of the mean; ``least`` and ``most``, the mean without one study, from the
    smallest to the largest; and ``effect of`` each study. A gene that no study tells anything about
    has an empty row, one of a single study no interval and no p. Of more than two classes there is
    one row for each gene and ``class``, that class against the rest, and q is over all of them.

    Parameters
    ----------
    dataset : Dataset
        Of several studies.
    """
    import pandas as pd

    names = study_names(dataset)
    if not names:
        return pd.DataFrame(columns=list(COLUMNS))
    parts = []
    for name, y in _responses(dataset):
        part = _of_response(dataset, y, names)
        if name:
            part.insert(COLUMNS.index("effect"), "class", name)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    p = table["p_value"].fillna(1.0).to_numpy()
    table.insert(list(table.columns).index("p_value") + 1, "q_value", q_values(p))
    return table


def _responses(dataset: Dataset) -> list[tuple[str, Array]]:
    """Return the response; of more than two classes each of them against the rest, by its name."""
    y, classes = dataset.response(), dataset.design.classes or ()
    if len(classes) <= 2:
        return [("", y)]
    return [(name, np.where(y == k, 1.0, -1.0)) for k, name in enumerate(classes)]


def _of_response(dataset: Dataset, y: Array, names: list[str]) -> pd.DataFrame:
    """Return the rows of one response, without q."""
    import pandas as pd
    from scipy.special import chdtrc

    value, variance = effects_of(dataset, y, names)
    found, whole = together(value, variance), moderated(value, variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        differ = np.where(found.studies > 1, chdtrc(np.maximum(found.studies - 1, 1), found.q),
                          np.nan)  # fmt: skip
        same = np.sum(np.sign(value) == np.sign(whole.mean), axis=0) / found.studies
    least, most = _without_one(value, variance)
    table = pd.DataFrame({
        "gene": dataset.genes, "symbol": dataset.var["symbol"].to_numpy(), "effect": whole.mean,
        "low": whole.low, "high": whole.high, "p_value": whole.p, "tau": np.sqrt(found.tau2),
        "i2": found.i2, "q_p_value": differ, "agree": same,
        "least": least, "most": most,
    })  # fmt: skip
    return table.assign(**{f"effect of {name}": value[k] for k, name in enumerate(names)})


def study_names(dataset: Dataset) -> list[str]:
    """Return the names of the studies, in their order."""
    names = dataset.batches() if dataset.design.studies else None
    return [] if names is None else [str(name) for name in np.unique(names)]


def effects_of(dataset: Dataset, y: Array, names: list[str]) -> tuple[Array, Array]:
    """Return the effects and variances of every gene in each study, (K, d)."""
    _, measure = EFFECTS[dataset.design.kind]
    study = dataset.batches()
    found = [measure(dataset.X[study == name], y[study == name]) for name in names]
    return np.stack([each.value for each in found]), np.stack([each.variance for each in found])


def _without_one(value: Array, variance: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest mean without one study."""
    rows = np.arange(len(value))
    means = np.stack([moderated(value[rows != k], variance[rows != k]).mean for k in rows])
    known = ~np.isnan(means)
    least = np.where(known, means, np.inf).min(axis=0)
    most = np.where(known, means, -np.inf).max(axis=0)
    return np.where(known.any(axis=0), least, np.nan), np.where(known.any(axis=0), most, np.nan)
