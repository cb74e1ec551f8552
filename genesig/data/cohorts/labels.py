"""Labels, times and events of another study, in the words of this one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.study.labels.times import (
    check_blank_times,
    check_event_coding,
    with_joined_times,
)
from genesig.data.study.sheet_check import check_column
from genesig.data.study.unlabelled import unlabelled_samples
from genesig.errors import Problem, did_you_mean
from genesig.response.design import Label, label_columns, time_columns
from genesig.response.known import RESPONSES
from genesig.response.survival import happened, times
from genesig.results import Design
from genesig.words import counted, further_text, is_missing, is_number, listing, number_fault

if TYPE_CHECKING:
    import pandas as pd

Problems = list[Problem]
Translate = Callable[..., tuple[dict[str, str], list[dict[str, str]]]]
NO_LABELS = "to score samples without labels: genesig predict results/model.json FILE"


class Asked(NamedTuple):
    """Sample table of another study, with what the config says of its labels; problems join.

    `leave_out` tells that samples without a label are left out, however many they are.
    """

    table: pd.DataFrame
    where: str
    design: Design
    label: Label | None
    classes: Mapping[Any, str]
    event: str | None
    problems: Problems
    leave_out: bool = False


@dataclass(frozen=True, eq=False)
class Labels:
    """Samples with a label: names, what their table says, the same in the study's words, y."""

    names: tuple[str, ...]
    given: tuple[str, ...]
    labels: tuple[str, ...]
    y: Array
    dropped: list[dict[str, str]]


def has_columns(asked: Asked, columns: Sequence[str]) -> bool:
    """Tell whether the columns are there, each once; add what is wrong to the problems."""
    known = list(map(str, asked.table.columns))
    index = str(asked.table.index.name)
    for column in columns:
        if column not in known:
            found: Problems = []
            check_column(column, "label", known, index, asked.where, found)
            asked.problems.extend([Problem(p.location, f"{p.message}; {NO_LABELS}") for p in found])
    return all(known.count(column) == 1 for column in columns)


def _one_column(asked: Asked, translate: Translate) -> Labels | None:
    column = asked.design.label if asked.label is None else asked.label
    if not isinstance(column, str) or not has_columns(asked, [column]):
        return None  # of a mapping the settings say that it does not fit
    problems = asked.problems
    at = f"{asked.where}, column '{column}'"
    given = {str(name): str(value) for name, value in asked.table[column].items()}
    words = {str(word): name for word, name in asked.classes.items()}
    blank = {name for name, value in given.items() if is_missing(value) and value not in words}
    if len(blank) == len(given):
        message = f"no sample has a label, so nothing can be tested; {NO_LABELS}"
        problems.append(Problem(at, message))
        return None
    reasons = _unlabelled(asked, asked.table, column, list(words))
    dropped = [left_out(name, reason) for name, reason in reasons.items()]
    rest = {name: value for name, value in given.items() if name not in blank}
    chosen, others = translate(rest, asked.design, words, at, problems)
    names = tuple(chosen)
    faulty = any(problem.level == "error" for problem in problems)
    y = np.full(len(chosen), np.nan) if faulty else _coded(chosen, asked.design)
    return Labels(
        names, tuple(given[name] for name in names), tuple(chosen.values()), y, dropped + others
    )


def _unlabelled(
    asked: Asked, table: pd.DataFrame, column: str, words: Sequence[str]
) -> dict[str, str]:
    """Return the samples without a label and the reason, by the rule for those of a study."""
    return unlabelled_samples(
        table,
        asked.where,
        column,
        classes=words,
        words_are_classes=False,
        leave_out=asked.leave_out,
        problems=asked.problems,
        key="unlabelled",
    )


def of_classes(asked: Asked) -> Labels | None:
    """Read classes; None where the problems say why not."""
    return _one_column(asked, _translate)


def of_numbers(asked: Asked) -> Labels | None:
    """Read numbers; None where the problems say why not."""
    return _one_column(asked, _numbers)


def _coded(chosen: dict[str, str], design: Design) -> Array:
    import pandas as pd

    return RESPONSES[design.kind].read(pd.DataFrame({design.label: list(chosen.values())}), design)


def _translate(
    given: dict[str, str], design: Design, words: dict[str, str], at: str, problems: Problems
) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Turn labels into classes of the study; samples of other classes are left out and counted."""
    classes = design.classes or ()
    counts = Counter(given.values())
    turned = {name: word for word, name in words.items()}
    if turned and set(turned) <= set(counts) and set(words) <= set(classes) - set(turned):
        pairs = ", ".join(f"{word}: {name}" for word, name in turned.items())
        message = (
            "classes: the other way round; their word first, then the class of the study: "
            f"{{{pairs}}}"
        )
        problems.append(Problem(at, message))
        return {}, []
    for word, name in words.items():
        if name not in classes:
            near = did_you_mean(name, classes) or f"; name one of {listing(classes, 6)}"
            problems.append(Problem(at, f"classes: '{name}' is no class of the study{near}"))
        if word not in counts:
            near = did_you_mean(word, counts)
            message = f"classes: no sample is '{word}'{near or f' (found: {listing(counts, 6)})'}"
            problems.append(Problem(at, message, "error" if near else "warning"))
    named = {name: words.get(value, value) for name, value in given.items()}
    chosen = {name: value for name, value in named.items() if value in classes}
    other = Counter(given[name] for name in named if name not in chosen)
    found = ", ".join(f"'{word}' ({counted(n, 'sample')})" for word, n in other.items())
    if not chosen:
        message = f"no label is a class of the study: found {found}, needs {listing(classes)}; "
        problems.append(Problem(at, message + _mapping(list(other), classes)))
    elif other:
        problems.append(Problem(at, f"left out, as no class of the study: {found}", "warning"))
    for name in classes if chosen else ():
        if name not in chosen.values():
            message = (
                f"no sample is '{name}', so AUC and balanced error are not defined; the samples "
                "are scored"
            )
            near = f"; {_mapping(list(other), (name,))}" if other else ""
            problems.append(Problem(at, message + near, "warning"))
    return chosen, [
        left_out(name, f"class '{given[name]}' is no class of the study")
        for name in named
        if name not in chosen
    ]


def _mapping(words: list[str], classes: tuple[str, ...]) -> str:
    """Write the setting that is probably meant."""
    near = {name: get_close_matches(name, words, n=1, cutoff=0.4) for name in classes}
    pairs = [f"{(near[name] or ['THEIR WORD'])[0]}: {name}" for name in classes]
    return f"is it spelled otherwise? classes: {{{', '.join(pairs)}}}"


def _numbers(
    given: dict[str, str], design: Design, words: dict[str, str], at: str, problems: Problems
) -> tuple[dict[str, str], list[dict[str, str]]]:
    wrong = [name for name, value in given.items() if not is_number(value)]
    if wrong:
        more = f" ({counted(len(wrong) - 1, 'further cell')})" if len(wrong) > 1 else ""
        message = (
            f"the label of '{wrong[0]}' {number_fault(given[wrong[0]])}{more}"
            "; regression needs a number for each sample"
        )
        problems.append(Problem(at, message))
    return given, []


def left_out(name: str, reason: str) -> dict[str, str]:
    """Return the note of a sample that is left out."""
    return {"kind": "sample", "name": name, "reason": reason}


UNIT = "if they are in another unit, bring them to that of the study"
APART = 6.0
"""How many times the study's horizon the median time may be: a year has twelve months."""


def of_times(asked: Asked) -> Labels | None:
    """Read the columns of time and event; None where the problems say why not."""
    design = asked.design
    label = asked.label
    if isinstance(label, str) or design.event is None:
        return None  # the settings say so
    named = label if isinstance(label, Mapping) else {"time": design.label, "event": design.event}
    times_of_label = time_columns(named)
    time, event = label_columns(named)
    if not has_columns(asked, [*times_of_label, event]):
        return None
    table = with_joined_times(asked.table, times_of_label)
    word = design.occurred or "1" if asked.event is None else asked.event
    if blank_times := list(check_blank_times(table, asked.where, time, event, word)):
        asked.problems.extend(blank_times)
        return None
    asked.problems.extend(check_event_coding(table, asked.where, (time, event), word, "event"))
    cells = {str(name): (str(row[time]), str(row[event])) for name, row in table.iterrows()}
    blank = [name for name, both in cells.items() if any(map(is_missing, both))]
    known = {name: both for name, both in cells.items() if name not in set(blank)}
    faults = list(_faults(asked, known, (time, event), word))
    asked.problems.extend(faults)
    if faults:
        return None
    without_time = _unlabelled(asked, table, time, ())
    if no_event := [name for name in blank if name not in without_time]:
        message = f"no event for {listing(no_event)}; left out ({len(no_event)} of {len(cells)})"
        asked.problems.append(Problem(f"{asked.where}, column '{event}'", message, "warning"))
    y = times(
        np.array([float(t) for t, _ in known.values()]),
        np.array([happened(e, word) for _, e in known.values()], bool),
    )
    asked.problems.extend(_to_compare(asked, y, time, event))
    shown = tuple(
        t.strip() + ("" if came else "+")
        for (t, _), came in zip(known.values(), y["event"], strict=True)
    )
    given = tuple(f"{t} {e}" for t, e in known.values())
    dropped = [left_out(name, f"no time or event in columns '{time}', '{event}'") for name in blank]
    return Labels(tuple(known), given, shown, y, dropped)


def _faults(
    asked: Asked, known: dict[str, tuple[str, str]], columns: tuple[str, str], word: str
) -> Iterator[Problem]:
    time, event = (f"{asked.where}, column '{column}'" for column in columns)
    if not known:
        yield Problem(
            time, f"no sample has a time and an event, so nothing can be tested; {NO_LABELS}"
        )
        return
    odd = {name: number_fault(t) for name, (t, _) in known.items() if not is_number(t)}
    odd |= {
        name: f"is {t.strip()}, before the start"
        for name, (t, _) in known.items()
        if is_number(t) and float(t) < 0
    }
    for name, message in list(odd.items())[:1]:
        said = f"the time of '{name}' {message}; survival needs a time of at least 0"
        yield Problem(time, said + too(len(odd) - 1, "sample"))
    counts = Counter(e.strip() for _, e in known.values())
    if not any(happened(cell, word) for cell in counts):
        found = ", ".join(f"'{cell}' ({n})" for cell, n in counts.most_common(6))
        near = did_you_mean(word, counts) or f"; name their word in event, found {found}"
        yield Problem(
            event, f"no event, as no sample is '{word}', so there is nothing to order{near}"
        )


def _to_compare(asked: Asked, y: np.ndarray, time: str, event: str) -> Iterator[Problem]:
    """Yield that no pair is ordered, or that times look as if they had another unit."""
    design = asked.design
    at = f"{asked.where}, column '{time}'"
    if reason := RESPONSES[design.kind].training_fault(y, None):
        yield Problem(at, f"the samples {reason}, so there is nothing to order; {NO_LABELS}")
    elif design.horizon is not None and not y["time"].min() <= design.horizon < y["time"].max():
        message = (
            f"from {y['time'].min():g} to {y['time'].max():g}, without the horizon of the study,"
            f" {design.horizon:g}; {UNIT}"
        )
        yield Problem(at, message, "warning")
    elif design.horizon and not 1 / APART < np.median(y["time"]) / design.horizon < APART:
        message = (
            f"half of the times are up to {np.median(y['time']):g}, and the horizon of the study"
            f" is {design.horizon:g}; {UNIT}"
        )
        yield Problem(at, message, "warning")
