"""The four checks of the first screen follow the numbers of the record."""

from __future__ import annotations

import pytest
from report_records import LIST_SIZES, SHARED, Study, collected

from genesig.report.answer.sentences import NO, UNCLEAR, UNKNOWN, YES, answer_checks
from genesig.report.page.verdict import Grade, judge


@pytest.fixture(scope="module")
def study():
    return collected(Study(permutations=99))


def check(data, question, **answer):
    """Return the row of a question, if the first screen has these numbers; None if it is absent."""
    changed = {**data, "answer": {**data["answer"], "better_method": None, **answer}}
    rows = answer_checks({**changed, "verdict": judge(changed["answer"], None, None)})
    return next((row for row in rows if row.question.startswith(question)), None)


def p(value, permutations=99):
    return {"value": value, "permutations": permutations, "smallest": 1 / (permutations + 1)}


def error(value, high):
    return {"name": "balanced error", "chance": 0.5, "value": value, "low": 0.0, "high": high}


def cohorts(tested, better, worse=0):
    return {"tested": tested, "better": better, "worse": worse, "rows": []}


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({"p": p(0.05), "error": error(0.1, 0.49)}, YES),
        ({"p": p(0.05), "error": error(0.1, 0.5)}, UNCLEAR),
        ({"p": p(0.05), "error": error(0.5, None)}, UNCLEAR),
        ({"p": p(0.051), "error": error(0.1, 0.2)}, NO),
        ({"p": p(0.051), "cohorts": cohorts(2, 1)}, NO),
        ({"p": p(0.5, 1), "error": error(0.1, 0.2)}, UNCLEAR),
        ({"p": p(None, 0), "error": error(0.1, 0.2)}, UNKNOWN),
        ({"p": p(0.01), "error": error(None, None)}, UNKNOWN),
    ],
)
def test_chance_follows_p_and_the_interval(study, change, answer):
    assert check(study, "Better than chance", **change).answer == answer


def test_smallest_possible_p_is_called_so(study):
    smallest = check(study, "Better", p=p(0.01), error=error(0.1, 0.2)).detail
    assert smallest.startswith("p\u00a0=\u00a00.01 (smallest possible with 99 permutations)")
    assert "smallest possible 0.01" in check(study, "Better", p=p(0.02)).detail


@pytest.mark.parametrize("than_chance", ["more", "alike", "less", None])
@pytest.mark.parametrize("than_lasso", ["more", "alike", "less", None])
def test_stability_is_reported_without_a_grade(study, than_chance, than_lasso):
    stability = {
        **study["answer"]["stability"],
        "than_chance": than_chance,
        "than_lasso": than_lasso,
    }
    row = check(study, "Would other patients", stability=stability)
    assert row.answer == f"About {SHARED[0]:.0f} of {LIST_SIZES[0]}"
    by_chance = f"{SHARED[1]:.1f} by chance"
    assert row.detail == f"{by_chance}; agreement beyond chance 0.30 (correlated groups 0.45)"
    words = f"{row.answer} {row.detail}".lower()
    assert not any(word in words for word in ("supported", "clearly", "stable than"))


def test_overlapping_splits_are_no_answer(study):
    splits = {**study["answer"]["stability"], "source": "outer_splits"}
    assert check(study, "Would other patients", stability=splits).answer == UNKNOWN
    assert check(study, "Would other patients", stability=None).answer == UNKNOWN


@pytest.mark.parametrize(
    ("cohorts_found", "answer"),
    [(cohorts(0, 0), NO), (cohorts(2, 2), YES), (cohorts(2, 1), YES), (cohorts(2, 0, 1), YES)],
)
def test_external_cohorts_are_counted(study, cohorts_found, answer):
    row = check(study, "Tested in an external cohort", cohorts=cohorts_found)
    assert row.answer == answer
    if cohorts_found["tested"]:
        assert (
            f"Better than chance in {cohorts_found['better']} of {cohorts_found['tested']} cohorts"
            in row.detail
        )
    assert ("worse than chance in 1" in row.detail) == bool(cohorts_found["worse"])


@pytest.mark.parametrize(
    ("association", "scheme", "answer"),
    [
        (0.0, "leave_one_batch_out", NO),
        (0.1, "stratified_kfold", "Weakly associated"),
        (0.3, "stratified_kfold", "Weakly associated"),
        (0.31, "stratified_kfold", "Possibly"),
        (0.31, "leave_one_batch_out", "Associated"),
        (None, "stratified_kfold", UNKNOWN),
    ],
)
def test_batch_is_said_with_its_association(study, association, scheme, answer):
    batch = {"column": "centre", "association": association}
    data = {**study, "batch": batch, "design": {**study["design"], "scheme": scheme}}
    row = check(data, "Could batches")
    assert row.answer == answer
    assert association is None or f"{association:.2f}" in row.detail
    assert ("left out in turn" in row.detail) == (answer == "Associated")
    assert check({**study, "batch": None}, "Could batches").answer == UNKNOWN


def test_left_out_studies_ask_of_the_study(study):
    batch = {"column": "study", "association": 0.4}
    data = {**study, "batch": batch, "design": {**study["design"], "scheme": "leave_one_study_out"}}
    assert check(data, "Is the study mixed up").answer == "Associated"


def test_without_evidence_batches_are_not_asked_about(study):
    data = {**study, "verdict": {**study["verdict"], "grade": Grade.NONE.value}}
    questions = [
        "Better than chance?",
        "Tested in an external cohort?",
        "Would other patients give the same genes?",
    ]
    assert [row.question for row in answer_checks(data)] == questions


def test_without_evidence_shared_genes_are_compared_with_chance(study):
    stability = {**study["answer"]["stability"], "shared": 7.1, "shared_by_chance": 6.8, "size": 45}
    answer = {**study["answer"], "stability": stability}
    verdict = {**study["verdict"], "grade": Grade.NONE.value}
    row = answer_checks({**study, "answer": answer, "verdict": verdict})[-1]
    assert row.answer == NO
    assert row.detail.startswith("Two halves share 7 of 45 genes, 7 by chance; ")
    stability["shared"] = 9.0
    row = answer_checks({**study, "answer": answer, "verdict": verdict})[-1]
    assert row.answer == NO
    assert row.detail.startswith("Two halves share 9 of 45 genes, 7 by chance; ")


@pytest.mark.parametrize(
    ("shared", "answer"),
    [(6.8, NO), (7.2, NO), (9.0, "About 9 of 45"), (22.6, "About 23 of 45")],
)
def test_shared_genes_are_the_answer_if_they_are_more_than_by_chance(study, shared, answer):
    stability = {**study["answer"]["stability"], "size": 45, "shared_by_chance": 6.9}
    row = check(study, "Would other patients", stability={**stability, "shared": shared})
    assert row.answer == answer
    assert "7 by chance" in row.detail


def test_left_out_studies_are_named_beside_missing_cohorts(study):
    data = {**study, "design": {**study["design"], "scheme": "leave_one_study_out"}}
    row = check(data, "Tested in an external cohort")
    assert row.answer == NO
    assert row.detail == "No external cohort was given; each study was left out in turn"
