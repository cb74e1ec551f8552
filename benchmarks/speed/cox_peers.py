"""Cox's elastic net beside scikit-survival's Coxnet and glmnet: seconds, and how far from minimal.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/cox_peers.py

Processor seconds of 30 lambda (l1 ratio .9) down to a tenth of the largest; 100 samples, 20,000
genes, Breslow's ties. Each at several tolerances, with the largest duality gap that its
coefficients leave, relative to the null deviance: only fits of equal gap compare.
"""

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sksurv.linear_model import CoxnetSurvivalAnalysis

from genesig.optim.cox.likelihood import certify_sets, evaluate
from genesig.optim.cox.path import cox_path, tau_max
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.likelihood_path import PathLevels

N = 100
D = 20_000
RATIO = 0.9


def study():
    """Return standardised X (N, D), times and events."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    event_time = rng.exponential(np.exp(-0.5 * X[:, :10].sum(axis=1)))
    lost = rng.exponential(2, N)
    return X, np.minimum(event_time, lost), event_time <= lost


def ours(X, times, events):
    """Return the sets, tau and mu (30,), and the path."""
    sets = cox_sets(
        X,
        FollowUp(times, events),
        np.ones((N, 1), bool),
        centre=True,
        unit_variance=False,
        ties="breslow",
    )
    tau = tau_max(sets)[0] * np.geomspace(0.999, 0.1, 30)
    mu = tau / 2 / RATIO * (1 - RATIO)
    return sets, tau, mu, cox_path(sets, tau[None], mu[None], tolerance=1e-7)


def largest_gap(sets, X, B, tau, mu):
    """Return the largest gap of coefficients B (30, D)."""
    risk = sets.risk[0]
    Z = X[sets.rows[0]]
    none = np.zeros(1)
    ground = sets.loss_data(slice(1))
    gaps = []
    for b, level, ridge in zip(B, tau, mu, strict=True):
        state = sets.start._replace(b=b[None].copy(), g=np.zeros((1, D)))
        state.eta[0, :N] = Z @ b
        state.u[0, sets.rows[0]] = evaluate(risk.terms, Z @ b).u
        np.matmul(state.u, ground.F.T, out=state.g)
        gap = np.zeros(1)
        levels = PathLevels(np.array([level]), np.array([ridge]), none, none)
        certify_sets(ground, state, np.arange(1), levels, gap, none.copy())
        gaps.append(gap[0])
    return max(gaps) / risk.null_deviance


def coxnet(X, times, events, lam):
    """Yield tolerance, seconds and coefficients of scikit-survival."""
    y = np.array(list(zip(events, times, strict=True)), dtype=[("event", bool), ("time", float)])
    for tolerance in (1e-7, 1e-9, 1e-11):
        begin = time.process_time()
        model = CoxnetSurvivalAnalysis(alphas=lam, l1_ratio=RATIO, tol=tolerance, max_iter=10**6)
        B = model.fit(X, y).coef_.T
        yield f"{tolerance:g}", time.process_time() - begin, B


def glmnet(X, times, events, lam):
    """Yield threshold, seconds and coefficients of glmnet; nothing where R has it not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = Path(__file__).with_name("cox_by_glmnet.R")
        (folder / "x.bin").write_bytes(np.ascontiguousarray(X.T).tobytes())
        np.savetxt(folder / "y.tsv", np.column_stack([times, events]))
        np.savetxt(folder / "lambda.tsv", lam, fmt="%.17g")
        process = subprocess.run(
            ["Rscript", str(script), name, str(N), str(D)],
            capture_output=True,
            text=True,
            check=False,
        )
        for threshold, seconds in map(str.split, process.stdout.splitlines()):
            yield threshold, float(seconds), np.loadtxt(folder / f"{threshold}.tsv").T


if __name__ == "__main__":
    X, times, events = study()
    ours(X, times, events)  # compiles
    begin = time.process_time()
    sets, tau, mu, fits = ours(X, times, events)
    own = time.process_time() - begin
    print(f"genesig          {own:.2f} s, gap {np.max(fits.gap):.1e}")
    for name, peer in (("coxnet", coxnet), ("glmnet", glmnet)):
        for told, seconds, B in peer(X, times, events, tau / 2 / RATIO):
            gap = largest_gap(sets, X, B, tau, mu)
            print(f"{name:8s} {told:7s} {seconds:.2f} s, {seconds / own:.1f} times, gap {gap:.1e}")
