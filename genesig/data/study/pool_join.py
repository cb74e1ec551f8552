"""Join several studies of one question to one matrix and one sample table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import numpy as np

from genesig.data.files.columns import event_word
from genesig.data.files.delimited import Matrix, RowPlace, TextTable
from genesig.data.files.names import POOLED_STUDIES
from genesig.data.steps.combat import MIN_BATCH_SAMPLES
from genesig.data.steps.scale import (
    LOGGED_P99,
    looks_raw,
    never_logged,
    sizes,
    spread_grows_with_size,
)
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.pool_member import (
    check_shared_samples,
    common_genes,
    describe_gene_loss,
    read_member,
)
from genesig.data.study.pool_record import WEIGHT_COLUMN, Member, Pool
from genesig.data.study.settings import StudySettings
from genesig.errors import Problem, has_errors
from genesig.words import flow_yaml, is_missing, listing, word_counts_text

MIN_SAMPLES_OF_CLASS = 2
"""Samples of each class that a study needs: a single sample has no spread within its class."""
MAX_TIME_RATIO = 6.0
"""Ratio of the median times of two studies from which on their units may differ: a year has 12
months, a month 30 days. Follow-up alone seldom differs as much."""


def pool_studies(settings: StudySettings, problems: list[Problem]) -> Pool | None:
    """Read every study and join all on their common genes; None after an error.

    Each sample has the name of its own table, or ``study.sample`` if two studies share a name.
    Cells of a column that a study lacks are blank. The weight of a sample is
    n/(K n_k): K studies of n samples together count alike, whatever their sizes n_k. Errors and
    warnings are appended to `problems`.
    """
    member_or_none = [read_member(item, settings, problems) for item in settings.studies]
    members = [member for member in member_or_none if member is not None]
    if len(members) < len(member_or_none):
        return None
    n_previous_problems = len(problems)
    problems += _check_responses(members, settings)
    problems += _check_scales(members)
    problems += _check_study_sizes(members, settings.align)
    if common := common_genes(members, problems):
        problems += check_shared_samples(members, common)
    if has_errors(problems[n_previous_problems:]):
        return None
    return _join_members(members, common, settings)


def _join_members(
    members: Sequence[Member], common: Sequence[str], settings: StudySettings
) -> Pool:
    """Return the studies as one matrix and one sample table."""
    names = _sample_names(members)  # of each study
    values = np.vstack([member.values_of(common) for member in members])
    table = _join_tables(members, names, settings)
    rows = tuple(name for names_of_study in names for name in names_of_study)
    lines = tuple(range(1, len(rows) + 1))
    matrix = Matrix(rows, tuple(common), values, texts={}, lines=lines, line_word="row")
    dropped = [drop for member in members for drop in member.dropped_samples]
    files = dict.fromkeys(file for member in members for file in member.files)
    return Pool(matrix, table, describe_gene_loss(members), dropped, list(files))


def _sample_names(members: Sequence[Member]) -> list[list[str]]:
    """Return the sample names of each study, with the study's name if two studies share one."""
    names_of_studies = [[str(name) for name in member.table.index] for member in members]
    if max(Counter(name for names in names_of_studies for name in names).values()) == 1:
        return names_of_studies
    return [
        [f"{member.name}.{name}" for name in names]
        for member, names in zip(members, names_of_studies, strict=True)
    ]


def _join_tables(
    members: Sequence[Member], names: list[list[str]], settings: StudySettings
) -> TextTable:
    """Return one sample table, with the places of its rows in the files of the studies.

    names: sample names of each study, as the joint table has them.
    """
    import pandas as pd

    n_samples = sum(len(sample_names) for sample_names in names)
    tables = []
    for member, sample_names in zip(members, names, strict=True):
        member_table = member.table.set_axis(pd.Index(sample_names, name="sample", dtype=object))
        # Text, as in a file's table. The weights of each study have the same sum.
        member_table[WEIGHT_COLUMN] = repr(n_samples / (len(members) * len(sample_names)))
        # Patient 1 of one study is another patient than patient 1 of the next.
        for column in {settings.groups.group, settings.groups.pair} & set(member_table.columns):
            member_table[column] = [
                f"{member.name} {cell}" if cell else "" for cell in member_table[column]
            ]
        tables.append(member_table)
    places = [
        RowPlace(
            member.table_file,
            line,
            dict(zip(settings.outcome.columns, member.response_columns, strict=True)),
        )
        for member in members
        for line in member.lines
    ]
    cells = pd.concat(tables).fillna("").astype(object)
    return TextTable(cells, range(1, n_samples + 1), places=tuple(places))


def _check_responses(members: Sequence[Member], settings: StudySettings) -> Iterator[Problem]:
    """Yield a problem of studies without some class, or with constant or unlike responses."""
    label = settings.outcome.columns[0]
    rules = LABEL_RULES[settings.outcome.task]
    if not rules.has_classes:
        for member in members:
            cells = member.table[settings.outcome.columns[-1]]  # numbers, or events of survival
            if cells.nunique() < 2:
                message = (
                    f"every sample of '{member.name}' has '{cells.iloc[0]}', so that nothing can"
                    " be learned or tested there; take it out of studies"
                )
                yield Problem(
                    f"{member.table_file}, column '{member.response_columns[-1]}'", message
                )
        if rules.label_columns:  # times and events
            yield from _check_times(members, label)
            yield from _check_events(members, settings)
        return
    word_counts = [Counter(map(str, member.table[label])) for member in members]
    classes = settings.outcome.classes or _common_classes(word_counts)
    for member, counts_of_study in zip(members, word_counts, strict=True):
        rare_classes = [name for name in classes if counts_of_study[name] < MIN_SAMPLES_OF_CLASS]
        other_counts = {
            word: n_samples for word, n_samples in counts_of_study.items() if word not in classes
        }
        label_location = f"{member.table_file}, column '{member.response_columns[0]}'"
        if rare_classes:
            candidate_words = [*other_counts, *member.n_samples_of_other_word]
            every_word = counts_of_study + Counter(member.n_samples_of_other_word)
            yield Problem(
                label_location,
                _rare_class_message(member.name, rare_classes[0], every_word, candidate_words),
            )
        elif other_counts:
            words_text = ", ".join(
                f"'{word}' ({n_samples})" for word, n_samples in other_counts.items()
            )
            message = (
                f"{words_text} is no class of the other studies; name the classes to distinguish"
            )
            yield Problem(
                label_location,
                f"{message}, data: {{classes: [{', '.join(classes)}]}}, or what it means, "
                f"classes: {{{next(iter(other_counts))}: CLASS}}",
            )


def _check_times(members: Sequence[Member], column: str) -> Iterator[Problem]:
    """Yield a warning for studies whose times are so long that they may have another unit.

    column: column of the times.
    """
    import pandas as pd

    median_of_study = {
        member.name: float(pd.to_numeric(member.table[column], errors="coerce").median())
        for member in members
    }
    shortest = min(median_of_study, key=lambda name: median_of_study[name])
    for member in members:
        if median_of_study[member.name] >= MAX_TIME_RATIO * median_of_study[shortest] > 0:
            ratio = median_of_study[member.name] / median_of_study[shortest]
            message = (
                f"the median time of '{member.name}' ({median_of_study[member.name]:.3g}) is "
                f"{ratio:.3g} times that of '{shortest}' ({median_of_study[shortest]:.3g}); if "
                "one has days or months and the other years, write all in one unit"
            )
            yield Problem(
                f"{member.table_file}, column '{member.response_columns[0]}'", message, "warning"
            )


def _check_events(members: Sequence[Member], settings: StudySettings) -> Iterator[Problem]:
    """Yield an error for studies whose words of the event are neither 0 and 1 nor set."""
    if settings.outcome.event is not None:
        return
    for member in members:
        cells = member.table[settings.outcome.columns[1]].astype(str)
        n_samples_of_word = Counter(cell.strip() for cell in cells if not is_missing(cell))
        if word := event_word(n_samples_of_word):  # None if the words are 0 and 1
            message = (
                f"which word is the event? Found {word_counts_text(n_samples_of_word)}; for "
                f"example write into this item of studies, {flow_yaml({'event': word}).strip('{}')}"
            )
            yield Problem(f"{member.table_file}, column '{member.response_columns[1]}'", message)


def _common_classes(word_counts: Sequence[Counter[str]]) -> list[str]:
    """Return the labels that most studies have, else those of the first study."""
    n_studies_of_word = Counter(word for counts_of_study in word_counts for word in counts_of_study)
    common_words = [
        word for word in n_studies_of_word if 2 * n_studies_of_word[word] > len(word_counts)
    ]
    return common_words if len(common_words) > 1 else list(word_counts[0])


def _rare_class_message(
    study: str, rare_class: str, counts_of_study: Counter[str], candidate_words: Sequence[str]
) -> str:
    """Return the message that a study lacks a class, with the label that is probably meant.

    counts_of_study: number of its samples of each word. candidate_words: words that are no class.
    """
    if counts_of_study[rare_class]:
        return (
            f"'{study}' has one sample of class '{rare_class}'; each study needs "
            f"{MIN_SAMPLES_OF_CLASS} of every class: name in data.classes those that are to be "
            "compared, or take it out of studies"
        )
    nearest_words = get_close_matches(rare_class, candidate_words, n=1, cutoff=0.0)
    return (
        f"no sample of '{study}' is '{rare_class}' (found: {word_counts_text(counts_of_study)}), "
        "and a study of one class cannot distinguish classes; if it is spelled otherwise there, "
        "write classes: "
        f"{{{(nearest_words or ['THEIR WORD'])[0]}: {rare_class}}}, else take it out of studies"
    )


def _check_study_sizes(members: Sequence[Member], align: str) -> Iterator[Problem]:
    """Yield an error for studies that are too small for the alignment combat."""
    if align != "combat":
        return
    for member in members:
        if (n_samples := len(member.table)) < MIN_BATCH_SAMPLES:
            message = (
                f"'{member.name}' has {n_samples} samples, at least {MIN_BATCH_SAMPLES} are needed "
                "for across.align: combat; take it out of studies, or align otherwise"
            )
            yield Problem(member.matrix_file, message)


def _check_scales(members: Sequence[Member]) -> Iterator[Problem]:
    """Yield an error if values are logarithms in some studies and not in others."""
    scale_of_study = {}  # name of a study -> whether it looks raw, and its 99th percentile
    for member in members:
        _, p99, largest = sizes(member.X)
        is_raw = looks_raw(p99, largest) and never_logged(member.X)
        if is_raw and p99 <= LOGGED_P99:  # a few large values may be ages among the genes
            is_raw = spread_grows_with_size(member.X)
        scale_of_study[member.name] = (is_raw, p99)
    raw_studies = [name for name, (raw, _) in scale_of_study.items() if raw]
    logged_studies = [name for name, (raw, _) in scale_of_study.items() if not raw]
    if raw_studies and logged_studies:
        sizes_text = ", ".join(
            f"{name} {scale_of_study[name][1]:.4g}" for name in (raw_studies[0], logged_studies[0])
        )
        message = (
            f"{listing(raw_studies)} {'looks' if len(raw_studies) == 1 else 'look'} as if no "
            f"logarithms were taken, {listing(logged_studies)} as if they were (99th percentile: "
            f"{sizes_text}); bring all to one scale, with normalise: [{{step: log2}}] of their "
            "own for those that need it"
        )
        yield Problem(POOLED_STUDIES, message)
