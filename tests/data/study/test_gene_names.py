"""Gene names that a spreadsheet changed are warned of, and other names are not."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.data.files.delimited import Matrix
from genesig.data.files.gene_ids import converted_names, other_spelling_hint
from genesig.data.study.matrix_check import check_gene_names

DATES = [
    "1-Mar",
    "01-Mar",
    "Mar-1",
    "Mar-01",
    "1-Sep-21",
    "2. Mrz",
    "01. M\u00e4r",
    "1-mars",
    "01-d\u00e9c",
    "2021-03-01",
    "2021-03-01 00:00:00",
    "2021/3/1",
    "01.03.2021",
    "1.3.21",
    "3/1/2021",
    "3/1/21",
    "March 1",
    "1 march",
    "DEC-1",
]
NUMBERS_IN_PLACE_OF_GENES = ["2.31E+13", "2,31E+13", "1E+05", "44256"]
GENE_NAMES = [
    "MARCH1",
    "SEPT2",
    "DEC1",
    "MARCHF1",
    "2310009E13Rik",
    "2310009E13",
    "1007_s_at",
    "12-LOX",
    "HLA-A",
    "NKX2-1",
    "NM_000546.5",
    "ENSG00000141510.11",
    "A/B",
    "1.2.840",
    "10-11-12-13",
    "C1orf10",
    "FBgn0000014",
    "U48705_rna1_s_at",
    "1e5",
    "Apr1",
    "MAR",
    "5-HT2A",
    "RP11-206L10.2",
    "3.8-1",
]


@pytest.mark.parametrize("name", DATES + NUMBERS_IN_PLACE_OF_GENES)
def test_gene_names_changed_by_a_spreadsheet_are_warned_of(name: str) -> None:
    assert converted_names([*GENE_NAMES, name]) == [name]


def test_names_of_genes_are_left_alone() -> None:
    assert converted_names(GENE_NAMES) == []


def test_numbers_of_genes_are_no_days() -> None:
    assert converted_names([str(k) for k in (1017, 7157, 44256, 51284, 672)]) == []
    assert (
        converted_names([*(f"gene{k}" for k in range(90)), *(str(k) for k in range(40000, 40010))])
        == []
    )


OTHER_FORMS = {
    "lower case": (["TP53", "ACTB"], ["tp53", "actb"], "write the symbols in upper case"),
    "of the mouse": (["TP53", "ACTB"], ["Tp53", "Actb"], "write the symbols in upper case"),
    "numbers as floats": (["7157", "60"], ["7157.0", "60.0"], "write the ids alike"),
}


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_ids_in_another_form_are_counted_with_the_remedy(name: str) -> None:
    needed, present, remedy = OTHER_FORMS[name]
    assert other_spelling_hint(needed, present).startswith(
        f"; 2 of them are here in another form, as '{present[0]}' for '{needed[0]}': {remedy}"
    )
    assert not other_spelling_hint(needed, needed)
    assert not other_spelling_hint(needed, ["MYC"])


def test_all_names_that_differ_in_letter_width_alone_are_counted() -> None:
    names = ("TP53", "Tp53", "tp53", "ACTB")
    matrix = Matrix(("s1",), names, np.zeros((1, 4)), {}, (2,))
    (problem,) = check_gene_names(matrix, "e.tsv")
    assert "gene 'Tp53' differs from 'TP53'" in problem.message
    assert "1 further name" in problem.message
