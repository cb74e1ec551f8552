"""The first screen in plain words: one sentence, then tiles."""

from __future__ import annotations

from dataclasses import dataclass

from genesig.report.answer.collect import EXCELLENT, POOR
from genesig.report.answer.record import Answer
from genesig.report.answer.verdict import NO_BETTER, OPEN, verdict
from genesig.report.page.measure import measure
from genesig.report.page.model_names import model_name
from genesig.report.page.record import WrongSample
from genesig.report.page.rows import records, same_mu
from genesig.report.page.shuffling import shuffled, where
from genesig.report.page.words import (
    ABSENT,
    between,
    clean,
    counted,
    decimal,
    percent,
    rate,
    shorten,
    significant,
)


@dataclass(frozen=True)
class Tile:
    """One number of the first screen: what it is, its value, what to make of it."""

    name: str
    value: str
    words: str


def sentences(data: Answer) -> list[str]:
    """Say how well it predicts, what the signature is, and how far chance could have done it.

    The error belongs to the lists of the splits, each with genes of its own; the signature is
    what these lists share, and no sentence may lend it their error.
    """
    return [_finding(data), _signature(data), _chance(data)]


def _finding(data: Answer) -> str:
    subject, verb = _aim(data)
    value = data["answer"]["error"]["value"]
    if value is None:
        return f"Whether {subject} can be {verb} by gene expression could not be measured."
    found, missing = verdict(data)
    measured = _error_words(data, value)
    if found == OPEN:
        return (
            f"Whether {subject} can be {verb} by gene expression is not settled:"
            f" {measured}; {missing}."
        )
    if found == NO_BETTER:
        return f"{subject} could not be {verb} better than by chance: {measured}."
    return f"{subject} can be {verb} by gene expression: {measured}."


def _signature(data: Answer) -> str:
    size = data["answer"]["size"]
    share = percent(data["config"]["signature"]["frequency"])
    if not size:
        return f"No gene was in {share} of these lists, so there is no signature."
    each = same_mu(records(data["tables"]["lists"]), data["mu"][data["at"]])[0]
    lengths = sorted({int(each["smallest"]), int(each["largest"])})
    long = " to ".join(map(str, lengths)) + (" gene" if lengths == [1] else " genes")
    is_in = "was in" if size == 1 else "were in"
    make = "makes" if size == 1 else "make"
    return (
        f"{counted(size, 'gene')} {is_in} at least {share} of these lists ({long} each) and"
        f" {make} up the signature."
    )


def _aim(data: Answer) -> tuple[str, str]:
    classes = data["study"]["classes"]
    if classes is None:
        return clean(data["study"]["label"]), "predicted"
    return f"{clean(classes[0])} and {clean(classes[1])}", "told apart"


def _error_words(data: Answer, value: float) -> str:
    error = data["answer"]["error"]
    unseen = "samples that played no part in their making"
    if data["study"]["classes"] is None:
        r2, limits = measure(data).value(value), measure(data).interval(error)
        share = percent(r2) if value < 1 else "none"
        interval = (
            "" if None in limits else f"; 95\u00a0% interval {' to '.join(map(decimal, limits))}"
        )
        return (
            f"gene lists made in this way explain {share} of the differences between {unseen}"
            f" (R² {decimal(r2)}{interval})"
        )
    return (
        f"gene lists made in this way are wrong for {rate(value)} of {unseen}, both"
        f" classes counting alike{between(error['low'], error['high'], rate)}"
    )


def _chance(data: Answer) -> str:
    p, errors, observed = data["answer"]["p"], data["null"]["errors"], data["null"]["observed"]
    if p["value"] is None or observed is None:
        return "Whether chance could do as well was not tested: no shuffled labels were analysed."
    as_good = sum(error <= observed + 1e-9 for error in errors)
    often = f"in {as_good} of them it did" if as_good else "it never did"
    return (
        f"The whole analysis was also run {counted(len(errors), 'time')} with the labels"
        f" {shuffled(data)}: {often} as well as with the true ones"
        f" (p\u00a0=\u00a0{significant(p['value'], 2)})."
    )


def note(data: Answer) -> list[str]:
    """Say what the error is about."""
    return [
        "The error and its interval are for lists made in this way from parts of the samples, not"
        " for the signature itself."
    ]


def tiles(data: Answer) -> list[Tile]:
    """Return the tiles of the first screen."""
    found = [_size(data), _error(data), _p(data), _stability(data), _control(data), _wrong(data)]
    return [tile for tile in found if tile is not None]


def _size(data: Answer) -> Tile:
    share = percent(data["config"]["signature"]["frequency"])
    splits = counted(data["design"]["outer"], "split")
    return Tile(
        "Genes in the signature",
        str(data["answer"]["size"]),
        f"each selected in at least {share} of {splits} of the samples",
    )


def _error(data: Answer) -> Tile:
    error = data["answer"]["error"]
    if data["study"]["classes"] is None:
        low, high = map(decimal, measure(data).interval(error))
        words = f"share of the differences that is explained; 95\u00a0% interval {low} to {high}"
        value = decimal(measure(data).value(error["value"]))
        return Tile("R² on unseen samples", value, f"{words}; 0 is no better than the mean")
    limits = f"{rate(error['low'])} to {rate(error['high'])}"
    return Tile(
        "Error on unseen samples",
        rate(error["value"]),
        f"95\u00a0% interval {limits}; guessing gives 50\u00a0%",
    )


def _p(data: Answer) -> Tile:
    p = data["answer"]["p"]
    if p["value"] is None:
        return Tile("Could it be chance?", "not tested", "no permutations of the labels were run")
    runs = counted(p["permutations"], "shuffle")
    return Tile(
        "Could it be chance? p",
        significant(p["value"], 2),
        f"from {runs} of the labels{where(data)}; the smallest p they allow is"
        f" {significant(p['smallest'], 2)}",
    )


def _stability(data: Answer) -> Tile:
    it, name = data["answer"]["stability"], "Stability of the list"
    if it is None or it["source"] != "half_subsamples":
        return Tile(name, "not measured", _unmeasured(data))
    word = "poor" if it["value"] < POOR else "fair" if it["value"] < EXCELLENT else "excellent"
    limits = f"{decimal(it['low'])} to {decimal(it['high'])}"
    return Tile(
        name,
        decimal(it["value"]),
        f"{word}; 95\u00a0% interval {limits}, over halves of the samples; 1 is always the same"
        " list, 0 none in common beyond chance",
    )


def _unmeasured(data: Answer) -> str:
    """Say why halves give no stability; overlapping splits agree too well to stand in for them."""
    it, halves = data["answer"]["stability"], data["answer"]["halves"]
    words = "no halves of the samples were drawn"
    if halves["drawn"]:
        words = f"not defined on {halves['drawn']} halves of the samples"
    if halves["empty"]:
        words = f"no gene was selected in any of {halves['drawn']} halves of the samples"
    if it is None:
        return words
    return f"{words}; overlapping splits, which flatter it, give {decimal(it['value'])}"


def _control(data: Answer) -> Tile:
    best = data["answer"]["control"]
    if best is None:
        return Tile("Best other method", ABSENT, "no other method was run")
    value, limits = measure(data).value(best["error"]), measure(data).interval(best)
    write = rate if data["study"]["classes"] else decimal
    words = f"{measure(data).name} on the same splits"
    if None not in limits:
        words += f"; 95\u00a0% interval {write(limits[0])} to {write(limits[1])}"
    return Tile("Best other method", write(value), f"{model_name(best['model'])}: {words}")


def _wrong(data: Answer) -> Tile | None:
    wrong = data["answer"]["wrong"]
    if wrong is None:
        return None
    mostly = wrong["mostly"]
    shown = ", ".join(map(_times, mostly[:6])) + (" …" if len(mostly) > 6 else "")
    words = f"while held out: {shown}" if mostly else "no sample was, while held out"
    return Tile(
        "Samples more often wrong than right", f"{len(mostly)} of {wrong['samples']}", words
    )


def _times(one: WrongSample) -> str:
    name = shorten(one["sample"], 20)
    return name if one["tested"] == 1 else f"{name} ({one['wrong']} of {one['tested']} times)"
