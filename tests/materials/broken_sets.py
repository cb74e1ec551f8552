"""Broken files of gene sets, named by structured.sets."""

from __future__ import annotations

import gzip
from typing import Any

from broken_study import Broken, spoilt
from small_study import GENES, Study

GOOD = "".join(f"set{k}\tabout\t" + "\t".join(GENES[k : k + 4]) + "\n" for k in range(3))
GMX = "a\tb\nabout\tabout\n" + "".join(f"{gene}\t{gene}\n" for gene in GENES)


def _broken(content: str | bytes, words: list[str], name: str = "sets.gmt", **more: Any) -> Broken:
    def change(study: Study) -> None:
        study.set("structured", {"sets": name, "smallest": 2, **more})
        study.files[name] = content if isinstance(content, bytes) else content.encode()

    return spoilt(change, words)


def _named(name: str, words: list[str]) -> Broken:
    return spoilt(lambda study: study.set("structured", {"sets": name}), words)


def _in_folder(study: Study) -> None:
    study.set("structured", {"sets": "sets"})
    study.files["sets/sets.gmt"] = GOOD.encode()


def _upper(text: str) -> str:
    return text.replace("gene", "GENE")


def _table(column: str, words: list[str], cells: str = "aabbccaabbccaabbccaabbcc") -> Broken:
    rows = [f"{gene}\t{cell.strip()}" for gene, cell in zip(GENES, cells, strict=False)]
    return _broken("\n".join(["gene\tlayer", *rows]) + "\n", words, "t.tsv", column=column)


SETS: dict[str, Broken] = {
    "no such column": _table("Layer", ["t.tsv", "no column 'Layer'", "did you mean 'layer'?"]),
    "a blank column": _table("layer", ["column 'layer' is blank", "with values"], " " * 24),
    "a column of names": _table("layer", ["hardly two genes for each", "groups"], "abcdefghijklm"),
    "a column of no table": spoilt(
        lambda study: study.set("structured", {"column": "layer"}),
        ["structured.column", "set structured.sets to its file"]),
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
}  # fmt: skip
