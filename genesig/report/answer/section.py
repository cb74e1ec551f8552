"""The first screen in plain words: its numbers, its genes, one picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from matplotlib.figure import Figure

from genesig.report.answer.sentences import level
from genesig.report.page import charts
from genesig.report.page.measure import held, measure, model_name, picked, two
from genesig.report.page.record import Chip, Evidence, Measured, Study
from genesig.report.page.style import INK, MUTED, OWN
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import records, transposed
from genesig.report.page.verdict import Grade, grade, here
from genesig.report.page.words import (
    at_most,
    between,
    clean,
    counted,
    decimal,
    gene_anchor,
    percent,
    rate,
    samples_in_groups,
    short_symbol,
    shorten,
    significant,
)

MOST = 12
"""Cohorts in the picture."""
OWN_NAME = "cross-validation, this study"


def forest(data: Study) -> Figure:
    """Error of this study, of its best rival and in each cohort, with the permutation band."""
    shown = measure(data)
    at = None if held(data) else shown.chance  # what is held fixed predicts, too
    left = 0.0 if shown.better == "smaller" else None
    label = f"{shown.name} ({shown.better} is better)"
    band = shown.values(data["null"]["errors"])
    return charts.forest(lines_of(data), label, at=at, band=band, left=left)[0]


def lines_of(data: Study) -> list[charts.Line]:
    """Return the rows that have an error: other cohorts, cross-validation, other methods.

    Other methods are the best one, and the one that predicts although the linear models do not.
    """
    shown, best = measure(data), data["answer"]["control"]
    predicts = data["answer"]["alternative"]
    own = data["answer"]["error"]
    colour = OWN if here(data) is Grade.HERE else INK
    rows: list[tuple[str, float | None, Any, str, str]] = []
    for one in data["answer"]["cohorts"]["rows"][:MOST]:
        seen = ", seen in training" if one["seen"] else ""
        many = samples_in_groups(one["samples"], one["groups"])
        name = f"{shorten(one['name'], 24)} ({many}{seen})"
        rows.append((name, one["error"], one, MUTED if one["seen"] else INK, "D"))
    rows.append((OWN_NAME, own["value"], own, colour, "o"))
    if best is not None:
        rows.append((f"{model_name(best['model'])}, this study", best["error"], best, INK, "s"))
    if predicts is not None and (best is None or predicts["model"] != best["model"]):
        name = f"{model_name(predicts['model'])}, this study"
        rows.append((name, predicts["error"], predicts, INK, "s"))
    return [
        charts.Line(name, value, shown.interval(row), colour, marker, name == OWN_NAME)
        for name, error, row, colour, marker in rows if (value := shown.value(error)) is not None
    ]  # fmt: skip


MOST_NAMED = 12
"""Genes of the signature on the first screen."""


@dataclass(frozen=True)
class GeneChip:
    """A gene of the signature as the first screen shows it.

    ``direction`` is ``for`` the class for which it weighs most, where there are more than two;
    ``kind`` is "fdr_selected", or "core" if the study selects no genes by FDR, or empty.
    """

    name: str
    gene: str
    direction: str
    words: str
    kind: str
    card: str


def chips_title(data: Study) -> str:
    """Return the heading of the chips, which says in what order they stand."""
    it, several = data["answer"]["evidence"], len(data["answer"]["chips"]) > 1
    if it is None:
        return "Genes of the signature" + ", the most often selected first" * several
    if not it["fdr_selected"]:
        return "Genes of the predictive model: none has evidence of its own"
    more = ", then other genes of the predictive model" if it["fdr_selected"] < MOST_NAMED else ""
    other = data["answer"]["size"] > it["fdr_selected"]
    return (
        f"FDR-selected genes, each with its share of the half-sample lists{more if other else ''}"
    )


def gene_chips(data: Study) -> list[GeneChip]:
    """Return the genes: named ones first, or the most selected; none where there is no evidence."""
    if grade(data) is Grade.NONE:
        return []
    found = list(data["answer"]["chips"])
    if data["answer"]["evidence"] is None:
        found.sort(key=lambda one: -one["cv_frequency"])
    own = {row["gene"]: row.get("class") for row in records(data["tables"]["signature"])}
    return [
        GeneChip(
            short_symbol(one["symbol"]) or shorten(one["symbol"], 18),
            clean(one["gene"]),
            _direction(data, one["up"]) or _spoken_for(own.get(one["gene"])),
            _words(one),
            "fdr_selected" if one["fdr_selected"] else "core" if one["core"] else "",
            gene_anchor(one["gene"]),
        )
        for one in found[:MOST_NAMED]
    ]


def _words(one: Chip) -> str:
    if one["fdr_selected"] is None:
        return percent(one["cv_frequency"]) + " · core" * bool(one["core"])
    often, q = percent(one["selection_frequency"]), significant(one["selection_q"])
    return f"{often}, q\u00a0{q}{'' if one['fdr_selected'] else ' · not named'}"


def _direction(data: Study, up: bool | None) -> str:
    classes = data["study"]["classes"]
    if up is None:
        return ""
    if classes is None:
        way = measure(data).words.ways[not up]
        return way.format(shorten(data["study"]["label"], 18))
    return f"{'↑' if up else '↓'} in {shorten(classes[1], 18)}"


def _spoken_for(name: str | None) -> str:
    """Return the class that a gene's weight is for; its values may be higher in another."""
    return f"for {shorten(name, 18)}" if name else ""


MOST_TILES = 2
"""Cohorts that have a tile of their own."""


@dataclass(frozen=True)
class Tile:
    """One number of the first screen: what it is, its value, what to make of it."""

    name: str
    value: str
    words: str


def note(data: Study) -> list[str]:
    """Say what the error is about, where there is a model to be used."""
    if grade(data) is Grade.NONE:
        return []
    classes = two(data["study"])
    positive = f" A positive score means {clean(classes[1])}." if classes else ""
    return [
        "Cross-validated errors and their intervals are for the procedure: what models chosen in"
        f" this way reach on average in other samples.{positive}"
    ]


def tiles(data: Study) -> list[Tile]:
    """Return the numbers of the first screen: other cohorts first, the genes last if any."""
    auc = [_auc(one) for one in data["answer"]["measures"] if one["name"] == "auc"]
    proved = data["answer"]["evidence"]
    genes = [] if grade(data) is Grade.NONE else [_named(data, proved) if proved else _size(data)]
    return [*_elsewhere(data), _error(data), *auc, *genes]


def _elsewhere(data: Study) -> list[Tile]:
    """Return a tile for each of few cohorts, one with the median of many."""
    rows = [one for one in data["answer"]["cohorts"]["rows"] if not one["seen"]]
    known = [(one, value) for one in rows
             if (value := measure(data).value(one["error"])) is not None]  # fmt: skip
    write, name = measure(data).write, measure(data).title
    if len(known) > MOST_TILES:
        values = [value for _, value in known]
        words = f"the final model, unchanged; {write(min(values))} to {write(max(values))}"
        return [Tile(f"{name}, median of {len(known)} other cohorts", write(median(values)), words)]
    return [
        Tile(f"{name} in {clean(one['name'])}", write(value),
             f"{samples_in_groups(one['samples'], one['groups'])}"
             f"{between(*measure(data).interval(one), write)}; the final model, unchanged")
        for one, value in known
    ]  # fmt: skip


def _named(data: Study, it: Evidence) -> Tile:
    words = f"none has evidence of its own ({level(data)})"
    added = it["indicators"][0]
    if it["fdr_selected"]:
        words = f"{level(data)}: {at_most(it['expected'])} expected by chance"
    if added:
        words = f"and {counted(added, 'missing-value indicator')}; {words}"
    return Tile("FDR-selected genes", str(it["fdr_selected"] - added), words)


def _size(data: Study) -> Tile:
    it, share = data["answer"], percent(data["config"]["signature"]["cv_frequency"])
    splits = counted(data["design"]["outer"], "training set")
    return Tile(
        "Genes in the signature",
        str(it["size"]),
        f"{it['core']} core: selected in at least {share} of {splits}",
    )


def _error(data: Study) -> Tile:
    error = data["answer"]["error"]
    if data["study"]["classes"] is None:
        low, high = map(decimal, measure(data).interval(error))
        shown = measure(data)
        words = f"{shown.words.reading}; 95\u00a0% CI {low} to {high}; {shown.words.nothing}"
        value = decimal(measure(data).value(error["value"]))
        return Tile(f"{shown.name} on unseen samples", value, words)
    limits = f"{rate(error['low'])} to {rate(error['high'])}"
    return Tile(
        "Balanced error on unseen samples",
        rate(error["value"]),
        f"95\u00a0% CI {limits}; guessing gives {rate(error['chance'])}",
    )


def _auc(one: Measured) -> Tile:
    return Tile(
        "AUC", decimal(one["value"]), between(one["low"], one["high"], decimal).strip(" ()")
    )


def overview(data: Study) -> list[Picture]:
    """Return the picture of the first screen; none where there is no error to show."""
    lines = lines_of(data)
    if data["answer"]["error"]["value"] is None:
        return []
    write = measure(data).write
    named = "; ".join(f"{line.name} {write(line.value)}" for line in lines)
    left_out = len(data["answer"]["cohorts"]["rows"]) - sum(line.marker == "D" for line in lines)
    banded = len(data["null"]["errors"]) >= charts.FEWEST_FOR_BAND
    best, others = data["answer"]["control"], bool(data["answer"]["cohorts"]["rows"])
    marks = [
        "Circle: this procedure in cross-validation",
        *([] if best is None else [f"square: {picked(best['of'])}, on the same splits"]),
        *(["diamonds: the final model in other cohorts"] * others),
        *(["grey: 95\u00a0% of the runs with shuffled labels"] * banded),
        *([] if held(data) else ["dashed: guessing"]),
    ]
    missing = f" {counted(left_out, 'cohort')} not shown: listed in the part on other patients."
    more = missing if left_out else ""
    return [picture(
        "forest",
        partial(forest, data),
        data=transposed(
            ("name", measure(data).column, "low", "high"),
            [(line.name, line.value, *line.limits) for line in lines],
        ),
        title=f"{measure(data).title} of this study{' and of other cohorts' * others}",
        description=f"{measure(data).name}, with 95 % CI: {named}.",
        caption=f"{measure(data).title} with its 95\u00a0% confidence interval (CI)."
        f" {'; '.join(marks)}.{more}",
    )]  # fmt: skip
