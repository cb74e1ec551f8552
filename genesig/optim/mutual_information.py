"""Mutual information between features by their ranks, all columns from one matrix product.

    MI(p, q) = Σ_bc P(b, c) log(P(b, c) / (P(b) P(c)))   in nats

with the values of each feature cut by rank into bins of m = ceil(N/B), the last one smaller, ties
in the order of the rows. Every feature then has the same bins, so that MI(p, p) = log B where B
divides N. Weighted rows fill bins of the same size by their weights, of mean 1: each is in the bin
where its middle falls.

The plug-in estimate is biased: independent features have about (B - 1)²/2N (0.081 nats at N = 500
and B = 10), an offset of the whole matrix.

Source: Li, Yang and Xing (2006), section 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

BLOCK = 512
"""Features at a time: their table of counts has BLOCK · B · |columns| · B entries."""


def rank_bins(X: Array, bins: int, weights: Array | None = None) -> Array:
    """Return the bin 0..B-1 of each value by its rank in its column, (N, d)."""
    size = -(-len(X) // bins)
    order, codes = np.argsort(X, axis=0, kind="stable"), np.empty(X.shape, dtype=np.int64)
    if weights is None:
        place = np.arange(len(X))[:, None] // size
    else:
        v = weights[order]
        place = np.minimum((np.cumsum(v, axis=0) - v / 2) // size, bins - 1).astype(np.int64)
    np.put_along_axis(codes, order, place, axis=0)
    return codes


def indicators(codes: Array, bins: int) -> Array:
    """Return the 0/1 matrix (N, d B) of which bin each value is in."""
    out: Array = (codes[:, :, None] == np.arange(bins)).reshape(len(codes), -1).astype(float)
    return out


def mutual_information(
    codes: Array, columns: Array, bins: int, weights: Array | None = None
) -> Array:
    """Return MI of all features against some, (d, k), in 2 N d B² k flops.

    Parameters
    ----------
    codes, columns : (N, d), (N, k)
        Bins of the features.
    bins : int
        B.
    weights : (N,), optional
        Of the samples.
    """
    right = indicators(columns, bins)
    out = np.empty((codes.shape[1], columns.shape[1]))
    for first in range(0, codes.shape[1], BLOCK):
        left = indicators(codes[:, first : first + BLOCK], bins)
        out[first : first + BLOCK] = _from_counts(left, right, bins, weights)
    return out


def _from_counts(left: Array, right: Array, bins: int, weights: Array | None) -> Array:
    total = len(left) if weights is None else weights.sum()
    counted = right if weights is None else weights[:, None] * right
    joint = (left.T @ counted / total).reshape(-1, bins, right.shape[1] // bins, bins)
    marginal = np.average(left, axis=0, weights=weights).reshape(-1, bins)
    other = np.average(right, axis=0, weights=weights).reshape(-1, bins)

    def entropy(p: Array, axes: tuple[int, ...]) -> Array:
        return np.asarray(-np.sum(p * np.log(np.where(p > 0, p, 1)), axis=axes))

    found = entropy(marginal, (1,))[:, None] + entropy(other, (1,)) - entropy(joint, (1, 3))
    return np.asarray(np.maximum(found, 0))


def pointwise_information(codes: Array, y: Array, bins: int, weights: Array | None = None) -> Array:
    """log(P(b, c) / (P(b) P(c))) of response bin b and feature bin c, (d, B, B).

    One count is added to every cell, as one new sample would.
    """
    response = indicators(y[:, None], bins) * (1.0 if weights is None else weights[:, None])
    joint = (indicators(codes, bins).T @ response).reshape(-1, bins, bins).transpose(0, 2, 1) + 1.0
    joint /= joint.sum(axis=(1, 2), keepdims=True)
    product = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    return np.asarray(np.log(joint / product))
