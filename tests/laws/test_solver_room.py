"""Many correlated genes enlarge neither memory nor the lists of other columns.

What a column of the solver knows takes room for inner products of each pair. Where one sample
outshines all others, thousands of genes are beyond their share of the largest gradient at once.
"""

import tracemalloc

import numpy as np
import pytest

from genesig.optim.solvers import newton, path
from genesig.optim.training import training_sets

pytestmark = pytest.mark.slow

N_SAMPLES = 40
N_FEATURES = 4000


def outshone(seed, columns=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES)) + 30 * rng.normal(size=(N_SAMPLES, 1)) ** 3
    y = np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)
    Y = np.column_stack([rng.permuted(y) for _ in range(columns)])
    rows = np.ones((N_SAMPLES, columns), dtype=bool)
    return training_sets(X, Y, rows, centre=True, unit_variance=True)


def solve_path(sets):
    tau = np.geomspace(0.8, 0.014, 10) * sets.tau_max[:, None]
    mu = np.repeat(1e-6 * sets.norm[:, None], 10, axis=1)
    return path(sets, tau, mu, solver="landweber-newton", tolerance=1e-9)


@pytest.fixture
def rooms(monkeypatch):
    room_sizes = []
    room = newton._pool_arrays

    def watched(columns, n_known, width):
        room_sizes.append((columns, n_known))
        return room(columns, n_known, width)

    monkeypatch.setattr(newton, "_pool_arrays", watched)
    return room_sizes


def test_no_more_features_enter_together_than_there_are_samples(rooms):
    """Thousands did, of which a dozen stayed: 2.6 GB for 102 samples and 12,600 genes."""
    solution = solve_path(outshone(0))
    assert solution.gap.max() < 1e-12
    assert solution.sizes().max() > N_SAMPLES
    assert max(n_known for _, n_known in rooms) < 8 * N_SAMPLES


def test_one_large_column_does_not_enlarge_all_columns():
    """The list of one column is longer than a thousand: six such would take 600 MB."""
    sets = outshone(1, columns=6)
    tracemalloc.start()
    solution = solve_path(sets)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.sizes().max() > 1000
    assert peak < 300e6
    assert solution.gap.max() < 1e-11
