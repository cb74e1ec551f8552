"""Leave-one-out counts beside those that were published of other methods on the same data.

    python benchmarks/leave_one_out.py --data FOLDER [--out FILE] [DATA ...]

DATA is golub, shipp, singh, alon (all four without any). Every sample is left out once, and
everything that learns is repeated without it, except the null of the FDR-selected genes, which is
counted once, under permuted labels of all samples. It prints how many of the samples left out were
called right, and the same as a table in FILE. `PUBLISHED` is Table 1 of Zhu and Martinez (2008),
BMC Bioinformatics 9:280 (PMC2443146); `golub` has its 38 training samples alone, as there.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from answers_data import PUBLISHED as QUESTIONS
from answers_data import Source, Study, settings, splits_of
from answers_rivals import RIVALS
from answers_runs import VARIANTS, run_together
from answers_table import scores_of_record

from genesig.results import Dataset

PUBLISHED = pd.DataFrame(
    {
        "golub": (38, 37, 38, 38, 38),
        "shipp": (74, 71, 63, 74, 74),
        "singh": (93, 90, 61, 92, 93),
        "alon": (61, 59, 58, 61, 61),
    },
    index=["theirs (DP)", "k nearest neighbours", "weighted voting", "LDA", "SVM"],
)
METHODS = (
    ("genesig", "FDR-selected genes"),
    ("t-test + LDA",),
    ("shrunken centroids",),
    ("linear SVM",),
)


def read(name: str, folder: Path) -> Dataset:
    """Return a data set; of golub the samples that its paper trained on."""
    dataset = Source.of(name, folder).read()
    if name != "golub":
        return dataset
    table = pd.read_csv(folder / f"{QUESTIONS[name][0]}_samples.tsv", sep="\t", index_col=0)
    training_rows = np.flatnonzero(table.loc[list(dataset.samples), "original_split"] == "train")
    return replace(dataset, X=dataset.X[training_rows], obs=dataset.obs.iloc[training_rows])


def leave_one_out_splits(dataset: Dataset) -> Study:
    """Divide it so that each sample is left out once."""
    config = settings({}, splits={"scheme": "leave_one_out", "subsamples": 2})
    splits = splits_of(dataset, config)
    return Study(dataset, splits, replace(splits, outer=splits.outer[:1], subsamples=()))


def count_right(study: Study, methods: tuple[str, ...]) -> dict[str, int]:
    """Return how many samples each method called right while they were left out."""
    assert all(method in {**VARIANTS, **RIVALS} for method in methods)
    n_correct = {}
    for method, record in run_together(methods, study).items():
        held_out_scores = scores_of_record(study, record)
        n_correct[method] = int(np.sum(held_out_scores.y * held_out_scores.scores[:, -1] > 0))
    return n_correct


def main(arguments: list[str] | None = None) -> None:
    """Count and print."""
    asks = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asks.add_argument("names", nargs="*", metavar="DATA")
    asks.add_argument("--data", type=Path, required=True)
    asks.add_argument("--out", type=Path)
    options = asks.parse_args(arguments)
    counts = {}
    for name in options.names or list(PUBLISHED):
        study = leave_one_out_splits(read(name, options.data))
        counts[f"{name} of {len(study.dataset.samples)}"] = method_counts = dict(
            PUBLISHED.get(name, {})
        )
        for methods in METHODS:
            method_counts |= count_right(study, methods)
            print(name, method_counts, file=sys.stderr, flush=True)
    table = pd.DataFrame(counts).rename_axis("method")
    if options.out:
        table.to_csv(options.out, sep="\t")
    print(table.to_string())


if __name__ == "__main__":
    main()
