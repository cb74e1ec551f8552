"""What a column of a sample table may be, by its name and values: time, event, class, patient.

A column is given by its name, and its cells are texts. An answer is a cell that has a value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.response.kinds import is_event
from genesig.words import control_first, is_missing, is_number, is_unknown, words_not_evaluable

if TYPE_CHECKING:
    import pandas as pd


def _name_pattern(words: str) -> re.Pattern[str]:
    """Return a pattern of column names with one of the words; "stage" does not have "age".

    words: alternatives of a regular expression, such as "age|sex".
    """
    return re.compile(rf"(.*[\W_])?({words})(?![a-z]).*", re.IGNORECASE)


MIN_CLASS_SAMPLES = 3  # samples of a class, or events: fewer have no outer and inner folds
MAX_CLASSES = 6  # different values of a column of classes; a column of more numbers is numeric
SAMPLES_PER_COVARIATE = 4  # samples needed for each column of covariates, which have no penalty
# Words for persons and places, which are the outcome less often than grade or receptors are.
PERSON_WORDS = r"age|sex|gender|geschlecht|sexe|sexo|male|female|smok\w*|cent(re|er)|site"
# Columns that most studies of people adjust for.
COVARIATE_NAME = _name_pattern(rf"{PERSON_WORDS}|bmi|batch|grade|stage|size|er|pr|her2|nodes?")
# Batches are corrected by a step of their own, so they are no covariates.
BATCH_NAME = _name_pattern("batch|plate")
SELDOM_OUTCOME_NAME = _name_pattern(rf"{PERSON_WORDS}|race|ethnic\w*|batch|plate")
SEXES = frozenset(["m", "f", "male", "female", "man", "woman", "men", "women"])
# Where an instrument measured a sample: numbers that are no outcome and no gene.
INSTRUMENT_NAME = re.compile(
    r"(slide|plate|array|chip|sentrix|scanner|well|lane)[\W_]?"
    r"(id|barcode|no|number|position|row|col(umn)?)|subarray",
    re.IGNORECASE,
)
# Words in the name of a column whose whole numbers are a quantity or an order, and no codes.
ORDERED_WORDS = """
age size bmi grade grades stage nodes node score scores dose level count counts visit visits
day days week weeks month months year years time hours rank ecog performance gleason height weight
"""
# Columns that REDCap adds to an export: visits, forms, data access groups, ticks of a checkbox.
REDCAP_NAME = re.compile(r"redcap_\w+|\w+_complete|\w+___\w+", re.IGNORECASE)
MAX_CODES = 10  # different numbers in a column of codes
# Words in the names of columns, each line behind its role: TIME of times, EVENT of events, ENDS of
# endpoints (which either may have), OTHER of columns that may look like these: dates, covariates.
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

MIN_TIMES_SHARE = 0.9  # share of a column's cells that are times or codes; others may be slips
UNITS = {
    "days": re.compile("d|days?", re.IGNORECASE),
    "weeks": re.compile("w|wks?|weeks?", re.IGNORECASE),
    "months": re.compile("m|mo|mos|mths?|months?", re.IGNORECASE),
    "years": re.compile("y|yrs?|years?", re.IGNORECASE),
}
"""Unit of time -> words for it."""
# A time with its unit, or with the plus of R for a censored time: "300 days", "300+".
MARKED_TIME = re.compile(
    r"\s*(?P<number>\d+\.?\d*)\s*(?P<unit>[a-z]*)\.?(?P<plus>\+?)\s*", re.IGNORECASE
)
# Parts of words of a cell that says that the event came.
EVENT_WORD_PART = re.compile(
    "dead|died|death|deceased|relapse|recur|progress|metasta|event|yes|true", re.IGNORECASE
)
DEAD_OF_DISEASE = re.compile(r"(\d+ ?[:=-] ?)?DOD", re.IGNORECASE)
# NED: no evidence of disease, AWD: alive with disease, LTF, LTFU: lost to follow-up; DOC, dead of
# other causes, is no death of the disease.
EVENT_FREE = re.compile(
    r"(\d+ ?[:=-] ?)?(alive|living|lost|censored|no|non|not|without|none|NED|AWD|LTFU?|DOC)\b",
    re.IGNORECASE,
)
YES_WORDS = frozenset({"1", "1.0", "yes", "y", "true", "t"})
NO_WORDS = frozenset({"0", "0.0", "no", "n", "false", "f"})
# Words in the name of a column of 0 and 1 whose 1 says that the event came (`EVENT_NAMES`), that it
# did not (`CENSORED_NAMES`), or either (`AMBIGUOUS_NAMES`): cens of R's GBSG2 is 1 for an event.
EVENT_NAMES = frozenset(
    [
        *("event", "dead", "died", "death", "deceased", "relapse"),
        *("relapsed", "recurrence", "recurred", "progression", "progressed", "metastasis"),
        *("loss", "failure"),
    ]
)
CENSORED_NAMES = frozenset(
    [*("censored", "censoring", "cnsr", "alive", "living", "surviving"), *("survived", "survivor")]
)
AMBIGUOUS_NAMES = frozenset(["cens", "censor"])
# relapse_free says that no event came; relapse_free_survival_status says either.
OUTCOME_WORDS = frozenset(["survival", "status", "event", "indicator"])
NEGATION_WORDS = frozenset(["no", "not", "non", "without"])
MIN_RANK_SUM_Z = 2.58  # z of the rank-sum test (p = 0.01) from which the times of a word are longer
MAX_BLANK_SHARE = 0.1  # largest share of missing times of an outcome in a column that has its times

PATIENT_WORDS = "patient|subject|donor|individual|animal|participant|person"
ID_WORDS = "id|ids|no|nr|num|number|code|identifier|name|barcode"
PATIENT_COLUMN = re.compile(
    rf"({PATIENT_WORDS})s?|.*({PATIENT_WORDS}|case|mouse)s?({ID_WORDS})|recordid"
)
"""Matches a column's whole name without blanks and punctuation: 'Patient ID', not 'patient age'."""
MIN_PATIENTS = 6  # values of a column of patients; of fewer it may be another name of the classes
MAX_PATIENT_SAMPLES = 5
"""Largest mean number of samples of a patient, unless all patients have the same number; conditions
of an experiment have more samples."""
MAX_CHANCE = 1e-4  # probability of one response in each value, up to which that is no chance
MAX_CHANCE_OF_EQUAL_SIZE = 1e-2
"""The same if all values have the same number of samples, as conditions seldom have."""


def cells_of(table: pd.DataFrame, name: str) -> list[str]:
    """Return the cells of a column that are not missing; none if two columns have this name."""
    if list(table.columns).count(name) != 1:
        return []
    return [cell for cell in map(str, table[name]) if not is_missing(cell)]


def evaluable_cells(table: pd.DataFrame, name: str) -> list[str]:
    """Return the cells of a column that have a value: neither missing nor "unknown" or the like."""
    unknown = unknown_words(table, name)
    return [cell for cell in cells_of(table, name) if cell not in unknown]


def unknown_words(table: pd.DataFrame, name: str) -> Counter[str]:
    """Return the words of a column that say that there is no value, and how often each occurs."""
    counts = Counter(cells_of(table, name))
    not_evaluable = words_not_evaluable(counts)
    return Counter(
        {word: n for word, n in counts.items() if is_unknown(word) or word in not_evaluable}
    )


def class_columns(table: pd.DataFrame) -> Iterator[tuple[str, Counter[str]]]:
    """Yield name and class sizes of each column of two to six classes, two of them large enough.

    Words such as "unknown" are no classes.
    """
    for name in dict.fromkeys(map(str, table.columns)):
        counts = Counter(evaluable_cells(table, name))
        if 2 <= len(counts) <= MAX_CLASSES and counts.most_common(2)[1][1] >= MIN_CLASS_SAMPLES:
            yield name, counts


def number_columns(table: pd.DataFrame) -> Iterator[str]:
    """Yield each column of numbers that are no classes, covariates, dates or numbers of samples."""
    for name in dict.fromkeys(map(str, table.columns)):
        cells = evaluable_cells(table, name)
        has_classes = len(set(cells)) <= MAX_CLASSES
        if not all(map(is_number, cells)) or has_classes or background_rank(table, name):
            continue
        values = [float(cell) for cell in cells]
        are_row_numbers = len(set(values)) == len(values) == max(values) - min(values) + 1
        if not (are_row_numbers or OTHER_WORDS & set(words_of(name))):
            yield name


def usual_covariates(table: pd.DataFrame, excluded: Sequence[str]) -> list[str]:
    """Return the varying columns that studies usually adjust for, but for the `excluded` ones.

    There are as many as the samples allow: `SAMPLES_PER_COVARIATE` for each column of the design
    matrix, which has one for a number and one less than the different words for a column of words.
    """
    names = []
    n_design_columns = 0
    for name in dict.fromkeys(map(str, table.columns)):
        cells = cells_of(table, name)
        n_levels = len(set(cells))
        is_numeric = all(map(is_number, cells))
        n_with_name = n_design_columns + (1 if is_numeric else n_levels - 1)
        is_usual = name not in excluded and is_covariate(name) and not BATCH_NAME.fullmatch(name)
        if (
            is_usual
            and n_levels > 1
            and (is_numeric or n_levels <= len(cells) // MIN_CLASS_SAMPLES)
            and SAMPLES_PER_COVARIATE * n_with_name <= len(table)
        ):
            names.append(name)
            n_design_columns = n_with_name
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
    has_few_values = 2 < len(values) <= min(MAX_CODES, len(cells) // MIN_CLASS_SAMPLES)
    return has_few_values and all(map(is_number, cells)) and all(value % 1 == 0 for value in values)


def is_covariate(name: str) -> bool:
    """Tell whether studies usually adjust for a column of this name."""
    return COVARIATE_NAME.fullmatch(_split_camel_case(name)) is not None


def background_rank(table: pd.DataFrame, name: str) -> int:
    """Return how seldom a column is the outcome: 0, 1 for covariates, 2 for sex, origin, batch.

    Columns that a program adds have 2, too, and blank columns.
    """
    are_sexes = {cell.lower() for cell in evaluable_cells(table, name)} <= SEXES
    is_added = any(pattern.fullmatch(name) for pattern in (INSTRUMENT_NAME, REDCAP_NAME))
    if are_sexes or is_added or SELDOM_OUTCOME_NAME.fullmatch(_split_camel_case(name)):
        return 2
    return int(is_covariate(name))


def is_clinical(name: str) -> bool:
    """Tell whether a column of this name is a usual covariate, a time, an event or a place."""
    words = set(words_of(name))
    return (
        is_covariate(name)
        or (bool(words) and words <= TIME_WORDS | EVENT_WORDS | ENDPOINT_WORDS)
        or INSTRUMENT_NAME.fullmatch(name) is not None
    )


def _split_camel_case(name: str) -> str:
    """Return a name with blanks between its words: "patient Sex" for "patientSex"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in lower case: "daysToDeath" has three."""
    return [word.lower() for word in re.findall(r"[A-Za-z]+", _split_camel_case(name))]


@dataclass(frozen=True)
class TimeAndEvent:
    """Columns, by name, of the times and events of one endpoint."""

    time: str
    event: str
    word: str | None  # cell that says the event came; None if that is 1, or if events compete
    follow_up_times: tuple[str, ...] = ()  # the column with times that `time` lacks, or none

    @property
    def label(self) -> dict[str, Any]:
        """Value of ``label`` in a config."""
        times = [self.time, *self.follow_up_times] if self.follow_up_times else self.time
        return {"time": times, "event": self.event}


def time_event_pairs(table: pd.DataFrame) -> list[TimeAndEvent]:
    """Return the pairs of columns that look like time and event of one endpoint: os_time, os_event.

    The words of their names tell times from events. Two columns are of one endpoint if their other
    words are the same, or if there is only one column of each. If none is, a pair may have the
    times of samples with and without the event in two columns.
    """
    names = list(dict.fromkeys(map(str, table.columns)))
    times = {name: _subject_words(name) for name in names if _is_time(name, cells_of(table, name))}
    events = {
        name: _subject_words(name) for name in names if _is_event(name, cells_of(table, name))
    }
    all_pairs = [(time, event) for time in times for event in events if time != event]
    name_pairs = [(time, event) for time, event in all_pairs if times[time] == events[event]]
    if not name_pairs and len(times) == len(events) == 1:
        name_pairs = [
            (time, event)
            for time, event in all_pairs
            if times[time] | events[event] <= ENDPOINT_WORDS
        ]
    candidates = [_make_pair(table, time, event) for time, event in name_pairs or all_pairs]
    if not name_pairs:  # times of the dead and of the living in two columns
        candidates = [pair for pair in candidates if pair.follow_up_times]
    return _prefer_joined_times(candidates)


def _make_pair(table: pd.DataFrame, time: str, event: str) -> TimeAndEvent:
    """Return a pair with the word of its event and, if there is one, a second column of times."""
    counts = Counter(evaluable_cells(table, event))
    rank_sum_z = rank_sum_of_times(table, time, event)
    word = None if are_competing(counts) else event_word(counts, event, rank_sum_z)
    lacking = find_lacking_times(table, time, event, "1" if word is None else word)
    return TimeAndEvent(time, event, word, () if lacking is None else lacking.columns)


def _prefer_joined_times(candidates: list[TimeAndEvent]) -> list[TimeAndEvent]:
    """Return pairs with a second column of times first, without pairs of that column alone.

    The second column is never the first of such a pair, if its name speaks of a follow-up.
    """
    joined_pairs = [
        pair for pair in candidates if pair.follow_up_times and not _is_follow_up(pair.time)
    ]
    follow_up_pairs = {(name, pair.event) for pair in joined_pairs for name in pair.follow_up_times}
    single_pairs = [
        pair
        for pair in candidates
        if pair not in joined_pairs and (pair.time, pair.event) not in follow_up_pairs
    ]
    return [*joined_pairs, *single_pairs]


def _is_follow_up(name: str) -> bool:
    """Tell whether the name of a column speaks of a follow-up."""
    return bool({"last", "follow", "followup", "fu"} & set(words_of(name)))


class LackingTimes(NamedTuple):
    """Samples without a time, if only the samples of one outcome have times."""

    with_event: bool  # outcome of the samples without a time
    n_blank: int  # samples of that outcome without a time
    n_samples: int  # samples of that outcome
    columns: tuple[str, ...]  # the column that has the times of nearly all of them, or ()


def find_lacking_times(
    table: pd.DataFrame, time: str, event: str, word: str
) -> LackingTimes | None:
    """Return which outcome has no times in a column; None if both have times, or too few samples.

    time, event: columns. word: cell that says the event came.

    GDC's days_to_death is blank for the living, days_to_last_follow_up often for the dead.
    """
    if not {time, event} <= set(table.columns):
        return None
    timed_rows: dict[bool, list[int]] = {True: [], False: []}  # keys: whether the event came
    blank_rows: dict[bool, list[int]] = {True: [], False: []}
    for row, (text, cell) in enumerate(zip(table[time], table[event], strict=True)):
        if not is_missing(str(cell)):
            rows = timed_rows if is_number(str(text)) else blank_rows
            rows[is_event(str(cell), word)].append(row)
    n_samples = {
        outcome: len(rows) + len(blank_rows[outcome]) for outcome, rows in timed_rows.items()
    }
    if min(n_samples.values()) < MIN_CLASS_SAMPLES:
        return None
    for outcome, blank in blank_rows.items():
        nearly_all_blank = len(blank) >= (1 - MAX_BLANK_SHARE) * n_samples[outcome]
        n_blank_of_other = len(blank_rows[not outcome])
        if nearly_all_blank and n_blank_of_other <= MAX_BLANK_SHARE * n_samples[not outcome]:
            follow_up_column = _find_follow_up_column(table, blank, (time, event))
            return LackingTimes(outcome, len(blank), n_samples[outcome], follow_up_column)
    return None


def _find_follow_up_column(
    table: pd.DataFrame, rows: Sequence[int], excluded: Sequence[str]
) -> tuple[str, ...]:
    """Return the first column but the `excluded` with times of nearly all rows, as a tuple; or ().

    rows: indices of the rows that need a time.
    """
    for name in dict.fromkeys(map(str, table.columns)):
        if name in excluded or not _is_time(name, cells_of(table, name)):
            continue
        cells = [str(table[name].iloc[row]) for row in rows]
        timed = [cell for cell in cells if is_number(cell) and float(cell) >= 0]
        if len(timed) >= (1 - MAX_BLANK_SHARE) * len(rows):
            return (name,)
    return ()


def rank_sum_of_times(table: pd.DataFrame, time: str, event: str) -> float:
    """Return z of the rank-sum test of the times of yes (1) against those of no (0), ties ignored.

    time, event: columns. It is above 0 if the times of yes are longer, and 0 without a time of
    either.
    """
    times: dict[bool, list[float]] = {True: [], False: []}
    for text, cell in zip(map(str, table[time]), map(str, table[event]), strict=True):
        word = cell.strip().lower()
        if is_number(text) and word in YES_WORDS | NO_WORDS:
            times[word in YES_WORDS].append(float(text))
    yes = np.array(times[True])
    no = np.array(times[False])
    if not len(yes) or not len(no):
        return 0.0
    all_times = np.sort(np.concatenate([yes, no]))
    ranks = (all_times.searchsorted(yes, "left") + all_times.searchsorted(yes, "right") + 1) / 2
    excess = ranks.sum() - len(yes) * (len(all_times) + 1) / 2
    return float(excess / np.sqrt(len(yes) * len(no) * (len(all_times) + 1) / 12))


def event_by_name(counts: Mapping[str, int], name: str, rank_sum_z: float = 0.0) -> str | None:
    """Return the word that is the event by the column's name or by its two words; None if in doubt.

    counts: word of the column -> number of its samples; the words decide, their numbers do not.
    name: of the column: the 1 of os_censored is a time without the event.
    rank_sum_z: from `rank_sum_of_times`; a censored time is longer as a rule, which decides for a
        name such as cens.
    """
    words = [cell.strip().lower() for cell in counts]
    yes = [cell for cell, word in zip(counts, words, strict=True) if word in YES_WORDS]
    no = [cell for cell, word in zip(counts, words, strict=True) if word in NO_WORDS]
    if len(yes) == len(no) == 1 and len(counts) == 2:
        if _says_censored(name, rank_sum_z):
            return no[0]
        words_of_column = set(words_of(name))
        says_event = EVENT_NAMES & words_of_column and not NEGATION_WORDS & words_of_column
        return yes[0] if says_event else None
    event_cells = list(filter(_names_event, counts))
    return event_cells[0] if len(counts) == 2 and len(event_cells) == 1 else None


def _names_event(cell: str) -> bool:
    """Tell whether a cell of a column of events names the event: "Dead of disease"."""
    says_event = EVENT_WORD_PART.search(cell) or DEAD_OF_DISEASE.fullmatch(cell.strip())
    return says_event is not None and not _is_event_free(cell)


def _is_event_free(cell: str) -> bool:
    """Tell whether a cell of a column of events says that there was none: "Alive", "No relapse"."""
    return EVENT_FREE.match(cell.strip()) is not None


def _says_censored(name: str, rank_sum_z: float) -> bool:
    """Tell whether the name of a column of yes and no says that yes means "censored"."""
    words = set(words_of(name))
    if words & NEGATION_WORDS:
        return False
    if words & CENSORED_NAMES and not words & EVENT_NAMES:
        return True
    if "free" in words and not words & OUTCOME_WORDS:
        return True
    return bool(words & (CENSORED_NAMES | AMBIGUOUS_NAMES)) and rank_sum_z > MIN_RANK_SUM_Z


def event_word(counts: Counter[str], name: str = "", rank_sum_z: float = 0.0) -> str | None:
    """Return which word of a column is the event; None if that is 1, which needs no setting.

    Of two words it is the one that names an event, the larger number, or the one that is no
    control; of more it is 1 beside 0, else the rarest, if possible of those that name an event.
    Parameters are those of `event_by_name`.
    """
    expected = event_by_name(counts, name, rank_sum_z)
    if expected is not None and expected.strip().lower() in NO_WORDS:
        return expected
    if all(is_number(cell) and float(cell) in (0, 1) for cell in counts):
        return None
    event_cells = list(filter(_names_event, counts))
    if len(counts) == 2:
        if len(event_cells) == 1:
            return event_cells[0]
        if all(map(is_number, counts)):
            return max(counts, key=float)
        return control_first(sorted(counts))[1]
    if "1" in counts and "0" in counts:  # beside slips, or causes that compete with the first
        return "1"
    return min(counts, key=lambda cell: (cell not in event_cells, counts[cell]))


def are_competing(counts: Counter[str]) -> bool:
    """Tell whether words of a column are codes of events that compete: 0, 1 and 2, no slip."""
    is_slip = counts["0"] + counts["1"] >= MIN_TIMES_SHARE * counts.total()
    return {*counts} in ({*"012"}, {*"0123"}) and not is_slip


def _subject_words(name: str) -> frozenset[str]:
    """Return the words of a column's name that say neither time nor event: its endpoint, os.

    Units and codes in brackets do not count: "OS (months)", "progressed (Y, N)".
    """
    without_units = re.sub(r"[(\[].*?[)\]]", "", name)
    return frozenset(words_of(without_units)) - TIME_WORDS - EVENT_WORDS


def number_of_time(cell: str) -> str | None:
    """Return the number of a time, 300 of "300", "300 days" or "300+"; None for any other text."""
    if is_number(cell):
        return cell.strip()
    time = MARKED_TIME.fullmatch(cell)
    has_known_unit = time is not None and (not time["unit"] or unit_of(time["unit"]) is not None)
    return time["number"] if time is not None and has_known_unit else None


def unit_of(word: str) -> str | None:
    """Return the unit of time that a word means, "days" for "d"; None for any other word."""
    words = (unit for unit, pattern in UNITS.items() if pattern.fullmatch(word.strip()))
    return next(words, None)


def units_of_times(table: pd.DataFrame, time: str) -> tuple[str, Counter[str]] | None:
    """Return the column with the unit of each time, and the number of samples with each unit.

    time: column of the times. None if no column has units, or if it is of other times: the words of
    its name are then not in the name of that column.
    """
    words_of_time = set(words_of(time))
    for name in dict.fromkeys(map(str, table.columns)):
        words = set(words_of(name)) - TIME_WORDS - {"unit", "units"}
        units = [unit_of(cell) for cell in evaluable_cells(table, name)]
        if name != time and words <= words_of_time and units and None not in units:
            return name, Counter(filter(None, units))
    return None


def _is_time(name: str, cells: Sequence[str]) -> bool:
    """Tell whether a column has times, by the words of its name and its values.

    Times with a unit or a plus sign count, so that the error can name them. Few times, or few
    different ones, which may be classes, do not.
    """
    words = set(words_of(name))
    if not words & (TIME_WORDS | ENDPOINT_WORDS) or words & OTHER_WORDS or is_covariate(name):
        return False
    answers = [cell for cell in cells if not is_unknown(cell)]
    numbers = filter(None, map(number_of_time, answers))
    times = [number for number in numbers if float(number) >= 0]
    return (
        len(times) >= max(2 * MIN_CLASS_SAMPLES, MIN_TIMES_SHARE * len(answers))
        and len(set(times)) > MAX_CLASSES
    )


def _is_event(name: str, cells: Sequence[str]) -> bool:
    """Tell whether a column has events, by the words of its name and its values.

    Its values are two words, 0 and 1 with few others, codes of competing events, or words for the
    event and for its absence; `MIN_CLASS_SAMPLES` or more are events.
    """
    counts = Counter(cell for cell in cells if not is_unknown(cell))
    words = set(words_of(name))
    has_codes = len(counts) > 2 and counts["0"] + counts["1"] >= MIN_TIMES_SHARE * counts.total()
    has_codes = has_codes or (are_competing(counts) and bool(words & EVENT_WORDS))
    n_event_words = sum(map(_names_event, counts))
    has_words = (
        n_event_words
        and n_event_words + sum(map(_is_event_free, counts)) == len(counts) <= MAX_CLASSES
    )
    if (
        not (len(counts) == 2 or has_codes or (has_words and n_event_words < len(counts)))
        or not words & (EVENT_WORDS | ENDPOINT_WORDS)
        or is_covariate(name)
    ):
        return False
    if len(counts) == 2 and all(map(_is_event_free, counts)):  # NED and AWD
        return False
    word = event_word(counts, name)
    n_events = [
        n for cell, n in counts.items() if (float(cell) == 1 if word is None else cell == word)
    ]
    return sum(n_events) >= MIN_CLASS_SAMPLES


def names_patients(column: str) -> bool:
    """Tell whether a column is called as patients are: 'Patient ID' is, 'patient age' is not."""
    return PATIENT_COLUMN.fullmatch(re.sub(r"[\W_]+", "", column).casefold()) is not None


def find_patient_column(table: pd.DataFrame, class_names: Iterable[str]) -> str | None:
    """Return the column of patients with several samples, if a table has it.

    It is called as patients are. Else its values have one class each in a column of `class_names`,
    far more often than by chance, and none is a number, such as a time; of several such columns it
    is the one with most values. All its cells are filled in, and its values repeat.
    """
    candidates = [
        name for name in map(str, table.columns) if not is_covariate(name) and _repeats(table, name)
    ]
    named_column = next(filter(names_patients, candidates), None)
    if named_column is not None:
        return named_column
    class_names = list(class_names)
    recognised_columns = [
        name
        for name in candidates
        if not any(map(is_number, cells_of(table, name)))
        and any(_has_one_class_each(table, name, class_name) for class_name in class_names)
    ]
    return max(recognised_columns, key=lambda name: len(set(table[name])), default=None)


def varies_within(table: pd.DataFrame, name: str, patient_column: str) -> bool:
    """Tell whether samples of one value of `patient_column` differ in column `name`."""
    patients = table[patient_column]
    return len({*zip(patients, table[name], strict=True)}) > len(set(patients))


def _repeats(table: pd.DataFrame, name: str) -> bool:
    """Tell whether a column without blanks has `MIN_PATIENTS` values or more, few samples each."""
    n_values = len(set(cells_of(table, name)))
    return (
        len(cells_of(table, name)) == len(table)
        and MIN_PATIENTS <= n_values < len(table) <= MAX_PATIENT_SAMPLES * n_values
    )


def _has_one_class_each(table: pd.DataFrame, name: str, class_name: str) -> bool:
    """Tell whether values of a column have one class each, far more often than by chance."""
    if name == class_name or varies_within(table, class_name, name):
        return False
    sizes = table.groupby(name).size().tolist()
    limit = MAX_CHANCE_OF_EQUAL_SIZE if len(set(sizes)) == 1 else MAX_CHANCE
    repeated_sizes = [size for size in sizes if size > 1]
    return chance_of_one_response(repeated_sizes, list(map(str, table[class_name]))) < limit


def chance_of_one_response(repeated_sizes: Sequence[int], response_texts: Sequence[str]) -> float:
    """Return about the probability that permuted responses are equal within each value of a column.

    It is the product of Σ_c C(n_c, s)/C(n, s) over the values, s samples each, n_c of n samples
    having response c, as if each value drew its samples from all; so it is rather too small.

    repeated_sizes: number of samples of each value that occurs more than once.
    response_texts (n,) of str: response of each sample, in any order.
    """
    counts = np.array(list(Counter(response_texts).values()), float)
    n_samples = len(response_texts)
    log_chance = 0.0
    for size in repeated_sizes:
        drawn_samples = np.arange(size)
        shares = np.clip(counts[:, None] - drawn_samples, 0, None) / (n_samples - drawn_samples)
        log_chance += float(np.log(max(shares.prod(axis=1).sum(), 1e-300)))  # no log of 0
    return float(np.exp(log_chance))
