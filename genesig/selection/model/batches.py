"""Of which batch new samples are, where the model corrects batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from genesig.errors import Problem, refuse
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd


def check_batches(steps: Sequence[Any], about: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse a sample table that cannot say of which batch the new samples are."""
    for step in steps:
        if step.kind != "batch":
            continue
        lacking = [column for column in map(str, step.columns) if column not in about.columns]
        if lacking:
            what = f"has no column {listing(lacking)}, which combat looks at (columns: "
            raise refuse("--samples", f"{what}{listing(about.columns, 6)})")
        if not about.index.isin(list(names)).any():
            what = f"none of the new samples is in this table: they are {listing(names)}, it has "
            raise refuse("--samples", what + listing(map(str, about.index)))


def not_corrected(steps: Sequence[Any], names: Sequence[str], about: pd.DataFrame | None,
                  where: str) -> Iterator[Problem]:  # fmt: skip
    """Warn of samples that no learned step can bring to the training batches."""
    steps = [step for step in steps if step.kind == "batch"]
    if about is not None and not steps:
        yield Problem("--samples", "is not needed: the model corrects no batches", "warning")
    for step in steps:
        left = [n for n, is_left in zip(names, step.uncorrected(about, len(names)), strict=True)
                if is_left]  # fmt: skip
        if left:
            column, *covariates = map(str, step.columns)
            also = f" (and {listing(covariates)})" if covariates else ""
            what = f"combat leaves {counted(len(left), 'sample')} as measured, of no batch that "
            what += f"the model knows ({listing(step.batches, 6)}): {listing(left)}"
            if about is None:
                what += f"; --samples names the table whose column '{column}'{also} says of which "
                what += "batch a sample is"
            yield Problem(where, what, "warning")
