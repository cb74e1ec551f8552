"""SOFT, h5ad, R, Agilent and Illumina files: what they hold is read, what is broken is one line."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from format_files import (
    Numbers,
    agilent,
    data_set,
    family,
    genomestudio,
    h5ad,
    hdf5,
    series_matrix,
    tabbed,
)
from scipy.sparse import csr_matrix

from genesig.cli import main
from genesig.data.dataset import read_dataset
from genesig.data.readers import read_genes, read_matrix, read_samples, sha256
from genesig.errors import InvalidInput

SHARED = Path(__file__).parents[1] / ".." / "shared" / "data"
R_OBJECTS = Path(__file__).parent / "references" / "r_objects.rda"
NUMBERS = Numbers()
FEWER = Numbers(genes=["g0", "g1"], rows=NUMBERS.rows[:2])
SMALL = {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0}
SHEET = tabbed([["sample", "class"], *zip(NUMBERS.samples, NUMBERS.labels, strict=True)])
Files = dict[str, str | bytes]
Study = tuple[Files, dict[str, Any]]


def _same(name: str, content: str | bytes, label: str, **data: str) -> Study:
    return {name: content}, {"expression": name, "samples": name, "label": label, "data": data}


def _with_sheet(expression: str, files: Files, /, **data: str) -> Study:
    study = {"expression": expression, "samples": "s.tsv", "label": "class", "data": data}
    return files | {"s.tsv": SHEET}, study


def _arrays(change: Callable[[str], str] = str, **data: str) -> Study:
    files: Files = {f"a/{name}.txt": agilent(NUMBERS, k) for k, name in enumerate(NUMBERS.samples)}
    return _with_sheet("a", files | {"a/S3.txt": change(agilent(NUMBERS, 3))}, **data)


def _validate(folder: Path, files: Files, config: dict[str, Any]) -> int:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "c.yaml").write_text(yaml.safe_dump({"splits": SMALL} | config))
    return main(["validate", "c.yaml"])


GSM = Numbers(samples=[f"GSM{k}" for k in range(8)])
STATE = "disease state"
WHOLE: dict[str, Study] = {
    "family": _same("f.soft", family(NUMBERS), STATE, annotation="f.soft", symbol="Gene Symbol"),
    "family named .txt": _same("f.txt", family(NUMBERS), STATE),
    "GDS": _same("GDS1.soft", data_set(GSM), STATE, annotation="GDS1.soft"),
    "h5ad": _same("e.h5ad", h5ad(NUMBERS), "class", annotation="e.h5ad"),
    "h5ad, a layer": _same("e.h5ad", h5ad(NUMBERS), "class", part="half"),
    "h5ad, sparse": _same("e.h5ad", h5ad(NUMBERS, X=csr_matrix(np.array(NUMBERS.rows).T)), "class"),
    "Agilent folder": _arrays(),
    "Agilent folder, a column": _arrays(
        lambda t: re.sub(r"\t(10\d)\n", r"\t9\1\n", t), part="gProcessedSignal"
    ),
    "Agilent folder, files in the sheet": (
        _arrays()[0] | {"s.tsv": tabbed([["sample", "class", "FileName"], *zip(
            ["A", *NUMBERS.samples[1:]], NUMBERS.labels, [f"{n}.txt" for n in NUMBERS.samples],
            strict=True)])},
        _arrays(files="FileName")[1],
    ),
    "GenomeStudio": _with_sheet("p.txt", {"p.txt": genomestudio(NUMBERS)}, annotation="p.txt"),
    "GenomeStudio without header": _with_sheet(
        "p.txt", {"p.txt": genomestudio(NUMBERS, header=False)}
    ),
    "GenomeStudio with commas": _with_sheet(
        "p.csv", {"p.csv": genomestudio(NUMBERS).replace("\t", ",")}
    ),
    "BeadStudio": _with_sheet("p.txt", {"p.txt": genomestudio(NUMBERS, old=True)}),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_file_is_a_study(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = _validate(tmp_path, *WHOLE[name])
    out, err = capsys.readouterr()
    known = ("never logged", "the same values")  # of the second column of the arrays
    odd = [line for line in err.splitlines() if not any(word in line for word in known)]
    assert (code, odd) == (0, [])
    assert re.search(r"8 samples \(4 normal, 4 tumor\), [15] genes?\b", out), out


def _soft(change: Callable[[str], str], **data: str) -> Study:
    return _same("f.soft", change(family(NUMBERS)), STATE, **data)


def _profile(change: Callable[[str], str], **data: str) -> Study:
    return _with_sheet("p.txt", {"p.txt": change(genomestudio(NUMBERS))}, **data)


def _bytes(content: bytes, **data: str) -> Study:
    return _same("e.h5ad", content, "class", **data)


def _r(**data: str) -> Study:
    return _with_sheet("r.rda", {"r.rda": R_OBJECTS.read_bytes()}, **data)


WHOLE_H5AD = h5ad(NUMBERS)
BROKEN: dict[str, tuple[Study, list[str]]] = {
    "soft: two platforms": (
        _same("f.soft", family(NUMBERS, ["GPL1", "GPL2"]), STATE),
        ["holds 2 platforms: GPL1 (4), GPL2 (4)", "choose one by data.part: GPL1"],
    ),
    "soft: another platform": (
        _soft(str, part="GPL3"),
        ["data.part 'GPL3' is not one of its platforms; did you mean 'GPL1'? (GPL1 (8))"],
    ),
    "soft: cut inside a table": (
        _soft(lambda t: t[: t.rindex("g3")]),
        ["f.soft, line ", "the table that begins here has no end", "cut off"],
    ),
    "soft: no values": (
        _soft(lambda t: re.sub(r"g\d\tP.*\n", "", t)),
        ["8 samples without values: 'S0', 'S1', 'S2' and 5 more", "supplementary"],
    ),
    "soft: no column VALUE": (
        _soft(lambda t: t.replace("\tVALUE", "\tSIGNAL")),
        ["the table of S0 has no column VALUE (columns: ID_REF, ABS_CALL, SIGNAL)"],
    ),
    "soft: a probe twice": (
        _soft(lambda t: t.replace("g1\tP", "g0\tP")),
        ["the table of S0 names a probe twice", "download"],
    ),
    "soft: a row too long": (
        _soft(lambda t: t.replace("g1\tP\t7.5\n", "g1\tP\t7.5\t8\n")),
        ["4 fields where the table of S0 has 3"],
    ),
    "soft: a probe missing in a sample": (
        _soft(lambda t: t.replace("g1\tP\t7.5\n", "")),
        ["gene 'g1', sample 'S0': the value is blank"],
    ),
    "soft: a platform alone": (
        _soft(lambda t: t[: t.index("^SAMPLE")]),
        ["f.soft: holds no samples, but 'DATABASE', 'SERIES', 'PLATFORM'"],
    ),
    "soft: another text": (
        _soft(lambda t: "hello\n"),
        ["f.soft: has no line such as ^SERIES = GSE1"],
    ),
    "h5ad: text": (
        _bytes(b"hello"),
        ["e.h5ad: is no HDF5 file", "write_h5ad"],
    ),
    "h5ad: truncated": (
        _bytes(WHOLE_H5AD[: len(WHOLE_H5AD) // 2]),
        ["e.h5ad: is HDF5, but AnnData cannot read it", "truncated?"],
    ),
    "h5ad: other HDF5": (
        _bytes(hdf5(values=np.eye(3))),
        ["e.h5ad: is HDF5, but AnnData cannot read it", "write_h5ad"],
    ),
    "h5ad: no X": (
        _bytes(h5ad(NUMBERS, X=None)),
        ["e.h5ad: has no X; choose a layer by data.part: 'half'"],
    ),
    "h5ad: no X and no layer": (
        _bytes(h5ad(NUMBERS, X=None, layers={})),
        ["e.h5ad: has no X, and no layers"],
    ),
    "h5ad: another layer": (
        _bytes(WHOLE_H5AD, part="haf"),
        ["e.h5ad: data.part 'haf' is not one of its layers; did you mean 'half'?"],
    ),
    "h5ad: missing values": (
        _bytes(h5ad(NUMBERS, X=np.where(np.arange(5) == 2, np.nan, np.array(NUMBERS.rows).T))),
        ["e.h5ad, row 1, gene 'g2', sample 'S0': the value is missing ('nan')", "7 further cells"],
    ),
    "h5ad named .tsv": (
        _same("e.tsv", WHOLE_H5AD, "class"),
        ["e.tsv: is an HDF5 file; if it is an AnnData file, rename it to .h5ad"],
    ),
    "agilent: cut before the spots": (
        _arrays(lambda t: t[: t.index("FEATURES")]),
        ["S3.txt: has no line FEATURES", "cut off"],
    ),
    "agilent: no spots": (
        _arrays(lambda t: t[: t.index("DATA\t1\t")]),
        ["S3.txt: has no spots (lines DATA) below FEATURES"],
    ),
    "agilent: a spot cut off": (
        _arrays(lambda t: t[: t.index("NM_3")]),
        ["S3.txt, line 15: 5 fields where the spots have 7", "cut off"],
    ),
    "agilent: controls only": (
        _arrays(lambda t: re.sub(r"(?m)^(DATA\t\d+)\t0", r"\1\t1", t)),
        ["S3.txt: every spot is a control"],
    ),
    "agilent: no names of probes": (
        _arrays(lambda t: t.replace("ProbeName", "Probe")),
        ["S3.txt: the spots have no column ProbeName", "export it"],
    ),
    "agilent: another column": (
        _arrays(part="gProcesedSignal"),
        ["no column gProcesedSignal; did you mean 'gProcessedSignal'?", "data.part"],
    ),
    "agilent: of another design": (
        _arrays(lambda t: agilent(FEWER, 3)),
        ["S3.txt: is an array of another design than", "3 probes differ"],
    ),
    "agilent: a table in the folder": (
        _arrays(lambda t: series_matrix(NUMBERS)),
        ["S3.txt: holds more than one array", "move it elsewhere"],
    ),
    "agilent: two files of a sample": (
        (lambda s: (s[0] | {"a/S3.tsv": agilent(NUMBERS, 3)}, s[1]))(_arrays()),
        ["a: holds two files of sample 'S3'; keep one"],
    ),
    "agilent: no number": (
        _arrays(lambda t: t.replace("\t0.5\t", "\tx\t").replace("NM_1\t", "NM_1\tx")),
        ["gene 'g1', sample 'S3': the value is 'x", "not a number"],
    ),
    "a folder without arrays": (
        _with_sheet("b", {"b/readme.md": "x"}),
        ["b: is a folder without files of arrays (.txt, .CEL)"],
    ),
    "illumina: no signal of the samples": (
        _profile(str, part="MIN_Signal"),
        ["p.txt, line 4: no column is called '<sample>.MIN_Signal'", "export"],
    ),
    "illumina: another profile": (
        _profile(lambda t: t.replace("AVG_Signal", "Signal")),
        ["p.txt: has no line of column names with AVG_Signal"],
    ),
    "illumina: cut off below the names": (
        _profile(lambda t: t[: t.index("X\tg0")]),
        ["p.txt: has no probes below the column names"],
    ),
    "illumina: no ids": (
        _profile(lambda t: t.replace("PROBE_ID", "A").replace("TargetID", "B")),
        ["p.txt, line 4: has no column of probe ids (PROBE_ID, ProbeID, ID_REF, TargetID)"],
    ),
    "illumina: a row cut off": (
        _profile(lambda t: t.replace("symg2\t", "")),
        ["p.txt, line 4: 18 fields where the header has 19", "cut off"],
    ),
    "R: several objects": (
        _r(),
        ["r.rda: holds 8 objects: 'values', 'eset'", "choose one by data.part"],
    ),
    "R: another object": (
        _r(part="valeus"),
        ["r.rda: data.part 'valeus' is not one of its objects; did you mean 'values'?"],
    ),
    "R: SummarizedExperiment": (
        _r(part="summarized"),
        ["class 'SummarizedExperiment', not a matrix", "saveRDS(assay(x), 'expression.rds')"],
    ),
    "R: a model": (
        _r(part="model"),
        ["class 'list', not a matrix", "saveRDS(as.matrix(x), 'expression.rds')"],
    ),
    "R: no names": (_r(part="bare"), ["the matrix has no names of rows and columns", "dimnames"]),
    "R: text": (_r(part="words"), ["matrix of text', not a matrix, a data.frame"]),
    "R: truncated": (
        _with_sheet("r.rda", {"r.rda": R_OBJECTS.read_bytes()[:900]}),
        ["r.rda: the gzip file is truncated"],
    ),
    "R: other bytes": (
        _with_sheet("r.rds", {"r.rds": b"hello"}),
        ["r.rds: cannot be read as R data", "Save it again, in R: saveRDS("],
    ),
    "R: no table of samples": (
        _same("r.rda", R_OBJECTS.read_bytes(), "class", part="values"),
        ["r.rda: holds no table of samples; save a data.frame or an ExpressionSet"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name.startswith("R:"):
        pytest.importorskip("rdata")
    monkeypatch.chdir(tmp_path)
    study, words = BROKEN[name]
    assert _validate(tmp_path, *study) == 1
    err = capsys.readouterr().err
    lines = [line for line in err.splitlines() if all(word in line for word in words)]
    assert len(lines) == 1, err
    assert lines[0].startswith("error: ")
    assert all(line.startswith(("error: ", "warning: ")) for line in err.splitlines())


def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("genesig.data.formats.rdata.import_module", absent)
    with pytest.raises(InvalidInput, match=r"pip install 'genesig\[r\]'"):
        read_matrix(R_OBJECTS)


def test_r_objects_as_r_made_them() -> None:
    pytest.importorskip("rdata")
    expected = [[1.5, np.nan, 5.0], [2.0, 4.0, 6.25]]
    for part in ("values", "eset", "named"):
        matrix = read_matrix(R_OBJECTS, part)
        assert (matrix.rows, matrix.columns) == (("g1", "g2"), ("a", "b", "c"))
        np.testing.assert_array_equal(matrix.cells, expected)
    beside = read_matrix(R_OBJECTS, "beside")
    assert (beside.rows, beside.columns) == (("g1", "g2"), ("a", "b"))
    table = read_samples(R_OBJECTS, None, "eset")
    assert table.to_dict("list") == {"class": ["x", "y", "x"], "age": ["40", "", "3.5"]}
    assert read_genes(R_OBJECTS, "eset")["symbol"].to_dict() == {"g1": "S1", "g2": "S2"}


def test_a_broken_file_of_several_tables_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "e.h5ad"
    path.write_bytes(b"hello")
    words = {"task": "classification", "classes": None, "group": None, "pair": None,
             "batch": None, "confounding": 0.5,
             "annotation": str(path), "symbol": None, "part": None, "files": None,
             "missing": False}  # fmt: skip
    with pytest.raises(InvalidInput, match="is no HDF5 file") as found:
        read_dataset(str(path), str(path), "class", **words)
    assert len(found.value.problems) == 1


def test_obs_of_an_h5ad_is_text(tmp_path: Path) -> None:
    (tmp_path / "e.h5ad").write_bytes(WHOLE_H5AD)
    table = read_samples(tmp_path / "e.h5ad", None, None)
    assert table["class"].tolist() == NUMBERS.labels
    assert table["age"].tolist() == ["40", "", "41.5"] + ["42"] * 5


def test_a_part_is_another_matrix(tmp_path: Path) -> None:
    (tmp_path / "e.h5ad").write_bytes(WHOLE_H5AD)
    whole, half = read_matrix(tmp_path / "e.h5ad"), read_matrix(tmp_path / "e.h5ad", "half")
    np.testing.assert_array_equal(whole.cells, 2 * half.cells)
    (tmp_path / "p.txt").write_text(genomestudio(NUMBERS))
    assert set(read_matrix(tmp_path / "p.txt", "Detection Pval").cells.ravel()) == {0.01}


def test_spots_of_one_probe_are_their_median(tmp_path: Path) -> None:
    text = agilent(NUMBERS, 0).replace("DATA\t3\t0\tg1\tNM_1", "DATA\t3\t0\tg0\tNM_0")
    (tmp_path / "a.txt").write_text(text.replace("DATA\t4\t0\tg2\tNM_2", "DATA\t4\t0\tg0\tNM_0"))
    matrix = read_matrix(tmp_path / "a.txt")
    assert matrix.rows == ("g0", "g3", "g4")
    assert matrix.cells[0, 0] == sorted(NUMBERS.rows[k][0] for k in range(3))[1]


def test_one_colour_is_its_signal(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(agilent(NUMBERS, 2, colours=1))
    matrix = read_matrix(tmp_path / "a.txt")
    assert matrix.cells[:, 0].tolist() == [row[2] for row in NUMBERS.rows]


def test_the_hash_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1")
    before = sha256(tmp_path)
    (tmp_path / "b.txt").write_text("1")
    with_two = sha256(tmp_path)
    (tmp_path / "b.txt").write_text("2")
    assert len({before, with_two, sha256(tmp_path)}) == 3


def test_a_family_is_what_geoparse_reads(tmp_path: Path) -> None:
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
        found = {spot[6]: float(spot[10]) for spot in spots if spot[5] == "0"}
        assert found == dict(zip(matrix.rows, matrix.cells[:, k].tolist(), strict=True))


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


def test_formats_load_nothing_heavy() -> None:
    module = importlib.import_module("genesig.data.formats.h5ad")
    assert "anndata" not in vars(module)
