"""The signature as one annotated matrix, and its stretches of neighbours on a chromosome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import with_summaries_applied
from genesig.genome import Genome
from genesig.results import Dataset, Fits
from genesig.results.files import whole_file
from genesig.selection.genes.frequency import round_sizes

if TYPE_CHECKING:
    import anndata
    import pandas as pd


COLUMN_TYPES = {"rank": int, "block": int, "fdr_selected": bool, "core": bool}
"""Types of the columns of signature.tsv that are no measures; ``class`` is text."""

NOTES = "genesig"  # key of ``uns`` with the settings and versions of the run


def signature_annotated(
    dataset: Dataset, signature: pd.DataFrame, nested: pd.DataFrame, settings: Mapping[str, Any]
) -> anndata.AnnData:
    """Return all samples and the genes of the signature, in its order, with the results of each.

    ``var`` has the columns of signature.tsv, ``varm["cv_frequency"]`` the CV frequency of each gene
    in the nested lists (a column for each mu), ``uns["genesig"]`` the dictionaries ``parameters``
    (the config), ``versions`` and ``nested_lists`` (mean number of genes at each mu).

    dataset: after the row-wise steps.
    signature: signature.tsv. Its columns have one type whatever the study: a share of 1 in every
        row reads as a whole number, and no rows have no type. An unknown block becomes 0, an
        unknown class empty, any other unknown number NaN.
    nested: nested_lists.tsv.
    settings: settings.json.
    """
    import anndata

    column_of_gene = {gene: column for column, gene in enumerate(dataset.genes)}
    columns = np.array([column_of_gene[gene] for gene in signature["gene"]], dtype=np.int64)
    notes = signature.drop(columns="symbol").set_index("gene")
    notes["block"] = notes["block"].fillna(0)
    if "class" in notes:
        notes["class"] = notes["class"].fillna("")
    notes = notes.astype(
        {name: COLUMN_TYPES.get(str(name), float) for name in notes if name != "class"}
    )
    # A further column of the gene table may have the name of one of signature.tsv.
    var = dataset.var.iloc[columns].join(notes, lsuffix="_annotation")
    frequency, n_genes = _frequency_by_mu(nested, var.index)
    return anndata.AnnData(
        with_summaries_applied(dataset).X[:, columns],
        obs=dataset.obs,
        var=var,
        varm={"cv_frequency": frequency},
        uns={
            NOTES: {
                "parameters": _storable(settings["config"]),
                "versions": dict(settings["versions"]),
                "nested_lists": {"mu": n_genes.index.to_numpy(), "genes": n_genes.to_numpy()},
            }
        },
    )


def save_signature(path: str | Path, data: anndata.AnnData) -> None:
    """Write the signature as ``.h5ad``."""
    # HDF5 crashes on a full disk: free space is checked first, for values, names and the rest.
    needed_bytes = data.X.nbytes + 200 * sum(data.shape) + 65536
    with whole_file(path, needed_bytes) as temporary_path:
        data.write_h5ad(temporary_path)


def _frequency_by_mu(
    nested: pd.DataFrame, genes: pd.Index[str]
) -> tuple[pd.DataFrame, pd.Series[float]]:
    """Return CV frequencies (genes, mu), 0 for an unselected gene, and the list size at each mu."""
    along_mu = nested[nested["mu"].notna()]
    by_mu = along_mu.pivot_table(index="gene", columns="mu", values="cv_frequency")
    n_genes = by_mu.sum()  # the sum of the frequencies is the mean number of genes
    frequency = by_mu.reindex(genes).fillna(0.0)
    frequency.columns = [f"{mu:g}" for mu in by_mu.columns]
    return frequency, n_genes


def _storable(value: Any) -> Any:
    """Return a setting as HDF5 holds it: no None, lists of one type as arrays, others as JSON."""
    if isinstance(value, Mapping):
        if any("/" in str(key) for key in value):  # HDF5 would nest such a key
            return json.dumps(value)
        return {str(key): _storable(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        is_plain = bool(value) and (
            all(isinstance(item, str) for item in value)
            or all(isinstance(item, int | float) for item in value)
        )
        return np.array(value) if is_plain else json.dumps(value)
    return value


def stretches_table(dataset: Dataset, nested: pd.DataFrame, final: Fits) -> pd.DataFrame:
    """Return stretches.tsv: the stretches of the final model, largest contribution first.

    A stretch is a run of genes of the model that are neighbours among those measured on a
    chromosome; a gene without a position is a stretch by itself, and ``chromosome``, ``start`` and
    ``end`` are blank. ``first`` and ``last`` name its ends, ``contribution`` is the sum of the
    weights (of several classes: of their norms), each times the gene's standard deviation,
    ``cv_frequency`` the mean CV frequency of its genes in the lists that the outer splits chose,
    ``least_cv_frequency`` the smallest.
    """
    import pandas as pd

    chromosomes, positions = dataset.places()  # of each gene
    genome = Genome.from_columns(len(chromosomes), chromosomes, positions)
    genes, weights = final.with_chosen().chosen_coef(0)
    if weights.ndim == 2:
        weights = np.linalg.norm(weights, axis=1)
    contributions = np.zeros(len(chromosomes))
    in_model = np.zeros(len(chromosomes), dtype=bool)
    order = genome.order
    contributions[genes] = weights * dataset.X[:, genes].std(axis=0)
    in_model[genes] = True
    chosen_rows = nested[nested["mu"].isna()].set_index("gene")["cv_frequency"]
    frequencies = chosen_rows.reindex(dataset.genes).fillna(0.0).to_numpy()
    symbols = dataset.var["symbol"].to_numpy()
    rows = []
    for run in runs(in_model[order], genome.starts):
        run_genes = order[run]
        first_gene = run_genes[0]
        last_gene = run_genes[-1]
        # `Dataset.places` names the chromosome of a gene without a position "\0" and the gene
        has_place = not chromosomes[first_gene].startswith("\0")
        rows.append(
            (
                chromosomes[first_gene] if has_place else "",
                positions[first_gene] if has_place else np.nan,
                positions[last_gene] if has_place else np.nan,
                len(run_genes),
                symbols[first_gene],
                symbols[last_gene],
                contributions[run_genes].sum(),
                frequencies[run_genes].mean(),
                frequencies[run_genes].min(),
            )
        )
    columns = ["chromosome", "start", "end", "genes", "first", "last", "contribution"]
    columns += ["cv_frequency", "least_cv_frequency"]
    table = pd.DataFrame(rows, columns=columns)
    order = np.argsort(
        -round_sizes(table["contribution"].abs().to_numpy(dtype=float)), kind="stable"
    )
    return table.iloc[order].reset_index(drop=True)


def runs(in_model: Array, starts: Array) -> list[slice]:
    """Return the runs of True in a mask (d,), which begin again at each start of a chromosome."""
    begins = np.concatenate([[True], in_model[1:] != in_model[:-1]])
    begins[starts] = True
    start = np.flatnonzero(begins)
    stop = np.append(start[1:], len(in_model))
    return [
        slice(start_index, stop_index)
        for start_index, stop_index in zip(start, stop, strict=True)
        if in_model[start_index]
    ]
