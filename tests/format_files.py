"""Writers of small files in each format that genesig reads: whole, and ready to be broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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


def series_matrix(n: Numbers, platforms: Sequence[str] = ("GPL96",)) -> str:
    """Write a GEO series matrix with a shifted characteristic, as GEO does for missing ones."""
    quoted = [f'"{name}"' for name in n.samples]
    states = [f'"disease state: {label}"' for label in n.labels]
    ages = [f'"age: {40 + k}"' for k in range(len(n.samples))]
    first = [ages[k] if k == 0 else states[k] for k in range(len(n.samples))]
    second = [states[k] if k == 0 else '""' if k == 1 else ages[k] for k in range(len(n.samples))]
    head = [
        ["!Series_title", '"A study"'],
        ["!Series_supplementary_file", '"ftp://host/GSE1_counts.csv.gz"'],
        [],
        ["!Sample_title", *[f'"Title of ""{name}"""' for name in n.samples]],
        ["!Sample_geo_accession", *quoted],
        ["!Sample_status", *['"Public"'] * len(n.samples)],
        ["!Sample_characteristics_ch1", *first],
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
