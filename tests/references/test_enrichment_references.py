"""The p-value of a list in a draw of genes equals GSEApy's."""

from __future__ import annotations

import numpy as np
import pandas as pd
from enrichment_by_gseapy import N_GENES, drawn
from places import ROOT

from genesig.selection.enrichment import hypergeometric_p

STORED = ROOT / "tests/references/enrichment_by_gseapy.tsv"


def test_enrichment_p_values_equal_gseapy() -> None:
    _, sets, listed = drawn()
    stored = pd.read_csv(STORED, sep="\t")
    shared = np.array([len(np.intersect1d(listed, members)) for members in sets])
    p_values = hypergeometric_p(
        shared, np.array([len(members) for members in sets]), len(listed), N_GENES
    )
    np.testing.assert_allclose(p_values, stored["p_value"], rtol=1e-10)
