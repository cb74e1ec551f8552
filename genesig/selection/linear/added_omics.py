"""What each omic adds to the others: the whole procedure again without it, on the same splits."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import joined
from genesig.selection.assess.assessment import assess, difference
from genesig.selection.assess.held_out import held_out
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.linear.double_loop import double_loop
from genesig.selection.linear.halves import chance_study
from genesig.selection.linear.kinds.known import Steps

if TYPE_CHECKING:
    import pandas as pd

OWN = "genesig"
WITHOUT = "without"

log = logging.getLogger(__name__)


def omics_table(
    dataset: Dataset,
    splits: Splits,
    observed: Sequence[Fits],
    final: Fits,
    *,
    given: Mapping[str, float] | str,
    permutations: int,
    folds: Steps,
    **linear: Any,
) -> pd.DataFrame:
    """Return omics.tsv: the error with all omics, and without each in turn.

    Columns: row, ``genesig`` or ``without``; name of the omic; its genes in the study; ``listed``,
    how many of them the predictive list of a split has on average; ``factor`` of the final model,
    and the smallest and the largest of the outer splits; error and AUC with their intervals;
    ``added``, the error without the omic less that of genesig on the same samples, with its
    interval.

    Without an omic all is made anew, from what halves give by chance to the predictive model, so
    that both errors are those of one procedure.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    observed : list of Fits
        Batches of the double loop.
    final : Fits
    given : mapping or str
        ``data.omics`` of the config.
    permutations : int
        ``signature.permutations`` of the config.
    folds : list of dict
        ``normalise.folds`` of the config.
    **linear
        The config section of this name, see `Protocol`.
    """
    import pandas as pd

    fits = joined(observed, splits).with_chosen()
    headline = ASSESSED[dataset.design.kind].headline
    own = held_out(dataset, splits, fits)
    of_gene = dataset.omic_of()
    mean = _listed(fits, of_gene, len(dataset.omics))
    factors = _factors(dataset, fits, final, given)
    rows = [
        {
            "row": OWN,
            "name": OWN,
            "genes": len(of_gene),
            "listed": float(mean.sum()),
            **vars(assess(own.column(-1), headline)[0]),
        }
    ]
    for number, omic in enumerate(dataset.omics):
        rest = dataset.without(omic)
        chance = chance_study(rest, splits, permutations=permutations, folds=folds, **linear)
        left = double_loop(
            rest, splits, chance, labels="observed", batch="1of1", folds=folds, **linear
        ).with_chosen()
        other = held_out(rest, splits, left).column(-1)
        apart = dict(
            zip(
                ("added", "added_low", "added_high"),
                difference(other, own, -1, headline)[2:],
                strict=True,
            )
        )
        rows.append(
            {
                "row": WITHOUT,
                "name": omic,
                "genes": int(np.sum(of_gene == number)),
                "listed": float(mean[number]),
                **factors[number],
                **vars(assess(other, headline)[0]),
                **apart,
            }
        )
        log.info("%d of %d omics left out", number + 1, len(dataset.omics))
    return pd.DataFrame(rows)


def _listed(fits: Fits, of_gene: Array, omics: int) -> Array:
    """Return how many genes of each omic the last list of a fit has, the mean, (n_omics,)."""
    genes = [fits.coef(fit, len(fits.mu) - 1)[0] for fit in range(len(fits))]
    return np.bincount(of_gene[np.concatenate(genes)], minlength=omics) / len(fits)


def _factors(
    dataset: Dataset, fits: Fits, final: Fits, given: Mapping[str, float] | str
) -> list[dict[str, float]]:
    """Return the factor of each omic in the final model, its smallest and largest in the splits."""
    if fits.factors is None or final.factors is None:
        named = given if isinstance(given, Mapping) else {}
        known = {str(name): float(factor) for name, factor in named.items()}
        whole = np.array([known[name] for name in dataset.omics])
        every = np.stack([whole, whole, whole])
    else:
        every = np.stack([final.factors[0], fits.factors.min(axis=0), fits.factors.max(axis=0)])
    names = ("factor", "factor_low", "factor_high")
    return [dict(zip(names, map(float, column), strict=True)) for column in every.T]
