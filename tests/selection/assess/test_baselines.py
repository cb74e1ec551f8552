"""Baselines keep their laws and equal scikit-learn's estimators."""

from dataclasses import replace

import numpy as np
import pytest
from gathered_study import make_dataset, make_splits, make_study
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import ElasticNet, LogisticRegression, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from genesig.models import baselines, top_genes
from genesig.models.baselines import BASELINES, nearest_centroid, svm_classes
from genesig.models.lasso import (
    ELASTIC_NET_L1_SHARES,
    LASSO_L1_SHARES,
    TAU_FRACTIONS,
    logistic_lasso_path,
)
from genesig.optim.cox.risk_sets import RiskSets, score_test
from genesig.response.kinds import martingale_residuals
from genesig.selection.assess.baseline_scores import run_baselines

STANDARDISING_STEPS = [{"step": "centre"}, {"step": "unit_variance"}]
CHOSEN_INSIDE = ("t_test_lda", "shrunken_centroids", "gradient_boosting", "compound_covariate")
MEMBERS = [(name, task) for name, tasks in BASELINES.items() for task in tasks]


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(baselines, "N_TREES", 101)


RESPONSE = {
    "classification": lambda rng, n: np.where(np.arange(n) % 3 == 0, 1.0, -1.0),
    "several_classes": lambda rng, n: np.arange(n) % 3.0,
    "regression": lambda rng, n: rng.standard_normal(n),
    "survival": lambda rng, n: np.array(
        [*zip(np.exp(rng.standard_normal(n)), np.arange(n) % 4 > 0, strict=True)],
        dtype=[("time", float), ("event", bool)],
    ),
}


def told(y):
    """Return the response, or for times the risk of an early event."""
    return y if y.dtype.names is None else -np.log(y["time"])


def problem(task, seed=0, n=30, d=60, signal=1.5):
    """Return training rows, responses, test rows and inner folds; the first 5 features tell."""
    rng = np.random.default_rng(seed)
    y = RESPONSE[task](rng, n + 10)
    X = rng.standard_normal((n + 10, d))
    X[:, :5] += signal * told(y)[:, None]
    return X[:n], y[:n], X[n:], [np.arange(k, n, 4) for k in range(4)], y[n:]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("name", "task"), MEMBERS)
def test_one_score_per_row_that_depends_on_that_row_alone(name, task):
    X, y, X_test, inner, _ = problem(task)
    score = BASELINES[name][task]
    f = score(X, y, X_test, inner, 1)
    assert f.shape == ((10, 3) if task == "several_classes" else (10,))
    assert np.isfinite(f).all()
    changed = X_test.copy()
    changed[5:] *= -3
    np.testing.assert_allclose(score(X, y, changed, inner, 1)[:5], f[:5], atol=1e-12)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "task"), MEMBERS)
def test_inputs_are_not_modified_and_the_state_decides(name, task):
    X, y, X_test, inner, _ = problem(task)
    originals = X.copy(), y.copy(), X_test.copy()
    score = BASELINES[name][task]
    f = score(X, y, X_test, inner, 1)
    np.testing.assert_array_equal(score(X, y, X_test, inner, 1), f)
    for before, after in zip(originals, (X, y, X_test), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("name", "task"), [member for member in MEMBERS if member[0] != "dummy"])
def test_a_strong_signal_is_found_with_the_right_sign(name, task):
    X, y, X_test, inner, y_test = problem(task)
    f = BASELINES[name][task](X, y, X_test, inner, 1)
    if task == "several_classes":
        assert np.mean(f.argmax(axis=1) == y_test) > 0.65
    else:
        assert np.corrcoef(f, told(y_test))[0, 1] > 0.7


def test_the_dummy_knows_the_majority_and_the_mean():
    X, y, X_test, inner, _ = problem("classification")
    assert BASELINES["dummy"]["classification"](X, y, X_test, inner, 1).tolist() == [-1.0] * 10
    X, y, X_test, inner, _ = problem("regression")
    scores = BASELINES["dummy"]["regression"](X, y, X_test, inner, 1)
    np.testing.assert_allclose(scores, y.mean())


def left_out_scores(model, X, y, inner):
    f = np.empty(len(y))
    for fold in inner:
        train_rows = np.setdiff1d(np.arange(len(y)), fold)
        f[fold] = model.fit(X[train_rows], y[train_rows]).decision_function(X[fold])
    return f


def midpoint(y, f):
    return (f[y < 0].mean() + f[y > 0].mean()) / 2


def test_ridge_is_scikit_learns_at_the_penalty_of_the_smallest_inner_error():
    X, y, X_test, inner, _ = problem("classification")
    models = [
        RidgeClassifier(alpha=a) for a in np.linalg.norm(X, 2) ** 2 * np.geomspace(10, 1e-4, 6)
    ]
    f = [left_out_scores(model, X, y, inner) for model in models]
    best = int(np.argmin([np.mean((fold_scores - y) ** 2) for fold_scores in f]))
    expected = models[best].fit(X, y).decision_function(X_test) - midpoint(y, f[best])
    scores = BASELINES["ridge"]["classification"](X, y, X_test, inner, 1)
    np.testing.assert_allclose(scores, expected, atol=1e-8)


def most(X, residuals):
    """Return max_j |z_j'r| over the centred features: tau is a share of what follows from it."""
    return np.abs((X - X.mean(axis=0)).T @ residuals).max()


def odds_by_scikit_learn(X, y, tau):
    C = 1 / (tau * most(X, y > 0))
    return LogisticRegression(l1_ratio=1, solver="saga", C=C, tol=1e-5, max_iter=10**5).fit(X, y)


@pytest.mark.slow
def test_the_l1_logistic_model_is_scikit_learns_at_the_tau_of_the_smallest_inner_loss():
    X, y, X_test, inner, _ = problem("classification", signal=0.4)
    left_out = np.empty((len(TAU_FRACTIONS), len(y)))
    for fold in inner:
        train_rows = np.setdiff1d(np.arange(len(y)), fold)
        for f, tau in zip(left_out, TAU_FRACTIONS, strict=True):
            f[fold] = odds_by_scikit_learn(X[train_rows], y[train_rows], tau).decision_function(
                X[fold]
            )
    best = int(np.argmin(np.logaddexp(0, -y * left_out).mean(axis=1)))
    assert 0 < best < len(TAU_FRACTIONS) - 1
    expected = odds_by_scikit_learn(X, y, TAU_FRACTIONS[best]).decision_function(X_test)
    f = BASELINES["lasso"]["classification"](X, y, X_test, inner, 1)
    np.testing.assert_allclose(f, expected - midpoint(y, left_out[best]), atol=5e-3)


@pytest.mark.parametrize("first_class", [1.0, -1.0])
def test_the_lasso_without_a_feature_calls_one_class_where_the_odds_are_even(first_class):
    """A score of 0 would be wrong for either class, an error of 1 where chance is a half."""
    y = first_class * np.tile([1.0, -1.0], 16)
    inner = np.arange(32).reshape(4, 8)
    X = np.where(np.arange(32) < 8, 1.0, -1.0)[:, None] * y[:, None]  # misleads when left out
    f = BASELINES["lasso"]["classification"](X, y, X[:5], list(inner[:1]), 1)
    assert np.sign(f).tolist() == [first_class] * 5
    assert np.abs(f).max() < 1e-6


def test_elastic_net_uses_the_l1_share_and_tau_of_the_smallest_inner_loss():
    X, y, X_test, inner, _ = problem("classification", signal=0.4)

    def odds(rows, X_scored):
        mean = X[rows].mean(axis=0)
        return np.stack(
            [
                fit.intercept + (X_scored - mean)[:, fit.genes] @ fit.values
                for l1_share in ELASTIC_NET_L1_SHARES
                for fit in logistic_lasso_path(X[rows], y[rows], TAU_FRACTIONS, l1_share)
            ]
        )

    left_out = np.empty((len(ELASTIC_NET_L1_SHARES) * len(TAU_FRACTIONS), len(y)))
    for fold in inner:
        left_out[:, fold] = odds(np.setdiff1d(np.arange(len(y)), fold), X[fold])
    best = int(np.argmin(np.logaddexp(0, -y * left_out).mean(axis=1)))
    expected = odds(np.arange(len(y)), X_test)[best] - midpoint(y, left_out[best])
    f = BASELINES["elastic_net"]["classification"](X, y, X_test, inner, 1)
    np.testing.assert_allclose(f, expected, atol=1e-8)


NETS = [("lasso", LASSO_L1_SHARES), ("elastic_net", ELASTIC_NET_L1_SHARES)]


@pytest.mark.parametrize(("name", "l1_shares"), NETS)
def test_net_of_numbers_is_scikit_learns_at_the_smallest_inner_error(name, l1_shares):
    X, y, X_test, inner, _ = problem("regression", signal=0.5)
    grid = [(l1_share, tau) for l1_share in l1_shares for tau in TAU_FRACTIONS]

    def fit(rows, l1_share, tau):
        alpha = tau * most(X[rows], y[rows]) / len(rows) / l1_share
        model = ElasticNet(alpha=alpha, l1_ratio=l1_share, tol=1e-9, max_iter=10**5)
        return model.fit(X[rows], y[rows])

    losses = np.zeros(len(grid))
    for fold in inner:
        train_rows = np.setdiff1d(np.arange(len(y)), fold)
        losses += [
            np.sum((y[fold] - fit(train_rows, *setting).predict(X[fold])) ** 2) for setting in grid
        ]
    expected = fit(np.arange(len(y)), *grid[np.argmin(losses)]).predict(X_test)
    f = BASELINES[name]["regression"](X, y, X_test, inner, 1)
    np.testing.assert_allclose(f, expected, atol=1e-3)


@pytest.mark.slow_cases("lasso-l1_shares0")
@pytest.mark.parametrize(("name", "l1_shares"), NETS)
def test_cox_net_is_scikit_survivals_at_the_largest_left_out_likelihood(name, l1_shares):
    linear = pytest.importorskip("sksurv.linear_model")
    X, y, X_test, inner, _ = problem("survival", signal=0.5)

    def path(rows):
        alphas = TAU_FRACTIONS * most(X[rows], martingale_residuals(y[rows])) / len(rows)
        return np.hstack(
            [
                linear.CoxnetSurvivalAnalysis(
                    alphas=alphas / l1_share, l1_ratio=l1_share, tol=1e-12, max_iter=10**6
                )
                .fit(X[rows], y[["event", "time"]][rows].copy())
                .coef_
                for l1_share in l1_shares
            ]
        )

    def likelihood(rows, eta):
        risk_sets = RiskSets.from_times(y["time"][rows], y["event"][rows], "efron")
        return risk_sets.log_likelihood(eta[rows][risk_sets.order])

    gained = 0.0
    all_rows = np.arange(len(y))
    for fold in inner:
        train_rows = np.setdiff1d(all_rows, fold)
        eta = X @ path(train_rows)
        gained = gained + likelihood(all_rows, eta) - likelihood(train_rows, eta)
    best = int(np.argmax(gained))
    assert best > 0
    expected = (X_test - X.mean(axis=0)) @ path(all_rows)[:, best]
    f = BASELINES[name]["survival"](X, y, X_test, inner, 1)
    np.testing.assert_allclose(f, expected, atol=1e-3)


def test_nearest_centroid_decides_as_scikit_learn_does():
    X, y, X_test, inner, _ = problem("classification", signal=0.2)
    expected = NearestCentroid().fit(X, y).predict(X_test)
    np.testing.assert_array_equal(np.sign(nearest_centroid(X, y, X_test, inner, 1)), expected)
    low, high = (X[y == c].mean(axis=0) for c in (-1, 1))
    distance = np.sum((X_test - low) ** 2, axis=1) - np.sum((X_test - high) ** 2, axis=1)
    np.testing.assert_allclose(nearest_centroid(X, y, X_test, inner, 1), distance / X.shape[1])


def balanced_problem(n_classes, d=60):
    """Return a problem whose four inner folds all have the same number of samples of each class."""
    rng = np.random.default_rng(3)
    class_index = np.arange(48) // 4 % n_classes
    y = np.array([-1.0, 1.0])[class_index] if n_classes == 2 else class_index.astype(float)
    X = rng.standard_normal((60, d))
    X[:48, :8] += 0.7 * rng.standard_normal((n_classes, 8))[class_index]
    return X[:48], y, X[48:], [np.arange(k, 48, 4) for k in range(4)]


def search(model, grid, X, y, inner):
    folds = [(np.setdiff1d(np.arange(len(y)), fold), fold) for fold in inner]
    return GridSearchCV(model, grid, cv=folds, scoring="balanced_accuracy").fit(X, y)


def centred(scores):
    return scores - scores.mean(axis=1, keepdims=True) if scores.ndim > 1 else scores


@pytest.mark.slow_cases("2")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_t_test_lda_equals_the_pipeline_of_scikit_learn(n_classes):
    X, y, X_test, inner = balanced_problem(n_classes, d=120)
    analysis = LinearDiscriminantAnalysis(
        solver="lsqr", shrinkage="auto", priors=np.full(n_classes, 1 / n_classes)
    )
    pipeline = make_pipeline(SelectKBest(f_classif), analysis)
    model = search(pipeline, {"selectkbest__k": top_genes.N_GENES}, X, y, inner)
    f = top_genes.t_test_lda(X, y, X_test, inner, 1)
    np.testing.assert_allclose(f, centred(model.decision_function(X_test)), atol=1e-8)
    assert len(set(model.cv_results_["mean_test_score"])) > 1


@pytest.mark.parametrize(("n", "d", "n_classes"), [(4, 10, 2), (6, 50, 3), (12, 100, 3), (8, 1, 2)])
def test_discriminant_of_few_or_constant_values_equals_that_of_scikit_learn(n, d, n_classes):
    rng = np.random.default_rng(7)
    X = 5 + rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    y = np.arange(n) % n_classes
    X[y == 0, : d // 3] = 0.1
    X[:, : d // 4] = 3.3
    priors = np.full(n_classes, 1 / n_classes)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=priors).fit(X, y)
    coefs, intercepts = top_genes._discriminant(X, y)
    scores = centred(X @ coefs + intercepts)
    meant = model.decision_function(X)
    meant = np.column_stack([-meant, meant]) / 2 if n_classes == 2 else centred(meant)
    np.testing.assert_allclose(scores, meant, rtol=1e-9, atol=1e-9 * np.abs(meant).max())


@pytest.mark.slow_cases("2")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_shrunken_centroids_are_scikit_learns_with_the_published_scores(n_classes):
    """scikit-learn divides the distances by scales without the median that all genes share."""
    X, y, X_test, inner = balanced_problem(n_classes)
    largest = np.abs(NearestCentroid().fit(X, y).deviations_).max()
    thresholds = [*np.linspace(largest, 0, top_genes.N_THRESHOLDS + 1)[1:-1], None]

    def scores(rows, X_scored, threshold):
        model = NearestCentroid(shrink_threshold=threshold).fit(X[rows], y[rows])
        scale = model.within_class_std_dev_ + np.median(model.within_class_std_dev_)
        return -np.square((X_scored[:, None] - model.centroids_) / scale).sum(axis=2) / 2

    accuracy = np.zeros(len(thresholds))
    labels = np.unique(y)
    for fold in inner:
        train = np.setdiff1d(np.arange(len(y)), fold)
        called = [labels[scores(train, X[fold], t).argmax(axis=1)] for t in thresholds]
        accuracy += [balanced_accuracy_score(y[fold], classes) for classes in called]
    expected = scores(np.arange(len(y)), X_test, thresholds[int(np.argmax(accuracy.round(12)))])
    expected = expected[:, 1] - expected[:, 0] if n_classes == 2 else centred(expected)
    f = top_genes.shrunken_centroids(X, y, X_test, inner, 1)
    np.testing.assert_allclose(f, expected, atol=1e-8)


def test_gradient_boosting_equals_scikit_learns_but_for_its_threshold():
    X, y, X_test, inner = balanced_problem(2)
    order = np.argsort(f_classif(X, y)[0])  # fewer genes than the limit: all, in this order
    expected = {
        n_trees: GradientBoostingClassifier(
            n_estimators=n_trees, max_depth=2, max_features="sqrt", random_state=1
        )
        .fit(X[:, order], y)
        .decision_function(X_test[:, order])
        for n_trees in top_genes.N_ROUNDS
    }
    f = top_genes.boosting_classes(X, y, X_test, inner, 1)
    correlations = [np.corrcoef(f, scores)[0, 1] for scores in expected.values()]
    assert max(correlations) == pytest.approx(1, abs=1e-10)


def test_compound_covariate_weights_the_top_genes_by_their_score_test():
    X, y, X_test, inner, _ = problem("survival", n=60, signal=0.4)
    f = top_genes.compound_covariate_survival(X, y, X_test, inner, 1)
    z, _ = score_test(X, y, None, "efron")
    Z_test = (X_test - X.mean(axis=0)) / X.std(axis=0)
    sums = [
        Z_test[:, genes] @ z[genes]
        for genes in (np.argsort(np.abs(z))[-n_genes:] for n_genes in top_genes.N_GENES)
    ]
    correlations = [np.corrcoef(f, scores)[0, 1] for scores in sums]
    assert max(correlations) == pytest.approx(1, abs=1e-10)


@pytest.mark.slow_cases(
    "gradient_boosting-several_classes",
    "gradient_boosting-regression",
    "t_test_lda-several_classes",
)
@pytest.mark.parametrize(
    ("name", "task"), [member for member in MEMBERS if member[0] in CHOSEN_INSIDE]
)
def test_scores_of_an_inner_fold_do_not_depend_on_its_responses(name, task, monkeypatch):
    """Otherwise the number of genes, trees or the threshold would be chosen with a leak."""
    X, y, X_test, inner, _ = problem(task)
    calls = []
    held_out_scores = top_genes._held_out_scores

    def record(path, X, y, folds):
        scores = held_out_scores(path, X, y, folds)
        calls.append((path, folds, scores))
        return scores

    monkeypatch.setattr(top_genes, "_held_out_scores", record)
    BASELINES[name][task](X, y, X_test, inner, 1)
    ((path, folds, scores),) = calls
    changed = y.copy()
    changed[folds[0]] = np.roll(y, 1)[folds[0]]
    changed_scores = held_out_scores(path, X, changed, folds)
    n_first = len(folds[0])
    np.testing.assert_array_equal(changed_scores[:, :n_first], scores[:, :n_first])
    assert (changed_scores[:, n_first:] != scores[:, n_first:]).any()


def test_the_rotation_to_the_row_space_does_not_change_the_support_vector_machine():
    X, y, X_test, inner, _ = problem("classification", d=200)
    scores = svm_classes(X, y, X_test, inner, 1)
    scale = np.mean(np.sum(X**2, axis=1))
    models = [SVC(kernel="linear", C=C / scale) for C in np.geomspace(0.01, 100, 5)]
    cut = [midpoint(y, left_out_scores(model, X, y, inner)) for model in models]
    expected = [model.fit(X, y).decision_function(X_test) for model in models]
    far = [np.abs(f - c - scores).max() for f, c in zip(expected, cut, strict=True)]
    assert min(far) < 2e-3


@pytest.mark.slow_cases("gradient_boosting", "random_forest")
@pytest.mark.parametrize(
    "name", [name for name, task in MEMBERS if task == "classification" and name != "dummy"]
)
def test_a_rare_class_is_not_given_away(name):
    """One in ten is rare; cut at 0, all but the centroids call nearly every sample frequent."""
    rng = np.random.default_rng(5)
    y = np.where(np.arange(400) % 10 == 0, 1.0, -1.0)
    X = rng.standard_normal((400, 40))
    X[:, :5] += 0.5 * y[:, None]
    inner = [np.arange(k, 100, 3) for k in range(3)]
    f = BASELINES[name]["classification"](X[:100], y[:100], X[100:], inner, 1)
    called = [np.mean(f[y[100:] == c] > 0) for c in (-1, 1)]
    assert called[0] < 0.5 < called[1]


def test_an_inner_fold_that_leaves_one_class_is_survived():
    X, y, X_test, _, _ = problem("classification")
    inner = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
    assert np.isfinite(svm_classes(X, y, X_test, inner, 1)).all()


def test_every_split_is_scored_once_with_its_own_training_rows():
    dataset, splits, _, _ = make_study(0)
    names = ["nearest_centroid", "random_forest"]
    table = run_baselines(dataset, splits, fold_steps=STANDARDISING_STEPS, baselines=names)
    assert table["model"].unique().tolist() == names
    of_one = table[table["model"] == "random_forest"]
    assert of_one.groupby("repeat")["sample"].nunique().tolist() == [24, 24]
    split = splits.outer[2]
    train = dataset.rows(split.train)
    test = dataset.rows(split.test)
    mean = dataset.X[train].mean(axis=0)
    scale = dataset.X[train].std(axis=0)
    Z = (dataset.X - mean) / scale
    expected = nearest_centroid(Z[train], dataset.response()[train], Z[test], [], 0)
    split_rows = table[(table["model"] == "nearest_centroid") & (table["split"] == split.name)]
    assert split_rows["sample"].tolist() == list(split.test)
    np.testing.assert_allclose(split_rows["score"], expected)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_genes_that_never_vary_leave_the_word_of_the_dummy(task):
    dataset, splits, _, _ = make_study(0, folds=2, repeats=1, task=task)
    flat = replace(dataset, X=np.full_like(dataset.X, 4.0))
    table = run_baselines(flat, splits, fold_steps=STANDARDISING_STEPS, baselines=list(BASELINES))
    scores = table.pivot_table(index=["split", "sample"], columns="model", values="score")
    assert set(scores) == {name for name, tasks in BASELINES.items() if task in tasks}
    assert (scores.sub(scores["dummy"], axis=0) == 0).all(axis=None)


def test_genes_that_are_constant_in_each_class_are_told_apart():
    _, y, _, inner, y_test = problem("classification")
    f = nearest_centroid(np.outer(y, [1.0, 2.0]), y, np.outer(y_test, [1.0, 2.0]), inner, 1)
    np.testing.assert_array_equal(np.sign(f), y_test)


def test_scores_do_not_depend_on_the_other_baselines():
    dataset, splits, _, _ = make_study(0, folds=2, repeats=1)
    alone = run_baselines(
        dataset, splits, fold_steps=STANDARDISING_STEPS, baselines=["random_forest"]
    )
    forest_rows = run_baselines(
        dataset, splits, fold_steps=STANDARDISING_STEPS, baselines=["ridge", "random_forest"]
    )
    forest_rows = forest_rows[forest_rows["model"] == "random_forest"].reset_index(drop=True)
    np.testing.assert_array_equal(alone["score"], forest_rows["score"])


def test_regression_leaves_out_what_exists_for_classes_only():
    dataset, splits, _, _ = make_study(0, folds=2, repeats=1, task="regression")
    names = ["dummy", "nearest_centroid", "ridge"]
    assert "regression" not in BASELINES["nearest_centroid"]
    table = run_baselines(dataset, splits, fold_steps=STANDARDISING_STEPS, baselines=names)
    assert table["model"].unique().tolist() == ["dummy", "ridge"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name for name, kinds in BASELINES.items() if "classification" in kinds and name != "dummy"],
)
def test_pure_noise_is_at_chance(name):
    """Mean held-out balanced error over 6 draws of 30 x 200 noise."""
    errors = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat([-1.0, 1.0], 15))
        dataset = make_dataset(rng.standard_normal((30, 200)), y)
        splits = make_splits(dataset, 3, 1, seed)
        table = run_baselines(dataset, splits, fold_steps=STANDARDISING_STEPS, baselines=[name])
        errors.append(
            table.groupby(dataset.response()[dataset.rows(table["sample"])])["wrong"]
            .apply(lambda part: part.astype(bool).mean())
            .mean()
        )
    assert np.mean(errors) == pytest.approx(0.5, abs=0.1)


def test_forest_votes_equal_those_of_scikit_learn():
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(8)
    X = rng.normal(size=(25, 40))
    X_test = rng.normal(size=(6, 40))
    y = np.searchsorted([-0.4, 0.4], X[:, 0]).astype(float)
    left_out, votes = baselines.forest_votes(X, y, X_test, 7)
    forest = RandomForestClassifier(baselines.N_TREES, random_state=7, oob_score=True).fit(X, y)
    if hasattr(forest, "estimators_samples_"):
        drawn = np.random.RandomState(forest.estimators_[0].random_state).randint(0, 25, 25)
        if (drawn != forest.estimators_samples_[0]).any():
            pytest.skip("this scikit-learn draws bootstrap samples in another way")
    np.testing.assert_array_equal(left_out, forest.oob_decision_function_)
    np.testing.assert_array_equal(votes, forest.predict_proba(X_test))
