"""The reliability diagram of an external cohort shows each sample in the row of its class."""

import pytest
from matplotlib.colors import to_rgba

from genesig.report.external.figures import draw_reliability
from genesig.report.page.style import CLASS_COLOURS

MISSING = {"value": None, "low": None, "high": None}


@pytest.mark.drawn
def test_scores_stand_in_the_row_and_colour_of_their_class():
    cohort = {
        "points": [
            {"label": "ill", "score": 0.4},
            {"label": "well", "score": -0.2},
            {"label": "ill", "score": 0.9},
        ],
        "reliability": [],
        "scores": {"calibration_slope": MISSING, "calibration_intercept": MISSING},
    }
    figure = draw_reliability(cohort, ["well", "ill"])
    well, ill = figure.axes[0].collections
    assert well.get_offsets()[:, 0].tolist() == [-0.2]
    assert ill.get_offsets()[:, 0].tolist() == [0.4, 0.9]
    assert well.get_offsets()[0, 1] < ill.get_offsets()[0, 1] < 0
    for scores, colour in zip((well, ill), CLASS_COLOURS, strict=False):
        assert scores.get_facecolor()[0] == pytest.approx(to_rgba(colour))
    figure.clear()
