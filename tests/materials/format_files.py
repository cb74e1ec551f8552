"""Writers of small files in each format that genesig reads: whole, and ready to be broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

CLASSES = ["normal", "tumor"]


@dataclass
class Numbers:
    """Genes × samples, as a writer needs them."""

    genes: list[str] = field(default_factory=lambda: [f"g{k}" for k in range(5)])
    samples: list[str] = field(default_factory=lambda: [f"S{k}" for k in range(8)])
    rows: list[list[float]] = field(
        default_factory=lambda: [
            [(7 * g + 3 * s * s) % 11 + 0.5 + s / 16 for s in range(8)] for g in range(5)
        ]
    )

    @property
    def labels(self) -> list[str]:
        """The classes, in turn."""
        return [CLASSES[k % 2] for k in range(len(self.samples))]


def tabbed(rows: Sequence[Sequence[object]]) -> str:
    """Join lines of cells."""
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def table(n: Numbers) -> str:
    """Write a plain table."""
    body = [[gene, *map(repr, row)] for gene, row in zip(n.genes, n.rows, strict=True)]
    return tabbed([["", *n.samples], *body])


def series_matrix(n: Numbers, platforms: Sequence[str] = ("GPL96",)) -> str:
    """Write a GEO series matrix with a shifted characteristic, as GEO does for missing ones."""
    quoted = [f'"{name}"' for name in n.samples]
    states = [f'"disease state: {label}"' for label in n.labels]
    ages = [f'"age: {40 + k}"' for k in range(len(n.samples))]
    first_values = [ages[k] if k == 0 else states[k] for k in range(len(n.samples))]
    second = [states[k] if k == 0 else '""' if k == 1 else ages[k] for k in range(len(n.samples))]
    head = [
        ["!Series_title", '"A study"'],
        ["!Series_supplementary_file", '"ftp://host/GSE1_counts.csv.gz"'],
        [],
        ["!Sample_title", *[f'"Title of ""{name}"""' for name in n.samples]],
        ["!Sample_geo_accession", *quoted],
        ["!Sample_status", *['"Public"'] * len(n.samples)],
        ["!Sample_characteristics_ch1", *first_values],
        ["!Sample_characteristics_ch1", *second],
        ["!Sample_characteristics_ch1", *['"genotype/variation: wt"'] * len(n.samples)],
        [
            "!Sample_platform_id",
            *[f'"{platforms[k % len(platforms)]}"' for k in range(len(quoted))],
        ],
        ["!series_matrix_table_begin"],
        ['"ID_REF"', *quoted],
    ]
    body = [[f'"{g}"', *map(repr, row)] for g, row in zip(n.genes, n.rows, strict=True)]
    return tabbed([*head, *body, ["!series_matrix_table_end"]])


def gct12(n: Numbers) -> str:
    """Write a GCT 1.2 file."""
    size = [len(n.genes), len(n.samples)]
    body = [[g, f"about {g}", *map(repr, row)] for g, row in zip(n.genes, n.rows, strict=True)]
    return tabbed([["#1.2"], size, ["NAME", "Description", *n.samples], *body])


def gct13(n: Numbers) -> str:
    """Write a GCT 1.3 file with two columns about genes and one row about samples."""
    size = [len(n.genes), len(n.samples), 2, 1]
    about = [["class", "na", "na", *n.labels]]
    body = [[g, f"sym{g}", "x", *map(repr, row)] for g, row in zip(n.genes, n.rows, strict=True)]
    return tabbed([["#1.3"], size, ["id", "symbol", "other", *n.samples], *about, *body])


def cls(n: Numbers) -> str:
    """Write the classes of the samples."""
    return f"{len(n.samples)} 2 1\n# {' '.join(CLASSES)}\n{' '.join(n.labels)}\n"


def family(n: Numbers, platforms: Sequence[str] = ("GPL1",)) -> str:
    """Write a GEO SOFT family: the platforms, then one table for each sample."""
    lines = ["^DATABASE = GeoMiame", "!Database_name = GEO", "^SERIES = GSE1", "!Series_title = x"]
    for platform in platforms:
        lines += [
            f"^PLATFORM = {platform}",
            "!Platform_title = chip",
            "#ID = probe",
            "#GB_ACC = accession",
            "#Gene Symbol = symbol",
            "!platform_table_begin",
            "ID\tGB_ACC\tGene Symbol",
        ]
        lines += [f"{gene}\tNM{k}\tsym{gene}" for k, gene in enumerate(n.genes)]
        lines += ["!platform_table_end"]
    for k, name in enumerate(n.samples):
        lines += [
            f"^SAMPLE = {name}",
            f"!Sample_title = number {k}",
            f"!Sample_geo_accession = {name}",
            f"!Sample_platform_id = {platforms[k % len(platforms)]}",
            f"!Sample_characteristics_ch1 = disease state: {n.labels[k]}",
            "#ID_REF =",
            "#ABS_CALL = call",
            "#VALUE = signal",
            "!sample_table_begin",
            "ID_REF\tABS_CALL\tVALUE",
        ]
        lines += [f"{gene}\tP\t{row[k]!r}" for gene, row in zip(n.genes, n.rows, strict=True)]
        lines += ["!sample_table_end"]
    return "\n".join(lines) + "\n"


def data_set(n: Numbers) -> str:
    """Write a GEO data set (GDS): subsets of samples and one table."""
    lines = ["^DATABASE = Geo", "^DATASET = GDS1", "!dataset_title = x"]
    for number, word in enumerate(CLASSES):
        names = [name for name, label in zip(n.samples, n.labels, strict=True) if label == word]
        lines += [
            f"^SUBSET = GDS1_{number}",
            "!subset_dataset_id = GDS1",
            f"!subset_description = {word}",
            f"!subset_sample_id = {','.join(names)}",
            "!subset_type = disease state",
        ]
    body = [[g, f"sym{g}", *map(repr, row)] for g, row in zip(n.genes, n.rows, strict=True)]
    table = tabbed([["ID_REF", "IDENTIFIER", *n.samples], *body])
    head = "\n".join([*lines, "^DATASET = GDS1", "!dataset_table_begin"])
    return f"{head}\n{table}!dataset_table_end\n"


def agilent(n: Numbers, sample: int, *, colours: int = 2) -> str:
    """Write one array: two control spots, and each gene once."""
    names = ["FEATURES", "FeatureNum", "ControlType", "ProbeName", "SystematicName"]
    names += ["LogRatio", "gProcessedSignal"] if colours == 2 else ["gProcessedSignal"]
    spots = [["DATA", 1, 1, "DarkCorner", "DarkCorner", "0.5", "9"]]
    spots += [
        ["DATA", k + 2, 0, gene, f"NM_{k}", repr(row[sample]), f"{100 + k}"]
        for k, (gene, row) in enumerate(zip(n.genes, n.rows, strict=True))
    ]
    spots += [["DATA", 99, -1, "(-)3xSLv1", "(-)3xSLv1", "-0.5", "9"]]
    rows = [
        ["TYPE", "text"],
        ["FEPARAMS", "Protocol_Name"],
        ["DATA", "GE2 50 µm"],
        ["*"],
        ["TYPE", "float"],
        ["STATS", "gDarkOffset"],
        ["DATA", "19.3"],
        ["*"],
        ["TYPE", *["integer"] * (len(names) - 1)],
        names,
        *[spot[: len(names)] for spot in spots],
    ]
    return tabbed(rows)


def genomestudio(n: Numbers, *, old: bool = False, header: bool = True) -> str:
    """Write a Sample Probe Profile of GenomeStudio, or with the column names of BeadStudio."""
    kinds = ["AVG_Signal", "Detection Pval"]
    columns = [
        f"{kind}-{name}" if old else f"{name}.{kind}" for name in n.samples for kind in kinds
    ]
    body = [
        ["X", gene, f"sym{gene}", *[cell for value in row for cell in (repr(value), "0.01")]]
        for gene, row in zip(n.genes, n.rows, strict=True)
    ]
    head = [["[Header]"], ["GSGX Version", "1.9.0"], ["[Sample Probe Profile]"]] if header else []
    tail = [["[Control Probe Profile]"], ["c", "1"]] if header else []
    return tabbed([*head, ["TargetID", "PROBE_ID", "SYMBOL", *columns], *body, *tail])


def h5ad(n: Numbers, **changes: Any) -> bytes:
    """Write an AnnData file with a class and an age for each sample, and a layer."""
    import anndata
    import pandas as pd

    ages = [40.0, np.nan, 41.5] + [42.0] * (len(n.samples) - 3)
    obs = pd.DataFrame({"class": pd.Categorical(n.labels), "age": ages}, index=n.samples)
    var = pd.DataFrame({"symbol": [f"sym{gene}" for gene in n.genes]}, index=n.genes)
    X = np.array(n.rows).T
    data = anndata.AnnData(**{"X": X, "obs": obs, "var": var, "layers": {"half": X / 2}} | changes)
    return written(data)


def written(data: Any) -> bytes:
    """Return the bytes of an AnnData file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        data.write_h5ad(Path(folder) / "x.h5ad")
        return (Path(folder) / "x.h5ad").read_bytes()


def hdf5(**groups: Any) -> bytes:
    """Return an HDF5 file that is no AnnData."""
    import h5py

    buffer = BytesIO()
    with h5py.File(buffer, "w") as file:
        for name, values in groups.items():
            file[name] = values
    return buffer.getvalue()


def beadstudio(n: Numbers) -> str:
    """Write the profile of an old version, without a header."""
    return genomestudio(n, old=True, header=False)


# A file that holds the whole matrix, of each format that there is.
WRITERS: dict[str, Callable[[Numbers], str | bytes]] = {
    "table.tsv": table,
    "table.xls": table,
    "GSE1_series_matrix.txt": series_matrix,
    "GSE1_family.soft": family,
    "GDS1.soft": data_set,
    "old.gct": gct12,
    "new.gct": gct13,
    "e.h5ad": h5ad,
    "profile.txt": genomestudio,
    "beads.txt": beadstudio,
}
