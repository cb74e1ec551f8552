"""Records of report_data.json about genes."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from genesig.report.page.record import Estimate, Study


class GeneNames(TypedDict):
    """Genes by id and symbol."""

    genes: list[str]  # gene ids
    symbols: list[str]


class SingleGeneTests(TypedDict):
    """Numbers of the tests of single genes."""

    bound: float | None  # largest p that passes the false discovery rate; None if no gene passes
    significant: int  # genes that pass
    in_signature: int  # those of them that are in the signature
    total: int  # tested genes
    test: str  # a key of `genesig.report.genes.section.TEST_NAMES`
    group: str | None  # column whose samples were averaged
    batch: str | None  # column of the batches in the test
    values: int  # tested values per gene
    covariates: NotRequired[list[str]]  # covariates in the test


class CorrelationMatrix(GeneNames):
    """Pearson's r between genes of the blocks."""

    blocks: list[int]  # block of each gene
    layers: list[int]  # layer of each gene within its block
    r: list[list[float]]  # (n_genes, n_genes)
    total: int  # genes in blocks, of which at most `MAX_CORRELATED_GENES` are here


class GeneStrip(TypedDict):
    """The values of one gene in the samples of the page."""

    gene: str
    symbol: str
    values: list[float]


# joints [left, right, height_left, height_right, height], see `cluster_rows`
Tree = list[list[float]]


class HeatMap(GeneNames):
    """Standardised values of the signature, with genes and samples in the order of their trees."""

    samples: list[str]
    response: list[float]  # of each sample
    batches: list[str] | None  # batch of each sample
    score: list[float | None]  # mean score while held out; None for a sample that never was
    gene_tree: Tree
    sample_tree: Tree
    z: list[list[float]]  # (n_genes, n_samples), clipped to ±4
    total: int  # genes in the signature


class VolcanoPlot(GeneNames):
    """Effect and p of single genes."""

    effect: list[float]  # see `genesig.report.genes.collect.gene_effects`
    p: list[float]
    passes: list[bool]  # whether the gene passes the false discovery rate
    signature: list[bool]  # whether it is in the signature
    nonlinear: list[bool] | None  # whether it is in the nonlinear list; None without one
    logarithm: bool  # whether the steps say that the values are log2
    total: int  # tested genes


class Replacement(TypedDict):
    """A gene that is selected if the gene of the card is not."""

    gene: str
    symbol: str
    in_lists_without_gene: list[int]  # [lists with it, lists] of the lists without that gene
    in_lists_with_gene: list[int]  # [lists with it, lists] of the lists with that gene
    r: float | None  # Pearson's r between the two genes


class GeneCard(TypedDict):
    """A gene of the signature by itself."""

    gene: str
    class_of_direction: str | None  # class against the others; None unless there are several
    separation: Estimate  # AUC, share of pairs, Pearson's r or Harrell's C, by the test
    effect: Estimate  # difference of the means, change per standard deviation, or hazard ratio
    replacements: list[Replacement]
    # share of missing values in each class; None if no value is missing
    missing: list[float] | None


class GeneCards(TypedDict):
    """Cards in the order of the signature, at most `MAX_CARDS`."""

    test: str  # as in `SingleGeneTests`
    events: list[bool] | None  # survival only: whether the time of each sample ended with the event
    genes: list[GeneCard]


class GeneParts(TypedDict):
    """The parts of report_data.json about genes."""

    univariate: SingleGeneTests
    correlation: CorrelationMatrix
    strips: list[GeneStrip]  # in the order of the signature, at most `MAX_STRIPS`
    heat: HeatMap
    volcano: VolcanoPlot
    cards: GeneCards


class Genes(Study, GeneParts):
    """The keys of report_data.json that this topic reads."""
