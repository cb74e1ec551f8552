"""Match the gene sets of a file with the genes of a study, and check their sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from genesig.data.files.gene_ids import converted_names
from genesig.data.files.gmt import NamedSet
from genesig.data.files.readers import read_sets
from genesig.errors import InvalidInput, Problem, input_error
from genesig.results.splits import GeneSets
from genesig.words import counted, listing

SYMBOL_SEPARATOR = "///"
"""Separates the symbols of a probe that measures several genes, in Affymetrix's gene tables."""

MIN_REPORTED_CASE_SHARE = 0.05  # share of the genes that miss the data by upper and lower case
MAX_DROPPED_SHARE = 0.9  # share of the sets that may be left out without a warning
PUBLISHED = "published"  # name, in messages, of the signatures of ``controls.signatures``

ColumnsOfGene = Mapping[str, Sequence[int]]  # gene id or symbol -> columns of the matrix
ColumnsOfSet = dict[str, frozenset[int]]  # name of a gene set -> columns of the matrix


def match_sets(
    path: str,
    genes: Sequence[str],
    symbols: Sequence[str],
    *,
    column: str | None,
    smallest: int,
    largest: int,
    section: str = "structured",
) -> GeneSets:
    """Return the gene sets of a file as column numbers of the matrix.

    Names are compared with the ids or with the symbols, whichever match more of them,
    case-sensitively. A set's size is its number of measured names: several probes of one gene count
    once.

    path: GMT or GMX; or a gene table, of which `column` says to which set each gene belongs.
    genes, symbols (d,) sequence of str: of the columns of the matrix; the symbol is the id if a
        gene has none.
    smallest, largest: range of the sizes of sets that are used; sets of a column are all used.
    section: section of the config that names the file, for messages.

    Raises InvalidInput: if the file cannot be read, none of its genes is measured, or no set is
        left.
    """
    sets = read_sets(path, column)
    if column is not None:
        smallest = 1
        largest = len(genes)
    listed_genes = dict.fromkeys(name for gene_set in sets for name in gene_set.genes)
    columns_of_gene = _match_names(path, sets, listed_genes, genes, symbols)
    measured_genes = {
        gene_set.name: [name for name in gene_set.genes if name in columns_of_gene]
        for gene_set in sets
    }
    sets_in_range = [
        gene_set for gene_set in sets if smallest <= len(measured_genes[gene_set.name]) <= largest
    ]
    if not sets_in_range:
        largest_size = max(map(len, measured_genes.values()))
        message = (
            f"no set has {smallest} to {largest} measured genes (the largest has {largest_size}); "
            f"set {section}.smallest and {section}.largest, or name other sets"
        )
        raise input_error(path, message)
    columns_of_set = {
        gene_set.name: frozenset(
            number for name in measured_genes[gene_set.name] for number in columns_of_gene[name]
        )
        for gene_set in sets_in_range
    }
    distinct_sets, duplicate_warnings = _drop_duplicates(sets_in_range, columns_of_set)
    set_columns = [sorted(columns_of_set[gene_set.name]) for gene_set in distinct_sets]
    return GeneSets(
        names=np.array([gene_set.name for gene_set in distinct_sets], dtype=str),
        descriptions=np.array([gene_set.description for gene_set in distinct_sets], dtype=str),
        n_listed=np.array([len(gene_set.genes) for gene_set in distinct_sets], dtype=np.int64),
        n_measured=np.array(
            [len(measured_genes[gene_set.name]) for gene_set in distinct_sets], dtype=np.int64
        ),
        indptr=np.cumsum([0, *map(len, set_columns)]),
        indices=np.array([number for members in set_columns for number in members], dtype=np.int64),
        warnings=np.array(
            [
                *_matching_warnings(sets, listed_genes, columns_of_gene),
                *_size_warnings(sets, sets_in_range, distinct_sets, section),
                *duplicate_warnings,
            ],
            dtype=str,
        ),
    )


def check_gene_sets(
    config: dict[str, Any], genes: Sequence[str], symbols: Mapping[str, str] | None
) -> tuple[list[Problem], dict[str, int]]:
    """Return the problems of the config's gene-set files, and their numbers of sets and members.

    The numbers have the names of fields of `genesig.data.study.cost.Size`; files that the config
    does not name have none.
    """
    symbol_of_gene = symbols or {}
    # The job that checks the files gets no sections that do not concern it.
    section_names = ("structured", "enrichment")
    published = config.get("controls", {}).get("signatures")
    sections = {name: config.get(name, {}) for name in section_names}
    sections[PUBLISHED] = {"sets": published, "smallest": 1, "largest": len(genes)}
    problems: list[Problem] = []
    sizes: dict[str, int] = {}
    for name, section in sections.items():
        # The check of the settings reports a range that is upside down.
        if section.get("sets") is None or section["smallest"] > section["largest"]:
            continue
        settings = {key: section.get(key) for key in ("column", "smallest", "largest")}
        try:
            gene_sets = match_sets(
                section["sets"],
                genes,
                [symbol_of_gene.get(gene) or gene for gene in genes],
                **settings,
                section=name,
            )
        except InvalidInput as error:
            problems += error.problems
            continue
        problems += [
            Problem(section["sets"], str(warning), "warning") for warning in gene_sets.warnings
        ]
        sizes |= {f"{name}_sets": len(gene_sets), f"{name}_members": len(gene_sets.indices)}
    return problems, sizes


def _match_names(
    path: str,
    sets: Sequence[NamedSet],
    listed_genes: Mapping[str, None],
    genes: Sequence[str],
    symbols: Sequence[str],
) -> ColumnsOfGene:
    """Return the columns of each measured name, by gene id or by symbol.

    listed_genes: names of genes in all sets, a dict in place of an ordered set.

    Raises InvalidInput: if no name of the file is measured, or most sets have names of genes.
    """
    by_id: dict[str, list[int]] = {gene: [column] for column, gene in enumerate(genes)}
    by_symbol: dict[str, list[int]] = {}
    for column, text in enumerate(symbols):
        for symbol in dict.fromkeys(part.strip() for part in text.split(SYMBOL_SEPARATOR)):
            by_symbol.setdefault(symbol, []).append(column)
    columns_of_gene = max(
        by_id, by_symbol, key=lambda columns: sum(name in columns for name in listed_genes)
    )
    if 2 * sum(gene_set.name in columns_of_gene for gene_set in sets) > len(sets):
        suffix = ".gmt" if path.lower().removesuffix(".gz").endswith(".gmx") else ".gmx"
        message = (
            f"its sets are called by names of genes "
            f"({listing(gene_set.name for gene_set in sets)}); rows "
            f"and columns look exchanged: rename the file to {suffix}"
        )
        raise input_error(path, message)
    if not any(name in columns_of_gene for name in listed_genes):
        raise input_error(path, _unmeasured_message(list(listed_genes), genes, symbols))
    return columns_of_gene


def _unmeasured_message(
    listed_genes: list[str], genes: Sequence[str], symbols: Sequence[str]
) -> str:
    """Return the message that no gene of the sets is measured, with the probable reason."""
    message = (
        f"none of its {counted(len(listed_genes), 'gene')} is in the data: it has "
        f"{listing(listed_genes)}, the data have {listing(symbols)}; "
    )
    folded_names = {name.casefold() for name in listed_genes}
    if any(name.casefold() in folded_names for name in [*symbols, *genes]):
        return (
            message + "upper and lower case differ: take the sets of this species, or write alike"
        )
    if list(symbols) == list(genes):
        return message + "set data.annotation to the gene table of this matrix, for its symbols"
    return message + "name sets of these genes, or another column of the gene table by data.symbol"


def _drop_duplicates(
    sets_in_range: Sequence[NamedSet], columns_of_set: ColumnsOfSet
) -> tuple[list[NamedSet], list[str]]:
    """Return the sets that differ in their genes, and a list of at most one warning on the others.

    Of sets with the same measured genes the first one stays.
    """
    first_name: dict[frozenset[int], str] = {}  # columns -> name of the first set of these
    distinct_sets = []
    duplicates = []
    for gene_set in sets_in_range:
        name = gene_set.name
        if first_name.setdefault(columns_of_set[name], name) == name:
            distinct_sets.append(gene_set)
        else:
            duplicates.append(name)
    if not duplicates:
        return distinct_sets, []
    original = first_name[columns_of_set[duplicates[0]]]
    message = (
        f"of the same measured genes as another, so left out: {counted(len(duplicates), 'set')}, "
        f"{listing(duplicates, 1)} (as '{original}')"
    )
    return distinct_sets, [message]


def _matching_warnings(
    sets: Sequence[NamedSet], listed_genes: Mapping[str, None], columns_of_gene: ColumnsOfGene
) -> Iterator[str]:
    """Yield a warning for names of the file that are not measured or are no gene names."""
    absent_genes = [name for name in listed_genes if name not in columns_of_gene]
    if 2 * len(absent_genes) > len(listed_genes):
        yield (
            f"{len(absent_genes)} of its {len(listed_genes)} genes are not in the data: "
            f"{listing(absent_genes)}"
        )
    measured_name = {name.casefold(): name for name in columns_of_gene}
    differently_written = [name for name in absent_genes if name.casefold() in measured_name]
    if len(differently_written) > MIN_REPORTED_CASE_SHARE * len(listed_genes):
        message = (
            f"{counted(len(differently_written), 'gene')} not found for their upper and lower "
            f"case: '{differently_written[0]}' is "
            f"'{measured_name[differently_written[0].casefold()]}' in the data"
        )
        yield message
    if mangled_names := converted_names(list(listed_genes)):
        message = (
            "turned into dates or numbers by a spreadsheet: "
            f"{counted(len(mangled_names), 'gene')}, "
        )
        yield message + listing(mangled_names)
    if empty_sets := [gene_set.name for gene_set in sets if not gene_set.genes]:
        yield (
            f"without a gene, so left out: {counted(len(empty_sets), 'set')}, {listing(empty_sets)}"
        )


def _size_warnings(
    sets: Sequence[NamedSet],
    sets_in_range: Sequence[NamedSet],
    distinct_sets: Sequence[NamedSet],
    section: str,
) -> Iterator[str]:
    """Yield a warning if nearly all sets are left out for their size, or a choice has one set.

    Published signatures have no range of sizes, and none of them is chosen.
    """
    if section == PUBLISHED:
        return
    selected_names = {gene_set.name for gene_set in sets_in_range}
    dropped_names = [gene_set.name for gene_set in sets if gene_set.name not in selected_names]
    if len(dropped_names) > MAX_DROPPED_SHARE * len(sets):
        message = (
            f"{len(dropped_names)} of its {len(sets)} sets are left out for their size, "
            f"{listing(dropped_names)}; {section}.smallest and {section}.largest say which take "
            "part"
        )
        yield message
    if len(distinct_sets) == 1 and section == "structured":
        yield f"one set is left, '{distinct_sets[0].name}', so that there is none to choose"
