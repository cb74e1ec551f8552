"""Fill in the config's defaults and check it against its schema; write the table of all settings.

The schema is `workflow/schemas/config.schema.yaml`, and `node` its part for one value. A key path
is a list of keys and list indices, ``["normalise", "folds", 1, "step"]``. `raw` is the config as it
was written, possibly with faults; `source` is its name in messages; `n_label_classes` is the number
of classes in the sample table from `count_label_classes`, None if unknown or without effect.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from difflib import get_close_matches
from typing import Any, Literal

from genesig.data.files.columns import cells_of
from genesig.data.files.config_text import (
    TOO_LARGE,
    config_children,
    exceeds_config_size,
    merge_configs,
)
from genesig.data.files.names import Config, is_fetched, with_file_names
from genesig.data.files.readers import read_samples
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.pool_record import STUDY_COLUMN, WEIGHT_COLUMN
from genesig.errors import InvalidInput, Problem, did_you_mean, input_error
from genesig.response.design import SEVERAL_CLASSES
from genesig.words import counted


def requested_kind(raw: Config, n_label_classes: int | None = None) -> str | None:
    """Return the kind of outcome that a config asks for (a key of `LABEL_RULES`), else None.

    Without ``data.task`` a label of several columns asks for survival, any other for classes.
    """
    data = _section(raw, "data")
    label = raw.get("label")
    task = data.get("task")
    if task is None:
        label_has_columns = isinstance(label, dict)
        # the first such kind: "classification" for a label of one column
        task = next(
            kind
            for kind, rules in LABEL_RULES.items()
            if bool(rules.label_columns) == label_has_columns
        )
    if not isinstance(task, str) or task not in LABEL_RULES:
        return None
    classes_setting = data.get("classes")
    n_classes = len(classes_setting) if isinstance(classes_setting, list) else n_label_classes
    has_several = LABEL_RULES[task].has_classes and n_classes is not None and n_classes > 2
    return SEVERAL_CLASSES if has_several else task


def defaults_of_kind(raw: Config, n_label_classes: int | None = None) -> Config:
    """Return the defaults of a config that depend on its kind of outcome (`requested_kind`).

    They apply to settings that the config leaves out. Analyses that are not offered with covariates
    or sample weights are switched off.
    """
    kind = requested_kind(raw, n_label_classes)
    data = _section(raw, "data")
    defaults = {} if kind is None else deepcopy(LABEL_RULES[kind].defaults)
    if kind is not None and LABEL_RULES[kind].label_columns and data.get("task") is None:
        defaults["data"] = {"task": kind}
    if raw.get("studies"):
        for section, settings in _study_defaults(raw).items():
            defaults[section] = {**defaults.get(section, {}), **settings}
        data = {**defaults["data"], **data}  # equal weights of studies are sample weights, too
    if data.get("covariates") or data.get("weights"):
        defaults["nonlinear"] = {"enabled": False}
    return defaults


def _study_defaults(raw: Config) -> Config:
    """Return the defaults for several studies: each is a batch, and is left out as a whole."""
    equal_weights = _section(raw, "across").get("weights", "equal") == "equal"
    splits_section = {key: "leave_one_study_out" for key in ("scheme", "inner_scheme")}
    return {
        "data": {"batch": STUDY_COLUMN, **({"weights": WEIGHT_COLUMN} if equal_weights else {})},
        "splits": splits_section,
    }


def count_label_classes(raw: Config) -> int | None:
    """Return the number of classes in the sample table; None if no default depends on it.

    Faults of the table are left to the checks that read it again.
    """
    kind = requested_kind(raw)
    if (
        kind is None
        or not LABEL_RULES[kind].has_classes
        or _section(raw, "data").get("classes") is not None
    ):
        return None
    # The one default that depends on the number of classes is set.
    if _section(raw, "nonlinear").get("enabled") is not None:
        return None
    config = with_file_names(deepcopy(raw))
    data = _section(raw, "data")
    samples = config.get("samples")
    label = config.get("label")
    part = data.get("part")
    if not isinstance(samples, str) or not isinstance(part, str | None):
        return None
    table_part = part if samples == config.get("expression") else None
    table = None
    with suppress(InvalidInput):
        table = read_samples(samples, names=None, part=table_part)
    if table is None or not isinstance(label, str):
        return None
    return len(set(cells_of(table, label))) or None


def check_kind_of_table(config: Config, kind: str, source: str) -> list[Problem]:
    """Return problems of settings that do not fit `kind`, the outcome that the sample table shows.

    It differs from ``data.task: classification`` if there are more than two labels.
    """
    if kind == config["data"]["task"]:
        return []
    reread_advice = ""
    if is_fetched(config["samples"]):  # after the settings were filled in
        reread_advice = (
            "; if the series has only just been downloaded, run the same command again: its "
            "labels decide the settings that the config leaves out"
        )
    return [
        setting_problem(source, key, f"{message}{reread_advice}", *level)  # type: ignore[arg-type]
        for key, message, *level in LABEL_RULES[kind].setting_faults(config)
    ]


def describe_unavailable_analyses(kind: str, data: Config) -> str:
    """Return a phrase that names the analyses this study cannot have, '' if it can have all.

    kind: a key of `LABEL_RULES`.
    data: the section ``data`` of the config.
    """
    if "nonlinear" in LABEL_RULES[kind].defaults:  # that default switches it off
        message = f"for {kind.replace('_', ' ')}"
    elif data.get("covariates"):
        message = "with covariates"
    elif data.get("weights") is not None:
        equal_studies = data["weights"] == WEIGHT_COLUMN
        setting = "across.weights: equal" if equal_studies else "data.weights"
        message = f"with sample weights ({setting})"
    else:
        return ""
    return f"nonlinear selection is not offered {message}"


def _section(raw: Config, name: str) -> dict[str, Any]:
    """Return a section of the config, {} if it is absent or of another type."""
    section = raw.get(name)
    return section if isinstance(section, dict) else {}


FILE_KEYS = (["expression"], ["samples"])  # key paths of the two files
EMPTY_STUDIES_FAULT = (
    "the list is empty; name two studies or more, or one study's expression and samples"
)
MAX_LISTED_FAULTS = 20  # number of faults that are listed; further ones are counted
MIN_EXPONENT_NUMBER = 1e15  # whole numbers from this on are written with an exponent
RENAMED_KEYS = {
    "report.top_genes": "report.gene_cards",
    "signature.frequency": "signature.cv_frequency",
}
RENAMED_VALUES = {("linear.model", "committee"): "ensemble", ("linear.list", "controlled"): "fdr"}
"""Old names of settings and of their values, which get an error with the new name."""
SchemaNode = dict[str, Any]  # part of the JSON schema that describes one value of the config
KeyFaults = Iterator[tuple[list[Any], str]]  # key path and message of each fault


def resolve_config(
    raw: dict[str, Any],
    schema: SchemaNode,
    source: str = "config",
    n_label_classes: int | None = None,
) -> dict[str, Any]:
    """Fill in the schema's defaults, and check the result.

    Raises InvalidInput: with one problem per faulty key.

    Returns a new dict with every key set; resolving it again changes nothing.
    """
    config, problems = examine_config(raw, schema, source, n_label_classes)
    if problems:
        raise InvalidInput(problems)
    return config


def examine_config(
    raw: dict[str, Any], schema: SchemaNode, source: str, n_label_classes: int | None = None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the config with defaults and the problems; faulty keys have their defaults.

    Raises InvalidInput: if the config is too large to be checked.
    """
    if exceeds_config_size(raw, config_children):
        raise input_error(source, TOO_LARGE)
    defaults = defaults_of_kind(raw, n_label_classes)
    # A section whose lines are all commented out is null, and would hide these defaults.
    written_settings = {
        key: value for key, value in raw.items() if value is not None or key not in defaults
    }
    config = with_file_names(
        _fill_defaults(merge_configs(defaults, deepcopy(written_settings)), schema, schema)
    )
    faults = list(_schema_problems(config, schema, source))
    if raw.get("studies") == [] and not {"expression", "geo"} & set(raw):
        # A message that the two files are missing would mislead.
        faults = [(key_path, problem) for key_path, problem in faults if key_path not in FILE_KEYS]
        faults.append((["studies"], setting_problem(source, "studies", EMPTY_STUDIES_FAULT)))
    for key_path, _ in faults:
        _delete_key(config, key_path)
    problems = list(dict.fromkeys(problem for _, problem in faults))
    if (n_unlisted := len(problems) - MAX_LISTED_FAULTS) > 0:
        message = f"{counted(n_unlisted, 'further fault')}; mend these first"
        problems[MAX_LISTED_FAULTS:] = [Problem(source, message)]
    return _fill_defaults(config, schema, schema), problems


def _delete_key(config: Any, key_path: list[Any]) -> None:
    """Delete the key at a key path from the config; for a faulty list item, the whole list."""
    for key in key_path[:-1]:
        section = config.get(key) if isinstance(config, dict) else None
        if not isinstance(section, dict):
            key_path = [key]
            break
        config = section
    # The last key is text if it is unknown, and YAML keys may be numbers.
    for key in [key for key in config if str(key) == str(key_path[-1])]:
        del config[key]


def describe_expected(node: SchemaNode, schema: SchemaNode) -> str:
    """Return in words which values a setting may have: ``"a whole number, at least 2"``."""
    node = _resolve_reference(node, schema)
    if "enum" in node:
        return "one of " + ", ".join(node["enum"])
    types = node.get("type", "object")
    types = [types] if isinstance(types, str) else types
    if "array" not in types:  # behind a list "or null" would be read as an item of it
        types = sorted(types, key="null".__eq__)  # null comes last
    text = " or ".join(_describe_type(type_name, node, schema) for type_name in types)
    bounds = [
        f"{word} {_bound_text(node[key])}" for key, word in _BOUND_PHRASES.items() if key in node
    ]
    examples = f", such as {' or '.join(node['examples'])}" if "examples" in node else ""
    return text + examples + (", " + " and ".join(bounds) if bounds else "")


def _bound_text(bound: float) -> str:
    """Return a bound as text, without an exponent for whole numbers."""
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


_BOUND_PHRASES = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "multipleOf": "a multiple of",
}


def _describe_type(type_name: str, node: SchemaNode, schema: SchemaNode) -> str:
    """Return in words the JSON type `type_name`, one of those that a setting may have."""
    if type_name == "array":
        items = describe_expected(node["items"], schema) if "items" in node else "anything"
        min_items = node.get("minItems", 0)
        max_items = node.get("maxItems")
        size = f" at most {max_items}" if max_items else ""
        if min_items > 1:
            if max_items == min_items:
                size = f" {min_items}"
            elif max_items:
                size = f" {min_items} to {max_items}"
        different = " different" if node.get("uniqueItems") else ""
        return f"a list of{size}{different} values, each {items}"
    if type_name == "object":  # a step, a section, or words as keys
        if "step" in node["properties"]:
            return "a step such as {step: log2}"
        return "a section" if node["properties"] else "pairs of words"
    return {
        "string": str(node.get("x-words", "text")),  # "a column", "a file": a key of this schema
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "null": "null",
    }[type_name]


def _resolve_reference(node: SchemaNode, schema: SchemaNode) -> SchemaNode:
    """Return the definition that a schema node refers to, or the node itself."""
    return dict(schema["$defs"][node["$ref"].rsplit("/", 1)[1]]) if "$ref" in node else node


def _step_definition(value: Any, schema: SchemaNode) -> SchemaNode | None:
    """Return the schema node of a normalisation step, None for an unknown step."""
    name = value.get("step") if isinstance(value, dict) else None
    is_step = isinstance(name, str) and name in step_names(schema)
    return dict(schema["$defs"][name]) if is_step else None


def step_names(schema: SchemaNode) -> list[str]:
    """Return the names of the normalisation steps; ``$defs.step`` is the choice among them."""
    return [name for name in schema["$defs"] if name != "step"]


def _fill_defaults(value: Any, node: SchemaNode, schema: SchemaNode) -> Any:
    """Return a config value with the defaults of its schema node filled in, at every depth.

    Dicts are filled in place. A ``$ref`` always means a normalisation step, whose schema node
    depends on the name of the step in `value`.
    """
    if isinstance(value, list):
        return [_fill_defaults(item, node.get("items", {}), schema) for item in value]
    if "$ref" in node:
        node = _step_definition(value, schema) or {}
    if "integer" in node.get("type", ()) and isinstance(value, float) and value.is_integer():
        return int(value)  # of a type that may be a list, such as ["null", "integer"]
    if node.get("type") != "object":
        return value
    # A section whose lines are all commented out is read as null.
    value = {} if value is None and "default" in node else value
    if isinstance(value, dict):
        for key, key_node in node["properties"].items():
            if key in value:
                value[key] = _fill_defaults(value[key], key_node, schema)
            elif "default" in key_node:
                value[key] = _fill_defaults(deepcopy(key_node["default"]), key_node, schema)
    return value


def setting_problem(
    source: str, setting_place: str, message: str, level: Literal["error", "warning"] = "error"
) -> Problem:
    """Return the problem of a setting, by the text of its key path; its key is without items."""
    location = f"{source}, {setting_place}" if setting_place else source
    return Problem(location, message, level, key=setting_place.partition(", ")[0])


def _schema_problems(
    config: Any, schema: SchemaNode, source: str
) -> Iterator[tuple[list[Any], Problem]]:
    """Yield each fault of the config as its key path and its problem."""
    from jsonschema import Draft202012Validator

    faulty_paths = []
    for error in Draft202012Validator(schema).iter_errors(config):
        key_path = list(error.absolute_path)
        faulty_paths.append(key_path)
        value = error.instance
        node = dict(error.schema)
        if error.validator == "additionalProperties":
            key_faults = _unknown_key_faults(value, node, key_path, schema)
        elif error.validator == "required":
            key_faults = _missing_key_faults(value, node, key_path)
        else:
            key_faults = iter([(key_path, _describe_wrong_value(value, node, key_path, schema))])
        for fault_path, message in key_faults:
            yield fault_path, setting_problem(source, key_text(fault_path), message)
    for key_path, number in _floats(config, []):
        if not math.isfinite(number) and key_path not in faulty_paths:
            message = f"found {number}, needs a finite number"
            yield key_path, setting_problem(source, key_text(key_path), message)


def _floats(value: Any, key_path: list[Any]) -> Iterator[tuple[list[Any], float]]:
    """Yield the key path and value of every float of a config."""
    if isinstance(value, float):
        yield key_path, value
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item_value in items:
        yield from _floats(item_value, [*key_path, key])


def _unknown_key_faults(
    value: Config, node: SchemaNode, key_path: list[Any], schema: SchemaNode
) -> KeyFaults:
    """Yield each unknown key with the nearest known one, of the same section or of another."""
    section_keys = {key: key_text([*key_path, key]) for key in node["properties"]}
    # Keys of all sections. Reversed, so that of two sections with one key the first counts.
    elsewhere = {
        key: f"{section}.{key}"
        for section, section_node in reversed(schema["properties"].items())
        for key in section_node.get("properties", ())
    }
    for key in map(str, value):  # YAML keys may be numbers
        if key in section_keys:
            continue
        new_names = (RENAMED_KEYS.get(key_text([*key_path, key])), elsewhere.get(key))
        suggestions = [name for name in new_names if name is not None]
        suggestions += [
            candidates[word]
            for candidates in (section_keys, elsewhere)
            for word in get_close_matches(key, candidates)
        ]
        advice = (
            f"; did you mean '{suggestions[0]}'?"
            if suggestions
            else f" (known: {', '.join(section_keys)})"
        )
        yield [*key_path, key], f"unknown key '{key}'{advice}"


def _missing_key_faults(value: Config, node: SchemaNode, key_path: list[Any]) -> KeyFaults:
    """Yield each key that the schema requires and a section (its value and path) lacks."""
    for key in node["required"]:
        # An accession (`geo`) names both files; if it is faulty, that fault alone is reported.
        if key not in value and not (value.get("geo") and key in ("expression", "samples")):
            # The key `step` of a normalisation step is the only one without a description.
            meaning = node["properties"][key].get("description", "write it as {step: log2}")
            yield [*key_path, key], f"the key '{key}' is missing: {meaning}"


def _describe_wrong_value(
    value: Any, node: SchemaNode, key_path: list[Any], schema: SchemaNode
) -> str:
    """Return which value was found, and which are allowed."""
    new_name = RENAMED_VALUES.get((key_text(key_path), value)) if isinstance(value, str) else None
    if new_name is not None:
        return f"found {_value_text(value)}, which is called '{new_name}' now"
    advice = did_you_mean(value, node["enum"]) if "enum" in node and isinstance(value, str) else ""
    return (
        f"found {_value_text(value)}, needs "
        f"{describe_expected(node, schema)}{advice or _yaml_hint(value, node)}"
    )


def _yaml_hint(value: Any, node: SchemaNode) -> str:
    """Return how to write a value that YAML reads otherwise: 1e-6 is a text, no is false."""
    types = node.get("type", ())
    if isinstance(value, str) and ("number" in types or "integer" in types):
        with suppress(ValueError):
            fits_type = "number" in types or float(value).is_integer()
            if fits_type and node.get("minimum", -math.inf) <= float(value) <= node.get(
                "maximum", math.inf
            ):
                return f"; write it as {_yaml_number(value)}, without quotes"
        return ""
    if "string" in types and isinstance(value, bool | int | float):
        return "; put it in quotes, YAML reads bare yes, no, true and numbers as values"
    if "array" in types and node.get("minItems", 0) <= 1 and not isinstance(value, list | dict):
        return f"; write it as [{value}]"
    return ""


def _yaml_number(text: str) -> str:
    """Return a number as YAML needs it: with a point before e and a sign after it."""
    number = float(text)
    if number.is_integer() and abs(number) < MIN_EXPONENT_NUMBER:
        return str(int(number))
    mantissa, _, exponent = repr(number).partition("e")
    mantissa += ".0" if exponent and "." not in mantissa else ""
    return mantissa + (f"e{exponent}" if exponent else "")


def _value_text(value: Any) -> str:
    """Return a value of the config as a message shows it, with at most 80 characters."""
    if value is None:
        text = "nothing (null)"
    elif isinstance(value, bool):
        text = str(value).lower()
    else:
        text = f"the text '{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def key_text(key_path: list[Any]) -> str:
    """Return a key path as users write it, ``"normalise.folds, item 2, step"``, counted from 1."""
    text = ""
    join = ""
    for key in key_path:
        text += f", item {key + 1}" if isinstance(key, int) else f"{join}{key}"
        join = ", " if isinstance(key, int) else "."
    return text


def parameter_table(schema: SchemaNode) -> str:
    """Return Markdown: a table for each section of the config, and a table of all steps."""
    properties = schema["properties"]
    nodes_of_section = {key: _setting_nodes(node) for key, node in properties.items()}
    single_settings = {
        key: node for key, node in properties.items() if nodes_of_section[key] is None
    }
    tables = [_rows_of_section("", "", single_settings, schema)]
    tables += [
        _rows_of_section(
            f"`{key}`", properties[key]["description"], setting_nodes, schema, f"{key}."
        )
        for key, setting_nodes in nodes_of_section.items()
        if setting_nodes is not None
    ]
    steps = {key: node for key, node in schema["$defs"].items() if key != "step"}
    tables += ["## Steps of `normalise`\n\n" + "\n".join(_step_rows(steps, schema))]
    return "\n\n".join(tables) + "\n"


def _setting_nodes(node: SchemaNode) -> SchemaNode | None:
    """Return the schema node of each setting of a section, or of the items of a list of sections.

    None for a single setting.
    """
    section: SchemaNode = node.get("items", node)
    return section.get("properties") if section.get("type") == "object" else None


def _rows_of_section(
    title: str, meaning: str, setting_nodes: SchemaNode, schema: SchemaNode, prefix: str = ""
) -> str:
    """Return the Markdown table of a section, with its heading unless `title` is ''.

    meaning: sentence below the heading. prefix: section before the keys, ``"linear."``.
    """
    heading = f"## {title}\n\n{meaning}\n\n" if title else ""
    rows = [
        f"| `{prefix}{key}` | {_default_cell(node)} | "
        f"{_table_cell(describe_expected(node, schema))} | {_table_cell(node['description'])} |"
        for key, node in setting_nodes.items()
    ]
    return heading + "\n".join(
        ["| key | default | value | meaning |", "| --- | --- | --- | --- |", *rows]
    )


def _step_rows(steps: SchemaNode, schema: SchemaNode) -> Iterator[str]:
    """Yield the Markdown rows of all normalisation steps and their settings."""
    yield "| step | setting | default | value | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for name, node in steps.items():
        yield f"| `{name}` | | | | {_table_cell(node['description'])} |"
        for key, setting in node["properties"].items():
            if key != "step":
                value = (
                    f"{_default_cell(setting)} | {_table_cell(describe_expected(setting, schema))}"
                )
                yield f"| | `{key}` | {value} | {_table_cell(setting['description'])} |"


def _default_cell(node: SchemaNode) -> str:
    """Return the default of a setting as a table cell."""
    return f"`{_yaml_value(node['default'])}`" if "default" in node else "must be set"


def _yaml_value(value: Any) -> str:
    """Return a default as it is written in the config."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_yaml_value, value)) + "]"
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{key}: {_yaml_value(item_value)}" for key, item_value in value.items())
            + "}"
        )
    if isinstance(value, float):
        return f"{value:g}".replace("e", ".0e") if 0 < value < 1e-3 else f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value)


def _table_cell(text: str) -> str:
    """Return a text as one line that does not break a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
