"""Both stages inside the double loop against scikit-learn, fold by fold."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from genesig.data.splits.draw import draw_splits
from genesig.data.splits.permute import permutation
from genesig.results import Dataset, Design, Fits
from genesig.selection.linear.double_loop import double_loop, fit_final, fit_subsamples

FOLDS = [{"step": "centre"}, {"step": "unit_variance"}]
LINEAR = {
    "tau_min": 0.1,
    "tau_count": 4,
    "lam": [1e-3, 1e-1],
    "mu": [1e-3, 1e-1],
    "criterion": "squared_error",
    "one_standard_error": False,
    "solver": "landweber-newton",
    "tolerance": 1e-9,
}
SPLITS = {
    "scheme": "stratified_kfold",
    "folds": 3,
    "repeats": 2,
    "column": None,
    "file": None,
    "inner_scheme": "stratified_kfold",
    "inner_folds": 3,
    "subsamples": 4,
    "batches": 1,
}


def make_study(seed=0, n=30, d=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 5, d) + rng.uniform(-9, 9, d)
    y = np.where(X[:, 0] / X[:, 0].std() + rng.standard_normal(n) > X[:, 0].mean() / X[:, 0].std(),
                 "b", "a")  # fmt: skip
    samples, genes = [f"s{i:02d}" for i in range(n)], [f"g{j}" for j in range(d)]
    obs = pd.DataFrame({"label": y}, index=samples)
    var = pd.DataFrame({"symbol": genes}, index=genes)
    design = Design("label", "classification", ("a", "b"), None, None)
    dataset = Dataset(X, obs, var, design, {})
    return dataset, draw_splits(dataset, seed=7, **SPLITS)


def elastic_net_support(X, y, tau, mu):
    """Select genes with scikit-learn's coordinate descent at the same objective."""
    alpha = tau / 2 + mu
    net = ElasticNet(alpha=alpha, l1_ratio=tau / 2 / alpha, tol=1e-12, max_iter=200_000)
    return np.flatnonzero(net.fit(StandardScaler().fit_transform(X), y).coef_)


def units(X, y):
    """Return (tau_max, ||Z'Z||/n) of standardised rows."""
    Z = StandardScaler().fit_transform(X)
    tau_max = 2 / len(y) * np.abs(Z.T @ (y - y.mean())).max()
    return tau_max, np.linalg.norm(Z, 2) ** 2 / len(y)


def ridge(X, y, support, lam):
    return make_pipeline(StandardScaler(), Ridge(alpha=len(y) * lam)).fit(X[:, support], y)


def surface(X, y, train, inner, tau_max):
    """Compute the mean validation error over (tau, lam) with scikit-learn alone."""
    fractions = np.geomspace(1, LINEAR["tau_min"], LINEAR["tau_count"] + 1)[1:]
    error = np.zeros((len(fractions), len(LINEAR["lam"])))
    for fold in inner:
        rows = np.setdiff1d(train, fold)
        norm = units(X[rows], y[rows])[1]
        for i, fraction in enumerate(fractions):
            support = elastic_net_support(
                X[rows], y[rows], fraction * tau_max, LINEAR["mu"][0] * norm
            )
            for j, lam in enumerate(LINEAR["lam"]):
                if len(support):
                    f = ridge(X[rows], y[rows], support, lam * norm).predict(X[fold][:, support])
                else:
                    f = np.full(len(fold), y[rows].mean())
                error[i, j] += np.sum((y[fold] - f) ** 2)
    return fractions, error / len(train)


@pytest.mark.parametrize("number", [0, 2])
def test_every_stage_agrees_with_scikit_learn(number):
    dataset, splits = make_study()
    labels = "observed" if number == 0 else f"permuted-{number:03d}-{number:03d}"
    fits = double_loop(dataset, splits, labels=labels, batch="1of1", folds=FOLDS, **LINEAR)
    X, y = dataset.X[permutation(dataset, splits, number)], dataset.response()
    for i, split in enumerate(splits.outer):
        train, test = dataset.rows(split.train), dataset.rows(split.test)
        tau_max, norm = units(X[train], y[train])
        fractions, error = surface(X, y, train, [dataset.rows(f) for f in split.inner], tau_max)
        np.testing.assert_allclose(fits.cv_error[i], error, atol=1e-8)
        tau, lam = fits.choice[i]
        assert error[tau, lam] == pytest.approx(error.min(), abs=1e-8)
        for m, mu in enumerate(LINEAR["mu"]):
            support = elastic_net_support(X[train], y[train], fractions[tau] * tau_max, mu * norm)
            np.testing.assert_array_equal(np.sort(fits.coef(i, m)[0]), support)
            model = ridge(X[train], y[train], support, LINEAR["lam"][lam] * norm)
            rows, scores = fits.test(i)
            np.testing.assert_array_equal(rows, test)
            np.testing.assert_allclose(scores[:, m], model.predict(X[test][:, support]), atol=1e-8)


def as_bytes(fits, tmp_path):
    fits.save(tmp_path / "fits.npz")
    return (tmp_path / "fits.npz").read_bytes()


def test_results_do_not_depend_on_how_splits_and_permutations_are_batched(tmp_path):
    dataset, splits = make_study()
    names = [split.name for split in splits.outer]

    def run(ranges, batches):
        parts = [
            double_loop(dataset, splits, labels=labels, batch=batch, folds=FOLDS, **LINEAR)
            for labels in ranges
            for batch in batches
        ]
        return as_bytes(Fits.gather(parts, names), tmp_path)

    whole = run(["permuted-001-003"], ["1of1"])
    assert run(["permuted-001-001", "permuted-002-003"], ["2of2", "1of2"]) == whole
    assert run(["permuted-001-002", "permuted-003-003"], ["1of3", "2of3", "3of3"]) == whole


@pytest.mark.parametrize("step", [{"step": "quantile"}, {"step": "variance_filter", "keep": 0.4}])
@pytest.mark.parametrize("scale", [1e3, 1e15])
def test_nothing_fitted_depends_on_the_test_rows(step, scale):
    dataset, splits = make_study()
    settings = {"labels": "observed", "batch": "1of6", "folds": [step, *FOLDS], **LINEAR}
    before = double_loop(dataset, splits, **settings)
    test = dataset.rows(splits.outer[0].test)
    dataset.X[test] = scale * np.random.default_rng(0).standard_normal((len(test), 40))
    after = double_loop(dataset, splits, **settings)
    for name in ("indptr", "indices", "choice"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
    # All training sets share one matrix, shifted once for accuracy, so the last bits may move.
    for name in ("cv_error", "values", "intercept", "tau_max", "norm"):
        np.testing.assert_allclose(getattr(before, name), getattr(after, name), rtol=1e-11)
    assert not np.array_equal(before.scores, after.scores)


def test_the_final_model_and_the_subsamples_share_tau_and_lam():
    dataset, splits = make_study()
    final = fit_final(dataset, splits, folds=FOLDS, **LINEAR)
    halves = fit_subsamples(dataset, splits, final, folds=FOLDS, **LINEAR)
    assert final.split.tolist() == ["final"]
    assert len(final.test_rows) == 0
    assert halves.split.tolist() == [half.name for half in splits.subsamples]
    assert (halves.choice == final.choice[0]).all()
    train = dataset.rows(splits.subsamples[0].train)
    assert halves.tau_max[0] == pytest.approx(units(dataset.X[train], dataset.response()[train])[0])


def test_no_subsamples_are_no_fits():
    dataset, splits = make_study()
    final = fit_final(dataset, splits, folds=FOLDS, **LINEAR)
    none = replace(splits, subsamples=())
    assert len(fit_subsamples(dataset, none, final, folds=FOLDS, **LINEAR)) == 0


def test_a_batch_without_splits_joins_the_others(tmp_path):
    dataset, splits = make_study()
    names = [split.name for split in splits.outer]
    settings = {"labels": "observed", "folds": FOLDS, **LINEAR}
    parts = [double_loop(dataset, splits, batch=f"{i}of7", **settings) for i in range(1, 8)]
    assert len(parts[6]) == 0
    parts[6].save(tmp_path / "none.npz")
    parts[6] = Fits.load(tmp_path / "none.npz")
    assert Fits.gather(parts, names).split.tolist() == names
