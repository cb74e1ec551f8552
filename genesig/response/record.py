"""The functions that a kind of response provides for splits, permutations and checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genesig.arrays import Array
from genesig.response.design import Design

if TYPE_CHECKING:
    import pandas as pd

ClassNames = tuple[str, ...] | None


@dataclass(frozen=True)
class Response:
    """One kind of response; y is an (n,) array, one entry a sample, of the type that it needs."""

    read: Callable[[pd.DataFrame, Design], Array]
    """Return y of a sample table."""
    label_cells: Callable[[pd.DataFrame, Design], Array]
    """Return the label of each sample as tables show it, (n,) str."""
    plain: Callable[[Array], Array]
    """Return the label's own numbers, (n,) float: the values of a gene that equals the label."""
    number: Callable[[Array], Array]
    """Return a number for each sample, to be compared with a gene or a batch, (n,).

    For more than two classes a column for each class, (n, T).
    """
    strata: Callable[[Array, int], Array]
    """Return the stratum of each sample, (n,) int, which splits into so many parts balance."""
    required_samples: Callable[[Array, ClassNames], dict[str, Array]]
    """Return the samples of which each training set needs some: their description and mask (n,)."""
    training_fault: Callable[[Array, ClassNames], str | None]
    """Return why a training set with this y cannot be learned from, or None."""
    describe_counts: Callable[[Array, ClassNames], str]
    """Return the numbers of samples in words, for the user."""
    has_infinite_weight: Callable[[Array], bool] = lambda y: False
    """Tell whether a covariate level has an infinite weight without a penalty.

    y is that of all training samples with this level.
    """
    like: str | None = None
    """Kind whose entry is used in tables without an entry for this one (see `known.ByKind`)."""


def label_words(obs: pd.DataFrame, design: Design) -> Array:
    """Return the cells of the label's column."""
    return obs[design.label].astype(str).to_numpy(dtype=object)
