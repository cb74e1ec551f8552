"""The part of report_data.json about batches: whether they go with the label, what is corrected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.combat import FEWEST_IN_TRAINING
from genesig.data.study.confounding import association
from genesig.report.page.rounding import rounded
from genesig.report.page.words import counted

if TYPE_CHECKING:
    from genesig.results import Dataset, Splits

Array = np.ndarray[Any, Any]
Data = Mapping[str, Any]

FEW = 5  # batches, below which t on so few degrees of freedom makes the interval very wide


def batch(dataset: Dataset, splits: Splits, held_out: Data, config: Data) -> dict[str, Any] | None:
    """Sum the batches up; None for a study that names none.

    Parameters
    ----------
    dataset : Dataset
    splits : Splits
    held_out : dict
        As `collect_model.held_out` returns it.
    config : dict
        The resolved config.
    """
    names = dataset.batches()
    if names is None:
        return None
    y, classes = dataset.response(), dataset.design.classes
    each = [names == name for name in sorted(set(names))]
    of = dict(zip(dataset.samples, names, strict=True))
    few = [_too_few(split.train, split.test, of) for split in splits.outer]
    return {
        "column": dataset.design.batch,
        "names": sorted(set(names)),
        "sizes": [int(rows.sum()) for rows in each],
        "counts": classes and [[int((y[rows] == s).sum()) for s in (-1, 1)] for rows in each],
        "mean": None if classes else [rounded(y[rows].mean(), 4) for rows in each],
        "sd": None if classes else [rounded(y[rows].std(), 4) for rows in each],
        "association": rounded(association(y, names), 4),
        "wrong": _wrong(held_out["samples"], of, sorted(set(names))),
        "combat": "combat" in [step["step"] for step in config["normalise"]["folds"]],
        "shown": "combat" in [s["step"] for s in dataset.provenance.get("summaries", [])],
        "held_out": sum(len(split.test) for split in splits.outer),
        "too_few": sum(few),
        "splits": sum(number > 0 for number in few),
    }


def _too_few(train: Sequence[str], test: Sequence[str], of: Mapping[str, str]) -> int:
    """Count the test samples whose batch has too few training samples to be estimated."""
    trained = Counter(of[name] for name in train)
    return sum(trained[of[name]] < FEWEST_IN_TRAINING for name in test)


def _wrong(samples: Sequence[Data], of: Mapping[str, str],
           names: Sequence[str]) -> list[float | None] | None:  # fmt: skip
    """Return the share of wrong decisions on each batch's samples while they were held out."""
    if any(one["wrong"] is None for one in samples):
        return None
    shares = []
    for name in names:
        own = [one for one in samples if of[one["sample"]] == name]
        tested = sum(one["tested"] for one in own)
        shares.append(rounded(sum(one["wrong"] for one in own) / tested, 4) if tested else None)
    return shares


def warnings_of_batches(data: Data) -> list[str]:
    """Say how many held-out samples a correction could not reach, and of few batches left out."""
    it = data["batch"]
    if it is None:
        return []
    found = []
    if data["design"]["scheme"] == "leave_one_batch_out" and len(it["names"]) < FEW:
        found.append(
            f"Only {len(it['names'])} batches were left out in turn. The interval of the error is"
            " over batches, so it is wide: so few say little of a batch that is yet to come."
        )
    if not it["combat"] or not it["too_few"]:
        return found
    return [
        *found,
        f"In {counted(it['splits'], 'split')} of {data['design']['outer']} ComBat left held-out"
        f" samples as measured ({it['too_few']} of {it['held_out']} in all), because their batch"
        f" had fewer than {FEWEST_IN_TRAINING} training samples.",
    ]
