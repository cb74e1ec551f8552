"""Solvers of the dual, each from an instance and a start to its `Minimum` at one tau.

A tolerance is a duality gap relative to ||y||²/n, which is `Instance.scale`. Symbols are those of
`problem`: f has the weights w = (α, β) and the multipliers q (d, n), φ (d, n) are its derivatives
at the n samples, K and G are kernel matrices, M/2ν is the Hessian of the dual.

``admm``:

    S1  (G + diag(n ν I, (2ν/κ) I)) w = (y, φ - λ), reduced to (M + (2ν/κ) I) β = φ - λ - φ_y
    S2  φ = prox of Ω/κ at Z w + λ
    S3  λ <- λ + Z w - φ, so that q = κ λ is feasible

The printed S1, (2νG + (2/n) F'F + κ Z'Z) w = (2/n) F'y + κ Z'(φ - λ), is the same system times
G: twice the flops and the condition number squared. λ is the scaled dual variable and is divided
when κ grows, which the paper omits.

The paper doubles or halves κ from the step length. Here κ starts at the scale of q over that of φ,
moves by the root of the residuals' ratio, and S2 is over-relaxed. A path then takes about an
eighth of the time.

Source: Gregorova et al. (2018), section 4.2; Boyd et al. (2010), section 3.4; Wohlberg (2017).

``compressed``: while a feature's bound ||q_a|| ≤ r_g is not reached, its multipliers are q_a =
Θ'x_a with the same Θ for all (see `Multipliers`). So a step works on the active features and on n
"rotated" ones, which stand for all others without their bounds. All d features are scanned only
for those that break their bound, which then become active. At the end no feature breaks it, and the
gap is that of all d features: the answer is exact, not an approximation.

Source: the Kronecker structure of gradient Gram matrices (de Roos, Gessner and Hennig, 2021).

``fista``: accelerated proximal gradients over all d features at once, in the instance's metric.

``projection``:

    f <- prox of Ω/(2σ) at f - (1/2σ) ∇(loss + ν||f||²), σ ≥ λ_max(K)/n + ν

Forward, in weights: α <- (1 - ν/σ) α - (f - y)/(n σ), b = (1 - ν/σ) β. The prox is f - Z*q/(2σ),
β = b - q/(2σ). An accelerated projected gradient over all blocks at once gives q, from a warm
start. Its gradient is that of the partial derivatives of f - Z*q/(2σ).

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
from genesig.optim.kernels import directional, values
from genesig.optim.nonlinear.instance import Instance, Minimum, Multipliers, gap
from genesig.optim.nonlinear.metric import (
    EIGENVALUE_MARGIN,
    Dense,
    largest_eigenvalue,
    minimise,
    row_space,
)
from genesig.optim.nonlinear.problem import Penalty, Problem

OVER_RELAXATION = 1.5  # weight of Z w against the previous φ in S2; between 1 and 2
CHECK_INTERVAL = 5  # iterations between two checks of the gap and of κ
KAPPA_FIXED_AFTER = 300
"""Iterations after which κ no longer changes, because its rule is a heuristic that may cycle."""


@dataclass
class _State:
    """The iterate of `admm`."""

    phi: Array  # (d, n) φ
    dual: Array  # (d, n) λ, which is q/κ
    kappa: float  # κ
    factor: Any  # Cholesky factor of M + (2ν/κ) I


def admm(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> Minimum:
    """Return the minimum at one tau, by a dense Cholesky factor of 8 (n d)² bytes.

    For small problems only (`DENSE_LIMIT`). The iterations (tens to hundreds) hardly depend on the
    conditioning of M. So `automatic` falls back to them where accelerated gradients stall.
    """
    problem = instance.problem
    dense = instance.dense
    q = penalty.project_to_bounds(start.dense(instance.X))
    kappa = _initial_kappa(instance, penalty)
    state = _State(np.zeros_like(q), q / kappa, kappa, dense.factor(problem.nu, kappa))
    for iteration in range(1, max_iterations + 1):
        primal_residual, dual_residual = _admm_step(state, dense, penalty, problem.nu)
        if iteration % CHECK_INTERVAL == 0:
            q = state.kappa * state.dual
            if gap(penalty, q, problem.gradient(instance.X, q)) <= tolerance * instance.scale:
                break
            if iteration < KAPPA_FIXED_AFTER:
                _balance_kappa(state, dense, problem.nu, primal_residual, dual_residual)
    return instance.certify(penalty, Multipliers.full(q), iteration)


def _initial_kappa(instance: Instance, penalty: Penalty) -> float:
    """Return a power of two near ||q_a|| / ||φ_a||, r_a over √n σ_y/σ_x."""
    n, d = instance.X.shape
    slope = np.sqrt(n * instance.scale * n * d / np.trace(instance.inner))
    radius = np.sqrt(np.mean(np.square(penalty.radius)))
    return float(2.0 ** np.round(np.log2(radius / slope)))


def _admm_step(state: _State, dense: Dense, penalty: Penalty, nu: float) -> tuple[float, float]:
    """Update the state by S1, S2, S3; return the norms of the primal and the dual residual.

    The dual residual κ Z'(φ - φ_old) is measured without Z, which is never formed.
    """
    from scipy.linalg import cho_solve

    right_side = state.phi - state.dual
    beta = cho_solve(state.factor, right_side.ravel() - dense.phi_y, check_finite=False)
    # from the system itself: Z w = M β + φ_y = φ - λ - (2ν/κ) β
    Zw = right_side - 2 * nu / state.kappa * beta.reshape(right_side.shape)
    previous_phi = state.phi
    relaxed = OVER_RELAXATION * Zw + (1 - OVER_RELAXATION) * previous_phi + state.dual
    state.phi = penalty.prox(relaxed, 1 / state.kappa)
    state.dual = penalty.prox_conjugate(state.kappa * relaxed, state.kappa) / state.kappa  # Moreau
    primal = float(np.linalg.norm(Zw - state.phi))
    return primal, state.kappa * float(np.linalg.norm(state.phi - previous_phi))


def _balance_kappa(
    state: _State, dense: Dense, nu: float, primal_residual: float, dual_residual: float
) -> None:
    """Multiply κ by the root of the residuals' ratio (both in units of q), a power of two."""
    primal_residual *= state.kappa
    if not min(primal_residual, dual_residual) > 0:
        return
    factor = 2.0 ** np.clip(np.round(0.5 * np.log2(primal_residual / dual_residual)), -5, 5)
    if factor != 1:
        state.kappa *= factor
        state.dual = state.dual / factor
        state.factor = dense.factor(nu, state.kappa)


TARGET_SHARE = 0.9  # gap at which steps end, as a share of the tolerance
FIRST_GAP = 1e-3
"""Relative gap at which bounds are checked for the first time; each later one is a tenth."""


def compressed(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> Minimum:
    """Return the minimum at one tau, without any array of d × n.

    A step costs about 6 n² (n + active) flops. The problem with bounds on the active features only
    is solved to a falling gap; after each of these solutions, features beyond their bound join.
    """
    X = instance.X
    q = start
    steps = 0
    relaxed_problem = None
    reached_gap = np.inf
    # smaller than the tolerance, because the representation of the inactive part is rounded
    min_target = TARGET_SHARE * tolerance
    target = max(FIRST_GAP, tolerance)
    while True:
        squares = q.squares(X)
        is_new = (penalty.norms(squares) > penalty.radius)[penalty.block]
        is_new[q.active] = False
        new_features = np.flatnonzero(is_new)
        if steps >= max_iterations or (len(new_features) == 0 and reached_gap <= tolerance):
            minimum = instance.certify(penalty, q, steps, squares)
            if steps >= max_iterations or minimum.certificate.gap <= tolerance * instance.scale:
                return minimum
        if relaxed_problem is None or len(new_features):
            q = q.activate(X, new_features)
            relaxed_problem = _RelaxedProblem.from_multipliers(instance, penalty, q)
        q, n_steps = relaxed_problem.solve(q, target, max_iterations - steps)
        steps += n_steps
        reached_gap = target
        target = (
            max(target / 10, min_target) if len(new_features) or target > tolerance else target / 3
        )


@dataclass(frozen=True)
class _RelaxedProblem:
    """The problem with bounds on the k active features only."""

    instance: Instance
    # (n, r + k): rotated features, which represent the inactive ones by the same inner products,
    # without a bound; then the active ones
    features: Array
    unrotate: Array  # (n, r): takes the multipliers of the rotated features to Θ
    bounded: Penalty  # of the active features
    unbounded_radius: float  # √(Σ r_g²) of the inactive features

    @classmethod
    def from_multipliers(
        cls, instance: Instance, penalty: Penalty, q: Multipliers
    ) -> _RelaxedProblem:
        """Return the problem with bounds on the active features of q only."""
        active_columns = instance.X[:, q.active]
        directions, lengths = row_space(instance.inner - active_columns @ active_columns.T)
        if len(q.active) == instance.X.shape[1]:  # what is left is rounding
            directions = directions[:, :0]
            lengths = lengths[:0]
        bounded = penalty.take(q.active)
        inactive_square = penalty.radius @ penalty.radius - bounded.radius @ bounded.radius
        features = np.hstack([directions * lengths, active_columns])
        unbounded_radius = float(np.sqrt(max(inactive_square, 0)))
        return cls(instance, features, directions / lengths, bounded, unbounded_radius)

    def solve(self, q: Multipliers, tolerance: float, max_steps: int) -> tuple[Multipliers, int]:
        """Return multipliers whose gap is within the tolerance, and the number of steps."""
        instance = self.instance
        n_rotated = self.unrotate.shape[1]
        rotated_q = self.features[:, :n_rotated].T @ q.theta
        minimiser, steps = minimise(
            instance.problem,
            self.features,
            self.bounded,
            instance.metric,
            np.concatenate([rotated_q, self.bounded.project_to_bounds(q.values)]),
            tolerance * instance.scale,
            max_steps,
            self.unbounded_radius,
        )
        theta = self.unrotate @ minimiser[:n_rotated]
        return Multipliers(theta, q.active, minimiser[n_rotated:]), steps


def fista(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> Minimum:
    """Return the minimum at one tau, by accelerated gradients over all d features.

    A step costs 4 n² (n + d) flops; memory is O(n² + n d). The steps are few (tens) for a
    Gaussian kernel of about the median distance. They are many for cubic polynomials and wide
    kernels, whose M is ill conditioned.
    """
    q, steps = minimise(
        instance.problem,
        instance.X,
        penalty,
        instance.metric,
        penalty.project_to_bounds(start.dense(instance.X)),
        tolerance * instance.scale,
        max_iterations,
    )
    return instance.certify(penalty, Multipliers.full(q), steps)


INNER_STEPS = 500
"""Largest number of steps of an inner problem; also the forward steps between two restarts."""
INNER_CHECK_INTERVAL = 10  # inner steps between two checks of their gap, which must have decreased
INNER_GAP_SHARE = 1e-3  # gap of an inner problem, as a share of the tolerance


@dataclass(frozen=True)
class _Function:
    """A function f in terms of its weights α (n,) and β (d, n)."""

    alpha: Array
    beta: Array

    def plus(self, previous: _Function, factor: float) -> _Function:
        """Return f + factor (f - previous)."""
        return _Function(
            self.alpha + factor * (self.alpha - previous.alpha),
            self.beta + factor * (self.beta - previous.beta),
        )


def projection(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> Minimum:
    """Return the minimum at one tau, by the published algorithm with the corrections above.

    It is accelerated, and kept as a reference for the other solvers.
    """
    X = instance.X
    problem = instance.problem
    n = problem.n
    nu = problem.nu
    sigma = float(problem.eigenvalues[-1]) / n * EIGENVALUE_MARGIN + nu
    inner_step = 2 * sigma / (EIGENVALUE_MARGIN * _gradient_norm(problem, X))
    q = penalty.project_to_bounds(start.dense(X))
    # the function of the multipliers q, see `Problem.expand`
    current = _Function(problem.expand(X @ q).alpha, -q / (2 * nu))
    extrapolated = current
    t = 1.0
    accuracy = INNER_GAP_SHARE * tolerance * instance.scale
    for iteration in range(1, max_iterations + 1):
        f_values = _values(problem, X, extrapolated)
        forward_step = _Function(
            (1 - nu / sigma) * extrapolated.alpha - (f_values - problem.y) / (n * sigma),
            (1 - nu / sigma) * extrapolated.beta,
        )
        new_f = _prox_step(problem, penalty, X, forward_step, q, sigma, inner_step, accuracy)
        next_t = (1 + np.sqrt(1 + 4 * t * t)) / 2
        extrapolated = new_f.plus(current, (t - 1) / next_t)
        t = next_t
        current = new_f
        if iteration % CHECK_INTERVAL == 0:
            if gap(penalty, q, problem.gradient(X, q)) <= tolerance * instance.scale:
                break
            if iteration % INNER_STEPS == 0:
                extrapolated = current
                t = 1.0
    return instance.certify(penalty, Multipliers.full(q), iteration)


def _prox_step(
    problem: Problem,
    penalty: Penalty,
    X: Array,
    f: _Function,
    q: Array,
    sigma: float,
    step: float,
    accuracy: float,
) -> _Function:
    """Return the prox of Ω/(2σ) at f; q (d, n) is the start and is overwritten by its multipliers.

    step: length of a dual step. accuracy: duality gap, not relative, at which the steps end.

    Accelerated as published, and restarted where a step turns back (O'Donoghue and Candès
    2015).
    """
    z = q.copy()
    t = 1.0
    previous_gap = np.inf
    for step_number in range(1, INNER_STEPS + 1):
        phi = _derivatives(problem, X, _Function(f.alpha, f.beta - z / (2 * sigma)))
        new_q = penalty.prox_conjugate(z + step * phi, step)
        next_t = (1 + np.sqrt(1 + 4 * t * t)) / 2
        turns_back = np.vdot(z - new_q, new_q - q) > 0
        t, momentum = (1.0, 0.0) if turns_back else (next_t, (t - 1) / next_t)
        z = new_q + momentum * (new_q - q)
        q[:] = new_q
        if step_number % INNER_CHECK_INTERVAL == 0:
            phi = _derivatives(problem, X, _Function(f.alpha, f.beta - q / (2 * sigma)))
            inner_gap = gap(penalty, q, phi)
            if inner_gap >= 0.99 * previous_gap or inner_gap <= accuracy:
                break
            previous_gap = inner_gap
    return _Function(f.alpha, f.beta - q / (2 * sigma))


def _direction(problem: Problem, X: Array, f: _Function) -> Array:
    """Return S (n, n) of `kernels.directional` for f at the samples."""
    U = X @ f.beta
    return directional(problem.table, U, np.diag(U))


def _values(problem: Problem, X: Array, f: _Function) -> Array:
    """Return f at the samples, (n,)."""
    return values(problem.table, _direction(problem, X, f), f.alpha)


def _derivatives(problem: Problem, X: Array, f: _Function) -> Array:
    """Return the derivatives of f at the samples, (d, n)."""
    R = problem.spread(_direction(problem, X, f), f.alpha)
    return np.asarray(f.beta @ problem.table.first + X.T @ R.T)


def _gradient_norm(problem: Problem, X: Array) -> float:
    """Return λ_max of L, the matrix that takes β to the derivatives of f."""
    no_weights = np.zeros(problem.n)
    return largest_eigenvalue(lambda q: _derivatives(problem, X, _Function(no_weights, q)), X)


DENSE_LIMIT = 5000  # largest n (d + 1) for a dense Cholesky factor: 0.2 GB and a second
STALL_COST_IN_ADMM_STEPS = 500
"""Cost, in iterations of ADMM, after which the quicker steps count as stalled."""


def automatic(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> Minimum:
    """Return the minimum at one tau by `compressed`, or by `admm` where that stalls.

    `compressed` is quicker even for d ≤ n.
    """
    n, d = instance.X.shape
    if n * (d + 1) > DENSE_LIMIT:
        return compressed(instance, penalty, start, tolerance, max_iterations)
    # a solve with the factor takes 2 (n d)² flops, a step 6 n² (features of the step)
    cost_ratio = d * d / (3 * min(d, 2 * n))
    patience = int(min(max(1000, STALL_COST_IN_ADMM_STEPS * cost_ratio), max_iterations / 2))
    minimum = compressed(instance, penalty, start, tolerance, patience)
    steps = minimum.iterations
    if minimum.certificate.gap <= tolerance * instance.scale or steps >= max_iterations:
        return minimum
    minimum = admm(instance, penalty, minimum.multipliers, tolerance, max_iterations - steps)
    return minimum._replace(iterations=steps + minimum.iterations)


Solver = Callable[[Instance, Penalty, Multipliers, float, int], Minimum]

SOLVERS: dict[str, Solver] = {
    "auto": automatic,
    "compressed": compressed,
    "fista": fista,
    "admm": admm,
    "projection": projection,
}
"""(instance, penalty, start, relative gap, max_iterations) -> minimum."""
