"""What the topic of prediction reads of report_data.json."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.record import Study


class Surface(TypedDict):
    """The validation error over tau and lam, mean over the outer splits.

    ``error`` is n_tau × n_lam, ``size`` the number of genes at each tau. ``chosen`` has
    [tau number, lam number, splits], ``final`` [tau number, lam number] of the final model.
    """

    tau: list[float]
    lam: list[float]
    error: list[list[float]]
    size: list[float]
    chosen: list[list[int]]
    final: list[int]


class Prediction(Study):
    """How the model was selected, beside what every topic may read."""

    surface: Surface
