"""All result tables of the observed labels, made from the fits of one study.

The chosen list is the list or model that predicts; `Fits.with_chosen` appends it with mu NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.normalise import with_summaries_applied
from genesig.results import CrossValidation, Dataset, Fits
from genesig.results.splits import HalfSampleStudy
from genesig.selection.assess.calibration import rejection_table
from genesig.selection.assess.held_out import STUDY_SHARES, predictions_table, scores_table
from genesig.selection.assess.operating_point import DecisionRule, operating_point_table
from genesig.selection.assess.stability import stability_table
from genesig.selection.genes.blocks import block_evidence, block_tables
from genesig.selection.genes.export import stretches_table
from genesig.selection.genes.frequency import (
    MAX_GATE_P,
    MIN_PERMUTATIONS,
    count_tails,
    expected_tails,
    gate_p,
    list_sizes,
    nested_lists,
    rank_genes,
    round_sizes,
    selection_p,
    selection_q,
)
from genesig.selection.genes.univariate import univariate_table

if TYPE_CHECKING:
    import pandas as pd

SELECTION_MEASURES = ["selection_frequency", "null_frequency", "selection_p", "selection_q"]
SELECTION_COLUMNS = ["gene", "symbol", *SELECTION_MEASURES, "fdr_selected"]
"""Columns of selection.tsv."""


@dataclass(frozen=True)
class LinearResults:
    """Fits of the linear models to the observed labels, and the half-sample lists."""

    outer: CrossValidation
    final: Fits  # of all samples
    subsamples: Fits  # of the halves, which may be none
    half_sample_study: HalfSampleStudy  # falsy without permutations, which select no genes by FDR

    @classmethod
    def load(cls, files: Any) -> LinearResults:
        """Read the input files of the rule `gather`, by their names there."""
        return cls(
            outer=CrossValidation.load(files),
            final=Fits.load(files.final),
            subsamples=Fits.load(files.subsamples),
            half_sample_study=HalfSampleStudy.load(files.chance),
        )


def gather(
    results: LinearResults,
    *,
    cv_frequency: float,
    fdr: float,
    clusters: Mapping[str, Any],
    probabilities: str | Sequence[float] = STUDY_SHARES,
    decision: Mapping[str, Any] | None = None,
) -> dict[str, pd.DataFrame]:
    """Return the result tables by the names of their files.

    The tables: signature, selection, nested_lists, lists, blocks, prototypes, scores, predictions,
    rejection, stability, univariate; stretches, if the study knows the positions of its genes;
    decision, if the config states a rule.

    cv_frequency, fdr: share of the outer splits that makes a gene core, without a half-sample
        study; largest q of an FDR-selected gene.
    clusters: the config section of this name, see `block_tables`.
    probabilities: of the config, see `requested_shares`.
    decision: the config section of this name, see `DecisionRule`.
    """
    import pandas as pd

    dataset = with_summaries_applied(results.outer.dataset)
    splits = results.outer.splits
    fits = results.outer.fits.with_chosen()
    final = results.final
    half_sample_study = results.half_sample_study
    nested = nested_lists(dataset, fits, cv_frequency=cv_frequency)
    blocks, prototypes = block_tables(dataset, final, **clusters)
    prototype_columns = dataset.var.index.get_indexer(pd.Index(prototypes["gene"]))
    prototypes = prototypes.join(block_evidence(dataset.X, prototype_columns, half_sample_study))
    univariate = univariate_table(dataset)
    selection = selection_table(dataset, half_sample_study, fdr)
    predictions = predictions_table(dataset, splits, fits, probabilities)
    tables = {
        "signature": signature_table(
            dataset, nested, blocks, univariate, final, selection, half_sample_study
        ),
        "selection": selection,
        "nested_lists": nested,
        "lists": list_sizes(fits, nested),
        "blocks": blocks,
        "prototypes": prototypes,
        "scores": scores_table(dataset, splits, fits),
        "predictions": predictions,
        "rejection": rejection_table(predictions, dataset.design.classes),
        "stability": stability_table(dataset, splits, fits, results.subsamples.with_chosen()),
        "univariate": univariate,
    }
    if dataset.placed:
        tables["stretches"] = stretches_table(dataset, nested, final)
    if rule := DecisionRule.from_config(decision or {}, dataset.response()):
        tables["decision"] = operating_point_table(dataset, splits, fits, final.with_chosen(), rule)
    return tables


def selection_table(
    dataset: Dataset, half_sample_study: HalfSampleStudy, fdr: float
) -> pd.DataFrame:
    """Return selection.tsv: the genes in any half-sample list, by falling selection frequency.

    ``selection_frequency`` is the share of the half-sample lists that contain the gene,
    ``null_frequency`` its mean under permuted labels; `frequency` defines ``selection_p`` and
    ``selection_q``. ``fdr_selected``: q is at most `fdr`, and permuted labels seldom give as many
    such genes (see `frequency.gate_p`); never with fewer than `MIN_PERMUTATIONS` permutations.
    Without permutations the table is empty.
    """
    import pandas as pd

    if not half_sample_study:
        return pd.DataFrame(columns=SELECTION_COLUMNS)
    n_lists = int(half_sample_study.lists)
    counts, *null_counts = half_sample_study.counts()  # observed labels, then each permutation
    genes = rank_genes(counts, half_sample_study.strength)
    null_tails = half_sample_study.final  # lists of all samples under each permutation
    q = selection_q(counts, expected_tails(null_tails))
    observed_tails = count_tails(counts[None], n_lists)[0]
    passes_gate = gate_p(observed_tails, null_tails, fdr) <= MAX_GATE_P
    enough_permutations = len(half_sample_study) >= MIN_PERMUTATIONS
    columns = {
        "gene": np.array(dataset.genes, dtype=object)[genes],
        "symbol": dataset.var["symbol"].to_numpy()[genes],
        "selection_frequency": counts[genes] / n_lists,
        "null_frequency": np.mean(null_counts, axis=0)[genes] / n_lists,
        "selection_p": selection_p(counts, np.array(null_counts))[genes],
        "selection_q": q[genes],
        "fdr_selected": (q <= fdr)[genes] & passes_gate & enough_permutations,
    }
    return pd.DataFrame(columns, columns=SELECTION_COLUMNS)


def signature_table(
    dataset: Dataset,
    nested: pd.DataFrame,
    blocks: pd.DataFrame,
    univariate: pd.DataFrame,
    final: Fits,
    selection: pd.DataFrame,
    half_sample_study: HalfSampleStudy,
) -> pd.DataFrame:
    """Return signature.tsv: the genes of the final model, and the FDR-selected genes.

    ``weight`` is the gene's weight in the predictive model, 0 for an FDR-selected gene that is not
    in it; ``size`` is the absolute weight times the gene's standard deviation. With several classes
    ``weight`` is the Euclidean norm of the gene's weights, each class has a column with its own,
    and ``class`` is the class with the largest, empty for a gene outside the model. The columns of
    `selection_table` follow, then ``cv_frequency``, ``mean_weight`` and ``sign_consistency`` of the
    cross-validation models. ``first_mu`` is the smallest mu whose nested list has the gene;
    ``univariate_p`` and ``univariate_q`` come from the test of the gene alone. FDR-selected genes
    stand first; rows fall by selection frequency, then by size; ties are ordered by name.

    Without permutations the columns of `selection_table` are absent. Then ``core`` says whether
    ``cv_frequency`` is at least the setting ``signature.cv_frequency``, and rows fall by it.
    """
    import pandas as pd

    genes, gene_weights = _signature_weights(dataset, final, selection)
    weights = gene_weights
    if gene_weights.ndim == 2:
        weights = np.sqrt(np.square(gene_weights).sum(axis=1))
    ids = [dataset.genes[gene] for gene in genes]
    # Rows are NaN for a gene in no chosen list of a split.
    cv_rows = nested[nested["mu"].isna()].set_index("gene").reindex(ids)
    block = blocks.set_index("gene").reindex(ids)
    tests = univariate.set_index("gene").loc[ids]
    contribution = np.abs(weights) * dataset.X[:, genes].std(axis=0)
    frequency = cv_rows["cv_frequency"]
    selection_columns: dict[str, Any] = {"core": cv_rows["in_list"].eq(True).to_numpy()}
    sort_keys = [-frequency.fillna(0.0).to_numpy()]
    # `selection` may be given without the study: genes that it lacks then have null frequency 0.
    if half_sample_study or len(selection):
        selection_rows = selection.set_index("gene").reindex(ids)
        # selection.tsv lacks genes in no list under the observed labels.
        null_frequency = 0.0
        if half_sample_study:
            null_counts = half_sample_study.counts()[1:, genes]  # row 0: observed labels
            null_frequency = null_counts.mean(axis=0) / int(half_sample_study.lists)
        selection_rows["null_frequency"] = selection_rows["null_frequency"].fillna(
            pd.Series(null_frequency, index=selection_rows.index)
        )
        fdr_selected = selection_rows["fdr_selected"].eq(True).to_numpy()
        selection_rows = selection_rows.fillna(
            {"selection_frequency": 0.0, "selection_q": 1.0, "selection_p": 1.0}
        )
        selection_columns = {
            "fdr_selected": fdr_selected,
            **{name: selection_rows[name].to_numpy(float) for name in SELECTION_MEASURES},
        }
        sort_keys = [-selection_columns["selection_frequency"], ~fdr_selected]
    table = pd.DataFrame(
        {
            "gene": ids,
            "symbol": dataset.var["symbol"].to_numpy()[genes],
            **selection_columns,
            "cv_frequency": frequency.fillna(0.0).to_numpy(),
            "weight": weights,
            "size": contribution,
            "block": block["block"].astype("Int64").to_numpy(),
            "first_mu": block["first_mu"].to_numpy(),
            "mean_weight": cv_rows["mean_weight"].to_numpy(),
            "sign_consistency": cv_rows["sign_consistency"].to_numpy(),
            "univariate_p": tests["p_value"].to_numpy(),
            "univariate_q": tests["q_value"].to_numpy(),
        }
    )
    table = table.assign(**_class_columns(dataset, gene_weights))
    order = np.lexsort((genes, -round_sizes(contribution), *sort_keys))
    table = table.iloc[order].reset_index(drop=True)
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table


def _signature_weights(
    dataset: Dataset, final: Fits, selection: pd.DataFrame
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return model genes and FDR-selected genes, ascending, and their weights, 0 outside the model.

    Weights are (k,), with several classes (k, T).
    """
    import pandas as pd

    genes, weights = final.with_chosen().chosen_coef(0)
    fdr_selected = dataset.var.index.get_indexer(
        pd.Index(selection["gene"][selection["fdr_selected"].eq(True)])
    )
    all_genes = np.union1d(genes, fdr_selected).astype(np.int64)
    gene_weights = np.zeros((len(all_genes), *weights.shape[1:]))
    gene_weights[np.searchsorted(all_genes, genes)] = weights
    return all_genes, gene_weights


def _class_columns(dataset: Dataset, gene_weights: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return each class's weights and the class of the largest; {} for weights (k,)."""
    if gene_weights.ndim == 1:
        return {}
    names = dataset.design.classes or ()
    class_of_gene = [
        names[int(np.argmax(weights))] if weights.any() else "" for weights in gene_weights
    ]
    return {
        "class": np.array(class_of_gene, dtype=object),
        **{f"weight {name}": gene_weights[:, number] for number, name in enumerate(names)},
    }
