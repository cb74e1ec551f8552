"""Sparse principal components keep their laws and find planted modules, as does l1-PCA."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet
from sklearn.utils.estimator_checks import parametrize_with_checks

from genesig.models.components import SparsePCA
from genesig.optim import components as sparse
from genesig.optim.components import principal_directions, search_tau, sparse_components
from genesig.optim.nonlinear.problem import InvalidProblem


@pytest.mark.one_in(4)
@parametrize_with_checks([SparsePCA(tau=0.3)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def planted(seed=0, n=60, d=100):
    """Two modules of eight columns, 0 to 7 and 20 to 27; the first varies more."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    F = rng.normal(size=(n, 2))
    X[:, :8] += 2 * F[:, :1]
    X[:, 20:28] += 1.5 * F[:, 1:]
    return (X - X.mean(axis=0)) / X.std(axis=0)


MODULES = [list(range(8)), list(range(20, 28))]


SHARES = [0.0, 0.01, 0.1, 0.4, 1.1]


@given(
    seed=st.integers(0, 1000),
    k=st.integers(1, 3),
    share=st.sampled_from(SHARES),
)
def test_the_objective_never_grows_and_both_steps_are_exact(seed, k, share):
    Z = planted(seed, n=20, d=30)
    solution = sparse_components(Z, principal_directions(Z, k), tau=share, mu=0.01)
    assert (np.diff(solution.objective) <= 1e-9).all()
    assert solution.gap <= 1e-9
    np.testing.assert_allclose(solution.A.T @ solution.A, np.eye(k), atol=1e-12)
    rng = np.random.default_rng(seed)
    target = Z.T @ (Z @ solution.B)
    for _ in range(5):  # no other orthonormal A reconstructs better
        orthonormal = np.linalg.qr(rng.normal(size=(30, k)) + 3 * solution.A)[0]
        assert np.sum(target * solution.A) >= np.sum(target * orthonormal) - 1e-9


def test_the_step_for_the_loadings_is_scikit_learns_elastic_net(monkeypatch):
    monkeypatch.setattr(sparse, "MAX_SWEEPS", 1)
    Z = planted()
    A = principal_directions(planted(), 2)
    B = sparse_components(Z, A, tau=0.2, mu=0.01).B
    ridge = 0.01 * np.linalg.norm(Z, 2) ** 2 / 60
    for k in range(2):
        y = Z @ A[:, k]
        tau = 0.2 * 2 / 60 * np.abs(Z.T @ y).max()
        alpha = ridge + tau / 2
        net = ElasticNet(alpha=alpha, l1_ratio=tau / 2 / alpha, fit_intercept=False, tol=1e-12)
        np.testing.assert_allclose(B[:, k], net.fit(Z, y).coef_, atol=1e-6)


def test_sparse_pca_without_penalty_spans_principal_components():
    Z = planted()
    solution = sparse_components(Z, principal_directions(Z, 3), tau=0.0, mu=1e-3)
    V = principal_directions(Z, 3)
    Q = np.linalg.qr(solution.B)[0]
    np.testing.assert_allclose(Q @ Q.T, V @ V.T, atol=1e-10)
    total = np.linalg.norm(Z) ** 2
    np.testing.assert_allclose(
        solution.explained(Z).sum(), np.linalg.norm(Z @ V) ** 2 / total, rtol=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_planted_modules_are_found_without_another_column(seed):
    Z = planted(seed)
    B = sparse_components(Z, principal_directions(Z, 2), tau=0.2, mu=1e-3).B
    modules_found = sorted((set(np.flatnonzero(b)) for b in B.T), key=min)
    for module_found, module in zip(modules_found, MODULES, strict=True):
        assert module_found <= set(module)
        assert len(module_found) >= 7


def l1_pca(X, k, penalty, sweeps=200):
    """The lecture's min ||X - BC||² + penalty ||C||_1, ||b_j|| = 1, one component after the other.

    c_j = soft(b_j'R_j, penalty/2) and b_j along R_j c_j', R_j what the others leave of X.
    """
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    B = U[:, :k].copy()
    C = s[:k, None] * Vt[:k]
    previous = np.inf
    for _ in range(sweeps):
        for j in range(k):
            R = X - np.delete(B, j, 1) @ np.delete(C, j, 0)
            c = R.T @ B[:, j]
            C[j] = np.sign(c) * np.maximum(np.abs(c) - penalty / 2, 0)
            if C[j].any():
                B[:, j] = R @ C[j] / np.linalg.norm(R @ C[j])
        value = np.linalg.norm(X - B @ C) ** 2 + penalty * np.abs(C).sum()
        assert value <= previous * (1 + 1e-12)
        previous = value
    return C


def test_the_lecture_s_l1_pca_finds_the_same_modules():
    C = l1_pca(planted(), 2, 10.0)
    assert sorted(np.flatnonzero(c).tolist() for c in C) == MODULES


@pytest.mark.slow
def test_tau_is_chosen_by_rows_left_out():
    Z = planted(1)
    folds = [np.arange(k, 60, 5) for k in range(5)]
    tried = search_tau(Z, 2, np.array([0.9, 0.2, 0.0]), folds, mu=1e-3, unit_variance=True)
    assert tried.chosen == 1
    assert tried.unexplained.argmin() in (1, 2)
    model = SparsePCA(2).fit(Z)
    assert (model.components_ != 0).sum() <= 20
    assert 0.8 < model.unexplained_ < 1
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert (model.components_.max(axis=1) >= -model.components_.min(axis=1)).all()


def test_tau_of_a_single_fold_has_the_smallest_error():
    Z = planted(1)
    fold = np.arange(0, 60, 5)
    tried = search_tau(Z, 2, np.array([0.9, 0.2]), [fold], mu=1e-3, unit_variance=True)
    assert tried.chosen == tried.unexplained.argmin() == 1


def test_a_component_without_a_feature_is_survived():
    Z = planted()
    solution = sparse_components(Z, principal_directions(Z, 2), tau=1.01, mu=1e-3)
    assert not solution.B.any()
    assert solution.unexplained(Z) == pytest.approx(1.0)
    assert not SparsePCA(2, tau=1.01).fit(Z).components_.any()


@pytest.mark.parametrize("settings", [{"n_components": 0}, {"tau": -0.1}, {"mu": 0.0}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(InvalidProblem, match="n_components must be"):
        SparsePCA(**settings).fit(planted())
