"""Weights with which blocks of every size and correlation are as likely to come in by chance.

A block comes in if its norm ``||A_k'y||``, over its weight, is about the largest of all blocks.
Its weight depends on the tail of that norm at the level that the largest reaches by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.structured.columns import Blocks, membership

RESPONSES_PER_CHUNK = 50  # responses at once: memory holds d times as many numbers
NUMBERS_PER_GROUP = 100_000  # numbers of the blocks whose Gram matrices are made together
MAX_SIZE_RATIO = 1.25  # largest of their sizes over the smallest; zeros pad the others

WINNER_SHARE = 0.96
"""A block counts as a winner from this share of the largest norm on.

With 1, all kinds of blocks come first equally often, but large uncorrelated ones are listed too
often in noise: many of them lie just below the largest. With 0.9 it is the other way round. No
weight makes both equal.
"""
NEWTON_STEPS = 2  # number of Newton steps, each with the largest norms under the weights before
MAX_LOG_STEP = 0.1  # largest change of the logarithm of a weight in a step
MIN_VARIANCE = 1e-8  # of a squared norm with mean 1; less is the rounding of 24 bits
HURDLE_BIN_EDGES = (0.0, 0.02, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Quantiles of the largest norms between which each bin is represented by its mean."""


def equal_chance_weights(
    X: Array,
    Y: Array,
    Y_permuted: Array,
    members: Array,
    starts: Array,
    strata: Sequence[Array] | None = None,
) -> Array:
    """Return weights with which chance lets every block win equally often, (B,).

    sqrt(size) prefers correlated blocks, 1 prefers large ones, and a quantile of each norm is fair
    for one number of blocks only. With these weights each block reaches
    `WINNER_SHARE` times the largest norm with the same probability. A block without variance has
    a weight of 0.

    X (n, d), centred.
    Y (n, T).
    Y_permuted (n, P, T), centred: the response, permuted as the design allows; of several the norm
        is that of all together.
    members, starts (memberships,), (B + 1,) int arrays: as in `Blocks`.
    strata sequence of (n_units, unit_size) int arrays, optional: rows whose responses may change
        places, unit by unit; all rows without it.
    """
    blocks = Blocks(members, starts, np.ones(len(starts) - 1))
    rows, x_scale = single_precision(X.T[blocks.used_columns])
    responses, y_scale = single_precision(Y_permuted)
    strata = [np.arange(len(X))[:, None]] if strata is None else strata
    exchange = ExchangedResponses.from_strata(rows, Y / y_scale, strata)
    null = NullNorms.from_exchange(exchange, blocks)
    weights = np.zeros(len(blocks))
    varying = np.flatnonzero(null.mean > 0)
    if len(varying):
        norms = np.sqrt(squared_norms(rows, responses, blocks)[varying])
        weights[varying] = equal_chances(null.select(varying), norms)
    return weights * x_scale * y_scale


def equal_chances(null: NullNorms, norms: Array) -> Array:
    """Return weights (B,) from norms (B, P) over P permutations and their null distribution.

    Each weight solves P(||A_k'y|| >= w_k h) = c, by Newton steps in its logarithm. The hurdles h
    are `WINNER_SHARE` times the largest weighted norm of each permutation, and c is the mean
    chance.
    """
    weights = null.quantiles(min(1 / len(norms), 0.5))  # by chance one of B norms is larger
    for _ in range(NEWTON_STEPS):
        hurdles, shares = binned(WINNER_SHARE * np.max(norms / weights[:, None], axis=0))
        chance, slope = null.exceedance(weights[:, None] * hurdles, shares)
        step = np.log(chance / chance.mean()) * chance / slope
        weights *= np.exp(np.clip(step, -MAX_LOG_STEP, MAX_LOG_STEP))
    return weights


def binned(values: Array) -> tuple[Array, Array]:
    """Return the means of the bins (`HURDLE_BIN_EDGES`) of values (P,), and each bin's share."""
    edges = np.unique(np.round(np.array(HURDLE_BIN_EDGES) * len(values)).astype(int))
    sizes = np.diff(edges)
    return np.add.reduceat(np.sort(values), edges[:-1]) / sizes, sizes / len(values)


class ExchangedResponses(NamedTuple):
    """``||A'y||²`` of permuted y as ``||A_u'e + A_m||²``, with e of unit covariance."""

    rows: Array  # (d, n_units) A_u of all columns: sums over units, times the response's spread
    fixed: Array  # (d, T) A_m of all columns: X'E[Y] over the permutations
    dimensions: int  # number of dimensions in which e varies
    powers: Array  # (3,) traces of S, S² and S³, S (T, T) the responses' covariance over its trace

    @classmethod
    def from_strata(cls, columns: Array, Y: Array, strata: Sequence[Array]) -> ExchangedResponses:
        """Return the record for columns (d, n) and a response Y (n, T), permuted within strata.

        strata: as in `equal_chance_weights`. The rows of a unit are summed, because their responses
        move together.
        """
        fixed = np.zeros((len(columns), Y.shape[1]))
        covariance = np.zeros((Y.shape[1], Y.shape[1]))
        parts = []
        dimensions = 0
        for rows in strata:
            units = columns[:, rows].sum(axis=2)
            mean = Y[rows[:, 0]].mean(axis=0)
            scatter = (Y[rows[:, 0]] - mean).T @ (Y[rows[:, 0]] - mean)
            fixed += np.outer(units.sum(axis=1), mean)
            if len(rows) > 1 and np.trace(scatter) > 0:
                units -= units.mean(axis=1, keepdims=True)
                parts.append(units * np.sqrt(np.trace(scatter) / (len(rows) - 1)))
                covariance += scatter
                dimensions += len(rows) - 1
        eigenvalues = np.linalg.eigvalsh(covariance / (np.trace(covariance) or 1.0))
        powers = np.array([np.sum(eigenvalues**power) for power in (1, 2, 3)])
        varying = np.concatenate(parts, axis=1) if parts else np.zeros((len(columns), 1))
        return cls(varying.astype(np.float32), fixed, max(dimensions, 1), powers)


class NullNorms(NamedTuple):
    """Squared norms of blocks over exchanged responses: floor + width Beta(a, b), each (B,).

    The first three moments are those of a quadratic form of a uniform direction in n dimensions,
    and a + b = n/2: exact if the form has two different eigenvalues. For large n this is the
    shifted chi-square of Buckley and Eagleson (1988, Austral. J. Statist. 30A, 150-159).
    """

    mean: Array
    floor: Array
    width: Array
    a: Array
    b: Array

    @classmethod
    def from_exchange(cls, exchange: ExchangedResponses, blocks: Blocks) -> NullNorms:
        """Return the null distribution of all blocks, by its moments."""
        n = exchange.dimensions
        (_, power_2, power_3) = exchange.powers
        traces, shifts = gram_traces(exchange, blocks)
        mean = traces[0] + shifts[0]
        scale = np.where(mean > 0, mean, 1.0)
        first, second, third = traces / scale ** np.array([[1], [2], [3]])
        # Raw moments of a Gaussian vector, over those of its length, are those of its direction.
        raw_second = (first**2 + 2 * second) * n / (n + 2)
        raw_third = (first**3 + 6 * first * second + 8 * third) * n**2 / ((n + 2) * (n + 4))
        variance = power_2 * (raw_second - first**2) + shifts[1] / scale**2
        skew = power_3 * (raw_third - 3 * first * raw_second + 2 * first**3) + shifts[2] / scale**3
        variance = np.maximum(variance, MIN_VARIANCE)
        half = n / power_2 / 2  # a + b
        ratio = skew / variance**1.5 * (half + 2) / (2 * np.sqrt(half + 1))
        share = (1 - ratio / np.sqrt(4 + ratio**2)) / 2  # a / (a + b), from the skewness
        share = np.clip(share, min(0.5 / half, 0.5), max(1 - 0.5 / half, 0.5))
        width = scale * np.sqrt(variance * (half + 1) / (share * (1 - share)))
        return cls(mean, scale - width * share, width, half * share, half * (1 - share))

    def select(self, blocks: Array) -> NullNorms:
        """Return some blocks."""
        return NullNorms(*(values[blocks] for values in self))

    def quantiles(self, chance: float) -> Array:
        """Return the norms that chance exceeds with this probability, (B,)."""
        from scipy.special import betainccinv

        squares = self.floor + self.width * betainccinv(self.a, self.b, chance)
        return np.asarray(np.sqrt(squares))

    def exceedance(self, hurdles: Array, shares: Array) -> tuple[Array, Array]:
        """Return P = P(norm >= h), averaged over hurdles h, and -dP / d log h, each (B,).

        hurdles (B, H): the h of each block, with their shares (H,).
        """
        from scipy.special import betainc, betaln

        a = self.a[:, None]
        b = self.b[:, None]
        place = (hurdles**2 - self.floor[:, None]) / self.width[:, None]
        place = np.clip(place, 1e-9, 1 - 1e-9)
        log_density = (a - 1) * np.log(place) + (b - 1) * np.log1p(-place) - betaln(a, b)
        slope = np.exp(log_density) * 2 * hurdles**2 / self.width[:, None]
        chance = betainc(b, a, 1 - place) @ shares
        return np.maximum(chance, 1e-300), np.maximum(slope @ shares, 1e-300)


def gram_traces(exchange: ExchangedResponses, blocks: Blocks) -> tuple[Array, Array]:
    """Return traces of G, G² and G³, G = A_u A_u', and the shifts by A_m, (3, B) each.

    The shifts are added to the mean, the variance and the third central moment.
    """
    traces, shifts = np.zeros((2, 3, len(blocks)))
    rows = np.concatenate([exchange.rows, np.zeros_like(exchange.rows[:1])])  # the last one pads
    fixed = np.concatenate([exchange.fixed, np.zeros_like(exchange.fixed[:1])])
    is_shifted = bool(np.abs(fixed).max() > 1e-6 * np.abs(rows).max())
    for numbers, padded in blocks_by_size(blocks, rows.shape[1]):
        A = rows[padded]
        A_transposed = A.transpose(0, 2, 1)
        # The smaller of both, which have the same traces.
        gram = A @ A_transposed if A.shape[1] < A.shape[2] else A_transposed @ A
        traces[0, numbers] = np.einsum("kii->k", gram)
        traces[1, numbers] = np.einsum("kij,kij->k", gram, gram)
        traces[2, numbers] = np.einsum("kij,kij->k", gram @ gram, gram)
        if is_shifted:
            products = A_transposed @ fixed[padded]
            shifts[0, numbers] = np.square(fixed[padded]).sum(axis=(1, 2))
            shifts[1, numbers] = 4 * np.square(products).sum(axis=(1, 2)) * exchange.powers[1]
            shifts[2, numbers] = 24 * np.square(A @ products).sum(axis=(1, 2)) * exchange.powers[2]
    return traces, shifts


def blocks_by_size(blocks: Blocks, n: int) -> Iterator[tuple[Array, Array]]:
    """Yield numbers of blocks of about one size, and their columns (blocks, size), padded by -1."""
    sizes = blocks.sizes()
    order = np.argsort(sizes, kind="stable")
    first = 0
    while first < len(order):
        smallest = sizes[order[first]]
        number = max(1, NUMBERS_PER_GROUP // (n * smallest))
        numbers = order[first : first + number]
        numbers = numbers[sizes[numbers] <= MAX_SIZE_RATIO * smallest]
        offset = np.arange(sizes[numbers[-1]])
        is_member = offset < sizes[numbers][:, None]
        membership_number = np.where(is_member, blocks.starts[numbers][:, None] + offset, 0)
        yield numbers, np.where(is_member, blocks.member_positions[membership_number], -1)
        first += len(numbers)


def squared_norms(rows: Array, responses: Array, blocks: Blocks) -> Array:
    """Return ``||A_k'y||²`` of columns (d, n) and responses (n, P, T), (B, P)."""
    sums = membership(blocks, np.float32)
    n, n_permutations = responses.shape[:2]
    squares = np.empty((len(blocks), n_permutations), dtype=np.float32)
    for start in range(0, n_permutations, RESPONSES_PER_CHUNK):
        part = responses[:, start : start + RESPONSES_PER_CHUNK]
        products = rows @ part.reshape(n, -1)
        products *= products
        of_column = products.reshape(len(rows), *part.shape[1:]).sum(axis=2)
        squares[:, start : start + RESPONSES_PER_CHUNK] = sums @ of_column
    return squares


def single_precision(array: Array) -> tuple[Array, float]:
    """Return an array in single precision, at most 1, and the divisor.

    Enough for a probability, in half the time and whatever the units.
    """
    scale = float(np.abs(array).max(initial=0)) or 1.0
    return np.ascontiguousarray(array / scale, dtype=np.float32), scale
