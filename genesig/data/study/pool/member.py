"""One study among several, read and checked by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.data.files.readers import read_matrix, read_samples
from genesig.data.steps.normalise import fit_steps
from genesig.data.study.matrix_check import check_matrix
from genesig.data.study.pool.genes import by_symbol
from genesig.data.study.pool.record import STUDY, Member, Wanted
from genesig.data.study.sheet_check import check_column, check_ids, storable
from genesig.errors import GenesigError, InvalidInput, Problem, attempt, did_you_mean
from genesig.response.design import label_columns
from genesig.words import is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Config = Mapping[str, Any]
Problems = list[Problem]

EVENT, NO_EVENT = "1", "0"
"""Words of the column of events where the config names none."""


def read_member(item: Config, wanted: Wanted, problems: Problems) -> Member | None:
    """Read one of ``studies``; None where something is wrong with it, which joins the problems.

    What it does not say of its files is as in the section ``data``.
    """
    found: Problems = []
    usual = {key: item[key] or wanted.data[key] for key in ("annotation", "symbol", "part")}
    member = _read({**item, **usual}, wanted, found)
    problems.extend(found)
    return None if any(problem.level == "error" for problem in found) else member


def _read(item: Config, wanted: Wanted, problems: Problems) -> Member | None:
    where, file = item["expression"], item["samples"] or item["expression"]
    matrix = attempt(lambda: read_matrix(where, item["part"]), problems)
    table = _table(matrix, file, item, problems)
    if table is None:
        return None
    table = _in_words_of_study(table, file, item, wanted, problems)
    if table is None or matrix is None:
        return None
    used = [str(name) for name in table.index[_labelled(table, wanted)]]
    if not used:
        what = f"no sample has a label of the study in column '{_columns(item, wanted)[0]}'"
        problems.append(Problem(file, f"{what}; take '{item['name']}' out of studies"))
        return None
    values = check_matrix(matrix, where, names=list(table.index), used=used, sheet=file,
                          missing=None, problems=problems)  # fmt: skip
    if values is None:
        return None
    X = _own_steps(values.X, item, problems)
    rule = wanted.probes
    genes = by_symbol(X, values.genes, item["annotation"], item["symbol"], rule, problems)
    if genes is None:
        return None
    files = dict.fromkeys(path for path in (where, file, item["annotation"]) if path)
    dropped = [note for note in values.dropped if note["kind"] == "sample"]
    dropped += [{"kind": "sample", "name": str(name), "reason": f"no label in '{item['name']}'"}
                for name in table.index if name not in set(used)]  # fmt: skip
    return Member(item["name"], where, *genes, table.loc[used], len(values.genes), dropped,
                  tuple(files))  # fmt: skip


def _table(
    matrix: Matrix | None, file: str, item: Config, problems: Problems
) -> pd.DataFrame | None:
    names = None if matrix is None else matrix.columns
    part = item["part"] if file == item["expression"] else None
    table = attempt(lambda: read_samples(file, names, part), problems)
    if table is None:
        return None
    table = storable(table, file, problems)
    start = len(problems)
    check_ids(table, file, problems)
    return None if len(problems) > start else table


def _columns(item: Config, wanted: Wanted) -> Sequence[str]:
    return wanted.label if item["label"] is None else label_columns(item["label"])


def _in_words_of_study(table: pd.DataFrame, file: str, item: Config, wanted: Wanted,
                       problems: Problems) -> pd.DataFrame | None:  # fmt: skip
    """Give the columns of the response the names and words that the study has for them."""
    own, known = _columns(item, wanted), list(map(str, table.columns))
    for column in own:
        check_column(column, "label", known, str(table.index.name), file, problems)
    if not set(own) <= set(known) or len(own) != len(wanted.label):
        return None
    cells = {name: table[column].astype(str) for name, column in zip(wanted.label, own,
                                                                    strict=True)}  # fmt: skip
    first = wanted.label[0]
    problems.extend(_strange_words(cells[first], f"{file}, column '{own[0]}'", item["classes"]))
    words = {str(word): name for word, name in item["classes"].items()}
    cells[first] = cells[first].map(lambda cell: words.get(cell, cell))
    if item["event"] is not None and len(wanted.label) > 1:  # the settings' check has said so
        cells[wanted.label[1]] = _events(cells[wanted.label[1]], item["event"], wanted.data)
    kept = table.drop(columns=[*{*own, *cells, STUDY} & set(known)])
    return kept.assign(**cells, **{STUDY: item["name"]})


def _strange_words(cells: pd.Series[str], at: str, classes: Config) -> Iterator[Problem]:
    """Yield the words of ``classes`` that no sample has."""
    known = dict.fromkeys(map(str, cells))
    for word in map(str, classes):
        if word not in known:
            near = did_you_mean(word, known) or f"; write one of {listing(known, 6)}"
            yield Problem(at, f"classes: no sample is '{word}'{near}")


def _events(cells: pd.Series[str], word: str, data: Config) -> pd.Series[str]:
    """Write events as the study does; a blank one stays blank."""
    yes = data["event"] or EVENT
    no = NO_EVENT if yes == EVENT else f"not {yes}"
    return cells.map(lambda cell: cell if is_missing(cell) else yes if cell == word else no)


def _labelled(table: pd.DataFrame, wanted: Wanted) -> Array:
    """Return which samples have a response, of a class that is asked for."""
    classes = wanted.data["classes"]
    cells = table[list(wanted.label)].to_numpy(dtype=object)
    known = np.array([not any(map(is_missing, row)) for row in cells], dtype=bool)
    return known if classes is None else np.isin(cells[:, 0].astype(str), classes)


def _own_steps(X: Array, item: Config, problems: Problems) -> Array:
    """Apply the study's own row-wise steps, which come before those of all."""
    try:
        return fit_steps(X, item["normalise"]).transform(X)
    except (InvalidInput, GenesigError) as error:
        problems.append(Problem(f"studies, {item['name']}, normalise", str(error)))
        return X
