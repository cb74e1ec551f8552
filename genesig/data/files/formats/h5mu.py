"""MuData's .h5mu: several AnnData of the same samples, one beside the other as one matrix."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.h5ad import HDF5
from genesig.data.files.formats.interface import PARTIAL, Format
from genesig.data.files.formats.text import number_matrix, text_of, text_table
from genesig.errors import did_you_mean, refuse
from genesig.results.annotated import checked_file, dense
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd

OWN = b"MuData"
"""What MuData writes before the HDF5 file proper."""
MODALITY = "modality"
"""Column of the gene table that says which of them measured a gene."""

Parts = dict[str, Any]


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read samples × genes of all modalities, or of the one that `part` names.

    What a sample lacks of a modality is NaN. Where two modalities have a gene of one name, all
    genes are called by their modality, too: ``rna:TP53``.

    Raises
    ------
    InvalidInput
        No HDF5, no MuData, no such modality, no numbers, no common sample.
    """
    parts, _ = _load(content, where, part)
    names, partial = _samples(parts, where)
    cells = []
    for name, data in parts.items():
        if data.X is None:
            raise refuse(where, f"modality '{name}' has no X; write the expression into X")
        rows = data.obs_names.get_indexer(names)
        known = dense(data.X, f"{where}, modality '{name}'")[rows].astype(np.float64)
        known[rows < 0] = np.nan
        cells.append(known)
    found = number_matrix(names, _gene_names(parts), np.hstack(cells))
    return replace(found, partial=partial)


def samples(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read obs, that of all modalities together, or that of one."""
    parts, obs = _load(content, where, part)
    table = text_table(next(iter(parts.values())).obs if part else obs, "sample")
    names, partial = _samples(parts, where)
    table = table[~table.index.duplicated()].reindex(names, fill_value="")
    table.attrs[PARTIAL] = partial
    return table


def genes(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read var of each modality, one below the other, with the column `modality`."""
    import pandas as pd

    parts, _ = _load(content, where, part)
    tables = [
        text_table(data.var, "gene").assign(**{MODALITY: name}) for name, data in parts.items()
    ]
    table = pd.concat(tables).fillna("")
    table.index = pd.Index(_gene_names(parts), name="gene", dtype=object)
    table.attrs["lines"] = list(range(1, len(table) + 1))
    return table


def _load(content: bytes, where: str, part: str | None) -> tuple[Parts, pd.DataFrame]:
    """Return the modalities in their order, or the one that is wanted, and obs of all."""
    from anndata.io import read_elem

    if not content.startswith((HDF5, OWN)):
        raise refuse(
            where, "is no HDF5 file, whatever its ending says; write it again by MuData.write_h5mu"
        )
    with checked_file(BytesIO(content), where) as file:
        if "mod" not in file or not len(file["mod"]) or "obs" not in file:
            raise refuse(where, "has no modalities; write it by MuData.write_h5mu")
        group = file["mod"]
        order = [text_of(name) for name in group.attrs.get("mod-order", ())]
        names = order if sorted(order) == sorted(group) else list(group)
        if part is not None and part not in names:
            near = did_you_mean(part, names) or f" (modalities: {', '.join(names)})"
            raise refuse(where, f"data.part '{part}' is not one of its modalities{near}")
        wanted = names if part is None else [part]
        return {name: read_elem(group[name]) for name in wanted}, read_elem(file["obs"])


def _samples(parts: Parts, where: str) -> tuple[list[str], tuple[str, ...]]:
    """Return all samples, in the order of the modalities, and those that one lacks."""
    for name, data in parts.items():
        if not data.obs_names.is_unique:
            twice = data.obs_names[data.obs_names.duplicated()]
            what = f"sample {listing(map(str, twice))} stands there twice; keep one"
            raise refuse(f"{where}, modality '{name}'", what)
    times = Counter(str(name) for data in parts.values() for name in data.obs_names)
    partial = tuple(name for name, count in times.items() if count < len(parts))
    if len(partial) == len(times):
        raise refuse(where, "no sample is in every modality; choose one by data.part")
    return list(times), partial


def _gene_names(parts: Parts) -> list[str]:
    times = Counter(name for data in parts.values() for name in set(data.var_names))
    if max(times.values(), default=1) == 1:
        return [name for data in parts.values() for name in data.var_names]
    return [f"{part}:{name}" for part, data in parts.items() for name in data.var_names]


H5MU = Format("a MuData file", matrix, samples, genes, (".h5mu",), parts="modality", binary=True)
