"""The Feature Vector Machine's selection: grafting in the mutual information between ranks.

Source: Li, Yang and Xing (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.grafting import Grafted, graft
from genesig.optim.mutual_information import mutual_information, rank_bins

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class FeatureVectors:
    """What was selected, and the bins that it was selected in.

    Attributes
    ----------
    codes, response : (n, d), (n,) int
        Bins of the features and of the response.
    information : (d,)
        Of each feature with the response, in nats.
    found : Grafted
    """

    codes: Array
    response: Array
    information: Array
    found: Grafted


def select_feature_vectors(
    X: Array, y: Array, *, n_features: int | None, bins: int, lam: float = 0.5,
    nonnegative: bool = False, tolerance: float = 1e-6, weights: Array | None = None,
) -> FeatureVectors:  # fmt: skip
    """Bin, and graft; the settings are those of `FeatureVectorMachine`.

    Parameters
    ----------
    X, y : (n, d), (n,)
    weights : (n,), optional
        Of the samples, above 0 and of mean 1.
    """
    codes, response = rank_bins(X, bins, weights), response_bins(y, bins, weights)
    information = mutual_information(codes, response[:, None], bins, weights)[:, 0]

    def column(feature: int) -> Array:
        return mutual_information(codes, codes[:, [feature]], bins, weights)[:, 0]

    found = graft(
        column, information, lam=lam * 2 * float(information.max()), n_features=n_features,
        nonnegative=nonnegative, tolerance=tolerance,
    )  # fmt: skip
    return FeatureVectors(codes, response, information, found)


def response_bins(y: Array, bins: int, weights: Array | None = None) -> Array:
    """Return the response's bins: its values where there are few, its ranks otherwise."""
    values, codes = np.unique(y, return_inverse=True)
    return codes if len(values) <= bins else rank_bins(y[:, None], bins, weights)[:, 0]
