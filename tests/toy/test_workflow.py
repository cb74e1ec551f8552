"""The whole workflow on a toy study gives the same results however it is run or resumed."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from html.parser import HTMLParser

import anndata
import numpy as np
import pandas as pd
import pytest
from study_runs import (
    HOSTILE,
    assert_alike,
    command,
    differing_results,
    environment,
    make_study,
    planned,
    results,
    run,
    write_config,
)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Give a finished study, run on two cores."""
    folder = make_study(tmp_path_factory.mktemp("toy"))
    subprocess.run(command(), cwd=folder, env=environment(), check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def finished_by_copy(finished, tmp_path_factory):
    """Give a copy of the finished study with a copy of the package, which a test may edit."""
    folder = make_study(tmp_path_factory.mktemp("copy"), editable_package=True)
    for part in ("results", ".snakemake", "config"):
        shutil.copytree(finished / part, folder / part, dirs_exist_ok=True)
    for name in ("expression.tsv.gz", "samples.tsv"):
        shutil.copy2(finished / name, folder)  # with its time, which Snakemake compares
    assert planned(folder) == set()
    return folder


def test_every_promised_file_is_there(finished):
    tables = ["signature", "nested_lists", "blocks", "scores", "predictions", "stability"]
    files = [f"{name}.tsv" for name in tables]
    files += ["signature.h5ad", "splits.json", "model.json", "run.json", "report_data.json"]
    files += ["report.html", "figures", "controls.tsv", "nonlinear.tsv", "nonlinear_curves.tsv"]
    files += ["times/jobs.tsv"]
    missing = [name for name in files if not (finished / "results" / name).exists()]
    assert missing == []
    assert list((finished / "results" / "figures").glob("*.svg"))


@pytest.mark.slow
def test_the_times_of_the_jobs_are_a_table_and_no_input_of_the_report(finished):
    times = pd.read_csv(finished / "results/times/jobs.tsv", sep="\t")
    assert {"fit_final", "observed 1of1", "nonlinear final"} <= set(times["job"])
    assert (times["seconds"] >= 0).all()
    path = finished / "results/times/fit_final.tsv"
    before = path.read_text()
    path.write_text(before + before.splitlines()[-1] + "\n")
    try:
        assert planned(finished) == {"job_times"}
    finally:
        path.write_text(before)


def test_the_informative_genes_are_found_and_the_error_is_low(finished):
    signature = pd.read_csv(finished / "results/signature.tsv", sep="\t")
    assert set(signature["gene"]) & {HOSTILE, "g001", "g002", "g003", "g004", "g005"}
    controls = pd.read_csv(finished / "results/controls.tsv", sep="\t")
    (chosen,) = controls[(controls["model"] == "genesig") & controls["mu"].isna()].index
    assert controls["error"][chosen] < 0.2
    assert controls["p_value"][chosen] == pytest.approx(1 / 7)


def test_nonlinear_selection_finds_the_true_genes(finished):
    often = pd.read_csv(finished / "results/nonlinear.tsv", sep="\t").set_index("gene")[
        "cv_frequency"
    ]
    assert set(often.index[:3]) <= {HOSTILE, "g001", "g002", "g003", "g004", "g005"}
    controls = pd.read_csv(finished / "results/controls.tsv", sep="\t").set_index("model")["error"]
    assert controls["nonlinear"] < 0.3
    assert controls["fvm"] < 0.3


def test_the_signature_as_h5ad(finished):
    data = anndata.read_h5ad(finished / "results/signature.h5ad")
    signature = pd.read_csv(finished / "results/signature.tsv", sep="\t")
    assert data.shape == (24, len(signature))
    assert list(data.var_names) == list(signature["gene"])
    for column in (
        "rank",
        "fdr_selected",
        "selection_frequency",
        "null_frequency",
        "selection_p",
        "selection_q",
        "cv_frequency",
        "weight",
        "size",
        "block",
        "first_mu",
        "mean_weight",
    ):
        expected = signature[column].fillna(0) if column == "block" else signature[column]
        np.testing.assert_allclose(data.var[column].astype(float), expected)
    record = json.loads((finished / "results/settings.json").read_text())
    assert data.uns["genesig"]["versions"] == record["versions"]
    assert data.uns["genesig"]["parameters"]["label"] == record["config"]["label"]
    nested = pd.read_csv(finished / "results/nested_lists.tsv", sep="\t")
    assert data.varm["cv_frequency"].shape == (len(signature), nested["mu"].nunique())


def name_the_same_genes(results_folder):
    """Compare the table, the model that predicts, the h5ad and the page with its first sentence."""
    table = pd.read_csv(results_folder / "signature.tsv", sep="\t")
    model = json.loads((results_folder / "model.json").read_text())
    (locked,) = [
        model_entry for model_entry in model["models"] if model_entry["list"] == model["answer"]
    ]
    weights = dict(zip(locked["genes"], locked["coefficients"], strict=True))
    used = table[table["weight"] != 0]  # the others are named, and do not predict
    assert dict(zip(used["gene"], used["weight"], strict=True)) == pytest.approx(weights)
    is_selected = table["fdr_selected"] if "fdr_selected" in table else table["weight"].isna()
    assert is_selected[table["weight"] == 0].all()
    (sentence,) = [
        model_entry["has_fdr_selected"]
        for model_entry in model["models"]
        if model_entry["list"] == "fdr_selected"
    ] or [False]
    assert sentence == is_selected.any()
    assert set(anndata.read_h5ad(results_folder / "signature.h5ad").var_names) == set(table["gene"])
    data = json.loads((results_folder / "report_data.json").read_text())
    signature_shown = data["tables"]["signature"]
    assert {
        row[signature_shown["columns"].index("gene")] for row in signature_shown["rows"]
    } == set(table["gene"])
    proved = data["answer"]["evidence"]
    assert proved["model_size"] == len(weights)
    assert proved["fdr_selected"] == table["fdr_selected"].sum()
    html = (results_folder / "report.html").read_text()
    results_sentence = f"fitted on all samples, uses {len(weights)} gene"
    if ">No evidence<" in html:
        results_sentence = "As there is no evidence of prediction, no gene is reported."
    assert results_sentence in " ".join(html.split())
    return len(weights)


def test_every_result_names_the_same_genes(finished):
    assert name_the_same_genes(finished / "results") > 0


def test_the_chosen_lists_stand_in_every_table_without_a_mu(finished):
    """What one split chose is one of its lists along mu; the error is that of these lists."""
    tables = {
        name: pd.read_csv(finished / f"results/{name}.tsv", sep="\t", dtype={"sample": str})
        for name in ("scores", "predictions", "lists", "stability", "nested_lists", "controls")
    }
    for name, table in tables.items():
        assert table["mu"].isna().any(), name
    scores = tables["scores"]
    length = scores[scores["mu"].isna()].set_index("split")["n_genes"]
    for split, final_rows in scores[scores["mu"].notna()].groupby("split"):
        assert length[split] in set(final_rows["n_genes"])
    predictions = tables["predictions"]
    final_rows = predictions[predictions["mu"].isna()]
    repeat_error = final_rows.groupby(["repeat", "label"])["wrong"].mean().groupby("repeat").mean()
    controls = tables["controls"]
    row = controls[(controls["model"] == "genesig") & controls["mu"].isna()].iloc[0]
    assert row["error"] == pytest.approx(repeat_error.mean())


def test_the_record_knows_every_result(finished):
    between = re.compile(r"(data|linear|nonlinear|sets)/|null.npz|settings.json|run.json")
    record, settings = (
        json.loads((finished / f"results/{name}.json").read_text()) for name in ("run", "settings")
    )
    recorded = record.pop("results")
    fits = record.pop("fits")
    assert set(recorded) == {name for name in results(finished) if not between.match(name)}
    ran = re.compile(r"(linear|nonlinear|sets)/|null.npz")
    assert set(fits) == {name for name in results(finished) if ran.match(name)}
    assert record == settings


@pytest.mark.slow
def test_other_batches_give_the_same_lists_and_numbers(finished, tmp_path):
    changes = {"splits": {"batches": 3}, "controls": {"permutations_per_job": 4}}
    folder = make_study(tmp_path, changes)
    run(folder, cores=2)
    names = [
        name
        for name in results(finished)
        if name.endswith((".tsv", ".npz")) and not re.match(r"(non)?linear/.*\d+of\d+", name)
    ]
    assert {"signature.tsv", "scores.tsv", "linear/final.npz"} <= set(names)
    for name in names:
        assert_alike(folder / "results" / name, finished / "results" / name)


def kill(folder, reached):
    """Begin a run, and kill it with all its jobs as soon as a file is there."""
    started = subprocess.Popen(
        command(),
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    waited = time.monotonic()
    while not (folder / "results" / reached).exists():
        assert time.monotonic() - waited < 120
        assert started.poll() is None
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    assert not (folder / "results/report.html").exists()
    run(folder, "--unlock")


@pytest.mark.slow
def test_killed_run_resumes_where_it_stopped(finished, tmp_path):
    folder = make_study(tmp_path)
    kill(folder, "splits.json")
    assert not planned(folder) & {"validate", "read"}
    run(folder, "results/splits.json")
    new_results = results(folder)
    finished_results = results(finished)
    assert [
        name
        for name in ("dataset.h5ad", "splits.json")
        if new_results[name] != finished_results[name]
    ] == []


@pytest.mark.slow
def test_a_killed_run_resumes_on_one_core_to_the_same_result(finished, tmp_path):
    folder = make_study(tmp_path)
    kill(folder, "linear/final.npz")
    run(folder, cores=1)
    assert differing_results(results(folder), results(finished)) == []


def test_corrected_file_is_read_again_whatever_its_age(finished):
    path = finished / "samples.tsv"
    before = path.read_bytes()
    times = path.stat()
    path.write_bytes(before + b"\n")
    os.utime(path, (315532800, 315532800))
    try:
        assert {"validate", "read", "split", "fit", "report"} <= planned(finished)
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert planned(finished) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edited", "rerun", "unchanged"),
    [
        ("genesig/report/render.py", {"report"}, {"report_data", "gather", "fit", "read"}),
        ("genesig/report/page/templates/page.css", {"report"}, {"report_data", "gather", "fit"}),
        (
            "genesig/selection/assess/calibration.py",
            {"gather", "model", "report"},
            {"fit", "fit_final", "null"},
        ),
        ("genesig/models/baselines.py", {"baselines", "controls"}, {"fit", "gather", "null"}),
        (
            "genesig/selection/nonlinear/training_sets.py",
            {"nonlinear_fit", "nonlinear_final", "nonlinear_gather", "controls", "report"},
            {"fit", "gather", "baselines", "null"},
        ),
        ("genesig/optim/refit.py", {"fit", "fit_final", "gather"}, {"split", "read", "baselines"}),
    ],
)
def test_editing_the_package_reruns_the_dependent_rules(finished_by_copy, edited, rerun, unchanged):
    path = finished_by_copy / edited
    before = path.read_text()
    times = path.stat()
    path.write_text(before + "\n# edited\n" if edited.endswith(".py") else before + "\n")
    try:
        rules = planned(finished_by_copy)
    finally:
        path.write_text(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert rerun <= rules
    assert not rules & unchanged


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "rerun", "unchanged"),
    [
        ({"report": {"gene_cards": 3}}, {"report"}, {"fit", "gather", "null", "baselines"}),
        ({"signature": {"cv_frequency": 0.5}}, {"gather"}, {"fit", "null", "baselines", "split"}),
        ({"linear": {"tau_count": 5}}, {"fit", "gather"}, {"split", "validate", "baselines"}),
        ({"nonlinear": {"nu": [1.0]}}, {"nonlinear_fit", "controls"}, {"fit", "gather", "null"}),
        ({"nonlinear": {"enabled": False}}, {"controls"}, {"fit", "gather", "nonlinear_fit"}),
        ({"quality": {"modules": 2}}, {"modules", "report"}, {"fit", "gather", "read", "quality"}),
        ({"splits": {"repeats": 1}}, {"validate", "split", "fit", "baselines"}, set()),
    ],
)
def test_changing_a_section_reruns_its_stage(finished, changes, rerun, unchanged):
    write_config(finished, changes)
    try:
        rules = planned(finished)
    finally:
        write_config(finished)
    assert rerun <= rules
    assert not rules & unchanged


class Tags(HTMLParser):
    """Collect the tags of a page and where they load from."""

    def __init__(self):
        super().__init__()
        self.tags = []
        self.loads = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        names = ("src", "href", "xlink:href", "data")
        self.loads += [(tag, value) for key, value in attrs if key in names]


def test_hostile_names_stay_text_and_nothing_is_loaded(finished):
    html = (finished / "results/report.html").read_text()
    page = Tags()
    page.feed(html)
    assert "<script>alert" not in html
    assert page.tags.count("script") == 2  # the tables' rows, and the page's own
    assert html.count('<script type="application/json"') == 1
    assert "<b>test</b>" not in html
    assert "&lt;script&gt;" in html
    assert not [
        load for load in page.loads if re.match(r"(https?:)?//", load[1] or "") and load[0] != "a"
    ]
    for svg in (finished / "results/figures").glob("*.svg"):
        assert "<script" not in svg.read_text()


def test_the_model_scores_the_training_samples_from_its_json(finished):
    model = json.loads((finished / "results/model.json").read_text())
    data = pd.read_csv(finished / "expression.tsv.gz", sep="\t", index_col=0)
    (chosen,) = [
        model_entry for model_entry in model["models"] if model_entry["list"] == model["answer"]
    ]
    scores = chosen["intercept"] + chosen["coefficients"] @ data.loc[chosen["genes"]].to_numpy()
    sheet = pd.read_csv(finished / "samples.tsv", sep="\t")
    y = np.where(sheet["diagnosis"] == model["classes"]["positive"], 1, -1)
    assert np.mean(np.sign(scores) != y) < 0.15
    assert np.mean(scores[y > 0][:, None] > scores[y < 0]) > 0.95
    assert scores[y < 0].mean() < 0 < scores[y > 0].mean()


DESIGNS = {
    "numbers on predefined splits": {
        "label": "age",
        "data": {"task": "regression"},
        "splits": {"scheme": "predefined", "column": "cohort"},
        "linear": {"longest": 20},
        "signature": {"most": 10},
    },
    "pairs with learned steps": {
        "data": {"pair": "patient"},
        "splits": {"scheme": "stratified_group_kfold"},
        "normalise": {
            "samples": [{"step": "rank_samples"}],
            "folds": [
                {"step": "quantile"},
                {"step": "variance_filter", "keep": 0.5},
                {"step": "centre"},
                {"step": "unit_variance"},
            ],
        },
    },
    "groups left out with the minimal list": {
        "data": {"group": "patient"},
        "splits": {"scheme": "leave_one_group_out"},
        "linear": {"list": "minimal", "threshold": "zero"},
        "signature": {"mu": 1.0},
        "nonlinear": {"penalty": "group", "genes": None},
    },
    "nothing extra": {
        "controls": {"permutations": 0, "baselines": []},
        "splits": {"subsamples": 0},
        "nonlinear": {"enabled": False},
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("changes", DESIGNS.values(), ids=DESIGNS)
def test_study_of_each_design_runs_to_its_report(tmp_path, changes):
    folder = make_study(tmp_path, changes)
    run(folder)
    genes = name_the_same_genes(folder / "results")
    assert genes > 1 or changes.get("linear", {}).get("list") != "minimal"
    assert (folder / "results/report.html").stat().st_size > 10_000
    on = changes.get("nonlinear", {}).get("enabled", True)
    assert bool(list((folder / "results").glob("nonlinear*"))) == on
    html = (folder / "results/report.html").read_text()
    assert ('id="nonlinear"' in html) == (on and ">No evidence<" not in html)


def test_bad_input_stops_before_anything_runs(tmp_path):
    folder = make_study(tmp_path, {"label": "diagnosys"})
    process = run(folder, check=False)
    output = process.stdout + process.stderr
    assert process.returncode != 0
    assert "did you mean 'diagnosis'?" in output
    assert "Traceback" not in output
    assert not list((folder / "results").rglob("*.*"))


@pytest.mark.slow
def test_an_unknown_key_stops_at_once(tmp_path):
    folder = make_study(tmp_path, {"linear": {"tau_mim": 0.1}})
    process = run(folder, check=False)
    output = process.stdout + process.stderr
    assert process.returncode != 0
    assert "config/config.yaml, linear.tau_mim: unknown key 'tau_mim'" in output
    assert "did you mean 'linear.tau_min'?" in output
    assert "Traceback" not in output


@pytest.mark.slow
def test_a_config_of_ones_own_stands_alone(tmp_path):
    folder = make_study(tmp_path)
    config = folder / "config/config.yaml"
    config.rename(folder / "mine.yaml")
    config.write_text("nonsense: of another study\n")
    assert run(folder, "--dry-run", check=False).returncode != 0
    run(folder, "--dry-run", "--configfile", "mine.yaml")


@pytest.mark.slow
def test_splits_of_an_earlier_study_are_taken_back(finished, tmp_path):
    folder = make_study(tmp_path, {"splits": {"file": "earlier.json"}})
    earlier = (finished / "results/splits.json").read_bytes()
    (folder / "earlier.json").write_bytes(earlier)
    run(folder, "results/splits.json")
    assert (folder / "results/splits.json").read_bytes() == earlier


@pytest.mark.slow
def test_snakemakes_own_report_is_made(finished):
    run(finished, "--report", "results/snakemake-report.zip")
    report_archive = finished / "results/snakemake-report.zip"
    assert report_archive.stat().st_size > 10_000
    report_archive.unlink()


@pytest.mark.slow
def test_lint_finds_nothing(finished):
    process = run(finished, "--lint")
    assert "Congratulations" in process.stdout + process.stderr
