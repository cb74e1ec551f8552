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
from genesig.selection.linear.kinds.known import FITTED, Steps, inner_sets, outer_sets
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.tasks import (
    LinearSettings,
    TrainingSet,
    group_by_matrix,
    make_training_sets,
)

if TYPE_CHECKING:
    import pandas as pd

Lists = Sequence[Array]

RANDOM = 200
"""Random lists: with as many the place of the signature is known to half a percent."""
TOGETHER = 50
"""Lists that are refitted at once, whose scores of all samples are held in memory."""
OWN = "genesig"
PUBLISHED = "published"
DRAWN = "random"

log = logging.getLogger(__name__)


def published_table(
    dataset: Dataset,
    splits: Splits,
    observed: Sequence[Fits],
    *,
    sets: str,
    folds: Steps,
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
    known = study_sets(sets, genes, symbols, column=None, smallest=1, largest=len(genes))
    fits = joined(observed, splits).with_chosen()
    kind = ASSESSED[dataset.design.kind]
    own = held_out(dataset, splits, fits)
    members = [known.members(number) for number in range(len(known))]
    found = refitted_lists(
        dataset, splits, fits.sizes()[:, -1], members, folds, LinearSettings(**linear)
    )
    theirs = [found.column(at) for at in range(found.scores.shape[1])]
    errors = np.concatenate([study_errors(each, kind.headline)[0] for each in theirs[len(known) :]])
    length = float(fits.sizes()[:, -1].mean())
    rows = [
        {"row": OWN, "name": OWN, "genes": length, **vars(assess(own.column(-1), kind.headline)[0])}
    ]
    for name, listed, one in zip(known.names, members, theirs, strict=False):
        apart = difference(one, own, -1, kind.headline)[2:]
        names = ("difference", "difference_low", "difference_high")
        rows.append(
            {
                "row": PUBLISHED,
                "name": str(name),
                "genes": float(len(listed)),
                **vars(assess(one, kind.headline)[0]),
                **dict(zip(names, apart, strict=True)),
            }
        )
    for row in rows:
        row["as_good"] = float(np.mean(errors <= row["error"] + 1e-12))
    drawn = pd.DataFrame(
        {
            "row": DRAWN,
            "name": [f"random {k + 1}" for k in range(RANDOM)],
            "genes": length,
            "error": errors,
        }
    )
    return pd.concat([pd.DataFrame(rows), drawn], ignore_index=True)


def refitted_lists(
    dataset: Dataset,
    splits: Splits,
    sizes: Array,
    members: Lists,
    folds: Steps,
    protocol: LinearSettings,
) -> HeldOut:
    """Return the held-out scores of lists of genes, then of `RANDOM` random ones, a column each.

    Each is refitted by ridge on the training rows of each split, lam by its inner folds.

    Parameters
    ----------
    sizes : (n_splits,) int
        Genes of a random list in each split.
    members : list of int arrays
        Columns of the data set; those that a step leaves out in a split take no part there.
    """
    rng = generator(splits.seed, spawn_key(RANDOM_LIST))
    orders = [rng.permutation(len(dataset.genes)) for _ in range(RANDOM)]
    todo = make_training_sets(dataset, splits, splits.outer, [0])
    scores = []
    place = {task.split: number for number, task in enumerate(todo)}
    for X, reference, (task,) in group_by_matrix(dataset, todo, learned_steps(folds, dataset), 1):
        size = int(sizes[place[task.split]])
        column = np.full(len(dataset.genes), -1)
        column[reference.genes] = np.arange(len(reference.genes))
        lists = [np.sort(column[of][column[of] >= 0]) for of in members]
        for order in orders:
            kept = column[order]
            lists.append(np.sort(kept[kept >= 0][:size]))
        outer = outer_sets(X, folds, dataset, reference.genes, protocol, [task])
        scores.append(np.concatenate(list(_scores(task, outer, lists, protocol)), axis=1))
        log.info("published signatures: %d of %d splits", len(scores), len(todo))
    number = np.repeat(np.arange(len(todo)), [len(task.test) for task in todo])
    row = np.concatenate([task.label_rows for task in todo])
    return arrange(dataset, splits, row, number, np.concatenate(scores), np.zeros_like(number))


def _scores(
    task: TrainingSet, outer: Sets, lists: Lists, protocol: LinearSettings
) -> Iterator[Array]:
    """Give the scores of the test rows less where they are cut, (n_test, lists, ...), in parts."""
    inner = inner_sets([task], outer)
    kind = FITTED[task.kind]
    lam = protocol.lam_grid()
    test = np.zeros((len(task.y), 1), dtype=bool)
    test[task.test] = True
    for first in range(0, len(lists), TOGETHER):
        some = lists[first : first + TOGETHER]
        left = inner.scores(
            _as_path(some, len(task.inner_folds)),
            lam * inner.norm[:, None],
            task.validation_masks(),
        )
        cut = np.zeros(left.shape[1:3])
        cut = kind.cut(task, left) if protocol.threshold == "midpoint" else cut
        error = kind.error(task, left, cut, protocol.criterion)[0].round(12)
        best = error.shape[1] - 1 - np.argmin(error[:, ::-1], axis=1)  # ties: the largest lam
        own = outer.scores(_as_path(some, 1), lam * outer.norm[:, None], test)[0]
        each = (kind.told(own[m, at, task.test], cut[m, at]) for m, at in enumerate(best))
        yield np.stack(list(each), axis=1)


def _as_path(lists: Lists, k: int) -> Path:
    """Return lists as the supports of k training sets, without coefficients."""
    none = [(genes, np.zeros(len(genes))) for genes in lists] * k
    shape = k, len(lists)
    return Path.of(shape, none, np.zeros(shape), np.zeros(shape, dtype=np.int64), 1.0)
