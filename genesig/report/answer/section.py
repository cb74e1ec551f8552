"""The first screen in plain words: one sentence, then tiles."""

from __future__ import annotations

from dataclasses import dataclass

from genesig.report.answer.collect import EXCELLENT, POOR
from genesig.report.answer.record import Answer
from genesig.report.answer.verdict import Verdict, verdict
from genesig.report.page.measure import measure
from genesig.report.page.model_names import model_name
from genesig.report.page.record import WrongSample
from genesig.report.page.shuffling import held, shuffled, where
from genesig.report.page.words import (
    ABSENT,
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
    """Say how well it predicts, what the signature is, and how far chance could have done it."""
    return [_finding(data), _signature(data), _chance(data)]


def _finding(data: Answer) -> str:
    subject, verb, cannot = _aim(data)
    value = data["answer"]["error"]["value"]
    if value is None:
        return f"Whether {subject} could not be measured."
    found, missing = verdict(data)
    measured = f"In cross-validation, {_error_words(data, value)}."
    cohorts = data["answer"]["cohorts"]
    confirmed = f"{cohorts['better']} of {counted(cohorts['tested'], 'other data set')}"
    if found is Verdict.OPEN:
        return f"Whether {subject} is not settled: {missing}. {measured}"
    names = held(data)
    if found is Verdict.NO_BETTER and names:
        return f"Gene expression adds nothing to {names} that chance could not add. {measured}"
    if found is Verdict.NO_BETTER:
        return f"Gene expression did not {cannot} better than chance. {measured}"
    added = f", together with {names}," if names else ""
    if found is Verdict.ELSEWHERE:
        here = "though not beyond chance here"
        return f"Gene expression{added} {verb} in {confirmed}, {here}. {measured}"
    return f"Gene expression{added} {verb}{_reservation(data, value)}. {measured}"


def _reservation(data: Answer, value: float) -> str:
    """Say what weakens a convincing result: other data sets, or an interval that reaches chance."""
    error, cohorts = data["answer"]["error"], data["answer"]["cohorts"]
    if cohorts["tested"] and not cohorts["better"]:
        where = "the other data set" if cohorts["tested"] == 1 else "any other data set"
        return f" here, but not beyond chance in {where}"
    limit = value if error["high"] is None else error["high"]
    return "; how well is uncertain" if limit >= error["chance"] else ""


def _signature(data: Answer) -> str:
    it = data["answer"]
    share = percent(data["config"]["signature"]["frequency"])
    if not it["size"]:
        return "The final model selected no gene, so there is no signature."
    low, _, high = it["lengths"]
    long = counted(low, "gene") if low == high else f"{low} to {high} genes"
    core = f"{it['core']} of them core" if it["size"] > 1 else f"{'' if it['core'] else 'not '}core"
    return (
        f"The signature is the list of the final model, fitted on all samples:"
        f" {counted(it['size'], 'gene')}, {core} (selected in at least {share} of the"
        f" {counted(data['design']['outer'], 'cross-validation model')}, which use {long})."
    )


def _aim(data: Answer) -> tuple[str, str, str]:
    """Return the question, the finding and its denial, as they stand in a sentence."""
    classes, names = data["study"]["classes"], held(data)
    added = f", together with {names}," if names else ""
    if classes is None:
        label = clean(data["study"]["label"])
        return f"gene expression{added} predicts {label}", f"predicts {label}", f"predict {label}"
    one, other = (clean(name) for name in reversed(classes))
    both = f"{one} from {other}"
    return (
        f"gene expression{added} distinguishes {both}",
        f"distinguishes {both}",
        f"distinguish {both}",
    )


def _error_words(data: Answer, value: float) -> str:
    error = data["answer"]["error"]
    if data["study"]["classes"] is None:
        r2, limits = measure(data).value(value), measure(data).interval(error)
        interval = "" if None in limits else f" (95\u00a0% CI {' to '.join(map(decimal, limits))})"
        return f"models built this way reached R² {decimal(r2)} on unseen samples{interval}"
    limits = (error["low"], error["high"])
    interval = "" if None in limits else f"; 95\u00a0% CI {' to '.join(map(rate, limits))}"
    return (
        f"models built this way misclassified {rate(value)} of unseen samples (balanced"
        f" error{interval})"
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
    classes = data["study"]["classes"]
    positive = f" A positive score means {clean(classes[1])}." if classes else ""
    return [
        "The error and its interval describe models chosen in exactly this way from parts of the"
        f" samples; the final model uses all of them.{positive}"
    ]


def tiles(data: Answer) -> list[Tile]:
    """Return the tiles of the first screen."""
    found = [_size(data), _error(data), _p(data), _stability(data), _control(data), _wrong(data)]
    return [tile for tile in found if tile is not None]


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
        f"{word}; agreement of lists from disjoint halves of the samples (resampling error"
        f" {limits}); 1: the same list, 0: nothing in common beyond chance",
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
