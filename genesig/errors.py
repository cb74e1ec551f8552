"""Errors and problems for users: where, what was found, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from pathlib import PurePath

Result = TypeVar("Result")


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


class LocatedError(GenesigError):
    """An error of a setting, or of a split; its text is ``location: message``."""

    def __init__(self, location: str, message: str) -> None:
        super().__init__(f"{location}: {message}")
        self.location = location
        self.message = message


@dataclass(frozen=True)
class Problem:
    """A fault in the user's input, or a note about it."""

    location: str  # file, and row, column or key inside it: "samples.tsv, row 3, column 'class'"
    message: str  # what was found, what is needed, what to do
    # an error stops the study, a warning goes into the report, a note reports a choice
    level: Literal["error", "warning", "note"] = "error"
    code: str = ""  # stable name of the fault, for tests and programs; "" without one
    key: str = ""  # setting of the config at fault, "normalise.folds"; "" without one

    @property
    def section(self) -> str:
        """First part of the setting at fault, "normalise"; "" without a setting."""
        return self.key.partition(".")[0]

    def with_option(self, options: Mapping[str, str]) -> Problem:
        """Return the problem with the option of a command in place of the setting at fault.

        options: setting -> option. The problem is unchanged if its `key` is none of the settings.
        """
        option = options.get(self.key)
        if option is None:
            return self
        return replace(self, message=self.message.replace(self.key, option), key="")

    def __str__(self) -> str:
        """Return the problem as one line; line ends and control codes of names are escaped."""
        return printable(f"{self.level}: {self.location}: {self.message}")


def printable(line: str) -> str:
    """Return the text with escaped line ends and control codes, which names may hold."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in line
    )


def has_errors(problems: Iterable[Problem]) -> bool:
    """Tell whether a problem is an error."""
    return any(problem.level == "error" for problem in problems)


def order_by_level(problems: Iterable[Problem]) -> list[Problem]:
    """Return errors before warnings before notes, without repeats."""
    levels = ("error", "warning", "note")
    return sorted(dict.fromkeys(problems), key=lambda problem: levels.index(problem.level))


def warnings_of(problems: Iterable[Problem]) -> list[str]:
    """Return the lines of the warnings, for the report."""
    return [
        f"{problem.location}: {problem.message}"
        for problem in problems
        if problem.level == "warning"
    ]


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


def input_error(
    location: str | PurePath, message: str, line: int | None = None, *, key: str = ""
) -> InvalidInput:
    """Return the error of one fault; see the fields of `Problem`."""
    line_location = f"{location}, line {line}" if line else str(location)
    return InvalidInput([Problem(line_location, message, key=key)])


# characters that a terminal obeys; blanks of all kinds are not among them
CONTROL_CODES = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def refuse_codes(names: Iterable[object], location: str | PurePath) -> None:
    """Raise InvalidInput for the first name with control codes."""
    texts = list(map(str, names))
    if CONTROL_CODES.search("".join(texts)):
        name = next(filter(CONTROL_CODES.search, texts))
        raise input_error(
            location,
            f"'{name[:40]}' holds a control code, which a terminal would obey; write it without",
        )


@contextmanager
def problems_appended_to(problems: list[Problem]) -> Iterator[None]:
    """Append the problems that a block raises to a list; the block ends at the first error."""
    try:
        yield
    except InvalidInput as error:
        problems.extend(error.problems)


def did_you_mean(word: str, known_words: Iterable[str]) -> str:
    """Return "; did you mean 'diagnosis'?" for the nearest known word; "" if none is near."""
    # Nobody writes a number for a name, nor a name for a number, by a slip.
    candidates = [name for name in known_words if _is_whole(name) == _is_whole(word)]
    matches = get_close_matches(word, candidates, n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""


def _is_whole(word: str) -> bool:
    """Tell whether a word is a whole number."""
    return word.strip().isdigit()


def pick(registry_name: str, registry: Mapping[str, Result], name: str) -> Result:
    """Return the entry of a registry; raise with the known names if it has none of this name."""
    if name not in registry:
        raise GenesigError(
            f"{registry_name}: '{name}' is not known{did_you_mean(str(name), registry)}"
            f" (known: {', '.join(registry)})"
        )
    return registry[name]
