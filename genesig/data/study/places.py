"""Where each gene lies: two columns of the gene table, its chromosome and its position there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.segment import NAME as SEGMENT
from genesig.data.study.sheet_check import check_column
from genesig.errors import Problem
from genesig.words import counted, is_missing, is_number, listing, number_fault

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Cells = dict[str, str]

SET = "set data.chromosome and data.position"

DASHES = ("-", "--", "---")
"""What gene tables have in place of a blank."""


def places_of(
    table: pd.DataFrame, chromosome: str, position: str, where: str, genes: Sequence[str],
    problems: list[Problem],
) -> tuple[Array, Array] | None:  # fmt: skip
    """Return chromosome and position of each gene, ("" and NaN where unknown), or None.

    Parameters
    ----------
    table : DataFrame of strings
        Gene table, index = gene ids.
    chromosome, position : str
        Its columns.
    where : str
        Its file, for messages.
    genes : sequence of str
        Of the matrix; the probes of a set (``1007_s_at#2``) lie where the set does.
    problems : list
        Takes what is wrong, a line each, and what a reader should know.
    """
    if chromosome == position:
        return None  # the settings say so
    names, wanted = list(table.columns), {"chromosome": chromosome, "position": position}
    for key, column in wanted.items():
        check_column(column, f"data.{key}", names, str(table.index.name), where, problems)
        if names.count(column) > 1:
            what = f"data.{key} '{column}' is the name of {names.count(column)} columns; rename all"
            problems.append(Problem(where, f"{what} but one"))
    if any(names.count(column) != 1 for column in wanted.values()):
        return None
    on, at = (_cells(table, column, genes) for column in wanted.values())
    found = list(_faults(on, at, chromosome, position))
    known = [gene for gene in genes if on[gene] and at[gene]]
    if not found:
        found = list(_doubts(on, known, genes, chromosome))
    problems += [Problem(where, what, level) for what, level in found]  # type: ignore[arg-type]
    if any(level == "error" for _, level in found):
        return None
    there = set(known)
    names = [on[gene] if gene in there else "" for gene in genes]
    return np.array(names, dtype=object), np.array(
        [float(at[gene]) if gene in there else np.nan for gene in genes]
    )


def place_settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield which settings of places and of the penalty contradict each other: key, what."""
    data, linear = config["data"], config.get("linear", {})  # one job is not told of these
    for key, other in (("chromosome", "position"), ("position", "chromosome")):
        if data[key] is not None and data[other] is None:
            yield f"data.{other}", f"is missing: data.{key} is of use with both; name its column"
    if data["chromosome"] is not None and data["chromosome"] == data["position"]:
        yield "data.position", f"'{data['position']}' is data.chromosome, too; name another column"
    for place, steps in config["normalise"].items():
        for number, step in enumerate(steps, 1):
            if step["step"] == SEGMENT and data["chromosome"] is None and data["position"] is None:
                what = f"'{SEGMENT}' needs to know where genes lie; {SET}"
                yield f"normalise.{place}, item {number}", what
    if linear.get("penalty") != "fused":
        return
    if data["chromosome"] is None and data["position"] is None:
        what = f"'fused' needs to know where genes lie; {SET}"
        yield "linear.penalty", what
    if data["prior_weights"] is not None:
        yield "data.prior_weights", "weighs genes one by one; linear.penalty: fused has no such "\
              "weights, take one of them away"  # fmt: skip
    if linear["solver"] != "landweber-newton":
        what = f"'{linear['solver']}' is for linear.penalty: l1; fused has a solver of its own"
        yield "linear.solver", f"{what}, leave this key out"


def _cells(table: pd.DataFrame, column: str, genes: Sequence[str]) -> Cells:
    """Return the cell of each gene, blank where it has none; of two rows of a gene the first."""
    rows = dict(zip(map(str, table.index[::-1]), map(str, table[column][::-1]), strict=True))
    cells = {gene: rows.get(gene, rows.get(gene.rpartition("#")[0], "")).strip() for gene in genes}
    return {gene: "" if is_missing(c) or c in DASHES else c for gene, c in cells.items()}


def _faults(on: Cells, at: Cells, chromosome: str, position: str) -> Iterator[tuple[str, str]]:
    """Yield what cannot be used."""
    bad = [gene for gene, cell in at.items() if cell and not _is_place(cell)]
    if bad:
        cell = at[bad[0]]
        fault = f"is {cell}, below 0" if is_number(cell) else number_fault(cell)
        several = " (of several, name the one that counts)" if "///" in cell or ";" in cell else ""
        what = f"{position} of {counted(len(bad), 'gene')} is no position ('{bad[0]}' {fault})"
        needs = "data.position needs a number of bases from the chromosome's start, or a blank"
        yield f"{what}{several}; {needs}", "error"
        return
    if not any(on[gene] and at[gene] for gene in on):
        lacks = position if any(on.values()) else chromosome
        yield f"no gene of the matrix has a chromosome and a position ({lacks} is blank); name "\
              "other columns", "error"  # fmt: skip
        return
    names = {cell for cell in on.values() if cell}
    known = sum(bool(cell) for cell in on.values())
    if known > 3 and 2 * len(names) > known:
        yield f"{chromosome} has {len(names)} values for {known} genes, {listing(sorted(names))}; "\
              "data.chromosome needs few, as 1 to 22, X and Y", "error"  # fmt: skip


def _doubts(
    on: Cells, known: Sequence[str], genes: Sequence[str], chromosome: str
) -> Iterator[tuple[str, str]]:
    """Yield what makes one doubt that the columns are meant, and what becomes of the others."""
    there = set(known)
    if absent := [gene for gene in genes if gene not in there]:
        what = f"{len(absent)} of the {counted(len(genes), 'gene')} have no place, so each is a "
        yield f"{what}stretch by itself: {listing(absent)}", "warning"
    names = sorted({on[gene] for gene in known})
    short = {name.casefold().removeprefix("chr") for name in names}
    if len(short) < len(names):
        yield f"{chromosome} writes a chromosome in two ways: {listing(names, 40)}; these are "\
              "taken for two", "warning"  # fmt: skip


def _is_place(cell: str) -> bool:
    return is_number(cell) and float(cell) >= 0
