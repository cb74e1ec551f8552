"""Each sample as a step function along every chromosome: copy numbers, array CGH."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.transforms import RowWiseStep
from genesig.errors import GenesigError
from genesig.genome import Genome
from genesig.results.dataset import CHROMOSOME, POSITION

if TYPE_CHECKING:
    import pandas as pd

SEGMENT = "segment"


@dataclass(frozen=True, eq=False)
class Segment(RowWiseStep):
    """``min_f 1/2 ||f - x||² + tau sd sum |f_{i+1} - f_i|`` along each chromosome of a sample x.

    sd is the standard deviation of the sample's own noise, from the differences of neighbours; a
    sample without noise stays as it is. Columns of unknown position stay, too.

    Notes
    -----
    S. Mosci (2009), chapter 5; N. A. Johnson (2013), J. Comput. Graph. Stat. 22:246.
    """

    # weight of the jumps. None tries several, and gives segments chosen by BIC their mean.
    tau: float | None
    # (m,) int or None: columns along the chromosomes, without columns of unknown position; None is
    # all in order
    order: Array | None = None
    # (c,) int or None: index in `order` at which each chromosome begins, the first at 0
    starts: Array | None = None

    def __post_init__(self) -> None:
        """Raise if a chromosome is empty or outside `order`: the fields may come from a file."""
        if self.order is None or self.starts is None or not len(self.order):
            return
        begins = [*self.starts, len(self.order)]
        if begins[0] != 0 or np.diff(begins).min() < 1 or len({*self.order}) < len(self.order):
            raise GenesigError(f"{SEGMENT}: lines must begin at 0 and grow, and hold a column once")

    def transform(self, X: Array) -> Array:
        """Denoise each row."""
        from genesig.compiled.steps import SINGLE_LINE, denoise_sample

        segmented = np.array(X, dtype=float)
        order = np.arange(X.shape[1]) if self.order is None else self.order
        starts = SINGLE_LINE if self.starts is None else self.starts
        if len(order):
            for row, values in enumerate(segmented[:, order]):
                segmented[row, order] = denoise_sample(values, starts, self.tau)
        return segmented

    def among(self, columns: Array) -> Segment:
        """Return the step for a matrix of only the given columns, in this order."""
        if self.order is None or self.starts is None:
            return self
        new_number = {column: position for position, column in enumerate(columns.tolist())}
        remaining = [
            index for index, column in enumerate(self.order.tolist()) if column in new_number
        ]
        line_of_remaining = np.searchsorted(self.starts, remaining, side="right")  # from 1
        order = np.array(
            [new_number[int(self.order[index])] for index in remaining], dtype=np.int64
        )
        return replace(
            self, order=order, starts=np.flatnonzero(np.diff(line_of_remaining, prepend=0))
        )


def among(step: Any, columns: Array) -> Any:
    """Return any step for a matrix of only the given columns, in this order."""
    return step.among(columns) if hasattr(step, "among") else step


def with_places(steps: Sequence[Mapping[str, Any]], var: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the steps with the order of the columns along chromosomes as a setting of `Segment`.

    var: the gene table before the first step; `fit_steps` selects the columns that are left later.

    Raises GenesigError: the gene table does not say where genes lie.
    """
    return [
        {**step, **_column_order(var)} if step["step"] == SEGMENT else dict(step) for step in steps
    ]


def _column_order(var: pd.DataFrame) -> dict[str, Array]:
    """Return `order` and `starts` of `Segment`."""
    if POSITION not in var or CHROMOSOME not in var:
        raise GenesigError(
            f"{SEGMENT}: needs to know where genes lie; set data.chromosome and data.position"
        )
    position = var[POSITION].to_numpy(dtype=float)
    located = np.flatnonzero(np.isfinite(position))
    chromosomes = var[CHROMOSOME].astype(str).to_numpy(dtype=object)[located]
    genome = Genome.from_columns(len(located), chromosomes, position[located])
    return {"order": located[genome.order], "starts": genome.starts}
