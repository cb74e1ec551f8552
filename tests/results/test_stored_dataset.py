"""A changed stored data set is refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest

from genesig.errors import InvalidInput
from genesig.results import Dataset, Design

DESIGN = Design("class", "classification", ("a", "b"), None, None)


def stored(folder: Path) -> Path:
    obs = pd.DataFrame({"class": ["a", "b"]}, index=["s1", "s2"])
    var = pd.DataFrame({"symbol": "s"}, index=["g1", "g2", "g3"])
    Dataset(np.arange(6.0).reshape(2, 3), obs, var, DESIGN, {}).save(folder / "d.h5ad")
    return folder / "d.h5ad"


def notes(change: Callable[[dict[str, Any]], object]) -> Callable[[h5py.File], None]:
    def apply(file: h5py.File) -> None:
        header = json.loads(file["uns/genesig"].asstr()[()])
        change(header)
        del file["uns/genesig"]
        file["uns/genesig"] = json.dumps(header)

    return apply


def complex_values(file: h5py.File) -> None:
    del file["X"]
    file["X"] = np.ones((2, 3)) * 1j


def text(file: h5py.File) -> None:
    del file["uns/genesig"]
    file["uns/genesig"] = "{"


CHANGES = {
    "no notes": lambda file: file["uns"].pop("genesig"),
    "notes that are no JSON": text,
    "another design": notes(lambda header: header["design"].pop("label")),
    "a design with more": notes(lambda header: header["design"].update(more=1)),
    "no provenance": notes(lambda header: header.pop("provenance")),
    "no symbols": lambda file: file["var"].attrs.__setitem__("column-order", []),
    "complex values": complex_values,
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_dataset_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path = stored(tmp_path)
    with h5py.File(path, "r+") as file:
        CHANGES[name](file)
    with pytest.raises(InvalidInput, match=r"d\.h5ad") as caught:
        Dataset.load(path)
    assert len(str(caught.value).splitlines()) == 1


def test_invalid_dataset_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.h5ad").write_text("hello")
    with pytest.raises(InvalidInput, match="cannot read it"):
        Dataset.load(tmp_path / "d.h5ad")
