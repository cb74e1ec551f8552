"""Sections about model selection, prediction, chance and the controls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from genesig.report.page.confusion import confusion, confusion_data, confusion_words
from genesig.report.page.measure import measure
from genesig.report.page.record import Curve
from genesig.report.page.rows import (
    columns_of,
    of_chosen,
    own_rows,
    records,
    transposed,
)
from genesig.report.page.section import Group, Item, Limits, Section
from genesig.report.page.shuffling import held, shuffled
from genesig.report.page.sides import two
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import packed_table
from genesig.report.page.words import (
    between,
    clean,
    counted,
    decimal,
    percent,
    significant,
    with_limits,
)
from genesig.report.prediction import figures, figures_selection
from genesig.report.prediction.record import Prediction
from genesig.report.prediction.section_decision import precision

FOLDED = ("precision_recall",)
"""Figures of the section that open on demand, where others stand before them."""


def model_selection(data: Prediction, limits: Limits) -> Section:
    """Show the surface of the validation error, with the chosen points."""
    it = data["surface"]
    tau, row = it["final"]
    along = "mu" if it["along"] == "mu" else "lambda"
    image = picture(
        "model_selection",
        partial(figures_selection.surface, data),
        data=figures_selection.surface_data(it),
        title=f"Validation error over τ and {'μ' if along == 'mu' else 'λ'}",
        description=(
            f"Image of the validation error over {len(it['tau'])} values of tau and"
            f" {len(it['rows'])} of {along}, with the points that the outer splits chose. The final"
            f" model uses tau {significant(it['tau'][tau])} of tau max and {along}"
            f" {significant(it['rows'][row])}. Below, the mean number of selected genes."
        ),
        caption=(
            "Above: validation error over the inner folds, averaged over the outer splits; dark is"
            " small, white: lists longer than can be chosen. Numbers count the splits that chose a"
            " point, the diamond marks the final model. Below: mean number of genes at each τ."
        ),
    )
    return Section("selection", "Model selection", _selection_words(data), [image])


def _selection_words(data: Prediction) -> list[str]:
    """Say what was tuned within each training set."""
    if data["config"]["linear"]["list"] == "minimal":
        return [
            "Within each training set, cross-validation chose τ (larger τ selects fewer genes) and"
            " λ (strength of ridge shrinkage of the final weights)."
        ]
    return [
        "Within each training set, cross-validation measured every combination of τ (larger τ"
        " selects fewer genes), μ (larger μ lets correlated genes in together) and λ (ridge"
        " shrinkage of the final weights). Among the lists whose error is within one standard"
        f" error of the smallest, and of at most {data['config']['signature']['most']} genes, the"
        " one on which the inner folds agree most was chosen."
    ]


def performance(data: Prediction, limits: Limits) -> Section:
    """Show the error of the study, and of each split."""
    shown = measure(data)
    what = "Errors are" if data["study"]["classes"] else f"{shown.name} and errors are"
    words = [f"{what} measured on samples used in neither selection nor tuning.{_sides(data)}"]
    each: list[Item] = []
    if data["design"]["test"][1] > 1 and data["design"]["outer"] > 1:
        each.append(picture(
            "performance_splits",
            partial(figures_selection.per_split, data),
            data=columns_of(
                of_chosen(records(data["tables"]["scores"])), "split", "repeat",
                figures_selection.split_error(data)[0], "n_genes",
            ),
            title="Performance of each outer split",
            description="Dots: error and number of selected genes of each split, by repeat.",
            caption="One dot per outer split; the bar is the mean of the repeat. Test sets are"
            " small, so single splits scatter; the mean over all of them is what counts.",
        ))  # fmt: skip
    found = [*(_of_classes(data) if data["study"]["classes"] else _of_a_number(data))]
    first = [one for one in found if one.name not in FOLDED]
    each = [*(one for one in found if one not in first), *each]
    each.append(packed_table(data, "scores", "Every outer split at every μ.", limits.table_rows))
    group = Group("splits", "In more detail: each outer split", (), each)
    return Section("performance", "How well it predicts", words, [*first, group], part="evidence")


def _sides(data: Prediction) -> str:
    """Say sensitivity and specificity of two classes."""
    said = [
        f"{one['name']} {percent(one['value'])}{between(one['low'], one['high'], percent)}"
        for one in reversed(data["answer"]["measures"]) if one["name"] != "auc"
    ]  # fmt: skip
    both = " and ".join(said)
    return f" {both[0].upper()}{both[1:]}." if both else ""


def _of_classes(data: Prediction) -> Iterator[Picture]:
    classes, held_out = data["study"]["classes"] or [], data["held_out"]
    if held_out["roc"] is not None:
        yield _roc(held_out["roc"], classes, _auc(data), data["design"]["repeats"])
    if held_out["samples"] and two(data["study"]):
        yield precision(held_out["samples"], classes)
    if held_out["confusion"] is not None:
        yield _confusion(held_out["confusion"], classes, data["design"]["repeats"])


def _auc(data: Prediction) -> str:
    """Return the AUC with its interval, as scores give it."""
    own = of_chosen(own_rows(data["tables"]["controls"]))
    if not own or own[0]["auc"] is None:
        return "AUC not defined"
    return with_limits("AUC", own[0]["auc"], own[0]["auc_low"], own[0]["auc_high"])


def _roc(found: list[Curve], classes: list[str], auc: str, repeats: int) -> Picture:
    curves = "One ROC curve per repeat" if repeats > 1 else "One ROC curve"
    return picture(
        "roc",
        partial(figures.roc, found, classes, auc),
        data=transposed(
            ("repeat", "false_positive_rate", "true_positive_rate"),
            [(one["repeat"], *at) for one in found for at in zip(one["x"], one["y"], strict=True)],
        ),
        title="ROC curve of the held-out scores",
        description=f"{curves}. {auc}.",
        caption=f"{curves} from the pooled held-out scores. The diagonal is chance; the"
        " closer to the upper left corner the better. The AUC counts pairs of samples of one test"
        " set (where one lacks a class, of a repeat); the curves put scores of several models"
        " together.",
    )


def _confusion(counts: list[list[float]], classes: list[str], repeats: int) -> Picture:
    count = "Mean number of held-out samples per repeat"
    if repeats == 1:
        count = "Number of held-out samples"
    return picture(
        "confusion",
        partial(confusion, counts, classes),
        data=confusion_data(counts, classes),
        title="Confusion matrix",
        description=f"{count}: {confusion_words(counts, classes)}.",
        caption=f"{count}, and share of the true class.",
    )


def _of_a_number(data: Prediction) -> Iterator[Picture]:
    held_out, fit = data["held_out"], data["held_out"]["fit"]
    if fit is None:
        return
    yield picture(
        "observed_predicted",
        partial(figures.observed_predicted, held_out["samples"], fit, data["study"]["label"]),
        data={
            "sample": [one["sample"] for one in held_out["samples"]],
            "observed": [one["label"] for one in held_out["samples"]],
            "predicted": [one["mean"] for one in held_out["samples"]],
        },
        title="Observed and predicted values",
        description=f"Scatter of held-out predictions against observed values, R squared"
        f" {decimal(fit['r2'])}.",
        caption=_fit_caption(data["design"]["repeats"] > 1),
    )


def _fit_caption(several: bool) -> str:
    line = "The dashed line is perfect prediction."
    if not several:
        return f"Held-out prediction of each sample against its observed value. {line}"
    return (
        "Mean held-out prediction of each sample against its observed value; thin lines span the"
        f" repeats. {line} The mean over repeats errs a little less than the single repeat, which"
        " the reported R² is about."
    )


def chance(data: Prediction, limits: Limits) -> Section:
    """Show what permuted labels give."""
    p, errors, observed = data["answer"]["p"], data["null"]["errors"], data["null"]["observed"]
    if not errors or observed is None:
        words = ["No labels were permuted, so there is no p-value."]
        return Section("chance", "Permutation test", words, part="evidence")
    words = [
        f"The whole analysis was repeated {counted(len(errors), 'time')} with the labels"
        f" {shuffled(data)}.{_speaks_of(data)}"
        f" p = (1 + number of permutations with {measure(data).as_good})/({len(errors)} + 1) ="
        f" {significant(p['value'], 2)}; the smallest value that {len(errors)} permutations allow"
        f" is {significant(p['smallest'], 2)}."
    ]
    measured, side = measure(data), "left" if data["study"]["classes"] else "right"
    *shuffles, seen = measured.values([*errors, observed])
    image = picture(
        "null",
        partial(figures.null, shuffles, seen, measured.name),
        data={"permutation": [*range(1, len(shuffles) + 1), 0], measured.column: [*shuffles, seen]},
        title=f"{measured.title} with permuted labels",
        description=f"Histogram of the {measured.name} of {len(errors)} permutations; observed"
        f" {decimal(seen)}, p {significant(p['value'], 2)}.",
        caption=f"Grey: what the same procedure finds with the labels {shuffled(data)}. The further"
        f" the observed {measured.name} lies to the {side} of them, the less it can be chance.",
    )
    return Section("chance", "Permutation test", words, [image], part="evidence", folded=True)


def _speaks_of(data: Prediction) -> str:
    if names := held(data):
        return f" So p asks whether expression adds anything to {names}."
    if data["batch"] is not None and data["study"]["exchanged"] == "samples":
        return " So p speaks of differences within a batch, not of those between batches."
    if data["study"]["exchanged"] != "within":
        return ""
    return (
        f" So p speaks of differences within a {clean(data['study']['group'])}, not of those"
        " between them."
    )
