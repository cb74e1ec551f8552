"""Check the scale of the values against the normalisation steps, and rehearse these steps.

X is samples × genes, NaN where missing; `normalise` is that section of the config, lists of steps
`samples` (row-wise, before the splits) and `folds`; `file` is the matrix's, for messages. Values
are raw if no logarithm was taken of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.gene_filters import with_sets
from genesig.data.steps.imputation import step_for_missing
from genesig.data.steps.normalise import NORMALISERS, fit_steps, with_batch
from genesig.data.steps.scale import (
    COUNT_STEPS,
    LEARNED_DEPTH_STEPS,
    LOG_STEPS,
    NEVER_LOGGED,
    log2_step,
    looks_counted,
    looks_raw,
    never_logged,
    noise_level,
    sizes,
    zeros_stand_apart,
)
from genesig.data.steps.segment import with_places
from genesig.data.steps.transforms import ZEROS_AS_MISSING as ZEROS
from genesig.data.study.sheet_check import Sheet
from genesig.errors import GenesigError, Problem
from genesig.words import counted, flow_yaml, further_in_brackets, listing

if TYPE_CHECKING:
    import pandas as pd

MAX_CONSTANT_SHARE = 0.5  # largest share of genes that the row-wise steps may make constant
BULK_PERCENTILE = 90  # percentile up to which values are the bulk
LONE_VALUE_RANGES = 5.0  # a lone value exceeds the bulk by more than 5 times the range of the bulk
MIN_REPEATED_CELLS = 3  # number of cells from which on a lone number is no slip of the keyboard
MAX_FRACTION_SHARE = 0.5  # share of fractions among counts: some programs divide reads
MIN_RAW_RATIO = 10.0  # of the 99th percentiles of raw and logged samples; 200 for 15-bit values
MIN_LONE_RATIO = 4.0  # ratio of a value that lost its decimal point to the other values of its gene
MAX_LONE_SHARE_OF_SAMPLE = 0.5  # largest share of lone values among the values of a sample
MAX_LONE_SHARE_OF_GENE = 0.1  # the same of a gene
MAX_LONE_SHARE = 0.002  # largest share of lone values among all cells
MAX_SHARE_BELOW = 0.1  # largest share of cells below the floor of log2 without a warning
MAX_FLOOR_OF_NOISE = 2.0  # largest ratio of floor and noise at which a floor is at the noise
MAX_NOISE_SHARE_BELOW = 0.4  # largest share of cells below a floor at the noise
MAX_SHARE_ABOVE = 0.01  # largest share of cells above the ceiling of log2 without a warning
MAX_ZERO_SHARE = 0.5
"""Share of zeros in the other samples from which on a sample of zeros is not refused, unless the
first step needs counts."""
MIN_GENES = 10  # number of genes from which on equal values of a sample are no chance
PROBE_NAME = re.compile(r".+#[0-9]+")
"""Matches a probe of a CEL file other than the first of its set, ``1007_s_at#2``."""
RMA_STEPS = ("rma_background", "median_polish")  # steps for raw intensities of probes


def check_scale(
    X: Array, normalise: dict[str, Any], file: str, *, are_counts: bool = False
) -> Iterator[Problem]:
    """Yield the problems of steps that do not fit the scale of the values, see `never_logged`.

    are_counts: whether the file declares counts.
    """
    step_names = [step["step"] for step in normalise["samples"] + normalise["folds"]]
    if ZEROS not in step_names and not are_counts and zeros_stand_apart(X):
        yield _zero_warning(X, file)
    if ZEROS in step_names:
        X = np.where(X == 0, np.nan, X)
    if not np.isfinite(X).any():
        return
    smallest, p99, largest = sizes(X)
    is_raw = never_logged(X)
    size_text = f"99th percentile {p99:.4g}, maximum {largest:.4g}"
    if is_raw and not LOG_STEPS & set(step_names):
        yield Problem(
            file,
            _raw_values_message(X, size_text, are_counts),
            "warning",
            code=NEVER_LOGGED,
            key="normalise.samples",
        )
    rma_steps = [step for step in step_names if step in RMA_STEPS]
    if rma_steps and not is_raw:
        yield Problem(
            file,
            f"the values look as if they were logged already ({size_text}); "
            f"{' and '.join(rma_steps)} would take logarithms of logarithms, and need raw "
            "intensities of probes: take them out of normalise",
            "warning",
        )
    counting_step = next((step for step in step_names if step in COUNT_STEPS), None)
    measured_values = X[np.isfinite(X)]
    fraction_share = float((np.round(measured_values) != measured_values).mean())
    if counting_step and not is_raw and fraction_share > MAX_FRACTION_SHARE:
        yield Problem(
            file,
            f"the values cannot be counts: most are no whole numbers ({size_text}); "
            f"take {_removal_text(counting_step)}, or name the raw counts",
        )
    if "log2" in step_names and not is_raw:
        yield Problem(
            file,
            f"the values look as if they were logged already ({size_text}); take log2 "
            "out of normalise.samples",
            "warning",
            code="logged_already",
        )
    elif "log2" in step_names and smallest < 0:
        share = 100 * float((measured_values < 0).mean())
        yield Problem(
            file,
            f"{share:.2g} % of the values are negative; log2 raises them to its floor",
            "warning",
        )
    other_steps = [step for step in normalise["samples"] if step["step"] != ZEROS]
    if is_raw and other_steps and other_steps[0]["step"] == "log2":
        yield from _check_limits(X, other_steps[0], file)


def _zero_warning(X: Array, file: str) -> Problem:
    """Return the warning that zeros are missing values, with the settings that treat them so."""
    zero_share = float(np.mean(X[np.isfinite(X)] == 0))
    smallest_positive = float(np.min(X[X > 0]))
    message = (
        f"{100 * zero_share:.3g} % of the values are 0, and the next one is "
        f"{smallest_positive:.4g}: such zeros "
    )
    step = step_for_missing(np.where(X == 0, np.nan, X))
    message += (
        "are missing values; set data.missing: true, put {step: zeros_as_missing} first into "
    )
    message += f"normalise.samples, and {{step: {step}}} first into normalise.folds"
    return Problem(file, message, "warning", code="zeros_missing", key="normalise.samples")


def _raw_values_message(X: Array, size_text: str, are_counts: bool) -> str:
    """Return the message that values were never logged, with the steps that log them."""
    values = X[np.isfinite(X)]
    if are_counts or (looks_counted(X) and (np.round(values) == values).all()):
        verb = "are" if are_counts else "look like"
        return (
            f"the values {verb} counts ({size_text}); steps for counts are vst, size_factors and "
            "log_cpm (docs/how_to/rnaseq.md)"
        )
    return (
        f"the values look as if they were never logged ({size_text}); to take logarithms set "
        f"normalise.samples: [{flow_yaml(log2_step(X))}]"
    )


def _check_limits(X: Array, step: dict[str, Any], file: str) -> Iterator[Problem]:
    """Yield a warning if floor or ceiling of log2 makes many positive values equal.

    Up to two fifths of the values may be lost below the noise of intensities.
    """
    values = X[np.isfinite(X)]
    floor = step["floor"]
    ceiling = step["ceiling"]
    share_below = float(np.mean((values > 0) & (values < floor)))
    share_above = float(np.mean(values > ceiling))
    noise_floor = noise_level(X)
    at_noise = floor <= MAX_FLOOR_OF_NOISE * noise_floor and share_below <= MAX_NOISE_SHARE_BELOW
    if share_below > MAX_SHARE_BELOW and not at_noise:
        message = (
            f"log2 with floor {floor:g} gives {100 * share_below:.2g} % of the cells one value, "
            f"whose differences are lost; a floor that follows the data is {noise_floor:g}"
        )
        yield Problem(file, message, "warning", code="flattened_by_floor", key="normalise.samples")
    if share_above > MAX_SHARE_ABOVE:
        message = (
            f"log2 with ceiling {ceiling:g} gives {100 * share_above:.2g} % of the cells one "
            f"value, whose differences are lost; set a ceiling above {values.max():.4g}"
        )
        yield Problem(
            file, message, "warning", code="flattened_by_ceiling", key="normalise.samples"
        )


def check_mixed_scales(
    X: Array, samples: Sequence[str], normalise: dict[str, Any], file: str
) -> Iterator[Problem]:
    """Yield a warning if some samples look logged and others do not."""
    p99 = np.full(len(X), np.nan)  # of each sample
    is_raw = np.zeros(len(X), dtype=bool)
    for row, sample_values in enumerate(X):
        if np.isfinite(sample_values).any():
            size = sizes(sample_values)
            p99[row] = size.p99
            is_raw[row] = looks_raw(size.p99, size.largest)
    is_logged = ~is_raw & np.isfinite(p99)
    has_rank_step = "rank_samples" in [step["step"] for step in normalise["samples"]]
    if has_rank_step or not is_raw.any() or not is_logged.any():
        return
    largest_logged = p99[is_logged].max()
    median_raw = np.median(p99[is_raw])
    if largest_logged > 0 and median_raw > MIN_RAW_RATIO * largest_logged:
        names = [samples[int(row)] for row in np.flatnonzero(is_logged)]
        yield Problem(
            file,
            f"{listing(names)} look as if they were logged already (99th percentile "
            f"{largest_logged:.4g} at most), and {counted(int(is_raw.sum()), 'sample')} do not "
            f"({median_raw:.4g}); bring all to one scale",
            "warning",
        )


def check_lone_values(
    X: Array,
    genes: Sequence[str],
    samples: Sequence[str],
    file: str,
    step_names: Collection[str] = (),
) -> Iterator[Problem]:
    """Yield a problem for few values that alone make the matrix look as if it was never logged.

    Values of a gene that is abundant in many samples do not count, and none does after ranks or
    logarithms (`step_names`). If most of the values are one number, it may stand for a missing
    value.
    """
    if not np.isfinite(X).any():
        return
    smallest, p99, largest = sizes(X)
    # The method takes one of the values, so that a lone value among few is not averaged in.
    bulk = float(np.nanpercentile(X, BULK_PERCENTILE, method="lower"))
    is_lone = bulk + LONE_VALUE_RANGES * (bulk - smallest) < X
    # A sample with many lone values is on another scale as a whole.
    is_lone[is_lone.mean(axis=1) > MAX_LONE_SHARE_OF_SAMPLE] = False
    if not is_lone.any() or not looks_raw(p99, largest):
        return
    distinct_values, n_cells = np.unique(X[is_lone], return_counts=True)
    if n_cells.max() >= MIN_REPEATED_CELLS and 2 * n_cells.max() >= is_lone.sum():
        if never_logged(np.where(is_lone, np.nan, X)):
            return  # the other values look so, too
        row, gene = map(int, np.argwhere(is_lone & (distinct_values[np.argmax(n_cells)] == X))[0])
        advice = (
            f"it stands in {n_cells.max()} cells: if nothing was measured there, leave them blank"
        )
    else:
        is_lone = _lone_in_gene(X, is_lone)
        other_values = np.where(is_lone, np.nan, X)
        if not is_lone.any() or LOG_STEPS & set(step_names) or never_logged(other_values):
            return
        row, gene = map(int, np.argwhere(is_lone)[0])
        advice = "is a decimal point lost? Correct it, or leave the gene out"
    message = (
        f"the value {X[row, gene]:g} {_further_lone_values(is_lone, samples)}lies far above all "
        f"others (nine of ten are below {bulk:.4g}); {advice}"
    )
    cell_location = f"{file}, gene '{genes[gene]}', sample '{samples[row]}'"
    yield Problem(cell_location, message, code="lone_values")


def _lone_in_gene(X: Array, is_lone: Array) -> Array:
    """Return which of the lone values (n, d) bool also lie far above all others of their gene.

    A single value of a gene is always rare enough. All False if the returned ones are many.
    """
    largest_other = np.where(is_lone | np.isnan(X), -np.inf, X).max(axis=0)
    is_rare = is_lone.sum(axis=0) <= max(1, MAX_LONE_SHARE_OF_GENE * len(X))
    is_alone = is_lone & is_rare & (MIN_LONE_RATIO * np.maximum(largest_other, 0) < X)
    max_cells = max(MIN_REPEATED_CELLS, MAX_LONE_SHARE * X.size)
    return is_alone if is_alone.sum() <= max_cells else np.zeros_like(is_alone)


def _further_lone_values(is_lone: Array, samples: Sequence[str]) -> str:
    """Return in words how many further values lie so far off, in which genes and samples."""
    n_further = int(is_lone.sum()) - 1
    if not n_further:
        return ""
    n_lone_of_sample = is_lone.sum(axis=1)
    top_sample = int(np.argmax(n_lone_of_sample))
    top_sample_text = (
        f", {n_lone_of_sample[top_sample]} of them in '{samples[top_sample]}'"
        if n_lone_of_sample[top_sample] > 1
        else ""
    )
    n_samples = int((n_lone_of_sample > 0).sum())
    n_genes = int(is_lone.any(axis=0).sum())
    return (
        f"({counted(n_further, 'further value')}; in all {counted(n_samples, 'sample')} and "
        f"{counted(n_genes, 'gene')}{top_sample_text}) "
    )


def check_unsummarised_probes(
    genes: Sequence[str], normalise: dict[str, Any], file: str
) -> Iterator[Problem]:
    """Yield a warning if probes of CEL files, ``1007_s_at#2``, are not summarised to probe sets."""
    step_names = {step["step"] for step in normalise["samples"] + normalise["folds"]}
    n_probes = sum(PROBE_NAME.fullmatch(gene) is not None for gene in genes)
    if 2 * n_probes > len(genes) and "median_polish" not in step_names:
        yield Problem(
            file,
            "the columns are raw intensities of single probes; for probe sets set "
            "normalise.samples: [{step: rma_background}] and begin normalise.folds with "
            "{step: quantile}, {step: median_polish}",
            "warning",
        )


def check_counts(
    X: Array, genes: Sequence[str], samples: Sequence[str], normalise: dict[str, Any], file: str
) -> Iterator[Problem]:
    """Yield a problem for negative values if the first step needs counts."""
    step = _first_step_name(normalise)
    if step not in COUNT_STEPS:
        return
    negative = np.argwhere(X.T < 0)
    if len(negative):
        gene, row = map(int, negative[0])
        further_cells_text = further_in_brackets(len(negative) - 1, "cell")
        yield Problem(
            f"{file}, gene '{genes[gene]}', sample '{samples[row]}'",
            f"the count {X[row, gene]:g} is negative{further_cells_text}; name the raw counts, or "
            f"take {_removal_text(step)}",
        )


def _first_step_name(normalise: dict[str, Any]) -> str:
    """Return the name of the first step, which gets the values of the file; '' without steps."""
    steps = [*normalise["samples"], *normalise["folds"]]
    return str(steps[0]["step"]) if steps else ""


def _removal_text(step: str) -> str:
    """Return the advice to remove a step from its section."""
    return f"{step} out of normalise.{'folds' if step in LEARNED_DEPTH_STEPS else 'samples'}"


def check_empty_samples(
    X: Array, samples: Sequence[str], normalise: dict[str, Any], file: str
) -> Iterator[Problem]:
    """Yield a problem for samples whose values are all missing, all 0 or all equal."""
    is_missing = np.isnan(X).all(axis=1)
    if is_missing.any() and not is_missing.all():
        names = [samples[int(row)] for row in np.flatnonzero(is_missing)]
        yield Problem(
            file,
            f"every value of {listing(names)} is missing; take such samples out "
            "of the sample table",
        )
    is_zero = ~X.any(axis=1)
    if is_zero.any() and X.shape[1] > 1:  # a single gene may be 0
        names = [samples[int(row)] for row in np.flatnonzero(is_zero)]
        needs_counts = _first_step_name(normalise) in COUNT_STEPS
        zeros_are_faults = (
            needs_counts or is_zero.all() or (X[~is_zero] == 0).mean() < MAX_ZERO_SHARE
        )
        yield Problem(
            file,
            f"every value of {listing(names)} is 0; take such samples out of the sample table",
            "error" if zeros_are_faults else "warning",
        )
    is_constant = (X[:, :1] == X).all(axis=1)
    if (
        is_constant.any()
        and not is_constant.all()
        and (is_constant & ~is_zero).any()
        and X.shape[1] >= MIN_GENES
    ):
        names = [samples[int(row)] for row in np.flatnonzero(is_constant & ~is_zero)]
        yield Problem(
            file,
            f"every value of {listing(names)} is the same, as of arrays that "
            "failed; unless that is meant, take such samples out of the sample table",
            "warning",
        )


def rehearse_steps(
    X: Array, normalise: dict[str, Any], source: str, sheet: Sheet | None, var: pd.DataFrame
) -> Iterator[Problem]:
    """Apply the normalisation to all samples, and yield the problem that stops it.

    Such are errors of a step (a filter that leaves no gene, values that are not positive), and a
    row-wise step that makes more than half of the genes constant.

    source: name of the config in messages. sheet: the checked sample table; without it batch
    correction is left out. var: gene table of the genes of X.
    """
    try:
        for item_number, step in enumerate(with_places(normalise["samples"], var), 1):
            previous = X
            X = fit_steps(X, [step]).transform(X)
            if message := describe_flattening(step, previous, X):
                yield Problem(f"{source}, normalise.samples, item {item_number}", message)
                return
    except GenesigError as error:
        message = str(error).removeprefix("normalise.folds: ").removeprefix("normalise.samples: ")
        yield Problem(f"{source}, normalise.samples", message)
        return
    try:
        folds = with_places(with_sets(normalise["folds"], var), var)
        if sheet is None:
            # Steps of the kind "batch" need the column of batches.
            other_steps = [step for step in folds if NORMALISERS[step["step"]].kind != "batch"]
            fit_steps(X, other_steps).transform(X)
        else:
            fit_steps(X, with_batch(folds, sheet.design), sheet.obs).transform(X, sheet.obs)
    except GenesigError as error:
        message = str(error).removeprefix("normalise.folds: ")
        yield Problem(f"{source}, normalise.folds", message)


def describe_flattening(step: dict[str, Any], X: Array, transformed: Array) -> str:
    """Return the message that a row-wise step makes most genes constant; '' if it does not.

    X, transformed (n, d): values before and after the step.
    """
    varies = np.fmax.reduce(transformed, axis=0) > np.fmin.reduce(transformed, axis=0)
    constant_share = float(np.mean(~varies))
    if constant_share <= MAX_CONSTANT_SHARE:
        return ""
    share = "all" if constant_share == 1 else f"{100 * constant_share:.3g} %"
    message = (
        f"'{step['step']}' gives {share} of the genes one value in every sample, so that nothing "
        f"can be learned from them (values before it: {np.nanmin(X):.4g} to {np.nanmax(X):.4g}); "
    )
    if step["step"] != "log2":
        return message + "take the step away"
    message += "take the step away if these are logarithms already, else set a "
    if np.nanmin(X) >= step["ceiling"]:
        return message + f"higher ceiling than {step['ceiling']:g}"
    return message + f"lower floor than {step['floor']:g}"
