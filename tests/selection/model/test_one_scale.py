"""Held-out scores, model.json and `predict` give a sample the same score, class and probability."""

from __future__ import annotations

import json

import numpy as np
import pytest
from linear_loops import nested_cross_validation, study_half_samples
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.selection.assess.held_out import predictions_table
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import check_model

ALL_KINDS = ("classification", "several_classes", "regression", "survival")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("class_shares", ["study", [0.9, 0.1], [0.7, 0.2, 0.1]])
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_split_says_of_its_test_samples_what_its_model_says(kind, class_shares):
    classes = {"classification": 2, "several_classes": 3}.get(kind, 0)
    if not isinstance(class_shares, str) and len(class_shares) != classes:
        return
    dataset = study_of(kind, 3, n=60, d=12, signal=1.0)
    settings = of_kind(kind)
    splits = draw_splits(dataset, seed=2, **SPLITS)
    chance = study_half_samples(dataset, splits, permutations=3, fold_steps=MOMENTS, **settings)
    fits = nested_cross_validation(
        dataset, splits, chance, labels="observed", batch="1of1", fold_steps=MOMENTS, **settings
    )
    table = predictions_table(dataset, splits, fits.with_chosen(), class_shares).fillna(
        {"mu": -1.0}
    )
    for number, split in enumerate(splits.outer):
        model = final_model(
            dataset, fits.take([number]), fold_steps=MOMENTS, probabilities=class_shares
        )
        model = json.loads(json.dumps(model, allow_nan=False))
        check_model(model, "model.json")
        assert model["threshold"] in (0, None)
        rows = dataset.rows(split.test)
        new = Matrix(
            tuple(split.test),
            tuple(dataset.genes),
            dataset.X[rows],
            {},
            tuple(range(2, len(rows) + 2)),
        )
        for mu in (None, *fits.mu):
            predicted, _ = predict(model, new, "new.tsv", missing=0, mu=mu)
            held_out = table[
                (table["split"] == split.name) & (table["mu"] == (-1 if mu is None else mu))
            ]
            held_out = held_out.set_index("sample").loc[list(split.test)]
            columns = [c for c in predicted if c.startswith(("score", "probability"))]
            assert any("probability" in c for c in columns) == (bool(classes) and mu is None)
            np.testing.assert_allclose(predicted[columns], held_out[columns], atol=1e-9)
            if kind != "regression":
                assert (predicted["predicted"].to_numpy() == held_out["predicted"].to_numpy()).all()
            if kind == "classification":
                expected_class = np.where(predicted["score"] > 0, *dataset.design.classes[::-1])
                assert (predicted["predicted"] == expected_class).all()
