"""Broken library files of chips of whole transcripts: PGF, CLF and MPS."""

from __future__ import annotations

from affy_files import CLUSTERS, SIZE, TRANSCRIPTS, transcript_files
from broken_chips import changed, chips
from broken_study import Broken

FILES = dict(zip(("t.pgf", "t.clf", "t.mps"), TRANSCRIPTS, strict=True))


def library(words: list[str], **files: bytes | None) -> Broken:
    """Make a study of eight arrays, their library files, and others in place of some."""
    known = {name.replace(".", "__"): content for name, content in FILES.items()}
    return chips(words, **{"Toy__cdf": None} | known | files)


def _spoilt(name: str, words: list[str], pattern: bytes, new: bytes, times: int = 1) -> Broken:
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
        t__pgf=None, t__mps=None,
    ),
    "a CDF file, too": library(
        ["a: holds 2 layouts of chip 'Toy': 'Toy.cdf', 'Toy.pgf'; keep one"],
        Toy__cdf=b"[CDF]", Toy__pgf=FILES["t.pgf"], t__pgf=None,
    ),
    "files of another chip": library(
        ["S0.CEL: is an array of chip 'Toy'", "t.pgf is the layout of 'Other', 'Other-v2'"],
        **{f"S{k}__CEL": None for k in range(1, 8)},
        **{name.replace(".", "__"): content for name, content in zip(
            FILES, transcript_files(CLUSTERS, [], *SIZE, chip="Other"), strict=True)},
    ),
    "places of another chip": _spoilt(
        "t.clf", [": is of chip 'Other', 'Other', but ", "t.pgf of 'Toy', 'Toy-v2'; take"],
        rb"chip_type=Toy(-v2)?", b"chip_type=Other", 2,
    ),
    "a size of another chip": library(
        ["S0.CEL: is an array of chip 'Toy' with 6 × 5 cells", "with 6 × 6"],
        **{f"S{k}__CEL": None for k in range(1, 8)},
        t__clf=changed(FILES["t.clf"], b"rows=5", b"rows=6"),
    ),
    "an empty file": library(["t.pgf: is empty"], t__pgf=b""),
    "a page of a web site": library(
        ["t.mps: is a web page"], t__mps=b"<!DOCTYPE html>\n<html>404</html>\n"
    ),
    "a header alone": library(
        ["t.mps: has no rows below its header; copy"], t__mps=b"#%chip_type=Toy\n"
    ),
    "the end of a line missing": library(
        ["t.clf: ends in the middle of a line; copy"], t__clf=FILES["t.clf"][:-1]
    ),
    "no column of types": _spoilt(
        "t.pgf", [": its rows have no column type ('probeset_id', 'kind', 'probeset_name'); copy"],
        rb"probeset_id\ttype", rb"probeset_id\tkind",
    ),
    "no columns of probes": _spoilt(
        "t.pgf", [": its rows have no column probe_id", "library files"], rb"header2", b"header3"
    ),
    "no lists": _spoilt(
        "t.mps", [": its rows have no column probeset_list", "did you mean"], b"_list", b"_lis"
    ),
    "no size": _spoilt(
        "t.clf", [": has no line #%cols=NUMBER, as layouts of chips have it; copy"],
        b"#%cols=6", b"#%columns=6",
    ),
    "a size that is no number": _spoilt(
        "t.clf", [": its line #%cols=six is no whole number from 1 to"], b"cols=6", b"cols=six"
    ),
    "a size without bounds": _spoilt(
        "t.clf", [": its line #%rows=99", "… is no whole number from 1 to 999999; copy"],
        b"rows=5", b"rows=" + b"9" * 5000,
    ),
    "a probe set that is no number": _spoilt(
        "t.pgf", [", line 12: '101x", "is not a probe set, an atom or a probe; copy"],
        rb"\n101\t", rb"\n101x\t",
    ),
    "a probe that is no number": _spoilt(
        "t.pgf", [", line 10: '1.5", "is not a probe set"], rb"\t\t1\tpm", rb"\t\t1.5\tpm"
    ),
    "a number beyond all bounds": _spoilt(
        "t.pgf", [", line 10: '999"], rb"\t\t1\tpm", b"\t\t" + b"9" * 30 + b"\tpm"
    ),
    "a probe without a type": _spoilt(
        "t.pgf", [", line 10: '1' is not a probe set"], rb"\t\t1\tpm[^\n]*", rb"\t\t1"
    ),
    "a probe before all sets": _spoilt(
        "t.pgf", [", line 8: '1\\tpm:st"], rb"\n100\tmain\t\n\t1000", b""
    ),
    "no set of type main": _spoilt(
        "t.pgf", [": has no perfect match of a probe set of type main in ", "t.mps; take"],
        rb"\tmain", rb"\trescue", 0,
    ),
    "no perfect match": _spoilt(
        "t.pgf", [": has no perfect match of a"], rb"\tpm:st", rb"\tmm:st", 0
    ),
    "a probe set of another version": _spoilt(
        "t.mps", [", line 6: probe set 999 is not in ", "t.pgf; take both"], b"100 101", b"100 999"
    ),
    "a list that is none": _spoilt(
        "t.mps", [", line 6: '0_at\\t0_at\\t100;101", "is not a cluster and its probe sets; copy"],
        b"100 101", b"100;101",
    ),
    "a list without a cluster": _spoilt(
        "t.mps", [", line 6: ", "is not a cluster"], rb"0_at\t0_at", rb"0_at\t"
    ),
    "a place outside": _spoilt(
        "t.clf", [", line 8: probe 1 lies outside the chip's 6 × 5 cells; copy"],
        rb"\n1\t0\t0", rb"\n1\t6\t0",
    ),
    "a place that is no number": _spoilt(
        "t.clf", [", line 8: '1\\t0\\tx' is not a probe with its x and y; copy"],
        rb"\n1\t0\t0", rb"\n1\t0\tx",
    ),
    "a probe listed twice": _spoilt(
        "t.clf", [": lists probe 1 twice; copy"], rb"\n2\t1\t0", rb"\n1\t1\t0"
    ),
    "a probe without a place": _spoilt(
        "t.clf", [": lacks probe 1 of ", "t.pgf; copy"], rb"\n1\t0\t0", b""
    ),
}  # fmt: skip
