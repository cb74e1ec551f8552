"""Fits along a falling tau, each with a warm start, and the variables that each selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array, row_squares
from genesig.errors import pick
from genesig.optim.kernels import Kernel, evaluate
from genesig.optim.nonlinear.instance import DerivativeCriterion, Instance, Minimum, make_instance
from genesig.optim.nonlinear.multipliers import Multipliers
from genesig.optim.nonlinear.penalties import PENALTIES, Penalty
from genesig.optim.nonlinear.problem import check_data, check_memory, check_settings, check_tau
from genesig.optim.nonlinear.solvers import SOLVERS
from genesig.optim.solution import convergence_message


@dataclass(frozen=True)
class Solution:
    """The minimiser for one tau, to within its gap."""

    tau: float  # absolute tau of the fit
    # (d,): ||∂_a f||/√n over the training points, exactly zero where a is not selected
    norms: Array
    f: Array  # (n,): values at the training points, without the mean of y
    alpha: Array  # (n,): weights of the kernel at the training points
    multipliers: Multipliers  # q; β = -q `root`/2ν are the weights of its derivatives; not sparse
    gap: float  # duality gap over all features, relative to ||y||²/n
    objective: float
    iterations: int
    root: Array | float  # (n,) or 1.0: √v of the samples' weights v, as in `Instance`

    @property
    def support(self) -> Array:
        """Return the selected variables: those whose multipliers reach their bound."""
        return np.flatnonzero(self.norms)

    def evaluate(self, kernel: Kernel, points: Array, X: Array, nu: float) -> tuple[Array, Array]:
        """Return f (m,) and its gradient (d, m) at new points, from the training points X.

        `nu` is absolute.
        """
        return evaluate(
            kernel, points, X, self.alpha, self.multipliers.dense(X) / (-2 * nu / self.root)
        )


def certified_solution(
    instance: Instance, tau: float, penalty: Penalty, minimum: Minimum, tolerance: float
) -> Solution:
    """Return the solution of a solver's minimum, with its gap and its selected variables.

    φ_a is the step of the dual's prox over its length: zero unless ||q_g + t φ_g|| exceeds r_g. It
    is also zero if a block's part of the penalty, r_g ||φ_g||, is less than the tolerance of the
    gap: if M is singular, multipliers can lie on their bound without a gradient.
    """
    q, certificate, iterations = minimum
    norms = np.zeros(instance.X.shape[1])
    if len(q.active):
        step_length = 1 / float(instance.metric.weight.max())
        active = penalty.take(q.active)
        shifted = q.values + step_length * certificate.phi
        phi = (shifted - active.prox_conjugate(shifted, step_length)) / step_length
        block_parts = active.radius * active.norms(row_squares(phi))
        phi *= active.spread(block_parts > max(tolerance * instance.scale, certificate.gap))
        norms[q.active] = np.sqrt(row_squares(phi) / instance.problem.n)
    return Solution(
        tau=tau,
        norms=norms,
        f=certificate.expansion.f / instance.root,
        alpha=certificate.expansion.alpha * instance.root,
        multipliers=q,
        gap=certificate.gap / instance.scale,
        objective=certificate.objective,
        iterations=iterations,
        root=instance.root,
    )


SOLVER_TOLERANCE_SHARE = 0.1  # gap at which the solver stops, as a share of the tolerance
MIN_SOLVER_TOLERANCE = 1e-9  # smallest gap at which the solver stops


@dataclass(frozen=True)
class DerivativePath:
    """Fits for falling tau."""

    # smallest tau at which nothing is selected. There f is the ridge fit among the functions whose
    # gradient vanishes at every training point, which is not zero.
    tau_max: float
    nu: float  # absolute ν
    # share of ||y||² that f fits at tau_max, with no variable at all. Near 1 it says that ν is too
    # small for this many features: bumps with zero gradient fit y.
    explained_by_none: float
    solutions: tuple[Solution, ...]
    # whether it ends before the last tau, where more variables than samples are selected
    ended_early: bool
    message: str  # empty, or sentences about a path cut short and fits that did not converge


def derivative_path(
    X: Array,
    y: Array,
    criterion: DerivativeCriterion,
    *,
    tau: Sequence[float],
    solver: str,
    tolerance: float,
    max_iterations: int,
    inner: Array | None = None,
    counts: Array | None = None,
) -> DerivativePath:
    """Minimise (1/n)||y - f||² + Ω(∂f) + ν||f||² along falling tau.

    X (n, d): centred, so that digits are not lost in inner products.
    y (n,): centred here.
    tau: fractions of tau_max, falling.
    solver {"auto", "compressed", "fista", "admm", "projection"}.
    tolerance: duality gap relative to ||y||²/n at which a fit is done.
    max_iterations: for one tau.
    inner (n, n), optional: X X', where it is known.
    counts (n,), optional: how often each sample counts, above 0: in the mean of y, in (1/n) ||y -
        f||², in the norms of derivatives, and as the n of ν.

    DerivativePath: cut before the first fit with more than n variables, because beyond that the
    model says nothing.

    Raises InvalidProblem: fewer than 3 samples, constant or not finite columns, ν ≤ 0, groups that
    do not partition the features, more memory than the machine has.
    """
    X = np.asarray(X, dtype=float)
    y = np.asarray(y, dtype=float)
    pick("solver", SOLVERS, solver)
    pick("penalty", PENALTIES, criterion.penalty)
    check_data(X, y)
    check_settings(nu=criterion.nu, width=1.0, mu=criterion.mu, degree=1)  # the kernel is made
    check_tau(tau)
    check_memory(X.shape[0], X.shape[1], solver)
    instance = make_instance(X, y, criterion, inner=inner, counts=counts)
    return follow_path(instance, tau, solver, tolerance, max_iterations)


def follow_path(
    instance: Instance, tau: Sequence[float], solver: str, tolerance: float, max_iterations: int
) -> DerivativePath:
    """Return the fits along fractions of tau_max until more than n variables are selected.

    q is nearly linear in tau, so each fit starts on the line through the last two. Fits are solved
    to a smaller gap than the tolerance: the selection treats parts of the penalty below the
    tolerance as zero, and is then the selection of the minimum, not of the iterate.
    """
    solver_tolerance = min(tolerance, max(SOLVER_TOLERANCE_SHARE * tolerance, MIN_SOLVER_TOLERANCE))
    q = instance.start
    solutions = []
    message = ""
    ended_early = False
    previous_q = q
    fraction_of_q = 1.0
    fraction_of_previous = 1.0
    for fraction in tau:
        absolute = fraction * instance.tau_max
        penalty = instance.penalty(absolute)
        fraction_step = fraction_of_previous - fraction_of_q  # 0 as long as there is one fit
        start = (
            q.extrapolate(instance.X, previous_q, (fraction_of_q - fraction) / fraction_step)
            if fraction_step
            else q
        )
        previous_q = q
        fraction_of_previous = fraction_of_q
        fraction_of_q = fraction
        minimum = SOLVERS[solver](instance, penalty, start, solver_tolerance, max_iterations)
        q = minimum.multipliers
        solution = certified_solution(instance, absolute, penalty, minimum, tolerance)
        if len(solution.support) > instance.problem.n:
            ended_early = True
            message = (
                f"the path ends before tau = {fraction:.3g} tau_max, where {len(solution.support)}"
                f" variables are selected from {instance.problem.n} samples; "
            )
            break
        solutions.append(solution)
    start_product = instance.start.product(instance.X, instance.inner)
    y = instance.problem.y
    f = instance.problem.expand(start_product).f
    gaps = np.array([solution.gap for solution in solutions])
    return DerivativePath(
        tau_max=instance.tau_max,
        nu=instance.problem.nu,
        explained_by_none=1 - float((y - f) @ (y - f) / (y @ y)),
        solutions=tuple(solutions),
        ended_early=ended_early,
        message=(message + convergence_message(gaps, tolerance)).rstrip("; "),
    )
