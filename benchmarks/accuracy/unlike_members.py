"""Error of an ensemble of unlike members, of the two-stage model and of ``linear.model: ensemble``.

    python benchmarks/accuracy/unlike_members.py --data FOLDER --out FILE [--repeats 1] [--sets 10]
        [--write]

``unlike`` averages the log odds of the two-stage model, of a logistic elastic net, and of the mean
of a logistic elastic net, diagonal discriminant analysis and ridge regression on the k genes of the
largest |t|. ``five`` adds an elastic net of least squares and diagonal discriminant analysis on
such genes to the three members of ``linear.model: ensemble``; it was chosen among nine variants
on simulated data with other seeds. Each is one linear score;
ensemble_members.py has the added members.

Data: the fifteen two-class questions of answers.py, with splits that no other script uses, and
simulated data (predictive_worlds.py) with 400 new samples: few strong genes, many weak genes, and
noise. FOLDER holds the published data. FILE gets a row for each question or simulated data set;
rows that it already has are not run again. ``--write`` puts the table into
docs/evidence/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))

from answers_data import OTHER_SOURCES, PUBLISHED, Source
from answers_rivals import Folds, ScoresAndGenes, balanced_mean, run_on_split
from ensemble_members import TrainingData, all_genes_member, as_log_odds, top_genes_member
from linear_loops import nested_cross_validation, study_half_samples
from places import ROOT
from predictive_models import DESIGNS, draw_world
from speed_page import markdown_table, publish
from study import settings, splits_of

from genesig.data.steps.normalise import normalise_samples
from genesig.results import Dataset, Fits, Splits
from genesig.selection.linear.training_sets import linear_keywords

Array = np.ndarray[Any, Any]

PAGE = ROOT / "docs/evidence/benchmarks.md"
FIRST_SEED = 5970
MODELS = ("two-stage", "ensemble", "unlike", "five")
PAIRS = (
    ("ensemble", "two-stage"),
    ("unlike", "two-stage"),
    ("unlike", "ensemble"),
    ("five", "ensemble"),
)
"""Pairs of models whose differences are in the table: the first less the second."""
WORLDS = {"few strong genes": "few", "many weak genes": "weak", "noise": "weak"}
"""Simulation -> its name in predictive_worlds.py; noise replaces the expression values."""
QUESTIONS = "questions"
NAMES = (*PUBLISHED, *OTHER_SOURCES, *WORLDS)


def unlike_partners(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Return the summed log odds of the two members that ``unlike`` adds; a `Rival`."""
    data = TrainingData(Z, y, Z_test, inner)
    net = all_genes_member("logistic net", data)
    top = top_genes_member(("logistic net", "diagonal LDA", "ridge"), data)
    return (net + top)[len(y) :], None


def ensemble_partners(Z: Array, y: Array, Z_test: Array, inner: Folds, seed: int) -> ScoresAndGenes:
    """Return the summed log odds of the two members that ``five`` adds; a `Rival`."""
    data = TrainingData(Z, y, Z_test, inner)
    net = all_genes_member("squares net", data)
    top = top_genes_member(("diagonal LDA",), data)
    return (net + top)[len(y) :], None


EXTENDED = {
    "unlike": ("two-stage", 1, unlike_partners),
    "five": ("ensemble", 3, ensemble_partners),
}
"""Model -> the model that it extends, the number of members of this, the two added members."""


def fit_model(dataset: Dataset, splits: Splits, model: str) -> tuple[Fits, float]:
    """Return the predictive model of each outer split, and the mean processor seconds per split."""
    # A decision rule makes the fits store left-out scores; permutations do not change the models.
    sections = {"decision": {"youden": True}, "signature": {"permutations": 2}}
    config = settings({}, linear={"model": model.replace("-", "_")}, **sections)
    keywords = {"fold_steps": config["normalise"]["folds"], **linear_keywords(config)}
    half_sample_study = study_half_samples(dataset, splits, permutations=2, **keywords)
    start = time.process_time()
    fits = nested_cross_validation(
        dataset, splits, half_sample_study, labels="observed", batch="1of1", **keywords
    )
    return fits.answer("predictive"), (time.process_time() - start) / len(splits.outer)


def measure_models(dataset: Dataset, splits: Splits) -> dict[str, dict[str, float]]:
    """Return the error, the mean AUC over splits and the seconds per split of each model."""
    dataset = normalise_samples(dataset, **settings({})["normalise"])
    y = dataset.response()
    seconds = {}
    fits = {}
    for model in ("two-stage", "ensemble"):
        fits[model], seconds[model] = fit_model(dataset, splits, model)
    for model, (base_model, _, _) in EXTENDED.items():
        seconds[model] = seconds[base_model]
    split_by_name = {split.name: split for split in splits.outer}
    test_responses = []
    test_scores = []
    for fit, name in enumerate(fits["ensemble"].split.tolist()):
        split = split_by_name[name]
        train = dataset.rows(split.train)
        scores = {
            model: model_fits.test_scores(fit)[1][:, -1] for model, model_fits in fits.items()
        }
        for model, (base_model, n_members, partners) in EXTENDED.items():
            start = time.process_time()
            left_out_scores = fits[base_model].crossfitted[fit, train]
            log_odds = as_log_odds(np.append(left_out_scores, scores[base_model]), y[train])
            partner_sum, _ = run_on_split(partners, dataset, split, splits.seed)
            total = n_members * log_odds[len(train) :] + partner_sum
            scores[model] = total / (n_members + 2)
            seconds[model] += (time.process_time() - start) / len(splits.outer)
        test_responses.append(y[dataset.rows(split.test)])
        test_scores.append(np.column_stack([scores[model] for model in MODELS]))
    y_test = np.concatenate(test_responses)
    is_wrong = y_test[:, None] * np.concatenate(test_scores) <= 0
    errors = [balanced_mean(y_test, wrong.astype(float)) for wrong in is_wrong.T]
    aucs = [
        [roc_auc_score(y_split, model_scores) for model_scores in split_scores.T]
        for y_split, split_scores in zip(test_responses, test_scores, strict=True)
    ]
    return {
        "error": dict(zip(MODELS, errors, strict=True)),
        "AUC": dict(zip(MODELS, np.mean(aucs, axis=0).tolist(), strict=True)),
        "seconds": seconds,
    }


def draw_simulation(name: str, number: int) -> tuple[Dataset, Splits]:
    """Return a simulated data set and one split, whose test samples are the 400 new samples."""
    seed = FIRST_SEED + number
    dataset, splits = draw_world(WORLDS[name], *DESIGNS[number % len(DESIGNS)], seed)
    if name == "noise":
        dataset = replace(dataset, X=np.random.default_rng(seed).normal(size=dataset.X.shape))
    return dataset, splits


def table(rows: pd.DataFrame) -> Iterator[list[str]]:
    """Yield the table's headings, then a row for each measure and group of data sets."""
    yield ["mean", *MODELS, *(f"{first} − {second}" for first, second in PAIRS)]
    for group, group_rows in rows.groupby("group", sort=False):
        for measure in ("error", "AUC", "seconds")[: 3 if group == QUESTIONS else 2]:
            values = pd.DataFrame(group_rows[measure].tolist())
            means = [f"{values[model].mean():.3f}" for model in MODELS]
            differences = [
                paired_difference(values[first] - values[second]) for first, second in PAIRS
            ]
            yield [f"{measure}, {group} ({len(values)})", *means, *differences]


def paired_difference(difference: pd.Series) -> str:
    """Return the mean ± two standard errors, and how many values are below and above 0."""
    two_errors = 2 * difference.std() / np.sqrt(len(difference))
    n_below = int((difference < -1e-9).sum())
    n_above = int((difference > 1e-9).sum())
    mean = f"{difference.mean():+.3f}".replace("-", "−")
    return f"{mean} ± {two_errors:.3f} ({n_below}, {n_above})"


def main() -> None:
    """Measure the missing rows, and print or write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # rivals warn of genes that are constant in a fold
    options.out.touch()
    rows = [json.loads(line) for line in options.out.read_text(encoding="utf-8").splitlines()]
    finished = {(row["name"], row["number"]) for row in rows}
    jobs = [
        (name, number)
        for name in NAMES
        for number in range(options.sets if name in WORLDS else 1)
        if (name, number) not in finished
    ]
    if jobs:
        measure_models(*draw_simulation("noise", -1))  # compiles before the first measurement
    plan = {"folds": 5, "repeats": options.repeats, "subsamples": 0}
    for name, number in jobs:
        if name in WORLDS:
            dataset, splits = draw_simulation(name, number)
        else:
            dataset = Source.from_text(name, options.data).read()
            splits = splits_of(dataset, settings({}, splits=plan), seed=FIRST_SEED)
        measures = measure_models(dataset, splits)
        group = name if name in WORLDS else QUESTIONS
        rows.append({"name": name, "number": number, "group": group, **measures})
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + "\n")
    rows.sort(key=lambda row: (NAMES.index(row["name"]), row["number"]))
    publish("unlike_members", markdown_table([*table(pd.DataFrame(rows))]), options.write, PAGE)


if __name__ == "__main__":
    main()
