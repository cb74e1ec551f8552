"""Warn of genes that hold the label: they would make errors look too small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from genesig.arrays import Array
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.response.kinds import RESPONSES
from genesig.results import Design
from genesig.words import listing

CORRELATION_ROUNDING = 1e-10  # |r| of a gene that equals the label is at least 1 less this
MIN_NEAR_EQUALITY = 0.98
"""|r| of a gene that nearly equals the label; area under the ROC curve that comes near to 1."""
MAX_FALSE_WARNINGS = 0.01  # largest share of studies of pure noise that are warned of a gene
UNRELATED, EQUAL, NEARLY_EQUAL, SEPARATES = range(4)  # relations of a gene to the label
GENES_PER_BLOCK = 4096  # genes that are tested at a time, which limits the memory


def check_label_genes(expression: Expression, sheet: Sheet, file: str) -> Iterator[Problem]:
    """Warn of genes that may be the label, or that the label may be made from.

    sheet: the checked sample table with its design. file: the matrix's, for messages.

    Such are genes with |r| = 1 (with classes: one value for each class), genes with |r| > 0.98, and
    genes that separate two classes without error, as does a gene whose values the label was cut
    from.

    Chance does so, too: of 20,000 genes of noise 0.2 separate 10 from 10 samples, and a dozen have
    |r| > 0.98 on six. So a gene with |r| < 1 is listed only if noise would do as well with a
    probability of at most 0.005/d, d genes: 2/C(n, n1) for a separation of n1 from n - n1 samples,
    the probability of the t-test for r. Less than 1 % of studies of pure noise are warned.

    Low counts of few samples equal classes by chance: of genes that are 0 in four and 1 in three of
    7 samples, one in 35 does. So genes with one value for each class are listed only if noise has
    so many of them with a probability of at most 0.01.

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
    # (n, T) ±1 indicators of several classes, otherwise (n,)
    numeric_response = (
        response_kind.numeric_response if has_several_classes else response_kind.label_values
    )
    response = numeric_response(response_kind.read(sheet.obs, design))
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
    are_equal = relation == EQUAL
    if (
        class_masks
        and are_equal.any()
        and _are_equal_by_chance(expression.X, class_masks, are_equal)
    ):
        relation[are_equal] = UNRELATED
    for relation_code, phrases in _relation_phrases(design).items():
        related_genes = [
            expression.genes[column] for column in np.flatnonzero(relation == relation_code)
        ]
        if related_genes:
            yield Problem(file, _relation_sentence(related_genes, *phrases), "warning")


MAX_ARRANGEMENTS = 1e6  # ways to spread the classes from which on no gene equals them by chance


def _are_equal_by_chance(X: Array, class_masks: Sequence[Array], are_equal: Array) -> bool:
    """Tell whether chance explains the genes with one value for each class.

    Genes with as many values of as many samples each, in other samples, tell how many to expect.

    X (n, d). class_masks: mask (n,) of samples for each class. are_equal (d,) bool.
    """
    from scipy.special import gammaln
    from scipy.stats import poisson

    sizes = np.sort([int(in_class.sum()) for in_class in class_masks])
    log_arrangements = gammaln(sizes.sum() + 1) - gammaln(sizes + 1).sum()
    _, n_classes_of_size = np.unique(sizes, return_counts=True)
    log_arrangements -= gammaln(n_classes_of_size + 1).sum()  # such classes may be exchanged
    if log_arrangements > np.log(MAX_ARRANGEMENTS):
        return False
    similar_genes = [
        np.array_equal(np.sort(np.unique(x, return_counts=True)[1]), sizes) for x in X.T
    ]
    n_others = int((np.array(similar_genes) & ~are_equal).sum())
    # The others have A - 1 of the A arrangements, at least one.
    n_expected = n_others / np.expm1(max(log_arrangements, np.log(2)))
    return bool(poisson.sf(are_equal.sum() - 1, n_expected) > MAX_FALSE_WARNINGS)


def _relation_phrases(design: Design) -> dict[int, tuple[str, str, str]]:
    """Return verb, object and question of the warning for each relation of a gene to the label."""
    label = f"the label '{design.label}'"
    has_several_classes = len(design.classes or ()) > 2
    classes_text = "the classes"
    if design.classes is not None and not has_several_classes:
        classes_text = "'{}' from '{}'".format(*design.classes)
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
        NEARLY_EQUAL: (
            "nearly equal",
            f"{label} ({nearly_text} above {MIN_NEAR_EQUALITY:g})",
            question,
        ),
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
    """Return each gene's relation (d,) to y: `UNRELATED` if chance explains it, other than `EQUAL`.

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
        statistic = correlation * np.sqrt(  # |t|, or √F of several columns
            degrees_of_freedom / np.maximum(1 - correlation**2, 0) / n_columns
        )
    p = (
        2 * stdtr(degrees_of_freedom, -statistic)
        if y.ndim == 1
        else fdtrc(n_columns, degrees_of_freedom, statistic**2)
    )
    relation = np.where((correlation > MIN_NEAR_EQUALITY) & (p <= max_p), NEARLY_EQUAL, UNRELATED)
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

    A class without a measured value counts as disjoint from the others.

    X (n, d): NaN where missing. class_masks: mask (n,) of samples for each class.
    """
    is_measured = np.isfinite(X)
    low = np.where(is_measured, X, np.inf)
    high = np.where(is_measured, X, -np.inf)
    minima = [low[in_class].min(axis=0, initial=np.inf) for in_class in class_masks]
    maxima = [high[in_class].max(axis=0, initial=-np.inf) for in_class in class_masks]
    pair_separations = [
        (maxima[k] < minima[m]) | (maxima[m] < minima[k])
        for k, m in combinations(range(len(class_masks)), 2)
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
    n_concordant = np.zeros(X.shape[1], dtype=np.int64)
    n_pairs = np.zeros(X.shape[1], dtype=np.int64)
    for in_first, in_second in combinations(class_masks, 2):
        n_concordant += np.maximum(
            _count_ordered_pairs(X[in_first], X[in_second]),
            _count_ordered_pairs(X[in_second], X[in_first]),
        )
        n_pairs += is_measured[in_first].sum(axis=0) * is_measured[in_second].sum(axis=0)
    return np.asarray(n_concordant / np.maximum(n_pairs, 1))


def _count_ordered_pairs(low_class: Array, high_class: Array) -> Array:
    """Return for each gene (d,) the number of pairs with a smaller value in the low class.

    low_class (n, d), high_class (m, d): values of the samples of each class, NaN where missing.
    """
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
    between_squares = np.sum((is_member.T @ centred) ** 2 / class_sizes, axis=0)
    total_squares = np.sum(centred**2, axis=0)
    is_usable = (total_squares > 0) & (2 * n_measured > len(is_member))
    is_usable &= n_measured > is_member.shape[1]
    explained_share = np.divide(
        between_squares, total_squares, out=np.zeros(X.shape[1]), where=is_usable
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
