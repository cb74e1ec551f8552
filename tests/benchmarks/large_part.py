"""Some outer training sets of a large study, measured beside what the cost model says of them.

    OPENBLAS_NUM_THREADS=1 python tests/benchmarks/large_part.py [SAMPLES GENES [SETS]]

Without any: 1000 samples, 54,675 genes (docs/large.md), 15 training sets. Simulated as in
study_cost.py; the labels are permuted, as those of nearly all training sets of such a study. Both
stages are fitted, without the lists of halves, which `chance` and each fit add.
Printed: seconds of the processor for each, those of the model, the most memory
of this process, and by what power of samples, genes and permutations the model's hours of such a
study grow where each is doubled.
"""

import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "references"))
sys.path.insert(0, str(Path(__file__).parents[1] / "materials"))

from study import outer_fits, settings, splits_of

from genesig.data.study.cost import START, Size, study_costs
from genesig.results import Dataset, Design


def config_of(permutations, **sections):
    """Return the settings of docs/large.md, and others."""
    controls = {"permutations": permutations, "permutations_per_job": 10}
    off = {"enabled": False}
    return settings({}, controls=controls, splits={"batches": 1}, nonlinear=off, **sections)


def chips(n, d):
    """Return genes of which 30 factors carry half of the variance, and permuted labels."""
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((n, 30))
    X = 8 + rng.standard_normal((n, d))
    X += factors @ (rng.standard_normal((30, d)) / np.sqrt(30))
    case = rng.permutation(factors[:, 0] + rng.standard_normal(n) > 0)
    obs = pd.DataFrame({"class": np.where(case, "case", "control")},
                       index=[f"s{i:05d}" for i in range(n)])  # fmt: skip
    var = pd.DataFrame({"symbol": ""}, index=[f"g{j}" for j in range(d)])
    return Dataset(X, obs, var, Design("class", "classification", ("control", "case"), None, None),
                   {})  # fmt: skip


def hours(n, d, permutations):
    """Return the hours that the model says of such a study."""
    size = Size(n, d, splits=20, training=n * 4 // 5)
    return sum(cost.together for cost in study_costs(config_of(permutations), size).values()) / 3600


def main(n, d, sets):
    """Measure and print."""
    stages = {"signature": {"permutations": 0}, "linear": {"model": "two_stage"}}
    config, small = config_of(0, **stages), chips(100, 500)
    outer_fits(small, splits_of(small, config), config)  # compiles
    dataset = chips(n, d)
    splits = splits_of(dataset, config)
    begin = time.process_time()
    outer_fits(dataset, replace(splits, outer=splits.outer[:sets]), config)
    each = (time.process_time() - begin) / sets
    size = Size(n, d, splits=1, training=len(splits.outer[0].train))
    said = study_costs(config, size)["fit"]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n} x {d}: {each:.3g} s for each of {sets} training sets, the model says"
        f" {said.seconds - START:.3g} s; most memory {memory:.0f} MB, of a job {said.megabytes:.0f}"
    )
    base = (n, d, 1000)
    for at, name in enumerate(("samples", "genes", "permutations")):
        twice = [2 * value if at == k else value for k, value in enumerate(base)]
        power = np.log2(hours(*twice) / hours(*base))
        print(f"hours grow with {name} by the power {power:.2f}")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [1000, 54_675, 15][len(given) :]))
