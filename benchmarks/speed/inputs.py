"""Time of readers and normalisers at the size of a chip.

    OMP_NUM_THREADS=1 python benchmarks/speed/inputs.py [RUNS]

It prints the median wall time of each case, and the peak memory of the process in the end; then, if
R is installed, Bioconductor's seconds for the same matrix, and the largest difference of values.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests/references"))

from array_files import cdf_binary, cel_binary
from bioconductor import Answer, ask
from rma import rma, sets_of
from settings import MOMENTS
from study_data import faultless

from genesig.data.files.affy.cel import parse_cel
from genesig.data.files.affy.layouts import parse_cdf, probe_matrix
from genesig.data.files.readers import read_matrix, read_samples
from genesig.data.quality.overview import describe_quality
from genesig.data.steps.combat import Combat
from genesig.data.steps.median_polish import Quantile
from genesig.data.steps.two_colour import loess_ratios

GEO = Path(__file__).parents[3] / "shared/data/geo/GSE55235_series_matrix.txt.gz"
Run = Callable[[], object]  # the timed part of a case, after its data are made
BATCHES = ["a"] * 21 + ["b"] * 21 + ["c"] * 21
COVARIATES = np.random.default_rng(1).normal(size=(63, 2))


def arrays() -> np.ndarray:
    """Return 63 arrays of 22283 genes, rounded, so that they have ties."""
    return np.random.default_rng(0).lognormal(6, 1.5, (63, 22283)).round(1)


def quantile() -> Run:
    X = arrays()
    return lambda: Quantile.fit(X).transform(X)


def combat() -> Run:
    X = np.log2(arrays() + 1)
    arguments = {"batch": BATCHES, "covariates": None}
    return lambda: Combat.fit(X, reference=None, **arguments).transform(X, **arguments)


def combat_with_reference_and_covariates() -> Run:
    X = np.log2(arrays() + 1)
    arguments = {"batch": BATCHES, "covariates": COVARIATES}
    return lambda: Combat.fit(X, reference="c", **arguments).transform(X, **arguments)


def loess() -> Run:
    red, green = np.random.default_rng(4).lognormal(6, 1, (2, 1, 22283))
    return lambda: loess_ratios(red, green, span=0.3, iterations=4)


def rma_of_20_arrays() -> Run:
    """Return RMA of arrays of the size of HG-U133 Plus 2.0: 1.35 million cells, 54,675 sets."""
    rng = np.random.default_rng(0)
    side = 1164
    n_sets = 54675
    pairs = rng.permutation(side * side)[: n_sets * 22].reshape(n_sets, 11, 2)
    layout = cdf_binary([f"{k}_at" for k in range(n_sets)], pairs, side, side)
    level = rng.lognormal(7, 1.2, (side, side))
    files = [
        cel_binary(level * rng.lognormal(0, 0.4, level.shape) + rng.uniform(50, 110, level.shape))
        for _ in range(20)
    ]

    def run() -> object:
        cels = ((str(k), parse_cel(content, str(k))) for k, content in enumerate(files))
        probes = probe_matrix(cels, parse_cdf(layout, "Toy.cdf"), layout_file="Toy.cdf")
        return rma(probes.X, sets_of(probes.names))

    return run


def series_matrix() -> Run:
    return lambda: (read_matrix(GEO), read_samples(GEO, None, None))


def quality(n: int, d: int) -> Run:
    """Return the quality of n raw samples with 30 columns in the sample table."""
    rng = np.random.default_rng(0)
    columns = {f"column {k}": list(rng.choice(list("abcd"), n)) for k in range(30)}
    dataset = faultless(rng, n, d, raw=True, **columns)
    return lambda: describe_quality(dataset, dataset, fold_steps=MOMENTS)


CASES = {
    "quantile, 22283 x 63": quantile,
    "ComBat, 22283 x 63": combat,
    "ComBat, reference batch and two covariates": combat_with_reference_and_covariates,
    "two-colour loess, one array of 22283": loess,
    "RMA from 20 CEL files, 54675 sets": rma_of_20_arrays,
    "quality of 100 samples, 22283 genes": partial(quality, 100, 22283),
    "quality of 300 samples, 54675 genes": partial(quality, 300, 54675),
    "series matrix GSE55235 with its phenotypes": series_matrix,
}


def seconds(run: Run) -> float:
    """Return the wall time of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main(runs: int) -> None:
    """Time every case whose data are installed, then R."""
    for name, make_case in CASES.items():
        if make_case is series_matrix and not GEO.exists():
            continue
        run = make_case()
        print(f"{name}: {median(seconds(run) for _ in range(runs)):.2f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"largest memory: {peak:.0f} MB", flush=True)
    compare_bioconductor()


def compare_bioconductor() -> None:
    """Print the seconds of R for three cases, and the largest difference of their values."""
    X = np.log2(arrays() + 1)
    with tempfile.TemporaryDirectory() as folder:
        answer = ask(X, BATCHES, COVARIATES, Path(folder))
    if not isinstance(answer, Answer):
        print(f"no Bioconductor: {answer}")
        return
    plain = {"batch": BATCHES, "covariates": None}
    adjusted = {"batch": BATCHES, "covariates": COVARIATES}
    cases: dict[str, Callable[[], np.ndarray]] = {  # names of `Answer`
        "quantile": lambda: Quantile.fit(X).transform(X),
        "plain": lambda: Combat.fit(X, reference=None, **plain).transform(X, **plain),
        "both": lambda: Combat.fit(X, reference="c", **adjusted).transform(X, **adjusted),
    }
    for name, run in cases.items():
        own_seconds = seconds(run)
        r_seconds = answer.seconds[name]
        max_difference = np.abs(run() - answer.results[name]).max()
        ratio = r_seconds / own_seconds
        times = f"{own_seconds:.2f} s, R {r_seconds:.2f} s, {ratio:.1f} times"
        print(f"{name}: {times}, largest difference {max_difference:.0e}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
