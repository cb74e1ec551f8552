"""The figure of model selection labels the gene numbers along tau."""

import pytest
from report_records import Study, collected

from genesig.report.prediction.figures import _draw_list_sizes, new_figure


@pytest.mark.parametrize("count", [1, 2])
def test_each_line_has_its_mu_where_there_are_several(count):
    surface = collected(Study())["surface"]
    surface["rows"] = [1e-3, 1e-1][:count]
    surface["size"] = [[1, 2, None], [2, 3, 4]][:count]
    surface["tau"] = [0.5, 0.3, 0.1]
    figure, ax = new_figure(3.0, 2.0)
    _draw_list_sizes(ax, surface)
    labels = [label.get_text() for label in ax.texts]
    assert len(labels) == (count if count > 1 else 0)
    assert len(set(labels)) == len(labels)
    figure.clear()
