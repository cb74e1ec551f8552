"""Genes held against the training samples for their scale alone: a short model cannot tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from genesig.selection.model.same_scale import (
    ADVICE,
    RATIO,
    mean_fault,
    mean_profile,
    off_centre,
    sample_fault,
    training_scale,
)
from genesig.words import SMALLEST, counted

Array = np.ndarray[Any, Any]
Panel = Mapping[str, Any]

PANEL = 300
"""Genes; fewer where the study has fewer."""
FEWEST = 30
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
    varies = np.setdiff1d(np.flatnonzero(X.std(axis=0) > SMALLEST), without)
    by_mean = varies[np.argsort(X[:, varies].mean(axis=0), kind="stable")]
    at = np.unique(np.linspace(0, len(by_mean) - 1, min(PANEL, len(by_mean))).round().astype(int))
    return np.sort(by_mean[at])


def training_panel(X: Array, y: Array, genes: Sequence[str]) -> dict[str, Any]:
    """Describe training samples by the panel, as model.json holds it.

    Parameters
    ----------
    X : (n_samples, n_genes) float
        As coefficients see the panel's genes.
    y, genes
        As in `training_scale`.

    Returns
    -------
    dict
        That of `training_scale`, and ``agreement``, the mean rank correlation of a training sample
        with the means; ``axes``, (`AXES`, n_genes), of the standardised values, and ``coherence``,
        what share of the variance of one half of the samples lies along the axes of the other.
    """
    scale = training_scale(X, y, genes)
    Z = _standardised(X, X.std(axis=0))
    halves = [(Z[k::2], Z[1 - k :: 2]) for k in (0, 1)] if len(X) >= 2 * MANY else []
    shares = [coherence(there, axes_of(here)) for here, there in halves]
    return scale | {
        "agreement": float(agreement(X, X.mean(axis=0)).mean()) if X.size else 0.0,
        "axes": axes_of(Z).tolist() if halves else [],
        "coherence": float(np.mean(shares)) if halves else 0.0,
    }


def axes_of(Z: Array) -> Array:
    """Return the first `AXES` principal axes of samples, (at most `AXES`, n_genes)."""
    return np.asarray(np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][:AXES])


def coherence(Z: Array, axes: Array) -> float:
    """Return the share of the variance of samples along axes: of orthonormal V |ZV'|²/|Z|²."""
    Z = Z - Z.mean(axis=0)
    return float(np.sum((Z @ axes.T) ** 2) / max(float(np.sum(Z**2)), SMALLEST))


def agreement(X: Array, means: Array) -> Array:
    """Return Spearman's rank correlation of each row of X with `means`, (n_samples,)."""
    from scipy.stats import rankdata

    ranks, own = rankdata(X, axis=1), rankdata(means)
    ranks, own = ranks - ranks.mean(axis=1, keepdims=True), own - own.mean()
    size = np.sqrt((ranks**2).sum(axis=1) * (own**2).sum())
    return np.asarray(np.divide(ranks @ own, size, out=np.zeros(len(X)), where=size > 0))


def enough(known: Array) -> bool:
    """Tell whether new samples have enough genes of the panel, (n_samples, n_genes) bool."""
    return int(known.all(axis=0).sum()) >= FEWEST


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
    Z = (X - X.mean(axis=0)) / np.where(sds > SMALLEST, sds, np.inf)
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
