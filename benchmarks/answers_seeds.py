"""Jaccard index of the final lists between seeds of splits, folds and halves.

    python benchmarks/answers_seeds.py [--seeds 6] [--out FILE] [--all] [DATA ...]

DATA as in answers.py. Each seed runs the default study again on all samples: ``fdr_selected`` are
its FDR-selected genes (none if there are no more than by chance), ``model`` the genes of their
model, which has five if fewer are selected; ``stable`` is the chosen list of the two stages alone.
It prints the mean Jaccard index over the pairs of seeds (1 if both lists are empty), and the median
length.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from answers_data import OTHER_SOURCES, PUBLISHED, Plan, Source, read_study
from answers_runs import chosen_lists, config_of_variant
from linear_loops import study_half_samples
from study import final_fit

from genesig.data.steps.normalise import normalise_samples
from genesig.results import Dataset, Splits
from genesig.selection.gather import selection_table
from genesig.selection.linear.training_sets import linear_keywords

GOAL = 0.8  # mean Jaccard index of the FDR-selected genes
Genes = Sequence[object]


def jaccard(lists: Sequence[Genes]) -> float:
    """Return the mean Jaccard index over the pairs of lists; 1 for two empty lists."""
    sets = [set(genes) for genes in lists]
    return float(
        np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(sets, 2)])
    )


def final_lists(dataset: Dataset, splits: Splits) -> dict[str, Genes]:
    """Return kind of list (see above) -> genes, for the splits of one seed.

    Genes are ids, in the list "stable" columns of the data set.
    """
    config = config_of_variant("FDR-selected genes")
    two_stages = config_of_variant("stable")
    signature_settings = config["signature"]
    half_sample_study = study_half_samples(
        normalise_samples(dataset, **config["normalise"]),
        replace(splits, outer=(), subsamples=()),  # lists of all samples need none of them
        permutations=signature_settings["permutations"],
        fold_steps=config["normalise"]["folds"],
        **linear_keywords(config),
    )
    evidence = selection_table(dataset, half_sample_study, signature_settings["fdr"])
    n_passing = int(np.sum(evidence["selection_q"] <= signature_settings["fdr"]))
    length = int(np.clip(n_passing, signature_settings["least"], signature_settings["most"]))
    return {
        "fdr_selected": evidence.loc[evidence["fdr_selected"], "gene"].tolist(),
        "model": evidence["gene"].head(length).tolist(),
        "stable": chosen_lists(final_fit(dataset, splits, two_stages))[0],
    }


def measure_seeds(source: Source, seeds: int) -> list[dict[str, object]]:
    """Return a row of measures for each kind of list."""
    seed_lists = []
    for seed in range(seeds):
        study = read_study(source, Plan(repeats=1, pairs=1, seed=seed))
        seed_lists.append(final_lists(study.dataset, study.splits))
    return [
        {
            "data": source.name,
            "list": kind,
            "jaccard": jaccard([lists[kind] for lists in seed_lists]),
            "genes": float(np.median([len(lists[kind]) for lists in seed_lists])),
            "seeds": seeds,
        }
        for kind in seed_lists[0]
    ]


def main() -> None:
    """Measure the data sets and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", nargs="*", help="name, or name=matrix,samples,label")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--all", action="store_true", help="all fifteen data sets")
    parser.add_argument("--out", type=Path, help="file of the table")
    options = parser.parse_args()
    names = options.data or list(PUBLISHED | OTHER_SOURCES if options.all else PUBLISHED)
    rows = []
    for source in map(Source.from_text, names):
        rows += measure_seeds(source, options.seeds)
        for row in rows[-3:]:  # of this data set
            print("{data}, {list}: {jaccard:.2f}, {genes:g} genes".format(**row), flush=True)
    table = pd.DataFrame(rows)
    if options.out:
        table.to_csv(options.out, sep="\t", index=False, float_format="%.4g")
    means = table.groupby("list", sort=False)["jaccard"].mean()
    print(f"mean of {len(names)} data sets: " + ", ".join(f"{k} {v:.2f}" for k, v in means.items()))
    verdict = "reached" if means["fdr_selected"] >= GOAL else "not reached"
    print(f"Jaccard index of the FDR-selected genes at least {GOAL} in the mean: {verdict}")


if __name__ == "__main__":
    main()
