"""What the Methods text says of the effect of the score, of subgroups and of the next study."""

from __future__ import annotations

from genesig.report.page.rows import records
from genesig.report.patients.record import Patients
from genesig.response.design import SEVERAL

OF_PAIRS = (
    "Liang KY, Qin J (2000). Regression analysis under non-standard situations: a pairwise"
    " pseudolikelihood approach. J R Stat Soc B 62.",
)
BIAS = (
    ", with a penalty against bias (Firth 1993)",
    "Firth D (1993). Bias reduction of maximum likelihood estimates. Biometrika 80.",
)
OF_BIAS = {"classification": BIAS, SEVERAL: BIAS, "survival": BIAS}
"""What is said of pairs of which only the order counts, and what that cites."""
FOLLOWED = {
    "survival": (
        "Follow-up was described by the reversed Kaplan-Meier curve (Schemper and Smith 1996).",
        "Schemper M, Smith TL (1996). A note on quantifying follow-up in studies of failure time."
        " Control Clin Trials 17.",
    ),
}
OF_CLASSES = (
    "Riley et al. 2021",
    "Riley RD, Debray TPA, Collins GS, Archer L, Ensor J, van Smeden M, Snell KIE (2021). Minimum"
    " sample size for external validation of a clinical prediction model with a binary outcome."
    " Stat Med 40.",
)
NEXT = {
    "classification": OF_CLASSES,
    SEVERAL: OF_CLASSES,
    "survival": (
        "Jinks et al. 2015",
        "Jinks RC, Royston P, Parmar MKB (2015). Discrimination-based sample size calculations for"
        " multivariable prognostic models for time-to-event data. BMC Med Res Methodol 15.",
    ),
    "regression": (
        "Archer et al. 2021",
        "Archer L, Snell KIE, Ensor J, Hudda MT, Collins GS, Riley RD (2021). Minimum sample size"
        " for external validation of a clinical prediction model with a continuous outcome. Stat"
        " Med 40.",
    ),
}
"""How the size of a validation is cited, and what that is."""
NOTHING = ("", "")


def sentences(data: Patients) -> list[str]:
    """Say how follow-up, effect, subgroups and the size of a validation were computed."""
    task, tables = data["study"]["task"], data["tables"]
    found = [FOLLOWED.get(task, NOTHING)[0]]
    if effect := _effect(data):
        covariates = data["config"]["data"]["covariates"]
        held = ", alone and adjusted for the covariates," if covariates else ""
        found.append(
            f"The {effect} per standard deviation of the held-out score{held} was fitted to pairs"
            " of held-out samples that one model scored, which need no intercepts or baseline"
            f" hazards for each model (Liang and Qin 2000){OF_BIAS.get(task, NOTHING)[0]}; its"
            " confidence interval adds the variances between splits and between samples."
        )
    if tables["subgroups"]["total"] > 1:
        found.append(
            "Errors in subgroups are those of their held-out samples, without correction for their"
            " number."
        )
    if tables["next_study"]["total"]:
        found.append(f"The size of a validation gives a 95\u00a0% CI of ±0.05 ({NEXT[task][0]}).")
    return found


def _effect(data: Patients) -> str:
    rows = records(data["tables"]["score_effect"])
    return str(rows[0]["measure"]) if any(row["value"] is not None for row in rows) else ""


def references(data: Patients) -> tuple[str, ...]:
    """Return what these sentences cite."""
    task = data["study"]["task"]
    pairs = (*OF_PAIRS, OF_BIAS.get(task, NOTHING)[1]) if _effect(data) else ()
    sizes = NEXT[task][1:] if data["tables"]["next_study"]["total"] else ()
    return tuple(filter(None, (*pairs, *sizes, FOLLOWED.get(task, NOTHING)[1])))
