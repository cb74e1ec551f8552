"""A study in a moment that holds age and sex fixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from report_study import Study, arguments, make_dataset

from genesig.response.covariates import Covariate
from genesig.results import Fits

APART = {"adds": (0.15, 0.05, 0.25), "open": (0.01, -0.08, 0.1), "hurts": (-0.1, -0.2, -0.02)}


def held_arguments(study: Study, name: str, column: str = "age") -> dict[str, Any]:
    """Return the keyword arguments of `collect`; covariates alone are off by `APART[name]`.

    Ridge on all genes adds nothing, and permutations speak for the list alone where that adds.
    """
    rng = np.random.default_rng(8)
    dataset = make_dataset(study, np.random.default_rng(7))
    n = len(dataset.samples)
    more = {column: rng.integers(30, 80, n).astype(str), "sex": np.resize(["f", "m"], n)}
    more[column][0] = "NA"
    held = (Covariate(column, None), Covariate("sex", ("f", "m")))
    design = replace(dataset.design, covariates=held, filled=True)
    given = arguments(study, replace(dataset, obs=dataset.obs.assign(**more), design=design))
    controls = given["tables"]["controls"]
    own = controls[(controls["model"] == "genesig") & controls["mu"].isna()].iloc[0]
    apart = dict(zip(("difference", "difference_low", "difference_high"), APART[name], strict=True))
    alone = {**own, "model": "covariates", "error": own["error"] + APART[name][0], **apart}
    ridge = {**alone, "model": "covariates and ridge", "added": 0.0, "added_low": -0.1,
             "added_high": 0.1, "p_value": 0.4}  # fmt: skip
    table = pd.concat([controls, pd.DataFrame([alone, ridge])], ignore_index=True)
    answer = (table["model"] == "genesig") & table["mu"].isna()
    table.loc[answer, ["added", "added_low", "added_high"]] = APART[name]
    table.loc[answer, "p_value"] = 0.01 if name == "adds" else 0.4
    given["tables"]["controls"] = table
    for key in ("observed", "final"):
        given[key] = _with_weights(given[key], rng)
    given["config"]["data"] |= {"covariates": [column, "sex"], "weights": "balanced"}
    return given


def _with_weights(fits: Fits, rng: np.random.Generator) -> Fits:
    shape = (len(fits), len(fits.mu), 2)
    gamma, mean = 0.1 + 0.01 * rng.normal(size=shape), np.tile([50.0, 0.5], (len(fits), 1))
    return replace(fits, gamma=gamma, covariate_mean=mean, knots=np.zeros((len(fits), 2, 0)))
