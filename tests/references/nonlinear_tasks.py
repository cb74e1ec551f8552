"""The synthetic tasks of Rosasco et al. (2010) and Gregorova et al. (2018), and their protocol.

Every generator takes a random stream and a size, and returns X and y.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np

from genesig.optim.kernels import Gaussian, Polynomial, median_distance, tables
from genesig.optim.nonlinear.instance import DerivativeCriterion, Multipliers, make_instance
from genesig.optim.nonlinear.metric import EIGENVALUE_MARGIN, largest_eigenvalue, row_space
from genesig.optim.nonlinear.path import SolverSettings, certified_solution, fit_path
from genesig.optim.nonlinear.solvers import SOLVERS

RELEVANT = np.array([0, 1, 2, 6, 7, 8])
TRIPLES = [[0, 1, 2], [6, 7, 8]]
GROUPS = [list(range(start, start + 3)) for start in range(0, 18, 3)]


def e1(rng, n):
    """All monomials of degree three of two triples of 18 standard normal inputs."""
    X = rng.normal(size=(n, 18))
    y = sum(
        X[:, list(m)].prod(axis=1) for t in TRIPLES for m in combinations_with_replacement(t, 3)
    )
    return X, y + 0.1 * rng.normal(size=n)


def e2(rng, n):
    """(Σ of a triple)³, inputs in pairs of correlation 0.95."""
    X = rng.normal(size=(n, 18))
    for a, b in [(0, 6), (1, 7), (2, 8), *((a, a + 6) for a in (3, 4, 5)), (12, 15), (13, 16)]:
        X[:, b] = 0.95 * X[:, a] + np.sqrt(1 - 0.95**2) * X[:, b]
    X[:, 17] = 0.95 * X[:, 14] + np.sqrt(1 - 0.95**2) * X[:, 17]
    y = sum(X[:, list(m)].prod(axis=1) for t in TRIPLES for m in product(t, repeat=3))
    return X, y + 0.1 * rng.normal(size=n)


def e3(rng, n):
    """Three noisy measurements of each of six phenomena, two of which matter (variance .01)."""
    z = rng.normal(size=(n, 6))
    r = z[:, 0] ** 2 + z[:, 2] ** 2
    y = 10 * r * np.exp(-2 * r) + 0.1 * rng.normal(size=n)
    return np.repeat(z, 3, axis=1) + 0.1 * rng.normal(size=(n, 18)), y


def _f1(a, b):
    return (a**4 - a**2) * (3 + b)


def _f2(a, b):
    return 2 * (a**3 - a) * (2 * b - 1) * (b + 1) + b**3 - b + 3


def _f3(a, b):
    return -2 * (2 * a**2 - 1) * b * np.exp(-(a**2) - b**2)


FUNCTIONS = {"f1": _f1, "f2": _f2, "f3": _f3}


def rosasco(name, rng, n, noise=0.01):
    """One of three functions of two of six inputs, uniform on [-1, 1]; noise 1% of variance."""
    X = rng.uniform(-1, 1, (n, 6))
    f = FUNCTIONS[name](X[:, 0], X[:, 1])
    spread = FUNCTIONS[name](*rng.uniform(-1, 1, (2, 100_000))).std()
    return X, f + np.sqrt(noise) * spread * rng.normal(size=n)


def tanimoto(selected, truth):
    """1 - |A ∩ B| / |A ∪ B|."""
    selected = set(selected)
    truth = set(truth)
    return 1 - len(selected & truth) / len(selected | truth)


def settings(kernel, penalty="lasso", **change):
    """Settings of the protocol; a gap of 1e-6, because a looser one is a threshold on the norms.

    A block whose part of the penalty is below the gap that is asked for counts as zero. At 1e-4
    and τ of 1e-3 tau_max, variables vanish that the minimum keeps: a better selection than the
    minimum's in E2 (.21 against .34 at n = 30), but not the published method's.
    """
    return SolverSettings(
        **{
            "kernel": kernel,
            "degree": 3,
            "offset": 1.0,
            "penalty": penalty,
            "mu": 0.5,
            "groups": GROUPS if penalty == "group" else None,
            "weights": None,
            "lam": np.geomspace(1, 1e-14, 15),
            "standardise": False,
            "solver": "admm",
            "tolerance": 1e-6,
            "max_iterations": 2000,
            **change,
        }
    )


def path_until_full(train, setting, nu, width, taus, early=None):
    """As `fit_path`, but left when all variables were selected by three τ in a row.

    From there on the debiased model stays the same, and it is all that is asked for here. `early`
    stops each fit after so many accelerated gradients, whatever its gap.
    """
    fit = fit_path(*train, setting, nu=nu, width=width, tau=[1.0])
    d = fit.X.shape[1]
    groups = setting.groups or [[a] for a in range(d)]
    instance = make_instance(
        fit.X,
        fit.y,
        DerivativeCriterion(fit.kernel, setting.penalty, nu, groups, mu=setting.mu),
    )
    q = instance.start
    solutions = []
    tolerance = setting.tolerance
    solver = SOLVERS[setting.solver]
    step = step_length(instance) if early else None
    for tau in instance.tau_max * np.array(taus):
        penalty = instance.penalty(tau)
        if early:
            q = Multipliers.full(stopped(instance, penalty, q, step, early))
            minimum = instance.certify(penalty, q, early)
        else:
            minimum = solver(instance, penalty, q, tolerance, setting.max_iterations)
            q = minimum.multipliers
        fitted = certified_solution(instance, tau, penalty, minimum, tolerance)
        solutions.append(
            replace(fitted, norms=saturated(instance, penalty, q, step)) if early else fitted
        )
        if len(solutions) > 2 and min(len(solution.support) for solution in solutions[-3:]) == d:
            break
    return replace(fit, path=replace(fit.path, solutions=tuple(solutions)))


def step_length(instance):
    """2 ν / λ_max(M), the longest safe step without a metric."""
    V, s = row_space(instance.inner)
    free = replace(instance.problem, y=np.zeros(instance.problem.n))
    largest = largest_eigenvalue(lambda q: -free.gradient(V * s, q), V * s)
    if instance.X.shape[1] > len(s):
        first_derivatives = np.linalg.eigvalsh(instance.problem.table.first)[-1]
        largest = max(largest, float(first_derivatives) / (2 * instance.problem.nu))
    return 1 / (EIGENVALUE_MARGIN * largest)


def stopped(instance, penalty, start, step, count):
    """Multipliers after so many accelerated gradients without a metric, restarted as needed."""
    q = penalty.prox_conjugate(start.dense(instance.X), step)
    z = q
    t = 1.0
    for _ in range(count):
        new = penalty.prox_conjugate(z + step * instance.problem.gradient(instance.X, z), step)
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        momentum = (t - 1) / following
        t = following
        if np.vdot(z - new, new - q) > 0:
            momentum = 0.0
            t = 1.0
        q, z = new, new + momentum * (new - q)
    return q


def saturated(instance, penalty, q, step):
    """Norms that are zero where the prox leaves the multipliers' bound unreached, gap or no gap."""
    v = q.dense(instance.X)
    v = v + step * instance.problem.gradient(instance.X, v)
    return np.linalg.norm(v - penalty.prox_conjugate(v, step), axis=1) / step


def by_validation(train, held_out, test, choices):
    """Return (mean squared test error, selected variables) of the best fit on held-out data.

    `choices` are (settings, nu, width as a multiple of the median distance, taus[, early]).
    """
    best = (np.inf, None)
    for choice in choices:
        fit = path_until_full(train, *choice)
        for step in range(len(fit.path.solutions)):
            errors = np.mean((fit.predict(step, held_out[0]) - held_out[1]) ** 2, axis=1)
            if errors.min() < best[0]:
                best = (errors.min(), (fit, step, int(np.argmin(errors))))
    fit, step, lam = best[1]
    error = np.mean((fit.predict(step, test[0])[lam] - test[1]) ** 2)
    return float(error), fit.support(step)


TASKS = {"E1": (e1, "polynomial"), "E2": (e2, "polynomial"), "E3": (e3, "gaussian")}


def gregorova(task, penalty, n, seed, n_tau=50, mus=(0.1, 0.3, 0.5, 0.7, 0.9), nu=1e-3, early=None):
    """(root mean squared test error, Tanimoto error) of one replication; validation on 1000."""
    make_data, kernel = TASKS[task]
    rng = np.random.default_rng([seed, n])
    train = make_data(rng, n)
    held_out = make_data(rng, 1000)
    test = make_data(rng, 1000)
    centred = train[0] - train[0].mean(axis=0)
    width = 4 / median_distance(centred @ centred.T)
    taus = np.geomspace(1, 1e-3, n_tau).tolist()
    mus = mus if penalty == "elastic" else (1.0,)
    choices = [(settings(kernel, penalty, mu=mu), nu, width, taus, early) for mu in mus]
    error, support = by_validation(train, held_out, test, choices)
    return np.sqrt(error), tanimoto(support, RELEVANT)


def ridge_of_all(task, n, seed):
    """Root mean squared test error of kernel ridge on all variables (Krls), λ by validation."""
    make_data, kernel = TASKS[task]
    rng = np.random.default_rng([seed, n])
    train = make_data(rng, n)
    held_out = make_data(rng, 1000)
    test = make_data(rng, 1000)
    k = Polynomial(3, 1.0) if kernel == "polynomial" else Gaussian(4.0)
    eigenvalues, V = np.linalg.eigh(tables(k, train[0], train[0]).value)
    shift = np.geomspace(1, 1e-14, 15)[:, None] * eigenvalues.mean()
    mean = train[1].mean()
    dual = V.T @ (train[1] - mean) / (np.maximum(eigenvalues, 0) + shift) @ V.T
    errors = [
        np.mean((mean + dual @ tables(k, X, train[0]).value.T - y) ** 2, axis=1)
        for X, y in (held_out, test)
    ]
    return np.sqrt(errors[1][np.argmin(errors[0])])


def alg1_debiased(
    name,
    seed,
    n_tau=20,
    tau_min=0.01,
    nus=(1e-5, 1e-4, 1e-3),
    widths=(0.5, 1.0, 2.0),
):
    """Squared test error and selected variables of Alg1^GR; n = 80, validation and test 200."""
    rng = np.random.default_rng([seed, 80])
    train = rosasco(name, rng, 80)
    held_out = rosasco(name, rng, 200)
    test = rosasco(name, np.random.default_rng(999), 200)
    setting = settings("gaussian")
    taus = np.geomspace(1, tau_min, n_tau + 1)[1:].tolist()
    choices = [(setting, nu, width, taus) for nu in nus for width in widths]
    return by_validation(train, held_out, test, choices)


ALG1_PUBLISHED = {"f1": ".008 ± .003", "f2": ".10 ± .04", "f3": ".003 ± .002"}


class Row(NamedTuple):
    """One cell of table 1 of Gregorova et al. (2018), 50 replications, and its replication.

    The replication is an independent implementation of the same protocol: mean error, its standard
    error (a tenth of the error where none is given) and selection error over `count` data sets.
    """

    task: str
    n: int
    penalty: str
    count: int
    rmse: float
    error: float
    selection: float
    paper_rmse: float
    paper_selection: float


TABLE = [
    Row("E1", 30, "lasso", 20, 10.99, 0.25, 0.43, 11.55, 0.49),
    Row("E1", 30, "group", 20, 7.83, 0.41, 0.07, 9.92, 0.28),
    Row("E1", 70, "lasso", 10, 9.09, 0.55, 0.46, 9.36, 0.48),
    Row("E1", 70, "group", 10, 5.97, 0.80, 0.22, 6.34, 0.22),
    Row("E1", 110, "lasso", 6, 5.61, 0.42, 0.37, 7.13, 0.32),
    Row("E1", 110, "group", 6, 0.44, 0.03, 0.00, 2.41, 0.11),
    Row("E2", 30, "lasso", 10, 19.6, 2.0, 0.48, 21.2, 0.46),
    Row("E2", 30, "elastic", 10, 17.9, 2.2, 0.40, 17.5, 0.35),
    Row("E2", 70, "lasso", 6, 15.2, 3.7, 0.47, 11.8, 0.36),
    Row("E2", 70, "elastic", 6, 8.4, 4.1, 0.24, 5.7, 0.14),
    Row("E2", 110, "lasso", 4, 5.6, 2.3, 0.28, 7.35, 0.29),
    Row("E2", 110, "elastic", 4, 2.4, 1.2, 0.16, 3.29, 0.08),
    Row("E3", 30, "lasso", 10, 0.56, 0.056, 0.57, 0.51, 0.33),
    Row("E3", 30, "group", 10, 0.56, 0.056, 0.46, 0.51, 0.26),
    Row("E3", 70, "lasso", 8, 0.48, 0.048, 0.46, 0.44, 0.40),
    Row("E3", 70, "group", 8, 0.47, 0.047, 0.27, 0.39, 0.24),
    Row("E3", 110, "lasso", 3, 0.47, 0.047, 0.41, 0.34, 0.23),
    Row("E3", 110, "group", 3, 0.44, 0.044, 0.11, 0.31, 0.14),
]

EARLY = 100
"""Steps after which fits of a cubic kernel at n = 110 are stopped; see `stopped_early`."""


def stopped_early(row):
    """Whether a row's published figures are those of iterates far from the minimum.

    At n = 110 there are more functionals, n (d + 1) = 2090, than the cubic kernel has monomials
    (1330), and the minimum selects all variables or none; iterates with a gap of 1e-2 select.
    """
    return row.task != "E3" and row.n == 110


def mean_and_error(values, digits=2):
    """Return "mean ± standard error"."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}"


def alg1_line(name, runs, published):
    """Say what `alg1_debiased` found: squared error, share of {1, 2} found, of the others taken."""
    share_detected = np.mean([len({0, 1} & set(support)) / 2 for _, support in runs])
    false = np.mean([len(set(support) - {0, 1}) / 4 for _, support in runs])
    errors = mean_and_error([error for error, _ in runs], 4)
    return f"{name}: {errors}, {share_detected:.2f}, {false:.2f} | {published}"


def table_line(row, runs):
    """Say what `gregorova` found beside both published figures."""
    early = f" after {EARLY} steps" if stopped_early(row) else ""
    return (
        f"{row.task} {row.n} {row.penalty}, {len(runs)}{early}: {mean_and_error(runs[:, 0])},"
        f" {mean_and_error(runs[:, 1])} | {row.rmse:g} ± {row.error:g}, {row.selection:.2f}"
        f" | {row.paper_rmse:g}, {row.paper_selection:.2f}"
    )
