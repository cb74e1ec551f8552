"""The volcano plot places the label of its bound where no gene lies."""

from __future__ import annotations

import numpy as np
import pytest
from report_records import Study, collected

from genesig.report.genes.figures import draw_volcano


@pytest.mark.parametrize(("has_gene_there", "side"), [(True, "right"), (False, "left")])
def test_the_name_of_the_bound_stands_where_no_gene_lies(has_gene_there, side):
    data = collected(Study())
    volcano = data["volcano"]
    bound = 1e-3
    data["univariate"]["bound"] = bound
    n = len(volcano["effect"])
    volcano["effect"] = [-1.0, *np.linspace(-0.2, 1.0, n - 1)]
    volcano["p"] = [bound if has_gene_there else 0.5, *np.full(n - 2, 0.5), 1e-9]
    (text,) = [
        label for label in draw_volcano(data).axes[0].texts if label.get_text().startswith("FDR")
    ]
    assert text.get_ha() == side
