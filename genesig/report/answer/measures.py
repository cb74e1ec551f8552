"""AUC, sensitivity and specificity of the held-out decisions, and the genes of the signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from genesig.report.page.finding import Chip, Measured
from genesig.report.page.record import HeldOut, HeldOutSample, PackedTable, StudyFacts
from genesig.report.page.rounding import rounded
from genesig.report.page.rows import Row, records
from genesig.report.page.sides import two
from genesig.selection.assess.intervals import wilson

MOST_CHIPS = 200


def measures(study: StudyFacts, held_out: HeldOut, own: Sequence[Row]) -> list[Measured]:
    """Return the measures of two classes, the AUC of several, none for a number.

    Sensitivity is the share of correct decisions on samples of the positive class, specificity
    that of the negative one, each the mean over repeats. Their intervals are Wilson's, which take
    samples as independent; where samples come in groups, a class counts as many observations as
    it has samples, times groups over samples.
    """
    if study["classes"] is None:
        return []
    found: list[Measured] = []
    if own and own[0]["auc"] is not None:
        low, high = own[0]["auc_low"], own[0]["auc_high"]
        found.append({"name": "auc", "value": own[0]["auc"], "low": low, "high": high})
    for name, label in zip(("specificity", "sensitivity"), two(study) or (), strict=False):
        mine = [one for one in held_out["samples"] if one["label"] == label]
        if mine:
            found.append(_share(name, mine, study))
    return found


def _share(name: str, mine: Sequence[HeldOutSample], study: StudyFacts) -> Measured:
    right = sum(1 - (one["wrong"] or 0) / one["tested"] for one in mine) / len(mine)
    apart = 1.0 if study["groups"] is None else study["groups"] / study["samples"]
    low, high = wilson(right, max(1, round(len(mine) * apart)))
    return {
        "name": name,
        "value": rounded(right, 5),
        "low": rounded(low, 5),
        "high": rounded(high, 5),
    }


def chips(tables: Mapping[str, PackedTable]) -> list[Chip]:
    """Return the genes of the signature, their evidence, and in which direction each goes alone."""
    sign = {row["gene"]: row["statistic"] for row in records(tables["univariate"])}
    several = "class" in tables["signature"]["columns"]
    return [
        {
            "gene": str(row["gene"]),
            "symbol": str(row["symbol"] or row["gene"]),
            "frequency": row["frequency"],
            "named": row.get("named"),
            "half_frequency": row.get("half_frequency"),
            "q": row.get("q"),
            "core": row.get("core"),
            "up": None if several else _up(sign.get(row["gene"])),
        }
        for row in records(tables["signature"])[:MOST_CHIPS]
    ]


def _up(statistic: float | None) -> bool | None:
    return None if not statistic else statistic > 0
