"""Several studies of one question as one matrix and one sample table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.event_columns import event_word
from genesig.data.files.names import POOLED_STUDIES
from genesig.data.steps.combat import MIN_BATCH_SAMPLES
from genesig.data.steps.scale import (
    LOGGED_P99,
    looks_raw,
    never_logged,
    sizes,
    spread_grows_with_size,
)
from genesig.data.study.labels.known import LABELS
from genesig.data.study.pool.member import check_copies, common_genes, lost_to, read_member
from genesig.data.study.pool.record import WEIGHT, Member, Pool, Wanted
from genesig.errors import Problem
from genesig.words import flow_yaml, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

Problems = list[Problem]

LEAST_OF_CLASS = 2
"""Samples of each class that a study needs: with one there is no spread to hold it against."""
OTHER_UNIT = 6.0
"""From this ratio of their median times on, two studies may have unlike units: a year has 12
months, a month 30 days. Follow-up alone seldom differs as much."""
OWN = ("group", "pair")
"""Columns whose words mean something inside a study alone: patient 1 is another one elsewhere."""


def pool_studies(
    studies: Sequence[Mapping[str, Any]], wanted: Wanted, problems: Problems
) -> Pool | None:
    """Read every study by itself and bring all to their common genes.

    Each sample is named as in its own table, or ``study.sample`` where two studies share a name.
    Every cell of a column that another study lacks is blank there. The weight of a sample is
    n/(K n_k): K studies of n samples together count alike, whatever their sizes n_k.

    Parameters
    ----------
    studies : sequence of mapping
        The config's ``studies``.
    wanted : Wanted
    problems : list of Problem
        What is wrong is added here.

    Returns
    -------
    Pool or None
        None where an error was found.
    """
    read = [read_member(item, wanted, problems) for item in studies]
    members = [member for member in read if member is not None]
    if len(members) < len(read):
        return None
    start = len(problems)
    problems += _check_responses(members, wanted)
    problems += _check_units(members)
    problems += _check_numbers(members, wanted.align)
    common = common_genes(members, problems)
    if common:
        problems += check_copies(members, common)
    if any(problem.level == "error" for problem in problems[start:]):
        return None
    return _pooled(members, common, wanted)


def _pooled(members: Sequence[Member], common: Sequence[str], wanted: Wanted) -> Pool:
    names = _names(members)
    X = np.vstack([_columns(member, common) for member in members])
    table = _table(members, names, wanted)
    rows = tuple(name for own in names for name in own)
    matrix = Matrix(rows, tuple(common), X, {}, tuple(range(1, len(rows) + 1)), line_word="row")
    dropped = [note for member in members for note in member.dropped]
    files = dict.fromkeys(file for member in members for file in member.files)
    return Pool(matrix, table, lost_to(members), dropped, list(files))


def _columns(member: Member, common: Sequence[str]) -> Array:
    place = {gene: k for k, gene in enumerate(member.genes)}
    return np.asarray(member.X[:, [place[gene] for gene in common]])


def _names(members: Sequence[Member]) -> list[list[str]]:
    own = [[str(name) for name in member.table.index] for member in members]
    if max(Counter(name for names in own for name in names).values()) == 1:
        return own
    return [
        [f"{member.name}.{name}" for name in names]
        for member, names in zip(members, own, strict=True)
    ]


def _table(members: Sequence[Member], names: list[list[str]], wanted: Wanted) -> pd.DataFrame:
    import pandas as pd

    total = sum(len(own) for own in names)
    parts = []
    for member, own in zip(members, names, strict=True):
        part = member.table.set_axis(pd.Index(own, name="sample", dtype=object))
        part[WEIGHT] = repr(total / (len(members) * len(own)))
        for column in {wanted.data[key] for key in OWN} & set(part.columns):
            part[column] = [f"{member.name} {cell}" if cell else "" for cell in part[column]]
        parts.append(part)
    table = pd.concat(parts).fillna("").astype(object)
    table.attrs["lines"] = list(range(1, total + 1))
    table.attrs["places"] = dict(
        enumerate(
            (member.sheet, number, dict(zip(wanted.label, member.columns, strict=True)))
            for member in members
            for number in member.lines
        )
    )
    return table


def _check_responses(members: Sequence[Member], wanted: Wanted) -> Iterator[Problem]:
    """Yield the studies that cannot tell anything: without one of the classes, without an event."""
    label = wanted.label[0]
    kind = LABELS[wanted.data["task"]]
    if not kind.named:
        for member in members:
            cells = member.table[wanted.label[-1]]
            if cells.nunique() < 2:
                message = (
                    f"every sample of '{member.name}' has '{cells.iloc[0]}', so that nothing can"
                    " be learned or tested there; take it out of studies"
                )
                yield Problem(f"{member.sheet}, column '{member.columns[-1]}'", message)
        if kind.columns:  # times and events
            yield from _check_times(members, label)
            yield from _check_events(members, wanted)
        return
    counts = [Counter(map(str, member.table[label])) for member in members]
    every = wanted.data["classes"] or _usual(counts)
    for member, own in zip(members, counts, strict=True):
        short = [name for name in every if own[name] < LEAST_OF_CLASS]
        further = {word: n for word, n in own.items() if word not in every}
        at = f"{member.sheet}, column '{member.columns[0]}'"
        if short:
            strange = [*further, *member.others]
            every_word = own + Counter(member.others)
            yield Problem(at, _short(member.name, short[0], every_word, strange))
        elif further:
            found = ", ".join(f"'{word}' ({n})" for word, n in further.items())
            message = (
                f"{found} is no class of the other studies; name those that are to be told apart"
            )
            yield Problem(
                at,
                f"{message}, data: {{classes: [{', '.join(every)}]}}, or what it means, "
                f"classes: {{{next(iter(further))}: CLASS}}",
            )


def _check_times(members: Sequence[Member], column: str) -> Iterator[Problem]:
    """Yield the studies whose times are so much longer that they may be of another unit."""
    import pandas as pd

    median = {
        member.name: float(pd.to_numeric(member.table[column], errors="coerce").median())
        for member in members
    }
    shortest = min(median, key=lambda name: median[name])
    for member in members:
        if median[member.name] >= OTHER_UNIT * median[shortest] > 0:
            times = median[member.name] / median[shortest]
            message = (
                f"the median time of '{member.name}' ({median[member.name]:.3g}) is "
                f"{times:.3g} times that of '{shortest}' ({median[shortest]:.3g}); if one has "
                "days or months and the other years, write all in one unit"
            )
            yield Problem(f"{member.sheet}, column '{member.columns[0]}'", message, "warning")


def _check_events(members: Sequence[Member], wanted: Wanted) -> Iterator[Problem]:
    """Yield the studies whose words for the event are neither 0 and 1 nor named."""
    if wanted.data["event"] is not None:
        return
    for member in members:
        cells = member.table[wanted.label[1]].astype(str)
        counts = Counter(cell.strip() for cell in cells if not is_missing(cell))
        if word := event_word(counts):
            found = ", ".join(f"'{cell}' ({n})" for cell, n in counts.most_common(6))
            message = (
                f"which word is the event? Found {found}; for example write into this item of "
                f"studies, {flow({'event': word}).strip('{}')}"
            )
            yield Problem(
                f"{member.sheet}, column '{member.columns[1]}'",
                message,
            )


def _usual(counts: Sequence[Counter[str]]) -> list[str]:
    """Return the words of most studies, or of the first: others may be spelled otherwise."""
    shared = Counter(word for own in counts for word in own)
    usual = [word for word in shared if 2 * shared[word] > len(counts)]
    return usual if len(usual) > 1 else list(counts[0])


def _short(study: str, lacking: str, own: Counter[str], further: Sequence[str]) -> str:
    """Say that a study lacks a class, and which of its words is probably meant."""
    if own[lacking]:
        return (
            f"'{study}' has one sample of class '{lacking}'; each study needs "
            f"{LEAST_OF_CLASS} of every class: name in data.classes those that are to be "
            "compared, or take it out of studies"
        )
    found = ", ".join(f"'{word}' ({n})" for word, n in own.most_common(6))
    near = get_close_matches(lacking, further, n=1, cutoff=0.0)
    return (
        f"no sample of '{study}' is '{lacking}' (found: {found}), and a study of one class "
        "cannot tell classes apart; if it is spelled otherwise there, write classes: "
        f"{{{(near or ['THEIR WORD'])[0]}: {lacking}}}, else take it out of studies"
    )


def _check_numbers(members: Sequence[Member], align: str) -> Iterator[Problem]:
    """Yield the studies that are too small for moments of their own, where these are shrunken."""
    if align != "combat":
        return
    for member in members:
        if (n := len(member.table)) < MIN_BATCH_SAMPLES:
            message = (
                f"'{member.name}' has {n} samples, at least {MIN_BATCH_SAMPLES} are needed for "
                "across.align: combat; "
                "take it out of studies, or align otherwise"
            )
            yield Problem(member.where, message)


def _check_units(members: Sequence[Member]) -> Iterator[Problem]:
    """Yield that logarithms were taken in one study and not in another."""
    raw = {}
    for member in members:
        _, p99, most = sizes(member.X)
        is_raw = looks_raw(p99, most) and never_logged(member.X)
        if is_raw and p99 <= LOGGED_P99:  # of few values, as of ages among the genes
            is_raw = spread_grows_with_size(member.X)
        raw[member.name] = (is_raw, p99)
    never = [name for name, (is_raw, _) in raw.items() if is_raw]
    logged = [name for name, (is_raw, _) in raw.items() if not is_raw]
    if never and logged:
        size = ", ".join(f"{name} {raw[name][1]:.4g}" for name in (never[0], logged[0]))
        message = (
            f"{listing(never)} {'looks' if len(never) == 1 else 'look'} as if no logarithms were"
            f" taken, {listing(logged)} as if they were (99th percentile: {size}); bring all to"
            " one scale, with normalise: [{step: log2}] of their own for those that need it"
        )
        yield Problem(POOLED_STUDIES, message)
