"""Columns of the matrix as genes: several probes of one gene count once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import Dataset
from genesig.results.gene_sets import GeneSets

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Named:
    """The measured genes, each once, and the sets of them.

    Attributes
    ----------
    symbols : (n_genes,) str
        Symbols, or ids where there is none, in the order of their first columns.
    number : (n_columns,) int
        Gene of each column of the matrix.
    members : (n_sets, n_genes) sparse array of 0 and 1
    """

    symbols: Array
    number: Array
    members: csr_array

    @classmethod
    def of(cls, dataset: Dataset, sets: GeneSets) -> Named:
        """Take the columns of one symbol together."""
        numbers: dict[str, int] = {}
        columns = dataset.var["symbol"].tolist()
        number = np.array([numbers.setdefault(str(name), len(numbers)) for name in columns])
        from scipy.sparse import csr_array

        shape = (len(sets), len(numbers))
        ones = np.ones(len(sets.indices))
        members = csr_array((ones, number[sets.indices], sets.indptr), shape=shape)
        members.sum_duplicates()
        members.data[:] = 1.0
        return cls(np.array(list(numbers), dtype=object), number, members)

    def __len__(self) -> int:
        """Return the number of genes."""
        return len(self.symbols)

    def marked(self, columns: Array) -> Array:
        """Return 1 for each gene of which some column is named, 0 for the others, (n_genes,)."""
        found = np.zeros(len(self))
        found[self.number[columns]] = 1.0
        return found

    def sizes(self) -> Array:
        """Return the number of genes of each set, (n_sets,)."""
        return np.diff(self.members.indptr)
