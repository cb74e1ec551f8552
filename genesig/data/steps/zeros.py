"""Zeros that mean missing values, as in label-free proteomics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from genesig.arrays import Array

ZEROS_AS_MISSING = "zeros_as_missing"


@dataclass(frozen=True)
class ZerosAsMissing:
    """Replace zeros by NaN, which a step of normalise.folds fills in."""

    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Replace zeros by NaN."""
        return np.where(X == 0, np.nan, X)
