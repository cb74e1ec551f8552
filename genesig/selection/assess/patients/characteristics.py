"""Table 1: what is known of the samples, by class, by event, or of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.response.design import Design
from genesig.results import Dataset
from genesig.selection.assess.patients.traits import MOST_LEVELS, Trait, trait
from genesig.selection.assess.survival_curves import kaplan_meier

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Groups = dict[str, Array]

COLUMNS = ["column", "kind", "level", "group", "samples", "missing", "count", "share",
           "median", "low", "high"]  # fmt: skip
OTHERS = "others"
"""Kind of the row of the rarer words together."""
EVENT, FREE = "event", "no event"


def patients_table(dataset: Dataset, found: list[Trait], others: Mapping[str, str]) -> pd.DataFrame:
    """Return patients.tsv: one row for each column or word and each group of samples.

    Groups are classes, or event and no event; a row without a group is of all samples. Of a
    number there are median, smallest and largest value (``low``, ``high``); of a word its count
    and its share among samples with a value. Of more than `MOST_LEVELS` words the rarer ones are
    counted together. `follow_up` is that of all samples, with its 95 % interval. `others` are
    columns that describe nobody, and why: they stand last, the reason as ``level``.
    """
    import pandas as pd

    groups = by_response(dataset)
    sizes = {name: int(inside.sum()) for name, inside in groups.items()}
    rows: list[tuple[Any, ...]] = [("", "samples", "", *size, 0) for size in sizes.items()]
    if dataset.design.group is not None:
        rows += _of_groups(dataset, groups)
    if dataset.design.classes is None:
        label = dataset.design.label
        rows += _of_numbers(trait(label, dataset.obs[label].astype(str).tolist()), groups)
    if dataset.design.event is not None:
        y = dataset.response()
        rows.append((dataset.design.label, "follow-up", "", "", len(y), 0, None, None,
                     *follow_up(y["time"], y["event"])))  # fmt: skip
    for one in found:
        rows += _of_words(one, groups) if one.numbers is None else _of_numbers(one, groups)
    rows += [
        (name, "left out", reason, "", len(dataset.samples), 0) for name, reason in others.items()
    ]
    table = pd.DataFrame([row + (None,) * (len(COLUMNS) - len(row)) for row in rows],
                         columns=COLUMNS)  # fmt: skip
    return table.astype({"count": "Int64", **dict.fromkeys(COLUMNS[7:], float)})


def by_response(dataset: Dataset) -> Groups:
    """Return who belongs to each class, or had the event or not; all samples last, as ''."""
    design: Design = dataset.design
    y, everyone = dataset.response(), np.ones(len(dataset.samples), dtype=bool)
    if design.classes is not None:
        codes = (-1, 1) if len(design.classes) == 2 else range(len(design.classes))
        parts = {name: y == code for name, code in zip(design.classes, codes, strict=True)}
    else:
        parts = {} if design.event is None else {EVENT: y["event"], FREE: ~y["event"]}
    return {**parts, "": everyone}


def follow_up(time: Array, event: Array) -> tuple[float, float, float]:
    """Return the median time of follow-up and its 95 % interval by reversed Kaplan-Meier.

    The curve of `kaplan_meier` with censoring as the event and events as censoring: how long
    samples would have been followed had none had the event. The limits are where those of the
    curve, on the scale of log(-log S), cross one half. NaN where the curve does not come so far.

    Source: Schemper and Smith 1996; Brookmeyer and Crowley 1982.
    """
    curve = kaplan_meier(time, ~np.asarray(event, dtype=bool))
    low, high = (_crossed(curve.times, limit, curve.value) for limit in curve.interval())
    return curve.median(), low, high


def _crossed(times: Array, limit: Array, value: Array) -> float:
    """Return the first time at which a limit, of the curve itself where it has none, is half."""
    below = np.flatnonzero(np.where(np.isnan(limit), value, limit) <= 0.5)
    return float(times[below[0]]) if len(below) else np.nan


def _of_groups(dataset: Dataset, groups: Groups) -> Iterator[tuple[Any, ...]]:
    """Count what samples come from, such as patients."""
    names, column = dataset.groups(), dataset.design.group
    for name, inside in groups.items():
        units = len(set(names[inside])) if names is not None else 0
        yield column, "units", "", name, int(inside.sum()), 0, units


def _of_numbers(one: Trait, groups: Groups) -> Iterator[tuple[Any, ...]]:
    for name, inside in groups.items():
        values = np.array([float(cell) for cell in one.cells[inside & one.known]])
        middle = (np.median(values), values.min(), values.max()) if len(values) else (np.nan,) * 3
        yield (one.name, "number", "", name, int(inside.sum()),
               int((inside & ~one.known).sum()), None, None, *middle)  # fmt: skip


def _of_words(one: Trait, groups: Groups) -> Iterator[tuple[Any, ...]]:
    levels, shown = one.levels, one.levels
    if len(levels) > MOST_LEVELS:
        often = sorted(levels, key=lambda word: -int((one.cells == word).sum()))
        shown = sorted(often[: MOST_LEVELS - 1])
    rows = [("word", level, one.cells == level) for level in shown]
    if len(shown) < len(levels):
        rest = one.known & ~np.isin(one.cells, shown)
        rows.append((OTHERS, str(len(levels) - len(shown)), rest))
    for kind, level, member in rows:
        for name, inside in groups.items():
            known, count = int((inside & one.known).sum()), int((inside & member).sum())
            yield (one.name, kind, level, name, int(inside.sum()), int(inside.sum()) - known,
                   count, count / known if known else np.nan)  # fmt: skip
