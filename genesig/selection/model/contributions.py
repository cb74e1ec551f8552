"""The contribution of each gene to a score: weight * (value - mean of the training samples)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.selection.model.schema import ModelJson
from genesig.selection.model.shape import covariate_values

if TYPE_CHECKING:
    import pandas as pd

GENE = "gene"
COVARIATE = "covariate"
INTERCEPT = "intercept"


@dataclass(frozen=True, eq=False)
class Contributions:
    """Terms of the linear scores of n samples: p genes and covariates, T scores per sample."""

    samples: Sequence[str]
    classes: Sequence[str] | None  # (T,) class of each score; None if a sample has one score
    kinds: Sequence[str]  # (p,) `GENE` or `COVARIATE`, for each term
    names: Sequence[str]  # (p,) gene or column of a covariate, for each term
    symbols: Sequence[str]  # (p,) symbol of a gene; of a covariate its name
    values: Array  # (n, p) values after the steps of the model
    means: Array  # (p,) means over the training samples
    weights: Array  # (p, T)
    intercepts: Array  # (T,) scores of a sample whose values are the `means`

    def terms(self) -> Array:
        """Return the contributions (n, p, T); with `intercepts` they sum to the scores."""
        return np.asarray((self.values - self.means)[..., None] * self.weights)

    def table(self) -> pd.DataFrame:
        """Return one row for each term of each score, the largest contributions first.

        Columns: sample, class (if a sample has several scores), term, name, symbol, value, mean,
        weight, contribution. The first row of a score is its intercept; its rows sum to the score.
        """
        import pandas as pd

        contributions = self.terms().swapaxes(1, 2)
        n, n_scores, p = contributions.shape
        order = np.argsort(-np.abs(contributions), axis=2, kind="stable")
        # With `order` (n, T, p) as last index these broadcast to one entry per term of each score.
        sample_index = np.arange(n)[:, None, None]
        score_index = np.arange(n_scores)[:, None]

        def in_rows(intercept_entry: object, values: Array) -> Array:
            """Return values (n, T, p) as a column (n T (p + 1),): each score's intercept row first.

            intercept_entry: entry of the intercept rows, the same for all scores or (T,).
            """
            first_entries = np.broadcast_to(np.array(intercept_entry), (n, n_scores))[..., None]
            return np.concatenate([first_entries, values], axis=2).ravel()

        names, symbols, kinds = (
            np.array(texts, dtype=object)[order] for texts in (self.names, self.symbols, self.kinds)
        )
        return pd.DataFrame(
            {
                "sample": np.repeat(np.array(self.samples, dtype=object), n_scores * (p + 1)),
                **(
                    {}
                    if self.classes is None
                    else {"class": np.tile(np.repeat(self.classes, p + 1), n)}
                ),
                "term": in_rows(INTERCEPT, kinds),
                "name": in_rows("", names),
                "symbol": in_rows("", symbols),
                "value": in_rows(np.nan, self.values[sample_index, order]),
                "mean": in_rows(np.nan, self.means[order]),
                "weight": in_rows(np.nan, self.weights[order, score_index]),
                "contribution": in_rows(
                    self.intercepts, contributions[sample_index, score_index, order]
                ),
            }
        )


def contributions_to_scores(
    model: ModelJson,
    model_of_list: ModelJson,
    samples: Sequence[str],
    values: Array,
    sample_table: pd.DataFrame | None,
) -> Contributions:
    """Return the contributions of the genes and covariates of a model to the scores of samples.

    Training means are those of ``training.scale`` and of ``covariates`` in model.json.

    model: the content of model.json. model_of_list: the entry of its ``models`` that is used.
    values (n, n_genes): of the genes of `model_of_list`, in its order, after its learned steps.
    sample_table: as for `covariate_scores`.
    """
    genes = list(model_of_list["genes"])
    intercepts = np.atleast_1d(np.array(model_of_list["intercept"], dtype=float))
    n_scores = len(intercepts)
    weights = np.array(model_of_list["coefficients"], dtype=float).reshape(-1, n_scores)
    scale = model["training"]["scale"]
    mean_of_gene = dict(zip(scale["genes"], scale["means"], strict=True))
    means = np.array([mean_of_gene[gene] for gene in genes], dtype=float)
    covariates = covariate_values(model, sample_table)
    covariate_names: list[str] = []
    if covariates is not None:
        covariate_names = list(model["covariates"]["names"])
        covariate_weights = np.array(model_of_list["covariates"], dtype=float)
        values = np.column_stack([values, covariates])
        means = np.append(means, model["covariates"]["means"])
        weights = np.concatenate([weights, covariate_weights.reshape(-1, n_scores)])
    return Contributions(
        samples=samples,
        classes=model["classes"] if isinstance(model["classes"], list) else None,
        kinds=[GENE] * len(genes) + [COVARIATE] * len(covariate_names),
        names=[*genes, *covariate_names],
        symbols=[*model_of_list["symbols"], *covariate_names],
        values=values,
        means=means,
        weights=weights,
        intercepts=intercepts + means @ weights,
    )
