"""The settings of the two-stage protocol: section ``linear`` of the config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.arrays import Array

LEARNED = "learned"
"""What ``data.omics`` says where the inner folds choose the factors."""

MODERATE = 1e-2
"""Largest mu, in units of ||X'X||/n, whose lists are searched unasked: beyond it they are long."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One attribute for each key of the section; the schema explains and bounds them.

    ``most``, ``list_mu``, ``fdr``, ``least`` and ``size`` are keys of ``signature``: they say which
    lists become the answers. ``learn_omics``: whether ``data.omics`` is ``learned``.
    """

    list: str
    model: str
    penalty: str
    jump: float
    tau_min: float
    tau_count: int
    lam: Sequence[float]
    mu: Sequence[float]
    mu_choice: Sequence[float] | None
    longest: int | None
    criterion: str
    one_standard_error: bool
    threshold: str
    solver: str
    tolerance: float
    most: float
    list_mu: float | None
    fdr: float
    least: int
    size: int | None
    learn_omics: bool

    def tau_fractions(self) -> Array:
        """Return the grid of tau as falling fractions of tau_max, (tau_count,).

        tau_max itself selects nothing and is left out.
        """
        return np.geomspace(1.0, self.tau_min, self.tau_count + 1)[1:]

    def searched_mu(self) -> Array:
        """Return the mu among which list stable chooses, (n_searched,)."""
        known = [value for value in self.mu if value <= MODERATE] or self.mu[:1]
        return np.asarray(known if self.mu_choice is None else self.mu_choice, dtype=float)

    def lam_grid(self) -> Array:
        """Return lam in rising order, (n_lam,), whatever the order in the config."""
        return np.sort(np.asarray(self.lam, dtype=float))


def keywords(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a `Protocol` from a resolved config."""
    wanted = config["signature"]
    own = {key: wanted[key] for key in ("most", "fdr", "least", "size")}
    return {**config["linear"], **own, "list_mu": wanted["mu"],
            "learn_omics": config["data"]["omics"] == LEARNED}  # fmt: skip
