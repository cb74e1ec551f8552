"""Broken series matrices of GEO, GCT and CLS files."""

from __future__ import annotations

from collections.abc import Callable

from broken_study import Broken, study
from format_files import Numbers, cls, gct12, series_matrix

SERIES, GCT = "GSE1_series_matrix.txt", "e.gct"
NUMBERS = Numbers()


def series_study(change: Callable[[str], str]) -> tuple[dict[str, str], dict[str, object]]:
    study = {"expression": SERIES, "samples": SERIES, "label": "disease state"}
    return {SERIES: change(series_matrix(NUMBERS))}, study


def gct_study(change: Callable[[str], str], classes: str = cls(NUMBERS)) -> tuple[dict, dict]:  # type: ignore[type-arg]
    study = {"expression": GCT, "samples": "c.cls", "label": "class"}
    return {GCT: change(gct12(NUMBERS)), "c.cls": classes}, study


def _without(line: str) -> Callable[[str], str]:
    return lambda text: "".join(
        each for each in text.splitlines(keepends=True) if not each.startswith(line)
    )


CASES = {
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
        series_study(lambda t: series_matrix(NUMBERS, ["GPL96", "GPL97"])),
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
    "cls: numbers of a phenotype": (
        gct_study(str, "#numeric\n#age\n1 2 3 4 5 6 7 8\n"),
        ["c.cls, line 1: holds numbers and not classes", "sample table"],
    ),
    "cls: another number of labels than it says": (
        gct_study(str, cls(NUMBERS).replace("8 2", "9 2")),
        ["c.cls, line 3: has 8 labels where line 1 says 9"],
    ),
    "cls: another number of classes than it says": (
        gct_study(str, cls(NUMBERS).replace("8 2", "8 3")),
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
        gct_study(str, cls(NUMBERS).replace("# normal tumor", "# tumor normal")),
        ["c.cls, line 3: begins with 'normal'", "order of their first sample"],
    ),
}  # fmt: skip

GEO_AND_GCT: dict[str, Broken] = {
    name: study(*case, words) for name, (case, words) in CASES.items()
}
