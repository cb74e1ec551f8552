"""The scale of values is recognised by their distribution: rates, counts, logarithms, z-scores."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from genesig.cli import main
from genesig.data.files.readers import load_schema, read_config
from genesig.data.steps.normalise import Steps, fit_steps
from genesig.data.validate import examine

N_SAMPLES = 40
N_TRUE = 10
SAMPLE_NAMES = [f"S{k:02}" for k in range(N_SAMPLES)]
IS_CASE = np.arange(N_SAMPLES) % 2 == 1
LOST_POINT = "is a decimal point lost?"


def amounts(centre: float, spread: float, n_genes: int = 300, seed: int = 4) -> np.ndarray:
    """Draw amounts (n_samples, n_genes); the first 10 genes are twice as high in cases.

    centre and spread are those of the logarithms (base 2) of the genes' sizes.
    """
    rng = np.random.default_rng(seed)
    logs = rng.normal(centre, spread, n_genes) + rng.normal(0, 0.5, (N_SAMPLES, n_genes))
    logs[IS_CASE, :N_TRUE] += 1
    return np.asarray(np.exp2(logs))


@dataclass
class Study:
    """A study in the working folder; the command line is run in it."""

    capsys: pytest.CaptureFixture[str]

    def write(self, X: np.ndarray, decimals: int = 4) -> None:
        """Write the matrix (n_samples, n_genes) and a sample table of cases and controls."""
        genes = [f"G{k:03}" for k in range(X.shape[1])]
        rows = [
            [gene, *(f"{value:.{decimals}f}" for value in values)]
            for gene, values in zip(genes, X.T, strict=True)
        ]
        lines = ["\t".join(row) for row in [["gene", *SAMPLE_NAMES], *rows]]
        Path("e.tsv").write_text("\n".join(lines) + "\n")
        classes = [
            f"{name}\t{'case' if is_case else 'control'}"
            for name, is_case in zip(SAMPLE_NAMES, IS_CASE.tolist(), strict=True)
        ]
        Path("s.tsv").write_text("\n".join(["sample\tdiagnosis", *classes]) + "\n")

    def validate(
        self,
        *steps: str | dict[str, Any],
        expression: str = "e.tsv",
        **data: Any,
    ) -> list[str]:
        """Return the lines of problems for these row-wise steps."""
        listed = [{"step": step} if isinstance(step, str) else step for step in steps]
        samples = "s.tsv" if expression.endswith(".tsv") else expression
        config = {
            "expression": expression,
            "samples": samples,
            "label": "diagnosis",
            "data": data,
            "normalise": {"samples": listed},
        }
        Path("c.yaml").write_text(yaml.safe_dump(config))
        self.capsys.readouterr()
        main(["validate", "c.yaml"])
        return self.capsys.readouterr().err.splitlines()

    def init(self) -> dict[str, Any]:
        """Return the config that ``genesig init`` writes."""
        assert main(["init", "new", "-e", "e.tsv", "-s", "s.tsv"]) == 0
        config: dict[str, Any] = yaml.safe_load(Path("new/config.yaml").read_text())
        return config

    def validate_new(self) -> str:
        """Return the problems of the config that ``genesig init`` wrote."""
        self.capsys.readouterr()
        with contextlib.chdir("new"):
            main(["validate", "config.yaml"])
        return self.capsys.readouterr().err


@pytest.fixture
def study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Study:
    """Return an empty study in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Study(capsys)


def true_genes_found(X: np.ndarray, steps: Steps) -> int:
    """Count the true genes among the 10 whose classes differ most after these steps."""
    values = fit_steps(X, steps).transform(X)
    cases = values[IS_CASE]
    controls = values[~IS_CASE]
    spread = np.sqrt(cases.var(axis=0) + controls.var(axis=0)) + 1e-9
    t = (cases.mean(axis=0) - controls.mean(axis=0)) / spread
    return int(np.sum(np.argsort(-np.abs(t))[:N_TRUE] < N_TRUE))


def test_floor_of_init_below_the_rates_keeps_the_true_genes(study: Study) -> None:
    X = amounts(centre=3.2, spread=1.5)
    X[:, :N_TRUE] = np.exp2(np.log2(X[:, :N_TRUE]).round(4) - 1)
    study.write(X)
    (step,) = study.init()["normalise"]["samples"]
    assert step["step"] == "log2"
    assert step["floor"] <= np.percentile(X, 1)
    limits = {"ceiling": 65536.0, **step}
    assert true_genes_found(X, [limits]) >= 9
    assert true_genes_found(X, [limits | {"floor": 16.0}]) < 9
    assert study.validate(step) == []


def test_default_floor_above_many_rates_is_warned_of_with_their_share(study: Study) -> None:
    X = amounts(centre=3.2, spread=1.5)
    study.write(X)
    share = 100 * np.mean(X < 16)
    (line,) = study.validate("log2")
    assert line.startswith(f"warning: e.tsv: log2 with floor 16 gives {share:.2g} % of the cells")
    assert "a floor that follows the data is" in line


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scale", ["whole transcriptome", "small RNA per million"])
def test_abundant_genes_are_no_lost_decimal_points(study: Study, scale: str) -> None:
    X = amounts(centre=-7, spread=5.5)
    if scale == "small RNA per million":
        rng = np.random.default_rng(1)
        counts = rng.poisson(50 * X)
        X = 1e6 * counts / counts.sum(axis=1, keepdims=True)
    study.write(X)
    problems = study.validate()
    assert not any(line.startswith("error") for line in problems)
    assert "never logged" in "".join(problems)
    assert LOST_POINT not in "".join(study.validate("rank_samples"))
    study.init()
    problems_of_init = study.validate_new()
    assert "error" not in problems_of_init
    assert "log2 with floor" not in problems_of_init


def test_lone_values_of_logarithms_are_errors_but_beside_ranks(study: Study) -> None:
    X = np.log2(amounts(centre=8, spread=1.5))
    X[3, [20, 40]] *= 1000
    study.write(X)
    (line,) = study.validate()
    assert line.startswith("error: e.tsv, gene 'G020', sample 'S03'")
    assert LOST_POINT in line
    assert LOST_POINT not in "".join(study.validate("rank_samples"))


def test_concentrations_of_small_numbers_need_logarithms(study: Study) -> None:
    study.write(amounts(centre=-1, spread=1.2, n_genes=60))
    assert study.init()["normalise"]["samples"][0]["step"] == "log2"
    assert "never logged" in "".join(study.validate())


@pytest.mark.parametrize("logged", [False, True])
def test_zeros_of_label_free_intensities_are_missing_values(study: Study, logged: bool) -> None:
    X = amounts(centre=24, spread=1.5, n_genes=100)
    X = np.log2(X) if logged else X.round()
    X[np.random.default_rng(2).random(X.shape) < 0.3] = 0
    study.write(X, decimals=4 if logged else 0)
    config = study.init()
    names = [step["step"] for step in config["normalise"]["samples"]]
    assert names == (["zeros_as_missing"] if logged else ["zeros_as_missing", "log2"])
    assert config["data"]["missing"] is True
    assert config["normalise"]["folds"][0]["step"] in ("left_censored", "knn_impute")
    assert study.validate_new() == ""
    problems = "".join(study.validate() if logged else study.validate("log2"))
    assert "such zeros are missing values; set data.missing: true" in problems
    assert f"of the values are 0, and the next one is {X[X > 0].min():.4g}:" in problems
    assert ("log2 with ceiling 65536 gives" in problems) is not logged


def test_zeros_as_missing_without_missing_values_allowed_is_refused(study: Study) -> None:
    study.write(np.log2(amounts(centre=24, spread=1.5, n_genes=30)))
    problems = "".join(study.validate("log2", "zeros_as_missing"))
    assert "data.missing: must be true" in problems
    assert "'zeros_as_missing' must come first" in problems


def test_counts_with_small_counts_beside_zeros_stay_counts(study: Study) -> None:
    counts = np.random.default_rng(3).poisson(amounts(centre=4, spread=3))
    study.write(counts, decimals=0)
    assert study.init()["normalise"]["samples"] == [{"step": "log_cpm"}]
    assert "missing values" not in "".join(study.validate("log_cpm"))


def z_scores(n_genes: int = 40) -> np.ndarray:
    """Return logarithms whose genes have mean 0 and standard deviation 1 over all samples."""
    logs = np.log2(amounts(centre=8, spread=1.5, n_genes=n_genes))
    return np.asarray((logs - logs.mean(axis=0)) / logs.std(axis=0, ddof=1))


def test_z_scored_h5ad_is_warned_of_with_its_layers(study: Study) -> None:
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    classes = np.where(IS_CASE, "case", "control")
    obs = pandas.DataFrame({"diagnosis": classes}, index=SAMPLE_NAMES)
    var = pandas.DataFrame(index=[f"G{k}" for k in range(40)])
    counts = np.random.default_rng(5).poisson(9, (N_SAMPLES, 40)).astype(float)
    data = anndata.AnnData(X=z_scores(), obs=obs, var=var, layers={"counts": counts})
    data.raw = anndata.AnnData(X=counts, obs=obs, var=var)
    data.write_h5ad("scaled.h5ad")
    (line,) = study.validate(expression="scaled.h5ad")
    assert "no new sample can be put on this scale" in line
    assert line.endswith("choose a layer by data.part: 'counts', 'raw'")
    lines = study.validate("log_cpm", expression="scaled.h5ad", part="raw")
    assert not any("this scale" in line for line in lines)


def test_z_scores_of_a_text_file_are_warned_of_and_logarithms_are_not(study: Study) -> None:
    study.write(z_scores())
    (line,) = study.validate()
    assert "the genes are z-scored over all samples" in line
    (problem,) = examine(read_config("c.yaml"), load_schema(), "c.yaml").problems
    assert problem.key == ""  # no setting mends it: a text file has no other layer
    study.write(np.log2(amounts(centre=8, spread=1.5)))
    assert study.validate() == []


@pytest.mark.parametrize("limits", [(-2, 2), (-1, 1), (-np.inf, 1.8)], ids=str)
def test_z_scores_clipped_at_a_limit_are_warned_of(
    study: Study, limits: tuple[float, float]
) -> None:
    study.write(np.clip(z_scores(n_genes=200), *limits))
    (line,) = study.validate()
    assert "the genes are z-scored over all samples" in line


def test_genes_of_median_0_are_warned_of(study: Study) -> None:
    values = np.log2(amounts(centre=8, spread=1.5))
    study.write(values - np.median(values, axis=0))
    (line,) = study.validate()
    assert "the genes are centred over all samples" in line


def test_differences_of_copies_are_not_taken_for_centred_values(study: Study) -> None:
    copies = np.random.default_rng(8).choice(
        [-2, -1, 0, 1, 2], (N_SAMPLES, 300), p=[0.02, 0.1, 0.7, 0.15, 0.03]
    )
    study.write(copies, decimals=0)
    assert not any("over all samples" in line for line in study.validate())


def test_few_large_values_among_log_ratios_need_no_logarithms(study: Study) -> None:
    ratios = np.random.default_rng(8).normal(0, 1, (N_SAMPLES, 300))
    ratios[::4, 7] = 55  # as a time among the genes
    study.write(ratios)
    assert "normalise" not in study.init()


def test_row_of_ages_among_few_logarithms_needs_no_logarithms(study: Study) -> None:
    logs = np.log2(amounts(centre=8, spread=1.5, n_genes=60))
    logs[:, 7] = np.random.default_rng(8).integers(28, 80, N_SAMPLES)
    study.write(logs)
    assert "normalise" not in study.init()
    assert not any("never logged" in line for line in study.validate())
