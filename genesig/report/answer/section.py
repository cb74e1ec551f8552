"""The first screen in plain words: the finding, its numbers, its genes, one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from genesig.report.answer.figures import FEWEST_FOR_BAND, forest, lines_of
from genesig.report.answer.record import Answer
from genesig.report.answer.verdict import Verdict, verdict
from genesig.report.page.finding import Measured, WrongSample
from genesig.report.page.measure import measure, subject
from genesig.report.page.rows import transposed
from genesig.report.page.shuffling import held, where
from genesig.report.page.sides import named, two
from genesig.report.page.svg import Picture, picture
from genesig.report.page.words import (
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
    confirmed = f"{cohorts['better']} of {cohorts['tested']} other data sets"
    confirmed = "the other data set" if cohorts["tested"] == 1 else confirmed
    if found is Verdict.OPEN:
        return f"Whether {subject} is not settled: {missing}. {measured}"
    names = held(data)
    if found is Verdict.NO_BETTER and names:
        return f"Gene expression adds nothing to {names} that chance could not add. {measured}"
    if found is Verdict.NO_BETTER:
        return f"Gene expression did not {cannot} better than chance. {measured}"
    added = f", together with {names}," if names else ""
    if found is Verdict.ELSEWHERE:
        here = "though chance is not ruled out here"
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
    core = f"{'all' if it['core'] == it['size'] else it['core']} of them core"
    if it["size"] == 1:
        core = "core" if it["core"] else "not core"
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
        label = subject(data)
        return f"gene expression{added} predicts {label}", f"predicts {label}", f"predict {label}"
    one, other = (clean(name) for name in reversed(classes[:2]))
    both = f"{one} from {other}" if two(data["study"]) else named(classes)
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
        reached = f"{measure(data).name} {decimal(r2)}"
        return f"models built this way reached {reached} on unseen samples{interval}"
    limits = (error["low"], error["high"])
    interval = "" if None in limits else f"; 95\u00a0% CI {' to '.join(map(rate, limits))}"
    auc = next((one for one in data["answer"]["measures"] if one["name"] == "auc"), None)
    more = ""
    if auc is not None:
        more = f"; AUC {decimal(auc['value'])}{_ci(auc['low'], auc['high'])}"
    return (
        f"models built this way misclassified {rate(value)} of unseen samples (balanced"
        f" error{interval}{more})"
    )


def _ci(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f", 95\u00a0% CI {decimal(low)} to {decimal(high)}"


def _chance(data: Answer) -> str:
    p, errors, observed = data["answer"]["p"], data["null"]["errors"], data["null"]["observed"]
    if p["value"] is None or observed is None:
        return "Chance was not tested: no permutations of the labels were run."
    as_good = sum(error <= observed + 1e-9 for error in errors)
    name = "error" if data["study"]["classes"] else measure(data).name
    often = f"reached this {name} in {as_good}" if as_good else f"never reached this {name}"
    return (
        f"In {counted(len(errors), 'permutation')} of the labels{where(data)} the whole analysis"
        f" {often} (permutation p\u00a0=\u00a0{significant(p['value'], 2)}; minimum attainable"
        f" {significant(p['smallest'], 2)})."
    )


def note(data: Answer) -> list[str]:
    """Say what the error is about."""
    classes = two(data["study"])
    positive = f" A positive score means {clean(classes[1])}." if classes else ""
    return [
        "The error and its interval are those of the procedure: of models chosen in exactly this"
        f" way from parts of the samples. The final model uses all of them.{positive}"
    ]


def tiles(data: Answer) -> list[Tile]:
    """Return the tiles of the first screen."""
    measured = [_measured(one, two(data["study"])) for one in data["answer"]["measures"]]
    found = [_size(data), _error(data), *measured, _wrong(data)]
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
    shown = ", ".join(map(_times, mostly[:6])) + (" …" if len(mostly) > 6 else "")
    several = data["design"]["repeats"] > 1
    none = "each was classified correctly" + " in at least half of its repeats" * several
    return Tile(
        f"Samples misclassified{' in most repeats' if several else ' while held out'}",
        f"{len(mostly)} of {wrong['samples']}",
        shown or none,
    )


def _times(one: WrongSample) -> str:
    name = shorten(one["sample"], 20)
    if one["tested"] == 1:
        return name
    return f"{name} (in {one['wrong']} of {one['tested']} repeats)"


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
        description=f"{measure(data).name}, with 95 % intervals: {named}.",
        caption=f"{measure(data).title} with its 95\u00a0% interval. Circle: this procedure in"
        " cross-validation; square: the best other method on the same splits;"
        f"{_diamonds(data)}{band} dashed: chance.{more}",
    )]  # fmt: skip


def _beside(data: Answer) -> str:
    return " and of other cohorts" if data["answer"]["cohorts"]["rows"] else ""


def _diamonds(data: Answer) -> str:
    return " diamonds: the final model in other cohorts;" * bool(data["answer"]["cohorts"]["rows"])
