"""Simulated data sets in memory: each kind of response, true genes, centres, studies."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

# Scripts of benchmarks/ put only the folder of this file on the path.
sys.path.insert(0, str(Path(__file__).parents[1] / "references"))

from linear_loops import study_half_samples
from study import settings, splits_of

from genesig.response.kinds import ByKind
from genesig.results import Dataset, Design
from genesig.selection.gather import selection_table
from genesig.selection.linear.training_sets import linear_keywords

# A study of each kind of response: genes of noise, of which some may carry the response.

Array = np.ndarray[Any, Any]


def _classes(f: Array, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, Any]]:
    is_ill = f + 0.3 * rng.standard_normal(len(f)) > np.quantile(f, 0.6)
    return {"state": ["ill" if item else "well" for item in is_ill]}, {"classes": ("well", "ill")}


def _several(f: Array, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, Any]]:
    noisy_score = f + 0.3 * rng.standard_normal(len(f))
    third = np.searchsorted(np.quantile(noisy_score, [0.35, 0.7]), noisy_score)
    classes = ("well", "ill", "worse")
    return {"state": [classes[event_time] for event_time in third]}, {"classes": classes}


def _number(f: Array, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, Any]]:
    return {"state": [repr(float(v)) for v in f + 0.3 * rng.standard_normal(len(f))]}, {}


def _times(f: Array, rng: np.random.Generator) -> tuple[dict[str, list[str]], dict[str, Any]]:
    extra_columns = rng.exponential(np.exp(-f))
    lost = rng.exponential(2 * np.exp(-f.mean()), len(f))
    columns = {
        "state": [f"{v:.3f}" for v in np.minimum(extra_columns, lost)],
        "end": ["dead" if is_dead else "alive" for is_dead in extra_columns <= lost],
    }
    return columns, {"event": "end", "occurred": "dead", "horizon": 1.0, "ties": "efron"}


COLUMNS: dict[str, Callable[..., tuple[dict[str, list[str]], dict[str, Any]]]] = {
    "classification": _classes,
    "several_classes": _several,
    "regression": _number,
    "survival": _times,
}
CHANCE_ERROR = ByKind(
    {"classification": 0.5, "several_classes": 2 / 3, "regression": 1.0, "survival": 0.5}
)
"""Headline error of a model that knows nothing, in a study of `study_of`."""


def task_of(kind: str) -> str:
    """Return ``data.task`` of a kind: of classes there may be two or more."""
    return "classification" if kind == "several_classes" else kind


def study_of(kind: str, seed: int, *, n: int = 40, d: int = 30, signal: float = 0.0) -> Dataset:
    """Return n samples; the first three genes drive the response as strongly as `signal` says."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = signal * X[:, :3].sum(axis=1) + (0 if signal else 1) * rng.standard_normal(n)
    columns, extra_columns = COLUMNS[kind](f, rng)
    names = [f"S{row:02d}" for row in range(n)]
    genes = [f"g{gene}" for gene in range(d)]
    return Dataset(
        X,
        pd.DataFrame(columns, index=names),
        pd.DataFrame({"symbol": genes}, index=genes),
        Design(
            **{
                "label": "state",
                "task": task_of(kind),
                "classes": None,
                "group": None,
                "pair": None,
            }
            | extra_columns
        ),
        {},
    )


CLASSES = ("ewing", "burkitt", "neuro", "rhabdo")


def class_study(
    seed: int = 0,
    *,
    names: tuple[str, ...] = CLASSES,
    order: tuple[int, ...] | None = None,
    signal: float = 2.0,
    n: int = 60,
    d: int = 120,
) -> Dataset:
    """Return samples of several classes; genes 0 to T - 1 follow one class each.

    `order` is the order of the classes in the design.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % len(names)
    X = rng.normal(size=(n, d))
    for c in range(len(names)):
        X[:, c] += signal * (y == c)
    labels = np.array(names, dtype=object)[y]
    obs = pd.DataFrame({"label": labels}, index=[f"s{k}" for k in range(n)])
    genes = [f"g{j}" for j in range(d)]
    var = pd.DataFrame({"symbol": genes}, index=genes)
    classes = tuple(names) if order is None else tuple(names[k] for k in order)
    design = Design("label", "classification", classes, None, None)
    return Dataset(X, obs, var, design, {"steps": []})


# Data in which some genes differ, and what the defaults name of them.

FULL_SPLITS = {"folds": 5, "repeats": 1, "subsamples": 0}
N_SAMPLES = 60
N_GENES = 400
TRUE_GENES = 10


def differing(seed: int) -> tuple[Dataset, set[str]]:
    """Return two classes of which ten genes differ by a standard deviation, and their names."""
    rng = np.random.default_rng((991, seed))
    X = rng.standard_normal((N_SAMPLES, N_GENES))
    ill = np.arange(N_SAMPLES) % 2 == 1
    true = rng.permutation(N_GENES)[:TRUE_GENES]
    X[:, true] += ill[:, None]
    samples = [f"S{k:03d}" for k in range(N_SAMPLES)]
    genes = [f"g{k:04d}" for k in range(N_GENES)]
    obs = pd.DataFrame({"state": np.where(ill, "ill", "well")}, index=samples)
    design = Design("state", "classification", ("well", "ill"), None, None)
    var = pd.DataFrame({"symbol": genes}, index=genes)
    return Dataset(X, obs, var, design, {}), {genes[j] for j in true}


def named(dataset: Dataset, kind: str, seed: int) -> pd.DataFrame:
    """Return selection.tsv of a data set."""
    scheme = "stratified_kfold" if dataset.design.group is None else "stratified_group_kfold"
    splits = FULL_SPLITS | {"scheme": scheme}
    config = settings({}, data={"task": task_of(kind)}, splits=splits)
    chance = study_half_samples(
        dataset,
        splits_of(dataset, config, seed=seed),
        permutations=config["signature"]["permutations"],
        fold_steps=config["normalise"]["folds"],
        **linear_keywords(config),
    )
    return selection_table(dataset, chance, config["signature"]["fdr"])


# Laboratories that measure the same genes, each a little differently.


class Centre:
    """Arrays of one laboratory: log2 intensities of genes that tell two classes apart, or not."""

    def __init__(self, genes: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.levels = self.rng.uniform(4, 13, genes)
        self.effects = self.rng.normal(0, 0.6, genes)
        self.spreads = self.rng.uniform(0.3, 0.9, genes)

    def elsewhere(self) -> Centre:
        """Return another one: each gene is off by its own half of a standard deviation."""
        external_centre = Centre(len(self.levels), int(self.rng.integers(1 << 30)))
        external_centre.levels = (
            self.levels + self.rng.normal(0, 0.5, len(self.levels)) * self.spreads
        )
        external_centre.effects = self.effects
        external_centre.spreads = self.spreads
        return external_centre

    def arrays(self, y: Array) -> Array:
        """Return the values of samples with these labels, each a little brighter or darker."""
        noise = self.rng.standard_normal((len(y), len(self.levels))) * self.spreads
        light = self.rng.normal(0, 0.2, (len(y), 1))
        return np.asarray(self.levels + np.outer(y, self.effects) + noise + light)


def both(n: int) -> Array:
    return np.where(np.arange(n) % 2, 1.0, -1.0)


# Studies whose genes differ between two classes, by not quite the same in each study.

STUDY_SAMPLES = 40
STUDY_GENES = 1500
N_SHIFTED = 75
EFFECT = 1.0


def studies_of(
    k: int, tau: np.ndarray | float, seed: int, *, samples_per_patient: int = 1
) -> Dataset:
    """Return k studies of N samples; tau is how much a gene's shift differs between studies."""
    rng = np.random.default_rng((k, seed, samples_per_patient))
    y = np.repeat(np.arange(STUDY_SAMPLES // samples_per_patient) % 2, samples_per_patient)
    parts = []
    for _ in range(k):
        shift = EFFECT * (np.arange(STUDY_GENES) < N_SHIFTED) + tau * rng.standard_normal(
            STUDY_GENES
        )
        patient_noise = rng.standard_normal(
            (STUDY_SAMPLES // samples_per_patient, STUDY_GENES)
        ).repeat(samples_per_patient, axis=0)
        noise = rng.standard_normal((STUDY_SAMPLES, STUDY_GENES))
        share = 0.8 if samples_per_patient > 1 else 0.0
        parts.append(
            np.sqrt(share) * patient_noise + np.sqrt(1 - share) * noise + y[:, None] * shift
        )
    names = [f"s{i:03d}" for i in range(k * STUDY_SAMPLES)]
    genes = [f"g{j:04d}" for j in range(STUDY_GENES)]
    obs = pd.DataFrame(
        {
            "state": np.tile(np.where(y, "ill", "well"), k),
            "study": np.repeat([f"study {i}" for i in range(k)], STUDY_SAMPLES),
        },
        index=names,
    )
    design = Design("state", "classification", ("well", "ill"), None, None, "study", studies=True)
    var = pd.DataFrame({"symbol": genes}, index=genes)
    return Dataset(np.concatenate(parts), obs, var, design, {})


def false_share(table: pd.DataFrame) -> float:
    """Return the share of false genes among those of q <= .05."""
    is_significant = table["q_value"].to_numpy() <= 0.05
    return float(is_significant[N_SHIFTED:].sum() / max(1, is_significant.sum()))


# Data sets without a fault, to plant faults in.


def faultless(rng, n=20, d=300, *, raw=False, batch=None, **columns):
    """Samples that differ as samples do: by three hidden factors, a little in level, by noise."""
    X = rng.normal(8, 2, d) + rng.normal(size=(n, 3)) @ rng.normal(0, 0.5, (3, d))
    X += rng.normal(size=(n, d)) + rng.normal(0, 0.1, (n, 1))
    if raw:
        X = 2**X * rng.lognormal(0, 0.3, (n, 1))
    obs = pd.DataFrame({"state": (["well", "ill"] * n)[:n], **columns})
    obs.index = pd.Index([f"s{i}" for i in range(n)])
    var = pd.DataFrame({"symbol": ["x"] * d}, index=[f"g{j}" for j in range(d)])
    design = Design("state", "classification", ("well", "ill"), None, None, batch)
    return Dataset(X, obs.astype(str), var, design, {"dropped": [], "steps": []})
