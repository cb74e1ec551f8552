"""What words say of each other."""

import pytest

from genesig.words import is_misspelt

SLIPS = [
    ("case", "cases"),
    ("Tumour", "tumor"),
    ("metastasis", "metastases"),
    ("control", "contol"),
    ("relapse free", "relapse fre"),
]
NAMES = [
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


@pytest.mark.parametrize("pair", NAMES)
def test_names_of_their_own_are_left_alone(pair):
    assert not is_misspelt(*pair)
    assert not is_misspelt(*pair[::-1])
