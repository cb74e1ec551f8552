"""Modules of correlated genes are found without the label and shown on the page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from gathered_study import make_dataset
from report_records import Study, arguments
from settings import MOMENTS

from genesig.report.collect import StudyResults, collect
from genesig.report.methods import methods, references
from genesig.report.page.section import Limits
from genesig.report.quality.section import quality_section
from genesig.selection.genes import modules
from genesig.selection.genes.modules import MODULE_COLUMNS, gene_modules

LIMITS = Limits(3, 50)


def planted(seed=0, n=40, d=60, group=None):
    """Genes 0 to 7 rise and fall together, 20 to 25 against 26 and 27; the label has no part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    F = rng.normal(size=(n, 2))
    X[:, :8] += 2 * F[:, :1]
    X[:, 20:26] += 2 * F[:, 1:]
    X[:, 26:28] -= 2 * F[:, 1:]
    return make_dataset(X + 7, np.tile([1.0, -1.0], n // 2), group=group)


def found(dataset, folds=MOMENTS, count=2, seed=0):
    return gene_modules(dataset, fold_steps=folds, modules=count, seed=seed)


def test_planted_modules_are_found_with_their_signs():
    table = found(planted())
    assert list(table) == MODULE_COLUMNS
    genes = table.groupby("module")["gene"].agg(list)
    first_module, second = sorted(genes, key=lambda names: "g1" not in names)
    assert set(first_module[:7]) <= {f"g{k}" for k in range(8)}
    assert set(second[:7]) <= {f"g{k}" for k in range(20, 28)}
    loading = table.set_index("gene")["loading"]
    assert loading["g21"] * loading["g26"] < 0
    np.testing.assert_allclose((table["loading"] ** 2).groupby(table["module"]).sum(), 1)
    for _, part in table.groupby("module"):
        assert part["loading"].abs().is_monotonic_decreasing
        assert part["loading"].iloc[0] > 0
    assert (table["symbol"] == "SYM" + table["gene"].str[1:]).all()
    assert 0 < table["unexplained"].iloc[0] < 1


@pytest.mark.slow
def test_modules_do_not_depend_on_the_label():
    dataset = planted()
    permuted_label = make_dataset(
        dataset.X, np.random.default_rng(1).permutation(dataset.response())
    )
    pd.testing.assert_frame_equal(found(dataset), found(permuted_label))


@pytest.mark.slow
def test_genes_keep_their_names_where_a_filter_leaves_some_out():
    folds = [{"step": "variance_filter", "keep": 0.4}, *MOMENTS]
    table = found(planted(), folds)
    assert set(table["gene"]) & {f"g{k}" for k in range(20, 28)}


def test_samples_of_a_group_are_left_out_together():
    dataset = planted(group=np.arange(40) // 2)
    for fold in modules._draw_folds(dataset, 3):
        assert len(fold) % 2 == 0
        np.testing.assert_array_equal(fold[::2] + 1, fold[1::2])
    assert sorted(np.concatenate(modules._draw_folds(planted(), 0))) == list(range(40))


@pytest.mark.slow_cases(
    "6-30",
)
@pytest.mark.parametrize(("n", "d"), [(6, 30), (4, 2)])
def test_few_samples_or_genes_have_fewer_modules(n, d):
    dataset = make_dataset(
        np.random.default_rng(0).normal(size=(n, d)), np.tile([1.0, -1.0], n // 2)
    )
    table = found(dataset, count=20)
    assert table["module"].max() <= min(n - 2, d)


def shown(data):
    """Return the table of modules of the quality section, or None."""
    items = quality_section(data, LIMITS).items
    return next((item for item in items if getattr(item, "name", "") == "modules"), None)


@pytest.mark.slow
def test_page_shows_modules_if_requested():
    inputs = arguments(Study())
    without = collect(StudyResults(**inputs))
    assert shown(without) is None
    assert not any("sparse principal" in text for text in methods(without))
    inputs["tables"]["modules"] = found(planted())
    data = collect(StudyResults(**inputs))
    table = shown(data)
    assert table.total == 2
    assert "SYM26" in str(table.rows)
    assert "−SYM" in str(table.rows)
    assert "2 modules of genes" in " ".join(methods(data))
    assert any(
        reference.startswith("Zou H, Hastie T, Tibshirani") for reference in references(data)
    )


@pytest.mark.slow
def test_page_without_modules_has_no_section():
    inputs = arguments(Study())
    inputs["tables"]["modules"] = pd.DataFrame(columns=MODULE_COLUMNS)
    data = collect(StudyResults(**inputs))
    assert shown(data) is None
    assert not any("sparse principal" in text for text in methods(data))
