"""RMA against Bioconductor: real arrays in every form, and every step of it by itself."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from array_files import transcript_files
from published import SHARED
from rma import rma, sets_of

from genesig.data.files.affy.folder import find_arrays, find_layout, read_arrays
from genesig.data.files.affy.layouts import parse_cdf
from genesig.data.files.readers import read_unpacked
from genesig.data.steps.median_polish import MedianPolish, Quantile, RmaBackground

AFFY = SHARED / "affy"
real_arrays = pytest.mark.skipif(not AFFY.is_dir(), reason="the shared data are not here")
# The text form has one decimal, the binary ones 32 bits: affy's results differ in the same digits.
FORMS = {"Test3_ascii_v3": "ascii_v3", "Test3_xda_v4": "calvin", "Test3_calvin": "calvin"}


def table(name):
    return pd.read_csv(Path(__file__).with_name(f"{name}.tsv"), sep="\t")


@pytest.mark.one_in(2)
@real_arrays
@pytest.mark.parametrize("layout", ["Test3.ascii.CDF", "Test3.xda.CDF"])
@pytest.mark.parametrize("form", FORMS)
def test_rma_is_affys_on_real_arrays(form, layout):
    files = find_arrays(AFFY / form)
    expected = pd.read_csv(AFFY / f"Test3_{FORMS[form]}_rma_affy.tsv", sep="\t")
    assert [f"{name}.CEL" for name in files] == list(expected.columns)
    probes = read_arrays(files, AFFY / layout, read_unpacked)
    sets = sets_of(probes.names)
    summarised = pd.DataFrame(rma(probes.X, sets).T, index=list(dict.fromkeys(sets)))
    assert set(summarised.index) == set(expected.index)
    np.testing.assert_allclose(summarised.loc[expected.index], expected, rtol=0, atol=1e-12)


@real_arrays
def test_transcript_clusters_are_summarised_as_probe_sets(tmp_path):
    """The layout of the CDF file, each set cut into probe sets of at most four probes."""
    cdf = parse_cdf((AFFY / "Test3.xda.CDF").read_bytes(), "f")
    cells = {name: cdf.cells[cdf.sets == k].tolist() for k, name in enumerate(cdf.names)}
    clusters = {name: [c[k : k + 4] for k in range(0, len(c), 4)] for name, c in cells.items()}
    size = cdf.n_columns, cdf.n_rows
    files = transcript_files(clusters, [[0, 1]], *size, chip="Test3")
    for name, content in zip(("t.pgf", "t.clf", "t.mps"), files, strict=True):
        (tmp_path / name).write_bytes(content)
    probes = read_arrays(find_arrays(AFFY / "Test3_calvin"), tmp_path / "t.pgf", read_unpacked)
    sets = sets_of(probes.names)
    summarised = pd.DataFrame(rma(probes.X, sets).T, index=list(dict.fromkeys(sets)))
    expected = pd.read_csv(AFFY / "Test3_calvin_rma_affy.tsv", sep="\t")
    assert set(summarised.index) == set(expected.index)
    np.testing.assert_allclose(summarised.loc[expected.index], expected, rtol=0, atol=1e-12)


@real_arrays
@pytest.mark.parametrize("layout", ["Test3.ascii.CDF", "Test3.xda.CDF"])
def test_probes_stand_in_the_order_of_makecdfenv(layout):
    cdf = parse_cdf((AFFY / layout).read_bytes(), layout)
    probes = pd.DataFrame({"set": np.array(cdf.names, dtype=object)[cdf.sets], "cell": cdf.cells})
    probes["weighted"] = (probes.groupby("set").cumcount() + 1) * (probes["cell"] + 1)
    probe_sets = probes.groupby("set").agg(probes=("cell", "size"), places=("weighted", "sum"))
    expected = table("probes_by_makecdfenv").set_index("set")
    pd.testing.assert_frame_equal(probe_sets, expected, check_like=True)


@real_arrays
def test_folder_without_layout_names_the_chip_needed():
    folder = AFFY / "HG-Focus_calvin"
    with pytest.raises(Exception, match=r"2 arrays of chip 'HG-Focus' but no CDF file; put HG-F"):
        find_layout(folder, list(find_arrays(folder).values()), read_unpacked)


def test_background_and_summary_equal_preprocesscore():
    published = table("rma_by_preprocesscore")
    X, corrected, summary = (published.filter(regex=f"^{k}[0-9]").to_numpy().T for k in "xbs")
    np.testing.assert_allclose(RmaBackground().transform(X), corrected, rtol=1e-12)
    sets = published["set"].astype(str)
    np.testing.assert_allclose(rma(X, list(sets)), summary[:, ~sets.duplicated()], rtol=1e-13)


def test_training_arrays_keep_their_polished_value_up_to_the_polish():
    published = table("rma_by_preprocesscore")
    corrected = published.filter(regex="^b[0-9]").to_numpy().T
    by = list(published["set"].astype(str))
    even = Quantile.fit(corrected).transform(corrected)
    stored = MedianPolish.fit(even, by=by)
    polished = published.filter(regex="^s[0-9]").to_numpy().T[:, stored.genes]
    # The polish stops at a change of 1 % of the residuals, which are about 1 in log2 units here.
    difference = np.abs(stored.transform(even) - polished)
    assert np.median(difference) < 1e-3
    assert difference.max() < 0.2
