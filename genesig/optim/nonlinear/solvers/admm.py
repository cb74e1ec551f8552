"""NVSD: alternating directions on φ = Z w, with the first step in Schur form.

    S1  (G + diag(n ν I, (2ν/κ) I)) w = (y, φ - λ), reduced to (M + (2ν/κ) I) β = φ - λ - φ_y
    S2  φ = prox of Ω/κ at Z w + λ
    S3  λ <- λ + Z w - φ, so that q = κ λ is feasible

The printed S1, (2νG + (2/n) F'F + κ Z'Z) w = (2/n) F'y + κ Z'(φ - λ), is the same system times
G: twice the flops and the condition number squared. λ is the scaled dual variable and is divided
when κ grows, which the paper omits.

Three things that the paper leaves open make it about eight times quicker along a path than its
own rule (κ doubled or halved from the step length): κ starts at the scale of q over that of φ,
moves by the root of the residuals' ratio, and S2 is over-relaxed.

Source: Gregorova et al. (2018), section 4.2; Boyd et al. (2010), section 3.4; Wohlberg (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.nonlinear.instance import Instance
from genesig.optim.nonlinear.metric import Dense
from genesig.optim.nonlinear.multipliers import Multipliers, gap
from genesig.optim.nonlinear.penalties import Penalty

RELAXATION = 1.5
"""Weight of Z w against the φ before it in S2; between 1 and 2."""
LOOK_EVERY = 5
"""Iterations between two looks at the gap and at κ."""
FROZEN_AFTER = 300
"""Iterations after which κ stays, because the rule is a heuristic that may cycle."""


@dataclass
class _State:
    phi: Array
    dual: Array
    kappa: float
    factor: Any


def admm(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Solve for one tau with a dense Cholesky factor; 8 (n d)² bytes, so for n (d + 1) ≤ 5000.

    Its iterations (tens to hundreds) hardly depend on the conditioning of M, which makes it the
    fallback where accelerated gradients stall.
    """
    problem = instance.problem
    dense = instance.dense
    q = penalty.within(start.dense(instance.X))
    kappa = _first_kappa(instance, penalty)
    state = _State(np.zeros_like(q), q / kappa, kappa, dense.factor(problem.nu, kappa))
    for iteration in range(1, max_iterations + 1):
        primal, other = _iterate(state, dense, penalty, problem.nu)
        if iteration % LOOK_EVERY == 0:
            q = state.kappa * state.dual
            if gap(penalty, q, problem.gradient(instance.X, q)) <= tolerance * instance.scale:
                return Multipliers.full(q), iteration
            if iteration < FROZEN_AFTER:
                _balance(state, dense, problem.nu, primal, other)
    return Multipliers.full(q), max_iterations


def _first_kappa(instance: Instance, penalty: Penalty) -> float:
    """Return a power of two near ||q_a|| / ||φ_a||, r_a over √n σ_y/σ_x."""
    n, d = instance.X.shape
    slope = np.sqrt(n * instance.scale * n * d / np.trace(instance.inner))
    radius = np.sqrt(np.mean(np.square(penalty.radius)))
    return float(2.0 ** np.round(np.log2(radius / slope)))


def _iterate(state: _State, dense: Dense, penalty: Penalty, nu: float) -> tuple[float, float]:
    """Do S1, S2, S3; return the norms of the primal and of the dual residual.

    The dual residual κ Z'(φ - φ_old) is measured without Z, which no iterate needs.
    """
    right = state.phi - state.dual
    from scipy.linalg import cho_solve

    beta = cho_solve(state.factor, right.ravel() - dense.phi_y, check_finite=False)
    # from the system itself: Z w = M β + φ_y = φ - λ - (2ν/κ) β
    Zw = right - 2 * nu / state.kappa * beta.reshape(right.shape)
    old = state.phi
    v = RELAXATION * Zw + (1 - RELAXATION) * old + state.dual
    state.phi = penalty.prox(v, 1 / state.kappa)
    state.dual = penalty.prox_conjugate(state.kappa * v, state.kappa) / state.kappa  # Moreau
    primal = float(np.linalg.norm(Zw - state.phi))
    return primal, state.kappa * float(np.linalg.norm(state.phi - old))


def _balance(state: _State, dense: Dense, nu: float, primal: float, other: float) -> None:
    """Multiply κ by the root of the residuals' ratio (both in units of q), a power of two."""
    primal *= state.kappa
    if not min(primal, other) > 0:
        return
    change = 2.0 ** np.clip(np.round(0.5 * np.log2(primal / other)), -5, 5)
    if change != 1:
        state.kappa *= change
        state.dual = state.dual / change
        state.factor = dense.factor(nu, state.kappa)
