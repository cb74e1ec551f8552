"""The numbers of the first screen in report_data.json, the conclusion, and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from genesig.data.steps.missing_indicators import INDICATOR_SUFFIX
from genesig.report.page.measure import EXCLUDED_MODELS, MEASURES, Measure, two_classes
from genesig.report.page.record import (
    BestOtherMethod,
    BetterMethod,
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
    Stability,
    Study,
    StudyFacts,
    Verdict,
    rounded,
)
from genesig.report.page.tables import TableRow, chosen_list_rows, genesig_rows, table_rows
from genesig.report.page.verdict import LEVEL, Analysis, judge
from genesig.report.page.wording import Wording
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.selection.assess.controls import FDR_SELECTED
from genesig.selection.assess.covariates import COVARIATES
from genesig.selection.assess.intervals import NORMAL_QUANTILE, Detectable, detectable, wilson

JsonObject = Mapping[str, Any]  # content of an about.json, or one of its rows
MAX_SIGNATURE_GENES = 200
MEASURES_OF_CLASSES = ("auc", "specificity", "sensitivity")  # names of `ClassMeasure`
# name of the error in controls.tsv, and its value by chance (of classes `collect_answer` has it)
ERROR_BY_KIND = ByKind(
    {
        "classification": ("balanced error", 0.5),
        SEVERAL_CLASSES: ("balanced error", 0.5),
        "regression": ("1 − R²", 1.0),
        "survival": ("1 − C", 0.5),
    }
)


def collect_answer(data: Study, abouts: Sequence[JsonObject]) -> Finding:
    """Return the numbers of the first screen, which are about the chosen lists.

    Those are the gene lists that the inner folds of each split chose. data: all else of the report.
    abouts: the contents of about.json of the external cohorts.
    """
    study = data["study"]
    tables = data["tables"]
    controls = table_rows(tables["controls"])
    stability_rows = chosen_list_rows(table_rows(tables["stability"]))
    chosen_controls = chosen_list_rows(genesig_rows(tables["controls"]))
    lengths = [row["n_genes"] for row in chosen_list_rows(table_rows(tables["scores"]))]
    undefined = dict.fromkeys(("error", "low", "high", "p_value"))
    row: TableRow = next(iter(chosen_controls), undefined)
    name, chance = ERROR_BY_KIND[study["task"]]
    chance = 1 - 1 / len(study["classes"]) if study["classes"] else chance
    permutations = len(data["null"]["errors"])
    assessed = [about for about in abouts if "not_assessable" not in about]
    return {
        "size": tables["signature"]["total"],
        "evidence": evidence(study, tables, data["config"]["signature"]["fdr"]),
        "core": _count_core(tables),
        "lengths": np.quantile(lengths, [0, 0.5, 1], method="nearest").astype(int).tolist(),
        "error": {
            "name": name,
            "chance": chance,
            "value": row["error"],
            "low": row["low"],
            "high": row["high"],
        },
        "p": {
            "value": row["p_value"] if permutations else None,
            "permutations": permutations,
            "smallest": 1 / (permutations + 1),
        },
        "detectable": _detectable(study, data["null"]),
        "stability": _stability(stability_rows),
        "halves": _half_samples(stability_rows, data["design"]["subsamples"]),
        "best_other_method": best_other_method(controls),
        "better_method": better_method(controls, chance),
        "cohorts": cohorts(assessed, MEASURES[study["task"]]),
        "misclassified": _misclassified(data["held_out"]["samples"]),
        "measures": measures(study, data["held_out"], chosen_controls),
        "signature_genes": _signature_genes(tables),
    }


def collect_verdict(data: Any) -> Verdict:
    """Return the conclusion, from the numbers of the first screen, of covariates and gene sets.

    data: the `Report`, all but this key and its warnings.
    """
    finding: Finding = data["answer"]
    covariates = data.get("covariates")
    sets = data["sets"]
    controls = table_rows(data["tables"]["controls"])
    row = next((row for row in controls if row["model"] == "sets"), None)
    if sets is None or row is None:
        return judge(finding, covariates, None)
    p = sets["p"]["value"] if sets["p"]["smallest"] <= LEVEL else None  # too few permutations
    excludes_chance = None if row["high"] is None else row["high"] < finding["error"]["chance"]
    return judge(finding, covariates, Analysis(p, excludes_chance))


def cohorts(assessed: Sequence[JsonObject], metric: Measure) -> Cohorts:
    """Count the cohorts in which the model is better, or worse, than chance; list all.

    assessed: contents of about.json of the cohorts in which the model could be tested.
    """
    chance = metric.external_measure.chance
    new_cohorts = [about for about in assessed if not about["seen_before"]]
    scores = [_score(about, metric.external_measure.key) for about in new_cohorts]
    return {
        "tested": len(new_cohorts),
        "better": sum(row["low"] is not None and row["low"] > chance for row in scores),
        "worse": sum(row["high"] is not None and row["high"] < chance for row in scores),
        "rows": [_cohort_error(about, metric) for about in assessed],
    }


def _score(about: JsonObject, score_name: str) -> JsonObject:
    """Return the row of a measure in about.json; of a missing one all values are None."""
    missing = {"value": None, "low": None, "high": None}
    return next((row for row in about["scores"] if row["measure"] == score_name), missing)


def _cohort_error(about: JsonObject, metric: Measure) -> CohortError:
    """Return the error as controls.tsv has it: balanced error, 1 − R² or 1 − C."""
    row = _score(about, "balanced_error" if metric.share else metric.external_measure.key)
    value, low, high = (row[key] for key in ("value", "low", "high"))
    if not metric.share:  # a measure of accuracy, so its limits change places
        value, low, high = (None if v is None else 1 - v for v in (value, high, low))
    return {
        "name": about["name"],
        "samples": len(about["predictions"]),
        "groups": about["groups"]["count"] if "groups" in about else None,
        "seen_in_training": bool(about["seen_before"]),
        "error": value,
        "low": low,
        "high": high,
        "measures": [
            {"name": name, "value": score["value"], "low": score["low"], "high": score["high"]}
            for name in MEASURES_OF_CLASSES
            if metric.share and (score := _score(about, name))["value"] is not None
        ],
    }


def measures(
    study: StudyFacts, held_out: HeldOut, chosen_controls: Sequence[TableRow]
) -> list[ClassMeasure]:
    """Return AUC, specificity and sensitivity of two classes, the AUC of several; else [].

    Sensitivity is the share of correct calls of samples of the positive class, specificity that of
    the negative one, each the mean over repeats. Their intervals are Wilson's, which take samples
    as independent; where samples come in groups, a class counts as many observations as it has
    groups, as in the interval of the balanced error. The AUC is that of the chosen lists:
    `chosen_controls` is their only row of controls.tsv, or empty.
    """
    if study["classes"] is None:
        return []
    class_measures: list[ClassMeasure] = []
    for row in chosen_controls:
        if row["auc"] is not None:
            class_measures.append(
                {"name": "auc", "value": row["auc"], "low": row["auc_low"], "high": row["auc_high"]}
            )
    # `units` has a number for each class, in the order of the classes; None without classes.
    for name, label, units in zip(
        ("specificity", "sensitivity"), two_classes(study) or (), study["units"] or (), strict=False
    ):
        samples = [sample for sample in held_out["samples"] if sample["label"] == label]
        if samples:
            class_measures.append(_share_of_correct_calls(name, samples, units))
    return class_measures


def _share_of_correct_calls(
    name: str, samples: Sequence[HeldOutSample], units: int
) -> ClassMeasure:
    """Return the mean share over the samples of a class, with the interval for so many units."""
    shares = [1 - (sample["wrong"] or 0) / sample["tested"] for sample in samples]
    share = sum(shares) / len(samples)
    low, high = wilson(share, units)
    return {  # rounded here: the AUC in the same list has the digits of controls.tsv
        "name": name,
        "value": rounded(share, 5),
        "low": rounded(low, 5),
        "high": rounded(high, 5),
    }


def _signature_genes(tables: Mapping[str, PackedTable]) -> list[SignatureGene]:
    """Return the first genes of the signature, with their evidence and direction."""
    statistic = {row["gene"]: row["statistic"] for row in table_rows(tables["univariate"])}
    several_classes = "class" in tables["signature"]["columns"]  # that of the largest weight
    return [
        {
            "gene": str(row["gene"]),
            "symbol": str(row["symbol"] or row["gene"]),
            "cv_frequency": row["cv_frequency"],
            "fdr_selected": row.get("fdr_selected"),
            "selection_frequency": row.get("selection_frequency"),
            "selection_q": row.get("selection_q"),
            "core": row.get("core"),
            "up": None if several_classes else _is_positive(statistic.get(row["gene"])),
        }
        for row in table_rows(tables["signature"])[:MAX_SIGNATURE_GENES]
    ]


def _is_positive(statistic: float | None) -> bool | None:
    """Return whether a test statistic is positive; None if it is 0 or missing."""
    return None if not statistic else statistic > 0


def evidence(study: StudyFacts, tables: Mapping[str, PackedTable], fdr: float) -> Evidence | None:
    """Return the numbers of FDR-selected genes; None if signature.permutations is 0."""
    if "fdr_selected" not in tables["signature"]["columns"]:
        return None
    signature, selection = (table_rows(tables[name]) for name in ("signature", "selection"))
    selected_rows = [row for row in selection if row["fdr_selected"]]
    selection_q = [row["selection_q"] for row in selected_rows]
    model_rows = [row for row in signature if row["weight"] != 0]
    controls = table_rows(tables["controls"])
    return {
        "fdr_selected": len(selected_rows),
        "fdr_selected_indicators": _count_indicators(study, selected_rows),
        "expected_false": len(selected_rows) * max(selection_q, default=0.0),
        "passing": sum(row["selection_q"] <= fdr for row in selection),
        "model_size": len(model_rows),
        "model_indicators": _count_indicators(study, model_rows),
        "fdr_selected_only": _fdr_selected_error(controls) if selected_rows else None,
    }


def _count_indicators(study: StudyFacts, rows: Sequence[TableRow]) -> int:
    """Return the number of rows that are missing-value indicators, not genes."""
    if not study["indicators"]:  # a gene may have a name with the same ending
        return 0
    return sum(str(row["gene"]).endswith(INDICATOR_SUFFIX) for row in rows)


def _fdr_selected_error(controls: Sequence[TableRow]) -> FdrSelectedError | None:
    """Return the error of models of FDR-selected genes only; None if undefined, or no other model.

    The fields of the record are columns of controls.tsv.
    """
    row = next((row for row in controls if row["model"] == FDR_SELECTED), None)
    if row is None or row["error"] is None or row["difference"] is None:
        return None
    if row["difference"] == row["difference_low"] == row["difference_high"] == 0:
        return None  # the genes are those of the predictive models
    record: Any = {key: row[key] for key in FdrSelectedError.__annotations__}
    return record  # type: ignore[no-any-return]


def _count_core(tables: Mapping[str, PackedTable]) -> int | None:
    """Return the number of core genes; None unless signature.permutations is 0."""
    if "core" not in tables["signature"]["columns"]:
        return None
    return sum(bool(row["core"]) for row in table_rows(tables["signature"]))


def _detectable(study: StudyFacts, null: NullErrors) -> Detectable:
    """Return the detectable effects; of survival and several classes, by permutations alone."""
    # `detectable` takes [] for an outcome that is neither classes nor a number, None for a number.
    no_class_sizes: ByKind[list[int]] = ByKind({"survival": []})
    class_sizes = no_class_sizes.get(study["task"], study["units"])
    n_independent = study["samples"] if study["groups"] is None else study["groups"]
    return detectable(null["errors"], class_sizes, n_independent, study["genes"])


def _stability(rows: list[TableRow]) -> Stability | None:
    """Return the stability by halves of the samples, else by outer splits; None if undefined."""
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
    all_empty = bool(half_rows) and half_rows[0]["mean_size"] == 0
    return {"drawn": drawn, "no_gene_selected": drawn > 0 and all_empty}


def _other_methods(controls: Sequence[TableRow]) -> list[TableRow]:
    """Return the rows of methods other than genesig's models that have an error."""
    return [
        row for row in controls if row["model"] not in EXCLUDED_MODELS and row["error"] is not None
    ]


def best_other_method(controls: Sequence[TableRow]) -> BestOtherMethod | None:
    """Return the other method with the smallest error; None if no other method has an error."""
    rows = _other_methods(controls)
    if not rows:
        return None
    best = min(rows, key=lambda row: row["error"])
    # The fields are columns of the table, but for `n_methods`.
    record: Any = {key: best.get(key) for key in BestOtherMethod.__annotations__}
    record["n_methods"] = len(rows)
    return record  # type: ignore[no-any-return]


def better_method(controls: Sequence[TableRow], chance: float) -> BetterMethod | None:
    """Return the best other method that predicts better than chance and than the linear models.

    None if no method has a corrected p of at most `LEVEL` and an interval of the paired difference
    from the linear models that excludes 0. Labels are permuted for the linear models alone; p is
    therefore derived from the interval of the error, and multiplied by the number of methods. None
    with covariates, for which the other methods are not adjusted.
    """
    if any(row["model"] == COVARIATES for row in controls):
        return None
    rows = _other_methods(controls)

    def corrected_p(row: Any) -> float:
        """Return p times the number of methods, at most 1."""
        return min(1.0, len(rows) * _p_against_chance(row["error"], row["high"], chance))

    best = best_other_method(
        [row for row in rows if corrected_p(row) <= LEVEL and (row["difference_high"] or 0) < 0]
    )
    return None if best is None else {**best, "n_methods": len(rows), "p": corrected_p(best)}


def _p_against_chance(error: float, high: float | None, chance: float) -> float:
    """Return the one-sided p of an error below chance; its upper limit gives the standard error."""
    if high is None or high >= chance:
        return 1.0
    if high <= error:
        return 0.0
    return NormalDist().cdf(-NORMAL_QUANTILE * (chance - error) / (high - error))


def _misclassified(samples: Sequence[HeldOutSample]) -> Misclassified | None:
    """Return the samples that were misclassified; None without classes."""
    decided: list[MisclassifiedSample] = [
        {"sample": sample["sample"], "wrong": sample["wrong"], "tested": sample["tested"]}
        for sample in samples
        if sample["wrong"] is not None
    ]
    if len(decided) < len(samples):  # without classes
        return None
    mostly = [sample for sample in decided if 2 * sample["wrong"] > sample["tested"]]
    return {
        "mostly": sorted(mostly, key=lambda sample: -sample["wrong"] / sample["tested"]),
        "always": [sample["sample"] for sample in decided if sample["wrong"] == sample["tested"]],
        "samples": len(samples),
    }


WORDS = Wording(
    __file__,  # sentences: the macros of collect.j2, by name
    MIN_CORE_SHARE=0.2,  # share of the signature that is core below which its lists hardly agree
    MIN_UNITS_OF_ACCURACY=20,  # independent samples of a class below which one error is 5 points
    MIN_UNITS_OF_AUC=5,  # independent samples of a class below which the interval of AUC is short
)


def signature_warnings(data: Study) -> list[str]:
    """Warn of an empty signature, of few core genes, of a length unlike those that were tested."""
    return WORDS.paragraphs("signature", data)


def error_warnings(data: Study) -> list[str]:
    """Warn of short intervals, of a small class, of another method that did better."""
    return WORDS.paragraphs("error", data)


def stability_warnings(data: Study) -> list[str]:
    """Warn of stability that was not measured, or is no more than by chance or of the lasso."""
    return WORDS.paragraphs("stability", data)
