"""The part of report_data.json that is read first: the answer and the warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genesig.report.answer.elsewhere import cohorts
from genesig.report.answer.measures import chips, measures
from genesig.report.answer.proved import core, evidence
from genesig.report.answer.record import Answer
from genesig.report.page.finding import (
    Control,
    Error,
    Finding,
    Halves,
    Stability,
    Verdict,
    Wrong,
    WrongSample,
)
from genesig.report.page.measure import MEASURES, measure
from genesig.report.page.model_names import model_name, picked
from genesig.report.page.record import (
    Division,
    HeldOut,
    HeldOutSample,
    Null,
    PackedTable,
    StudyFacts,
)
from genesig.report.page.rounding import rounded
from genesig.report.page.rows import Row, of_chosen, own_rows, records
from genesig.report.page.verdict import LEVEL, Analysis, judge
from genesig.report.page.words import clean, counted, decimal, percent, rate
from genesig.response.design import SEVERAL
from genesig.selection.assess.controls import NAMED
from genesig.selection.assess.detectable import Detectable, detectable

# Share of the signature that is core below which its lists hardly agree.
LEAST_CORE = 0.2

# What the column ``error`` of controls.tsv is, and its value without any signal.
ERROR = {"classification": ("class-balanced error", 0.5), SEVERAL: ("class-balanced error", 0.5),
         "regression": ("1 − R²", 1.0), "survival": ("1 − C", 0.5)}  # fmt: skip


def answer(
    study: StudyFacts, design: Division, held_out: HeldOut, null: Null,
    tables: Mapping[str, PackedTable], external: Sequence[Mapping[str, Any]], fdr: float,
) -> Finding:  # fmt: skip
    """Collect the numbers of the first screen: those of the predictive models.

    Genes are named at the rate of error `fdr`.
    """
    controls = records(tables["controls"])
    halves = of_chosen(records(tables["stability"]))
    own = of_chosen(own_rows(tables["controls"]))
    lengths = [row["n_genes"] for row in of_chosen(records(tables["scores"]))]
    row = own[0] if own else {"error": None, "low": None, "high": None}
    (name, chance), permutations = ERROR[study["task"]], len(null["errors"])
    chance = 1 - 1 / len(study["classes"]) if study["classes"] else chance
    return {
        "size": tables["signature"]["total"],
        "evidence": evidence(tables, fdr),
        "core": core(tables),
        "lengths": np.quantile(lengths, [0, 0.5, 1], method="nearest").astype(int).tolist(),
        "error": {
            "name": name, "chance": chance,
            "value": row["error"], "low": row["low"], "high": row["high"],
        },
        "p": {
            "value": own[0]["p_value"] if own and permutations else None,
            "permutations": permutations,
            "smallest": 1 / (permutations + 1),
        },
        "detectable": _detectable(study, null),
        "stability": _stability(halves),
        "halves": _halves(halves, design["subsamples"]),
        "control": _best(controls),
        "cohorts": cohorts(external, MEASURES[study["task"]]),
        "wrong": _wrong(held_out["samples"]),
        "measures": measures(study, held_out, own),
        "chips": chips(tables),
    }  # fmt: skip


def verdict(
    first: Finding, held: Mapping[str, Any] | None, sets: Mapping[str, Any] | None,
    controls: PackedTable,
) -> Verdict:  # fmt: skip
    """Grade the study by its models of genes, and by what it knows of covariates and gene sets."""
    row = next((row for row in records(controls) if row["model"] == "sets"), None)
    if sets is None or row is None:
        return judge(first, held, None)
    p = sets["p"]["value"] if sets["p"]["smallest"] <= LEVEL else None
    excludes = None if row["high"] is None else row["high"] < first["error"]["chance"]
    return judge(first, held, Analysis(p, excludes))


def _detectable(study: StudyFacts, null: Null) -> Detectable:
    """Say what could have been found: of survival and of several classes, by permutations alone."""
    apart = 1.0 if study["groups"] is None else study["groups"] / study["samples"]
    known = study["task"] in ("classification", "regression")
    counts = study["counts"] if known else []
    found = detectable(null["errors"], counts, study["samples"], study["genes"], apart)
    return {**found, **{key: rounded(found[key], 4) for key in ("error", "auc", "effect")}}  # type: ignore[typeddict-item]


def _stability(rows: list[Row]) -> Stability | None:
    known = {row["source"]: row for row in rows if row["stability"] is not None}
    blocks = known.get("half_blocks")
    for source in ("half_subsamples", "outer_splits"):
        if row := known.get(source):
            return {
                "value": row["stability"], "source": source, "sets": row["n_sets"],
                "than_chance": row["than_chance"] or None, "lasso": row["lasso"],
                "than_lasso": row["than_lasso"] or None,
                "blocks": blocks["stability"] if blocks else None,
            }  # fmt: skip
    return None


def _halves(rows: list[Row], drawn: int) -> Halves:
    """Say how many halves were drawn, and whether every list of them was empty."""
    own = [row for row in rows if row["source"] == "half_subsamples"]
    empty = bool(own) and own[0]["mean_size"] == 0
    return {"drawn": drawn, "empty": drawn > 0 and empty}


def _best(controls: list[Row]) -> Control | None:
    own = ("genesig", NAMED)
    others = [r for r in controls if r["model"] not in own and r["error"] is not None]
    if not others:
        return None
    best = min(others, key=lambda row: row["error"])
    return {
        "model": best["model"], "of": len(others),
        "error": best["error"], "low": best["low"], "high": best["high"],
        "difference": best["difference"], "difference_low": best["difference_low"],
        "difference_high": best["difference_high"],
    }  # fmt: skip


def _wrong(samples: Sequence[HeldOutSample]) -> Wrong | None:
    known: list[WrongSample] = [
        {"sample": one["sample"], "wrong": one["wrong"], "tested": one["tested"]}
        for one in samples if one["wrong"] is not None
    ]  # fmt: skip
    if len(known) < len(samples):
        return None
    mostly = [one for one in known if 2 * one["wrong"] > one["tested"]]
    return {
        "mostly": sorted(mostly, key=lambda one: -one["wrong"] / one["tested"]),
        "always": [one["sample"] for one in known if one["wrong"] == one["tested"]],
        "samples": len(samples),
    }


def signature_warnings(data: Answer) -> list[str]:
    """Say that the lists hardly agree, or that the list is of another length than asked for."""
    it, wanted = data["answer"], data["config"]["signature"]
    if not it["size"]:
        return ["The final model selected no gene, so the signature is empty."]
    found = _unlike_the_others(data) if it["evidence"] else _few_core(data)
    if data["config"]["linear"]["list"] == "stable" and it["size"] > wanted["most"]:
        found.append(
            f"No list of {wanted['most']} genes or fewer was as accurate, so the signature has"
            f" {it['size']}."
        )
    return found


def _few_core(data: Answer) -> list[str]:
    it, share = data["answer"], data["config"]["signature"]["frequency"]
    if it["core"] is None or it["core"] >= LEAST_CORE * it["size"]:
        return []
    return [
        f"Only {it['core']} of the {counted(it['size'], 'gene')} of the signature"
        f" {'is' if it['core'] == 1 else 'are'} core (selected in at least"
        f" {percent(share)} of the training sets): other patients would probably give other genes."
    ]


def _unlike_the_others(data: Answer) -> list[str]:
    """Say that the final list is longer or shorter than all of those that were tested.

    One in two would lie outside their middle half by chance.
    """
    it, (low, _, high) = data["answer"], data["answer"]["lengths"]
    size = it["evidence"]["model"] if it["evidence"] else it["size"]
    if low <= size <= high:
        return []
    way = "fewer" if size < low else "more"
    limits = f"{low:.0f}" if round(low) == round(high) else f"{low:.0f} to {high:.0f}"
    return [
        f"The predictive model has {counted(size, 'gene')}, {way} than all of the models whose"
        f" error was measured ({limits}): its own error may differ from theirs."
    ]


def error_warnings(data: Answer) -> list[str]:
    """Say that a class is small, or that another method did better."""
    error, best = data["answer"]["error"], data["answer"]["control"]
    found = []
    classes, counts = data["study"]["classes"], data["study"]["counts"]
    if classes and counts and min(counts) < 20:
        name = classes[counts.index(min(counts))]
        found.append(
            f"Only {counted(min(counts), f'{clean(name)} sample')}: one misclassified sample"
            f" changes the error of {clean(name)} by {100 / min(counts):.2g} percentage points."
        )
    if best is None or error["value"] is None or best["difference_high"] is None:
        return found
    if best["difference_high"] < 0:
        found.append(
            f"Another method ({model_name(best['model'])}, {picked(best['of'])}) had a"
            f" {_against(data, best, error)} on the same samples; the interval of the paired"
            " difference excludes 0."
        )
    return found


def _against(data: Answer, other: Control, own: Error) -> str:
    a, b = other["error"], own["value"] or 0.0
    if data["study"]["classes"]:
        return f"lower error ({rate(a)} vs {rate(b)})"
    return f"higher {measure(data).name} ({decimal(1 - a)} vs {decimal(1 - b)})"


def _agreed(data: Answer) -> str:
    it = data["answer"]["evidence"]
    return " Named genes are those that halves agree on." if it and it["named"] else ""


def stability_warnings(data: Answer) -> list[str]:
    """Say that stability was not measured, or is no more than chance or the lasso gives."""
    stability, halves = data["answer"]["stability"], data["answer"]["halves"]
    if not halves["drawn"]:
        return [
            "Stability was not measured, because no halves of the samples were drawn; overlapping"
            " splits flatter it."
        ]
    if halves["empty"]:
        return [
            f"Half of the samples was not enough to select any gene: all {halves['drawn']} lists of"
            " halves are empty, so their stability is not defined."
        ]
    if stability is None or stability["source"] == "outer_splits":
        return []
    value = decimal(stability["value"])
    if stability["than_chance"] not in (None, "more"):
        return [
            "Lists of disjoint halves of the samples do not agree clearly more than by chance"
            f" (stability {value}): other patients would probably give another list, even if it"
            f" predicts as well.{_agreed(data)}"
        ]
    if stability["than_lasso"] == "less" and stability["lasso"] is not None:
        return [
            f"Lists of the lasso, as long, agree better on the same halves of the samples"
            f" (stability {decimal(stability['lasso'])} against {value})."
        ]
    return []
