"""The fused lasso through the study: its stretches, the same splits, nothing learned from tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gathered_study import make_dataset
from settings import LINEAR, MOMENTS, SPLITS

from genesig.data.splits.draw import draw_splits
from genesig.response.covariates import Covariate
from genesig.results import Dataset, Fits, Splits
from genesig.results.splits import Chance
from genesig.selection.assess.scores import balanced_error
from genesig.selection.gather import gather
from genesig.selection.genes.export import runs, stretches_table
from genesig.selection.linear.double_loop import double_loop, fit_final, fit_subsamples

FUSED: dict[str, Any] = {**LINEAR, "penalty": "fused", "jump": 2.0}
INSIDE = range(20, 32)
"""Places of the genes of the gain, on the first of two chromosomes of forty."""


def study(seed: int = 0, n: int = 30, alone: int = 0) -> tuple[Dataset, Splits]:
    """Return a study of 80 genes in no order; a stretch of twelve is higher in the ill."""
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], n // 2)
    place = rng.permutation(80)
    X = rng.normal(size=(n, 80)) + 0.6 * y[:, None] * np.isin(place, INSIDE)
    dataset = make_dataset(X, y)
    dataset.var["chromosome"] = np.where(place < 40, "7", "X").astype(object)
    dataset.var["position"] = place.astype(float)
    dataset.var.loc[dataset.var.index[:alone], ["chromosome", "position"]] = ["", np.nan]
    return dataset, draw_splits(dataset, seed=0, **{**SPLITS, "subsamples": 4})


def outer(made: tuple[Dataset, Splits], labels: str = "observed", batch: str = "1of1",
          folds: Any = MOMENTS, **linear: Any) -> Fits:  # fmt: skip
    return double_loop(*made, labels=labels, batch=batch, folds=folds, **FUSED | linear)


def test_the_stretch_is_found_and_predicts_better_than_single_genes() -> None:
    made = study()
    fused, single = outer(made), outer(made, penalty="l1")
    place = made[0].var["position"].to_numpy()
    found = [np.isin(place[fits.indices], INSIDE).mean() for fits in (fused, single)]
    assert found[0] > 0.8 > found[1]
    y = made[0].response()[fused.test_rows]
    assert balanced_error(y, fused.scores[:, 0]) < 0.1


def test_a_shuffled_study_is_the_same_however_it_is_cut() -> None:
    made = study()
    names = [split.name for split in made[1].outer]
    whole = Fits.gather([outer(made, "permuted-001-002")], names)
    parts = [outer(made, f"permuted-00{k}-00{k}", f"{b}of2") for k in (2, 1) for b in (1, 2)]
    cut = Fits.gather(parts, names)
    for name, value in vars(whole).items():
        if np.asarray(value).dtype.kind == "f":
            np.testing.assert_allclose(getattr(cut, name), value, 1e-9, 1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(getattr(cut, name), value, err_msg=name)


def test_what_is_not_trained_on_teaches_nothing() -> None:
    made = study()
    dataset, splits = made
    before = outer(made)
    split = splits.outer[1]
    X, rows = dataset.X.copy(), dataset.rows(split.test)
    X[rows] = np.random.default_rng(1).normal(5, 9, X[rows].shape)
    after = outer((replace(dataset, X=X), replace(splits, outer=(split,))))
    for mu in range(2):
        np.testing.assert_array_equal(after.coef(0, mu)[0], before.coef(1, mu)[0])
        np.testing.assert_allclose(after.coef(0, mu)[1], before.coef(1, mu)[1], rtol=1e-9)


@pytest.mark.parametrize("folds", [MOMENTS, [{"step": "variance_filter", "keep": 0.5}, *MOMENTS]])
def test_every_fit_is_solved_also_where_a_filter_renumbers_the_genes(folds: Any) -> None:
    made = study(alone=5)
    final = fit_final(*made, folds=folds, **FUSED)
    halves = fit_subsamples(*made, folds=folds, **FUSED)
    for fits in (final, halves, outer(made, folds=folds)):
        assert np.nanmax(fits.gap) <= 1e-9
        assert len(fits.indices)


@pytest.mark.parametrize("weights", [None, "balanced"])
def test_with_covariates_and_weights_it_is_still_the_lasso_where_ends_are_free(
    weights: str | None,
) -> None:
    dataset, splits = study()
    age = np.random.default_rng(2).normal(50, 9, 30)
    held = replace(dataset.design, covariates=(Covariate("age", None),), weights=weights)
    obs = dataset.obs.assign(age=[repr(float(one)) for one in age])
    made = replace(dataset, obs=obs, design=held), splits
    fused, single = outer(made, jump=0.0), outer(made, penalty="l1")
    np.testing.assert_allclose(fused.tau_max, single.tau_max, rtol=1e-9)
    np.testing.assert_array_equal(fused.indices, single.indices)
    np.testing.assert_allclose(fused.scores, single.scores, atol=1e-6)


def gathered(made: tuple[Dataset, Splits]) -> dict[str, pd.DataFrame]:
    final = fit_final(*made, folds=MOMENTS, **FUSED)
    halves = fit_subsamples(*made, folds=MOMENTS, **FUSED)
    clusters = {"least": 0.5, "warn_above": 0.9, "merge_above": None}
    return gather(
        *made,
        [outer(made)],
        final,
        halves,
        Chance.none(),
        fdr=0.1,
        cv_frequency=0.75,
        clusters=clusters,
    )


def test_the_table_has_each_gene_of_the_signature_once() -> None:
    made = study(alone=5)
    found = gathered(made)
    table, signature = found["stretches"], found["signature"]
    assert table["genes"].sum() == len(signature)
    size = (np.sign(signature["weight"]) * signature["size"]).sum()
    assert table["contribution"].sum() == pytest.approx(size)
    best = table.iloc[0]
    assert best["chromosome"] == "7"
    assert best["genes"] >= 6
    assert min(INSIDE) - 3 <= best["start"] <= best["end"] <= max(INSIDE) + 3
    assert (np.diff(table["contribution"].abs()) <= 0).all()
    assert (table["least_cv_frequency"] <= table["cv_frequency"]).all()
    assert table["cv_frequency"].between(0, 1).all()


def test_a_study_without_places_has_no_table() -> None:
    dataset, splits = study()
    bare = replace(dataset, var=dataset.var[["symbol"]])
    final = fit_final(bare, splits, folds=MOMENTS, **LINEAR)
    with pytest.raises(Exception, match=r"data\.chromosome"):
        stretches_table(bare, pd.DataFrame(), final)


def test_runs_end_at_a_gap_and_at_a_chromosome() -> None:
    there = np.array([1, 1, 0, 1, 1, 1, 1, 0], dtype=bool)
    found = [(part.start, part.stop) for part in runs(there, np.array([0, 5]))]
    assert found == [(0, 2), (3, 5), (5, 7)]
