"""Sentences of a topic, from the template that stands beside its module."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from genesig.report.page import measure, words
from genesig.report.page.tables import NO_INTERVAL, comparison_words, neither_beats_chance

_SPACES = re.compile(r"[ \n]+")  # but not U+00A0
_SPACE_BEFORE_STOP = re.compile(r"[ \n]+(?=[.,;:)]+(?:[ \n]|$))")
_BLANK_LINE = re.compile(r"\n *\n")
_EMPTY = "\x00"  # stands for a value without letters, so that it leaves no blank line


def _stripped(value: Any) -> Any:
    """Return a value without the spaces around it, which a macro has at its lines' ends."""
    return value.strip(" \n") or _EMPTY if isinstance(value, str) else value


_ENVIRONMENT_SETTINGS: dict[str, Any] = {
    "undefined": StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
    "finalize": _stripped,
}
_SHARED_NAMES = {
    **{name: value for module in (measure, words) for name, value in vars(module).items()},
    "NO_INTERVAL": NO_INTERVAL,
    "comparison_words": comparison_words,
    "neither_beats_chance": neither_beats_chance,
}


class Wording:
    """The macros of a template (``sets.j2`` beside ``sets.py``), each called by its name.

    Templates hold plain text; the page escapes it. Lines of a paragraph are joined, and a blank
    line ends it.
    """

    def __init__(self, module_file: str, **names: Any) -> None:
        """Take the ``__file__`` of the topic's module, and names that its template may use."""
        self._path = Path(module_file).with_suffix(".j2")
        self._names = names

    @cached_property
    def _macros(self) -> Any:
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

    def paragraphs(self, macro: str, *values: Any) -> list[str]:
        """Return the paragraphs of a macro that have any letters."""
        texts = _BLANK_LINE.split(str(getattr(self._macros, macro)(*values)))
        joined = [_SPACE_BEFORE_STOP.sub("", text.replace(_EMPTY, "")) for text in texts]
        return [text for line in joined if (text := _SPACES.sub(" ", line).strip(" "))]

    def text(self, macro: str, *values: Any) -> str:
        """Return the one paragraph of a macro; empty if it has none."""
        return " ".join(self.paragraphs(macro, *values))
