"""A file of random bytes in any format gives messages and no exception."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from format_files import WRITERS, Numbers, agilent, cls, gct12, tabbed
from places import TESTS
from spoiled_bytes import FORMATS, answers

EIGHT_SAMPLES = Numbers(samples=[f"GSM{k}" for k in range(8)])
SHEET = tabbed(
    [["sample", "class"], *zip(EIGHT_SAMPLES.samples, EIGHT_SAMPLES.labels, strict=True)]
)
FILES: dict[str, Callable[[Numbers], str | bytes]] = {
    **WRITERS,
    "classes.cls": cls,
    "array.txt": lambda numbers: agilent(numbers, 0),
    "r.rda": lambda numbers: (TESTS / "references" / "r_objects.rda").read_bytes(),
}
ITSELF = ("GSE1_series_matrix.txt", "GSE1_family.soft", "GDS1.soft", "new.gct", "e.h5ad")


@pytest.mark.parametrize("name", FILES)
def test_spoiled_files_end_in_messages(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name.endswith(".rda"):
        pytest.importorskip("rdata")
    monkeypatch.chdir(tmp_path)
    content = FILES[name](EIGHT_SAMPLES)
    expression = "old.gct" if name.endswith(".cls") else name
    samples = name if name in ITSELF or name.endswith(".cls") else "s.tsv"
    label = "class" if samples.endswith((".tsv", ".gct", ".cls", ".h5ad")) else "disease state"
    config = {
        "expression": expression,
        "samples": samples,
        "label": label,
        "data": {"annotation": name if name in ITSELF[1:] else None},
    }
    Path("old.gct").write_text(gct12(EIGHT_SAMPLES))
    Path("s.tsv").write_text(SHEET)
    Path("config.yaml").write_text(yaml.safe_dump(config))
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert 1 in answers(Path(name), FORMATS, 6, capsys)
