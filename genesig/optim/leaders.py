"""Rows of paths that end together: the first row of a group with too long a list ends the group.

Too long a list costs the most. So once lists are long, one row of each group leads; the others
follow only to the points at which its list is short enough. Least squares of one outcome has no
leaders: there one product with all features serves many rows, and two products take twice as long.
"""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array

LEADING_SHARE = 0.5
"""Share of the largest allowed number of features from which one row of a group leads."""


def leading_rows(is_going: Array, sizes: Array, groups: Array, longest: int | None) -> Array:
    """Return which of the rows that are still going are solved first at the next point, (k,) bool.

    In a group with a list of more than `LEADING_SHARE` times `longest` features that is the row
    with the longest list; in other groups all rows. sizes (k,) are those of the last lists.
    """
    if longest is None:
        return is_going.copy()
    order = np.lexsort((-sizes, groups))
    order = order[is_going[order]]
    _, first_of_group, group = np.unique(groups[order], return_index=True, return_inverse=True)
    leaders = order[first_of_group]
    leading = np.zeros(len(is_going), dtype=bool)
    leading[order] = (sizes[leaders] <= LEADING_SHARE * longest)[group]
    leading[leaders] = True
    return leading
