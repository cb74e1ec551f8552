"""Trials of class probabilities: no information in noise, calibrated with a signal.

Genes are independent, of variance 1; a class has three genes of its own, whose mean it raises. The
protocol is small, five folds in five folds. In small studies 5 of 150 genes are raised, and tau and
lam are searched as finely as by default.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from certificate import Claim, Trial
from linear_loops import fit_final_model, nested_cross_validation
from settings import MOMENTS, linear

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.optim.classes import fitted_line
from genesig.report.prediction.decision import net_benefit
from genesig.results import Dataset, Design, Splits
from genesig.selection.assess.held_out import predictions_table
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

CLASSES = ("a", "b", "c", "d")
PROTOCOL = linear(mu=[1e-2], lam=[1e-2, 1e-1], tau_count=4, tau_min=0.2)
N_GENES = 40
N_NEW_SAMPLES = 200
N_STUDIES_TOGETHER = 4
SMALL_PROTOCOL = linear(mu=[1e-6, 1e-2], lam=[1e-3, 1e-2, 1e-1], tau_count=6, tau_min=0.05)
SMALL_GENES = 150
SMALL_RAISED = 5
SMALL_TOGETHER = 20
"""Genes, raised genes of each class, and studies of which one slope is measured."""


def study(
    seed: int,
    n: int,
    shares: tuple[float, ...],
    raised: float,
    genes_of_study: int = N_GENES,
    raised_genes: int = 3,
) -> tuple[Dataset, Splits]:
    """Draw a study of exactly these shares."""
    rng = np.random.default_rng(seed)
    size = np.round(n * np.array(shares)).astype(int)
    y = rng.permutation(np.repeat(np.arange(len(shares)), size))
    names = [f"S{i}" for i in range(n)]
    genes = [f"g{j}" for j in range(genes_of_study)]
    classes = CLASSES[: len(shares)]
    design = Design(label="state", task="classification", classes=classes, group=None, pair=None)
    dataset = Dataset(
        expression(rng, y, raised, genes_of_study, raised_genes),
        pd.DataFrame({"state": [classes[c] for c in y]}, index=names),
        pd.DataFrame({"symbol": genes}, index=genes),
        design,
        {},
    )
    return dataset, draw_splits(
        dataset,
        seed=seed,
        scheme="stratified_kfold",
        folds=5,
        repeats=1,
        column=None,
        file=None,
        inner_scheme="stratified_kfold",
        inner_folds=5,
        subsamples=0,
        batches=1,
    )


def expression(
    rng: np.random.Generator,
    y: np.ndarray,
    raised: float,
    n_genes: int = N_GENES,
    raised_genes: int = 3,
) -> np.ndarray:
    """Raise some genes in each class but the first."""
    X = rng.standard_normal((len(y), n_genes))
    for c in range(1, y.max() + 1):
        X[y == c, raised_genes * (c - 1) : raised_genes * c] += raised
    return X


def held_out(dataset: Dataset, splits: Splits) -> pd.DataFrame:
    """Return predictions.tsv of the chosen lists."""
    fits = nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", fold_steps=MOMENTS, **PROTOCOL
    )
    table = predictions_table(dataset, splits, fits.with_chosen())
    return table[table["mu"].isna()]


def columns(table: pd.DataFrame, classes: tuple[str, ...]) -> np.ndarray:
    """Return the probability of each class, (n, T)."""
    if len(classes) == 2:
        p = table[f"probability of {classes[1]}"].to_numpy(float)
        return np.column_stack([1 - p, p])
    return table[[f"probability of {name}" for name in classes]].to_numpy(float)


def in_noise(seed: int, n: int) -> dict[str, float]:
    """Return the net benefit of deciding by a study of nothing, at its prevalence."""
    dataset, splits = study(seed, n, (0.5, 0.5), 0.0)
    table = held_out(dataset, splits)
    p = columns(table, CLASSES[:2])[:, 1]
    positive = (table["label"] == "b").to_numpy()
    return {"benefit": float(net_benefit(p, positive, np.array([0.5]), 0.5)[0])}


def foretold(seed: int, n: int, shares: tuple[float, ...], raised: float) -> dict[str, float]:
    """Hold the probabilities of some studies, and of their models for new samples, to what came."""
    studies = [
        one(N_STUDIES_TOGETHER * seed + k, n, shares, raised) for k in range(N_STUDIES_TOGETHER)
    ]
    forecasts = {}
    for at, name in enumerate(("held", "new")):
        p = np.concatenate([study_forecasts[at][0] for study_forecasts in studies])
        y = np.concatenate([study_forecasts[at][1] for study_forecasts in studies])
        forecasts[f"{name} large"] = float(p[:, -1].mean() - (y == len(shares) - 1).mean())
        forecasts[f"{name} slope"] = float(fitted_line(np.log(p), y)[-1])
    return forecasts


def one(
    seed: int, n: int, shares: tuple[float, ...], raised: float
) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return probabilities and classes of held-out samples, then of new ones."""
    dataset, splits = study(seed, n, shares, raised)
    classes = dataset.design.classes
    table = held_out(dataset, splits)
    y = np.array([classes.index(name) for name in table["label"]])
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **PROTOCOL)
    model = final_model(dataset, final, fold_steps=MOMENTS)
    rng = np.random.default_rng([seed, 1])
    new = rng.choice(len(shares), p=shares, size=N_NEW_SAMPLES)
    names = tuple(f"N{i}" for i in range(N_NEW_SAMPLES))
    lines = tuple(range(2, N_NEW_SAMPLES + 2))
    matrix = Matrix(names, tuple(dataset.genes), expression(rng, new, raised), {}, lines)
    predictions, _ = predict(model, matrix, "new.tsv", missing=0, mu=None)
    return (columns(table, classes), y), (columns(predictions, classes), new)


def probabilities_of_new(
    seed: int, n: int, shares: tuple[float, ...], raised: float, raised_genes: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return probabilities and classes of new samples by a study's model.json; whether in doubt."""
    design = SMALL_GENES, raised_genes
    dataset, splits = study(seed, n, shares, raised, *design)
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **SMALL_PROTOCOL)
    model = final_model(dataset, final, fold_steps=MOMENTS)
    rng = np.random.default_rng([seed, 1])
    new = rng.choice(len(shares), p=shares, size=N_NEW_SAMPLES)
    names = tuple(f"N{i}" for i in range(N_NEW_SAMPLES))
    lines = tuple(range(2, N_NEW_SAMPLES + 2))
    values = expression(rng, new, raised, *design)
    matrix = Matrix(names, tuple(dataset.genes), values, {}, lines)
    scored, _ = predict(model, matrix, "new.tsv", missing=0, mu=None)
    doubtful = scored["doubt"].str.contains("that the score predicts the class").all()
    return columns(scored, dataset.design.classes), new, bool(doubtful)


def of_small_studies(
    seed: int,
    n: int,
    shares: tuple[float, ...],
    raised: float,
    raised_genes: int = SMALL_RAISED,
) -> dict[str, float]:
    """Return the slope in new samples of some studies together, and what they claim."""
    studies = [
        probabilities_of_new(SMALL_TOGETHER * seed + k, n, shares, raised, raised_genes)
        for k in range(SMALL_TOGETHER)
    ]
    p, y = (np.concatenate([small_study[part] for small_study in studies]) for part in (0, 1))
    doubtful = np.repeat([small_study[2] for small_study in studies], N_NEW_SAMPLES)
    distance = p[:, -1] - shares[-1]
    varied = bool((np.abs(distance) > 1e-3).any())
    sure = ~doubtful
    return {
        "slope": float(fitted_line(np.log(p), y)[-1]) if varied else np.nan,
        "slope without doubt": float(fitted_line(np.log(p[sure]), y[sure])[-1])
        if sure.any()
        else np.nan,
        "distance": float(np.sqrt(np.mean(np.square(distance)))),
        "distance in doubt": float(np.sqrt(np.mean(np.square(distance[doubtful]))))
        if doubtful.any()
        else np.nan,
        "doubtful": float(np.mean([small_study[2] for small_study in studies])),
    }


SLOPE_OF_SMALL = Claim(
    "slope", "probability of new samples: slope", "within 0.8 and 1.25", 0.8, 1.25
)
CLOSE = Claim(
    "distance",
    "probability of the last class, less its share: root mean square",
    "at most .1",
    0.0,
    0.1,
)
CLOSE_IN_DOUBT = Claim(
    "distance in doubt",
    "probability of the last class, less its share, of studies in doubt: root mean square",
    "at most .12",
    0.0,
    0.12,
)
SLOPE_WITHOUT_DOUBT = Claim(
    "slope without doubt",
    "probability of new samples of studies without doubt: slope",
    "within 0.8 and 1.25",
    0.8,
    1.25,
)
IN_DOUBT = Claim("doubtful", "probabilities are in doubt", "in at least 90 % of studies", 0.9, 1.0)
SMALL_WORLDS = (
    (40, "50:50", (0.5, 0.5), 0.9, (SLOPE_OF_SMALL, CLOSE_IN_DOUBT)),
    (60, "50:50", (0.5, 0.5), 0.9, (SLOPE_OF_SMALL, CLOSE_IN_DOUBT)),
    (100, "50:50", (0.5, 0.5), 0.9, (SLOPE_OF_SMALL,)),
    (100, "50:50", (0.5, 0.5), 0.5, (SLOPE_OF_SMALL, CLOSE_IN_DOUBT)),
    (60, "80:20", (0.8, 0.2), 0.9, (SLOPE_OF_SMALL, CLOSE_IN_DOUBT)),
    (90, "in three equal parts", (1 / 3, 1 / 3, 1 / 3), 0.9, (SLOPE_OF_SMALL,)),
    (100, "in four equal parts", (0.25, 0.25, 0.25, 0.25), 0.9, (SLOPE_OF_SMALL,)),
    (40, "50:50", (0.5, 0.5), 0.5, (CLOSE, CLOSE_IN_DOUBT)),
    (60, "50:50", (0.5, 0.5), 0.5, (CLOSE, CLOSE_IN_DOUBT)),
    (40, "80:20", (0.8, 0.2), 0.5, (CLOSE, CLOSE_IN_DOUBT)),
    (45, "in three equal parts", (1 / 3, 1 / 3, 1 / 3), 0.5, (CLOSE, CLOSE_IN_DOUBT)),
    (40, "50:50", (0.5, 0.5), 0.0, (CLOSE, CLOSE_IN_DOUBT, IN_DOUBT)),
    (40, "80:20", (0.8, 0.2), 0.0, (CLOSE, CLOSE_IN_DOUBT, IN_DOUBT)),
    (45, "in three equal parts", (1 / 3, 1 / 3, 1 / 3), 0.0, (CLOSE, CLOSE_IN_DOUBT, IN_DOUBT)),
)
"""Samples, classes, their shares, by how many SD genes are raised, and what is claimed there."""
TESTED_SMALL_WORLDS = ((60, 0.9), (45, 0.0))
"""Samples and SD of the worlds of which the tests draw a few; the others take too long."""

BENEFIT = Claim(
    "benefit", "net benefit in the decision curve", "at most .005 at the prevalence", -1.0, 0.005
)
CALIBRATED = (
    Claim(
        "held large",
        "probability of held-out samples: mean less share of the last class",
        "within 0.05 of 0",
        -0.05,
        0.05,
    ),
    Claim("held slope", "probability of held-out samples: slope", "within 0.15 of 1", 0.85, 1.15),
    Claim(
        "new large",
        "probability of new samples: mean less share of the last class",
        "within 0.05 of 0",
        -0.05,
        0.05,
    ),
    # A model of all samples separates classes better than the models of its folds, whose scores its
    # line is fitted to. Its slope among new samples is therefore above 1.
    replace(SLOPE_OF_SMALL, key="new slope"),
)

TRIALS: tuple[Trial, ...] = (
    *(
        Trial(
            "Probabilities and decisions",
            f"two classes, {n} samples, no gene differs",
            partial(in_noise, n=n),
            (BENEFIT,),
            draws=400,
            few=few,
        )
        for n, few in ((40, 16), (100, 2), (200, 2))
    ),
    *(
        Trial(
            "Probabilities and decisions",
            f"{N_STUDIES_TOGETHER} studies of {n} samples, classes {mix}, "
            f"{N_NEW_SAMPLES} new samples each",
            partial(foretold, n=n, shares=shares, raised=0.8),
            CALIBRATED,
            draws=50,
            few=2,
        )
        for n, mix, shares in (
            (100, "50:50", (0.5, 0.5)),
            (150, "80:20", (0.8, 0.2)),
            (200, "65:25:10", (0.65, 0.25, 0.1)),
        )
    ),
    *(
        Trial(
            "Probabilities of small studies",
            f"{SMALL_TOGETHER} studies of {n} samples, classes {mix}, "
            + (f"genes raised by {raised:g} SD" if raised else "no gene differs"),
            partial(of_small_studies, n=n, shares=shares, raised=raised),
            claims,
            draws=6,
            few=2 if (n, raised) in TESTED_SMALL_WORLDS else None,
        )
        for n, mix, shares, raised, claims in SMALL_WORLDS
    ),
    # The slope is too small: studies without doubt are those whose left-out samples were lucky.
    Trial(
        "Probabilities of small studies",
        f"{SMALL_TOGETHER} studies of 60 samples, classes 50:50, one gene raised by 0.8 SD",
        partial(of_small_studies, n=60, shares=(0.5, 0.5), raised=0.8, raised_genes=1),
        (SLOPE_WITHOUT_DOUBT, CLOSE, CLOSE_IN_DOUBT),
        draws=6,
        few=None,
    ),
)
