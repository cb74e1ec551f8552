"""Signatures made of gene sets, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from genesig.arrays import Array
from genesig.errors import pick
from genesig.models.estimator import described, roots, shares
from genesig.models.structured import ClassColumns, LinearBlocks, Scale
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.path import block_path
from genesig.optim.structured.penalties import LatentOverlap
from genesig.optim.structured.weights import permuted_weights
from genesig.words import listing

Sets = Mapping[str, Sequence[str]] | Mapping[str, Sequence[int]] | Sequence[Sequence[int]]

PERMUTATIONS = 1000


def _permuted(Z: Array, Y: Array, blocks: Blocks, random_state: Any) -> Array:
    rng = check_random_state(random_state)
    turned = np.stack([rng.permutation(len(Y)) for _ in range(PERMUTATIONS)], axis=1)
    weights = permuted_weights(Z, Y[turned], blocks.members, blocks.starts)
    return np.where(weights > 0, weights, 1.0)  # constant genes


def _size(Z: Array, Y: Array, blocks: Blocks, random_state: Any) -> Array:
    return np.sqrt(blocks.sizes())


def _equal(Z: Array, Y: Array, blocks: Blocks, random_state: Any) -> Array:
    return np.ones(len(blocks))


WEIGHTS = {"permuted": _permuted, "size": _size, "equal": _equal}


class _GeneSets(LinearBlocks):
    """SUMMARY.

        min (1/n)||y - sum_k Z_k v_k||² + mu sum_k ||v_k||² + tau sum_k w_k ||v_k||

    over centred, scaled features Z, Z_k those of set k. Sets may overlap: what is chosen is a union
    of sets, and the coefficient of a gene is the sum over its sets (latent overlap).

    Parameters
    ----------
    sets : dict of name -> genes, or list of lists of feature numbers, optional
        Genes are feature numbers, or names where X is a table with named columns; genes that X
        lacks are left out, as are sets of which X has none. None makes each feature a set.
    weights : {"permuted", "size", "equal"}
        w_k: the 99 % quantile of ||Z_k'y|| over 1000 permutations of y, with which sets of all
        kinds are as likely to come in by chance; the root of the size, which prefers correlated
        sets; or 1, which prefers large ones.
    alone : bool
        Make a set of each feature that is in none; else it is left out.
    tau : float
        Fraction of the smallest tau that selects nothing.
    mu : float
        Weight of the squared norm, in units of ||Z'Z||/n.
    unit_variance : bool
        Divide each feature by its standard deviation.
    tolerance : float
        Largest duality gap relative to ||y||²/n; a larger one is warned of.
    random_state : int, RandomState or None
        Of the permutations, in which the weight of a sample stays with its genes.

    Attributes
    ----------
    sets_ : list of names or numbers
        All sets, in the order of `norms_` and `weights_`; a feature alone goes by its own name.
    chosen_ : list
        The sets chosen, those with the largest share first.
    norms_, weights_, shares_ : (B,)
        ||v_k||, w_k, and ||Z_k v_k||/sqrt(n): the standard deviation that a set adds.
    coef_, intercept_ : (d,) or (T, d), float or (T,)
        In the units of X.
    support_ : (d,) bool array
        Features with a coefficient.
    blocks_ : int array
        Numbers of the chosen sets, ascending.
    tau_, gap_, n_iter_ : float, float, int

    Raises
    ------
    InvalidProblem
        One sentence: no gene of any set is among the features, a number that is none of a feature.

    References
    ----------
    Jacob, Obozinski, Vert 2009; Mosci 2009, section 5.4.
    """

    def __init__(
        self,
        sets: Sets | None = None,
        *,
        weights: str = "permuted",
        alone: bool = False,
        tau: float = 0.1,
        mu: float = 1e-3,
        unit_variance: bool = True,
        tolerance: float = 1e-9,
        random_state: Any = 0,
    ) -> None:
        self.sets = sets
        self.weights = weights
        self.alone = alone
        self.tau = tau
        self.mu = mu
        self.unit_variance = unit_variance
        self.tolerance = tolerance
        self.random_state = random_state

    def _fit(self, X: Array, Y: Array, v: Array | None) -> None:
        """Fit to rows with the weights v; those of rows are their roots in a sum of squares."""
        if v is not None:  # a response that counts for nothing is not for others to be given
            X = X[v > 0]
            Y = Y[v > 0]
            v = v[v > 0] * (np.sum(v > 0) / v.sum())
        names = getattr(self, "feature_names_in_", None)
        self.sets_, columns = resolved(self.sets, names, X.shape[1], alone=self.alone)
        scale = Scale.of(X, unit_variance=self.unit_variance, weights=v)
        centre = np.average(Y, axis=0, weights=v)
        root = roots(v, len(X))
        Z = root * scale.apply(X)
        Yc = Y - centre
        equal = Blocks.of(columns, np.ones(len(columns)))
        weigh = pick("weights", WEIGHTS, self.weights)
        self.weights_ = weigh(root * Z, Yc, equal, self.random_state)
        Yc = root * Yc
        blocks = Blocks(equal.members, equal.starts, self.weights_)
        path = block_path(
            Z, Yc, blocks, *self._levels(Z, Yc, LatentOverlap(blocks)), tolerance=self.tolerance
        )
        self._keep(path, scale, centre)
        fitted = [Z[:, columns[k]] @ path.piece(0, k) for k in self.blocks_]
        self.shares_ = np.zeros(len(columns))
        self.shares_[self.blocks_] = [np.linalg.norm(each) / np.sqrt(len(Z)) for each in fitted]
        largest = self.blocks_[np.argsort(-self.shares_[self.blocks_], kind="stable")]
        self.chosen_ = [self.sets_[k] for k in largest]


def resolved(
    sets: Sets | None, names: Array | None, d: int, *, alone: bool
) -> tuple[list[Any], list[list[int]]]:
    """Return the names of the sets and their columns, without what X lacks.

    Parameters
    ----------
    sets : as in `GeneSetRegressor`
    names : (d,) array, optional
        Of the features.
    d : int
    alone : bool
        Add each feature that is in no set as a set.
    """
    if sets is None:
        return list(range(d)) if names is None else list(names), [[j] for j in range(d)]
    place = {} if names is None else {name: j for j, name in enumerate(names)}
    given = sets.items() if isinstance(sets, Mapping) else enumerate(sets)
    found = {name: _columns(name, genes, place, d) for name, genes in given}
    kept = {name: columns for name, columns in found.items() if columns}
    if not kept:
        some = [str(gene) for genes in dict(given).values() for gene in genes]
        raise InvalidProblem(
            f"no gene of the {len(found)} sets is a feature of X: the sets have"
            f" {listing(some)}, X has {'no names' if names is None else listing(map(str, names))}"
        )
    inside = {j for columns in kept.values() for j in columns}
    rest = [j for j in range(d) if j not in inside] if alone else []
    more = rest if names is None else [names[j] for j in rest]
    return [*kept, *more], [*kept.values(), *([j] for j in rest)]


def _columns(name: Any, genes: Sequence[Any], place: Mapping[Any, int], d: int) -> list[int]:
    """Return the columns of the genes of a set, each once; numbers are columns as they are."""
    found = {}
    for gene in genes:
        if isinstance(gene, int | np.integer):
            if not 0 <= gene < d:
                raise InvalidProblem(f"set '{name}' names feature {gene}; X has {d} of them")
            found[int(gene)] = True
        elif gene in place:
            found[place[gene]] = True
    return sorted(found)


class GeneSetRegressor(RegressorMixin, _GeneSets):  # type: ignore[misc]
    """Selects sets of genes, and predicts a number; see `_GeneSets`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> sets = {"cycle": [0, 1], "stress": [2, 3], "both": [1, 2]}
    >>> GeneSetRegressor(sets, tau=0.3).fit(X, X[:, 0] + X[:, 1]).chosen_
    ['cycle']
    """

    __doc__ = described(_GeneSets, "Regression on sets of genes", __doc__)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and y (n,), rows weighted by sample_weight (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self._fit(X, np.asarray(y, dtype=float)[:, None], shares(sample_weight, X))
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x), (m,)."""
        return self._values(X)[:, 0]


class GeneSetClassifier(ClassColumns, _GeneSets):
    """Selects sets of genes, and tells two or more classes apart; see `_GeneSets`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> sets = {"cycle": [0, 1], "stress": [2, 3], "both": [1, 2]}
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, "tumour", "normal")
    >>> GeneSetClassifier(sets, tau=0.4).fit(X, y).chosen_
    ['cycle']
    """

    __doc__ = described(
        _GeneSets,
        "Two or more classes by sets of genes, the one whose mean score is nearest",
        __doc__,
    )
