"""Leave-one-out counts of genesig beside published counts of other methods on the same data.

    python benchmarks/leave_one_out.py --data FOLDER [--out FILE] [DATA ...]

DATA is golub, shipp, singh or alon (default: all four). Every sample is left out once, and all
learning is repeated without it, except the null distribution of the FDR-selected genes, which is
counted once under permuted labels of all samples. It prints the number of correctly classified
left-out samples of each method, and writes the table to FILE. `PUBLISHED` is Table 1 of Zhu and
Martinez (2008), BMC Bioinformatics 9:280 (PMC2443146); as there, golub has only its 38 training
samples.
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
METHODS = (  # methods that share their fits are run together
    ("genesig", "FDR-selected genes"),
    ("t-test + LDA",),
    ("shrunken centroids",),
    ("linear SVM",),
)


def read_data_set(name: str, folder: Path) -> Dataset:
    """Return a data set; of golub only the training samples of its paper."""
    dataset = Source.from_text(name, folder).read()
    if name != "golub":
        return dataset
    stem, _ = QUESTIONS[name]
    table = pd.read_csv(folder / f"{stem}_samples.tsv", sep="\t", index_col=0)
    training_rows = np.flatnonzero(table.loc[list(dataset.samples), "original_split"] == "train")
    return replace(dataset, X=dataset.X[training_rows], obs=dataset.obs.iloc[training_rows])


def leave_one_out_splits(dataset: Dataset) -> Study:
    """Return a study whose splits leave each sample out once."""
    config = settings({}, splits={"scheme": "leave_one_out", "subsamples": 2})
    splits = splits_of(dataset, config)
    return Study(dataset, splits, replace(splits, outer=splits.outer[:1], subsamples=()))


def count_correct(study: Study, methods: tuple[str, ...]) -> dict[str, int]:
    """Return method -> number of left-out samples that it classifies correctly."""
    assert all(method in {**VARIANTS, **RIVALS} for method in methods)
    n_correct = {}
    for method, record in run_together(methods, study).items():
        held_out = scores_of_record(study, record)
        n_correct[method] = int(np.sum(held_out.y * held_out.scores[:, -1] > 0))
    return n_correct


def main(arguments: list[str] | None = None) -> None:
    """Count, print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="DATA")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    counts = {}
    for name in options.names or list(PUBLISHED):
        study = leave_one_out_splits(read_data_set(name, options.data))
        method_counts = dict(PUBLISHED.get(name, {}))
        for methods in METHODS:
            method_counts |= count_correct(study, methods)
            print(name, method_counts, file=sys.stderr, flush=True)
        counts[f"{name} of {len(study.dataset.samples)}"] = method_counts
    table = pd.DataFrame(counts).rename_axis("method")
    if options.out:
        table.to_csv(options.out, sep="\t")
    print(table.to_string())


if __name__ == "__main__":
    main()
