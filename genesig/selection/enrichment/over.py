"""Over-representation: does a list hold more genes of a set than a list drawn from all genes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results.gene_sets import GeneSets
from genesig.selection.enrichment.named import Named

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

COLUMNS = ["list", "reference", "set", "about", "genes", "size", "shared", "expected", "p_value",
           "family_p", "names"]  # fmt: skip


def over_represented(shared: Array, sizes: Array, drawn: int, all_genes: int) -> Array:
    """Return P(at least `shared` of `drawn` genes are in a set), (n_sets,), hypergeometric.

    Parameters
    ----------
    shared, sizes : (n_sets,) int
        Genes of the list in each set; genes of each set.
    drawn, all_genes : int
        Genes of the list, and of the background.
    """
    from scipy.stats import hypergeom

    return np.asarray(hypergeom.sf(shared - 1, all_genes, sizes, drawn))


def lists_table(named: Named, sets: GeneSets, lists: Mapping[str, Array]) -> pd.DataFrame:
    """Return rows of enrichment.tsv: each list against each set of which it holds a gene.

    ``genes`` of the set and ``size`` of the list count measured genes, each symbol once; of them
    ``shared`` are in both and ``expected`` would be by chance. The background are all measured
    genes. p takes genes as independent of each other and sets one by one: it sorts the rows, and
    nothing is called by it, so that ``family_p`` is empty.

    Parameters
    ----------
    named : Named
    sets : GeneSets
    lists : mapping of str to (k,) int
        Columns of the matrix.
    """
    return stacked([_of_list(named, sets, name, columns) for name, columns in lists.items()])


def stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts, those without any left aside."""
    import pandas as pd

    known = [part[COLUMNS] for part in parts if len(part)]
    return pd.concat(known, ignore_index=True) if known else pd.DataFrame(columns=COLUMNS)


def _of_list(named: Named, sets: GeneSets, name: str, columns: Array) -> pd.DataFrame:
    there, sizes = named.marked(columns), named.sizes()
    drawn, shared = int(there.sum()), np.rint(named.members @ there).astype(np.int64)
    p = over_represented(shared, sizes, drawn, len(named))
    expected = drawn * sizes / len(named)
    table = rows_of(sets, shared, expected, p, np.full(len(p), np.nan))
    return table.assign(
        list=name, reference="measured genes", genes=sizes[table.index], size=drawn,
        names=[_names(named, there, int(k)) for k in table.index],
    )  # fmt: skip


def rows_of(
    sets: GeneSets, shared: Array, expected: Array, p: Array, family: Array
) -> pd.DataFrame:  # fmt: skip
    """Return the sets of which something is shared, smallest p first; the index numbers them."""
    import pandas as pd

    table = pd.DataFrame(
        {"set": sets.names, "about": sets.about, "shared": shared, "expected": expected,
         "p_value": p, "family_p": family}
    )  # fmt: skip
    order = np.lexsort((np.arange(len(p)), -shared / np.maximum(expected, 1e-300), p, family))
    return table.iloc[order][shared[order] > 0]


def _names(named: Named, there: Array, k: int) -> str:
    part = named.members.indices[slice(*named.members.indptr[k:][:2])]
    return ", ".join(sorted(map(str, named.symbols[part[there[part] > 0]])))
