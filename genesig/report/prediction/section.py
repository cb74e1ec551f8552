"""Sections about model selection, accuracy, permutations, other methods and single samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import inf

from genesig.report.page.charts import (
    MIN_BAND_PERMUTATIONS,
    confusion,
    confusion_data,
    confusion_words,
    model_values,
)
from genesig.report.page.measure import (
    EXCLUDED_MODELS,
    covariate_names,
    measure,
    model_name,
    permuted_words,
    two_classes,
)
from genesig.report.page.record import HeldOutSample, RejectionRule, RepeatRocCurve
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import FigureColumns, Picture, picture
from genesig.report.page.tables import (
    Cell,
    Table,
    TableRow,
    accuracy_difference,
    chosen_list_rows,
    control_rows,
    fdr_selected_only,
    genesig_rows,
    shown_table,
    table_rows,
    transposed,
)
from genesig.report.page.words import (
    bracketed_confidence,
    clean,
    counted,
    decimal,
    enumerated,
    p_value,
    percent,
    significant,
    with_limits,
)
from genesig.report.prediction import figures
from genesig.report.prediction.collect import Prediction
from genesig.selection.assess.controls import FDR_SELECTED


def model_selection_section(data: Prediction, limits: Limits) -> Section:
    """Return the section with the surface of the validation error."""
    grid = data["surface"]
    tau, row = grid["final"]
    parameter = "mu" if grid["along"] == "mu" else "lambda"
    image = picture(
        "model_selection",
        partial(figures.draw_surface, data),
        data=figures.surface_data(grid),
        title=f"Validation error over τ and {'μ' if parameter == 'mu' else 'λ'}",
        description=(
            f"Image of the validation error over {len(grid['tau'])} values of tau and"
            f" {len(grid['rows'])} of {parameter}, with the points that the outer splits chose. The"
            f" final model uses tau {significant(grid['tau'][tau])} of tau max and {parameter}"
            f" {significant(grid['rows'][row])}. Below, the mean number of selected genes."
        ),
        caption=(
            "Above: validation error over the inner folds, averaged over the outer splits; dark is"
            " small, white: lists longer than can be chosen. Numbers count the splits that chose a"
            " point, the diamond marks the final model. Below: mean number of genes at each τ."
        ),
    )
    return Section("selection", "Model selection", _tuning_sentences(data), pictures=[image])


def _tuning_sentences(data: Prediction) -> list[str]:
    """Return what was tuned within each training set."""
    if data["config"]["linear"]["list"] == "minimal":
        return [
            "Within each training set, cross-validation chose τ (larger τ selects fewer genes) and"
            " λ (ridge shrinkage of the weights). The rule is under Methods."
        ]
    return [
        "Within each training set, cross-validation chose τ (larger τ selects fewer genes), μ"
        " (larger μ lets correlated genes in together) and λ (ridge shrinkage of the weights). The"
        " rule is under Methods."
    ]


def performance_section(data: Prediction, limits: Limits) -> Section:
    """Return the section with the accuracy of the study."""
    pictures = [*(_class_pictures(data) if data["study"]["classes"] else _number_pictures(data))]
    if not pictures:  # survival has a section of its own
        return Section("performance", "Accuracy on held-out samples", part="prediction")
    paragraphs = [sentence] if (sentence := _sensitivity_sentence(data)) else []
    return Section(
        "performance",
        "Accuracy on held-out samples",
        paragraphs,
        pictures,
        part="prediction",
        files=["scores.tsv"],
    )


def _sensitivity_sentence(data: Prediction) -> str:
    """Return sensitivity and specificity of two classes."""
    measure_texts = [
        f"{row['name']}"
        f" {percent(row['value'])}{bracketed_confidence(row['low'], row['high'], percent)}"
        for row in reversed(data["answer"]["measures"])
        if row["name"] != "auc"
    ]
    if not measure_texts:
        return ""
    return (
        f"Held-out samples: {' and '.join(measure_texts)}. These CIs are for the calls made here,"
        " not for models trained on other patients."
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
    """Return the AUC with its interval."""
    chosen_rows = chosen_list_rows(genesig_rows(data["tables"]["controls"]))
    if not chosen_rows or chosen_rows[0]["auc"] is None:
        return "AUC not defined"
    return with_limits(
        "AUC", chosen_rows[0]["auc"], chosen_rows[0]["auc_low"], chosen_rows[0]["auc_high"]
    )


def _roc_picture(
    curves: list[RepeatRocCurve], classes: list[str], auc: str, repeats: int
) -> Picture:
    """Return the ROC curve of the held-out scores."""
    curves_text = "One curve per repeat" if repeats > 1 else "One curve"
    return picture(
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
        description=f"ROC curve of the held-out scores, {auc}. {curves_text}.",
        caption=f"{curves_text}. Curves pool scores of several models; the AUC compares only"
        " samples scored by the same model. Diagonal: chance.",
    )


def _confusion_picture(counts: list[list[float]], classes: list[str], repeats: int) -> Picture:
    """Return the confusion matrix of the held-out calls."""
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


def _number_pictures(data: Prediction) -> Iterator[Picture]:
    """Yield observed against predicted numbers of held-out samples."""
    held_out = data["held_out"]
    fit = data["held_out"]["fit"]
    if fit is None:
        return
    yield picture(
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
        caption=_fit_caption(data["design"]["repeats"] > 1),
    )


def _fit_caption(has_repeats: bool) -> str:
    """Return the caption of that figure."""
    line = "The dashed line is perfect prediction."
    if not has_repeats:
        return f"Held-out prediction of each sample against its observed value. {line}"
    return (
        "Mean held-out prediction of each sample against its observed value; thin lines span the"
        f" repeats. {line} The mean over repeats errs a little less than the single repeat, which"
        " the reported R² is about."
    )


def permutation_section(data: Prediction, limits: Limits) -> Section:
    """Return the section with the definition of p."""
    p_values = data["answer"]["p"]
    errors = data["null"]["errors"]
    observed = data["null"]["observed"]
    if not errors or observed is None:
        paragraphs = ["No permutation test was run, so there is no p-value."]
        return Section("chance", "Permutation test", paragraphs, part="prediction")
    paragraphs = [
        f"The whole analysis was repeated {counted(len(errors), 'time')} with the labels"
        f" {permuted_words(data)}: {p_value(p_values['value'])} (smallest possible"
        f" {significant(p_values['smallest'], 2)}).{_scope_of_p(data)}"
    ]
    return Section("chance", "Permutation test", paragraphs, part="prediction", folded=True)


def _scope_of_p(data: Prediction) -> str:
    """Return which differences p is about, if labels were permuted within groups or batches."""
    if names := covariate_names(data):
        return f" So p asks whether expression adds anything to {names}."
    if data["batch"] is not None and data["study"]["exchanged"] == "samples":
        return " So p speaks of differences within a batch, not of those between batches."
    if data["study"]["exchanged"] != "within":
        return ""
    return (
        f" So p speaks of differences within a {clean(data['study']['group'])}, not of those"
        " between them."
    )


def controls_section(data: Prediction, limits: Limits) -> Section:
    """Return the section with other methods on the same splits."""
    caption = "All methods on the same outer splits, genesig at every μ."
    if data["null"]["errors"]:
        caption += " Only models that were repeated with permuted labels have a p."
    table = _controls_table(data, caption, limits)
    paragraphs = [
        "A signature should come close to methods that use all genes."
        + _fdr_selected_sentence(data)
    ]
    paragraphs += _comparison_sentences(data)
    rows = control_rows(data)
    if not any(row["model"] == "genesig" for row in rows):
        return Section("controls", "Other methods", paragraphs, [table], part="prediction")
    study_measure = measure(data)
    image = picture(
        "controls",
        partial(figures.draw_controls, data),
        data={"model": [row["model"] for row in rows], **study_measure.columns(rows)},
        title=f"{study_measure.title} of every method on the same splits",
        description=f"{study_measure.name}, dots with 95% CI: {model_values(rows, study_measure)}.",
        caption=f"Dot: {study_measure.name} on held-out samples; line: 95% CI of the procedure."
        f" Dashed: chance.{_null_band_note(data)} Where intervals overlap, they do not show which"
        " method is better; the paired differences in the table do.",
    )
    return Section("controls", "Other methods", paragraphs, [image, table], part="prediction")


def _comparison_sentences(data: Prediction) -> list[str]:
    """Return which other methods are better beyond the error of the paired difference."""
    differences = {
        row["model"]: row["difference_high"]
        for row in table_rows(data["tables"]["controls"])
        if row["model"] not in EXCLUDED_MODELS and row.get("difference_high") is not None
    }
    if not differences:
        return []
    better = [model_name(model) for model, high in differences.items() if high < 0]
    sentence = "No other method is better than genesig beyond the error of the paired difference."
    if better:
        sentence = (
            f"Better than genesig beyond the error of the paired difference: {enumerated(better)}."
        )
    if len(differences) > 1:
        sentence += (
            f" The best of {len(differences)} other methods looks better than it is: it was chosen"
            " on the samples that judge it."
        )
    return [sentence]


def _fdr_selected_sentence(data: Prediction) -> str:
    """Return the accuracy of the model of FDR-selected genes; "" if there is none."""
    if all(row["model"] != FDR_SELECTED for row in table_rows(data["tables"]["controls"])):
        return ""
    min_genes = counted(data["config"]["signature"]["least"], "gene")
    evidence = data["answer"]["evidence"]
    fdr_selected_error = evidence["price"] if evidence else None
    difference_sentence = (
        "" if fdr_selected_error is None else f" {fdr_selected_only(data, fdr_selected_error)}."
    )
    return (
        f"{difference_sentence} FDR-selected genes were selected again in each training set (the"
        f" {min_genes} with the largest selection frequency if fewer pass)."
    )


def _null_band_note(data: Prediction) -> str:
    """Return the caption of the grey band, if there are enough permutations."""
    if len(data["null"]["errors"]) < MIN_BAND_PERMUTATIONS:
        return ""
    return " Grey: 95% of the runs with permuted labels."


def _controls_table(data: Prediction, caption: str, limits: Limits) -> Table:
    """Return controls.tsv with accuracy, R² or C instead of errors."""
    table = data["tables"]["controls"]
    study_measure = measure(data)
    rows = sorted(table_rows(table), key=_method_order)
    columns = table["columns"]
    caption += f" The column error of controls.tsv is 1 − {study_measure.name}."
    columns = [study_measure.column if name == "error" else name for name in columns]
    difference_columns = ("difference", "difference_low", "difference_high")
    if all(name in columns for name in difference_columns):
        rows = [
            {**row, **dict(zip(difference_columns, accuracy_difference(row), strict=True))}
            for row in rows
        ]
    rows = [
        {
            **row,
            "error": study_measure.value(row["error"]),
            **dict(zip(("low", "high"), study_measure.interval(row), strict=True)),
        }
        for row in rows
    ]
    return _name_chosen_lists(
        shown_table(
            "controls",
            caption,
            columns,
            [list(row.values()) for row in rows],
            limits.table_rows,
            total=table["total"],
            file=table["file"],
        )
    )


def _method_order(row: TableRow) -> tuple[int, float]:
    """Return the sort key: chosen lists, other methods by error, lists at each mu."""
    if row["model"] != "genesig":
        return 1, inf if row["error"] is None else row["error"]
    return (0, 0.0) if row["mu"] is None else (2, row["mu"])


def _name_chosen_lists(table: Table) -> Table:
    """Write "chosen" for lists without a mu of their own."""
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
    by_class = classes is not None
    columns = ["sample", "label", "tested", *(["wrong"] if by_class else []), "mean", "scores"]
    ranked = sorted(samples, key=_error_order)
    scores = [", ".join(significant(score, 2) for score in sample["scores"]) for sample in ranked]
    cells = [{**sample, "scores": text} for sample, text in zip(ranked, scores, strict=True)]
    rows = [[values[key] for key in columns] for values in cells]
    order_text = "most often misclassified" if by_class else "worst predicted"
    order_text = order_text if by_class or measure(data).fitted else "highest score"
    table = shown_table(
        "held_out_samples",
        f"Held-out predictions by sample, {order_text} first.",
        columns,
        rows,
        limits.table_rows,
        total=len(rows),
        file="predictions.tsv",
        search=True,
    )
    paragraphs = [misclassified_sentence(data)]
    items = list[Item]()
    if two_classes(data["study"]):
        paragraphs.append(rejection_sentence(data["held_out"]["rejection"] or []))
    elif classes:
        items.append(_margins_picture(samples, classes))
    return Section(
        "samples", "By sample", paragraphs, [*items, table], part="prediction", folded=True
    )


def _error_order(sample: HeldOutSample) -> tuple[float, float]:
    """Return the sort key by which the worst predicted sample comes first.

    With classes: the largest share of wrong calls, then the smallest absolute mean score. Of a
    number: the largest error. Of survival the label is text, and the largest mean score is first.
    """
    if sample["wrong"] is None:
        distance = (
            sample["mean"]
            if isinstance(sample["label"], str)
            else abs(sample["mean"] - sample["label"])
        )
        return (-distance, 0.0)
    return (-sample["wrong"] / sample["tested"], abs(sample["mean"]))


def misclassified_sentence(data: Prediction) -> str:
    """Return how many samples were misclassified in most of their repeats."""
    wrong = data["answer"]["wrong"]
    if wrong is None:
        return "Predictions of each sample while it was held out."
    n_mostly = len(wrong["mostly"])
    n_always = len(wrong["always"])
    if not n_mostly:
        repeats_note = " in most of its repeats" * (data["design"]["repeats"] > 1)
        return f"No sample was misclassified{repeats_note} while it was held out."
    repeats_note = f" in {'every repeat' if n_mostly == n_always else 'most repeats'}"
    always_note = f", {n_always} of them in every one" if 0 < n_always < n_mostly else ""
    return (
        f"{n_mostly} of {counted(wrong['samples'], 'sample')} {'was' if n_mostly == 1 else 'were'}"
        f" misclassified{repeats_note * (data['design']['repeats'] > 1)} while held"
        f" out{always_note}. Check {'it' if n_mostly == 1 else 'them'} for mislabelling, an unusual"
        " subtype or low sample quality."
    )


def _score_columns(samples: list[HeldOutSample]) -> FigureColumns:
    """Return the scores of all samples as columns."""
    return transposed(
        ("sample", "label", "score"),
        [
            (sample["sample"], sample["label"], score)
            for sample in samples
            for score in sample["scores"]
        ],
    )


def _margins_picture(samples: list[HeldOutSample], classes: list[str]) -> Picture:
    """Return the margins of samples of several classes."""
    n_below = sum(bool(sample["tested"]) and sample["mean"] < 0 for sample in samples)
    return picture(
        "samples",
        partial(figures.draw_samples, samples, classes),
        data=_score_columns(samples),
        title="Margin of each sample while held out",
        description="Dots of the held-out margins of each sample, sorted by class and mean;"
        f" {n_below} of {counted(len(samples), 'sample')} have a mean below 0.",
        caption=f"{_dots_caption(samples)}: that of its own class less the largest of the others."
        " Below the dashed line a sample is called something else.",
    )


def _dots_caption(samples: list[HeldOutSample]) -> str:
    """Return the meaning of a dot."""
    if all(sample["tested"] == 1 for sample in samples):
        return "One dot per sample, its score while held out"
    return "One dot per time a sample was held out, a bar for the mean score"


def rejection_sentence(rejections: list[RejectionRule]) -> str:
    """Return the calls to leave undecided so that no error remains."""
    if not any(row["wrong"] for row in rejections):
        return (
            "Averaged over repeats, every sample falls on the correct side of the threshold, so"
            " none needs to be left undecided."
        )
    return (
        "Leaving the scores closest to 0 undecided"
        f" ({' and '.join(map(_rejection_text, rejections))}) would have removed all errors here."
        " Optimistic: these thresholds were chosen on the same data."
    )


def _rejection_text(rejection: RejectionRule) -> str:
    """Return the calls of one class that would be left undecided."""
    if rejection["threshold"] is None:
        return f"no {clean(rejection['class'])} call"
    calls = f"{clean(rejection['class'])} calls ({percent(rejection['share'])})"
    return f"{rejection['rejected']} of {rejection['predicted']} {calls}"
