"""What every topic of the page may read of report_data.json, key by key.

There is no NaN in it (absent is null), numbers are rounded to four or five significant digits, and
what is heavy is capped; ``shown`` and ``total`` say so.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Response(TypedDict):
    """The response of each sample, -1 or 1 for two classes; at most 1000 samples."""

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
    or "both". ``inputs`` maps path to SHA-256, ``steps`` are the row-wise ones.
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
    """A sample while it was held out: its class or number, one score per repeat, times wrong."""

    sample: str
    label: Any
    scores: list[float]
    mean: float
    wrong: int | None
    tested: int


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
    repeat.
    """

    samples: list[HeldOutSample]
    roc: list[Curve] | None
    confusion: list[list[float]] | None
    rejection: list[Rejection] | None
    fit: Fit | None


class Null(TypedDict):
    """Errors of the chosen lists: one a permutation, and the observed one."""

    errors: list[float]
    observed: float | None


class ListCount(TypedDict):
    """The list of one mu: its core genes, those of any split, the share kept of the list before.

    ``size`` and ``union`` are null where a split's list was too long to be kept.
    """

    mu: float
    size: int | None
    union: int | None
    kept: float | None


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
    """Stability of the signature's list; ``source`` is half_subsamples or outer_splits."""

    value: float
    low: float | None
    high: float | None
    source: str
    sets: int


class Halves(TypedDict):
    """Halves of the samples drawn, and whether every list of them was empty."""

    drawn: int
    empty: bool


class Control(TypedDict):
    """The best predictor that is not this procedure.

    ``difference`` is its error less that of this procedure on the same samples, with its interval.
    """

    model: str
    error: float
    low: float | None
    high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None


class Cohorts(TypedDict):
    """Data sets of other studies, and in how many of them the model is better than chance.

    Those with a sample that trained the model are no evidence and not counted. Better is where the
    interval of its AUC lies above 0.5, or that of R² above 0.
    """

    tested: int
    better: int


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


class Finding(TypedDict):
    """The numbers of the first screen.

    ``size`` is the number of genes of the signature, the final model's list, ``core`` that of its
    core genes; ``lengths`` the smallest, median and largest length of the splits' lists.
    """

    size: int
    core: int
    lengths: list[int]
    error: Error
    p: P
    stability: Stability | None
    halves: Halves
    control: Control | None
    cohorts: Cohorts
    wrong: Wrong | None


class PackedTable(TypedDict):
    """A result table: at most 5000 rows of ``total``, all of them in ``file``."""

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
    held_out: HeldOut
    null: Null
    lists: list[ListCount]
    tables: dict[str, PackedTable]
