"""Simulated studies of one question, and their files, for tests that break one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from toy_study import make_study

from genesig.data.files.readers import load_schema, read_config
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import pooled_of, read_dataset
from genesig.results import Dataset, Splits

NAMES = ("boston", "berlin", "bombay", "bergen", "bilbao", "brno")
TRUE = 3
"""The first genes tell the classes apart, in every study."""


def tables(number: int = 3, n: int = 20, d: int = 30, *, seed: int = 1, effect: float = 2.5,
           odd: bool = False) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:  # fmt: skip
    """Return the matrix (genes × samples) and the sample table of each study.

    Each has a location and a spread of its own for every gene; in the last one the genes point the
    other way where it is to be the `odd` one.
    """
    rng = np.random.default_rng(seed)
    base, found = rng.normal(8, 1, d), {}
    for k, name in enumerate(NAMES[:number]):
        y = np.arange(n) % 2
        X = rng.standard_normal((n, d))
        sign = -1 if odd and k == number - 1 else 1
        X[:, :TRUE] += sign * effect * (y[:, None] - 0.5)
        X = base + rng.normal(0, 0.7, d) + np.exp(rng.normal(0, 0.3, d)) * X
        samples = [f"{name[:3]}{k}{i:02d}" for i in range(n)]
        matrix = pd.DataFrame(X.T.round(4), [f"gene{j:02d}" for j in range(d)], samples)
        about = pd.DataFrame({"diagnosis": np.where(y == 1, "ill", "well"),
                              "patient": [f"p{i}" for i in range(n)],
                              "age": rng.integers(30, 70, n).astype(str)}, samples)  # fmt: skip
        found[name] = matrix, about
    return found


@dataclass
class Studies:
    """Studies and their config, to be changed before they are written."""

    root: Path
    files: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = field(default_factory=tables)
    config: dict[str, Any] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    genes: dict[str, pd.DataFrame] = field(default_factory=dict)

    def item(self, name: str, **settings: Any) -> None:
        """Set keys of one of the studies."""
        self.items.setdefault(name, {}).update(settings)

    def write(self) -> Path:
        """Write every file; return the config's path."""
        for name, (matrix, about) in self.files.items():
            matrix.to_csv(self.root / f"{name}.tsv", sep="\t", index_label="gene")
            about.to_csv(self.root / f"{name}_samples.tsv", sep="\t", index_label="sample")
        for name, table in self.genes.items():
            table.to_csv(self.root / name, sep="\t", index=False)
        studies = [{"name": name, "expression": f"{name}.tsv", "samples": f"{name}_samples.tsv",
                    **self.items.get(name, {})} for name in self.files]  # fmt: skip
        config = {"studies": studies, "label": "diagnosis", **self.config}
        (self.root / "config.yaml").write_text(yaml.safe_dump(config))
        return self.root / "config.yaml"


def pooled(
    folder: Path, files: dict[str, tuple[pd.DataFrame, pd.DataFrame]], **config: Any
) -> tuple[Dataset, Splits]:
    """Read studies of wells and ills, align them and draw their splits, as the workflow does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        studies = Studies(folder, files, {"data": {"classes": ["well", "ill"]}, **config})
        config = resolve_config(read_config(studies.write()), load_schema())
        named = (config["expression"], config["samples"], config["label"])
        dataset = read_dataset(*named, (), pooled_of(config), **config["data"])
    dataset = normalise_samples(dataset, config["across"]["align"], **config["normalise"])
    return dataset, draw_splits(dataset, seed=0, **config["splits"])


def lay_out_studies(
    folder: Path, config: dict[str, Any], number: int = 3, judges: int = 0
) -> Path:  # fmt: skip
    """Lay out a study of simulated studies, with as many cohorts more that only judge."""
    make_study(folder)
    Studies(folder, files := tables(number + judges, n=16, d=40, effect=3.0)).write()
    (folder / "config.yaml").unlink()
    items = [{"name": name, "expression": f"{name}.tsv", "samples": f"{name}_samples.tsv"}
             for name in files]  # fmt: skip
    told = {"studies": items[:number], **({"external": items[number:]} if judges else {})}
    told |= {"label": "diagnosis", "data": {"classes": ["well", "ill"]}, **config}
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(told))
    return folder
