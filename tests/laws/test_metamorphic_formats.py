"""A study written in many formats and orders is read as one data set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from format_files import Numbers, gct12, gct13, tabbed, table
from scipy.sparse import csc_matrix, csr_matrix

from genesig.data.files.readers import load_schema
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.results import Dataset

RNG = np.random.default_rng(2)
LABELS = {f"S{k:02d}": ("normal", "tumor")[k % 2] for k in range(12)}
CELLS = pd.DataFrame(
    np.where(RNG.random((9, 12)) < 0.3, 0.0, RNG.lognormal(3, 4, (9, 12))),
    [f"g{k}" for k in range(9)],
    list(LABELS),
)


def numbers(seed: int) -> Numbers:
    """Return the cells in an order of their own."""
    rng = np.random.default_rng(seed)
    cells = CELLS.iloc[rng.permutation(9), rng.permutation(12)]
    return Numbers(list(cells.index), list(cells.columns), cells.to_numpy().tolist())


def annotated(seed: int, storage: Callable[[Any], Any]) -> Any:
    import anndata

    n = numbers(seed)
    obs = pd.DataFrame({"class": [LABELS[name] for name in n.samples]}, index=n.samples)
    return anndata.AnnData(storage(np.array(n.rows).T), obs, pd.DataFrame(index=n.genes))


def h5ad(seed: int, storage: Callable[[Any], Any]) -> Callable[[Path], None]:
    return lambda path: annotated(seed, storage).write_h5ad(path)


def h5mu(path: Path) -> None:
    mudata = pytest.importorskip("mudata")
    data = annotated(9, np.asarray)
    parts = {
        name: data[:, genes].copy()
        for name, genes in {"one": data.var_names[4:], "other": data.var_names[:4]}.items()
    }
    options = mudata.settings.override if hasattr(mudata, "settings") else mudata.set_options
    with options(pull_on_update=False):  # settings since mudata 0.4
        mu_data = mudata.MuData(parts)
        mu_data.obs["class"] = data.obs["class"]
        mu_data.write_h5mu(path)


def write_transposed(path: Path) -> None:
    n = numbers(3)
    rows = [
        [name, *map(repr, row)]
        for name, row in zip(n.samples, np.array(n.rows).T.tolist(), strict=True)
    ]
    path.write_text(tabbed([["", *n.genes], *rows]))


FORMATS: dict[str, Callable[[Path], Any]] = {
    "e.tsv": lambda path: path.write_text(table(numbers(1))),
    "turned.tsv": write_transposed,
    "e.csv": lambda path: path.write_text(table(numbers(2)).replace("\t", ",")),
    "old.gct": lambda path: path.write_text(gct12(numbers(4))),
    "new.gct": lambda path: path.write_text(gct13(numbers(5))),
    "c.h5ad": h5ad(6, np.ascontiguousarray),
    "f.h5ad": h5ad(7, np.asfortranarray),
    "csr.h5ad": h5ad(8, csr_matrix),
    "csc.h5ad": h5ad(8, csc_matrix),
    "e.h5mu": h5mu,
}


def read(folder: Path, name: str, sheet: str = "sheet.tsv") -> Dataset:
    """Read a study: its sample table is that file, or the matrix's own where it has one."""
    FORMATS[name](folder / name)
    rows = [[sample, LABELS[sample]] for sample in numbers(len(name)).samples]
    (folder / "sheet.tsv").write_text(tabbed([["sample", "class"], *rows]))
    config = {"expression": str(folder / name), "samples": str(folder / sheet), "label": "class"}
    resolved_config = resolve_config(config, load_schema())
    return read_dataset(StudySettings.from_config(resolved_config))


def assert_same(dataset_a: Dataset, dataset_b: Dataset) -> None:
    assert (dataset_a.samples, dataset_a.genes) == (dataset_b.samples, dataset_b.genes)
    assert dataset_a.X.flags.c_contiguous
    assert dataset_a.X.tobytes() == dataset_b.X.tobytes()
    assert dataset_a.obs["class"].tolist() == dataset_b.obs["class"].tolist()
    assert dataset_a.design == dataset_b.design
    pd.testing.assert_frame_equal(dataset_a.var, dataset_b.var)


@pytest.mark.slow_cases("csr.h5ad", "f.h5ad")
@pytest.mark.filterwarnings("ignore:.*pull_on_update.*:FutureWarning")
@pytest.mark.parametrize("name", FORMATS)
def test_a_study_is_the_same_in_every_format(name: str, tmp_path: Path) -> None:
    plain = read(tmp_path, "e.tsv")
    assert plain.X.tobytes() == np.ascontiguousarray(CELLS.to_numpy().T).tobytes()
    assert plain.samples == list(LABELS)
    assert_same(read(tmp_path, name), plain)
    if name.endswith((".h5ad", ".h5mu")):
        assert_same(read(tmp_path, name, sheet=name), plain)
