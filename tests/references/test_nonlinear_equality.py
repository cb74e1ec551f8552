"""All nonlinear solvers against CVXPY with Clarabel on one small problem."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from genesig.optim.kernels import Gaussian, Polynomial, dense_blocks, tables
from genesig.optim.nonlinear.instance import DerivativeCriterion, make_instance
from genesig.optim.nonlinear.path import derivative_path

N_SAMPLES = 15
N_FEATURES = 4
GROUPS = [[0, 2], [1, 3]]
WEIGHTS = np.array([1.0, 1.5])
# kernel, tau, nu, both absolute
KERNEL_CASES = {
    "gaussian-2": (Gaussian(2.0), 0.3, 1e-3),
    "gaussian-1": (Gaussian(1.0), 0.1, 1e-2),
    "polynomial-2": (Polynomial(2, 1.0), 0.5, 1e-2),
    "polynomial-3": (Polynomial(3, 1.0), 0.5, 1e-3),
    "linear": (Polynomial(1, 0.0), 0.4, 1e-3),
}


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def data():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=N_SAMPLES)
    return X, (y - y.mean()) / y.std()


def gram(kernel):
    """F (n, m), Z (nd, m) and G (m, m) of the dense problem, m = n (d + 1)."""
    X, _ = data()
    table = tables(kernel, X, X)
    D_, L = dense_blocks(table, X)
    flat = D_.reshape(N_SAMPLES * N_FEATURES, N_SAMPLES)
    second = L.transpose(0, 2, 1, 3).reshape(N_SAMPLES * N_FEATURES, N_SAMPLES * N_FEATURES)
    F = np.hstack([table.value, flat.T])
    Z = np.hstack([flat, second])
    return F, Z, np.vstack([F, Z])


def clarabel(case, penalty, mu=0.5):
    """The minimum, over coordinates of the range of G: f is w'Gw = ||v||² with v = √Λ V'w."""
    kernel, tau, nu = KERNEL_CASES[case]
    _, y = data()
    _, _, G = gram(kernel)
    eigenvalues, V = np.linalg.eigh((G + G.T) / 2)
    is_positive = eigenvalues > 1e-12 * eigenvalues[-1]
    root = V[:, is_positive] * np.sqrt(
        eigenvalues[is_positive]
    )  # G = root root', [F; Z] w = root v
    v = cp.Variable(is_positive.sum())
    f = root[:N_SAMPLES] @ v
    phi = root[N_SAMPLES:] @ v
    parts = [phi[a * N_SAMPLES : (a + 1) * N_SAMPLES] for a in range(N_FEATURES)]
    norms = sum(cp.norm(part) for part in parts)
    omega = {
        "lasso": tau / np.sqrt(N_SAMPLES) * norms,
        "elastic": tau * mu / np.sqrt(N_SAMPLES) * norms
        + tau * (1 - mu) / N_SAMPLES * cp.sum_squares(phi),
        "group": tau
        / np.sqrt(N_SAMPLES)
        * sum(
            w * cp.norm(cp.hstack([parts[a] for a in group]))
            for w, group in zip(WEIGHTS, GROUPS, strict=True)
        ),
    }[penalty]
    total = cp.sum_squares(y - f) / N_SAMPLES + omega + nu * cp.sum_squares(v)
    tight = dict.fromkeys(["tol_gap_abs", "tol_gap_rel", "tol_feas"], 1e-13)
    problem = cp.Problem(cp.Minimize(total))
    problem.solve(solver="CLARABEL", **tight, max_iter=400)
    return problem.value


def ours(case, penalty, solver, tolerance=1e-11):
    kernel, tau, nu = KERNEL_CASES[case]
    X, y = data()
    relative = nu * N_SAMPLES / np.mean(np.diag(tables(kernel, X, X).value))
    grouped = penalty == "group"
    groups, weights = (GROUPS, WEIGHTS) if grouped else (None, None)
    criterion = DerivativeCriterion(kernel, penalty, relative, groups, weights, mu=0.5)
    largest = make_instance(X, y, criterion).tau_max
    return derivative_path(
        X,
        y,
        criterion,
        tau=[tau / largest],
        solver=solver,
        max_iterations=40_000,
        tolerance=tolerance,
    ).solutions[0]


@pytest.mark.one_in(2)
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("penalty", ["lasso", "group", "elastic"])
@pytest.mark.parametrize("case", KERNEL_CASES)
def test_solvers_equal_clarabel(case, penalty):
    expected = clarabel(case, penalty)
    bound = 1e-9 if penalty == "lasso" else 1e-7
    # accelerated gradients need ten thousand steps for the cubic kernel
    quick = ("auto", "admm") if case == "polynomial-3" else ("auto", "compressed", "fista", "admm")
    for solver in quick:
        solution = ours(case, penalty, solver)
        assert abs(solution.objective - expected) < bound, solver


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("penalty", ["lasso", "group", "elastic"])
@pytest.mark.parametrize("case", KERNEL_CASES)
@pytest.mark.parametrize("solver", ["compressed", "fista", "projection"])
def test_slower_solvers_equal_clarabel(case, penalty, solver):
    solution = ours(case, penalty, solver)
    bound = 1e-9 if penalty == "lasso" else 1e-7
    assert abs(solution.objective - clarabel(case, penalty)) < bound


def test_alg1_equals_the_other_solvers_where_it_is_quick():
    for penalty in ("lasso", "elastic"):
        alg1_objective, admm_objective = (
            ours("linear", penalty, s).objective for s in ("projection", "admm")
        )
        assert alg1_objective == pytest.approx(admm_objective, abs=1e-9)


def printed_alg1(case, outer=4000, inner=30):
    """The published iteration, 1/(2σ) S*(Sf - y), with exact coupling of the blocks; its w."""
    kernel, tau, nu = KERNEL_CASES[case]
    _, y = data()
    F, Z, G = gram(kernel)
    sigma = np.linalg.eigvalsh(F[:, :N_SAMPLES])[-1] / N_SAMPLES + nu
    L = Z[:, N_SAMPLES:]
    step = 2 * sigma / np.linalg.eigvalsh(L)[-1]
    r = tau / np.sqrt(N_SAMPLES)
    w = np.zeros(len(G))
    q = np.zeros(N_SAMPLES * N_FEATURES)
    for _ in range(outer):
        u = (1 - nu / (2 * sigma)) * w
        u[:N_SAMPLES] += (y - F @ w) / (2 * sigma * N_SAMPLES)
        phi_u = Z @ u
        z = q
        t = 1.0
        for _ in range(inner):
            v = (z + step * (phi_u - L @ z / (2 * sigma))).reshape(N_FEATURES, N_SAMPLES)
            new = v * np.minimum(1, r / np.linalg.norm(v, axis=1, keepdims=True))
            following = (1 + np.sqrt(1 + 4 * t * t)) / 2
            z = new.ravel() + (t - 1) / following * (new.ravel() - q)
            q = new.ravel()
            t = following
        w = u
        w[N_SAMPLES:] -= q / (2 * sigma)
    return w


def dense_objective(case, w, times_tau=1.0):
    kernel, tau, nu = KERNEL_CASES[case]
    F, Z, G = gram(kernel)
    norms = np.linalg.norm((Z @ w).reshape(N_FEATURES, N_SAMPLES), axis=1)
    loss = np.sum((data()[1] - F @ w) ** 2) / N_SAMPLES
    return loss + times_tau * tau / np.sqrt(N_SAMPLES) * norms.sum() + nu * w @ G @ w


@pytest.mark.slow
def test_alg1_as_printed_solves_the_problem_with_tau_doubled(monkeypatch):
    case = "gaussian-1"
    w = printed_alg1(case)
    kernel, tau, nu = KERNEL_CASES[case]
    right = ours(case, "lasso", "admm")
    monkeypatch.setitem(KERNEL_CASES, case, (kernel, 2 * tau, nu))
    doubled = ours(case, "lasso", "admm")
    monkeypatch.undo()
    assert dense_objective(case, w, 2.0) == pytest.approx(doubled.objective, abs=1e-9)
    assert dense_objective(case, w) > right.objective + 1e-3
