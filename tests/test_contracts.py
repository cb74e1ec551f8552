"""The keys of a config section are the keywords of its function; defaults live in the schema."""

from dataclasses import fields
from inspect import Parameter, signature

import pytest
from places import ROOT

from genesig.data.files.readers import load_schema
from genesig.data.splits.draw import SplitSettings
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.settings import READ_KEYS, StudySettings
from genesig.report.render import render
from genesig.selection.genes.blocks import block_tables
from genesig.selection.linear.training_sets import LinearSettings, linear_keywords
from genesig.selection.nonlinear.training_sets import NonlinearProtocol
from genesig.selection.sets.training_sets import SetsSettings

SCHEMA = load_schema()

SECTIONS = {
    "normalise": normalise_samples,
    "clusters": block_tables,
    "report": render,
}


def keys(section):
    return set(SCHEMA["properties"][section]["properties"])


@pytest.mark.parametrize("section", SECTIONS)
def test_the_keys_of_a_section_are_the_keywords_of_its_function(section):
    parameters = signature(SECTIONS[section]).parameters.values()
    linear_keywords = [
        parameter for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY
    ]
    assert {parameter.name for parameter in linear_keywords} == keys(section)
    properties = SCHEMA["properties"][section]["properties"]
    for keyword in linear_keywords:  # a default beside that of the schema is the same
        default = properties.get(keyword.name, {}).get("default")
        empty = (Parameter.empty, None, ()) if not default else (Parameter.empty, default)
        assert keyword.default in empty, keyword.name


def test_study_settings_have_every_key_of_the_section_data_once() -> None:
    names = {"expression": "e", "samples": "s", "label": "l"}
    config = resolve_config(names, SCHEMA)
    settings = StudySettings.from_config(config)
    records = (
        settings.files,
        settings.outcome,
        settings.groups,
        settings.adjustment,
        settings.genes,
    )
    values = [
        (field.name, getattr(record, field.name)) for record in records for field in fields(record)
    ]
    assert sorted(name for name, _ in values) == sorted([*keys("data"), *names])
    assert dict(values) == {**config["data"], **names}


def test_study_settings_equal_the_settings_of_the_config() -> None:
    names = {"expression": "e", "samples": "s", "label": "l"}
    config = resolve_config(names, SCHEMA)
    handed_over = {key: config[key] for key in READ_KEYS}
    assert StudySettings.from_config(handed_over) == StudySettings.from_config(config)


def test_the_keys_of_the_linear_section_are_the_protocol():
    """Beside them it has keys of the signature, of `decision` and of data.omics."""
    config = resolve_config({"expression": "e", "samples": "s", "label": "l"}, SCHEMA)
    names = {field.name for field in fields(LinearSettings)}
    of_others = {"most", "list_mu", "fdr", "least", "size", "learn_omics", "crossfitted"}
    assert names - of_others == keys("linear")
    assert linear_keywords(config).keys() == names
    config["signature"] |= {"most": 7, "mu": 0.5}
    assert (linear_keywords(config)["most"], linear_keywords(config)["list_mu"]) == (7, 0.5)


def test_the_keys_of_the_splits_section_are_its_settings():
    assert {field.name for field in fields(SplitSettings)} == keys("splits")


def test_the_keys_of_the_nonlinear_section_are_its_protocol():
    assert {field.name for field in fields(NonlinearProtocol)} | {"enabled"} == keys("nonlinear")


def test_the_keys_of_the_structured_section_are_its_protocol():
    """Beside those that say which sets there are, read once."""
    once = {"sets", "column", "smallest", "largest"}
    assert {field.name for field in fields(SetsSettings)} | once == keys("structured")


def test_every_script_belongs_to_one_rule():
    rules = "".join(path.read_text() for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
    scripts = {path.name for path in (ROOT / "workflow/scripts").glob("*.py")}
    used = {name for name in scripts if f'"../scripts/{name}"' in rules}
    assert scripts == used
    # A new version of the package is no reason to fetch or copy a file again.
    tracked = scripts - {"fetch.py", "upload.py"}
    assert all(f'sources("{name}")' in rules for name in tracked)
