"""IDAT files of methylation arrays and a manifest give beta and M values."""

import gzip
import tracemalloc

import numpy as np
import pytest
from array_files import COLOURS, IDS, MANIFEST, PROBES, array_files, idat, light, manifest
from hypothesis import given, settings
from hypothesis import strategies as st

from genesig.data.cohorts.new_matrix import read_new_samples
from genesig.data.files.formats.idat import parse_idat, read_idat_folder
from genesig.data.files.readers import read_matrix, read_unpacked
from genesig.errors import InvalidInput

INTACT_FILE = idat(IDS, range(100, 109))


def folder_with(path, *seeds, probes=MANIFEST):
    path.mkdir(exist_ok=True)
    for seed in seeds:
        for name, content in array_files(f"97_R0{seed}C01", light(seed)).items():
            (path / name).write_bytes(content)
    (path / "toy.csv").write_bytes(probes)
    return path


def test_a_file_says_addresses_means_and_the_array():
    array = parse_idat(INTACT_FILE, "f")
    assert array.name == ("9721367028", "R01C01")
    assert array.ids.tolist() == sorted(IDS.tolist())
    assert dict(zip(array.ids.tolist(), array.means.tolist(), strict=True)) == dict(
        zip(IDS.tolist(), range(100, 109), strict=True)
    )
    assert parse_idat(idat(IDS, IDS, leave=(402, 404)), "f").name == ()


@pytest.mark.parametrize("part", [None, "beta", "M"])
def test_values_are_the_closed_forms(tmp_path, part):
    matrix = read_matrix(folder_with(tmp_path, 1, 2), part)
    assert matrix.rows == ("cg01", "cg02", "cg03", "cg04")
    assert matrix.columns == ("97_R01C01", "97_R02C01")
    assert matrix.lines == (6, 7, 8, 9)
    assert matrix.doubt == "1 probe of genotypes (rs…): left out"
    for column, seed in enumerate((1, 2)):
        green, red = light(seed)
        pairs = [
            (green[11], red[11]),
            (green[13], green[12]),
            (red[15], red[14]),
            (green[16], red[16]),
        ]
        for row, (M, U) in enumerate(pairs):
            value = np.log2((M + 1) / (U + 1)) if part == "M" else M / (M + U + 100)
            assert matrix.cells[row, column] == pytest.approx(value, rel=1e-15)


def test_probes_that_an_array_lacks_are_left_out_and_counted(tmp_path):
    folder = folder_with(tmp_path, 1, 2)
    fewer = tuple(
        {k: v for k, v in means_of_channel.items() if k != 15} for means_of_channel in light(2)
    )
    for name, content in array_files("97_R02C01", fewer).items():
        (folder / name).write_bytes(content)
    matrix = read_matrix(folder)
    assert matrix.rows == ("cg01", "cg02", "cg04")
    assert matrix.doubt.startswith("1 probe of the manifest not on every array, 1 probe of geno")


def test_probe_names_come_from_ilmnid_or_name(tmp_path):
    twice = manifest({f"cg01_{k}": (11, None, "") for k in ("TC11", "BC21")})
    matrix = read_matrix(folder_with(tmp_path, 1, probes=twice))
    assert matrix.rows == ("cg01_TC11", "cg01_BC21")
    plain = manifest(
        PROBES,
        columns=("Name", *["AddressA_ID", "AddressB_ID"], "Infinium_Design_Type", "Color_Channel"),
    )
    assert read_matrix(folder_with(tmp_path, 1, probes=plain)).rows[0] == "cg01"


def test_manifest_with_ilmnid_does_not_miss_name(tmp_path):
    columns = ("IlmnID", "AddressA_ID", "AddressB_ID", "Infinium_Design_Type")
    with pytest.raises(InvalidInput, match="has no column 'Color_Channel'; "):
        read_matrix(folder_with(tmp_path, 1, probes=manifest(PROBES, columns=columns)))


def test_new_arrays_take_the_manifest_from_elsewhere(tmp_path):
    study = folder_with(tmp_path / "study", 1)
    new = folder_with(tmp_path / "new", 1, 2)
    (new / "toy.csv").unlink()
    for path in sorted(new.glob("*R01*")):
        (new / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    matrix = read_new_samples([str(new)], "M", str(study))
    assert matrix.columns == ("97_R01C01", "97_R02C01")
    np.testing.assert_array_equal(matrix.cells[:, :1], read_matrix(study, "M").cells)
    single_array = read_new_samples([str(new / "97_R02C01_Red.idat")], "M", str(study))
    np.testing.assert_array_equal(single_array.cells, matrix.cells[:, 1:])
    with pytest.raises(InvalidInput, match="two files of sample '97_R02C01'; keep one"):
        read_new_samples([str(new / "97_R02C01_Red.idat")] * 2, "M", str(study))


def test_a_sheet_may_name_either_file_of_an_array(tmp_path):
    folder = folder_with(tmp_path, 1, 2)
    files = {"P1": folder / "97_R02C01_Red.idat", "P2": folder / "97_R01C01_Grn.idat"}
    matrix = read_idat_folder(folder, read_unpacked, files, None)
    assert matrix.columns == ("P1", "P2")
    np.testing.assert_array_equal(matrix.cells[:, ::-1], read_matrix(folder).cells)


def test_file_cut_short_anywhere_is_refused():
    # What follows the last text that is read is not needed.
    end_of_header = INTACT_FILE.index(b"R01C01") + 6
    for length in range(end_of_header):
        with pytest.raises(InvalidInput) as caught:
            parse_idat(INTACT_FILE[:length], "f")
        assert len(caught.value.problems) == 1


@settings(max_examples=10 * settings().max_examples)
@given(data=st.data())
def test_a_file_with_altered_bytes_is_read_or_refused_in_one_line(data):
    broken = bytearray(INTACT_FILE)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(broken) - 1))
        instead = data.draw(
            st.sampled_from([b"", b"\xff" * 8, b"\0" * 4, b"\x7f\xff\xff\xff"])
            | st.binary(max_size=5)
        )
        broken[at : at + data.draw(st.integers(0, 5))] = instead
    refusal = ""
    try:
        array = parse_idat(bytes(broken), "f")
        assert len(array.ids) == len(array.means) > 0
    except InvalidInput as error:
        refusal = str(error)
    assert len(refusal.splitlines()) <= 1


@pytest.mark.slow
def test_memory_grows_with_the_files_and_no_faster(tmp_path):
    def peak(n):
        probes = {f"cg{k:08d}": (k, None, "") for k in range(1, n)}
        folder = tmp_path / str(n)
        folder.mkdir()
        (folder / "m.csv").write_bytes(manifest(probes))
        for colour in COLOURS:
            (folder / f"a_{colour}.idat").write_bytes(
                idat(range(1, n), [k % 999 for k in range(1, n)])
            )
        tracemalloc.start()
        read_matrix(folder)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak_bytes / sum(path.stat().st_size for path in folder.iterdir())

    small = peak(2_000)
    large = peak(16_000)
    assert large < 1.2 * small
    assert large < 8
