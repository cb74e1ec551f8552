"""The fits of all jobs as one record."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from genesig.errors import GenesigError
from genesig.results.fits import Fits
from genesig.results.splits import Splits


def joined(parts: Sequence[Fits], splits: Splits) -> Fits:
    """Join batches, sorted by permutation and split; nothing may be missing or there twice.

    Raises
    ------
    GenesigError
        See `refuse_gaps`.
    """
    names = [split.name for split in splits.outer]
    fits = Fits.gather(parts, names)
    refuse_gaps(list(zip(map(int, fits.permutation), map(str, fits.split), strict=True)), names)
    return fits


def refuse_gaps(found: Sequence[tuple[int, str]], names: Sequence[str]) -> None:
    """Refuse (permutation, split) pairs, sorted, that are not each of the splits once.

    Raises
    ------
    GenesigError
        Naming the first that are not there exactly once under some permutation: a mean over fewer
        splits than the study has would look like a result.
    """
    wanted = [(number, name) for number in sorted({number for number, _ in found})
              for name in names]  # fmt: skip
    if found != wanted:
        wrong = [pair for pair in wanted if found.count(pair) != 1]
        shown = ", ".join(f"split {name} of permutation {number}"
                          for number, name in islice(wrong, 5))  # fmt: skip
        raise GenesigError(f"fits: {len(wrong)} are missing or there twice: {shown}")
