"""What every topic of the page may read of report_data.json, key by key.

There is no NaN in it (absent is null), numbers are rounded to four or five significant digits, and
what is heavy is capped; ``shown`` and ``total`` say so.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from genesig.report.page.finding import Finding, Verdict


class Response(TypedDict):
    """The response of each sample: -1, 1 for two classes, 0, 1, .. for more; at most 1000."""

    name: list[str]
    value: list[float]


class Dropped(TypedDict):
    """Samples or genes left out for one reason; the first thirty by name."""

    kind: str
    reason: str
    count: int
    names: list[str]


class StudyFacts(TypedDict):
    """What was studied, and what was left out before.

    ``counts`` are the samples of each class, (negative, positive) as in ``classes``; ``group`` and
    ``pair`` name columns, ``groups`` is the number of groups. ``exchanged`` is what a permutation
    exchanges: "samples", samples "within" groups whose label varies, whole "groups" of one label,
    or "both". ``missing`` counts values. ``inputs`` maps path to SHA-256, ``steps`` are the
    row-wise ones.
    """

    label: str
    task: str
    classes: list[str] | None
    counts: list[int] | None
    group: str | None
    pair: str | None
    groups: int | None
    exchanged: str
    samples: int
    genes: int
    missing: int
    inputs: dict[str, str]
    steps: list[Any]
    dropped: list[Dropped]
    response: Response


class Division(TypedDict):
    """How samples were divided: numbers of splits and halves, [smallest, largest] of the sizes."""

    scheme: str
    inner_scheme: str
    seed: int
    outer: int
    repeats: int
    inner: list[int]
    subsamples: int
    train: list[int]
    test: list[int]


class Batch(TypedDict):
    """The batches of a study that names them.

    ``counts`` holds [negative, positive] of each, ``mean`` and ``sd`` its response if that is a
    number. ``association`` with the label is Cramér's V or the correlation ratio. ``wrong`` is the
    share of decisions on each while held out. ``combat`` is whether it is a step, ``shown`` whether
    figures and tests of genes show its values. ``held_out`` counts decisions, ``too_few`` those on
    batches with too few training samples, ``splits`` the splits with such.
    """

    column: str
    names: list[str]
    sizes: list[int]
    counts: list[list[int]] | None
    mean: list[float] | None
    sd: list[float] | None
    association: float | None
    wrong: list[float | None] | None
    combat: bool
    shown: bool
    held_out: int
    too_few: int
    splits: int


class HeldOutSample(TypedDict):
    """A sample while it was held out: its class or number, one score per repeat, times wrong.

    Of two classes also the probability of the positive one, per repeat.
    """

    sample: str
    label: Any
    scores: list[float]
    mean: float
    wrong: int | None
    tested: int
    probabilities: NotRequired[list[float]]


class Curve(TypedDict):
    """The ROC curve of one repeat."""

    repeat: int
    x: list[float]
    y: list[float]
    auc: float | None


# What to refuse of the samples called this class, so that no error is left among them. Its first
# key is a keyword of Python, which only this form of a TypedDict may hold.
Rejection = TypedDict(
    "Rejection",
    {
        "class": str,
        "threshold": float | None,
        "wrong": int,
        "rejected": int,
        "predicted": int,
        "share": float,
    },
)


class Fit(TypedDict):
    """Pearson's r and R² of the mean held-out scores of a number."""

    r: float | None
    r2: float | None


class HeldOut(TypedDict):
    """The samples while they were held out; what does not fit the task is null.

    ``roc`` has one curve a repeat, ``confusion`` (2 × 2, rows = true class) the mean count a
    repeat. ``probability`` is the mean one of the class that is called, of several.
    """

    samples: list[HeldOutSample]
    roc: list[Curve] | None
    confusion: list[list[float]] | None
    rejection: list[Rejection] | None
    fit: Fit | None
    probability: NotRequired[float | None]


class Null(TypedDict):
    """Errors of the chosen lists: one a permutation, and the observed one."""

    errors: list[float]
    observed: float | None


class ListCount(TypedDict):
    """The list of one mu: its frequent genes, those of any split, what it kept of the list before.

    ``size`` and ``union`` are null where a split's list was too long to be kept.
    """

    mu: float
    size: int | None
    union: int | None
    kept: float | None


class PackedTable(TypedDict):
    """A result table: at most 60,000 rows of ``total``, all of them in ``file``."""

    columns: list[str]
    rows: list[list[Any]]
    total: int
    file: str


class Run(TypedDict):
    """results/settings.json, as it is."""

    version: int
    seed: int
    config: dict[str, Any]
    inputs: dict[str, str]
    versions: dict[str, str]


class Study(TypedDict):
    """What several topics need; each topic's own record adds its keys.

    ``config`` is the resolved config, ``mu`` its values, ``batch`` null for a study that names
    none, ``tables`` by their names; rows of the chosen lists have no mu there.
    """

    config: dict[str, Any]
    run: Run
    study: StudyFacts
    design: Division
    batch: Batch | None
    mu: list[float]
    answer: Finding
    verdict: Verdict
    held_out: HeldOut
    null: Null
    lists: list[ListCount]
    tables: dict[str, PackedTable]
