"""Penalties on derivative norms: proximal map, conjugate and duality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genesig.arrays import row_squares
from genesig.compiled.descent import DualBounds, gap_bound
from genesig.optim.nonlinear.metric import Metric, make_memory
from genesig.optim.nonlinear.problem import PENALTIES, Penalty

N_SAMPLES = 5
N_FEATURES = 6
BLOCK = np.array([0, 1, 0, 2, 2, 1])
WEIGHTS = np.array([1.0, 2.0, 0.5])
TAU = 1.3
MU = 0.4

member = pytest.mark.parametrize("name", PENALTIES)
law = settings(max_examples=2 * settings().max_examples)


def penalty(name, tau=TAU):
    return PENALTIES[name](tau, N_SAMPLES, BLOCK, WEIGHTS, MU)


def arrays(seed, size):
    rng = np.random.default_rng(seed)
    return [size * rng.normal(size=(N_FEATURES, N_SAMPLES)) for _ in range(2)]


# From the lengths of the rows of φ and of its blocks, at tau 1.
FORMULAS = {
    "lasso": lambda rows, blocks: rows.sum() / np.sqrt(N_SAMPLES),
    "group": lambda rows, blocks: WEIGHTS @ blocks / np.sqrt(N_SAMPLES),
    "elastic": lambda rows, blocks: (
        MU / np.sqrt(N_SAMPLES) * rows.sum() + (1 - MU) / N_SAMPLES * (rows**2).sum()
    ),
}


@member
def test_value_is_the_published_formula(name):
    assert name in FORMULAS, f"FORMULAS above: no line for {name}"
    phi, _ = arrays(0, 1.0)
    rows = np.linalg.norm(phi, axis=1)
    blocks = np.array([np.linalg.norm(phi[block == BLOCK]) for block in range(3)])
    expected = TAU * FORMULAS[name](rows, blocks)
    assert penalty(name).value(row_squares(phi)) == pytest.approx(expected, rel=1e-14)


@member
@law
@given(seed=st.integers(0, 9999), size=st.sampled_from([0.1, 1.0, 10.0]), step=st.floats(0.05, 20))
def test_moreau(name, seed, size, step):
    """v = prox_{tΩ}(v) + t prox_{Ω*/t}(v/t)."""
    v, _ = arrays(seed, size)
    omega = penalty(name)
    moreau_sum = omega.prox(v, step) + step * omega.prox_conjugate(v / step, 1 / step)
    np.testing.assert_allclose(moreau_sum, v, atol=1e-12 * size)


@member
@law
@given(seed=st.integers(0, 9999), size=st.sampled_from([0.1, 1.0, 10.0]), step=st.floats(0.05, 20))
def test_prox_is_the_minimum(name, seed, size, step):
    v, w = arrays(seed, size)
    omega = penalty(name)

    def total(u):
        return omega.value(row_squares(u)) + np.sum((u - v) ** 2) / (2 * step)

    u = omega.prox(v, step)
    for candidate in (w, v, u + 1e-3 * w, np.zeros_like(v)):
        assert total(u) <= total(candidate) * (1 + 1e-12)


@member
@law
@given(seed=st.integers(0, 9999), size=st.sampled_from([0.1, 1.0, 10.0]))
def test_fenchel_young_with_equality_at_a_subgradient(name, seed, size):
    v, w = arrays(seed, size)
    omega = penalty(name)
    q = omega.prox_conjugate(w, 1.0)
    bound = omega.value(row_squares(v)) + omega.conjugate(row_squares(q))
    assert bound >= np.vdot(q, v) - 1e-10 * size**2
    u = omega.prox(v, 1.0)
    pair = omega.value(row_squares(u)) + omega.conjugate(row_squares(v - u))
    assert pair == pytest.approx(np.vdot(v - u, u), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["lasso", "group"])
def test_conjugate_of_norms_is_an_indicator(name):
    omega = penalty(name)
    q = omega.prox_conjugate(arrays(1, 10.0)[0], 1.0)
    assert omega.conjugate(row_squares(q)) == 0
    assert omega.conjugate(row_squares(1.001 * q)) == np.inf


def test_part_of_a_penalty_is_the_penalty_of_the_part():
    phi, _ = arrays(2, 1.0)
    omega = penalty("group")
    subset = np.array([0, 2, 3, 4])
    alone = phi.copy()
    alone[[1, 5]] = 0
    expected = omega.value(row_squares(alone))
    assert omega.take(subset).value(row_squares(phi[subset])) == pytest.approx(expected)


def test_gap_bound_of_unbounded_and_bounded_rows_is_the_formula():
    """Ω + Ω* - <q, φ>; unbounded rows count by the inequality of Cauchy and Schwarz."""
    q, phi = arrays(3, 1.0)
    n_unbounded = 2
    block = np.array([0, 1, 0, 1])
    radius = np.array([0.7, 1.9])
    curvature = 0.3
    unbounded_radius = 2.5
    conjugate = 0.4
    bounds = DualBounds(n_unbounded, block, radius, curvature, unbounded_radius)
    metric = Metric(np.eye(N_SAMPLES), np.ones(N_SAMPLES), np.zeros(N_SAMPLES))
    omega = Penalty(radius, block, curvature)
    memory = make_memory(metric, q, omega)
    memory.slopes[0] = phi.ravel()
    memory.conjugate[0] = conjugate
    unbounded_square = np.square(phi[:n_unbounded]).sum()
    unbounded_part = unbounded_radius * np.sqrt(unbounded_square) + curvature / 2 * unbounded_square
    bounded_part = omega.value(row_squares(phi[n_unbounded:]))
    expected = bounded_part + unbounded_part + conjugate - np.vdot(q, phi)
    assert gap_bound(bounds, memory, 0) == pytest.approx(expected, rel=1e-13)
