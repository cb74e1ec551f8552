"""What report_data.json keeps of the genes along the genome."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.record import Study


class Chromosome(TypedDict):
    """A chromosome, the position of its last gene, and the number of its genes."""

    name: str
    end: float
    genes: int


class Place(TypedDict):
    """A gene that any split or the final model selects.

    ``chromosome`` is its number in the list, ``size`` the weight in the final model times the
    gene's standard deviation, 0 if it is not in it.
    """

    gene: str
    symbol: str
    chromosome: int
    position: float
    frequency: float
    size: float


class Stretch(TypedDict):
    """A stretch of the final model, as in stretches.tsv."""

    chromosome: str | None
    start: float | None
    end: float | None
    genes: int
    first: str
    last: str
    contribution: float
    frequency: float


class GenomeRecord(TypedDict):
    """``places`` are those of the genes that were selected most often, of ``total``.

    ``placed`` genes of the study have a place; ``stretches`` are the first ones of ``found``.
    """

    chromosomes: list[Chromosome]
    places: list[Place]
    total: int
    placed: int
    stretches: list[Stretch]
    found: int


class Genome(Study):
    """What this topic reads; null where places are not known."""

    genome: GenomeRecord | None
