"""What the columns of a sample table may be: times and events, classes, numbers, covariates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genesig.words import control_first, is_missing, is_number

if TYPE_CHECKING:
    import pandas as pd

# Fewer samples of a class, or fewer events, cannot be split outside and inside.
LEAST = 3
MOST = 6
"""Classes of a column; numbers of more are numbers."""
MOST_TIMES = 0.9
"""Least share of a column's cells that are times: validation names a slip, and others are none."""
SHARE = 4
"""Samples there must be for each column of covariates: they are fitted without a penalty."""
# What most studies of people would hold fixed.
COVARIATES = re.compile(
    r"(.*[\W_])?(age|sex|gender|bmi|smok\w*|cent(re|er)|site|batch|grade|stage|size|er|pr|her2"
    r"|nodes?)(?![a-z]).*",
    re.IGNORECASE,
)
# Batches are corrected by a step of their own.
BATCH = re.compile(r"(.*[\W_])?(batch|plate)(?![a-z]).*", re.IGNORECASE)
# Words in the names of columns: of a time, of an event, of what either may be of, and of times that
# do not run from the start of the study or names of samples.
WORDS = """
TIME t time times day days d week weeks month months mo year years yr yrs followup follow up fu
TIME duration to until survival last since
EVENT e event events status state censor censored cens indicator vital death dead died deceased is
EVENT relapse relapsed recurrence recurred progression progressed metastasis
ENDS os dfs pfs rfs dmfs efs dss ddfs ttp overall disease distant free specific
OTHER age birth born date diagnosis surgery collection scan id no nr number batch
OTHER sex gender grade stage size
"""
TIME, EVENT, ENDS, OTHER = (
    frozenset(word for line in WORDS.split("\n") for word in line.split()[1:]
              if line.startswith(f"{kind} "))
    for kind in ("TIME", "EVENT", "ENDS", "OTHER")
)  # fmt: skip
FINAL = ("dead", "died", "death", "deceased", "relapse", "recur", "progress", "metasta", "event",
         "yes", "true")  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """Columns of times and of events; the word that is the event, None where that is 1."""

    time: str
    event: str
    word: str | None


def cells_of(table: pd.DataFrame, name: str) -> list[str]:
    """Return the cells of a column that are not missing; none of a name that stands twice."""
    if list(table.columns).count(name) != 1:
        return []
    return [cell for cell in map(str, table[name]) if not is_missing(cell)]


def pairs(table: pd.DataFrame) -> list[Pair]:
    """Return the columns that look like time and event of one thing: os_time, os_event.

    Both names are told by their words, and are of one thing where they have the same further ones;
    or where there is one column of each alone.
    """
    names = list(dict.fromkeys(map(str, table.columns)))
    times = {name: _of_what(name) for name in names if _is_time(name, cells_of(table, name))}
    events = {name: _of_what(name) for name in names if _is_event(name, cells_of(table, name))}
    found = [(t, e) for t in times for e in events if t != e and times[t] == events[e]]
    if not found and len(times) == len(events) == 1:
        found = [(t, e) for t in times for e in events if t != e and times[t] | events[e] <= ENDS]
    return [Pair(t, e, event_word(Counter(cells_of(table, e)))) for t, e in found]


def event_word(counts: Counter[str]) -> str | None:
    """Return which word of a column is the event: that which sounds final, or is no control.

    None where the event is 1.
    """
    if all(is_number(cell) and float(cell) in (0, 1) for cell in counts):
        return None
    final = [cell for cell in counts if any(part in cell.lower() for part in FINAL)]
    if len(counts) == 2:
        first, second = sorted(counts)
        numbers = is_number(first) and is_number(second)
        return final[0] if len(final) == 1 else max(counts, key=float) if numbers else \
            control_first([first, second])[1]  # fmt: skip
    if "1" in counts and "0" in counts:  # beside slips, or causes that compete with the first
        return "1"
    return min(counts, key=lambda cell: (cell not in final, counts[cell]))


def class_columns(table: pd.DataFrame) -> Iterator[tuple[str, Counter[str]]]:
    """Yield each column with two to six classes, of which two are large enough, and its cells."""
    for name in dict.fromkeys(map(str, table.columns)):
        counts = Counter(cells_of(table, name))
        if 2 <= len(counts) <= MOST and counts.most_common(2)[1][1] >= LEAST:
            yield name, counts


def number_columns(table: pd.DataFrame) -> Iterator[str]:
    """Yield each column of numbers that are no classes, no covariates and no names of samples."""
    for name in dict.fromkeys(map(str, table.columns)):
        cells = cells_of(table, name)
        if not all(map(is_number, cells)) or len(set(cells)) <= MOST or is_covariate(name):
            continue
        values = [float(cell) for cell in cells]
        counted = len(set(values)) == len(values) == max(values) - min(values) + 1
        if not (counted or OTHER & set(_words(name))):
            yield name


def covariates(table: pd.DataFrame, taken: Sequence[str]) -> list[str]:
    """Return the usual covariates that vary, but for the columns that are taken.

    As many as the samples allow: `SHARE` for each column that they make.
    """
    names, made = [], 0
    for name in dict.fromkeys(map(str, table.columns)):
        cells = cells_of(table, name)
        levels = len(set(cells))
        numbers = all(map(is_number, cells))
        wide = made + (1 if numbers else levels - 1)
        usual = name not in taken and is_covariate(name) and not BATCH.fullmatch(name)
        usual = usual and levels > 1
        if usual and (numbers or levels <= len(cells) // LEAST) and SHARE * wide <= len(table):
            names.append(name)
            made = wide
    return names


def is_covariate(name: str) -> bool:
    """Tell whether a column's name is that of a usual covariate."""
    return COVARIATES.fullmatch(name) is not None


def is_clinical(name: str) -> bool:
    """Tell whether a column's name is that of a covariate, a time, an event or its coding."""
    words = set(_words(name))
    return is_covariate(name) or (bool(words) and words <= TIME | EVENT | ENDS)


def _words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[A-Za-z]+", spaced)]


def _of_what(name: str) -> frozenset[str]:
    return frozenset(_words(name)) - TIME - EVENT


def _is_time(name: str, cells: Sequence[str]) -> bool:
    words = set(_words(name))
    if not words & (TIME | ENDS) or words & OTHER or is_covariate(name):
        return False
    known = [cell for cell in cells if is_number(cell) and float(cell) >= 0]
    return len(known) >= max(2 * LEAST, MOST_TIMES * len(cells)) and len(set(known)) > MOST


def _is_event(name: str, cells: Sequence[str]) -> bool:
    counts, words = Counter(cells), set(_words(name))
    coded = len(counts) > 2 and counts["0"] + counts["1"] >= MOST_TIMES * len(cells)
    if not (len(counts) == 2 or coded) or not words & (EVENT | ENDS) or is_covariate(name):
        return False
    word = event_word(counts)
    here = [n for cell, n in counts.items() if (float(cell) == 1 if word is None else cell == word)]
    return sum(here) >= LEAST
