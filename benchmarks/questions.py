"""What the benchmark asks: data sets with their responses, and simulated ones whose truth is known.

The fifteen questions of two classes are those of answers.py, from the files of `answers_data`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from answers_data import OTHER_SOURCES, PUBLISHED, Source, read_series, read_tables

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

from fdr_selected_genes import are_true, draw_truth
from study_data import study_of

from genesig.results import Dataset

Array = np.ndarray[Any, Any]

DESMEDT = read_tables("survival/desmedt_2007")
ROSENWALD = read_tables("survival/rosenwald_2002")
SURVIVAL = {"task": "survival"}
# Matrix and sample table, label, and what else the config says of the data.
MORE_QUESTIONS: dict[str, tuple[tuple[str, str], Any, dict[str, Any]]] = {
    "khan_four": (read_tables("many_classes/khan_2001"), "diagnosis", {}),
    "sorlie_five": (read_tables("many_classes/sorlie_2001"), "diagnosis", {}),
    "GSE55235_three": (read_series("GSE55235"), "source_name_ch1", {}),
    "GSE55457_three": (read_series("GSE55457"), "clinical status", {}),
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

Drawn = tuple[Dataset, Array]


def _differing(shape: str) -> Callable[[int], Drawn]:
    """Draw two classes of 80 samples that ten of 1000 genes tell apart, by 1.2 SD."""

    def draw(seed: int) -> Drawn:
        dataset = draw_truth(1.2, 80, shape, seed)
        return dataset, np.flatnonzero(are_true(np.arange(dataset.X.shape[1])))

    return draw


def _draw_kind(kind: str, signal: float) -> Callable[[int], Drawn]:
    """Draw 80 samples of 1000 genes, of which the first three carry the response, or none does."""

    def draw(seed: int) -> Drawn:
        return study_of(kind, seed, n=80, d=1000, signal=signal), np.arange(3 if signal else 0)

    return draw


SIMULATED: dict[str, Callable[[int], Drawn]] = {
    "simulated_plain": _differing("plain"),
    "simulated_variances": _differing("variances"),
    "simulated_tails": _differing("tails"),
    "simulated_noise": _draw_kind("classification", 0.0),
    "simulated_several": _draw_kind("several_classes", 1.0),
    "simulated_numbers": _draw_kind("regression", 0.5),
    "simulated_survival": _draw_kind("survival", 0.7),
}
REAL = [*PUBLISHED, *OTHER_SOURCES, *MORE_QUESTIONS]


def question(name: str, folder: Path, repeat: int) -> tuple[Dataset, Array | None]:
    """Return the data set, and which of its genes, by number, carry the response, where known.

    Simulated data are drawn anew for each repeat. Files lie in `folder`.
    """
    if name in SIMULATED:
        return SIMULATED[name](repeat)
    if name in MORE_QUESTIONS:
        (matrix, samples), label, data = MORE_QUESTIONS[name]
        source = Source(name, folder / matrix, folder / samples, label, data=data)
    else:
        source = Source.of(name, folder)
    for file in (source.matrix, source.samples):
        if not file.exists():
            raise SystemExit(f"{file} is not there; --config data=FOLDER says where the data lie")
    return source.read(), None
