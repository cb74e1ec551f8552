"""The section about single samples: who is wrong, and how often."""

from __future__ import annotations

from functools import partial

from genesig.report.page.measure import measure
from genesig.report.page.record import HeldOutSample, Rejection
from genesig.report.page.rows import columns_of, transposed
from genesig.report.page.section import Group, Item, Limits, Section
from genesig.report.page.sides import two
from genesig.report.page.svg import Columns, Picture, picture
from genesig.report.page.tables import shown_table
from genesig.report.page.words import clean, counted, percent, significant
from genesig.report.prediction import figures, figures_decision
from genesig.report.prediction.record import Prediction


def samples(data: Prediction, limits: Limits) -> Section:
    """Say who is wrong, and how often."""
    found, classes = data["held_out"]["samples"], data["study"]["classes"]
    by_class = classes is not None
    columns = ["sample", "label", "tested", *(["wrong"] if by_class else []), "mean", "scores"]
    ranked = sorted(found, key=_worst)
    scores = [", ".join(significant(v, 2) for v in one["scores"]) for one in ranked]
    cells = [{**one, "scores": text} for one, text in zip(ranked, scores, strict=True)]
    rows = [[values[key] for key in columns] for values in cells]
    order = "the most often wrong" if by_class else "the worst predicted"
    order = order if by_class or measure(data).fitted else "the highest score"
    caption = f"Every sample while it was held out; {order} first."
    table = shown_table(
        "held_out_samples", caption, columns, rows, limits.table_rows, total=len(rows),
        file="predictions.tsv", search=True,
    )  # fmt: skip
    pictures = [] if classes is None else [_margins(found, classes)]
    if sides := two(data["study"]):
        pictures = _pictures(found, data["held_out"]["rejection"] or [], sides)
    items: list[Item] = [*pictures[:1], *_more(pictures[1:]), table]
    return Section("samples", "Sample by sample", [sample_words(data)], items, part="evidence")


def _more(pictures: list[Picture]) -> list[Item]:
    title = "Scores in each repeat, and which samples to leave uncalled"
    return [Group("repeats", title, (), pictures)] if pictures else []


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
        return "Each sample's predictions while it was held out."
    mostly, always = len(wrong["mostly"]), len(wrong["always"])
    if not mostly:
        most = " in most of its repeats" * (data["design"]["repeats"] > 1)
        return f"No sample was misclassified{most} while it was held out."
    every = (
        f", {always} of them in every one" if always and wrong["mostly"][0]["tested"] > 1 else ""
    )
    return (
        f"{mostly} of {counted(wrong['samples'], 'sample')} {'was' if mostly == 1 else 'were'}"
        f" misclassified{' in most repeats' * (data['design']['repeats'] > 1)} while held out"
        f"{every}. Check {'it' if mostly == 1 else 'them'} for mislabelling, an unusual subtype or"
        " low sample quality."
    )


def _pictures(
    found: list[HeldOutSample], refused: list[Rejection], classes: list[str]
) -> list[Picture]:
    both = "; ".join(map(_rejection_words, refused))
    return [
        picture(
            "waterfall",
            partial(figures_decision.waterfall, found, classes),
            data=_means(found),
            title="Waterfall of the held-out scores",
            description=f"Mean held-out scores of {counted(len(found), 'sample')} in their order,"
            " coloured by true class.",
            caption=f"Bars above zero are called {clean(classes[1])}, bars below"
            f" {clean(classes[0])}; the colour is the true class. A bar of the wrong colour is a"
            " misclassified sample.",
        ),
        picture(
            "samples",
            partial(figures.samples, found, classes),
            data=_scores(found),
            title="Scores of each sample while held out",
            description="Dots of the held-out scores of each sample, sorted by class and mean"
            " score.",
            caption=f"{_dots(found)}; within each class the samples are sorted by it. Above"
            f" the dashed line a sample is called {clean(classes[1])}, below it"
            f" {clean(classes[0])}.",
        ),
        picture(
            "rejection",
            partial(figures.rejection, found, refused, classes),
            data=_means(found),
            title="Which samples to leave uncalled",
            description=f"Mean held-out scores by true class, and what to leave uncalled: {both}.",
            caption=refused_words(refused),
        ),
    ]


def _means(found: list[HeldOutSample]) -> Columns:
    return columns_of(found, "sample", "label", "mean", "tested", "wrong")


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
            " none needs to be left uncalled."
        )
    return (
        "If scores in the grey band were left uncalled, every remaining call would be right; this"
        f" withholds {' and '.join(map(_rejection_words, refused))}. Descriptive and optimistic:"
        " the thresholds were set on the test labels themselves."
    )


def _rejection_words(row: Rejection) -> str:
    if row["threshold"] is None:
        return f"no {clean(row['class'])} call"
    calls = f"{clean(row['class'])} calls ({percent(row['share'])})"
    return f"{row['rejected']} of {row['predicted']} {calls}"
