"""What a kind of response must say of itself, for splits, permutations and checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genesig.arrays import Array
from genesig.response.design import Design

if TYPE_CHECKING:
    import pandas as pd

Classes = tuple[str, ...] | None


@dataclass(frozen=True)
class Response:
    """One kind of response; y is an (n,) array, one entry a sample, of whatever type it needs.

    Attributes
    ----------
    read : callable
        Sample table and `Design` to y.
    shown : callable
        The same to the words that tables show, (n,) str.
    plain : callable
        y to the label's own numbers, (n,) float: what a gene that holds the label would equal.
    number : callable
        y to one number for each sample, that a gene or a batch may be held against, (n,); for more
        than two classes one column for each, (n, T).
    strata : callable
        y and a number of parts to the stratum of each sample, (n,) int, that splits keep alike.
    needed : callable
        y and names of classes to the samples of which each training set needs some: who they are,
        in words, and their mask (n,).
    untold : callable
        y of a training set and names of classes to why it cannot be learned from, or None.
    counted : callable
        y and names of classes to how many samples there are of what, in words.
    boundless : callable
        y of all training samples that share a word of a covariate to whether its weight, which has
        no penalty, has no finite value.
    like : str or None
        The kind whose lines count in every table that has none for this one, see `known.ByKind`.
    """

    read: Callable[[pd.DataFrame, Design], Array]
    shown: Callable[[pd.DataFrame, Design], Array]
    plain: Callable[[Array], Array]
    number: Callable[[Array], Array]
    strata: Callable[[Array, int], Array]
    needed: Callable[[Array, Classes], dict[str, Array]]
    untold: Callable[[Array, Classes], str | None]
    counted: Callable[[Array, Classes], str]
    boundless: Callable[[Array], bool] = lambda y: False
    like: str | None = None


def label_words(obs: pd.DataFrame, design: Design) -> Array:
    """Return the cells of the label's column."""
    return obs[design.label].astype(str).to_numpy(dtype=object)
