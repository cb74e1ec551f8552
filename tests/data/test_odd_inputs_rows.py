"""Odd inputs whose extra rows and columns are neither genes nor samples keep their genes."""

from __future__ import annotations

import re

import pytest
from places import SHARED

from genesig.cli import main

ODD_INPUTS = SHARED / "odd_inputs"
STUDIES = {
    "counts_special_rows/c_htseq": (200, "5 summary rows of a counter"),
    "counts_special_rows/c_none": (200, ""),
    "counts_controls/c_affx": (200, "3 control probes"),
    "counts_controls/c_total": (200, "2 rows of totals: 'Total', 'Sum'"),
    "sheet_clinic_in_matrix/c_only_OS": (200, "1 column of the sample table: 'OS'"),
    "sheet_clinic_in_matrix/c_words": (200, "2 columns of the sample table: 'type', 'age'"),
    "counts_folder/c_htseq_files": (200, ""),
    "counts_symbols_twice/c_twice": (194, "5 further ids, too; their median in each sample"),
    "counts_symbols_twice/c_na": (190, "10 rows without a gene id"),
    "cohort_versions/c_bumped": (200, "67 of them are here in another version"),
    "cohort_same_patients/c_noise": (200, "30 samples like a sample of the study"),
    "counts_columns_beside/c_portal": (200, "1 column beside the genes: 'Entrez_Gene_Id'"),
    "files_long/c_e_npx.csv": (None, "a sample (column 'SampleID') and a gene ('Assay')"),
    "objects_r/c_dgelist_genes": (200, ""),
    "objects_r/c_dgelist_genes_sheet": (200, ""),
}


@pytest.mark.slow
@pytest.mark.skipif(not ODD_INPUTS.exists(), reason="the shared data are not here")
@pytest.mark.parametrize("study", STUDIES)
def test_an_odd_input_has_its_genes_and_is_explained(
    study: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, config = study.split("/")
    genes, words = STUDIES[study]
    monkeypatch.chdir(ODD_INPUTS / folder)
    assert main(["validate", f"{config}.yaml"]) == (genes is None)
    captured = capsys.readouterr()
    number = re.search(r"(\d+) genes", captured.out)
    assert (None if number is None else int(number[1])) == genes
    assert words in captured.err
