"""The value of report_data.json, collected from the results of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from genesig.report import (
    enrichment,
    genome,
    omics,
    patients,
    published,
    sets,
    studies,
    survival,
)
from genesig.report.answer.collect import (
    answer,
    error_warnings,
    signature_warnings,
    stability_warnings,
    verdict,
)
from genesig.report.covariates import collect_covariates
from genesig.report.data import batch, batch_warnings, collect_study, design
from genesig.report.external import collect as cohorts
from genesig.report.genes.collect import block_warnings, gene_cards, gene_parts
from genesig.report.nonlinear import collect_nonlinear
from genesig.report.page.record import PackedTable, json_value, rounded
from genesig.report.prediction.collect import (
    chance_warnings,
    error_surface,
    grid_warnings,
    held_out_scores,
    permutation_errors,
    solver_warnings,
    with_contributions,
    with_shrinkage,
)
from genesig.report.quality import collect as quality
from genesig.report.record import VERSION, Report
from genesig.results import CrossValidation, Fits, load_arrays, load_json, load_tables
from genesig.selection.model.held_out_contributions import held_out_contributions

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Splits


class TopicTables(NamedTuple):
    """Result tables of one topic, by the names of their files."""

    read: tuple[str, ...]  # tables from which the topic takes its numbers
    on_page: tuple[str, ...] = ()  # those of them that are in report_data.json
    text_columns: tuple[str, ...] = ()  # columns of names, which may look like numbers


COMMON_TABLES = TopicTables(
    (
        *("signature", "selection", "nested_lists", "blocks", "scores", "stability", "controls"),
        *("univariate", "predictions"),
    ),
    on_page=("signature", "selection", "blocks", "scores", "stability", "controls", "univariate"),
    text_columns=(
        *("gene", "symbol", "prototype", "sample", "label", "predicted", "split", "model"),
        *("source", "nearest", "nearest_symbol"),
    ),
)
PATIENT_TABLES = TopicTables(
    ("patients", "score_effect", "subgroups", "next_study"),
    on_page=("patients", "score_effect", "subgroups", "next_study"),
    text_columns=("column", "level", "class"),
)
# topics that a study need not have
TOPIC_TABLES = {
    "nonlinear": TopicTables(
        (
            *("nonlinear", "nonlinear_scores", "nonlinear_model", "nonlinear_predictions"),
            *("nonlinear_agreement", "nonlinear_difference", "nonlinear_curves"),
        ),
        on_page=("nonlinear",),
    ),
    "sets": TopicTables(
        ("sets", "sets_scores", "sets_predictions", "sets_stability", "sets_error", "sets_genes"),
        on_page=("sets", "sets_genes"),
        text_columns=("set", "about"),
    ),
    "survival": TopicTables(
        ("survival", "survival_curves", "survival_risk"),
        on_page=("survival",),
        text_columns=("measure", "group"),
    ),
    "quality": TopicTables(("modules",), on_page=("modules",)),
    "genome": TopicTables(
        ("stretches",), on_page=("stretches",), text_columns=("chromosome", "first", "last")
    ),
    "enrichment": TopicTables(
        ("enrichment", "enrichment_ranking"),
        on_page=("enrichment_ranking",),
        text_columns=("list", "reference", "set", "about", "names", "leading"),
    ),
    "published": TopicTables(
        (published.PUBLISHED_TABLE,),
        on_page=(published.PUBLISHED_TABLE,),
        text_columns=("name",),
    ),
    "omics": TopicTables(
        (omics.OMICS_TABLE,), on_page=(omics.OMICS_TABLE,), text_columns=("name",)
    ),
    "operating_point": TopicTables(("decision",), on_page=("decision",)),
    "studies": TopicTables(("studies", "meta"), text_columns=("row", "study", "class")),
}
ALL_TABLES = (COMMON_TABLES, PATIENT_TABLES, *TOPIC_TABLES.values())
TEXT_COLUMNS = tuple(column for tables in ALL_TABLES for column in tables.text_columns)
MAX_TABLE_ROWS = 60_000
TABLE_DIGITS = 10  # significant digits of the files

WARNING_FUNCTIONS: tuple[Callable[[Report], list[str]], ...] = (
    signature_warnings,
    error_warnings,
    batch_warnings,
    stability_warnings,
    grid_warnings,
    block_warnings,
    chance_warnings,
)


def tables_in(paths: Mapping[str, str]) -> list[str]:
    """Return the names of the files that are tables for `collect`."""
    readable = {name for tables in ALL_TABLES for name in tables.read}
    return [name for name in paths.keys() if name in readable]  # noqa: SIM118 - Snakemake's own kind


@dataclass(frozen=True, kw_only=True)
class StudyResults:
    """Results of one study from which the report is made."""

    dataset: Dataset  # the data set after the row-wise steps
    splits: Splits
    observed: Fits  # fits of all outer splits, with the observed labels
    final: Fits  # fit of all samples
    quality_summary: Mapping[str, Any]  # content of results/quality.json
    # tables of the results, by the names of their files (`ALL_TABLES`)
    tables: Mapping[str, pd.DataFrame]
    null: Mapping[str, Any]  # ``error``: (B, n_mu) nested-CV errors of the permutations; B may be 0
    run: Mapping[str, Any]  # content of results/settings.json
    # the resolved config; None if it is the config of `run`
    config: Mapping[str, Any] | None = None
    warnings: Sequence[str] = ()  # warnings of the validation
    warning_codes: Sequence[str] = ()  # their codes; warnings without a code have no entry
    external: Sequence[Mapping[str, Any]] = ()  # contents of results/external/*/about.json
    halves: Fits | None = None  # fits of the half-subsamples

    @classmethod
    def load(cls, files: Any) -> StudyResults:
        """Read the input files of the rule `report_data`; `files` are its ``snakemake.input``."""
        study = CrossValidation.load(files)
        # validation.json, quality.json, and about.json of each external cohort
        validation, quality_summary, *external = map(load_json, files.json_records)
        return cls(
            dataset=study.dataset,
            splits=study.splits,
            observed=study.fits,
            final=Fits.load(files.final),
            quality_summary=quality_summary,
            tables=load_tables(files, tables_in(files), TEXT_COLUMNS),
            null=load_arrays(files.null),
            run=load_json(files.run),
            warnings=validation["warnings"],
            warning_codes=validation["warning_codes"],
            external=external,
            halves=Fits.load(files.subsamples),
        )


def collect(results: StudyResults) -> Report:
    """Build the value of report_data.json."""
    dataset = results.dataset
    splits = results.splits
    observed = results.observed
    final = results.final
    tables = results.tables
    config = results.run["config"] if results.config is None else results.config
    facts = collect_study(dataset)
    split_summary = design(splits)
    held_out_samples = with_contributions(
        with_shrinkage(held_out_scores(dataset, tables["predictions"]), final),
        dataset,
        held_out_contributions(dataset, splits, observed, config["normalise"]["folds"]),
    )
    permuted_errors = permutation_errors(results.null, tables["controls"])
    packed = {
        name: _packed_table(name, enrichment.in_brief(tables[name]))
        for topic_tables in ALL_TABLES
        for name in topic_tables.on_page
        if name in tables
    }
    assessed_cohorts = cohorts.assessed(results.external)
    fdr = config["signature"]["fdr"]
    covariates = collect_covariates(dataset, observed, final, tables["controls"])
    gene_sets_record = sets.collect_sets(tables)
    key_results = answer(
        facts, split_summary, held_out_samples, permuted_errors, packed, assessed_cohorts, fdr
    )
    report: Report = {
        "version": VERSION,
        "config": json_value(config),
        "run": json_value(results.run),
        "study": facts,
        "design": split_summary,
        "quality": quality.quality_record(results.quality_summary, dataset),
        "mu": observed.mu.tolist(),
        "surface": error_surface(observed, final),
        "held_out": held_out_samples,
        "null": permuted_errors,
        **gene_parts(dataset, tables, config["controls"]["fdr"]),
        "cards": gene_cards(dataset, tables["signature"], observed, results.halves),
        "tables": packed,
        "external": cohorts.external(assessed_cohorts, facts["classes"]),
        "not_assessable": cohorts.not_assessable(results.external),
        "batch": batch(dataset, splits, held_out_samples, config),
        **covariates,  # type: ignore[typeddict-item]
        "nonlinear": collect_nonlinear(tables, config.get("nonlinear")),
        "sets": gene_sets_record,
        "survival": survival.collect_survival(tables),
        "studies": studies.collect_studies(tables, splits.scheme, dataset.provenance),
        "genome": genome.collect_genome(dataset, tables),
        "flow": patients.flow(dataset, results.quality_summary),
        "enrichment": enrichment.collect_enrichment(tables, config["controls"]["permutations"]),
        "answer": key_results,
        "verdict": verdict(
            key_results, covariates.get("covariates"), gene_sets_record, packed["controls"]
        ),
        "warnings": [],
    }
    report["warnings"] = _warnings(report, results)
    return report


def _warnings(report: Report, results: StudyResults) -> list[str]:
    """Return the warnings of the page, those of the first screen first."""
    # The data set has the same warnings as the validation, and maybe others.
    data_warnings = map(str, results.dataset.provenance.get("warnings", []))
    warnings = list(dict.fromkeys([*results.warnings, *data_warnings]))
    for topic_warnings in WARNING_FUNCTIONS:
        warnings += topic_warnings(report)
    warnings += solver_warnings(report, results.observed)
    warnings += cohorts.warnings(report["external"])
    return warnings + quality.quality_warnings(report, results.warning_codes)


def _packed_table(name: str, frame: pd.DataFrame) -> PackedTable:
    """Return the first rows of a table; the smallest p first, symbols of representatives added."""
    if name == "univariate":
        frame = frame.sort_values("p_value", kind="stable")
    if name == "blocks":
        symbol_of_gene = dict(zip(frame["gene"], frame["symbol"], strict=True))
        symbols = frame["prototype"].map(symbol_of_gene)
        frame = frame.copy()
        frame.insert(list(frame.columns).index("prototype") + 1, "prototype_symbol", symbols)
    first_rows = frame.head(MAX_TABLE_ROWS)
    columns = [str(column) for column in frame.columns]
    values = [_json_column(first_rows[column]) for column in columns]
    rows = [list(row) for row in zip(*values, strict=True)]
    return {"columns": columns, "rows": rows, "total": len(frame), "file": f"{name}.tsv"}


def _json_column(values: pd.Series[Any]) -> list[Any]:
    """Return the values of a column in types of JSON, numbers rounded."""
    if values.dtype.kind == "f":
        return list(rounded(values.to_numpy(), TABLE_DIGITS))
    return [json_value(value) for value in values.astype(object).where(values.notna(), None)]
