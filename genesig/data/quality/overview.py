"""The quality of the samples, for the report; nothing of it goes back into a fit.

quality.json, version 1; numbers have six significant digits, what is not defined is null.

``samples``, ``genes``
    Names in the order of the rows; number of genes as read.
``batch``
    ``data.batch``, or null.
``scale``
    p99, max, min of the values as read; raw (never logged, as they look), counts (whole numbers
    that look like reads), taken (the step that takes logarithms, or null), doubled (logarithms
    taken of what looks logged already).
``steps``
    [{step, genes}]: the steps in their order, with the number of genes that each leaves, as fitted
    on all samples. Centring and scaling are not among them.
``before``, ``after``
    The values as read, and after those steps: genes (number), compared (genes that rle is about),
    logarithm (whether what follows is of log2(1 + x)), quantiles and rle (n × 5: at 5, 25, 50, 75
    and 95 % of the genes of each sample).
``size``
    kind: "library" (millions of reads), "factor" (see `scaling_factors`) or null (logarithms have
    neither); of reads also detected (n; share of genes with a read) and top (n; share of the reads
    in the `TOP` genes that have most; null where there are no more genes); values (n).
``missing``
    total, samples (n counts), genes ([[missing, genes with so many]]), worst ([[gene, missing]]);
    omics ([[omic, samples that lack it altogether]]; none where there is one matrix);
    label (see `missingness`; null where nothing is missing): tested and named (numbers of genes),
    first ([[gene, [share of each class that misses it]]]), sample_p, class_share.
``outliers``
    rules ([{name, values (n), deviation (n)}]); samples ([{sample, row, rules}]).
``twins``
    [[sample, sample]]: samples like one specimen measured twice, of different groups.
``components``
    points (n × up to 10), explained, scaled (whether genes were brought to unit variance).
``associations``
    [{column, role, kind, levels, samples, within_label (each of its values occurs with one label
    only), share, adjusted, p, q (one per component)}]; skipped ([{column, reason}]).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.quality.missingness import missingness, q_values
from genesig.data.quality.samples import (
    FAR,
    Components,
    as_logarithms,
    deviations,
    nearest_distances,
    principal_components,
    relative_log_expression,
    row_quantiles,
    scaling_factors,
    standardised_products,
)
from genesig.data.quality.twins import torn_apart
from genesig.data.steps.missing_indicators import lacks_omics
from genesig.data.steps.normalise import Reference, moment_settings, reference_of_all
from genesig.data.steps.scale import COUNT_STEPS, LOG_STEPS, never_logged, sizes
from genesig.data.study.confounding import Association, association, means_numbers
from genesig.results import Dataset

VERSION = 1
MOST_COMPONENTS = 10
# Fewer samples have no usual spread that one of them could leave.
FEWEST = 6
MOST_NAMED = 20
# A matrix of whole numbers is one of counts if so many of them are 0, which intensities never are.
ZEROS = 0.01
# Genes whose share of the reads says how far a sample's composition is its own.
TOP = 50
# After these steps the values have a scale of their own, which log2(1 + x) would not suit.
RESCALED = LOG_STEPS | {"standardise_samples"}


def quality(
    raw: Dataset, dataset: Dataset, *, folds: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the content of quality.json (its layout is this module's docstring).

    Parameters
    ----------
    raw, dataset : Dataset
        As read; after the row-wise steps.
    folds : list of steps
        ``normalise.folds`` of the config: fitted on all samples here, as for the final model.
    """
    own = len(raw.genes)  # what steps add beside genes is no level of expression
    dataset = replace(dataset, X=dataset.X[:, :own], var=dataset.var.iloc[:own])
    fitted = reference_of_all(dataset, folds)
    alone = [step["step"] for step in dataset.provenance.get("steps", [])]
    scale = _scale(raw.X, [*alone, *fitted.names])
    size = _size(raw.X, scale)
    before = _look(raw.X, logarithm=scale["raw"])
    X = fitted.transform(dataset.X, dataset.obs)
    rescaled = RESCALED & {*alone, *fitted.names}
    after = _look(X, logarithm=scale["raw"] and not rescaled)
    products = standardised_products(X, unit_variance=moment_settings(folds)["unit_variance"])
    missing = np.isnan(raw.X)
    found = principal_components(products, MOST_COMPONENTS)
    return {
        "version": VERSION,
        "samples": raw.samples,
        "genes": len(raw.genes),
        "batch": dataset.design.batch,
        "scale": scale,
        "steps": _steps(alone, fitted),
        "before": {key: _listed(value) for key, value in before.items()},
        "after": {key: _listed(value) for key, value in after.items()},
        "size": {key: _listed(value) for key, value in size.items()},
        "missing": {
            **_missing(missing, raw.genes),
            "omics": _by_omic(raw),
            "label": _with_label(missing, dataset),
        },
        "outliers": _outliers(
            raw.samples, after, size, missing, nearest_distances(products, X.shape[1])
        ),
        "twins": [list(pair) for pair in torn_apart(raw.X, dataset.obs, dataset.design)],
        "components": {
            "points": _listed(found.points),
            "explained": _listed(found.explained),
            "scaled": moment_settings(folds)["unit_variance"],
        },
        **_associations(dataset, found),
    }


def _scale(X: Array, steps: Sequence[str]) -> dict[str, Any]:
    least, p99, most = sizes(X)
    raw = never_logged(X)
    values = X[np.isfinite(X)]
    whole = raw and least >= 0 and bool(np.all(values == np.floor(values)))
    taken = next((step for step in steps if step in LOG_STEPS - {"rank_samples"}), None)
    return {
        "p99": _listed(p99),
        "max": _listed(most),
        "min": _listed(least),
        "raw": raw,
        "counts": bool(COUNT_STEPS & {*steps}) or (whole and float(np.mean(values == 0)) >= ZEROS),
        "taken": taken,
        "doubled": taken is not None and not raw,
    }


def _look(X: Array, *, logarithm: bool) -> dict[str, Any]:
    """Return what the distributions of the samples look like."""
    values = as_logarithms(X) if logarithm else X
    rle, compared = relative_log_expression(values)
    return {
        "genes": X.shape[1],
        "compared": compared,
        "logarithm": logarithm,
        "quantiles": row_quantiles(values),
        "rle": rle,
    }


def _size(X: Array, scale: Mapping[str, Any]) -> dict[str, Any]:
    if not scale["raw"]:
        return {"kind": None, "values": None, "detected": None, "top": None}
    if not scale["counts"]:
        return {"kind": "factor", "values": scaling_factors(X), "detected": None, "top": None}
    reads = np.nansum(X, axis=1)
    detected = np.sum(X > 0, axis=1) / max(X.shape[1], 1)
    top = None
    if X.shape[1] > TOP:
        most = np.partition(np.nan_to_num(X), -TOP, axis=1)[:, -TOP:].sum(axis=1)
        top = np.divide(most, reads, out=np.full(len(X), np.nan), where=reads > 0)
    return {"kind": "library", "values": reads / 1e6, "detected": detected, "top": top}


def _steps(alone: Sequence[str], fitted: Reference) -> list[dict[str, Any]]:
    left = fitted.n_genes
    found = [{"step": name, "genes": left} for name in alone]
    for name, step in zip(fitted.names, fitted.steps, strict=True):
        left = left if step.genes is None else len(step.genes)
        found.append({"step": name, "genes": left})
    return found


def _missing(missing: Array, genes: Sequence[str]) -> dict[str, Any]:
    per_gene = missing.sum(axis=0)
    counts, so_many = np.unique(per_gene[per_gene > 0], return_counts=True)
    worst = np.argsort(-per_gene, kind="stable")[:MOST_NAMED]
    return {
        "total": int(missing.sum()),
        "samples": missing.sum(axis=1).tolist(),
        "genes": np.stack([counts, so_many], axis=1).tolist(),
        "worst": [[genes[k], int(per_gene[k])] for k in worst if per_gene[k]],
    }


def _by_omic(raw: Dataset) -> list[list[Any]]:
    counts = lacks_omics(raw).sum(axis=0).tolist()
    return [list(pair) for pair in zip(raw.omics, counts, strict=True)]


def _with_label(missing: Array, dataset: Dataset) -> dict[str, Any] | None:
    if not missing.any():
        return None
    found = missingness(missing, dataset.obs, dataset.design)
    first = found.named[:MOST_NAMED]
    shares = _listed(found.by_class[:, first].T)
    names = [dataset.genes[gene] for gene in found.genes[first].tolist()]
    return {
        "tested": len(found.genes),
        "named": len(found.named),
        "first": [list(each) for each in zip(names, shares, strict=True)],
        "sample_p": _listed(found.sample_p),
        "class_share": _listed(found.class_share),
    }


def _outliers(
    samples: Sequence[str],
    after: Mapping[str, Any],
    size: Mapping[str, Any],
    missing: Array,
    distance: Array,
) -> dict[str, Any]:
    """Hold every sample against the median of all, in MADs (see `deviations`).

    What has to be far off, and by how much at least: the RLE median either way (half of the usual
    RLE interquartile range), that range upwards (a quarter larger than usual), the distance
    to the three nearest samples upwards (half as far again), library size or scaling factor either
    way (by half), the share of missing values upwards (five hundredths).
    """
    rle = after["rle"]
    spread = rle[:, 3] - rle[:, 1]
    usual = float(np.nanmedian(spread)) if np.isfinite(spread).any() else 0.0
    rules = [
        ("rle_median", rle[:, 2], rle[:, 2], usual / 2, True),
        ("rle_iqr", spread, _log2(spread), np.log2(1.25), False),
        ("distance", distance, _log2(distance), np.log2(1.5), False),
        ("missing", missing.mean(axis=1), missing.mean(axis=1), 0.05, False),
    ]
    if size["kind"] is not None:
        values = size["values"]
        rules.append((str(size["kind"]), values, _log2(values), np.log2(1.5), True))
    flagged: dict[int, list[str]] = {}
    listed = []
    for name, shown, values, least, both in rules:
        off = deviations(values, least) if len(samples) >= FEWEST else np.zeros(len(samples))
        listed.append({"name": name, "values": _listed(shown), "deviation": _listed(off)})
        for row in np.flatnonzero((np.abs(off) if both else off) > FAR):
            flagged.setdefault(int(row), []).append(name)
    found = [{"sample": samples[r], "row": r, "rules": flagged[r]} for r in sorted(flagged)]
    return {"rules": listed, "samples": found}


def _log2(values: Array) -> Array:
    """Take logarithms of what is positive; of nothing else."""
    there = values > 0
    return np.asarray(np.where(there, np.log2(np.where(there, values, 1)), np.nan))


def _associations(dataset: Dataset, found: Components) -> dict[str, Any]:
    """Test every column of the sample table; q is over all of them and all components."""
    design = dataset.design
    tested = []
    skipped = []
    roles = {design.group: "group", design.pair: "pair", design.batch: "batch"}
    roles[design.label] = "label"
    labels = dataset.obs[design.label].astype(str).to_list()
    there = found.explained > 0
    for name in dataset.obs.columns:
        column = dataset.obs[name].astype(str).to_list()
        role = roles.get(name, "")
        number = design.classes is None if role == "label" else not role and means_numbers(column)
        one = association(found.points[:, there], column, number=number)
        if isinstance(one, str):
            skipped.append({"column": str(name), "reason": one})
        else:
            within = design.classes is not None and one.kind == "classes"
            within = within and len(set(zip(column, labels, strict=True))) == len(set(column))
            tested.append((str(name), role, within, one))
    return {"associations": _adjusted(tested), "skipped": skipped}


def _adjusted(tested: Sequence[tuple[str, str, bool, Association]]) -> list[dict[str, Any]]:
    if not tested or not tested[0][3].p.size:
        return []
    p = np.stack([one.p for *_, one in tested])
    q = q_values(np.nan_to_num(p, nan=1.0).ravel()).reshape(p.shape)
    return [
        {
            "column": column,
            "role": role,
            "kind": one.kind,
            "levels": one.levels,
            "samples": one.samples,
            "within_label": within,
            **{key: _listed(getattr(one, key)) for key in ("share", "adjusted", "p")},
            "q": _listed(q[row]),
        }
        for row, (column, role, within, one) in enumerate(tested)
    ]


def _listed(values: Any) -> Any:
    """Return what JSON can hold: lists, six significant digits, None for what is not defined."""
    if isinstance(values, np.ndarray):
        return [_listed(value) for value in values]
    if isinstance(values, float | np.floating):
        return float(f"{values:.6g}") if np.isfinite(values) else None
    return values
