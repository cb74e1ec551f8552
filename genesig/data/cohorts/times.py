"""Times and events of another study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from genesig.data.cohorts.labels import NO_LABELS, Asked, Labels, has_columns, left_out
from genesig.errors import Problem, did_you_mean
from genesig.response.known import RESPONSES
from genesig.response.survival import happened, times
from genesig.words import is_missing, is_number, listing, number_fault, too

UNIT = "if they are in another unit, bring them to that of the study"
APART = 6.0
"""How many times the study's horizon the median time may be: a year has twelve months."""


def of_times(asked: Asked) -> Labels | None:
    """Read the columns of time and event; None where the problems say why not."""
    design, label = asked.design, asked.label
    if isinstance(label, str) or design.event is None:
        return None  # the settings say so
    named = label if isinstance(label, Mapping) else {"time": design.label, "event": design.event}
    time, event = named["time"], named["event"]
    if not has_columns(asked, [time, event]):
        return None
    cells = {str(name): (str(row[time]), str(row[event])) for name, row in asked.table.iterrows()}
    blank = [name for name, both in cells.items() if any(map(is_missing, both))]
    known = {name: both for name, both in cells.items() if name not in set(blank)}
    word = design.occurred or "1" if asked.event is None else asked.event
    faults = list(_faults(asked, known, (time, event), word))
    asked.problems.extend(faults)
    if faults:
        return None
    if blank:
        what = f"no time or event for {listing(blank)}; left out ({len(blank)} of {len(cells)})"
        asked.problems.append(Problem(f"{asked.where}, column '{time}'", what, "warning"))
    y = times(np.array([float(t) for t, _ in known.values()]),
              np.array([happened(e, word) for _, e in known.values()], bool))  # fmt: skip
    asked.problems.extend(_to_compare(asked, y, time, event))
    shown = tuple(t.strip() + ("" if came else "+")
                  for (t, _), came in zip(known.values(), y["event"], strict=True))  # fmt: skip
    given = tuple(f"{t} {e}" for t, e in known.values())
    dropped = [left_out(name, f"no time or event in columns '{time}', '{event}'") for name in blank]
    return Labels(tuple(known), given, shown, y, dropped)


def _faults(
    asked: Asked, known: dict[str, tuple[str, str]], columns: tuple[str, str], word: str
) -> Iterator[Problem]:
    time, event = (f"{asked.where}, column '{column}'" for column in columns)
    if not known:
        yield Problem(time, f"no sample has a time and an event, so nothing can be tested; "
                            f"{NO_LABELS}")  # fmt: skip
        return
    odd = {name: number_fault(t) for name, (t, _) in known.items() if not is_number(t)}
    odd |= {name: f"is {t.strip()}, before the start" for name, (t, _) in known.items()
            if is_number(t) and float(t) < 0}  # fmt: skip
    for name, what in list(odd.items())[:1]:
        said = f"the time of '{name}' {what}; survival needs a time of at least 0"
        yield Problem(time, said + too(len(odd) - 1, "sample"))
    counts = Counter(e.strip() for _, e in known.values())
    if not any(happened(cell, word) for cell in counts):
        found = ", ".join(f"'{cell}' ({n})" for cell, n in counts.most_common(6))
        near = did_you_mean(word, counts) or f"; name their word in event, found {found}"
        yield Problem(event, f"no event, as no sample is '{word}', so there is nothing to order"
                             f"{near}")  # fmt: skip


def _to_compare(asked: Asked, y: np.ndarray, time: str, event: str) -> Iterator[Problem]:
    """Yield that no pair is ordered, or that times look as if they had another unit."""
    design, at = asked.design, f"{asked.where}, column '{time}'"
    if reason := RESPONSES[design.kind].untold(y, None):
        yield Problem(at, f"the samples {reason}, so there is nothing to order; {NO_LABELS}")
    elif design.horizon is not None and not y["time"].min() <= design.horizon < y["time"].max():
        what = f"from {y['time'].min():g} to {y['time'].max():g}, without the horizon of the study,"
        yield Problem(at, f"{what} {design.horizon:g}; {UNIT}", "warning")
    elif design.horizon and not 1 / APART < np.median(y["time"]) / design.horizon < APART:
        what = f"half of the times are up to {np.median(y['time']):g}, and the horizon of the study"
        yield Problem(at, f"{what} is {design.horizon:g}; {UNIT}", "warning")
