"""The first screen: what it claims of chance and of size, and what it calls the signature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_external import make_about
from report_study import Study, arguments

from genesig.report.answer.section import tiles
from genesig.report.answer.sentences import sentences
from genesig.report.collect import collect
from genesig.report.page.verdict import Verdict, verdict
from genesig.report.page.words import decimal

pytestmark = pytest.mark.usefixtures("undrawn")

CONVINCING, ELSEWHERE, NO_BETTER, OPEN = (
    Verdict.CONVINCING, Verdict.ELSEWHERE, Verdict.NO_BETTER, Verdict.OPEN,
)  # fmt: skip


def with_own(given, external=(), **change):
    """Collect a study whose chosen lists have these numbers in controls.tsv."""
    controls = given["tables"]["controls"]
    own = (controls["model"] == "genesig") & controls["mu"].isna()
    given["tables"]["controls"] = controls.assign(
        **{key: controls[key].where(~own, value) for key, value in change.items()}
    )
    return collect(**given, external=external)


@pytest.mark.parametrize(
    ("permutations", "change", "wanted", "words"),
    [
        (99, {}, CONVINCING, "Gene expression distinguishes tumour from normal. "),
        (19, {"p_value": 0.05}, CONVINCING, "distinguishes tumour from normal. "),
        (99, {"high": 0.5}, CONVINCING, "from normal; how well is uncertain. "),
        (99, {"high": 0.499}, CONVINCING, "distinguishes tumour from normal. "),
        (99, {"low": np.nan, "high": np.nan}, CONVINCING, "from normal. "),
        (99, {"error": 0.5, "low": np.nan, "high": np.nan}, CONVINCING, "how well is uncertain"),
        (99, {"p_value": 0.051}, NO_BETTER, "did not distinguish tumour from normal better than"),
        (99, {"p_value": 0.4, "high": 0.3}, NO_BETTER, "better than chance. In cross-validation,"),
        (1, {"p_value": 0.5}, OPEN, "1 permutation cannot rule out chance: too few"),
        (18, {"p_value": 1 / 19}, OPEN, "18 permutations cannot rule out chance: too few"),
        (0, {}, OPEN, "no labels were permuted, so chance was not ruled out"),
        (99, {"p_value": np.nan}, OPEN, "p could not be computed from 99 permutations"),
        (0, {"high": 0.55}, OPEN, "no labels were permuted, so chance was not ruled out"),
    ],
)
def test_p_decides_about_chance_and_the_interval_about_size(permutations, change, wanted, words):
    data = with_own(arguments(Study(permutations=permutations)), **change)
    assert verdict(data)[0] == wanted
    sentence = sentences(data)[0]
    assert words in sentence
    assert ("is not settled" in sentence) == (wanted == OPEN)
    assert ("did not" in sentence) == (wanted == NO_BETTER)


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


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize(
    ("p", "better", "wanted", "words"),
    [
        (0.4, (True, False), ELSEWHERE, " in 1 of 2 other data sets, though chance is not"),
        (0.4, (True,), ELSEWHERE, " in the other data set, though chance is not ruled out here."),
        (0.4, (True, False, False), NO_BETTER, "better than chance. In cross-validation"),
        (0.4, (False,), NO_BETTER, "better than chance. In cross-validation"),
        (0.01, (False,), CONVINCING, " here, but not beyond chance in the other data set."),
        (0.01, (False, False), CONVINCING, " here, but not beyond chance in any other data set."),
        (0.01, (False, True), CONVINCING, ""),
    ],
)
def test_other_studies_belong_to_the_verdict(regression, p, better, wanted, words):
    given = arguments(Study(permutations=99, regression=regression))
    data = with_own(given, cohorts(given, *better), p_value=p, high=0.4)
    it = data["answer"]["cohorts"]
    assert (it["tested"], it["better"], it["worse"]) == (len(better), sum(better), 0)
    assert [row["name"] for row in it["rows"]] == [f"c{k}" for k in range(len(better))]
    assert verdict(data)[0] == wanted
    sentence = sentences(data)[0]
    assert words in sentence
    assert ("beyond chance" in sentence) == ("beyond chance" in words)


@pytest.mark.parametrize("permutations", [0, 9])
def test_other_studies_settle_what_too_few_permutations_leave_open(permutations):
    given = arguments(Study(permutations=permutations))
    data = collect(**given, external=cohorts(given, True))
    assert verdict(data) == (ELSEWHERE, "")


def test_training_samples_under_another_name_are_no_evidence():
    given = arguments(Study(permutations=99))
    data = with_own(given, cohorts(given, True, seen_before=25), p_value=0.4)
    it = data["answer"]["cohorts"]
    assert (it["tested"], it["better"], len(it["rows"])) == (0, 0, 1)
    assert verdict(data)[0] == NO_BETTER


def test_an_error_that_is_not_defined_claims_nothing():
    nothing = dict.fromkeys(("error", "low", "high", "p_value"), np.nan)
    data = with_own(arguments(Study(permutations=99)), **nothing)
    wanted = "Whether gene expression distinguishes tumour from normal could not be measured."
    assert sentences(data)[0] == wanted


@pytest.mark.parametrize("error", [0.32, 1.2])
def test_the_sentence_gives_the_r2_of_the_tile(error):
    given = arguments(Study(regression=True, permutations=99))
    data = with_own(given, error=error, low=0.1, high=1.4)
    assert sentences(data)[0] == (
        "Gene expression predicts class; how well is uncertain. In cross-validation, models built"
        f" this way reached R² {decimal(1 - error)} on unseen samples (95\u00a0% CI −0.40 to 0.90)."
    )
    assert tiles(data)[2].value == decimal(1 - error)


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
    assert "models built this way misclassified" in finding
    assert signature == (
        "The signature is the list of the final model, fitted on all samples:"
        f" {it['size']} genes, {it['core']} of them core (selected in at least 75\u00a0% of the 10"
        f" cross-validation models, which use {it['lengths'][0]} to {it['lengths'][2]} genes)."
    )
    assert tiles(data)[0].value == str(len(genes))
    assert tiles(data)[0].words.startswith(f"{it['core']} core: ")


def one_gene(core):
    """Cut the final model to its first gene, which is core or not."""
    given = arguments(Study(named=None))
    table = given["tables"]["signature"].iloc[:1]
    given["tables"]["signature"] = table.assign(core=core, frequency=0.9 if core else 0.1)
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
    found = [one for one in collect(**given)["warnings"] if "signature.most" in one]
    assert (
        found
        == [
            "The signature has 202 genes, more than signature.most = 201: no shorter list was as"
            " accurate."
        ]
        * warned
    )


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
    data = collect(**arguments(Study(folds=1, repeats=1, named=None)))
    assert "of the 1 cross-validation model, which use" in sentences(data)[1]
