"""How far batch and label go together, and components with columns of the sample table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.study.design_check import ROUNDING, correlations
from genesig.data.study.sheet_check import Sheet, check_column
from genesig.errors import Problem
from genesig.response.covariates import Covariate, encoded
from genesig.response.known import RESPONSES
from genesig.results import Design
from genesig.words import is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

# Numbers with so few values are codes (of a batch, a centre), unless most samples have their own.
_CODES = 10
_FEWEST_LEFT = 2


@dataclass(frozen=True)
class Association:
    """Share of each component's variance that a column explains, and its test.

    Attributes
    ----------
    kind : {"classes", "number"}
        Share is eta² of one-way analysis of variance, or r².
    levels, samples : int
        Classes (2 for a number: its degrees of freedom plus one); samples that have a value.
    share, adjusted : (k,) float
        The second less what chance gives, ``1 - (1 - share)(n - 1)/(n - levels)``, at least 0:
        with it columns of few and of many classes can be compared.
    p : (k,) float
        Of the F test, ``F = (share/(levels - 1)) / ((1 - share)/(n - levels))``.
    """

    kind: str
    levels: int
    samples: int
    share: Array
    adjusted: Array
    p: Array


def association(points: Array, column: Sequence[str], *, number: bool) -> Association | str:
    """Test a column against components, or say in words why it cannot be tested.

    Parameters
    ----------
    points : (n, k) float
        Samples on the components.
    column : (n,) str
        Blank cells and such as NA are left out.
    number : bool
        Whether its values are numbers and mean more than names.
    """
    rows = [row for row, value in enumerate(column) if not is_missing(value)]
    values = [column[row].strip() for row in rows]
    distinct = sorted(set(values))
    if len(distinct) < 2:
        return "one value" if distinct else "no value"
    if not number and len(distinct) == len(values):
        return "a value of its own for each sample"
    levels = 2 if number else len(distinct)
    if len(values) - levels < _FEWEST_LEFT:
        return "too few samples for its values"
    P = points[rows] - points[rows].mean(axis=0)
    share = _r2(P, values) if number else _eta2(P, values, distinct)
    return _tested("number" if number else "classes", share, levels, len(values))


def means_numbers(column: Sequence[str]) -> bool:
    """Tell whether a column holds numbers that are more than codes of a few classes."""
    values = [value for value in column if not is_missing(value)]
    distinct = len(set(values))
    many = distinct > _CODES or 2 * distinct > len(values)
    return many and all(map(is_number, values))


def _eta2(P: Array, values: list[str], distinct: list[str]) -> Array:
    member = np.array(values, dtype=object)[:, None] == np.array(distinct, dtype=object)
    sums = member.T.astype(float) @ P
    between = (sums**2 / member.sum(axis=0)[:, None]).sum(axis=0)
    return _share(between, (P**2).sum(axis=0))


def _r2(P: Array, values: list[str]) -> Array:
    x = np.array(values, dtype=float)
    x = x - x.mean()
    return _share((x @ P) ** 2, (x @ x) * (P**2).sum(axis=0))


def _share(part: Array, whole: Array) -> Array:
    """Divide; a component without variance has no share."""
    known = whole > 0
    return np.where(known, np.clip(part / np.where(known, whole, 1.0), 0, 1), np.nan)


def _tested(kind: str, share: Array, levels: int, samples: int) -> Association:
    from scipy.special import fdtrc

    left = samples - levels
    with np.errstate(divide="ignore", invalid="ignore"):
        F = (share / (levels - 1)) / ((1 - share) / left)
    adjusted = np.maximum(1 - (1 - share) * (samples - 1) / left, 0)
    return Association(kind, levels, samples, share, adjusted, fdtrc(levels - 1, left, F))


NOTABLE = 0.3
"""A medium effect size (J. Cohen 1988, Statistical power analysis, 7.2.3): worth a warning."""


def association_with_label(y: Array, batch: Array) -> float | None:
    """``epsilon = sqrt(max(0, 1 - (1 - eta²)(n - 1)/(n - k)))``: 0 not at all, 1 entirely.

    eta² is the share of the response's variance that lies between the k batches. For two classes,
    eta is Cramér's V of the table batch × class, whatever the number of batches. The correction
    takes off what chance gives, as in the adjusted R²: with labels drawn at random, ten batches of
    four samples have V = 0.48 without it. For two batches it is Bergsma's correction of V; for more
    of them that one, other than this, stays below 1 where each batch has but one class.

    Parameters
    ----------
    y : (n,) float
        ±1 for two classes, the number itself for regression.
    batch : (n,) names

    Returns
    -------
    float or None
        None where it is not defined: one batch, one response, or hardly more samples than batches.

    Notes
    -----
    T. L. Kelley (1935), PNAS 21:554. W. Bergsma (2013), J. Korean Stat. Soc. 42:323.
    """
    found = association(y[:, None], [str(name) for name in batch], number=False)
    if isinstance(found, str) or np.isnan(found.adjusted[0]):
        return None
    return float(np.sqrt(found.adjusted[0]))


def check_confounding(
    obs: pd.DataFrame, design: Design, limit: float, place: str
) -> Iterator[Problem]:
    """Yield what the batches say of the label: an error above `limit`, else warnings."""
    if design.batch is None:
        return
    at = f"{place}, column '{design.batch}'"
    batch = obs[design.batch].to_numpy(dtype=object)
    if len(set(batch)) == 1:
        yield Problem(
            at,
            f"data.batch: every sample is '{batch[0]}', so that there is nothing "
            "between batches to look at",
            "warning",
        )
        return
    labels = obs[design.label]
    value = strongest(_numbers(obs, design), batch)
    if value is None:
        yield Problem(
            at,
            f"data.batch: {len(set(batch))} batches for {len(batch)} samples; how "
            "far batch and label go together cannot be measured",
            "warning",
        )
        return
    measured = _measured(value, design)
    lacking = _lacking(labels, batch, design)
    if value > limit:
        yield Problem(
            at,
            f"batch and label go together ({measured}, at most {limit:g} is "
            f"accepted), so that the batch could be taken for the label{lacking}; leave "
            "samples out until they do not, or set data.confounding: 1 to go on all "
            "the same",
        )
    elif value > NOTABLE:
        yield Problem(
            at,
            f"batch and label go together ({measured}), so that part of what "
            f"predicts the label may be the batch{lacking}",
            "warning",
        )
    elif lacking:
        yield Problem(
            at,
            f"{lacking.removeprefix(': ')} ({measured}), so that between batches "
            "the label cannot be told from the batch",
            "warning",
        )


def check_covariates(
    sheet: Sheet, folds: Sequence[Mapping[str, Any]], place: str
) -> Iterator[Problem]:
    """Yield the covariates of a batch correction that lack values, or are the label renamed.

    The class in the design of a correction leaks into the test samples (V. Nygaard et al. 2016,
    Biostatistics 17:29).
    """
    obs = sheet.obs
    design = sheet.design
    y = _numbers(obs, design)
    named = dict.fromkeys(name for step in folds for name in step.get("covariates", ()))
    for name in [n for n in named if n not in (design.label, design.batch)]:  # see settings_check
        at = f"{place}, column '{name}'"
        problems: list[Problem] = []
        check_column(name, "covariate", list(obs.columns), str(obs.index.name), place, problems)
        yield from problems
        if problems:
            continue
        blank = [str(n) for n, value in obs[name].items() if is_missing(value)]
        if blank:
            message = f"covariate of combat: no value for {listing(blank)}; each sample needs one"
            yield Problem(at, message)
            continue
        covariate = encoded([Covariate.from_cells(name, map(str, obs[name]))], obs)
        if any(abs(correlations(covariate, column)).max() >= 1 - ROUNDING for column in y.T):
            yield Problem(
                at,
                f"covariate of combat: equals the label '{design.label}', which no "
                "step may see; take it out",
            )


def _numbers(obs: pd.DataFrame, design: Design) -> Array:
    """Return the response as columns, (n, 1) or one of each class."""
    kind = RESPONSES[design.kind]
    y = kind.number(kind.read(obs, design))
    return y.reshape(len(y), -1)


def strongest(columns: Array, batch: Array) -> float | None:
    """Return the association of the column that has most of it; None where it has no meaning."""
    found = [association_with_label(column, batch) for column in columns.T]
    return None if None in found else max(each for each in found if each is not None)


def _measured(value: float, design: Design) -> str:
    if design.classes is not None:
        return f"Cramér's V {value:.2f}"
    return f"correlation ratio {value:.2f}: {100 * value**2:.0f} % of the variance of the label"


def _lacking(labels: pd.Series[str], batch: Array, design: Design) -> str:
    """Name the batches without a class: ``": batch 'b2' has no 'tumor'"``, or nothing."""
    parts = []
    for name in design.classes or ():
        without = sorted(set(batch) - set(batch[(labels == name).to_numpy()]))
        if without:
            verb = "has" if len(without) == 1 else "have"
            parts.append(f"batch {listing(without)} {verb} no '{name}'")
    return f": {', '.join(parts)}" if parts else ""
