"""Centring and scaling of genes by training samples, and the stored state of fitted steps."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.sample_wise import LearnedStep, inverse_scale


@dataclass(frozen=True, eq=False)
class Centre(LearnedStep):
    """Subtract the training mean from each gene."""

    mean: Array  # (n_genes,) float

    @classmethod
    def fit(cls, X: Array) -> Centre:
        """Average each column."""
        return cls(X.mean(axis=0))

    def transform(self, X: Array) -> Array:
        """Subtract the stored means."""
        return X - self.mean


@dataclass(frozen=True, eq=False)
class UnitVariance(LearnedStep):
    """Divide each gene by its training standard deviation (ddof=0)."""

    # (n_genes,) float: 1 / standard deviation; 0 for a gene that is constant on the training rows,
    # which becomes 0 everywhere
    inverse_scale: Array

    @classmethod
    def fit(cls, X: Array) -> UnitVariance:
        """Measure the deviation of each column from its mean."""
        return cls(inverse_scale(X, axis=0))

    def transform(self, X: Array) -> Array:
        """Multiply by the stored inverse deviations."""
        return X * self.inverse_scale


def state_of(step: Any) -> dict[str, Any]:
    """Return the stored fields of a fitted step: arrays as lists, None for a missing number."""
    return {name: _json_value(getattr(step, name)) for name in stored_fields(step)}


def stored_fields(step: Any) -> list[str]:
    """Return the names of the stored fields of a step, or of its class."""
    return [field.name for field in fields(step) if field.metadata.get("stored", True)]


def _json_value(value: Any) -> Any:
    """Return a field as JSON has it: a list for an array, None for a missing number."""
    if not isinstance(value, np.ndarray):
        return list(value) if isinstance(value, tuple) else value
    if value.dtype.kind == "f" and np.isnan(value).any():
        value = np.where(np.isnan(value), np.array(None), value)
    return value.tolist()
