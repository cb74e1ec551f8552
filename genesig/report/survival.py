"""Predicted survival: order of events, risk by a horizon, curves of two risk groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.data.files.columns import unit_of, words_of
from genesig.optim.classes import VARIANCE_FACTOR
from genesig.report.page import charts
from genesig.report.page.record import (
    Estimate,
    GroupCurve,
    Study,
    TopicResults,
    float_fields,
    group_curves,
)
from genesig.report.page.section import Item, Limits, Section, Tile
from genesig.report.page.style import GENESIG_COLOUR, HALF_WIDTH, MUTED, PAPER, RULE, new_figure
from genesig.report.page.svg import Picture
from genesig.report.page.tables import columns_of, shown_table
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, confidence, percent, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class RiskGroup(TypedDict):
    """Samples of similar predicted risk by the horizon."""

    samples: int
    expected: float  # mean predicted risk
    observed: float | None  # share with the event, by Kaplan and Meier
    low: float | None  # of its 95% interval, like high
    high: float | None


class SurvivalRecord(TypedDict):
    """Held-out survival."""

    measures: dict[str, Estimate]  # by name
    horizon: float
    samples: int
    events: int
    curves: list[GroupCurve]  # of the groups of high and low risk
    risk: list[RiskGroup]


class Survival(Study):
    """The keys of report_data.json that this topic reads."""

    survival: SurvivalRecord | None  # None for other kinds of outcome


def collect_survival(results: TopicResults) -> SurvivalRecord:
    """Return the record of held-out survival."""
    curves = results.tables["survival_curves"]
    risk = results.tables["survival_risk"]
    measures = results.tables["survival"].set_index("measure")
    return {
        "measures": {
            str(name): float_fields(row, "value", "low", "high")
            for name, row in measures.iterrows()
        },
        "horizon": float(measures["horizon"].iloc[0]),
        "samples": int(measures["samples"].iloc[0]),
        "events": int(curves["events"].sum()),
        "curves": group_curves(curves.to_dict("records")),
        "risk": [_risk_group(row) for row in risk.to_dict("records")],
    }


def _risk_group(row: Mapping[Any, Any]) -> RiskGroup:
    """Return the record of a row of survival_risk.tsv."""
    numbers: RiskGroup = float_fields(row, "expected", "observed", "low", "high")
    return {**numbers, "samples": int(row["samples"])}


def draw_calibration(groups: Sequence[RiskGroup]) -> Figure:
    """Draw the observed against the predicted risk by the horizon, in groups of similar risk."""
    figure, ax = new_figure(HALF_WIDTH, 4.0)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    for group in groups:
        if group["observed"] is None:
            continue
        if group["low"] is not None and group["high"] is not None:
            ax.vlines(group["expected"], group["low"], group["high"], color=GENESIG_COLOUR, lw=1.6)
        ax.scatter(
            group["expected"],
            group["observed"],
            s=44,
            facecolor=GENESIG_COLOUR,
            edgecolor=PAPER,
            zorder=3,
            clip_on=False,
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("predicted risk")
    ax.set_ylabel("observed risk")
    ax.grid(color=RULE)
    return figure


MEASURE_TEXTS = {
    "concordance": "Harrell's C",
    "uno": "Uno's C, up to the horizon",
    "auc": "AUC at the horizon",
    "brier": "Brier score, integrated up to the horizon",
    "brier_reference": "Brier score of Kaplan and Meier (no information)",
    "explained": "1 − Brier score / that of Kaplan and Meier",
    "risk_expected": "Predicted risk by the horizon, mean",
    "risk_observed": "Observed risk by the horizon (Kaplan and Meier)",
    "slope": "Calibration slope",
}


def survival_section(data: Survival, limits: Limits) -> Section | None:
    """Return the section about held-out survival; None for other kinds of outcome."""
    record = data["survival"]
    if record is None:
        return None
    items: list[Item] = [_curves_figure(data, record), _calibration_figure(data, record)]
    rows = [
        [MEASURE_TEXTS[name], measure["value"], measure["low"], measure["high"]]
        for name, measure in record["measures"].items()
        if name in MEASURE_TEXTS
    ]
    items.append(
        shown_table(
            "survival",
            "Measures of held-out samples, with 95% CI.",
            ["measure", "value", "low", "high"],
            rows,
            limits.table_rows,
            file="survival.tsv",
        )
    )
    words = WORDS.paragraphs("section", data, record, _horizon_words(data, record))
    title = "Survival of held-out samples"
    return Section("survival", title, words, items, part="prediction", files=["scores.tsv"])


def _horizon_words(data: Survival, record: SurvivalRecord) -> str:
    """Return ``"3 years"``; ``"time 3"`` if the name of the column, such as time, has no unit."""
    label = clean(data["study"]["label"])
    # Single letters, such as d, may mean something else.
    units = (unit_of(word) for word in words_of(label) if len(word) > 1)
    unit = next(filter(None, units), None)
    number = significant(record["horizon"])
    if unit is None:
        return f"{label} {number}"
    return f"{number} {unit.removesuffix('s') if record['horizon'] == 1 else unit}"


def _measures_conflict(measures: Mapping[str, Estimate]) -> bool:
    """Return whether the intervals of Harrell's and of Uno's C disagree about chance."""
    lower_limits = [measures[name]["low"] for name in ("concordance", "uno") if name in measures]
    above_chance = {low > 0.5 for low in lower_limits if low is not None}
    return None not in lower_limits and len(above_chance) > 1


def _survival_at(curve: GroupCurve, time: float) -> Estimate:
    """Return the share of samples without the event at a time, with its interval."""
    step = max(sum(step_time <= time for step_time in curve["time"]) - 1, 0)  # the last one so far
    return {
        "value": curve["survival"][step],
        "low": curve["low"][step],
        "high": curve["high"][step],
    }


def survival_tiles(data: Survival) -> list[Tile]:
    """Return the share of each risk group without the event at the horizon; [] for others."""
    record = data["survival"]
    if record is None:
        return []
    horizon = _horizon_words(data, record)
    shares = {curve["group"]: _survival_at(curve, record["horizon"]) for curve in record["curves"]}
    return [
        Tile(
            f"Event-free at {horizon}, {group} risk",
            percent(share["value"]),
            confidence(share["low"], share["high"], percent),
        )
        for group, share in sorted(shares.items(), reverse=True)
    ]


# sentences: the macros of survival.j2, by name
WORDS = Wording(
    __file__,
    VARIANCE_FACTOR=VARIANCE_FACTOR,
    conflicting=_measures_conflict,
    survival_at=_survival_at,
)


def _curves_figure(data: Survival, record: SurvivalRecord) -> Picture:
    """Return the figure of the curves of the risk groups."""
    horizon = _horizon_words(data, record)
    return Picture(
        "survival_curves",
        partial(charts.kaplan_meier, record["curves"], data["study"]["label"], record["horizon"]),
        data=charts.kaplan_meier_data(record["curves"]),
        title="Survival of high and low risk groups",
        description=WORDS.text("curves_description", record, horizon),
        caption=WORDS.text("curves_caption", record, horizon),
    )


def _calibration_figure(data: Survival, record: SurvivalRecord) -> Picture:
    """Return the figure of observed against predicted risk."""
    return Picture(
        "survival_calibration",
        partial(draw_calibration, record["risk"]),
        data=columns_of(record["risk"], "samples", "expected", "observed", "low", "high"),
        title="Predicted and observed risk by the horizon",
        description=WORDS.text("calibration_description", record["risk"]),
        caption=WORDS.text("calibration_caption", record, _horizon_words(data, record)),
    )


def survival_sentences(data: Survival) -> list[str]:
    """Return the sentences of Methods about survival; [] for other kinds of outcome."""
    record = data["survival"]
    if record is None:
        return []
    settings = data["config"]["data"]
    return WORDS.paragraphs("methods", record, settings, _horizon_words(data, record))
