"""Who was studied: Table 1, the columns that describe patients, the errors in subgroups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.response.covariates import Covariate, splined
from genesig.response.design import Design
from genesig.response.known import ByKind
from genesig.response.survival import SURVIVAL_DTYPE
from genesig.results import Dataset, Splits
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.covariates import Covariates
from genesig.selection.assess.held_out import arrange
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import Headline, HeldOut
from genesig.selection.assess.patients.next_study import next_study_table
from genesig.selection.assess.patients.pairs import effect
from genesig.selection.assess.several import sides
from genesig.selection.assess.survival import kaplan_meier
from genesig.words import is_missing, is_number

if TYPE_CHECKING:
    import pandas as pd

MOST_COLUMNS = 12
MOST_LEVELS = 6
"""Different values, up to which numbers are codes and words are listed."""


@dataclass(frozen=True)
class Trait:
    """One column of the sample table.

    Attributes
    ----------
    name : str
    cells : (n,) str
        Empty where missing.
    numbers : (n,) float or None
        NaN where missing; None for words.
    """

    name: str
    cells: Array
    numbers: Array | None

    @property
    def known(self) -> Array:
        """Return which samples have a value, (n,)."""
        return np.asarray(self.cells != "")

    @property
    def levels(self) -> list[str]:
        """Return the words, in the order of numbers where all are."""
        found = sorted(set(self.cells[self.known].tolist()))
        return sorted(found, key=float) if all(map(is_number, found)) else found


def trait(name: str, column: Sequence[str]) -> Trait:
    """Return a column: numbers where all are and more than `MOST_LEVELS` differ, else words."""
    cells = np.array(["" if is_missing(cell) else cell.strip() for cell in column], dtype=object)
    numeric = Covariate.from_cells(name, cells).levels is None
    values = np.array([float(cell) if cell and numeric else np.nan for cell in cells])
    many = len(np.unique(values[~np.isnan(values)])) > MOST_LEVELS
    return Trait(name, cells, values if many else None)


def traits(dataset: Dataset) -> tuple[list[Trait], dict[str, str]]:
    """Return the columns that describe samples, and why each other one does not.

    Covariates and batches come first, then the order of the table. Columns of the response, its
    weights, and columns that name samples, patients or pairs are none.
    """
    design = dataset.design
    first = [each.column for each in design.covariates]
    first += [] if design.batch is None else [design.batch]
    taken = {design.label, design.event, design.weights}
    found: list[Trait] = []
    others: dict[str, str] = {}
    for name in dict.fromkeys([*first, *map(str, dataset.obs.columns)]):
        if name in taken:
            continue
        one = trait(str(name), dataset.obs[name].astype(str).tolist())
        why = _undescribed(one, name in (design.group, design.pair) and name != design.batch)
        if why is None and len(found) == MOST_COLUMNS:
            why = f"after the first {MOST_COLUMNS}"
        if why is None:
            found.append(one)
        else:
            others[str(name)] = why
    return found, others


def _undescribed(one: Trait, names: bool) -> str | None:
    """Tell why a column describes nothing; `names` is whether it names patients or pairs."""
    different, known = len(set(one.cells[one.known])), int(one.known.sum())
    if different < 2:
        return "one value" if different else "no value"
    if one.numbers is None or names:
        few = different <= MOST_LEVELS or (not names and 4 * different <= known)
        return None if few else "names samples or patients"
    counted = different == known and np.ptp(one.numbers[one.known]) == known - 1
    return "numbers samples or patients" if counted else None


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


FEWEST = 10
"""Samples of a subgroup."""
SUBGROUP_COLUMNS = ["column", "level", "samples", "events", "error", "low", "high"]


def subgroups_table(found: HeldOut, headline: Headline, traits: Sequence[Trait]) -> pd.DataFrame:
    """Return subgroups.tsv: the error of the chosen lists in each subgroup, with its interval.

    The first row is of all samples. Error and interval are those of `assess`, of the subgroup's
    samples alone: of survival over pairs inside it, of a number 1 - R² around its own mean. A
    column is left out with fewer than two subgroups whose error is defined: one needs every class.

    Parameters
    ----------
    found : HeldOut
        With one column of scores, under no permutation.
    traits : sequence of Trait
        Of all samples.
    """
    import pandas as pd

    rows = [("", "", *_measured(found, headline))]
    for one in traits:
        own = [(one.name, level, *_measured(_part(found, inside), headline))
               for level, inside in levels(one)]  # fmt: skip
        own = [row for row in own if not np.isnan(row[4])]
        rows += own if len(own) > 1 else []
    return pd.DataFrame(rows, columns=SUBGROUP_COLUMNS).astype({"events": "Int64"})


def levels(one: Trait) -> Iterator[tuple[str, Array]]:
    """Give the subgroups of a column that are large enough, and who belongs to each, (n,)."""
    parts: list[tuple[str, Array]] = []
    if one.numbers is not None:
        half = float(np.nanmedian(one.numbers))
        parts = [(f"≤ {half:.4g}", one.numbers <= half), (f"> {half:.4g}", one.numbers > half)]
    elif len(one.levels) <= MOST_LEVELS:
        parts = [(word, one.cells == word) for word in one.levels]
    yield from ((level, inside) for level, inside in parts if inside.sum() >= FEWEST)


def _part(found: HeldOut, inside: Array) -> HeldOut:
    """Return the scores of some samples, given as (n,) bool, repeats numbered anew."""
    part = found.taken(np.flatnonzero(inside[found.row]))
    return replace(part, repeat=np.unique(part.repeat, return_inverse=True)[1])


def _measured(found: HeldOut, headline: Headline) -> tuple[Any, ...]:
    """Return the number of samples, of events, the error and its limits."""
    y, _ = found.per_sample(found.scores[:, 0] if found.scores.ndim == 2 else found.scores[:, 0, 0])
    if not len(y):
        return 0, None, np.nan, np.nan, np.nan
    own = assess(found, headline)[0]
    return (
        len(y),
        int(y["event"].sum()) if y.dtype == SURVIVAL_DTYPE else None,
        own.error,
        own.low,
        own.high,
    )


MEASURES: dict[str, tuple[str, Callable[[Array], Array]]] = ByKind({
    "classification": ("odds ratio", np.exp),
    "survival": ("hazard ratio", np.exp),
    "regression": ("slope", np.asarray),
})  # fmt: skip
"""What b of `pairs.effect` is called, and how it is told."""


def patient_tables(
    dataset: Dataset, splits: Splits, predictions: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables of who was studied and what the held-out score of the chosen lists says.

    They are ``patients``, ``score_effect``, ``subgroups`` and ``next_study``; `predictions` are
    those of predictions.tsv.
    """
    kind, classes = ASSESSED[dataset.design.kind], dataset.design.classes
    chosen = predictions[predictions["mu"].isna()]
    numbers = {split.name: number for number, split in enumerate(splits.outer)}
    row, split = dataset.rows(chosen["sample"].tolist()), chosen["split"].map(numbers).to_numpy()
    scores, permutation = kind.scores(chosen, classes)[:, None], np.zeros(len(row), dtype=np.int64)
    found = arrange(dataset, splits, row, split, scores, permutation)
    described, others = traits(dataset)
    return {
        "patients": patients_table(dataset, described, others),
        "score_effect": effects_table(dataset, found),
        "subgroups": subgroups_table(found, kind.headline, described),
        "next_study": next_study_table(found, kind.headline, classes),
    }


def effects_table(dataset: Dataset, found: HeldOut) -> pd.DataFrame:
    """Return score_effect.tsv: what one standard deviation of the held-out score is worth.

    The odds ratio of two classes, and of each of several against the rest (``class``); the hazard
    ratio; of a number the slope, in its own unit. With covariates once more beside these
    (``adjusted``), as models have them, a missing value being the mean. See `pairs.effect`.
    """
    import pandas as pd

    y, f, classes = found.y, found.scores[:, 0], dataset.design.classes
    each = {"": (y, f)}
    if classes is not None:
        parts = sides(y, f) if len(classes) > 2 else [(y > 0, f)]
        each = dict(zip(classes[-len(parts) :], parts, strict=True))
    held, rows = Covariates.from_dataset(dataset), []
    measure, scale = MEASURES[dataset.design.task]
    for name, (response, score) in each.items():
        none = np.zeros((len(score), 0))
        beside = {"no": none}
        if held is not None and dataset.design.covariates:
            beside["yes"] = _covariates(held)[found.row]
        for adjusted, C in beside.items():
            own = scale(np.array(effect(found, response, score, C)))
            rows.append((measure, name, adjusted, *own))
    return pd.DataFrame(rows, columns=["measure", "class", "adjusted", "value", "low", "high"])


def _covariates(held: Covariates) -> Array:
    """Return the covariates of each sample, (n, q), knots and means those of all samples."""
    C = splined(held.values, held.training_knots(np.ones(len(held.values), dtype=bool)))
    return np.where(np.isnan(C), np.nanmean(C, axis=0), C)
