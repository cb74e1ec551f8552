"""The enrichment section agrees with its numbers and is absent without gene sets."""

from __future__ import annotations

import re
from typing import Any

import pytest
from drawn_figures import curves, dots, labels, rows_have_room, segments, y_ticks
from matplotlib.colors import to_hex
from report_records import HOSTILE, Study, arguments

from genesig.report.collect import TOPIC_TABLES, StudyResults, collect, tables_in
from genesig.report.enrichment import collect_enrichment, draw_ranking, enrichment_section
from genesig.report.methods import methods, references
from genesig.report.page.record import TopicResults
from genesig.report.page.section import Limits
from genesig.report.page.style import NEGATIVE, POSITIVE
from genesig.report.page.svg import draw_picture

LIMITS = Limits(12, 500)


def collected_enrichment(study: Study | None = None, **changes: Any) -> Any:
    inputs = arguments(study or Study(enriched=True, permutations=19))
    for name, value in changes.items():
        table = inputs["tables"][name]
        inputs["tables"][name] = table.assign(family_p=value)
    return collect(StudyResults(**inputs))


def words(data: Any) -> str:
    return " ".join(enrichment_section(data, LIMITS).words).replace("\u00a0", " ")


def test_the_words_say_which_sets() -> None:
    data = collected_enrichment(enrichment=0.01, enrichment_ranking=0.001)
    enrichment_data = data["enrichment"]
    text = words(data)
    assert "Among selected genes (lists of the splits, " in text
    enriched = (
        f" {enrichment_data['n_enriched']} of 16 sets have more genes than by chance. They are"
    )
    assert enriched in text
    assert f"{enrichment_data['chosen'][0]['set']} (" in text
    assert "expected, p over all sets 0.01)" in text
    assert "Among all genes, 16 of 16 sets exceed chance: " in text
    assert "sets of 2 to 500 measured genes" in text


def test_no_enriched_set_is_stated() -> None:
    text = words(collected_enrichment(enrichment=0.9, enrichment_ranking=0.9))
    assert "none of 16 sets is enriched; " in text
    assert "the smallest p over all sets is 0.9." in text
    assert re.search(
        r"none of 16 sets exceeds chance; nearest to it: .*, p over all sets 0\.9\)", text
    )


def test_of_several_classes_no_set_is_higher_in_a_class() -> None:
    data = collected_enrichment()
    data["study"]["classes"] = ["ALL-B", "ALL-T", "AML"]
    caption = enrichment_section(data, LIMITS).items[0].caption
    for text in (words(data), caption):
        assert "difference between classes" in text
        assert "higher in" not in text
    assert "left" not in caption


@pytest.mark.slow
def test_too_few_permutations_are_stated() -> None:
    inputs = arguments(Study(enriched=True))
    for count, expected_words in (
        (0, "was not tested"),
        (18, "at least 19 permutations (18 were run)"),
        (19, "of 16 sets"),
    ):
        inputs["config"]["controls"]["permutations"] = count
        assert expected_words in words(collect(StudyResults(**inputs))).split(".")[0]


def test_a_number_has_no_classes() -> None:
    text = words(
        collected_enrichment(Study(enriched=True, regression=True), enrichment_ranking=0.001)
    )
    assert "with a larger class, " in text


def test_methods_tell_the_tests() -> None:
    data = collected_enrichment()
    assert any("Westfall" in text for text in methods(data))
    assert any(text.startswith("Westfall") for text in references(data))


def test_page_without_sets_has_no_enrichment() -> None:
    data = collected_enrichment(Study())
    assert data["enrichment"] is None
    assert enrichment_section(data, LIMITS) is None
    assert not set(TOPIC_TABLES["enrichment"].read) & set(data["tables"])
    assert not any("Westfall" in text for text in methods(data))
    names = TOPIC_TABLES["enrichment"].read
    assert tables_in(dict.fromkeys(names, "x.tsv")) == list(names)


@pytest.mark.slow
def test_names_do_no_harm_and_an_empty_signature_is_no_fault() -> None:
    section = enrichment_section(collected_enrichment(Study(enriched=True, names=HOSTILE)), LIMITS)
    assert "<script" not in draw_picture(section.items[0]).svg
    assert words(collected_enrichment(Study(enriched=True, empty=True)))


def test_the_page_holds_the_beginning_of_long_lists() -> None:
    inputs = arguments(Study(enriched=True))
    inputs["tables"]["enrichment_ranking"]["leading"] = ", ".join(["GENE1"] * 400)
    packed = collect(StudyResults(**inputs))["tables"]["enrichment_ranking"]
    place = packed["columns"].index("leading")
    assert all(len(row[place]) <= 100 for row in packed["rows"])


def test_sizes_are_those_of_the_file_that_was_taken() -> None:
    inputs = arguments(Study(enriched=True))
    inputs["config"]["enrichment"]["sets"] = None
    inputs["config"]["structured"] |= {"sets": "own.gmt", "smallest": 7, "largest": 70}
    assert "own.gmt, sets of 7 to 70 measured genes" in words(collect(StudyResults(**inputs)))


def test_the_lists_have_no_size_if_none_was_chosen() -> None:
    inputs = arguments(Study(enriched=True))
    tables = inputs["tables"]
    tables = tables | {"enrichment": tables["enrichment"].iloc[:0]}
    results = TopicResults(inputs["dataset"], inputs["splits"], tables, inputs["config"])
    summary = collect_enrichment(results)
    assert summary["size"] == 0


def test_ranking_draws_each_set_to_the_side_of_its_genes_and_fills_small_p() -> None:
    rows: Any = [
        {"set": "SET_A", "higher": True, "normalised": 3.5, "p": 0.01},
        {"set": "SET_B", "higher": False, "normalised": 2.0, "p": 0.05},
        {"set": "SET_C", "higher": False, "normalised": 1.5, "p": 0.06},
        {"set": "SET_D", "higher": True, "normalised": -0.4, "p": 0.9},
    ]
    (ax,) = draw_ranking(rows).axes
    up = to_hex(POSITIVE)
    down = to_hex(NEGATIVE)
    ends = [3.5, -2.0, -1.5, 0.0]
    colours = [up, down, down, up]
    lines = [([[0, y, end, y]], colours[y]) for y, end in enumerate(ends)]
    assert segments(ax) == lines
    faces = [up, down, "none", "none"]
    assert dots(ax) == [([[end, y]], faces[y]) for y, end in enumerate(ends)]
    edges = [to_hex(dot.get_edgecolor()[0]) for dot in ax.collections[1::2]]
    assert edges == colours
    assert y_ticks(ax) == {"SET A": 0, "SET B": 1, "SET C": 2, "SET D": 3}
    bottom, top = ax.get_ylim()
    assert top < 0 < 3 < bottom
    shown_p = {text: y for text, (x, y) in labels(ax).items() if x > 1}  # beside the axes
    assert shown_p == {"p 0.01": 0, "p 0.05": 1, "p 0.06": 2, "p 0.9": 3}
    assert [set(curve[:, 0]) for curve in curves(ax)] == [{0}]


def test_names_of_ranked_sets_do_not_overlap() -> None:
    row: Any = {"higher": True, "normalised": 1.0, "p": 0.5}
    assert rows_have_room(draw_ranking([row | {"set": f"SET_{k}"} for k in range(12)]))
