"""`signature.most` bounds the chosen list itself."""

from dataclasses import replace

import numpy as np
import pytest
from linear_loops import nested_cross_validation
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.data.splits.draw import draw_splits
from genesig.response.kinds import RESPONSES
from genesig.results import Fits
from genesig.selection.linear.grid import GridChoice

MU = [1e-6, 1e-3, 1e-2]
MAX_GENES = 20


def fits_of(kind):
    """Return fits of observed and of permuted labels."""
    dataset = study_of(kind, 2, n=48, d=150, signal=0.5)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    settings = of_kind(kind) | {"list": "stable", "most": MAX_GENES, "mu": MU, "tau_count": 8}
    return Fits.concatenate(
        [
            replace(
                nested_cross_validation(
                    dataset, splits, labels=labels, batch="1of1", fold_steps=MOMENTS, **settings
                ),
                line=None,
                shrinkage=None,
            )
            for labels in ("observed", "permuted-1-6")  # of which the second have no probabilities
        ]
    )


def chosen_size(fits):
    return fits.sizes()[np.arange(len(fits)), fits.choice[:, 2]]


def shorter_and_as_accurate(fits, fit):
    """Tell whether a place is within E* + SE*, its mean list shorter than at the one chosen."""
    error = fits.grid.error[fit]
    spread = fits.grid.standard_error[fit]
    size = fits.grid.n_genes[fit]
    best = np.unravel_index(np.nanargmin(error), error.shape)
    good = (error <= error[best] + spread[best] + 1e-12).any(axis=2)
    tau, _, mu = fits.choice[fit]
    at = size[np.flatnonzero(fits.grid.searched == fits.mu[mu])[0], tau]
    return bool((good & (size >= 1) & (size < at)).any())


@pytest.mark.quick("classification")
@pytest.mark.parametrize("kind", RESPONSES)
def test_only_too_long_lists_are_chosen_again(kind, monkeypatch):
    limited_fits = fits_of(kind)
    monkeypatch.setattr(GridChoice, "shorter", lambda self: None)
    plain = fits_of(kind)
    long = chosen_size(plain) > MAX_GENES
    anew = [fit for fit in np.flatnonzero(long) if shorter_and_as_accurate(plain, fit)]
    assert anew
    assert not any(
        shorter_and_as_accurate(limited_fits, f)
        for f in np.flatnonzero(chosen_size(limited_fits) > MAX_GENES)
    )
    changed_choice = (limited_fits.choice != plain.choice).any(axis=1)
    assert np.flatnonzero(changed_choice).tolist() == anew
    same_choice = np.flatnonzero(~changed_choice)
    for name in ("indices", "values", "scores", "threshold"):
        np.testing.assert_array_equal(
            getattr(limited_fits.take(same_choice), name), getattr(plain.take(same_choice), name)
        )
