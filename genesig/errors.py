"""Messages for people: what was wrong, where, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from pathlib import PurePath

T = TypeVar("T")


class GenesigError(Exception):
    """An error whose text is meant for the user; the command line shows it without a traceback.

    Examples
    --------
    >>> L1L2Regressor(solver="newtn").fit([[0.0], [1.0]], [0.0, 1.0])
    Traceback (most recent call last):
    genesig.errors.GenesigError: solver: 'newtn' is not known ...
    >>> issubclass(InvalidInput, GenesigError)
    True
    """


@dataclass(frozen=True)
class Problem:
    """One fault in the user's input.

    Attributes
    ----------
    where : str
        File, and row, column or key inside it: ``"samples.tsv, row 3, column 'class'"``.
    what : str
        What was found, what is needed, what to do.
    level : {"error", "warning", "note"}
        An error stops the study; a warning goes into the report; a note, which tells of a choice
        that was made, does not.
    code : str
        Stable name of the fault, for tests and programs; '' where it has none yet.
    key : str
        Setting of the config that the fault speaks of; '' where it has none yet.
    """

    where: str
    what: str
    level: Literal["error", "warning", "note"] = "error"
    code: str = ""
    key: str = ""

    def __str__(self) -> str:
        """Render the problem as its one line; line ends and control codes of names are escaped."""
        return printable(f"{self.level}: {self.where}: {self.what}")


def printable(line: str) -> str:
    """Escape the line ends and control codes that names may hold."""
    return "".join(s if s.isprintable() else s.encode("unicode_escape").decode() for s in line)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return errors before warnings before notes, each once."""
    order = ("error", "warning", "note")
    return sorted(dict.fromkeys(problems), key=lambda problem: order.index(problem.level))


def warnings_of(problems: Iterable[Problem]) -> list[str]:
    """Return what goes into the report."""
    return [f"{p.where}: {p.what}" for p in problems if p.level == "warning"]


class InvalidInput(GenesigError):
    """All the problems that were found, one line each.

    Examples
    --------
    >>> try:
    ...     Study("expression.tsv", "samples.tsv", "diagnosis", seed="one")
    ... except InvalidInput as error:
    ...     print(error.problems[0])
    error: Study, seed: found the text 'one', needs a whole number, ...
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def refuse(where: str | PurePath, what: str, line: int | None = None) -> InvalidInput:
    """Make the error of one fault: where it is, what was found, what to do."""
    return InvalidInput([Problem(f"{where}, line {line}" if line else str(where), what)])


CODES = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
"""Characters that a terminal obeys; blanks of all kinds are none."""


def refuse_codes(names: Iterable[object], where: str | PurePath) -> None:
    """Refuse names with control codes, which would go on into tables and terminals.

    Raises
    ------
    InvalidInput
        With the first of them.
    """
    texts = list(map(str, names))
    if CODES.search("".join(texts)):
        name = next(filter(CODES.search, texts))
        raise refuse(where, f"'{name[:40]}' holds a control code, which a terminal would obey; "
                     "write it without")  # fmt: skip


def attempt(read: Callable[[], T], problems: list[Problem]) -> T | None:
    """Return what a reader gives; keep its problems instead of raising them."""
    try:
        return read()
    except InvalidInput as error:
        problems.extend(error.problems)
        return None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'diagnosis'?"`` for the nearest known word, or an empty string."""
    # A number is no slip of a name, nor a name one of a number.
    of_kind = [name for name in known if _is_whole(name) == _is_whole(word)]
    close = get_close_matches(word, of_kind, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def _is_whole(word: str) -> bool:
    return word.strip().isdigit()


def pick(registry_name: str, registry: Mapping[str, T], name: str) -> T:
    """Look a name up in a registry, or say which names there are."""
    if name not in registry:
        raise GenesigError(
            f"{registry_name}: '{name}' is not known{did_you_mean(name, registry)}"
            f" (known: {', '.join(registry)})"
        )
    return registry[name]
