"""Reading a table of 54,675 genes and 100 samples, beside ``pandas.read_csv``.

    OMP_NUM_THREADS=1 python benchmarks/speed/reading.py [RUNS]

Each in a process of its own, in turn: processor seconds and how far the process grows, in sizes of
the matrix, the median of the runs. pandas reads without checks, to within the last digits.
"""

import gzip
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

GENES = 54675
SAMPLES = 100
WRITTEN = {"4 decimals": "%.4f", "17 digits": "%.17g"}


def peak() -> float:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def read(reader: str, path: str) -> None:
    """Print processor seconds and MB of one reading, libraries and their imports aside."""
    import pandas as pd
    import scipy.io  # noqa: F401

    from genesig.data.files.readers import read_matrix

    before = peak()
    start = time.process_time()
    if reader == "pandas":
        pd.read_csv(path, sep="\t", index_col=0).to_numpy()
    else:
        read_matrix(path)
    print(time.process_time() - start, peak() - before)


def write(path: Path, written: str) -> None:
    """Write the table, packed."""
    X = np.random.default_rng(0).normal(7, 2, (GENES, SAMPLES))
    with gzip.open(path, "wt", compresslevel=6) as file:
        file.write("\t".join(["gene", *(f"s{i}" for i in range(SAMPLES))]) + "\n")
        for gene, row in enumerate(X):
            file.write("\t".join([f"{gene}_at", *(written % v for v in row)]) + "\n")


def main(runs: int) -> None:
    """Print the table."""
    matrix = GENES * SAMPLES * 8 / 1e6
    for name, written in WRITTEN.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "e.tsv.gz")
            write(path, written)
            timings: dict[str, list[list[float]]] = {"pandas": [], "genesig": []}
            for _ in range(runs):
                for reader, figures in timings.items():
                    command = [sys.executable, __file__, "read", reader, str(path)]
                    process = subprocess.run(command, capture_output=True, text=True, check=True)
                    figures.append([float(word) for word in process.stdout.split()])
        typical = {
            reader: [statistics.median(column) for column in zip(*figures, strict=True)]
            for reader, figures in timings.items()
        }
        for reader, (seconds, grown) in typical.items():
            ratio = seconds / typical["pandas"][0]
            print(
                f"{name}, {reader}: {seconds:.2f} s ({ratio:.2f} times pandas), "
                f"{grown:.0f} MB ({grown / matrix:.1f} times the matrix)"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        read(*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
