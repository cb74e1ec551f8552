"""Everything that follows from the fits of the observed labels, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.described import described
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import joined
from genesig.results.splits import Chance
from genesig.selection.assess.calibration import rejection_table
from genesig.selection.assess.held_out import STUDY, predictions_table, scores_table
from genesig.selection.assess.stability import stability_table
from genesig.selection.genes.blocks import block_evidence, block_tables
from genesig.selection.genes.export import stretches_table
from genesig.selection.genes.frequency import (
    FEWEST,
    LEVEL,
    expected,
    gate,
    list_sizes,
    nested_lists,
    p_values,
    q_values,
    ranked,
    rounded,
    tails,
)
from genesig.selection.genes.univariate import univariate_table

if TYPE_CHECKING:
    import pandas as pd

SELECTION = [
    "gene",
    "symbol",
    "selection_frequency",
    "null_frequency",
    "selection_p",
    "selection_q",
    "fdr_selected",
]
"""Columns of selection.tsv."""


def gather(
    dataset: Dataset,
    splits: Splits,
    observed: Sequence[Fits],
    final: Fits,
    subsamples: Fits,
    chance: Chance,
    *,
    cv_frequency: float,
    fdr: float,
    clusters: Mapping[str, Any],
    probabilities: str | Sequence[float] = STUDY,
) -> dict[str, pd.DataFrame]:
    """Return the result tables by the names of their files.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    observed : list of Fits
        The batches of the observed labels, in any order.
    final, subsamples : Fits
        The fit on all samples, and those on the halves (which may be none).
    chance : Chance
        How often halves list each gene; empty where no evidence is looked for.
    cv_frequency, fdr : float
        Share of the outer splits that makes a gene core, where genes have no evidence of their own;
        rate of error of those that have.
    clusters : mapping
        The config section of this name, see `block_tables`.
    probabilities : str or sequence of float
        Of the config, see `asked_shares`.

    Returns
    -------
    dict of DataFrame
        signature, selection, nested_lists, lists, blocks, prototypes, scores, predictions,
        rejection, stability, univariate; stretches, where the study knows the places of its genes.
    """
    import pandas as pd

    dataset = described(dataset)
    fits = joined(observed, splits).with_chosen()
    nested = nested_lists(dataset, fits, cv_frequency=cv_frequency)
    blocks, prototypes = block_tables(dataset, final, **clusters)
    led = dataset.var.index.get_indexer(pd.Index(prototypes["gene"]))
    prototypes = prototypes.join(block_evidence(dataset.X, led, chance))
    univariate = univariate_table(dataset)
    selection = selection_table(dataset, chance, fdr)
    placed = {"stretches": stretches_table(dataset, nested, final)} if dataset.placed else {}
    predictions = predictions_table(dataset, splits, fits, probabilities)
    return {
        "signature": signature_table(dataset, nested, blocks, univariate, final, selection, chance),
        "selection": selection,
        "nested_lists": nested,
        "lists": list_sizes(fits, nested),
        "blocks": blocks,
        "prototypes": prototypes,
        "scores": scores_table(dataset, splits, fits),
        "predictions": predictions,
        "rejection": rejection_table(predictions, dataset.design.classes),
        "stability": stability_table(dataset, splits, fits, subsamples.with_chosen()),
        "univariate": univariate,
        **placed,
    }


def selection_table(dataset: Dataset, chance: Chance, fdr: float) -> pd.DataFrame:
    """Return selection.tsv: the genes in any half-sample list, by falling selection frequency.

    ``selection_frequency`` is the share of the half-sample lists that contain the gene,
    ``null_frequency`` its mean under permuted labels; `frequency` defines ``selection_p`` and
    ``selection_q``. ``fdr_selected``: q is at most `fdr`, and permuted labels seldom give as many
    such genes (see `frequency.gate`); never with fewer than `FEWEST` permutations. Without
    permutations the table is empty.
    """
    import pandas as pd

    if not chance:
        return pd.DataFrame(columns=SELECTION)
    most = int(chance.lists)
    (times, *null) = chance.times()
    genes = ranked(times, chance.strength)
    q = q_values(times, expected(chance.final))
    passed = gate(tails(times[None], most)[0], chance.final, fdr) <= LEVEL
    columns = {
        "gene": np.array(dataset.genes, dtype=object)[genes],
        "symbol": dataset.var["symbol"].to_numpy()[genes],
        "selection_frequency": times[genes] / most,
        "null_frequency": np.mean(null, axis=0)[genes] / most,
        "selection_p": p_values(times, np.array(null))[genes],
        "selection_q": q[genes],
        "fdr_selected": (q <= fdr)[genes] & passed & (len(chance) >= FEWEST),
    }
    return pd.DataFrame(columns, columns=SELECTION)


def signature_table(
    dataset: Dataset,
    nested: pd.DataFrame,
    blocks: pd.DataFrame,
    univariate: pd.DataFrame,
    final: Fits,
    selection: pd.DataFrame,
    chance: Chance,
) -> pd.DataFrame:
    """Return signature.tsv: the genes of the final model, and the FDR-selected genes.

    ``weight`` is the gene's weight in the predictive model, 0 for an FDR-selected gene that is not
    in it; ``size`` is the absolute weight times the gene's standard deviation. With several classes
    ``weight`` is the Euclidean norm of the gene's weights, each class has a column with its own,
    and ``class`` is the class with the largest. The columns of `selection_table` follow, then
    ``cv_frequency``, ``mean_weight`` and ``sign_consistency`` of the cross-validation models.
    ``first_mu`` is the smallest mu whose nested list has the gene; ``univariate_p`` and
    ``univariate_q`` come from the test of the gene alone. FDR-selected genes stand first; rows fall
    by selection frequency, then by size; ties are ordered by name.

    Without permutations the columns of `selection_table` are absent. Then ``core`` says whether
    ``cv_frequency`` is at least the setting ``signature.cv_frequency``, and rows fall by it.
    """
    import pandas as pd

    genes, rows = _used(dataset, final, selection)
    weights = rows if rows.ndim == 1 else np.sqrt(np.square(rows).sum(axis=1))
    ids = [dataset.genes[gene] for gene in genes]
    often = nested[nested["mu"].isna()].set_index("gene").reindex(ids)
    block = blocks.set_index("gene").reindex(ids)
    tests = univariate.set_index("gene").loc[ids]
    size = np.abs(weights) * dataset.X[:, genes].std(axis=0)
    frequency = often["cv_frequency"]
    first: dict[str, Any] = {"core": often["in_list"].eq(True).to_numpy()}
    keys = [-frequency.fillna(0.0).to_numpy()]
    if chance or len(selection):
        known = selection.set_index("gene").reindex(ids)
        mean = chance.times()[1:, genes].mean(axis=0) / int(chance.lists) if chance else 0.0
        known["null_frequency"] = known["null_frequency"].fillna(pd.Series(mean, index=known.index))
        fdr_selected = known["fdr_selected"].eq(True).to_numpy()
        known = known.fillna({"selection_frequency": 0.0, "selection_q": 1.0, "selection_p": 1.0})
        first = {
            "fdr_selected": fdr_selected,
            **{k: known[k].to_numpy(float) for k in SELECTION[2:-1]},
        }
        keys = [-first["selection_frequency"], ~fdr_selected]
    table = pd.DataFrame(
        {
            "gene": ids,
            "symbol": dataset.var["symbol"].to_numpy()[genes],
            **first,
            "cv_frequency": frequency.fillna(0.0).to_numpy(),
            "weight": weights,
            "size": size,
            "block": block["block"].astype("Int64").to_numpy(),
            "first_mu": block["first_mu"].to_numpy(),
            "mean_weight": often["mean_weight"].to_numpy(),
            "sign_consistency": often["sign_consistency"].to_numpy(),
            "univariate_p": tests["p_value"].to_numpy(),
            "univariate_q": tests["q_value"].to_numpy(),
        }
    )
    table = table.assign(**_of_classes(dataset, rows))
    table = table.iloc[np.lexsort((genes, -rounded(size), *keys))].reset_index(drop=True)
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table


def _used(
    dataset: Dataset, final: Fits, selection: pd.DataFrame
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the columns of model genes and FDR-selected genes, ascending, and their weights."""
    import pandas as pd

    model = final.with_chosen()
    genes, weights = model.coef(0, len(model.mu) - 1)
    fdr_selected = dataset.var.index.get_indexer(
        pd.Index(selection["gene"][selection["fdr_selected"].eq(True)])
    )
    every = np.union1d(genes, fdr_selected).astype(np.int64)
    rows = np.zeros((len(every), *weights.shape[1:]))
    rows[np.searchsorted(every, genes)] = weights
    return every, rows


def _of_classes(dataset: Dataset, rows: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the columns of several classes: each gene's weight in each, and whom it speaks for."""
    names = dataset.design.classes or ()
    if rows.ndim == 1:
        return {}
    top_class = np.array(names, dtype=object)[np.argmax(rows, axis=1)] if len(rows) else []
    weights = {f"weight {name}": rows[:, c] for c, name in enumerate(names)}
    return {"class": top_class, **weights}
