"""What report_data.json keeps of enrichment."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.record import Study

LEVEL = 0.05
"""Share of the studies without an effect in which some set may be called."""


class Settings(TypedDict):
    """What the page reads of the config's section ``enrichment``."""

    sets: str | None
    smallest: int
    largest: int


class Over(TypedDict):
    """A set of which the chosen lists hold some genes; p is that over all sets."""

    set: str
    shared: float
    expected: float
    p: float


class Ranked(TypedDict):
    """A set among all genes: its side, standard deviations above chance, p over all sets."""

    set: str
    higher: bool
    normalised: float
    p: float


class EnrichmentRecord(TypedDict):
    """Enrichment, summed up.

    ``known`` sets took part. ``chosen`` are the first sets of the chosen lists, of mean length
    ``size``, against those of so many ``permutations``, ``found`` the number with p at most
    `LEVEL`. ``ranked`` are the first sets of the order of all genes, ``passing`` the number with p
    at most `LEVEL`.
    """

    known: int
    permutations: int
    size: float
    chosen: list[Over]
    found: int
    ranked: list[Ranked]
    passing: int


class Enrichment(Study):
    """What this topic reads; null where no sets were named."""

    enrichment: EnrichmentRecord | None
