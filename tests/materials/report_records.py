"""The records that the report is written from: every topic, every kind of response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from block_studies import gene_sets
from kept import kept
from linear_loops import (
    fit_final_model,
    fit_half_samples,
    nested_cross_validation,
    study_half_samples,
)
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.data.files.readers import load_schema
from genesig.data.quality.overview import describe_quality
from genesig.data.splits.draw import draw_splits
from genesig.data.study.config_check import resolve_config
from genesig.report.collect import StudyResults, collect
from genesig.response.covariates import Covariate
from genesig.results import CrossValidation, Dataset, Design, Fits, Split, Splits
from genesig.results.fits import CovariateWeights, GridSearch
from genesig.results.model_fits import ModelFits
from genesig.results.splits import HalfSampleStudy
from genesig.selection.assess.calibration import reliability
from genesig.selection.assess.controls import FDR_SELECTED, controls_table, frequency_curves
from genesig.selection.assess.held_out import decision_columns, predictions_table, scores_table
from genesig.selection.assess.patients_tables import patient_tables
from genesig.selection.assess.stability import STABILITY_COLUMNS
from genesig.selection.enrichment import (
    MeasuredSets,
    columns_of_lists,
    lists_table,
    permuted_lists_table,
    ranking_table,
    stack_rows,
)
from genesig.selection.gather import SELECTION_COLUMNS, LinearResults, gather, signature_table
from genesig.selection.genes.blocks import block_tables
from genesig.selection.genes.export import stretches_table
from genesig.selection.genes.frequency import list_sizes, nested_lists
from genesig.selection.genes.univariate import univariate_table
from genesig.selection.model.external_scores import measure_numbers, measure_two_classes
from genesig.selection.model.external_scores import scores_table as external_scores_table
from genesig.selection.nonlinear.gather import gather_nonlinear
from genesig.selection.sets.gather import gather_sets
from genesig.selection.survival import survival_tables

# Evidence of the genes of the study below, made so that so many are named.

FDR = 0.1
PERMUTATIONS = 30
Q = 0.09
"""Rate, permutations, and the largest q of an FDR-selected gene."""


def evidence_of(
    dataset: Dataset, final: Fits, n_selected: int | None, *, n_runners_up: int = 0
) -> pd.DataFrame:
    """Return selection.tsv: the first genes of the final model are named, `n_runners_up` of others.

    Empty where `n_selected` is None. The q of the others lie above the rate.
    """
    if n_selected is None:
        return pd.DataFrame(columns=SELECTION_COLUMNS)
    signature_genes = final.coef(0, int(final.choice[0, 2]))[0]
    other_genes = np.setdiff1d(np.arange(len(dataset.genes)), signature_genes)[
        : max(n_runners_up, 3)
    ]
    genes = np.concatenate(
        [other_genes[:n_runners_up], signature_genes, other_genes[n_runners_up:]]
    )
    proved = np.arange(len(genes)) < n_selected
    return pd.DataFrame(
        {
            "gene": np.array(dataset.genes, dtype=object)[genes],
            "symbol": dataset.var["symbol"].to_numpy()[genes],
            "selection_frequency": np.linspace(0.96, 0.02, len(genes)),
            "null_frequency": np.full(len(genes), 0.04),
            "selection_p": np.where(proved, 1 / (1 + PERMUTATIONS), 0.5),
            "selection_q": np.where(
                proved,
                np.linspace(0.02, Q, max(n_selected, 1))[
                    np.minimum(np.arange(len(genes)), max(n_selected, 1) - 1)
                ],
                0.8,
            ),
            "fdr_selected": proved,
        },
        columns=SELECTION_COLUMNS,
    )


# Result tables of the study below: gathered as in a real run, but for two.
#
# Stability and the controls are numbers chosen so that a test can say what the page makes of them.

MU = (1e-6, 1e-3, 1e-2, 1e-1, 1.0)
LIST_SIZES = (14, 22, 34, 48, 70)
CLUSTERS = {"least": 0.5, "warn_above": 0.9, "merge_above": None}
OTHER_TEXTS = {
    "dummy": 0.5,
    "ridge": 0.04,
    "nearest_centroid": 0.06,
    "linear_svm": 0.05,
    "random_forest": 0.08,
}
PROVED = 0.07
"""Error of the models of FDR-selected genes."""


def make_tables(
    study: Any, dataset: Dataset, splits: Splits, observed: Fits, final: Fits
) -> dict[str, pd.DataFrame]:
    fits = observed.with_chosen()
    nested = nested_lists(dataset, fits, cv_frequency=0.75)
    blocks, prototypes = block_tables(dataset, final, **CLUSTERS)
    univariate = univariate_table(dataset)
    predictions = predictions_table(dataset, splits, fits)
    evidence = evidence_of(dataset, final, study.named, n_runners_up=study.beside)
    return {
        "signature": signature_table(
            dataset, nested, blocks, univariate, final, evidence, HalfSampleStudy.none()
        ),
        "selection": evidence,
        "nested_lists": nested,
        "blocks": blocks,
        "prototypes": prototypes,
        "predictions": predictions,
        "scores": scores_table(dataset, splits, fits),
        "lists": list_sizes(fits, nested),
        "univariate": univariate,
        "stability": _stability(study, fits.mu),
        "controls": _controls(study, predictions),
        "frequency_curve": _curve(study, dataset, fits),
        **patient_tables(dataset, splits, predictions),
    }


SHARED = (1.6, 0.2)
"""Genes that the lists of two halves share, and those by chance."""


def _stability(study: Any, mu: Any) -> pd.DataFrame:
    """Give the chosen lists what the minimal ones have."""
    places = [*range(len(MU)), 0]
    none: tuple[Any, ...] = ("", np.nan, "")
    not_counted = (np.nan, np.nan)
    rows = [
        (mu_value, "outer_splits", 0.6 + 0.05 * j, *none, 10, LIST_SIZES[j], *not_counted)
        for mu_value, j in zip(mu, places, strict=True)
    ]
    if study.subsamples:
        rows += [
            (mu_value, "half_subsamples", 0.3 + 0.07 * j, *none, 6, LIST_SIZES[j], *not_counted)
            for mu_value, j in zip(mu[:-1], places, strict=False)
        ]
        rows += [
            (np.nan, "half_subsamples", 0.3, "more", 0.25, "alike", 6, LIST_SIZES[0], *SHARED),
            (np.nan, "half_blocks", 0.45, "more", 0.35, "alike", 6, LIST_SIZES[0], *not_counted),
        ]
    return pd.DataFrame(rows, columns=STABILITY_COLUMNS)


def _controls(study: Any, predictions: pd.DataFrame) -> pd.DataFrame:
    wrong = predictions.assign(wrong=predictions["wrong"].astype(float))
    wrong = wrong.groupby("mu", dropna=False)["wrong"].mean()
    wrong = wrong.fillna(0.3) if study.regression else wrong
    p = np.nan if study.permutations == 0 else 1 / (study.permutations + 1)
    rows = [
        ("genesig", mu, e, max(e - 0.05, 0), e + 0.07, 1 - e, 0.9 - e, 1.0, p)
        for mu, e in wrong.items()
    ]
    if study.named is not None:
        rows.append((FDR_SELECTED, np.nan, PROVED, 0.02, 0.14, 0.9, 0.8, 1.0, p))
    rows += [
        (name, np.nan, e, max(e - 0.03, 0), e + 0.06, 1 - e, 0.9 - e, 1.0, np.nan)
        for name, e in OTHER_TEXTS.items()
    ]
    words = ["model", "mu", "error", "low", "high", "auc", "auc_low", "auc_high", "p_value"]
    table = pd.DataFrame(rows, columns=words)
    is_other_method = table["model"] != "genesig"
    differences = (table["error"] - wrong.iloc[-1]).where(is_other_method)
    return table.assign(
        difference=differences,
        difference_low=differences - 0.02,
        difference_high=differences + 0.02,
    )


def _curve(study: Any, dataset: Dataset, fits: Fits) -> pd.DataFrame:
    """Return the observed curve, and a falling one for the shuffled labels."""
    table = frequency_curves(dataset, fits, fits.take(np.arange(0)))
    if study.permutations == 0:
        return table
    null = len(dataset.genes) / 8 * np.exp(-6 * table["cv_frequency"])
    return table.assign(permuted_median=null, permuted_low=0.4 * null, permuted_high=2 * null)


# Tables of enrichment for the study below, made as in a real run.


def enriched(
    tables: dict[str, pd.DataFrame],
    dataset: Dataset,
    splits: Splits,
    observed: Fits,
    names: Any = (),
) -> dict[str, pd.DataFrame]:
    """Return the tables for sixteen sets of four neighbours."""
    d = len(dataset.genes)
    sets = gene_sets([range(k % d, min(d, k % d + 4)) for k in range(0, 64, 4)])
    long = np.array(sets.names, dtype="U200")
    long[: len(names)] = list(names)[:16]
    sets = type(sets)(**{**vars(sets), "names": long})
    measured_sets = MeasuredSets.from_dataset(dataset, sets)
    null = replace(observed, permutation=observed.permutation + 1)
    lists = lists_table(measured_sets, sets, columns_of_lists(dataset, tables))
    chosen = permuted_lists_table(measured_sets, sets, observed.with_chosen(), null.with_chosen())
    ranking = ranking_table(dataset, splits, measured_sets, sets, n_shuffles=20)
    return {"enrichment": stack_rows([lists, chosen]), "enrichment_ranking": ranking}


# Tables of nonlinear selection for the study below, gathered as in a real run.

NONLINEAR_CONFIG = {
    "enabled": True,
    "genes": 50,
    "kernel": "gaussian",
    "width": [1.0],
    "degree": 2,
    "offset": 1.0,
    "penalty": "lasso",
    "mu": 0.5,
    "groups": None,
    "block_tau": 0.2,
    "nu": [0.01, 0.1],
    "tau_min": 0.5,
    "tau_count": 12,
    "debias": True,
    "lam": [1e-4, 1e-2, 1.0],
    "solver": "auto",
    "tolerance": 1e-4,
    "max_iterations": 5000,
    "fvm_genes": [1, 2, 4],
    "fvm_bins": 5,
}


def with_nonlinear(
    tables: dict[str, pd.DataFrame],
    dataset: Dataset,
    splits: Splits,
    observed: Fits,
    noise: float = 0.6,
) -> dict[str, pd.DataFrame]:
    """Return the tables with those of nonlinear selection, whose scores are y and noise."""
    rng = np.random.default_rng(11)
    y = dataset.response()
    rows = [_nonlinear_row(dataset, split, y, rng, noise) for split in splits.outer]
    final = ModelFits.from_rows([_nonlinear_row(dataset, splits.final, y, rng, noise)])
    topic_tables = gather_nonlinear(
        CrossValidation(dataset, splits, observed),
        [ModelFits.from_rows(rows)],
        final,
        tables["nested_lists"],
        tables["signature"],
        cv_frequency=0.75,
    )
    differences = topic_tables["nonlinear_difference"]
    other_rows = pd.DataFrame(
        {
            "model": differences["model"],
            "error": differences["error"],
            "low": differences["error"] - 0.1,
            "high": differences["error"] + 0.1,
        }
    )
    controls = tables["controls"].copy()
    for row in other_rows.to_dict("records"):
        controls.loc[len(controls)] = {name: row.get(name, np.nan) for name in controls.columns}
    return {
        **tables,
        **topic_tables,
        "controls": controls,
        "nonlinear_curves": _curves(dataset, final),
    }


def _nonlinear_row(dataset: Dataset, split: Any, y: Any, rng: Any, noise: float) -> dict[str, Any]:
    test = dataset.rows(split.test)
    d = len(dataset.genes)
    genes = np.flatnonzero(rng.random(d) < np.linspace(1, 0, d) ** 4)
    cut = rng.random() < 0.3
    return {
        "split": split.name,
        "permutation": 0,
        "screened": min(50, d),
        "tau": 0.7,
        "nu": 0.1,
        "width": 1.0,
        "ended_early": cut,
        "message": "the path ends before tau = 0.6 tau_max, where 40 variables are selected from"
        " 24 samples"
        if cut
        else "",
        "lam": 0.01,
        "explained_by_none": rng.uniform(0.1, 0.9),
        "gap": 1e-5,
        "cut": 3,
        "paths": 10,
        "indices": genes,
        "sizes": np.exp(-genes / 20.0),
        "test_rows": test,
        "scores": y[test] + noise * rng.normal(size=len(test)),
        "fvm_genes": 3,
        "fvm_scores": y[test] + 0.9 * rng.normal(size=len(test)),
    }


def _curves(dataset: Dataset, final: ModelFits) -> pd.DataFrame:
    x = np.linspace(-2, 2, 41)
    genes, norms = final.selected(0)
    parts = [
        pd.DataFrame(
            {
                "gene": dataset.genes[g],
                "symbol": dataset.var["symbol"].iloc[g],
                "norm": norm,
                "straight": 0.97 - 0.3 * (k % 3),
                "value": x,
                "effect": np.tanh(x) if k % 2 else x**2 / 4,
                "samples": np.round(3 * np.exp(-(x**2))).astype(int),
            }
        )
        for k, (g, norm) in enumerate(zip(genes, norms, strict=True))
    ]
    columns = ["gene", "symbol", "norm", "straight", "value", "effect", "samples"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


# Tables of gene sets for the study below, gathered as in a real run.

SETS_CONFIG = {
    "sets": "data/<b>pathways</b>.gmt",
    "column": None,
    "weights": "permuted",
    "others": "leave_out",
    "smallest": 2,
    "largest": 500,
    "mu": [1e-3],
    "tau_min": 0.1,
    "tau_count": 15,
    "most": 50,
    "one_standard_error": True,
    "tolerance": 1e-6,
}
LEAST = 16  # sets


def with_sets(
    tables: dict[str, pd.DataFrame],
    dataset: Dataset,
    splits: Splits,
    observed: Fits,
    names: Any = (),
    empty: bool = False,
) -> dict[str, pd.DataFrame]:
    """Return the tables with those of gene sets, whose scores are y and noise."""
    rng = np.random.default_rng(12)
    d = len(dataset.genes)
    sets = gene_sets([range(k % d, min(d, k % d + 4)) for k in range(LEAST)])
    long = np.array(sets.names, dtype="U200")
    long[: len(names)] = list(names)[:LEAST]
    sets = type(sets)(**{**vars(sets), "names": long})
    y = dataset.response()

    def fits(some_splits: Any, measure_numbers: Any = (0,)) -> ModelFits:
        return ModelFits.from_rows(
            [
                _sets_row(dataset, split, number, y, rng, empty)
                for number in measure_numbers
                for split in some_splits
            ]
        )

    final = fits([splits.final])
    set_tables = gather_sets(
        CrossValidation(dataset, splits, observed),
        sets,
        [fits(splits.outer)],
        [fits(splits.outer, range(1, 10))],
        final,
        fits(splits.subsamples),
        cv_frequency=0.75,
    )
    genes = pd.DataFrame(
        [
            (str(sets.names[k]), dataset.genes[j], dataset.var["symbol"].iloc[j], 0.1)
            for k in final.selected(0)[0]
            for j in sets.members(int(k))
        ],
        columns=["set", "gene", "symbol", "weight"],
    )
    error = set_tables["sets_error"].iloc[0]
    controls = tables["controls"].copy()
    row = {"model": "sets", **{name: error[name] for name in ("error", "low", "high")}}
    controls.loc[len(controls)] = {name: row.get(name, np.nan) for name in controls.columns}
    return {**tables, **set_tables, "sets_genes": genes, "controls": controls}


def _sets_row(
    dataset: Dataset, split: Any, number: int, y: Any, rng: Any, empty: bool
) -> dict[str, Any]:
    test = dataset.rows(split.test)
    chosen = np.flatnonzero(rng.random(LEAST) < np.linspace(1.3, 0, LEAST)) * (not empty)
    chosen = chosen[: 0 if empty else None]
    return {
        "split": split.name,
        "permutation": number,
        "message": "",
        "tau": 0.4,
        "mu": 1e-3,
        "gap": 1e-8,
        "indices": chosen,
        "sizes": np.exp(-chosen / 3.0),
        "test_rows": test,
        "scores": y[test] * (number == 0) + 0.7 * rng.normal(size=len(test)),
    }


# What `score_cohort` would say of a data set of another study, drawn at random.


def make_about(
    dataset: Dataset,
    name: str = "other",
    *,
    n: int = 25,
    genes: int = 7,
    combat: bool = False,
    one_class: bool = False,
    seen_before: int = 0,
    shift: float = 0.4,
) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    classes = dataset.design.classes
    y = np.where(np.arange(n) % 3 > 0, 1.0, -1.0) if classes else rng.normal(size=n)
    y = np.ones(n) if one_class else y
    f = 0.6 * y + 0.5 * rng.standard_normal(n) + 0.2
    labels = [classes[int(v > 0)] for v in y] if classes else [repr(float(v)) for v in y]
    samples = pd.DataFrame(
        {
            "sample": [f"<i>{k}</i>" for k in range(n)],
            "given": [f"their {v}" for v in labels],
            "label": labels,
            **decision_columns(dataset, y, f),
            "imputed": 0,
        }
    )
    shifted = rng.normal(shift, 0.5, genes)
    table = pd.DataFrame(
        {
            "gene": dataset.genes[:genes],
            "symbol": list(dataset.var["symbol"][:genes]),
            "weight": rng.normal(size=genes),
            "training_mean": 8.0,
            "training_sd": 1.0,
            "mean": 8 + shifted,
            "sd": 1.0,
            "shift": shifted,
            "score_shift": 0.1 * shifted,
            "imputed": 0,
        }
    )
    edges = np.linspace(-3, 4, 41)
    counts = np.histogram(rng.normal(shift, 0.6, 5000).clip(-3, 4), edges)[0].tolist()
    bars = {"genes": 5000, "counts": counts, "median": abs(shift), "beyond": 0.2}
    return {
        "name": name,
        "file": "other.tsv",
        "classes": {c: labels.count(c) for c in classes} if classes else None,
        "dropped": [{"kind": "sample", "name": "z", "reason": "no label in column 'a & b'"}],
        "inputs": {"other.tsv": "0" * 64},
        "warnings": ["other.tsv: <b>odd</b>"],
        "combat": combat,
        "batches": 1,
        "missing": 0.1,
        "needed": genes,
        "absent": 0,
        "imputed": 0,
        "seen_before": seen_before,
        "shift": {"by_chance": 0.3, "edges": edges.tolist(), "measured": bars, "scored": bars},
        "quantiles": {
            "share": np.linspace(0, 1, 41).tolist(),
            "training": list(range(41)),
            "cohort": list(range(41)),
        },
        "reliability": list(reliability(y, f)) if classes else [],
        "predictions": samples.to_dict("records"),
        "scores": external_scores_table(
            measure_two_classes(y, f, 0.0) if classes else measure_numbers(y, f)
        )
        .replace({np.nan: None})
        .to_dict("records"),
        "genes": table.to_dict("records"),
    }


# A study in a moment: a screen by correlation stands in for the protocol.
#
# It gives the arguments of `collect` with the shapes and the kind of values of a real run.

TAU = np.geomspace(1, 0.005, 13)[1:]
LAM = (1e-4, 1e-3, 1e-2, 1e-1)

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "a_very_long_gene_name_" + "x" * 300,
    "βγ-グロビン-🧬",
    "$\\alpha$ {{ 7*7 }} {% raw %}",
    "</svg></style></script>",
    "tab\tand\x07bell",
)


@dataclass(frozen=True)
class Study:
    samples: int = 30
    genes: int = 120
    regression: bool = False
    signal: float = 1.5
    folds: int = 5
    repeats: int = 2
    subsamples: int = 6
    permutations: int = 9
    names: Sequence[str] = ()
    empty: bool = False
    nonlinear: bool = True
    sets: bool = False
    minimal: bool = False
    longest: int = 1000
    placed: bool = False
    enriched: bool = False
    named: int | None = 3
    beside: int = 0


def arguments(study: Study, dataset: Dataset | None = None) -> dict[str, Any]:
    """Return the keyword arguments of `collect`, which may be changed."""
    return _of_one(study) if dataset is None else _arguments(study, dataset)


@kept
def collected(study: Study) -> Any:
    """Return what is collected of a study."""
    return collect(StudyResults(**arguments(study)))


@kept
def _of_one(study: Study) -> dict[str, Any]:
    return _arguments(study, None)


def _arguments(study: Study, dataset: Dataset | None) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    dataset = dataset or make_dataset(study, rng)
    splits = make_splits(study, dataset, rng)
    observed = make_fits(study, dataset, splits.outer, rng)
    final = make_fits(study, dataset, [splits.final], rng)
    tables = make_tables(study, dataset, splits, observed, final)
    config = {
        "label": dataset.design.label,
        "seed": 0,
        "probabilities": "study",
        "expression": "expression.tsv",
        "samples": "samples.tsv",
        "data": {
            "task": dataset.design.task,
            "event": None,
            "classes": None,
            "group": None,
            "pair": None,
            "prior_weights": None,
            "omics": None,
            "omic": None,
            "covariates": [],
            "covariate_words": {},
            "missing_covariates": "refuse",
            "covariate_shape": "splines",
            "weights": None,
            "chromosome": None,
            "position": None,
        },
        "normalise": {"samples": [], "folds": [{"step": "centre"}, {"step": "unit_variance"}]},
        "splits": {
            "scheme": "stratified_kfold",
            "folds": study.folds,
            "repeats": study.repeats,
            "inner_scheme": "stratified_kfold",
            "inner_folds": 5,
            "subsamples": study.subsamples,
            "file": None,
        },
        "linear": {
            "list": "minimal" if study.minimal else "stable",
            "penalty": "l1",
            "jump": 2.0,
            "tau_min": 0.005,
            "tau_count": 12,
            "lam": list(LAM),
            "mu": list(MU),
            "mu_choice": None,
            "longest": study.longest,
            "criterion": "squared_error",
            "one_standard_error": False,
            "threshold": "midpoint",
            "solver": "landweber-newton",
            "tolerance": 1e-9,
        },
        "signature": {
            "most": 100,
            "cv_frequency": 0.75,
            "mu": None,
            "fdr": FDR,
            "least": 5,
            "size": None,
            "permutations": 0 if study.named is None else PERMUTATIONS,
        },
        "clusters": CLUSTERS,
        "controls": {"permutations": study.permutations, "baselines": ["ridge"], "fdr": 0.05},
        "report": {"title": "A study", "gene_cards": 12, "table_rows": 500},
    }
    if study.nonlinear:
        tables = with_nonlinear(tables, dataset, splits, observed)
    config["nonlinear"] = {**NONLINEAR_CONFIG, "enabled": study.nonlinear}
    config["structured"] = {**SETS_CONFIG, **({} if study.sets else {"sets": None})}
    if study.placed:
        tables["stretches"] = stretches_table(dataset, tables["nested_lists"], final)
        config["data"] |= {"chromosome": "chr", "position": "start"}
        config["linear"]["penalty"] = "fused"
    config["enrichment"] = {"sets": None, "smallest": 2, "largest": 500}
    if study.enriched:
        config["enrichment"]["sets"] = "data/<b>pathways</b>.gmt"
        tables |= enriched(tables, dataset, splits, observed, study.names)
    if study.sets:
        tables = with_sets(tables, dataset, splits, observed, study.names, study.empty)
    return {
        "dataset": dataset,
        "splits": splits,
        "observed": observed,
        "final": final,
        "quality_summary": describe_quality(
            dataset, dataset, fold_steps=config["normalise"]["folds"]
        ),
        "tables": tables,
        "halves": halves(study, dataset, splits),
        "null": {"error": rng.normal(0.5, 0.08, (study.permutations, len(MU) + 1))},
        "config": config,
        "run": {
            "version": 1,
            "seed": 0,
            "config": config,
            "inputs": dataset.provenance["inputs"],
            "versions": {"genesig": "0.1.0", "python": "3.12"},
        },
    }


def halves(study: Study, dataset: Dataset, splits: Splits) -> Fits | None:
    """Return the fits of the halves, drawn apart from all that is drawn in `arguments`."""
    if not splits.subsamples:
        return None
    return make_fits(study, dataset, splits.subsamples, np.random.default_rng(13))


def make_dataset(study: Study, rng: np.random.Generator) -> Dataset:
    hidden = rng.normal(size=(study.samples, 4))
    loads = rng.normal(size=(4, study.genes)) * (rng.random((4, study.genes)) < 0.2)
    response = hidden[:, 0] + 0.3 * rng.normal(size=study.samples)
    X = hidden @ loads * study.signal + rng.normal(size=(study.samples, study.genes))
    genes = [f"g{j:04d}_at" for j in range(study.genes)]
    genes[: len(study.names)] = study.names
    order = np.argsort(-np.abs(X.T @ (response - response.mean())))
    X = X[:, order]  # the hostile names come first, so they are selected
    labels = response.round(3).astype(str)
    if not study.regression:
        labels = np.where(response > np.median(response), "tumour", "normal")
    samples = [f"S{i:02d}" for i in range(study.samples)]
    samples[: len(study.names)] = [f"s-{name}" for name in study.names]
    symbols = [f"SYM{j}" for j in range(study.genes)]
    symbols[: len(study.names)] = study.names
    var = pd.DataFrame({"symbol": symbols}, index=pd.Index(genes))
    if study.placed:
        number = np.arange(study.genes) % 24 + 1
        var["chromosome"] = ["chrX" if k == 23 else f"chr{k}" if k < 24 else "" for k in number]
        var["position"] = np.where(number < 24, 1e6 * (1 + np.arange(study.genes) // 24), np.nan)
    return Dataset(
        X=X,
        obs=pd.DataFrame({"class": labels}, index=pd.Index(samples)),
        var=var,
        design=Design(
            "class",
            "regression" if study.regression else "classification",
            None if study.regression else ("normal", "tumour"),
            None,
            None,
        ),
        provenance={
            "dropped": [
                {"kind": "gene", "name": "g9", "reason": "constant"},
                {"kind": "sample", "name": "<b>x</b>", "reason": "no label"},
            ],
            "steps": [],
            "inputs": {"expression.tsv": "0" * 64},
            "warnings": [],
        },
    )


def make_splits(study: Study, dataset: Dataset, rng: np.random.Generator) -> Splits:
    names = np.array(dataset.samples)
    rank = np.argsort(dataset.response(), kind="stable")

    def split(name: str, repeat: int, fold: int, test: Any) -> Split:
        train = tuple(n for n in dataset.samples if n not in set(test))
        return Split(name, repeat, fold, train, tuple(test), tuple((n,) for n in train[:5]), (1,))

    outer = []
    for repeat in range(1, study.repeats + 1):
        fold_of = np.empty(len(names), int)
        fold_of[rank] = np.arange(len(names)) % study.folds
        fold_of = rng.permutation(fold_of) if repeat > 1 else fold_of
        n_folds = 1 if study.folds == 1 else study.folds
        for fold in range(n_folds):
            test = names[fold_of == fold] if n_folds > 1 else names[::3]
            outer.append(split(f"r{repeat}f{fold + 1}", repeat, fold + 1, test))
    drawn = [rng.permutation(names) for _ in range(study.subsamples // 2)]
    return Splits(
        "stratified_kfold",
        "stratified_kfold",
        0,
        tuple(outer),
        split("final", 0, 0, ()),
        tuple(
            split(f"s{i:02d}{'ab'[k]}", i, k + 1, order[k::2])
            for i, order in enumerate(drawn, 1)
            for k in range(2)
        ),
    )


def screen(X: Any, y: Any, sizes: Sequence[int]) -> Iterator[tuple[Any, Any, float]]:
    """Yield genes, weights and intercept of each size: genes by correlation, a ridge on them."""
    mean = X.mean(axis=0)
    Xc = X - mean
    yc = y - y.mean()
    r = np.abs(Xc.T @ yc) / (Xc.std(axis=0) + 1e-9)
    order = np.argsort(-r, kind="stable")
    for size in sizes:
        genes = np.sort(order[:size])
        A = Xc[:, genes]
        w = np.linalg.solve(A.T @ A + 0.3 * len(y) * np.eye(len(genes)), A.T @ yc)
        yield genes, w, float(y.mean() - mean[genes] @ w)


def make_fits(
    study: Study, dataset: Dataset, splits: Sequence[Split], rng: np.random.Generator
) -> Fits:
    """Choose among the lists of the first three mu, of the first one in a study by list minimal."""
    m = len(splits)
    searched = np.array(MU[: 1 if study.minimal else 3])
    base = 0.3 + 0.4 * (np.log10(TAU) + 1.1)[:, None] ** 2 + 0.03 * (np.log10(LAM) + 2)[None] ** 2
    error = base + rng.normal(0, 0.03, (m, len(searched), *base.shape))
    best = np.array(
        [np.unravel_index(errors_of_fit.argmin(), errors_of_fit.shape) for errors_of_fit in error]
    )
    sizes = np.maximum(1, np.tile(LIST_SIZES, m) + rng.integers(-2, 3, m * len(LIST_SIZES)))
    kept_sizes = np.where(study.empty | (sizes > study.longest), 0, sizes)
    y = dataset.response()
    trains = [dataset.rows(split.train) for split in splits]
    fits = [
        fit
        for rows, row_sizes in zip(trains, kept_sizes.reshape(m, -1), strict=True)
        for fit in screen(dataset.X[rows], y[rows], row_sizes)
    ]
    tests = [dataset.rows(split.test) for split in splits]
    scores = [
        np.column_stack([dataset.X[test][:, g] @ w + b for g, w, b in fits[i * 5 : i * 5 + 5]])
        for i, test in enumerate(tests)
    ]
    long = (sizes > study.longest).reshape(m, -1)
    times = [len(test) for test in tests]
    return Fits(
        split=np.array([s.name for s in splits]),
        permutation=np.zeros(m, int),
        grid=GridSearch(
            tau=TAU,
            lam=np.array(LAM),
            searched=searched,
            tau_max=np.ones(m),
            norm=np.ones(m),
            error=error,
            standard_error=error * 0.1,
            n_genes=np.tile(np.linspace(1, 40, 12), (m, len(searched), 1)),
            agreement=np.full(error.shape[:3], 0.5),
        ),
        mu=np.array(MU),
        choice=best[:, [1, 2, 0]],
        threshold=rng.normal(0, 0.0 if study.regression else 0.1, m),
        indptr=np.append(0, np.cumsum([len(g) for g, _, _ in fits])),
        indices=np.concatenate([g for g, _, _ in fits]),
        values=np.concatenate([w for _, w, _ in fits]),
        intercept=np.array([b for _, _, b in fits]).reshape(m, -1),
        gap=np.where(long, np.nan, 1e-10),
        test_indptr=np.append(0, np.cumsum(times)),
        test_rows=np.concatenate(tests),
        scores=np.where(np.repeat(long, times, axis=0), np.nan, np.concatenate(scores)),
        line=None if study.regression else np.tile([0.0, 0.1, 2.5], (m, 1)),
    )


# A study in a moment that holds age and sex fixed.

GAIN_INTERVALS = {
    "adds": (0.15, 0.05, 0.25),
    "open": (0.01, -0.08, 0.1),
    "hurts": (-0.1, -0.2, -0.02),
}


def held_arguments(study: Study, name: str, column: str = "age") -> dict[str, Any]:
    """Return the arguments of `collect`; covariates alone differ by `GAIN_INTERVALS[name]`.

    Ridge on all genes adds nothing, and permutations speak for the list alone where that adds.
    """
    rng = np.random.default_rng(8)
    dataset = make_dataset(study, np.random.default_rng(7))
    n = len(dataset.samples)
    covariate_columns = {
        column: rng.integers(30, 80, n).astype(str),
        "sex": np.resize(["f", "m"], n),
    }
    covariate_columns[column][0] = "NA"
    covariates = (Covariate(column, None), Covariate("sex", ("f", "m")))
    design = replace(dataset.design, covariates=covariates, filled=True)
    study_arguments = arguments(
        study, replace(dataset, obs=dataset.obs.assign(**covariate_columns), design=design)
    )
    controls = study_arguments["tables"]["controls"]
    signature_row = controls[(controls["model"] == "genesig") & controls["mu"].isna()].iloc[0]
    gain_columns = dict(
        zip(("difference", "difference_low", "difference_high"), GAIN_INTERVALS[name], strict=True)
    )
    alone = {
        **signature_row,
        "model": "covariates",
        "error": signature_row["error"] + GAIN_INTERVALS[name][0],
        **gain_columns,
    }
    ridge = {
        **alone,
        "model": "covariates and ridge",
        "added": 0.0,
        "added_low": -0.1,
        "added_high": 0.1,
        "p_value": 0.4,
    }
    table = pd.concat([controls, pd.DataFrame([alone, ridge])], ignore_index=True)
    answer = (table["model"] == "genesig") & table["mu"].isna()
    table.loc[answer, ["added", "added_low", "added_high"]] = GAIN_INTERVALS[name]
    table.loc[answer, "p_value"] = 0.01 if name == "adds" else 0.4
    study_arguments["tables"]["controls"] = table
    for key in ("observed", "final"):
        study_arguments[key] = _with_weights(study_arguments[key], rng)
    study_arguments["config"]["data"] |= {"covariates": [column, "sex"], "weights": "balanced"}
    return study_arguments


def _with_weights(fits: Fits, rng: np.random.Generator) -> Fits:
    shape = (len(fits), len(fits.mu), 2)
    gamma = 0.1 + 0.01 * rng.normal(size=shape)
    mean = np.tile([50.0, 0.5], (len(fits), 1))
    weights = CovariateWeights(gamma, mean, np.zeros((len(fits), 2, 0)))
    return replace(fits, covariates=weights)


# The arguments of `collect` for a small study of any kind of response, through the real stages.


@kept
def kind_arguments(kind: str, *, permutations: int = 19, proved: bool = False) -> dict[str, Any]:
    """Return the keyword arguments of `collect`; errors of permutations are drawn.

    Genes are named where `proved`, else they are core.
    """
    dataset = study_of(kind, 3, n=48, d=30, signal=1.2)
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "repeats": 2, "subsamples": 4})
    how = {"fold_steps": MOMENTS, **of_kind(kind)}
    n_permutations = 19 if proved else 0
    half_samples = study_half_samples(dataset, splits, permutations=n_permutations, **how)
    observed = nested_cross_validation(
        dataset, splits, half_samples, labels="observed", batch="1of1", **how
    )
    final = fit_final_model(dataset, splits, half_samples, **how)
    halves = fit_half_samples(dataset, splits, half_samples, **how)
    tables = gather(
        LinearResults(
            CrossValidation.from_batches(dataset, splits, [observed]), final, halves, half_samples
        ),
        cv_frequency=0.75,
        fdr=0.1,
        clusters=CLUSTERS,
    )
    fits = observed.with_chosen()
    null = {"error": np.random.default_rng(5).normal(0.5, 0.05, (permutations, len(fits.mu)))}
    tables["controls"] = controls_table(
        CrossValidation.from_batches(dataset, splits, [observed]), null, []
    )
    tables["frequency_curve"] = frequency_curves(dataset, fits, fits.take(np.arange(0)))
    tables |= patient_tables(dataset, splits, tables["predictions"])
    if kind == "survival":
        tables |= survival_tables(
            CrossValidation.from_batches(dataset, splits, [observed]), fold_steps=MOMENTS
        )
    names = {
        "expression": "e.tsv",
        "samples": "s.tsv",
        "label": dataset.design.label,
        "data": {"task": dataset.design.task, "event": None},
        "nonlinear": {"enabled": False},
        "normalise": {"folds": MOMENTS},
        "signature": {"permutations": n_permutations},
    }
    config = resolve_config(names, load_schema())
    return {
        "dataset": dataset,
        "splits": splits,
        "observed": observed,
        "final": final,
        "quality_summary": describe_quality(dataset, dataset, fold_steps=MOMENTS),
        "tables": tables,
        "halves": halves,
        "null": null,
        "config": config,
        "run": {"version": 1, "seed": 0, "config": config, "inputs": {}, "versions": {}},
    }
