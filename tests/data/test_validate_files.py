"""Harmless differences of files are accepted, and doubtful values are warned of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from broken_tables import placed, renamed
from small_study import SAMPLES, Study, as_text, zipped

from genesig.cli import main

Break = Callable[[Study], object]


def _byte_order_mark(study: Study) -> None:
    for name, rows in (("samples.tsv", study.sheet), ("expression.tsv", study.matrix)):
        study.files[name] = b"\xef\xbb\xbf" + as_text(rows)


def _carriage_returns(study: Study) -> None:
    for name, rows in (("samples.tsv", study.sheet), ("expression.tsv", study.matrix)):
        study.files[name] = as_text(rows, end="\r\n")


def _spreadsheet_rest(study: Study) -> None:
    study.files["samples.tsv"] = as_text([[*row, "", ""] for row in study.sheet] + [[""] * 8])


def _no_corner(study: Study) -> None:
    study.files["expression.tsv"] = as_text([study.matrix[0][1:], *study.matrix[1:]])


def _quoted(study: Study) -> None:
    study.files["expression.tsv"] = as_text(
        [[f'"{cell}"' for cell in study.matrix[0]]]
        + [[f'"{row[0]}"', *row[1:]] for row in study.matrix[1:]]
    )


ACCEPTED: dict[str, Break] = {
    "nothing changed": lambda s: None,
    "byte order mark": _byte_order_mark,
    "CRLF": _carriage_returns,
    "old Mac line ends": lambda s: s.files.update({"samples.tsv": as_text(s.sheet, end="\r")}),
    "gzip": placed("expression", "e.tsv.gz", lambda s: zipped(s.matrix)),
    "commas": placed("samples", "s.csv", lambda s: as_text(s.sheet, ",")),
    "European csv": placed("samples", "s.csv", lambda s: as_text(s.sheet, ";")),
    "European csv with decimal commas": placed(
        "expression",
        "e.csv",
        lambda s: as_text(
            [
                s.matrix[0],
                *(
                    [row[0], *(cell.replace(".", ",") + "4" for cell in row[1:])]
                    for row in s.matrix[1:]
                ),
            ],
            ";",
        ),
    ),
    "samples in rows": lambda s: s.matrix.__setitem__(
        slice(None), [list(column) for column in zip(*s.matrix, strict=True)]
    ),
    "empty columns and rows of a spreadsheet": _spreadsheet_rest,
    "R's header without a corner": _no_corner,
    "R's quotes": _quoted,
    "numeric names": lambda s: [renamed(s, n, n.replace("P", "")) for n in SAMPLES],
    "blank lines at the end": lambda s: s.files.update({"samples.tsv": as_text(s.sheet) + b"\n\n"}),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_harmless_differences_are_accepted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(tmp_path)
    ACCEPTED[name](study)
    study.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(
        "config.yaml: 0 errors, 0 warnings; 12 samples (6 normal, 6 tumor; positive: tumor), "
        "8 genes; takes about "
    )


def _extra_sample(study: Study) -> None:
    for row, cell in zip(study.matrix, ["P99", *"12345678"], strict=True):
        row.append(cell)


def _never_measured(study: Study) -> None:
    study.set("data.missing", True)
    study.set("normalise.folds", [{"step": "left_censored"}, {"step": "centre"}])
    study.matrix[2][1:] = [""] * 12


DOUBTFUL_FILES: dict[str, tuple[Break, list[str]]] = {
    "matrix column without a row in the sheet": (
        _extra_sample,
        ["expression.tsv: not in samples.tsv, so left out: 1 column, 'P99'"],
    ),
    "constant genes": (
        lambda s: s.matrix[2].__setitem__(slice(1, None), ["5.5"] * 12),
        ["expression.tsv: with the same value in all samples, so left out: 1 gene, 'gene2'"],
    ),
    "a gene that was never measured": (
        _never_measured,
        ["expression.tsv: blank in all samples, so left out: 1 gene, 'gene2'"],
    ),
    "one gene only": (
        lambda s: s.matrix.__delitem__(slice(2, None)),
        ["expression.tsv: there is one gene only, 'gene1'", "is this the whole matrix?"],
    ),
    "two copies of one sample": (
        lambda s: [row.__setitem__(2, row[1]) for row in s.matrix[1:]],
        ["expression.tsv: samples 'P01' and 'P02' have the same values"],
    ),
    "more copies": (
        lambda s: [row.__setitem__(slice(2, 6), row[1:2] * 4) for row in s.matrix[1:]],
        ["expression.tsv: samples 'P01' and 'P02' have the same values; 3 further pairs, too"],
    ),
    "a signal on a large offset": (
        lambda s: [
            row.__setitem__(slice(1, None), [f"{8 + 1e-10 * float(v):.14f}" for v in row[1:]])
            for row in s.matrix[1:3]
        ],
        ["expression.tsv: 2 genes of 8 vary by less than a billionth of their size"],
    ),
    "genes too small to be told apart": (
        lambda s: s.matrix[2].__setitem__(slice(1, None), [f"{k}e-300" for k in range(1, 13)]),
        ["expression.tsv: with the same value in all samples, so left out: 1 gene, 'gene2'"],
    ),
    "gene names turned into dates": (
        lambda s: s.matrix[2].__setitem__(0, "2-Sep"),
        [
            "expression.tsv, line 3: turned into dates or numbers by a spreadsheet: 1 gene, "
            "'2-Sep'; write the names again, as text"
        ],
    ),
    "a gene in upper and in lower case": (
        lambda s: s.matrix[4].__setitem__(0, "GENE2"),
        [
            "expression.tsv, line 5: gene 'GENE2' differs from 'gene2' only in upper and lower "
            "case; if it is one gene, keep one of them"
        ],
    ),
    "a gene with one blank and with two": (
        lambda s: [s.matrix[k].__setitem__(0, name) for k, name in ((2, "g 2"), (4, "g  2"))],
        ["expression.tsv, line 5: gene 'g  2' differs from 'g 2' only in blanks; if it is one"],
    ),
    "a gene with a digit of full width": (
        lambda s: s.matrix[4].__setitem__(0, "gene\uff12"),
        ["expression.tsv, line 5: gene 'gene\uff12' differs from 'gene2' only in letter width"],
    ),
    "three digits after every comma": (
        lambda s: (
            s.set("expression", "e.csv"),
            s.files.update(
                {
                    "e.csv": as_text(
                        [
                            s.matrix[0],
                            *([r[0], *(c.replace(".", ",") for c in r[1:])] for r in s.matrix[1:]),
                        ],
                        ";",
                    )
                }
            ),
        ),
        [
            "e.csv: '8,691' and every comma here may be one of thousands (8691) or decimal: it is "
            "read as 8.691"
        ],
    ),
    "-999 among negative values": (
        lambda s: [
            row.__setitem__(c, "-999" if c == 3 or k < 2 else f"{float(row[c]) - 8:.3f}")
            for k, row in enumerate(s.matrix[1:])
            for c in range(1, 11)
        ],
        [
            "expression.tsv, line 2, gene 'gene1', sample 'P01': the value -999 (25 further cells) "
            "looks as if it stood for a missing one"
        ],
    ),
    "a sample of zeros among many zeros": (
        lambda s: [
            row.__setitem__(c, "0")
            for k, row in enumerate(s.matrix[1:])
            for c in range(1, 13)
            if c == 3 or (c + k) % 4
        ],
        ["expression.tsv: every value of 'P03' is 0; take such samples out of the sample table"],
    ),
    "never logged": (
        lambda s: [
            row.__setitem__(c, f"{2 ** float(row[c]):.1f}")
            for row in s.matrix[1:]
            for c in range(1, 13)
        ],
        ["expression.tsv:", "never logged", "normalise.samples: [{step: log2}]"],
    ),
    "logged twice": (
        lambda s: s.set("normalise.samples", [{"step": "log2", "floor": 0.001}]),
        ["expression.tsv:", "logged already", "take log2 out of normalise.samples"],
    ),
    "RMA of a table of logarithms": (
        lambda s: s.set("normalise.samples", [{"step": "rma_background"}]),
        ["expression.tsv:", "logged already", "rma_background would take logarithms of log"],
    ),
    "negative values raised to the floor": (
        lambda s: (
            s.set("normalise.samples", [{"step": "log2"}])
            or [
                row.__setitem__(c, f"{2 ** float(row[c]) - 99:.1f}")
                for row in s.matrix[1:]
                for c in range(1, 13)
            ]
        ),
        ["expression.tsv:", "% of the values are negative", "floor"],
    ),
}


@pytest.mark.parametrize("name", DOUBTFUL_FILES)
def test_doubtful_values_are_warned_of(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change, words = DOUBTFUL_FILES[name]
    study = Study(tmp_path)
    change(study)
    study.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith("warning: ") and all(w in line for w in words) for line in lines] == [
        True
    ]


def test_a_file_below_the_home_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(tmp_path)
    for key, name in {
        "expression": "expression.tsv",
        "samples": "samples.tsv",
        "data.annotation": "g.tsv",
        "splits.file": "s.json",
    }.items():
        study.set(key, f"~/{name}")
    genes = [["id", "symbol"], *([row[0], "A"] for row in study.matrix[1:])]
    outer = {"train": SAMPLES[:8], "test": SAMPLES[8:]}
    study.files |= {
        "g.tsv": as_text(genes),
        "s.json": json.dumps({"version": 1, "outer": [outer]}).encode(),
    }
    study.write()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["validate", str(tmp_path / "config.yaml")]) == 0
    assert capsys.readouterr().err == ""


def test_every_fault_of_every_file_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(tmp_path)
    study.sheet[5][0] = "P01"
    study.matrix[3][7] = "hello"
    study.set("linear.tau_mim", 0.1)
    study.set("data.group", "famly")
    study.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    out, err = capsys.readouterr()
    for words in ("linear.tau_mim", "'family'", "P01", "hello"):
        assert words in err
    assert out == "config.yaml: 4 errors, 1 warning\n"
