"""Laws of the segment norm and its path: proximal map, dual norm, certificate, lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genesig.genome import Genome
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.structured.stretches import Stretches, with_stretches
from genesig.optim.training import TrainingSets, training_sets

Array = np.ndarray[Any, Any]
EXACT_SOLVER: dict[str, Any] = {"solver": "landweber-newton", "tolerance": 1e-9}


def norm(seed: int, d: int, jump: float) -> Stretches:
    """Return a norm of features on up to four chromosomes, in no order."""
    rng = np.random.default_rng(seed)
    return Stretches(Genome.from_columns(d, rng.integers(4, size=d), rng.random(d)), jump)


def intervals(genome: Genome) -> list[slice]:
    """Return every stretch there is, as places in the order of the genome."""
    ends = [*genome.starts[1:], len(genome.order)]
    return [
        slice(a, b)
        for start, end in zip(genome.starts, ends, strict=True)
        for a in range(start, end)
        for b in range(a + 1, end + 1)
    ]


@given(seed=st.integers(0, 10_000), d=st.integers(1, 30), jump=st.sampled_from([0.0, 0.5, 3.0]))
def test_dual_norm_equals_the_best_segment(seed: int, d: int, jump: float) -> None:
    omega = norm(seed, d, jump)
    g = np.random.default_rng(seed).normal(size=d)
    all_segments = [
        abs(g[part].sum()) / (part.stop - part.start + 2 * jump) for part in intervals(omega.genome)
    ]
    assert omega.dual(g) == pytest.approx(max(all_segments), rel=1e-12)
    assert omega.dual(np.zeros(d)) == 0
    b = np.round(np.random.default_rng(seed + 1).normal(size=d))
    assert abs(b @ g) <= omega.value(b) * omega.dual(g) + 1e-12
    part = intervals(omega.genome)[int(np.argmax(all_segments))]
    atom = np.zeros(d)
    atom[part] = 1.0
    assert omega.value(atom) == pytest.approx(part.stop - part.start + 2 * jump)


@given(
    seed=st.integers(0, 10_000),
    d=st.integers(1, 40),
    jump=st.sampled_from([0.0, 0.5, 3.0]),
    level=st.floats(1e-3, 3),
)
def test_the_proximal_map_is_the_identity_less_a_projection(
    seed: int, d: int, jump: float, level: float
) -> None:
    """Moreau: z - b is in the dual ball of this radius, and <b, z - b> = level Omega(b)."""
    omega = norm(seed, d, jump)
    z = np.round(3 * np.random.default_rng(seed).normal(size=d), 1)
    b = omega.prox(z, level)
    assert omega.dual(z - b) <= level * (1 + 1e-10)
    assert b @ (z - b) == pytest.approx(level * omega.value(b), abs=1e-10)


@given(seed=st.integers(0, 10_000), d=st.integers(1, 40))
def test_pattern_holds_all_nonzero_coefficients(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    omega = norm(seed, d, 1.0)
    b = np.repeat(rng.integers(-1, 2, size=d), 3)[:d].astype(float)
    pattern = omega.pattern(b)
    np.testing.assert_array_equal(pattern.spread(d), b)
    assert not np.isin(pattern.first[pattern.joined], omega.genome.starts).any()
    subset = rng.random(len(pattern.level)) < 0.5
    np.testing.assert_array_equal(
        omega.pattern(pattern.take(subset).spread(d)).joined, pattern.take(subset).joined
    )


def problem(seed: int, jump: float, n: int = 24, d: int = 60) -> tuple[TrainingSets, Genome]:
    """Return two training sets of a signal in a stretch, some features twice or thrice alike."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + 5
    X[:, 1] = X[:, 0]
    X[:, 5:8] = X[:, 4:5] * np.array([1.0, -1.0, 2.0])
    places = rng.permutation(d)
    in_segment = (places >= 10) & (places < 22)
    Y = X[:, in_segment].sum(axis=1)[:, None] / 4 + rng.normal(size=(n, 2))
    rows = rng.random((n, 2)) < 0.8
    rows[:4] = True
    sets = training_sets(X, Y, rows, centre=True, unit_variance=bool(seed % 2))
    genome = Genome.from_columns(d, np.where(places < d // 2, "1", "X"), places)
    return with_stretches(sets, Stretches(genome, jump)), genome


def solve_path(sets: TrainingSets, shares: list[float], mu: float, **how: Any) -> Path:
    return path(sets, np.outer(sets.tau_max, shares), mu * sets.norm[:, None], **EXACT_SOLVER | how)


def coefficients(fits: Path, k: int, m: int, d: int = 60) -> Array:
    b = np.zeros(d)
    b[fits.coef(k, m)[0]] = fits.coef(k, m)[1]
    return b


@given(
    seed=st.integers(0, 10_000),
    jump=st.sampled_from([0.0, 1.0, 5.0]),
    mu=st.sampled_from([1e-6, 1e-2, 1.0]),
)
def test_every_fit_is_certified_and_tau_max_is_sharp(seed: int, jump: float, mu: float) -> None:
    sets, _ = problem(seed, jump)
    fits = solve_path(sets, [1 + 1e-9, 1 - 1e-3, 0.3, 0.05], mu)
    assert fits.gap.max() <= 1e-9, fits.message
    assert (fits.sizes()[:, 0] == 0).all()
    assert (fits.sizes()[:, 1] >= 1).all()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("jump", [0.0, 2.0])
@pytest.mark.parametrize("mu", [1e-4, 1e-1])
@pytest.mark.parametrize("seed", range(3))
def test_segment_minimum_equals_clarabel(seed: int, mu: float, jump: float) -> None:
    cvxpy = pytest.importorskip("cvxpy")
    sets, genome = problem(seed, jump)
    share = float(np.random.default_rng(seed).uniform(0.02, 0.7))
    fits = solve_path(sets, [share], mu)
    for k in range(2):
        rows = sets.rows[:, k]
        b = cvxpy.Variable(60)
        Z = sets.standardised(k)[rows]
        y = sets.Y[rows, k]
        parts = [cvxpy.hstack([0, b[part], 0]) for part in genome.columns_by_chromosome()]
        rough = cvxpy.norm1(b) + jump * sum(cvxpy.norm1(cvxpy.diff(part)) for part in parts)
        loss = cvxpy.sum_squares(y - Z @ b) / len(y) + mu * sets.norm[k] * cvxpy.sum_squares(b)
        loss += share * sets.tau_max[k] * rough
        best = cvxpy.Problem(cvxpy.Minimize(loss)).solve(
            solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13
        )
        b.value = coefficients(fits, k, 0)
        assert loss.value == pytest.approx(best, rel=1e-8)


def test_segments_without_end_cost_equal_the_lasso() -> None:
    sets, _ = problem(3, 0.0)
    plain = training_sets(sets.X, sets.Y, sets.rows, centre=True, unit_variance=True)
    np.testing.assert_allclose(sets.tau_max, plain.tau_max, rtol=1e-12)
    segment_fits = solve_path(sets, [0.5, 0.1], 1e-2)
    lasso_fits = solve_path(plain, [0.5, 0.1], 1e-2)
    np.testing.assert_array_equal(segment_fits.indices, lasso_fits.indices)
    np.testing.assert_allclose(segment_fits.values, lasso_fits.values, atol=1e-7)


def test_features_without_neighbours_equal_a_lasso_with_both_end_costs() -> None:
    sets, _ = problem(1, 0.0)
    alone = with_stretches(
        sets, Stretches(Genome.from_columns(60, [f"of {j}" for j in range(60)], None), 2.0)
    )
    np.testing.assert_allclose(5 * alone.tau_max, sets.tau_max, rtol=1e-12)
    lone_fits = solve_path(alone, [0.3], 1e-3)
    segment_fits = solve_path(sets, [0.3], 1e-3)
    np.testing.assert_array_equal(lone_fits.indices, segment_fits.indices)
    np.testing.assert_allclose(lone_fits.values, segment_fits.values, atol=1e-7)


def test_the_order_of_the_columns_changes_nothing() -> None:
    sets, genome = problem(2, 2.0)
    mixed = np.random.default_rng(0).permutation(60)
    place = np.argsort(genome.order)
    reordered_sets = training_sets(
        sets.X[:, mixed], sets.Y, sets.rows, centre=True, unit_variance=False
    )
    number = np.searchsorted(genome.starts, place, side="right")[mixed]
    reordered_sets = with_stretches(
        reordered_sets, Stretches(Genome.from_columns(60, number, place[mixed].astype(float)), 2.0)
    )
    fits = solve_path(sets, [0.2], 1e-3)
    two = solve_path(reordered_sets, [0.2], 1e-3)
    for k in range(2):
        np.testing.assert_allclose(
            coefficients(two, k, 0), coefficients(fits, k, 0)[mixed], atol=1e-7
        )


def test_a_row_ends_after_its_first_long_list() -> None:
    sets, _ = problem(4, 2.0)
    shares = [0.9, 0.3, 0.1, 0.01]
    full_path = solve_path(sets, shares, 1e-2)
    cut = solve_path(sets, shares, 1e-2, longest=12)
    over = np.logical_or.accumulate(full_path.sizes() > 12, axis=1)
    assert over.any()
    assert not over.all()
    np.testing.assert_array_equal(cut.iterations < 0, over)
    np.testing.assert_array_equal(cut.sizes(), np.where(over, 0, full_path.sizes()))


def test_a_stretch_is_found_where_single_features_say_little() -> None:
    """Forty of 400 features with a correlation of about .15 each, five draws."""
    shares_inside = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(60, 400))
        y = Z[:, 120:160].sum(axis=1) / 6 + rng.normal(size=60)
        sets = training_sets(Z, y[:, None], np.ones((60, 1), bool), centre=True, unit_variance=True)
        sets = with_stretches(
            sets, Stretches(Genome.from_columns(400, np.arange(400) // 100, None), 5.0)
        )
        fit = solve_path(sets, [0.6], 1e-6)
        in_segment = (fit.coef(0, 0)[0] >= 120) & (fit.coef(0, 0)[0] < 160)
        shares_inside.append((in_segment.sum() / 40, in_segment.mean()))
    share, right = np.mean(shares_inside, axis=0)
    assert share > 0.7
    assert right > 0.7
