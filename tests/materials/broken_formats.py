"""Broken SOFT, h5ad, R, Agilent, Illumina, GEO series matrix, GCT and CLS files."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from broken_tables import Broken, study
from format_files import (
    Numbers,
    agilent,
    cls,
    data_set,
    family,
    gct12,
    genomestudio,
    h5ad,
    hdf5,
    series_matrix,
    tabbed,
)
from places import TESTS

# Broken SOFT, h5ad, R, Agilent and Illumina files.

R_OBJECTS = TESTS / "references" / "r_objects.rda"
WEAK_REFERENCE = b"X\n" + struct.pack(">7i", 2, 0x30602, 0x20300, 23, 0, 0, 0)
"""An RDS file, version 2, whose object only R itself can hold."""
ARRAY_NUMBERS = Numbers()
GSM_NUMBERS = Numbers(samples=[f"GSM{k}" for k in range(8)])
FEWER = Numbers(genes=["g0", "g1"], rows=ARRAY_NUMBERS.rows[:2])
STATE = "disease state"
SHEET = tabbed(
    [["sample", "class"], *zip(ARRAY_NUMBERS.samples, ARRAY_NUMBERS.labels, strict=True)]
)
Files = dict[str, str | bytes]
StudyFiles = tuple[Files, dict[str, Any]]


def own_study(name: str, content: str | bytes, label: str, **data: str) -> StudyFiles:
    return {name: content}, {"expression": name, "samples": name, "label": label, "data": data}


def with_sheet(expression: str, files: Files, /, **data: str) -> StudyFiles:
    study = {"expression": expression, "samples": "s.tsv", "label": "class", "data": data}
    return files | {"s.tsv": SHEET}, study


def arrays_study(change: Callable[[str], str] = str, **data: str) -> StudyFiles:
    files: Files = {
        f"a/{name}.txt": agilent(ARRAY_NUMBERS, k) for k, name in enumerate(ARRAY_NUMBERS.samples)
    }
    return with_sheet("a", files | {"a/S3.txt": change(agilent(ARRAY_NUMBERS, 3))}, **data)


def _soft(change: Callable[[str], str], **data: str) -> StudyFiles:
    return own_study("f.soft", change(family(ARRAY_NUMBERS)), STATE, **data)


def _profile(change: Callable[[str], str], **data: str) -> StudyFiles:
    return with_sheet("p.txt", {"p.txt": change(genomestudio(ARRAY_NUMBERS))}, **data)


def _bytes(content: bytes, **data: str) -> StudyFiles:
    return own_study("e.h5ad", content, "class", **data)


def _r(**data: str) -> StudyFiles:
    return with_sheet("r.rda", {"r.rda": R_OBJECTS.read_bytes()}, **data)


WHOLE_H5AD = h5ad(ARRAY_NUMBERS)
ARRAY_CASES: dict[str, tuple[StudyFiles, list[str]]] = {
    "soft: two platforms": (
        own_study("f.soft", family(ARRAY_NUMBERS, ["GPL1", "GPL2"]), STATE),
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
    "soft: a sample behind a table without its end": (
        _soft(lambda t: re.sub(r"(?i)!sample_table_end\n", "", t, count=1)),
        ["f.soft, line ", "the table that begins here has no end", "cut off"],
    ),
    "soft: no values": (
        _soft(lambda t: re.sub(r"g\d\tP.*\n", "", t)),
        ["8 samples without values: 'S0', 'S1', 'S2' and 5 more", "supplementary"],
    ),
    "soft: tables of blank lines": (
        _soft(lambda t: re.sub(r"ID_REF.*\n(g.*\n)+", "\n\n", t)),
        ["f.soft, line ", "the table of S0 is empty", "download"],
    ),
    "soft: no column VALUE": (
        _soft(lambda t: t.replace("\tVALUE", "\tSIGNAL")),
        ["the table of S0 has no column VALUE (columns: ID_REF, ABS_CALL, SIGNAL)"],
    ),
    "soft: a probe twice": (
        _soft(lambda t: t.replace("g1\tP", "g0\tP")),
        ["the table of S0 names a probe twice", "download"],
    ),
    "soft: a sample twice": (
        _soft(lambda t: t.replace("^SAMPLE = S1", "^SAMPLE = S0")),
        ["f.soft: sample 'S0' stands there twice; keep one"],
    ),
    "soft: a probe twice in a data set": (
        own_study("d.soft", data_set(GSM_NUMBERS).replace("g1\tsymg1\t", "g0\tsymg0\t"), STATE),
        ["the table of GDS1 names a probe twice", "download"],
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
        _bytes(h5ad(ARRAY_NUMBERS, X=None)),
        ["e.h5ad: has no X; choose a layer by data.part: 'half'"],
    ),
    "h5ad: no X and no layer": (
        _bytes(h5ad(ARRAY_NUMBERS, X=None, layers={})),
        ["e.h5ad: has no X, and no layers"],
    ),
    "h5ad: another layer": (
        _bytes(WHOLE_H5AD, part="haf"),
        ["e.h5ad: data.part 'haf' is not one of its layers; did you mean 'half'?"],
    ),
    "h5ad: missing values": (
        _bytes(
            h5ad(
                ARRAY_NUMBERS, X=np.where(np.arange(5) == 2, np.nan, np.array(ARRAY_NUMBERS.rows).T)
            )
        ),
        ["e.h5ad, row 1, gene 'g2', sample 'S0': the value is missing ('nan')", "7 further cells"],
    ),
    "h5ad named .tsv": (
        own_study("e.tsv", WHOLE_H5AD, "class"),
        ["e.tsv: is an HDF5 file; if it is an AnnData file, rename it to .h5ad"],
    ),
    "agilent: cut before the spots": (
        arrays_study(lambda t: t[: t.index("FEATURES")]),
        ["S3.txt: has no line FEATURES", "cut off"],
    ),
    "agilent: no spots": (
        arrays_study(lambda t: t[: t.index("DATA\t1\t")]),
        ["S3.txt: has no spots (lines DATA) below FEATURES"],
    ),
    "agilent: a spot cut off": (
        arrays_study(lambda t: t[: t.index("NM_3")]),
        ["S3.txt, line 15: 5 fields where the spots have 7", "cut off"],
    ),
    "agilent: controls only": (
        arrays_study(lambda t: re.sub(r"(?m)^(DATA\t\d+)\t0", r"\1\t1", t)),
        ["S3.txt: every spot is a control"],
    ),
    "agilent: no names of probes": (
        arrays_study(lambda t: t.replace("ProbeName", "Probe")),
        ["S3.txt: the spots have no column ProbeName", "export it"],
    ),
    "agilent: another column": (
        arrays_study(part="gProcesedSignal"),
        ["no column gProcesedSignal; did you mean 'gProcessedSignal'?", "data.part"],
    ),
    "agilent: of another design": (
        arrays_study(lambda t: agilent(FEWER, 3)),
        ["S3.txt: is an array of another design than", "3 probes differ"],
    ),
    "agilent: a table in the folder": (
        arrays_study(lambda t: series_matrix(ARRAY_NUMBERS)),
        ["S3.txt: holds more than one array", "name this file alone, or move it elsewhere"],
    ),
    "agilent: two files of a sample": (
        (lambda s: (s[0] | {"a/S3.tsv": agilent(ARRAY_NUMBERS, 3)}, s[1]))(arrays_study()),
        ["a: holds two files of sample 'S3'; keep one"],
    ),
    "agilent: no number": (
        arrays_study(lambda t: t.replace("\t0.5\t", "\tx\t").replace("NM_1\t", "NM_1\tx")),
        ["gene 'g1', sample 'S3': the value is 'x", "not a number"],
    ),
    "a folder without arrays": (
        with_sheet("b", {"b/readme.md": "x"}),
        ["b: is a folder without files of arrays (.txt, .CEL, .idat)"],
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
        ["holds no assay", "saveRDS(assay(x), 'expression.rds')"],
    ),
    "R: a model": (
        _r(part="model"),
        ["class 'list', not a matrix", "saveRDS(as.matrix(x), 'expression.rds')"],
    ),
    "R: no names": (_r(part="bare"), ["the matrix has no names of rows and columns", "dimnames"]),
    "R: text": (_r(part="words"), ["matrix of text', not a matrix, a data.frame"]),
    "R: truncated": (
        with_sheet("r.rda", {"r.rda": R_OBJECTS.read_bytes()[:900]}),
        ["r.rda: the gzip file is truncated"],
    ),
    "R: other bytes": (
        with_sheet("r.rds", {"r.rds": b"hello"}),
        ["r.rds: cannot be read as R data", "Save it again, in R: saveRDS("],
    ),
    "R: a weak reference": (
        with_sheet("r.rds", {"r.rds": WEAK_REFERENCE}),
        ["r.rds: holds R objects that cannot be read outside R", "saveRDS(exprs(x)"],
    ),
    "R: no table of samples": (
        own_study("r.rda", R_OBJECTS.read_bytes(), "class", part="values"),
        ["r.rda: holds no table of samples; save a data.frame or an ExpressionSet"],
    ),
}

ARRAYS_AND_OBJECTS: dict[str, Broken] = {
    name: study(*case, words) for name, (case, words) in ARRAY_CASES.items()
}


# Broken series matrices of GEO, GCT and CLS files.

SERIES = "GSE1_series_matrix.txt"
GCT = "e.gct"
GEO_NUMBERS = Numbers()


def series_study(change: Callable[[str], str]) -> tuple[dict[str, str], dict[str, object]]:
    study = {"expression": SERIES, "samples": SERIES, "label": "disease state"}
    return {SERIES: change(series_matrix(GEO_NUMBERS))}, study


def gct_study(change: Callable[[str], str], classes: str = cls(GEO_NUMBERS)) -> tuple[dict, dict]:  # type: ignore[type-arg]
    study = {"expression": GCT, "samples": "c.cls", "label": "class"}
    return {GCT: change(gct12(GEO_NUMBERS)), "c.cls": classes}, study


def _without(line: str) -> Callable[[str], str]:
    return lambda text: "".join(
        text_line for text_line in text.splitlines(keepends=True) if not text_line.startswith(line)
    )


GEO_CASES = {
    "series: cut before its table": (
        series_study(lambda t: t[: t.index("!series_matrix")]),
        ["GSE1_series_matrix.txt: has no line !series_matrix_table_begin", "download"],
    ),
    "series: cut inside its table": (
        series_study(lambda t: t[: t.index('"g3"')]),
        ["txt, line 16: has no line !series_matrix_table_end", "cut off", "download"],
    ),
    "series: empty table": (
        series_study(lambda t: t[: t.index('"g0"')] + "!series_matrix_table_end\n"),
        ["txt, line 11: the table is empty", "'GSE1_counts.csv.gz'", "name it as 'expression'"],
    ),
    "series: two tables": (
        series_study(lambda t: t + t),
        ["txt, line 29: holds two series matrix tables", "one file for each platform"],
    ),
    "series: two platforms": (
        series_study(lambda t: series_matrix(GEO_NUMBERS, ["GPL96", "GPL97"])),
        ["holds samples of 2 platforms: 'GPL96', 'GPL97'", "one file for each"],
    ),
    "series: no samples": (
        series_study(_without("!Sample_geo_accession")),
        ["has no line !Sample_geo_accession", "download"],
    ),
    "series: a sample twice": (
        series_study(lambda t: t.replace('"S1"', '"S0"')),
        ["line 5: !Sample_geo_accession names a sample twice", "download"],
    ),
    "series: a tag with too few values": (
        series_study(lambda t: t.replace('\t"age: 47"', "")),
        ["line 8: !sample_characteristics_ch1 has 7 values for 8 samples", "download"],
    ),
    "series: null": (
        series_study(lambda t: t.replace('"g1"\t7.5', '"g1"\tnull')),
        ["txt, line 14, gene 'g1', sample 'S0': the value is missing ('null')", "fill it in"],
    ),
    "series: a line cut off": (
        series_study(lambda t: t.replace('"g1"\t7.5\t', '"g1"\t')),
        ["txt, line 14: 8 fields where the header has 9", "cut off"],
    ),
    "series: a characteristic that is not there": (
        (series_study(str)[0], series_study(str)[1] | {"label": "diseasestate"}),
        ["label 'diseasestate' is not a column", "did you mean 'disease state'?"],
    ),
    "series: no gene table": (
        (series_study(str)[0], series_study(str)[1] | {"data": {"annotation": SERIES}}),
        ["is a GEO series matrix, which says nothing of genes", "name a gene table"],
    ),
    "gct: unknown version": (
        gct_study(lambda t: t.replace("#1.2", "#1.4")),
        ["e.gct, line 1: the first line is '#1.4'", "#1.2 or #1.3"],
    ),
    "gct: no size": (
        gct_study(lambda t: t.replace("5\t8\n", "NAME\n")),
        ["e.gct, line 2: needs the size here"],
    ),
    "gct: a size of a superscript": (
        gct_study(lambda t: t.replace("5\t8\n", "²\t8\n")),
        ["e.gct, line 2: needs the size here"],
    ),
    "gct: a size of thousands of digits": (
        gct_study(lambda t: t.replace("5\t8\n", f"5\t{'8' * 5000}\n")),
        ["e.gct, line 2: needs the size here"],
    ),
    "gct: too few rows": (
        gct_study(lambda t: t.replace("5\t8\n", "6\t8\n")),
        ["e.gct: has 5 rows of genes where line 2 says 6", "cut off"],
    ),
    "gct: too many samples": (
        gct_study(lambda t: t.replace("5\t8\n", "5\t7\n")),
        ["e.gct, line 3: the header has 8 samples where line 2 says 7"],
    ),
    "gct: a row cut off": (
        gct_study(lambda t: t.replace("g2\tabout g2\t", "g2\t")),
        ["e.gct, line 6: 9 fields where 10 are needed"],
    ),
    "gct: nothing below the size": (
        gct_study(lambda t: "#1.2\n5\t8\n"),
        ["e.gct: ends before the line of names", "again"],
    ),
    "gct: a word for a number": (
        gct_study(lambda t: t.replace("about g1\t7.5", "about g1\tabsent")),
        ["e.gct, line 5, gene 'g1', sample 'S0': the value is 'absent', not a number"],
    ),
    "gct: nothing about samples": (
        (gct_study(str)[0], gct_study(str)[1] | {"samples": GCT}),
        ["e.gct: says nothing of its samples (only GCT 1.3 can)", "CLS"],
    ),
    "cls: two lines": (
        gct_study(str, "8 2 1\n# normal tumor\n"),
        ["c.cls: needs three lines"],
    ),
    "cls: a blank line of classes": (
        gct_study(str, cls(GEO_NUMBERS).replace("# normal tumor", "")),
        ["c.cls: needs three lines"],
    ),
    "cls: a size of a superscript": (
        gct_study(str, cls(GEO_NUMBERS).replace("8 2", "8 ²")),
        ["c.cls: needs three lines"],
    ),
    "cls: numbers of a phenotype": (
        gct_study(str, "#numeric\n#age\n1 2 3 4 5 6 7 8\n"),
        ["c.cls, line 1: holds numbers and not classes", "sample table"],
    ),
    "cls: another number of labels than it says": (
        gct_study(str, cls(GEO_NUMBERS).replace("8 2", "9 2")),
        ["c.cls, line 3: has 8 labels where line 1 says 9"],
    ),
    "cls: another number of classes than it says": (
        gct_study(str, cls(GEO_NUMBERS).replace("8 2", "8 3")),
        ["c.cls, line 2: names 2 classes where line 1 says 3"],
    ),
    "cls: of another matrix": (
        gct_study(str, "4 2 1\n# normal tumor\nnormal normal tumor tumor\n"),
        ["c.cls, line 3: has 4 labels for the 8 samples of the matrix"],
    ),
    "cls: a class without samples": (
        gct_study(str, "8 2 1\n# normal tumor\n" + "normal " * 8),
        ["c.cls, line 3: has 1 different label where line 2 names 2"],
    ),
    "cls: classes in another order than the samples": (
        gct_study(str, cls(GEO_NUMBERS).replace("# normal tumor", "# tumor normal")),
        ["c.cls, line 3: begins with 'normal'", "order of their first sample"],
    ),
}

GEO_AND_GCT: dict[str, Broken] = {
    name: study(*case, words) for name, (case, words) in GEO_CASES.items()
}
