"""One method on one data set: its held-out scores, its lists, its seconds and its warnings."""

from __future__ import annotations

import os
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from answers_data import Study
from answers_rivals import RIVALS, Rival, on_split
from linear_loops import nested_cross_validation, study_half_samples
from study import final_fit, outer_fits, settings

from genesig.data.steps.normalise import normalise_samples
from genesig.results import Dataset, Fits, Splits
from genesig.selection.assess.held_out import EQUAL_SHARES, collect_held_out, predictions_table
from genesig.selection.linear.training_sets import linear_keywords

Lists = list[list[int]]


@dataclass
class Record:
    """Results of one method on one data set.

    Attributes
    ----------
    row, split, score : list
        Row of the data set, number of the outer split and decision score (positive: class +1)
        of every held-out sample.
    lists : list of list of int or None
        Genes of each outer split; None for a method that uses them all.
    again : list of list of int or None
        Genes of each half, chosen again in each; two complementary halves follow each other.
    seconds : float
        Processor time for the outer splits, the half-samples of permuted labels included.
    memory : float
        Peak memory of the process meanwhile, in MB, with Python, libraries and data; 0 if the
        system does not report it.
    told : list or None
        genesig's probability of the class +1, or of each class, for each held-out sample, as if all
        classes were equally frequent.
    warnings : dict
        How often each warning was given.
    """

    row: list[int]
    split: list[int]
    score: list[Any]
    lists: Lists | None
    again: Lists | None = None
    seconds: float = 0.0
    memory: float = 0.0
    told: list[Any] | None = None
    warnings: dict[str, int] = field(default_factory=dict)


class Variant(NamedTuple):
    """Keys of the config that are not the default, and which of a study's two models is run.

    answer: "predictive" or "fdr_selected"; None is the chosen list of the elastic net and its ridge
    refit (two stages), which needs no half-samples.
    """

    sections: dict[str, dict[str, Any]]
    answer: str | None


def _two_stages(**linear: str) -> Variant:
    """Return the variant of the two stages with further settings of the section ``linear``."""
    linear_settings = {"model": "two_stage", **linear}
    return Variant({"linear": linear_settings, "signature": {"permutations": 0}}, None)


VARIANTS = {
    "genesig": Variant({}, "predictive"),
    "FDR-selected genes": Variant({}, "fdr_selected"),
    "ensemble": Variant({"linear": {"model": "ensemble"}}, "predictive"),
    "best": Variant({"linear": {"list": "best"}}, "predictive"),
    "FDR-selected genes, q .2": Variant({"signature": {"fdr": 0.2}}, "fdr_selected"),
    "FDR-selected genes, 20": Variant({"signature": {"size": 20}}, "fdr_selected"),
    "FDR-selected genes, 50": Variant({"signature": {"size": 50}}, "fdr_selected"),
    "FDR-selected genes, 100": Variant({"signature": {"size": 100}}, "fdr_selected"),
    "stable": _two_stages(list="stable"),
    "minimal": _two_stages(list="minimal"),
    "minimal, cut at 0": _two_stages(list="minimal", threshold="zero"),
}


def config_of_variant(variant: str) -> dict[str, Any]:
    """Return the config of a variant of genesig: every default, and its own keys."""
    return settings({}, **VARIANTS[variant].sections)


def methods_of_same_fits(method: str) -> list[str]:
    """Return the methods that have the same fits as a method, itself included."""
    if method not in VARIANTS:
        return [method]
    return [
        variant_name
        for variant_name in VARIANTS
        if config_of_variant(variant_name) == config_of_variant(method)
    ]


def run_method(method: str, study: Study) -> Record:
    """Return the record of a method on the outer splits and, if it selects genes, on the halves."""
    return run_together([method], study)[method]


def run_together(methods: Sequence[str], study: Study) -> dict[str, Record]:
    """Return method -> record of methods that have the same fits (`methods_of_same_fits`)."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        if methods[0] not in VARIANTS:
            records = {methods[0]: rival_record(RIVALS[methods[0]], study)}
        elif VARIANTS[methods[0]].answer is None:
            records = {methods[0]: _chosen_record(methods[0], study)}
        else:
            records = _answer_records(methods, study)
    messages = [
        f"{raised_warning.category.__name__}: {str(raised_warning.message).splitlines()[0]}"
        for raised_warning in raised
    ]
    for record in records.values():
        record.warnings = dict(Counter(messages))
    return records


@contextmanager
def timed(record: Record) -> Iterator[None]:
    """Add the processor time of the block, R's included, to a record, and note the peak memory."""
    forget_peak()
    began = processor_seconds()
    yield
    record.seconds += processor_seconds() - began
    record.memory = max(record.memory, peak())


def processor_seconds() -> float:
    """Return the processor time, in seconds, of this process and of those it started."""
    return time.process_time() + sum(os.times()[2:4])


def forget_peak() -> None:
    """Let Linux count the peak memory of this process from now on."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """Return the peak memory of this process since `forget_peak`, in MB; 0 if it is unknown."""
    with suppress(OSError):
        match = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
        return int(match[1]) / 1024 if match else 0.0
    return 0.0


def _chosen_record(variant: str, study: Study) -> Record:
    """Return the record of a list of the two stages."""
    config = config_of_variant(variant)
    clock = _empty_record()
    final_fit(study.dataset, study.splits, config)  # so that compilation is not timed
    with timed(clock):
        fits = outer_fits(study.dataset, study.splits, config)
    record = _record_of_fits(study, fits.with_chosen(), clock)
    record.lists = lists_of(fits)
    record.again = lists_of(outer_fits(study.dataset, study.halves, config))
    return record


def _answer_records(variants: Sequence[str], study: Study) -> dict[str, Record]:
    """Return variant -> record; each half has half-samples of its own, as an outer split has."""
    config = config_of_variant(variants[0])
    clock = _empty_record()
    dataset = normalise_samples(study.dataset, **config["normalise"])
    halves = answer_record(dataset, study.halves, config)  # first, so that compilation is not timed
    with timed(clock):
        fits = answer_record(dataset, replace(study.splits, subsamples=()), config)
    records = {}
    for variant in variants:
        answer = VARIANTS[variant].answer
        assert answer is not None
        answer_fits = fits.answer(answer)
        records[variant] = _record_of_fits(study, answer_fits, clock)
        records[variant].lists = lists_of(answer_fits)
        records[variant].told = _probabilities(study, answer_fits)
        records[variant].again = lists_of(halves.answer(answer))
    return records


def answer_record(dataset: Dataset, splits: Splits, config: dict[str, Any]) -> Fits:
    """Return the fits of the outer splits with both models, predictive and FDR-selected."""
    steps = config["normalise"]["folds"]
    linear = linear_keywords(config)
    count = config["signature"]["permutations"]
    chance = study_half_samples(dataset, splits, permutations=count, fold_steps=steps, **linear)
    return nested_cross_validation(
        dataset, splits, chance, labels="observed", batch="1of1", fold_steps=steps, **linear
    )


def _empty_record() -> Record:
    return Record([], [], [], None)


def _record_of_fits(study: Study, fits: Fits, clock: Record) -> Record:
    """Return the record of the held-out samples by the last list of each fit.

    clock: record with the seconds and the memory.
    """
    held_out_scores = collect_held_out(study.dataset, study.splits, fits)
    return Record(
        held_out_scores.row.tolist(),
        held_out_scores.split.tolist(),
        held_out_scores.scores[:, -1].tolist(),
        None,
        seconds=clock.seconds,
        memory=clock.memory,
    )


def _probabilities(study: Study, fits: Fits) -> list[Any] | None:
    """Return `Record.told` of fits; None for a response without probabilities."""
    table = predictions_table(study.dataset, study.splits, fits, EQUAL_SHARES)
    columns = [name for name in table if str(name).startswith("probability of ")]
    if not columns:
        return None
    probabilities = table.loc[table["mu"].isna(), columns].to_numpy(float)
    return list((probabilities[:, 0] if len(columns) == 1 else probabilities).tolist())


def lists_of(fits: Fits) -> Lists:
    """Return the genes of the chosen list of each fit, as ascending columns of the data set."""
    chosen = enumerate(fits.choice[:, 2].tolist())
    return [np.sort(fits.coef(fit, mu)[0]).tolist() for fit, mu in chosen]


def rival_record(rival: Rival, study: Study) -> Record:
    """Return the record of a rival on the outer splits and, if it selects genes, on the halves."""
    dataset = normalise_samples(study.dataset, **settings({})["normalise"])
    record = _empty_record()
    lists = []
    for number, split in enumerate(study.splits.outer):
        with timed(record):
            scores, genes = on_split(rival, dataset, split, study.splits.seed)
        rows = dataset.rows(split.test).tolist()
        record.row += rows
        record.split += [number] * len(rows)
        record.score += scores.tolist()
        lists.append(genes)
    if lists[0] is not None:
        record.lists = lists
        halves = study.halves
        record.again = [on_split(rival, dataset, half, halves.seed)[1] for half in halves.outer]
    return record
