"""The summary over data sets, and which of the goals are reached."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from answers_rivals import RIVALS

RATIO, MEAN_RATIO = 1.4, 2.5
"""What the stability of today's lists is to be multiplied by, at least: each, geometric mean."""

HARD, FEW = 0.3, 3
"""From this error on, and up to this length of the minimal list, no stability is asked for."""

CORE, OFTEN = 5, 4 / 6
"""Genes that a core needs; share of the data sets that need such a core."""

NOTHING = 0.01
"""A smaller agreement counts as this one, so that a ratio to chance has an end."""


def summary(rows: pd.DataFrame, goals_of: list[str]) -> Iterator[str]:
    """Yield the lines below the tables.

    Parameters
    ----------
    rows : DataFrame
        As `answers_table.table` makes them, of all data sets.
    goals_of : list of str
        The data sets that the goals are about; those among them that were run count.
    """
    rows = rows[rows["data"].isin(goals_of)]
    names = list(rows["data"].unique())
    if not names:
        return
    errors = rows.groupby("method", sort=False)["error"].mean()
    yield (
        f"Mean balanced error over {len(names)} data sets ({', '.join(names)}), and its mean "
        "difference to the first, 95 % over samples:"
    )
    for method, each in rows.groupby("method", sort=False):
        half = float(np.sqrt(np.square((each["high"] - each["low"]) / 2).sum())) / len(each)
        yield f"  {method}: {errors[method]:.3f} ({each['difference'].mean():+.3f} ± {half:.3f})"
    yield from _error(errors)
    yield from _stability(rows)
    yield from _core(rows)
    yield "Not measured here: p-values under the null, noise at chance, time of the default study."


def verdict(reached: bool) -> str:
    """Say it in words."""
    return "reached" if reached else "not reached"


def _error(errors: pd.Series) -> Iterator[str]:
    rivals = errors[[method for method in errors.index if method in RIVALS]]
    if "genesig" not in errors or rivals.empty:
        return
    best, own = rivals.idxmin(), errors["genesig"]
    yield (
        f"Error at most that of the best single rival ({best}, {rivals[best]:.3f}): {own:.3f}, "
        f"{verdict(own <= rivals[best])}"
    )


def _stability(rows: pd.DataFrame) -> Iterator[str]:
    methods = {method: part.set_index("data") for method, part in rows.groupby("method")}
    if not {"genesig", "minimal"} <= methods.keys():
        return
    own, today = methods["genesig"], methods["minimal"]
    asked = own.index[(own["error"] < HARD) & (today["size"] > FEW)]
    for column, said in (
        ("stability_fixed", "at the setting chosen on all samples (the goal)"),
        ("stability", "chosen again in each half (beside it)"),
    ):
        ratio = own[column].clip(lower=NOTHING) / today[column].clip(lower=NOTHING)
        each = ", ".join(
            f"{name} {value:.2f}" + ("" if name in asked else " (not asked for)")
            for name, value in ratio.items()
        )
        yield f"Stability, genesig over minimal, {said}: {each}"
        if len(asked):
            least, mean = ratio[asked].min(), float(np.exp(np.log(ratio[asked]).mean()))
            yield f"  smallest {least:.2f}, asked {RATIO}: {verdict(least >= RATIO)}"
            yield f"  geometric mean {mean:.2f}, asked {MEAN_RATIO}: {verdict(mean >= MEAN_RATIO)}"


def _core(rows: pd.DataFrame) -> Iterator[str]:
    own = rows[rows["method"] == "genesig"]
    if own.empty:
        return
    enough, needed = int((own["core"] >= CORE).sum()), int(np.ceil(OFTEN * len(own)))
    yield (
        f"Core of at least {CORE} genes: {enough} of {len(own)} data sets, at least {needed}: "
        f"{verdict(enough >= needed)}"
    )
