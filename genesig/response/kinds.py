"""Kinds of response: the functions of each for splits, permutations and checks.

Two classes are -1 and +1; more classes are 0, 1, .. in the order of their names in the design; a
response in time is a structured array of `time` and `event`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from genesig.arrays import Array
from genesig.response.design import SEVERAL_CLASSES, Design
from genesig.words import counted, is_number

if TYPE_CHECKING:
    import pandas as pd


ClassNames = tuple[str, ...] | None  # as in `Design`


@dataclass(frozen=True)
class Response:
    """One kind of response; y is an (n,) array, one entry a sample, of the type that it needs."""

    read: Callable[[pd.DataFrame, Design], Array]  # return y of a sample table
    # return the label of each sample as tables show it, (n,) str
    label_cells: Callable[[pd.DataFrame, Design], Array]
    # return the label's own numbers, (n,) float: class codes, numbers or times
    label_values: Callable[[Array], Array]
    numeric_response: Callable[[Array], Array]
    """Return a number for each sample, to be correlated with genes or batches, (n,).

    Martingale residuals of survival. For more than two classes a column for each class, (n, T), 1
    in the class and -1 outside.
    """
    # return the stratum of each sample, (n,) int, for a division into so many parts
    strata: Callable[[Array, int], Array]
    # return the samples of which each training set needs some: their description and mask (n,)
    required_samples: Callable[[Array, ClassNames], dict[str, Array]]
    # return why a training set with this y cannot be learned from, or None
    training_fault: Callable[[Array, ClassNames], str | None]
    # return the numbers of samples in words, for the user
    describe_counts: Callable[[Array, ClassNames], str]
    has_infinite_weight: Callable[[Array], bool] = lambda y: False
    """Tell whether a covariate level has an infinite weight without a penalty.

    y is that of all training samples with this level.
    """
    # kind whose entry is used in tables without an entry for this one (see `ByKind`)
    like: str | None = None


def label_words(obs: pd.DataFrame, design: Design) -> Array:
    """Return the cells of the label's column."""
    return obs[design.label].astype(str).to_numpy(dtype=object)


CLASS_CODES = (-1.0, 1.0)  # of the negative and the positive class


def _read_two_classes(obs: pd.DataFrame, design: Design) -> Array:
    """Return -1 or 1 for each sample, (n,): 1 for the second class of the design."""
    positive = (design.classes or ("", ""))[1]
    return np.where(obs[design.label].astype(str) == positive, 1.0, -1.0)


def _samples_of_two_classes(y: Array, classes: ClassNames) -> dict[str, Array]:
    """Return the masks of the samples of each class, by ``"class 'case'"``."""
    return {
        f"class '{name}'": y == side for name, side in zip(classes or (), CLASS_CODES, strict=False)
    }


def _fault_of_two_classes(y: Array, classes: ClassNames) -> str | None:
    """Return the end of a sentence that one class is missing, or None."""
    if (y != y[:1]).any():
        return None
    if not len(y) or classes is None:
        return "do not have two different responses"
    return f"are all '{classes[int(y[0] > 0)]}', and both classes are needed"


def _describe_two_classes(y: Array, classes: ClassNames) -> str:
    """Return the number of samples of each class, and the positive one."""
    named_sides = zip(CLASS_CODES, classes or (), strict=False)
    sizes = ", ".join(f"{int((y == side).sum())} {name}" for side, name in named_sides)
    return f"{sizes}; positive: {(classes or ('', ''))[1]}"


def _read_several_classes(obs: pd.DataFrame, design: Design) -> Array:
    """Return the number of each sample's class."""
    class_code = {name: number for number, name in enumerate(design.classes or ())}
    return np.array([float(class_code[name]) for name in obs[design.label].astype(str)])


def _fault_of_several_classes(y: Array, classes: ClassNames) -> str | None:
    """Return the end of a sentence that a class is missing, or None."""
    missing_classes = [name for number, name in enumerate(classes or ()) if not (y == number).any()]
    if not missing_classes:
        return None
    return f"have no '{missing_classes[0]}', and every class is needed"


def _strata_of_numbers(y: Array, n_parts: int) -> Array:
    """Return strata (n,) along the ranks, so that each part gets low, middle and high responses.

    A stratum has about n_parts samples, one for each part. -y has the same strata as y: the ranks
    count from the end that is nearer to the first sample whose two ranks differ.
    """
    bins = np.empty(len(y), dtype=np.int64)
    rank_from_below, rank_from_above = (
        np.unique(values, return_inverse=True)[1] for values in (y, -y)
    )
    unequal_ranks = np.flatnonzero(rank_from_below != rank_from_above)
    is_reversed = (
        bool(len(unequal_ranks))
        and rank_from_above[unequal_ranks[0]] < rank_from_below[unequal_ranks[0]]
    )
    by_rank = np.argsort(rank_from_above if is_reversed else rank_from_below, kind="stable")
    for number, members in enumerate(np.array_split(by_rank, max(1, len(y) // n_parts))):
        bins[members] = number
    return bins


SURVIVAL_DTYPE = np.dtype([("time", float), ("event", bool)])


def survival_response(time: Array, event: Array) -> Array:
    """Return y, a structured array (n,) of times and events."""
    response = np.empty(len(time), SURVIVAL_DTYPE)
    response["time"] = time
    response["event"] = event
    return response


def is_event(cell: str, word: str) -> bool:
    """Tell whether a cell is the word for an event; numbers are compared by value (1.0 is 1)."""
    if is_number(cell) and is_number(word):
        return float(cell) == float(word)
    return cell.strip() == word


def martingale_residuals(y: Array) -> Array:
    """Return the martingale residuals event - H(t), (n,), with Nelson and Aalen's H.

    The gradient of Cox's partial likelihood at 0 (Therneau, Grambsch and Fleming 1990): above 0 for
    samples with an early event, below 0 for samples with a long follow-up.
    """
    distinct_times, time_index = np.unique(y["time"], return_inverse=True)
    events = np.bincount(time_index, weights=y["event"], minlength=len(distinct_times))
    at_risk = np.bincount(time_index)[::-1].cumsum()[::-1]
    return np.asarray(y["event"] - np.cumsum(events / at_risk)[time_index])


def _read_times(obs: pd.DataFrame, design: Design) -> Array:
    """Return times and events."""
    word = design.occurred or "1"
    event = [is_event(cell, word) for cell in obs[design.event].astype(str)]
    return survival_response(
        obs[design.label].astype(str).astype(float).to_numpy(), np.array(event, bool)
    )


def _show_times(obs: pd.DataFrame, design: Design) -> Array:
    """Return the times as text, with a plus after a censored one: ``5.2+``."""
    cells = obs[design.label].astype(str).str.strip()
    signs = ["" if event else "+" for event in _read_times(obs, design)["event"]]
    return np.array([cell + sign for cell, sign in zip(cells, signs, strict=True)], dtype=object)


def _fault_of_times(y: Array, classes: ClassNames) -> str | None:
    """Return why no risk set compares an event with a longer follow-up, or None."""
    if not y["event"].any():
        return "have no event"
    if y["time"][y["event"]].min() >= y["time"].max():
        return "have no event that anyone outlived"
    return None


T = TypeVar("T")

RESPONSES: dict[str, Response] = {
    "classification": Response(
        read=_read_two_classes,
        label_cells=label_words,
        label_values=lambda y: y,
        numeric_response=lambda y: y,
        strata=lambda y, parts: (y > 0).astype(np.int64),
        required_samples=_samples_of_two_classes,
        training_fault=_fault_of_two_classes,
        describe_counts=_describe_two_classes,
    ),
    SEVERAL_CLASSES: Response(
        read=_read_several_classes,
        label_cells=label_words,
        label_values=lambda y: y,
        numeric_response=lambda y: (y[:, None] == np.arange(y.max() + 1)) * 2.0 - 1,
        strata=lambda y, parts: y.astype(np.int64),
        required_samples=lambda y, classes: {
            f"class '{name}'": y == number for number, name in enumerate(classes or ())
        },
        training_fault=_fault_of_several_classes,
        describe_counts=lambda y, classes: ", ".join(
            f"{int((y == number).sum())} {name}" for number, name in enumerate(classes or ())
        ),
    ),
    "regression": Response(
        read=lambda obs, design: np.asarray(obs[design.label].astype(str).astype(float)),
        label_cells=label_words,
        label_values=lambda y: y,
        numeric_response=lambda y: y,
        strata=_strata_of_numbers,
        required_samples=lambda y, classes: {"the study": np.ones(len(y), dtype=bool)},
        training_fault=lambda y, classes: (
            None if len(np.unique(y)) > 1 else "do not have two different responses"
        ),
        describe_counts=lambda y, classes: "",
    ),
    "survival": Response(
        read=_read_times,
        label_cells=_show_times,
        label_values=lambda y: np.asarray(y["time"]),
        numeric_response=martingale_residuals,
        strata=lambda y, parts: y["event"].astype(np.int64),
        required_samples=lambda y, classes: {"the event": y["event"]},
        training_fault=_fault_of_times,
        describe_counts=lambda y, classes: counted(int(y["event"].sum()), "event"),
        has_infinite_weight=lambda y: not y["event"].any(),
    ),
}


class ByKind(dict[str, T]):
    """A table by kinds of response: a kind that is `like` another one may have no entry."""

    def __contains__(self, kind: object) -> bool:
        like = _like(kind)
        return super().__contains__(kind) or (like is not None and like in self)

    def __missing__(self, kind: str) -> T:
        """Return the entry of the kind that this one is like."""
        if (like := _like(kind)) is None:
            raise KeyError(kind)
        return self[like]

    def get(self, kind: str, default: Any = None) -> Any:
        """Return the entry of a kind, or of the kind that it is like; `default` without any."""
        try:
            return self[kind]
        except KeyError:
            return default


def _like(kind: object) -> str | None:
    """Return the kind that a kind is like; None for its own."""
    return RESPONSES[kind].like if isinstance(kind, str) and kind in RESPONSES else None
