"""Present names of human genes: HGNC's table, which a user fetches once.

https://www.genenames.org/download/ has it, hgnc_complete_set.txt, in the public domain (CC0).

Source: Seal et al., Genenames.org: the HGNC resources in 2023, Nucleic Acids Res. 51 (2023).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from genesig.data.files.readers import read_genes
from genesig.errors import refuse

if TYPE_CHECKING:
    import pandas as pd

SYMBOL, FORMER = "symbol", ("prev_symbol", "alias_symbol")
IDS = ("ensembl_gene_id", "entrez_id", "refseq_accession")
BETWEEN = "|"
ADVICE = "name hgnc_complete_set.txt of https://www.genenames.org/download"


def read_hgnc(path: str) -> pd.DataFrame:
    """Read HGNC's table, a row for each gene.

    Raises
    ------
    InvalidInput
        It cannot be read, or lacks the columns of symbols.
    """
    table = read_genes(path, None)
    lacking = [name for name in (SYMBOL, *FORMER) if name not in table.columns]
    if lacking:
        raise refuse(path, f"has no column '{lacking[0]}', so is not HGNC's table; {ADVICE}")
    return table


def rows_by_name(table: pd.DataFrame) -> dict[str, int]:
    """Return the row of each id, symbol, former symbol and alias.

    A present symbol is the gene's own, whoever had it before; a former one goes before an alias.
    What two genes share is none's.
    """
    found: dict[str, int] = {}
    for columns in ([SYMBOL, *(name for name in IDS if name in table)], *([f] for f in FORMER)):
        own: dict[str, int | None] = {}
        for name, row in _named(table, columns):
            own[name] = row if own.get(name, row) == row else None
        found |= {name: row for name, row in own.items() if row is not None and name not in found}
    return found


def _named(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, int]]:
    for column in columns:
        for row, cell in enumerate(map(str, table[column])):
            yield from ((name.strip(), row) for name in cell.split(BETWEEN) if name.strip())


def other_names(
    here: Iterable[str], needed: Iterable[str], rows: Mapping[str, int]
) -> dict[str, str]:
    """Return name here -> needed name, of needed genes that are here under another name alone."""
    here, needed = list(here), list(dict.fromkeys(needed))
    known, wanted = set(here), set(needed)
    of: dict[int, list[str]] = {}
    for name in dict.fromkeys(here):
        if name not in wanted and plain_name(name) in rows:
            of.setdefault(rows[plain_name(name)], []).append(name)
    lost = [name for name in needed if name not in known and plain_name(name) in rows]
    pairs = [(of.get(rows[plain_name(name)], []), name) for name in lost]
    return {names[0]: name for names, name in pairs if len(names) == 1}


def plain_name(name: str) -> str:
    """Take the version of an Ensembl or RefSeq id away."""
    return name.split(".")[0] if name.startswith(("ENS", "NM_", "NR_")) else name
