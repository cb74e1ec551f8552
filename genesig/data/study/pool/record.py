"""One study among several, and what they are together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.data.files.delimited import Matrix

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

STUDY = "study"
"""Column of the sample table that names each sample's study."""
WEIGHT = "study_weight"
"""Column with the weights by which every study counts alike."""


class Wanted(NamedTuple):
    """What the config says of the label, and of how several studies are brought together.

    Attributes
    ----------
    label : sequence of str
        The study's own columns of the response.
    data : mapping
        The section ``data``.
    probes : str
        Which probe stands for its gene, see `pool.genes`.
    align : str
        How studies are aligned, a name that ``across.align`` may have.
    """

    label: Sequence[str]
    data: Mapping[str, Any]
    probes: str
    align: str


@dataclass(frozen=True, eq=False)
class Member:
    """One study among several.

    Attributes
    ----------
    name : str
    where : str
        File of its matrix.
    X : (n_samples, n_genes) float
        After its own row-wise steps, one column for each gene.
    genes : tuple of str
    table : DataFrame of strings
        Sample table in the order of X, labels in the words of the study.
    measured : int
        Columns of its matrix, before probes of one gene are one.
    dropped : list of dict
        {kind, name, reason} of each sample that is left out.
    files : tuple of str
        Everything that was read.
    """

    name: str
    where: str
    X: Array
    genes: tuple[str, ...]
    table: pd.DataFrame
    measured: int
    dropped: list[dict[str, str]]
    files: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """Several studies as one.

    Attributes
    ----------
    matrix : Matrix
        Samples in rows, common genes in columns.
    table : DataFrame of strings
        Sample table with the columns `STUDY` and `WEIGHT`.
    flow : list of dict
        For each study its samples, what it measured, how many genes that are, how many of them
        another study lacks, and which study each of the lost genes is missing in.
    dropped : list of dict
    files : list of str
    """

    matrix: Matrix
    table: pd.DataFrame
    flow: list[dict[str, Any]]
    dropped: list[dict[str, str]]
    files: list[str]
