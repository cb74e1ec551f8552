"""Where there is nothing, the protocol must find nothing: chance errors, uniform p-values.

Anything that leaks from test rows into selection, scaling or the choice of (tau, lam) shows here:
with 5000 features and 30 samples, genes chosen on all samples separate random labels.
"""

import numpy as np
import pytest
from study import outer_fits, settings, splits_of
from toys import dataset, noise, paired_lines

from genesig.selection.assess.assessment import HEADLINES, study_errors
from genesig.selection.assess.held_out import held_out
from genesig.selection.assess.permutations import null_errors, p_value

NO_SUBSAMPLES = {"subsamples": 0}
ONE_REPEAT = {"subsamples": 0, "repeats": 1}
LEAVE_PAIR_OUT = {"subsamples": 0, "scheme": "leave_one_group_out"}
LEAVE_ONE_OUT = {"subsamples": 0, "scheme": "leave_one_out"}
HEADLINE = HEADLINES["classification"]


def outer_errors(study, **splits):
    """Return the double-CV balanced error at each mu."""
    config = settings({}, splits=splits)
    drawn = splits_of(study, config)
    found = held_out(study, drawn, outer_fits(study, drawn, config))
    return study_errors(found, HEADLINE)[0]


def permutation_p(study):
    """Return the p-value of the minimal list, from the default number of permutations."""
    config = settings({}, splits=ONE_REPEAT)
    number = config["controls"]["permutations"]
    drawn = splits_of(study, config)
    observed = outer_errors(study, **ONE_REPEAT)[0]
    permuted = outer_fits(study, drawn, config, f"permuted-001-{number}")
    return p_value(observed, null_errors(study, drawn, permuted)["error"][:, 0])


def pure_noise(seed, **shape):
    return dataset(*noise(np.random.default_rng(seed), **shape))


def lines_without_effect(seed, grouped=True):
    X, y, line = paired_lines(np.random.default_rng(seed))
    return dataset(X, y, line if grouped else None)


def test_pure_noise_is_not_predicted():
    errors = [outer_errors(pure_noise(seed, n_features=500), **ONE_REPEAT)[0] for seed in range(3)]
    # The error of 30 coin tosses has sd .09, the mean of three .053.
    assert np.mean(errors) == pytest.approx(0.5, abs=3 * 0.053)


def test_genes_chosen_on_all_samples_would_be_noticed():
    errors = []
    for seed in range(3):
        X, y = noise(np.random.default_rng(seed), n_features=500)
        chosen = np.argsort(-np.abs(X.T @ y))[:30]
        errors.append(outer_errors(dataset(X[:, chosen], y), **ONE_REPEAT)[0])
    assert np.mean(errors) < 0.5 - 3 * 0.053


@pytest.mark.slow
def test_mean_error_on_pure_noise_is_one_half():
    errors = [outer_errors(pure_noise(seed), **NO_SUBSAMPLES) for seed in range(20)]
    np.testing.assert_allclose(np.mean(errors, axis=0), 0.5, rtol=0, atol=0.05)


@pytest.mark.slow
def test_p_values_on_pure_noise_are_uniform_enough():
    p = np.array([permutation_p(pure_noise(seed)) for seed in range(20)])
    assert np.sum(p < 0.05) <= 3


@pytest.mark.slow
def test_leaving_pairs_out_is_at_chance():
    errors = [outer_errors(lines_without_effect(seed), **LEAVE_PAIR_OUT) for seed in range(20)]
    np.testing.assert_allclose(np.mean(errors, axis=0), 0.5, rtol=0, atol=0.05)


def test_leaving_single_members_of_pairs_out_learns_the_opposite():
    # The partner in the training set is alike and has the other label (9 lines: 16.8 of 18 wrong).
    study = lines_without_effect(0, grouped=False)
    assert outer_errors(study, **LEAVE_ONE_OUT)[0] > 0.75
