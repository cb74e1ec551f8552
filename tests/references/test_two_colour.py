"""Two-colour arrays against limma, and loess against its definition."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from published import SHARED

from genesig.data.files.readers import read_matrix
from genesig.data.steps.two_colour import loess_ratios, lowess


def test_ratios_are_limmas():
    table = pd.read_csv(Path(__file__).with_name("loess_by_limma.tsv"), sep="\t")
    part = {
        kind: table.filter(regex=rf"^{kind}\.[0-9]$").to_numpy(float).T
        for kind in ("red", "green", r"red\.glow", r"green\.glow", "ratio")
    }
    red = part["red"] - part[r"red\.glow"]
    green = part["green"] - part[r"green\.glow"]
    ratios = loess_ratios(red, green, span=0.3, iterations=4)
    np.testing.assert_array_equal(np.isnan(ratios), np.isnan(part["ratio"]))
    np.testing.assert_allclose(ratios, part["ratio"], rtol=0, atol=1e-12)


@pytest.mark.skipif(not (SHARED / "agilent").is_dir(), reason="the shared data are not here")
def test_real_arrays_are_limmas_from_the_scanners_file_on():
    expected = pd.read_csv(
        Path(__file__).with_name("agilent_by_limma.tsv"), sep="\t", index_col="probe"
    )
    ratios = read_matrix(SHARED / "agilent", "loess")
    assert ratios.columns == tuple(expected.columns)
    assert set(ratios.rows) == set(expected.index)
    np.testing.assert_allclose(ratios.cells, expected.loc[list(ratios.rows)], rtol=0, atol=1e-12)
    assert set(ratios.texts.values()) == {"NA"}


def test_ratios_of_an_array_ignore_other_arrays():
    rng = np.random.default_rng(0)
    red, green = rng.lognormal(6, 1, (2, 3, 200))
    joint_ratios = loess_ratios(red, green, span=0.3, iterations=4)
    for row in range(3):
        alone = loess_ratios(red[row : row + 1], green[row : row + 1], span=0.3, iterations=4)
        np.testing.assert_array_equal(alone[0], joint_ratios[row])


def test_loess_keeps_a_straight_line_despite_outliers():
    x = np.random.default_rng(1).permutation(np.linspace(0, 10, 101))
    y = 2 * x - 3 + 100 * (np.arange(101) % 20 == 0)
    smooth = lowess(x, y, span=0.5, robust=6, delta=0.0)
    np.testing.assert_allclose(smooth, 2 * x - 3, atol=1e-9)


def test_without_weights_a_point_is_on_the_line_of_its_neighbours():
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(0, 1, 40))
    y = rng.normal(size=40)
    distance = np.abs(x - x[11])
    h = np.sort(distance)[19]
    tricube = np.where(distance < h, (1 - (distance / h) ** 3) ** 3, 0)
    slope, level = np.polyfit(x, y, 1, w=np.sqrt(tricube))
    smooth = lowess(x, y, span=0.5, robust=0, delta=0.0)
    np.testing.assert_allclose(smooth[11], slope * x[11] + level, rtol=0, atol=1e-6)


@pytest.mark.parametrize("brightness", [np.full(50, 7.0), np.repeat([1.0, 2.0], 25)])
def test_ties_in_brightness_share_their_fit(brightness):
    y = np.random.default_rng(3).normal(size=50)
    smooth = lowess(brightness, y, span=0.3, robust=0, delta=0.1)
    assert len(np.unique(smooth)) == len(np.unique(brightness))


def test_too_few_spots_have_no_trend_of_their_own():
    red = np.array([[8.0, 4, 0, np.nan]])
    green = np.array([[2.0, 8, 1, 1]])
    ratios = loess_ratios(red, green, span=0.3, iterations=4)
    np.testing.assert_array_equal(ratios, [[0, 0, np.nan, np.nan]])


def test_every_intensity_above_zero_has_a_ratio():
    red, green = np.random.default_rng(0).uniform(0.05, 0.95, (2, 1, 60))
    red[0, 3] = 0.0
    green[0, 5] = -0.1
    ratios = loess_ratios(red, green, span=0.3, iterations=4)
    assert np.flatnonzero(np.isnan(ratios[0])).tolist() == [3, 5]
