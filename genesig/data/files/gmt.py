"""Files of gene sets: GMT, one set a line, and GMX, one set a column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from genesig.errors import input_error
from genesig.words import counted, further_text, is_missing, listing

DECIMAL_NUMBER = re.compile(r"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)
"""A number with a point is no id of a gene; a whole one may be (Entrez)."""


@dataclass(frozen=True)
class NamedSet:
    """A gene set as its file, or a column of a gene table, has it."""

    name: str
    description: str  # second field of the file, often a web address
    genes: tuple[str, ...]  # each once, in the file's order; empty if the file lists none
    place: str  # line or column of the file, in messages


def parse_sets(text: str, suffix: str, file_name: str) -> list[NamedSet]:
    """Return the gene sets of a GMT or GMX text; `suffix` is a key of `SET_PARSERS`.

    Raises InvalidInput: it is of another kind, names a set twice, or has no set with a gene.
    """
    cells_of_line = [line.split("\t") for line in text.rstrip().split("\n")]
    sets = list(SET_PARSERS[suffix](cells_of_line, file_name))
    _check_names(sets, file_name)
    _check_genes(sets, file_name)
    return sets


def _parse_gmt(lines: list[list[str]], file_name: str) -> Iterator[NamedSet]:
    """Yield the sets of a GMT file, one on each line."""
    for number, cells in enumerate(lines, 1):
        if any(cell.strip() for cell in cells):
            if len(cells) < 2:
                message = f"has no tab but '{cells[0].strip()[:30]}'; a set needs its name, a "
                raise input_error(
                    file_name, message + "description and its genes, tabs between", number
                )
            yield _make_set(cells, f"line {number}")


def _parse_gmx(lines: list[list[str]], file_name: str) -> Iterator[NamedSet]:
    """Yield the sets of a GMX file, one in each column."""
    if len(lines) < 3:
        raise input_error(
            file_name,
            f"has {counted(len(lines), 'line')}; a GMX file needs the names of the sets, their "
            "descriptions, and genes below them",
        )
    width = len(lines[0])
    for number, cells in enumerate(lines, 1):
        if any(cell.strip() for cell in cells[width:]):
            message = (
                f"{counted(len(cells), 'field')} where the first line names "
                f"{counted(width, 'set')}; give each column the name of its set"
            )
            raise input_error(file_name, message, number)
    for column in range(width):
        cells = [line[column] if column < len(line) else "" for line in lines]
        if any(cell.strip() for cell in cells):
            yield _make_set(cells, f"column {column + 1}")


def _make_set(cells: list[str], place: str) -> NamedSet:
    """Return the set of two or more cells (name, description, genes), each gene once, unquoted."""
    name, description, *genes = (cell.strip().strip('"').strip() for cell in cells)
    unique_genes = tuple(dict.fromkeys(gene for gene in genes if not is_missing(gene)))
    return NamedSet(name, description, unique_genes, place)


def _check_names(sets: list[NamedSet], file_name: str) -> None:
    """Raise InvalidInput for a set without a name, or two sets of one name."""
    places: dict[str, list[str]] = {}
    for gene_set in sets:
        if not gene_set.name:
            raise input_error(
                f"{file_name}, {gene_set.place}", "the set has no name; give each set one"
            )
        places.setdefault(gene_set.name, []).append(gene_set.place)
    repeated = [name for name, set_places in places.items() if len(set_places) > 1]
    if repeated:
        message = (
            f"set '{repeated[0]}' occurs {len(places[repeated[0]])} times "
            f"({', '.join(places[repeated[0]][:3])}){further_text(len(repeated) - 1, 'name')}; "
            "keep one of them"
        )
        raise input_error(file_name, message)


def _check_genes(sets: list[NamedSet], file_name: str) -> None:
    """Raise InvalidInput if no set has a gene, or most have decimal numbers instead of genes."""
    filled_sets = [gene_set for gene_set in sets if gene_set.genes]
    if not filled_sets:
        names = listing(gene_set.name for gene_set in sets)
        raise input_error(
            file_name,
            f"no set has a gene ({names}); a line needs the name of the set, a description, and "
            "then its genes, with tabs between",
        )
    numeric_sets = [
        gene_set for gene_set in filled_sets if all(map(DECIMAL_NUMBER.fullmatch, gene_set.genes))
    ]
    if 2 * len(numeric_sets) > len(filled_sets):
        gene_set = numeric_sets[0]
        raise input_error(
            f"{file_name}, {gene_set.place}",
            f"the genes of set '{gene_set.name}' are numbers ({', '.join(gene_set.genes[:3])}); "
            "is it an expression matrix? Name a file of gene sets",
        )


# Ending of a file -> function that takes the cells of each line and the file's name, for messages.
SET_PARSERS: dict[str, Callable[[list[list[str]], str], Iterator[NamedSet]]] = {
    ".gmt": _parse_gmt,
    ".gmx": _parse_gmx,
}
