"""Names that a spreadsheet would compute are marked in our tables, and read back as they are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genesig.cli import main
from genesig.data.files.readers import read_samples
from genesig.results import load_table, save_table
from genesig.results.files import mark_formula, unmark_formula

SIGNS = st.text(st.sampled_from("'=+-@\t\r1ea "), max_size=6)


@given(st.one_of(SIGNS, st.text()))
def test_name_is_read_back_unchanged(name: str) -> None:
    assert unmark_formula(mark_formula(name)) == name


@given(SIGNS)
def test_no_cell_is_a_formula(name: str) -> None:
    """What begins with such a sign is a number, or the sign alone."""
    written = mark_formula(name)
    if written[:1] in ("=", "+", "-", "@", "\t", "\r"):
        assert len(written) == 1 or float(written) == float(name)


CELLS = ["TP53", "-1", "+2.5", "-1e-3", "-", "+", "'", "it's", "1-Mar", "", "a=b"]
MARKED = ["=1+1", '=HYPERLINK("a")', "+A1", "-A1", "@SUM(1)", "'=1", "''-x", "\t=1", "-5p", "--1"]


@pytest.mark.parametrize("name", CELLS)
def test_other_names_and_numbers_are_untouched(name: str) -> None:
    assert mark_formula(name) == name == unmark_formula(name)


@pytest.mark.parametrize("name", MARKED)
def test_a_formula_gets_an_apostrophe(name: str) -> None:
    assert mark_formula(name) == f"'{name}"


def test_a_table_is_read_back_with_its_names(tmp_path: Path) -> None:
    names = [*CELLS, *MARKED]
    table = pd.DataFrame({"gene": names, "score": range(len(names)), "symbol": None})
    save_table(tmp_path / "t.tsv", table)
    lines = (tmp_path / "t.tsv").read_text().splitlines()
    assert lines[1 : 1 + len(CELLS)] == [f"{n or ''}\t{k}\t" for k, n in enumerate(CELLS)]
    reread = load_table(tmp_path / "t.tsv", ("gene",))
    assert reread["gene"].fillna("").tolist() == names
    assert reread["score"].tolist() == list(range(len(names)))


def test_sample_table_prepared_by_init_is_read_back(tmp_path: Path) -> None:
    """A stranger's matrix, whose sample names the user opens in a spreadsheet."""
    samples = ["=cmd|' /C calc'!A0", "-1", "S3", "@x"]
    rows = [["gene", *samples], *([f"g{k}", *map(str, range(k, k + 4))] for k in range(9))]
    (tmp_path / "e.tsv").write_text("\n".join("\t".join(row) for row in rows))
    assert main(["init", str(tmp_path / "s"), "-e", str(tmp_path / "e.tsv")]) == 0
    written = (tmp_path / "s/samples.tsv").read_text()
    assert not any(line.startswith(("=", "@")) for line in written.splitlines())
    table = read_samples(tmp_path / "s/samples.tsv", None, None)
    assert table.index.tolist() == samples
