"""What the gene table says of each gene: its group, its prior weight, its place, its omic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.readers import read_genes
from genesig.data.steps.segment import SEGMENT
from genesig.data.study.sheet_check import check_column
from genesig.errors import InvalidInput, Problem, did_you_mean, refuse
from genesig.words import counted, is_missing, is_number, listing, number_fault

if TYPE_CHECKING:
    import pandas as pd


def read_groups(path: str, genes: Sequence[str]) -> dict[str, str]:
    """Return the group of each gene of a table: gene in its first column, group in the second.

    A gene without a group is left out.

    Raises
    ------
    InvalidInput
        If the table cannot be read, has one column, names a gene in two groups, or knows none of
        the genes.
    """
    table = read_genes(path, None)
    if len(table.columns) == 0:
        raise refuse(path, "has one column; needs the gene and its group")
    named: dict[str, str] = {}
    for gene, group in zip(map(str, table.index), map(str, table.iloc[:, 0]), strict=True):
        if group and named.setdefault(gene, group) != group:
            two = f"'{named[gene]}' and '{group}'"
            message = f"gene '{gene}' is in the groups {two}; groups must not overlap"
            raise refuse(path, message)
    if not set(named) & set(genes):
        message = f"none of its {len(named)} genes with a group is in the data (say '{genes[0]}')"
        raise refuse(path, message)
    return named


def check_groups(config: dict[str, Any], genes: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with the table of the config, where it names one."""
    section = config.get("nonlinear", {})
    if section.get("enabled") and section.get("groups") is not None:
        path = section["groups"]
        try:
            named = read_groups(path, genes)
        except InvalidInput as error:
            yield from error.problems
            return
        known = set(genes)
        absent = [gene for gene in named if gene not in known]
        if 2 * len(absent) > len(named):
            message = (
                f"{len(absent)} of its {len(named)} genes with a group are not in the data"
                f": {listing(absent)}"
            )
            yield Problem(path, message, "warning")


LEAST = 0.01
HEAVIEST = 100.0
"""Beyond these a gene is as good as never, or always, penalised."""


def weights_of(
    table: pd.DataFrame, column: str, place: str, genes: Sequence[str], problems: list[Problem]
) -> Array | None:
    """Return the weight of each gene, (n_genes,), or None with what is wrong.

    Parameters
    ----------
    table : DataFrame of strings
        Gene table, index = gene ids.
    column : str
    place : str
        Its file, for messages.
    genes : sequence of str
        Of the matrix; the probes of a set (``1007_s_at#2``) have the weight of the set.
    problems : list
        Takes what is wrong, one line.
    """
    names = list(table.columns)
    check_column(column, "data.prior_weights", names, str(table.index.name), place, problems)
    if names.count(column) != 1:
        return None
    cells = dict(zip(map(str, table.index[::-1]), map(str, table[column][::-1]), strict=True))
    found = {gene: cells.get(gene, cells.get(gene.rpartition("#")[0], "")) for gene in genes}
    bad = [gene for gene, cell in found.items() if not _is_weight(cell)]
    if bad:
        cell = f"is '{found[bad[0]]}'" if found[bad[0]].strip() else "is blank"
        message = (
            f"{column} of {counted(len(bad), 'gene')} is no weight ('{bad[0]}' {cell}); "
            f"data.prior_weights needs a number from {LEAST:g} to {HEAVIEST:g} for every gene"
        )
        problems.append(Problem(place, message))
        return None
    return np.array([float(cell) for cell in found.values()])


def _is_weight(cell: str) -> bool:
    return is_number(cell) and LEAST <= float(cell) <= HEAVIEST


Cells = dict[str, str]

SET = "set data.chromosome and data.position"

DASHES = ("-", "--", "---")
"""What gene tables have in place of a blank."""


def places_of(
    table: pd.DataFrame,
    chromosome: str,
    position: str,
    place: str,
    genes: Sequence[str],
    problems: list[Problem],
) -> tuple[Array, Array] | None:
    """Return chromosome and position of each gene, ("" and NaN where unknown), or None.

    Parameters
    ----------
    table : DataFrame of strings
        Gene table, index = gene ids.
    chromosome, position : str
        Its columns.
    place : str
        Its file, for messages.
    genes : sequence of str
        Of the matrix; the probes of a set (``1007_s_at#2``) lie where the set does.
    problems : list
        Takes what is wrong, a line each, and what a reader should know.
    """
    if chromosome == position:
        return None  # the settings say so
    names = list(table.columns)
    wanted = {"chromosome": chromosome, "position": position}
    for key, column in wanted.items():
        check_column(column, f"data.{key}", names, str(table.index.name), place, problems)
        if names.count(column) > 1:
            message = (
                f"data.{key} '{column}' is the name of {names.count(column)} columns; rename all"
                " but one"
            )
            problems.append(Problem(place, message))
    if any(names.count(column) != 1 for column in wanted.values()):
        return None
    on, at = (_cells(table, column, genes) for column in wanted.values())
    found = list(_place_faults(on, at, chromosome, position))
    known = [gene for gene in genes if on[gene] and at[gene]]
    if not found:
        found = list(_doubts(on, known, genes, chromosome))
    problems += [Problem(place, message, level) for message, level in found]  # type: ignore[arg-type]
    if any(level == "error" for _, level in found):
        return None
    there = set(known)
    names = [on[gene] if gene in there else "" for gene in genes]
    return np.array(names, dtype=object), np.array(
        [float(at[gene]) if gene in there else np.nan for gene in genes]
    )


def place_settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield which settings of places and of the penalty contradict each other: key, what."""
    # one job is not told of these
    data = config["data"]
    linear = config.get("linear", {})
    for key, other in (("chromosome", "position"), ("position", "chromosome")):
        if data[key] is not None and data[other] is None:
            yield f"data.{other}", f"is missing: data.{key} is of use with both; name its column"
    if data["chromosome"] is not None and data["chromosome"] == data["position"]:
        yield "data.position", f"'{data['position']}' is data.chromosome, too; name another column"
    for place, steps in config["normalise"].items():
        for number, step in enumerate(steps, 1):
            if step["step"] == SEGMENT and data["chromosome"] is None and data["position"] is None:
                message = f"'{SEGMENT}' needs to know where genes lie; {SET}"
                yield f"normalise.{place}, item {number}", message
    if linear.get("penalty") != "fused":
        return
    if data["chromosome"] is None and data["position"] is None:
        message = f"'fused' needs to know where genes lie; {SET}"
        yield "linear.penalty", message
    if data["prior_weights"] is not None:
        yield (
            "data.prior_weights",
            "weighs genes one by one; linear.penalty: fused has no such "
            "weights, take one of them away",
        )
    if linear["solver"] != "landweber-newton":
        message = (
            f"'{linear['solver']}' is for linear.penalty: l1; fused has a solver of its own"
            ", leave this key out"
        )
        yield "linear.solver", message


def _cells(table: pd.DataFrame, column: str, genes: Sequence[str]) -> Cells:
    """Return the cell of each gene, blank where it has none; of two rows of a gene the first."""
    rows = dict(zip(map(str, table.index[::-1]), map(str, table[column][::-1]), strict=True))
    cells = {gene: rows.get(gene, rows.get(gene.rpartition("#")[0], "")).strip() for gene in genes}
    return {gene: "" if is_missing(c) or c in DASHES else c for gene, c in cells.items()}


def _place_faults(
    on: Cells, at: Cells, chromosome: str, position: str
) -> Iterator[tuple[str, str]]:
    """Yield what cannot be used."""
    bad = [gene for gene, cell in at.items() if cell and not _is_place(cell)]
    if bad:
        cell = at[bad[0]]
        fault = f"is {cell}, below 0" if is_number(cell) else number_fault(cell)
        several = " (of several, name the one that counts)" if "///" in cell or ";" in cell else ""
        message = f"{position} of {counted(len(bad), 'gene')} is no position ('{bad[0]}' {fault})"
        needs = "data.position needs a number of bases from the chromosome's start, or a blank"
        yield f"{message}{several}; {needs}", "error"
        return
    if not any(on[gene] and at[gene] for gene in on):
        lacks = position if any(on.values()) else chromosome
        yield (
            f"no gene of the matrix has a chromosome and a position ({lacks} is blank); name "
            "other columns",
            "error",
        )
        return
    names = {cell for cell in on.values() if cell}
    known = sum(bool(cell) for cell in on.values())
    if known > 3 and 2 * len(names) > known:
        yield (
            f"{chromosome} has {len(names)} values for {known} genes, {listing(sorted(names))}; "
            "data.chromosome needs few, as 1 to 22, X and Y",
            "error",
        )


def _doubts(
    on: Cells, known: Sequence[str], genes: Sequence[str], chromosome: str
) -> Iterator[tuple[str, str]]:
    """Yield what makes one doubt that the columns are meant, and what becomes of the others."""
    there = set(known)
    if absent := [gene for gene in genes if gene not in there]:
        message = (
            f"{len(absent)} of the {counted(len(genes), 'gene')} have no place, so each is a "
            f"stretch by itself: {listing(absent)}"
        )
        yield message, "warning"
    names = sorted({on[gene] for gene in known})
    short = {name.casefold().removeprefix("chr") for name in names}
    if len(short) < len(names):
        yield (
            f"{chromosome} writes a chromosome in two ways: {listing(names, 40)}; these are "
            "taken for two",
            "warning",
        )


def _is_place(cell: str) -> bool:
    return is_number(cell) and float(cell) >= 0


Factors = Mapping[str, float] | str | None

MARK = ":"
"""What stands between an omic and the gene's own name."""
LEARNED = "learned"
MOST = 20
"""Omics of a study: each is left out once, and an omic is no set of genes."""
MOST_LEARNED = 3
"""Omics whose factors are learned: ratios of 1, 2 and 4 make 5 choices of two, 19 of three."""
MIXING = (
    "standardise_samples",
    "rank_samples",
    "log_cpm",
    "rma_background",
    "quantile",
    "size_factors",
    "vst",
)
"""Steps that hold the values of a sample against each other."""


def omics_of(
    table: pd.DataFrame | None,
    column: str | None,
    place: str,
    genes: Sequence[str] | None,
    factors: Factors,
    problems: list[Problem],
    gone: Sequence[str] = (),
) -> Array | None:
    """Return the omic of each gene, (n_genes,) words, or None: one matrix, or what is wrong.

    Parameters
    ----------
    table : DataFrame of strings or None
        Gene table, index = gene ids.
    column : str or None
        Its column; None is what stands before the first colon of a gene's id.
    place : str
        The file of the table, or of the matrix, for messages.
    genes : sequence of str or None
        Of the matrix; None where it cannot be used.
    factors : mapping, str or None
        ``data.omics``: omic to factor, or ``learned``; None for one matrix.
    problems : list
        Takes what is wrong, a line each.
    gone : sequence of str
        Genes of the file that were left out because nothing can be learned from them.
    """
    if factors is None or genes is None:
        return None
    if column is None:
        told = "before a colon"
        how = f"name all as omic{MARK}gene, or set data.omic"
    elif table is not None:
        names = list(table.columns)
        check_column(column, "data.omic", names, str(table.index.name), place, problems)
        if names.count(column) != 1:
            return None
        told = f"in column '{column}'"
        how = "fill it in"
    else:
        return None
    found = _omic_of_each(table, column, genes)
    blank = [gene for gene, omic in found.items() if not omic]
    if blank:
        message = f"no omic {told} of {counted(len(blank), 'gene')}: {listing(blank)}; {how}"
        problems.append(Problem(place, message))
        return None
    left = set(found.values())
    lost = Counter(_omic_of_each(table, column, gone).values())
    lost = Counter({omic: n for omic, n in lost.items() if omic and omic not in left})
    problems += [Problem(place, _whole(omic, n), "warning") for omic, n in sorted(lost.items())]
    faults = list(_faults(Counter(found.values()), factors, lost))
    problems += [Problem(place, message) for message in faults]
    return None if faults else np.array(list(found.values()), dtype=object)


def _omic_of_each(
    table: pd.DataFrame | None, column: str | None, genes: Sequence[str]
) -> dict[str, str]:
    """Return the omic of each gene, '' where none is told."""
    if column is None or table is None:
        return {gene: gene.partition(MARK)[0].strip() if MARK in gene else "" for gene in genes}
    cells = dict(zip(map(str, table.index[::-1]), map(str, table[column][::-1]), strict=True))
    return {gene: cells.get(gene, cells.get(gene.rpartition("#")[0], "")).strip() for gene in genes}


def _whole(omic: str, genes: int) -> str:
    """Say that nothing is left of an omic."""
    every = f"each of the {genes} genes has" if genes > 1 else "its one gene has"
    return (
        f"nothing is left of the omic '{omic}': {every} one value in all samples, or none; export "
        "that omic again, or leave it out of the matrix"
    )


def _faults(sizes: Counter[str], factors: Factors, lost: Collection[str] = ()) -> Iterator[str]:
    """Yield how the omics of the matrix do not go with what the config says of them."""
    names = sorted(sizes)
    if not 2 <= len(names) <= MOST:
        shown = listing(names)
        yield f"has {counted(len(names), 'omic')}, {shown}; data.omics is for 2 to {MOST}"
        return
    if not isinstance(factors, Mapping):
        if len(names) > MOST_LEARNED:
            message = (
                f"has {counted(len(names), 'omic')}, {listing(names)}; their factors are learned"
                f" of at most {MOST_LEARNED}: give those of all in data.omics"
            )
            yield message
        return
    given = list(map(str, factors))
    if lacking := [name for name in names if name not in given]:
        yield f"data.omics has no factor for {listing(lacking)}; add it"
    for name in given:
        if name in lost:
            yield f"data.omics has a factor for '{name}', of which nothing is left; take it out"
        elif name not in sizes:
            near = did_you_mean(name, names) or f" (omics: {listing(names)})"
            yield f"data.omics names '{name}', which no gene is of{near}"


def with_factors(weights: Array | None, omics: Array | None, factors: Factors) -> Array | None:
    """Return the prior weights (n_genes,) times the given factors; learned ones are none here."""
    if omics is None or not isinstance(factors, Mapping):
        return weights
    of = {str(name): float(factor) for name, factor in factors.items()}
    own = np.array([of[omic] for omic in omics])
    return own if weights is None else weights * own


def omic_settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield which settings do not go with several omics: key, what."""
    # one job is not told of these
    data = config["data"]
    linear = config.get("linear", {})
    if data["omics"] is None:
        if data["omic"] is not None:
            yield "data.omic", "is of use with data.omics; set it to learned, or give factors"
        return
    for name, factor in data["omics"].items() if isinstance(data["omics"], Mapping) else ():
        if factor == 0:
            yield (
                "data.omics",
                (
                    f"factor 0 leaves '{name}' without a penalty, as covariates are: "
                    "put its columns into the sample table, and name them in "
                    "data.covariates"
                ),
            )
        elif factor < LEAST:
            yield "data.omics", f"factor {factor:g} of '{name}' is below {LEAST:g}; raise it"
    if linear.get("penalty") == "fused":
        yield "data.omics", "weighs genes; linear.penalty: fused has no such weights, take l1"
    for place, steps in config["normalise"].items():
        for number, step in enumerate(steps, 1):
            if step["step"] in MIXING:
                message = (
                    f"'{step['step']}' holds all values of a sample against each other, and "
                    "omics have scales of their own; normalise each before they are joined"
                )
                yield f"normalise.{place}, item {number}", message
