"""Laws of every method of selection, one case per response kind and method.

Test rows have no part in their model, batches change nothing, a planted signal is found. Laws of
one method alone are in the file of that method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from block_studies import (
    BLOCK_PLACES,
    FUSED,
    SCALED,
    nonlinear_outer,
    nonlinear_study,
    place_study,
    planted,
    set_study_of,
    sets_outer,
)
from linear_loops import nested_cross_validation
from settings import MOMENTS, SPLITS, linear, of_kind
from study_data import CHANCE_ERROR, COLUMNS, class_study, study_of

from genesig.data.splits.draw import draw_splits
from genesig.errors import GenesigError
from genesig.results import Fits
from genesig.results.fits import join_batches
from genesig.results.model_fits import ModelFits
from genesig.selection.assess.assessment import study_errors
from genesig.selection.assess.held_out import collect_held_out, complete_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.sets.training_sets import SET_WEIGHT_FUNCTIONS

AnyFits = Fits | ModelFits
Study = tuple[Any, ...]  # data set, splits, and gene sets where the method takes them
HELD_OUT = {"scores", "fvm_scores", "answer_scores"}  # what the test rows do change


@dataclass(frozen=True)
class StudyDesign:
    """A simulated study, a method, and what the laws allow it."""

    build: Callable[[bool], Study]  # of a strong signal, or of a weak one
    fit: Callable[..., AnyFits]  # of a study, labels and a batch
    signal: frozenset[int]  # genes or sets that carry the signal
    min_true_features: int  # how many of these each fit selects at least, if the signal is strong
    max_error: float  # held-out error, if the signal is strong
    leak_tolerance: float = 1e-9
    batch_tolerance: float = 1e-9
    permutes: bool = True  # fits permuted labels, too


def fit_linear(study, labels="observed", batch="1of1", *, folds=MOMENTS, **settings):
    return nested_cross_validation(*study, labels=labels, batch=batch, fold_steps=folds, **settings)


def fit_nonlinear(study, labels="observed", batch="1of1", **settings):
    assert labels == "observed"
    return nonlinear_outer(*study, batch=batch, **settings)


def linear_study(kind, strong):
    dataset = study_of(kind, 4, n=60, signal=1.5 if strong else 1.0)
    return dataset, draw_splits(dataset, seed=1, **SPLITS)


def four_classes(strong):
    dataset = class_study(signal=4.0 if strong else 1.0)
    return dataset, draw_splits(dataset, seed=1, **{**SPLITS, "folds": 4})


def curved_study(strong):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 30))
    y = np.tile([-1.0, 1.0], 12)
    X[:, 0] += (2 if strong else 1) * y
    X[:, 1] = X[:, 1] ** 2 + y
    return nonlinear_study(X, y)


def set_study(kind, strong):
    return set_study_of(kind, 1.5 if strong else 0.5)


def linear_design(kind):
    return StudyDesign(
        build=partial(linear_study, kind),
        fit=partial(fit_linear, **of_kind(kind)),
        signal=frozenset(range(3)),
        min_true_features=2,
        max_error=0.7 * CHANCE_ERROR[kind],
    )


def nonlinear_design(**settings):
    return StudyDesign(
        build=curved_study,
        fit=partial(fit_nonlinear, **settings),
        signal=frozenset({0, 1}),
        min_true_features=1,
        max_error=0.3,
        leak_tolerance=0,
        batch_tolerance=0,
        permutes=False,
    )


def set_design(build, max_error, **settings):
    return StudyDesign(
        build=build,
        fit=partial(sets_outer, **settings),
        signal=frozenset({0}),
        min_true_features=1,
        max_error=max_error,
        leak_tolerance=1e-5,
        batch_tolerance=0,
    )


QUICK_CLASSES = linear(
    tau_min=0.05, tau_count=5, lam=[1e-3, 1e-1], mu=[1e-6, 1e-2], longest=100, most=40
)
FILTER = {"step": "variance_filter", "keep": 0.5}
DESIGNS = {
    **{kind: linear_design(kind) for kind in COLUMNS},
    "four classes": StudyDesign(
        build=four_classes,
        fit=partial(fit_linear, **QUICK_CLASSES),
        signal=frozenset(range(4)),
        min_true_features=4,
        max_error=0.1,
    ),
    "places": StudyDesign(
        build=lambda strong: place_study(),
        fit=partial(fit_linear, **FUSED),
        signal=frozenset(
            np.flatnonzero(place_study()[0].var["position"].isin(BLOCK_PLACES)).tolist()
        ),
        min_true_features=8,
        max_error=0.1,
    ),
    "nonlinear": nonlinear_design(),
    "nonlinear, groups of blocks": nonlinear_design(penalty="group"),
    "nonlinear, elastic": nonlinear_design(penalty="elastic"),
    "nonlinear, polynomial": nonlinear_design(kernel="polynomial", genes=None, tolerance=1e-2),
    "nonlinear, without ridge": nonlinear_design(debias=False),
    "nonlinear, learned steps": nonlinear_design(folds=({"step": "quantile"}, FILTER, *SCALED)),
    **{
        f"sets, {grouping}, {weights}": set_design(
            lambda strong: planted(effect=0.8 if strong else 0.5),
            max_error=0.1,
            others=grouping,
            weights=weights,
        )
        for grouping in ("leave_out", "singletons")
        for weights in SET_WEIGHT_FUNCTIONS
    },
    **{
        f"sets, {kind}": set_design(partial(set_study, kind), max_error)
        for kind, max_error in (("several_classes", 0.4), ("survival", 0.3))
    },
}
MAIN_DESIGNS = [
    *COLUMNS,
    "four classes",
    "places",
    "nonlinear",
    "sets, leave_out, permuted",
    "sets, several_classes",
    "sets, survival",
]
ALL_DESIGNS = pytest.mark.parametrize("name", DESIGNS)
MAIN_ARE_QUICK = pytest.mark.quick(*MAIN_DESIGNS)


def one_fit(fits: AnyFits, number: int) -> AnyFits:
    """Return the record of one fit."""
    if isinstance(fits, Fits):
        return fits.take(np.array([number]))
    return ModelFits.from_rows([fits.rows()[number]])


def join(study: Study, parts: list[AnyFits]) -> AnyFits:
    """Join batches as the rule after them does."""
    splits = study[1]
    if isinstance(parts[0], Fits):
        return join_batches(parts, splits)
    return ModelFits.joined(parts, [split.name for split in splits.outer])


def assert_same_fits(fits, expected, tolerance, ignored=frozenset()):
    arrays = fits.arrays()
    for name, reference in expected.arrays().items():
        if name in ignored:
            continue
        array = arrays[name]
        assert array.dtype == reference.dtype, name
        if reference.dtype.kind == "f" and tolerance:
            np.testing.assert_allclose(array, reference, tolerance, tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(array, reference, err_msg=name)


def with_other_test_rows(dataset, split):
    """Return the data set with other values, and one response, in all test rows of a split.

    One response, so that the shares of classes differ as well as the order of the responses.
    """
    rows = dataset.rows(split.test)
    X = dataset.X.copy()
    obs = dataset.obs.copy()
    X[rows] = np.random.default_rng(1).normal(5, 9, X[rows].shape)
    obs.iloc[rows] = obs.iloc[rows[0]].to_numpy()
    changed = replace(dataset, X=X, obs=obs)
    assert (changed.response() != dataset.response()).any()
    return changed


@cache
def weak_study(name):
    """Return the study of a design with a weak signal, and its fits."""
    study = DESIGNS[name].build(False)
    return study, DESIGNS[name].fit(study)


@cache
def batches_of(name):
    """Return the study of a design, all fits from one job, and the parts from several jobs.

    Of methods with permuted labels these are the fits of two permutations.
    """
    design = DESIGNS[name]
    study, observed = weak_study(name)
    if not design.permutes:
        return study, observed, [design.fit(study, batch=f"{part}of3") for part in (3, 2, 1)]
    jobs = product((2, 1), (1, 2))
    parts = [
        design.fit(study, f"permuted-{number}-{number}", f"{part}of2") for number, part in jobs
    ]
    return study, design.fit(study, "permuted-1-2"), parts


def held_out_error(study, fits):
    """Return the headline error of the chosen models."""
    dataset, splits = study[:2]
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline
    if isinstance(fits, Fits):
        return study_errors(collect_held_out(dataset, splits, fits.with_chosen()), headline)[0, -1]
    split = np.repeat(np.arange(len(fits)), np.diff(fits.test_indptr))
    rows = fits.test_rows
    scores = fits.scores[:, None]
    held_out = complete_held_out(
        dataset, splits, rows, split, scores, np.zeros(len(rows), dtype=int)
    )
    return study_errors(held_out, headline)[0, -1]


def selection(fits: AnyFits, number: int) -> set[int]:
    """Return what the chosen model of a fit selects."""
    if isinstance(fits, Fits):
        return set(fits.coef(number, int(fits.choice[number, 2]))[0].tolist())
    return set(fits.selected(number)[0].tolist())


@pytest.mark.slow_cases(
    "nonlinear, groups of blocks",
    "nonlinear, without ridge",
    "nonlinear, learned steps",
    "nonlinear, elastic",
    "nonlinear, polynomial",
    "sets, survival",
    "four classes",
)
@ALL_DESIGNS
def test_test_rows_have_no_part_in_their_model(name):
    (dataset, splits, *sets), before = weak_study(name)
    for number, split in enumerate(splits.outer):
        study = with_other_test_rows(dataset, split), replace(splits, outer=(split,)), *sets
        after = DESIGNS[name].fit(study)
        tolerance = DESIGNS[name].leak_tolerance
        assert_same_fits(after, one_fit(before, number), tolerance, ignored=HELD_OUT)


@pytest.mark.slow_cases("sets, survival", "four classes", "places")
@MAIN_ARE_QUICK
@ALL_DESIGNS
def test_batches_and_ranges_of_permutations_change_nothing(name):
    study, all_fits, parts = batches_of(name)
    assert_same_fits(join(study, parts), join(study, [all_fits]), DESIGNS[name].batch_tolerance)


@MAIN_ARE_QUICK
@ALL_DESIGNS
def test_batches_of_observed_labels_change_nothing(name):
    study, all_fits = weak_study(name)
    parts = [DESIGNS[name].fit(study, batch=f"{part}of2") for part in (2, 1)]
    assert_same_fits(join(study, parts), join(study, [all_fits]), DESIGNS[name].batch_tolerance)


@MAIN_ARE_QUICK
@ALL_DESIGNS
def test_missing_batch_is_refused_by_name(name):
    study, _, parts = batches_of(name)
    last_split = parts[-1].split[0]
    text = rf"missing or there twice: split {last_split} of permutation {parts[-1].permutation[0]}"
    with pytest.raises(GenesigError, match=text):
        join(study, parts[:-1])


@MAIN_ARE_QUICK
@ALL_DESIGNS
def test_a_repeated_batch_is_refused(name):
    study, _, parts = batches_of(name)
    with pytest.raises(GenesigError, match="missing or there twice"):
        join(study, [*parts, parts[0]])


@MAIN_ARE_QUICK
@ALL_DESIGNS
def test_fits_survive_their_file(name, tmp_path):
    _, fits = weak_study(name)
    fits.save(tmp_path / "fits.npz")
    assert_same_fits(type(fits).load(tmp_path / "fits.npz"), fits, 0)


@MAIN_ARE_QUICK
@ALL_DESIGNS
def test_a_planted_signal_is_found_and_predicts(name):
    design = DESIGNS[name]
    study = design.build(True)
    fits = design.fit(study)
    for number in range(len(fits)):
        assert len(selection(fits, number) & design.signal) >= design.min_true_features
    assert held_out_error(study, fits) <= design.max_error
