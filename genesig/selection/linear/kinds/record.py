"""What the loop asks of a kind of response: sets that solve, left-out rows, a model of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.optim.solution import Path
from genesig.optim.structured.stretches import Stretches
from genesig.response.design import Design
from genesig.selection.assess.held import Held
from genesig.selection.linear.tasks import LinearSettings as Settings
from genesig.selection.linear.tasks import TrainingSet


@dataclass(frozen=True)
class Model:
    """One linear model of one training set.

    Attributes
    ----------
    genes, values : (m,) int, (m,) or (m, T) float
        Columns of the matrix, ascending, and weights.
    intercept : float or (T,) float
        Less the threshold.
    gamma : (q,) or (q, T) float, or None
    unseen : (n, ...) float or None
        Score of each training sample, less the threshold, by the fold that left it out and settings
        that the other folds chose, see `unseen`; else NaN.
    """

    genes: Array
    values: Array
    intercept: Any
    gamma: Array | None
    unseen: Array | None = None

    def scores(self, X: Array, rows: Array) -> Array:
        """Return the scores of some rows of the matrix, without covariates."""
        return np.asarray(self.intercept + X[np.ix_(rows, self.genes)] @ self.values)


class Ground(NamedTuple):
    """What all training sets of a matrix share.

    Attributes
    ----------
    centre, unit_variance : bool
        What is done to each gene on the training rows.
    weights : (d,) float or None
        Of each gene's l1 term.
    ties : str or None
        How ties of survival are treated.
    stretches : Stretches or None
        In the place of the l1 norm, for the penalty fused.
    """

    centre: bool
    unit_variance: bool
    weights: Array | None
    ties: str | None
    stretches: Stretches | None = None


class Sets(Protocol):
    """k training sets of one matrix, under one kind of response."""

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""

    @property
    def tau_max(self) -> Array:
        """The smallest tau of each at which nothing is selected, (k,)."""

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, the unit of mu and lam, (k,)."""

    def strength(self, part: slice) -> Array:
        """Return how much each gene goes with the response by itself, in some sets, (k, d).

        The length of the gradient where nothing is selected, but for a factor of each set.
        """

    def inner(
        self,
        Y: Array,
        rows: Array,
        held: Sequence[Held | None],
        of: Array,
        *,
        together: bool = True,
    ) -> Sets:
        """Return training sets inside of these, treated alike.

        Responses and masks (n, m), and the numbers (m,) of those they are in. `together`, paths of
        those in one set may end where the first of them does, because all must have their list;
        otherwise they take the norm of that set, which is near enough to theirs.
        """

    def path(self, tau: Array, mu: Array, protocol: Settings, longest: int | None) -> Path:
        """Select along absolute tau and mu; a row ends after its first list of more than this."""

    def scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit at each lam (k, L); return scores (k, m, L, n) of at least the `rows` (n, k)."""

    def coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit at lam (k,); return values (nnz,) and intercept (k, m), in the units of X.

        The intercept is for samples that have the mean of each covariate.
        """

    def covariates(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return the weights (k, m, q) of covariates beside these values, and their means (k, q).

        None where nothing but weights of samples is held fixed.
        """


@dataclass(frozen=True)
class Fitting:
    """One kind of response, as it is fitted.

    Attributes
    ----------
    sets : callable
        X (n, d), responses and masks (n, k), what each set holds fixed, and the `Ground` to k
        training sets.
    cut : callable
        A task and the scores (n_folds, n_tau, n_lam, n) of its inner folds to where a score
        is cut, (n_tau, n_lam), of any further shape.
    error : callable
        The same, the cut and the name of a criterion to the validation error and its standard
        error, each (n_tau, n_lam).
    signs : bool
        Whether y is ±1 for two classes.
    stretches : bool
        Whether its sets know `Ground.stretches`.
    decide : callable
        The `path.Lists` of the training sets and where the scores of each are cut, to the lists
        whose scores decide, and where these are cut, (k,).
    told : callable
        Out-of-fold scores (n, ...) of one list, and where they are cut, to scores as those of the
        lists that `decide` gives.
    cut_turns : bool
        Whether the cut of left-out scores turns them, rather than shifts all of them alike.
    by_class : callable or None
        Such scores to those of each class, (n, T); None where there are no classes.
    columns : callable
        A design to the further shape of a weight and of a score: none, or one for each class.
    """

    sets: Callable[[Array, Array, Array, Sequence[Held | None], Ground], Sets]
    cut: Callable[[TrainingSet, Array], Array]
    error: Callable[[TrainingSet, Array, Array, str], tuple[Array, Array]]
    signs: bool
    stretches: bool = False
    decide: Callable[[Any, Sequence[Any]], tuple[Any, Array]] = lambda lists, cuts: (
        lists,
        np.array(cuts),
    )
    told: Callable[[Array, Any], Array] = lambda scores, cut: scores - cut
    cut_turns: bool = False
    by_class: Callable[[Array], Array] | None = None
    columns: Callable[[Design], tuple[int, ...]] = lambda design: ()
