"""ComBat against sva, and input that sva refuses."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genesig.data.steps.combat import Combat, ReferenceBatch
from genesig.data.steps.normalise import fit_steps
from genesig.data.steps.transforms import state_of
from genesig.errors import GenesigError


@pytest.fixture(scope="module")
def sva():
    """Return the table that combat_by_sva.R made: samples x genes for each result."""
    table = pd.read_csv(Path(__file__).with_name("combat_by_sva.tsv"), sep="\t", index_col="row")
    batch = list(table.loc["batch"])
    covariates = table.loc[["age", "sex"]].to_numpy(float).T
    kinds = table.index[3:].str.partition(".").get_level_values(0)
    results = {kind: table.iloc[3:][kinds == kind].to_numpy(float).T for kind in kinds.unique()}
    return batch, covariates, results


@pytest.mark.parametrize(
    ("result", "reference", "adjusted_for"),
    [
        ("plain", None, False),
        ("reference", "c", False),
        ("covariates", None, True),
        ("both", "c", True),
    ],
)
def test_combat_is_svas(sva, result, reference, adjusted_for):
    batch, covariates, results = sva
    columns = {"batch": batch, "covariates": covariates if adjusted_for else None}
    fitted = Combat.fit(results["given"], reference=reference, **columns)
    adjusted = fitted.transform(results["given"], **columns)
    np.testing.assert_allclose(adjusted, results[result], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(adjusted[:, 6], results["given"][:, 6])  # constant inside batch b


def test_a_new_batch_is_brought_to_the_training_set_as_sva_does(sva):
    batch, _, results = sva
    new, training = (np.array(batch) == name for name in "ac")
    fitted = ReferenceBatch.fit(results["given"][training])
    adjusted = fitted.transform(results["given"][new])
    np.testing.assert_allclose(adjusted, results["alone"][new], rtol=0, atol=1e-12)


def test_a_gene_constant_in_either_batch_is_left_alone():
    rng = np.random.default_rng(0)
    training = rng.normal(5, 1, (12, 30))
    new = rng.normal(6, 2, (7, 30))
    training[:, 3] = 0.1
    new[:, 4] = 0.7
    adjusted = ReferenceBatch.fit(training).transform(new)
    np.testing.assert_array_equal(adjusted[:, [3, 4]], new[:, [3, 4]])
    assert np.all(np.isfinite(adjusted))
    assert np.all(np.delete(adjusted, [3, 4], axis=1) != np.delete(new, [3, 4], axis=1))


def test_combat_with_one_batch_ignores_other_samples():
    rng = np.random.default_rng(1)
    X = rng.normal(5, 1, (12, 30))
    batch = ["a", "b"] * 6
    fitted = Combat.fit(X, batch=batch, reference=None, covariates=None)
    joint_values = fitted.transform(X[:2], batch=["a", "b"], covariates=None)
    alone = fitted.transform(X[:1], batch=["a"], covariates=None)
    np.testing.assert_array_equal(joint_values[0], alone[0])


def test_new_batch_is_left_unchanged():
    rng = np.random.default_rng(2)
    X = rng.normal(5, 1, (12, 30))
    fitted = Combat.fit(X, batch=["a", "b"] * 6, reference=None, covariates=None)
    adjusted = fitted.transform(X[:2], batch=["a", "z"], covariates=None)
    np.testing.assert_array_equal(adjusted[1], X[1])
    assert np.all(adjusted[0] != X[0])


def test_a_single_gene_and_equal_variances_are_not_shrunken():
    rows = np.array([[1.0, -1.0, 2.0, 0.0, 3.0]]).T
    adjusted = ReferenceBatch.fit(rows + 4).transform(2 * rows + 1)
    np.testing.assert_allclose([adjusted.mean(), adjusted.std(ddof=1)], [5, rows.std(ddof=0)])
    adjusted_genes = ReferenceBatch.fit(rows + np.array([4, 8])).transform(
        2 * rows + np.array([1, 3])
    )
    np.testing.assert_allclose(adjusted_genes[:, 1], adjusted[:, 0] + 4)


@pytest.mark.parametrize(
    ("batch", "reference", "covariates", "message"),
    [
        (["a", "a", "b"] * 2, "c", None, "no sample is of the reference batch 'c'"),
        (["a"] * 5 + ["b"], "b", None, "no sample is of the reference batch 'b'"),
        (["a", "b"] * 3, None, np.eye(6)[:, :4], "6 samples are too few to estimate 6 means and"),
        (["a", "b"] * 3, None, np.array([[0, 1] * 3]).T, "follow from the batches"),
    ],
)
def test_unestimable_combat_is_refused(batch, reference, covariates, message):
    X = np.random.default_rng(3).normal(size=(6, 4))
    with pytest.raises(GenesigError, match=message):
        Combat.fit(X, batch=batch, reference=reference, covariates=covariates)


def test_a_few_samples_are_no_batch():
    X = np.random.default_rng(4).normal(size=(6, 4))
    with pytest.raises(GenesigError, match=r"at least 5 samples .*, found 1"):
        ReferenceBatch.fit(X).transform(X[:1])


def test_batch_of_one_sample_is_left_out():
    rng = np.random.default_rng(5)
    X = rng.normal(5, 1, (9, 20))
    batch = ["a", "b"] * 4
    fitted = Combat.fit(X, batch=[*batch, "c"], reference=None, covariates=None)
    without = Combat.fit(X[:8], batch=batch, reference=None, covariates=None)
    assert fitted.batches == ("a", "b")
    assert state_of(fitted) == state_of(without)
    adjusted = fitted.transform(X, batch=[*batch, "c"], covariates=None)
    np.testing.assert_array_equal(adjusted[8], X[8])


@pytest.mark.parametrize("batch", [["a"] * 6, ["a"] * 5 + ["b"], list("abcdef")])
def test_single_usable_batch_leaves_the_values_unchanged(batch):
    X = np.random.default_rng(6).normal(5, 1, (6, 20))
    fitted = Combat.fit(X, batch=batch, reference=None, covariates=X[:, :1])
    adjusted = fitted.transform(X, batch=batch, covariates=X[:, :1])
    np.testing.assert_array_equal(adjusted, X)


def test_the_step_of_a_study_is_svas_with_columns_of_its_sample_table(sva):
    batch, covariates, results = sva
    about = pd.DataFrame({"scan": batch, "age": covariates[:, 0], "sex": covariates[:, 1]})
    step = {"step": "combat", "batch": "scan", "covariates": ["age", "sex"]}
    fitted = fit_steps(results["given"], [step], about.astype(str))
    adjusted = fitted.transform(results["given"], about.astype(str))
    np.testing.assert_allclose(adjusted, results["covariates"], rtol=0, atol=1e-12)


def test_words_are_numbers_in_the_design(sva):
    """0 and 1 as words, however they are spelt; an unknown one leaves its sample as it is."""
    batch, covariates, results = sva
    sex = ["m" if value else "f" for value in covariates[:, 1]]
    about = pd.DataFrame({"scan": batch, "age": covariates[:, 0], "sex": sex}).astype(str)
    step = {"step": "combat", "batch": "scan", "covariates": ["age", "sex"]}
    fitted = fit_steps(results["given"], [step], about)
    restored = type(fitted).from_state(json.loads(json.dumps(fitted.state())))
    about["sex"] = about["sex"].str.upper()
    adjusted = restored.transform(results["given"], about)
    np.testing.assert_allclose(adjusted, results["covariates"], rtol=0, atol=1e-12)
    about.loc[3, "sex"] = "x"
    np.testing.assert_array_equal(restored.uncorrected(about), np.arange(19) == 3)


def test_sample_without_covariate_stays_unchanged(sva):
    batch, covariates, results = sva
    X = results["given"]
    about = pd.DataFrame({"scan": batch, "age": covariates[:, 0]}).astype(str)
    step = {"step": "combat", "batch": "scan", "covariates": ["age"]}
    fitted = fit_steps(X, [step], about)
    complete = fitted.transform(X, about)
    about.loc[3, "age"] = "NA"
    adjusted = fitted.transform(X, about)
    np.testing.assert_array_equal(adjusted[3], X[3])
    np.testing.assert_array_equal(np.delete(adjusted, 3, 0), np.delete(complete, 3, 0))
    np.testing.assert_array_equal(fitted.uncorrected(about), np.arange(19) == 3)
