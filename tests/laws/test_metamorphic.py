"""Equivalent files of a study give equal results, for all kinds of response.

Choices, lists and order must be the same, numbers to 1e-9 of the largest of their column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from metamorphic import GENE_TABLES as GENES
from metamorphic import (
    N_GENES,
    Files,
    Found,
    Tables,
    by_gene,
    classes_called,
    divided,
    files_of,
    forest,
    found,
    genes_times,
    renamed,
    response_times,
)
from threadpoolctl import threadpool_limits

Studies = tuple[tuple[str, str], ...]
PLAIN_STUDIES: Studies = tuple(
    (kind, "plain") for kind in ("classification", "several_classes", "regression", "survival")
)
DESIGNED: Studies = (
    ("classification", "pairs"),
    ("classification", "weights"),
    ("several_classes", "groups"),
    ("several_classes", "covariates"),
    ("regression", "batches"),
    ("regression", "groups"),
    ("regression", "covariates"),
    ("survival", "covariates"),
    ("survival", "weights"),
)
OF_CLASSES: Studies = (*PLAIN_STUDIES[:2], *DESIGNED[:3])
OF_NUMBERS: Studies = (PLAIN_STUDIES[2], *DESIGNED[4:6])
CLOSE = 1e-9
GENE_NAMES = list(files_of("regression").X.columns)
RNG = np.random.default_rng(1)
SIGNS = RNG.choice([-1.0, 1.0], N_GENES)
POWERS = 3.0 ** RNG.integers(-20, 20, N_GENES)
SHIFTS = RNG.uniform(-30, 30, N_GENES)
EXCHANGED = {"ill": "well", "well": "ill"}


@dataclass(frozen=True)
class Row:
    """A change of the files; from tables of the changed study and the plain one to the plain."""

    change: Callable[[Files], Files]
    undo: Callable[[Tables, Tables], Tables] = lambda tables, plain: tables
    studies: Studies = PLAIN_STUDIES


def shuffled(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    return frame.iloc[np.random.default_rng(seed).permutation(len(frame))]


def reordered(files: Files) -> Files:
    X = shuffled(shuffled(files.X, 1).T, 2).T
    samples = shuffled(files.samples, 3)
    samples = shuffled(samples.T, 4).T
    genes = shuffled(files.genes, 5)
    return replace(files, X=X, samples=samples, genes=genes, samples_in="rows")


def with_constant_genes(files: Files) -> Files:
    X = files.X.copy()
    for place, (name, value) in enumerate({"G0": 0.0, "G4505": -3.5, "Z": 1e80}.items()):
        X.insert(20 * place, name, value)
    return replace(files, X=X)


REORDERED: dict[str, Callable[[Files], Files]] = {
    "genes": lambda files: replace(files, X=shuffled(files.X.T, 1).T),
    "samples of the matrix": lambda files: replace(files, X=shuffled(files.X, 1)),
    "samples of their table": lambda files: replace(files, samples=shuffled(files.samples, 1)),
    "rows of the gene table": lambda files: replace(files, genes=shuffled(files.genes, 1)),
    "columns of the sample table": lambda f: replace(f, samples=f.samples.iloc[:, ::-1]),
    "orientation": lambda files: replace(files, samples_in="rows"),
    "constant genes": with_constant_genes,
    "everything": reordered,
}


def samples_renamed() -> Row:
    names = sorted(files_of("regression").X.index)
    new = {name: f"x{k:02d}" for k, name in enumerate(names)}
    return Row(
        lambda f: replace(f, X=f.X.rename(index=new), samples=f.samples.rename(index=new)),
        lambda tables, _: renamed(tables, ("sample",), {new[name]: name for name in names}),
    )


def genes_renamed() -> Row:
    """Rename in another order of names; of the two that are alike, the first one stays so."""
    order = np.random.default_rng(8).permutation(N_GENES)
    new = dict(zip(sorted(GENE_NAMES), (f"y{k:02d}" for k in order), strict=True))
    low_name, high_name = sorted((GENE_NAMES[0], GENE_NAMES[39]))
    new[low_name], new[high_name] = sorted((new[low_name], new[high_name]))
    old = {name: gene for gene, name in new.items()}
    return Row(
        lambda f: replace(f, X=f.X.rename(columns=new), genes=f.genes.rename(new)),
        lambda tables, _: by_gene(renamed(tables, GENES, old)),
    )


def scaled(scale: np.ndarray) -> Row:
    factor = dict(zip(GENE_NAMES, scale.tolist(), strict=True))
    return Row(lambda f: replace(f, X=f.X * scale), lambda tables, _: genes_times(tables, factor))


def classes_exchanged(files: Files) -> Files:
    state = files.samples["state"].replace(EXCHANGED)
    return replace(files, samples=files.samples.assign(state=state))


def called_back(tables: Tables, plain: Tables) -> Tables:
    back = classes_called(tables, EXCHANGED, plain)
    return back if "class" in back["signature"] else response_times(back, -1.0)


def numbers_times(factor: float) -> Row:
    def change(files: Files) -> Files:
        state = [repr(factor * float(cell)) for cell in files.samples["state"]]
        return replace(files, samples=files.samples.assign(state=state))

    return Row(
        change,
        lambda tables, plain: labels_of(response_times(tables, 1 / factor), plain),
        OF_NUMBERS,
    )


def in_days(files: Files) -> Files:
    state = [repr(365.25 * float(cell)) for cell in files.samples["state"]]
    samples = files.samples.assign(state=state)
    data = {**files.data, "horizon": 365.25}
    return replace(files, samples=samples, data=data)


def labels_of(tables: Tables, plain: Tables) -> Tables:
    """Take the words of the label from the plain study; they are not found, but given."""
    label = plain["predictions"]["label"]
    return tables | {"predictions": tables["predictions"].assign(label=label)}


ROWS = {
    "samples renamed in order": samples_renamed(),
    "genes renamed": genes_renamed(),
    "x times 1e-100": scaled(np.full(N_GENES, 1e-100)),
    "x times 1e90": scaled(np.full(N_GENES, 1e90)),
    "each gene by a factor": scaled(POWERS),
    "genes with the other sign": scaled(SIGNS),
    "each gene shifted": Row(lambda files: replace(files, X=files.X + SHIFTS)),
    "classes exchanged": Row(classes_exchanged, called_back, OF_CLASSES),
    "y times -2": numbers_times(-2.0),
    "y times -3.7": numbers_times(-3.7),
    "days for years": Row(in_days, labels_of, (PLAIN_STUDIES[3], DESIGNED[8])),
    "two jobs": Row(lambda files: replace(files, jobs=2)),
}
OF_FOREST = {"classes exchanged": (*PLAIN_STUDIES[:2], DESIGNED[2]), "y times -2": OF_NUMBERS[:1]}


@cache
def plain(study: tuple[str, str]) -> Found:
    return found(files_of(*study))


def assert_alike(tables: Tables, expected: Tables) -> None:
    """Floats may differ by what rounding leaves; words, counts, and where there is none, not."""
    for name, table in expected.items():
        assert list(tables[name].columns) == list(table.columns)
        for column in table:
            own_column = tables[name][column]
            table_column = table[column]
            if table_column.dtype.kind == "f" and own_column.dtype.kind == "f":
                atol = CLOSE * table_column.abs().max() if table_column.notna().any() else 0.0
                np.testing.assert_allclose(
                    own_column, table_column, 0, atol, err_msg=f"{name}, {column}"
                )
            else:
                pd.testing.assert_series_equal(
                    own_column, table_column, check_dtype=False, obj=f"{name}"
                )


def assert_same(results: Found, expected_results: Found) -> None:
    np.testing.assert_array_equal(results.rows, expected_results.rows)
    np.testing.assert_array_equal(results.choices, expected_results.choices)
    assert_alike(results.tables, expected_results.tables)


def cases(rows: dict[str, Studies]) -> pytest.MarkDecorator:
    """Give each row its studies; each takes its turn with one plain kind, the others their time."""
    listed = []
    for k, (name, studies) in enumerate(rows.items()):
        plain_studies = [study for study in studies if study in PLAIN_STUDIES]
        for study in studies:
            marks = [pytest.mark.slow] if study != plain_studies[k % len(plain_studies)] else []
            listed.append(pytest.param(name, study, id="-".join((name, *study)), marks=marks))
    return pytest.mark.parametrize(("name", "study"), listed)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("name", "study"),
    [(name, study) for name in REORDERED for study in PLAIN_STUDIES]
    + [("everything", study) for study in DESIGNED],
)
def test_order_changes_no_byte_of_a_data_set_and_no_split(name, study):
    files = files_of(*study)
    (dataset, splits) = divided(files)
    (reordered_dataset, drawn) = divided(REORDERED[name](files))
    assert dataset.samples == sorted(files.samples.index)
    assert dataset.X.tobytes() == reordered_dataset.X.tobytes()
    pd.testing.assert_frame_equal(dataset.obs, reordered_dataset.obs[dataset.obs.columns])
    pd.testing.assert_frame_equal(dataset.var, reordered_dataset.var)
    assert dataset.design == reordered_dataset.design
    assert splits == drawn


@pytest.mark.slow
@cases({"everything": PLAIN_STUDIES + DESIGNED})
def test_order_changes_no_result(name, study):
    assert_same(found(REORDERED[name](files_of(*study))), plain(study))


@pytest.mark.slow
@cases({name: row.studies for name, row in ROWS.items()})
def test_equivalent_files_give_equal_results(name, study):
    row = ROWS[name]
    plain_results = plain(study)
    changed_results = found(row.change(files_of(*study)))
    assert_same(
        replace(changed_results, tables=row.undo(changed_results.tables, plain_results.tables)),
        plain_results,
    )


@pytest.mark.slow
@cases(OF_FOREST)
def test_a_forest_votes_the_same(name, study):
    """Where no rounding is: it decides between splits of a node that are equally good."""
    files = files_of(*study)
    tables = plain(study).tables
    plain_forest, changed_forest = (
        {"baselines": forest(input_files)} for input_files in (files, ROWS[name].change(files))
    )
    back = ROWS[name].undo(tables | changed_forest, tables | plain_forest)
    assert_alike({"baselines": back["baselines"]}, plain_forest)


@pytest.mark.slow
@pytest.mark.parametrize("study", PLAIN_STUDIES[:1], ids="-".join)
def test_threads_change_nothing(study):
    with threadpool_limits(2):
        two = found(files_of(*study))
    with threadpool_limits(1):
        assert_same(found(files_of(*study)), two)
