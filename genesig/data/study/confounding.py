"""Measure associations: of batches with the label, and of sample-table columns with components.

`obs` is the sample table (index = sample names, cells as strings), `file` its file, for messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.study.label_genes_check import CORRELATION_ROUNDING, correlations
from genesig.data.study.sheet_check import Sheet, check_column
from genesig.errors import Problem
from genesig.response.covariates import Covariate, encode_covariates
from genesig.response.kinds import RESPONSES
from genesig.results import Design
from genesig.words import is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

# Numbers with so few values are codes (of a batch, a centre), unless most samples have their own.
_MAX_CODE_VALUES = 10
_MIN_RESIDUAL_DF = 2  # residual degrees of freedom that the test of an association needs


@dataclass(frozen=True)
class Association:
    """Share of each component's variance that a column explains, and its test."""

    kind: str  # "classes" (share is eta² of one-way analysis of variance) or "number" (share is r²)
    n_levels: int  # number of groups; 2 for a number (its degrees of freedom plus one)
    n_samples: int  # number of samples with a value
    share: Array  # (k,) float: share of each component's variance that the column explains
    # (k,) float: share less its expectation by chance, `1 - (1 - share)(n - 1)/(n - levels)`, at
    # least 0; comparable between columns of few and of many groups
    adjusted_share: Array
    p: Array  # (k,) float: of the F test, `F = (share/(levels - 1)) / ((1 - share)/(n - levels))`


def measure_association(
    scores: Array, column: Sequence[str], *, is_quantity: bool
) -> Association | str:
    """Test a sample-table column against components; return the reason if it is impossible.

    scores (n, k) float: samples on the components.
    column (n,) str: blank cells and words such as NA are left out.
    is_quantity: whether the values are quantities; otherwise they are names of groups.
    """
    valued_rows = [row for row, value in enumerate(column) if not is_missing(value)]
    values = [column[row].strip() for row in valued_rows]
    distinct_values = sorted(set(values))
    if len(distinct_values) < 2:
        return "one value" if distinct_values else "no value"
    if not is_quantity and len(distinct_values) == len(values):
        return "a value of its own for each sample"
    n_levels = 2 if is_quantity else len(distinct_values)
    if len(values) - n_levels < _MIN_RESIDUAL_DF:
        return "too few samples for its values"
    centred_scores = scores[valued_rows] - scores[valued_rows].mean(axis=0)
    share = (
        _r2(centred_scores, values)
        if is_quantity
        else _eta2(centred_scores, values, distinct_values)
    )
    return _test_association("number" if is_quantity else "classes", share, n_levels, len(values))


def holds_quantities(column: Sequence[str]) -> bool:
    """Tell whether a column holds quantities, not numbers that are codes of a few groups."""
    values = [value for value in column if not is_missing(value)]
    n_distinct = len(set(values))
    has_many_values = n_distinct > _MAX_CODE_VALUES or 2 * n_distinct > len(values)
    return has_many_values and all(map(is_number, values))


def _eta2(centred_scores: Array, values: list[str], distinct_values: list[str]) -> Array:
    """Return eta² (k,) of one-way analysis of variance of centred scores (n, k) by values (n,)."""
    is_member = np.array(values, dtype=object)[:, None] == np.array(distinct_values, dtype=object)
    level_sums = is_member.T.astype(float) @ centred_scores
    between_sum_of_squares = (level_sums**2 / is_member.sum(axis=0)[:, None]).sum(axis=0)
    return _explained_share(between_sum_of_squares, (centred_scores**2).sum(axis=0))


def _r2(centred_scores: Array, values: list[str]) -> Array:
    """Return the squared correlation (k,) of centred scores (n, k) with numbers (n,), as text."""
    centred_values = np.array(values, dtype=float)
    centred_values = centred_values - centred_values.mean()
    return _explained_share(
        (centred_values @ centred_scores) ** 2,
        (centred_values @ centred_values) * (centred_scores**2).sum(axis=0),
    )


def _explained_share(explained: Array, total: Array) -> Array:
    """Return explained/total sums of squares (k,); NaN for a component without variance."""
    has_variance = total > 0
    return np.where(
        has_variance, np.clip(explained / np.where(has_variance, total, 1.0), 0, 1), np.nan
    )


def _test_association(kind: str, share: Array, n_levels: int, n_samples: int) -> Association:
    """Return the association with the given explained shares (k,), their adjustment and F tests."""
    from scipy.special import fdtrc

    residual_df = n_samples - n_levels
    with np.errstate(divide="ignore", invalid="ignore"):
        F = (share / (n_levels - 1)) / ((1 - share) / residual_df)
    adjusted_share = np.maximum(1 - (1 - share) * (n_samples - 1) / residual_df, 0)
    return Association(
        kind, n_levels, n_samples, share, adjusted_share, fdtrc(n_levels - 1, residual_df, F)
    )


MIN_WEAK_ASSOCIATION = 0.1
"""A small effect size (J. Cohen 1988, Statistical power analysis, 7.2.3): less counts as none."""

MIN_WARNED_ASSOCIATION = 0.3  # a medium effect size (same source): worth a warning


def association_with_label(y: Array, batch: Array) -> float | None:
    """Return the association of label and batch, from 0 (none) to 1 (the batch tells the label).

    It is ``epsilon = sqrt(max(0, 1 - (1 - eta²)(n - 1)/(n - k)))`` for n samples in k batches.
    eta² is the share of the response's variance that lies between the batches. For two classes, eta
    is Cramér's V of the table batch × class, whatever the number of batches. The correction takes
    off what chance gives, as in the adjusted R²: with labels drawn at random, ten batches of four
    samples have V = 0.48 without it. For two batches it is Bergsma's correction of V. For more of
    them Bergsma's stays below 1 where each batch has but one class, and this one does not.

    y (n,) float: ±1 for two classes, the number itself for regression.
    batch (n,) names.

    Returns None where it is not defined: one batch, one response, or hardly more samples than
    batches.

    Source: T. L. Kelley (1935), PNAS 21:554. W. Bergsma (2013), J. Korean Stat. Soc. 42:323.
    """
    batch_association = measure_association(
        y[:, None], [str(name) for name in batch], is_quantity=False
    )
    if isinstance(batch_association, str) or np.isnan(batch_association.adjusted_share[0]):
        return None
    return float(np.sqrt(batch_association.adjusted_share[0]))


def check_confounding(
    obs: pd.DataFrame, design: Design, limit: float, file: str
) -> Iterator[Problem]:
    """Yield a problem if batch and label are associated: above `limit` an error, else a warning.

    limit: setting ``data.confounding``, between 0 and 1.
    """
    if design.batch is None:
        return
    column_location = f"{file}, column '{design.batch}'"
    batch = obs[design.batch].to_numpy(dtype=object)
    if len(set(batch)) == 1:
        yield Problem(
            column_location,
            f"data.batch: every sample is '{batch[0]}', so that there is nothing "
            "between batches to look at",
            "warning",
        )
        return
    labels = obs[design.label]
    epsilon = strongest_association(_response_columns(obs, design), batch)
    if epsilon is None:
        yield Problem(
            column_location,
            f"data.batch: {len(set(batch))} batches for {len(batch)} samples; how "
            "far batch and label go together cannot be measured",
            "warning",
        )
        return
    measure_text = _association_text(epsilon, design)
    lacking_text = _describe_lacking_classes(labels, batch, design)
    if epsilon > limit:
        yield Problem(
            column_location,
            f"batch and label go together ({measure_text}, at most {limit:g} is accepted), so that "
            f"the batch could be taken for the label{lacking_text}; leave samples out until they "
            "do not, or set data.confounding: 1 to go on all the same",
        )
    elif epsilon > MIN_WARNED_ASSOCIATION:
        yield Problem(
            column_location,
            f"batch and label go together ({measure_text}), so that part of what "
            f"predicts the label may be the batch{lacking_text}",
            "warning",
        )
    elif lacking_text:
        yield Problem(
            column_location,
            f"{lacking_text.removeprefix(': ')} ({measure_text}), so that between batches "
            "label and batch cannot be distinguished",
            "warning",
        )


def check_combat_covariates(
    sheet: Sheet, fold_steps: Sequence[Mapping[str, Any]], file: str
) -> Iterator[Problem]:
    """Yield a problem for covariates of combat that are absent, lack values, or equal the label.

    sheet: the checked sample table with its design. fold_steps: section ``normalise.folds``.

    A correction that knows the classes leaks them into the test samples (V. Nygaard et al. 2016,
    Biostatistics 17:29).
    """
    obs = sheet.obs
    design = sheet.design
    y = _response_columns(obs, design)
    covariate_names = dict.fromkeys(
        name for step in fold_steps for name in step.get("covariates", ())
    )
    for name in covariate_names:
        if name in (design.label, design.batch):
            continue  # `check_settings` returns this error
        column_location = f"{file}, column '{name}'"
        problems: list[Problem] = []
        check_column(name, "covariate", list(obs.columns), str(obs.index.name), file, problems)
        yield from problems
        if problems:
            continue
        blank_samples = [str(sample) for sample, value in obs[name].items() if is_missing(value)]
        if blank_samples:
            message = (
                f"covariate of combat: no value for {listing(blank_samples)}; each sample needs one"
            )
            yield Problem(column_location, message)
            continue
        covariate = encode_covariates([Covariate.from_cells(name, map(str, obs[name]))], obs)
        if any(
            abs(correlations(covariate, column)).max() >= 1 - CORRELATION_ROUNDING for column in y.T
        ):
            yield Problem(
                column_location,
                f"covariate of combat: equals the label '{design.label}', which no "
                "step may see; take it out",
            )


def _response_columns(obs: pd.DataFrame, design: Design) -> Array:
    """Return the response as numbers (n, 1), or ±1 indicators of several classes (n, T)."""
    response_kind = RESPONSES[design.kind]
    y = response_kind.numeric_response(response_kind.read(obs, design))
    return y.reshape(len(y), -1)


def strongest_association(columns: Array, batch: Array) -> float | None:
    """Return the largest association of batches with a response column; None if one is undefined.

    columns (n, k) float: response as `_response_columns` returns it. batch (n,) names.
    """
    associations = [association_with_label(column, batch) for column in columns.T]
    defined = [epsilon for epsilon in associations if epsilon is not None]
    return max(defined) if len(defined) == len(associations) else None


def _association_text(epsilon: float, design: Design) -> str:
    """Return the association in the field's term: Cramér's V, or the correlation ratio."""
    if design.classes is not None:
        return f"Cramér's V {epsilon:.2f}"
    return f"correlation ratio {epsilon:.2f}: {100 * epsilon**2:.0f} % of the variance of the label"


def _describe_lacking_classes(labels: pd.Series[str], batch: Array, design: Design) -> str:
    """Return which batches lack a class, ``": batch 'b2' has no 'tumor'"``; '' if none does."""
    phrases = []
    for name in design.classes or ():
        if lacking_batches := sorted(set(batch) - set(batch[(labels == name).to_numpy()])):
            verb = "has" if len(lacking_batches) == 1 else "have"
            phrases.append(f"batch {listing(lacking_batches)} {verb} no '{name}'")
    return f": {', '.join(phrases)}" if phrases else ""
