"""Probabilities of classes from the scores of rows that were left out."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, signature
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils.metaestimators import available_if

from genesig.optim.slope import slope

Array = np.ndarray[Any, Any]


def _asked_for(classifier: Any) -> bool:
    return classifier.calibration is not None


class CrossFitted(ClassifierMixin):  # type: ignore[misc]
    """A classifier that takes one setting more, `calibration`.

    Parameters
    ----------
    calibration : int, splitter or None
        Folds. With them there is `predict_proba`: ``p_k ~ exp(slope s_k)`` of the scores s of the
        classes (of two classes 0 and f), with the slope that fits best the scores which rows got
        while they were left out. It costs as many further fits as there are folds. As the slope
        moves no threshold, the most probable class is the predicted one; where the threshold is
        that of equally frequent classes, so are the probabilities. None makes none.

    Attributes
    ----------
    slope_ : float
        Only with `calibration`.

    Source: Platt 1999 with smoothed targets; Guo et al. 2017 for the slope alone.
    """

    calibration: Any
    classes_: Array

    def __init_subclass__(cls, **rest: Any) -> None:
        """Add the setting to those of each estimator, which regressors share without it."""
        super().__init_subclass__(**rest)
        if not issubclass(cls, BaseEstimator):
            return
        settings, known = cls.__init__, signature(cls.__init__)

        @wraps(settings)
        def __init__(self: Any, *given: Any, calibration: Any = None, **named: Any) -> None:
            settings(self, *given, **named)
            self.calibration = calibration

        more = Parameter("calibration", Parameter.KEYWORD_ONLY, default=None)
        said = known.replace(parameters=[*known.parameters.values(), more])
        __init__.__signature__ = said  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]

    def _calibrated(self, X: Any, y: Any, **weights: Any) -> Self:
        """Fit the slope, where it is asked for, to what `fit` was given."""
        if self.calibration is not None:
            plain = clone(self).set_params(calibration=None)
            left_out = cross_val_predict(
                plain, X, y, cv=self.calibration, method="decision_function", params=weights
            )  # fmt: skip
            place = np.searchsorted(self.classes_, np.asarray(y))
            self.slope_ = slope(_columns(left_out), place, weights.get("sample_weight"))
        return self

    @available_if(_asked_for)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, (m, K), columns as in ``classes_``."""
        scores = _columns(self.decision_function(X))  # which says when nothing is fitted yet
        return np.asarray(softmax(self.slope_ * scores, axis=1))


def _columns(scores: Array) -> Array:
    """Return a score for each class, (n, K)."""
    return np.stack([np.zeros(len(scores)), scores], axis=1) if scores.ndim == 1 else scores
