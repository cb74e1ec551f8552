"""How the labels were shuffled, in words."""

from __future__ import annotations

from genesig.report.page.record import Study
from genesig.report.page.words import clean, enumerated

PLACES = {
    "samples": "",
    "within": "within each {group}",
    "groups": "between whole groups ({group}) of equal size",
    "both": "within each {group} whose label varies, and between the others of equal size",
}


def shuffled(data: Study) -> str:
    """Return ``"permuted"`` and where: what may change places decides what p speaks of."""
    return f"permuted{where(data)}"


def where(data: Study) -> str:
    """Return what is given and where labels may go, with a space before it; or nothing."""
    it, names = data["study"], held(data)
    together = f" given {names}" if names else ""
    places = [PLACES[it["exchanged"]].format(group=clean(it["group"]))]
    if data["batch"] is not None:
        places.append(f"within each batch ({clean(data['batch']['column'])})")
    if data["design"]["outer"] == 1:
        places.append("separately among training and test samples")
    words = ", ".join(place for place in places if place)
    return together + (f" {words}" if words else "")


def held(data: Study) -> str:
    """Return ``"age and sex"``, what is held fixed and stays in its place, or nothing."""
    names = data["config"]["data"]["covariates"]
    return enumerated(names) if names else ""
