"""One training set as the penalty on derivatives sees it, and the choice of (nu, width, tau, lam).

Blocks are learned, so they belong to a training set like everything that is learned: each outer
split, inner fold and the final model has its own, from its own rows. The blocks of the signature
know all samples and may not be used inside the splits.

The choice: a path that would select more variables than samples ends there: whoever asks for a
smaller tau gets its last fit. This holds for the inner folds as for the fit that follows, so that
what is chosen among is what will be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from genesig.arrays import Array
from genesig.optim.nonlinear.choice import Fit, Settings, fit_path
from genesig.selection.genes.blocks import assign


@dataclass(frozen=True, kw_only=True)
class NonlinearProtocol:
    """One attribute for each key of the section but ``enabled``; the schema explains them."""

    genes: int | None
    kernel: str
    width: Sequence[float]
    degree: int
    offset: float
    penalty: str
    mu: float
    groups: str | None
    block_tau: float
    nu: Sequence[float]
    tau_min: float
    tau_count: int
    debias: bool
    lam: Sequence[float]
    solver: str
    tolerance: float
    max_iterations: int
    fvm_genes: Sequence[int]
    fvm_bins: int

    def tau_fractions(self) -> Array:
        """Return the grid of tau as falling fractions of tau_max, which itself selects nothing."""
        return np.geomspace(1.0, self.tau_min, self.tau_count + 1)[1:]

    def ridge_grid(self) -> Array:
        """Return the weights of the final ridge, falling: at ties the smoothest wins."""
        return np.sort(np.asarray(self.lam, dtype=float))[::-1]

    def settings_grid(self) -> list[tuple[float, float]]:
        """Return the pairs (nu, width) in the order of the config."""
        return [(float(nu), float(width)) for nu, width in product(self.nu, self.width)]


WIDTH = 0.25
"""Of the Gaussian kernel between ranks, which run from 0 to 1."""

NEGLIGIBLE = 1e-8
"""Share of the largest eigenvalue below which a kernel's eigenfunctions are left out."""

BLOCK = 1024
"""Genes whose ranks are found at once: that takes six times the room of their values."""


def screen(X: Array, y: Array, most: int | None) -> Array:
    """Return the columns with the largest dependence, ascending; None is all of them.

    Parameters
    ----------
    X, y : (n, d), (n,)
        Training rows only.
    most : int or None

    See Also
    --------
    dependence
    """
    if most is None or most >= X.shape[1]:
        return np.arange(X.shape[1])
    order = np.argsort(-dependence(X, y), kind="stable")
    return np.sort(order[:most])


def dependence(X: Array, y: Array) -> Array:
    """Return Σ_ik (y_i - ȳ) (y_k - ȳ) k(r_ij, r_kj) of each column j, (d,).

    r is the rank of a value in its column, from 0 to 1, and k a Gaussian kernel: the
    Hilbert-Schmidt independence criterion with a linear kernel on y (times n²). It sees a mean of
    y that depends on the gene in any smooth way, up, down or up and down again, and does not
    change under growing transforms of the gene. It sees one gene at a time: a gene that matters
    only together with others can be missed.

    Source: Gretton et al. (2005); as a screen, Song et al. (2012).
    """
    eigenfunctions = _eigenfunctions(len(y))
    place = twice_ranks(X)
    centred = y - y.mean()
    total = np.zeros(X.shape[1])
    for column in eigenfunctions.T:
        total += np.square(centred @ column[place])
    return total


def twice_ranks(X: Array) -> Array:
    """Return 2 (rank - 1) of each value in its column, ties sharing their mean rank, (n, d) int."""
    out = np.empty(X.shape, dtype=np.int64)
    for first in range(0, X.shape[1], BLOCK):
        part = slice(first, first + BLOCK)
        out[:, part] = _twice_ranks(X[:, part])
    return out


def _twice_ranks(X: Array) -> Array:
    n = len(X)
    order = np.argsort(X, axis=0, kind="stable")
    ordered = np.take_along_axis(X, order, axis=0)
    rises = ordered[1:] != ordered[:-1]
    row = np.arange(n)[:, None]
    edge = np.ones((1, X.shape[1]), dtype=bool)
    first = np.maximum.accumulate(np.where(np.vstack([edge, rises]), row, 0), axis=0)
    behind = np.where(np.vstack([rises, edge]), row, n - 1)
    last = np.minimum.accumulate(behind[::-1], axis=0)[::-1]
    out = np.empty(X.shape, dtype=np.int64)
    np.put_along_axis(out, order, first + last, axis=0)
    return out


def _eigenfunctions(n: int) -> Array:
    """Return P with P P' = the kernel between all whole and half ranks of n values."""
    points = np.arange(2 * n - 1) / max(2 * n - 2, 1)
    K = np.exp(-np.square(points[:, None] - points) / (2 * WIDTH**2))
    eigenvalues, V = np.linalg.eigh(K)
    kept = eigenvalues > NEGLIGIBLE * eigenvalues[-1]
    return np.asarray(V[:, kept] * np.sqrt(eigenvalues[kept]))


Groups = list[list[int]]


MINIMAL = 1e-6
"""mu of the lasso, in units of ||X'X||/n, as that of the minimal list."""


def groups_of_file(names: list[str], named: dict[str, str]) -> Groups:
    """Return the groups among the named genes; a gene in no group is one by itself."""
    found: dict[tuple[bool, str], list[int]] = {}
    for place, gene in enumerate(names):
        found.setdefault((gene in named, named.get(gene, gene)), []).append(place)
    return list(found.values())


def linear_blocks(X: Array, y: Array, *, tau: float, scaled: bool) -> Groups:
    """Return blocks around the genes of a lasso: each other gene joins the most correlated one.

    Parameters
    ----------
    X, y : (n, d), (n,)
        Training rows and screened genes.
    tau : float
        Of the lasso, as a fraction of tau_max. The list is the minimal one (stage II at the
        smallest mu) at a fixed tau: to choose it would take folds inside the folds.
    scaled : bool
        Unit variance of the genes.
    """
    from genesig.optim.solvers import path
    from genesig.optim.training import training_sets

    rows = np.ones((len(y), 1), dtype=bool)
    sets = training_sets(X, y[:, None], rows, centre=True, unit_variance=scaled)
    found = path(
        sets,
        tau * sets.tau_max[:, None],
        MINIMAL * sets.norm[:, None],
        solver="landweber-newton",
        tolerance=1e-9,
    )
    leaders = found.coef(0, 0)[0]
    if len(leaders) == 0:
        return [[gene] for gene in range(X.shape[1])]
    block, _ = assign(X, np.arange(X.shape[1]), leaders)
    return [np.flatnonzero(block == number).tolist() for number in range(len(leaders))]


FEWEST = 3
"""Samples below which no model is fitted."""


@dataclass(frozen=True)
class Given:
    """What all training sets of a matrix share.

    Attributes
    ----------
    names : list of str
        Gene of each column.
    scaled : bool
        Whether the study scales genes to unit variance (``normalise.folds``).
    named : dict of str to str, or None
        Group of each gene, from a file.
    """

    protocol: NonlinearProtocol
    names: list[str]
    scaled: bool
    named: dict[str, str] | None


@dataclass(frozen=True)
class Ground:
    """Training rows and screened genes; everything here is learned on these rows alone.

    Attributes
    ----------
    X, y : (n, d'), (n,)
    genes : (d',) int
        Columns of the matrix that were kept.
    settings : Settings
        With the groups of these genes, and all weights of the ridge.
    """

    X: Array
    y: Array
    genes: Array
    settings: Settings

    @property
    def fits(self) -> bool:
        """Whether there is anything to fit: enough samples, and a gene that varies."""
        return len(self.y) >= FEWEST and len(self.genes) > 0 and bool(np.ptp(self.y) > 0)

    def path(self, nu: float, width: float, tau: Array, lam: Array) -> Fit:
        """Follow the path with these weights of the ridge."""
        settings = replace(self.settings, lam=lam)
        return fit_path(self.X, self.y, settings, nu=nu, width=width, tau=tau.tolist())


def prepare(X: Array, y: Array, rows: Array, given: Given) -> Ground:
    """Screen and group on the given rows of a matrix; genes constant on them are left out."""
    protocol = given.protocol
    mine = X[rows]
    response = y[rows]
    genes = screen(mine, response, protocol.genes)
    genes = genes[np.ptp(mine[:, genes], axis=0) > 0]
    mine = mine[:, genes]
    groups = None
    if protocol.penalty == "group" and len(genes) and np.ptp(response) > 0:
        groups = (
            linear_blocks(mine, response, tau=protocol.block_tau, scaled=given.scaled)
            if given.named is None
            else groups_of_file([given.names[gene] for gene in genes], given.named)
        )
    return Ground(mine, response, genes, _settings(given, groups))


def _settings(given: Given, groups: list[list[int]] | None) -> Settings:
    """Fill the settings; a group weighs the square root of its size, as in the group lasso."""
    protocol = given.protocol
    return Settings(
        kernel=protocol.kernel,
        degree=protocol.degree,
        offset=protocol.offset,
        penalty=protocol.penalty,
        mu=protocol.mu,
        groups=groups,
        weights=None if groups is None else np.sqrt([len(group) for group in groups]),
        lam=protocol.ridge_grid() if protocol.debias else np.zeros(0),
        standardise=given.scaled,
        solver=protocol.solver,
        tolerance=protocol.tolerance,
        max_iterations=protocol.max_iterations,
    )


@dataclass(frozen=True)
class Choice:
    """What the inner folds chose.

    Attributes
    ----------
    nu, width, lam : float
        lam is NaN without debiasing.
    step : int
        Place of tau in the grid.
    cut : int
        Inner paths that ended before the end of the grid.
    threshold : float
        Midpoint of the class means of the held-out scores; 0 for a response of numbers.
    """

    nu: float
    width: float
    step: int
    lam: float
    cut: int
    threshold: float


def choose(
    grounds: Sequence[Ground],
    held: Sequence[tuple[Array, Array]],
    protocol: NonlinearProtocol,
    classes: bool,
) -> Choice:
    """Return the setting of the least squared error over all held-out rows.

    At ties the larger tau, then the larger lam, then the setting named first.

    Parameters
    ----------
    grounds : sequence of Ground
        The training set of each inner fold.
    held : sequence of (X, y)
        The held-out rows of each, all columns of the matrix.
    protocol : NonlinearProtocol
    classes : bool
        Whether y is ±1 for two classes.
    """
    grid = protocol.settings_grid()
    tau = protocol.tau_fractions()
    tables = np.zeros((len(grid), len(tau), max(1, len(protocol.lam) * protocol.debias)))
    sums = np.zeros((2, *tables.shape))
    cut = 0
    for ground, (X, y) in zip(grounds, held, strict=True):
        for number, (nu, width) in enumerate(grid):
            scores, ended = scores_along(ground, X, nu, width, tau)
            tables[number] += np.sum(np.square(y - scores), axis=2)
            sums[:, number] += by_class(scores, y)
            cut += ended
    number, step, shrink = best = _least(tables)
    lam = protocol.ridge_grid()[shrink] if protocol.debias else np.nan
    threshold = midpoint(sums[:, *best], held) if classes else 0.0
    return Choice(*grid[number], step, float(lam), cut, threshold)


def by_class(scores: Array, y: Array) -> Array:
    """Return the sums of the scores (..., m) of each class, (2, ...)."""
    return np.stack([scores[..., y == sign].sum(axis=-1) for sign in (-1.0, 1.0)])


def midpoint(sums: Array, held: Sequence[tuple[Array, Array]]) -> float:
    """Return the mean of the two class means of held-out scores; see `least_squares.midpoint`."""
    low, high = (sum(np.sum(y == sign) for _, y in held) for sign in (-1.0, 1.0))
    return float(sums[0] / low + sums[1] / high) / 2 if low and high else 0.0


def scores_along(
    ground: Ground, X: Array, nu: float, width: float, tau: Array
) -> tuple[Array, bool]:
    """Return the scores of rows X at each (tau, lam), (T, L, m), and whether the path was cut."""
    shrunk = ground.settings.lam
    scores = np.full((len(tau), max(1, len(shrunk)), len(X)), ground.y.mean())
    if not ground.fits:
        return scores, False
    fit = ground.path(nu, width, tau, shrunk)
    points = X[:, ground.genes]
    for step in range(len(fit.path.solutions)):
        scores[step:] = fit.predict(step, points)
    return scores, len(fit.path.solutions) < len(tau)


def final_fit(ground: Ground, choice: Choice, protocol: NonlinearProtocol) -> Fit | None:
    """Follow the path to the chosen tau; None where there is nothing to fit.

    The last solution of the path is the model; a path cut at once has none.
    """
    if not ground.fits:
        return None
    tau = protocol.tau_fractions()[: choice.step + 1]
    lam = np.array([choice.lam]) if protocol.debias else np.zeros(0)
    return ground.path(choice.nu, choice.width, tau, lam)


def _least(tables: Array) -> tuple[int, int, int]:
    """Return (setting, tau, lam) of the smallest error, the first among equals up to rounding."""
    by_tau = np.moveaxis(tables, 0, -1)
    best = by_tau.min()
    first = np.flatnonzero(by_tau.ravel() <= best * (1 + 1e-9) + 1e-300)[0]
    step, shrink, number = np.unravel_index(first, by_tau.shape)
    return int(number), int(step), int(shrink)
