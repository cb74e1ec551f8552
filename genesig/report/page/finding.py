"""The numbers of the first screen, as report_data.json keeps them under ``answer``."""

from __future__ import annotations

from typing import TypedDict

from genesig.selection.assess.detectable import Detectable


class Error(TypedDict):
    """The error, and its value without any signal."""

    name: str
    chance: float
    value: float | None
    low: float | None
    high: float | None


class P(TypedDict):
    """The p-value, and the smallest that so many permutations allow."""

    value: float | None
    permutations: int
    smallest: float


class Stability(TypedDict):
    """Stability of the signature's list; ``source`` is half_subsamples or outer_splits.

    ``lasso`` is that of lists of the lasso, as long; ``than_chance`` and ``than_lasso`` say more,
    less or alike; ``blocks`` is the stability of the blocks that the lists hit. All null for
    outer_splits, and where they are not defined.
    """

    value: float
    source: str
    sets: int
    than_chance: str | None
    lasso: float | None
    than_lasso: str | None
    blocks: float | None


class Halves(TypedDict):
    """Halves of the samples drawn, and whether every list of them was empty."""

    drawn: int
    empty: bool


class Control(TypedDict):
    """The predictor of smallest held-out error of the ``of`` that are not this procedure.

    ``difference`` is its error less that of this procedure on the same samples, with its interval.
    """

    model: str
    of: int
    error: float
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None


class CohortError(TypedDict):
    """The error of the final model in one data set of another study, as in controls.tsv."""

    name: str
    samples: int
    seen: bool
    error: float | None
    low: float | None
    high: float | None


class Cohorts(TypedDict):
    """Data sets of other studies, and in how many of them the model is better than chance.

    Those with a sample that trained the model are no evidence and not counted. Better is where the
    interval of its AUC lies above 0.5, or that of R² above 0; worse where it lies below. ``rows``
    are all of them, in their order.
    """

    tested: int
    better: int
    worse: int
    rows: list[CohortError]


class Measured(TypedDict):
    """A measure of the held-out decisions (auc, sensitivity, specificity) with its interval."""

    name: str
    value: float
    low: float | None
    high: float | None


class Price(TypedDict):
    """The error of models of named genes alone, and its difference to that of the study."""

    error: float
    low: float | None
    high: float | None
    difference: float
    difference_low: float | None
    difference_high: float | None


class Evidence(TypedDict):
    """How many genes can be named, and what that costs.

    ``expected`` is how many of the ``named`` ones are to be expected by chance, the largest q among
    them times their number; ``passing`` counts those whose q is small enough, which are more than
    the named ones where permuted labels give as many. ``model`` is the number of genes of the
    predictive model. ``price`` is null where no gene is named, or where these are all that predict.
    """

    named: int
    expected: float
    passing: int
    model: int
    price: Price | None


class Chip(TypedDict):
    """A gene of the signature, and ``up`` where it rises with the response.

    ``named``, ``half_frequency`` and ``q`` are null where no evidence was looked for, ``core``
    where it was.
    """

    gene: str
    symbol: str
    frequency: float
    named: bool | None
    half_frequency: float | None
    q: float | None
    core: bool | None
    up: bool | None


class WrongSample(TypedDict):
    """A sample that was wrong more often than right."""

    sample: str
    wrong: int
    tested: int


class Wrong(TypedDict):
    """Samples wrong more often than right, those wrong each time, and how many were tested."""

    mostly: list[WrongSample]
    always: list[str]
    samples: int


class Verdict(TypedDict):
    """The grade of a study (`genesig.report.page.verdict.Grade`), and what it rests on.

    ``here`` is that of the models of this study alone, ``by`` what carries it: genes, all genes or
    sets. ``small`` is whether p is at most .05, null where permutations cannot tell; ``excludes``
    whether the interval excludes guessing, that of the gain where covariates are held fixed.
    """

    grade: str
    here: str
    by: str
    small: bool | None
    excludes: bool | None


class Finding(TypedDict):
    """The numbers of the first screen.

    ``size`` is the number of genes of the signature: those of the final model, and the named ones.
    ``evidence`` is null where none was looked for, the number of ``core`` genes where it was.
    ``lengths`` are the smallest, median and largest length of the splits' lists.
    """

    size: int
    evidence: Evidence | None
    core: int | None
    lengths: list[int]
    error: Error
    p: P
    detectable: Detectable
    stability: Stability | None
    halves: Halves
    control: Control | None
    cohorts: Cohorts
    wrong: Wrong | None
    measures: list[Measured]
    chips: list[Chip]
