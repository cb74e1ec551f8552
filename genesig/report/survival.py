"""How well survival is predicted: order, risk by a horizon, curves of two groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.record import (
    GroupCurve,
    Limited,
    Study,
    group_curves,
    rounded,
    rounded_row,
)
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import MUTED, OWN, PAPER, RULE, SMALL, sheet
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import columns_of, shown_table
from genesig.report.page.words import clean, counted, decimal, percent, significant

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class RiskGroup(TypedDict):
    """Samples of similar predicted risk: the mean predicted, and what happened."""

    samples: int
    expected: float
    observed: float | None
    low: float | None
    high: float | None


class SurvivalRecord(TypedDict):
    """Measures by name, curves of the groups, groups of like risk."""

    measures: dict[str, Limited]
    horizon: float
    samples: int
    events: int
    curves: list[GroupCurve]
    risk: list[RiskGroup]


class Survival(Study):
    """What this topic reads."""

    survival: SurvivalRecord | None


TABLES = ("survival", "survival_curves", "survival_risk")
SHOWN = ("survival",)
TEXT = ("measure", "group")


def collect_survival(tables: Mapping[str, pd.DataFrame]) -> SurvivalRecord | None:
    """Sum held-out survival up; None where the response is another."""
    if TABLES[0] not in tables:
        return None
    found, curves, risk = (tables[name] for name in TABLES)
    found = found.set_index("measure")
    rows: dict[Any, Any] = {name: rounded(found.loc[name, ["value", "low", "high"]].to_numpy(float),
                                          5) for name in found.index}  # fmt: skip
    return {
        "measures": {
            str(name): {"value": value, "low": low, "high": high}
            for name, (value, low, high) in rows.items()
        },
        "horizon": float(found["horizon"].iloc[0]),
        "samples": int(found["samples"].iloc[0]),
        "events": int(curves["events"].sum()),
        "curves": group_curves(curves.to_dict("records")),
        "risk": [_risk(row) for row in risk.to_dict("records")],
    }


def _risk(row: Mapping[Any, Any]) -> RiskGroup:
    found: RiskGroup = rounded_row(row, 4, "expected", "observed", "low", "high")
    return {**found, "samples": int(row["samples"])}


def draw_calibration(groups: Sequence[RiskGroup]) -> Figure:
    """Predicted risk by the horizon against what happened, in groups of like risk."""
    figure, ax = sheet(SMALL, 4.0)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.9, dashes=(4, 3))
    for one in groups:
        if one["observed"] is None:
            continue
        if one["low"] is not None and one["high"] is not None:
            ax.vlines(one["expected"], one["low"], one["high"], color=OWN, lw=1.6)
        ax.scatter(
            one["expected"],
            one["observed"],
            s=44,
            facecolor=OWN,
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


NAMES = {
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


HALF = 0.5
"""The C of guessing."""


def survival(data: Survival, limits: Limits) -> Section:
    """Show curves of the groups of risk, calibration and all measures."""
    title = "Survival of held-out samples"
    it = data["survival"]
    if it is None:
        return Section("survival", title, [], part="prediction")
    items: list[Item] = [_curves(data, it), _calibration(data, it)]
    rows = [[NAMES[name], one["value"], one["low"], one["high"]]
            for name, one in it["measures"].items() if name in NAMES]  # fmt: skip
    items.append(shown_table(
        "survival", "Measures of held-out samples, with 95% CI.",
        ["measure", "value", "low", "high"], rows, limits.table_rows, total=len(rows),
        file="survival.tsv",
    ))  # fmt: skip
    return Section("survival", title, _words(data, it), items, part="prediction",
                   files=["scores.tsv"])  # fmt: skip


def _words(data: Survival, it: SurvivalRecord) -> list[str]:
    order, gained = it["measures"]["concordance"], it["measures"]["explained"]
    when = f"{clean(data['study']['label'])} {significant(it['horizon'])}"
    words = (
        f"{counted(it['samples'], 'sample')}, {counted(it['events'], 'event')}. Of two samples in"
        f" one test set, the one with the higher score had the event first in"
        f" {percent(order['value'])} of the pairs{_interval(order)}; chance gives 50%"
        f"{_chance(data)}."
    )
    verb = "reduced" if (gained["value"] or 0) > 0 else "did not reduce"
    share = f" by {percent(abs(gained['value'] or 0))}" if verb == "reduced" else ""
    more = (
        f"Up to the horizon ({when}) the predicted survival {verb} the squared error of Kaplan and"
        f" Meier's curve of the training samples{share}{_interval(gained)}."
    )
    return [words, *_apart(it), more]


def _apart(it: SurvivalRecord) -> list[str]:
    """Say which C the grade goes by, where the two do not agree about guessing."""
    found = it["measures"]
    if "concordance" not in found or "uno" not in found:
        return []
    low, other = found["concordance"]["low"], found["uno"]["low"]
    if low is None or other is None or (low > HALF) == (other > HALF):
        return []
    return [
        "The intervals of Harrell's and of Uno's C do not agree about chance (0.5); the conclusion"
        " goes by Harrell's, which was fixed beforehand."
    ]


def _chance(data: Survival) -> str:
    p = data["answer"]["p"]["value"]
    return "" if p is None else f" (permutation p\u00a0=\u00a0{significant(p, 2)})"


def _interval(one: Limited) -> str:
    if one["low"] is None or one["high"] is None:
        return ""
    return f" (95% CI {percent(one['low'])} to {percent(one['high'])})"


def _curves(data: Survival, it: SurvivalRecord) -> Picture:
    label = clean(data["study"]["label"])
    return picture(
        "survival_curves",
        partial(charts.kaplan_meier, it["curves"], data["study"]["label"], it["horizon"]),
        data=charts.kaplan_meier_data(it["curves"]),
        title="Survival of the groups of high and of low risk",
        description=f"Kaplan-Meier curves of held-out samples by {label}, two groups.",
        caption="Kaplan-Meier curves, with 95% CI, of samples while they were held out, in"
        " two groups. The cut is the median score of the training samples: it was not learned on"
        " the samples shown. Dashed line: the horizon.",
    )


def _calibration(data: Survival, it: SurvivalRecord) -> Picture:
    slope = it["measures"]["slope"]
    told = "; ".join(f"{percent(one['expected'])} predicted, {_seen(one['observed'])} observed"
                     for one in it["risk"])  # fmt: skip
    bent = "" if slope["value"] is None else (
        f" Calibration slope {decimal(slope['value'])}"
        f" (95% CI {decimal(slope['low'])} to {decimal(slope['high'])}, of these scores, not"
        " of models built so); below 1, scores are too far apart.")  # fmt: skip
    return picture(
        "survival_calibration",
        partial(draw_calibration, it["risk"]),
        data=columns_of(it["risk"], "samples", "expected", "observed", "low", "high"),
        title="Predicted and observed risk by the horizon",
        description=f"Groups of similar predicted risk: {told}.",
        caption="Samples in groups of similar predicted risk: its mean against the share with the"
        f" event by {clean(data['study']['label'])} {significant(it['horizon'])} (Kaplan and Meier,"
        f" 95% CI).{bent}",
    )


def _seen(value: float | None) -> str:
    return "not" if value is None else percent(value)


def sentences(data: Survival) -> list[str]:
    """Say what the model of survival is, and how it was assessed."""
    it = data["survival"]
    if it is None:
        return []
    settings = data["config"]["data"]
    ties = clean(settings["ties"].capitalize())
    held = (
        " Covariates that had no finite fit in a training set, such as a word whose samples had no"
        " event there, were held by a ridge penalty of one sample's weight (1/n, on columns of mean"
        " square 1)."
        if settings["covariates"]
        else ""
    )
    return [
        "Times to the event, which may be censored, were modelled by Cox's proportional hazards"
        f" (ties after {ties}): the l1-l2 penalty was added to −(2/n) times the logarithm of the"
        " partial likelihood, and the selected genes were fitted again with a ridge penalty. The"
        " settings were chosen by the partial likelihood that left-out samples add to that of the"
        " others (van Houwelingen et al. 2006); splits were stratified by the event, and"
        f" permutations exchanged time and event together.{held}",
        "Pairs were compared within test sets only, as one model scores them: Harrell's C, and"
        f" up to {clean(data['study']['label'])} {significant(it['horizon'])} Uno's C, the AUC and"
        " the integrated Brier score, weighed by the censoring of the training samples (Uno et al."
        " 2011; Graf et al. 1999). Groups of risk were cut at the training samples' median score.",
    ]
