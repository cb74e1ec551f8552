"""One training set as the penalty sees it: screened genes, their groups, the settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.optim.nonlinear.choice import Fit, Settings, fit_path
from genesig.selection.nonlinear.groups import groups_of_file, linear_blocks
from genesig.selection.nonlinear.protocol import NonlinearProtocol
from genesig.selection.nonlinear.screen import screen

Array = np.ndarray[Any, Any]

FEWEST = 3
"""Samples below which no model is fitted."""


@dataclass(frozen=True)
class Given:
    """What all training sets of a matrix share.

    Attributes
    ----------
    names : list of str
        Gene of each column.
    scaled : bool
        Whether the study scales genes to unit variance (``normalise.folds``).
    named : dict of str to str, or None
        Group of each gene, from a file.
    """

    protocol: NonlinearProtocol
    names: list[str]
    scaled: bool
    named: dict[str, str] | None


@dataclass(frozen=True)
class Ground:
    """Training rows and screened genes; everything here is learned on these rows alone.

    Attributes
    ----------
    X, y : (n, d'), (n,)
    genes : (d',) int
        Columns of the matrix that were kept.
    settings : Settings
        With the groups of these genes, and all weights of the ridge.
    """

    X: Array
    y: Array
    genes: Array
    settings: Settings

    @property
    def fits(self) -> bool:
        """Whether there is anything to fit: enough samples, and a gene that varies."""
        return len(self.y) >= FEWEST and len(self.genes) > 0 and bool(np.ptp(self.y) > 0)

    def path(self, nu: float, width: float, tau: Array, lam: Array) -> Fit:
        """Follow the path with these weights of the ridge."""
        settings = replace(self.settings, lam=lam)
        return fit_path(self.X, self.y, settings, nu=nu, width=width, tau=tau.tolist())


def prepare(X: Array, y: Array, rows: Array, given: Given) -> Ground:
    """Screen and group on the given rows of a matrix; genes constant on them are left out."""
    protocol, mine, response = given.protocol, X[rows], y[rows]
    genes = screen(mine, response, protocol.genes)
    genes = genes[np.ptp(mine[:, genes], axis=0) > 0]
    mine = mine[:, genes]
    groups = None
    if protocol.penalty == "group" and len(genes) and np.ptp(response) > 0:
        groups = (
            linear_blocks(mine, response, tau=protocol.block_tau, scaled=given.scaled)
            if given.named is None
            else groups_of_file([given.names[gene] for gene in genes], given.named)
        )
    return Ground(mine, response, genes, _settings(given, groups))


def _settings(given: Given, groups: list[list[int]] | None) -> Settings:
    """Fill the settings; a group weighs the square root of its size, as in the group lasso."""
    protocol = given.protocol
    return Settings(
        kernel=protocol.kernel, degree=protocol.degree, offset=protocol.offset,
        penalty=protocol.penalty, mu=protocol.mu, groups=groups,
        weights=None if groups is None else np.sqrt([len(group) for group in groups]),
        lam=protocol.ridge_grid() if protocol.debias else np.zeros(0),
        standardise=given.scaled, solver=protocol.solver, tolerance=protocol.tolerance,
        max_iterations=protocol.max_iterations,
    )  # fmt: skip
