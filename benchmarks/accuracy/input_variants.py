"""Error and list length of studies of real data by steps for counts, missing values and omics.

    python benchmarks/accuracy/input_variants.py shared OUT.tsv [NAME ...]
    python benchmarks/accuracy/input_variants.py raw [KIND ...]

`shared` runs studies of ../shared/data in the whole workflow, several variants of a data set, and
adds a row to OUT.tsv after each: error with its 95 % CI, measured genes, median length of the
training sets' lists. In one data set of west the lowest fifth of all values is removed, as if below
a limit of detection; age, size, grade and the receptor of desmedt are an omic beside 76 probes.
`raw` writes small raw files of whole-transcript arrays and of methylation arrays, a tenth of whose
clusters or sites differ between two classes, and runs `genesig init` and `genesig run` on them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
from places import SHARED, lay_out

Config = dict[str, Any]
SCALED: list[Config] = [{"step": "centre"}, {"step": "unit_variance"}]
LINEAR_ONLY: Config = {
    "controls": {"permutations": 0, "baselines": []},
    "nonlinear": {"enabled": False},
    "signature": {"permutations": 0},
    "splits": {"repeats": 2, "subsamples": 0},
}
LEAVE_ONE_OUT = {
    "splits": {"scheme": "leave_one_out", "inner_scheme": "leave_one_out", "subsamples": 0}
}


def folds(*steps: str) -> Config:
    """Return a section `normalise` with these fold steps before the scaling."""
    return {"folds": [*({"step": step} for step in steps), *SCALED]}


def read_expression(name: str) -> pd.DataFrame:
    """Return the matrix of a data set, genes in rows."""
    return pd.read_csv(SHARED / f"{name}_expression.tsv.gz", sep="\t", index_col=0)


def pasilla(folder: Path) -> dict[str, Config]:
    """Return variant -> config: counts of four untreated and three treated samples."""
    sheet = Path(__file__).parents[2] / "config/examples/pasilla_samples.tsv"
    matrix = SHARED / "counts/pasilla_gene_counts.tsv"
    classes = ["untreated", "treated"]
    files = {
        "expression": str(matrix),
        "label": "condition",
        "samples": str(sheet),
        "data": {"classes": classes},
        **LEAVE_ONE_OUT,
    }
    steps = {
        "log_cpm": {"samples": [{"step": "log_cpm"}], **folds()},
        "size_factors": folds("size_factors"),
        "vst": folds("vst"),
    }
    return {name: {**files, "normalise": normalise} for name, normalise in steps.items()}


def write_variants(folder: Path, name: str, X: pd.DataFrame, fill: str) -> dict[str, Config]:
    """Write X with and without gaps; return variant -> settings for missing values.

    fill: name of a step that replaces missing values.
    """
    X.to_csv(folder / f"{name}.tsv", sep="\t")
    X.dropna().to_csv(folder / f"{name}_whole.tsv", sep="\t")
    common_settings = {"expression": str(folder / f"{name}.tsv"), "data": {"missing": True}}
    indicator_steps = {"samples": [{"step": "missing_indicators"}], **folds(fill)}
    return {
        "genes without a gap": {"expression": str(folder / f"{name}_whole.tsv")},
        fill: {**common_settings, "normalise": folds(fill)},
        "knn_impute": {**common_settings, "normalise": folds("knn_impute")},
        f"missing_indicators, {fill}": {**common_settings, "normalise": indicator_steps},
    }


def rosenwald(folder: Path) -> dict[str, Config]:
    """Return variant -> config: lymphomas of two groups, a tenth of the values missing."""
    study_settings = {
        "samples": str(SHARED / "survival/rosenwald_2002_samples.tsv"),
        "label": "group",
    }
    variants = write_variants(
        folder, "rosenwald", read_expression("survival/rosenwald_2002"), "mean_impute"
    )
    return {name: {**study_settings, **changes} for name, changes in variants.items()}


def west(folder: Path) -> dict[str, Config]:
    """Return variant -> config: breast tumours, with and without the lowest fifth of values."""
    X = read_expression("two_class/west_2001")
    X.to_csv(folder / "west_complete.tsv", sep="\t")
    study_settings = {
        "samples": str(SHARED / "two_class/west_2001_samples.tsv"),
        "label": "diagnosis",
    }
    censored = X.mask(np.quantile(X, 0.2) >= X).dropna(how="all")
    variants = {
        "nothing missing": {"expression": str(folder / "west_complete.tsv")},
        **write_variants(folder, "west", censored, "left_censored"),
    }
    return {name: {**study_settings, **changes} for name, changes in variants.items()}


def desmedt(folder: Path) -> dict[str, Config]:
    """Return variant -> config: metastases by 76 probes, with and without clinical columns."""
    X = read_expression("survival/desmedt_2007")
    path = SHARED / "survival/desmedt_2007_samples.tsv"
    sheet = pd.read_csv(path, sep="\t", index_col=0).loc[X.columns]
    grade = {"well differentiated": 1.0, "intermediate": 2.0, "poorly differentiated": 3.0}
    clinic = pd.DataFrame(
        {
            "age": sheet["age"],
            "size": sheet["size"],
            "grade": sheet["grade"].map(grade),
            "er": sheet["er"] == "positive",
        }
    )
    both_omics = pd.concat(
        [clinic.astype(float).T.add_prefix("clinic:", axis=0), X.add_prefix("probe:", axis=0)]
    )
    both_omics.to_csv(folder / "desmedt_both.tsv", sep="\t", index_label="gene")
    X.to_csv(folder / "desmedt.tsv", sep="\t")
    study_settings = {"samples": str(path), "label": {"time": "time_days", "event": "metastasis"}}
    data = {"task": "survival", "missing": True}
    joined = {"expression": str(folder / "desmedt_both.tsv"), "normalise": folds("mean_impute")}
    equal_factors = {"clinic": 1, "probe": 1}
    return {
        name: {**study_settings, **changes}
        for name, changes in {
            "probes": {"expression": str(folder / "desmedt.tsv"), "data": {"task": "survival"}},
            "clinic as covariates": {
                "expression": str(folder / "desmedt.tsv"),
                "data": {"task": "survival", "covariates": ["age", "size", "grade", "er"]},
            },
            "two omics, equal factors": {**joined, "data": {**data, "omics": equal_factors}},
            "two omics, learned factors": {**joined, "data": {**data, "omics": "learned"}},
        }.items()
    }


VARIANTS_OF_DATA = {"pasilla": pasilla, "rosenwald": rosenwald, "west": west, "desmedt": desmedt}


def run_workflow(folder: Path, config: Config) -> None:
    """Run the workflow on one core; end the program if it fails."""
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all"]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(process.stdout[-2000:] + process.stderr[-3000:])


def result_of_run(folder: Path) -> dict[str, Any]:
    """Return error with CI, AUC, measured genes and list length of a study that has run."""
    controls = pd.read_csv(folder / "results/controls.tsv", sep="\t")
    genesig_row = controls[(controls["model"] == "genesig") & controls["mu"].isna()].iloc[0]
    scores = pd.read_csv(folder / "results/scores.tsv", sep="\t")
    lists = scores.loc[scores["mu"].isna(), "n_genes"]
    univariate = pd.read_csv(folder / "results/univariate.tsv", sep="\t")
    return {
        "error": genesig_row["error"],
        "low": genesig_row["low"],
        "high": genesig_row["high"],
        "auc": genesig_row["auc"],
        "genes": len(univariate),
        "list": lists.median(),
    }


def compare_variants(out: str, *names: str) -> None:
    """Run the variants of the named data sets, or of all, and add a row to `out` for each."""
    for name in names or VARIANTS_OF_DATA:
        with tempfile.TemporaryDirectory() as place:
            for variant, config in VARIANTS_OF_DATA[name](Path(place)).items():
                folder = Path(place) / "study"
                if folder.exists():
                    shutil.rmtree(folder / "results")
                else:
                    folder.mkdir()
                    lay_out(folder)
                run_workflow(folder, {**LINEAR_ONLY, **config})
                row = pd.DataFrame([{"data": name, "variant": variant, **result_of_run(folder)}])
                row.to_csv(out, sep="\t", index=False, mode="a", header=not Path(out).exists())
                print(row.round(3).to_string(index=False, header=False), flush=True)


N_ARRAYS = 24
N_MEASURED = 300  # clusters or sites
IS_ILL = np.arange(N_ARRAYS) % 2 == 1


def write_transcripts(folder: Path) -> None:
    """Write CEL files and the library files of clusters of 8 probes."""
    from array_files import cel_binary, transcript_files

    side = 50
    rng = np.random.default_rng(1)
    cells = np.arange(N_MEASURED * 8).reshape(N_MEASURED, 2, 4)
    clusters = {f"{7890000 + k}": probe_sets.tolist() for k, probe_sets in enumerate(cells)}
    library = transcript_files(clusters, [[2400, 2401]], side, side, "Toy")
    for ending, content in zip(("pgf", "clf", "mps"), library, strict=True):
        (folder / f"Toy.{ending}").write_bytes(content)
    level = rng.lognormal(6, 1, side * side)
    for k in range(N_ARRAYS):
        intensity = level * rng.lognormal(0, 0.3, side * side)
        intensity[: N_MEASURED // 10 * 8] *= 2 if IS_ILL[k] else 1
        image = intensity.reshape(side, side).round(1)
        (folder / f"s{k:02}.CEL").write_bytes(cel_binary(image, "Toy"))


def write_methylation(folder: Path) -> None:
    """Write both IDAT files of each array, and their manifest."""
    from array_files import array_files, manifest

    rng = np.random.default_rng(2)
    sites = {f"cg{k:08d}": (k + 1, None, "") for k in range(N_MEASURED)}
    (folder / "Toy.csv").write_bytes(manifest(sites))
    for k in range(N_ARRAYS):
        beta = rng.beta(5, 5, N_MEASURED)
        beta[: N_MEASURED // 10] = rng.beta(8 if IS_ILL[k] else 5, 5, N_MEASURED // 10)
        channels = [
            dict(enumerate((20_000 * part).astype(int).tolist(), 1)) for part in (beta, 1 - beta)
        ]
        for name, content in array_files(f"s{k:02}_R01C01", channels).items():
            (folder / name).write_bytes(content)


# Kind -> function that writes the files, ending of the sample names.
RAW = {"transcripts": (write_transcripts, ""), "methylation": (write_methylation, "_R01C01")}


def run_raw(*kinds: str) -> None:
    """Run studies of raw files; print the path of each report and its results."""
    for kind in kinds or RAW:
        write_files, ending = RAW[kind]
        place = Path(tempfile.mkdtemp())
        (place / "arrays").mkdir()
        write_files(place / "arrays")
        rows = [f"s{k:02}{ending}\t{'ill' if IS_ILL[k] else 'well'}" for k in range(N_ARRAYS)]
        (place / "samples.tsv").write_text("\n".join(["sample\tstate", *rows]) + "\n")
        command = [sys.executable, "-m", "genesig"]
        init = ["init", "study", "--expression", "arrays", "--samples", "samples.tsv"]
        subprocess.run([*command, *init], cwd=place, check=True)
        with (place / "study/more.yaml").open("w") as file:
            yaml.safe_dump(LINEAR_ONLY, file)
        run = ["run", "config.yaml", "more.yaml", "--cores", "1"]
        subprocess.run([*command, *run], cwd=place / "study", check=True)
        print(kind, place / "study/results/report.html", result_of_run(place / "study"), flush=True)


if __name__ == "__main__":
    {"shared": compare_variants, "raw": run_raw}[sys.argv[1]](*sys.argv[2:])
