"""The picture of model selection: numbers of genes along tau."""

import pytest
from report_records import Study, collected

from genesig.report.prediction.figures import _draw_list_sizes, new_figure


@pytest.mark.parametrize("count", [1, 2])
def test_each_line_has_its_mu_where_there_are_several(count):
    it = collected(Study())["surface"]
    it["rows"] = [1e-3, 1e-1][:count]
    it["size"] = [[1, 2, None], [2, 3, 4]][:count]
    it["tau"] = [0.5, 0.3, 0.1]
    figure, ax = new_figure(3.0, 2.0)
    _draw_list_sizes(ax, it)
    said = [one.get_text() for one in ax.texts]
    assert len(said) == (count if count > 1 else 0)
    assert len(set(said)) == len(said)
    figure.clear()
