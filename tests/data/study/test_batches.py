"""Validation judges the batches of a study, and models correct batches without test samples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fitted_models import score
from linear_loops import fit_final_model, nested_cross_validation
from settings import MOMENTS, SPLITS, linear
from small_study import SAMPLES, Study, as_text

from genesig.cli import main
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import bind_steps, fit_steps
from genesig.data.study.confounding import association_with_label
from genesig.errors import GenesigError
from genesig.results import Dataset, Design
from genesig.selection.model.final import final_model

COMBAT = {"step": "combat"}
TURNS = ["b1", "b1", "b2", "b2"] * 3  # both classes in both
CLASS_IN_EACH_BATCH = ["b1", "b2"] * 6  # one class in each
PARTLY = ["b1", "b2", "b1", "b2", "b1", "b2", "b1", "b2", "b1", "b1", "b2", "b2"]
LACKING = ["b1", "b1", "b2", "b2", "b1", "b2", "b2", "b1", "b3", "b1", "b2", "b1"]
AT_CENTRE = "samples.tsv, column 'centre': "


def _write_study(folder: Path, batch: list[str], **settings: Any) -> Study:
    study = Study(folder)
    for row, cell in zip(study.sheet, ["centre", *batch], strict=True):
        row.append(cell)
    for key, value in {"data__batch": "centre", **settings}.items():
        study.set(key.replace("__", "."), value)
    return study


CASES_OF_BATCHES: dict[str, tuple[list[str], dict[str, Any], int, list[str]]] = {
    "no association": (TURNS, {}, 0, []),
    "one class in each": (
        CLASS_IN_EACH_BATCH,
        {},
        1,
        [
            f"error: {AT_CENTRE}batch and label go together (Cramér's V 1.00, at most 0.5 is "
            "accepted), so that the batch could be taken for the label: batch 'b2' has no "
            "'normal', batch 'b1' has no 'tumor'; leave samples out until they do not, or set "
            "data.confounding: 1 to go on all the same"
        ],
    ),
    "one class in each, but go on": (
        CLASS_IN_EACH_BATCH,
        {"data__confounding": 1, "controls__permutations": 0},
        0,
        [
            f"warning: {AT_CENTRE}batch and label go together (Cramér's V 1.00), so that part of "
            "what predicts the label may be the batch: batch 'b2' has no 'normal', batch 'b1' has "
            "no 'tumor'"
        ],
    ),
    "one class in each has no permutation": (
        CLASS_IN_EACH_BATCH,
        {"data__confounding": 1},
        1,
        [
            "error: config.yaml, controls.permutations: no label can change place inside its batch",
            "warning: ",
        ],
    ),
    "partly together": (
        PARTLY,
        {},
        1,
        [f"error: {AT_CENTRE}batch and label go together (Cramér's V 0.62, at most 0.5"],
    ),
    "partly together, bound higher": (
        PARTLY,
        {"data__confounding": 0.7},
        0,
        [f"warning: {AT_CENTRE}batch and label go together (Cramér's V 0.62), so that part of"],
    ),
    "a batch lacks a class": (
        LACKING,
        {},
        0,
        [
            f"warning: {AT_CENTRE}batch 'b3' has no 'tumor' (Cramér's V 0.00), so that between "
            "batches label and batch cannot be distinguished"
        ],
    ),
    "one batch": (
        ["b1"] * 12,
        {},
        0,
        [f"warning: {AT_CENTRE}data.batch: every sample is 'b1', so that there is no"],
    ),
    "as many as samples": (
        SAMPLES,
        {"controls__permutations": 0},
        0,
        [f"warning: {AT_CENTRE}data.batch: 12 batches for 12 samples; how far"],
    ),
    "a sample without": (
        [*TURNS[:11], "NA"],
        {"normalise__folds": [COMBAT]},
        1,
        [f"error: {AT_CENTRE}data.batch: no value for 'P12'; each sample of the study needs one"],
    ),
    "no such column": (
        TURNS,
        {"data__batch": "center"},
        1,
        [
            "error: samples.tsv: data.batch 'center' is not a column of samples.tsv; did you mean "
            "'centre'?"
        ],
    ),
    "the label": (
        TURNS,
        {"data__batch": "diagnosis"},
        1,
        [
            "error: config.yaml, data.batch: 'diagnosis' is the label itself; name the column of "
            "the batches",
            "error: ",
        ],
    ),
    "regression": (
        TURNS,
        {"label": "age", "data__task": "regression"},
        0,
        [],
    ),
    "regression, together": (
        sorted(TURNS),
        {"label": "age", "data__task": "regression"},
        1,
        [
            f"error: {AT_CENTRE}batch and label go together (correlation ratio 0.85: 73 % of the "
            "variance of the label, at most 0.5 is accepted)"
        ],
    ),
    "combat without batches": (
        TURNS,
        {"data__batch": None, "normalise__folds": [COMBAT]},
        1,
        [
            "error: config.yaml, normalise.folds, item 1: 'combat' needs data.batch, the column "
            "that says which samples were processed together"
        ],
    ),
    "combat before the splits": (
        TURNS,
        {"normalise__samples": [COMBAT]},
        1,
        ["error: config.yaml, normalise.samples, item 1: 'combat' learns from several samples, so"],
    ),
    "the label as covariate": (
        TURNS,
        {"normalise__folds": [COMBAT | {"covariates": ["diagnosis"]}]},
        1,
        [
            "error: config.yaml, normalise.folds, item 1: covariate 'diagnosis' of 'combat' is the "
            "label, which no step may see; take it out"
        ],
    ),
    "the batch as covariate": (
        TURNS,
        {"normalise__folds": [COMBAT | {"covariates": ["centre"]}]},
        1,
        [
            "error: config.yaml, normalise.folds, item 1: covariate 'centre' of 'combat' is the "
            "batch itself; take it out"
        ],
    ),
    "a covariate that is no column": (
        TURNS,
        {"normalise__folds": [COMBAT | {"covariates": ["ages"]}]},
        1,
        ["error: samples.tsv: covariate 'ages' is not a column of samples.tsv; did you mean 'age'"],
    ),
    "a covariate of words": (
        TURNS,
        {"normalise__folds": [COMBAT | {"covariates": ["set"]}]},
        0,
        [],
    ),
    "a covariate": (TURNS, {"normalise__folds": [COMBAT | {"covariates": ["age"]}]}, 0, []),
    "leave one batch out": (TURNS, {"splits__scheme": "leave_one_batch_out"}, 0, []),
    "leave one batch out without": (
        TURNS,
        {"splits__scheme": "leave_one_batch_out", "data__batch": None},
        1,
        ["error: config.yaml, splits.scheme: 'leave_one_batch_out' needs data.batch, the column"],
    ),
    "leave one batch out, nothing left": (
        CLASS_IN_EACH_BATCH,
        {"splits__scheme": "leave_one_batch_out", "data__confounding": 1},
        1,
        [
            "error: samples.tsv, column 'diagnosis': class 'normal' has 6 samples, of which 0 may "
            "be left to train on; 2 are needed; 1 further class, too",
            "warning: ",
        ],
    ),
    "leave one batch out corrects nothing": (
        TURNS,
        {"splits__scheme": "leave_one_batch_out", "normalise__folds": [COMBAT]},
        0,
        [
            "warning: config.yaml, normalise.folds, item 1: 'combat' has seen no sample of the "
            "batch that is left out, and corrects only training samples"
        ],
    ),
}


@pytest.mark.parametrize("name", CASES_OF_BATCHES)
def test_validation_of_batches_gives_the_expected_messages(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    batch, settings, code, expected = CASES_OF_BATCHES[name]
    study = _write_study(tmp_path, batch, **settings)
    study.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == code
    lines = capsys.readouterr().err.splitlines()
    assert [line[: len(start)] for line, start in zip(lines, expected, strict=False)] == expected
    assert len(lines) == len(expected)


def test_a_covariate_that_is_the_label_by_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folds = [COMBAT | {"covariates": ["age"]}]
    study = _write_study(tmp_path, TURNS, normalise__folds=folds)
    study.column("age", ["3", "7"] * 6)
    study.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    line = "error: samples.tsv, column 'age': covariate of combat: equals the label 'diagnosis'"
    assert capsys.readouterr().err.startswith(line)


SAMPLE_NAMES = [f"s{k:02d}" for k in range(24)]
GENE_NAMES = [f"g{k}" for k in range(30)]
COMBAT_FOLDS = [COMBAT | {"covariates": []}, *MOMENTS]
LINEAR: dict[str, Any] = linear(
    list="minimal", list_mu=1.0, mu=[1e-6, 1.0], lam=[1e-3, 1e-1], tau_min=0.1, tau_count=5
)


def _dataset(batch: list[str]) -> Dataset:
    rng = np.random.default_rng(3)
    y = np.where(np.arange(24) % 2, 1.0, -1.0)
    shift = {name: rng.normal(0, 2, 30) for name in sorted(set(batch))}
    X = 8 + rng.standard_normal((24, 30)) + np.outer(y, np.arange(30) < 3)
    X += np.array([shift[name] for name in batch])
    obs = pd.DataFrame({"label": ["healthy", "ill"] * 12, "centre": batch}, index=SAMPLE_NAMES)
    design = Design("label", "classification", ("healthy", "ill"), None, None, "centre")
    return Dataset(X, obs, pd.DataFrame({"symbol": GENE_NAMES}, index=GENE_NAMES), design, {})


def _model(dataset: Dataset) -> tuple[dict[str, Any], Any]:
    splits = draw_splits(dataset, seed=1, **SPLITS)
    final = fit_final_model(dataset, splits, fold_steps=COMBAT_FOLDS, **LINEAR)
    model = final_model(dataset, final, fold_steps=COMBAT_FOLDS)
    return json.loads(json.dumps(model, allow_nan=False)), final


FOUR = ["b1", "b1", "b2", "b2"] * 6


def lines_without_scale(err: str) -> list[str]:
    """Return the lines without the last, which compares the scale of values with the study."""
    *lines, scale_line = err.splitlines()
    assert scale_line.startswith("scale: on average, ")
    return lines


def _predict(folder: Path, model: Any, dataset: Dataset, *options: str) -> pd.DataFrame:
    values = [list(map(repr, column)) for column in dataset.X.T.tolist()]
    body = [[gene, *column] for gene, column in zip(GENE_NAMES, values, strict=True)]
    rows = [["gene", *SAMPLE_NAMES], *body]
    (folder / "new.tsv").write_bytes(as_text(rows))
    (folder / "model.json").write_text(json.dumps(model))
    paths = [str(folder / name) for name in ("model.json", "new.tsv", "p.tsv")]
    assert main(["predict", *paths[:2], "-o", paths[2], *options]) == 0
    return pd.read_csv(paths[2], sep="\t", index_col="sample")


def test_training_samples_with_their_batches_are_scored_as_the_model_fits_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = _dataset(FOUR)
    model, final = _model(dataset)
    fitted = fit_steps(dataset.X, bind_steps(COMBAT_FOLDS[:1], dataset), dataset.obs)
    indices, values = final.coef(0, 1)
    X = fitted.transform(dataset.X, dataset.obs)
    expected_scores = final.intercept[0, 1] + X[:, indices] @ values - final.threshold[0]
    expression = dict(zip(GENE_NAMES, dataset.X.T, strict=True))
    np.testing.assert_allclose(
        score(model, expression, about=dataset.obs), expected_scores, atol=1e-12
    )
    sheet = [["sample", "centre"], *map(list, dataset.obs["centre"].items())]
    (tmp_path / "sheet.tsv").write_bytes(as_text(sheet))
    predictions = _predict(tmp_path, model, dataset, "--samples", str(tmp_path / "sheet.tsv"))
    np.testing.assert_allclose(predictions["score"], expected_scores, rtol=1e-9, atol=1e-9)
    assert lines_without_scale(capsys.readouterr().err) == []


def test_samples_of_no_known_batch_stay_as_they_are_and_one_line_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = _dataset(FOUR)
    model, final = _model(dataset)
    indices, values = final.coef(0, 1)
    plain = final.intercept[0, 1] + dataset.X[:, indices] @ values - final.threshold[0]
    predictions = _predict(tmp_path, model, dataset)
    np.testing.assert_allclose(predictions["score"], plain, rtol=1e-9, atol=1e-9)
    (line,) = lines_without_scale(capsys.readouterr().err)
    assert "combat leaves 24 samples as measured, of no batch that the model knows" in line
    assert "('b1', 'b2'): 's00', 's01', 's02' and 21 more; --samples names" in line
    rows = [["sample", "centre"], *([n, "b9" if n == "s05" else "b1"] for n in SAMPLE_NAMES)]
    (tmp_path / "sheet.tsv").write_bytes(as_text(rows))
    predictions = _predict(tmp_path, model, dataset, "--samples", str(tmp_path / "sheet.tsv"))
    same = np.isclose(predictions["score"], plain, rtol=1e-9, atol=1e-9)
    assert same.tolist() == [name == "s05" for name in SAMPLE_NAMES]
    (line,) = lines_without_scale(capsys.readouterr().err)
    assert "combat leaves 1 sample as measured" in line
    assert "--samples" not in line


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["sample", "site"], ["s00", "b1"]], ["no column 'centre'", "(columns: 'site')"]),
        (
            [["sample", "centre"], ["s00", "b1"], ["s00", "b2"]],
            ["sample 's00' stands there more than once; keep one row"],
        ),
        ([["sample", "centre"], ["x1", "b1"]], ["none of the new samples", "'s00'", "'x1'"]),
        (
            [["sample", "centre"], *([f"s{k:02d}b", "b1"] for k in range(80))],
            ["is 's00' the sample 's00b'? ('b' is added to all in that table"],
        ),
    ],
)
def test_a_sample_table_that_says_nothing_of_the_batch_is_refused(
    rows: list[list[str]], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = _dataset(FOUR)
    (tmp_path / "sheet.tsv").write_bytes(as_text(rows))
    _predict(tmp_path, _model(dataset)[0], dataset)
    capsys.readouterr()
    files = [str(tmp_path / name) for name in ("model.json", "new.tsv", "sheet.tsv", "none.tsv")]
    assert main(["predict", *files[:2], "--samples", files[2], "-o", files[3]]) == 1
    assert not Path(files[3]).exists()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: --samples: ")
    assert all(word in line for word in words)


def test_test_samples_and_labels_change_nothing_that_was_learned() -> None:
    dataset = _dataset(FOUR)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    first_split = splits.outer[0]
    train = dataset.rows(first_split.train)
    test = dataset.rows(first_split.test)
    steps = bind_steps(COMBAT_FOLDS, dataset)
    before = fit_steps(dataset.X[train], steps, dataset.obs.iloc[train]).state()
    X = dataset.X.copy()
    obs = dataset.obs.copy()
    X[test] += 7
    obs.iloc[test, 1] = "b7"
    obs["label"] = obs["label"].to_numpy()[::-1]
    assert fit_steps(X[train], steps, obs.iloc[train]).state() == before


def test_a_model_is_made_without_a_look_at_its_test_samples() -> None:
    dataset = _dataset(FOUR)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    test = dataset.rows(splits.outer[0].test)
    X = dataset.X.copy()
    X[test] = X[test] * 3 - 7
    fits = [
        nested_cross_validation(
            replace(dataset, X=values),
            splits,
            labels="observed",
            batch="1of3",
            fold_steps=COMBAT_FOLDS,
            **LINEAR,
        )
        for values in (dataset.X, X)
    ]
    assert len(fits[0].indices)
    for name in ("indptr", "indices", "choice"):
        np.testing.assert_array_equal(fits[0].arrays()[name], fits[1].arrays()[name])
    for name in ("values", "intercept", "cv_error"):  # rows are centred together: rounding only
        first_fit = fits[0].arrays()[name]
        two = fits[1].arrays()[name]
        np.testing.assert_allclose(first_fit, two, rtol=1e-10, atol=1e-12)
    assert not np.array_equal(fits[0].scores, fits[1].scores)


def test_log_names_the_split_that_corrects_too_few_samples(
    caplog: pytest.LogCaptureFixture,
) -> None:
    batch = ["b1", "b1", "b2", "b2"] * 5 + ["b1", "b2", "b2", "b3"]
    dataset = _dataset(batch)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", fold_steps=COMBAT_FOLDS, **LINEAR
    )
    lines = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert lines == [
        f"split {split.name}: combat leaves 1 sample as measured, because its batch has fewer than "
        "2 training samples"
        for split in splits.outer
    ]


def test_the_label_is_refused_as_a_covariate_without_a_config_too() -> None:
    dataset = _dataset(FOUR)
    with pytest.raises(GenesigError, match="covariate 'label' of combat is the label, which no"):
        bind_steps([COMBAT | {"covariates": ["label"]}], dataset)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"centre": "NA"}, r"needs the batch .* \('centre'\), not so for 's00', 's01', 's02' and"),
        ({"center": "x"}, None),
    ],
)
def test_batches_are_known_of_every_training_sample(change: Any, message: str | None) -> None:
    dataset = _dataset(FOUR)
    obs = dataset.obs.assign(**change)
    steps = bind_steps(COMBAT_FOLDS[:1], dataset)
    if message is None:
        assert fit_steps(dataset.X, steps, obs).steps
        return
    with pytest.raises(GenesigError, match=message):
        fit_steps(dataset.X, steps, obs)


def test_permuted_studies_keep_their_batches_apart() -> None:
    """A permutation keeps the association of batch and label, which the errors may live on."""
    from genesig.data.splits.draw import draw_permutation

    dataset = _dataset(["b1"] * 12 + ["b1", "b2"] * 6)
    splits = draw_splits(dataset, seed=1, **SPLITS)
    y = dataset.response()
    batch = dataset.batches()
    assert batch is not None
    observed = association_with_label(y, batch)
    for number in range(1, 6):
        permuted = np.empty_like(y)
        permuted[draw_permutation(dataset, splits, number)] = y
        assert association_with_label(permuted, batch) == observed
