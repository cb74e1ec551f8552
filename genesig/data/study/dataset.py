"""Read the files of a study into one checked data set, in which everything left out is recorded.

`annotation` is the file of the gene table, `part` a table or matrix of a file that holds several.
Errors and warnings are appended to `problems`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats.arrays import suffix_of
from genesig.data.files.gene_ids import other_spelling_hint
from genesig.data.files.geo_counts import paths_read
from genesig.data.files.headers import choose_header
from genesig.data.files.layouts import axes_of
from genesig.data.files.non_genes import Surroundings
from genesig.data.files.readers import (
    assign_part,
    files_by_sample,
    read_genes,
    read_matrix,
    read_sample_table,
)
from genesig.data.files.sample_names import has_other_header, with_matrix_names, without_absent
from genesig.data.study.confounding import check_confounding
from genesig.data.study.covariates_check import add_covariates
from genesig.data.study.gene_columns import (
    cells_of_genes,
    choose_name_column,
    multiply_omic_factors,
    read_omics,
    read_places,
    read_prior_weights,
)
from genesig.data.study.label_checks import join_times
from genesig.data.study.matrix_check import Expression, check_matrix, check_symbols
from genesig.data.study.pool_join import pool_studies
from genesig.data.study.pool_record import Pool
from genesig.data.study.settings import FileSettings, GeneSettings, StudySettings
from genesig.data.study.sheet_check import Sheet, check_column, check_sheet
from genesig.errors import InvalidInput, Problem, has_errors, problems_appended_to, warnings_of
from genesig.results import Dataset
from genesig.results.dataset import CHROMOSOME, OMIC, POSITION, PRIOR_WEIGHT
from genesig.results.run import sha256
from genesig.words import counted, is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

SWAPPED_MESSAGE = (
    "is the sample table, and {} the matrix, as it looks: expression and samples are"
    " swapped; exchange them"
)


@dataclass(frozen=True)
class Inputs:
    """The content of the files, as far as it could be read."""

    sheet: Sheet | None  # None if the sample table cannot be used
    expression: Expression | None  # None if the matrix cannot be used
    symbols: dict[str, str] | None  # gene id -> symbol; None if no file has them
    # errors and warnings; after an error any of the first three fields may be None
    problems: list[Problem]
    # (n_genes,) float: prior weights of the genes of the matrix; None without any
    weights: Array | None = None
    table: pd.DataFrame | None = None  # gene table of strings, without prior weights and places
    # chromosomes and positions (n_genes,) of the genes of the matrix; None if unknown
    places: tuple[Array, Array] | None = None
    pool: Pool | None = None  # the joint matrix and table of several studies; None for one study
    # (n_genes,) words: omic of each gene of the matrix; None for one omic
    omics: Array | None = None

    def gene_table(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return symbols, further columns, weights, omics and positions of the genes of the matrix.

        Blank cells, and genes that the table lacks, get the gene's own id. A column that the table
        lacks, or has twice, is left out: the step that needs it raises the error.
        """
        import pandas as pd

        genes = [] if self.expression is None else self.expression.genes
        cells_of_column = {"symbol": self.symbols or {}}
        table = self.table
        for name in columns:
            if name == "symbol" and self.symbols:
                continue  # the column of the setting `data.symbol` is meant
            if table is not None and list(table.columns).count(name) == 1:
                cells_of_column[name] = cells_of_genes(table, name, genes)
        texts_of_column = {
            name: [text_of_gene.get(gene) or gene for gene in genes]
            for name, text_of_gene in cells_of_column.items()
        }
        var = pd.DataFrame(texts_of_column, index=pd.Index(genes, name="gene", dtype=object))
        if self.weights is not None:
            var[PRIOR_WEIGHT] = self.weights
        if self.omics is not None:
            var[OMIC] = self.omics
        if self.places is not None:
            var[CHROMOSOME], var[POSITION] = self.places
        return var


def read_dataset(settings: StudySettings, gene_columns: Sequence[str] = ()) -> Dataset:
    """Read the expression matrix, the sample table and the gene table of a study.

    gene_columns: further columns of the gene table that are kept: those by which steps group genes.

    Raises InvalidInput: with the errors of all files.

    Returns samples and genes in the order of their names, whatever their order in the files;
    everything left out is in ``provenance["dropped"]``.
    """
    inputs = read_inputs(settings)
    # One file may be matrix, sample table and gene table: its errors are listed once.
    errors = [problem for problem in dict.fromkeys(inputs.problems) if problem.level == "error"]
    if errors or inputs.sheet is None or inputs.expression is None:
        raise InvalidInput(errors)
    pool = inputs.pool
    files = settings.files
    paths = [*paths_read(files.expression), *filter(None, (files.samples, files.annotation))]
    provenance = {
        "dropped": [
            *(pool.dropped if pool else ()),
            *inputs.sheet.dropped,
            *inputs.expression.dropped,
        ],
        "steps": [],
        "inputs": {path: sha256(path) for path in dict.fromkeys(pool.files if pool else paths)},
        "warnings": warnings_of(inputs.problems),
        **({"studies": pool.gene_loss} if pool else {}),
    }
    obs = inputs.sheet.obs.copy()
    if obs.index.name in ["", "_index", *obs.columns]:  # h5ad would refuse it
        obs.index.name = None
    var = inputs.gene_table(gene_columns)
    return Dataset(inputs.expression.X, obs, var, inputs.sheet.design, provenance)


def read_inputs(settings: StudySettings) -> Inputs:
    """Read and check everything that `read_dataset` needs; problems are returned, not raised."""
    problems: list[Problem] = []
    files = settings.files
    label_columns = settings.outcome.columns
    pool = None
    annotation = files.annotation
    if settings.studies:
        pool = pool_studies(settings, problems)
        matrix = None if pool is None else pool.matrix
        table = None if pool is None else pool.table
        annotation = None  # each study has been read with its own gene table
        not_measured = list[dict[str, str]]()
    else:
        matrix, table, not_measured = _read_matrix_and_table(files, problems)
    # Several columns of times fill each other's blanks; those of several studies are joined.
    if table is not None and pool is None:
        time_columns = settings.outcome.time_columns
        columns = list(map(str, table.cells.columns))
        index_name = str(table.cells.index.name)
        for column in time_columns[1:]:  # `check_sheet` checks the first one, the label
            check_column(column, "label", columns, index_name, files.samples, problems)
        table = table.with_cells(join_times(table.cells, time_columns))
    cells = None if table is None else table.cells
    if cells is not None and matrix is not None and _are_swapped(matrix, cells, label_columns[0]):
        swapped = Problem(files.expression, SWAPPED_MESSAGE.format(files.samples))
        return Inputs(sheet=None, expression=None, symbols=None, problems=[swapped])
    if has_other_header(problems):  # all further problems would only follow from it
        return Inputs(sheet=None, expression=None, symbols=None, problems=problems)
    sheet = None if table is None else check_sheet(table, files.samples, settings, problems)
    if sheet is not None:
        sheet = replace(sheet, dropped=[*sheet.dropped, *not_measured])  # absent from the matrix
    if sheet is not None and not has_errors(problems):
        sheet = add_covariates(sheet, files.samples, settings.adjustment, problems)
        limit = settings.groups.confounding
        problems += check_confounding(sheet.obs, sheet.design, limit, files.samples)
    expression = None
    if cells is not None and matrix is not None:
        expression = check_matrix(
            matrix,
            files.expression,
            table_samples=list(cells.index),
            study_samples=list(cells.index if sheet is None else sheet.obs.index),
            table_file=files.samples,
            missing=files.missing,
            surroundings=Surroundings(
                cells, config_columns=_columns_in_use(settings), kept_kinds=files.keep
            ),
            problems=problems,
        )
    genes = None if expression is None else expression.genes
    gene_table = GeneTableColumns()
    if annotation is not None:
        _, gene_table_part = assign_part(files.part, files.expression, annotation)
        gene_table = _read_gene_table(annotation, gene_table_part, genes, settings.genes, problems)
    symbols = gene_table.symbols
    if annotation is None and matrix is not None and matrix.symbols:
        symbols = dict(matrix.symbols)
        problems += check_symbols(symbols, files.expression)
    omic = settings.genes.omic
    omics = settings.genes.omics
    omics_file = annotation if omic and annotation else files.expression
    omic_of_gene = read_omics(
        gene_table.table, omic, omics_file, genes, omics, problems, _dropped_genes(expression)
    )
    return Inputs(
        sheet=sheet,
        expression=expression,
        symbols=symbols,
        problems=problems,
        weights=multiply_omic_factors(gene_table.weights, omic_of_gene, omics),
        table=gene_table.table,
        places=gene_table.places,
        pool=pool,
        omics=omic_of_gene,
    )


def _columns_in_use(settings: StudySettings) -> list[str]:
    """Return the columns of the sample table that settings name."""
    groups = settings.groups
    file_column = settings.files.files  # has the name of each sample's own file
    optional = (groups.group, groups.pair, groups.batch, settings.adjustment.weights, file_column)
    return [
        *settings.outcome.columns,
        *settings.adjustment.covariates,
        *(column for column in optional if column),
    ]


def _dropped_genes(expression: Expression | None) -> list[str]:
    """Return the genes of the file that were left out."""
    drops = [] if expression is None else expression.dropped
    return [drop["name"] for drop in drops if drop["kind"] == "gene"]


class GeneTableColumns(NamedTuple):
    """The columns of the gene table, as `Inputs` has them."""

    symbols: dict[str, str] | None = None
    weights: Array | None = None
    table: pd.DataFrame | None = None
    places: tuple[Array, Array] | None = None


def _read_gene_table(
    annotation: str,
    part: str | None,
    genes: list[str] | None,
    settings: GeneSettings,
    problems: list[Problem],
) -> GeneTableColumns:
    """Return symbols, prior weights and positions of the gene table; append the problems.

    A table whose columns are all named by other settings has no symbols. genes: those of the
    matrix; None if it cannot be used.
    """
    table = None
    with problems_appended_to(problems):
        table = read_genes(annotation, part)
    if table is None:
        return GeneTableColumns()
    weights_column = settings.prior_weights
    chromosome = settings.chromosome
    position = settings.position
    symbols = None
    weights = None
    places = None
    if weights_column is not None and genes is not None:
        weights = read_prior_weights(table, weights_column, annotation, genes, problems)
        table = table.drop(columns=weights_column, errors="ignore")
    if chromosome and position and genes is not None:
        places = read_places(table, chromosome, position, annotation, genes, problems)
        table = table.drop(columns=[chromosome, position], errors="ignore")
    symbol_table = table
    if settings.omic is not None:
        symbol_table = table.drop(columns=settings.omic, errors="ignore")
    has_other_columns = weights is not None or places is not None or settings.omic is not None
    if not has_other_columns or len(symbol_table.columns):
        symbols = _read_symbols(symbol_table, annotation, settings.symbol, genes, problems)
    return GeneTableColumns(symbols, weights, table, places)


def _read_matrix_and_table(
    files: FileSettings, problems: list[Problem]
) -> tuple[Matrix | None, TextTable | None, list[dict[str, str]]]:
    """Read matrix and sample table; return both, and the samples that the matrix lacks.

    These are {kind, name, reason}, as in ``Sheet.dropped``. The table is read first if it names the
    files of arrays. ``files.missing`` also keeps samples without a modality. None after an error.
    """
    expression = files.expression
    samples = files.samples
    matrix_part, table_part = assign_part(files.part, expression, samples)
    matrix = None
    table = None
    if files.files is not None:
        with problems_appended_to(problems):
            table = read_sample_table(samples, names=None, part=table_part)
        if table is None:
            return None, None, []
        if files.sample_names is not None:
            no_axes = ((), ())  # the matrix is not read yet: its names cannot be compared
            table = with_matrix_names(table, no_axes, samples, files.sample_names, problems)
        cells = table.cells
        columns = list(cells.columns)
        check_column(files.files, "data.files", columns, str(cells.index.name), samples, problems)
        if files.files not in columns:
            return None, table, []
        file_names = cells[files.files]
        with problems_appended_to(problems):
            path_of_sample = files_by_sample(file_names, expression, samples)
            matrix = read_matrix(expression, matrix_part, path_of_sample)
        return matrix, table, []
    with problems_appended_to(problems):
        matrix = read_matrix(expression, matrix_part, partial=files.missing)
    if matrix is None and suffix_of(samples) == ".cls":
        return None, None, []  # it has no sample names, so that nothing of it can be checked
    # Before `orient`, which follows, most matrices have the samples in columns.
    likely_samples = None if matrix is None else matrix.columns
    with problems_appended_to(problems):
        table = read_sample_table(samples, likely_samples, table_part, partial=files.missing)
    if matrix is None or table is None:
        return matrix, table, []
    table = with_matrix_names(table, axes_of(matrix), samples, files.sample_names, problems)
    matrix = choose_header(matrix, list(map(str, table.cells.index)))
    table, not_measured = without_absent(table, matrix, samples, expression, problems)
    return matrix, table, not_measured


def _are_swapped(matrix: Matrix, table: pd.DataFrame, label: str) -> bool:
    """Tell whether expression and samples are exchanged.

    The first row of the table then has numbers only. The matrix has the label as a column, or it
    has a column of words, and the name of one of its rows heads a column of the table.
    """
    if label in table.columns or table.empty:
        return False
    if not all(is_number(cell) or is_missing(cell) for cell in table.iloc[0]):
        return False
    # A column of words has no finite cell.
    has_words = not np.isfinite(matrix.cells).any(axis=0).all()
    return label in matrix.columns or (has_words and bool(set(table.columns) & set(matrix.rows)))


def _read_symbols(
    table: pd.DataFrame,
    annotation: str,
    symbol: str | None,
    genes: list[str] | None,
    problems: list[Problem],
) -> dict[str, str] | None:
    """Return the symbol of each gene, None after a problem.

    table: gene table, index = gene ids.
    symbol: column of the symbols; None takes the first one after the ids.
    genes: those of the matrix; None if it cannot be used.
    """
    column = choose_name_column(table, annotation, symbol, "data.symbol", "symbol", problems)
    if column is None:
        return None
    symbols = {str(gene): str(cell) for gene, cell in column.items()}
    if genes is not None:
        symbols |= _symbols_of_probes(genes, symbols)
        problems += check_symbols(
            {gene: symbols[gene] for gene in genes if gene in symbols}, annotation
        )
        _check_genes_without_row(annotation, str(table.index.name), symbols, genes, problems)
    return symbols


def _symbols_of_probes(genes: list[str], symbol_of_set: dict[str, str]) -> dict[str, str]:
    """Return the symbols of probes, ``1007_s_at#2``, that have a row for their set only."""
    return {
        gene: symbol_of_set[probe_set]
        for gene in genes
        if gene not in symbol_of_set and (probe_set := gene.rpartition("#")[0]) in symbol_of_set
    }


def _check_genes_without_row(
    annotation: str,
    index_name: str,
    symbols: dict[str, str],
    genes: list[str],
    problems: list[Problem],
) -> None:
    """Append a problem if the gene table lacks genes of the matrix."""
    genes_without_row = [gene for gene in genes if gene not in symbols]
    if len(genes_without_row) == len(genes):
        message = (
            f"no gene of the matrix is in column '{index_name}', the first one: the matrix has "
            f"{listing(genes)}, the column has {listing(symbols)}; name the gene table "
            "of this matrix"
        )
        problems.append(Problem(annotation, message))
    elif genes_without_row:
        message = (
            f"{len(genes_without_row)} of the {counted(len(genes), 'gene')} not found here, so "
            f"shown by id: {listing(genes_without_row)}"
        )
        message += other_spelling_hint(genes_without_row, symbols)
        problems.append(Problem(annotation, message, "warning"))
