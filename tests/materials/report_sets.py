"""Tables of gene sets for the study in report_study.py, gathered as in a real run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sets_study import gene_sets

from genesig.results import Dataset, Fits, Splits
from genesig.results.model_fits import ModelFits
from genesig.selection.sets.gather import gather_sets

CONFIG = {
    "sets": "data/<b>pathways</b>.gmt", "column": None, "weights": "permuted",
    "others": "leave_out", "smallest": 2, "largest": 500, "mu": [1e-3],
    "tau_min": 0.1, "tau_count": 15, "most": 50,
    "one_standard_error": True, "tolerance": 1e-6,
}  # fmt: skip
LEAST = 16  # sets


def with_sets(
    tables: dict[str, pd.DataFrame], dataset: Dataset, splits: Splits, observed: Fits,
    names: Any = (), empty: bool = False,
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Return the tables with those of gene sets, whose scores are y and noise."""
    rng, d = np.random.default_rng(12), len(dataset.genes)
    sets = gene_sets([range(k % d, min(d, k % d + 4)) for k in range(LEAST)])
    long = np.array(sets.names, dtype="U200")
    long[: len(names)] = list(names)[:LEAST]
    sets = type(sets)(**{**vars(sets), "names": long})
    y = dataset.response()

    def fits(some: Any, numbers: Any = (0,)) -> ModelFits:
        return ModelFits.of([_row(dataset, split, number, y, rng, empty)
                           for number in numbers for split in some])  # fmt: skip

    parts = [[fits(splits.outer)], [fits(splits.outer, range(1, 10))]]
    final = fits([splits.final])
    found = gather_sets(dataset, splits, sets, parts, final, fits(splits.subsamples), [observed],
                        frequency=0.75)  # fmt: skip
    genes = pd.DataFrame(
        [(str(sets.names[k]), dataset.genes[j], dataset.var["symbol"].iloc[j], 0.1)
         for k in final.selected(0)[0] for j in sets.members(int(k))],
        columns=["set", "gene", "symbol", "weight"],
    )  # fmt: skip
    error, controls = found["sets_error"].iloc[0], tables["controls"].copy()
    row = {"model": "sets", **{name: error[name] for name in ("error", "low", "high")}}
    controls.loc[len(controls)] = {name: row.get(name, np.nan) for name in controls.columns}
    return {**tables, **found, "sets_genes": genes, "controls": controls}


def _row(
    dataset: Dataset, split: Any, number: int, y: Any, rng: Any, empty: bool
) -> dict[str, Any]:
    test = dataset.rows(split.test)
    chosen = np.flatnonzero(rng.random(LEAST) < np.linspace(1.3, 0, LEAST)) * (not empty)
    chosen = chosen[: 0 if empty else None]
    return {
        "split": split.name, "permutation": number, "message": "", "tau": 0.4, "mu": 1e-3,
        "gap": 1e-8, "indices": chosen, "sizes": np.exp(-chosen / 3.0), "test_rows": test,
        "scores": y[test] * (number == 0) + 0.7 * rng.normal(size=len(test)),
    }  # fmt: skip
