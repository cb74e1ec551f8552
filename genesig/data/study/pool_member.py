"""Read one of several studies; compare the genes and samples of all studies.

`item` is an item of the setting ``studies``, `settings` are those of the joint study, and errors
and warnings are appended to `problems`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import TextTable
from genesig.data.files.gene_ids import other_spelling_hint
from genesig.data.files.geo_counts import paths_read
from genesig.data.files.headers import choose_header
from genesig.data.files.names import POOLED_STUDIES, Config
from genesig.data.files.non_genes import Surroundings
from genesig.data.files.readers import assign_part, read_matrix
from genesig.data.files.sample_names import FAULTY_IDS, without_absent
from genesig.data.steps.normalise import fit_steps
from genesig.data.steps.scale import looks_raw, never_logged, sizes
from genesig.data.study.gene_columns import read_name_column
from genesig.data.study.gene_sets import SYMBOL_SEPARATOR
from genesig.data.study.label_checks import (
    check_event_coding,
    check_times,
    check_zero_times,
    find_unlabelled_samples,
    join_times,
)
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.matrix_check import check_matrix
from genesig.data.study.pool_record import STUDY_COLUMN, Member
from genesig.data.study.scale_check import describe_flattening
from genesig.data.study.settings import StudySettings
from genesig.data.study.sheet_check import check_column, read_sheet
from genesig.errors import (
    GenesigError,
    InvalidInput,
    Problem,
    did_you_mean,
    has_errors,
    problems_appended_to,
)
from genesig.response.design import label_columns, time_columns
from genesig.words import counted, further_text, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

MIN_COMMON_SHARE = 0.5
"""Share of a study's genes that are in all studies, below which a warning tells their number."""

DEFAULT_EVENT = "1"  # word of the event if the config names none
DEFAULT_NO_EVENT = "0"  # word of a censored time, then

MIN_COPY_CORRELATION = 0.999
"""Correlation over the genes above which two samples are one. Technical replicates of one
hybridisation protocol stay below."""
MIN_GENES_FOR_CORRELATION = 100
"""Number of genes from which on a correlation shows copies; of fewer, all values must be equal."""


def read_member(item: Config, settings: StudySettings, problems: list[Problem]) -> Member | None:
    """Return one item of ``studies``, read; None after an error, which is appended.

    Settings that the item lacks are those of the section ``data``.
    """
    member_problems: list[Problem] = []
    file_settings = {
        "annotation": item["annotation"] or settings.files.annotation,
        "symbol": item["symbol"] or settings.genes.symbol,
        "part": item["part"] or settings.files.part,
        "sample_names": item["sample_names"] or settings.files.sample_names,
    }
    member = _read_item({**item, **file_settings}, settings, member_problems)
    problems.extend(member_problems)
    return None if has_errors(member_problems) else member


def _read_item(item: Config, settings: StudySettings, problems: list[Problem]) -> Member | None:
    """Return the study of an item whose file settings are filled in; None after an error."""
    matrix_file = item["expression"]
    table_file = item["samples"] or item["expression"]
    matrix_part, table_part = assign_part(item["part"], matrix_file, table_file)
    matrix = None
    with problems_appended_to(problems):
        matrix = read_matrix(matrix_file, matrix_part)
    file_table = read_sheet(table_file, table_part, matrix, item["sample_names"], problems)
    # Other errors are reported with those of the matrix; by faulty names no sample can be matched.
    if file_table is None or any(problem.code == FAULTY_IDS for problem in problems):
        return None
    not_measured = list[dict[str, str]]()
    if matrix is not None:
        matrix = choose_header(matrix, list(map(str, file_table.cells.index)))
        file_table, not_measured = without_absent(
            file_table, matrix, table_file, matrix_file, problems
        )
    table = _translate_response(file_table, table_file, item, settings, problems)
    if table is None or matrix is None:
        return None
    is_labelled = _has_response(table, settings)
    labelled_samples = [str(name) for name in table.index[is_labelled]]
    if not labelled_samples:
        message = (
            f"no sample has a label of the study in column '{_response_columns(item, settings)[0]}'"
            f"; take '{item['name']}' out of studies"
        )
        problems.append(Problem(table_file, message))
        return None
    surroundings = Surroundings(
        table,
        config_columns=_response_columns(item, settings),
        kept_kinds=settings.files.keep,
    )
    expression = check_matrix(
        matrix,
        matrix_file,
        table_samples=list(table.index),
        study_samples=labelled_samples,
        table_file=table_file,
        missing=None,  # no message may advise imputation: `data.missing` is of one matrix
        surroundings=surroundings,
        problems=problems,
    )
    if expression is None:
        return None
    X = _apply_item_steps(expression.X, item, problems)
    collapsed = collapse_to_genes(
        X, expression.genes, item["annotation"], item["symbol"], settings.probes, problems
    )
    if collapsed is None:
        return None
    gene_values, genes = collapsed
    files = dict.fromkeys(
        [*paths_read(matrix_file), *filter(None, (table_file, item["annotation"]))]
    )
    # Samples only: `describe_gene_loss` counts the genes of each study.
    dropped = not_measured + [drop for drop in expression.dropped if drop["kind"] != "gene"]
    dropped += [
        {"kind": "sample", "name": str(name), "reason": f"no label in '{item['name']}'"}
        for name in table.index
        if name not in set(labelled_samples)
    ]
    line_of_sample = dict(zip(map(str, table.index), file_table.lines, strict=True))
    lines = tuple(line_of_sample[name] for name in labelled_samples)
    return Member(
        name=item["name"],
        matrix_file=matrix_file,
        X=gene_values,
        genes=genes,
        table=table.loc[labelled_samples],
        table_file=table_file,
        response_columns=tuple(_response_columns(item, settings)),
        lines=lines,
        n_samples_of_other_word=_count_other_words(table.drop(index=labelled_samples), settings),
        n_measured=len(expression.genes),
        dropped_samples=dropped,
        files=tuple(files),
    )


def _response_columns(item: Config, settings: StudySettings) -> Sequence[str]:
    """Return the columns of the response in the item's own sample table."""
    return settings.outcome.columns if item["label"] is None else label_columns(item["label"])


def _translate_response(
    file_table: TextTable,
    table_file: str,
    item: Config,
    settings: StudySettings,
    problems: list[Problem],
) -> pd.DataFrame | None:
    """Return the table with the response in the columns and words of the joint study.

    None after an error: it is in `problems`, or `check_study_settings` yields it (a label of
    another number of columns).
    """
    time_column_names = (
        settings.outcome.time_columns if item["label"] is None else time_columns(item["label"])
    )
    table = join_times(file_table.cells, time_column_names)
    item_columns = _response_columns(item, settings)
    table_columns = list(map(str, table.columns))
    for column in item_columns:
        check_column(column, "label", table_columns, str(table.index.name), table_file, problems)
    if not set(item_columns) <= set(table_columns) or len(item_columns) != len(
        settings.outcome.columns
    ):
        return None
    if len(item_columns) > 1:
        event_word = item["event"] or settings.outcome.event
        columns = (item_columns[0], item_columns[1])
        if faults := list(check_times(table, table_file, *columns, event_word)):
            problems += faults
            return None
        key = f"studies, {item['name']}, event"
        problems += check_event_coding(table, table_file, columns, event_word, key)
        problems += check_zero_times(table, table_file, columns, event_word)
    find_unlabelled_samples(
        file_table.with_cells(table),
        table_file,
        item_columns[0],
        classes=[*map(str, item["classes"]), *(settings.outcome.classes or ())],
        words_are_classes=LABEL_RULES[settings.outcome.task].has_classes,
        problems=problems,
        leave_out=settings.outcome.unlabelled == "leave_out",
    )
    cells = {
        name: table[column].astype(str)
        for name, column in zip(settings.outcome.columns, item_columns, strict=True)
    }
    label = settings.outcome.columns[0]
    problems.extend(
        _unknown_word_faults(
            cells[label], f"{table_file}, column '{item_columns[0]}'", item["classes"]
        )
    )
    class_of_word = {str(word): name for word, name in item["classes"].items()}
    cells[label] = cells[label].map(lambda cell: class_of_word.get(cell, cell))
    # `check_study_settings` refuses an event of other kinds of outcome.
    if item["event"] is not None and len(settings.outcome.columns) > 1:
        cells[settings.outcome.columns[1]] = _translate_events(
            cells[settings.outcome.columns[1]], item["event"], settings.outcome.event
        )
    other_cells = table.drop(columns=[*{*item_columns, *cells, STUDY_COLUMN} & set(table_columns)])
    return other_cells.assign(**cells, **{STUDY_COLUMN: item["name"]})


def _unknown_word_faults(
    cells: pd.Series[str], column_location: str, classes: Config
) -> Iterator[Problem]:
    """Yield an error for words that no sample has.

    cells: labels of the item's table. classes: the item's setting, word -> class of the study.
    """
    words_of_table = dict.fromkeys(map(str, cells))
    words = list(map(str, classes))
    # A word that is translated already cannot be the right spelling of another one.
    untranslated = [word for word in words_of_table if word not in words and not is_missing(word)]
    for word in words:
        if word not in words_of_table:
            advice = did_you_mean(word, untranslated) or f"; {_untranslated_advice(untranslated)}"
            yield Problem(column_location, f"classes: no sample is '{word}'{advice}")


def _untranslated_advice(words: Sequence[str]) -> str:
    """Return advice that lists the words without a class."""
    return f"write one of {listing(words, 6)}" if words else "take it out, all words have a class"


def _translate_events(
    cells: pd.Series[str], event_word: str, study_event: str | None
) -> pd.Series[str]:
    """Return events in the words of the joint study; a blank cell stays blank.

    event_word: the item's word of the event. study_event: that of the joint study, None for 1.
    """
    event = study_event or DEFAULT_EVENT
    no_event = DEFAULT_NO_EVENT if event == DEFAULT_EVENT else f"not {event}"
    return cells.map(
        lambda cell: cell if is_missing(cell) else event if cell == event_word else no_event
    )


def _has_response(table: pd.DataFrame, settings: StudySettings) -> Array:
    """Return which samples have a response, of a class that is asked for."""
    classes = settings.outcome.classes
    cells = table[list(settings.outcome.columns)].to_numpy(dtype=object)
    has_label = np.array([not any(map(is_missing, row)) for row in cells], dtype=bool)
    return has_label if classes is None else np.isin(cells[:, 0].astype(str), classes)


def _count_other_words(dropped_table: pd.DataFrame, settings: StudySettings) -> dict[str, int]:
    """Return the number of dropped samples of each label, for the hint on a misspelt class."""
    cells = dropped_table[settings.outcome.columns[0]].astype(str)
    return dict(Counter(cell for cell in cells if not is_missing(cell)))


def _apply_item_steps(X: Array, item: Config, problems: list[Problem]) -> Array:
    """Return X (n_samples, n_probes) after the item's row-wise steps; append their problems."""
    setting = f"studies, {item['name']}, normalise"
    try:
        for step_number, step in enumerate(item["normalise"], 1):
            previous = X
            X = fit_steps(X, [step]).transform(X)
            problems.extend(_step_problems(step, previous, X, f"{setting}, item {step_number}"))
    except (InvalidInput, GenesigError) as error:
        problems.append(Problem(setting, str(error)))
    return X


def _step_problems(
    step: dict[str, Any], previous: Array, transformed: Array, setting: str
) -> Iterator[Problem]:
    """Yield a problem if a step leaves nothing to learn from, or takes logarithms of logarithms.

    Both must be checked here: in the joint matrix the other studies hide them.
    """
    if message := describe_flattening(step, previous, transformed):
        yield Problem(setting, message)
    elif step["step"] == "log2" and not never_logged(previous):
        _, p99, largest = sizes(previous)
        message = (
            f"the values look as if they were logged already (99th percentile {p99:.4g}, "
            f"maximum {largest:.4g}); take log2 away"
        )
        yield Problem(setting, message, "warning")


def collapse_to_genes(
    X: Array,
    probes: Sequence[str],
    gene_table: str | None,
    symbol: str | None,
    collapse_rule: str,
    problems: list[Problem],
) -> tuple[Array, tuple[str, ...]] | None:
    """Return X with one column for each gene, and the genes; None after an error.

    No label is used: of the probes of a gene the one with the largest mean (or interquartile
    range) over the samples stands for it, or their median in each sample.

    X (n_samples, n_probes) float.
    gene_table, symbol: gene table and its column of symbols; without it each probe is a gene.
    collapse_rule: a name in `gene_filters.COLLAPSE_RULES`.
    """
    if gene_table is None:
        return X, tuple(probes)
    symbols = _read_first_symbols(gene_table, symbol, problems)
    if symbols is None:
        return None
    named_columns = [column for column, probe in enumerate(probes) if probe in symbols]
    if not named_columns:
        message = (
            f"no gene of the matrix is in its first column: the matrix has {listing(probes)}, "
            f"the column has {listing(symbols)}; name the gene table of this matrix"
        )
        problems.append(Problem(gene_table, message))
        return None
    genes_of_columns = [symbols[probes[column]] for column in named_columns]
    collapse = fit_steps(
        X[:, named_columns], [{"step": "collapse", "by": genes_of_columns, "rule": collapse_rule}]
    )
    return collapse.transform(X[:, named_columns]), tuple(
        genes_of_columns[column] for column in collapse.genes
    )


def _read_first_symbols(
    gene_table: str, symbol: str | None, problems: list[Problem]
) -> dict[str, str] | None:
    """Return the symbol of each probe of a gene table; None after a problem.

    A probe of several genes has the first symbol.
    """
    cells = read_name_column(gene_table, symbol, meaning="symbol", problems=problems)
    if cells is None:
        return None
    symbol_of_probe = {
        str(probe): str(text).split(SYMBOL_SEPARATOR)[0].strip() for probe, text in cells.items()
    }
    return {probe: name for probe, name in symbol_of_probe.items() if not is_missing(name)}


def common_genes(members: Sequence[Member], problems: list[Problem]) -> list[str]:
    """Return the genes that all studies have, sorted by name; append the problems."""
    common = set(members[0].genes).intersection(*(member.genes for member in members[1:]))
    if not common:
        genes_text = "; ".join(
            f"{member.name} has {listing(member.genes)}" for member in members[:3]
        )
        message = (
            f"no gene is in all of them: {genes_text}; name the table that gives each its symbol "
            f"in 'annotation'{other_spelling_hint(members[0].genes, members[1].genes)}"
        )
        problems.append(Problem(POOLED_STUDIES, message))
        return []
    for member in members:
        if len(common) < MIN_COMMON_SHARE * len(member.genes):
            message = (
                f"{len(common)} of the {counted(len(member.genes), 'gene')} of '{member.name}' "
                "are in every study; the others are left out"
            )
            problems.append(Problem(member.matrix_file, message, "warning"))
    problems.extend(_version_problems(members))
    return sorted(common)


def _version_problems(members: Sequence[Member]) -> Iterator[Problem]:
    """Yield a warning for studies whose gene ids have other versions than the first study's."""
    first_member = members[0]
    for member in members[1:]:
        if hint := other_spelling_hint(first_member.genes, member.genes):
            n_absent = len(set(first_member.genes) - set(member.genes))
            message = (
                f"{n_absent} of the {counted(len(first_member.genes), 'gene')} of "
                f"'{first_member.name}' are not in '{member.name}'{hint}"
            )
            yield Problem(member.matrix_file, message, "warning", code="id_spelling")


def describe_gene_loss(members: Sequence[Member]) -> list[dict[str, Any]]:
    """Return for each study its numbers of samples and genes, and of genes that other studies lack.

    Returns
    -------
    list of dict
        name, samples, measured, genes; lost: genes of it that are not common; lacking: name of
        another study -> number of this study's genes that the other lacks.
    """
    genes_of_study = {member.name: set(member.genes) for member in members}
    common = set.intersection(*genes_of_study.values())
    return [
        {
            "name": member.name,
            "samples": len(member.table),
            "measured": member.n_measured,
            "genes": len(member.genes),
            "lost": len(genes_of_study[member.name] - common),
            "lacking": {
                other_study: len(genes_of_study[member.name] - genes)
                for other_study, genes in genes_of_study.items()
                if other_study != member.name
            },
        }
        for member in members
    ]


def check_shared_samples(members: Sequence[Member], common: Sequence[str]) -> Iterator[Problem]:
    """Yield an error for samples that are in two studies: a left-out study must be new.

    common: the genes that all studies have.
    """
    values = [_comparable_values(member, common) for member in members]
    for (first_index, first_member), (second_index, second_member) in combinations(
        enumerate(members), 2
    ):
        pairs = np.argwhere(_are_copies(values[first_index], values[second_index]))
        if not len(pairs):
            continue
        first_sample, second_sample = (
            member.table.index[row]
            for member, row in zip((first_member, second_member), pairs[0], strict=True)
        )
        message = (
            f"'{first_sample}' of '{first_member.name}' and '{second_sample}' of "
            f"'{second_member.name}' are one sample by their "
            f"values{further_text(len(pairs) - 1, 'pair')}; a study that is left out must be new: "
            f"take {listing([str(first_member.table.index[row]) for row in pairs[:, 0]])} out of "
            f"'{first_member.name}'"
        )
        yield Problem(first_member.matrix_file, message)


def _comparable_values(member: Member, common: Sequence[str]) -> Array:
    """Return the values of the common genes, as logarithms if they look raw: samples × genes."""
    X = member.values_of(common)
    size = sizes(X)
    if looks_raw(size.p99, size.largest):
        X = np.log2(np.maximum(X, 1.0))  # smaller values are noise
    return X


def _are_copies(X: Array, Z: Array) -> Array:
    """Return which samples of X are copies of which samples of Z, (n, m) bool.

    X (n, d), Z (m, d): values of the same genes.
    """
    is_measured = np.isfinite(X).all(axis=0) & np.isfinite(Z).all(axis=0)
    X = X[:, is_measured]
    Z = Z[:, is_measured]
    if X.shape[1] < MIN_GENES_FOR_CORRELATION:
        return np.array([[np.array_equal(x, z) for z in Z] for x in X], dtype=bool)
    return np.asarray(_unit_rows(X) @ _unit_rows(Z).T > MIN_COPY_CORRELATION)


def _unit_rows(X: Array) -> Array:
    """Return the rows centred and of length 1; a constant row becomes 0."""
    centred_rows = X - X.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred_rows, axis=1, keepdims=True)
    return np.asarray(centred_rows / np.where(length > 0, length, 1.0))
