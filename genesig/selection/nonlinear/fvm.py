"""The Feature Vector Machine as a control: its genes, then kernel ridge on them.

Its own prediction is a weak vote, so it selects only. The order in which genes come in gives
nested lists; how many of them are used, and the weight of the ridge, is chosen on the inner folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.optim.feature_vectors import select_feature_vectors
from genesig.optim.kernels import median_distance
from genesig.optim.nonlinear.debias import Ridge
from genesig.selection.nonlinear.choice import by_class, midpoint
from genesig.selection.nonlinear.ground import Ground, NonlinearProtocol

Array = np.ndarray[Any, Any]


def fvm_scores(
    outer: Ground,
    grounds: Sequence[Ground],
    held: Sequence[tuple[Array, Array]],
    X_test: Array,
    protocol: NonlinearProtocol,
    classes: bool,
) -> tuple[Array, int]:
    """Return the score of each test row, cut as `choose` does, and the number of its genes.

    Parameters
    ----------
    outer : Ground
        The training rows of the split.
    grounds, held, protocol, classes
        As `choose` takes them.
    X_test : (m, n_genes)
    """
    errors = np.zeros((len(protocol.fvm_genes), len(protocol.lam)))
    sums = np.zeros((2, *errors.shape))
    for ground, (X, y) in zip(grounds, held, strict=True):
        scores = _scores(ground, X, protocol)[0]
        errors += np.sum(np.square(y - scores), axis=2)
        sums += by_class(scores, y)
    few, shrink = np.unravel_index(np.argmin(errors), errors.shape)
    threshold = midpoint(sums[:, few, shrink], held) if classes else 0.0
    scores, sizes = _scores(outer, X_test, protocol)
    return scores[few, shrink] - threshold, sizes[few]


def _scores(ground: Ground, X: Array, protocol: NonlinearProtocol) -> tuple[Array, list[int]]:
    """Return the scores of rows for each (number of genes, lam), (k, L, m), and the sizes."""
    sizes, lam = sorted(protocol.fvm_genes), protocol.ridge_grid()
    scores = np.full((len(sizes), len(lam), len(X)), ground.y.mean())
    if not ground.fits:
        return scores, [0 for _ in sizes]
    order = _order(ground, sizes[-1], protocol.fvm_bins)
    centre, scale = ground.X.mean(axis=0), ground.X.std(axis=0)
    Z, points = (ground.X - centre) / scale, (X[:, ground.genes] - centre) / scale
    for place, size in enumerate(sizes):
        if chosen := order[:size]:
            scores[place] = _ridge(Z[:, chosen], ground, lam, protocol).predict(points[:, chosen])
    return scores, [min(size, len(order)) for size in sizes]


def _order(ground: Ground, most: int, bins: int) -> list[int]:
    """Return the genes in the order in which they come in, at most so many.

    With few samples the information has few values: where more genes than asked for share the
    largest, none comes in, and they stand in the order of the matrix.
    """
    made = select_feature_vectors(ground.X, ground.y, n_features=most, bins=bins)
    order = made.found.order
    best = np.argsort(-made.information, kind="stable")[:most]
    return [int(gene) for gene in (order if len(order) else best)]


def _ridge(Z: Array, ground: Ground, lam: Array, protocol: NonlinearProtocol) -> Ridge:
    spread = median_distance(Z @ Z.T) or 1.0
    kernel = ground.settings.make_kernel(protocol.width[0] * spread)
    return Ridge.fit(kernel, Z, ground.y, lam)
