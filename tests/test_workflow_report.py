"""Every figure and table of `snakemake --report` has a caption."""

from __future__ import annotations

import re

import pytest
from places import ROOT

TABLE_CAPTIONS = (ROOT / "workflow/report/table.rst").read_text(encoding="utf-8")
CAPTIONED_TABLES = set(re.findall(r'^"(\w+)": "', TABLE_CAPTIONS, re.MULTILINE))
# What a job hands to the next, and what stands in folders of its own.
NOT_SHOWN = {"baselines", "null_cv_frequency", "times/jobs"}


def documented() -> set[str]:
    """Return the tables that the documentation of the results names."""
    text = (ROOT / "docs/reference/results.md").read_text(encoding="utf-8")
    text += (ROOT / "docs/how_to/gene_sets.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return set(re.findall(r"`([\w/]+)\.tsv`", " ".join(rows)))


def test_every_table_of_the_documentation_has_a_caption():
    assert len(documented()) > 20
    assert documented() - NOT_SHOWN <= CAPTIONED_TABLES


def test_every_shown_table_has_a_caption():
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    tables_shown = set(re.findall(r'shown\("(\w+)"\)', rules))
    gathered = re.search(
        r'GATHERED_TABLES = \(\n\s*"([^"]+)"', (ROOT / "workflow/rules/common.smk").read_text()
    )
    assert tables_shown | set(gathered[1].split()) <= CAPTIONED_TABLES
    assert len(tables_shown) > 4


@pytest.mark.parametrize("name", ["figure", "table", "report"])
def test_every_caption_is_used_by_a_rule(name):
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    assert f"../report/{name}.rst" in rules
