"""The part of report_data.json that is read first: the answer and the warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from genesig.report.data.collect_batches import warnings_of_batches
from genesig.report.page.model_names import model_name
from genesig.report.page.rows import records, same_mu
from genesig.report.page.words import counted, decimal, percent, rate

if TYPE_CHECKING:
    from genesig.results import Dataset, Fits

Data = Mapping[str, Any]
Row = dict[str, Any]

# Below .4 agreement is poor, above .75 excellent (Nogueira, Sechidis & Brown 2018, after Fleiss).
POOR, EXCELLENT = 0.4, 0.75

# What the column ``error`` of controls.tsv is, and its value without any signal.
ERROR: dict[str, Row] = {
    "classification": {"name": "class-balanced error", "chance": 0.5},
    "regression": {"name": "1 − R²", "chance": 1.0},
}


def answer(data: Data) -> dict[str, Any]:
    """Collect the numbers of the first screen."""
    mu = data["mu"][data["at"]]
    controls = records(data["tables"]["controls"])
    own = same_mu([row for row in controls if row["model"] == "genesig"], mu)
    permutations = len(data["null"]["errors"])
    return {
        "size": data["tables"]["signature"]["total"],
        "error": {**ERROR[data["study"]["task"]], **_error(own)},
        "p": {
            "value": own[0]["p_value"] if own and permutations else None,
            "permutations": permutations,
            "smallest": 1 / (permutations + 1),
        },
        "stability": _stability(records(data["tables"]["stability"]), mu),
        "halves": _halves(records(data["tables"]["stability"]), mu, data["design"]["subsamples"]),
        "control": _best(controls),
        "wrong": _wrong(data["held_out"]["samples"]),
    }


def _error(own: list[Row]) -> Row:
    row = own[0] if own else {"error": None, "low": None, "high": None}
    return {"value": row["error"], "low": row["low"], "high": row["high"]}


def _stability(rows: list[Row], mu: float) -> Row | None:
    for source in ("half_subsamples", "outer_splits"):
        for row in same_mu(rows, mu):
            if row["source"] == source and row["stability"] is not None:
                return {
                    "value": row["stability"], "low": row["low"], "high": row["high"],
                    "source": source, "sets": row["n_sets"],
                }  # fmt: skip
    return None


def _halves(rows: list[Row], mu: float, drawn: int) -> Row:
    """Say how many halves were drawn, and whether every list of them was empty."""
    own = [row for row in same_mu(rows, mu) if row["source"] == "half_subsamples"]
    empty = bool(own) and own[0]["mean_size"] == 0
    return {"drawn": drawn, "empty": drawn > 0 and empty}


def _best(controls: list[Row]) -> Row | None:
    others = [r for r in controls if r["model"] != "genesig" and r["error"] is not None]
    if not others:
        return None
    best = min(others, key=lambda row: row["error"])
    return {key: best[key] for key in ("model", "error", "low", "high")}


def _wrong(samples: list[Row]) -> Row | None:
    if any(one["wrong"] is None for one in samples):
        return None
    always = [one["sample"] for one in samples if one["wrong"] == one["tested"]]
    mostly = [
        {key: one[key] for key in ("sample", "wrong", "tested")}
        for one in sorted(samples, key=lambda one: -one["wrong"] / one["tested"])
        if 2 * one["wrong"] > one["tested"]
    ]
    return {"mostly": mostly, "always": always, "samples": len(samples)}


def warnings(data: Data, dataset: Dataset, observed: Fits, said: Sequence[str]) -> list[str]:
    """Say what a careful reader should know before using the signature."""
    # Validation repeats what reading said; the row-wise steps may have more.
    found = list(dict.fromkeys([*said, *map(str, dataset.provenance.get("warnings", []))]))
    for check in (
        _of_signature,
        _of_error,
        warnings_of_batches,
        _of_stability,
        _of_grid,
        _of_blocks,
    ):
        found += check(data)
    if not any("no p-value can be" in one for one in found):  # the validation counted them
        found += _of_null(data)
    return found + _of_solver(data, observed)


def _of_signature(data: Data) -> list[str]:
    if data["answer"]["size"]:
        return []
    share = percent(data["config"]["signature"]["frequency"])
    return [
        f"No gene was selected in {share} of the splits, so the signature is empty. The nested"
        " lists below show which genes came closest."
    ]


def _of_error(data: Data) -> list[str]:
    error, best = data["answer"]["error"], data["answer"]["control"]
    found = []
    counts = data["study"]["counts"]
    if counts is not None and min(counts) < 20:
        name = data["study"]["classes"][counts.index(min(counts))]
        found.append(
            f"Class {name} has only {counted(min(counts), 'sample')}; every error rate here is"
            " coarse."
        )
    if best is not None and error["value"] is not None and best["error"] < error["value"]:
        found.append(
            "Another method did better on the same splits"
            f" ({model_name(best['model'])}: {_against(data, best['error'], error['value'])})."
        )
    return found


def _against(data: Data, other: float, own: float) -> str:
    if data["study"]["classes"]:
        return f"{rate(other)} against {rate(own)}"
    return f"R² {decimal(1 - other)} against {decimal(1 - own)}"


def _of_null(data: Data) -> list[str]:
    p = data["answer"]["p"]
    if not p["permutations"]:
        return ["No permutation was run, so chance has not been ruled out."]
    if p["smallest"] > 0.05:
        return [
            f"With {counted(p['permutations'], 'permutation')} no p below"
            f" {decimal(p['smallest'])} can be reached."
        ]
    if p["value"] is not None and p["value"] > 0.05:
        return ["The labels are not predicted better than shuffled ones would be (p > 0.05)."]
    return []


def _of_stability(data: Data) -> list[str]:
    stability, halves = data["answer"]["stability"], data["answer"]["halves"]
    if not halves["drawn"]:
        return [
            "Stability was not measured on halves of the samples; set splits.subsamples to do so."
            " Overlapping splits flatter it."
        ]
    if halves["empty"]:
        return [
            f"Half of the samples was not enough to select any gene: all {halves['drawn']} lists of"
            " halves are empty, so their stability is not defined."
        ]
    if stability is None or stability["source"] == "outer_splits":
        return []
    if stability["value"] < POOR:
        return [
            f"Stability is poor ({decimal(stability['value'])}): another set of patients would"
            " probably give a different list of genes, even if it predicts as well."
        ]
    return []


def _of_grid(data: Data) -> list[str]:
    surface = data["surface"]
    last = len(surface["tau"]) - 1
    edge = sum(count for tau, _, count in surface["chosen"] if tau == last)
    if last and edge > data["design"]["outer"] / 2:
        return [
            "Most splits chose the smallest tau of the grid; a smaller linear.tau_min may do"
            " better."
        ]
    return []


def _of_blocks(data: Data) -> list[str]:
    bound = data["config"]["clusters"]["warn_above"]
    r, names = data["correlation"]["r"], data["correlation"]["genes"]
    lead = [g for g, gene in enumerate(names) if gene in _prototypes(data)]
    pairs = [(a, b) for a, b in combinations(lead, 2) if abs(r[a][b]) > bound]
    if not pairs:
        return []
    first = ", ".join(f"{names[a]} and {names[b]} ({decimal(r[a][b])})" for a, b in pairs[:3])
    return [
        f"{counted(len(pairs), 'pair')} of block leaders with |r| above {decimal(bound)}, so that"
        f" their blocks may be one: {first}{' …' if len(pairs) > 3 else '.'}"
    ]


def _prototypes(data: Data) -> set[str]:
    return {row["prototype"] for row in records(data["tables"]["blocks"])}


def _of_solver(data: Data, observed: Fits) -> list[str]:
    missed = int((observed.gap > data["config"]["linear"]["tolerance"]).sum())
    if not missed:
        return []
    return [
        f"{counted(missed, 'fit')} of {observed.gap.size} did not reach the requested accuracy"
        f" (largest relative duality gap {observed.gap.max():.1e})."
    ]
