"""What a column of a sample table may be, by its name and values: time, event, class, covariate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from genesig.words import is_missing, is_number

if TYPE_CHECKING:
    import pandas as pd

MIN_CLASS_SAMPLES = 3
"""Samples of a class, or events: fewer cannot be split into outer and inner folds."""
MAX_CLASSES = 6  # different values of a column of classes; a column of more numbers is numeric
SAMPLES_PER_COVARIATE = 4
"""Samples needed for each column of covariates, which are fitted without a penalty."""
# Columns that most studies of people adjust for.
COVARIATE_NAME = re.compile(
    r"(.*[\W_])?(age|sex|gender|bmi|smok\w*|cent(re|er)|site|batch|grade|stage|size|er|pr|her2"
    r"|nodes?)(?![a-z]).*",
    re.IGNORECASE,
)
# Batches are corrected by a step of their own, so they are no covariates.
BATCH_NAME = re.compile(r"(.*[\W_])?(batch|plate)(?![a-z]).*", re.IGNORECASE)
# Words in the name of a column whose whole numbers are a quantity or an order, and no codes.
ORDERED_WORDS = """
age size bmi grade grades stage nodes node score scores dose level count counts visit visits
day days week weeks month months year years time hours rank ecog performance gleason height weight
"""
MAX_CODES = 10  # different numbers in a column of codes
# Words in the names of columns: of times, of events, of endpoints (which either may have), and of
# other columns that may look like these: dates, sample names, covariates.
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
    """Return the cells of a column that are not missing; none if two columns have this name."""
    if list(table.columns).count(name) != 1:
        return []
    return [cell for cell in map(str, table[name]) if not is_missing(cell)]


def class_columns(table: pd.DataFrame) -> Iterator[tuple[str, Counter[str]]]:
    """Yield name and class sizes of each column of two to six classes, two of them large enough."""
    for name in dict.fromkeys(map(str, table.columns)):
        counts = Counter(cells_of(table, name))
        if 2 <= len(counts) <= MAX_CLASSES and counts.most_common(2)[1][1] >= MIN_CLASS_SAMPLES:
            yield name, counts


def number_columns(table: pd.DataFrame) -> Iterator[str]:
    """Yield each column of numbers that are no classes, covariates or sample numbers."""
    for name in dict.fromkeys(map(str, table.columns)):
        cells = cells_of(table, name)
        if not all(map(is_number, cells)) or len(set(cells)) <= MAX_CLASSES or is_covariate(name):
            continue
        values = [float(cell) for cell in cells]
        counts_rows = len(set(values)) == len(values) == max(values) - min(values) + 1
        if not (counts_rows or OTHER_WORDS & set(words_of(name))):
            yield name


def usual_covariates(table: pd.DataFrame, excluded: Sequence[str]) -> list[str]:
    """Return the varying columns that studies usually adjust for, but for the `excluded` ones.

    There are as many as the samples allow: `SAMPLES_PER_COVARIATE` for each column of the design.
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
    """Tell whether the whole numbers of a column may be codes, as centres 1 to 5, and no quantity.

    They have three or more different values, few, and several samples for each; a column of two
    values means the same either way. A name such as grade, age or dose says that they are a
    quantity.
    """
    if not cells or set(words_of(name)) & set(ORDERED_WORDS.split()):
        return False
    values = {float(cell) for cell in cells if is_number(cell)}
    few = 2 < len(values) <= min(MAX_CODES, len(cells) // MIN_CLASS_SAMPLES)
    return few and all(map(is_number, cells)) and all(value % 1 == 0 for value in values)


def is_covariate(name: str) -> bool:
    """Tell whether studies usually adjust for a column of this name."""
    return COVARIATE_NAME.fullmatch(name) is not None


def is_clinical(name: str) -> bool:
    """Tell whether a column of this name is a usual covariate, a time or an event."""
    words = set(words_of(name))
    return is_covariate(name) or (
        bool(words) and words <= TIME_WORDS | EVENT_WORDS | ENDPOINT_WORDS
    )


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in lower case: "daysToDeath" has three."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[A-Za-z]+", spaced)]
