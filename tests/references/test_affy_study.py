"""A folder of arrays as a study: read, normalised on training arrays, one new array predicted."""

import numpy as np
import pytest
from array_files import cdf_binary, cel_binary, cel_command_console, cel_text
from rma import rma, sets_of
from settings import study_settings

from genesig.data.files.affy.folder import read_cel_folder
from genesig.data.files.readers import load_schema, read_matrix, read_unpacked
from genesig.data.steps.gene_filters import with_sets
from genesig.data.steps.normalise import fit_steps, normalise_samples, with_summaries_applied
from genesig.data.study.dataset import read_dataset, read_inputs
from genesig.data.validate import examine_study, resolve_config
from genesig.errors import InvalidInput
from genesig.results.run import sha256

SIDE = 60
N_SETS = 120
N_PAIRS = 11
SAMPLE_STEPS = [{"step": "rma_background"}]
FOLDS = [{"step": "quantile"}, {"step": "median_polish", "by": None}]
CHOICES = {"annotation": "genes.tsv"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with 12 arrays in all three forms, their layout, a sheet and a gene table."""
    rng = np.random.default_rng(0)
    pairs = rng.permutation(SIDE * SIDE)[: N_SETS * N_PAIRS * 2].reshape(N_SETS, N_PAIRS, 2)
    names = [f"{k}_at" for k in range(N_SETS)]
    affinity = rng.lognormal(6, 1, SIDE * SIDE)
    level = rng.normal(0, 0.2, (12, N_SETS))
    level[6:, :10] += 2
    forms = [cel_text, cel_binary, cel_command_console]
    (tmp_path / "arrays").mkdir()
    for k in range(12):
        light = affinity * rng.lognormal(0, 0.1, SIDE * SIDE)
        light[pairs[:, :, 0]] *= 2 ** level[k][:, None]
        glow = rng.normal(100, 15, SIDE * SIDE).clip(1)
        content = forms[k % 3]((light + glow).round(1).reshape(SIDE, SIDE))
        (tmp_path / "arrays" / f"s{k:02}.CEL").write_bytes(content)
    (tmp_path / "arrays" / "Toy.cdf").write_bytes(cdf_binary(names, pairs, SIDE, SIDE))
    rows = [f"s{k:02}\t{'high' if k > 5 else 'low'}\n" for k in range(12)]
    (tmp_path / "samples.tsv").write_text("sample\tclass\n" + "".join(rows))
    genes = [f"{name}\tGENE{k // 2}\n" for k, name in enumerate(names)]
    (tmp_path / "genes.tsv").write_text("gene\tsymbol\n" + "".join(genes))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_becomes_a_study(folder):
    raw = read_dataset(study_settings("arrays", "samples.tsv", "class", **CHOICES))
    assert raw.samples == [f"s{k:02}" for k in range(12)]
    assert raw.genes[:3] == ["0_at", "0_at#10", "0_at#11"]
    assert list(raw.var["symbol"][:2]) == ["GENE0", "GENE0"]
    assert raw.provenance["warnings"] == []
    dataset = normalise_samples(raw, samples=SAMPLE_STEPS, folds=FOLDS)
    training = np.arange(11)
    new = dataset.X[11:]
    fitted = fit_steps(dataset.X[training], with_sets(FOLDS, dataset.var))
    assert [dataset.genes[k] for k in fitted.genes] == sorted(f"{k}_at" for k in range(N_SETS))
    joint_values = rma(raw.X, sets_of(raw.genes))
    # Of its own array only, and yet within a few hundredths of what all arrays together give.
    assert np.abs(fitted.transform(new) - joint_values[11:]).max() < 0.3
    assert np.abs(fitted.transform(new) - joint_values[11:]).mean() < 0.05
    difference = joint_values[6:].mean(axis=0) - joint_values[:6].mean(axis=0)
    highest = [dataset.genes[fitted.genes[k]] for k in np.argsort(-difference)[:10]]
    assert set(highest) == {f"{k}_at" for k in range(10)}


def test_a_sheet_may_name_the_files_of_its_samples(folder):
    """Other files of the folder are left alone, and files of subfolders are found."""
    plain = read_dataset(study_settings("arrays", "samples.tsv", "class", **CHOICES))
    (folder / "arrays" / "later").mkdir()
    (folder / "arrays" / "s11.CEL").rename("arrays/later/GSM11_scan.CEL")
    names = [f"s{k:02}.CEL" for k in range(11)] + ["later/GSM11_scan.CEL"]
    rows = [f"patient{k}\t{'high' if k > 5 else 'low'}\t{name}\n" for k, name in enumerate(names)]
    (folder / "listed.tsv").write_text("sample\tclass\tcel\n" + "".join(rows[1:]))
    listed = read_dataset(study_settings("arrays", "listed.tsv", "class", **CHOICES, files="cel"))
    assert listed.samples == sorted(f"patient{k}" for k in range(1, 12))
    same = [int(name.removeprefix("patient")) for name in listed.samples]
    np.testing.assert_array_equal(listed.X, plain.X[same])
    assert listed.genes == plain.genes
    before = listed.provenance["inputs"]["arrays"]
    (folder / "arrays/later/GSM11_scan.CEL").write_bytes(b"other")
    assert sha256("arrays") != before


def test_unsummarised_probes_give_a_warning(folder):
    """The advice is RMA, and not the logarithms that the size of the values would call for."""
    rma = {"samples": SAMPLE_STEPS, "folds": [*FOLDS, {"step": "centre"}]}
    study = {"expression": "arrays", "samples": "samples.tsv", "label": "class"}
    for normalise, number in (({}, 1), (rma, 0)):
        config = resolve_config(study | {"normalise": normalise}, load_schema())
        problems = examine_study(config, "c.yaml").problems
        messages = [
            p.message
            for p in problems
            if p.location == "arrays" and "nearly equal" not in p.message
        ]
        assert len(messages) == number
        assert all("begin normalise.folds with {step: quantile}" in message for message in messages)


LISTED = {
    "no such column": ("cell", {}, "data.files 'cell' is not a column of l.tsv; did you mean"),
    "no such file": ("cel", {"s03.CEL": "s99.CEL"}, "arrays/s99.CEL: no such file"),
    "one file twice": ("cel", {"s03.CEL": "s04.CEL"}, "'s04.CEL' is the file of 's03', 's04'"),
    "a layout": ("cel", {"s03.CEL": "Toy.cdf"}, "arrays/Toy.cdf: is no CEL file"),
    "a blank": ("cel", {"s03.CEL": ""}, "1 of the 12 samples in l.tsv not found here: 's03'"),
    "blanks only": ("none", {}, "column 'none': names no file; give each sample the file"),
}


@pytest.mark.parametrize("name", LISTED)
def test_sample_table_with_wrong_file_names_is_one_line(folder, name):
    column, change, message = LISTED[name]
    rows = [[f"s{k:02}", "high" if k > 5 else "low", f"s{k:02}.CEL", ""] for k in range(12)]
    text = "\n".join("\t".join(change.get(cell, cell) for cell in row) for row in rows)
    (folder / "l.tsv").write_text("sample\tclass\tcel\tnone\n" + text)
    settings = study_settings("arrays", "l.tsv", "class", **CHOICES, files=column)
    problems = read_inputs(settings).problems
    (error,) = [problem for problem in problems if problem.level == "error"]
    assert message in str(error)


def test_a_file_is_no_folder_of_listed_files(folder):
    with pytest.raises(InvalidInput, match=r"s00\.CEL: is no folder; data\.files names files"):
        read_matrix("arrays/s00.CEL", None, {"s00": folder / "arrays/s00.CEL"})


def test_genes_come_after_probe_sets(folder):
    raw = read_dataset(study_settings("arrays", "samples.tsv", "class", **CHOICES))
    steps = with_sets([*FOLDS, {"step": "collapse", "by": None, "rule": "max_mean"}], raw.var)
    fitted = fit_steps(raw.X, steps)
    symbols = list(raw.var["symbol"].iloc[fitted.genes])
    assert sorted(symbols) == sorted(f"GENE{k}" for k in range(N_SETS // 2))
    assert {raw.genes[k].partition("#")[2] for k in fitted.genes} == {""}


def test_single_array_and_parts_of_a_folder_are_refused(folder):
    with pytest.raises(InvalidInput, match=r"s00\.CEL: is one array; name the folder"):
        read_matrix("arrays/s00.CEL")
    with pytest.raises(InvalidInput, match=r"take data\.part 'x' away"):
        read_matrix("arrays", "x")
    assert read_matrix("arrays").columns == read_cel_folder("arrays", read_unpacked).columns


def test_tables_speak_of_probe_sets(folder):
    raw = read_dataset(study_settings("arrays", "samples.tsv", "class", **CHOICES))
    joint_values = rma(raw.X, sets_of(raw.genes))
    dataset = normalise_samples(raw, samples=SAMPLE_STEPS, folds=[*FOLDS, {"step": "centre"}])
    assert dataset.provenance["summaries"] == FOLDS
    table_dataset = with_summaries_applied(dataset)
    array_rows = [k for k, name in enumerate(raw.genes) if "#" not in name]
    np.testing.assert_allclose(table_dataset.X[:, array_rows], joint_values, atol=0.1)
    other_rows = np.setdiff1d(np.arange(len(raw.genes)), array_rows)
    np.testing.assert_array_equal(table_dataset.X[:, other_rows], dataset.X[:, other_rows])
    plain = normalise_samples(raw, samples=SAMPLE_STEPS, folds=[{"step": "centre"}])
    assert with_summaries_applied(plain) is plain
