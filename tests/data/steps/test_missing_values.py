"""Missing values are refused unless a step of the study imputes them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gathered_study import make_dataset, make_splits
from settings import study_settings

from genesig.data.files.readers import load_schema
from genesig.data.steps.imputation import HalfMinimum, LeftCensored, missing_when_low
from genesig.data.steps.normalise import (
    IMPUTATION_STEPS,
    fit_steps,
    normalise_samples,
    with_summaries_applied,
)
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.validate import examine_study
from genesig.errors import GenesigError, InvalidInput
from genesig.selection.linear.training_sets import PreparedStudy

KNN = {"step": "knn_impute", "neighbours": 3}
ROW_WISE = {"step": "log2", "floor": 16, "ceiling": 65536}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Return the config of a study of 20 samples; a gene is never measured, others sometimes."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(7, 1, (30, 20)).round(1).astype(str)
    X[2, 3] = ""
    X[5, 7] = "NA"
    X[9, :] = "NA"
    X[11, 1] = "nan"
    names = [f"s{k:02}" for k in range(20)]
    rows = ["\t".join(["gene", *names])] + ["\t".join([f"g{k}", *X[k]]) for k in range(30)]
    (tmp_path / "e.tsv").write_text("\n".join(rows) + "\n")
    sheet = [f"{name}\t{'ab'[k % 2]}" for k, name in enumerate(names)]
    (tmp_path / "s.tsv").write_text("sample\tclass\n" + "\n".join(sheet) + "\n")
    monkeypatch.chdir(tmp_path)
    return {"expression": "e.tsv", "samples": "s.tsv", "label": "class"}


def problems(config):
    resolved = resolve_config(config, load_schema())
    return [
        p for p in examine_study(resolved, "config").problems if "permutations" not in p.location
    ]


def test_missing_values_without_setting_are_refused_with_the_remedy(study):
    (error,) = (p for p in problems(study) if p.level == "error")
    assert "(22 further cells in 3 genes)" in error.message
    assert (
        "data.missing: true, and as the first step of normalise.folds {step: knn_" in error.message
    )
    assert "{step: left_censored}, if it was too small to be measured" in error.message


def test_missing_values_are_kept_for_the_imputing_step(study):
    steps = {"samples": [{"step": "log2"}], "folds": [{"step": "knn_impute"}]}
    config = {**study, "data": {"missing": True}, "normalise": steps}
    assert [p.level for p in problems(config)] == ["warning"]  # of the gene without a value
    config["normalise"] = steps | {"folds": [{"step": "left_censored"}]}
    assert [p.level for p in problems(config)] == ["warning"]
    choices = resolve_config(config, load_schema())["data"]
    dataset = read_dataset(study_settings(*study.values(), **choices))
    assert "g9" not in dataset.genes
    assert np.isnan(dataset.X).sum() == 3
    normalised = normalise_samples(dataset, samples=[ROW_WISE], folds=[KNN])
    assert np.isnan(normalised.X).sum() == 3
    filled = fit_steps(normalised.X[:12], [KNN]).transform(normalised.X)
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(
        with_summaries_applied(normalised).X, fit_steps(normalised.X, [KNN]).transform(normalised.X)
    )


@pytest.mark.parametrize(
    ("samples", "folds", "message"),
    [
        ([], ["centre"], "data.missing: needs {step: knn_impute} as the first step of"),
        ([], ["quantile", "knn_impute"], "data.missing: needs {step: knn_impute} as the first"),
        ([], ["left_censored", "knn_impute"], "'knn_impute' has nothing to do after 'left_cen"),
        (["rank_samples"], ["knn_impute"], "'rank_samples' needs every value of a sample"),
    ],
)
def test_steps_that_cannot_have_missing_values_are_refused(study, samples, folds, message):
    steps = {
        "samples": [{"step": name} for name in samples],
        "folds": [{"step": name} for name in folds],
    }
    messages = problems({**study, "data": {"missing": True}, "normalise": steps})
    assert any(message in str(p) and p.level == "error" for p in messages)


@pytest.mark.parametrize("name", IMPUTATION_STEPS)
def test_a_step_without_anything_to_fill_in_is_warned_of(study, name):
    messages = problems({**study, "normalise": {"folds": [{"step": name}]}})
    assert any("has nothing to do" in p.message and p.level == "warning" for p in messages)


def test_steps_without_anything_to_fill_in_are_warned_of_in_their_order(study):
    names = IMPUTATION_STEPS[::-1]
    messages = problems({**study, "normalise": {"folds": [{"step": name} for name in names]}})
    warned = [p.message.split("'")[1] for p in messages if "has nothing to do" in p.message]
    assert warned == list(names)


def test_other_faults_are_refused_all_the_same(study):
    path = Path("e.tsv")
    path.write_text(path.read_text().replace("NA", "n.d.", 1))
    with pytest.raises(InvalidInput, match=r"the value is 'n\.d\.', not a number"):
        read_dataset(study_settings(*study.values(), missing=True))


def test_a_gene_that_most_of_a_class_misses_is_left_out_and_no_other():
    X = np.random.default_rng(0).normal(size=(12, 6))
    y = np.repeat([-1.0, 1.0], [8, 4])
    X[8:11, 1] = np.nan
    X[:5, 2] = np.nan
    X[:4, 3] = np.nan
    X[8:10, 3] = np.nan
    step = KNN | {"missing_most": 0.5}
    assert fit_steps(X, [{**step, "classes": y}]).genes.tolist() == [0, 3, 4, 5]
    assert fit_steps(X, [{**step, "classes": None}]).genes.tolist() == [0, 1, 2, 3, 4, 5]
    assert fit_steps(X, [{**step, "missing_most": 1.0, "classes": y}]).steps[0].genes is None
    changed = X.copy()
    changed[0] = np.nan
    fitted = fit_steps(X, [{**step, "classes": y}])
    assert fitted.transform(changed).shape == (12, 4)
    with pytest.raises(GenesigError, match="raise its 'missing_most'"):
        fit_steps(np.where(y[:, None] > 0, np.nan, X), [{**step, "classes": y}])


def test_values_too_small_become_the_quantile_of_the_gene_over_the_training_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 40))
    X[rng.random(X.shape) < 0.6] = np.nan
    X[:, 7] = np.nan
    X[1:, 8] = np.nan
    for quantile in (0.0, 0.01, 0.3):
        with pytest.warns(RuntimeWarning, match="All-NaN"):
            expected = np.nanquantile(X, quantile, axis=0)
        expected[7] = np.nanquantile(X, quantile)
        fitted = LeftCensored.fit(X, quantile=quantile)
        np.testing.assert_allclose(fitted.transform(np.full((2, 40), np.nan)), [expected] * 2)
        measured = fitted.transform(X)[~np.isnan(X)]
        np.testing.assert_array_equal(measured, X[~np.isnan(X)])


def test_genes_are_left_out_by_the_training_samples_and_their_labels_permuted_ones_too():
    """What test samples have, or are, changes nothing; each permutation has genes of its own."""
    rng = np.random.default_rng(1)
    y = np.repeat([-1.0, 1.0], 12)
    X = rng.normal(size=(24, 40))
    X[rng.random(X.shape) < 0.45] = np.nan
    X[:10, 3] = np.nan
    X[10:, 3] = 1.0
    dataset = make_dataset(X, y)
    splits = make_splits(dataset, 3, 1)
    folds = [KNN | {"missing_most": 0.5}, {"step": "centre"}]
    genes_of = {}
    study = PreparedStudy(dataset, splits, folds)
    for matrix in study.group_by_matrix(study.make_training_sets(splits.outer, [0, 1, 2]), 1):
        (task,) = matrix.training_sets
        alone = [{**KNN, "missing_most": 0.5, "classes": task.y[task.train]}]
        np.testing.assert_array_equal(matrix.genes, fit_steps(X[task.train], alone).genes)
        genes_of[task.split, task.permutation] = matrix.genes.tolist()
    assert all(3 not in genes for (_, number), genes in genes_of.items() if number == 0)
    assert any(3 in genes for (_, number), genes in genes_of.items() if number > 0)
    changed_X = X.copy()
    split = splits.outer[0]
    changed_X[dataset.rows(split.test)] = np.nan
    changed = PreparedStudy(replace(dataset, X=changed_X), splits, folds)
    (matrix,) = changed.group_by_matrix(changed.make_training_sets([split]), 1)
    assert matrix.genes.tolist() == genes_of[split.name, 0]


def test_values_missing_by_class_are_warned_of_by_validation(study):
    table = [line.split("\t") for line in Path("e.tsv").read_text().splitlines()]
    table[5][1::2] = ["NA"] * 10  # g4 of all samples of class a
    Path("e.tsv").write_text("\n".join("\t".join(line) for line in table) + "\n")
    raw = {**study, "data": {"missing": True}}
    log2 = {"samples": [{"step": "log2"}]}
    messages = problems({**raw, "normalise": log2 | {"folds": [{"step": "knn_impute"}]}})
    told_messages = [p.message for p in messages if "missing" in p.message or "lack" in p.message]
    assert (
        "are associated with the outcome: 1 gene of 4 with missing values (false discovery"
        in told_messages[0]
    )
    assert "'g4', which 100 % of 'a' and 0 % of 'b' lack" in told_messages[0]
    assert "{step: left_censored} takes it for a low one" in told_messages[0]
    assert told_messages[1].endswith(
        "in each training set: 1 gene that more than 50 % of a class lack, 'g4'"
    )
    messages = problems({**raw, "normalise": log2 | {"folds": [{"step": "left_censored"}]}})
    (told_messages,) = (p.message for p in messages if "missing" in p.message)
    assert told_messages.endswith("make sure that all were measured alike")


def test_values_below_detection_become_half_the_smallest_of_the_gene():
    X = np.array([[4.0, np.nan, 9], [6, 3, np.nan], [np.nan, 5, np.nan]])
    raw = HalfMinimum.fit(X, logarithms=False)
    np.testing.assert_array_equal(raw.transform(X), [[4, 1.5, 9], [6, 3, 4.5], [2, 5, 4.5]])
    logged = HalfMinimum.fit(np.log2(X), logarithms=True)
    np.testing.assert_allclose(2 ** logged.transform(np.log2(X)), raw.transform(X))
    with pytest.raises(GenesigError, match="found -2, of which no half is smaller"):
        HalfMinimum.fit(X - 5, logarithms=False)


def test_values_missing_in_low_genes_are_told_from_those_missing_by_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(24, 2, 200) + rng.normal(size=(20, 200))
    chance = X.copy()
    low = X.copy()
    chance[:, ::3][rng.random((20, 67)) < 0.3] = np.nan
    low[low < 21] = np.nan
    assert (missing_when_low(X), missing_when_low(chance), missing_when_low(low)) == (
        False,
        False,
        True,
    )


def test_a_few_missing_cells_of_low_genes_are_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(24, 2, 200) + rng.normal(size=(20, 200))
    below_mean = np.flatnonzero((X.mean(axis=0) < 23) & (X.mean(axis=0) > 22))
    few = X.copy()
    many = X.copy()
    few[0, below_mean[:4]] = np.nan
    many[0, below_mean] = np.nan
    assert (missing_when_low(few), missing_when_low(many)) == (False, True)


def test_neighbours_are_advised_against_where_low_values_are_missing(study):
    rng = np.random.default_rng(1)
    X = rng.normal(24, 3, 30)[:, None] + rng.normal(size=(30, 20))
    cells = np.where(X < 22, "NA", X.round(2).astype(str))
    enough_values = (X >= 22).sum(axis=1) > 2
    rows = ["\t".join(["gene", *(f"s{k:02}" for k in range(20))])]
    rows += ["\t".join([f"g{k}", *cells[k]]) for k in np.flatnonzero(enough_values)]
    Path("e.tsv").write_text("\n".join(rows) + "\n")
    warned_by_step = {}
    for step in IMPUTATION_STEPS:
        config = {**study, "data": {"missing": True}, "normalise": {"folds": [{"step": step}]}}
        warned_by_step[step] = [
            p.message for p in problems(config) if "missing where genes are low" in p.message
        ]
    assert [len(warned_by_step[step]) for step in IMPUTATION_STEPS] == [1, 0, 0, 0]
    assert "left_censored and half_minimum are for such values" in warned_by_step["knn_impute"][0]


def study_with_cell(text=None, missing=True, folds=("left_censored",), samples=()):
    return text, missing, list(folds), list(samples)


# What stands in every second cell of gene 4 or in its place; what is said.
UNREADABLE_VALUES = {
    "not asked for": (study_with_cell("NA", missing=False), "data.missing: true"),
    "a word": (study_with_cell("n.d."), "gene 'g4', sample 's01'"),
    "a bound": (study_with_cell("<0.1"), "gene 'g4', sample 's01'"),
    "infinity": (study_with_cell("inf"), "gene 'g4', sample 's01'"),
    "a code": (study_with_cell("-999"), "looks as if it stood for a missing one"),
    "no step": (study_with_cell("NA", folds=()), "needs {step: knn_impute} as the first"),
    "too late": (study_with_cell("NA", folds=("quantile", "half_minimum")), "as the first step"),
    "two of them": (
        study_with_cell("NA", folds=("half_minimum", "left_censored")),
        "has nothing to do",
    ),
    "ranks before": (
        study_with_cell("NA", samples=("rank_samples",)),
        "'rank_samples' needs every value",
    ),
    "counts": (
        study_with_cell("NA", samples=("log_cpm",)),
        "'log_cpm' needs every value of a sample",
    ),
    "before the splits": (
        study_with_cell("NA", folds=(), samples=("half_minimum",)),
        "'half_minimum'",
    ),
    "every value of a sample": (study_with_cell(), "every value of 's05' is missing"),
}


@pytest.mark.parametrize("name", UNREADABLE_VALUES)
def test_values_that_no_step_imputes_are_refused_in_one_line(name, study):
    (text, missing, folds, samples), words = UNREADABLE_VALUES[name]
    table = [line.split("\t") for line in Path("e.tsv").read_text().splitlines()]
    if text is None:
        for row in table[1:]:
            row[6] = "NA"
    else:
        table[5][2::2] = [text] * 10
    Path("e.tsv").write_text("\n".join("\t".join(line) for line in table) + "\n")
    normalise = {"samples": [{"step": s} for s in samples], "folds": [{"step": s} for s in folds]}
    messages = problems({**study, "data": {"missing": missing}, "normalise": normalise})
    errors = [f"{p.location}: {p.message}" for p in messages if p.level == "error"]
    assert any(words in line for line in errors), errors
    assert not any("\n" in line for line in errors)
