"""Imports run downwards only, files are opened in few places, a job starts quickly."""

import ast
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from places import ROOT

PACKAGE = ROOT / "genesig"
SCRIPTS = ROOT / "workflow" / "scripts"

# Each costs a job between a third of a second and several seconds.
HEAVY = ["anndata", "sklearn", "scipy", "numba", "matplotlib", "pandas", "cvxpy", "snakemake"]

# What the jobs that fit, and there are many of them, can do without.
NOT_FOR_FITS = ["anndata", "sklearn", "matplotlib", "pandas", "cvxpy", "snakemake"]

# `load` and `save` are names of the package's own; `savefig` may fill a buffer.
OPENS = {
    *("open", "read_text", "write_text", "read_bytes", "write_bytes"),
    *("read_csv", "to_csv", "loadtxt", "savetxt", "genfromtxt", "fromfile", "tofile"),
    *("savez", "savez_compressed", "memmap", "read_h5ad", "write_h5ad"),
}
NO_FILES = ["StringIO(", "BytesIO(", "os.devnull"]


def test_the_contracts_hold():
    """In a process of its own: import-linter turns off all loggers that there are."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", code, "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == os.EX_OK, done.stdout + done.stderr


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    code = f"import sys; {statement}; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light():
    loaded = loaded_by("import genesig, genesig.results, genesig.errors")
    assert "genesig.results.fits" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("fit", ["linear.double_loop", "nonlinear.loop", "sets.loop"])
def test_a_fit_starts_without_what_it_does_not_need(fit):
    assert loaded_by(f"import genesig.selection.{fit}").isdisjoint(NOT_FOR_FITS)


@pytest.mark.parametrize("fit", ["linear.double_loop", "nonlinear.loop"])
def test_a_fit_of_classes_starts_without_the_subpackages_of_scipy(fit):
    """Each of them imports numpy.f2py: a sixth of a second for every job."""
    assert "numpy.f2py" not in loaded_by(f"import genesig.selection.{fit}")


def test_jobs_that_call_no_compiled_code_start_without_the_compiler():
    """Each of them would wait a fifth of a second for it."""
    names = (
        "controls export gather model normalise null quality read report report_data split validate"
    )
    lines = [(SCRIPTS / f"{name}.py").read_text("utf-8").splitlines() for name in names.split()]
    imports = [line for line in chain(*lines) if line.startswith("from genesig")]
    assert "numba" not in loaded_by("; ".join(imports))


def test_the_last_words_of_a_run_need_no_drawing():
    assert loaded_by("import genesig.report.finished").isdisjoint({"matplotlib", "numba"})


def test_the_data_of_the_report_are_collected_without_drawing():
    assert "matplotlib" not in loaded_by("import genesig.report.collect")


def test_the_control_of_nonlinear_selection_needs_no_estimator():
    code = (
        "import numpy as np; from genesig.optim.feature_vectors import select_feature_vectors;"
        " rng = np.random.default_rng(0); X = rng.normal(size=(20, 6));"
        " select_feature_vectors(X, np.sign(X[:, 0]), n_features=2, bins=4)"
    )
    assert loaded_by(code).isdisjoint(NOT_FOR_FITS)


def opening_calls(path: Path) -> list[str]:
    """Return the calls of a module that open a file, as they are written."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    called = [node for node in nodes if isinstance(node, ast.Call)]
    opening = [c for c in called if getattr(c.func, "attr", getattr(c.func, "id", "")) in OPENS]
    text = [ast.unparse(call) for call in opening]
    return [each for each in text if not any(word in each for word in NO_FILES)]


def may_open(path: Path) -> bool:
    home = path.relative_to(PACKAGE).as_posix()
    return home.startswith("results/") or home in {
        "data/files/content.py",
        "data/files/readers.py",
        "report/render.py",
        "report/methods.py",  # its references
        "log.py",
        "machine.py",
        "compiled/cache.py",  # its own sources
    }


def test_files_are_opened_in_readers_results_and_page_only():
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if not may_open(path)]
    assert len(paths) > 100
    assert {str(path): calls for path in paths if (calls := opening_calls(path))} == {}


def test_the_search_finds_an_open_file(tmp_path):
    module = tmp_path / "module.py"
    module.write_text("pd.read_csv(io.StringIO(text))\npd.read_csv(path)\n")
    assert opening_calls(module) == ["pd.read_csv(path)"]
