"""SummarizedExperiment and DESeqDataSet files are read, and broken .rds files are refused.

Vectors beside a matrix are read by their names.
"""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import r_files as r

from genesig.cli import main
from genesig.data.files.formats.summarized import read_col_data
from genesig.data.files.readers import read_genes, read_matrix, read_samples
from genesig.errors import InvalidInput

pytest.importorskip("rdata")

ASSAY_GENES = [f"g{k}" for k in range(1, 7)]
ASSAY_SAMPLES = [f"S{k:02d}" for k in range(12)]
STATES = ["ill" if k % 2 else "well" for k in range(12)]
COUNTS = np.random.default_rng(3).poisson(40, (6, 12)).astype(float)
MATRIX = r.matrix(COUNTS.tolist(), (ASSAY_GENES, ASSAY_SAMPLES), as_table=True)
SHIFTED_COUNTS = r.matrix((COUNTS + 0.5).tolist(), None)
ABOUT = r.table(
    {"state": r.factor(STATES, ["well", "ill"]), "age": r.reals([40, 41.5, *range(10)])},
    ASSAY_SAMPLES,
    12,
)
ROWS = r.table(
    {
        "length": r.integers([r.NA, 2, 3, 4, 5, 6]),
        "symbol": r.strings(["A", None, *"CDEF"]),
        "kind": r.run_length(["p", "q"], [4, 2]),
        "exons": r.listed([r.NULL] * 6),
    },
    None,
    6,
)


def write_summarized(assays: bytes, name: str = "SummarizedExperiment", **slots: bytes) -> bytes:
    """Return the bytes of a SummarizedExperiment; its metadata hold a closure, which only R can."""
    parts = {
        "colData": ABOUT,
        "assays": assays,
        "NAMES": r.strings(ASSAY_GENES),
        "elementMetadata": ROWS,
        "metadata": r.listed([r.closure()]),
    }
    return r.saved(r.of_class(name, "SummarizedExperiment", **(parts | slots)))


def write_with_ranges(assays: bytes, name: str = "DESeqDataSet") -> bytes:
    """Return the bytes of one whose rows are ranges, which have their names and their columns."""
    return write_summarized(
        assays,
        name,
        NAMES=r.NULL_SLOT,
        rowRanges=r.ranges(ASSAY_GENES, ROWS, 6),
        elementMetadata=r.table({}, None, 6),
        dispersionFunction=r.closure(),
        design=r.closure(),
    )


SETS = {
    "one assay": (write_summarized(r.simple_assays({"counts": MATRIX})), None),
    "an assay without a name": (write_summarized(r.simple_assays({"": MATRIX})), None),
    "one of two assays": (
        write_summarized(r.simple_assays({"tpm": SHIFTED_COUNTS, "counts": MATRIX})),
        "counts",
    ),
    "a sparse assay": (
        write_summarized(
            r.simple_assays({"counts": r.sparse(COUNTS.tolist(), (ASSAY_GENES, ASSAY_SAMPLES))})
        ),
        None,
    ),
    "a data.frame": (
        write_summarized(
            r.simple_assays(
                {
                    "counts": r.data_frame(
                        {
                            name: r.reals(COUNTS[:, k].tolist())
                            for k, name in enumerate(ASSAY_SAMPLES)
                        },
                        ASSAY_GENES,
                    )
                }
            )
        ),
        None,
    ),
    "a DESeqDataSet": (
        write_with_ranges(r.simple_assays({"mu": SHIFTED_COUNTS, "counts": MATRIX})),
        None,
    ),
    "an old DESeqDataSet": (
        write_with_ranges(r.shallow_assays({"counts": MATRIX, "mu": SHIFTED_COUNTS})),
        None,
    ),
    "packed by xz": (
        lzma.compress(gzip.decompress(write_summarized(r.simple_assays({"counts": MATRIX})))),
        None,
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_expression_set_has_matrix_and_both_tables(name: str, tmp_path: Path) -> None:
    content, part = SETS[name]
    path = tmp_path / "se.rds"
    path.write_bytes(content)
    matrix = read_matrix(path, part)
    assert (list(matrix.rows), list(matrix.columns)) == (ASSAY_GENES, ASSAY_SAMPLES)
    np.testing.assert_array_equal(matrix.cells, COUNTS)
    about = read_samples(path, None, part)
    rows = read_genes(path, part)
    assert about["state"].to_dict() == dict(zip(ASSAY_SAMPLES, STATES, strict=True))
    assert about["age"].tolist()[:3] == ["40", "41.5", "0"]
    assert list(rows.columns) == ["length", "symbol", "kind"]
    assert rows["symbol"].to_dict() == dict(zip(ASSAY_GENES, ["A", "", *"CDEF"], strict=True))
    assert rows["kind"].tolist() == ["p"] * 4 + ["q"] * 2
    assert rows["length"].tolist() == ["", "2", "3", "4", "5", "6"]


def test_samples_without_names_are_numbered_alike_in_matrix_and_table(tmp_path: Path) -> None:
    numbers = [str(k) for k in range(1, 13)]
    unnamed = r.table({"state": r.factor(STATES, ["well", "ill"])}, None, 12)
    path = tmp_path / "se.rds"
    path.write_bytes(write_summarized(r.simple_assays({"counts": SHIFTED_COUNTS}), colData=unnamed))
    assert list(read_matrix(path).columns) == numbers
    about = read_samples(path, None, None)
    assert about["state"].to_dict() == dict(zip(numbers, STATES, strict=True))
    assert read_col_data(object(), "se.rds").cells.shape == (0, 0)  # an object without colData


def test_missing_whole_numbers_are_missing(tmp_path: Path) -> None:
    cells = [[1.0, np.nan], [3.0, 4.0]]
    for names in (None, (ASSAY_GENES[:2], ASSAY_SAMPLES[:2])):
        assays = r.simple_assays({"counts": r.matrix(cells, names, as_table=True)})
        two = r.table({}, ASSAY_SAMPLES[:2], 2)
        (tmp_path / "a.rds").write_bytes(
            write_summarized(assays, NAMES=r.strings(ASSAY_GENES[:2]), colData=two)
        )
        np.testing.assert_array_equal(read_matrix(tmp_path / "a.rds").cells, cells)


def test_deseqdataset_file_passes_validate_and_init(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dds.rds").write_bytes(
        write_with_ranges(r.simple_assays({"counts": MATRIX, "mu": SHIFTED_COUNTS}))
    )
    Path("c.yaml").write_text(
        "expression: dds.rds\nsamples: dds.rds\nlabel: state\n"
        "data: {annotation: dds.rds, symbol: symbol}\n"
        "splits: {folds: 3, inner_folds: 2, repeats: 1, subsamples: 4}\n"
        "normalise: {samples: [{step: log_cpm}]}\n"
    )
    assert main(["validate", "c.yaml"]) == 0, capsys.readouterr().err
    assert "12 samples (6 ill, 6 well; positive: well), 6 genes" in capsys.readouterr().out
    assert main(["init", "new", "-e", "dds.rds"]) == 0
    assert "log_cpm" in Path("new/config.yaml").read_text()


def _intact_file(**slots: bytes) -> bytes:
    return write_summarized(r.simple_assays({"counts": MATRIX}), **slots)


def _with_assay(assay: bytes) -> bytes:
    return write_summarized(r.simple_assays({"counts": assay}))


INTACT_FILE = _intact_file()
HDF5 = r.of_class("DelayedMatrix", "DelayedArray", seed=r.of_class("HDF5ArraySeed", "HDF5Array"))
FIVE_ROWS = COUNTS[:5].tolist()
BROKEN_R_FILES: dict[str, tuple[bytes, str]] = {
    "cut off": (INTACT_FILE[:-40], "the gzip file is truncated"),
    "cut off inside": (gzip.compress(gzip.decompress(INTACT_FILE)[:700]), "is it truncated?"),
    "nothing": (b"", "is empty"),
    "text": (b"gene\tS00\ng1\t1\n", "cannot be read as R data"),
    "packed on and on": (gzip.compress(gzip.compress(INTACT_FILE)), "is packed three times over"),
    "a bomb": (30 * gzip.compress(bytes(1_000_000)), "unpacks to more than 100 times its size"),
    "a bomb inside": (
        gzip.compress(90 * lzma.compress(bytes(1_000_000))),
        "unpacks to more than 100 times its size",
    ),
    "a sequence without end": (r.saved(r.sequence(1e15)), "a sequence longer than any data"),
    "a function": (r.saved(r.closure()), "cannot be read"),
    "bytes": (r.saved(r._int(r.RAW, 2) + b"ab"), "R objects that cannot be read outside R"),
    "two assays": (
        write_summarized(r.simple_assays({"tpm": SHIFTED_COUNTS, "logs": MATRIX})),
        "holds 2 assays: 'tpm', 'logs'; choose one by data.part",
    ),
    "no assay": (write_summarized(r.simple_assays({})), "holds no assay"),
    "an assay outside the file": (_with_assay(HDF5), "is of class 'DelayedMatrix', no matrix"),
    "an assay of words": (_with_assay(r.strings(["a"])), "no matrix of numbers"),
    "genes without names": (
        write_summarized(r.simple_assays({"counts": SHIFTED_COUNTS}), NAMES=r.NULL_SLOT),
        "the rows have no names",
    ),
    "fewer genes than names": (
        _with_assay(r.matrix(FIVE_ROWS, None)),
        "assay 'counts' is 5 × 12, for 6 genes and 12 samples",
    ),
    "a short column": (
        _intact_file(colData=r.table({"state": r.strings(["a"])}, ASSAY_SAMPLES, 12)),
        "column 'state' is not as long as there are samples (12)",
    ),
    "runs without end": (
        _intact_file(
            colData=r.table({"state": r.run_length(["a"], [2**31 - 1])}, ASSAY_SAMPLES, 12)
        ),
        "'state' is not as long as there are",
    ),
    "runs of a negative length": (
        _intact_file(
            colData=r.table({"state": r.run_length(["a", "b"], [13, -1])}, ASSAY_SAMPLES, 12)
        ),
        "'state' is not as long as there are",
    ),
    "more runs than values": (
        _intact_file(colData=r.table({"state": r.run_length(["a"], [6, 6])}, ASSAY_SAMPLES, 12)),
        "'state' is not as long as there are",
    ),
    "a sparse matrix that leads out of itself": (
        _with_assay(
            r.sparse(COUNTS.tolist(), (ASSAY_GENES, ASSAY_SAMPLES), i=r.integers([7] * 72))
        ),
        "is a damaged sparse matrix",
    ),
    "a sparse matrix of any size": (
        _with_assay(
            r.sparse(COUNTS.tolist(), (ASSAY_GENES, ASSAY_SAMPLES), Dim=r.integers([2**31 - 1] * 2))
        ),
        "holds more than",
    ),
}


@pytest.mark.parametrize("name", BROKEN_R_FILES)
def test_broken_file_is_refused_in_one_line(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    content, words = BROKEN_R_FILES[name]
    monkeypatch.chdir(tmp_path)
    Path("se.rds").write_bytes(content)
    Path("c.yaml").write_text("expression: se.rds\nsamples: se.rds\nlabel: state\n")
    assert main(["validate", "c.yaml"]) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert len(lines) == 1
    assert lines[0].startswith("error: se.rds")
    assert words in lines[0]


def test_missing_assay_is_named(tmp_path: Path) -> None:
    (tmp_path / "se.rds").write_bytes(INTACT_FILE)
    with pytest.raises(InvalidInput, match="'count' is not one of its assays; did you mean 'coun"):
        read_matrix(tmp_path / "se.rds", "count")


SMALL = """
import sys
from genesig import machine
from genesig.data.files.formats import rdata
from genesig.data.files.readers import read_matrix
machine.memory = rdata.memory = lambda: 40_000_000
read_matrix(sys.argv[1])
"""


@pytest.mark.slow
def test_objects_that_need_more_than_half_of_memory_are_refused(tmp_path: Path) -> None:
    """Less than 2 MB of empty texts become 200,000 Python objects; 20 MB are allowed.

    In a process of its own: one that has run other tests has memory left from them.
    """
    (tmp_path / "e.rds").write_bytes(r.saved(r.strings([""] * 200_000), packed=False))
    command = [sys.executable, "-c", SMALL, str(tmp_path / "e.rds")]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "takes more than half of the 40 MB" in process.stderr


def test_r_code_is_not_run_and_memory_limit_is_restored(tmp_path: Path) -> None:
    import resource

    before: Any = resource.getrlimit(resource.RLIMIT_AS)
    (tmp_path / "se.rds").write_bytes(INTACT_FILE)  # the closure in its metadata calls stop()
    read_matrix(tmp_path / "se.rds")
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.mark.parametrize("kind", ["numbers", "words", "factor", "ordered factor"])
def test_vector_beside_a_matrix_is_read_by_its_names(kind: str, tmp_path: Path) -> None:
    ages = [*map(str, range(40, 40 + len(ASSAY_SAMPLES)))]
    names = r.strings(ASSAY_SAMPLES[::-1])
    values = ages[::-1]
    vector = {
        "numbers": r.integers([*map(int, values)], names=names),
        "words": r.strings(values, names=names),
        "factor": r.factor(values, ages, names=names),
        "ordered factor": r.factor(values, ages, ordered=True, names=names),
    }[kind]
    path = tmp_path / "list.rds"
    path.write_bytes(r.saved(r.listed([MATRIX, vector], ["x", "age"])))
    table = read_samples(path, None, None)
    assert table["age"].to_dict() == dict(zip(ASSAY_SAMPLES, ages, strict=True))


@pytest.mark.parametrize("kind", ["words", "factor"])
def test_missing_word_with_a_name_is_empty(kind: str, tmp_path: Path) -> None:
    words = ["ill", None, *["well"] * (len(ASSAY_SAMPLES) - 2)]
    names = r.strings(ASSAY_SAMPLES[::-1])
    vector = (
        r.strings(words, names=names)
        if kind == "words"
        else r.factor(words, ["ill", "well"], names=names)
    )
    path = tmp_path / "list.rds"
    path.write_bytes(r.saved(r.listed([MATRIX, vector], ["x", "state"])))
    states = read_samples(path, None, None)["state"]
    assert states.tolist() == ["well"] * (len(words) - 2) + ["", "ill"]


def test_columns_with_names_are_read_in_the_order_of_their_table(tmp_path: Path) -> None:
    names = r.strings(ASSAY_SAMPLES[::-1])  # R ignores names within a data.frame
    words = [f"state {number}" for number in range(len(ASSAY_SAMPLES))]
    frame = r.data_frame(
        {"word": r.strings(words, names=names), "factor": r.factor(words, words, names=names)},
        ASSAY_SAMPLES,
    )
    path = tmp_path / "frame.rds"
    path.write_bytes(r.saved(frame))
    table = read_samples(path, None, None)
    assert table["word"].tolist() == table["factor"].tolist() == words


def test_vector_with_some_other_names_is_refused(tmp_path: Path) -> None:
    names = [*ASSAY_SAMPLES[1:], "stranger"]
    vector = r.strings(["ill"] * len(names), names=r.strings(names))
    path = tmp_path / "list.rds"
    path.write_bytes(r.saved(r.listed([MATRIX, vector], ["x", "state"])))
    with pytest.raises(InvalidInput, match=f"vector state has no value for '{ASSAY_SAMPLES[0]}'"):
        read_samples(path, None, None)


def test_names_that_all_differ_leave_the_order_of_the_file(tmp_path: Path) -> None:
    words = [f"state {number}" for number in range(len(ASSAY_SAMPLES))]
    patients = r.strings([f"patient {number}" for number in range(len(words))])
    path = tmp_path / "list.rds"
    vector = r.strings(words, names=patients)
    path.write_bytes(r.saved(r.listed([MATRIX, vector], ["x", "state"])))
    assert read_samples(path, None, None)["state"].tolist() == words


def test_names_of_a_vector_are_ignored_beside_samples_without_names(tmp_path: Path) -> None:
    numbers = [*map(str, range(len(ASSAY_SAMPLES), 0, -1))]  # as y[i] keeps them in R
    words = [f"state {number}" for number in numbers]
    unnamed_matrix = r.matrix(COUNTS.tolist(), (ASSAY_GENES, ()))
    vector = r.strings(words, names=r.strings(numbers))
    path = tmp_path / "list.rds"
    path.write_bytes(r.saved(r.listed([unnamed_matrix, vector], ["x", "state"])))
    assert read_samples(path, None, None)["state"].tolist() == words


@pytest.mark.parametrize("order", ["file", "other"])
def test_repeated_names_of_a_vector_need_the_order_of_the_matrix(
    order: str, tmp_path: Path
) -> None:
    genes = ["A", "A", *(f"gene {number}" for number in range(10))]
    words = [f"symbol {number}" for number in range(len(genes))]
    names = genes if order == "file" else genes[::-1]
    matrix = r.matrix(COUNTS.T.tolist(), (genes, ASSAY_GENES))
    vector = r.strings(words, names=r.strings(names))
    path = tmp_path / "list.rds"
    path.write_bytes(r.saved(r.listed([matrix, vector], ["x", "symbol"])))
    if order == "file":
        assert read_genes(path, None)["symbol"].tolist() == words
    else:
        with pytest.raises(InvalidInput, match="vector symbol has names that come twice"):
            read_genes(path, None)


def test_list_without_names_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "list.rds"
    path.write_bytes(r.saved(r.listed([MATRIX, r.strings(["ill", "well"])])))
    with pytest.raises(InvalidInput, match="holds an object of class 'list'"):
        read_matrix(path, None)


@pytest.mark.parametrize("is_inside", [False, True])
def test_column_name_that_comes_twice_is_refused(is_inside: bool, tmp_path: Path) -> None:
    frame = r.data_frame({"S1": r.reals([1.0, 2.0]), "S2": r.reals([3.0, 4.0])}, ["g1", "g2"])
    frame = frame.replace(r.characters("S2"), r.characters("S1"))
    if is_inside:  # in a slot of a slot
        about = r.of_class("AnnotatedDataFrame", "Biobase", data=frame)
        frame = r.of_class("ExpressionSet", "Biobase", phenoData=about)
    path = tmp_path / "frame.rds"
    path.write_bytes(r.saved(frame))
    with pytest.raises(InvalidInput, match=r"column 'S1' of the data\.frame comes twice"):
        read_matrix(path, None)
