"""RNA-seq series of GEO get the counts of NCBI if their series matrix is empty."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from geo_server import Archive, geo_archive  # noqa: F401
from places import ROOT
from rna_series import (
    ANNOTATION,
    COUNT_SAMPLES,
    COUNTS,
    GENES,
    MATRIX,
    SAMPLES,
    annotation_table,
    counts_table,
    empty_matrix,
    packed,
    reads,
)

from genesig.cli import main
from genesig.data.files.geo_counts import _genome, paths_read
from genesig.data.files.names import ADDRESS_VARIABLE, fetch
from genesig.data.files.readers import read_matrix, read_sample_table, read_samples
from genesig.errors import InvalidInput

DOWNLOAD = "/download/?type=rnaseq_counts"
COUNTS_ADDRESS = f"{DOWNLOAD}&acc=GSE52&format=file&file={COUNTS}"
ANNOTATION_ADDRESS = f"{DOWNLOAD}&format=file&file={ANNOTATION}"
FOLDER = "series/GSEnnn/GSE52/matrix/"


@pytest.fixture
def rna_seq(archive: Archive) -> Archive:
    """Serve the series GSE52 with an empty matrix, counts of all samples but two, and genes."""
    archive.put(FOLDER, MATRIX, content=empty_matrix())
    archive.files[COUNTS_ADDRESS] = counts_table()
    archive.files[ANNOTATION_ADDRESS] = annotation_table()
    return archive


def test_fetch_of_an_empty_series_takes_counts_genes_and_their_digests(
    rna_seq: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", "gse52", "-d", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (f"{tmp_path / MATRIX}\n", "")
    expected = {MATRIX: empty_matrix(), COUNTS: counts_table(), ANNOTATION: annotation_table()}
    for name, content in expected.items():
        assert (tmp_path / name).read_bytes() == content
        digest = hashlib.sha256(content).hexdigest()
        assert (tmp_path / f"{name}.sha256").read_text() == f"{digest}  {name}\n"
    assert len(list(tmp_path.iterdir())) == 6


def test_fetch_of_existing_counts_sends_no_request(rna_seq: Archive, tmp_path: Path) -> None:
    fetch("GSE52", tmp_path)
    rna_seq.asked.clear()
    assert fetch("GSE52", tmp_path) == tmp_path / MATRIX
    assert rna_seq.asked == []


def test_fetch_of_a_series_with_values_asks_for_no_counts(archive: Archive, tmp_path: Path) -> None:
    archive.put(FOLDER, MATRIX)
    fetch("GSE52", tmp_path)
    assert [path for path, _ in archive.asked] == [f"/{FOLDER}", f"/{FOLDER}{MATRIX}"]


def test_fetch_completes_an_empty_series_of_the_user(rna_seq: Archive, tmp_path: Path) -> None:
    (tmp_path / MATRIX).write_bytes(empty_matrix())
    fetch("GSE52", tmp_path)
    assert [path for path, _ in rna_seq.asked] == [COUNTS_ADDRESS, ANNOTATION_ADDRESS]
    assert read_matrix(tmp_path / MATRIX).rows == tuple(GENES)


def test_counts_are_read_in_place_of_the_empty_table(rna_seq: Archive, tmp_path: Path) -> None:
    path = fetch("GSE52", tmp_path)
    matrix = read_matrix(path)
    assert matrix.rows == tuple(GENES)
    assert matrix.columns == tuple(COUNT_SAMPLES)
    np.testing.assert_array_equal(matrix.cells, reads())
    assert matrix.symbols == {gene: f"SYM{k}" for k, gene in enumerate(GENES) if k}
    assert matrix.doubt == "NCBI has counts of 22 of 24 samples; left out: 'GSM103', 'GSM110'"
    table = read_samples(path, matrix.columns, None)
    assert list(table.index) == COUNT_SAMPLES
    assert len(read_sample_table(path, matrix.columns, None).lines) == len(COUNT_SAMPLES)
    assert paths_read(path) == [str(tmp_path / name) for name in (MATRIX, COUNTS, ANNOTATION)]


def test_counts_of_other_samples_are_left_out(rna_seq: Archive, tmp_path: Path) -> None:
    """A series of several platforms has one table of counts, and a matrix for each platform."""
    rna_seq.files[COUNTS_ADDRESS] = counts_table(
        [f"GSM{900 + k}" for k in range(2)] + COUNT_SAMPLES[2:]
    )
    matrix = read_matrix(fetch("GSE52", tmp_path))
    assert matrix.columns == tuple(COUNT_SAMPLES[2:])
    np.testing.assert_array_equal(matrix.cells, reads()[:, 2:])
    (tmp_path / f"{COUNTS}.sha256").unlink()
    (tmp_path / COUNTS).write_bytes(counts_table([f"GSM{900 + k}" for k in range(22)]))
    with pytest.raises(InvalidInput, match=r"has no counts of this series' samples \('GSM100'"):
        read_matrix(tmp_path / MATRIX)


def test_a_matrix_of_the_user_keeps_all_samples_of_the_series(
    rna_seq: Archive, tmp_path: Path
) -> None:
    path = fetch("GSE52", tmp_path)
    assert list(read_samples(path, SAMPLES, None).index) == SAMPLES
    assert list(read_samples(path, None, None).index) == SAMPLES


def test_init_proposes_counts_and_validate_names_samples_without_them(
    rna_seq: Archive,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = tmp_path / "mine"
    assert main(["init", str(study), "-e", "GSE52"]) == 0
    text = (study / "config.yaml").read_text()
    config = yaml.safe_load(text)
    assert config["expression"] == config["samples"] == f"data/geo/{MATRIX}"
    assert config["normalise"] == {"samples": [{"step": "log_cpm"}]}
    assert config["label"] == "disease state"
    assert f"# The values are counts that NCBI made: {COUNTS}." in text
    assert "# NCBI has counts of 22 of 24 samples; left out: 'GSM103', 'GSM110'." in text
    monkeypatch.chdir(study)
    rna_seq.asked.clear()
    capsys.readouterr()
    assert main(["validate", "config.yaml"]) == 0
    captured = capsys.readouterr()
    expected = (
        f"warning: data/geo/{MATRIX}: NCBI has counts of 22 of 24 samples; left out: 'GSM103'"
    )
    assert expected in captured.err
    assert "22 samples (11 normal, 11 tumour; positive: tumour), 60 genes" in captured.out
    (study / "geo.yaml").write_text(
        yaml.safe_dump({"geo": "GSE52", "label": "disease state", "normalise": config["normalise"]})
    )
    assert main(["validate", "geo.yaml"]) == 0
    assert rna_seq.asked == []


def test_counts_that_broke_off_are_resumed_by_init(rna_seq: Archive, tmp_path: Path) -> None:
    (tmp_path / "mine" / "data" / "geo").mkdir(parents=True)
    (tmp_path / "mine" / "data" / "geo" / MATRIX).write_bytes(empty_matrix())
    rna_seq.break_at = 100
    assert main(["init", str(tmp_path / "mine"), "-e", "GSE52"]) == 1
    assert (tmp_path / "mine" / "data" / "geo" / f"{COUNTS}.part").stat().st_size == 100
    rna_seq.break_at = None
    assert main(["init", str(tmp_path / "mine"), "-e", "GSE52"]) == 0
    assert (COUNTS_ADDRESS, "bytes=100-") in rna_seq.asked
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", [COUNTS, ANNOTATION])
def test_changed_counts_or_genes_are_refused(name: str, rna_seq: Archive, tmp_path: Path) -> None:
    path = fetch("GSE52", tmp_path)
    (tmp_path / name).write_bytes(packed("something else"))
    for act in (lambda: read_matrix(path), lambda: fetch("GSE52", tmp_path)):
        with pytest.raises(InvalidInput, match=f"{name}: is not the file that was downloaded"):
            act()


def test_series_without_values_and_counts_gives_one_line(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.put(FOLDER, MATRIX, content=empty_matrix())
    assert main(["init", str(tmp_path / "mine"), "-e", "GSE52"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    matrix = tmp_path / "mine" / "data" / "geo" / MATRIX
    assert line == (
        f"error: {matrix}: the series matrix has no values, and NCBI has no counts of this series; "
        "download a supplementary file ('GSE52_fpkm.txt.gz'), name it as 'expression' and this "
        "one as 'samples'"
    )
    # As sample table beside a matrix of the user it is of use, so that it stays.
    assert main(["fetch", "GSE52", "-d", str(matrix.parent)]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{matrix}\n"
    assert captured.err == line.replace("error:", "warning:") + "\n"
    config = {"expression": str(matrix), "samples": str(matrix), "label": "disease state"}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    assert main(["validate", str(tmp_path / "c.yaml")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"genesig fetch GSE52 -d {matrix.parent} takes NCBI's counts if there are any" in line


def test_web_page_instead_of_counts_means_no_counts(rna_seq: Archive, tmp_path: Path) -> None:
    rna_seq.files[COUNTS_ADDRESS] = b"<!DOCTYPE html><p>File not found</p>"
    fetch("GSE52", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [MATRIX, f"{MATRIX}.sha256"]


def test_counts_without_a_gene_table_have_no_symbols(rna_seq: Archive, tmp_path: Path) -> None:
    del rna_seq.files[ANNOTATION_ADDRESS]
    path = fetch("GSE52", tmp_path)
    assert read_matrix(path).symbols == {}
    assert paths_read(path) == [str(tmp_path / name) for name in (MATRIX, COUNTS)]


def test_a_server_that_fails_at_the_counts_is_an_error(rna_seq: Archive, tmp_path: Path) -> None:
    (tmp_path / MATRIX).write_bytes(empty_matrix())
    rna_seq.refusals = [503]
    with pytest.raises(InvalidInput, match=r"rnaseq_counts.*the server answers 503"):
        fetch("GSE52", tmp_path)


def test_mirror_of_plain_files_serves_counts_from_suppl(archive: Archive, tmp_path: Path) -> None:
    archive.put(FOLDER, MATRIX, content=empty_matrix())
    supplement = FOLDER.replace("matrix", "suppl")
    archive.put(supplement, COUNTS, content=counts_table())
    archive.put(supplement, ANNOTATION, content=annotation_table())
    assert len(read_matrix(fetch("GSE52", tmp_path)).symbols) == 59


def test_blank_organisms_of_samples_do_not_count() -> None:
    assert _genome(['!Sample_organism_ch1\t""\t""\t"Homo sapiens"']) is not None


@pytest.mark.parametrize(
    ("organism", "names"),
    [
        ("Mus musculus", ["GSE52_raw_counts_GRCm39_NCBI.tsv.gz", "Mouse.GRCm39.annot.tsv.gz"]),
        ("Rattus norvegicus", []),
    ],
)
def test_genome_of_the_counts_follows_the_organism(
    organism: str, names: list[str], archive: Archive, tmp_path: Path
) -> None:
    archive.put(FOLDER, MATRIX, content=empty_matrix(organism))
    for name in names:
        owner = "&acc=GSE52" if "counts" in name else ""
        content = counts_table() if owner else annotation_table()
        archive.files[f"{DOWNLOAD}{owner}&format=file&file={name}"] = content
    fetch("GSE52", tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.tsv.gz")) == names
    assert sum("rnaseq" in path for path, _ in archive.asked) == len(names)


def test_counts_come_from_ncbi_where_no_other_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses: list[str] = []
    (tmp_path / MATRIX).write_bytes(empty_matrix())
    monkeypatch.delenv(ADDRESS_VARIABLE, raising=False)
    monkeypatch.setattr(
        "genesig.data.files.geo_counts.download_gzip", lambda url, path: addresses.append(url)
    )
    fetch("GSE52", tmp_path)
    base = "https://www.ncbi.nlm.nih.gov/geo"
    assert addresses == [f"{base}{COUNTS_ADDRESS}", f"{base}{ANNOTATION_ADDRESS}"]


@pytest.mark.slow
def test_a_study_of_an_rna_seq_series_fetches_and_reads_its_counts(
    rna_seq: Archive, tmp_path: Path
) -> None:
    """Symbols, samples and the digests of all files are in the data set that the workflow reads."""
    from anndata import read_h5ad

    config = {
        "geo": "GSE52",
        "label": "disease state",
        "normalise": {"samples": [{"step": "log_cpm"}]},
    }
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "1",
        "--configfile",
        "c.yaml",
        "--snakefile",
        str(ROOT / "Snakefile"),
        "results/data/raw.h5ad",
    ]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    dataset = read_h5ad(tmp_path / "results/data/raw.h5ad")
    assert list(dataset.obs_names) == COUNT_SAMPLES
    assert dict(zip(dataset.var_names, dataset.var["symbol"], strict=True))["1007"] == "SYM1"
    warnings = json.loads((tmp_path / "results/validation.json").read_text())["warnings"]
    assert f"data/geo/{MATRIX}: NCBI has counts of 22 of 24 samples" in warnings[0]
    digests = str(dataset.uns)
    for name in (MATRIX, COUNTS, ANNOTATION):
        assert hashlib.sha256((tmp_path / "data/geo" / name).read_bytes()).hexdigest() in digests
