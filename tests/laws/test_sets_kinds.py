"""Laws of gene sets for several classes and survival, on a study's splits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from block_studies import MOMENTS, gene_sets
from block_studies import QUICK_SETS as QUICK
from block_studies import sets_outer as outer
from settings import SPLITS
from study_data import study_of

from genesig.data.splits.draw import draw_splits
from genesig.optim.classes import centres, coded, margins
from genesig.optim.structured.blocks import Blocks
from genesig.results import Dataset, Splits
from genesig.results.model_fits import ModelFits
from genesig.results.splits import GeneSets
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.linear.tasks import tasks
from genesig.selection.sets.ground import TOLD, SetsProtocol, choose, gaussian, grounds
from genesig.selection.sets.loop import sets_final

KINDS = ("several_classes", "survival")
LISTS = [range(3), range(2, 12), range(8, 20), range(20, 30), [2, 21, 13]]
Study = tuple[Dataset, Splits, GeneSets]


def study(kind: str, signal: float = 1.5) -> Study:
    dataset = study_of(kind, 1, n=45, signal=signal)
    return dataset, draw_splits(dataset, seed=0, **SPLITS), gene_sets(LISTS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_planted_set_is_found_and_predicts(kind: str) -> None:
    dataset, splits, sets = study(kind)
    fits = outer((dataset, splits, sets))
    assert all(0 in fits.selected(fit)[0] for fit in range(len(fits)))
    y, measured = dataset.response(), ASSESSED[dataset.design.kind]
    for fit in range(len(fits)):
        part = slice(*fits.test_indptr[fit:][:2])
        found = measured.of_split(y[fits.test_rows[part]], fits.scores[part])
        assert dict(zip(measured.errors, found, strict=True)).get("balanced_error", 0) < 0.4
        assert dict(zip(measured.errors, found, strict=True)).get("concordance", 1) > 0.7


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_trained_on_teaches_nothing(kind: str) -> None:
    """Neither values nor responses of the test samples change weights, choice or sets."""
    dataset, splits, sets = study(kind)
    before, rng = outer((dataset, splits, sets)), np.random.default_rng(1)
    for fit, split in enumerate(splits.outer):
        rows, X, obs = dataset.rows(split.test), dataset.X.copy(), dataset.obs.copy()
        X[rows] = rng.normal(5, 9, X[rows].shape)
        obs.iloc[rows] = obs.iloc[rows[::-1]].to_numpy()
        after = outer((replace(dataset, X=X, obs=obs), replace(splits, outer=(split,)), sets))
        np.testing.assert_array_equal(after.indices, before.selected(fit)[0])
        np.testing.assert_allclose(after.selected(0)[1], before.selected(fit)[1], rtol=1e-5)
        assert after.tau[0] == before.tau[fit]


@pytest.mark.parametrize("kind", KINDS)
def test_batches_change_nothing_and_files_keep_all(kind: str, tmp_path: Any) -> None:
    whole = study(kind, 0.5)
    names = [split.name for split in whole[1].outer]
    once = outer(whole, "permuted-001-001")
    parts = [outer(whole, "permuted-001-001", f"{b}of2") for b in (1, 2)]
    ModelFits.joined(parts, names).save(tmp_path / "fits.npz")
    again = ModelFits.load(tmp_path / "fits.npz")
    np.testing.assert_array_equal(again.scores, once.scores)
    np.testing.assert_array_equal(again.indices, once.indices)
    classes = len(whole[0].design.classes or ())
    assert once.scores.shape == (45, classes)[: 1 + (classes > 2)]


def test_classes_are_the_columns_and_the_nearest_mean_of_the_lists() -> None:
    dataset, splits, _ = study("several_classes")
    (task,) = tasks(dataset, splits, splits.outer[:1], [0])
    told = TOLD[task.kind](task, task.train)
    y = task.y[task.train]
    share = np.bincount(y.astype(int)) / len(y)
    Y = coded(y[:, None], share[None])[:, 0]
    np.testing.assert_allclose(told.Y, Y - Y.mean(axis=0))
    every = list(grounds(dataset.X, task, centre=True, unit_variance=True))
    np.testing.assert_allclose(every[1].mean, coded(
        task.y[every[1].rows][:, None], share[None])[:, 0].mean(axis=0))  # fmt: skip
    protocol = SetsProtocol(**QUICK)
    blocks = Blocks(np.arange(30), np.arange(0, 31, 3), np.ones(10))
    cut = choose(task, every[1:], blocks, protocol).threshold
    assert cut.shape == (3, 3)
    f = np.random.default_rng(0).normal(size=(5, 3))
    nearest = np.argmin(((f[:, None] - cut) ** 2).sum(axis=2), axis=1)
    assert (np.argmax(margins(f, cut), axis=1) == nearest).all()
    assert centres(y, Y, 3).shape == cut.shape


def test_survival_is_told_by_its_gradient_at_nothing() -> None:
    dataset, splits, _ = study("survival")
    (task,) = tasks(dataset, splits, splits.outer[:1], [0])
    told, y = TOLD[task.kind](task, task.train), task.y[task.train]
    risk, step = told.risk, 1e-6
    assert risk is not None
    for at in (0, 7, len(y) - 1):
        eta = np.zeros(len(y))
        eta[at] = step
        slope = (risk.value(eta[risk.order]) - risk.value(-eta[risk.order])) / (2 * step)
        assert told.Y[at, 0] == pytest.approx(-len(y) / 2 * slope, abs=1e-6)
    assert told.Y.sum() == pytest.approx(0, abs=1e-10)


def test_a_gene_alone_weighs_what_a_gaussian_one_would() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90).astype(float)
    share = np.bincount(y.astype(int)) / 90
    Y = coded(y[:, None], share[None])[:, 0]
    Y -= Y.mean(axis=0)
    z = rng.standard_normal((90, 100_000))
    z /= np.sqrt(90)
    reached = np.sqrt(((Y.T @ z) ** 2).sum(axis=0))
    assert gaussian(Y) == pytest.approx(np.quantile(reached, 0.99), rel=0.01)
    one = rng.standard_normal((90, 1))
    one -= one.mean()
    assert gaussian(one) == pytest.approx(2.5758 * np.sqrt(np.mean(one**2)), rel=1e-4)


def test_the_genes_of_the_final_model_weigh_in_every_class() -> None:
    dataset, splits, sets = study("several_classes")
    _, genes = sets_final(dataset, splits, sets, folds=MOMENTS, **QUICK)
    each = genes[[f"weight of {name}" for name in ("well", "ill", "worse")]].to_numpy()
    np.testing.assert_allclose(np.linalg.norm(each, axis=1), genes["weight"])
    np.testing.assert_allclose(each.sum(axis=1), 0, atol=1e-12)  # of differences to the average
    top = genes[genes["set"] == "A"]
    assert (top["weight of worse"] > top["weight of well"]).all()
    one, table = sets_final(*study("survival"), folds=MOMENTS, **QUICK)
    assert list(table.columns) == ["set", "gene", "symbol", "weight"]
    assert one.scores.ndim == 1
