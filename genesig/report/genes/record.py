"""What the topic of genes reads of report_data.json."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from genesig.report.page.record import Limited, Study


class Named(TypedDict):
    """Genes by id and symbol."""

    genes: list[str]
    symbols: list[str]


class Univariate(TypedDict):
    """Tests of ``total`` single genes.

    ``bound`` is the largest p that passes the false discovery rate, ``significant`` the number that
    pass, ``both`` those of them that are in the signature. ``test`` is welch, differences or
    correlation, ``group`` the column whose samples were averaged, ``batch`` that of the batches in
    the test, ``values`` how many were tested per gene, ``covariates`` those in the test.
    """

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


class Strip(TypedDict):
    """The values of one gene."""

    gene: str
    symbol: str
    values: list[float]


Tree = list[list[float]]
"""Joints [left, right, from_left, from_right, height], see `genesig.report.genes.clustered`."""


class Heat(Named):
    """Standardised values (at most 100 genes of ``total`` × 1000 samples), clustered.

    ``score`` is the mean score while held out, null for a sample that never was.
    """

    samples: list[str]
    response: list[float]
    batches: list[str] | None
    score: list[float | None]
    gene_tree: Tree
    sample_tree: Tree
    z: list[list[float]]
    total: int


class Volcano(Named):
    """Effect and p of genes of ``total``; ``passes`` the false discovery rate, and in which lists.

    ``effect`` is the difference of the class means or the change with one standard deviation of a
    number; ``logarithm`` whether it is known to be one of log2.
    """

    effect: list[float]
    p: list[float]
    passes: list[bool]
    signature: list[bool]
    nonlinear: list[bool] | None
    logarithm: bool
    total: int


class Replacement(TypedDict):
    """A gene in lists that lack another: [lists with it, lists] ``without`` the other, ``beside``.

    ``r`` is Pearson's r between the two.
    """

    gene: str
    symbol: str
    without: list[int]
    beside: list[int]
    r: float | None


class Card(TypedDict):
    """A gene of the signature by itself.

    ``separation`` is the AUC of two classes, that of class ``of`` against the others, the share of
    pairs in which it is higher, Pearson's r or Harrell's C; ``effect`` the difference of the means,
    the change with one standard deviation of a number, or the hazard ratio of one standard
    deviation of the gene. ``lists`` says how many of all chosen lists hold it, halves included;
    ``missing`` the share of each class (of all samples where there are none) that misses it, null
    where no sample does.
    """

    gene: str
    of: str | None
    separation: Limited
    effect: Limited
    lists: list[int]
    replaced: list[Replacement]
    missing: list[float] | None


class Cards(TypedDict):
    """At most 40 cards, in the order of the signature; ``test`` as in Univariate.

    ``events`` says of survival whether the time of each sample ended with the event.
    """

    test: str
    events: list[bool] | None
    each: list[Card]


class GeneParts(TypedDict):
    """What this topic adds: at most 60 strips in the order of the signature."""

    univariate: Univariate
    correlation: Correlation
    strips: list[Strip]
    heat: Heat
    volcano: Volcano


class Genes(Study, GeneParts):
    """The lists and the values of genes, beside what every topic may read."""

    cards: Cards
