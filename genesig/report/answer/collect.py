"""The part of report_data.json that is read first: the answer and the warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from genesig.data.steps.missing_indicators import INDICATOR_SUFFIX
from genesig.report.answer.other_methods import better_method
from genesig.report.page.measure import (
    MEASURES,
    Measure,
    measure,
    model_name,
    picked,
    subject_noun,
    two,
)
from genesig.report.page.record import (
    Chip,
    CohortError,
    Cohorts,
    Control,
    Division,
    Evidence,
    Finding,
    Halves,
    HeldOut,
    HeldOutSample,
    Measured,
    Null,
    PackedTable,
    Price,
    Stability,
    Study,
    StudyFacts,
    Verdict,
    Wrong,
    WrongSample,
    rounded,
)
from genesig.report.page.tables import Row, of_chosen, own_rows, records
from genesig.report.page.verdict import LEVEL, Analysis, Grade, grade, here, judge
from genesig.report.page.words import clean, counted, decimal, in_words, percent
from genesig.response.design import SEVERAL
from genesig.response.known import ByKind
from genesig.selection.assess.controls import FDR_SELECTED
from genesig.selection.assess.intervals import Detectable, detectable, wilson

About = Mapping[str, Any]
"""The content of an about.json."""


def cohorts(external: Sequence[About], shown: Measure) -> Cohorts:
    """Count the data sets in which the model is better, or worse, than chance; list all."""
    measure, _, chance = shown.elsewhere
    new = [one for one in external if not one["seen_before"]]
    found = [_score(one, measure) for one in new]
    return {
        "tested": len(new),
        "better": sum(row["low"] is not None and row["low"] > chance for row in found),
        "worse": sum(row["high"] is not None and row["high"] < chance for row in found),
        "rows": [_row(one, shown) for one in external],
    }


def _score(one: About, measure: str) -> About:
    nothing = {"value": None, "low": None, "high": None}
    return next((row for row in one["scores"] if row["measure"] == measure), nothing)


def _row(one: About, shown: Measure) -> CohortError:
    """Return the error as controls.tsv has it: balanced error, 1 − R² or 1 − C."""
    of_errors = shown.share
    row = _score(one, "balanced_error" if of_errors else shown.elsewhere[0])
    value, low, high = (row[key] for key in ("value", "low", "high"))
    if not of_errors:
        value, low, high = (None if v is None else 1 - v for v in (value, high, low))
    return {
        "name": one["name"],
        "samples": len(one["predictions"]),
        "groups": one["groups"]["count"] if "groups" in one else None,
        "seen": bool(one["seen_before"]),
        "error": rounded(value, 4) if value is not None else None,
        "low": rounded(low, 4) if low is not None else None,
        "high": rounded(high, 4) if high is not None else None,
    }


MOST_CHIPS = 200
SHORT = 5  # independent samples of a class below which the interval of the AUC is short


def measures(study: StudyFacts, held_out: HeldOut, own: Sequence[Row]) -> list[Measured]:
    """Return the measures of two classes, the AUC of several, none for a number.

    Sensitivity is the share of correct decisions on samples of the positive class, specificity
    that of the negative one, each the mean over repeats. Their intervals are Wilson's, which take
    samples as independent; where samples come in groups, a class counts as many observations as
    it has groups, as in the interval of the balanced error.
    """
    if study["classes"] is None:
        return []
    found: list[Measured] = []
    if own and own[0]["auc"] is not None:
        low, high = own[0]["auc_low"], own[0]["auc_high"]
        found.append({"name": "auc", "value": own[0]["auc"], "low": low, "high": high})
    names = ("specificity", "sensitivity")
    for name, label, units in zip(names, two(study) or (), study["units"] or (), strict=False):
        mine = [one for one in held_out["samples"] if one["label"] == label]
        if mine:
            found.append(_share(name, mine, units))
    return found


def _share(name: str, mine: Sequence[HeldOutSample], units: int) -> Measured:
    right = sum(1 - (one["wrong"] or 0) / one["tested"] for one in mine) / len(mine)
    low, high = wilson(right, units)
    return {
        "name": name,
        "value": rounded(right, 5),
        "low": rounded(low, 5),
        "high": rounded(high, 5),
    }


def chips(tables: Mapping[str, PackedTable]) -> list[Chip]:
    """Return the genes of the signature, their evidence, and in which direction each goes alone."""
    sign = {row["gene"]: row["statistic"] for row in records(tables["univariate"])}
    several = "class" in tables["signature"]["columns"]
    return [
        {
            "gene": str(row["gene"]),
            "symbol": str(row["symbol"] or row["gene"]),
            "cv_frequency": row["cv_frequency"],
            "fdr_selected": row.get("fdr_selected"),
            "selection_frequency": row.get("selection_frequency"),
            "selection_q": row.get("selection_q"),
            "core": row.get("core"),
            "up": None if several else _up(sign.get(row["gene"])),
        }
        for row in records(tables["signature"])[:MOST_CHIPS]
    ]


def _up(statistic: float | None) -> bool | None:
    return None if not statistic else statistic > 0


def evidence(study: StudyFacts, tables: Mapping[str, PackedTable], fdr: float) -> Evidence | None:
    """Count the FDR-selected genes at this rate of error; None where none was looked for."""
    if "fdr_selected" not in tables["signature"]["columns"]:
        return None
    signature, every = (records(tables[name]) for name in ("signature", "selection"))
    selection_q = [row["selection_q"] for row in every if row["fdr_selected"]]
    model = [row for row in signature if row["weight"] != 0]
    added = [
        sum(str(row["gene"]).endswith(INDICATOR_SUFFIX) for row in rows)
        if study["indicators"]
        else 0
        for rows in ((row for row in every if row["fdr_selected"]), model)
    ]
    return {
        "fdr_selected": len(selection_q),
        "expected": len(selection_q) * max(selection_q, default=0.0),
        "passing": sum(row["selection_q"] <= fdr for row in every),
        "model": len(model),
        "indicators": added,
        "price": _price(records(tables["controls"])) if selection_q else None,
    }


def _price(controls: Sequence[Row]) -> Price | None:
    row = next((row for row in controls if row["model"] == FDR_SELECTED), None)
    if row is None or row["error"] is None or row["difference"] is None:
        return None
    found: Price = {
        "error": row["error"], "low": row["low"], "high": row["high"],
        "difference": row["difference"], "difference_low": row["difference_low"],
        "difference_high": row["difference_high"],
    }  # fmt: skip
    same = found["difference"] == found["difference_low"] == found["difference_high"] == 0
    return None if same else found


def core(tables: Mapping[str, PackedTable]) -> int | None:
    """Count the core genes; None where genes have evidence instead."""
    if "core" not in tables["signature"]["columns"]:
        return None
    return sum(bool(row["core"]) for row in records(tables["signature"]))


# Share of the signature that is core below which its lists hardly agree.
LEAST_CORE = 0.2

# What the column ``error`` of controls.tsv is, and its value without any signal.
ERROR = ByKind({
    "classification": ("balanced error", 0.5), SEVERAL: ("balanced error", 0.5),
    "regression": ("1 − R²", 1.0), "survival": ("1 − C", 0.5),
})  # fmt: skip


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
        "evidence": evidence(study, tables, fdr),
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
        "alternative": better_method(controls, chance),
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
    units: ByKind[list[int]] = ByKind({"survival": []})  # neither of classes nor of a number
    of = units.get(study["task"], study["units"])
    every = study["samples"] if study["groups"] is None else study["groups"]
    found = detectable(null["errors"], of, every, study["genes"])
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
                "size": row["mean_size"], "shared": row["shared"],
                "shared_by_chance": row["shared_by_chance"],
            }  # fmt: skip
    return None


def _halves(rows: list[Row], drawn: int) -> Halves:
    """Say how many halves were drawn, and whether every list of them was empty."""
    own = [row for row in rows if row["source"] == "half_subsamples"]
    empty = bool(own) and own[0]["mean_size"] == 0
    return {"drawn": drawn, "empty": drawn > 0 and empty}


def _best(controls: list[Row]) -> Control | None:
    own = ("genesig", FDR_SELECTED)
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


def signature_warnings(data: Study) -> list[str]:
    """Warn of an empty signature, of few core genes, of a length unlike those that were tested."""
    answer, wanted = data["answer"], data["config"]["signature"]
    if not answer["size"]:
        return ["The final model selected no gene, so the signature is empty."]
    found = _untested_length(data) if answer["evidence"] else _few_core(data)
    if grade(data) is Grade.NONE:  # then no list is accurate, of whatever length
        return found
    if data["config"]["linear"]["list"] == "stable" and answer["size"] > wanted["most"]:
        found.append(
            f"No list of {wanted['most']} genes or fewer was as accurate, so the signature has"
            f" {answer['size']}."
        )
    return found


def _few_core(data: Study) -> list[str]:
    answer, share = data["answer"], data["config"]["signature"]["cv_frequency"]
    if answer["core"] is None or answer["core"] >= LEAST_CORE * answer["size"]:
        return []
    return [
        f"Only {answer['core']} of {counted(answer['size'], 'signature gene')}"
        f" {'is' if answer['core'] == 1 else 'are'} core (selected in at least"
        f" {percent(share)} of the training sets): other patients would probably give other genes."
    ]


def _untested_length(data: Study) -> list[str]:
    """Warn of a final list longer or shorter than all of those that were tested."""
    answer, (low, _, high) = data["answer"], data["answer"]["lengths"]
    size = answer["evidence"]["model"] if answer["evidence"] else answer["size"]
    if low <= size <= high:
        return []
    way = "shorter" if size < low else "longer"
    limits = f"{low:.0f}" if round(low) == round(high) else f"{low:.0f} to {high:.0f}"
    return [
        f"The final model ({counted(size, 'gene')}) is {way} than any cross-validated model"
        f" ({limits}), so its accuracy may differ."
    ]


def error_warnings(data: Study) -> list[str]:
    """Warn of a small class, of short intervals, of another method that did better."""
    error, best, shown = data["answer"]["error"], data["answer"]["control"], measure(data)
    found = list(_short_intervals(data["study"], data["design"]["scheme"]))
    classes, counts = data["study"]["classes"], data["study"]["counts"]
    if classes and counts and min(counts) < MIN_CLASS:
        side = counts.index(min(counts))
        found.append(
            f"Few {clean(classes[side])} {subject_noun(data)}s ({counts[side]}): one more error"
            f" would change the {_share_name(data, side)} by {100 / counts[side]:.0f} percentage"
            " points."
        )
    if best is None or error["value"] is None or best["difference_high"] is None:
        return found
    if best["difference_high"] < 0:
        theirs, ours = (shown.write(shown.value(row)) for row in (best["error"], error["value"]))
        found.append(
            f"Another method ({model_name(best['model'])}, {picked(best['of'])}) had a higher"
            f" {shown.name} ({theirs} against {ours}) on the same samples; the 95% CI of the paired"
            " difference excludes 0."
        )
    return found


MIN_CLASS = 20
"""Samples of a class below which one error moves its accuracy by more than 5 points."""


def _share_name(data: Study, side: int) -> str:
    """Return the name of the share of correct calls of a class."""
    if two(data["study"]):
        return "sensitivity" if side else "specificity"
    return f"accuracy of {clean((data['study']['classes'] or [])[side])}"


def _short_intervals(study: StudyFacts, scheme: str) -> Iterator[str]:
    """Warn of designs of classes whose intervals are known to be short."""
    classes, units = study["classes"], study["units"]
    if classes and scheme == "leave_one_out":
        yield (
            "Leave-one-out does not show how far models of other samples differ: in simulated"
            " studies the 95% CIs of accuracy and AUC covered the expected value in 81–97%."
        )
    if classes and units and min(units) < SHORT:
        name = clean(classes[units.index(min(units))])
        yield (
            f"{name} has fewer than {in_words(SHORT)} independent samples: in studies simulated"
            " with four, the 95% CI of the AUC covered the expected value in about 90%."
        )


def stability_warnings(data: Study) -> list[str]:
    """Warn of stability that was not measured, or is no more than by chance or of the lasso."""
    stability, halves = data["answer"]["stability"], data["answer"]["halves"]
    if not halves["drawn"]:
        return [
            "Stability was not measured, because no halves of the samples were drawn; overlapping"
            " splits flatter it."
        ]
    if halves["empty"]:
        return [
            "Half of the samples was not enough to select any gene: all"
            f" {halves['drawn']} half-sample lists are empty, so their stability is not defined."
        ]
    if stability is None or stability["source"] == "outer_splits" or grade(data) is Grade.NONE:
        return []
    value = decimal(stability["value"])
    if stability["than_chance"] not in (None, "more"):
        predicts = "" if here(data) is Grade.NONE else ", even if it predicts as well"
        return [
            "Gene lists from separate halves of the samples do not agree clearly better than by"
            f" chance (stability {value}): other patients would probably give another list"
            f"{predicts}."
        ]
    if stability["than_lasso"] == "less" and stability["lasso"] is not None:
        return [
            f"Lasso lists of the same length agree better on the same halves of the samples"
            f" (stability {decimal(stability['lasso'])} against {value})."
        ]
    return []
