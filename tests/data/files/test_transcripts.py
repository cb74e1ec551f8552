"""PGF, CLF and MPS files give the same chip layout as the CDF file."""

import gzip
import tracemalloc

import numpy as np
import pytest
from array_files import (
    CLUSTERS,
    PAIRS,
    PROBE_SET_NAMES,
    SIZE,
    TRANSCRIPTS,
    cel_binary,
    transcript_files,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from genesig.data.cohorts.new_matrix import read_new_samples
from genesig.data.files.affy.layouts import parse_transcripts
from genesig.data.files.readers import read_matrix
from genesig.errors import InvalidInput

INTENSITY = np.arange(1.0, 31).reshape(5, 6)


def parse_library(files):
    return parse_transcripts(*zip(files, ("t.pgf", "t.clf", "t.mps"), strict=True))


@pytest.mark.parametrize("sequential", [None, 1])
def test_transcript_layout_is_that_of_its_cdf(sequential):
    layout = parse_library(transcript_files(CLUSTERS, [[24, 25]], *SIZE, sequential=sequential))
    assert (layout.n_columns, layout.n_rows, list(layout.names)) == (6, 5, PROBE_SET_NAMES)
    assert layout.chips == ("Toy", "Toy-v2")
    np.testing.assert_array_equal(layout.cells, PAIRS[:, :, 0].ravel())
    np.testing.assert_array_equal(layout.sets, np.repeat(range(4), 3))
    assert layout.left_out == "1 probe set of t.mps not of type main: left out"


def test_library_columns_are_read_in_any_order():
    pgf, clf, mps = TRANSCRIPTS
    pgf = pgf.replace(b"probe_id\ttype\tgc_count", b"type\tgc_count\tprobe_id")
    lines = [line.split(b"\t") for line in pgf.split(b"\n")]
    reordered = [[*r[:2], *r[3:5], r[2], *r[5:]] if r[:2] == [b"", b""] else r for r in lines]
    pgf = b"\n".join(b"\t".join(row) for row in reordered).replace(b"#%chip_type", b"#%chip")
    np.testing.assert_array_equal(parse_library((pgf, clf, mps)).cells, PAIRS[:, :, 0].ravel())
    _, clf, _ = transcript_files(CLUSTERS, [], *SIZE, sequential=0)
    np.testing.assert_array_equal(parse_library((pgf, clf, mps)).cells, PAIRS[:, :, 0].ravel() + 1)


def test_library_with_a_legacy_character_in_its_header_is_read():
    pgf, clf, mps = TRANSCRIPTS
    pgf = pgf.replace(b"#%chip_type", "#%author=Andr\u00e9\n#%chip_type".encode("latin-1"), 1)
    np.testing.assert_array_equal(parse_library((pgf, clf, mps)).cells, PAIRS[:, :, 0].ravel())


def test_listed_probe_place_overrides_the_order_of_the_header():
    pgf, clf, mps = transcript_files(CLUSTERS, [], *SIZE, sequential=1)
    parsed_places = parse_library((pgf, clf + b"1\t5\t4\n", mps))
    np.testing.assert_array_equal(parsed_places.cells, [29, *PAIRS[:, :, 0].ravel()[1:]])


def test_probe_of_two_clusters_is_in_both_and_once_in_each():
    layout = parse_library(transcript_files({"a": [[0, 1], [1, 2]], "b": [[2, 3]]}, [], *SIZE))
    assert [(layout.names[s], int(c)) for s, c in zip(layout.sets, layout.cells, strict=True)] == [
        ("a", 0),
        ("a", 1),
        ("a", 2),
        ("b", 2),
        ("b", 3),
    ]


def test_probe_types_are_found_among_several_and_before_arrows():
    pgf, clf, mps = TRANSCRIPTS
    pgf = (
        pgf.replace(b"100\tmain", b"100\tnormgene->exon:main")
        .replace(b"101\tmain", b"101\tmain->psrs")
        .replace(b"102\tmain", b"102\tdomain")
    )
    layout = parse_library((pgf.replace(b"pm:st", b"pm:target->st"), clf, mps))
    assert layout.names == ("0_at", "2_at", "3_at")
    assert layout.left_out.startswith("2 probe sets")


@pytest.mark.parametrize("index", range(3))
def test_file_cut_short_anywhere_is_refused(index):
    content = TRANSCRIPTS[index]
    # Neither the places of other probes nor a last row of clusters is missed.
    end = [content.find(b"\n105\tcontrol"), content.find(b"\n23\t"), len(content) - 1][index]
    line_ends = {k + 1 for k, byte in enumerate(content) if byte == 10} if index == 2 else set()
    for length in set(range(1, end)) - {k for k in line_ends if k >= content.index(b"1_at")}:
        files = [content[:length] if k == index else f for k, f in enumerate(TRANSCRIPTS)]
        with pytest.raises(InvalidInput) as caught:
            parse_library(files)
        assert len(caught.value.problems) == 1


@pytest.mark.parametrize("index", range(3))
@settings(max_examples=10 * settings().max_examples)
@given(data=st.data())
def test_a_file_with_altered_bytes_is_read_or_refused_in_one_line(index, data):
    broken = bytearray(TRANSCRIPTS[index])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(broken) - 1))
        instead = data.draw(
            st.sampled_from([b"", b"\t", b"\n", b"9" * 30, b"-1"]) | st.binary(max_size=5)
        )
        broken[at : at + data.draw(st.integers(0, 5))] = instead
    files = [bytes(broken) if k == index else f for k, f in enumerate(TRANSCRIPTS)]
    refusal = ""
    try:
        layout = parse_library(files)
        assert 0 <= layout.cells.min() <= layout.cells.max() < layout.n_columns * layout.n_rows
    except InvalidInput as error:
        refusal = str(error)
    assert len(refusal.splitlines()) <= 1


def test_a_folder_holds_arrays_and_library_files(tmp_path):
    for name, content in zip(
        ("Toy.r4.pgf", "Toy.r4.clf.gz", "Toy.r4.mps"), TRANSCRIPTS, strict=True
    ):
        packed = gzip.compress(content) if name.endswith(".gz") else content
        (tmp_path / name).write_bytes(packed)
    (tmp_path / "new").mkdir()
    for file in ("a.CEL", "b.CEL", "new/c.CEL"):
        (tmp_path / file).write_bytes(cel_binary(INTENSITY, "Toy-v2"))
    matrix = read_matrix(tmp_path)
    assert (matrix.columns, matrix.rows[:4]) == (("a", "b"), ("0_at", "0_at#2", "0_at#3", "1_at"))
    np.testing.assert_array_equal(matrix.cells[:, 0], 1 + PAIRS[:, :, 0].ravel())
    assert "1 probe set of" in matrix.doubt
    new = read_new_samples([str(tmp_path / "new")], None, str(tmp_path))
    assert (new.columns, new.rows) == (("c",), matrix.rows)


@pytest.mark.slow
def test_memory_grows_with_the_file_and_no_faster():
    def peak(n):
        files = transcript_files(
            {str(k): [[4 * k + i for i in range(4)]] for k in range(n)}, [], 4, n
        )
        tracemalloc.start()
        parse_library(files)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak_bytes / sum(map(len, files))

    small = peak(500)
    large = peak(4_000)
    assert large < 1.2 * small
    assert large < 8
