"""The four lights: each row of the rules that stand on the page, and nothing beside them."""

from __future__ import annotations

import re

import pytest
from report_records import Study, collected

from genesig.report.answer.sentences import RULES, State, lights
from genesig.report.page.verdict import judge
from genesig.report.page.words import clean


@pytest.fixture(scope="module")
def study():
    return collected(Study(permutations=99))


def lit(data, **answer):
    """Return the lights of a study whose first screen has these numbers."""
    changed = {**data, "answer": {**data["answer"], **answer}}
    return lights({**changed, "verdict": judge(changed["answer"], None, None)})


def p(value, permutations=99):
    return {"value": value, "permutations": permutations, "smallest": 1 / (permutations + 1)}


def error(value, high):
    return {"name": "balanced error", "chance": 0.5, "value": value, "low": 0.0, "high": high}


def others(tested, better, worse=0):
    return {"tested": tested, "better": better, "worse": worse, "rows": []}


GOOD, CAUTION, PROBLEM, UNKNOWN = State.GOOD, State.CAUTION, State.PROBLEM, State.UNKNOWN


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"p": p(0.05), "error": error(0.1, 0.49)}, GOOD),
        ({"p": p(0.05), "error": error(0.1, 0.5)}, CAUTION),
        ({"p": p(0.05), "error": error(0.5, None)}, CAUTION),
        ({"p": p(0.051), "error": error(0.1, 0.2)}, PROBLEM),
        ({"p": p(0.051), "cohorts": others(2, 1)}, CAUTION),
        ({"p": p(0.5, 1), "error": error(0.1, 0.2)}, UNKNOWN),
        ({"p": p(None, 0), "error": error(0.1, 0.2)}, UNKNOWN),
        ({"p": p(None, 0), "cohorts": others(1, 1)}, CAUTION),
        ({"p": p(0.01), "error": error(None, None)}, UNKNOWN),
    ],
)
def test_chance(study, change, wanted):
    assert lit(study, **change)[0].state is wanted


@pytest.mark.parametrize(
    ("chance", "lasso", "wanted"),
    [("more", "more", GOOD), ("more", "alike", CAUTION), ("more", None, CAUTION),
     ("more", "less", PROBLEM), ("alike", "more", PROBLEM), ("less", None, PROBLEM),
     (None, None, UNKNOWN)],
)  # fmt: skip
@pytest.mark.parametrize("value", [0.1, 0.9])
def test_stability(study, chance, lasso, wanted, value):
    halves = {"value": value, "source": "half_subsamples", "sets": 6, "than_chance": chance,
              "than_lasso": lasso, "lasso": lasso and 0.2, "blocks": None}  # fmt: skip
    assert lit(study, stability=halves)[1].state is wanted
    splits = {**halves, "source": "outer_splits"}
    assert lit(study, stability=splits)[1].state is UNKNOWN
    assert lit(study, stability=None)[1].state is UNKNOWN


@pytest.mark.parametrize(
    ("found", "wanted"),
    [(others(0, 0), UNKNOWN), (others(2, 2), GOOD), (others(2, 1), CAUTION),
     (others(2, 0), PROBLEM), (others(2, 0, 1), PROBLEM)],
)  # fmt: skip
def test_other_cohorts(study, found, wanted):
    light = lit(study, cohorts=found)[2]
    assert light.state is wanted
    assert ("worse than chance in 1" in light.words) == bool(found["worse"])


@pytest.mark.parametrize(
    ("association", "scheme", "wanted"),
    [(0.3, "stratified_kfold", GOOD), (0.31, "stratified_kfold", PROBLEM),
     (0.31, "leave_one_batch_out", CAUTION), (None, "stratified_kfold", UNKNOWN)],
)  # fmt: skip
def test_batch(study, association, scheme, wanted):
    batch = {"column": "centre", "association": association}
    design = {**study["design"], "scheme": scheme}
    assert lights({**study, "batch": batch, "design": design})[3].state is wanted
    assert lights({**study, "batch": None})[3].state is UNKNOWN


def test_the_rules_on_the_page_name_every_light_and_state(study):
    blocks = RULES.strip().split("\n\n")
    names = [re.split(r"\s\(|\n", block)[0] for block in blocks]
    assert names == [light.name for light in lights(study)]
    for block in blocks:
        assert re.findall(r"^  (\w+ \w+|\w+)  ", block, re.MULTILINE) == [
            state.value[0] for state in State
        ]


def test_a_light_is_a_word_and_a_sign_before_it_is_a_colour():
    words, signs = zip(*(state.value for state in State), strict=True)
    assert len(set(words)) == len(set(signs)) == len(State)
    assert all(clean(sign) for sign in signs)
