"""Broken files of arrays: Affymetrix layouts and intensities, whole transcripts, methylation."""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
from array_files import (
    CLUSTERS,
    COLUMNS,
    FORMS,
    IDS,
    LAYOUTS,
    MANIFEST,
    PAIRS,
    PROBE_SET_NAMES,
    PROBES,
    SIZE,
    TRANSCRIPTS,
    array_files,
    cdf_binary,
    cdf_text,
    cel_binary,
    cel_command_console,
    idat,
    light,
    manifest,
    transcript_files,
)
from broken_tables import Broken, study
from format_files import tabbed

from genesig.data.files.affy.cel import parse_cel
from genesig.data.files.affy.layouts import parse_cdf
from genesig.data.files.content import Cursor

# Broken Affymetrix studies: arrays and layouts cut short, mixed up, or of another chip.

LIGHT = np.random.default_rng(0).lognormal(6, 1, (8, 5, 6)).round()
SAMPLE_NAMES = [f"S{k}" for k in range(8)]
SHEET = tabbed([["sample", "class"], *([name, "ab"[k % 2]] for k, name in enumerate(SAMPLE_NAMES))])
RMA = {
    "samples": [{"step": "rma_background"}],
    "folds": [{"step": s} for s in ("quantile", "median_polish", "centre", "unit_variance")],
}


def chips(words: list[str], form: str = "version 4", **changed: bytes | None) -> Broken:
    """Make a study of eight arrays and a layout, some of whose files are others or are not there.

    A file is named with two underscores for the dot.
    """
    files: dict[str, bytes | None] = {
        f"a/{name}.CEL": FORMS[form](LIGHT[k]) for k, name in enumerate(SAMPLE_NAMES)
    }
    files["a/Toy.cdf"] = LAYOUTS["text"]
    files |= {f"a/{name.replace('__', '.')}": content for name, content in changed.items()}
    present_files = {name: content for name, content in files.items() if content is not None}
    config = {"expression": "a", "samples": "s.tsv", "label": "class", "normalise": RMA}
    return study({**present_files, "s.tsv": SHEET}, config, words)


def changed(content: bytes, pattern: bytes, new: bytes, times: int = 1) -> bytes:
    """Replace what a pattern finds, and make sure that it is there."""
    content, n_replaced = re.subn(pattern, new, content, count=times, flags=re.DOTALL)
    assert n_replaced
    return content


def _array(words: list[str], form: str, pattern: bytes, new: bytes) -> Broken:
    """Make the study whose second array is changed."""
    return chips(["S1.CEL: ", *words], S1__CEL=changed(FORMS[form](LIGHT[1]), pattern, new))


def _layout(words: list[str], pattern: bytes, new: bytes, times: int = 1) -> Broken:
    """Make the study whose layout, a text, is changed."""
    return chips(["Toy.cdf: ", *words], Toy__cdf=changed(LAYOUTS["text"], pattern, new, times))


CHIPS: dict[str, Broken] = {
    "an array of another chip than the layout": chips(
        [
            "S1.CEL: is an array of chip 'HG-Other' with 6 × 5 cells",
            "layout of 'Toy'",
            "give the layout of this chip",
        ],
        S1__CEL=cel_binary(LIGHT[1], "HG-Other"),
    ),
    "an array of another size": chips(
        ["S1.CEL: is an array of chip 'Toy' with 6 × 4 cells", "'Toy' with 6 × 5"],
        S1__CEL=cel_binary(LIGHT[1][:4]),
    ),
    "a layout of another size": chips(
        ["S0.CEL: is an array of chip 'Toy' with 6 × 5 cells", "with 7 × 5; give the layout"],
        **{f"S{k}__CEL": None for k in range(1, 8)},
        Toy__cdf=cdf_text(PROBE_SET_NAMES, PAIRS, 7, 5),
    ),
    "an array of a chip whose name begins alike": chips(
        ["S1.CEL: is an array of chip 'Toys'"], S1__CEL=cel_binary(LIGHT[1], "Toys")
    ),
    "one array without its layout": chips(
        ["a: holds 1 array of chip 'Toy' but no CDF file; put Toy.cdf here"],
        **{f"S{k}__CEL": None for k in range(1, 8)},
        Toy__cdf=None,
    ),
    "no layout": chips(
        ["a: holds 8 arrays of chip 'Toy' but no CDF file; put Toy.cdf here"], Toy__cdf=None
    ),
    "two layouts of other chips": chips(
        ["a: holds 8 arrays of chip 'Toy' but only 'U.cdf', 'V.cdf'; put Toy.cdf here"],
        Toy__cdf=None,
        U__cdf=LAYOUTS["text"],
        V__cdf=LAYOUTS["text"],
    ),
    "two files of one sample": chips(
        ["a: holds two CEL files of 'S1'; keep one of them"],
        S1__CEL__gz=gzip.compress(FORMS["text"](LIGHT[1])),
    ),
    "an empty array": chips(["S1.CEL: is empty; copy or download it again"], S1__CEL=b""),
    "a page of a web site": chips(
        ["S1.CEL: is no CEL file: it begins neither with [CEL]", "again"],
        S1__CEL=b"<!DOCTYPE html><html>404</html>",
    ),
    "a layout for an array": chips(
        ["S1.CEL: is no CEL file", "again"], S1__CEL=LAYOUTS["version 1"]
    ),
    "an array for a layout": chips(
        ["Toy.cdf: is no CDF file: it begins neither", "again"], Toy__cdf=FORMS["text"](LIGHT[0])
    ),
    "a gzip file cut short": chips(
        ["S1.CEL.gz: the gzip file is truncated", "copy or download it again"],
        S1__CEL=None,
        S1__CEL__gz=gzip.compress(FORMS["text"](LIGHT[1]))[:-30],
    ),
    "a negative intensity": chips(
        ["S1.CEL: 1 of 30 intensities are negative or no number, the first at x=2, y=0"],
        S1__CEL=cel_binary(np.where(np.arange(30).reshape(5, 6) == 2, -1, LIGHT[1])),
    ),
    "decimal commas": chips(
        ["S1.CEL: section [INTENSITY] holds something else than numbers; copy"],
        S1__CEL=FORMS["text"](LIGHT[1]).replace(b".0\t1.0", b",0\t1.0"),
    ),
    "text of version 2": _array(
        ["is a CEL text file of version 2; version 3 is read", "export"],
        "text",
        b"Version=3",
        b"Version=2",
    ),
    "a size that is no number": _array(["lacks Cols"], "text", b"Cols=6", b"Cols=six"),
    "a size of thousands of digits": _array(
        ["lacks Cols"], "text", b"Cols=6", b"Cols=" + b"6" * 5000
    ),
    "fewer cells announced": _array(["holds 29"], "text", b"Cells=30", b"Cells=29"),
    "a row missing": _array(["29 different cells"], "text", rb" 2\t2\t[^\n]*\n", b""),
    "a cell twice": _array(["29 different cells"], "text", rb" 2\t2\t", rb" 1\t2\t"),
    "a cell outside": _array(["29 different cells"], "text", rb" 2\t2\t", rb" 9\t9\t"),
    "a cell with its mean only": _array(
        ["29 different cells"], "text", rb"( 2\t2\t[\d.]+)[^\r]*", rb"\1"
    ),
    "a word among numbers": _array(
        ["else than numbers"], "text", rb" 2\t2\t[\d.]+", rb" 2\t2\thigh"
    ),
    "one decimal comma": _array(["else than numbers"], "text", rb" 2\t2\t(\d+)\.", rb" 2\t2\t\1,"),
    "a negative intensity in a text": _array(["x=2, y=2"], "text", rb" 2\t2\t", rb" 2\t2\t-"),
    "an intensity that is no number": chips(
        ["S1.CEL: ", "x=1, y=1"],
        S1__CEL=cel_binary(np.where(np.arange(30).reshape(5, 6) == 7, np.nan, LIGHT[1])),
    ),
    "binary of version 5": chips(
        ["S1.CEL: is a binary CEL file of version 5; version 4 is read, export"],
        S1__CEL=cel_binary(LIGHT[1], version=5),
    ),
    "sizes that disagree": _array(
        ["announces 7 × 5 cells but holds 30; the file is damaged, copy"],
        "version 4",
        struct.pack("<i", 6),
        struct.pack("<i", 7),
    ),
    "a negative length": _array(
        ["is damaged: byte 24 announces -1 bytes"],
        "version 4",
        b"^(.{20}).{4}",
        rb"\1" + b"\xff" * 4,
    ),
    "a container of something else": _array(
        ["is a Command Console file but no CEL file: it lacks affymetrix-cel-cols", "keep"],
        "Command Console",
        "cel-cols".encode("utf-16-be"),
        "cel-colz".encode("utf-16-be"),
    ),
    "a container whose sizes disagree": _array(
        ["announces 7 × 5 cells but holds 30"],
        "Command Console",
        b"\0\0\0\6\0\0\0\x18",
        b"\0\0\0\7\0\0\0\x18",
    ),
    "a container of nothing": chips(
        ["S1.CEL: is a Command Console file with 0 groups"], S1__CEL=b"\x3b\x01" + b"\0" * 40
    ),
    "a container with another kind of column": chips(
        ["S1.CEL: ", "not one column"], S1__CEL=cel_command_console(LIGHT[1], column=(5, 4))
    ),
    "a container without intensities": chips(
        ["S1.CEL: is a Command Console file without a table 'Intensity'", "export"],
        S1__CEL=cel_command_console(LIGHT[1], table="Other"),
    ),
    "a layout without probe sets": chips(
        ["Toy.cdf: has no probe set"],
        Toy__cdf=b"[CDF]\n[Chip]\nRows=5\nCols=6\nNumberOfUnits=0\n[QC1]\n",
    ),
    "a layout that is another kind of file": chips(
        ["Toy.cdf: is no CDF file"], Toy__cdf=b"hello world"
    ),
    "an array that is another kind of file": chips(
        ["S1.CEL: is no CEL file"], S1__CEL=b"hello world"
    ),
    "an empty layout": chips(["Toy.cdf: is empty"], Toy__cdf=b"  "),
    "a layout without its size": _layout(["lacks Rows, Cols or"], b"Rows=5", b"Rows="),
    "a layout with a size of thousands of digits": _layout(
        ["lacks Rows, Cols or"], b"Rows=5", b"Rows=" + b"5" * 5000
    ),
    "a layout without its number of sets": _layout(["or NumberOfUnits"], b"Units=4", b"Units=4x"),
    "a set without a name": _layout(["not complete"], b"Name=2_at", b"Nam=2_at"),
    "a set without its end": _layout(["is not complete"], b"Cell6=", b"X=", 0),
    "a layout without a column": _layout(["is not complete"], rb"\tATOM", b"", 0),
    "a binary layout with cells outside": chips(
        ["Toy.cdf: ", "outside its 6 × 5"], Toy__cdf=cdf_binary(PROBE_SET_NAMES, PAIRS + 9, *SIZE)
    ),
    "a binary layout of version 5": chips(
        ["Toy.cdf: ", "of version 5; version 1 to 4 are read, export"],
        Toy__cdf=cdf_binary(PROBE_SET_NAMES, PAIRS, *SIZE, version=5),
    ),
    "a binary layout that points outside": chips(
        ["Toy.cdf: points to byte"],
        Toy__cdf=LAYOUTS["version 1"][:280] + b"\xff\xff\xff\x7f" * 4,
    ),
    "a layout with cells outside": chips(
        ["Toy.cdf: names cells outside its 6 × 5 ones; copy or download"],
        Toy__cdf=cdf_text(PROBE_SET_NAMES, PAIRS + 9, *SIZE),
    ),
    "a sheet of other samples": chips(
        ["a: no sample of s.tsv is here", "the matrix has columns 'T0'"],
        **{f"S{k}__CEL": None for k in range(8)},
        **{f"T{k}__CEL": FORMS["version 4"](LIGHT[k]) for k in range(8)},
    ),
}


def header_ends(content: bytes, parse: Callable[[bytes, str], object]) -> list[int]:
    """Return where each part of a header ends: each line of a text, else each field as it is read.

    The last one is the end of the file, which is no cut.
    """
    if content.startswith(b"["):
        start = content.index(b"Cell1=0" if b"[CDF]" in content else b" 0\t0\t")
        return [match.end() for match in re.finditer(rb"\r\n", content[:start])]
    ends: set[int] = set()
    original_take = Cursor.take

    def noting(cursor: Cursor, count: int) -> bytes:
        taken = original_take(cursor, count)
        ends.add(cursor.offset)
        return taken

    with patch.object(Cursor, "take", noting):
        parse(content, "")
    return sorted(ends - {len(content)})


def _cut_chip() -> Iterator[tuple[str, Broken]]:
    for form, write in FORMS.items():
        content = write(LIGHT[1])
        for end in header_ends(content, parse_cel):
            case = chips(["S1.CEL: "], form, S1__CEL=content[:end])
            yield f"array, {form}, after {end} bytes", case
    for form in ("text", "version 1", "version 4"):
        content = LAYOUTS[form]
        for end in header_ends(content, parse_cdf):
            yield f"layout, {form}, after {end} bytes", chips(["Toy.cdf: "], Toy__cdf=content[:end])


CUT_SHORT = dict(_cut_chip())


# Broken library files of chips of whole transcripts: PGF, CLF and MPS.

FILES = dict(zip(("t.pgf", "t.clf", "t.mps"), TRANSCRIPTS, strict=True))


def library(words: list[str], **files: bytes | None) -> Broken:
    """Make a study of eight arrays, their library files, and others in place of some."""
    contents = {name.replace(".", "__"): content for name, content in FILES.items()}
    return chips(words, **{"Toy__cdf": None} | contents | files)


def _spoilt_library(
    name: str, words: list[str], pattern: bytes, new: bytes, times: int = 1
) -> Broken:
    content = changed(FILES[name], pattern, new, times)
    return library([f"{name}", *words], **{name.replace(".", "__"): content})


LIBRARIES: dict[str, Broken] = {
    "no places of probes": library(
        ["t.pgf: needs one .clf file beside it and there is none; put"], t__clf=None
    ),
    "no transcript clusters": library(
        ["t.pgf: needs one .mps file beside it and there is none"], t__mps=None
    ),
    "two lists of clusters": library(
        ["t.pgf: needs one .mps file", "'t.full.mps', 't.mps'", "keep one"],
        t__full__mps=FILES["t.mps"],
    ),
    "the places alone": library(
        ["a: holds 8 arrays of chip 'Toy' but no CDF file; put Toy.cdf here, or its .pgf .clf"],
        t__pgf=None,
        t__mps=None,
    ),
    "a CDF file, too": library(
        ["a: holds 2 layouts of chip 'Toy': 'Toy.cdf', 'Toy.pgf'; keep one"],
        Toy__cdf=b"[CDF]",
        Toy__pgf=FILES["t.pgf"],
        t__pgf=None,
    ),
    "files of another chip": library(
        ["S0.CEL: is an array of chip 'Toy'", "t.pgf is the layout of 'Other', 'Other-v2'"],
        **{f"S{k}__CEL": None for k in range(1, 8)},
        **{
            name.replace(".", "__"): content
            for name, content in zip(
                FILES, transcript_files(CLUSTERS, [], *SIZE, chip="Other"), strict=True
            )
        },
    ),
    "places of another chip": _spoilt_library(
        "t.clf",
        [": is of chip 'Other', 'Other', but ", "t.pgf of 'Toy', 'Toy-v2'; take"],
        rb"chip_type=Toy(-v2)?",
        b"chip_type=Other",
        2,
    ),
    "a size of another chip": library(
        ["S0.CEL: is an array of chip 'Toy' with 6 × 5 cells", "with 6 × 6"],
        **{f"S{k}__CEL": None for k in range(1, 8)},
        t__clf=changed(FILES["t.clf"], b"rows=5", b"rows=6"),
    ),
    "an empty file": library(["t.pgf: is empty"], t__pgf=b""),
    "a byte order mark alone": library(["t.pgf: is empty; copy"], t__pgf=b"\xef\xbb\xbf"),
    "a page of a web site": library(
        ["t.mps: is a web page"], t__mps=b"<!DOCTYPE html>\n<html>404</html>\n"
    ),
    "a header alone": library(
        ["t.mps: has no rows below its header; copy"], t__mps=b"#%chip_type=Toy\n"
    ),
    "the end of a line missing": library(
        ["t.clf: ends in the middle of a line; copy"], t__clf=FILES["t.clf"][:-1]
    ),
    "no column of types": _spoilt_library(
        "t.pgf",
        [": its rows have no column type ('probeset_id', 'kind', 'probeset_name'); copy"],
        rb"probeset_id\ttype",
        rb"probeset_id\tkind",
    ),
    "no columns of probes": _spoilt_library(
        "t.pgf", [": its rows have no column probe_id", "library files"], rb"header2", b"header3"
    ),
    "no lists": _spoilt_library(
        "t.mps", [": its rows have no column probeset_list", "did you mean"], b"_list", b"_lis"
    ),
    "no size": _spoilt_library(
        "t.clf",
        [": has no line #%cols=NUMBER, as layouts of chips have it; copy"],
        b"#%cols=6",
        b"#%columns=6",
    ),
    "a size that is no number": _spoilt_library(
        "t.clf", [": its line #%cols=six is no whole number from 1 to"], b"cols=6", b"cols=six"
    ),
    "a size without bounds": _spoilt_library(
        "t.clf",
        [": its line #%rows=99", "… is no whole number from 1 to 999999; copy"],
        b"rows=5",
        b"rows=" + b"9" * 5000,
    ),
    "a probe set that is no number": _spoilt_library(
        "t.pgf",
        [", line 12: '101x", "is not a probe set, an atom or a probe; copy"],
        rb"\n101\t",
        rb"\n101x\t",
    ),
    "a probe that is no number": _spoilt_library(
        "t.pgf", [", line 10: '1.5", "is not a probe set"], rb"\t\t1\tpm", rb"\t\t1.5\tpm"
    ),
    "a number beyond all bounds": _spoilt_library(
        "t.pgf", [", line 10: '999"], rb"\t\t1\tpm", b"\t\t" + b"9" * 30 + b"\tpm"
    ),
    "a probe without a type": _spoilt_library(
        "t.pgf", [", line 10: '1' is not a probe set"], rb"\t\t1\tpm[^\n]*", rb"\t\t1"
    ),
    "a probe before all sets": _spoilt_library(
        "t.pgf", [", line 8: '1\\tpm:st"], rb"\n100\tmain\t\n\t1000", b""
    ),
    "no set of type main": _spoilt_library(
        "t.pgf",
        [": has no perfect match of a probe set of type main in ", "t.mps; take"],
        rb"\tmain",
        rb"\trescue",
        0,
    ),
    "no perfect match": _spoilt_library(
        "t.pgf", [": has no perfect match of a"], rb"\tpm:st", rb"\tmm:st", 0
    ),
    "a probe set of another version": _spoilt_library(
        "t.mps", [", line 6: probe set 999 is not in ", "t.pgf; take both"], b"100 101", b"100 999"
    ),
    "a list that is none": _spoilt_library(
        "t.mps",
        [", line 6: '0_at\\t0_at\\t100;101", "is not a cluster and its probe sets; copy"],
        b"100 101",
        b"100;101",
    ),
    "a list without a cluster": _spoilt_library(
        "t.mps", [", line 6: ", "is not a cluster"], rb"0_at\t0_at", rb"0_at\t"
    ),
    "a place outside": _spoilt_library(
        "t.clf",
        [", line 8: probe 1 lies outside the chip's 6 × 5 cells; copy"],
        rb"\n1\t0\t0",
        rb"\n1\t6\t0",
    ),
    "a place that is no number": _spoilt_library(
        "t.clf",
        [", line 8: '1\\t0\\tx' is not a probe with its x and y; copy"],
        rb"\n1\t0\t0",
        rb"\n1\t0\tx",
    ),
    "a probe listed twice": _spoilt_library(
        "t.clf", [": lists probe 1 twice; copy"], rb"\n2\t1\t0", rb"\n1\t1\t0"
    ),
    "a probe without a place": _spoilt_library(
        "t.clf", [": lacks probe 1 of ", "t.pgf; copy"], rb"\n1\t0\t0", b""
    ),
}


# Broken studies of methylation arrays: IDAT files and manifests.

SLIDE_SAMPLES = [f"97_R0{k}C01" for k in range(1, 9)]
SLIDE_SHEET = tabbed(
    [["sample", "class"], *([name, "ab"[k % 2]] for k, name in enumerate(SLIDE_SAMPLES))]
)
ARRAYS = {
    file: content
    for k, name in enumerate(SLIDE_SAMPLES, 1)
    for file, content in array_files(name, light(k)).items()
}
GREEN = ARRAYS["97_R02C01_Grn.idat"]


def slides(words: list[str], part: str | None = None, **changes: bytes | None) -> Broken:
    """Make a study of eight arrays and a manifest; two underscores of a name are its dot."""
    files: dict[str, bytes | None] = {f"a/{name}": content for name, content in ARRAYS.items()}
    files["a/toy.csv"] = MANIFEST
    files |= {f"a/{name.replace('__', '.')}": content for name, content in changes.items()}
    present_files = {name: content for name, content in files.items() if content is not None}
    config = {"expression": "a", "samples": "s.tsv", "label": "class", "data": {"part": part}}
    return study({**present_files, "s.tsv": SLIDE_SHEET}, config, words)


def _green(words: list[str], content: bytes) -> Broken:
    """Make the study whose second array has another green file."""
    return slides(["97_R02C01_Grn.idat: ", *words], **{"97_R02C01_Grn__idat": content})


def _slide_table(words: list[str], pattern: bytes, new: bytes, times: int = 1) -> Broken:
    return slides(["toy.csv", *words], toy__csv=changed(MANIFEST, pattern, new, times))


METHYLATION: dict[str, Broken] = {
    "no manifest": slides(
        ["a: holds 8 arrays of methylation but no manifest", "put the CSV file with AddressA_ID"],
        toy__csv=None,
    ),
    "a sample sheet for a manifest": slides(
        ["a: holds 8 arrays of methylation but no manifest"], toy__csv=b"Sample,Slide\na,1\n"
    ),
    "two manifests": slides(["a: holds 2 manifests", "toy2.csv'; keep"], toy2__csv=MANIFEST),
    "a manifest of another chip": slides(
        ["toy.csv: names 9 probes, of which the arrays have 1; put the manifest of their chip"],
        toy__csv=manifest({f"cg{k}": (k, None, "") for k in range(3, 12)}),
    ),
    "an array without red": slides(
        ["97_R02C01_Red.idat: is not there, and 97_R02C01_Grn.idat is one colour", "put both"],
        **{"97_R02C01_Red__idat": None},
    ),
    "an array without green": slides(
        ["97_R02C01_Grn.idat: is not there, and 97_R02C01_Red.idat is one colour"],
        **{"97_R02C01_Grn__idat": None},
    ),
    "a file without its colour": slides(
        ["S1.idat: is not named by its colour; name"], S1__idat=GREEN
    ),
    "green of another array": _green(
        ["is not the other colour of 97_R02C01_Red.idat", "'9721367028 R05C01' and '97213"],
        idat(IDS, IDS, texts={404: "R05C01"}),
    ),
    "other addresses than red": _green(
        ["is not the other colour of 97_R02C01_Red.idat: the addresses of their beads differ"],
        idat(IDS + 1, IDS),
    ),
    "no value of methylation": slides(
        ["a: data.part 'betas' is no value of methylation; did you mean 'beta'?"], part="betas"
    ),
    "an empty file": _green(["is empty"], b""),
    "another kind of file": _green(["is no IDAT file: it does not begin with"], b"hello"),
    "packed twice": slides(
        ["97_R02C01_Grn.idat.gz: is no IDAT file"],
        **{
            "97_R02C01_Grn__idat": None,
            "97_R02C01_Red__idat": None,
            "97_R02C01_Grn__idat__gz": gzip.compress(gzip.compress(GREEN)),
            "97_R02C01_Red__idat__gz": gzip.compress(ARRAYS["97_R02C01_Red.idat"]),
        },
    ),
    "an encrypted file of expression": _green(
        ["is an IDAT file of version 1, and version 3 is read", "encrypted; export"],
        idat(IDS, IDS, version=1),
    ),
    "cut in its directory": _green(["ends too early"], GREEN[:80]),
    "cut before its means": _green(["points to byte 276 but has 230"], GREEN[:230]),
    "cut in its means": _green(["ends too early"], GREEN[:285]),
    "no means": _green(["lacks the number of its beads, their"], idat(IDS, IDS, leave=(104,))),
    "more beads than bytes": _green(["ends too early"], idat(IDS, IDS, count=10**8)),
    "a negative number of beads": _green(["is damaged: "], idat(IDS, IDS, count=-5)),
    "no beads": _green(["holds no address, or one twice; copy"], idat([], [])),
    "an address twice": _green(["holds no address, or one"], idat([11, *IDS[:-1]], IDS)),
    "a place outside the file": _green(
        ["points to byte "], GREEN[:18] + b"\xff\xff\xff\x7f\0\0\0\0" + GREEN[26:]
    ),
    "a row cut off": _slide_table(
        [", line 7: the row is cut off, or its addresses do not fit its design type"],
        rb"\r\ncg02,cg02,[^\r]*",
        b"\r\ncg02,cg02,12",
    ),
    "an address that is no number": _slide_table(
        [", line 6: the row is cut"], b"0000000011", b"x11"
    ),
    "an address without bounds": _slide_table(
        [", line 6: the row is cut"], b"0000000011", b"9" * 20
    ),
    "type I without address B": _slide_table([", line 7: the row is cut"], b",13,I,", b",,I,"),
    "type I without a colour": _slide_table([", line 7: the row is cut"], b",I,Grn,", b",I,,"),
    "another design type": _slide_table([", line 6: the row is cut"], b",II,", b",III,"),
    "a row without a name": _slide_table([": names a probe twice, or"], b"cg02,cg02,", b",cg02,"),
    "a probe twice": _slide_table([": names a probe twice, or not"], b"\ncg02,", b"\ncg01,"),
    "no column of colours": slides(
        ["toy.csv, line 5: has no column 'Color_Channel'; copy"],
        toy__csv=manifest(PROBES, columns=[c for c in COLUMNS if c != "Color_Channel"]),
    ),
    "one file for a study": study(
        {"g.idat": GREEN, "s.tsv": SLIDE_SHEET},
        {"expression": "g.idat", "samples": "s.tsv", "label": "class"},
        ["g.idat: is one colour of one array; name the folder"],
    ),
}
