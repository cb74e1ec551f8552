"""Trials of whole studies with known signal: intervals on the page cover the expected values.

What is expected of studies so drawn is the mean of the numbers themselves over other studies
(expected.tsv, by ``claims.py expected``; held-out numbers of models are unbiased for what models
built so do in new patients, `intervals` holds that against new samples).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from certificate import Claim, Trial
from study_data import COLUMNS, study_of, task_of
from whole_study import Tables, run

N_SAMPLES = 60
N_GENES = 100
SIGNAL = 0.3
EXPECTED = Path(__file__).parent / "expected.tsv"
FIRST_OTHER = 5000  # seeds of the studies whose mean is expected; no trial draws them
QUICK_SETTINGS = {
    "signature": {"permutations": 19},
    "controls": {"permutations": 1, "baselines": ["ridge"]},
}


def files(kind: str, seed: int) -> Tables:
    """Return a study in which three of the genes drive the response, and two centres do not."""
    study_data = study_of(kind, seed, n=N_SAMPLES, d=N_GENES, signal=SIGNAL)
    centre = np.random.default_rng((seed, 3)).permutation(np.arange(N_SAMPLES) % 2)
    obs = study_data.obs.assign(centre=np.where(centre, "north", "south"))
    data: dict[str, Any] = {"task": task_of(kind)}
    if kind == "survival":
        data["event"] = "dead"
    label = {"time": "state", "event": "end"} if kind == "survival" else "state"
    X = pd.DataFrame(8 + study_data.X, study_data.obs.index, study_data.var.index)
    return Tables(X, obs, label, {"data": data, **QUICK_SETTINGS})


def stated(kind: str, seed: int) -> pd.DataFrame:
    """Return value, low and high of each number of a study's page that has an interval."""
    run_tables = run(files(kind, seed), seed)
    answer = run_tables.report["answer"]
    tables = run_tables.tables
    rows: dict[str, Mapping[str, Any]] = {"error": answer["error"]}
    rows |= {row["name"]: row for row in answer["measures"]}
    if (price := answer["evidence"]["fdr_selected_only"]) is not None:
        rows["the loss with FDR-selected genes only"] = _difference(price)
    rows["error less that of ridge"] = _difference(answer["best_other_method"])
    effects = tables["score_effect"]
    last_effect = effects[effects["adjusted"] == "no"].iloc[-1]
    rows["effect of the score"] = last_effect.to_dict()
    centre = tables["subgroups"].query("column == 'centre' and level == 'north'").iloc[0]
    rows["error in a subgroup"] = {"value": centre["error"], **centre[["low", "high"]]}
    table = pd.DataFrame(rows).T[["value", "low", "high"]].astype(float)
    if last_effect["measure"] != "slope":  # a ratio: its interval is one of its logarithm
        table.loc["effect of the score"] = np.log(table.loc["effect of the score"])
    return table


def _difference(row: Mapping[str, Any]) -> Mapping[str, Any]:
    low = row["difference_low"]
    high = row["difference_high"]
    return {"value": row["difference"], "low": low, "high": high}


def values(task: tuple[str, int]) -> pd.Series:
    """Return the numbers alone of a kind and seed, for the mean that is expected."""
    return stated(*task)["value"]


@cache
def expected(kind: str) -> Mapping[str, float]:
    """Return the mean of each number over other studies."""
    table = pd.read_csv(EXPECTED, sep="\t")
    return table[table["kind"] == kind].set_index("number")["value"].to_dict()


def of_signal(seed: int, kind: str) -> Mapping[str, float]:
    """Return of each number whether its interval holds what is expected."""
    table = stated(kind, seed)
    expected_values = expected(kind)
    checks = {
        name: float(row["low"] <= expected_values[name] <= row["high"])
        for name, row in table.iterrows()
        if name in expected_values and np.isfinite([row["low"], row["high"]]).all()
    }
    return {name: checks.get(name, np.nan) for name in expected_values}


def _trial(kind: str, draws: int = 50) -> Trial:
    promise = "holds the mean of other studies in 93 to 98 %"
    claims = [Claim(name, f"95 % CI of {name}", promise, 0.93, 0.98) for name in expected(kind)]
    return Trial(
        "Whole studies with signal",
        f"{kind.replace('_', ' ')}: {N_SAMPLES} samples, "
        f"three of {N_GENES} genes drive the response",
        partial(of_signal, kind=kind),
        tuple(claims),
        draws=draws,
        few=8,
    )


TRIALS = tuple(_trial(kind) for kind in COLUMNS)
