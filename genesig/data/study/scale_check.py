"""The size of the values against the steps: values never logged, or logged twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.collapse import with_sets
from genesig.data.steps.normalise import NORMALISERS, fit_steps, with_batch
from genesig.data.steps.scale import (
    COUNTED,
    LEARNED_DEPTH,
    LOGARITHMS,
    looks_raw,
    never_logged,
    sizes,
)
from genesig.data.steps.segment import with_places
from genesig.data.study.sheet_check import Sheet
from genesig.errors import GenesigError, Problem
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd

# Largest share of genes that the row-wise steps may make constant.
MOST_FLAT = 0.5
# A value is alone in its size where it lies above nine tenths of all by so many times their range.
BULK, ABSURD = 90, 5.0
# A number that stands in so many cells is none by accident.
REPEATED = 3
# Largest share of counts that are no whole numbers: some programs share reads out among genes.
MOST_BROKEN = 0.5
# How many times the 99th percentile of raw samples is that of logged ones among them: 15-bit
# intensities, 200 times.
APART = 10.0
# From this share of zeros on, a sample of nothing else may be meant, unless it is to be counts.
MOST_ZEROS = 0.5
FEWEST_GENES = 10
"""From which on a sample does not have one value in all of them by chance."""
# A probe of a CEL file that is not the first one of its set.
PROBE = re.compile(r".+#[0-9]+")

# Steps for raw intensities of probes.
RMA = ("rma_background", "median_polish")


def check_scale(X: Array, normalise: dict[str, Any], where: str) -> Iterator[Problem]:
    """Yield what the size of the values says about log2.

    Values count as never logged where the 99th percentile is above 30 or the maximum above 50.
    """
    X = X[np.isfinite(X)]
    least, p99, most = sizes(X)
    raw = never_logged(X)
    size = f"99th percentile {p99:.4g}, maximum {most:.4g}"
    steps = [step["step"] for step in normalise["samples"] + normalise["folds"]]
    if raw and not LOGARITHMS & set(steps) and least == 0 and (np.round(X) == X).all():
        yield Problem(where, f"the values look like counts ({size}); steps for counts are vst, "
                      "size_factors and log_cpm (docs/data.md)", "warning")  # fmt: skip
    elif raw and not LOGARITHMS & set(steps):
        yield Problem(where, f"the values look as if they were never logged ({size}); to take "
                      "logarithms set normalise.samples: [{step: log2}]", "warning")  # fmt: skip
    rma = [step for step in steps if step in RMA]
    if rma and not raw:
        yield Problem(where, f"the values look as if they were logged already ({size}); "
                      f"{' and '.join(rma)} would take logarithms of logarithms, and need raw "
                      "intensities of probes: take them out of normalise", "warning")  # fmt: skip
    counted_by = next((step for step in steps if step in COUNTED), None)
    if counted_by and not raw and (np.round(X) != X).mean() > MOST_BROKEN:
        yield Problem(where, f"the values cannot be counts: most are no whole numbers ({size}); "
                      f"take {_out(counted_by)}, or name the raw counts")  # fmt: skip
    if "log2" in steps and not raw:
        yield Problem(where, f"the values look as if they were logged already ({size}); take log2 "
                      "out of normalise.samples", "warning")  # fmt: skip
    elif "log2" in steps and least < 0:
        share = 100 * float((X < 0).mean())
        yield Problem(where, f"{share:.2g} % of the values are negative; log2 raises them to its "
                      "floor", "warning")  # fmt: skip


def check_mixed(X: Array, samples: Sequence[str], normalise: dict[str, Any],
                where: str) -> Iterator[Problem]:  # fmt: skip
    """Yield that some samples look as if they were logged already, and others do not."""
    size = [sizes(x)[1:] if np.isfinite(x).any() else (np.nan, np.nan) for x in X]
    found = np.array(size).reshape(-1, 2)
    raw = np.array([looks_raw(*each) for each in found], dtype=bool)
    logged = ~raw & np.isfinite(found[:, 0])
    ranked = "rank_samples" in [step["step"] for step in normalise["samples"]]
    if ranked or not raw.any() or not logged.any():
        return
    low, high = found[logged, 0].max(), np.median(found[raw, 0])
    if low > 0 and high > APART * low:
        names = [samples[int(row)] for row in np.flatnonzero(logged)]
        yield Problem(where, f"{listing(names)} look as if they were logged already (99th "
                      f"percentile {low:.4g} at most), and {counted(int(raw.sum()), 'sample')} do "
                      f"not ({high:.4g}); bring all to one scale", "warning")  # fmt: skip


def check_lone(X: Array, genes: Sequence[str], samples: Sequence[str],
               where: str) -> Iterator[Problem]:  # fmt: skip
    """Yield the first of few values so large that only they look as if they were never logged.

    Few are up to a tenth of all, and half of a sample's. One number that most of them are may stand
    for no value.
    """
    if not np.isfinite(X).any():
        return
    least, p99, most = sizes(X)
    bulk = float(np.nanpercentile(X, BULK, method="lower"))  # of few values, too, one of them
    lone = bulk + ABSURD * (bulk - least) < X
    lone[lone.mean(axis=1) > MOST_FLAT] = False  # such a sample as a whole is of another scale
    if not lone.any() or not looks_raw(p99, most) or looks_raw(bulk, float(np.nanmax(X[~lone]))):
        return
    row, gene = map(int, np.argwhere(lone)[0])
    times = int((X[row, gene] == X).sum())
    filled = times >= REPEATED and 2 * times >= lone.sum()
    what = f"the value {X[row, gene]:g} {_spread(lone, samples)}lies far above all others "
    what += f"(nine of ten are below {bulk:.4g}); "
    if filled:
        what += f"it stands in {times} cells: if nothing was measured there, leave them blank"
    else:
        what += "is a decimal point lost? Correct it, or leave the gene out"
    yield Problem(f"{where}, gene '{genes[gene]}', sample '{samples[row]}'", what)


def _spread(lone: Array, samples: Sequence[str]) -> str:
    """Say in how many genes and samples further values lie so far off, and where most of them."""
    further = int(lone.sum()) - 1
    if not further:
        return ""
    of_sample = lone.sum(axis=1)
    often = int(np.argmax(of_sample))
    most = f", {of_sample[often]} of them in '{samples[often]}'" if of_sample[often] > 1 else ""
    rows, genes = int((of_sample > 0).sum()), int(lone.any(axis=0).sum())
    told = f"{counted(further, 'further value')}; in all {counted(rows, 'sample')} and "
    return f"({told}{counted(genes, 'gene')}{most}) "


def check_probes(genes: Sequence[str], normalise: dict[str, Any], where: str) -> Iterator[Problem]:
    """Yield that probes of CEL files, ``1007_s_at#2``, are not summed up to their sets."""
    steps = {step["step"] for step in normalise["samples"] + normalise["folds"]}
    probes = sum(PROBE.fullmatch(gene) is not None for gene in genes)
    if 2 * probes > len(genes) and "median_polish" not in steps:
        yield Problem(where, "the columns are raw intensities of single probes; for probe sets set "
                      "normalise.samples: [{step: rma_background}] and begin normalise.folds with "
                      "{step: quantile}, {step: median_polish}", "warning")  # fmt: skip


def check_counts(X: Array, genes: Sequence[str], samples: Sequence[str],
                 normalise: dict[str, Any], where: str) -> Iterator[Problem]:  # fmt: skip
    """Yield what keeps a matrix from being counts, where the steps take it for counts."""
    step = _first(normalise)
    if step not in COUNTED:
        return
    negative = np.argwhere(X.T < 0)
    if len(negative):
        gene, row = map(int, negative[0])
        further = counted(len(negative) - 1, "further cell")
        more = f" ({further})" if len(negative) > 1 else ""
        yield Problem(f"{where}, gene '{genes[gene]}', sample '{samples[row]}'",
                      f"the count {X[row, gene]:g} is negative{more}; name the raw counts, or take "
                      f"{_out(step)}")  # fmt: skip


def _first(normalise: dict[str, Any]) -> str:
    """Return the step that sees the values as they were read."""
    steps = [*normalise["samples"], *normalise["folds"]]
    return str(steps[0]["step"]) if steps else ""


def _out(step: str) -> str:
    return f"{step} out of normalise.{'folds' if step in LEARNED_DEPTH else 'samples'}"


def check_empty(X: Array, samples: Sequence[str], normalise: dict[str, Any],
                where: str) -> Iterator[Problem]:  # fmt: skip
    """Yield the samples whose every value is missing, 0 (unless most values are) or the same."""
    bare = np.isnan(X).all(axis=1)
    if bare.any() and not bare.all():
        names = [samples[int(row)] for row in np.flatnonzero(bare)]
        yield Problem(where, f"every value of {listing(names)} is missing; take such samples out "
                      "of the sample table")  # fmt: skip
    empty = ~X.any(axis=1)
    if empty.any() and X.shape[1] > 1:
        names = [samples[int(row)] for row in np.flatnonzero(empty)]
        counts = _first(normalise) in COUNTED
        rare = counts or empty.all() or (X[~empty] == 0).mean() < MOST_ZEROS
        yield Problem(where, f"every value of {listing(names)} is 0; take such samples out of the "
                      "sample table", "error" if rare else "warning")  # fmt: skip
    flat = (X[:, :1] == X).all(axis=1)
    if flat.any() and not flat.all() and (flat & ~empty).any() and X.shape[1] >= FEWEST_GENES:
        names = [samples[int(row)] for row in np.flatnonzero(flat & ~empty)]
        yield Problem(where, f"every value of {listing(names)} is the same, as of arrays that "
                      "failed; unless that is meant, take such samples out of the sample table",
                      "warning")  # fmt: skip


def rehearse_steps(X: Array, normalise: dict[str, Any], source: str,
                   sheet: Sheet | None, var: pd.DataFrame) -> Iterator[Problem]:  # fmt: skip
    """Apply the steps to all samples, as the study does to its training samples.

    Yields what a step says of itself (a filter that leaves no gene, values that are not positive),
    and a row-wise step that leaves less than half of the genes with values that vary. Without the
    sheet, batches are left alone. `var` is the gene table.
    """
    try:
        for number, step in enumerate(with_places(normalise["samples"], var), 1):
            before, X = X, fit_steps(X, [step]).transform(X)
            if what := flattened(step, before, X):
                yield Problem(f"{source}, normalise.samples, item {number}", what)
                return
    except GenesigError as error:
        what = str(error).removeprefix("normalise.folds: ").removeprefix("normalise.samples: ")
        yield Problem(f"{source}, normalise.samples", what)
        return
    try:
        folds = with_places(with_sets(normalise["folds"], var), var)
        if sheet is None:
            others = [step for step in folds if NORMALISERS[step["step"]].kind != "batch"]
            fit_steps(X, others).transform(X)
        else:
            fit_steps(X, with_batch(folds, sheet.design), sheet.obs).transform(X, sheet.obs)
    except GenesigError as error:
        what = str(error).removeprefix("normalise.folds: ")
        yield Problem(f"{source}, normalise.folds", what)


def _varies(X: Array) -> Array:
    return np.asarray(np.fmax.reduce(X, axis=0) > np.fmin.reduce(X, axis=0))


def flattened(step: dict[str, Any], X: Array, after: Array) -> str:
    """Say that a row-wise step makes most genes constant; blank where it does not."""
    flat = float(np.mean(~_varies(after)))
    if flat <= MOST_FLAT:
        return ""
    share = "all" if flat == 1 else f"{100 * flat:.3g} %"
    what = f"'{step['step']}' gives {share} of the genes one value in every sample, so that "
    what += f"nothing can be learned from them (values before it: {np.nanmin(X):.4g} to "
    what += f"{np.nanmax(X):.4g}); "
    if step["step"] != "log2":
        return what + "take the step away"
    what += "take the step away if these are logarithms already, else set a "
    if np.nanmin(X) >= step["ceiling"]:
        return what + f"higher ceiling than {step['ceiling']:g}"
    return what + f"lower floor than {step['floor']:g}"
