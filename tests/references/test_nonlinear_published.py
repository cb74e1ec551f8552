"""Published results of the derivative penalties, on the small ones of their data sets.

benchmarks/speed/nonlinear.py prints the whole tables.
"""

from __future__ import annotations

import numpy as np
import pytest
from nonlinear_tasks import (
    ALG1_PUBLISHED,
    EARLY,
    GROUPS,
    RELEVANT,
    TABLE,
    alg1_debiased,
    alg1_line,
    e1,
    gregorova,
    ridge_of_all,
    rosasco,
    stopped_early,
    table_line,
)
from threadpoolctl import threadpool_limits

from genesig.optim.kernels import Polynomial
from genesig.optim.nonlinear.instance import DerivativeCriterion, make_instance
from genesig.optim.nonlinear.path import certified_solution
from genesig.optim.nonlinear.solvers import SOLVERS

MAX_TABLE_SAMPLES = 30  # the rows of 70 and 110 samples take minutes


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def test_structure_helps_in_one_replication_of_e1():
    short = {"n": 30, "seed": 0, "n_tau": 8}
    alone, grouped = (gregorova("E1", penalty, **short) for penalty in ("lasso", "group"))
    full = ridge_of_all("E1", 30, 0)
    assert grouped[0] < alone[0] < full
    assert grouped[1] < alone[1] < 2 / 3


@pytest.mark.slow
def test_two_variables_of_f3_in_one_replication():
    error, support = alg1_debiased("f3", 0, n_tau=5, tau_min=0.3, nus=(1e-3,), widths=(1.0,))
    assert {0, 1} <= set(support)
    assert error < 0.5 * rosasco("f3", np.random.default_rng(1), 2000)[1].var()


# bound of the squared error; share of variables 1 and 2 found, and of the others
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bound", "share_detected", "false"),
    [("f1", 0.01, 0.75, 0.15), ("f3", 0.004, 1.0, 0.1)],
)
def test_alg1_debiased_selects_the_published_variables(name, bound, share_detected, false):
    """Published errors: .008 ± .003 and .003 ± .002; a ridge that knows both: .0012 and .0021.

    A gap of 1e-3 instead of 1e-6, which works as a threshold, has .0025 for f1. The paper's own
    threshold has .0018 here, and selects no gene of expression data.
    """
    runs = [alg1_debiased(name, seed) for seed in range(2)]
    print(alg1_line(name, runs, ALG1_PUBLISHED[name]))
    assert np.mean([error for error, _ in runs]) <= bound
    assert np.mean([len({0, 1} & set(support)) / 2 for _, support in runs]) >= share_detected
    assert np.mean([len(set(support) - {0, 1}) / 4 for _, support in runs]) <= false


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [row for row in TABLE if not stopped_early(row) and row.n <= MAX_TABLE_SAMPLES],
    ids=lambda row: f"{row.task}-{row.penalty}-{row.n}",
)
def test_table_of_gregorova(row):
    """Within three standard errors of the difference of two sets of as many data sets."""
    runs = np.array([gregorova(row.task, row.penalty, row.n, s) for s in range(row.count)])
    print(table_line(row, runs))
    (rmse, selection) = runs.mean(axis=0)
    (rmse_sd, selection_sd) = runs.std(axis=0, ddof=1)
    assert abs(rmse - row.rmse) <= 3 * np.hypot(row.error, rmse_sd / np.sqrt(row.count))
    noise = selection_sd * np.sqrt(2 / row.count)
    assert abs(selection - row.selection) <= 3 * noise + 0.01


@pytest.mark.slow
def test_e1_at_110_is_the_published_figure_where_steps_stop_early_and_not_at_the_minimum():
    """A hundred steps from the dual's start: both groups, .44 ± .03. The minimum: all variables.

    With n (d + 1) = 2090 functionals on 1330 monomials, no function but the constants has a zero
    gradient at all points, and the smoothest one that fits y depends on everything.
    """
    row = next(r for r in TABLE if (r.task, r.n, r.penalty) == ("E1", 110, "group"))
    runs = np.array([gregorova("E1", "group", 110, s, early=EARLY) for s in range(row.count)])
    print(table_line(row, runs))
    assert abs(runs[:, 0].mean() - row.rmse) <= 3 * np.hypot(row.error, runs[:, 0].std() / 6**0.5)
    assert runs[:, 1].max() == row.selection == 0
    assert gregorova("E1", "group", 110, 0)[1] == pytest.approx(2 / 3)


@pytest.mark.slow
def test_e1_minimum_at_110_is_below_the_objective_of_the_true_variables():
    X, y = e1(np.random.default_rng([0, 110]), 110)
    X = X - X.mean(axis=0)
    y = (y - y.mean()) / y.std()
    nu = 1e-3 * np.mean((np.sum(X**2, axis=1) + 1) ** 3) / 110
    objectives = []
    for columns, groups in ((range(18), GROUPS), (RELEVANT, [[0, 1, 2], [3, 4, 5]])):
        Z = X[:, columns]
        relative = 110 * nu / np.mean((np.sum(Z**2, axis=1) + 1) ** 3)
        instance = make_instance(
            Z,
            y,
            DerivativeCriterion(Polynomial(3, 1.0), "group", relative, groups),
        )
        minimum = SOLVERS["admm"](instance, instance.penalty(0.6), instance.start, 1e-4, 1000)
        solution = certified_solution(instance, 0.6, instance.penalty(0.6), minimum, 1e-4)
        assert solution.gap <= 1e-4
        objectives.append(solution.objective)
    assert objectives[0] < 0.8 * objectives[1]
