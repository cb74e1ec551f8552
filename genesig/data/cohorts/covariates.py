"""New samples and the covariates of a study: each needs those that the model holds fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from genesig.errors import Problem, did_you_mean
from genesig.response.covariates import Covariate
from genesig.words import counted, is_missing, is_number, listing, number_fault, too

if TYPE_CHECKING:
    import pandas as pd


def check_known(
    covariates: Sequence[Covariate], filled: bool, about: pd.DataFrame | None, where: str
) -> Iterator[Problem]:
    """Yield what of the covariates fits no model with these; every one of them is needed.

    Parameters
    ----------
    covariates : sequence of Covariate
    filled : bool
        Whether a missing value may be the mean of the training samples.
    about : DataFrame or None
        Sample table, one row for each new sample.
    where : str
        Its file, or ``--samples``.
    """
    if not covariates:
        return
    names = [each.column for each in covariates]
    if about is None:
        yield Problem(where, f"the model needs {listing(names)} of each sample; name the sample "
                      "table that has them")  # fmt: skip
        return
    lacking = [name for name in names if name not in about.columns]
    if lacking:
        near = did_you_mean(lacking[0], map(str, about.columns))
        yield Problem(where, f"has no column {listing(lacking)}, which the model needs (columns: "
                      f"{listing(map(str, about.columns), 6)}){near}")  # fmt: skip
        return
    for each in covariates:
        yield from _of_one(each, filled, about, where)


def _of_one(
    covariate: Covariate, filled: bool, about: pd.DataFrame, where: str
) -> Iterator[Problem]:
    at = f"{where}, column '{covariate.column}'"
    column = about[covariate.column].fillna("")
    spelt = covariate.spelt(map(str, column))
    cells = dict(zip(map(str, column.index), spelt, strict=True))
    blank = [name for name, cell in cells.items() if is_missing(cell)]
    if blank:
        what = f"no value for {counted(len(blank), 'sample')} ({listing(blank)})"
        level, rest = "error", "; the model needs one for every sample"
        if filled:
            level, rest = "warning", "; imputed with the mean of the training samples"
        yield Problem(at, what + rest, level)  # type: ignore[arg-type]
    known = {name: cell for name, cell in cells.items() if not is_missing(cell)}
    if covariate.levels is None:
        wrong = [name for name, cell in known.items() if not is_number(cell)]
        if wrong:
            what = f"the value of '{wrong[0]}' {number_fault(known[wrong[0]])}, needs a number"
            yield Problem(at, what + too(len(wrong) - 1, "sample"))
        return
    strange = sorted({cell for cell in known.values() if cell not in covariate.levels})
    if strange:
        what = f"{listing(strange)} was in no training sample (they have "
        what += f"{listing(covariate.levels, 6)}){did_you_mean(strange[0], covariate.levels)}; "
        yield Problem(at, what + "write it so, or leave it blank where the study fills it in")
