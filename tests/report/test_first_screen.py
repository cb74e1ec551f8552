"""The first screen grades the evidence and names the signature by the record."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from report_checks import MAX_WORDS_OF_FIRST_SCREEN, words_of_first_screen
from report_kinds import KINDS, cohorts, of_a_kind, with_own
from report_records import (
    LIST_SIZES,
    SHARED,
    Study,
    arguments,
    collected,
    held_arguments,
    kind_arguments,
)

from genesig.report.answer import section as answer_section
from genesig.report.answer.section import (
    beyond_covariates,
    first_screen_tiles,
    held_out_scores,
    models_note,
)
from genesig.report.answer.sentences import next_steps, write_paragraphs
from genesig.report.card import write_card
from genesig.report.collect import StudyResults, collect
from genesig.report.page.measure import EXCLUDED_MODELS
from genesig.report.page.section import Limits
from genesig.report.page.tables import table_rows
from genesig.report.page.verdict import (
    Analysis,
    Grade,
    conclusion,
    grade,
    grade_within_study,
    headline,
    judge,
)
from genesig.report.page.words import decimal
from genesig.report.sections import summary
from genesig.report.survival import survival_tiles

NONE, WEAK, HERE, ELSEWHERE, AGAINST = Grade
pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("permutations", "change", "expected", "words"),
    [
        (99, {"p_value": 0.01}, HERE, "Gene expression distinguishes tumour from normal in this"),
        (19, {"p_value": 0.05}, HERE, "distinguishes tumour from normal in this study."),
        (99, {"p_value": 0.01, "high": 0.499}, HERE, "in this study."),
        (99, {"p_value": 0.01, "high": 0.5}, WEAK, "p\u00a0=\u00a00.01, but the 95% CI of the"),
        (
            99,
            {"p_value": 0.01, "low": np.nan, "high": np.nan},
            WEAK,
            "the accuracy has no confidence interval",
        ),
        (99, {"p_value": 0.051}, NONE, "no evidence that gene expression"),
        (1, {"p_value": 0.5, "high": 0.5}, NONE, "There is no evidence that"),
        (18, {"p_value": 1 / 19, "high": 0.4}, WEAK, "excludes 50%, but 18 permutations are"),
        (0, {"high": 0.4}, WEAK, "no permutation test was run"),
        (
            99,
            {"p_value": np.nan, "high": 0.4},
            WEAK,
            "p could not be computed from 99 permutations",
        ),
        (0, {"high": 0.55}, NONE, "There is no evidence that"),
    ],
)
def test_the_sentence_has_the_grade(permutations, change, expected, words):
    data = with_own(arguments(Study(permutations=permutations, named=0)), **change)
    assert grade(data) is expected
    assert words in headline(data)


def test_genes_that_are_named_are_weak_evidence_where_models_do_not_predict():
    data = with_own(arguments(Study(permutations=99, named=3)), p_value=0.4, high=0.6)
    assert (grade(data), grade_within_study(data)) == (WEAK, NONE)
    text = headline(data)
    assert text.startswith("It is unclear whether gene expression distinguishes tumour from normal")
    assert "3 genes pass an FDR of 10%, but models do not predict better than chance" in text


@pytest.mark.one_in(2)
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize(
    ("p", "better", "expected", "words"),
    [
        (0.4, (True, False), ELSEWHERE, " in 1 of 2 external cohorts; this study alone does"),
        (0.4, (True,), ELSEWHERE, " in c0; this study alone does not show this."),
        (0.4, (True, False, False), NONE, "no evidence"),
        (0.4, (False,), NONE, "no evidence"),
        (0.01, (False,), HERE, "; the external cohort is inconclusive."),
        (0.01, (False, False), HERE, "; the 2 external cohorts are inconclusive."),
        (
            0.01,
            (False, True),
            ELSEWHERE,
            " better than chance, here and in 1 of 2 external cohorts.",
        ),
        (0.01, (False, True, False), HERE, "; 1 of 3 external cohorts are better than chance."),
    ],
)
def test_other_studies_belong_to_the_verdict(regression, p, better, expected, words):
    inputs = arguments(Study(permutations=99, regression=regression, named=0))
    data = with_own(inputs, cohorts(inputs, *better), p_value=p, high=0.4)
    cohorts_data = data["answer"]["cohorts"]
    assert (cohorts_data["tested"], cohorts_data["better"], cohorts_data["worse"]) == (
        len(better),
        sum(better),
        0,
    )
    assert [row["name"] for row in cohorts_data["rows"]] == [f"c{k}" for k in range(len(better))]
    assert grade(data) is expected
    assert words in headline(data)


def test_a_cohort_whose_interval_excludes_the_error_contradicts_it():
    inputs = arguments(Study(permutations=99))
    abouts = cohorts(inputs, False)
    for row in abouts[0]["scores"]:
        if row["measure"] == "balanced_error":
            row |= {"value": 0.6, "low": 0.45, "high": 0.7}
    data = with_own(inputs, abouts, p_value=0.01, error=0.2, high=0.3)
    assert grade(data) is AGAINST
    assert headline(data).endswith("in this study, but not in c0.")
    assert grade(with_own(inputs, abouts, p_value=0.01, error=0.46, high=0.49)) is HERE


@pytest.mark.parametrize("permutations", [0, 9])
def test_other_studies_settle_what_too_few_permutations_leave_open(permutations):
    inputs = arguments(Study(permutations=permutations))
    assert grade(collect(StudyResults(**inputs, external=cohorts(inputs, True)))) is ELSEWHERE


def test_training_samples_under_another_name_are_no_evidence():
    inputs = arguments(Study(permutations=99, named=0))
    data = with_own(inputs, cohorts(inputs, True, seen_before=25), p_value=0.4)
    answer = data["answer"]["cohorts"]
    assert (answer["tested"], answer["better"], len(answer["rows"])) == (0, 0, 1)
    assert grade(data) is NONE


@pytest.mark.parametrize(
    ("p", "alone", "p_whole", "with_genes", "expected", "by"),
    [
        (0.01, 0.02, 0.5, -0.1, HERE, "genes"),
        (0.01, -0.02, 0.5, -0.1, WEAK, "genes"),
        (0.2, 0.02, 0.5, -0.1, NONE, "genes"),
        (0.2, -0.02, 0.02, 0.1, HERE, "all genes"),
        (0.2, -0.02, 0.03, 0.1, NONE, "genes"),  # a second look: twice its p
        (0.2, -0.02, 0.01, -0.1, NONE, "genes"),
    ],
)
def test_beside_covariates_the_question_is_what_expression_adds(
    p, alone, p_whole, with_genes, expected, by
):
    answer = collected(Study(permutations=99, named=0))["answer"]
    answer["p"]["value"] = p
    adjusted = {"alone": {"low": alone}, "whole": {"low": with_genes}, "p_whole": p_whole}
    verdict = judge(answer, adjusted, None)
    assert (verdict["grade"], verdict["basis"]) == (expected.value, by)


@pytest.mark.parametrize(
    ("p", "excludes", "expected"),
    [(0.02, True, HERE), (0.03, True, NONE), (0.01, False, NONE), (None, True, NONE)],
)
def test_gene_sets_carry_the_headline_where_genes_do_not_predict(p, excludes, expected):
    answer = collected(Study(permutations=99, named=0))["answer"]
    answer["p"]["value"] = 0.4
    verdict = judge(answer, None, Analysis(p, excludes))
    assert (verdict["grade"], verdict["basis"]) == (
        expected.value,
        "sets" if expected is HERE else "genes",
    )


def test_undefined_error_gives_no_accuracy():
    undefined = dict.fromkeys(("error", "low", "high", "p_value"), np.nan)
    data = with_own(arguments(Study(permutations=99)), **undefined)
    assert headline(data).startswith("The accuracy could not be measured")


@pytest.mark.parametrize("error", [0.32, 1.2])
def test_the_sentence_gives_the_r2_of_the_tile(error):
    inputs = arguments(Study(regression=True, permutations=99))
    data = with_own(inputs, error=error, low=0.1, high=1.4)
    assert (
        f"reached R² {decimal(1 - error)} in 30 held-out patients (95% CI −0.40 to 0.90; chance 0"
        in write_paragraphs(data)[0].text
    )
    assert first_screen_tiles(data)[0].value == decimal(1 - error)


@pytest.mark.slow
def test_the_signature_is_the_final_model_and_has_no_other_error():
    inputs = arguments(Study(named=None))
    data = collect(StudyResults(**inputs))
    final = inputs["final"]
    answer = data["answer"]
    genes = {inputs["dataset"].genes[gene] for gene in final.coef(0, final.choice[0, 2])[0]}
    table = inputs["tables"]["signature"]
    assert set(table["gene"]) == genes
    assert (answer["size"], answer["core"]) == (len(genes), table["core"].sum())
    sizes = inputs["observed"].with_chosen().sizes()[:, -1]
    assert answer["lengths"] == [sizes.min(), *answer["lengths"][1:2], sizes.max()]
    assert answer["lengths"][1] in sizes
    prediction, signature, *_ = (paragraph.text for paragraph in write_paragraphs(data))
    assert "misclassified" in prediction
    core = f"{answer['core']} {'is' if answer['core'] == 1 else 'are'} core"
    assert signature.startswith(
        f"The final model uses {answer['size']} genes (the signature); {core}"
    )
    assert "75% of the 10 cross-validated models" in signature
    assert first_screen_tiles(data)[-1].value == f"{len(genes)} genes"
    assert first_screen_tiles(data)[-1].words.startswith(f"{answer['core']} core: ")


def one_gene(core):
    """Cut the final model to its first gene, which is core or not."""
    inputs = arguments(Study(named=None))
    table = inputs["tables"]["signature"].iloc[:1]
    inputs["tables"]["signature"] = table.assign(core=core, cv_frequency=0.9 if core else 0.1)
    return inputs


@pytest.mark.parametrize(("core", "words"), [(True, "1 is core"), (False, "0 are core")])
def test_signature_of_one_gene_is_worded_in_the_singular(core, words):
    data = collect(StudyResults(**one_gene(core)))
    assert words in write_paragraphs(data)[1].text
    warned = [
        warning for warning in data["warnings"] if warning.startswith("Only 0 of 1 signature gene ")
    ]
    assert len(warned) == (not core)


def with_core(core, size):
    inputs = arguments(Study(genes=400, named=None))
    table = inputs["tables"]["signature"]
    all_genes = inputs["dataset"].genes
    longer = table.iloc[[0] * size].assign(gene=all_genes[:size], rank=range(1, size + 1))
    longer["core"] = np.arange(size) < core
    inputs["tables"]["signature"] = longer.reset_index(drop=True)
    return inputs


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("core", "size", "words"),
    [
        (0, 12, "Only 0 of 12 signature genes are core (selected in at least 75%"),
        (1, 12, "Only 1 of 12 signature genes is core (selected in at least 75%"),
        (2, 12, "Only 2 of 12 signature genes are core"),
        (2, 10, None),
        (3, 12, None),
    ],
)
def test_lists_that_hardly_agree_are_warned_of(core, size, words):
    matching_warnings = [
        warning
        for warning in collect(StudyResults(**with_core(core, size)))["warnings"]
        if "core (" in warning
    ]
    assert [warning.startswith(str(words)) for warning in matching_warnings] == (
        [True] if words else []
    )
    assert all(
        warning.endswith("other patients would probably give other genes.")
        for warning in matching_warnings
    )


@pytest.mark.parametrize(
    ("rule", "max_genes", "warned"),
    [("stable", 201, True), ("stable", 202, False), ("minimal", 201, False)],
)
def test_a_list_longer_than_asked_for_is_warned_of(rule, max_genes, warned):
    inputs = with_core(202, 202)
    inputs["config"]["linear"]["list"] = rule
    inputs["config"]["signature"]["most"] = max_genes
    matching_warnings = [
        warning
        for warning in collect(StudyResults(**inputs))["warnings"]
        if warning.startswith(f"No list of {max_genes} ")
    ]
    assert ["202" in warning for warning in matching_warnings] == [True] * warned


def against_ridge(study, difference, low, high):
    """Let ridge be the best other method, with this difference of the errors."""
    inputs = arguments(study)
    controls = inputs["tables"]["controls"]
    is_genesig = (controls["model"] == "genesig") & controls["mu"].isna()
    controls.loc[is_genesig, "error"] = 0.04 - difference
    ridge = controls["model"] == "ridge"
    controls.loc[ridge, ["difference", "difference_low", "difference_high"]] = (
        difference,
        low,
        high,
    )
    return collect(StudyResults(**inputs))


@pytest.mark.parametrize("regression", [False, True])
def test_another_method_is_named_with_both_numbers(regression):
    words = "R² (0.96 against 0.94)" if regression else "balanced accuracy (96.0% against 94.5%)"
    data = against_ridge(Study(regression=regression), -0.015, -0.03, -1e-4)
    of = data["answer"]["best_other_method"]["n_methods"]
    controls = table_rows(data["tables"]["controls"])
    assert of == sum(row["model"] not in EXCLUDED_MODELS for row in controls)
    sentence = (
        f"Another method (ridge, all genes, the best of {of} other methods on held-out samples)"
        f" had a higher {words} on the same samples; the 95% CI of the paired difference excludes"
        " 0."
    )
    assert sentence in data["warnings"]
    assert data["answer"]["best_other_method"]["difference"] == -0.015


@pytest.mark.parametrize(
    ("difference", "low", "high"),
    [(-0.3, -0.6, 0.0), (-0.3, -0.6, 0.01), (0.02, 0.01, 0.03), (-0.3, np.nan, np.nan)],
)
def test_another_method_is_better_only_where_chance_is_ruled_out(difference, low, high):
    data = against_ridge(Study(), difference, low, high)
    assert data["answer"]["best_other_method"]["model"] == "ridge"
    assert not any("Another method" in warning for warning in data["warnings"])


def test_gaps_of_lists_that_were_not_kept_are_not_counted():
    inputs = arguments(Study(longest=60))
    gap = inputs["observed"].gap.copy()
    gap[0, 0] = 1e-3
    data = collect(StudyResults(**{**inputs, "observed": replace(inputs["observed"], gap=gap)}))
    n_kept = int((~np.isnan(gap)).sum())
    assert n_kept < gap.size
    assert (
        f"1 fit of {n_kept} did not reach the requested accuracy (largest relative duality gap"
        " 1.0e-03)."
    ) in data["warnings"]


def test_one_split_is_one_model():
    data = collected(Study(folds=1, repeats=1, named=None))
    assert "of the 1 cross-validated model." in write_paragraphs(data)[1].text


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_other_patients_are_told_the_shared_genes_of_the_record(kind):
    data = collected(Study(permutations=99, regression=kind == "regression"))
    stability = data["answer"]["stability"]
    assert (stability["shared"], stability["shared_by_chance"]) == SHARED
    text = next(
        paragraph.text
        for paragraph in write_paragraphs(data)
        if paragraph.lead == "In other patients,"
    )
    shared = f"{SHARED[0]:.0f}"
    by_chance = f"{SHARED[1]:.1f}"
    assert f"share about {shared} of {LIST_SIZES[0]} genes ({by_chance} by chance)" in text


@pytest.mark.parametrize(
    ("shared", "by_chance", "expected"),
    [
        (6, 0.1, "expect the same genes."),
        (4, 0.1, "expect most genes again."),
        (4, 4, "expect a different list."),
        (3, 0.1, "expect a different list."),
    ],
)
def test_other_patients_expect_most_genes_if_halves_share_more_than_half(
    shared, by_chance, expected
):
    data = collected(Study(permutations=99))
    data["answer"]["stability"] |= {"size": 6, "shared": shared, "shared_by_chance": by_chance}
    assert any(expected in paragraph.text for paragraph in write_paragraphs(data))


def test_next_steps_count_independent_patients_not_samples():
    """Of 10 patients with 3 samples each, an AUC of 0.7 needs more, whatever the samples."""
    data = with_own(arguments(Study(permutations=99, named=0)), p_value=0.6, high=0.6)
    assert grade(data) is NONE
    data["study"] |= {"units": [5, 5], "counts": [150, 150], "groups": 10}
    text = next(
        paragraph.text for paragraph in write_paragraphs(data) if paragraph.lead == "Next steps."
    )
    assert "Plan a much larger study: a learned score needs far more patients" in text
    assert "Test gene sets as a second analysis" in text
    power = next(str(p) for p in write_paragraphs(data) if p.lead.startswith("What this study"))
    assert "It had 5 and 5 groups. It had 80% power" in power
    data["answer"]["detectable"]["auc"] = 0.7
    assert "much larger" not in " ".join(map(str, write_paragraphs(data)))


def test_a_study_without_evidence_lists_no_gene_and_has_one_figure():
    data = with_own(arguments(Study(permutations=99, named=0)), p_value=0.6, high=0.6)
    first_screen = summary(data, Limits(12, 15))
    assert [image.name for image in first_screen.items] == ["null"]
    assert [badge.text for badge in first_screen.badges] == [NONE.value]
    words = " ".join(
        [*map(str, first_screen.paragraphs), *(tile.words for tile in first_screen.tiles)]
    )
    assert not any(row["symbol"] in words for row in data["answer"]["signature_genes"])
    assert first_screen.genes == ""


@pytest.mark.parametrize(
    ("change", "step"),
    [
        ({"p_value": 0.01, "high": 0.4}, "Test the final model in an external cohort before"),
        (
            {"p_value": 0.01, "high": 0.6},
            "Test the final model in an external cohort. Do not pool its patients",
        ),
        ({"p_value": 0.6, "high": 0.6}, None),
    ],
)
def test_next_steps_follow_the_conclusion(change, step):
    data = with_own(arguments(Study(permutations=99, named=0)), **change)
    paragraphs = next_steps(data)
    assert [paragraph.lead for paragraph in paragraphs] == ["Next steps."] * (step is not None)
    assert all(paragraph.text.startswith(step) for paragraph in paragraphs)
    leads = [paragraph.lead for paragraph in summary(data, Limits(12, 15)).paragraphs]
    assert leads.count("Next steps.") == 1


def test_next_steps_without_permutations_ask_for_permutations():
    data = with_own(arguments(Study(permutations=0, named=0)), high=0.4)
    assert next_steps(data)[0].text == "Run at least 99 permutations (controls.permutations)."


def test_next_steps_after_an_external_cohort_name_a_further_one():
    inputs = arguments(Study(permutations=99, named=0))
    data = with_own(inputs, cohorts(inputs, False), p_value=0.01, high=0.4)
    assert grade(data) is HERE
    assert "Test the final model in a further cohort" in next_steps(data)[0].text


def test_power_sentence_assumes_a_prespecified_score():
    data = with_own(arguments(Study(permutations=99, named=0)), p_value=0.6, high=0.6)
    text = next(
        paragraph.text
        for paragraph in write_paragraphs(data)
        if paragraph.lead.startswith("What this study")
    )
    assert "80% power to detect a prespecified (published) score with AUC" in text


def test_next_steps_of_survival_plan_patients_and_events():
    data = collect(StudyResults(**kind_arguments("survival", proved=True)))
    columns = ["measure", "basis", "value", "samples", "events"]
    rows = [["C", "value", 0.78, 187, 121], ["C", "lower limit", 0.68, 236, 153]]
    data["tables"]["next_study"] |= {"columns": columns, "rows": rows, "total": 2}
    data["verdict"]["grade"] = HERE.value
    plan = "; plan 236 patients with 153 events for C ±0.05 (95% CI)."
    assert next_steps(data)[0].text.endswith(plan)
    data["verdict"] |= {"grade": WEAK.value, "p_is_small": True}
    assert f"an external cohort{plan} Do not pool its patients" in next_steps(data)[0].text


@pytest.mark.parametrize(
    ("counts", "size"),
    [
        ([27, 11], "; plan 346 patients to check calibration (249 give AUC to ±0.05)."),
        ([150, 100], "; plan 250 patients to check calibration (249 give AUC to ±0.05)."),
        ([125, 125], "; plan 249 patients for AUC ±0.05 (95% CI)."),
    ],
)
def test_next_steps_plan_enough_patients_to_check_calibration(counts, size):
    data = with_own(arguments(Study(permutations=99, named=0)), p_value=0.01, high=0.4)
    columns = ["measure", "basis", "value", "samples", "events"]
    rows = [["AUC", "lower limit", 0.87, 249, 73]]
    data["tables"]["next_study"] |= {"columns": columns, "rows": rows, "total": 1}
    data["study"]["counts"] = counts
    assert next_steps(data)[0].text.endswith(size)


def test_next_steps_of_few_events_plan_enough_to_check_calibration():
    data = collect(StudyResults(**kind_arguments("survival", proved=True)))
    columns = ["measure", "basis", "value", "samples", "events"]
    rows = [["C", "lower limit", 0.9, 120, 60]]
    data["tables"]["next_study"] |= {"columns": columns, "rows": rows, "total": 1}
    data["verdict"]["grade"] = HERE.value
    plan = "; plan 200 patients with 100 events to check calibration (120 give C to ±0.05)."
    assert next_steps(data)[0].text.endswith(plan)


@pytest.mark.parametrize(("specificity_high", "is_one_sided"), [(0.61, True), (0.75, False)])
def test_next_steps_ask_for_recalibration_if_calls_of_a_cohort_are_one_sided(
    specificity_high, is_one_sided
):
    inputs = arguments(Study(permutations=99, named=0))
    abouts = cohorts(inputs, True)
    limits = {
        "specificity": {"value": 0.4, "low": 0.22, "high": specificity_high},
        "sensitivity": {"value": 0.9, "low": 0.7, "high": 0.97},
    }
    for row in abouts[0]["scores"]:
        row |= limits.get(row["measure"], {})
    data = with_own(inputs, abouts, p_value=0.01, high=0.4)
    assert headline(data).endswith("in c0 (specificity 40%).") == is_one_sided
    text = next_steps(data)[0].text
    sentence = (
        "In c0, the 95% CIs of specificity (40%) and sensitivity (90%) do not overlap: look for a"
        " shift, and set a new threshold. Test the changed model in a prospective study"
    )
    assert text.startswith(sentence) == is_one_sided


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("relapse", "predicts time to relapse in"),
        ("Dead", "predicts time to death in"),
        ("1", "predicts survival (time) in"),
        ("true", "predicts survival (time) in"),
        (None, "predicts survival (time) in"),
    ],
)
def test_headline_of_survival_names_the_event(event, words):
    data = with_own(kind_arguments("survival", proved=True), p_value=0.05, high=0.4)
    data["config"]["data"]["event"] = event
    data["study"]["label"] = "time"
    assert words in headline(data)


@pytest.mark.parametrize(
    ("label", "horizon", "words"),
    [
        ("years", 3.0, "3 years"),
        ("years", 1.0, "1 year"),
        ("os_months", 36.0, "36 months"),
        ("t.d", 2.5, "t.d 2.5"),
    ],
)
def test_horizon_has_the_unit_in_the_name_of_the_times(label, horizon, words):
    data = collect(StudyResults(**kind_arguments("survival", proved=True)))
    data["study"]["label"] = label
    data["survival"]["horizon"] = horizon
    assert survival_tiles(data)[0].name == f"Event-free at {words}, low risk"


def test_survival_shows_both_risk_groups_at_the_horizon():
    data = collect(StudyResults(**kind_arguments("survival", proved=True)))
    record = data["survival"]
    horizon = f"{data['study']['label']} {record['horizon']:g}"
    shown = {tile.name: tile for tile in survival_tiles(data)}
    assert list(shown) == [f"Event-free at {horizon}, {group} risk" for group in ("low", "high")]
    for curve in record["curves"]:
        tile = shown[f"Event-free at {horizon}, {curve['group']} risk"]
        step = max(k for k, time in enumerate(curve["time"]) if time <= record["horizon"])
        assert tile.value == f"{100 * curve['survival'][step]:.0f}%"
        assert (tile.words != "") == (curve["low"][step] is not None)
    first_screen = summary(data, Limits(12, 15))
    assert all(tile in first_screen.tiles for tile in shown.values())
    assert f"horizon ({horizon})" in first_screen.items[0].caption


@pytest.mark.parametrize(("error", "share"), [(0.22, "22%"), (0.5, "50%")])
def test_survival_counts_pairs_that_are_not_in_the_predicted_order(error, share):
    data = with_own(kind_arguments("survival", proved=True), error=error)
    sentence = (
        "Each patient is ranked, not classified: C is the share of comparable pairs in the"
        f" predicted order; {share} of the pairs were not."
    )
    assert sentence in write_paragraphs(data)[0].text


def test_name_of_a_misclassified_sample_lies_beside_the_threshold():
    row = answer_section.Strip(
        "ALL", "3 patients", "#1f77b4", [-1.0, -0.4, 0.03], ["a", "b", "S12"], [False, False, True]
    )
    figure = answer_section.draw_strips([row, row], ("ALL", "AML"), "score")
    figure.draw_without_rendering()
    (ax,) = figure.axes
    names = [text for text in ax.texts if text.get_text() == "S12"]
    assert len(names) == 2
    line = ax.transData.transform((0, 0))[0]
    assert all(name.get_window_extent().x0 > line for name in names)
    labels = [text for text in ax.texts if text.get_text() in ("ALL", "3 patients")]
    assert len({round(label.get_window_extent().x1) for label in labels}) == 1


def test_figure_of_scores_explains_its_dashed_line():
    data = with_own(arguments(Study(permutations=99, named=0)), p_value=0.01, high=0.4)
    caption = held_out_scores(data).caption
    assert "Dashed: threshold 0." in caption


def test_permuted_accuracies_have_per_cent_on_their_axis():
    data = with_own(arguments(Study(permutations=99, named=0)), p_value=0.6, high=0.6)
    figure = summary(data, Limits(12, 15)).items[0].draw()
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels
    assert all(label.endswith("%") for label in labels)


@pytest.mark.parametrize(
    ("q", "text"), [(0.02, "q 0.020"), (0.0149, "q 0.015"), (1e-6, "q 1\u2009×")]
)
def test_q_of_the_lollipops_has_two_digits(q, text):
    gene = answer_section.Lollipop("A", "a", "#1f77b4", 0.9, 0.1, q)
    figure = answer_section.draw_lollipops([gene], "share")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert any(written.startswith(text) for written in texts)


def test_covariates_figure_has_per_cent_on_its_axis():
    image = beyond_covariates(
        collect(StudyResults(**held_arguments(Study(nonlinear=False), "adds")))
    )
    figure = image.draw()
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels
    assert all(label.endswith("%") for label in labels)


def test_survival_curves_have_time_on_their_axis():
    data = collect(StudyResults(**kind_arguments("survival", proved=True)))
    (image, *_) = summary(data, Limits(12, 15)).items
    assert image.draw().axes[-1].get_xlabel() == f"time ({data['study']['label']})"


@pytest.mark.parametrize("n_runners_up", [0, 2])
def test_link_to_the_genes_counts_every_gene_of_the_table(n_runners_up):
    data = with_own(arguments(Study(permutations=99, beside=n_runners_up)), high=0.3)
    n_genes = data["tables"]["signature"]["total"]
    assert data["answer"]["evidence"]["fdr_selected"] < n_genes
    assert summary(data, Limits(12, 15)).genes == f"All {n_genes} genes"


SLOW_KINDS = ("several_classes", "regression", "survival")
LONG_WARNINGS = [
    "These genes are strongly correlated; treat their groups as one: g1 and g2 (r = 0.91).",
    "Quality of the samples: age explains 93% of the largest source of variation (PC1, 11% of"
    " variance), outcome 56%. Check that age and sample handling are not confounded.",
]


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] if kind in SLOW_KINDS else []) for kind in KINDS],
)
def test_first_screen_of_each_kind_has_at_most_400_words(kind):
    data = of_a_kind(kind)
    data["warnings"] = LONG_WARNINGS
    assert words_of_first_screen(data) <= MAX_WORDS_OF_FIRST_SCREEN


@pytest.mark.parametrize("kind", ["two classes", "external cohort"])
def test_model_card_has_at_most_250_words(kind):
    assert len(write_card(of_a_kind(kind), "A study").split()) <= 250


@pytest.mark.parametrize("kind", ["two classes", "external cohort"])
def test_note_says_which_numbers_do_not_describe_the_final_model(kind):
    assert models_note(of_a_kind(kind)).startswith("Cross-validated numbers do not describe the")


@pytest.mark.parametrize(
    ("kind", "has_both"), [("two classes", True), ("regression", False), ("noise", False)]
)
def test_note_names_both_kinds_of_intervals_if_tiles_have_both(kind, has_both):
    note = models_note(of_a_kind(kind))
    assert note.endswith("; CIs of sensitivity and specificity take models as fixed.") == has_both


def test_genes_that_do_not_pass_are_not_to_be_followed_up():
    text = write_paragraphs(of_a_kind("two classes"))[1].text
    assert re.search(r"3 of them pass .* Follow up only the 3 that pass\.$", text)
    assert "Do not follow up any gene" in write_paragraphs(of_a_kind("noise"))[1].text


@pytest.mark.parametrize(
    ("better", "words"),
    [
        ((True,), "Better than chance in 1 of 1 external cohort"),
        ((True, False), "Better than chance in 1 of 2 external cohorts"),
    ],
)
def test_first_badge_counts_the_external_cohorts(better, words):
    inputs = arguments(Study(permutations=99, named=0))
    assert conclusion(with_own(inputs, cohorts(inputs, *better), p_value=0.01, high=0.4)) == words
