"""The config against its schema: defaults, kind of response, faults, the table of settings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

from genesig.data.files.columns import cells_of
from genesig.data.files.config_text import (
    TOO_LARGE,
    config_children,
    exceeds_config_size,
    merge_configs,
)
from genesig.data.files.names import is_fetched, with_file_names
from genesig.data.files.readers import read_samples
from genesig.data.study.labels.known import LABELS
from genesig.data.study.labels.record import Config
from genesig.data.study.pool.record import STUDY, WEIGHT
from genesig.errors import InvalidInput, Problem, attempt, did_you_mean, refuse
from genesig.response.design import SEVERAL
from genesig.words import counted


def kind_of(raw: Config, classes: int | None = None) -> str | None:
    """Return the name of the kind that a config asks for, None for none that there is.

    Parameters
    ----------
    raw : dict
        As it was written: whatever a user may have meant.
    classes : int or None
        How many there are in the sample table, as far as that is known.
    """
    data = _section(raw, "data")
    label = raw.get("label")
    task = data.get("task")
    if task is None:
        mapped = isinstance(label, dict)
        task = next(kind for kind, each in LABELS.items() if bool(each.columns) == mapped)
    if not isinstance(task, str) or task not in LABELS:
        return None
    named = data.get("classes")
    count = len(named) if isinstance(named, list) else classes
    return SEVERAL if LABELS[task].named and count is not None and count > 2 else task


def silent(raw: Config, classes: int | None = None) -> Config:
    """Return settings that hold where the config names none: those of its kind, as `kind_of`.

    Two columns as label ask for survival. What cannot be had beside covariates or weights is off.
    """
    kind = kind_of(raw, classes)
    data = _section(raw, "data")
    found = {} if kind is None else deepcopy(LABELS[kind].defaults)
    if kind is not None and LABELS[kind].columns and data.get("task") is None:
        found["data"] = {"task": kind}
    if raw.get("studies"):
        for section, settings in _of_studies(raw).items():
            found[section] = {**found.get(section, {}), **settings}
        data = {**found["data"], **data}
    if data.get("covariates") or data.get("weights"):
        found["nonlinear"] = {"enabled": False}
    return found


def _of_studies(raw: Config) -> Config:
    """Return the settings that several studies ask for: each is a batch, and held out whole."""
    alike = _section(raw, "across").get("weights", "equal") == "equal"
    scheme = {key: "leave_one_study_out" for key in ("scheme", "inner_scheme")}
    return {"data": {"batch": STUDY, **({"weights": WEIGHT} if alike else {})}, "splits": scheme}


def classes_shown(raw: Config) -> int | None:
    """Count the classes of the sample table; None where nothing depends on it, or it has no such.

    Whatever is wrong with that file is said by those who need it.
    """
    kind = kind_of(raw)
    if kind is None or not LABELS[kind].named or _section(raw, "data").get("classes") is not None:
        return None
    if _section(raw, "nonlinear").get("enabled") is not None:
        return None
    config = with_file_names(deepcopy(raw))
    data = _section(raw, "data")
    samples = config.get("samples")
    label = config.get("label")
    part = data.get("part")
    if not isinstance(samples, str) or not isinstance(part, str | None):
        return None
    own = part if samples == config.get("expression") else None
    table = attempt(lambda: read_samples(samples, None, own), [])
    if table is None or not isinstance(label, str):
        return None
    return len(set(cells_of(table, label))) or None


def check_kind(config: Config, kind: str, source: str) -> list[Problem]:
    """Check what the settings ask for that is not offered for the kind the sample table shows."""
    if kind == config["data"]["task"]:
        return []
    late = ""
    if is_fetched(config["samples"]):  # after the settings were filled in
        late = "; if the series has only just come, run the same command again: where the config "
        late += "says nothing, its labels decide"
    return [
        Problem(f"{source}, {key}", f"{message}{late}", *level)  # type: ignore[arg-type]
        for key, message, *level in LABELS[kind].settings(config)
    ]


def not_offered(kind: str, data: Config) -> str:
    """Say what every study has, and this one has not; '' where nothing is left out.

    Parameters
    ----------
    kind : str
        A name in `LABELS`.
    data : dict
        The section ``data`` of the config.
    """
    if "nonlinear" in LABELS[kind].defaults:
        message = f"for {kind.replace('_', ' ')}"
    elif data.get("covariates") or data.get("weights") is not None:
        message = f"beside {'covariates' if data.get('covariates') else 'sample weights'}"
    else:
        return ""
    return f"nonlinear selection is not offered {message}"


def _section(raw: Config, name: str) -> dict[str, Any]:
    section = raw.get(name)
    return section if isinstance(section, dict) else {}


FILES = (["expression"], ["samples"])
NO_STUDY = "the list is empty; name two studies or more, or one study's expression and samples"
MOST = 20
"""Faults of a config that are told one by one."""
# Larger numbers are written with an exponent.
LARGEST_WHOLE = 1e15
RENAMED_KEYS = {"signature.frequency": "signature.cv_frequency"}
RENAMED_VALUES = {("linear.model", "committee"): "ensemble", ("linear.list", "controlled"): "fdr"}
"""Old names of settings and of their values, which get an error with the new name."""
Node = dict[str, Any]
Found = Iterator[tuple[list[Any], str]]  # place, what was found and is needed


def resolve_config(
    raw: dict[str, Any], schema: Node, source: str = "config", classes: int | None = None
) -> dict[str, Any]:
    """Fill in the schema's defaults, and check the result.

    Parameters
    ----------
    raw : dict
        The config as it was written.
    schema : dict
        ``workflow/schemas/config.schema.yaml``.
    source : str
        Name of the config in messages.
    classes : int or None
        How many there are in the sample table, where `classes_shown` could tell.

    Returns
    -------
    dict
        A new dict with every key set; resolving it again changes nothing.

    Raises
    ------
    InvalidInput
        With one problem per faulty key.
    """
    config, problems = examine_config(raw, schema, source, classes)
    if problems:
        raise InvalidInput(problems)
    return config


def examine_config(
    raw: dict[str, Any], schema: Node, source: str, classes: int | None = None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the filled config, faulty keys reset to their defaults, and the problems."""
    if exceeds_config_size(raw, config_children):
        raise refuse(source, TOO_LARGE)
    usual = silent(raw, classes)
    given = {key: value for key, value in raw.items() if value is not None or key not in usual}
    config = with_file_names(_fill(merge_configs(usual, deepcopy(given)), schema, schema))
    found = list(_problems(config, schema, source))
    if raw.get("studies") == [] and not {"expression", "geo"} & set(raw):
        # That the two files are missing would send the reader the wrong way.
        found = [(place, problem) for place, problem in found if place not in FILES]
        found.append((["studies"], Problem(_at(source, ["studies"]), NO_STUDY)))
    for place, _ in found:
        _take_out(config, place)
    problems = list(dict.fromkeys(problem for _, problem in found))
    if (further := len(problems) - MOST) > 0:
        message = f"{counted(further, 'further fault')}; mend these first"
        problems[MOST:] = [Problem(source, message)]
    return _fill(config, schema, schema), problems


def _take_out(config: Any, place: list[Any]) -> None:
    """Delete a key; of a list with a faulty item, the whole."""
    for key in place[:-1]:
        config_children = config.get(key) if isinstance(config, dict) else None
        if not isinstance(config_children, dict):
            place = [key]
            break
        config = config_children
    for key in [key for key in config if str(key) == place[-1]]:
        del config[key]


def expected(node: Node, schema: Node) -> str:
    """Say in words what a value must be: ``"a whole number, at least 2"``."""
    node = _definition(node, schema)
    if "enum" in node:
        return "one of " + ", ".join(node["enum"])
    kinds = node.get("type", "object")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    kinds = kinds if "array" in kinds else sorted(kinds, key="null".__eq__)
    text = " or ".join(_kind(kind, node, schema) for kind in kinds)
    bounds = [f"{word} {_bound(node[key])}" for key, word in _BOUNDS.items() if key in node]
    such = f", such as {' or '.join(node['examples'])}" if "examples" in node else ""
    return text + such + (", " + " and ".join(bounds) if bounds else "")


def _bound(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "multipleOf": "a multiple of",
}


def _kind(kind: str, node: Node, schema: Node) -> str:
    if kind == "array":
        items = expected(node["items"], schema) if "items" in node else "anything"
        least = node.get("minItems", 0)
        most = node.get("maxItems")
        size = f" at most {most}" if most else ""
        if least > 1:
            size = f" {least}" if most == least else f" {least} to {most}" if most else size
        different = " different" if node.get("uniqueItems") else ""
        return f"a list of{size}{different} values, each {items}"
    if kind == "object":
        if "step" in node["properties"]:
            return "a step such as {step: log2}"
        return "a section" if node["properties"] else "pairs of words"
    return {
        "string": str(node.get("x-words", "text")),
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "null": "null",
    }[kind]


def _definition(node: Node, schema: Node) -> Node:
    return dict(schema["$defs"][node["$ref"].rsplit("/", 1)[1]]) if "$ref" in node else node


def _step(value: Any, schema: Node) -> Node | None:
    """Return the definition of a normalisation step, None for an unknown one."""
    name = value.get("step") if isinstance(value, dict) else None
    known = isinstance(name, str) and name in step_names(schema)
    return dict(schema["$defs"][name]) if known else None


def step_names(schema: Node) -> list[str]:
    """Return the names of the normalisation steps."""
    return [name for name in schema["$defs"] if name != "step"]


def _fill(value: Any, node: Node, schema: Node) -> Any:
    if isinstance(value, list):
        return [_fill(item, node.get("items", {}), schema) for item in value]
    if "$ref" in node:
        node = _step(value, schema) or {}
    if node.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if node.get("type") != "object":
        return value
    # A section whose lines are all commented out is read as null.
    value = {} if value is None and "default" in node else value
    if isinstance(value, dict):
        for key, below in node["properties"].items():
            if key in value:
                value[key] = _fill(value[key], below, schema)
            elif "default" in below:
                value[key] = _fill(deepcopy(below["default"]), below, schema)
    return value


def _problems(config: Any, schema: Node, source: str) -> Iterator[tuple[list[Any], Problem]]:
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(schema).iter_errors(config):
        place = list(error.absolute_path)
        value = error.instance
        node = dict(error.schema)
        if error.validator == "additionalProperties":
            found = _unknown(value, node, place, schema)
        elif error.validator == "required":
            found = _missing(value, node, place)
        else:
            found = iter([(place, _wrong(value, node, place, schema))])
        for at, message in found:
            yield at, Problem(_at(source, at), message)
    for place, number in _numbers(config, []):
        if not math.isfinite(number):
            yield place, Problem(_at(source, place), f"found {number}, needs a finite number")


def _numbers(value: Any, place: list[Any]) -> Iterator[tuple[list[Any], float]]:
    if isinstance(value, float):
        yield place, value
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, below in items:
        yield from _numbers(below, [*place, key])


def _unknown(value: Node, node: Node, place: list[Any], schema: Node) -> Found:
    """Name each unknown key with its nearest neighbour, here or in another section."""
    here = {key: dotted([*place, key]) for key in node["properties"]}
    elsewhere = {
        key: f"{section}.{key}"
        for section, below in reversed(schema["properties"].items())  # of two, the first counts
        for key in below.get("properties", ())
    }
    for key in map(str, value):  # YAML keys may be numbers
        if key in here:
            continue
        near = [new for new in [RENAMED_KEYS.get(dotted([*place, key]))] if new]
        near += [elsewhere[key]] if key in elsewhere else []
        near += [
            found[word] for found in (here, elsewhere) for word in get_close_matches(key, found)
        ]
        advice = f"; did you mean '{near[0]}'?" if near else f" (known: {', '.join(here)})"
        yield [*place, key], f"unknown key '{key}'{advice}"


def _missing(value: Node, node: Node, place: list[Any]) -> Found:
    for key in node["required"]:
        # A faulty accession would have named both files: that it is faulty is said by itself.
        if key not in value and not (value.get("geo") and key in ("expression", "samples")):
            about = node["properties"][key].get("description", "write it as {step: log2}")
            yield [*place, key], f"the key '{key}' is missing: {about}"


def _wrong(value: Any, node: Node, place: list[Any], schema: Node) -> str:
    renamed = RENAMED_VALUES.get((dotted(place), value)) if isinstance(value, str) else None
    if renamed is not None:
        return f"found {_shown(value)}, which is called '{renamed}' now"
    near = did_you_mean(value, node["enum"]) if "enum" in node and isinstance(value, str) else ""
    return f"found {_shown(value)}, needs {expected(node, schema)}{near or _hint(value, node)}"


def _hint(value: Any, node: Node) -> str:
    """Explain the traps of YAML: 1e-6 is text there, and no is false."""
    kinds = node.get("type", ())
    if isinstance(value, str) and ("number" in kinds or "integer" in kinds):
        with suppress(ValueError):
            if node.get("minimum", -math.inf) <= float(value) <= node.get("maximum", math.inf):
                return f"; write it as {_yaml_number(value)}, without quotes"
        return ""
    if "string" in kinds and isinstance(value, bool | int | float):
        return "; put it in quotes, YAML reads bare yes, no, true and numbers as values"
    if "array" in kinds and not isinstance(value, list | dict):
        return f"; write it as [{value}]"
    return ""


def _yaml_number(text: str) -> str:
    """Write a number so that YAML reads one: with a point before e and a sign after it."""
    number = float(text)
    if number.is_integer() and abs(number) < LARGEST_WHOLE:
        return str(int(number))
    mantissa, _, exponent = f"{number:g}".partition("e")
    mantissa += ".0" if exponent and "." not in mantissa else ""
    return mantissa + (f"e{exponent}" if exponent else "")


def _shown(value: Any) -> str:
    text = (
        {None: "nothing (null)", True: "true", False: "false"}.get(value)
        if value is None or isinstance(value, bool)
        else None
    )
    text = text or (f"the text '{value}'" if isinstance(value, str) else str(value))
    return text if len(text) <= 80 else text[:77] + "..."


def dotted(place: list[Any]) -> str:
    """Write a place as the user would: ``"normalise.folds, item 2, step"`` counts from 1."""
    text = ""
    join = ""
    for key in place:
        text += f", item {key + 1}" if isinstance(key, int) else f"{join}{key}"
        join = ", " if isinstance(key, int) else "."
    return text


def _at(source: str, place: list[Any]) -> str:
    return f"{source}, {dotted(place)}" if place else source


def parameter_table(schema: Node) -> str:
    """Return Markdown: one table for each section of the config, one for each step."""
    properties = schema["properties"]
    config_children = {key: _inside(node) for key, node in properties.items()}
    single = {key: node for key, node in properties.items() if config_children[key] is None}
    parts = [_rows_of_section("", "", single, schema)]
    parts += [
        _rows_of_section(f"`{key}`", properties[key]["description"], below, schema, f"{key}.")
        for key, below in inside.items()
        if below is not None
    ]
    steps = {key: node for key, node in schema["$defs"].items() if key != "step"}
    parts += ["## Steps of `normalise`\n\n" + "\n".join(_step_rows(steps, schema))]
    return "\n\n".join(parts) + "\n"


def _inside(node: Node) -> Node | None:
    """Return the keys of a section, or of each item of a list of sections."""
    config_children: Node = node.get("items", node)
    return config_children.get("properties") if config_children.get("type") == "object" else None


def _rows_of_section(title: str, about: str, nodes: Node, schema: Node, prefix: str = "") -> str:
    head = f"## {title}\n\n{about}\n\n" if title else ""
    rows = [
        f"| `{prefix}{key}` | {_default(node)} | {_cell(expected(node, schema))} "
        f"| {_cell(node['description'])} |"
        for key, node in nodes.items()
    ]
    return head + "\n".join(
        ["| key | default | value | meaning |", "| --- | --- | --- | --- |", *rows]
    )


def _step_rows(steps: Node, schema: Node) -> Iterator[str]:
    yield "| step | setting | default | value | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for name, node in steps.items():
        yield f"| `{name}` | | | | {_cell(node['description'])} |"
        for key, setting in node["properties"].items():
            if key != "step":
                value = f"{_default(setting)} | {_cell(expected(setting, schema))}"
                yield f"| | `{key}` | {value} | {_cell(setting['description'])} |"


def _default(node: Node) -> str:
    return f"`{_value(node['default'])}`" if "default" in node else "must be set"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_value(below)}" for key, below in value.items()) + "}"
    if isinstance(value, float):
        return f"{value:g}".replace("e", ".0e") if 0 < value < 1e-3 else f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
