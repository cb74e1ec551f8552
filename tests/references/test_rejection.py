"""Rejection regions: every published percentage is a count that the definition gives."""

import numpy as np
import pytest

from genesig.selection.assess.calibration import rejection

# Mosci 2009, table 7.2: misclassified samples of the two classes (column B), percentages to be
# refused in the two predicted classes (column C); sizes of the classes in the test set.
LEUKEMIA = [
    ((0, 0), (0, 0)),
    ((0, 1), (5, 0)),
    ((0, 2), (9, 0)),
    ((0, 2), (18, 0)),
    ((0, 3), (39, 0)),
    ((1, 1), (20, 14)),
    ((1, 2), (14, 8)),
    ((1, 2), (14, 15)),
]
LUNG = [((1, 0), (0, 3)), ((1, 0), (0, 1))]
PROSTATE = [
    ((2, 1), (13, 48)),
    ((2, 0), (0, 54)),
    ((2, 0), (0, 46)),
    ((3, 1), (4, 46)),
    ((2, 0), (0, 50)),
]
ROWS = [
    *((20, 14, *row) for row in LEUKEMIA),
    *((15, 75, *row) for row in LUNG),
    *((25, 26, *row) for row in PROSTATE),
]


def percentage(count, n):
    """Round to a whole percentage, halves upwards as the table does (3/24 is 13 %)."""
    return int(100 * count / n + 0.5)


def predicted_as(wrong, n, refused, side, rng):
    """Return y and f of n samples predicted as `side`, the outermost wrong one at `refused`."""
    size = np.sort(rng.uniform(0.01, 2, n))
    true = np.full(n, side)
    if wrong:
        inner = rng.permutation(refused - 1)[: wrong - 1]
        true[[*inner, refused - 1]] = -side
    return true, side * size


@pytest.mark.parametrize(("first_class", "second", "errors", "percent"), ROWS)
def test_published_percentages_are_counts_of_refused_samples(first_class, second, errors, percent):
    rng = np.random.default_rng(0)
    missed = (errors[1], errors[0])  # among those predicted as the first class, as the second
    sizes = (first_class - errors[0] + errors[1], second - errors[1] + errors[0])
    y = []
    f = []
    for side, wrong, n, share in zip((-1.0, 1.0), missed, sizes, percent, strict=True):
        fitting = [
            k for k in range(wrong, n + 1) if percentage(k, n) == share and (k > 0) == (wrong > 0)
        ]
        assert len(fitting) == 1
        true, scores = predicted_as(wrong, n, fitting[0], side, rng)
        y.append(true)
        f.append(scores)
    order = rng.permutation(first_class + second)
    y = np.concatenate(y)[order]
    f = np.concatenate(f)[order]
    assert (np.sum((y < 0) & (f > 0)), np.sum((y > 0) & (f < 0))) == errors
    for side, n, wrong, share in zip((-1.0, 1.0), sizes, missed, percent, strict=True):
        rejected = rejection(y, f, side)
        assert (rejected.predicted, rejected.wrong, percentage(rejected.rejected, n)) == (
            n,
            wrong,
            share,
        )
        assert rejected.share == rejected.rejected / n
        class_scores = (np.sign(f) == side) & ~(np.abs(f) <= rejected.threshold)
        assert (y[class_scores] == side).all()


def test_the_documented_counts():
    """5 % = 1/21, 39 % = 9/23, (20, 14) % = 4/20 and 2/14: the smallest region is one sample."""
    y = np.array([1.0] + [-1.0] * 20 + [1.0] * 13)
    f = np.concatenate([[-0.1], -np.linspace(0.2, 1, 20), np.linspace(0.2, 1, 13)])
    rejected = rejection(y, f, -1.0)
    assert (rejected.rejected, rejected.predicted, rejected.threshold) == (1, 21, 0.1)
    assert rejection(y, f, 1.0).rejected == 0
    assert np.isnan(rejection(y, f, 1.0).threshold)


def test_nothing_predicted_has_no_share():
    assert np.isnan(rejection(np.ones(3), np.ones(3), -1.0).share)
