"""Exports of programs and portals pass through init and validate, or are refused with a remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

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
    capsys: TEXT, expression: str = "e.tsv", label: str = "group", **data: object
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


def _rows(header: Sequence[object], n_columns: int = len(SAMPLE_NAMES)) -> list[list[object]]:
    """Return a table of logged values below a header that begins with the gene ids' one."""
    values = zip(GENE_NAMES, _logged(n_columns), strict=True)
    return [list(header), *([gene, *row] for gene, row in values)]


READ_WHOLE = "16 samples (8 control, 8 case; positive: case), 40 genes"


def _proposed() -> dict[str, Any]:
    return yaml.safe_load(Path("new/config.yaml").read_text())  # type: ignore[no-any-return]


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_sample_table_on_its_side_is_one_error(delimiter: str, capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    rows = [["variable", *SAMPLE_NAMES], ["group", *CLASS_OF_SAMPLE], ["age", *range(16)]]
    Path("s.csv").write_text("".join(delimiter.join(map(str, row)) + "\n" for row in rows))
    Path("s.tsv").write_text(Path("s.csv").read_text().replace(";", "\t"))
    for code, output in (_init(capsys), _validate(capsys)):
        assert code == 1
        assert output.count("error:") == 1
        assert "s.tsv: has the samples in columns (16 names of the matrix); transpose" in output


def test_ne_beside_responses_is_no_class_and_small_classes_are_named(capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet(["PR"] * 5 + ["SD"] * 4 + ["CR"] * 4 + ["NE"] * 3)
    assert _init(capsys)[0] == 0
    written = Path("new/config.yaml").read_text()
    assert "no label: NE (3); too few for a class, fewer than 7: " in written
    assert "NE" not in _proposed()["data"]["classes"]
    code, output = _validate(capsys)
    assert code == 1
    assert "'NE' (3 samples) is taken for a class; if it says that there is no label" in output


def test_ne_beside_other_words_is_a_class(capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet(["NE", "AD"] * 8)
    code, output = _validate(capsys)
    assert (code, "is taken for a class" in output) == (0, False), output


SOMASCAN_COLUMNS: dict[str, Sequence[object]] = {
    "SlideId": range(258000, 258016),
    "Subarray": [1 + k // 2 for k in range(16)],
    "RowCheck": ["PASS"] * 14 + ["FLAG"] * 2,
    "HybControlNormScale": [1 + k / 1013 for k in range(16)],
    "NormScale_20": [1 - k / 1013 for k in range(16)],
    "ANMLFractionUsed_0_005": [k / 17 for k in range(16)],
}


def test_scale_factors_of_somascan_are_no_genes(capsys: TEXT) -> None:
    values = np.exp2(np.array(_logged()).T).round(1)
    rows = [
        [name, *(cells[k] for cells in SOMASCAN_COLUMNS.values()), *values[k]]
        for k, name in enumerate(SAMPLE_NAMES)
    ]
    _write("e.tsv", [["SampleId", *SOMASCAN_COLUMNS, *GENE_NAMES], *rows])
    _sheet()
    code, output = _validate(capsys)
    assert (code, READ_WHOLE in output) == (0, True), output
    assert "3 columns of totals" not in output
    assert "'HybControlNormScale', 'NormScale_20', 'ANMLFractionUsed_0_005'" in output


@pytest.mark.parametrize(
    ("first_line", "reported"),
    [
        ("!Checksum\t7c2f", "e.txt: is an ADAT file of SomaScan; save its values as a table"),
        ("^HEADER", "e.txt: is an ADAT file of SomaScan; save its values as a table"),
        ("<Header>", "e.txt: is an RCC file of one NanoString lane; export all lanes"),
    ],
)
def test_file_of_an_instrument_with_another_ending_is_named(
    first_line: str, reported: str, capsys: TEXT
) -> None:
    Path("e.txt").write_text(f"{first_line}\n!Version\t1.2\n^TABLE_BEGIN\nSampleId\tG001\nP00\t1\n")
    _sheet()
    for code, output in (_init(capsys, "e.txt"), _validate(capsys, "e.txt")):
        assert (code, output.count("error:"), reported in output) == (1, 1, True), output


@pytest.mark.parametrize("word", ["+", "True"])
def test_rows_marked_as_decoys_are_left_out_and_counted(word: str, capsys: TEXT) -> None:
    headers = ["Reverse", "Potential contaminant", "Only identified by site"]
    rows = _rows(["Protein IDs", *SAMPLE_NAMES, *headers])
    for number, row in enumerate(rows[1:]):
        row += [word if number == 2 + mark else "" for mark in range(3)]
    _write("e.tsv", rows)
    _sheet()
    assert _init(capsys)[0] == 0
    message = "3 contaminants or decoys: 'G002', 'G003', 'G004'; 3 columns beside the genes"
    assert message in Path("new/config.yaml").read_text()
    code, output = _validate(capsys)
    assert (code, READ_WHOLE.replace("40", "37") in output, message in output) == (0, True, True)
    code, output = _validate(capsys, keep=["contaminants"])
    assert (code, READ_WHOLE in output) == (0, True), output


def test_sample_called_reverse_stays_a_sample(capsys: TEXT) -> None:
    names = ["Reverse", *SAMPLE_NAMES[1:]]
    _matrix(["gene", *names])
    _sheet(samples=names)
    code, output = _validate(capsys)
    assert (code, READ_WHOLE in output) == (0, True), output


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("gender", ["male", "female"]),
        ("patientSex", ["1", "2"]),
        ("Geschlecht", ["m", "w"]),
        ("male", ["0", "1"]),
        ("Q3", ["F", "M"]),
        ("race", ["white", "asian"]),
    ],
)
def test_sex_and_origin_are_no_proposed_label_beside_an_outcome(
    column: str, words: list[str], capsys: TEXT
) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    stages = ["stage i", "stage ii"] * 8
    rows = zip(SAMPLE_NAMES, (words[0:1] * 5 + words[1:] * 3) * 2, stages, strict=True)
    _write("s.tsv", [["sample", column, "tumor_stage"], *rows])
    assert _init(capsys)[0] == 0
    assert _proposed()["label"] == "tumor_stage"


def test_sex_as_the_only_column_of_classes_is_doubted(capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    rows = zip(SAMPLE_NAMES, ["male", "female"] * 8, "abcdefgh" * 2, strict=True)
    _write("s.tsv", [["sample", "gender", "subtype"], *rows])
    assert _init(capsys)[0] == 0
    expected = "'gender' is seldom the outcome; other columns: 'subtype'."
    assert expected in Path("new/config.yaml").read_text()


@pytest.mark.parametrize("ids", [[], ["Protein IDs"]])
def test_matrix_without_ids_first_loses_no_sample_in_silence(ids: list[str], capsys: TEXT) -> None:
    rows = [[*row[1:], *(row[:1] if ids else [])] for row in _rows(["gene", *SAMPLE_NAMES])[1:]]
    _write("e.tsv", [[*SAMPLE_NAMES, *ids], *rows])
    _sheet()
    advice = "make 'Protein IDs' the first column" if ids else "add one of gene ids"
    for code, output in (_init(capsys), _validate(capsys)):
        assert code == 1
        assert f"the first column is sample 'P00', and not the gene ids; {advice}" in output


PERSEUS_IDS = ["T: Protein IDs", "T: Gene names"]


@pytest.mark.parametrize(
    "names", [SAMPLE_NAMES, [f"ctrl_{letter}" for letter in "abcdefghijklmnop"]]
)
@pytest.mark.parametrize(("ids", "n_missing"), [([], 0), (PERSEUS_IDS, 0), (PERSEUS_IDS, 24)])
def test_samples_first_as_perseus_writes_them_lose_none_in_silence(
    ids: list[str], n_missing: int, names: list[str], capsys: TEXT
) -> None:
    rows = [[*row[1:], *row[:1] * len(ids)] for row in _rows(["gene", *SAMPLE_NAMES])[1:]]
    for row in rows[:n_missing]:
        row[0] = "NaN"
    marks = ["#!{Type}E", *["E"] * 15, *["T"] * len(ids)]
    _write("e.tsv", [[*(f"LFQ intensity {name}" for name in names), *ids], marks, *rows])
    _sheet(samples=names)
    advice = "make 'T: Protein IDs' the first column" if ids else "add one of gene ids"
    for code, output in (_init(capsys), _validate(capsys)):
        assert code == 1
        assert (
            f"first column is sample 'LFQ intensity {names[0]}', and not the gene ids; {advice}"
            in output
        )


@pytest.mark.parametrize("first_id", [301.2165, 301])
def test_masses_and_numbers_of_genes_below_a_header_of_r_are_ids(
    first_id: float, capsys: TEXT
) -> None:
    names = [f"V{k}" for k in range(1, 18)]
    rows = [[first_id + 3 * k, *row] for k, row in enumerate(_logged())]
    _write("e.tsv", [names, *rows])
    _sheet(samples=names[1:])
    assert _init(capsys)[0] == 0
    code, output = _validate(capsys)
    assert (code, READ_WHOLE in output) == (0, True), output


def test_counts_of_the_rows_before_the_ids_are_passed_over(capsys: TEXT) -> None:
    rows = [[k, k, *row] for k, row in enumerate(_rows(["gene", *SAMPLE_NAMES])[1:])]
    _write("e.tsv", [["Unnamed: 0.1", "Unnamed: 0", "gene", *SAMPLE_NAMES], *rows])
    _sheet()
    code, output = _validate(capsys)
    assert (code, READ_WHOLE in output) == (0, True), output
    assert "the first column counts the rows; they are named by column 'gene'" in output


def test_patient_with_two_specimens_is_named_with_both(capsys: TEXT) -> None:
    names = [f"TCGA-{name}-01A" for name in SAMPLE_NAMES]
    _matrix(["gene", *names, "TCGA-P00-11A"])
    _sheet(samples=[f"TCGA-{name}" for name in SAMPLE_NAMES])
    _, output = _validate(capsys)
    assert "'TCGA-P00' is the beginning of 'TCGA-P00-01A', 'TCGA-P00-11A'" in output


def test_line_break_between_quotes_is_named(capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet()
    text = Path("s.tsv").read_text().replace("P03\tcase", 'P03\t"ca\nse"')
    Path("s.tsv").write_text(text)
    code, output = _validate(capsys)
    assert (code, "a field between quotes holds a line break; take it out" in output) == (1, True)


def test_classes_that_a_spreadsheet_made_dates_are_warned_of(capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet(["0", "3-Jan"] * 8)
    code, output = _validate(capsys)
    assert (code, "may have turned into dates: '3-Jan'" in output) == (0, True), output


def test_low_genes_of_estimated_counts_are_not_warned_of(capsys: TEXT) -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(rng.lognormal(4, 2, (40, 1)), (40, 16)).astype(float)
    counts += np.where(rng.random(counts.shape) < 0.15, rng.random(counts.shape).round(2), 0)
    rows = [[gene, *row] for gene, row in zip(GENE_NAMES, counts.round(2).tolist(), strict=True)]
    _write("e.tsv", [["gene_id", *SAMPLE_NAMES], *rows])
    _sheet()
    code, output = _validate(capsys)
    assert (code, "of whole numbers" in output) == (0, False), output


EVENT_COLUMNS = {
    "OS (months)": ("OS status (1=dead)", ["1", "0"] * 8, None),
    "OS_months": (
        "OS_status",
        ["Alive", "Dead of disease", "Dead of other causes", "Alive"] * 4,
        "Dead",
    ),
}


@pytest.mark.parametrize("time", EVENT_COLUMNS)
def test_times_with_units_and_several_deaths_are_survival(time: str, capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    event, words, expected = EVENT_COLUMNS[time]
    times = np.random.default_rng(2).exponential(30, 16).round(1)
    _write("s.tsv", [["sample", time, event], *zip(SAMPLE_NAMES, times, words, strict=True)])
    assert _init(capsys)[0] == 0
    config = _proposed()
    assert config["label"] == {"time": time, "event": event}
    assert str(config["data"].get("event"))[:4] == str(expected)


def test_column_with_a_slash_is_named_and_not_proposed(capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet(label="case/control")
    assert _init(capsys)[0] == 0
    assert "To use 'case/control', rename it" in Path("new/config.yaml").read_text()
    _, output = _validate(capsys, label="case/control")
    assert "rename it in that table, without a slash" in output


def test_long_table_of_replicates_is_named(capsys: TEXT) -> None:
    rows = [
        [f"well {k}", sample, gene, 20 + k / 1013]
        for k, (sample, gene, _) in enumerate(product(SAMPLE_NAMES, GENE_NAMES[:6], range(3)))
    ]
    _write("e.tsv", [["Well", "Sample Name", "Target Name", "CT"], *rows])
    _sheet()
    for code, output in (_init(capsys), _validate(capsys)):
        assert (code, output.count("error:")) == (1, 1)
        assert "(column 'Sample Name') and a gene ('Target Name') with its value ('CT')" in output


def test_h5ad_after_log1p_of_scanpy_is_read(capsys: TEXT) -> None:
    import anndata
    import pandas as pd

    table = pd.DataFrame({"group": CLASS_OF_SAMPLE}, index=SAMPLE_NAMES)
    genes = pd.DataFrame(index=GENE_NAMES)
    data = anndata.AnnData(np.array(_logged()).T, obs=table, var=genes)
    data.uns["log1p"] = {"base": None}
    data.write_h5ad("e.h5ad")
    code = main(["init", "new", "-e", "e.h5ad"])
    output = "".join(capsys.readouterr())
    assert code == 0, output


def test_redcap_export_keeps_records_together_and_no_column_of_redcap_is_the_label(
    capsys: TEXT,
) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    head = ["record_id", "redcap_event_name", "lab_id", "race___1", "response", "form_complete"]
    rows = [
        [k // 2, ["baseline_arm_1", "followup_arm_1"][k % 2], name, k % 2, k // 2 % 2, 2 * (k % 2)]
        for k, name in enumerate(SAMPLE_NAMES)
    ]
    _write("s.tsv", [head, *rows])
    code, output = _init(capsys)
    config = yaml.safe_load(Path("new/config.yaml").read_text())
    assert code == 0, output
    assert config["label"] == "response"
    assert config["data"]["group"] == "record_id"


@pytest.mark.parametrize("n_unknown", [2, 4])
@pytest.mark.parametrize("word", ["99", "-1", "-9", "-1.0", "9.0"])
def test_99_or_minus_1_beside_0_and_1_is_said_to_be_a_possible_missing_code(
    n_unknown: int, word: str, capsys: TEXT
) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet([*[word] * n_unknown, *(["0", "1"] * 8)[n_unknown:]])
    _, output = _validate(capsys)
    assert f"'{word}' ({n_unknown} samples)" in output
    assert "if it says that there is no label, leave these cells blank" in output
    assert "is taken for a class" in output


@pytest.mark.parametrize("words", [["-1", "1"], ["-2", "-1", "0", "1"], ["8", "9"]])
def test_numbers_of_classes_are_no_missing_codes(words: list[str], capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet((words * 8)[:16])
    _, output = _validate(capsys)
    assert "is taken for a class" not in output


@pytest.mark.parametrize("ending", ["", "|ENSG00000141510.3|OTT|OTT|TP53-201|TP53|1657|x|"])
def test_matrix_of_transcripts_is_warned_of_with_the_remedy(ending: str, capsys: TEXT) -> None:
    rows = [[f"ENST{k:011d}.1{ending}", *row] for k, row in enumerate(_logged())]
    _write("e.tsv", [["target_id", *SAMPLE_NAMES], *rows])
    _sheet()
    code, output = _validate(capsys)
    assert code == 0
    assert "the genes are transcripts ('ENST00000000000.1'); sum them up to genes" in output


def test_first_column_of_kinds_of_probes_yields_to_the_column_of_names(capsys: TEXT) -> None:
    genes = [["Endogenous", name, f"NM_{k}"] for k, name in enumerate(GENE_NAMES[:30])]
    genes += [["Housekeeping", name, f"NM_9{k}"] for k, name in enumerate(GENE_NAMES[30:])]
    genes += [["Negative", f"NEG_{letter}(0)", f"ERCC_{letter}"] for letter in "ABCDEF"]
    counts = np.random.default_rng(0).poisson(200, (len(genes), len(SAMPLE_NAMES)))
    rows = [[*names, *row] for names, row in zip(genes, counts, strict=True)]
    _write("e.tsv", [["Code Class", "Name", "Accession", *SAMPLE_NAMES], *rows])
    _sheet()
    code, output = _validate(capsys)
    assert code == 0, output
    assert "the first column repeats itself; the rows are named by 'Name'" in output
    assert "40 genes" in output
    assert "6 control probes" in output


@pytest.mark.parametrize(("control", "n_left_out"), [("DarkCorner", 4), ("G999", 0)])
def test_short_control_names_of_agilent_count_beside_other_controls_alone(
    control: str, n_left_out: int, capsys: TEXT
) -> None:
    names = [*GENE_NAMES[:36], control, "DCP_22_0", "RC6", "SM_04"]
    rows = [[name, *row] for name, row in zip(names, _logged(), strict=True)]
    _write("e.tsv", [["ProbeName", *SAMPLE_NAMES], *rows])
    _sheet()
    code, output = _validate(capsys)
    assert code == 0, output
    assert f"{40 - n_left_out} genes" in output


def test_absent_patient_is_not_taken_for_normal_tissue(capsys: TEXT) -> None:
    names = [f"TCGA-AA-10{k:02d}" for k in range(len(SAMPLE_NAMES))]
    tissues = [f"{name}-01A" for name in names] + [f"{name}-11A" for name in names[:3]]
    _matrix(["gene", *tissues])
    _sheet(samples=names)
    for _, output in (_init(capsys), _validate(capsys)):
        assert "did you mean" not in output
    assert (
        "'TCGA-AA-1000' is the beginning of 'TCGA-AA-1000-01A', 'TCGA-AA-1000-11A' (of TCGA 01 is "
        "the tumour, 11 normal tissue)" in output
    )


def test_undetermined_cells_of_a_pcr_are_named_by_init(capsys: TEXT) -> None:
    rows = [[gene, *row] for gene, row in zip(GENE_NAMES, _logged(), strict=True)]
    for row in rows[::4]:
        row[1:13] = ["Undetermined"] * 12
    _write("e.tsv", [["target", *SAMPLE_NAMES], *rows])
    _sheet()
    code, output = _init(capsys)
    assert code == 1
    assert "if 'Undetermined' says that nothing was measured, write NA instead" in output


def test_a_few_words_among_the_values_are_named_by_init(capsys: TEXT) -> None:
    rows = [[gene, *row] for gene, row in zip(GENE_NAMES, _logged(), strict=True)]
    rows[3][2] = "failed"
    _write("e.tsv", [["gene", *SAMPLE_NAMES], *rows])
    _sheet()
    assert _init(capsys)[0] == 0
    assert "1 cell of words, 'failed': write NA." in Path("new/config.yaml").read_text()


def test_times_and_events_among_the_genes_are_the_proposed_label(capsys: TEXT) -> None:
    rng = np.random.default_rng(1)
    header = ["sample", *GENE_NAMES, "time", "status"]
    rows = [
        [f"P{k}", *values.round(4), round(rng.exponential(9), 4), k % 2]
        for k, values in enumerate(rng.normal(size=(60, 40)))
    ]
    _write("e.tsv", [header, *rows])
    assert main(["init", "new", "-e", "e.tsv"]) == 0
    config = yaml.safe_load(Path("new/config.yaml").read_text())
    assert config["label"] == {"time": "time", "event": "status"}
    assert config["data"] == {"task": "survival"}
    capsys.readouterr()
    Path("c.yaml").write_text(yaml.safe_dump({**config, "expression": "e.tsv", "samples": "e.tsv"}))
    assert main(["validate", "c.yaml"]) == 0
    assert "60 samples (30 events), 40 genes" in capsys.readouterr().out


def test_init_refuses_values_as_sample_names(capsys: TEXT) -> None:
    values = np.random.default_rng(1).normal(size=(30, 40)).round(4)
    _write("e.tsv", [GENE_NAMES, *values])
    assert main(["init", "new", "-e", "e.tsv"]) == 1
    assert "the first column ('G000') has values such as" in capsys.readouterr().err


@pytest.mark.parametrize("n_cases", [3, 4, 6])
def test_init_proposes_folds_for_a_small_class(n_cases: int, capsys: TEXT) -> None:
    _matrix(["gene", *SAMPLE_NAMES])
    _sheet(["case"] * n_cases + ["control"] * (len(SAMPLE_NAMES) - n_cases))
    assert _init(capsys)[0] == 0
    text = Path("new/config.yaml").read_text()
    assert f"The smallest class has {n_cases} samples: fewer folds than by default." in text
    config = yaml.safe_load(text)
    Path("c.yaml").write_text(yaml.safe_dump({**config, "expression": "e.tsv", "samples": "s.tsv"}))
    assert main(["validate", "c.yaml"]) == 0


def test_percent_signs_are_named_by_init(capsys: TEXT) -> None:
    rows = [
        [gene, *(f"{value}%" for value in row)]
        for gene, row in zip(GENE_NAMES, _logged(), strict=True)
    ]
    _write("e.tsv", [["gene", *SAMPLE_NAMES], *rows])
    _sheet()
    code, output = _init(capsys)
    assert (code, "take the percent signs out" in output) == (1, True), output
