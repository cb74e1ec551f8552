"""What the topic of genes reads of report_data.json."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from genesig.report.page.record import Study


class Named(TypedDict):
    """Genes by id and symbol."""

    genes: list[str]
    symbols: list[str]


class NestedGene(TypedDict):
    """A gene of the lists: its frequency in the chosen ones, then one a mu."""

    gene: str
    symbol: str
    frequency: list[float]


class Univariate(Named):
    """Tests of single genes, at most 1000 of ``total``, beside the selection.

    ``inside`` is whether the gene is in the signature, ``bound`` the largest p that passes the
    false discovery rate, ``significant`` the number that pass, ``both`` those of them that are in
    the signature. ``test`` is welch, differences or correlation, ``group`` the column whose
    samples were averaged, ``batch`` that of the batches in the test, ``values`` how many were
    tested per gene, ``covariates`` those in the test, where there are such.
    """

    p: list[float]
    frequency: list[float]
    inside: list[bool]
    bound: float | None
    significant: int
    both: int
    total: int
    test: str
    group: str | None
    batch: str | None
    values: int
    covariates: NotRequired[list[str]]


class Correlation(Named):
    """Pearson's r between at most 300 genes of ``total``, in the order of blocks and layers."""

    blocks: list[int]
    layers: list[int]
    r: list[list[float]]
    total: int


class Projection(Named):
    """At most 1000 genes of ``total`` on the first three meta-patients."""

    blocks: list[int]
    points: list[list[float]]
    explained: list[float]
    total: int


class Components(TypedDict):
    """The samples on up to three components of the signature's genes (their number)."""

    points: list[list[float]]
    explained: list[float]
    genes: int


class Strip(TypedDict):
    """The values of one gene."""

    gene: str
    symbol: str
    values: list[float]


class Heat(Named):
    """Standardised values (at most 100 genes of ``total`` × 300 samples), with the response."""

    blocks: list[int | None]
    samples: list[str]
    response: list[float]
    z: list[list[float]]
    total: int


class GeneParts(TypedDict):
    """What this topic adds: at most 40 genes nested, 60 strips in the order of the signature."""

    nested: list[NestedGene]
    univariate: Univariate
    correlation: Correlation
    projection: Projection
    components: Components
    strips: list[Strip]
    heat: Heat


class Genes(Study, GeneParts):
    """The lists and the values of genes, beside what every topic may read."""
