"""Whether new values are on the scale of the training ones, and genes held against them for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.words import MIN_SPREAD, counted

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
# Share of the sum of squares of the training means that is not their own error. Below it the genes
# have equal levels, for all that is measured, and a slope would be fitted to that error.
MIN_TRUE_SHARE = 0.8
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
    used = known & (s > MIN_SPREAD)
    d, x, m, w = int(used.sum()), x[used], m[used], 1 / s[used] ** 2
    if not d:
        return Profile(0, 0.0, np.inf, 1.0, np.inf)
    location, error = float(np.median((x - m) * np.sqrt(w))), 1 / np.sqrt(d)
    centred = m - np.average(m, weights=w)
    squares = float(w @ centred**2)
    true = squares - d / scale["samples"]
    if d < FEWEST or true < MIN_TRUE_SHARE * squares:
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


Panel = Mapping[str, Any]

PANEL = 300
"""Genes; fewer where the study has fewer."""
FEWEST_GENES = 30
"""Of fewer that new samples have, nothing is told."""
AXES = 3
"""Principal axes of the training samples."""
AGREEMENT = 0.5
"""Rank agreement with the training means, as a share of that of the training samples."""
COHERENCE = 0.5
"""Share of the variance along the axes, as a share of that of left-out training samples."""
ORDERED, ALIGNED = 0.5, 0.05
"""Where training samples agree less, or have less along their axes, ids cannot be told by it."""
FAR = 4.0
"""Standard deviations from which on a value is no further off."""
MANY = 8
"""Samples from which on their spread and their axes are looked at."""
ALL = 10
"""Samples from which on it is odd that all are of one class."""
IDS = "do the gene ids stand beside their own values?"
OF = "that are compared"


def panel_genes(X: Array, without: Array) -> Array:
    """Return the genes of the panel: evenly spread over the ranks of their means, in column order.

    Parameters
    ----------
    X : (n_samples, n_genes) float
        Training samples, as coefficients see them.
    without : int array
        Genes of the models, which are held against the training samples anyway.
    """
    varies = np.setdiff1d(np.flatnonzero(X.std(axis=0) > MIN_SPREAD), without)
    by_mean = varies[np.argsort(X[:, varies].mean(axis=0), kind="stable")]
    at = np.unique(np.linspace(0, len(by_mean) - 1, min(PANEL, len(by_mean))).round().astype(int))
    return np.sort(by_mean[at])


def training_panel(
    X: Array, y: Array, genes: Sequence[str], studies: Array | None = None
) -> dict[str, Any]:
    """Describe training samples by the panel, as model.json holds it.

    Parameters
    ----------
    X : (n_samples, n_genes) float
        As coefficients see the panel's genes.
    y, genes
        As in `training_scale`.
    studies : (n_samples,) str or None
        Study of each sample, where the model was made of several.

    Returns
    -------
    dict
        That of `training_scale`, and ``agreement``, the mean rank correlation of a training sample
        with the means; ``axes``, (`AXES`, n_genes), of the standardised values, and ``coherence``,
        what share of the variance of one half of the samples lies along the axes of the other; of
        studies, that of each along the axes of the others: what goes together in one alone would
        be asked of new samples, too.
    """
    scale = training_scale(X, y, genes)
    Z = _standardised(X, X.std(axis=0))
    part = np.arange(len(X)) % 2 if studies is None else studies
    parts = [part == each for each in np.unique(part)] if len(X) >= 2 * MANY else []
    shares = [coherence(Z[one], axes_of(Z[~one])) for one in parts]
    return scale | {
        "agreement": float(agreement(X, X.mean(axis=0)).mean()) if X.size else 0.0,
        "axes": axes_of(Z).tolist() if parts else [],
        "coherence": float(np.mean(shares)) if parts else 0.0,
    }


def axes_of(Z: Array) -> Array:
    """Return the first `AXES` principal axes of samples, (at most `AXES`, n_genes)."""
    return np.asarray(np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][:AXES])


def coherence(Z: Array, axes: Array) -> float:
    """Return the share of the variance of samples along axes: of orthonormal V |ZV'|²/|Z|²."""
    Z = Z - Z.mean(axis=0)
    return float(np.sum((Z @ axes.T) ** 2) / max(float(np.sum(Z**2)), MIN_SPREAD))


def agreement(X: Array, means: Array) -> Array:
    """Return Spearman's rank correlation of each row of X with `means`, (n_samples,)."""
    from scipy.stats import rankdata

    ranks, own = rankdata(X, axis=1), rankdata(means)
    ranks, own = ranks - ranks.mean(axis=1, keepdims=True), own - own.mean()
    size = np.sqrt((ranks**2).sum(axis=1) * (own**2).sum())
    return np.asarray(np.divide(ranks @ own, size, out=np.zeros(len(X)), where=size > 0))


def enough(known: Array) -> bool:
    """Tell whether new samples have enough genes of the panel, (n_samples, n_genes) bool."""
    return int(known.all(axis=0).sum()) >= FEWEST_GENES


def panel_fault(X: Array, known: Array, names: Sequence[str], panel: Panel) -> str:
    """Say why new samples as a whole are not on the training scale, '' where they are.

    Gene ids that stand beside the values of others come first: the order of the genes is then
    another one than in every training sample.

    Parameters
    ----------
    X, known, names
        As in `other_scale`.
    panel : mapping
        As `training_panel` gives it.
    """
    if not enough(known):
        return ""
    found = float(np.median(_agreement(X, known, panel)))
    if found < _least_agreement(panel):
        return _disordered(found, known, panel)
    return mean_fault(X, known, panel, OF)


def panel_doubts(
    X: Array, known: Array, names: Sequence[str], panel: Panel
) -> Iterator[tuple[int, str]]:  # fmt: skip
    """Yield rows that are doubtful by the panel, and why; arguments as in `panel_fault`.

    Single samples by the order of their genes, by location and slope; all of them where they
    spread more or less than training samples, or not along their axes.
    """
    if not enough(known):
        return
    agreed = _agreement(X, known, panel)
    for row, (x, seen) in enumerate(zip(X, known, strict=True)):
        if agreed[row] < _least_agreement(panel):
            yield row, _disordered(float(agreed[row]), known, panel)
        elif fault := sample_fault(x, seen, panel, OF):
            yield row, fault
    for fault in _together(X, known, panel) if len(X) >= MANY else ():
        yield from ((row, fault) for row in range(len(X)))


def _together(X: Array, known: Array, panel: Panel) -> Iterator[str]:
    whole = known.all(axis=0)
    s = np.asarray(panel["sds"], dtype=float)[whole]
    Z = _standardised(X[:, whole], s)
    spread = float(np.median(np.sqrt(np.sum(Z**2, axis=0) / (len(Z) - 1))))
    sure = np.exp(1 / np.sqrt(2 * (len(Z) - 1)))
    unordered = not np.isfinite(mean_profile(X, known, panel).slope_error)
    if unordered and not RATIO / sure <= spread <= sure / RATIO:
        yield (
            f"the {counted(int(whole.sum()), 'gene')} {OF} spread {spread:.2f} times as much over "
            f"the samples as in training; {ADVICE}"
        )
    if panel["coherence"] >= ALIGNED:
        share = coherence(Z, np.asarray(panel["axes"])[:, whole])
        if share < COHERENCE * panel["coherence"]:
            yield (
                f"{100 * share:.0f} % of the variance of the genes {OF} lies where "
                f"{100 * panel['coherence']:.0f} % of that of training samples does; {IDS}"
            )


def _standardised(X: Array, sds: Array) -> Array:
    """Return (X - mean)/sd within ± `FAR`: a gene that is silent but once has a sd of nearly 0."""
    Z = (X - X.mean(axis=0)) / np.where(sds > MIN_SPREAD, sds, np.inf)
    return np.asarray(np.clip(Z, -FAR, FAR))


def _agreement(X: Array, known: Array, panel: Panel) -> Array:
    whole = known.all(axis=0)
    return agreement(X[:, whole], np.asarray(panel["means"], dtype=float)[whole])


def _least_agreement(panel: Panel) -> float:
    typical = float(panel["agreement"])
    return AGREEMENT * typical if typical >= ORDERED else -np.inf


def _disordered(found: float, known: Array, panel: Panel) -> str:
    genes = counted(int(known.all(axis=0).sum()), "gene")
    return (
        f"the order of the {genes} {OF} agrees by {found:.2f} with that of the training samples, "
        f"which agree by {panel['agreement']:.2f} with each other's mean; {IDS}"
    )


def told(X: Array, known: Array, names: Sequence[str], scale: Mapping[str, Any]) -> str:
    """Say where new samples lie and how far they spread, in words; arguments of `panel_fault`."""
    found = mean_profile(X, known, scale)
    slope = "" if not np.isfinite(found.slope_error) else f", slope {found.slope:.2f}"
    side = "above" if found.location >= 0 else "below"
    return (
        f"the {counted(found.genes, 'gene')} held against the training samples lie "
        f"{abs(found.location):.2f} standard deviations {side} them{slope} (0"
        f"{slope and ' and 1'}: the same scale)"
    )


def common_shift(X: Array, known: Array, panel: Panel) -> float:
    """Return how far all genes lie above the training samples, in units of X; 0 if by chance.

    The median over the genes of the mean of the samples less that of the training samples. It is
    told from chance where the location lies beyond those of the classes by three of its errors.
    """
    size = 1 / (1 / len(X) + 1 / panel["samples"])  # both means have errors
    if not enough(known) or not off_centre(mean_profile(X, known, panel), panel, size):
        return 0.0
    whole = known.all(axis=0)
    means = np.asarray(panel["means"], dtype=float)[whole]
    return float(np.median(X[:, whole].mean(axis=0) - means))


def call_doubts(calls: Array, corrected: Array, shift: float) -> list[str]:
    """Return what is doubtful of each sample's call, '' where nothing is.

    Parameters
    ----------
    calls, corrected : (n_samples,) str or float
        Words or numbers predicted: as scored, and less what a common shift adds to the scores.
    shift : float
        As `common_shift` gives it.
    """
    alone = f"all {len(calls)} samples are {calls[0]}" if _uniform(calls) else ""
    words = ([f"{each:.4g}" if isinstance(each, float) else str(each) for each in some]
             for some in (calls, corrected))  # fmt: skip
    own = [f"{without} without the shift of all genes by {shift:+.2f}" if call != without else ""
           for call, without in zip(*words, strict=True)]  # fmt: skip
    return ["; ".join(part for part in (each, alone) if part) for each in own]


def _uniform(calls: Array) -> bool:
    return len(calls) >= ALL and isinstance(calls[0], str) and len(set(calls)) == 1
