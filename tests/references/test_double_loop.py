"""Both stages inside the double loop against scikit-learn, fold by fold."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import settings
from linear_loops import fit_final_model, fit_half_samples, nested_cross_validation
from settings import MOMENTS, linear
from sklearn.linear_model import ElasticNet, Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from genesig.arrays import row_entries
from genesig.data.splits.draw import draw_permutation, draw_splits
from genesig.results import Dataset, Design, Fits
from genesig.selection.linear.half_samples import N_LASSO_POINTS

LINEAR = linear(mu=[1e-3, 1e-1], mu_choice=[1e-3, 1e-1], lam=[1e-3, 1e-1], tau_min=0.1, tau_count=4)
SPLITS = settings.SPLITS | {"repeats": 2, "subsamples": 4}


def make_study(seed=0, n=30, d=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 5, d) + rng.uniform(-9, 9, d)
    y = np.where(
        X[:, 0] / X[:, 0].std() + rng.standard_normal(n) > X[:, 0].mean() / X[:, 0].std(), "b", "a"
    )
    samples = [f"s{i:02d}" for i in range(n)]
    genes = [f"g{j}" for j in range(d)]
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


FRACTIONS = np.geomspace(1, LINEAR["tau_min"], LINEAR["tau_count"] + 1)[1:]


def out_of_fold(X, y, train, inner, tau_max, mu):
    """Score each training row by the fold that left it out, over (tau, lam), by scikit-learn."""
    scores = np.full((len(FRACTIONS), len(LINEAR["lam"]), len(y)), np.nan)
    for fold in inner:
        rows = np.setdiff1d(train, fold)
        norm = units(X[rows], y[rows])[1]
        for i, fraction in enumerate(FRACTIONS):
            support = elastic_net_support(X[rows], y[rows], fraction * tau_max, mu * norm)
            for j, lam in enumerate(LINEAR["lam"]):
                if len(support):
                    f = ridge(X[rows], y[rows], support, lam * norm).predict(X[fold][:, support])
                else:
                    f = np.full(len(fold), y[rows].mean())
                scores[i, j, fold] = f
    return scores[..., train]


@pytest.mark.slow_cases(
    "0-minimal",
    "0-stable",
    "2-minimal",
)
@pytest.mark.parametrize("rule", ["stable", "minimal"])
@pytest.mark.parametrize("number", [0, 2])
def test_every_stage_agrees_with_scikit_learn(number, rule):
    dataset, splits = make_study()
    labels = "observed" if number == 0 else f"permuted-{number:03d}-{number:03d}"
    chosen = {**LINEAR, "list": rule}
    fits = nested_cross_validation(
        dataset, splits, labels=labels, batch="1of1", fold_steps=MOMENTS, **chosen
    )
    assert fits.grid.searched.tolist() == LINEAR["mu"][: 2 if rule == "stable" else 1]
    X = dataset.X[draw_permutation(dataset, splits, number)]
    y = dataset.response()
    for i, split in enumerate(splits.outer):
        train = dataset.rows(split.train)
        test = dataset.rows(split.test)
        tau_max, norm = units(X[train], y[train])
        inner = [dataset.rows(fold) for fold in split.inner]
        f = np.stack([out_of_fold(X, y, train, inner, tau_max, mu) for mu in fits.grid.searched])
        error = np.mean((y[train] - f) ** 2, axis=-1)
        np.testing.assert_allclose(fits.grid.error[i], error, atol=1e-8)
        tau, lam, chosen = fits.choice[i]
        best = error[chosen, tau] if rule == "stable" else error
        assert error[chosen, tau, lam] == pytest.approx(best.min(), abs=1e-8)
        means = [f[chosen, tau, lam, y[train] == sign].mean() for sign in (-1, 1)]
        assert fits.threshold[i] == pytest.approx(np.mean(means), abs=1e-8)
        for m, mu in enumerate(LINEAR["mu"]):
            support = elastic_net_support(X[train], y[train], FRACTIONS[tau] * tau_max, mu * norm)
            np.testing.assert_array_equal(np.sort(fits.coef(i, m)[0]), support)
            model = ridge(X[train], y[train], support, LINEAR["lam"][lam] * norm)
            rows, scores = fits.test_scores(i)
            np.testing.assert_array_equal(rows, test)
            np.testing.assert_allclose(scores[:, m], model.predict(X[test][:, support]), atol=1e-8)


def test_results_do_not_depend_on_how_splits_and_permutations_are_batched():
    dataset, splits = make_study()
    names = [split.name for split in splits.outer]

    def run(ranges, batches):
        parts = [
            nested_cross_validation(
                dataset, splits, labels=labels, batch=batch, fold_steps=MOMENTS, **LINEAR
            )
            for labels in ranges
            for batch in batches
        ]
        return Fits.gather(parts, names)

    joint_fits = run(["permuted-001-003"], ["1of1"])
    for ranges, batches in (
        (["permuted-001-001", "permuted-002-003"], ["2of2", "1of2"]),
        (["permuted-001-002", "permuted-003-003"], ["1of3", "2of3", "3of3"]),
    ):
        cut = run(ranges, batches)
        np.testing.assert_array_equal(cut.indices, joint_fits.indices)
        np.testing.assert_array_equal(cut.choice, joint_fits.choice)
        np.testing.assert_allclose(cut.values, joint_fits.values, 0, 1e-9)
        np.testing.assert_allclose(cut.scores, joint_fits.scores, 0, 1e-9)


@pytest.mark.parametrize("rule", ["stable", "minimal"])
@pytest.mark.parametrize(
    "steps", [[], [{"step": "quantile"}], [{"step": "variance_filter", "keep": 0.4}]]
)
@pytest.mark.parametrize("scale", [1e3, 1e15])
def test_nothing_fitted_depends_on_the_test_rows(steps, rule, scale):
    dataset, splits = make_study()
    linear = {**LINEAR, "list": rule}
    settings = {"labels": "observed", "batch": "1of6", "fold_steps": [*steps, *MOMENTS], **linear}
    before = nested_cross_validation(dataset, splits, **settings)
    test = dataset.rows(splits.outer[0].test)
    dataset.X[test] = scale * np.random.default_rng(0).standard_normal((len(test), 40))
    after = nested_cross_validation(dataset, splits, **settings)
    for name in ("indptr", "indices", "choice", "cv_size", "cv_agreement"):
        np.testing.assert_array_equal(before.arrays()[name], after.arrays()[name])
    # All training sets share one matrix, shifted once for accuracy, so the last bits may move.
    for name in ("cv_error", "values", "intercept", "tau_max", "norm", "threshold"):
        np.testing.assert_allclose(before.arrays()[name], after.arrays()[name], rtol=1e-11)
    assert not np.array_equal(before.scores, after.scores)


def relabelled(dataset, order):
    """Return the same study with its samples in another order."""
    return replace(dataset, X=dataset.X[order], obs=dataset.obs.iloc[order])


def test_the_order_of_samples_and_of_inner_folds_is_nothing():
    dataset, splits = make_study()
    settings = {"labels": "observed", "batch": "1of1", "fold_steps": MOMENTS, **LINEAR}
    before = nested_cross_validation(dataset, splits, **settings)
    outer = tuple(replace(s, inner=(*s.inner[1:], s.inner[0])) for s in splits.outer)
    refits_of_folds = nested_cross_validation(dataset, replace(splits, outer=outer), **settings)
    order = np.random.default_rng(0).permutation(len(dataset.samples))
    refits_of_samples = nested_cross_validation(relabelled(dataset, order), splits, **settings)
    for after in (refits_of_folds, refits_of_samples):
        for name in ("choice", "indptr", "indices"):
            np.testing.assert_array_equal(before.arrays()[name], after.arrays()[name])
        for name in ("cv_error", "cv_agreement", "threshold", "values", "scores"):
            array_before = before.arrays()[name]
            two = after.arrays()[name]
            np.testing.assert_allclose(array_before, two, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", ["minimal", "stable"])
def test_half_sample_fit_equals_a_study_of_its_samples(rule):
    """Its rows and inner folds stand in the place of those of the final model."""
    dataset, splits = make_study()
    how = {"fold_steps": MOMENTS, **LINEAR, "list": rule}
    halves = fit_half_samples(dataset, splits, **how)
    for fit, half in enumerate(splits.subsamples):
        half_fit = fit_final_model(dataset, replace(splits, final=half), **how)
        np.testing.assert_array_equal(halves.choice[fit], half_fit.choice[0])
        for mu in range(len(half_fit.mu)):
            np.testing.assert_array_equal(halves.coef(fit, mu)[0], half_fit.coef(0, mu)[0])
            np.testing.assert_allclose(halves.coef(fit, mu)[1], half_fit.coef(0, mu)[1], rtol=1e-6)


def test_each_half_has_a_list_of_scikit_learns_lasso_as_long_as_its_own():
    dataset, splits = make_study()
    protocol = {**LINEAR, "mu": [1e-9, 1e-1], "mu_choice": [1e-1], "list": "stable"}
    halves = fit_half_samples(dataset, splits, fold_steps=MOMENTS, **protocol)
    for fit, half in enumerate(splits.subsamples):
        rows = dataset.rows(half.train)
        y = dataset.response()[rows]
        size = halves.with_chosen().sizes()[fit, -1]
        for fraction in np.geomspace(0.95, LINEAR["tau_min"], N_LASSO_POINTS):
            net = Lasso(alpha=fraction * halves.grid.tau_max[fit] / 2, tol=1e-12, max_iter=200_000)
            weights = np.abs(net.fit(StandardScaler().fit_transform(dataset.X[rows]), y).coef_)
            if np.count_nonzero(weights) >= size:
                break
        expected_genes = np.argsort(-weights)[: min(int(size), np.count_nonzero(weights))]
        rival_genes = halves.lasso_lists.indices[row_entries(halves.lasso_lists.indptr, fit)]
        np.testing.assert_array_equal(rival_genes, np.sort(expected_genes))


def test_halves_and_the_final_model_test_nothing():
    dataset, splits = make_study()
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **LINEAR)
    halves = fit_half_samples(dataset, splits, fold_steps=MOMENTS, **LINEAR)
    assert final.split.tolist() == ["final"]
    assert len(final.test_rows) == 0
    assert halves.split.tolist() == [half.name for half in splits.subsamples]
    train = dataset.rows(splits.subsamples[0].train)
    assert halves.grid.tau_max[0] == pytest.approx(
        units(dataset.X[train], dataset.response()[train])[0]
    )


def test_no_subsamples_are_no_fits():
    dataset, splits = make_study()
    none = replace(splits, subsamples=())
    assert len(fit_half_samples(dataset, none, fold_steps=MOMENTS, **LINEAR)) == 0


def test_a_batch_without_splits_joins_the_others(tmp_path):
    dataset, splits = make_study()
    names = [split.name for split in splits.outer]
    settings = {"labels": "observed", "fold_steps": MOMENTS, **LINEAR}
    parts = [
        nested_cross_validation(dataset, splits, batch=f"{i}of7", **settings) for i in range(1, 8)
    ]
    assert len(parts[6]) == 0
    parts[6].save(tmp_path / "none.npz")
    parts[6] = Fits.load(tmp_path / "none.npz")
    assert Fits.gather(parts, names).split.tolist() == names
