"""The parts of the page and their numbers."""

from __future__ import annotations

from genesig.report.page.section import Section, outline


def test_parts_after_the_summary_are_numbered_from_2_without_gaps():
    sections = [Section(part, part, part=part) for part in ("patients", "genes", "patients")]
    parts = outline(sections)
    assert [(part.key, part.number) for part in parts] == [("genes", "2"), ("patients", "3")]
    assert [len(part.sections) for part in parts] == [1, 2]
