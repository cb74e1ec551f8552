"""Broken studies of methylation arrays: IDAT files and manifests."""

from __future__ import annotations

import gzip

from broken_chips import changed
from broken_study import Broken, study
from format_files import tabbed
from idat_files import COLUMNS, IDS, MANIFEST, PROBES, array_files, idat, light, manifest

SAMPLES = [f"97_R0{k}C01" for k in range(1, 9)]
SHEET = tabbed([["sample", "class"], *([name, "ab"[k % 2]] for k, name in enumerate(SAMPLES))])
ARRAYS = {
    file: content
    for k, name in enumerate(SAMPLES, 1)
    for file, content in array_files(name, light(k)).items()
}
GREEN = ARRAYS["97_R02C01_Grn.idat"]


def slides(words: list[str], part: str | None = None, **changes: bytes | None) -> Broken:
    """Make a study of eight arrays and a manifest; two underscores of a name are its dot."""
    files: dict[str, bytes | None] = {f"a/{name}": content for name, content in ARRAYS.items()}
    files["a/toy.csv"] = MANIFEST
    files |= {f"a/{name.replace('__', '.')}": content for name, content in changes.items()}
    there = {name: content for name, content in files.items() if content is not None}
    config = {"expression": "a", "samples": "s.tsv", "label": "class", "data": {"part": part}}
    return study({**there, "s.tsv": SHEET}, config, words)


def _green(words: list[str], content: bytes) -> Broken:
    """Make the study whose second array has another green file."""
    return slides(["97_R02C01_Grn.idat: ", *words], **{"97_R02C01_Grn__idat": content})


def _table(words: list[str], pattern: bytes, new: bytes, times: int = 1) -> Broken:
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
    "other addresses than red": _green(["is not the other colour of"], idat(IDS + 1, IDS)),
    "no value of methylation": slides(
        ["a: data.part 'betas' is no value of methylation; did you mean 'beta'?"], part="betas"
    ),
    "an empty file": _green(["is empty"], b""),
    "another kind of file": _green(["is no IDAT file: it does not begin with"], b"hello"),
    "packed twice": slides(
        ["97_R02C01_Grn.idat.gz: is no IDAT file"],
        **{"97_R02C01_Grn__idat": None, "97_R02C01_Red__idat": None,
           "97_R02C01_Grn__idat__gz": gzip.compress(gzip.compress(GREEN)),
           "97_R02C01_Red__idat__gz": gzip.compress(ARRAYS["97_R02C01_Red.idat"])},
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
    "a row cut off": _table(
        [", line 7: the row is cut off, or its addresses do not fit its design type"],
        rb"\r\ncg02,cg02,[^\r]*", b"\r\ncg02,cg02,12",
    ),
    "an address that is no number": _table([", line 6: the row is cut"], b"0000000011", b"x11"),
    "an address without bounds": _table([", line 6: the row is cut"], b"0000000011", b"9" * 20),
    "type I without address B": _table([", line 7: the row is cut"], b",13,I,", b",,I,"),
    "type I without a colour": _table([", line 7: the row is cut"], b",I,Grn,", b",I,,"),
    "another design type": _table([", line 6: the row is cut"], b",II,", b",III,"),
    "a row without a name": _table([": names a probe twice, or"], b"cg02,cg02,", b",cg02,"),
    "a probe twice": _table([": names a probe twice, or not"], b"\ncg02,", b"\ncg01,"),
    "no column of colours": slides(
        ["toy.csv, line 5: has no column 'Color_Channel'; copy"],
        toy__csv=manifest(PROBES, columns=[c for c in COLUMNS if c != "Color_Channel"]),
    ),
    "one file for a study": study(
        {"g.idat": GREEN, "s.tsv": SHEET},
        {"expression": "g.idat", "samples": "s.tsv", "label": "class"},
        ["g.idat: is one colour of one array; name the folder"],
    ),
}  # fmt: skip
