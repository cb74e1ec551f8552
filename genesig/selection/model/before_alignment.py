"""Whether logarithms are missing, told before new samples are taken by moments of their own.

Where each gene is taken by its mean and its spread over the new samples, these lie where training
samples lie whatever their scale was. What the alignment leaves out of sight is told before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.scale import middle_and_top, spread_as_raw
from genesig.words import further_text

NOT_TOLD = (
    "not told: the model takes each gene relative to the new samples themselves, which puts them"
    " where the training samples lie, whatever their scale"
)
TWICE = 2.0
"""How many times the 99th percentile of logarithms is, at the least, that of their logarithms."""


def other_logarithms(
    values: Array, known: Array, names: Sequence[str], then: Mapping[str, float], *, taken: bool
) -> tuple[str, str] | None:
    """Say of which sample logarithms are missing, or were taken once more than in training.

    Parameters
    ----------
    values, known : (n_samples, n_genes) float, bool
        After the row-wise steps, before studies are aligned.
    names : sequence of str
        Samples.
    then : mapping
        ``median`` and ``p99`` of the training values, before they were aligned.
    taken : bool
        Whether the row-wise steps take logarithms.

    Returns
    -------
    (str, str) or None
        What to add to the file, ``", sample 'S1'"``; what was found, and what to do.
    """
    sizes = [middle_and_top(x[seen]) for x, seen in zip(values, known, strict=True)]
    raw, raw_then = [spread_as_raw(*size) for size in sizes], spread_as_raw(**then)
    twice = [taken and TWICE * top < then["p99"] for _, top in sizes]
    wrong = np.flatnonzero(
        [one != raw_then or other for one, other in zip(raw, twice, strict=True)]
    )
    if not len(wrong):
        return None
    first = int(wrong[0])
    never = raw[first] and not raw_then
    what = f"the values look as if they were {'never logged' if never else 'logged already'} (99th "
    what += f"percentile {sizes[first][1]:.4g}; in training {then['p99']:.4g})"
    what += f"{further_text(len(wrong) - 1, 'sample')}; "
    what += "take log2 of them" if never else "give the model the values before logarithms"
    return f", sample '{names[first]}'", what + ", as for its training samples"
