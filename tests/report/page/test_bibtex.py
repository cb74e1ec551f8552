"""Every reference has a BibTeX entry with its fields."""

from __future__ import annotations

import re

from report_records import Study, arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.methods import bibtex, references


def test_an_article_has_its_fields():
    (entry,) = bibtex(
        ["De Mol C, Mosci S & Verri A (2009). A 100% method. J Comput Biol 16."]
    ).split("\n\n")
    assert entry == (
        "@article{De2009,\n"
        "  author = {De Mol, C and Mosci, S and Verri, A},\n"
        "  title = {{A 100\\% method}},\n"
        "  year = {2009},\n"
        "  journal = {J Comput Biol},\n"
        "  volume = {16}\n"
        "}"
    )


def test_what_is_no_article_is_kept():
    text = bibtex(["Mosci S (2009). PhD thesis, University of Genoa: nested lists.", "odd & more"])
    assert "@misc{Mosci2009" in text
    assert "title = {{PhD thesis, University of Genoa: nested lists}}" in text
    assert "note = {odd \\& more}" in text


def test_every_reference_of_a_full_study_has_an_entry_of_its_own():
    inputs = arguments(Study(sets=True))
    cohorts = [make_about(inputs["dataset"], "a", combat=True)]
    lines = references(collect(StudyResults(**inputs, external=cohorts)))
    entries = bibtex(lines).split("\n\n")
    keys = re.findall(r"^@\w+\{([^,]+),", "\n".join(entries), re.MULTILINE)
    assert len(set(keys)) == len(entries) == len(lines) > 10
    assert not any("note" in entry for entry in entries)
    for entry in entries:
        assert entry.count("{") - entry.count("\\{") == entry.count("}") - entry.count("\\}")
