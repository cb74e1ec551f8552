"""Several studies become one data set, and each fault gives one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from study_runs import Studies, tables

from genesig.data.files.readers import load_schema, read_config
from genesig.data.splits.draw import draw_permutation, draw_splits
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.data.validate import examine
from genesig.errors import InvalidInput
from genesig.results import Dataset

Change = Callable[[Studies], Any]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(studies: Studies) -> tuple[dict[str, Any], Dataset]:
    config = resolve_config(read_config(studies.write()), load_schema())
    return config, read_dataset(StudySettings.from_config(config))


def lines_of_validation(studies: Studies) -> list[str]:
    examined = examine(read_config(studies.write()), load_schema(), "config.yaml")
    return [str(problem) for problem in examined.errors]


def test_studies_become_one_data_set_of_their_common_genes(tmp_path):
    studies = Studies(tmp_path)
    matrix, about = studies.files["berlin"]
    studies.files["berlin"] = matrix.drop(index=["gene04", "gene05"]), about
    _, dataset = read(studies)
    assert len(dataset.samples) == 60
    assert dataset.genes == [f"gene{j:02d}" for j in range(30) if j not in (4, 5)]
    assert dict(dataset.obs["study"].value_counts()) == dict.fromkeys(studies.files, 20)
    row = dataset.samples.index(matrix.columns[3])
    np.testing.assert_array_equal(dataset.X[row], matrix.loc[dataset.genes, matrix.columns[3]])
    flow = {study_row["name"]: study_row for study_row in dataset.provenance["studies"]}
    assert flow["boston"] == {
        "name": "boston",
        "samples": 20,
        "measured": 30,
        "genes": 30,
        "lost": 2,
        "lacking": {"berlin": 2, "bombay": 0},
    }
    assert len(dataset.provenance["inputs"]) == 6


def test_every_study_weighs_alike(tmp_path):
    studies = Studies(tmp_path)
    matrix, about = studies.files["boston"]
    studies.files["boston"] = matrix.iloc[:, :8], about[:8]
    _, dataset = read(studies)
    weights = pd.Series(dataset.sample_weights()).groupby(dataset.batches()).sum()
    np.testing.assert_allclose(weights, 48 / 3)


def test_validation_names_the_weights_of_studies_that_exclude_nonlinear_selection(tmp_path):
    studies = Studies(tmp_path)
    examined = examine(read_config(studies.write()), load_schema(), "config.yaml")
    assert "not offered with sample weights (across.weights: equal)" in examined.summary


def test_one_probe_stands_for_its_gene_whatever_the_labels_are(tmp_path):
    studies = Studies(tmp_path)
    matrix, about = studies.files["boston"]
    probes = pd.concat([matrix, matrix.iloc[:5] - 1])
    probes.index = [f"{k}_at" for k in range(len(probes))]
    symbols = [*matrix.index, *matrix.index[:5]]
    symbols[7] += " /// LOC1"
    studies.genes["chip.tsv"] = pd.DataFrame({"ID": probes.index, "symbol": symbols})
    studies.files["boston"] = probes, about
    studies.item("boston", annotation="chip.tsv")
    _, dataset = read(studies)
    assert dataset.genes == list(matrix.index)
    rows = dataset.rows(list(matrix.columns))
    np.testing.assert_array_equal(dataset.X[rows], matrix.T)
    about["diagnosis"] = about["diagnosis"].to_numpy()[::-1]
    np.testing.assert_array_equal(read(studies)[1].X, dataset.X)


def test_names_and_labels_of_each_study_are_translated(tmp_path):
    studies = Studies(tmp_path)
    for name, (matrix, about) in studies.files.items():
        samples = [f"s{i}" for i in range(20)]
        studies.files[name] = matrix.set_axis(samples, axis=1), about.set_axis(samples)
    matrix, about = studies.files["berlin"]
    words = {"ill": "rheumatoid arthritis", "well": "well"}
    about = about.assign(disease=about["diagnosis"].map(words)).drop(columns="diagnosis")
    studies.files["berlin"] = matrix, about
    studies.item("berlin", label="disease", classes={"rheumatoid arthritis": "ill"})
    studies.config = {"data": {"group": "patient"}}
    _, dataset = read(studies)
    assert "berlin.s3" in dataset.samples
    assert set(dataset.obs["diagnosis"]) == {"ill", "well"}
    assert len(set(dataset.groups())) == 60


def test_each_study_is_left_out_whole_and_halves_stay_within(tmp_path):
    config, dataset = read(Studies(tmp_path, tables(4)))
    splits = draw_splits(dataset, seed=0, **config["splits"])
    of = dict(zip(dataset.samples, dataset.batches(), strict=True))
    assert [split.name for split in splits.outer] == sorted(set(of.values()))
    for split in splits.outer:
        assert {of[name] for name in split.test} == {split.name}
        assert [{of[name] for name in fold} for fold in split.inner] == [
            {name} for name in sorted(set(of.values())) if name != split.name
        ]
    y = dict(zip(dataset.samples, dataset.response(), strict=True))
    for half in splits.subsamples:
        cells = pd.Series([(of[name], y[name]) for name in half.train]).value_counts()
        assert cells.between(4, 6).all()
        assert len(cells) == 8
    pi = draw_permutation(dataset, splits, 1)
    assert (dataset.batches()[pi] == dataset.batches()).all()


def test_two_studies_have_inner_folds_within_each(tmp_path):
    config, dataset = read(Studies(tmp_path))
    splits = draw_splits(dataset, seed=0, **config["splits"])
    of = dict(zip(dataset.samples, dataset.batches(), strict=True))
    for fold in splits.outer[0].inner:
        assert pd.Series([of[name] for name in fold]).value_counts().to_list() == [4, 4]


@pytest.mark.parametrize("align", ["centre", "standardise"])
def test_a_study_is_aligned_by_itself_and_without_its_labels(tmp_path, align):
    config, dataset = read(Studies(tmp_path))
    normalised = normalise_samples(dataset, align, **config["normalise"])
    study = dataset.batches()
    for name in set(study):
        rows_of_study = normalised.X[study == name]
        np.testing.assert_allclose(rows_of_study.mean(axis=0), 0, atol=1e-12)
        if align == "standardise":
            np.testing.assert_allclose(rows_of_study.std(axis=0), 1)
    X = dataset.X.copy()
    X[study == "berlin"] += 5.0  # whatever happens in one study has no part in another
    shifted = normalise_samples(replace(dataset, X=X), align, **config["normalise"])
    np.testing.assert_allclose(shifted.X, normalised.X, atol=1e-9)


def _same_study_twice(s):
    s.config["studies"] = [
        {"name": "boston", "expression": "boston.tsv", "samples": "boston_samples.tsv"},
        {"name": "Boston", "expression": "berlin.tsv", "samples": "berlin_samples.tsv"},
    ]


def _study_of_one_class(s):
    s.files = {"boston": s.files["boston"]}


def _study_beside(s):
    s.config["expression"] = "boston.tsv"


def _no_class(s):
    s.files["berlin"][1]["diagnosis"] = "ill"


def _other_word(s):
    matrix, about = s.files["berlin"]
    s.files["berlin"] = matrix, about.replace({"diagnosis": {"ill": "illness"}})


def _other_word_of_chosen(s):
    _other_word(s)
    s.config["data"] = {"classes": ["ill", "well"]}


def _logged_twice(s):
    s.item("berlin", normalise=[{"step": "log2"}])


def _third_word(s):
    s.files["berlin"][1].iloc[:3, 0] = "borderline"


def _other_ids(s):
    s.files["berlin"] = (
        s.files["berlin"][0].rename(lambda g: g.replace("gene", "ILMN_")),
        s.files["berlin"][1],
    )


def _other_label(s):
    s.files["berlin"] = (
        s.files["berlin"][0],
        s.files["berlin"][1].rename(columns={"diagnosis": "diagnose"}),
    )


def _raw(s):
    s.files["berlin"] = 2 ** s.files["berlin"][0], s.files["berlin"][1]


def _copied(s):
    matrix, about = s.files["berlin"]
    copied = matrix.copy()
    copied["ber104"] = s.files["boston"][0]["bos003"].to_numpy()
    s.files["berlin"] = copied, about


def _copied_many(s):
    s.files = tables(d=120)
    matrix, about = s.files["berlin"]
    rng = np.random.default_rng(0)
    copied = s.files["boston"][0]["bos003"].to_numpy() + rng.normal(0, 0.01, 120)
    s.files["berlin"] = matrix.assign(ber104=copied), about


def _confounded(s):
    for k, name in enumerate(s.files):
        matrix, about = s.files[name]
        columns = [i for i in range(20) if i % 2 == k % 2 or i < 4]
        s.files[name] = matrix.iloc[:, columns], about.iloc[columns]


def _word_of_none(s):
    s.item("berlin", classes={"RA": "ill"})


def _word_of_none_beside_its_like(s):
    """Of the words that are close, the one that is translated is not meant."""
    matrix, about = s.files["berlin"]
    words = {"ill": "non-survivor", "well": "survivor"}
    s.files["berlin"] = matrix, about.assign(diagnosis=about["diagnosis"].map(words))
    s.item("berlin", classes={"survivor": "well", "survivors": "ill"})


def _absent_table(s):
    s.genes["chip.tsv"] = pd.DataFrame({"ID": ["x_at"], "symbol": ["TP53"]})
    s.item("berlin", annotation="chip.tsv")


def _own_batch(s):
    s.config["data"] = {"batch": "patient"}


def _fold_step(s):
    s.item("berlin", normalise=[{"step": "quantile"}])


def _batches_of_one(s):
    s.config["splits"] = {"scheme": "leave_one_batch_outs"}


def _too_few(s):
    matrix, about = s.files["berlin"]
    columns = [0, 1, 2, 4, 6, 8]
    s.files["berlin"] = matrix.iloc[:, columns], about.iloc[columns]


def _missing(s):
    s.config["data"] = {"missing": True}


def _missing_and_filled(s):
    s.config["data"] = {"missing": True}
    s.config["normalise"] = {"folds": [{"step": "mean_impute"}]}


def _sets(s):
    lines = [f"set{k}\t\t" + "\t".join(f"gene{k + j:02d}" for j in range(12)) for k in range(4)]
    (s.root / "sets.gmt").write_text("\n".join(lines))
    s.config["structured"] = {"sets": "sets.gmt"}


def _sets_and_age(s):
    _sets(s)
    s.config["data"] = {"covariates": ["age"]}


def _pairs(s):
    for _, about in s.files.values():
        about["patient"] = [f"p{k // 2}" for k in range(len(about))]
    s.config["data"] = {"pair": "patient"}


def _nonlinear(s):
    s.config["nonlinear"] = {"enabled": True}


def _no_file(s):
    s.item("berlin", expression=None)


def _misspelt_key(s):
    s.item("berlin", lable="diagnosis")


def _absent_file(s):
    s.item("berlin", expression="berlinn.tsv")


def _absent_sheet(s):
    s.item("berlin", samples="berlin_sampels.tsv")


def _sheet_of_another(s):
    s.item("berlin", samples="boston_samples.tsv")


def _series_beside(s):
    s.item("berlin", geo="GSE55457")


def _spaced_name(s):
    s.items["berlin"] = {"name": "new york"}


def _event_of_classes(s):
    s.item("berlin", event="dead")


def _unknown_alignment(s):
    s.config["across"] = {"align": "combats"}


def _unknown_probes(s):
    s.config["across"] = {"probes": "mean"}


def _own_weights(s):
    s.config["data"] = {"weights": "age"}


def _unknown_covariate(s):
    s.config["data"] = {"covariates": ["weight"]}


def _of_berlin(change):
    """Return what a change makes of one study's matrix and sample table."""

    def changed(s):
        s.files["berlin"] = change(*(table.copy() for table in s.files["berlin"]))

    return changed


def _word_for_a_value(matrix, about):
    matrix = matrix.astype(object)
    matrix.loc["gene02", "ber104"] = "high"
    return matrix, about


def _blank(matrix, about):
    matrix.loc["gene02", "ber104"] = np.nan
    return matrix, about


def _infinite(matrix, about):
    matrix.loc["gene02", "ber104"] = np.inf
    return matrix, about


def _too_small_for_combat(studies):
    studies.config["across"] = {"align": "combat"}
    matrix, about = studies.files["berlin"]
    studies.files["berlin"] = matrix.iloc[:, :4], about.iloc[:4]


FAULTS_OF_STUDIES: list[tuple[Change, str]] = [
    (_no_file, "config.yaml, studies, item 2, expression: found nothing (null), needs text"),
    (_misspelt_key, "studies, item 2, lable: unknown key 'lable'; did you mean"),
    (_absent_file, "berlinn.tsv: no such file"),
    (_absent_sheet, "berlin_sampels.tsv: no such file"),
    (_sheet_of_another, "berlin.tsv: no sample of boston_samples.tsv is here"),
    (_series_beside, "studies, item 2, geo: names the matrix, and so does expression, berlin.tsv"),
    (_spaced_name, "studies, item 2, name: found the text 'new york', needs letters, digits"),
    (_event_of_classes, "config.yaml, studies, item 2, event: is for survival; take it away"),
    (_unknown_alignment, "across.align: found the text 'combats', needs one of none, centre"),
    (_unknown_probes, "across.probes: found the text 'mean', needs one of max_mean, max_iqr"),
    (_own_weights, "data.weights: stands beside across.weights: equal; set that one to samples"),
    (_unknown_covariate, "studies: data.covariates 'weight' is not a column of studies"),
    (_of_berlin(_word_for_a_value), "berlin.tsv, line 4, gene 'gene02', sample 'ber104': the val"),
    (_of_berlin(_blank), "the value is blank; fill it in, or leave the gene out"),
    (_of_berlin(_infinite), "berlin.tsv, line 4, gene 'gene02', sample 'ber104': the value is inf"),
    (
        _of_berlin(lambda m, a: (m, a.rename({"ber104": "ber105"}))),
        "berlin_samples.tsv, line 7: sample 'ber105' is already on line 6",
    ),
    (
        _of_berlin(lambda m, a: (m.rename(lambda gene: gene[:5]), a)),
        "berlin.tsv: gene id 'gene0' occurs 10 times (lines 2, 3, 4)",
    ),
    (_of_berlin(lambda m, a: (0 * m + 1, a)), "berlin.tsv: every gene has the same value in all"),
    (
        _of_berlin(lambda m, a: (m, a.assign(diagnosis=""))),
        "berlin_samples.tsv: no sample has a label of the study in column 'diagnosis'",
    ),
    (_same_study_twice, "config.yaml, studies, item 2, name: 'Boston' is already taken"),
    (_study_of_one_class, "config.yaml, studies: there is one study; name another one"),
    (_study_beside, "config.yaml, expression: 'boston.tsv' stands beside studies"),
    (_no_class, "berlin_samples.tsv, column 'diagnosis': no sample of 'berlin' is 'well'"),
    (_other_word, "if it is spelled otherwise there, write classes: {illness: ill}"),
    (_other_word_of_chosen, "if it is spelled otherwise there, write classes: {illness: ill}"),
    (_logged_twice, "studies, berlin, normalise, item 1: 'log2' gives all of the genes one value"),
    (_third_word, "berlin_samples.tsv, column 'diagnosis': 'borderline' (3) is no class of"),
    (_other_ids, "studies: no gene is in all of them: boston has 'gene00', 'gene01', 'gene02'"),
    (
        _other_label,
        "berlin_samples.tsv: label 'diagnosis' is not a column of berlin_samples.tsv; "
        "did you mean 'diagnose'?",
    ),
    (_raw, "studies: 'berlin' looks as if no logarithms were taken, 'boston', 'bombay' as if"),
    (_copied, "boston.tsv: 'bos003' of 'boston' and 'ber104' of 'berlin' are one sample"),
    (_copied_many, "boston.tsv: 'bos003' of 'boston' and 'ber104' of 'berlin' are one sample"),
    (_confounded, "studies, column 'study': batch and label go together"),
    (_word_of_none, "berlin_samples.tsv, column 'diagnosis': classes: no sample is 'RA'"),
    (_word_of_none_beside_its_like, "no sample is 'survivors'; did you mean 'non-survivor'?"),
    (_absent_table, "chip.tsv: no gene of the matrix is in its first column"),
    (_own_batch, "config.yaml, data.batch: 'patient': where there are several studies each is a"),
    (_fold_step, "config.yaml, studies, item 2, normalise, item 1: 'quantile' learns from several"),
    (_batches_of_one, "config.yaml, splits.scheme: found the text 'leave_one_batch_outs'"),
    (_too_few, "berlin_samples.tsv, column 'diagnosis': 'berlin' has one sample of class 'ill'"),
    (_too_small_for_combat, "berlin.tsv: 'berlin' has 4 samples, at least 5 are needed"),
    (_missing, "config.yaml, data.missing: is not offered where there are several studies"),
    (_missing_and_filled, "config.yaml, data.missing: is not offered where there are several"),
    (_sets, "config.yaml, across.weights: 'equal' is not offered with gene sets; set it to samp"),
    (_sets_and_age, "config.yaml, data.covariates: is not offered with gene sets; take structured"),
    (_pairs, "config.yaml, across.weights: 'equal' is not offered with data.pair; set it to samp"),
    (_nonlinear, "config.yaml, across.weights: 'equal' is not offered with the nonlinear part; s"),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("change", "line"), FAULTS_OF_STUDIES, ids=lambda x: getattr(x, "__name__", "")
)
def test_faulty_studies_give_one_line(tmp_path, change, line):
    studies = Studies(tmp_path)
    change(studies)
    problems = lines_of_validation(studies)
    assert line in problems[0]
    assert re.fullmatch(
        r"error: [^:]+: .+(; .+|, needs .+)", problems[0]
    )  # where, what, what to do
    assert len(problems) == 1 or change in (_study_of_one_class, _own_batch), problems


def warned(studies: Studies) -> list[str]:
    examined = examine(read_config(studies.write()), load_schema(), "config.yaml")
    return [str(problem) for problem in examined.problems if problem.level == "warning"]


def test_logarithms_of_logarithms_above_the_floor_are_warned_of(tmp_path):
    studies = Studies(tmp_path)
    studies.item("berlin", normalise=[{"step": "log2", "floor": 1}])
    assert [
        line
        for line in warned(studies)
        if "studies, berlin, normalise, item 1: " in line and "logged already" in line
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("unit", "is_warned"), [(1, False), (3, False), (12, True), (365.25, True)]
)
def test_times_in_another_unit_are_warned_of(tmp_path, unit, is_warned):
    studies = Studies(tmp_path)
    studies.config = {
        "label": {"time": "years", "event": "died"},
        "data": {"task": "survival", "confounding": 1},
    }
    rng = np.random.default_rng(4)
    for name, (_, about) in studies.files.items():
        about["years"] = rng.uniform(0.5, 5, len(about)) * (unit if name == "berlin" else 1)
        about["died"] = np.arange(len(about)) % 2
    said_so = [line for line in warned(studies) if "one unit" in line]
    assert len(said_so) == is_warned
    assert all("column 'years': the median time of 'berlin'" in line for line in said_so)


def _survival(tmp_path: Any) -> Studies:
    studies = Studies(tmp_path)
    studies.config = {"label": {"time": "years", "event": "died"}, "data": {"task": "survival"}}
    for k, (_, about) in enumerate(studies.files.values()):
        about["years"] = np.random.default_rng(k).uniform(0.5, 5, len(about)).round(2)
        about["died"] = np.arange(len(about)) % 2
    return studies


def test_a_time_that_is_none_is_named_by_the_file_line_and_column_of_its_study(tmp_path):
    studies = _survival(tmp_path)
    matrix, about = studies.files["berlin"]
    about.iloc[4, about.columns.get_loc("years")] = -2.0
    about["died"] = ["", *about["died"].astype(str)[1:]]
    studies.files["berlin"] = matrix, about.rename(columns={"years": "follow_up"})
    studies.item("berlin", label={"time": "follow_up", "event": "died"})
    assert lines_of_validation(studies)[0].startswith(
        "error: berlin_samples.tsv, line 6, column 'follow_up': the "
        "time of 'ber104' is -2.0, before the start"
    )


def test_events_in_other_words_are_named_with_the_line_of_their_study(tmp_path):
    studies = _survival(tmp_path)
    about = studies.files["berlin"][1]
    about["died"] = np.where(about["died"] == 1, "dead", "alive")
    problems = lines_of_validation(studies)
    assert len(problems) == 1
    assert problems[0].startswith("error: berlin_samples.tsv, column 'died': ")
    assert problems[0].endswith("write into this item of studies, event: dead")


def test_events_in_other_words_become_the_words_of_the_first_study(tmp_path):
    studies = _survival(tmp_path)
    expected = read(studies)[1].response()["event"]
    about = studies.files["berlin"][1]
    about["died"] = np.where(about["died"] == 1, "dead", "alive")
    studies.item("berlin", event="dead")
    np.testing.assert_array_equal(read(studies)[1].response()["event"], expected)


def test_sound_studies_give_no_message(tmp_path):
    assert lines_of_validation(Studies(tmp_path)) == []


def test_the_scheme_needs_several_studies():
    raw = {
        "expression": "e.tsv",
        "samples": "s.tsv",
        "label": "l",
        "splits": {"scheme": "leave_one_study_out"},
    }
    from genesig.data.study.settings_check import check_settings

    (problems,) = check_settings(resolve_config(raw, load_schema()), "c.yaml")
    assert "take leave_one_batch_out, for the batches of one" in str(problems)


def test_a_fault_of_a_study_is_an_error_of_reading(tmp_path):
    studies = Studies(tmp_path)
    _no_class(studies)
    with pytest.raises(InvalidInput, match="no sample of 'berlin' is 'well'"):
        read(studies)
