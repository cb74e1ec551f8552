"""The part of report_data.json that all topics of the page read, key by key.

Undefined numbers are None (null in JSON), never NaN. `genesig.report.collect.round_numbers` rounds
them. Long lists are cut; their full length stands beside them. The chosen list of a split is the
gene list that its inner folds chose; models of chosen lists are those that the page reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

import numpy as np

from genesig.selection.assess.intervals import Detectable

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Splits


class TopicResults(NamedTuple):
    """Results from which a topic that a study need not have takes its numbers."""

    dataset: Dataset  # the data set after the row-wise steps
    splits: Splits
    tables: Mapping[str, pd.DataFrame]  # tables of the results, by the names of their files
    config: Mapping[str, Any]  # the resolved config


def rounded(values: Any, digits: int) -> Any:
    """Return values to `digits` significant digits, as nested lists; None for NaN and infinity."""
    if isinstance(values, float):  # first, as most values are
        return float(f"{values:.{digits - 1}e}") if math.isfinite(values) else None
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, list | tuple):
        return [rounded(value, digits) for value in values]
    return None if values is None else rounded(float(values), digits)


def float_fields(row: Any, *keys: str) -> Any:
    """Return the numbers of a row under these keys as floats, by key; None stays None.

    A column of a TSV with whole numbers alone is one of integers.
    """
    return {key: None if row[key] is None else float(row[key]) for key in keys}


MAX_PLOTTED_SAMPLES = 1000  # of more samples, the page shows some, evenly spaced


def evenly_spaced_rows(count: int, max_rows: int) -> list[int]:
    """Return at most `max_rows` row numbers, evenly spaced over `count` rows."""
    return sorted(set(np.linspace(0, count - 1, min(count, max_rows)).round().astype(int).tolist()))


class Estimate(TypedDict):
    """A number with its 95% confidence interval; None if undefined."""

    value: float | None
    low: float | None
    high: float | None


class ErrorEstimate(Estimate):
    """The error of the nested cross-validation, as in controls.tsv."""

    name: str  # balanced error, 1 − R² or 1 − C
    chance: float  # its value without any association


class PermutationP(TypedDict):
    """The p-value of the permutation test."""

    value: float | None
    permutations: int
    smallest: float  # smallest p that so many permutations can give


class Stability(TypedDict):
    """Stability of the gene lists. The optional fields are None if `source` is "outer_splits"."""

    value: float
    source: str  # "half_subsamples" or "outer_splits"
    sets: int  # lists that were compared
    than_chance: str | None  # "more", "less" or "alike": the stability beside that by chance
    lasso: float | None  # stability of lasso lists of the same length
    than_lasso: str | None  # as than_chance: the stability beside that of the lasso
    blocks: float | None  # stability of the groups of correlated genes that the lists contain
    size: float | None  # mean number of genes of a list
    shared: float | None  # mean number of genes that the lists of two halves share
    shared_by_chance: float | None


class HalfSamples(TypedDict):
    """Random halves of the samples."""

    drawn: int  # number of halves
    no_gene_selected: bool  # whether the list of every half is empty


class BestOtherMethod(TypedDict):
    """The method of smallest held-out error among those that are not genesig."""

    model: str
    n_methods: int  # methods among which it is the best
    error: float
    low: float | None
    high: float | None
    difference: float | None  # its error less that of genesig, on the same samples
    difference_low: float | None
    difference_high: float | None


class BetterMethod(BestOtherMethod):
    """A method that predicts better than chance and better than the linear models."""

    p: float  # of its error against chance, times n_methods


class ClassMeasure(TypedDict):
    """A measure of calls or scores of classes with its 95% confidence interval."""

    name: str  # auc, sensitivity or specificity
    value: float
    low: float | None
    high: float | None


class CohortError(TypedDict):
    """The error of the final model in an external cohort, in the measure of controls.tsv."""

    name: str
    samples: int
    groups: int | None  # groups of samples; None if every sample is independent
    seen_in_training: bool  # whether any of its samples trained the model
    error: float | None
    low: float | None
    high: float | None
    measures: list[ClassMeasure]  # as far as defined; [] without classes


class Cohorts(TypedDict):
    """External cohorts, and in how many the final model is better or worse than chance.

    Cohorts with a training sample are no evidence: only `rows` has them.
    """

    tested: int
    better: int  # cohorts in which the interval of AUC, C or R² lies above chance
    worse: int  # cohorts in which it lies below
    rows: list[CohortError]


class FdrSelectedError(TypedDict):
    """The error of models of FDR-selected genes only, and its difference to that of the study."""

    error: float
    low: float | None
    high: float | None
    difference: float
    difference_low: float | None
    difference_high: float | None


class Evidence(TypedDict):
    """How many genes are FDR-selected, and how well models of these genes alone predict."""

    fdr_selected: int  # genes with q ≤ signature.fdr; 0 if permuted labels often give as many
    fdr_selected_indicators: int  # missing-value indicators among them
    expected_false: float  # false positives among them: their number times the largest q
    passing: int  # genes with q ≤ signature.fdr, whatever permuted labels give
    model_size: int  # genes of the final model
    model_indicators: int  # missing-value indicators among them
    # None without FDR-selected genes, or if they are the genes of the final model
    fdr_selected_only: FdrSelectedError | None


class SignatureGene(TypedDict):
    """A gene of the signature."""

    gene: str
    symbol: str
    cv_frequency: float  # share of the cross-validation models that use it
    fdr_selected: bool | None  # this and the next two: None if signature.permutations is 0
    selection_frequency: float | None
    selection_q: float | None
    core: bool | None  # None unless signature.permutations is 0
    up: bool | None  # whether it rises with the outcome; None if several classes


class MisclassifiedSample(TypedDict):
    """A sample that was misclassified more often than not."""

    sample: str
    wrong: int  # times misclassified
    tested: int  # times held out


class Misclassified(TypedDict):
    """Samples that were misclassified while held out."""

    mostly: list[MisclassifiedSample]  # more often than not
    always: list[str]
    samples: int  # tested samples


class Verdict(TypedDict):
    """The conclusion of a study; see `genesig.report.page.verdict.judge`."""

    grade: str  # value of a `Grade`
    grade_within_study: str  # value of the `Grade` without external cohorts
    basis: str  # models that the grade rests on: "genes", "all genes" or "sets"
    p_is_small: bool | None  # whether p ≤ 0.05; None if there are too few permutations to tell
    # of the error, or of the gain over the covariates if there are any; None without an interval
    interval_excludes_chance: bool | None


class Finding(TypedDict):
    """The numbers of the first screen."""

    size: int  # genes of the signature: those of the final model and the FDR-selected ones
    evidence: Evidence | None  # None if signature.permutations is 0
    core: int | None  # core genes; None unless signature.permutations is 0
    lengths: list[int]  # smallest, median and largest number of genes over the outer splits
    error: ErrorEstimate
    p: PermutationP
    detectable: Detectable
    stability: Stability | None
    halves: HalfSamples
    best_other_method: BestOtherMethod | None
    better_method: BetterMethod | None
    cohorts: Cohorts
    misclassified: Misclassified | None
    measures: list[ClassMeasure]
    signature_genes: list[SignatureGene]  # at most 200


class GroupCurve(TypedDict):
    """Kaplan-Meier curve of a risk group, from time 0 on."""

    group: str  # "high" or "low"
    time: list[float]
    survival: list[float]
    low: list[float | None]
    high: list[float | None]
    at_risk: list[int]


def group_curves(rows: Sequence[Mapping[Any, Any]]) -> list[GroupCurve]:
    """Return a curve for each risk group, from the rows of survival_curves.tsv."""
    groups = sorted({str(row["group"]) for row in rows})
    return [_group_curve(name, [row for row in rows if row["group"] == name]) for name in groups]


def _group_curve(name: str, rows: Sequence[Mapping[Any, Any]]) -> GroupCurve:
    """Return the curve of a risk group from its rows."""

    def column(key: str) -> Any:
        return np.array([row[key] for row in rows], dtype=float).tolist()

    return {
        "group": name,
        "time": column("time"),
        "survival": column("survival"),
        "low": column("low"),
        "high": column("high"),
        "at_risk": [int(row["at_risk"]) for row in rows],
    }


class Response(TypedDict):
    """The outcome of at most `MAX_PLOTTED_SAMPLES` samples, evenly spaced."""

    name: list[str]  # samples
    value: list[float]  # −1 and 1 of two classes, 0, 1, .. of more, or a number


class Exclusions(TypedDict):
    """Samples or genes that were left out for one reason."""

    kind: str  # "sample", "gene" or "non-gene row"
    reason: str
    count: int
    names: list[str]  # the first thirty


class StudyFacts(TypedDict):
    """The samples, the outcome, and what was left out."""

    label: str  # column of the outcome
    task: str  # kind of outcome
    classes: list[str] | None  # of two classes: negative, positive
    counts: list[int] | None  # samples of each class, in the order of `classes`
    units: list[int] | None  # independent units of each class: groups, or samples without groups
    group: str | None  # column of the groups
    pair: str | None  # column of the pairs
    groups: int | None  # number of groups
    # unit that a permutation exchanges: "samples", samples "within" groups whose label varies,
    # whole "groups" of one label, or "both"
    exchanged: str
    samples: int
    genes: int  # without indicators
    indicators: int  # variables that say of a gene whether its value is missing
    missing: int  # missing values
    inputs: dict[str, str]  # SHA-256 of each input file
    steps: list[Any]  # steps of normalisation that treat each sample by itself
    dropped: list[Exclusions]
    response: Response


class SplitSummary(TypedDict):
    """How samples were divided."""

    scheme: str
    inner_scheme: str
    seed: int
    outer: int  # outer splits, over all repeats
    repeats: int
    inner: list[int]  # smallest and largest number of inner folds
    subsamples: int  # random halves
    train: list[int]  # smallest and largest training set
    test: list[int]  # smallest and largest test set


class Batch(TypedDict):
    """The batches of a study that names them."""

    column: str
    names: list[str]
    sizes: list[int]
    counts: list[list[int]] | None  # samples of each class in each batch; None without classes
    mean: list[float] | None  # mean outcome of each batch; None with classes, like `sd`
    sd: list[float] | None
    association: float | None  # with the label: Cramér's V, or correlation ratio of a number
    wrong_share: list[float | None] | None  # of the held-out calls on each batch
    combat: bool  # whether ComBat is a step inside the training sets
    combat_in_figures: bool  # whether figures and single-gene tests show the values after ComBat
    held_out: int  # held-out samples, over all outer splits
    uncorrected: int  # those that ComBat left as measured: their batch has few training samples
    uncorrected_splits: int  # outer splits with such samples


class HeldOutSample(TypedDict):
    """A sample while it was held out."""

    sample: str
    label: Any  # class, number, or text of time and event
    scores: list[float]  # one a repeat
    mean: float  # mean score
    wrong: int | None  # times misclassified; None without classes
    tested: int  # times held out
    probabilities: NotRequired[list[float]]  # of the positive class, one a repeat
    terms: NotRequired[list[str]]  # genes and covariates of the largest contributions
    contributions: NotRequired[list[float]]  # of each term to `mean`
    other_terms: NotRequired[int]  # number of smaller contributions
    intercept: NotRequired[float]  # mean score of a sample with the training means


class RepeatRocCurve(TypedDict):
    """The ROC curve of one repeat."""

    repeat: int
    x: list[float]  # false positive rates
    y: list[float]  # true positive rates
    auc: float | None


# Calls of a class that would have to be left undecided so that none is wrong. The key "class" is a
# keyword of Python, which only this form of a TypedDict allows.
RejectionRule = TypedDict(
    "RejectionRule",
    {
        "class": str,
        "threshold": float | None,  # largest |score| of a rejected call; None if no call is wrong
        "wrong": int,  # wrong calls of the class
        "rejected": int,  # calls to be left undecided
        "predicted": int,  # all calls of the class
        "share": float,  # rejected / predicted
    },
)


class FitStatistics(TypedDict):
    """Agreement of the mean held-out scores with an outcome that is a number."""

    r: float | None  # Pearson's
    r2: float | None


class HeldOut(TypedDict):
    """The samples while they were held out."""

    samples: list[HeldOutSample]
    roc: list[RepeatRocCurve] | None  # two classes only
    confusion: list[list[float]] | None  # mean counts a repeat, a row for each true class
    rejection: list[RejectionRule] | None  # two classes only
    fit: FitStatistics | None  # numbers only
    probability: NotRequired[float | None]  # several classes: mean one of the class that is called
    shrinkage: NotRequired[float | None]  # factor on the slope that turns scores into probabilities


class NullErrors(TypedDict):
    """Errors of the chosen lists."""

    errors: list[float]  # one a permutation
    observed: float | None


class PackedTable(TypedDict):
    """A result table."""

    columns: list[str]
    rows: list[list[Any]]  # at most 60,000
    total: int  # rows of the file
    file: str


class RunRecord(TypedDict):
    """Content of results/settings.json."""

    version: int
    seed: int
    config: dict[str, Any]
    inputs: dict[str, str]
    versions: dict[str, str]


class Study(TypedDict):
    """The keys of report_data.json that all topics read; the record of a topic adds its own."""

    config: dict[str, Any]  # the resolved config
    run: RunRecord
    study: StudyFacts
    design: SplitSummary
    batch: Batch | None  # None if the study names no batches
    mu: list[float]
    answer: Finding
    verdict: Verdict
    held_out: HeldOut
    null: NullErrors  # of the permutations
    tables: dict[str, PackedTable]  # by name; rows of the chosen lists have no mu
