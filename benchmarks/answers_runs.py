"""Record of one method on one data set: held-out scores, lists, seconds and warnings."""

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
from answers_rivals import RIVALS, Rival, run_on_split
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
        Row of the data set, number of the outer split and decision score (positive: class +1; of
        several classes one score each) of each held-out sample.
    lists, half_lists : list of list of int or None
        Genes that the method selects in each outer split, and in each half (complementary halves
        follow each other); None for a method that selects no genes.
    seconds : float
        Processor time of the outer splits, with half-samples of permuted labels.
    memory : float
        Peak memory of the process meanwhile, in MB, with Python, libraries and data; 0 if the
        system does not report it.
    probabilities : list or None
        genesig's probability of the class +1, or of each class, of each held-out sample, as if all
        classes were equally frequent.
    warnings : dict
        Message -> number of its warnings.
    """

    row: list[int] = field(default_factory=list)
    split: list[int] = field(default_factory=list)
    score: list[Any] = field(default_factory=list)
    lists: Lists | None = None
    half_lists: Lists | None = None
    seconds: float = 0.0
    memory: float = 0.0
    probabilities: list[Any] | None = None
    warnings: dict[str, int] = field(default_factory=dict)


class Variant(NamedTuple):
    """Settings of a variant of genesig that differ from the defaults, and one of its models.

    answer: "predictive" or "fdr_selected" model; None: the chosen list of the two stages (elastic
    net, ridge refit), which needs no half-samples.
    """

    sections: dict[str, dict[str, Any]]
    answer: str | None


def _two_stages(**linear: str) -> Variant:
    """Return the variant of the two stages with settings of the section ``linear``."""
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
    """Return the whole config of a variant of genesig."""
    return settings({}, **VARIANTS[variant].sections)


def methods_of_same_fits(method: str) -> list[str]:
    """Return the methods that have the same fits as a method, with the method, in fixed order."""
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
            records = {methods[0]: _two_stage_record(methods[0], study)}
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
    reset_peak_memory()
    began = processor_seconds()
    yield
    record.seconds += processor_seconds() - began
    record.memory = max(record.memory, peak_memory())


def processor_seconds() -> float:
    """Return the processor time, in seconds, of this process and of those it started."""
    return time.process_time() + sum(os.times()[2:4])


def reset_peak_memory() -> None:
    """Let Linux count the peak memory of this process from now on."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Return the peak memory of this process since its reset, in MB; 0 if it is unknown."""
    with suppress(OSError):
        match = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
        return int(match[1]) / 1024 if match else 0.0
    return 0.0


def _two_stage_record(variant: str, study: Study) -> Record:
    """Return the record of a variant of the two stages."""
    config = config_of_variant(variant)
    clock = Record()
    final_fit(study.dataset, study.splits, config)  # so that compilation is not timed
    with timed(clock):
        fits = outer_fits(study.dataset, study.splits, config)
    record = _record_of_fits(study, fits.with_chosen(), clock)
    record.lists = chosen_lists(fits)
    record.half_lists = chosen_lists(outer_fits(study.dataset, study.halves, config))
    return record


def _answer_records(variants: Sequence[str], study: Study) -> dict[str, Record]:
    """Return variant -> record of variants with the same fits.

    Each half has its own half-samples, as an outer split has.
    """
    config = config_of_variant(variants[0])
    clock = Record()
    dataset = normalise_samples(study.dataset, **config["normalise"])
    halves = answer_fits(dataset, study.halves, config)  # first, so that compilation is not timed
    with timed(clock):
        fits = answer_fits(dataset, replace(study.splits, subsamples=()), config)
    records = {}
    for variant in variants:
        answer = VARIANTS[variant].answer
        assert answer is not None
        model_fits = fits.answer(answer)
        records[variant] = _record_of_fits(study, model_fits, clock)
        records[variant].lists = chosen_lists(model_fits)
        records[variant].probabilities = _probabilities(study, model_fits)
        records[variant].half_lists = chosen_lists(halves.answer(answer))
    return records


def answer_fits(dataset: Dataset, splits: Splits, config: dict[str, Any]) -> Fits:
    """Return the fits of the outer splits with both models, predictive and FDR-selected."""
    keywords = {"fold_steps": config["normalise"]["folds"], **linear_keywords(config)}
    half_sample_study = study_half_samples(
        dataset, splits, permutations=config["signature"]["permutations"], **keywords
    )
    return nested_cross_validation(
        dataset, splits, half_sample_study, labels="observed", batch="1of1", **keywords
    )


def _record_of_fits(study: Study, fits: Fits, clock: Record) -> Record:
    """Return a record with the held-out scores of the last list of each fit.

    clock: record with seconds and memory.
    """
    held_out = collect_held_out(study.dataset, study.splits, fits)
    return Record(
        held_out.row.tolist(),
        held_out.split.tolist(),
        held_out.scores[:, -1].tolist(),
        seconds=clock.seconds,
        memory=clock.memory,
    )


def _probabilities(study: Study, fits: Fits) -> list[Any] | None:
    """Return `Record.probabilities` of fits; None for a response without classes."""
    table = predictions_table(study.dataset, study.splits, fits, EQUAL_SHARES)
    columns = [name for name in table if str(name).startswith("probability of ")]
    if not columns:
        return None
    probabilities = table.loc[table["mu"].isna(), columns].to_numpy(float)  # of the chosen list
    return list((probabilities[:, 0] if len(columns) == 1 else probabilities).tolist())


def chosen_lists(fits: Fits) -> Lists:
    """Return the genes of the chosen list of each fit, as ascending columns of the data set."""
    chosen_mu = enumerate(fits.choice[:, 2].tolist())
    return [np.sort(fits.coef(fit, mu)[0]).tolist() for fit, mu in chosen_mu]


def rival_record(rival: Rival, study: Study) -> Record:
    """Return the record of a rival on the outer splits and, if it selects genes, on the halves."""
    dataset = normalise_samples(study.dataset, **settings({})["normalise"])
    record = Record()
    lists = []
    for number, split in enumerate(study.splits.outer):
        with timed(record):
            scores, genes = run_on_split(rival, dataset, split, study.splits.seed)
        rows = dataset.rows(split.test).tolist()
        record.row += rows
        record.split += [number] * len(rows)
        record.score += scores.tolist()
        lists.append(genes)
    if lists[0] is not None:
        record.lists = lists
        halves = study.halves
        record.half_lists = [
            run_on_split(rival, dataset, half, halves.seed)[1] for half in halves.outer
        ]
    return record
