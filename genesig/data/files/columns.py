"""What the columns of a sample table may be: times and events, classes, numbers, covariates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from genesig.words import is_missing, is_number

if TYPE_CHECKING:
    import pandas as pd

# Fewer samples of a class, or fewer events, cannot be split outside and inside.
MIN_CLASS_SAMPLES = 3
MAX_CLASSES = 6
"""Classes of a column; numbers of more are numbers."""
SAMPLES_PER_COVARIATE = 4
"""Samples there must be for each column of covariates: they are fitted without a penalty."""
# What most studies of people would hold fixed.
COVARIATE_NAME = re.compile(
    r"(.*[\W_])?(age|sex|gender|bmi|smok\w*|cent(re|er)|site|batch|grade|stage|size|er|pr|her2"
    r"|nodes?)(?![a-z]).*",
    re.IGNORECASE,
)
# Batches are corrected by a step of their own.
BATCH_NAME = re.compile(r"(.*[\W_])?(batch|plate)(?![a-z]).*", re.IGNORECASE)
# Words in the name of a column of whole numbers that are a quantity or stand in an order.
ORDERED_WORDS = """
age size bmi grade grades stage nodes node score scores dose level count counts visit visits
day days week weeks month months year years time hours rank ecog performance gleason height weight
"""
MAX_CODES = 10
"""Different whole numbers in a column of codes."""
# Words in the names of columns: of a time, of an event, of what either may be of, and of times that
# do not run from the start of the study or names of samples.
ROLE_WORDS = """
TIME t time times day days d week weeks month months mo year years yr yrs followup follow up fu
TIME duration to until survival last since
EVENT e event events status state censor censored cens indicator vital death dead died deceased is
EVENT relapse relapsed recurrence recurred progression progressed metastasis
EVENT censoring cnsr alive living surviving survived survivor
ENDS os dfs pfs rfs dmfs efs dss ddfs ttp overall disease distant free specific
OTHER age birth born date diagnosis surgery collection scan id no nr number batch
OTHER sex gender grade stage size
"""
TIME_WORDS, EVENT_WORDS, ENDPOINT_WORDS, OTHER_WORDS = (
    frozenset(
        word
        for line in ROLE_WORDS.split("\n")
        for word in line.split()[1:]
        if line.startswith(f"{kind} ")
    )
    for kind in ("TIME", "EVENT", "ENDS", "OTHER")
)


def cells_of(table: pd.DataFrame, name: str) -> list[str]:
    """Return the cells of a column that are not missing; none of a name that stands twice."""
    if list(table.columns).count(name) != 1:
        return []
    return [cell for cell in map(str, table[name]) if not is_missing(cell)]


def class_columns(table: pd.DataFrame) -> Iterator[tuple[str, Counter[str]]]:
    """Yield each column with two to six classes, of which two are large enough, and its cells."""
    for name in dict.fromkeys(map(str, table.columns)):
        counts = Counter(cells_of(table, name))
        if 2 <= len(counts) <= MAX_CLASSES and counts.most_common(2)[1][1] >= MIN_CLASS_SAMPLES:
            yield name, counts


def number_columns(table: pd.DataFrame) -> Iterator[str]:
    """Yield each column of numbers that are no classes, no covariates and no names of samples."""
    for name in dict.fromkeys(map(str, table.columns)):
        cells = cells_of(table, name)
        if not all(map(is_number, cells)) or len(set(cells)) <= MAX_CLASSES or is_covariate(name):
            continue
        values = [float(cell) for cell in cells]
        counts_rows = len(set(values)) == len(values) == max(values) - min(values) + 1
        if not (counts_rows or OTHER_WORDS & set(words_of(name))):
            yield name


def usual_covariates(table: pd.DataFrame, excluded: Sequence[str]) -> list[str]:
    """Return the usual covariates that vary, but for the columns that are taken.

    As many as the samples allow: `SAMPLES_PER_COVARIATE` for each column that they make.
    """
    names = []
    n_columns = 0
    for name in dict.fromkeys(map(str, table.columns)):
        cells = cells_of(table, name)
        levels = len(set(cells))
        is_numeric = all(map(is_number, cells))
        n_columns_with_name = n_columns + (1 if is_numeric else levels - 1)
        is_usual = name not in excluded and is_covariate(name) and not BATCH_NAME.fullmatch(name)
        is_usual = is_usual and levels > 1
        if (
            is_usual
            and (is_numeric or levels <= len(cells) // MIN_CLASS_SAMPLES)
            and SAMPLES_PER_COVARIATE * n_columns_with_name <= len(table)
        ):
            names.append(name)
            n_columns = n_columns_with_name
    return names


def are_codes(name: str, cells: Sequence[str]) -> bool:
    """Tell whether whole numbers may be names, as those of centres 1 to 5 are.

    They are few, three or more, each of several samples; two are as good as words. A name such as
    grade, age or dose says that they are none.
    """
    if not cells or set(words_of(name)) & set(ORDERED_WORDS.split()):
        return False
    values = {float(cell) for cell in cells if is_number(cell)}
    few = 2 < len(values) <= min(MAX_CODES, len(cells) // MIN_CLASS_SAMPLES)
    return few and all(map(is_number, cells)) and all(value % 1 == 0 for value in values)


def is_covariate(name: str) -> bool:
    """Tell whether a column's name is that of a usual covariate."""
    return COVARIATE_NAME.fullmatch(name) is not None


def is_clinical(name: str) -> bool:
    """Tell whether a column's name is that of a covariate, a time, an event or its coding."""
    words = set(words_of(name))
    return is_covariate(name) or (
        bool(words) and words <= TIME_WORDS | EVENT_WORDS | ENDPOINT_WORDS
    )


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in lower case: "daysToDeath" has three."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[A-Za-z]+", spaced)]
