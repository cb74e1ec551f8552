"""A table of genes and the group of each, for penalties on whole groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from genesig.data.files.readers import read_genes
from genesig.errors import InvalidInput, Problem, refuse
from genesig.words import listing


def read_groups(path: str, genes: Sequence[str]) -> dict[str, str]:
    """Return the group of each gene of a table: gene in its first column, group in the second.

    A gene without a group is left out.

    Raises
    ------
    InvalidInput
        If the table cannot be read, has one column, names a gene in two groups, or knows none of
        the genes.
    """
    table = read_genes(path, None)
    if len(table.columns) == 0:
        raise refuse(path, "has one column; needs the gene and its group")
    named: dict[str, str] = {}
    for gene, group in zip(map(str, table.index), map(str, table.iloc[:, 0]), strict=True):
        if group and named.setdefault(gene, group) != group:
            two = f"'{named[gene]}' and '{group}'"
            what = f"gene '{gene}' is in the groups {two}; groups must not overlap"
            raise refuse(path, what)
    if not set(named) & set(genes):
        what = f"none of its {len(named)} genes with a group is in the data (say '{genes[0]}')"
        raise refuse(path, what)
    return named


def check_groups(config: dict[str, Any], genes: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with the table of the config, where it names one."""
    section = config.get("nonlinear", {})
    if section.get("enabled") and section.get("groups") is not None:
        path = section["groups"]
        try:
            named = read_groups(path, genes)
        except InvalidInput as error:
            yield from error.problems
            return
        known = set(genes)
        absent = [gene for gene in named if gene not in known]
        if 2 * len(absent) > len(named):
            what = f"{len(absent)} of its {len(named)} genes with a group are not in the data"
            yield Problem(path, f"{what}: {listing(absent)}", "warning")
