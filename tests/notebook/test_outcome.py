"""Read and plot a finished study in a notebook."""

from __future__ import annotations

import html
import inspect

import anndata
import array_files
import fitted_models
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from gathered_study import evidence, write_results
from matplotlib import pyplot as plt

from genesig import InvalidInput, Results
from genesig.cli import _make_parser
from genesig.notebook.plots import Plots
from genesig.results import save_json

mpl.use("agg")
TASKS = ("classification", "regression")
LIMITED_PLOTS = (
    "roc",
    "gene",
    "confusion",
    "survival",
)  # of some kinds of response, or of one gene
ALL = sorted(name for name in vars(Plots) if not name.startswith("_"))


@pytest.fixture(scope="module", params=TASKS)
def results(request, tmp_path_factory):
    return Results(write_results(tmp_path_factory.mktemp(request.param), request.param))


@pytest.fixture
def two_classes(tmp_path):
    return Results(write_results(tmp_path))


def test_every_table_is_a_frame_by_its_name(results):
    assert {"signature", "predictions", "controls", "times/jobs"} <= set(results.tables)
    assert len(results.tables) == len(list(results.folder.rglob("*.tsv")))
    signature = results.tables["signature"]
    assert signature["gene"].map(type).eq(str).all()
    assert signature["cv_frequency"].between(0, 1).all()
    with pytest.raises(KeyError, match="no table 'signatures'"):
        results.tables["signatures"]


def test_the_signature_is_annotated(results):
    data = results.signature
    assert isinstance(data, anndata.AnnData)
    assert list(data.var_names) == list(results.tables["signature"]["gene"])
    assert data.n_obs == 24


def test_numeric_sample_names_stay_text(two_classes):
    path = two_classes.folder / "predictions.tsv"
    table = pd.read_csv(path, sep="\t").assign(sample="007")
    table.to_csv(path, sep="\t", index=False)
    assert set(two_classes.tables["predictions"]["sample"]) == {"007"}


def test_the_report_is_shown_whole_and_cannot_break_out(two_classes):
    page = two_classes.report()
    page_html = page._repr_html_()
    assert page.path.is_file()
    assert "<title>" not in page_html
    assert html.unescape(page_html.split('srcdoc="')[1][:-11]) == page.path.read_text()
    assert 'sandbox="allow-scripts"' in page_html


def test_folder_without_finished_study_is_refused(tmp_path, two_classes):
    with pytest.raises(InvalidInput, match=r"holds no finished study: run\.json is not there"):
        Results(tmp_path / "nothing")
    save_json(two_classes.folder / "run.json", {"seed": 1})
    for read in ("tables", "signature", "null"):
        with pytest.raises(InvalidInput, match="was run again with other settings"):
            getattr(two_classes, read)


@pytest.mark.slow_cases(
    "regression-heat", "regression-permutations", "regression-frequency", "regression-scores"
)
@pytest.mark.parametrize("name", [name for name in ALL if name not in LIMITED_PLOTS])
def test_plot_draws_on_the_given_axes(results, name):
    figure, ax = plt.subplots()
    drawn = getattr(results.plot, name)(ax=ax)
    assert drawn is ax
    assert ax.has_data()
    figure.canvas.draw()
    new_axes = getattr(results.plot, name)()
    assert new_axes is not ax
    plt.close("all")


def test_gene_plot_is_drawn(results):
    gene = str(results.signature.var_names[0])
    assert results.plot.gene(gene).has_data()
    with pytest.raises(InvalidInput, match="'g999' is not in the signature"):
        results.plot.gene("g999")
    plt.close("all")


def test_roc_curve_has_the_area_of_the_pairs(two_classes):
    ax = two_classes.plot.roc()
    table = two_classes.tables["predictions"]
    table = table[table["mu"].isna()]
    assert len(ax.lines) == 1 + table["repeat"].nunique()
    for line, (_, rows) in zip(ax.lines[1:], table.groupby("repeat"), strict=True):
        ill = rows["score"][rows["label"] == "ill"].to_numpy()
        well = rows["score"][rows["label"] == "healthy"].to_numpy()
        pairs = np.mean(ill[:, None] > well) + np.mean(ill[:, None] == well) / 2
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(pairs)
    plt.close("all")


def test_no_roc_curve_of_numbers(tmp_path):
    numbers = Results(write_results(tmp_path, "regression"))
    with pytest.raises(InvalidInput, match=r"plot\.roc: is of classes"):
        numbers.plot.roc()


@pytest.fixture
def fitted(two_classes):
    """Put a real model into the folder; return it, and new samples."""
    (model, _) = fitted_models.model_of("plain")
    X = fitted_models.values(False, seed=1)
    save_json(two_classes.folder / "model.json", model)
    frame = pd.DataFrame(X, index=fitted_models.NAMES, columns=fitted_models.GENES)
    return Results(two_classes.folder), frame


WEAK = "ignore:.*left-out samples hardly show"  # true of these small studies, and tested elsewhere


@pytest.mark.filterwarnings(WEAK)
def test_new_samples_are_scored_from_any_container(fitted, tmp_path):
    results, frame = fitted
    frame.T.to_csv(tmp_path / "new.tsv", sep="\t", index_label="gene")
    predictions = results.predict(frame)
    assert list(predictions["sample"]) == fitted_models.NAMES
    for same in (frame.T, anndata.AnnData(frame), tmp_path / "new.tsv"):
        pd.testing.assert_frame_equal(results.predict(same), predictions)


@pytest.mark.filterwarnings(WEAK)
def test_contributions_of_a_sample_sum_to_its_score(fitted):
    results, frame = fitted
    terms = results.contributions(frame, mu=1.0)
    scores = results.predict(frame, mu=1.0).set_index("sample")["score"]
    sums = terms.groupby("sample", sort=False)["contribution"].sum()
    pd.testing.assert_series_equal(sums, scores, check_names=False, rtol=0, atol=1e-12)
    assert len(terms) > len(scores)


@pytest.mark.filterwarnings(WEAK)
def test_fdr_selected_genes_are_a_table_and_a_model(two_classes, tmp_path):
    assert len(two_classes.fdr_selected) == 0
    assert list(two_classes.fdr_selected) == list(two_classes.tables["signature"])
    model, _ = fitted_models.model_of("plain", permutations=19)
    save_json(write_results(tmp_path, chance=evidence(15)) / "model.json", model)
    results = Results(tmp_path)
    assert set(results.fdr_selected["gene"]) == {"g1", "g4", "g7"}
    assert results.fdr_selected["fdr_selected"].all()
    frame = pd.DataFrame(fitted_models.values(False, 1), fitted_models.NAMES, fitted_models.GENES)
    with pytest.warns(UserWarning, match="no gene is FDR-selected"):
        table = results.predict(frame, fdr_selected=True)
    assert set(table["list"]) == {"fdr_selected"}
    with pytest.warns(UserWarning, match="left-out samples hardly show"):
        assert set(results.predict(frame)["list"]) == {"predictive"}


@pytest.mark.parametrize("genes", [False, True])
def test_the_signature_has_the_columns_of_its_table(genes, tmp_path):
    """Of the types that the table has: what is not known is NaN, and a number stays one."""
    results = Results(write_results(tmp_path, chance=evidence(15) if genes else None))
    table = results.tables["signature"].set_index("gene")
    signature = results.signature.var
    assert list(signature.index) == list(table.index)
    assert set(signature) == set(table)
    assert ("fdr_selected" in signature) == genes != ("core" in signature)
    kinds = {"rank": "int", "block": "int", "fdr_selected": "bool", "core": "bool"}
    assert pd.api.types.is_string_dtype(signature["symbol"])
    for name, column in signature.drop(columns="symbol").items():
        assert column.dtype == kinds.get(name, "float"), name
    for name in set(table) - {"symbol"}:
        table_column = table[name].fillna(0) if name == "block" else table[name]
        np.testing.assert_array_equal(
            signature[name].astype(float), table_column.astype(float), name
        )


def test_missing_genes_are_warned_of_or_refused(fitted):
    results, frame = fitted
    used = next(m for m in results.model["models"] if len(m["genes"]) > 1)
    lacking = frame.drop(columns=used["genes"][0])
    with pytest.warns(UserWarning, match=r"DataFrame: "):
        table = results.predict(lacking, mu=used["mu"], missing=1.0)
    assert (table["imputed"] == 1).all()
    with pytest.raises(InvalidInput):
        results.predict(lacking, mu=used["mu"], missing=0.0)
    with pytest.raises(InvalidInput, match="give an AnnData, a DataFrame or a file"):
        results.predict(3)
    with pytest.raises(InvalidInput, match="holds more than numbers"):
        results.predict(frame.astype(str))


def test_predict_defaults_equal_the_command_line():
    line = _make_parser().parse_args(["predict", "model.json", "new.tsv"])
    parameters = inspect.signature(Results.predict).parameters
    for name in ("missing", "mu", "fdr_selected", "part", "samples", "renamed", "layout"):
        assert parameters[name].default == getattr(line, name)


def test_new_arrays_take_the_layout_of_their_chip_from_elsewhere(fitted, tmp_path):
    array_files.lay(tmp_path, "transcripts", n=2)
    results, _ = fitted
    new = tmp_path / "new"
    layout = tmp_path / "arrays"
    with pytest.raises(InvalidInput, match=r"new: holds 2 arrays of chip .* but no CDF file"):
        results.predict(new)
    with pytest.raises(InvalidInput, match="new: none of the model's genes is here"):
        results.predict(new, layout=layout)
    with pytest.raises(InvalidInput, match="layout: is for files of arrays, and new is none; take"):
        results.predict(pd.DataFrame({"a": [1.0]}), layout=layout)
