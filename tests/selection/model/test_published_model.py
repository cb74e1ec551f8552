"""model.json follows its published schema, and programs in other languages score alike."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fitted_models import CHAINS, GENES, NAMES, model_of, table, values
from jsonschema import Draft202012Validator
from places import ROOT

from genesig.data.files.readers import read_matrix
from genesig.data.steps.alignment import ALIGNERS
from genesig.data.steps.gene_filters import Filter, KeptGenes
from genesig.data.steps.normalise import MOMENT_STEPS, NORMALISERS
from genesig.data.steps.transforms import stored_fields
from genesig.selection.model.new_samples import predict
from genesig.selection.model.schema import SCHEMA, STEP_FIELDS
from genesig.selection.model.shape import add_digest, model_digest

SCRIPTS = ROOT / "docs/reference"
PUBLISHED = ROOT / "docs/model.schema.json"
SELF_CONTAINED = [
    chain
    for chain in CHAINS
    if chain
    not in (
        "imputed",
        "left censored",
        "half minimum",
        "background",
        "segmented",
        "size factors",
        "stabilised",
    )
]
PROGRAMS = {"r": ["Rscript", "score.R"], "js": ["node", "score.js"]}


def test_model_schema_is_a_valid_json_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_step_of_a_model_is_in_the_schema() -> None:
    fitted = {
        name: KeptGenes if isinstance(kind, Filter) else kind
        for name, kind in NORMALISERS.items()
        if name not in MOMENT_STEPS
    }
    fitted |= ALIGNERS  # which no config lists as a step
    fields_of_step = {name: set(stored_fields(kind)) for name, kind in fitted.items()}
    assert fields_of_step == {name: set(parts) for name, (_, parts) in STEP_FIELDS.items()}


@pytest.mark.parametrize("chain", CHAINS)
def test_a_model_is_what_the_published_schema_allows(chain: str) -> None:
    """By jsonschema itself, without the shortcut for long lists."""
    schema = Draft202012Validator(json.loads(PUBLISHED.read_text()))
    assert list(schema.iter_errors(model_of(chain)[0])) == []
    assert not schema.is_valid(model_of(chain)[0] | {"more": 1})


def test_the_page_names_the_digest_as_it_is_made() -> None:
    model, _ = model_of("plain")
    content = {key: value for key, value in model.items() if key != "digest"}
    floats = json.loads(json.dumps(content), parse_int=float)
    text = json.dumps(floats, sort_keys=True, separators=(",", ":"))
    assert (
        model["digest"]
        == model_digest(model)
        == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    )


def program(language: str) -> list[str]:
    """Return the command of a published script; skip if its language is not installed."""
    if shutil.which(PROGRAMS[language][0]) is None:
        pytest.skip(f"{PROGRAMS[language][0]} is not here")
    if language == "r":
        r_command = ["Rscript", "-e", "library(jsonlite)"]
        if subprocess.run(r_command, capture_output=True, check=False).returncode:
            pytest.skip("R's package jsonlite is not here")
    interpreter, name = PROGRAMS[language]
    return [interpreter, str(SCRIPTS / name)]


def scored(command: list[str], folder: Path, model: object, text: str) -> pd.DataFrame | str:
    """Return the table that a program writes, or its error message."""
    (folder / "model.json").write_text(json.dumps(model))
    (folder / "new.tsv").write_text(text)
    files = [str(folder / "model.json"), str(folder / "new.tsv")]
    process = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    (folder / "out.tsv").write_text(process.stdout)
    return process.stderr if process.returncode else pd.read_csv(folder / "out.tsv", sep="\t")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("chain", SELF_CONTAINED)
def test_another_language_scores_as_predict_does(
    chain: str, task: str, language: str, tmp_path: Path
) -> None:
    command = program(language)
    model, _ = model_of(chain, task)
    text = table(np.round(values(CHAINS[chain][2], seed=5), 1), NAMES, GENES)  # with ties
    foreign_scores = scored(command, tmp_path, model, text)
    assert isinstance(foreign_scores, pd.DataFrame), foreign_scores
    expected, _ = predict(model, read_matrix(tmp_path / "new.tsv"), "new.tsv", missing=0.0, mu=None)
    assert foreign_scores["sample"].tolist() == expected["sample"].tolist()
    np.testing.assert_allclose(foreign_scores["score"], expected["score"], rtol=1e-9, atol=1e-11)
    if task == "classification":
        assert foreign_scores["predicted"].tolist() == expected["predicted"].tolist()
        assert set(expected["predicted"]) == {"healthy", "ill"}
    else:
        np.testing.assert_allclose(
            foreign_scores["predicted"], expected["score"], rtol=1e-9, atol=1e-11
        )


@pytest.mark.parametrize("language", PROGRAMS)
def test_another_language_calls_at_the_operating_point(language: str, tmp_path: Path) -> None:
    command = program(language)
    model, _ = model_of("plain")
    text = table(values(False, seed=5), NAMES, GENES)
    scores = scored(command, tmp_path, model, text)["score"].sort_values()
    threshold = float(scores.iloc[:2].mean())
    (answer,) = (part for part in model["models"] if part["list"] == model["answer"])
    answer["decision"] = {"rule": "sensitivity 0.95", "threshold": threshold}
    called = scored(command, tmp_path, model, text)
    assert called["predicted"].tolist() == [
        "ill" if score > threshold else "healthy" for score in called["score"]
    ]
    assert called["predicted"].eq("healthy").sum() == 1
    model = add_digest(model)
    expected, _ = predict(model, read_matrix(tmp_path / "new.tsv"), "new.tsv", missing=0.0, mu=None)
    assert called["predicted"].tolist() == expected["predicted"].tolist()


STOPS = {
    "a step it does not know": ("imputed", {}, "knn_impute"),
    "a step of chromosomes": ("segmented", {}, "segment"),
    "covariates": ("plain", {"version": 7}, "covariates, or another version"),
    "more than two classes": ("plain", {"classes": ["a", "b", "c"]}, "more than two classes"),
    "another format": ("plain", {"format": "magic"}, ""),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize("name", STOPS)
def test_another_language_stops_at_what_it_does_not_know(
    name: str, language: str, tmp_path: Path
) -> None:
    chain, changes, words = STOPS[name]
    command = program(language)
    text = table(values(False), NAMES, GENES)
    foreign_result = scored(command, tmp_path, model_of(chain)[0] | changes, text)
    assert isinstance(foreign_result, str)
    assert words in foreign_result


@pytest.mark.one_in(2)
@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize("change", [("g0\t", "other\t"), ("g0\t", "g1\t"), ("\n", "x\n")])
def test_another_language_scores_no_sample_that_lacks_a_gene(
    change: tuple[str, str], language: str, tmp_path: Path
) -> None:
    command = program(language)
    text = table(values(True), NAMES, GENES).replace(*change)
    assert isinstance(scored(command, tmp_path, model_of("quantile")[0], text), str)
