"""What other packages add: formats, normalisation steps, baselines, penalties, by entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from genesig.errors import refuse

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

GROUPS = ("formats", "steps", "baselines", "penalties")


@cache
def offered(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of ``genesig.{group}`` by name; nothing is loaded."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=f"genesig.{group}")}


def packages() -> dict[str, str]:
    """Return the versions of the packages that add something."""
    found = (point.dist for group in GROUPS for point in offered(group).values())
    return {dist.name: dist.version for dist in found if dist is not None}


class Registry(dict[str, T]):
    """A registry that other packages may add to.

    What they offer is looked for when a name is not one of its own, and loaded when it is used.

    Parameters
    ----------
    group : str
        ``genesig.{group}`` is the group of the entry points.
    own : mapping
        What stands here already; it cannot be replaced.
    fits : function (object) -> bool
        Whether an object is one of this kind.
    """

    def __init__(self, group: str, own: Mapping[str, T], fits: Callable[[Any], bool]) -> None:
        super().__init__(own)
        self.group, self.fits = group, fits

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in offered(self.group)

    def __missing__(self, name: str) -> T:
        """Load what another package offers under a name.

        Raises
        ------
        InvalidInput
            It cannot be loaded, or is none of this kind.
        """
        points = offered(self.group)
        if name not in points:
            raise KeyError(name)
        point = points[name]
        package = point.value if point.dist is None else point.dist.name
        where, what = (
            f"plugin '{name}' of the package {package}",
            "mend the package or uninstall it",
        )
        try:
            found: T = point.load()
        except Exception as error:  # another's code raises what it likes
            why = " ".join(f"{type(error).__name__}: {error}".split())[:160]
            raise refuse(where, f"cannot be loaded ({why}); {what}") from None
        if not self.fits(found):
            raise refuse(where, f"{point.value} is none of genesig.{self.group}; {what}")
        self[name] = found
        return found
