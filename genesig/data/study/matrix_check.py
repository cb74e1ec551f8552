"""The expression matrix: which way round it lies, whether cells are numbers and names genes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.gene_ids import converted_names, with_single_ids
from genesig.data.files.layouts import name_advice, orient
from genesig.data.files.non_genes import Surroundings, leave_out_non_genes
from genesig.data.steps.scale import genes_standardised, missing_codes
from genesig.errors import Problem
from genesig.words import (
    MAX_VALUE,
    MIN_SPREAD,
    counted,
    equal_looking,
    further_text,
    listing,
    number_fault,
)


def check_gene_names(matrix: Matrix, place: str) -> list[Problem]:
    """Warn of names of genes (columns of the matrix) that are no longer what they were."""
    found = []
    if names := converted_names(matrix.columns):
        message = (
            f"turned into dates or numbers by a spreadsheet: {counted(len(names), 'gene')}, "
            f"{listing(names)}; write the names again, as text"
        )
        found.append(Problem(f"{place}{_place(matrix, names[0])}", message, "warning"))
    if pairs := alike(matrix.columns):
        one, other = pairs[0][:2]
        message = (
            f"gene '{other}' is beside '{one}', with other upper and lower case"
            f"{too(len(pairs) - 1, 'name')}; if it is one gene, keep one of them"
        )
        found.append(Problem(f"{place}{_place(matrix, other)}", message, "warning"))
    return found


def check_symbols(symbols: Mapping[str, str], place: str) -> list[Problem]:
    """Warn of symbols of a gene table that are no longer what they were."""
    names = set(converted_names(list(symbols.values())))
    lost = [gene for gene, symbol in symbols.items() if symbol in names]
    if not lost:
        return []
    message = (
        f"turned into dates or numbers by a spreadsheet: {counted(len(lost), 'symbol')}, "
        f"'{symbols[lost[0]]}' for '{lost[0]}'; write the symbols again, as text"
    )
    return [Problem(place, message, "warning")]


def _place(matrix: Matrix, gene: str) -> str:
    k = matrix.columns.index(gene)
    return f", {matrix.line_word} {matrix.lines[k]}" if matrix.transposed else f", column {k + 2}"


Problems = list[Problem]
BLANK = "no value in any sample"
"""Why a gene is left out that was never measured."""

FLAT = 1e-9
"""Range of a gene, as a share of its size, of which doubles keep six digits."""


@dataclass(frozen=True)
class Expression:
    """The study's part of the matrix, checked.

    Attributes
    ----------
    X : (n_samples, n_genes) float64 array
        Rows by the names of the samples, columns by those of the genes, constant genes left out.
    genes : list of str
    dropped : list of dict
        {kind, name, reason} of matrix columns without a sample, of constant genes, and of what is
        neither a gene nor a sample.
    """

    X: Array
    genes: list[str]
    dropped: list[dict[str, str]]
    has_counts: bool = False  # the file says that its values are counts


def check_matrix(
    matrix: Matrix,
    where: str,
    *,
    names: Sequence[str],
    used: Sequence[str],
    sheet: str,
    missing: bool | None,
    surroundings: Surroundings,
    problems: Problems,
) -> Expression | None:
    """Turn the matrix samples × genes and check the samples in use.

    Parameters
    ----------
    matrix : Matrix
    where : str
        Its file.
    names, used : sequence of str
        Samples of the sample table; those of them that are in the study.
    sheet : str
        File of the sample table.
    missing : bool or None
        Whether cells may be missing; they are NaN then. None where nothing is offered that fills
        them in.
    surroundings : Surroundings
        Sample table and settings, by which rows and columns are told that are no genes or samples.
    problems : list of Problem
        What is wrong is added here.

    Returns
    -------
    Expression or None
        None where an error was found.
    """
    oriented = orient(matrix, where, names, sheet, problems)
    if oriented is None:
        return None
    start = len(problems)
    if oriented.doubt:
        problems.append(Problem(where, oriented.doubt, "warning"))
    oriented, extra = with_genes_only(oriented, where, surroundings, problems)
    problems.extend(_check_standardised(oriented, where))
    extra = check_samples(oriented, where, names, used, sheet, problems) + extra
    problems.extend(check_gene_names(oriented, where))
    place = {name: row for row, name in enumerate(oriented.rows)}
    rows = [place[name] for name in used if name in place]
    if not rows:
        return None
    _check_cells(oriented, rows, where, missing, problems)
    _check_codes(oriented, rows, where, missing, problems)
    if any(problem.level == "error" for problem in problems[start:]):
        return None
    return _without_constant_genes(oriented, rows, where, extra, problems)


def _check_standardised(matrix: Matrix, place: str) -> Iterator[Problem]:
    """Warn of genes that all samples of the file, test samples included, have standardised."""
    if kind := genes_standardised(matrix.cells):
        message = (
            f"the genes are {kind} over all samples: no new sample can be put on this scale, and "
            "test samples took part in it; "
        )
        if matrix.parts:
            message += f"choose a layer by data.part: {listing(matrix.parts)}"
        else:
            message += "name the values as they were before"
        yield Problem(place, message, "warning", code="standardised_genes", key="data.part")


def with_genes_only(
    matrix: Matrix, place: str, surroundings: Surroundings, problems: Problems
) -> tuple[Matrix, list[dict[str, str]]]:
    """Return a matrix without what is no gene or sample, each id once; list what is left out.

    Every matrix (samples × genes) goes through this: a study's, external cohorts', new samples'.
    """
    genes, dropped, notes = leave_out_non_genes(matrix, place, surroundings)
    single, repeated = with_single_ids(genes, place)
    problems.extend([*notes, *repeated])
    return single, dropped


def check_samples(
    matrix: Matrix,
    place: str,
    names: Sequence[str],
    used: Sequence[str],
    sheet: str,
    problems: Problems,
) -> list[dict[str, str]]:
    """Hold the samples of a matrix against those of the sheet; return what is left out."""
    here = set(matrix.rows)
    known = set(names)
    absent = [name for name in dict.fromkeys(used) if name and name not in here]
    if absent:
        extra = [name for name in matrix.rows if name not in known]
        message = (
            f"{len(absent)} of the {counted(len(known), 'sample')} in {sheet} not found here: "
            f"{listing(absent)}; add them, or take them out of that table"
        )
        problems.append(Problem(place, message + (name_advice(absent, extra) if extra else "")))
    times = Counter(name for name in matrix.rows if name in known)
    twice = [name for name, count in times.items() if count > 1]
    if twice:
        message = f"sample {listing(twice)} occurs more than once; keep one column for each sample"
        problems.append(Problem(place, message))
    extra = [name for name in matrix.rows if name not in known]
    if extra:
        kind = counted(len(extra), "column" if matrix.transposed else "row")
        message = f"not in {sheet}, so left out: {kind}, {listing(extra)}"
        problems.append(Problem(place, message, "warning"))
    return [{"kind": "sample", "name": n, "reason": f"not in {sheet}"} for n in sorted(extra)]


def _check_cells(
    matrix: Matrix, rows: list[int], place: str, missing: bool | None, problems: Problems
) -> None:
    """Name the first faulty cell of each kind, and count the others."""
    bad = np.argwhere(~(np.abs(matrix.cells[rows].T) <= MAX_VALUE))
    kinds: dict[str, list[tuple[int, int, str]]] = {}
    for gene, k in bad:
        fault = number_fault(matrix.text(rows[k], gene))
        if not (missing and _kind(fault) == "missing"):
            kinds.setdefault(_kind(fault), []).append((gene, rows[k], fault))
    for kind, cells in kinds.items():
        gene, row, fault = cells[0]
        at = _cell(matrix, gene, row, place)
        genes = counted(len({gene for gene, _, _ in cells[1:]}), "gene")
        further = counted(len(cells) - 1, "further cell")
        further = f" ({further} in {genes})" if len(cells) > 1 else ""
        unfilled = kind == "missing" and missing is None
        advice = f"; fill it in, or {LEAVE}" if unfilled else ADVICE[kind]
        problems.append(Problem(at, f"the value {fault}{further}{advice}"))


def _check_codes(
    matrix: Matrix, rows: list[int], place: str, missing: bool | None, problems: Problems
) -> None:
    """Name the first cell with -999 or the like; in data with other negatives it may be meant."""
    X = matrix.cells[rows]
    negative = X[X < 0]
    codes = missing_codes(negative)
    if not codes:
        return
    cells = np.argwhere(np.isin(X.T, codes))
    gene = int(cells[0, 0])
    row = rows[int(cells[0, 1])]
    further = f" ({counted(len(cells) - 1, 'further cell')})" if len(cells) > 1 else ""
    message = (
        f"the value {X.T[tuple(cells[0])]:g}{further} looks as if it stood for a missing one; "
    )
    message += f"fill it in, or {LEAVE}" if missing is None else f"write NA there, and {FILL}"
    alone = bool(np.isin(negative, codes).all())
    at = _cell(matrix, gene, row, place)
    problems.append(Problem(at, message, "error" if alone else "warning"))


def _cell(matrix: Matrix, gene: int, row: int, place: str) -> str:
    line = f", {matrix.line_word} {matrix.lines[gene if matrix.transposed else row]}"
    return f"{place}{line}, gene '{matrix.columns[gene]}', sample '{matrix.rows[row]}'"


LEAVE = "leave the gene out"
FILL = (
    "have it filled in: data.missing: true, and as the first step of normalise.folds {step: "
    "knn_impute}, from other genes, or {step: left_censored}, if it was too small to be measured"
)
ADVICE = {
    "missing": f"; fill it in, {LEAVE}, or {FILL}",
    "comma": "; export the table with decimal points",
    "thousands": "; export the table without them",
    "other": "; write a finite number, or NA where nothing was measured",
    "large": f"; correct it, or {LEAVE}",
}


def _kind(fault: str) -> str:
    if "decimal comma" in fault:
        return "comma"
    if "of thousands" in fault:
        return "thousands"
    if "larger" in fault:
        return "large"
    return "missing" if "blank" in fault or "missing" in fault else "other"


def _without_constant_genes(
    matrix: Matrix, rows: list[int], place: str, dropped: list[dict[str, str]], problems: Problems
) -> Expression | None:
    X = np.ascontiguousarray(matrix.cells[rows])
    spread = np.fmax.reduce(X, axis=0) - np.fmin.reduce(X, axis=0)
    constant = ~(spread > SMALLEST)
    blank = np.isnan(X).all(axis=0)
    if constant.all():
        message = (
            "every gene has the same value in all samples, or differs by less than 1e-100, so "
            "that nothing can be learned; "
            "export the matrix again, or name another one"
        )
        problems.append(Problem(place, message))
        return None
    for some, message, reason in (
        (constant & ~blank, "with the same value", "constant"),
        (blank, "blank", BLANK),
    ):
        if not (names := sorted(matrix.columns[k] for k in np.flatnonzero(some))):
            continue
        message += f" in all samples, so left out: {counted(len(names), 'gene')}, {listing(names)}"
        problems.append(Problem(place, message, "warning"))
        dropped = dropped + [{"kind": "gene", "name": n, "reason": reason} for n in names]
    if np.sum(~constant) == 1:
        gene = matrix.columns[int(np.argmin(constant))]
        message = (
            f"there is one gene only, '{gene}', so that there is none to select; is this the "
            "whole matrix?"
        )
        problems.append(Problem(place, message, "warning"))
    _check_offset(X[:, ~constant], spread[~constant], place, problems)
    _check_twins(X, [matrix.rows[row] for row in rows], place, problems)
    # Where genes tie, the first one is taken: by name, so that it is the same in every file.
    kept = sorted(np.flatnonzero(~constant).tolist(), key=matrix.columns.__getitem__)
    genes = [matrix.columns[k] for k in kept]
    return Expression(np.ascontiguousarray(X[:, kept]), genes, dropped, matrix.has_counts)


def _check_offset(X: Array, spread: Array, place: str, problems: Problems) -> None:
    """Warn of genes that vary so little beside their size that rounding blurs them."""
    flat = int((spread < FLAT * np.fmax.reduce(np.abs(X), axis=0)).sum())
    if flat:
        message = (
            f"{counted(flat, 'gene')} of {X.shape[1]} vary by less than a billionth of their "
            "size, where rounding blurs them; subtract what all samples have in common"
        )
        problems.append(Problem(place, message, "warning"))


def _check_twins(X: Array, names: list[str], place: str, problems: Problems) -> None:
    """Warn of two names for one measurement: it would stand in training and test at once."""
    seen: dict[bytes, str] = {}
    pairs = [
        (seen.setdefault(row.tobytes(), name), name) for name, row in zip(names, X, strict=True)
    ]
    pairs = [(one, other) for one, other in pairs if one != other]
    if pairs:
        message = (
            f"samples '{pairs[0][0]}' and '{pairs[0][1]}' have the same values"
            f"{too(len(pairs) - 1, 'pair')}; is one a copy? It would be trained and tested on "
            "at once"
        )
        problems.append(Problem(place, message, "warning"))
