"""The settings of what other packages add, in the schema of the config."""

from __future__ import annotations

from typing import Any

from genesig.plugins import entry_points_of

SchemaNode = dict[str, Any]


def with_plugins(schema: SchemaNode) -> SchemaNode:
    """Return the config's schema with the names and settings that other packages offer, in place.

    Raises
    ------
    InvalidInput
        A step cannot be loaded.
    """
    sections = schema["properties"]
    baselines = sections["controls"]["properties"]["baselines"]["items"]["enum"]
    penalties = sections["nonlinear"]["properties"]["penalty"]["enum"]
    for group, enum in (("baselines", baselines), ("penalties", penalties)):
        enum += [name for name in entry_points_of(group) if name not in enum]
    if steps := [name for name in entry_points_of("steps") if name not in schema["$defs"]]:
        from genesig.data.steps.normalise import NORMALISERS

        for name in steps:
            _add_step(schema["$defs"], name, NORMALISERS[name])
    return schema


def _add_step(definitions: SchemaNode, name: str, step: Any) -> None:
    description = (step.__doc__ or name).strip().split("\n")[0]
    definitions[name] = {
        "type": "object",
        "additionalProperties": False,
        "description": description,
        "properties": {"step": {"const": name}, **step.settings},
    }
    definitions["step"]["properties"]["step"]["enum"].append(name)
    definitions["step"]["allOf"].append(
        {
            "if": {"properties": {"step": {"const": name}}, "required": ["step"]},
            "then": {"$ref": f"#/$defs/{name}"},
        }
    )
