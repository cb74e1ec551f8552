"""Published platform tables give the gene symbols of the probes of an array."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from genesig.cli import main
from genesig.data.files.readers import read_genes

BROWSER = (
    "#ID = Affymetrix Probe Set ID\n#Gene Symbol = symbols /// between\n"
    "ID\tGB_ACC\tSequence Type\tGene Title\tGene Symbol\tENTREZ_GENE_ID\n"
    "1007_s_at\tU48705\tExemplar\tDDR1 /// microRNA\tDDR1 /// MIR4640\t780 /// 100616237\n"
    "1053_at\tM87338\tConsensus\treplication\tRFC2\t5982\n117_at\tX51757\tExemplar\t\t\t\n"
    "never_at\tX1\tExemplar\t\tOTHER\t9\n"
)
ANNOT = (
    "^Annotation\n!Annotation_platform = GPL570\n#ID = probe\n!platform_table_begin\n"
    "ID\tGene title\tGene symbol\tGene ID\n"
    "1007_s_at\tx\tDDR1///MIR4640\t780///100616237\n1053_at\ty\tRFC2\t5982\n117_at\t\t\t\n"
    "!platform_table_end\n1053_at\tz\tWRONG\t1\n"
)
NETAFFX = (
    "#%create_date=Tue Mar 01 2016 GMT-08:00\n#%chip_type=HG-U133_Plus_2\n"
    '"Probe Set ID","GeneChip Array","Gene Title","Gene Symbol","Entrez Gene"\n'
    '"1007_s_at","Human","receptor, tyrosine","DDR1 /// MIR4640","780 /// 100616237"\n'
    '"1053_at","Human","replication","RFC2","5982"\n"117_at","Human","---","---","---"\n'
)
BGX = (
    "[Heading]\nDate\t1/1/2010\nNumber of Probes\t3\n[Probes]\n"
    "Species\tILMN_Gene\tEntrez_Gene_ID\tSymbol\tProbe_Id\tArray_Address_Id\n"
    "Homo\tDDR1\t780\tDDR1;MIR4640\t1007_s_at\t10\nHomo\tRFC2\t5982\tRFC2\t1053_at\t20\n"
    "Homo\t\t\t\t117_at\t30\n[Controls]\nProbe_Id\tSymbol\n1053_at\tWRONG\n"
)
MANIFEST = (
    "Illumina, Inc.\n[Heading]\nDescriptor,450k\n[Assay]\nIlmnID,Name,CHR,UCSC_RefGene_Name\n"
    "1007_s_at,1007_s_at,1,DDR1;DDR1;MIR4640\n1053_at,1053_at,2,RFC2\n117_at,117_at,3,\n"
)
PLATFORM_TABLE = (
    "#%lib-set=na36\nprobeset_id\tseqname\tgene_assignment\n"
    "1007_s_at\tchr6\tNM_1 // DDR1 // receptor // 6p21 // 780 /// NR_2 // MIR4640 // m // - // 9\n"
    "1053_at\tchr7\tNM_3 // RFC2 // replication // 7q11 // 5982 /// ENST1 // RFC2 // r // - // 1\n"
    "117_at\tchr1\t---\n"
)
EXPORT = (
    '"","PROBEID","SYMBOL"\n"1","1007_s_at","DDR1"\n"2","1007_s_at","MIR4640"\n'
    '"3","1053_at","RFC2"\n"4","117_at",NA\n'
)
TABLES = {
    "GPL570-55999.txt": BROWSER,
    "GPL570.annot": ANNOT,
    "GPL570.soft": "^PLATFORM = G\n" + ANNOT,
    "HG-U133_Plus_2.na36.annot.csv": NETAFFX,
    "HumanHT-12_V4.bgx": BGX,
    "HumanMethylation450.csv": MANIFEST,
    "HuGene-1_0-st-v1.na36.tsv": PLATFORM_TABLE,
    "export.csv": EXPORT,
}
PROBES = ["1007_s_at", "1053_at", "117_at", "unknown_at"]


def look_up_symbols(folder: Path, content: bytes, name: str, *genes: str) -> int:
    rows = [f"{gene}\t1\t2\n" for gene in genes or PROBES]
    (folder / "e.tsv").write_text("gene\tS1\tS2\n" + "".join(rows))
    (folder / name).write_bytes(content)
    files = [str(folder / file) for file in ("e.tsv", name, "genes.tsv")]
    return main(["symbols", files[0], "--offline", files[1], "-o", files[2]])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_a_platform_s_table_gives_the_symbols(
    name: str, packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = TABLES[name].encode()
    name, content = (f"{name}.gz", gzip.compress(content)) if packed else (name, content)
    assert look_up_symbols(tmp_path, content, name) == 0
    stdout = capsys.readouterr().out
    assert "2 of 4 genes have a symbol, 1 of them several; the table knows 3" in stdout
    table = read_genes(tmp_path / "genes.tsv", None)
    assert list(table.index) == PROBES
    assert table["symbol"].tolist() == ["DDR1 /// MIR4640", "RFC2", "", ""]
    if "ntrez" in TABLES[name.removesuffix(".gz")]:
        assert table.loc["1053_at", "entrez"] == "5982"


def test_probe_column_with_most_genes_is_used(tmp_path: Path) -> None:
    assert look_up_symbols(tmp_path, BGX.encode(), "a.bgx", "20", "10") == 0
    assert read_genes(tmp_path / "genes.tsv", None)["symbol"].tolist() == [
        "RFC2",
        "DDR1 /// MIR4640",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\n1007_s_at\tDDR1\n", "no line names a column of probes"),
        (
            BROWSER.replace("_at", "_xt").encode(),
            "has none of the genes (1007_s_at, 1053_at, 117_at)",
        ),
        (EXPORT.replace("RFC2", "\x1b[31mRFC2").encode(), "holds a control code"),
        (b"", "is empty"),
    ],
)
def test_other_table_is_refused_and_nothing_is_written(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert look_up_symbols(tmp_path, content, "p.csv") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert not (tmp_path / "genes.tsv").exists()
