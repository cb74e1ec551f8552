"""Enrichment of gene sets in gene lists, and among all genes ranked by their t."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array, row_entries
from genesig.data.splits.draw import draw_permutation
from genesig.data.steps.normalise import with_summaries_applied
from genesig.data.study.gene_sets import match_sets
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import join_batches
from genesig.results.splits import GeneSets
from genesig.selection.genes.frequency import selection_counts
from genesig.selection.genes.univariate import statistics

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array


STATISTIC_ROUNDING = 1e-9  # difference of statistics that rounding may cause


def family_p(observed: Array, null: Array) -> Array:
    """Return ``p_k = (1 + #{b: max_j z_bj >= z_k}) / (B + 1)`` of each set, (n_sets,).

    Each permutation counts with its largest statistic, whatever the overlap and correlation of the
    sets: under permuted labels the smallest p is at most a in at most a share a of studies. So one
    set among thousands can be found with a hundred permutations. A p of each set, multiplied by the
    number of sets, could not be small.

    observed (n_sets,) float: A statistic with the same distribution for all sets under permuted
    labels; large is far. null (B, n_sets) float.

    Source: Westfall and Young 1993, single-step maxT; Phipson and Smyth 2010 for the one added.
    """
    largest = np.sort(null.max(axis=1))
    n_below = np.searchsorted(largest, observed - STATISTIC_ROUNDING)
    return np.asarray((1 + len(null) - n_below) / (len(null) + 1))


@dataclass(frozen=True)
class MeasuredSets:
    """The measured genes, each once, and the gene sets of them."""

    # (n_genes,) str: symbols, or ids without one, in the order of their first columns
    symbols: Array
    gene_of_column: Array  # (n_columns,) int: gene of each column of the matrix
    members: csr_array  # (n_sets, n_genes) sparse array of 0 and 1

    @classmethod
    def from_dataset(cls, dataset: Dataset, sets: GeneSets) -> MeasuredSets:
        """Return the sets of symbols; columns with one symbol are one gene."""
        number_of_symbol: dict[str, int] = {}
        symbols = dataset.var["symbol"].tolist()
        gene_of_column = np.array(
            [number_of_symbol.setdefault(str(name), len(number_of_symbol)) for name in symbols]
        )
        from scipy.sparse import csr_array

        shape = (len(sets), len(number_of_symbol))
        ones = np.ones(len(sets.indices))
        members = csr_array((ones, gene_of_column[sets.indices], sets.indptr), shape=shape)
        members.sum_duplicates()
        members.data[:] = 1.0  # however many probes a gene has
        return cls(np.array(list(number_of_symbol), dtype=object), gene_of_column, members)

    def __len__(self) -> int:
        """Return the number of genes."""
        return len(self.symbols)

    def mask_genes(self, columns: Array) -> Array:
        """Return 1 for each gene with a column among `columns`, 0 for the others, (n_genes,)."""
        marks = np.zeros(len(self))
        marks[self.gene_of_column[columns]] = 1.0
        return marks

    def sizes(self) -> Array:
        """Return the number of genes of each set, (n_sets,)."""
        return np.diff(self.members.indptr)


OVERLAP_COLUMNS = ["genes", "size", "shared", "expected", "p_value", "family_p", "names"]
ENRICHMENT_COLUMNS = ["list", "reference", "set", "about", *OVERLAP_COLUMNS]


def hypergeometric_p(shared: Array, sizes: Array, n_drawn: int, n_genes: int) -> Array:
    """Return P(at least `shared` of `n_drawn` genes are in a set), (n_sets,), hypergeometric.

    shared, sizes (n_sets,) int: genes of the list in each set; genes of each set. n_drawn, n_genes:
    genes of the list, and of the background.
    """
    from scipy.stats import hypergeom

    return np.asarray(hypergeom.sf(shared - 1, n_genes, sizes, n_drawn))


def lists_table(measured: MeasuredSets, sets: GeneSets, lists: Mapping[str, Array]) -> pd.DataFrame:
    """Return rows of enrichment.tsv: each list against each set of which it holds a gene.

    ``genes`` of the set and ``size`` of the list count measured genes, each symbol once; of them
    ``shared`` are in both and ``expected`` would be by chance. The background are all measured
    genes. p takes genes as independent of each other and sets one by one: it only sorts the rows,
    and ``family_p`` is empty, because no set is called by it.

    lists mapping of str to (k,) int: columns of the matrix.
    """
    return stack_rows(
        [_list_rows(measured, sets, name, columns) for name, columns in lists.items()]
    )


def stack_rows(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables; without rows, an empty table with their columns."""
    import pandas as pd

    tables = [part[ENRICHMENT_COLUMNS] for part in parts if len(part)]
    return (
        pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=ENRICHMENT_COLUMNS)
    )


def _list_rows(measured: MeasuredSets, sets: GeneSets, name: str, columns: Array) -> pd.DataFrame:
    """Return the rows of one list, with the names of the shared genes."""
    in_list = measured.mask_genes(columns)
    sizes = measured.sizes()
    n_drawn = int(in_list.sum())
    shared = np.rint(measured.members @ in_list).astype(np.int64)
    p = hypergeometric_p(shared, sizes, n_drawn, len(measured))
    expected = n_drawn * sizes / len(measured)
    table = shared_sets(sets, shared, expected, p, np.full(len(p), np.nan))
    return table.assign(
        list=name,
        reference="measured genes",
        genes=sizes[table.index],
        size=n_drawn,
        names=[_shared_names(measured, in_list, int(k)) for k in table.index],
    )


def shared_sets(
    sets: GeneSets, shared: Array, expected: Array, p: Array, family: Array
) -> pd.DataFrame:
    """Return the sets with a shared gene; the index has their numbers.

    They are in the order of family p, then p, then shared over expected.

    shared, expected, p, family (n_sets,): `family` is NaN if the sets are not tested together.
    """
    import pandas as pd

    table = pd.DataFrame(
        {
            "set": sets.names,
            "about": sets.descriptions,
            "shared": shared,
            "expected": expected,
            "p_value": p,
            "family_p": family,
        }
    )
    order = np.lexsort((np.arange(len(p)), -shared / np.maximum(expected, 1e-300), p, family))
    return table.iloc[order][shared[order] > 0]


def _shared_names(measured: MeasuredSets, in_list: Array, set_number: int) -> str:
    """Return the names of the genes of one set that are in a list, as `mask_genes` marks it."""
    start, end = measured.members.indptr[set_number : set_number + 2]
    genes = measured.members.indices[start:end]
    return ", ".join(sorted(map(str, measured.symbols[genes[in_list[genes] > 0]])))


EXCESS_VARIANCE_FLOOR = 0.1
"""Added to the variance: without it one selected gene of a set of one or two, of which hardly any
is expected, would be the largest statistic of every permutation (s0 of Tusher and others 2001)."""


def permuted_lists_table(
    measured: MeasuredSets, sets: GeneSets, observed: Fits, permuted: Fits
) -> pd.DataFrame:
    """Return rows of enrichment.tsv: the chosen lists of all splits, against permuted labels.

    Correlated genes of a set are selected together, which a draw of single genes ignores.
    ``shared`` is the mean number of a set's genes in the chosen lists of the splits and ``size``
    their mean length; ``expected`` is the mean of the former over the permutations, per gene of
    their lists, times ``size``. p compares `excess` with that of the same set in the permutations,
    ``family_p`` with the largest of all sets, see `family_p`. observed, permuted: with their chosen
    lists appended by `Fits.with_chosen`.
    """
    shared, size = _shared_counts(measured, observed)
    null, sizes = _shared_counts(measured, permuted)
    observed_excess = excess(shared, size, measured)
    null_excess = excess(null, sizes, measured)
    p = (1 + (null_excess >= observed_excess - STATISTIC_ROUNDING).sum(axis=0)) / (1 + len(null))
    expected = (null / np.maximum(sizes, 1e-300)[:, None]).mean(axis=0) * size
    table = shared_sets(sets, shared[0], expected, p, family_p(observed_excess[0], null_excess))
    return table.assign(
        list="chosen lists",
        reference="permuted labels",
        genes=measured.sizes()[table.index],
        size=size[0],
        names="",
    )


def excess(shared: Array, size: Array, measured: MeasuredSets) -> Array:
    """Return ``(s - m K/N) / sqrt(v + 0.1)`` of each permutation and set, (B, n_sets).

    v = m K/N (1 - K/N) (N - m)/(N - 1) is the variance of s genes of a set of K among m genes drawn
    of N: each permutation is compared with the length of its own lists, and sets of all sizes with
    one another. 0 if a permutation selects nothing, or a set has all genes.

    shared, size (B, n_sets), (B,) float: s and m, which are means over splits.
    """
    n_genes = len(measured)
    share = measured.sizes() / n_genes
    drawn = size[:, None]
    variance = drawn * share * (1 - share) * np.maximum(n_genes - drawn, 0) / max(n_genes - 1, 1)
    return np.asarray((shared - drawn * share) / np.sqrt(variance + EXCESS_VARIANCE_FLOOR))


def _shared_counts(measured: MeasuredSets, fits: Fits) -> tuple[Array, Array]:
    """Return the genes that the last list of each permutation shares with each set, and its size.

    (n_permutations, n_sets) and (n_permutations,), means over the splits.
    """
    n_mu = len(fits.mu)
    n_permutations = len(np.unique(fits.permutation))
    counts = selection_counts(fits, len(measured.gene_of_column))[n_mu - 1 :: n_mu]
    n_splits = len(fits) / max(1, n_permutations)
    mean_counts = np.zeros((n_permutations, len(measured)))
    np.add.at(mean_counts.T, measured.gene_of_column, counts.toarray().T / n_splits)
    return (measured.members @ mean_counts.T).T, mean_counts.sum(axis=1)


N_SHUFFLES = 1000  # permutations of the labels against which all genes are ranked


def ranking_table(
    dataset: Dataset,
    splits: Splits,
    measured: MeasuredSets,
    sets: GeneSets,
    n_shuffles: int = N_SHUFFLES,
) -> pd.DataFrame:
    """Return enrichment_ranking.tsv: every set, the farthest from chance first.

    ``score`` is `maxmean_scores` of the t of `univariate_table`, positive if the set is higher in
    the positive class; of several probes of a gene the one of largest |t| counts. The labels are
    permuted as in the whole study, and everything is repeated, so that correlated genes of a set
    stay correlated. ``normalised`` is the size of the score less its mean over all labels, the
    observed ones among them, in standard deviations: large and small, correlated and other sets are
    then comparable. ``p_value`` is that of the set by itself, ``family_p`` that against the largest
    of all sets, see `family_p`. ``leading`` names the set's genes on the side of its score, by
    falling |t|.
    """
    import pandas as pd

    observed = by_gene(statistics(dataset), measured)
    score = maxmean_scores(observed, measured)
    null = shuffled_scores(dataset, splits, measured, n_shuffles)
    sizes = np.abs(np.vstack([score, null]))
    scores = normalised(sizes)
    table = pd.DataFrame(
        {
            "set": sets.names,
            "about": sets.descriptions,
            "genes": measured.sizes(),
            "score": score,
            "normalised": scores[0],
            "p_value": (1 + (sizes[1:] >= sizes[0] - STATISTIC_ROUNDING).sum(axis=0)) / len(sizes),
            "family_p": family_p(scores[0], scores[1:]),
            "leading": leading_genes(observed, measured, score),
        }
    )
    return table.sort_values("normalised", ascending=False, kind="stable", ignore_index=True)


def maxmean_scores(t: Array, measured: MeasuredSets) -> Array:
    """Return of each set the mean of its rises, or less that of its falls if larger, (n_sets,).

    Rises are max(t, 0), falls max(-t, 0), each less its mean over all genes and divided by its
    standard deviation: a set stands out among genes even if most of them differ; 0 if it is above
    all genes on neither side. Rises do not make up for falls, as in a mean of all t. Unlike the
    running sum of Subramanian and others, which cannot exceed 1, the score grows with the effect,
    and a set of correlated genes can stand out.

    Source: maxmean, restandardised, of Efron and Tibshirani 2007.
    """
    up, down = (
        (measured.members @ _standardise_over_genes(np.maximum(signed_t, 0))) / measured.sizes()
        for signed_t in (t, -t)
    )
    return np.asarray(np.where(up >= down, 1, -1) * np.maximum(np.maximum(up, down), 0))


def _standardise_over_genes(sizes: Array) -> Array:
    """Return sizes (n_genes,) less their mean, over their SD; 0 if all are equal."""
    standard_deviation = sizes.std()
    return np.asarray(
        (sizes - sizes.mean()) / standard_deviation
        if standard_deviation > STATISTIC_ROUNDING
        else 0 * sizes
    )


def normalised(size: Array) -> Array:
    """Return each size less the mean of its set, over their standard deviation, (B, n_sets).

    0 if all sizes of a set are equal.
    """
    deviation = size - size.mean(axis=0)
    standard_deviation = size.std(axis=0)
    z: Array = np.divide(
        deviation,
        standard_deviation,
        out=np.zeros_like(size),
        where=standard_deviation > STATISTIC_ROUNDING,
    )
    return z


def by_gene(statistic: Array, measured: MeasuredSets) -> Array:
    """Return the statistic of largest size among the columns of each gene, (n_genes,)."""
    order = np.lexsort((np.abs(statistic), measured.gene_of_column))
    is_last = np.append(np.diff(measured.gene_of_column[order]) > 0, True)
    return np.asarray(statistic[order[is_last]])


def shuffled_scores(
    dataset: Dataset, splits: Splits, measured: MeasuredSets, n_shuffles: int
) -> Array:
    """Return the scores of all sets under permuted labels, (n_shuffles, n_sets)."""
    null = np.empty((n_shuffles, len(measured.sizes())))
    for number in range(1, n_shuffles + 1):  # permutation 0 has the observed labels
        X = dataset.X[draw_permutation(dataset, splits, number)]  # labels keep their covariates
        statistic = by_gene(statistics(replace(dataset, X=X)), measured)
        null[number - 1] = maxmean_scores(statistic, measured)
    return null


def leading_genes(t: Array, measured: MeasuredSets, score: Array) -> list[str]:
    """Return the genes of each set whose t has the sign of its score, by falling |t|."""
    names = []
    for set_number, sign in enumerate(np.sign(score)):
        genes = measured.members.indices[row_entries(measured.members.indptr, set_number)]
        genes = genes[t[genes] * sign > 0]
        genes = genes[np.argsort(-np.abs(t[genes]), kind="stable")]
        names.append(", ".join(map(str, measured.symbols[genes])))
    return names


TABLES_OF_LISTS = ("signature", "nested_lists", "blocks")  # lists compared with the sets
NAME_COLUMNS = ("gene", "symbol", "prototype")  # columns of names in these tables

MIN_BLOCK_GENES = 3  # genes of the smallest block that is compared with the sets


def enrichment(
    dataset: Dataset,
    splits: Splits,
    tables: dict[str, pd.DataFrame],
    observed: Sequence[Fits],
    permuted: Sequence[Fits],
    *,
    sets: str,
    smallest: int,
    largest: int,
) -> dict[str, pd.DataFrame]:
    """Return enrichment.tsv and enrichment_ranking.tsv.

    dataset: after the row-wise steps. tables: signature, nested_lists, blocks. observed, permuted:
    batches of fits to these labels; permuted may be empty. sets: file of gene sets. smallest,
    largest: sizes of the tested sets.
    """
    symbols = dataset.var["symbol"].tolist()
    gene_sets = match_sets(
        sets,
        dataset.genes,
        symbols,
        column=None,
        smallest=smallest,
        largest=largest,
        section="enrichment",
    )
    measured = MeasuredSets.from_dataset(dataset, gene_sets)
    dataset = with_summaries_applied(dataset)
    lists = lists_table(measured, gene_sets, columns_of_lists(dataset, tables))
    if permuted:
        joined_fits = [join_batches(part, splits).with_chosen() for part in (observed, permuted)]
        lists = stack_rows([lists, permuted_lists_table(measured, gene_sets, *joined_fits)])
    return {
        "enrichment": lists,
        "enrichment_ranking": ranking_table(dataset, splits, measured, gene_sets),
    }


def columns_of_lists(dataset: Dataset, tables: dict[str, pd.DataFrame]) -> dict[str, Array]:
    """Return the columns of each list: signature, FDR-selected genes, list at each mu, each block.

    Core genes replace FDR-selected ones if the study selects none by FDR.
    """
    signature, nested, blocks = (tables[key] for key in TABLES_OF_LISTS)
    selection_column = "fdr_selected" if "fdr_selected" in signature else "core"
    # Columns read from a file are text or numbers.
    is_selected = signature[selection_column].astype(str).str.lower().isin(["true", "1"])
    genes_of_list = {
        "signature": signature["gene"],
        f"{selection_column} genes": signature["gene"][is_selected],
    }
    listed_rows = nested[nested["in_list"].astype(bool) & nested["mu"].notna()]
    genes_of_list |= {f"list at mu {mu:g}": part["gene"] for mu, part in listed_rows.groupby("mu")}
    blocks_by_number = blocks[blocks["block"].notna()].groupby("block")["gene"]
    genes_of_list |= {
        f"block {key:g}": part for key, part in blocks_by_number if len(part) >= MIN_BLOCK_GENES
    }
    column_of_gene = {gene: j for j, gene in enumerate(dataset.genes)}
    return {
        name: np.array([column_of_gene[str(g)] for g in genes], dtype=np.int64)
        for name, genes in genes_of_list.items()
    }
