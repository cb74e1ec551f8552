"""Rows of a matrix that are no genes: their kinds and names, and rows that describe the genes.

Kinds are named by a file that has genes in rows; elsewhere its columns are such rows. Annotation
rows stand in a matrix whose other rows are samples: ids, positions, words and totals of the genes.
A row is given by its index in the matrix.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.words import is_missing, is_number, without_thousands

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NonGeneKind:
    """One kind of row, or column, of a file that is no gene."""

    name: str  # value of `data.keep` in the config; '' if the kind cannot be kept
    noun: str  # in messages, for one row
    plural: str
    examples: str  # names, for the table in the documentation
    pattern: re.Pattern[str] | None = None  # of names; None if only the values tell


def any_of(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern of any of the alternatives, regular expressions, in either case."""
    return re.compile("|".join(alternatives), re.IGNORECASE)


SUMMARIES = NonGeneKind(
    "summaries",
    "summary row of a counter",
    "summary rows of a counter",
    "`__no_feature`, `N_unmapped`, `Unassigned_Ambiguity`",
    any_of(
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
    "`Total`, `library size`, `nCount_RNA`, `NormScale_20`; a row that is the sum or the mean of "
    "all others",
    any_of(
        r"(grand|column|row|sub)?[ _.-]?(totals?|sums?)",
        r"(total|sum|mapped|sequenced|aligned|number|no|#)[ _.-]*(of[ _.-]*)?(mapped[ _.-]*)?"
        r"(reads?|counts?|umis?|genes|intensity)",
        r"lib(rary)?[ _.-]?size|n_?(count|feature)s?_?rna|n_counts|n_genes",
        r"(norm|size)[ _.-]?factors?|(hyb|med)\w*scale\w*|norm[ _.-]?scale[\w.]*"
        r"|plate[ _.-]?scale\w*|anml\w+|(detected|expressed)[ _.-]?(genes|features)",
        r"(genes|features)[ _.-]?(detected|expressed)|(percent|pct)[ _.-](counts[ _.-])?mt",
        # German, French, Spanish
        r"(gesamt)?summe|mittelwert|durchschnitt|somme|moyenne|suma|promedio",
        r"(mean|average|median|st\.?dev|std([ _.-]?dev)?|variance)"
        r"[ _.-]?(of[ _.-])?(expression|counts?)?",
    ),
)
AGILENT_CONTROLS = (
    r"(GE_)?BrightCorner|DarkCorner|(\(\+\)|\(-\))\S+|NegativeControl|NC[12]_\d{6,}"
    r"|E1A_r60_\w+|ETG\d+_\d+|StructuralNegative|SRN_\d+|HsNegativeControl\w*"
)
SHORT_AGILENT_CONTROLS = r"DCP_\d+_\d+|RC\d+|SM_\d+"
"""Agilent controls whose names may be those of genes where no other Agilent control is."""
CONTROLS = NonGeneKind(
    "controls",
    "control probe",
    "control probes",
    "`AFFX-BioB-3_at`, `DarkCorner`, `(+)E1A_r60_1`, `NEG_A(0)`, `NegativeControl`, `BLANK-1`",
    any_of(
        # Affymetrix: genes of bacteria and phages; controls that measure a gene of the organism
        # (AFFX-HUMGAPDH) are genes.
        r"AFFX[-_](r2[-_])?(((ec|bs|p1)[-_])?(bio[bcd]n?|cre|crex|dap|lys|phe|thr|trp)|"
        r"nonspecificgc|polya|bkgr|kit|trpn|ran|ngc|tag)[\w-]*",
        # Agilent
        AGILENT_CONTROLS,
        # Illumina
        r"(negative|biotin|cy3_hyb|labeling|housekeeping|(low|high)_stringency_hyb)([ _.:-]\S*)?",
        # NanoString, spatial panels, SomaScan, proximity assays
        r"(LIG_)?(POS|NEG)[_ ][A-H](\(\d*\.?\d+\))?",
        r"(neg(ative)?|blank|antisense|unassigned|deprecated)[-_ ]?(ctrl|control)?[-_ ]?"
        r"(prb|probe|codeword)?s?[-_ ]?(wtx)?[-_ ]?\d+(\.\d+)?",
        r"neg(ative)?[-_ ]?(prb|probe)s?([-_ ](wtx|cta))?|system[-_ ]?control\d+|falsecode\d+"
        r"|intergenic_region_\d+",
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
    any_of(
        r"ERCC[-_.]0\d{4}([-_]\S*)?",
        r"(g?SIRV|SIRVome)[-_]?[\w.-]*|(R[12]|sequin)[-_]\d+[-_]\d+",
        r"(cel|ath|osa)-mir-?(39|54|238|159|156)[\w-]*|UniSp\d+\S*",
        r".+[ _(-]ISTD\)?|ISTD[ _:-].+",  # of metabolites
        r"phi[-_ ]?X(174)?|spike[-_ ]?ins?[-_ ]?\S*|(RNA|DNA)[-_]?spike\S*|lambda[-_ ]?(phage|dna)",
    ),
)
CONTAMINANTS = NonGeneKind(
    "contaminants",
    "contaminant or decoy",
    "contaminants or decoys",
    "`CON__P02769`, `REV__Q9Y6K9`, `DECOY_P04637`, `rev_sp|P04637|P53_HUMAN`",
    any_of(
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
# Words for a missing id; R numbers repeated ones (NA.1). UNK (unkempt) is a gene.
MISSING_ID = re.compile(r"[-?._/\s]+|#.*|NA\.\d+|<na>|n\.?a\.?|unknown|none", re.IGNORECASE)
MAX_KIND_SHARE = 0.5  # share of names above which a kind is the subject of the matrix, and stays
MIN_EQUAL_SHARE = 0.95  # share of the samples in which a column equals one of the sample table
MIN_SPECIES_SHARE = 0.1  # share of names from which micro-RNA of a species are no spike-ins
SUM_TOLERANCE = 1e-4  # relative difference of a row from the sum of all others, by rounding
MIN_SAMPLES_FOR_VALUES = 5  # samples from which on columns are not equal by chance
MIN_DIFFERENT_VALUES = 3  # different values from which on values alone tell what a column is


# Names of columns beside the ids of the genes, letters and digits alone, in lower case.
GENE_COLUMN_NAME = any_of(
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


AMBIGUOUS_COLUMN_NAMES = {"start", "end", "stop", "location", "band", "probe", "hugo", "gc"}
"""Names that samples may have, too: they count if `MIN_ANNOTATION_COLUMNS` such columns exist."""


MIN_ANNOTATION_COLUMNS = 3


MIN_IDS = 50  # genes from which on ids differ from counts by their values


MAX_ID_CORRELATION = 0.5
"""Rank correlation of a row of ids with the samples; samples of one tissue have about 0.8."""


def kinds_by_name(names: Sequence[str], excluded: Collection[str] = ()) -> dict[int, NonGeneKind]:
    """Return position -> kind of each name that is no gene by the pattern of a kind.

    A name has the first kind that fits. A kind of more than half of the names is the subject of the
    matrix, and stays; so do the kinds of which `NonGeneKind.name` is `excluded`.
    """
    kind_of_position: dict[int, NonGeneKind] = {}
    for kind in KINDS_BY_NAME:
        if kind.name in excluded or kind.pattern is None:
            continue
        positions = [k for k, name in enumerate(names) if kind.pattern.fullmatch(name.strip())]
        if kind is CONTROLS:
            positions += _short_agilent_controls(names)
        if kind is SPIKES:
            positions = _foreign_micro_rna(names, positions)
        if len(positions) <= MAX_KIND_SHARE * len(names):
            kind_of_position |= dict.fromkeys(
                (k for k in positions if k not in kind_of_position), kind
            )
    return kind_of_position


def _short_agilent_controls(names: Sequence[str]) -> list[int]:
    """Return the positions of `SHORT_AGILENT_CONTROLS` if other Agilent controls are there."""
    agilent_controls, short_controls = map(any_of, (AGILENT_CONTROLS, SHORT_AGILENT_CONTROLS))
    if not any(agilent_controls.fullmatch(name.strip()) for name in names):
        return []
    return [k for k, name in enumerate(names) if short_controls.fullmatch(name.strip())]


def _foreign_micro_rna(names: Sequence[str], positions: Sequence[int]) -> list[int]:
    """Return the positions of names but for micro-RNA of a species that is frequent among them.

    The first four letters of micro-RNA are the species: ``hsa-miR-21``.
    """
    species = Counter(names[k][:4].lower() for k in range(len(names)) if "-mi" in names[k].lower())
    common = {name for name, times in species.items() if times > MIN_SPECIES_SHARE * len(names)}
    return [k for k in positions if names[k][:4].lower() not in common]


def is_nameless(name: str) -> bool:
    """Tell whether a gene id is blank or a word for no value."""
    text = name.strip()
    return is_missing(text) or MISSING_ID.fullmatch(text) is not None


def find_annotation_rows(matrix: Matrix, table: pd.DataFrame | None) -> set[int]:
    """Return the rows that describe genes; none if these are all rows.

    A row that the sample table lists is a sample; without a table no row is listed. The others are
    recognised by their names, by words, by `_rows_of_ids` or by `_rows_of_totals`.
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
    """Tell whether a row has words and no number, not even one with commas."""
    if np.isfinite(matrix.cells[row]).any():
        return False
    words = [matrix.text(row, column) for column in range(len(matrix.columns))]
    words = [word for word in words if not is_missing(word)]
    return bool(words) and not any(map(is_number_with_thousands, words))


def is_number_with_thousands(text: str) -> bool:
    """Tell whether a text is a number, with or without signs of thousands."""
    return is_number(text.replace(",", "")) or bool(without_thousands(text))


def _rows_of_ids(matrix: Matrix, rows: Sequence[int]) -> set[int]:
    """Return the one row of ids: different whole numbers, unlike the samples; empty if more.

    rows: those that may be ids. Two rows unlike the others may be two odd samples.
    """
    if len(matrix.columns) < MIN_IDS or len(matrix.rows) < MIN_DIFFERENT_VALUES:
        return set()
    candidates = [row for row in rows if _are_ids(matrix.cells[row])]
    if not candidates:
        return set()
    complete = np.isfinite(matrix.cells).all(axis=0)
    if complete.sum() < MIN_IDS:
        return set()
    ranks = np.array([_ranks(values) for values in matrix.cells[:, complete]])
    median_ranks = _ranks(np.median(ranks, axis=0))  # the ranks of the genes in a typical sample
    correlations = np.array([np.corrcoef(values, median_ranks)[0, 1] for values in ranks])
    unlike_rows = [row for row in candidates if abs(correlations[row]) < MAX_ID_CORRELATION]
    sample_correlations = np.delete(correlations, unlike_rows)
    # Where samples are not alike, either, only their decimals tell them from ids.
    samples = np.delete(matrix.cells, unlike_rows, axis=0)
    have_decimals = not any(_are_whole(values) for values in samples)
    are_told_apart = have_decimals or np.median(sample_correlations) > MAX_ID_CORRELATION
    return set(unlike_rows) if len(unlike_rows) == 1 and are_told_apart else set()


def _rows_of_totals(matrix: Matrix, rows: Sequence[int]) -> set[int]:
    """Return those of the rows that are called as a total, or are the sum or the mean of others.

    rows: those that may be totals; the others of these are summed.
    """
    pattern = TOTALS.pattern
    totals = {row for row in rows if pattern and pattern.fullmatch(matrix.rows[row].strip())}
    measured_rows = [row for row in rows if row not in totals]
    X = matrix.cells[measured_rows]
    if len(measured_rows) <= MIN_SAMPLES_FOR_VALUES or len(matrix.columns) < MIN_DIFFERENT_VALUES:
        return totals
    total = np.nansum(X, axis=0)
    # Scale 1 finds a sum of the others; their number finds a mean.
    for scale in (1.0, len(measured_rows) - 1.0):
        is_close = np.abs(scale * X - (total - X)) <= SUM_TOLERANCE * np.abs(scale * X)
        sums = np.flatnonzero(is_close.all(axis=1) & X.any(axis=1))
        if len(sums) == 1:  # two rows that both are sums are as likely samples
            totals.add(measured_rows[int(sums[0])])
    return totals


def _are_whole(values: Array) -> bool:
    """Tell whether all finite values are whole numbers."""
    finite = values[np.isfinite(values)]
    return bool((finite % 1 == 0).all())


def _ranks(values: Array) -> Array:
    """Return the ranks 0, 1, ... of the values; ties keep their order."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float)


def _are_ids(values: Array) -> bool:
    """Tell whether at least half of the values are finite, and these positive, whole, different."""
    finite = values[np.isfinite(values)]
    if 2 * len(finite) < len(values) or not _are_whole(values) or (finite <= 0).any():
        return False
    return len(np.unique(finite)) == len(finite)
