"""Check the sample table: which samples are in the study, and the columns that settings name.

`file` is the file of the table, for messages, and problems are appended to `problems`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.layouts import axes_of
from genesig.data.files.readers import read_sample_table
from genesig.data.files.sample_names import (
    ROWS_MARK,
    check_ids,
    has_other_header,
    with_matrix_names,
)
from genesig.data.study.label_checks import (
    check_similar_names,
    event_column_hints,
    find_unlabelled_samples,
)
from genesig.data.study.label_rules import LABEL_RULES, LabelRequest
from genesig.data.study.settings import StudySettings
from genesig.errors import Problem, did_you_mean, problems_appended_to
from genesig.results import Design
from genesig.words import is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

MAX_LISTED_COLUMNS = 12  # columns that a message names


@dataclass(frozen=True)
class Sheet:
    """The checked sample table."""

    obs: pd.DataFrame  # rows of the study's samples, sorted by name; every cell is a string
    design: Design
    dropped: list[dict[str, str]]  # {kind, name, reason} of each sample left out


def check_sheet(
    table: TextTable, file: str, settings: StudySettings, problems: list[Problem]
) -> Sheet | None:
    """Return the sheet of the study's samples; None without distinct columns or a label column.

    table: as read for a single study, or pooled. `read_sheet` has checked the table of each pooled
        study; this checks the pooled table.
    """
    outcome = settings.outcome
    groups = settings.groups
    label_columns = outcome.columns
    main_label_column = label_columns[0]  # of survival, the time
    rules = LABEL_RULES[outcome.task]
    table = drop_unstorable_columns(table, file, problems)
    # `rules.label_columns` is empty for kinds of outcome with a label of one column.
    if len(set(label_columns)) != max(1, len(rules.label_columns)):
        hints = event_column_hints(table.cells, outcome.event) if rules.label_columns else ()
        problems.extend(Problem(file, message, "warning") for message in hints)
        return None  # `check_kind_settings` yields the error
    check_ids(table, file, problems)
    cells = table.cells
    columns = [name for name in cells.columns if name]
    column_of_setting = {
        "data.group": groups.group,
        "data.pair": groups.pair,
        "data.batch": groups.batch,
    }
    for key, column in [
        *(("label", column) for column in label_columns),
        *column_of_setting.items(),
    ]:
        check_column(column, key, columns, str(cells.index.name), file, problems)
    if not set(label_columns) <= set(cells.columns) or not cells.columns.is_unique:
        return None
    dropped = find_unlabelled_samples(
        table,
        file,
        main_label_column,
        classes=outcome.classes or (),
        words_are_classes=rules.has_classes,
        problems=problems,
        leave_out=outcome.unlabelled == "leave_out",
    )
    labels_of_samples = cells[main_label_column][[name not in dropped for name in cells.index]]
    request = LabelRequest(table, file, label_columns, labels_of_samples, outcome)
    label_choice = rules.choose_labels(request, problems)
    # If all samples with the event lack a time, or all without it, that error says more than the
    # one on blank labels.
    if any(problem.code == "times_of_one_outcome" for problem in problems):
        blank = ("labels_missing", "many_labels_missing")
        problems[:] = [problem for problem in problems if problem.code not in blank]
    dropped |= label_choice.dropped
    obs = cells[[name not in dropped for name in cells.index]]
    for key, column in column_of_setting.items():
        if column in cells.columns:
            _check_filled(obs, file, key, str(column), problems)
            problems.extend(check_similar_names(table, key, str(column), file))
    design = Design(
        main_label_column,
        outcome.task,
        label_choice.classes,
        group=groups.pair or groups.group,  # splits keep the samples of a pair together
        pair=groups.pair,
        batch=groups.batch,
        studies=bool(settings.studies),
        **label_choice.design_fields,
    )
    dropped_notes = [
        {"kind": "sample", "name": sample, "reason": reason}
        for sample, reason in sorted(dropped.items())
    ]
    # Splits and permutations are drawn by row number, so rows must not depend on the file's order.
    return Sheet(obs.sort_index(kind="stable"), design, dropped_notes)


def read_sheet(
    file: str,
    part: str | None,
    matrix: Matrix | None,
    sample_names: str | None,
    problems: list[Problem],
) -> TextTable | None:
    """Return the sample table of a file, its index the names of the matrix; None after an error.

    For pooled studies and cohorts; `check_sheet` takes the table of a single study as read.

    part: part of a file with several tables. matrix: None if it could not be read.
    sample_names: column with the names of the matrix; None looks for it.
    """
    names = None if matrix is None else matrix.columns
    table = None
    with problems_appended_to(problems):
        table = read_sample_table(file, names, part)
    if table is None:
        return None
    if matrix is not None:
        table = with_matrix_names(table, axes_of(matrix), file, sample_names, problems)
    if has_other_header(problems):
        return None
    table = drop_unstorable_columns(table, file, problems)
    check_ids(table, file, problems)
    return table


def check_column(
    column: str | None,
    key: str,
    columns: Sequence[str],
    index_name: str,
    file: str,
    problems: list[Problem],
) -> None:
    """Append a problem if a column that the setting `key` names is not in `columns`.

    column: None if the setting names none.
    columns: columns of the table `file` except for that of the sample names, `index_name`.
    """
    if column is None or column in columns:
        return
    if namesakes := [name for name in columns if name.startswith(f"{column} {_NUMBER_MARK} ")]:
        message = f"{key} '{column}': {len(namesakes)} columns have this name; name one of them: "
        message += listing(namesakes, MAX_LISTED_COLUMNS)
        problems.append(Problem(file, message, code="repeated_column", key=key))
        return
    # readers of files name a column so if the rows of a sample differ in it
    if differing := [name for name in columns if name.startswith(f"{column} {ROWS_MARK} ")]:
        message = (
            f"{key} '{column}' has different cells in the rows of one sample "
            f"{differing[0].removeprefix(f'{column} ')}; each sample needs one value: name another "
            "column, or leave one of the rows out"
        )
        problems.append(Problem(file, message, code="rows_differ", key=key))
        return
    further_columns = (
        f" and {len(columns) - MAX_LISTED_COLUMNS} more"
        if len(columns) > MAX_LISTED_COLUMNS
        else ""
    )
    first_columns = ", ".join(columns[:MAX_LISTED_COLUMNS])
    advice = did_you_mean(column, columns) or (
        f" (columns: {first_columns}{further_columns})"
        if columns
        else ", which has names alone; add it"
    )
    advice = " but its row names; name another one" if column == index_name else advice
    advice = "; rename it in that table, without a slash" if "/" in column else advice
    problems.append(Problem(file, f"{key} '{column}' is not a column of {file}{advice}"))


def drop_unstorable_columns(table: TextTable, file: str, problems: list[Problem]) -> TextTable:
    """Return the table without columns whose name is blank or cannot be stored in an h5ad file.

    Repeated names get the number of their column. Warnings are appended, also those of the file's
    reader (`table.doubts`).
    """
    problems += [Problem(file, message, "warning") for message in table.doubts]
    cells = _number_repeated_columns(table.cells, file, problems)
    if bad_names := [name for name in cells.columns if not _is_storable(name)]:
        message = "column {} is left out; a name is needed, without a slash and other than _index"
        problems.append(Problem(f"{file}, line 1", message.format(listing(bad_names)), "warning"))
    return table.with_cells(cells.loc[:, [_is_storable(name) for name in cells.columns]])


def _is_storable(name: str) -> bool:
    """Tell whether an h5ad file can hold a column of this name."""
    return bool(name) and "/" not in name and name != "_index"


def _number_repeated_columns(
    table: pd.DataFrame, file: str, problems: list[Problem]
) -> pd.DataFrame:
    """Return the table with repeated column names made unique, as SDRF files repeat theirs.

    ``Protocol REF`` of column 6 becomes ``Protocol REF (column 6)``, so that a config can choose
    it. Of columns with the same cells only the first one stays. Column 0 is the index here; its
    name never changes.
    """
    headers = [str(table.index.name or ""), *map(str, table.columns)]
    n_columns_of_header = Counter(header for header in headers if _is_storable(header))
    repeated = [header for header in n_columns_of_header if n_columns_of_header[header] > 1]
    if not repeated:
        return table
    columns = [list(table.index), *(list(cells) for _, cells in table.items())]
    names = dict(enumerate(headers))  # number of each column that stays -> its name
    different: list[str] = []
    for header in repeated:
        numbers = [number for number, name in enumerate(headers) if name == header]
        if all(columns[number] == columns[numbers[0]] for number in numbers):
            names = {number: name for number, name in names.items() if number not in numbers[1:]}
        else:
            different.append(header)
            names |= {
                number: f"{header} {_NUMBER_MARK} {number + 1})" for number in numbers if number > 0
            }
    if different:
        message = (
            f"column name {listing(different)} occurs more than once; to use one of the columns "
            f"write its number behind the name, '{different[0]} {_NUMBER_MARK} N)'"
        )
        problems.append(Problem(file, message, "note", code="repeated_columns"))
    numbers_of_columns = [number for number in names if number > 0]
    renamed = table.iloc[:, [number - 1 for number in numbers_of_columns]]
    renamed.columns = [names[number] for number in numbers_of_columns]
    return renamed


_NUMBER_MARK = "(column"  # stands before the number of a column that shares its name with another


def _check_filled(
    obs: pd.DataFrame, file: str, key: str, column: str, problems: list[Problem]
) -> None:
    """Append a problem for samples without a value in a column that must be filled in."""
    if blank_samples := [str(name) for name, value in obs[column].items() if is_missing(value)]:
        message = (
            f"{key}: no value for {listing(blank_samples)}; each sample of the study needs one"
        )
        problems.append(Problem(f"{file}, column '{column}'", message))
