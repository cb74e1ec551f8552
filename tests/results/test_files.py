"""Files of results are written whole and never over an input."""

import numpy as np
import pytest

from genesig.errors import InvalidInput
from genesig.results import load_arrays, save_arrays
from genesig.results.files import check_output, save_text


@pytest.mark.parametrize("size", [0, 10, 300])
def test_truncated_array_file_is_named(tmp_path, size):
    save_arrays(tmp_path / "a.npz", {"x": np.arange(99.0)})
    (tmp_path / "a.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:size])
    with pytest.raises(
        InvalidInput, match=r"a\.npz: is damaged; delete it and run the study again"
    ):
        load_arrays(tmp_path / "a.npz")


def test_output_over_an_input_is_refused(tmp_path):
    for name in ("model.json", "new.tsv"):
        (tmp_path / name).write_text("x")
    (tmp_path / "link.tsv").symlink_to("model.json")
    inputs = [str(tmp_path / "model.json"), str(tmp_path / "new.tsv"), ""]
    check_output(tmp_path / "predictions.tsv", inputs)
    for name, message in {
        "model.json": "is read here",
        "link.tsv": "is read here",
        "none/p.tsv": "its folder is not",
        ".": "is a folder",
    }.items():
        with pytest.raises(InvalidInput, match=message):
            check_output(tmp_path / name, inputs)


def test_output_through_a_link_writes_its_target(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real/p.tsv").write_text("old")
    for name, target in (("link.tsv", "real/p.tsv"), ("new.tsv", "real/new.tsv")):
        (tmp_path / name).symlink_to(target)
        save_text(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / target).read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.tsv", "new.tsv", "real"]
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["new.tsv", "p.tsv"]
