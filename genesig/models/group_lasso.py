"""Groups of features that are chosen together, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from genesig.errors import pick
from genesig.models.structured import ClassColumns, LinearBlocks, Scale
from genesig.models.weights import passed_on, roots, shares
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.composite import Composite
from genesig.optim.structured.latent import LatentOverlap
from genesig.optim.structured.penalties import Groups, Penalty
from genesig.optim.structured.solvers import structured_path

Array = np.ndarray[Any, Any]

PENALTIES: dict[str, Callable[[Blocks], Penalty]] = {
    "group": Groups,
    "latent": LatentOverlap,
    "composite": Composite,
}


class _GroupLasso(LinearBlocks):
    """SUMMARY.

        min_B (1/n)||Y - Z B||² + mu ||B||² + tau Omega(B)

    over the centred, scaled features Z, with one column of B a response. A group is in the model
    for all responses or for none; with a group of each feature this is the lasso of one response,
    and the multi-task lasso of several.

    Parameters
    ----------
    groups : list of lists of feature numbers, optional
        None makes each feature a group.
    weights : sequence of float, optional
        Weight of each group's norm; None is the square root of its size.
    penalty : {"group", "latent", "composite"}
        Of groups that overlap, the chosen features are a union of groups ("latent", with mu on the
        pieces), or what is left out is one ("composite": trees; it needs the solver "projection",
        and its tau is a fraction of a bound on tau_max).
    tau : float
        Fraction of the smallest tau that selects nothing.
    mu : float
        Weight of the squared norm, in units of ||Z'Z||/n.
    unit_variance : bool
        Divide each feature by its standard deviation.
    solver : {"blocks", "projection"}
    tolerance : float
        Largest duality gap relative to ||Y||²/n; a larger one is warned of.

    Attributes
    ----------
    coef_ : (d,) or (T, d)
        In the units of X; 0 for features of no chosen group.
    intercept_ : float or (T,)
    support_ : (d,) bool array
        Features with a coefficient.
    blocks_ : int array
        Chosen groups, ascending.
    norms_ : (G,)
        Norm of each group's coefficients, on the scale of Z.
    tau_, gap_, n_iter_ : float, float, int

    Raises
    ------
    GenesigError
        One sentence, before any work: groups that overlap where they must not, an empty group, a
        solver that cannot take the penalty.

    References
    ----------
    Mosci 2009, sections 5.4.2 to 5.4.5; Jacob, Obozinski, Vert 2009.
    """

    def __init__(
        self, groups: Sequence[Sequence[int]] | None = None, *,
        weights: Sequence[float] | None = None, penalty: str = "group", tau: float = 0.05,
        mu: float = 1e-6, unit_variance: bool = True, solver: str = "blocks",
        tolerance: float = 1e-9,
    ) -> None:  # fmt: skip
        self.groups = groups
        self.weights = weights
        self.penalty = penalty
        self.tau = tau
        self.mu = mu
        self.unit_variance = unit_variance
        self.solver = solver
        self.tolerance = tolerance

    def _fit(self, X: Array, Y: Array, v: Array | None = None) -> None:
        """Fit to rows with the weights v; those of rows are their roots in a sum of squares."""
        scale = Scale.of(X, unit_variance=self.unit_variance, weights=v)
        centre, penalty = np.average(Y, axis=0, weights=v), self._penalty(X.shape[1])
        root = roots(v, len(X))
        Z, Yc = root * scale.apply(X), root * (Y - centre)
        tau, mu = self._levels(Z, Yc, penalty)
        fits = structured_path(
            Z, Yc, penalty, tau, mu, solver=self.solver, tolerance=self.tolerance
        )
        self._keep(fits, scale, centre)

    def _penalty(self, d: int) -> Penalty:
        groups = [[j] for j in range(d)] if self.groups is None else self.groups
        sizes = np.array([len(group) for group in groups], dtype=float)
        weights = np.sqrt(sizes) if self.weights is None else self.weights
        blocks = Blocks.of(groups, weights)
        blocks.check(d)
        return pick("penalty", PENALTIES, self.penalty)(blocks)


class GroupLassoRegressor(RegressorMixin, _GroupLasso):  # type: ignore[misc]
    """Selects groups of features, and predicts one number or several; see `_GroupLasso`."""

    __doc__ = (_GroupLasso.__doc__ or "").replace("SUMMARY", "Regression on groups of features")

    def __sklearn_tags__(self) -> Any:
        """Say that there may be several responses."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and y (n,) or (n, T), rows weighted by sample_weight (n,)."""
        X, y = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, multi_output=True, ensure_min_samples=2
        )
        y = np.asarray(y, dtype=float)
        self._fit(X, y.reshape(len(y), -1), shares(sample_weight, X))
        if y.ndim == 1:
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        self._several = y.ndim > 1
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x), (m,) or (m, T)."""
        values = self._values(X)
        return values if self._several else values[:, 0]


class GroupLassoClassifier(ClassColumns, _GroupLasso):
    """Selects groups of features, and tells two or more classes apart; see `_GroupLasso`."""

    __doc__ = (_GroupLasso.__doc__ or "").replace(
        "SUMMARY",
        "Two or more classes by groups of features, the one whose mean score is nearest",
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and the classes y (n,), rows weighted by sample_weight (n,)."""
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        v = shares(sample_weight, rows)
        self._fit(rows, self._columns(labels, v), v)
        self._learn_cut(self._scores(rows), labels, v)
        return self._calibrated(X, labels, **passed_on(sample_weight))
