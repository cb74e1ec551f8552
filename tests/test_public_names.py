"""What is public: one list, imported when it is used, each name documented."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys

import pytest
from finished_results import write_results
from sklearn.base import BaseEstimator

import genesig
from genesig import models

EVERY = {name: getattr(genesig, name) for name in genesig.PUBLIC}


def test_the_list_is_what_there_is():
    assert set(genesig.__all__) == {"PUBLIC", "__version__", *genesig.PUBLIC}
    assert set(genesig.PUBLIC) <= set(dir(genesig))
    with pytest.raises(AttributeError, match="no public name 'Studdy'"):
        _ = genesig.Studdy


@pytest.mark.parametrize("name", genesig.PUBLIC)
def test_a_public_name_is_what_it_says_and_documented(name):
    found = getattr(genesig, name)
    assert found.__name__ == name
    assert found.__module__ == f"genesig.{genesig.PUBLIC[name]}"
    assert inspect.getdoc(found)


@pytest.mark.parametrize("name", genesig.PUBLIC)
def test_the_example_of_a_public_name_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_results(tmp_path / "mystudy/results")
    found = getattr(genesig, name)
    (example,) = doctest.DocTestFinder(recurse=False).find(found, name, globs=EVERY)
    assert example.examples
    assert not any(doctest.SKIP in each.options for each in example.examples)
    doctest.DebugRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(example)


def test_every_estimator_is_public():
    from importlib import import_module
    from pkgutil import iter_modules

    homes = [import_module(f"genesig.models.{each.name}") for each in iter_modules(models.__path__)]
    found = {
        name for home in homes for name, each in vars(home).items()
        if inspect.isclass(each) and issubclass(each, BaseEstimator) and hasattr(each, "fit")
        and each.__module__ == home.__name__ and not name.startswith("_")
    }  # fmt: skip
    assert found <= set(genesig.PUBLIC)
    assert len(found) >= 17


def test_the_package_imports_nothing_by_itself():
    code = (
        "import sys; before = set(sys.modules); import genesig;"
        " print(*{m for m in set(sys.modules) - before if not m.startswith('genesig')})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"numpy", "pandas", "sklearn", "scipy", "anndata"}
