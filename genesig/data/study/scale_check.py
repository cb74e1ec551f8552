"""The scale of the values against the steps: values never logged, logged twice, or flattened."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.collapse import with_sets
from genesig.data.steps.imputation import step_for_missing
from genesig.data.steps.normalise import NORMALISERS, fit_steps, with_batch
from genesig.data.steps.scale import (
    COUNT_STEPS,
    LEARNED_DEPTH_STEPS,
    LOG_STEPS,
    log2_step,
    looks_counted,
    looks_raw,
    never_logged,
    noise_level,
    sizes,
    zeros_stand_apart,
)
from genesig.data.steps.segment import with_places
from genesig.data.steps.zeros import ZEROS_AS_MISSING as ZEROS
from genesig.data.study.sheet_check import Sheet
from genesig.errors import GenesigError, Problem
from genesig.words import counted, flow_yaml, listing

if TYPE_CHECKING:
    import pandas as pd

# Largest share of genes that the row-wise steps may make constant.
MOST_FLAT = 0.5
# A value is alone in its size where it lies above nine tenths of all by so many times their range.
BULK = 90
ABSURD = 5.0
# A number that stands in so many cells is none by accident.
REPEATED = 3
# Largest share of counts that are no whole numbers: some programs share reads out among genes.
MOST_BROKEN = 0.5
# How many times the 99th percentile of raw samples is that of logged ones among them: 15-bit
# intensities, 200 times.
APART = 10.0
# A value that lost its decimal point is ten times as large: so many times the others of its gene,
# in this share of a gene's samples and of all cells at most.
LOST_POINT = 4.0
RARE_IN_GENE = 0.1
FEW = 0.002
# Shares of the cells below a floor and above a ceiling that are warned of; below a floor of up to
# so many times the noise, more.
MANY_BELOW = 0.1
MOST_BELOW = 0.4
MANY_ABOVE = 0.01
FLOOR_OF_NOISE = 2.0
# From this share of zeros on, a sample of nothing else may be meant, unless it is to be counts.
MOST_ZEROS = 0.5
FEWEST_GENES = 10
"""From which on a sample does not have one value in all of them by chance."""
# A probe of a CEL file that is not the first one of its set.
PROBE = re.compile(r".+#[0-9]+")

# Steps for raw intensities of probes.
RMA = ("rma_background", "median_polish")


def check_scale(
    X: Array, normalise: dict[str, Any], place: str, *, are_counts: bool = False
) -> Iterator[Problem]:
    """Yield what the shape of the values says about the steps: see `never_logged`.

    X is (n_samples, n_genes); `are_counts` tells that their file says so.
    """
    names = [step["step"] for step in normalise["samples"] + normalise["folds"]]
    if ZEROS not in names and not are_counts and zeros_stand_apart(X):
        yield _zeros(X, place)
    if ZEROS in names:
        X = np.where(X == 0, np.nan, X)
    if not np.isfinite(X).any():
        return
    least, p99, largest = sizes(X)
    raw = never_logged(X)
    size = f"99th percentile {p99:.4g}, maximum {largest:.4g}"
    if raw and not LOG_STEPS & set(names):
        yield Problem(
            place,
            _of_raw_values(X, size, are_counts),
            "warning",
            code="never_logged",
            key="normalise.samples",
        )
    rma = [step for step in names if step in RMA]
    if rma and not raw:
        yield Problem(
            place,
            f"the values look as if they were logged already ({size}); "
            f"{' and '.join(rma)} would take logarithms of logarithms, and need raw "
            "intensities of probes: take them out of normalise",
            "warning",
        )
    counting_step = next((step for step in names if step in COUNT_STEPS), None)
    measured = X[np.isfinite(X)]
    broken = float((np.round(measured) != measured).mean())
    if counting_step and not raw and broken > MOST_BROKEN:
        yield Problem(
            place,
            f"the values cannot be counts: most are no whole numbers ({size}); "
            f"take {_out(counting_step)}, or name the raw counts",
        )
    if "log2" in names and not raw:
        yield Problem(
            place,
            f"the values look as if they were logged already ({size}); take log2 "
            "out of normalise.samples",
            "warning",
            code="logged_already",
        )
    elif "log2" in names and least < 0:
        share = 100 * float((measured < 0).mean())
        yield Problem(
            place,
            f"{share:.2g} % of the values are negative; log2 raises them to its floor",
            "warning",
        )
    others = [step for step in normalise["samples"] if step["step"] != ZEROS]
    if raw and others and others[0]["step"] == "log2":
        yield from _check_limits(X, others[0], place)


def _zeros(X: Array, place: str) -> Problem:
    """Say that zeros are missing values, and which settings take them for that."""
    zeros = float(np.mean(X[np.isfinite(X)] == 0))
    least = float(np.min(X[X > 0]))
    text = f"{100 * zeros:.3g} % of the values are 0, and the next one is {least:.4g}: such zeros "
    step = step_for_missing(np.where(X == 0, np.nan, X))
    text += "are missing values; set data.missing: true, put {step: zeros_as_missing} first into "
    text += f"normalise.samples, and {{step: {step}}} first into normalise.folds"
    return Problem(place, text, "warning", code="zeros_missing", key="normalise.samples")


def _of_raw_values(X: Array, size: str, are_counts: bool) -> str:
    """Say what values look like that were never logged, and which steps take logarithms of them."""
    values = X[np.isfinite(X)]
    if are_counts or (looks_counted(X) and (np.round(values) == values).all()):
        verb = "are" if are_counts else "look like"
        return (
            f"the values {verb} counts ({size}); steps for counts are vst, size_factors and "
            "log_cpm (docs/how_to/rnaseq.md)"
        )
    return (
        f"the values look as if they were never logged ({size}); to take logarithms set "
        f"normalise.samples: [{flow(log2_step(X))}]"
    )


def _check_limits(X: Array, step: dict[str, Any], place: str) -> Iterator[Problem]:
    """Yield that floor or ceiling of log2 make many values above 0 one.

    Values below the noise of intensities are no loss, up to two fifths of all.
    """
    values = X[np.isfinite(X)]
    floor = step["floor"]
    ceiling = step["ceiling"]
    below = float(np.mean((values > 0) & (values < floor)))
    above = float(np.mean(values > ceiling))
    noise = noise_level(X)
    at_noise = floor <= FLOOR_OF_NOISE * noise and below <= MOST_BELOW
    if below > MANY_BELOW and not at_noise:
        text = (
            f"log2 with floor {floor:g} gives {100 * below:.2g} % of the cells one value, whose "
            f"differences are lost; a floor that follows the data is {noise:g}"
        )
        yield Problem(place, text, "warning", code="flattened_by_floor", key="normalise.samples")
    if above > MANY_ABOVE:
        text = (
            f"log2 with ceiling {ceiling:g} gives {100 * above:.2g} % of the cells one value, "
            f"whose differences are lost; set a ceiling above {values.max():.4g}"
        )
        yield Problem(place, text, "warning", code="flattened_by_ceiling", key="normalise.samples")


def check_mixed(
    X: Array, samples: Sequence[str], normalise: dict[str, Any], place: str
) -> Iterator[Problem]:
    """Yield that some samples look as if they were logged already, and others do not."""
    size = [sizes(x)[1:] if np.isfinite(x).any() else (np.nan, np.nan) for x in X]
    found = np.array(size).reshape(-1, 2)
    raw = np.array([looks_raw(*each) for each in found], dtype=bool)
    logged = ~raw & np.isfinite(found[:, 0])
    ranked = "rank_samples" in [step["step"] for step in normalise["samples"]]
    if ranked or not raw.any() or not logged.any():
        return
    low = found[logged, 0].max()
    high = np.median(found[raw, 0])
    if low > 0 and high > APART * low:
        names = [samples[int(row)] for row in np.flatnonzero(logged)]
        yield Problem(
            place,
            f"{listing(names)} look as if they were logged already (99th "
            f"percentile {low:.4g} at most), and {counted(int(raw.sum()), 'sample')} do "
            f"not ({high:.4g}); bring all to one scale",
            "warning",
        )


def check_lone(
    X: Array, genes: Sequence[str], samples: Sequence[str], place: str, steps: Collection[str] = ()
) -> Iterator[Problem]:
    """Yield the first of few values so large that only they look as if they were never logged.

    Values of a gene that is abundant in many samples are no such values, and none is after ranks or
    logarithms, which `steps` name. One number that most of them are may stand for no value.
    """
    if not np.isfinite(X).any():
        return
    least, p99, largest = sizes(X)
    bulk = float(np.nanpercentile(X, BULK, method="lower"))  # of few values, too, one of them
    lone = bulk + ABSURD * (bulk - least) < X
    lone[lone.mean(axis=1) > MOST_FLAT] = False  # such a sample as a whole is of another scale
    if not lone.any() or not looks_raw(p99, largest):
        return
    numbers, times = np.unique(X[lone], return_counts=True)
    if times.max() >= REPEATED and 2 * times.max() >= lone.sum():
        if never_logged(np.where(lone, np.nan, X)):
            return
        row, gene = map(int, np.argwhere(lone & (numbers[np.argmax(times)] == X))[0])
        advice = f"it stands in {times.max()} cells: if nothing was measured there, leave them "
        advice += "blank"
    else:
        lone = _alone_in_their_gene(X, lone)
        rest = np.where(lone, np.nan, X)
        if not lone.any() or LOG_STEPS & set(steps) or never_logged(rest):
            return
        row, gene = map(int, np.argwhere(lone)[0])
        advice = "is a decimal point lost? Correct it, or leave the gene out"
    text = (
        f"the value {X[row, gene]:g} {_spread(lone, samples)}lies far above all others "
        f"(nine of ten are below {bulk:.4g}); {advice}"
    )
    at = f"{place}, gene '{genes[gene]}', sample '{samples[row]}'"
    yield Problem(at, text, code="lone_values")


def _alone_in_their_gene(X: Array, lone: Array) -> Array:
    """Return which of the lone values also lie far above all others of their gene.

    None if these are many.
    """
    others = np.where(lone | np.isnan(X), -np.inf, X).max(axis=0)
    rare = lone.sum(axis=0) <= max(1, RARE_IN_GENE * len(X))
    alone = lone & rare & (LOST_POINT * np.maximum(others, 0) < X)
    return alone if alone.sum() <= max(REPEATED, FEW * X.size) else np.zeros_like(alone)


def _spread(lone: Array, samples: Sequence[str]) -> str:
    """Say in how many genes and samples further values lie so far off, and where most of them."""
    further = int(lone.sum()) - 1
    if not further:
        return ""
    of_sample = lone.sum(axis=1)
    often = int(np.argmax(of_sample))
    most = f", {of_sample[often]} of them in '{samples[often]}'" if of_sample[often] > 1 else ""
    rows = int((of_sample > 0).sum())
    genes = int(lone.any(axis=0).sum())
    told = f"{counted(further, 'further value')}; in all {counted(rows, 'sample')} and "
    return f"({told}{counted(genes, 'gene')}{most}) "


def check_probes(genes: Sequence[str], normalise: dict[str, Any], place: str) -> Iterator[Problem]:
    """Yield that probes of CEL files, ``1007_s_at#2``, are not summed up to their sets."""
    steps = {step["step"] for step in normalise["samples"] + normalise["folds"]}
    probes = sum(PROBE.fullmatch(gene) is not None for gene in genes)
    if 2 * probes > len(genes) and "median_polish" not in steps:
        yield Problem(
            place,
            "the columns are raw intensities of single probes; for probe sets set "
            "normalise.samples: [{step: rma_background}] and begin normalise.folds with "
            "{step: quantile}, {step: median_polish}",
            "warning",
        )


def check_counts(
    X: Array, genes: Sequence[str], samples: Sequence[str], normalise: dict[str, Any], place: str
) -> Iterator[Problem]:
    """Yield what keeps a matrix from being counts, where the steps take it for counts."""
    step = _first(normalise)
    if step not in COUNT_STEPS:
        return
    negative = np.argwhere(X.T < 0)
    if len(negative):
        gene, row = map(int, negative[0])
        further = counted(len(negative) - 1, "further cell")
        more = f" ({further})" if len(negative) > 1 else ""
        yield Problem(
            f"{place}, gene '{genes[gene]}', sample '{samples[row]}'",
            f"the count {X[row, gene]:g} is negative{more}; name the raw counts, or take "
            f"{_out(step)}",
        )


def _first(normalise: dict[str, Any]) -> str:
    """Return the step that sees the values as they were read."""
    steps = [*normalise["samples"], *normalise["folds"]]
    return str(steps[0]["step"]) if steps else ""


def _out(step: str) -> str:
    return f"{step} out of normalise.{'folds' if step in LEARNED_DEPTH_STEPS else 'samples'}"


def check_empty(
    X: Array, samples: Sequence[str], normalise: dict[str, Any], place: str
) -> Iterator[Problem]:
    """Yield the samples whose every value is missing, 0 (unless most values are) or the same."""
    bare = np.isnan(X).all(axis=1)
    if bare.any() and not bare.all():
        names = [samples[int(row)] for row in np.flatnonzero(bare)]
        yield Problem(
            place,
            f"every value of {listing(names)} is missing; take such samples out "
            "of the sample table",
        )
    empty = ~X.any(axis=1)
    if empty.any() and X.shape[1] > 1:
        names = [samples[int(row)] for row in np.flatnonzero(empty)]
        counts = _first(normalise) in COUNT_STEPS
        rare = counts or empty.all() or (X[~empty] == 0).mean() < MOST_ZEROS
        yield Problem(
            place,
            f"every value of {listing(names)} is 0; take such samples out of the sample table",
            "error" if rare else "warning",
        )
    flat = (X[:, :1] == X).all(axis=1)
    if flat.any() and not flat.all() and (flat & ~empty).any() and X.shape[1] >= FEWEST_GENES:
        names = [samples[int(row)] for row in np.flatnonzero(flat & ~empty)]
        yield Problem(
            place,
            f"every value of {listing(names)} is the same, as of arrays that "
            "failed; unless that is meant, take such samples out of the sample table",
            "warning",
        )


def rehearse_steps(
    X: Array, normalise: dict[str, Any], source: str, sheet: Sheet | None, var: pd.DataFrame
) -> Iterator[Problem]:
    """Apply the steps to all samples, as the study does to its training samples.

    Yields what a step says of itself (a filter that leaves no gene, values that are not positive),
    and a row-wise step that leaves less than half of the genes with values that vary. Without the
    sheet, batches are left alone. `var` is the gene table.
    """
    try:
        for number, step in enumerate(with_places(normalise["samples"], var), 1):
            before = X
            X = fit_steps(X, [step]).transform(X)
            if text := flattened(step, before, X):
                yield Problem(f"{source}, normalise.samples, item {number}", text)
                return
    except GenesigError as error:
        text = str(error).removeprefix("normalise.folds: ").removeprefix("normalise.samples: ")
        yield Problem(f"{source}, normalise.samples", text)
        return
    try:
        folds = with_places(with_sets(normalise["folds"], var), var)
        if sheet is None:
            others = [step for step in folds if NORMALISERS[step["step"]].kind != "batch"]
            fit_steps(X, others).transform(X)
        else:
            fit_steps(X, with_batch(folds, sheet.design), sheet.obs).transform(X, sheet.obs)
    except GenesigError as error:
        text = str(error).removeprefix("normalise.folds: ")
        yield Problem(f"{source}, normalise.folds", text)


def _varies(X: Array) -> Array:
    return np.asarray(np.fmax.reduce(X, axis=0) > np.fmin.reduce(X, axis=0))


def flattened(step: dict[str, Any], X: Array, after: Array) -> str:
    """Say that a row-wise step makes most genes constant; blank where it does not."""
    flat = float(np.mean(~_varies(after)))
    if flat <= MOST_FLAT:
        return ""
    share = "all" if flat == 1 else f"{100 * flat:.3g} %"
    text = (
        f"'{step['step']}' gives {share} of the genes one value in every sample, so that "
        f"nothing can be learned from them (values before it: {np.nanmin(X):.4g} to "
        f"{np.nanmax(X):.4g}); "
    )
    if step["step"] != "log2":
        return text + "take the step away"
    text += "take the step away if these are logarithms already, else set a "
    if np.nanmin(X) >= step["ceiling"]:
        return text + f"higher ceiling than {step['ceiling']:g}"
    return text + f"lower floor than {step['floor']:g}"
