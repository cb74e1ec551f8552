"""Prior weights of the l1 penalty: the weighted problem, and weights from the gene table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gathered_study import make_dataset
from hypothesis import given
from hypothesis import strategies as st
from linear_loops import fit_final_model, fit_half_samples, nested_cross_validation
from report_records import Study as Reported
from report_records import arguments
from settings import LINEAR, MOMENTS, SPLITS
from small_study import Study

from genesig.cli import main
from genesig.data.splits.draw import draw_splits
from genesig.optim.solution import duality_gap
from genesig.optim.solvers import SOLVERS, path
from genesig.optim.training import training_sets
from genesig.report.collect import StudyResults, collect
from genesig.report.methods import methods
from genesig.results import Dataset
from genesig.results.dataset import PRIOR_WEIGHT

EXACT_SOLVER = {"solver": "landweber-newton", "tolerance": 1e-9}


def problem(seed, weights, n=20, d=30, unit_variance=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 3, d) + 5
    Y = rng.normal(size=(n, 2))
    rows = rng.random((n, 2)) < 0.8
    rows[:4] = True
    return training_sets(X, Y, rows, centre=True, unit_variance=unit_variance, weights=weights)


@given(seed=st.integers(0, 10_000))
def test_tau_max_is_sharp(seed):
    weights = np.exp(np.random.default_rng(seed).normal(size=30))
    sets = problem(seed, weights)
    sizes_above, sizes_below = (
        path(sets, share * sets.tau_max[:, None], 0.0, **EXACT_SOLVER)
        for share in (1 + 1e-9, 1 - 1e-3)
    )
    assert (sizes_above.sizes() == 0).all()
    assert (sizes_below.sizes() >= 1).all()


def test_prior_weights_without_ridge_equal_the_lasso_of_divided_columns():
    weights = np.exp(np.random.default_rng(3).normal(size=30))
    sets = problem(1, weights, unit_variance=False)
    plain = training_sets(sets.X / weights, sets.Y, sets.rows, centre=True, unit_variance=False)
    np.testing.assert_allclose(sets.tau_max, plain.tau_max, rtol=1e-12)
    tau = sets.tau_max[:, None] * np.array([0.5, 0.1])
    weighted_path = path(sets, tau, 0.0, **EXACT_SOLVER)
    plain_path = path(plain, tau, 0.0, **EXACT_SOLVER)
    np.testing.assert_array_equal(weighted_path.indices, plain_path.indices)
    np.testing.assert_allclose(
        weighted_path.values * weights[weighted_path.indices], plain_path.values, rtol=1e-6
    )


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_knows_the_weights(solver):
    weights = np.r_[np.full(15, 3.0), np.full(15, 0.2)]
    sets = problem(2, weights)
    tau = 0.5 * sets.tau_max[:, None]
    mu = 0.1 * sets.norm[:, None]
    fits = path(sets, tau, mu, solver=solver, tolerance=1e-2)
    for k in range(2):
        rows = sets.rows[:, k]
        b = np.zeros(30)
        b[fits.coef(k, 0)[0]] = fits.coef(k, 0)[1]
        gap = duality_gap(
            sets.standardised(k)[rows], sets.Y[rows, k], b, tau[k, 0], mu[k, 0], weights
        )
        assert gap == pytest.approx(fits.gap[k, 0], abs=1e-9)
    assert fits.converged.all()


def of_one_size(weights=None):
    """Return a study of twelve genes alike in signal, and its splits."""
    rng = np.random.default_rng(5)
    y = np.repeat([-1.0, 1.0], 15)
    dataset = make_dataset(y[:, None] + 2 * rng.normal(size=(30, 12)), y)
    if weights is not None:
        dataset.var[PRIOR_WEIGHT] = weights
    return dataset, draw_splits(dataset, seed=0, **{**SPLITS, "subsamples": 4})


def fits_of(dataset, splits, folds):
    final = fit_final_model(dataset, splits, fold_steps=folds, **LINEAR)
    observed, permuted = (
        nested_cross_validation(
            dataset, splits, labels=labels, batch="1of1", fold_steps=folds, **LINEAR
        )
        for labels in ("observed", "permuted-001-002")
    )
    return final, observed, permuted, fit_half_samples(dataset, splits, fold_steps=folds, **LINEAR)


def test_equal_weights_change_nothing_but_tau():
    for weighted_values, plain_values in zip(
        fits_of(*of_one_size(), MOMENTS),
        fits_of(*of_one_size(np.full(12, 4.0)), MOMENTS),
        strict=True,
    ):
        np.testing.assert_allclose(
            weighted_values.grid.tau_max, 4 * plain_values.grid.tau_max, rtol=1e-12
        )
        np.testing.assert_array_equal(weighted_values.indices, plain_values.indices)
        np.testing.assert_allclose(weighted_values.values, plain_values.values, rtol=1e-6)


@pytest.mark.parametrize("folds", [MOMENTS, [{"step": "variance_filter", "keep": 0.5}, *MOMENTS]])
def test_every_fit_of_a_study_prefers_genes_of_small_weight(folds):
    """Also where a filter leaves out genes, so that columns are renumbered."""
    weights = np.where(np.arange(12) % 2 == 0, 0.01, 100.0)
    for fits in fits_of(*of_one_size(weights), folds):
        assert len(fits.indices)
        assert (fits.indices % 2 == 0).all()


def test_stored_dataset_keeps_prior_weights(tmp_path):
    dataset, _ = of_one_size(np.arange(1, 13) / 4)
    dataset.save(tmp_path / "d.h5ad")
    np.testing.assert_array_equal(
        Dataset.load(tmp_path / "d.h5ad").prior_weights(), np.arange(1, 13) / 4
    )
    assert of_one_size()[0].prior_weights() is None


def study(tmp_path, cells, **keys):
    study_files = Study(tmp_path)
    rows = [f"gene{k}\tG{k}\t{cell}\n" for k, cell in enumerate(cells, 1)]
    study_files.files["genes.tsv"] = "".join(["gene\tsymbol\tweight\n", *rows]).encode()
    study_files.set("data", {"annotation": "genes.tsv", "prior_weights": "weight", **keys})
    return study_files.write()


GOOD = ["1", "0.5", "2", "1e1", "100", "0.01", "1", "1"]
VALUE_MESSAGE = "data.prior_weights needs a number from 0.01 to 100 for every gene"
FAULTS = {
    "blank": (
        [*GOOD[:7], ""],
        {},
        f"weight of 1 gene is no weight ('gene8' is blank); {VALUE_MESSAGE}",
    ),
    "negative": (
        ["-1", *GOOD[1:]],
        {},
        f"weight of 1 gene is no weight ('gene1' is '-1'); {VALUE_MESSAGE}",
    ),
    "zero and a word": (
        ["0", "x", *GOOD[2:]],
        {},
        f"weight of 2 genes is no weight ('gene1' is '0'); {VALUE_MESSAGE}",
    ),
    "infinite": (
        ["inf", *GOOD[1:]],
        {},
        f"weight of 1 gene is no weight ('gene1' is 'inf'); {VALUE_MESSAGE}",
    ),
    "a gene is absent": (
        GOOD[:7],
        {},
        f"weight of 1 gene is no weight ('gene8' is blank); {VALUE_MESSAGE}",
    ),
    "another column": (
        GOOD,
        {"prior_weights": "wieght"},
        "data.prior_weights 'wieght' is not a column of genes.tsv; did you mean 'weight'?",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_prior_weights_is_one_line(name, tmp_path, monkeypatch, capsys):
    cells, keys, message = FAULTS[name]
    study(tmp_path, cells, **keys)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert errors == [f"error: genes.tsv: {message}"]


def test_without_a_gene_table_there_are_none(tmp_path, monkeypatch, capsys):
    study(tmp_path, GOOD, annotation=None)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    message = (
        "data.prior_weights: names a column of the gene table; set data.annotation to its file"
    )
    assert f"error: config.yaml, {message}" in capsys.readouterr().err


def test_a_table_of_weights_alone_needs_no_symbols(tmp_path, monkeypatch, capsys):
    config = study(tmp_path, GOOD)
    table = Path(tmp_path, "genes.tsv")
    rows = map(str.split, table.read_text("utf-8").splitlines())
    table.write_text("".join(f"{row[0]}\t{row[2]}\n" for row in rows), "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", config.name]) == 0, capsys.readouterr().err


def test_methods_name_the_column():
    design_settings = arguments(Reported())
    assert "prior weight" not in " ".join(methods(collect(StudyResults(**design_settings))))
    design_settings["config"]["data"]["prior_weights"] = "known"
    assert "prior weight (column known of" in " ".join(
        methods(collect(StudyResults(**design_settings)))
    )
