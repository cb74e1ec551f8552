"""The value of report_data.json, collected from the results of a study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.report import enrichment, genome, omics, patients, published, sets, studies, survival
from genesig.report.answer.collect import (
    collect_answer,
    collect_verdict,
    error_warnings,
    signature_warnings,
    stability_warnings,
)
from genesig.report.covariates import collect_covariates
from genesig.report.data import batch_warnings, collect_study
from genesig.report.external.collect import cohort_warnings, collect_external
from genesig.report.genes.collect import block_warnings, collect_genes
from genesig.report.nonlinear import collect_nonlinear
from genesig.report.page.record import PackedTable, TopicResults, rounded
from genesig.report.prediction.collect import (
    chance_warnings,
    collect_prediction,
    grid_warnings,
    solver_warnings,
)
from genesig.report.quality.collect import collect_quality, quality_warnings
from genesig.report.record import VERSION, Report
from genesig.results import CrossValidation, Fits, load_arrays, load_json, load_tables

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Splits


class TopicTables(NamedTuple):
    """Result tables of one topic, by the names of their files, and what collects its numbers."""

    read: tuple[str, ...]  # tables from which the topic takes its numbers
    on_page: tuple[str, ...] = ()  # those of them that are in report_data.json
    text_columns: tuple[str, ...] = ()  # columns of names, which may look like numbers
    # Returns the value of the topic's key in the report; called if the first table of `read` is
    # there. None for a topic that has tables only.
    collect: Callable[[TopicResults], Any] | None = None


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
# key of the report -> tables of a topic that a study need not have
TOPIC_TABLES = {
    "nonlinear": TopicTables(
        (
            *("nonlinear", "nonlinear_scores", "nonlinear_model", "nonlinear_predictions"),
            *("nonlinear_agreement", "nonlinear_difference", "nonlinear_curves"),
        ),
        on_page=("nonlinear",),
        collect=collect_nonlinear,
    ),
    "sets": TopicTables(
        ("sets", "sets_scores", "sets_predictions", "sets_stability", "sets_error", "sets_genes"),
        on_page=("sets", "sets_genes"),
        text_columns=("set", "about"),
        collect=sets.collect_sets,
    ),
    "survival": TopicTables(
        ("survival", "survival_curves", "survival_risk"),
        on_page=("survival",),
        text_columns=("measure", "group"),
        collect=survival.collect_survival,
    ),
    "quality": TopicTables(("modules",), on_page=("modules",)),
    "genome": TopicTables(
        ("stretches",),
        on_page=("stretches",),
        text_columns=("chromosome", "first", "last"),
        collect=genome.collect_genome,
    ),
    "enrichment": TopicTables(
        ("enrichment_ranking", "enrichment"),
        on_page=("enrichment_ranking",),
        text_columns=("list", "reference", "set", "about", "names", "leading"),
        collect=enrichment.collect_enrichment,
    ),
    "published": TopicTables(
        (published.PUBLISHED_TABLE,), on_page=(published.PUBLISHED_TABLE,), text_columns=("name",)
    ),
    "omics": TopicTables(
        (omics.OMICS_TABLE,), on_page=(omics.OMICS_TABLE,), text_columns=("name",)
    ),
    "operating_point": TopicTables(("decision",), on_page=("decision",)),
    "studies": TopicTables(
        ("studies", "meta"), text_columns=("row", "study", "class"), collect=studies.collect_studies
    ),
}
ALL_TABLES = (COMMON_TABLES, PATIENT_TABLES, *TOPIC_TABLES.values())
TEXT_COLUMNS = tuple(column for tables in ALL_TABLES for column in tables.text_columns)
MAX_TABLE_ROWS = 60_000
TABLE_DIGITS = 10  # significant digits of the files
# Significant digits of all decimals below a key of the report, by its path; None: as they are.
SIGNIFICANT_DIGITS: dict[str, int | None] = {
    "study.response": 5,
    "quality": 5,
    "quality.scale": None,
    "quality.missing": None,
    "quality.before": 4,
    "quality.after": 4,
    "quality.components": 4,
    "quality.associations": None,
    "quality.dominant_column": None,
    "surface": 4,
    "held_out": 4,
    "held_out.samples.label": None,
    "held_out.samples.probabilities": 5,
    "null": 5,
    "univariate": 4,
    "strips": 4,
    "heat": 5,
    "heat.score": 4,
    "volcano": 4,
    "cards": 4,
    "cards.genes.replacements": 3,
    "external": 4,
    "external.points.predicted": None,
    "external.missing": None,
    "external.horizon": None,
    "external.curves": 5,
    "external.shift.edges": None,
    "batch": 4,
    "covariates": 5,
    "covariates.weights.sign": 4,
    "nonlinear": 4,
    "nonlinear.difference": 5,
    "nonlinear.explained_by_none": 3,
    "nonlinear.curves.value": 5,
    "nonlinear.curves.effect": 5,
    "sets": 4,
    "sets.difference": 5,
    "sets.p": 5,
    "sets.p.smallest": None,
    "survival": 5,
    "survival.horizon": None,
    "survival.risk": 4,
    "studies": 5,
    "studies.alignments": 3,
    "genome": 4,
    "genome.chromosomes": None,
    "genome.places.position": None,
    "genome.stretches.start": None,
    "genome.stretches.end": None,
    "enrichment": 4,
    "answer.detectable": 4,
    "answer.cohorts": 4,
}
DECIMALS = {"correlation.r": 2, "heat.z": 2}  # decimals of large matrices, which figures colour

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
    # The mapping of Snakemake iterates over the values.
    return [name for name in paths.keys() if name in readable]  # noqa: SIM118


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
    null: Mapping[str, Any]  # content of null.npz, see `null_errors` of `selection.assess.controls`
    run: Mapping[str, Any]  # content of results/settings.json
    # the resolved config; None if it is the config of `run`
    config: Mapping[str, Any] | None = None
    warnings: Sequence[str] = ()  # warnings of the validation
    warning_codes: Sequence[str] = ()  # codes of those warnings that have one
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
    fold_steps = config["normalise"]["folds"]
    topic_results = TopicResults(dataset, splits, tables, config)
    prediction = collect_prediction(
        dataset, splits, observed, final, tables, results.null, fold_steps
    )
    report: Report = round_numbers(
        {
            "version": VERSION,
            "config": config,
            "run": results.run,
            **collect_study(dataset, splits, prediction["held_out"], fold_steps),
            "quality": collect_quality(results.quality_summary, dataset),
            "mu": observed.mu,
            **prediction,
            **collect_genes(dataset, tables, observed, results.halves, config["controls"]["fdr"]),
            "tables": {},  # for the order of the keys; filled below, with digits of its own
            **collect_external(results.external, dataset.design.classes),
            **collect_covariates(dataset, observed, final, tables["controls"]),
            "flow": patients.collect_flow(dataset, results.quality_summary),
            **{
                key: topic.collect(topic_results) if topic.read[0] in tables else None
                for key, topic in TOPIC_TABLES.items()
                if topic.collect
            },
        }
    )
    report["tables"] = {
        name: _packed_table(name, tables[name])
        for topic_tables in ALL_TABLES
        for name in topic_tables.on_page
        if name in tables
    }
    # These read the numbers of the report, as the page shows them.
    report["answer"] = round_numbers(collect_answer(report, results.external), "answer")
    report["verdict"] = collect_verdict(report)
    report["warnings"] = _warnings(report, results)
    return report


def round_numbers(value: Any, path: str = "", digits: int | None = None) -> Any:
    """Return a part of the report in types of JSON, rounded by `SIGNIFICANT_DIGITS` or `DECIMALS`.

    Integers stay as they are. A number that is not finite becomes None, but not in `DECIMALS`.

    path: keys of the report that lead to the part, with dots between them; elements of a list have
    the path of the list. digits: significant digits of the surrounding part.
    """
    if value is None or type(value) in (str, int, bool):  # most values, so they come first
        return value
    digits = SIGNIFICANT_DIGITS.get(path, digits)
    if isinstance(value, Mapping):
        return {
            str(key): round_numbers(inner, f"{path}.{key}".removeprefix("."), digits)
            for key, inner in value.items()
        }
    if path in DECIMALS:
        return np.round(value, DECIMALS[path]).tolist()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        if digits and all(number is None or isinstance(number, float) for number in value):
            return rounded(value, digits)
        return [round_numbers(inner, path, digits) for inner in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return rounded(value, digits) if digits else value
    return value if isinstance(value, int) else str(value)


def _warnings(report: Report, results: StudyResults) -> list[str]:
    """Return the warnings of the page, those of the first screen first."""
    # The data set has the same warnings as the validation, and maybe others.
    data_warnings = map(str, results.dataset.provenance.get("warnings", []))
    warnings = list(dict.fromkeys([*results.warnings, *data_warnings]))
    for topic_warnings in WARNING_FUNCTIONS:
        warnings += topic_warnings(report)
    warnings += solver_warnings(report, results.observed)
    warnings += cohort_warnings(report["external"])
    return warnings + quality_warnings(report, results.warning_codes)


def _packed_table(name: str, frame: pd.DataFrame) -> PackedTable:
    """Return the first rows of a table as the page shows them.

    The single-gene tests are sorted by p, the prototype of each block gets its symbol, and long
    lists of genes are cut.
    """
    frame = enrichment.shorten_gene_lists(frame)
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
    pairs = zip(values, values.isna(), strict=True)
    return [None if is_missing else round_numbers(value) for value, is_missing in pairs]
