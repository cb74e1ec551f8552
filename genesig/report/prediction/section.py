"""Sections about model selection, prediction, chance, other methods and single samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import inf

from genesig.report.page.charts import (
    FEWEST_FOR_BAND,
    confusion,
    confusion_data,
    confusion_words,
    each_value,
)
from genesig.report.page.measure import held, measure, shuffled, two
from genesig.report.page.record import Curve, HeldOutSample, Rejection
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Columns, Picture, picture
from genesig.report.page.tables import (
    Cell,
    Row,
    Table,
    control_rows,
    fdr_selected_only,
    of_chosen,
    own_rows,
    records,
    shown_table,
    transposed,
    turned,
)
from genesig.report.page.words import (
    between,
    clean,
    counted,
    decimal,
    percent,
    significant,
    with_limits,
)
from genesig.report.prediction import figures
from genesig.report.prediction.collect import Prediction
from genesig.selection.assess.controls import FDR_SELECTED


def model_selection(data: Prediction, limits: Limits) -> Section:
    """Show the surface of the validation error, with the chosen points."""
    it = data["surface"]
    tau, row = it["final"]
    along = "mu" if it["along"] == "mu" else "lambda"
    image = picture(
        "model_selection",
        partial(figures.surface, data),
        data=figures.surface_data(it),
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
    return Section("selection", "Model selection", _selection_words(data), pictures=[image])


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
    """Show the error of the study."""
    found = [*(_of_classes(data) if data["study"]["classes"] else _of_a_number(data))]
    if not found:  # survival has a section of its own
        return Section("performance", "Accuracy on held-out samples", part="prediction")
    words = [said] if (said := _sides(data)) else []
    return Section("performance", "Accuracy on held-out samples", words, found, part="prediction",
                   files=["scores.tsv"])  # fmt: skip


def _sides(data: Prediction) -> str:
    """Say sensitivity and specificity of two classes."""
    said = [
        f"{one['name']} {percent(one['value'])}{between(one['low'], one['high'], percent)}"
        for one in reversed(data["answer"]["measures"]) if one["name"] != "auc"
    ]  # fmt: skip
    if not said:
        return ""
    return (
        f"Held-out samples: {' and '.join(said)}; these CIs are for the calls made here, not for"
        " models trained on other patients."
    )


def _of_classes(data: Prediction) -> Iterator[Picture]:
    classes, held_out = data["study"]["classes"] or [], data["held_out"]
    if held_out["roc"] is not None:
        yield _roc(held_out["roc"], classes, _auc(data), data["design"]["repeats"])
    if held_out["confusion"] is not None:
        yield _confusion(held_out["confusion"], classes, data["design"]["repeats"])


def _auc(data: Prediction) -> str:
    """Return the AUC with its interval, as scores give it."""
    own = of_chosen(own_rows(data["tables"]["controls"]))
    if not own or own[0]["auc"] is None:
        return "AUC not defined"
    return with_limits("AUC", own[0]["auc"], own[0]["auc_low"], own[0]["auc_high"])


def _roc(found: list[Curve], classes: list[str], auc: str, repeats: int) -> Picture:
    curves = "One curve per repeat" if repeats > 1 else "One curve"
    return picture(
        "roc",
        partial(figures.roc, found, classes, auc),
        data=transposed(
            ("repeat", "false_positive_rate", "true_positive_rate"),
            [(one["repeat"], *at) for one in found for at in zip(one["x"], one["y"], strict=True)],
        ),
        title="ROC curve of the held-out scores",
        description=f"{curves}. {auc}.",
        caption=f"{curves}. Curves pool scores of several models; the AUC compares only samples"
        " scored by the same model. Diagonal: chance.",
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
    """Say how p was reached; the first screen draws the permutations if there is no evidence."""
    p, errors, observed = data["answer"]["p"], data["null"]["errors"], data["null"]["observed"]
    if not errors or observed is None:
        words = ["No permutation test was run, so there is no p-value."]
        return Section("chance", "Permutation test", words, part="prediction")
    words = [
        f"The whole analysis was repeated {counted(len(errors), 'time')} with the labels"
        f" {shuffled(data)}.{_speaks_of(data)}"
        f" p = (1 + number of permutations with {measure(data).as_good})/({len(errors)} + 1) ="
        f" {significant(p['value'], 2)}; the smallest value that {len(errors)} permutations allow"
        f" is {significant(p['smallest'], 2)}."
    ]
    return Section("chance", "Permutation test", words, part="prediction", folded=True)


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


def controls(data: Prediction, limits: Limits) -> Section:
    """Show other methods on the same splits."""
    caption = "All methods on the same outer splits, genesig at every μ."
    if data["null"]["errors"]:
        caption += " p: only models that were repeated with permuted labels have one."
    table = _controls_table(data, caption, limits)
    words = [
        "A signature should come close to methods that use all genes. All methods saw the same"
        " training and test samples." + _alone(data)
    ]
    rows = control_rows(data)
    if not any(row["model"] == "genesig" for row in rows):
        return Section("controls", "Other methods", words, [table], part="prediction")
    shown = measure(data)
    image = picture(
        "controls",
        partial(figures.controls, data),
        data={"model": [row["model"] for row in rows], **shown.columns(rows)},
        title=f"{shown.title} of every method on the same splits",
        description=f"{shown.name}, dots with 95% CI: {each_value(rows, shown)}.",
        caption=f"Dot: {shown.name} on held-out samples; line: 95% CI of the procedure."
        f" Dashed: chance.{_band(data)} Where intervals overlap, they do not show which method is"
        " better; the paired differences in the table do.",
    )
    return Section("controls", "Other methods", words, [image, table], part="prediction")


def _alone(data: Prediction) -> str:
    """Say what the model of FDR-selected genes is; nothing where there is none."""
    if all(row["model"] != FDR_SELECTED for row in records(data["tables"]["controls"])):
        return ""
    least = counted(data["config"]["signature"]["least"], "gene")
    evidence = data["answer"]["evidence"]
    price = evidence["price"] if evidence else None
    reached = "" if price is None else f" {fdr_selected_only(data, price)}."
    return (
        f"{reached} FDR-selected genes only: selected again in each training set (the {least} with"
        " the largest selection frequency if fewer pass)."
    )


def _band(data: Prediction) -> str:
    if len(data["null"]["errors"]) < FEWEST_FOR_BAND:
        return ""
    return " Grey: 95% of the runs with permuted labels."


def _controls_table(data: Prediction, caption: str, limits: Limits) -> Table:
    """Show controls.tsv; errors as accuracy, R² or C, like everything on the page."""
    table, shown = data["tables"]["controls"], measure(data)
    rows, columns = sorted(records(table), key=_place), table["columns"]
    caption += f" The column error of controls.tsv is 1 − {shown.name}."
    columns = [shown.column if name == "error" else name for name in columns]
    names = ("difference", "difference_low", "difference_high")
    if all(name in columns for name in names):
        rows = [{**row, **dict(zip(names, turned(row), strict=True))} for row in rows]
    rows = [{**row, "error": shown.value(row["error"]),
             **dict(zip(("low", "high"), shown.interval(row), strict=True))}
            for row in rows]  # fmt: skip
    return _with_chosen(shown_table(
        "controls", caption, columns, [list(row.values()) for row in rows], limits.table_rows,
        total=table["total"], file=table["file"],
    ))  # fmt: skip


def _place(row: Row) -> tuple[int, float]:
    """Put the chosen lists first, other methods by their error, the lists at each μ last."""
    if row["model"] != "genesig":
        return 1, inf if row["error"] is None else row["error"]
    return (0, 0.0) if row["mu"] is None else (2, row["mu"])


def _with_chosen(table: Table) -> Table:
    """Call the lists by their name that have no μ of their own; other methods have none at all."""
    keys = [column.key for column in table.columns]
    if "mu" in keys:
        model, mu = keys.index("model"), keys.index("mu")
        for row in table.rows:
            if row[model].value == "genesig" and row[mu].value is None:
                row[mu] = Cell("chosen")
    return table


def samples(data: Prediction, limits: Limits) -> Section:
    """Say who is wrong, and how often."""
    found, classes = data["held_out"]["samples"], data["study"]["classes"]
    by_class = classes is not None
    columns = ["sample", "label", "tested", *(["wrong"] if by_class else []), "mean", "scores"]
    ranked = sorted(found, key=_worst)
    scores = [", ".join(significant(v, 2) for v in one["scores"]) for one in ranked]
    cells = [{**one, "scores": text} for one, text in zip(ranked, scores, strict=True)]
    rows = [[values[key] for key in columns] for values in cells]
    order = "most often misclassified" if by_class else "worst predicted"
    order = order if by_class or measure(data).fitted else "highest score"
    table = shown_table(
        "held_out_samples", f"Held-out predictions by sample, {order} first.", columns, rows,
        limits.table_rows, total=len(rows), file="predictions.tsv", search=True,
    )  # fmt: skip
    words, items = [sample_words(data)], list[Item]()
    if two(data["study"]):
        words.append(refused_words(data["held_out"]["rejection"] or []))
    elif classes:
        items.append(_margins(found, classes))
    return Section("samples", "By sample", words, [*items, table], part="prediction", folded=True)


def _worst(one: HeldOutSample) -> tuple[float, float]:
    """Sort by the times a sample was wrong and its mean score; a number by its distance."""
    if one["wrong"] is None:
        apart = one["mean"] if isinstance(one["label"], str) else abs(one["mean"] - one["label"])
        return (-apart, 0.0)
    return (-one["wrong"] / one["tested"], abs(one["mean"]))


def sample_words(data: Prediction) -> str:
    """Say how many samples were misclassified in most of their repeats."""
    wrong = data["answer"]["wrong"]
    if wrong is None:
        return "Predictions of each sample while it was held out."
    mostly, always = len(wrong["mostly"]), len(wrong["always"])
    if not mostly:
        most = " in most of its repeats" * (data["design"]["repeats"] > 1)
        return f"No sample was misclassified{most} while it was held out."
    most = f" in {'every repeat' if mostly == always else 'most repeats'}"
    every = f", {always} of them in every one" if 0 < always < mostly else ""
    return (
        f"{mostly} of {counted(wrong['samples'], 'sample')} {'was' if mostly == 1 else 'were'}"
        f" misclassified{most * (data['design']['repeats'] > 1)} while held out"
        f"{every}. Check {'it' if mostly == 1 else 'them'} for mislabelling, an unusual subtype or"
        " low sample quality."
    )


def _scores(found: list[HeldOutSample]) -> Columns:
    return transposed(
        ("sample", "label", "score"),
        [(one["sample"], one["label"], score) for one in found for score in one["scores"]],
    )


def _margins(found: list[HeldOutSample], classes: list[str]) -> Picture:
    return picture(
        "samples",
        partial(figures.samples, found, classes),
        data=_scores(found),
        title="Margin of each sample while held out",
        description="Dots of the held-out margins of each sample, sorted by class and mean.",
        caption=f"{_dots(found)}: that of its own class less the largest of the others. Below the"
        " dashed line a sample is called something else.",
    )


def _dots(found: list[HeldOutSample]) -> str:
    if all(one["tested"] == 1 for one in found):
        return "One dot per sample, its score while held out"
    return "One dot per time a sample was held out, a bar for the mean score"


def refused_words(refused: list[Rejection]) -> str:
    """Say whom to refuse so that no error is left, or that nobody need be."""
    if not any(row["wrong"] for row in refused):
        return (
            "Averaged over repeats, every sample falls on the correct side of the threshold, so"
            " none needs to be left undecided."
        )
    return (
        "Leaving the scores closest to 0 undecided"
        f" ({' and '.join(map(_rejection_words, refused))}) would have removed all errors here."
        " Optimistic: these thresholds were chosen on the same data."
    )


def _rejection_words(row: Rejection) -> str:
    if row["threshold"] is None:
        return f"no {clean(row['class'])} call"
    calls = f"{clean(row['class'])} calls ({percent(row['share'])})"
    return f"{row['rejected']} of {row['predicted']} {calls}"
