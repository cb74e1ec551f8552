"""Files of scanners, made from numbers: Affymetrix, Illumina, and raw studies of both."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

# Affymetrix files as the scanner's software writes them, made from arrays of numbers.

CDF_CELL = np.dtype(
    [
        ("atom", "<i4"),
        ("x", "<u2"),
        ("y", "<u2"),
        ("index", "<i4"),
        ("probe", "S1"),
        ("target", "S1"),
    ]
)
CEL_CELL = np.dtype([("mean", "<f4"), ("deviation", "<f4"), ("pixels", "<i2")])


def cel_text(intensity, chip="Toy"):
    """Return a version 3 CEL file of (rows, columns) intensities."""
    rows, columns = intensity.shape
    lines = [
        f" {x}\t{y}\t{intensity[y, x]:.1f}\t1.0\t 25" for y in range(rows) for x in range(columns)
    ]
    head = ["[CEL]", "Version=3", "", "[HEADER]", f"Cols={columns}", f"Rows={rows}"]
    head += [f"DatHeader=[1..2]  a sample:CLS=9 \x14  \x14 {chip}.1sq \x14", "", "[INTENSITY]"]
    head += [f"NumberCells={rows * columns}", "CellHeader=X\tY\tMEAN\tSTDV\tNPIXELS"]
    tail = ["", "[MASKS]", "NumberCells=0", "CellHeader=X\tY", ""]
    return "\r\n".join(head + lines + tail).encode("latin-1")


def cel_binary(intensity, chip="Toy", version=4):
    """Return a version 4 CEL file."""
    rows, columns = intensity.shape
    header = f"Cols={columns}\nDatHeader=[1..2] a:CLS=9 \x14  \x14 {chip}.1sq \x14\n".encode(
        "latin-1"
    )
    cells = np.zeros(rows * columns, CEL_CELL)
    cells["mean"] = intensity.ravel()
    parts = [struct.pack("<5i", 64, version, columns, rows, rows * columns)]
    parts += [struct.pack("<i", len(text)) + text for text in (header, b"Percentile", b"a=1")]
    return b"".join([*parts, struct.pack("<iIIi", 2, 0, 0, 0), cells.tobytes()])


def cel_command_console(intensity, chip="Toy", table="Intensity", column=(6, 4), padding=0):
    """Return a Command Console CEL file with the table of intensities behind another one."""
    rows, columns = intensity.shape
    numbers = {"affymetrix-cel-cols": columns, "affymetrix-cel-rows": rows}
    header = [
        (key, struct.pack(f">i{padding}x", n), "text/x-calvin-integer-32")
        for key, n in numbers.items()
    ]
    header += [("affymetrix-array-type", chip.encode("utf-16-be"), "text/plain")]
    header += [("a-float", struct.pack(">f", 1.5), "text/x-calvin-float")]
    texts = [
        _affy_text(b"affymetrix-calvin-intensity"),
        _affy_text(b"1"),
        _wide(""),
        _wide("en-US"),
    ]
    generic = b"".join([*texts, _parameters(header), struct.pack(">i", 0)])
    start = 10 + len(generic)
    place = start + 12 + len(_wide(""))
    second_table, place = _affy_table("StdDev", np.ones(2), (6, 4), place)
    first_table, _ = _affy_table(table, intensity.ravel(), column, place)
    group = struct.pack(">IIi", 0, start + 12 + len(_wide("")), 2) + _wide("")
    return b"\x3b\x01" + struct.pack(">iI", 1, start) + generic + group + second_table + first_table


def _affy_table(name, values, column, place):
    head = (
        _wide(name)
        + _parameters([])
        + struct.pack(">I", 1)
        + _wide("")
        + struct.pack(">bi", *column)
    )
    data = place + 8 + len(head) + 4
    after = data + 4 * len(values)
    body = struct.pack(">I", len(values)) + values.astype(">f4").tobytes()
    return struct.pack(">II", data, after) + head + body, after


def _parameters(values):
    parameter = [_wide(name) + _affy_text(raw) + _wide(kind) for name, raw, kind in values]
    return struct.pack(">i", len(values)) + b"".join(parameter)


def _affy_text(raw):
    return struct.pack(">i", len(raw)) + raw


def _wide(text):
    return struct.pack(">i", len(text)) + text.encode("utf-16-be")


def cdf_binary(names, pairs, columns, rows, version=1, chips=("Toy.r2", "Toy")):
    """Return a binary CDF file; later versions have more about blocks, cells and the chip.

    `pairs` (n_sets, n_pairs, 2) holds the cells of a perfect match and its mismatch.
    """
    n_sets, n_pairs, _ = pairs.shape
    about_block = [b"", b"\1\0\2\0", b"\1\0\2\0\3\4", b"\1\0\2\0\3\4"][min(version, 4) - 1]
    extra_fields = [("length", "<u2"), ("grouping", "<u2")] if version > 1 else []
    cells = np.zeros((n_sets, n_pairs, 2), [*CDF_CELL.descr, *extra_fields])
    cells["atom"] = np.arange(n_pairs)[:, None]
    cells["x"] = pairs % columns
    cells["y"] = pairs // columns
    cells["probe"] = np.array([b"A", b"t"])
    cells["target"] = b"T"
    head = struct.pack("<ii", 67, version)
    if version > 3:
        texts = [struct.pack("<i", len(chip)) + chip.encode() for chip in chips]
        head += struct.pack("<i", 4) + b"guid" + b"m" * 32 + bytes([len(chips)]) + b"".join(texts)
    head += struct.pack("<HHiii", columns, rows, n_sets, 0, 0)
    unit = 20 + 82 + len(about_block) + 2 * n_pairs * cells.itemsize
    first_offset = len(head) + 68 * n_sets
    parts = [head, *(struct.pack("64s", name.encode()) for name in names)]
    parts += [struct.pack("<i", first_offset + k * unit) for k in range(n_sets)]
    for number, name in enumerate(names):
        parts.append(struct.pack("<HBiiiiB", 1, 1, n_pairs, 1, 2 * n_pairs, number, 2))
        parts.append(struct.pack("<iiBBii64s", n_pairs, 2 * n_pairs, 2, 1, 0, 9, name.encode()))
        parts += [about_block, cells[number].tobytes()]
    return b"".join(parts)


def cdf_text(names, pairs, columns, rows, chip="Toy"):
    """Return the same as a text file."""
    lines = ["[CDF]", "Version=GC3.0", "", "[Chip]", f"Name={chip}", f"Rows={rows}"]
    lines += [f"Cols={columns}", f"NumberOfUnits={len(names)}", "", "[QC1]", "Type=9"]
    lines += ["NumberCells=1", "CellHeader=X\tY\tPROBE", "Cell1=0\t0\tN", ""]
    for number, (name, unit) in enumerate(zip(names, pairs, strict=True), 1):
        lines += [f"[Unit{number}]", "Name=NONE", "NumCells=99", "NumberBlocks=1", ""]
        lines += [f"[Unit{number}_Block1]", f"Name={name}", f"NumCells={2 * len(unit)}"]
        lines += ["CellHeader=X\tY\tPBASE\tTBASE\tATOM"]
        cells = [
            (cell, probe, atom)
            for atom, pair in enumerate(unit)
            for cell, probe in zip(pair, "AT", strict=True)
        ]
        lines += [
            f"Cell{k}={cell % columns}\t{cell // columns}\t{probe}\tT\t{atom}"
            for k, (cell, probe, atom) in enumerate(cells, 1)
        ]
        lines += [""]
    return "\r\n".join(lines).encode("latin-1")


def transcript_files(clusters, controls, columns, rows, chip="Toy", sequential=None):
    """Return PGF, CLF and MPS files of the same layout.

    `clusters` is cluster -> list of probe sets, each a list of cells; `controls` is a list of
    probe sets of another type, which the last cluster lists, too. A cell has its number from 1 as
    the id of its probe. With `sequential` the CLF has no rows but says this of the numbers.
    """
    head = f"#%chip_type={chip}\n#%chip_type={chip}-v2\n#%lib_set_name={chip}\n"
    pgf = [head + "#%pgf_format_version=1.0", "#%header0=probeset_id\ttype\tprobeset_name"]
    pgf += ["#%header1=\tatom_id", "#%header2=\t\tprobe_id\ttype\tgc_count\tprobe_length"]
    mps = [head + "#%mps_format_version=1.0"]
    mps += ["probeset_id\ttranscript_cluster_id\tprobeset_list\tprobe_count"]
    number = 100
    atom = 1000
    for last_set, (name, sets) in enumerate(clusters.items(), 1 - len(clusters)):
        listed = []
        for cells in [*sets, *(controls if last_set == 0 else [])]:
            kind = "control->affx" if len(listed) >= len(sets) else "main"
            pgf.append(f"{number}\t{kind}\t")
            listed.append(str(number))
            for cell in cells:
                pgf += [f"\t{atom}", f"\t\t{cell + 1}\tpm:st\t12\t25"]
                pgf += [f"\t\t{(cell + 1) % (columns * rows) + 1}\tmm:st\t12\t25"]
                atom += 1
            number += 1
        mps.append(f"{name}\t{name}\t{' '.join(listed)}\t{sum(map(len, sets))}")
    clf = [head + "#%clf_format_version=1.0", f"#%rows={rows}", f"#%cols={columns}"]
    clf += [] if sequential is None else [f"#%sequential={sequential}", "#%order=col_major"]
    clf += ["#%header0=probe_id\tx\ty"]
    if sequential is None:
        clf += [f"{k + 1}\t{k % columns}\t{k // columns}" for k in range(columns * rows)]
    return tuple("".join(f"{line}\n" for line in lines).encode() for lines in (pgf, clf, mps))


FORMS = {"text": cel_text, "version 4": cel_binary, "Command Console": cel_command_console}

# The layout of a small chip in every form.
SIZE = 6, 5
PAIRS = np.arange(24).reshape(4, 3, 2)
PROBE_SET_NAMES = [f"{k}_at" for k in range(4)]
LAYOUTS = {"text": cdf_text(PROBE_SET_NAMES, PAIRS, *SIZE)} | {
    f"version {n}": cdf_binary(PROBE_SET_NAMES, PAIRS, *SIZE, version=n) for n in (1, 2, 3, 4)
}
# The same sets as clusters, the first of two probe sets, and one that is a control.
CLUSTERS = {
    name: [cells[:1], cells[1:]] if k == 0 else [cells]
    for k, (name, cells) in enumerate(zip(PROBE_SET_NAMES, PAIRS[:, :, 0].tolist(), strict=True))
}
TRANSCRIPTS = transcript_files(CLUSTERS, [[24, 25]], *SIZE)


# IDAT files and a manifest as Illumina's scanner and site have them, made from numbers.

COLOURS = ("Grn", "Red")
# What the other fields hold: standard deviations, beads, the ids once more, and texts.
TEXTS = {401: "", 402: "9721367028", 403: "BeadChip 8x5", 404: "R01C01", 405: "x" * 300}


def idat(ids, means, version=3, texts=None, leave=(), count=None):
    """Return an IDAT file: directory of fields, then the fields in another order."""
    n = len(ids)
    fields = {
        1000: struct.pack("<i", n if count is None else count),
        102: np.asarray(ids, "<i4").tobytes(),
        103: np.full(n, 7, "<u2").tobytes(),
        104: np.asarray(means, "<u2").tobytes(),
        107: np.full(n, 15, "u1").tobytes(),
        200: struct.pack("<i", n) + np.asarray(ids, "<i4").tobytes(),
        400: struct.pack("<i", 0),
        **{code: _idat_text(text) for code, text in (TEXTS | (texts or {})).items()},
        300: struct.pack("<i", 1)
        + b"".join(map(_idat_text, ["1/1/2011", "Scan", "a=1", "b", "1.0"])),
    }
    for code in leave:
        del fields[code]
    place = 4 + 8 + 4 + 10 * len(fields)
    head = b"IDAT" + struct.pack("<qi", version, len(fields))
    for code, content in fields.items():
        head += struct.pack("<Hq", code, place)
        place += len(content)
    return head + b"".join(fields.values())


def _idat_text(text):
    length = b""
    raw = text.encode("latin-1")
    n = len(raw)
    while n > 127:
        length = length + bytes([n & 127 | 128])
        n = n >> 7
    return length + bytes([n]) + raw


COLUMNS = (
    "IlmnID",
    "Name",
    "AddressA_ID",
    "AlleleA_ProbeSeq",
    "AddressB_ID",
    "Infinium_Design_Type",
    "Color_Channel",
    "UCSC_RefGene_Name",
)


def manifest(probes, columns=COLUMNS, name="IlmnID"):
    """Return a manifest: `probes` is probe -> (address A, address B or None, colour or '')."""
    lines = ["Illumina, Inc.,,,", "[Heading],,,", "Descriptor File Name,toy.csv", "[Assay],,,"]
    lines.append(",".join(columns))
    for probe, (address_a, second, colour) in probes.items():
        row = {
            name: probe,
            "Name": probe,
            "AddressA_ID": f"{address_a:010d}",
            "AlleleA_ProbeSeq": "ACGT",
            "AddressB_ID": "" if second is None else f"{second}",
            "Infinium_Design_Type": "II" if second is None else "I",
            "Color_Channel": colour,
            "UCSC_RefGene_Name": '"TP53;TP53"',
        }
        lines.append(",".join(row.get(column, "") for column in columns))
    lines += ["[Controls],,,", "27630314,STAINING,Red,DNP (High)", ""]
    return "\r\n".join(lines).encode()


# A small chip: a probe of each kind, one of a genotype, and beads of no probe.
PROBES = {
    "cg01": (11, None, ""),
    "cg02": (12, 13, "Grn"),
    "cg03": (14, 15, "Red"),
    "cg04": (16, None, ""),
    "rs05": (17, None, ""),
}
IDS = np.array([900, *range(17, 10, -1), 901])
MANIFEST = manifest(PROBES)


def light(seed, ids=IDS):
    """Return address -> mean, of green and of red."""
    rng = np.random.default_rng(seed)
    return tuple(
        dict(zip(ids.tolist(), rng.integers(0, 60_000, len(ids)).tolist(), strict=True))
        for _ in COLOURS
    )


def array_files(name, means, **changed):
    """Return the two files of an array: `means` is address -> mean of each colour."""
    return {
        f"{name}_{colour}.idat": idat(list(colour_means), list(colour_means.values()), **changed)
        for colour, colour_means in zip(COLOURS, means, strict=True)
    }


# Studies that begin with a scanner's files: two classes, of which the first genes differ.

SIDE = 50
N_CLUSTERS = 100
PROBES_PER_CLUSTER = 150
DIFFERENT = 6
CHIP = "Toy-1_0-st-v1"
LAYOUT = (
    np.random.default_rng(1).permutation(SIDE * SIDE)[: N_CLUSTERS * 8].reshape(N_CLUSTERS, 2, 4)
)
LIBRARY = dict(
    zip(
        (f"{CHIP}.r4.pgf", f"{CHIP}.r4.clf", f"{CHIP}.r4.mps"),
        transcript_files(
            {f"{7890000 + k}": sets.tolist() for k, sets in enumerate(LAYOUT)},
            [[0, 1]],
            SIDE,
            SIDE,
            CHIP,
        ),
        strict=True,
    )
)
SITES = {
    f"cg{k:08d}": (2 * k + 1, 2 * k + 2 if k % 3 else None, COLOURS[k // 3 % 2] if k % 3 else "")
    for k in range(PROBES_PER_CLUSTER)
}


def transcripts(k: int) -> dict[str, bytes]:
    """Return the CEL file of a sample; odd ones have more of the first clusters."""
    rng = np.random.default_rng([2, k])
    light = np.random.default_rng(2).lognormal(6, 1, SIDE * SIDE) * rng.lognormal(0, 0.15, SIDE**2)
    level = rng.normal(0, 0.3, N_CLUSTERS) + 1.5 * (k % 2) * (np.arange(N_CLUSTERS) < DIFFERENT)
    light[LAYOUT.reshape(N_CLUSTERS, -1)] *= 2 ** level[:, None]
    light = (light + rng.normal(100, 15, SIDE**2).clip(1)).round(1).reshape(SIDE, SIDE)
    return {f"s{k:02}.CEL": (cel_command_console if k % 3 else cel_binary)(light, CHIP)}


def methylation(k: int) -> dict[str, bytes]:
    """Return both IDAT files of a sample; the first sites of odd ones are turned round."""
    rng = np.random.default_rng([3, k])
    share = np.random.default_rng(3).choice([0.2, 0.8], PROBES_PER_CLUSTER)
    share[:DIFFERENT] += 0.2 * (k % 2) * (0.5 - share[:DIFFERENT]) / 0.3
    share = (share + rng.normal(0, 0.05, PROBES_PER_CLUSTER)).clip(0.01, 0.99)
    total = rng.normal(10_000, 1500, PROBES_PER_CLUSTER).clip(2000)
    means: tuple[dict[int, int], dict[int, int]] = {}, {}
    for (address_a, second, colour), b, t in zip(SITES.values(), share, total, strict=True):
        M = int(t * b)
        U = int(t * (1 - b))
        if second is None:
            means[0][address_a] = M
            means[1][address_a] = U
        else:
            colour_index = COLOURS.index(colour)
            means[colour_index].update({address_a: U, second: M})
            means[1 - colour_index].update({address_a: 200, second: 210})
    return array_files(
        f"97_R{k:02}C01",
        [dict(sorted(array_means.items())) for array_means in means],
        texts={404: f"R{k:02}C01"},
    )


RAW_KINDS = {
    "transcripts": (transcripts, LIBRARY, [f"{7890000 + k}" for k in range(DIFFERENT)]),
    "methylation": (methylation, {"Toy.csv": manifest(SITES)}, list(SITES)[:DIFFERENT]),
}


def lay(folder: Path, kind: str, n: int = 24) -> None:
    """Write `n` arrays into ``arrays``, two more into ``new``, and the sample table."""
    write_arrays, about, _ = RAW_KINDS[kind]
    rows = ["sample\tdiagnosis"]
    for name in ("arrays", "new"):
        (folder / name).mkdir()
    for k in range(n + 2):
        files = write_arrays(k)
        for name, content in files.items():
            (folder / ("arrays" if k < n else "new") / name).write_bytes(content)
        sample = next(iter(files)).removesuffix(".CEL").removesuffix("_Grn.idat")
        rows += [f"{sample}\t{'case' if k % 2 else 'control'}"] if k < n else []
    for name, content in about.items():
        (folder / "arrays" / name).write_bytes(content)
    (folder / "samples.tsv").write_text("\n".join(rows) + "\n")
