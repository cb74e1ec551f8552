"""How much of the final list is the same for each seed of splits, folds and halves.

    python benchmarks/answers_seeds.py [--seeds 6] [--out FILE] [--all] [DATA ...]

DATA as in answers.py. For each seed the default study is run again on all samples: ``named`` are
its FDR-selected genes (none if there are no more than by chance), ``model`` the genes of their
model, which has five if fewer are selected; ``stable`` the chosen list of the two stages alone.
Printed: mean Jaccard index over the pairs of seeds (1 if both lists are empty), and the median
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
from answers_data import OTHER_SOURCES, PUBLISHED, Plan, Source, study_of
from answers_runs import config_of_variant, lists_of
from linear_loops import study_half_samples
from study import final_fit

from genesig.data.steps.normalise import normalise_samples
from genesig.results import Dataset, Splits
from genesig.selection.gather import selection_table
from genesig.selection.linear.training_sets import linear_keywords

GOAL = 0.8
Genes = Sequence[object]


def jaccard(lists: Sequence[Genes]) -> float:
    """Return the mean over pairs of lists of the share of the genes of either that both have."""
    sets = [set(genes) for genes in lists]
    pairs = [(a & b, a | b) for a, b in combinations(sets, 2)]
    return float(np.mean([len(shared) / len(any_) if any_ else 1.0 for shared, any_ in pairs]))


def final_lists(dataset: Dataset, splits: Splits) -> dict[str, Genes]:
    """Return kind of list (see the top) -> genes, for the splits of one seed.

    Genes are ids, those of the list "stable" columns.
    """
    config = config_of_variant("FDR-selected genes")
    two_stages = config_of_variant("stable")
    signature_settings = config["signature"]
    chance = study_half_samples(
        normalise_samples(dataset, **config["normalise"]),
        replace(splits, outer=(), subsamples=()),  # the list of all samples needs none of them
        permutations=signature_settings["permutations"],
        fold_steps=config["normalise"]["folds"],
        **linear_keywords(config),
    )
    evidence = selection_table(dataset, chance, signature_settings["fdr"])
    passing = int(np.sum(evidence["selection_q"] <= signature_settings["fdr"]))
    length = int(np.clip(passing, signature_settings["least"], signature_settings["most"]))
    return {
        "named": evidence.loc[evidence["fdr_selected"], "gene"].tolist(),
        "model": evidence["gene"].head(length).tolist(),
        "stable": lists_of(final_fit(dataset, splits, two_stages))[0],
    }


def measure_seeds(source: Source, seeds: int) -> list[dict[str, object]]:
    """Return a row for each kind of list."""
    seed_lists = []
    for seed in range(seeds):
        study = study_of(source, Plan(repeats=1, pairs=1, seed=seed))
        seed_lists.append(final_lists(study.dataset, study.splits))
    return [
        {
            "data": source.name,
            "list": kind,
            "jaccard": jaccard([lists_of_seed[kind] for lists_of_seed in seed_lists]),
            "genes": float(np.median([len(lists_of_seed[kind]) for lists_of_seed in seed_lists])),
            "seeds": seeds,
        }
        for kind in seed_lists[0]
    ]


def main() -> None:
    """Run and print."""
    asks = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asks.add_argument("data", nargs="*", help="name, or name=matrix,samples,label")
    asks.add_argument("--seeds", type=int, default=6)
    asks.add_argument("--all", action="store_true", help="all fifteen data sets")
    asks.add_argument("--out", type=Path, help="file of the table")
    chosen = asks.parse_args()
    names = chosen.data or list(PUBLISHED | OTHER_SOURCES if chosen.all else PUBLISHED)
    rows = []
    for source in map(Source.of, names):
        rows += measure_seeds(source, chosen.seeds)
        for row in rows[-3:]:
            print("{data}, {list}: {jaccard:.2f}, {genes:g} genes".format(**row), flush=True)
    table = pd.DataFrame(rows)
    if chosen.out:
        table.to_csv(chosen.out, sep="\t", index=False, float_format="%.4g")
    means = table.groupby("list", sort=False)["jaccard"].mean()
    print(f"mean of {len(names)} data sets: " + ", ".join(f"{k} {v:.2f}" for k, v in means.items()))
    goal_text = "reached" if means["named"] >= GOAL else "not reached"
    print(f"Jaccard index of the FDR-selected genes at least {GOAL} in the mean: {goal_text}")


if __name__ == "__main__":
    main()
