"""What every topic of the page may read of report_data.json, key by key, rounded.

There is no NaN in it (absent is null), numbers are rounded to four or five significant digits, and
what is heavy is capped; ``shown`` and ``total`` say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from genesig.selection.assess.intervals import Detectable


def rounded(values: Any, digits: int) -> Any:
    """Round to `digits` significant digits; nested lists, None for NaN and infinities."""
    array = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.floor(np.log10(np.abs(array)))
    size = np.where(np.isfinite(size), size, 0.0)
    # Python's own round gives the shortest decimal, so the JSON stays small.
    pairs = zip(array.ravel().tolist(), size.ravel().astype(int).tolist(), strict=True)
    flat = [round(v, digits - 1 - s) if np.isfinite(v) else None for v, s in pairs]
    return _nested(flat, array.shape)


def rounded_row(row: Any, digits: int, *keys: str) -> Any:
    """Return these values of a row, rounded, by their names."""
    return {key: rounded(row[key], digits) for key in keys}


def _nested(flat: list[float | None], shape: tuple[int, ...]) -> Any:
    """Return the values of an array, in row order, as nested lists of its shape."""
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = int(np.prod(shape[1:]))
    return [_nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def json_value(value: Any) -> Any:
    """Turn a value into what JSON can hold: str keys, Python numbers, None for NaN."""
    if isinstance(value, Mapping):
        return {str(key): json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray):
        return [json_value(inner) for inner in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return None if value is None else str(value)


MAX_PLOTTED_SAMPLES = 1000


def evenly_spaced_rows(count: int, max_rows: int) -> list[int]:
    """Return at most `max_rows` row numbers, evenly spaced over `count` rows."""
    return sorted(set(np.linspace(0, count - 1, min(count, max_rows)).round().astype(int).tolist()))


class Estimate(TypedDict):
    """A number with its 95 % interval; null where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


class ErrorEstimate(Estimate):
    """The error, and its value without any signal."""

    name: str
    chance: float


class PermutationP(TypedDict):
    """The p-value, and the smallest that so many permutations allow."""

    value: float | None
    permutations: int
    smallest: float


class Stability(TypedDict):
    """Stability of the signature's list; ``source`` is half_subsamples or outer_splits.

    ``lasso`` is that of lists of the lasso, as long; ``than_chance`` and ``than_lasso`` say more,
    less or alike; ``blocks`` is the stability of the blocks that the lists hit. ``size`` is the
    mean number of genes of a list, ``shared`` that of genes in both lists of a pair of halves. All
    null for outer_splits, and if they are not defined.
    """

    value: float
    source: str
    sets: int
    than_chance: str | None
    lasso: float | None
    than_lasso: str | None
    blocks: float | None
    size: float | None
    shared: float | None
    shared_by_chance: float | None


class HalfSamples(TypedDict):
    """Halves of the samples drawn, and whether every list of them was empty."""

    drawn: int
    empty: bool


class BestOtherMethod(TypedDict):
    """The method of smallest held-out error of the ``of`` that are not this procedure.

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


class Alternative(BestOtherMethod):
    """A method that predicts better than chance and better than the linear models.

    ``p`` is that of its error against guessing, corrected for the ``of`` methods.
    """

    p: float


class CohortError(TypedDict):
    """The error of the final model in one data set of another study, as in controls.tsv.

    ``groups`` is the number of groups of samples; null if every sample is independent.
    """

    name: str
    samples: int
    groups: int | None
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


class ClassMeasure(TypedDict):
    """A measure of the held-out decisions (auc, sensitivity, specificity) with its interval."""

    name: str
    value: float
    low: float | None
    high: float | None


class FdrSelectedError(TypedDict):
    """The error of models of FDR-selected genes alone, and its difference to that of the study."""

    error: float
    low: float | None
    high: float | None
    difference: float
    difference_low: float | None
    difference_high: float | None


class Evidence(TypedDict):
    """How many genes are FDR-selected, and how well models of these genes alone predict."""

    fdr_selected: int  # genes at most signature.fdr, if permuted labels seldom give as many
    expected: float  # false positives among them: their number times the largest q
    passing: int  # genes with q at most signature.fdr, whatever permuted labels give
    model: int  # genes of the predictive model
    indicators: list[int]  # of fdr_selected and of model: indicators of a missing value, no genes
    price: (
        FdrSelectedError | None
    )  # null without FDR-selected genes, or if they are the predictive model


class SignatureGene(TypedDict):
    """A gene of the signature, as the first screen shows it."""

    gene: str
    symbol: str
    cv_frequency: float  # share of the cross-validation models that use it
    fdr_selected: bool | None  # this and the next two: null if signature.permutations is 0
    selection_frequency: float | None
    selection_q: float | None
    core: bool | None  # null unless signature.permutations is 0
    up: bool | None  # whether it rises with the outcome; null if several classes


class MisclassifiedSample(TypedDict):
    """A sample that was wrong more often than right."""

    sample: str
    wrong: int
    tested: int


class Misclassified(TypedDict):
    """Samples wrong more often than right, those wrong each time, and how many were tested."""

    mostly: list[MisclassifiedSample]
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
    error: ErrorEstimate
    p: PermutationP
    detectable: Detectable
    stability: Stability | None
    halves: HalfSamples
    control: BestOtherMethod | None
    alternative: Alternative | None
    cohorts: Cohorts
    wrong: Misclassified | None
    measures: list[ClassMeasure]
    chips: list[SignatureGene]


class GroupCurve(TypedDict):
    """Kaplan-Meier curve of one group of risk, from 0 on."""

    group: str
    time: list[float]
    survival: list[float]
    low: list[float | None]
    high: list[float | None]
    at_risk: list[int]


def group_curves(rows: Sequence[Mapping[Any, Any]]) -> list[GroupCurve]:
    """Return the curves of the rows of survival_curves.tsv."""
    groups = sorted({str(row["group"]) for row in rows})
    return [_group_curve(name, [row for row in rows if row["group"] == name]) for name in groups]


def _group_curve(name: str, rows: Sequence[Mapping[Any, Any]]) -> GroupCurve:
    time, survival, low, high = (
        rounded(np.array([row[key] for row in rows], dtype=float), 5)
        for key in ("time", "survival", "low", "high")
    )
    at_risk = [int(row["at_risk"]) for row in rows]
    return {
        "group": name,
        "time": time,
        "survival": survival,
        "low": low,
        "high": high,
        "at_risk": at_risk,
    }


class Response(TypedDict):
    """The response of each sample: -1, 1 for two classes, 0, 1, .. for more; at most 1000."""

    name: list[str]
    value: list[float]


class Exclusions(TypedDict):
    """Samples or genes left out for one reason; the first thirty by name."""

    kind: str
    reason: str
    count: int
    names: list[str]


class StudyFacts(TypedDict):
    """What was studied, and what was left out before.

    ``indicators`` say of a gene whether its value is missing, and are not among the ``genes``.
    ``counts`` are the samples of each class, (negative, positive) as in ``classes``, ``units`` the
    groups that have such samples, or the samples themselves; ``group`` and ``pair`` name columns,
    ``groups`` is the number of groups. ``exchanged`` is what a permutation
    exchanges: "samples", samples "within" groups whose label varies, whole "groups" of one label,
    or "both". ``missing`` counts values. ``inputs`` maps path to SHA-256, ``steps`` are the
    row-wise ones.
    """

    label: str
    task: str
    classes: list[str] | None
    counts: list[int] | None
    units: list[int] | None
    group: str | None
    pair: str | None
    groups: int | None
    exchanged: str
    samples: int
    genes: int
    indicators: int
    missing: int
    inputs: dict[str, str]
    steps: list[Any]
    dropped: list[Exclusions]
    response: Response


class SplitSummary(TypedDict):
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

    Of two classes also the probability of the positive one, per repeat. The largest
    ``contributions`` to ``mean`` belong to ``terms``, genes and covariates; ``other_terms`` counts
    the others. ``intercept`` is the mean score of a sample with the training means.
    """

    sample: str
    label: Any
    scores: list[float]
    mean: float
    wrong: int | None
    tested: int
    probabilities: NotRequired[list[float]]
    terms: NotRequired[list[str]]
    contributions: NotRequired[list[float]]
    other_terms: NotRequired[int]
    intercept: NotRequired[float]


class RepeatRocCurve(TypedDict):
    """The ROC curve of one repeat."""

    repeat: int
    x: list[float]
    y: list[float]
    auc: float | None


# What to refuse of the samples called this class, so that no error is left among them. Its first
# key is a keyword of Python, which only this form of a TypedDict may hold.
RejectionRule = TypedDict(
    "RejectionRule",
    {
        "class": str,
        "threshold": float | None,
        "wrong": int,
        "rejected": int,
        "predicted": int,
        "share": float,
    },
)


class FitStatistics(TypedDict):
    """Pearson's r and R² of the mean held-out scores of a number."""

    r: float | None
    r2: float | None


class HeldOut(TypedDict):
    """The samples while they were held out; what does not fit the task is null.

    ``roc`` has one curve a repeat, ``confusion`` (2 × 2, rows = true class) the mean count a
    repeat. ``probability`` is the mean one of the class that is called, of several. ``shrinkage``
    is that of the final model's line of the probabilities.
    """

    samples: list[HeldOutSample]
    roc: list[RepeatRocCurve] | None
    confusion: list[list[float]] | None
    rejection: list[RejectionRule] | None
    fit: FitStatistics | None
    probability: NotRequired[float | None]
    shrinkage: NotRequired[float | None]


class NullErrors(TypedDict):
    """Errors of the chosen lists: one a permutation, and the observed one."""

    errors: list[float]
    observed: float | None


class PackedTable(TypedDict):
    """A result table: at most 60,000 rows of ``total``, all of them in ``file``."""

    columns: list[str]
    rows: list[list[Any]]
    total: int
    file: str


class RunRecord(TypedDict):
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
    run: RunRecord
    study: StudyFacts
    design: SplitSummary
    batch: Batch | None
    mu: list[float]
    answer: Finding
    verdict: Verdict
    held_out: HeldOut
    null: NullErrors
    tables: dict[str, PackedTable]
