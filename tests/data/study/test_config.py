"""The config schema gives defaults and descriptions, and config faults give messages."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import snakemake.utils
import yaml
from jsonschema import Draft202012Validator
from places import ROOT

from genesig.data.files.readers import load_schema, read_config
from genesig.data.study.config_check import _value_text, parameter_table, resolve_config
from genesig.data.study.settings_check import check_settings
from genesig.errors import InvalidInput

SCHEMA = load_schema()
NEEDED = {"expression": "e.tsv", "samples": "s.tsv", "label": "class"}
STEPS = [name for name in SCHEMA["$defs"] if name != "step"]


def _sections() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "", SCHEMA
    for key, node in SCHEMA["properties"].items():
        if node.get("type") == "object":
            yield key, node
    for name in STEPS:
        yield name, SCHEMA["$defs"][name]


@pytest.mark.parametrize("section", [name for name, _ in _sections()])
def test_every_key_has_a_description_and_a_default(section: str) -> None:
    node = dict(_sections())[section]
    assert node["additionalProperties"] is False
    assert node["description"].endswith(".")
    for key, subnode in node["properties"].items():
        if key == "step":
            continue
        assert subnode["description"].endswith("."), key
        assert "default" in subnode or (section == "" and key in SCHEMA["required"]), key


def test_the_step_that_fills_in_says_what_it_needs() -> None:
    assert "data.missing: true" in SCHEMA["$defs"]["knn_impute"]["description"]


def test_schema_is_valid_and_names_every_step() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    names = SCHEMA["$defs"]["step"]["properties"]["step"]["enum"]
    assert (
        names
        == STEPS
        == [
            branch["if"]["properties"]["step"]["const"]
            for branch in SCHEMA["$defs"]["step"]["allOf"]
        ]
    )
    for name in STEPS:
        assert SCHEMA["$defs"][name]["properties"]["step"] == {"const": name}


def test_every_default_is_valid() -> None:
    resolved = resolve_config(NEEDED, SCHEMA)
    for section, node in _sections():
        if section in STEPS:
            continue
        filled = resolved[section] if section else resolved
        assert set(filled) == set(node["properties"])


EXAMPLES: dict[str, dict[str, Any]] = {
    "least": NEEDED,
    "steps": NEEDED
    | {
        "normalise": {
            "samples": [{"step": "log2", "floor": 100}],
            "folds": [
                {"step": s}
                for s in ("quantile", "variance_filter", "fold_filter", "range_filter", "centre")
            ],
        },
    },
    "all row-wise steps": NEEDED
    | {
        "normalise": {"samples": [{"step": s} for s in ("standardise_samples", "rank_samples")]},
    },
    "some settings": NEEDED
    | {
        "data": {"classes": ["a", "b"], "group": "patient"},
        "linear": {"mu": [0, 0.5]},
        "signature": {"mu": 0.5},
        "controls": {"baselines": []},
    },
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", EXAMPLES)
def test_snakemake_fills_and_accepts_the_same(name: str) -> None:
    raw = EXAMPLES[name]
    resolved = resolve_config(raw, SCHEMA)
    path = str(ROOT / "workflow/schemas/config.schema.yaml")
    resolved_again = deepcopy(resolved)
    theirs = deepcopy(raw)
    snakemake.utils.validate(resolved_again, path)
    snakemake.utils.validate(theirs, path)
    assert resolved_again == resolved == theirs


@pytest.mark.parametrize("name", EXAMPLES)
def test_filling_twice_is_filling_once(name: str) -> None:
    raw = deepcopy(EXAMPLES[name])
    once = resolve_config(raw, SCHEMA)
    assert resolve_config(once, SCHEMA) == once
    assert raw == EXAMPLES[name], "the config as written stays as it was"


def test_steps_get_the_defaults_of_their_own_kind() -> None:
    steps = resolve_config(EXAMPLES["steps"], SCHEMA)["normalise"]
    assert steps["samples"] == [{"step": "log2", "floor": 100, "ceiling": 65536}]
    assert steps["folds"][1:] == [
        {"step": "variance_filter", "keep": 0.5},
        {"step": "fold_filter", "above": 5},
        {"step": "range_filter", "above": 500},
        {"step": "centre"},
    ]


def test_whole_number_with_a_point_becomes_an_integer_where_null_is_allowed() -> None:
    settings = {"splits": {"folds": 3.0}, "linear": {"longest": 30.0}}
    config = resolve_config({**NEEDED, **settings}, SCHEMA)
    assert repr((config["splits"]["folds"], config["linear"]["longest"])) == "(3, 30)"


def test_a_section_that_is_commented_out_has_its_defaults() -> None:
    assert resolve_config({**NEEDED, "linear": None}, SCHEMA) == resolve_config(NEEDED, SCHEMA)


CONFIG_FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": (
        {"linear": {"tau_mim": 0.1}},
        "config, linear.tau_mim: unknown key 'tau_mim'; did you mean 'linear.tau_min'?",
    ),
    "key outside of its section": (
        {"tau_min": 0.1},
        "config, tau_min: unknown key 'tau_min'; did you mean 'linear.tau_min'?",
    ),
    "key in another section": (
        {"linear": {"permutations": 10}},
        "config, linear.permutations: unknown key 'permutations'; did you mean "
        "'signature.permutations'?",
    ),
    "old name of a setting": (
        {"signature": {"frequency": 0.5}},
        "config, signature.frequency: unknown key 'frequency'; did you mean"
        " 'signature.cv_frequency'?",
    ),
    "old name of the number of gene cards": (
        {"report": {"top_genes": 3}},
        "config, report.top_genes: unknown key 'top_genes'; did you mean 'report.gene_cards'?",
    ),
    "old name of a model": (
        {"linear": {"model": "committee"}},
        "config, linear.model: found the text 'committee', which is called 'ensemble' now",
    ),
    "old name of a list": (
        {"linear": {"list": "controlled"}},
        "config, linear.list: found the text 'controlled', which is called 'fdr' now",
    ),
    "section misspelt": (
        {"normalize": {}},
        "config, normalize: unknown key 'normalize'; did you mean 'normalise'?",
    ),
    "number for a key": (
        {1: "a"},
        f"config, 1: unknown key '1' (known: {', '.join(SCHEMA['properties'])})",
    ),
    "word like no other": (
        {"signature": {"qqq": 1}},
        "config, signature.qqq: unknown key 'qqq' (known: "
        "most, fdr, least, size, permutations, cv_frequency, mu)",
    ),
    "wrong type": (
        {"linear": {"tau_count": "many"}},
        "config, linear.tau_count: found the text 'many', needs a whole number, at least 1 "
        "and at most 1000",
    ),
    "fraction for a whole number": (
        {"splits": {"folds": 2.5}},
        "config, splits.folds: found 2.5, needs a whole number, at least 2 and at most 1000",
    ),
    "no accession of a series": (
        {"geo": "GDS507"},
        "config, geo: found the text 'GDS507', needs text or null, such as GSE55235 or "
        "GSE781-GPL96",
    ),
    "too small": (
        {"splits": {"folds": 1}},
        "config, splits.folds: found 1, needs a whole number, at least 2 and at most 1000",
    ),
    "half a pair": (
        {"splits": {"subsamples": 5}},
        "config, splits.subsamples: found 5, needs a whole number, at least 0 and at most 2000 "
        "and a multiple of 2",
    ),
    "on an open bound": (
        {"linear": {"tau_min": 1}},
        "config, linear.tau_min: found 1, needs a number, above 0 and below 1",
    ),
    "not finite": (
        {"linear": {"mu": [0.1, float("inf")]}},
        "config, linear.mu, item 2: found inf, needs a finite number",
    ),
    "not finite and out of its bounds": (
        {"data": {"confounding": float("inf")}},
        "config, data.confounding: found inf, needs a number, at least 0 and at most 1",
    ),
    "YAML 1e-6": (
        {"linear": {"lam": ["1e-6"]}},
        "config, linear.lam, item 1: found the text '1e-6', needs a number, at least 0; write "
        "it as 1.0e-06, without quotes",
    ),
    "YAML 1e9": (
        {"splits": {"repeats": "1e9"}},
        "config, splits.repeats: found the text '1e9', needs a whole number, at least 1 and at "
        "most 1000",
    ),
    "YAML 1e3": (
        {"splits": {"repeats": "1e3"}},
        "config, splits.repeats: found the text '1e3', needs a whole number, at least 1 and at "
        "most 1000; write it as 1000, without quotes",
    ),
    "text of eight digits": (
        {"linear": {"mu": ["1.2345678"]}},
        "config, linear.mu, item 1: found the text '1.2345678', needs a number, at least 0; write "
        "it as 1.2345678, without quotes",
    ),
    "text of a fraction for a whole number": (
        {"splits": {"repeats": "2.5"}},
        "config, splits.repeats: found the text '2.5', needs a whole number, at least 1 and at "
        "most 1000",
    ),
    "one number for a list": (
        {"linear": {"mu": 0.1}},
        "config, linear.mu: found 0.1, needs a list of at most 100 different values, "
        "each a number, at least "
        "0; write it as [0.1]",
    ),
    "one number for a list of two": (
        {"decision": {"cost": 5}},
        "config, decision.cost: found 5, needs null or a list of 2 values, each a number, above 0 "
        "and at most 1000000, such as [1, 5]",
    ),
    "choice misspelt": (
        {"linear": {"criterion": "logloss"}},
        "config, linear.criterion: found the text 'logloss', needs one of squared_error, "
        "balanced_error, misclassification, log_loss, partial_likelihood; did you mean 'log_loss'?",
    ),
    "section from the command line": (
        {"splits": "{folds: 3}"},
        "config, splits: found the text '{folds: 3}', needs a section",
    ),
    "one class chosen": (
        {"data": {"classes": ["a"]}},
        "config, data.classes: found ['a'], needs null or a list of 2 to 20 different values, "
        "each text",
    ),
    "number for text": (
        {"label": 1},
        "config, label: found 1, needs text or a section, such as relapse or {time: years, event: "
        "status}; put it in quotes, YAML reads bare yes, no, true and numbers as values",
    ),
    "step unknown": (
        {"normalise": {"samples": [{"step": "log"}]}},
        "config, normalise.samples, item 1, step: found the text 'log', needs one of "
        f"{', '.join(STEPS)}; did you mean 'log2'?",
    ),
    "step as a word": (
        {"normalise": {"samples": ["log2"]}},
        "config, normalise.samples, item 1: found the text 'log2', needs a step such as "
        "{step: log2}",
    ),
    "setting of a step unknown": (
        {"normalise": {"samples": [{"step": "log2", "flor": 1}]}},
        "config, normalise.samples, item 1, flor: unknown key 'flor'; did you mean "
        "'normalise.samples, item 1, floor'?",
    ),
    "setting of a step out of bounds": (
        {"normalise": {"folds": [{"step": "variance_filter", "keep": 2}]}},
        "config, normalise.folds, item 1, keep: found 2, needs a number, above 0 and at most 1",
    ),
    "step without a name": (
        {"normalise": {"samples": [{"floor": 1}]}},
        "config, normalise.samples, item 1, step: the key 'step' is missing: write it as "
        "{step: log2}",
    ),
}


@pytest.mark.parametrize("name", CONFIG_FAULTS)
def test_config_fault_gives_one_line(name: str) -> None:
    change, line = CONFIG_FAULTS[name]
    with pytest.raises(InvalidInput) as caught:
        resolve_config({**NEEDED, **change}, SCHEMA)
    assert str(caught.value) == f"error: {line}"


def test_a_series_of_geo_is_a_file_that_is_fetched() -> None:
    file = "data/geo/GSE781-GPL96_series_matrix.txt.gz"
    resolved = resolve_config({"geo": "gse781-gpl96", "label": "tissue"}, SCHEMA)
    assert (resolved["expression"], resolved["samples"]) == (file, file)
    assert resolve_config(resolved, SCHEMA) == resolved
    with_own_sheet = resolve_config(
        {"geo": "GSE781-GPL96", "samples": "s.tsv", "label": "x"}, SCHEMA
    )
    assert (with_own_sheet["expression"], with_own_sheet["samples"]) == (file, "s.tsv")
    with_files = {"expression": "GSE781-GPL96", "samples": "GSE781-GPL96", "label": "tissue"}
    assert resolve_config(with_files, SCHEMA) == resolved | {"geo": None}


def test_two_names_for_one_matrix_are_one_too_many() -> None:
    raw = NEEDED | {"geo": "GSE1"}
    (problems,) = check_settings(resolve_config(raw, SCHEMA), "c.yaml")
    assert str(problems) == (
        "error: c.yaml, geo: names the matrix, and so does expression, e.tsv; keep one"
    )


def test_invalid_accession_is_the_only_problem() -> None:
    with pytest.raises(InvalidInput, match=r"^error: config, geo: found the text 'GSE'[^\n]*$"):
        resolve_config({"geo": "GSE", "label": "x"}, SCHEMA)


def test_all_config_faults_are_reported_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        resolve_config({"linear": {"tau_mim": 1, "mu": [-1]}}, SCHEMA, "c.yaml")
    places = [problem.location for problem in caught.value.problems]
    assert sorted(places) == sorted(
        [f"c.yaml, {key}" for key in ("expression", "samples", "label")]
        + ["c.yaml, linear.tau_mim", "c.yaml, linear.mu, item 1"]
    )


@pytest.mark.parametrize("group", [None, "patient"])
def test_a_scheme_that_a_kind_has_no_use_for_is_refused_once(group: str | None) -> None:
    raw = {
        "expression": "e.tsv",
        "samples": "s.tsv",
        "label": {"time": "t", "event": "e"},
        "data": {"task": "survival", "group": group},
        "nonlinear": {"enabled": False},
        "splits": {"scheme": "leave_one_out"},
    }
    problems = check_settings(resolve_config(raw, SCHEMA), "c.yaml")
    (message,) = [problem for problem in problems if problem.location == "c.yaml, splits.scheme"]
    assert "leaves no pairs" in message.message


def test_the_table_of_settings_is_the_schemas() -> None:
    text = (ROOT / "config/README.md").read_text(encoding="utf-8")
    assert text.endswith("\n" + parameter_table(SCHEMA)), "run: genesig parameters"
    for section, node in _sections():
        for key in node["properties"] if section not in STEPS else ():
            is_section = SCHEMA["properties"].get(key, {}).get("type") == "object"
            written = f"## `{key}`" if not section and is_section else f"`{section}.{key}`"
            assert written.replace("`.", "`") in text


ODD_NUMBERS = {
    "010": "'010' is 8 in YAML",
    "0x1F": "'0x1F' is 31 in YAML",
    "0b11": "'0b11' is 3 in YAML",
    "1_000": "'1_000' is 1000 in YAML",
    "1:30": "'1:30' is 90 in YAML",
    "-010": "'-010' is -8 in YAML",
    "1_0.5": "'1_0.5' is 10.5 in YAML",
}


@pytest.mark.parametrize("text", ODD_NUMBERS)
def test_a_number_that_yaml_reads_otherwise_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"label: x\nlinear: {{mu: [{text}]}}\n")
    with pytest.raises(InvalidInput, match=rf"c\.yaml, line 2: {ODD_NUMBERS[text]}; write"):
        read_config(path)


@pytest.mark.parametrize(
    "text", ["10", "0", "-3", "1.0e-6", ".5", "1.", "+2", "'010'", "08", ".inf"]
)
def test_other_numbers_and_quoted_ones_are_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"label: {text}\n")
    assert str(read_config(path)["label"]) == str(yaml.safe_load(text))


def test_key_repeated_within_a_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("external:\n  - name: berlin\n    expression: a.tsv\n    expression: b.tsv\n")
    with pytest.raises(InvalidInput, match="line 4: the key 'expression' is already on line 3"):
        read_config(path)


def test_key_that_replaces_a_merged_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("linear: &steps {seed: 1, folds: 5}\nsplits: {<<: *steps, seed: 2}\n")
    assert read_config(path)["splits"] == {"seed": 2, "folds": 5}


def test_an_alias_of_a_section_in_itself_is_no_endless_search(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: &a [1, 2]\nb: [*a, *a]\nc: 010\n")
    with pytest.raises(InvalidInput, match="line 3: '010' is 8"):
        read_config(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("geo", "GSE1\n"), ("external", [{"name": "there\n", "expression": "e.tsv"}])],
)
def test_a_name_does_not_end_in_a_line_end(key: str, value: object) -> None:
    """A pattern's $ is satisfied before one."""
    raw = {**NEEDED, key: value}
    with pytest.raises(InvalidInput) as error_info:
        resolve_config(raw, SCHEMA)
    assert f"config, {key}" in str(error_info.value)


def test_a_name_that_would_make_a_poor_folder_is_told_what_it_may_hold() -> None:
    raw = {**NEEDED, "external": [{"name": "other study", "expression": "e.tsv"}]}
    needs = "'other study', needs letters, digits, '.', '_' and '-' without spaces, such as GSE"
    with pytest.raises(InvalidInput, match=needs):
        resolve_config(raw, SCHEMA)


def test_many_faults_are_counted() -> None:
    raw = {**NEEDED, **{f"key{k}": 1 for k in range(900)}}
    with pytest.raises(InvalidInput) as caught:
        resolve_config(raw, SCHEMA)
    assert len(caught.value.problems) == 21
    assert caught.value.problems[-1].message == "880 further faults; mend these first"


def test_null_below_a_key_that_is_a_number_is_a_fault_of_the_config() -> None:
    written = {**NEEDED, "data": {"covariate_words": {0: None}}}
    with pytest.raises(InvalidInput, match=r"found nothing \(null\), needs pairs of words"):
        resolve_config(written, SCHEMA)


def test_value_in_a_message_has_at_most_80_characters() -> None:
    longest = "x" * (80 - len("the text ''"))
    assert _value_text(longest) == f"the text '{longest}'"
    assert _value_text(f"{longest}x") == f"the text '{longest}"[:77] + "..."


def test_list_as_a_key_is_a_wrong_value_and_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(NEEDED) + "seed: !!omap [{[a, b]: 1}]\n")
    with pytest.raises(InvalidInput, match=r"seed: found .* needs a whole number"):
        resolve_config(read_config(path), SCHEMA)
