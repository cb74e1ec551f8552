"""A study run from Python equals the command line: config, workflow and tables."""

from __future__ import annotations

import os
import sys

import anndata
import numpy as np
import pandas as pd
import pytest
import yaml
from study_runs import CONFIG, assert_alike, make_study, results, run

from genesig import GenesigError, InvalidInput, Study


def data(n=24, d=8):
    rng = np.random.default_rng(0)
    obs = pd.DataFrame(
        {"diagnosis": ["ill", "well"] * (n // 2), "age": np.arange(n) + 30.5},
        index=[f"s{k}" for k in range(n)],
    )
    var = pd.DataFrame({"symbol": [f"SYM{k}" for k in range(d)]}, index=[f"g{k}" for k in range(d)])
    return anndata.AnnData(rng.normal(8, 1, (n, d)), obs=obs, var=var)


def written(study):
    study._write()
    return yaml.safe_load((study.folder / "config.yaml").read_text())


def test_study_settings_equal_the_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study(
        "e.tsv",
        "data/s.tsv",
        "diagnosis",
        seed=np.int64(3),
        linear={"mu": np.array([1e-6, 0.1])},
        data={"classes": ("well", "ill"), "annotation": "g.tsv"},
        folder="mine",
    )
    assert study.folder == tmp_path / "mine"
    assert written(study) == {
        "expression": str(tmp_path / "e.tsv"),
        "samples": str(tmp_path / "data/s.tsv"),
        "label": "diagnosis",
        "seed": 3,
        "linear": {"mu": [1e-6, 0.1]},
        "data": {"classes": ["well", "ill"], "annotation": str(tmp_path / "g.tsv")},
    }


def test_a_file_may_describe_its_samples_and_geo_stays_geo(tmp_path):
    study = Study("e.gct", label="x", folder=tmp_path / "a")
    assert study.config["samples"] == study.config["expression"]
    study = Study(geo="GSE55235", label="x", folder=tmp_path / "b")
    assert study.config["expression"] == "data/geo/GSE55235_series_matrix.txt.gz"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"splitss": {}}, r"splitss.*did you mean 'splits'"),
        ({"splits": {"folds": 1}}, r"splits\.folds.*at least 2"),
        ({"seed": object()}, "a setting is neither text, number, list nor dict"),
        ({"label": None}, "label"),
    ],
)
def test_meaningless_settings_are_refused_at_once(tmp_path, settings, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        Study("e.tsv", "s.tsv", **{"label": "x", **settings}, folder=tmp_path / "no")
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("expression", "samples", "message"),
    [
        (data().to_df(), None, "expression: is a DataFrame; give a file, or an AnnData: anndata"),
        (data().X, None, "expression: is a ndarray; give a file"),
        ("e.tsv", data().obs, "samples: is a DataFrame; name a file, or put the table into the"),
    ],
)
def test_table_instead_of_a_file_is_refused_with_advice(expression, samples, message):
    with pytest.raises(InvalidInput, match=message):
        Study(expression, samples, "diagnosis")


@pytest.mark.parametrize(
    ("studies", "message"),
    [
        ([data(), data().to_df()], "studies, item 2: is a DataFrame; give an AnnData for each"),
        (
            [{"name": "a", "expression": data().X}],
            "studies, item 1, expression: is a ndarray; give",
        ),
        ({"a": data(), "b": data()}, "studies: is a dict; give a list, an AnnData for each study"),
        ([], "studies: the list is empty; name two studies or more"),
    ],
)
def test_invalid_studies_are_named_by_their_index(studies, message, tmp_path):
    with pytest.raises(InvalidInput, match=message) as caught:
        Study(studies=studies, label="diagnosis", folder=tmp_path / "s")
    assert len(str(caught.value).splitlines()) == 1


def test_column_that_h5ad_cannot_store_is_refused_in_one_line(tmp_path):
    frames = data()
    frames.obs["kept"] = [object() for _ in range(frames.n_obs)]
    with pytest.raises(InvalidInput, match="the AnnData: cannot be written as h5ad"):
        Study(frames, label="diagnosis", folder=tmp_path / "a").validate()
    assert not list((tmp_path / "a").glob("*.h5ad*"))


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "study").write_text("")
    with pytest.raises(InvalidInput, match="is a file; name a folder"):
        Study("e.tsv", "s.tsv", label="x", folder=tmp_path / "study")


@pytest.mark.slow
def test_several_studies_may_be_annotated_matrices(tmp_path, capsys):
    adata_a = data()
    adata_b = data()
    adata_b.X += 1 + np.random.default_rng(1).normal(size=adata_b.shape)
    adata_b.obs_names = [f"t{k}" for k in range(len(adata_b))]
    del adata_b.var["symbol"]
    study = Study(
        studies=[adata_a, {"name": "berlin", "expression": adata_b}, {"geo": "GSE55457"}],
        label="diagnosis",
        folder=tmp_path / "a",
    )
    first_path = str(tmp_path / "a/study1.h5ad")
    assert written(study)["studies"] == [
        {"name": "study1", "annotation": first_path, "symbol": "symbol", "expression": first_path},
        {"name": "berlin", "expression": str(tmp_path / "a/study2.h5ad")},
        {
            "geo": "GSE55457",
            "name": "GSE55457",
            "expression": "data/geo/GSE55457_series_matrix.txt.gz",
        },
    ]
    np.testing.assert_array_equal(anndata.read_h5ad(tmp_path / "a/study2.h5ad").X, adata_b.X)
    adata_b.var["symbol"] = adata_a.var["symbol"]
    two = Study(studies=[adata_a, adata_b], label="diagnosis", folder=tmp_path / "b")
    two.validate()
    assert "48 samples" in capsys.readouterr().out


@pytest.mark.parametrize("studies", [["boston.tsv"], [None], "boston", [{"expression": 3}]])
def test_invalid_study_is_refused_in_one_line(tmp_path, studies):
    with pytest.raises(InvalidInput, match="studies") as caught:
        Study(studies=studies, label="x", folder=tmp_path / "no")
    assert all(line.startswith("error: Study, studies") for line in str(caught.value).splitlines())


def test_an_anndata_is_written_once(tmp_path):
    adata = data()
    study = Study(adata, label="diagnosis", folder=tmp_path)
    config = written(study)
    path = tmp_path / "data.h5ad"
    assert config["expression"] == config["samples"] == str(path)
    assert config["data"] == {"annotation": str(path), "symbol": "symbol"}
    back = anndata.read_h5ad(path)
    np.testing.assert_array_equal(back.X, adata.X)
    assert list(back.obs["age"]) == list(adata.obs["age"])
    os.utime(path, (1, 1))
    study._write()
    assert path.stat().st_mtime == 1  # Snakemake would compute all of it again
    adata.X[0, 0] += 1
    study._write()
    assert path.stat().st_mtime > 1
    with pytest.raises(InvalidInput, match="samples: stands beside an AnnData"):
        Study(adata, "s.tsv", label="x")


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "config.yaml").write_text("expression: mine.tsv\n")
    study = Study("e.tsv", "s.tsv", "x", folder=tmp_path)
    with pytest.raises(InvalidInput, match="something else than a study"):
        study.run()
    assert (tmp_path / "config.yaml").read_text() == "expression: mine.tsv\n"
    assert len(list(tmp_path.iterdir())) == 1


def test_folder_stays_the_study_s_if_a_data_set_cannot_be_written(tmp_path):
    unwritable = data()
    unwritable.obs["visits"] = [[1, 2]] * len(unwritable.obs)
    with pytest.raises(InvalidInput, match="cannot be written as h5ad"):
        Study(label="diagnosis", studies=[data(), unwritable], folder=tmp_path)._write()
    assert written(Study(label="diagnosis", studies=[data(), data()], folder=tmp_path))


def test_run_prints_output_and_raises_errors(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "module://of_a_notebook")
    study = Study(data(), label="diagnosis", folder=tmp_path)
    code = "import os; print(os.getcwd(), os.environ.get('MPLBACKEND'))"
    study._call([sys.executable, "-c", code], quiet=False)
    assert capsys.readouterr().out == f"{tmp_path} None\n"
    code = "print('much'); print('error: samples.tsv: is empty'); raise SystemExit(1)"
    with pytest.raises(GenesigError, match=r"did not finish:\nerror: samples.tsv: is empty$"):
        study._call([sys.executable, "-c", code], quiet=True)
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_an_interrupted_cell_leaves_no_run_behind(tmp_path, monkeypatch):
    study = Study(data(), label="diagnosis", folder=tmp_path)
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    child = []

    def interrupted(line, **how):
        child.append(int(line))
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.print", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study._call([sys.executable, "-c", code], quiet=False)
    with pytest.raises(ProcessLookupError):
        os.kill(child[0], 0)


@pytest.mark.slow
def test_validation_equals_the_command_line(tmp_path, capsys):
    small = {"folds": 3, "inner_folds": 3, "repeats": 1, "subsamples": 4}
    Study(data(), label="diagnosis", folder=tmp_path / "a", splits=small).validate()
    assert "0 errors" in capsys.readouterr().out
    with pytest.raises(GenesigError, match="did you mean 'diagnosis'"):
        Study(data(), label="diagnosi", folder=tmp_path / "b").validate()


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Return the folder of a study that the command line ran."""
    folder = make_study(tmp_path_factory.mktemp("clone"))
    run(folder)
    return folder


@pytest.mark.slow
def test_tables_equal_those_of_a_clone(clone, tmp_path):
    places = {key: clone / CONFIG[key] for key in ("expression", "samples")}
    settings = {key: value for key, value in CONFIG.items() if key not in places}
    study = Study(**places, **settings, folder=tmp_path / "mine")
    study_results = study.run(cores=2, quiet=True)
    theirs = results(clone)
    ours = results(study.folder)
    different = {name for name in theirs if theirs[name] != ours.get(name)}
    # Only where the names of the inputs stand, or an archive the time of its writing. A run that
    # compiles the kernels gives other last digits than one that loads them.
    final_fit = "linear/final.npz"
    assert_alike(clone / "results" / final_fit, study.folder / "results" / final_fit)
    assert different <= {
        "run.json",
        "settings.json",
        "report_data.json",
        "report.html",
        "model.json",
        "model_card.md",
        "validation.json",
        "data/raw.h5ad",
        "dataset.h5ad",
        "signature.h5ad",
        final_fit,
    }
    for name in study_results.tables:
        if not name.startswith("times/"):
            assert theirs[f"{name}.tsv"] == ours[f"{name}.tsv"]
    before = (study.folder / "results/run.json").stat().st_mtime_ns
    study.run(cores=1, quiet=True)
    assert (study.folder / "results/run.json").stat().st_mtime_ns == before


NOTEBOOK = """
import pandas as pd
from genesig import Study
results = Study({expression!r}, {samples!r}, "diagnosis", folder="mine", **{settings!r}).run(2)
results.plot.roc()
results.report()
"""


@pytest.mark.slow
def test_a_notebook_gives_the_tables_of_a_clone(clone, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    places = {key: str(clone / CONFIG[key]) for key in ("expression", "samples")}
    settings = {key: CONFIG[key] for key in CONFIG if key not in (*places, "label")}
    cells = [
        NOTEBOOK.format(**places, settings=settings),
        "results.tables['signature'].to_csv('seen.csv')",
    ]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    nbclient.NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [output.get("data", {}) for output in notebook.cells[0].outputs]
    assert any("<iframe" in cell_output.get("text/html", "") for cell_output in outputs)
    assert any("image/png" in cell_output for cell_output in outputs)
    table_read = pd.read_csv(tmp_path / "seen.csv", index_col=0)
    theirs = pd.read_csv(clone / "results/signature.tsv", sep="\t")
    pd.testing.assert_frame_equal(table_read, theirs)
