"""A model of each kind of response, and a data set of another study that it is tested on."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from format_files import tabbed
from kinds_study import study_of
from linear_settings import of_kind
from settings import MOMENTS, SPLITS

from genesig.data.splits.draw import draw_splits
from genesig.results import Dataset
from genesig.selection.linear.double_loop import fit_final
from genesig.selection.model.external import Scored, score_cohort
from genesig.selection.model.final import final_model

ITEM: dict[str, Any] = {
    "name": "other", "expression": "other.tsv", "samples": "sheet.tsv", "label": None,
    "event": None, "classes": {}, "annotation": None, "symbol": None, "part": None, "batch": None,
    "covariate_words": {}, "renamed": None,
    "combat": False, "missing": 0.1,
}  # fmt: skip


@cache
def fitted(kind: str) -> tuple[Dataset, dict[str, Any]]:
    dataset = study_of(kind, 3, n=60, d=20, signal=1.2)
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "repeats": 1})
    final = fit_final(dataset, splits, folds=MOMENTS, **of_kind(kind))
    return dataset, json.loads(json.dumps(final_model(dataset, final, folds=MOMENTS)))


def written(kind: str, n: int = 40) -> Dataset:
    """Write another data set of the kind, and return it."""
    other = study_of(kind, 11, n=n, d=20, signal=1.2)
    names = [f"x{k}" for k in range(n)]
    rows = [[g, *map(repr, map(float, x))] for g, x in zip(other.genes, other.X.T, strict=True)]
    Path("other.tsv").write_text(tabbed([["gene", *names], *rows]))
    cells = other.obs.astype(str).to_numpy().tolist()
    sheet = [["id", *other.obs.columns], *([n, *row] for n, row in zip(names, cells, strict=True))]
    Path("sheet.tsv").write_text(tabbed(sheet))
    return other


def scored(kind: str, **changes: Any) -> Scored:
    return score_cohort(*fitted(kind), {}, **{**ITEM, **changes})
