"""MuData's .h5mu: several AnnData of the same samples, side by side as one matrix."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats.h5ad import HDF5_MAGIC
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import number_matrix, text_of, text_table
from genesig.errors import did_you_mean, input_error
from genesig.results.annotated import checked_file, dense
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd

MUDATA_MAGIC = b"MuData"  # first bytes of a file of MuData, before the HDF5 file proper
MODALITY_COLUMN = "modality"  # column of the gene table with the modality of a gene

Modalities = dict[str, Any]  # name of a modality -> its AnnData


def matrix(content: bytes, file_name: str, part: str | None) -> Matrix:
    """Return samples × genes of all modalities, or of the one that `part` names.

    Cells of a modality that a sample lacks are NaN. If two modalities share the name of a gene, all
    genes are named with their modality: ``rna:TP53``.

    Raises InvalidInput: no HDF5, no MuData, no such modality, no numbers, no common sample.
    """
    modalities, _ = _read_modalities(content, file_name, part)
    names, partial_samples = _all_samples(modalities, file_name)
    cells = []
    for name, data in modalities.items():
        if data.X is None:
            raise input_error(file_name, f"modality '{name}' has no X; write the expression into X")
        rows = data.obs_names.get_indexer(names)  # -1 for a sample that the modality lacks
        values = dense(data.X, f"{file_name}, modality '{name}'")[rows].astype(np.float64)
        values[rows < 0] = np.nan
        cells.append(values)
    joined = number_matrix(names, _gene_names(modalities), np.hstack(cells))
    return replace(joined, partial=partial_samples)


def samples(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return obs of all modalities together, or of one, as the sample table."""
    modalities, obs = _read_modalities(content, file_name, part)
    cells = text_table(next(iter(modalities.values())).obs if part else obs, "sample").cells
    names, partial_samples = _all_samples(modalities, file_name)
    cells = cells[~cells.index.duplicated()].reindex(names, fill_value="")
    return TextTable(cells, range(1, len(cells) + 1), partial=partial_samples)


def genes(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return var of each modality, one below the other, with the column `modality`."""
    import pandas as pd

    modalities, _ = _read_modalities(content, file_name, part)
    tables = [
        text_table(data.var, "gene").cells.assign(**{MODALITY_COLUMN: name})
        for name, data in modalities.items()
    ]
    cells = pd.concat(tables).fillna("")
    cells.index = pd.Index(_gene_names(modalities), name="gene", dtype=object)
    return TextTable(cells)


def _read_modalities(
    content: bytes, file_name: str, part: str | None
) -> tuple[Modalities, pd.DataFrame]:
    """Return the modalities in their order, or the one that `part` names, and obs of all."""
    from anndata.io import read_elem

    if not content.startswith((HDF5_MAGIC, MUDATA_MAGIC)):
        raise input_error(
            file_name,
            "is no HDF5 file, whatever its ending says; write it again by MuData.write_h5mu",
        )
    with checked_file(BytesIO(content), file_name) as file:
        if "mod" not in file or not len(file["mod"]) or "obs" not in file:
            raise input_error(file_name, "has no modalities; write it by MuData.write_h5mu")
        group = file["mod"]
        stored_order = [text_of(name) for name in group.attrs.get("mod-order", ())]
        names = stored_order if sorted(stored_order) == sorted(group) else list(group)
        if part is not None and part not in names:
            advice = did_you_mean(part, names) or f" (modalities: {', '.join(names)})"
            raise input_error(
                file_name,
                f"data.part '{part}' is not one of its modalities{advice}",
                key="data.part",
            )
        chosen = names if part is None else [part]
        return {name: read_elem(group[name]) for name in chosen}, read_elem(file["obs"])


def _all_samples(modalities: Modalities, file_name: str) -> tuple[list[str], tuple[str, ...]]:
    """Return all samples, in the order of the modalities, and those that lack a modality."""
    for name, data in modalities.items():
        if not data.obs_names.is_unique:
            repeated = data.obs_names[data.obs_names.duplicated()]
            message = f"sample {listing(map(str, repeated))} stands there twice; keep one"
            raise input_error(f"{file_name}, modality '{name}'", message)
    n_modalities_of_sample = Counter(
        str(name) for data in modalities.values() for name in data.obs_names
    )
    partial_samples = tuple(
        name for name, count in n_modalities_of_sample.items() if count < len(modalities)
    )
    if len(partial_samples) == len(n_modalities_of_sample):
        raise input_error(
            file_name, "no sample is in every modality; choose one by data.part", key="data.part"
        )
    return list(n_modalities_of_sample), partial_samples


def _gene_names(modalities: Modalities) -> list[str]:
    """Return the names of all genes, with their modality if two modalities share a name."""
    n_modalities_of_gene = Counter(
        name for data in modalities.values() for name in set(data.var_names)
    )
    if max(n_modalities_of_gene.values(), default=1) == 1:
        return [name for data in modalities.values() for name in data.var_names]
    return [
        f"{modality}:{name}" for modality, data in modalities.items() for name in data.var_names
    ]


H5MU = Format(
    "a MuData file", matrix, samples, genes, suffixes=(".h5mu",), parts="modality", binary=True
)
