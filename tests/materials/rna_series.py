"""Files of an RNA-seq series of GEO: a series matrix without values, and counts of NCBI."""

from __future__ import annotations

import gzip

import numpy as np
from format_files import tabbed

SAMPLES = [f"GSM{k}" for k in range(100, 124)]
UNPROCESSED = ["GSM103", "GSM110"]
COUNT_SAMPLES = [name for name in SAMPLES if name not in UNPROCESSED]
GENES = [str(1000 + 7 * k) for k in range(60)]
MATRIX = "GSE52_series_matrix.txt.gz"
COUNTS = "GSE52_raw_counts_GRCh38.p13_NCBI.tsv.gz"
ANNOTATION = "Human.GRCh38.p13.annot.tsv.gz"


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def empty_matrix(organism: str = "Homo sapiens") -> bytes:
    """Write the series matrix of an RNA-seq series: samples, and a table without a row."""
    states = [f'"disease state: {"tumour" if k % 2 else "normal"}"' for k in range(len(SAMPLES))]
    names = [f'"{name}"' for name in SAMPLES]
    return packed(
        tabbed(
            [
                ["!Series_geo_accession", '"GSE52"'],
                ["!Series_supplementary_file", '"ftp://host/GSE52_fpkm.txt.gz"'],
                ["!Sample_title", *names],
                ["!Sample_geo_accession", *names],
                ["!Sample_organism_ch1", *[f'"{organism}"'] * len(SAMPLES)],
                ["!Sample_characteristics_ch1", *states],
                ["!Sample_platform_id", *['"GPL1"'] * len(SAMPLES)],
                ["!series_matrix_table_begin"],
                ['"ID_REF"', *names],
                ["!series_matrix_table_end"],
            ]
        )
    )


def reads() -> np.ndarray:
    """Draw counts, genes × counted samples, a third of them 0; ten genes differ by class."""
    rng = np.random.default_rng(1)
    counts = rng.negative_binomial(2, 0.01, (len(GENES), len(COUNT_SAMPLES)))
    tumour = np.array([SAMPLES.index(name) % 2 == 1 for name in COUNT_SAMPLES])
    counts[:10, tumour] *= 20
    return counts * (rng.random(counts.shape) > 0.3)


def counts_table(samples: list[str] = COUNT_SAMPLES) -> bytes:
    rows = [[gene, *row] for gene, row in zip(GENES, reads().tolist(), strict=True)]
    return packed(tabbed([["GeneID", *samples], *rows]))


def annotation_table() -> bytes:
    """Write NCBI's table of genes: a quotation mark is a letter, a symbol may be blank."""
    names = ["GeneID", "Symbol", "Description", "Synonyms", "GeneType", "EnsemblGeneID"]
    rows = [
        [gene, f"SYM{k}" if k else "", 'the 5" end of it', "A///B", "protein-coding", ""]
        for k, gene in enumerate(GENES)
    ]
    return packed(tabbed([names, *rows, ["999999", "OTHER", "", "", "", ""]]))
