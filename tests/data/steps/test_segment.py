"""Copy-number samples become step functions along chromosomes, each by its own noise."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from small_study import GENES, Study

from genesig.cli import main
from genesig.data.cohorts.new_matrix import apply_row_wise
from genesig.data.files.readers import load_schema
from genesig.data.steps.normalise import Reference, bind_steps, fit_steps, normalise_samples
from genesig.data.steps.segment import with_places
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.errors import GenesigError
from genesig.report.data import normalisation_sentences
from genesig.results import Dataset, Design

STEP = {"step": "segment", "tau": None}
SIZES = {"1": 60, "2": 40, "X": 3, "": 5}


def genome(seed: int = 0) -> pd.DataFrame:
    """Return probes in any order; the last five have no place."""
    names = np.repeat(list(SIZES), list(SIZES.values()))
    place = np.concatenate([np.arange(n) * 1000.0 for n in SIZES.values()])
    place[names == ""] = np.nan
    var = pd.DataFrame({"symbol": "", "chromosome": names, "position": place})
    var.index = pd.Index([f"p{k}" for k in range(len(var))])
    return var.iloc[np.random.default_rng(seed).permutation(len(var))]


def copy_numbers(var: pd.DataFrame, seed: int, noise: float) -> tuple[Any, Any]:
    """Return true copy numbers, a gain on chromosome 1 and a loss on 2, and values with noise."""
    on = var["chromosome"].to_numpy()
    at = var["position"].to_numpy()
    gain = (on == "1") & (at >= 20_000) & (at < 35_000)
    loss = (on == "2") & (at >= 25_000)
    true = 0.6 * gain - 1.0 * loss
    return true, true + noise * np.random.default_rng(seed).normal(size=(6, len(var)))


def segmented(X: Any, var: pd.DataFrame, tau: float | None = None) -> Any:
    return fit_steps(X, with_places([STEP | {"tau": tau}], var)).transform(X)


def columns_of_chromosome(var: pd.DataFrame, name: str) -> Any:
    """Return the columns of a chromosome in order."""
    on = np.flatnonzero(var["chromosome"] == name)
    return on[np.argsort(var["position"].to_numpy()[on])]


def spread(x: Any, var: pd.DataFrame) -> float:
    steps = np.concatenate([np.diff(x[columns_of_chromosome(var, name)]) for name in "12X"])
    return float(1.4826 * np.median(np.abs(steps - np.median(steps))) / 2**0.5)


@pytest.mark.slow
def test_each_chromosome_of_a_sample_is_the_minimiser_that_clarabel_finds():
    var = genome()
    X = copy_numbers(var, 1, 0.3)[1][:2]
    f = segmented(X, var, 1.5)
    for row, x in zip(f, X, strict=True):
        for name in "12X":
            y = x[columns_of_chromosome(var, name)]
            tau = 1.5 * spread(x, var)
            best = cp.Variable(len(y))
            parts = cp.sum_squares(best - y) / 2 + tau * cp.norm1(cp.diff(best))
            cp.Problem(cp.Minimize(parts)).solve(solver="CLARABEL")
            np.testing.assert_allclose(row[columns_of_chromosome(var, name)], best.value, atol=1e-5)


def test_a_jump_that_costs_much_leaves_the_mean_of_each_chromosome():
    var = genome()
    X = copy_numbers(var, 2, 0.3)[1]
    f = segmented(X, var, 1e6)
    for name in "12X":
        columns = columns_of_chromosome(var, name)
        means = np.broadcast_to(X[:, columns].mean(axis=1, keepdims=True), (6, len(columns)))
        np.testing.assert_allclose(f[:, columns], means, atol=1e-12)
    np.testing.assert_allclose(segmented(X, var, 0.0), X, atol=1e-12)


@pytest.mark.parametrize("tau", [None, 3.0])
def test_columns_without_noise_or_place_stay_unchanged(tau):
    var = genome()
    true = np.tile(copy_numbers(var, 0, 0.0)[0], (2, 1))
    np.testing.assert_array_equal(segmented(true, var, tau), true)
    _, X = copy_numbers(var, 3, 0.2)
    lost = (var["chromosome"] == "").to_numpy()
    np.testing.assert_array_equal(segmented(X, var, tau)[:, lost], X[:, lost])
    once = segmented(X, var)
    np.testing.assert_array_equal(segmented(once, var), once)


def test_gains_and_losses_are_found_by_each_samples_own_noise():
    """The second half is three times as loud; ends may be off by a probe or two."""
    var = genome()
    true, quiet = copy_numbers(var, 4, 0.1)
    loud = copy_numbers(var, 5, 0.3)[1]
    placed = (var["chromosome"] != "").to_numpy()
    for X, noise, max_share in ((quiet, 0.1, 0.03), (loud, 0.3, 0.13)):
        f = segmented(X, var)
        np.testing.assert_array_equal(f[:3], segmented(X[:3], var))
        far = np.sqrt(np.mean((f - true)[:, placed] ** 2))
        assert far < max_share < noise / 2
        jumps = [
            np.count_nonzero(np.diff(f[:, columns_of_chromosome(var, name)]), axis=1)
            for name in "12"
        ]
        assert np.abs(np.array(jumps) - [[2], [1]]).mean() < 0.3


@pytest.mark.parametrize("tau", [None, 1.0])
def test_columns_that_a_new_sample_lacks_are_left_out_of_its_lines(tau):
    var = genome()
    X = copy_numbers(var, 6, 0.2)[1]
    fitted = fit_steps(X, with_places([STEP | {"tau": tau}], var))
    fitted = Reference.from_state(fitted.state())
    is_known = np.random.default_rng(0).random(X.shape) < 0.8
    is_known[1] = (var["chromosome"] == "").to_numpy()  # none with a place
    is_known[2] = False
    filled = apply_row_wise(fitted.steps, X, is_known, np.full(X.shape[1], 7.0))
    for row, x, is_known_here in zip(filled, X, is_known, strict=True):
        segmented_alone = (
            segmented(x[None, is_known_here], var.iloc[is_known_here], tau)
            if is_known_here.any()
            else np.empty((1, 0))
        )
        np.testing.assert_array_equal(row[is_known_here], segmented_alone[0])
        assert (row[~is_known_here] == 7.0).all()


def test_columns_that_a_step_before_it_leaves_out_are_left_out_of_its_lines():
    var = genome()
    X = copy_numbers(var, 7, 0.2)[1]
    steps = [{"step": "variance_filter", "keep": 0.5}, *with_places([STEP], var)]
    fitted = fit_steps(X, steps)
    assert 0 < len(fitted.genes) < X.shape[1]
    expected = segmented(X[:, fitted.genes], var.iloc[fitted.genes])
    np.testing.assert_array_equal(fitted.transform(X), expected)


def test_the_steps_of_a_data_set_know_its_places():
    var = genome()
    X = copy_numbers(var, 8, 0.2)[1]
    names = [f"s{k}" for k in range(len(X))]
    obs = pd.DataFrame({"y": ["a", "b"] * 3}, index=names)
    data = Dataset(X, obs, var, Design("y", "classification", ("a", "b"), None, None), {})
    normalised = normalise_samples(data, samples=[STEP], folds=[])
    np.testing.assert_array_equal(normalised.X, segmented(X, var))
    assert normalised.provenance["steps"] == [STEP]
    assert [len(step["order"]) for step in bind_steps([STEP], data)] == [103]
    bare = Dataset(X, obs, var[["symbol"]], data.design, {})
    with pytest.raises(GenesigError, match=r"set data\.chromosome and data\.position"):
        normalise_samples(bare, samples=[STEP], folds=[])


def study(folder: Any, samples: list[Any], **data: Any) -> Study:
    study_files = Study(folder)
    rows = [f"{gene}\tS{gene}\t{1 + k // 4}\t{k}" for k, gene in enumerate(GENES)]
    study_files.files["genes.tsv"] = (
        "\n".join(["gene\tsymbol\tchr\tstart", *rows]) + "\n"
    ).encode()
    place_columns = {"symbol": "symbol", "chromosome": "chr", "position": "start"}
    study_files.set("data", {"annotation": "genes.tsv"} | place_columns | data)
    study_files.set("normalise.samples", samples)
    return study_files


def test_a_study_is_read_and_segmented(tmp_path, monkeypatch):
    study_files = study(tmp_path, [{"step": "segment"}])
    study_files.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    config = resolve_config(study_files.config, load_schema())
    data = read_dataset(StudySettings.from_config(config))
    normalised = normalise_samples(data, **config["normalise"])
    np.testing.assert_array_equal(normalised.X, segmented(data.X, data.var))
    sentence = normalisation_sentences({"config": config, "study": {"classes": None}})[0]  # type: ignore[typeddict-item]
    assert "step function along every chromosome" in sentence
    assert "several, segments pruned by BIC" in sentence


NO_PLACES = {"chromosome": None, "position": None}
NEEDS = "'segment' needs to know where genes lie; set data.chromosome and data.position"
REFUSED_STUDIES: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "no places": ([{"step": "segment"}], NO_PLACES, f"normalise.samples, item 1: {NEEDS}"),
    "no column": (
        [{"step": "segment"}],
        {"position": "begin"},
        "genes.tsv: data.position 'begin' is not a column of genes.tsv (columns: symbol, chr,"
        " start)",
    ),
    "below 0": (
        [{"step": "segment", "tau": -1}],
        {},
        "normalise.samples, item 1, tau: found -1, needs a number or null, at least 0 and at most"
        " 10000",
    ),
    "a word": (
        [{"step": "segment", "tau": "auto"}],
        {},
        "normalise.samples, item 1, tau: found the text 'auto', needs a number or null",
    ),
    "another key": (
        [{"step": "segment", "lambda": 2}],
        {},
        "normalise.samples, item 1, lambda: unknown key 'lambda'",
    ),
    "twice": (
        [{"step": "segment"}, {"step": "segment"}],
        {},
        "normalise.samples, item 2: 'segment' is already item 1; keep one of them",
    ),
    "missing values": (
        [{"step": "segment"}],
        {"missing": True},
        "normalise.samples, item 1: 'segment' needs every value of a sample; with data.missing only"
        " log2 and zeros_as_missing may stand in normalise.samples",
    ),
}


@pytest.mark.parametrize("name", REFUSED_STUDIES)
def test_segmenting_an_unsuitable_study_gives_one_line(name, tmp_path, monkeypatch, capsys):
    samples, data, sentence = REFUSED_STUDIES[name]
    study_files = study(tmp_path, samples, **data)
    if name == "missing values":
        study_files.set("normalise.folds", [{"step": "knn_impute"}])
    study_files.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert len(errors) == 1
    assert sentence in errors[0]
