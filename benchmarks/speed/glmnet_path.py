"""Path of glmnet by warm starts, timed inside R."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).with_name("path_by_glmnet.R")


def glmnet(
    Z: np.ndarray, y: np.ndarray, tau: np.ndarray, mu: float, thresh: float = 1e-7
) -> tuple[np.ndarray, float]:
    """Return the coefficients (d,) at the last tau and the processor seconds of the path.

    thresh: glmnet's tolerance, by default its own. ImportError without R or the package.
    """
    if shutil.which("Rscript") is None:
        raise ImportError("R is not installed")
    # glmnet scales y to a root mean square of 1, which changes the weight of the ridge term.
    lam = tau / 2 + mu * np.sqrt(np.mean(y**2))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arrays = {"z": Z.T, "y": y, "lambda": lam, "alpha": tau[-1:] / 2 / lam[-1]}
        for part, numbers in arrays.items():
            np.ascontiguousarray(numbers, dtype="<f8").tofile(folder / f"{part}.bin")
        command = ["Rscript", str(SCRIPT), name, *map(str, Z.shape), str(thresh)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            raise ImportError(process.stderr.strip())
        return np.fromfile(folder / "b.bin"), float(process.stdout.split()[-1])
