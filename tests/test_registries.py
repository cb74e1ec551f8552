"""What is to be added is one file, or one function in its file, and one line in a registry."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import getmembers, getmodule, isclass, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
import yaml
from places import ROOT

from genesig.data.cohorts.read import TRANSLATED
from genesig.data.files import known, readers
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import number_matrix
from genesig.data.steps import normalise
from genesig.data.steps.gene_filters import Filter, KeptGenes
from genesig.data.study.labels.known import LABELS
from genesig.models import baselines
from genesig.optim import kernels, solvers
from genesig.optim.nonlinear import penalties
from genesig.optim.nonlinear import solvers as nonlinear_solvers
from genesig.optim.structured import solvers as structured_solvers
from genesig.report.answer.collect import ERROR
from genesig.report.page.measure import MEASURES, MODELS
from genesig.report.prediction.methods import LOSSES
from genesig.response.known import RESPONSES
from genesig.selection.assess.held import LEFT
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.genes.univariate import TESTS
from genesig.selection.linear.kinds.known import FITTED
from genesig.selection.model.kinds.known import MODELLED
from genesig.selection.studies.left_out import MEASURED
from genesig.selection.studies.meta_analysis import EFFECTS

PACKAGE = ROOT / "genesig"
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text("utf-8"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}


def modules(folder: str) -> list[Path]:
    return sorted(p for p in (PACKAGE / folder).glob("*.py") if p.name != "__init__.py")


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of what a file imports by name."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def importers(module: str, name: str) -> list[str]:
    """Return the files of the package that import a name of a module."""
    return [dotted(path) for path in sorted(TREES) if (module, name) in imports(path)]


def made(path: Path, maker: str) -> list[str]:
    """Return the names that a module gives to what it makes, at its top, by calling `maker`."""
    return [
        node.targets[0].id
        for node in TREES[path].body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == maker
    ]


def test_a_format_is_one_file_and_one_line():
    found = [
        (dotted(path), name)
        for path in modules("data/files/formats")
        for name in made(path, "Format")
    ]
    assert len(found) >= 7
    for module, name in found:
        assert importers(module, name) == ["genesig.data.files.known"]
        assert [kind for kind in known.FORMATS if kind is getattr(known, name)] != []
    assert len({kind.name for kind in known.FORMATS}) == len(known.FORMATS)
    assert all(kind.suffixes or kind.opening for kind in known.FORMATS)


def test_a_new_format_needs_its_line_only(tmp_path, monkeypatch):
    new = Format("a new file", lambda text, where, part: number_matrix("g", "s", [[len(text)]]))
    monkeypatch.setitem(known.READERS, ".new", new)
    (tmp_path / "e.new").write_text("12345")
    assert readers.read_matrix(tmp_path / "e.new").cells.tolist() == [[5.0]]


def steps_in(path: Path) -> Iterator[str]:
    """Yield the classes of a file that say that they are steps of a study."""
    for node in TREES[path].body:
        if isinstance(node, ast.ClassDef):
            said = {n.target.id: ast.unparse(n.annotation) for n in node.body
                    if isinstance(n, ast.AnnAssign)}  # fmt: skip
            if any(f"'{kind}'" in said.get("kind", "") for kind in ("sample", "fold", "batch")):
                yield node.name


def test_a_normaliser_is_one_file_and_one_line():
    found = {name: path for path in modules("data/steps") for name in steps_in(path)}
    # One class for all filters, and what any of them is when it is fitted.
    assert {Filter.__name__, KeptGenes.__name__} <= found.keys()
    classes = [each.__name__ for each in normalise.NORMALISERS.values() if isclass(each)]
    assert sorted(classes) == sorted(found.keys() - {"Filter", "KeptGenes"})
    for name in classes:
        assert importers(dotted(found[name]), name) == ["genesig.data.steps.normalise"], name


def test_every_format_stands_in_the_table_of_formats():
    text = (ROOT / "config/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| ([^|]*\.[^|]*) \|", text, re.MULTILINE)
    endings = {word.lower() for row in rows for word in row.split()}
    assert {end for kind in known.FORMATS for end in kind.suffixes} <= endings


def test_every_step_can_be_asked_for():
    assert set(SCHEMA["$defs"]["step"]["properties"]["step"]["enum"]) == set(normalise.NORMALISERS)


def test_every_baseline_and_penalty_can_be_asked_for_and_has_its_name_in_the_report():
    sections = SCHEMA["properties"]
    asked = sections["controls"]["properties"]["baselines"]["items"]["enum"]
    assert set(asked) == baselines.BASELINES.keys() <= MODELS.keys()
    asked = sections["nonlinear"]["properties"]["penalty"]["enum"]
    assert set(asked) == penalties.PENALTIES.keys()


@dataclass(frozen=True)
class Halve:
    parts: float
    kind: ClassVar[str] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X):
        return X / self.parts


def test_a_new_normaliser_needs_its_line_only(monkeypatch):
    monkeypatch.setitem(normalise.NORMALISERS, "halve", Halve)
    steps = [{"step": "halve", "parts": 2.0}, {"step": "centre"}]
    normalise.check_steps(samples=steps[:1], folds=steps)
    X = np.arange(6.0).reshape(2, 3)
    fitted = normalise.fit_steps(X, steps)
    again = normalise.Reference.of(fitted.state())
    np.testing.assert_array_equal(again.transform(X), [[-0.75] * 3, [0.75] * 3])


def functions(module: ModuleType, returned: str) -> set[str]:
    """Return the public functions of a module with this annotation of what they return."""
    return {
        name
        for name, each in getmembers(module, isfunction)
        if getmodule(each) is module
        and not name.startswith("_")
        and signature(each).return_annotation == returned
    }


@pytest.mark.parametrize(
    ("module", "returned", "registry"),
    [
        (penalties, "Penalty", penalties.PENALTIES.values()),
        (kernels, "Kernel", kernels.KERNELS.values()),
        (
            nonlinear_solvers,
            "tuple[Multipliers, int]",
            nonlinear_solvers.SOLVERS.values(),
        ),
        (
            structured_solvers,
            "Minimisers",
            [structured_solvers.structured_path, *structured_solvers.SOLVERS.values()],
        ),
        (
            baselines,
            "Array",
            [f for each in baselines.BASELINES.values() for f in each.values()],
        ),
    ],
    ids=["penalty", "kernel", "nonlinear solver", "structured solver", "baseline"],
)
def test_each_function_of_the_kind_stands_in_its_registry(module, returned, registry):
    assert functions(module, returned) == {each.__name__ for each in registry}


def test_each_file_of_the_linear_solvers_has_one_that_the_registry_knows():
    files = {dotted(path) for path in modules("optim/solvers")}
    assert {each.__module__ for each in solvers.SOLVERS.values()} == files


KINDS: dict[str, Mapping[str, object]] = {
    "response": RESPONSES,
    "labels": LABELS,
    "cohorts": TRANSLATED,
    "fitted": FITTED,
    "assessed": ASSESSED,
    "dummy": baselines.BASELINES["dummy"],
    "beside covariates": LEFT,
    "model": MODELLED,
    "single genes": TESTS,
    "studies, effects": EFFECTS,
    "studies, left out": MEASURED,
    "page": MEASURES,
    "page, its answer": ERROR,
    "page, Methods": LOSSES,
}


@pytest.mark.parametrize("floor", KINDS)
def test_every_floor_knows_the_same_kinds_of_response(floor):
    assert sorted(KINDS[floor]) == sorted(RESPONSES)


def compared_kinds(tree: ast.Module) -> list[str]:
    """Return the comparisons in which the name of a kind of response stands."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.match_case))
    return [
        ast.unparse(node)
        for node in found
        for each in ast.walk(node.pattern if isinstance(node, ast.match_case) else node)
        if isinstance(each, ast.Constant) and each.value in RESPONSES
    ]


def test_what_a_kind_does_stands_in_its_record_and_in_no_comparison():
    found = {dotted(path): compared_kinds(tree) for path, tree in TREES.items()}
    assert {where: compared for where, compared in found.items() if compared} == {}


def test_the_search_finds_comparisons():
    text = "if a == 'regression' or b in ('classification', 1): pass\nc = {'regression': 2}"
    assert len(compared_kinds(ast.parse(text))) == 2


def test_a_kind_is_one_file_and_one_line_on_each_floor():
    rooms = ["response", "data/study/labels", "selection/assess/kinds", "selection/linear/kinds"]
    for room in rooms:
        files = {path.stem for path in modules(room)}
        assert set(RESPONSES) <= files
