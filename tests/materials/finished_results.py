"""The folder of results of a finished study, in a moment: what a notebook reads of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from gathered_study import make_fits, make_study
from half_frequencies import chance_of

from genesig.results import load_table, save_arrays, save_json, save_tables, save_text
from genesig.results.splits import Chance
from genesig.selection.gather import gather
from genesig.selection.genes.export import signature_dataset

CLUSTERS = {"least": 0.5, "warn_above": 0.9, "merge_above": None}
ERRORS = [("genesig", 0.2), ("genesig", 0.15), ("ridge", 0.25), ("dummy", np.nan)]


def controls() -> pd.DataFrame:
    """Return chosen lists, one mu, and two others of which one has no error."""
    rows = [
        {"model": model, "mu": 1.0 if k == 1 else None, "error": error,
         "low": error - 0.1, "high": error + 0.1}
        for k, (model, error) in enumerate(ERRORS)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def evidence(n_genes: int, permutations: int = 19, most: int = 20) -> Chance:
    """Return half-frequencies of which three are never reached by chance."""
    rng = np.random.default_rng(5)
    null, observed = rng.integers(0, 8, (permutations, n_genes)), rng.integers(0, 8, n_genes)
    observed[[1, 4, 7]] = most
    return chance_of(observed, null, most)


def write_results(folder: Path, task: str = "classification", chance: Chance | None = None) -> Path:
    """Write the tables, the signature and the marks of a finished study; return the folder."""
    dataset, splits, observed, final = make_study(task=task)
    halves = make_fits(dataset, splits.subsamples)
    tables = gather(dataset, splits, [observed], final, halves, chance or Chance.none(),
                    frequency=0.5, fdr=0.1, clusters=CLUSTERS)  # fmt: skip
    save_tables({name: folder / f"{name}.tsv" for name in tables}, tables)
    save_tables({"controls": folder / "controls.tsv"}, {"controls": controls()})
    save_tables({"jobs": folder / "times/jobs.tsv"}, {"jobs": pd.DataFrame({"seconds": [1.0]})})
    signature = load_table(folder / "signature.tsv", ("gene", "symbol"))
    signature_dataset(dataset, signature).save(folder / "signature.h5ad")
    save_arrays(folder / "null.npz", {"error": np.linspace(0.3, 0.6, 20).reshape(10, 2)})
    classes = dataset.design.classes
    named = None if classes is None else dict(zip(("negative", "positive"), classes, strict=True))
    save_json(
        folder / "model.json",
        {"task": dataset.design.kind, "classes": named, "training": {"genes": dataset.genes}},
    )
    save_json(folder / "run.json", {"config": {"label": "label"}, "seed": 0})
    save_text(folder / "report.html", "<!doctype html><title>A & B</title>")
    return folder
