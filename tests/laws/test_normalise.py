"""Laws of every normalisation step in the registry."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from genesig.data.files.readers import load_schema
from genesig.data.steps.normalise import (
    NORMALISERS,
    Reference,
    fit_reference_steps,
    fit_steps,
    moment_settings,
    normalise_samples,
)
from genesig.errors import GenesigError
from genesig.results import Dataset, Design

SCHEMA = load_schema()
SAMPLE_KIND = [name for name, step in NORMALISERS.items() if step.kind == "sample"]
FOLD_KIND = [name for name in NORMALISERS if name not in SAMPLE_KIND]
BATCH_KIND = [name for name, step in NORMALISERS.items() if step.kind == "batch"]
every_member = pytest.mark.parametrize("name", NORMALISERS)
values = st.one_of(st.floats(0.01, 1e5), st.sampled_from([0.1, 1.0, 700.0]))


def by_default(name):
    """Return the step with the settings of the schema's defaults."""
    keys = SCHEMA["$defs"][name]["properties"].items()
    bound = {"batch": "centre"} if name in BATCH_KIND else {}
    return {"step": name} | bound | {key: rule["default"] for key, rule in keys if key != "step"}


def about(X):
    """Return the rows of a sample table: two batches, samples taking turns."""
    names = np.resize(["north", "south"], len(X))
    return pd.DataFrame({"centre": names}, index=[f"p{i}" for i in range(len(X))])


@st.composite
def expression(draw):
    """Draw positive values with ties, a constant gene and one that passes every filter."""
    n = draw(st.integers(2, 7))
    d = draw(st.integers(1, 9))
    X = draw(hnp.arrays(np.float64, (n, d), elements=values))
    return np.column_stack([X, np.full(n, draw(values)), np.geomspace(1, 1e4, n)])


def study(X):
    obs = pd.DataFrame({"y": np.resize(["a", "b"], len(X))}, index=[f"p{i}" for i in range(len(X))])
    genes = [f"g{column}" for column in range(X.shape[1])]
    design = Design("y", "classification", ("a", "b"), None, None)
    gene_places = {"chromosome": "1", "position": np.arange(len(genes))[::-1] / 2}
    var = pd.DataFrame({"symbol": genes, **gene_places}, index=genes)
    return Dataset(X, obs, var, design, {"steps": []})


@every_member
def test_step_declares_its_kind(name):
    assert NORMALISERS[name].kind in ("sample", "fold", "batch")
    assert hasattr(NORMALISERS[name], "fit") == (name in FOLD_KIND)


@every_member
@given(X=expression())
def test_output_is_finite_and_input_is_left_alone(name, X):
    before = X.copy()
    fitted = fit_steps(X, [by_default(name)], about(X))
    assert np.all(np.isfinite(fitted.transform(X, about(X))))
    np.testing.assert_array_equal(X, before)


@every_member
@given(X=expression(), data=st.data())
def test_fitted_values_ignore_test_rows(name, X, data):
    shape = (data.draw(st.integers(1, 4)), X.shape[1])
    tests = [data.draw(hnp.arrays(np.float64, shape, elements=values)) for _ in range(2)]
    fits = []
    trained = []
    for test in tests:
        all_rows = np.vstack([X, test])
        fitted = fit_steps(all_rows[: len(X)], [by_default(name)], about(X))
        trained.append(fitted.transform(all_rows, about(all_rows))[: len(X)])
        fits.append(fitted.state())
    assert fits[0] == fits[1]
    np.testing.assert_array_equal(*trained)


@every_member
@given(X=expression(), data=st.data())
def test_normalised_sample_ignores_other_samples(name, X, data):
    fitted = fit_steps(X, [by_default(name)], about(X))
    pair = data.draw(hnp.arrays(np.float64, (2, X.shape[1]), elements=values))
    for samples_about in (about(pair), None):
        alone = fitted.transform(
            pair[:1], samples_about if samples_about is None else samples_about[:1]
        )
        np.testing.assert_array_equal(alone[0], fitted.transform(pair, samples_about)[0])


@pytest.mark.parametrize("name", SAMPLE_KIND)
@given(X=expression())
def test_a_row_wise_step_learns_nothing(name, X):
    states = [fit_steps(rows, [by_default(name)]).state() for rows in (X, X[::-1] + 1)]
    assert states[0] == states[1]


@every_member
@given(X=expression())
def test_a_step_is_rebuilt_from_json(name, X):
    fitted = fit_steps(X, [by_default(name)], about(X))
    rebuilt = Reference.from_state(json.loads(json.dumps(fitted.state())))
    transformed = fitted.transform(X, about(X))
    np.testing.assert_array_equal(rebuilt.transform(X, about(X)), transformed)
    np.testing.assert_array_equal(rebuilt.genes, fitted.genes)


@every_member
@given(X=expression())
def test_genes_names_the_remaining_columns(name, X):
    fitted = fit_steps(X, [by_default(name)], about(X))
    assert fitted.transform(X).shape == (len(X), len(fitted.genes))
    if "filter" in name:
        np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.genes])


@given(X=expression())
def test_filters_in_a_row_count_genes_from_the_start(X):
    steps = [by_default(name) for name in ("fold_filter", "range_filter", "variance_filter")]
    fitted = fit_steps(X, steps)
    np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.genes])


@given(X=expression())
def test_quantile_gives_every_sample_without_ties_the_same_distribution(X):
    distinct = np.sort(X, axis=1) + np.arange(X.shape[1])
    fitted = fit_steps(distinct, [{"step": "quantile"}])
    same = np.broadcast_to(np.sort(distinct, axis=1).mean(axis=0), X.shape)
    np.testing.assert_array_equal(fitted.transform(distinct[:, ::-1]), same[:, ::-1])


@given(X=expression(), data=st.data())
def test_a_gene_constant_on_the_training_rows_becomes_zero(X, data):
    X[:, 0] = data.draw(values)
    steps = [{"step": "centre"}, {"step": "unit_variance"}]
    transformed = fit_steps(X, steps).transform(X + 1)
    np.testing.assert_array_equal(transformed[:, 0], 0)


@pytest.mark.parametrize("name", FOLD_KIND)
def test_learning_step_before_the_splits_is_refused(name):
    X = np.geomspace(1, 1e4, 12).reshape(4, 3)
    with pytest.raises(GenesigError, match=rf"normalise\.samples: '{name}' .* normalise\.folds"):
        normalise_samples(study(X), samples=[by_default(name)], folds=[])


@given(X=expression(), data=st.data())
def test_before_the_splits_no_sample_sees_another(X, data):
    steps = [by_default(name) for name in SAMPLE_KIND]
    row = data.draw(st.integers(0, len(X) - 1))
    changed_X = X.copy()
    changed_X[row] = data.draw(hnp.arrays(np.float64, X.shape[1], elements=values))
    normalised, two = (
        normalise_samples(study(x), samples=steps, folds=[]).X for x in (X, changed_X)
    )
    np.testing.assert_array_equal(np.delete(normalised, row, 0), np.delete(two, row, 0))


def test_steps_done_and_genes_flattened_are_in_the_provenance():
    X = np.array([[1.0, 100.0], [2.0, 200.0], [3.0, 300.0]])
    log2 = {"step": "log2", "floor": 16, "ceiling": 65536}
    provenance_study = normalise_samples(study(X), samples=[log2], folds=[{"step": "centre"}])
    assert provenance_study.provenance["steps"] == [log2]
    assert provenance_study.provenance["warnings"] == [
        "1 gene of one value in every sample, once values are normalised, could not be selected."
    ]


def test_gene_that_becomes_constant_is_counted_beside_one_that_no_longer_is():
    # Ranks within samples: the first gene varies only afterwards, the third only before.
    X = np.array([[5.0, 4.0, 100.0], [5.0, 6.0, 200.0], [5.0, 5.5, 300.0]])
    ranked = normalise_samples(study(X), samples=[{"step": "rank_samples"}], folds=[])
    assert (np.ptp(ranked.X, axis=0) == 0).tolist() == [False, False, True]
    assert "1 gene of one value" in ranked.provenance["warnings"][0]


def test_gene_with_a_missing_value_that_becomes_constant_is_counted():
    X = np.array([[1.0, np.nan, 100.0], [2.0, 3.0, 200.0], [3.0, 4.0, 300.0]])
    log2 = {"step": "log2", "floor": 16, "ceiling": 65536}
    floored = normalise_samples(study(X), samples=[log2], folds=[])
    assert "2 genes of one value" in floored.provenance["warnings"][0]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], (False, False)),
        (["quantile", "centre"], (True, False)),
        (["unit_variance"], (False, True)),
        (["unit_variance", "centre"], (True, True)),
    ],
)
def test_moments_are_the_trailing_centre_and_scale(names, expected):
    steps = [by_default(name) for name in names]
    assert moment_settings(steps) == dict(zip(("centre", "unit_variance"), expected, strict=True))
    X = np.arange(12.0).reshape(4, 3)
    assert fit_reference_steps(X, steps).names == tuple({"quantile"} & set(names))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["centre", "quantile"], "'centre' must come last, after 'quantile'"),
        (["unit_variance", "quantile", "centre"], "'unit_variance' must come last"),
        (["centre", "unit_variance", "centre"], "'centre' occurs 2 times"),
    ],
)
def test_centring_and_scaling_come_last_and_once(names, message):
    X = np.geomspace(1, 1e4, 12).reshape(4, 3)
    folds = [by_default(name) for name in names]
    for refuse in (
        lambda: moment_settings(folds),
        lambda: fit_reference_steps(X, folds),
        lambda: normalise_samples(study(X), samples=[], folds=folds),
    ):
        with pytest.raises(GenesigError, match=message):
            refuse()


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"step": "fold_filter", "above": 5}, "needs positive values, found -1"),
        ({"step": "range_filter", "above": 500}, "leaves no gene above 500"),
        ({"step": "log_2"}, "did you mean 'log2'"),
    ],
)
def test_step_that_cannot_be_fitted_is_refused_with_the_reason(step, message):
    with pytest.raises(GenesigError, match=message):
        fit_steps(np.arange(-1.0, 11.0).reshape(4, 3), [step])


def test_a_ratio_to_nothing_is_refused():
    with pytest.raises(GenesigError, match="needs positive values, found 0"):
        fit_steps(np.arange(12.0).reshape(4, 3), [by_default("fold_filter")])


def test_step_that_nothing_learns_from_is_not_computed(monkeypatch):
    transformed_steps = []
    for kind in (NORMALISERS["log2"], NORMALISERS["knn_impute"]):
        method = kind.transform
        monkeypatch.setattr(
            kind,
            "transform",
            lambda self, X, method=method: transformed_steps.append(type(self)) or method(self, X),
        )
    fit_steps(np.full((4, 3), 2.0), [by_default("log2"), by_default("knn_impute")])
    assert transformed_steps == [NORMALISERS["log2"]]


def test_a_floor_above_its_ceiling_is_refused():
    log2 = {"step": "log2", "floor": 100, "ceiling": 10}
    with pytest.raises(GenesigError, match=r"normalise\.samples: log2 has floor 100"):
        normalise_samples(study(np.eye(3)), samples=[log2], folds=[])
