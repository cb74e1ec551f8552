"""Figures of the prediction: gene numbers along tau, chosen points, names of classes."""

import pytest
from report_records import Study, collected

from genesig.report.prediction.figures import (
    _draw_list_sizes,
    _label_classes,
    draw_surface,
    new_figure,
)


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


@pytest.mark.drawn
def test_dot_of_a_point_grows_with_the_splits_that_chose_it():
    data = collected(Study())
    data["surface"]["chosen"] = [(0, 0, 1), (1, 0, 2), (2, 0, 4)]
    figure = draw_surface(data)
    dots = [scatter.get_sizes()[0] for scatter in figure.axes[0].collections[:3]]
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert (dots[1] - dots[0]) * 2 == pytest.approx(dots[2] - dots[1])
    assert dots[0] < dots[1]
    assert texts[:3] == ["1", "2", "4"]
    figure.clear()


def test_each_class_is_named_above_its_samples():
    figure, ax = new_figure(3.0, 2.0)
    _label_classes(ax, [0, 0, 1, 1, 1], ["ill", "well"])
    names = [(text.get_text(), text.get_position()[0]) for text in ax.texts]
    assert names == [("ill", 0.5), ("well", 3.0)]
    figure.clear()
