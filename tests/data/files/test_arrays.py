"""SOFT, h5ad, R, Agilent and Illumina files are read with their values and samples."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from broken_formats import ARRAY_NUMBERS as NUMBERS
from broken_formats import R_OBJECTS
from format_files import agilent, family, genomestudio, h5ad
from places import SHARED
from settings import study_settings

from genesig.data.files.readers import read_genes, read_matrix, read_samples
from genesig.data.study.dataset import read_dataset
from genesig.errors import InvalidInput
from genesig.results.run import sha256


def test_missing_extra_gives_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("genesig.data.files.formats.rdata.import_module", absent)
    with pytest.raises(InvalidInput, match=r"pip install 'genesig\[r\]'"):
        read_matrix(R_OBJECTS)


def test_r_objects_written_by_r_are_read() -> None:
    pytest.importorskip("rdata")
    expected = [[1.5, np.nan, 5.0], [2.0, 4.0, 6.25]]
    for part in ("values", "eset", "named"):
        matrix = read_matrix(R_OBJECTS, part)
        assert (matrix.rows, matrix.columns) == (("g1", "g2"), ("a", "b", "c"))
        np.testing.assert_array_equal(matrix.cells, expected)
    second_matrix = read_matrix(R_OBJECTS, "beside")
    assert (second_matrix.rows, second_matrix.columns) == (("g1", "g2"), ("a", "b"))
    table = read_samples(R_OBJECTS, None, "eset")
    assert table.to_dict("list") == {"class": ["x", "y", "x"], "age": ["40", "", "3.5"]}
    assert read_genes(R_OBJECTS, "eset")["symbol"].to_dict() == {"g1": "S1", "g2": "S2"}


def test_broken_file_of_several_tables_is_reported_once(tmp_path: Path) -> None:
    path = tmp_path / "e.h5ad"
    path.write_bytes(b"hello")
    settings = study_settings(path, path, "class", annotation=str(path))
    with pytest.raises(InvalidInput, match="is no HDF5 file") as error_info:
        read_dataset(settings)
    assert len(error_info.value.problems) == 1


def test_obs_of_an_h5ad_is_text(tmp_path: Path) -> None:
    (tmp_path / "e.h5ad").write_bytes(h5ad(NUMBERS))
    table = read_samples(tmp_path / "e.h5ad", None, None)
    assert table["class"].tolist() == NUMBERS.labels
    assert table["age"].tolist() == ["40", "", "41.5"] + ["42"] * 5


def test_part_selects_another_matrix(tmp_path: Path) -> None:
    (tmp_path / "e.h5ad").write_bytes(h5ad(NUMBERS))
    main_matrix = read_matrix(tmp_path / "e.h5ad")
    half = read_matrix(tmp_path / "e.h5ad", "half")
    np.testing.assert_array_equal(main_matrix.cells, 2 * half.cells)
    (tmp_path / "p.txt").write_text(genomestudio(NUMBERS))
    assert set(read_matrix(tmp_path / "p.txt", "Detection Pval").cells.ravel()) == {0.01}


def test_spots_of_one_probe_are_their_median(tmp_path: Path) -> None:
    text = agilent(NUMBERS, 0).replace("DATA\t3\t0\tg1\tNM_1", "DATA\t3\t0\tg0\tNM_0")
    (tmp_path / "a.txt").write_text(text.replace("DATA\t4\t0\tg2\tNM_2", "DATA\t4\t0\tg0\tNM_0"))
    matrix = read_matrix(tmp_path / "a.txt")
    assert matrix.rows == ("g0", "g3", "g4")
    assert matrix.cells[0, 0] == sorted(NUMBERS.rows[k][0] for k in range(3))[1]


def test_one_colour_array_gives_its_signal(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(agilent(NUMBERS, 2, colours=1))
    matrix = read_matrix(tmp_path / "a.txt")
    assert matrix.cells[:, 0].tolist() == [row[2] for row in NUMBERS.rows]


def test_folder_hash_equals_hash_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1")
    before = sha256(tmp_path)
    (tmp_path / "b.txt").write_text("1")
    with_two = sha256(tmp_path)
    (tmp_path / "b.txt").write_text("2")
    assert len({before, with_two, sha256(tmp_path)}) == 3


def test_family_file_equals_geoparse(tmp_path: Path) -> None:
    geoparse = pytest.importorskip("GEOparse")
    (tmp_path / "GSE1_family.soft").write_text(family(NUMBERS))
    theirs = geoparse.get_GEO(filepath=str(tmp_path / "GSE1_family.soft"), silent=True)
    matrix = read_matrix(tmp_path / "GSE1_family.soft")
    table = theirs.pivot_samples("VALUE").loc[list(matrix.rows), list(matrix.columns)]
    np.testing.assert_array_equal(matrix.cells, table.to_numpy(dtype=float))


needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")


@needs_data
def test_real_scanner_files() -> None:
    matrix = read_matrix(SHARED / "agilent")
    assert matrix.columns == ("scanner_file_1", "scanner_file_2")
    for k, name in enumerate(matrix.columns):  # the spots, by hand
        lines = (SHARED / "agilent" / f"{name}.txt").read_text().splitlines()
        spots = [line.split("\t") for line in lines[10:]]
        signal_of_probe = {spot[6]: float(spot[10]) for spot in spots if spot[5] == "0"}
        assert signal_of_probe == dict(zip(matrix.rows, matrix.cells[:, k].tolist(), strict=True))


@needs_data
def test_real_counts_are_a_table() -> None:
    matrix = read_matrix(SHARED / "counts" / "pasilla_gene_counts.tsv")
    assert matrix.columns[0] == "untreated1"
    assert (matrix.cells == np.round(matrix.cells)).all()
    assert (matrix.cells >= 0).all()


@needs_data
def test_a_chip_file_of_broad_is_a_gene_table() -> None:
    table = read_genes(SHARED / "annot" / "Human_AFFY_HG_U95_MSigDB_7_0.chip.gz", None)
    assert table.loc["1000_at", "Gene Symbol"] == "MAPK3"


def test_h5ad_module_does_not_import_anndata() -> None:
    module = importlib.import_module("genesig.data.files.formats.h5ad")
    assert "anndata" not in vars(module)
