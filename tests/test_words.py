"""Comparison of words and names."""

import pytest

from genesig.words import equal_looking, is_misspelt, number_fault_kind, overlooked_differences

SLIPS = [
    ("case", "cases"),
    ("Tumour", "tumor"),
    ("metastasis", "metastases"),
    ("control", "contol"),
    ("relapse free", "relapse fre"),
]
CLASS_NAMES = [
    ("LumA", "LumB"),
    ("stage I", "stage II"),
    ("typical", "atypical"),
    ("ALL", "AML"),
    ("grade1", "grade2"),
    ("grade 1", "grade 12"),
    ("normal", "tumour"),
    ("BRCA1", "BRCA"),
    ("male", "female"),
    ("type IV", "type V"),
]


@pytest.mark.parametrize("pair", SLIPS)
def test_a_slip_is_seen(pair):
    assert is_misspelt(*pair)
    assert is_misspelt(*pair[::-1])


@pytest.mark.parametrize("pair", CLASS_NAMES)
def test_distinct_class_names_are_not_taken_for_slips(pair):
    assert not is_misspelt(*pair)
    assert not is_misspelt(*pair[::-1])


@pytest.mark.parametrize(
    ("names", "difference"),
    [
        (("BRCA1", "brca1"), "upper and lower case"),
        (("gene 2", "gene  2"), "blanks"),
        (("a1", "a\uff11"), "letter width or accents"),
        (("caf\u00e9", "cafe\u0301"), "letter width or accents"),
        (("ctrl", "ct\u00adrl"), "invisible characters"),
        (("gene 2", "Gene  2"), "blanks, upper and lower case"),
        (("gene 2", "gene\u00a02"), "characters that look alike"),
    ],
)
def test_names_that_differ_in_easily_overlooked_signs_are_reported(names, difference):
    assert equal_looking(names) == [list(names)]
    assert overlooked_differences([names]) == difference


def test_overlooked_differences_of_two_groups_are_joined():
    groups = [["No", "NO"], ["a b", "a  b"]]
    assert overlooked_differences(groups) == "blanks, upper and lower case"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" ", "blank"),
        ("NA", "missing"),
        ("1,5", "comma"),
        ("8,123", "ambiguous comma"),
        (" 8,123 ", "ambiguous comma"),
        ("1'234.5", "thousands"),
        ("1.234,5", "thousands and comma"),
        ("1e200", "large"),
        ("<LOD", "limit"),
        ("-inf", "infinite"),
        ("missing", "word"),
        ("larger", "word"),
    ],
)
def test_number_fault_kind_does_not_depend_on_the_words_of_its_message(text, kind):
    assert number_fault_kind(text) == kind
