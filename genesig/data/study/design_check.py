"""The samples against the splits, and what would make the errors look too small."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import is_covariate
from genesig.data.study.labels.known import LABELS
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem, did_you_mean
from genesig.response.known import RESPONSES
from genesig.results import Design, Splits
from genesig.words import counted, further_text, further_text_of, is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd


Config = dict[str, Any]
SIDES = ("train", "test")
BY_BATCH = ("leave_one_batch_out", "leave_one_study_out")


def check_design(sheet: Sheet, config: Config, place: str) -> Iterator[Problem]:
    """Yield what keeps the samples of the sheet from being split as the config says.

    Samples are counted in units: groups where there are groups, else single samples.
    """
    if sheet.design.pair is not None:
        yield from _check_pairs(sheet, place) if sheet.design.classes else ()
    elif LABELS[sheet.design.kind].one_of_a_group and sheet.design.group is not None:
        yield from _check_groups(sheet, place)
    splits = config["splits"]
    obs = sheet.obs
    if splits["file"] is not None:
        return
    train = obs
    if splits["scheme"] == "predefined" and splits["column"] in obs.columns:
        faults = list(_check_sides(sheet, splits["column"], place))
        yield from faults
        if faults:
            return
        train = obs[obs[splits["column"]] == "train"]
    short: list[tuple[int, Problem]] = []
    for name, units in _units(train, sheet).items():
        left = _left_to_train(units, splits["scheme"], splits["folds"])
        if splits["scheme"] in BY_BATCH and sheet.design.batch is not None:
            batch = train[sheet.design.batch]
            left = min(_units(train[batch != out], sheet)[name] for out in set(batch))
        found = _check_units(name, units, left, sheet, splits, place)
        short += [(units, problem) for problem in found]
    if short:
        fewest = min(short, key=lambda each: each[0])[1]
        yield Problem(
            fewest.location, fewest.message + further_text_of(len(short) - 1, "class", "classes")
        )


def check_tested(sheet: Sheet, splits: Splits, place: str) -> Iterator[Problem]:
    """Yield a class that no test set has: how often it is mistaken is never found out."""
    design = sheet.design
    tested = {name for split in splits.outer for name in split.test}
    found = set(sheet.obs[design.label][[name in tested for name in sheet.obs.index]])
    for name in design.classes or ():
        if tested and name not in found:
            message = (
                f"no test sample is '{name}', so that balanced error and AUC are not defined; "
                "test on samples of both classes"
            )
            yield Problem(f"{place}, column '{design.label}'", message, "warning")


def _units(obs: pd.DataFrame, sheet: Sheet) -> dict[str, int]:
    """Count the units of which every training set needs some, such as those of each class."""
    design = sheet.design
    kind = RESPONSES[sheet.design.kind]
    unit = obs.index.to_series() if design.group is None else obs[design.group]
    needed = kind.required_samples(kind.read(obs, design), design.classes)
    return {who: int(unit[inside].nunique()) for who, inside in needed.items()}


def _check_units(
    name: str, units: int, left: int, sheet: Sheet, splits: Config, place: str
) -> Iterator[Problem]:
    group = sheet.design.group
    scheme = splits["scheme"]
    folds = splits["folds"]
    at = f"{place}, column '{sheet.design.label}'"
    who = f"{name} has {counted(units, 'sample' if group is None else 'group')}"
    who += f" (column '{group}')" if group is not None else ""
    who += " to train on" if scheme == "predefined" else ""
    kfold = scheme in ("stratified_kfold", "stratified_group_kfold")
    if units < 3:
        yield Problem(at, f"{who}; at least 3 are needed, to be split outside and inside")
    elif kfold and units < folds:
        alone = "leave_one_out" if group is None else "leave_one_group_out"
        advice = f"set splits.folds to {units} or less, or splits.scheme to {alone}"
        yield Problem(at, f"{who}, splits.folds is {folds}; {advice}")
    elif left < 2:
        yield Problem(at, f"{who}, of which {left} may be left to train on; 2 are needed")
    elif splits["inner_scheme"] == "stratified_kfold" and left < splits["inner_folds"]:
        advice = f"set splits.inner_folds to {left} or less, or splits.inner_scheme to "
        message = (
            f"{who}, of which {left} may be left to train on, splits.inner_folds is "
            f"{splits['inner_folds']}; {advice}leave_one_out"
        )
        yield Problem(at, message)


def _left_to_train(units: int, scheme: str, folds: int) -> int:
    """Return how many units the smallest training set has, with folds of like size."""
    if scheme == "predefined":
        return units
    return units - ceil(units / folds) if scheme.endswith("kfold") else units - 1


def _check_pairs(sheet: Sheet, place: str) -> Iterator[Problem]:
    pair = sheet.design.pair
    label = sheet.design.label
    wrong = {
        str(name): sorted(members[label])
        for name, members in sheet.obs.groupby(pair, sort=False)
        if len(members) != 2 or members[label].nunique() != 2
    }
    for name, labels in list(wrong.items())[:1]:
        found = f"{counted(len(labels), 'sample')} ({', '.join(labels)})"
        more = too(len(wrong) - 1, "pair")
        message = f"data.pair: pair '{name}' has {found}, needs one of each class{more}"
        yield Problem(f"{place}, column '{pair}'", message)


def _check_groups(sheet: Sheet, place: str) -> Iterator[Problem]:
    kind = RESPONSES[sheet.design.kind]
    group = str(sheet.design.group)
    shown = kind.label_cells(sheet.obs, sheet.design)
    found = sheet.obs.assign(shown=shown).groupby(group, sort=False)["shown"].unique()
    wrong = {str(name): list(words) for name, words in found.items() if len(words) > 1}
    for name, words in list(wrong.items())[:1]:
        message = (
            f"data.group: '{name}' has {listing(words)}; the samples of one group must have one "
            f"response{too(len(wrong) - 1, 'group')}"
        )
        yield Problem(f"{place}, column '{group}'", message)


def _check_sides(sheet: Sheet, column: str, place: str) -> Iterator[Problem]:
    obs = sheet.obs
    at = f"{place}, column '{column}'"
    strange = {str(name): str(word) for name, word in obs[column].items() if word not in SIDES}
    for name, word in list(strange.items())[:1]:
        more = further_text(len(strange) - 1, "sample")
        near = did_you_mean(word.lower(), SIDES)
        found = f"'{word}'" if word else "blank"
        yield Problem(at, f"sample '{name}' is {found}, needs train or test{more}{near}")
    if not strange:
        for side in SIDES:
            if side not in set(obs[column]):
                yield Problem(at, f"no sample is '{side}'; both train and test are needed")
    group = sheet.design.group
    if group in obs.columns and not strange:
        torn = [str(name) for name, of in obs.groupby(group)[column] if len(set(of)) > 1]
        if torn:
            message = f"{group} {listing(torn)} has samples on both sides; keep each on one side"
            yield Problem(at, message)


ROUNDING = 1e-10
NEAR = 0.98
"""|r| of a gene that nearly equals the label; area under the ROC curve that comes near to 1."""
MOST_WARNED = 0.01
"""Largest share of studies of pure noise in which a gene is named."""
NOTHING, EQUAL, NEARLY, SEPARATES = range(4)
GENES_AT_ONCE = 4096
# The whole name, but for blanks and punctuation: 'Patient ID' is one, 'patient age' is not.
UNITS = "patient|subject|donor|individual|animal|participant|person"
IDS = "id|ids|no|nr|num|number|code|identifier|name|barcode"
BELONGING = re.compile(rf"({UNITS})s?|.*({UNITS}|case|mouse)s?({IDS})")


def check_label_genes(expression: Expression, sheet: Sheet, place: str) -> Iterator[Problem]:
    """Warn of genes that may be the label, or what it was made from.

    Such are genes with |r| = 1 (with classes: one value for each class), genes with |r| > 0.98, and
    genes that separate two classes without error, as does one whose values the label was cut from.

    Chance does so, too: of 20,000 genes of noise 0.2 separate 10 from 10 samples, and a dozen have
    |r| > 0.98 on six. So, other than at |r| = 1, a gene is named only where noise would have done
    as well with a probability of at most 0.005/d, d genes: 2/C(n, n1) for a separation of n1 from
    n - n1 samples, that of the t-test for r. Of studies of pure noise less than 1 % are warned.

    Biology separates, too, but then other genes come near: in leukemia (38 patients) and in ten of
    16 pairs of tumours some genes separate, and the best other one has an area under the ROC curve
    of 0.987 or more. So a separation is named only where no other gene reaches 0.98: none of those
    is then, and 97 % of labels cut from a random gene of nine data sets are.

    Of more than two classes r is the multiple correlation with all of them, by the F test: they
    have no order. A gene separates them if it separates each from each; of n samples there are
    T! Π n_c! of n! orders in which noise does.
    """
    design = sheet.design
    response = RESPONSES[design.kind]
    several = len(design.classes or ()) > 2
    y = (response.number if several else response.plain)(response.read(sheet.obs, design))
    parts = np.array_split(expression.X, len(expression.genes) // GENES_AT_ONCE + 1, axis=1)
    chance = MOST_WARNED / 2 / max(1, len(expression.genes))
    classes = _masks(y) if design.classes is not None else ()
    kinds = [_kind(X, y, chance, classes) for X in parts]
    kind = np.concatenate(kinds)
    if (kind == SEPARATES).any():
        others = (X[:, own == NOTHING] for X, own in zip(parts, kinds, strict=True))
        if max(concordance(X, classes).max(initial=0) for X in others) >= NEAR:
            kind[kind == SEPARATES] = NOTHING
    for which, words in _words(design).items():
        found = [expression.genes[k] for k in np.flatnonzero(kind == which)]
        if found:
            yield Problem(place, _sentence(found, *words), "warning")


def _words(design: Design) -> dict[int, tuple[str, str, str]]:
    """Return for each kind of gene: verb, what follows it, what is asked."""
    label = f"the label '{design.label}'"
    apart = (
        "the classes"
        if len(design.classes or ()) > 2
        else "'{}' from '{}'".format(*design.classes or "  ")
    )
    several = len(design.classes or ()) > 2
    same = "one value for each class" if several else "correlation 1 over all samples"
    near = "multiple correlation" if several else "|correlation|"
    asked = "was the label made from {it}? If so, take {it} out"
    return {
        EQUAL: (
            "equal",
            f"{label} ({same})",
            "{is_it} the label itself, or made from it? Take {it} out",
        ),
        NEARLY: ("nearly equal", f"{label} ({near} above {NEAR:g})", asked),
        SEPARATES: ("separate", f"{apart} without error, and no other comes near", asked),
    }


def _sentence(genes: list[str], verb: str, message: str, asked: str) -> str:
    one = len(genes) == 1
    who = f"gene {listing(genes)} {verb}s" if one else f"genes {listing(genes)} {verb}"
    asked = asked.format(it="it" if one else "them", is_it="is it" if one else "are they")
    return f"{who} {message}; {asked}, else the errors say nothing of new samples"


def _masks(y: Array) -> Sequence[Array]:
    """Return which samples are of each class, of y = ±1 (n,), or (n, T) for several."""
    return (y < 0, y > 0) if y.ndim == 1 else tuple(y.T > 0)


def _kind(X: Array, y: Array, chance: float, classes: Sequence[Array]) -> Array:
    """Return what each gene is to y, as far as noise is so with at most this probability."""
    from scipy.special import fdtrc, gammaln, stdtr

    known = np.isfinite(X)
    columns = 1 if y.ndim == 1 else y.shape[1] - 1
    r = np.abs(correlations(X, y)) if y.ndim == 1 else _multiple(X, y > 0)
    df = np.maximum(known.sum(axis=0) - columns - 1, 1)
    with np.errstate(divide="ignore"):
        t = r * np.sqrt(df / np.maximum(1 - r**2, 0) / columns)
    p = 2 * stdtr(df, -t) if y.ndim == 1 else fdtrc(columns, df, t**2)
    kind = np.where((r > NEAR) & (p <= chance), NEARLY, NOTHING)
    if classes:
        sizes = np.array([known[inside].sum(axis=0) for inside in classes])
        ways = gammaln(known.sum(axis=0) + 1) - gammaln(sizes + 1).sum(axis=0)
        rare = gammaln(len(classes) + 1) - ways <= np.log(chance)
        kind[(kind == NOTHING) & rare & (sizes > 0).all(axis=0) & apart(X, classes)] = SEPARATES
    return np.where(r >= 1 - ROUNDING, EQUAL, kind)


def apart(X: Array, classes: Sequence[Array]) -> Array:
    """Tell of each gene whether any two classes have no value in common nor between, (d,)."""
    known = np.isfinite(X)
    low = [np.where(known, X, np.inf)[c].min(axis=0, initial=np.inf) for c in classes]
    high = [np.where(known, X, -np.inf)[c].max(axis=0, initial=-np.inf) for c in classes]
    each = [(high[k] < low[m]) | (high[m] < low[k]) for k, m in combinations(range(len(low)), 2)]
    return np.asarray(np.all(each, axis=0))


def concordance(X: Array, classes: Sequence[Array]) -> Array:
    """Return the share of pairs of two classes that each gene orders as most of their pairs.

    With two classes the area under the ROC curve, of genes high or low in the positive class. Over
    the samples that have it; a tie counts as an error.
    """
    known = np.isfinite(X)
    (right, pairs) = np.zeros((2, X.shape[1]), dtype=np.int64)
    for one, other in combinations(classes, 2):
        right += np.maximum(_below(X[one], X[other]), _below(X[other], X[one]))
        pairs += known[one].sum(axis=0) * known[other].sum(axis=0)
    return np.asarray(right / np.maximum(pairs, 1))


def _below(low: Array, high: Array) -> Array:
    """Count the pairs of two classes of which the first has the smaller value of a gene, (d,)."""
    X = np.vstack([high, low])  # sorted stably, so that of equal values those of `high` are first
    order = np.argsort(X, axis=0, kind="stable")
    first = order >= len(high)
    counted = ~first & np.isfinite(np.take_along_axis(X, order, axis=0))
    return np.asarray((np.cumsum(first, axis=0) * counted).sum(axis=0))


def _multiple(X: Array, member: Array) -> Array:
    """Return each gene's multiple correlation with classes (n, T), over the samples that have it.

    √(1 - within/total sums of squares); 0 for half of the samples or fewer.
    """
    known = np.isfinite(X)
    counts = known.sum(axis=0)
    A = np.where(known, X, 0)
    A = np.where(known, A - A.sum(axis=0) / np.maximum(counts, 1), 0)
    sizes = np.maximum(member.T.astype(float) @ known, 1)
    between = np.sum((member.T @ A) ** 2 / sizes, axis=0)
    total = np.sum(A**2, axis=0)
    usable = (total > 0) & (2 * counts > len(member)) & (counts > member.shape[1])
    share = np.divide(between, total, out=np.zeros(len(total)), where=usable)
    return np.asarray(np.sqrt(np.minimum(share, 1)))


def correlations(X: Array, y: Array) -> Array:
    """Return each gene's correlation with y over the samples that have it, 0 for half or fewer."""
    known = np.isfinite(X)
    counts = np.maximum(known.sum(axis=0), 1)
    A = np.where(known, X, 0)
    A = np.where(known, A - A.sum(axis=0) / counts, 0)
    B = np.where(known, y[:, None] - (y @ known) / counts, 0)
    product = np.sqrt(np.sum(A**2, axis=0) * np.sum(B**2, axis=0))
    usable = (product > 0) & (2 * counts > len(y)) & (counts > 2)
    return np.asarray(
        np.divide(np.sum(A * B, axis=0), product, out=np.zeros(len(counts)), where=usable)
    )


def names_patients(column: str) -> bool:
    """Tell whether the name of a column is one of patients: 'Patient ID' is, 'patient age' not."""
    return BELONGING.fullmatch(re.sub(r"[\W_]+", "", column).casefold()) is not None


def check_belonging(sheet: Sheet, place: str) -> Iterator[Problem]:
    """Warn of a column of patients that no group keeps on one side of the splits.

    Its name tells, or else its values: they repeat, and each has one response.
    """
    named = list(_named_units(sheet, place))
    yield from named or _valued_units(sheet, place)


def _named_units(sheet: Sheet, place: str) -> Iterator[Problem]:
    """Yield the columns that are called as patients are."""
    obs = sheet.obs
    design = sheet.design
    for name in map(str, obs.columns):
        if name == design.label or not names_patients(name):
            continue
        named = obs[[not is_missing(value) for value in obs[name]]]
        if _repeats(named, name, design) and _straddles(named, name, design.group):
            message = f"samples of one '{name}' would stand on both sides of a split; "
            if LABELS[design.kind].one_of_a_group and not _alike(sheet, named, name):
                message += (
                    "their responses differ, so that they are no group: keep one sample of each"
                )
            else:
                message += f"set {_setting(named, name, design)}: {name}"
                message += "" if design.studies else " and splits.scheme: stratified_group_kfold"
            at = f"{place}, column '{name}'"
            yield Problem(at, message, "warning", "samples_of_one_unit", "data.group")


def _setting(named: pd.DataFrame, name: str, design: Design) -> str:
    """Return ``"data.pair"`` if each unit has one sample of each class, else ``"data.group"``."""
    if design.classes is None or len(design.classes) != 2 or design.studies:
        return "data.group"
    of_unit = named.groupby(name)[design.label]
    matched = (of_unit.size() == 2).all() and (of_unit.nunique() == 2).all()
    return "data.pair" if matched else "data.group"


MIN_UNITS = 6
"""Values of a column of patients; of fewer it may be another name of the classes."""
MIN_UNITS_OF_CLASS = 3
"""Values in each class; subtypes of tumours are in one class alone."""
MAX_UNIT_SIZE = 5
"""Samples of one patient, as a mean, unless all have the same number; kinds have more samples."""
BY_CHANCE = 1e-4
BY_CHANCE_OF_EQUAL_SIZE = 1e-2
"""Probability of one response in each value, below which it is no chance; values of a kind that
all have the same number of samples are hardly one."""
MIN_UNITS_CALLED_AS_CLASSES = 9
"""Values that have the word of their class in them, such as control_01; fewer are its kinds."""


def _valued_units(sheet: Sheet, place: str) -> Iterator[Problem]:
    """Yield the column, if any, whose values repeat and have one response each."""
    design = sheet.design
    taken = {design.label, design.event, design.batch, design.group, design.pair, design.weights}
    taken |= {covariate.column for covariate in design.covariates}
    shown = [str(word) for word in RESPONSES[design.kind].label_cells(sheet.obs, design)]
    n_units: dict[str, int] = {}
    for name in map(str, sheet.obs.columns):
        if name in taken or is_covariate(name):
            continue
        cells = _within_studies(sheet, name)
        named = sheet.obs[[cell is not None for cell in cells]]
        if _are_units(cells, shown, sheet) and _straddles(named, name, design.group):
            n_units[name] = len({cell for cell in cells if cell is not None})
    if n_units:
        name = max(n_units, key=lambda column: n_units[column])
        message = (
            f"each of its {n_units[name]} values has one response, as the samples of one patient"
            " have; samples of one value would stand on both sides of a split: if they belong "
            f"together, set data.group: {name}"
        )
        message += "" if design.studies else " and splits.scheme: stratified_group_kfold"
        at = f"{place}, column '{name}'"
        yield Problem(at, message, "warning", "samples_of_one_unit", "data.group")


def _within_studies(sheet: Sheet, name: str) -> list[str | None]:
    """Return a column's cells, None where missing; each study numbers its patients by itself."""
    cells = [None if is_missing(cell) else cell.strip() for cell in map(str, sheet.obs[name])]
    if not sheet.design.studies:
        return cells
    studies = map(str, sheet.obs[str(sheet.design.batch)])
    return [cell and f"{study} {cell}" for study, cell in zip(studies, cells, strict=True)]


def _are_units(cells: Sequence[str | None], shown: Sequence[str], sheet: Sheet) -> bool:
    """Tell whether values repeat with one response each, far more often than by chance.

    Decimals are measurements. So are whole numbers that rise or fall with the response.
    """
    rows: dict[str, list[int]] = {}
    for row, cell in enumerate(cells):
        if cell is not None:
            rows.setdefault(cell, []).append(row)
    sizes = [len(of_unit) for of_unit in rows.values()]
    repeated = [of_unit for of_unit in rows.values() if len(of_unit) > 1]
    if len(rows) < MIN_UNITS or not repeated:
        return False
    equal = len(set(sizes)) == 1
    if sum(sizes) > MAX_UNIT_SIZE * len(sizes) and not (equal and len(sizes) >= 2 * sizes[0]):
        return False
    if any(len({shown[row] for row in of_unit}) > 1 for of_unit in repeated):
        return False
    n_units = Counter(shown[of_unit[0]] for of_unit in rows.values())
    if any(n_units[name] < MIN_UNITS_OF_CLASS for name in sheet.design.classes or ()):
        return False
    if all(map(is_number, rows)) and _are_measurements(rows, sheet):
        return False
    if sheet.design.classes and _are_kinds(rows, sheet):
        return False
    known = [shown[row] for of_unit in rows.values() for row in of_unit]
    limit = BY_CHANCE_OF_EQUAL_SIZE if equal else BY_CHANCE
    return _chance_of_one_response(repeated, known) < limit


def _are_kinds(rows: Mapping[str, Sequence[int]], sheet: Sheet) -> bool:
    """Tell whether values are kinds of the classes: control_6h, or class and another column."""
    labels = list(map(str, sheet.obs[sheet.design.label]))
    called = sum(labels[of_unit[0]].casefold() in unit.casefold() for unit, of_unit in rows.items())
    if 2 * called > len(rows) and len(rows) < MIN_UNITS_CALLED_AS_CLASSES:
        return True
    unit_of_row = {row: unit for unit, of_unit in rows.items() for row in of_unit}
    for name in sheet.obs.columns:
        cells = list(map(str, sheet.obs[name]))
        units: dict[tuple[str, str], set[str]] = {}
        for row, unit in unit_of_row.items():
            units.setdefault((labels[row], cells[row]), set()).add(unit)
        few = 2 * len(set(cells)) <= len(rows)
        if few and name != sheet.design.label and all(len(of) == 1 for of in units.values()):
            return True
    return False


def _are_measurements(rows: Mapping[str, Sequence[int]], sheet: Sheet) -> bool:
    if any(float(cell) % 1 for cell in rows):
        return True
    kind = RESPONSES[sheet.design.kind]
    y = np.asarray(kind.plain(kind.read(sheet.obs, sheet.design)), float)
    if y.ndim > 1:
        y = y.argmax(axis=1)
    ordered = [y[list(rows[cell])].mean() for cell in sorted(rows, key=float)]
    steps = np.diff(ordered)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _chance_of_one_response(repeated: Sequence[Sequence[int]], shown: Sequence[str]) -> float:
    """Return the product of Σ_c C(n_c, s)/C(n, s) over values of s samples, n_c of response c."""
    counts = np.array(list(Counter(shown).values()), float)
    n = len(shown)
    log_chance = 0.0
    for of_unit in repeated:
        drawn = np.arange(len(of_unit))
        shares = np.clip(counts[:, None] - drawn, 0, None) / (n - drawn)
        log_chance += float(np.log(max(shares.prod(axis=1).sum(), 1e-300)))
    return float(np.exp(log_chance))


def _alike(sheet: Sheet, some: pd.DataFrame, name: str) -> bool:
    """Tell whether samples of one word in a column have one response, as a group must."""
    shown = RESPONSES[sheet.design.kind].label_cells(some, sheet.design)
    return bool(some.assign(shown=shown).groupby(name)["shown"].nunique().max() == 1)


def _repeats(named: pd.DataFrame, name: str, design: Design) -> bool:
    """Tell whether values repeat, other than one for all or as a second name of the classes."""
    if not named[name].duplicated().any() or len(set(named[name])) == 1:
        return False
    return design.classes is None or bool(named.groupby(design.label)[name].nunique().max() > 1)


def _straddles(named: pd.DataFrame, name: str, group: str | None) -> bool:
    if group is None or name == group:
        return group is None
    return bool(named.groupby(name)[group].nunique().max() > 1)
