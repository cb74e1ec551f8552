"""What stands under the first figure is there."""

from __future__ import annotations

from copy import deepcopy

import pytest
from report_records import Study, collected

from genesig.report.answer.section import overview
from genesig.report.page.tables import records
from genesig.selection.assess.controls import FDR_SELECTED

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def data():
    return collected(Study(permutations=9, nonlinear=False))


def test_the_square_is_explained_only_where_there_is_one(data):
    of = data["answer"]["control"]["of"]
    others = {row["model"] for row in records(data["tables"]["controls"])} - {
        "genesig",
        FDR_SELECTED,
    }
    assert of == len(others) > 1
    square = f"square: the best of {of} other methods by its held-out error"
    assert square in overview(data)[0].caption
    alone = deepcopy(data)
    alone["answer"]["control"]["of"] = 1
    assert "square: the other method, on" in overview(alone)[0].caption
    alone["answer"]["control"] = None
    assert "square" not in overview(alone)[0].caption
