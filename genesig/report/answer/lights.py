"""Four lights on the first screen: what the evidence allows, by rules that are written down.

A light is a word and a sign before it is a colour. `RULES` says for readers what the functions
decide; a test goes through both, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from genesig.data.study.confounding import NOTABLE
from genesig.report.page.measure import held, measure, where
from genesig.report.page.record import Stability, Study
from genesig.report.page.verdict import LEVEL, Grade, grade, here
from genesig.report.page.words import clean, counted, decimal, significant

LEFT_OUT = {"leave_one_batch_out": "batch", "leave_one_study_out": "study"}


class State(Enum):
    """What a light says: the word, and the sign that stands before it."""

    GOOD = ("supported", "●")
    CAUTION = ("with caution", "◐")
    PROBLEM = ("not supported", "○")
    UNKNOWN = ("not assessed", "?")


@dataclass(frozen=True)
class Light:
    """One light: what it is about, its state, and the evidence in words."""

    name: str
    state: State
    words: str


RULES = f"""\
Better than chance
  supported      permutation p ≤ {LEVEL:g}, and the interval of the error excludes chance
  with caution   p ≤ {LEVEL:g}, but the interval reaches chance; or only other cohorts show it
  not supported  p > {LEVEL:g}
  not assessed   no permutations, or too few for p ≤ {LEVEL:g}

Gene list more stable than the lasso's (agreement of the lists of disjoint halves of the samples)
  supported      clearly more than that of lasso lists of the same length, on the same halves
  with caution   clearly more than chance, and about that of the lasso lists
  not supported  not clearly more than chance, or clearly less than that of the lasso lists
  not assessed   fewer than three pairs of halves were drawn, or it is not defined

Confirmed in other cohorts (interval of the AUC above 0.5)
  supported      in all of them
  with caution   in some of them
  not supported  in none of them
  not assessed   no cohort without training samples was tested

Independent of batch (association of batch and label beyond chance, 0 to 1)
  supported      at most {NOTABLE:g}
  with caution   more, but each batch was left out in turn
  not supported  more than {NOTABLE:g}: part of what predicts may be the batch
  not assessed   no batch column was named, or the association is not defined
"""


def rules(data: Study) -> str:
    """Return the rules in the words of the study's kind of response."""
    name, chance = measure(data).elsewhere[1:]
    shown = f"the {name}" if len(name) > 2 else name
    return RULES.replace("the AUC above 0.5", f"{shown} above {chance:g}")


def lights(data: Study) -> list[Light]:
    """Return the four lights in their order."""
    return [_chance(data), _stable(data), _confirmed(data), _batch(data)]


def _chance(data: Study) -> Light:
    name, p, error = "Better than chance", data["answer"]["p"], data["answer"]["error"]
    if error["value"] is None:
        return Light(name, State.UNKNOWN, "the error could not be measured")
    if p["value"] is None:
        state = State.CAUTION if grade(data) is Grade.ELSEWHERE else State.UNKNOWN
        return Light(name, state, "no permutations of the labels were run")
    words = (
        f"permutation p\u00a0=\u00a0{significant(p['value'], 2)}"
        f" ({counted(p['permutations'], 'permutation')}{where(data)}; minimum attainable"
        f" {significant(p['smallest'], 2)})"
    )
    alone = here(data)
    if alone is Grade.HERE:
        other = data["verdict"]["by"] != "genes"
        more = f"; {data['verdict']['by']} carry the finding" if other else ""
        return Light(name, State.CAUTION if other else State.GOOD, words + more)
    what, guess = ("gain", "0") if held(data) else ("error", "guessing")
    if alone is Grade.WEAK and data["verdict"]["small"]:
        known = data["verdict"]["excludes"] is not None
        but = (
            f"the interval of the {what} includes {guess}"
            if known
            else f"the {what} has no interval"
        )
        return Light(name, State.CAUTION, f"{words}, but {but}")
    if data["verdict"]["small"] is None:
        return Light(name, State.UNKNOWN, f"{words}: too few to tell")
    state = State.CAUTION if grade(data) is Grade.ELSEWHERE else State.PROBLEM
    return Light(name, state, words)


def _stable(data: Study) -> Light:
    name, it = "Gene list more stable than the lasso's", data["answer"]["stability"]
    if it is None or it["source"] != "half_subsamples":
        return Light(name, State.UNKNOWN, _unmeasured(data))
    words = (
        f"stability {decimal(it['value'])}{_whose(data)} on halves of the samples (1: identical"
        f" lists, 0: overlap expected by chance), {_beside(it)}"
    )
    if it["blocks"] is not None:
        words += f"; of the blocks of correlated genes they hit {decimal(it['blocks'])}"
    if it["than_chance"] is None:
        return Light(name, State.UNKNOWN, words)
    if it["than_chance"] != "more" or it["than_lasso"] == "less":
        return Light(name, State.PROBLEM, words)
    return Light(name, State.GOOD if it["than_lasso"] == "more" else State.CAUTION, words)


def _beside(it: Stability) -> str:
    """Say whether lists agree more than by chance, and than lists of the lasso do."""
    if it["than_chance"] is None:
        return "from too few halves to be held against chance"
    clearly = "clearly more than" if it["than_chance"] == "more" else "not clearly more than"
    if it["than_lasso"] is None or it["lasso"] is None:
        return f"{clearly} chance"
    than = {"more": "and clearly more than", "less": "and clearly less than", "alike": "about as"}
    lasso = f"lasso lists of the same length ({decimal(it['lasso'])})"
    how = than[it["than_lasso"]]
    return f"{clearly} chance, {how} {'much as ' if how == 'about as' else ''}{lasso}"


def _whose(data: Study) -> str:
    return " of the predictive model's list" if data["answer"]["evidence"] else ""


def _unmeasured(data: Study) -> str:
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


def _confirmed(data: Study) -> Light:
    name, it = "Confirmed in other cohorts", data["answer"]["cohorts"]
    if not it["tested"]:
        more = " without training samples" if it["rows"] else ""
        return Light(name, State.UNKNOWN, f"no other cohort{more} was tested")
    state = State.CAUTION if it["better"] else State.PROBLEM
    worse = f"; worse than chance in {it['worse']}" if it["worse"] else ""
    words = f"better than chance in {it['better']} of {counted(it['tested'], 'cohort')}{worse}"
    return Light(name, State.GOOD if it["better"] == it["tested"] else state, words)


def _batch(data: Study) -> Light:
    name, it = "Independent of batch", data["batch"]
    if it is None:
        return Light(name, State.UNKNOWN, "no batch column was named")
    if it["association"] is None:
        return Light(name, State.UNKNOWN, f"association with {clean(it['column'])} not defined")
    measure = "Cramér's V" if data["study"]["classes"] else "correlation ratio"
    words = f"{measure} of {clean(it['column'])} with the label {decimal(it['association'])}"
    if it["association"] <= NOTABLE:
        return Light(name, State.GOOD, words)
    if one := LEFT_OUT.get(data["design"]["scheme"]):
        return Light(name, State.CAUTION, f"{words}; each {one} was left out in turn")
    return Light(name, State.PROBLEM, words)
