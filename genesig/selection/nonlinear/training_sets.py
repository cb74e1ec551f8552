"""Training sets of nonlinear selection: screened genes, groups, and the choice of settings.

Each training set keeps the genes that depend most on the response (`screen`). Groups are learned,
so each outer split, each inner fold and the final model has its own, from its own rows. The groups
of the signature come from all samples and must not be used inside the splits.

A path that would select more variables than samples ends there, and its last fit serves for all
smaller tau. This holds in the inner folds and in the final fit, so that the choice is among models
that can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np

from genesig.arrays import Array
from genesig.optim.nonlinear.path import PathFit, SolverSettings, fit_path
from genesig.selection.genes.blocks import assign_to_prototypes
from genesig.selection.linear.training_sets import TauGrid


@dataclass(frozen=True, kw_only=True)
class NonlinearProtocol(TauGrid):
    """The settings of section ``nonlinear`` without ``enabled``; the schema explains them."""

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
    debias: bool
    lam: Sequence[float]
    solver: str
    tolerance: float
    max_iterations: int
    fvm_genes: Sequence[int]
    fvm_bins: int

    def ridge_grid(self) -> Array:
        """Return the weights of the final ridge, descending, so that ties go to the smoothest."""
        return np.sort(np.asarray(self.lam, dtype=float))[::-1]

    def settings_grid(self) -> list[tuple[float, float]]:
        """Return the pairs (nu, width) in the order of the config."""
        return [(float(nu), float(width)) for nu, width in product(self.nu, self.width)]


RANK_KERNEL_WIDTH = 0.25  # sd of the Gaussian kernel between ranks, which run from 0 to 1

MIN_EIGENVALUE_SHARE = 1e-8  # of the largest one, below which eigenfunctions are left out

GENES_PER_BLOCK = 1024  # genes ranked at once, in six times the memory of their values


def screen(X: Array, y: Array, max_genes: int | None) -> Array:
    """Return the numbers of the `max_genes` columns with the largest `dependence` on y, ascending.

    X, y (n, d), (n,): training rows only. max_genes: None keeps all columns.
    """
    if max_genes is None or max_genes >= X.shape[1]:
        return np.arange(X.shape[1])
    order = np.argsort(-dependence(X, y), kind="stable")
    return np.sort(order[:max_genes])


def dependence(X: Array, y: Array) -> Array:
    """Return Σ_il (y_i - ȳ) (y_l - ȳ) k(r_ij, r_lj) of each column j, (d,).

    r is the rank of a value in its column, from 0 to 1, and k a Gaussian kernel: the
    Hilbert-Schmidt independence criterion with a linear kernel on y (times n²). It sees a mean of
    y that depends on the gene in any smooth way, up, down or up and down again, and does not
    change under growing transforms of the gene. It sees one gene at a time: a gene that matters
    only together with others can be missed.

    Source: Gretton et al. (2005); as a screen, Song et al. (2012).
    """
    # With k = P P' between ranks, the double sum is that of squares of single sums.
    eigenfunctions = _eigenfunctions(len(y))
    rank_index = doubled_ranks(X)
    centred = y - y.mean()
    dependences = np.zeros(X.shape[1])
    for column in eigenfunctions.T:
        dependences += np.square(centred @ column[rank_index])
    return dependences


def doubled_ranks(X: Array) -> Array:
    """Return 2 (rank - 1) of each value in its column, ties sharing their mean rank, (n, d) int.

    Ranks run from 1 to n, so that the result is an index 0 ... 2n - 2 of `_eigenfunctions`.
    """
    ranks = np.empty(X.shape, dtype=np.int64)
    for start in range(0, X.shape[1], GENES_PER_BLOCK):
        block = slice(start, start + GENES_PER_BLOCK)
        ranks[:, block] = _doubled_ranks(X[:, block])
    return ranks


def _doubled_ranks(X: Array) -> Array:
    """Return `doubled_ranks` of one block of columns: positions of first and last tie, added."""
    n = len(X)
    order = np.argsort(X, axis=0, kind="stable")
    ordered = np.take_along_axis(X, order, axis=0)
    rises = ordered[1:] != ordered[:-1]
    row = np.arange(n)[:, None]
    always = np.ones((1, X.shape[1]), dtype=bool)
    first_of_tie = np.maximum.accumulate(np.where(np.vstack([always, rises]), row, 0), axis=0)
    tie_ends = np.where(np.vstack([rises, always]), row, n - 1)
    last_of_tie = np.minimum.accumulate(tie_ends[::-1], axis=0)[::-1]
    ranks = np.empty(X.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, first_of_tie + last_of_tie, axis=0)
    return ranks


@cache
def _eigenfunctions(n: int) -> Array:
    """Return P (2n - 1, r) with P P' = the kernel between all whole and half ranks of n values."""
    points = np.arange(2 * n - 1) / max(2 * n - 2, 1)
    kernel = np.exp(-np.square(points[:, None] - points) / (2 * RANK_KERNEL_WIDTH**2))
    eigenvalues, eigenvectors = np.linalg.eigh(kernel)
    is_kept = eigenvalues > MIN_EIGENVALUE_SHARE * eigenvalues[-1]
    return np.asarray(eigenvectors[:, is_kept] * np.sqrt(eigenvalues[is_kept]))


GroupLists = list[list[int]]  # columns of each group


MINIMAL_MU = 1e-6
"""mu of the lasso of `linear_blocks`, in units of ||X'X||/n: the smallest of ``linear.mu`` unless
the config changes it."""


def groups_of_file(names: list[str], group_of_gene: dict[str, str]) -> GroupLists:
    """Return the groups of columns by the group of each gene; other genes are groups of one.

    names: gene of each column.
    """
    # The flag keeps a gene without a group apart from a group of the same name.
    groups: dict[tuple[bool, str], list[int]] = {}
    for column, gene in enumerate(names):
        groups.setdefault((gene in group_of_gene, group_of_gene.get(gene, gene)), []).append(column)
    return list(groups.values())


def linear_blocks(X: Array, y: Array, *, tau: float, unit_variance: bool) -> GroupLists:
    """Return groups around the genes of a lasso: each other gene joins the most correlated one.

    Without a gene in the lasso each gene is a group. The lasso is the elastic net at `MINIMAL_MU`
    and at a fixed tau, a fraction of tau_max, because a choice would need folds inside the folds.

    X, y (n, d), (n,): training rows and screened genes. unit_variance: whether it scales genes.
    """
    from genesig.optim.solvers import path
    from genesig.optim.training import training_sets

    rows = np.ones((len(y), 1), dtype=bool)
    sets = training_sets(X, y[:, None], rows, centre=True, unit_variance=unit_variance)
    lasso_path = path(
        sets,
        tau * sets.tau_max[:, None],
        MINIMAL_MU * sets.norm[:, None],
        solver="landweber-newton",
        tolerance=1e-9,
    )
    prototypes = lasso_path.coef(0, 0)[0]
    if len(prototypes) == 0:
        return [[gene] for gene in range(X.shape[1])]
    block, _ = assign_to_prototypes(X, np.arange(X.shape[1]), prototypes)
    return [np.flatnonzero(block == number).tolist() for number in range(len(prototypes))]


MIN_FITTED_SAMPLES = 3  # smallest number of samples to which a model is fitted


@dataclass(frozen=True)
class SharedSettings:
    """Settings and genes that all training sets of a matrix share."""

    protocol: NonlinearProtocol
    names: list[str]  # gene of each column
    unit_variance: bool  # whether the study scales genes to unit variance (``normalise.folds``)
    group_of_gene: dict[str, str] | None  # group of each gene, from a file


@dataclass(frozen=True)
class KernelData:
    """Training rows of screened genes, with the groups learned on these rows alone."""

    X: Array  # (n, d') float: training rows of the screened genes
    y: Array  # (n,) float: response
    genes: Array  # (d',) int: columns of the matrix that were kept
    # solver settings, with the groups of these genes and all weights of the ridge; without
    # debiasing there are none
    settings: SolverSettings

    @property
    def can_be_fitted(self) -> bool:
        """Return whether a model can be fitted: enough samples, different responses, and a gene."""
        return (
            len(self.y) >= MIN_FITTED_SAMPLES and len(self.genes) > 0 and bool(np.ptp(self.y) > 0)
        )

    def path(self, nu: float, width: float, tau: Array, lam: Array) -> PathFit:
        """Return the fit along tau with ridge weights `lam`; nu, width and tau as in `fit_path`."""
        settings = replace(self.settings, lam=lam)
        return fit_path(self.X, self.y, settings, nu=nu, width=width, tau=tau.tolist())


def prepare_training_set(X: Array, y: Array, rows: Array, shared: SharedSettings) -> KernelData:
    """Return the training set of some rows of the matrix X, with the screened genes that vary."""
    protocol = shared.protocol
    training_X = X[rows]
    response = y[rows]
    genes = screen(training_X, response, protocol.genes)
    genes = genes[np.ptp(training_X[:, genes], axis=0) > 0]
    training_X = training_X[:, genes]
    groups = None
    if protocol.penalty == "group" and len(genes) and np.ptp(response) > 0:
        groups = (
            linear_blocks(
                training_X, response, tau=protocol.block_tau, unit_variance=shared.unit_variance
            )
            if shared.group_of_gene is None
            else groups_of_file([shared.names[gene] for gene in genes], shared.group_of_gene)
        )
    return KernelData(training_X, response, genes, _settings(shared, groups))


def _settings(shared: SharedSettings, groups: list[list[int]] | None) -> SolverSettings:
    """Return solver settings; groups are weighted by the root of their size, as in group lasso."""
    protocol = shared.protocol
    return SolverSettings(
        kernel=protocol.kernel,
        degree=protocol.degree,
        offset=protocol.offset,
        penalty=protocol.penalty,
        mu=protocol.mu,
        groups=groups,
        weights=None if groups is None else np.sqrt([len(group) for group in groups]),
        lam=protocol.ridge_grid() if protocol.debias else np.zeros(0),
        standardise=shared.unit_variance,
        solver=protocol.solver,
        tolerance=protocol.tolerance,
        max_iterations=protocol.max_iterations,
    )


@dataclass(frozen=True)
class InnerChoice:
    """The settings that the inner folds chose."""

    nu: float  # chosen weight of the squared norm
    width: float  # chosen width of the kernel
    step: int  # index of the chosen tau in `NonlinearProtocol.tau_fractions`
    lam: float  # chosen weight of the ridge; NaN without debiasing
    # number of inner paths that ended early, where more variables than samples were selected
    cut: int
    # midpoint of the class means of the held-out scores; 0 for a response of numbers
    threshold: float


def choose(
    training_sets: Sequence[KernelData],
    held_out_rows: Sequence[tuple[Array, Array]],
    protocol: NonlinearProtocol,
    two_classes: bool,
) -> InnerChoice:
    """Return the settings with the smallest squared error over all held-out rows.

    Ties go to the larger tau, then to the larger lam, then to the earlier setting in the config.

    training_sets: the training set of each inner fold. held_out_rows sequence of (X, y): the
    held-out rows of each, all columns of the matrix. two_classes: whether y is ±1.
    """
    # Axes of the tables: pair (nu, width), tau, lam; without debiasing there is one lam.
    grid = protocol.settings_grid()
    tau = protocol.tau_fractions()
    n_lam = max(1, len(protocol.lam)) if protocol.debias else 1
    error_tables = np.zeros((len(grid), len(tau), n_lam))
    class_sums = np.zeros((2, *error_tables.shape))
    n_cut = 0
    for training_set, (X, y) in zip(training_sets, held_out_rows, strict=True):
        for setting, (nu, width) in enumerate(grid):
            scores, was_cut = scores_along(training_set, X, nu, width, tau)
            error_tables[setting] += np.sum(np.square(y - scores), axis=2)
            class_sums[:, setting] += by_class(scores, y)
            n_cut += was_cut
    setting, tau_index, lam_index = best = _smallest_error(error_tables)
    lam = protocol.ridge_grid()[lam_index] if protocol.debias else np.nan
    threshold = midpoint(class_sums[:, *best], held_out_rows) if two_classes else 0.0
    return InnerChoice(*grid[setting], tau_index, float(lam), n_cut, threshold)


def by_class(scores: Array, y: Array) -> Array:
    """Return the sums of scores (..., m) over the rows with y = -1, and with y = 1, (2, ...)."""
    return np.stack([scores[..., y == code].sum(axis=-1) for code in (-1.0, 1.0)])


def midpoint(class_sums: Array, held_out_rows: Sequence[tuple[Array, Array]]) -> float:
    """Return the mean of the two class means of held-out scores, 0 without rows of a class.

    class_sums (2,): see `by_class`. As `linear.kinds.midpoint`.
    """
    n_negative, n_positive = (
        sum(np.sum(y == code) for _, y in held_out_rows) for code in (-1.0, 1.0)
    )
    if not n_negative or not n_positive:
        return 0.0
    return float(class_sums[0] / n_negative + class_sums[1] / n_positive) / 2


def scores_along(
    training_set: KernelData, X: Array, nu: float, width: float, tau: Array
) -> tuple[Array, bool]:
    """Return the scores of rows X at each (tau, lam), (T, L, m), and whether the path was cut.

    X has all columns of the matrix. Without debiasing L is 1. Where the path was cut, the scores
    are those of its last fit; without any fit they are the mean response.
    """
    ridge_weights = training_set.settings.lam
    scores = np.full((len(tau), max(1, len(ridge_weights)), len(X)), training_set.y.mean())
    if not training_set.can_be_fitted:
        return scores, False
    fit = training_set.path(nu, width, tau, ridge_weights)
    points = X[:, training_set.genes]
    supports = [solution.support.tolist() for solution in fit.path.solutions]
    for tau_index, support in enumerate(supports):
        # The ridge of the same genes is the same; fits without a ridge differ.
        if tau_index == 0 or support != supports[tau_index - 1] or not len(ridge_weights):
            scores[tau_index:] = fit.predict(tau_index, points)
    return scores, len(fit.path.solutions) < len(tau)


def final_fit(
    training_set: KernelData, choice: InnerChoice, protocol: NonlinearProtocol
) -> PathFit | None:
    """Return the fit along tau down to the chosen one; None if no model can be fitted.

    The last solution of the path is the model; a path that was cut at once has none.
    """
    if not training_set.can_be_fitted:
        return None
    tau = protocol.tau_fractions()[: choice.step + 1]
    lam = np.array([choice.lam]) if protocol.debias else np.zeros(0)
    return training_set.path(choice.nu, choice.width, tau, lam)


def _smallest_error(error_tables: Array) -> tuple[int, int, int]:
    """Return (setting, tau, lam) of the smallest error; of equal ones as `choose` says.

    error_tables (settings, tau, lam): tau and lam fall along their axes.
    """
    by_tau = np.moveaxis(error_tables, 0, -1)
    smallest = by_tau.min()
    first_index = np.flatnonzero(by_tau.ravel() <= smallest * (1 + 1e-9) + 1e-300)[0]
    tau_index, lam_index, setting = np.unravel_index(first_index, by_tau.shape)
    return int(setting), int(tau_index), int(lam_index)
