"""The arguments of `collect` for a small study of any kind of response, through the real stages."""

from __future__ import annotations

from typing import Any

import numpy as np
from kept import kept
from kinds_study import study_of
from linear_settings import of_kind
from report_tables import CLUSTERS
from settings import MOMENTS, SPLITS

from genesig.data.files.readers import load_schema
from genesig.data.quality.overview import quality
from genesig.data.splits.draw import draw_splits
from genesig.data.study.config_check import resolve_config
from genesig.selection.assess.controls import controls_table, frequency_curves
from genesig.selection.assess.patients.tables import patient_tables
from genesig.selection.gather import gather
from genesig.selection.linear.double_loop import double_loop, fit_final, fit_subsamples
from genesig.selection.linear.halves import chance_study
from genesig.selection.survival import survival_tables


@kept
def kind_arguments(kind: str, *, permutations: int = 19, proved: bool = False) -> dict[str, Any]:
    """Return the keyword arguments of `collect`; errors of permutations are drawn.

    Genes are named where `proved`, else they are core.
    """
    dataset = study_of(kind, 3, n=48, d=30, signal=1.2)
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "repeats": 2, "subsamples": 4})
    how = {"folds": MOMENTS, **of_kind(kind)}
    asked = 19 if proved else 0
    found = chance_study(dataset, splits, permutations=asked, **how)
    observed = double_loop(dataset, splits, found, labels="observed", batch="1of1", **how)
    final = fit_final(dataset, splits, found, **how)
    halves = fit_subsamples(dataset, splits, found, **how)
    tables = gather(dataset, splits, [observed], final, halves, found, frequency=0.75,
                    fdr=0.1, clusters=CLUSTERS)  # fmt: skip
    fits = observed.with_chosen()
    null = {"error": np.random.default_rng(5).normal(0.5, 0.05, (permutations, len(fits.mu)))}
    tables["controls"] = controls_table(dataset, splits, [observed], null, [])
    tables["frequency_curve"] = frequency_curves(dataset, fits, fits.take(np.arange(0)))
    tables |= patient_tables(dataset, splits, tables["predictions"])
    if kind == "survival":
        tables |= survival_tables(dataset, splits, [observed], folds=MOMENTS)
    names = {"expression": "e.tsv", "samples": "s.tsv", "label": dataset.design.label,
             "data": {"task": dataset.design.task}, "nonlinear": {"enabled": False},
             "normalise": {"folds": MOMENTS}, "signature": {"permutations": asked}}  # fmt: skip
    config = resolve_config(names, load_schema())
    return {
        "dataset": dataset, "splits": splits, "observed": observed, "final": final,
        "seen": quality(dataset, dataset, folds=MOMENTS), "tables": tables, "halves": halves,
        "null": null, "config": config,
        "run": {"version": 1, "seed": 0, "config": config, "inputs": {}, "versions": {}},
    }  # fmt: skip
