"""Code shared by the estimators: checks, sample weights, classes, probabilities, selection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from genesig.arrays import Array
from genesig.optim.classes import shrunken_slope
from genesig.optim.nonlinear.problem import InvalidProblem
from genesig.optim.solution import Path


def shared_docstring(shared: type, summary: str, docstring: str | None) -> str:
    """Return the docstring of an estimator: shared parameters with its own summary and example.

    The docstring of `shared` begins with the word SUMMARY, which the summary replaces. `docstring`
    is the estimator's, of which only the section of examples is used.
    """
    _, title, example = (docstring or "").partition("Examples")
    return f"{(shared.__doc__ or '').replace('SUMMARY', summary)}\n    {title}{example}"


def checked_weights(sample_weight: Any, X: Array) -> Array | None:
    """Return sample_weight as an array (n,), or None without weights.

    Raises InvalidProblem, ValueError: for weights that are negative, not finite, 0 for all rows, or
    not as many as rows of X.
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    if not weights.any():
        raise InvalidProblem("sample_weight is 0 for all samples")
    return np.asarray(weights)


def mean_one_weights(sample_weight: Any, X: Array) -> Array | None:
    """Return `checked_weights` scaled to mean 1, so that weighted sums stay sums over n rows."""
    weights = checked_weights(sample_weight, X)
    return None if weights is None else np.asarray(weights * len(weights) / weights.sum())


def root_weight_column(weights: Array | None, n: int) -> Array:
    """Return the square roots of the weights (n,) as a column (n, 1); ones without weights.

    Rows multiplied by it have the weights in their sum of squares.
    """
    return np.ones((n, 1)) if weights is None else np.sqrt(weights)[:, None]


def check_classes(y: Array, weights: Array | None) -> None:
    """Raise InvalidProblem if all samples of a class in y (n,) have weight 0."""
    if weights is not None and not np.bincount(np.unique(y, return_inverse=True)[1], weights).all():
        raise InvalidProblem("sample_weight is 0 for all samples of a class; leave it out")


def held_out_folds(
    splits: Iterable[tuple[Array, Array]], n: int, weights: Array | None
) -> list[Array]:
    """Return the held-out rows of each (training rows, held-out rows) of n rows.

    Raises InvalidProblem: if a fold trains on other rows than all that it does not hold out, as
    folds in the order of time do; and if all these have weight 0.
    """
    folds = []
    for training_rows, held_out in splits:
        other_rows = np.delete(np.arange(n), held_out)
        if not np.array_equal(np.unique(np.arange(n)[training_rows]), other_rows):
            raise InvalidProblem("each fold (cv) must train on all rows that it does not hold out")
        if weights is not None and not weights[other_rows].any():
            raise InvalidProblem(
                "sample_weight is 0 for all training samples of a fold; give other folds (cv)"
            )
        folds.append(held_out)
    return folds


def sample_weight_keywords(sample_weight: Any) -> dict[str, Any]:
    """Return ``{"sample_weight": ...}`` for further fits to the same rows; {} without weights."""
    return {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}


def check_numbers(
    estimator: BaseEstimator, *, positive: Sequence[str] = (), not_negative: Sequence[str] = ()
) -> None:
    """Raise InvalidProblem if a setting is infinite, not a number, or negative.

    positive: names of settings that must not be 0 either. not_negative: names of others.
    """
    for name in (*positive, *not_negative):
        value = getattr(estimator, name)
        if not (np.isfinite(value) and (value > 0 or (value == 0 and name in not_negative))):
            bound = "> 0" if name in positive else ">= 0"
            raise InvalidProblem(f"{name} must be a finite number {bound}, found {value!r}")


def check_training_data(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    consequence: str,
    *,
    y_numeric: bool = False,
) -> tuple[Array, Array, Array | None]:
    """Return checked X (n, d), y (n,) and weights (n,) or None.

    estimator: scikit-learn sets its attributes `n_features_in_` and `feature_names_in_`.
    consequence: end of the message about constant features: why they are of no use. y_numeric:
    whether y must be numbers.

    Raises InvalidProblem: for fewer than 3 samples of a weight above 0, missing values, features
    that are constant on these samples, and weights that `checked_weights` refuses.
    """
    try:
        X, y = validate_data(
            estimator, X, y, dtype=np.float64, ensure_min_samples=3, y_numeric=y_numeric
        )
        y = y.astype(float) if y_numeric else y  # scikit-learn leaves an array of texts
        weights = checked_weights(sample_weight, X)
    except ValueError as error:
        raise InvalidProblem(str(error)) from error
    weighted_rows = X if weights is None else X[weights > 0]
    if len(weighted_rows) < 3:
        raise InvalidProblem(
            f"sample_weight is above 0 for {len(weighted_rows)} samples; 3 are needed"
        )
    constant_features = np.flatnonzero(np.ptp(weighted_rows, axis=0) == 0)
    if len(constant_features):
        raise InvalidProblem(
            f"{len(constant_features)} of {X.shape[1]} features are constant, the first is number"
            f" {constant_features[0]}; remove them: {consequence}"
        )
    return X, y, weights


def _has_calibration(classifier: Any) -> bool:
    """Return whether a classifier has probabilities, and so the method `predict_proba`."""
    return classifier.calibration is not None


class CrossFitted(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose probabilities come from scores of held-out rows.

    Its ``__init__`` has the parameters of the regressor, and `calibration`.

    Parameters
    ----------
    calibration : int, splitter or None
        Folds for `predict_proba`: ``p_k ~ exp(slope s_k)`` of the scores s of the classes (for two
        classes 0 and f), with the slope that best fits the scores of held-out rows, shrunken by
        its variance. It takes one more fit for each fold. As the slope moves no threshold, the
        most probable class is the predicted one. If the threshold is for equally frequent classes,
        so are the probabilities.
        None: no probabilities.

    Attributes
    ----------
    slope_ : float
        Slope of the probabilities; only with `calibration`.

    Source: Platt 1999 with smoothed targets; Guo et al. 2017 for the slope alone.
    """

    calibration: Any
    classes_: Array

    def _calibrated(self, X: Any, y: Any, *, groups: Any = None, **weights: Any) -> Self:
        """Set `slope_` by held-out scores of X and y, if `calibration` is set; return self.

        groups (n,) of the rows go to the folds of `calibration` and to the fits inside them; the
        slope is shrunken by its variance over groups.
        """
        if self.calibration is not None:
            uncalibrated = clone(self).set_params(calibration=None)
            is_routed = get_config()["enable_metadata_routing"]
            held_out_scores = cross_val_predict(
                uncalibrated,
                X,
                y,
                cv=self.calibration,
                groups=None if is_routed else groups,
                method="decision_function",
                params=weights if groups is None else {**weights, "groups": groups},
            )
            class_index = np.searchsorted(self.classes_, np.asarray(y))
            self.slope_ = shrunken_slope(
                _score_columns(held_out_scores), class_index, weights.get("sample_weight"), groups
            )
        return self

    @available_if(_has_calibration)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, (m, K), columns as in ``classes_``."""
        scores = _score_columns(self.decision_function(X))  # which says when nothing is fitted yet
        return np.asarray(softmax(self.slope_ * scores, axis=1))


def _score_columns(scores: Array) -> Array:
    """Return a score for each class (n, K); those of two classes, f (n,), become 0 and f."""
    return np.stack([np.zeros(len(scores)), scores], axis=1) if scores.ndim == 1 else scores


class TwoClasses(ClassifierMixin):  # type: ignore[misc]
    """A classifier of two classes by the sign of its ``decision_function``, f fitted to ±1."""

    classes_: Array

    def __sklearn_tags__(self) -> Any:
        """Return the tags of a classifier of two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _coded(self, y: Array) -> Array:
        """Set `classes_`, ascending, and return y as -1 and +1.

        Raises InvalidProblem: for more than two classes, or a single one.
        """
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        n_classes = len(self.classes_)
        if n_classes > 2:
            raise InvalidProblem(
                f"Only binary classification is supported; y has {n_classes} classes"
            )
        if n_classes < 2:  # scikit-learn's own checks look for these words
            raise InvalidProblem("y has only one class; two are needed")
        return np.where(y == self.classes_[1], 1.0, -1.0)

    def predict(self, X: Any) -> Array:
        """Return the class of each row of X, (n,)."""
        scores = self.decision_function(X)  # first, because it says when nothing is fitted yet
        return np.asarray(self.classes_[(scores > 0).astype(int)])


class ScoreEstimator:
    """Base of a regressor and a classifier that fit the same f: to numbers, or to classes ±1."""

    # (sample_weight, X) to weights (n,) or None: `checked_weights` or `mean_one_weights`
    _row_weights: Callable[[Any, Array], Array | None]
    # (X, y, weights) fits f to a real response y (n,)
    _fit: Callable[..., None]
    # X to f(x) of its rows, (n,)
    _score: Callable[..., Array]


class NumberRegressor(ScoreEstimator, RegressorMixin):  # type: ignore[misc]
    """A regressor that predicts f(x)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and a real response y (n,), rows weighted by sample_weight (n,)."""
        return self._fit_checked(X, y, sample_weight)

    def _fit_checked(self, X: Any, y: Any, sample_weight: Any, **fold_settings: Any) -> Self:
        """Check the arguments, pass them and the settings of the folds to ``_fit``; return self."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        weights = self._row_weights(sample_weight, X)
        self._fit(X, np.asarray(y, dtype=float), weights, **fold_settings)
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x) of each row of X, (n,)."""
        return self._score(X)


class SignClassifier(ScoreEstimator, TwoClasses, CrossFitted):
    """A classifier by the sign of f; its probabilities come from scores of held-out rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, d) and the classes y (n,) of its rows, weighted by sample_weight (n,)."""
        return self._fit_checked(X, y, sample_weight)

    def _fit_checked(
        self, X: Any, y: Any, sample_weight: Any, *, groups: Any = None, **fold_settings: Any
    ) -> Self:
        """Check the arguments, pass them to ``_fit`` with the settings of the folds, and calibrate.

        groups (n,) of the rows go to the folds of `calibration`.
        """
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        weights = self._row_weights(sample_weight, rows)
        check_classes(labels, weights)
        self._fit(rows, self._coded(labels), weights, **fold_settings)
        return self._calibrated(X, labels, groups=groups, **sample_weight_keywords(sample_weight))

    def decision_function(self, X: Any) -> Array:
        """Return f(x) of each row of X, (n,); above 0 is the second class."""
        return self._score(X)


class FoldRouting:
    """An estimator that chooses settings by the folds of `cv`, to which `fit` passes parameters."""

    cv: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which parameters of `fit` go to the folds, with scikit-learn's routing enabled."""
        splitter = check_cv(self.cv, classifier=is_classifier(self))
        mapping = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=splitter, method_mapping=mapping)

    def _split_parameters(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of `fit` that the folds get, as in scikit-learn's `GridSearchCV`.

        Without metadata routing that is `groups` only.
        """
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **parameters).splitter.split)
        for name in parameters.keys() - {"groups"}:
            raise TypeError(f"{type(self).__name__}.fit() got an unexpected argument {name!r}")
        return parameters


class FoldRegressor(FoldRouting, NumberRegressor):
    """A regressor that chooses settings by folds, to which `fit` passes groups of rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit to X (n, d) and a real response y (n,), rows weighted by sample_weight (n,).

        ``groups`` (n,) goes to the folds: set `cv` to a splitter that keeps groups together.
        """
        return self._fit_checked(
            X, y, sample_weight, split_parameters=self._split_parameters(params)
        )


class FoldClassifier(FoldRouting, SignClassifier):
    """A classifier that chooses settings by folds, to which `fit` passes groups of rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit to X (n, d) and the classes y (n,) of its rows, weighted by sample_weight (n,).

        ``groups`` (n,) goes to the folds of `cv` and `calibration`: set these to splitters that
        keep groups together. Probabilities are shrunken by the variance over groups.
        """
        return self._fit_checked(
            X,
            y,
            sample_weight,
            groups=params.get("groups"),
            split_parameters=self._split_parameters(params),
        )


class FeatureSelector(SelectorMixin):  # type: ignore[misc]
    """A selector of features: `transform` keeps them, `get_feature_names_out` names them."""

    support_: Array  # (d,) bool; `get_support(indices=True)` returns their numbers, ascending

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_


class LinearSelector(FeatureSelector):
    """Selection by a linear model, whose coefficients score the rows."""

    coef_: Array
    intercept_: float

    def _set_model(self, fits: Path, coefs: Array, intercept: Array, d: int) -> None:
        """Set the fitted attributes from a path of one fit to d features, and its refit.

        coefs are those of the selected features; intercept is (1, 1).
        """
        self.support_ = feature_mask(fits.indices, d)
        self.coef_ = np.zeros(d)
        self.coef_[fits.indices] = coefs
        self.intercept_ = float(intercept[0, 0])
        self.gap_ = float(fits.gap[0, 0])
        self.n_iter_ = int(fits.iterations[0, 0])

    def _linear_score(self, X: Array) -> Array:
        """Return intercept + x'b of each row of X, (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.intercept_ + X @ self.coef_)


def feature_mask(features: Array, d: int) -> Array:
    """Return the mask (d,) bool of the features with these numbers."""
    mask = np.zeros(d, dtype=bool)
    mask[features] = True
    return mask
