"""Tables of the patients (Table 1, subgroups, effect of the score), and the next study's size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.response.covariates import Covariate, spline_columns
from genesig.response.design import Design
from genesig.response.kinds import SURVIVAL_DTYPE, ByKind
from genesig.results import Dataset, Splits
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.clusters import class_sides
from genesig.selection.assess.covariates import Covariates
from genesig.selection.assess.held_out import read_held_out
from genesig.selection.assess.intervals import NORMAL_QUANTILE, newcombe
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, Headline, HeldOutScores, held_out_area
from genesig.selection.assess.score_effect import score_effect
from genesig.selection.assess.survival import harrell, kaplan_meier, pool_concordance
from genesig.words import is_missing, is_number

if TYPE_CHECKING:
    import pandas as pd

MAX_DESCRIBED_COLUMNS = 12
MAX_LISTED_LEVELS = 6  # different values of a column that are listed, even if numeric
MIN_SAMPLES_PER_WORD = 4
"""Samples for each word, on average, of a column of many words that are no names of samples."""

Groups = dict[str, Array]  # name -> members (n,) bool; all samples are the group ''

FRACTION_COLUMNS = ["share", "median", "low", "high"]
PATIENT_COLUMNS = ["column", "kind", "level", "group", "samples", "missing", "count"]
PATIENT_COLUMNS += FRACTION_COLUMNS

RARE_LEVELS = "others"  # kind of the row that counts the rarer words of a column together
EVENT = "event"
NO_EVENT = "no event"

MIN_SUBGROUP_SAMPLES = 10  # smallest number of samples of a reported subgroup
SUBGROUP_COLUMNS = ["column", "level", "samples", "events", "error", "low", "high"]

EFFECT_MEASURES: dict[str, tuple[str, Callable[[Array], Array]]] = ByKind(
    {
        "classification": ("odds ratio", np.exp),
        "survival": ("hazard ratio", np.exp),
        "regression": ("slope", np.asarray),
    }
)
"""Name of the effect b of `score_effect`, and the function that transforms it."""

NeededSamples = tuple[str, str, float, int, int | None]
"""A row of next_study.tsv, in the order of `NEXT_STUDY_COLUMNS`."""

HALF_WIDTH = 0.05  # half the width of the 95 % interval that a validation is to have
MIN_R2_SAMPLES = 234
"""Samples that estimate a standard deviation to within 10 % (Riley et al. 2019, criterion 3)."""
NEXT_STUDY_COLUMNS = ["measure", "basis", "value", "samples", "events"]


def patient_tables(
    dataset: Dataset, splits: Splits, predictions: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables of the patients and of the effect of the held-out score.

    They are ``patients``, ``score_effect``, ``subgroups`` and ``next_study``; `predictions` are
    those of predictions.tsv.
    """
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline
    held_out = read_held_out(dataset, splits, predictions[predictions["mu"].isna()])
    described, left_out = read_traits(dataset)
    return {
        "patients": patients_table(dataset, described, left_out),
        "score_effect": effects_table(dataset, held_out),
        "subgroups": subgroups_table(held_out, headline, described),
        "next_study": next_study_table(held_out, headline, dataset.design.classes),
    }


@dataclass(frozen=True)
class Trait:
    """One column of the sample table."""

    name: str
    cells: Array  # (n,) str, empty if missing
    numbers: Array | None  # (n,) float, NaN if missing; None for words

    @property
    def is_known(self) -> Array:
        """Return which samples have a value, (n,)."""
        return np.asarray(self.cells != "")

    @property
    def levels(self) -> list[str]:
        """Return the different values, in the order of numbers if all are numbers."""
        values = sorted(set(self.cells[self.is_known].tolist()))
        return sorted(values, key=float) if all(map(is_number, values)) else values


def read_trait(name: str, column: Sequence[str]) -> Trait:
    """Return a column of the sample table, as numbers or as words.

    Numbers if every value is one and more than `MAX_LISTED_LEVELS` differ.
    """
    cells = np.array(["" if is_missing(cell) else cell.strip() for cell in column], dtype=object)
    is_number_column = Covariate.from_cells(name, cells).levels is None
    values = np.array([float(cell) if cell and is_number_column else np.nan for cell in cells])
    is_numeric = len(np.unique(values[~np.isnan(values)])) > MAX_LISTED_LEVELS
    return Trait(name, cells, values if is_numeric else None)


def read_traits(dataset: Dataset) -> tuple[list[Trait], dict[str, str]]:
    """Return the columns that describe samples, and the reason why each other one is left out.

    Covariates and batches come first, then the order of the table. The response and the weights are
    in neither result.
    """
    design = dataset.design
    design_columns = [covariate.column for covariate in design.covariates]
    design_columns += [] if design.batch is None else [design.batch]
    response_columns = {design.label, design.event, design.weights}
    described: list[Trait] = []
    left_out: dict[str, str] = {}
    for name in dict.fromkeys([*design_columns, *map(str, dataset.obs.columns)]):
        if name in response_columns:
            continue
        column = read_trait(str(name), dataset.obs[name].astype(str).tolist())
        reason = _reason_left_out(
            column, name in (design.group, design.pair) and name != design.batch
        )
        if reason is None and len(described) == MAX_DESCRIBED_COLUMNS:
            reason = f"after the first {MAX_DESCRIBED_COLUMNS}"
        if reason is None:
            described.append(column)
        else:
            left_out[str(name)] = reason
    return described, left_out


def _reason_left_out(column: Trait, is_unit_column: bool) -> str | None:
    """Return why a column is not among those that describe samples; None if it is.

    `is_unit_column`: whether the design says that the column names patients or pairs.
    """
    n_different = len(set(column.cells[column.is_known]))
    n_known = int(column.is_known.sum())
    if n_different < 2:
        return "one value" if n_different else "no value"
    if column.numbers is None or is_unit_column:
        is_short_list = n_different <= MAX_LISTED_LEVELS or (
            not is_unit_column and MIN_SAMPLES_PER_WORD * n_different <= n_known
        )
        return None if is_short_list else "names samples or patients"
    # Consecutive whole numbers, each once, are more likely numbers of samples than measurements.
    is_numbering = n_different == n_known and np.ptp(column.numbers[column.is_known]) == n_known - 1
    return "numbers samples or patients" if is_numbering else None


def patients_table(
    dataset: Dataset, described: list[Trait], left_out: Mapping[str, str]
) -> pd.DataFrame:
    """Return patients.tsv: one row for each column or word and each group of samples.

    Groups are classes, or event and no event; a row without a group is of all samples. Of a number
    there are median, smallest and largest value (``low``, ``high``); of a word its count and its
    share among samples with a value. Of more than `MAX_LISTED_LEVELS` words the rarer ones are
    counted together. The kind ``follow-up`` is the median of all samples, with its 95 % interval;
    ``units`` are the patients or other groups. `left_out` has the columns that describe no sample;
    they come last, with the reason as ``level``.
    """
    import pandas as pd

    groups = samples_by_response(dataset)
    sizes = {name: int(in_group.sum()) for name, in_group in groups.items()}
    # in the order of `PATIENT_COLUMNS`; a row may end early
    rows: list[tuple[Any, ...]] = [("", "samples", "", *size, 0) for size in sizes.items()]
    if dataset.design.group is not None:
        rows += _group_rows(dataset, groups)
    if dataset.design.classes is None:
        label = dataset.design.label
        rows += _number_rows(read_trait(label, dataset.obs[label].astype(str).tolist()), groups)
    if dataset.design.event is not None:
        y = dataset.response()
        times = follow_up(y["time"], y["event"])
        rows.append((dataset.design.label, "follow-up", "", "", len(y), 0, None, None, *times))
    for column in described:
        rows += (
            _word_rows(column, groups) if column.numbers is None else _number_rows(column, groups)
        )
    rows += [
        (name, "left out", reason, "", len(dataset.samples), 0) for name, reason in left_out.items()
    ]
    table = pd.DataFrame(
        [row + (None,) * (len(PATIENT_COLUMNS) - len(row)) for row in rows], columns=PATIENT_COLUMNS
    )
    return table.astype({"count": "Int64", **dict.fromkeys(FRACTION_COLUMNS, float)})


def samples_by_response(dataset: Dataset) -> Groups:
    """Return the samples of each class, or with and without the event; all samples last, as ''."""
    design: Design = dataset.design
    y = dataset.response()
    all_samples = np.ones(len(dataset.samples), dtype=bool)
    if design.classes is not None:
        codes = (-1, 1) if len(design.classes) == 2 else range(len(design.classes))
        samples_of_level = {
            name: y == code for name, code in zip(design.classes, codes, strict=True)
        }
    else:
        samples_of_level = (
            {} if design.event is None else {EVENT: y["event"], NO_EVENT: ~y["event"]}
        )
    return {**samples_of_level, "": all_samples}


def follow_up(time: Array, event: Array) -> tuple[float, float, float]:
    """Return the median time of follow-up and its 95 % interval by reversed Kaplan-Meier.

    The curve of `kaplan_meier` with censoring as the event and events as censoring: how long
    samples would have been followed had none had the event. The limits are where those of the
    curve, on the scale of log(-log S), cross one half. NaN where the curve does not come so far.

    Source: Schemper and Smith 1996; Brookmeyer and Crowley 1982.
    """
    curve = kaplan_meier(time, ~np.asarray(event, dtype=bool))
    low, high = (_time_at_half(curve.times, limit, curve.value) for limit in curve.interval())
    return curve.median(), low, high


def _time_at_half(times: Array, limit: Array, value: Array) -> float:
    """Return the first time at which a limit is at most half; the curve replaces limits of NaN."""
    below_half = np.flatnonzero(np.where(np.isnan(limit), value, limit) <= 0.5)
    return float(times[below_half[0]]) if len(below_half) else np.nan


def _group_rows(dataset: Dataset, groups: Groups) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that count the units of the samples, such as patients."""
    unit_names = dataset.groups()
    group_column = dataset.design.group
    for name, in_group in groups.items():
        n_units = len(set(unit_names[in_group])) if unit_names is not None else 0
        yield group_column, "units", "", name, int(in_group.sum()), 0, n_units


def _number_rows(column: Trait, groups: Groups) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each group with median, minimum and maximum of a number."""
    for name, in_group in groups.items():
        values = np.array([float(cell) for cell in column.cells[in_group & column.is_known]])
        summary = (np.median(values), values.min(), values.max()) if len(values) else (np.nan,) * 3
        n_samples = int(in_group.sum())
        n_missing = n_samples - len(values)
        yield column.name, "number", "", name, n_samples, n_missing, None, None, *summary


def _word_rows(column: Trait, groups: Groups) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each level of a word and each group; rare levels share one."""
    levels = column.levels
    listed = column.levels
    if len(levels) > MAX_LISTED_LEVELS:
        by_frequency = sorted(levels, key=lambda word: -int((column.cells == word).sum()))
        listed = sorted(by_frequency[: MAX_LISTED_LEVELS - 1])
    rows = [("word", level, column.cells == level) for level in listed]
    if len(listed) < len(levels):
        is_rare = column.is_known & ~np.isin(column.cells, listed)
        rows.append((RARE_LEVELS, str(len(levels) - len(listed)), is_rare))
    for kind, level, is_member in rows:
        for name, in_group in groups.items():
            n_samples = int(in_group.sum())
            n_known = int((in_group & column.is_known).sum())
            n_members = int((in_group & is_member).sum())
            share = n_members / n_known if n_known else np.nan
            yield column.name, kind, level, name, n_samples, n_samples - n_known, n_members, share


def subgroups_table(
    held_out: HeldOutScores, headline: Headline, columns: Sequence[Trait]
) -> pd.DataFrame:
    """Return subgroups.tsv: the held-out error of the predictive model in each subgroup.

    The first row is of all samples. Error and interval are those of `assess`, of the subgroup's
    samples alone: of survival over pairs inside it, of a number 1 - R² around its own mean. A
    column is left out with fewer than two subgroups whose error is defined; with classes an error
    needs samples of each.

    held_out: with one column of scores, under no permutation. headline: the reported error.
    columns: of all samples.
    """
    import pandas as pd

    rows = [{"column": "", "level": "", **_measure_subgroup(held_out, headline)}]
    for column in columns:
        column_rows = [
            {
                "column": column.name,
                "level": level,
                **_measure_subgroup(_take_subgroup(held_out, in_subgroup), headline),
            }
            for level, in_subgroup in subgroups(column)
        ]
        column_rows = [row for row in column_rows if not np.isnan(row["error"])]
        rows += column_rows if len(column_rows) > 1 else []
    return pd.DataFrame(rows, columns=SUBGROUP_COLUMNS).astype({"events": "Int64"})


def subgroups(column: Trait) -> Iterator[tuple[str, Array]]:
    """Yield the subgroups of a column that are large enough, and the samples of each, (n,)."""
    parts_of_column: list[tuple[str, Array]] = []
    if column.numbers is not None:
        median = float(np.nanmedian(column.numbers))
        parts_of_column = [
            (f"≤ {median:.4g}", column.numbers <= median),
            (f"> {median:.4g}", column.numbers > median),
        ]
    elif len(column.levels) <= MAX_LISTED_LEVELS:
        parts_of_column = [(word, column.cells == word) for word in column.levels]
    yield from (
        (level, in_subgroup)
        for level, in_subgroup in parts_of_column
        if in_subgroup.sum() >= MIN_SUBGROUP_SAMPLES
    )


def _take_subgroup(held_out: HeldOutScores, in_subgroup: Array) -> HeldOutScores:
    """Return the scores of the samples of a subgroup, (n,) bool, with consecutive repeats."""
    subgroup = held_out.take_rows(np.flatnonzero(in_subgroup[held_out.row]))
    return replace(subgroup, repeat=np.unique(subgroup.repeat, return_inverse=True)[1])


def _measure_subgroup(held_out: HeldOutScores, headline: Headline) -> dict[str, Any]:
    """Return the columns of a subgroup: number of samples, of events, the error and its limits."""
    y = held_out.y[np.unique(held_out.row, return_index=True)[1]]  # of each sample once
    if not len(y):
        return {"samples": 0, "events": None, "error": np.nan, "low": np.nan, "high": np.nan}
    (assessment,) = assess(held_out, headline)
    return {
        "samples": len(y),
        "events": int(y["event"].sum()) if y.dtype == SURVIVAL_DTYPE else None,
        "error": assessment.error,
        "low": assessment.low,
        "high": assessment.high,
    }


def effects_table(dataset: Dataset, held_out: HeldOutScores) -> pd.DataFrame:
    """Return score_effect.tsv: the effect of one standard deviation of the held-out score.

    The odds ratio of two classes, and of each of several against the rest (``class``); the hazard
    ratio; of a number the slope, in its own unit. With covariates there is a second row, adjusted
    for these (``adjusted``); a missing value is the mean. See `score_effect`.
    """
    import pandas as pd

    y = held_out.y
    f = held_out.scores[:, 0]
    classes = dataset.design.classes
    sides_by_class = {"": (y, f)}
    if classes is not None:
        # Of two classes only the second, the positive one, has a row.
        parts = class_sides(y, f) if len(classes) > 2 else [(y > 0, f)]
        sides_by_class = dict(zip(classes[-len(parts) :], parts, strict=True))
    covariates = Covariates.from_dataset(dataset)
    rows = []
    measure, scale = EFFECT_MEASURES[dataset.design.task]
    for name, (response, score) in sides_by_class.items():
        no_covariates = np.zeros((len(score), 0))
        covariates_by_adjustment = {"no": no_covariates}
        if covariates is not None and dataset.design.covariates:
            covariates_by_adjustment["yes"] = _filled_covariates(covariates)[held_out.row]
        for adjusted, C in covariates_by_adjustment.items():
            effect = scale(np.array(score_effect(held_out, response, score, C)))
            rows.append((measure, name, adjusted, *effect))
    return pd.DataFrame(rows, columns=["measure", "class", "adjusted", "value", "low", "high"])


def _filled_covariates(covariates: Covariates) -> Array:
    """Return the covariates of each sample, (n, q), with the knots and means of all samples."""
    C = spline_columns(
        covariates.values, covariates.training_knots(np.ones(len(covariates.values), dtype=bool))
    )
    return np.where(np.isnan(C), np.nanmean(C, axis=0), C)


def next_study_table(
    held_out: HeldOutScores, headline: Headline, classes: Sequence[str] | None
) -> pd.DataFrame:
    """Return next_study.tsv: samples for a 95 % interval with a half-width of `HALF_WIDTH`.

    Once for the measured value and once for the lower limit of its interval (``basis``), which is
    the safer number; ``events`` are samples of the rarer side, or with the event. Of several
    classes each against the rest. Empty where the interval holds chance: then a validation is not
    the next step.

    held_out: with one column of scores, under no permutation. headline: the reported error.
    """
    import pandas as pd

    if classes is not None:
        rows = list(_area_rows(held_out, classes))
    elif held_out.y.dtype == SURVIVAL_DTYPE:
        rows = list(_concordance_rows(held_out, headline))
    else:
        (assessment,) = assess(held_out, headline)
        values = {"value": 1 - assessment.error, "lower limit": 1 - assessment.high}
        rows = [
            ("R²", basis, value, samples_for_r2(value), None)
            for basis, value in values.items()
            if values["lower limit"] > 0
        ]
    return pd.DataFrame(rows, columns=NEXT_STUDY_COLUMNS).astype(
        {"samples": "Int64", "events": "Int64"}
    )


def samples_for_area(area: float, share: float) -> int:
    """Return the least n whose 95 % intervals of the AUC are at most 2 `HALF_WIDTH` wide.

    share: share of one class among the samples. With ``V = area (1 - area) (1 + (n/2 - 1) k) /
    (n² share (1 - share))``, ``k = (1 - area)/(2 - area) + area/(1 + area)``, the condition
    ``z √V <= HALF_WIDTH`` is ``a n² - b n - c >= 0``. V is that of `intervals.area_variance`. Near
    1 the score interval, which the AUC of a cohort has, is wider and needs more samples.

    Source: Hanley and McNeil 1982; Newcombe 2006; Riley et al. 2021, section 3.3.
    """
    spread = area * (1 - area)
    k = (1 - area) / (2 - area) + area / (1 + area)
    a = share * (1 - share) * (HALF_WIDTH / NORMAL_QUANTILE) ** 2
    b = spread * k / 2
    c = spread * (1 - k)
    n = max(2, int(np.ceil((b + np.sqrt(b**2 + 4 * a * c)) / (2 * a) - 1e-9)))
    while np.ptp(newcombe(area, n * share, n * (1 - share))) > 2 * HALF_WIDTH + 1e-9:
        n += 1
    return n


def samples_for_r2(value: float) -> int:
    """Return the smallest n >= `MIN_R2_SAMPLES` with z √(4 R² (1 - R²)²/n) <= `HALF_WIDTH`.

    Source: Archer et al. 2021.
    """
    return max(
        MIN_R2_SAMPLES,
        int(np.ceil(4 * value * (1 - value) ** 2 * (NORMAL_QUANTILE / HALF_WIDTH) ** 2 - 1e-9)),
    )


def events_for_concordance(variance: float, events: int) -> int:
    """Return the events e V (z/`HALF_WIDTH`)², from the variance V that C has with e events.

    The variance falls with the number of events, other things equal (Jinks et al. 2015).
    """
    return int(np.ceil(events * variance * (NORMAL_QUANTILE / HALF_WIDTH) ** 2 - 1e-9))


def _area_rows(held_out: HeldOutScores, classes: Sequence[str]) -> Iterator[NeededSamples]:
    """Yield the rows of two classes, or of each of several against the rest."""
    f = held_out.scores[:, 0]
    has_several_classes = len(classes) > 2
    class_areas = class_sides(held_out.y, f) if has_several_classes else [(held_out.y > 0, f)]
    for name, side in zip(classes if has_several_classes else ("",), class_areas, strict=True):
        value, low, _ = held_out_area(held_out, [side])
        if not low > 0.5:
            continue
        share = float(np.mean(side[0]))
        measure = f"AUC of {name}" if has_several_classes else "AUC"
        for basis, area in (("value", value), ("lower limit", low)):
            n_samples = samples_for_area(area, share)
            yield measure, basis, area, n_samples, int(np.ceil(n_samples * min(share, 1 - share)))


def _concordance_rows(held_out: HeldOutScores, headline: Headline) -> Iterator[NeededSamples]:
    """Yield the rows of C, its variance the mean over repeats of that over groups of samples.

    Groups are counted, such as patients; each sample is its own without them.
    """
    (assessment,) = assess(held_out, headline)
    value = 1 - assessment.error
    low = 1 - assessment.high
    if not 0.5 < low <= value < 1:
        return
    n_group_events = len(np.unique(held_out.groups[held_out.y["event"]]))
    n_groups = len(np.unique(held_out.groups))
    variance = _concordance_variance(held_out)
    for basis, concordance in (("value", value), ("lower limit", low)):
        n_events = events_for_concordance(  # the variance is taken in proportion to C (1 - C)
            variance * concordance * (1 - concordance) / (value * (1 - value)), n_group_events
        )
        yield "C", basis, concordance, int(np.ceil(n_events * n_groups / n_group_events)), n_events


def _concordance_variance(held_out: HeldOutScores) -> float:
    """Return the variance of C over groups of samples, the mean of the repeats."""
    variances = []
    _, group = np.unique(held_out.groups, return_inverse=True)
    for repeat in np.unique(held_out.repeat):
        test_sets = [
            np.flatnonzero((held_out.split == s) & (held_out.repeat == repeat))
            for s in np.unique(held_out.split[held_out.repeat == repeat])
        ]
        y = held_out.y
        concordances = [
            (rows, repeat, harrell(y["time"][rows], y["event"][rows], held_out.scores[rows, 0]))
            for rows in test_sets
        ]
        # Only the influence is used, which does not depend on the number of events.
        influence = pool_concordance(concordances, len(held_out.y), group=group).influence
        group_influence = np.bincount(group[: len(influence)], weights=influence)
        variances.append(float(group_influence @ group_influence))
    return float(np.mean(variances))
