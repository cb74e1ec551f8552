"""Right-censored times: a structured array of `time` and `event`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.response.design import Design
from genesig.response.record import Classes, Response
from genesig.words import counted, is_number

if TYPE_CHECKING:
    import pandas as pd

TIMES = np.dtype([("time", float), ("event", bool)])


def times(time: Array, event: Array) -> Array:
    """Return y, (n,), of times and events."""
    y = np.empty(len(time), TIMES)
    y["time"] = time
    y["event"] = event
    return y


def happened(cell: str, word: str) -> bool:
    """Tell whether a cell says that the event happened: 1.0 is 1, other words stand for themselves.

    `word` is that of the event.
    """
    if is_number(cell) and is_number(word):
        return float(cell) == float(word)
    return cell.strip() == word


def martingale(y: Array) -> Array:
    """Return event - H(t), (n,), of Nelson and Aalen's H: what a gene of no effect leaves.

    The gradient of Cox's partial likelihood at 0 (Therneau, Grambsch and Fleming 1990): above 0 for
    who had the event early, below for who is followed long.
    """
    at, place = np.unique(y["time"], return_inverse=True)
    events = np.bincount(place, weights=y["event"], minlength=len(at))
    at_risk = np.bincount(place)[::-1].cumsum()[::-1]
    return np.asarray(y["event"] - np.cumsum(events / at_risk)[place])


def _read(obs: pd.DataFrame, design: Design) -> Array:
    word = design.occurred or "1"
    event = [happened(cell, word) for cell in obs[design.event].astype(str)]
    return times(obs[design.label].astype(str).astype(float).to_numpy(), np.array(event, bool))


def _shown(obs: pd.DataFrame, design: Design) -> Array:
    """Write who is censored with a plus: ``5.2+``."""
    cells = obs[design.label].astype(str).str.strip()
    signs = ["" if each else "+" for each in _read(obs, design)["event"]]
    return np.array([c + s for c, s in zip(cells, signs, strict=True)], dtype=object)


def _untold(y: Array, classes: Classes) -> str | None:
    if not y["event"].any():
        return "have no event"
    if y["time"][y["event"]].min() >= y["time"].max():
        return "have no event that anyone outlived"
    return None


SURVIVAL = Response(
    read=_read,
    shown=_shown,
    plain=lambda y: np.asarray(y["time"]),
    number=martingale,
    strata=lambda y, parts: y["event"].astype(np.int64),
    needed=lambda y, classes: {"the event": y["event"]},
    untold=_untold,
    counted=lambda y, classes: counted(int(y["event"].sum()), "event"),
    boundless=lambda y: not y["event"].any(),
)
