"""Run a whole study in this process, from its files to the values of its report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from linear_loops import (
    fit_final_model,
    fit_half_samples,
    nested_cross_validation,
    study_half_samples,
)

from genesig.data.files.readers import load_schema
from genesig.data.quality.overview import describe_quality
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.gene_filters import set_columns_of
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import CohortSettings, StudySettings
from genesig.report.collect import StudyResults, collect
from genesig.report.record import Report
from genesig.results import CrossValidation, Dataset, Fits, Splits
from genesig.results.run import run_record
from genesig.selection.assess.baseline_scores import run_baselines
from genesig.selection.assess.controls import controls_table, null_study
from genesig.selection.assess.patients_tables import patient_tables
from genesig.selection.enrichment import enrichment
from genesig.selection.gather import LinearResults, gather
from genesig.selection.linear.training_sets import linear_keywords
from genesig.selection.model.external import score_cohort
from genesig.selection.model.final import final_model

SMALL: dict[str, dict[str, Any]] = {
    "splits": {"repeats": 2, "subsamples": 4},
    "linear": {"mu": [1e-6, 1e-2], "lam": [1e-2, 1e-1], "tau_min": 0.1, "tau_count": 6},
    "signature": {"permutations": 40},
    "controls": {"permutations": 19, "baselines": ["dummy", "ridge"]},
}
"""Every rule as by default; fewer values of the grids, permutations and repeats."""


@dataclass(frozen=True)
class Tables:
    """The files of a study, and the sections of its config beside the small settings.

    Attributes
    ----------
    X : DataFrame, samples × genes
    samples : DataFrame of str
    label : str or mapping
    sections : mapping of str to mapping
        What the config sets of each section.
    sets : mapping of str to list of str
        Gene sets for the enrichment; none are held against it where it is empty.
    cohort : (DataFrame, DataFrame), optional
        Expression and samples of another study, for which the final model is tested on them.
    """

    X: pd.DataFrame
    samples: pd.DataFrame
    label: Any = "state"
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sets: Mapping[str, list[str]] = field(default_factory=dict)
    cohort: tuple[pd.DataFrame, pd.DataFrame] | None = None


@dataclass(frozen=True)
class Whole:
    """What a study made: its data, splits, fits and tables, and the value of its report."""

    dataset: Dataset
    splits: Splits
    observed: Fits
    tables: dict[str, pd.DataFrame]
    report: Report


def run(files: Tables, seed: int = 0) -> Whole:
    """Run a study as the workflow does, one stage after the other."""
    with TemporaryDirectory() as folder:
        config = _written(files, Path(folder), seed)
        settings = StudySettings.from_config(config)
        raw = read_dataset(settings, set_columns_of(config["normalise"]["folds"]))
        dataset = normalise_samples(raw, **config["normalise"])
        return _run(raw, dataset, config, str(Path(folder) / "sets.gmt") if files.sets else "")


def _written(files: Tables, folder: Path, seed: int) -> dict[str, Any]:
    """Write the files of a study; return its resolved config."""
    names = _saved(folder, "study", files.X, files.samples)
    cohort_files = {} if files.cohort is None else _saved(folder, "other", *files.cohort)
    external = [{"name": "other", **cohort_files}] if cohort_files else []
    lines = ["\t".join([name, "", *genes]) for name, genes in files.sets.items()]
    (folder / "sets.gmt").write_text("".join(f"{line}\n" for line in lines))
    section_names = {**SMALL, **files.sections}
    sections = {key: {**SMALL.get(key, {}), **files.sections.get(key, {})} for key in section_names}
    raw = {**names, "label": files.label, "seed": seed, "external": external, **sections}
    return resolve_config(raw, load_schema())


def _saved(folder: Path, name: str, X: pd.DataFrame, samples: pd.DataFrame) -> dict[str, str]:
    matrix = folder / f"{name}.tsv"
    sheet = folder / f"{name}_samples.tsv"
    X.T.to_csv(matrix, sep="\t", index_label="gene")
    samples.to_csv(sheet, sep="\t", index_label="sample")
    return {"expression": str(matrix), "samples": str(sheet)}


def _elsewhere(dataset: Dataset, final: Fits, tables: Any, config: Any) -> list[Any]:
    """Test the final model on the samples of the other study."""
    folds = config["normalise"]["folds"]
    fitted_model = final_model(dataset, final, fold_steps=folds, selection=tables["selection"])
    model = json.loads(json.dumps(fitted_model))
    return [
        score_cohort(dataset, model, {}, CohortSettings(**item)).about
        for item in config["external"]
    ]


def _run(raw: Dataset, dataset: Dataset, config: dict[str, Any], sets: str) -> Whole:
    folds = config["normalise"]["folds"]
    signature = config["signature"]
    splits = draw_splits(dataset, seed=config["seed"], **config["splits"])
    linear = {"fold_steps": folds, **linear_keywords(config)}
    chance = study_half_samples(dataset, splits, permutations=signature["permutations"], **linear)

    def loop(labels: str) -> list[Fits]:
        return [
            nested_cross_validation(dataset, splits, chance, labels=labels, batch="1of1", **linear)
        ]

    observed = loop("observed")
    permuted = loop(f"permuted-1-{config['controls']['permutations']}")
    final = fit_final_model(dataset, splits, chance, **linear)
    halves = fit_half_samples(dataset, splits, **linear)
    cross_validation = CrossValidation.from_batches(dataset, splits, observed)
    tables = gather(
        LinearResults(cross_validation, final, halves, chance),
        cv_frequency=signature["cv_frequency"],
        fdr=signature["fdr"],
        clusters=config["clusters"],
    )
    null, null_model = null_study(cross_validation, permuted)
    baselines = config["controls"]["baselines"]
    baseline_fits = run_baselines(dataset, splits, fold_steps=folds, baselines=baselines)
    tables |= null_model
    tables["controls"] = controls_table(cross_validation, null, [baseline_fits])
    tables |= patient_tables(dataset, splits, tables["predictions"])
    if sets:
        sizes = {"sets": sets, "smallest": 5, "largest": 500}
        tables |= enrichment(dataset, splits, tables, observed, permuted, **sizes)
    report = collect(
        StudyResults(
            dataset=dataset,
            splits=splits,
            observed=observed[0],
            final=final,
            quality_summary=describe_quality(raw, dataset, fold_steps=folds),
            tables=tables,
            null=null,
            run=run_record(dataset, config),
            halves=halves,
            external=_elsewhere(dataset, final, tables, config),
        )
    )
    return Whole(dataset, splits, observed[0], tables, report)
