"""Compare the numbers that genesig states with simulated truth; write docs/evidence/claims.md.

    python benchmarks/accuracy/claims.py run [--topic TEXT] [--jobs 2] [--draws N]
    python benchmarks/accuracy/claims.py page
    python benchmarks/accuracy/claims.py expected [--jobs 2] [--draws N]

``run`` draws the trials of tests/claims whose topic contains TEXT, and replaces their rows of
tests/claims/measured.tsv; ``page`` writes docs/evidence/claims.md from that table. ``expected``
writes the means over simulated studies with signal, from which readers expect other studies. Seeds
begin at 1000, so that no quick test has these draws.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/claims"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests/references"))

from certificate import Trial, measured
from claims_page import PAGE, TABLE, page
from trials import TRIALS
from whole_signals import COLUMNS, EXPECTED, FIRST_OTHER, values

FIRST_SEED = 1000
MIN_STUDIES = 10  # with a number, for its mean to be written


def draw_claims(task: tuple[int, int]) -> dict[str, float]:
    """Return claim number -> value of a trial; task: number of the trial, seed."""
    trial_number, seed = task
    return dict(TRIALS[trial_number].draw(seed))


def measure_trial(trial: Trial, draws: int, pool: ProcessPoolExecutor) -> pd.DataFrame:
    """Return a row for each claim of a trial, measured over `draws` draws."""
    trial_number = TRIALS.index(trial)
    begun = time.perf_counter()
    tasks = [(trial_number, FIRST_SEED + draw) for draw in range(draws)]
    draw_values = list(pool.map(draw_claims, tasks, chunksize=max(1, draws // 64)))
    seconds = time.perf_counter() - begun
    rows = []
    for claim in trial.claims:
        result = measured(draw_values, claim)
        rows.append(
            {
                "topic": trial.topic,
                "data": trial.data,
                "number": claim.number,
                "promise": claim.promise,
                "low": claim.low,
                "high": claim.high,
                "measured": round(result.mean, 4),
                "error": round(result.error, 4),
                "draws": result.draws,
                "seconds": round(seconds),
            }
        )
    return pd.DataFrame(rows)


def merge_rows(new: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the new rows instead of rows of the same trials, in order of trials."""
    trial_order = {(trial.topic, trial.data): k for k, trial in enumerate(TRIALS)}
    old = pd.read_csv(TABLE, sep="\t") if TABLE.exists() else new.iloc[:0]
    measured_trials = set(zip(new["topic"], new["data"], strict=True))
    kept_trials = trial_order.keys() - measured_trials  # without rows of trials that were removed
    old = old[[trial in kept_trials for trial in zip(old["topic"], old["data"], strict=True)]]
    merged = new if old.empty else pd.concat([old, new], ignore_index=True)
    order = [trial_order[trial] for trial in zip(merged["topic"], merged["data"], strict=True)]
    return merged.assign(order=order).sort_values("order", kind="stable").drop(columns="order")


def run_trials(topic: str, jobs: int, draws: int | None) -> None:
    """Measure trials whose topic contains a text; the table is written after each trial."""
    with ProcessPoolExecutor(jobs) as pool:
        for trial in TRIALS:
            if topic not in trial.topic:
                continue
            table = measure_trial(trial, draws or trial.draws, pool)
            merge_rows(table).to_csv(TABLE, sep="\t", index=False)
            print(table[["number", "measured", "error", "draws", "seconds"]].to_string(index=False))


def write_expected(jobs: int, draws: int) -> None:
    """Write the means of each number over `draws` studies with signal of each kind of response."""
    rows = []
    with ProcessPoolExecutor(jobs) as pool:
        for kind in COLUMNS:
            tasks = [(kind, FIRST_OTHER + draw) for draw in range(draws)]
            study_values = pd.DataFrame(list(pool.map(values, tasks)))
            study_values = study_values.loc[:, study_values.count() >= MIN_STUDIES]
            error = study_values.std() / study_values.count() ** 0.5
            kind_rows = pd.DataFrame(
                {"value": study_values.mean(), "error": error, "draws": study_values.count()}
            )
            rows.append(kind_rows.round(5).rename_axis("number").reset_index().assign(kind=kind))
    pd.concat(rows).set_index("kind").to_csv(EXPECTED, sep="\t")


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("run", "page", "expected"))
    parser.add_argument("--topic", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int)
    options = parser.parse_args()
    if options.command == "run":
        run_trials(options.topic, options.jobs, options.draws)
    elif options.command == "expected":
        write_expected(options.jobs, options.draws or 80)
    else:
        PAGE.write_text(page(pd.read_csv(TABLE, sep="\t"), TRIALS))


if __name__ == "__main__":
    main()
