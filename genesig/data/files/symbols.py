"""Symbols of genes: from ids, by HGNC, by the tables of an array.

HGNC's table is hgnc_complete_set.txt of https://www.genenames.org/download/, in the public domain.

Source: Seal et al., Genenames.org: the HGNC resources in 2023, Nucleic Acids Res. 51 (2023).

Tables of arrays are GEO's platforms (GPL: .annot, SOFT, the table of the browser), NetAffx of
Affymetrix (CSV), Illumina's manifests (BGX, CSV), any table with a column of probes and one of
symbols, as Bioconductor exports them. Titles, comments and sections above the header are passed
over.

Source: Xin et al., High-performance web services for querying gene and variant annotation, Genome
Biol. 17:91 (2016).
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genesig.data.files.cells import split_row
from genesig.data.files.delimited import lines_of
from genesig.data.files.formats.text import as_text
from genesig.data.files.readers import content_of, read_genes
from genesig.errors import refuse, refuse_codes
from genesig.results.files import check_output, save_table
from genesig.words import ENSEMBL, ENTREZ, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd


SYMBOL = "symbol"
FORMER = ("prev_symbol", "alias_symbol")
HGNC_IDS = ("ensembl_gene_id", "entrez_id", "refseq_accession")
BETWEEN_SYMBOLS = "|"
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
    for columns in (
        [SYMBOL, *(name for name in HGNC_IDS if name in table)],
        *([f] for f in FORMER),
    ):
        own: dict[str, int | None] = {}
        for name, row in _named(table, columns):
            own[name] = row if own.get(name, row) == row else None
        found |= {name: row for name, row in own.items() if row is not None and name not in found}
    return found


def _named(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, int]]:
    for column in columns:
        for row, cell in enumerate(map(str, table[column])):
            yield from ((name.strip(), row) for name in cell.split(BETWEEN_SYMBOLS) if name.strip())


def other_names(
    here: Iterable[str], needed: Iterable[str], rows: Mapping[str, int]
) -> dict[str, str]:
    """Return name here -> needed name, of needed genes that are here under another name alone."""
    here = list(here)
    needed = list(dict.fromkeys(needed))
    known = set(here)
    wanted = set(needed)
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


PROBES = (
    "id",
    "probeid",
    "probesetid",
    "probesetname",
    "transcriptclusterid",
    "idref",
    "ilmnid",
    "probename",
    "spotid",
    "arrayaddressid",
    "name",
    "ensemblgeneid",
    "geneid",
    "gene",
)
"""Columns of ids, as their letters and digits alone; the one that knows most of the genes is it."""
SYMBOLS = (
    "genesymbol",
    "symbol",
    "hgncsymbol",
    "externalgenename",
    "ilmngene",
    "ucscrefgenename",
    "genename",
    "geneassignment",
)
"""Columns of symbols, in the order in which they are looked for."""
ENTREZ_COLUMNS = ("entrezgeneid", "entrezgene", "entrezid", "entrez")
ASSIGNED = "geneassignment"
PART = " // "
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
        return bool(
            set(self.places(PROBES)) - set(self.places(SYMBOLS)[:1]) and self.places(SYMBOLS)
        )


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
    symbols = header.places(SYMBOLS)[0]
    entrez = header.places(ENTREZ_COLUMNS)
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
        raise refuse(
            path,
            f"has none of the genes ({', '.join(list(wanted)[:3])}) in its columns "
            "of probes; is it another platform?",
        )
    refuse_codes((each for said in best.values() for each in said["symbol"]), path)
    return {
        name: {of: JOINED.join(each) for of, each in said.items()} for name, said in best.items()
    }


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
    raise refuse(
        path,
        "no line names a column of probes (ID, Probe Set ID, Probe_Id, IlmnID) and "
        "one of symbols (Gene Symbol, SYMBOL, gene_assignment); name the table of the "
        "array's platform, or hgnc_complete_set.txt",
    )


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


VARIABLE = "GENESIG_MYGENE_BASE"  # address of a mirror
BASE = "https://mygene.info/v3"
TIMEOUT = 60.0  # seconds without an answer
IDS = {
    "ensembl.gene": ENSEMBL,
    "refseq": re.compile(r"[NX][MR]_\d+(\.\d+)?", re.ASCII),
    "reporter": re.compile(r"\w+_at", re.ASCII),
    "entrezgene": ENTREZ,
}
"""Field of MyGene.info -> what its ids look like; the version behind them is not asked for."""
FIELDS = {"symbol": "symbol", "entrez": "entrezgene", "name": "name"}
ENDINGS = (".tsv", ".txt", ".tab")


def write_symbols(
    axes: Iterable[Sequence[str]], where: str, output: str, species: str, offline: str | None = None
) -> str:
    """Write the gene table of a matrix; return what it holds, in words.

    Parameters
    ----------
    axes : names of the matrix's rows and of its columns
        The genes are those of which more are ids; of numbers, the longer ones.
    where : str
        The matrix, for messages.
    output : str
        A table that this function wrote before is added to: what has a symbol is not asked again.
    species : str
        As MyGene.info names it: human, mouse, rat, or a number of NCBI's taxonomy.
    offline : str or None
        In place of MyGene.info HGNC's table, which knows former symbols and aliases, too, or that
        of an array's platform, see `probe_symbols`.

    Raises
    ------
    InvalidInput
        No ids that are known, no answer, or another file in the place of the output.
    """
    if not output.lower().endswith(ENDINGS):
        raise refuse(output, f"is to be a table with tabs between columns; name it {ENDINGS[0]}")
    check_output(output, [where])
    if offline is not None:
        return (_from_hgnc if is_hgnc(offline) else _from_platform)(axes, offline, output)
    genes = max((list(dict.fromkeys(names)) for names in axes), key=_how_far_ids)
    kinds = _kinds(genes)
    if 2 * len(kinds) < len(genes):
        raise refuse(
            where,
            f"names genes ({listing(genes[:3])}) that are no ids of Ensembl, "
            "RefSeq, Entrez or Affymetrix; nothing was looked up",
        )
    had = _had(output)
    new = {gene: kind for gene, kind in kinds.items() if not had.get(gene, {}).get("symbol")}
    table = had | _asked(new, species)
    save_table(output, _table(table))
    found = sum(bool(table[gene]["symbol"]) for gene in kinds)
    return f"{found} of {len(genes)} genes have a symbol; {len(new)} were looked up"


def _from_platform(axes: Iterable[Sequence[str]], offline: str, output: str) -> str:
    both = [list(dict.fromkeys(names)) for names in axes]
    found = probe_symbols(offline, [name for names in both for name in names])
    genes = max(both, key=lambda names: sum(name in found for name in names))
    said = {gene: {of: found.get(gene, {}).get(of, "") for of in FIELDS} for gene in genes}
    save_table(output, _table(said))
    symbols = [each["symbol"] for each in said.values()]
    several = sum(JOINED in symbol for symbol in symbols)
    here = sum(gene in found for gene in genes)
    return (
        f"{sum(map(bool, symbols))} of {len(genes)} genes have a symbol, {several} of them "
        f"several; the table knows {here}"
    )


def _from_hgnc(axes: Iterable[Sequence[str]], offline: str, output: str) -> str:
    table = read_hgnc(offline)
    rows = rows_by_name(table)
    genes = max(
        (list(dict.fromkeys(names)) for names in axes),
        key=lambda names: sum(plain_name(name) in rows for name in names),
    )
    at = {gene: rows.get(gene, rows.get(plain_name(gene))) for gene in genes}
    known = [gene for gene in genes if at[gene] is not None]
    if not known:
        raise refuse(
            offline, f"knows none of the genes ({listing(genes[:3])}); it is of human ones"
        )
    columns = {"symbol": "symbol", "entrez": "entrez_id", "name": "name"}
    said = {
        gene: {
            of: str(table[column].iloc[row]) if row is not None and column in table else ""
            for of, column in columns.items()
        }
        for gene, row in at.items()
    }
    save_table(output, _table(said))
    other = sum(said[gene]["symbol"] != gene for gene in known)
    return f"{len(known)} of {len(genes)} genes have a symbol, {other} of them another than here"


def _how_far_ids(names: Sequence[str]) -> tuple[int, int]:
    """Return how many are surely ids, and how many they are: samples, too, may have numbers."""
    return sum(field != "entrezgene" for field, _ in _kinds(names).values()), len(names)


def _kinds(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the field and the id without version of each name that is one."""
    found: dict[str, tuple[str, str]] = {}
    for name in names:
        for field, pattern in IDS.items():
            if name not in found and pattern.fullmatch(name):
                found[name] = (field, name.split(".")[0])
    return found


def _had(output: str) -> dict[str, dict[str, str]]:
    if not Path(output).exists():
        return {}
    table = read_genes(output, None)
    if (table.index.name, *table.columns) != ("gene", *FIELDS):
        raise refuse(output, "is there already and is another table; name another file")
    return {
        str(gene): dict(zip(FIELDS, row, strict=True))
        for gene, row in zip(table.index, table.to_numpy(), strict=True)
    }


def _asked(kinds: dict[str, tuple[str, str]], species: str) -> dict[str, dict[str, str]]:
    """Return what MyGene.info says of each gene, blank where it knows none."""
    said: dict[str, Any] = {}
    if kinds:
        scopes = sorted({field for field, _ in kinds.values()})
        said = _answers(sorted({plain for _, plain in kinds.values()}), scopes, species)
    return {
        gene: {column: _text(said.get(plain, {}).get(field)) for column, field in FIELDS.items()}
        for gene, (_, plain) in kinds.items()
    }


def _answers(ids: list[str], scopes: list[str], species: str) -> dict[str, Any]:
    """Return the best hit of each id."""
    try:
        import biothings_client
        import httpx
    except ImportError:
        raise refuse(
            "genesig symbols", "needs the package biothings-client: pip install 'genesig[symbols]'"
        ) from None
    base = os.environ.get(VARIABLE, BASE)
    for name in ("biothings.client", "httpx"):  # they tell each request
        logging.getLogger(name).setLevel(logging.WARNING)
    client: Any = biothings_client.get_client("gene", url=base)
    # else: none
    client.http_client = httpx.Client(timeout=TIMEOUT)
    client.http_client_setup = True
    try:
        hits = client.querymany(
            ids, scopes=scopes, fields=list(FIELDS.values()), species=species, verbose=False
        )
        best: dict[str, Any] = {}
        for hit in hits:
            best.setdefault(str(hit["query"]), hit)
    except (httpx.HTTPError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise refuse(
            base,
            f"gave no answer that can be used ({said}); try again later, or make "
            "the gene table another way",
        ) from None
    return best


def _text(value: Any) -> str:
    """Return a word or a number of an answer; what else it may hold is left out."""
    known = isinstance(value, str | int) and not isinstance(value, bool)
    return " ".join(str(value).split()) if known else ""


def _table(genes: dict[str, dict[str, str]]) -> pd.DataFrame:
    import pandas as pd

    rows = [{"gene": gene, **said} for gene, said in genes.items()]
    return pd.DataFrame(rows, columns=["gene", *FIELDS])
