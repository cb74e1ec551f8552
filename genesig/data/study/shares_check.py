"""The shares of classes for which probabilities are asked, against the classes there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from genesig.errors import Problem
from genesig.response.design import Design
from genesig.words import counted, listing

NEAR = 1e-6
"""Largest distance of the sum of shares from 1."""


def check_shares(asked: str | Sequence[float], design: Design, source: str) -> Iterator[Problem]:
    """Yield what is wrong with the shares that a config asks for.

    Parameters
    ----------
    asked : str or list of float
        ``probabilities`` of the config.
    design : Design
    source : str
        Name of the config in messages.
    """
    where = f"{source}, probabilities"
    if design.classes is None:
        if asked != "study":
            yield Problem(where, f"is for classes, and {design.task} has none; take it away")
    elif not isinstance(asked, str):
        if len(asked) != len(design.classes):
            what = f"{counted(len(asked), 'share')} for {len(design.classes)} classes: give one of "
            yield Problem(where, f"{what}each, in this order: {listing(design.classes, 20)}")
        elif abs(sum(asked) - 1) > NEAR:
            yield Problem(where, f"the shares add up to {sum(asked):g}; they must add up to 1")
