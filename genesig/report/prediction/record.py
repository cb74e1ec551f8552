"""What the topic of prediction reads of report_data.json."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.record import Study


class Surface(TypedDict):
    """The validation error over tau and the ``rows``, mean over the outer splits.

    The rows are values of mu, each at its best lam, where several were searched, else of lam
    (``along``). ``error`` is rows × n_tau, ``size`` the number of genes, searched mu × n_tau; null
    where a split's list was longer than can be chosen. ``chosen`` has [tau number, row, splits],
    ``final`` [tau number, row] of the final model.
    """

    tau: list[float]
    along: str
    rows: list[float]
    error: list[list[float | None]]
    size: list[list[float | None]]
    chosen: list[list[int]]
    final: list[int]


class Prediction(Study):
    """How the model was selected, beside what every topic may read."""

    surface: Surface
