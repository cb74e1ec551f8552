"""The data of answers.py: data sets by name, their splits, and their disjoint halves."""

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


def read_tables(stem: str) -> tuple[str, str]:
    """Return the names of matrix and sample table, which begin with `stem`."""
    return f"{stem}_expression.tsv.gz", f"{stem}_samples.tsv"


def read_series(name: str) -> tuple[str, str]:
    """Return the name of a series of GEO twice, as it is matrix and sample table."""
    return (f"geo/{name}_series_matrix.txt.gz",) * 2


# The six that were looked at while genesig was built: matrix and sample table, label.
PUBLISHED = {
    "golub": ("golub_1999", "diagnosis"),
    "singh": ("singh_2002", "tissue"),
    "alon": ("two_class/alon_1999", "diagnosis"),
    "west": ("two_class/west_2001", "diagnosis"),
    "shipp": ("two_class/shipp_2002", "diagnosis"),
    "pomeroy": ("two_class/pomeroy_2002", "diagnosis"),
}


SYNOVIUM = "synovial tissue from {} joint"
# The nine others: matrix, sample table, label, its two classes where there are more.
OTHER_SOURCES: dict[str, tuple[str, str, str, tuple[str, str] | None]] = {
    "khan": (*read_tables("many_classes/khan_2001"), "diagnosis", ("EWS", "RMS")),
    "sorlie": (*read_tables("many_classes/sorlie_2001"), "diagnosis", ("4", "5")),
    "desmedt_metastasis": (*read_tables("survival/desmedt_2007"), "metastasis", None),
    "desmedt_er": (*read_tables("survival/desmedt_2007"), "er", None),
    "rosenwald_status": (*read_tables("survival/rosenwald_2002"), "status", None),
    "rosenwald_group": (*read_tables("survival/rosenwald_2002"), "group", None),
    "GSE55235": (
        *read_series("GSE55235"),
        "source_name_ch1",
        (SYNOVIUM.format("osteoarthritic"), SYNOVIUM.format("rheumatoid arthritis")),
    ),
    "GSE55457": (
        *read_series("GSE55457"),
        "clinical status",
        ("osteoarthritis", "rheumatoid arthritis"),
    ),
    "ALL_AML": ("gct/Leukemia_hgu95av2.trim.gct", "gct/Leukemia.cls", "class", None),
}


@dataclass(frozen=True)
class Source:
    """Files of a data set, and the two of its classes that are compared: None if it has two.

    ``label`` and ``data`` are as in the config of a study.
    """

    name: str
    matrix: Path
    samples: Path
    label: str | Mapping[str, str]
    classes: tuple[str, ...] | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, folder: Path = SHARED) -> Source:
        """Return the source of a known data set, by its name, or of ``name=matrix,samples,label``.

        Files of known data sets lie in `folder`. Any other text ends the program.
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
            files = read_tables(stem)
            classes = None
        else:
            *files, label, classes = OTHER_SOURCES[name]
        return cls(name, *(folder / file for file in files), label, classes)

    def key(self) -> list[Any]:
        """Return values that change if the data or their use do."""
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
    """Numbers of the splits of a data set, the same for every method."""

    folds: int = 5
    repeats: int = 3
    inner_folds: int = 5
    pairs: int = 10  # of disjoint halves
    seed: int = 0


@dataclass(frozen=True)
class Study:
    """A data set as it was read, its outer splits and its halves.

    Attributes
    ----------
    splits : Splits
        Its ``subsamples`` are the halves, complementary ones in turn.
    halves : Splits
        The same halves as outer splits, each with inner folds and without test samples, for
        methods that choose again in each of them.
    """

    dataset: Dataset
    splits: Splits
    halves: Splits


def study_of(source: Source, plan: Plan) -> Study:
    """Read a data set and draw its splits."""
    return divided_study(source.read(), plan)


def divided_study(dataset: Dataset, plan: Plan) -> Study:
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
    return Study(dataset, splits, _training_rows(dataset, splits, plan))


def _training_rows(dataset: Dataset, splits: Splits, plan: Plan) -> Splits:
    """Return the halves of `splits.subsamples` as outer splits with inner folds."""
    strata = dataset.response_kind.strata(dataset.response(), plan.inner_folds)
    halves = []
    for number, half in enumerate(splits.subsamples):
        rows = dataset.rows(half.train)
        smallest_stratum = int(np.unique(strata[rows], return_counts=True)[1].min())
        n_folds = max(2, min(plan.inner_folds, smallest_stratum))
        divide = StratifiedKFold(n_folds, shuffle=True, random_state=plan.seed + number)
        folds = (rows[fold] for _, fold in divide.split(rows, strata[rows]))
        inner = tuple(tuple(dataset.samples[row] for row in fold) for fold in folds)
        halves.append(replace(half, inner=inner))
    return replace(splits, outer=tuple(halves), subsamples=())


def simulate_source(folder: Path) -> str:
    """Write a small study of 60 samples and 200 genes, 10 of them informative; return its name."""
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
