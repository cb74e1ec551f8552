"""Which gene sets the lists, and all genes by their t, hold more of than under permuted labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.permute import permutation
from genesig.data.steps.described import described
from genesig.data.study.gene_sets import study_sets
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import joined
from genesig.results.splits import GeneSets
from genesig.selection.genes.frequency import selection_counts
from genesig.selection.genes.univariate import statistics

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array


ROUNDING = 1e-9


def family_p(observed: Array, null: Array) -> Array:
    """Return ``p_k = (1 + #{b: max_j z_bj >= z_k}) / (B + 1)`` of each set, (n_sets,).

    The largest statistic of a permutation is of one set or another, however they overlap or go
    together: under permuted labels some p is at most a in at most a share a of studies. So one
    set among thousands can be found with a hundred permutations, where a p for each set that is
    then multiplied by their number cannot be small.

    Parameters
    ----------
    observed : (n_sets,) float
        A statistic that is alike for all sets under permuted labels, large where a set is far.
    null : (B, n_sets) float

    Source: Westfall and Young 1993, single-step maxT; Phipson and Smyth 2010 for the one added.
    """
    largest = np.sort(null.max(axis=1))
    below = np.searchsorted(largest, observed - ROUNDING)
    return np.asarray((1 + len(null) - below) / (len(null) + 1))


@dataclass(frozen=True)
class Named:
    """The measured genes, each once, and the sets of them.

    Attributes
    ----------
    symbols : (n_genes,) str
        Symbols, or ids where there is none, in the order of their first columns.
    number : (n_columns,) int
        Gene of each column of the matrix.
    members : (n_sets, n_genes) sparse array of 0 and 1
    """

    symbols: Array
    number: Array
    members: csr_array

    @classmethod
    def of(cls, dataset: Dataset, sets: GeneSets) -> Named:
        """Take the columns of one symbol together."""
        numbers: dict[str, int] = {}
        columns = dataset.var["symbol"].tolist()
        number = np.array([numbers.setdefault(str(name), len(numbers)) for name in columns])
        from scipy.sparse import csr_array

        shape = (len(sets), len(numbers))
        ones = np.ones(len(sets.indices))
        members = csr_array((ones, number[sets.indices], sets.indptr), shape=shape)
        members.sum_duplicates()
        members.data[:] = 1.0
        return cls(np.array(list(numbers), dtype=object), number, members)

    def __len__(self) -> int:
        """Return the number of genes."""
        return len(self.symbols)

    def marked(self, columns: Array) -> Array:
        """Return 1 for each gene of which some column is named, 0 for the others, (n_genes,)."""
        found = np.zeros(len(self))
        found[self.number[columns]] = 1.0
        return found

    def sizes(self) -> Array:
        """Return the number of genes of each set, (n_sets,)."""
        return np.diff(self.members.indptr)


COLUMNS = [
    "list",
    "reference",
    "set",
    "about",
    "genes",
    "size",
    "shared",
    "expected",
    "p_value",
    "family_p",
    "names",
]


def over_represented(shared: Array, sizes: Array, drawn: int, all_genes: int) -> Array:
    """Return P(at least `shared` of `drawn` genes are in a set), (n_sets,), hypergeometric.

    Parameters
    ----------
    shared, sizes : (n_sets,) int
        Genes of the list in each set; genes of each set.
    drawn, all_genes : int
        Genes of the list, and of the background.
    """
    from scipy.stats import hypergeom

    return np.asarray(hypergeom.sf(shared - 1, all_genes, sizes, drawn))


def lists_table(named: Named, sets: GeneSets, lists: Mapping[str, Array]) -> pd.DataFrame:
    """Return rows of enrichment.tsv: each list against each set of which it holds a gene.

    ``genes`` of the set and ``size`` of the list count measured genes, each symbol once; of them
    ``shared`` are in both and ``expected`` would be by chance. The background are all measured
    genes. p takes genes as independent of each other and sets one by one: it sorts the rows, and
    nothing is called by it, so that ``family_p`` is empty.

    Parameters
    ----------
    named : Named
    sets : GeneSets
    lists : mapping of str to (k,) int
        Columns of the matrix.
    """
    return stacked([_of_list(named, sets, name, columns) for name, columns in lists.items()])


def stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all parts, those without any left aside."""
    import pandas as pd

    known = [part[COLUMNS] for part in parts if len(part)]
    return pd.concat(known, ignore_index=True) if known else pd.DataFrame(columns=COLUMNS)


def _of_list(named: Named, sets: GeneSets, name: str, columns: Array) -> pd.DataFrame:
    there = named.marked(columns)
    sizes = named.sizes()
    drawn = int(there.sum())
    shared = np.rint(named.members @ there).astype(np.int64)
    p = over_represented(shared, sizes, drawn, len(named))
    expected = drawn * sizes / len(named)
    table = rows_of(sets, shared, expected, p, np.full(len(p), np.nan))
    return table.assign(
        list=name,
        reference="measured genes",
        genes=sizes[table.index],
        size=drawn,
        names=[_names(named, there, int(k)) for k in table.index],
    )


def rows_of(
    sets: GeneSets, shared: Array, expected: Array, p: Array, family: Array
) -> pd.DataFrame:
    """Return the sets of which something is shared, smallest p first; the index numbers them."""
    import pandas as pd

    table = pd.DataFrame(
        {
            "set": sets.names,
            "about": sets.about,
            "shared": shared,
            "expected": expected,
            "p_value": p,
            "family_p": family,
        }
    )
    order = np.lexsort((np.arange(len(p)), -shared / np.maximum(expected, 1e-300), p, family))
    return table.iloc[order][shared[order] > 0]


def _names(named: Named, there: Array, k: int) -> str:
    part = named.members.indices[slice(*named.members.indptr[k:][:2])]
    return ", ".join(sorted(map(str, named.symbols[part[there[part] > 0]])))


LEAST = 0.1
"""Added to the variance: without it one selected gene of a set of one or two, of which hardly any
is expected, would be the largest statistic of every permutation (s0 of Tusher and others 2001)."""


def selection_table(named: Named, sets: GeneSets, observed: Fits, permuted: Fits) -> pd.DataFrame:
    """Return rows of enrichment.tsv: the chosen lists of all splits, against permuted labels.

    Genes of a set that go together are selected together, which a draw of single genes does not
    know. ``shared`` is the mean number of a set's genes in the chosen lists of the splits and
    ``size`` their mean length; ``expected`` is the mean of the former over the permutations, per
    gene of their lists, times ``size``. p is that of `excess` against the same set in the
    permutations, ``family_p`` that against the largest of all sets, see `family_p`.
    """
    shared, size = _shared(named, observed)
    null, sizes = _shared(named, permuted)
    z, chance = (excess(*each, named) for each in ((shared, size), (null, sizes)))
    p = (1 + (chance >= z - ROUNDING).sum(axis=0)) / (1 + len(null))
    expected = (null / np.maximum(sizes, 1e-300)[:, None]).mean(axis=0) * size
    table = rows_of(sets, shared[0], expected, p, family_p(z[0], chance))
    return table.assign(
        list="chosen lists",
        reference="permuted labels",
        genes=named.sizes()[table.index],
        size=size[0],
        names="",
    )


def excess(shared: Array, size: Array, named: Named) -> Array:
    """Return ``(s - m K/N) / sqrt(v + .1)`` of each permutation and set, (B, n_sets).

    v = m K/N (1 - K/N) (N - m)/(N - 1) is the variance of s genes of a set of K among m genes drawn
    of N: each permutation is held against the length of its own lists, and sets of all sizes
    against one another. 0 where a permutation selects nothing, or a set has all genes.

    Parameters
    ----------
    shared, size : (B, n_sets), (B,) float
        s and m, which are means over splits.
    """
    n = len(named)
    share = named.sizes() / n
    drawn = size[:, None]
    variance = drawn * share * (1 - share) * np.maximum(n - drawn, 0) / max(n - 1, 1)
    return np.asarray((shared - drawn * share) / np.sqrt(variance + LEAST))


def _shared(named: Named, fits: Fits) -> tuple[Array, Array]:
    """Return for each permutation how many genes of each set a list has, and how many in all.

    (n_permutations, n_sets) and (n_permutations,), means over the splits.
    """
    n_mu = len(fits.mu)
    numbers = np.unique(fits.permutation)
    counts = selection_counts(fits, len(named.number))[n_mu - 1 :: n_mu]
    splits = len(fits) / max(1, len(numbers))
    often = np.zeros((len(numbers), len(named)))
    np.add.at(often.T, named.number, counts.toarray().T / splits)
    return (named.members @ often.T).T, often.sum(axis=1)


SHUFFLINGS = 1000


def ranking_table(
    dataset: Dataset, splits: Splits, named: Named, sets: GeneSets, shufflings: int = SHUFFLINGS
) -> pd.DataFrame:
    """Return enrichment_ranking.tsv: every set, the furthest from chance first.

    ``score`` is `larger_mean` of the t of `univariate_table`, positive where the set is higher in
    the positive class; of several probes of a gene the one of largest |t| counts. The labels are
    shuffled as the permutations of the study do it, and all is done again: genes of a set that go
    together stay so. ``normalised`` is how many standard deviations the size of the score is above
    its mean, under all labels, the observed ones among them, so that large and small, correlated
    and other sets are alike. ``p_value`` is that of the set by itself, ``family_p`` that against
    the largest of all sets, see `family_p`. ``leading`` names the set's genes on the side
    of its score, by falling |t|.
    """
    import pandas as pd

    observed = by_gene(statistics(dataset), named)
    score = larger_mean(observed, named)
    null = shuffled_scores(dataset, splits, named, shufflings)
    size = np.abs(np.vstack([score, null]))
    z = normalised(size)
    table = pd.DataFrame(
        {
            "set": sets.names,
            "about": sets.about,
            "genes": named.sizes(),
            "score": score,
            "normalised": z[0],
            "p_value": (1 + (size[1:] >= size[0] - ROUNDING).sum(axis=0)) / len(size),
            "family_p": family_p(z[0], z[1:]),
            "leading": leading(observed, named, score),
        }
    )
    return table.sort_values("normalised", ascending=False, kind="stable", ignore_index=True)


def larger_mean(t: Array, named: Named) -> Array:
    """Return of each set the mean of its rises, or less that of its falls if larger, (n_sets,).

    Rises are max(t, 0), falls max(-t, 0), each less its mean over all genes and divided by its
    standard deviation: a set stands out among genes, where most of them differ, too; 0 where it is
    above all genes on neither side. Rises do not make up for falls, as in a mean of all t. Unlike
    the running sum of Subramanian and others, which cannot exceed 1, it grows with the effect, and
    a set whose genes go together can stand out.

    Source: maxmean, restandardised, of Efron and Tibshirani 2007.
    """
    up, down = (
        (named.members @ _among_all(np.maximum(each, 0))) / named.sizes() for each in (t, -t)
    )
    return np.asarray(np.where(up >= down, 1, -1) * np.maximum(np.maximum(up, down), 0))


def _among_all(sizes: Array) -> Array:
    spread = sizes.std()
    return np.asarray((sizes - sizes.mean()) / spread if spread > ROUNDING else 0 * sizes)


def normalised(size: Array) -> Array:
    """Return each size less the mean of its set, over their standard deviation, (B, n_sets).

    0 where all are alike.
    """
    above = size - size.mean(axis=0)
    spread = size.std(axis=0)
    z: Array = np.divide(above, spread, out=np.zeros_like(size), where=spread > ROUNDING)
    return z


def by_gene(statistic: Array, named: Named) -> Array:
    """Return the statistic of largest size among the columns of each gene, (n_genes,)."""
    order = np.lexsort((np.abs(statistic), named.number))
    last = np.append(np.diff(named.number[order]) > 0, True)
    return np.asarray(statistic[order[last]])


def shuffled_scores(dataset: Dataset, splits: Splits, named: Named, count: int) -> Array:
    """Return the scores of all sets under shuffled labels, (count, n_sets)."""
    null = np.empty((count, len(named.sizes())))
    for number in range(1, count + 1):
        X = dataset.X[permutation(dataset, splits, number)]
        statistic = by_gene(statistics(replace(dataset, X=X)), named)
        null[number - 1] = larger_mean(statistic, named)
    return null


def leading(t: Array, named: Named, score: Array) -> list[str]:
    """Return the genes of each set whose t has the sign of its score, by falling |t|."""
    out = []
    for k, side in enumerate(np.sign(score)):
        genes = named.members.indices[slice(*named.members.indptr[k:][:2])]
        genes = genes[t[genes] * side > 0]
        genes = genes[np.argsort(-np.abs(t[genes]), kind="stable")]
        out.append(", ".join(map(str, named.symbols[genes])))
    return out


READ = ("signature", "nested_lists", "blocks")
TEXT = ("gene", "symbol", "prototype")
"""Tables that are held against the sets, and their columns of names."""

FEWEST = 3
"""Genes of a block that is held against the sets."""


def enrichment(
    dataset: Dataset,
    splits: Splits,
    tables: dict[str, pd.DataFrame],
    fits: Sequence[Sequence[Fits]],
    *,
    sets: str,
    smallest: int,
    largest: int,
) -> dict[str, pd.DataFrame]:
    """Return enrichment.tsv and enrichment_ranking.tsv.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    tables : dict of DataFrame
        signature, nested_lists, blocks.
    fits : (list of Fits, list of Fits)
        Batches of the observed labels, and of the permuted ones, which may be none.
    sets : str
        File of gene sets.
    smallest, largest : int
        Sizes of the sets that take part.
    """
    symbols = dataset.var["symbol"].tolist()
    known = study_sets(
        sets, dataset.genes, symbols, column=None, smallest=smallest, largest=largest
    )
    named = Named.of(dataset, known)
    dataset = described(dataset)
    lists = lists_table(named, known, lists_of(dataset, tables))
    observed, permuted = fits
    if permuted:
        pair = [joined(part, splits).with_chosen() for part in (observed, permuted)]
        lists = stacked([lists, selection_table(named, known, *pair)])
    return {
        "enrichment": lists,
        "enrichment_ranking": ranking_table(dataset, splits, named, known),
    }


def lists_of(dataset: Dataset, tables: dict[str, pd.DataFrame]) -> dict[str, Array]:
    """Return the columns of each list: signature, FDR-selected genes, list at each mu, each block.

    Core genes replace FDR-selected ones if the study selects none by FDR.
    """
    signature, nested, blocks = (tables[k] for k in ("signature", "nested_lists", "blocks"))
    first = "fdr_selected" if "fdr_selected" in signature else "core"
    inside = signature[first].astype(str).str.lower().isin(["true", "1"])
    found = {"signature": signature["gene"], f"{first} genes": signature["gene"][inside]}
    listed = nested[nested["in_list"].astype(bool) & nested["mu"].notna()]
    found |= {f"list at mu {mu:g}": part["gene"] for mu, part in listed.groupby("mu")}
    sized = blocks[blocks["block"].notna()].groupby("block")["gene"]
    found |= {f"block {k:g}": part for k, part in sized if len(part) >= FEWEST}
    place = {gene: j for j, gene in enumerate(dataset.genes)}
    return {
        name: np.array([place[str(g)] for g in genes], dtype=np.int64)
        for name, genes in found.items()
    }
