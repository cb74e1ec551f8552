"""Check the columns of the gene table: groups, prior weights, positions and omics of genes.

The probes of a set (``1007_s_at#2``) have the row of their set (``1007_s_at``). `table` is the gene
table (index = gene ids), `file` or `annotation` its file, `genes` are those of the matrix, and
errors and warnings are appended to `problems`. Several omics, kinds of molecules such as RNA and
proteins, may share one matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.readers import read_genes
from genesig.data.steps.segment import SEGMENT
from genesig.data.study.sheet_check import check_column
from genesig.errors import InvalidInput, Problem, did_you_mean, input_error, problems_appended_to
from genesig.words import counted, is_missing, is_number, listing, number_fault

if TYPE_CHECKING:
    import pandas as pd


def read_name_column(
    annotation: str, symbol: str | None, meaning: str, problems: list[Problem]
) -> pd.Series[str] | None:
    """Return the names of genes, index = gene id, of a gene table; None after a problem.

    symbol: column of the names; None takes the first one after the ids.
    meaning: what a name is, such as ``"symbol"``, for the message that there is no such column.
    """
    with problems_appended_to(problems):
        table = read_genes(annotation, part=None)
        return choose_name_column(
            table, annotation, symbol, key="symbol", meaning=meaning, problems=problems
        )
    return None


def choose_name_column(
    table: pd.DataFrame,
    annotation: str,
    symbol: str | None,
    key: str,
    meaning: str,
    problems: list[Problem],
) -> pd.Series[str] | None:
    """Return the names of genes as `read_name_column`, from a table; key: setting of `symbol`."""
    columns = list(map(str, table.columns))
    check_column(symbol, key, columns, str(table.index.name), annotation, problems)
    symbol_column = symbol if symbol is not None else next(iter(columns), None)
    if symbol_column is None:
        problems.append(Problem(annotation, f"needs two columns: gene id and {meaning}"))
    if symbol_column not in columns or columns.count(symbol_column) > 1:
        return None
    return table[~table.index.duplicated()][symbol_column]  # of two rows the first counts


def read_groups(path: str, genes: Sequence[str]) -> dict[str, str]:
    """Return the group of each gene of a table: gene in its first column, group in the second.

    A gene without a group is left out.

    Raises InvalidInput: if the table cannot be read, has one column, lists a gene in two groups, or
        has none of the genes.
    """
    table = read_genes(path, part=None)
    if len(table.columns) == 0:
        raise input_error(path, "has one column; needs the gene and its group")
    group_of_gene: dict[str, str] = {}
    for gene, group in zip(map(str, table.index), map(str, table.iloc[:, 0]), strict=True):
        if group and group_of_gene.setdefault(gene, group) != group:
            group_names = f"'{group_of_gene[gene]}' and '{group}'"
            message = f"gene '{gene}' is in the groups {group_names}; groups must not overlap"
            raise input_error(path, message)
    if not set(group_of_gene) & set(genes):
        message = (
            f"none of its {len(group_of_gene)} genes with a group is in the data (say '{genes[0]}')"
        )
        raise input_error(path, message)
    return group_of_gene


def check_groups(config: dict[str, Any], genes: Sequence[str]) -> Iterator[Problem]:
    """Yield the problems of the table of gene groups, if the config names one."""
    section = config.get("nonlinear", {})
    if section.get("enabled") and section.get("groups") is not None:
        path = section["groups"]
        try:
            group_of_gene = read_groups(path, genes)
        except InvalidInput as error:
            yield from error.problems
            return
        study_genes = set(genes)
        absent = [gene for gene in group_of_gene if gene not in study_genes]
        if 2 * len(absent) > len(group_of_gene):
            message = (
                f"{len(absent)} of its {len(group_of_gene)} genes with a group are not in the data"
                f": {listing(absent)}"
            )
            yield Problem(path, message, "warning")


MIN_GENE_WEIGHT = 0.01
MAX_GENE_WEIGHT = 100.0  # beyond these a gene is as good as never, or always, penalised


def read_prior_weights(
    table: pd.DataFrame, column: str, file: str, genes: Sequence[str], problems: list[Problem]
) -> Array | None:
    """Return the prior weight of each gene, (n_genes,), or None after appending a problem."""
    columns = list(table.columns)
    check_column(column, "data.prior_weights", columns, str(table.index.name), file, problems)
    if columns.count(column) != 1:
        return None
    cell_of_gene = cells_of_genes(table, column, genes)
    if faulty_genes := [gene for gene, cell in cell_of_gene.items() if not _is_weight(cell)]:
        cell = cell_of_gene[faulty_genes[0]]
        fault = f"is '{cell}'" if cell.strip() else "is blank"
        message = (
            f"{column} of {counted(len(faulty_genes), 'gene')} is no weight ('{faulty_genes[0]}' "
            f"{fault}); data.prior_weights needs a number from {MIN_GENE_WEIGHT:g} to "
            f"{MAX_GENE_WEIGHT:g} for every gene"
        )
        problems.append(Problem(file, message))
        return None
    return np.array([float(cell) for cell in cell_of_gene.values()])


def _is_weight(cell: str) -> bool:
    """Tell whether a cell is a prior weight."""
    return is_number(cell) and MIN_GENE_WEIGHT <= float(cell) <= MAX_GENE_WEIGHT


CellOfGene = dict[str, str]  # gene id -> cell of one column of the gene table

PLACE_ADVICE = "set data.chromosome and data.position"

BLANK_DASHES = ("-", "--", "---")  # what gene tables have in place of a blank


def read_places(
    table: pd.DataFrame,
    chromosome: str,
    position: str,
    file: str,
    genes: Sequence[str],
    problems: list[Problem],
) -> tuple[Array, Array] | None:
    """Return chromosome and position of each gene, "" and NaN if unknown; None after an error.

    A gene has a place if both cells are filled in. chromosome, position: columns of the table.
    """
    if chromosome == position:
        return None  # `check_place_settings` yields the error
    columns = list(table.columns)
    column_of_setting = {"chromosome": chromosome, "position": position}
    for key, column in column_of_setting.items():
        check_column(column, f"data.{key}", columns, str(table.index.name), file, problems)
        if columns.count(column) > 1:
            message = (
                f"data.{key} '{column}' is the name of {columns.count(column)} columns; rename all"
                " but one"
            )
            problems.append(Problem(file, message))
    if any(columns.count(column) != 1 for column in column_of_setting.values()):
        return None
    chromosome_of_gene, position_of_gene = (
        _place_cells(table, column, genes) for column in column_of_setting.values()
    )
    if errors := list(_place_faults(chromosome_of_gene, position_of_gene, chromosome, position)):
        problems += [Problem(file, message) for message in errors]
        return None
    placed_genes = [gene for gene in genes if chromosome_of_gene[gene] and position_of_gene[gene]]
    warnings = _place_warnings(chromosome_of_gene, placed_genes, genes, chromosome)
    problems += [Problem(file, message, "warning") for message in warnings]
    placed = set(placed_genes)
    chromosomes = [chromosome_of_gene[gene] if gene in placed else "" for gene in genes]
    return np.array(chromosomes, dtype=object), np.array(
        [float(position_of_gene[gene]) if gene in placed else np.nan for gene in genes]
    )


def check_place_settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield contradictions of gene-position and penalty settings, as (setting, message)."""
    # The job that checks the files gets no sections that do not concern it.
    data = config["data"]
    linear = config.get("linear", {})
    for key, other_key in (("chromosome", "position"), ("position", "chromosome")):
        if data[key] is not None and data[other_key] is None:
            yield (
                f"data.{other_key}",
                f"is missing: data.{key} is of use with both; name its column",
            )
    if data["chromosome"] is not None and data["chromosome"] == data["position"]:
        yield "data.position", f"'{data['position']}' is data.chromosome, too; name another column"
    for section, steps in config["normalise"].items():
        for item_number, step in enumerate(steps, 1):
            if step["step"] == SEGMENT and data["chromosome"] is None and data["position"] is None:
                message = f"'{SEGMENT}' needs to know where genes lie; {PLACE_ADVICE}"
                yield f"normalise.{section}, item {item_number}", message
    if linear.get("penalty") != "fused":
        return
    if data["chromosome"] is None and data["position"] is None:
        message = f"'fused' needs to know where genes lie; {PLACE_ADVICE}"
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


def cells_of_genes(table: pd.DataFrame, column: str, genes: Sequence[str]) -> CellOfGene:
    """Return the cell of each gene, '' without a row; of two rows of a gene the first counts."""
    cells = dict(zip(map(str, table.index[::-1]), map(str, table[column][::-1]), strict=True))
    return {gene: cells.get(gene, cells.get(gene.rpartition("#")[0], "")) for gene in genes}


def _place_cells(table: pd.DataFrame, column: str, genes: Sequence[str]) -> CellOfGene:
    """Return the cell of each gene as `cells_of_genes`, '' for words that stand for a blank."""
    cells = {gene: cell.strip() for gene, cell in cells_of_genes(table, column, genes).items()}
    return {
        gene: "" if is_missing(cell) or cell in BLANK_DASHES else cell
        for gene, cell in cells.items()
    }


def _place_faults(
    chromosome_of_gene: CellOfGene, position_of_gene: CellOfGene, chromosome: str, position: str
) -> Iterator[str]:
    """Yield an error message if the cells cannot be chromosomes and positions.

    chromosome, position: names of the columns.
    """
    faulty_genes = [
        gene for gene, cell in position_of_gene.items() if cell and not _is_position(cell)
    ]
    if faulty_genes:
        cell = position_of_gene[faulty_genes[0]]
        fault = f"is {cell}, below 0" if is_number(cell) else number_fault(cell)
        several_places_advice = (
            " (of several, name the one that counts)" if "///" in cell or ";" in cell else ""
        )
        message = (
            f"{position} of {counted(len(faulty_genes), 'gene')} is no position "
            f"('{faulty_genes[0]}' {fault})"
        )
        requirement = (
            "data.position needs a number of bases from the chromosome's start, or a blank"
        )
        yield f"{message}{several_places_advice}; {requirement}"
        return
    if not any(chromosome_of_gene[gene] and position_of_gene[gene] for gene in chromosome_of_gene):
        if not any(chromosome_of_gene.values()):
            cause = f"{chromosome} is blank"
        elif not any(position_of_gene.values()):
            cause = f"{position} is blank"
        else:
            cause = f"no gene has a cell in both {chromosome} and {position}"
        yield (
            f"no gene of the matrix has a chromosome and a position ({cause}); name other columns"
        )
        return
    chromosomes = {cell for cell in chromosome_of_gene.values() if cell}
    n_genes = sum(bool(cell) for cell in chromosome_of_gene.values())
    # Of few genes each may be on another chromosome.
    if n_genes > 3 and 2 * len(chromosomes) > n_genes:
        yield (
            f"{chromosome} has {len(chromosomes)} values for {n_genes} genes, "
            f"{listing(sorted(chromosomes))}; data.chromosome needs few, as 1 to 22, X and Y"
        )


def _place_warnings(
    chromosome_of_gene: CellOfGene,
    placed_genes: Sequence[str],
    genes: Sequence[str],
    chromosome: str,
) -> Iterator[str]:
    """Yield a warning for genes without a position and for chromosomes written in two ways.

    chromosome: name of the column.
    """
    placed = set(placed_genes)
    if unplaced_genes := [gene for gene in genes if gene not in placed]:
        yield (
            f"{len(unplaced_genes)} of the {counted(len(genes), 'gene')} have no place, so each "
            f"is a stretch by itself: {listing(unplaced_genes)}"
        )
    chromosomes = sorted({chromosome_of_gene[gene] for gene in placed_genes})
    bare_chromosomes = {name.casefold().removeprefix("chr") for name in chromosomes}
    if len(bare_chromosomes) < len(chromosomes):
        yield (
            f"{chromosome} writes a chromosome in two ways: {listing(chromosomes, max_names=40)}; "
            "these are taken for two"
        )


def _is_position(cell: str) -> bool:
    """Tell whether a cell is a position, a number of at least 0."""
    return is_number(cell) and float(cell) >= 0


# ``data.omics``: omic -> factor of its penalty, or "learned"; None for one matrix
OmicFactors = Mapping[str, float] | str | None

OMIC_SEPARATOR = ":"  # separates the omic from the gene's own name in a gene id
MAX_OMICS = 20  # largest number of omics: each is left out once, which takes time
MAX_LEARNED_OMICS = 3
"""Largest number of omics with learned factors: ratios of 1, 2 and 4 give 5 choices for two
omics and 19 for three."""
MIXING_STEPS = (
    "standardise_samples",
    "rank_samples",
    "log_cpm",
    "rma_background",
    "quantile",
    "size_factors",
    "vst",
)
"""Steps that compare the values of a sample with each other, across omics."""


def read_omics(
    table: pd.DataFrame | None,
    column: str | None,
    file: str,
    genes: Sequence[str] | None,
    factors: OmicFactors,
    problems: list[Problem],
    dropped_genes: Sequence[str] = (),
) -> Array | None:
    """Return the omic of each gene, (n_genes,) words; None for one matrix or after a problem.

    column: column of the table; None takes the part of a gene's id before its first colon.
    file: file of the table, or of the matrix, for messages.
    genes: genes of the matrix; None if it cannot be used.
    factors: ``data.omics``.
    dropped_genes: genes of the file that were left out because nothing can be learned from them.
    """
    if factors is None or genes is None:
        return None
    if column is None:
        omic_place = "before a colon"
        advice = f"name all as omic{OMIC_SEPARATOR}gene, or set data.omic"
    elif table is not None:
        columns = list(table.columns)
        check_column(column, "data.omic", columns, str(table.index.name), file, problems)
        if columns.count(column) != 1:
            return None
        omic_place = f"in column '{column}'"
        advice = "fill it in"
    else:
        return None  # the missing gene table is an error already
    omic_of_gene = _omic_of_genes(table, column, genes)
    if genes_without_omic := [gene for gene, omic in omic_of_gene.items() if not omic]:
        message = (
            f"no omic {omic_place} of {counted(len(genes_without_omic), 'gene')}: "
            f"{listing(genes_without_omic)}; {advice}"
        )
        problems.append(Problem(file, message))
        return None
    omics = set(omic_of_gene.values())
    n_dropped_of_omic = Counter(_omic_of_genes(table, column, dropped_genes).values())
    n_dropped_of_lost_omic = {  # omics of which no gene is left
        omic: n_genes for omic, n_genes in n_dropped_of_omic.items() if omic and omic not in omics
    }
    problems += [
        Problem(file, _lost_omic_message(omic, n_genes), "warning")
        for omic, n_genes in sorted(n_dropped_of_lost_omic.items())
    ]
    n_genes_of_omic = Counter(omic_of_gene.values())
    factor_faults = list(_omic_faults(n_genes_of_omic, factors, n_dropped_of_lost_omic))
    problems += [Problem(file, message) for message in factor_faults]
    return None if factor_faults else np.array(list(omic_of_gene.values()), dtype=object)


def _omic_of_genes(
    table: pd.DataFrame | None, column: str | None, genes: Sequence[str]
) -> dict[str, str]:
    """Return the omic of each gene, '' if unknown."""
    if column is None or table is None:
        return {
            gene: gene.partition(OMIC_SEPARATOR)[0].strip() if OMIC_SEPARATOR in gene else ""
            for gene in genes
        }
    return {gene: cell.strip() for gene, cell in cells_of_genes(table, column, genes).items()}


def _lost_omic_message(omic: str, n_genes: int) -> str:
    """Return the message that all genes of an omic were left out."""
    subject = f"each of the {n_genes} genes has" if n_genes > 1 else "its one gene has"
    return (
        f"nothing is left of the omic '{omic}': {subject} one value in all samples, or none; "
        "export that omic again, or leave it out of the matrix"
    )


def _omic_faults(
    n_genes_of_omic: Counter[str], factors: OmicFactors, lost_omics: Collection[str] = ()
) -> Iterator[str]:
    """Yield contradictions between the omics of the matrix and the setting ``data.omics``.

    lost_omics: omics of which every gene was left out.
    """
    omics = sorted(n_genes_of_omic)
    if not 2 <= len(omics) <= MAX_OMICS:
        omics_text = listing(omics)
        yield f"has {counted(len(omics), 'omic')}, {omics_text}; data.omics is for 2 to {MAX_OMICS}"
        return
    if not isinstance(factors, Mapping):
        if len(omics) > MAX_LEARNED_OMICS:
            message = (
                f"has {counted(len(omics), 'omic')}, {listing(omics)}; their factors are learned"
                f" of at most {MAX_LEARNED_OMICS}: give those of all in data.omics"
            )
            yield message
        return
    omics_with_factor = list(map(str, factors))
    if omics_without_factor := [name for name in omics if name not in omics_with_factor]:
        yield f"data.omics has no factor for {listing(omics_without_factor)}; add it"
    for name in omics_with_factor:
        if name in lost_omics:
            yield f"data.omics has a factor for '{name}', of which nothing is left; take it out"
        elif name not in n_genes_of_omic:
            advice = did_you_mean(name, omics) or f" (omics: {listing(omics)})"
            yield f"data.omics names '{name}', which no gene is of{advice}"


def multiply_omic_factors(
    weights: Array | None, omics: Array | None, factors: OmicFactors
) -> Array | None:
    """Return the prior weights (n_genes,) times the factors of the omics, if factors are set.

    weights: None if all are 1. omics: omic of each gene, (n_genes,) str, which all have a factor
        (`read_omics`); None for one omic.
    """
    if omics is None or not isinstance(factors, Mapping):
        return weights
    factor_of_omic = {str(name): float(factor) for name, factor in factors.items()}
    gene_factors = np.array([factor_of_omic[omic] for omic in omics])
    return gene_factors if weights is None else weights * gene_factors


def check_omic_settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield settings that are not offered with several omics: (setting, message)."""
    # The job that checks the files gets no sections that do not concern it.
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
                f"factor 0 leaves '{name}' without a penalty, as covariates are: put its columns "
                "into the sample table, and name them in data.covariates",
            )
        elif factor < MIN_GENE_WEIGHT:
            yield (
                "data.omics",
                f"factor {factor:g} of '{name}' is below {MIN_GENE_WEIGHT:g}; raise it",
            )
    if linear.get("penalty") == "fused":
        yield "data.omics", "weighs genes; linear.penalty: fused has no such weights; use l1"
    for section, steps in config["normalise"].items():
        for item_number, step in enumerate(steps, 1):
            if step["step"] in MIXING_STEPS:
                message = (
                    f"'{step['step']}' holds all values of a sample against each other, and "
                    "omics have scales of their own; normalise each before they are joined"
                )
                yield f"normalise.{section}, item {item_number}", message
