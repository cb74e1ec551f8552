"""Published signatures, and random lists of genes, each refitted on the outer splits of the study.

Where much of the transcriptome goes with the response, most lists of genes predict it, whatever
they are said to be of: what counts is the place of a signature among random ones.

Source: Venet, Dumont and Detours 2011, PLoS Comput. Biol. 7(10): e1002240.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import RANDOM_LIST, generator, spawn_key
from genesig.data.steps.normalise import learned_steps
from genesig.data.study.gene_sets import study_sets
from genesig.optim.solution import Path
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import joined
from genesig.selection.assess.assessment import assess, difference, study_errors
from genesig.selection.assess.held_out import arrange, held_out
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import HeldOut
from genesig.selection.linear.kinds.known import (
    FITTINGS,
    FoldSteps,
    inner_elastic_nets,
    outer_elastic_nets,
)
from genesig.selection.linear.kinds.record import ElasticNets
from genesig.selection.linear.tasks import (
    LinearSettings,
    TrainingSet,
    group_by_matrix,
    make_training_sets,
)

if TYPE_CHECKING:
    import pandas as pd

GeneLists = Sequence[Array]

N_RANDOM_LISTS = 200
"""Random lists: with as many the place of the signature is known to half a percent."""
LISTS_AT_ONCE = 50
"""Lists that are refitted at once, whose scores of all samples are held in memory."""
GENESIG_ROW = "genesig"
PUBLISHED_ROW = "published"
RANDOM_ROW = "random"

log = logging.getLogger(__name__)


def published_table(
    dataset: Dataset,
    splits: Splits,
    observed: Sequence[Fits],
    *,
    sets: str,
    folds: FoldSteps,
    **linear: Any,
) -> pd.DataFrame:
    """Return published.tsv: the error of genesig, of each published signature, of random lists.

    Columns: row, what it is; name; genes of it in the study (of genesig and random lists the mean
    over the splits); error and AUC with their intervals; ``difference``, error less that of
    genesig on the same samples, with its interval; ``as_good``, the share of the random lists that
    err no more. Random lists have an error alone. In each split a random list has as many genes as
    the list that genesig chose there: the first of all its genes in a random order, drawn once for
    all splits.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    observed : list of Fits
        Batches of the double loop.
    sets : str
        File of published signatures, GMT or GMX.
    folds : list of dict
        ``normalise.folds`` of the config.
    **linear
        The config section of this name, see `Protocol`.
    """
    import pandas as pd

    genes = dataset.genes
    symbols = dataset.var["symbol"].tolist()
    signatures = study_sets(sets, genes, symbols, column=None, smallest=1, largest=len(genes))
    fits = joined(observed, splits).with_chosen()
    kind = ASSESSED[dataset.design.kind]
    genesig_scores = held_out(dataset, splits, fits)
    members = [signatures.members(number) for number in range(len(signatures))]
    list_scores = score_gene_lists(
        dataset, splits, fits.sizes()[:, -1], members, folds, LinearSettings(**linear)
    )
    column_scores = [list_scores.column(column) for column in range(list_scores.scores.shape[1])]
    errors = np.concatenate(
        [
            study_errors(random_scores, kind.headline)[0]
            for random_scores in column_scores[len(signatures) :]
        ]
    )
    length = float(fits.sizes()[:, -1].mean())
    rows = [
        {
            "row": GENESIG_ROW,
            "name": GENESIG_ROW,
            "genes": length,
            **vars(assess(genesig_scores.column(-1), kind.headline)[0]),
        }
    ]
    for name, signature_genes, signature_scores in zip(
        signatures.names, members, column_scores, strict=False
    ):
        comparison = difference(signature_scores, genesig_scores, -1, kind.headline)[2:]
        difference_columns = ("difference", "difference_low", "difference_high")
        rows.append(
            {
                "row": PUBLISHED_ROW,
                "name": str(name),
                "genes": float(len(signature_genes)),
                **vars(assess(signature_scores, kind.headline)[0]),
                **dict(zip(difference_columns, comparison, strict=True)),
            }
        )
    for row in rows:
        row["as_good"] = float(np.mean(errors <= row["error"] + 1e-12))
    random_rows = pd.DataFrame(
        {
            "row": RANDOM_ROW,
            "name": [f"random {k + 1}" for k in range(N_RANDOM_LISTS)],
            "genes": length,
            "error": errors,
        }
    )
    return pd.concat([pd.DataFrame(rows), random_rows], ignore_index=True)


def score_gene_lists(
    dataset: Dataset,
    splits: Splits,
    sizes: Array,
    members: GeneLists,
    fold_steps: FoldSteps,
    settings: LinearSettings,
) -> HeldOut:
    """Return the held-out scores of lists of genes, then of `N_RANDOM_LISTS` random ones, a column each.

    Each is refitted by ridge on the training rows of each split, lam by its inner folds.

    Parameters
    ----------
    sizes : (n_splits,) int
        Genes of a random list in each split.
    members : list of int arrays
        Columns of the data set; those that a step leaves out in a split take no part there.
    """
    rng = generator(splits.seed, spawn_key(RANDOM_LIST))
    random_orders = [rng.permutation(len(dataset.genes)) for _ in range(N_RANDOM_LISTS)]
    training_sets = make_training_sets(dataset, splits, splits.outer, [0])
    scores = []
    split_number = {
        training_set.split: fit_number for fit_number, training_set in enumerate(training_sets)
    }
    for X, reference, (training_set,) in group_by_matrix(
        dataset, training_sets, learned_steps(fold_steps, dataset), 1
    ):
        size = int(sizes[split_number[training_set.split]])
        column_of_gene = np.full(len(dataset.genes), -1)
        column_of_gene[reference.genes] = np.arange(len(reference.genes))
        lists = [
            np.sort(column_of_gene[member_columns][column_of_gene[member_columns] >= 0])
            for member_columns in members
        ]
        for order in random_orders:
            ordered_columns = column_of_gene[order]
            lists.append(np.sort(ordered_columns[ordered_columns >= 0][:size]))
        outer = outer_elastic_nets(
            X, fold_steps, dataset, reference.genes, settings, [training_set]
        )
        scores.append(
            np.concatenate(list(_held_out_scores(training_set, outer, lists, settings)), axis=1)
        )
        log.info("published signatures: %d of %d splits", len(scores), len(training_sets))
    fit_number = np.repeat(
        np.arange(len(training_sets)), [len(training_set.test) for training_set in training_sets]
    )
    row = np.concatenate([training_set.label_rows for training_set in training_sets])
    return arrange(
        dataset, splits, row, fit_number, np.concatenate(scores), np.zeros_like(fit_number)
    )


def _held_out_scores(
    training_set: TrainingSet, outer: ElasticNets, lists: GeneLists, settings: LinearSettings
) -> Iterator[Array]:
    """Give the scores of the test rows less where they are cut, (n_test, lists, ...), in parts."""
    inner = inner_elastic_nets([training_set], outer)
    kind = FITTINGS[training_set.kind]
    lam = settings.lam_grid()
    test = np.zeros((len(training_set.y), 1), dtype=bool)
    test[training_set.test] = True
    for first in range(0, len(lists), LISTS_AT_ONCE):
        batch = lists[first : first + LISTS_AT_ONCE]
        validation_scores = inner.ridge_scores(
            _lists_as_path(batch, len(training_set.inner_folds)),
            lam * inner.norm[:, None],
            training_set.validation_masks(),
        )
        thresholds = np.zeros(validation_scores.shape[1:3])
        thresholds = (
            kind.thresholds(training_set, validation_scores)
            if settings.threshold == "midpoint"
            else thresholds
        )
        error = kind.validation_error(
            training_set, validation_scores, thresholds, settings.criterion
        )[0].round(12)
        best_lam = error.shape[1] - 1 - np.argmin(error[:, ::-1], axis=1)  # ties: the largest lam
        test_scores = outer.ridge_scores(_lists_as_path(batch, 1), lam * outer.norm[:, None], test)[
            0
        ]
        list_scores = (
            kind.decision_scores(
                test_scores[list_index, lam_index, training_set.test],
                thresholds[list_index, lam_index],
            )
            for list_index, lam_index in enumerate(best_lam)
        )
        yield np.stack(list(list_scores), axis=1)


def _lists_as_path(lists: GeneLists, k: int) -> Path:
    """Return lists as the supports of k training sets, without coefficients."""
    empty_coefs = [(genes, np.zeros(len(genes))) for genes in lists] * k
    shape = k, len(lists)
    return Path.of(shape, empty_coefs, np.zeros(shape), np.zeros(shape, dtype=np.int64), 1.0)
