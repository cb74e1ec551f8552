"""Logarithms of intensities, small and large ones cut off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Log2:
    """``log2(min(max(x, floor), ceiling))``."""

    floor: float
    ceiling: float
    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Cut to [floor, ceiling] and take the logarithm."""
        return np.asarray(np.log2(np.clip(X, self.floor, self.ceiling)))
