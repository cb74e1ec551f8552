"""Where a gene is looked up: public pages, by the kind of its id. Links only, nothing is loaded."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote
from zlib import crc32

from genesig.data.steps.missing_indicators import SUFFIX
from genesig.report.page.words import clean
from genesig.words import ENSEMBL as ENSEMBL_ID
from genesig.words import ENTREZ

_SYMBOL = re.compile(r"[A-Z][A-Z0-9-]{1,9}$|C\d+orf\d+$")
_WORDS = {"ATP", "CAMP", "CDNA", "DNA", "GTP", "HUMAN", "MHC", "MRNA", "NAD", "NADH", "RNA"}
_NO_ID = re.compile(r"[^A-Za-z0-9]+")
NCBI = "https://www.ncbi.nlm.nih.gov/gene/"
ENSEMBL = "https://www.ensembl.org/"
CARDS = "https://www.genecards.org/cgi-bin/carddisp.pl?gene="


class Link(NamedTuple):
    """A page about a gene, and what it is called."""

    name: str
    url: str


def gene_anchor(gene: str) -> str:
    """Return the id that the card of a gene has on the page."""
    return f"gene-{_NO_ID.sub('-', gene)[:24]}-{crc32(gene.encode()):08x}"


def gene_links(gene: str, symbol: str) -> list[Link]:
    """Return pages about a gene; by a search of its name where neither id nor symbol is known."""
    gene, symbol = gene.removesuffix(SUFFIX), symbol.removesuffix(SUFFIX)
    known = short_symbol(symbol) or short_symbol(gene)
    ids = [clean(gene).split()[0] if clean(gene) else "", clean(symbol)]
    entrez = next((text for text in ids if ENTREZ.fullmatch(text)), None)
    ensembl = next((text.split(".")[0] for text in ids if ENSEMBL_ID.fullmatch(text)), None)
    if entrez or ensembl or known:
        return list(_by_id(entrez, ensembl, known))
    return [Link("NCBI search", f"{NCBI}?term={quote(clean(symbol or gene)[:80], safe='')}")]


def _by_id(entrez: str | None, ensembl: str | None, symbol: str | None) -> list[Link]:
    found = []
    if entrez or ensembl or symbol:
        term = entrez or f"?term={ensembl or quote(f'{symbol}[sym]', safe='')}"
        found.append(Link("NCBI", NCBI + term))
    if ensembl or symbol:
        place = f"id/{ensembl}" if ensembl else f"Multi/Search/Results?q={symbol}"
        found.append(Link("Ensembl", ENSEMBL + place))
    if symbol or ensembl:
        found.append(Link("GeneCards", f"{CARDS}{symbol or ensembl}"))
    return found


def short_symbol(text: str) -> str | None:
    """Return the symbol that a cell is, or begins with (``CST3 Cystatin C``); else None.

    A first word in front of others counts if it has a digit, or if words in small letters follow:
    neither CYSTATIN A nor RNA polymerase II begins with a symbol. Whether a gene is missing is
    another variable than the gene, and called so.
    """
    if text.endswith(SUFFIX):
        short = short_symbol(text.removesuffix(SUFFIX))
        return short and short + SUFFIX
    words = clean(text).split()
    if not words or not _SYMBOL.match(words[0]) or ENSEMBL_ID.fullmatch(words[0]):
        return None
    told_apart = any(c.isdigit() for c in words[0]) or any(c.islower() for c in "".join(words[1:]))
    return words[0] if len(words) == 1 or (told_apart and words[0] not in _WORDS) else None
