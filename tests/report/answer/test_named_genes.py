"""FDR-selected genes and the predictive model: what is claimed of genes, and what it costs."""

from __future__ import annotations

import re
from copy import deepcopy

import numpy as np
import pytest
from report_records import FDR, PERMUTATIONS, PROVED, Q, Study, arguments, collected

from genesig.data.steps.missing_indicators import INDICATOR_SUFFIX
from genesig.report.answer.collect import evidence
from genesig.report.answer.section import chips_title, gene_chips, lines_of, tiles
from genesig.report.answer.sentences import PRICE, sentences
from genesig.report.collect import collect
from genesig.report.genes.methods import standing
from genesig.report.genes.section import signature
from genesig.report.methods import methods, references
from genesig.report.page.section import Limits
from genesig.report.page.style import OWN
from genesig.report.page.words import at_most
from genesig.report.render import render
from genesig.report.sections import SECTIONS
from genesig.report.writeup import results
from genesig.selection.assess.controls import FDR_SELECTED

SMALL = Limits(3, 5)


@pytest.mark.parametrize(
    ("expected", "said"),
    [(0.0, "at most one is"), (1.0, "at most one is"), (1.2, "at most two are"),
     (2.0, "at most two are"), (4.4, "at most five are"), (10.5, "at most 11 are")],
)  # fmt: skip
def test_how_many_are_expected_by_chance_is_said_in_words(expected, said):
    assert at_most(expected) == said


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("named", [1, 3, 20])
def test_the_expected_number_is_the_largest_q_times_the_named_genes(named):
    data = collected(Study(named=named))
    it, said = data["answer"]["evidence"], sentences(data)[1]
    largest = max(row["selection_q"] for row in rows(data, "selection") if row["fdr_selected"])
    assert it["fdr_selected"] == it["passing"] == named
    assert it["expected"] == pytest.approx(named * largest)
    assert largest == pytest.approx(Q if named > 1 else 0.02)
    assert said.startswith(f"{named} gene{'s' * (named > 1)} can be named: ")
    if named > 1:
        assert f"so {at_most(it['expected'])} expected to be there by chance." in said
    found = {tile.name: tile for tile in tiles(data)}
    assert found["FDR-selected genes"].value == str(named)
    chips = gene_chips(data)
    assert [chip.kind for chip in chips] == ["fdr_selected"] * min(named, 12) + [""] * (12 - named)
    assert all("not named" in chip.words for chip in chips[named:])
    assert "core" not in " ".join([*sentences(data), *results(data), *data["warnings"]])


@pytest.mark.usefixtures("undrawn")
def test_a_q_just_above_the_bound_is_not_written_as_the_bound():
    data = collected(Study(permutations=19))
    one = data["answer"]["chips"][0]
    one.update(selection_q=0.105, fdr_selected=False)
    assert "q\u00a00.105 · not named" in gene_chips(data)[0].words
    row = {
        "selection_frequency": 0.6,
        "null_frequency": 0.1,
        "selection_q": 0.105,
        "fdr_selected": False,
    }
    assert standing(row).endswith("q\u00a00.105")


def test_indicators_of_missing_values_are_counted_apart_from_genes():
    data = deepcopy(collected(Study(named=5)))
    for name in ("signature", "selection"):
        packed = data["tables"][name]
        at = packed["columns"].index("gene")
        first = [row for row in packed["rows"] if row[packed["columns"].index("fdr_selected")]][:2]
        for row in first:
            row[at] += INDICATOR_SUFFIX
    data["study"]["indicators"] = 40
    found = evidence(data["study"], data["tables"], 0.1)
    assert found["fdr_selected"] == 5
    assert found["indicators"][0] == 2
    data["answer"]["evidence"] = found
    named = next(tile for tile in tiles(data) if tile.name == "FDR-selected genes")
    assert named.value == "3"
    assert named.words.startswith("and 2 missing-value indicators; ")
    assert sentences(data)[1].startswith("3 genes and 2 missing-value indicators can be named: ")
    assert "3 genes and 2 missing-value indicators were listed" in " ".join(results(data))
    data["study"]["indicators"] = 0  # then a gene is called so
    assert evidence(data["study"], data["tables"], 0.1)["indicators"] == [0, 0]


def rows(data, name):
    table = data["tables"][name]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def with_q(given, passing):
    """Let so many genes have a small q without being FDR-selected."""
    table = given["tables"]["selection"]
    q = np.where(np.arange(len(table)) < passing, FDR, 1)
    given["tables"]["selection"] = table.assign(selection_q=q)
    return given


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("passing", "permutations", "why"),
    [(0, PERMUTATIONS, "none often enough"), (1, PERMUTATIONS, "1 gene reaches"),
     (4, PERMUTATIONS, "4 genes reach"), (4, 18, "18 permutations of the labels cannot tell")],
)  # fmt: skip
def test_where_no_gene_is_named_nothing_says_so(passing, permutations, why, tmp_path):
    given = with_q(arguments(Study(named=0)), passing)
    given["config"]["signature"]["permutations"] = permutations
    data = collect(**given)
    it, said = data["answer"]["evidence"], sentences(data)[1]
    assert (it["fdr_selected"], it["passing"], it["price"]) == (0, passing, None)
    assert said.startswith("No gene can be named: ")
    assert why in said
    assert next(tile.value for tile in tiles(data) if tile.name == "FDR-selected genes") == "0"
    assert {chip.kind for chip in gene_chips(data)} == {""}
    assert "none has evidence of its own" in chips_title(data)
    render(data, tmp_path / "r.html", tmp_path / "f", title="", top_genes=2, table_rows=5)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert not re.search(r'<li class="(fdr_selected|core)">', page)
    # The write-up names no gene either.
    names = [row["symbol"] for row in rows(data, "signature")]
    assert not any(name in results(data)[0] for name in names)


@pytest.mark.usefixtures("undrawn")
def test_named_genes_are_framed_on_the_page(tmp_path):
    data = collected(Study(named=3))
    render(data, tmp_path / "r.html", tmp_path / "f", title="", top_genes=2, table_rows=5)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert len(re.findall(r'<li class="fdr_selected">', page)) == 3
    assert 'class="core"' not in page


@pytest.mark.usefixtures("undrawn")
def test_the_error_is_green_only_where_chance_is_ruled_out():
    assert lines_of(collected(Study(permutations=99)))[0].colour == OWN
    assert lines_of(collected(Study(permutations=9)))[0].colour != OWN


def priced(difference, low, high, **study):
    given = arguments(Study(**study))
    table = given["tables"]["controls"]
    own = table["model"] == FDR_SELECTED
    table.loc[own, ["difference", "difference_low", "difference_high"]] = difference, low, high
    return collect(**given)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("difference", "low", "high", "said"),
    [(0.03, 0.01, 0.05, f"{PRICE} 3.0 percentage points (95\u00a0% CI 1.0 to 5.0)."),
     (0.03, -0.01, 0.05, "cannot be told from 0."), (-0.03, -0.05, -0.01, "has no price here"),
     (0.03, np.nan, np.nan, f"{PRICE} 3.0 percentage points.")],
)  # fmt: skip
def test_the_price_of_proof_is_the_paired_difference(difference, low, high, said):
    data = priced(difference, low, high)
    assert data["answer"]["evidence"]["price"]["error"] == PROVED
    assert said in sentences(data)[1]
    # It is no other method, however well it does.
    assert data["answer"]["control"]["model"] == "ridge"


@pytest.mark.usefixtures("undrawn")
def test_the_price_is_told_in_the_measure_of_the_page():
    said = sentences(priced(0.03, 0.01, 0.05, regression=True))[1]
    assert f"reached R² {1 - PROVED:.2f}" in said
    assert said.endswith(f"{PRICE} 0.03 (95\u00a0% CI 0.01 to 0.05).")


@pytest.mark.usefixtures("undrawn")
def test_the_same_model_has_no_price():
    data = priced(0.0, 0.0, 0.0)
    assert data["answer"]["evidence"]["price"] is None
    assert "proof" not in sentences(data)[1]


@pytest.mark.usefixtures("undrawn")
def test_a_named_gene_that_the_model_does_without_is_told():
    data = collected(Study(named=3, beside=1))
    it, (first, *_) = data["answer"], rows(data, "signature")
    assert (first["fdr_selected"], first["weight"]) == (True, 0)
    assert it["size"] == it["evidence"]["model"] + 1
    assert "2 of them named" in sentences(data)[1]
    card = SECTIONS["cards"](data, SMALL).items[0]
    assert "not in the final model" in dict(card.pairs)["Weight"]
    assert dict(card.pairs)["Evidence"].startswith("named: ")


@pytest.mark.usefixtures("undrawn")
def test_the_tables_of_genes_explain_their_columns():
    data = collected(Study())
    section = signature(data, SMALL)
    tables = {item.name: item for item in section.items}
    assert tables["selection"].file == "selection.tsv"
    assert tables["selection"].total == len(rows(data, "selection"))
    for table in tables.values():
        known = {column.key: column for column in table.columns}
        assert all(
            known[key].help
            for key in ("fdr_selected", "selection_frequency", "null_frequency", "selection_q")
        )
    names = [column.label for column in tables["signature"].columns]
    assert len(names) == len(set(names))


@pytest.mark.usefixtures("undrawn")
def test_methods_tell_of_evidence_and_cite_it():
    data = collected(Study())
    text, cited = " ".join(methods(data)), " ".join(references(data))
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
    ("known", "warned"), [([1, 2], "more"), ([900, 950], "fewer"), ([1, 950], "")]
)
def test_a_final_list_unlike_all_that_were_tested_is_warned_of(known, warned):
    given = arguments(Study())
    chosen = given["tables"]["scores"]["mu"].isna()
    lengths = np.resize(known, int(chosen.sum()))
    given["tables"]["scores"].loc[chosen, "n_genes"] = lengths
    data = collect(**given)
    found = [one for one in data["warnings"] if "than all of the models" in one]
    assert len(found) == bool(warned)
    assert not warned or f" {warned} than all" in found[0]


@pytest.mark.usefixtures("undrawn")
def test_without_permutations_genes_are_core_as_before():
    data = collected(Study(named=None))
    assert data["answer"]["evidence"] is None
    assert data["answer"]["core"] == sum(row["core"] for row in rows(data, "signature")) > 0
    assert [chip.kind for chip in gene_chips(data)].count("fdr_selected") == 0
    assert "of them core" in sentences(data)[1]
    assert "had been selected in at least" in results(data)[0]
    section = signature(data, SMALL)
    assert [item.name for item in section.items] == ["signature"]
    assert "core" in [column.key for column in section.items[0].columns]


def test_records_may_be_read_back():
    """Names are plain booleans, as JSON has them."""
    chips = collected(Study())["answer"]["chips"]
    assert {type(one["fdr_selected"]) for one in chips} == {bool}
    assert {one["core"] for one in chips} == {None}
