"""What is asked of the sample table, and what each kind of response answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from genesig.errors import Problem

if TYPE_CHECKING:
    import pandas as pd

Config = dict[str, Any]
Found = Iterator[tuple[str, str] | tuple[str, str, str]]


class Asked(NamedTuple):
    """The sample table with what the config says of its label.

    Attributes
    ----------
    table : DataFrame of strings
        All samples; ``attrs["lines"]`` are their lines in the file.
    where : str
        The file, in messages.
    columns : sequence of str
        Those of the response, the first of which is the label.
    labels : Series of str
        Those of the samples that have one.
    settings : mapping
        The section ``data`` of the config.
    """

    table: pd.DataFrame
    where: str
    columns: Sequence[str]
    labels: pd.Series[str]
    settings: Mapping[str, Any]

    @property
    def label(self) -> str:
        """The column of the label."""
        return self.columns[0]


@dataclass(frozen=True)
class Chosen:
    """The classes, or None; name -> reason of each sample left out; further fields of `Design`."""

    classes: tuple[str, ...] | None = None
    dropped: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Labels:
    """One kind of response, as it is checked.

    Attributes
    ----------
    choose : callable
        What is asked, and the list that problems join, to what is chosen.
    settings : callable
        Resolved config to (key, what is wrong with it) of each setting that does not fit the kind.
    alone : str
        What leave-one-out gives without any signal; not asked of a kind that refuses it.
    named : bool
        Whether there are classes, which another study may name otherwise.
    own : tuple of str
        Keys of the section ``data`` that other kinds may lack.
    held : tuple of str
        Which of ``data.covariates`` and ``data.weights`` are offered.
    columns : tuple of str
        What ``label`` maps to columns; nothing where it is one column.
    one_of_a_group : bool
        Whether the samples of one group must have one response.
    step : float
        Seconds of one fit of a path, beside those of its products; for each of several classes.
    sets : float
        Paths over gene sets of two classes that one of this kind takes as long as.
    defaults : mapping
        Settings of the config that are others than the schema's, where it names none.
    """

    choose: Callable[[Asked, list[Problem]], Chosen]
    settings: Callable[[Config], Found]
    named: bool
    alone: str = ""
    own: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    one_of_a_group: bool = False
    step: float = 0.0
    sets: float = 1.0
    defaults: Config = field(default_factory=dict)
    held: tuple[str, ...] = ()


def line(table: pd.DataFrame, row: int) -> int:
    """Return the line of the file on which a row of the table stands."""
    return int(table.attrs["lines"][row])
