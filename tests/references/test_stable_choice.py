"""The choice of every training set from the definition: own error, SE, agreement and threshold.

Only the lists are genesig's, each fold by itself (scikit-learn checks them in test_double_loop);
ridge by its normal equations, losses, means and the rule by loops.
"""

import numpy as np
import pytest
import settings
from gathered_study import make_dataset
from linear_loops import nested_cross_validation
from reference_formulas import choose_by_hand
from settings import MOMENTS, linear

from genesig.data.splits.draw import draw_permutation, draw_splits
from genesig.optim.solvers import path
from genesig.optim.training import training_sets

SPLITS = settings.SPLITS | {"inner_folds": 4}
MU = [1e-6, 1e-3, 1e-2, 0.1]
STUDY_CASES = {
    "few genes": (0, "classification", {"most": 3}),
    "half the chip": (1, "classification", {"most": 20, "criterion": "log_loss"}),
    "counts, cut at the midpoint": (
        2,
        "classification",
        {"most": 5, "criterion": "balanced_error"},
    ),
    "counts, cut at zero": (
        3,
        "classification",
        {"most": 8, "criterion": "misclassification", "threshold": "zero"},
    ),
    "two mu, longest first": (4, "classification", {"most": 10, "mu_choice": [1e-2, 1e-6]}),
    "everything too long": (5, "classification", {"most": 1, "tau_min": 0.5, "tau_count": 3}),
    "numbers": (6, "regression", {"most": 10}),
    "few numbers": (7, "regression", {"most": 2, "lam": [1e-6, 1.0, 1e-2]}),
}


def make_study(seed, task):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(24, 36))
    d = int(rng.integers(40, 80))
    factor = rng.standard_normal((n, 4))
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 3, d)
    X[:, :20] += factor[:, rng.integers(0, 4, 20)]
    y = factor[:, 0] + 0.7 * rng.standard_normal(n)
    y = np.sign(y - 0.3) if task == "classification" else y
    dataset = make_dataset(X, y, task)
    return dataset, draw_splits(dataset, seed=seed, **SPLITS)


def standardised(X, y, rows):
    """Return Z and the centred response of all rows in units of the training rows."""
    return (X - X[rows].mean(axis=0)) / X[rows].std(axis=0), y - y[rows].mean()


def lists_of_fold(X, y, rows, tau, mu):
    """Return the list at each tau, by a call of the solver for this fold alone."""
    mask = np.isin(np.arange(len(y)), rows)[:, None]
    sets = training_sets(X, y[:, None], mask, centre=True, unit_variance=True)
    fits = path(
        sets,
        tau[None],
        np.full((1, 1), mu * sets.norm[0]),
        solver="landweber-newton",
        tolerance=1e-9,
    )
    return [fits.coef(0, m)[0] for m in range(len(tau))]


def ridge_scores(X, y, rows, genes, lam):
    Z, centred = standardised(X, y, rows)
    weight = lam * np.linalg.norm(Z[rows], 2) ** 2 / len(rows)
    A = Z[:, genes]
    G = A[rows].T @ A[rows] + len(rows) * weight * np.eye(len(genes))
    return y[rows].mean() + A @ np.linalg.solve(G, A[rows].T @ centred[rows])


LOSSES = {
    "squared_error": lambda y, f, cut: (y - f) ** 2,
    "log_loss": lambda y, f, cut: np.log1p(np.exp(-2 * y * f)),
    "misclassification": lambda y, f, cut: float(np.sign(f - cut) != y),
    "balanced_error": lambda y, f, cut: float(np.sign(f - cut) != y),
}


def error_by_hand(y, f, train, folds, cut, criterion):
    """Return the weighted mean of the losses of the training set and its standard error."""
    weight = {i: 1 / len(train) for i in train}
    if criterion == "balanced_error":
        weight = {i: 0.5 / np.sum(y[train] == y[i]) for i in train}
    loss = {i: LOSSES[criterion](y[i], f[i], cut) for i in train}
    error = sum(weight[i] * loss[i] for i in train)
    spread = 0.0
    for fold in folds:
        share = sum(weight[i] for i in fold)
        spread += share * (sum(weight[i] * loss[i] for i in fold) / share - error) ** 2
    return error, np.sqrt(spread / (len(folds) - 1))


def surface_by_hand(X, y, train, folds, linear_settings, searched):
    """Return error, standard error and cut (n_mu, n_tau, n_lam) and the lists of the folds."""
    Z, centred = standardised(X, y, train)
    top = 2 / len(train) * np.abs(Z[train].T @ centred[train]).max()
    tau = top * np.geomspace(1, linear_settings["tau_min"], linear_settings["tau_count"] + 1)[1:]
    lams = sorted(linear_settings["lam"])
    shape = (len(searched), len(tau), len(lams))
    error, standard_error, cut = (np.full(shape, np.nan) for _ in range(3))
    lists = []
    for m, mu in enumerate(searched):
        of_fold = [lists_of_fold(X, y, np.setdiff1d(train, fold), tau, mu) for fold in folds]
        lists.append([[fold_lists[t] for fold_lists in of_fold] for t in range(len(tau))])
        for t, lam in np.ndindex(shape[1:]):
            longest = [max(len(genes) for genes in fold_lists[: t + 1]) for fold_lists in of_fold]
            ended = [length > 2 * linear_settings["most"] for length in longest]
            f = np.full(len(y), np.nan)
            for fold, fold_lists, over in zip(folds, of_fold, ended, strict=True):
                rows = np.setdiff1d(train, fold)
                genes = fold_lists[t][:0] if over else fold_lists[t]  # what is left says the mean
                f[fold] = ridge_scores(X, y, rows, genes, lams[lam])[fold]
            means = [f[train][y[train] == c].mean() for c in (-1, 1) if (y[train] == c).any()]
            midpoint = linear_settings["threshold"] == "midpoint" and len(means) == 2
            cut[m, t, lam] = np.mean(means) if midpoint else 0.0
            if not any(ended):
                error[m, t, lam], standard_error[m, t, lam] = error_by_hand(
                    y, f, train, folds, cut[m, t, lam], linear_settings["criterion"]
                )
    return error, standard_error, cut, lists


def chosen_again(X, y, train, linear_settings, searched, surface, choice):
    """Return the first choice whose list on all training samples is not too long, or the last."""
    Z, centred = standardised(X, y, train)
    top = 2 / len(train) * np.abs(Z[train].T @ centred[train]).max()
    tau = top * np.geomspace(1, linear_settings["tau_min"], linear_settings["tau_count"] + 1)[1:]
    while True:
        at, _, mu = choice
        (genes,) = lists_of_fold(X, y, train, tau[at : at + 1], searched[mu])
        before = np.mean([len(gene_list) for gene_list in surface[2][mu][at]])
        (t, lam, m), _ = choose_by_hand(*surface, np.nextafter(before, 0), X.shape[1])
        if (
            len(genes) <= linear_settings["most"]
            or not 1 <= np.mean([*map(len, surface[2][m][t])]) < before
        ):
            return choice
        choice = t, lam, m


@pytest.mark.quick(
    "counts, cut at the midpoint-0",
    "numbers-1",
    "everything too long-0",
)
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", STUDY_CASES)
def test_every_training_set_chooses_by_the_definition(name, number):
    seed, task, changes = STUDY_CASES[name]
    dataset, splits = make_study(seed, task)
    linear_settings = linear(
        **{"mu": MU, "tau_min": 0.05, "tau_count": 6, "lam": [1e-3, 1e-1], **changes}
    )
    labels = "observed" if number == 0 else f"permuted-{number:03d}-{number:03d}"
    fits = nested_cross_validation(
        dataset, splits, labels=labels, batch="1of1", fold_steps=MOMENTS, **linear_settings
    )
    X = dataset.X[draw_permutation(dataset, splits, number)]
    y = dataset.response()
    assert fits.grid.searched.tolist() == (linear_settings["mu_choice"] or MU[:3])
    for i, split in enumerate(splits.outer):
        train = dataset.rows(split.train)
        folds = [dataset.rows(fold) for fold in split.inner]
        error, standard_error, cut, lists = surface_by_hand(
            X, y, train, folds, linear_settings, fits.grid.searched
        )
        np.testing.assert_allclose(fits.grid.error[i], error, atol=1e-9)
        np.testing.assert_allclose(fits.grid.standard_error[i], standard_error, atol=1e-9)
        surface = (error, standard_error, lists)
        (tau, lam, mu), agreed = choose_by_hand(
            *surface, linear_settings["most"], len(dataset.genes)
        )
        np.testing.assert_allclose(fits.grid.agreement[i], agreed, atol=1e-12)
        tau, lam, mu = chosen_again(
            X, y, train, linear_settings, fits.grid.searched, surface, (tau, lam, mu)
        )
        assert fits.choice[i].tolist() == [tau, lam, MU.index(fits.grid.searched[mu])]
        assert fits.threshold[i] == pytest.approx(cut[mu, tau, lam], abs=1e-9)
