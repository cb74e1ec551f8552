"""Sections about held-out probabilities (calibration, decision curve) and the operating point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from genesig.arrays import Array
from genesig.report.page.measure import two_classes
from genesig.report.page.record import Study, rounded
from genesig.report.page.section import Limits, Paragraph, Section
from genesig.report.page.style import (
    CLASS_COLOURS,
    GENESIG_COLOUR,
    HALF_WIDTH,
    INK,
    MUTED,
    new_figure,
    small_label,
)
from genesig.report.page.svg import Picture
from genesig.report.page.tables import (
    CI_FROM,
    CI_TO,
    Column,
    TableRow,
    columns_of,
    filled_table,
    table_rows,
)
from genesig.report.page.verdict import Grade, grade_within_study
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, shorten, significant
from genesig.report.prediction.collect import Prediction
from genesig.response.design import COST, YOUDEN, decision_rules_in
from genesig.selection.assess.calibration import reliability

THRESHOLD_GRID = np.arange(1, 100) / 100  # threshold probabilities of the decision curve
MIN_CLASS_SAMPLES = 5  # samples of a class below which probabilities are not assessed
MIN_CURVE_SAMPLES = 100  # samples from which curves are drawn; fewer make groups of a handful
WORDS = Wording(
    __file__,  # sentences: the macros of decision.j2, by name
    COST=COST,
    MIN_CLASS_SAMPLES=MIN_CLASS_SAMPLES,
    MIN_CURVE_SAMPLES=MIN_CURVE_SAMPLES,
    YOUDEN=YOUDEN,
    decision_rules_in=decision_rules_in,
)

DECISION_TABLE = "decision"
OPERATING_POINT_TITLE = "Operating point"


@dataclass(frozen=True)
class HeldOutProbabilities:
    """Probabilities of held-out samples, one for each time that a sample was held out (t)."""

    probability: Array  # (t,) of the positive class, if its share is `share`
    positive: Array  # (t,) bool
    repeats: int  # how often each sample was held out
    share: float  # share of the positive class that the probabilities are for
    group_size: float = 1.0  # mean number of samples of a group; 1 if samples are independent

    def reliability_groups(self) -> list[dict[str, float]]:
        """Return groups of similar probability: mean ``expected``, observed ``share``, its limits.

        Observed shares are for classes in the shares of the probabilities: their odds are
        multiplied by the odds of `share` over the odds of the positive class among these samples.
        """
        # Scores of a sample, or of a group, count as one observation. report_data.json does not say
        # which samples form a group, so their mean number is used.
        n_repeats = round(self.repeats * self.group_size)
        signs = np.where(self.positive, 1.0, -1.0)
        scores = 2 * self.probability - 1  # whose mean is that of ±1 if they are calibrated
        groups = reliability(signs, scores, n_repeats=n_repeats)
        odds_ratio = _to_odds(self.share) / _to_odds(float(self.positive.mean()))
        return [
            group | {key: _scale_odds(group[key], odds_ratio) for key in ("share", "low", "high")}
            for group in groups
        ]

    def mean_probability(self) -> float:
        """Return the mean probability if the share of the positive class is `share`."""
        negative_mean = float(self.probability[~self.positive].mean())
        positive_mean = float(self.probability[self.positive].mean())
        return (1 - self.share) * negative_mean + self.share * positive_mean

    def net_benefit(self, threshold: Array) -> Array:
        """Return the net benefit of treating at or above each threshold probability."""
        return net_benefit(self.probability, self.positive, threshold, self.share)

    def net_benefit_of_all(self, threshold: Array) -> Array:
        """Return the net benefit of treating all patients, at each threshold probability."""
        return np.asarray(self.share - (1 - self.share) * threshold / (1 - threshold))


def held_out_probabilities(data: Prediction) -> HeldOutProbabilities | None:
    """Return the held-out probabilities of two classes; None if there are none."""
    classes = two_classes(data["study"])
    counts = data["study"]["counts"]
    samples = data["held_out"]["samples"]
    if not classes or not counts or not all("probabilities" in sample for sample in samples):
        return None
    shares = data["config"]["probabilities"]  # "study", "equal", or the shares of the classes
    named_shares = {"study": counts[1] / sum(counts), "equal": 0.5}
    pairs = [
        (probability, sample["label"] == classes[1])
        for sample in samples
        for probability in sample["probabilities"]
    ]
    return HeldOutProbabilities(
        probability=np.array([probability for probability, _ in pairs], dtype=float),
        positive=np.array([is_positive for _, is_positive in pairs]),
        repeats=max((sample["tested"] for sample in samples), default=1),
        share=named_shares[shares] if isinstance(shares, str) else float(shares[1]),
        group_size=len(samples) / (data["study"]["groups"] or len(samples)),
    )


def net_benefit(probability: Array, positive: Array, threshold: Array, share: float) -> Array:
    """Return π TPR - (1 - π) FPR · t/(1 - t) at each threshold t; π is `share`.

    Source: Vickers and Elkin 2006, MDM 26:565; there π is the share of the positive samples.
    """
    is_treated = probability[None] >= threshold[:, None]
    true_positive_rate = is_treated[:, positive].mean(axis=1)
    false_positive_rate = is_treated[:, ~positive].mean(axis=1)
    return np.asarray(
        share * true_positive_rate - (1 - share) * false_positive_rate * threshold / (1 - threshold)
    )


def _to_odds(share: float) -> float:
    """Return the odds of a share."""
    return share / (1 - share)


def _scale_odds(share: float, odds_ratio: float) -> float:
    """Return the share whose odds are `odds_ratio` times the odds of `share`."""
    return odds_ratio * share / (1 + (odds_ratio - 1) * share)


def draw_calibration(probabilities: HeldOutProbabilities, name: str) -> Figure:
    """Draw the share of the positive class against the predicted probability."""
    figure, ax = new_figure(HALF_WIDTH, 3.6)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    for group in probabilities.reliability_groups():
        ax.vlines(group["expected"], group["low"], group["high"], color=INK, lw=1.4)
        ax.scatter([group["expected"]], [group["share"]], s=46, color=GENESIG_COLOUR, zorder=3)
        small_label(ax, group["expected"], 1.04, str(group["samples"]), ha="center")
    for class_index, (members, tick_y) in enumerate(
        ((~probabilities.positive, -0.1), (probabilities.positive, -0.06))
    ):
        ax.plot(
            probabilities.probability[members],
            np.full(int(members.sum()), tick_y),
            "|",
            color=CLASS_COLOURS[class_index],
            ms=5,
        )
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.14, 1.12)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_xlabel(f"predicted probability of {shorten(name, 24)}")
    ax.set_ylabel(f"share of {shorten(name, 24)}")
    return figure


def draw_decisions(probabilities: HeldOutProbabilities, name: str) -> Figure:
    """Draw the net benefit of the model, of treating all and of treating none."""
    figure, ax = new_figure(HALF_WIDTH, 3.6)
    top = max(probabilities.share, 0.05)
    ax.plot(THRESHOLD_GRID, probabilities.net_benefit_of_all(THRESHOLD_GRID), color=MUTED, lw=1.2)
    ax.axhline(0, color=MUTED, lw=1.2, dashes=(4, 3))
    ax.plot(THRESHOLD_GRID, probabilities.net_benefit(THRESHOLD_GRID), color=GENESIG_COLOUR, lw=2)
    ax.set_ylim(-0.25 * top, 1.15 * top)
    ax.set_xlim(0, 1)
    small_label(ax, 0.02, -0.02 * top, f"none treated as {shorten(name, 18)}", va="top")
    small_label(ax, 0.02, top * 1.03, f"all treated as {shorten(name, 18)}")
    ax.set_xlabel("threshold probability")
    ax.set_ylabel("net benefit")
    return figure


def decisions_section(data: Prediction, limits: Limits) -> Section | None:
    """Return the section about probabilities, with curves if they can be trusted; None without."""
    classes = two_classes(data["study"])
    probabilities = held_out_probabilities(data)
    if probabilities is None or not classes:
        return None
    paragraphs = WORDS.paragraphs("conversion", data, probabilities.share, classes[1])
    items = []
    smaller_class = min(probabilities.positive.sum(), (~probabilities.positive).sum())
    if smaller_class < MIN_CLASS_SAMPLES * probabilities.repeats:
        paragraphs = WORDS.paragraphs("few_samples")
    elif grade_within_study(data) is Grade.NONE:
        paragraphs = WORDS.paragraphs("no_basis")
    elif len(data["held_out"]["samples"]) < MIN_CURVE_SAMPLES:
        paragraphs += WORDS.paragraphs("few_patients")
    else:
        items = [
            _calibration_picture(data, probabilities, classes[1]),
            _net_benefit_picture(probabilities, classes[1]),
        ]
    title = "Calibration and decisions"
    return Section("decisions", title, paragraphs, items, part="prediction", folded=True)


def _calibration_picture(
    data: Prediction, probabilities: HeldOutProbabilities, name: str
) -> Picture:
    """Return the figure of the calibration."""
    samples = data["held_out"]["samples"]
    return Picture(
        "calibration",
        partial(draw_calibration, probabilities, name),
        data={
            **columns_of(samples, "sample", "label", "mean"),
            "probability": rounded([np.mean(sample["probabilities"]) for sample in samples], 5),
        },
        title="Calibration of held-out probabilities",
        description=WORDS.text("calibration_description", probabilities, name),
        caption=WORDS.text("calibration", probabilities.repeats),
    )


def _net_benefit_picture(probabilities: HeldOutProbabilities, name: str) -> Picture:
    """Return the figure of the decision curve."""
    benefit_at_prevalence = float(probabilities.net_benefit(np.array([probabilities.share]))[0])
    return Picture(
        "decision_curve",
        partial(draw_decisions, probabilities, name),
        data={
            "threshold": rounded(THRESHOLD_GRID, 3),
            "model": rounded(probabilities.net_benefit(THRESHOLD_GRID), 5),
            "all": rounded(probabilities.net_benefit_of_all(THRESHOLD_GRID), 5),
        },
        title="Decision curve",
        description=WORDS.text(
            "decision_curve_description", benefit_at_prevalence, probabilities.share
        ),
        caption=WORDS.text("decision_curve", probabilities, name),
    )


def operating_point_paragraph(data: Study) -> list[Paragraph]:
    """Return the paragraph of the first screen; [] without an operating point to report."""
    if operating_point_threshold(data) is None:
        return []
    text = WORDS.text(
        "achieved", _rows_by_measure(data), _positive_class(data), data["config"]["decision"]
    )
    return [Paragraph(f"{OPERATING_POINT_TITLE}.", text)]


def operating_point_section(data: Study, limits: Limits) -> Section | None:
    """Return the section about the operating point; None without ``decision`` in the config."""
    if DECISION_TABLE not in data["tables"]:
        return None
    if grade_within_study(data) is Grade.NONE:
        words = WORDS.paragraphs("no_operating_point")
        return Section(DECISION_TABLE, OPERATING_POINT_TITLE, words, part="prediction")
    rows = _rows_by_measure(data)
    table = filled_table(
        DECISION_TABLE,
        WORDS.text("table_caption"),
        (
            Column("Measure", "name"),
            Column("Value", "number"),
            Column(CI_FROM, "number"),
            Column(CI_TO, "number"),
        ),
        [[row[key] for key in ("measure", "value", "low", "high")] for row in rows.values()],
        limits.table_rows,
        file=f"{DECISION_TABLE}.tsv",
    )
    words = WORDS.paragraphs(
        "operating_point",
        rows,
        operating_point_threshold(data),
        _positive_class(data),
        data["config"]["decision"],
    )
    return Section(
        DECISION_TABLE, OPERATING_POINT_TITLE, words, [table], part="prediction", folded=True
    )


def operating_point_threshold(data: Study) -> str | None:
    """Return the final model's threshold as text; None without ``decision`` or without evidence."""
    if DECISION_TABLE not in data["tables"] or grade_within_study(data) is Grade.NONE:
        return None
    return significant(_rows_by_measure(data)["threshold"]["value"])


def operating_point_sentences(data: Study) -> list[str]:
    """Return the sentence of Methods about the operating point; [] without ``decision``."""
    if DECISION_TABLE not in data["tables"]:
        return []
    return WORDS.paragraphs("operating_point_methods", data["config"]["decision"])


def _rows_by_measure(data: Study) -> dict[str, TableRow]:
    """Return the rows of decision.tsv by their measure."""
    return {row["measure"]: row for row in table_rows(data["tables"][DECISION_TABLE])}


def _positive_class(data: Study) -> str:
    """Return the name of the positive class."""
    return clean((two_classes(data["study"]) or ("", ""))[1])
