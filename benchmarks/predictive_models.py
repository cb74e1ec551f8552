"""Error of the predictive models and of other methods on simulated data.

    python benchmarks/predictive_models.py --out FILE [--sets 10] [--jobs 2]

Twelve worlds (predictive_worlds.py), 40 samples 1:1 and 70 samples 3:7, 2000 genes; balanced error
on 400 new samples. ``two stages`` and ``ensemble`` are the two values of linear.model; rivals are
from answers.py, with the same inner folds. It prints the mean error; the difference to the two
stages with two standard errors over data sets, and in sparse and dense worlds; and the median
number of genes. FILE gets a row for each data set; its rows are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from answers import THREADS
from answers_rivals import RIVALS, balanced_mean, run_on_split
from answers_runs import answer_fits
from predictive_worlds import SPARSE, WORLDS, draw_samples
from study import settings, splits_of

from genesig.results import Dataset, Design, Splits
from genesig.selection.assess.held_out import collect_held_out

DESIGNS = ((40, 0.5), (70, 0.3))  # training samples, share of the class "ill"
MODELS = {"two stages": "two_stage", "ensemble": "ensemble"}
COMPARED_RIVALS = ("l1 logistic", "t-test + LDA", "shrunken centroids")


def draw_world(name: str, n: int, share: float, seed: int) -> tuple[Dataset, Splits]:
    """Return n training and 400 new samples, and one split whose test samples are the new ones."""
    X, y = draw_samples(name, n, share, seed)
    samples = [f"S{k:03d}" for k in range(len(y))]
    genes = [f"g{k:04d}" for k in range(X.shape[1])]
    obs = pd.DataFrame({"state": np.where(y > 0, "ill", "well")}, index=samples)
    design = Design("state", "classification", ("well", "ill"), None, None)
    all_samples = Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})
    config = settings({}, splits={"folds": 5, "repeats": 1, "subsamples": 0})
    training_splits = splits_of(replace(all_samples, X=X[:n], obs=obs[:n]), config)
    split = replace(training_splits.final, name="r0f0", test=tuple(samples[n:]), seed=(0, 0))
    return all_samples, replace(training_splits, outer=(split,), subsamples=())


def measure_models(name: str, n: int, share: float, seed: int) -> dict[str, Any]:
    """Return a row: the error and the number of genes of each model on one data set."""
    warnings.simplefilter("ignore")  # rivals warn of genes that are constant in a fold
    dataset, splits = draw_world(name, n, share, seed)
    row: dict[str, Any] = {"world": name, "n": n, "seed": seed}
    for model, model_setting in MODELS.items():
        # Few permutations, as only the FDR-selected genes depend on them.
        changes = {"linear": {"model": model_setting}, "signature": {"permutations": 2}}
        fits = answer_fits(dataset, splits, settings({}, **changes)).answer("predictive")
        held_out_scores = collect_held_out(dataset, splits, fits)
        is_wrong = held_out_scores.y * held_out_scores.scores[:, -1] <= 0
        row[model] = balanced_mean(held_out_scores.y, is_wrong.astype(float))
        row[f"genes of {model}"] = len(fits.coef(0, 0)[0])
    y = dataset.response()[n:]
    for rival in COMPARED_RIVALS:
        scores, genes = run_on_split(RIVALS[rival], dataset, splits.outer[0], splits.seed)
        row[rival] = balanced_mean(y, (y * scores <= 0).astype(float))
        row[f"genes of {rival}"] = dataset.X.shape[1] if genes is None else len(genes)
    return row


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each model, by ascending error."""
    models = [*MODELS, *COMPARED_RIVALS]
    differences = rows[models].sub(rows["two stages"], axis=0)
    is_sparse = rows["world"].isin(SPARSE)
    return pd.DataFrame(
        {
            "error": rows[models].mean(),
            "to two stages": differences.mean(),
            "2 SE": 2 * differences.std() / np.sqrt(len(rows)),
            "sparse": differences[is_sparse].mean(),
            "dense": differences[~is_sparse].mean(),
            "genes": [rows[f"genes of {model}"].median() for model in models],
        }
    ).sort_values("error")


def main() -> None:
    """Run the missing data sets and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    text = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    finished = {(row["world"], row["n"], row["seed"]) for row in rows}
    jobs = [
        (name, n, share, seed)
        for seed in range(options.sets)
        for name in WORLDS
        for n, share in DESIGNS
        if (name, n, seed) not in finished
    ]
    os.environ |= dict.fromkeys(THREADS, "1")
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(measure_models, *job) for job in jobs]):
            rows.append(future.result())
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(f"{len(rows)} data sets\n{summarise(pd.DataFrame(rows)).round(3).to_string()}")


if __name__ == "__main__":
    main()
