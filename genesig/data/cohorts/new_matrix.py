"""New samples: their files, their matrix in the genes of a study, their covariates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.arrays import sample_name, suffix_of
from genesig.data.files.gene_ids import versions_hint
from genesig.data.files.known import FORMATS
from genesig.data.files.layouts import name_advice
from genesig.data.files.readers import read_matrix
from genesig.data.steps.normalise import MOMENT_STEPS, Normaliser
from genesig.data.steps.scale import (
    LEARNED_DEPTH_STEPS,
    LOG2_STEPS,
    looks_raw,
    missing_codes,
    sizes,
)
from genesig.data.steps.segment import among
from genesig.errors import Problem, did_you_mean, refuse
from genesig.response.covariates import Covariate
from genesig.words import (
    MIN_SPREAD,
    counted,
    further_text,
    is_missing,
    is_number,
    listing,
    number_fault,
)

if TYPE_CHECKING:
    import pandas as pd

# In training standard deviations. Batches shift the median gene by one or two of them; another
# base of the logarithm, by three or more.
FAR = 5.0
ODD = 1.0
# How often the range of the training values lies between them and a value that is none.
ABSURD = 5.0
# As a share of that range: a zero so far below it is rather a blank.
GAP = 0.1
# Largest share of counts that are no whole numbers, and rounding of a sum of whole ones.
MOST_BROKEN = 0.5
CLOSE = 1e-9
# So many genes of one and the same value were not measured.
FEWEST = 10
# Steps that do to a gene what they would do without the others, once they are fitted.
GENE_BY_GENE = {
    "align_studies",
    "combat",
    "detection_filter",
    "fix_studies",
    "fold_filter",
    "half_minimum",
    "left_censored",
    "log2",
    "mean_impute",
    "range_filter",
    "variance_filter",
    "zeros_as_missing",
    *MOMENT_STEPS,
}


@dataclass(frozen=True)
class Scale:
    """How large the training values were.

    Attributes
    ----------
    means, sds : (n_genes,) float
        Of each gene over the training samples, after the row-wise steps.
    p99, least, most : float
        99th percentile, minimum and maximum of all these values.
    steps : set of str
        Names of the steps of the study.
    """

    means: Array
    sds: Array
    p99: float
    least: float
    most: float
    steps: frozenset[str]


def samples_in_rows(matrix: Matrix, needed: Sequence[str], place: str) -> Matrix:
    """Turn a matrix so that its columns are genes, told by the genes that are needed.

    Raises
    ------
    InvalidInput
        None of the genes is there.
    """
    wanted = set(needed)
    in_rows = len(wanted & set(matrix.rows))
    in_columns = len(wanted & set(matrix.columns))
    if wanted and not in_rows and not in_columns:
        message = (
            f"none of the model's genes is here: the model has {listing(needed)}, the matrix "
            f"has rows {listing(matrix.rows)} and columns {listing(matrix.columns)}"
        )
        message += versions_hint(needed, [*matrix.rows, *matrix.columns]) or (
            "; is it another kind of gene id?"
        )
        raise refuse(place, message)
    return matrix.transpose() if in_rows > in_columns else matrix


def samples_among(
    matrix: Matrix, listed: Sequence[str] | None, place: str
) -> tuple[Matrix, list[Problem]]:
    """Take the rows that a sample table lists; all of them without one.

    Raises
    ------
    InvalidInput
        No sample of the table is there, two samples have one name, or one has none.
    """
    left = [] if listed is None else [name for name in matrix.rows if name not in set(listed)]
    why = "not in the table of --samples, so left out"
    if listed is not None and len(left) == len(matrix.rows):
        message = (
            f"none of the new samples is in this table: they are {listing(matrix.rows)}, it has "
        )
        raise refuse("--samples", message + listing(listed) + name_advice(listed, matrix.rows))
    problems = [Problem(place, f"{why}: {listing(left)}", "warning")] if left else []
    if absent := [name for name in listed or () if name not in set(matrix.rows)]:
        message = f"not in {place}, so not scored: {listing(absent)}"
        problems.append(Problem("--samples", message, "warning"))
    if left and len(left) < len(matrix.rows):
        kept = [row for row, name in enumerate(matrix.rows) if name not in set(left)]
        matrix = matrix.select(kept)
    check_names(matrix.rows, place)
    return matrix, problems


def check_names(names: Sequence[str], place: str) -> None:
    """Refuse new samples of which two have one name, or one has none.

    Raises
    ------
    InvalidInput
        Naming the first ones.
    """
    blank = [number for number, name in enumerate(names, 1) if not name.strip()]
    if blank:
        raise refuse(place, f"sample {blank[0]} has no name; name every sample")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        message = f"sample {listing(twice)} occurs more than once; give each a name of its own"
        raise refuse(place, message)


def matched(
    matrix: Matrix, needed: Sequence[str], where: str, spared: Collection[str] = ()
) -> tuple[Array, Array]:
    """Return the needed genes (n, d) in their order, NaN where absent, and which are known.

    Of the `spared` ones what is at fault counts as absent: no score needs them.

    Raises
    ------
    InvalidInput
        A gene occurs twice, a cell is neither a number nor missing, or a sample has one value.
    """
    _check_constant(matrix, where)
    wanted = set(needed)
    place: dict[str, int] = {}
    twice = set()
    for column, gene in enumerate(matrix.columns):
        if gene in place and gene in wanted:
            if gene not in spared:
                raise refuse(where, f"gene '{gene}' occurs twice; keep one")
            twice.add(gene)
        place[gene] = column
    here = [k for k, gene in enumerate(needed) if gene in place and gene not in twice]
    columns = [place[needed[k]] for k in here]
    X = np.full((len(matrix.rows), len(needed)), np.nan)
    X[:, here] = matrix.cells[:, columns]
    for row, k in np.argwhere(~np.isfinite(X[:, here])).tolist():
        text = matrix.text(row, columns[k])
        if not is_missing(text) and needed[here[k]] not in spared:
            at = f"{where}, gene '{needed[here[k]]}', sample '{matrix.rows[row]}'"
            raise refuse(at, f"the value {number_fault(text)}")
    known = np.isfinite(X)
    return X, known


def row_wise(steps: Sequence[Normaliser], X: Array, known: Array, filler: Array) -> Array:
    """Apply steps of kind "sample" to what is known of each sample; the rest is the filler's.

    Parameters
    ----------
    steps : sequence of Normaliser
    X, known : (n_samples, n_genes) float, bool
    filler : (n_genes,) float
    """
    values = np.tile(filler, (len(X), 1))
    for row in range(len(X)):
        seen = X[row : row + 1, known[row]]
        for step in steps:
            seen = among(step, np.flatnonzero(known[row])).transform(seen)
        values[row, known[row]] = seen[0]
    return values


def scale_of(X: Array, means: Array, sds: Array, steps: Sequence[Mapping[str, Any]]) -> Scale:
    """Describe training values X, after the row-wise steps."""
    names = frozenset(str(step["step"]) for step in steps)
    if not X.size:
        return Scale(means, sds, 0.0, 0.0, 0.0, names)
    p99 = float(np.nanpercentile(X, 99))
    least = float(np.nanmin(X))
    most = float(np.nanmax(X))
    return Scale(means, sds, p99, least, most, names)


def check_values(
    X: Array,
    values: Array,
    known: Array,
    genes: Sequence[str],
    names: Sequence[str],
    scale: Scale,
    place: str,
) -> None:
    """Refuse values that no sample on the study's scale can have.

    Numbers that stand for missing values come first, then another scale, then single values far
    off: on another scale many a value would look like one.

    Parameters
    ----------
    X, values : (n_samples, n_genes) float
        As measured, and after the row-wise steps.
    known : (n_samples, n_genes) bool
    genes, names : sequence of str
        Names of genes and samples.
    scale : Scale
    place : str
        File, in messages.

    Raises
    ------
    InvalidInput
        Naming the first value or sample, and counting the others.
    """
    if LEARNED_DEPTH_STEPS & scale.steps:
        _refuse_cells(known & (X < 0), X, genes, names, scale, place)
        values = _at_their_depth(values, known, scale.means)
    codes = [code for code in missing_codes(X[known]) if code < scale.least]
    _refuse_cells(known & np.isin(X, codes), X, genes, names, scale, place)
    _check_scale(X, values, known, names, scale, place)
    room = ABSURD * (scale.most - scale.least)
    far = known & (np.abs(values - np.clip(values, scale.least, scale.most)) > room)
    # The step quantile puts a sample right that is far off as a whole.
    far &= 2 * far.sum(axis=1, keepdims=True) < known.sum(axis=1, keepdims=True)
    _refuse_cells(far, X, genes, names, scale, place)


def _at_their_depth(counts: Array, known: Array, means: Array) -> Array:
    """Bring counts to the depth of the training samples: a deeper library is no other scale."""
    total = np.where(known, counts, 0).sum(axis=1)
    factor = (known @ means) / np.where(total > 0, total, 1)
    return np.asarray(counts * factor[:, None])


def zeros(
    X: Array,
    values: Array,
    known: Array,
    genes: Sequence[str],
    names: Sequence[str],
    scale: Scale,
    place: str,
) -> list[Problem]:
    """Warn of zeros below all training values, which may stand for what was not measured.

    Parameters
    ----------
    X, values, known, genes, names, scale, where
        As in `check_values`.
    """
    low = scale.least - GAP * (scale.most - scale.least)
    found = np.argwhere(known & (X == 0) & (values < low))
    if not len(found):
        return []
    row, gene = found[0].tolist()
    more = f" ({counted(len(found) - 1, 'further zero')})" if len(found) > 1 else ""
    message = (
        f"0{more}, where the training values go from {scale.least:.4g} to {scale.most:.4g}; if "
        "it stands for a missing value, write NA"
    )
    return [Problem(f"{place}, gene '{genes[gene]}', sample '{names[row]}'", message, "warning")]


def no_counts(X: Array, known: Array, scale: Scale, samples: int, place: str) -> list[Problem]:
    """Warn of rates (CPM, TPM) for a model that was trained on whole counts and starts from them.

    Parameters
    ----------
    X, known, scale, where
        As in `check_values`.
    samples : int
        Of the training: their means of whole counts are multiples of its inverse.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a stranger's model may hold any mean
        totals = scale.means * samples
        counted_then = np.abs(totals - np.round(totals)) < CLOSE * np.maximum(totals, 1)
    here = X[known & (X != 0)]
    broken = float(np.mean(here % 1 > 0)) if len(here) else 0.0
    if not LEARNED_DEPTH_STEPS & scale.steps or not counted_then.all() or broken <= MOST_BROKEN:
        return []
    message = (
        f"{100 * broken:.0f} % of the values are no whole numbers, and the model was trained on "
        "counts of reads: give it the raw counts; rates such as CPM or TPM have other scores"
    )
    return [Problem(place, message, "warning")]


def _refuse_cells(
    wrong: Array, X: Array, genes: Sequence[str], names: Sequence[str], scale: Scale, place: str
) -> None:
    found = np.argwhere(wrong)
    if len(found):
        row, gene = found[0].tolist()
        more = f" ({counted(len(found) - 1, 'further value')})" if len(found) > 1 else ""
        message = (
            f"{X[row, gene]:g} cannot have been measured{more}: the training values go from "
            f"{scale.least:.4g} to {scale.most:.4g}; write NA for a missing value"
        )
        raise refuse(f"{place}, gene '{genes[gene]}', sample '{names[row]}'", message)


def _check_constant(matrix: Matrix, place: str) -> None:
    """Refuse a sample with one and the same value for all genes, those not needed among them."""
    for name, cells in zip(matrix.rows, matrix.cells, strict=True):
        x = cells[np.isfinite(cells)]
        if len(x) >= FEWEST and np.ptp(x) == 0:
            message = f"all {len(x)} values are {x[0]:g}; export the sample again, or leave it out"
            raise refuse(f"{place}, sample '{name}'", message)


def _check_scale(
    X: Array, values: Array, known: Array, names: Sequence[str], scale: Scale, place: str
) -> None:
    """Refuse values that were logged where the training ones were not, or the reverse."""
    takes_logarithms = bool(LOG2_STEPS & scale.steps)
    then = looks_raw(scale.p99, scale.most)
    by_counts = bool(LEARNED_DEPTH_STEPS & scale.steps)
    for row, name in enumerate(names):
        used = known[row] & (scale.sds > MIN_SPREAD)
        if not used.any():
            continue
        off = np.abs(values[row] - scale.means)[used] / scale.sds[used]
        distance = float(np.median(off))
        raw, now = (looks_raw(*sizes(Z[row, used])[1:]) for Z in (X, values))
        other = distance > ODD and (now != then or (takes_logarithms and not raw))
        other |= by_counts and not raw and 2 * int((X[row, used] % 1 > 0).sum()) > used.sum()
        # The step quantile puts a brighter scan right.
        if other or (distance > FAR and "quantile" not in scale.steps):
            size = "look as if they were " + ("never logged" if raw else "logged already")
            size = size if other else f"are {distance:.1f} standard deviations off"
            message = (
                f"the values of sample '{name}' {size}, other than those the model was trained "
                f"on (median distance {distance:.1f} standard deviations); bring them to the "
                "same scale"
            )
            raise refuse(place, message)


def read_new(paths: Sequence[str], part: str | None, layout: str | None) -> Matrix:
    """Read the expression of new samples.

    Parameters
    ----------
    paths : sequence of str
        One file or folder of any format that is read, or files of one array each (CEL, IDAT,
        Agilent); a sample is then called as its file.
    part : str or None
        Which matrix of a file that holds several.
    layout : str or None
        Folder with what describes their chip; None is the folder of the first of them.

    Raises
    ------
    InvalidInput
        What `read_matrix` says; a folder in a list, or two files of one sample.
    """
    if layout is not None and not Path(layout).is_dir():
        raise refuse(
            "--layout", f"'{layout}' is no folder; name the one with what describes the chip"
        )
    first = Path(paths[0])
    arrays_of = {suffix for kind in FORMATS if kind.folder for suffix in kind.suffixes}
    if len(paths) == 1 and first.is_dir() and layout is not None:
        inside = sorted(str(path) for path in first.iterdir() if suffix_of(path) in arrays_of)
        if inside:
            return read_new(inside, part, layout)
    if len(paths) == 1 and (first.is_dir() or suffix_of(first) not in arrays_of):
        return read_matrix(first, part)
    for path in map(Path, paths):
        if path.is_dir():
            raise refuse(path, "is a folder; name it alone, or its files one by one")
        if not path.is_file():
            read_matrix(path, part)  # which says so, and what is near
    names = [sample_name(path) for path in paths]
    # Of two colours an array has one file each.
    files = [path.name.lower().removesuffix(".gz") for path in map(Path, paths)]
    twice = [name for name, file in zip(names, files, strict=True) if files.count(file) > 1]
    if twice:
        raise refuse(
            str(first.parent),
            f"two files of sample {listing(dict.fromkeys(twice))}; keep one of them",
        )
    arrays = dict(zip(names, map(Path, paths), strict=True))
    return read_matrix(first.parent if layout is None else layout, part, arrays)


def check_known(
    covariates: Sequence[Covariate], filled: bool, about: pd.DataFrame | None, place: str
) -> Iterator[Problem]:
    """Yield what of the covariates fits no model with these; every one of them is needed.

    Parameters
    ----------
    covariates : sequence of Covariate
    filled : bool
        Whether a missing value may be the mean of the training samples.
    about : DataFrame or None
        Sample table, one row for each new sample.
    place : str
        Its file, or ``--samples``.
    """
    if not covariates:
        return
    names = [each.column for each in covariates]
    if about is None:
        yield Problem(
            place,
            f"the model needs {listing(names)} of each sample; name the sample table that has them",
        )
        return
    lacking = [name for name in names if name not in about.columns]
    if lacking:
        near = did_you_mean(lacking[0], map(str, about.columns))
        yield Problem(
            place,
            f"has no column {listing(lacking)}, which the model needs (columns: "
            f"{listing(map(str, about.columns), 6)}){near}",
        )
        return
    for each in covariates:
        yield from _of_one(each, filled, about, place)


def _of_one(
    covariate: Covariate, filled: bool, about: pd.DataFrame, place: str
) -> Iterator[Problem]:
    at = f"{place}, column '{covariate.column}'"
    column = about[covariate.column].fillna("")
    spelt = covariate.spelt(map(str, column))
    cells = dict(zip(map(str, column.index), spelt, strict=True))
    blank = [name for name, cell in cells.items() if is_missing(cell)]
    if blank:
        message = f"no value for {counted(len(blank), 'sample')} ({listing(blank)})"
        level = "error"
        rest = "; the model needs one for every sample"
        if filled:
            level = "warning"
            rest = "; imputed with the mean of the training samples"
        yield Problem(at, message + rest, level)  # type: ignore[arg-type]
    known = {name: cell for name, cell in cells.items() if not is_missing(cell)}
    if covariate.levels is None:
        wrong = [name for name, cell in known.items() if not is_number(cell)]
        if wrong:
            message = f"the value of '{wrong[0]}' {number_fault(known[wrong[0]])}, needs a number"
            yield Problem(at, message + too(len(wrong) - 1, "sample"))
        return
    strange = sorted({cell for cell in known.values() if cell not in covariate.levels})
    if strange:
        message = (
            f"{listing(strange)} was in no training sample (they have "
            f"{listing(covariate.levels, 6)}){did_you_mean(strange[0], covariate.levels)}; "
            "write it so, or leave it blank where the study fills it in"
        )
        yield Problem(at, message)
