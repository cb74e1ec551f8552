"""Everything the report shows, collected from the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from genesig.data.quality.twins import TWINS_ADVICE
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
from genesig.report.nonlinear import collect as nonlinear
from genesig.report.page.record import PackedTable, plain, rounded
from genesig.report.prediction.collect import (
    chance_warnings,
    error_surface,
    grid_warnings,
    held_out_scores,
    permutation_errors,
    solver_warnings,
    with_shrinkage,
)
from genesig.report.quality import collect as quality
from genesig.report.record import VERSION, Report

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits, Splits

# Columns of the result tables that are names, whatever they look like (for ``load_table``).
TEXT = ("gene", "symbol", "prototype", "sample", "label", "predicted", "split", "model", "source",
        "nearest", "nearest_symbol",
        *(name for topic in (sets, survival, genome, enrichment, patients, studies, published,
                        omics)
          for name in topic.TEXT))  # fmt: skip

TABLES = (
    "signature", "selection", "nested_lists", "blocks", "scores", "stability", "controls",
    "univariate", "predictions", *patients.TABLES,
)  # fmt: skip
WITH_TABLES = (nonlinear, sets, survival, quality, genome, enrichment, published, omics)
"""Topics whose tables stand on the page where a study has them."""
SUMMED_UP = ("predictions", "nested_lists")  # shown as `held_out`, in figures
MOST_ROWS = 60_000
DIGITS = 10  # as the tables have them

CHECKS: tuple[Callable[[Report], list[str]], ...] = (
    signature_warnings, error_warnings, batch_warnings, stability_warnings, grid_warnings,
    block_warnings,
)  # fmt: skip


def tables_in(given: Mapping[str, str]) -> list[str]:
    """Return the names of those files that are tables `collect` takes."""
    further = [name for topic in (*WITH_TABLES, studies) for name in topic.TABLES]
    known = {*TABLES, *further}
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
    mu, facts, division = observed.mu.tolist(), collect_study(dataset), design(splits)
    tested = with_shrinkage(held_out_scores(dataset, tables["predictions"]), final)
    chance = permutation_errors(null, tables["controls"])
    packed = {name: _packed(name, enrichment.in_brief(tables[name])) for name in _shown(tables)}
    elsewhere, fdr = cohorts.assessed(external), config["signature"]["fdr"]
    held = collect_covariates(dataset, observed, final, tables["controls"])
    of_sets = sets.collect_sets(tables)
    first = answer(facts, division, tested, chance, packed, elsewhere, fdr)
    report: Report = {
        "version": VERSION,
        "config": plain(config),
        "run": plain(run),
        "study": facts,
        "design": division,
        "quality": quality.quality_record(seen, dataset),
        "mu": mu,
        "surface": error_surface(observed, final),
        "held_out": tested,
        "null": chance,
        **gene_parts(dataset, tables, config["controls"]["fdr"]),
        "cards": gene_cards(dataset, tables["signature"], observed, halves),
        "tables": packed,
        "external": cohorts.external(elsewhere, facts["classes"]),
        "not_assessable": cohorts.not_assessable(external),
        "batch": batch(dataset, splits, tested, config),
        **held,  # type: ignore[typeddict-item]
        "nonlinear": nonlinear.nonlinear(tables, config.get("nonlinear")),
        "sets": of_sets,
        "survival": survival.collect_survival(tables),
        "studies": studies.collect_studies(tables, splits.scheme, dataset.provenance),
        "genome": genome.collect_genome(dataset, tables),
        "flow": patients.flow(dataset, seen),
        "enrichment": enrichment.collect_enrichment(tables, config["controls"]["permutations"]),
        "answer": first,
        "verdict": verdict(first, held.get("covariates"), of_sets, packed["controls"]),
        "warnings": [],
    }
    report["warnings"] = _warnings(report, dataset, observed, said)
    return report


def _warnings(report: Report, dataset: Dataset, observed: Fits, said: Sequence[str]) -> list[str]:
    """Say what a careful reader should know before using the signature."""
    # Validation repeats what reading said; the row-wise steps may have more.
    said = [
        one for one in said if TWINS_ADVICE not in one
    ]  # similar samples: quality says it shortly
    found = list(dict.fromkeys([*said, *map(str, dataset.provenance.get("warnings", []))]))
    for check in CHECKS:
        found += check(report)
    if not any("no p-value can be" in one for one in found):  # the validation counted them
        found += chance_warnings(report)
    found += solver_warnings(report, observed)
    found += cohorts.warnings(report["external"])
    return found + quality.quality_warnings(report, found)


def _shown(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    own = [name for name in TABLES if name not in SUMMED_UP]
    further = [name for topic in WITH_TABLES for name in topic.SHOWN]
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
