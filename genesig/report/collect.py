"""Everything the report shows, as one JSON value.

report_data.json, version 1. There is no NaN in it (absent is null), numbers are rounded to four
or five significant digits, and what is heavy is capped; ``shown`` and ``total`` say so.

``version``
    1.
``config``, ``run``
    The resolved config and results/run.json, as they are.
``study``
    label, task, classes, counts (samples per class), group, pair, groups (their number),
    exchanged (by a permutation: samples, within, groups, both), samples, genes, inputs
    (path: sha256), steps (row-wise steps), dropped ([{kind, reason, count, names}]), response
    ({name, value} lists, at most 1000 samples).
``design``
    scheme, inner_scheme, outer (number of splits), repeats, inner (folds), subsamples, train
    and test ([smallest, largest] size).
``batch``
    null, or column, names, sizes, counts ([negative, positive] of each) or mean and sd of the
    response, association (with the label: V, or the correlation ratio), wrong (share of decisions
    on each while held out, or null), combat (whether it is a step), shown (whether figures and
    tests of genes show its values), held_out (decisions), too_few (of these, on batches with too
    few training samples), splits (with such).
``quality``
    Of quality.json: batch, scale, steps, genes, skipped, missing (total, genes, worst), kind
    ("library", "factor" or null). At most 1000 samples and every outlier, by batch and response:
    samples, total, response, batches (names, or null), before and after ({genes, compared,
    logarithm, quantiles, rle}), changed (whether there is a step between them), size, detected,
    rules ({name: values}), lost (missing values), outliers ([{sample, row (of these), rules}]),
    components ({points (up to 3), explained, scaled}). associations (at most 30, the label first),
    columns (number of those tested), second ({column, kind, values}: what to colour by beside the
    label), follows ({column, share, label, explained}: what the first component goes with rather
    than with the label, or null).
``mu``, ``at``
    Values of mu; number of the one that is the signature.
``answer``
    size, error ({name, chance, value, low, high}), p ({value, permutations, smallest}), stability
    ({value, low, high, source}), halves ({drawn, empty}), control ({model, error, low, high}),
    wrong ({mostly ([{sample, wrong, tested}], wrong more often than right), always, samples}).
``warnings``
    Sentences.
``surface``
    tau, lam, error (n_tau × n_lam, mean over the outer splits), size (n_tau), chosen
    ([[tau number, lam number, splits]]), final ([tau number, lam number]).
``held_out``
    samples ([{sample, label, scores (one per repeat), mean, wrong, tested}]), roc ([{repeat, x,
    y, auc}]), confusion (2 × 2, rows = true class, mean count per repeat), rejection ([{class,
    threshold, rejected, predicted, share, wrong}]), fit ({r, r2}); what does not fit the task
    is null.
``lists``
    [{mu, size, union, kept}], one for each mu; kept = share of the list before that is in it.
``nested``
    [{gene, symbol, frequency (one per mu)}], at most 40 genes.
``univariate``
    genes, symbols, p, frequency, inside (the signature), bound (largest p that passes the
    false discovery rate), significant, both, total; at most 1000 genes; test (welch, differences,
    correlation), group (column whose samples were averaged, or null), values (tested per gene).
``null``
    errors (one per permutation at the signature's mu), observed.
``correlation``
    genes, symbols, blocks, layers, r (at most 300 genes), total.
``projection``
    genes, symbols, blocks, points (at most 1000 × 3), explained, total.
``components``
    points (samples × up to 3), explained, genes (their number).
``strips``
    [{gene, symbol, values}], at most 60 genes, in the order of the signature.
``heat``
    genes, symbols, blocks, samples, response, z (at most 100 × 300), total.
``external``
    [{name, file, classes ({class: samples}), samples, left_out ([{reason, count}]), combat,
    batches, missing, needed, absent, imputed, seen_before, inputs ({file: SHA-256}), warnings,
    scores ({measure: {value, low, high, samples}}), points ([{sample, given, label, score,
    predicted, wrong}], at most 1000), roc ({x, y}), confusion (2 × 2, rows = true class),
    reliability ([{score, samples, share, low, high, expected}]), genes (rows of genes.tsv), shift
    ({edges, by_chance, measured, scored ({genes, counts, median, beyond})}), quantiles ({share,
    training, cohort})}], one for each data set of another study.
``nonlinear``
    null where it was not run; screened (genes), genes (at most 50: {gene, symbol, frequency,
    linear_frequency, mean_norm, final_norm, in_list, in_signature}), ever (their number),
    agreement ({mu, n_linear, n_nonlinear, shared, jaccard, jaccard_in_split}), difference and fvm
    ({error, linear, difference, low, high}), sizes and none (smallest, median, largest number of
    genes and share fitted by no gene, over the splits), trouble ({splits, cut, inner_cut, inner,
    unfinished, none, messages, more}), model (of all samples), curves (at most 12: {gene, symbol,
    norm, straight, value, effect, samples}), drawn_from (their number), straight (median r² with
    a line), bent (curves below .9).
``tables``
    name: {columns, rows (at most 5000), total, file}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.described import described
from genesig.report.answer.collect import answer, warnings
from genesig.report.data.collect_batches import batch
from genesig.report.external import collect as collect_external
from genesig.report.genes.collect import components, correlation, heat, projection, strips
from genesig.report.genes.lists import lists, nested, univariate
from genesig.report.nonlinear import collect as collect_nonlinear
from genesig.report.page.rounding import plain, rounded
from genesig.report.prediction.collect import design, held_out, null_errors, study, surface
from genesig.report.quality.collect import quality, quality_warnings
from genesig.selection.genes.univariate import what_was_tested

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits, Splits

VERSION = 1

# Columns of the result tables that are names, whatever they look like (for ``load_table``).
TEXT = ("gene", "symbol", "prototype", "sample", "label", "predicted", "split", "model", "source",
        "nearest", "nearest_symbol", "coef_from")  # fmt: skip

TABLES = (
    "signature", "nested_lists", "blocks", "scores", "stability", "controls", "univariate",
    "frequency_curve", "lists", "prototypes", "predictions",
)  # fmt: skip
SUMMED_UP = ("predictions",)  # shown as `held_out`
MOST_ROWS = 5000


def tables_in(given: Mapping[str, str]) -> list[str]:
    """Return the names of those files that are tables `collect` takes."""
    known = {*TABLES, *collect_nonlinear.TABLES}
    return [name for name in given.keys() if name in known]  # noqa: SIM118 - Snakemake's own kind


def collect(
    dataset: Dataset,
    splits: Splits,
    observed: Fits,
    final: Fits,
    seen: Mapping[str, Any],
    *,
    tables: Mapping[str, pd.DataFrame],
    null: Mapping[str, Any],
    config: Mapping[str, Any],
    run: Mapping[str, Any],
    said: Sequence[str] = (),
    external: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Build the value of report_data.json (its layout is this module's docstring).

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    observed, final : Fits
        All outer splits with the observed labels; the fit on all samples.
    seen : mapping
        What the samples look like (results/quality.json).
    tables : mapping of str to DataFrame
        The result tables, by the names of their files (`TABLES`).
    null : mapping
        ``error``: (B, n_mu) double-CV errors of the permutations; B may be 0.
    config, run : mapping
        The resolved config and the content of run.json.
    said : list of str
        Warnings of the validation.
    external : list of mapping
        What was found in each data set of another study (results/external/*/about.json).
    """
    mu = [float(value) for value in observed.mu]
    at = _signature_mu(mu, config)
    data: dict[str, Any] = {
        "version": VERSION,
        "config": plain(config),
        "run": plain(run),
        "study": study(dataset),
        "design": design(splits),
        "quality": quality(seen, dataset),
        "mu": mu,
        "at": at,
        "surface": surface(observed, final),
        "held_out": held_out(dataset, tables["predictions"], mu[at]),
        "null": null_errors(null, tables["controls"], mu[at], at),
        "lists": lists(tables["nested_lists"], mu),
        "nested": nested(tables["nested_lists"], mu),
        "univariate": {
            **univariate(
                tables["univariate"],
                tables["nested_lists"],
                tables["signature"],
                mu[at],
                config["controls"]["fdr"],
            ),
            **what_was_tested(dataset),
        },
        **_genes(described(dataset), tables),
        "tables": {name: _table(name, tables[name]) for name in TABLES if name not in SUMMED_UP},
    }
    data["external"] = collect_external.external(external, data["study"]["classes"])
    data["batch"] = batch(dataset, splits, data["held_out"], config)
    data["tables"] |= {
        name: _table(name, tables[name]) for name in collect_nonlinear.SHOWN if name in tables
    }
    data["nonlinear"] = collect_nonlinear.nonlinear(tables, mu[at], config.get("nonlinear"))
    data["answer"] = answer(data)
    data["warnings"] = warnings(data, dataset, observed, said)
    data["warnings"] += collect_external.warnings(data["external"])
    data["warnings"] += quality_warnings(data, data["warnings"])
    return data


def _genes(dataset: Dataset, tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    return {
        "correlation": correlation(dataset, tables["blocks"]),
        "projection": projection(dataset, tables["blocks"], tables["nested_lists"]),
        "components": components(dataset, tables["signature"]),
        "strips": strips(dataset, tables["signature"]),
        "heat": heat(dataset, tables["signature"], tables["predictions"]),
    }


def _signature_mu(mu: list[float], config: Mapping[str, Any]) -> int:
    wanted = config["signature"]["mu"]
    return 0 if wanted is None else int(np.argmin(np.abs(np.array(mu) - wanted)))


def _table(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    if name == "univariate":  # in the order of the matrix, of which a head says nothing
        frame = frame.sort_values("p_value", kind="stable")
    if name == "blocks":
        symbol = dict(zip(frame["gene"], frame["symbol"], strict=True))
        named = frame["prototype"].map(symbol)
        frame = frame.copy()
        frame.insert(list(frame.columns).index("prototype") + 1, "prototype_symbol", named)
    shown = frame.head(MOST_ROWS)
    columns = [str(column) for column in frame.columns]
    rows = [list(row) for row in zip(*(_column(shown[c]) for c in columns), strict=True)]
    return {"columns": columns, "rows": rows, "total": len(frame), "file": f"{name}.tsv"}


def _column(values: pd.Series[Any]) -> list[Any]:
    if values.dtype.kind == "f":
        return list(rounded(values.to_numpy(), 5))
    return [plain(value) for value in values.tolist()]
