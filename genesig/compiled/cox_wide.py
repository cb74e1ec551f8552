"""Quadratic models with more active features than samples, solved for the samples.

``min ½ ||L'D'z||² + Σ_j (½ ridge_j z_j² + cut_j |z_j| - g_j z_j)``, LL' = H, has with y = L'D'z the
dual ``min ½ ||y||² + Σ_j [|s_j| - cut_j]₊² / (2 ridge_j)``, s = g - D L y, and the solution
``z_j = sign(s_j) [|s_j| - cut_j]₊ / ridge_j``: smooth, and quadratic for given signs, so that
Newton's steps end in the minimum. Its systems are as large as the number of samples.

Source: Li, Sun and Toh 2018 (semismooth Newton steps for the lasso's dual).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.compiled import plain
from genesig.compiled.cholesky import cholesky
from genesig.compiled.dense import backward, forward
from genesig.compiled.lanes import LANES, add_row, dot
from genesig.compiled.likelihood import Terms, curved
from genesig.compiled.operations import larger
from genesig.compiled.products import dots_of_one

if TYPE_CHECKING:
    from genesig.compiled.cox_model import Fit, Room

Array = np.ndarray[Any, Any]

MOST = 40  # steps
RAISED = 1e-12  # of the largest curvature, what is added to all: H is singular
ENOUGH = 1e-4  # share of the expected decrease that a step must bring
Y, STEP, TRIAL, ETA = 0, 1, 2, 3  # lines


class Wide(NamedTuple):
    """Room for n samples.

    L, G = Σ d_j d_j' / ridge_j of the active features, GL, I + L'GL (n, N); lines (4, N); sign (m,)
    of the features that are in G.
    """

    L: Array
    G: Array
    GL: Array
    M: Array
    lines: Array
    sign: Array


@plain
def pull(D: Array, lines: Array, k: int, pulled: Array) -> None:
    """Fill pulled with the product of each row of D, of whole lanes, with line k."""
    for j in range(0, len(D), LANES):
        dots_of_one(D, j, lines, k, D.shape[1], pulled, j // LANES)


@plain
def solve_wide(terms: Terms, fit: Fit, room: Room) -> bool:
    """Minimise the model whose g is known, from x on, into z and D'z; False where it fails."""
    wide, n = room.wide, len(room.here.e)
    if not start(terms, fit, room):
        return False
    now = dual(fit, room, Y)
    for _ in range(MOST):
        turn(fit, room)
        slope = direct(fit, room)
        share, found = 1.0, np.inf
        while share > 1e-6:
            for i in range(n):
                wide.lines[TRIAL, i] = wide.lines[Y, i] + share * wide.lines[STEP, i]
            found = dual(fit, room, TRIAL)
            if found <= now + ENOUGH * share * slope + 1e-14 * abs(now):
                break
            share *= 0.5
        for i in range(n):
            wide.lines[Y, i] = wide.lines[TRIAL, i]
        if share == 1.0 and same_signs(room):
            spread(fit, room, room.line, 1)
            return True
        now = found
    return False


@plain
def start(terms: Terms, fit: Fit, room: Room) -> bool:
    """Factor H, and begin at y = L'η."""
    wide, n, top = room.wide, len(room.here.e), 0.0
    for j in range(n):
        for i in range(n):
            wide.lines[TRIAL, i], wide.G[j, i] = 1.0 if i == j else 0.0, 0.0
        curved(terms, room.here, wide.lines[TRIAL, :n], wide.L[j, :n])
        top = larger(top, wide.L[j, j])
    for j in range(n):
        wide.L[j, j] += RAISED * top
    if not cholesky(wide.L, n):
        return False
    for j in range(n):
        for i in range(j + 1, n):
            wide.L[j, i] = 0.0
    for j in range(len(fit.x)):
        wide.sign[j] = 0.0
    turned(wide, fit.eta, Y)
    return True


@plain
def turned(wide: Wide, eta: Array, line: int) -> None:
    """Fill a line with L'η."""
    N = wide.L.shape[1]
    for i in range(N):
        wide.lines[line, i] = 0.0
    for i in range(len(wide.L)):
        add_row(eta[i], wide.L, i, wide.lines, line, 0, N)


@plain
def dual(fit: Fit, room: Room, line: int) -> Any:
    """Return the dual objective at a line, and fill z with its solution."""
    wide, n = room.wide, len(room.here.e)
    y = wide.lines[line]
    total = 0.5 * dot(y[:n], y[:n])
    for i in range(n):
        room.line[3, i] = dot(wide.L[i, : i + 1], y[: i + 1])
    pull(fit.D, room.line, 3, room.pulled)
    for j in range(len(fit.x)):
        s = room.g[j] - room.pulled[j // LANES, j % LANES]
        rest = larger(abs(s) - fit.cut[j], 0.0)
        room.z[j] = np.sign(s) * rest / fit.ridge[j]
        total += 0.5 * rest * abs(room.z[j])
    return total


@plain
def turn(fit: Fit, room: Room) -> None:
    """Let G be that of the features that are active now."""
    wide = room.wide
    for j in range(len(fit.x)):
        sign = np.sign(room.z[j])
        share = (abs(sign) - abs(wide.sign[j])) / fit.ridge[j]
        wide.sign[j] = sign
        if share != 0.0:
            for i in range(len(wide.G)):
                add_row(share * fit.D[j, i], fit.D, j, wide.G, i, 0, wide.G.shape[1])


@plain
def direct(fit: Fit, room: Room) -> Any:
    """Fill STEP with Newton's step from y, and return the slope along it."""
    wide, (n, N) = room.wide, room.wide.L.shape
    for a in range(n):
        for i in range(N):
            wide.GL[a, i], wide.M[a, i] = 0.0, 0.0
        wide.M[a, a] = 1.0
        for b in range(n):
            add_row(wide.G[a, b], wide.L, b, wide.GL, a, 0, N)
    for b in range(n):
        for a in range(b + 1):
            add_row(wide.L[b, a], wide.GL, b, wide.M, a, 0, N)
    spread(fit, room, wide.lines, ETA)
    turned(wide, wide.lines[ETA], TRIAL)
    for i in range(n):
        wide.lines[TRIAL, i] -= wide.lines[Y, i]
        wide.lines[STEP, i] = wide.lines[TRIAL, i]
    cholesky(wide.M, n)
    forward(wide.M, n, wide.lines[STEP])
    backward(wide.M, n, wide.lines[STEP])
    return -dot(wide.lines[TRIAL, :n], wide.lines[STEP, :n])


@plain
def spread(fit: Fit, room: Room, lines: Array, k: int) -> None:
    """Fill line k with D'z."""
    N = fit.D.shape[1]
    for i in range(N):
        lines[k, i] = 0.0
    for j in range(len(fit.x)):
        if room.z[j] != 0.0:
            add_row(room.z[j], fit.D, j, lines, k, 0, N)


@plain
def same_signs(room: Room) -> bool:
    """Tell whether all features have the signs of the last system."""
    same = True
    for j in range(len(room.z)):
        same = same and np.sign(room.z[j]) == room.wide.sign[j]
    return same


def wide_for(n: int, N: int, m: int) -> Wide:
    """Return room for n samples of N places, none where it is not needed, and m features."""
    L, G, GL, M = np.zeros((4, n, N))
    return Wide(L, G, GL, M, np.zeros((4, N)), np.empty(m))
