"""Whatever a file of any format holds, the answer is lines for people: no exception."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from format_files import (
    Numbers,
    agilent,
    cls,
    data_set,
    family,
    gct12,
    gct13,
    genomestudio,
    h5ad,
    series_matrix,
    tabbed,
)
from places import TESTS

from genesig.cli import main

NUMBERS = Numbers(samples=[f"GSM{k}" for k in range(8)])
SHEET = tabbed([["sample", "class"], *zip(NUMBERS.samples, NUMBERS.labels, strict=True)])
R_OBJECTS = (TESTS / "references" / "r_objects.rda").read_bytes()
PIECES = [
    b"", b"\t", b"\n", b'"', b"\0", b"\xff", b"-", b"1e999", b"1", b"0", b"GSM1", b"g1", b"!",
    b"^SAMPLE = GSM1\n", b"!sample_table_begin\n", b"!series_matrix_table_end\n", b"=", b"#1.3\n",
    b"DATA\t", b"FEATURES\t", b"AVG_Signal", b"[Header]\n",
]  # fmt: skip
FILES: dict[str, Callable[[], str | bytes]] = {
    "GSE1_series_matrix.txt": lambda: series_matrix(NUMBERS),
    "family.soft": lambda: family(NUMBERS),
    "gds.soft": lambda: data_set(NUMBERS),
    "old.gct": lambda: gct12(NUMBERS),
    "new.gct": lambda: gct13(NUMBERS),
    "classes.cls": lambda: cls(NUMBERS),
    "profile.txt": lambda: genomestudio(NUMBERS),
    "array.txt": lambda: agilent(NUMBERS, 0),
    "e.h5ad": lambda: h5ad(NUMBERS),
    "r.rda": lambda: R_OBJECTS,
}
ITSELF = ("GSE1_series_matrix.txt", "family.soft", "gds.soft", "new.gct", "e.h5ad")


def _spoil(content: bytes, draw: random.Random) -> bytes:
    spoiled = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        # Most of what a reader believes stands at the beginning.
        start = draw.randrange(draw.choice([200, len(spoiled) + 1]))
        spoiled[start : start + draw.choice([0, 1, 3, 30, 200])] = draw.choice(PIECES)
    return bytes(spoiled[: draw.choice([None, None, len(spoiled) // 2])])


@pytest.mark.parametrize("name", FILES)
def test_spoiled_files_end_in_lines_for_people(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name.endswith(".rda"):
        pytest.importorskip("rdata")
    monkeypatch.chdir(tmp_path)
    content = FILES[name]()
    whole = content if isinstance(content, bytes) else content.encode()
    expression = "old.gct" if name.endswith(".cls") else name
    samples = name if name in ITSELF or name.endswith(".cls") else "s.tsv"
    label = "class" if samples.endswith((".tsv", ".gct", ".cls", ".h5ad")) else "disease state"
    config = {"expression": expression, "samples": samples, "label": label,
              "data": {"annotation": name if name in ITSELF[1:] else None}}  # fmt: skip
    Path("old.gct").write_text(gct12(NUMBERS))
    Path("s.tsv").write_text(SHEET)
    Path("c.yaml").write_text(yaml.safe_dump(config))
    codes = set()
    for seed in range(6):
        Path(name).write_bytes(_spoil(whole, random.Random(seed)))
        code = main(["validate", "c.yaml"])
        lines = capsys.readouterr().err.splitlines()
        assert code == any(line.startswith("error: ") for line in lines), seed
        assert all(line.startswith(("error: ", "warning: ")) for line in lines), seed
        codes.add(code)
    assert 1 in codes
