"""The report states the FDR-selected genes, their evidence and the accuracy that they cost."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from report_records import FDR, PERMUTATIONS, PROVED, Q, Study, arguments, collected

from genesig.data.steps.missing_indicators import INDICATOR_SUFFIX
from genesig.report.answer.collect import evidence
from genesig.report.answer.section import first_screen_tiles, gene_frequencies
from genesig.report.answer.sentences import write_paragraphs
from genesig.report.collect import StudyResults, collect
from genesig.report.genes.section import selection_text, signature_section
from genesig.report.methods import methods, references
from genesig.report.page.section import Limits
from genesig.report.page.tables import fdr_selected_only_words
from genesig.report.page.words import expected_number
from genesig.report.render import render
from genesig.report.sections import SECTIONS
from genesig.report.writeup import results
from genesig.selection.assess.controls import FDR_SELECTED

SMALL = Limits(3, 5)


def genes_words(data):
    """Return the paragraph of genes of the first screen."""
    return next(
        paragraph.text for paragraph in write_paragraphs(data) if paragraph.lead == "Genes."
    )


def signature_tile(data):
    return next(tile for tile in first_screen_tiles(data) if tile.name == "Signature")


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (0.0, "On average, fewer than 1 of the 36 is false"),
        (0.9, "On average, fewer than 1 of the 36 is false"),
        (1.0, "Expect about 1 false positive among the 36"),
        (1.2, "Expect about 2 false positives among the 36"),
        (2.0, "Expect about 2 false positives among the 36"),
        (10.5, "Expect about 11 false positives among the 36"),
    ],
)
def test_expected_false_positives_are_rounded_up(expected, text):
    assert expected_number(expected, 36) == text


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("n_selected", [1, 3, 20])
def test_the_expected_number_is_the_largest_q_times_the_fdr_selected_genes(n_selected):
    data = collected(Study(named=n_selected))
    evidence = data["answer"]["evidence"]
    text = genes_words(data)
    largest = max(row["selection_q"] for row in rows(data, "selection") if row["fdr_selected"])
    assert evidence["fdr_selected"] == evidence["passing"] == n_selected
    assert evidence["expected_false"] == pytest.approx(n_selected * largest)
    assert largest == pytest.approx(Q if n_selected > 1 else 0.02)
    assert (
        f"{n_selected} of them pass{'es' * (n_selected == 1)} a false discovery rate (FDR) of 10%"
        in text
    )
    assert expected_number(evidence["expected_false"], n_selected) in text
    assert signature_tile(data).words == f"{n_selected} at FDR ≤ 10%"
    assert len(gene_frequencies(data).data["gene"]) == min(n_selected, 14)
    assert "core" not in " ".join([text, *results(data), *data["warnings"]])


@pytest.mark.usefixtures("undrawn")
def test_a_q_just_above_the_bound_is_not_written_as_the_bound():
    row = {
        "selection_frequency": 0.6,
        "null_frequency": 0.1,
        "selection_q": 0.105,
        "fdr_selected": False,
    }
    assert selection_text(row).endswith("; not FDR-selected")


def test_indicators_of_missing_values_are_counted_apart_from_genes():
    data = deepcopy(collected(Study(named=5)))
    for name in ("signature", "selection"):
        packed = data["tables"][name]
        at = packed["columns"].index("gene")
        selected_rows = [
            row for row in packed["rows"] if row[packed["columns"].index("fdr_selected")]
        ][:2]
        for row in selected_rows:
            row[at] += INDICATOR_SUFFIX
    data["study"]["indicators"] = 40
    evidence_record = evidence(data["study"], data["tables"], 0.1)
    assert evidence_record["fdr_selected"] == 5
    assert evidence_record["fdr_selected_indicators"] == 2
    data["answer"]["evidence"] = evidence_record
    assert "3 genes and 2 missing-value indicators pass a false discovery" in genes_words(data)
    assert "identified 3 genes and 2 missing-value indicators" in " ".join(results(data))
    data["study"]["indicators"] = 0  # then a gene is called so
    without_indicators = evidence(data["study"], data["tables"], 0.1)
    assert without_indicators["fdr_selected_indicators"] == 0
    assert without_indicators["model_indicators"] == 0


def rows(data, name):
    table = data["tables"][name]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def with_q(inputs, passing):
    """Set a small q for some genes that are not FDR-selected."""
    table = inputs["tables"]["selection"]
    q = np.where(np.arange(len(table)) < passing, FDR, 1)
    inputs["tables"]["selection"] = table.assign(selection_q=q)
    return inputs


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("passing", "permutations", "why"),
    [
        (0, PERMUTATIONS, "No gene passes an FDR of 10%"),
        (1, PERMUTATIONS, "1 gene has q"),
        (4, PERMUTATIONS, "4 genes have q"),
        (4, 18, "needs at least 19 permutations"),
    ],
)
def test_without_fdr_selected_genes_the_reason_is_given(passing, permutations, why, tmp_path):
    inputs = with_q(arguments(Study(named=0)), passing)
    inputs["config"]["signature"]["permutations"] = permutations
    data = collect(StudyResults(**inputs))
    evidence = data["answer"]["evidence"]
    assert (evidence["fdr_selected"], evidence["passing"]) == (0, passing)
    assert evidence["fdr_selected_only"] is None
    assert why in genes_words(data)
    assert gene_frequencies(data) is None
    render(data, tmp_path / "r.html", tmp_path / "f", title="", gene_cards=2, table_rows=5)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "figure-gene_frequencies" not in page
    # The write-up names no gene either.
    names = [row["symbol"] for row in rows(data, "signature")]
    assert not any(name in results(data)[0] for name in names)


def priced(difference, low, high, **study):
    inputs = arguments(Study(**study))
    table = inputs["tables"]["controls"]
    is_genesig = table["model"] == FDR_SELECTED
    table.loc[is_genesig, ["difference", "difference_low", "difference_high"]] = (
        difference,
        low,
        high,
    )
    return collect(StudyResults(**inputs))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("difference", "low", "high", "direction", "first_words"),
    [
        (0.03, 0.01, 0.05, "3.0 points lower", True),
        (0.03, -0.01, 0.05, "no detectable", False),
        (-0.03, -0.05, -0.01, "3.0 points higher", True),
        (0.03, np.nan, np.nan, "3.0 points lower", False),
    ],
)
def test_accuracy_of_fdr_selected_genes_is_told_as_a_paired_difference(
    difference, low, high, direction, first_words
):
    """The first screen has it only if its interval excludes 0."""
    data = priced(difference, low, high)
    price = data["answer"]["evidence"]["fdr_selected_only"]
    assert price["error"] == PROVED
    assert direction in fdr_selected_only_words(data, price)
    assert ("With FDR-selected genes only" in genes_words(data)) == first_words
    # It is no other method, however well it does.
    assert data["answer"]["best_other_method"]["model"] == "ridge"


@pytest.mark.usefixtures("undrawn")
def test_the_difference_is_told_in_the_measure_of_the_page():
    text = genes_words(priced(0.03, 0.01, 0.05, regression=True))
    assert f"R² was {1 - PROVED:.2f} (0.03 lower" in text
    assert "95% CI of the difference −0.05 to −0.01" in text


@pytest.mark.usefixtures("undrawn")
def test_the_same_model_has_no_difference():
    data = priced(0.0, 0.0, 0.0)
    assert data["answer"]["evidence"]["fdr_selected_only"] is None
    assert "With FDR-selected genes only" not in genes_words(data)


@pytest.mark.usefixtures("undrawn")
def test_a_named_gene_that_the_model_does_without_is_told():
    data = collected(Study(named=3, beside=1))
    answer = data["answer"]
    (first_gene, *_) = rows(data, "signature")
    assert (first_gene["fdr_selected"], first_gene["weight"]) == (True, 0)
    assert answer["size"] == answer["evidence"]["model_size"] + 1
    assert "3 genes pass a false discovery rate (FDR) of 10% (2 of them in" in genes_words(data)
    card = SECTIONS["cards"](data, SMALL).items[0]
    assert "not in the final model" in dict(card.pairs)["Weight"]
    assert dict(card.pairs)["Selection frequency"].endswith("; FDR-selected")


@pytest.mark.usefixtures("undrawn")
def test_the_tables_of_genes_explain_their_columns():
    data = collected(Study())
    section = signature_section(data, SMALL)
    tables = {item.name: item for item in section.items}
    assert tables["selection"].file == "selection.tsv"
    assert tables["selection"].total == len(rows(data, "selection"))
    # The table of all genes that follows repeats the columns without their explanations.
    column_of_key = {column.key: column for column in tables["signature"].columns}
    assert all(
        column_of_key[key].help
        for key in ("fdr_selected", "selection_frequency", "null_frequency", "selection_q")
    )
    names = [column.label for column in tables["signature"].columns]
    assert len(names) == len(set(names))


@pytest.mark.usefixtures("undrawn")
def test_methods_tell_of_evidence_and_cite_it():
    data = collected(Study())
    text = " ".join(methods(data))
    cited = " ".join(references(data))
    assert f"{PERMUTATIONS} permutations" in text
    for name in ("Meinshausen", "Shah", "Storey", "Tusher"):
        assert name in text
        assert name in cited
    data["config"]["linear"]["model"] = "two_stage"
    assert "averaged with two other" not in " ".join(methods(data))
    data["config"]["linear"]["model"] = "ensemble"
    assert "averaged with two other" in " ".join(methods(data))
    bare = collected(Study(named=None))
    assert "E(t)" not in " ".join(methods(bare))
    assert "Storey" not in " ".join(references(bare))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("agreement", "warned"), [([1, 2], "longer"), ([900, 950], "shorter"), ([1, 950], "")]
)
def test_a_final_list_unlike_all_that_were_tested_is_warned_of(agreement, warned):
    inputs = arguments(Study())
    chosen = inputs["tables"]["scores"]["mu"].isna()
    lengths = np.resize(agreement, int(chosen.sum()))
    inputs["tables"]["scores"].loc[chosen, "n_genes"] = lengths
    data = collect(StudyResults(**inputs))
    matching_warnings = [
        warning for warning in data["warnings"] if "than any cross-validated model" in warning
    ]
    assert len(matching_warnings) == bool(warned)
    assert not warned or f" {warned} than any" in matching_warnings[0]


@pytest.mark.usefixtures("undrawn")
def test_without_permutations_genes_are_core_as_before():
    data = collected(Study(named=None))
    assert data["answer"]["evidence"] is None
    assert data["answer"]["core"] == sum(row["core"] for row in rows(data, "signature")) > 0
    assert "core: selected in at least" in genes_words(data)
    assert "had been selected in at least" in results(data)[0]
    section = signature_section(data, SMALL)
    assert [item.name for item in section.items] == ["signature"]
    assert "core" in [column.key for column in section.items[0].columns]


def test_records_may_be_read_back():
    """Names are plain booleans, as JSON has them."""
    chips = collected(Study())["answer"]["signature_genes"]
    assert {type(chip["fdr_selected"]) for chip in chips} == {bool}
    assert {chip["core"] for chip in chips} == {None}
