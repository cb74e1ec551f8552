"""Fits along a falling tau, each started from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.errors import pick
from genesig.optim.kernels import Kernel
from genesig.optim.nonlinear.checks import (
    check_data,
    check_memory,
    check_settings,
    check_tau,
    check_weights,
    number_groups,
)
from genesig.optim.nonlinear.instance import Instance, make_instance
from genesig.optim.nonlinear.penalties import PENALTIES
from genesig.optim.nonlinear.solution import Solution, conclude
from genesig.optim.nonlinear.solvers import SOLVERS

Array = np.ndarray[Any, Any]

FINER, FINEST = 0.1, 1e-9
"""Gap that is solved for, as a share of the one asked for, and the least one."""


@dataclass(frozen=True)
class DerivativePath:
    """Fits for falling tau.

    Attributes
    ----------
    tau_max : float
        From here on nothing is selected; f is then the ridge fit among the functions whose
        gradient vanishes at every training point, which is not zero.
    nu : float
        Absolute.
    explained_by_none : float
        Share of ||y||² that f fits at tau_max, with no variable at all. Near 1 it says that ν is
        too small for this many features: bumps with zero gradient fit y.
    solutions : tuple of Solution
    message : str
        Empty, or sentences about a path cut short and fits that did not converge.
    """

    tau_max: float
    nu: float
    explained_by_none: float
    solutions: tuple[Solution, ...]
    message: str


def derivative_path(
    X: Array, y: Array, *, kernel: Kernel, penalty: str, nu: float, tau: Sequence[float],
    solver: str, tolerance: float, max_iterations: int,
    groups: Sequence[Sequence[int]] | None = None, weights: Array | None = None, mu: float = 1.0,
    inner: Array | None = None, counts: Array | None = None,
) -> DerivativePath:  # fmt: skip
    """Minimise (1/n)||y - f||² + Ω(∂f) + ν||f||² along falling tau.

    Parameters
    ----------
    X : (n, d)
        Centred, so that digits are not lost in inner products.
    y : (n,)
        Centred here.
    kernel : Kernel
    penalty : {"lasso", "group", "elastic"}
    nu : float
        Relative to mean(diag K)/n; positive (see `problem`).
    tau : sequence of float
        Fractions of tau_max, falling.
    solver : {"auto", "compressed", "fista", "admm", "projection"}
    tolerance : float
        Duality gap relative to ||y||²/n at which a fit is done.
    max_iterations : int
        For one tau.
    groups, weights : list of lists, (G,)
        Partition of the features and p_g, for the group penalty.
    mu : float
        Share of the norms in the elastic penalty.
    inner : (n, n), optional
        X X', where it is known.
    counts : (n,), optional
        How often each sample counts, above 0: in the mean of y, in (1/n) ||y - f||², in the norms
        of derivatives, and as the n of ν.

    Returns
    -------
    DerivativePath
        Cut before the first fit with more than n variables, because beyond that the model says
        nothing.

    Raises
    ------
    InvalidProblem
        Fewer than 3 samples, constant or not finite columns, ν ≤ 0, groups that do not partition
        the features, more memory than the machine has.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    pick("solver", SOLVERS, solver)
    pick("penalty", PENALTIES, penalty)
    check_data(X, y)
    check_settings(nu=nu, width=1.0, mu=mu, degree=1)
    check_tau(tau)
    check_memory(X.shape[0], X.shape[1], solver)
    block = number_groups(groups, X.shape[1], penalty)
    instance = make_instance(
        X, y, kernel=kernel, penalty=penalty, nu=nu, block=block,
        weights=check_weights(weights, int(block.max()) + 1), mu=mu, inner=inner,
        counts=counts,
    )  # fmt: skip
    return walk(instance, tau, solver, tolerance, max_iterations)


def walk(
    instance: Instance, tau: Sequence[float], solver: str, tolerance: float, max_iterations: int
) -> DerivativePath:
    """Fit along fractions of tau_max until more than n variables are selected.

    q is nearly linear in tau, so each fit starts where the line through the last two leads. Fits
    are solved finer than they are asked for, because the selection counts as zero what the gap
    that was asked for cannot tell from it, and is then that of the minimum and not of the iterate.
    """
    finer = min(tolerance, max(FINER * tolerance, FINEST))
    q, solutions, said = instance.start, [], ""
    before, reached, passed = q, 1.0, 1.0
    for fraction in tau:
        absolute = fraction * instance.tau_max
        penalty = instance.penalty(absolute)
        apart = passed - reached
        start = q.ahead(instance.X, before, (reached - fraction) / apart) if apart else q
        before, reached, passed = q, fraction, reached
        q, steps = SOLVERS[solver](instance, penalty, start, finer, max_iterations)
        found = conclude(instance, absolute, penalty, q, steps, tolerance)
        if len(found.support) > instance.problem.n:
            said = (
                f"the path ends before tau = {fraction:.3g} tau_max, where {len(found.support)}"
                f" variables are selected from {instance.problem.n} samples; "
            )
            break
        solutions.append(found)
    U = instance.start.product(instance.X, instance.inner)
    y, f = instance.problem.y, instance.problem.expand(U).f
    return DerivativePath(
        tau_max=instance.tau_max,
        nu=instance.problem.nu,
        explained_by_none=1 - float((y - f) @ (y - f) / (y @ y)),
        solutions=tuple(solutions),
        message=(said + unfinished(solutions, tolerance)).rstrip("; "),
    )


def unfinished(solutions: Sequence[Solution], tolerance: float) -> str:
    """Say how many fits did not converge, or nothing."""
    gaps = [fit.gap for fit in solutions if not fit.gap <= tolerance]
    if not gaps:
        return ""
    return (
        f"{len(gaps)} of {len(solutions)} fits did not reach the relative duality gap"
        f" {tolerance:g} (largest {max(gaps):.2g})"
    )
