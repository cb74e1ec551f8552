"""Which features a Cox fit takes in beside those that it needs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genesig.compiled.cox_working import STEEPEST, miss, take_in


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 400), rest=st.integers(0, 400))
def test_the_steepest_features_are_taken_in_up_to_their_number(seed, d, rest):
    rng = np.random.default_rng(seed)
    g, weight = rng.normal(size=d) * (rng.random(d) < 0.8), rng.uniform(0.5, 2, d)
    weight[rng.random(d) < 0.1] = 0
    needed = rng.random(d) < 0.1
    inside, outside, within = needed.copy(), np.empty(d, dtype=bool), np.empty(d, np.int64)
    count = take_in(g, weight, rest, inside, outside, within)
    np.testing.assert_array_equal(within[:count], np.flatnonzero(inside))
    steep = np.divide(np.abs(g), weight, out=np.zeros(d), where=weight > 0)
    new, left = inside & ~needed, (steep > 0) & ~inside
    assert (inside >= needed).all()
    np.testing.assert_array_equal(outside, ~inside & (weight > 0))
    assert new.sum() == min(rest, ((steep > 0) & ~needed).sum())
    if new.any() and left.any():
        assert steep[new].min() > steep[left].max() - steep.max() / STEEPEST * 1.001


@pytest.mark.parametrize("rest", [0, 2, 5])
def test_where_all_gradients_are_alike_the_first_features_enter(rest):
    inside, outside = np.zeros(5, dtype=bool), np.empty(5, dtype=bool)
    take_in(np.full(5, -2.0), np.ones(5), rest, inside, outside, np.empty(5, np.int64))
    assert inside.tolist() == [True] * rest + [False] * (5 - rest)


def test_where_all_gradients_are_0_none_enters():
    inside, outside = np.zeros(5, dtype=bool), np.empty(5, dtype=bool)
    take_in(np.zeros(5), np.ones(5), 3, inside, outside, np.empty(5, np.int64))
    assert not inside.any()
    assert outside.all()


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 200), tau=st.floats(0, 4))
def test_features_that_miss_their_bounds_by_nearly_the_most_enter(seed, d, tau):
    rng = np.random.default_rng(seed)
    g, weight, outside = rng.normal(size=d), rng.uniform(0.5, 2, d), rng.random(d) < 0.8
    inside = ~outside
    beyond = np.where(outside, np.abs(g) - tau * weight, -1)
    assert miss(g, weight, tau, 0.4, outside, inside) == (beyond.max() > 0)
    expected = ~outside | ((beyond > 0) & (beyond >= 0.4 * beyond.max()))
    np.testing.assert_array_equal(inside, expected)
