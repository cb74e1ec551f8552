"""Mosci (2009), Table 7.1: lists that grow with mu, each all but contained in the next.

On all samples, raw intensities, genes centred. The text gives neither tau nor the unit of mu, so
tau is set by the published number of genes at mu = 0 and the unit by the one at the largest mu;
the three numbers between are predictions.
"""

from itertools import pairwise

import numpy as np
import pytest
from published import TABLE_7_1, TABLE_7_1_MU, read

from genesig.optim.solvers import path
from genesig.optim.training import training_sets

SMALLEST_MU = 1e-6  # in units of ||X'X||/n, where the text says 0


def supports(sets, fraction, unit):
    """Return the lists at the mu of the table times `unit`, in units of ||X'X||/n."""
    mu = np.maximum(SMALLEST_MU, unit * np.array(TABLE_7_1_MU)) * sets.norm[:, None]
    tau = np.full((1, 1), fraction) * sets.tau_max[:, None]
    lists = path(sets, tau, mu, solver="landweber-newton", tolerance=1e-9)
    return [set(lists.coef(0, m)[0]) for m in range(len(TABLE_7_1_MU))]


def bisect(size, target_size, few, many):
    """Return x with size(x) = target_size, where size grows from x = `few` to x = `many`."""
    for _ in range(40):
        middle = np.sqrt(few * many)
        middle_size = size(middle)
        if middle_size == target_size:
            return middle
        few, many = (middle, many) if middle_size < target_size else (few, middle)
    raise AssertionError(f"no list of {target_size} genes: {middle_size} beside it")


@pytest.fixture(scope="module", params=list(TABLE_7_1))
def lists(request):
    study = read(request.param)
    n = len(study.samples)
    all_rows = np.ones((n, 1), dtype=bool)
    response = study.response()[:, None]
    sets = training_sets(study.X, response, all_rows, centre=True, unit_variance=False)
    largest_list, *_, smallest_list = TABLE_7_1[request.param]["published"]
    fraction = bisect(lambda x: len(supports(sets, x, 0.0)[0]), largest_list, 0.9, 0.005)
    unit = bisect(lambda x: len(supports(sets, fraction, x)[-1]), smallest_list, 1e-3, 1e3)
    return request.param, supports(sets, fraction, unit)


@pytest.mark.slow_cases("singh")
def test_numbers_of_genes(lists):
    name, gene_lists = lists
    expected = np.array(TABLE_7_1[name]["reproduced"])
    np.testing.assert_allclose([len(genes) for genes in gene_lists], expected, rtol=0.15)


def test_each_list_is_contained_in_the_next(lists):
    _, gene_lists = lists
    # Whole percents, as in the table: 16 of 18 genes are 89 %.
    percents = [round(100 * len(a & b) / len(a)) for a, b in pairwise(gene_lists)]
    assert min(percents) >= 89
