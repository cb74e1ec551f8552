"""Association of label and batch: reference formulas and invariances."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats.contingency import association as scipys
from sklearn.linear_model import LinearRegression

from genesig.data.study.confounding import association_with_label

rows = st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.integers(0, 3)), min_size=8, max_size=60)


def columns(drawn):
    y, batch = (np.array(column) for column in zip(*drawn, strict=True))
    assume(len(set(y)) == 2 and len(set(batch)) > 1)
    return y, batch.astype(str)


def counts(y, batch):
    return np.array([[np.sum((y == s) & (batch == b)) for b in np.unique(batch)] for s in (-1, 1)])


def plain(y, batch):
    """Cramér's V of the table batch × class, from chi²."""
    table = [[np.sum((y == s) & (batch == b)) for b in np.unique(batch)] for s in (-1, 1)]
    return scipys(np.array(table), method="cramer")


@given(rows)
def test_v_is_scipys_before_the_correction(drawn):
    y, batch = columns(drawn)
    n = len(y)
    k = len(set(batch))
    corrected = 1 - (1 - plain(y, batch) ** 2) * (n - 1) / (n - k)
    np.testing.assert_allclose(association_with_label(y, batch) ** 2, max(0, corrected), atol=1e-9)


@given(rows)
def test_association_of_two_batches_equals_bergsmas_v(drawn):
    y, batch = columns([(label, name % 2) for label, name in drawn])
    n = len(y)
    phi2 = plain(y, batch) ** 2
    bergsma = max(0, phi2 - 1 / (n - 1)) / (2 - 1 / (n - 1) - 1)
    np.testing.assert_allclose(association_with_label(y, batch) ** 2, bergsma, atol=1e-9)


@given(rows, st.floats(-3, 3))
def test_association_of_numbers_equals_adjusted_r2_on_batches(drawn, shift):
    y, batch = columns(drawn)
    y = y + shift * (batch == batch[0]) + np.linspace(0, 1, len(y))
    assume(np.ptp(y) > 0.1)
    members = (batch[:, None] == np.unique(batch)).astype(float)
    r2 = LinearRegression().fit(members, y).score(members, y)
    n, k = members.shape
    adjusted = 1 - (1 - r2) * (n - 1) / (n - k)
    np.testing.assert_allclose(
        association_with_label(y, batch) ** 2, max(0, adjusted), rtol=1e-8, atol=1e-8
    )


@given(rows, st.randoms())
def test_neither_names_nor_order_matter(drawn, random):
    y, batch = columns(drawn)
    order = np.array(random.sample(range(len(y)), len(y)))
    renamed = np.array([f"x{9 - int(name)}" for name in batch])
    association = association_with_label(y, batch)
    two = association_with_label(-y[order], renamed[order])
    np.testing.assert_allclose(association**2, two**2, atol=1e-12)


@pytest.mark.parametrize("batches", [2, 3, 5])
def test_association_is_1_if_each_batch_has_one_class(batches):
    batch = np.repeat(np.arange(batches), 6)
    y = np.where(batch % 2, 1.0, -1.0)
    assert association_with_label(y, batch.astype(str)) == pytest.approx(1)


def test_labels_drawn_at_random_are_near_0_however_many_batches():
    rng = np.random.default_rng(0)
    batch = np.repeat(np.arange(10), 4).astype(str)
    draws = [rng.permutation(np.repeat([-1.0, 1.0], 20)) for _ in range(300)]
    assert 0.45 < np.mean([plain(y, batch) for y in draws]) < 0.5
    assert np.mean([association_with_label(y, batch) for y in draws]) < 0.15


def test_association_is_none_if_it_is_undefined():
    y = np.array([-1.0, 1.0, -1.0, 1.0])
    for batch in ("aaaa", "abcd"):
        assert association_with_label(y, np.array(list(batch))) is None
    assert association_with_label(np.ones(4), np.array(list("aabb"))) is None
