"""Whether new values are on the scale of the training ones: where they lie, how far they spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from genesig.words import SMALLEST, counted

Array = np.ndarray[Any, Any]

# A gene that tells two classes of like size apart has them at -1 and +1 training standard
# deviations: a shift by one takes a sample to the middle between them.
SHIFT = 1.0
# Half of the way, as ratios go, to the nearest other scale: ln for log2, a factor of 0.69.
RATIO = float(np.sqrt(np.log(2)))
# Standard errors that must lie between a value and its bound.
SURE = 3.0
# Of many samples one may be odd, bright or of poor quality, and is held against this many times as
# much, in ratios to this power.
ODD = 3
# From fewer genes no slope is fitted.
FEWEST = 10
OF_MODEL = "of the model"
ADVICE = (
    "bring the values to the study's scale: the same base of the logarithm, the same normalisation"
)
Bounds = Mapping[str, float]


class Profile(NamedTuple):
    """Where values of the model's genes lie, each with its standard error over the genes.

    `location` is the median of (x_j - m_j)/s_j, in training standard deviations; `slope` that of
    x_j on m_j over the genes j, with weights 1/s_j²: 1 on the same scale, 0.69 for ln in place of
    log2, whatever is added to all values. `stretch` is how many times as far from 1 it lies as that
    of a training sample, from whose sum of squares nothing is taken off.
    """

    genes: int
    location: float
    location_error: float
    slope: float
    slope_error: float
    stretch: float = 1.0


def training_scale(X: Array, y: Array, genes: Sequence[str]) -> dict[str, Any]:
    """Describe the training values for `other_scale`, as model.json holds them.

    Parameters
    ----------
    X : (n_samples, n_genes) float
        As the coefficients see them, after the learned steps.
    y : (n_samples,) or (n_samples, T) float
        Response: ±1, or a number, which is cut at its mean; or a column for each class, (n, T).
    genes : sequence of str

    Returns
    -------
    dict
        ``samples``, ``genes``, ``means``, ``sds``; ``location`` and ``slope`` of single samples:
        ``low`` and ``high`` are the extreme means of the classes, ``sd`` is that inside of them.
    """
    scale = {"samples": len(X), "genes": list(genes), "means": X.mean(axis=0).tolist(),
             "sds": X.std(axis=0).tolist()}  # fmt: skip
    # The means hold these samples themselves: there is no noise to take off.
    exact = scale | {"samples": np.inf}
    found = [profile(x, np.ones(len(x), dtype=bool), exact) for x in X]
    parted = np.argmax(y, axis=1) if y.ndim > 1 else (y > y.mean()).astype(np.int64)
    parts = {"location": [each.location for each in found], "slope": [each.slope for each in found]}
    return scale | {name: _bounds(np.array(values), parted) for name, values in parts.items()}


def _bounds(values: Array, part: Array) -> dict[str, float]:
    parts = range(part.max() + 1)
    means = np.array([values[part == each].mean() for each in parts])[part]
    sd = np.sqrt(((values - means) ** 2).sum() / max(len(values) - len(parts), 1))
    return {"low": float(means.min()), "high": float(means.max()), "sd": float(sd)}


def profile(x: Array, known: Array, scale: Mapping[str, Any]) -> Profile:
    """Describe one sample, or the means of several.

    The training means m_j have errors of their own, of variance s_j²/n, which would flatten the
    slope: their part is taken off the sum of squares.

    Parameters
    ----------
    x, known : (n_genes,) float, bool
    scale : mapping
        As `training_scale` gives it.
    """
    m, s = (np.asarray(scale[key], dtype=float) for key in ("means", "sds"))
    used = known & (s > SMALLEST)
    d, x, m, w = int(used.sum()), x[used], m[used], 1 / s[used] ** 2
    if not d:
        return Profile(0, 0.0, np.inf, 1.0, np.inf)
    location, error = float(np.median((x - m) * np.sqrt(w))), 1 / np.sqrt(d)
    centred = m - np.average(m, weights=w)
    squares = float(w @ centred**2)
    true = squares - d / scale["samples"]
    if d < FEWEST or true < squares / 2:
        return Profile(d, location, error, 1.0, np.inf)
    slope = float((w * centred) @ x) / true
    rest = x - np.average(x, weights=w) - slope * centred
    doubt = float(np.sqrt(w @ rest**2 / (d - 2) / true))
    return Profile(d, location, error, slope, doubt, squares / true)


def mean_profile(X: Array, known: Array, scale: Mapping[str, Any]) -> Profile:
    """Describe the means of several samples, see `profile`."""
    counts = known.sum(axis=0)
    means = np.where(known, X, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return profile(means, counts > 0, scale)


def other_scale(X: Array, known: Array, names: Sequence[str],
                scale: Mapping[str, Any]) -> tuple[str, str] | None:  # fmt: skip
    """Say why values are not on the training scale, and which sample's, if not all; or None.

    The mean over the samples is held against the classes' own means, ± `SHIFT` and a factor of
    `RATIO`, and must lie beyond by `SURE` errors, √(sd²/n + error²). Of several samples each is
    held against `ODD` times as much.

    Parameters
    ----------
    X, known : (n_samples, n_genes) float, bool
        In the order of the scale's genes, as the coefficients see them.
    names : sequence of str
        Samples.
    scale : mapping
        As `training_scale` gives it.

    Returns
    -------
    (str, str) or None
        What to add to the file, ``", sample 'S1'"`` or nothing; what was found, and what to do.
    """
    if fault := mean_fault(X, known, scale):
        return f", sample '{names[0]}'" if len(X) == 1 else "", fault
    for name, x, seen in zip(names, X, known, strict=True):
        if fault := sample_fault(x, seen, scale):
            return f", sample '{name}'", fault
    return None


def mean_fault(X: Array, known: Array, scale: Mapping[str, Any], of: str = OF_MODEL) -> str:
    """Say why samples as a whole are not on the training scale, '' where they are.

    `of` says which genes these are; the rest as in `other_scale`.
    """
    fault = _fault(mean_profile(X, known, scale), scale, max(len(X), 1), 1, of)
    mean = "" if len(X) == 1 else f" (means of {len(X)} samples)"
    return fault and f"{fault}{mean}; {ADVICE}"


def sample_fault(x: Array, known: Array, scale: Mapping[str, Any], of: str = OF_MODEL) -> str:
    """Say why one sample among several is on quite another scale, '' where it is not."""
    fault = _fault(profile(x, known, scale), scale, 1, ODD, of)
    return fault and f"{fault}; {ADVICE}"


def odd_samples(X: Array, known: Array, names: Sequence[str],
                scale: Mapping[str, Any]) -> list[tuple[str, str]]:  # fmt: skip
    """Name each sample that `other_scale` would refuse if it were the only one, and say why.

    In halves of six studies, with 3 to 100 genes, 2 of 5088 samples were named that were on the
    scale of the other half.

    Parameters
    ----------
    X, known, names, scale
        As in `other_scale`.
    """
    found = (
        (name, _fault(profile(x, seen, scale), scale, 1, 1, OF_MODEL))
        for name, x, seen in zip(names, X, known, strict=True)
    )
    return [(name, fault) for name, fault in found if fault]


def off_centre(found: Profile, scale: Mapping[str, Any], n: float, by: float = 0.0) -> bool:
    """Tell whether n samples lie beyond the classes' own locations by more than so much."""
    at = scale["location"]
    off = max(at["low"] - found.location, found.location - at["high"])
    return bool(off - _doubt(at, found.location_error, n) > by)


def _fault(found: Profile, scale: Mapping[str, Any], n: int, times: int, of: str) -> str:
    slope = _stretched(scale["slope"], found.stretch)
    of = f"the {counted(found.genes, 'gene')} {of}"
    if off_centre(found, scale, n, times * SHIFT):
        way = "above" if found.location > 0 else "below"
        return f"{of} lie {abs(found.location):.1f} standard deviations {way} the training samples"
    doubt, ratio = _doubt(slope, found.slope_error, n), RATIO**times
    low = min(slope["low"] * ratio, slope["low"] / ratio)  # a slope may be below 0
    if found.slope + doubt < low or found.slope - doubt > slope["high"] / ratio:
        return f"{of} differ from each other {found.slope:.2f} times as much as in training samples"
    return ""


def _stretched(slope: Bounds, times: float) -> Bounds:
    ends = {end: 1.0 + times * (slope[end] - 1.0) for end in ("low", "high")}
    return ends | {"sd": times * slope["sd"]}


def _doubt(bounds: Bounds, error: float, n: float) -> float:
    return float(SURE * np.sqrt(bounds["sd"] ** 2 / n + error**2))
