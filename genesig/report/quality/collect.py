"""The part of report_data.json about the quality of the samples: what of quality.json is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.report.page.record import MOST_SAMPLES, Study, rounded, spread
from genesig.report.page.words import clean, counted, percent, shorten

if TYPE_CHECKING:
    from genesig.results import Dataset


Band = list[float | None]
"""Values at 5, 25, 50, 75 and 95% of the genes of one sample."""


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
    """Missing values: [[samples, genes that miss so many]], and [[gene, samples]] of the worst.

    ``omics`` are [[omic, samples that lack it altogether]].
    """

    total: int
    genes: list[list[int]]
    worst: list[list[Any]]
    omics: list[list[Any]]
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
    twins: list[list[str]]
    components: Components
    associations: list[Associated]
    columns: int
    second: Second | None
    follows: Follows | None


class Quality(Study):
    """What this topic reads."""

    quality: QualityRecord


TABLES = SHOWN = ("modules",)
MOST_COLUMNS = 30
# A component goes with a column rather than with the label: share of its variance, less what
# chance gives, at least; by how much more than the label's; largest adjusted p.
STRONG, MORE, CREDIBLE = 0.25, 0.1, 0.05


def quality(found: Mapping[str, Any], dataset: Dataset) -> QualityRecord:
    """Put the samples in the order of the figures, cap what is heavy, choose what to colour by."""
    rows, outliers = _order(found, dataset), found["outliers"]
    place = {row: at for at, row in enumerate(rows)}
    tested: list[Associated] = sorted(found["associations"], key=_rank)
    return {
        "batch": found["batch"],
        "scale": found["scale"],
        "steps": found["steps"],
        "genes": found["genes"],
        "skipped": found["skipped"],
        "missing": {key: found["missing"][key] for key in Missing.__annotations__},  # type: ignore[typeddict-item]
        "kind": found["size"]["kind"],
        "samples": [dataset.samples[row] for row in rows],
        "total": len(dataset.samples),
        "response": rounded(dataset.plain()[rows], 5),
        "batches": None if found["batch"] is None else _cells(dataset, found["batch"], rows),
        "before": _look(found["before"], rows),
        "after": _look(found["after"], rows),
        "changed": bool(found["steps"]),
        "size": _kept(found["size"]["values"], rows),
        "detected": _kept(found["size"]["detected"], rows),
        "top": _kept(found["size"]["top"], rows),
        "rules": {rule["name"]: _taken(rule["values"], rows) for rule in outliers["rules"]},
        "lost": _taken(found["missing"]["samples"], rows),
        "outliers": [
            {"sample": one["sample"], "row": place[one["row"]], "rules": one["rules"]}
            for one in outliers["samples"]
        ],
        "twins": found["twins"],
        "components": _components(found["components"], rows),
        "associations": tested[:MOST_COLUMNS],
        "columns": len(tested),
        "second": _second(tested, dataset, rows),
        "follows": _follows(found),
    }


def _order(found: Mapping[str, Any], dataset: Dataset) -> list[int]:
    """Sort by batch, then by response; of very many samples keep some, and every outlier."""
    batch = np.zeros(len(dataset.samples), dtype=int)
    if found["batch"] is not None:
        names = dataset.obs[found["batch"]].astype(str).to_numpy(dtype=object)
        batch = np.unique(names, return_inverse=True)[1]
    order: list[int] = np.lexsort((dataset.plain(), batch)).tolist()
    kept = {order[at] for at in spread(len(order), MOST_SAMPLES)}
    kept |= {one["row"] for one in found["outliers"]["samples"]}
    return [row for row in order if row in kept]


def _cells(dataset: Dataset, column: str, rows: Sequence[int]) -> list[str]:
    values = dataset.obs[column].astype(str).to_list()
    return [values[row] for row in rows]


def _taken(values: Sequence[float | None], rows: Sequence[int]) -> list[Any]:
    return list(rounded([values[row] for row in rows], 5))


def _kept(values: Sequence[float | None] | None, rows: Sequence[int]) -> list[Any] | None:
    return None if values is None else _taken(values, rows)


def _look(found: Look, rows: Sequence[int]) -> Look:
    return {
        "genes": found["genes"],
        "compared": found["compared"],
        "logarithm": found["logarithm"],
        "quantiles": _bands(found["quantiles"], rows),
        "rle": _bands(found["rle"], rows),
    }


def _bands(values: Sequence[Band], rows: Sequence[int]) -> list[Band]:
    return list(rounded(np.array(values, dtype=float)[rows], 4))


def _components(found: Components, rows: Sequence[int]) -> Components:
    points = np.array(found["points"], dtype=float).reshape(len(found["points"]), -1)
    return {
        "points": rounded(points[rows, :3], 4),
        "explained": rounded(found["explained"], 4),
        "scaled": found["scaled"],
    }


def _rank(one: Associated) -> tuple[bool, bool, float]:
    """Sort the label first, the batch next, then the columns by what they explain."""
    return (one["role"] != "label", one["role"] != "batch", -_most(one))


def _most(one: Associated) -> float:
    return max((value or 0.0 for value in one["adjusted"][:2]), default=0.0)


def _second(tested: Sequence[Associated], dataset: Dataset, rows: Sequence[int]) -> Second | None:
    """Choose the column beside the label for the picture: the batch, else the one that shows."""
    for one in tested:
        if one["role"] != "label":
            return {"column": one["column"], "kind": one["kind"],
                    "values": _cells(dataset, one["column"], rows)}  # fmt: skip
    return None


def _follows(found: Mapping[str, Any]) -> Follows | None:
    """Name the column that the first component goes with rather than with the label, if any.

    Patients and pairs are kept whole by the splits, and a column whose values each occur with one
    label only is a finer label as well as it may be a fault; neither is named, but a batch is.
    """
    tested: list[Associated] = found["associations"]
    label = next((_of_first(one) for one in tested if one["role"] == "label"), 0.0)
    rivals = [
        one
        for one in tested
        if (one["role"] == "batch" or (one["role"] == "" and not one["within_label"]))
        and one["q"][0] < CREDIBLE
        and _of_first(one) >= max(STRONG, label + MORE)
    ]
    if not rivals:
        return None
    best = max(rivals, key=lambda one: (_of_first(one), one["role"] == "batch"))
    return {"column": best["column"], "share": _of_first(best), "label": label,
            "explained": found["components"]["explained"][0]}  # fmt: skip


def _of_first(one: Associated) -> float:
    return one["adjusted"][0] or 0.0


def quality_warnings(data: Quality, said: Sequence[str]) -> list[str]:
    """Return one sentence for the first screen if something is wrong, none otherwise.

    What the validation said of values that were never logged is not said again.
    """
    it = data["quality"]
    found = [_of_outliers(it["outliers"]), twins_words(it["twins"]),
             _of_component(it["follows"], data["study"]["label"])]  # fmt: skip
    raw = it["scale"]["raw"] and it["scale"]["taken"] is None
    if raw and it["after"]["logarithm"] and not any("never logged" in one for one in said):
        found.append("the values were never logged")
    words = "; ".join(one for one in found if one)
    return [f"Quality of the samples: {words}."] if words else []


def _of_outliers(outliers: Sequence[Outlier]) -> str:
    if not outliers:
        return ""
    names = ", ".join(shorten(one["sample"], 20) for one in outliers[:5])
    more = " …" if len(outliers) > 5 else ""
    one = len(outliers) == 1
    how = f"{'lies' if one else 'lie'} far from the others"
    if all(outlier["rules"] == ["missing"] for outlier in outliers):
        how = f"{'misses' if one else 'miss'} many more values than the others"
    return f"{counted(len(outliers), 'sample')} {how} ({names}{more})"


def twins_words(twins: Sequence[Sequence[str]]) -> str:
    """Say which samples look like one, in a clause; nothing where none does."""
    if not twins:
        return ""
    first, second = (shorten(name, 20) for name in twins[0])
    more = f" and {counted(len(twins) - 1, 'more pair')}" if len(twins) > 1 else ""
    return (f"{first} and {second}{more} look like one specimen measured twice, and may stand on"
            " both sides of a split")  # fmt: skip


def _of_component(one: Follows | None, label: str) -> str:
    if one is None:
        return ""
    return (
        f"the largest source of variation (PC1, {percent(one['explained'])} of variance) follows"
        f" {clean(one['column'])} ({percent(one['share'])}) more than {clean(label)}"
        f" ({percent(one['label'])}): check that {clean(one['column'])} and sample handling are not"
        " confounded"
    )
