"""Compare the scale of new samples with that of the training samples, gene by gene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.scale import median_and_p99, spread_as_raw
from genesig.words import MIN_SPREAD, counted, further_text

# A gene that separates two classes of equal size has them at -1 and +1 training standard
# deviations: a shift by one moves a sample to the middle between them.
MAX_SHIFT_SDS = 1.0
# Half of the way, as a ratio, to the nearest other scale: ln instead of log2, a factor of 0.69.
MIN_SLOPE_RATIO = float(np.sqrt(np.log(2)))
# Standard errors that must lie between a value and its bound.
N_STANDARD_ERRORS = 3.0
# One sample of many may be bright or of poor quality: its bounds are this many times as wide (the
# ratio to this power).
SINGLE_SAMPLE_FACTOR = 3
# With fewer genes no slope is fitted.
MIN_SLOPE_GENES = 10
# Share of the sum of squares of the training means that is not due to their error. Below it the
# genes do not differ measurably in level, and a slope would be fitted to the error.
MIN_TRUE_SHARE = 0.8
OF_MODEL = "of the model"
SCALE_ADVICE = (
    "bring the values to the study's scale: the same base of the logarithm, the same normalisation"
)
Bounds = Mapping[str, float]


class ScaleProfile(NamedTuple):
    """Location and slope of values against the training means, with standard errors over genes.

    m_j and s_j are the training mean and sd of gene j. The slope is 1 on the same scale and 0.69
    for ln instead of log2, whatever constant is added to all values.
    """

    genes: int  # number of genes that were compared
    location: float  # median of (x_j - m_j)/s_j, in training standard deviations
    location_error: float
    slope: float  # of x_j on m_j with weights 1/s_j²
    slope_error: float  # infinite without a slope
    # |slope - 1| over that of a training sample, whose sum of squares includes the error of m_j
    stretch: float = 1.0


def training_scale(X: Array, y: Array, genes: Sequence[str]) -> dict[str, Any]:
    """Return ``training.scale`` of model.json: the training values of the models' genes.

    X (n_samples, n_genes) float: as the coefficients see them, after the learned steps. y
    (n_samples,) or (n_samples, T) float: response: ±1, or a number, which is cut at its mean; or a
    column for each class, (n, T).

    dict: ``samples``, ``genes``, ``means``, ``sds``; ``location`` and ``slope`` of single samples:
    ``low`` and ``high`` are the extreme means of the classes, ``sd`` is that inside of them.
    """
    scale = {
        "samples": len(X),
        "genes": list(genes),
        "means": X.mean(axis=0).tolist(),
        "sds": X.std(axis=0).tolist(),
    }
    # The means hold these samples themselves: there is no noise to take off.
    noiseless_scale = scale | {"samples": np.inf}
    profiles = [sample_profile(x, np.ones(len(x), dtype=bool), noiseless_scale) for x in X]
    class_numbers = np.argmax(y, axis=1) if y.ndim > 1 else (y > y.mean()).astype(np.int64)
    values_by_name = {
        "location": [profile_of_sample.location for profile_of_sample in profiles],
        "slope": [profile_of_sample.slope for profile_of_sample in profiles],
    }
    return scale | {
        name: _bounds(np.array(values), class_numbers) for name, values in values_by_name.items()
    }


def _bounds(values: Array, class_number: Array) -> dict[str, float]:
    """Return the extreme class means and the sd inside of the classes."""
    class_codes = range(class_number.max() + 1)
    means = np.array([values[class_number == number].mean() for number in class_codes])[
        class_number
    ]
    sd = np.sqrt(((values - means) ** 2).sum() / max(len(values) - len(class_codes), 1))
    return {"low": float(means.min()), "high": float(means.max()), "sd": float(sd)}


def sample_profile(x: Array, measured: Array, scale: Mapping[str, Any]) -> ScaleProfile:
    """Return location and slope of one sample, or of the means of several.

    The training means m_j have errors of their own, of variance s_j²/n, which would flatten the
    slope: their expected part is subtracted from the sum of squares.

    x, measured (n_genes,) float, bool. scale: from `training_scale`.
    """
    m, s = (np.asarray(scale[key], dtype=float) for key in ("means", "sds"))
    is_used = measured & (s > MIN_SPREAD)
    n_genes = int(is_used.sum())
    x = x[is_used]
    m = m[is_used]
    w = 1 / s[is_used] ** 2
    if not n_genes:
        return ScaleProfile(0, 0.0, np.inf, 1.0, np.inf)
    location = float(np.median((x - m) * np.sqrt(w)))
    error = 1 / np.sqrt(n_genes)
    centred = m - np.average(m, weights=w)
    squares = float(w @ centred**2)
    true_squares = squares - n_genes / scale["samples"]
    if n_genes < MIN_SLOPE_GENES or true_squares < MIN_TRUE_SHARE * squares:
        return ScaleProfile(n_genes, location, error, 1.0, np.inf)
    slope = float((w * centred) @ x) / true_squares
    residual = x - np.average(x, weights=w) - slope * centred
    slope_error = float(np.sqrt(w @ residual**2 / (n_genes - 2) / true_squares))
    return ScaleProfile(n_genes, location, error, slope, slope_error, squares / true_squares)


def mean_profile(X: Array, measured: Array, scale: Mapping[str, Any]) -> ScaleProfile:
    """Return location and slope of the means of several samples, see `sample_profile`."""
    counts = measured.sum(axis=0)
    means = np.where(measured, X, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return sample_profile(means, counts > 0, scale)


def describe_scale_fault(
    X: Array, measured: Array, sample_names: Sequence[str], scale: Mapping[str, Any]
) -> tuple[str, str] | None:
    """Return why values are not on the training scale, and of which sample; or None.

    The mean over the samples is held against the classes' own means, ± `MAX_SHIFT_SDS` and a factor
    of `MIN_SLOPE_RATIO`, and must lie beyond by `N_STANDARD_ERRORS` errors, √(sd²/n + error²). Of
    several samples each is held against `SINGLE_SAMPLE_FACTOR` times as much.

    X, measured (n_samples, n_genes) float, bool: in the order of the scale's genes, as the
    coefficients see them. sample_names: samples. scale: as `training_scale` gives it.

    (str, str) or None: what to add to the file, ``", sample 'S1'"`` or nothing; what was found, and
    what to do.
    """
    if fault := mean_fault(X, measured, scale):
        return f", sample '{sample_names[0]}'" if len(X) == 1 else "", fault
    for name, x, is_measured in zip(sample_names, X, measured, strict=True):
        if fault := sample_fault(x, is_measured, scale):
            return f", sample '{name}'", fault
    return None


def mean_fault(
    X: Array, measured: Array, scale: Mapping[str, Any], gene_text: str = OF_MODEL
) -> str:
    """Return why the mean of the samples is not on the training scale, '' if it is.

    `gene_text` says which genes these are; the rest as in `describe_scale_fault`.
    """
    fault = _profile_fault(mean_profile(X, measured, scale), scale, max(len(X), 1), 1, gene_text)
    mean_text = "" if len(X) == 1 else f" (means of {len(X)} samples)"
    return fault and f"{fault}{mean_text}; {SCALE_ADVICE}"


def sample_fault(
    x: Array, measured: Array, scale: Mapping[str, Any], gene_text: str = OF_MODEL
) -> str:
    """Return why one sample among several is on another scale, '' if it is not.

    The bounds are `SINGLE_SAMPLE_FACTOR` times those of `mean_fault`.
    """
    fault = _profile_fault(
        sample_profile(x, measured, scale), scale, 1, SINGLE_SAMPLE_FACTOR, gene_text
    )
    return fault and f"{fault}; {SCALE_ADVICE}"


def find_odd_samples(
    X: Array, measured: Array, sample_names: Sequence[str], scale: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return each sample that `describe_scale_fault` would refuse alone, and why.

    In halves of six studies, with 3 to 100 genes, 2 of 5088 samples were named that were on the
    scale of the other half.

    X, measured, scale: as in `describe_scale_fault`. sample_names: names of the rows of X.
    """
    faults = (
        (name, _profile_fault(sample_profile(x, is_measured, scale), scale, 1, 1, OF_MODEL))
        for name, x, is_measured in zip(sample_names, X, measured, strict=True)
    )
    return [(name, fault) for name, fault in faults if fault]


def is_off_centre(
    profile: ScaleProfile, scale: Mapping[str, Any], n: float, tolerance: float = 0.0
) -> bool:
    """Return whether n samples lie beyond the locations of the classes by more than a tolerance."""
    location = scale["location"]
    distance = max(location["low"] - profile.location, profile.location - location["high"])
    return bool(distance - _uncertainty(location, profile.location_error, n) > tolerance)


def _profile_fault(
    profile: ScaleProfile, scale: Mapping[str, Any], n: int, factor: int, gene_text: str
) -> str:
    """Return why n samples of this profile are not on the training scale, '' if they are."""
    slope = _stretch_bounds(scale["slope"], profile.stretch)
    gene_text = f"the {counted(profile.genes, 'gene')} {gene_text}"
    if is_off_centre(profile, scale, n, factor * MAX_SHIFT_SDS):
        side = "above" if profile.location > 0 else "below"
        distance = f"{abs(profile.location):.1f} standard deviations"
        return f"{gene_text} lie {distance} {side} the training samples"
    uncertainty = _uncertainty(slope, profile.slope_error, n)
    ratio = MIN_SLOPE_RATIO**factor
    low = min(slope["low"] * ratio, slope["low"] / ratio)  # a slope may be below 0
    if profile.slope + uncertainty < low or profile.slope - uncertainty > slope["high"] / ratio:
        slope_ratio = f"{profile.slope:.2f} times as much as in training samples"
        return f"{gene_text} differ from each other {slope_ratio}"
    return ""


def _stretch_bounds(slope: Bounds, factor: float) -> Bounds:
    """Return the bounds of the slope, stretched by a factor around 1."""
    ends = {end: 1.0 + factor * (slope[end] - 1.0) for end in ("low", "high")}
    return ends | {"sd": factor * slope["sd"]}


def _uncertainty(bounds: Bounds, error: float, n_samples: float) -> float:
    """Return `N_STANDARD_ERRORS` standard errors of the mean of some samples."""
    return float(N_STANDARD_ERRORS * np.sqrt(bounds["sd"] ** 2 / n_samples + error**2))


Panel = Mapping[str, Any]

MAX_PANEL_GENES = 300
"""Largest number of genes of the panel."""
MIN_PANEL_GENES = 30
"""Genes of the panel that new samples must have for a comparison by it."""
N_AXES = 3
"""Number of principal axes of the training samples."""
MIN_AGREEMENT_SHARE = 0.5
"""Least rank agreement with the training means, as a share of that of the training samples."""
MIN_COHERENCE_SHARE = 0.5
"""Least share of variance along the axes, as a share of that of left-out training samples."""
MIN_TRAINING_AGREEMENT = 0.5
"""Rank agreement of training samples, below which it does not reveal exchanged gene ids."""
MIN_TRAINING_COHERENCE = 0.05
"""Coherence of training samples, below which it does not reveal exchanged gene ids."""
MAX_ABS_Z = 4.0
"""Standardised values are clipped to this."""
MIN_SPREAD_SAMPLES = 8
"""New samples from which on their spread and their axes are checked."""
MIN_UNIFORM_SAMPLES = 10
"""New samples from which on a call of the same class for all of them is doubtful."""
ID_QUESTION = "do the gene ids stand beside their own values?"
OF_PANEL = "that are compared"


def panel_genes(X: Array, model_columns: Array) -> Array:
    """Return the genes of the panel: evenly spread over the ranks of their means, in column order.

    X (n_samples, n_genes) float: training samples, as coefficients see them. model_columns: columns
    of the models' genes, which are compared with the training samples anyway.
    """
    varies = np.setdiff1d(np.flatnonzero(X.std(axis=0) > MIN_SPREAD), model_columns)
    by_mean = varies[np.argsort(X[:, varies].mean(axis=0), kind="stable")]
    positions = np.unique(
        np.linspace(0, len(by_mean) - 1, min(MAX_PANEL_GENES, len(by_mean))).round().astype(int)
    )
    return np.sort(by_mean[positions])


def training_panel(
    X: Array, y: Array, genes: Sequence[str], studies: Array | None = None
) -> dict[str, Any]:
    """Return ``training.panel`` of model.json: the training values of further genes.

    X (n_samples, n_genes) float: as coefficients see the panel's genes. y, genes: as in
    `training_scale`. studies (n_samples,) str or None: study of each sample, where the model was
    made of several.

    Returns
    -------
    dict
        That of `training_scale`, and ``agreement``, the mean rank correlation of a training sample
        with the means; ``axes``, (`N_AXES`, n_genes), of the standardised values, and
        ``coherence``, what share of the variance of one half of the samples lies along the axes of
        the other; of studies, that of each along the axes of the others: what goes together in one
        alone would be asked of new samples, too.
    """
    scale = training_scale(X, y, genes)
    Z = _standardised(X, X.std(axis=0))
    study_of_sample = np.arange(len(X)) % 2 if studies is None else studies
    is_in_study = (
        [study_of_sample == study for study in np.unique(study_of_sample)]
        if len(X) >= 2 * MIN_SPREAD_SAMPLES
        else []
    )
    shares = [coherence(Z[in_study], axes_of(Z[~in_study])) for in_study in is_in_study]
    return scale | {
        "agreement": float(agreement(X, X.mean(axis=0)).mean()) if X.size else 0.0,
        "axes": axes_of(Z).tolist() if is_in_study else [],
        "coherence": float(np.mean(shares)) if is_in_study else 0.0,
    }


def axes_of(Z: Array) -> Array:
    """Return the first `N_AXES` principal axes of samples, (at most `N_AXES`, n_genes)."""
    return np.asarray(np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][:N_AXES])


def coherence(Z: Array, axes: Array) -> float:
    """Return the share of the variance of samples along axes: of orthonormal V |ZV'|²/|Z|²."""
    Z = Z - Z.mean(axis=0)
    return float(np.sum((Z @ axes.T) ** 2) / max(float(np.sum(Z**2)), MIN_SPREAD))


def agreement(X: Array, means: Array) -> Array:
    """Return Spearman's rank correlation of each row of X with `means`, (n_samples,)."""
    from scipy.stats import rankdata

    ranks = rankdata(X, axis=1)
    mean_ranks = rankdata(means)
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    mean_ranks = mean_ranks - mean_ranks.mean()
    size = np.sqrt((ranks**2).sum(axis=1) * (mean_ranks**2).sum())
    return np.asarray(np.divide(ranks @ mean_ranks, size, out=np.zeros(len(X)), where=size > 0))


def has_enough_panel_genes(measured: Array) -> bool:
    """Return whether new samples have enough genes of the panel, (n_samples, n_genes) bool."""
    return int(measured.all(axis=0).sum()) >= MIN_PANEL_GENES


def panel_fault(X: Array, measured: Array, names: Sequence[str], panel: Panel) -> str:
    """Return why new samples are not on the training scale by the panel, '' if they are.

    Gene ids that stand beside the values of others come first: the order of the genes is then
    another one than in every training sample.

    X, measured, names: as in `describe_scale_fault`. panel: as `training_panel` gives it.
    """
    if not has_enough_panel_genes(measured):
        return ""
    panel_agreement = float(np.median(_panel_agreement(X, measured, panel)))
    if panel_agreement < _min_agreement(panel):
        return _order_fault(panel_agreement, measured, panel)
    return mean_fault(X, measured, panel, OF_PANEL)


def panel_doubts(
    X: Array, measured: Array, names: Sequence[str], panel: Panel
) -> Iterator[tuple[int, str]]:
    """Yield the rows of doubtful samples by the panel, and the reason; see `panel_fault`.

    Single samples by the order of their genes, by location and slope; all of them where they
    spread more or less than training samples, or not along their axes.
    """
    if not has_enough_panel_genes(measured):
        return
    agreements = _panel_agreement(X, measured, panel)
    for row, (x, is_measured) in enumerate(zip(X, measured, strict=True)):
        if agreements[row] < _min_agreement(panel):
            yield row, _order_fault(float(agreements[row]), measured, panel)
        elif fault := sample_fault(x, is_measured, panel, OF_PANEL):
            yield row, fault
    for fault in _joint_faults(X, measured, panel) if len(X) >= MIN_SPREAD_SAMPLES else ():
        yield from ((row, fault) for row in range(len(X)))


def _joint_faults(X: Array, measured: Array, panel: Panel) -> Iterator[str]:
    """Yield why the genes of the panel do not spread or vary together as in training."""
    is_complete = measured.all(axis=0)
    sds = np.asarray(panel["sds"], dtype=float)[is_complete]
    Z = _standardised(X[:, is_complete], sds)
    spread = float(np.median(np.sqrt(np.sum(Z**2, axis=0) / (len(Z) - 1))))
    tolerance = np.exp(1 / np.sqrt(2 * (len(Z) - 1)))
    has_no_slope = not np.isfinite(mean_profile(X, measured, panel).slope_error)
    if has_no_slope and not MIN_SLOPE_RATIO / tolerance <= spread <= tolerance / MIN_SLOPE_RATIO:
        yield (
            f"the {counted(int(is_complete.sum()), 'gene')} {OF_PANEL} spread {spread:.2f} times "
            "as much over "
            f"the samples as in training; {SCALE_ADVICE}"
        )
    if panel["coherence"] >= MIN_TRAINING_COHERENCE:
        share = coherence(Z, np.asarray(panel["axes"])[:, is_complete])
        if share < MIN_COHERENCE_SHARE * panel["coherence"]:
            yield (
                f"{100 * share:.0f} % of the variance of the genes {OF_PANEL} lies where "
                f"{100 * panel['coherence']:.0f} % of that of training samples does; {ID_QUESTION}"
            )


def _standardised(X: Array, sds: Array) -> Array:
    """Return (X - mean)/sd, clipped to ± `MAX_ABS_Z`.

    A gene that is expressed in one training sample only has an sd of nearly 0.
    """
    Z = (X - X.mean(axis=0)) / np.where(sds > MIN_SPREAD, sds, np.inf)
    return np.asarray(np.clip(Z, -MAX_ABS_Z, MAX_ABS_Z))


def _panel_agreement(X: Array, measured: Array, panel: Panel) -> Array:
    """Return the rank correlation of each sample with the training means, (n_samples,)."""
    is_complete = measured.all(axis=0)
    return agreement(X[:, is_complete], np.asarray(panel["means"], dtype=float)[is_complete])


def _min_agreement(panel: Panel) -> float:
    """Return the smallest agreement of a sample in the order of the training genes."""
    typical = float(panel["agreement"])
    return MIN_AGREEMENT_SHARE * typical if typical >= MIN_TRAINING_AGREEMENT else -np.inf


def _order_fault(panel_agreement: float, measured: Array, panel: Panel) -> str:
    """Return the message that the genes stand in another order."""
    genes = counted(int(measured.all(axis=0).sum()), "gene")
    return (
        f"the order of the {genes} {OF_PANEL} agrees by {panel_agreement:.2f} with that of the "
        "training samples, "
        f"which agree by {panel['agreement']:.2f} with each other's mean; {ID_QUESTION}"
    )


def describe_scale(
    X: Array, measured: Array, names: Sequence[str], scale: Mapping[str, Any]
) -> str:
    """Return a sentence on location and slope of new samples; arguments of `panel_fault`."""
    profile = mean_profile(X, measured, scale)
    slope = "" if not np.isfinite(profile.slope_error) else f", slope {profile.slope:.2f}"
    side = "above" if profile.location >= 0 else "below"
    return (
        f"on average, {counted(profile.genes, 'gene')} lie {abs(profile.location):.2f} standard "
        f"deviations {side} the training samples{slope} (same scale: 0{slope and ' and 1'})"
    )


def common_shift(X: Array, measured: Array, panel: Panel) -> float:
    """Return the common shift of all genes above the training samples, in units of X.

    The median over the genes of the mean of the samples less that of the training samples. It is
    told from chance where the location lies beyond those of the classes by three of its errors.
    """
    effective_n = 1 / (1 / len(X) + 1 / panel["samples"])  # both means have errors
    if not has_enough_panel_genes(measured) or not is_off_centre(
        mean_profile(X, measured, panel), panel, effective_n
    ):
        return 0.0
    is_complete = measured.all(axis=0)
    means = np.asarray(panel["means"], dtype=float)[is_complete]
    return float(np.median(X[:, is_complete].mean(axis=0) - means))


def call_doubts(calls: Array, corrected_calls: Array, shift: float) -> list[str]:
    """Return the doubt about each sample's call, '' without any.

    calls (n_samples,) str or float: predicted classes or numbers.
    corrected_calls: the same, from scores without the part that a common shift adds to them.
    shift: as `common_shift` gives it.
    """
    uniform_text = f"all {len(calls)} samples are {calls[0]}" if _all_in_one_class(calls) else ""
    call_texts, corrected_texts = (
        [f"{call:.4g}" if isinstance(call, float) else str(call) for call in call_array]
        for call_array in (calls, corrected_calls)
    )
    shift_texts = [
        f"{corrected_text} without the shift of all genes by {shift:+.2f}"
        if call_text != corrected_text
        else ""
        for call_text, corrected_text in zip(call_texts, corrected_texts, strict=True)
    ]
    return [
        "; ".join(text for text in (shift_text, uniform_text) if text) for shift_text in shift_texts
    ]


def _all_in_one_class(calls: Array) -> bool:
    """Return whether so many samples are all called one class."""
    return len(calls) >= MIN_UNIFORM_SAMPLES and isinstance(calls[0], str) and len(set(calls)) == 1


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

    Some models standardise each gene by its mean and sd over the new samples. Aligned samples then
    lie where training samples lie, whatever their scale was, so it is checked before.

    values, measured (n_samples, n_genes) float, bool: after the row-wise steps, before studies are
    aligned. names: samples. training_scale: ``median`` and ``p99`` of the training values before
    alignment. takes_logarithms: whether the row-wise steps take logarithms.

    (str, str) or None: suffix of the file in the message, ``", sample 'S1'"``, and the message.
    None without fault.
    """
    middles_and_tops = [
        median_and_p99(x[is_measured]) for x, is_measured in zip(values, measured, strict=True)
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
