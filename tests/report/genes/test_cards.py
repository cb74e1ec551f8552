"""The numbers of gene cards equal other computations."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from report_records import HOSTILE, Study, arguments
from scipy.stats import pearsonr, ttest_ind, ttest_rel
from sklearn.metrics import roc_auc_score
from study_data import study_of

from genesig.report.collect import StudyResults, collect
from genesig.report.genes.cards import (
    DOT_RADIUS,
    MEASURE_OF_TEST,
    class_or_label,
    direction_text,
    draw_values,
    folded_measure,
    single_gene_measure,
    text_with_interval,
)
from genesig.report.genes.collect import MEASURES_OF_TEST, replacement_genes, selection_matrix
from genesig.report.page.section import Limits
from genesig.report.page.style import GENESIG_COLOUR, PAPER
from genesig.report.page.svg import SVG
from genesig.report.page.words import gene_anchor, percent
from genesig.report.sections import SECTIONS
from genesig.selection.genes.univariate import Units, units


def measured(gene_units, gene=0, side=0):
    return MEASURES_OF_TEST[gene_units.test](gene_units, gene_units.X[:, gene], side)


def test_two_classes_have_the_auc_and_the_difference_of_their_means():
    gene_units = units(study_of("classification", 3))
    separation, effect = measured(gene_units)
    up = gene_units.X[gene_units.y > 0, 0]
    down = gene_units.X[gene_units.y < 0, 0]
    assert separation[0] == pytest.approx(roc_auc_score(gene_units.y, gene_units.X[:, 0]))
    limits = ttest_ind(up, down, equal_var=False).confidence_interval()
    assert effect == pytest.approx((up.mean() - down.mean(), limits.low, limits.high))


def test_one_of_several_classes_stands_against_the_others():
    gene_units = units(study_of("several_classes", 3))
    separation, effect = measured(gene_units, side=2)
    assert separation[0] == pytest.approx(roc_auc_score(gene_units.y == 2, gene_units.X[:, 0]))
    assert effect[0] == pytest.approx(
        gene_units.X[gene_units.y == 2, 0].mean() - gene_units.X[gene_units.y != 2, 0].mean()
    )


def test_a_number_has_the_correlation_and_the_change_with_it():
    gene_units = units(study_of("regression", 3))
    separation, effect = measured(gene_units)
    correlation = pearsonr(gene_units.X[:, 0], gene_units.y)
    limits = correlation.confidence_interval()
    assert separation == pytest.approx((correlation.statistic, limits.low, limits.high))
    z = (gene_units.y - gene_units.y.mean()) / gene_units.y.std()
    assert effect[0] == pytest.approx(np.polyfit(z, gene_units.X[:, 0], 1)[0])
    assert effect[1] < effect[0] < effect[2]


def test_survival_has_c_and_the_hazard_ratio():
    linear_model = pytest.importorskip("sksurv.linear_model")
    gene_units = units(study_of("survival", 3))
    separation, effect = measured(gene_units)
    x = gene_units.X[:, :1] / gene_units.X[:, 0].std()
    y = np.empty(len(x), dtype=[("e", bool), ("t", float)])
    y["e"] = gene_units.y["event"]
    y["t"] = gene_units.y["time"]
    fit = linear_model.CoxPHSurvivalAnalysis(ties="efron").fit(x, y)
    assert effect[0] == pytest.approx(np.exp(fit.coef_[0]), rel=1e-5)
    c = fit.score(x, y)
    assert separation[0] == pytest.approx(c if fit.coef_[0] > 0 else 1 - c)


def test_pairs_are_counted_and_their_differences_averaged():
    rng = np.random.default_rng(1)
    a = rng.normal(size=12)
    b = rng.normal(0.8, 1, 12)
    x = np.column_stack([a, b]).ravel()
    y = np.tile([-1.0, 1.0], 12)
    gene_units = Units(x[:, None], y, np.repeat(np.arange(12), 2), "differences")
    separation, effect = measured(gene_units)
    assert separation[0] == pytest.approx(np.mean(b > a))
    limits = ttest_rel(b, a).confidence_interval()
    assert effect == pytest.approx((np.mean(b - a), limits.low, limits.high))


@pytest.mark.parametrize("test", MEASURES_OF_TEST)
def test_a_gene_that_never_differs_is_no_error(test):
    kind = {
        "welch": "classification",
        "anova": "several_classes",
        "differences": "classification",
        "correlation": "regression",
        "score": "survival",
    }[test]
    y = study_of(kind, 3).response()
    gene_units = Units(np.ones((len(y), 1)), y, np.arange(len(y)), test)
    for value, low, high in MEASURES_OF_TEST[test](gene_units, gene_units.X[:, 0], 0):
        assert np.isnan(low) or low <= value <= high


def test_a_gene_is_replaced_by_those_of_the_lists_without_it():
    dataset = study_of("classification", 3, d=5)
    lists = np.zeros((8, 5), dtype=bool)
    lists[:4, 0] = True
    lists[4:, 1] = True
    lists[3, 1] = True
    lists[:, 2] = True
    lists[4, 3] = True
    (only,) = replacement_genes(dataset, lists, 0)
    assert only["gene"] == "g1"
    assert (only["in_lists_without_gene"], only["in_lists_with_gene"]) == ([4, 4], [1, 4])
    assert only["r"] == pytest.approx(np.corrcoef(dataset.X[:, 0], dataset.X[:, 1])[0, 1], abs=1e-3)
    assert replacement_genes(dataset, lists, 2) == []  # in every list
    assert replacement_genes(dataset, lists, 4) == []  # in none
    assert replacement_genes(dataset, lists[:6], 0) == []  # two lists without it
    lists[1, 1] = True
    lists[7, 1] = False
    assert replacement_genes(dataset, lists, 0) != []  # 3 of 4 against 2 of 4
    lists[0, 1] = True
    assert replacement_genes(dataset, lists, 0) == []  # 3 of 4 against 3 of 4


def test_lists_are_those_of_splits_and_halves():
    inputs = arguments(Study())
    is_selected = selection_matrix(inputs["observed"], inputs["halves"], 120)
    assert len(is_selected) == 10 + 6
    full_fits = inputs["observed"].with_chosen()
    assert set(np.flatnonzero(is_selected[3])) == set(full_fits.chosen_coef(3)[0])
    assert len(selection_matrix(inputs["observed"], None, 120)) == 10


@pytest.mark.parametrize("study", [Study(names=HOSTILE), Study(regression=True)])
def test_a_card_says_what_the_tables_say(study):
    inputs = arguments(study)
    data = json.loads(json.dumps(collect(StudyResults(**inputs))))
    section = SECTIONS["cards"](data, Limits(3, 10))
    cards = section.items
    signature = inputs["tables"]["signature"]
    assert [card.key for card in cards] == [gene_anchor(g) for g in signature["gene"][:3]]
    for card in cards:
        assert re.fullmatch(r"gene-[A-Za-z0-9-]+", card.key)
        assert "<script" not in card.svg
        assert card.svg.startswith("<svg")
    for card, card_data in zip(cards, data["cards"]["genes"], strict=False):
        gene_measure = single_gene_measure(data)
        value = gene_measure.format_number(folded_measure(data, card_data)["value"])
        heading = gene_measure.heading.format(class_or_label(data, card_data))
        assert dict(card.pairs)[heading].startswith(value)
    total = data["answer"]["size"]
    assert f"The first 3 of {total} genes are shown." in section.words[0]
    assert section.folded


def test_card_of_gene_with_symbol_is_named_after_it():
    inputs = arguments(Study())
    signature = inputs["tables"]["signature"]
    symbols = ["TP53", *[""] * (len(signature) - 1)]
    inputs["tables"]["signature"] = signature.assign(symbol=symbols)
    cards = SECTIONS["cards"](collect(StudyResults(**inputs)), Limits(2, 10)).items
    assert [card.name for card in cards] == ["TP53", signature["gene"][1]]
    assert cards[0].subtitle.startswith(signature["gene"][0])
    assert signature["gene"][1] not in cards[1].subtitle


@pytest.mark.parametrize("study", [Study(), Study(regression=True)])
def test_a_number_that_is_lower_is_said_so_and_read_from_the_middle_up(study):
    data = collect(StudyResults(**arguments(study)))
    card = dict(data["cards"]["genes"][0])
    gene_measure = single_gene_measure(data)
    card["separation"] = {"value": 0.03, "low": 0.0, "high": 0.12}
    card["effect"] = {"value": -1.0, "low": None, "high": None}
    if gene_measure.is_folded:
        assert direction_text(data, card) == "lower in tumour"
        assert folded_measure(data, card) == {"value": 0.97, "low": 0.88, "high": 1.0}
    card["separation"] = {"value": 0.97, "low": 0.88, "high": 1.0}
    assert direction_text(data, card) == "in no clear direction"  # order and size disagree
    card["effect"] = {"value": 1.0, "low": None, "high": None}
    words = "higher in tumour" if gene_measure.is_folded else "rises with class"
    assert direction_text(data, card) == words
    for value in (gene_measure.middle, None):
        card["separation"] = {"value": value, "low": None, "high": None}
        assert direction_text(data, card) == ""


@pytest.mark.parametrize("test", MEASURE_OF_TEST)
def test_each_measure_has_a_definition_and_two_ways(test):
    gene_measure = MEASURE_OF_TEST[test]
    assert len(set(gene_measure.directions)) == 2
    assert gene_measure.help
    assert set(MEASURE_OF_TEST) == set(MEASURES_OF_TEST)


@pytest.mark.parametrize("study", [Study(), Study(regression=True)])
def test_the_names_of_a_card_stand_where_its_dots_are(study):
    data = collect(StudyResults(**arguments(study)))
    values = data["strips"][0]["values"]
    svg, marks = draw_values(values, data["study"], None, "w")
    starts = re.findall(r"M(-?[\d.]+) (-?[\d.]+)a", svg)
    drawn = sorted((round(float(x) + DOT_RADIUS, 1), round(float(y), 1)) for x, y in starts)
    assert marks["names"] == data["study"]["response"]["name"]
    assert np.allclose(drawn, sorted(zip(marks["x"], marks["y"], strict=True)), atol=0.11)
    left_edge, top, right, bottom = marks["box"]
    assert left_edge < min(marks["x"])
    assert max(marks["x"]) < right
    assert top <= min(marks["y"])
    assert max(marks["y"]) < bottom
    order = np.argsort(values)
    assert np.all(np.diff(np.array(marks["y"])[order]) <= 0)


def drawn_values(values, response, classes=None, events=None):
    """Return names, numbers of the paths and (x, y, text) of the texts in the picture of a card."""
    study = {
        "classes": classes,
        "response": {"value": response, "name": [f"s{k}" for k in range(len(values))]},
        "label": "age",
    }
    svg, marks = draw_values(values, study, events, "w")
    root = ET.fromstring(svg)
    paths = [
        (path.get("fill"), [float(text) for text in re.findall(r"-?[\d.]+", path.get("d"))])
        for path in root.iter(f"{SVG}path")
    ]
    texts = {
        text.text: (float(text.get("x")), float(text.get("y"))) for text in root.iter(f"{SVG}text")
    }
    return marks, paths, texts


def test_a_card_has_the_quartiles_of_each_class_at_the_height_of_its_values():
    values = [0.0, 1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 5.0]
    response = [-1] * 5 + [1] * 2 + [-1]
    marks, (_, *paths), texts = drawn_values(values, response, ["well", "ill"])
    at_zero, at_twenty = marks["y"][0], marks["y"][6]

    def height(value):
        return at_zero + (at_twenty - at_zero) * value / 20

    assert at_twenty < at_zero  # upwards
    np.testing.assert_allclose(marks["y"], list(map(height, values)), atol=0.06)
    left, _, right, _ = marks["box"]
    boxes = [numbers for fill, numbers in paths if fill == "none"]
    middles = left + (right - left) * np.array([0.25, 0.75])
    for (start, high, stop, low, _, _, middle, _), centre, rows in zip(
        boxes, middles, ([0, 1, 2, 3, 4, 7], [5, 6]), strict=True
    ):
        quartiles = np.quantile(np.array(values)[rows], [0.25, 0.5, 0.75])
        np.testing.assert_allclose([low, middle, high], list(map(height, quartiles)), atol=0.06)
        assert (start + stop) / 2 == pytest.approx(centre, abs=0.06)
        dots = np.array(marks["x"])[rows]
        assert start < dots.min()
        assert dots.max() < stop
        assert len(set(dots)) == len(dots)
        assert stop - start < (right - left) / 2
    for label, centre in zip(("well (6)", "ill (2)"), middles, strict=True):
        assert texts[label][0] == pytest.approx(centre, abs=0.06)
    ticks = {float(text): y for text, (_, y) in texts.items() if text.isdigit()}
    assert list(ticks) == [0, 5, 10, 15, 20]
    for value, y in ticks.items():
        assert y - 3 == pytest.approx(height(value), abs=0.1)  # letters stand on their base line
    alone = drawn_values(values, [-1] * 7 + [1], ["well", "ill"])[1][1:]
    assert sum(fill == "none" for fill, _ in alone) == 1  # a single sample has no quartiles


def test_a_card_of_times_has_open_dots_for_censored_samples_at_their_times():
    values = [1.0, 3.0, 2.0]
    marks, (_, *paths), texts = drawn_values(values, [10.0, 20.0, 50.0], None, [True, False, True])
    assert [fill for fill, _ in paths] == [PAPER, GENESIG_COLOUR]
    first, second, last = marks["x"]
    assert (second - first) / (last - first) == pytest.approx(0.25, abs=0.01)
    open_x = paths[0][1][0] + DOT_RADIUS
    assert open_x == pytest.approx(second, abs=0.1)
    ticks = {float(text): x for text, (x, _) in texts.items() if text in ("20", "40")}
    assert ticks[20] == pytest.approx(second, abs=0.1)
    assert (ticks[40] - first) / (last - first) == pytest.approx(0.75, abs=0.01)
    assert marks["box"][0] < texts["age"][0] < marks["box"][2]


def test_equal_values_have_a_tick():
    marks, _, texts = drawn_values([2.0, 2.0], [-1, 1], ["well", "ill"])
    assert np.isfinite(marks["y"]).all()
    assert "2" in texts


def test_a_card_has_the_share_of_each_class_that_misses_the_gene():
    inputs = arguments(Study())
    dataset = inputs["dataset"]
    first_gene = inputs["tables"]["signature"]["gene"].iloc[0]
    low = np.flatnonzero(dataset.response() < 0)[:3]
    X = dataset.X.copy()
    X[low, dataset.genes.index(first_gene)] = np.nan
    steps = {"summaries": [{"step": "half_minimum", "logarithms": True}]}
    inputs["dataset"] = replace(dataset, X=X, provenance={**dataset.provenance, **steps})
    data = json.loads(json.dumps(collect(StudyResults(**inputs))))
    first_card, second_card = data["cards"]["genes"][:2]
    assert second_card["missing"] is None
    size = int((dataset.response() < 0).sum())
    assert first_card["missing"] == [pytest.approx(3 / size, abs=1e-4), 0]
    cards = SECTIONS["cards"](data, Limits(3, 10)).items[:2]
    lacking, complete = (dict(card.pairs) for card in cards)
    negative, positive = data["study"]["classes"]
    share = percent(first_card["missing"][0])
    assert lacking["Missing"] == f"{share} of {negative}; 0% of {positive}"
    assert "Missing" not in complete


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (1.06, 0.712, 1.4, "1.06 (0.71–1.40)"),
        (-0.0034, -0.5, 0.52, "−0.003 (−0.500 to 0.520)"),
        (12.3, 1.05, 2400, "12.3 (1.1–2400.0)"),
        (1234.5, 12, 5000, "1234 (12–5000)"),
        (0.00021, 0.0001, 0.0003, "0.00021 (0.0001–0.0003)"),
        (-1.5, None, None, "−1.50"),
        (-1.5, None, 0.2, "−1.50"),
        (-1.5, -9.0, None, "−1.50"),
        (None, None, None, "–"),
    ],
)
def test_a_number_and_its_limits_have_as_many_decimals(value, low, high, text):
    value_record = {"value": value, "low": low, "high": high}
    assert text_with_interval(value_record) == text
