"""A study as its files, and all results, so that changes of the files can be undone in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from linear_loops import (
    fit_final_model,
    fit_half_samples,
    nested_cross_validation,
    study_half_samples,
)
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of, task_of

from genesig.data.files.readers import load_schema
from genesig.data.splits.draw import draw_permutation, draw_splits
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.results import CrossValidation, Dataset, Fits, Splits
from genesig.selection.assess.baseline_scores import run_baselines
from genesig.selection.assess.controls import null_study
from genesig.selection.gather import LinearResults, gather
from genesig.selection.genes.modules import gene_modules

# A study as its files, and all that genesig finds in it: for what must not change it.

Array = np.ndarray[Any, Any]
Tables = dict[str, pd.DataFrame]
N_SAMPLES = 40
N_GENES = 60
PERMUTATIONS = 3
BASELINES = ("dummy", "ridge", "lasso", "nearest_centroid", "linear_svm")
CLUSTERS = {"least": 0.5, "warn_above": 0.9, "merge_above": None}


@dataclass(frozen=True)
class Files:
    """What the files of a study say.

    Attributes
    ----------
    X : DataFrame, samples × genes
    samples, genes : DataFrame of str
        Their rows need not be in the order of X.
    kind : str
    data, splits : mapping
        Settings of these sections of the config, beside the usual ones.
    samples_in : {"columns", "rows"}
        How the matrix lies in its file.
    jobs : int
        How many share the splits and the permutations.
    """

    X: pd.DataFrame
    samples: pd.DataFrame
    genes: pd.DataFrame
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    splits: Mapping[str, Any] = field(default_factory=dict)
    samples_in: str = "columns"
    jobs: int = 1


@dataclass(frozen=True)
class Found:
    """What a study finds: rows of its splits and permutations, choices, tables of results."""

    rows: Array
    choices: Array
    tables: Tables


def files_of(kind: str, design: str = "plain") -> Files:
    """Return a study in no order: some genes carry the response, one is there twice."""
    study_data = study_of(kind, 5, n=N_SAMPLES, d=N_GENES, signal=1.0)
    rng = np.random.default_rng(3)
    names = [f"P{k:03d}" for k in rng.permutation(900)[:N_SAMPLES]]
    genes = [f"G{k:03d}" for k in rng.permutation(900)[:N_GENES]]
    X = study_data.X.copy()
    X[:, 40:] = X[:, :20] + 0.3 * rng.standard_normal(
        (N_SAMPLES, 20)
    )  # blocks of genes that are alike
    X[:, 39] = X[:, 0]
    samples = study_data.obs.set_axis(pd.Index(names, name="sample"))
    about = pd.DataFrame(
        {
            "symbol": [f"s{gene}" for gene in genes],
            "weight": rng.choice(["0.5", "1", "2"], N_GENES),
        },
        index=genes,
    )
    about.loc[genes[39], "weight"] = about.loc[genes[0], "weight"]
    data: dict[str, Any] = {"task": task_of(kind)}
    if kind == "survival":
        data |= {"event": "dead", "horizon": 1.0}
    if kind == "several_classes":
        data["classes"] = ["well", "ill", "worse"]
    files = Files(pd.DataFrame(X, names, genes), samples, about, kind, data)
    return DESIGNS[design](files, rng)


def _groups(files: Files, rng: np.random.Generator) -> Files:
    """Let each two samples that are next in their response be of one patient."""
    order = np.argsort(files.samples["state"], kind="stable")
    patient = np.empty(N_SAMPLES, dtype=object)
    patient[order] = [f"d{k // 2:02d}" for k in range(N_SAMPLES)]
    samples = files.samples.assign(patient=patient)
    splits = {"scheme": "stratified_group_kfold"}
    return replace(files, samples=samples, splits=splits, data={**files.data, "group": "patient"})


def _pairs(files: Files, rng: np.random.Generator) -> Files:
    """Let each pair be one of both classes, as far as there are; the others are left out."""
    state = files.samples["state"]
    ill, well = (list(state.index[state == word]) for word in ("ill", "well"))
    pair = {name: f"d{k:02d}" for patients in (ill, well) for k, name in enumerate(patients)}
    paired_samples = files.samples.assign(pair=[pair[name] for name in state.index])
    paired_samples = paired_samples.loc[
        [name in ill + well[: len(ill)] for name in paired_samples.index]
    ]
    splits = {"scheme": "stratified_group_kfold"}
    return replace(
        files, samples=paired_samples, splits=splits, data={**files.data, "pair": "pair"}
    )


def _batches(files: Files, rng: np.random.Generator) -> Files:
    samples = files.samples.assign(batch=rng.choice(["b1", "b2"], N_SAMPLES))
    return replace(files, samples=samples, data={**files.data, "batch": "batch"})


def _held(files: Files, rng: np.random.Generator) -> Files:
    """Let there be covariates, of numbers and of words, and prior weights of the genes."""
    samples = files.samples.assign(
        age=[f"{age:.1f}" for age in rng.normal(60, 10, N_SAMPLES)],
        sex=rng.choice(["f", "m"], N_SAMPLES),
    )
    extra_sections = {"covariates": ["age", "sex"], "prior_weights": "weight"}
    return replace(files, samples=samples, data={**files.data, **extra_sections})


def _weighted(files: Files, rng: np.random.Generator) -> Files:
    samples = files.samples.assign(
        share=[f"{share:.2f}" for share in rng.uniform(0.5, 2, N_SAMPLES)]
    )
    return replace(files, samples=samples, data={**files.data, "weights": "share"})


DESIGNS: dict[str, Callable[[Files, np.random.Generator], Files]] = {
    "plain": lambda files, rng: files,
    "groups": _groups,
    "pairs": _pairs,
    "batches": _batches,
    "covariates": _held,
    "weights": _weighted,
}


def read(files: Files) -> Dataset:
    """Write the files, and read them as the workflow does."""
    label = {"time": "state", "event": "end"} if files.kind == "survival" else "state"
    with TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("e.tsv", "s.tsv", "g.tsv")]
        matrix = files.X.T if files.samples_in == "columns" else files.X
        for frame, path in zip((matrix, files.samples, files.genes), paths, strict=True):
            frame.to_csv(path, sep="\t", index_label="id")
        config = {
            "expression": paths[0],
            "samples": paths[1],
            "label": label,
            "data": {"annotation": paths[2], "symbol": "symbol", **files.data},
        }
        resolved_config = resolve_config(config, load_schema())
        return read_dataset(StudySettings.from_config(resolved_config))


def divided(files: Files) -> tuple[Dataset, Splits]:
    """Read a study and draw its splits."""
    dataset = read(files)
    split_settings = {**SPLITS, "subsamples": 4, **files.splits}
    return dataset, draw_splits(dataset, seed=7, **split_settings)


def forest(files: Files) -> pd.DataFrame:
    """Return the held-out scores of a random forest, which takes long."""
    return run_baselines(*divided(files), fold_steps=MOMENTS, baselines=["random_forest"])


def found(files: Files) -> Found:
    """Run a study in this process."""
    dataset, splits = divided(files)
    linear = {"fold_steps": MOMENTS, **of_kind(dataset.design.kind)}
    linear |= {"list": "best", "mu": [1e-6, 1e-3, 1e-1], "model": "ensemble"}
    chance = study_half_samples(dataset, splits, permutations=8, **linear)
    batches = [f"{k + 1}of{files.jobs}" for k in range(files.jobs)]
    numbers = np.array_split(np.arange(1, PERMUTATIONS + 1), files.jobs)
    ranges = [f"permuted-{block[0]}-{block[-1]}" for block in numbers]

    def loop(labels: str, batch: str) -> Fits:
        return nested_cross_validation(
            dataset, splits, chance, labels=labels, batch=batch, **linear
        )

    observed = [loop("observed", batch) for batch in batches]
    null = [loop(labels, batch) for labels in ranges for batch in batches]
    final = fit_final_model(dataset, splits, chance, **linear)
    halves = fit_half_samples(dataset, splits, chance, **linear)
    results = LinearResults(
        CrossValidation.from_batches(dataset, splits, observed), final, halves, chance
    )
    tables = gather(results, cv_frequency=0.5, fdr=0.1, clusters=CLUSTERS)
    errors, null_model = null_study(CrossValidation.from_batches(dataset, splits, observed), null)
    null_errors = pd.DataFrame(errors["error"]).assign(named=errors["fdr_selected"])
    tables |= {**null_model, "null": null_errors}
    tables["baselines"] = run_baselines(dataset, splits, fold_steps=MOMENTS, baselines=BASELINES)
    tables["modules"] = gene_modules(dataset, fold_steps=MOMENTS, modules=1, seed=7)
    all_fits = [Fits.gather(observed, [split.name for split in splits.outer]), final, halves]
    choices = np.concatenate(
        [np.column_stack([record.choice, record.answers.controlled]) for record in all_fits]
    )
    return Found(_drawn(dataset, splits), choices, tables)


def _drawn(dataset: Dataset, splits: Splits) -> Array:
    """Return the rows of all parts of all splits, and those of the permutations."""
    all_splits = (*splits.outer, splits.final, *splits.subsamples)
    sides = [side for split in all_splits for side in (split.train, split.test, *split.inner)]
    pi = [draw_permutation(dataset, splits, number) for number in range(1, PERMUTATIONS + 1)]
    return np.concatenate([*map(dataset.rows, sides), *pi])


# Tables of a changed study, told as those of the study as it was.

GENE_TABLES = ("gene", "prototype", "nearest")
CLASS_COLUMNS = ("label", "predicted", "predicted_class", "class")
OF_CLASS = ("weight ", "score of ", "probability of ")
SCORES_OF_BLOCKS = ("blocks", "prototypes")


def renamed(tables: Tables, columns: tuple[str, ...], old: Mapping[str, str]) -> Tables:
    """Put the old words in the cells of some columns."""

    def told(cells: pd.Series) -> pd.Series:
        return cells.map(lambda cell: old.get(cell, cell))

    return {
        name: table.assign(**{c: told(table[c]) for c in columns if c in table})
        for name, table in tables.items()
    }


def by_gene(tables: Tables) -> Tables:
    """Put tables that are in the order of the genes in that of their old names."""
    keys = {"univariate": ["gene"], "null_cv_frequency": ["mu", "gene"]}
    sort = {name: tables[name].sort_values(key, ignore_index=True) for name, key in keys.items()}
    return tables | sort


def genes_times(tables: Tables, factor: Mapping[str, float]) -> Tables:
    """Multiply weights by the factor of their gene, and what has its sign by that."""
    sign = {gene: float(np.sign(scale)) for gene, scale in factor.items()}
    several = "class" in tables["signature"]
    return {
        name: _of_genes(table, factor, sign, several) if "gene" in table else table
        for name, table in tables.items()
    }


def _of_genes(
    table: pd.DataFrame, factor: Mapping[str, float], sign: Mapping[str, float], several: bool
) -> pd.DataFrame:
    """Weights of several classes are lengths, but those of each class; F has no sign."""
    gene_factor = table["gene"].map(factor)
    side = table["gene"].map(sign)
    lengths = gene_factor.abs() if several else gene_factor
    change = {c: table[c] * lengths for c in ("weight", "mean_weight") if c in table}
    of_class = [c for c in table if c.startswith("weight ")]
    change |= {c: table[c] * gene_factor for c in of_class}
    for column, of in {"r": "prototype", "nearest_r": "nearest"}.items():
        if column in table:
            change[column] = table[column] * side * table[of].map(sign).fillna(1)
    if "statistic" in table and not several:
        change["statistic"] = table["statistic"] * side
    if "loading" in table:  # the largest of a module is positive
        change["loading"] = table["loading"] * side * side[0]
    table = table.assign(**change)
    if of_class:
        largest = table[of_class].idxmax(axis=1).str.removeprefix("weight ")
        table = table.assign(**{"class": largest})
    return table


def response_times(tables: Tables, factor: float) -> Tables:
    """Multiply what goes with the response by a factor, and its sizes by that of the factor."""
    out = {}
    for name, table in tables.items():
        sizes = ("size", *(("score",) if name in SCORES_OF_BLOCKS else ()))
        change = {c: table[c] * abs(factor) for c in sizes if c in table}
        signed = [c for c in ("weight", "mean_weight", "score") if c in table and c not in sizes]
        change |= {c: table[c] * factor for c in signed}
        if "statistic" in table:
            change["statistic"] = table["statistic"] * np.sign(factor)
        if "squared_error" in table:
            change["squared_error"] = table["squared_error"] * factor**2
        if "predicted" in table and pd.api.types.is_float_dtype(table["predicted"]):
            change["predicted"] = table["predicted"] * factor
        out[name] = table.assign(**change)
    return out


def _one_of_two(table: pd.DataFrame, expected: pd.DataFrame) -> pd.DataFrame:
    """Of two classes a table has the probability of one: that of the other is the rest."""
    own_columns, expected_columns = (
        [c for c in frame if str(c).startswith(OF_CLASS[-1])] for frame in (table, expected)
    )
    if len(own_columns) != 1 or own_columns == expected_columns:
        return table
    return table.assign(**{expected_columns[0]: 1 - table[own_columns[0]]})


def classes_called(tables: Tables, old: Mapping[str, str], columns_of: Tables) -> Tables:
    """Put the old names of classes in cells and columns; tables list classes by name."""
    new = {f"{prefix}{a}": f"{prefix}{b}" for a, b in old.items() for prefix in OF_CLASS}
    out = {
        name: _one_of_two(table.rename(columns=new), columns_of[name])[columns_of[name].columns]
        for name, table in renamed(tables, CLASS_COLUMNS, old).items()
    }
    by = ["mu", "predicted_class"]
    return out | {"rejection": out["rejection"].sort_values(by, ignore_index=True)}
