"""Solvers of the dual, each from an instance and a start to multipliers and their gap.

``admm``:

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

``compressed``: while a feature's bound ||q_a|| ≤ r_g is not reached, its multipliers are q_a =
Θ'x_a with the same Θ for all (see `Multipliers`). So a step works on the active features and on n
"rotated" ones that stand for all the others, whose bound is left out; all d features are gone
through only to look for those that break it, which then become active. At the end nothing breaks
it, and the gap is taken over all d features: the answer is exact, not an approximation.

Source: the Kronecker structure of gradient Gram matrices (de Roos, Gessner and Hennig, 2021).

``projection``:

    f <- prox of Ω/(2σ) at f - (1/2σ) ∇(loss + ν||f||²), σ ≥ λ_max(K)/n + ν

Forward, in weights: α <- (1 - ν/σ) α - (f - y)/(n σ), b = (1 - ν/σ) β. The prox is f - Z*q/(2σ),
β = b - q/(2σ), with q from an accelerated projected gradient over all blocks at once, warm
started, its gradient being the partial derivatives of f - Z*q/(2σ).

The forward step is 1/σ times S*(Sf - y), not 1/(2σ) as printed: the printed iteration solves the
problem with tau doubled. Blocks are coupled, so the printed loop over j around the inner
iteration does not converge to the prox either.

Source: Rosasco et al. (2010), algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.optim.kernels import directional, pull, values
from genesig.optim.nonlinear.instance import Instance
from genesig.optim.nonlinear.metric import MARGIN, Dense, accelerate, largest_eigenvalue, row_space
from genesig.optim.nonlinear.multipliers import Multipliers, certify, gap
from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.problem import Gradient, Problem

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


ENOUGH = 0.9
"""Share of the gap that is asked for at which the steps end."""
FIRST = 1e-3
"""Relative gap at which the bounds are looked at for the first time; then a tenth each time."""


def compressed(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Solve for one tau; about 6 n² (n + active) flops a step, no array of d × n."""
    X = instance.X
    q = start
    steps = 0
    relaxed = None
    target = max(FIRST, tolerance)
    while steps < max_iterations:
        squares = q.squares(X)
        broken = penalty.norms(squares) > penalty.radius
        features = np.flatnonzero(broken[penalty.block])
        new = np.setdiff1d(features, q.active)
        if len(new) == 0 and steps > 0:
            found = certify(instance.problem, penalty, X, instance.inner, q, squares)
            if found.gap <= tolerance * instance.scale:
                break
        if relaxed is None or len(new):
            q = q.join(X, new)
            relaxed = _Relaxed.of(instance, penalty, q)
        q, more = relaxed.solve(q, target, max_iterations - steps)
        steps += more
        # less than asked for, because the representation of the inactive part has its rounding
        least = ENOUGH * tolerance
        target = max(target / 10, least) if len(new) or target > tolerance else target / 3
    return q, steps


@dataclass(frozen=True)
class _Relaxed:
    """The problem with bounds on the active features only.

    `rotated` (n, r) stands for the others: same inner products, no bound. `slack` is
    sqrt(Σ r_g²) over their blocks, so that Σ r_g ||φ_g|| ≤ slack ||φ||.
    """

    instance: Instance
    features: Array
    rotated: Array
    unrotate: Array
    bounded: Penalty
    slack: float

    @classmethod
    def of(cls, instance: Instance, penalty: Penalty, q: Multipliers) -> _Relaxed:
        own = instance.X[:, q.active]
        V, s = row_space(instance.inner - own @ own.T)
        if len(q.active) == instance.X.shape[1]:
            V = V[:, :0]
            s = s[:0]
        bounded = penalty.take(q.active)
        rest = penalty.radius @ penalty.radius - bounded.radius @ bounded.radius
        features = np.hstack([V * s, own])
        slack = float(np.sqrt(max(rest, 0)))
        return cls(instance, features, V * s, V / s, bounded, slack)

    def solve(self, q: Multipliers, tolerance: float, max_steps: int) -> tuple[Multipliers, int]:
        """Step until the bound on the gap is within the tolerance."""
        instance = self.instance
        free = self.rotated.shape[1]
        basis = instance.metric.basis
        goal = tolerance * instance.scale
        both = np.concatenate([self.rotated.T @ q.theta, self.bounded.within(q.values)])
        found, steps = accelerate(
            Gradient(instance.problem, self.features, basis),
            self.bounded,
            instance.metric,
            both @ basis,
            lambda gap: gap <= goal,
            max_steps,
            free=free,
            slack=self.slack,
        )
        both = found @ basis.T
        return Multipliers(self.unrotate @ both[:free], q.active, both[free:]), steps


def fista(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Solve for one tau; 4 n² (n + d) flops a step, O(n² + n d) memory.

    Fast for a Gaussian kernel of about the median distance (tens of steps), slow for cubic
    polynomials and wide kernels, whose M is ill conditioned.
    """
    X = instance.X
    basis = instance.metric.basis
    goal = tolerance * instance.scale
    q = penalty.within(start.dense(X))
    found, steps = accelerate(
        Gradient(instance.problem, X, basis),
        penalty,
        instance.metric,
        q @ basis,
        lambda gap: gap <= goal,
        max_iterations,
    )
    return Multipliers.full(found @ basis.T), steps


INNER_STEPS = 500
"""Most steps of one inner problem, and the forward steps between two looks at the gap."""
INNER_LOOK = 10
"""Inner steps between two looks at their gap, each of which must bring it down."""
INNER_SHARE = 1e-3
"""Gap of an inner problem over the gap that is asked for."""


@dataclass(frozen=True)
class _Function:
    """f by its weights α (n,) and β (d, n)."""

    alpha: Array
    beta: Array

    def plus(self, other: _Function, times: float) -> _Function:
        """Return f + times (f - other)."""
        return _Function(
            self.alpha + times * (self.alpha - other.alpha),
            self.beta + times * (self.beta - other.beta),
        )


def projection(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Solve for one tau by the accelerated Alg1; kept as the reference it was published as."""
    X = instance.X
    problem = instance.problem
    n = problem.n
    nu = problem.nu
    sigma = float(problem.eigenvalues[-1]) / n * MARGIN + nu
    inner_step = 2 * sigma / (MARGIN * _gradient_norm(problem, X))
    q = penalty.within(start.dense(X))
    found = _Function(problem.expand(X @ q).alpha, -q / (2 * nu))
    ahead = found
    t = 1.0
    accuracy = INNER_SHARE * tolerance * instance.scale
    for iteration in range(1, max_iterations + 1):
        f = _values(problem, X, ahead)
        shrunk = _Function(
            (1 - nu / sigma) * ahead.alpha - (f - problem.y) / (n * sigma),
            (1 - nu / sigma) * ahead.beta,
        )
        new = _backward(problem, penalty, X, shrunk, q, sigma, inner_step, accuracy)
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead = new.plus(found, (t - 1) / following)
        t = following
        found = new
        if iteration % LOOK_EVERY == 0:
            if gap(penalty, q, problem.gradient(X, q)) <= tolerance * instance.scale:
                return Multipliers.full(q), iteration
            if iteration % INNER_STEPS == 0:
                ahead = found
                t = 1.0
    return Multipliers.full(q), max_iterations


def _backward(
    problem: Problem,
    penalty: Penalty,
    X: Array,
    f: _Function,
    q: Array,
    sigma: float,
    step: float,
    accuracy: float,
) -> _Function:
    """Return the prox of Ω/(2σ) at f; q is the start and is overwritten by its multipliers.

    Accelerated as published, and restarted where a step turns back (O'Donoghue and Candès 2015).
    """
    z = q.copy()
    t = 1.0
    before = np.inf
    for step_number in range(1, INNER_STEPS + 1):
        phi = _derivatives(problem, X, _Function(f.alpha, f.beta - z / (2 * sigma)))
        new = penalty.prox_conjugate(z + step * phi, step)
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        back = np.vdot(z - new, new - q) > 0
        t, momentum = (1.0, 0.0) if back else (following, (t - 1) / following)
        z = new + momentum * (new - q)
        q[:] = new
        if step_number % INNER_LOOK == 0:
            phi = _derivatives(problem, X, _Function(f.alpha, f.beta - q / (2 * sigma)))
            inner = gap(penalty, q, phi)
            if inner >= 0.99 * before or inner <= accuracy:
                break
            before = inner
    return _Function(f.alpha, f.beta - q / (2 * sigma))


def _direction(problem: Problem, X: Array, f: _Function) -> Array:
    U = X @ f.beta
    return directional(problem.table, U, np.diag(U))


def _values(problem: Problem, X: Array, f: _Function) -> Array:
    return values(problem.table, _direction(problem, X, f), f.alpha)


def _derivatives(problem: Problem, X: Array, f: _Function) -> Array:
    E = pull(problem.table, _direction(problem, X, f), f.alpha)
    if problem.table.stationary:
        E[np.diag_indices(problem.n)] -= E.sum(axis=1)
    out: Array = f.beta @ problem.table.first + X.T @ E.T
    return out


def _gradient_norm(problem: Problem, X: Array) -> float:
    """λ_max(L)."""
    nothing = np.zeros(problem.n)
    return largest_eigenvalue(lambda q: _derivatives(problem, X, _Function(nothing, q)), X)


DENSE_LIMIT = 5000
"""Largest n (d + 1) for a dense Cholesky factor: 0.2 GB and a second."""
PATIENCE = 500
"""Iterations of ADMM whose cost quicker steps may spend before their gap has stalled."""


def automatic(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Use `compressed`, also for d ≤ n, where it takes fewer steps; `admm` where it stalls."""
    n, d = instance.X.shape
    if n * (d + 1) > DENSE_LIMIT:
        return compressed(instance, penalty, start, tolerance, max_iterations)
    # a solve with the factor takes 2 (n d)² flops, a step 6 n² (features of the step)
    dearer = d * d / (3 * min(d, 2 * n))
    patience = int(min(max(1000, PATIENCE * dearer), max_iterations / 2))
    q, steps = compressed(instance, penalty, start, tolerance, patience)
    squares = q.squares(instance.X)
    found = certify(instance.problem, penalty, instance.X, instance.inner, q, squares)
    if found.gap <= tolerance * instance.scale or steps >= max_iterations:
        return q, steps
    q, more = admm(instance, penalty, q, tolerance, max_iterations - steps)
    return q, steps + more


Solver = Callable[[Instance, Penalty, Multipliers, float, int], tuple[Multipliers, int]]

SOLVERS: dict[str, Solver] = {
    "auto": automatic,
    "compressed": compressed,
    "fista": fista,
    "admm": admm,
    "projection": projection,
}
"""(instance, penalty, start, relative gap, most iterations) -> (multipliers, iterations)."""
