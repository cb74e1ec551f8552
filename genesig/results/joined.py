"""The fits of all jobs as one record."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from genesig.errors import GenesigError
from genesig.results import Fits, Splits


def joined(parts: Sequence[Fits], splits: Splits) -> Fits:
    """Join batches, sorted by permutation and split; nothing may be missing or there twice.

    Raises
    ------
    GenesigError
        Naming the first splits that are not there exactly once under some permutation: a mean
        over fewer splits than the study has would look like a result.
    """
    names = [split.name for split in splits.outer]
    fits = Fits.gather(parts, names)
    numbers = np.unique(fits.permutation)
    wanted = [(int(number), name) for number in numbers for name in names]
    found = list(zip(map(int, fits.permutation), map(str, fits.split), strict=True))
    if found != wanted:
        wrong = [pair for pair in wanted if found.count(pair) != 1]
        shown = ", ".join(f"split {name} of permutation {number}"
                          for number, name in islice(wrong, 5))  # fmt: skip
        raise GenesigError(f"fits: {len(wrong)} are missing or there twice: {shown}")
    return fits
