"""External cohorts in the workflow: checked first, scored and reported beside the study."""

import json

import numpy as np
import pandas as pd
import pytest
from study_runs import make_study, planned, run, write_config

pytestmark = pytest.mark.slow

ITEMS = [
    {
        "name": "near",
        "expression": "near.tsv",
        "samples": "near_samples.tsv",
        "label": "status",
        "classes": {"sick": "ill", "healthy": "well"},
    },
    {
        "name": "far-away",
        "expression": "far.tsv",
        "samples": "far_samples.tsv",
        "label": "status",
        "classes": {"sick": "ill", "healthy": "well"},
        "combat": True,
    },
]
LACKING = {**ITEMS[0], "name": "lacking", "expression": "lacking.tsv", "missing": 0}
OF_THE_STUDY = {"validate", "read", "normalise", "split", "fit", "fit_final", "gather", "model"}


def write_cohort(folder, name, genes, shift, n=12, seed=5):
    """Write a data set with the toy's three informative genes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((len(genes), n)) + shift
    X[:3] += 1.6 * y
    X[3:6] = X[:3] + 0.4 * rng.standard_normal((3, n))
    table = pd.DataFrame(X, genes, [f"{name}{k}" for k in range(n)])
    table.to_csv(folder / f"{name}.tsv", sep="\t", index_label="gene")
    rows = [f"{name}{k}\t{'sick' if y[k] else 'healthy'}" for k in range(n)]
    (folder / f"{name}_samples.tsv").write_text("id\tstatus\n" + "\n".join(rows) + "\n")


def study_with(folder, items):
    make_study(
        folder,
        {
            "external": items,
            "controls": {"permutations": 0, "baselines": []},
            "nonlinear": {"enabled": False},
            "splits": {"subsamples": 0},
        },
    )
    genes = pd.read_csv(folder / "expression.tsv.gz", sep="\t", index_col=0).index
    write_cohort(folder, "near", genes, 0.0)
    write_cohort(folder, "far", genes, 1.5)
    lines = (folder / "near.tsv").read_text().splitlines(keepends=True)
    (folder / "lacking.tsv").write_text("".join(lines[:1] + lines[7:]))
    return folder


@pytest.fixture(scope="module")
def tested(tmp_path_factory):
    """Give a finished study with data sets of other studies, one of which lacks the genes."""
    folder = study_with(tmp_path_factory.mktemp("toy"), [*ITEMS, LACKING])
    run(folder)
    return folder


def change(folder, items):
    write_config(
        folder,
        {
            "external": items,
            "controls": {"permutations": 0, "baselines": []},
            "nonlinear": {"enabled": False},
            "splits": {"subsamples": 0},
        },
    )


def test_every_data_set_has_its_tables(tested):
    for item in ITEMS:
        cohort_folder = tested / "results/external" / item["name"]
        predictions = pd.read_csv(cohort_folder / "predictions.tsv", sep="\t")
        assert list(predictions.columns) == [
            "sample",
            "given",
            "label",
            "score",
            "predicted",
            "wrong",
            "probability of well",
            "imputed",
            "list",
        ]
        assert predictions["list"].value_counts().to_dict() == {
            "predictive": 12,
            "fdr_selected": 12,
        }
        scores = pd.read_csv(cohort_folder / "scores.tsv", sep="\t", index_col="measure")
        assert (scores.loc["auc", "value"] > 0.8).all()
        assert set(pd.read_csv(cohort_folder / "genes.tsv", sep="\t")["gene"])


def test_cohort_without_the_genes_leaves_the_others_scored(tested):
    """What only the model tells: the genes that it needs are not there."""
    about = json.loads((tested / "results/external/lacking/about.json").read_text())
    assert "that the model needs are missing" in about["not_assessable"]
    assert "lacking: not assessable, because" in (tested / "results/report.html").read_text()


def test_combat_removes_the_shift_of_a_cohort(tested):
    shift = {}
    for item in ITEMS:
        about = json.loads((tested / f"results/external/{item['name']}/about.json").read_text())
        shift[item["name"]] = [about["shift"][key]["median"] for key in ("measured", "scored")]
    assert shift["near"][0] == shift["near"][1] < 0.6
    assert shift["far-away"][0] > 1 > 0.4 > shift["far-away"][1]


def test_report_shows_both_cohorts(tested):
    html = (tested / "results/report.html").read_text()
    assert 'id="external"' in html
    assert "the final model, unchanged, misclassified" in html
    for item in ITEMS:
        assert (tested / f"results/figures/external_{item['name']}_scores.svg").exists()
        assert f'href="external/{item["name"]}/predictions.tsv"' in html


def test_nothing_is_left_to_do(tested):
    assert planned(tested) == set()


def test_another_data_set_reruns_nothing_of_the_study(tested):
    third_item = {**ITEMS[0], "name": "third"}
    change(tested, [*ITEMS, LACKING, third_item])
    try:
        rules = planned(tested)
    finally:
        change(tested, [*ITEMS, LACKING])
    assert {"validate_external", "external", "report_data", "report"} <= rules
    assert not rules & OF_THE_STUDY


def test_without_data_sets_no_rule_of_theirs_runs(tested):
    change(tested, [])
    try:
        rules = planned(tested)
    finally:
        change(tested, [*ITEMS, LACKING])
    assert not rules & {"validate_external", "external", *OF_THE_STUDY}


def test_faults_of_all_cohorts_stop_the_study_before_it_computes(tmp_path):
    items = [{**ITEMS[0], "label": "stats"}, {**ITEMS[1], "classes": {}}]
    folder = study_with(tmp_path, items)
    process = run(folder, cores=1, check=False)
    output = process.stdout + process.stderr
    assert process.returncode != 0
    assert "did you mean 'status'?" in output
    assert "no label is a class of the study" in output
    assert "Traceback" not in output
    assert not (folder / "results/data").exists()
    assert not (folder / "results/external").exists()
