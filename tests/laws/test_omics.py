"""Penalty factors of omics: effect on the path, choice, and equal factors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from linear_loops import (
    fit_final_model,
    fit_half_samples,
    nested_cross_validation,
    study_half_samples,
)
from settings import MOMENTS, SPLITS, of_kind
from sklearn.linear_model import Lasso
from study_data import COLUMNS, study_of

from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import bind_steps
from genesig.optim.solvers import path
from genesig.optim.training import training_sets
from genesig.results import CrossValidation, Fits
from genesig.results.dataset import OMIC, PRIOR_WEIGHT
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.linear import omics
from genesig.selection.linear.comparisons import omics_table
from genesig.selection.linear.training_sets import LinearSettings

N_GENES = 60
PROTEINS = 8


def study(kind="classification", signal=1.5, **columns):
    """Return a study whose first three genes, which are proteins, carry the response."""
    plain = study_of(kind, 3, n=60, d=N_GENES, signal=signal)
    gene_columns = {OMIC: ["protein"] * PROTEINS + ["rna"] * (N_GENES - PROTEINS), **columns}
    dataset = replace(plain, var=plain.var.assign(**gene_columns))
    return dataset, draw_splits(dataset, seed=7, **SPLITS)


def fitted(dataset, splits, labels="observed", chance=None, **settings):
    kind = of_kind(dataset.design.kind) | settings
    return nested_cross_validation(
        dataset, splits, chance, labels=labels, batch="1of1", fold_steps=MOMENTS, **kind
    )


def assert_same_fits(fits_a: Fits, fits_b: Fits, but=("factors",)):
    arrays_b = fits_b.arrays()
    for name, ours in fits_a.arrays().items():
        if name in but:
            continue
        theirs = arrays_b[name]
        if ours.dtype.kind in "iUb":
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_factor_of_1_for_all_changes_nothing(kind, monkeypatch):
    monkeypatch.setattr(omics, "PENALTY_RATIOS", (1.0,))
    dataset, splits = study(kind)
    learned = fitted(dataset, splits, learn_omics=True)
    assert_same_fits(fitted(dataset, splits), learned)
    assert (learned.grid.factors == 1).all()
    weighted_dataset = study(kind, **{PRIOR_WEIGHT: np.ones(N_GENES)})[0]
    assert_same_fits(fitted(dataset, splits), fitted(weighted_dataset, splits))


@pytest.mark.parametrize("kind", COLUMNS)
def test_common_factor_is_a_change_of_tau(kind):
    """tau counts in units of tau_max, so that only the unit changes; lam and mu have none."""
    dataset, splits = study(kind)
    halved = study(kind, **{PRIOR_WEIGHT: np.full(N_GENES, 4.0)})[0]
    plain_fits = fitted(dataset, splits)
    halved_fits = fitted(halved, splits)
    np.testing.assert_allclose(plain_fits.grid.tau_max, 4 * halved_fits.grid.tau_max, rtol=1e-12)
    assert_same_fits(plain_fits, halved_fits, but=("factors", "tau_max", "gap"))


def test_factors_divide_the_columns_of_a_lasso():
    """(1/n)||y - Zb||² + tau Σ w|b|: scikit-learn's lasso of Z/w at tau/2, by b = c/w."""
    dataset, _ = study("regression")
    factors = dataset.prior_weights(np.array([0.5, 2.0]))
    np.testing.assert_array_equal(factors, [0.5] * PROTEINS + [2.0] * (N_GENES - PROTEINS))
    y = dataset.response()[:, None]
    rows = np.ones((60, 1), dtype=bool)
    sets = training_sets(dataset.X, y, rows, centre=True, unit_variance=True, weights=factors)
    tau = 0.3 * sets.tau_max[:, None]
    genes, values = path(sets, tau, 0.0, solver="landweber-newton", tolerance=1e-10).coef(0, 0)
    Z, response = sets.problem(0)
    model = Lasso(alpha=tau[0, 0] / 2, fit_intercept=False, tol=1e-12, max_iter=100_000)
    lasso_coef = model.fit(Z / factors, response).coef_ / factors
    np.testing.assert_array_equal(genes, np.flatnonzero(lasso_coef))
    np.testing.assert_allclose(values, lasso_coef[genes], rtol=1e-6)


@pytest.mark.slow_cases("survival", "several_classes")
@pytest.mark.parametrize("kind", COLUMNS)
def test_inner_folds_favour_the_omic_with_the_signal(kind):
    dataset, splits = study(kind)
    fits = fitted(dataset, splits, learn_omics=True)
    assert dataset.omics == ("protein", "rna")
    assert (fits.grid.factors[:, 0] == 1).all()
    assert (fits.grid.factors[:, 1] > 1).any()


def test_candidates_are_ratios_and_equal_ones_come_first():
    dataset, _ = study()
    learned = LinearSettings(**of_kind("classification") | {"learn_omics": True})
    candidates = np.array(omics.candidate_factors(dataset, learned))
    assert candidates[0].tolist() == [1, 1]
    assert sorted(map(tuple, candidates.tolist())) == [(1, 1), (1, 2), (1, 4), (2, 1), (4, 1)]
    assert omics.candidate_factors(dataset, replace(learned, learn_omics=False)) == [None]
    assert omics.candidate_factors(dataset.without("rna"), learned) == [None]
    three = replace(dataset, var=dataset.var.assign(**{OMIC: list("abc" * (N_GENES // 3))}))
    assert len(omics.candidate_factors(three, learned)) == 19


def test_equal_factors_stand_unless_others_are_better_by_a_standard_error():
    dataset, splits = study(signal=0.3)
    learned = fitted(dataset, splits, learn_omics=True)
    protocol = LinearSettings(**of_kind("classification") | {"learn_omics": True})
    group_errors = []
    for factors in omics.candidate_factors(dataset, protocol):
        dataset_with_weights = replace(
            dataset, var=dataset.var.assign(**{PRIOR_WEIGHT: dataset.prior_weights(factors)})
        )
        group_errors.append(fitted(dataset_with_weights, splits))
    chosen = []
    smallest = []
    for fit in range(len(learned)):
        errors = [fits.grid.error[fit].ravel() for fits in group_errors]
        best = int(np.argmin([error.min().round(12) for error in errors]))
        place = errors[best].argmin()
        standard_errors = group_errors[best].grid.standard_error[fit].ravel()
        bind_steps = errors[best][place] + standard_errors[place]
        at = best if bind_steps < errors[0].min() else 0
        chosen.append(at)
        smallest.append(best)
        alone = np.array([fit])
        assert_same_fits(learned.take(alone), group_errors[at].take(alone))
        assert (
            learned.grid.factors[fit].tolist()
            == omics.candidate_factors(dataset, protocol)[at].tolist()
        )
    assert len(set(chosen)) > 1
    assert chosen != smallest


@pytest.mark.slow
def test_permuted_labels_choose_anew():
    dataset, splits = study()
    fits = fitted(dataset, splits, "permuted-001-012", learn_omics=True)
    assert len(np.unique(fits.grid.factors, axis=0)) > 2
    alone = fitted(dataset, splits, "permuted-005-005", learn_omics=True)
    assert_same_fits(fits.take(np.flatnonzero(fits.permutation == 5)), alone, but=())


@pytest.mark.slow
def test_fdr_selected_genes_ignore_learned_factors():
    """Their halves choose nothing; the chosen list, and what is made of it, is another."""
    dataset, splits = study(signal=0.4)
    settings = of_kind("classification") | {"list": "best"}
    chance = study_half_samples(
        dataset, splits, permutations=20, fold_steps=bind_steps(MOMENTS, dataset), **settings
    )
    plain = fitted(dataset, splits, chance=chance, list="best")
    learned = fitted(dataset, splits, chance=chance, list="best", learn_omics=True)
    assert (learned.grid.factors != 1).any()
    plain_answer = plain.answer("fdr_selected")
    learned_answer = learned.answer("fdr_selected")
    np.testing.assert_array_equal(plain_answer.indptr, learned_answer.indptr)
    np.testing.assert_array_equal(plain_answer.indices, learned_answer.indices)
    np.testing.assert_allclose(plain_answer.values, learned_answer.values, rtol=1e-9)
    assert not np.array_equal(plain.indices, learned.indices)


def test_half_samples_learn_factors_of_their_own():
    dataset, _ = study()
    splits = draw_splits(dataset, seed=7, **SPLITS | {"subsamples": 4})
    settings = of_kind("classification") | {"learn_omics": True}
    halves = fit_half_samples(dataset, splits, fold_steps=MOMENTS, **settings)
    assert halves.grid.factors.shape == (len(halves), 2)
    assert halves.lasso_lists is not None


def test_without_an_omic_its_genes_are_gone():
    dataset, _ = study()
    remaining = dataset.without("protein")
    assert remaining.omics == ("rna",)
    np.testing.assert_array_equal(remaining.X, dataset.X[:, PROTEINS:])
    assert remaining.genes == dataset.genes[PROTEINS:]


def test_fits_keep_their_factors(tmp_path):
    dataset, splits = study()
    fits = fitted(dataset, splits, learn_omics=True)
    fits.save(tmp_path / "fits.npz")
    np.testing.assert_array_equal(Fits.load(tmp_path / "fits.npz").grid.factors, fits.grid.factors)
    np.testing.assert_array_equal(fits.with_chosen().grid.factors, fits.grid.factors)


@pytest.mark.slow_cases("factors1")
@pytest.mark.parametrize("factors", ["learned", {"protein": 1, "rna": 3}])
def test_added_value_of_an_omic_is_the_error_without_it_less_the_error_with_all(factors):
    dataset, splits = study()
    settings = of_kind("classification") | {"learn_omics": factors == "learned"}
    fits = fitted(dataset, splits, learn_omics=factors == "learned")
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **settings)
    table = omics_table(
        CrossValidation(dataset, splits, fits),
        final,
        LinearSettings(**settings),
        omic_factors=factors,
        permutations=0,
        fold_steps=MOMENTS,
    ).set_index("name")
    assert table["row"].tolist() == ["genesig", "without", "without"]
    assert table["genes"].to_dict() == {"genesig": 60, "protein": 8, "rna": 52}
    lists = [fits.with_chosen().chosen_coef(split)[0] for split in range(len(fits))]
    assert table["listed"]["protein"] == np.mean([np.sum(genes < PROTEINS) for genes in lists])
    assert table["listed"]["genesig"] == np.mean([len(genes) for genes in lists])
    assert table["added"]["protein"] > 0.1  # the signal is in proteins
    errors = {}
    for name, data in {
        "genesig": dataset,
        **{n: dataset.without(n) for n in dataset.omics},
    }.items():
        refit = fits if name == "genesig" else fitted(data, splits, **settings)
        scores = collect_held_out(data, splits, refit.with_chosen()).column(-1)
        is_wrong = np.sign(scores.scores[:, 0]) != scores.y
        errors[name] = np.mean([is_wrong[scores.y == label].mean() for label in (-1, 1)])
    assert table["error"].to_dict() == pytest.approx(errors)
    added = {name: errors[name] - errors["genesig"] for name in dataset.omics}
    assert table["added"].drop("genesig").to_dict() == pytest.approx(added)
    if factors == "learned":
        assert (table["factor_low"] <= table["factor_high"]).loc[["protein", "rna"]].all()
    else:
        assert table["factor"].drop("genesig").to_dict() == factors
