"""Time and duality gap of Cox's elastic net, scikit-survival's Coxnet and glmnet.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed/cox_peers.py

Processor seconds of 30 lambda (l1 ratio .9) down to a tenth of the largest; 100 samples, 20,000
genes, Breslow's ties. Peers run with several tolerances. The gap is the largest duality gap of the
coefficients, relative to the null deviance: only fits of equal gap are comparable.
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
L1_SHARE = 0.9


def draw_study():
    """Return standardised X (N, D), times and events."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    event_time = rng.exponential(np.exp(-0.5 * X[:, :10].sum(axis=1)))
    censoring_time = rng.exponential(2, N)
    return X, np.minimum(event_time, censoring_time), event_time <= censoring_time


def genesig(X, times, events):
    """Return the training set, tau (30,), mu (30,), and the path."""
    rows = np.ones((N, 1), bool)
    scaling = {"centre": True, "unit_variance": False}
    sets = cox_sets(X, FollowUp(times, events), rows, ties="breslow", **scaling)
    tau = tau_max(sets)[0] * np.geomspace(0.999, 0.1, 30)
    mu = tau / 2 / L1_SHARE * (1 - L1_SHARE)  # so that L1_SHARE = tau / (tau + 2 mu)
    return sets, tau, mu, cox_path(sets, tau[None], mu[None], tolerance=1e-7)


def largest_gap(sets, X, B, tau, mu):
    """Return the largest relative duality gap of coefficients B (30, D) at tau and mu (30,)."""
    risk = sets.risk[0]
    Z = X[sets.rows[0]]
    zero = np.zeros(1)
    loss_data = sets.loss_data(slice(1))
    gaps = []
    for b, one_tau, one_mu in zip(B, tau, mu, strict=True):
        state = sets.start._replace(b=b[None].copy(), g=np.zeros((1, D)))
        state.eta[0, :N] = Z @ b
        state.u[0, sets.rows[0]] = evaluate(risk.terms, Z @ b).u
        np.matmul(state.u, loss_data.F.T, out=state.g)
        gap = np.zeros(1)
        levels = PathLevels(np.array([one_tau]), np.array([one_mu]), zero, zero)
        certify_sets(loss_data, state, np.arange(1), levels, gap, zero.copy())
        gaps.append(gap[0])
    return max(gaps) / risk.null_deviance


def coxnet(X, times, events, lam):
    """Yield tolerance, seconds and coefficients (30, D) of scikit-survival."""
    y = np.array(list(zip(events, times, strict=True)), dtype=[("event", bool), ("time", float)])
    for tolerance in (1e-7, 1e-9, 1e-11):
        begin = time.process_time()
        model = CoxnetSurvivalAnalysis(alphas=lam, l1_ratio=L1_SHARE, tol=tolerance, max_iter=10**6)
        B = model.fit(X, y).coef_.T
        yield f"{tolerance:g}", time.process_time() - begin, B


def glmnet(X, times, events, lam):
    """Yield threshold, seconds and coefficients (30, D) of glmnet; nothing if R lacks it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = Path(__file__).with_name("cox_by_glmnet.R")
        (folder / "x.bin").write_bytes(np.ascontiguousarray(X.T).tobytes())
        np.savetxt(folder / "y.tsv", np.column_stack([times, events]))
        np.savetxt(folder / "lambda.tsv", lam, fmt="%.17g")
        command = ["Rscript", str(script), name, str(N), str(D)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        for threshold, seconds in map(str.split, process.stdout.splitlines()):
            yield threshold, float(seconds), np.loadtxt(folder / f"{threshold}.tsv").T


if __name__ == "__main__":
    X, times, events = draw_study()
    genesig(X, times, events)  # compiles
    begin = time.process_time()
    sets, tau, mu, fits = genesig(X, times, events)
    genesig_seconds = time.process_time() - begin
    print(f"genesig          {genesig_seconds:.2f} s, gap {np.max(fits.gap):.1e}")
    for name, peer in (("coxnet", coxnet), ("glmnet", glmnet)):
        for tolerance, seconds, B in peer(X, times, events, tau / 2 / L1_SHARE):
            ratio = seconds / genesig_seconds
            gap = largest_gap(sets, X, B, tau, mu)
            print(f"{name:8s} {tolerance:7s} {seconds:.2f} s, {ratio:.1f} times, gap {gap:.1e}")
