"""Affymetrix files as the scanner's software writes them, made from arrays of numbers."""

import struct

import numpy as np

CDF_CELL = np.dtype(
    [("atom", "<i4"), ("x", "<u2"), ("y", "<u2"), ("index", "<i4"), ("probe", "S1"),
     ("target", "S1")]
)  # fmt: skip
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


def cel_command_console(intensity, chip="Toy", table="Intensity", column=(6, 4)):
    """Return a Command Console CEL file with the table of intensities behind another one."""
    rows, columns = intensity.shape
    numbers = {"affymetrix-cel-cols": columns, "affymetrix-cel-rows": rows}
    header = [(key, struct.pack(">i", n), "text/x-calvin-integer-32") for key, n in numbers.items()]
    header += [("affymetrix-array-type", chip.encode("utf-16-be"), "text/plain")]
    header += [("a-float", struct.pack(">f", 1.5), "text/x-calvin-float")]
    texts = [_text(b"affymetrix-calvin-intensity"), _text(b"1"), _wide(""), _wide("en-US")]
    generic = b"".join([*texts, _parameters(header), struct.pack(">i", 0)])
    start = 10 + len(generic)
    place = start + 12 + len(_wide(""))
    other, place = _table("StdDev", np.ones(2), (6, 4), place)
    wanted, _ = _table(table, intensity.ravel(), column, place)
    group = struct.pack(">IIi", 0, start + 12 + len(_wide("")), 2) + _wide("")
    return b"\x3b\x01" + struct.pack(">iI", 1, start) + generic + group + other + wanted


def _table(name, values, column, place):
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
    each = [_wide(name) + _text(raw) + _wide(kind) for name, raw, kind in values]
    return struct.pack(">i", len(values)) + b"".join(each)


def _text(raw):
    return struct.pack(">i", len(raw)) + raw


def _wide(text):
    return struct.pack(">i", len(text)) + text.encode("utf-16-be")


def cdf_binary(names, pairs, columns, rows, version=1, chips=("Toy.r2", "Toy")):
    """Return a binary CDF file; later versions have more about blocks, cells and the chip.

    `pairs` (n_sets, n_pairs, 2) holds the cells of a perfect match and its mismatch.
    """
    n_sets, n_pairs, _ = pairs.shape
    about_block = [b"", b"\1\0\2\0", b"\1\0\2\0\3\4", b"\1\0\2\0\3\4"][min(version, 4) - 1]
    more = [("length", "<u2"), ("grouping", "<u2")] if version > 1 else []
    cells = np.zeros((n_sets, n_pairs, 2), [*CDF_CELL.descr, *more])
    cells["atom"] = np.arange(n_pairs)[:, None]
    cells["x"], cells["y"] = pairs % columns, pairs // columns
    cells["probe"], cells["target"] = np.array([b"A", b"t"]), b"T"
    head = struct.pack("<ii", 67, version)
    if version > 3:
        texts = [struct.pack("<i", len(chip)) + chip.encode() for chip in chips]
        head += struct.pack("<i", 4) + b"guid" + b"m" * 32 + bytes([len(chips)]) + b"".join(texts)
    head += struct.pack("<HHiii", columns, rows, n_sets, 0, 0)
    unit = 20 + 82 + len(about_block) + 2 * n_pairs * cells.itemsize
    first = len(head) + 68 * n_sets
    parts = [head, *(struct.pack("64s", name.encode()) for name in names)]
    parts += [struct.pack("<i", first + k * unit) for k in range(n_sets)]
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
        cells = [(cell, probe, atom) for atom, pair in enumerate(unit) for cell, probe in
                 zip(pair, "AT", strict=True)]  # fmt: skip
        lines += [f"Cell{k}={cell % columns}\t{cell // columns}\t{probe}\tT\t{atom}"
                  for k, (cell, probe, atom) in enumerate(cells, 1)]  # fmt: skip
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
    number, atom = 100, 1000
    for last, (name, sets) in enumerate(clusters.items(), 1 - len(clusters)):
        listed = []
        for cells in [*sets, *(controls if last == 0 else [])]:
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
NAMES = [f"{k}_at" for k in range(4)]
LAYOUTS = {"text": cdf_text(NAMES, PAIRS, *SIZE)} | {
    f"version {n}": cdf_binary(NAMES, PAIRS, *SIZE, version=n) for n in (1, 2, 3, 4)
}
# The same sets as clusters, the first of two probe sets, and one that is a control.
CLUSTERS = {
    name: [cells[:1], cells[1:]] if k == 0 else [cells]
    for k, (name, cells) in enumerate(zip(NAMES, PAIRS[:, :, 0].tolist(), strict=True))
}
TRANSCRIPTS = transcript_files(CLUSTERS, [[24, 25]], *SIZE)
