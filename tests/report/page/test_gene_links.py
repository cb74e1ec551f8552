"""The kind of a gene id gives the database that the page links to."""

from __future__ import annotations

import pytest

from genesig.report.page.words import ENSEMBL, GENECARDS, NCBI, gene_links, short_symbol


@pytest.mark.parametrize(
    ("gene", "symbol", "urls"),
    [
        ("7791", "7791", [NCBI + "7791"]),
        ("7791", "ZYX", [NCBI + "7791", ENSEMBL + "Multi/Search/Results?q=ZYX", GENECARDS + "ZYX"]),
        (
            "ENSG00000159840.16",
            "ENSG00000159840.16",
            [
                NCBI + "?term=ENSG00000159840",
                ENSEMBL + "id/ENSG00000159840",
                GENECARDS + "ENSG00000159840",
            ],
        ),
        (
            "ENSMUSG00000029860",
            "Zyx",
            [
                NCBI + "?term=ENSMUSG00000029860",
                ENSEMBL + "id/ENSMUSG00000029860",
                GENECARDS + "ENSMUSG00000029860",
            ],
        ),
        (
            "M27891_at",
            "CST3 Cystatin C (amyloid angiopathy)",
            [
                NCBI + "?term=CST3%5Bsym%5D",
                ENSEMBL + "Multi/Search/Results?q=CST3",
                GENECARDS + "CST3",
            ],
        ),
        (
            "M1 missing",
            "CD33 missing",
            [
                NCBI + "?term=CD33%5Bsym%5D",
                ENSEMBL + "Multi/Search/Results?q=CD33",
                GENECARDS + "CD33",
            ],
        ),
        ("X95735_at", "Zyxin", [NCBI + "?term=Zyxin"]),
        ("D88422_at", "CYSTATIN A", [NCBI + "?term=CYSTATIN%20A"]),
        ("x", "\"><script>&'#?", [NCBI + "?term=%22%3E%3Cscript%3E%26%27%23%3F"]),
        ("", "", [NCBI + "?term="]),
    ],
)
def test_each_kind_of_id_has_its_pages(gene, symbol, urls):
    assert [link.url for link in gene_links(gene, symbol)] == urls


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("CD33", "CD33"),
        ("HLA-DRA", "HLA-DRA"),
        ("C1orf21", "C1orf21"),
        ("ELA2 Elastatse 2", "ELA2"),
        ("CYSTATIN A", None),
        ("Zyxin", None),
        ("M27891_at", None),
        ("ENSG00000159840", None),
        ("", None),
        ("C-myb gene", None),
        ("LEPR Leptin receptor", "LEPR"),
        ("RNA polymerase II", None),
        ("CD33 missing", "CD33 missing"),
        ("CST3 Cystatin C missing", "CST3 missing"),
        ("Zyxin missing", None),
    ],
)
def test_a_symbol_is_known_by_its_look(text, symbol):
    assert short_symbol(text) == symbol
