"""The genome section agrees with its stretches and is absent without gene positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_figures import boxes, curves, labels, named_points, segments, x_ticks
from matplotlib.colors import to_hex
from report_records import HOSTILE, Study, arguments

from genesig.report.collect import TOPIC_TABLES, StudyResults, collect, tables_in
from genesig.report.genome import (
    chromosome_order,
    chromosome_starts,
    draw_genome,
    genome_section,
)
from genesig.report.methods import methods, references
from genesig.report.page.section import Limits
from genesig.report.page.style import NEGATIVE, POSITIVE
from genesig.report.page.svg import draw_picture

LIMITS = Limits(12, 500)


def collected_genome(study: Study | None = None, **linear: Any) -> Any:
    inputs = arguments(study or Study(placed=True))
    inputs["config"]["linear"] |= linear
    return collect(StudyResults(**inputs))


def test_chromosomes_stand_as_people_count_them() -> None:
    names = ["chrX", "chr10", "chr2", "MT", "scaffold_7", "chrY", "1"]
    assert sorted(names, key=chromosome_order) == [
        "1",
        "chr2",
        "chr10",
        "chrX",
        "chrY",
        "MT",
        "scaffold_7",
    ]
    data = collected_genome()
    assert [chromosome["name"] for chromosome in data["genome"]["chromosomes"][-2:]] == [
        "chr22",
        "chrX",
    ]


def test_every_selected_gene_with_a_place_is_shown_once() -> None:
    data = collected_genome()
    genome_data = data["genome"]
    lists = arguments(Study(placed=True))["tables"]["nested_lists"]
    chosen = set(lists["gene"][lists["mu"].isna()])
    genes_shown = [entry["gene"] for entry in genome_data["places"]]
    assert len(genes_shown) == len(set(genes_shown)) == genome_data["total"] <= len(chosen)
    assert sum(entry["genes"] for entry in genome_data["chromosomes"]) == 115
    often = [entry["cv_frequency"] for entry in genome_data["places"]]
    assert often == sorted(often, reverse=True)


def test_the_words_name_the_largest_stretches() -> None:
    data = collected_genome()
    words = " ".join(genome_section(data, LIMITS).words).replace("\u00a0", " ")
    genome_data = data["genome"]
    assert f"The final model has {genome_data['n_stretches']} stretches of at most" in words
    assert genome_data["stretches"][0]["first"] in words
    assert "each of its two ends as much as 2 more" in words
    assert "each of its two ends" not in " ".join(
        genome_section(collected_genome(penalty="l1"), LIMITS).words
    )


def test_methods_tell_the_norm_and_cite_it() -> None:
    data = collected_genome()
    text = " ".join(methods(data))
    assert "sparse fused lasso (Tibshirani et al. 2005)" in text
    assert "active-set Newton" not in text
    assert any(line.startswith("Tibshirani R, Saunders") for line in references(data))
    plain = collected_genome(penalty="l1")
    assert "fused" not in " ".join([*methods(plain), *references(plain)])
    assert "active-set Newton" in " ".join(methods(plain))


def test_page_without_places_has_no_genome_section() -> None:
    data = collected_genome(Study())
    assert data["genome"] is None
    assert genome_section(data, LIMITS) is None
    assert "stretches" not in data["tables"]
    names = TOPIC_TABLES["genome"].read
    assert tables_in(dict.fromkeys(names, "x.tsv")) == list(names)


@pytest.mark.one_in(2)
@pytest.mark.drawn
@pytest.mark.parametrize("study", [Study(placed=True, empty=True), Study(placed=True, genes=8)])
def test_odd_studies_are_drawn(study: Study) -> None:
    section = genome_section(collected_genome(study), LIMITS)
    assert section.words
    if study.empty:
        assert section.words[0] == "The final model has no gene."


@pytest.mark.slow
def test_names_do_no_harm() -> None:
    section = genome_section(collected_genome(Study(placed=True, names=HOSTILE)), LIMITS)
    assert "<script" not in draw_picture(section.items[0]).svg


def test_chromosomes_do_not_overlap() -> None:
    chromosomes = [{"name": str(k), "end": float(k), "genes": 1} for k in range(1, 6)]
    starts, width = chromosome_starts(chromosomes)
    ends = starts + np.arange(1, 6)
    assert (starts[1:] > ends[:-1]).all()
    assert width == ends[-1]


def test_names_of_stretches_on_a_single_chromosome_do_not_overlap() -> None:
    positions = (10.0, 11.0, 80.0)
    names = [f"gene_{position:.0f}" for position in positions]
    record: Any = {
        "chromosomes": [{"name": "1", "end": 100.0, "genes": 3}],
        "places": [
            {"gene": name, "symbol": name, "chromosome": 0, "position": position}
            | {"cv_frequency": 1.0, "size": 1.0}
            for name, position in zip(names, positions, strict=True)
        ],
        "stretches": [
            {"chromosome": "1", "start": position, "end": position, "genes": 1, "first": name}
            for name, position in zip(names, positions, strict=True)
        ],
    }
    contribution_axes, _ = draw_genome(record, frequency_threshold=0.5).axes
    assert [text.get_text() for text in contribution_axes.texts] == ["gene_10", "gene_80"]


def test_figure_draws_genes_and_names_of_chromosomes_at_their_places() -> None:
    ends = {"chr1": 100.0, "chr2": 2.0, "chr3": 2.0, "chrX": 60.0}
    genes = [  # name, number of the chromosome, position on it, size, CV frequency
        ("g1", 0, 10.0, 2.0, 0.9),
        ("g2", 0, 14.0, -3.0, 0.4),
        ("g3", 2, 1.0, 0.5, 0.8),
        ("g4", 3, 30.0, -1.0, 1.0),
        ("g5", 0, 30.0, 6.0, 0.1),  # in no stretch
    ]
    record: Any = {
        "chromosomes": [{"name": name, "end": end, "genes": 1} for name, end in ends.items()],
        "places": [
            {"gene": name, "symbol": name, "chromosome": number, "position": position}
            | {"size": size, "cv_frequency": frequency}
            for name, number, position, size, frequency in genes
        ],
        "stretches": [
            {"chromosome": "chr1", "start": 10.0, "end": 14.0, "genes": 2}
            | {"first": "g1", "last": "g2"},
            {"chromosome": "chrX", "start": 30.0, "end": None, "genes": 1, "first": "g4"},
            {"chromosome": None, "start": None, "end": None, "genes": 1, "first": "g6"},
        ],
    }
    figure = draw_genome(record, frequency_threshold=0.75)
    contribution_axes, frequency_axes = figure.axes
    starts, width = chromosome_starts(record["chromosomes"])
    x = [starts[number] + position for _, number, position, *_ in genes]
    for ax in figure.axes:
        shaded = [(left, right) for left, _, right, _ in boxes(ax)]
        assert shaded == [(starts[k], starts[k] + list(ends.values())[k]) for k in (0, 2)]
        low, high = ax.get_xlim()
        assert -0.05 * width < low < 0 < width < high < 1.05 * width
    falling, rising = segments(contribution_axes)
    assert falling == ([[x[1], 0, x[1], -3], [x[3], 0, x[3], -1]], to_hex(NEGATIVE))
    bars = [[x[0], 0, x[0], 2], [x[2], 0, x[2], 0.5], [x[4], 0, x[4], 6]]
    assert rising == (bars, to_hex(POSITIVE))
    ((bars, _),) = segments(frequency_axes)
    assert bars == [[at, 0, at, gene[4]] for at, gene in zip(x, genes, strict=True)]
    for ax, column in ((contribution_axes, 3), (frequency_axes, 4)):
        ((names, points),) = named_points(ax)
        assert names == [gene[0] for gene in genes]
        assert points == [[at, gene[column]] for at, gene in zip(x, genes, strict=True)]
    (threshold,) = curves(frequency_axes)
    assert set(threshold[:, 1]) == {0.75}
    assert labels(frequency_axes)["75%"][1] == 0.75
    low, high = frequency_axes.get_ylim()
    assert (low, high >= 1) == (0, True)
    low, high = contribution_axes.get_ylim()
    assert -6 < low < -4  # room for names
    assert 7 < high < 9
    # chr3 has no room for its name: its middle is 2% of the width behind that of chr2.
    middles = [starts[k] + end / 2 for k, end in enumerate(ends.values())]
    assert x_ticks(frequency_axes) == {"1": middles[0], "2": middles[1], "X": middles[3]}
    notes = {text.get_text(): text.xy for text in contribution_axes.texts}
    assert notes == {"g1 to g2": (starts[0] + 12, -3), "g4": (starts[3] + 30, -1)}
    sides = [text.get_verticalalignment() for text in contribution_axes.texts]
    assert sides == ["top", "top"]  # below the bars
