"""What one fit is asked to do: the settings of the protocol, and row numbers of the matrix."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import HALF, PERMUTATION, Samples
from genesig.data.splits.permute import permutation
from genesig.data.steps.alignment import Alignments
from genesig.data.steps.described import steps_together
from genesig.data.steps.normalise import (
    MOMENT_STEPS,
    Reference,
    alignments_of,
    fit_reference_steps,
    with_response,
)
from genesig.errors import GenesigError
from genesig.response.covariates import splined
from genesig.results import Dataset, Split, Splits
from genesig.selection.assess.clusters import group_numbers
from genesig.selection.assess.covariates import Covariates, exchange_residuals
from genesig.words import counted

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """One outer split under one permutation of the labels.

    Attributes
    ----------
    split : str
    permutation : int
        0 for the observed labels.
    y : (n_samples,) array
        Response of each row of X under this permutation.
    train, test : int arrays
        Rows of X.
    inner : tuple of int arrays
        Validation rows of each inner fold.
    positions : (n_test,) int
        Which sample's label and place each test row holds; equals `test` when observed, and with
        covariates.
    kind : str
        What the response is, a name in `kinds.known.FITTED`.
    ties : str or None
        How ties of survival are treated.
    held : Covariates or None
        What is held fixed, of each row of X under this permutation.
    halves : (n_samples, 2 P) bool
        Complementary halves of the training rows, see `halves.draw_halves`; P may be 0.
    inner_halves : (n_folds, n_samples, 2 p) bool
        Those of the rows that train each inner fold.
    group : (n_samples,) int or None
        Number of the group of the sample at each row of X; None without groups.
    moved : (n_samples,) int or None
        With covariates, the permutation of `exchange_residuals`; rows then stay in their place.
        None where the matrix is as it was measured.
    """

    split: str
    permutation: int
    y: Array
    train: Array
    test: Array
    inner: tuple[Array, ...]
    positions: Array
    kind: str
    ties: str | None = None
    held: Covariates | None = None
    halves: Array | None = None
    inner_halves: Array | None = None
    group: Array | None = None
    moved: Array | None = None

    def training_rows(self) -> Array:
        """Return the (n_samples, 1) mask of training rows."""
        return _mask(len(self.y), self.train)[:, None]

    def inner_rows(self) -> Array:
        """Return the (n_samples, n_folds) mask of rows that train each inner fold."""
        return np.asarray(self.training_rows() & ~self.left_rows())

    def left_rows(self) -> Array:
        """Return the (n_samples, n_folds) mask of rows that each inner fold leaves out."""
        return np.stack([_mask(len(self.y), fold) for fold in self.inner], axis=1)

    def knots(self) -> Array:
        """Return the knots of the covariates of the training rows, (r, K)."""
        return _some(self.held).training_knots(self.training_rows()[:, 0])

    def tested_covariates(self) -> Array:
        """Return the covariates of the test rows as the model has them, (n_test, q)."""
        return splined(_some(self.held).values[self.test], self.knots())

    def left_out(self, scores: Array) -> Array:
        """Return the score of each sample by the fold that left it out, (n, ...), else NaN.

        Scores (n_folds, n, ...) are those of all samples by each fold.
        """
        found = np.full(scores.shape[1:], np.nan)
        for fold, rows in enumerate(self.inner):
            found[rows] = scores[fold, rows]
        return found


def _some(held: Covariates | None) -> Covariates:
    if held is None:
        raise GenesigError("nothing is held fixed in this study")
    return held


def known_halves(halves: Array | None) -> Array:
    """Return the halves of a task for which some were drawn."""
    if halves is None:
        raise GenesigError("no halves were drawn of this training set")
    return halves


def _mask(length: int, rows: Array) -> Array:
    mask = np.zeros(length, dtype=bool)
    mask[rows] = True
    return mask


def permutation_numbers(labels: str) -> list[int]:
    """Translate ``observed`` to [0] and ``permuted-003-005`` to [3, 4, 5]."""
    if labels == "observed":
        return [0]
    found = re.fullmatch(r"permuted-(\d+)-(\d+)", labels)
    if not found:
        raise GenesigError(f"labels '{labels}': expected observed or permuted-FIRST-LAST")
    first, last = map(int, found.groups())
    return list(range(first, last + 1))


def batch_of(splits: tuple[Split, ...], batch: str) -> tuple[Split, ...]:
    """Return the splits of batch ``2of3``: every third one, from the second on."""
    number, count = map(int, batch.split("of"))
    return splits[number - 1 :: count]


class Pairs(NamedTuple):
    """Pairs of halves that are drawn of a training set, and of what trains each of its folds."""

    outer: int = 0
    inner: int = 0


NO_PAIRS = Pairs()


def tasks(
    dataset: Dataset,
    splits: Splits,
    chosen: Iterable[Split],
    numbers: Iterable[int],
    *,
    pairs: Pairs = NO_PAIRS,
    stage: int = PERMUTATION,
) -> list[Task]:
    """Return the tasks of every permutation and split, permutations outermost.

    A permutation pi puts row pi[i] of X in the place of sample i: label, covariates, weight, side
    of the split and inner fold stay with the place, so the permuted study has the splits of the
    observed one. Halves stay with the place, too. With covariates everything keeps its row, and
    the matrix of the permutation is that of `exchange_residuals`.
    """
    y = dataset.response()
    held = Held.of(dataset)
    samples = Samples.from_dataset(dataset)
    group = group_numbers(dataset.groups())
    out = []
    drawn = [(split, _halves(samples, splits.seed, split, pairs)) for split in chosen]
    for number in numbers:
        pi = permutation(dataset, splits, number, stage)
        moved = None
        if number and dataset.design.covariates:
            pi, moved = np.arange(len(pi)), pi
        y_of_row = np.empty_like(y)
        y_of_row[pi] = y
        of_row = None if held is None else held.permute(pi)
        group_of_row = None if group is None else group[np.argsort(pi)]
        each = [_task(dataset, split, number, pi, y_of_row, of_row, half) for split, half in drawn]
        each = [replace(task, group=group_of_row) for task in each]
        out += each if moved is None else [replace(task, moved=moved) for task in each]
    return out


def _halves(samples: Samples, seed: int, split: Split, pairs: Pairs) -> tuple[Array, Array]:
    train = samples.rows(split.train)
    folds = [np.setdiff1d(train, samples.rows(fold)) for fold in split.inner] if pairs.inner else []
    inner = [
        draw_halves(samples, rows, pairs.inner, seed, (*split.seed, number))
        for number, rows in enumerate(folds, start=1)
    ]
    none = np.zeros((0, len(samples.names), 0), dtype=bool)
    whole = draw_halves(samples, train, pairs.outer, seed, (*split.seed, 0))
    return whole, np.stack(inner) if inner else none


def draw_halves(
    samples: Samples, rows: Array, pairs: int, seed: int, key: tuple[int, ...]
) -> Array:
    """Return the masks (n, 2 P) of P complementary pairs of halves of some rows.

    Columns 2i and 2i + 1 are a pair. Halves are stratified, and groups stay together; a pair more
    leaves the others as they are.
    """
    masks = np.zeros((len(samples.names), 2 * pairs), dtype=bool)
    for pair in range(pairs):
        parts = samples.parts(rows, 2, seed, (HALF, *key, pair))
        for side, half in enumerate(parts):
            masks[half, 2 * pair + side] = True
    return masks


def _task(
    dataset: Dataset,
    split: Split,
    number: int,
    pi: Array,
    y: Array,
    held: Held | None,
    halves: tuple[Array, Array],
) -> Task:
    positions = dataset.rows(split.test)
    place = np.argsort(pi)
    return Task(
        split=split.name,
        permutation=number,
        y=y,
        train=np.sort(pi[dataset.rows(split.train)]),
        test=pi[positions],
        inner=tuple(np.sort(pi[dataset.rows(fold)]) for fold in split.inner),
        positions=positions,
        kind=dataset.design.kind,
        ties=dataset.design.ties,
        held=held,
        halves=halves[0][place],
        inner_halves=halves[1][:, place],
    )


def shared_matrices(
    dataset: Dataset, todo: list[Task], folds: Sequence[dict[str, Any]], columns: int
) -> Iterator[tuple[Array, Reference, list[Task]]]:
    """Give each matrix with the tasks that share it, at most about `columns` training sets each.

    Without steps that learn a reference (quantile, filters) every task shares X itself; with
    them, each has a matrix of its own, because the reference is learned on its training rows. With
    covariates, each permutation has an X of its own. Where an alignment is chosen, tasks in a row
    that choose the same one share it.
    """
    choice = alignments_of(dataset)
    for number, some in groupby(todo, lambda task: 0 if task.moved is None else task.permutation):
        own = list(some)
        moved = own[0].moved if number else None
        for aligned, part in _as_chosen(dataset, choice, own, moved):
            given = (
                aligned if moved is None else replace(aligned, X=exchange_residuals(aligned, moved))
            )
            yield from _matrices(given, part, folds, columns)


def _as_chosen(
    dataset: Dataset, choice: Alignments | None, todo: list[Task], moved: Array | None
) -> Iterator[tuple[Dataset, list[Task]]]:
    """Give the data set with its studies aligned as the training samples of some tasks choose."""
    if choice is None:
        yield dataset, todo
        return
    others = None
    if moved is not None:  # what is exchanged is linear in X
        others = exchanged(replace(dataset, X=np.eye(len(moved))), moved)
    names = [
        choice.best(dataset.kind.number(task.y[task.train]), task.train, others) for task in todo
    ]
    for name, some in groupby(zip(names, todo, strict=True), lambda pair: pair[0]):
        yield replace(dataset, X=choice.copy(name)), [task for _, task in some]


def _matrices(
    dataset: Dataset, todo: list[Task], folds: Sequence[dict[str, Any]], columns: int
) -> Iterator[tuple[Array, Reference, list[Task]]]:
    X = dataset.X
    about = dataset.obs
    if all(step["step"] in MOMENT_STEPS for step in folds):
        plain = fit_reference_steps(X, folds)
        size = max(1, columns // (1 + max((len(task.inner) for task in todo), default=0)))
        for start in range(0, len(todo), size):
            yield X, plain, todo[start : start + size]
        return
    together = steps_together(X, folds, [task.train for task in todo])
    for task, steps in zip(todo, together, strict=True):
        told = with_response(steps, dataset, task.y[task.train])
        try:
            reference = fit_reference_steps(X[task.train], told, about.iloc[task.train])
        except GenesigError as error:
            raise GenesigError(f"split {task.split}: {error}") from error
        if task.permutation == 0 and (left := reference.uncorrected(about).sum()):
            said = "split %s: combat leaves %s as measured, because %s batch has fewer than 2 "
            its = "its" if left == 1 else "their"
            log.warning(said + "training samples", task.split, counted(left, "sample"), its)
        yield reference.transform(X, about), reference, [task]


LEARNED = "learned"
"""What ``data.omics`` says where the inner folds choose the factors."""

MODERATE = 1e-2
"""Largest mu, in units of ||X'X||/n, whose lists are searched unasked: beyond it they are long."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One attribute for each key of the section; the schema explains and bounds them.

    ``most``, ``list_mu``, ``fdr``, ``least`` and ``size`` are keys of ``signature``: they say which
    lists become the answers. ``learn_omics``: whether ``data.omics`` is ``learned``.
    """

    list: str
    model: str
    penalty: str
    jump: float
    tau_min: float
    tau_count: int
    lam: Sequence[float]
    mu: Sequence[float]
    mu_choice: Sequence[float] | None
    longest: int | None
    criterion: str
    one_standard_error: bool
    threshold: str
    solver: str
    tolerance: float
    most: float
    list_mu: float | None
    fdr: float
    least: int
    size: int | None
    learn_omics: bool

    def tau_fractions(self) -> Array:
        """Return the grid of tau as falling fractions of tau_max, (tau_count,).

        tau_max itself selects nothing and is left out.
        """
        return np.geomspace(1.0, self.tau_min, self.tau_count + 1)[1:]

    def searched_mu(self) -> Array:
        """Return the mu among which list stable chooses, (n_searched,)."""
        known = [value for value in self.mu if value <= MODERATE] or self.mu[:1]
        return np.asarray(known if self.mu_choice is None else self.mu_choice, dtype=float)

    def lam_grid(self) -> Array:
        """Return lam in rising order, (n_lam,), whatever the order in the config."""
        return np.sort(np.asarray(self.lam, dtype=float))


def keywords(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a `Protocol` from a resolved config."""
    wanted = config["signature"]
    own = {key: wanted[key] for key in ("most", "fdr", "least", "size")}
    return {
        **config["linear"],
        **own,
        "list_mu": wanted["mu"],
        "learn_omics": config["data"]["omics"] == LEARNED,
    }
