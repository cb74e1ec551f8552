"""An intact file of each format is read as a study."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from broken_formats import ARRAY_NUMBERS as NUMBERS
from broken_formats import (
    GCT,
    GSM_NUMBERS,
    STATE,
    arrays_study,
    gct_study,
    own_study,
    series_study,
    with_sheet,
)
from broken_formats import StudyFiles as Study
from broken_tables import study
from format_files import cls, data_set, family, gct12, gct13, genomestudio, h5ad, tabbed
from scipy.sparse import csr_matrix

from genesig.cli import main

STUDIES_OF_ONE_FILE: dict[str, Study] = {
    "series matrix, its own sample table": series_study(str),
    "GCT 1.2 with CLS": gct_study(str),
    "GCT 1.2 named .txt": (
        {"e.txt": gct12(NUMBERS), "c.cls": cls(NUMBERS)},
        {"expression": "e.txt", "samples": "c.cls", "label": "class"},
    ),
    "GCT 1.3, its own sample and gene table": (
        {GCT: gct13(NUMBERS)},
        {"expression": GCT, "samples": GCT, "label": "class", "data": {"annotation": GCT}},
    ),
    "CLS with numbers": gct_study(str, "8 2 1\n# normal tumor\n0 1 0 1 0 1 0 1\n"),
    "family": own_study(
        "f.soft", family(NUMBERS), STATE, annotation="f.soft", symbol="Gene Symbol"
    ),
    "family named .txt": own_study("f.txt", family(NUMBERS), STATE),
    "GDS": own_study("GDS1.soft", data_set(GSM_NUMBERS), STATE, annotation="GDS1.soft"),
    "h5ad": own_study("e.h5ad", h5ad(NUMBERS), "class", annotation="e.h5ad"),
    "h5ad, a layer": own_study("e.h5ad", h5ad(NUMBERS), "class", part="half"),
    "h5ad, sparse": own_study(
        "e.h5ad", h5ad(NUMBERS, X=csr_matrix(np.array(NUMBERS.rows).T)), "class"
    ),
    "Agilent folder": arrays_study(),
    "Agilent folder, a column": arrays_study(
        lambda t: re.sub(r"\t(10\d)\n", r"\t9\1\n", t), part="gProcessedSignal"
    ),
    "Agilent folder, files in the sheet": (
        arrays_study()[0]
        | {
            "s.tsv": tabbed(
                [
                    ["sample", "class", "FileName"],
                    *zip(
                        ["A", *NUMBERS.samples[1:]],
                        NUMBERS.labels,
                        [f"{n}.txt" for n in NUMBERS.samples],
                        strict=True,
                    ),
                ]
            )
        },
        arrays_study(files="FileName")[1],
    ),
    "GenomeStudio": with_sheet("p.txt", {"p.txt": genomestudio(NUMBERS)}, annotation="p.txt"),
    "GenomeStudio without header": with_sheet(
        "p.txt", {"p.txt": genomestudio(NUMBERS, header=False)}
    ),
    "GenomeStudio with commas": with_sheet(
        "p.csv", {"p.csv": genomestudio(NUMBERS).replace("\t", ",")}
    ),
    "BeadStudio": with_sheet("p.txt", {"p.txt": genomestudio(NUMBERS, old=True)}),
}
# Its second column of values is raw, and the same in all arrays.
DOUBTFUL = {"Agilent folder, a column": ("never logged", "the same values")}


@pytest.mark.parametrize("name", STUDIES_OF_ONE_FILE)
def test_a_whole_file_is_a_study(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lay, _ = study(*STUDIES_OF_ONE_FILE[name], [])
    lay(tmp_path)
    code = main(["validate", "config.yaml"])
    out, err = capsys.readouterr()
    expected_words = DOUBTFUL.get(name, ())
    odd = [line for line in err.splitlines() if not any(word in line for word in expected_words)]
    assert (code, odd) == (0, [])
    assert re.search(r"8 samples \(4 normal, 4 tumor; positive: tumor\), [15] genes?\b", out), out
