"""The record of fits keeps every fit whole when it is joined, sorted, saved and loaded."""

from dataclasses import fields

import numpy as np
import pytest

from genesig.results import Fits


def make_fits(names, seed, n_mu=3):
    """Return random fits with ragged supports and test sets."""
    rng = np.random.default_rng(seed)
    m = len(names)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, m * n_mu))])
    test_indptr = np.concatenate([[0], np.cumsum(rng.integers(1, 4, m))])
    return Fits(
        split=np.array(names),
        permutation=rng.integers(0, 2, m),
        tau=np.geomspace(0.5, 0.1, 4),
        lam=np.array([0.1, 1.0]),
        mu=np.arange(n_mu) * 1.0,
        searched=np.arange(2) * 1.0,
        tau_max=rng.random(m),
        norm=rng.random(m),
        cv_error=rng.random((m, 2, 4, 2)),
        cv_se=rng.random((m, 2, 4, 2)),
        cv_size=rng.random((m, 2, 4)),
        cv_agreement=rng.random((m, 2, 4)),
        choice=rng.integers(0, [4, 2, n_mu], (m, 3)),
        threshold=rng.standard_normal(m),
        indptr=indptr,
        indices=rng.integers(0, 50, indptr[-1]),
        values=rng.standard_normal(indptr[-1]),
        intercept=rng.random((m, n_mu)),
        gap=rng.random((m, n_mu)),
        test_indptr=test_indptr,
        test_rows=rng.integers(0, 9, test_indptr[-1]),
        scores=rng.standard_normal((test_indptr[-1], n_mu)),
    )


def same(one, two):
    return all(np.array_equal(getattr(one, f.name), getattr(two, f.name)) for f in fields(Fits))


@pytest.mark.parametrize("seed", range(5))
def test_batches_in_any_order_gather_to_the_same_record(seed):
    names = [f"r1f{k}" for k in range(7)]
    whole = make_fits(names, seed)
    parts = [whole.take(np.arange(start, 7, 3)) for start in range(3)]
    one = Fits.gather(parts, names)
    two = Fits.gather([parts[2], parts[0], parts[1]], names)
    assert same(one, two)
    assert same(one, whole.take(np.lexsort((np.arange(7), whole.permutation))))


def test_a_taken_fit_keeps_its_coefficients_and_test_scores():
    whole = make_fits(["a", "b", "c"], 1)
    part = whole.take(np.array([2, 0]))
    for mu in range(3):
        np.testing.assert_array_equal(part.coef(0, mu)[1], whole.coef(2, mu)[1])
    np.testing.assert_array_equal(part.test(1)[1], whole.test(0)[1])


def test_save_and_load_return_the_same_bytes(tmp_path):
    whole = make_fits(["a", "b"], 3)
    whole.save(tmp_path / "fits.npz")
    assert same(Fits.load(tmp_path / "fits.npz"), whole)
    assert [path.name for path in tmp_path.iterdir()] == ["fits.npz"]
