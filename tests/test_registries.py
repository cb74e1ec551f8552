"""One line in a registry adds a format, a step or a kind; .ci/structure.py checks the lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from genesig.data.files import readers
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import number_matrix
from genesig.data.steps import normalise
from genesig.data.study.label_rules import LABEL_RULES
from genesig.models.baselines import BASELINES
from genesig.report.page.measure import MEASURES
from genesig.response.kinds import RESPONSES, ByKind
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.linear.kinds import FITTINGS
from genesig.selection.model.kinds import MODEL_KINDS


def test_format_with_a_line_in_the_registry_is_read(tmp_path, monkeypatch):
    new = Format("a new file", lambda text, place, part: number_matrix("g", "s", [[len(text)]]))
    monkeypatch.setitem(readers.READERS, ".new", new)
    (tmp_path / "e.new").write_text("12345")
    assert readers.read_matrix(tmp_path / "e.new").cells.tolist() == [[5.0]]


@dataclass(frozen=True)
class Halve:
    parts: float
    kind: ClassVar[str] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X):
        return X / self.parts


def test_step_with_a_line_in_the_registry_is_fitted_and_restored(monkeypatch):
    monkeypatch.setitem(normalise.NORMALISERS, "halve", Halve)
    steps = [{"step": "halve", "parts": 2.0}, {"step": "centre"}]
    normalise.check_steps(samples=steps[:1], folds=steps)
    X = np.arange(6.0).reshape(2, 3)
    fitted = normalise.fit_steps(X, steps)
    restored = normalise.Reference.from_state(fitted.state())
    np.testing.assert_array_equal(restored.transform(X), [[-0.75] * 3, [0.75] * 3])


TABLES = {
    "labels": LABEL_RULES,
    "baseline": BASELINES["dummy"],
    "measures": MEASURES,
    "assessment": ASSESSMENT_KINDS,
    "fit": FITTINGS,
    "model": MODEL_KINDS,
}


@pytest.mark.parametrize("table", TABLES)
def test_derived_kind_has_the_registry_lines_of_its_base(table, monkeypatch):
    monkeypatch.setitem(RESPONSES, "twin", replace(RESPONSES["regression"], like="regression"))
    lines = ByKind(TABLES[table])
    assert lines["twin"] == lines["regression"]
    assert "twin" in lines
    assert lines.get("twin") == lines["regression"]


def test_derived_kind_is_absent_where_its_base_is_absent(monkeypatch):
    monkeypatch.setitem(RESPONSES, "twin", replace(RESPONSES["regression"], like="regression"))
    assert ByKind({"survival": 1}).get("twin", 2) == 2
    assert "twin" not in ByKind({"survival": 1})
