"""A record of fits keeps every fit when it is joined, sorted, saved and loaded."""

from dataclasses import replace

import numpy as np
import pytest

from genesig.results import Fits
from genesig.results.fits import Answers, CovariateWeights, GridSearch, LassoLists


def make_fits(names, seed, n_mu=3):
    """Return random fits with ragged supports and test sets."""
    rng = np.random.default_rng(seed)
    m = len(names)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, m * n_mu))])
    test_indptr = np.concatenate([[0], np.cumsum(rng.integers(1, 4, m))])
    return Fits(
        split=np.array(names),
        permutation=rng.integers(0, 2, m),
        grid=GridSearch(
            tau=np.geomspace(0.5, 0.1, 4),
            lam=np.array([0.1, 1.0]),
            searched=np.arange(2) * 1.0,
            tau_max=rng.random(m),
            norm=rng.random(m),
            error=rng.random((m, 2, 4, 2)),
            standard_error=rng.random((m, 2, 4, 2)),
            n_genes=rng.random((m, 2, 4)),
            agreement=rng.random((m, 2, 4)),
        ),
        mu=np.arange(n_mu) * 1.0,
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


def equal_fits(fits_a, two):
    arrays = fits_a.arrays()
    arrays_of_two = two.arrays()
    assert list(arrays) == list(arrays_of_two)
    return all(np.array_equal(array, arrays_of_two[name]) for name, array in arrays.items())


@pytest.mark.parametrize("seed", range(5))
def test_batches_in_any_order_gather_to_the_same_record(seed):
    names = [f"r1f{k}" for k in range(7)]
    all_fits = make_fits(names, seed)
    parts = [all_fits.take(np.arange(start, 7, 3)) for start in range(3)]
    gathered_fits = Fits.gather(parts, names)
    two = Fits.gather([parts[2], parts[0], parts[1]], names)
    assert equal_fits(gathered_fits, two)
    assert equal_fits(
        gathered_fits, all_fits.take(np.lexsort((np.arange(7), all_fits.permutation)))
    )


def test_a_taken_fit_keeps_its_coefficients_and_test_scores():
    all_fits = make_fits(["a", "b", "c"], 1)
    part = all_fits.take(np.array([2, 0]))
    for mu in range(3):
        np.testing.assert_array_equal(part.coef(0, mu)[1], all_fits.coef(2, mu)[1])
    np.testing.assert_array_equal(part.test_scores(1)[1], all_fits.test_scores(0)[1])


def test_save_and_load_return_the_same_bytes(tmp_path):
    all_fits = make_fits(["a", "b"], 3)
    all_fits.save(tmp_path / "fits.npz")
    assert equal_fits(Fits.load(tmp_path / "fits.npz"), all_fits)
    assert [path.name for path in tmp_path.iterdir()] == ["fits.npz"]


def with_all_records(all_fits, seed=6):
    """Return fits with covariates, answers and lists of the lasso."""
    rng = np.random.default_rng(seed)
    m = len(all_fits)
    indptr = np.arange(2 * m + 1)
    return replace(
        all_fits,
        covariates=CovariateWeights(
            gamma=rng.random((m, len(all_fits.mu), 2)),
            mean=rng.random((m, 2)),
            knots=np.zeros((m, 2, 0)),
        ),
        answers=Answers(
            indptr=indptr,
            indices=rng.integers(0, 50, 2 * m),
            values=rng.random(2 * m),
            intercept=rng.random((m, 2)),
            scores=rng.random((len(all_fits.test_rows), 2)),
            controlled=rng.random(m) > 0.5,
            gamma=rng.random((m, 2, 2)),
        ),
        lasso_lists=LassoLists(indptr[::2], rng.integers(0, 50, 2 * m)),
    )


RECORD_KEYS = {
    *("answer_indptr", "answer_indices", "answer_values", "answer_intercept", "answer_scores"),
    *("answer_gamma", "controlled", "gamma", "covariate_mean", "knots"),
    *("rival_indptr", "rival_indices"),
}


def test_save_and_load_keep_all_records_under_their_keys(tmp_path):
    plain_fits = make_fits(["a", "b"], 3)
    all_fits = with_all_records(plain_fits)
    assert set(all_fits.arrays()) - set(plain_fits.arrays()) == RECORD_KEYS
    all_fits.save(tmp_path / "fits.npz")
    assert equal_fits(Fits.load(tmp_path / "fits.npz"), all_fits)


def test_concatenated_fits_keep_all_records():
    all_fits = with_all_records(make_fits(["a", "b", "c"], 3))
    parts = [all_fits.take(np.array([0])), all_fits.take(np.array([1, 2]))]
    assert equal_fits(Fits.concatenate(parts), all_fits)


@pytest.mark.parametrize("seed", range(3))
def test_the_chosen_list_of_each_fit_is_its_last_column(seed):
    all_fits = make_fits(["a", "b", "c", "d", "e"], seed)
    chosen_fits = all_fits.with_chosen()
    np.testing.assert_array_equal(chosen_fits.mu, [*all_fits.mu, np.nan])
    for fit, (_, _, mu) in enumerate(all_fits.choice):
        for column, source in enumerate([*range(len(all_fits.mu)), mu]):
            for chosen_coef, source_coef in zip(
                chosen_fits.coef(fit, column), all_fits.coef(fit, source), strict=True
            ):
                np.testing.assert_array_equal(chosen_coef, source_coef)
            assert chosen_fits.intercept[fit, column] == all_fits.intercept[fit, source]
            assert chosen_fits.gap[fit, column] == all_fits.gap[fit, source]
            np.testing.assert_array_equal(
                chosen_fits.test_scores(fit)[1][:, column], all_fits.test_scores(fit)[1][:, source]
            )
        np.testing.assert_array_equal(chosen_fits.test_scores(fit)[0], all_fits.test_scores(fit)[0])
    for name in ("choice", "threshold", "cv_error", "split", "test_rows"):
        np.testing.assert_array_equal(chosen_fits.arrays()[name], all_fits.arrays()[name])


def test_taking_fits_and_adding_their_chosen_lists_commute():
    all_fits = make_fits([f"r1f{k}" for k in range(6)], 4)
    order = np.array([5, 0, 3])
    chosen_then_taken = all_fits.with_chosen().take(order)
    two = all_fits.take(order).with_chosen()
    for name, array in chosen_then_taken.arrays().items():
        np.testing.assert_array_equal(array, two.arrays()[name])


def test_no_fit_has_no_chosen_list():
    none = make_fits(["a", "b"], 0).take(np.arange(0)).with_chosen()
    assert len(none) == 0
    assert none.scores.shape == (0, 4)


def test_list_that_was_not_kept_has_no_size():
    all_fits = make_fits(["a", "b"], 5)
    sizes = np.diff(all_fits.indptr).reshape(2, 3)
    np.testing.assert_array_equal(all_fits.sizes(), sizes)
    all_fits.gap[1, 2] = np.nan
    np.testing.assert_array_equal(all_fits.sizes()[1], [*sizes[1, :2], np.nan])
