"""Stability from one study against that of lists from independent patients."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from genesig.optim.solvers import path
from genesig.optim.training import training_sets
from genesig.selection.assess.stability import PairAgreement, list_agreement

pytestmark = pytest.mark.slow

N_SAMPLES = 40
N_GENES = 200
PAIRS = 25
WEAK_SIGNAL = (0.35, 10)
STRONG = (1.2, 5)
"""Shift of the informative genes and their number."""


def draw(rng, n, signal):
    size, genes = signal
    y = np.repeat([-1.0, 1.0], n // 2)
    X = rng.standard_normal((n, N_GENES))
    X[:, :genes] += size * y[:, None]
    return X, y


def select(X, y, rows):
    """Return the minimal list of each training set, at one fraction of tau_max."""
    Y = np.tile(y[:, None], rows.shape[1])
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    tau = 0.4 * sets.tau_max[:, None]
    mu = 1e-6 * sets.norm[:, None]
    fits = path(sets, tau, mu, solver="landweber-newton", tolerance=1e-9)
    equal_weights = np.ones(len(fits.indices))
    return csr_array((equal_weights, fits.indices, fits.indptr), shape=(rows.shape[1], N_GENES))


def halves(rng, y, pairs):
    """Return the rows of pairs of halves, classes alike, one pair after the other."""
    part = np.array([np.lexsort((rng.random(len(y)), y)) for _ in range(pairs)])
    is_first_half = np.zeros((pairs, len(y)), dtype=bool)
    np.put_along_axis(is_first_half, part[:, ::2], True, axis=1)
    return np.stack([is_first_half, ~is_first_half], axis=1).reshape(2 * pairs, -1).T


def of_patients(rng, signal, studies=800):
    """Return the stability of lists from independent studies of half the size."""
    all_rows = np.ones((N_SAMPLES // 2, 1), dtype=bool)
    lists = [select(*draw(rng, N_SAMPLES // 2, signal), all_rows) for _ in range(studies)]
    return PairAgreement.from_lists(vstack(lists, format="csr")).stability()


def measure_stability(rng, signal, studies):
    """Return of each study: stability of pairs, that of all halves as if they were independent."""
    agreements = []
    for _ in range(studies):
        X, y = draw(rng, N_SAMPLES, signal)
        lists = select(X, y, halves(rng, y, PAIRS))
        agreements.append((PairAgreement.from_lists(lists).stability(), list_agreement(lists)))
    return zip(*agreements, strict=True)


def test_halves_are_disjoint_and_hold_both_classes():
    y = np.repeat([-1.0, 1.0], N_SAMPLES // 2)
    rows = halves(np.random.default_rng(0), y, 3)
    assert (rows[:, 0::2] ^ rows[:, 1::2]).all()
    assert (y @ rows == 0).all()
    assert all((half != two).any() for half, two in pairwise(rows.T[::2]))


@pytest.mark.parametrize("signal", [WEAK_SIGNAL, STRONG], ids=["weak", "strong"])
def test_pairs_tell_how_lists_of_other_patients_agree(signal):
    rng = np.random.default_rng(1)
    truth = of_patients(rng, signal)
    pairs, overlapping = measure_stability(rng, signal, studies=250)
    assert np.mean(pairs) == pytest.approx(truth, abs=0.03)
    inflated = np.mean(overlapping)
    assert inflated > truth + 0.04  # halves of different pairs share half of their samples
