"""Small studies in folders of their own, run as a user would run them."""

from __future__ import annotations

import gzip
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from places import ROOT

from genesig.data.files.readers import load_schema, read_config
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.results import Dataset, Splits

# A small study in a folder of its own, run as a user would run it.

HOSTILE = '<script>alert("gene")</script>'

CONFIG = {
    "expression": "expression.tsv.gz",
    "samples": "samples.tsv",
    "label": "diagnosis",
    "seed": 3,
    "splits": {"folds": 3, "repeats": 2, "inner_folds": 3, "subsamples": 6, "batches": 1},
    "linear": {"tau_count": 6, "tau_min": 0.05, "mu": [1e-6, 1e-2, 1.0]},
    "nonlinear": {"genes": 20, "nu": [0.1], "tau_count": 4, "fvm_genes": [1, 4]},
    "controls": {"permutations": 6, "baselines": ["dummy", "ridge", "nearest_centroid"]},
    "report": {"title": "Toy & <b>test</b>"},
}


def write_matrix(folder, genes, samples, X):
    lines = ["\t".join(["gene", *samples])]
    lines += [
        "\t".join([gene, *(f"{value:.6f}" for value in row)])
        for gene, row in zip(genes, X, strict=True)
    ]
    packed = gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)
    (folder / "expression.tsv.gz").write_bytes(packed)


# Snakemake takes longer to be imported than to plan the toy: one process a worker imports it, with
# what it and the workflow stand on, and each run is a fork of that process. genesig is not among
# it, and each run forgets what this module has imported of it, since a study has its own.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["snakemake.cli", "snakemake.dag", "snakemake.report.html_reporter", "anndata", "jsonschema"]
)


def make_study(folder, config=(), n=24, d=40, seed=1, editable_package=False):
    """Lay out a study: three informative genes, one of them with a hostile name.

    With `editable_package` it has a copy of the package, otherwise links to the clone's.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((d, n))
    X[:3] += 1.6 * y
    X[3:6] = X[:3] + 0.4 * rng.standard_normal((3, n))
    genes = [HOSTILE, *(f"g{j:03d}" for j in range(1, d))]
    samples = [f"{i:03d}" for i in range(n)]
    for part in ("Snakefile", "workflow", "profiles", "genesig"):
        if editable_package and part == "genesig":
            unfinished = shutil.ignore_patterns("*.tmp.*", "*.pyc.*")  # of compilers at work
            shutil.copytree(ROOT / part, folder / part, ignore=unfinished)
        else:
            (folder / part).symlink_to(ROOT / part)
    write_matrix(folder, genes, samples, X)
    rows = ["sample\tdiagnosis\tpatient\tcohort\tage"]
    rows += [
        f"{name}\t{'ill' if y[i] else 'well'}\tp{i // 2}\t{'train' if i % 3 else 'test'}\t"
        f"{40 + 5 * X[0, i]:.3f}"
        for i, name in enumerate(samples)
    ]
    (folder / "samples.tsv").write_text("\n".join(rows) + "\n")
    write_config(folder, config)
    return folder


def empty(folder):
    """Make a folder, and return it."""
    folder.mkdir(parents=True)
    return folder


def write_config(folder, changes=()):
    """Write config/config.yaml: the toy's settings with some sections or keys changed."""
    config = {key: dict(v) if isinstance(v, dict) else v for key, v in CONFIG.items()}
    for key, value in dict(changes).items():
        before = config.get(key)
        are_sections = isinstance(value, dict) and isinstance(before, dict)
        config[key] = {**before, **value} if are_sections else value
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(config))


def command(*arguments, cores=2):
    return [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]


def environment():
    """Hide the settings of an outer Snakemake or coverage run."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("SNAKEMAKE", "COV_"))}


def _snakemake(folder, arguments, variables, log_path):
    """Be ``python -m snakemake`` in a folder, whose streams are a file."""
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == "genesig"]:
        del sys.modules[name]
    for stream in (1, 2):
        os.dup2(os.open(log_path, os.O_WRONLY | os.O_APPEND), stream)
    from snakemake.cli import main

    sys.argv = ["snakemake", *arguments]
    main()


def run(folder, *arguments, cores=2, check=True):
    """Run Snakemake in the study's folder; show what it printed when it fails unexpectedly."""
    line = ["--cores", str(cores), *arguments]
    with NamedTemporaryFile("r", encoding="utf-8") as log_file:
        forked = FORKS.Process(target=_snakemake, args=(folder, line, environment(), log_file.name))
        forked.start()
        forked.join()
        process = subprocess.CompletedProcess(line, forked.exitcode, log_file.read(), "")
    if check:
        assert process.returncode == 0, process.stdout
    return process


def results(folder):
    """Return the content of every result but the times of the run."""
    files = {}
    for path in sorted((folder / "results").rglob("*")):
        name = str(path.relative_to(folder / "results"))
        if path.is_dir() or name.startswith("times/"):
            continue
        files[name] = path.read_bytes()
    return files


def assert_alike(results_a, results_b):
    """Hold a table or arrays of two runs against each other: the same words, numbers to 1e-9."""
    if results_a.suffix == ".tsv":
        content_a, content_b = (pd.read_csv(path, sep="\t") for path in (results_a, results_b))
        pd.testing.assert_frame_equal(content_a, content_b, rtol=1e-9, atol=1e-12)
        return
    with np.load(results_a) as content_a, np.load(results_b) as content_b:
        assert content_a.files == content_b.files
        for name in content_a.files:
            if content_a[name].dtype.kind == "f":
                np.testing.assert_allclose(
                    content_a[name], content_b[name], 1e-9, 1e-12, err_msg=name
                )
            else:
                np.testing.assert_array_equal(content_a[name], content_b[name], err_msg=name)


def differing_results(results_a, results_b):
    """Return the names of the results of two runs that differ; arrays may differ by 1e-9.

    Compiled kernels may sum in another order if another run has compiled them. The layout of the
    composite figure differs from run to run in the last digits. The run record holds the digests of
    all files, so it may differ if these do.
    """
    names = results_a.keys() | results_b.keys()
    unequal = {name for name in names if results_a.get(name) != results_b.get(name)}
    arrays = {name for name in unequal if name.endswith(".npz")}
    rounded = {name for name in arrays if have_close_arrays(results_a[name], results_b[name])}
    if (name := "figures/figure1.svg") in unequal & results_a.keys() & results_b.keys():
        rounded |= {name} if are_close_drawings(results_a[name], results_b[name]) else set()
    return sorted(unequal - rounded - ({"run.json"} if rounded else set()))


def have_close_arrays(content_a, content_b):
    """Return whether two npz files hold equal arrays, those of floats to 1e-9."""
    with np.load(BytesIO(content_a)) as arrays_a, np.load(BytesIO(content_b)) as arrays_b:
        return arrays_a.files == arrays_b.files and all(
            np.allclose(arrays_a[name], arrays_b[name], 1e-9, 1e-12, equal_nan=True)
            if arrays_a[name].dtype.kind == "f"
            else np.array_equal(arrays_a[name], arrays_b[name])
            for name in arrays_a.files
        )


def are_close_drawings(content_a, content_b):
    """Return whether two drawings are equal, numbers to 0.01 and but for the digests of clips."""
    number = re.compile(r"-?\d+\.\d+")
    texts = [
        re.sub("p[0-9a-f]{10}", "clip", content.decode()) for content in (content_a, content_b)
    ]
    values_a, values_b = ([float(text) for text in number.findall(drawing)] for drawing in texts)
    words_a, words_b = (number.sub("0", drawing) for drawing in texts)
    return words_a == words_b and np.allclose(values_a, values_b, rtol=0, atol=0.01)


def planned(folder):
    """Return the rules that a dry run would execute, from its table of jobs."""
    plan = run(folder, "--dry-run")
    text = plan.stdout + plan.stderr
    rules = set(re.findall(r"^(\w+) +\d+$", text, re.MULTILINE)) - {"total", "study"}
    assert rules or "Nothing to be done" in text
    return rules


# Simulated studies of one question, and their files, for tests that break one thing at a time.

NAMES = ("boston", "berlin", "bombay", "bergen", "bilbao", "brno")
TRUE = 3
"""The first genes tell the classes apart, in every study."""


def tables(
    number: int = 3,
    n: int = 20,
    d: int = 30,
    *,
    seed: int = 1,
    effect: float = 2.5,
    odd: bool = False,
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return the matrix (genes × samples) and the sample table of each study.

    Each has a location and a spread of its own for every gene; in the last one the genes point the
    other way where it is to be the `odd` one.
    """
    rng = np.random.default_rng(seed)
    base = rng.normal(8, 1, d)
    tables_found = {}
    for k, name in enumerate(NAMES[:number]):
        y = np.arange(n) % 2
        X = rng.standard_normal((n, d))
        sign = -1 if odd and k == number - 1 else 1
        X[:, :TRUE] += sign * effect * (y[:, None] - 0.5)
        X = base + rng.normal(0, 0.7, d) + np.exp(rng.normal(0, 0.3, d)) * X
        samples = [f"{name[:3]}{k}{i:02d}" for i in range(n)]
        matrix = pd.DataFrame(X.T.round(4), [f"gene{j:02d}" for j in range(d)], samples)
        about = pd.DataFrame(
            {
                "diagnosis": np.where(y == 1, "ill", "well"),
                "patient": [f"p{i}" for i in range(n)],
                "age": rng.integers(30, 70, n).astype(str),
            },
            samples,
        )
        tables_found[name] = matrix, about
    return tables_found


@dataclass
class Studies:
    """Studies and their config, to be changed before they are written."""

    root: Path
    files: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = field(default_factory=tables)
    config: dict[str, Any] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    genes: dict[str, pd.DataFrame] = field(default_factory=dict)

    def item(self, name: str, **settings: Any) -> None:
        """Set keys of one of the studies."""
        self.items.setdefault(name, {}).update(settings)

    def write(self) -> Path:
        """Write every file; return the config's path."""
        for name, (matrix, about) in self.files.items():
            matrix.to_csv(self.root / f"{name}.tsv", sep="\t", index_label="gene")
            about.to_csv(self.root / f"{name}_samples.tsv", sep="\t", index_label="sample")
        for name, table in self.genes.items():
            table.to_csv(self.root / name, sep="\t", index=False)
        studies = [
            {
                "name": name,
                "expression": f"{name}.tsv",
                "samples": f"{name}_samples.tsv",
                **self.items.get(name, {}),
            }
            for name in self.files
        ]
        config = {"studies": studies, "label": "diagnosis", **self.config}
        (self.root / "config.yaml").write_text(yaml.safe_dump(config))
        return self.root / "config.yaml"


def pooled(
    folder: Path, files: dict[str, tuple[pd.DataFrame, pd.DataFrame]], **config: Any
) -> tuple[Dataset, Splits]:
    """Read studies of wells and ills, align them and draw their splits, as the workflow does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        studies = Studies(folder, files, {"data": {"classes": ["well", "ill"]}, **config})
        config = resolve_config(read_config(studies.write()), load_schema())
        dataset = read_dataset(StudySettings.from_config(config))
    dataset = normalise_samples(dataset, config["across"]["align"], **config["normalise"])
    return dataset, draw_splits(dataset, seed=0, **config["splits"])


def lay_out_studies(folder: Path, config: dict[str, Any], number: int = 3, judges: int = 0) -> Path:
    """Lay out a study of simulated studies, with as many cohorts more that only judge."""
    make_study(folder)
    Studies(folder, files := tables(number + judges, n=16, d=40, effect=3.0)).write()
    (folder / "config.yaml").unlink()
    items = [
        {"name": name, "expression": f"{name}.tsv", "samples": f"{name}_samples.tsv"}
        for name in files
    ]
    study_config = {"studies": items[:number], **({"external": items[number:]} if judges else {})}
    study_config |= {"label": "diagnosis", "data": {"classes": ["well", "ill"]}, **config}
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(study_config))
    return folder
