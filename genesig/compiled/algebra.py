"""Kernels for sums over samples and for small linear systems."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array
from genesig.compiled import compiled, jitable

MIN_PIVOT_SHARE = 1e-13  # share of a row's squared length below which its pivot is rounding
MIN_ENTRY_SHARE = 1e-30  # share of the trace of a matrix below which its entries are rounding


@compiled
def dot(a: Array, b: Array) -> float:
    """Return a'b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@jitable
def add_scaled(scale: float, a: Array, out: Array) -> None:
    """Add ``scale a`` to out in place."""
    for i in range(len(out)):
        out[i] += scale * a[i]


@jitable
def add_scaled_rows(A: Array, rows: Array, scale: Array, out: Array) -> None:
    """Add ``Σ_r scale_r a_r`` over the rows a_r of A that `rows` lists to out (n,) in place.

    A step takes four rows, so that each out[i] is loaded once for four. scale has an entry for
    every row of A.
    """
    n_in_fours = len(rows) - len(rows) % 4
    for k in range(0, n_in_fours, 4):
        a = rows[k]
        b = rows[k + 1]
        c = rows[k + 2]
        d = rows[k + 3]
        scale_a = scale[a]
        scale_b = scale[b]
        scale_c = scale[c]
        scale_d = scale[d]
        for i in range(len(out)):
            out[i] += (scale_a * A[a, i] + scale_b * A[b, i]) + (
                scale_c * A[c, i] + scale_d * A[d, i]
            )
    for k in range(n_in_fours, len(rows)):
        a = rows[k]
        scale_a = scale[a]
        for i in range(len(out)):
            out[i] += scale_a * A[a, i]


@compiled
def dot_rows(A: Array, i: int, B: Array, k: int, n: int) -> float:
    """Return the product of the first n entries of row i of A and row k of B."""
    total = 0.0
    for p in range(n):
        total += A[i, p] * B[k, p]
    return total


@compiled
def multiply_rows(A: Array, b: Array, n_rows: int, out: Array) -> None:
    """Fill out[:n_rows] with ``A[:n_rows, :len(b)] b``; A may have more columns.

    Four rows at a time, so that each b[i] is loaded once for four rows.
    """
    n_in_fours = n_rows - n_rows % 4
    for j in range(0, n_in_fours, 4):
        s0 = 0.0
        s1 = 0.0
        s2 = 0.0
        s3 = 0.0
        for i in range(len(b)):
            s0 += A[j, i] * b[i]
            s1 += A[j + 1, i] * b[i]
            s2 += A[j + 2, i] * b[i]
            s3 += A[j + 3, i] * b[i]
        out[j] = s0
        out[j + 1] = s1
        out[j + 2] = s2
        out[j + 3] = s3
    for j in range(n_in_fours, n_rows):
        total = 0.0
        for i in range(len(b)):
            total += A[j, i] * b[i]
        out[j] = total


@compiled
def indices_by_sign(values: Array, positive: bool) -> Array:
    """Return the indices of the values above 0 or, unless `positive`, of the others."""
    indices = np.empty(len(values), np.int64)
    count = 0
    for j in range(len(values)):
        if (values[j] > 0.0) == positive:
            indices[count] = j
            count += 1
    return indices[:count]


@compiled
def factor_semidefinite(A: Array) -> None:
    """Overwrite the lower triangle of A (m, m) by its Cholesky factor.

    The diagonal is ∞ for a row that depends on the rows before it: its solution is then 0.
    """
    products_of_column = np.empty(len(A))
    for j in range(len(A)):
        multiply_rows(A[j:], A[j, :j], len(A) - j, products_of_column)
        pivot = A[j, j] - products_of_column[0]
        A[j, j] = np.sqrt(pivot) if pivot > MIN_PIVOT_SHARE * A[j, j] else np.inf
        for i in range(j + 1, len(A)):
            A[i, j] = (A[i, j] - products_of_column[i - j]) / A[j, j]


@compiled
def cholesky(M: Array, m: int) -> bool:
    """Overwrite the lower triangle of M[:m, :m] by its Cholesky factor.

    Return False if the matrix is not positive definite.
    """
    products_of_column = np.empty(m)
    for j in range(m):
        multiply_rows(M[j:], M[j, :j], m - j, products_of_column)
        pivot = M[j, j] - products_of_column[0]
        if not pivot > 0.0:
            return False
        M[j, j] = np.sqrt(pivot)
        for i in range(j + 1, m):
            M[i, j] = (M[i, j] - products_of_column[i - j]) / M[j, j]
    return True


@compiled
def solve_lower(L: Array, m: int, x: Array) -> None:
    """Overwrite x[:m] by the solution of ``L[:m, :m] z = x``."""
    for i in range(m):
        total = 0.0
        for k in range(i):
            total += L[i, k] * x[k]
        x[i] = (x[i] - total) / L[i, i]


@compiled
def solve_upper(L: Array, m: int, x: Array) -> None:
    """Overwrite x[:m] by the solution of ``L[:m, :m]' z = x``."""
    for i in range(m - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@compiled
def drop_row(L: Array, m: int, p: int) -> None:
    """Turn the Cholesky factor of an m × m matrix into the factor without row and column p."""
    for i in range(p, m - 1):
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
    # Each moved row has an entry right of the diagonal: Givens rotations of columns remove it.
    for k in range(p, m - 1):
        diagonal = L[k, k]
        off_diagonal = L[k, k + 1]
        length = np.hypot(diagonal, off_diagonal)
        cosine = diagonal / length
        sine = off_diagonal / length
        for i in range(k, m - 1):
            diagonal = L[i, k]
            off_diagonal = L[i, k + 1]
            L[i, k] = cosine * diagonal + sine * off_diagonal
            L[i, k + 1] = cosine * off_diagonal - sine * diagonal


@compiled
def solve_lower_rows(L: Array, X: Array) -> None:
    """Overwrite each row x of X (m, n) by ``L^-1 x``."""
    products_of_row = np.empty(len(X))
    for i in range(len(L)):
        multiply_rows(X, L[i, :i], len(X), products_of_row)
        for a in range(len(X)):
            X[a, i] = (X[a, i] - products_of_row[a]) / L[i, i]


@compiled
def solve_factored(L: Array, b: Array) -> None:
    """Overwrite b by the solution of ``L L' x = b``; 0 for dependent rows."""
    solve_lower(L, len(b), b)
    solve_upper(L, len(b), b)


@compiled
def solve_by_features(D: Array, HD: Array, ridge: Array, h: Array) -> None:
    """Overwrite h (m,) by ``(D H D' + diag ridge)⁻¹ h`` by a system of order m, for m <= n.

    D (m, n) with a feature a row, H (n, n) symmetric, HD = D H; ridge (m,) >= 0.
    """
    A = np.empty((len(D), len(D)))
    for j in range(len(D)):
        multiply_rows(HD, D[j], j + 1, A[j])
        A[j, j] += ridge[j]
    factor_semidefinite(A)
    solve_factored(A, h)


@compiled
def solve_by_samples(E: Array, ridge: Array, h: Array) -> None:
    """Overwrite h (m,) by ``(E E' + diag ridge)⁻¹ h`` by systems of order n, for m > n.

    E (m, n). With P = √ridge⁻¹ E of the features that have a ridge and B of the free ones, ``N = I
    + P'P``. By Woodbury's formula ``B N⁻¹ B' x_B = h_B - B N⁻¹ P' √ridge⁻¹ h``; the others follow
    from x_B.
    """
    n = E.shape[1]
    ridged = indices_by_sign(ridge, positive=True)
    free = indices_by_sign(ridge, positive=False)
    P = np.zeros((n, len(ridged)))
    scaled_right = np.empty(len(ridged))
    N = np.empty((n, n))
    q = np.empty(n)
    B = np.empty((len(free), n))
    V = np.empty((len(free), n))
    x_free = np.empty(len(free))
    S = np.empty((len(free), len(free)))
    # Scaled features P (n, features with a ridge), as columns.
    for j in range(len(ridged)):
        root = np.sqrt(ridge[ridged[j]])
        scaled_right[j] = h[ridged[j]] / root
        for i in range(n):
            P[i, j] = E[ridged[j], i] / root
    for i in range(n):
        multiply_rows(P, P[i], i + 1, N[i])
        N[i, i] += 1.0
    factor_semidefinite(N)
    # q = N⁻¹ P' √ridge⁻¹ h
    multiply_rows(P, scaled_right, n, q)
    solve_factored(N, q)
    # S = B N⁻¹ B', and the right-hand side of x_B
    for j in range(len(free)):
        for i in range(n):
            B[j, i] = V[j, i] = E[free[j], i]
        solve_factored(N, V[j])
        x_free[j] = h[free[j]] - dot(B[j], q)
        multiply_rows(V, B[j], j + 1, S[j])
    factor_semidefinite(S)
    solve_factored(S, x_free)
    for j in range(len(free)):
        h[free[j]] = x_free[j]
        for i in range(n):
            q[i] += V[j, i] * x_free[j]
    for j in range(len(ridged)):
        for i in range(n):
            scaled_right[j] -= P[i, j] * q[i]
        h[ridged[j]] = scaled_right[j] / np.sqrt(ridge[ridged[j]])


@compiled
def make_reflector(row: Array, negligible: float) -> tuple[float, float]:
    """Overwrite a row by v, with v[-1] = 1; return β and the last entry of ``(I - β v v') row``.

    All other entries of that product are 0. β is 0 if these are at most `negligible`.
    """
    last = row[-1]
    largest = 0.0
    for i in range(len(row) - 1):
        largest = max(largest, abs(row[i]))
    row[-1] = 1.0
    if largest <= negligible:
        return 0.0, last
    largest = max(largest, abs(last))  # so that squares neither overflow nor vanish
    squares = (last / largest) * (last / largest)
    for i in range(len(row) - 1):
        squares += (row[i] / largest) * (row[i] / largest)
    reflected = -np.copysign(largest * np.sqrt(squares), last)
    for i in range(len(row) - 1):
        row[i] /= last - reflected
    return (reflected - last) / reflected, reflected


@jitable
def subtract_and_multiply_rows(
    A: Array, first: int, v: Array, w: Array, x: Array, product: Array
) -> None:
    """Subtract ``v w' + w v'`` from two rows of the lower triangle of A; add their share of A x.

    The rows are `first` and the next. `product` is A x by the rows above, and becomes A x by these
    too. Two rows at a time read v, w and x once, which saves a third of the time.
    """
    second = first + 1
    v_first = v[first]
    v_second = v[second]
    w_first = w[first]
    w_second = w[second]
    x_first = x[first]
    x_second = x[second]
    first_row = A[first, :first]
    second_row = A[second, :first]
    first_product = 0.0
    second_product = 0.0
    for i in range(first):
        first_entry = first_row[i] - v_first * w[i] - w_first * v[i]
        second_entry = second_row[i] - v_second * w[i] - w_second * v[i]
        first_row[i] = first_entry
        second_row[i] = second_entry
        first_product += first_entry * x[i]
        second_product += second_entry * x[i]
        product[i] += first_entry * x_first + second_entry * x_second
    A[first, first] -= 2.0 * v_first * w_first
    A[second, first] -= v_second * w_first + w_second * v_first
    A[second, second] -= 2.0 * v_second * w_second
    product[first] = first_product + A[first, first] * x_first + A[second, first] * x_second
    product[second] = second_product + A[second, first] * x_first + A[second, second] * x_second


@compiled
def tridiagonalise(A: Array, diagonal: Array, off_diagonal: Array, beta: Array) -> None:
    """Fill the diagonals of T in ``A = Q T Q'``; A (m, m) is symmetric, its upper part is not read.

    off_diagonal[i] is beside diagonal[i] and diagonal[i + 1]. Q is the product of the reflections
    ``I - beta[i] v v'`` from the last i down to 1; v overwrites A[i, :i]. beta[0] is not filled.
    """
    m = len(A)
    trace = 0.0
    for i in range(m):
        trace += A[i, i]
    v = np.zeros(m)
    w = np.zeros(m)
    product = np.empty(m)
    for i in range(m - 1, 0, -1):
        # A single pass applies the reflection before, A - v w' - w v', and multiplies by the next.
        add_scaled(-v[i], w[: i + 1], A[i, : i + 1])
        add_scaled(-w[i], v[: i + 1], A[i, : i + 1])
        diagonal[i] = A[i, i]
        reflector = A[i, :i]
        beta[i], off_diagonal[i - 1] = make_reflector(reflector, MIN_ENTRY_SHARE * trace)
        if i % 2:  # of an odd number of rows, the first is alone
            A[0, 0] -= 2.0 * v[0] * w[0]
            product[0] = A[0, 0] * reflector[0]
        for first in range(i % 2, i, 2):
            subtract_and_multiply_rows(A, first, v, w, reflector, product)
        # (I - β v v') A (I - β v v') = A - v w' - w v' with w = β A v - β² (v'A v) v / 2.
        overlap = 0.5 * beta[i] * beta[i] * dot(reflector, product)
        for row in range(i):
            v[row] = reflector[row]
            w[row] = beta[i] * product[row] - overlap * reflector[row]
    if m > 0:
        diagonal[0] = A[0, 0] - 2.0 * v[0] * w[0]


@compiled
def reflect_rows(X: Array, reflectors: Array, beta: Array, transposed: bool) -> None:
    """Overwrite each row x of X (L, m) by Q x or, `transposed`, by Q'x; Q of `tridiagonalise`."""
    products = np.empty(len(X))
    for step in range(1, len(reflectors)):
        i = len(reflectors) - step if transposed else step
        multiply_rows(X, reflectors[i, :i], len(X), products)
        for row in range(len(X)):
            scale = beta[i] * products[row]
            for k in range(i):
                X[row, k] -= scale * reflectors[i, k]


@compiled
def solve_tridiagonal(
    diagonal: Array, off_diagonal: Array, ridge: float, b: Array, x: Array
) -> None:
    """Fill x (m,) with the solution of ``(T + ridge I) x = b``; T semidefinite, ridge > 0.

    T has `diagonal` and `off_diagonal` as in `tridiagonalise`.
    """
    m = len(x)
    pivots = np.empty(m)
    for i in range(m):
        pivots[i] = diagonal[i] + ridge
        x[i] = b[i]
        if i > 0:
            share = off_diagonal[i - 1] / pivots[i - 1]
            pivots[i] -= share * off_diagonal[i - 1]
            x[i] -= share * x[i - 1]
    for i in range(m - 1, -1, -1):
        if i < m - 1:
            x[i] -= off_diagonal[i] * x[i + 1]
        x[i] /= pivots[i]
