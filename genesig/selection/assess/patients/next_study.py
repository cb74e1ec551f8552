"""How many patients a validation needs to measure this study's AUC, C or R² precisely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.response.survival import SURVIVAL_DTYPE
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.intervals import Z
from genesig.selection.assess.kinds.by_class import held_out_area
from genesig.selection.assess.kinds.record import Headline, HeldOut
from genesig.selection.assess.several import sides
from genesig.selection.assess.survival import harrell, pooled

if TYPE_CHECKING:
    import pandas as pd

Need = tuple[str, str, float, int, int | None]

HALF = 0.05
"""Half the width of the 95 % interval that a validation is to have."""
FEWEST = 234
"""Samples that tell a standard deviation to within 10 % (Riley et al. 2019, criterion 3)."""
COLUMNS = ["measure", "basis", "value", "samples", "events"]


def next_study_table(
    found: HeldOut, headline: Headline, classes: Sequence[str] | None
) -> pd.DataFrame:
    """Return next_study.tsv: samples that give the 95 % interval a half-width of `HALF`.

    Once for the measured value and once for the lower limit of its interval (``basis``), which is
    the safer number; ``events`` are samples of the rarer side, or with the event. Of several
    classes each against the rest. Empty where the interval holds chance: then a validation is not
    the next step.

    Parameters
    ----------
    found : HeldOut
        With one column of scores, under no permutation.
    """
    import pandas as pd

    if classes is not None:
        rows = [row for one in _areas(found, classes) for row in one]
    elif found.y.dtype == SURVIVAL_DTYPE:
        rows = list(_of_times(found, headline))
    else:
        own = assess(found, headline)[0]
        values = {"value": 1 - own.error, "lower limit": 1 - own.high}
        rows = [("R²", basis, value, for_r2(value), None) for basis, value in values.items()
                if values["lower limit"] > 0]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS).astype({"samples": "Int64", "events": "Int64"})


def for_area(area: float, share: float, half: float = HALF) -> int:
    """Return the least n with z √V(area; n share, n (1 - share)) <= half, V of `area_variance`.

    A root of a quadratic in n (Hanley and McNeil 1982; Newcombe 2006; Riley et al. 2021, section
    3.3).
    """
    spread, slope = area * (1 - area), (1 - area) / (2 - area) + area / (1 + area)
    a, b, c = share * (1 - share) * (half / Z) ** 2, spread * slope / 2, spread * (1 - slope)
    return int(np.ceil((b + np.sqrt(b**2 + 4 * a * c)) / (2 * a) - 1e-9))


def for_r2(value: float, half: float = HALF) -> int:
    """Return the least n with z √(4 R² (1 - R²)²/n) <= half, and no fewer than `FEWEST`.

    The first is of Archer et al. 2021.
    """
    return max(FEWEST, int(np.ceil(4 * value * (1 - value) ** 2 * (Z / half) ** 2 - 1e-9)))


def for_concordance(variance: float, events: int, half: float = HALF) -> int:
    """Return the events e V (z/half)², from the variance V that C has with e events.

    The variance falls with the number of events, other things equal (Jinks et al. 2015).
    """
    return int(np.ceil(events * variance * (Z / half) ** 2 - 1e-9))


def _areas(found: HeldOut, classes: Sequence[str]) -> Iterator[list[Need]]:
    """Give the rows of two classes, or of each of several against the rest."""
    f, several = found.scores[:, 0], len(classes) > 2
    each = sides(found.y, f) if several else [(found.y > 0, f)]
    for name, side in zip(classes if several else ("",), each, strict=True):
        value, low, _ = held_out_area(found, [side])
        if not low > 0.5:
            continue
        share = float(np.mean(side[0]))
        measure = f"AUC of {name}" if several else "AUC"
        yield [(measure, basis, at, n, int(np.ceil(n * min(share, 1 - share))))
               for basis, at in (("value", value), ("lower limit", low))
               for n in [for_area(at, share)]]  # fmt: skip


def _of_times(found: HeldOut, headline: Headline) -> Iterator[Need]:
    """Give the rows of C, its variance the mean over repeats of that over groups of samples.

    Groups are counted, such as patients; each sample is its own without them.
    """
    own = assess(found, headline)[0]
    value, low = 1 - own.error, 1 - own.high
    if not 0.5 < low < 1:
        return
    events = len(np.unique(found.groups[found.y["event"]]))
    units, variance = len(np.unique(found.groups)), _variance(found)
    for basis, at in (("value", value), ("lower limit", low)):
        need = for_concordance(variance * at * (1 - at) / (value * (1 - value)), events)
        yield "C", basis, at, int(np.ceil(need * units / events)), need


def _variance(found: HeldOut) -> float:
    """Return the variance of C over groups of samples, the mean of the repeats."""
    each = []
    _, group = np.unique(found.groups, return_inverse=True)
    for repeat in np.unique(found.repeat):
        tests = [np.flatnonzero((found.split == s) & (found.repeat == repeat))
                 for s in np.unique(found.split[found.repeat == repeat])]  # fmt: skip
        parts = [(rows, 0, harrell(found.y["time"][rows], found.y["event"][rows],
                                   found.scores[rows, 0])) for rows in tests]  # fmt: skip
        U = pooled(parts, len(found.y), 0.0, group).influence
        by_group = np.bincount(group[: len(U)], weights=U)
        each.append(float(by_group @ by_group))
    return float(np.mean(each))
