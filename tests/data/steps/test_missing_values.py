"""Missing values: refused, unless the study has a step that fills them in."""

from pathlib import Path

import numpy as np
import pytest

from genesig.data.files.readers import load_schema
from genesig.data.steps.described import described
from genesig.data.steps.normalise import fit_steps, normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.validate import examine_study
from genesig.errors import InvalidInput

KNN = {"step": "knn_impute", "neighbours": 3}
ROW_WISE = {"step": "log2", "floor": 16, "ceiling": 65536}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Return the config of a study of 20 samples; a gene is never measured, others sometimes."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(7, 1, (30, 20)).round(1).astype(str)
    X[2, 3], X[5, 7], X[9, :], X[11, 1] = "", "NA", "NA", "nan"
    names = [f"s{k:02}" for k in range(20)]
    rows = ["\t".join(["gene", *names])] + ["\t".join([f"g{k}", *X[k]]) for k in range(30)]
    (tmp_path / "e.tsv").write_text("\n".join(rows) + "\n")
    sheet = [f"{name}\t{'ab'[k % 2]}" for k, name in enumerate(names)]
    (tmp_path / "s.tsv").write_text("sample\tclass\n" + "\n".join(sheet) + "\n")
    monkeypatch.chdir(tmp_path)
    return {"expression": "e.tsv", "samples": "s.tsv", "label": "class"}


def problems(config):
    resolved = resolve_config(config, load_schema())
    return [p for p in examine_study(resolved, "config").problems if "permutations" not in p.where]


def test_they_are_refused_and_the_way_out_is_named(study):
    (found,) = (p for p in problems(study) if p.level == "error")
    assert "(22 further cells in 3 genes)" in found.what
    assert "data.missing: true, and {step: knn_impute}" in found.what


def test_they_are_kept_for_the_step_that_fills_them_in(study):
    steps = {"samples": [{"step": "log2"}], "folds": [{"step": "knn_impute"}]}
    config = {**study, "data": {"missing": True}, "normalise": steps}
    assert [p.level for p in problems(config)] == ["warning"]  # of the gene without a value
    choices = resolve_config(config, load_schema())["data"]
    dataset = read_dataset(*study.values(), **choices)
    assert "g9" not in dataset.genes
    assert np.isnan(dataset.X).sum() == 3
    done = normalise_samples(dataset, samples=[ROW_WISE], folds=[KNN])
    assert np.isnan(done.X).sum() == 3
    filled = fit_steps(done.X[:12], [KNN]).transform(done.X)
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(described(done).X, fit_steps(done.X, [KNN]).transform(done.X))


@pytest.mark.parametrize(
    ("samples", "folds", "message"),
    [
        ([], ["centre"], "data.missing: needs {step: knn_impute} as the first step of"),
        ([], ["quantile", "knn_impute"], "data.missing: needs {step: knn_impute} as the first"),
        (["rank_samples"], ["knn_impute"], "'rank_samples' needs every value of a sample"),
    ],
)
def test_steps_that_cannot_have_them_are_refused(study, samples, folds, message):
    steps = {"samples": [{"step": name} for name in samples],
             "folds": [{"step": name} for name in folds]}  # fmt: skip
    found = problems({**study, "data": {"missing": True}, "normalise": steps})
    assert any(message in str(p) and p.level == "error" for p in found)


def test_a_step_without_anything_to_fill_in_is_warned_of(study):
    found = problems({**study, "normalise": {"folds": [{"step": "knn_impute"}]}})
    assert any("has nothing to do" in p.what and p.level == "warning" for p in found)


def test_other_faults_are_refused_all_the_same(study):
    path = Path("e.tsv")
    path.write_text(path.read_text().replace("NA", "n.d.", 1))
    with pytest.raises(InvalidInput, match=r"the value is 'n\.d\.', not a number"):
        read_dataset(*study.values(), task="classification", classes=None, group=None, pair=None,
                     batch=None, confounding=0.5,
                     annotation=None, symbol=None, part=None, files=None,
                     event=None, horizon=None, ties="efron",
                     missing=True, prior_weights=None,
                     covariates=[], missing_covariates="refuse", covariate_shape="splines",
                     weights=None, chromosome=None, position=None)  # fmt: skip
