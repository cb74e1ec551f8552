"""The sample sheet: which samples are in the study, and what each of them is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genesig.data.files.formats.interface import DOUBTS_ATTRIBUTE
from genesig.data.study.labels.known import LABELS
from genesig.data.study.labels.record import Asked, check_names_alike, line, two_columns
from genesig.data.study.unlabelled import unlabelled_samples
from genesig.errors import Problem, did_you_mean
from genesig.results import Design
from genesig.words import further_text, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

Problems = list[Problem]

SHOWN = 12
"""Columns that a message names."""


@dataclass(frozen=True)
class Sheet:
    """The sample table, checked.

    Attributes
    ----------
    obs : DataFrame
        Rows of the study's samples by name, every cell a string.
    names : tuple of str
        Every sample of the table, also those that are left out.
    design : Design
    dropped : list of dict
        {kind, name, reason} of each sample that is left out.
    """

    obs: pd.DataFrame
    names: tuple[str, ...]
    design: Design
    dropped: list[dict[str, str]]


def check_sheet(
    table: pd.DataFrame,
    place: str,
    *,
    label: Sequence[str],
    task: str,
    settings: Mapping[str, Any],
    group: str | None,
    pair: str | None,
    batch: str | None,
    studies: bool = False,
    problems: Problems,
) -> Sheet | None:
    """Choose the study's samples; add what is wrong to `problems`.

    `settings` are those of the section ``data`` that the kinds of response have, `label` the
    columns of the response, `studies` tells whether the batches are studies. Returns None where a
    column is missing: nothing can be said without it.
    """
    table = storable(table, place, problems)
    if len(set(label)) != max(1, len(LABELS[task].columns)):
        hints = two_columns(table, settings["event"]) if LABELS[task].columns else ()
        problems.extend(Problem(place, message, "warning") for message in hints)
        return None  # the settings are at fault, and say so
    check_ids(table, place, problems)
    known = [name for name in table.columns if name]
    named = {"data.group": group, "data.pair": pair, "data.batch": batch}
    for key, column in [*(("label", column) for column in label), *named.items()]:
        check_column(column, key, known, str(table.index.name), place, problems)
    if not set(label) <= set(table.columns) or not table.columns.is_unique:
        return None
    dropped = unlabelled_samples(
        table,
        place,
        label[0],
        classes=settings["classes"] or (),
        words_are_classes=LABELS[task].named,
        problems=problems,
        leave_out=settings.get("unlabelled") == "leave_out",
    )
    labels = table[label[0]][[name not in dropped for name in table.index]]
    chosen = LABELS[task].choose(Asked(table, place, label, labels, settings), problems)
    if any(problem.code == "times_of_one_outcome" for problem in problems):  # which says why
        blank = ("labels_missing", "many_labels_missing")
        problems[:] = [problem for problem in problems if problem.code not in blank]
    dropped |= chosen.dropped
    obs = table[[name not in dropped for name in table.index]]
    for key, column in named.items():
        if column in table.columns:
            _check_filled(obs, place, key, str(column), problems)
            problems.extend(check_names_alike(table, key, str(column), place))
    design = Design(
        label[0],
        task,
        chosen.classes,
        group=pair or group,
        pair=pair,
        batch=batch,
        studies=studies,
        **chosen.more,
    )
    notes = [{"kind": "sample", "name": n, "reason": why} for n, why in sorted(dropped.items())]
    # All that is drawn goes by rows: in the order of the names, that of the file says nothing.
    return Sheet(obs.sort_index(kind="stable"), tuple(table.index), design, notes)


def check_column(
    column: str | None, key: str, known: Sequence[str], index: str, place: str, problems: Problems
) -> None:
    """Check that a column named in the config is in the sample table."""
    if column is None or column in known:
        return
    namesakes = [name for name in known if name.startswith(f"{column} {_COLUMN} ")]
    if namesakes:
        message = f"{key} '{column}': {len(namesakes)} columns have this name; name one of them: "
        message += listing(namesakes, SHOWN)
        problems.append(Problem(place, message, "error", "repeated_column", key))
        return
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    some = ", ".join(known[:SHOWN])
    near = did_you_mean(column, known) or (
        f" (columns: {some}{more})" if known else ", which has names alone; add it"
    )
    near = " but of the sample names; name another one" if column == index else near
    problems.append(Problem(place, f"{key} '{column}' is not a column of {place}{near}"))


def storable(table: pd.DataFrame, place: str, problems: Problems) -> pd.DataFrame:
    """Leave out columns without a name, or with one that an h5ad file cannot hold.

    Columns of one name get names of their own. Problems get what the reader of the file warns of.
    """
    problems += [
        Problem(place, message, "warning") for message in table.attrs.get(DOUBTS_ATTRIBUTE, ())
    ]
    table = _with_own_names(table, place, problems)
    bad = [not _is_storable(name) for name in table.columns]
    odd = [name for name, is_bad in zip(table.columns, bad, strict=True) if is_bad]
    if odd:
        message = "column {} is left out; a name is needed, without a slash and other than _index"
        problems.append(Problem(f"{place}, line 1", message.format(listing(odd)), "warning"))
    kept = table.loc[:, [not is_bad for is_bad in bad]]
    kept.attrs = table.attrs
    return kept


def _is_storable(name: str) -> bool:
    return bool(name) and "/" not in name and name != "_index"


def _with_own_names(table: pd.DataFrame, place: str, problems: Problems) -> pd.DataFrame:
    """Return the table with a name of its own for each column, as SDRF files repeat theirs.

    ``Protocol REF`` of column 6 becomes ``Protocol REF (column 6)``, so that a config can choose
    it. Of columns with the same cells the first one keeps the name.
    """
    headers = [str(table.index.name or ""), *map(str, table.columns)]
    times = Counter(header for header in headers if _is_storable(header))
    repeated = [header for header in times if times[header] > 1]
    if not repeated:
        return table
    columns = [list(table.index), *(list(table.iloc[:, k]) for k in range(table.shape[1]))]
    names = dict(enumerate(headers))
    different: list[str] = []
    for header in repeated:
        numbers = [number for number, name in enumerate(headers) if name == header]
        if all(columns[number] == columns[numbers[0]] for number in numbers):
            names = {k: name for k, name in names.items() if k not in numbers[1:]}
        else:
            different.append(header)
            names |= {k: f"{header} {_COLUMN} {k + 1})" for k in numbers if k > 0}
    if different:
        message = (
            f"column name {listing(different)} occurs more than once; to use one of the columns "
            f"write its number behind the name, '{different[0]} {_COLUMN} N)'"
        )
        problems.append(Problem(place, message, "note", "repeated_columns"))
    numbers_of_columns = [number for number in names if number > 0]
    renamed = table.iloc[:, [number - 1 for number in numbers_of_columns]]
    renamed.columns = [names[number] for number in numbers_of_columns]
    renamed.attrs = table.attrs
    return renamed


_COLUMN = "(column"
"""Stands before the number of a column that shares its name with another."""


def check_ids(table: pd.DataFrame, place: str, problems: Problems) -> None:
    """Check that every sample has a name of its own."""
    first: dict[str, int] = {}
    blank = list[int]()
    again = list[int]()
    for row, name in enumerate(map(str, table.index)):
        (again if name in first else [] if name else blank).append(row)
        if name:
            first.setdefault(name, row)
    if blank:
        message = f"the sample name (column '{table.index.name}') is blank"
        at = f"{place}, line {line(table, blank[0])}"
        problems.append(Problem(at, message + too(len(blank) - 1, "line")))
    if again:
        name = str(table.index[again[0]])
        message = (
            f"sample '{name}' is already on line {line(table, first[name])}"
            f"{too(len(again) - 1, 'line')}; each sample needs one row and a name of its own"
        )
        problems.append(Problem(f"{place}, line {line(table, again[0])}", message))


def _check_filled(obs: pd.DataFrame, place: str, key: str, column: str, problems: Problems) -> None:
    blank = [str(name) for name, value in obs[column].items() if is_missing(value)]
    if blank:
        message = f"{key}: no value for {listing(blank)}; each sample of the study needs one"
        problems.append(Problem(f"{place}, column '{column}'", message))
