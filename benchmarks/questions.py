"""Questions of the benchmark: published data sets with a response, and simulated data sets.

The fifteen questions of two classes are in `answers_data`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from answers_data import OTHER_SOURCES, PUBLISHED, Source, series_files, table_files

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

from fdr_selected_genes import are_true, draw_truth
from study_data import study_of

from genesig.results import Dataset

Array = np.ndarray[Any, Any]

DESMEDT = table_files("survival/desmedt_2007")
ROSENWALD = table_files("survival/rosenwald_2002")
SURVIVAL = {"task": "survival"}
# Question -> (matrix, sample table), label, further keys of the section `data` of the config.
MORE_QUESTIONS: dict[str, tuple[tuple[str, str], Any, dict[str, Any]]] = {
    "khan_four": (table_files("many_classes/khan_2001"), "diagnosis", {}),
    "sorlie_five": (table_files("many_classes/sorlie_2001"), "diagnosis", {}),
    "GSE55235_three": (series_files("GSE55235"), "source_name_ch1", {}),
    "GSE55457_three": (series_files("GSE55457"), "clinical status", {}),
    "stemcells": (("studies/stemcells.tsv.gz", "studies/stemcells.samples.tsv"), "cell", {}),
    "desmedt_age": (DESMEDT, "age", {"task": "regression"}),
    "desmedt_size": (DESMEDT, "size", {"task": "regression"}),
    "desmedt_survival": (DESMEDT, {"time": "time_days", "event": "metastasis"}, SURVIVAL),
    "rosenwald_survival": (
        ROSENWALD,
        {"time": "follow_up_years", "event": "status"},
        {**SURVIVAL, "event": "Dead"},
    ),
}

SimulatedData = tuple[Dataset, Array]  # data set, columns of its informative genes


def _two_classes(shape: str) -> Callable[[int], SimulatedData]:
    """Return a function of the seed that draws 80 samples; ten of 1000 genes differ by 1.2 SD."""

    def draw(seed: int) -> SimulatedData:
        dataset = draw_truth(1.2, 80, shape, seed)
        return dataset, np.flatnonzero(are_true(np.arange(dataset.X.shape[1])))

    return draw


def _response_kind(kind: str, signal: float) -> Callable[[int], SimulatedData]:
    """Return a function of the seed that draws 80 samples of 1000 genes.

    The first three genes are informative; none if the signal is 0.
    """

    def draw(seed: int) -> SimulatedData:
        return study_of(kind, seed, n=80, d=1000, signal=signal), np.arange(3 if signal else 0)

    return draw


SIMULATED: dict[str, Callable[[int], SimulatedData]] = {
    "simulated_plain": _two_classes("plain"),
    "simulated_variances": _two_classes("variances"),
    "simulated_tails": _two_classes("tails"),
    "simulated_noise": _response_kind("classification", 0.0),
    "simulated_several": _response_kind("several_classes", 1.0),
    "simulated_numbers": _response_kind("regression", 0.5),
    "simulated_survival": _response_kind("survival", 0.7),
}
REAL = [*PUBLISHED, *OTHER_SOURCES, *MORE_QUESTIONS]


def read_question(name: str, folder: Path, repeat: int) -> tuple[Dataset, Array | None]:
    """Return the data set and the columns of its informative genes, None if they are unknown.

    Each repeat draws other simulated data. Published data are in `folder`.
    """
    if name in SIMULATED:
        return SIMULATED[name](repeat)
    if name in MORE_QUESTIONS:
        (matrix, samples), label, data = MORE_QUESTIONS[name]
        source = Source(name, folder / matrix, folder / samples, label, data=data)
    else:
        source = Source.from_text(name, folder)
    for file in (source.matrix, source.samples):
        if not file.exists():
            raise SystemExit(
                f"{file} does not exist; set the folder of the data by --config data=FOLDER"
            )
    return source.read(), None
