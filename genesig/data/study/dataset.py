"""Read the files of a study into one checked data set, in which everything left out is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.arrays import suffix_of
from genesig.data.files.gene_ids import versions_hint
from genesig.data.files.geo_counts import paths_read
from genesig.data.files.headers import with_names_of
from genesig.data.files.non_genes import Surroundings
from genesig.data.files.readers import (
    assign_part,
    files_by_sample,
    read_genes,
    read_matrix,
    read_samples,
)
from genesig.data.files.sample_names import with_matrix_names, without_absent
from genesig.data.study.confounding import check_confounding
from genesig.data.study.covariates_check import add_covariates
from genesig.data.study.gene_columns import (
    multiply_omic_factors,
    read_omics,
    read_places,
    read_prior_weights,
)
from genesig.data.study.labels.times import join_times
from genesig.data.study.matrix_check import Expression, check_matrix, check_symbols
from genesig.data.study.pool.record import Pool, PoolSettings
from genesig.data.study.pool.together import pool_studies
from genesig.data.study.sheet_check import Sheet, check_column, check_sheet
from genesig.errors import InvalidInput, Problem, attempt, warnings_of
from genesig.response.design import Label, label_columns, time_columns
from genesig.results import Dataset
from genesig.results.dataset import CHROMOSOME, OMIC, POSITION, PRIOR_WEIGHT
from genesig.results.run import sha256
from genesig.words import counted, is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

Pooled = Mapping[str, Any] | None

SWAPPED_MESSAGE = (
    "is the sample table, and {} the matrix, as it looks: expression and samples are"
    " swapped; exchange them"
)


@dataclass(frozen=True)
class Inputs:
    """The content of the files, as far as it could be read."""

    sheet: Sheet | None
    """None if the sample table cannot be used."""
    expression: Expression | None
    """None if the matrix cannot be used."""
    symbols: dict[str, str] | None
    """Gene id -> symbol; None without a gene table."""
    problems: list[Problem]
    """Errors and warnings; after an error any of the first three fields may be None."""
    weights: Array | None = None
    """(n_genes,) float: prior weights of the genes of the matrix; None without any."""
    table: pd.DataFrame | None = None
    """The gene table as it is in its file; its cells are strings."""
    places: tuple[Array, Array] | None = None
    """Chromosomes and positions (n_genes,) of the genes of the matrix; None if unknown."""
    pool: Pool | None = None
    """The joint matrix and table of several studies; None for one study."""
    omics: Array | None = None
    """(n_genes,) words: omic of each gene of the matrix; None for one omic."""

    def gene_table(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return symbols, further columns, weights, omics and positions of the genes of the matrix.

        Blank cells, and genes that the table lacks, get the gene's own id. A column that the table
        lacks is left out: the step that needs it raises the error.
        """
        import pandas as pd

        genes = [] if self.expression is None else self.expression.genes
        cells_of_column = {"symbol": self.symbols or {}}
        table = self.table
        for name in columns:
            if table is not None and list(table.columns).count(name) == 1:
                cells = table[name][~table.index.duplicated()]
                cell_of_gene = {str(gene): str(cell) for gene, cell in cells.items()}
                cells_of_column[name] = cell_of_gene | _add_probe_names(genes, cell_of_gene)
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


def read_dataset(
    expression: str,
    samples: str,
    label: Label,
    gene_columns: Sequence[str] = (),
    pooled: Pooled = None,
    *,
    task: str,
    classes: Sequence[str] | None,
    event: str | None,
    horizon: float | None,
    ties: str,
    group: str | None,
    pair: str | None,
    batch: str | None,
    confounding: float,
    annotation: str | None,
    symbol: str | None,
    part: str | None,
    files: str | None,
    missing: bool,
    prior_weights: str | None,
    omics: Mapping[str, float] | str | None,
    omic: str | None,
    covariates: Sequence[str],
    covariate_words: Mapping[str, Mapping[Any, str]],
    missing_covariates: str,
    covariate_shape: str,
    weights: str | None,
    chromosome: str | None,
    position: str | None,
    keep: Sequence[str] = (),
    sample_names: str | None = None,
    categorical_covariates: Sequence[str] = (),
    unlabelled: str = "refuse",
) -> Dataset:
    """Read the expression matrix, the sample table and the gene table of a study.

    Parameters
    ----------
    expression, samples : str
        Files; the matrix may lie either way round. They may be the same file, where its format
        describes samples, too.
    label : str or mapping
        Column of the sample table that is predicted; of survival, those of ``time`` and ``event``.
        Of a list of times the first one that a sample has counts.
    pooled : mapping or None
        Several studies in the place of the two files: ``studies`` and ``probes`` of the config.
    task : str
        A name in `RESPONSES`.
    classes : [negative, positive] or None
        Other classes are left out; None takes the two there are, in alphabetical order.
    event, horizon, ties : str or None, float or None, str
        Of survival: the word that is an event, 1 if None; when risks are told; how ties enter.
    group, pair : str or None
        Columns of samples that belong together; of matched pairs, which are groups, too.
    batch : str or None
        Column of samples that were processed together.
    confounding : float
        Largest association of batch and label that is accepted, see `confounding.association`.
    annotation, symbol : str or None
        Gene table and its column with symbols; None is the second one.
    part : str or None
        Which matrix of a file that holds several: platform, layer, object.
    files : str or None
        Column of the sample table that names each sample's file in the folder `expression`.
    missing : bool
        Whether blank and NA cells are kept, as NaN, for a step that fills them in.
    prior_weights : str or None
        Column of the gene table with the prior weight of each gene.
    omics : mapping, "learned" or None
        Factor of the l1 terms of each omic; whether it is learned; None where there is one matrix.
    omic : str or None
        Column of the gene table with the omic of each gene; None is what stands before a colon.
    covariates : sequence of str
        Columns that are held fixed.
    covariate_words : mapping
        Column -> word of the sample table -> what it means.
    missing_covariates : {"refuse", "mean"}
    covariate_shape : {"splines", "linear"}
    weights : str or None
        ``balanced``, or the column of the samples' weights.
    chromosome, position : str or None
        Columns of the gene table that say where each gene lies.
    unlabelled : {"refuse", "leave_out"}
        What is done with samples without a label where these are many or of one kind.
    keep : sequence of str
        Kinds of rows that are no genes and are kept, see `files.non_genes.KINDS`.
    sample_names : str or None
        Column of the sample table with the names that the matrix has; None looks for it.
    categorical_covariates : sequence of str
        Covariates whose numbers are names.
    gene_columns : sequence of str
        Further columns of the gene table that are kept: those that steps take genes together by.

    Returns
    -------
    Dataset
        Samples and genes in the order of their names, whatever their order in the files;
        everything left out is in ``provenance["dropped"]``.

    Raises
    ------
    InvalidInput
        With every error of all files.
    """
    inputs = read_inputs(
        expression,
        samples,
        label,
        pooled,
        task=task,
        classes=classes,
        event=event,
        horizon=horizon,
        ties=ties,
        group=group,
        pair=pair,
        batch=batch,
        confounding=confounding,
        annotation=annotation,
        symbol=symbol,
        part=part,
        files=files,
        missing=missing,
        prior_weights=prior_weights,
        omics=omics,
        omic=omic,
        covariates=covariates,
        covariate_words=covariate_words,
        missing_covariates=missing_covariates,
        covariate_shape=covariate_shape,
        weights=weights,
        chromosome=chromosome,
        position=position,
        keep=keep,
        sample_names=sample_names,
        categorical_covariates=categorical_covariates,
        unlabelled=unlabelled,
    )
    # One file may be matrix, sample table and gene table: what is wrong with it is said once.
    errors = [problem for problem in dict.fromkeys(inputs.problems) if problem.level == "error"]
    if errors or inputs.sheet is None or inputs.expression is None:
        raise InvalidInput(errors)
    pool = inputs.pool
    paths = [*paths_read(expression), *filter(None, (samples, annotation))]
    provenance = {
        "dropped": [
            *(pool.dropped if pool else ()),
            *inputs.sheet.dropped,
            *inputs.expression.dropped,
        ],
        "steps": [],
        "inputs": {path: sha256(path) for path in dict.fromkeys(pool.files if pool else paths)},
        "warnings": warnings_of(inputs.problems),
        **({"studies": pool.flow} if pool else {}),
    }
    obs = inputs.sheet.obs.copy()
    obs.attrs = {}
    if obs.index.name in ["", "_index", *obs.columns]:  # h5ad would refuse it
        obs.index.name = None
    var = inputs.gene_table(gene_columns)
    return Dataset(inputs.expression.X, obs, var, inputs.sheet.design, provenance)


def inputs_of(config: Mapping[str, Any]) -> Inputs:
    """Read and check the files that a resolved config names."""
    return read_inputs(
        config["expression"],
        config["samples"],
        config["label"],
        pooled_of(config),
        **config["data"],
    )


def pooled_of(config: Mapping[str, Any]) -> Pooled:
    """Return what a resolved config says of several studies, None where it has one."""
    studies = config.get("studies")
    across = {key: config["across"][key] for key in ("probes", "align")}
    return {"studies": studies, "across": across} if studies else None


def read_inputs(
    expression: str,
    samples: str,
    label: Label,
    pooled: Pooled = None,
    *,
    task: str,
    classes: Sequence[str] | None,
    event: str | None,
    horizon: float | None,
    ties: str,
    group: str | None,
    pair: str | None,
    batch: str | None,
    confounding: float,
    annotation: str | None,
    symbol: str | None,
    part: str | None,
    files: str | None,
    missing: bool,
    prior_weights: str | None,
    omics: Mapping[str, float] | str | None,
    omic: str | None,
    covariates: Sequence[str],
    covariate_words: Mapping[str, Mapping[Any, str]],
    missing_covariates: str,
    covariate_shape: str,
    weights: str | None,
    chromosome: str | None,
    position: str | None,
    keep: Sequence[str] = (),
    sample_names: str | None = None,
    categorical_covariates: Sequence[str] = (),
    unlabelled: str = "refuse",
) -> Inputs:
    """Read and check everything that `read_dataset` needs; faults are listed, not raised."""
    problems: list[Problem] = []
    columns = label_columns(label)
    pool = None
    gene_table_columns = (symbol, prior_weights, chromosome, position, omic)
    if pooled:
        data = {
            "task": task,
            "classes": classes,
            "event": event,
            "group": group,
            "pair": pair,
            "annotation": annotation,
            "symbol": symbol,
            "part": part,
            "keep": keep,
            "unlabelled": unlabelled,
            "sample_names": sample_names,
        }
        pool = pool_studies(
            pooled["studies"],
            PoolSettings(columns, data, **pooled["across"], times=time_columns(label)),
            problems,
        )
        matrix, table = (pool.matrix, pool.table) if pool is not None else (None, None)
        annotation = None
        not_measured = list[dict[str, str]]()
    else:
        matrix, table, not_measured = _read_matrix_and_table(
            expression, samples, part, files, missing, sample_names, problems
        )
    sheet = None
    values = None
    times = time_columns(label)
    if table is not None and pool is None:
        columns_of_table = list(map(str, table.columns))
        for column in times[1:]:
            check_column(
                column, "label", columns_of_table, str(table.index.name), samples, problems
            )
        table = join_times(table, times)
    if table is not None and matrix is not None and _are_swapped(matrix, table, columns[0]):
        return Inputs(None, None, None, [Problem(expression, SWAPPED_MESSAGE.format(samples))])
    if table is not None:
        settings = {
            "classes": classes,
            "event": event,
            "horizon": horizon,
            "ties": ties,
            "unlabelled": unlabelled,
        }
        sheet = check_sheet(
            table,
            samples,
            label=columns,
            task=task,
            settings=settings,
            group=group,
            pair=pair,
            batch=batch,
            studies=pool is not None,
            problems=problems,
        )
    if sheet is not None:
        sheet = replace(sheet, dropped=[*sheet.dropped, *not_measured])
    if sheet is not None and not any(problem.level == "error" for problem in problems):
        sheet = add_covariates(
            sheet,
            samples,
            problems,
            covariates=covariates,
            words=covariate_words,
            missing=missing_covariates,
            shape=covariate_shape,
            weights=weights,
            categorical=categorical_covariates,
        )
        problems += check_confounding(sheet.obs, sheet.design, confounding, samples)
    if table is not None and matrix is not None:
        named_columns = [*columns, *covariates, *filter(None, [group, pair, batch, weights, files])]
        surroundings = Surroundings(table, named_columns, kept_kinds=keep)
        values = check_matrix(
            matrix,
            expression,
            names=list(table.index),
            table_file=samples,
            study_samples=list(table.index if sheet is None else sheet.obs.index),
            missing=missing,
            surroundings=surroundings,
            problems=problems,
        )
    genes = None if values is None else values.genes
    gene_table = GeneTableColumns()
    if annotation is not None:
        gene_table_part = assign_part(part, expression, annotation)[1]
        gene_table = _read_gene_table(
            annotation, gene_table_part, genes, gene_table_columns, problems
        )
    symbols = gene_table.symbols
    if annotation is None and matrix is not None and matrix.symbols:
        symbols = dict(matrix.symbols)
        problems += check_symbols(symbols, expression)
    omics_file = annotation if omic and annotation else expression
    omic_of_gene = read_omics(
        gene_table.table, omic, omics_file, genes, omics, problems, _dropped_genes(values)
    )
    return Inputs(
        sheet,
        values,
        symbols,
        problems,
        multiply_omic_factors(gene_table.weights, omic_of_gene, omics),
        gene_table.table,
        gene_table.places,
        pool,
        omic_of_gene,
    )


def _dropped_genes(values: Expression | None) -> list[str]:
    """Return the genes of the file that were left out."""
    drops = [] if values is None else values.dropped
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
    setting_columns: Sequence[str | None],
    problems: list[Problem],
) -> GeneTableColumns:
    """Return symbols, prior weights and positions of the gene table; append the problems."""
    symbol, prior_weights, chromosome, position, omic = setting_columns
    other_columns = attempt(lambda: read_genes(annotation, part), problems)
    if other_columns is None:
        return GeneTableColumns()
    symbols = None
    prior_gene_weights = None
    places = None
    if prior_weights is not None and genes is not None:
        prior_gene_weights = read_prior_weights(
            other_columns, prior_weights, annotation, genes, problems
        )
        other_columns = other_columns.drop(columns=prior_weights, errors="ignore")
    if chromosome and position and genes is not None:
        places = read_places(other_columns, chromosome, position, annotation, genes, problems)
        other_columns = other_columns.drop(columns=[chromosome, position], errors="ignore")
    table_without_settings = other_columns
    if omic is not None:
        other_columns = other_columns.drop(columns=omic, errors="ignore")
    has_settings_columns = prior_gene_weights is not None or places is not None or omic is not None
    if not has_settings_columns or len(other_columns.columns):
        symbols = _read_symbols(other_columns, annotation, symbol, genes, problems)
    return GeneTableColumns(symbols, prior_gene_weights, table_without_settings, places)


def _read_matrix_and_table(
    expression: str,
    samples: str,
    part: str | None,
    files: str | None,
    keep_partial: bool,
    sample_names: str | None,
    problems: list[Problem],
) -> tuple[Matrix | None, pd.DataFrame | None, list[dict[str, str]]]:
    """Read matrix and sample table, and list the samples that the matrix lacks.

    The table comes first where it names the files of the arrays.

    `keep_partial`: samples that lack a modality are kept. `sample_names` is the column of the table
    with the names that the matrix has.
    """
    matrix_part, table_part = assign_part(part, expression, samples)
    if files is not None:
        table = attempt(lambda: read_samples(samples, None, table_part), problems)
        if table is None:
            return None, None, []
        if sample_names is not None:
            table = with_matrix_names(table, ((), ()), samples, sample_names, problems)
        columns = list(table.columns)
        check_column(files, "data.files", columns, str(table.index.name), samples, problems)
        if files not in columns:
            return None, table, []
        file_names = table[files]
        path_of_sample = attempt(lambda: files_by_sample(file_names, expression, samples), problems)
        if path_of_sample is None:
            return None, table, []
        return (
            attempt(lambda: read_matrix(expression, matrix_part, path_of_sample), problems),
            table,
            [],
        )
    matrix = attempt(lambda: read_matrix(expression, matrix_part, partial=keep_partial), problems)
    if matrix is None and suffix_of(samples) == ".cls":
        return None, None, []  # it names no samples: without a matrix there is nothing to say of it
    names = None if matrix is None else matrix.columns
    table = attempt(
        lambda: read_samples(samples, names, table_part, partial=keep_partial), problems
    )
    if matrix is None or table is None:
        return matrix, table, []
    table = with_matrix_names(table, (matrix.columns, matrix.rows), samples, sample_names, problems)
    matrix = with_names_of(matrix, list(map(str, table.index)))
    axes = (matrix.columns, matrix.rows)
    table, not_measured = without_absent(table, axes, samples, expression, problems)
    return matrix, table, not_measured


def _are_swapped(matrix: Matrix, table: pd.DataFrame, label: str) -> bool:
    """Tell whether expression and samples are exchanged.

    The table then has numbers only, and the matrix has the label, or words for the table's samples.
    """
    if label in table.columns or table.empty:
        return False
    if not all(is_number(cell) or is_missing(cell) for cell in table.iloc[0]):
        return False
    has_words = not np.isfinite(matrix.cells).any(axis=0).all()
    return label in matrix.columns or (has_words and bool(set(table.columns) & set(matrix.rows)))


def _read_symbols(
    table: pd.DataFrame,
    annotation: str,
    symbol: str | None,
    genes: list[str] | None,
    problems: list[Problem],
) -> dict[str, str] | None:
    """Return the symbol of each gene, None after a problem."""
    names = list(table.columns)
    if symbol is None and not names:
        problems.append(Problem(annotation, "needs two columns: gene id and symbol"))
    check_column(symbol, "data.symbol", names, "", annotation, problems)
    column = symbol if symbol is not None else next(iter(names), None)
    if column not in names or names.count(column) > 1:
        return None
    unique_rows = table[~table.index.duplicated()]
    symbols = {str(gene): str(cell) for gene, cell in unique_rows[column].items()}
    if genes is not None:
        symbols |= _add_probe_names(genes, symbols)
        problems += check_symbols(
            {gene: symbols[gene] for gene in genes if gene in symbols}, annotation
        )
        _check_annotation(annotation, str(table.index.name), symbols, genes, problems)
    return symbols


def _add_probe_names(genes: list[str], symbol_of_set: dict[str, str]) -> dict[str, str]:
    """Return the symbols of probes, ``1007_s_at#2``, that have a row for their set only."""
    return {
        gene: symbol_of_set[probe_set]
        for gene in genes
        if gene not in symbol_of_set and (probe_set := gene.rpartition("#")[0]) in symbol_of_set
    }


def _check_annotation(
    annotation: str, index: str, symbols: dict[str, str], genes: list[str], problems: list[Problem]
) -> None:
    """Append a problem if the gene table lacks genes of the matrix."""
    genes_without_row = [gene for gene in genes if gene not in symbols]
    if len(genes_without_row) == len(genes):
        message = (
            f"no gene of the matrix is in column '{index}', the first one: the matrix has "
            f"{listing(genes)}, the column has {listing(symbols)}; name the gene table "
            "of this matrix"
        )
        problems.append(Problem(annotation, message))
    elif genes_without_row:
        message = (
            f"{len(genes_without_row)} of the {counted(len(genes), 'gene')} not found here, so "
            f"shown by id: {listing(genes_without_row)}{versions_hint(genes_without_row, symbols)}"
        )
        problems.append(Problem(annotation, message, "warning"))
