"""The section about single samples: who is wrong, and how often."""

from __future__ import annotations

from functools import partial
from typing import Any

from genesig.report.page.section import Limits, Section
from genesig.report.page.svg import picture
from genesig.report.page.tables import shown_table
from genesig.report.page.words import clean, counted, percent, significant
from genesig.report.prediction import figures as prediction

Data = dict[str, Any]


def samples(data: Data, limits: Limits) -> Section:
    """Say who is wrong, and how often."""
    found = data["held_out"]["samples"]
    two = data["study"]["classes"] is not None
    columns = ["sample", "label", "tested", *(["wrong"] if two else []), "mean", "scores"]
    ranked = sorted(found, key=_worst)
    rows = [
        [", ".join(significant(v, 2) for v in one[key]) if key == "scores" else one[key]
         for key in columns]
        for one in ranked
    ]  # fmt: skip
    order = "the most often wrong" if two else "the worst predicted"
    caption = f"Every sample while it was held out; {order} first."
    table = shown_table(
        "held_out_samples", caption, columns, rows, limits.table_rows, total=len(rows),
        file="predictions.tsv", search=True,
    )  # fmt: skip
    items: list[Any] = [*_sample_pictures(data), table] if two else [table]
    return Section("samples", "Sample by sample", _sample_words(data), items)


def _worst(one: Data) -> tuple[float, float]:
    """Sort by the times a sample was wrong and its mean score; a number by its distance."""
    if one["wrong"] is None:
        return (-abs(one["mean"] - one["label"]), 0.0)
    return (-one["wrong"] / one["tested"], abs(one["mean"]))


def _sample_words(data: Data) -> list[str]:
    wrong = data["answer"]["wrong"]
    if wrong is None:
        return ["Each sample's predictions while it was held out."]
    mostly, always = len(wrong["mostly"]), len(wrong["always"])
    if not mostly:
        return ["No sample was wrong more often than right while it was held out."]
    every = f", {always} of them every time" if always and wrong["mostly"][0]["tested"] > 1 else ""
    return [
        f"{mostly} of {counted(wrong['samples'], 'sample')} {'was' if mostly == 1 else 'were'}"
        f" wrong more often than right while held out{every}."
        " It pays to look closer: a wrong label, another subtype, poor material?"
    ]


def _sample_pictures(data: Data) -> list[Any]:
    both = "; ".join(_rejection_words(row) for row in data["held_out"]["rejection"])
    return [
        picture(
            "samples",
            partial(prediction.samples, data),
            title="Scores of each sample while held out",
            description="Dots of the held-out scores of each sample, sorted by class and mean"
            " score.",
            caption=f"{_dots(data)}; within each class the samples are sorted by it. Above"
            f" the dashed line a sample is called {clean(data['study']['classes'][1])}, below it"
            f" {clean(data['study']['classes'][0])}.",
        ),
        picture(
            "rejection",
            partial(prediction.rejection, data),
            title="Rejection region",
            description=f"Mean held-out scores by true class with the region to reject: {both}.",
            caption=_refused(data, both),
        ),
    ]


def _dots(data: Data) -> str:
    if all(one["tested"] == 1 for one in data["held_out"]["samples"]):
        return "One dot per sample, its score while held out"
    return "One dot per time a sample was held out, a bar for the mean score"


def _refused(data: Data, both: str) -> str:
    if not any(row["wrong"] for row in data["held_out"]["rejection"]):
        return "By its mean score no sample is wrong, so none would have to be refused."
    return (
        "Were samples with a mean score inside the grey band refused, no error would be left:"
        f" {both}. Descriptive and optimistic: the thresholds were set on the test labels"
        " themselves."
    )


def _rejection_words(row: Data) -> str:
    if row["threshold"] is None:
        return f"nobody called {clean(row['class'])} is wrong"
    return (
        f"{row['rejected']} of {row['predicted']} called {clean(row['class'])}"
        f" ({percent(row['share'])}) rejected"
    )
