"""What report_data.json keeps of the selection of gene sets."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.compared import Difference
from genesig.report.page.finding import P
from genesig.report.page.record import Study


class Settings(TypedDict):
    """What the page reads of the config's section ``structured``."""

    sets: str | None
    column: str | None
    weights: str
    others: str
    smallest: int
    largest: int
    mu: list[float]
    tau_min: float
    tau_count: int
    one_standard_error: bool


class SelectedSet(TypedDict):
    """How often a set is selected, and its share of the score, mean and in the final model."""

    set: str
    genes: int
    named: int
    frequency: float
    mean_share: float | None
    final_share: float
    in_list: bool


class Agreement(TypedDict):
    """Stability of a kind of list on pairs of halves; null where it was not measured."""

    value: float | None
    mean_size: float | None


class SetsRecord(TypedDict):
    """The selection of gene sets, summed up.

    ``known`` sets took part; ``sets`` are at most 30 of the ``ever`` that any split selected,
    ``often`` the number of those in a list, ``final`` that of the final model. ``sizes`` are
    smallest, median and largest number of sets over the splits, ``unfinished`` fits that did not
    converge.
    """

    known: int
    sets: list[SelectedSet]
    ever: int
    often: int
    final: int
    sizes: list[float]
    unfinished: int
    difference: Difference
    p: P
    stability: Agreement
    of_genes: Agreement


class Sets(Study):
    """What this topic reads; null where no sets were named."""

    sets: SetsRecord | None
