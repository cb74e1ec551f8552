"""The sample sheet: which samples are in the study, and what each of them is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genesig.data.study.label_words import check_class_words, check_codes, check_names_alike
from genesig.errors import Problem, did_you_mean
from genesig.results import Design
from genesig.words import control_first, counted, is_missing, is_number, listing, number_fault

if TYPE_CHECKING:
    import pandas as pd

Problems = list[Problem]


@dataclass(frozen=True)
class Sheet:
    """The sample table, checked.

    Attributes
    ----------
    obs : DataFrame
        Rows of the study's samples, every cell a string.
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


def check_sheet(table: pd.DataFrame, where: str, *, label: str, task: str,
                classes: Sequence[str] | None, group: str | None, pair: str | None,
                batch: str | None, problems: Problems) -> Sheet | None:  # fmt: skip
    """Choose the study's samples; add what is wrong to `problems`.

    Returns None where the label column is missing: nothing can be said without it.
    """
    table = storable(table, where, problems)
    check_ids(table, where, problems)
    known = [name for name in table.columns if name]
    named = {"data.group": group, "data.pair": pair, "data.batch": batch}
    for key, column in {"label": label, **named}.items():
        check_column(column, key, known, str(table.index.name), where, problems)
    if label not in table.columns or not table.columns.is_unique:
        return None
    dropped = _without_label(table, where, label, classes or (), problems)
    labels = table[label][[name not in dropped for name in table.index]]
    if task == "classification":
        chosen = _choose_classes(labels, where, label, classes, problems)
        if classes is None and labels.nunique() == 2:
            problems.extend(check_class_words(table, label, chosen, where))
        if classes is not None:
            dropped |= _of_other_classes(labels, chosen, where, problems)
    else:
        chosen = None
        _check_numbers(table, where, label, problems)
        problems.extend(check_codes(table, label, where))
    obs = table[[name not in dropped for name in table.index]]
    for key, column in named.items():
        if column in table.columns:
            _check_filled(obs, where, key, str(column), problems)
            problems.extend(check_names_alike(table, key, str(column), where))
    design = Design(label, task, chosen, group=pair or group, pair=pair, batch=batch)
    notes = [{"kind": "sample", "name": n, "reason": why} for n, why in dropped.items()]
    return Sheet(obs, tuple(table.index), design, notes)


def line(table: pd.DataFrame, row: int) -> int:
    """Return the line of the file on which a row of the table stands."""
    return int(table.attrs["lines"][row])


def check_column(column: str | None, key: str, known: Sequence[str], index: str, where: str,
                 problems: Problems) -> None:  # fmt: skip
    """Check that a column named in the config is in the sample table."""
    if column is None or column in known:
        return
    near = did_you_mean(column, known) or f" (columns: {', '.join(known) or 'none'})"
    near = " but of the sample names; name another one" if column == index else near
    problems.append(Problem(where, f"{key} '{column}' is not a column of {where}{near}"))


def storable(table: pd.DataFrame, where: str, problems: Problems) -> pd.DataFrame:
    """Leave out columns without a name, or with one that an h5ad file cannot hold."""
    bad = [not name or "/" in name or name == "_index" for name in table.columns]
    odd = [name for name, is_bad in zip(table.columns, bad, strict=True) if is_bad]
    if odd:
        what = "column {} is left out; a name is needed, without a slash and other than _index"
        problems.append(Problem(f"{where}, line 1", what.format(listing(odd)), "warning"))
    kept = table.loc[:, [not is_bad for is_bad in bad]]
    kept.attrs = table.attrs
    return kept


def check_ids(table: pd.DataFrame, where: str, problems: Problems) -> None:
    """Check that every sample and every column has a name of its own."""
    first: dict[str, int] = {}
    for row, name in enumerate(table.index):
        at = f"{where}, line {line(table, row)}"
        if not name:
            problems.append(Problem(at, f"the sample name (column '{table.index.name}') is blank"))
        elif name in first:
            what = f"sample '{name}' is already on line {line(table, first[name])}"
            problems.append(Problem(at, f"{what}; each sample needs one row and a name of its own"))
        first.setdefault(name, row)
    names = [str(table.index.name), *table.columns]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        what = f"column name {listing(twice)} occurs more than once; give each its own name"
        problems.append(Problem(where, what))


def _without_label(table: pd.DataFrame, where: str, label: str, classes: Sequence[str],
                   problems: Problems) -> dict[str, str]:  # fmt: skip
    """Find the samples without a label; a class that is called NA must be in data.classes."""
    values = enumerate(table[label])
    rows = [row for row, value in values if is_missing(value) and value not in classes]
    names = [str(table.index[row]) for row in rows]
    if rows:
        at = f"{where}, line {line(table, rows[0])}, column '{label}'"
        word = table[label].iloc[rows[0]]
        what = f"no label{f' ({word!r})' if word else ''} for {listing(names)}; left out of the "
        what += f"study ({len(rows)} of {len(table)})"
        problems.append(Problem(at, what, "warning"))
    return dict.fromkeys(names, f"no label in column '{label}'")


def _choose_classes(column: pd.Series[str], where: str, label: str, classes: Sequence[str] | None,
                    problems: Problems) -> tuple[str, str]:  # fmt: skip
    counts = Counter(sorted(column))
    at = f"{where}, column '{label}'"
    if classes is not None:
        for name in classes:
            if name not in counts:
                near = did_you_mean(name, counts) or f" (found: {listing(counts, 6)})"
                problems.append(Problem(at, f"data.classes: no sample is '{name}'{near}"))
        return classes[0], classes[1]
    if len(counts) < 2:
        only = f"every sample is {listing(counts)}" if counts else "no sample has a label"
        problems.append(Problem(at, f"{only}; two classes are needed"))
    if len(counts) > 2:
        problems.append(Problem(at, _many_classes(counts)))
    names = control_first(list(counts)) if len(counts) == 2 else [*counts, "", ""]
    return names[0], names[1]


def _many_classes(counts: Counter[str]) -> str:
    found = ", ".join(f"'{name}' ({times})" for name, times in counts.most_common(6))
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    what = f"{len(counts)} classes: {found}{more}; two classes or regression are supported: "
    if len({name.casefold() for name in counts}) == 2:
        return what + "some differ only in upper and lower case, write them alike"
    if len(counts) > 6 and all(map(is_number, counts)):
        return what + "these are numbers, set data.task: regression"
    pair = ", ".join(name for name, _ in counts.most_common(2))
    return what + f"choose two by data.classes: [{pair}], the others are then left out"


def _of_other_classes(column: pd.Series[str], classes: tuple[str, str] | None, where: str,
                      problems: Problems) -> dict[str, str]:  # fmt: skip
    other = {str(name): value for name, value in column.items()
             if value not in (classes or ())}  # fmt: skip
    if other:
        times = Counter(other.values())
        found = ", ".join(f"'{name}' ({counted(n, 'sample')})" for name, n in times.items())
        what = f"left out by data.classes: {found}"
        problems.append(Problem(f"{where}, column '{column.name}'", what, "warning"))
    return {name: f"class '{value}' is not in data.classes" for name, value in other.items()}


def _check_numbers(table: pd.DataFrame, where: str, label: str, problems: Problems) -> None:
    values = list(table[label])
    wrong = [row for row, value in enumerate(values) if not (is_missing(value) or is_number(value))]
    if wrong:
        row = wrong[0]
        at = f"{where}, line {line(table, row)}, column '{label}'"
        more = f" ({counted(len(wrong) - 1, 'further cell')})" if len(wrong) > 1 else ""
        what = f"the label of '{table.index[row]}' {number_fault(values[row])}{more}"
        problems.append(Problem(at, f"{what}; regression needs a number for each sample"))
    elif len({float(value) for value in values if not is_missing(value)}) < 2:
        what = "regression needs labels that vary; here is one value or none"
        problems.append(Problem(f"{where}, column '{label}'", what))


def _check_filled(obs: pd.DataFrame, where: str, key: str, column: str,
                  problems: Problems) -> None:  # fmt: skip
    blank = [str(name) for name, value in obs[column].items() if is_missing(value)]
    if blank:
        what = f"{key}: no value for {listing(blank)}; each sample of the study needs one"
        problems.append(Problem(f"{where}, column '{column}'", what))
