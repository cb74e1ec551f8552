"""What other packages add: formats, normalisation steps, baselines, penalties, by entry points."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from genesig.errors import GenesigError, refuse

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
Called = dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[str, ...]]]

ONLY = "GENESIG_PLUGINS"
"""Variable of the environment: names of the packages that count; all, where it is unset."""


def _format(found: Any) -> Called:
    return {"matrix": (found.matrix, ("content", "where", "part"), ())}


def _step(found: Any) -> Called:
    about = ("about",) if found.kind == "batch" else ()
    made = (found, ()) if found.kind == "sample" else (found.fit, ("X", *about))
    return {
        "transform": (found.transform, ("self", "X", *about), ()),
        getattr(made[0], "__name__", "fit"): (*made, tuple(found.settings)),
    }


def _baseline(found: Any) -> Called:
    arguments = ("X", "y", "X_test", "inner", "random_state")
    asks = {kind: "genes" in signature(f).parameters for kind, f in found.items()}
    return {kind: (f, arguments, ("genes",) * asks[kind]) for kind, f in found.items()}


def _penalty(found: Any) -> Called:
    return {"the penalty": (found, ("tau", "n", "block", "weights", "mu"), ())}


GROUPS: dict[str, Callable[[Any], Called]] = {
    "formats": _format, "steps": _step, "baselines": _baseline, "penalties": _penalty,
}  # fmt: skip
"""Group -> what is called of each thing in it, with what and what by name; an AttributeError or
TypeError where a thing is none of this kind."""


@cache
def offered(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of ``genesig.{group}`` by name; nothing is loaded."""
    from importlib.metadata import entry_points

    only = os.environ.get(ONLY)
    found = entry_points(group=f"genesig.{group}")
    return {p.name: p for p in found
            if only is None or (p.dist and p.dist.name in only.split(","))}  # fmt: skip


def packages() -> dict[str, str]:
    """Return the versions of the packages that add something."""
    found = (point.dist for group in GROUPS for point in offered(group).values())
    return {dist.name: dist.version for dist in found if dist is not None}


def load(group: str, name: str) -> Any:
    """Load what another package offers under a name.

    Raises
    ------
    InvalidInput
        It cannot be loaded, is none of this kind, or cannot be called as genesig calls it.
    """
    point, where = offered(group)[name], _origin(group, name)
    try:
        found = point.load()
    except Exception as error:  # another's code raises what it likes
        why = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        what = f"cannot be loaded ({why}); mend the package or uninstall it"
        raise refuse(where, what) from None
    if fault := _fault(group, found, point.value):
        raise refuse(where, f"{fault}; mend the package or uninstall it")
    return found


def _fault(group: str, found: Any, value: str) -> str:
    """Say why something cannot stand in a group, or nothing."""
    try:
        called = GROUPS[group](found)
    except (AttributeError, TypeError):
        return f"{value} is none of genesig.{group}"
    for name, (function, given, named) in called.items():
        if not callable(function):
            return f"{value}: {name} is no function"
        try:
            signature(function).bind(*given, **dict.fromkeys(named))
        except TypeError:
            call = ", ".join([*given, *(f"{each}=…" for each in named)])
            return f"{value}: {name} takes {signature(function)}, but is called with ({call})"
    return ""


@contextmanager
def answering(group: str, name: str) -> Iterator[None]:
    """Run what stands under a name; what another package's code raises becomes one line.

    Raises
    ------
    GenesigError
        With the package and what it raised; what genesig itself raises is left as it is.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, GenesigError | MemoryError) or name not in offered(group):
            raise
        why = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise GenesigError(f"{_origin(group, name)} failed ({why}); mend the package") from error


def check_answer(group: str, name: str, answer: Any, shape: tuple[int, ...]) -> None:
    """Hold what another package's code gives against its shape, as far as that is known.

    Raises
    ------
    GenesigError
        It has another shape, or a value that is no finite number where `shape` has one length.
    """
    if name not in offered(group):
        return
    with answering(group, name):
        found = np.asarray(answer, dtype=np.float64)
    if found.shape[: len(shape)] != shape:
        what = f"gives an array of shape {found.shape}, where {shape} is needed; mend the package"
        raise GenesigError(f"{_origin(group, name)} {what}")
    if len(shape) == 1 and not np.isfinite(found).all():
        what = "gives a score that is no finite number; mend the package"
        raise GenesigError(f"{_origin(group, name)} {what}")


def _origin(group: str, name: str) -> str:
    point = offered(group)[name]
    package = point.value if point.dist is None else point.dist.name
    return f"plugin '{name}' of the package {package}"


class Registry(dict[str, T]):
    """A registry that other packages may add to.

    What they offer is looked for when a name is not one of its own, and loaded when it is used.

    Parameters
    ----------
    group : str
        ``genesig.{group}`` is the group of the entry points.
    own : mapping
        What stands here already; it cannot be replaced.
    """

    def __init__(self, group: str, own: Mapping[str, T]) -> None:
        super().__init__(own)
        self.group = group

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in offered(self.group)

    def __missing__(self, name: str) -> T:
        """Load what another package offers under a name, see `load`."""
        found: T = load(self.group, name)
        self[name] = found
        return found
