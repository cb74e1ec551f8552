"""Right-censored times: a structured array of `time` and `event`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.response.design import Design
from genesig.response.record import ClassNames, Response
from genesig.words import counted, is_number

if TYPE_CHECKING:
    import pandas as pd

SURVIVAL_DTYPE = np.dtype([("time", float), ("event", bool)])


def times(time: Array, event: Array) -> Array:
    """Return y, a structured array (n,) of times and events."""
    response = np.empty(len(time), SURVIVAL_DTYPE)
    response["time"] = time
    response["event"] = event
    return response


def happened(cell: str, word: str) -> bool:
    """Tell whether a cell is the word for an event; numbers are compared by value (1.0 is 1)."""
    if is_number(cell) and is_number(word):
        return float(cell) == float(word)
    return cell.strip() == word


def martingale(y: Array) -> Array:
    """Return the martingale residuals event - H(t), (n,), with Nelson and Aalen's H.

    The gradient of Cox's partial likelihood at 0 (Therneau, Grambsch and Fleming 1990): above 0 for
    samples with an early event, below 0 for samples with a long follow-up.
    """
    distinct_times, time_index = np.unique(y["time"], return_inverse=True)
    events = np.bincount(time_index, weights=y["event"], minlength=len(distinct_times))
    at_risk = np.bincount(time_index)[::-1].cumsum()[::-1]
    return np.asarray(y["event"] - np.cumsum(events / at_risk)[time_index])


def _read(obs: pd.DataFrame, design: Design) -> Array:
    word = design.occurred or "1"
    event = [happened(cell, word) for cell in obs[design.event].astype(str)]
    return times(obs[design.label].astype(str).astype(float).to_numpy(), np.array(event, bool))


def _label_cells(obs: pd.DataFrame, design: Design) -> Array:
    """Return the times as text, with a plus after a censored one: ``5.2+``."""
    cells = obs[design.label].astype(str).str.strip()
    signs = ["" if event else "+" for event in _read(obs, design)["event"]]
    return np.array([cell + sign for cell, sign in zip(cells, signs, strict=True)], dtype=object)


def _training_fault(y: Array, classes: ClassNames) -> str | None:
    if not y["event"].any():
        return "have no event"
    if y["time"][y["event"]].min() >= y["time"].max():
        return "have no event that anyone outlived"
    return None


SURVIVAL = Response(
    read=_read,
    label_cells=_label_cells,
    plain=lambda y: np.asarray(y["time"]),
    number=martingale,
    strata=lambda y, parts: y["event"].astype(np.int64),
    required_samples=lambda y, classes: {"the event": y["event"]},
    training_fault=_training_fault,
    describe_counts=lambda y, classes: counted(int(y["event"].sum()), "event"),
    has_infinite_weight=lambda y: not y["event"].any(),
)
