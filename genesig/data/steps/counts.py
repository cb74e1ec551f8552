"""RNA-seq counts on the scale of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.errors import GenesigError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class LogCpm:
    """``log2(10^6 x / sum(x) + prior)``: log2 of counts per million of the sample's own library.

    Attributes
    ----------
    prior : float
        In counts per million; values below it become alike.
    """

    prior: float
    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Divide each row by its sum and take the logarithm.

        Raises
        ------
        GenesigError
            A count is negative, or a sample has none.
        """
        rows = np.ascontiguousarray(X)  # sums along rows must not depend on the memory layout
        library = rows.sum(axis=1, keepdims=True)
        if rows.min(initial=0) < 0 or not np.all(library > 0):
            fault = f"found {rows.min():g}" if rows.min() < 0 else "one sample has only zeros"
            raise GenesigError(
                f"normalise.samples: log_cpm needs counts, 0 or more and not all 0; {fault}"
            )
        return np.asarray(np.log2(1e6 * rows / library + self.prior))
