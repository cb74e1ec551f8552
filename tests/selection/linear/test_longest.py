"""Nested lists stop at the longest permitted list, and the chosen list is always kept."""

import numpy as np
import pytest
from linear_loops import fit_final_model, nested_cross_validation
from settings import MOMENTS, SPLITS, linear
from toys import dataset, unequal_classes

from genesig.data.splits.draw import draw_splits
from genesig.errors import GenesigError, InvalidInput
from genesig.selection.model.final import final_model
from genesig.selection.model.schema import chosen_model, nested_list_name

SETTINGS = {
    "mu": [1e-6, 1e-2, 0.1, 1.0, 10.0],
    "lam": [1e-3, 1e-1],
    "tau_min": 0.1,
    "tau_count": 5,
    "most": 4,
}
LONGEST = 8


def fitted(**changes):
    study = dataset(*unequal_classes(np.random.default_rng(2), 32, 300))
    splits = draw_splits(study, seed=1, **SPLITS)
    settings = {"fold_steps": MOMENTS, **linear(**{**SETTINGS, **changes})}
    fits = nested_cross_validation(study, splits, labels="observed", batch="1of1", **settings)
    return study, fits, fit_final_model(study, splits, **settings)


def test_kept_lists_equal_those_without_a_limit():
    _, uncut, _ = fitted(longest=None)
    _, fits, _ = fitted(longest=LONGEST)
    within_limit = np.logical_and.accumulate(uncut.sizes() <= LONGEST, axis=1)
    assert 0 < within_limit.sum() < within_limit.size
    np.testing.assert_array_equal(np.isnan(fits.gap), ~within_limit)
    np.testing.assert_array_equal(fits.choice, uncut.choice)
    for fit, mu in np.ndindex(within_limit.shape):
        scores = fits.test_scores(fit)[1][:, mu]
        assert np.isnan(scores).all() == (not within_limit[fit, mu])
        if within_limit[fit, mu]:
            np.testing.assert_allclose(scores, uncut.test_scores(fit)[1][:, mu], 0, 1e-9)
            (genes, values) = fits.coef(fit, mu)
            (uncut_genes, expected) = uncut.coef(fit, mu)
            np.testing.assert_array_equal(genes, uncut_genes)
            np.testing.assert_allclose(values, expected, 0, 1e-9)
        else:
            assert len(fits.coef(fit, mu)[0]) == 0
    assert not np.isnan(fits.with_chosen().scores[:, -1]).any()


def test_model_has_only_the_kept_lists():
    study, _, final = fitted(longest=LONGEST)
    model = final_model(study, final, fold_steps=MOMENTS)
    kept_mu = [mu for mu, size in zip(final.mu, final.sizes()[0], strict=True) if size <= LONGEST]
    assert [entry["mu"] for entry in model["models"]] == kept_mu != SETTINGS["mu"]
    assert model["answer"] == nested_list_name(final.mu[final.choice[0, 2]])
    cut = [final.intercept[0, k] - entry["intercept"] for k, entry in enumerate(model["models"])]
    np.testing.assert_allclose(cut, final.threshold[0], rtol=0, atol=1e-12)
    assert (final.threshold[0], model["threshold"]) != (0, 0)
    with pytest.raises(InvalidInput, match=r"--mu: 10 is none of the model's: 1e-06, "):
        chosen_model(model, 10.0)


def test_chosen_list_above_the_limit_is_replaced_by_the_longest_kept(caplog):
    list_settings = {"list": "minimal", "list_mu": 10.0}
    _, uncut, whole_final = fitted(**list_settings, longest=None)
    sizes = uncut.sizes()
    longest = int(max(sizes[:, 0].max(), whole_final.sizes()[0, 0]))
    _, fits, final = fitted(**list_settings, longest=longest)
    longest_kept = [np.flatnonzero(row <= longest)[-1] for row in sizes]
    assert (sizes[:, -1] > longest).any()
    assert fits.choice[:, 2].tolist() == longest_kept
    assert not np.isnan(final.with_chosen().scores[:, -1]).any()
    assert f"the list at mu 10 has more than {longest} genes; the longest kept one" in caplog.text


def test_lists_all_above_the_limit_give_one_line():
    with pytest.raises(GenesigError, match="split r1f1: every list has more than 1 genes; raise"):
        fitted(list="minimal", tau_min=1e-4, lam=[1e-4], longest=1)


def test_where_no_list_can_be_kept_a_shorter_one_is_chosen():
    _, uncut, _ = fitted(longest=None, most=30)
    longest = int(np.sort(uncut.sizes()[:, 0])[-2])
    _, fits, _ = fitted(longest=longest, most=30)
    long = uncut.sizes()[:, 0] > longest
    assert 0 < long.sum() < len(long)
    assert (fits.choice[long, 0] < uncut.choice[long, 0]).all()
    np.testing.assert_array_equal(fits.choice[~long], uncut.choice[~long])
    chosen = fits.sizes()[np.arange(len(long)), fits.choice[:, 2]]
    assert (chosen >= 1).all()
    assert (chosen <= longest).all()
