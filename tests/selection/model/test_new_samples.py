"""`genesig predict` scores new samples, reports missing genes and refuses other scales."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fitted_models import CHAINS, GENES, LINEAR, NAMES, D, N, score
from fitted_models import fitted as _fitted
from fitted_models import model_of as _model
from fitted_models import table as _table
from fitted_models import values as _values
from format_files import Numbers, gct12, h5ad, series_matrix, tabbed

from genesig.cli import main
from genesig.data.files.readers import read_json, read_matrix
from genesig.data.steps.normalise import fit_reference_steps, normalise_samples
from genesig.results import save_json
from genesig.selection.model.new_samples import predict


def _predict(folder: Path, model: dict[str, Any], file: str, text: str, *options: str) -> int:
    (folder / "model.json").write_text(json.dumps(model))
    (folder / file).write_text(text)
    paths = [str(folder / "model.json"), str(folder / file), "-o", str(folder / "p.tsv")]
    return main(["predict", *paths, *options])


def _predictions(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "p.tsv", sep="\t", index_col="sample")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chain", CHAINS)
def test_training_samples_are_scored_as_the_model_fits_them(chain: str, tmp_path: Path) -> None:
    model, data = _model(chain)
    assert model["models"][1]["genes"]
    order = np.random.default_rng(1).permutation(D)  # the model's genes are found by name
    text = _table(data.X[:, order], NAMES, [GENES[k] for k in order])
    assert _predict(tmp_path, model, "new.tsv", text) == 0
    predictions = _predictions(tmp_path)
    expected_scores = score(model, dict(zip(GENES, data.X.T, strict=True)))
    np.testing.assert_allclose(
        predictions["score"], expected_scores, rtol=1e-9, atol=1e-9
    )  # 10 digits in the file
    assert (
        predictions["predicted"].tolist()
        == np.where(expected_scores > 0, "ill", "healthy").tolist()
    )
    assert set(predictions["list"]) == {model["answer"]}
    assert (predictions["imputed"] == 0).all()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chain", CHAINS)
def test_the_model_on_disk_predicts_its_own_fit(chain: str, tmp_path: Path) -> None:
    """f = intercept + X coef of the fit, X from the steps fitted anew: no part of predict."""
    samples, folds, _ = CHAINS[chain]
    model, data, fits = _fitted(chain)
    X = normalise_samples(data, samples=samples, folds=folds).X
    steps = fit_reference_steps(X, folds)
    X = steps.transform(X)
    save_json(tmp_path / "model.json", model)
    (tmp_path / "new.tsv").write_text(_table(data.X, NAMES, GENES))
    loaded = read_json(tmp_path / "model.json")
    matrix = read_matrix(tmp_path / "new.tsv")
    for at, mu in enumerate(LINEAR["mu"]):
        genes, coef = fits.coef(0, at)
        place = {int(gene): column for column, gene in enumerate(steps.genes)}
        expected_scores = fits.intercept[0, at] + X[:, [place[int(gene)] for gene in genes]] @ coef
        expected_scores -= fits.threshold[0]
        table, _ = predict(loaded, matrix, "new.tsv", missing=0.0, mu=mu)
        np.testing.assert_allclose(table["score"], expected_scores, rtol=0, atol=1e-12)
        assert len(genes) > 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("chain", CHAINS)
def test_one_sample_alone_is_scored_as_among_others(chain: str, tmp_path: Path) -> None:
    model, _ = _model(chain)
    X = _values(CHAINS[chain][2], seed=5)
    scores = []
    for rows in (slice(None), slice(3, 4)):
        path = tmp_path / "new.tsv"
        path.write_text(_table(X[rows], NAMES[rows], GENES))
        table, _ = predict(model, read_matrix(path), "new.tsv", missing=0.0, mu=None)
        scores.append(table.set_index("sample")["score"])
    expected_scores = score(model, dict(zip(GENES, X.T, strict=True)))
    np.testing.assert_allclose(scores[0], expected_scores, rtol=0, atol=1e-12)
    assert scores[1]["s3"] == scores[0]["s3"]


def test_other_formats_and_either_way_round_give_the_same(tmp_path: Path) -> None:
    model, data = _model("plain")
    numbers = Numbers(GENES, NAMES, data.X.T.tolist())
    rows = [
        ["", *GENES],
        *[[name, *map(repr, x)] for name, x in zip(NAMES, data.X.tolist(), strict=True)],
    ]
    (tmp_path / "new.h5ad").write_bytes(h5ad(numbers))
    (tmp_path / "model.json").write_text(json.dumps(model))
    paths = [str(tmp_path / name) for name in ("model.json", "new.h5ad", "p.tsv")]
    assert main(["predict", *paths[:2], "-o", paths[2]]) == 0
    predictions = _predictions(tmp_path)
    for file, text in (
        ("GSE1_series_matrix.txt", series_matrix(numbers)),
        ("e.gct", gct12(numbers)),
        ("turned.tsv", tabbed(rows)),
    ):
        assert _predict(tmp_path, model, file, text) == 0
        pd.testing.assert_frame_equal(_predictions(tmp_path), predictions)


def test_sample_names_are_found_in_another_column_of_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pandas writes the numbers of the rows first."""
    model, data = _model("plain")
    chosen = tmp_path / "chosen.csv"
    rows = [f"{k},{name}" for k, name in enumerate(NAMES[2:])]
    chosen.write_text("\n".join([",id", *rows]) + "\n")
    text = _table(data.X, NAMES, GENES)
    assert _predict(tmp_path, model, "new.tsv", text, "--samples", str(chosen)) == 0
    assert list(_predictions(tmp_path).index) == list(NAMES[2:])
    assert "chosen.csv, column 'id': read as sample names" in capsys.readouterr().err


def test_columns_of_annotation_are_no_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A description beside each gene, as training takes it; --samples leaves out numbers, too."""
    model, data = _model("plain")
    assert _predict(tmp_path, model, "new.tsv", _table(data.X, NAMES, GENES)) == 0
    predictions = _predictions(tmp_path)
    lines = _table(data.X, NAMES, GENES).splitlines()
    annotation_columns = [("what", "length"), *(("a kinase", str(900 + k)) for k in range(D))]
    rows = [
        "\t".join([*line.split("\t")[:1], *cells, *line.split("\t")[1:]])
        for line, cells in zip(lines, annotation_columns, strict=True)
    ]
    text = "\n".join(row for row in rows) + "\n"
    chosen = tmp_path / "chosen.tsv"
    chosen.write_text("sample\n" + "\n".join([*NAMES[2:], "zz"]) + "\n")
    capsys.readouterr()
    assert _predict(tmp_path, model, "new.tsv", text, "--samples", str(chosen)) == 0
    pd.testing.assert_frame_equal(_predictions(tmp_path)[["score"]], predictions[["score"]][2:])
    stderr = capsys.readouterr().err
    assert "2 columns beside the genes: 'what', 'length'" in stderr
    assert "not in the table of --samples, so left out: 's0', 's1'" in stderr
    assert "--samples: not in" in stderr
    assert "so not scored: 'zz'" in stderr
    words = "\n".join("\t".join(row.split("\t")[:2] + row.split("\t")[3:]) for row in rows) + "\n"
    assert _predict(tmp_path, model, "new.tsv", words) == 0
    pd.testing.assert_frame_equal(_predictions(tmp_path)[["score"]], predictions[["score"]])
    assert "1 column beside the genes: 'what'" in capsys.readouterr().err


def test_a_dash_writes_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data = _model("plain")
    assert _predict(tmp_path, model, "new.tsv", _table(data.X, NAMES, GENES)) == 0
    capsys.readouterr()
    monkeypatch.chdir(tmp_path)
    assert main(["predict", "model.json", "new.tsv", "-o", "-"]) == 0
    assert capsys.readouterr().out == (tmp_path / "p.tsv").read_text()
    assert not Path("-").exists()


def test_a_missing_gene_is_its_training_mean_and_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = _model("quantile")
    X = _values(True, seed=5)
    columns = [k for k in range(D) if k != 1]
    text = _table(X[:, columns], NAMES, [GENES[k] for k in columns])
    text = text.replace(f"\ng4\t{float(X[0, 4])!r}\t", "\ng4\tNA\t")
    assert _predict(tmp_path, model, "new.tsv", text) == 0
    err = capsys.readouterr().err
    assert err.startswith("warning: ")
    assert "2 of the 25 genes that the model needs are missing in sample 's0': 'g1', 'g4'" in err
    assert "filled in by the mean of the training samples" in err
    predictions = _predictions(tmp_path)
    assert predictions["imputed"].tolist() == [2] + [1] * (N - 1)
    X[:, 1], X[0, 4] = (np.exp2(np.log2(data.X[:, k]).mean()) for k in (1, 4))
    expected_scores = score(model, dict(zip(GENES, X.T, strict=True)))
    np.testing.assert_allclose(predictions["score"], expected_scores, rtol=1e-9, atol=1e-9)


def test_a_model_that_fills_in_missing_values_does_so_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _ = _model("imputed")
    X = _values(False, seed=5)
    text = _table(X, NAMES, GENES).replace(f"\ng4\t{float(X[0, 4])!r}\t", "\ng4\tNA\t")
    assert _predict(tmp_path, model, "new.tsv", text) == 0
    assert "filled in by the model's knn_impute" in capsys.readouterr().err
    X[0, 4] = np.nan
    expected_scores = score(model, dict(zip(GENES, X.T, strict=True)))
    np.testing.assert_allclose(
        _predictions(tmp_path)["score"], expected_scores, rtol=1e-9, atol=1e-9
    )


def test_to_a_model_of_values_too_small_a_blank_is_low_and_an_absent_gene_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = _model("left censored")
    X = _values(False, seed=5)
    columns = [k for k in range(D) if k != 1]
    text = _table(X[:, columns], NAMES, [GENES[k] for k in columns])
    text = text.replace(f"\ng0\t{float(X[0, 0])!r}\t", "\ng0\tNA\t")
    assert _predict(tmp_path, model, "new.tsv", text, "--missing", "0.2") == 0
    assert "filled in by the mean of the training samples" in capsys.readouterr().err
    predictions = _predictions(tmp_path)
    assert predictions["imputed"].tolist() == [1] * N
    X[:, 1] = data.X[:, 1].mean()
    X[0, 0] = np.quantile(data.X[:, 0], 0.01)
    expected_scores = score(model, dict(zip(GENES, X.T, strict=True)))
    np.testing.assert_allclose(predictions["score"], expected_scores, rtol=1e-9, atol=1e-9)


# Weights of TMM change with the depth, and of 25 genes it goes by eleven.
@pytest.mark.parametrize(("chain", "near"), [("size factors", 0.2), ("stabilised", 1e-9)])
def test_depth_is_no_scale_and_a_missing_gene_has_the_depth_of_its_sample(
    chain: str, near: float, tmp_path: Path
) -> None:
    model, data = _model(chain)
    assert _predict(tmp_path, model, "new.tsv", _table(data.X, NAMES, GENES)) == 0
    full_scores = _predictions(tmp_path)["score"]
    assert _predict(tmp_path, model, "new.tsv", _table(20 * data.X, NAMES, GENES)) == 0
    np.testing.assert_allclose(_predictions(tmp_path)["score"], full_scores, rtol=0, atol=near)
    columns = [k for k in range(D) if k != 1]
    scores = []
    for times in (1, 20):
        text = _table(times * data.X[:, columns], NAMES, [GENES[k] for k in columns])
        assert _predict(tmp_path, model, "new.tsv", text) == 0
        scores.append(_predictions(tmp_path)["score"])
    np.testing.assert_allclose(*scores, rtol=0, atol=near)
    assert np.corrcoef(scores[0], full_scores)[0, 1] > 0.9


def test_a_regression_predicts_its_score(tmp_path: Path) -> None:
    model, data = _model("plain", "regression")
    assert _predict(tmp_path, model, "new.tsv", _table(data.X, NAMES, GENES)) == 0
    predictions = _predictions(tmp_path)
    assert (predictions["predicted"] == predictions["score"]).all()


def _with(X: Any, value: float) -> Any:
    X = X.copy()
    X[[3, 5], [2, 1]] = value
    return X


def _cut(text: str, line: str) -> str:
    return "".join(line_ for line_ in text.splitlines(True) if not line_.startswith(line))


def _like(X: Any, sample: int, value: float) -> Any:
    X = X.copy()
    X[sample] = value
    return X


REFUSED: dict[str, tuple[str, Any, list[str]]] = {
    "too many genes missing": (
        "quantile",
        lambda X: _cut(_table(X, NAMES, GENES), "g1"),
        [
            "11 of the 25 genes that the model needs are missing in sample 's0'",
            "at most a share of 0.1 may be (--missing)",
        ],
    ),
    "other gene ids": (
        "log2",
        lambda X: _table(X, NAMES, [f"ENSG{k}" for k in range(D)]),
        ["none of the model's genes is here", "'ENSG0'", "another kind of gene id?"],
    ),
    "symbols in another case": (
        "log2",
        lambda X: _table(X, NAMES, list(map(str.upper, GENES))),
        [
            "none of the model's genes is here",
            "of them are here in another form, as 'G0' for 'g0': write the ids alike",
        ],
    ),
    "a decimal comma": (
        "quantile",
        lambda X: _table(X, NAMES, GENES).replace(repr(float(X[0, 2])), "1,5"),
        ["gene 'g2', sample 's0'", "decimal comma"],
    ),
    "logged for a model that takes logarithms": (
        "log2",
        lambda X: _table(np.log2(X), NAMES, GENES),
        ["logged already", "the same scale"],
    ),
    "logged for a model of raw values": (
        "never logged",
        lambda X: _table(np.log2(X), NAMES, GENES),
        ["logged already"],
    ),
    "raw for a model of logged values": (
        "plain",
        lambda X: _table(np.exp2(X), NAMES, GENES),
        ["never logged", "same scale"],
    ),
    "never logged, a few values far off": (
        "plain",
        lambda X: _table(np.exp2(X - 3), NAMES, GENES),
        ["of sample 's0' look as if"],
    ),
    "a sample of one value": (
        "plain",
        lambda X: _table(_like(X, 3, 7.5), NAMES, GENES),
        ["new.tsv, sample 's3': all 25 values are 7.5; export the sample again, or leave it out"],
    ),
    "another base of the logarithm": (
        "plain",
        lambda X: _table(X * np.log10(2), NAMES, GENES),
        ["standard deviations off"],
    ),
    "darker by a factor of 16": (
        "plain",
        lambda X: _table(X - 4, NAMES, GENES),
        [
            "new.tsv: the ",
            "genes of the model lie 3.",
            "below the training samples (means of 16 ",
            "; bring the values to the study's scale: the same base of the logarithm, the same "
            "norm",
        ],
    ),
    "one array of natural logarithms": (
        "plain",
        lambda X: _table(X[:1] * np.log10(2), NAMES[:1], GENES),
        ["sample 's0'", "standard deviations"],
    ),
    "numbers for what is missing": (
        "plain",
        lambda X: _table(_with(X, -999.0), NAMES, GENES),
        [
            "gene 'g2', sample 's3': -999 cannot have been measured (1 further value): the "
            "training values go from ",
            "; write NA for a missing value",
        ],
    ),
    "numbers for what is missing, before logarithms": (
        "log2",
        lambda X: _table(_with(X, -9.0), NAMES, GENES),
        ["gene 'g2', sample 's3': -9 cannot have been measured (1 further value)"],
    ),
    "a slip of the pen": (
        "plain",
        lambda X: _table(_with(X, 861.0), NAMES, GENES),
        ["gene 'g2', sample 's3': 861 cannot have been measured"],
    ),
    "two samples of one name": (
        "plain",
        lambda X: _table(X, ["s1", *NAMES[1:]], GENES),
        ["sample 's1' occurs more than once", "a name of its own"],
    ),
    "a sample without a name": (
        "plain",
        lambda X: _table(X, [*NAMES[:2], " ", *NAMES[3:]], GENES),
        ["sample 3 has no name"],
    ),
    "a negative count": (
        "stabilised",
        lambda X: _table(_with(X, -1.0), NAMES, GENES),
        ["gene 'g2', sample 's3': -1 cannot have been measured (1 further value)"],
    ),
    "logarithms of counts": (
        "size factors",
        lambda X: _table(np.log2(X), NAMES, GENES),
        ["logged already"],
    ),
    "a library of 0": (
        "size factors",
        lambda X: _table(_like(X, 3, 0.0), NAMES, GENES),
        ["sample 's3': all 25 values are 0; export the sample again"],
    ),
    "an empty matrix": ("plain", lambda X: "gene\ts1\n", ["no rows below it"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unscorable_samples_give_one_line_and_no_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chain, make_input, words = REFUSED[name]
    model, data = _model(chain)
    assert _predict(tmp_path, model, "new.tsv", make_input(data.X)) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(word in err for word in words), err
    assert not (tmp_path / "p.tsv").exists()


@pytest.mark.parametrize("chain", ["plain", "log2", "filter"])
def test_missing_genes_are_those_of_the_list_that_is_used(
    chain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = _model(chain)
    short, long = (entry["genes"] for entry in model["models"])
    lacking = set(long) - set(short)
    assert _predict(tmp_path, model, "all.tsv", _table(data.X, NAMES, GENES), "--mu", "1e-6") == 0
    expected = _predictions(tmp_path)
    capsys.readouterr()
    columns = [k for k, gene in enumerate(GENES) if gene in short]
    text = _table(data.X[:, columns], NAMES, [GENES[k] for k in columns])
    assert _predict(tmp_path, model, "few.tsv", text, "--mu", "1e-6", "--missing", "0") == 0
    assert capsys.readouterr().err.startswith("scale: on average, ")
    pd.testing.assert_frame_equal(_predictions(tmp_path), expected)
    refused = chain != "filter"  # which leaves genes that both lists have
    assert _predict(tmp_path, model, "few.tsv", text) == refused == bool(lacking)
    words = f"{len(lacking)} of the {len(long)} genes that the model needs"
    assert (words in capsys.readouterr().err) == refused


OPTIONS: dict[str, tuple[list[str], str]] = {
    "no such mu": (["--mu", "5"], "error: --mu: 5 is none of the model's: 1e-06, 1\n"),
    "more than all": (["--missing", "7"], "error: --missing: 7 is no share; it needs 0 to 1\n"),
    "less than none": (["--missing", "-0.1"], "error: --missing: -0.1 is no share; it needs 0 "),
    "no number": (["--missing", "nan"], "error: --missing: nan is no share; it needs 0 to 1\n"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_invalid_option_is_named(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options, line = OPTIONS[name]
    model, data = _model("plain")
    assert _predict(tmp_path, model, "new.tsv", _table(data.X, NAMES, GENES), *options) == 1
    assert capsys.readouterr().err.startswith(line)


def test_unwritable_table_gives_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = _model("plain")
    (tmp_path / "p.tsv").mkdir()
    assert _predict(tmp_path, model, "new.tsv", _table(data.X, NAMES, GENES)) == 1
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'p.tsv'}: is a folder, ")


def test_samples_are_counted_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = _model("plain")
    assert _predict(tmp_path, model, "new.tsv", _table(data.X[:1], NAMES[:1], GENES)) == 0
    assert " 1 sample scored by the list at mu 1 (9 genes)\n" in capsys.readouterr().out


def test_file_without_model_gives_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for content in ({"a": 1}, [1], {"training": {"genes": ["x"]}}):
        assert _predict(tmp_path, content, "new.tsv", "g\ts\nx\t1\n") == 1  # type: ignore[arg-type]
        line = f"error: {tmp_path / 'model.json'}: is no model.json of this version of genesig (it"
        assert capsys.readouterr().err.startswith(line)
