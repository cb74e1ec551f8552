"""Laws of every solver of the derivative-penalty problem, and refused input."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from genesig.arrays import row_squares
from genesig.compiled.descent import DualBounds, fill_gradient, project_on_bounds
from genesig.errors import GenesigError
from genesig.optim.kernels import Gaussian, Polynomial, median_distance
from genesig.optim.nonlinear import problem
from genesig.optim.nonlinear.instance import DerivativeCriterion, gap, make_instance
from genesig.optim.nonlinear.metric import Metric, make_memory, minimise
from genesig.optim.nonlinear.path import derivative_path
from genesig.optim.nonlinear.problem import PENALTIES, InvalidProblem, Penalty
from genesig.optim.nonlinear.solvers import SOLVERS

KERNELS = {"gaussian": Gaussian(3.0), "square": Polynomial(2, 1.0), "linear": Polynomial(1, 0.0)}
GROUPS = [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]
PATH_SETTINGS = {
    "kernel": KERNELS["gaussian"],
    "penalty": "lasso",
    "nu": 1e-2,
    "tau": [0.8, 0.5, 0.3],
    "solver": "auto",
    "tolerance": 1e-8,
    "max_iterations": 20_000,
}


def data(seed=0, n=10, d=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    return X - X.mean(axis=0), y


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def solve(X, y, **changes):
    settings = {**PATH_SETTINGS, **changes}
    terms = {name: settings.pop(name) for name in DerivativeCriterion._fields if name in settings}
    return derivative_path(X, y, DerivativeCriterion(**terms), **settings)


def clear(fit):
    """Variables that a gap of 1e-8 tells from zero; at the border it cannot."""
    return np.flatnonzero(fit.norms > 1e-3 * fit.norms.max())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("penalty", ["lasso", "group", "elastic"])
@pytest.mark.parametrize("shape", [(13, 8), (9, 5)])
def test_solvers_are_certified_and_find_the_same(kernel, penalty, shape):
    X, y = data(1, *shape)
    groups = [[g for g in group if g < shape[1]] for group in GROUPS]
    change = {"kernel": KERNELS[kernel], "penalty": penalty, "groups": groups, "mu": 0.6}
    change["nu"] = 0.1
    solutions = {
        name: solve(X, y, solver=name, **change) for name in ("auto", "compressed", "fista", "admm")
    }
    expected = solutions.pop("admm").solutions
    assert len(expected) == 3
    for path in solutions.values():
        assert path.message == ""
        for fit, expected_fit in zip(path.solutions, expected, strict=True):
            assert fit.objective == pytest.approx(expected_fit.objective, abs=2e-8 * y.var())
            np.testing.assert_allclose(
                fit.norms, expected_fit.norms, atol=2e-3 * expected_fit.norms.max()
            )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("penalty", ["lasso", "group", "elastic"])
def test_nothing_is_selected_at_tau_max_and_something_below(kernel, penalty):
    X, y = data(2)
    change = {"kernel": KERNELS[kernel], "penalty": penalty, "groups": GROUPS, "mu": 0.6}
    path = solve(X, y, tau=[1.0001, 1.0, 0.95], nu=0.3, **change)
    assert len(path.solutions[0].support) == 0
    if kernel == "gaussian":  # elsewhere tau_max is an upper bound: M is singular
        assert len(path.solutions[2].support) > 0
        fitted = 1 - np.sum((y - y.mean() - path.solutions[0].f) ** 2) / np.sum((y - y.mean()) ** 2)
        assert path.explained_by_none == pytest.approx(fitted, abs=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_counts_of_samples_are_samples_that_occur_so_often(kernel):
    X, y = data(4, 8, 5)
    counts = np.array([1, 3, 2, 1, 1, 4, 2, 1])
    criterion = DerivativeCriterion(KERNELS[kernel], penalty="elastic", nu=0.1, mu=0.6)
    settings = {"tau": [0.7, 0.4], "solver": "auto", "tolerance": 1e-8, "max_iterations": 20_000}
    weighted = derivative_path(X, y, criterion, counts=counts.astype(float), **settings)
    copies = np.repeat(np.arange(8), counts)
    repeated = derivative_path(X[copies], y[copies], criterion, **settings)
    for name in ("tau_max", "nu", "explained_by_none"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-6)
    for fit, expected in zip(weighted.solutions, repeated.solutions, strict=True):
        assert len(fit.support) > 0
        np.testing.assert_allclose(fit.norms, expected.norms, atol=1e-6)
        np.testing.assert_allclose(fit.f[copies], expected.f, atol=1e-6)
        assert fit.objective == pytest.approx(expected.objective, abs=1e-8)


def test_more_features_than_samples():
    X, y = data(12, 9, 24)
    compressed, dense = (
        solve(X, y, solver=s, tau=[0.95, 0.9], tolerance=1e-9) for s in ("compressed", "admm")
    )
    assert len(compressed.solutions) == len(dense.solutions) > 0
    for fit, admm in zip(compressed.solutions, dense.solutions, strict=True):
        assert len(fit.multipliers.active) < 24
        assert fit.objective == pytest.approx(admm.objective, abs=2e-9 * y.var())
        np.testing.assert_allclose(fit.norms, admm.norms, atol=2e-3 * admm.norms.max())
        np.testing.assert_array_equal(clear(fit), clear(admm))


@given(
    seed=st.integers(0, 9999),
    n=st.integers(3, 12),
    d=st.integers(1, 30),
    penalty=st.sampled_from(["lasso", "group", "elastic"]),
    copies=st.booleans(),
)
def test_any_shape_is_solved_and_certified(seed, n, d, penalty, copies):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1, d)
    if copies:
        X[:, d // 2 :] = X[:, : d - d // 2]
    X = X - X.mean(axis=0)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    y[:2] = [-1, 1]
    groups = [list(range(start, min(start + 3, d))) for start in range(0, d, 3)]
    with threadpool_limits(1):
        kernel = Gaussian(median_distance(X @ X.T))
        path = solve(X, y, kernel=kernel, penalty=penalty, groups=groups, mu=0.5, tolerance=1e-6)
    for fit in path.solutions:
        assert -1e-12 < fit.gap <= 1e-6
        f, _ = fit.evaluate(kernel, X, X, path.nu)
        np.testing.assert_allclose(f, fit.f, atol=1e-8)


def test_tau_max_of_the_linear_kernel_is_the_lasso_s():
    X, y = data(3, 30, 5)
    path = solve(X, y, kernel=Polynomial(1, 0.0), tau=[1.0])
    assert path.tau_max == pytest.approx(2 / 30 * np.abs(X.T @ (y - y.mean())).max(), rel=1e-6)


def test_gradients_and_values_equal_those_of_the_function():
    X, y = data(4)
    path = solve(X, y)
    fit = path.solutions[-1]
    f, phi = fit.evaluate(PATH_SETTINGS["kernel"], X, X, path.nu)
    np.testing.assert_allclose(f, fit.f, atol=1e-9)
    norms = np.sqrt((phi**2).mean(axis=1))
    np.testing.assert_allclose(norms, fit.norms, atol=1e-3 * norms.max())
    np.testing.assert_allclose(fit.alpha * len(y) * path.nu, y - y.mean() - f, atol=1e-8)


def test_zeros_are_in_the_gradient_never_in_the_multipliers():
    X, y = data(5)
    fit = solve(X, y).solutions[0]
    unused = np.setdiff1d(np.arange(12), fit.support)
    assert len(unused)
    assert np.linalg.norm(fit.multipliers.dense(X)[unused], axis=1).min() > 0


def test_unselected_variable_still_constrains_the_function():
    X, y = data(6)
    path = solve(X, y)
    full_fit = path.solutions[0]
    weakest_columns = np.argsort(np.linalg.norm(full_fit.multipliers.dense(X), axis=1))[6:]
    fraction = full_fit.tau / solve(X[:, weakest_columns], y, nu=1e-2).tau_max
    part = solve(X[:, weakest_columns], y, tau=[min(fraction, 1.0)]).solutions[0]
    assert set(full_fit.support) <= set(weakest_columns)
    assert abs(part.objective - full_fit.objective) > 0.01 * full_fit.objective


def small_instance(kernel=KERNELS["gaussian"], n=8, d=5):
    X, y = data(7, n, d)
    X += 0.1 * np.arange(d)
    return make_instance(
        X,
        y,
        DerivativeCriterion(kernel, "lasso", nu=1e-2),
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_metric_of_the_steps_is_safe_and_sharp(kernel):
    instance = small_instance(KERNELS[kernel])
    M = instance.dense.M.reshape(5, 8, 5, 8) / (2 * instance.problem.nu)
    inverse = instance.metric.basis / np.sqrt(instance.metric.weight)
    scaled = np.einsum("aibj,ik,jl->akbl", M, inverse, inverse).reshape(40, 40)
    assert 0.95 < np.linalg.eigvalsh(scaled)[-1] <= 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_metric_is_the_average_of_the_hessian_over_the_features(kernel):
    instance = small_instance(KERNELS[kernel])
    expected = np.einsum("aiaj->ij", instance.dense.M.reshape(5, 8, 5, 8)) / 5
    curved = np.diag(instance.metric.basis.T @ expected @ instance.metric.basis)
    shares = instance.metric.weight / np.maximum(curved, 1e-6 * curved.max())
    np.testing.assert_allclose(shares, shares[0], rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_compiled_gradient_equals_plain_python(kernel):
    instance = small_instance(KERNELS[kernel])
    basis = instance.metric.basis
    q = np.random.default_rng(1).normal(size=(5, 8))
    out = np.empty((5, 8))
    fill_gradient(instance.metric.gradient(instance.problem, instance.X), q @ basis, out)
    expected = instance.problem.gradient(instance.X, q)
    np.testing.assert_allclose(out @ basis.T, expected, atol=1e-12 * abs(expected).max())


@pytest.mark.parametrize("penalty", ["lasso", "group", "elastic"])
@pytest.mark.parametrize("short", [1.0, 1e-3])
def test_too_long_steps_are_shortened(penalty, short):
    """The weight found by conjugate gradients may be too small; the objective must fall still."""
    instance = small_instance(n=8, d=6)
    block = np.repeat([0, 1, 2], 2) if penalty == "group" else np.arange(6)
    penalty_at_tau = PENALTIES[penalty](0.5 * instance.tau_max, 8, block, np.ones(3), 0.5)
    goal = 1e-10 * instance.scale
    q, steps = minimise(
        instance.problem,
        instance.X,
        penalty_at_tau,
        instance.metric.times(short),
        np.zeros((6, 8)),
        goal,
        3000,
    )
    assert steps < 3000
    reached = gap(penalty_at_tau, q, instance.problem.gradient(instance.X, q))
    assert -1e-14 < reached <= goal * 1.01


@pytest.mark.parametrize("curvature", [0.0, 0.7])
@pytest.mark.parametrize("block", [[0, 1, 2, 3], [0, 1, 0, 1]])
def test_prox_in_a_metric_is_optimal(curvature, block):
    """0 ∈ ∂Ω*(q) + w (q - v): along q beyond the bound, nothing inside."""
    rng = np.random.default_rng(3)
    w = 10.0 ** np.arange(-2, 4)
    penalty = Penalty(rng.uniform(0.5, 1, max(block) + 1), np.array(block), curvature)
    v = rng.normal(size=(4, 6)) * np.array([3, 0.1, 1, 5])[:, None]
    q = projected(penalty, w, v)
    pull = w * (v - q)
    norms = penalty.norms(row_squares(q))
    size = penalty.norms(row_squares(pull))
    lengths = penalty.spread(size / np.maximum(norms, 1e-300))
    np.testing.assert_allclose(pull, lengths * q, atol=1e-8 * max(1, size.max()))
    excess = np.maximum(norms - penalty.radius, 0)
    if curvature:
        np.testing.assert_allclose(size, excess / curvature, atol=1e-8)
    else:
        assert (norms <= penalty.radius * (1 + 1e-13)).all()
        assert (size[norms < penalty.radius * (1 - 1e-9)] == 0).all()
    assert (size > 0).any()


def projected(penalty, w, v):
    """Return the prox of v, from zero, as one step of the iteration computes it."""
    metric = Metric(np.eye(len(w)), w, np.zeros(len(w)))
    memory = make_memory(metric, np.zeros(v.shape), penalty)
    bounds = DualBounds(0, penalty.block, penalty.radius, penalty.curvature, 0.0)
    q = v.copy().ravel()
    project_on_bounds(bounds, memory, q)
    return q.reshape(v.shape)


@pytest.mark.parametrize("kernel", KERNELS)
def test_matrix_free_dual_gradient_equals_the_dense_gradient(kernel):
    X, y = data(13, 9, 6)
    instance = make_instance(
        X,
        y,
        DerivativeCriterion(KERNELS[kernel], "lasso", nu=1e-2),
    )
    q = np.random.default_rng(0).normal(size=(6, 9))
    expected = instance.dense.phi_y - instance.dense.M @ q.ravel() / (2 * instance.problem.nu)
    gradient = instance.problem.gradient(X, q).ravel()
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-12 * abs(expected).max())


def test_auto_falls_back_to_admm_where_accelerated_gradients_stall(monkeypatch):
    """A cubic kernel: ten thousand steps and more, against a few hundred of ADMM."""
    X, y = data(14, 12, 4)
    change = {"kernel": Polynomial(3, 1.0), "nu": 1e-5, "tau": [0.1], "max_iterations": 2000}
    stalled = solve(X, y, solver="fista", **change)
    assert "did not reach" in stalled.message
    module = import_module("genesig.optim.nonlinear.solvers")
    factored = []
    admm = module.admm
    monkeypatch.setattr(module, "admm", lambda *arguments: factored.append(1) or admm(*arguments))
    solution = solve(X, y, **change)
    assert solution.message == ""
    assert solution.solutions[0].objective <= stalled.solutions[0].objective
    assert len(factored) == 1
    monkeypatch.setattr(module, "DENSE_LIMIT", 10)
    without = solve(X, y, **change)
    assert "did not reach" in without.message
    assert without.solutions[0].iterations == 2000
    assert len(factored) == 1


def test_admm_needs_tens_of_iterations_along_a_path():
    X, y = data(15, 20, 8)
    path = solve(X, y, solver="admm", tau=np.geomspace(0.9, 0.05, 8).tolist(), tolerance=1e-4)
    assert path.message == ""
    assert sum(fit.iterations for fit in path.solutions) < 8 * 60


def test_nothing_depends_on_a_shift_of_the_features_with_a_gaussian_kernel():
    X, y = data(8)
    a = solve(X, y).solutions[-1]
    b = solve(X + 3.0, y).solutions[-1]
    np.testing.assert_allclose(a.norms, b.norms, rtol=1e-3, atol=1e-6)


def test_path_ends_with_a_sentence_beyond_n_variables():
    X, y = data(9, 6, 40)
    path = solve(X, y, tau=np.geomspace(0.9, 0.01, 15).tolist())
    assert 0 < len(path.solutions) < 15
    assert max(len(fit.support) for fit in path.solutions) <= 6
    assert path.ended_early
    assert "variables are selected from 6 samples" in path.message


def test_no_convergence_is_a_sentence():
    X, y = data(10)
    path = solve(X, y, max_iterations=10, tau=[0.3], tolerance=1e-12)
    assert not path.ended_early
    assert path.message.startswith("1 of 1 fits did not reach the relative duality gap 1e-12")
    assert path.solutions[0].gap > 1e-12


def spoiled(column, value):
    X, y = data()
    X[:, column] = value
    return X, y


@pytest.mark.parametrize(
    ("X", "y", "change", "message"),
    [
        (data()[0][:2], data()[1][:2], {}, "at least 3 samples"),
        (*spoiled(3, 1.0), {}, "1 of 12 features are constant on these samples, the first is"),
        (*spoiled(3, np.nan), {}, "NaN or infinity"),
        (data()[0], np.zeros(10), {}, "the response is constant"),
        (data()[0], data()[1][1:], {}, r"X must be \(n, d\)"),
        (*data(), {"nu": 0.0}, "nu must be positive, found 0: with nu = 0 a function of zero"),
        (*data(), {"nu": -1.0}, "nu must be positive"),
        (*data(), {"penalty": "group"}, "needs groups"),
        (*data(), {"penalty": "group", "groups": GROUPS[:3]}, "cover all 12 features; 3 are in"),
        (*data(), {"penalty": "group", "groups": [*GROUPS, [0]]}, "in a group already"),
        (*data(), {"penalty": "group", "groups": [*GROUPS, [12]]}, "outside 0..11"),
        (*data(), {"penalty": "group", "groups": [*GROUPS, []]}, "group 4 is empty"),
        (*data(), {"weights": np.ones(3)}, "weights must be 12 positive numbers"),
        (*data(), {"mu": 0.0}, r"mu must lie in \(0, 1\]"),
        (*data(), {"tau": [0.3, 0.5]}, "tau must fall"),
        (*data(), {"tau": [-1.0]}, "positive fractions"),
        (*data(), {"penalty": "laso"}, "did you mean 'lasso'"),
        (*data(), {"solver": "fistaa"}, "did you mean 'fista'"),
    ],
)
def test_bad_input_is_refused_before_any_work(X, y, change, message, monkeypatch):
    monkeypatch.setattr("genesig.optim.nonlinear.instance.Problem", None)
    with pytest.raises(GenesigError, match=message):
        solve(X, y, **change)


def test_too_large_a_problem_is_refused(monkeypatch):
    X, y = data()
    sizes = {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(problem.os, "sysconf", sizes.get)
    with pytest.raises(InvalidProblem, match=r"more than the 4\.1e-06 GB of this machine"):
        solve(X, y, solver="admm")


@pytest.mark.parametrize("width", [0.0, -1.0, np.inf])
def test_width_that_is_not_positive_is_refused(width):
    with pytest.raises(InvalidProblem, match="width must be a positive number"):
        problem.check_settings(nu=1.0, width=width, mu=1.0, degree=1)


def test_registry_holds_the_five():
    assert list(SOLVERS) == ["auto", "compressed", "fista", "admm", "projection"]


@pytest.mark.slow
def test_many_samples_of_few_features_have_a_start_and_are_solved():
    """The dual is nearly singular there: conjugate gradients in its metric end in rounding."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], 60)
    X = rng.standard_normal((120, 2)) + np.outer(y, [0.4, 1.5])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    solution = solve(
        X,
        y,
        kernel=Gaussian(width=median_distance(X @ X.T)),
        nu=0.01,
        tau=[0.7, 0.4],
        tolerance=1e-4,
        max_iterations=5000,
    )
    assert abs(solution.explained_by_none) < 1e-5
    assert solution.solutions[-1].support.tolist() == [1]
    assert solution.message == ""
