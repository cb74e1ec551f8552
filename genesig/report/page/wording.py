"""Sentences of a topic, from the macros of the jinja2 template beside its module."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from genesig.report.page import measure, tables, verdict, words

_SPACES = re.compile(r"[ \n]+")  # but not U+00A0
# from a line break in the template before "." or ","
_SPACE_BEFORE_STOP = re.compile(r"[ \n]+(?=[.,;:)]+(?:[ \n]|$))")
_BLANK_LINE = re.compile(r"\n *\n")
_EMPTY = "\x00"  # stands for an empty value, so that its line does not become a blank line


def _stripped(value: Any) -> Any:
    """Return the value of an expression without spaces at its ends; `_EMPTY` for an empty text."""
    return value.strip(" \n") or _EMPTY if isinstance(value, str) else value


_ENVIRONMENT_SETTINGS: dict[str, Any] = {
    "undefined": StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
    "finalize": _stripped,
}
# all functions and constants of these modules, which every template may use
_SHARED_NAMES = {
    name: value
    for module in (measure, tables, verdict, words)
    for name, value in vars(module).items()
}


class Wording:
    """The macros of a template (``sets.j2`` beside ``sets.py``), each called by its name.

    Templates hold plain text, which the page escapes. A blank line ends a paragraph; its lines are
    joined by spaces. Of macros `data` is the content of report_data.json, `record` the part of the
    topic, `settings` a section of the config, `measure`, `metric` and `study_measure` a `Measure`,
    and `d` a `Difference`.
    """

    def __init__(self, module_file: str, **names: Any) -> None:
        """Set the template: `module_file` is the topic's ``__file__``, `names` its own globals."""
        self._path = Path(module_file).with_suffix(".j2")
        self._names = names

    @cached_property
    def _macros(self) -> Any:
        """Return the loaded template; its attributes are its macros."""
        folder = FileSystemLoader(self._path.parent)
        environment = Environment(loader=folder, **_ENVIRONMENT_SETTINGS)
        environment.filters |= {
            "clean": words.clean,
            "percent": words.percent,
            "power": words.power,
            "significant": words.significant,
        }
        names = {**_SHARED_NAMES, **self._names}
        return environment.get_template(self._path.name, globals=names).module

    def paragraphs(self, macro: str, *values: Any, **named_values: Any) -> list[str]:
        """Return the paragraphs of a macro called with the values, without the empty ones."""
        texts = _BLANK_LINE.split(str(getattr(self._macros, macro)(*values, **named_values)))
        joined = [_SPACE_BEFORE_STOP.sub("", text.replace(_EMPTY, "")) for text in texts]
        return [text for line in joined if (text := _SPACES.sub(" ", line).strip(" "))]

    def text(self, macro: str, *values: Any, **named_values: Any) -> str:
        """Return the paragraphs of a macro as one text; empty if it has none."""
        return " ".join(self.paragraphs(macro, *values, **named_values))
