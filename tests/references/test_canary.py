"""In pure noise errors are at chance and p-values uniform.

Anything that leaks from test rows into selection, scaling, the choice of a list or its threshold
shows here: genes chosen on all samples separate random labels. Errors are those at each mu, and
last that of the chosen lists, the answer. `benchmarks/accuracy/claims.py run` draws hundreds of
studies of noise.
"""

import numpy as np
import pytest
from study import outer_fits, settings, splits_of
from toys import dataset, noise, paired_lines

from genesig.selection.assess.assessment import study_errors
from genesig.selection.assess.controls import null_errors, p_value
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS

pytestmark = pytest.mark.slow

ONE_REPEAT = {"subsamples": 0, "repeats": 1}
LEAVE_PAIR_OUT = {"subsamples": 0, "scheme": "leave_one_group_out"}
LEAVE_ONE_OUT = {"subsamples": 0, "scheme": "leave_one_out"}
SMALL = {"subsamples": 0, "repeats": 1, "folds": 3, "inner_folds": 3}
HEADLINE = ASSESSMENT_KINDS["classification"].headline
NO_LIST_LIMIT = {"longest": None}  # so that there is an error at each mu


def outer_errors(study, **splits):
    """Return the double-CV balanced error at each mu, and last that of the chosen lists."""
    config = settings({}, splits=splits, linear=NO_LIST_LIMIT)
    drawn = splits_of(study, config)
    held_out_fits = collect_held_out(study, drawn, outer_fits(study, drawn, config).with_chosen())
    return study_errors(held_out_fits, HEADLINE)[0]


def permutation_p(study, number, **splits):
    """Return the p-value of the chosen lists, chosen anew under every permutation."""
    config = settings({}, splits=splits)
    drawn = splits_of(study, config)
    observed, permuted = (
        null_errors(study, drawn, outer_fits(study, drawn, config, labels).with_chosen())["error"]
        for labels in ("observed", f"permuted-001-{number:03d}")
    )
    return p_value(observed[0, -1], permuted[:, -1])


def pure_noise(seed, **shape):
    return dataset(*noise(np.random.default_rng(seed), **shape))


def lines_without_effect(seed, grouped=True):
    X, y, line = paired_lines(np.random.default_rng(seed))
    return dataset(X, y, line if grouped else None)


def test_pure_noise_is_not_predicted():
    errors = [outer_errors(pure_noise(seed, n_features=500), **ONE_REPEAT)[-1] for seed in range(3)]
    # The error of 30 coin tosses has sd .09, the mean of three .053.
    assert np.mean(errors) == pytest.approx(0.5, abs=3 * 0.053)


def test_genes_chosen_on_all_samples_would_be_noticed():
    errors = []
    for seed in range(3):
        X, y = noise(np.random.default_rng(seed), n_features=500)
        chosen = np.argsort(-np.abs(X.T @ y))[:30]
        errors.append(outer_errors(dataset(X[:, chosen], y), **ONE_REPEAT)[-1])
    assert np.mean(errors) < 0.5 - 3 * 0.053


def test_mean_error_on_pure_noise_is_one_half():
    """Eight errors have a mean of sd .032; genes chosen on all samples have one of .34 or less."""
    errors = [outer_errors(pure_noise(seed), **ONE_REPEAT) for seed in range(8)]
    np.testing.assert_allclose(np.mean(errors, axis=0), 0.5, rtol=0, atol=0.1)


@pytest.mark.parametrize(
    ("shape", "n_studies", "most"),
    [
        ({"n_samples": 24, "n_features": 200}, 40, 7),
        ({"n_samples": 24, "n_features": 5000}, 8, 3),
    ],
    ids=["few genes", "many genes"],
)
def test_p_values_of_studies_without_signal_are_uniform(shape, n_studies, most):
    """One of 20 p-values is the smallest; more than `most` are so in one of 1000 cases.

    A fault that makes every third study of 40 significant is noticed in 98 of 100 cases; a model
    that sees its test samples makes all of them significant.
    """
    p = [permutation_p(pure_noise(seed, **shape), 19, **SMALL) for seed in range(n_studies)]
    assert np.sum(np.array(p) <= 0.05) <= most
    # Errors of 24 samples tie often, which counts against the study: the mean is about .56.
    assert np.mean(p) == pytest.approx(0.56, abs=3.3 * 0.29 / np.sqrt(n_studies))


def test_leaving_pairs_out_is_at_chance():
    errors = [outer_errors(lines_without_effect(seed), **LEAVE_PAIR_OUT) for seed in range(20)]
    np.testing.assert_allclose(np.mean(errors, axis=0), 0.5, rtol=0, atol=0.05)


def test_leaving_single_members_of_pairs_out_learns_the_opposite():
    # The partner in the training set is alike and has the other label (9 lines: 16.8 of 18 wrong).
    study = lines_without_effect(0, grouped=False)
    assert outer_errors(study, **LEAVE_ONE_OUT)[-1] > 0.75
