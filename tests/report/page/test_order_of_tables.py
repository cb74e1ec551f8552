"""The order of a sorted text column, by the script of the page. Needs Chromium or Chrome."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from places import ROOT
from report_checks import BROWSER, found_by

pytestmark = pytest.mark.drawn

NATURAL = [
    "ABL1",
    "b2m",
    "g1",
    "G2",
    "g10",
    "g010",
    "HLA-A",
    "HLA-DRB1",
    "TP53",
    "tp53",
    "1007_s_at",
]
FOREIGN = [
    *NATURAL,
    "β-catenin",
    "Éa2",
    "ea2",
    "ea10",
    "αγ2",
    "αγ10",
    "グロビン",
    "_x",
    "-x",
    "ßa",
    "ssb",
]
TRIED = """
  const order = (values) => ["up", "down"].map((way) =>
    sortedRows({ values, numeric: false }, way === "down").map((row) => values[row]));
  return GIVEN.map((values) =>
    [order(values), values.filter((value) => value).sort(collator.compare)]);
"""


def natural(name):
    """Return the sort key of an ASCII name: lower case, numbers by their size."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(12), name.lower())


@pytest.mark.slow
def test_names_are_sorted_by_their_numbers_and_other_letters_by_a_collator(tmp_path):
    if BROWSER is None:
        pytest.skip("neither Chromium nor Chrome is installed")
    rng = np.random.default_rng(0)
    pools = []
    for pool in (NATURAL, FOREIGN):
        long = [f"{name}{rng.integers(30)}" for name in pool for _ in range(9)]
        mixed = rng.permutation([*pool, *long])
        pools.append([*mixed[:50].tolist(), None, "", *mixed[50:].tolist(), None])
    tables = (ROOT / "genesig/report/page/templates" / "tables.js").read_text(encoding="utf-8")
    script = f"const found = (() => {{{tables}const GIVEN = {json.dumps(pools)};{TRIED}}})();"
    plain, foreign = found_by(script, "<!doctype html><body>", tmp_path)
    for names, ((up, down), full_order) in zip(pools, (plain, foreign), strict=True):
        empty = [name for name in names if not name]
        assert up[-3:] == down[-3:] == empty
        assert down[:-3] == up[:-3][::-1]
        expected = sorted(filter(None, names), key=natural) if names is pools[0] else full_order
        assert up[:-3] == expected
