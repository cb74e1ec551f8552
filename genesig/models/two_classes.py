"""Two classes as -1 and +1, told apart by the sign of a real function."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from genesig.models.probabilities import CrossFitted
from genesig.optim.nonlinear.checks import InvalidProblem

Array = np.ndarray[Any, Any]


class TwoClasses(ClassifierMixin):  # type: ignore[misc]
    """A classifier of two classes by the sign of its ``decision_function``, f fitted to ±1."""

    classes_: Array

    def __sklearn_tags__(self) -> Any:
        """Say that there are two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _coded(self, y: Array) -> Array:
        """Keep the two classes, ascending, and return y as -1 and +1.

        Raises
        ------
        ValueError
            There are more than two, or one only.
        """
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        found = len(self.classes_)
        if found > 2:
            raise InvalidProblem(f"Only binary classification is supported; y has {found} classes")
        if found < 2:  # scikit-learn's own checks look for these words
            raise InvalidProblem("y has only one class; two are needed")
        return np.where(y == self.classes_[1], 1.0, -1.0)

    def predict(self, X: Any) -> Array:
        """Return the class of each row of X, (n,)."""
        scores = self.decision_function(X)  # first, because it says when nothing is fitted yet
        return np.asarray(self.classes_[(scores > 0).astype(int)])


class SignClassifier(TwoClasses, CrossFitted):
    """One whose f is no probability: that is made of scores of left-out rows."""
