"""The parts of report_data.json about genes, and a warning.

Values are those after the summary steps, such as from probes to genes, which are fitted on all
samples for descriptions alone (`with_summaries_applied`). A `gene` of type int is its column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import with_summaries_applied
from genesig.data.steps.scale import LOG2_STEPS
from genesig.optim.cox.risk_sets import DEFAULT_TIES
from genesig.report.genes.record import (
    CorrelationMatrix,
    GeneCard,
    GeneCards,
    GeneNames,
    GeneParts,
    Genes,
    GeneStrip,
    HeatMap,
    Replacement,
    SingleGeneTests,
    Tree,
    VolcanoPlot,
)
from genesig.report.page.measure import class_codes
from genesig.report.page.record import MAX_PLOTTED_SAMPLES, Estimate, evenly_spaced_rows
from genesig.report.page.tables import at_mu, class_margins, table_rows
from genesig.report.page.words import counted, decimal
from genesig.selection.assess.intervals import NORMAL_QUANTILE, delong, mean_t, wilson
from genesig.selection.assess.survival import calibration_slope_of_cox, harrell
from genesig.selection.genes.univariate import Units, describe_test, pair_differences, units

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits


def cluster_rows(rows: Array) -> tuple[list[int], Tree]:
    """Return the order of the rows (n, d), and the joints of their tree (average linkage).

    A joint ``[left, right, height_left, height_right, height]`` joins two branches at the positions
    left and right (in rows of the order), where they end at these heights. Distances are Euclidean:
    for standardised genes they order pairs as 1 - r does.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(rows) < 2 or not rows.shape[1]:
        return list(range(len(rows))), []
    linkage_rows = linkage(rows, method="average")
    order = leaves_list(linkage_rows).tolist()
    position = np.empty(2 * len(rows) - 1)
    height = np.zeros(2 * len(rows) - 1)
    position[order] = np.arange(len(rows))
    joints = []
    # Nodes 0 to n - 1 are rows; each row of the linkage joins two nodes to node n, n + 1, ..
    for node, (first_child, second_child, level, _) in enumerate(linkage_rows, start=len(rows)):
        left, right = sorted(
            (int(first_child), int(second_child)), key=lambda child: position[child]
        )
        joints.append([position[left], position[right], height[left], height[right], level])
        position[node] = (position[left] + position[right]) / 2
        height[node] = level
    return order, joints


def count_single_gene_tests(
    dataset: Dataset, tables: Mapping[str, pd.DataFrame], fdr: float
) -> SingleGeneTests:
    """Count the genes whose single-gene test passes the false discovery rate `fdr`.

    Also return how many of them are in the signature, and which test it was (`describe_test`).
    """
    table = tables["univariate"]
    signature_genes = set(tables["signature"]["gene"].astype(str))
    passes = table["q_value"] <= fdr
    return {
        "bound": float(np.max(table.loc[passes, "p_value"])) if passes.any() else None,
        "significant": int(passes.sum()),
        "in_signature": int((passes & table["gene"].astype(str).isin(signature_genes)).sum()),
        "total": len(table),
        **describe_test(dataset),
    }


# genes of the volcano plot beside those of the lists
MAX_SMALLEST_P_GENES = 500
MAX_OTHER_GENES = 600


def gene_effects(dataset: Dataset) -> Array:
    """Return (n_genes,): the difference of the class means, positive less negative class.

    With several classes, the largest class mean less the smallest. For a number, the change of the
    gene with one standard deviation of it, cov(x, y)/sd(y); for survival that number is the
    martingale residual. Samples of a group are averaged first, as for the tests.
    """
    test_units = units(dataset)
    classes = dataset.design.classes
    if classes is not None:
        class_means = np.stack(
            [test_units.X[test_units.y == code].mean(axis=0) for code in class_codes(classes)]
        )
        if len(classes) > 2:
            return np.asarray(np.ptp(class_means, axis=0))
        negative_mean, positive_mean = class_means
        return np.asarray(positive_mean - negative_mean)
    response = dataset.response_kind.numeric_response(test_units.y)
    response = response - response.mean()
    covariance = (test_units.X - test_units.X.mean(axis=0)).T @ response / len(response)
    return np.asarray(covariance / max(float(response.std()), 1e-300))  # 0 of a constant response


def volcano_data(dataset: Dataset, tables: Mapping[str, pd.DataFrame], fdr: float) -> VolcanoPlot:
    """Return effect and p of the genes in lists, of those with the smallest p, and of others."""
    table = tables["univariate"]
    gene_ids = table["gene"].astype(str).to_numpy(dtype=object)
    in_signature = np.isin(gene_ids, tables["signature"]["gene"].astype(str))
    in_nonlinear_list = np.isin(gene_ids, _nonlinear_list(tables))
    rank = np.argsort(np.argsort(table["p_value"].to_numpy(), kind="stable"))
    is_shown = (rank < MAX_SMALLEST_P_GENES) | in_signature | in_nonlinear_list
    other_rows = np.flatnonzero(~is_shown)
    if len(other_rows):
        is_shown[other_rows[evenly_spaced_rows(len(other_rows), MAX_OTHER_GENES)]] = True
    shown_rows = table[is_shown]
    return {
        "genes": gene_ids[is_shown].tolist(),
        "symbols": [
            str(symbol) if symbol == symbol and symbol else gene  # neither NaN nor empty
            for gene, symbol in zip(gene_ids[is_shown], shown_rows["symbol"], strict=True)
        ],
        "effect": gene_effects(dataset)[is_shown].tolist(),
        "p": shown_rows["p_value"].astype(float).tolist(),
        "passes": (shown_rows["q_value"] <= fdr).tolist(),
        "signature": in_signature[is_shown].tolist(),
        "nonlinear": in_nonlinear_list[is_shown].tolist() if "nonlinear" in tables else None,
        "logarithm": _is_log2(dataset),
        "total": len(table),
    }


def _is_log2(dataset: Dataset) -> bool:
    """Return whether a row-wise step, or a step of `with_summaries_applied`, gives log2 values."""
    steps = [*dataset.provenance.get("steps", []), *dataset.provenance.get("summaries", [])]
    names = {step["step"] if isinstance(step, dict) else str(step) for step in steps}
    return bool(names & LOG2_STEPS)


def _nonlinear_list(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the genes of the nonlinear list; [] if nonlinear selection was not run."""
    if "nonlinear" not in tables:
        return []
    table = tables["nonlinear"]
    return [str(gene) for gene in table.loc[table["in_list"].astype(bool), "gene"]]


MAX_CORRELATED_GENES = 300
MAX_STRIPS = 60
MAX_HEAT_GENES = 100
MAX_HEAT_SAMPLES = 1000
MAX_NAMED_PAIRS = 3  # pairs of correlated groups that a warning names


def collect_genes(
    dataset: Dataset,
    tables: Mapping[str, pd.DataFrame],
    observed: Fits,
    halves: Fits | None,
    fdr: float,
) -> GeneParts:
    """Return the parts of report_data.json about genes; `fdr` is controls.fdr of the config."""
    summarised_dataset = with_summaries_applied(dataset)
    signature = tables["signature"]
    blocks = tables["blocks"]
    blocks = blocks[blocks["block"].notna()]  # a gene may belong to no group
    return {
        "univariate": count_single_gene_tests(dataset, tables, fdr),
        "correlation": correlation_data(summarised_dataset, blocks),
        "strips": gene_strips(summarised_dataset, signature),
        "heat": heat_data(summarised_dataset, signature, tables["predictions"]),
        "volcano": volcano_data(summarised_dataset, tables, fdr),
        "cards": gene_cards(dataset, summarised_dataset, signature, observed, halves),
    }


def correlation_data(dataset: Dataset, blocks: pd.DataFrame) -> CorrelationMatrix:
    """Return Pearson's r between the genes of the blocks, in their order."""
    shown_genes = _first_of_each_block(blocks, MAX_CORRELATED_GENES)
    r = np.zeros((0, 0))
    if len(shown_genes):
        z = _standardise_genes(dataset, shown_genes["gene"])
        r = np.clip(z.T @ z / len(z), -1, 1)
    return {
        **_gene_names(shown_genes),
        "blocks": [int(value) for value in shown_genes["block"]],
        "layers": [int(value) for value in shown_genes["layer"]],
        "r": r.tolist(),
        "total": len(blocks),
    }


def _first_of_each_block(blocks: pd.DataFrame, max_genes: int) -> pd.DataFrame:
    """Return the first genes of each block, in proportion: at least its representative, the first.

    blocks: rows of blocks.tsv in its order.
    """
    if len(blocks) <= max_genes:
        return blocks
    block_size = blocks.groupby("block")["gene"].transform("size")
    rank_in_block = blocks.groupby("block").cumcount()
    n_shown_of_block = np.maximum(1, block_size * max_genes // len(blocks))
    return blocks[rank_in_block < n_shown_of_block].head(max_genes)


def gene_strips(dataset: Dataset, signature: pd.DataFrame) -> list[GeneStrip]:
    """Return the values of the first genes of the signature, of the samples that figures show.

    These samples are in the order of the data set, as `StudyFacts.response` is.
    """
    shown_genes = signature.head(MAX_STRIPS)
    rows = evenly_spaced_rows(len(dataset.samples), MAX_PLOTTED_SAMPLES)
    values = dataset.X[np.ix_(rows, _gene_columns(dataset, shown_genes["gene"]))]
    return [
        {"gene": gene, "symbol": symbol, "values": values[:, column].tolist()}
        for column, (gene, symbol) in enumerate(
            zip(*_gene_names(shown_genes).values(), strict=True)
        )
    ]


def heat_data(dataset: Dataset, signature: pd.DataFrame, predictions: pd.DataFrame) -> HeatMap:
    """Return standardised values of the signature, with genes and samples clustered.

    signature, predictions: signature.tsv and predictions.tsv.
    """
    shown_genes = signature.head(MAX_HEAT_GENES)
    shown_samples = np.array(evenly_spaced_rows(len(dataset.samples), MAX_HEAT_SAMPLES))
    z = np.zeros((0, len(shown_samples)))
    if len(shown_genes):
        z = _standardise_genes(dataset, shown_genes["gene"])[shown_samples].T
    gene_order, gene_tree = cluster_rows(z)
    sample_order, sample_tree = cluster_rows(z.T)
    sample_rows = shown_samples[sample_order]
    batches = dataset.batches()
    chosen_predictions = predictions[at_mu(predictions, None)]
    chosen_predictions = chosen_predictions.assign(
        score=class_margins(chosen_predictions, dataset.design.classes)
    )
    means = chosen_predictions.groupby("sample")["score"].mean()
    return {
        **_gene_names(shown_genes.iloc[gene_order]),
        "samples": [dataset.samples[row] for row in sample_rows],
        "response": dataset.label_values()[sample_rows].tolist(),
        "batches": None if batches is None else [str(batches[row]) for row in sample_rows],
        "score": [means.get(dataset.samples[row], np.nan) for row in sample_rows],
        "gene_tree": gene_tree,
        "sample_tree": sample_tree,
        "z": np.clip(z, -4, 4)[gene_order][:, sample_order].tolist(),
        "total": len(signature),
    }


def _gene_names(table: pd.DataFrame) -> GeneNames:
    """Return ids and symbols; a gene without a symbol has its id."""
    gene_ids = [str(gene) for gene in table["gene"]]
    symbols = [
        gene if symbol != symbol else str(symbol)  # NaN
        for gene, symbol in zip(gene_ids, table["symbol"], strict=True)
    ]
    return {"genes": gene_ids, "symbols": symbols}


def _gene_columns(dataset: Dataset, gene_ids: pd.Series[Any]) -> list[int]:
    """Return the columns of genes in the matrix."""
    column_of_gene = {gene: column for column, gene in enumerate(dataset.genes)}
    return [column_of_gene[str(gene)] for gene in gene_ids]


def _standardise_genes(dataset: Dataset, gene_ids: pd.Series[Any]) -> Array:
    """Return (n_samples, n) values with mean 0 and standard deviation 1; constant genes are 0."""
    values = dataset.X[:, _gene_columns(dataset, gene_ids)]
    values = values - values.mean(axis=0)
    deviation = values.std(axis=0)
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return np.asarray(values * scale)


def block_warnings(data: Genes) -> list[str]:
    """Return the warning about groups whose representatives are strongly correlated, if any."""
    max_correlation = data["config"]["clusters"]["warn_above"]
    r = data["correlation"]["r"]
    names = data["correlation"]["genes"]
    prototypes = {row["prototype"] for row in table_rows(data["tables"]["blocks"])}
    representatives = [index for index, gene in enumerate(names) if gene in prototypes]
    pairs = [
        (gene_a, gene_b)
        for gene_a, gene_b in combinations(representatives, 2)
        if abs(r[gene_a][gene_b]) > max_correlation
    ]
    if not pairs:
        return []
    pairs_text = "; ".join(
        f"{names[gene_a]} and {names[gene_b]} (r\u00a0=\u00a0{decimal(r[gene_a][gene_b])})"
        for gene_a, gene_b in pairs[:MAX_NAMED_PAIRS]
    )
    n_more = len(pairs) - MAX_NAMED_PAIRS
    remainder = f"; and {counted(n_more, 'more pair')}" if n_more > 0 else ""
    return [
        f"These genes are strongly correlated; treat their groups as one: {pairs_text}{remainder}."
    ]


ValueAndInterval = tuple[float, float, float]  # value, lower and upper limit
MAX_CARDS = 40
MIN_LISTS_WITHOUT = 3  # lists without a gene that are needed to name its replacements
MAX_REPLACEMENTS = 3
MIN_REPLACEMENT_SHARE = 0.5  # share of the lists without a gene that hold the replacement
MIN_REPLACEMENT_GAIN = 0.25  # that share less the share of the lists with the gene


def gene_cards(
    dataset: Dataset,
    summarised_dataset: Dataset,
    signature: pd.DataFrame,
    observed: Fits,
    halves: Fits | None,
) -> GeneCards:
    """Return the cards of the first genes of the signature.

    Values are those after the summary steps of the study; only shares of missing values are those
    of `dataset`, the data before them.
    """
    test_units = units(summarised_dataset)
    classes = dataset.design.classes or ()
    shown_genes = signature.head(MAX_CARDS)
    column_of_gene = {gene: index for index, gene in enumerate(dataset.genes)}
    lists = selection_matrix(observed, halves, len(dataset.genes))
    response = dataset.response()
    is_survival = response.dtype.names is not None  # times and events, with these names
    rows = evenly_spaced_rows(len(response), MAX_PLOTTED_SAMPLES)
    card_records: list[GeneCard] = []
    for row in shown_genes.to_dict("records"):
        gene = str(row["gene"])
        gene_values = test_units.X[:, column_of_gene[gene]]
        class_of_weight = row.get("class")
        class_code = 0  # only the measure of several classes uses it
        if test_units.test == "anova":
            if class_of_weight in classes:
                class_code = classes.index(class_of_weight)
            else:
                class_code = _most_different_class(test_units, gene_values)
        separation, effect = MEASURES_OF_TEST[test_units.test](test_units, gene_values, class_code)
        card_records.append(
            {
                "gene": gene,
                "class_of_direction": classes[class_code] if test_units.test == "anova" else None,
                "separation": _estimate(*separation),
                "effect": _estimate(*effect),
                "replacements": replacement_genes(summarised_dataset, lists, column_of_gene[gene]),
                "missing": _missing_shares(dataset, column_of_gene[gene]),
            }
        )
    return {
        "test": test_units.test,
        "events": response["event"][rows].tolist() if is_survival else None,
        "genes": card_records,
    }


def _missing_shares(dataset: Dataset, gene: int) -> list[float] | None:
    """Return the share of missing values in each class; None if no value is missing."""
    is_missing = np.isnan(dataset.X[:, gene])
    if not is_missing.any():
        return None
    classes = dataset.design.classes
    sample_classes = dataset.obs[dataset.design.label].astype(str).to_numpy() if classes else None
    missing_by_class = (
        [is_missing]
        if classes is None
        else [is_missing[sample_classes == name] for name in classes]
    )
    return [float(missing.mean()) for missing in missing_by_class]


def _estimate(value: float, low: float, high: float) -> Estimate:
    """Return the record of a value and its interval."""
    return {"value": value, "low": low, "high": high}


def selection_matrix(observed: Fits, halves: Fits | None, n_genes: int) -> Array:
    """Return (n_lists, n_genes): whether a gene is in the chosen list of each split and half."""
    memberships = []
    for chosen_fits in (fits.with_chosen() for fits in (observed, halves) if fits is not None):
        for fit in range(len(chosen_fits)):
            is_selected = np.zeros(n_genes, dtype=bool)
            is_selected[chosen_fits.chosen_coef(fit)[0]] = True
            memberships.append(is_selected)
    return np.array(memberships, dtype=bool).reshape(-1, n_genes)


def replacement_genes(dataset: Dataset, lists: Array, gene: int) -> list[Replacement]:
    """Return the genes that are more often in lists without this gene than in lists with it.

    They have a share of at least `MIN_REPLACEMENT_SHARE` of the lists without the gene, and at
    least `MIN_REPLACEMENT_GAIN` more than of the lists with it; the largest difference comes first.
    There are none if fewer than `MIN_LISTS_WITHOUT` lists lack the gene, or all of them.
    """
    has_gene = lists[:, gene]
    n_without = int((~has_gene).sum())
    if n_without < MIN_LISTS_WITHOUT or n_without == len(lists):
        return []
    share_with = lists[has_gene].mean(axis=0)
    share_without = lists[~has_gene].mean(axis=0)
    gain = np.where(share_without >= MIN_REPLACEMENT_SHARE, share_without - share_with, 0.0)
    order = np.argsort(-gain, kind="stable")[:MAX_REPLACEMENTS]
    return [
        {
            "gene": dataset.genes[other_gene],
            "symbol": str(dataset.var["symbol"].iloc[other_gene]),
            "in_lists_without_gene": [int(lists[~has_gene, other_gene].sum()), n_without],
            "in_lists_with_gene": [int(lists[has_gene, other_gene].sum()), int(has_gene.sum())],
            "r": _pearson(dataset.X[:, gene], dataset.X[:, other_gene]),
        }
        for other_gene in order
        if gain[other_gene] >= MIN_REPLACEMENT_GAIN
    ]


def _pearson(a: Array, b: Array) -> float:
    """Return Pearson's r; NaN if a gene is constant."""
    a = a - a.mean()
    b = b - b.mean()
    norm_product = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / norm_product if norm_product > 0 else np.nan


def _measure_two_classes(
    test_units: Units, gene_values: Array, class_code: int
) -> tuple[ValueAndInterval, ValueAndInterval]:
    """Return the AUC, and the difference of the class means with Welch's interval."""
    return delong(test_units.y, gene_values), _welch_interval(
        gene_values[test_units.y > 0], gene_values[test_units.y <= 0]
    )


def _most_different_class(test_units: Units, gene_values: Array) -> int:
    """Return the class whose mean is farthest from the mean of the others."""
    in_class = np.asarray(test_units.y) == np.unique(test_units.y)[:, None]
    distances = [
        abs(gene_values[members].mean() - gene_values[~members].mean()) for members in in_class
    ]
    return int(np.argmax(distances))


def _measure_one_class(
    test_units: Units, gene_values: Array, class_code: int
) -> tuple[ValueAndInterval, ValueAndInterval]:
    """Return AUC and difference of means of one class, by its index in y, against the others."""
    is_class = test_units.y == class_code
    return delong(np.where(is_class, 1.0, -1.0), gene_values), _welch_interval(
        gene_values[is_class], gene_values[~is_class]
    )


def _welch_interval(positive: Array, negative: Array) -> ValueAndInterval:
    """Return the difference of two means with Welch's interval; NaN where values are too few."""
    difference = (
        float(positive.mean() - negative.mean()) if len(positive) and len(negative) else np.nan
    )
    if min(len(positive), len(negative)) < 2:
        return difference, np.nan, np.nan
    from scipy.special import stdtrit

    positive_variance = np.var(positive, ddof=1) / len(positive)
    negative_variance = np.var(negative, ddof=1) / len(negative)
    if not positive_variance + negative_variance > 0:
        return difference, difference, difference
    degrees_of_freedom = (positive_variance + negative_variance) ** 2 / (
        positive_variance**2 / (len(positive) - 1) + negative_variance**2 / (len(negative) - 1)
    )
    half_width = float(
        stdtrit(degrees_of_freedom, 0.975) * np.sqrt(positive_variance + negative_variance)
    )
    return difference, difference - half_width, difference + half_width


def _measure_pairs(
    test_units: Units, gene_values: Array, class_code: int
) -> tuple[ValueAndInterval, ValueAndInterval]:
    """Return the share of pairs in which the gene is higher, and the mean difference."""
    differences = pair_differences(test_units, gene_values)
    if not len(differences):
        return (np.nan, np.nan, np.nan), (np.nan, np.nan, np.nan)
    share = float(np.mean((differences > 0) + 0.5 * (differences == 0)))
    share_limits = wilson(share, len(differences))
    return (share, *share_limits), (float(differences.mean()), *mean_t(differences))


def _measure_number(
    test_units: Units, gene_values: Array, class_code: int
) -> tuple[ValueAndInterval, ValueAndInterval]:
    """Return Pearson's r with Fisher's interval, and the change with one SD of y."""
    from scipy.special import stdtrit

    centred_response = test_units.y - test_units.y.mean()
    n = len(test_units.y)
    r = _pearson(gene_values, test_units.y)
    gene_sd = float(gene_values.std())
    if n < 4 or not abs(r) < 1 - 1e-12:  # too few, or no finite Fisher's z; also if r is NaN
        return (r, np.nan, np.nan), (r * gene_sd, np.nan, np.nan)
    low, high = np.tanh(np.arctanh(r) + np.array([-1, 1]) * NORMAL_QUANTILE / np.sqrt(n - 3))
    change = float(gene_values @ centred_response) / n / float(centred_response.std())
    half_width = stdtrit(n - 2, 0.975) * gene_sd * np.sqrt((1 - r**2) / (n - 2))
    return (r, float(low), float(high)), (change, change - half_width, change + half_width)


def _measure_survival(
    test_units: Units, gene_values: Array, class_code: int
) -> tuple[ValueAndInterval, ValueAndInterval]:
    """Return Harrell's C, and the hazard ratio of one standard deviation of the gene."""
    time = test_units.y["time"]
    event = test_units.y["event"]
    concordance = harrell(time, event, gene_values)
    gene_sd = float(gene_values.std())
    log_hazard_ratio, limits = calibration_slope_of_cox(
        time,
        event,
        gene_values / gene_sd if gene_sd > 0 else gene_values,
        test_units.ties or DEFAULT_TIES,
    )
    with np.errstate(over="ignore"):
        low, ratio, high = np.exp([limits[0], log_hazard_ratio, limits[1]])
    return (concordance.value, *concordance.interval), (float(ratio), float(low), float(high))


# by the test of genes: the function of units, gene values and class code that returns association
# and effect
MEASURES_OF_TEST: dict[
    str, Callable[[Units, Array, int], tuple[ValueAndInterval, ValueAndInterval]]
] = {
    "welch": _measure_two_classes,
    "anova": _measure_one_class,
    "differences": _measure_pairs,
    "correlation": _measure_number,
    "score": _measure_survival,
}
