"""Another package adds a format, a step, a baseline and a penalty without a change here."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import example_plugin
import gathered_study
import numpy as np
import pandas as pd
import pytest
from example_plugin import POINTS, Shift, install
from study_runs import command, empty, environment, make_study

from genesig import GenesigError, InvalidInput, plugins
from genesig.data.files.readers import READERS, load_schema, read_matrix
from genesig.data.steps.normalise import NORMALISERS, Reference, fit_steps
from genesig.data.study.config_check import resolve_config
from genesig.data.study.scale_check import rehearse_steps
from genesig.data.validate import study_config
from genesig.errors import pick
from genesig.models.baselines import BASELINES
from genesig.optim.nonlinear.problem import PENALTIES
from genesig.selection.assess.baseline_scores import run_baselines

REGISTRIES = {
    "formats": READERS,
    "steps": NORMALISERS,
    "baselines": BASELINES,
    "penalties": PENALTIES,
}
BEFORE = {group: set(registry) for group, registry in REGISTRIES.items()}
PLUGIN_NAME = "example-plugin"
STUDY_FILE_NAMES = {"expression": "e.tsv", "samples": "s.tsv", "label": "x"}


def forget():
    plugins.entry_points_of.cache_clear()
    for group, registry in REGISTRIES.items():
        for name in set(registry) - BEFORE[group]:
            del registry[name]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install the example with some entry points; all is forgotten afterwards."""
    monkeypatch.setenv(plugins.PLUGINS_VARIABLE, PLUGIN_NAME)

    def do(points=POINTS):
        install(tmp_path / "site", points)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        forget()

    yield do
    monkeypatch.undo()
    forget()


def with_it(folder):
    """Return the search path of a process that finds the package, too."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def test_every_group_has_its_registry():
    assert set(REGISTRIES) == set(plugins.CALLS_OF_GROUP) == set(POINTS)
    assert all(registry.group == group for group, registry in REGISTRIES.items())


def test_plugin_features_are_found_by_name(installed):
    installed()
    for group, registry in REGISTRIES.items():
        (name,) = POINTS[group]
        assert not dict.__contains__(registry, name)  # nothing is loaded before it is used
        assert name in registry
        assert pick(group, registry, name) is getattr(example_plugin, POINTS[group][name][15:])
    assert plugins.plugin_versions() == {"example-plugin": "1.5"}


def test_plugin_names_are_unknown_without_the_package():
    for group, registry in REGISTRIES.items():
        assert next(iter(POINTS[group])) not in registry
    assert plugins.plugin_versions() == {}
    with pytest.raises(InvalidInput, match="shift"):
        resolve_config(
            {**STUDY_FILE_NAMES, "normalise": {"samples": [{"step": "shift"}]}}, load_schema()
        )


def test_its_settings_have_their_defaults_and_checks(installed):
    installed()
    raw = {
        **STUDY_FILE_NAMES,
        "normalise": {"samples": [{"step": "shift"}]},
        "nonlinear": {"penalty": "mild"},
        "controls": {"baselines": ["first_gene", "ridge"]},
    }
    config = resolve_config(raw, load_schema())
    assert config["normalise"]["samples"] == [{"step": "shift", "amount": 1.0}]
    raw["normalise"]["samples"] = [{"step": "shift", "amont": 2}]
    with pytest.raises(InvalidInput, match="amount'"):
        resolve_config(raw, load_schema())


def test_its_format_is_read_and_its_step_is_applied(installed, tmp_path):
    installed()
    (tmp_path / "e.pairs").write_text("g1 s1 1\ng1 s2 2\ng2 s1 3\ng2 s2 4\n")
    assert read_matrix(tmp_path / "e.pairs").cells.tolist() == [[1, 2], [3, 4]]
    fitted = fit_steps(np.eye(2), [{"step": "shift", "amount": 2.0}])
    assert isinstance(fitted.steps[0], Shift)
    np.testing.assert_array_equal(
        Reference.from_state(fitted.state()).transform(np.eye(2)), np.eye(2) + 2
    )


BROKEN = {
    "no_such": ("no_such_module:X", "ModuleNotFoundError"),
    "no_name": ("example_plugin:Gone", "AttributeError"),
    "of_another_kind": ("example_plugin:POINTS", r"none of genesig\.steps"),
    "with_another_setting": ("example_plugin:Amount", r"takes \(amount.*called with \(factor=…\)"),
    "without_values": ("example_plugin:Blind", r"transform takes \(self\).*with \(self, X\)"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_plugin_is_named_in_one_line(installed, name):
    aim, why = BROKEN[name]
    installed({"steps": {name: aim}})
    with pytest.raises(InvalidInput, match=why) as caught:
        load_schema()
    message = str(caught.value)
    assert f"plugin '{name}' of the package example-plugin" in message
    assert len(message.splitlines()) == 1


WRONG = {
    "baselines": (
        "example_plugin:SHORT",
        {"controls": {"baselines": ["wrong"]}},
        r"classification takes \(X, y\), but is called with \(X, y, X_test, ",
    ),
    "penalties": (
        "example_plugin:first_gene",
        {"nonlinear": {"penalty": "wrong"}},
        r"takes \(X, y, X_test, inner, .*\), but is called with \(tau, n, block, ",
    ),
}


@pytest.mark.parametrize("group", WRONG)
def test_a_wrong_signature_is_refused_before_anything_runs(installed, group):
    aim, settings, why = WRONG[group]
    installed({group: {"wrong": aim}})
    with pytest.raises(InvalidInput, match=why) as caught:
        study_config({**STUDY_FILE_NAMES, **settings}, load_schema())
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NO_SYMBOL", r"failed \(ValueError: .* not in list\); mend the package"),
        ("FEW", r"gives an array of shape \(1,\), where \(\d+,\) is needed"),
        ("BLANK", "gives a score that is no finite number"),
    ],
)
def test_failing_baseline_is_named_in_one_line(installed, name, message):
    installed({"baselines": {name: f"example_plugin:{name}"}})
    dataset, splits, _, _ = gathered_study.make_study()
    with pytest.raises(
        GenesigError, match=rf"plugin '{name}' of the package {PLUGIN_NAME} {message}"
    ):
        run_baselines(dataset, splits, fold_steps=[], baselines=[name])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Narrow", r"gives an array of shape \(4, 2\), where \(4, 3\) is needed"),
        ("Raising", r"failed \(RuntimeError: of its own\)"),
    ],
)
def test_failing_step_is_named_before_anything_runs(installed, name, message):
    installed({"steps": {name: f"example_plugin:{name}"}})
    X = np.arange(12.0).reshape(4, 3) ** 2
    steps = {"samples": [{"step": name}], "folds": []}
    (problem,) = rehearse_steps(X, steps, "config.yaml", None, pd.DataFrame(index=list("abc")))
    assert "config.yaml" in problem.location
    assert re.search(rf"plugin '{name}' of the package {PLUGIN_NAME} {message}", problem.message)


def test_baseline_receives_the_genes_of_its_columns(installed, monkeypatch):
    installed({"baselines": {"first_gene": "example_plugin:FIRST_GENE"}})
    dataset, splits, _, _ = gathered_study.make_study()
    folds = [{"step": "variance_filter", "keep": 0.2}, {"step": "centre"}]
    run_baselines(dataset, splits, fold_steps=folds, baselines=["first_gene"])
    columns_seen = sys.modules["example_plugin"].COLUMNS_SEEN[-1]
    assert list(columns_seen.columns) == list(dataset.var.columns)
    assert 0 < len(columns_seen) < len(dataset.genes)
    assert set(columns_seen.index) <= set(dataset.genes)


def test_unlisted_packages_are_ignored(installed, monkeypatch):
    installed()
    monkeypatch.setenv(plugins.PLUGINS_VARIABLE, "another")
    forget()
    assert plugins.plugin_versions() == {}
    monkeypatch.delenv(plugins.PLUGINS_VARIABLE)
    forget()
    assert plugins.plugin_versions()["example-plugin"] == "1.5"


def test_plugin_does_not_replace_a_built_in_step(installed):
    installed({"steps": {"log2": "example_plugin:Shift"}})
    assert NORMALISERS["log2"] is not Shift


def test_the_command_line_names_a_broken_package(tmp_path):
    install(tmp_path, {"steps": {"no_such": "no_such_module:X"}})
    process = subprocess.run(
        [sys.executable, "-m", "genesig.cli", "parameters"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": with_it(tmp_path), plugins.PLUGINS_VARIABLE: PLUGIN_NAME},
    )
    assert process.returncode == 1
    assert process.stderr.startswith(
        "error: plugin 'no_such' of the package example-plugin: cannot"
    )
    assert len(process.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_whole_study_with_all_four(tmp_path, monkeypatch):
    install(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", with_it(tmp_path / "site"))
    monkeypatch.setenv(plugins.PLUGINS_VARIABLE, PLUGIN_NAME)
    folder = make_study(
        empty(tmp_path / "study"),
        {
            "expression": "e.pairs",
            "normalise": {"samples": [{"step": "shift", "amount": 3}]},
            "nonlinear": {"penalty": "mild"},
            "controls": {"baselines": ["first_gene"]},
        },
    )
    import gzip

    text = gzip.decompress((folder / "expression.tsv.gz").read_bytes()).decode()
    header, *rows = [line.split("\t") for line in text.splitlines()]
    (folder / "e.pairs").write_text(
        "".join(
            f"{row[0].replace(' ', '')} {name} {value}\n"
            for row in rows
            for name, value in zip(header[1:], row[1:], strict=True)
        )
    )
    # a process of its own: `run` is a copy of this one, which has not heard of PYTHONPATH
    process = subprocess.run(
        command(), cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr
    page = (folder / "results/report.html").read_text()
    assert "first gene" in page
    assert "example-plugin" in (folder / "results/run.json").read_text()
    process = subprocess.run(
        [sys.executable, "-m", "genesig.cli", "predict", "results/model.json", "e.pairs"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
