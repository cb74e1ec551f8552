"""Selection of gene sets, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from genesig.arrays import Array
from genesig.errors import pick
from genesig.models.estimator import mean_one_weights, root_weight_column, shared_docstring
from genesig.models.structured import ClassColumns, FeatureScale, LinearBlocks
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.structured.columns import Blocks
from genesig.optim.structured.path import block_path
from genesig.optim.structured.solvers import LatentOverlap
from genesig.optim.structured.weights import equal_chance_weights
from genesig.words import listing

GeneSetLists = Mapping[str, Sequence[str]] | Mapping[str, Sequence[int]] | Sequence[Sequence[int]]

N_WEIGHT_PERMUTATIONS = 200  # permuted responses from which weights of sets are computed


def _permutation_weights(Z: Array, Y: Array, blocks: Blocks, random_state: Any) -> Array:
    """Return the weight of each set (B,) by permuted responses, see `weights` of `_GeneSets`.

    Z (n, d) are the features, Y (n, T) the responses, blocks the columns of each set.
    """
    rng = check_random_state(random_state)
    permutations = np.stack([rng.permutation(len(Y)) for _ in range(N_WEIGHT_PERMUTATIONS)], axis=1)
    weights = equal_chance_weights(Z, Y, Y[permutations], blocks.members, blocks.starts)
    return np.where(weights > 0, weights, 1.0)  # 0 if all genes of the set are constant


def _size_weights(Z: Array, Y: Array, blocks: Blocks, random_state: Any) -> Array:
    """Return the square root of the size of each set, (B,)."""
    return np.sqrt(blocks.sizes())


def _equal_weights(Z: Array, Y: Array, blocks: Blocks, random_state: Any) -> Array:
    """Return 1 for each set, (B,)."""
    return np.ones(len(blocks))


WEIGHT_FUNCTIONS = {  # all with the arguments of `_permutation_weights`
    "permuted": _permutation_weights,
    "size": _size_weights,
    "equal": _equal_weights,
}


class _GeneSets(LinearBlocks):
    """SUMMARY.

        min (1/n)||y - sum_k Z_k v_k||² + mu sum_k ||v_k||² + tau sum_k w_k ||v_k||

    over centred, scaled features Z, Z_k those of set k. Sets may overlap: the selected genes are a
    union of sets, and the coefficient of a gene is the sum over its sets (latent overlap).

    Parameters
    ----------
    sets : dict of name -> genes, or list of lists of feature numbers, optional
        Genes are feature numbers or, if X is a table, names of its columns. Genes that X lacks are
        left out, and so are sets without a gene in X. None makes each feature a set.
    weights : {"permuted", "size", "equal"}
        w_k. permuted: under permuted y each ||Z_k'y|| / w_k is about equally likely to be the
        largest. size: the square root of the size, which prefers correlated sets. equal: 1, which
        prefers large sets.
    alone : bool
        Make a set of each feature that is in no set; otherwise such features are left out.
    tau : float
        Fraction of the smallest tau that selects nothing.
    mu : float
        Weight of the squared norm, in units of ||Z'Z||/n.
    unit_variance : bool
        Divide each feature by its standard deviation.
    tolerance : float
        Largest duality gap relative to ||y||²/n; a larger one is warned of.
    random_state : int, RandomState or None
        Of the permuted responses. The weight of a sample stays with its genes.

    Attributes
    ----------
    sets_ : list of names or numbers
        All sets, in the order of `norms_` and `weights_`; a set of one feature has its name.
    chosen_ : list
        Names of the selected sets, that with the largest share first.
    norms_, weights_, shares_ : (B,)
        ||v_k||, w_k, and the standard deviation ||Z_k v_k||/sqrt(n) of the set's scores.
    coef_, intercept_ : (d,) or (T, d), float or (T,)
        In the units of X.
    support_ : (d,) bool array
        Features with a coefficient.
    blocks_ : int array
        Numbers of the selected sets, ascending.
    tau_, gap_, n_iter_ : float, float, int

    Raises
    ------
    InvalidProblem
        If no set has a gene in X, or a feature number is out of range.

    References
    ----------
    Jacob, Obozinski, Vert 2009; Mosci 2009, section 5.4.
    """

    def __init__(
        self,
        sets: GeneSetLists | None = None,
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

    def _fit(self, X: Array, Y: Array, sample_weights: Array | None) -> None:
        """Set the fitted attributes from X (n, d), Y (n, T) and weights (n,) of mean 1 or None."""
        # Permutations must not give the response of a row of weight 0 to another row.
        if sample_weights is not None:
            X = X[sample_weights > 0]
            Y = Y[sample_weights > 0]
            sample_weights = sample_weights[sample_weights > 0] * (
                np.sum(sample_weights > 0) / sample_weights.sum()
            )
        names = getattr(self, "feature_names_in_", None)
        self.sets_, columns = resolve_sets(self.sets, names, X.shape[1], alone=self.alone)
        scale = FeatureScale.from_rows(X, unit_variance=self.unit_variance, weights=sample_weights)
        centre = np.average(Y, axis=0, weights=sample_weights)
        root_weights = root_weight_column(sample_weights, len(X))
        Z = root_weights * scale.apply(X)
        centred_response = Y - centre
        sets_without_weights = Blocks.from_lists(columns, np.ones(len(columns)))
        weight_function = pick("weights", WEIGHT_FUNCTIONS, self.weights)
        # Permuted responses have no weights, so that the rows get theirs twice.
        self.weights_ = weight_function(
            root_weights * Z, centred_response, sets_without_weights, self.random_state
        )
        centred_response = root_weights * centred_response
        blocks = Blocks(sets_without_weights.members, sets_without_weights.starts, self.weights_)
        tau, mu = self._absolute_levels(Z, centred_response, LatentOverlap(blocks))
        path = block_path(Z, centred_response, blocks, tau, mu, tolerance=self.tolerance)
        self._set_fit(path, scale, centre)
        set_scores = [Z[:, columns[k]] @ path.piece(0, k) for k in self.blocks_]
        self.shares_ = np.zeros(len(columns))
        self.shares_[self.blocks_] = [
            np.linalg.norm(scores) / np.sqrt(len(Z)) for scores in set_scores
        ]
        largest = self.blocks_[np.argsort(-self.shares_[self.blocks_], kind="stable")]
        self.chosen_ = [self.sets_[k] for k in largest]


def resolve_sets(
    sets: GeneSetLists | None, names: Array | None, n_features: int, *, alone: bool
) -> tuple[list[Any], list[list[int]]]:
    """Return the names of the sets and their columns, without genes and sets that X lacks.

    sets: as in `GeneSetRegressor`. names (d,): of the features, or None. alone: whether each
    feature that is in no set becomes a set.
    """
    feature_names = list(range(n_features)) if names is None else list(names)
    if sets is None:
        return feature_names, [[column] for column in range(n_features)]
    column_of_name = {} if names is None else {name: column for column, name in enumerate(names)}
    genes_by_set = sets.items() if isinstance(sets, Mapping) else enumerate(sets)
    columns_by_set = {
        name: _columns_of_set(name, genes, column_of_name, n_features)
        for name, genes in genes_by_set
    }
    nonempty_sets = {name: columns for name, columns in columns_by_set.items() if columns}
    if not nonempty_sets:
        set_genes = [str(gene) for genes in dict(genes_by_set).values() for gene in genes]
        raise InvalidProblem(
            f"no gene of the {len(columns_by_set)} sets is a feature of X: the sets have"
            f" {listing(set_genes)}, X has "
            f"{'no names' if names is None else listing(map(str, names))}"
        )
    in_a_set = {column for columns in nonempty_sets.values() for column in columns}
    lone_columns = [column for column in range(n_features) if alone and column not in in_a_set]
    set_names = [*nonempty_sets, *(feature_names[column] for column in lone_columns)]
    return set_names, [*nonempty_sets.values(), *([column] for column in lone_columns)]


def _columns_of_set(
    name: Any, genes: Sequence[Any], column_of_name: Mapping[Any, int], n_features: int
) -> list[int]:
    """Return the ascending, distinct columns of the genes of a set.

    Genes are names or column numbers; names that X lacks are left out.
    """
    columns = set()
    for gene in genes:
        if isinstance(gene, int | np.integer):
            if not 0 <= gene < n_features:
                raise InvalidProblem(
                    f"set '{name}' names feature {gene}; X has {n_features} of them"
                )
            columns.add(int(gene))
        elif gene in column_of_name:
            columns.add(column_of_name[gene])
    return sorted(columns)


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

    __doc__ = shared_docstring(_GeneSets, "Regression on sets of genes", __doc__)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and y (n,), rows weighted by sample_weight (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self._fit(X, np.asarray(y, dtype=float)[:, None], mean_one_weights(sample_weight, X))
        self.coef_ = self.coef_[0]
        self.intercept_ = float(self.intercept_[0])
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

    __doc__ = shared_docstring(
        _GeneSets,
        "Two or more classes by sets of genes, the one whose mean score is nearest",
        __doc__,
    )

    def __init__(
        self,
        sets: GeneSetLists | None = None,
        *,
        weights: str = "permuted",
        alone: bool = False,
        tau: float = 0.1,
        mu: float = 1e-3,
        unit_variance: bool = True,
        tolerance: float = 1e-9,
        random_state: Any = 0,
        calibration: Any = None,
    ) -> None:
        super().__init__(
            sets=sets,
            weights=weights,
            alone=alone,
            tau=tau,
            mu=mu,
            unit_variance=unit_variance,
            tolerance=tolerance,
            random_state=random_state,
        )
        self.calibration = calibration
