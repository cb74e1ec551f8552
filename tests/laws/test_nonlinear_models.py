"""Nonlinear selection learns from training rows only."""

from dataclasses import replace

import numpy as np
import pytest
from block_studies import QUICK_NONLINEAR as QUICK
from block_studies import nonlinear_model as final
from block_studies import nonlinear_outer as outer
from block_studies import nonlinear_study as study
from numpy.testing import assert_array_equal
from scipy.stats import rankdata

from genesig.selection.nonlinear import loop
from genesig.selection.nonlinear.training_sets import (
    RANK_KERNEL_WIDTH,
    NonlinearProtocol,
    SharedSettings,
    dependence,
    doubled_ranks,
    linear_blocks,
    midpoint,
    prepare_training_set,
    screen,
)


def toy(seed=0, n=24, d=30):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.tile([-1.0, 1.0], n // 2)
    X[:, 0] += y
    X[:, 1] = X[:, 1] ** 2 + y
    return X, y


def assert_same(result, expected_result, names):
    for name in names:
        assert_array_equal(getattr(result, name), getattr(expected_result, name), err_msg=name)


@pytest.mark.parametrize("penalty", ["lasso", "group"])
def test_inner_fold_is_hidden_from_screen_blocks_and_other_fits(penalty):
    X, y = toy()
    protocol = NonlinearProtocol(**{**QUICK, "penalty": penalty})
    shared_settings = SharedSettings(protocol, [f"g{j}" for j in range(30)], True, None)
    rows = np.arange(16)
    test_rows = np.arange(16, 24)
    altered = X.copy()
    flipped = y.copy()
    altered[test_rows], flipped[test_rows] = 1e3 * X[test_rows][::-1], -y[test_rows]
    training_set = prepare_training_set(X, y, rows, shared_settings)
    altered_set = prepare_training_set(altered, flipped, rows, shared_settings)
    assert_array_equal(training_set.genes, altered_set.genes)
    assert training_set.settings.groups == altered_set.settings.groups
    assert_same(training_set, altered_set, ("X", "y"))


def test_the_inner_folds_screen_for_themselves(monkeypatch):
    """A screen on all training rows would have seen the held-out labels of every inner fold."""
    screened_rows = []
    monkeypatch.setattr(
        loop,
        "prepare_training_set",
        lambda *args: screened_rows.append(args[2]) or prepare_training_set(*args),
    )
    dataset, splits = study(*toy())
    outer(dataset, splits)
    at = iter(screened_rows)
    for split in splits.outer:
        train = set(dataset.rows(split.train).tolist())
        for fold in split.inner:
            assert set(next(at).tolist()) == train - set(dataset.rows(fold).tolist())
        assert set(next(at).tolist()) == train
    assert next(at, None) is None


def test_groups_of_samples_never_straddle(monkeypatch):
    fold_rows = []
    monkeypatch.setattr(
        loop,
        "prepare_training_set",
        lambda *args: fold_rows.append(args[2]) or prepare_training_set(*args),
    )
    X, y = toy()
    dataset, splits = study(X, y, group=np.arange(24) // 2, scheme="stratified_group_kfold")
    outer(dataset, splits)
    groups = np.arange(24) // 2
    at = iter(fold_rows)
    for split in splits.outer:
        for held_out_rows in [*split.inner, split.test]:
            assert not set(groups[next(at)]) & set(groups[dataset.rows(held_out_rows)])


def test_doubled_ranks_equal_scipy():
    X = np.random.default_rng(0).integers(0, 5, (13, 7)).astype(float)
    assert_array_equal(doubled_ranks(X), 2 * (rankdata(X, axis=0) - 1))


def test_dependence_equals_the_kernel_sum():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((15, 6)), 1)
    y = rng.standard_normal(15)
    X[:, 5] = 3
    r = (rankdata(X, axis=0) - 1) / 14
    K = np.exp(-np.square(r[:, None] - r[None]) / (2 * RANK_KERNEL_WIDTH**2))
    expected = np.einsum("i,ijg,j->g", y - y.mean(), K, y - y.mean())
    np.testing.assert_allclose(dependence(X, y), expected, rtol=1e-6, atol=1e-6)
    transformed_dependence = dependence(np.exp(X), 5 * y + 2)
    np.testing.assert_allclose(transformed_dependence, 25 * dependence(X, y), rtol=1e-9, atol=1e-9)
    assert dependence(X, y)[5] == pytest.approx(0, abs=1e-12)


def test_screen_finds_a_quadratic_effect():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 200))
    assert 7 in screen(X, X[:, 7] ** 2, 5)
    assert_array_equal(screen(X, X[:, 7] ** 2, None), np.arange(200))
    assert_array_equal(screen(X, X[:, 7] ** 2, 200), np.arange(200))


def test_blocks_part_the_genes():
    X, y = toy()
    X[:, 20] = -X[:, 0] + 0.01 * X[:, 20]
    blocks = linear_blocks(X, y, tau=0.3, unit_variance=True)
    assert sorted(gene for block in blocks for gene in block) == list(range(30))
    assert any({0, 20} <= set(block) for block in blocks)


def test_groups_of_a_file_are_selected_together(tmp_path):
    table = "gene\tset\n" + "".join(f"g{j}\tset{j % 6}\n" for j in range(24)) + "g29\t\n"
    (tmp_path / "sets.tsv").write_text(table)
    dataset, splits = study(*toy(), folds=2)
    fits = outer(dataset, splits, penalty="group", groups=str(tmp_path / "sets.tsv"), genes=None)
    assert len(fits.indices)
    for fit in range(len(fits)):
        genes = set(fits.selected(fit)[0].tolist())
        for gene in genes:
            expected_genes = set(range(gene % 6, 24, 6)) if gene < 24 else {gene}
            assert expected_genes <= genes


@pytest.mark.parametrize(
    ("n", "d", "settings"),
    [(24, 1, {}), (24, 3, {}), (24, 30, {"genes": 1}), (12, 30, {"genes": None})],
)
def test_few_genes_or_samples(n, d, settings):
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, 1.0], n // 2)
    X = rng.standard_normal((n, d))
    X[:, 0] += 2 * y
    dataset, splits = study(X, y)
    fits = outer(dataset, splits, **settings)
    assert len(fits) == 3
    assert np.isfinite(fits.scores).all()
    _, curves = final(dataset, splits, **settings)
    assert set(curves["gene"]) <= set(dataset.genes)


def test_two_samples_of_each_class_say_so_and_do_not_stop_the_study():
    dataset, splits = study(*toy(n=8, d=6), folds=2, inner_folds=2)  # inner folds train on 2
    fits = outer(dataset, splits)
    assert np.isfinite(fits.scores).all()
    tiny = [replace(split, train=split.train[:2], inner=()) for split in splits.outer]
    fits = outer(dataset, replace(splits, outer=tuple(tiny)))
    assert list(fits.message) == ["too few samples, or no gene that varies"] * 2
    assert len(fits.indices) == 0
    mean = [dataset.response()[dataset.rows(split.train)].mean() for split in tiny]
    assert_array_equal(fits.scores, np.repeat(mean, 4))


def test_fvm_control_uses_genes_with_tied_information():
    """A score of zero would count as wrong, and make noise look worse than chance."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        X = rng.standard_normal((24, 200))
        fits = outer(*study(X, np.tile([-1.0, 1.0], 12), folds=2), fvm_genes=[1])
        assert (fits.nonlinear.fvm_genes == 1).all()
        assert (fits.nonlinear.fvm_scores != 0).all()


def test_constant_genes_are_not_selected():
    X, y = toy()
    X[:, 2:] = 1.0
    fits = outer(*study(X, y))
    assert set(fits.indices.tolist()) <= {0, 1}
    X[:] = 1.0
    assert set(outer(*study(X, y)).message) == {"too few samples, or no gene that varies"}


@pytest.mark.slow
def test_a_rare_class_is_not_given_away():
    """One in six is rare; cut at 0 the same scores would call at most 27 % of them so."""
    rng = np.random.default_rng(4)
    y = np.where(np.arange(90) % 6 == 0, 1.0, -1.0)
    X = rng.standard_normal((90, 12))
    X[:, :3] += 0.35 * y[:, None]
    dataset, splits = study(X, y, inner_folds=3)
    fits = outer(dataset, splits)
    truth = dataset.response()[fits.test_rows]
    for scores in (fits.scores, fits.nonlinear.fvm_scores):
        called = [np.mean(scores[truth == sign] > 0) for sign in (-1, 1)]
        assert called[0] < 0.4 < 0.6 < called[1]


def test_numbers_are_not_cut():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 6))
    y = 5 + X[:, 0] + 0.1 * rng.standard_normal(30)
    fits = outer(*study(X, y, task="regression"))
    assert abs(fits.scores.mean() - 5) < 0.5


def test_midpoint_is_the_mean_of_the_class_means_of_held_out_scores():
    folds = [np.array([-1.0, -1.0]), np.array([-1.0, 1.0])]
    held_out = [(np.zeros(len(y)), y) for y in folds]
    assert midpoint(np.array([6.0, 10.0]), held_out) == (6 / 3 + 10 / 1) / 2
    assert midpoint(np.array([6.0, 0.0]), held_out[:1]) == 0
