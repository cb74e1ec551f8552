"""Whether gene sets predict, how stable their lists are, and what a study of them costs.

    python benchmarks/accuracy/gene_set_lists.py real MATRIX SAMPLES LABEL SETS
        [SECTION.KEY=VALUE ...]
    python benchmarks/accuracy/gene_set_lists.py simulated [DRAWS [CARRIERS [KEY=VALUE ...]]]
    python benchmarks/accuracy/gene_set_lists.py study SAMPLES GENES SETS [PERMUTATIONS]
    python benchmarks/accuracy/gene_set_lists.py kind OUT KIND STUDIES
        [PERCENT [PERMUTATIONS [N [SETS]]]]
    python benchmarks/accuracy/gene_set_lists.py sum OUT

`real` and `study` run the whole workflow on two cores, on given files or on simulated chips whose
first genes are those of the file of sets; `simulated` draws studies in which one of 50 sets of 40
genes carries the signal, or several do, and holds sets against gene lists without the workflow;
keys are those of the section `structured`. `kind` draws studies of `several_classes` (three), of
`survival` or `regression`, in which two of the sets, of 20 genes, carry the response, or none
without an effect, PERCENT of a standard deviation, and adds a line of JSON to OUT for each; `sum`
prints the means over them.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))
from gathered_study import make_dataset
from linear_loops import fit_final_model, fit_half_samples, nested_cross_validation
from places import lay_out
from settings import MOMENTS, linear
from study_cost import costs

from genesig.data.files.readers import load_schema, read_sets
from genesig.data.splits.draw import draw_splits
from genesig.data.study.config_check import resolve_config
from genesig.results import CrossValidation, Dataset, Design
from genesig.results.splits import GeneSets, HalfSampleStudy
from genesig.selection.assess.assessment import study_errors
from genesig.selection.assess.controls import p_value
from genesig.selection.assess.held_out import model_scores
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.gather import LinearResults, gather
from genesig.selection.genes.frequency import smallest_count
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.sets.gather import gather_sets
from genesig.selection.sets.loop import cross_validate_sets, fit_sets_final, fit_sets_half_samples
from genesig.selection.sets.training_sets import SetsSettings

Array = np.ndarray[Any, Any]
NAMES = {"expression": "e.tsv", "samples": "s.tsv", "label": "l"}
N = 60
SETS = 50
SIZE = 40


def fit_all_samples(folder: Path, config: dict[str, Any], changes: list[str]) -> None:
    """Run a study, print its errors, its stability and the processor time of its jobs."""
    for change in changes:
        (section, key) = change.split("=")[0].split(".")
        value = change.split("=")[1]
        config.setdefault(section, {})[key] = yaml.safe_load(value)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    run = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
    subprocess.run(run, cwd=folder, check=True)
    for name in ("sets_error", "sets_stability"):
        print(pd.read_csv(folder / f"results/{name}.tsv", sep="\t").to_string())
    genes = pd.read_csv(folder / "results/stability.tsv", sep="\t")
    print(genes[genes["mu"].isna()].to_string())
    print(pd.read_csv(folder / "results/sets_scores.tsv", sep="\t")["n_selected"].describe())
    print(pd.read_csv(folder / "results/sets.tsv", sep="\t").drop(columns="about").head(10))
    jobs = costs(folder)
    of_sets = sum(seconds for job, seconds, _ in jobs if "sets" in job)
    total = sum(seconds for _, seconds, _ in jobs)
    peak = max(mb for *_, mb in jobs)
    print(f"processor time {total:.0f} s, of it sets {of_sets:.0f} s; largest job {peak} MB")


def real(matrix: str, samples: str, label: str, sets: str, *changes: str) -> None:
    """Run a study of given files."""
    with tempfile.TemporaryDirectory() as name:
        lay_out(Path(name))
        names = {"expression": matrix, "samples": samples, "structured": {"sets": sets}}
        files = {
            key: str(Path(value).resolve())
            if key != "structured"
            else {"sets": str(Path(sets).resolve())}
            for key, value in names.items()
        }
        fit_all_samples(
            Path(name), {**files, "label": label, "nonlinear": {"enabled": False}}, [*changes]
        )


def study(n: str, d: str, sets: str, permutations: str = "100") -> None:
    """Run a study of simulated chips: 30 factors carry half of the variance of every gene."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder)
        rng = np.random.default_rng(1)
        path = Path(sets).resolve()
        gene_names = list(
            dict.fromkeys(gene for gene_set in read_sets(path, None) for gene in gene_set.genes)
        )
        genes = [*gene_names, *(f"other{j}" for j in range(int(d)))][: int(d)]
        factors = rng.standard_normal((int(n), 30))
        X = 8 + factors @ rng.standard_normal((30, int(d))) / np.sqrt(30)
        X += rng.standard_normal(X.shape)
        label = np.where(factors[:, 0] + rng.standard_normal(len(X)) > 0, "case", "control")
        columns = [f"s{i}" for i in range(len(X))]
        table = pd.DataFrame(X.T.round(4), index=pd.Index(genes, name="gene"), columns=columns)
        table.to_csv(folder / "expression.tsv", sep="\t")
        sheet = pd.DataFrame({"sample": columns, "class": label})
        sheet.to_csv(folder / "samples.tsv", sep="\t", index=False)
        config = {
            "expression": "expression.tsv",
            "samples": "samples.tsv",
            "label": "class",
            "structured": {"sets": str(path)},
            "nonlinear": {"enabled": False},
            "controls": {"permutations": int(permutations)},
        }
        fit_all_samples(folder, config, [])


def draw_sets(seed: int, effect: float, carriers: int) -> tuple[Array, Array, GeneSets]:
    """Draw N samples: overlapping sets of correlated genes, the first of them with the signal."""
    rng = np.random.default_rng([seed, int(1000 * effect)])
    d = SETS * SIZE // 2 + 500
    y = np.repeat([-1.0, 1.0], N // 2)
    members = [np.sort(rng.choice(d, SIZE, replace=False)) for _ in range(SETS)]
    X = rng.standard_normal((N, d))
    for set_genes in members:
        X[:, set_genes] += (
            np.sqrt(0.2) * rng.standard_normal((N, 1)) * rng.choice([1, 1, 1, -1], SIZE)
        )
    for set_genes in members[:carriers]:
        X[:, set_genes] += (
            effect * y[:, None] * rng.exponential(1, SIZE) * rng.choice([-1, 1], SIZE)
        )
    set_sizes = np.full(SETS, SIZE)
    return (
        X,
        y,
        GeneSets(
            names=np.array([f"set{k}" for k in range(SETS)]),
            descriptions=np.full(SETS, ""),
            n_listed=set_sizes,
            n_measured=set_sizes,
            indptr=np.arange(SETS + 1) * SIZE,
            indices=np.concatenate(members),
            warnings=np.array([], dtype=str),
        ),
    )


def measure_lists(
    seed: int, effect: float, carriers: int, changes: dict[str, Any]
) -> dict[str, float]:
    """Return error, recovery, length and stability of sets and of gene lists in one study."""
    X, y, sets = draw_sets(seed, effect, carriers)
    config = resolve_config(NAMES, load_schema())
    dataset = make_dataset(X, y)
    splits = draw_splits(dataset, seed=seed, **{**config["splits"], "repeats": 2})
    loop = {"labels": "observed", "batch": "1of1", "fold_steps": MOMENTS}
    genes = nested_cross_validation(dataset, splits, **loop, **linear())
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **linear())
    halves = fit_half_samples(dataset, splits, fold_steps=MOMENTS, **linear())
    clusters = config["clusters"]
    often = config["signature"]["cv_frequency"]
    cross_validation = CrossValidation.from_batches(dataset, splits, [genes])
    of_genes = gather(
        LinearResults(cross_validation, final, halves, HalfSampleStudy.none()),
        cv_frequency=often,
        fdr=0.1,
        clusters=clusters,
    )
    set_settings = {field.name: config["structured"][field.name] for field in fields(SetsSettings)}
    set_settings |= changes
    study = PreparedStudy(dataset, splits, MOMENTS)
    sets_protocol = SetsSettings(**set_settings)
    fits = cross_validate_sets(study, sets, sets_protocol, labels="observed", batch="1of1")
    final_fits, _ = fit_sets_final(study, sets, sets_protocol)
    half = fit_sets_half_samples(study, sets, sets_protocol)
    result_tables = gather_sets(
        cross_validation, sets, [fits], [], final_fits, half, cv_frequency=often
    )
    error = result_tables["sets_error"].iloc[0]
    lists = of_genes["stability"]
    core = set(of_genes["nested_lists"].query("mu != mu and in_list")["gene"])
    true = {f"g{j}" for k in range(carriers) for j in sets.members(k)}
    listed_sets = result_tables["sets"].query("in_list")["set"]
    return {
        "sets: error": error["error"],
        "genes: error": error["gene_error"],
        "sets: planted in list": len({f"set{k}" for k in range(carriers)} & set(listed_sets)),
        "sets: list": len(listed_sets),
        "sets: chosen": result_tables["sets_scores"]["n_selected"].median(),
        "genes: true share of core": len(core & true) / max(1, len(core)),
        "genes: share of the true in core": len(core & true) / len(true),
        "genes: core": len(core),
        "sets: stability": result_tables["sets_stability"]["stability"].iloc[0],
        "genes: stability": lists[lists["mu"].isna()]["stability"].iloc[0],
    }


def simulated(draws: str = "10", carriers: str = "1", *changes: str) -> None:
    """Print the means over some draws."""
    changed_settings = {
        change.split("=")[0]: yaml.safe_load(change.split("=")[1]) for change in changes
    }
    for strength in (0.15, 0.25, 0.4):
        effect = strength / np.sqrt(int(carriers))
        draw_results = [
            measure_lists(seed, effect, int(carriers), changed_settings)
            for seed in range(int(draws))
        ]
        print(
            f"strength {strength}, {draws} draws of {N} samples, {carriers} sets carry it"
            f" {changed_settings}"
        )
        print(pd.DataFrame(draw_results).mean().round(3).to_string())


def draw_labels(kind: str, z: Array, rng: np.random.Generator) -> tuple[pd.DataFrame, Design]:
    """Return a sample table and design whose response two hidden numbers (n, 2) drive."""
    task = "classification" if kind == "several_classes" else kind
    label_settings = {"label": "state", "task": task, "classes": None, "group": None, "pair": None}
    names = [f"s{k}" for k in range(len(z))]
    event_time = rng.exponential(1, len(z))
    f = z.sum(axis=1)
    cells: dict[str, Any] = {"state": f}
    if kind == "several_classes":
        cells = {"state": np.array(["a", "b", "c"])[z @ [1, 2]]}
        label_settings["classes"] = ("a", "b", "c")
    if kind == "survival":
        event_time = event_time * np.exp(-f)
        lost = rng.exponential(2, len(z))
        cells = {
            "state": np.minimum(event_time, lost),
            "end": np.where(event_time <= lost, "1", "0"),
        }
        label_settings |= {"event": "end", "occurred": "1", "horizon": 0.7, "ties": "efron"}
    return pd.DataFrame(cells, index=names).astype(str), Design(**label_settings)


def draw_study_of_kind(
    kind: str, seed: int, effect: float, n: int = N, number: int = SETS
) -> tuple[Dataset, GeneSets]:
    """Draw a study; of classes the first set is higher in one, the second in another."""
    rng = np.random.default_rng([seed, int(1000 * effect), 7])
    size = 20
    z = rng.standard_normal((n, 2))
    if kind == "several_classes":
        z = np.eye(3, dtype=int)[np.arange(n) % 3][:, 1:]
    obs, design = draw_labels(kind, z, rng)
    X = rng.standard_normal((n, number * size // 2))
    members = [np.sort(rng.choice(X.shape[1], size, replace=False)) for _ in range(number)]
    for k, set_genes in enumerate(members):
        X[:, set_genes] += (
            np.sqrt(0.2) * rng.standard_normal((n, 1)) * rng.choice([1, 1, 1, -1], size)
        )
        if k < 2:
            X[:, set_genes] += (
                effect * z[:, [k]] * rng.exponential(1, size) * rng.choice([-1, 1], size)
            )
    genes = [f"g{j}" for j in range(X.shape[1])]
    set_sizes = np.full(number, size)
    sets = GeneSets(
        names=np.array([f"set{k}" for k in range(number)]),
        descriptions=np.full(number, ""),
        n_listed=set_sizes,
        n_measured=set_sizes,
        indptr=np.arange(number + 1) * size,
        indices=np.concatenate(members),
        warnings=np.array([], dtype=str),
    )
    return Dataset(X, obs, pd.DataFrame({"symbol": genes}, index=genes), design, {}), sets


def kind(
    out: str,
    kind: str,
    studies: str,
    percent: str = "0",
    permutations: str = "0",
    n: str = str(N),
    number: str = str(SETS),
) -> None:
    """Add a line for each study that has none yet: sets in its list, error, and p."""
    lines = Path(out).read_text().splitlines() if Path(out).exists() else []
    finished = {
        (line_record["kind"], line_record["effect"], line_record["seed"])
        for line_record in map(json.loads, lines)
    }
    config = resolve_config(NAMES, load_schema())
    set_settings = {field.name: config["structured"][field.name] for field in fields(SetsSettings)}
    sets_protocol = SetsSettings(**set_settings)
    B = int(permutations)
    effect = int(percent) / 100
    for seed in range(int(studies)):
        if (kind, effect, seed) in finished:
            continue
        start = time.process_time()
        dataset, sets = draw_study_of_kind(kind, seed, effect, int(n), int(number))
        splits = draw_splits(dataset, seed=seed, **{**config["splits"], "repeats": 1})
        labels = ["observed", *([f"permuted-001-{B:03d}"] if B else [])]
        study = PreparedStudy(dataset, splits, MOMENTS)
        fits = [
            cross_validate_sets(study, sets, sets_protocol, labels=label_fits, batch="1of1")
            for label_fits in labels
        ]
        error = []
        headline = ASSESSMENT_KINDS[dataset.design.kind].headline
        for label_fits in fits:
            model_scores_of_fits = model_scores(dataset, splits, label_fits, label_fits.scores)
            error += study_errors(model_scores_of_fits, headline)[:, 0].tolist()
        times = np.bincount(fits[0].indices, minlength=int(number))
        listed = times >= smallest_count(config["signature"]["cv_frequency"], len(fits[0]))
        line = {
            "kind": kind,
            "n": int(n),
            "sets": int(number),
            "effect": effect,
            "seed": seed,
            "found": int(listed[:2].sum()),
            "false": int(listed[2:].sum()),
            "listed": int(listed.sum()),
            "error": error[0],
            "p": p_value(error[0], np.array(error[1:])),
            "seconds": round(time.process_time() - start, 2),
        }
        with Path(out).open("a") as file:
            print(json.dumps(line), file=file)


def summarise_lines(out: str) -> None:
    """Print the means of each kind and effect, and how often p is small or a set listed."""
    lines = pd.read_json(out, lines=True)
    lines = lines.assign(
        any=lines["listed"] > 0, small=(lines["p"] <= 0.05).where(~lines["p"].isna())
    )
    of = lines.groupby(["kind", "n", "sets", "effect"])
    table = of[["found", "false", "any", "error", "small"]].mean()
    table = table.assign(seconds=of["seconds"].median(), studies=of.size())
    print(table.round(3).to_string())


if __name__ == "__main__":
    {"real": real, "simulated": simulated, "study": study, "kind": kind, "sum": summarise_lines}[
        sys.argv[1]
    ](*sys.argv[2:])
