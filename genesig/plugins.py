"""Plug-ins of other packages (formats, steps, methods, penalties) by their entry points."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from genesig.errors import GenesigError, input_error

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Entry = TypeVar("Entry")
# name of a function -> the function, its positional and its keyword arguments, as genesig calls it
Calls = dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[str, ...]]]

# environment variable with the names of the packages to use, commas between; all if it is not set
PLUGINS_VARIABLE = "GENESIG_PLUGINS"


def _format_calls(plugin: Any) -> Calls:
    """Return how a format is called."""
    return {"matrix": (plugin.matrix, ("content", "file_name", "part"), ())}


def _step_calls(plugin: Any) -> Calls:
    """Return how a step of normalisation is called.

    Only a step of kind "batch" gets rows of the sample table; one of kind "sample" learns nothing,
    so that its class is called instead of `fit`.
    """
    table = ("sample_table",) if plugin.kind == "batch" else ()
    constructor = (plugin, ()) if plugin.kind == "sample" else (plugin.fit, ("X", *table))
    return {
        "transform": (plugin.transform, ("self", "X", *table), ()),
        getattr(constructor[0], "__name__", "fit"): (*constructor, tuple(plugin.settings)),
    }


def _baseline_calls(plugin: Any) -> Calls:
    """Return how a method is called for each kind of outcome; `plugin` is kind -> function."""
    arguments = ("X", "y", "X_test", "inner", "random_state")
    calls: Calls = {}
    for kind, function in plugin.items():
        takes_genes = "genes" in signature(function).parameters
        calls[kind] = (function, arguments, ("genes",) if takes_genes else ())
    return calls


def _penalty_calls(plugin: Any) -> Calls:
    """Return how a penalty is called."""
    return {"the penalty": (plugin, ("tau", "n", "block", "weights", "mu"), ())}


# group of plug-ins -> function from a plug-in to its calls; raises AttributeError or TypeError for
# an object that is no plug-in of this group
CALLS_OF_GROUP: dict[str, Callable[[Any], Calls]] = {
    "formats": _format_calls,
    "steps": _step_calls,
    "baselines": _baseline_calls,
    "penalties": _penalty_calls,
}


@cache
def entry_points_of(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of ``genesig.{group}`` by name; none is loaded."""
    from importlib.metadata import entry_points

    chosen_packages = os.environ.get(PLUGINS_VARIABLE)
    points = entry_points(group=f"genesig.{group}")
    return {
        point.name: point
        for point in points
        if chosen_packages is None or (point.dist and point.dist.name in chosen_packages.split(","))
    }


def plugin_versions() -> dict[str, str]:
    """Return the versions of the packages with plug-ins."""
    distributions = (
        point.dist for group in CALLS_OF_GROUP for point in entry_points_of(group).values()
    )
    return {dist.name: dist.version for dist in distributions if dist is not None}


def load_plugin(group: str, name: str) -> Any:
    """Return the plug-in of this name.

    Raises InvalidInput if it cannot be loaded, is of another kind, or cannot be called as genesig
    calls it.
    """
    point = entry_points_of(group)[name]
    origin = _plugin_origin(group, name)
    try:
        plugin = point.load()
    except Exception as error:  # another's code raises what it likes
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        message = f"cannot be loaded ({reason}); mend the package or uninstall it"
        raise input_error(origin, message) from None
    if fault := _call_fault(group, plugin, point.value):
        raise input_error(origin, f"{fault}; mend the package or uninstall it")
    return plugin


def _call_fault(group: str, plugin: Any, value: str) -> str:
    """Return why an object cannot be called as a plug-in of this group; "" if it can.

    value: the object's name in its package, ``"package.module:name"``.
    """
    try:
        calls = CALLS_OF_GROUP[group](plugin)
    except (AttributeError, TypeError):
        return f"{value} is none of genesig.{group}"
    for name, (function, positional, keywords) in calls.items():
        if not callable(function):
            return f"{value}: {name} is no function"
        try:
            signature(function).bind(*positional, **dict.fromkeys(keywords))
        except TypeError:
            call = ", ".join([*positional, *(f"{keyword}=…" for keyword in keywords)])
            return f"{value}: {name} takes {signature(function)}, but is called with ({call})"
    return ""


@contextmanager
def plugin_errors(group: str, name: str) -> Iterator[None]:
    """Turn what a plug-in raises in this context into one line.

    Raises GenesigError with the package and its error; errors of genesig itself pass unchanged.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, GenesigError | MemoryError) or name not in entry_points_of(group):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise GenesigError(
            f"{_plugin_origin(group, name)} failed ({reason}); mend the package"
        ) from error


def check_plugin_result(group: str, name: str, result: Any, shape: tuple[int, ...]) -> None:
    """Raise GenesigError if a plug-in's result has another shape, or scores are not finite.

    Scores are results whose `shape` has one length. Axes behind those of `shape` are accepted.
    """
    if name not in entry_points_of(group):  # genesig's own
        return
    with plugin_errors(group, name):
        values = np.asarray(result, dtype=np.float64)
    if values.shape[: len(shape)] != shape:
        message = (
            f"gives an array of shape {values.shape}, where {shape} is needed; mend the package"
        )
        raise GenesigError(f"{_plugin_origin(group, name)} {message}")
    if len(shape) == 1 and not np.isfinite(values).all():
        message = "gives a score that is no finite number; mend the package"
        raise GenesigError(f"{_plugin_origin(group, name)} {message}")


def _plugin_origin(group: str, name: str) -> str:
    """Return the name of a plug-in and of its package."""
    point = entry_points_of(group)[name]
    package = point.value if point.dist is None else point.dist.name
    return f"plugin '{name}' of the package {package}"


class Registry(dict[str, Entry]):
    """A registry to which other packages can add.

    A name that is not among `entries` is looked up in the entry points of ``genesig.{group}``, and
    loaded when it is used. Entries cannot be replaced.
    """

    def __init__(self, group: str, entries: Mapping[str, Entry]) -> None:
        super().__init__(entries)
        self.group = group

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in entry_points_of(self.group)

    def __missing__(self, name: str) -> Entry:
        """Load the plug-in of this name, see `load_plugin`."""
        entry: Entry = load_plugin(self.group, name)
        self[name] = entry
        return entry
