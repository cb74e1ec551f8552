"""Studies whose genes differ between two classes, by not quite the same in each study."""

from __future__ import annotations

import numpy as np
import pandas as pd

from genesig.results import Dataset, Design

N, D, TRUE, EFFECT = 40, 1500, 75, 1.0


def studies_of(k: int, tau: np.ndarray | float, seed: int, *, each: int = 1) -> Dataset:
    """Return k studies of N samples, `each` of a patient; a gene's shift differs by tau."""
    rng = np.random.default_rng((k, seed, each))
    y = np.repeat(np.arange(N // each) % 2, each)
    parts = []
    for _ in range(k):
        shift = EFFECT * (np.arange(D) < TRUE) + tau * rng.standard_normal(D)
        own = rng.standard_normal((N // each, D)).repeat(each, axis=0)
        noise = rng.standard_normal((N, D))
        share = 0.8 if each > 1 else 0.0
        parts.append(np.sqrt(share) * own + np.sqrt(1 - share) * noise + y[:, None] * shift)
    names, genes = [f"s{i:03d}" for i in range(k * N)], [f"g{j:04d}" for j in range(D)]
    obs = pd.DataFrame(
        {"state": np.tile(np.where(y, "ill", "well"), k),
         "study": np.repeat([f"study {i}" for i in range(k)], N)}, index=names,
    )  # fmt: skip
    design = Design("state", "classification", ("well", "ill"), None, None, "study", studies=True)
    var = pd.DataFrame({"symbol": genes}, index=genes)
    return Dataset(np.concatenate(parts), obs, var, design, {})


def false_share(table: pd.DataFrame) -> float:
    """Return the share of false genes among those of q <= .05."""
    named = table["q_value"].to_numpy() <= 0.05
    return float(named[TRUE:].sum() / max(1, named.sum()))
