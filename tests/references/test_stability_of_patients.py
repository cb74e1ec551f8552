"""Stability from one study against that of lists from independent patients."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from genesig.optim.solvers import path
from genesig.optim.training import training_sets
from genesig.selection.assess.stability import pair_stability, stability

N, GENES, PAIRS = 40, 200, 25
WEAK, STRONG = (0.35, 10), (1.2, 5)
"""Shift of the informative genes and their number."""


def draw(rng, n, signal):
    size, genes = signal
    y = np.repeat([-1.0, 1.0], n // 2)
    X = rng.standard_normal((n, GENES))
    X[:, :genes] += size * y[:, None]
    return X, y


def select(X, y, rows):
    """Return the minimal list of each training set, at one fraction of tau_max."""
    Y = np.tile(y[:, None], rows.shape[1])
    sets = training_sets(X, Y, rows, centre=True, unit_variance=True)
    tau, mu = 0.4 * sets.tau_max[:, None], 1e-6 * sets.norm[:, None]
    found = path(sets, tau, mu, solver="landweber-newton", tolerance=1e-9)
    held = np.ones(len(found.indices))
    return csr_array((held, found.indices, found.indptr), shape=(rows.shape[1], GENES))


def halves(rng, y, pairs):
    """Return the rows of pairs of halves, classes alike, one pair after the other."""
    part = np.array([np.lexsort((rng.random(len(y)), y)) for _ in range(pairs)])
    first = np.zeros((pairs, len(y)), dtype=bool)
    np.put_along_axis(first, part[:, ::2], True, axis=1)
    return np.stack([first, ~first], axis=1).reshape(2 * pairs, -1).T


def of_patients(rng, signal, studies=400):
    """Return the stability of lists from independent studies of half the size."""
    whole = np.ones((N // 2, 1), dtype=bool)
    lists = [select(*draw(rng, N // 2, signal), whole) for _ in range(studies)]
    return stability(vstack(lists, format="csr")).value


def measured(rng, signal, studies):
    """Return of each study: stability of pairs, that of all halves as if they were independent."""
    found = []
    for seed in range(studies):
        X, y = draw(rng, N, signal)
        lists = select(X, y, halves(rng, y, PAIRS))
        found.append((pair_stability(lists, seed), stability(lists)))
    return zip(*found, strict=True)


def test_halves_are_disjoint_and_hold_both_classes():
    y = np.repeat([-1.0, 1.0], N // 2)
    rows = halves(np.random.default_rng(0), y, 3)
    assert (rows[:, 0::2] ^ rows[:, 1::2]).all()
    assert (y @ rows == 0).all()
    assert all((one != two).any() for one, two in pairwise(rows.T[::2]))


@pytest.mark.parametrize("signal", [WEAK, STRONG], ids=["weak", "strong"])
@pytest.mark.parametrize("studies", [250, pytest.param(1500, marks=pytest.mark.slow)])
def test_pairs_tell_how_lists_of_other_patients_agree(signal, studies):
    rng = np.random.default_rng(1)
    truth = of_patients(rng, signal, 400 if studies < 1000 else 2000)
    pairs, overlapping = measured(rng, signal, studies)
    values = [found.value for found in pairs]
    assert np.mean(values) == pytest.approx(truth, abs=0.03)
    inflated = np.mean([found.value for found in overlapping])
    assert inflated > truth + 0.04  # halves of different pairs share half of their samples
    covered = np.mean([found.low <= truth <= found.high for found in pairs])
    assert covered < 0.8  # the error of resampling says nothing of other patients


@pytest.mark.parametrize("signal", [WEAK, STRONG], ids=["weak", "strong"])
def test_the_interval_holds_what_endless_halving_of_the_same_samples_would_give(signal):
    rng = np.random.default_rng(2)
    X, y = draw(rng, N, signal)
    every = select(X, y, halves(rng, y, 2000))
    truth = pair_stability(every, 0).value
    held = []
    for seed in range(300):
        pairs = rng.choice(2000, PAIRS, replace=False)
        some = every[np.stack([2 * pairs, 2 * pairs + 1], axis=1).ravel()]
        found = pair_stability(some, seed)
        held.append(found.low <= truth <= found.high)
    assert 0.88 <= np.mean(held) <= 0.98
