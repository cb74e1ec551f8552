"""Time and duality gap of genesig's solver and of other solvers (peers).

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/solver.py [--runs 5] [--write]

Stage I: all folds, 30 tau from tau_max to .02 tau_max, 20 lam, mu = 1e-6 ||Z'Z||/n, standardised
within each fold. The time of genesig includes training sets, path, ridge refits and scores of
left-out samples; the time of a peer is only its path with warm starts, of the median fold times the
number of folds. The floor is 30 products X'R. Peers that are not installed are printed as such
(docs/evidence/speed.md shows how to install them); glmnet needs R. Times are processor seconds, and
ratios are of medians within one run. --write puts the tables of stage I and of the growth into
docs/evidence/speed.md.
"""

import argparse
import importlib
import resource
import time
import warnings
from collections.abc import Callable
from functools import partial
from multiprocessing import Process
from pathlib import Path as File
from statistics import median

import numpy as np
from glmnet_path import glmnet
from speed_page import markdown_table, processor_name, publish

from genesig.optim.refit import refit_scores
from genesig.optim.solution import Path, duality_gap
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets

DATA = File(__file__).parents[2] / ".." / "shared" / "data"
TAU_FRACTIONS = np.geomspace(1, 0.02, 30)
LAM = np.geomspace(1e-6, 1, 20)  # in units of ||Z'Z||/n, as mu
MU = 1e-6
NEWTON = {"solver": "landweber-newton", "tolerance": 1e-9}
PEER_FOLDS = 3
STATUS = File("/proc/self/status")  # Linux


def read(name: str, label: str, positive: str, part: str | None = None, log: bool = True) -> tuple:
    """Return X and y = ±1 of a data set; part: of `original_split`; log: logarithms to base 2."""
    import pandas as pd  # here, as its memory must not count in the growth table

    table = pd.read_csv(DATA / f"{name}_expression.tsv.gz", sep="\t", index_col=0)
    samples = pd.read_csv(DATA / f"{name}_samples.tsv", sep="\t", index_col=0)
    if part:
        samples = samples[samples["original_split"] == part]
    y = np.where(samples[label] == positive, 1.0, -1.0)
    X = table[samples.index].to_numpy(float).T
    return np.log2(X.clip(16, 16000)) if log else X, y


def draw_factors(n: int, d: int, factors: int = 40) -> tuple:
    """Return X (n, d) with common factors, and y = ±1 in turn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, factors)) @ rng.normal(size=(factors, d)) / np.sqrt(factors)
    return X + rng.normal(size=(n, d)), np.where(np.arange(n) % 2, 1.0, -1.0)


def folds(n: int, k: int) -> np.ndarray:
    """Return masks (n, k) of the training samples of each fold."""
    fold_of_sample = np.random.default_rng(0).permutation(n) % k
    return fold_of_sample[:, None] != np.arange(k)


LEUKEMIA = "leukemia 38 × 7,129, leave-one-out"
PUBLISHED = {
    LEUKEMIA: lambda: (*read("golub_1999", "diagnosis", "ALL", "train"), 38),
    "prostate 102 × 12,600, 10-fold": lambda: (*read("singh_2002", "tissue", "Tumor"), 10),
    "synthetic 30 × 54,675, leave-one-out": lambda: (*draw_factors(30, 54675), 30),
}
"""Name -> function that returns X, y and the number of folds."""
SYNTHETIC = {
    f"{n} × {d:,}": partial(lambda n, d: (*draw_factors(n, d), 10), n, d)
    for n, d in ((100, 5500), (180, 12500), (200, 5000), (400, 5000), (800, 5000))
}
"""The same of synthetic data sets by ascending number of samples."""


def seconds(call: Callable[[], object], runs: int) -> float:
    """Return the median of the processor seconds of some calls."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return median(times)


def make_training_sets(X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> TrainingSets:
    """Return a standardised training set for each mask of rows (n, k)."""
    Y = np.repeat(y[:, None], rows.shape[1], axis=1)
    return training_sets(X, Y, rows, centre=True, unit_variance=True)


def stage_one(X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Fit and score all folds; return the relative duality gaps (k, n_tau)."""
    sets = make_training_sets(X, y, rows)
    fits = path_of(sets)
    refit_scores(sets, fits, sets.norm[:, None] * LAM, ~sets.rows)
    return fits.gap


def path_of(sets: TrainingSets) -> Path:
    """Return the path of all folds by genesig."""
    return path(sets, sets.tau_max[:, None] * TAU_FRACTIONS, MU * sets.norm[:, None], **NEWTON)


def multiply(sets: TrainingSets) -> None:
    """Multiply X with one response of each fold, as often as the path has tau."""
    R = np.ascontiguousarray(sets.Y.T)
    X = sets.X
    for _ in TAU_FRACTIONS:
        R @ X


def elastic_net(Z, y, tau, mu, module, **options):
    """Return the coefficients at the last tau by the class ElasticNet of a module."""
    ElasticNet = importlib.import_module(module).ElasticNet
    model = ElasticNet(fit_intercept=False, warm_start=True, tol=1e-7, **options)
    for t in tau:
        model.set_params(alpha=mu + t / 2, l1_ratio=t / 2 / (mu + t / 2)).fit(Z, y)
    return model.coef_


def adelie(Z, y, tau, mu, tol=1e-12):
    """Return the coefficients at the last tau by adelie."""
    import adelie as ad

    alpha = tau / 2 / (tau / 2 + mu)  # nearly the same along the path, as mu is small
    state = ad.grpnet(
        X=ad.matrix.dense(Z, n_threads=1),
        glm=ad.glm.gaussian(y=y),
        alpha=float(alpha[-1]),
        lmda_path=tau / 2 + mu,
        intercept=False,
        tol=tol,
        progress_bar=False,
        early_exit=False,
    )
    return state.betas[-1].toarray().ravel()


# Name -> function of Z, y, tau and mu: coefficients, or coefficients and seconds.
PEERS = {
    "adelie, tol 1e-14": partial(adelie, tol=1e-14),
    "adelie, tol 1e-12": adelie,
    "glmnet, thresh 1e-14": partial(glmnet, thresh=1e-14),
    "glmnet, thresh 1e-7": glmnet,
    "celer, 1e-7": partial(elastic_net, module="celer"),
    "scikit-learn, 1e-7": partial(elastic_net, module="sklearn.linear_model", max_iter=100_000),
    "skglm, 1e-7": partial(elastic_net, module="skglm"),
}


def peer_cell(peer: Callable, sets: TrainingSets, stage: Callable[[], object]) -> str:
    """Return a cell: seconds of a peer's path over all folds, its largest gap, ratio to genesig.

    Three folds of the peer alternate with `stage`, the whole stage I by genesig.
    """
    times = []
    stage_times = []
    gaps = []
    for k in range(PEER_FOLDS):
        rows = sets.rows[:, k]
        Z = np.asfortranarray(sets.standardised(k)[rows])
        y = sets.Y[rows, k]
        tau = sets.tau_max[k] * TAU_FRACTIONS
        mu = MU * sets.norm[k]
        try:
            if k == 0:
                peer(Z, y, tau[:2], mu)  # compiles
        except ImportError:
            return "not installed"
        stage_times.append(seconds(stage, 1))
        begin = time.process_time()
        peer_result = peer(Z, y, tau, mu)
        process_seconds = time.process_time() - begin
        coef, peer_seconds = (
            peer_result if isinstance(peer_result, tuple) else (peer_result, process_seconds)
        )
        times.append(peer_seconds)
        gaps.append(duality_gap(Z, y, coef, tau[-1], mu))
    total = median(times) * sets.rows.shape[1]
    return f"{rounded(total)} ({gap_text(max(gaps))}): {rounded(total / median(stage_times))} ×"


def rounded(value: float) -> str:
    """Return a number with two digits, or as an integer."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:#.2g}"


def gap_text(gap: float) -> str:
    """Return a gap with one digit, such as 2e-7."""
    return f"{gap:.0e}".replace("e-0", "e-")


def stage_one_column(load: Callable[[], tuple], runs: int) -> list[str]:
    """Return the cells of a data set: genesig, its path, the peers and the floor."""
    X, y, n_folds = load()
    rows = folds(len(y), n_folds)
    stage = partial(stage_one, X, y, rows)
    gap = stage()  # compiles
    ours = seconds(stage, runs)
    sets = make_training_sets(X, y, rows)
    products = seconds(lambda: multiply(sets), runs)
    return [
        f"{rounded(ours)} ({gap_text(gap.max())})",
        rounded(seconds(lambda: path_of(sets), runs)),
        *(peer_cell(peer, sets, stage) for peer in PEERS.values()),
        f"{rounded(products)}: 1/{rounded(ours / products)}",
    ]


def stage_one_table(head: str, jobs: dict[str, Callable[[], tuple]], runs: int) -> str:
    """Return the table of stage I, a column for each data set."""
    columns = [
        [head, "genesig", "its path alone", *PEERS, "floor: 30 products X'R"],
        *([job, *stage_one_column(load, runs)] for job, load in jobs.items()),
    ]
    return markdown_table(list(zip(*columns, strict=True)))


def print_stage_two(runs: int) -> None:
    """Print the time of paths of growing mu at three tau, and their numbers of genes."""
    X, y, _ = PUBLISHED[LEUKEMIA]()
    sets = make_training_sets(X, y, np.ones((38, 1), dtype=bool))
    mu = sets.norm[:, None] * np.geomspace(1e-6, 100, 25)
    print("\nstage II, 25 mu from 1e-6 to 100, 38 x 7129")
    for share in (0.3, 0.1, 0.02):
        fits = path(sets, share * sets.tau_max, mu, **NEWTON)
        run_seconds = seconds(lambda: path(sets, share * sets.tau_max, mu, **NEWTON), runs)  # noqa: B023
        sizes = fits.sizes()[0]
        print(
            f"  tau {share:4}: {run_seconds:.3f} s, {sizes[0]} to {sizes[-1]} genes,"
            f" gap {fits.gap.max():.0e}"
        )


def growth_table() -> str:
    """Return the table of time and memory by the number of features."""
    compiler = Process(target=load_solver)  # apart, as its memory must not count
    compiler.start()
    compiler.join()
    load_solver()
    memory = "peak memory, interpreter included"
    cells = [["features, n = 100, 10-fold", "time", memory, "3 × X + 200 MB"]]
    for d in (5_000, 50_000, 500_000):
        X, y = draw_factors(100, d)
        forget_peak()
        begin = time.process_time()
        stage_one(X, y, folds(100, 10))
        run_seconds = time.process_time() - begin
        limit = 3 * X.nbytes / 2**20 + 200
        cells.append([f"{d:,}", f"{run_seconds:.2f} s", f"{peak():,.0f} MB", f"{limit:,.0f} MB"])
    return markdown_table(cells)


def load_solver() -> None:
    """Load the compiled code, or compile it if the cache lacks it, by a small stage I."""
    stage_one(*draw_factors(20, 50), folds(20, 10))


def forget_peak() -> None:
    """Let the peak memory count from now on, without the memory that made the data."""
    if STATUS.exists():
        STATUS.with_name("clear_refs").write_text("5")


def peak() -> float:
    """Return the peak of resident memory in MB, interpreter and libraries included."""
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if "VmHWM" in line)
        return int(line.split()[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def print_three_solvers() -> None:
    """Print time and genes of three solvers at three tau, on raw values and logarithms."""
    for log in (False, True):
        X, y = read("golub_1999", "diagnosis", "ALL", "train", log=log)
        sets = make_training_sets(X, y, np.ones((38, 1), dtype=bool))
        print(f"\nthree solvers, one fit each, 38 x 7129 {'log2' if log else 'raw'}, mu = 1e-6")
        for share in (0.5, 0.1, 0.02):
            compare_solvers(sets, share)


def compare_solvers(sets: TrainingSets, share: float) -> None:
    """Print time and genes of three solvers at `share` of tau_max, beside the first solver."""
    tau = share * sets.tau_max
    exact = None
    for solver in ("landweber-newton", "landweber-nested", "landweber"):
        begin = time.process_time()
        fit = path(sets, tau, MU * sets.norm, solver=solver, tolerance=1e-9)
        run_seconds = time.process_time() - begin
        exact = fit if exact is None else exact
        n_missing = len(np.setdiff1d(exact.indices, fit.indices))
        n_additional = len(np.setdiff1d(fit.indices, exact.indices))
        print(
            f"  tau {share:4} {solver:17}{run_seconds:9.4f} s, {len(fit.indices):4} genes,"
            f" symmetric difference {n_missing + n_additional:3} ({n_missing} left out,"
            f" {n_additional} too many), gap {fit.gap[0, 0]:.0e}, {fit.iterations[0, 0]} iterations"
        )


def main() -> None:
    """Print the tables; with --write, put the tables of the page into it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the tables into the page")
    options = parser.parse_args()
    thread = f"one thread of {processor_name()}"
    growth = growth_table()  # first, while the process holds little else
    publish("growth", growth, options.write)
    for section, head, jobs in (
        ("solvers", f"software, {thread}", PUBLISHED),
        ("samples", f"samples × features, {thread}", SYNTHETIC),
    ):
        publish(section, stage_one_table(head, jobs, options.runs), options.write)
    print_stage_two(options.runs)
    print_three_solvers()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
