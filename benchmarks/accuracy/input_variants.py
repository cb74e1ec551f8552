"""What counts, missing values and several omics change in studies of real data.

    python benchmarks/accuracy/input_variants.py shared OUT.tsv [NAME ...]
    python benchmarks/accuracy/input_variants.py raw [KIND ...]

`shared` runs studies of ../shared/data in the whole workflow, each data set in several ways, and
adds a row to OUT.tsv after each: error with its 95 % CI, measured genes, genes of a training set's
list. Of west the lowest fifth of all values is taken out, as if it were below a limit of detection;
of desmedt age, size, grade and the receptor are an omic of four beside 76 probes. `raw` writes
small raw files of arrays of whole transcripts and of methylation, a tenth of whose clusters or
sites differ between two classes, and takes them by `genesig init` and `genesig run` to the report.
"""

from __future__ import annotations

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
ALONE: Config = {
    "controls": {"permutations": 0, "baselines": []},
    "nonlinear": {"enabled": False},
    "signature": {"permutations": 0},
    "splits": {"repeats": 2, "subsamples": 0},
}
LEFT_OUT = {"splits": {"scheme": "leave_one_out", "inner_scheme": "leave_one_out", "subsamples": 0}}


def folds(*steps: str) -> Config:
    """Return the folds of a study with these steps before the scaling."""
    return {"folds": [*({"step": step} for step in steps), *SCALED]}


def table(name: str) -> pd.DataFrame:
    """Read a matrix, genes in rows."""
    return pd.read_csv(SHARED / f"{name}_expression.tsv.gz", sep="\t", index_col=0)


def pasilla(folder: Path) -> dict[str, Config]:
    """Counts of four untreated and three treated samples."""
    sheet = Path(__file__).parents[2] / "config/examples/pasilla_samples.tsv"
    matrix = SHARED / "counts/pasilla_gene_counts.tsv"
    classes = ["untreated", "treated"]
    files = {
        "expression": str(matrix),
        "label": "condition",
        "samples": str(sheet),
        "data": {"classes": classes},
        **LEFT_OUT,
    }
    by_sample = {"samples": [{"step": "log_cpm"}], **folds()}
    return {
        name: {**files, "normalise": how}
        for name, how in {
            "log_cpm": by_sample,
            "size_factors": folds("size_factors"),
            "vst": folds("vst"),
        }.items()
    }


def write_variants(folder: Path, name: str, X: pd.DataFrame, fill: str) -> dict[str, Config]:
    """Return what may be done where values are missing."""
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
    """Lymphomas of two groups; a tenth of the values is missing, in most genes."""
    study_settings = {
        "samples": str(SHARED / "survival/rosenwald_2002_samples.tsv"),
        "label": "group",
    }
    variants = write_variants(folder, "rosenwald", table("survival/rosenwald_2002"), "mean_impute")
    return {name: {**study_settings, **changes} for name, changes in variants.items()}


def west(folder: Path) -> dict[str, Config]:
    """Breast tumours by their receptor, and the same without the lowest fifth of all values."""
    X = table("two_class/west_2001")
    X.to_csv(folder / "west_given.tsv", sep="\t")
    study_settings = {
        "samples": str(SHARED / "two_class/west_2001_samples.tsv"),
        "label": "diagnosis",
    }
    low = X.mask(np.quantile(X, 0.2) >= X)
    filled_variants = write_variants(folder, "west", low.dropna(how="all"), "left_censored")
    variants = {
        "nothing missing": {"expression": str(folder / "west_given.tsv")},
        **filled_variants,
    }
    return {name: {**study_settings, **changes} for name, changes in variants.items()}


def desmedt(folder: Path) -> dict[str, Config]:
    """Metastases after breast cancer: 76 probes, and what the clinic knows."""
    X = table("survival/desmedt_2007")
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
    sample_table = pd.concat(
        [clinic.astype(float).T.add_prefix("clinic:", axis=0), X.add_prefix("probe:", axis=0)]
    )
    sample_table.to_csv(folder / "desmedt_both.tsv", sep="\t", index_label="gene")
    X.to_csv(folder / "desmedt.tsv", sep="\t")
    study_settings = {"samples": str(path), "label": {"time": "time_days", "event": "metastasis"}}
    data = {"task": "survival", "missing": True}
    joined = {"expression": str(folder / "desmedt_both.tsv"), "normalise": folds("mean_impute")}
    equal = {"clinic": 1, "probe": 1}
    return {
        name: {**study_settings, **changes}
        for name, changes in {
            "probes": {"expression": str(folder / "desmedt.tsv"), "data": {"task": "survival"}},
            "clinic held fixed": {
                "expression": str(folder / "desmedt.tsv"),
                "data": {"task": "survival", "covariates": ["age", "size", "grade", "er"]},
            },
            "two omics, equal factors": {**joined, "data": {**data, "omics": equal}},
            "two omics, learned factors": {**joined, "data": {**data, "omics": "learned"}},
        }.items()
    }


DATA = {"pasilla": pasilla, "rosenwald": rosenwald, "west": west, "desmedt": desmedt}


def run(folder: Path, config: Config) -> None:
    """Run the workflow on one core."""
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    run = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all"]
    process = subprocess.run(run, cwd=folder, capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(process.stdout[-2000:] + process.stderr[-3000:])


def result_of_run(folder: Path) -> dict[str, Any]:
    """Return what is shown of a study that has run."""
    controls = pd.read_csv(folder / "results/controls.tsv", sep="\t")
    chosen_row = controls[(controls["model"] == "genesig") & controls["mu"].isna()].iloc[0]
    scores = pd.read_csv(folder / "results/scores.tsv", sep="\t")
    lists = scores.loc[scores["mu"].isna(), "n_genes"]
    univariate = pd.read_csv(folder / "results/univariate.tsv", sep="\t")
    return {
        "error": chosen_row["error"],
        "low": chosen_row["low"],
        "high": chosen_row["high"],
        "auc": chosen_row["auc"],
        "genes": len(univariate),
        "list": lists.median(),
    }


def compare_variants(out: str, *names: str) -> None:
    """Run the data sets that are named, or all, and add a row for each way."""
    for name in names or DATA:
        with tempfile.TemporaryDirectory() as place:
            for variant, config in DATA[name](Path(place)).items():
                folder = Path(place) / "study"
                if folder.exists():
                    subprocess.run(["rm", "-r", str(folder / "results")], check=True)
                else:
                    folder.mkdir()
                    lay_out(folder)
                run(folder, {**ALONE, **config})
                row = pd.DataFrame([{"data": name, "way": variant, **result_of_run(folder)}])
                row.to_csv(out, sep="\t", index=False, mode="a", header=not Path(out).exists())
                print(row.round(3).to_string(index=False, header=False), flush=True)


ARRAYS = 24
MEASURED = 300
ILL = np.arange(ARRAYS) % 2 == 1


def transcripts(folder: Path) -> None:
    """Write CEL files and the library of clusters of 8 probes."""
    from array_files import cel_binary, transcript_files

    side = 50
    rng = np.random.default_rng(1)
    cells = np.arange(MEASURED * 8).reshape(MEASURED, 2, 4)
    library = transcript_files(
        {f"{7890000 + k}": sets.tolist() for k, sets in enumerate(cells)},
        [[2400, 2401]],
        side,
        side,
        "Toy",
    )
    for ending, content in zip(("pgf", "clf", "mps"), library, strict=True):
        (folder / f"Toy.{ending}").write_bytes(content)
    level = rng.lognormal(6, 1, side * side)
    for k in range(ARRAYS):
        light = level * rng.lognormal(0, 0.3, side * side)
        light[: MEASURED // 10 * 8] *= 2 if ILL[k] else 1
        (folder / f"s{k:02}.CEL").write_bytes(cel_binary(light.reshape(side, side).round(1), "Toy"))


def methylation(folder: Path) -> None:
    """Write both IDAT files of each array, and their manifest."""
    from array_files import array_files, manifest

    rng = np.random.default_rng(2)
    sites = {f"cg{k:08d}": (k + 1, None, "") for k in range(MEASURED)}
    (folder / "Toy.csv").write_bytes(manifest(sites))
    for k in range(ARRAYS):
        share = rng.beta(5, 5, MEASURED)
        share[: MEASURED // 10] = rng.beta(8 if ILL[k] else 5, 5, MEASURED // 10)
        both_matrices = [
            dict(enumerate((20_000 * part).astype(int).tolist(), 1)) for part in (share, 1 - share)
        ]
        for name, content in array_files(f"s{k:02}_R01C01", both_matrices).items():
            (folder / name).write_bytes(content)


RAW = {"transcripts": (transcripts, ""), "methylation": (methylation, "_R01C01")}


def raw(*kinds: str) -> None:
    """Take raw files to the report, and print where it lies with its error."""
    for kind in kinds or RAW:
        write, ending = RAW[kind]
        place = Path(tempfile.mkdtemp())
        (place / "arrays").mkdir()
        write(place / "arrays")
        rows = [f"s{k:02}{ending}\t{'ill' if ILL[k] else 'well'}" for k in range(ARRAYS)]
        (place / "samples.tsv").write_text("\n".join(["sample\tstate", *rows]) + "\n")
        command = [sys.executable, "-m", "genesig"]
        init = ["init", "study", "--expression", "arrays", "--samples", "samples.tsv"]
        subprocess.run([*command, *init], cwd=place, check=True)
        with (place / "study/more.yaml").open("w") as file:
            yaml.safe_dump(ALONE, file)
        run = ["run", "config.yaml", "more.yaml", "--cores", "1"]
        subprocess.run([*command, *run], cwd=place / "study", check=True)
        print(kind, place / "study/results/report.html", result_of_run(place / "study"), flush=True)


if __name__ == "__main__":
    {"shared": compare_variants, "raw": raw}[sys.argv[1]](*sys.argv[2:])
