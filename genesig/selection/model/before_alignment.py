"""Check for missing or repeated logarithms before new samples are aligned.

Some models standardise each gene by its mean and sd over the new samples. Aligned samples then lie
where training samples lie, whatever their scale was, so their scale is checked before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.scale import middle_and_top, spread_as_raw
from genesig.words import further_text

SCALE_NOT_COMPARED = (
    "not told: the model takes each gene relative to the new samples themselves, which puts them"
    " where the training samples lie, whatever their scale"
)
MIN_P99_RATIO = 2.0
"""Least ratio of the 99th percentile of logarithms to that of their logarithms."""


def describe_log_fault(
    values: Array,
    measured: Array,
    names: Sequence[str],
    training_scale: Mapping[str, float],
    *,
    takes_logarithms: bool,
) -> tuple[str, str] | None:
    """Return which sample lacks logarithms, or has one more than in training, and what to do.

    values, measured (n_samples, n_genes) float, bool: after the row-wise steps, before studies are
    aligned. names: samples. training_scale: ``median`` and ``p99`` of the training values before
    alignment. takes_logarithms: whether the row-wise steps take logarithms.

    (str, str) or None: suffix of the file in the message, ``", sample 'S1'"``, and the message.
    None without fault.
    """
    middles_and_tops = [
        middle_and_top(x[is_measured]) for x, is_measured in zip(values, measured, strict=True)
    ]
    looks_raw = [spread_as_raw(*size) for size in middles_and_tops]
    training_looks_raw = spread_as_raw(**training_scale)
    logged_twice = [
        takes_logarithms and MIN_P99_RATIO * top < training_scale["p99"]
        for _, top in middles_and_tops
    ]
    odd_samples = np.flatnonzero(
        [
            is_raw != training_looks_raw or is_twice
            for is_raw, is_twice in zip(looks_raw, logged_twice, strict=True)
        ]
    )
    if not len(odd_samples):
        return None
    first_odd = int(odd_samples[0])
    never_logged = looks_raw[first_odd] and not training_looks_raw
    history = "never logged" if never_logged else "logged already"
    p99 = middles_and_tops[first_odd][1]
    remedy = "take log2 of them" if never_logged else "give the model the values before logarithms"
    further = further_text(len(odd_samples) - 1, "sample")
    message = (
        f"the values look as if they were {history} (99th percentile {p99:.4g}; in training"
        f" {training_scale['p99']:.4g}){further}; {remedy}, as for its training samples"
    )
    return f", sample '{names[first_odd]}'", message
