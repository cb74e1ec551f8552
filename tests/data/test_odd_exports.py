"""Exports of programs and portals pass through init and validate, or are refused with a remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml

from genesig.cli import main

SAMPLE_NAMES = [f"P{k:02d}" for k in range(16)]
CLASS_OF_SAMPLE = ["control", "case"] * 8
GENE_NAMES = [f"G{k:03d}" for k in range(40)]
TEXT = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(name: str, rows: Sequence[Sequence[object]]) -> None:
    Path(name).write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))


def _sheet(
    labels: Sequence[str] = CLASS_OF_SAMPLE,
    label: str = "group",
    samples: Sequence[str] = SAMPLE_NAMES,
) -> None:
    _write("s.tsv", [["sample", label], *zip(samples, labels, strict=True)])


def _logged(n: int = len(SAMPLE_NAMES)) -> list[list[float]]:
    values = np.random.default_rng(0).normal(8, 1.3, (len(GENE_NAMES), n)).round(3)
    return [list(map(float, row)) for row in values]


def _matrix(header: Sequence[str], name: str = "e.tsv") -> None:
    rows = [[gene, *row] for gene, row in zip(GENE_NAMES, _logged(len(header) - 1), strict=True)]
    _write(name, [header, *rows])


def _validate(
    capsys: TEXT, expression: str = "e.tsv", label: str = "group", **data: str
) -> tuple[int, str]:
    config = {"expression": expression, "samples": "s.tsv", "label": label, "data": data}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    code = main(["validate", "c.yaml"])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def _init(capsys: TEXT, expression: str = "e.tsv") -> tuple[int, str]:
    code = main(["init", "new", "-e", expression, "-s", "s.tsv"])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_blank_header_cell_without_a_shared_sample_is_one_line(capsys: TEXT) -> None:
    _matrix(["gene", "", *[f"other{k}" for k in range(15)]])
    _sheet()
    for code, output in (_init(capsys), _validate(capsys)):
        assert code == 1
        assert output.count("e.tsv: no sample of s.tsv is here") == 1
        assert "name the samples alike in both" in output


def _quant(k: int) -> str:
    head = "Name\tLength\tEffectiveLength\tTPM\tNumReads\n"
    rows = (f"ENST{g:011d}.1|ENSG1|x|\t1500\t1320.5\t{k + g}.25\t{k + g}.0\n" for g in range(40))
    return head + "".join(rows)


def _abundance(k: int) -> str:
    head = "target_id\tlength\teff_length\test_counts\ttpm\n"
    rows = (f"ENST{g:011d}.1\t1500\t1320.5\t{k + g}.0\t{k + g}.25\n" for g in range(40))
    return head + "".join(rows)


@pytest.mark.parametrize(
    ("text", "file", "program"),
    [(_quant, "quant.sf", "Salmon"), (_abundance, "abundance.tsv", "kallisto")],
)
def test_folders_of_transcripts_are_refused_with_the_remedy(
    text: Callable[[int], str], file: str, program: str, capsys: TEXT
) -> None:
    for k, name in enumerate(SAMPLE_NAMES):
        Path("f", name).mkdir(parents=True)
        Path("f", name, file).write_text(text(k))
    _sheet()
    code, output = _init(capsys, "f")
    assert code == 1
    assert "has one row for each transcript ('ENST00000000000.1')" in output
    assert f"as {program} writes them; sum them up to genes (R's tximport" in output


def _counter_folder(file: Callable[[str], str], head: str, row: str) -> list[str]:
    """Write a counter's file of each sample into a folder of its own; return their names."""
    files = []
    counts = np.random.default_rng(1).poisson(200, (len(SAMPLE_NAMES), len(GENE_NAMES)))
    for k, name in enumerate(SAMPLE_NAMES):
        subfolder = Path("f", f"{k:04d}-{name}")
        subfolder.mkdir(parents=True)
        rows = "".join(row.format(*pair) for pair in zip(GENE_NAMES, counts[k], strict=True))
        (subfolder / file(name)).write_text(head + rows)
        (subfolder / "annotations.txt").write_text("id\tnote\n1\tno gene\n")
        files.append(file(name))
    return files


@pytest.mark.parametrize("names_files", [False, True])
def test_gdc_folders_are_read_by_the_names_of_their_files(names_files: bool, capsys: TEXT) -> None:
    head = "# gene-model: GENCODE v36\ngene_id\tgene_name\tgene_type\tunstranded\tstranded_first\t"
    head += "stranded_second\ttpm_unstranded\tfpkm_unstranded\tfpkm_uq_unstranded\n"
    head += "N_unmapped\t\t\t9\t9\t9\t\t\t\n"
    row = "{0}\t{0}\tcoding\t{1}\t{1}\t{1}\t1.5\t1.5\t2.5\n"
    ending = ".rna_seq.augmented_star_gene_counts.tsv"
    files = _counter_folder(lambda name: f"ab{name}-17{ending}", head, row)
    cases = [f"TCGA-{name}" for name in SAMPLE_NAMES]
    _write(
        "s.tsv",
        [["Case ID", "File Name", "Sample Type"], *zip(cases, files, CLASS_OF_SAMPLE, strict=True)],
    )
    if names_files:
        code, output = _validate(capsys, "f", "Sample Type", files="File Name")
    else:
        assert _init(capsys, "f")[0] == 0
        code, output = _validate(capsys, "f", "Sample Type")
    assert code == 0, output
    assert "16 samples (8 control, 8 case; positive: case), 40 genes" in output


def test_star_folders_of_each_sample_are_read_under_the_names_of_the_folders(capsys: TEXT) -> None:
    _counter_folder(lambda _: "ReadsPerGene.out.tab", "N_unmapped\t9\t8\t7\n", "{0}\t{1}\t3\t4\n")
    _sheet(samples=[f"{k:04d}-{name}" for k, name in enumerate(SAMPLE_NAMES)])
    code, output = _validate(capsys, "f")
    assert code == 0, output
    assert "16 samples (8 control, 8 case; positive: case), 40 genes" in output


NO_BREAK = "non\N{EN DASH}small\N{NO-BREAK SPACE}cell"


@pytest.mark.parametrize(
    "second", [NO_BREAK, "non small cell", "Non\N{NON-BREAKING HYPHEN}small-cell"]
)
def test_classes_that_differ_in_dashes_and_blanks_are_asked_about(
    second: str, capsys: TEXT
) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet(["normal", "non-small cell", "normal", second] * 4)
    code, output = _validate(capsys)
    assert code == 1
    assert "differ only in dashes or blanks; write them alike" in output
    assert _init(capsys)[0] == 0
    written = Path("new/config.yaml").read_text()
    assert "alike, which look like one class" in written
    assert "classes:" not in written.partition("# Seen")[0]


def test_classes_that_end_with_a_minus_stay_two(capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet(["HER2-", "HER2+"] * 8)
    code, output = _validate(capsys)
    assert code == 0, output


@pytest.mark.parametrize(
    ("control", "case"),
    [
        ("Solid Tissue Normal", "Primary Tumor"),
        ("Blood Derived Normal", "Primary Blood Derived Cancer"),
        ("normal adjacent to the tumor", "tumor"),
        ("nontumoral", "adenocarcinoma"),
    ],
)
def test_init_puts_normal_tissue_first(control: str, case: str, capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet([case, control, case, case] * 4, "sample_type")
    assert _init(capsys)[0] == 0
    config = yaml.safe_load(Path("new/config.yaml").read_text())
    assert config["data"]["classes"] == [control, case]


def test_a_row_number_is_no_guess_for_a_sample(capsys: TEXT) -> None:
    header = [f"column {k}" for k in range(16)]
    rows = [[900 + k, *row] for k, row in enumerate(_logged())]
    _write("e.tsv", [["row", *header], *rows])
    _sheet()
    code, output = _init(capsys)
    assert code == 1
    assert "no sample of s.tsv is here" in output
    assert "did you mean" not in output


@pytest.mark.parametrize("ending", [".mtx", ".sav", ".dat", ".dta"])
def test_an_ending_of_another_program_has_no_guess(ending: str, capsys: TEXT) -> None:
    Path(f"e{ending}").write_text("1 2 3\n")
    _sheet()
    code, output = _init(capsys, f"e{ending}")
    assert code == 1
    assert "did you mean" not in output
    assert "save the values as a table with tabs (.tsv)" in output


BLOCKS = {
    "fpkm": ("{}_count", "{}_fpkm", "'P00_count', 'P00_fpkm'", "('_count', '_fpkm')"),
    "maxquant": (
        "Intensity {}",
        "LFQ intensity {}",
        "'Intensity P00', 'LFQ intensity P00'",
        "('Intensity ', 'LFQ intensity ')",
    ),
}


@pytest.mark.parametrize("program", BLOCKS)
def test_two_blocks_of_the_same_samples_are_named(program: str, capsys: TEXT) -> None:
    first_pattern, second, reported, added = BLOCKS[program]
    header = [pattern.format(name) for pattern in (first_pattern, second) for name in SAMPLE_NAMES]
    _matrix(["gene", *header])
    _sheet()
    for code, output in (_init(capsys), _validate(capsys)):
        assert code == 1
        assert output.count("has 2 columns of each sample: ") == 1
        assert reported in output
        assert added in output


def test_signal_and_p_value_under_one_name_are_named(capsys: TEXT) -> None:
    _matrix(["Hybridization REF", *np.repeat(SAMPLE_NAMES, 2)])
    head, body = Path("e.tsv").read_text().split("\n", 1)
    second = "\t".join(["Reporter REF", *["AVG_Signal", "Detection Pval"] * len(SAMPLE_NAMES)])
    Path("e.tsv").write_text(f"{head}\n{second}\n{body}")
    _sheet()
    for code, output in (_init(capsys), _validate(capsys)):
        assert code == 1
        assert "'AVG_Signal', 'Detection Pval' of line 2; keep the columns of one measure" in output
