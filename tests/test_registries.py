"""What is to be added is one file, or one function in its file, and one line in a registry."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import getmembers, getmodule, isclass, isfunction, signature
from json import dumps
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
import yaml
from places import ROOT

from genesig.data.files import known, readers
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import number_matrix
from genesig.data.steps import normalise
from genesig.data.steps.alignment import ALIGNERS
from genesig.data.steps.gene_filters import Filter, KeptGenes
from genesig.models import baselines
from genesig.optim import kernels, solvers
from genesig.optim.nonlinear import penalties
from genesig.optim.nonlinear import solvers as nonlinear_solvers
from genesig.optim.structured import solvers as structured_solvers
from genesig.report import data as report_data
from genesig.report.page.measure import MODELS
from genesig.response.design import SEVERAL
from genesig.response.known import RESPONSES, ByKind
from genesig.selection.model import schema

PACKAGE = ROOT / "genesig"
CONFIG = "workflow/schemas/config.schema.yaml"
SCHEMA = yaml.safe_load((ROOT / CONFIG).read_text("utf-8"))
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
        getattr(node.targets[0] if isinstance(node, ast.Assign) else node.target, "id", "")
        for node in TREES[path].body
        if isinstance(node, ast.Assign | ast.AnnAssign)
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
    missing = {end for kind in known.FORMATS for end in kind.suffixes} - endings
    assert not missing, f"config/README.md, table of formats: no row with {sorted(missing)}"


STEPS = SCHEMA["$defs"]["step"]["properties"]["step"]["enum"]
SECTIONS = SCHEMA["properties"]


@pytest.mark.parametrize(
    ("needed", "where", "found"),
    [
        (normalise.NORMALISERS, f"{CONFIG}, $defs.step", STEPS),
        (normalise.NORMALISERS, "genesig/report/data.py, STEPS", report_data.STEPS),
        (
            normalise.NORMALISERS.keys() - {*normalise.MOMENTS},
            "genesig/selection/model/schema.py, STEPS (else no model.json with it can be read)",
            schema.STEPS.keys() - ALIGNERS.keys(),
        ),
        (
            baselines.BASELINES,
            f"{CONFIG}, controls.baselines",
            SECTIONS["controls"]["properties"]["baselines"]["items"]["enum"],
        ),
        (
            penalties.PENALTIES,
            f"{CONFIG}, nonlinear.penalty",
            SECTIONS["nonlinear"]["properties"]["penalty"]["enum"],
        ),
        (
            kernels.KERNELS,
            f"{CONFIG}, nonlinear.kernel",
            SECTIONS["nonlinear"]["properties"]["kernel"]["enum"],
        ),
    ],
    ids=["step", "step, Methods", "step, model", "baseline", "penalty", "kernel"],
)
def test_every_member_stands_where_else_it_must(needed, where, found):
    assert not set(needed) - set(found), f"{where}: no line for {sorted(set(needed) - set(found))}"
    unknown = sorted(set(found) - set(needed))
    assert not unknown, f"{where}: {unknown} does not stand in the registry"


def test_every_baseline_has_its_name_in_the_report():
    missing = sorted(baselines.BASELINES.keys() - MODELS.keys())
    assert not missing, f"genesig/report/page/measure.py, MODELS: no line for {missing}"


def test_the_published_schema_of_models_is_the_one_that_is_checked():
    same = (ROOT / "docs/model.schema.json").read_text(
        "utf-8"
    ) == f"{dumps(schema.SCHEMA, indent=1)}\n"
    assert same, "docs/model.schema.json: write it anew, as docs/CONTRIBUTING.md says"


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


OWN = {kind for kind, each in RESPONSES.items() if each.like is None}
TABLES = {(path, name): getattr(import_module(dotted(path)), name)
          for path in TREES for name in made(path, "ByKind")}  # fmt: skip
TABLES[PACKAGE / "models/baselines.py", "_OWN['dummy']"] = baselines.BASELINES["dummy"]
EXCUSED = {"tables.MEASURES": {SEVERAL}, "patients.OF_BIAS": {"regression"},
           "patients.FOLLOWED": {"classification", SEVERAL, "regression"}}  # fmt: skip
"""Kinds without a line in a table of two classes, of order alone, of times."""


@pytest.mark.parametrize(("path", "name"), TABLES, ids=lambda each: getattr(each, "stem", each))
def test_every_table_has_a_line_for_each_kind_of_response(path, name):
    where, found = f"{path.relative_to(ROOT)}, {name}", set(TABLES[path, name])
    missing = sorted(OWN - found - EXCUSED.get(f"{path.stem}.{name}", set()))
    assert not missing, f"{where}: no line for {missing}; or say in RESPONSES what each is `like`"
    unknown = sorted(found - RESPONSES.keys())
    assert not unknown, f"{where}: {unknown} does not stand in RESPONSES"


def bare_tables(tree: ast.Module) -> list[int]:
    """Return the lines with a dict of two kinds or more that is none of `ByKind`."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    tables = {id(one) for node in calls if getattr(node.func, "id", "") == "ByKind"
              for one in node.args}  # fmt: skip
    kinds = {*map(repr, RESPONSES), "SEVERAL"}
    dicts = (node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    return [node.lineno for node in dicts if id(node) not in tables
            and len(kinds & {ast.unparse(key) for key in node.keys if key}) > 1]  # fmt: skip


def test_a_kind_like_another_can_do_without_a_line_in_each_table():
    known = {PACKAGE / "response/known.py", PACKAGE / "models/baselines.py"}
    found = [f"{path.relative_to(ROOT)}, line {line}" for path in TREES if path not in known
             for line in bare_tables(TREES[path])]  # fmt: skip
    assert not found, f"{found}: write ByKind({{...}}), see genesig/response/known.py"
    text = "a = {'regression': 1, SEVERAL: 2}\nb = ByKind({'regression': 1, SEVERAL: 2})"
    assert bare_tables(ast.parse(text)) == [1]


def test_a_kind_like_another_has_its_lines(monkeypatch):
    monkeypatch.setitem(RESPONSES, "twin", replace(RESPONSES["regression"], like="regression"))
    for table in TABLES.values():
        if "regression" in table:
            assert ByKind(table)["twin"] == table["regression"]
            assert "twin" in ByKind(table)
            assert ByKind(table).get("twin") == table["regression"]
    assert ByKind({"survival": 1}).get("twin", 2) == 2
    assert "twin" not in ByKind({"survival": 1})


def test_every_kind_can_be_asked_for():
    asked = SCHEMA["properties"]["data"]["properties"]["task"]["enum"]
    missing = sorted(RESPONSES.keys() - {SEVERAL} - set(asked))
    assert not missing, f"{CONFIG}, data.task: {missing} is not among the names"
    assert set(asked) <= RESPONSES.keys()


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
    rooms = ["data/study/labels", "selection/assess/kinds", "selection/linear/kinds",
             "selection/model/kinds"]  # fmt: skip
    for room in rooms:
        assert OWN - {path.stem for path in modules(room)} == set(), room
    assert RESPONSES.keys() - {path.stem for path in modules("response")} == set()
