"""Steps that summarise genes by set: columns, names, and training rows."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from genesig.data.steps.gene_filters import Collapse, with_sets
from genesig.data.steps.normalise import Reference, fit_steps
from genesig.errors import GenesigError

RULES = {
    "max_mean": lambda block: block[:, [np.argmax(block.mean(axis=0))]],
    "max_iqr": lambda block: block[
        :, [np.argmax(np.subtract(*np.quantile(block, [0.75, 0.25], 0)))]
    ],
    "median": lambda block: np.median(block, axis=1, keepdims=True),
}
STEPS = [{"step": "collapse", "rule": rule} for rule in RULES] + [{"step": "median_polish"}]
values = st.floats(0.5, 1e4)


@st.composite
def grouped(draw):
    """Draw training rows, two other rows, and the set of each column."""
    n = draw(st.integers(2, 6))
    d = draw(st.integers(1, 9))
    X, new_X = (draw(hnp.arrays(np.float64, (rows, d), elements=values)) for rows in (n, 2))
    return X, new_X, draw(st.lists(st.sampled_from("abcd"), min_size=d, max_size=d))


@pytest.mark.parametrize("rule", RULES)
@given(data=grouped())
def test_set_summary_follows_its_rule(rule, data):
    X, _, by = data
    fitted = fit_steps(X, [{"step": "collapse", "by": by, "rule": rule}])
    summary_by_set = dict(
        zip([by[gene] for gene in fitted.genes], fitted.transform(X).T, strict=True)
    )
    assert set(summary_by_set) == set(by)
    for name, column in summary_by_set.items():
        block = X[:, [set_name == name for set_name in by]]
        np.testing.assert_array_equal(column, RULES[rule](block)[:, 0])


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.get("rule", step["step"]))
@given(data=grouped())
def test_set_summary_of_a_sample_ignores_other_samples(step, data):
    X, pair, by = data
    fitted = fit_steps(X, [{**step, "by": by}])
    np.testing.assert_array_equal(fitted.transform(pair[:1])[0], fitted.transform(pair)[0])
    rebuilt = Reference.from_state(json.loads(json.dumps(fitted.state())))
    np.testing.assert_array_equal(rebuilt.transform(pair), fitted.transform(pair))
    assert [by[gene] for gene in rebuilt.genes] == [by[gene] for gene in fitted.genes]


@pytest.mark.parametrize("rule", RULES)
def test_sets_follow_the_columns_that_earlier_steps_keep(rule):
    X = np.array([[1.0, 9, 5, 50, 7, 100], [2, 9, 6, 60, 8, 300]])
    var = pd.DataFrame({"symbol": list("ababab")}, index=[f"p{k}" for k in range(6)])
    steps = [
        {"step": "variance_filter", "keep": 0.5},
        {"step": "collapse", "by": None, "rule": rule},
    ]
    fitted = fit_steps(X, with_sets(steps, var))
    kept_X = X[:, [0, 3, 5]]  # of equal variances the earlier
    expected = np.column_stack([RULES[rule](kept_X[:, [0]]), RULES[rule](kept_X[:, [1, 2]])])
    assert sorted(var["symbol"].iloc[fitted.genes]) == ["a", "b"]
    np.testing.assert_array_equal(np.sort(fitted.transform(X)), np.sort(expected))


def test_probe_sets_are_in_the_names_of_probes_and_genes_in_the_table():
    var = pd.DataFrame({"symbol": ["A", "A", "x#y"]}, index=["1_at", "1_at#2", "x#y"])
    steps = [
        {"step": "median_polish", "by": None},
        {"step": "collapse", "by": None, "rule": "median"},
    ]
    bound = with_sets([*steps, {"step": "centre"}], var)
    assert [step.get("by") for step in bound] == [["1_at", "1_at", "x#y"], ["A", "A", "x#y"], None]
    assert with_sets(bound, var) == bound
    assert steps[0]["by"] is None


def test_unknown_gene_column_is_refused_by_name():
    var = pd.DataFrame({"symbol": ["A"], "entrez": ["1"]}, index=["g"])
    with pytest.raises(GenesigError, match=r"collapse by 'entres', .*; did you mean 'entrez'"):
        with_sets([{"step": "collapse", "by": "entres", "rule": "median"}], var)


def test_a_set_for_each_column_or_none():
    with pytest.raises(GenesigError, match="the set of each of 2 columns, found 'symbol'"):
        Collapse.fit(np.eye(2), by="symbol", rule="median")


def test_logarithms_of_nothing_are_refused():
    with pytest.raises(GenesigError, match=r"median_polish .* found 0; put rma_background"):
        fit_steps(np.eye(2), [{"step": "median_polish", "by": None}])
