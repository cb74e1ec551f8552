"""What people have in place of a file: web pages, archives, half a download; impossible values."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

from broken_study import Broken, spoilt, study
from broken_tables import placed
from format_files import Numbers, cls, family, gct12, series_matrix
from small_study import SAMPLES, Study, as_text, zipped

NUMBERS = Numbers()
PAGE = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


def _matrix(name: str, content: Callable[[Study], bytes], words: list[str]) -> Broken:
    return spoilt(placed("expression", name, content), words)


def _cells(change: Callable[[str], str], every: int, words: list[str]) -> Broken:
    """Change every so many-th number of the matrix."""

    def broken(small: Study) -> None:
        for k, row in enumerate(small.matrix[1:]):
            for c in range(1, len(row)):
                if (k * len(row) + c) % every == 0:
                    row[c] = change(row[c])

    return spoilt(broken, words)


def _counts(change: Callable[[str], str], every: int, words: list[str]) -> Broken:
    """Make the matrix one of whole numbers, and change some."""

    def broken(small: Study) -> None:
        for k, row in enumerate(small.matrix[1:]):
            for c in range(1, len(row)):
                row[c] = str(int(100 * float(row[c])))
                if (k * len(row) + c) % every == 0:
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


GENES = as_text([["id", "symbol"], *([f"gene{k}", f"SYM{k}"] for k in range(1, 9))])
OUTER = {"train": SAMPLES[:8], "test": SAMPLES[8:]}
PLACES: dict[str, Broken] = {
    "a web page": _matrix(
        "e.tsv", lambda s: PAGE, ["e.tsv: is a web page (HTML)", "download the file itself"]
    ),
    "a web page named .gz": _matrix(
        "e.tsv.gz", lambda s: PAGE, ["e.tsv.gz: is named .gz but is not gzip"]
    ),
    "a pointer of Git LFS": _matrix(
        "e.tsv", lambda s: POINTER, ["e.tsv: is a pointer of Git LFS", "git lfs pull"]
    ),
    "packed twice": _matrix(
        "e.tsv.gz",
        lambda s: gzip.compress(zipped(s.matrix)),
        ["e.tsv.gz: is packed twice", "gunzip"],
    ),
    "an archive of files": _matrix(
        "e.tar.gz",
        lambda s: zipped(s.matrix),
        ["e.tar.gz: the ending '.tar' is not known", "unpack"],
    ),
    "a zip file named .gz": _matrix(
        "e.tsv.gz", lambda s: b"PK\3\4rest", ["e.tsv.gz: is named .gz but is not gzip"]
    ),
    "a PDF": _matrix("e.txt", lambda s: b"%PDF-1.4\n%\xe2\xe3", ["e.txt: is a PDF", "table"]),
    "a workbook's ending": _matrix(
        "e.xls", lambda s: b"PK\3\4", ["e.xls: the ending '.xls' is not known", "save the sheet"]
    ),
    "zeros, as of a disk that was full": _matrix(
        "e.tsv", lambda s: as_text(s.matrix)[:200] + b"\0" * 400, ["e.tsv", "again"]
    ),
    "one decimal comma": _cells(
        lambda text: text.replace(".", ","), 50,
        ["expression.tsv, line 5, gene 'gene4', sample 'P11'", "a decimal comma or one", "points"],
    ),
    **{f"signs of thousands: {text}": _cells(
        lambda _, text=text: text, 1,
        ["expression.tsv, line 2, gene 'gene1', sample 'P01': the value is ", written, advice],
    ) for text, written, advice in (
        ("3,252.9", "with signs of thousands; write 3252.9", "export the table without them"),
        ("3.252,9", "thousands and a decimal comma; write 3252.9", "with decimal points"),
        ("1.252.900", "with signs of thousands; write 1252900", "export the table without them"),
        ("3'252.9", "with signs of thousands; write 3252.9", "export the table without them"),
    )},
    "decimal commas and points in a European csv": spoilt(
        placed("expression", "e.csv", lambda s: as_text(
            [[cell.replace(".", ",") if k % 3 == 2 else cell for k, cell in enumerate(row)]
             for row in s.matrix], ";")),
        ["e.csv, line 2, gene 'gene1', sample 'P02'", "with a decimal comma or one of thousands"],
    ),
    "thousands separated in a European csv": spoilt(
        placed("expression", "e.csv", lambda s: as_text(
            [s.matrix[0], *([row[0], *(f"1.000,{k}" for k in range(len(row) - 1))]
                            for row in s.matrix[1:])], ";")),
        ["e.csv, line 2, gene 'gene1', sample 'P01'", "is '1.000,0', with signs of thousands"],
    ),
    "thousands separated": _cells(
        lambda text: f"1,{text}", 50, ["expression.tsv, line 5, gene 'gene4', sample 'P11'", "'1,"],
    ),
    "a negative count": _counts(
        lambda text: f"-{text}", 50, ["expression.tsv", "gene 'gene4', sample 'P11'", "negative"]
    ),
    "a sample without a count": spoilt(
        lambda s: (_whole(s), [row.__setitem__(5, "0") for row in s.matrix[1:]],
                   s.set("normalise.samples", [{"step": "log_cpm"}])),
        ["expression.tsv: every value of 'P05' is 0; take such samples out of the sample table"],
    ),
    "a sample of blanks": spoilt(
        lambda s: ([row.__setitem__(5, "") for row in s.matrix[1:]], s.set("data.missing", True),
                   s.set("normalise.folds", [{"step": "knn_impute"}, {"step": "centre"}])),
        ["expression.tsv: every value of 'P05' is missing; take such samples out of the sample"],
    ),
    "a sample of zeros": spoilt(
        lambda s: [row.__setitem__(5, "0") for row in s.matrix[1:]],
        ["expression.tsv: every value of 'P05' is 0; take such samples out of the sample table"],
    ),
    "log CPM of logarithms": spoilt(
        lambda s: s.set("normalise.samples", [{"step": "log_cpm"}]),
        ["expression.tsv: the values cannot be counts: most are no whole numbers (99th percentile ",
         "take log_cpm out of normalise.samples"],
    ),
    "-999 for what is missing": spoilt(
        lambda s: [row.__setitem__(3, "-999") for row in s.matrix[2:]],
        ["expression.tsv, line 3, gene 'gene2', sample 'P03': the value -999 (6 further cells) "
         "looks as if it stood for a missing one; write NA there, and have it filled in"],
    ),
    "commas of thousands in a European csv": spoilt(
        lambda s: (_whole(s), [row.__setitem__(slice(1, None), [
            f"{int(cell) // (30 if row[0] == 'gene3' else 1):,}" for cell in row[1:]])
            for row in s.matrix[1:]], s.set("expression", "e.csv"),
            s.files.update({"e.csv": as_text(s.matrix, ";")})),
        ["e.csv, line 2: '8,691' and every comma here may be one of thousands (8691) or a decimal "
         "one; export the table without the former and with decimal points"],
    ),
    "a label that occurs once": spoilt(
        lambda s: s.column("diagnosis", ["normal", *["tumor"] * 11]),
        ["samples.tsv, column 'diagnosis': class 'normal' has 1 sample; at least 3 are needed"],
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
        GENES.replace(b"gene", b"probe"),
        ["g.tsv: no gene of the matrix is in column 'id'", "'gene1'", "'probe1'"],
    ),
    "a gene table of one column": _annotation(
        b"id\ngene1\n", ["g.tsv: needs two columns: gene id and symbol"]
    ),
    "a gene table without the column": _annotation(
        GENES, ["g.tsv: data.symbol 'symbl' is not a column of g.tsv; did you mean 'symbol'?"],
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
}  # fmt: skip
