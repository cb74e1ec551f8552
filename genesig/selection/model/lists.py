"""The models of model.json by the name of their list: a nested one, or one of the two answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from genesig.errors import GenesigError, refuse
from genesig.results import Fits
from genesig.results.fits import ANSWERS
from genesig.selection.genes.frequency import mu_number
from genesig.words import counted

Model = Mapping[str, Any]
PREDICTIVE, NAMED = ANSWERS


def nested(mu: float) -> str:
    """Return the name of the nested list at `mu`; no two values of a config have one name."""
    return f"mu {mu:.15g}"


def answer_of(final: Fits) -> str:
    """Return the name of the list that is the answer of a study, from its fit on all samples."""
    if final.answer_indptr is not None:
        return PREDICTIVE
    return nested(float(final.mu[final.choice[0, 2]]))


def chosen_model(model: Model, mu: float | None = None, *, named: bool = False) -> Model:
    """Return the model of the answer, of the nested list at `mu`, or of the named genes.

    Raises
    ------
    InvalidInput
        There is none, or two are asked for.
    """
    if named and mu is not None:
        raise refuse("--named", "is one model and --mu another; leave one of them out")
    if mu is not None:
        return _at_mu(model, mu)
    wanted = NAMED if named else model["answer"]
    found = {each["list"]: each for each in model["models"]}
    if wanted not in found:
        what = "the study sought no evidence for single genes, so that the model has no named ones"
        raise refuse("--named", f"{what}; without it '{model['answer']}' scores")
    return dict(found[wanted])


def scored_by(model: Model, mu: float | None = None, *, named: bool = False) -> str:
    """Say which model scores: ``"the predictive model (34 genes)"``."""
    chosen = chosen_model(model, mu, named=named)
    of = {PREDICTIVE: "the predictive model", NAMED: "the model of the named genes"}
    what = of.get(chosen["list"], f"the list at {chosen['list']}")
    return f"{what} ({counted(len(chosen['genes']), 'gene')})"


def has_named(model: Model) -> bool:
    """Tell whether a model holds that of the named genes."""
    return NAMED in [each["list"] for each in model["models"]]


def without_evidence(model: Model) -> bool:
    """Tell whether the study sought evidence for single genes and found none."""
    return any(each["list"] == NAMED and not each["claimed"] for each in model["models"])


def place(model: Model, chosen: Model) -> int:
    """Return the number of a model among those of its file."""
    return [each["list"] for each in model["models"]].index(chosen["list"])


def contradictions(model: Model) -> Iterator[str]:
    """Yield the parts that make it doubtful which model is meant."""
    names = [each["list"] for each in model["models"]]
    if len(set(names)) < len(names) or len(set(ANSWERS) & set(names)) == 1:
        yield "models"
    if model["answer"] not in names:
        yield "answer"
    for number, each in enumerate(model["models"]):
        mu = each["mu"]
        if each["list"] not in (ANSWERS if mu is None else (nested(mu),)):
            yield f"models.{number}.list"
        if ("claimed" in each) != (each["list"] == NAMED):
            yield f"models.{number}.claimed"
        some = set(each.get("claimed_genes", ()))
        if "claimed_genes" in each and (
            each["list"] != NAMED or bool(some) != each["claimed"] or not some <= set(each["genes"])
        ):
            yield f"models.{number}.claimed_genes"


def _at_mu(model: Model, mu: float) -> Model:
    some = [each for each in model["models"] if each["mu"] is not None]
    grid = np.array([each["mu"] for each in some], dtype=float)
    try:
        return dict(some[mu_number(grid, mu)])
    except GenesigError:
        what = f"{mu:g} is none of the model's: {', '.join(f'{each:g}' for each in grid)}"
        raise refuse("--mu", what) from None
