"""Small settings of the stages, as sections of a config."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from study_data import task_of

from genesig.data.files.readers import load_schema
from genesig.data.study.config_check import resolve_config
from genesig.data.study.settings import StudySettings
from genesig.selection.linear.training_sets import linear_keywords

# Keywords of the two-stage protocol.

BEFORE = {"list": "minimal", "threshold": "zero"}
"""The rules of Mosci 2009: the list of smallest error, scores cut at 0."""


@cache
def _read_defaults() -> dict[str, Any]:
    names = {"expression": "e.tsv", "samples": "s.tsv", "label": "l"}
    return dict(resolve_config(names, load_schema())["data"])


def study_settings(
    expression: str | Path, samples: str | Path, label: Any, **data: Any
) -> StudySettings:
    """Return the settings by which a study is read, with changes of the section ``data``."""
    names = {"expression": str(expression), "samples": str(samples), "label": label}
    return StudySettings.from_config({**names, "data": {**_read_defaults(), **data}})


def linear(**changes: Any) -> dict[str, Any]:
    """Return the defaults of the schema, with changes."""
    names = {"expression": "e.tsv", "samples": "s.tsv", "label": "l"}
    return {**linear_keywords(resolve_config(names, load_schema())), **changes}


def of_kind(kind: str) -> dict[str, Any]:
    """Return small settings for one kind of response, with the defaults of the kind."""
    names = {
        "expression": "e.tsv",
        "samples": "s.tsv",
        "label": "l",
        "data": {"task": task_of(kind)},
    }
    small = {
        "list": "minimal",
        "mu": [1e-6, 1.0],
        "lam": [1e-2, 1e-1],
        "tau_min": 0.1,
        "tau_count": 5,
    }
    return {**linear_keywords(resolve_config(names, load_schema())), **small}


# Sections of a config as the stages take them, small; a test changes what it is about.

MOMENTS = [{"step": "centre"}, {"step": "unit_variance"}]
LINEAR = linear(list="minimal", mu=[1e-6, 1.0], lam=[1e-3, 1e-1], tau_min=0.1, tau_count=5)
SPLITS: dict[str, Any] = {
    "scheme": "stratified_kfold",
    "folds": 3,
    "repeats": 1,
    "column": None,
    "file": None,
    "inner_scheme": "stratified_kfold",
    "inner_folds": 3,
    "subsamples": 0,
    "batches": 1,
}
