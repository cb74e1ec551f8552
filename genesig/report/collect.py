"""Everything the report shows, collected from the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from genesig.report.answer.collect import (
    answer,
    error_warnings,
    signature_warnings,
    stability_warnings,
    verdict,
)
from genesig.report.covariates.collect import covariates
from genesig.report.data.collect import batch, batch_warnings, design, study
from genesig.report.enrichment.collect import TABLES as ENRICHMENT_TABLES
from genesig.report.enrichment.collect import TEXT as ENRICHMENT_TEXT
from genesig.report.enrichment.collect import enrichment, in_brief
from genesig.report.external.collect import assessed, not_assessable
from genesig.report.external.collect import external as cohorts
from genesig.report.external.collect import warnings as external_warnings
from genesig.report.genes.collect import block_warnings, genes
from genesig.report.genes.collect_cards import cards
from genesig.report.genes.collect_lists import lists
from genesig.report.genome.collect import TABLES as GENOME_TABLES
from genesig.report.genome.collect import TEXT as GENOME_TEXT
from genesig.report.genome.collect import genome
from genesig.report.nonlinear.collect import SHOWN as NONLINEAR_SHOWN
from genesig.report.nonlinear.collect import TABLES as NONLINEAR_TABLES
from genesig.report.nonlinear.collect import nonlinear
from genesig.report.page.record import PackedTable
from genesig.report.page.rounding import plain, rounded
from genesig.report.patients.collect import TABLES as PATIENTS_TABLES
from genesig.report.patients.collect import TEXT as PATIENTS_TEXT
from genesig.report.patients.collect import flow
from genesig.report.prediction.collect import (
    chance_warnings,
    grid_warnings,
    held_out,
    null_errors,
    solver_warnings,
    surface,
)
from genesig.report.quality.collect import TABLES as QUALITY_TABLES
from genesig.report.quality.collect import quality, quality_warnings
from genesig.report.record import VERSION, Report
from genesig.report.sets.collect import SHOWN as SETS_SHOWN
from genesig.report.sets.collect import TABLES as SETS_TABLES
from genesig.report.sets.collect import TEXT as SETS_TEXT
from genesig.report.sets.collect import sets
from genesig.report.studies.collect import TABLES as STUDIES_TABLES
from genesig.report.studies.collect import TEXT as STUDIES_TEXT
from genesig.report.studies.collect import studies
from genesig.report.survival.collect import SHOWN as SURVIVAL_SHOWN
from genesig.report.survival.collect import TABLES as SURVIVAL_TABLES
from genesig.report.survival.collect import TEXT as SURVIVAL_TEXT
from genesig.report.survival.collect import survival

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits, Splits

# Columns of the result tables that are names, whatever they look like (for ``load_table``).
TEXT = ("gene", "symbol", "prototype", "sample", "label", "predicted", "split", "model", "source",
        "nearest", "nearest_symbol", "name", *SETS_TEXT, *SURVIVAL_TEXT, *GENOME_TEXT,
        *ENRICHMENT_TEXT, *PATIENTS_TEXT, *STUDIES_TEXT)  # fmt: skip

TABLES = (
    "signature", "evidence", "nested_lists", "blocks", "scores", "stability", "controls",
    "univariate", "lists", "prototypes", "predictions", *PATIENTS_TABLES,
)  # fmt: skip
WHERE_ASKED_FOR = ("published",)
SUMMED_UP = ("predictions",)  # shown as `held_out`
MOST_ROWS = 60_000
DIGITS = 10  # as the tables have them

CHECKS: tuple[Callable[[Report], list[str]], ...] = (
    signature_warnings, error_warnings, batch_warnings, stability_warnings, grid_warnings,
    block_warnings,
)  # fmt: skip


def tables_in(given: Mapping[str, str]) -> list[str]:
    """Return the names of those files that are tables `collect` takes."""
    known = {*TABLES, *NONLINEAR_TABLES, *SETS_TABLES, *SURVIVAL_TABLES, *QUALITY_TABLES,
             *GENOME_TABLES, *ENRICHMENT_TABLES, *STUDIES_TABLES, *WHERE_ASKED_FOR}  # fmt: skip
    return [name for name in given.keys() if name in known]  # noqa: SIM118 - Snakemake's own kind


def collect(
    dataset: Dataset,
    splits: Splits,
    observed: Fits,
    final: Fits,
    seen: Mapping[str, Any],
    *,
    tables: Mapping[str, pd.DataFrame],
    null: Mapping[str, Any],
    run: Mapping[str, Any],
    config: Mapping[str, Any] | None = None,
    said: Sequence[str] = (),
    external: Sequence[Mapping[str, Any]] = (),
    halves: Fits | None = None,
) -> Report:
    """Build the value of report_data.json.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    observed, final : Fits
        All outer splits with the observed labels; the fit on all samples.
    seen : mapping
        What the samples look like (results/quality.json).
    tables : mapping of str to DataFrame
        The result tables, by the names of their files (`TABLES`).
    null : mapping
        ``error``: (B, n_mu) double-CV errors of the permutations; B may be 0.
    run : mapping
        The content of run.json.
    config : mapping, optional
        The resolved config, where it is not that of `run`.
    said : list of str
        Warnings of the validation.
    external : list of mapping
        What was found in each data set of another study (results/external/*/about.json).
    halves : Fits, optional
        The fits of the half-subsamples.
    """
    config = run["config"] if config is None else config
    mu, facts, division = observed.mu.tolist(), study(dataset), design(splits)
    tested, chance = held_out(dataset, tables["predictions"]), null_errors(null, tables["controls"])
    packed = {name: _packed(name, in_brief(tables[name])) for name in _shown(tables)}
    elsewhere = assessed(external)
    held, of_sets = covariates(dataset, observed, final, tables["controls"]), sets(tables)
    fdr = config["signature"]["fdr"]
    first = answer(facts, division, tested, chance, packed, elsewhere, fdr)
    report: Report = {
        "version": VERSION,
        "config": plain(config),
        "run": plain(run),
        "study": facts,
        "design": division,
        "quality": quality(seen, dataset),
        "mu": mu,
        "surface": surface(observed, final),
        "held_out": tested,
        "null": chance,
        "lists": lists(tables["nested_lists"], mu),
        **genes(dataset, tables, mu, config["controls"]["fdr"]),
        "cards": cards(dataset, tables, mu, observed, halves),
        "tables": packed,
        "external": cohorts(elsewhere, facts["classes"]),
        "not_assessable": not_assessable(external),
        "batch": batch(dataset, splits, tested, config),
        **held,  # type: ignore[typeddict-item]
        "nonlinear": nonlinear(tables, config.get("nonlinear")),
        "sets": of_sets,
        "survival": survival(tables),
        "studies": studies(tables, splits.scheme),
        "genome": genome(dataset, tables),
        "flow": flow(dataset, seen),
        "enrichment": enrichment(tables, config["controls"]["permutations"]),
        "answer": first,
        "verdict": verdict(first, held.get("covariates"), of_sets, packed["controls"]),
        "warnings": [],
    }
    report["warnings"] = _warnings(report, dataset, observed, said)
    return report


def _warnings(report: Report, dataset: Dataset, observed: Fits, said: Sequence[str]) -> list[str]:
    """Say what a careful reader should know before using the signature."""
    # Validation repeats what reading said; the row-wise steps may have more.
    found = list(dict.fromkeys([*said, *map(str, dataset.provenance.get("warnings", []))]))
    for check in CHECKS:
        found += check(report)
    if not any("no p-value can be" in one for one in found):  # the validation counted them
        found += chance_warnings(report)
    found += solver_warnings(report, observed)
    found += external_warnings(report["external"])
    return found + quality_warnings(report, found)


def _shown(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    own = [name for name in TABLES if name not in SUMMED_UP]
    further = (*NONLINEAR_SHOWN, *SETS_SHOWN, *SURVIVAL_SHOWN, *QUALITY_TABLES, *GENOME_TABLES,
               *ENRICHMENT_TABLES, *WHERE_ASKED_FOR)  # fmt: skip
    return own + [name for name in further if name in tables]


def _packed(name: str, frame: pd.DataFrame) -> PackedTable:
    if name == "univariate":  # in the order of the names, of which a head says nothing
        frame = frame.sort_values("p_value", kind="stable")
    if name == "blocks":
        symbol = dict(zip(frame["gene"], frame["symbol"], strict=True))
        named = frame["prototype"].map(symbol)
        frame = frame.copy()
        frame.insert(list(frame.columns).index("prototype") + 1, "prototype_symbol", named)
    shown = frame.head(MOST_ROWS)
    columns = [str(column) for column in frame.columns]
    rows = [list(row) for row in zip(*(_column(shown[c]) for c in columns), strict=True)]
    return {"columns": columns, "rows": rows, "total": len(frame), "file": f"{name}.tsv"}


def _column(values: pd.Series[Any]) -> list[Any]:
    if values.dtype.kind == "f":
        return list(rounded(values.to_numpy(), DIGITS))
    return [plain(value) for value in values.astype(object).where(values.notna(), None)]
