"""The first screen in plain words: the finding, its numbers, its genes, one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from genesig.report.answer.figures import FEWEST_FOR_BAND, forest, lines_of
from genesig.report.answer.naming import level
from genesig.report.answer.record import Answer
from genesig.report.page.finding import Evidence, Measured, WrongSample
from genesig.report.page.measure import measure
from genesig.report.page.model_names import picked
from genesig.report.page.rows import transposed
from genesig.report.page.sides import two
from genesig.report.page.svg import Picture, picture
from genesig.report.page.words import (
    about_so_many,
    clean,
    counted,
    decimal,
    percent,
    rate,
    shorten,
)


@dataclass(frozen=True)
class Tile:
    """One number of the first screen: what it is, its value, what to make of it."""

    name: str
    value: str
    words: str


def note(data: Answer) -> list[str]:
    """Say what the error is about."""
    classes = two(data["study"])
    positive = f" A positive score means {clean(classes[1])}." if classes else ""
    return [
        "What was measured in cross-validation, and its intervals, are for the procedure: what"
        " models chosen in exactly this way, from as many samples as a training set has, reach on"
        f" average in other samples. The final model uses all of the samples.{positive}"
    ]


def tiles(data: Answer) -> list[Tile]:
    """Return the tiles of the first screen."""
    measured = [_measured(one, two(data["study"])) for one in data["answer"]["measures"]]
    proved = data["answer"]["evidence"]
    genes = [_named(data, proved), _model(data, proved)] if proved else [_size(data)]
    found = [*genes, _error(data), *measured, _wrong(data)]
    return [tile for tile in found if tile is not None]


def _named(data: Answer, it: Evidence) -> Tile:
    words = f"none has evidence of its own ({level(data)})"
    if it["named"]:
        words = f"{level(data)}: {about_so_many(it['expected'])} expected by chance"
    return Tile("Named genes", str(it["named"]), words)


def _model(data: Answer, it: Evidence) -> Tile:
    low, middle, high = data["answer"]["lengths"]
    words = f"{low} to {high} in cross-validation, median {middle}"
    return Tile("Genes in the predictive model", str(it["model"]), words)


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


MEASURED = {"auc": "AUC", "sensitivity": "Sensitivity", "specificity": "Specificity"}


def _measured(one: Measured, sides: Sequence[str] | None) -> Tile:
    what = "" if sides else "; mean of each class against the others"
    write = decimal if one["name"] == "auc" else percent
    limits = f"{write(one['low'])} to {write(one['high'])}"
    return Tile(MEASURED[one["name"]], write(one["value"]), f"95\u00a0% CI {limits}{what}")


def _wrong(data: Answer) -> Tile | None:
    wrong = data["answer"]["wrong"]
    if wrong is None:
        return None
    mostly = wrong["mostly"]
    shown = _named_wrong(mostly[:6]) + (" …" if len(mostly) > 6 else "")
    several = data["design"]["repeats"] > 1
    none = "each was classified correctly" + " in at least half of its repeats" * several
    return Tile(
        f"Samples misclassified{' in most repeats' if several else ' while held out'}",
        f"{len(mostly)} of {wrong['samples']}",
        shown or none,
    )


def _named_wrong(shown: Sequence[WrongSample]) -> str:
    """Name samples, and in how many repeats each was wrong, once where that is the same."""
    names = [shorten(one["sample"], 20) for one in shown]
    times = [f"in {one['wrong']} of {one['tested']} repeats" for one in shown]
    if all(one["tested"] == 1 for one in shown):
        return ", ".join(names)
    if len(shown) > 1 and len(set(times)) == 1:
        return f"{', '.join(names)} (each {times[0]})"
    return ", ".join(f"{name} ({time})" for name, time in zip(names, times, strict=True))


def overview(data: Answer) -> list[Picture]:
    """Return the picture of the first screen; none where there is no error to show."""
    lines = lines_of(data)
    if data["answer"]["error"]["value"] is None:
        return []
    write = rate if data["study"]["classes"] else decimal
    named = "; ".join(f"{line.name} {write(line.value)}" for line in lines)
    left_out = len(data["answer"]["cohorts"]["rows"]) - sum(line.marker == "D" for line in lines)
    banded = len(data["null"]["errors"]) >= FEWEST_FOR_BAND
    band = " grey: 95\u00a0% of the permutations;" if banded else ""
    more = f" {counted(left_out, 'cohort')} not shown: listed in part 5." if left_out else ""
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
        f" procedure in cross-validation;{_square(data)}{_diamonds(data)}{band} dashed: chance."
        f"{more}",
    )]  # fmt: skip


def _beside(data: Answer) -> str:
    return " and of other cohorts" if data["answer"]["cohorts"]["rows"] else ""


def _square(data: Answer) -> str:
    best = data["answer"]["control"]
    return "" if best is None else f" square: {picked(best['of'])}, on the same splits;"


def _diamonds(data: Answer) -> str:
    return " diamonds: the final model in other cohorts;" * bool(data["answer"]["cohorts"]["rows"])
