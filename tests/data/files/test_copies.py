"""Paths of copied files replace the user's paths in settings, and texts name the user's files."""

import pytest
from rna_series import (
    ANNOTATION,
    COUNT_SAMPLES,
    COUNTS,
    MATRIX,
    annotation_table,
    counts_table,
    empty_matrix,
)

from genesig.data.files.geo_counts import paths_read
from genesig.data.files.names import FileCopies, copy_input, path_in_copy
from genesig.data.files.readers import read_matrix
from genesig.errors import InvalidInput

COPIES = FileCopies({"../x.tsv": ".storage/a/x.tsv", "arrays/": ".storage/b/arrays"})


def test_paths_of_copies_replace_names_of_files_only():
    settings = {
        "expression": "../x.tsv",
        "label": "../x.tsv",
        "data": {"annotation": "../x.tsv"},
        "studies": [{"expression": "arrays/", "samples": "absent.tsv"}],
        "normalise": {"samples": [{"step": "log2"}]},
    }
    assert COPIES.with_paths(settings) == {
        "expression": ".storage/a/x.tsv",
        "label": "../x.tsv",
        "data": {"annotation": ".storage/a/x.tsv"},
        "studies": [{"expression": ".storage/b/arrays", "samples": "absent.tsv"}],
        "normalise": {"samples": [{"step": "log2"}]},
    }


def test_names_of_files_return_in_texts_and_keys():
    record = {
        "inputs": {".storage/a/x.tsv": "0", ".storage/b/arrays": "1"},
        "warnings": [".storage/b/arrays/1.CEL, row 2: is blank"],
        "size": 3,
    }
    assert COPIES.with_names(record) == {
        "inputs": {"../x.tsv": "0", "arrays/": "1"},
        "warnings": ["arrays/1.CEL, row 2: is blank"],
        "size": 3,
    }


def test_settings_without_copies_stay_as_they_are():
    settings = {"expression": "x.tsv", "studies": [{"samples": "y.tsv"}]}
    assert FileCopies().with_paths(settings) == settings
    assert FileCopies().with_names(settings) == settings


def test_copy_of_a_folder_has_all_its_files(tmp_path):
    (tmp_path / "arrays").mkdir()
    (tmp_path / "arrays/1.CEL").write_bytes(b"1")
    copy_input(tmp_path / "arrays", tmp_path / "storage/arrays")
    assert (tmp_path / "storage/arrays/1.CEL").read_bytes() == b"1"


def test_copy_of_an_rna_seq_series_has_its_counts_and_genes(tmp_path):
    content = {MATRIX: empty_matrix(), COUNTS: counts_table(), ANNOTATION: annotation_table()}
    for name, packed in content.items():
        (tmp_path / name).write_bytes(packed)
    copy = tmp_path / "storage" / MATRIX
    copy_input(tmp_path / MATRIX, copy)
    copies = FileCopies({f"data/geo/{MATRIX}": path_in_copy(MATRIX, str(copy))})
    path = copies.with_paths({"expression": f"data/geo/{MATRIX}"})["expression"]
    assert set(read_matrix(path).columns) == set(COUNT_SAMPLES)
    assert copies.with_names(paths_read(path)) == [f"data/geo/{name}" for name in content]


def test_copy_of_an_absent_file_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no such file"):
        copy_input(tmp_path / "x.tsv", tmp_path / "storage/x.tsv")


def test_copy_of_a_changed_download_is_refused(tmp_path):
    (tmp_path / "x.tsv").write_bytes(b"1")
    (tmp_path / "x.tsv.sha256").write_text(f"{'0' * 64}  x.tsv\n")
    with pytest.raises(InvalidInput, match="is not the file that was downloaded"):
        copy_input(tmp_path / "x.tsv", tmp_path / "storage/x.tsv")
