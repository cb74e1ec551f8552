"""Studies that begin with a scanner's files: two classes, of which the first genes differ."""

from pathlib import Path

import numpy as np
from affy_files import cel_binary, cel_command_console, transcript_files
from idat_files import COLOURS, array_files, manifest

SIDE, CLUSTERS, PROBES, DIFFERENT = 50, 100, 150, 6
CHIP = "Toy-1_0-st-v1"
LAYOUT = np.random.default_rng(1).permutation(SIDE * SIDE)[: CLUSTERS * 8].reshape(CLUSTERS, 2, 4)
LIBRARY = dict(zip((f"{CHIP}.r4.pgf", f"{CHIP}.r4.clf", f"{CHIP}.r4.mps"), transcript_files(
    {f"{7890000 + k}": sets.tolist() for k, sets in enumerate(LAYOUT)}, [[0, 1]], SIDE, SIDE, CHIP,
), strict=True))  # fmt: skip
SITES = {
    f"cg{k:08d}": (2 * k + 1, 2 * k + 2 if k % 3 else None, COLOURS[k // 3 % 2] if k % 3 else "")
    for k in range(PROBES)
}


def transcripts(k: int) -> dict[str, bytes]:
    """Return the CEL file of a sample; odd ones have more of the first clusters."""
    rng = np.random.default_rng([2, k])
    light = np.random.default_rng(2).lognormal(6, 1, SIDE * SIDE) * rng.lognormal(0, 0.15, SIDE**2)
    level = rng.normal(0, 0.3, CLUSTERS) + 1.5 * (k % 2) * (np.arange(CLUSTERS) < DIFFERENT)
    light[LAYOUT.reshape(CLUSTERS, -1)] *= 2 ** level[:, None]
    light = (light + rng.normal(100, 15, SIDE**2).clip(1)).round(1).reshape(SIDE, SIDE)
    return {f"s{k:02}.CEL": (cel_command_console if k % 3 else cel_binary)(light, CHIP)}


def methylation(k: int) -> dict[str, bytes]:
    """Return both IDAT files of a sample; the first sites of odd ones are turned round."""
    rng = np.random.default_rng([3, k])
    share = np.random.default_rng(3).choice([0.2, 0.8], PROBES)
    share[:DIFFERENT] += 0.2 * (k % 2) * (0.5 - share[:DIFFERENT]) / 0.3
    share = (share + rng.normal(0, 0.05, PROBES)).clip(0.01, 0.99)
    total = rng.normal(10_000, 1500, PROBES).clip(2000)
    means: tuple[dict[int, int], dict[int, int]] = {}, {}
    for (first, second, colour), b, t in zip(SITES.values(), share, total, strict=True):
        M, U = int(t * b), int(t * (1 - b))
        if second is None:
            means[0][first], means[1][first] = M, U
        else:
            own = COLOURS.index(colour)
            means[own].update({first: U, second: M})
            means[1 - own].update({first: 200, second: 210})
    return array_files(f"97_R{k:02}C01", [dict(sorted(each.items())) for each in means],
                       texts={404: f"R{k:02}C01"})  # fmt: skip


KINDS = {
    "transcripts": (transcripts, LIBRARY, [f"{7890000 + k}" for k in range(DIFFERENT)]),
    "methylation": (methylation, {"Toy.csv": manifest(SITES)}, list(SITES)[:DIFFERENT]),
}


def lay(folder: Path, kind: str, n: int = 24) -> None:
    """Write `n` arrays into ``arrays``, two more into ``new``, and the sample table."""
    make, about, _ = KINDS[kind]
    rows = ["sample\tdiagnosis"]
    for name in ("arrays", "new"):
        (folder / name).mkdir()
    for k in range(n + 2):
        files = make(k)
        for name, content in files.items():
            (folder / ("arrays" if k < n else "new") / name).write_bytes(content)
        sample = next(iter(files)).removesuffix(".CEL").removesuffix("_Grn.idat")
        rows += [f"{sample}\t{'case' if k % 2 else 'control'}"] if k < n else []
    for name, content in about.items():
        (folder / "arrays" / name).write_bytes(content)
    (folder / "samples.tsv").write_text("\n".join(rows) + "\n")
