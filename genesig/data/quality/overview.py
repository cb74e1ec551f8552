"""The quality of the samples, for the report; it has no influence on fits.

quality.json, version 1; numbers have six significant digits, what is not defined is null.

``samples``, ``genes``
    Names in the order of the rows; number of genes as read.
``batch``
    ``data.batch``, or null.
``scale``
    p99, max, min of the values as read; raw (never logged, as they look), counts (whole numbers
    that look like reads), log_step (the step that takes logarithms, or null), doubled (logarithms
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
    in the `N_TOP_GENES` genes that have most; null where there are no more genes); values (n).
``missing``
    total, samples (n counts), genes ([[missing, genes with so many]]), worst ([[gene, missing]]);
    omics ([[omic, samples that lack it altogether]]; none where there is one matrix);
    label (see `Missingness`; null where nothing is missing): tested and associated (numbers of
    genes), examples ([[gene, [share of each class that misses it]]]), sample_p, class_share.
``outliers``
    rules ([{name, values (n), deviation (n)}]); samples ([{sample, row, rules}]).
``twins``
    [[sample, sample]]: samples like one specimen measured twice, of different groups.
``components``
    points (n × up to 10), explained, scaled (whether genes were brought to unit variance).
``associations``
    [{column, role ("label", "group", "pair", "batch" or ""), kind ("classes" or "number"), levels,
    samples, within_label (each of its values occurs with one label only), share, adjusted, p, q
    (one per component)}]; skipped ([{column, reason}]).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.quality.missingness import associate_missing_values, q_values
from genesig.data.quality.samples import (
    OUTLIER_MADS,
    Components,
    as_logarithms,
    deviations,
    find_divisible_twins,
    nearest_distances,
    principal_components,
    relative_log_expression,
    row_quantiles,
    scaling_factors,
    standardised_products,
)
from genesig.data.steps.missing_indicators import lacks_omics
from genesig.data.steps.normalise import Reference, fit_steps_to_all_samples, moment_settings
from genesig.data.steps.scale import COUNT_STEPS, LOG_STEPS, never_logged, sizes
from genesig.data.study.confounding import Association, holds_quantities, measure_association
from genesig.results import Dataset

QUALITY_VERSION = 1
MAX_COMPONENTS = 10
# Smallest number of samples among which outliers are searched.
MIN_OUTLIER_SAMPLES = 6
MAX_LISTED_GENES = 20
# A matrix of whole numbers holds counts if at least this share is 0: intensities are never 0.
MIN_ZERO_SHARE_OF_COUNTS = 0.01
# Number of genes with the most reads, whose share of the reads is reported for each sample.
N_TOP_GENES = 50
# After one of these steps, log2(1 + x) is no longer a useful scale.
RESCALING_STEPS = LOG_STEPS | {"standardise_samples"}


def describe_quality(
    raw: Dataset, dataset: Dataset, *, fold_steps: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the content of quality.json (its layout is this module's docstring).

    raw, dataset: as read; after the row-wise steps, which see one sample alone.
    fold_steps: ``normalise.folds`` of the config, fitted on all samples, as for the final model.
    """
    n_measured_genes = len(raw.genes)  # columns that steps add behind these are no expression
    dataset = replace(
        dataset, X=dataset.X[:, :n_measured_genes], var=dataset.var.iloc[:n_measured_genes]
    )
    fitted = fit_steps_to_all_samples(dataset, fold_steps)
    row_wise_steps = [step["step"] for step in dataset.provenance.get("steps", [])]
    scale = _scale(raw.X, [*row_wise_steps, *fitted.names])
    size = _size(raw.X, scale)
    before = _distributions(raw.X, logarithm=scale["raw"])
    X = fitted.transform(dataset.X, dataset.obs)
    rescaled = RESCALING_STEPS & {*row_wise_steps, *fitted.names}
    after = _distributions(X, logarithm=scale["raw"] and not rescaled)
    products = standardised_products(X, unit_variance=moment_settings(fold_steps)["unit_variance"])
    missing = np.isnan(raw.X)
    components = principal_components(products, MAX_COMPONENTS)
    return {
        "version": QUALITY_VERSION,
        "samples": raw.samples,
        "genes": len(raw.genes),
        "batch": dataset.design.batch,
        "scale": scale,
        "steps": _steps(row_wise_steps, fitted),
        "before": {key: _json_value(value) for key, value in before.items()},
        "after": {key: _json_value(value) for key, value in after.items()},
        "size": {key: _json_value(value) for key, value in size.items()},
        "missing": {
            **_missing(missing, raw.genes),
            "omics": _count_samples_lacking_omics(raw),
            "label": _label_associations(missing, dataset),
        },
        "outliers": _outliers(
            raw.samples, after, size, missing, nearest_distances(products, X.shape[1])
        ),
        "twins": [list(pair) for pair in find_divisible_twins(raw.X, dataset.obs, dataset.design)],
        "components": {
            "points": _json_value(components.points),
            "explained": _json_value(components.explained),
            "scaled": moment_settings(fold_steps)["unit_variance"],
        },
        **_associations(dataset, components),
    }


def _scale(X: Array, steps: Sequence[str]) -> dict[str, Any]:
    """Return the entry ``scale`` of quality.json; X: values as read, steps: names of all steps.

    Ranks do not depend on the scale, so that rank_samples is no step that takes logarithms.
    """
    smallest, p99, largest = sizes(X)
    raw = never_logged(X)
    values = X[np.isfinite(X)]
    is_whole = raw and smallest >= 0 and bool(np.all(values == np.floor(values)))
    log_step = next((step for step in steps if step in LOG_STEPS - {"rank_samples"}), None)
    return {
        "p99": _json_value(p99),
        "max": _json_value(largest),
        "min": _json_value(smallest),
        "raw": raw,
        "counts": bool(COUNT_STEPS & {*steps})
        or (is_whole and float(np.mean(values == 0)) >= MIN_ZERO_SHARE_OF_COUNTS),
        "log_step": log_step,
        "doubled": log_step is not None and not raw,
    }


def _distributions(X: Array, *, logarithm: bool) -> dict[str, Any]:
    """Return the entry ``before`` or ``after`` of quality.json, with arrays (n, 5).

    logarithm: whether the values of X (n, n_genes) are logged first.
    """
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
    """Return the entry ``size`` of quality.json, with arrays (n,); logarithms have no size.

    X (n, n_genes): as read. scale: the entry ``scale``, which tells counts from intensities.
    """
    if not scale["raw"]:
        return {"kind": None, "values": None, "detected": None, "top": None}
    if not scale["counts"]:
        return {"kind": "factor", "values": scaling_factors(X), "detected": None, "top": None}
    reads = np.nansum(X, axis=1)
    detected = np.sum(X > 0, axis=1) / max(X.shape[1], 1)
    top = None
    if X.shape[1] > N_TOP_GENES:
        top_reads = np.partition(np.nan_to_num(X), -N_TOP_GENES, axis=1)[:, -N_TOP_GENES:].sum(
            axis=1
        )
        top = np.divide(top_reads, reads, out=np.full(len(X), np.nan), where=reads > 0)
    return {"kind": "library", "values": reads / 1e6, "detected": detected, "top": top}


def _steps(row_wise_steps: Sequence[str], fitted: Reference) -> list[dict[str, Any]]:
    """Return the entry ``steps`` of quality.json; row-wise steps leave no gene out."""
    n_genes = fitted.n_genes
    rows = [{"step": name, "genes": n_genes} for name in row_wise_steps]
    for name, step in zip(fitted.names, fitted.steps, strict=True):
        n_genes = n_genes if step.genes is None else len(step.genes)
        rows.append({"step": name, "genes": n_genes})
    return rows


def _missing(missing: Array, genes: Sequence[str]) -> dict[str, Any]:
    """Return a part of the entry ``missing`` of quality.json, by the mask of missing values."""
    per_gene = missing.sum(axis=0)
    counts, n_genes = np.unique(per_gene[per_gene > 0], return_counts=True)
    worst = np.argsort(-per_gene, kind="stable")[:MAX_LISTED_GENES]
    return {
        "total": int(missing.sum()),
        "samples": missing.sum(axis=1).tolist(),
        "genes": np.stack([counts, n_genes], axis=1).tolist(),
        "worst": [[genes[gene], int(per_gene[gene])] for gene in worst if per_gene[gene]],
    }


def _count_samples_lacking_omics(raw: Dataset) -> list[list[Any]]:
    """Return the pair [omic, number of samples that lack all its genes] of each omic."""
    counts = lacks_omics(raw).sum(axis=0).tolist()
    return [list(pair) for pair in zip(raw.omics, counts, strict=True)]


def _label_associations(missing: Array, dataset: Dataset) -> dict[str, Any] | None:
    """Return the entry ``missing.label`` of quality.json; None if no value is missing."""
    if not missing.any():
        return None
    associations = associate_missing_values(missing, dataset.obs, dataset.design)
    most_significant = associations.associated[:MAX_LISTED_GENES]
    shares = _json_value(associations.by_class[:, most_significant].T)
    names = [dataset.genes[gene] for gene in associations.genes[most_significant].tolist()]
    return {
        "tested": len(associations.genes),
        "associated": len(associations.associated),
        "examples": [list(pair) for pair in zip(names, shares, strict=True)],
        "sample_p": _json_value(associations.sample_p),
        "class_share": _json_value(associations.class_share),
    }


class OutlierRule(NamedTuple):
    """One number of each sample, by which samples are outliers."""

    name: str
    reported: Array  # (n,) float, in its unit
    tested: Array  # (n,) float: the same, or its logarithm
    min_difference: float  # smallest difference of an outlier from the median of `tested`
    two_sided: bool = False  # whether small values are outliers, too


def _outliers(
    samples: Sequence[str],
    after: Mapping[str, Any],
    size: Mapping[str, Any],
    missing: Array,
    distance: Array,
) -> dict[str, Any]:
    """Return the entry ``outliers`` of quality.json; below `MIN_OUTLIER_SAMPLES` nobody is one.

    Rules and their smallest differences from the median: RLE median in both directions (half of the
    median RLE interquartile range); that range, upwards (a quarter more); distance (n,) to the
    three nearest samples, upwards (half more); library size or scaling factor in both directions (a
    factor of 1.5); share of missing values, upwards (0.05). after, size: entries of quality.json.
    """
    rle = after["rle"]  # columns: 5, 25, 50, 75 and 95 % quantile
    spread = rle[:, 3] - rle[:, 1]
    median_spread = float(np.nanmedian(spread)) if np.isfinite(spread).any() else 0.0
    missing_share = missing.mean(axis=1)
    rules = [
        OutlierRule("rle_median", rle[:, 2], rle[:, 2], median_spread / 2, two_sided=True),
        OutlierRule("rle_iqr", spread, _log2(spread), np.log2(1.25)),
        OutlierRule("distance", distance, _log2(distance), np.log2(1.5)),
        OutlierRule("missing", missing_share, missing_share, 0.05),
    ]
    if size["kind"] is not None:
        values = size["values"]
        rules.append(
            OutlierRule(str(size["kind"]), values, _log2(values), np.log2(1.5), two_sided=True)
        )
    flagged: dict[int, list[str]] = {}  # row of an outlier sample -> names of the rules
    rule_rows = []
    for rule in rules:
        deviation = np.zeros(len(samples))
        if len(samples) >= MIN_OUTLIER_SAMPLES:
            deviation = deviations(rule.tested, rule.min_difference)
        rule_rows.append(
            {
                "name": rule.name,
                "values": _json_value(rule.reported),
                "deviation": _json_value(deviation),
            }
        )
        excess = np.abs(deviation) if rule.two_sided else deviation
        for row in np.flatnonzero(excess > OUTLIER_MADS):
            flagged.setdefault(int(row), []).append(rule.name)
    outliers = [
        {"sample": samples[row], "row": row, "rules": flagged[row]} for row in sorted(flagged)
    ]
    return {"rules": rule_rows, "samples": outliers}


def _log2(values: Array) -> Array:
    """Return the logarithms of positive values, NaN for others."""
    is_positive = values > 0
    return np.asarray(np.where(is_positive, np.log2(np.where(is_positive, values, 1)), np.nan))


def _associations(dataset: Dataset, components: Components) -> dict[str, Any]:
    """Return the entries ``associations`` and ``skipped`` of quality.json."""
    design = dataset.design
    tested = []
    skipped = []
    # A column of several roles has the last of them. None, for no column, is never looked up.
    roles = {design.group: "group", design.pair: "pair", design.batch: "batch"}
    roles[design.label] = "label"
    labels = dataset.obs[design.label].astype(str).to_list()
    has_variance = components.explained > 0
    for name in dataset.obs.columns:
        column = dataset.obs[name].astype(str).to_list()
        role = roles.get(name, "")
        if role == "label":
            is_quantity = design.classes is None
        else:  # groups, pairs and batches have names, even if these are numbers
            is_quantity = not role and holds_quantities(column)
        result = measure_association(
            components.points[:, has_variance], column, is_quantity=is_quantity
        )
        if isinstance(result, str):
            skipped.append({"column": str(name), "reason": result})
        else:
            within_label = (
                design.classes is not None
                and result.kind == "classes"
                and len(set(zip(column, labels, strict=True))) == len(set(column))
            )
            tested.append((str(name), role, within_label, result))
    return {"associations": _adjusted(tested), "skipped": skipped}


def _adjusted(tested: Sequence[tuple[str, str, bool, Association]]) -> list[dict[str, Any]]:
    """Return the entry ``associations`` of quality.json, with a q over all columns and components.

    tested: column, role, within_label and association of each column. A p of NaN counts as 1.
    """
    if not tested:
        return []
    p = np.stack([result.p for *_, result in tested])  # (n_columns, k)
    if not p.size:
        return []
    q = q_values(np.nan_to_num(p, nan=1.0).ravel()).reshape(p.shape)
    return [
        {
            "column": column,
            "role": role,
            "kind": result.kind,
            "levels": result.n_levels,
            "samples": result.n_samples,
            "within_label": within_label,
            "share": _json_value(result.share),
            "adjusted": _json_value(result.adjusted_share),
            "p": _json_value(result.p),
            "q": _json_value(q[row]),
        }
        for row, (column, role, within_label, result) in enumerate(tested)
    ]


def _json_value(values: Any) -> Any:
    """Return a value for JSON: lists, numbers of six significant digits, None for NaN."""
    if isinstance(values, np.ndarray):
        return [_json_value(value) for value in values]
    if isinstance(values, float | np.floating):
        return float(f"{values:.6g}") if np.isfinite(values) else None
    return values
