"""The first screen: what it claims of chance and of size, and what it calls the signature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_records import Study, arguments, collected, make_about

from genesig.report.answer.section import tiles
from genesig.report.answer.sentences import sentences
from genesig.report.collect import collect
from genesig.report.page.verdict import Analysis, Grade, grade, headline, here, judge
from genesig.report.page.words import decimal

NONE, WEAK, HERE, ELSEWHERE, AGAINST = Grade
pytestmark = pytest.mark.usefixtures("undrawn")


def with_own(given, external=(), **change):
    """Collect a study whose chosen lists have these numbers in controls.tsv."""
    controls = given["tables"]["controls"]
    own = (controls["model"] == "genesig") & controls["mu"].isna()
    changed = {key: controls[key].where(~own, value) for key, value in change.items()}
    # No other method is better: what the linear models say stands alone.
    given["tables"]["controls"] = controls.assign(**changed, difference_high=np.nan)
    return collect(**given, external=external)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("permutations", "change", "wanted", "words"),
    [
        (99, {"p_value": 0.01}, HERE, "Gene expression distinguishes tumour from normal in this"),
        (19, {"p_value": 0.05}, HERE, "distinguishes tumour from normal in this study."),
        (99, {"p_value": 0.01, "high": 0.499}, HERE, "in this study."),
        (99, {"p_value": 0.01, "high": 0.5}, WEAK, "p\u00a0=\u00a00.01, but the interval of the"),
        (99, {"p_value": 0.01, "low": np.nan, "high": np.nan}, WEAK, "the error has no interval"),
        (99, {"p_value": 0.051}, NONE, "no evidence that a linear signature of gene"),
        (1, {"p_value": 0.5, "high": 0.5}, NONE, "1 permutation are too few to rule out chance."),
        (18, {"p_value": 1 / 19, "high": 0.4}, WEAK, "excludes guessing, but 18 permutations are"),
        (0, {"high": 0.4}, WEAK, "no labels were permuted to rule out chance"),
        (
            99,
            {"p_value": np.nan, "high": 0.4},
            WEAK,
            "p could not be computed from 99 permutations",
        ),
        (0, {"high": 0.55}, NONE, ", and no labels were permuted to rule out chance."),
    ],
)
def test_the_sentence_has_the_grade(permutations, change, wanted, words):
    data = with_own(arguments(Study(permutations=permutations, named=0)), **change)
    assert grade(data) is wanted
    assert words in headline(data)


def test_genes_that_are_named_are_weak_evidence_where_models_do_not_predict():
    data = with_own(arguments(Study(permutations=99, named=3)), p_value=0.4, high=0.6)
    assert (grade(data), here(data)) == (WEAK, NONE)
    said = headline(data)
    assert "weak evidence that a linear signature of gene expression distinguishes" in said
    assert "3 genes go with it beyond chance" in headline(data)


def cohorts(given, *better, seen_before=0):
    """Return data sets of other studies, with an AUC or R² above chance or of no size."""
    found = []
    for number, good in enumerate(better):
        about = make_about(given["dataset"], f"c{number}", seen_before=seen_before)
        for row in about["scores"]:
            if row["measure"] in ("auc", "r2"):
                row |= {"value": 0.9, "low": 0.8 if good else -0.1}
        found.append(about)
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize(
    ("p", "better", "wanted", "words"),
    [
        (0.4, (True, False), ELSEWHERE, " in 1 of 2 other data sets; this study alone does not"),
        (0.4, (True,), ELSEWHERE, " in the other data set; this study alone does not show it."),
        (0.4, (True, False, False), NONE, "no evidence"),
        (0.4, (False,), NONE, "no evidence"),
        (0.01, (False,), HERE, "; whether it does elsewhere, the other data set leaves open."),
        (0.01, (False, False), HERE, "; whether it does elsewhere, other data sets leave open."),
        (0.01, (False, True), ELSEWHERE, ", in this study and in 1 of 2 other data sets."),
        (0.01, (False, True, False), HERE, "; it is better than chance in 1 of 3 other data sets."),
    ],
)
def test_other_studies_belong_to_the_verdict(regression, p, better, wanted, words):
    given = arguments(Study(permutations=99, regression=regression, named=0))
    data = with_own(given, cohorts(given, *better), p_value=p, high=0.4)
    it = data["answer"]["cohorts"]
    assert (it["tested"], it["better"], it["worse"]) == (len(better), sum(better), 0)
    assert [row["name"] for row in it["rows"]] == [f"c{k}" for k in range(len(better))]
    assert grade(data) is wanted
    assert words in headline(data)


def test_a_cohort_whose_interval_excludes_the_error_contradicts_it():
    given = arguments(Study(permutations=99))
    abouts = cohorts(given, False)
    for row in abouts[0]["scores"]:
        if row["measure"] == "balanced_error":
            row |= {"value": 0.6, "low": 0.45, "high": 0.7}
    data = with_own(given, abouts, p_value=0.01, error=0.2, high=0.3)
    assert grade(data) is AGAINST
    assert headline(data).endswith("in this study, but not in the other data set.")
    assert grade(with_own(given, abouts, p_value=0.01, error=0.46, high=0.49)) is HERE


@pytest.mark.parametrize("permutations", [0, 9])
def test_other_studies_settle_what_too_few_permutations_leave_open(permutations):
    given = arguments(Study(permutations=permutations))
    assert grade(collect(**given, external=cohorts(given, True))) is ELSEWHERE


def test_training_samples_under_another_name_are_no_evidence():
    given = arguments(Study(permutations=99, named=0))
    data = with_own(given, cohorts(given, True, seen_before=25), p_value=0.4)
    it = data["answer"]["cohorts"]
    assert (it["tested"], it["better"], len(it["rows"])) == (0, 0, 1)
    assert grade(data) is NONE


@pytest.mark.parametrize(
    ("p", "alone", "p_whole", "whole", "wanted", "by"),
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
    p, alone, p_whole, whole, wanted, by
):
    first = collected(Study(permutations=99, named=0))["answer"]
    first["p"]["value"] = p
    held = {"alone": {"low": alone}, "whole": {"low": whole}, "p_whole": p_whole}
    found = judge(first, held, None)
    assert (found["grade"], found["by"]) == (wanted.value, by)


@pytest.mark.parametrize(
    ("p", "excludes", "wanted"),
    [(0.02, True, HERE), (0.03, True, NONE), (0.01, False, NONE), (None, True, NONE)],
)
def test_gene_sets_carry_the_headline_where_genes_do_not_predict(p, excludes, wanted):
    first = collected(Study(permutations=99, named=0))["answer"]
    first["p"]["value"] = 0.4
    found = judge(first, None, Analysis(p, excludes))
    assert (found["grade"], found["by"]) == (wanted.value, "sets" if wanted is HERE else "genes")


def test_an_error_that_is_not_defined_claims_nothing():
    nothing = dict.fromkeys(("error", "low", "high", "p_value"), np.nan)
    data = with_own(arguments(Study(permutations=99)), **nothing)
    wanted = "Whether gene expression distinguishes tumour from normal could not be measured."
    assert headline(data) == wanted


@pytest.mark.parametrize("error", [0.32, 1.2])
def test_the_sentence_gives_the_r2_of_the_tile(error):
    given = arguments(Study(regression=True, permutations=99))
    data = with_own(given, error=error, low=0.1, high=1.4)
    assert (
        f"reached R² {decimal(1 - error)} (95\u00a0% CI −0.40 to 0.90); guess" in sentences(data)[0]
    )
    assert tiles(data)[0].value == decimal(1 - error)


@pytest.mark.slow
def test_the_signature_is_the_final_model_and_has_no_other_error():
    given = arguments(Study(named=None))
    data = collect(**given)
    final, it = given["final"], data["answer"]
    genes = {given["dataset"].genes[gene] for gene in final.coef(0, final.choice[0, 2])[0]}
    table = given["tables"]["signature"]
    assert set(table["gene"]) == genes
    assert (it["size"], it["core"]) == (len(genes), table["core"].sum())
    sizes = given["observed"].with_chosen().sizes()[:, -1]
    assert it["lengths"] == [sizes.min(), *it["lengths"][1:2], sizes.max()]
    assert it["lengths"][1] in sizes
    finding, signature, _ = sentences(data)
    assert "held-out samples were misclassified" in finding
    assert signature == (
        "The signature is the list of the final model, fitted on all samples:"
        f" {it['size']} genes, {it['core']} of them core (selected in at least 75\u00a0% of the 10"
        f" cross-validation models, which use {it['lengths'][0]} to {it['lengths'][2]} genes)."
    )
    assert tiles(data)[-1].value == str(len(genes))
    assert tiles(data)[-1].words.startswith(f"{it['core']} core: ")


def one_gene(core):
    """Cut the final model to its first gene, which is core or not."""
    given = arguments(Study(named=None))
    table = given["tables"]["signature"].iloc[:1]
    given["tables"]["signature"] = table.assign(core=core, cv_frequency=0.9 if core else 0.1)
    return given


@pytest.mark.parametrize(("core", "words"), [(True, "1 gene, core"), (False, "1 gene, not core")])
def test_a_signature_of_one_gene(core, words):
    data = collect(**one_gene(core))
    assert words in sentences(data)[1]
    warned = [one for one in data["warnings"] if one.startswith("Only 0 of the 1 gene of the sign")]
    assert len(warned) == (not core)


def with_core(core, size):
    given = arguments(Study(genes=400, named=None))
    table, rest = given["tables"]["signature"], given["dataset"].genes
    longer = table.iloc[[0] * size].assign(gene=rest[:size], rank=range(1, size + 1))
    longer["core"] = np.arange(size) < core
    given["tables"]["signature"] = longer.reset_index(drop=True)
    return given


@pytest.mark.parametrize(
    ("core", "size", "said"),
    [(0, 12, "Only 0 of the 12 genes of the signature are core (selected in at least 75\u00a0%"),
     (1, 12, "Only 1 of the 12 genes of the signature is core (selected in at least 75\u00a0%"),
     (2, 12, "Only 2 of the 12 genes of the signature are core"), (2, 10, None), (3, 12, None)],
)  # fmt: skip
def test_lists_that_hardly_agree_are_warned_of(core, size, said):
    found = [one for one in collect(**with_core(core, size))["warnings"] if "core (" in one]
    assert [one.startswith(str(said)) for one in found] == ([True] if said else [])
    assert all(one.endswith("other patients would probably give other genes.") for one in found)


@pytest.mark.parametrize(("rule", "most", "warned"), [("stable", 201, True), ("stable", 202, False),
                                                      ("minimal", 201, False)])  # fmt: skip
def test_a_list_longer_than_asked_for_is_warned_of(rule, most, warned):
    given = with_core(202, 202)
    given["config"]["linear"]["list"] = rule
    given["config"]["signature"]["most"] = most
    found = [one for one in collect(**given)["warnings"] if one.startswith(f"No list of {most} ")]
    assert ["202" in one for one in found] == [True] * warned


def against_ridge(study, difference, low, high):
    """Let ridge be the best other method, with this difference of the errors."""
    given = arguments(study)
    controls = given["tables"]["controls"]
    own = (controls["model"] == "genesig") & controls["mu"].isna()
    controls.loc[own, "error"] = 0.04 - difference
    ridge = controls["model"] == "ridge"
    controls.loc[ridge, ["difference", "difference_low", "difference_high"]] = (
        difference, low, high,
    )  # fmt: skip
    return collect(**given)


@pytest.mark.parametrize("regression", [False, True])
def test_another_method_is_named_with_both_numbers(regression):
    words = "higher R² (0.96 vs 0.94)" if regression else "lower error (4.0\u00a0% vs 5.5\u00a0%)"
    data = against_ridge(Study(regression=regression), -0.015, -0.03, -1e-4)
    of = data["answer"]["control"]["of"]
    said = (
        f"Another method (ridge, all genes, the best of {of} other methods by its held-out error)"
        f" had a {words} on the same samples; the interval of the paired difference excludes 0."
    )
    assert said in data["warnings"]
    assert data["answer"]["control"]["difference"] == -0.015


@pytest.mark.parametrize(
    ("difference", "low", "high"),
    [(-0.3, -0.6, 0.0), (-0.3, -0.6, 0.01), (0.02, 0.01, 0.03), (-0.3, np.nan, np.nan)],
)
def test_another_method_is_better_only_where_chance_is_ruled_out(difference, low, high):
    data = against_ridge(Study(), difference, low, high)
    assert data["answer"]["control"]["model"] == "ridge"
    assert not any("Another method" in warning for warning in data["warnings"])


def test_gaps_of_lists_that_were_not_kept_are_not_counted():
    given = arguments(Study(longest=60))
    gap = given["observed"].gap.copy()
    gap[0, 0] = 1e-3
    data = collect(**{**given, "observed": replace(given["observed"], gap=gap)})
    kept = int((~np.isnan(gap)).sum())
    assert kept < gap.size
    assert (
        f"1 fit of {kept} did not reach the requested accuracy (largest relative duality gap"
        " 1.0e-03)."
    ) in data["warnings"]


def test_one_split_is_one_model():
    data = collected(Study(folds=1, repeats=1, named=None))
    assert "of the 1 cross-validation model, which use" in sentences(data)[1]
