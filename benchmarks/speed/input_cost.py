"""Processor seconds and memory by the size of the files, for each kind of input.

    OMP_NUM_THREADS=1 python benchmarks/speed/input_cost.py [--quick]

Arrays of whole transcripts (CEL with PGF, CLF and MPS), methylation (IDAT with a manifest), counts
(vst with size factors), proteins with a fifth of the values missing (knn_impute), and a MuData file
of two omics, the second of which a fifth of the samples lacks: each at three sizes, doubled each
time. Every file is read in a new process; seconds and growth in MB are without imports.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))

SMALL = {"transcripts": 2, "methylation": 2, "counts": 15, "proteins": 25, "omics": 25}
"""Kind -> samples of the smallest file."""


def transcripts(folder: Path, n: int) -> None:
    """Write n CEL files of 160,000 cells, and the library of 15,000 clusters of 8 probes."""
    from array_files import cel_binary, transcript_files

    side = 400
    rng = np.random.default_rng(1)
    cells = rng.permutation(side * side)[:120_000].reshape(15_000, 2, 4).tolist()
    library = transcript_files(
        {f"{7890000 + k}": sets for k, sets in enumerate(cells)}, [[0, 1]], side, side, "Toy"
    )
    for ending, content in zip(("pgf", "clf", "mps"), library, strict=True):
        (folder / f"Toy.{ending}").write_bytes(content)
    for k in range(n):
        intensities = rng.lognormal(6, 1, (side, side)).round(1)
        (folder / f"s{k:02}.CEL").write_bytes(cel_binary(intensities, "Toy"))


def methylation(folder: Path, n: int) -> None:
    """Write both IDAT files of n arrays of 50,000 sites, and their manifest."""
    from array_files import array_files, manifest

    rng = np.random.default_rng(2)
    sites = 50_000
    (folder / "Toy.csv").write_bytes(
        manifest({f"cg{k:08d}": (k + 1, None, "") for k in range(sites)})
    )
    for k in range(n):
        means = [dict(enumerate(rng.integers(0, 60_000, sites).tolist(), 1)) for _ in range(2)]
        for name, content in array_files(f"9_R{k:02}C01", means).items():
            (folder / name).write_bytes(content)


def counts(folder: Path, n: int) -> None:
    """Write counts of 20,000 genes."""
    rng = np.random.default_rng(3)
    level = rng.lognormal(4, 2, 20_000)[:, None] * rng.uniform(0.5, 2, n)
    _write_table(folder, rng.poisson(level * rng.gamma(5, 0.2, level.shape)), "%d")


def proteins(folder: Path, n: int) -> None:
    """Write 4000 proteins, a fifth of whose values is missing."""
    rng = np.random.default_rng(4)
    X = rng.normal(24, 2, (4000, 1)) + rng.normal(0, 1, (4000, n))
    X[rng.random(X.shape) < 0.2] = np.nan
    _write_table(folder, X, "%.4f")


def omics(folder: Path, n: int) -> None:
    """Write 10,000 transcripts, and 1000 proteins that a fifth of the samples lacks."""
    import anndata
    import mudata

    rng = np.random.default_rng(5)
    names = [f"s{k:03}" for k in range(n)]
    parts = {}
    for part, d, n_part in (("rna", 10_000, n), ("protein", 1000, n - n // 5)):
        parts[part] = anndata.AnnData(rng.standard_normal((n_part, d)))
        parts[part].obs_names = names[:n_part]
        parts[part].var_names = [f"{part}{k}" for k in range(d)]
    options = mudata.settings.override if hasattr(mudata, "settings") else mudata.set_options
    with options(pull_on_update=False):
        mudata.MuData(parts).write_h5mu(folder / "e.h5mu")


def _write_table(folder: Path, X: np.ndarray[Any, Any], number_format: str) -> None:
    """Write values (genes × samples) to a compressed table, NaN as NA."""
    rows = ["\t".join(["gene", *(f"s{k:03}" for k in range(X.shape[1]))])]
    rows += [
        f"g{k}\t" + "\t".join("NA" if np.isnan(x) else number_format % x for x in row)
        for k, row in enumerate(X)
    ]
    (folder / "e.tsv.gz").write_bytes(gzip.compress("\n".join(rows).encode() + b"\n", 1))


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "transcripts": transcripts,
    "methylation": methylation,
    "counts": counts,
    "proteins": proteins,
    "omics": omics,
}
STEPS: dict[str, list[dict[str, Any]]] = {
    "counts": [{"step": "vst", "method": "median_of_ratios"}],
    "proteins": [{"step": "knn_impute", "neighbours": 10, "missing_most": 0.5}],
    "omics": [{"step": "mean_impute"}],
}


def read(kind: str, folder: Path) -> None:
    """Print a line of JSON: seconds, growth in MB, and shape, of reading files with their steps."""
    from genesig.data.files.readers import read_matrix
    from genesig.data.steps.normalise import fit_steps

    if kind == "omics":
        import anndata.io  # noqa: F401 - not part of what is measured
    before = _peak()
    start = time.process_time()
    is_folder = kind in ("transcripts", "methylation")
    path = folder if is_folder else next(folder.iterdir())
    matrix = read_matrix(path, partial=True)
    X = matrix.cells if kind == "omics" else matrix.cells.T
    steps = STEPS.get(kind, [])
    if steps:
        fit_steps(np.ascontiguousarray(X), steps).transform(np.ascontiguousarray(X))
    print(json.dumps([time.process_time() - start, _peak() - before, list(X.shape)]))


def _peak() -> float:
    """Return the peak memory of this process in MB; `resource` may report its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1e3


def _read_in_new_process(kind: str, folder: str) -> Any:
    """Return the values that `read` prints in a new process."""
    command = [sys.executable, __file__, "--read", kind, folder]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(process.stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the smallest size alone")
    parser.add_argument("--read", nargs=2)
    options = parser.parse_args()
    if options.read:
        read(options.read[0], Path(options.read[1]))
        return
    print("| input | samples × genes | MB of files | seconds | growth, MB |")
    print("| --- | --- | --- | --- | --- |")
    for kind, write_input in WRITERS.items():
        for factor in (1,) if options.quick else (1, 2, 4):
            with tempfile.TemporaryDirectory() as name:
                write_input(Path(name), factor * SMALL[kind])
                size = sum(file.stat().st_size for file in Path(name).iterdir()) / 1e6
                seconds, growth, shape = _read_in_new_process(kind, name)
                print(
                    f"| {kind} | {shape[0]} × {shape[1]} | {size:.1f} | {seconds:.2f} "
                    f"| {growth:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
