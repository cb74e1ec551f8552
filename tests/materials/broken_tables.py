"""Broken tables: each fault of a file, its encoding, its names, its cells."""

from __future__ import annotations

from collections.abc import Callable

from broken_study import Broken, spoilt
from small_study import SAMPLES, Study, as_text, zipped

Break = Callable[[Study], object]


def renamed(study: Study, old: str, new: str) -> None:
    for table in (study.sheet, study.matrix):
        for row in table:
            row[:] = [new if cell == old else cell for cell in row]


def _cell(text: str) -> Break:
    def broken(study: Study) -> None:
        study.matrix[3][5] = text

    return broken


def placed(key: str, name: str, make: Callable[[Study], bytes]) -> Break:
    def broken(study: Study) -> None:
        study.set(key, name)
        study.files[name] = make(study)

    return broken


def _columns(study: Study, change: Callable[[str], str]) -> None:
    study.matrix[0][1:] = [change(name) for name in study.matrix[0][1:]]


def _inside(study: Study, key: str, folder: str, name: str) -> None:
    table = study.sheet if key == "samples" else study.matrix
    study.files |= {f"{folder}/{name}": as_text(table), f"{folder}/README.md": b"Data."}
    study.set(key, folder)


CASES: dict[str, tuple[Break, list[str]]] = {
    "a lost decimal point": (
        lambda s: s.matrix[3].__setitem__(2, "79724"),
        ["expression.tsv, gene 'gene3', sample 'P02': the value 79724 lies far above all others "
         "(nine of ten are below ", "; is a decimal point lost? Correct it"]),
    "missing file": (
        lambda s: s.set("expression", "expresion.tsv"),
        ["expresion.tsv: no such file", "did you mean 'expression.tsv'?"],
    ),
    "a folder": (
        lambda s: (s.root / "d.tsv").mkdir() or s.set("samples", "d.tsv"),
        ["d.tsv: is a folder"],
    ),
    "a folder with the one sample table": (
        lambda s: _inside(s, "samples", "d", "samples.tsv"),
        ["error: d: is a folder; name the file in it: d/samples.tsv"],
    ),
    "a folder with the one matrix": (
        lambda s: _inside(s, "expression", "d", "e.tsv"),
        ["error: d: is a folder; name the file in it: d/e.tsv"],
    ),
    "a folder with one file of another format": (
        lambda s: _inside(s, "expression", "d", "e.gct.gz"),
        ["error: d: is a folder; name the file in it: d/e.gct.gz"],
    ),
    "files swapped": (
        lambda s: (s.set("expression", "samples.tsv"), s.set("samples", "expression.tsv")),
        ["error: samples.tsv: is the sample table, and expression.tsv the matrix, as it looks: "
         "expression and samples are swapped; exchange them"],
    ),
    "files swapped, samples in rows": (
        lambda s: (s.set("expression", "samples.tsv"), s.set("samples", "t.tsv"),
                   s.files.update({"t.tsv": as_text([*map(list, zip(*s.matrix, strict=True))])})),
        ["error: samples.tsv: is the sample table, and t.tsv the matrix"],
    ),
    "the label in the matrix": (
        lambda s: (s.files.update({"t.tsv": as_text([*map(list, zip(*s.matrix, strict=True))])}),
                   s.set("expression", "t.tsv"), s.set("label", "gene3")),
        ["error: samples.tsv: label 'gene3' is not a column of samples.tsv"],
    ),
    "files swapped, the label misspelt": (
        lambda s: (s.set("expression", "samples.tsv"), s.set("samples", "expression.tsv"),
                   s.set("label", "diagnosys")),
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
        ["expression.tsv: has a quote that is left open; close every quote, or export"]),
    "a name in quotes of 200000 letters": (
        lambda s: s.matrix[0].__setitem__(3, f'"{"P" * 200_000}"'),
        ["expression.tsv: has a quote that is left open; close every quote, or export"]),
    "a value in quotes of 200000 digits": (
        lambda s: s.matrix[3].__setitem__(3, f'"{"1" * 200_000}"'),
        ["expression.tsv: has a quote that is left open; close every quote, or export"]),
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
    "UTF-16": (
        lambda s: s.files.update({"samples.tsv": as_text(s.sheet).decode().encode("utf-16")}),
        ["samples.tsv: is UTF-16", "save it as UTF-8"],
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
    "column of the sheet named like its first": (
        lambda s: s.sheet[0].__setitem__(2, "sample"),
        ["samples.tsv: column name 'sample' occurs more than once"],
    ),
    "sample not in the matrix": (
        lambda s: s.matrix[0].__setitem__(3, "Q03"),
        ["expression.tsv: 1 of the 12 samples in samples.tsv not found here: 'P03'; add"],
    ),
    "no sample in the matrix": (
        lambda s: _columns(s, lambda name: f"tumour{name}x"),
        ["expression.tsv: no sample of samples.tsv is here", "'P01'", "columns 'tumourP01x'",
         "('tumour' and 'x' is added to all here"],
    ),
    "an end that a pipeline has added": (
        lambda s: _columns(s, lambda name: f"{name}_REP1"),
        ["no sample of samples.tsv is here", "is 'P01_REP1' the sample 'P01'? ('_REP1' is added to "
         "all here; write them alike)"],
    ),
    "an end that the sample table has": (
        lambda s: [renamed(s, n, f"S_{n}") for n in SAMPLES] and _columns(s, lambda name: name[2:]),
        ["no sample of", "is 'P01' the sample 'S_P01'? ('S_' is added to all in that table; write"],
    ),
    "names changed by R": (
        lambda s: ([renamed(s, n, n.replace("P", "")) for n in SAMPLES]
                   and _columns(s, lambda name: f"X{name}")),
        ["expression.tsv: no sample", "is 'X01' the sample '01'?", "check.names=FALSE"],
    ),
    "leading zeros lost": (
        lambda s: _columns(s, lambda name: name.replace("P0", "P")),
        ["expression.tsv: 9 of the 12 samples", "is 'P1' the sample 'P01'?", "leading zeros"],
    ),
    "ambiguous orientation": (
        lambda s: [row.__setitem__(0, n) for row, n in zip(s.matrix[1:], SAMPLES, strict=False)]
        and s.matrix[0].__setitem__(1, "other"),
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
        lambda s: (s.set("label", "age"), s.set("data.task", "regression"),
                   s.sheet[3].__setitem__(5, "1e200")),
        ["samples.tsv, line 4, column 'age': the label of 'P03' is 1e200, larger than any"]),
    "a covariate of 1e200": (
        lambda s: (s.set("data.covariates", ["age"]), s.sheet[3].__setitem__(5, "1e200")),
        ["data.covariates: the value of 'P03' is 1e200, larger than any measurement; the others"]),
    "a weight of 1e200": (
        lambda s: (s.set("data.weights", "age"), s.sheet[3].__setitem__(5, "1e200")),
        ["data.weights: the weight of 'P03' is 1e200, larger than any measurement; each"]),
    "decimal comma": (
        lambda s: [row.__setitem__(c, row[c].replace(".", ",")) for row in s.matrix[1:]
                   for c in range(1, 13)],
        ["line 2, gene 'gene1', sample 'P01'",
         "decimal comma or one of thousands; write 8.691 or 8691",
         "(95 further cells in 8 genes)", "decimal points"],
    ),
    "nothing varies": (
        lambda s: [row.__setitem__(slice(1, None), ["7"] * 12) for row in s.matrix[1:]],
        ["expression.tsv: every gene has the same value in all samples"],
    ),
}  # fmt: skip

TABLES: dict[str, Broken] = {name: spoilt(*case) for name, case in CASES.items()}
