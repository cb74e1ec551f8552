"""Check the samples against the splits, and look for leaks that make errors look too small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import is_covariate
from genesig.data.files.names import Config
from genesig.data.files.patient_columns import (
    MAX_CHANCE,
    MAX_CHANCE_OF_EQUAL_SIZE,
    MAX_UNIT_SIZE,
    MIN_UNITS,
    chance_of_one_response,
    names_patients,
)
from genesig.data.splits.draw import BATCH_SCHEMES
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem, did_you_mean
from genesig.response.decision import SENSITIVITY, SPECIFICITY
from genesig.response.kinds import RESPONSES
from genesig.results import Design, Splits
from genesig.words import counted, further_text, further_text_of, is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd


SPLIT_SIDES = ("train", "test")


def check_design(sheet: Sheet, config: Config, file: str) -> Iterator[Problem]:
    """Yield a problem if the samples cannot be split as the config says.

    Splits need a number of units: groups if there are groups, otherwise single samples.
    """
    if sheet.design.pair is not None:
        yield from _check_pairs(sheet, file) if sheet.design.classes else ()
    elif LABEL_RULES[sheet.design.kind].one_response_per_group and sheet.design.group is not None:
        yield from _check_groups(sheet, file)
    splits = config["splits"]
    obs = sheet.obs
    if splits["file"] is not None:
        return
    train = obs
    if splits["scheme"] == "predefined" and splits["column"] in obs.columns:
        side_faults = list(_check_sides(sheet, splits["column"], file))
        yield from side_faults
        if side_faults:
            return
        train = obs[obs[splits["column"]] == "train"]
    unit_problems: list[tuple[int, Problem]] = []
    for name, n_units in _count_units(train, sheet).items():
        n_left = _smallest_training_size(n_units, splits["scheme"], splits["folds"])
        if splits["scheme"] in BATCH_SCHEMES and sheet.design.batch is not None:
            batch_of_sample = train[sheet.design.batch]
            n_left = min(
                _count_units(train[batch_of_sample != left_out], sheet)[name]
                for left_out in set(batch_of_sample)
            )
        unit_faults = _check_units(name, n_units, n_left, sheet, splits, file)
        unit_problems += [(n_units, problem) for problem in unit_faults]
    if unit_problems:
        rarest_problem = min(unit_problems, key=lambda counted_problem: counted_problem[0])[1]
        yield Problem(
            rarest_problem.location,
            rarest_problem.message + further_text_of(len(unit_problems) - 1, "class", "classes"),
        )


def check_tested_classes(sheet: Sheet, splits: Splits, file: str) -> Iterator[Problem]:
    """Yield a warning for a class that no test set contains."""
    design = sheet.design
    tested_samples = {name for split in splits.outer for name in split.test}
    tested_classes = set(
        sheet.obs[design.label][[name in tested_samples for name in sheet.obs.index]]
    )
    for name in design.classes or ():
        if tested_samples and name not in tested_classes:
            message = (
                f"no test sample is '{name}', so that balanced error and AUC are not defined; "
                "test on samples of both classes"
            )
            yield Problem(f"{file}, column '{design.label}'", message, "warning")


def check_training_classes(
    sheet: Sheet, splits: Splits, decision: Config, source: str
) -> Iterator[Problem]:
    """Yield a warning if a class has too few training samples for the wanted specificity or such.

    Samples of one group count once.

    decision: section ``decision`` of the config.
    source: name of the config in messages.
    """
    design = sheet.design
    # Classes are (negative, positive).
    for name, class_name in zip((SPECIFICITY, SENSITIVITY), design.classes or (), strict=False):
        target = decision[name]
        if target is None:
            continue
        class_samples = sheet.obs.index[sheet.obs[design.label] == class_name]
        unit_of_sample = (
            class_samples.to_series()
            if design.group is None
            else (sheet.obs.loc[class_samples, design.group])
        )
        size = min(
            unit_of_sample[class_samples.isin(split.train)].nunique()
            for split in (*splits.outer, splits.final)
        )
        unit = "sample" if design.group is None else "group"
        # The score of a new sample lies below all of them with probability 1/(size + 1).
        if target > size / (size + 1):
            message = (
                f"{name} {target:g} needs more than the {counted(size, unit)} of '{class_name}'"
                f" in the smallest training set, which allow {size / (size + 1):.3g}; ask for that"
                " or less"
            )
            yield Problem(f"{source}, decision", message, "warning")


def _count_units(obs: pd.DataFrame, sheet: Sheet) -> dict[str, int]:
    """Return the number of units for each requirement: every class, or the event of survival.

    Requirements are named as in ``Response.required_samples``, ``"class 'case'"``.
    """
    design = sheet.design
    kind = RESPONSES[sheet.design.kind]
    unit_of_sample = obs.index.to_series() if design.group is None else obs[design.group]
    required_rows = kind.required_samples(kind.read(obs, design), design.classes)
    return {
        requirement: int(unit_of_sample[rows].nunique())
        for requirement, rows in required_rows.items()
    }


def _check_units(
    name: str, n_units: int, n_left: int, sheet: Sheet, splits: Config, file: str
) -> Iterator[Problem]:
    """Yield a problem if a requirement, such as ``"class 'case'"``, has too few units.

    name: the requirement. n_left: number of its units in the smallest training set.
    splits: section ``splits`` of the config.
    """
    group = sheet.design.group
    scheme = splits["scheme"]
    folds = splits["folds"]
    label_location = f"{file}, column '{sheet.design.label}'"
    subject = f"{name} has {counted(n_units, 'sample' if group is None else 'group')}"
    subject += f" (column '{group}')" if group is not None else ""
    subject += " to train on" if scheme == "predefined" else ""
    is_kfold = scheme in ("stratified_kfold", "stratified_group_kfold")
    if n_units < 3:
        yield Problem(
            label_location, f"{subject}; at least 3 are needed, to be split outside and inside"
        )
    elif is_kfold and n_units < folds:
        leave_one_out_scheme = "leave_one_out" if group is None else "leave_one_group_out"
        advice = (
            f"set splits.folds to {n_units} or less, or splits.scheme to {leave_one_out_scheme}"
        )
        yield Problem(label_location, f"{subject}, splits.folds is {folds}; {advice}")
    elif n_left < 2:
        yield Problem(
            label_location, f"{subject}, of which {n_left} may be left to train on; 2 are needed"
        )
    elif splits["inner_scheme"] == "stratified_kfold" and n_left < splits["inner_folds"]:
        advice = f"set splits.inner_folds to {n_left} or less, or splits.inner_scheme to "
        message = (
            f"{subject}, of which {n_left} may be left to train on, splits.inner_folds is "
            f"{splits['inner_folds']}; {advice}leave_one_out"
        )
        yield Problem(label_location, message)


def _smallest_training_size(n_units: int, scheme: str, n_folds: int) -> int:
    """Return how many of the units the smallest training set has."""
    if scheme == "predefined":
        return n_units
    return n_units - ceil(n_units / n_folds) if scheme.endswith("kfold") else n_units - 1


def _check_pairs(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a problem if a pair is not one sample of each class."""
    pair = sheet.design.pair
    label = sheet.design.label
    labels_of_faulty_pair = {
        str(name): sorted(members[label])
        for name, members in sheet.obs.groupby(pair, sort=False)
        if len(members) != 2 or members[label].nunique() != 2
    }
    for name, labels in list(labels_of_faulty_pair.items())[:1]:
        pair_text = f"{counted(len(labels), 'sample')} ({', '.join(labels)})"
        further_pairs = further_text(len(labels_of_faulty_pair) - 1, "pair")
        message = (
            f"data.pair: pair '{name}' has {pair_text}, needs one of each class{further_pairs}"
        )
        yield Problem(f"{file}, column '{pair}'", message)


def _check_groups(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a problem if samples of one group have different responses."""
    kind = RESPONSES[sheet.design.kind]
    group = str(sheet.design.group)
    label_cells = kind.label_cells(sheet.obs, sheet.design)
    labels_of_group = (
        sheet.obs.assign(shown=label_cells).groupby(group, sort=False)["shown"].unique()
    )
    labels_of_faulty_group = {
        str(name): list(words) for name, words in labels_of_group.items() if len(words) > 1
    }
    for name, words in list(labels_of_faulty_group.items())[:1]:
        message = (
            f"data.group: '{name}' has {listing(words)}; the samples of one group must have one "
            f"response{further_text(len(labels_of_faulty_group) - 1, 'group')}"
        )
        yield Problem(f"{file}, column '{group}'", message)


def _check_sides(sheet: Sheet, column: str, file: str) -> Iterator[Problem]:
    """Yield the problems of the column that assigns samples to train and test."""
    obs = sheet.obs
    column_location = f"{file}, column '{column}'"
    faulty_words = {
        str(name): str(word) for name, word in obs[column].items() if word not in SPLIT_SIDES
    }
    for name, word in list(faulty_words.items())[:1]:
        further_samples = further_text(len(faulty_words) - 1, "sample")
        suggestion = did_you_mean(word.lower(), SPLIT_SIDES)
        word_text = f"'{word}'" if word else "blank"
        yield Problem(
            column_location,
            f"sample '{name}' is {word_text}, needs train or test{further_samples}{suggestion}",
        )
    if not faulty_words:
        for side in SPLIT_SIDES:
            if side not in set(obs[column]):
                yield Problem(
                    column_location, f"no sample is '{side}'; both train and test are needed"
                )
    group = sheet.design.group
    if group in obs.columns and not faulty_words:
        split_groups = [
            str(name) for name, sides in obs.groupby(group)[column] if len(set(sides)) > 1
        ]
        if split_groups:
            message = (
                f"{group} {listing(split_groups)} has samples on both sides; keep each on one side"
            )
            yield Problem(column_location, message)


CORRELATION_ROUNDING = 1e-10  # |r| of a gene that equals the label is at least 1 less this
MIN_NEAR_EQUALITY = 0.98
"""|r| of a gene that nearly equals the label; area under the ROC curve that comes near to 1."""
MAX_FALSE_WARNINGS = 0.01  # largest share of studies of pure noise that are warned of a gene
UNRELATED, EQUAL, NEARLY, SEPARATES = range(4)  # relations of a gene to the label
GENES_PER_BLOCK = 4096  # genes that are tested at a time, which limits the memory


def check_label_genes(expression: Expression, sheet: Sheet, file: str) -> Iterator[Problem]:
    """Warn of genes that may be the label, or that the label may be made from.

    Such are genes with |r| = 1 (with classes: one value for each class), genes with |r| > 0.98, and
    genes that separate two classes without error, as does a gene whose values the label was cut
    from.

    Chance does so, too: of 20,000 genes of noise 0.2 separate 10 from 10 samples, and a dozen have
    |r| > 0.98 on six. So a gene with |r| < 1 is listed only if noise would do as well with a
    probability of at most 0.005/d, d genes: 2/C(n, n1) for a separation of n1 from n - n1 samples,
    the probability of the t-test for r. Less than 1 % of studies of pure noise are warned.

    Biology separates, too, but then other genes come near: in leukemia (38 patients) and in ten of
    16 pairs of tumours some genes separate, and the best other gene has an area under the ROC curve
    of 0.987 or more. So a separation is listed only if no other gene reaches 0.98. None of those
    data sets is warned then, and 97 % of labels cut from a random gene of nine data sets are.

    Of more than two classes r is the multiple correlation with all of them, by the F test: they
    have no order. A gene separates them if it separates every pair of classes; of n samples there
    are T! Π n_c! of n! orders in which noise does.
    """
    design = sheet.design
    response_kind = RESPONSES[design.kind]
    has_several_classes = len(design.classes or ()) > 2
    # (n, T) indicators of several classes, otherwise (n,)
    to_numbers = response_kind.number if has_several_classes else response_kind.plain
    response = to_numbers(response_kind.read(sheet.obs, design))
    gene_blocks = np.array_split(expression.X, len(expression.genes) // GENES_PER_BLOCK + 1, axis=1)
    max_p = MAX_FALSE_WARNINGS / 2 / max(1, len(expression.genes))
    class_masks = _class_masks(response) if design.classes is not None else ()
    relation_blocks = [_relation_to_label(X, response, max_p, class_masks) for X in gene_blocks]
    relation = np.concatenate(relation_blocks)
    if (relation == SEPARATES).any():
        unrelated_blocks = (
            X[:, block_relation == UNRELATED]
            for X, block_relation in zip(gene_blocks, relation_blocks, strict=True)
        )
        best_other = max(concordance(X, class_masks).max(initial=0) for X in unrelated_blocks)
        if best_other >= MIN_NEAR_EQUALITY:
            relation[relation == SEPARATES] = UNRELATED
    for relation_code, phrases in _relation_phrases(design).items():
        related_genes = [
            expression.genes[column] for column in np.flatnonzero(relation == relation_code)
        ]
        if related_genes:
            yield Problem(file, _relation_sentence(related_genes, *phrases), "warning")


def _relation_phrases(design: Design) -> dict[int, tuple[str, str, str]]:
    """Return verb, object and question of the warning for each relation of a gene to the label."""
    label = f"the label '{design.label}'"
    has_several_classes = len(design.classes or ()) > 2
    classes_text = "the classes"
    if not has_several_classes:
        classes_text = "'{}' from '{}'".format(*design.classes or "  ")
    equal_text = (
        "one value for each class" if has_several_classes else "correlation 1 over all samples"
    )
    nearly_text = "multiple correlation" if has_several_classes else "|correlation|"
    question = "was the label made from {it}? If so, take {it} out"
    return {
        EQUAL: (
            "equal",
            f"{label} ({equal_text})",
            "{is_it} the label itself, or made from it? Take {it} out",
        ),
        NEARLY: ("nearly equal", f"{label} ({nearly_text} above {MIN_NEAR_EQUALITY:g})", question),
        SEPARATES: ("separate", f"{classes_text} without error, and no other comes near", question),
    }


def _relation_sentence(genes: list[str], verb: str, relation_text: str, question: str) -> str:
    """Return the warning of genes with one relation to the label."""
    is_single = len(genes) == 1
    subject = f"gene {listing(genes)} {verb}s" if is_single else f"genes {listing(genes)} {verb}"
    question = question.format(
        it="it" if is_single else "them", is_it="is it" if is_single else "are they"
    )
    return f"{subject} {relation_text}; {question}, else the errors say nothing of new samples"


def _class_masks(y: Array) -> Sequence[Array]:
    """Return a mask of samples for each class, from y = ±1 (n,), or indicators (n, T)."""
    return (y < 0, y > 0) if y.ndim == 1 else tuple(y.T > 0)


def _relation_to_label(X: Array, y: Array, max_p: float, class_masks: Sequence[Array]) -> Array:
    """Return each gene's relation (d,) to y; a relation that chance explains is `UNRELATED`.

    X (n, d): NaN where missing.
    y (n,): response, or (n, T) indicators of several classes.
    max_p: largest probability with which noise may have the relation.
    class_masks: mask (n,) of samples for each class; empty without classes.
    """
    from scipy.special import fdtrc, gammaln, stdtr

    is_measured = np.isfinite(X)
    n_columns = 1 if y.ndim == 1 else y.shape[1] - 1
    correlation = np.abs(correlations(X, y)) if y.ndim == 1 else _multiple_correlations(X, y > 0)
    degrees_of_freedom = np.maximum(is_measured.sum(axis=0) - n_columns - 1, 1)
    with np.errstate(divide="ignore"):
        statistic = correlation * np.sqrt(
            degrees_of_freedom / np.maximum(1 - correlation**2, 0) / n_columns
        )
    p = (
        2 * stdtr(degrees_of_freedom, -statistic)
        if y.ndim == 1
        else fdtrc(n_columns, degrees_of_freedom, statistic**2)
    )
    relation = np.where((correlation > MIN_NEAR_EQUALITY) & (p <= max_p), NEARLY, UNRELATED)
    if class_masks:
        class_sizes = np.array([is_measured[in_class].sum(axis=0) for in_class in class_masks])
        # logarithm of the number of ways in which the classes can be spread over the samples
        log_arrangements = gammaln(is_measured.sum(axis=0) + 1) - gammaln(class_sizes + 1).sum(
            axis=0
        )
        is_rare = gammaln(len(class_masks) + 1) - log_arrangements <= np.log(max_p)
        relation[
            (relation == UNRELATED)
            & is_rare
            & (class_sizes > 0).all(axis=0)
            & separates_classes(X, class_masks)
        ] = SEPARATES
    return np.where(correlation >= 1 - CORRELATION_ROUNDING, EQUAL, relation)


def separates_classes(X: Array, class_masks: Sequence[Array]) -> Array:
    """Tell for each gene (d,) whether the ranges of its values in any two classes are disjoint.

    X (n, d): NaN where missing. class_masks: mask (n,) of samples for each class.
    """
    is_measured = np.isfinite(X)
    class_minima = [
        np.where(is_measured, X, np.inf)[in_class].min(axis=0, initial=np.inf)
        for in_class in class_masks
    ]
    class_maxima = [
        np.where(is_measured, X, -np.inf)[in_class].max(axis=0, initial=-np.inf)
        for in_class in class_masks
    ]
    pair_separations = [
        (class_maxima[first_class] < class_minima[second_class])
        | (class_maxima[second_class] < class_minima[first_class])
        for first_class, second_class in combinations(range(len(class_minima)), 2)
    ]
    return np.asarray(np.all(pair_separations, axis=0))


def concordance(X: Array, class_masks: Sequence[Array]) -> Array:
    """Return for each gene the share of sample pairs of two classes that it orders alike.

    Pairs are ordered as most pairs of the same two classes. With two classes this is the area under
    the ROC curve, or 1 less this if it is below one half. Missing values are left out; a tie counts
    as an error.

    X (n, d): NaN where missing. class_masks: mask (n,) of samples for each class.
    """
    is_measured = np.isfinite(X)
    (n_concordant, n_pairs) = np.zeros((2, X.shape[1]), dtype=np.int64)
    for in_first, in_second in combinations(class_masks, 2):
        n_concordant += np.maximum(
            _count_ordered_pairs(X[in_first], X[in_second]),
            _count_ordered_pairs(X[in_second], X[in_first]),
        )
        n_pairs += is_measured[in_first].sum(axis=0) * is_measured[in_second].sum(axis=0)
    return np.asarray(n_concordant / np.maximum(n_pairs, 1))


def _count_ordered_pairs(low_class: Array, high_class: Array) -> Array:
    """Return for each gene (d,) the number of pairs with a smaller value in the low class."""
    # A stable sort puts equal values of `high_class` first, so that ties do not count.
    values = np.vstack([high_class, low_class])
    order = np.argsort(values, axis=0, kind="stable")
    is_high = order >= len(high_class)
    is_counted = ~is_high & np.isfinite(np.take_along_axis(values, order, axis=0))
    return np.asarray((np.cumsum(is_high, axis=0) * is_counted).sum(axis=0))


def _multiple_correlations(X: Array, is_member: Array) -> Array:
    """Return each gene's multiple correlation (d,) with class indicators, without missing values.

    X (n, d): NaN where missing. is_member (n, T) bool.
    √(1 - within/total sums of squares); 0 if at most half of the samples have a value.
    """
    is_measured = np.isfinite(X)
    n_measured = is_measured.sum(axis=0)
    centred = np.where(is_measured, X, 0)
    centred = np.where(is_measured, centred - centred.sum(axis=0) / np.maximum(n_measured, 1), 0)
    class_sizes = np.maximum(is_member.T.astype(float) @ is_measured, 1)
    between_sum_of_squares = np.sum((is_member.T @ centred) ** 2 / class_sizes, axis=0)
    total_sum_of_squares = np.sum(centred**2, axis=0)
    is_usable = (
        (total_sum_of_squares > 0)
        & (2 * n_measured > len(is_member))
        & (n_measured > is_member.shape[1])
    )
    explained_share = np.divide(
        between_sum_of_squares,
        total_sum_of_squares,
        out=np.zeros(len(total_sum_of_squares)),
        where=is_usable,
    )
    return np.asarray(np.sqrt(np.minimum(explained_share, 1)))


def correlations(X: Array, y: Array) -> Array:
    """Return each gene's correlation (d,) with y (n,), without missing values of X (n, d).

    0 if at most half of the samples have a value.
    """
    is_measured = np.isfinite(X)
    n_measured = np.maximum(is_measured.sum(axis=0), 1)
    centred_genes = np.where(is_measured, X, 0)
    centred_genes = np.where(is_measured, centred_genes - centred_genes.sum(axis=0) / n_measured, 0)
    centred_response = np.where(is_measured, y[:, None] - (y @ is_measured) / n_measured, 0)
    norm = np.sqrt(np.sum(centred_genes**2, axis=0) * np.sum(centred_response**2, axis=0))
    is_usable = (norm > 0) & (2 * n_measured > len(y)) & (n_measured > 2)
    return np.asarray(
        np.divide(
            np.sum(centred_genes * centred_response, axis=0),
            norm,
            out=np.zeros(len(n_measured)),
            where=is_usable,
        )
    )


def check_patient_columns(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Warn of a column of patients whose samples may be on both sides of a split.

    A column is recognised by its name, otherwise by values that repeat with one response each.
    """
    named_warnings = list(_warn_by_column_name(sheet, file))
    yield from named_warnings or _warn_by_repeated_values(sheet, file)


def _warn_by_column_name(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a warning for columns that are called as patients are."""
    obs = sheet.obs
    design = sheet.design
    for name in map(str, obs.columns):
        if name == design.label or not names_patients(name):
            continue
        samples_with_value = obs[[not is_missing(value) for value in obs[name]]]
        if _repeats_within_class(samples_with_value, name, design) and _may_be_split(
            samples_with_value, name, design.group
        ):
            message = f"samples of one '{name}' would stand on both sides of a split; "
            if LABEL_RULES[design.kind].one_response_per_group and not _has_one_response(
                sheet, samples_with_value, name
            ):
                message += (
                    "their responses differ, so that they are no group: keep one sample of each"
                )
            else:
                message += f"set {_group_setting(samples_with_value, name, design)}: {name}"
                message += "" if design.studies else " and splits.scheme: stratified_group_kfold"
            column_location = f"{file}, column '{name}'"
            yield Problem(column_location, message, "warning", "samples_of_one_unit", "data.group")


def _group_setting(samples_with_value: pd.DataFrame, name: str, design: Design) -> str:
    """Return ``"data.pair"`` if each value of a column has one sample of each class.

    Otherwise ``"data.group"``.
    """
    if design.classes is None or len(design.classes) != 2 or design.studies:
        return "data.group"
    labels_of_unit = samples_with_value.groupby(name)[design.label]
    are_pairs = (labels_of_unit.size() == 2).all() and (labels_of_unit.nunique() == 2).all()
    return "data.pair" if are_pairs else "data.group"


MIN_UNITS_OF_CLASS = 3  # values in each class; subtypes of tumours are in one class alone
MIN_UNITS_CALLED_AS_CLASSES = 9
"""Number of values named after their class from which on they are patients, such as control_01;
fewer are subclasses, such as control_6h."""


def _warn_by_repeated_values(sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a warning if the values of a column look like patients with several samples.

    Each value (unit) then repeats with one response. Of several columns the one with most units
    is reported.
    """
    design = sheet.design
    used_columns = {
        design.label,
        design.event,
        design.batch,
        design.group,
        design.pair,
        design.weights,
    }
    used_columns |= {covariate.column for covariate in design.covariates}
    response_texts = [str(word) for word in RESPONSES[design.kind].label_cells(sheet.obs, design)]
    n_units: dict[str, int] = {}
    for name in map(str, sheet.obs.columns):
        if name in used_columns or is_covariate(name):
            continue
        unit_of_sample = _units_of_samples(sheet, name)
        samples_with_value = sheet.obs[[cell is not None for cell in unit_of_sample]]
        if _are_units(unit_of_sample, response_texts, sheet) and _may_be_split(
            samples_with_value, name, design.group
        ):
            n_units[name] = len({cell for cell in unit_of_sample if cell is not None})
    if n_units:
        name = max(n_units, key=lambda column: n_units[column])
        message = (
            f"each of its {n_units[name]} values has one response, as the samples of one patient"
            " have; samples of one value would stand on both sides of a split: if they belong "
            f"together, set data.group: {name}"
        )
        message += "" if design.studies else " and splits.scheme: stratified_group_kfold"
        column_location = f"{file}, column '{name}'"
        yield Problem(column_location, message, "warning", "samples_of_one_unit", "data.group")


def _units_of_samples(sheet: Sheet, name: str) -> list[str | None]:
    """Return a column's cells, None where missing, with the study's name if there are several.

    Each study numbers its patients by itself.
    """
    cells = [None if is_missing(cell) else cell.strip() for cell in map(str, sheet.obs[name])]
    if not sheet.design.studies:
        return cells
    studies = map(str, sheet.obs[str(sheet.design.batch)])
    return [cell and f"{study} {cell}" for study, cell in zip(studies, cells, strict=True)]


def _are_units(cells: Sequence[str | None], response_texts: Sequence[str], sheet: Sheet) -> bool:
    """Tell whether values (units) repeat with one response each, far more often than by chance.

    Values with many samples are conditions of an experiment, not patients, unless all have the same
    number of samples and there are at least twice as many values. Decimals are measurements; so are
    whole numbers that rise or fall with the response.

    cells: value of each sample, None where missing.
    response_texts: response of each sample.
    """
    rows_of_unit: dict[str, list[int]] = {}
    for row, cell in enumerate(cells):
        if cell is not None:
            rows_of_unit.setdefault(cell, []).append(row)
    sizes = [len(unit_rows) for unit_rows in rows_of_unit.values()]
    repeated_units = [unit_rows for unit_rows in rows_of_unit.values() if len(unit_rows) > 1]
    if len(rows_of_unit) < MIN_UNITS or not repeated_units:
        return False
    equal_sizes = len(set(sizes)) == 1
    if sum(sizes) > MAX_UNIT_SIZE * len(sizes) and not (equal_sizes and len(sizes) >= 2 * sizes[0]):
        return False
    if any(len({response_texts[row] for row in unit_rows}) > 1 for unit_rows in repeated_units):
        return False
    n_units = Counter(response_texts[unit_rows[0]] for unit_rows in rows_of_unit.values())
    if any(n_units[name] < MIN_UNITS_OF_CLASS for name in sheet.design.classes or ()):
        return False
    if all(map(is_number, rows_of_unit)) and _are_measurements(rows_of_unit, sheet):
        return False
    if sheet.design.classes and _are_subclasses(rows_of_unit, sheet):
        return False
    responses = [response_texts[row] for unit_rows in rows_of_unit.values() for row in unit_rows]
    limit = MAX_CHANCE_OF_EQUAL_SIZE if equal_sizes else MAX_CHANCE
    return chance_of_one_response(repeated_units, responses) < limit


def _are_subclasses(rows_of_unit: Mapping[str, Sequence[int]], sheet: Sheet) -> bool:
    """Tell whether values are subclasses: control_6h, or a class combined with another column.

    rows_of_unit: value -> rows of its samples.
    """
    labels = list(map(str, sheet.obs[sheet.design.label]))
    n_named_as_class = sum(
        labels[unit_rows[0]].casefold() in unit.casefold()
        for unit, unit_rows in rows_of_unit.items()
    )
    if 2 * n_named_as_class > len(rows_of_unit) and len(rows_of_unit) < MIN_UNITS_CALLED_AS_CLASSES:
        return True
    unit_of_row = {row: unit for unit, unit_rows in rows_of_unit.items() for row in unit_rows}
    for name in sheet.obs.columns:
        cells = list(map(str, sheet.obs[name]))
        units: dict[tuple[str, str], set[str]] = {}
        for row, unit in unit_of_row.items():
            units.setdefault((labels[row], cells[row]), set()).add(unit)
        has_few_values = 2 * len(set(cells)) <= len(rows_of_unit)
        if (
            has_few_values
            and name != sheet.design.label
            and all(len(units_of_cells) == 1 for units_of_cells in units.values())
        ):
            return True
    return False


def _are_measurements(rows_of_unit: Mapping[str, Sequence[int]], sheet: Sheet) -> bool:
    """Tell whether numbers are decimals, or rise or fall with the mean response.

    rows_of_unit: number, as text -> rows of its samples.
    """
    if any(float(cell) % 1 for cell in rows_of_unit):
        return True
    kind = RESPONSES[sheet.design.kind]
    response = np.asarray(kind.plain(kind.read(sheet.obs, sheet.design)), float)
    if response.ndim > 1:
        response = response.argmax(axis=1)
    mean_responses = [
        response[list(rows_of_unit[cell])].mean() for cell in sorted(rows_of_unit, key=float)
    ]
    steps = np.diff(mean_responses)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _has_one_response(sheet: Sheet, samples_with_value: pd.DataFrame, name: str) -> bool:
    """Tell whether all samples with one value of a column have one response, as a group must."""
    response_text = RESPONSES[sheet.design.kind].label_cells(samples_with_value, sheet.design)
    return bool(
        samples_with_value.assign(shown=response_text).groupby(name)["shown"].nunique().max() == 1
    )


def _repeats_within_class(samples_with_value: pd.DataFrame, name: str, design: Design) -> bool:
    """Tell whether values repeat, other than one value for all or one for each class."""
    if not samples_with_value[name].duplicated().any() or len(set(samples_with_value[name])) == 1:
        return False
    return design.classes is None or bool(
        samples_with_value.groupby(design.label)[name].nunique().max() > 1
    )


def _may_be_split(samples_with_value: pd.DataFrame, name: str, group: str | None) -> bool:
    """Tell whether samples with one value of column `name` can be on both sides of a split.

    group: column of the groups that splits leave whole, if there is one.
    """
    if group is None:
        return True
    if name == group:
        return False
    return bool(samples_with_value.groupby(name)[group].nunique().max() > 1)
