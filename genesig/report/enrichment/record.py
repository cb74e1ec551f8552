"""What report_data.json keeps of enrichment."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.record import Study


class Settings(TypedDict):
    """What the page reads of the config's section ``enrichment``."""

    sets: str | None
    smallest: int
    largest: int


class Over(TypedDict):
    """A set of which a list holds more than expected."""

    set: str
    shared: float
    expected: float
    p: float
    q: float


class Ranked(TypedDict):
    """A set in the order of all genes."""

    set: str
    genes: int
    normalised: float | None
    p: float
    q: float


class EnrichmentRecord(TypedDict):
    """Enrichment, summed up.

    ``known`` sets took part. ``signature`` are the first sets of the signature with q at most the
    threshold, ``found`` their number, ``size`` the genes of the signature; ``chosen`` and
    ``steady`` the same for the chosen lists against permuted labels, null where there were none.
    ``ranked`` are the first sets of the order, ``passing`` the number with q at most the threshold.
    """

    known: int
    fdr: float
    size: int
    signature: list[Over]
    found: int
    chosen: list[Over] | None
    steady: int
    ranked: list[Ranked]
    passing: int


class Enrichment(Study):
    """What this topic reads; null where no sets were named."""

    enrichment: EnrichmentRecord | None
