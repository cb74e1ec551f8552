"""Tables of an array's probes, from which the symbols of a study's genes are taken, line by line.

GEO's platforms (GPL: .annot, SOFT, the table of the browser), NetAffx of Affymetrix (CSV),
Illumina's manifests (BGX, CSV) and any table with a column of probes and one of symbols, as
Bioconductor exports them. Titles, comments and sections above the header are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from genesig.data.files.cells import split_row
from genesig.data.files.formats.text import as_text
from genesig.data.files.lines import lines_of
from genesig.data.files.readers import content_of
from genesig.errors import refuse, refuse_codes
from genesig.words import is_missing

PROBES = ("id", "probeid", "probesetid", "probesetname", "transcriptclusterid", "idref", "ilmnid",
          "probename", "spotid", "arrayaddressid", "name", "ensemblgeneid", "geneid",
          "gene")  # fmt: skip
"""Columns of ids, as their letters and digits alone; the one that knows most of the genes is it."""
SYMBOLS = ("genesymbol", "symbol", "hgncsymbol", "externalgenename", "ilmngene", "ucscrefgenename",
           "genename", "geneassignment")  # fmt: skip
"""Columns of symbols, in the order in which they are looked for."""
ENTREZ = ("entrezgeneid", "entrezgene", "entrezid", "entrez")
ASSIGNED, PART = "geneassignment", " // "
"""A cell of Affymetrix' whole transcripts: accession // symbol // name // …, /// between genes."""
BETWEEN = re.compile(r"\s*///\s*|;")
"""Between the symbols of a probe of several genes."""
JOINED = " /// "
NONE = "---"  # NetAffx where there is nothing


@dataclass(frozen=True)
class Header:
    """The line that names the columns: its fields, each as letters and digits alone."""

    names: tuple[str, ...]
    delimiter: str

    def places(self, of: Sequence[str]) -> list[int]:
        """Return the columns of these names that there are, in the order of `of`."""
        return [self.names.index(name) for name in of if name in self.names]

    def is_one(self) -> bool:
        """Tell whether it has probes, and symbols in another column."""
        return bool(set(self.places(PROBES)) - set(self.places(SYMBOLS)[:1])
                    and self.places(SYMBOLS))  # fmt: skip


def is_hgnc(path: str) -> bool:
    """Tell whether a file begins as HGNC's table does."""
    first = next(lines_of(as_text(content_of(path), path, old=True)))
    return {"symbol", "prev_symbol", "alias_symbol"} <= set(first.split("\t"))


def probe_symbols(path: str, wanted: Collection[str]) -> dict[str, dict[str, str]]:
    """Return what the table of a platform says of these names: symbol and Entrez id.

    Several symbols of a probe, in one cell or in several rows, stand with ``///`` between them.

    Parameters
    ----------
    path : str
        May be gzipped. Of its rows only those of `wanted` are kept.
    wanted : collection of str

    Raises
    ------
    InvalidInput
        It cannot be read, no line names a column of probes and one of symbols, or no name is there.
    """
    header, rows = _opened(path)
    symbols, entrez = header.places(SYMBOLS)[0], header.places(ENTREZ)
    keys = [k for k in header.places(PROBES) if k != symbols]
    found: dict[int, dict[str, dict[str, dict[str, None]]]] = {key: {} for key in keys}
    names = set(wanted)
    for cells in rows:
        for key in keys:
            if len(cells) > max(key, symbols) and (name := cells[key].strip()) in names:
                said = found[key].setdefault(name, {"symbol": {}, "entrez": {}})
                said["symbol"] |= dict.fromkeys(_symbols(cells[symbols], header.names[symbols]))
                of = [cells[k] for k in entrez if k < len(cells)]
                said["entrez"] |= dict.fromkeys(_symbols(JOINED.join(of), ""))
    best = max(found.values(), key=len)
    if not best:
        raise refuse(path, f"has none of the genes ({', '.join(list(wanted)[:3])}) in its columns "
                     "of probes; is it another platform?")  # fmt: skip
    refuse_codes((each for said in best.values() for each in said["symbol"]), path)
    return {name: {of: JOINED.join(each) for of, each in said.items()}
            for name, said in best.items()}  # fmt: skip


def _opened(path: str) -> tuple[Header, Iterator[list[str]]]:
    lines = lines_of(as_text(content_of(path), path, old=True))
    for line in lines:
        delimiter = "\t" if "\t" in line else ","
        if line.startswith(("#", "!", "^", "[")) or delimiter not in line:
            continue
        cells = split_row(line, delimiter, path)
        header = Header(tuple(re.sub(r"\W|_", "", cell).lower() for cell in cells), delimiter)
        if header.is_one():
            return header, _rows(lines, delimiter, path)
    raise refuse(path, "no line names a column of probes (ID, Probe Set ID, Probe_Id, IlmnID) and "
                 "one of symbols (Gene Symbol, SYMBOL, gene_assignment); name the table of the "
                 "array's platform, or hgnc_complete_set.txt")  # fmt: skip


def _rows(lines: Iterator[str], delimiter: str, path: str) -> Iterator[list[str]]:
    """Yield the rows of a table up to its end: that of the file, or the next section."""
    for line in lines:
        if line.startswith(("[", "!", "^")):
            return
        yield split_row(line, delimiter, path)


def _symbols(cell: str, column: str) -> list[str]:
    """Return the symbols of a cell, each once."""
    parts = [part.strip() for part in BETWEEN.split(cell)]
    if column == ASSIGNED:
        parts = [[*part.split(PART), ""][1].strip() for part in parts]
    return [part for part in dict.fromkeys(parts) if part != NONE and not is_missing(part)]
