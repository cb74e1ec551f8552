"""Principal components from the inner products of the samples: n × n, however many genes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.sample_wise import inverse_scale

_BLOCK = 4096
# Squares of singular values below this share of the largest are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Components:
    """The leading components of centred data Z = U S V'.

    Attributes
    ----------
    directions : (n, k) float
        U; the largest entry of each column is positive.
    size : (k,) float, falling
        S; 0 for components that the data do not have.
    explained : (k,) float
        Their shares of the variance.
    """

    directions: Array
    size: Array
    explained: Array

    @property
    def points(self) -> Array:
        """Return (n, k): the samples on the components, U S."""
        return np.asarray(self.directions * self.size)


def principal_components(products: Array, most: int) -> Components:
    """Return the first components, at most `most`, of data with these inner products.

    Parameters
    ----------
    products : (n, n) float
        Z Z', of data whose columns are centred.
    """
    count = min(most, len(products))
    squares, vectors = np.linalg.eigh(products)
    squares, vectors = squares[::-1], vectors[:, ::-1][:, :count]
    squares = np.where(squares > _ROUNDING * max(squares[0], 0), squares, 0)
    largest = np.abs(vectors).argmax(axis=0)
    sign = np.where(vectors[largest, np.arange(count)] < 0, -1.0, 1.0)
    share = squares / squares.sum() if squares[0] > 0 else squares
    return Components(vectors * sign, np.sqrt(squares[:count]), share[:count])


def standardised_products(X: Array, *, unit_variance: bool) -> Array:
    """Return Z Z' (n, n), Z the columns of `X` centred and, if asked for, scaled.

    A missing value counts as the mean of its gene. `X` is taken in blocks, so that no second
    matrix of its size is made.
    """
    products = np.zeros((len(X), len(X)))
    for start in range(0, X.shape[1], _BLOCK):
        block = X[:, start : start + _BLOCK]
        missing = np.isnan(block)
        if missing.any():
            there = np.maximum((~missing).sum(axis=0), 1)
            mean = np.where(missing, 0, block).sum(axis=0) / there
            block = np.where(missing, mean, block)
        Z = block - block.mean(axis=0)
        if unit_variance:
            Z = Z * inverse_scale(block, axis=0)
        products += Z @ Z.T
    return products
