"""The table of all settings, written from the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from genesig.data.study.config_check import expected

Node = dict[str, Any]


def parameter_table(schema: Node) -> str:
    """Return Markdown: one table for each section of the config, one for each step."""
    properties = schema["properties"]
    inside = {key: _inside(node) for key, node in properties.items()}
    single = {key: node for key, node in properties.items() if inside[key] is None}
    parts = [_section("", "", single, schema)]
    parts += [_section(f"`{key}`", properties[key]["description"], below, schema, f"{key}.")
              for key, below in inside.items() if below is not None]  # fmt: skip
    steps = {key: node for key, node in schema["$defs"].items() if key != "step"}
    parts += ["## Steps of `normalise`\n\n" + "\n".join(_step_rows(steps, schema))]
    return "\n\n".join(parts) + "\n"


def _inside(node: Node) -> Node | None:
    """Return the keys of a section, or of each item of a list of sections."""
    inside: Node = node.get("items", node)
    return inside.get("properties") if inside.get("type") == "object" else None


def _section(title: str, about: str, nodes: Node, schema: Node, prefix: str = "") -> str:
    head = f"## {title}\n\n{about}\n\n" if title else ""
    rows = [
        f"| `{prefix}{key}` | {_default(node)} | {_cell(expected(node, schema))} "
        f"| {_cell(node['description'])} |"
        for key, node in nodes.items()
    ]
    return head + "\n".join(["| key | default | value | meaning |", "| --- | --- | --- | --- |",
                             *rows])  # fmt: skip


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
