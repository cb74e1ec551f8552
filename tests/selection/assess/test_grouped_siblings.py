"""Copies of samples in one group add no certainty to differences and effects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from genesig.response.kinds import SURVIVAL_DTYPE
from genesig.results import Dataset, Design
from genesig.selection.assess.assessment import compare_errors
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores
from genesig.selection.assess.patients_tables import next_study_table
from genesig.selection.left_out_studies import studies_table
from genesig.selection.meta_analysis import effects_of

HEADLINE = ASSESSMENT_KINDS["classification"].headline
N_SAMPLES = 24
COPIES = 3
N_REPEATS = 4


def _held_out(scores: np.ndarray, copies: int, *, grouped: bool) -> HeldOutScores:
    """Return the record of scores (repeats, samples), each sample `copies` times."""
    y = np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)
    row = np.tile(np.arange(N_SAMPLES * copies), N_REPEATS)
    repeat = np.repeat(np.arange(N_REPEATS), N_SAMPLES * copies)
    sample = row // copies
    group = sample if grouped else None
    return HeldOutScores(
        y[sample], row, repeat, repeat, 0 * row, scores[repeat, sample][:, None], 0.25, group
    )


def _width(copies: int, *, grouped: bool) -> float:
    rng = np.random.default_rng(1)
    ours, theirs = rng.standard_normal((2, N_REPEATS, N_SAMPLES)) + 0.2
    pair = (_held_out(scores, copies, grouped=grouped) for scores in (ours, theirs))
    low, high = compare_errors(*pair, 0, HEADLINE)[3:]
    return high - low


def test_difference_interval_of_copied_samples_is_that_of_one_each() -> None:
    once = _width(1, grouped=False)
    assert _width(1, grouped=True) == once
    assert _width(COPIES, grouped=True) == pytest.approx(once, rel=1e-6)
    assert _width(COPIES, grouped=False) < 0.9 * once


def _survival(copies: int, *, grouped: bool) -> HeldOutScores:
    """Return held-out scores of 40 patients with times, each sample `copies` times."""
    rng = np.random.default_rng(4)
    y = np.zeros(40, dtype=SURVIVAL_DTYPE)
    y["event"] = rng.random(40) < 0.8
    score = rng.standard_normal(40)
    y["time"] = rng.exponential(np.exp(-2 * score))
    sample = np.repeat(np.arange(40), copies)
    row = np.arange(len(sample))
    group = sample if grouped else None
    return HeldOutScores(
        y[sample], row, 0 * row, 0 * row, 0 * row, score[sample][:, None], 0.25, group
    )


def test_next_study_of_copied_samples_needs_as_many_patients() -> None:
    headline = ASSESSMENT_KINDS["survival"].headline
    once, grouped, ignored = (
        next_study_table(study_tables, headline, None).query("basis == 'value'").iloc[0]
        for study_tables in (
            _survival(1, grouped=False),
            _survival(COPIES, grouped=True),
            _survival(COPIES, grouped=False),
        )
    )
    assert grouped["samples"] == pytest.approx(once["samples"], rel=0.05)
    assert grouped["events"] == pytest.approx(once["events"], rel=0.05)
    assert ignored["samples"] == pytest.approx(once["samples"], rel=0.1)


def _studies(task: str, copies: int, *, grouped: bool) -> Dataset:
    """Return two studies of 12 samples, each sample `copies` times."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((24, 5))
    sample = np.repeat(np.arange(24), copies)
    names = [f"s{row}" for row in range(len(sample))]
    state = np.where(sample % 2, "ill", "well") if task == "classification" else X[sample, 0] + 1
    obs = pd.DataFrame(
        {
            "state": state.astype(str),
            "study": np.where(sample < 12, "a", "b"),
            "patient": [f"p{number}" for number in sample],
        },
        index=names,
    )
    genes = [f"g{k}" for k in range(5)]
    classes = ("well", "ill") if task == "classification" else None
    design = Design(
        "state", task, classes, "patient" if grouped else None, None, "study", studies=True
    )
    return Dataset(X[sample], obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_effects_of_copied_samples_are_those_of_one_each(task: str) -> None:
    once, grouped, ignored = (
        effects_of(dataset, dataset.response(), ["a", "b"])
        for dataset in (
            _studies(task, 1, grouped=False),
            _studies(task, COPIES, grouped=True),
            _studies(task, COPIES, grouped=False),
        )
    )
    for estimate_alone, estimate_grouped in zip(once, grouped, strict=True):
        np.testing.assert_allclose(estimate_grouped, estimate_alone)
    assert (ignored[1] < 0.5 * once[1]).all()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_interval_of_a_study_of_copied_samples_is_no_shorter(task: str) -> None:
    widths = {}
    for name, copies, grouped in (
        ("once", 1, False),
        ("grouped", COPIES, True),
        ("ignored", COPIES, False),
    ):
        dataset = _studies(task, copies, grouped=grouped)
        scores = np.repeat(np.random.default_rng(3).standard_normal(24), copies)
        predictions = pd.DataFrame({"sample": dataset.samples, "mu": np.nan, "score": scores})
        table = studies_table(dataset, predictions).query("row == 'study'")
        widths[name] = (table["high"] - table["low"]).to_numpy()
    assert (widths["grouped"] > 0.95 * widths["once"]).all()
    assert (widths["ignored"] < 0.75 * widths["once"]).all()
