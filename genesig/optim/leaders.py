"""Rows of paths that end together: the first of a group to have too long a list ends them all.

Too long a list costs the most. So where lists are long, one row of each group leads; the others
follow to those points alone at which its list is short enough. Least squares of one outcome has no
leaders: there a product with all features serves many rows, and two of them take as long.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array

LEAD = 0.5
"""Share of the largest allowed number of features from which one row of a group leads."""


def leading_rows(going: Array, sizes: Array, groups: Array, longest: int | None) -> Array:
    """Return which of the rows that are `going` are solved first at the next point, (k,) bool.

    Of a group with a list of more than `LEAD` times `longest` features that is the row with the
    longest list; of another all. sizes (k,) are those of the last lists.
    """
    if longest is None:
        return going.copy()
    order = np.lexsort((-sizes, groups))
    order = order[going[order]]
    _, first, group = np.unique(groups[order], return_index=True, return_inverse=True)
    leaders = order[first]
    leading = np.zeros(len(going), dtype=bool)
    leading[order] = (sizes[leaders] <= LEAD * longest)[group]
    leading[leaders] = True
    return leading
