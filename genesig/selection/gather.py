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

EVIDENCE = ["gene", "symbol", "half_frequency", "chance", "p", "q", "named"]


def gather(
    dataset: Dataset,
    splits: Splits,
    observed: Sequence[Fits],
    final: Fits,
    subsamples: Fits,
    chance: Chance,
    *,
    frequency: float,
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
    frequency, fdr : float
        Share of the outer splits that makes a gene core, where genes have no evidence of their own;
        rate of error of those that have.
    clusters : mapping
        The config section of this name, see `block_tables`.
    probabilities : str or sequence of float
        Of the config, see `asked_shares`.

    Returns
    -------
    dict of DataFrame
        signature, evidence, nested_lists, lists, blocks, prototypes, scores, predictions,
        rejection, stability, univariate; stretches, where the study knows the places of its genes.
    """
    import pandas as pd

    dataset, fits = described(dataset), joined(observed, splits).with_chosen()
    nested = nested_lists(dataset, fits, frequency=frequency)
    blocks, prototypes = block_tables(dataset, final, **clusters)
    led = dataset.var.index.get_indexer(pd.Index(prototypes["gene"]))
    prototypes = prototypes.join(block_evidence(dataset.X, led, chance))
    univariate, evidence = univariate_table(dataset), evidence_table(dataset, chance, fdr)
    placed = {"stretches": stretches_table(dataset, nested, final)} if dataset.placed else {}
    predictions = predictions_table(dataset, splits, fits, probabilities)
    return {
        "signature": signature_table(dataset, nested, blocks, univariate, final, evidence, chance),
        "evidence": evidence,
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


def evidence_table(dataset: Dataset, chance: Chance, fdr: float) -> pd.DataFrame:
    """Return evidence.tsv: the genes that any half of the samples lists, the most frequent first.

    ``half_frequency`` is the share of the lists that hold the gene, ``chance`` what permuted
    labels make of it in the mean, ``p`` and ``q`` as in `frequency`; ``named`` says whether q is at
    most `fdr`, where the number of such genes is more than chance gives (see `frequency.gate`).
    Without permutations enough nothing is named; empty where no evidence is looked for.
    """
    import pandas as pd

    if not chance:
        return pd.DataFrame(columns=EVIDENCE)
    most, (times, *null) = int(chance.lists), chance.times()
    genes = ranked(times, chance.strength)
    q = q_values(times, expected(chance.final))
    passed = gate(tails(times[None], most)[0], chance.final, fdr) <= LEVEL
    columns = {
        "gene": np.array(dataset.genes, dtype=object)[genes],
        "symbol": dataset.var["symbol"].to_numpy()[genes],
        "half_frequency": times[genes] / most,
        "chance": np.mean(null, axis=0)[genes] / most,
        "p": p_values(times, np.array(null))[genes],
        "q": q[genes],
        "named": (q <= fdr)[genes] & passed & (len(chance) >= FEWEST),
    }
    return pd.DataFrame(columns, columns=EVIDENCE)


def signature_table(
    dataset: Dataset,
    nested: pd.DataFrame,
    blocks: pd.DataFrame,
    univariate: pd.DataFrame,
    final: Fits,
    evidence: pd.DataFrame,
    chance: Chance,
) -> pd.DataFrame:
    """Return signature.tsv: the genes of the final model, and those that are named.

    ``coef`` is the gene's weight in the predictive model, 0 for a named gene that is not in it, and
    ``size`` that weight times the gene's standard deviation, what it contributes to the score; with
    several classes ``coef`` is the length of the gene's weights, which stand in a column for each
    class, ``class`` being that of the largest. ``half_frequency``, ``chance``, ``p``, ``q`` and
    ``named`` are those of `evidence_table`. ``frequency``, ``mean_coef`` and ``sign_consistency``
    are those of the models that the outer splits chose in the same way. ``first_mu`` is the
    smallest mu at which the nested lists have the gene; ``p_value`` and ``q_value`` are those of
    the univariate test. Named genes stand first; rows fall by half-frequency, then by size;
    genes alike in all of it stand by name.

    Where no evidence is looked for, ``core`` says instead that at least ``signature.frequency`` of
    the outer splits have the gene, and rows fall by frequency.
    """
    import pandas as pd

    genes, rows = _used(dataset, final, evidence)
    weights = rows if rows.ndim == 1 else np.sqrt(np.square(rows).sum(axis=1))
    ids = [dataset.genes[gene] for gene in genes]
    often = nested[nested["mu"].isna()].set_index("gene").reindex(ids)
    block, tests = blocks.set_index("gene").reindex(ids), univariate.set_index("gene").loc[ids]
    size, frequency = np.abs(weights) * dataset.X[:, genes].std(axis=0), often["frequency"]
    first: dict[str, Any] = {"core": often["in_list"].eq(True).to_numpy()}
    keys = [-frequency.fillna(0.0).to_numpy()]
    if len(evidence):
        known = evidence.set_index("gene").reindex(ids)
        mean = chance.times()[1:, genes].mean(axis=0) / int(chance.lists) if chance else 0.0
        known["chance"] = known["chance"].fillna(pd.Series(mean, index=known.index))
        named = known["named"].eq(True).to_numpy()
        known = known.fillna({"half_frequency": 0.0, "q": 1.0, "p": 1.0})
        first = {"named": named, **{k: known[k].to_numpy(float) for k in EVIDENCE[2:-1]}}
        keys = [-first["half_frequency"], ~named]
    table = pd.DataFrame(
        {
            "gene": ids,
            "symbol": dataset.var["symbol"].to_numpy()[genes],
            **first,
            "frequency": frequency.fillna(0.0).to_numpy(),
            "coef": weights,
            "size": size,
            "block": block["block"].astype("Int64").to_numpy(),
            "first_mu": block["first_mu"].to_numpy(),
            "mean_coef": often["mean_coef"].to_numpy(),
            "sign_consistency": often["sign_consistency"].to_numpy(),
            "p_value": tests["p_value"].to_numpy(),
            "q_value": tests["q_value"].to_numpy(),
        }
    )
    table = table.assign(**_of_classes(dataset, rows))
    table = table.iloc[np.lexsort((genes, -rounded(size), *keys))].reset_index(drop=True)
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table


def _used(
    dataset: Dataset, final: Fits, evidence: pd.DataFrame
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the genes of the predictive model and the named ones, ascending, and their weights."""
    import pandas as pd

    model = final.with_chosen()
    genes, weights = model.coef(0, len(model.mu) - 1)
    named = dataset.var.index.get_indexer(pd.Index(evidence["gene"][evidence["named"].eq(True)]))
    every = np.union1d(genes, named).astype(np.int64)
    rows = np.zeros((len(every), *weights.shape[1:]))
    rows[np.searchsorted(every, genes)] = weights
    return every, rows


def _of_classes(dataset: Dataset, rows: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the columns of several classes: each gene's weight in each, and whom it speaks for."""
    names = dataset.design.classes or ()
    if rows.ndim == 1:
        return {}
    speaks = np.array(names, dtype=object)[np.argmax(rows, axis=1)] if len(rows) else []
    return {"class": speaks, **{f"coef {name}": rows[:, c] for c, name in enumerate(names)}}
