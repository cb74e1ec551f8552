"""The duality gap of the penalised partial likelihood: how far a fit can be from the minimum.

Each term of the likelihood has a conjugate with an explicit domain: for probabilities q_l on its
risk set, ``f_l*(q_l - base_l) = Σ_j q_lj log(q_lj / c_lj)``. So every q gives a dual value,

    -h*(u) >= -(2/n) Σ_l ω_l Σ_j q_lj log(q_lj / c_lj),   u = (2/n) Σ_l ω_l (q_l - base_l),

if ``|Z_j'u + 2 mu b_j| <= tau w_j``. At q = p(η) it is exact (Fenchel); a share s of u, which is
what makes it feasible, is had with ``s q + (1 - s) base``, a probability again.

Source: Fenchel 1949; for lassos, Ndiaye et al. 2017; the terms of Cox's likelihood: derived here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from genesig.compiled.cox import judge
from genesig.compiled.likelihood import here_for
from genesig.optim.cox.risk_sets import RiskSets

Array = np.ndarray[Any, Any]


class DualPoint(NamedTuple):
    """Probabilities q (T, n) of the terms, and u (n,), which is orthogonal to the free columns.

    None where they are those of the likelihood: nothing but sums over them is then needed.
    """

    q: Array | None
    u: Array


def dual_point(risk: RiskSets, eta: Array, C: Array) -> DualPoint:
    """Return the point at the shares of η, moved so that ``C'u = 0``, C (n, c) unpenalised.

    With ``C'H ζ = C'∇h`` for ζ in the span of C, ``q_l = p_l (1 - ζ + p_l'ζ)`` gives
    ``u = ∇h - H ζ``; far from the solution q may be negative, and the gap is infinite.
    """
    if not C.shape[1]:
        here = here_for(len(eta), len(risk.omega))
        judge(risk.terms, eta, here, 0.0)
        return DualPoint(None, here.u)
    p = risk.shares(eta)
    zeta = C @ np.linalg.lstsq(risk.hessian(p, C), C.T @ risk.gradient(p), rcond=1e-12)[0]
    q = p * (1 - zeta + (p @ zeta)[:, None])
    return DualPoint(q, risk.gradient(q))


def conjugate(risk: RiskSets, q: Array) -> float:
    """Return the bound of ``h*(u)`` from above; infinite where q is no probability."""
    from scipy.special import rel_entr

    return float(2 / q.shape[1] * (risk.omega @ rel_entr(q, risk.c).sum(axis=1)))


def null_deviance(risk: RiskSets) -> float:
    """Return ``h(0) - inf h = 2 (l_saturated - l(0)) / n``, what gaps are relative to.

    1 where it is 0 but for rounding: each event comes to all who are at risk.
    """
    n = len(risk.died)
    found = judge(risk.terms, np.zeros(n), here_for(n, len(risk.omega)), 0.0)
    return found if found > 1e-12 else 1.0


def scaling(g: Array, cut: Array) -> float:
    """Return the s that makes ``s |g_j| <= cut_j`` for every penalised feature."""
    return 1 / max(1.0, float((np.abs(g) / cut).max(initial=0.0)))


def squares(ease: float, a: Array, g: Array) -> tuple[float, float]:
    """Return ``ρ ||a||²`` and ``||C'u||² / (4 ρ)`` of columns C with a ridge ρ; 0 without one."""
    return (ease * float(a @ a), float(g @ g) / (4 * ease)) if ease else (0.0, 0.0)


def duality_gap(
    risk: RiskSets, eta: Array, dual: DualPoint, g: Array, b: Array, cut: Array, mu: float,
    of_C: tuple[float, float] = (0.0, 0.0),
) -> float:  # fmt: skip
    """Return ``Φ(b) - D(s u)``, Φ = h(η) + mu ||b||² + Σ cut_j |b_j|; not relative.

    Parameters
    ----------
    eta : (n,) array
        In the order of the risk sets.
    g : (d,) array
        ``Z'u + 2 mu b`` of all penalised features.
    b, cut : (d,) array
        Coefficients, and tau w_j > 0. All 0 at tau = 0 < mu: there the dual of the ridge penalty is
        used, D = -h*(u) - ||Z'u||² / (4 mu).
    of_C : (float, float)
        See `squares`.
    """
    square = mu * float(b @ b)
    if not cut.any():
        loss, s = square + (float(np.sum(np.square(g - 2 * mu * b))) / (4 * mu) if mu else 0), 1.0
    else:
        s = scaling(g, cut)
        loss = (1 + s * s) * square + float(cut @ np.abs(b))
    loss += of_C[0] + s * s * of_C[1]
    if dual.q is None:
        return max(judge(risk.terms, eta, here_for(len(eta), len(risk.omega)), s) + loss, 0.0)
    mixed = dual.q if s == 1 else s * dual.q + (1 - s) * risk.base
    return max(risk.value(eta) + conjugate(risk, mixed) + loss, 0.0)
