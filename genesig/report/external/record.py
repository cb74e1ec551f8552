"""What report_data.json keeps of each data set of another study."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from genesig.report.page.group_curves import GroupCurve
from genesig.report.page.record import Study


class LeftOut(TypedDict):
    """Samples left out for one reason."""

    reason: str
    count: int


class Score(TypedDict):
    """A measure with its 95 % interval, and the samples that it is of."""

    value: float | None
    low: float | None
    high: float | None
    samples: float


class Point(TypedDict):
    """A sample: its label there and here, what the model made of it, and whether that is wrong.

    Of several classes the score is the largest.
    """

    sample: str
    given: str
    label: str
    predicted: str | float
    wrong: bool | None
    score: float


class Roc(TypedDict):
    """False and true positive rates over falling thresholds."""

    x: list[float]
    y: list[float]


class Group(TypedDict):
    """Samples of similar scores: the share of positive ones, and the one expected of the score."""

    score: float
    samples: int
    share: float
    low: float
    high: float
    expected: float


class Gene(TypedDict):
    """A row of genes.tsv; ``shift_before`` after ComBat only."""

    gene: str
    symbol: str
    coef: float
    training_mean: float | None
    training_sd: float | None
    mean: float | None
    sd: float | None
    shift: float | None
    shift_before: NotRequired[float | None]
    score_shift: float | None
    imputed: int


class Shifts(TypedDict):
    """Genes in each bar, the median size of the shift, and the share beyond 1."""

    genes: int
    counts: list[int]
    median: float
    beyond: float


class Shift(TypedDict):
    """Shifts of all genes, in training standard deviations; ``by_chance`` is one of them."""

    measured: Shifts
    scored: Shifts
    edges: list[float]
    by_chance: float


class Quantiles(TypedDict):
    """Quantiles of the values of both studies."""

    share: list[float]
    training: list[float]
    cohort: list[float]


class CohortRecord(TypedDict):
    """A data set of another study.

    ``classes`` maps each class to its samples. ``needed`` are the genes of the model, ``absent``
    those nowhere measured, ``imputed`` the samples with a gene filled in, ``missing`` the largest
    share allowed; ``seen_before`` counts samples of the training set. ``inputs`` maps file to
    SHA-256. There are at most 1000 ``points``; ``confusion`` has a row for each true class. Of
    survival there are ``events``, the ``curves`` of the groups of risk and the ``horizon``.
    """

    name: str
    file: str
    classes: dict[str, int] | None
    combat: bool
    batches: int
    needed: int
    absent: int
    imputed: int
    missing: float
    seen_before: int
    inputs: dict[str, str]
    warnings: list[str]
    samples: int
    left_out: list[LeftOut]
    scores: dict[str, Score]
    points: list[Point]
    roc: Roc | None
    confusion: list[list[int]] | None
    reliability: list[Group]
    genes: list[Gene]
    shift: Shift
    quantiles: Quantiles
    events: NotRequired[int]
    curves: NotRequired[list[GroupCurve]]
    horizon: NotRequired[float]


class NotAssessable(TypedDict):
    """A data set that the model could not be tested on, and why."""

    name: str
    reason: str


class External(Study):
    """What this topic reads: one record for each data set that was tested; the others."""

    external: list[CohortRecord]
    not_assessable: list[NotAssessable]
