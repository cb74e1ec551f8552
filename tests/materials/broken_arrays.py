"""Broken SOFT, h5ad, R, Agilent and Illumina files."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from broken_study import Broken, study
from format_files import (
    Numbers,
    agilent,
    family,
    genomestudio,
    h5ad,
    hdf5,
    series_matrix,
    tabbed,
)
from places import TESTS

R_OBJECTS = TESTS / "references" / "r_objects.rda"
WEAK_REFERENCE = b"X\n" + struct.pack(">7i", 2, 0x30602, 0x20300, 23, 0, 0, 0)
"""An RDS file, version 2, whose object only R itself can hold."""
NUMBERS = Numbers()
FEWER = Numbers(genes=["g0", "g1"], rows=NUMBERS.rows[:2])
STATE = "disease state"
SHEET = tabbed([["sample", "class"], *zip(NUMBERS.samples, NUMBERS.labels, strict=True)])
Files = dict[str, str | bytes]
Study = tuple[Files, dict[str, Any]]


def own_study(name: str, content: str | bytes, label: str, **data: str) -> Study:
    return {name: content}, {"expression": name, "samples": name, "label": label, "data": data}


def with_sheet(expression: str, files: Files, /, **data: str) -> Study:
    study = {"expression": expression, "samples": "s.tsv", "label": "class", "data": data}
    return files | {"s.tsv": SHEET}, study


def arrays_study(change: Callable[[str], str] = str, **data: str) -> Study:
    files: Files = {f"a/{name}.txt": agilent(NUMBERS, k) for k, name in enumerate(NUMBERS.samples)}
    return with_sheet("a", files | {"a/S3.txt": change(agilent(NUMBERS, 3))}, **data)


def _soft(change: Callable[[str], str], **data: str) -> Study:
    return own_study("f.soft", change(family(NUMBERS)), STATE, **data)


def _profile(change: Callable[[str], str], **data: str) -> Study:
    return with_sheet("p.txt", {"p.txt": change(genomestudio(NUMBERS))}, **data)


def _bytes(content: bytes, **data: str) -> Study:
    return own_study("e.h5ad", content, "class", **data)


def _r(**data: str) -> Study:
    return with_sheet("r.rda", {"r.rda": R_OBJECTS.read_bytes()}, **data)


WHOLE_H5AD = h5ad(NUMBERS)
CASES: dict[str, tuple[Study, list[str]]] = {
    "soft: two platforms": (
        own_study("f.soft", family(NUMBERS, ["GPL1", "GPL2"]), STATE),
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
        arrays_study(lambda t: series_matrix(NUMBERS)),
        ["S3.txt: holds more than one array", "name this file alone, or move it elsewhere"],
    ),
    "agilent: two files of a sample": (
        (lambda s: (s[0] | {"a/S3.tsv": agilent(NUMBERS, 3)}, s[1]))(arrays_study()),
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
}  # fmt: skip

ARRAYS_AND_OBJECTS: dict[str, Broken] = {
    name: study(*case, words) for name, (case, words) in CASES.items()
}
