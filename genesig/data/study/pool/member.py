"""One study among several, read by itself; the genes and samples that studies share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.gene_ids import versions_hint
from genesig.data.files.geo_counts import paths_read
from genesig.data.files.headers import with_names_of
from genesig.data.files.names import POOLED_STUDIES
from genesig.data.files.non_genes import Surroundings
from genesig.data.files.readers import assign_part, read_genes, read_matrix, read_samples
from genesig.data.files.sample_names import with_matrix_names, without_absent
from genesig.data.steps.normalise import fit_steps
from genesig.data.steps.scale import looks_raw, never_logged, sizes
from genesig.data.study.labels.known import LABELS
from genesig.data.study.labels.record import line
from genesig.data.study.labels.times import (
    check_blank_times,
    check_event_coding,
    with_joined_times,
)
from genesig.data.study.matrix_check import check_matrix
from genesig.data.study.pool.record import STUDY, Member, Wanted
from genesig.data.study.scale_check import flattened
from genesig.data.study.sheet_check import check_column, check_ids, storable
from genesig.data.study.unlabelled import unlabelled_samples
from genesig.errors import GenesigError, InvalidInput, Problem, attempt, did_you_mean
from genesig.response.design import label_columns, time_columns
from genesig.words import counted, further_text, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

Problems = list[Problem]

SEVERAL = "///"
"""Between the symbols of a probe that measures several genes, in Affymetrix' tables: the first one
names it, as it does for most others who use such tables."""
FEW = 0.5
"""Share of a study's genes below which it is said how many of them are common."""


def by_symbol(
    X: Array,
    probes: Sequence[str],
    annotation: str | None,
    symbol: str | None,
    rule: str,
    problems: Problems,
) -> tuple[Array, tuple[str, ...]] | None:
    """Return one column for each gene, and the genes; None where the gene table is at fault.

    No label is looked at: of the probes of a gene the one with the largest mean (or interquartile
    range) over the samples stands for it, or their median in each sample.

    Parameters
    ----------
    X : (n_samples, n_probes) float
    annotation, symbol : str or None
        Gene table and its column of symbols; without it each probe is a gene.
    rule : str
        A name in `collapse.COLLAPSE_RULES`.
    """
    if annotation is None:
        return X, tuple(probes)
    symbols = _symbols(annotation, symbol, problems)
    if symbols is None:
        return None
    known = [k for k, probe in enumerate(probes) if probe in symbols]
    if not known:
        message = (
            f"no gene of the matrix is in its first column: the matrix has {listing(probes)}, "
            f"the column has {listing(symbols)}; name the gene table of this matrix"
        )
        problems.append(Problem(annotation, message))
        return None
    names = [symbols[probes[k]] for k in known]
    collapse = fit_steps(X[:, known], [{"step": "collapse", "by": names, "rule": rule}])
    return collapse.transform(X[:, known]), tuple(names[k] for k in collapse.genes)


def _symbols(annotation: str, symbol: str | None, problems: Problems) -> dict[str, str] | None:
    table = attempt(lambda: read_genes(annotation, None), problems)
    if table is None:
        return None
    columns = list(map(str, table.columns))
    check_column(symbol, "symbol", columns, str(table.index.name), annotation, problems)
    column = symbol if symbol is not None else next(iter(columns), None)
    if column is None:
        problems.append(Problem(annotation, "needs two columns: gene id and symbol"))
    if column not in columns or columns.count(column) > 1:
        return None
    first = table[~table.index.duplicated()][column]
    named = {str(probe): str(text).split(SEVERAL)[0].strip() for probe, text in first.items()}
    return {probe: name for probe, name in named.items() if not is_missing(name)}


def common_genes(members: Sequence[Member], problems: Problems) -> list[str]:
    """Return the genes that all studies have, in the order of their names."""
    common = set(members[0].genes).intersection(*(member.genes for member in members[1:]))
    if not common:
        found = "; ".join(f"{member.name} has {listing(member.genes)}" for member in members[:3])
        message = (
            f"no gene is in all of them: {found}; name the table that gives each its symbol in "
            f"'annotation'{versions_hint(members[0].genes, members[1].genes)}"
        )
        problems.append(Problem(POOLED_STUDIES, message))
        return []
    for member in members:
        if len(common) < FEW * len(member.genes):
            message = (
                f"{len(common)} of the {counted(len(member.genes), 'gene')} of '{member.name}' "
                "are in every study; the others are left out"
            )
            problems.append(Problem(member.where, message, "warning"))
    problems.extend(_version_problems(members))
    return sorted(common)


def _version_problems(members: Sequence[Member]) -> Iterator[Problem]:
    """Yield the studies whose gene ids differ by their versions from the first of the studies."""
    first = members[0]
    for member in members[1:]:
        if hint := versions_hint(first.genes, member.genes):
            lacking = len(set(first.genes) - set(member.genes))
            message = (
                f"{lacking} of the {counted(len(first.genes), 'gene')} of '{first.name}' are "
                f"not in '{member.name}'{hint}"
            )
            yield Problem(member.where, message, "warning", code="id_versions")


def lost_to(members: Sequence[Member]) -> list[dict[str, Any]]:
    """Count for each study its samples and genes, and those that other studies lack.

    Returns
    -------
    list of dict
        name, samples, measured, genes; lost: genes of it that are not common; lacking: name of
        another study -> how many of its genes that one lacks.
    """
    own = {member.name: set(member.genes) for member in members}
    common = set.intersection(*own.values())
    return [
        {
            "name": member.name,
            "samples": len(member.table),
            "measured": member.measured,
            "genes": len(member.genes),
            "lost": len(own[member.name] - common),
            "lacking": {
                other: len(own[member.name] - genes)
                for other, genes in own.items()
                if other != member.name
            },
        }
        for member in members
    ]


Config = Mapping[str, Any]

EVENT = "1"
NO_EVENT = "0"
"""Words of the column of events where the config names none."""


def read_member(item: Config, wanted: Wanted, problems: Problems) -> Member | None:
    """Read one of ``studies``; None where something is wrong with it, which joins the problems.

    What it does not say of its files is as in the section ``data``.
    """
    found: Problems = []
    usual = {
        key: item.get(key) or wanted.data.get(key)
        for key in ("annotation", "symbol", "part", "sample_names")
    }
    member = _read({**item, **usual}, wanted, found)
    problems.extend(found)
    return None if any(problem.level == "error" for problem in found) else member


def _read(item: Config, wanted: Wanted, problems: Problems) -> Member | None:
    place = item["expression"]
    file = item["samples"] or item["expression"]
    of_matrix, of_samples = assign_part(item["part"], place, file)
    matrix = attempt(lambda: read_matrix(place, of_matrix), problems)
    table = _table(matrix, file, of_samples, item["sample_names"], problems)
    if table is None:
        return None
    not_measured = list[dict[str, str]]()
    if matrix is not None:
        matrix = with_names_of(matrix, list(map(str, table.index)))
        axes = (matrix.columns, matrix.rows)
        table, not_measured = without_absent(table, axes, file, place, problems)
    table = _in_words_of_study(table, file, item, wanted, problems)
    if table is None or matrix is None:
        return None
    used = [str(name) for name in table.index[_labelled(table, wanted)]]
    if not used:
        message = (
            f"no sample has a label of the study in column '{_columns(item, wanted)[0]}'"
            f"; take '{item['name']}' out of studies"
        )
        problems.append(Problem(file, message))
        return None
    surroundings = Surroundings(
        table, _columns(item, wanted), kept_kinds=wanted.data.get("keep", ())
    )
    values = check_matrix(
        matrix,
        place,
        names=list(table.index),
        used=used,
        sheet=file,
        missing=None,
        surroundings=surroundings,
        problems=problems,
    )
    if values is None:
        return None
    X = _own_steps(values.X, item, problems)
    rule = wanted.probes
    genes = by_symbol(X, values.genes, item["annotation"], item["symbol"], rule, problems)
    if genes is None:
        return None
    files = dict.fromkeys([*paths_read(place), *filter(None, (file, item["annotation"]))])
    dropped = not_measured + [note for note in values.dropped if note["kind"] != "gene"]
    dropped += [
        {"kind": "sample", "name": str(name), "reason": f"no label in '{item['name']}'"}
        for name in table.index
        if name not in set(used)
    ]
    row_of = {str(name): row for row, name in enumerate(table.index)}
    lines = tuple(line(table, row_of[name]) for name in used)
    others = _others(table.drop(index=used), wanted)
    return Member(
        item["name"],
        place,
        *genes,
        table.loc[used],
        file,
        tuple(_columns(item, wanted)),
        lines,
        others,
        len(values.genes),
        dropped,
        tuple(files),
    )


def _table(
    matrix: Matrix | None,
    file: str,
    part: str | None,
    sample_names: str | None,
    problems: Problems,
) -> pd.DataFrame | None:
    """Return the sample table under the names of the matrix; None if it cannot be read."""
    names = None if matrix is None else matrix.columns
    table = attempt(lambda: read_samples(file, names, part), problems)
    if table is None:
        return None
    if matrix is not None:
        axes = (matrix.columns, matrix.rows)
        table = with_matrix_names(table, axes, file, sample_names, problems)
    table = storable(table, file, problems)
    start = len(problems)
    check_ids(table, file, problems)
    return None if any(p.level == "error" for p in problems[start:]) else table


def _columns(item: Config, wanted: Wanted) -> Sequence[str]:
    return wanted.label if item["label"] is None else label_columns(item["label"])


def _in_words_of_study(
    table: pd.DataFrame, file: str, item: Config, wanted: Wanted, problems: Problems
) -> pd.DataFrame | None:
    """Give the columns of the response the names and words that the study has for them."""
    times = wanted.times if item["label"] is None else time_columns(item["label"])
    table = with_joined_times(table, times)
    own = _columns(item, wanted)
    known = list(map(str, table.columns))
    for column in own:
        check_column(column, "label", known, str(table.index.name), file, problems)
    if not set(own) <= set(known) or len(own) != len(wanted.label):
        return None
    if len(own) > 1:
        word = item["event"] or wanted.data["event"]
        faults = list(check_blank_times(table, file, own[0], own[1], word))
        if faults:
            problems += faults
            return None
        key = f"studies, {item['name']}, event"
        problems += check_event_coding(table, file, (own[0], own[1]), word, key)
    unlabelled_samples(
        table,
        file,
        own[0],
        classes=[*map(str, item["classes"]), *(wanted.data["classes"] or ())],
        words_are_classes=LABELS[wanted.data["task"]].named,
        problems=problems,
        leave_out=wanted.data.get("unlabelled") == "leave_out",
    )
    cells = {
        name: table[column].astype(str) for name, column in zip(wanted.label, own, strict=True)
    }
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
    words = list(map(str, classes))
    # Of two words that are close to it, the one that is translated already is not meant.
    free = [word for word in known if word not in words and not is_missing(word)]
    for word in words:
        if word not in known:
            near = did_you_mean(word, free) or f"; {_free(free)}"
            yield Problem(at, f"classes: no sample is '{word}'{near}")


def _free(words: Sequence[str]) -> str:
    """Say which words are left to be translated."""
    return f"write one of {listing(words, 6)}" if words else "take it out, all words have a class"


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


def _others(left_out: pd.DataFrame, wanted: Wanted) -> dict[str, int]:
    """Count the words of samples that are left out: one may be a class spelled otherwise."""
    cells = left_out[wanted.label[0]].astype(str)
    return dict(Counter(cell for cell in cells if not is_missing(cell)))


def _own_steps(X: Array, item: Config, problems: Problems) -> Array:
    """Apply the study's own row-wise steps, which come before those of all."""
    at = f"studies, {item['name']}, normalise"
    try:
        for number, step in enumerate(item["normalise"], 1):
            before = X
            X = fit_steps(X, [step]).transform(X)
            problems.extend(_step_problems(step, before, X, f"{at}, item {number}"))
    except (InvalidInput, GenesigError) as error:
        problems.append(Problem(at, str(error)))
    return X


def _step_problems(step: dict[str, Any], before: Array, after: Array, at: str) -> Iterator[Problem]:
    """Yield that a step leaves nothing to learn from, or takes logarithms of logarithms.

    The other studies hide both once all are one matrix, whose genes vary and whose size is theirs.
    """
    if message := flattened(step, before, after):
        yield Problem(at, message)
    elif step["step"] == "log2" and not never_logged(before):
        _, p99, most = sizes(before)
        message = (
            f"the values look as if they were logged already (99th percentile {p99:.4g}, "
            f"maximum {most:.4g}); take log2 away"
        )
        yield Problem(at, message, "warning")


ALIKE = 0.999
"""Correlation over the genes above which two samples are one. Technical replicates of one
hybridisation protocol stay below."""
ENOUGH = 100
"""Genes from which on a correlation says that; of fewer, the values must be equal."""


def check_copies(members: Sequence[Member], common: Sequence[str]) -> Iterator[Problem]:
    """Yield the samples that stand in two studies: what is left out would have been trained on."""
    values = [_comparable(member, common) for member in members]
    for (a, one), (b, other) in combinations(enumerate(members), 2):
        pairs = np.argwhere(_same(values[a], values[b]))
        if not len(pairs):
            continue
        first, second = (
            member.table.index[k] for member, k in zip((one, other), pairs[0], strict=True)
        )
        message = (
            f"'{first}' of '{one.name}' and '{second}' of '{other.name}' are one sample by their"
            f" values{too(len(pairs) - 1, 'pair')}; a study that is left out must be new: take "
            f"{listing([str(one.table.index[k]) for k in pairs[:, 0]])} out of '{one.name}'"
        )
        yield Problem(one.where, message)


def _comparable(member: Member, common: Sequence[str]) -> Array:
    """Return the values of the common genes, logarithms where they look raw."""
    place = {gene: k for k, gene in enumerate(member.genes)}
    X = member.X[:, [place[gene] for gene in common]]
    if looks_raw(*sizes(X)[1:]):
        X = np.log2(np.maximum(X, 1.0))
    return X


def _same(X: Array, Z: Array) -> Array:
    """Return which samples of one are which of the other, (n, m) bool."""
    known = np.isfinite(X).all(axis=0) & np.isfinite(Z).all(axis=0)
    X = X[:, known]
    Z = Z[:, known]
    if X.shape[1] < ENOUGH:
        return np.array([[np.array_equal(x, z) for z in Z] for x in X], dtype=bool)
    return np.asarray(_unit(X) @ _unit(Z).T > ALIKE)


def _unit(X: Array) -> Array:
    centred = X - X.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(centred / np.where(length > 0, length, 1.0))
