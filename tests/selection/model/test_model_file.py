"""model.json is refused if its version, numbers, consistency or digest are wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fitted_models import GENES, NAMES, model_of, table, values

from genesig.cli import main
from genesig.data.files.readers import read_json
from genesig.selection.model.shape import add_digest, check_model, indicators

Change = Callable[[dict[str, Any]], object]


def predict(folder: Path, text: str) -> int:
    """Score a few samples with the model of this text."""
    (folder / "model.json").write_text(text)
    (folder / "new.tsv").write_text(table(values(False), NAMES, GENES))
    files = [str(folder / name) for name in ("model.json", "new.tsv", "p.tsv")]
    return main(["predict", *files[:2], "-o", files[2]])


def step(**fields: Any) -> Change:
    """Give a model without steps one, and the genes that a model with steps has."""

    def change(model: dict[str, Any]) -> None:
        genes = model["training"]["genes"]
        model["normalisation"] = {"genes": genes, "n_genes": len(genes), "steps": [fields]}

    return change


def put(*path: Any) -> Change:
    """Return a change that sets the value at a path of the model."""
    *parents, key, value = path

    def change(model: dict[str, Any]) -> None:
        place: Any = model
        for part in parents:
            place = place[part]
        place[key] = value

    return change


DAMAGE: dict[str, tuple[Change, str]] = {
    "threshold": (put("threshold", "x"), "threshold"),
    "no threshold": (put("threshold", None), "threshold"),
    "threshold of none": (put("threshold", True), "threshold"),
    "training": (put("training", []), "training"),
    "fewer means": (lambda m: m["training"]["means"].pop(), "training.means"),
    "fewer means of the scale": (lambda m: m["training"]["scale"]["means"].pop(), "training.scale"),
    "a bound of text": (put("training", "scale", "slope", "low", "x"), "training.scale.slope.low"),
    "a mean of text": (put("training", "means", 0, "8"), "training.means.0"),
    "a mean that is true": (put("training", "means", 0, True), "training.means.0"),
    "a negative spread": (put("training", "sds", 0, -1.0), "training.sds"),
    "a coefficient": (lambda m: m["models"][0]["coefficients"].append(1.0), "models.0.genes"),
    "a gene": (put("models", 0, "genes", 0, "?"), "models.0.genes"),
    "a gene twice": (
        lambda m: put("models", 1, "genes", 0, m["models"][1]["genes"][1])(m),
        "models.1.genes",
    ),
    "a training gene twice": (
        lambda m: put("training", "genes", 0, m["training"]["genes"][1])(m),
        "training.genes",
    ),
    "a blank gene": (put("training", "genes", 0, ""), "training.genes"),
    "no list": (put("models", []), "models"),
    "two lists of one mu": (lambda m: put("models", 0, "mu", m["models"][1]["mu"])(m), "models"),
    "an answer that is no list": (put("answer", "mu 7"), "answer"),
    "an answer of a number": (put("answer", 1.0), "answer"),
    "another cut": (put("threshold", 0.25), "threshold"),
    "a list of another mu": (put("models", 0, "list", "mu 7"), "models.0.list"),
    "a list of no mu": (put("models", 0, "mu", None), "models.0.list"),
    "FDR-selected genes of a nested list": (
        put("models", 0, "has_fdr_selected", True),
        "models.0.has_fdr_selected",
    ),
    "classes": (put("classes", ["a", "b"]), "classes"),
    "equal classes": (put("classes", {"negative": "a", "positive": "a"}), "classes"),
    "a blank class": (put("classes", "negative", ""), "classes"),
    "a task": (put("task", "regression"), "task"),
    "one key more": (put("more", 1), "more"),
    "one key more inside": (put("training", "more", 1), "training"),
    "one key less": (lambda m: m.pop("label"), "label"),
    "genes of no step": (put("normalisation", "genes", ["g1"]), "normalisation.genes"),
    "an unknown step": (step(step="magic"), "normalisation.steps.0"),
    "a step without its state": (step(step="quantile"), "normalisation.steps.0"),
    "a short state": (step(step="quantile", target=[1.0]), "normalisation.steps"),
    "a column below the first": (step(step="fold_filter", genes=[-1]), "normalisation.steps.0"),
    "a column past the last": (step(step="fold_filter", genes=[999]), "normalisation.steps"),
    "columns of other genes": (step(step="fold_filter", genes=[0]), "normalisation.steps"),
    "vast donors": (step(step="knn_impute", donors=[[1.0]], neighbours=1), "normalisation.steps"),
    "sets of others": (step(step="collapse", genes=[0], sets=[0, 0]), "normalisation.steps"),
    "an infinite target": (step(step="log2", floor=-1.0, ceiling=-1.0), "normalisation.steps"),
    "another batch": (
        step(
            step="combat",
            columns=["b"],
            batches=["x"],
            mean=[1.0],
            scale=[1.0],
            coefficients=[],
            gamma=[[0.0]],
            delta=[[1.0]],
        ),
        "normalisation.steps",
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize("resealed", [True, False])
def test_edited_model_gives_one_line(
    name: str, resealed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a digest made anew, too: that is no secret."""
    change, part = DAMAGE[name]
    model, _ = model_of("plain")
    change(model)
    text = json.dumps(add_digest(model) if resealed else model)
    assert predict(tmp_path, text) == 1
    (line,) = capsys.readouterr().err.splitlines()
    place = f"error: {tmp_path / 'model.json'}: "
    message = line.removeprefix(place)
    assert message.startswith(f"is damaged or was edited: '{part}") or (
        not resealed and message.startswith("was changed after it was written")
    ), line


VERSIONS: dict[str, tuple[Change, str]] = {
    "none": (lambda m: m.pop("version"), "(it has no 'version')"),
    "no format": (lambda m: m.pop("format"), "(it has no 'format')"),
    "an early one": (put("version", 2), "of version 2, and this genesig reads 'genesig linear"),
    "an early one, with covariates": (put("version", 3), "of version 3, and this genesig reads"),
    "without a panel": (put("version", 5), "of version 5, and this genesig reads"),
    "the next": (put("version", 8), "of version 8, and this genesig reads"),
    "true": (put("version", True), "of version True"),
    "text": (put("version", "2" * 999), "this genesig reads 'genesig linear model' of version 6"),
    "another format": (put("format", "magic"), "is 'magic' of version 6"),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_only_the_exact_version_is_read(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, words = VERSIONS[name]
    model, _ = model_of("plain")
    change(model)
    assert predict(tmp_path, json.dumps(model)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
    assert "run the study again" in line


def test_a_number_changed_by_hand_is_told_by_the_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _ = model_of("plain")
    model["models"][1]["coefficients"][0] *= 1.0001
    assert predict(tmp_path, json.dumps(model)) == 1
    assert "model.json: was changed after it was written" in capsys.readouterr().err


def test_the_layout_of_the_file_is_no_change(tmp_path: Path) -> None:
    model, _ = model_of("log2")
    floor = model["normalisation"]["steps"][0]
    assert floor["floor"] == 1
    floor["floor"] = 1  # as programs write 1.0 that know one kind of number
    reordered = dict(reversed(model.items()))
    assert predict_own(tmp_path, json.dumps(reordered, indent=3, ensure_ascii=False)) == 0


def predict_own(folder: Path, text: str) -> int:
    (folder / "model.json").write_text(text)
    (folder / "new.tsv").write_text(table(values(True), NAMES, GENES))
    files = [str(folder / name) for name in ("model.json", "new.tsv", "p.tsv")]
    return main(["predict", *files[:2], "-o", files[2]])


TEXTS: dict[str, tuple[Callable[[str], str], str]] = {
    "not a number": (lambda t: t.replace('"intercept": ', '"intercept": NaN, "x": ', 1), "NaN is "),
    "infinite": (lambda t: t.replace('"max": ', '"max": -Infinity, "x": ', 1), "-Infinity is no"),
    "too large": (lambda t: t.replace('"p99": ', '"p99": 1e999, "x": ', 1), "1e999 is "),
    "too large and alone": (lambda t: re.sub('"p99": [^,]*', '"p99": 1e999', t), "1e999 is larger"),
    "a long number": (lambda t: re.sub('"p99": [^,]*', f'"p99": {"9" * 999}', t), "'training.p99'"),
    "a long count": (
        lambda t: re.sub('("training_samples": )', rf"\g<1>{9:9<999}", t, count=1),
        "not finite",
    ),
    "a key twice": (
        lambda t: t.replace('{"format"', '{"version": 6, "format"', 1),
        "the key 'version' stands twice",
    ),
    "a longer one": (lambda t: re.sub('"p99": [^,]*', f'"p99": {"9" * 9999}', t), "is not JSON"),
    "empty": (lambda t: " ", "is empty; name another file, or copy it again"),
    "deep": (lambda t: "[" * 200_000, "is not JSON as a program writes it: it is nested"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_nonstandard_json_numbers_are_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, words = TEXTS[name]
    text = json.dumps(model_of("plain")[0])
    assert change(text) != text
    assert predict(tmp_path, change(text)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {tmp_path / 'model.json'}: ")
    assert words in line


@pytest.mark.parametrize("chain", ["plain", "quantile", "imputed", "counts", "background"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_model_written_by_a_study_is_read(chain: str, task: str, tmp_path: Path) -> None:
    model, _ = model_of(chain, task)
    check_model(model, "model.json")
    (tmp_path / "model.json").write_text(json.dumps(model))
    assert read_json(tmp_path / "model.json") == model


def test_indicators_are_those_of_their_own_step() -> None:
    steps = [
        {"step": "log2", "gene_columns": [9], "indicator_columns": [9]},
        {"step": "missing_indicators", "gene_columns": [0, 2], "indicator_columns": [5, 6]},
    ]
    for count, expected in ((2, [[0, 2], [5, 6]]), (1, [[], []]), (0, [[], []])):
        columns = indicators({"normalisation": {"steps": steps[:count]}})
        assert [array.tolist() for array in columns] == expected
