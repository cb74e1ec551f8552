"""Which way round a matrix lies, told by the names of its samples."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import islice

from genesig.data.files.delimited import Matrix
from genesig.errors import Problem, did_you_mean
from genesig.words import listing

TRIED = 20
"""Names that hold another one are many where that is one letter."""


def orient(matrix: Matrix, where: str, names: Sequence[str], sheet: str,
           problems: list[Problem]) -> Matrix | None:  # fmt: skip
    """Return the matrix with samples in rows, found by the names of the sample table."""
    known = set(names)
    in_rows, in_columns = len(known & set(matrix.rows)), len(known & set(matrix.columns))
    if in_columns and in_columns > in_rows and (in_rows == 0 or in_columns == len(known)):
        return matrix.turn()
    if in_rows and in_rows > in_columns and (in_columns == 0 or in_rows == len(known)):
        return matrix
    if in_rows or in_columns:
        what = (f"cannot tell samples from genes: of {len(known)} sample names in {sheet}, "
                f"{in_columns} are column names and {in_rows} are row names; make the names of "
                "samples and genes different")  # fmt: skip
    else:
        what = (f"no sample of {sheet} is here: that table has {listing(names)}, the matrix has "
                f"columns {listing(matrix.columns)} and rows {listing(matrix.rows)}"
                + (nearest(names, [*matrix.columns, *matrix.rows])
                   or "; name the samples alike in both"))  # fmt: skip
    problems.append(Problem(where, what))
    return None


def nearest(names: Sequence[str], found: Collection[str]) -> str:
    """Recognise names that a program has changed: leading zeros, R's make.names, case, an end."""
    name = names[0]
    usual: dict[str, Callable[[str], str]] = {
        "R has changed it; read and write with check.names=FALSE": _r_name,
        "leading zeros differ": _without_zeros,
        "upper and lower case differ": str.casefold,
        "blanks or punctuation differ": _letters,
    }
    for why, plain in usual.items():
        for other in found:
            if plain(name) == plain(other):
                return f"; is '{other}' the sample '{name}'? ({why})"
    longer = _longer(names, found, "here") or _longer(found, names, "in that table")
    return longer or did_you_mean(name, found)


def _longer(names: Collection[str], found: Collection[str], place: str) -> str:
    """Tell that most of the names that are found are others with the same letters added."""
    here, short = set(found), next(iter(names))
    for long in islice((name for name in found if short in name and name != short), TRIED):
        before, _, after = long.partition(short)
        if 2 * sum(f"{before}{name}{after}" in here for name in names) > len(names) > 1:
            added = " and ".join(f"'{part}'" for part in (before, after) if part)
            one, other = (long, short) if place == "here" else (short, long)
            return f"; is '{one}' the sample '{other}'? ({added} is added to all {place}; write " \
                   "them alike)"  # fmt: skip
    return ""


def _r_name(text: str) -> str:
    text = re.sub(r"[^A-Za-z0-9._]", ".", text)
    return text if re.match(r"[A-Za-z.]", text) else f"X{text}"


def _without_zeros(text: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)
