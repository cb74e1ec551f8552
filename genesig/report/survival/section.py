"""The section about survival: are the events predicted, and how well."""

from __future__ import annotations

from functools import partial

from genesig.report.page import kaplan_meier
from genesig.report.page.rows import columns_of
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import shown_table
from genesig.report.page.words import clean, counted, decimal, percent, significant
from genesig.report.survival import figures
from genesig.report.survival.record import Survival, SurvivalRecord, Told

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
    title = "Survival of unseen samples"
    it = data["survival"]
    if it is None:
        return Section("survival", title, [], part="evidence")
    items: list[Item] = [_curves(data, it), _calibration(data, it)]
    rows = [[NAMES[name], one["value"], one["low"], one["high"]]
            for name, one in it["measures"].items() if name in NAMES]  # fmt: skip
    items.append(shown_table(
        "survival", "Measures of held-out samples, with 95\u00a0% CI.",
        ["measure", "value", "low", "high"], rows, limits.table_rows, total=len(rows),
        file="survival.tsv",
    ))  # fmt: skip
    return Section("survival", title, _words(data, it), items, part="evidence")


def _words(data: Survival, it: SurvivalRecord) -> list[str]:
    order, gained = it["measures"]["concordance"], it["measures"]["explained"]
    when = f"{clean(data['study']['label'])} {significant(it['horizon'])}"
    words = (
        f"{counted(it['samples'], 'sample')}, {counted(it['events'], 'event')}. Of two samples in"
        f" one test set, the one with the higher score had the event first in"
        f" {percent(order['value'])} of the pairs{_interval(order)}; guessing gives 50\u00a0%"
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
        "The intervals of Harrell's and of Uno's C do not agree about guessing (0.5); the grade of"
        " this study goes by Harrell's, which was fixed beforehand."
    ]


def _chance(data: Survival) -> str:
    p = data["answer"]["p"]["value"]
    return "" if p is None else f" (permutation p\u00a0=\u00a0{significant(p, 2)})"


def _interval(one: Told) -> str:
    if one["low"] is None or one["high"] is None:
        return ""
    return f" (95\u00a0% CI {percent(one['low'])} to {percent(one['high'])})"


def _curves(data: Survival, it: SurvivalRecord) -> Picture:
    label = clean(data["study"]["label"])
    return picture(
        "survival_curves",
        partial(kaplan_meier.curves, it["curves"], data["study"]["label"], it["horizon"]),
        data=kaplan_meier.curve_data(it["curves"]),
        title="Survival of the groups of high and of low risk",
        description=f"Kaplan-Meier curves of held-out samples by {label}, two groups.",
        caption="Kaplan-Meier curves, with 95 % CI, of samples while they were held out, in"
        " two groups. The cut is the median score of the training samples: it was not learned on"
        " the samples shown. Dashed line: the horizon.",
    )


def _calibration(data: Survival, it: SurvivalRecord) -> Picture:
    slope = it["measures"]["slope"]
    told = "; ".join(f"{percent(one['expected'])} predicted, {_seen(one['observed'])} observed"
                     for one in it["risk"])  # fmt: skip
    bent = "" if slope["value"] is None else (
        f" Calibration slope {decimal(slope['value'])}"
        f" (95\u00a0% CI {decimal(slope['low'])} to {decimal(slope['high'])}); below 1, scores are"
        " too far apart.")  # fmt: skip
    return picture(
        "survival_calibration",
        partial(figures.calibration, it["risk"]),
        data=columns_of(it["risk"], "samples", "expected", "observed", "low", "high"),
        title="Predicted and observed risk by the horizon",
        description=f"Groups of similar predicted risk: {told}.",
        caption="Samples in groups of similar predicted risk: its mean against the share with the"
        f" event by {clean(data['study']['label'])} {significant(it['horizon'])} (Kaplan and Meier,"
        f" 95 % CI).{bent}",
    )


def _seen(value: float | None) -> str:
    return "not" if value is None else percent(value)
