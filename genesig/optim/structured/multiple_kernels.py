"""Several kernels in the place of blocks of columns: multiple kernel learning.

    min_f (1/n)||Y - sum_k f_k(X)||² + mu sum_k ||f_k||² + tau sum_k w_k ||f_k||

with each norm that of the kernel's space. Any factor A_k of K_k = A_k A_k' would do, and none is
needed: f_k = K_k c_k, and c_k lies along alpha.

Source: Mosci 2009, section 5.4.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.errors import GenesigError
from genesig.optim.structured.columns import lower

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Kernels:
    """Kernel matrices K (B, n, n) of n samples, centred, and their weights (B,).

    The "columns" of kernel k are the n expansion coefficients c_k, from k n on.
    """

    K: Array
    weights: Array

    def __post_init__(self) -> None:
        if self.K.ndim != 3 or self.K.shape[1] != self.K.shape[2] or not len(self.K):
            raise GenesigError(f"kernels must be (B, n, n); found {self.K.shape}")
        if self.weights.shape != self.K.shape[:1] or not (self.weights > 0).all():
            raise GenesigError(f"weights must be {len(self.K)} numbers > 0, one for a kernel")

    @property
    def n(self) -> int:
        """Return the number of samples."""
        return len(self.K[0])

    @property
    def d(self) -> int:
        """Return the number of expansion coefficients, B n."""
        return len(self.K) * self.n

    def columns(self, k: int) -> Array:
        """Return the places of c_k."""
        return np.arange(k * self.n, (k + 1) * self.n)

    def direction(self, k: int, alpha: Array) -> Array:
        """Return alpha, of norm 1 in the kernel's space; 0 where it has none."""
        norm = np.sqrt(max(float(np.vdot(alpha, self.K[k] @ alpha)), 0.0))
        return alpha / norm if norm > 0 else np.zeros_like(alpha)

    @property
    def single(self) -> bool:
        """Return whether each block is one column."""
        return False

    def inside(self, s: int) -> Array:
        """Return all samples."""
        return np.ones(self.n, dtype=bool)

    def squares(self, alphas: Array, which: Sequence[int] = ()) -> Array:
        """Return ``tr alpha'K_k alpha``, (P, B), of alphas (P, n, T)."""
        P, n, T = alphas.shape
        stacked = alphas.transpose(1, 0, 2).reshape(n, P * T)
        reached = (self.K.reshape(-1, n) @ stacked).reshape(-1, n, P, T)
        found: Array = np.einsum("kipt,pit->pk", reached, alphas)
        return np.maximum(found, 0)

    def parts(self, s: int, blocks: Array) -> Array:
        """Return some K_k, see `columns.lower`."""
        return lower(self.K[blocks])
