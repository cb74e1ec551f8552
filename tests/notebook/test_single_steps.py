"""Reading and normalising in a notebook equal the steps of a study."""

from __future__ import annotations

import anndata
import numpy as np
import pandas as pd
import pytest
from places import ROOT

from genesig import InvalidInput, example, normalise, read
from genesig.data.steps.normalise import fit_steps

EXAMPLES = ROOT / "resources" / "examples"


def data(n=20, d=12):
    rng = np.random.default_rng(1)
    obs = pd.DataFrame({"centre": ["A", "B"] * (n // 2)}, index=[f"s{k}" for k in range(n)])
    X = rng.normal(8, rng.uniform(0.5, 2, d), (n, d))
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"g{k}" for k in range(d)]))


def test_the_example_data_are_found_and_others_refused():
    assert example("resources/golub_expression.tsv.gz").is_file()
    with pytest.raises(InvalidInput, match="golub_expression"):
        example("resources/golub_expresion.tsv.gz")


@pytest.mark.parametrize("transposed", [False, True])
def test_a_table_is_read_either_way_round(tmp_path, transposed):
    dataset_files = data()
    frame = dataset_files.to_df()
    (frame.T if transposed else frame).to_csv(tmp_path / "e.tsv", sep="\t")
    dataset_files.obs.iloc[::-1].to_csv(tmp_path / "s.tsv", sep="\t")
    dataset_read = read(tmp_path / "e.tsv", tmp_path / "s.tsv")
    assert list(dataset_read.obs_names) == list(dataset_files.obs_names[::-1])
    assert list(dataset_read.obs["centre"]) == list(dataset_files.obs["centre"][::-1])
    np.testing.assert_allclose(dataset_read[dataset_files.obs_names].X, dataset_files.X)


def test_without_a_sample_table_the_longer_side_is_the_genes(tmp_path):
    dataset_files = data(n=6)
    dataset_files.to_df().T.to_csv(tmp_path / "e.tsv", sep="\t")
    assert list(read(tmp_path / "e.tsv").obs_names) == list(dataset_files.obs_names)


def test_annotated_file_is_read_with_its_samples():
    dataset_read = read(EXAMPLES / "annotated.h5ad")
    assert "response" in dataset_read.obs
    assert "symbol" in dataset_read.var


def test_samples_of_one_file_only_are_reported(tmp_path):
    dataset_files = data()
    dataset_files.to_df().T.to_csv(tmp_path / "e.tsv", sep="\t")
    dataset_files.obs.iloc[2:].to_csv(tmp_path / "s.tsv", sep="\t")
    with pytest.warns(UserWarning, match=r"2 samples in one of the two files only, .*'s0', 's1'"):
        dataset_read = read(tmp_path / "e.tsv", tmp_path / "s.tsv")
    assert dataset_read.n_obs == 18


def test_duplicate_sample_name_is_refused(tmp_path):
    (tmp_path / "e.tsv").write_text("gene\ta\ta\ng1\t1\t2\ng2\t3\t4\ng3\t1\t1\n")
    with pytest.raises(InvalidInput, match="sample 'a' occurs more than once"):
        read(tmp_path / "e.tsv")


def test_non_numeric_cell_is_named(tmp_path):
    (tmp_path / "e.tsv").write_text("gene\ta\tb\ng1\t1\tNA\ng2\t3\t4\ng3\tx\t1\n")
    with pytest.raises(InvalidInput, match="gene 'g3', sample 'a': the value is 'x', not a number"):
        read(tmp_path / "e.tsv")


def test_rows_and_columns_that_are_no_genes_are_left_out_as_in_a_study(tmp_path):
    dataset_files = data()
    table = dataset_files.to_df().round(4)
    table["AFFX-BioB-3_at"] = 1.5
    table.insert(0, "age", range(40, 40 + len(table)))
    table.to_csv(tmp_path / "e.tsv", sep="\t")
    dataset_files.obs.to_csv(tmp_path / "s.tsv", sep="\t")
    genes = list(dataset_files.var_names)
    with pytest.warns(UserWarning, match=r"left out, neither genes nor samples: .*'age'"):
        dataset_read = read(tmp_path / "e.tsv", tmp_path / "s.tsv")
    assert list(dataset_read.var_names) == genes
    dataset_kept = read(tmp_path / "e.tsv", tmp_path / "s.tsv", keep=["controls", "sheet"])
    assert list(dataset_kept.var_names) == ["age", *genes, "AFFX-BioB-3_at"]


def test_steps_learn_from_the_training_samples_only():
    dataset = data()
    train = [f"s{k}" for k in range(10)]
    steps = ["quantile", {"step": "variance_filter", "keep": 0.5}, "centre", "unit_variance"]
    normalised = normalise(dataset, steps, train=train)
    records = [
        {"step": "quantile"},
        {"step": "variance_filter", "keep": 0.5},
        {"step": "centre"},
        {"step": "unit_variance"},
    ]
    reference = fit_steps(dataset.X[:10], records)
    np.testing.assert_array_equal(normalised.X, reference.transform(dataset.X))
    assert list(normalised.var_names) == list(dataset.var_names[reference.genes])
    changed = dataset.copy()
    changed.X[10:] *= 2
    normalised_again = normalise(changed, steps, train=np.arange(20) < 10)
    np.testing.assert_array_equal(normalised_again.X[:10], normalised.X[:10])
    np.testing.assert_array_equal(dataset.X, data().X)


def test_batches_are_corrected_by_their_column():
    dataset = data()
    corrected = normalise(dataset, ["combat"], batch="centre")
    centre_difference = np.abs(corrected.X[::2].mean(axis=0) - corrected.X[1::2].mean(axis=0))
    assert (
        centre_difference.max()
        < np.abs(dataset.X[::2].mean(axis=0) - dataset.X[1::2].mean(axis=0)).max()
    )


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("log3", "did you mean 'log2'|log2"),
        ({"step": "log2", "flor": 1}, "item 1, floor"),
    ],
)
def test_unknown_step_is_refused(step, message):
    with pytest.raises(InvalidInput, match=message):
        normalise(data(), [step])


def test_logarithms_are_not_taken_twice():
    """log2 makes one value of each gene of 4 to 12, and asks whether 16 to 40 are logarithms."""
    with pytest.raises(InvalidInput, match="gives all of the genes one value in every sample"):
        normalise(data(), ["log2", "centre"])
    higher = data()
    higher.X = 20 + higher.X / 2
    with pytest.warns(UserWarning, match="look as if they were logged already .* take log2 out"):
        normalise(higher, ["log2"])
    with pytest.raises(InvalidInput, match="the values cannot be counts"):
        normalise(data(), ["vst"])


def test_steps_need_a_sample_to_learn_from():
    with pytest.raises(InvalidInput, match="train: names no sample"):
        normalise(data(), ["centre"], train=[])


@pytest.mark.parametrize("train", [["nobody"], [True] * 3, [0, 999]])
def test_absent_training_samples_are_refused_in_one_line(train):
    with pytest.raises(InvalidInput, match=r"train: is no choice of the .* samples") as caught:
        normalise(data(), ["centre"], train=train)
    assert len(str(caught.value).splitlines()) == 1


def test_normalise_refuses_non_anndata_and_invalid_step_lists():
    with pytest.raises(InvalidInput, match="data: is a DataFrame; give an AnnData"):
        normalise(data().to_df(), ["centre"])
    for steps in ("log2", [3]):
        with pytest.raises(InvalidInput, match="steps: are no list of names or dicts"):
            normalise(data(), steps)
