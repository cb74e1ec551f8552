"""The page states what the operating point achieves, if the config asks for one."""

from __future__ import annotations

import pandas as pd
import pytest
from report_records import Study, arguments

from genesig.report.collect import StudyResults, collect
from genesig.report.methods import methods
from genesig.report.page.section import Limits
from genesig.report.page.verdict import Grade
from genesig.report.prediction.decision import operating_point_paragraph, operating_point_section
from genesig.report.sections import first_figures

LIMITS = Limits(12, 500)
ROWS = {
    "threshold": (-0.125, -0.3, 0.1),
    "sensitivity": (0.93, 0.84, 0.97),
    "specificity": (0.71, 0.6, 0.8),
    "prevalence": (0.02, None, None),
    "positive predictive value": (0.061, 0.04, 0.09),
    "negative predictive value": (0.998, 0.99, 0.999),
}
TABLE = pd.DataFrame(
    [(name, *numbers) for name, numbers in ROWS.items()],
    columns=["measure", "value", "low", "high"],
)


def decided(table=TABLE, **decision):
    built = arguments(Study())
    built["config"]["decision"] = decision
    built["tables"]["decision"] = table
    return collect(StudyResults(**built))


def test_first_screen_states_the_operating_point_that_was_asked_for():
    data = decided(sensitivity=0.95)
    (paragraph,) = operating_point_paragraph(data)
    positive = data["study"]["classes"][1]
    assert str(paragraph).replace("\u00a0", " ") == (
        "Operating point. At the threshold for a sensitivity of 95%, held-out samples have"
        " sensitivity 93.0% (95% CI 84–97%) and specificity 71% (95% CI 60–80%). If 2.0% of"
        f" patients are {positive}: positive predictive value 6.1% (95% CI 4–9%), negative"
        " predictive value 99.8% (95% CI 99–100%)."
    )
    section = operating_point_section(data, LIMITS)
    assert "calls a score above −0.125" in section.words[0].replace("\u00a0", " ")
    assert [row[0].value for row in section.items[0].rows] == list(ROWS)
    assert "the threshold for a sensitivity of 95% was found" in " ".join(methods(data))


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ({"specificity": 0.9}, "a specificity of 90%"),
        ({"cost": [1, 5]}, "costs of 1 for a false positive and 5 for a false negative"),
        ({"youden": True}, "the largest sum of sensitivity and specificity"),
    ],
)
def test_sentence_names_the_rule(decision, words):
    assert words in operating_point_paragraph(decided(**decision))[0].text


def test_section_warns_of_a_final_threshold_outside_its_range_over_the_splits():
    sentence = (
        "The threshold of the final model lies outside its range over the outer splits (−0.3 to"
        " 0.1): the measured values may not hold for it."
    )
    outside = TABLE.assign(value=TABLE["value"].replace(-0.125, 0.2))
    for table, expected in ((TABLE, []), (outside, [sentence])):
        words = operating_point_section(decided(table, sensitivity=0.95), LIMITS).words
        assert [text.replace("\u00a0", " ") for text in words[2:]] == expected


def test_figure_of_scores_names_both_thresholds():
    data = decided(sensitivity=0.95)
    caption = first_figures(data, LIMITS)[0].caption.replace("\u00a0", " ")
    positive = data["study"]["classes"][1]
    assert f"At threshold 0 (dashed line), the model calls a patient {positive} if" in caption
    assert "at the operating point, above −0.125." in caption


def test_page_without_decision_says_nothing_of_it():
    data = collect(StudyResults(**arguments(Study())))
    assert operating_point_paragraph(data) == []
    assert operating_point_section(data, LIMITS) is None
    assert "the threshold for" not in " ".join(methods(data))


def test_noise_has_no_operating_point(monkeypatch):
    monkeypatch.setattr(
        "genesig.report.prediction.decision.grade_within_study", lambda data: Grade.NONE
    )
    data = decided(youden=True)
    assert operating_point_paragraph(data) == []
    assert "no better than chance" in operating_point_section(data, LIMITS).words[0]
