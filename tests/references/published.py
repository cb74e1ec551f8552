"""Data sets and tables of the literature that the tests compare with.

The data lie beside the project, not in it; a test that needs one is skipped where it is absent.
"""

import pytest
from places import SHARED
from settings import study_settings

from genesig.data.study.dataset import read_dataset

# Mosci (2009), Table 7.1: numbers of genes at growing mu (in a unit of their own), on raw
# intensities. `reproduced` is what an exact solver finds on centred intensities with tau set by
# the first number and the unit of mu by the last: the three in the middle are free.
TABLE_7_1 = {
    "golub": {"published": [15, 33, 44, 70, 94], "reproduced": [15, 31, 47, 62, 94]},
    "singh": {"published": [18, 31, 37, 59, 83], "reproduced": [18, 27, 36, 53, 82]},
}
TABLE_7_1_MU = [0, 5e-4, 1e-3, 2e-3, 5e-3]

LABELS = {"golub": ("golub_1999", "diagnosis"), "singh": ("singh_2002", "tissue")}


def read(name):
    """Return a data set of the literature, all its samples."""
    stem, label = LABELS[name]
    expression = SHARED / f"{stem}_expression.tsv.gz"
    if not expression.exists():
        pytest.skip(f"{expression.name} is not beside the project")
    return read_dataset(study_settings(expression, SHARED / f"{stem}_samples.tsv", label))
