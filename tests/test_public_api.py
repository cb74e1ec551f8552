"""The public names: their examples run, every estimator is among them, a wrong name is refused."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from pkgutil import iter_modules

import pytest
from gathered_study import write_results
from sklearn.base import BaseEstimator

import genesig
from genesig import models

PUBLIC_OBJECTS = {name: getattr(genesig, name) for name in genesig.PUBLIC}


def test_package_lists_its_public_names_and_refuses_others():
    assert set(genesig.PUBLIC) <= set(dir(genesig))
    with pytest.raises(AttributeError, match="no public name 'Studdy'"):
        _ = genesig.Studdy


@pytest.mark.one_in(2)
@pytest.mark.slow_cases(
    "L1L2ClassifierCV",
    "DerivativeClassifier",
    "DerivativeRegressor",
)
@pytest.mark.parametrize("name", genesig.PUBLIC)
def test_example_of_a_public_name_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_results(tmp_path / "mystudy/results")
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(PUBLIC_OBJECTS[name], name, globs=PUBLIC_OBJECTS)
    assert example.examples
    assert not any(doctest.SKIP in line.options for line in example.examples)
    doctest.DebugRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(example)


def test_every_estimator_is_public():
    modules = [
        import_module(f"genesig.models.{module.name}") for module in iter_modules(models.__path__)
    ]
    estimators = {
        name
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, BaseEstimator)
        and hasattr(value, "fit")
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
    assert estimators <= set(genesig.PUBLIC)
    assert len(estimators) >= 17
