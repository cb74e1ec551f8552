"""Rows and columns that are neither genes nor samples are left out and reported."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import r_files
import yaml
from fitted_models import GENES, NAMES
from fitted_models import model_of as _model
from settings import study_settings

from genesig.cli import main
from genesig.data.files.gene_ids import with_single_ids
from genesig.data.files.non_gene_kinds import find_annotation_rows
from genesig.data.files.non_genes import _have_equal_values
from genesig.data.files.readers import load_schema, read_matrix
from genesig.data.study.dataset import read_dataset
from genesig.data.validate import examine, resolve_config
from genesig.results import save_json
from genesig.selection.model.shape import add_digest

SAMPLE_NAMES = [f"S{k:02d}" for k in range(1, 25)]
CLASS_OF_SAMPLE = ["control", "case"] * 12
D = 60
IDS = [f"G{k:03d}" for k in range(D)]
SETTINGS = {
    "label": "diagnosis",
    "splits": {"folds": 3, "inner_folds": 3, "repeats": 1, "subsamples": 4},
    "controls": {"permutations": 0},
    "nonlinear": {"enabled": False},
}
Validation = tuple[int, list[str], str]


def _logged(seed: int = 0, n: int = len(SAMPLE_NAMES)) -> Any:
    return np.random.default_rng(seed).normal(8, 1.3, (D, n)).round(4)


def _counts(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.lognormal(6, 1, (D, 1)) * rng.lognormal(0, 0.3, (1, len(SAMPLE_NAMES))))


def _frame(
    values: Any, ids: Sequence[str] = IDS, samples: Sequence[str] = SAMPLE_NAMES
) -> pd.DataFrame:
    return pd.DataFrame(values, index=pd.Index(list(ids), name="gene"), columns=list(samples))


def _with_rows(frame: pd.DataFrame, rows: Mapping[str, Any]) -> pd.DataFrame:
    added_rows = pd.DataFrame(rows, index=frame.columns).T
    return pd.concat([frame, added_rows]).rename_axis("gene")


def _sheet(samples: Sequence[str] = SAMPLE_NAMES, **columns: Sequence[Any]) -> pd.DataFrame:
    labels = CLASS_OF_SAMPLE[: len(samples)]
    index = pd.Index(list(samples), name="sample")
    return pd.DataFrame({"diagnosis": labels, **columns}, index=index)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    _save(_sheet(), "samples.tsv")
    return tmp_path


def _save(frame: pd.DataFrame, name: str, **settings: Any) -> None:
    frame.to_csv(name, sep="," if name.endswith(".csv") else "\t", **settings)


def _validate(capsys: pytest.CaptureFixture[str], expression: str, **changed: Any) -> Validation:
    """Return exit code, messages and the summary of `genesig validate`."""
    config = {"expression": expression, "samples": "samples.tsv", **SETTINGS, **changed}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    capsys.readouterr()
    code = main(["validate", "c.yaml"])
    captured = capsys.readouterr()
    return code, captured.err.splitlines(), captured.out


def _genes(summary: str) -> int:
    number = re.search(r"(\d+) genes?", summary)
    assert number is not None, summary
    return int(number[1])


SUMMARIES = {
    "htseq": ["__no_feature", "__ambiguous", "__too_low_aQual", "__not_aligned"],
    "old htseq": ["no_feature", "ambiguous", "alignment_not_unique"],
    "idxstats": ["*", "unmapped"],
    "star": ["N_unmapped", "N_multimapping", "N_noFeature", "N_ambiguous"],
    "featureCounts": ["Assigned", "Unassigned_Unmapped", "Unassigned_NoFeatures"],
    "star, without its prefix": ["unmapped", "multimapping", "noFeature"],
}


@pytest.mark.parametrize("rows", SUMMARIES.values(), ids=SUMMARIES)
def test_summary_rows_of_counters_are_left_out_and_counted(
    study: Path, capsys: pytest.CaptureFixture[str], rows: list[str]
) -> None:
    counts = _with_rows(
        _frame(_counts()), {name: _counts(k + 1).sum(axis=0) // 3 for k, name in enumerate(rows)}
    )
    _save(counts, "e.tsv")
    steps = {"normalise": {"samples": [{"step": "log_cpm"}]}}
    code, messages, summary = _validate(capsys, "e.tsv", **steps)
    assert (code, _genes(summary)) == (0, D)
    assert messages == [
        f"note: e.tsv: left out, neither genes nor samples: {len(rows)} summary rows of a counter: "
        + ", ".join(f"'{name}'" for name in rows[:3])
        + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")
        + "; to keep them: data.keep: [summaries]"
    ]
    assert f"left out: {len(rows)} non-gene rows" in summary
    _, messages, summary = _validate(capsys, "e.tsv", data={"keep": ["summaries"]}, **steps)
    assert (messages, _genes(summary)) == ([], D + len(rows))


def test_library_sizes_are_those_without_summary_rows(study: Path) -> None:

    counts = _frame(_counts())
    _save(counts, "plain.tsv")
    _save(_with_rows(counts, {"__no_feature": 10 * counts.sum(), "Total": counts.sum()}), "e.tsv")
    data = resolve_config(
        {"expression": "e.tsv", "samples": "samples.tsv", "label": "diagnosis"}, load_schema()
    )["data"]
    both_sizes = [
        read_dataset(study_settings(name, "samples.tsv", "diagnosis", **data))
        for name in ("plain.tsv", "e.tsv")
    ]
    np.testing.assert_array_equal(both_sizes[0].X, both_sizes[1].X)
    reasons = {(note["name"], note["reason"]) for note in both_sizes[1].provenance["dropped"]}
    assert reasons == {("__no_feature", "summary row of a counter"), ("Total", "row of totals")}


CONTROLS = {
    "controls": [
        "AFFX-BioB-3_at",
        "AFFX-r2-Bs-lys-5_at",
        "DarkCorner",
        "(+)E1A_r60_1",
        "NEG_A(0)",
        "POS_B(32)",
        "NegativeControl",
        "NegPrb12",
        "BLANK-3",
    ],
    "controls, of Agilent": ["E1A_r60_a22", "ETG09_12345", "GE_BrightCorner", "(-)3xSLv1"],
    "controls, of a proximity assay": ["Amplification Control", "Inc Ctrl 1", "Ext Ctrl"],
    "controls, of Illumina": ["housekeeping", "negative", "low_stringency_hyb"],
    "controls, of tissue": ["NegProbe-WTX", "Negative Probe", "SystemControl7", "FalseCode4"],
    "controls, of micro-RNA": ["LIG_POS_A(128)", "LIG_NEG_F(0)"],
    "controls, of spots": ["Blank", "EMPTY", "Buffer", "NTC", "control_1", "HybControl"],
    "spikes, of metabolites": ["15:0-18:1(d7) PC (ISTD)", "ISTD_Carnitine-d3"],
    "spikes, of plants": ["ath-miR159a", "UniSp6", "cel-miR-39-3p"],
    "totals, of counts": ["size_factors", "lib.size", "Detected genes", "percent.mt"],
    "totals, of proteins": ["StdDev", "HybControlNormScale", "NormScale_0_005", "PlateScale"],
    "totals, in other languages": ["Summe", "Mittelwert", "moyenne", "promedio"],
    "spikes": ["ERCC-00002", "ERCC.00171", "SIRV101", "cel-miR-39-3p", "PhiX"],
    "contaminants": ["CON__P02769", "REV__Q9Y6K9", "DECOY_P04637", "rev_sp|P04637|P53_HUMAN"],
    "totals": ["Total", "Sum", "library size", "nCount_RNA"],
}


@pytest.mark.parametrize("kind", CONTROLS)
def test_controls_spikes_decoys_and_totals_are_left_out_by_name(
    study: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    names = CONTROLS[kind]
    _save(_with_rows(_frame(_logged()), dict(zip(names, _logged(1), strict=False))), "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, _genes(summary), len(messages)) == (0, D, 1)
    setting = kind.partition(",")[0]
    assert messages[0].endswith(f"; to keep them: data.keep: [{setting}]")
    _, messages, summary = _validate(capsys, "e.tsv", data={"keep": [setting]})
    assert (messages, _genes(summary)) == ([], D + len(names))


GENES_WITH_SUCH_NAMES = [
    "ERCC1",
    "ERCC6L",
    "AFFX-HUMGAPDH/M33197_3_at",
    "NEGR1",
    "MAX",
    "SUMO1",
    "CONT1",
    "REV1",
    "REV3L",
    "hsa-miR-39",
    "Rn_1",
    "NAA10",
    "TOTAL1",
    "NEU1",
    "SPIKE1",
    "IGG1",
    "UNK",
    "EFS",
    "OS9",
    "MEAN1",
    "POSTN",
    "rs12345",
    "MT-CO1",
    "HIST1H4A",
    "N4BP1",
]


def test_genes_with_similar_names_stay(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [*GENES_WITH_SUCH_NAMES, *IDS[len(GENES_WITH_SUCH_NAMES) :]]
    _save(_frame(_logged(), ids), "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, messages, _genes(summary)) == (0, [], D)


def test_a_panel_of_spikes_alone_is_kept(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _save(_frame(_logged(), [f"ERCC-{k:05d}" for k in range(D)]), "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, messages, _genes(summary)) == (0, [], D)


@pytest.mark.parametrize("rule", ["sum", "mean"])
def test_totals_are_told_by_their_values(
    study: Path, capsys: pytest.CaptureFixture[str], rule: str
) -> None:
    values = _frame(_logged())
    _save(_with_rows(values, {"alle": getattr(values, rule)()}), "e.tsv")
    _, messages, summary = _validate(capsys, "e.tsv")
    assert _genes(summary) == D
    assert "1 row of totals: 'alle'" in messages[0]


def test_rows_without_an_id_are_left_out_and_counted(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [*IDS[:-6], "NA", "NA", "", "---", "#N/A", "unknown"]
    frame = _frame(_logged(), ids)
    frame.insert(0, "Entrez_Gene_Id", range(1000, 1000 + D))
    _save(frame, "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, _genes(summary)) == (0, D - 6)
    assert messages == [
        "note: e.tsv: left out, neither genes nor samples: 6 rows without a gene id: 'NA', 'NA', "
        "'' and 3 more; 1 column beside the genes: 'Entrez_Gene_Id'"
    ]


def test_ids_twice_become_their_median(study: Path, capsys: pytest.CaptureFixture[str]) -> None:

    ids = [*IDS[:-3], *IDS[:2], IDS[0]]
    _save(_frame(_logged(), ids), "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, _genes(summary)) == (0, D - 3)
    assert messages == [
        "warning: e.tsv: gene id 'G000' occurs 3 times (lines 2, 59, 61); 1 further id, too; their "
        "median in each sample is taken"
    ]
    single, _ = with_single_ids(read_matrix("e.tsv").transpose(), "e.tsv")
    np.testing.assert_array_equal(single.cells[:, 0], np.median(_logged()[[0, 57, 59]], axis=0))


def test_a_first_column_that_repeats_itself_is_refused(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _save(_frame(_logged(), [f"chr{k % 20}" for k in range(D)]), "e.tsv")
    code, messages, _ = _validate(capsys, "e.tsv")
    assert code == 1
    assert "is the first column that of the gene ids?" in messages[0]


def test_a_cell_that_is_no_number_in_a_repeated_id_is_named(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = _frame(_logged(), [*IDS[:-1], IDS[0]]).astype(object)
    frame.iloc[D - 1, 3] = "8.x"
    _save(frame, "e.tsv")
    code, messages, _ = _validate(capsys, "e.tsv")
    assert code == 1
    assert "gene 'G000', sample 'S04': the value is '8.x', not a number" in messages[0]


def test_columns_of_the_sample_table_among_the_genes_are_left_out(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(3)
    time = rng.integers(10, 2000, 24)
    event = np.arange(24) % 3 % 2
    columns = {
        "OS.time": time,
        "OS": event,
        "age": rng.integers(30, 80, 24),
        "score": _logged(4)[0],
    }
    _save(_sheet(**columns), "samples.tsv")
    coded = {"diagnosis": [int(label == "case") for label in CLASS_OF_SAMPLE]}
    frame = _with_rows(_frame(_logged()), {**columns, **coded}).T.rename_axis("sample")
    _save(frame, "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, _genes(summary)) == (0, D)
    assert "left out: 5 non-gene rows" in summary
    assert [line for line in messages if "5 columns of the sample table" in line]
    survival = {"label": {"time": "OS.time", "event": "OS"}, "data": {"task": "survival"}}
    code, _, summary = _validate(capsys, "e.tsv", **survival)
    assert (code, _genes(summary)) == (0, D)


def test_a_file_that_is_matrix_and_sample_table_leaves_its_label_out(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = _frame(_logged()).T.rename_axis("sample")
    frame.insert(0, "type", CLASS_OF_SAMPLE)
    frame.insert(1, "age", np.random.default_rng(2).integers(30, 80, 24))
    frame.insert(2, "OS", np.arange(24) % 3 % 2)
    _save(frame, "e.csv")
    code, messages, summary = _validate(capsys, "e.csv", samples="e.csv", label="type")
    assert (code, _genes(summary)) == (0, D)
    assert "3 columns of the sample table: 'type', 'age', 'OS'" in messages[0]


ABOUT_SAMPLES = {
    "ages": np.random.default_rng(2).integers(30, 80, 24),
    "codes": np.arange(24) // 4 % 2,
    "grades": np.arange(24) % 3 + 1,
}


@pytest.mark.parametrize("values", ABOUT_SAMPLES.values(), ids=ABOUT_SAMPLES)
def test_whole_numbers_among_decimals_are_named(
    study: Path, capsys: pytest.CaptureFixture[str], values: Any
) -> None:
    _save(_with_rows(_frame(_logged()), {"Wert": values}), "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, _genes(summary)) == (0, D + 1)
    warning = "warning: e.tsv: 1 row of whole numbers where the genes have decimals: 'Wert'; take "
    assert f"{warning}out what describes the samples and is no gene" in messages
    frame = _with_rows(_frame(_logged()), {"Wert": values}).T.rename_axis("sample")
    frame.insert(0, "type", CLASS_OF_SAMPLE)
    _save(frame, "e.csv")
    code, messages, summary = _validate(capsys, "e.csv", samples="e.csv", label="type")
    assert (code, _genes(summary)) == (0, D)
    assert "2 columns of the sample table: 'type', 'Wert'" in messages[0]


@pytest.mark.parametrize("n_columns", [4, 10])
def test_several_columns_of_samples_in_a_small_matrix_are_left_out(
    study: Path, capsys: pytest.CaptureFixture[str], n_columns: int
) -> None:
    rng = np.random.default_rng(2)
    columns = {
        "age": rng.integers(30, 80, 24),
        "OS": rng.integers(100, 2000, 24),
        "event": np.arange(24) % 3 % 2,
        "sex": np.arange(24) // 2 % 2,
        **{f"Wert {k}": rng.integers(1, 6, 24) for k in range(n_columns - 4)},
    }
    frame = _with_rows(_frame(_logged()), columns).T.rename_axis("sample")
    frame.insert(0, "type", CLASS_OF_SAMPLE)
    _save(frame, "e.csv")
    code, messages, summary = _validate(capsys, "e.csv", samples="e.csv", label="type")
    assert (code, _genes(summary)) == (0, D)
    assert f"{n_columns + 1} columns of the sample table: 'type', 'age', 'OS'" in messages[0]


@pytest.mark.parametrize("n_whole", [15, D])
def test_counts_and_estimated_counts_with_names_of_times_are_genes(
    study: Path, capsys: pytest.CaptureFixture[str], n_whole: int
) -> None:
    X = _counts() + 0.37
    X[:n_whole] = np.floor(X[:n_whole])
    _save(_frame(X, ["age", "OS", *IDS[2:]]).T.assign(type=CLASS_OF_SAMPLE), "e.csv")
    code, messages, summary = _validate(capsys, "e.csv", samples="e.csv", label="type")
    assert (code, _genes(summary)) == (0, D)
    assert not any("whole numbers where" in line for line in messages)


GENES_OF_WHOLE_NUMBERS = {
    "four digits": lambda x: np.vectorize(lambda v: float(f"{v:.4g}"))(2**x),
    "a floor": lambda x: np.vstack([np.maximum(x[:-1], 4), np.where(x[-1:] > 11, x[-1:], 4)]),
    "a gene that is off": lambda x: np.vstack([x[:-1], np.eye(1, x.shape[1])]),
    "counts": lambda x: np.round(2**x),
}


@pytest.mark.parametrize("values", GENES_OF_WHOLE_NUMBERS.values(), ids=GENES_OF_WHOLE_NUMBERS)
def test_whole_numbers_by_rounding_are_those_of_genes(
    study: Path, capsys: pytest.CaptureFixture[str], values: Any
) -> None:
    X = _logged()
    X[:3] += 5  # above 1000, where four digits leave no decimals
    _save(_frame(values(X)), "e.tsv")
    _, messages, _ = _validate(capsys, "e.tsv")
    assert not any("whole numbers where" in line for line in messages)


def test_columns_are_equal_up_to_rounding_only() -> None:
    ages = np.arange(40.0, 60.0)
    assert _have_equal_values(ages * (1 + 1e-7), ages)
    assert not _have_equal_values(ages + 0.4, ages)


def test_a_gene_that_is_called_as_a_column_of_the_sample_table_stays(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _save(_sheet(G001=["mutated", "wild"] * 12, G002=_logged(9)[0]), "samples.tsv")
    _save(_frame(_logged()), "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, messages, _genes(summary)) == (0, [], D)


def test_two_versions_of_a_gene_are_counted(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [f"ENSG{k // 2:011d}.{k % 2 + 1}" for k in range(6)] + ["ENSG00000000009.1"]
    ids += ["ENSG00000000009.1_PAR_Y", *IDS[8:]]
    _save(_frame(_logged(), ids), "e.tsv")
    code, messages, summary = _validate(capsys, "e.tsv")
    assert (code, _genes(summary)) == (0, D)
    assert messages == [
        "warning: e.tsv, line 3: gene 'ENSG00000000000.2' is 'ENSG00000000000.1' in another "
        "version; 2 further genes, too; both count as genes: keep one of them"
    ]


def test_a_count_of_the_rows_among_the_genes_is_left_out(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = _frame(_logged()).T.rename_axis("sample")
    frame.insert(0, "Unnamed: 0", range(24))
    _save(frame, "e.csv")
    code, messages, summary = _validate(capsys, "e.csv")
    assert (code, _genes(summary), "'Unnamed: 0'" in messages[0]) == (0, D, True)


def _folder(text: Any, ending: str) -> None:
    Path("f").mkdir()
    for k, name in enumerate(SAMPLE_NAMES):
        (Path("f") / f"{name}{ending}").write_text(text(k))


def _htseq(k: int) -> str:
    counts = _counts()[:, k]
    return "".join(
        f"{gene}\t{n}\n" for gene, n in zip([*IDS, "__no_feature"], [*counts, 9], strict=True)
    )


def _star(k: int) -> str:
    counts = _counts()[:, k]
    rows = [f"N_{of}\t9\t8\t7\n" for of in ("unmapped", "multimapping", "noFeature", "ambiguous")]
    return "".join(
        [*rows, *(f"{g}\t{n}\t{n // 2}\t{n - n // 2}\n" for g, n in zip(IDS, counts, strict=True))]
    )


def _gdc(k: int) -> str:
    head = "# gene-model: GENCODE v36\ngene_id\tgene_name\tgene_type\tunstranded\tstranded_first\t"
    head += "stranded_second\ttpm_unstranded\tfpkm_unstranded\tfpkm_uq_unstranded\n"
    head += "N_unmapped\t\t\t9\t9\t9\t\t\t\n"
    rows = zip(IDS, _counts()[:, k], strict=True)
    return head + "".join(
        f"{g}\t{g}\tcoding\t{n}\t{n}\t{n}\t{n / 7:.2f}\t1.5\t2.5\n" for g, n in rows
    )


def _rsem(k: int) -> str:
    head = "gene_id\ttranscript_id(s)\tlength\teffective_length\texpected_count\tTPM\tFPKM\n"
    rows = zip(IDS, _counts()[:, k], strict=True)
    return head + "".join(f"{g}\tT1,T2\t900.00\t700.5\t{n}.00\t1.2\t0.9\n" for g, n in rows)


def _featurecounts(k: int) -> str:
    head = "# Program:featureCounts v2.0.1\nGeneid\tChr\tStart\tEnd\tStrand\tLength\t"
    rows = zip(IDS, _counts()[:, k], strict=True)
    return f"{head}bam/{SAMPLE_NAMES[k]}.bam\n" + "".join(
        f"{g}\tchr1\t5\t99\t+\t95\t{n}\n" for g, n in rows
    )


def _with_header(k: int) -> str:
    return "gene\t" + str(k) + "\n" + "".join(_htseq(k).splitlines(keepends=True)[:-1])


def _htseq_with_symbols(k: int) -> str:
    rows = zip(IDS, _counts()[:, k], strict=True)
    return "".join(f"{g}\tSYM{g}\t{n}\n" for g, n in rows) + "__no_feature\t\t9\n"


def _stringtie(k: int) -> str:
    head = "Gene ID\tGene Name\tReference\tStrand\tStart\tEnd\tCoverage\tFPKM\tTPM\n"
    rows = zip(IDS, _counts()[:, k], strict=True)
    return head + "".join(f"{g}\t{g}\tchr1\t+\t1\t2\t{n / 5}\t{n / 9}\t{n / 7}\n" for g, n in rows)


def _cufflinks(k: int) -> str:
    head = "tracking_id\tclass_code\tgene_id\tgene_short_name\tlocus\tlength\tcoverage\tFPKM\t"
    rows = zip(IDS, _counts()[:, k], strict=True)
    return f"{head}FPKM_conf_lo\tFPKM_conf_hi\tFPKM_status\n" + "".join(
        f"{g}\t-\t{g}\t{g}\tchr1:1-2\t-\t-\t{n / 9}\t{n / 10}\t{n / 8}\tOK\n" for g, n in rows
    )


FOLDERS = {
    "htseq, with symbols": (_htseq_with_symbols, ".htseq.tsv"),
    "stringtie": (_stringtie, "_gene_abund.tab"),
    "cufflinks": (_cufflinks, ".fpkm_tracking"),
    "htseq": (_htseq, ".counts.txt"),
    "htseq, by its own ending": (_htseq, ".htseq.counts"),
    "rsem": (_rsem, ".genes.results"),
    "star": (_star, "ReadsPerGene.out.tab"),
    "gdc": (_gdc, ".rna_seq.augmented_star_gene_counts.tsv"),
    "featurecounts": (_featurecounts, ".txt"),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("writer", FOLDERS)
def test_a_folder_of_one_file_a_sample_loses_no_gene(
    study: Path, capsys: pytest.CaptureFixture[str], writer: str
) -> None:
    text, ending = FOLDERS[writer]
    _folder(text, ending)
    steps = {"normalise": {"samples": [{"step": "log_cpm"}]}}
    code, _, summary = _validate(capsys, "f", **steps)
    assert (code, _genes(summary), summary.split()[5]) == (0, D, "24")
    files = [f"{name}{ending}" for name in SAMPLE_NAMES]
    _save(_sheet(file=files), "samples.tsv")
    code, _, summary = _validate(capsys, "f", data={"files": "file"}, **steps)
    assert (code, _genes(summary)) == (0, D)


def test_a_header_with_a_number_as_sample_name_stays_a_header(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _folder(_with_header, ".txt")
    _save(_sheet([str(k) for k in range(24)]), "samples.tsv")
    steps = {"normalise": {"samples": [{"step": "log_cpm"}]}}
    code, _, summary = _validate(capsys, "f", **steps)
    assert (code, _genes(summary)) == (0, D)


def test_a_matrix_without_a_header_is_named(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _save(_frame(_logged()), "e.tsv", header=False)
    code, messages, _ = _validate(capsys, "e.tsv")
    assert code == 1
    assert messages[0].startswith("error: e.tsv: has no header: its first line begins with 'G000'")


def test_rows_that_are_counted_take_the_names_beside_them(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _save(_frame(_logged()).reset_index(), "e.csv")
    code, messages, summary = _validate(capsys, "e.csv")
    assert (code, _genes(summary)) == (0, D)
    assert "they are named by column 'gene'" in messages[0]


def _long(order: str) -> pd.DataFrame:
    frame = _frame(_logged()).rename_axis("Assay").reset_index()
    long = frame.melt(id_vars="Assay", var_name="SampleID", value_name="NPX")
    long["OlinkID"] = [f"OID{IDS.index(gene):05d}" for gene in long["Assay"]]
    return long.assign(Panel="Inflammation", LOD=0.5, QC="PASS").sort_values(order, kind="stable")


@pytest.mark.parametrize("order", ["SampleID", "Assay"])
def test_a_long_table_is_named_with_its_columns(
    study: Path, capsys: pytest.CaptureFixture[str], order: str
) -> None:
    _save(_long(order), "npx.csv", index=False)
    code, messages, _ = _validate(capsys, "npx.csv")
    assert (code, len(messages)) == (1, 1)
    assert (
        "is a long table: each row is a sample (column 'SampleID') and a gene ('Assay')"
        in messages[0]
    )
    assert "pivot_table(index='Assay', columns='SampleID', values='NPX')" in messages[0]
    assert main(["init", "new", "-e", "npx.csv"]) == 1
    assert "is a long table" in capsys.readouterr().err


def test_long_table_of_whole_numbers_with_a_superscript_is_named(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = _long("SampleID")
    counts = (100 * long["NPX"]).astype(int).abs().astype(str)
    counts.iloc[3] = "²"
    _save(long.assign(NPX=counts), "npx.csv", index=False)
    code, messages, _ = _validate(capsys, "npx.csv")
    assert code == 1
    assert "is a long table" in messages[0]


def _cohort(frame: pd.DataFrame, samples: Sequence[str]) -> dict[str, Any]:
    _save(frame, "x.tsv")
    _save(_sheet(samples), "xs.tsv")
    return {"external": [{"name": "b", "expression": "x.tsv", "samples": "xs.tsv"}]}


NEW = [f"T{k:02d}" for k in range(24)]


def test_external_cohorts_leave_out_what_training_leaves_out(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _save(_frame(_logged()), "e.tsv")
    cohort_frame = _with_rows(_frame(_logged(7), samples=NEW), {"__no_feature": _logged(8)[0]})
    cohort_frame = cohort_frame.rename(index={"G005": "G004"})
    cohort_frame.insert(0, "Entrez_Gene_Id", range(len(cohort_frame)))
    code, messages, _ = _validate(capsys, "e.tsv", **_cohort(cohort_frame, NEW))
    assert code == 0
    assert (
        "note: x.tsv: left out, neither genes nor samples: 1 summary row of a counter: "
        "'__no_feature'; 1 column beside the genes: 'Entrez_Gene_Id'; to keep them: "
        "data.keep: [summaries]" in messages
    )
    assert any("gene id 'G004' occurs 2 times" in line for line in messages)


@pytest.mark.parametrize("variant", ["noise", "copies", "raw", "scaled"])
def test_patients_processed_again_are_found_in_an_external_cohort(
    study: Path, capsys: pytest.CaptureFixture[str], variant: str
) -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(8, 1, (200, 24))
    repeated_values = np.hstack([values[:, :12], rng.normal(8, 1, (200, 12))])
    repeated_values = {
        "noise": repeated_values + rng.normal(0, 0.05, repeated_values.shape),
        "copies": repeated_values,
        "raw": 2**repeated_values,
        "scaled": 3 + 1.3 * repeated_values + rng.normal(0, 1, (200, 1)),
    }[variant]
    ids = [f"G{k:03d}" for k in range(200)]
    _save(_frame(values.round(4), ids), "e.tsv")
    config = {"expression": "e.tsv", "samples": "samples.tsv", **SETTINGS}
    config |= _cohort(_frame(repeated_values.round(4), ids, NEW), NEW)

    problems = examine(config, load_schema(), "c.yaml").problems
    seen_messages = [problem.message for problem in problems if problem.code == "seen_in_training"]
    assert len(seen_messages) == 1
    assert seen_messages[0].startswith("12 samples ")


def test_other_patients_are_not_taken_for_those_of_the_study(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(6)
    ids = [f"G{k:03d}" for k in range(200)]
    base = rng.normal(8, 2, (200, 1))
    _save(_frame((base + rng.normal(0, 1, (200, 24))).round(4), ids), "e.tsv")
    cohort_frame = _frame((base + rng.normal(0.5, 1, (200, 24))).round(4), ids, NEW)
    _, messages, _ = _validate(capsys, "e.tsv", **_cohort(cohort_frame, NEW))
    assert messages == []


def _bumped(ids: Sequence[str]) -> list[str]:
    return [gene if k % 3 else f"{gene.split('.')[0]}.99" for k, gene in enumerate(ids)]


ENSEMBL = [f"ENSG{k:011d}.{k % 7 + 1}" for k in range(D)]


@pytest.mark.parametrize("behind", ["", "_TP53", "|TP53"], ids=["ids", "symbols", "after a bar"])
def test_versions_of_ids_are_counted_in_external_cohorts_and_studies(
    study: Path, capsys: pytest.CaptureFixture[str], behind: str
) -> None:
    _save(_frame(_logged(), [gene + behind for gene in ENSEMBL]), "e.tsv")
    cohort_frame = _frame(_logged(7), [gene + behind for gene in _bumped(ENSEMBL)], NEW)
    _, messages, _ = _validate(capsys, "e.tsv", **_cohort(cohort_frame, NEW))
    hint = "20 of the 60 genes of the study are not here; 20 of them are here in another version, "
    assert any(
        f"{hint}as 'ENSG00000000000.99{behind}' for 'ENSG00000000000.1{behind}'" in line
        for line in messages
    )
    studies = [
        {"name": name, "expression": f"{file}.tsv", "samples": sheet}
        for name, file, sheet in (("a", "e", "samples.tsv"), ("b", "x", "xs.tsv"))
    ]
    config = {**SETTINGS, "studies": studies, "splits": {"subsamples": 4}}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    main(["validate", "c.yaml"])
    stderr = capsys.readouterr().err
    assert (
        "20 of the 60 genes of 'a' are not in 'b'; 20 of them are here in another version" in stderr
    )


def test_several_studies_leave_out_what_one_study_leaves_out(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"__no_feature": _logged(8)[0], "AFFX-BioB-3_at": _logged(8)[1], "NA": _logged(8)[2]}
    _save(_with_rows(_frame(_logged()), rows), "e.tsv")
    _save(_with_rows(_frame(_logged(7), samples=NEW), rows), "x.tsv")
    _save(_sheet(NEW), "xs.tsv")
    studies = [
        {"name": name, "expression": f"{file}.tsv", "samples": sheet}
        for name, file, sheet in (("a", "e", "samples.tsv"), ("b", "x", "xs.tsv"))
    ]
    config = {**SETTINGS, "studies": studies, "splits": {"subsamples": 4}}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    assert main(["validate", "c.yaml"]) == 0
    captured = capsys.readouterr()
    assert _genes(captured.out) == D
    assert (
        captured.err.count("1 control probe: 'AFFX-BioB-3_at'; 1 row without a gene id: 'NA'") == 2
    )


def test_ages_among_the_genes_of_a_study_do_not_make_its_values_raw(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [f"L{k}" for k in range(5 * D)]
    large = [np.random.default_rng(seed).normal(8, 1.3, (5 * D, 24)).round(3) for seed in (1, 2)]
    ages = np.random.default_rng(3).integers(30, 80, 24)
    _save(_frame(large[0], ids), "e.tsv")
    _save(_with_rows(_frame(large[1], ids, NEW), {"Wert": ages}), "x.tsv")
    _save(_sheet(NEW), "xs.tsv")
    studies = [
        {"name": name, "expression": f"{file}.tsv", "samples": sheet}
        for name, file, sheet in (("a", "e", "samples.tsv"), ("b", "x", "xs.tsv"))
    ]
    config = {**SETTINGS, "studies": studies, "splits": {"subsamples": 4}}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    assert main(["validate", "c.yaml"]) == 0
    assert "x.tsv: 1 row of whole numbers" in capsys.readouterr().err


def _new_samples(**columns: Any) -> pd.DataFrame:
    """Return the training samples of the fitted model as new ones, behind further columns."""
    _, data = _model("plain")
    frame = pd.DataFrame(data.X.T, index=pd.Index(GENES, name="Hugo_Symbol"), columns=NAMES)
    for name, values in columns.items():
        frame.insert(0, name, values)
    return frame


def _predict(frame: pd.DataFrame, *options: str) -> pd.DataFrame:
    model, _ = _model("plain")
    Path("model.json").write_text(json.dumps(model))
    _save(frame, "new.tsv")
    assert main(["predict", "model.json", "new.tsv", *options]) == 0
    return pd.read_csv("predictions.tsv", sep="\t", index_col="sample")


COLUMNS_BESIDE_GENES = {
    "Entrez_Gene_Id": range(1000, 1000 + len(GENES)),
    "Description": ["a protein"] * len(GENES),
    "gene_type": ["coding"] * len(GENES),
    "Chr": [k % 22 + 1 for k in range(len(GENES))],
    "Length": [900 + k % 7 for k in range(len(GENES))],
}


@pytest.mark.parametrize("column", COLUMNS_BESIDE_GENES)
def test_predict_scores_no_column_beside_the_genes(
    study: Path, capsys: pytest.CaptureFixture[str], column: str
) -> None:
    plain = _predict(_new_samples())
    scored = _predict(_new_samples(**{column: COLUMNS_BESIDE_GENES[column]}))
    pd.testing.assert_frame_equal(scored, plain)
    assert f"1 column beside the genes: '{column}'" in capsys.readouterr().err


TOTALS = {
    "by name": ("Total reads", lambda frame: frame.iloc[:, 0] + 0.25),
    "a sum": ("alle", lambda frame: frame.sum(axis=1)),
    "a mean": ("mittel", lambda frame: frame.mean(axis=1)),
}


@pytest.mark.parametrize("name", TOTALS)
def test_predict_scores_no_column_of_totals(
    study: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    column, values = TOTALS[name]
    plain = _predict(_new_samples())
    frame = _new_samples()
    frame[column] = values(frame)
    pd.testing.assert_frame_equal(_predict(frame), plain)
    assert f"1 column beside the genes: '{column}'" in capsys.readouterr().err


def test_predict_tells_ids_from_samples_by_their_values(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    ids = np.random.default_rng(1).permutation(np.arange(100, 100 + D))
    frame = _frame(_counts())
    frame.insert(0, "nr", ids)
    _save(frame, "e.tsv")
    assert find_annotation_rows(read_matrix("e.tsv").transpose(), None) == {0}
    _save(_frame(_counts()), "e.tsv")
    assert find_annotation_rows(read_matrix("e.tsv").transpose(), None) == set()


def test_predict_leaves_summary_rows_out_and_takes_medians_of_ids_twice(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = _predict(_new_samples())
    frame = _new_samples()
    twice = pd.concat([frame, frame.iloc[[0]]])
    scored = _predict(_with_rows(twice, {"__no_feature": np.arange(len(NAMES)) + 0.5}))
    pd.testing.assert_frame_equal(scored, plain)
    stderr = capsys.readouterr().err
    assert "1 summary row of a counter: '__no_feature'" in stderr
    assert "gene id 'g0' occurs 2 times" in stderr


def test_predict_counts_ids_of_another_version(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = _model("plain")
    versions = {gene: f"ENSG{k:011d}.1" for k, gene in enumerate(GENES)}
    text = json.dumps(model)
    for gene, versioned_gene in sorted(versions.items(), reverse=True):
        text = text.replace(f'"{gene}"', f'"{versioned_gene}"')
    save_json(Path("model.json"), add_digest(json.loads(text)))
    chosen = json.loads(text)["models"][-1]["genes"][0]
    ids = [gene.replace(".1", ".2") if gene == chosen else gene for gene in versions.values()]
    _save(pd.DataFrame(data.X.T, index=pd.Index(ids, name="gene"), columns=NAMES), "new.tsv")
    main(["predict", "model.json", "new.tsv", "--missing", "0"])
    bare = chosen.split(".")[0]
    stderr = capsys.readouterr().err
    assert f"1 of them are here in another version, as '{bare}.2' for '{chosen}'" in stderr


@pytest.mark.parametrize("first_column", ["genes", "samples"])
def test_a_dgelist_with_genes_gives_its_samples_and_its_genes(
    study: Path, capsys: pytest.CaptureFixture[str], first_column: str
) -> None:
    counts = r_files.matrix(_counts().astype(float).tolist(), (IDS, SAMPLE_NAMES))
    tables = {
        "genes": r_files.data_frame(
            {"Symbol": r_files.strings([f"SYM{k}" for k in range(D)])}, IDS
        ),
        "samples": r_files.data_frame(
            {
                "group": r_files.factor(CLASS_OF_SAMPLE, ["case", "control"]),
                "lib.size": r_files.reals(_counts().sum(axis=0).tolist()),
            },
            SAMPLE_NAMES,
        ),
    }
    names = ["counts", *sorted(tables, key=lambda name: name != first_column)]
    values = [counts, *(tables[name] for name in names[1:])]
    Path("d.rds").write_bytes(r_files.saved(r_files.listed(values, names)))
    steps = {"normalise": {"samples": [{"step": "log_cpm"}]}, "data": {"annotation": "d.rds"}}
    code, messages, summary = _validate(capsys, "d.rds", samples="d.rds", label="group", **steps)
    assert (code, messages, _genes(summary)) == (0, [], D)
    assert "24 samples (12 control, 12 case" in summary


def test_init_counts_no_gene_that_is_none_and_lists_samples_alone(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = _with_rows(_frame(_logged()), {"__no_feature": 1e6 + _logged(8)[0]})
    frame.insert(0, "Entrez_Gene_Id", range(7, 7 + len(frame)))
    _save(frame, "e.tsv")
    assert main(["init", "new", "-e", "e.tsv"]) == 0
    assert Path("new/samples.tsv").read_text().split("\n")[1:-1] == [
        f"{s}\t\t" for s in SAMPLE_NAMES
    ]
    text = Path("new/config.yaml").read_text()
    assert "Left out, neither genes nor samples: 1 summary row of a counter: '__no_feature'" in text
    assert "normalise" not in yaml.safe_load(text)
