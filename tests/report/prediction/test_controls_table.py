"""The table of methods starts with the chosen lists; other methods follow by error."""

from __future__ import annotations

import pandas as pd
import pytest
from report_records import kind_arguments
from study_data import COLUMNS

from genesig.report.collect import StudyResults, collect
from genesig.report.page.section import Limits
from genesig.report.page.svg import Picture
from genesig.report.page.tables import WRITERS, Table
from genesig.report.patients import next_study_section, score_effect_section
from genesig.report.prediction.section import _auc_text, controls_section

LIMITS = Limits(12, 500)
KINDS_OF_TABLES = tuple(COLUMNS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", KINDS_OF_TABLES)
def test_the_chosen_lists_come_first_then_other_methods_then_lists_at_each_mu(kind):
    inputs = kind_arguments(kind)
    controls = inputs["tables"]["controls"]
    chosen_row = controls[controls["mu"].isna()].iloc[:1]
    added = [
        chosen_row.assign(model=name, error=chosen_row["error"] + much)
        for name, much in (("ridge", 0.1), ("lasso", -0.05))
    ]
    inputs["tables"]["controls"] = pd.concat([added[0], controls, added[1]], ignore_index=True)
    data = collect(StudyResults(**inputs))
    (table,) = [item for item in controls_section(data, LIMITS).items if isinstance(item, Table)]
    keys = [column.key for column in table.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in table.rows]
    chosen_row = [row["model"].value == "genesig" for row in rows]
    n_others = chosen_row.count(False)
    assert rows[0]["mu"].text == "chosen"
    assert chosen_row == [True] + [False] * n_others + [True] * (len(chosen_row) - n_others - 1)
    record = data["tables"]["controls"]
    errors = {
        row[record["columns"].index("model")]: row[record["columns"].index("error")]
        for row in record["rows"]
    }
    errors_shown = [errors[row["model"].value] for row in rows[1 : 1 + n_others]]
    assert errors_shown == sorted(errors_shown)
    assert n_others == 2
    mu = [row["mu"].value for row in rows[1 + n_others :]]
    assert mu == sorted(mu)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"ridge": 0.2}, "No other method scored higher than genesig."),
        (
            {"ridge": 0.01, "lasso": 0.02},
            "2 other methods scored higher, but no difference is clear",
        ),
        (
            {"ridge": 0.01, "lasso": 0.2},
            "1 other method scored higher, but no difference is clear: the 95% CI of the paired",
        ),
        ({"ridge": -0.01, "lasso": 0.2}, "the paired difference: ridge, all genes. The best of 2"),
        ({"ridge": -0.01}, "the paired difference: ridge, all genes."),
        ({"dummy": -0.01}, None),
    ],
)
def test_section_names_methods_whose_paired_difference_excludes_0(limits, expected):
    inputs = kind_arguments("classification")
    controls = inputs["tables"]["controls"]
    row = controls[controls["mu"].isna()].iloc[:1]
    added = [
        row.assign(model=name, difference=high - 0.1, difference_high=high)
        for name, high in limits.items()
    ]
    is_genesig = controls["model"].str.startswith("genesig")
    inputs["tables"]["controls"] = pd.concat([controls[is_genesig], *added], ignore_index=True)
    text = " ".join(controls_section(collect(StudyResults(**inputs)), LIMITS).words)
    if expected is None:
        assert "paired difference" not in text
    else:
        assert expected in text
        assert ("looks better than it is" in text) == (len(limits) > 1)


@pytest.mark.parametrize("has_genesig", [True, False])
def test_methods_are_drawn_only_beside_genesig(has_genesig):
    inputs = kind_arguments("classification")
    controls = inputs["tables"]["controls"]
    is_genesig = controls["model"].str.startswith("genesig")
    inputs["tables"]["controls"] = controls[is_genesig]
    data = collect(StudyResults(**inputs))
    if not has_genesig:
        data["tables"]["controls"]["rows"] = []
    items = controls_section(data, LIMITS).items
    assert any(isinstance(item, Picture) for item in items) == has_genesig


@pytest.mark.parametrize("kind", KINDS_OF_TABLES)
def test_a_table_of_one_row_is_left_to_its_sentence_and_file(kind):
    data = collect(StudyResults(**kind_arguments(kind)))
    for section in (score_effect_section(data, LIMITS), next_study_section(data, LIMITS)):
        assert section is None or all(len(item.rows) > 1 for item in section.items)
        assert section is None or not section.items or section.files


def test_a_symbol_with_its_name_is_the_symbol_alone():
    write = WRITERS["symbol"]
    assert write("CST3 Cystatin C (amyloid angiopathy)") == "CST3"
    assert write("CYSTATIN A") == "CYSTATIN A"
    assert len(write("C-myb gene extracted from Human (c-myb) gene, complete primary cds")) <= 40


@pytest.mark.parametrize("rows", [[], [["genesig", None, None]]], ids=["no row", "no value"])
def test_an_auc_without_a_value_is_called_not_defined(rows):
    controls_table = {"columns": ["model", "mu", "auc"], "rows": rows}
    assert _auc_text({"tables": {"controls": controls_table}}) == "AUC not defined"
