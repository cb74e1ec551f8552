"""The first screen in plain words: the finding, its numbers, its genes, one picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median

from genesig.report.answer.figures import FEWEST_FOR_BAND, forest, lines_of
from genesig.report.answer.naming import level
from genesig.report.answer.record import Answer
from genesig.report.page.finding import Evidence, Measured
from genesig.report.page.measure import measure
from genesig.report.page.model_names import picked
from genesig.report.page.rows import transposed
from genesig.report.page.shuffling import held
from genesig.report.page.sides import two
from genesig.report.page.svg import Picture, picture
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import about_so_many, between, clean, counted, decimal, percent, rate

MOST_TILES = 2
"""Cohorts that have a tile of their own."""


@dataclass(frozen=True)
class Tile:
    """One number of the first screen: what it is, its value, what to make of it."""

    name: str
    value: str
    words: str


def note(data: Answer) -> list[str]:
    """Say what the error is about, where there is a model to be used."""
    if grade(data) is Grade.NONE:
        return []
    classes = two(data["study"])
    positive = f" A positive score means {clean(classes[1])}." if classes else ""
    return [
        "What was measured in cross-validation, and its intervals, are for the procedure: what"
        " models chosen in exactly this way, from as many samples as a training set has, reach on"
        f" average in other samples. The final model uses all of the samples.{positive}"
    ]


def tiles(data: Answer) -> list[Tile]:
    """Return the numbers of the first screen: other cohorts first, the genes last if any."""
    auc = [_auc(one) for one in data["answer"]["measures"] if one["name"] == "auc"]
    proved = data["answer"]["evidence"]
    genes = [] if grade(data) is Grade.NONE else [_named(data, proved) if proved else _size(data)]
    return [*_elsewhere(data), _error(data), *auc, *genes]


def _elsewhere(data: Answer) -> list[Tile]:
    """Return a tile for each of few cohorts, one with the median of many."""
    rows = [one for one in data["answer"]["cohorts"]["rows"] if not one["seen"]]
    known = [(one, value) for one in rows
             if (value := measure(data).value(one["error"])) is not None]  # fmt: skip
    write, name = _write(data), measure(data).title
    if len(known) > MOST_TILES:
        values = [value for _, value in known]
        words = f"the final model, unchanged; {write(min(values))} to {write(max(values))}"
        return [Tile(f"{name}, median of {len(known)} other cohorts", write(median(values)), words)]
    return [
        Tile(f"{name} in {clean(one['name'])}", write(value),
             f"{counted(one['samples'], 'sample')}"
             f"{between(*measure(data).interval(one), write)}; the final model, unchanged")
        for one, value in known
    ]  # fmt: skip


def _write(data: Answer) -> Callable[[float | None], str]:
    return rate if data["study"]["classes"] else decimal


def _named(data: Answer, it: Evidence) -> Tile:
    words = f"none has evidence of its own ({level(data)})"
    if it["named"]:
        words = f"{level(data)}: {about_so_many(it['expected'])} expected by chance"
    return Tile("Named genes", str(it["named"]), words)


def _size(data: Answer) -> Tile:
    it, share = data["answer"], percent(data["config"]["signature"]["frequency"])
    splits = counted(data["design"]["outer"], "training set")
    return Tile(
        "Genes in the signature",
        str(it["size"]),
        f"{it['core']} core: selected in at least {share} of {splits}",
    )


def _error(data: Answer) -> Tile:
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


def overview(data: Answer) -> list[Picture]:
    """Return the picture of the first screen; none where there is no error to show."""
    lines = lines_of(data)
    if data["answer"]["error"]["value"] is None:
        return []
    write = rate if data["study"]["classes"] else decimal
    named = "; ".join(f"{line.name} {write(line.value)}" for line in lines)
    left_out = len(data["answer"]["cohorts"]["rows"]) - sum(line.marker == "D" for line in lines)
    banded = len(data["null"]["errors"]) >= FEWEST_FOR_BAND
    band = " grey: 95\u00a0% of the runs with shuffled labels;" if banded else ""
    missing = f" {counted(left_out, 'cohort')} not shown: listed in the part on other patients."
    more = missing if left_out else ""
    return [picture(
        "forest",
        partial(forest, data),
        data=transposed(
            ("name", measure(data).column, "low", "high"),
            [(line.name, line.value, *line.limits) for line in lines],
        ),
        title=f"{measure(data).title} of this study{_beside(data)}",
        description=f"{measure(data).name}, with 95 % CI: {named}.",
        caption=f"{measure(data).title} with its 95\u00a0% confidence interval (CI). Circle: this"
        f" procedure in cross-validation;{_square(data)}{_diamonds(data)}{band}{_guess(data)}"
        f"{more}",
    )]  # fmt: skip


def _guess(data: Answer) -> str:
    return "" if held(data) else " dashed: guessing."


def _beside(data: Answer) -> str:
    return " and of other cohorts" if data["answer"]["cohorts"]["rows"] else ""


def _square(data: Answer) -> str:
    best = data["answer"]["control"]
    return "" if best is None else f" square: {picked(best['of'])}, on the same splits;"


def _diamonds(data: Answer) -> str:
    return " diamonds: the final model in other cohorts;" * bool(data["answer"]["cohorts"]["rows"])
