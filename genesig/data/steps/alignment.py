"""Studies to one location and spread of each gene, and which way of it to train with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.combat import FEWEST as FEWEST_OF_BATCH
from genesig.data.steps.combat import Combat, ReferenceBatch

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 10
"""Samples that a study, or a batch of new samples, needs for moments of its own."""


@dataclass(frozen=True, eq=False)
class AlignStudies:
    """x - m of each gene, divided by s if the spread is to be the same, too.

    m and s (ddof 0) are those of the sample's own study, over all its samples and none other: a
    study that is held out whole has no part in what trains; single samples that are held out have
    one by their values, and none by their labels. Where the mix of
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
    def fit(cls, X: Array, about: pd.DataFrame, *, column: str, response: Array) -> FixStudies:
        """Estimate the locations; `response` has a number for each row, or a column a class."""
        own = _studies(column, len(X), about)
        member = np.zeros((len(X), len(own)))
        for k, rows in enumerate(own.values()):
            member[rows, k] = 1.0
        mean = member.T / member.sum(axis=0)[:, None]
        R = np.asarray(response, dtype=float)
        R = R.reshape(len(X), -1)
        slopes = np.linalg.lstsq(R - member @ (mean @ R), X, rcond=None)[0]
        location = mean @ (X - R @ slopes)
        return cls(column, list(own), location - location.mean(axis=0))

    def transform(self, X: Array, about: pd.DataFrame | None = None) -> Array:
        """Shift the rows of the training studies."""
        out = X.copy()
        shift = dict(zip(self.batches, np.asarray(self.shift), strict=True))
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


CANDIDATES = ("standardise", "centre", "none", "rank")
"""Names in `alignment.ALIGNED`; the first of equals is taken, and where one study trains."""
PENALTIES = (0.1, 1.0, 10.0)
"""Of ridge, in units of the mean eigenvalue of the training set."""
FEWEST_SAMPLES = 2
"""Training studies of which one can be left out."""
ROOM = 2.5e8
"""Bytes that predictors may hold that were made before."""
DIGITS = 9


@dataclass(frozen=True, eq=False)
class Alignments:
    """Aligned copies of studies, and how well each carries over from studies to another.

    Every candidate aligns a study by that study alone and without its labels, so that one copy
    serves all training sets. Which of them is taken depends on labels: those of the training
    samples, and of no others.

    Attributes
    ----------
    align : callable
        The name of a candidate to the aligned matrix of all samples, (n_samples, n_genes).
    studies : (n_samples,) str
        Study of each sample.
    """

    align: Callable[[str], Array]
    studies: Array
    _copies: dict[str, Array] = field(default_factory=dict)
    _products: dict[str, Array] = field(default_factory=dict)
    _known: dict[bytes, Predictors] = field(default_factory=dict)

    def copy(self, name: str) -> Array:
        """Return the aligned matrix."""
        if name not in self._copies:
            self._copies[name] = self.align(name)
        return self._copies[name]

    def errors(self, response: Array, rows: Array, moved: Array | None = None) -> dict[str, float]:
        r"""Return the error of each candidate.

        .. math:: \min_\lambda \sum_k \|R_k - \hat R_k\|^2 / n_k,

        :math:`\hat R_k` is what ridge says of study k by the other training studies, each of which
        counts alike. Empty where fewer than `FEWEST_SAMPLES` studies train.

        Parameters
        ----------
        response : (n,) or (n, T) float
            Of the training rows.
        rows : (n,) int
            Training rows, rising.
        moved : (n_samples, n_samples) float or None
            What samples exchange beforehand: ``moved @ X`` stands in the place of each copy.
        """
        R = np.asarray(response, dtype=float).reshape(len(rows), -1)
        found = {}
        for name, each in self._predictors(rows, moved).items():
            lost = np.zeros(len(PENALTIES))
            for test, train, hats in each:
                gap = R[test] - hats @ R[train]
                lost += np.square(gap).sum(axis=(1, 2)) / len(test)
            found[name] = float(lost.min())
        return found

    def best(self, response: Array, rows: Array, moved: Array | None = None) -> str:
        """Return the candidate of the smallest error (see `errors`)."""
        return chosen(self.errors(response, rows, moved))

    def _predictors(self, rows: Array, moved: Array | None) -> Predictors:
        """Return those of some training rows; they hang on no label, so serve permuted ones too."""
        key = rows.tobytes()
        if moved is None and key in self._known:
            return self._known[key]
        names = self.studies[rows]
        made: Predictors = {}
        if len(np.unique(names)) >= FEWEST_SAMPLES:
            for name in CANDIDATES:
                G = self._product(name)
                G = G if moved is None else moved @ G @ moved.T
                made[name] = _left_out(G[np.ix_(rows, rows)], names)
        if moved is None:
            if len(self._known) * len(CANDIDATES) * len(PENALTIES) * 8 * len(rows) ** 2 > ROOM:
                self._known.clear()
            self._known[key] = made
        return made

    def _product(self, name: str) -> Array:
        if name not in self._products:
            X = self.copy(name)
            self._products[name] = X @ X.T
        return self._products[name]


def chosen(errors: Mapping[str, float]) -> str:
    """Return the candidate of the smallest error, the first of equals."""
    return min(CANDIDATES, key=lambda name: round(errors.get(name, 0.0), DIGITS))


Predictors = dict[str, list[tuple[Array, Array, Array]]]
"""Candidate to (test rows, training rows, H (n_penalties, n_test, n_train)) of each study."""


def _left_out(G: Array, names: Array) -> list[tuple[Array, Array, Array]]:
    """Return the rows of each study, those of the others, and what ridge makes of these."""
    out = []
    for name in np.unique(names):
        test = np.flatnonzero(names == name)
        train = np.flatnonzero(names != name)
        _, of, size = np.unique(names[train], return_inverse=True, return_counts=True)
        out.append(
            (
                test,
                train,
                _ridge(
                    G[np.ix_(train, train)], G[np.ix_(test, train)], 1.0 / (len(size) * size[of])
                ),
            )
        )
    return out


def _ridge(K: Array, across: Array, p: Array) -> Array:
    """Return H of predictions H r, (n_penalties, n_test, n_train), samples weighing p (sum 1).

    Centred kernel ridge: with C = I - 1p', K~ = C K C', D = diag(p) and k~ the centred rows of the
    test samples, H = 1p' + k~ D^½ (D^½ K~ D^½ + λ I)^-1 D^½ C.
    """
    n = len(p)
    half = np.sqrt(p)
    mean = K @ p
    centred = K - mean[:, None] - mean + p @ mean
    across = across - (across @ p)[:, None] - mean + p @ mean
    A = half[:, None] * centred * half
    unit = np.trace(A) / n
    unit = unit if unit > 0 else 1.0
    C = np.eye(n) - p
    inverse = [
        np.linalg.solve(A + each * unit * np.eye(n), half[:, None] * C) for each in PENALTIES
    ]
    return np.asarray(p + (across * half) @ np.stack(inverse))
