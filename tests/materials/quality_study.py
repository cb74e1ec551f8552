"""Data sets without a fault, to plant faults in."""

from __future__ import annotations

import pandas as pd

from genesig.results import Dataset, Design


def faultless(rng, n=20, d=300, *, raw=False, batch=None, **columns):
    """Samples that differ as samples do: by three hidden factors, a little in level, by noise."""
    X = rng.normal(8, 2, d) + rng.normal(size=(n, 3)) @ rng.normal(0, 0.5, (3, d))
    X += rng.normal(size=(n, d)) + rng.normal(0, 0.1, (n, 1))
    if raw:
        X = 2**X * rng.lognormal(0, 0.3, (n, 1))
    obs = pd.DataFrame({"state": (["well", "ill"] * n)[:n], **columns})
    obs.index = pd.Index([f"s{i}" for i in range(n)])
    var = pd.DataFrame({"symbol": ["x"] * d}, index=[f"g{j}" for j in range(d)])
    design = Design("state", "classification", ("well", "ill"), None, None, batch)
    return Dataset(X, obs.astype(str), var, design, {"dropped": [], "steps": []})
