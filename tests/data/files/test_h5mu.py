"""The modalities of a MuData file are joined by sample, and faults give one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
from format_files import Numbers

from genesig.data.files.readers import (
    read_genes,
    read_matrix,
    read_sample_table,
    read_samples,
    read_sets,
)
from genesig.errors import InvalidInput

mudata = pytest.importorskip("mudata")

RNA_NUMBERS = Numbers()
X = np.array(RNA_NUMBERS.rows).T
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*pull_on_update.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:var_names are not unique:UserWarning"),
]


def write(path: Path, *, genes: Any = None, rows: slice = slice(None)) -> Path:
    """Write the numbers as modality rna, and three times as much of four genes as protein."""
    import anndata

    obs = pd.DataFrame({"class": RNA_NUMBERS.labels}, index=RNA_NUMBERS.samples)
    rna = anndata.AnnData(X, obs, pd.DataFrame({"symbol": "s"}, index=RNA_NUMBERS.genes))
    names = [f"p{k}" for k in range(4)] if genes is None else genes
    protein = anndata.AnnData(3 * X[rows, :4], obs.iloc[rows, :0], pd.DataFrame(index=names))
    options = mudata.settings.override if hasattr(mudata, "settings") else mudata.set_options
    with options(pull_on_update=False):  # settings since mudata 0.4
        data = mudata.MuData({"rna": rna, "protein": protein})
        data.obs["class"] = rna.obs["class"]
        data.write_h5mu(path)
    return path


def test_modalities_are_joined_side_by_side(tmp_path: Path) -> None:
    path = write(tmp_path / "e.h5mu")
    matrix = read_matrix(path)
    assert matrix.rows == tuple(RNA_NUMBERS.samples)
    assert matrix.columns == (*RNA_NUMBERS.genes, "p0", "p1", "p2", "p3")
    np.testing.assert_array_equal(matrix.cells, np.hstack([X, 3 * X[:, :4]]))
    assert matrix.doubt == ""
    assert read_samples(path, None, None)["class"].tolist() == RNA_NUMBERS.labels
    table = read_genes(path, None)
    assert table["modality"].tolist() == ["rna"] * len(RNA_NUMBERS.genes) + ["protein"] * 4
    assert table["symbol"].tolist() == ["s"] * len(RNA_NUMBERS.genes) + [""] * 4
    sets = {gene_set.name: len(gene_set.genes) for gene_set in read_sets(path, "modality")}
    assert sets == {"rna": len(RNA_NUMBERS.genes), "protein": 4}


def test_part_reads_one_modality(tmp_path: Path) -> None:
    matrix = read_matrix(write(tmp_path / "e.h5mu"), "protein")
    np.testing.assert_array_equal(matrix.cells, 3 * X[:, :4])


def test_genes_of_one_name_get_their_modality(tmp_path: Path) -> None:
    path = write(tmp_path / "e.h5mu", genes=RNA_NUMBERS.genes[:4])
    names = [f"rna:{gene}" for gene in RNA_NUMBERS.genes] + [
        f"protein:{g}" for g in RNA_NUMBERS.genes[:4]
    ]
    assert list(read_matrix(path).columns) == read_genes(path, None).index.tolist() == names


def test_samples_of_every_modality_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "e.h5mu", rows=slice(1, None))
    matrix = read_matrix(path)
    assert list(matrix.rows) == RNA_NUMBERS.samples[1:]
    assert matrix.doubt.startswith(f"only {len(X) - 1} samples of {len(X)} are in every modality")
    assert read_samples(path, None, None).index.tolist() == RNA_NUMBERS.samples[1:]


def test_samples_that_lack_a_modality_are_kept_where_blanks_are(tmp_path: Path) -> None:
    path = write(tmp_path / "e.h5mu", rows=slice(1, None))
    matrix = read_matrix(path, partial=True)
    samples = read_sample_table(path, None, None, partial=True).cells.index
    assert list(matrix.rows) == samples.tolist()
    assert matrix.partial == (RNA_NUMBERS.samples[0],)
    at = matrix.rows.index(RNA_NUMBERS.samples[0])
    np.testing.assert_array_equal(matrix.cells[at, : len(RNA_NUMBERS.genes)], X[0])
    assert np.isnan(matrix.cells[at, len(RNA_NUMBERS.genes) :]).all()
    assert not np.isnan(np.delete(matrix.cells, at, axis=0)).any()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def _without(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["mod"]


def _with_other_samples(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        index = file["mod/protein/obs/_index"]
        index = index["values"] if isinstance(index, h5py.Group) else index  # since pandas 3
        index[...] = np.array([f"x{k}" for k in range(len(index))], dtype=object)


@pytest.mark.parametrize(
    ("change", "part", "words"),
    [
        (_cut, None, "is HDF5, but AnnData cannot read it"),
        (lambda path: path.write_bytes(b"hello"), None, "is no HDF5 file"),
        (_without, None, "has no modalities; write it by MuData.write_h5mu"),
        (lambda path: None, "prot", "is not one of its modalities; did you mean 'protein'?"),
        (_with_other_samples, None, "no sample is in every modality; choose one by data.part"),
    ],
)
def test_wrong_input_is_refused_in_one_line(
    change: Any, part: Any, words: str, tmp_path: Path
) -> None:
    change(write(tmp_path / "e.h5mu"))
    with pytest.raises(InvalidInput) as error:
        read_matrix(tmp_path / "e.h5mu", part)
    (problem,) = error.value.problems
    assert words in problem.message
