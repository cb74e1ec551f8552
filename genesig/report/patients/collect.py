"""Samples and genes on their way from the files to the analysis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from genesig.report.patients.record import FlowStep

if TYPE_CHECKING:
    from genesig.results import Dataset

TABLES = ("patients", "score_effect", "subgroups", "next_study")
TEXT = ("column", "level", "class")


def flow(dataset: Dataset, seen: Mapping[str, Any]) -> list[FlowStep]:
    """Count what the files held, what was left out and why, what is analysed, what filters leave.

    Filters are learned anew in each training set; here they are those on all samples.
    """
    dropped = dataset.provenance.get("dropped", [])
    out = Counter((str(one["kind"]), str(one["reason"])) for one in dropped)
    samples, genes = (
        len(kept) + sum(count for (kind, _), count in out.items() if kind == noun)
        for kept, noun in ((dataset.samples, "sample"), (dataset.genes, "gene"))
    )
    steps = [_step("In the files", samples, genes)]
    steps += [_step(reason, *((count, None) if kind == "sample" else (None, count)), out=True)
              for (kind, reason), count in out.items()]  # fmt: skip
    left = len(dataset.genes)
    steps.append(_step("Analysed", len(dataset.samples), left))
    for one in seen["steps"]:
        if one["genes"] < left:
            left = one["genes"]
            name = str(one["step"]).replace("_", " ")
            steps.append(_step(f"Left by the {name}, on all samples", None, left))
    return steps


def _step(step: str, samples: int | None, genes: int | None, *, out: bool = False) -> FlowStep:
    return {"step": step, "out": out, "samples": samples, "genes": genes}
