"""One method on one data set: its held-out scores, its lists, its seconds and its warnings."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from answers_data import Study
from answers_rivals import on_split
from study import final_fit, half_fits, outer_fits, settings

from genesig.data.files.readers import load_schema
from genesig.data.steps.normalise import normalise_samples
from genesig.results import Fits
from genesig.selection.assess.held_out import held_out

Lists = list[list[int]]


@dataclass
class Record:
    """What one method gave on one data set.

    Attributes
    ----------
    row, split, score : list
        Row of the data set, number of the outer split and decision score (positive: class +1)
        of every held-out sample.
    lists : list of list of int or None
        Genes of each outer split; None for a method that uses them all.
    again, fixed : list of list of int or None
        Genes of each half, complementary halves in turn: chosen anew in each half, and at the
        setting that was chosen on all samples (which only genesig tells apart).
    seconds : float
        Of the processor, for the outer splits.
    warnings : dict
        How often each warning was given.
    """

    row: list[int]
    split: list[int]
    score: list[float]
    lists: Lists | None
    again: Lists | None = None
    fixed: Lists | None = None
    seconds: float = 0.0
    warnings: dict[str, int] = field(default_factory=dict)


# What is not a key of this version's config is as in `genesig`.
VARIANTS: dict[str, dict[str, str]] = {
    "genesig": {},
    "minimal": {"list": "minimal"},
    "minimal, cut at 0": {"list": "minimal", "threshold": "zero"},
}


def asked(variant: str) -> dict[str, Any]:
    """Return the config of a variant of genesig: every default, and its own keys."""
    known = load_schema()["properties"]["linear"]["properties"]
    own = {key: value for key, value in VARIANTS[variant].items() if key in known}
    return settings({}, linear=own)


def run(method: str, study: Study) -> Record:
    """Run a method on the outer splits and, where it selects genes, on the halves."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        record = _genesig(method, study) if method in VARIANTS else _rival(method, study)
    said = [f"{each.category.__name__}: {str(each.message).splitlines()[0]}" for each in given]
    record.warnings = dict(Counter(said))
    return record


@contextmanager
def timed(record: Record) -> Iterator[None]:
    """Add the seconds of the processor."""
    began = time.process_time()
    yield
    record.seconds += time.process_time() - began


def _genesig(variant: str, study: Study) -> Record:
    config, record = asked(variant), Record([], [], [], [])
    final = final_fit(study.dataset, study.splits, config)  # compiles what the clock shall not see
    with timed(record):
        fits = outer_fits(study.dataset, study.splits, config)
    found = held_out(study.dataset, study.splits, fits.with_chosen())
    record.row, record.split = found.row.tolist(), found.split.tolist()
    record.score = found.scores[:, -1].tolist()
    record.lists = lists_of(fits)
    record.again = lists_of(outer_fits(study.dataset, study.halves, config))
    record.fixed = lists_of(half_fits(study.dataset, study.splits, final, config))
    return record


def lists_of(fits: Fits) -> Lists:
    """Return the genes of the chosen list of each fit, as numbers."""
    chosen = enumerate(fits.choice[:, 2].tolist())
    return [np.sort(fits.coef(fit, mu)[0]).tolist() for fit, mu in chosen]


def _rival(method: str, study: Study) -> Record:
    dataset = normalise_samples(study.dataset, **settings({})["normalise"])
    record, lists = Record([], [], [], None), []
    for number, split in enumerate(study.splits.outer):
        with timed(record):
            scores, genes = on_split(method, dataset, split, study.splits.seed)
        rows = dataset.rows(split.test).tolist()
        record.row += rows
        record.split += [number] * len(rows)
        record.score += scores.tolist()
        lists.append(genes)
    if lists[0] is not None:
        record.lists = lists
        halves = study.halves
        record.again = [on_split(method, dataset, half, halves.seed)[1] for half in halves.outer]
    return record
