"""Symbols of genes that are named by ids: from a file, or MyGene.info where they are asked for.

Source: Xin et al., High-performance web services for querying gene and variant annotation, Genome
Biol. 17:91 (2016).
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genesig.data.files.hgnc import plain_name, read_hgnc, rows_by_name
from genesig.data.files.platforms import JOINED, is_hgnc, probe_symbols
from genesig.data.files.readers import read_genes
from genesig.errors import refuse
from genesig.results.files import check_output, save_table
from genesig.words import ENSEMBL, ENTREZ, listing

if TYPE_CHECKING:
    import pandas as pd

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


def write_symbols(axes: Iterable[Sequence[str]], where: str, output: str, species: str,
                  offline: str | None = None) -> str:  # fmt: skip
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
        raise refuse(where, f"names genes ({listing(genes[:3])}) that are no ids of Ensembl, "
                     "RefSeq, Entrez or Affymetrix; nothing was looked up")  # fmt: skip
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
    return f"{sum(map(bool, symbols))} of {len(genes)} genes have a symbol, {several} of them " \
           f"several; the table knows {here}"  # fmt: skip


def _from_hgnc(axes: Iterable[Sequence[str]], offline: str, output: str) -> str:
    table = read_hgnc(offline)
    rows = rows_by_name(table)
    genes = max((list(dict.fromkeys(names)) for names in axes),
                key=lambda names: sum(plain_name(name) in rows for name in names))  # fmt: skip
    at = {gene: rows.get(gene, rows.get(plain_name(gene))) for gene in genes}
    known = [gene for gene in genes if at[gene] is not None]
    if not known:
        raise refuse(
            offline, f"knows none of the genes ({listing(genes[:3])}); it is of human ones"
        )
    columns = {"symbol": "symbol", "entrez": "entrez_id", "name": "name"}
    said = {
        gene: {of: str(table[column].iloc[row]) if row is not None and column in table else ""
               for of, column in columns.items()}
        for gene, row in at.items()
    }  # fmt: skip
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
    return {str(gene): dict(zip(FIELDS, row, strict=True))
            for gene, row in zip(table.index, table.to_numpy(), strict=True)}  # fmt: skip


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
        raise refuse("genesig symbols", "needs the package biothings-client: pip install "
                     "'genesig[symbols]'") from None  # fmt: skip
    base = os.environ.get(VARIABLE, BASE)
    for name in ("biothings.client", "httpx"):  # they tell each request
        logging.getLogger(name).setLevel(logging.WARNING)
    client: Any = biothings_client.get_client("gene", url=base)
    client.http_client, client.http_client_setup = httpx.Client(timeout=TIMEOUT), True  # else: none
    try:
        hits = client.querymany(ids, scopes=scopes, fields=list(FIELDS.values()), species=species,
                                verbose=False)  # fmt: skip
        best: dict[str, Any] = {}
        for hit in hits:
            best.setdefault(str(hit["query"]), hit)
    except (httpx.HTTPError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise refuse(base, f"gave no answer that can be used ({said}); try again later, or make "
                     "the gene table another way") from None  # fmt: skip
    return best


def _text(value: Any) -> str:
    """Return a word or a number of an answer; what else it may hold is left out."""
    known = isinstance(value, str | int) and not isinstance(value, bool)
    return " ".join(str(value).split()) if known else ""


def _table(genes: dict[str, dict[str, str]]) -> pd.DataFrame:
    import pandas as pd

    rows = [{"gene": gene, **said} for gene, said in genes.items()]
    return pd.DataFrame(rows, columns=["gene", *FIELDS])
