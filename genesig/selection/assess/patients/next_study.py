"""Sample size of a validation study that measures the AUC, C or R² of this study precisely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.response.kinds import SURVIVAL_DTYPE
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.intervals import NORMAL_QUANTILE, newcombe
from genesig.selection.assess.kinds import Headline, HeldOutScores, held_out_area
from genesig.selection.assess.several import class_sides
from genesig.selection.assess.survival import harrell, pool_concordance

if TYPE_CHECKING:
    import pandas as pd

NeededSamples = tuple[str, str, float, int, int | None]
"""A row of next_study.tsv, in the order of `NEXT_STUDY_COLUMNS`."""

HALF_WIDTH = 0.05  # half the width of the 95 % interval that a validation is to have
MIN_R2_SAMPLES = 234
"""Samples that estimate a standard deviation to within 10 % (Riley et al. 2019, criterion 3)."""
NEXT_STUDY_COLUMNS = ["measure", "basis", "value", "samples", "events"]


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
    if not 0.5 < low < 1:
        return
    n_group_events = len(np.unique(held_out.groups[held_out.y["event"]]))
    n_groups = len(np.unique(held_out.groups))
    variance = _concordance_variance(held_out)
    for basis, concordance in (("value", value), ("lower limit", low)):
        n_events = events_for_concordance(
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
