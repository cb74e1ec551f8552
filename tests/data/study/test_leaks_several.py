"""Genes that hold the label of several classes are found in any order of the classes."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genesig.data.study.label_genes_check import check_label_genes
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.results import Design

Array = np.ndarray[Any, Any]
CLASS_NAMES = ("a", "b", "c")


def _messages(X: Array, y: Array, names: tuple[str, ...] = CLASS_NAMES) -> list[str]:
    obs = pd.DataFrame(
        {"label": [CLASS_NAMES[k] for k in y]}, index=[f"s{k}" for k in range(len(y))]
    )
    design = Design("label", "classification", names, None, None)
    genes = [f"g{k}" for k in range(X.shape[1])]
    problems = check_label_genes(Expression(X, genes, []), Sheet(obs, design, []), "e.tsv")
    return [problem.message for problem in problems]


def _drawn(seed: int, n: int = 30, d: int = 40) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.permutation(np.arange(n) % 3)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_one_value_for_each_class_is_the_label_in_any_order(order: tuple[int, ...]) -> None:
    X, y = _drawn(1)
    X[:, 3] = np.array([5.5, 1.0, 9.25])[list(order)][y]
    for names in permutations(CLASS_NAMES):
        (message,) = _messages(X, y, names)
        assert message.startswith("gene 'g3' equals the label 'label' (one value for each class)")


def test_a_gene_that_nearly_follows_the_classes_is_named_in_any_order() -> None:
    X, y = _drawn(2)
    X[:, 3] = np.array([0.0, 9.0, 1.0])[y] + 0.1 * X[:, 3]
    (message,) = _messages(X, y)
    assert message.startswith(
        "gene 'g3' nearly equals the label 'label' (multiple correlation above"
    )


def test_a_gene_that_follows_the_numbers_of_the_classes_is_no_worse_than_another() -> None:
    X, y = _drawn(3)
    X[:, 3] = y + 0.5 * X[:, 3]
    assert _messages(X, y) == []


def test_leak_measure_of_two_classes_equals_the_correlation() -> None:
    from genesig.data.study.label_genes_check import _multiple_correlations, correlations

    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 15))
    y = np.repeat([-1.0, 1.0], 10)
    X[rng.random(X.shape) < 0.1] = np.nan
    member = y[:, None] == np.array([-1.0, 1.0])
    np.testing.assert_allclose(
        _multiple_correlations(X, member), np.abs(correlations(X, y)), atol=1e-12
    )


def test_noise_is_named_in_few_studies() -> None:
    assert sum(bool(_messages(*_drawn(seed, n=12, d=500))) for seed in range(60)) <= 2


def test_a_gene_that_the_classes_were_cut_from_separates_them_in_any_order() -> None:
    X, _ = _drawn(5, n=45)
    y = np.searchsorted(np.quantile(X[:, 3], [1 / 3, 2 / 3]), X[:, 3])
    for order in permutations(range(3)):
        (message,) = _messages(X, np.array(order)[y])
        assert message.startswith(
            "gene 'g3' separates the classes without error, and no other comes"
        )


def test_gene_with_a_close_rival_is_not_warned_of() -> None:
    X, _ = _drawn(6, n=45)
    y = np.searchsorted(np.quantile(X[:, 3], [1 / 3, 2 / 3]), X[:, 3])
    assert _messages(X, y) != []
    X[:, 7] = X[:, 3]
    upper, lower = np.argsort(X[:, 3])[14:16]
    X[[upper, lower], 7] = X[[lower, upper], 7]
    assert _messages(X, y) == []
