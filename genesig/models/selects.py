"""What an estimator that selects features offers beside its prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

Array = np.ndarray[Any, Any]


class Selects(SelectorMixin):  # type: ignore[misc]
    """The features of ``support_``: `transform` keeps them, `get_feature_names_out` names them."""

    support_: Array
    n_features_in_: int

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask
