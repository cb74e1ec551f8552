"""MuData's .h5mu: several AnnData of the same samples, one beside the other as one matrix."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.h5ad import HDF5
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.strings import number_matrix, text_of, text_table
from genesig.errors import did_you_mean, refuse
from genesig.results.annotated import checked_file, dense
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd

OWN = b"MuData"
"""What MuData writes before the HDF5 file proper."""
MODALITY = "modality"
"""Column of the gene table that says which of them measured a gene."""

Parts = dict[str, Any]


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read samples × genes of all modalities, or of the one that `part` names.

    Samples that a modality lacks are left out. Where two modalities have a gene of one name, all
    genes are called by their modality, too: ``rna:TP53``.

    Raises
    ------
    InvalidInput
        No HDF5, no MuData, no such modality, no numbers, no common sample.
    """
    parts, _ = _load(content, where, part)
    common = _common(parts, where)
    cells = []
    for name, data in parts.items():
        if data.X is None:
            raise refuse(where, f"modality '{name}' has no X; write the expression into X")
        rows = data.obs_names.get_indexer(common)
        cells.append(dense(data.X, f"{where}, modality '{name}'")[rows])
    found = number_matrix(common, _gene_names(parts), np.hstack(cells))
    most = max(data.n_obs for data in parts.values())
    if len(common) == most:
        return found
    what = f"only {counted(len(common), 'sample')} of {most} are in every modality; the others are"
    return Matrix(**{**vars(found), "doubt": f"{what} left out"})


def samples(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read obs, that of all modalities together, or that of one."""
    parts, obs = _load(content, where, part)
    table = text_table(next(iter(parts.values())).obs if part else obs, "sample")
    return table[~table.index.duplicated()].reindex(_common(parts, where), fill_value="")


def genes(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read var of each modality, one below the other, with the column `modality`."""
    import pandas as pd

    parts, _ = _load(content, where, part)
    tables = [text_table(data.var, "gene").assign(**{MODALITY: name})
              for name, data in parts.items()]  # fmt: skip
    table = pd.concat(tables).fillna("")
    table.index = pd.Index(_gene_names(parts), name="gene", dtype=object)
    table.attrs["lines"] = list(range(1, len(table) + 1))
    return table


def _load(content: bytes, where: str, part: str | None) -> tuple[Parts, pd.DataFrame]:
    """Return the modalities in their order, or the one that is wanted, and obs of all."""
    from anndata.io import read_elem

    if not content.startswith((HDF5, OWN)):
        raise refuse(where, "is no HDF5 file, whatever its ending says; write it again by "
                     "MuData.write_h5mu")  # fmt: skip
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


def _common(parts: Parts, where: str) -> list[str]:
    """Return the samples of all modalities, in the order of the first."""
    for name, data in parts.items():
        if not data.obs_names.is_unique:
            twice = data.obs_names[data.obs_names.duplicated()]
            what = f"sample {listing(map(str, twice))} stands there twice; keep one"
            raise refuse(f"{where}, modality '{name}'", what)
    first, *others = (data.obs_names for data in parts.values())
    common = [name for name in first if all(name in other for other in others)]
    if not common:
        raise refuse(where, "no sample is in every modality; choose one by data.part")
    return common


def _gene_names(parts: Parts) -> list[str]:
    times = Counter(name for data in parts.values() for name in set(data.var_names))
    if max(times.values(), default=1) == 1:
        return [name for data in parts.values() for name in data.var_names]
    return [f"{part}:{name}" for part, data in parts.items() for name in data.var_names]


H5MU = Format("a MuData file", matrix, samples, genes, (".h5mu",), parts="modality", binary=True)
