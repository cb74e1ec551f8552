"""What report_data.json keeps of nonlinear selection."""

from __future__ import annotations

from typing import TypedDict

from genesig.report.page.compared import Difference
from genesig.report.page.record import Study


class Settings(TypedDict):
    """What the page reads of the config's section ``nonlinear``."""

    genes: int | None
    kernel: str
    width: list[float]
    degree: int
    penalty: str
    mu: float
    groups: str | None
    nu: list[float]
    tau_min: float
    tau_count: int
    debias: bool
    lam: list[float]
    tolerance: float
    fvm_genes: list[int]
    fvm_bins: int


class SelectedGene(TypedDict):
    """How often a gene is selected, by both, and the size of the derivative by it.

    ``mean_norm`` is over the splits that select the gene, ``final_norm`` 0 where the model of all
    samples does without it.
    """

    gene: str
    symbol: str
    frequency: float
    linear_frequency: float
    mean_norm: float | None
    final_norm: float
    in_list: bool
    in_signature: bool


class Agreement(TypedDict):
    """Core genes shared with those of the chosen linear lists."""

    n_linear: int
    n_nonlinear: int
    shared: int
    jaccard: float | None
    jaccard_in_split: float | None


class Trouble(TypedDict):
    """What did not go as asked.

    Splits, paths that were cut and paths of the inner folds that were, of so many; fits that did
    not converge; splits without a gene; what was said of splits, and how much more.
    """

    splits: int
    cut: int
    inner_cut: int
    inner: int
    unfinished: int
    none: int
    messages: list[str]
    more: int


class FinalModel(TypedDict):
    """What was chosen for the model of all samples, and the share that no gene at all fits."""

    tau: float | None
    nu: float | None
    width: float | None
    lam: float | None
    explained_by_none: float | None
    n_genes: int


class Curve(TypedDict):
    """Partial dependence on one gene; ``straight`` is r² with a line."""

    gene: str
    symbol: str
    norm: float
    straight: float | None
    value: list[float]
    effect: list[float]
    samples: list[int]


class Curves(TypedDict):
    """At most 12 curves of ``drawn_from``.

    ``straight`` is the median r² with a line of all of them, ``bent`` the number below 0.9.
    """

    curves: list[Curve]
    drawn_from: int
    straight: float | None
    bent: int


class NonlinearRecord(Curves):
    """Nonlinear selection, summed up.

    ``genes`` are at most 50 of the ``ever`` that any split selected. ``sizes`` and ``none`` are
    smallest, median and largest over the splits: of the number of genes, and of the share fitted
    by no gene. ``screened`` is the number of genes that each training set kept.
    """

    screened: int
    genes: list[SelectedGene]
    ever: int
    agreement: Agreement
    difference: Difference | None
    fvm: Difference | None
    sizes: list[float]
    none: list[float | None]
    trouble: Trouble
    model: FinalModel


class Nonlinear(Study):
    """What this topic reads; null where nonlinear selection was not run."""

    nonlinear: NonlinearRecord | None
