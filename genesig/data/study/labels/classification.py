"""Classes: which they are, and who is of none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from genesig.data.study.labels.record import (
    Asked,
    Chosen,
    Config,
    Found,
    Labels,
    as_numbers,
    check_class_words,
    check_left_out,
)
from genesig.errors import Problem, did_you_mean
from genesig.words import (
    as_word,
    control_first,
    counted,
    equal_looking,
    flow_yaml,
    is_number,
    listing,
)

if TYPE_CHECKING:
    import pandas as pd

Problems = list[Problem]
MOST = 20  # classes


def _choose(asked: Asked, problems: Problems) -> Chosen:
    labels = asked.labels
    place = asked.where
    classes = asked.settings["classes"]
    chosen = _choose_classes(labels, place, asked, classes, problems)
    if classes is None:
        problems.extend(check_class_words(asked.table, asked.label, chosen, place))
    others = {} if classes is None else _of_other_classes(labels, chosen, place, problems)
    return Chosen(chosen, others)


def _choose_classes(
    column: pd.Series[str],
    place: str,
    asked: Asked,
    classes: Sequence[str] | None,
    problems: Problems,
) -> tuple[str, ...]:
    counts = Counter(sorted(column))
    at = f"{place}, column '{asked.label}'"
    if classes is not None:
        for name in classes:
            if name not in counts:
                near = (
                    did_you_mean(name, counts.keys() - set(classes))
                    or f"; name one of {listing(counts, 6)}"
                )
                problems.append(Problem(at, f"data.classes: no sample is '{name}'{near}"))
        return tuple(classes)
    if len(counts) < 2:
        only = f"every sample is {listing(counts)}" if counts else "no sample has a label"
        problems.append(Problem(at, f"{only}; two classes are needed"))
    if len(counts) > 2 and not equal_looking(counts, as_word):  # which are an error of their own
        problems.extend(_many_classes(counts, at, as_numbers(asked.table, asked.label)))
    names = control_first(list(counts)) if len(counts) == 2 else [*counts]
    return tuple(names) if len(names) > 1 else (*names, "", "")[:2]


def _many_classes(counts: Counter[str], at: str, numbers: str) -> Iterator[Problem]:
    """Say what is odd of more than two classes that nobody has named."""
    found = ", ".join(f"'{name}' ({times})" for name, times in counts.most_common(6))
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    message = f"{len(counts)} classes: {found}{more}"
    if len(counts) > 6 and all(map(is_number, counts)):
        yield Problem(at, f"{message}; {numbers}")
        return
    two = flow_yaml({"classes": control_first([name for name, _ in counts.most_common(2)])})
    if len(counts) > MOST:
        message += f"; at most {MOST} are told apart, choose some, for example data: {two}"
        yield Problem(at, message)
    else:
        message += f", told apart by one list of genes; data: {two} would compare two"
        yield Problem(at, message, "note")


def _of_other_classes(
    column: pd.Series[str], classes: tuple[str, ...] | None, place: str, problems: Problems
) -> dict[str, str]:
    other = {str(name): value for name, value in column.items() if value not in (classes or ())}
    if other:
        times = Counter(other.values())
        found = ", ".join(f"'{name}' ({counted(n, 'sample')})" for name, n in times.items())
        at = f"{place}, column '{column.name}'"
        message = f"left out by data.classes: {found}"
        problems.append(Problem(at, message, "warning"))
        problems.extend(check_left_out(times, classes or (), at))
    return {name: f"class '{value}' is not in data.classes" for name, value in other.items()}


def _settings(config: Config) -> Found:
    if config["linear"]["criterion"] == "partial_likelihood":
        yield "linear.criterion", "'partial_likelihood' is for survival; take it away"


CLASSIFICATION = Labels(
    choose=_choose,
    settings=_settings,
    alone="it gives a balanced error of 0.53 to 0.56 and an AUC of 0.43 to 0.49",
    named=True,
    held=("covariates", "weights"),
    own=("classes", "pair"),
)
