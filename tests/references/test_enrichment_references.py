"""Enrichment equals GSEApy's: the score of an order, the p-value of a list."""

from __future__ import annotations

import numpy as np
import pandas as pd
from enrichment_by_gseapy import GENES, drawn
from places import ROOT
from scipy.sparse import csr_array

from genesig.selection.enrichment.over import over_represented
from genesig.selection.enrichment.running_sum import peaks

STORED = ROOT / "tests/references/enrichment_by_gseapy.tsv"


def test_scores_and_p_values_are_those_of_gseapy() -> None:
    t, sets, listed = drawn()
    stored = pd.read_csv(STORED, sep="\t")
    ones, indptr = np.ones(sum(map(len, sets))), np.cumsum([0, *map(len, sets)])
    members = csr_array((ones, np.concatenate(sets), indptr), shape=(len(sets), GENES))
    np.testing.assert_allclose(peaks(t, members).score, stored["score"], rtol=1e-10)
    shared = np.array([len(np.intersect1d(listed, some)) for some in sets])
    found = over_represented(shared, np.diff(indptr), len(listed), GENES)
    np.testing.assert_allclose(found, stored["p_value"], rtol=1e-10)
