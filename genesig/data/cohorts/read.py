"""A data set of another study, to test the model on: its labels in the study's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.cohorts.covariates import check_known
from genesig.data.cohorts.translation import rows_of, translated
from genesig.data.files.delimited import Matrix
from genesig.data.files.readers import read_matrix, read_samples
from genesig.data.study.matrix_check import check_samples, orient
from genesig.data.study.sheet_check import check_column, check_ids, storable
from genesig.errors import InvalidInput, Problem, attempt, did_you_mean
from genesig.response.design import SEVERAL
from genesig.response.known import RESPONSES
from genesig.results import Design
from genesig.results.checksums import sha256
from genesig.words import counted, is_missing, is_number, listing, number_fault

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Problems = list[Problem]
NO_LABELS = "to score samples without labels: genesig predict results/model.json FILE"


@dataclass(frozen=True, eq=False)
class Cohort:
    """A labelled data set from outside the study.

    Attributes
    ----------
    matrix : Matrix
        Samples in rows, only those with a class of the study; as measured.
    where : str
        Its file.
    given, labels : tuple of str
        What the sample table says of each sample; its class in the study's words.
    y : (n_samples,) float
        ±1 as the study codes its classes, or a number.
    batch : tuple of str
        Batch of each sample.
    dropped : list of dict
        {kind, name, reason} of each sample that is left out.
    inputs : dict
        File -> sha256.
    problems : list of Problem
        Warnings.
    about : DataFrame
        Rows of the sample table, in the order of the samples.
    """

    matrix: Matrix
    where: str
    given: tuple[str, ...]
    labels: tuple[str, ...]
    y: Array
    batch: tuple[str, ...]
    dropped: list[dict[str, str]]
    inputs: dict[str, str]
    problems: list[Problem]
    about: pd.DataFrame


def read_cohort(design: Design, *, expression: str, samples: str | None, label: str | None,
                classes: Mapping[Any, str], annotation: str | None, symbol: str | None,
                part: str | None, batch: str | None) -> Cohort:  # fmt: skip
    """Read a data set of another study.

    Parameters
    ----------
    design : Design
        Of the study: its label, classes and covariates.
    expression, samples : str
        Files; None for the samples is the same file.
    label : str or None
        Column with the classes; None is the one of the study.
    classes : mapping
        Word of the sample table -> class of the study; words that are classes need no entry.
    annotation, symbol : str or None
        Gene table, and its column with the study's gene ids.
    part : str or None
        Which matrix of a file that holds several.
    batch : str or None
        Column of batches; None is one batch.

    Raises
    ------
    InvalidInput
        With all problems, warnings among them, if one is an error.
    """
    problems: Problems = []
    table_file = expression if samples is None else samples
    matrix = attempt(lambda: read_matrix(expression, part), problems)
    if matrix is not None and matrix.doubt:
        problems.append(Problem(expression, matrix.doubt, "warning"))
    table = _table(matrix, table_file, part if samples in (None, expression) else None, problems)
    labels, dropped = None, list[dict[str, str]]()
    if table is not None:
        columns, index = list(map(str, table.columns)), str(table.index.name)
        check_column(batch, "batch", columns, index, table_file, problems)
        labels = _labels(table, table_file, design, label, classes, problems)
    if table is not None and labels is not None:
        about = table.loc[list(labels.names)]
        problems += check_known(design.covariates, design.filled, about, table_file)
    if matrix is not None and annotation is not None:
        matrix = translated(matrix, annotation, symbol, problems)
    if matrix is not None and table is not None and labels is not None:
        matrix = orient(matrix, expression, list(table.index), table_file, problems)
        if matrix is not None:
            dropped = check_samples(matrix, expression, list(table.index), labels.names,
                                    table_file, problems)  # fmt: skip
    if matrix is None or table is None or labels is None or _faulty(problems):
        raise InvalidInput(_sorted(problems))
    files = dict.fromkeys(p for p in (expression, table_file, annotation) if p is not None)
    return Cohort(
        matrix=rows_of(matrix, labels.names), where=expression, given=labels.given,
        labels=labels.labels, y=labels.y,
        batch=tuple(map(str, table.loc[list(labels.names), batch])) if batch
        else ("",) * len(labels.names),
        dropped=labels.dropped + dropped, inputs={path: sha256(path) for path in files},
        problems=_sorted(problems), about=table.loc[list(labels.names)],
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Labels:
    names: tuple[str, ...]
    given: tuple[str, ...]
    labels: tuple[str, ...]
    y: Array
    dropped: list[dict[str, str]]


def _table(matrix: Matrix | None, where: str, part: str | None,
           problems: Problems) -> pd.DataFrame | None:  # fmt: skip
    names = None if matrix is None else matrix.columns
    table = attempt(lambda: read_samples(where, names, part), problems)
    if table is not None:
        table = storable(table, where, problems)
        check_ids(table, where, problems)
    return table


def _labels(table: pd.DataFrame, where: str, design: Design, label: str | None,
            classes: Mapping[Any, str], problems: Problems) -> _Labels | None:  # fmt: skip
    column = design.label if label is None else label
    known = list(map(str, table.columns))
    if column not in known:
        check_column(column, "label", known, str(table.index.name), where, problems)
        unlabelled = f"{problems[-1].what}; {NO_LABELS}"
        problems[-1] = Problem(problems[-1].where, unlabelled)
        return None
    if known.count(column) > 1:
        return None
    at = f"{where}, column '{column}'"
    given = {str(name): str(value) for name, value in table[column].items()}
    words = {str(word): name for word, name in classes.items()}
    blank = {name for name, value in given.items() if is_missing(value) and value not in words}
    if len(blank) == len(given):
        what = f"no sample has a label, so nothing can be tested; {NO_LABELS}"
        problems.append(Problem(at, what))
        return None
    dropped = [_left_out(name, f"no label in column '{column}'") for name in given if name in blank]
    if blank:
        what = f"no label for {listing(n for n in given if n in blank)}; left out"
        problems.append(Problem(at, f"{what} ({len(blank)} of {len(given)})", "warning"))
    rest = {name: value for name, value in given.items() if name not in blank}
    chosen, others = TRANSLATED[design.kind](rest, design, words, at, problems)
    names = tuple(chosen)
    y = _coded(chosen, design) if not _faulty(problems) else np.full(len(chosen), np.nan)
    return _Labels(names, tuple(given[name] for name in names), tuple(chosen.values()), y,
                   dropped + others)  # fmt: skip


def _coded(chosen: dict[str, str], design: Design) -> Array:
    import pandas as pd

    return RESPONSES[design.kind].read(pd.DataFrame({design.label: list(chosen.values())}), design)


def _translate(given: dict[str, str], design: Design, words: dict[str, str], at: str,
               problems: Problems) -> tuple[dict[str, str], list[dict[str, str]]]:  # fmt: skip
    """Turn labels into classes of the study; samples of other classes are left out and counted."""
    classes = design.classes or ()
    counts = Counter(given.values())
    turned = {name: word for word, name in words.items()}
    if turned and set(turned) <= set(counts) and set(words) <= set(classes) - set(turned):
        pairs = ", ".join(f"{word}: {name}" for word, name in turned.items())
        what = "classes: the other way round; their word first, then the class of the study: "
        problems.append(Problem(at, f"{what}{{{pairs}}}"))
        return {}, []
    for word, name in words.items():
        if name not in classes:
            near = did_you_mean(name, classes) or f" (it has {listing(classes)})"
            problems.append(Problem(at, f"classes: '{name}' is no class of the study{near}"))
        if word not in counts:
            near = did_you_mean(word, counts)
            what = f"classes: no sample is '{word}'{near or f' (found: {listing(counts, 6)})'}"
            problems.append(Problem(at, what, "error" if near else "warning"))
    named = {name: words.get(value, value) for name, value in given.items()}
    chosen = {name: value for name, value in named.items() if value in classes}
    other = Counter(given[name] for name in named if name not in chosen)
    found = ", ".join(f"'{word}' ({counted(n, 'sample')})" for word, n in other.items())
    if not chosen:
        what = f"no label is a class of the study: found {found}, needs {listing(classes)}; "
        problems.append(Problem(at, what + _mapping(list(other), classes)))
    elif other:
        problems.append(Problem(at, f"left out, as no class of the study: {found}", "warning"))
    for name in classes if chosen else ():
        if name not in chosen.values():
            what = f"no sample is '{name}', so AUC and balanced error are not defined; the samples "
            what += "are scored"
            near = f"; {_mapping(list(other), (name,))}" if other else ""
            problems.append(Problem(at, what + near, "warning"))
    return chosen, [_left_out(name, f"class '{given[name]}' is no class of the study")
                    for name in named if name not in chosen]  # fmt: skip


def _mapping(words: list[str], classes: tuple[str, ...]) -> str:
    """Write the setting that is probably meant."""
    near = {name: get_close_matches(name, words, n=1, cutoff=0.4) for name in classes}
    pairs = [f"{(near[name] or ['THEIR WORD'])[0]}: {name}" for name in classes]
    return f"is it spelled otherwise? classes: {{{', '.join(pairs)}}}"


def _numbers(given: dict[str, str], design: Design, words: dict[str, str], at: str,
             problems: Problems) -> tuple[dict[str, str], list[dict[str, str]]]:  # fmt: skip
    wrong = [name for name, value in given.items() if not is_number(value)]
    if wrong:
        more = f" ({counted(len(wrong) - 1, 'further cell')})" if len(wrong) > 1 else ""
        what = f"the label of '{wrong[0]}' {number_fault(given[wrong[0]])}{more}"
        problems.append(Problem(at, f"{what}; regression needs a number for each sample"))
    return given, []


TRANSLATED = {
    "classification": _translate,
    SEVERAL: _translate,
    "regression": _numbers,
    "survival": _numbers,
}


def _left_out(name: str, reason: str) -> dict[str, str]:
    return {"kind": "sample", "name": name, "reason": reason}


def _faulty(problems: Problems) -> bool:
    return any(problem.level == "error" for problem in problems)


def _sorted(problems: Problems) -> Problems:
    return sorted(dict.fromkeys(problems), key=lambda problem: problem.level)
