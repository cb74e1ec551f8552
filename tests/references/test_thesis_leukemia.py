"""Mosci (2009), Table 7.2, leukemia: 28 genes and no error of 34 on the original split.

The text gives neither the transformation nor the grid. Raw intensities, centred, give 26 to 29
genes and at most one error on all these grids of tau, from tau_max (counted as a point) to
0.005 tau_max.
"""

import numpy as np
import pytest
from published import read
from study import outer_fits, preset, settings, splits_of

ORIGINAL_SPLIT = {"scheme": "predefined", "column": "original_split", "subsamples": 0}


@pytest.fixture(scope="module")
def golub():
    return read("golub")


def check(golub, config):
    splits = splits_of(golub, config)
    fits = outer_fits(golub, splits, config)
    rows, scores = fits.test_scores(0)
    assert len(rows) == 34
    assert len(splits.outer[0].inner) == 38
    assert fits.grid.tau[-1] == pytest.approx(0.005)
    assert fits.gap.max() <= 1e-9
    assert (fits.threshold[0], fits.choice[0, 2]) == (0, 0)
    assert 26 <= len(fits.coef(0, 0)[0]) <= 29
    assert np.sum(golub.response()[rows] * scores[:, 0] <= 0) <= 1


@pytest.mark.slow
def test_original_split(golub):
    check(golub, settings(preset(), splits=ORIGINAL_SPLIT))


@pytest.mark.slow
@pytest.mark.parametrize("points", [10, 15, 25, 30, 40])
def test_original_split_on_other_grids(golub, points):
    linear = {"tau_count": points - 1}
    check(golub, settings(preset(), splits=ORIGINAL_SPLIT, linear=linear))


def test_preset_resets_settings_that_a_study_may_have_changed():
    default = settings({})
    preset_settings = [(section, key) for section, keys in preset().items() for key in keys]
    repeated = {(s, key) for s, key in preset_settings if preset()[s][key] == default[s][key]}
    assert repeated == {
        ("normalise", "samples"),
        ("linear", "one_standard_error"),
        ("linear", "tau_min"),
    }
