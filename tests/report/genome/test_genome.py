"""The genome section agrees with its stretches and is absent without gene positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
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
