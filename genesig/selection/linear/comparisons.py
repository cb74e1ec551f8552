"""Signatures of other authors, random genes and omics left out, on the splits of the study.

If much of the transcriptome is associated with the outcome, most lists of genes predict it. So the
rank of a signature among random lists counts, not its error. The last column of genesig's scores is
that of the chosen list (see `Fits.with_chosen`); the headline of a kind is its reported error.

Source: Venet, Dumont and Detours 2011, PLoS Comput. Biol. 7(10): e1002240.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import RANDOM_LIST, generator, spawn_key
from genesig.data.steps.normalise import Steps
from genesig.data.study.gene_sets import PUBLISHED, match_sets
from genesig.results import CrossValidation, Dataset, Fits
from genesig.selection.assess.assessment import assess, compare_errors, study_errors
from genesig.selection.assess.held_out import collect_held_out, complete_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores
from genesig.selection.linear.elastic_nets import ElasticNets, lists_as_path
from genesig.selection.linear.grid import ERROR_DIGITS
from genesig.selection.linear.half_samples import study_half_samples
from genesig.selection.linear.kinds import (
    FITTINGS,
    inner_elastic_nets,
    outer_elastic_nets,
    score_thresholds,
)
from genesig.selection.linear.nested_cross_validation import nested_cross_validation
from genesig.selection.linear.training_sets import (
    LinearSettings,
    PreparedStudy,
    TrainingSet,
)

if TYPE_CHECKING:
    import pandas as pd

GeneLists = Sequence[Array]  # numbers of the genes of each list

N_RANDOM_LISTS = 200  # random lists, enough to know the rank of a signature to half a percent
LISTS_AT_ONCE = 50  # lists refitted at once, because their scores of all samples are in memory
TIE_TOLERANCE = 1e-12  # difference of errors that counts as none
GENESIG_ROW = "genesig"  # this and the next three: kinds of rows
PUBLISHED_ROW = "published"
RANDOM_ROW = "random"
WITHOUT_ROW = "without"  # an omic is left out

log = logging.getLogger(__name__)


def published_table(
    cross_validation: CrossValidation, settings: LinearSettings, *, sets: str, fold_steps: Steps
) -> pd.DataFrame:
    """Return published.tsv: the error of genesig, of each published signature, of random lists.

    Columns: ``row``, the kind of row; ``name``; ``genes``, the number of its genes in the study
    (for genesig and random lists the mean over the splits); error and AUC with their intervals;
    ``difference``, the error less that of genesig on the same samples, with its interval;
    ``as_good``, the share of the random lists with an error no larger. Random lists have only an
    error. In each split a random list has as many genes as the list that genesig chose there: the
    first genes of a random order, which is drawn once for all splits.

    sets: file of published signatures, GMT or GMX. fold_steps: ``normalise.folds`` of the config.
    """
    import pandas as pd

    dataset = cross_validation.dataset
    splits = cross_validation.splits
    genes = dataset.genes
    symbols = dataset.var["symbol"].tolist()
    signatures = match_sets(
        sets,
        genes,
        symbols,
        column=None,
        smallest=1,
        largest=len(genes),
        section=PUBLISHED,
    )
    fits = cross_validation.fits.with_chosen()
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    genesig_scores = collect_held_out(dataset, splits, fits)
    gene_lists = [signatures.members(number) for number in range(len(signatures))]
    list_scores = score_gene_lists(
        PreparedStudy(dataset, splits, fold_steps), fits.sizes()[:, -1], gene_lists, settings
    )
    column_scores = [list_scores.column(column) for column in range(list_scores.scores.shape[1])]
    random_errors = np.concatenate(
        [study_errors(scores, kind.headline)[0] for scores in column_scores[len(signatures) :]]
    )
    mean_size = float(fits.sizes()[:, -1].mean())
    rows = [
        {
            "row": GENESIG_ROW,
            "name": GENESIG_ROW,
            "genes": mean_size,
            **vars(assess(genesig_scores.column(-1), kind.headline)[0]),
        }
    ]
    for name, signature_genes, signature_scores in zip(
        signatures.names, gene_lists, column_scores[: len(signatures)], strict=True
    ):
        comparison = compare_errors(
            signature_scores, genesig_scores, column=-1, headline=kind.headline
        )
        rows.append(
            {
                "row": PUBLISHED_ROW,
                "name": str(name),
                "genes": float(len(signature_genes)),
                **vars(assess(signature_scores, kind.headline)[0]),
                **comparison.columns("difference"),
            }
        )
    for row in rows:
        row["as_good"] = float(np.mean(random_errors <= row["error"] + TIE_TOLERANCE))
    random_rows = pd.DataFrame(
        {
            "row": RANDOM_ROW,
            "name": [f"random {k + 1}" for k in range(N_RANDOM_LISTS)],
            "genes": mean_size,
            "error": random_errors,
        }
    )
    return pd.concat([pd.DataFrame(rows), random_rows], ignore_index=True)


def score_gene_lists(
    study: PreparedStudy, sizes: Array, gene_lists: GeneLists, settings: LinearSettings
) -> HeldOutScores:
    """Return the held-out scores of gene lists and of `N_RANDOM_LISTS` random ones, in columns.

    Each list is refitted by ridge on the training rows of each outer split, under the observed
    labels (permutation 0), with lambda by the inner folds. The splits are refitted one after the
    other.

    sizes (n_splits,) int: number of genes of a random list in each outer split. gene_lists: genes
    of each list; a gene that a step leaves out in a split is not in the list there.
    """
    dataset = study.dataset
    splits = study.splits
    rng = generator(splits.seed, spawn_key(RANDOM_LIST))
    random_orders = [rng.permutation(len(dataset.genes)) for _ in range(N_RANDOM_LISTS)]
    training_sets = study.make_training_sets(splits.outer)
    size_of_split = dict(zip([split.name for split in splits.outer], sizes, strict=True))
    scores = []
    for matrix in study.group_by_matrix(training_sets, max_training_sets=1):
        (training_set,) = matrix.training_sets
        size = int(size_of_split[training_set.split])
        column_of_gene = np.full(len(dataset.genes), -1)
        column_of_gene[matrix.genes] = np.arange(len(matrix.genes))
        lists = []
        for genes in gene_lists:
            columns = column_of_gene[genes]
            lists.append(np.sort(columns[columns >= 0]))
        for order in random_orders:
            columns = column_of_gene[order]
            lists.append(np.sort(columns[columns >= 0][:size]))
        outer = outer_elastic_nets(matrix, settings)
        batches = list(_held_out_scores(training_set, outer, lists, settings))
        scores.append(np.concatenate(batches, axis=1))
        log.info("published signatures: %d of %d splits", len(scores), len(training_sets))
    n_test = [len(training_set.test) for training_set in training_sets]
    split_number = np.repeat(np.arange(len(training_sets)), n_test)
    return complete_held_out(
        dataset,
        splits,
        rows=np.concatenate([training_set.label_rows for training_set in training_sets]),
        split=split_number,
        scores=np.concatenate(scores),
        permutation=np.zeros_like(split_number),
    )


def _held_out_scores(
    training_set: TrainingSet, outer: ElasticNets, lists: GeneLists, settings: LinearSettings
) -> Iterator[Array]:
    """Yield scores of the test rows less their threshold, (n_test, n_lists, ...), for some lists.

    outer: elastic nets of this training set alone. lists: columns of the matrix, each ascending.
    """
    inner = inner_elastic_nets([training_set], outer)
    fitting = FITTINGS[training_set.kind]
    lam = settings.lam_grid()
    n_folds = len(training_set.inner_folds)
    test_mask = np.zeros((len(training_set.y), 1), dtype=bool)
    test_mask[training_set.test] = True
    for start in range(0, len(lists), LISTS_AT_ONCE):
        batch = lists[start : start + LISTS_AT_ONCE]
        validation_scores = inner.ridge_scores(
            lists_as_path([batch] * n_folds),
            lam * inner.norm[:, None],
            training_set.validation_masks(),
        )
        thresholds = score_thresholds(training_set, validation_scores, settings)
        error, _ = fitting.validation_error(
            training_set, validation_scores, thresholds, settings.criterion
        )
        reversed_error = error.round(ERROR_DIGITS)[:, ::-1]
        best_lam = error.shape[1] - 1 - np.argmin(reversed_error, axis=1)  # ties: the largest
        (test_scores,) = outer.ridge_scores(
            lists_as_path([batch]), lam * outer.norm[:, None], test_mask
        )
        yield np.stack(
            [
                fitting.decision_scores(
                    test_scores[number, lam_index, training_set.test], thresholds[number, lam_index]
                )
                for number, lam_index in enumerate(best_lam)
            ],
            axis=1,
        )


def omics_table(
    cross_validation: CrossValidation,
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

    dataset = cross_validation.dataset
    splits = cross_validation.splits
    fits = cross_validation.fits.with_chosen()
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
