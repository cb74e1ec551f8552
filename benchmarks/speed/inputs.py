"""Seconds of the readers and normalisers at the size of a chip, in this process.

    OMP_NUM_THREADS=1 python benchmarks/speed/inputs.py [RUNS]

Prints the median of the runs of each case, and the largest memory of the process in the end; then,
where R is installed, Bioconductor's seconds for the same matrix, and how far its numbers are.
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
Run = Callable[[], object]
BATCH = ["a"] * 21 + ["b"] * 21 + ["c"] * 21
COVARIATES = np.random.default_rng(1).normal(size=(63, 2))


def arrays() -> np.ndarray:
    """63 arrays of 22283 genes, with the ties that rounded intensities have."""
    return np.random.default_rng(0).lognormal(6, 1.5, (63, 22283)).round(1)


def quantile() -> Run:
    X = arrays()
    return lambda: Quantile.fit(X).transform(X)


def combat() -> Run:
    X = np.log2(arrays() + 1)
    arguments = {"batch": BATCH, "covariates": None}
    return lambda: Combat.fit(X, reference=None, **arguments).transform(X, **arguments)


def combat_with_reference_and_covariates() -> Run:
    X = np.log2(arrays() + 1)
    arguments = {"batch": BATCH, "covariates": COVARIATES}
    return lambda: Combat.fit(X, reference="c", **arguments).transform(X, **arguments)


def loess() -> Run:
    red, green = np.random.default_rng(4).lognormal(6, 1, (2, 1, 22283))
    return lambda: loess_ratios(red, green, span=0.3, iterations=4)


def rma_of_20_arrays() -> Run:
    """Synthetic arrays of the size of HG-U133 Plus 2.0: 1.35 million cells, 54,675 sets."""
    rng = np.random.default_rng(0)
    side = 1164
    n_sets = 54675
    pairs = rng.permutation(side * side)[: n_sets * 22].reshape(n_sets, 11, 2)
    layout = cdf_binary([f"{k}_at" for k in range(n_sets)], pairs, side, side)
    glow = rng.lognormal(7, 1.2, (side, side))
    files = [
        cel_binary(glow * rng.lognormal(0, 0.4, glow.shape) + rng.uniform(50, 110, glow.shape))
        for _ in range(20)
    ]

    def run() -> object:
        cels = ((str(k), parse_cel(content, str(k))) for k, content in enumerate(files))
        probes = probe_matrix(cels, parse_cdf(layout, "Toy.cdf"), layout_file="Toy.cdf")
        return rma(probes.X, sets_of(probes.names))

    return run


def series_matrix() -> Run:
    return lambda: (read_matrix(GEO), read_samples(GEO, None, None))


def time_first_look(n: int, d: int) -> Run:
    """The quality of raw samples with 30 columns in the sample table."""
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
    "quality of 100 samples, 22283 genes": partial(time_first_look, 100, 22283),
    "quality of 300 samples, 54675 genes": partial(time_first_look, 300, 54675),
    "series matrix GSE55235 with its phenotypes": series_matrix,
}


def seconds(run: Run) -> float:
    """Return the wall time of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main(runs: int) -> None:
    """Run every case whose data are here, then R."""
    for name, make_case in CASES.items():
        if make_case is series_matrix and not GEO.exists():
            continue
        run = make_case()
        print(f"{name}: {median(seconds(run) for _ in range(runs)):.2f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"largest memory: {peak:.0f} MB", flush=True)
    compare_bioconductor()


def compare_bioconductor() -> None:
    """Ask R for the same, once."""
    X = np.log2(arrays() + 1)
    with tempfile.TemporaryDirectory() as folder:
        answer = ask(X, BATCH, COVARIATES, Path(folder))
    if not isinstance(answer, Answer):
        print(f"no Bioconductor: {answer}")
        return
    plain, with_covariates = ({"batch": BATCH, "covariates": c} for c in (None, COVARIATES))
    cases: dict[str, Callable[[], np.ndarray]] = {
        "quantile": lambda: Quantile.fit(X).transform(X),
        "plain": lambda: Combat.fit(X, reference=None, **plain).transform(X, **plain),
        "both": lambda: Combat.fit(X, reference="c", **with_covariates).transform(
            X, **with_covariates
        ),
    }
    for name, run in cases.items():
        own_seconds = seconds(run)
        max_difference = np.abs(run() - answer.results[name]).max()
        theirs = answer.seconds[name]
        print(
            f"{name}: {own_seconds:.2f} s, R {theirs:.2f} s, {theirs / own_seconds:.1f} times;"
            f" {max_difference:.0e} apart"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
