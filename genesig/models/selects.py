"""What an estimator that selects features offers beside its prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

Array = np.ndarray[Any, Any]


class Selects(SelectorMixin):  # type: ignore[misc]
    """The features of ``support_``: `transform` keeps them, `get_feature_names_out` names them.

    ``support_`` is a mask, (d,) bool; ``get_support(indices=True)`` gives their numbers, ascending.
    """

    support_: Array

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_


def mask_of(features: Array, d: int) -> Array:
    """Return the (d,) mask of numbered features."""
    mask = np.zeros(d, dtype=bool)
    mask[features] = True
    return mask
