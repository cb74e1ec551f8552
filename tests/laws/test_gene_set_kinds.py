"""Laws of gene sets for several classes and survival, on a study's splits."""

from __future__ import annotations

import numpy as np
import pytest
from block_studies import MOMENTS, sets_outer
from block_studies import QUICK_SETS as QUICK
from block_studies import set_study_of as study

from genesig.optim.classes import centres, coded, margins
from genesig.optim.structured.columns import Blocks
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.sets.loop import fit_sets_final
from genesig.selection.sets.training_sets import (
    RESPONSE_OF_KIND,
    SetsSettings,
    choose_tau_and_mu,
    outer_and_inner_data,
)


@pytest.mark.parametrize(("kind", "shape"), [("several_classes", (45, 3)), ("survival", (45,))])
def test_scores_have_a_column_for_each_of_several_classes(kind: str, shape: tuple[int, ...]):
    assert sets_outer(study(kind)).scores.shape == shape


def test_classes_are_the_columns_and_the_nearest_mean_of_the_lists() -> None:
    dataset, splits, _ = study("several_classes")
    (task,) = PreparedStudy(dataset, splits, MOMENTS).make_training_sets(splits.outer[:1])
    response_fit = RESPONSE_OF_KIND[task.kind](task, task.train)
    y = task.y[task.train]
    share = np.bincount(y.astype(int)) / len(y)
    Y = coded(y[:, None], share[None])[:, 0]
    np.testing.assert_allclose(response_fit.Y, Y - Y.mean(axis=0))
    _, inner = outer_and_inner_data(dataset.X, task, centre=True, unit_variance=True)
    folds = list(inner)
    np.testing.assert_allclose(
        folds[0].mean, coded(task.y[folds[0].rows][:, None], share[None])[:, 0].mean(axis=0)
    )
    protocol = SetsSettings(**QUICK)
    blocks = Blocks(np.arange(30), np.arange(0, 31, 3), np.ones(10))
    cut = choose_tau_and_mu(task, folds, blocks, protocol).threshold
    assert cut.shape == (3, 3)
    f = np.random.default_rng(0).normal(size=(5, 3))
    nearest = np.argmin(((f[:, None] - cut) ** 2).sum(axis=2), axis=1)
    assert (np.argmax(margins(f, cut), axis=1) == nearest).all()
    assert centres(y, Y, 3).shape == cut.shape


def test_survival_response_is_its_gradient_at_zero() -> None:
    dataset, splits, _ = study("survival")
    (task,) = PreparedStudy(dataset, splits, MOMENTS).make_training_sets(splits.outer[:1])
    response_fit = RESPONSE_OF_KIND[task.kind](task, task.train)
    y = task.y[task.train]
    risk = response_fit.risk
    step = 1e-6
    assert risk is not None
    for at in (0, 7, len(y) - 1):
        eta = np.zeros(len(y))
        eta[at] = step
        slope = (risk.value(eta[risk.order]) - risk.value(-eta[risk.order])) / (2 * step)
        assert response_fit.Y[at, 0] == pytest.approx(-len(y) / 2 * slope, abs=1e-6)
    assert response_fit.Y.sum() == pytest.approx(0, abs=1e-10)


def test_the_genes_of_the_final_model_weigh_in_every_class() -> None:
    dataset, splits, sets = study("several_classes")
    _, genes = fit_sets_final(PreparedStudy(dataset, splits, MOMENTS), sets, SetsSettings(**QUICK))
    class_weights = genes[[f"weight {name}" for name in ("well", "ill", "worse")]].to_numpy()
    np.testing.assert_allclose(np.linalg.norm(class_weights, axis=1), genes["weight"])
    np.testing.assert_allclose(
        class_weights.sum(axis=1), 0, atol=1e-12
    )  # of differences to the average
    top = genes[genes["set"] == "A"]
    assert (top["weight worse"] > top["weight well"]).all()
    dataset, splits, sets = study("survival")
    survival_study = PreparedStudy(dataset, splits, MOMENTS)
    final, table = fit_sets_final(survival_study, sets, SetsSettings(**QUICK))
    assert list(table.columns) == ["set", "gene", "symbol", "weight"]
    assert final.scores.ndim == 1
