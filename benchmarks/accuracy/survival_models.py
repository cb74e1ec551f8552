"""Concordance of the two-stage Cox model, of the compound covariate, and of their average.

    python benchmarks/accuracy/survival_models.py --data FOLDER [--repeats 10] [--sets 40]
        [--only NAME ...]

The average is one linear score: the mean of both scores, each divided by its standard deviation on
the training samples. FOLDER holds the published data of benchmarks/README.md, and glmnet's
simulated example. Data sets: nested cross-validation, with splits that no other script uses;
differences have the 95 % interval of `compare_errors`. Simulations: 100 training samples and 1000
genes, C of 400 new samples; differences have two standard errors over the drawn sets.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from answers_data import Source
from places import ROOT
from questions import read_question
from study import outer_fits, settings, splits_of

from genesig.models.top_genes import compound_covariate_survival
from genesig.results import Dataset, Design, Fits, Splits
from genesig.selection.assess.assessment import compare_errors, study_errors
from genesig.selection.assess.held_out import complete_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores

Array = np.ndarray[Any, Any]

HEADLINE = ASSESSMENT_KINDS["survival"].headline
CONFIG = settings({}, signature={"permutations": 0})  # chosen lists do not depend on them
FIRST_SEED = 5900
N_GENES = 1000
N_TRAINING = 100
N_NEW = 400
METHODS = ("two-stage", "compound", "average")


def glmnet_example(folder: Path) -> Dataset:
    """Return glmnet's example of Cox regression: 1000 samples of 30 features."""
    table = pd.read_csv(folder / "survival/cox_example.csv.gz")
    follow_up = table[["time", "status"]].set_axis([f"S{row:04d}" for row in table.index])
    return survival_set(table.drop(columns=["time", "status"]).to_numpy(float), follow_up)


def simulated_example() -> Dataset:
    """Return the survival example of resources/examples, without its covariate."""
    folder = ROOT / "resources/examples"
    label = {"time": "years", "event": "status"}
    data = {"task": "survival", "event": "relapse"}
    files = (folder / "survival.tsv.gz", folder / "survival_samples.tsv")
    return Source("example", *files, label, data=data).read()


# Name -> function of the folder of the data.
DATA_SETS: dict[str, Callable[[Path], Dataset]] = {
    "desmedt": lambda folder: read_question("desmedt_survival", folder, 0)[0],
    "rosenwald": lambda folder: read_question("rosenwald_survival", folder, 0)[0],
    "example": lambda _: simulated_example(),
    "glmnet": glmnet_example,
}


def survival_set(X: Array, follow_up: pd.DataFrame) -> Dataset:
    """Return a data set of values (n, d) and a table with the columns time and status (0, 1)."""
    genes = [f"g{gene:04d}" for gene in range(X.shape[1])]
    obs = follow_up.astype({"status": int}).astype({"status": str})
    design = Design("time", "survival", None, None, None, event="status", occurred="1")
    return Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {})


def draw_survival(n_true: int, hazard_sd: float, seed: int) -> Dataset:
    """Return samples of correlated genes; the first n_true genes determine the log hazard.

    hazard_sd: standard deviation of the log hazard. Half of the events are censored, independently.
    """
    rng = np.random.default_rng((seed, n_true))
    n_samples = N_TRAINING + N_NEW
    loadings = rng.normal(size=(20, N_GENES)) * (rng.random((20, N_GENES)) < 0.1)
    X = 0.5 * rng.normal(size=(n_samples, 20)) @ loadings
    X += rng.normal(size=(n_samples, N_GENES))
    log_hazard = X[:, :n_true] @ rng.normal(size=n_true)
    log_hazard *= hazard_sd / log_hazard.std()
    event_time = rng.exponential(np.exp(-log_hazard))
    censoring_time = rng.permutation(event_time)
    names = [f"S{row:03d}" for row in range(n_samples)]
    follow_up = {
        "time": np.minimum(event_time, censoring_time),
        "status": event_time <= censoring_time,
    }
    return survival_set(X, pd.DataFrame(follow_up, index=names))


SIMULATIONS = {"few-strong": (3, 1.5), "many-weak": (100, 1.5)}
"""Arguments of `draw_survival`: n_true and hazard_sd."""
NAMES = (*DATA_SETS, *SIMULATIONS)


def held_out_methods(dataset: Dataset, splits: Splits) -> dict[str, HeldOutScores]:
    """Return the held-out scores of each method."""
    fits = outer_fits(dataset, splits, CONFIG).with_chosen()
    split_number = {split.name: number for number, split in enumerate(splits.outer)}
    scores: dict[str, list[Array]] = {method: [] for method in METHODS}
    test_rows = []
    split_of_row = []
    for fit, name in enumerate(fits.split.tolist()):
        split = splits.outer[split_number[name]]
        train = dataset.rows(split.train)
        test = dataset.rows(split.test)
        two_stage = standardised(two_stage_scores(dataset.X, fits, fit), train)
        compound = compound_scores(dataset, train, split.inner)
        test_rows.append(test)
        split_of_row.append(np.full(len(test), split_number[name]))
        method_scores = (two_stage, compound, (two_stage + compound) / 2)
        for method, sample_scores in zip(METHODS, method_scores, strict=True):
            scores[method].append(sample_scores[test])
    rows = np.concatenate(test_rows)
    split_numbers = np.concatenate(split_of_row)
    return {
        method: complete_held_out(
            dataset,
            splits,
            rows,
            split_numbers,
            np.concatenate(split_scores)[:, None],
            np.zeros_like(rows),  # no permutation
        )
        for method, split_scores in scores.items()
    }


def two_stage_scores(X: Array, fits: Fits, fit: int) -> Array:
    """Return the scores of all samples up to a constant; check them against the stored scores."""
    genes, weights = fits.chosen_coef(fit)
    scores = X[:, genes] @ weights
    test, stored = fits.test_scores(fit)
    np.testing.assert_allclose(np.ptp(scores[test] - stored[:, -1]), 0, atol=1e-8)
    return scores


def compound_scores(dataset: Dataset, train: Array, inner: Any) -> Array:
    """Return the standardised compound covariate of all samples."""
    position = {row: number for number, row in enumerate(train.tolist())}
    folds = [np.sort([position[row] for row in dataset.rows(fold).tolist()]) for fold in inner]
    X = dataset.X
    scores = compound_covariate_survival(X[train], dataset.response()[train], X, folds, 0)
    return standardised(scores, train)


def standardised(scores: Array, train: Array) -> Array:
    """Return scores with mean 0 and variance 1 on the training samples; constant ones are 0."""
    deviation = scores - scores[train].mean()
    spread = deviation[train].std()
    return deviation / spread if spread > 1e-12 else np.zeros_like(scores)


def measure_data_set(dataset: Dataset, repeats: int) -> dict[str, float]:
    """Return C of each method and the differences to the two-stage model, with intervals."""
    config = settings({}, splits={"folds": 5, "repeats": repeats, "subsamples": 0})
    splits = splits_of(dataset, config, seed=FIRST_SEED)
    methods = held_out_methods(dataset, splits)
    reference = methods["two-stage"]
    row = concordances(methods)
    # Errors are 1 - C, so that differences of C have the opposite sign.
    for method in METHODS[1:]:
        difference = compare_errors(methods[method], reference, 0, HEADLINE)
        row[f"{method} - two-stage"] = -difference.difference
        row[f"{method} low"] = -difference.high
        row[f"{method} high"] = -difference.low
    return row


def measure_simulation(n_true: int, hazard_sd: float, n_sets: int) -> dict[str, float]:
    """Return the mean C of each method over drawn sets, and the differences ± 2 standard errors."""
    rows = []
    for seed in range(FIRST_SEED, FIRST_SEED + n_sets):
        dataset = draw_survival(n_true, hazard_sd, seed)
        training = replace(dataset, X=dataset.X[:N_TRAINING], obs=dataset.obs[:N_TRAINING])
        config = settings({}, splits={"folds": 5, "repeats": 1, "subsamples": 0})
        splits = splits_of(training, config, seed=seed)
        new_samples = tuple(dataset.samples[N_TRAINING:])
        split = replace(splits.final, name="r0f0", test=new_samples, seed=(0, 0))
        one_split = replace(splits, outer=(split,), subsamples=())
        rows.append(concordances(held_out_methods(dataset, one_split)))
    table = pd.DataFrame(rows)
    row = {method: float(table[method].mean()) for method in METHODS}
    for method in METHODS[1:]:
        difference = table[method] - table["two-stage"]
        two_errors = 2 * difference.std() / np.sqrt(n_sets)
        row[f"{method} - two-stage"] = difference.mean()
        row[f"{method} low"] = difference.mean() - two_errors
        row[f"{method} high"] = difference.mean() + two_errors
    return row


def concordances(methods: dict[str, HeldOutScores]) -> dict[str, float]:
    """Return C of the held-out scores of each method."""
    return {
        method: 1 - float(study_errors(held_out, HEADLINE)[0, 0])
        for method, held_out in methods.items()
    }


def main() -> None:
    """Print a line for each data set and simulation."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.only:
        if name in DATA_SETS:
            print_row(name, measure_data_set(DATA_SETS[name](options.data), options.repeats))
        else:
            print_row(name, measure_simulation(*SIMULATIONS[name], options.sets))


def print_row(name: str, row: dict[str, float]) -> None:
    """Print the name and the figures."""
    figures = "  ".join(f"{key} {value:.3f}" for key, value in row.items())
    print(f"{name}: {figures}", flush=True)


if __name__ == "__main__":
    main()
