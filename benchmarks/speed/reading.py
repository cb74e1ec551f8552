"""Time and memory of reading a table of 54,675 genes and 100 samples, by genesig and pandas.

    OMP_NUM_THREADS=1 python benchmarks/speed/reading.py [RUNS]

Each reads in new processes, in turn. It prints medians of processor seconds, and of the growth of
the process, also in sizes of the matrix. ``pandas.read_csv`` reads without checks, to within the
last digits.
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

N_GENES = 54675
N_SAMPLES = 100
NUMBER_FORMATS = {"4 decimals": "%.4f", "17 digits": "%.17g"}


def peak_memory() -> float:
    """Return the peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def read(reader: str, path: str) -> None:
    """Print processor seconds and growth in MB of one reading, without imports."""
    import pandas as pd
    import scipy.io  # noqa: F401

    from genesig.data.files.readers import read_matrix

    before = peak_memory()
    start = time.process_time()
    if reader == "pandas":
        pd.read_csv(path, sep="\t", index_col=0).to_numpy()
    else:
        read_matrix(path)
    print(time.process_time() - start, peak_memory() - before)


def write_table(path: Path, number_format: str) -> None:
    """Write the table, compressed."""
    X = np.random.default_rng(0).normal(7, 2, (N_GENES, N_SAMPLES))
    with gzip.open(path, "wt", compresslevel=6) as file:
        file.write("\t".join(["gene", *(f"s{i}" for i in range(N_SAMPLES))]) + "\n")
        for gene, row in enumerate(X):
            file.write("\t".join([f"{gene}_at", *(number_format % v for v in row)]) + "\n")


def main(runs: int) -> None:
    """Print the table."""
    matrix_size = N_GENES * N_SAMPLES * 8 / 1e6  # MB
    for name, number_format in NUMBER_FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "e.tsv.gz")
            write_table(path, number_format)
            timings: dict[str, list[list[float]]] = {"pandas": [], "genesig": []}
            for _ in range(runs):
                for reader, figures in timings.items():
                    command = [sys.executable, __file__, "read", reader, str(path)]
                    process = subprocess.run(command, capture_output=True, text=True, check=True)
                    figures.append([float(word) for word in process.stdout.split()])
        medians = {
            reader: [statistics.median(column) for column in zip(*figures, strict=True)]
            for reader, figures in timings.items()
        }
        for reader, (seconds, growth) in medians.items():
            ratio = seconds / medians["pandas"][0]
            print(
                f"{name}, {reader}: {seconds:.2f} s ({ratio:.2f} times pandas), "
                f"{growth:.0f} MB ({growth / matrix_size:.1f} times the matrix)"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        read(*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
