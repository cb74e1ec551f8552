"""From probes to probe sets by median polish, with the probe effects kept for new arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.data.steps.gene_sets import by_size, numbered
from genesig.errors import GenesigError

Array = np.ndarray[Any, Any]

ITERATIONS = 10
TOLERANCE = 0.01
CELLS = 2**21  # polished together, so that the memory does not grow with the study


@dataclass(frozen=True, eq=False)
class MedianPolish:
    """``median over the probes i of a set of (log2 x_i - effect_i)``.

    The effects are those of Tukey's median polish of the training arrays, probes × arrays, set
    by set. For the training arrays themselves this is their polished value up to the polish's
    own tolerance (see `median_polish`), and for a new array it needs no other one.

    Attributes
    ----------
    effects : (n_probes,) float
        log2 units; the median over a set is 0.
    sets : (n_probes,) int
        Number of each probe's set.

    Notes
    -----
    R. A. Irizarry et al. (2003), Nucleic Acids Res. 31:e15. Stored effects for single arrays:
    D. Kostka and R. Spang (2008), PLoS Comput. Biol. 4:e22.
    """

    effects: Array
    sets: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    @property
    def genes(self) -> Array:
        """The first probe of each set, whose name the set has."""
        return np.unique(self.sets, return_index=True)[1]

    @classmethod
    def fit(cls, X: Array, *, by: Sequence[str] | None) -> MedianPolish:
        """Polish intensities, not logged; `by` names each column's set, None: each its own."""
        sets = numbered("median_polish", by, X.shape[1])
        return cls(median_polish(_log2(X), sets)[1], sets)

    def transform(self, X: Array) -> Array:
        """Take the effects off, and the median of each set."""
        residual = _log2(X) - self.effects
        summary = np.empty((len(X), int(self.sets.max(initial=-1)) + 1))
        for numbers, columns in by_size(self.sets):
            summary[:, numbers] = _median(residual[:, columns], axis=2)
        return summary


def median_polish(Y: Array, sets: Array) -> tuple[Array, Array]:
    """Polish each probe set: ``y = value of the array + effect of the probe + residual``.

    Medians of probes and of arrays are taken off in turn, at most ten times or until the sum of
    the absolute residuals changes by less than 1 %.

    Parameters
    ----------
    Y : (n_arrays, n_probes) float, log2 units
    sets : (n_probes,) int

    Returns
    -------
    values : (n_arrays, n_sets) float
    effects : (n_probes,) float

    Notes
    -----
    J. W. Tukey (1977), Exploratory Data Analysis, chapter 11; steps and stopping as in affy.
    """
    values = np.empty((len(Y), int(sets.max(initial=-1)) + 1))
    effects = np.empty(Y.shape[1])
    for numbers, columns in by_size(sets):
        most = max(1, CELLS // (len(Y) * columns.shape[1]))
        for start in range(0, len(numbers), most):
            chunk = columns[start : start + most]
            tables = np.moveaxis(Y[:, chunk], 0, -1).copy()
            polished, effects[chunk] = _polish(tables)
            values[:, numbers[start : start + most]] = polished.T
    return values, effects


def _polish(tables: Array) -> tuple[Array, Array]:
    """Polish tables (n_sets, n_probes, n_arrays), which are used up."""
    total, probes, arrays = (np.zeros(tables.shape[:1] + s) for s in ((), *_margins(tables)))
    before, active = np.zeros(len(tables)), np.arange(len(tables))
    for _ in range(ITERATIONS):
        rows = _median(tables, axis=2)
        tables -= rows[:, :, None]
        probes[active] += rows
        _recentre(total, arrays, active)
        columns = _median(tables, axis=1)
        tables -= columns[:, None, :]
        arrays[active] += columns
        _recentre(total, probes, active)
        after = np.abs(tables).sum(axis=(1, 2))
        change = np.divide(before, after, out=np.ones_like(after), where=after > 0)
        going = np.abs(1 - change) >= TOLERANCE
        active, tables, before = active[going], tables[going], after[going]
        if not len(active):
            break
    return total[:, None] + arrays, probes


def _margins(tables: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tables.shape[1:2], tables.shape[2:]


def _recentre(total: Array, part: Array, active: Array) -> None:
    """Move the median of an effect to the total."""
    shift = _median(part[active], axis=1)
    part[active] -= shift[:, None]
    total[active] += shift


def _median(values: Array, axis: int) -> Array:
    """Take medians without numpy's search for NaN, which costs more than sorting short axes."""
    ordered, n = np.sort(np.moveaxis(values, axis, -1), axis=-1), values.shape[axis]
    upper = ordered[..., n // 2]
    return np.asarray(upper if n % 2 else (ordered[..., n // 2 - 1] + upper) / 2)


def _log2(X: Array) -> Array:
    if X.min(initial=1) <= 0:
        raise GenesigError(
            f"normalise.folds: median_polish takes logarithms and needs positive intensities, "
            f"found {X.min():g}; put rma_background into normalise.samples"
        )
    return np.asarray(np.log2(X))
