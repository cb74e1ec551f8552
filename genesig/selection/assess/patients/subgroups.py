"""The held-out error in parts of the samples: those of one word, or up to a median and above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.response.survival import TIMES
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.kinds.record import Headline, HeldOut
from genesig.selection.assess.patients.traits import MOST_LEVELS, Trait

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

FEWEST = 10
"""Samples of a subgroup."""
COLUMNS = ["column", "level", "samples", "events", "error", "low", "high"]


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
    return pd.DataFrame(rows, columns=COLUMNS).astype({"events": "Int64"})


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
    return len(y), int(y["event"].sum()) if y.dtype == TIMES else None, own.error, own.low, own.high
