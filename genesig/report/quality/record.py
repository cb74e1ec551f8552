"""What quality.json says of the samples, as report_data.json keeps it."""

from __future__ import annotations

from typing import Any, TypedDict

from genesig.report.page.record import Study

Band = list[float | None]
"""Values at 5, 25, 50, 75 and 95 % of the genes of one sample."""


class Scale(TypedDict):
    """The values as read: whether they look like logarithms, and the step that takes them."""

    p99: float | None
    max: float | None
    min: float | None
    raw: bool
    counts: bool
    taken: str | None
    doubled: bool


class Step(TypedDict):
    """A step, and the number of genes that it leaves."""

    step: str
    genes: int


class Skipped(TypedDict):
    """A column of the sample table that was not tested."""

    column: str
    reason: str


class MissingLabel(TypedDict):
    """How far missing values go with the label, as quality.json has it."""

    tested: int
    named: int
    first: list[list[Any]]
    sample_p: float | None
    class_share: list[float]


class Missing(TypedDict):
    """Missing values: [[samples, genes that miss so many]], and [[gene, samples]] of the worst."""

    total: int
    genes: list[list[int]]
    worst: list[list[Any]]
    label: MissingLabel | None


class Look(TypedDict):
    """The samples before or after the steps; ``compared`` counts the genes of ``rle``.

    ``logarithm`` says whether the bands are of log2(1 + value).
    """

    genes: int
    compared: int
    logarithm: bool
    quantiles: list[Band]
    rle: list[Band]


class Outlier(TypedDict):
    """A sample far from the others, its row among those shown, and in what it is far off."""

    sample: str
    row: int
    rules: list[str]


class Components(TypedDict):
    """Points on up to three components, and the share of the variance of each of all."""

    points: list[list[float]]
    explained: list[float]
    scaled: bool


class Associated(TypedDict):
    """A column of the sample table, and what it explains of each component.

    ``role`` is label, batch, group, pair or empty; ``kind`` classes or number. ``adjusted`` is the
    share less what chance gives; ``within_label`` whether each of its values occurs with one label
    only.
    """

    column: str
    role: str
    kind: str
    levels: int
    samples: int
    within_label: bool
    share: list[float | None]
    adjusted: list[float | None]
    p: list[float | None]
    q: list[float]


class Second(TypedDict):
    """The column to colour by beside the label, with its values as text."""

    column: str
    kind: str
    values: list[str]


class Follows(TypedDict):
    """What the first component goes with rather than with the label: the share of each in it."""

    column: str
    share: float
    label: float
    explained: float


class QualityRecord(TypedDict):
    """The samples by batch and response: at most 1000 of ``total``, and every outlier.

    ``kind`` is "library", "factor" or null, and ``size`` its values; ``detected`` the share of
    genes with a read; ``lost`` the missing values. ``changed`` is whether there is a step between
    ``before`` and ``after``. ``associations`` are at most 30, the label first; ``columns`` counts
    those tested.
    """

    batch: str | None
    scale: Scale
    steps: list[Step]
    genes: int
    skipped: list[Skipped]
    missing: Missing
    kind: str | None
    samples: list[str]
    total: int
    response: list[float]
    batches: list[str] | None
    before: Look
    after: Look
    changed: bool
    size: list[float | None] | None
    detected: list[float | None] | None
    top: list[float | None] | None
    rules: dict[str, list[float | None]]
    lost: list[float]
    outliers: list[Outlier]
    components: Components
    associations: list[Associated]
    columns: int
    second: Second | None
    follows: Follows | None


class Quality(Study):
    """What this topic reads."""

    quality: QualityRecord
