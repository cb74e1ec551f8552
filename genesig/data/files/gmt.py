"""Files of gene sets: GMT, one set a line, and GMX, one set a column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from genesig.errors import refuse
from genesig.words import counted, is_missing, listing, too

MEASURED = re.compile(r"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)
"""A number with a point is no id of a gene; a whole one may be (Entrez)."""


@dataclass(frozen=True)
class NamedSet:
    """A set as its file has it.

    Attributes
    ----------
    name, about : str
        Its name, and the file's second field: a description or an address.
    genes : tuple of str
        Each once, in the file's order; none for a set that is empty there.
    where : str
        Its line or column.
    """

    name: str
    about: str
    genes: tuple[str, ...]
    where: str


def parse_sets(text: str, suffix: str, where: str) -> list[NamedSet]:
    """Parse the gene sets of a GMT or GMX text.

    Raises
    ------
    InvalidInput
        It is of another kind, names a set twice, or has no set with a gene.
    """
    lines = [line.split("\t") for line in text.rstrip().split("\n")]
    sets = list(LAYOUTS[suffix](lines, where))
    _check_names(sets, where)
    _check_genes(sets, where)
    return sets


def _by_line(lines: list[list[str]], path: str) -> Iterator[NamedSet]:
    for number, cells in enumerate(lines, 1):
        if any(cell.strip() for cell in cells):
            if len(cells) < 2:
                what = f"has no tab but '{cells[0].strip()[:30]}'; a set needs its name, a "
                raise refuse(path, what + "description and its genes, tabs between", number)
            yield _set(cells, f"line {number}")


def _by_column(lines: list[list[str]], path: str) -> Iterator[NamedSet]:
    if len(lines) < 3:
        raise refuse(
            path,
            f"has {counted(len(lines), 'line')}; a GMX file needs the names of the "
            "sets, their descriptions, and genes below them",
        )
    width = len(lines[0])
    for number, cells in enumerate(lines, 1):
        if any(cell.strip() for cell in cells[width:]):
            what = f"{counted(len(cells), 'field')} where the first line names "
            what += f"{counted(width, 'set')}; give each column the name of its set"
            raise refuse(path, what, number)
    for column in range(width):
        cells = [line[column] if column < len(line) else "" for line in lines]
        if any(cell.strip() for cell in cells):
            yield _set(cells, f"column {column + 1}")


def _set(cells: list[str], where: str) -> NamedSet:
    name, about, *genes = (cell.strip().strip('"').strip() for cell in cells)
    kept = tuple(dict.fromkeys(gene for gene in genes if not is_missing(gene)))
    return NamedSet(name, about, kept, where)


def _check_names(sets: list[NamedSet], path: str) -> None:
    places: dict[str, list[str]] = {}
    for one in sets:
        if not one.name:
            raise refuse(f"{path}, {one.where}", "the set has no name; give each set one")
        places.setdefault(one.name, []).append(one.where)
    twice = [name for name, where in places.items() if len(where) > 1]
    if twice:
        what = f"set '{twice[0]}' occurs {len(places[twice[0]])} times ("
        what += f"{', '.join(places[twice[0]][:3])}){too(len(twice) - 1, 'name')}; keep one of them"
        raise refuse(path, what)


def _check_genes(sets: list[NamedSet], path: str) -> None:
    full = [one for one in sets if one.genes]
    if not full:
        names = listing(one.name for one in sets)
        raise refuse(
            path,
            f"no set has a gene ({names}); a line needs the name of the set, a "
            "description, and then its genes, with tabs between",
        )
    measured = [one for one in full if all(map(MEASURED.fullmatch, one.genes))]
    if 2 * len(measured) > len(full):
        one = measured[0]
        what = f"the genes of set '{one.name}' are numbers ({', '.join(one.genes[:3])}); is it an "
        raise refuse(f"{path}, {one.where}", what + "expression matrix? Name a file of gene sets")


LAYOUTS: dict[str, Callable[[list[list[str]], str], Iterator[NamedSet]]] = {
    ".gmt": _by_line,
    ".gmx": _by_column,
}
