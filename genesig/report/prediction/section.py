"""Sections and Methods: model selection, accuracy, classes, permutations, baselines, samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import inf

import numpy as np

from genesig.optim.classes import VARIANCE_FACTOR
from genesig.report.page.charts import (
    MIN_BAND_PERMUTATIONS,
    confusion,
    confusion_data,
    confusion_words,
    model_values,
)
from genesig.report.page.measure import EXCLUDED_MODELS, measure, two_classes
from genesig.report.page.record import HeldOutSample, RepeatRocCurve
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Picture
from genesig.report.page.tables import (
    CI_FROM,
    CI_TO,
    Cell,
    Column,
    Table,
    TableRow,
    accuracy_difference,
    chosen_list_rows,
    control_rows,
    filled_table,
    genesig_rows,
    shown_table,
    table_rows,
    transposed,
)
from genesig.report.page.verdict import LEVEL
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, counted, decimal, percent, significant, with_limits
from genesig.report.prediction import figures
from genesig.report.prediction.collect import Prediction
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.selection.assess.controls import FDR_SELECTED
from genesig.selection.assess.intervals import wilson

CLASS_COLUMNS = (
    Column("Class", "text"),
    Column("Samples", "integer"),
    Column("Recognised", "share", "Sensitivity: share of its held-out samples called so"),
    Column(CI_FROM, "share"),
    Column(CI_TO, "share"),
    Column("Most often taken for", "text"),
)

# phrases for settings, by their values in the config
SCHEME_WORDS = {
    "stratified_kfold": "stratified {folds}-fold cross-validation{repeated}",
    "leave_one_out": "leave-one-out cross-validation",
    "leave_one_group_out": "leave-one-group-out cross-validation",
    "leave_one_batch_out": "leave-one-batch-out cross-validation",
    "leave_one_study_out": "leave-one-study-out cross-validation",
    "stratified_group_kfold": "stratified group {folds}-fold cross-validation{repeated}, groups"
    " kept whole",
    "predefined": "the division into training and test samples that the sample table gives",
}
SOLVER_WORDS = {
    "landweber-newton": "an exact active-set Newton solver, certified by the duality gap",
    "landweber-nested": "the accelerated damped Landweber iteration of Mosci (2009, Algorithm 2)",
    "coordinate-descent": "coordinate descent, stopped by the duality gap",
    "landweber": "the damped Landweber iteration of Mosci (2009, Algorithm 1)",
}
CRITERION_WORDS = {
    "squared_error": "squared error",
    "balanced_error": "class-balanced error",
    "misclassification": "misclassification",
    "log_loss": "logistic loss",
    "partial_likelihood": "the partial likelihood that left-out samples add",
}
SQUARED_LOSS = "(1/n)‖y − Xβ‖²"
LOSS_OF_KIND = ByKind(
    {
        "classification": SQUARED_LOSS,
        SEVERAL_CLASSES: SQUARED_LOSS,
        "regression": SQUARED_LOSS,
        "survival": "−(2/n) log L(Xβ), L Cox's partial likelihood,",
    }
)


def model_selection_section(data: Prediction, limits: Limits) -> Section:
    """Return the section about model selection; its figure is a file only."""
    grid = data["surface"]
    image = Picture(
        "model_selection",
        partial(figures.draw_surface, data),
        data=figures.surface_data(grid),
        title=f"Validation error over τ and {'μ' if grid['along'] == 'mu' else 'λ'}",
        description=WORDS.text("surface_description", grid),
        caption=WORDS.text("surface_caption"),
    )
    is_minimal = data["config"]["linear"]["list"] == "minimal"
    words = WORDS.paragraphs("model_selection", is_minimal=is_minimal)
    return Section("selection", "Model selection", words, pictures=[image])


def performance_section(data: Prediction, limits: Limits) -> Section | None:
    """Return the section about accuracy; None for survival, which has another section."""
    pictures = [*(_class_pictures(data) if data["study"]["classes"] else _number_pictures(data))]
    if not pictures:
        return None
    return Section(
        "performance",
        "Accuracy on held-out samples",
        WORDS.paragraphs("accuracy", data["answer"]["measures"]),
        pictures,
        part="prediction",
        files=["scores.tsv"],
    )


def _class_pictures(data: Prediction) -> Iterator[Picture]:
    """Yield ROC curve and confusion matrix of held-out samples."""
    classes = data["study"]["classes"] or []
    held_out = data["held_out"]
    if held_out["roc"] is not None:
        yield _roc_picture(held_out["roc"], classes, _auc_text(data), data["design"]["repeats"])
    if held_out["confusion"] is not None:
        yield _confusion_picture(held_out["confusion"], classes, data["design"]["repeats"])


def _auc_text(data: Prediction) -> str:
    """Return the AUC of the chosen lists with its interval."""
    row = next(iter(chosen_list_rows(genesig_rows(data["tables"]["controls"]))), {})
    if row.get("auc") is None:
        return "AUC not defined"
    return with_limits("AUC", row["auc"], row["auc_low"], row["auc_high"])


def _roc_picture(
    curves: list[RepeatRocCurve], classes: list[str], auc: str, repeats: int
) -> Picture:
    """Return the ROC curve of the held-out scores."""
    return Picture(
        "roc",
        partial(figures.draw_roc, curves, classes, auc),
        data=transposed(
            ("repeat", "false_positive_rate", "true_positive_rate"),
            [
                (curve["repeat"], *point)
                for curve in curves
                for point in zip(curve["x"], curve["y"], strict=True)
            ],
        ),
        title="ROC curve of the held-out scores",
        description=WORDS.text("roc_description", auc, repeats),
        caption=WORDS.text("roc_caption", repeats),
    )


def _confusion_picture(counts: list[list[float]], classes: list[str], repeats: int) -> Picture:
    """Return the confusion matrix of the held-out calls."""
    count = WORDS.text("confusion_count", repeats)
    return Picture(
        "confusion",
        partial(confusion, counts, classes),
        data=confusion_data(counts, classes),
        title="Confusion matrix",
        description=f"{count}: {confusion_words(counts, classes)}.",
        caption=f"{count}, and share of the true class.",
    )


def _number_pictures(data: Prediction) -> Iterator[Picture]:
    """Yield observed against predicted numbers of held-out samples; nothing for survival."""
    held_out = data["held_out"]
    fit = held_out["fit"]
    if fit is None:
        return
    yield Picture(
        "observed_predicted",
        partial(figures.draw_observed_predicted, held_out["samples"], fit, data["study"]["label"]),
        data={
            "sample": [sample["sample"] for sample in held_out["samples"]],
            "observed": [sample["label"] for sample in held_out["samples"]],
            "predicted": [sample["mean"] for sample in held_out["samples"]],
        },
        title="Observed and predicted values",
        description=f"Scatter of held-out predictions against observed values, R squared"
        f" {decimal(fit['r2'])}.",
        caption=WORDS.text("fit_caption", data["design"]["repeats"]),
    )


def classes_section(data: Prediction, limits: Limits) -> Section | None:
    """Return the section about each class; None unless there are several."""
    names = data["study"]["classes"]
    counts = data["held_out"]["confusion"]
    if names is None or two_classes(data["study"]) or counts is None:
        return None
    sizes = data["study"]["counts"] or []
    units = data["study"]["units"] or sizes
    rows = [
        _class_row(index, names, counts[index], sizes[index], units[index])
        for index in range(len(names))
    ]
    table = filled_table(
        "classes",
        "Each class while its samples were held out, the mean over the repeats.",
        CLASS_COLUMNS,
        rows,
        len(rows),
        is_open=True,
    )
    total = np.sum(counts)
    share_right = float(np.trace(counts) / total) if total else None
    words = WORDS.paragraphs("classes", data, *_most_confused(names, counts), share_right)
    return Section("classes", "Class by class", words, [table], part="prediction")


def _class_row(
    class_index: int, names: list[str], counts: list[float], size: int, units: int
) -> list[object]:
    """Return the row of a class of so many samples and independent units; counts are its calls."""
    total = sum(counts)
    share_correct = counts[class_index] / total if total else None
    low, high = (None, None) if share_correct is None else wilson(share_correct, units)
    confusions = [
        (count, name)
        for index, (count, name) in enumerate(zip(counts, names, strict=True))
        if index != class_index and count
    ]
    most_confused = ""
    if confusions:
        count, name = max(confusions)
        most_confused = f"{name} ({percent(count / total)})"
    return [names[class_index], size, share_correct, low, high, most_confused]


def _most_confused(names: list[str], counts: list[list[float]]) -> tuple[float, tuple[str, str]]:
    """Return (number of samples, their names) of the two classes that are confused most often."""
    pairs = [
        (counts[row][column] + counts[column][row], (names[row], names[column]))
        for row in range(len(names))
        for column in range(row)
    ]
    return max(pairs)


def permutation_section(data: Prediction, limits: Limits) -> Section:
    """Return the section about the permutation test."""
    if not data["null"]["errors"] or data["null"]["observed"] is None:
        paragraphs = ["No permutation test was run, so there is no p-value."]
        return Section("chance", "Permutation test", paragraphs, part="prediction")
    paragraphs = WORDS.paragraphs("permutations", data)
    return Section("chance", "Permutation test", paragraphs, part="prediction", folded=True)


def controls_section(data: Prediction, limits: Limits) -> Section:
    """Return the section about other methods on the same splits."""
    study_measure = measure(data)
    n_permutations = len(data["null"]["errors"])
    table = _controls_table(data, limits)
    paragraphs = WORDS.paragraphs("controls", data, table_rows(data["tables"]["controls"]))
    rows = control_rows(data)
    if not any(row["model"] == "genesig" for row in rows):
        return Section("controls", "Other methods", paragraphs, [table], part="prediction")
    image = Picture(
        "controls",
        partial(figures.draw_controls, data),
        data={"model": [row["model"] for row in rows], **study_measure.columns(rows)},
        title=f"{study_measure.title} of every method on the same splits",
        description=f"{study_measure.name}, dots with 95% CI: {model_values(rows, study_measure)}.",
        caption=WORDS.text("controls_caption", study_measure.name, n_permutations),
    )
    return Section("controls", "Other methods", paragraphs, [image, table], part="prediction")


def _compared_rows(rows: list[TableRow]) -> list[TableRow]:
    """Return the last row of each other method with a paired difference to genesig."""
    compared = {
        row["model"]: row
        for row in rows
        if row["model"] not in EXCLUDED_MODELS and row.get("difference_high") is not None
    }
    return list(compared.values())


def _controls_table(data: Prediction, limits: Limits) -> Table:
    """Return controls.tsv with accuracy, R² or C instead of errors."""
    table = data["tables"]["controls"]
    study_measure = measure(data)
    columns = table["columns"]
    rows = []
    for row in sorted(table_rows(table), key=_method_order):
        low, high = study_measure.interval(row)
        values = {**row, "error": study_measure.value(row["error"]), "low": low, "high": high}
        if "difference" in columns:
            difference_columns = ("difference", "difference_low", "difference_high")
            values |= zip(difference_columns, accuracy_difference(row), strict=True)
        rows.append([values[column] for column in columns])
    caption = "All methods on the same outer splits, genesig at every μ."
    return _name_chosen_lists(
        shown_table(
            "controls",
            caption,
            [study_measure.column if name == "error" else name for name in columns],
            rows,
            limits.table_rows,
            total=table["total"],
            file=table["file"],
        )
    )


def _method_order(row: TableRow) -> tuple[int, float]:
    """Return the sort key: chosen lists, other methods by error, genesig at each mu."""
    if row["model"] != "genesig":
        return 1, inf if row["error"] is None else row["error"]
    return (0, 0.0) if row["mu"] is None else (2, row["mu"])


def _name_chosen_lists(table: Table) -> Table:
    """Return the table with "chosen" as the mu of the chosen lists; its cells are changed."""
    keys = [column.key for column in table.columns]
    if "mu" in keys:
        model = keys.index("model")
        mu = keys.index("mu")
        for row in table.rows:
            if row[model].value == "genesig" and row[mu].value is None:
                row[mu] = Cell("chosen")
    return table


def samples_section(data: Prediction, limits: Limits) -> Section:
    """Return the section with the held-out predictions of each sample."""
    samples = data["held_out"]["samples"]
    classes = data["study"]["classes"]
    columns = ["sample", "label", "tested", *(["wrong"] if classes else []), "mean"]
    if any(len(sample["scores"]) > 1 for sample in samples):
        columns.append("scores")
    ranked = sorted(samples, key=_error_order)
    rows = []
    for sample in ranked:
        scores = ", ".join(significant(score, 2) for score in sample["scores"])
        values = {**sample, "scores": scores}
        rows.append([values[column] for column in columns])
    order_text = "worst predicted" if measure(data).fitted else "highest score"
    order_text = "most often misclassified" if classes else order_text
    table = shown_table(
        "held_out_samples",
        f"Held-out predictions by sample, {order_text} first.",
        columns,
        rows,
        limits.table_rows,
        file="predictions.tsv",
        search=True,
    )
    table = replace(table, bars=[contribution_bars(sample) for sample in ranked])
    paragraphs = WORDS.paragraphs(
        "misclassified", data["answer"]["misclassified"], data["design"]["repeats"]
    )
    paragraphs += WORDS.paragraphs("contributions")
    items = list[Item]()
    if two_classes(data["study"]):
        paragraphs += WORDS.paragraphs("rejection", data["held_out"]["rejection"] or [])
    elif classes:
        items.append(_margins_picture(samples, classes))
    return Section(
        "samples", "By sample", paragraphs, [*items, table], part="prediction", folded=True
    )


def contribution_bars(sample: HeldOutSample) -> list[tuple[str, float]]:
    """Return (label, number) of the bars of a sample: terms, other terms, intercept; sum: mean."""
    bars = list(zip(sample["terms"], sample["contributions"], strict=True))
    other_sum = sample["mean"] - sample["intercept"] - sum(sample["contributions"])
    if sample["other_terms"]:
        # Without the noise of the subtraction: the numbers have four digits.
        bars.append((counted(sample["other_terms"], "other"), round(other_sum, 6)))
    return [*bars, ("intercept", sample["intercept"])]


def _error_order(sample: HeldOutSample) -> tuple[float, float]:
    """Return the sort key by which the worst predicted sample comes first.

    With classes: the largest share of wrong calls, then the smallest absolute mean score. For a
    number: the largest error. For survival, whose label is text: the largest mean score.
    """
    if sample["wrong"] is None:
        is_survival = isinstance(sample["label"], str)
        size = sample["mean"] if is_survival else abs(sample["mean"] - sample["label"])
        return (-size, 0.0)
    return (-sample["wrong"] / sample["tested"], abs(sample["mean"]))


def _margins_picture(samples: list[HeldOutSample], classes: list[str]) -> Picture:
    """Return the figure of the margins of samples of several classes."""
    scores = [
        (sample["sample"], sample["label"], score)
        for sample in samples
        for score in sample["scores"]
    ]
    return Picture(
        "samples",
        partial(figures.draw_samples, samples, classes),
        data=transposed(("sample", "label", "score"), scores),
        title="Margin of each sample while held out",
        description=WORDS.text("margins_description", samples),
        caption=WORDS.text("margins_caption", samples),
    )


def assessment_sentences(data: Prediction) -> list[str]:
    """Return the sentences of Methods about nested cross-validation and its intervals."""
    splits = data["config"]["splits"]
    scheme = data["design"]["scheme"]
    outer_scheme = SCHEME_WORDS.get(scheme, clean(scheme)).format(
        folds=splits["folds"], repeated=_repeats_text(splits["repeats"])
    )
    inner_scheme = SCHEME_WORDS.get(data["design"]["inner_scheme"], "").format(
        folds=splits["inner_folds"], repeated=""
    )
    return WORDS.paragraphs("assessment_methods", data, outer_scheme, inner_scheme)


def _repeats_text(repeats: int) -> str:
    """Return ``", repeated 5 times"``; empty if there is one repeat."""
    return f", repeated {repeats} times" if repeats > 1 else ""


def selection_sentences(data: Prediction) -> list[str]:
    """Return the sentences of Methods about the selection of genes and of the model."""
    return WORDS.paragraphs("selection_methods", data, LOSS_OF_KIND[data["study"]["task"]])


def permutation_sentences(data: Prediction) -> list[str]:
    """Return the sentences of Methods about the permutation test; [] without one."""
    return WORDS.paragraphs("permutation_methods", data) if data["null"]["errors"] else []


def other_methods_sentences(data: Prediction) -> list[str]:
    """Return the sentences of Methods about other methods and software."""
    return WORDS.paragraphs("other_methods", data) if data["run"]["versions"] else []


WORDS = Wording(
    __file__,  # sentences: the macros of section.j2, by name
    CRITERION_WORDS=CRITERION_WORDS,
    FDR_SELECTED=FDR_SELECTED,
    LEVEL=LEVEL,
    MIN_BAND_PERMUTATIONS=MIN_BAND_PERMUTATIONS,
    SOLVER_WORDS=SOLVER_WORDS,
    VARIANCE_FACTOR=VARIANCE_FACTOR,
    compared_rows=_compared_rows,
)
