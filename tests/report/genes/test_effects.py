"""Effects, shared lists and trees of genes equal other computations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report_records import Study, arguments, collected
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform
from scipy.stats import linregress

from genesig.report.collect import StudyResults, collect
from genesig.report.genes.collect import cluster_rows, gene_effects
from genesig.report.genes.figures import draw_heat_map

pytestmark = pytest.mark.drawn


def test_the_effect_of_two_classes_is_the_difference_of_their_means():
    dataset = arguments(Study())["dataset"]
    frame = pd.DataFrame(dataset.X).groupby(dataset.response()).mean()
    np.testing.assert_allclose(gene_effects(dataset), frame.loc[1] - frame.loc[-1])


def test_the_effect_of_a_number_is_the_change_with_one_standard_deviation():
    dataset = arguments(Study(regression=True))["dataset"]
    y = dataset.response()
    slopes = [linregress(y, x).slope * y.std() for x in dataset.X.T]
    np.testing.assert_allclose(gene_effects(dataset), slopes)


def test_the_volcano_holds_every_gene_of_the_lists_and_their_sign():
    inputs = arguments(Study(genes=3000))
    data = collect(StudyResults(**inputs))
    volcano = data["volcano"]
    assert len(volcano["genes"]) < volcano["total"] == 3000
    signature_genes = set(np.array(volcano["genes"])[volcano["signature"]])
    assert signature_genes == set(inputs["tables"]["signature"]["gene"])
    statistic = inputs["tables"]["univariate"].set_index("gene")["statistic"]
    assert (np.sign(volcano["effect"]) == np.sign(statistic[volcano["genes"]])).all()
    smallest = inputs["tables"]["univariate"].nsmallest(50, "p_value")["gene"]
    assert set(smallest) <= set(volcano["genes"])


@pytest.mark.parametrize(("steps", "has_known_base"), [([], False), ([{"step": "log2"}], True)])
def test_a_log_fold_change_is_called_so_only_where_the_base_is_known(steps, has_known_base):
    inputs = arguments(Study())
    provenance = {**inputs["dataset"].provenance, "steps": steps}
    data = collect(
        StudyResults(**{**inputs, "dataset": replace(inputs["dataset"], provenance=provenance)})
    )
    assert data["volcano"]["logarithm"] == has_known_base


@pytest.mark.parametrize("rows", [2, 3, 40, 1500])
def test_the_tree_joins_rows_where_scipy_does(rows):
    X = np.random.default_rng(1).normal(size=(rows, 3))
    order, joints = cluster_rows(X)
    assert sorted(order) == list(range(rows))
    assert len(joints) == rows - 1
    heights = sorted(joint[-1] for joint in joints)
    joined = linkage(X, "average")
    np.testing.assert_allclose(heights, np.sort(joined[:, 2]), rtol=1e-4)
    # Branches do not cross: neighbours in the order meet below all that join them to others.
    if rows == 40:
        far = squareform(cophenet(joined))[np.ix_(order, order)]
        for a in range(rows - 2):
            assert far[a, a + 2] == pytest.approx(max(far[a, a + 1], far[a + 1, a + 2]))


@pytest.mark.parametrize("rows", [0, 1])
def test_a_tree_of_one_row_has_no_joint(rows):
    assert cluster_rows(np.zeros((rows, 4))) == (list(range(rows)), [])


@pytest.mark.slow
@pytest.mark.parametrize("samples", [40, 1000])
def test_each_cell_of_the_heat_map_has_a_pixel_of_its_own(samples):
    data = collected(Study(samples=samples, repeats=1, nonlinear=False))
    figure = draw_heat_map(data)
    figure.draw_without_rendering()
    body = figure.axes[5]
    width = body.get_window_extent().width / figure.dpi * 96  # points of a screen
    assert width / samples >= 1
    assert body.images[0].get_array().shape == (len(data["heat"]["genes"]), samples)
