"""The kinds of response by the names of ``data.task``."""

from __future__ import annotations

from typing import Any, TypeVar

from genesig.response.classification import CLASSIFICATION
from genesig.response.design import SEVERAL
from genesig.response.record import Response
from genesig.response.regression import REGRESSION
from genesig.response.several_classes import SEVERAL_CLASSES
from genesig.response.survival import SURVIVAL

T = TypeVar("T")

RESPONSES: dict[str, Response] = {
    "classification": CLASSIFICATION,
    SEVERAL: SEVERAL_CLASSES,
    "regression": REGRESSION,
    "survival": SURVIVAL,
}


class ByKind(dict[str, T]):
    """A table by kinds of response: a kind that is `like` another one may have no entry."""

    def __contains__(self, kind: object) -> bool:
        like = _like(kind)
        return super().__contains__(kind) or (like is not None and like in self)

    def __missing__(self, kind: str) -> T:
        """Return the entry of the kind that this one is like."""
        if (like := _like(kind)) is None:
            raise KeyError(kind)
        return self[like]

    def get(self, kind: str, default: Any = None) -> Any:
        """Return the entry of a kind, or of the kind that it is like."""
        try:
            return self[kind]
        except KeyError:
            return default


def _like(kind: object) -> str | None:
    return RESPONSES[kind].like if isinstance(kind, str) and kind in RESPONSES else None
