"""The synthetic tasks of Rosasco et al. (2010) and Gregorova et al. (2018), and their protocol.

Every generator takes a random stream and a size, and returns X and y.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np

from genesig.optim.kernels import Gaussian, Polynomial, median_distance, tables
from genesig.optim.nonlinear.choice import Settings, fit_path

RELEVANT = np.array([0, 1, 2, 6, 7, 8])
TRIPLES = [[0, 1, 2], [6, 7, 8]]
GROUPS = [list(range(first, first + 3)) for first in range(0, 18, 3)]


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


def tanimoto(found, truth):
    """1 - |A ∩ B| / |A ∪ B|."""
    found, truth = set(found), set(truth)
    return 1 - len(found & truth) / len(found | truth)


def settings(kernel, penalty="lasso", **change):
    return Settings(**{
        "kernel": kernel, "degree": 3, "offset": 1.0, "penalty": penalty, "mu": 0.5,
        "groups": GROUPS if penalty == "group" else None, "weights": None, "rule": "saturation",
        "lam": np.geomspace(1, 1e-14, 15), "standardise": False, "solver": "admm",
        "tolerance": 1e-4, "max_iterations": 2000, **change,
    })  # fmt: skip


def by_validation(train, held_out, test, choices):
    """Return (mean squared test error, selected variables) of the best fit on held-out data.

    `choices` are (settings, nu, width as a multiple of the median distance, taus).
    """
    best = (np.inf, None)
    for setting, nu, width, taus in choices:
        fit = fit_path(*train, setting, nu=nu, width=width, tau=taus)
        for step in range(len(fit.path.solutions)):
            errors = np.mean((fit.predict(step, held_out[0]) - held_out[1]) ** 2, axis=1)
            if errors.min() < best[0]:
                best = (errors.min(), (fit, step, int(np.argmin(errors))))
    fit, step, lam = best[1]
    error = np.mean((fit.predict(step, test[0])[lam] - test[1]) ** 2)
    return float(error), fit.support(step)


TASKS = {"E1": (e1, "polynomial"), "E2": (e2, "polynomial"), "E3": (e3, "gaussian")}


def gregorova(task, penalty, n, seed, n_tau=50, mus=(0.1, 0.3, 0.5, 0.7, 0.9), nu=1e-3):
    """(root mean squared test error, Tanimoto error) of one replication; validation on 1000."""
    make, kernel = TASKS[task]
    rng = np.random.default_rng([seed, n])
    train, held_out, test = make(rng, n), make(rng, 1000), make(rng, 1000)
    centred = train[0] - train[0].mean(axis=0)
    width = 4 / median_distance(centred @ centred.T)
    taus = np.geomspace(1, 1e-3, n_tau).tolist()
    mus = mus if penalty == "elastic" else (1.0,)
    choices = [(settings(kernel, penalty, mu=mu), nu, width, taus) for mu in mus]
    error, support = by_validation(train, held_out, test, choices)
    return np.sqrt(error), tanimoto(support, RELEVANT)


def ridge_of_all(task, n, seed):
    """Root mean squared test error of kernel ridge on all variables (Krls), λ by validation."""
    make, kernel = TASKS[task]
    rng = np.random.default_rng([seed, n])
    train, held_out, test = make(rng, n), make(rng, 1000), make(rng, 1000)
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
    name, seed, n_tau=20, tau_min=0.01, nus=(1e-5, 1e-4, 1e-3), widths=(0.5, 1.0, 2.0)
):
    """Squared test error and selected variables of Alg1^GR; n = 80, validation and test 200."""
    rng = np.random.default_rng([seed, 80])
    train, held_out = rosasco(name, rng, 80), rosasco(name, rng, 200)
    test = rosasco(name, np.random.default_rng(999), 200)
    setting = settings("gaussian", tolerance=1e-3)
    taus = np.geomspace(1, tau_min, n_tau + 1)[1:].tolist()
    choices = [(setting, nu, width, taus) for nu in nus for width in widths]
    return by_validation(train, held_out, test, choices)
