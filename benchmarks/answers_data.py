"""Data sets of answers.py by name, with their splits and disjoint halves."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/materials"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests/references"))

from places import SHARED
from study import settings, splits_of

from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.results import Dataset, Splits
from genesig.results.run import sha256

Array = np.ndarray[Any, Any]


def table_files(stem: str) -> tuple[str, str]:
    """Return the file names of matrix and sample table, which begin with `stem`."""
    return f"{stem}_expression.tsv.gz", f"{stem}_samples.tsv"


def series_files(name: str) -> tuple[str, str]:
    """Return the file name of a GEO series twice: it contains matrix and sample table."""
    return (f"geo/{name}_series_matrix.txt.gz",) * 2


# The six data sets used during development: name -> beginning of the file names, label.
PUBLISHED = {
    "golub": ("golub_1999", "diagnosis"),
    "singh": ("singh_2002", "tissue"),
    "alon": ("two_class/alon_1999", "diagnosis"),
    "west": ("two_class/west_2001", "diagnosis"),
    "shipp": ("two_class/shipp_2002", "diagnosis"),
    "pomeroy": ("two_class/pomeroy_2002", "diagnosis"),
}

SYNOVIUM = "synovial tissue from {} joint"
# The nine others: name -> matrix, sample table, label, the two classes (None if it has only two).
OTHER_SOURCES: dict[str, tuple[str, str, str, tuple[str, str] | None]] = {
    "khan": (*table_files("many_classes/khan_2001"), "diagnosis", ("EWS", "RMS")),
    "sorlie": (*table_files("many_classes/sorlie_2001"), "diagnosis", ("4", "5")),
    "desmedt_metastasis": (*table_files("survival/desmedt_2007"), "metastasis", None),
    "desmedt_er": (*table_files("survival/desmedt_2007"), "er", None),
    "rosenwald_status": (*table_files("survival/rosenwald_2002"), "status", None),
    "rosenwald_group": (*table_files("survival/rosenwald_2002"), "group", None),
    "GSE55235": (
        *series_files("GSE55235"),
        "source_name_ch1",
        (SYNOVIUM.format("osteoarthritic"), SYNOVIUM.format("rheumatoid arthritis")),
    ),
    "GSE55457": (
        *series_files("GSE55457"),
        "clinical status",
        ("osteoarthritis", "rheumatoid arthritis"),
    ),
    "ALL_AML": ("gct/Leukemia_hgu95av2.trim.gct", "gct/Leukemia.cls", "class", None),
}


@dataclass(frozen=True)
class Source:
    """Files of a data set, and the classes that are compared (None: all).

    ``label`` and ``data`` are as in the config of a study.
    """

    name: str
    matrix: Path
    samples: Path
    label: str | Mapping[str, str]
    classes: tuple[str, ...] | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str, folder: Path = SHARED) -> Source:
        """Return the source of a data set by its name here, or of ``name=matrix,samples,label``.

        Named data sets have their files in `folder`. Any other text ends the program.
        """
        name, _, label_text = text.partition("=")
        if label_text and label_text.count(",") == 2:
            matrix, samples, label = label_text.split(",")
            return cls(name, Path(matrix), Path(samples), label)
        if label_text or name not in PUBLISHED | OTHER_SOURCES:
            source_names = ", ".join(PUBLISHED | OTHER_SOURCES)
            raise SystemExit(f"{text}: neither name=matrix,samples,label nor one of {source_names}")
        if name in PUBLISHED:
            stem, label = PUBLISHED[name]
            files = table_files(stem)
            classes = None
        else:
            *files, label, classes = OTHER_SOURCES[name]
        return cls(name, *(folder / file for file in files), label, classes)

    def key(self) -> list[Any]:
        """Return values that change if the files, the label or the classes change."""
        return [sha256(self.matrix), sha256(self.samples), self.label, self.classes]

    def read(self) -> Dataset:
        """Return the data set without the genes that have missing values."""
        classes = None if self.classes is None else [*self.classes]
        config = {
            **settings({}, data={"classes": classes, "missing": True, **self.data}),
            "expression": str(self.matrix),
            "samples": str(self.samples),
            "label": self.label,
        }
        dataset = read_dataset(StudySettings.from_config(config))
        is_complete = ~np.isnan(dataset.X).any(axis=0)
        return replace(dataset, X=dataset.X[:, is_complete], var=dataset.var[is_complete])


@dataclass(frozen=True)
class Plan:
    """Numbers of splits and halves of a data set, the same for every method."""

    folds: int = 5
    repeats: int = 3
    inner_folds: int = 5
    pairs: int = 10  # of disjoint halves
    seed: int = 0


@dataclass(frozen=True)
class Study:
    """A data set, not normalised, with its outer splits and its halves."""

    dataset: Dataset
    splits: Splits  # halves: its ``subsamples``, two complementary ones after each other
    halves: Splits  # the same halves as outer splits with inner folds, without test samples


def read_study(source: Source, plan: Plan) -> Study:
    """Read a data set and draw its splits."""
    return split_study(source.read(), plan)


def split_study(dataset: Dataset, plan: Plan) -> Study:
    """Draw the splits and the halves of a data set."""
    config = settings(
        {},
        splits={
            "folds": plan.folds,
            "repeats": plan.repeats,
            "inner_folds": plan.inner_folds,
            "subsamples": 2 * plan.pairs,
        },
    )
    splits = splits_of(dataset, config, seed=plan.seed)
    return Study(dataset, splits, _halves_with_folds(dataset, splits, plan))


def _halves_with_folds(dataset: Dataset, splits: Splits, plan: Plan) -> Splits:
    """Return the halves of `splits.subsamples` as outer splits with inner folds.

    A half with few samples of a class (or event) has fewer inner folds than planned.
    """
    strata = dataset.response_kind.strata(dataset.response(), plan.inner_folds)
    halves = []
    for half_number, half in enumerate(splits.subsamples):
        rows = dataset.rows(half.train)
        smallest_stratum = int(np.unique(strata[rows], return_counts=True)[1].min())
        n_folds = max(2, min(plan.inner_folds, smallest_stratum))
        stratified_folds = StratifiedKFold(
            n_folds, shuffle=True, random_state=plan.seed + half_number
        )
        folds = (rows[fold] for _, fold in stratified_folds.split(rows, strata[rows]))
        inner = tuple(tuple(dataset.samples[row] for row in fold) for fold in folds)
        halves.append(replace(half, inner=inner))
    return replace(splits, outer=tuple(halves), subsamples=())


def simulate_source(folder: Path) -> str:
    """Write 60 samples and 200 genes, 10 informative; return the text for `Source.from_text`."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    X = rng.normal(size=(200, 60))
    X[:10] += 1.2 * y
    names = [f"S{k:02d}" for k in range(60)]
    folder.mkdir(parents=True, exist_ok=True)
    matrix = folder / "expression.tsv"
    samples = folder / "samples.tsv"
    lines = [["gene", *names], *([f"g{j}", *(f"{v:.4f}" for v in X[j])] for j in range(200))]
    matrix.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    rows = [("sample", "label"), *zip(names, np.where(y, "ill", "well"), strict=True)]
    samples.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return f"simulated={matrix},{samples},label"
