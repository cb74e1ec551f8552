"""Studies at the edge get a page whatever results are absent."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from places import ROOT
from report_checks import misfits
from report_records import HOSTILE, Study, arguments

from genesig.report.collect import StudyResults, collect
from genesig.report.genes.section import list_lengths
from genesig.report.page import style
from genesig.report.page.charts import confusion
from genesig.report.page.svg import Picture, draw_picture
from genesig.report.page.verdict import Grade, grade
from genesig.report.record import Report
from genesig.report.render import render
from genesig.report.sections import EVIDENCE_SECTIONS, SECTIONS
from genesig.results import Dataset, Design

# Gene sets and covariates are named by a study, decisions taken between classes, lists compared.
OF_OTHER_STUDIES = {
    "classes",
    "decision",
    "survival",
    "genome",
    "enrichment",
    "published",
    "omics",
    "covariates",
    "sets",
}
NOT_EVERYWHERE = {
    "cards",
    "decisions",
    "score-effect",
    "subgroups",
    "performance",
} | OF_OTHER_STUDIES


def whole(inputs):
    return inputs


def only_genesig(inputs):
    controls = inputs["tables"]["controls"]
    inputs["tables"]["controls"] = controls[controls["model"] == "genesig"]
    inputs["tables"]["stability"] = inputs["tables"]["stability"].iloc[:0]
    return inputs


def nothing_defined(inputs):
    tables = inputs["tables"]
    unknown = {
        "controls": ["error", "low", "high", "auc", "auc_low", "auc_high", "p_value"],
        "stability": ["stability", "lasso"],
        "scores": ["misclassification", "balanced_error", "squared_error", "auc"],
    }
    for name, columns in unknown.items():
        tables[name] = tables[name].assign(**dict.fromkeys(columns, np.nan))
    tables["univariate"] = tables["univariate"].assign(p_value=1.0, q_value=1.0)
    inputs["null"]["error"][:] = np.nan
    return inputs


def nothing_selected(inputs):
    for name in ("nested_lists", "blocks", "signature", "frequency_curve", "prototypes"):
        inputs["tables"][name] = inputs["tables"][name].iloc[:0]
    return inputs


def genes(count):
    def cut(inputs):
        for name in ("blocks", "signature", "prototypes"):
            inputs["tables"][name] = inputs["tables"][name].iloc[:count]
        return inputs

    return cut


def constant_genes(inputs):
    inputs["dataset"].X[:, :60] = 1.0
    return inputs


def paths_that_end(inputs):
    """Leave the inner folds without an error where a split's list was too long to be chosen."""
    for key in ("observed", "final"):
        error = inputs[key].grid.error.copy()
        size = inputs[key].grid.n_genes.copy()
        error[0, 2, 4:] = np.nan
        size[0, 2, 4:] = np.nan
        error[:, 1:, 9:] = np.nan
        size[:, 1:, 9:] = np.nan
        grid = replace(inputs[key].grid, error=error, n_genes=size)
        inputs[key] = replace(inputs[key], grid=grid)
    return inputs


def a_class_absent_from_a_fold(inputs):
    scores = inputs["tables"]["scores"]
    is_first_split = scores["split"] == "r1f1"
    scores.loc[is_first_split, ["balanced_error", "auc"]] = np.nan
    return inputs


def none_in_a_block(inputs):
    """Remove every gene but the prototypes from its block."""
    blocks = inputs["tables"]["blocks"]
    is_follower = blocks["gene"] != blocks["prototype"]
    inputs["tables"]["blocks"] = blocks.assign(
        block=blocks["block"].mask(is_follower), score=blocks["score"].mask(is_follower)
    )
    return inputs


def one_point_grid(inputs):
    for key in ("observed", "final"):
        f = inputs[key]
        inputs[key] = replace(
            f,
            choice=f.choice * 0,
            grid=replace(
                f.grid,
                tau=f.grid.tau[:1],
                lam=f.grid.lam[:1],
                searched=f.grid.searched[:1],
                error=f.grid.error[:, :1, :1, :1],
                standard_error=f.grid.standard_error[:, :1, :1, :1],
                n_genes=f.grid.n_genes[:, :1, :1],
                agreement=f.grid.agreement[:, :1, :1],
            ),
        )
    return inputs


def one_mu(inputs):
    for name, table in inputs["tables"].items():
        if "mu" in table:
            rows_of_mu = table[table["mu"].isna() | (table["mu"] == 1e-6)]
            inputs["tables"][name] = rows_of_mu.assign(mu=rows_of_mu["mu"] * 0)
    for key in ("observed", "final"):
        f = inputs[key]
        inputs[key] = replace(
            f,
            mu=np.zeros(1),
            choice=f.choice * [1, 1, 0],
            grid=replace(
                f.grid,
                searched=np.zeros(1),
                error=f.grid.error[:, :1],
                standard_error=f.grid.standard_error[:, :1],
                n_genes=f.grid.n_genes[:, :1],
                agreement=f.grid.agreement[:, :1],
            ),
        )
    inputs["null"]["error"] = inputs["null"]["error"][:, -2:]
    return inputs


ODD_STUDIES = {
    "leave-one-out": (Study(folds=30, repeats=1), whole),
    "leave-one-out-regression": (Study(folds=30, repeats=1, regression=True), whole),
    "many-samples": (Study(samples=400, names=HOSTILE, repeats=1), whole),
    "only-genesig": (Study(), only_genesig),
    "nothing-defined": (Study(), nothing_defined),
    "nothing-selected": (Study(), nothing_selected),
    "one-gene": (Study(), genes(1)),
    "minimal": (Study(minimal=True), whole),
    "minimal-regression": (Study(minimal=True, regression=True), whole),
    "long-lists": (Study(longest=48), whole),
    "paths-that-end": (Study(names=HOSTILE), paths_that_end),
    "a-class-absent-from-a-fold": (Study(), a_class_absent_from_a_fold),
    "no-halves": (Study(subsamples=0), whole),
    "none-in-a-block": (Study(), none_in_a_block),
    "two-genes": (Study(regression=True), genes(2)),
    "constant-genes": (Study(), constant_genes),
    "one-point-grid": (Study(), one_point_grid),
    "one-mu": (Study(), one_mu),
}


@pytest.mark.one_in(6)
@pytest.mark.slow_cases("many-samples")
@pytest.mark.parametrize(("study", "change"), ODD_STUDIES.values(), ids=ODD_STUDIES)
def test_odd_studies_are_what_the_records_say(study, change):
    assert misfits(Report, collect(StudyResults(**change(arguments(study))))) == []


@pytest.mark.slow
@pytest.mark.drawn
@pytest.mark.parametrize(("study", "change"), ODD_STUDIES.values(), ids=ODD_STUDIES)
def test_odd_studies_have_a_page(study, change, tmp_path):
    data = json.loads(
        json.dumps(collect(StudyResults(**change(arguments(study)))), allow_nan=False)
    )
    page = tmp_path / "report.html"
    render(data, page, tmp_path / "figures", title="odd", gene_cards=60, table_rows=10)
    text = page.read_text(encoding="utf-8")
    ids = set(re.findall(r'<(?:section|details class="fold") id="([^"]+)"', text))
    left_out = set(EVIDENCE_SECTIONS) if grade(data) is Grade.NONE else set()
    missing = {"answer", *SECTIONS} - ids - left_out
    if len(list_lengths(data)) < 2:  # nothing to compare
        missing -= {"brevity"}
    assert missing <= NOT_EVERYWHERE | {"external", "studies"}
    assert not ids & left_out
    assert ">nan<" not in text.lower()
    assert ">None<" not in text


@pytest.mark.slow
def test_the_report_of_the_default_data_stays_small(tmp_path):
    matrix = pd.read_csv(ROOT / "resources/golub_expression.tsv.gz", sep="\t", index_col=0)
    obs = pd.read_csv(ROOT / "config/samples.tsv", sep="\t", index_col=0)
    var = pd.DataFrame({"symbol": matrix.index}, index=matrix.index)
    design = Design("class", "classification", ("ALL", "AML"), None, None)
    provenance = {"dropped": [], "steps": [], "inputs": {}, "warnings": []}
    dataset = Dataset(matrix.T.loc[obs.index].to_numpy(), obs, var, design, provenance)
    data = collect(
        StudyResults(**arguments(Study(repeats=4, permutations=100, subsamples=50), dataset))
    )
    page = tmp_path / "report.html"
    render(data, page, tmp_path / "figures", title="t", gene_cards=12, table_rows=500)
    assert page.stat().st_size < 8e6


@pytest.mark.drawn
def test_the_page_knows_every_colour_of_the_figures():
    css = (ROOT / "genesig/report/page/templates/page.css").read_text(encoding="utf-8")
    known_colours = {
        style.INK,
        style.MUTED,
        style.RULE,
        style.PAPER,
        style.GENESIG_COLOUR,
        style.GREY,
    }
    known_colours |= set(style.CLASS_COLOURS) | set(style.BLOCK_COLOURS)
    for colour in known_colours:
        assert f'[fill="{colour}"]' in css, colour
        assert f'[stroke="{colour}"]' in css, colour


@pytest.mark.drawn
def test_the_axis_labels_of_a_square_figure_stay_inside_it():
    """Its axes move when they are made square, after the labels were given room."""
    draw = partial(confusion, [[10, 0], [0, 10]], ["healthy control", "rheumatoid arthritis"])
    words = {"title": "t", "description": "d", "caption": "c", "data": {}}
    svg = draw_picture(Picture("square", draw, **words)).svg
    place = re.search(r'transform="translate\(([-\d.]+) [-\d.]+\) rotate\(-90\)"[^>]*>true<', svg)
    place = place or re.search(r'rotate\(-90 ([-\d.]+) [-\d.]+\)"[^>]*>true<', svg)
    assert place is not None
    assert float(place[1]) > 7
