"""Compare the scale of new samples with that of the training samples, gene by gene.

Two sets of genes are compared: those of the models (`training_scale`), and a panel of further genes
(`training_panel`), because a short model has too few to show another scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.scale import median_and_p99, spread_as_raw
from genesig.data.steps.transforms import average_ranks
from genesig.words import MIN_SPREAD, counted, further_text

MAX_SHIFT_SDS = 1.0
"""Largest shift of all genes, in training standard deviations. A gene that separates two classes of
equal size has them at -1 and +1: a shift by 1 moves a sample to the middle between them."""
MIN_SLOPE_RATIO = float(np.sqrt(np.log(2)))
"""Smallest slope, and 1 over the largest: half of the way, as a ratio, to the nearest other scale,
which is ln instead of log2, a factor of 0.69."""
N_STANDARD_ERRORS = 3.0  # standard errors by which a value must lie beyond its bound
SINGLE_SAMPLE_FACTOR = 3
"""Factor of `MAX_SHIFT_SDS`, and power of `MIN_SLOPE_RATIO`, for one sample among several, which
may be bright or of poor quality."""
MIN_SLOPE_GENES = 10  # number of genes below which no slope is fitted
MIN_TRUE_SHARE = 0.8
"""Share of the sum of squares of the training means that is not due to their error. Below it the
genes do not differ measurably in level, and a slope would be fitted to the error."""
OF_MODEL = "of the model"
SCALE_ADVICE = (
    "bring the values to the study's scale: the same base of the logarithm, the same normalisation"
)
Bounds = Mapping[str, float]
"""``low`` and ``high``, the smallest and the largest mean of a class, and ``sd`` inside a class."""


class ComparedValues(NamedTuple):
    """Values of some genes in new samples, beside the values in the training samples."""

    X: Array  # (n_samples, n_genes) float: as the coefficients see them, after all steps
    is_measured: Array  # (n_samples, n_genes) bool: values that are not filled in
    samples: Sequence[str]  # names of the samples
    scale: Mapping[str, Any]
    """Training values of these genes: ``training.scale`` or ``training.panel`` of model.json."""

    def complete_genes(self) -> Array:
        """Return the mask (n_genes,) of the genes that were measured in all new samples."""
        return np.asarray(self.is_measured.all(axis=0))


class SampleFault(NamedTuple):
    """Why values are not on the training scale."""

    place: str
    """Addition to the file in a message: ``", sample 'S1'"``; '' if it concerns all samples."""
    message: str  # what was found, and what to do


class ScaleProfile(NamedTuple):
    """Location and slope of values against the training means, with standard errors over genes.

    m_j and s_j are the training mean and sd of gene j. The slope is 1 on the same scale and 0.69
    for ln instead of log2, whatever constant is added to all values.
    """

    genes: int  # number of genes that were compared
    location: float  # median of (x_j - m_j)/s_j, in training standard deviations
    location_error: float  # standard error of the location; infinite without genes
    slope: float  # slope of x_j on m_j with weights 1/s_j²; 1 if none is fitted
    slope_error: float  # standard error of the slope; infinite if none is fitted
    stretch: float = 1.0
    """Sum of squares of the m_j over its part without error: |slope - 1| of new samples is larger
    by this factor than that of a training sample, whose means have the same errors."""


def training_scale(X: Array, y: Array, genes: Sequence[str]) -> dict[str, Any]:
    """Return ``training.scale`` of model.json: the training values of the models' genes.

    X (n_samples, n_genes) float: as the coefficients see them, after the learned steps.
    y (n_samples,) or (n_samples, T) float: ±1, or a number, which is cut at its mean; or a column
    for each class.

    The keys are ``samples``, ``genes``, ``means``, ``sds``, and `Bounds` of the ``location`` and of
    the ``slope`` of single samples.
    """
    scale = {
        "samples": len(X),
        "genes": list(genes),
        "means": X.mean(axis=0).tolist(),
        "sds": X.std(axis=0).tolist(),
    }
    # These samples made the means themselves, so that no error of the means flattens their slope.
    noiseless_scale = scale | {"samples": np.inf}
    profiles = [sample_profile(x, np.ones(len(x), dtype=bool), noiseless_scale) for x in X]
    class_numbers = np.argmax(y, axis=1) if y.ndim > 1 else (y > y.mean()).astype(np.int64)
    values_by_name = {
        "location": [profile.location for profile in profiles],
        "slope": [profile.slope for profile in profiles],
    }
    return scale | {
        name: _bounds(np.array(values), class_numbers) for name, values in values_by_name.items()
    }


def _bounds(values: Array, class_number: Array) -> dict[str, float]:
    """Return the extreme class means of values (n_samples,) and the sd inside of the classes.

    class_number (n_samples,) int: from 0, every class with a sample.
    """
    n_classes = int(class_number.max()) + 1
    class_means = np.array([values[class_number == number].mean() for number in range(n_classes)])
    deviation = values - class_means[class_number]
    sd = np.sqrt((deviation**2).sum() / max(len(values) - n_classes, 1))
    return {"low": float(class_means.min()), "high": float(class_means.max()), "sd": float(sd)}


def sample_profile(x: Array, is_measured: Array, scale: Mapping[str, Any]) -> ScaleProfile:
    """Return location and slope of one sample, or of the means of several.

    The training means m_j have errors of their own, of variance s_j²/n, which would flatten the
    slope: their expected part is subtracted from the sum of squares.

    x, is_measured (n_genes,) float, bool. scale: from `training_scale`.
    """
    m, s = (np.asarray(scale[key], dtype=float) for key in ("means", "sds"))
    is_used = is_measured & (s > MIN_SPREAD)
    n_genes = int(is_used.sum())
    x = x[is_used]
    m = m[is_used]
    w = 1 / s[is_used] ** 2
    if not n_genes:
        return ScaleProfile(
            genes=0, location=0.0, location_error=np.inf, slope=1.0, slope_error=np.inf
        )
    location = float(np.median((x - m) * np.sqrt(w)))
    error = 1 / np.sqrt(n_genes)
    centred = m - np.average(m, weights=w)
    squares = float(w @ centred**2)
    true_squares = squares - n_genes / scale["samples"]
    if n_genes < MIN_SLOPE_GENES or true_squares < MIN_TRUE_SHARE * squares:
        return ScaleProfile(
            genes=n_genes, location=location, location_error=error, slope=1.0, slope_error=np.inf
        )
    slope = float((w * centred) @ x) / true_squares
    residual = x - np.average(x, weights=w) - slope * centred
    slope_error = float(np.sqrt(w @ residual**2 / (n_genes - 2) / true_squares))
    return ScaleProfile(
        genes=n_genes,
        location=location,
        location_error=error,
        slope=slope,
        slope_error=slope_error,
        stretch=squares / true_squares,
    )


def mean_profile(compared: ComparedValues) -> ScaleProfile:
    """Return location and slope of the means of several samples, see `sample_profile`."""
    counts = compared.is_measured.sum(axis=0)
    means = np.where(compared.is_measured, compared.X, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return sample_profile(means, counts > 0, compared.scale)


def describe_scale_fault(compared: ComparedValues) -> SampleFault | None:
    """Return why values are not on the training scale, and of which sample; None if they are.

    The mean of the samples may lie beyond the class means of training samples by `MAX_SHIFT_SDS`
    and a factor of `MIN_SLOPE_RATIO`, and by `N_STANDARD_ERRORS` standard errors √(sd²/n + error²).
    One of several samples may lie `SINGLE_SAMPLE_FACTOR` times as far away.
    """
    samples = compared.samples
    if fault := mean_fault(compared):
        return SampleFault(f", sample '{samples[0]}'" if len(samples) == 1 else "", fault)
    for name, x, is_measured in zip(samples, compared.X, compared.is_measured, strict=True):
        if fault := sample_fault(x, is_measured, compared.scale):
            return SampleFault(f", sample '{name}'", fault)
    return None


def mean_fault(compared: ComparedValues, gene_text: str = OF_MODEL) -> str:
    """Return why the mean of the samples is not on the training scale, '' if it is.

    `gene_text` says in the message which genes these are.
    """
    n = len(compared.X)
    profile = mean_profile(compared)
    fault = _profile_fault(profile, compared.scale, n=max(n, 1), factor=1, gene_text=gene_text)
    mean_text = "" if n == 1 else f" (means of {n} samples)"
    return fault and f"{fault}{mean_text}; {SCALE_ADVICE}"


def sample_fault(
    x: Array, is_measured: Array, scale: Mapping[str, Any], gene_text: str = OF_MODEL
) -> str:
    """Return why one sample among several is on another scale, '' if it is not.

    The bounds are `SINGLE_SAMPLE_FACTOR` times those of `mean_fault`.
    """
    profile = sample_profile(x, is_measured, scale)
    fault = _profile_fault(profile, scale, n=1, factor=SINGLE_SAMPLE_FACTOR, gene_text=gene_text)
    return fault and f"{fault}; {SCALE_ADVICE}"


def find_odd_samples(compared: ComparedValues) -> list[tuple[str, str]]:
    """Return the name of each sample that `describe_scale_fault` would refuse alone, and why.

    In halves of six studies, with 3 to 100 genes, 2 of 5088 samples were named that were on the
    scale of the other half.
    """
    scale = compared.scale
    odd_samples = []
    for name, x, is_measured in zip(
        compared.samples, compared.X, compared.is_measured, strict=True
    ):
        profile = sample_profile(x, is_measured, scale)
        if fault := _profile_fault(profile, scale, n=1, factor=1, gene_text=OF_MODEL):
            odd_samples.append((name, fault))
    return odd_samples


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
    """Return why the mean of n samples is not on the training scale, '' if it is.

    factor: 1, or `SINGLE_SAMPLE_FACTOR`, by which bounds are wider.
    """
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
    """Return the bounds of a slope with their distances from 1 multiplied by a factor."""
    ends = {end: 1.0 + factor * (slope[end] - 1.0) for end in ("low", "high")}
    return ends | {"sd": factor * slope["sd"]}


def _uncertainty(bounds: Bounds, error: float, n_samples: float) -> float:
    """Return `N_STANDARD_ERRORS` standard errors of the mean of some samples."""
    return float(N_STANDARD_ERRORS * np.sqrt(bounds["sd"] ** 2 / n_samples + error**2))


MAX_PANEL_GENES = 300  # largest number of genes of the panel
MIN_PANEL_GENES = 30  # genes of the panel that new samples must have for a comparison by it
N_AXES = 3  # number of principal axes of the training samples
MIN_AGREEMENT_SHARE = 0.5
"""Least rank agreement with the training means, as a share of that of the training samples."""
MIN_COHERENCE_SHARE = 0.5
"""Least share of variance along the axes, as a share of that of left-out training samples."""
MIN_TRAINING_AGREEMENT = 0.5
"""Rank agreement of training samples, below which it does not reveal exchanged gene ids."""
MIN_TRAINING_COHERENCE = 0.05  # below which it does not reveal exchanged gene ids
MIN_SUM_OF_SQUARES = MIN_SPREAD  # smallest divisor of a share of squares, so that none is 0
MAX_ABS_Z = 4.0  # standardised values are clipped to this
MIN_SPREAD_SAMPLES = 8  # new samples from which on their spread and their axes are checked
MIN_UNIFORM_SAMPLES = 10  # new samples from which on one class for all of them is doubtful
ID_QUESTION = "do the gene ids stand beside their own values?"
OF_PANEL = "that are compared"
"""Text that names the genes of the panel in a message, as `OF_MODEL` those of the models."""


def panel_genes(X: Array, model_columns: Array) -> Array:
    """Return the columns of the panel: genes evenly spread over the ranks of their means.

    X (n_samples, n_genes) float: training samples, as coefficients see them. model_columns: columns
    of the models' genes, which `training_scale` compares.
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

    X (n_samples, n_genes) float: the panel's genes, as coefficients see them. y, genes: as in
    `training_scale`. studies (n_samples,) str or None: study of each sample, if there are several.

    The keys are those of `training_scale`, and three more. ``agreement`` is the mean rank
    correlation of a training sample with the means. ``axes`` (`N_AXES`, n_genes) are principal axes
    of the standardised values. ``coherence`` is the share of the variance of one half of the
    samples along the axes of the other half. With studies it is that of each study along the axes
    of the others, because genes that vary together in one study alone need not do so elsewhere.
    """
    scale = training_scale(X, y, genes)
    Z = _standardised(X, X.std(axis=0))
    # Two halves of a single study count as studies.
    study_of_sample = np.arange(len(X)) % 2 if studies is None else studies
    is_in_study = (
        [study_of_sample == study for study in np.unique(study_of_sample)]
        if len(X) >= 2 * MIN_SPREAD_SAMPLES
        else []
    )
    shares = [coherence(Z[in_study], axes_of(Z[~in_study])) for in_study in is_in_study]
    return scale | {
        "agreement": float(rank_agreement(X, X.mean(axis=0)).mean()) if X.size else 0.0,
        "axes": axes_of(Z).tolist() if is_in_study else [],
        "coherence": float(np.mean(shares)) if is_in_study else 0.0,
    }


def axes_of(Z: Array) -> Array:
    """Return the first `N_AXES` principal axes of samples, (at most `N_AXES`, n_genes)."""
    return np.asarray(np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][:N_AXES])


def coherence(Z: Array, axes: Array) -> float:
    """Return the share of the variance of samples along orthonormal axes V, |ZV'|²/|Z|²."""
    Z = Z - Z.mean(axis=0)
    return float(np.sum((Z @ axes.T) ** 2) / max(float(np.sum(Z**2)), MIN_SUM_OF_SQUARES))


def axes_of_genes(axes: Array, is_complete: Array) -> Array:
    """Return orthonormal axes (at most `N_AXES`, genes) of some genes, (n_genes,) bool.

    The parts of orthonormal axes on fewer genes are shorter than 1 and not orthogonal, so that the
    shares of `coherence` would fall with the number of genes.
    """
    from scipy.linalg import orth

    return axes if is_complete.all() else np.asarray(orth(axes[:, is_complete].T).T)


def rank_agreement(X: Array, means: Array) -> Array:
    """Return Spearman's rank correlation of each row of X with `means`, (n_samples,)."""
    ranks = average_ranks(X)
    mean_ranks = average_ranks(means[None])[0]
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    mean_ranks = mean_ranks - mean_ranks.mean()
    size = np.sqrt((ranks**2).sum(axis=1) * (mean_ranks**2).sum())
    return np.asarray(np.divide(ranks @ mean_ranks, size, out=np.zeros(len(X)), where=size > 0))


def has_enough_panel_genes(compared: ComparedValues) -> bool:
    """Return whether new samples have enough genes of the panel for a comparison."""
    return int(compared.complete_genes().sum()) >= MIN_PANEL_GENES


def panel_fault(compared: ComparedValues) -> str:
    """Return why new samples are not on the training scale by the panel, '' if they are.

    Another order of the genes is reported first: gene ids then stand beside the values of other
    genes. There is no fault if too few genes were measured.
    """
    if not has_enough_panel_genes(compared):
        return ""
    panel_agreement = float(np.median(_panel_agreement(compared)))
    if panel_agreement < _min_agreement(compared.scale):
        return _order_fault(panel_agreement, compared)
    return mean_fault(compared, OF_PANEL)


def panel_doubts(compared: ComparedValues) -> Iterator[tuple[int, str]]:
    """Yield the row of each sample that is doubtful by the panel, and the reason.

    A single sample is doubtful by the order of its genes, or by location and slope. All samples are
    if they do not vary along the axes of training samples, or if they spread more or less than
    these where no slope can be fitted, which would show it.
    """
    if not has_enough_panel_genes(compared):
        return
    panel = compared.scale
    agreements = _panel_agreement(compared)
    for row, (x, is_measured) in enumerate(zip(compared.X, compared.is_measured, strict=True)):
        if agreements[row] < _min_agreement(panel):
            yield row, _order_fault(float(agreements[row]), compared)
        elif fault := sample_fault(x, is_measured, panel, OF_PANEL):
            yield row, fault
    for fault in _joint_faults(compared) if len(compared.X) >= MIN_SPREAD_SAMPLES else ():
        yield from ((row, fault) for row in range(len(compared.X)))


def _joint_faults(compared: ComparedValues) -> Iterator[str]:
    """Yield why the genes of the panel do not spread or vary together as in training samples."""
    panel = compared.scale
    is_complete = compared.complete_genes()
    sds = np.asarray(panel["sds"], dtype=float)[is_complete]
    Z = _standardised(compared.X[:, is_complete], sds)
    spread = float(np.median(np.sqrt(np.sum(Z**2, axis=0) / (len(Z) - 1))))
    tolerance = np.exp(1 / np.sqrt(2 * (len(Z) - 1)))  # one standard error of a standard deviation
    # Another spread shows in the slope, if one is fitted.
    has_no_slope = not np.isfinite(mean_profile(compared).slope_error)
    if has_no_slope and not MIN_SLOPE_RATIO / tolerance <= spread <= tolerance / MIN_SLOPE_RATIO:
        yield (
            f"the {counted(int(is_complete.sum()), 'gene')} {OF_PANEL} spread {spread:.2f} times "
            f"as much over the samples as in training; {SCALE_ADVICE}"
        )
    if panel["coherence"] >= MIN_TRAINING_COHERENCE:
        share = coherence(Z, axes_of_genes(np.asarray(panel["axes"]), is_complete))
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


def _panel_agreement(compared: ComparedValues) -> Array:
    """Return the rank correlation of each sample with the training means, (n_samples,)."""
    is_complete = compared.complete_genes()
    means = np.asarray(compared.scale["means"], dtype=float)[is_complete]
    return rank_agreement(compared.X[:, is_complete], means)


def _min_agreement(panel: Mapping[str, Any]) -> float:
    """Return the smallest agreement of a sample whose genes have the order of the training genes.

    It is -inf if training samples themselves agree too little to tell.
    """
    typical = float(panel["agreement"])
    return MIN_AGREEMENT_SHARE * typical if typical >= MIN_TRAINING_AGREEMENT else -np.inf


def _order_fault(panel_agreement: float, compared: ComparedValues) -> str:
    """Return the message that the genes stand in another order."""
    genes = counted(int(compared.complete_genes().sum()), "gene")
    return (
        f"the order of the {genes} {OF_PANEL} agrees by {panel_agreement:.2f} with that of the "
        f"training samples, which agree by {compared.scale['agreement']:.2f} with each other's "
        f"mean; {ID_QUESTION}"
    )


def describe_scale(compared: ComparedValues) -> str:
    """Return a sentence on location and slope of new samples."""
    profile = mean_profile(compared)
    slope = "" if not np.isfinite(profile.slope_error) else f", slope {profile.slope:.2f}"
    side = "above" if profile.location >= 0 else "below"
    return (
        f"on average, {counted(profile.genes, 'gene')} lie {abs(profile.location):.2f} standard "
        f"deviations {side} the training samples{slope} (same scale: 0{slope and ' and 1'})"
    )


def common_shift(compared: ComparedValues) -> float:
    """Return the shift that all genes of the panel share, in units of X; 0 without one.

    It is the median over the genes of the mean of the new samples less that of the training
    samples. It counts if the location lies beyond those of the classes by three standard errors.
    """
    panel = compared.scale
    effective_n = 1 / (1 / len(compared.X) + 1 / panel["samples"])  # both means have errors
    if not has_enough_panel_genes(compared) or not is_off_centre(
        mean_profile(compared), panel, effective_n
    ):
        return 0.0
    is_complete = compared.complete_genes()
    means = np.asarray(panel["means"], dtype=float)[is_complete]
    return float(np.median(compared.X[:, is_complete].mean(axis=0) - means))


def call_doubts(calls: Array, corrected_calls: Array, shift: float) -> list[str]:
    """Return the doubt about each sample's call, '' without any.

    calls (n_samples,) str or float: predicted classes or numbers.
    corrected_calls: the same, from scores without the part that a common shift adds to them.
    shift: as `common_shift` gives it.
    """
    uniform_text = ""
    # Classes and risk groups are text; numbers are seldom all equal.
    if len(calls) >= MIN_UNIFORM_SAMPLES and isinstance(calls[0], str) and len(set(calls)) == 1:
        uniform_text = f"all {len(calls)} samples are {calls[0]}"
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


SCALE_NOT_COMPARED = (
    "not told: the model takes each gene relative to the new samples themselves, which puts them"
    " where the training samples lie, whatever their scale"
)
MIN_P99_RATIO = 2.0  # least ratio of the 99th percentile of logarithms to that of their logarithms


def describe_log_fault(
    values: Array,
    is_measured: Array,
    names: Sequence[str],
    training_scale: Mapping[str, float],
    *,
    takes_logarithms: bool,
) -> SampleFault | None:
    """Return which sample lacks logarithms, or has one more than in training, and what to do.

    It is for models that standardise each gene by its mean and sd over the new samples: aligned
    samples lie where training samples lie, whatever their scale was, so it is checked before.

    values, is_measured (n_samples, n_genes) float, bool: after the row-wise steps, before studies
    are aligned. names: samples. training_scale: ``median`` and ``p99`` of the training values
    before alignment. takes_logarithms: whether the row-wise steps take logarithms.
    """
    medians_and_p99s = [
        median_and_p99(x[is_measured]) for x, is_measured in zip(values, is_measured, strict=True)
    ]
    looks_raw = [spread_as_raw(median, p99) for median, p99 in medians_and_p99s]
    training_looks_raw = spread_as_raw(**training_scale)
    logged_twice = [
        takes_logarithms and MIN_P99_RATIO * p99 < training_scale["p99"]
        for _, p99 in medians_and_p99s
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
    p99_of_sample = medians_and_p99s[first_odd][1]
    remedy = "take log2 of them" if never_logged else "give the model the values before logarithms"
    further = further_text(len(odd_samples) - 1, "sample")
    message = (
        f"the values look as if they were {history} (99th percentile {p99_of_sample:.4g}; in"
        f" training {training_scale['p99']:.4g}){further}; {remedy}, as for its training samples"
    )
    return SampleFault(f", sample '{names[first_odd]}'", message)
