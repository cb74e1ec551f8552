"""Each sample as a step function along every chromosome: copy numbers, array CGH."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.genome.order import Genome
from genesig.results.dataset import CHROMOSOME, POSITION

if TYPE_CHECKING:
    import pandas as pd

NAME = "segment"


@dataclass(frozen=True, eq=False)
class Segment:
    """``min_f 1/2 ||f - x||² + tau sd sum |f_{i+1} - f_i|`` along each chromosome of a sample x.

    sd is that of the sample's own noise, from the differences of neighbours; without noise a sample
    stays as it is. Columns without a place stay, too.

    Attributes
    ----------
    tau : float or None
        None takes several and gives each segment its mean, of the segments that BIC keeps.
    order : (m,) int or None
        Columns along the chromosomes, without those of no place; None is all, as they stand.
    starts : (c,) int or None
        Where in `order` each chromosome begins, the first at 0.

    Notes
    -----
    S. Mosci (2009), chapter 5; N. A. Johnson (2013), J. Comput. Graph. Stat. 22:246.
    """

    tau: float | None
    order: Array | None = None
    starts: Array | None = None
    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def __post_init__(self) -> None:
        """Refuse lines that are empty or lead out of `order`: they may be those of a file."""
        if self.order is None or self.starts is None or not len(self.order):
            return
        begins = [*self.starts, len(self.order)]
        if begins[0] != 0 or np.diff(begins).min() < 1 or len({*self.order}) < len(self.order):
            raise GenesigError(f"{NAME}: lines must begin at 0 and grow, and hold a column once")

    def transform(self, X: Array) -> Array:
        """Denoise each row."""
        from genesig.genome.total_variation import ONE, denoised

        out = np.array(X, dtype=float)
        order = np.arange(X.shape[1]) if self.order is None else self.order
        starts = ONE if self.starts is None else self.starts
        if len(order):
            for row, x in enumerate(out[:, order]):
                out[row, order] = denoised(x, starts, self.tau)
        return out

    def among(self, columns: Array) -> Segment:
        """Return the step where only some columns are left, which are numbered anew."""
        if self.order is None or self.starts is None:
            return self
        number = {column: place for place, column in enumerate(columns.tolist())}
        left = [k for k, column in enumerate(self.order.tolist()) if column in number]
        line = np.searchsorted(self.starts, left, side="right")
        order = np.array([number[int(self.order[k])] for k in left], dtype=np.int64)
        return replace(self, order=order, starts=np.flatnonzero(np.diff(line, prepend=0)))


def among(step: Any, columns: Array) -> Any:
    """Return a step, of whatever kind, where of the columns that it was told of some are left."""
    return step.among(columns) if hasattr(step, "among") else step


def with_places(steps: Sequence[Mapping[str, Any]], var: pd.DataFrame) -> list[dict[str, Any]]:
    """Tell the steps that go along chromosomes where columns lie.

    Parameters
    ----------
    steps : list of steps
    var : DataFrame, index = gene ids
        Of the genes as the first of the steps sees them; `fit_steps` follows what the others see.

    Raises
    ------
    GenesigError
        The gene table does not say where genes lie.
    """
    return [{**step, **_places(var)} if step["step"] == NAME else dict(step) for step in steps]


def _places(var: pd.DataFrame) -> dict[str, Array]:
    if POSITION not in var or CHROMOSOME not in var:
        raise GenesigError(
            f"{NAME}: needs to know where genes lie; set data.chromosome and data.position"
        )
    position = var[POSITION].to_numpy(dtype=float)
    there = np.flatnonzero(np.isfinite(position))
    names = var[CHROMOSOME].astype(str).to_numpy(dtype=object)[there]
    genome = Genome.of(len(there), names, position[there])
    return {"order": there[genome.order], "starts": genome.starts}
