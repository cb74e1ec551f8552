"""The part of report_data.json about samples, splits and batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.combat import FEWEST_IN_TRAINING
from genesig.data.study.confounding import strongest
from genesig.report.data.record import Data
from genesig.report.page.record import (
    Batch,
    Division,
    Dropped,
    HeldOut,
    HeldOutSample,
    StudyFacts,
)
from genesig.report.page.rounding import plain, rounded
from genesig.report.page.sides import codes
from genesig.report.page.thinning import MOST_SAMPLES, spread
from genesig.report.page.words import counted

if TYPE_CHECKING:
    from genesig.results import Dataset, Splits

MOST_NAMES = 30
FEW = 5  # batches, below which t on so few degrees of freedom makes the interval very wide


def study(dataset: Dataset) -> StudyFacts:
    """Say what was studied and what was left out, with its reason."""
    design, notes = dataset.design, dataset.provenance
    y, kept = dataset.plain(), spread(len(dataset.samples), MOST_SAMPLES)
    counts = (
        None if design.classes is None else [int((y == s).sum()) for s in codes(design.classes)]
    )
    return {
        "label": design.label,
        "task": design.kind,
        "classes": plain(design.classes),
        "counts": counts,
        "group": design.group,
        "pair": design.pair,
        "groups": None if design.group is None else len(set(dataset.groups())),  # type: ignore[arg-type]
        "exchanged": _exchanged(dataset),
        "samples": len(dataset.samples),
        "genes": len(dataset.genes),
        "missing": int(np.isnan(dataset.X).sum()),
        "inputs": plain(notes.get("inputs", {})),
        "steps": plain(notes.get("steps", [])),
        "dropped": _dropped(notes.get("dropped", [])),
        "response": {
            "name": [dataset.samples[row] for row in kept],
            "value": rounded(y[kept], 5),
        },
    }


def _association(dataset: Dataset, names: Any) -> float | None:
    numbers = dataset.kind.number(dataset.response())
    return strongest(numbers.reshape(len(names), -1), names)


def _exchanged(dataset: Dataset) -> str:
    groups = dataset.groups()
    if groups is None:
        return "samples"
    y = dataset.plain()
    several = [np.ptp(y[groups == group]) > 0 for group in set(groups)]
    return "within" if all(several) else "both" if any(several) else "groups"


def _dropped(dropped: list[dict[str, Any]]) -> list[Dropped]:
    groups: dict[tuple[str, str], list[str]] = {}
    for one in dropped:
        groups.setdefault((str(one["kind"]), str(one["reason"])), []).append(str(one["name"]))
    return [
        {"kind": kind, "reason": reason, "count": len(names), "names": names[:MOST_NAMES]}
        for (kind, reason), names in groups.items()
    ]


def design(splits: Splits) -> Division:
    """Say how the samples were divided."""
    train, test = ([len(getattr(s, side)) for s in splits.outer] for side in ("train", "test"))
    inner = [len(s.inner) for s in splits.outer]
    return {
        "scheme": splits.scheme,
        "inner_scheme": splits.inner_scheme,
        "seed": splits.seed,
        "outer": len(splits.outer),
        "repeats": len({split.repeat for split in splits.outer}),
        "inner": [min(inner), max(inner)],
        "subsamples": len(splits.subsamples),
        "train": [min(train), max(train)],
        "test": [min(test), max(test)],
    }


def batch(
    dataset: Dataset, splits: Splits, held_out: HeldOut, config: Mapping[str, Any]
) -> Batch | None:
    """Sum the batches up; None for a study that names none.

    Parameters
    ----------
    dataset : Dataset
    splits : Splits
    held_out : HeldOut
    config : mapping
        The resolved config.
    """
    names, column = dataset.batches(), dataset.design.batch
    if names is None or column is None:
        return None
    y, classes = dataset.plain(), dataset.design.classes
    each = [names == name for name in sorted(set(names))]
    of = dict(zip(dataset.samples, names, strict=True))
    few = [_too_few(split.train, split.test, of) for split in splits.outer]
    return {
        "column": column,
        "names": sorted(set(names)),
        "sizes": [int(rows.sum()) for rows in each],
        "counts": [[int((y[rows] == s).sum()) for s in codes(classes)] for rows in each]
        if classes else None,
        "mean": None if classes else [rounded(y[rows].mean(), 4) for rows in each],
        "sd": None if classes else [rounded(y[rows].std(), 4) for rows in each],
        "association": rounded(_association(dataset, names), 4),
        "wrong": _wrong(held_out["samples"], of, sorted(set(names))),
        "combat": "combat" in [step["step"] for step in config["normalise"]["folds"]],
        "shown": "combat" in [s["step"] for s in dataset.provenance.get("summaries", [])],
        "held_out": sum(len(split.test) for split in splits.outer),
        "too_few": sum(few),
        "splits": sum(number > 0 for number in few),
    }  # fmt: skip


def _too_few(train: Sequence[str], test: Sequence[str], of: Mapping[str, str]) -> int:
    """Count the test samples whose batch has too few training samples to be estimated."""
    trained = Counter(of[name] for name in train)
    return sum(trained[of[name]] < FEWEST_IN_TRAINING for name in test)


def _wrong(
    samples: Sequence[HeldOutSample], of: Mapping[str, str], names: Sequence[str]
) -> list[float | None] | None:
    """Return the share of wrong decisions on each batch's samples while they were held out."""
    if any(one["wrong"] is None for one in samples):
        return None
    shares = []
    for name in names:
        own = [one for one in samples if of[one["sample"]] == name]
        wrong = sum(one["wrong"] or 0 for one in own)
        tested = sum(one["tested"] for one in own)
        shares.append(rounded(wrong / tested, 4) if tested else None)
    return shares


def batch_warnings(data: Data) -> list[str]:
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
