"""The generators hold what the experiments that use them assume."""

import numpy as np
import pytest
from toys import BLOCKS, dataset, noise, paired_lines, sparse_regression, three_blocks


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("variant", [1, 2, 3])
def test_features_of_a_block_belong_together_and_blocks_do_not(variant):
    X, _ = three_blocks(generator(), variant, n_samples=2000)
    r = np.abs(np.corrcoef(X.T))
    same = BLOCKS[:, None] == BLOCKS
    in_same_block = same & (BLOCKS >= 0)
    # Two copies of a ±0.5 prototype with noise of variance .01: r = .25 / (.25 + .01).
    assert r[in_same_block].min() > (0.999 if variant == 3 else 0.25 / 0.26 - 0.02)
    assert r[~same].max() < 0.15


@pytest.mark.parametrize(("variant", "flipped"), [(1, 0.0), (2, 0.01), (3, 0.0)])
def test_labels_follow_the_prototypes(variant, flipped):
    X, y = three_blocks(generator(), variant, n_samples=20_000)
    wrong = np.mean(y != np.sign(X[:, [0, 10, 20]].sum(axis=1)))
    assert wrong == pytest.approx(flipped, abs=0.003)
    assert set(y) == {-1, 1}


def test_copies_in_variant_3_shrink():
    X, _ = three_blocks(generator(), 3)
    np.testing.assert_allclose(
        np.abs(X[:, 20:30]), 0.5 * (1 - np.arange(10) / 10) * np.ones((30, 1))
    )


def test_sparse_regression_is_explained_by_three_features():
    X, y = sparse_regression(generator(), 5000, n_features=20)
    coef, *_ = np.linalg.lstsq(X, y, rcond=None)
    np.testing.assert_allclose(coef, [1, 1, 1, *[0] * 17], atol=0.05)
    assert np.std(y - X @ coef) == pytest.approx(0.5, rel=0.03)


def test_noise_has_balanced_labels_in_random_order():
    X, y = noise(generator())
    assert X.shape == (30, 5000)
    assert y.sum() == 0
    assert not np.array_equal(y, noise(generator(1))[1])


def test_lines_are_alike_and_states_are_not():
    X, y, lines = paired_lines(generator())
    r = np.corrcoef(X)
    is_other_line = np.eye(18, dtype=bool)
    same_line = (lines[:, None] == lines) & ~is_other_line
    assert r[same_line] == pytest.approx(0.5, abs=0.1)
    assert np.abs(r[~same_line & ~is_other_line]).max() < 0.15
    study = dataset(X, y, lines)
    np.testing.assert_array_equal(study.response(), y)
    assert list(study.groups()[:3]) == ["line 0", "line 0", "line 1"]
