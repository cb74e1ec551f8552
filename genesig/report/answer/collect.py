"""The part of report_data.json that is read first: the answer and the warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from genesig.data.steps.missing_indicators import INDICATOR_SUFFIX
from genesig.report.answer.other_methods import better_method
from genesig.report.page.measure import (
    EXCLUDED_MODELS,
    MEASURES,
    Measure,
    measure,
    method_choice,
    model_name,
    two_classes,
)
from genesig.report.page.record import (
    BestOtherMethod,
    ClassMeasure,
    CohortError,
    Cohorts,
    Evidence,
    FdrSelectedError,
    Finding,
    HalfSamples,
    HeldOut,
    HeldOutSample,
    Misclassified,
    MisclassifiedSample,
    NullErrors,
    PackedTable,
    SignatureGene,
    SplitSummary,
    Stability,
    Study,
    StudyFacts,
    Verdict,
    rounded,
)
from genesig.report.page.tables import TableRow, chosen_list_rows, genesig_rows, table_rows
from genesig.report.page.verdict import LEVEL, Analysis, Grade, grade, grade_within_study, judge
from genesig.report.page.words import clean, counted, decimal, in_words, percent
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.selection.assess.controls import FDR_SELECTED
from genesig.selection.assess.intervals import Detectable, detectable, wilson

CohortAbout = Mapping[str, Any]
"""The content of an about.json."""


def cohorts(external: Sequence[CohortAbout], metric: Measure) -> Cohorts:
    """Count the data sets in which the model is better, or worse, than chance; list all."""
    score_name, _, chance = metric.external_measure
    untouched = [about for about in external if not about["seen_before"]]
    scores = [_score(about, score_name) for about in untouched]
    return {
        "tested": len(untouched),
        "better": sum(row["low"] is not None and row["low"] > chance for row in scores),
        "worse": sum(row["high"] is not None and row["high"] < chance for row in scores),
        "rows": [_cohort_error(about, metric) for about in external],
    }


def _score(about: CohortAbout, score_name: str) -> CohortAbout:
    missing = {"value": None, "low": None, "high": None}
    return next((row for row in about["scores"] if row["measure"] == score_name), missing)


def _cohort_error(about: CohortAbout, metric: Measure) -> CohortError:
    """Return the error as controls.tsv has it: balanced error, 1 − R² or 1 − C."""
    of_errors = metric.share
    row = _score(about, "balanced_error" if of_errors else metric.external_measure[0])
    value, low, high = (row[key] for key in ("value", "low", "high"))
    if not of_errors:
        value, low, high = (None if v is None else 1 - v for v in (value, high, low))
    return {
        "name": about["name"],
        "samples": len(about["predictions"]),
        "groups": about["groups"]["count"] if "groups" in about else None,
        "seen": bool(about["seen_before"]),
        "error": rounded(value, 4) if value is not None else None,
        "low": rounded(low, 4) if low is not None else None,
        "high": rounded(high, 4) if high is not None else None,
    }


MAX_SIGNATURE_GENES = 200
MIN_UNITS_OF_CLASS = (
    5  # independent samples of a class below which the interval of the AUC is short
)


def measures(
    study: StudyFacts, held_out: HeldOut, controls: Sequence[TableRow]
) -> list[ClassMeasure]:
    """Return the measures of two classes, the AUC of several, none for a number.

    Sensitivity is the share of correct decisions on samples of the positive class, specificity
    that of the negative one, each the mean over repeats. Their intervals are Wilson's, which take
    samples as independent; where samples come in groups, a class counts as many observations as
    it has groups, as in the interval of the balanced error.
    """
    if study["classes"] is None:
        return []
    class_measures: list[ClassMeasure] = []
    if controls and controls[0]["auc"] is not None:
        low = controls[0]["auc_low"]
        high = controls[0]["auc_high"]
        class_measures.append(
            {"name": "auc", "value": controls[0]["auc"], "low": low, "high": high}
        )
    names = ("specificity", "sensitivity")
    for name, label, units in zip(
        names, two_classes(study) or (), study["units"] or (), strict=False
    ):
        samples = [sample for sample in held_out["samples"] if sample["label"] == label]
        if samples:
            class_measures.append(_share(name, samples, units))
    return class_measures


def _share(name: str, samples: Sequence[HeldOutSample], units: int) -> ClassMeasure:
    share_correct = sum(1 - (sample["wrong"] or 0) / sample["tested"] for sample in samples) / len(
        samples
    )
    low, high = wilson(share_correct, units)
    return {
        "name": name,
        "value": rounded(share_correct, 5),
        "low": rounded(low, 5),
        "high": rounded(high, 5),
    }


def chips(tables: Mapping[str, PackedTable]) -> list[SignatureGene]:
    """Return the genes of the signature, their evidence, and in which direction each goes alone."""
    sign = {row["gene"]: row["statistic"] for row in table_rows(tables["univariate"])}
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
            "up": None if several else _rises(sign.get(row["gene"])),
        }
        for row in table_rows(tables["signature"])[:MAX_SIGNATURE_GENES]
    ]


def _rises(statistic: float | None) -> bool | None:
    return None if not statistic else statistic > 0


def evidence(study: StudyFacts, tables: Mapping[str, PackedTable], fdr: float) -> Evidence | None:
    """Count the FDR-selected genes, at the rate `fdr`; None if the study does not select by FDR.

    See `Evidence` for each number. ``passing`` counts all genes whose q is at most `fdr`; none of
    them is selected if permuted labels often give as many. ``price`` is what the restriction of the
    models to FDR-selected genes does to the error.
    """
    if "fdr_selected" not in tables["signature"]["columns"]:
        return None
    signature, selection = (table_rows(tables[name]) for name in ("signature", "selection"))
    selected_rows = [row for row in selection if row["fdr_selected"]]
    selection_q = [row["selection_q"] for row in selected_rows]
    model_rows = [row for row in signature if row["weight"] != 0]
    n_indicators = [
        sum(str(row["gene"]).endswith(INDICATOR_SUFFIX) for row in rows)
        if study["indicators"]
        else 0
        for rows in (selected_rows, model_rows)
    ]
    return {
        "fdr_selected": len(selection_q),
        "expected": len(selection_q) * max(selection_q, default=0.0),
        "passing": sum(row["selection_q"] <= fdr for row in selection),
        "model": len(model_rows),
        "indicators": n_indicators,
        "price": _fdr_selected_error(table_rows(tables["controls"])) if selection_q else None,
    }


def _fdr_selected_error(controls: Sequence[TableRow]) -> FdrSelectedError | None:
    row = next((row for row in controls if row["model"] == FDR_SELECTED), None)
    if row is None or row["error"] is None or row["difference"] is None:
        return None
    difference: FdrSelectedError = {
        "error": row["error"],
        "low": row["low"],
        "high": row["high"],
        "difference": row["difference"],
        "difference_low": row["difference_low"],
        "difference_high": row["difference_high"],
    }
    same = (
        difference["difference"]
        == difference["difference_low"]
        == difference["difference_high"]
        == 0
    )
    return None if same else difference


def core(tables: Mapping[str, PackedTable]) -> int | None:
    """Count the core genes; None where genes have evidence instead."""
    if "core" not in tables["signature"]["columns"]:
        return None
    return sum(bool(row["core"]) for row in table_rows(tables["signature"]))


# Share of the signature that is core below which its lists hardly agree.
MIN_CORE_SHARE = 0.2

# What the column ``error`` of controls.tsv is, and its value without any signal.
ERROR_BY_KIND = ByKind(
    {
        "classification": ("balanced error", 0.5),
        SEVERAL_CLASSES: ("balanced error", 0.5),
        "regression": ("1 − R²", 1.0),
        "survival": ("1 − C", 0.5),
    }
)


def answer(
    study: StudyFacts,
    design: SplitSummary,
    held_out: HeldOut,
    null: NullErrors,
    tables: Mapping[str, PackedTable],
    external: Sequence[Mapping[str, Any]],
    fdr: float,
) -> Finding:
    """Collect the numbers of the first screen: those of the predictive models.

    Genes are named at the rate of error `fdr`.
    """
    controls = table_rows(tables["controls"])
    halves = chosen_list_rows(table_rows(tables["stability"]))
    genesig_controls = chosen_list_rows(genesig_rows(tables["controls"]))
    lengths = [row["n_genes"] for row in chosen_list_rows(table_rows(tables["scores"]))]
    row = genesig_controls[0] if genesig_controls else {"error": None, "low": None, "high": None}
    (name, chance) = ERROR_BY_KIND[study["task"]]
    permutations = len(null["errors"])
    chance = 1 - 1 / len(study["classes"]) if study["classes"] else chance
    return {
        "size": tables["signature"]["total"],
        "evidence": evidence(study, tables, fdr),
        "core": core(tables),
        "lengths": np.quantile(lengths, [0, 0.5, 1], method="nearest").astype(int).tolist(),
        "error": {
            "name": name,
            "chance": chance,
            "value": row["error"],
            "low": row["low"],
            "high": row["high"],
        },
        "p": {
            "value": genesig_controls[0]["p_value"] if genesig_controls and permutations else None,
            "permutations": permutations,
            "smallest": 1 / (permutations + 1),
        },
        "detectable": _detectable(study, null),
        "stability": _stability(halves),
        "halves": _half_samples(halves, design["subsamples"]),
        "control": _best_other_method(controls),
        "alternative": better_method(controls, chance),
        "cohorts": cohorts(external, MEASURES[study["task"]]),
        "wrong": _misclassified(held_out["samples"]),
        "measures": measures(study, held_out, genesig_controls),
        "chips": chips(tables),
    }


def verdict(
    finding: Finding,
    covariates: Mapping[str, Any] | None,
    sets: Mapping[str, Any] | None,
    controls: PackedTable,
) -> Verdict:
    """Grade the study by its models of genes, and by what it knows of covariates and gene sets."""
    row = next((row for row in table_rows(controls) if row["model"] == "sets"), None)
    if sets is None or row is None:
        return judge(finding, covariates, None)
    p = sets["p"]["value"] if sets["p"]["smallest"] <= LEVEL else None
    excludes = None if row["high"] is None else row["high"] < finding["error"]["chance"]
    return judge(finding, covariates, Analysis(p, excludes))


def _detectable(study: StudyFacts, null: NullErrors) -> Detectable:
    """Return the detectable effects; of survival and several classes, by permutations alone."""
    units: ByKind[list[int]] = ByKind({"survival": []})  # neither of classes nor of a number
    class_sizes = units.get(study["task"], study["units"])
    n_independent = study["samples"] if study["groups"] is None else study["groups"]
    effects = detectable(null["errors"], class_sizes, n_independent, study["genes"])
    return {**effects, **{key: rounded(effects[key], 4) for key in ("error", "auc", "effect")}}  # type: ignore[typeddict-item]


def _stability(rows: list[TableRow]) -> Stability | None:
    row_by_source = {row["source"]: row for row in rows if row["stability"] is not None}
    blocks = row_by_source.get("half_blocks")
    for source in ("half_subsamples", "outer_splits"):
        if row := row_by_source.get(source):
            return {
                "value": row["stability"],
                "source": source,
                "sets": row["n_sets"],
                "than_chance": row["than_chance"] or None,
                "lasso": row["lasso"],
                "than_lasso": row["than_lasso"] or None,
                "blocks": blocks["stability"] if blocks else None,
                "size": row["mean_size"],
                "shared": row["shared"],
                "shared_by_chance": row["shared_by_chance"],
            }
    return None


def _half_samples(rows: list[TableRow], drawn: int) -> HalfSamples:
    """Return the number of halves drawn, and whether every list of them was empty."""
    half_rows = [row for row in rows if row["source"] == "half_subsamples"]
    empty = bool(half_rows) and half_rows[0]["mean_size"] == 0
    return {"drawn": drawn, "empty": drawn > 0 and empty}


def _best_other_method(controls: list[TableRow]) -> BestOtherMethod | None:
    other_methods = [
        row for row in controls if row["model"] not in EXCLUDED_MODELS and row["error"] is not None
    ]
    if not other_methods:
        return None
    best = min(other_methods, key=lambda row: row["error"])
    return {
        "model": best["model"],
        "of": len(other_methods),
        "error": best["error"],
        "low": best["low"],
        "high": best["high"],
        "difference": best["difference"],
        "difference_low": best["difference_low"],
        "difference_high": best["difference_high"],
    }


def _misclassified(samples: Sequence[HeldOutSample]) -> Misclassified | None:
    decided: list[MisclassifiedSample] = [
        {"sample": sample["sample"], "wrong": sample["wrong"], "tested": sample["tested"]}
        for sample in samples
        if sample["wrong"] is not None
    ]
    if len(decided) < len(samples):
        return None
    mostly = [sample for sample in decided if 2 * sample["wrong"] > sample["tested"]]
    return {
        "mostly": sorted(mostly, key=lambda sample: -sample["wrong"] / sample["tested"]),
        "always": [sample["sample"] for sample in decided if sample["wrong"] == sample["tested"]],
        "samples": len(samples),
    }


def signature_warnings(data: Study) -> list[str]:
    """Warn of an empty signature, of few core genes, of a length unlike those that were tested."""
    answer = data["answer"]
    settings = data["config"]["signature"]
    if not answer["size"]:
        return ["The final model selected no gene, so the signature is empty."]
    warnings = _untested_length(data) if answer["evidence"] else _few_core(data)
    if grade(data) is Grade.NONE:  # then no list is accurate, of whatever length
        return warnings
    if data["config"]["linear"]["list"] == "stable" and answer["size"] > settings["most"]:
        warnings.append(
            f"No list of {settings['most']} genes or fewer was as accurate, so the signature has"
            f" {answer['size']}."
        )
    return warnings


def _few_core(data: Study) -> list[str]:
    answer = data["answer"]
    share = data["config"]["signature"]["cv_frequency"]
    if answer["core"] is None or answer["core"] >= MIN_CORE_SHARE * answer["size"]:
        return []
    return [
        f"Only {answer['core']} of {counted(answer['size'], 'signature gene')}"
        f" {'is' if answer['core'] == 1 else 'are'} core (selected in at least"
        f" {percent(share)} of the training sets): other patients would probably give other genes."
    ]


def _untested_length(data: Study) -> list[str]:
    """Warn of a final list longer or shorter than all of those that were tested."""
    answer = data["answer"]
    (low, _, high) = data["answer"]["lengths"]
    size = answer["evidence"]["model"] if answer["evidence"] else answer["size"]
    if low <= size <= high:
        return []
    direction = "shorter" if size < low else "longer"
    limits = f"{low:.0f}" if round(low) == round(high) else f"{low:.0f} to {high:.0f}"
    return [
        f"The final model ({counted(size, 'gene')}) is {direction} than any cross-validated model"
        f" ({limits}), so its accuracy may differ."
    ]


def error_warnings(data: Study) -> list[str]:
    """Warn of a small class, of short intervals, of another method that did better."""
    error = data["answer"]["error"]
    best = data["answer"]["control"]
    metric = measure(data)
    warnings = list(_short_intervals(data["study"], data["design"]["scheme"]))
    classes = data["study"]["classes"]
    units = data["study"]["units"]
    if classes and units and min(units) < MIN_CLASS:
        side = units.index(min(units))
        noun = "patient" if data["study"]["groups"] is None else "group"
        warnings.append(
            f"Few {clean(classes[side])} {noun}s ({units[side]}): one more error would"
            f" change the {_share_name(data, side)} by {100 / units[side]:.0f} percentage"
            " points."
        )
    if best is None or error["value"] is None or best["difference_high"] is None:
        return warnings
    if best["difference_high"] < 0:
        theirs, ours = (metric.write(metric.value(row)) for row in (best["error"], error["value"]))
        warnings.append(
            f"Another method ({model_name(best['model'])}, {method_choice(best['of'])}) had a"
            f" higher {metric.name} ({theirs} against {ours}) on the same samples; the 95% CI of"
            " the paired difference excludes 0."
        )
    return warnings


MIN_CLASS = 20
"""Independent samples of a class below which one error moves accuracy by more than 5 points."""


def _share_name(data: Study, side: int) -> str:
    """Return the name of the share of correct calls of a class."""
    if two_classes(data["study"]):
        return "sensitivity" if side else "specificity"
    return f"accuracy of {clean((data['study']['classes'] or [])[side])}"


def _short_intervals(study: StudyFacts, scheme: str) -> Iterator[str]:
    """Warn of designs of classes whose intervals are known to be short."""
    classes = study["classes"]
    units = study["units"]
    if classes and scheme == "leave_one_out":
        yield (
            "Leave-one-out does not show how far models of other samples differ: in simulated"
            " studies the 95% CIs of accuracy and AUC covered the expected value in 81–97%."
        )
    if classes and units and min(units) < MIN_UNITS_OF_CLASS:
        name = clean(classes[units.index(min(units))])
        yield (
            f"{name} has fewer than {in_words(MIN_UNITS_OF_CLASS)} independent samples: in"
            " studies simulated with four, the 95% CI of the AUC covered the expected value in"
            " about 90%."
        )


def stability_warnings(data: Study) -> list[str]:
    """Warn of stability that was not measured, or is no more than by chance or of the lasso."""
    stability = data["answer"]["stability"]
    halves = data["answer"]["halves"]
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
        predicts = "" if grade_within_study(data) is Grade.NONE else ", even if it predicts as well"
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
