"""The value that each omic (such as RNA or proteins) adds: everything without it, on equal splits.

The last column of scores is that of the chosen list (see `Fits.with_chosen`); the headline of a
kind is its reported error.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import Steps
from genesig.results import CrossValidation, Dataset, Fits
from genesig.selection.assess.assessment import assess, compare_errors
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.linear.half_samples import study_half_samples
from genesig.selection.linear.nested_cross_validation import nested_cross_validation
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy

if TYPE_CHECKING:
    import pandas as pd

GENESIG_ROW = "genesig"
WITHOUT_ROW = "without"

log = logging.getLogger(__name__)


def omics_table(
    study: CrossValidation,
    final: Fits,
    settings: LinearSettings,
    *,
    omic_factors: Mapping[str, float] | str,
    permutations: int,
    fold_steps: Steps,
) -> pd.DataFrame:
    """Return omics.tsv: the error with all omics, and without each in turn.

    Columns: ``row``, ``genesig`` or ``without``; ``name`` of the omic; ``genes``, its number in the
    study; ``listed``, the mean number of its genes in the predictive list of a split; ``factor`` of
    the final model, and the smallest and the largest of the outer splits; error and AUC with their
    intervals; ``added``, the error without the omic less that of genesig on the same samples, with
    its interval.

    Without an omic everything is repeated, from the half-samples to the predictive model, so that
    both errors belong to one procedure.

    final: the fit of all samples.
    omic_factors: ``data.omics`` of the config: factor of each omic's l1 terms, or "learned".
    permutations: ``signature.permutations`` of the config.
    fold_steps: ``normalise.folds`` of the config.
    """
    import pandas as pd

    dataset = study.dataset
    splits = study.splits
    fits = study.fits.with_chosen()
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline
    genesig_scores = collect_held_out(dataset, splits, fits)
    omic_of_gene = dataset.omic_of()
    mean_counts = _mean_gene_counts(fits, omic_of_gene, len(dataset.omics))
    factors = _factor_columns(dataset, fits, final, omic_factors)
    rows = [
        {
            "row": GENESIG_ROW,
            "name": GENESIG_ROW,
            "genes": len(omic_of_gene),
            "listed": float(mean_counts.sum()),
            **vars(assess(genesig_scores.column(-1), headline)[0]),
        }
    ]
    for omic_number, omic in enumerate(dataset.omics):
        without_omic = PreparedStudy(dataset.without(omic), splits, fold_steps)
        half_sample_study = study_half_samples(without_omic, settings, permutations=permutations)
        fits_without = nested_cross_validation(
            without_omic, settings, half_sample_study, labels="observed", batch="1of1"
        ).with_chosen()
        scores_without = collect_held_out(without_omic.dataset, splits, fits_without).column(-1)
        comparison = compare_errors(scores_without, genesig_scores, column=-1, headline=headline)
        rows.append(
            {
                "row": WITHOUT_ROW,
                "name": omic,
                "genes": int(np.sum(omic_of_gene == omic_number)),
                "listed": float(mean_counts[omic_number]),
                **factors[omic_number],
                **vars(assess(scores_without, headline)[0]),
                **comparison.columns("added"),
            }
        )
        log.info("%d of %d omics left out", omic_number + 1, len(dataset.omics))
    return pd.DataFrame(rows)


def _mean_gene_counts(fits: Fits, omic_of_gene: Array, n_omics: int) -> Array:
    """Return the mean number of genes of each omic in the chosen lists, (n_omics,).

    omic_of_gene (d,) int: number of the omic of each gene.
    """
    genes = [fits.chosen_coef(fit)[0] for fit in range(len(fits))]
    return np.bincount(omic_of_gene[np.concatenate(genes)], minlength=n_omics) / len(fits)


def _factor_columns(
    dataset: Dataset, fits: Fits, final: Fits, given_factors: Mapping[str, float] | str
) -> list[dict[str, float]]:
    """Return columns of the table for each omic: factor in the final model, range in the splits.

    given_factors: factor that the config fixes for each omic, or "learned" if inner folds choose.
    """
    chosen_factors = fits.grid.factors
    final_factors = final.grid.factors
    if chosen_factors is None or final_factors is None:
        factor_items = given_factors.items() if isinstance(given_factors, Mapping) else ()
        factor_of_omic = {str(name): float(factor) for name, factor in factor_items}
        factors = np.array([factor_of_omic[name] for name in dataset.omics])
        final_factors = factors[None]
        chosen_factors = factors[None]
    factor_rows = zip(
        final_factors[0], chosen_factors.min(axis=0), chosen_factors.max(axis=0), strict=True
    )
    return [
        {"factor": float(factor), "factor_low": float(low), "factor_high": float(high)}
        for factor, low, high in factor_rows
    ]
