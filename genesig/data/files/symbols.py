"""Look up gene symbols: by MyGene.info, in HGNC's table, or in the table of an array's platform.

HGNC's table is hgnc_complete_set.txt of https://www.genenames.org/download/, in the public domain.
Tables of platforms are GEO's (GPL: .annot, SOFT, the table of the browser), Affymetrix' NetAffx
(CSV), Illumina's manifests (BGX, CSV), and any table with a column of probes and one of symbols.
Titles, comments and sections above the header are skipped.

Sources: Seal et al., Genenames.org: the HGNC resources in 2023, Nucleic Acids Res. 51 (2023); Xin
et al., High-performance web services for querying gene and variant annotation, Genome Biol. 17:91
(2016).
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
from genesig.data.files.readers import read_genes, read_unpacked
from genesig.errors import input_error, refuse_codes
from genesig.results.files import check_output, save_table
from genesig.words import ENSEMBL, ENTREZ, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd


SYMBOL_COLUMN = "symbol"
FORMER_SYMBOL_COLUMNS = ("prev_symbol", "alias_symbol")
HGNC_ID_COLUMNS = ("ensembl_gene_id", "entrez_id", "refseq_accession")
HGNC_SEPARATOR = "|"
HGNC_ADVICE = "name hgnc_complete_set.txt of https://www.genenames.org/download"


def read_hgnc(path: str) -> pd.DataFrame:
    """Return HGNC's table, one row for each gene.

    Raises InvalidInput: it cannot be read, or lacks the columns of symbols.
    """
    table = read_genes(path, part=None)
    absent_columns = [
        name for name in (SYMBOL_COLUMN, *FORMER_SYMBOL_COLUMNS) if name not in table.columns
    ]
    if absent_columns:
        raise input_error(
            path, f"has no column '{absent_columns[0]}', so is not HGNC's table; {HGNC_ADVICE}"
        )
    return table


def rows_by_name(table: pd.DataFrame) -> dict[str, int]:
    """Return name -> row of HGNC's table, for ids, symbols, former symbols and aliases.

    A present symbol goes before a former one, and this before an alias. A name that two genes share
    on the first of these levels that has it has no row.
    """
    row_of_name: dict[str, int | None] = {}
    for columns in (
        [SYMBOL_COLUMN, *(name for name in HGNC_ID_COLUMNS if name in table)],
        *([former_column] for former_column in FORMER_SYMBOL_COLUMNS),
    ):
        row_of_new_name: dict[str, int | None] = {}
        for name, row in _names_in_columns(table, columns):
            row_of_new_name[name] = row if row_of_new_name.get(name, row) == row else None
        row_of_name = row_of_new_name | row_of_name
    return {name: row for name, row in row_of_name.items() if row is not None}


def _names_in_columns(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield each name in the cells of the columns, with its row."""
    for column in columns:
        for row, cell in enumerate(map(str, table[column])):
            yield from ((name.strip(), row) for name in cell.split(HGNC_SEPARATOR) if name.strip())


def needed_names(
    present_names: Iterable[str], needed: Iterable[str], rows: Mapping[str, int]
) -> dict[str, str]:
    """Return present name -> needed name of genes that are present under another name.

    rows: name -> row of HGNC's table, as `rows_by_name` returns it. Two names of one row are of one
    gene; a gene of two present names is left out.
    """
    present_names = list(present_names)
    needed = list(dict.fromkeys(needed))
    present_set = set(present_names)
    needed_set = set(needed)
    names_of_row: dict[int, list[str]] = {}
    for name in dict.fromkeys(present_names):
        if name not in needed_set and plain_name(name) in rows:
            names_of_row.setdefault(rows[plain_name(name)], []).append(name)
    absent = [name for name in needed if name not in present_set and plain_name(name) in rows]
    pairs = [(names_of_row.get(rows[plain_name(name)], []), name) for name in absent]
    return {names[0]: name for names, name in pairs if len(names) == 1}


def plain_name(name: str) -> str:
    """Return an Ensembl or RefSeq id without its version; any other name as it is."""
    return name.split(".")[0] if name.startswith(("ENS", "NM_", "NR_")) else name


PROBE_HEADERS = (
    *("id", "probeid", "probesetid", "probesetname", "transcriptclusterid", "idref", "ilmnid"),
    *("probename", "spotid", "arrayaddressid", "name", "ensemblgeneid", "geneid", "gene"),
)
"""Headers of columns of ids, letters and digits alone; the column with most genes is used."""
SYMBOL_HEADERS = (
    *("genesymbol", "symbol", "hgncsymbol", "externalgenename", "ilmngene"),
    *("ucscrefgenename", "genename", "geneassignment"),
)
"""Headers of columns of symbols, the preferred ones first."""
ENTREZ_HEADERS = ("entrezgeneid", "entrezgene", "entrezid", "entrez")
ASSIGNMENT_HEADER = "geneassignment"
ASSIGNMENT_SEPARATOR = " // "
"""In a cell of Affymetrix' transcript clusters: accession // symbol // name, /// between genes."""
SYMBOL_SEPARATOR = re.compile(r"\s*///\s*|;")  # separator of the symbols of one probe
JOINED_SYMBOLS = " /// "
NETAFFX_MISSING = "---"  # blank cell of NetAffx


@dataclass(frozen=True)
class Header:
    """The header line of a platform's table."""

    names: tuple[str, ...]  # lower case, letters and digits alone
    delimiter: str

    def positions_of(self, headers: Sequence[str]) -> list[int]:
        """Return the positions of those names that the header has, in the order of `headers`."""
        return [self.names.index(name) for name in headers if name in self.names]

    def has_probes_and_symbols(self) -> bool:
        """Tell whether the header has a column of probes and another one of symbols."""
        return bool(
            set(self.positions_of(PROBE_HEADERS)) - set(self.positions_of(SYMBOL_HEADERS)[:1])
            and self.positions_of(SYMBOL_HEADERS)
        )


def is_hgnc(path: str) -> bool:
    """Tell whether a file begins as HGNC's table does."""
    header = next(lines_of(as_text(read_unpacked(path), path, legacy_encoding=True)))
    return {"symbol", "prev_symbol", "alias_symbol"} <= set(header.split("\t"))


def probe_symbols(path: str, probe_names: Collection[str]) -> dict[str, dict[str, str]]:
    """Return name -> symbol and Entrez id of the probes that the table of a platform lists.

    Several symbols of a probe, in one cell or in several rows, stand with ``///`` between them.

    path: may be gzipped. Of its rows only those of `probe_names` are kept.

    Raises InvalidInput: it cannot be read, no line names a column of probes and one of symbols, or
        no name is there.
    """
    header, rows = _open_platform_table(path)
    symbol_column = header.positions_of(SYMBOL_HEADERS)[0]
    entrez_columns = header.positions_of(ENTREZ_HEADERS)
    probe_columns = [k for k in header.positions_of(PROBE_HEADERS) if k != symbol_column]
    # Column of probes -> probe -> "symbol" and "entrez" -> distinct values, in order. Which column
    # the matrix uses is known only at the end.
    entries_by_column: dict[int, dict[str, dict[str, dict[str, None]]]] = {
        probe_column: {} for probe_column in probe_columns
    }
    names = set(probe_names)
    for cells in rows:
        for probe_column in probe_columns:
            if (
                len(cells) > max(probe_column, symbol_column)
                and (name := cells[probe_column].strip()) in names
            ):
                entry = entries_by_column[probe_column].setdefault(
                    name, {"symbol": {}, "entrez": {}}
                )
                entry["symbol"] |= dict.fromkeys(
                    _symbols_of_cell(cells[symbol_column], header.names[symbol_column])
                )
                entrez_cells = [cells[k] for k in entrez_columns if k < len(cells)]
                entry["entrez"] |= dict.fromkeys(
                    _symbols_of_cell(JOINED_SYMBOLS.join(entrez_cells), column="entrez")
                )
    entries = max(entries_by_column.values(), key=len)
    if not entries:
        raise input_error(
            path,
            f"has none of the genes ({', '.join(list(probe_names)[:3])}) in its columns of "
            "probes; is it another platform?",
        )
    refuse_codes((symbol for entry in entries.values() for symbol in entry["symbol"]), path)
    return {
        name: {field: JOINED_SYMBOLS.join(values) for field, values in entry.items()}
        for name, entry in entries.items()
    }


def _open_platform_table(path: str) -> tuple[Header, Iterator[list[str]]]:
    """Return the header of a platform's table, and its rows; raise InvalidInput if it has none."""
    lines = lines_of(as_text(read_unpacked(path), path, legacy_encoding=True))
    for line in lines:
        delimiter = "\t" if "\t" in line else ","
        if line.startswith(("#", "!", "^", "[")) or delimiter not in line:
            continue
        cells = split_row(line, delimiter, path)
        header = Header(tuple(re.sub(r"\W|_", "", cell).lower() for cell in cells), delimiter)
        if header.has_probes_and_symbols():
            return header, _read_section_rows(lines, delimiter, path)
    raise input_error(
        path,
        "no line names a column of probes (ID, Probe Set ID, Probe_Id, IlmnID) and one of symbols "
        "(Gene Symbol, SYMBOL, gene_assignment); name the table of the array's platform, or "
        "hgnc_complete_set.txt",
    )


def _read_section_rows(lines: Iterator[str], delimiter: str, path: str) -> Iterator[list[str]]:
    """Yield the rows of a table up to its end: the end of the file, or the next section."""
    for line in lines:
        if line.startswith(("[", "!", "^")):
            return
        yield split_row(line, delimiter, path)


def _symbols_of_cell(cell: str, column: str) -> list[str]:
    """Return the distinct symbols (or ids) of a cell; column: its header, as in `Header.names`."""
    parts = [part.strip() for part in SYMBOL_SEPARATOR.split(cell)]
    if column == ASSIGNMENT_HEADER:
        # The second field of an assignment; a part without fields has no symbol.
        parts = [[*part.split(ASSIGNMENT_SEPARATOR), ""][1].strip() for part in parts]
    return [
        part for part in dict.fromkeys(parts) if part != NETAFFX_MISSING and not is_missing(part)
    ]


MYGENE_VARIABLE = "GENESIG_MYGENE_BASE"  # environment variable with the address of a mirror
MYGENE_ADDRESS = "https://mygene.info/v3"
MYGENE_TIMEOUT_SECONDS = 60.0  # without an answer
ID_PATTERNS = {
    "ensembl.gene": ENSEMBL,
    "refseq": re.compile(r"[NX][MR]_\d+(\.\d+)?", re.ASCII),
    "reporter": re.compile(r"\w+_at", re.ASCII),
    "entrezgene": ENTREZ,
}
"""Field of MyGene.info -> pattern of its ids; they are looked up without their version."""
# Column of the gene table -> field of MyGene.info.
MYGENE_FIELDS = {"symbol": "symbol", "entrez": "entrezgene", "name": "name"}
TABLE_SUFFIXES = (".tsv", ".txt", ".tab")


def write_symbols(
    axes: Iterable[Sequence[str]],
    matrix_file: str,
    output: str,
    species: str,
    offline: str | None = None,
) -> str:
    """Write the gene table of a matrix; return a sentence that counts the symbols.

    axes: names of the rows and of the columns of the matrix. The axis with more ids has the genes;
        of two with numbers only, the longer one.
    matrix_file: the matrix, for messages.
    output: a table that was written before is extended: genes with a symbol are not looked up
        again.
    species: as MyGene.info names it: human, mouse, rat, or a number of NCBI's taxonomy.
    offline: HGNC's table, which has former symbols and aliases, too, or that of an array's platform
        (see `probe_symbols`); None asks MyGene.info.

    Raises InvalidInput: no known ids, no answer, or `output` is another file.
    """
    if not output.lower().endswith(TABLE_SUFFIXES):
        raise input_error(
            output, f"is to be a table with tabs between columns; name it {TABLE_SUFFIXES[0]}"
        )
    check_output(output, [matrix_file])
    if offline is not None:
        write_table = _write_from_hgnc if is_hgnc(offline) else _write_from_platform
        return write_table(axes, offline, output)
    genes = max((list(dict.fromkeys(names)) for names in axes), key=_id_likelihood)
    fields_of_id = _id_fields(genes)
    if 2 * len(fields_of_id) < len(genes):
        raise input_error(
            matrix_file,
            f"names genes ({listing(genes[:3])}) that are no ids of Ensembl, RefSeq, Entrez or "
            "Affymetrix; nothing was looked up",
        )
    earlier_entries = _earlier_symbols(output)
    new_ids = {
        gene: field_and_id
        for gene, field_and_id in fields_of_id.items()
        if not earlier_entries.get(gene, {}).get("symbol")
    }
    table = earlier_entries | _ask_mygene(new_ids, species)
    save_table(output, _gene_table(table))
    n_found = sum(bool(table[gene]["symbol"]) for gene in fields_of_id)
    return f"{n_found} of {len(genes)} genes have a symbol; {len(new_ids)} were looked up"


def _write_from_platform(axes: Iterable[Sequence[str]], table_file: str, output: str) -> str:
    """Write the gene table by a platform's table; return a sentence that counts the symbols."""
    axis_names = [list(dict.fromkeys(names)) for names in axes]
    symbols_of_probe = probe_symbols(table_file, [name for names in axis_names for name in names])
    genes = max(axis_names, key=lambda names: sum(name in symbols_of_probe for name in names))
    entries = {
        gene: {field: symbols_of_probe.get(gene, {}).get(field, "") for field in MYGENE_FIELDS}
        for gene in genes
    }
    save_table(output, _gene_table(entries))
    symbols = [entry["symbol"] for entry in entries.values()]
    n_several = sum(JOINED_SYMBOLS in symbol for symbol in symbols)
    n_known = sum(gene in symbols_of_probe for gene in genes)
    return (
        f"{sum(map(bool, symbols))} of {len(genes)} genes have a symbol, {n_several} of them "
        f"several; the table knows {n_known}"
    )


def _write_from_hgnc(axes: Iterable[Sequence[str]], table_file: str, output: str) -> str:
    """Write the gene table by HGNC's table; return a sentence that counts the symbols."""
    table = read_hgnc(table_file)
    rows = rows_by_name(table)
    genes = max(
        (list(dict.fromkeys(names)) for names in axes),
        key=lambda names: sum(plain_name(name) in rows for name in names),
    )
    row_of_gene = {gene: rows.get(gene, rows.get(plain_name(gene))) for gene in genes}
    known_genes = [gene for gene in genes if row_of_gene[gene] is not None]
    if not known_genes:
        raise input_error(
            table_file, f"knows none of the genes ({listing(genes[:3])}); it is of human ones"
        )
    columns = {"symbol": "symbol", "entrez": "entrez_id", "name": "name"}
    entries = {
        gene: {
            field: str(table[column].iloc[row]) if row is not None and column in table else ""
            for field, column in columns.items()
        }
        for gene, row in row_of_gene.items()
    }
    save_table(output, _gene_table(entries))
    n_other = sum(entries[gene]["symbol"] != gene for gene in known_genes)
    with_symbol = f"{len(known_genes)} of {len(genes)} genes have a symbol"
    return f"{with_symbol}, {n_other} of them another than here"


def _id_likelihood(names: Sequence[str]) -> tuple[int, int]:
    """Return a sort key: how many names are ids other than numbers, then how many there are."""
    return sum(field != "entrezgene" for field, _ in _id_fields(names).values()), len(names)


def _id_fields(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return name -> (field of MyGene.info, id without version) of each name that is an id.

    The first pattern of `ID_PATTERNS` that fits decides.
    """
    fields_of_id: dict[str, tuple[str, str]] = {}
    for name in names:
        for field, pattern in ID_PATTERNS.items():
            if name not in fields_of_id and pattern.fullmatch(name):
                fields_of_id[name] = (field, name.split(".")[0])
    return fields_of_id


def _earlier_symbols(output: str) -> dict[str, dict[str, str]]:
    """Return gene -> column -> cell of an earlier output; {} if there is none."""
    if not Path(output).exists():
        return {}
    table = read_genes(output, part=None)
    if (table.index.name, *table.columns) != ("gene", *MYGENE_FIELDS):
        raise input_error(output, "is there already and is another table; name another file")
    return {
        str(gene): dict(zip(MYGENE_FIELDS, row, strict=True))
        for gene, row in zip(table.index, table.to_numpy(), strict=True)
    }


def _ask_mygene(
    fields_of_id: dict[str, tuple[str, str]], species: str
) -> dict[str, dict[str, str]]:
    """Return gene -> symbol, entrez and name by MyGene.info; blank if it does not know the gene.

    fields_of_id: as `_id_fields` returns it. species: as in `write_symbols`.
    """
    hits: dict[str, Any] = {}
    if fields_of_id:
        scopes = sorted({field for field, _ in fields_of_id.values()})
        hits = _best_hits(
            sorted({gene_id for _, gene_id in fields_of_id.values()}), scopes, species
        )
    return {
        gene: {
            column: _answer_text(hits.get(gene_id, {}).get(field))
            for column, field in MYGENE_FIELDS.items()
        }
        for gene, (_, gene_id) in fields_of_id.items()
    }


def _best_hits(ids: list[str], scopes: list[str], species: str) -> dict[str, Any]:
    """Return id -> best hit of MyGene.info, its field -> value.

    scopes: fields of MyGene.info that are searched for the ids.
    """
    try:
        import biothings_client
        import httpx
    except ImportError:
        raise input_error(
            "genesig symbols", "needs the package biothings-client: pip install 'genesig[symbols]'"
        ) from None
    address = os.environ.get(MYGENE_VARIABLE, MYGENE_ADDRESS)
    for name in ("biothings.client", "httpx"):  # they log each request
        logging.getLogger(name).setLevel(logging.WARNING)
    client: Any = biothings_client.get_client("gene", url=address)
    # The client's own has no time limit.
    client.http_client = httpx.Client(timeout=MYGENE_TIMEOUT_SECONDS)
    client.http_client_setup = True
    try:
        hits = client.querymany(
            ids, scopes=scopes, fields=list(MYGENE_FIELDS.values()), species=species, verbose=False
        )
        best: dict[str, Any] = {}
        for hit in hits:
            best.setdefault(str(hit["query"]), hit)
    except (httpx.HTTPError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise input_error(
            address,
            f"gave no answer that can be used ({reason}); try again later, or make the gene table "
            "another way",
        ) from None
    return best


def _answer_text(value: Any) -> str:
    """Return a value of an answer as text; '' for anything but a word or a number."""
    is_text = isinstance(value, str | int) and not isinstance(value, bool)
    return " ".join(str(value).split()) if is_text else ""


def _gene_table(genes: dict[str, dict[str, str]]) -> pd.DataFrame:
    """Return the gene table with the columns gene, symbol, entrez and name.

    genes: gene -> its symbol, entrez and name.
    """
    import pandas as pd

    rows = [{"gene": gene, **entry} for gene, entry in genes.items()]
    return pd.DataFrame(rows, columns=["gene", *MYGENE_FIELDS])
