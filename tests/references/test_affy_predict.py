"""`genesig predict` on single arrays: by path, in a list, with the chip's layout elsewhere."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from linear_loops import fit_final_model
from settings import MOMENTS, linear, study_settings
from test_affy_study import CHOICES, FOLDS, SAMPLE_STEPS, folder  # noqa: F401

from genesig.cli import main
from genesig.data.files.readers import read_matrix
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.dataset import read_dataset
from genesig.results import Split, Splits, save_json
from genesig.selection.model.final import final_model

pytestmark = pytest.mark.slow

STEPS = [*FOLDS, *MOMENTS]
LINEAR = linear(list="minimal", mu=[1e-2], lam=[1e-2], tau_min=0.3, tau_count=3)


@pytest.fixture
def scores(folder):  # noqa: F811
    """Write a model of all 12 arrays; return their scores, predicted as a folder."""
    raw = read_dataset(study_settings("arrays", "samples.tsv", "class", **CHOICES))
    dataset = normalise_samples(raw, samples=SAMPLE_STEPS, folds=STEPS)
    names = tuple(dataset.samples)
    inner = tuple((*names[2 * k : 2 * k + 2], *names[6 + 2 * k : 8 + 2 * k]) for k in range(3))
    final = Split("final", 0, 0, names, (), inner, (1,))
    splits = Splits("predefined", "stratified_kfold", 0, (), final, ())
    fits = fit_final_model(dataset, splits, fold_steps=STEPS, **LINEAR)
    save_json("model.json", final_model(dataset, fits, fold_steps=STEPS))
    assert fits.coef(0, 0)[0].size > 0
    return predicted("arrays")


def predicted(*arguments):
    assert main(["predict", "model.json", *arguments, "-o", "p.tsv"]) == 0
    return pd.read_csv("p.tsv", sep="\t", index_col="sample")


def test_single_array_path_is_scored_as_in_its_folder(scores):
    assert len(scores) == 12
    assert set(scores["predicted"]) == {"high", "low"}
    for name in ("s00", "s01", "s05"):  # text, binary, Command Console
        pd.testing.assert_frame_equal(predicted(f"arrays/{name}.CEL"), scores.loc[[name]])


def test_a_list_of_arrays_is_scored_in_its_order(scores):
    list_scores = predicted("arrays/s07.CEL", "arrays/s02.CEL")
    pd.testing.assert_frame_equal(list_scores, scores.loc[["s07", "s02"]])


def test_the_layout_may_be_elsewhere(scores, capsys):
    shutil.copytree("arrays", "new", ignore=shutil.ignore_patterns("*.cdf"))
    assert main(["predict", "model.json", "new/s04.CEL", "-o", "no.tsv"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: new: holds 1 array of chip 'Toy' but no CDF file; put Toy.cdf")
    pd.testing.assert_frame_equal(
        predicted("new/s04.CEL", "--layout", "arrays"), scores.loc[["s04"]]
    )
    pd.testing.assert_frame_equal(predicted("new", "--layout", "arrays"), scores)
    assert main(["predict", "model.json", "new/s04.CEL", "--layout", "nowhere"]) == 1
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith("error: --layout: 'nowhere' is no folder; name the")
    )


LISTS = {
    "a folder": (["arrays/s01.CEL", "arrays"], "error: arrays: is a folder; name it alone, or"),
    "no such file": (["arrays/s01.CEL", "arrays/s99.CEL"], "error: arrays/s99.CEL: no such file"),
    "one twice": (["arrays/s01.CEL", "arrays/s01.CEL"], "error: arrays: two files of sample 's01'"),
    "a part": (["arrays/s01.CEL", "--part", "x"], "error: arrays: holds CEL files, which have no"),
}


@pytest.mark.usefixtures("scores")
def test_invalid_list_of_arrays_is_one_line(capsys):
    capsys.readouterr()
    for arguments, line in LISTS.values():
        assert main(["predict", "model.json", *arguments, "-o", "no.tsv"]) == 1
        err = capsys.readouterr().err
        assert err.startswith(line)
        assert err.count("\n") == 1


def test_raw_intensities_of_a_brighter_scan_are_still_placed_by_rma(scores):
    """Background and quantile steps take a scan twice as bright to the same scores."""
    matrix = read_matrix("arrays")
    lines = ["\t".join(["probe", *matrix.columns])]
    lines += [
        "\t".join([name, *(repr(2 * float(v)) for v in row)])
        for name, row in zip(matrix.rows, matrix.cells, strict=True)
    ]
    Path("bright.tsv").write_text("\n".join(lines) + "\n")
    bright_scores = predicted("bright.tsv")
    np.testing.assert_allclose(bright_scores["score"], scores["score"], atol=1e-6)
