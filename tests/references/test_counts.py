"""RNA-seq counts: real ones by the formula, and what is no count."""

import numpy as np
import pandas as pd
import pytest
from published import SHARED

from genesig.data.steps.normalise import fit_steps
from genesig.errors import GenesigError

STEP = [{"step": "log_cpm", "prior": 0.5}]


def test_a_count_becomes_its_share_of_a_million_by_hand():
    done = fit_steps(np.eye(2), STEP).transform(np.array([[1.0, 3, 0], [0, 0, 2]]))
    expected = [[250000.5, 750000.5, 0.5], [0.5, 0.5, 1000000.5]]
    np.testing.assert_allclose(2**done, expected, rtol=1e-14)


def test_depth_of_real_libraries_is_taken_off():
    path = SHARED / "counts" / "pasilla_gene_counts.tsv"
    if not path.exists():
        pytest.skip("the shared data are not here")
    counts = pd.read_csv(path, sep="\t", index_col=0).to_numpy(float).T
    fitted = fit_steps(counts, STEP)
    done = fitted.transform(counts)
    np.testing.assert_allclose((2**done - 0.5).sum(axis=1), 1e6)
    np.testing.assert_allclose(fitted.transform(7 * counts), done, rtol=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [([[3.0, -1]], "not all 0; found -1"), ([[1.0, 2], [0, 0]], "one sample has only zeros")],
)
def test_what_is_no_count_is_refused(rows, message):
    with pytest.raises(GenesigError, match=rf"normalise\.samples: log_cpm .*{message}"):
        fit_steps(np.array(rows), STEP).transform(np.array(rows))


@pytest.mark.parametrize(("samples", "kept"), [(0.2, [0, 1]), (0.4, [0]), (1.0, [0])])
def test_a_gene_is_detected_in_enough_samples(samples, kept):
    X = np.array([[9.0, 9, 5], [9, 1, 5], [9, 1, 5], [9, 1, 5], [9, 1, 5]])
    step = {"step": "detection_filter", "above": 5, "samples": samples}
    np.testing.assert_array_equal(fit_steps(X, [step]).genes, kept)
