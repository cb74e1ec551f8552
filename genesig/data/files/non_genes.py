"""Rows and columns of an expression file that are no genes and no samples.

Counters, portals and programs write more than genes and samples into one table: sums of reads,
control probes, spike-ins, decoys, ids and positions of the genes, columns of the sample table.
Every way that a matrix comes in (training, external cohorts, several studies, new samples) leaves
these out by the functions of this file, before anything is computed from the values.

Names decide where a program has fixed names; elsewhere the values decide and a name is a hint.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import is_clinical
from genesig.data.files.delimited import Matrix
from genesig.errors import Problem
from genesig.words import (
    as_read,
    counted,
    is_missing,
    is_number,
    listing,
    without_thousands,
)

if TYPE_CHECKING:
    import pandas as pd

RAW_PROBE = "probe"
"""`Matrix.line_word` of raw arrays, whose control probes the background correction needs."""


@dataclass(frozen=True)
class NonGeneKind:
    """One kind of row, or column, of a file that is no gene."""

    name: str  # value of `data.keep` in the config; '' if the kind cannot be kept
    noun: str  # in messages, for one row
    plural: str
    examples: str  # names, for the table in the documentation
    pattern: re.Pattern[str] | None = None  # of names; None if only the values tell


def _any_of(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern that matches any of the alternatives, in upper or lower case."""
    return re.compile("|".join(alternatives), re.IGNORECASE)


SUMMARIES = NonGeneKind(
    "summaries",
    "summary row of a counter",
    "summary rows of a counter",
    "`__no_feature`, `N_unmapped`, `Unassigned_Ambiguity`",
    _any_of(
        r"__\w+",  # htseq-count
        r"no_feature|ambiguous|too_low_aqual|not_aligned|alignment_not_unique",  # before its 0.6
        r"N_(unmapped|multimapping|nofeature|ambiguous)|nofeature",  # STAR, GDC
        r"(un)?assigned(_\w+)?",  # featureCounts
        r"\*|(un|multi)[-_ ]?mapp(ed|ing)([-_ ]reads)?",  # samtools idxstats and others
    ),
)
TOTALS = NonGeneKind(
    "totals",
    "row of totals",
    "rows of totals",
    "`Total`, `library size`, `nCount_RNA`; a row that is the sum or the mean of all others",
    _any_of(
        r"(grand|column|row|sub)?[ _.-]?(totals?|sums?)",
        r"(total|sum|mapped|sequenced|aligned|number|no|#)[ _.-]*(of[ _.-]*)?(mapped[ _.-]*)?"
        r"(reads?|counts?|umis?|genes|intensity)",
        r"lib(rary)?[ _.-]?size|n_?(count|feature)s?_?rna|n_counts|n_genes",
        r"(norm|size)[ _.-]?factors?|(detected|expressed)[ _.-]?(genes|features)",
        r"(genes|features)[ _.-]?(detected|expressed)|(percent|pct)[ _.-](counts[ _.-])?mt",
        # German, French, Spanish
        r"(gesamt)?summe|mittelwert|durchschnitt|somme|moyenne|suma|promedio",
        r"(mean|average|median|st\.?dev|std|variance)[ _.-]?(of[ _.-])?(expression|counts?)?",
    ),
)
CONTROLS = NonGeneKind(
    "controls",
    "control probe",
    "control probes",
    "`AFFX-BioB-3_at`, `DarkCorner`, `(+)E1A_r60_1`, `NEG_A(0)`, `NegativeControl`, `BLANK-1`",
    _any_of(
        # Affymetrix: genes of bacteria and phages; controls that measure a gene of the organism
        # (AFFX-HUMGAPDH) are genes.
        r"AFFX[-_](r2[-_])?(((ec|bs|p1)[-_])?(bio[bcd]n?|cre|crex|dap|lys|phe|thr|trp)|"
        r"nonspecificgc|polya|bkgr|kit|trpn|ran|ngc|tag)[\w-]*",
        # Agilent
        r"(GE_)?BrightCorner|DarkCorner|(\(\+\)|\(-\))\S+|NegativeControl|NC[12]_\d{6,}"
        r"|E1A_r60_\w+|ETG\d+_\d+|StructuralNegative|SRN_\d+|HsNegativeControl\w*",
        # Illumina
        r"(negative|biotin|cy3_hyb|labeling|housekeeping|(low|high)_stringency_hyb)([ _.:-]\S*)?",
        # NanoString, spatial panels, SomaScan, proximity assays
        r"(POS|NEG)[_ ][A-H](\(\d*\.?\d+\))?",
        r"(neg(ative)?|blank|antisense|unassigned|deprecated)[-_ ]?(ctrl|control)?[-_ ]?"
        r"(prb|probe|codeword)?s?[-_ ]?(wtx)?[-_ ]?\d+(\.\d+)?",
        r"(neg(ative)?|pos(itive)?|isotype|ext(ension)?|inc(ubation)?|det(ection)?"
        r"|amp(lification)?|hyb|igg\d?[ab]?)[-_ ]?(ctrl|control)s?[-_ ]?\d*",
        # Spots and wells without a sequence
        r"(blank|empty|buffer|ntc|no[-_ ]?template([-_ ]?control)?|control)[-_ ]?\d*",
        r"(hyb|neg)?controlelution\w*|hybridi[sz]ation[ _.-]?control\S*|spuriomer\S*",
    ),
)
SPIKES = NonGeneKind(
    "spikes",
    "spike-in",
    "spike-ins",
    "`ERCC-00002`, `SIRV101`, `cel-miR-39-3p`, `PhiX`",
    _any_of(
        r"ERCC[-_.]0\d{4}([-_]\S*)?",
        r"(g?SIRV|SIRVome)[-_]?[\w.-]*|(R[12]|sequin)[-_]\d+[-_]\d+",
        r"(cel|ath|osa)-mir-?(39|54|238|159|156)[\w-]*|UniSp\d+\S*",
        r"phi[-_ ]?X(174)?|spike[-_ ]?ins?[-_ ]?\S*|(RNA|DNA)[-_]?spike\S*|lambda[-_ ]?(phage|dna)",
    ),
)
CONTAMINANTS = NonGeneKind(
    "contaminants",
    "contaminant or decoy",
    "contaminants or decoys",
    "`CON__P02769`, `REV__Q9Y6K9`, `DECOY_P04637`, `rev_sp|P04637|P53_HUMAN`",
    _any_of(
        r"(CON__|REV__|XXX_|##)\S+|(decoy|contam|contaminant|cont|crap|rev|reverse)[_|]\S+",
        r"\S+[_-](decoy|reversed|contaminant)",
        r"(biognosys\|)?irt[-_ ]?kit\S*|biognosys\S*",
    ),
)
NAMELESS_ROWS = NonGeneKind(
    "", "row without a gene id", "rows without a gene id", "`NA`, `---`, `#N/A`, a blank cell"
)
SHEET_COLUMNS = NonGeneKind(
    "sheet",
    "column of the sample table",
    "columns of the sample table",
    "`OS`, `age`: the name or the values of a column of the sample table",
)
CLINICAL_ROWS = NonGeneKind(
    SHEET_COLUMNS.name,
    "row about the samples",
    "rows about the samples",
    "`age`, `OS`: whole numbers among decimals, which no column of the sample table has",
)
WORD_ROWS = NonGeneKind(
    "",
    "row of words",
    "rows of words",
    "`Group`, `tissue`: words instead of numbers, which no column of the sample table has",
)
ROW_NUMBERS = NonGeneKind(
    "",
    "count of the rows",
    "counts of the rows",
    "a column 0, 1, 2, ... that a program has written",
)
ANNOTATION_COLUMNS = NonGeneKind(
    "",
    "column beside the genes",
    "columns beside the genes",
    "`Entrez_Gene_Id`, `Description`, `gene_type`, `chr`, `start`, `length`",
)
KINDS_BY_NAME = (SUMMARIES, TOTALS, CONTROLS, SPIKES, CONTAMINANTS)
KINDS_BY_VALUES = (SHEET_COLUMNS, CLINICAL_ROWS, WORD_ROWS, ROW_NUMBERS)
KINDS = (*KINDS_BY_NAME, NAMELESS_ROWS, *KINDS_BY_VALUES, ANNOTATION_COLUMNS)

# Names of columns beside the ids of the genes, letters and digits alone, in lower case.
GENE_COLUMN_NAME = _any_of(
    r"(ncbi|locuslink|entrez)(gene)?(id|symbol)?s?",
    r"gene(id|symbol|name|title|type|biotype|length|start|end|description)s?",
    r"(hgnc|hugo|external)(id|symbol|genename)?|symbols?|accessions?|descriptions?|definition",
    r"biotype|transcripttype|featuretype|ens(g|embl)(gene|transcript|protein)?(id)?s?",
    r"(refseq|unigene|uniprot(kb)?|genbank)(id|accession)?s?|gb(acc|list)",
    r"(probe(set)?|spot|target|olink|seq|soma|ilmn|transcript|(majority)?protein)(id|name)s?",
    r"probe(set)?|idref|aptname|targetfullname|proteindescriptions|fastaheaders",
    r"chr(om(osome)?)?(name)?|seqnames?|cytoband|band|mapinfo|location",
    r"(gene|tx|chrom)?(start|end|stop)(position)?|strand|width",
    r"(gene|exon|effective|effectivegene|transcript)?length|(percentagegene)?gccontent|gc",
    r"numberofproteins|(razor|unique|razorunique)?peptides|molweightkda|sequence(length|coverage)",
)
# Words for a missing id; R numbers repeated ones (NA.1). UNK (unkempt) is a gene.
MISSING_ID = re.compile(r"[-?._/\s]+|#.*|NA\.\d+|<na>|n\.?a\.?|unknown|none", re.IGNORECASE)
AMBIGUOUS_COLUMN_NAMES = {"start", "end", "stop", "location", "band", "probe", "hugo", "gc"}
"""Names that samples may have, too: they count if `MIN_ANNOTATION_COLUMNS` such columns exist."""
MIN_ANNOTATION_COLUMNS = 3
MIN_IDS = 50  # genes from which on ids differ from counts by their values
MAX_KIND_SHARE = 0.5
"""Share of the names above which a kind is the subject of the matrix, and stays."""
MIN_EQUAL_SHARE = 0.95  # share of the samples in which a column equals one of the sample table
MIN_SPECIES_SHARE = 0.1
"""Share of the names from which on micro-RNA of a species are genes, and no spike-ins."""
SUM_TOLERANCE = 1e-4  # relative difference of a row from the sum of all others, by rounding
MIN_SAMPLES_FOR_VALUES = 5  # samples from which on columns are not equal by chance
MAX_ID_CORRELATION = 0.5
"""Rank correlation of a row of ids with the samples; samples of one tissue have about 0.8."""
MAX_WHOLE_NUMBER_COLUMNS = 20
"""Columns of whole numbers about samples; if there are more, they are genes."""
MIN_NONZERO_SHARE = 0.2
"""Share of samples with a value other than 0; a gene that is not expressed has fewer."""
MAX_CELLS_FOR_DIGITS = 1000  # cells of which the number of digits is counted
MIN_DIFFERENT_VALUES = 3  # different values from which on values alone tell what a column is


@dataclass(frozen=True)
class Surroundings:
    """Sample table, genes and settings that help to tell genes from other rows."""

    table: pd.DataFrame | None = None  # sample table of strings, index = sample names
    config_columns: Collection[str] = ()  # columns of the sample table in the config: no genes
    genes: Collection[str] = ()  # genes of a study or a model, of which none is left out
    kept_kinds: Collection[str] = ()  # names of kinds that stay: `data.keep` of the config


def leave_out_non_genes(
    matrix: Matrix, file_name: str, surroundings: Surroundings
) -> tuple[Matrix, list[dict[str, str]], list[Problem]]:
    """Return a matrix without rows and columns that are no genes or samples, and what was left out.

    matrix: samples in rows, as `layouts.orient` gives it.
    file_name: for messages.

    Returns
    -------
    matrix : Matrix
        The same object if nothing is left out.
    dropped : list of dict
        {kind, name, reason} of each row and column that is left out.
    problems : list of Problem
        A note on what was left out, or a warning if values decided; a warning of whole numbers.
    """
    annotation = annotation_rows(matrix, surroundings.table)
    samples = [row for row in range(len(matrix.rows)) if row not in annotation]
    kind_of_column = _named_columns(matrix, surroundings)
    kind_of_column |= _columns_of_sheet(matrix, samples, surroundings, kind_of_column)
    if TOTALS.name not in surroundings.kept_kinds:
        kind_of_column |= dict.fromkeys(
            _total_columns(matrix, samples, kind_of_column, surroundings), TOTALS
        )
    whole_numbers = _unclassified_whole_numbers(matrix, samples, surroundings, kind_of_column)
    if not kind_of_column and not annotation and not matrix.annotation and not whole_numbers:
        return matrix, [], []
    genes = [column for column in range(len(matrix.columns)) if column not in kind_of_column]
    if not genes and matrix.columns:
        message = (
            f"no row has a gene id, but {listing(dict.fromkeys(matrix.columns))}; write the ids "
        )
        return matrix, [], [Problem(file_name, f"{message}into the first column", code="non_genes")]
    names_by_kind: dict[NonGeneKind, list[str]] = {}
    for column, kind in sorted(kind_of_column.items()):
        names_by_kind.setdefault(kind, []).append(matrix.columns[column])
    dropped = [
        {"kind": "non-gene row", "name": name or "(blank)", "reason": kind.noun}
        for kind, rows in names_by_kind.items()
        for name in rows
    ]
    annotation_names = [*matrix.annotation, *(matrix.rows[row] for row in sorted(annotation))]
    dropped += [
        {"kind": "annotation column", "name": name, "reason": ANNOTATION_COLUMNS.noun}
        for name in annotation_names
    ]
    if annotation_names:
        names_by_kind[ANNOTATION_COLUMNS] = annotation_names
    if kind_of_column or annotation:
        matrix = matrix.subset(samples, genes)
    genes_in_rows = matrix.transposed
    problems = []
    if names_by_kind:
        problems.append(_message(names_by_kind, file_name, genes_in_rows=genes_in_rows))
    if whole_numbers:
        problems.append(
            _whole_number_warning(whole_numbers, file_name, genes_in_rows=genes_in_rows)
        )
    return matrix, dropped, problems


def _whole_number_warning(names: Sequence[str], file_name: str, *, genes_in_rows: bool) -> Problem:
    """Return the warning that genes of whole numbers may be data of the samples."""
    noun = "row" if genes_in_rows else "column"
    message = (
        f"{counted(len(names), noun)} of whole numbers where the genes have decimals: "
        f"{listing(names)}; take out what describes the samples and is no gene"
    )
    return Problem(file_name, message, "warning", code="whole_numbers")


def _message(
    names_by_kind: dict[NonGeneKind, list[str]], file_name: str, *, genes_in_rows: bool
) -> Problem:
    """Return the message that counts and names the rows and columns that were left out."""
    counts = [_count_text(kind, len(rows)) for kind, rows in names_by_kind.items()]
    if not genes_in_rows:
        about_samples = (CLINICAL_ROWS, WORD_ROWS)
        counts = [
            text.replace("row", "column") if kind in about_samples else text
            for kind, text in zip(names_by_kind, counts, strict=True)
        ]
    parts = [
        f"{text}: {listing(rows)}"
        for text, rows in zip(counts, names_by_kind.values(), strict=True)
    ]
    message = f"left out, neither genes nor samples: {'; '.join(parts)}"
    if settings := dict.fromkeys(kind.name for kind in names_by_kind if kind.name):
        message += f"; to keep them: data.keep: [{', '.join(settings)}]"
    level = "note" if names_by_kind.keys().isdisjoint(KINDS_BY_VALUES) else "warning"
    return Problem(file_name, message, level, code="non_genes", key="data.keep")  # type: ignore[arg-type]


def _count_text(kind: NonGeneKind, number: int) -> str:
    return f"{number} {kind.noun if number == 1 else kind.plural}"


def kinds_by_name(names: Sequence[str], excluded: Collection[str] = ()) -> dict[int, NonGeneKind]:
    """Return position -> kind of each name that is no gene by the pattern of a kind.

    A kind of more than half of the names is the subject of the matrix, and stays; so do the kinds
    whose names are `excluded`.
    """
    kind_of_position: dict[int, NonGeneKind] = {}
    for kind in KINDS_BY_NAME:
        if kind.name in excluded or kind.pattern is None:
            continue
        positions = [k for k, name in enumerate(names) if kind.pattern.fullmatch(name.strip())]
        if kind is SPIKES:
            positions = _foreign_micro_rna(names, positions)
        if len(positions) <= MAX_KIND_SHARE * len(names):
            kind_of_position |= dict.fromkeys(
                (k for k in positions if k not in kind_of_position), kind
            )
    return kind_of_position


def _foreign_micro_rna(names: Sequence[str], positions: Sequence[int]) -> list[int]:
    """Return the positions without micro-RNA of a species that is frequent in the matrix."""
    species = Counter(names[k][:4].lower() for k in range(len(names)) if "-mi" in names[k].lower())
    common = {name for name, times in species.items() if times > MIN_SPECIES_SHARE * len(names)}
    return [k for k in positions if names[k][:4].lower() not in common]


def is_nameless(name: str) -> bool:
    """Tell whether a gene id is blank or a word for no value."""
    text = name.strip()
    return is_missing(text) or MISSING_ID.fullmatch(text) is not None


def _named_columns(matrix: Matrix, surroundings: Surroundings) -> dict[int, NonGeneKind]:
    """Return the columns that are no genes by their names."""
    genes = set(surroundings.genes)
    excluded = set(surroundings.kept_kinds)
    if matrix.line_word == RAW_PROBE:
        excluded.add(CONTROLS.name)
    n_columns_of_name = Counter(matrix.columns)
    # "na" and "nan" are genes of the fly, each once.
    kind_of_column = {
        k: NAMELESS_ROWS
        for k, name in enumerate(matrix.columns)
        if is_nameless(name) and not (name in ("na", "nan") and n_columns_of_name[name] == 1)
    }
    kind_of_column |= kinds_by_name(matrix.columns, excluded)
    return {k: kind for k, kind in kind_of_column.items() if matrix.columns[k] not in genes}


def _columns_of_sheet(
    matrix: Matrix, samples: Sequence[int], surroundings: Surroundings, classified: Collection[int]
) -> dict[int, NonGeneKind]:
    """Return column -> kind of each unclassified column that describes the samples.

    These are columns with a name or the values of a column of the sample table, columns of words,
    row numbers, and clinical whole numbers. If they are more than half of the columns, they are
    genes.
    """
    if SHEET_COLUMNS.name in surroundings.kept_kinds or len(samples) < MIN_SAMPLES_FOR_VALUES:
        return {}
    genes = set(surroundings.genes)
    open_columns = {
        k for k, name in enumerate(matrix.columns) if k not in classified and name not in genes
    }
    table = surroundings.table
    headers = set() if table is None else {as_read(str(name)) for name in table.columns}
    kind_of_column = dict.fromkeys(_row_numbers(matrix, samples), ROW_NUMBERS)
    kind_of_column |= dict.fromkeys(_columns_of_words(matrix, samples), WORD_ROWS)
    kind_of_column |= dict.fromkeys(_clinical_numbers(matrix, samples), CLINICAL_ROWS)
    if table is not None and _is_same_file(matrix, headers):
        kind_of_column |= dict.fromkeys(_columns_of_whole_numbers(matrix, samples), CLINICAL_ROWS)
    kind_of_column |= {
        column: SHEET_COLUMNS
        for column in kind_of_column
        if as_read(matrix.columns[column]) in headers
    }
    kind_of_column |= dict.fromkeys(_columns_in_table(matrix, samples, surroundings), SHEET_COLUMNS)
    kind_of_column = {
        column: kind for column, kind in kind_of_column.items() if column in open_columns
    }
    return kind_of_column if len(kind_of_column) <= MAX_KIND_SHARE * len(open_columns) else {}


def _is_same_file(matrix: Matrix, headers: Collection[str]) -> bool:
    """Tell whether a file is matrix and sample table in one: every gene is in both."""
    n_shared = sum(as_read(name) in headers for name in matrix.columns)
    return n_shared > MAX_KIND_SHARE * len(matrix.columns)


def _columns_of_words(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns in which no sample has a number and most have a word."""
    rows = set(samples)
    numeric: set[int] = set()
    n_words: Counter[int] = Counter()
    for place, text in matrix.texts.items():
        row, column = reversed(place) if matrix.transposed else place
        if row not in rows or is_missing(text):
            continue
        if is_number(text.replace(",", "")) or without_thousands(text):
            numeric.add(column)
        else:
            n_words[column] += 1
    return [
        column
        for column, number in n_words.items()
        if column not in numeric
        and 2 * number > len(samples)
        and not np.isfinite(matrix.cells[samples, column]).any()
    ]


def _row_numbers(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns that count the rows of the file, from 0 or 1 on."""
    counts = np.arange(len(samples), dtype=float)
    first_row = matrix.cells[samples[0]] if samples else np.empty(0)
    candidates = np.flatnonzero((first_row == 0) | (first_row == 1))
    return [
        int(k)
        for k in candidates
        if np.array_equal(matrix.cells[samples, k] - matrix.cells[samples[0], k], counts)
    ]


def _columns_in_table(
    matrix: Matrix, samples: Sequence[int], surroundings: Surroundings
) -> Iterator[int]:
    """Yield the columns of a matrix that the sample table has, too, by name and values."""
    table = surroundings.table
    if table is None or table.empty or not table.index.is_unique:
        return
    header_of_key = {as_read(str(name)): str(name) for name in table.columns}
    shared_columns = {
        k: header_of_key[key]
        for k, name in enumerate(matrix.columns)
        if (key := as_read(name)) in header_of_key
    }
    # A file that is matrix and sample table in one has every gene in both.
    if len(shared_columns) > MAX_KIND_SHARE * len(matrix.columns):
        named_keys = {as_read(name) for name in surroundings.config_columns}
        yield from (k for k in shared_columns if as_read(matrix.columns[k]) in named_keys)
        return
    row_of_sample = {name: k for k, name in enumerate(map(str, table.index))}
    pairs = [
        (row, row_of_sample[matrix.rows[row]])
        for row in samples
        if matrix.rows[row] in row_of_sample
    ]
    if len(pairs) < MIN_SAMPLES_FOR_VALUES:
        return
    rows, table_rows = map(list, zip(*pairs, strict=True))
    for name in dict.fromkeys(map(str, table.columns)):
        if list(table.columns).count(name) != 1:
            continue
        cells = table[name].iloc[table_rows]
        values = numbers_of(cells)
        with_number = np.isfinite(values)
        yield from (
            k
            for k, header in shared_columns.items()
            if header == name and _are_codes_of(matrix.cells[rows, k], cells)
        )
        if with_number.sum() < MIN_SAMPLES_FOR_VALUES or len(np.unique(values[with_number])) < 2:
            continue
        same_name = [k for k, header in shared_columns.items() if header == name]
        yield from (k for k in same_name if _have_equal_values(matrix.cells[rows, k], values))
        if len(np.unique(values[with_number])) >= MIN_DIFFERENT_VALUES:
            yield from _equal_columns(matrix, rows, values)


def numbers_of(cells: Iterable[object]) -> Array:
    """Return texts as float64, NaN for a text that is no number."""
    texts = [str(cell) for cell in cells]
    return np.array([float(text) if is_number(text) else np.nan for text in texts])


def _have_equal_values(x: Array, values: Array) -> bool:
    """Tell whether two columns are equal in nearly all samples in which both have a value."""
    both_known = np.isfinite(x) & np.isfinite(values)
    if 2 * both_known.sum() < np.isfinite(values).sum() or not both_known.any():
        return False
    return bool(
        np.mean(np.isclose(x[both_known], values[both_known], rtol=1e-6, atol=1e-9))
        >= MIN_EQUAL_SHARE
    )


def _are_codes_of(x: Array, cells: Iterable[object]) -> bool:
    """Tell whether the numbers x are codes for the words of a column, one number for each word."""
    pairs = {
        (number, str(cell))
        for number, cell in zip(x.tolist(), cells, strict=True)
        if np.isfinite(number) and not is_missing(str(cell))
    }
    numbers = {number for number, _ in pairs}
    words = {word for _, word in pairs}
    return 1 < len(pairs) == len(numbers) == len(words) <= len(x) / MIN_DIFFERENT_VALUES


def _equal_columns(matrix: Matrix, rows: Sequence[int], values: Array) -> Iterator[int]:
    """Yield the columns with exactly these values, whatever their names."""
    known_rows = np.flatnonzero(np.isfinite(values)).tolist()
    measured = [rows[k] for k in known_rows]
    for column in np.flatnonzero(matrix.cells[measured[0]] == values[known_rows[0]]).tolist():
        if np.array_equal(matrix.cells[measured, column], values[known_rows]):
            yield column


def _clinical_numbers(matrix: Matrix, samples: Sequence[int]) -> Iterator[int]:
    """Yield columns of whole numbers among decimals, with the name of an age or a time."""
    clinical_columns = [k for k, name in enumerate(matrix.columns) if is_clinical(name)]
    if not clinical_columns:
        return
    X = matrix.cells[samples[: 5 * MIN_SAMPLES_FOR_VALUES]]
    decimal_share = float(np.mean((np.isfinite(X) & (X % 1 != 0)).any(axis=0)))
    if decimal_share < MIN_EQUAL_SHARE:
        return
    for k in clinical_columns:
        x = matrix.cells[samples, k]
        x = x[np.isfinite(x)]
        if x.size and (x % 1 == 0).all():
            yield k


def _unclassified_whole_numbers(
    matrix: Matrix, samples: Sequence[int], surroundings: Surroundings, classified: Collection[int]
) -> list[str]:
    """Return the names of unclassified columns of whole numbers, which may describe the samples."""
    if SHEET_COLUMNS.name in surroundings.kept_kinds or len(samples) < MIN_SAMPLES_FOR_VALUES:
        return []
    genes = set(surroundings.genes)
    names = [
        matrix.columns[k]
        for k in _columns_of_whole_numbers(matrix, samples)
        if k not in classified and matrix.columns[k] not in genes
    ]
    return names if len(names) <= MAX_WHOLE_NUMBER_COLUMNS else []


def _columns_of_whole_numbers(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns of whole numbers that would have decimals if they were genes.

    A program that writes four digits leaves the decimals of 1234 out, not those of 53.12: the
    numbers of such a column have fewer digits than those of the genes.
    """
    X = matrix.cells[samples]
    is_known = np.isfinite(X)
    has_decimals = is_known & (np.floor(X) != X)
    if not len(samples) or np.mean(has_decimals.any(axis=0)) < MIN_EQUAL_SHARE:
        return []
    n_digits = np.median(
        [_significant_digits(value) for value in X[has_decimals][:MAX_CELLS_FOR_DIGITS]]
    )
    largest = np.max(np.where(is_known, np.abs(X), 0), axis=0, initial=0)
    n_nonzero = (is_known & (X != 0)).sum(axis=0)
    candidates = ~has_decimals.any(axis=0) & (largest < 10 ** (n_digits - 1))
    candidates &= n_nonzero >= MIN_NONZERO_SHARE * len(samples)
    return [int(k) for k in np.flatnonzero(candidates) if len(np.unique(X[is_known[:, k], k])) > 1]


def _significant_digits(value: float) -> int:
    digits = f"{abs(value):.9e}".partition("e")[0].replace(".", "").rstrip("0")
    return len(digits)


def _total_columns(
    matrix: Matrix,
    samples: Sequence[int],
    kind_of_column: dict[int, NonGeneKind],
    surroundings: Surroundings,
) -> list[int]:
    """Return the columns that are the sum or the mean of all other genes, one or two at most.

    A few samples find the candidates, all samples confirm them. The summaries of a counter may be
    part of the sum or not.
    """
    genes = np.array([k for k in range(len(matrix.columns)) if k not in kind_of_column], dtype=int)
    if len(samples) < MIN_DIFFERENT_VALUES or len(genes) < 2 * MIN_SAMPLES_FOR_VALUES:
        return []
    summaries = [k for k, kind in kind_of_column.items() if kind is SUMMARIES]
    candidates: dict[int, None] = {}
    first_samples = list(samples[:MIN_DIFFERENT_VALUES])
    for added_summaries in ([], summaries):
        for scale in (1.0, len(genes) + len(added_summaries) - 1.0):
            columns = _columns_equal_to_sum(matrix, first_samples, genes, added_summaries, scale)
            if 0 < len(columns) <= 2:
                confirmed = _columns_equal_to_sum(
                    matrix, samples, genes, added_summaries, scale, columns
                )
                candidates |= dict.fromkeys(confirmed.tolist())
    known_genes = set(surroundings.genes)
    return [k for k in candidates if matrix.columns[k] not in known_genes]


def _columns_equal_to_sum(
    matrix: Matrix,
    samples: Sequence[int],
    genes: Array,
    summaries: Sequence[int],
    scale: float,
    candidates: Array | None = None,
) -> Array:
    """Return the candidates of which `scale` times the value is the sum of all others."""
    X = matrix.cells[samples]
    total = np.nansum(X[:, genes], axis=1) + np.nansum(X[:, list(summaries)], axis=1)
    columns = genes if candidates is None else candidates
    x = X[:, columns]
    with np.errstate(invalid="ignore"):
        is_close = np.abs(scale * x - (total[:, None] - x)) <= SUM_TOLERANCE * np.abs(scale * x)
        is_varied = (np.ptp(x, axis=0) > 0) & (np.abs(x) > 0).all(axis=0)
    return np.asarray(columns[is_close.all(axis=0) & is_varied])


def annotation_rows(matrix: Matrix, table: pd.DataFrame | None) -> set[int]:
    """Return the rows of a matrix of samples that describe genes: ids, positions, words.

    A row that the sample table lists is a sample. The others are told by their names, by words, or
    by ids: whole numbers that are all different, unlike the values of the samples.
    """
    listed = set() if table is None else set(map(str, table.index))
    candidates = [row for row, name in enumerate(matrix.rows) if name not in listed]
    if not candidates:
        return set()
    plain_names = {row: re.sub(r"[\W_]+", "", matrix.rows[row]).lower() for row in candidates}
    gene_column_names = {
        row: name for row, name in plain_names.items() if GENE_COLUMN_NAME.fullmatch(name)
    }
    has_several = len(gene_column_names) + len(matrix.annotation) >= MIN_ANNOTATION_COLUMNS
    rows = {
        row
        for row, name in gene_column_names.items()
        if has_several or name not in AMBIGUOUS_COLUMN_NAMES
    }
    rows |= {row for row in candidates if row not in rows and _has_only_words(matrix, row)}
    rows |= _rows_of_ids(matrix, [row for row in candidates if row not in rows])
    rows |= _rows_of_totals(matrix, [row for row in candidates if row not in rows])
    return rows if len(rows) < len(matrix.rows) else set()


def _has_only_words(matrix: Matrix, row: int) -> bool:
    """Tell whether a row has words and no number, not even one with a decimal comma."""
    if np.isfinite(matrix.cells[row]).any():
        return False
    words = [matrix.text(row, column) for column in range(len(matrix.columns))]
    words = [word for word in words if not is_missing(word)]
    return bool(words) and not any(
        is_number(word.replace(",", "")) or without_thousands(word) for word in words
    )


def _rows_of_ids(matrix: Matrix, rows: Sequence[int]) -> set[int]:
    """Return the row of ids, if any: different whole numbers, unlike the samples."""
    if len(matrix.columns) < MIN_IDS or len(matrix.rows) < MIN_DIFFERENT_VALUES:
        return set()
    candidates = [row for row in rows if _are_ids(matrix.cells[row])]
    if not candidates:
        return set()
    complete = np.isfinite(matrix.cells).all(axis=0)
    if complete.sum() < MIN_IDS:
        return set()
    ranks = np.array([_ranks(values) for values in matrix.cells[:, complete]])
    median_ranks = _ranks(np.median(ranks, axis=0))
    correlations = np.array([np.corrcoef(values, median_ranks)[0, 1] for values in ranks])
    unlike_rows = [row for row in candidates if abs(correlations[row]) < MAX_ID_CORRELATION]
    sample_correlations = np.delete(correlations, unlike_rows)
    # Where samples are not alike, either, only their decimals tell them from ids.
    samples = np.delete(matrix.cells, unlike_rows, axis=0)
    decimals = not any(_are_whole(values) for values in samples)
    distinct = decimals or bool(np.median(sample_correlations) > MAX_ID_CORRELATION)
    return set(unlike_rows) if len(unlike_rows) == 1 and distinct else set()


def _rows_of_totals(matrix: Matrix, rows: Sequence[int]) -> set[int]:
    """Return the rows that are called as a total, or are the sum or the mean of all others."""
    pattern = TOTALS.pattern
    totals = {row for row in rows if pattern and pattern.fullmatch(matrix.rows[row].strip())}
    measured_rows = [row for row in rows if row not in totals]
    X = matrix.cells[measured_rows]
    if len(measured_rows) <= MIN_SAMPLES_FOR_VALUES or len(matrix.columns) < MIN_DIFFERENT_VALUES:
        return totals
    total = np.nansum(X, axis=0)
    for scale in (1.0, len(measured_rows) - 1.0):
        is_close = np.abs(scale * X - (total - X)) <= SUM_TOLERANCE * np.abs(scale * X)
        sums = np.flatnonzero(is_close.all(axis=1) & X.any(axis=1))
        if len(sums) == 1:
            totals.add(measured_rows[int(sums[0])])
    return totals


def _are_whole(values: Array) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite % 1 == 0).all())


def _ranks(values: Array) -> Array:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float)


def _are_ids(values: Array) -> bool:
    """Tell whether values look like ids: positive whole numbers, all different."""
    finite = values[np.isfinite(values)]
    if 2 * len(finite) < len(values) or not _are_whole(values) or (finite <= 0).any():
        return False
    return len(np.unique(finite)) == len(finite)
