"""Give spoiled tables to three commands, and new samples on wrong scales to `genesig predict`.

    OMP_NUM_THREADS=1 python benchmarks/robustness/spoiled_files.py [INPUTS] [MODELS]

The number of an input is the seed of its layout, faults and files. `genesig validate`, `init` and
`predict` read each input in this process. It prints the exit codes, and each answer with a
traceback or with a line that is no message; then, for new samples on other scales and with shifted
gene ids, how many were refused, doubted in the column `doubt`, or scored without a doubt. The exit
code is 1 if there is such an answer, or a wrong scale without a doubt.
"""

import contextlib
import io
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))

import openpyxl
import r_files
import settings
from format_files import Numbers, gct12, h5ad, series_matrix, tabbed
from linear_loops import fit_final_model
from settings import MOMENTS, SPLITS
from spoiled_bytes import FORMATS, TABLES, spoilt

from genesig.cli import main as genesig
from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.errors import GenesigError
from genesig.results import Dataset, Design, save_json
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

Draw = random.Random
ODD_CELLS = [
    "",
    "NA",
    "?",
    "-999",
    "99999",
    "1e999",
    "1,5",
    "1.000,5",
    "1e-300",
    "1e13",
    "x",
    "=A1",
    "2-Sep",
    '"',
    "\x1b[31m",
    "é",
    "0x1F",
    "9" * 400,
]

MORE_SETTINGS = (
    "",
    "data: {covariates: [age]}\nnonlinear: {enabled: false}\n",
    "data: {batch: batch}\nnormalise: {folds: [{step: combat}]}\n",
    "data: {task: regression}\n",
    "normalise: {samples: [{step: log2}]}\n",
    "normalise: {folds: [{step: vst}, {step: centre}]}\n",
)


def feature_counts(n: Numbers) -> str:
    """Return a table of featureCounts: a comment above, five columns beside the ids."""
    head = ["Geneid", "Chr", "Start", "End", "Strand", "Length", *(f"b/{s}.bam" for s in n.samples)]
    rows = [
        [g, "1", 7, 9, "+", 3, *map(round, row)] for g, row in zip(n.genes, n.rows, strict=True)
    ]
    return "# Program:featureCounts v2.0.6\n" + tabbed([head, *rows])


def plain_cells(n: Numbers) -> list[list[object]]:
    """Return the rows of a table, genes × samples."""
    pairs = zip(n.genes, n.rows, strict=True)
    return [["gene", *n.samples], *([g, *row] for g, row in pairs)]


def table_with_symbols(n: Numbers) -> str:
    """Return a table with the column gene_name, as nf-core and DESeq2 write it."""
    return tabbed(
        [
            [row[0], f"SYM{k}" if k else "gene_name", *row[1:]]
            for k, row in enumerate(plain_cells(n))
        ]
    )


def workbook(n: Numbers) -> bytes:
    """Return a workbook with a title above its table."""
    book = openpyxl.Workbook()
    out = io.BytesIO()
    for row in [["Table S1"], *plain_cells(n)]:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


def summarized_experiment(n: Numbers) -> bytes:
    """Return an .rds of a SummarizedExperiment, as `saveRDS` writes it."""
    samples = r_files.table(
        {"state": r_files.factor(n.labels, [*dict.fromkeys(n.labels)])}, n.samples, len(n.samples)
    )
    assays = r_files.simple_assays({"values": r_files.matrix(n.rows, (n.genes, n.samples))})
    return r_files.saved(
        r_files.of_class(
            "SummarizedExperiment",
            "SummarizedExperiment",
            colData=samples,
            assays=assays,
            NAMES=r_files.strings(n.genes),
            metadata=r_files.listed([r_files.closure()]),
        )
    )


# Name -> file name, function that returns its content.
LAYOUTS: dict[str, tuple[str, Callable[[Numbers], str | bytes]]] = {
    "table": ("e.tsv", lambda n: tabbed(plain_cells(n))),
    "turned": ("e.txt", lambda n: tabbed(list(zip(*plain_cells(n), strict=True)))),
    "decimal commas": (
        "e.csv",
        lambda n: "\n".join(
            ";".join(str(c).replace(".", ",") for c in row) for row in plain_cells(n)
        ),
    ),
    "titles": ("e.csv", lambda n: "Table S1\n\n" + tabbed(plain_cells(n)).replace("\t", ",")),
    "featureCounts": ("e.txt", feature_counts),
    "gene_name": ("e.tsv", table_with_symbols),
    "GCT": ("e.gct", gct12),
    "series matrix": ("GSE1_series_matrix.txt", series_matrix),
    "AnnData": ("e.h5ad", h5ad),
    "workbook": ("e.xlsx", workbook),
    "SummarizedExperiment": ("e.rds", summarized_experiment),
}


def draw_numbers(draw: Draw) -> Numbers:
    """Return a study of 12 genes and 16 samples, on one of several scales."""
    scale = draw.choice([lambda v: v, lambda v: 2.0**v, lambda v: round(2.0**v), lambda v: v - 8])
    rows = [[scale(draw.gauss(8, 1) + (g < 2) * (s % 2)) for s in range(16)] for g in range(12)]
    return Numbers([f"g{k}" for k in range(12)], [f"S{k}" for k in range(16)], rows)


def draw_sample_table(n: Numbers, draw: Draw) -> list[list[str]]:
    """Return the rows of a sample table with usual columns and up to four odd cells."""
    rows = [
        ["sample", "state", "age", "batch"],
        *(
            [s, c, str(40 + k), str(k % 3)]
            for k, (s, c) in enumerate(zip(n.samples, n.labels, strict=True))
        ),
    ]
    for _ in range(draw.choice([0, 0, 1, 4])):
        draw.choice(rows)[draw.randrange(4)] = draw.choice(ODD_CELLS)
    return rows


def write_input(seed: int) -> str:
    """Write the files of one input into this folder; return the name of the matrix file."""
    draw = Draw(seed)
    n = draw_numbers(draw)
    file, make_content = LAYOUTS[draw.choice(list(LAYOUTS))]
    content = make_content(n)
    content = content if isinstance(content, bytes) else content.encode()
    for _ in range(draw.choice([0, 0, 1, 3])):
        place = draw.randrange(len(content))
        cell = draw.choice(ODD_CELLS).encode()
        content = content[:place] + cell + content[place + draw.choice([0, 4]) :]
    if draw.random() < 0.4:
        content = spoilt(content, draw.choice([TABLES, FORMATS]), seed)
    Path(file).write_bytes(content)
    table = tabbed(draw_sample_table(n, draw)).encode()
    Path("s.tsv").write_bytes(spoilt(table, TABLES, seed) if draw.random() < 0.2 else table)
    extra = draw.choice(MORE_SETTINGS)
    Path("c.yaml").write_text(f"expression: {file}\nsamples: s.tsv\nlabel: state\n{extra}")
    return file


def run_command(arguments: list[str]) -> tuple[int, list[str]]:
    """Run a command; return its exit code and the lines of its errors that are no messages.

    After a traceback the exit code is -1.
    """
    out = io.StringIO()
    err = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = genesig(arguments)
        except Exception:  # a fault of genesig
            return -1, traceback.format_exc().splitlines()[-3:]
    message_starts = ("error: ", "warning: ", "note: ", "scale: ")
    lines = err.getvalue().splitlines()
    return code, [line for line in lines if not line.startswith(message_starts)]


def run_inputs(inputs: int, model: Path) -> int:
    """Give every input to the three commands; return the number of faulty answers."""
    codes = Counter[tuple[str, int]]()
    faults = 0
    start = time.perf_counter()
    for seed in range(inputs):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            file = write_input(seed)
            for name, words in {
                "validate": ["c.yaml"],
                "init": ["new", "-e", file, "-s", "s.tsv"],
                "predict": [str(model), file, "--missing", "1"],
            }.items():
                code, lines = run_command([name, *words])
                codes[name, code] += 1
                if lines:
                    faults += 1
                    print(f"seed {seed}, {name}: {' | '.join(lines)[:300]}")
    code_counts = ", ".join(
        f"{name} {code}: {count}" for (name, code), count in sorted(codes.items())
    )
    print(
        f"{inputs} inputs, {3 * inputs} commands ({code_counts}): {faults} faulty answers, "
        f"{time.perf_counter() - start:.0f} s"
    )
    return faults


def draw_values(seed: int, n: int, genes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms (n, genes) and y = ±1; the first five genes differ between the classes."""
    rng = np.random.default_rng([seed, n])
    gene_rng = np.random.default_rng(1)  # mean and spread of a gene are the same in every draw
    mean = gene_rng.normal(8, 2, genes)
    spread = gene_rng.uniform(0.3, 1.2, genes)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    effect = np.where(np.arange(genes) < 5, 1.0, 0.0)
    return mean + spread * (rng.standard_normal((n, genes)) + np.outer(y, effect)), y


def fit_study(seed: int, genes: int = 400) -> dict[str, object]:
    """Return model.json of a study of 40 samples."""
    X, y = draw_values(seed, 40, genes)
    names = [f"g{k}" for k in range(genes)]
    obs = pd.DataFrame(
        {"state": np.where(y > 0, "ill", "well")}, index=[f"t{k}" for k in range(40)]
    )
    design = Design("state", "classification", ("well", "ill"), None, None)
    data = Dataset(X, obs, pd.DataFrame({"symbol": names}, index=names), design, {})
    splits = draw_splits(data, seed=1, **SPLITS)
    final = fit_final_model(data, splits, fold_steps=MOMENTS, **settings.LINEAR)
    return final_model(data, final, fold_steps=MOMENTS)


SCALES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the same": lambda X: X,
    "ln for log2": lambda X: X * np.log(2),
    "never logged": lambda X: 2.0**X,
    "+ 2": lambda X: X + 2,
    "- 2": lambda X: X - 2,
    "ids shifted by one": lambda X: np.roll(X, 1, axis=1),
}


def score_scales(models: int) -> int:
    """Score new samples on each scale; return the number of wrong scales without a doubt."""
    n_undoubted = 0
    for scale, change in SCALES.items():
        outcomes = Counter[str]()
        for seed in range(models):
            model = fit_study(seed)
            X, _ = draw_values(1000 + seed, 30, 400)
            matrix = Matrix(
                tuple(f"n{k}" for k in range(30)),
                tuple(f"g{k}" for k in range(400)),
                change(X),
                {},
                tuple(range(30)),
            )
            try:
                table, _ = predict(model, matrix, "new.tsv", missing=0.1, mu=None)
                outcomes["doubted" if (table["doubt"] != "").any() else "without a doubt"] += 1
            except GenesigError:
                outcomes["refused"] += 1
        n_undoubted += outcomes["without a doubt"] if scale != "the same" else 0
        print(f"{scale}: {dict(outcomes)}")
    return n_undoubted


def main(inputs: int = 2000, models: int = 20) -> int:
    """Run both parts; return 1 if there is a faulty answer or an undoubted wrong scale."""
    with tempfile.TemporaryDirectory() as folder:
        save_json(Path(folder) / "model.json", fit_study(0, 12))
        faults = run_inputs(inputs, Path(folder) / "model.json")
    return int(faults + score_scales(models) > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
