"""Trees of rows that are alike, for the sides of a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.report.genes.record import Tree
from genesig.report.page.rounding import rounded

Array = np.ndarray[Any, Any]


def tree(rows: Array) -> tuple[list[int], Tree]:
    """Return the order of the rows, and the joints of their tree (average linkage).

    A joint ``[left, right, from_left, from_right, height]`` joins two branches at the places left
    and right, in units of rows of the order, which it meets at these heights.

    Parameters
    ----------
    rows : (n, d) float
        Distances are Euclidean; of standardised genes they order pairs as 1 - r does.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(rows) < 2 or not rows.shape[1]:
        return list(range(len(rows))), []
    joined = linkage(rows, method="average")
    order = leaves_list(joined).tolist()
    place, height = np.empty(2 * len(rows) - 1), np.zeros(2 * len(rows) - 1)
    place[order] = np.arange(len(rows))
    joints = []
    for number, (a, b, level, _) in enumerate(joined, start=len(rows)):
        left, right = sorted((int(a), int(b)), key=lambda node: place[node])
        joints.append([place[left], place[right], height[left], height[right], level])
        place[number], height[number] = (place[left] + place[right]) / 2, level
    return order, rounded(np.array(joints), 5)
