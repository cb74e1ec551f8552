"""Error and stability of gene sets, and the processor time of their studies.

    python benchmarks/accuracy/gene_set_lists.py real MATRIX SAMPLES LABEL SETS
        [SECTION.KEY=VALUE ...]
    python benchmarks/accuracy/gene_set_lists.py simulated [DRAWS [CARRIERS [KEY=VALUE ...]]]
    python benchmarks/accuracy/gene_set_lists.py study SAMPLES GENES SETS [PERMUTATIONS]
    python benchmarks/accuracy/gene_set_lists.py kind OUT KIND STUDIES
        [PERCENT [PERMUTATIONS [N [SETS]]]]
    python benchmarks/accuracy/gene_set_lists.py sum OUT

`real` and `study` run the whole workflow on two cores: `real` on files, `study` on simulated chips
whose first genes are the genes of the file of sets. `simulated` compares sets with gene lists
without the workflow, in studies in which CARRIERS (1) of 50 sets of 40 genes have signal; keys are
settings of the section `structured`. `kind` draws studies of `several_classes` (three), `survival`
or `regression` in which two of the sets, of 20 genes, have an effect of PERCENT of a standard
deviation, and adds a line of JSON to OUT for each study; `sum` prints the means of OUT.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
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
from study_cost import read_costs

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
N = 60  # samples
N_SETS = 50
SET_SIZE = 40  # genes; sets of `kind` have SMALL_SET_SIZE
SMALL_SET_SIZE = 20


def run_workflow(folder: Path, config: dict[str, Any], changes: Sequence[str]) -> None:
    """Run a study; print its errors, its stability and the processor time of its jobs.

    changes: SECTION.KEY=VALUE, which change the config.
    """
    for change in changes:
        name, value = change.split("=", 1)
        section, key = name.split(".")
        config.setdefault(section, {})[key] = yaml.safe_load(value)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
    subprocess.run(command, cwd=folder, check=True)
    for name in ("sets_error", "sets_stability"):
        print(pd.read_csv(folder / f"results/{name}.tsv", sep="\t").to_string())
    genes = pd.read_csv(folder / "results/stability.tsv", sep="\t")
    print(genes[genes["mu"].isna()].to_string())
    print(pd.read_csv(folder / "results/sets_scores.tsv", sep="\t")["n_selected"].describe())
    print(pd.read_csv(folder / "results/sets.tsv", sep="\t").drop(columns="about").head(10))
    jobs = read_costs(folder)
    total = sum(seconds for _, seconds, _ in jobs)
    sets_total = sum(seconds for job, seconds, _ in jobs if "sets" in job)
    peak = max(megabytes for *_, megabytes in jobs)
    print(f"processor time {total:.0f} s, of it sets {sets_total:.0f} s; largest job {peak} MB")


def run_real(matrix: str, samples: str, label: str, sets: str, *changes: str) -> None:
    """Run the workflow on files."""
    matrix, samples, sets = (str(Path(name).resolve()) for name in (matrix, samples, sets))
    files = {"expression": matrix, "samples": samples, "label": label}
    config = {**files, "structured": {"sets": sets}, "nonlinear": {"enabled": False}}
    with tempfile.TemporaryDirectory() as name:
        lay_out(Path(name))
        run_workflow(Path(name), config, changes)


def run_chips(n: str, d: str, sets: str, permutations: str = "100") -> None:
    """Run the workflow on simulated chips: 30 factors have half of the variance of every gene."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder)
        rng = np.random.default_rng(1)
        path = Path(sets).resolve()
        set_genes = dict.fromkeys(
            gene for gene_set in read_sets(path, None) for gene in gene_set.genes
        )
        genes = [*set_genes, *(f"other{j}" for j in range(int(d)))][: int(d)]
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
        run_workflow(folder, config, [])


def make_gene_sets(members: list[Array]) -> GeneSets:
    """Return gene sets of one size; members: columns of the genes of each set."""
    n_sets = len(members)
    sizes = np.array(list(map(len, members)))
    return GeneSets(
        names=np.array([f"set{k}" for k in range(n_sets)]),
        descriptions=np.full(n_sets, ""),
        n_listed=sizes,
        n_measured=sizes,
        indptr=np.arange(n_sets + 1) * sizes[0],
        indices=np.concatenate(members),
        warnings=np.array([], dtype=str),
    )


def correlated_part(rng: np.random.Generator, n: int, size: int) -> Array:
    """Return a factor of n samples times signs (n, size); added to noise, it correlates genes."""
    return np.sqrt(0.2) * rng.standard_normal((n, 1)) * rng.choice([1, 1, 1, -1], size)


def draw_sets(seed: int, effect: float, carriers: int) -> tuple[Array, Array, GeneSets]:
    """Return X (N, d), y = ±1 and overlapping sets of correlated genes; the first have signal."""
    rng = np.random.default_rng([seed, int(1000 * effect)])
    d = N_SETS * SET_SIZE // 2 + 500
    y = np.repeat([-1.0, 1.0], N // 2)
    members = [np.sort(rng.choice(d, SET_SIZE, replace=False)) for _ in range(N_SETS)]
    X = rng.standard_normal((N, d))
    for genes in members:
        X[:, genes] += correlated_part(rng, N, SET_SIZE)
    for genes in members[:carriers]:
        weights = rng.exponential(1, SET_SIZE)
        X[:, genes] += effect * y[:, None] * weights * rng.choice([-1, 1], SET_SIZE)
    return X, y, make_gene_sets(members)


def measure_lists(
    seed: int, effect: float, carriers: int, changes: dict[str, Any]
) -> dict[str, float]:
    """Return error, recovery, length and stability of sets and of gene lists in one study.

    changes: settings of the section `structured`.
    """
    X, y, sets = draw_sets(seed, effect, carriers)
    config = resolve_config(NAMES, load_schema())
    dataset = make_dataset(X, y)
    splits = draw_splits(dataset, seed=seed, **{**config["splits"], "repeats": 2})
    steps = {"fold_steps": MOMENTS}
    fits = nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", **steps, **linear()
    )
    final_fits = fit_final_model(dataset, splits, **steps, **linear())
    half_fits = fit_half_samples(dataset, splits, **steps, **linear())
    cv_frequency = config["signature"]["cv_frequency"]
    cross_validation = CrossValidation.from_batches(dataset, splits, [fits])
    gene_tables = gather(
        LinearResults(cross_validation, final_fits, half_fits, HalfSampleStudy.none()),
        cv_frequency=cv_frequency,
        fdr=0.1,
        clusters=config["clusters"],
    )
    study = PreparedStudy(dataset, splits, MOMENTS)
    sets_settings = sets_settings_of(config, changes)
    set_fits = cross_validate_sets(study, sets, sets_settings, labels="observed", batch="1of1")
    batches = {"observed_batches": [set_fits], "permuted_batches": []}
    final, _ = fit_sets_final(study, sets, sets_settings)
    halves = fit_sets_half_samples(study, sets, sets_settings)
    set_tables = gather_sets(
        cross_validation, sets, **batches, final=final, subsamples=halves, cv_frequency=cv_frequency
    )
    errors = set_tables["sets_error"].iloc[0]
    gene_stability = gene_tables["stability"]
    # The chosen list has no mu: NaN differs from itself.
    core = set(gene_tables["nested_lists"].query("mu != mu and in_list")["gene"])
    true = {f"g{j}" for k in range(carriers) for j in sets.members(k)}
    listed_sets = set_tables["sets"].query("in_list")["set"]
    return {
        "sets: error": errors["error"],
        "genes: error": errors["gene_error"],
        "sets: planted in list": len({f"set{k}" for k in range(carriers)} & set(listed_sets)),
        "sets: list": len(listed_sets),
        "sets: chosen": set_tables["sets_scores"]["n_selected"].median(),
        "genes: true share of core": len(core & true) / max(1, len(core)),
        "genes: share of the true in core": len(core & true) / len(true),
        "genes: core": len(core),
        "sets: stability": set_tables["sets_stability"]["stability"].iloc[0],
        "genes: stability": gene_stability[gene_stability["mu"].isna()]["stability"].iloc[0],
    }


def sets_settings_of(config: dict[str, Any], changes: dict[str, Any]) -> SetsSettings:
    """Return the settings of gene sets of a config, with changes."""
    names = [field.name for field in fields(SetsSettings)]
    return SetsSettings(**{name: config["structured"][name] for name in names} | changes)


def compare_with_genes(draws: str = "10", carriers: str = "1", *changes: str) -> None:
    """Print means of sets and gene lists over draws, for three strengths of the signal."""
    changed_settings = {
        name: yaml.safe_load(value) for name, value in (change.split("=", 1) for change in changes)
    }
    for strength in (0.15, 0.25, 0.4):
        effect = strength / np.sqrt(int(carriers))
        draw_results = [
            measure_lists(seed, effect, int(carriers), changed_settings)
            for seed in range(int(draws))
        ]
        print(
            f"strength {strength}, {draws} draws of {N} samples, {carriers} sets with signal"
            f" {changed_settings}"
        )
        print(pd.DataFrame(draw_results).mean().round(3).to_string())


def draw_labels(kind: str, z: Array, rng: np.random.Generator) -> tuple[pd.DataFrame, Design]:
    """Return sample table and design of a response that depends on z (n, 2).

    z: two numbers of each sample; of classes, indicators of the second and third class.
    """
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
        censoring_time = rng.exponential(2, len(z))
        cells = {
            "state": np.minimum(event_time, censoring_time),
            "end": np.where(event_time <= censoring_time, "1", "0"),
        }
        label_settings |= {"event": "end", "occurred": "1", "horizon": 0.7, "ties": "efron"}
    return pd.DataFrame(cells, index=names).astype(str), Design(**label_settings)


def draw_study_of_kind(
    kind: str, seed: int, effect: float, n: int, n_sets: int
) -> tuple[Dataset, GeneSets]:
    """Return a study whose first two sets depend on the response, of classes on one class each."""
    rng = np.random.default_rng([seed, int(1000 * effect), 7])
    size = SMALL_SET_SIZE
    z = rng.standard_normal((n, 2))
    if kind == "several_classes":
        z = np.eye(3, dtype=int)[np.arange(n) % 3][:, 1:]
    obs, design = draw_labels(kind, z, rng)
    X = rng.standard_normal((n, n_sets * size // 2))
    members = [np.sort(rng.choice(X.shape[1], size, replace=False)) for _ in range(n_sets)]
    for k, genes in enumerate(members):
        X[:, genes] += correlated_part(rng, n, size)
        if k < 2:
            weights = rng.exponential(1, size)
            X[:, genes] += effect * z[:, [k]] * weights * rng.choice([-1, 1], size)
    names = [f"g{j}" for j in range(X.shape[1])]
    dataset = Dataset(X, obs, pd.DataFrame({"symbol": names}, index=names), design, {})
    return dataset, make_gene_sets(members)


def measure_kind(
    out: str,
    kind: str,
    studies: str,
    percent: str = "0",
    permutations: str = "0",
    n: str = str(N),
    n_sets: str = str(N_SETS),
) -> None:
    """Add a line to `out` for each study that has none: sets in its list, error, and p."""
    lines = Path(out).read_text().splitlines() if Path(out).exists() else []
    finished = {(line["kind"], line["effect"], line["seed"]) for line in map(json.loads, lines)}
    config = resolve_config(NAMES, load_schema())
    sets_settings = sets_settings_of(config, {})
    n_permutations = int(permutations)
    effect = int(percent) / 100
    for seed in range(int(studies)):
        if (kind, effect, seed) in finished:
            continue
        start = time.process_time()
        dataset, sets = draw_study_of_kind(kind, seed, effect, int(n), int(n_sets))
        splits = draw_splits(dataset, seed=seed, **{**config["splits"], "repeats": 1})
        labels = ["observed", *([f"permuted-001-{n_permutations:03d}"] if n_permutations else [])]
        study = PreparedStudy(dataset, splits, MOMENTS)
        fits_of_labels = [
            cross_validate_sets(study, sets, sets_settings, labels=name, batch="1of1")
            for name in labels
        ]
        errors = []  # with observed labels, then of each permutation
        headline = ASSESSMENT_KINDS[dataset.design.kind].headline
        for fits in fits_of_labels:
            scores = model_scores(dataset, splits, fits, fits.scores)
            errors += study_errors(scores, headline)[:, 0].tolist()
        observed_fits = fits_of_labels[0]
        counts = np.bincount(observed_fits.indices, minlength=int(n_sets))
        min_count = smallest_count(config["signature"]["cv_frequency"], len(observed_fits))
        listed = counts >= min_count
        line = {
            "kind": kind,
            "n": int(n),
            "sets": int(n_sets),
            "effect": effect,
            "seed": seed,
            "found": int(listed[:2].sum()),
            "false": int(listed[2:].sum()),
            "listed": int(listed.sum()),
            "error": errors[0],
            "p": p_value(errors[0], np.array(errors[1:])),
            "seconds": round(time.process_time() - start, 2),
        }
        with Path(out).open("a") as file:
            print(json.dumps(line), file=file)


def summarise_lines(out: str) -> None:
    """Print means of each kind and effect; any: share with a listed set; small: with p <= .05."""
    lines = pd.read_json(out, lines=True)
    lines = lines.assign(
        any=lines["listed"] > 0, small=(lines["p"] <= 0.05).where(~lines["p"].isna())
    )
    groups = lines.groupby(["kind", "n", "sets", "effect"])
    table = groups[["found", "false", "any", "error", "small"]].mean()
    table = table.assign(seconds=groups["seconds"].median(), studies=groups.size())
    print(table.round(3).to_string())


COMMANDS = {
    "real": run_real,
    "study": run_chips,
    "simulated": compare_with_genes,
    "kind": measure_kind,
    "sum": summarise_lines,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
