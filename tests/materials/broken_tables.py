"""Broken tables and gene sets: the fault, how its files are laid out, and its message."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from format_files import Numbers, cls, family, gct12, series_matrix
from small_study import GENES, SAMPLES, Study, as_text, write_files, zipped

# What a broken file is to the tests: a way to lay out a study, and the words of its one line.

# Lays a study with one broken file out in an empty folder, its config as config.yaml; the words
# that the one line about it holds.
Lay = Callable[[Path], None]
Broken = tuple[Lay, list[str]]
SMALL = {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0}


def study(files: Mapping[str, bytes | str], config: Mapping[str, Any], words: list[str]) -> Broken:
    """Make a case of files, their config, and the words."""

    def lay(folder: Path) -> None:
        write_files(folder, {**files, "config.yaml": yaml.safe_dump({"splits": SMALL} | config)})

    return lay, words


def spoilt(change: Callable[[Study], object], words: list[str]) -> Broken:
    """Make a case of the small study, with one thing changed."""

    def lay(folder: Path) -> None:
        small = Study(folder)
        change(small)
        small.write()

    return lay, words


# Broken tables: each fault of a file, its encoding, its names, its cells.

Break = Callable[[Study], object]


def renamed(study: Study, old: str, new: str) -> None:
    for table in (study.sheet, study.matrix):
        for row in table:
            row[:] = [new if cell == old else cell for cell in row]


def _cell(text: str) -> Break:
    def broken(study: Study) -> None:
        study.matrix[3][5] = text

    return broken


def placed(key: str, name: str, make_bytes: Callable[[Study], bytes]) -> Break:
    def broken(study: Study) -> None:
        study.set(key, name)
        study.files[name] = make_bytes(study)

    return broken


def _columns(study: Study, change: Callable[[str], str]) -> None:
    study.matrix[0][1:] = [change(name) for name in study.matrix[0][1:]]


def _cells_inside(study: Study, key: str, folder: str, name: str) -> None:
    table = study.sheet if key == "samples" else study.matrix
    study.files |= {f"{folder}/{name}": as_text(table), f"{folder}/README.md": b"Data."}
    study.set(key, folder)


BROKEN_TABLES: dict[str, tuple[Break, list[str]]] = {
    "a lost decimal point": (
        lambda s: s.matrix[3].__setitem__(2, "79724"),
        [
            "expression.tsv, gene 'gene3', sample 'P02': the value 79724 lies far above all others "
            "(nine of ten are below ",
            "; is a decimal point lost? Correct it",
        ],
    ),
    "missing file": (
        lambda s: s.set("expression", "expresion.tsv"),
        ["expresion.tsv: no such file", "did you mean 'expression.tsv'?"],
    ),
    "a folder": (
        lambda s: (s.root / "d.tsv").mkdir() or s.set("samples", "d.tsv"),
        ["d.tsv: is a folder"],
    ),
    "a folder with the one sample table": (
        lambda s: _cells_inside(s, "samples", "d", "samples.tsv"),
        ["error: d: is a folder; name the file in it: d/samples.tsv"],
    ),
    "a folder with the one matrix": (
        lambda s: _cells_inside(s, "expression", "d", "e.tsv"),
        ["error: d: is a folder; name the file in it: d/e.tsv"],
    ),
    "a folder with one file of another format": (
        lambda s: _cells_inside(s, "expression", "d", "e.gct.gz"),
        ["error: d: is a folder; name the file in it: d/e.gct.gz"],
    ),
    "files swapped": (
        lambda s: (s.set("expression", "samples.tsv"), s.set("samples", "expression.tsv")),
        [
            "error: samples.tsv: is the sample table, and expression.tsv the matrix, as it looks: "
            "expression and samples are swapped; exchange them"
        ],
    ),
    "files swapped, samples in rows": (
        lambda s: (
            s.set("expression", "samples.tsv"),
            s.set("samples", "t.tsv"),
            s.files.update({"t.tsv": as_text([*map(list, zip(*s.matrix, strict=True))])}),
        ),
        ["error: samples.tsv: is the sample table, and t.tsv the matrix"],
    ),
    "the label in the matrix": (
        lambda s: (
            s.files.update({"t.tsv": as_text([*map(list, zip(*s.matrix, strict=True))])}),
            s.set("expression", "t.tsv"),
            s.set("label", "gene3"),
        ),
        ["error: samples.tsv: label 'gene3' is not a column of samples.tsv"],
    ),
    "files swapped, the label misspelt": (
        lambda s: (
            s.set("expression", "samples.tsv"),
            s.set("samples", "expression.tsv"),
            s.set("label", "diagnosys"),
        ),
        ["error: samples.tsv: is the sample table, and expression.tsv the matrix"],
    ),
    "unknown ending": (
        lambda s: s.set("expression", "matrix.tvs"),
        ["matrix.tvs: the ending '.tvs' is not known", "did you mean '.tsv'?", ".csv.gz"],
    ),
    "an ending that is nearly one of another format": (
        lambda s: s.set("expression", "e.gcf"),
        ["e.gcf: the ending '.gcf' is not known (known: .tsv", "did you mean '.gct'?"],
    ),
    "a quote that is never closed in the last column": (
        lambda s: s.matrix[3].__setitem__(12, f'"{s.matrix[3][12]}'),
        ["expression.tsv: has a quote that is left open; close every quote, or export"],
    ),
    "a name in quotes of 200000 letters": (
        lambda s: s.matrix[0].__setitem__(3, f'"{"P" * 200_000}"'),
        ["expression.tsv: has a quote that is left open; close every quote, or export"],
    ),
    "a value in quotes of 200000 digits": (
        lambda s: s.matrix[3].__setitem__(3, f'"{"1" * 200_000}"'),
        ["expression.tsv: has a quote that is left open; close every quote, or export"],
    ),
    "a quote that is never closed": (
        placed("expression", "e.csv", lambda s: b'g,a,b\nx,1,"2\ny,3,4\n'),
        ["e.csv: has a quote that is left open; close every quote, or export the table"],
    ),
    "commas in a tsv": (
        lambda s: s.files.update({"expression.tsv": as_text(s.matrix, ",")}),
        ["expression.tsv, line 1:", "promises tabs", "has commas", "rename it to .csv"],
    ),
    "semicolons in a tsv sheet": (
        lambda s: s.files.update({"samples.tsv": as_text(s.sheet, ";")}),
        ["samples.tsv, line 1:", "promises tabs", "has semicolons", "rename it to .csv"],
    ),
    "tabs in a csv": (
        placed("samples", "samples.csv", lambda s: as_text(s.sheet)),
        ["samples.csv, line 1:", "promises commas", "has tabs", "rename it to .tsv"],
    ),
    "one column": (
        lambda s: [row.__delitem__(slice(1, None)) for row in s.sheet],
        ["samples.tsv: label 'diagnosis' is not a column of samples.tsv"],
    ),
    "a control code in a gene": (
        lambda s: s.matrix[1].__setitem__(0, "\x1b[31mgene1"),
        ["expression.tsv: '\\x1b[31mgene1' holds a control code", "write it without"],
    ),
    "the sample names once more": (
        lambda s: s.sheet.extend([list(row) for row in s.sheet[1:]]),
        ["samples.tsv, line 14: sample 'P01' is already on line 2; 11 further lines, too; each"],
    ),
    "truncated gzip": (
        placed("expression", "e.tsv.gz", lambda s: zipped(s.matrix)[:-20]),
        ["e.tsv.gz: the gzip file is truncated", "again"],
    ),
    "damaged gzip": (
        placed("expression", "e.tsv.gz", lambda s: zipped(s.matrix)[:-8] + b"\0" * 8),
        ["e.tsv.gz: the gzip file is damaged", "again"],
    ),
    "not gzip": (
        placed("expression", "e.tsv.gz", lambda s: as_text(s.matrix)),
        ["e.tsv.gz: is named .gz but is not gzip; rename it"],
    ),
    "empty file": (
        lambda s: s.files.update({"expression.tsv": b""}),
        ["expression.tsv: is empty", "header line"],
    ),
    "header only": (
        lambda s: s.files.update({"samples.tsv": b"sample\tdiagnosis\n"}),
        ["samples.tsv: has a header line but no rows"],
    ),
    "Excel workbook": (
        lambda s: s.files.update({"samples.tsv": b"PK\x03\x04rest"}),
        ["samples.tsv: is an Excel workbook", "save the sheet as tab-separated text"],
    ),
    "a part of a table": (
        lambda s: s.set("data.part", "GPL96"),
        ["expression.tsv: is a table (.tsv), which has no parts; take data.part 'GPL96' away"],
    ),
    "UTF-16 that is cut off": (
        lambda s: s.files.update({"samples.tsv": as_text(s.sheet).decode().encode("utf-16")[:-1]}),
        ["samples.tsv: is UTF-16", "cut off or damaged", "save it again, as UTF-8"],
    ),
    "Latin-1": (
        lambda s: s.files.update({"samples.tsv": as_text(s.sheet) + b"P\xe9\t\t\t\t\t\n"}),
        ["samples.tsv, line 14: byte 0xe9 is not UTF-8", "save the file as UTF-8"],
    ),
    "line cut off": (
        lambda s: s.matrix[4].pop(),
        ["expression.tsv, line 5: 12 fields where the header has 13", "cut off"],
    ),
    "genes that repeat one name": (
        lambda s: [row.__setitem__(0, "gene2") for row in s.matrix[1:7]],
        ["expression.tsv: gene id 'gene2' occurs 6 times (lines 2, 3, 4)", "an id of its own"],
    ),
    "duplicated sample in the sheet": (
        lambda s: s.sheet[5].__setitem__(0, "P01"),
        ["samples.tsv, line 6: sample 'P01' is already on line 2", "name of its own"],
    ),
    "blank sample name": (
        lambda s: s.sheet[5].__setitem__(0, ""),
        ["samples.tsv, line 6: the sample name (column 'sample') is blank"],
    ),
    "duplicated sample in the matrix": (
        lambda s: [row.append(row[1]) for row in s.matrix],
        ["expression.tsv: sample 'P01' occurs more than once", "keep one column"],
    ),
    "two columns with the name of the label": (
        lambda s: [row.append("diagnosis" if k == 0 else "x") for k, row in enumerate(s.sheet)],
        [
            "samples.tsv: label 'diagnosis': 2 columns have this name; name one of them: "
            "'diagnosis (column 2)'"
        ],
    ),
    "sample not in the matrix": (
        lambda s: s.matrix[0].__setitem__(3, "Q03"),
        ["expression.tsv: 1 of the 12 samples in samples.tsv not found here: 'P03'; add"],
    ),
    "no sample in the matrix": (
        lambda s: _columns(s, lambda name: f"tumour{name}x"),
        [
            "expression.tsv: no sample of samples.tsv is here",
            "'P01'",
            "columns 'tumourP01x'",
            "('tumour' and 'x' is added to all here",
        ],
    ),
    "an end that a pipeline has added": (
        lambda s: _columns(s, lambda name: f"{name}REP1"),
        [
            "no sample of samples.tsv is here",
            "is 'P01REP1' the sample 'P01'? ('REP1' is added to all here; write them alike)",
        ],
    ),
    "an end that the sample table has": (
        lambda s: [renamed(s, n, f"S{n}") for n in SAMPLES] and _columns(s, lambda name: name[1:]),
        ["no sample of", "is 'P01' the sample 'SP01'? ('S' is added to all in that table; write"],
    ),
    "names changed by R": (
        lambda s: (
            [renamed(s, n, n.replace("P", "")) for n in SAMPLES]
            and _columns(s, lambda name: f"X{name}")
        ),
        ["expression.tsv: no sample", "is 'X01' the sample '01'?", "check.names=FALSE"],
    ),
    "leading zeros lost": (
        lambda s: _columns(s, lambda name: name.replace("P0", "P")),
        ["expression.tsv: 9 of the 12 samples", "is 'P1' the sample 'P01'?", "leading zeros"],
    ),
    "ambiguous orientation": (
        lambda s: (
            [row.__setitem__(0, n) for row, n in zip(s.matrix[1:], SAMPLES, strict=False)]
            and s.matrix[0].__setitem__(1, "other")
        ),
        ["expression.tsv: cannot tell samples from genes", "11 are column names and 8 are row"],
    ),
    "word in a cell": (
        _cell("hello"),
        ["expression.tsv, line 4, gene 'gene3', sample 'P05': the value is 'hello'", "number"],
    ),
    "blank cell": (
        _cell(""),
        ["line 4, gene 'gene3', sample 'P05': the value is blank", "fill it in"],
    ),
    "NaN cell": (
        _cell("NaN"),
        ["line 4, gene 'gene3', sample 'P05': the value is missing ('NaN')"],
    ),
    "infinite cell": (
        _cell("-inf"),
        ["line 4, gene 'gene3', sample 'P05': the value is infinite ('-inf')", "finite number"],
    ),
    "huge cell": (
        _cell("-1e308"),
        ["gene 'gene3', sample 'P05': the value is -1e+308, larger than any", "correct it"],
    ),
    "number too large": (
        _cell("1e999"),
        ["line 4, gene 'gene3', sample 'P05': the value is 1e999, larger than any"],
    ),
    "a label of 1e200": (
        lambda s: (
            s.set("label", "age"),
            s.set("data.task", "regression"),
            s.sheet[3].__setitem__(5, "1e200"),
        ),
        ["samples.tsv, line 4, column 'age': the label of 'P03' is 1e200, larger than any"],
    ),
    "a covariate of 1e200": (
        lambda s: (s.set("data.covariates", ["age"]), s.sheet[3].__setitem__(5, "1e200")),
        ["data.covariates: the value of 'P03' is 1e200, larger than any measurement; the others"],
    ),
    "a weight of 1e200": (
        lambda s: (s.set("data.weights", "age"), s.sheet[3].__setitem__(5, "1e200")),
        ["data.weights: the weight of 'P03' is 1e200, larger than any measurement; each"],
    ),
    "decimal comma": (
        lambda s: [
            row.__setitem__(c, row[c].replace(".", ","))
            for row in s.matrix[1:]
            for c in range(1, 13)
        ],
        [
            "line 2, gene 'gene1', sample 'P01'",
            "decimal comma or one of thousands; write 8.691 or 8691",
            "(95 further cells in 8 genes)",
            "decimal points",
        ],
    ),
    "nothing varies": (
        lambda s: [row.__setitem__(slice(1, None), ["7"] * 12) for row in s.matrix[1:]],
        ["expression.tsv: every gene has the same value in all samples"],
    ),
}

TABLES: dict[str, Broken] = {name: spoilt(*case) for name, case in BROKEN_TABLES.items()}


# What people have in place of a file: web pages, archives, half a download; impossible values.

NUMBERS = Numbers()
PAGE = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


def _matrix_instead(name: str, content: Callable[[Study], bytes], words: list[str]) -> Broken:
    return spoilt(placed("expression", name, content), words)


def _cells(change: Callable[[str], str], step: int, words: list[str]) -> Broken:
    """Change every so many-th number of the matrix."""

    def broken(small: Study) -> None:
        for k, row in enumerate(small.matrix[1:]):
            for c in range(1, len(row)):
                if (k * len(row) + c) % step == 0:
                    row[c] = change(row[c])

    return spoilt(broken, words)


def _counts(change: Callable[[str], str], step: int, words: list[str]) -> Broken:
    """Make the matrix one of whole numbers, and change some."""

    def broken(small: Study) -> None:
        for k, row in enumerate(small.matrix[1:]):
            for c in range(1, len(row)):
                row[c] = str(int(100 * float(row[c])))
                if (k * len(row) + c) % step == 0:
                    row[c] = change(row[c])
        small.set("normalise.samples", [{"step": "log_cpm"}])

    return spoilt(broken, words)


def _whole(small: Study) -> None:
    for row in small.matrix[1:]:
        row[1:] = [str(round(1000 * float(cell))) for cell in row[1:]]


def _annotation(content: bytes | None, words: list[str], **data: str) -> Broken:
    def broken(small: Study) -> None:
        small.set("data", {"annotation": "g.tsv", **data})
        if content is not None:
            small.files["g.tsv"] = content

    return spoilt(broken, words)


def _splits(content: bytes, words: list[str]) -> Broken:
    def broken(small: Study) -> None:
        small.set("splits.file", "s.json")
        small.files["s.json"] = content

    return spoilt(broken, words)


def _cut(name: str, text: str, label: str, samples: str | None = None) -> Broken:
    content = gzip.compress(text.encode(), mtime=0)
    config = {"expression": name, "samples": samples or name, "label": label}
    files: dict[str, bytes | str] = {name: content[: len(content) // 2], "c.cls": cls(NUMBERS)}
    words = [f"{name}: the gzip file is truncated (it ends too early); copy or download it again"]
    return study(files, config, words)


PLACED_GENES = as_text([["id", "symbol"], *([f"gene{k}", f"SYM{k}"] for k in range(1, 9))])
OUTER = {"train": SAMPLES[:8], "test": SAMPLES[8:]}
PLACES: dict[str, Broken] = {
    "a web page": _matrix_instead(
        "e.tsv", lambda s: PAGE, ["e.tsv: is a web page (HTML)", "download the file itself"]
    ),
    "a web page named .gz": _matrix_instead(
        "e.tsv.gz", lambda s: PAGE, ["e.tsv.gz: is named .gz but is not gzip"]
    ),
    "a pointer of Git LFS": _matrix_instead(
        "e.tsv", lambda s: POINTER, ["e.tsv: is a pointer of Git LFS", "git lfs pull"]
    ),
    "packed twice": _matrix_instead(
        "e.tsv.gz",
        lambda s: gzip.compress(zipped(s.matrix)),
        ["e.tsv.gz: is packed twice", "gunzip"],
    ),
    "an archive of files": _matrix_instead(
        "e.tar.gz",
        lambda s: zipped(s.matrix),
        ["e.tar.gz: the ending '.tar' is not known", "unpack"],
    ),
    "a zip file named .gz": _matrix_instead(
        "e.tsv.gz", lambda s: b"PK\3\4rest", ["e.tsv.gz: is named .gz but is not gzip"]
    ),
    "a PDF": _matrix_instead(
        "e.txt", lambda s: b"%PDF-1.4\n%\xe2\xe3", ["e.txt: is a PDF", "table"]
    ),
    "a workbook's ending": _matrix_instead(
        "e.xls", lambda s: b"PK\3\4", ["e.xls: is no Excel workbook, or damaged", "its sheet"]
    ),
    "zeros, as of a disk that was full": _matrix_instead(
        "e.tsv", lambda s: as_text(s.matrix)[:200] + b"\0" * 400, ["e.tsv", "again"]
    ),
    "one decimal comma": _cells(
        lambda text: text.replace(".", ","),
        50,
        ["expression.tsv, line 5, gene 'gene4', sample 'P11'", "a decimal comma or one", "points"],
    ),
    **{
        f"signs of thousands: {text}": _cells(
            lambda _, text=text: text,
            1,
            ["expression.tsv, line 2, gene 'gene1', sample 'P01': the value is ", written, advice],
        )
        for text, written, advice in (
            ("3,252.9", "with signs of thousands; write 3252.9", "export the table without them"),
            ("3.252,9", "thousands and a decimal comma; write 3252.9", "with decimal points"),
            (
                "1.252.900",
                "with signs of thousands; write 1252900",
                "export the table without them",
            ),
            ("3'252.9", "with signs of thousands; write 3252.9", "export the table without them"),
        )
    },
    "decimal commas and points in a European csv": spoilt(
        placed(
            "expression",
            "e.csv",
            lambda s: as_text(
                [
                    [cell.replace(".", ",") if k % 3 == 2 else cell for k, cell in enumerate(row)]
                    for row in s.matrix
                ],
                ";",
            ),
        ),
        ["e.csv, line 2, gene 'gene1', sample 'P02'", "with a decimal comma or one of thousands"],
    ),
    "thousands separated in a European csv": spoilt(
        placed(
            "expression",
            "e.csv",
            lambda s: as_text(
                [
                    s.matrix[0],
                    *(
                        [row[0], *(f"1.000,{k}" for k in range(len(row) - 1))]
                        for row in s.matrix[1:]
                    ),
                ],
                ";",
            ),
        ),
        ["e.csv, line 2, gene 'gene1', sample 'P01'", "is '1.000,0', with signs of thousands"],
    ),
    "thousands separated": _cells(
        lambda text: f"1,{text}",
        50,
        ["expression.tsv, line 5, gene 'gene4', sample 'P11'", "'1,"],
    ),
    "a negative count": _counts(
        lambda text: f"-{text}", 50, ["expression.tsv", "gene 'gene4', sample 'P11'", "negative"]
    ),
    "a sample without a count": spoilt(
        lambda s: (
            _whole(s),
            [row.__setitem__(5, "0") for row in s.matrix[1:]],
            s.set("normalise.samples", [{"step": "log_cpm"}]),
        ),
        ["expression.tsv: every value of 'P05' is 0; take such samples out of the sample table"],
    ),
    "a sample of blanks": spoilt(
        lambda s: (
            [row.__setitem__(5, "") for row in s.matrix[1:]],
            s.set("data.missing", True),
            s.set("normalise.folds", [{"step": "knn_impute"}, {"step": "centre"}]),
        ),
        ["expression.tsv: every value of 'P05' is missing; take such samples out of the sample"],
    ),
    "a sample of zeros": spoilt(
        lambda s: [row.__setitem__(5, "0") for row in s.matrix[1:]],
        ["expression.tsv: every value of 'P05' is 0; take such samples out of the sample table"],
    ),
    "log CPM of logarithms": spoilt(
        lambda s: s.set("normalise.samples", [{"step": "log_cpm"}]),
        [
            "expression.tsv: the values cannot be counts: most are no whole numbers "
            "(99th percentile ",
            "take log_cpm out of normalise.samples",
        ],
    ),
    "-999 for what is missing": spoilt(
        lambda s: [row.__setitem__(3, "-999") for row in s.matrix[2:]],
        [
            "expression.tsv, line 3, gene 'gene2', sample 'P03': the value -999 (6 further cells) "
            "looks as if it stood for a missing one; write NA there, and have it filled in"
        ],
    ),
    "commas of thousands in a European csv": spoilt(
        lambda s: (
            _whole(s),
            [
                row.__setitem__(
                    slice(1, None),
                    [f"{int(cell) // (30 if row[0] == 'gene3' else 1):,}" for cell in row[1:]],
                )
                for row in s.matrix[1:]
            ],
            s.set("expression", "e.csv"),
            s.files.update({"e.csv": as_text(s.matrix, ";")}),
        ),
        [
            "e.csv, line 2: '8,691' and every comma here may be one of thousands (8691) "
            "or a decimal "
            "one; export the table without the former and with decimal points"
        ],
    ),
    "a label that occurs once": spoilt(
        lambda s: s.column("diagnosis", ["normal", *["tumor"] * 11]),
        [
            "samples.tsv, column 'diagnosis': class 'normal' has 1 sample; nested"
            " cross-validation needs at least 3"
        ],
    ),
    "a label without a second value": spoilt(
        lambda s: s.column("diagnosis", ["tumor"] * 12),
        ["samples.tsv, column 'diagnosis': every sample is 'tumor'; two classes are needed"],
    ),
    "series matrix.gz cut short": _cut(
        "GSE1_series_matrix.txt.gz", series_matrix(NUMBERS), "disease state"
    ),
    "SOFT.gz cut short": _cut("GSE1_family.soft.gz", family(NUMBERS), "disease state"),
    "GCT.gz cut short": _cut("e.gct.gz", gct12(NUMBERS), "class", "c.cls"),
    "a gene table that is not there": _annotation(None, ["g.tsv: no such file", "looked for in"]),
    "a gene table of other genes": _annotation(
        PLACED_GENES.replace(b"gene", b"probe"),
        ["g.tsv: no gene of the matrix is in column 'id'", "'gene1'", "'probe1'"],
    ),
    "a gene table of one column": _annotation(
        b"id\ngene1\n", ["g.tsv: needs two columns: gene id and symbol"]
    ),
    "a gene table without the column": _annotation(
        PLACED_GENES,
        ["g.tsv: data.symbol 'symbl' is not a column of g.tsv; did you mean 'symbol'?"],
        symbol="symbl",
    ),
    "splits cut short": _splits(
        json.dumps({"version": 1, "outer": [OUTER]}).encode()[:-20], ["s.json", "is not JSON"]
    ),
    "splits of a list": _splits(b"[1, 2]", ["s.json"]),
    "splits of another sample": _splits(
        json.dumps({"version": 1, "outer": [OUTER | {"test": [*SAMPLES[8:11], "Q1"]}]}).encode(),
        ["s.json, split split1: 'Q1' of train or test is not a sample"],
    ),
}


# Broken files of gene sets, named by structured.sets.

GOOD = "".join(f"set{k}\tabout\t" + "\t".join(GENES[k : k + 4]) + "\n" for k in range(3))
GMX = "a\tb\nabout\tabout\n" + "".join(f"{gene}\t{gene}\n" for gene in GENES)


def _broken(
    content: str | bytes, words: list[str], name: str = "sets.gmt", **options: Any
) -> Broken:
    def change(study: Study) -> None:
        study.set("structured", {"sets": name, "smallest": 2, **options})
        study.files[name] = content if isinstance(content, bytes) else content.encode()

    return spoilt(change, words)


def _named(name: str, words: list[str]) -> Broken:
    return spoilt(lambda study: study.set("structured", {"sets": name}), words)


def _in_folder(study: Study) -> None:
    study.set("structured", {"sets": "sets"})
    study.files["sets/sets.gmt"] = GOOD.encode()


def _upper(text: str) -> str:
    return text.replace("gene", "GENE")


def _sets_table(column: str, words: list[str], cells: str = "aabbccaabbccaabbccaabbcc") -> Broken:
    rows = [f"{gene}\t{cell.strip()}" for gene, cell in zip(GENES, cells, strict=False)]
    return _broken("\n".join(["gene\tlayer", *rows]) + "\n", words, "t.tsv", column=column)


SETS: dict[str, Broken] = {
    "no such column": _sets_table("Layer", ["t.tsv", "no column 'Layer'", "did you mean 'layer'?"]),
    "a blank column": _sets_table("layer", ["column 'layer' is blank", "with values"], " " * 24),
    "a column of names": _sets_table(
        "layer", ["hardly two genes for each", "groups"], "abcdefghijklm"
    ),
    "a column of no table": spoilt(
        lambda study: study.set("structured", {"column": "layer"}),
        ["structured.column", "set structured.sets to its file"],
    ),
    "a column of a GMT": _broken(GOOD, ["sets.gmt", "ending"], column="layer"),
    "an ending that is not known": _broken(GOOD, ["sets.tsv", "'.tsv'", "save"], "sets.tsv"),
    "no ending": _broken(GOOD, ["no ending", "save"], "sets"),
    "a folder": spoilt(_in_folder, ["sets", "is a folder", "name the file"]),
    "a file that is not there": _named("gone.gmt", ["gone.gmt", "no such file"]),
    "empty": _broken("", ["sets.gmt", "is empty", "copy"]),
    "a web page": _broken("<!DOCTYPE html>\n<html></html>\n", ["web page", "download"]),
    "a workbook": _broken(b"PK\x03\x04" + bytes(99), ["Excel", "save"]),
    "zero bytes": _broken(GOOD.encode() + bytes(9), ["sets.gmt, line 4", "zero bytes", "copy"]),
    "cut-off gzip": _broken(gzip.compress(GOOD.encode())[:-9], ["truncated", "copy"], "s.gmt.gz"),
    "no gzip": _broken(GOOD, ["not gzip", "rename"], "s.gmt.gz"),
    "commas": _broken(GOOD.replace("\t", ","), ["line 1", "no tab", "needs"]),
    "JSON": _broken('{"set0": ["gene1"]}\n', ["line 1", "no tab", "needs"]),
    "random bytes": _broken(bytes(range(128, 256)) * 9, ["line 1", "no tab", "needs"]),
    "a name twice": _broken(GOOD + GOOD, ["set 'set0' occurs 2 times", "line 1, line 4", "keep"]),
    "a set without a name": _broken("\tabout\tgene1\tgene2\n" + GOOD, ["no name", "give"]),
    "sets without genes": _broken("a\tabout\nb\tabout\n", ["no set has a gene", "needs"]),
    "a matrix": _broken(
        "".join(f"{g}\t1.5\t2.5\t3.25\n" for g in GENES),
        ["are numbers", "expression matrix", "Name"],
    ),
    "genes of another platform": _broken(
        "a\tx\tTP53\tMYC\nb\tx\tEGFR\tKRAS\n",
        ["none of its 4 genes", "'TP53'", "set data.annotation"],
    ),
    "genes in capitals": _broken(_upper(GOOD), ["upper and lower case differ", "take"]),
    "sets too small": _broken(
        GOOD, ["5 to 500 measured genes", "largest has 4", "set"], smallest=5
    ),
    "columns under the name of a GMT": _broken(
        "\n".join("\t".join([gene] * 2 + GENES[:2]) for gene in GENES),
        ["rows and columns look exchanged", "rename", ".gmx"],
    ),
    "rows under the name of a GMX": _broken(
        "\n".join("\t".join(GENES[k : k + 4]) for k in (0, 2, 4)),
        ["look exchanged", ".gmt"],
        "s.gmx",
    ),
    "GMX of two lines": _broken("a\tb\nx\ty\n", ["has 2 lines", "needs"], "sets.gmx"),
    "a column of a GMX without a set": _broken(
        GMX.replace("gene3\tgene3", "gene3\tgene3\tgene4"), ["line 5", "3 fields", "give"], "s.gmx"
    ),
    "sizes that exclude each other": _broken(
        GOOD, ["structured.smallest", "no set can have both", "lower"], smallest=9, largest=3
    ),
}
