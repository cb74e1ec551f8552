"""Studies to one location and spread of each gene: each by itself, or by what some have taught."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from genesig.data.steps.combat import FEWEST as FEWEST_OF_BATCH
from genesig.data.steps.combat import Combat, ReferenceBatch

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

FEWEST = 10
"""Samples that a study, or a batch of new samples, needs for moments of its own."""


@dataclass(frozen=True, eq=False)
class AlignStudies:
    """x - m of each gene, divided by s if the spread is to be the same, too.

    m and s (ddof 0) are those of the sample's own study, over all its samples and none other: what
    is held out has no part in what trains, because studies are held out whole. Where the mix of
    classes differs between studies, part of what tells the classes apart goes with m.

    Attributes
    ----------
    column : str
        Column of the sample table that names the studies. Samples without one are a study.
    spread : bool
        Whether s is divided by. A gene that is constant in a study becomes 0 there.
    """

    column: str
    spread: bool
    kind: ClassVar[Literal["study"]] = "study"
    genes: ClassVar[None] = None

    def transform(self, X: Array, about: pd.DataFrame | None = None) -> Array:
        """Align the rows of each study; what is missing stays so, and has no part in m and s."""
        out = np.empty(X.shape)
        for rows in _studies(self.column, len(X), about).values():
            own = X[rows]
            known = np.maximum(np.isfinite(own).sum(axis=0), 1)
            out[rows] = own - np.nansum(own, axis=0) / known
            if self.spread:
                deviation = np.sqrt(np.nansum(out[rows] ** 2, axis=0) / known)
                flat = deviation <= np.finfo(float).eps * np.abs(own).max(axis=0, initial=0.0)
                out[rows] *= np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))
        return out


@dataclass(frozen=True, eq=False)
class FixStudies:
    r"""x less the location of its study, plus the mean of these: study held fixed in training.

    Locations :math:`l_k` are those of least squares on the training samples, :math:`x = l_k + b'r`
    with their response r, so that a study with more cases does not lie elsewhere for that. A study
    that took no part in training stays as it is: it is taken to lie where the mean of these does.

    Attributes
    ----------
    column : str
        Column of the sample table that names the studies.
    batches : sequence of str
        Those of the training samples.
    shift : (K, n_genes) float
        :math:`l_k` less their mean.
    """

    column: str
    batches: Sequence[str]
    shift: Array
    kind: ClassVar[Literal["studies"]] = "studies"
    genes: ClassVar[None] = None

    @classmethod
    def fit(
        cls, X: Array, about: pd.DataFrame, *, column: str, response: Array
    ) -> FixStudies:  # fmt: skip
        """Estimate the locations; `response` has a number for each row, or a column a class."""
        own = _studies(column, len(X), about)
        member = np.zeros((len(X), len(own)))
        for k, rows in enumerate(own.values()):
            member[rows, k] = 1.0
        mean, R = member.T / member.sum(axis=0)[:, None], np.asarray(response, dtype=float)
        R = R.reshape(len(X), -1)
        slopes = np.linalg.lstsq(R - member @ (mean @ R), X, rcond=None)[0]
        location = mean @ (X - R @ slopes)
        return cls(column, list(own), location - location.mean(axis=0))

    def transform(self, X: Array, about: pd.DataFrame | None = None) -> Array:
        """Shift the rows of the training studies."""
        out, shift = X.copy(), dict(zip(self.batches, np.asarray(self.shift), strict=True))
        for name, rows in _studies(self.column, len(X), about).items():
            if name in shift:
                out[rows] -= shift[name]
        return out


@dataclass(frozen=True, eq=False)
class CombatStudies:
    """`Combat` over the training studies; any other study is brought to what they became.

    The other one is a `ReferenceBatch` by itself, of `FEWEST_OF_BATCH` samples at least: fewer stay
    as they are. Labels take no part.

    Attributes
    ----------
    column : str
        Column of the sample table that names the studies.
    batches, mean, scale, gamma, delta
        Of the `Combat` that was fitted.
    """

    column: str
    batches: Sequence[str]
    mean: Array
    scale: Array
    gamma: Array
    delta: Array
    kind: ClassVar[Literal["studies"]] = "studies"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, about: pd.DataFrame, *, column: str) -> CombatStudies:
        """Estimate the shift and the variance of each study."""
        names = about[column].astype(str).tolist()
        found = Combat.fit(X, batch=names, reference=None, covariates=None)
        # Of one study there is nothing to learn, and it is the reference as it stands.
        to = found if len(found.batches) > 1 else ReferenceBatch.fit(X)
        return cls(column, found.batches, to.mean, to.scale, found.gamma, found.delta)

    def transform(self, X: Array, about: pd.DataFrame | None = None) -> Array:
        """Adjust the rows of each study."""
        mean, scale, gamma, delta = map(np.asarray, (self.mean, self.scale, self.gamma, self.delta))
        known = Combat(tuple(self.batches), mean, scale, np.zeros((0, len(mean))), gamma, delta)
        out = np.array(X)
        for name, rows in _studies(self.column, len(X), about).items():
            if name in self.batches:
                out[rows] = known.transform(X[rows], batch=[name] * len(rows), covariates=None)
            elif len(rows) >= FEWEST_OF_BATCH:
                out[rows] = ReferenceBatch(mean, scale).transform(X[rows])
        return out


def _studies(column: str, n: int, about: pd.DataFrame | None) -> dict[str, Array]:
    """Return the rows of each study, by name; one without a name where none is known."""
    if about is None or column not in about:
        return {"": np.arange(n)}
    names = about[column].astype(str).to_numpy(dtype=object)
    return {str(name): np.flatnonzero(names == name) for name in np.unique(names)}


ALIGNED: dict[str, tuple[dict[str, Any], ...]] = {
    "none": (),
    "centre": ({"step": "align_studies", "spread": False},),
    "standardise": ({"step": "align_studies", "spread": True},),
    "rank": ({"step": "rank_samples"},),
}
"""What ``across.align`` does to each study by itself, as steps after the row-wise ones."""

LEARNED = {"fixed": "fix_studies", "combat": "combat_studies"}
"""What it does by what training studies have taught, as the first of the learned steps."""

AUTO = "auto"

ALIGNERS: dict[str, Any] = {
    "align_studies": AlignStudies,
    "fix_studies": FixStudies,
    "combat_studies": CombatStudies,
}
"""Steps that no config may list: they follow from ``across.align``."""
