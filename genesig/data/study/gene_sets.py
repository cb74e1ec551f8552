"""Gene sets of a file as genes of the study: matched by id or symbol, those of a usable size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from genesig.data.files.gene_ids import converted_names
from genesig.data.files.gmt import NamedSet
from genesig.data.files.readers import read_sets
from genesig.errors import InvalidInput, Problem, refuse
from genesig.results.splits import GeneSets
from genesig.words import counted, listing

BETWEEN = "///"
"""What Affymetrix writes between the symbols of a probe that measures several genes."""

Places = Mapping[str, Sequence[int]]
Members = dict[str, frozenset[int]]


def study_sets(
    path: str,
    genes: Sequence[str],
    symbols: Sequence[str],
    *,
    column: str | None,
    smallest: int,
    largest: int,
) -> GeneSets:
    """Return the sets of a file as numbers of the study's genes.

    Names are compared with the ids or with the symbols, whichever know more of them, to the
    letter. A set's size is the number of its measured names: several probes of one gene count once.

    Parameters
    ----------
    path : str
        GMT or GMX; or a gene table, of which `column` says to which set each gene belongs.
    genes, symbols : (d,) sequence of str
        Of the columns of the matrix; the symbol is the id where there is none.
    column : str or None
    smallest, largest : int
        Sizes of the sets that take part; those of a column all do.

    Raises
    ------
    InvalidInput
        If the file cannot be read, none of its genes is measured, or no set is left.
    """
    sets = read_sets(path, column)
    smallest, largest = (smallest, largest) if column is None else (1, len(genes))
    named = dict.fromkeys(name for one in sets for name in one.genes)
    known = _places(path, sets, named, genes, symbols)
    found = {one.name: [name for name in one.genes if name in known] for one in sets}
    fitting = [one for one in sets if smallest <= len(found[one.name]) <= largest]
    if not fitting:
        size = max(map(len, found.values()))
        message = (
            f"no set has {smallest} to {largest} measured genes (the largest has {size}); set "
            "structured.smallest and structured.largest, or name other sets"
        )
        raise refuse(path, message)
    members = {
        one.name: frozenset(k for name in found[one.name] for k in known[name]) for one in fitting
    }
    kept, twins = _distinct(fitting, members)
    columns = [sorted(members[one.name]) for one in kept]
    return GeneSets(
        names=np.array([one.name for one in kept], dtype=str),
        about=np.array([one.description for one in kept], dtype=str),
        named=np.array([len(one.genes) for one in kept], dtype=np.int64),
        measured=np.array([len(found[one.name]) for one in kept], dtype=np.int64),
        indptr=np.cumsum([0, *map(len, columns)]),
        indices=np.array([k for column in columns for k in column], dtype=np.int64),
        said=np.array([*_doubts(sets, named, known), *_left(sets, kept), *twins], dtype=str),
    )


def check_sets(
    config: dict[str, Any], genes: Sequence[str], symbols: Mapping[str, str] | None
) -> tuple[list[Problem], dict[str, int]]:
    """Return what is wrong with the files of gene sets of the config, and how much they hold.

    The numbers are those of `genesig.data.study.cost.Size`, none of files that are not named.
    """
    of = symbols or {}
    names = ("structured", "enrichment")
    published = config.get("controls", {}).get("signatures")
    sections = {name: config.get(name, {}) for name in names}  # a job may be told of none
    sections["published"] = {"sets": published, "smallest": 1, "largest": len(genes)}
    problems: list[Problem] = []
    held: dict[str, int] = {}
    for name, section in sections.items():
        if section.get("sets") is None or section["smallest"] > section["largest"]:
            continue
        known = {key: section.get(key) for key in ("column", "smallest", "largest")}
        try:
            found = study_sets(section["sets"], genes, [of.get(g) or g for g in genes], **known)
        except InvalidInput as error:
            problems += error.problems
            continue
        problems += [Problem(section["sets"], str(said), "warning") for said in found.said]
        held |= {f"{name}_sets": len(found), f"{name}_members": len(found.indices)}
    return problems, held


def _places(
    path: str,
    sets: Sequence[NamedSet],
    named: Mapping[str, None],
    genes: Sequence[str],
    symbols: Sequence[str],
) -> Places:
    """Return the columns of each measured name, by id or by symbol.

    Raises
    ------
    InvalidInput
        If no name of the file is measured, or its sets are called by names of genes.
    """
    by_id: dict[str, list[int]] = {gene: [k] for k, gene in enumerate(genes)}
    by_symbol: dict[str, list[int]] = {}
    for k, text in enumerate(symbols):
        for symbol in dict.fromkeys(part.strip() for part in text.split(BETWEEN)):
            by_symbol.setdefault(symbol, []).append(k)
    known = max(by_id, by_symbol, key=lambda places: sum(name in places for name in named))
    if 2 * sum(one.name in known for one in sets) > len(sets):
        other = ".gmt" if path.lower().removesuffix(".gz").endswith(".gmx") else ".gmx"
        message = (
            f"its sets are called by names of genes ({listing(one.name for one in sets)}); rows "
            f"and columns look exchanged: rename the file to {other}"
        )
        raise refuse(path, message)
    if not any(name in known for name in named):
        raise refuse(path, _none(list(named), genes, symbols))
    return known


def _none(named: list[str], genes: Sequence[str], symbols: Sequence[str]) -> str:
    """Say that nothing is measured, and what may be the reason."""
    here = list(symbols) if list(symbols) != list(genes) else list(genes)
    message = (
        f"none of its {counted(len(named), 'gene')} is in the data: it has {listing(named)}, "
        f"the data have {listing(here)}; "
    )
    cases = {name.casefold() for name in named}
    if any(name.casefold() in cases for name in [*symbols, *genes]):
        return (
            message + "upper and lower case differ: take the sets of this species, or write alike"
        )
    if list(symbols) == list(genes):
        return message + "set data.annotation to the gene table of this matrix, for its symbols"
    return message + "name sets of these genes, or another column of the gene table by data.symbol"


def _distinct(fitting: Sequence[NamedSet], members: Members) -> tuple[list[NamedSet], list[str]]:
    """Return the sets of different genes, and a sentence on the others."""
    first: dict[frozenset[int], str] = {}
    for one in fitting:
        first.setdefault(members[one.name], one.name)
    kept = [one for one in fitting if first[members[one.name]] == one.name]
    same = [one.name for one in fitting if first[members[one.name]] != one.name]
    if not same:
        return kept, []
    of = first[members[same[0]]]
    message = (
        f"of the same measured genes as another, so left out: {counted(len(same), 'set')}, "
        f"{listing(same, 1)} (as '{of}')"
    )
    return kept, [message]


def _doubts(sets: Sequence[NamedSet], named: Mapping[str, None], known: Places) -> Iterator[str]:
    """Yield what makes one doubt that the file suits the data."""
    absent = [name for name in named if name not in known]
    if 2 * len(absent) > len(named):
        yield f"{len(absent)} of its {len(named)} genes are not in the data: {listing(absent)}"
    cases = {name.casefold(): name for name in known}
    other = [name for name in absent if name.casefold() in cases]
    if 20 * len(other) > len(named):
        message = (
            f"{counted(len(other), 'gene')} not found for their upper and lower case: "
            f"'{other[0]}' is '{cases[other[0].casefold()]}' in the data"
        )
        yield message
    if lost := converted_names(list(named)):
        message = f"turned into dates or numbers by a spreadsheet: {counted(len(lost), 'gene')}, "
        yield message + listing(lost)
    if empty := [one.name for one in sets if not one.genes]:
        yield f"without a gene, so left out: {counted(len(empty), 'set')}, {listing(empty)}"


def _left(sets: Sequence[NamedSet], kept: Sequence[NamedSet]) -> Iterator[str]:
    """Yield what is left of the sets, where that is little."""
    names = {one.name for one in kept}
    out = [one.name for one in sets if one.name not in names]
    if 10 * len(out) > 9 * len(sets):
        message = (
            f"{len(out)} of its {len(sets)} sets are left out for their size, {listing(out)}"
            "; structured.smallest and structured.largest say which take part"
        )
        yield message
    if len(kept) == 1:
        yield f"one set is left, '{kept[0].name}', so that there is none to choose"
