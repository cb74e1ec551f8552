"""IDAT files and a manifest as Illumina's scanner and site have them, made from numbers."""

import struct

import numpy as np

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
        **{code: _text(text) for code, text in (TEXTS | (texts or {})).items()},
        300: struct.pack("<i", 1) + b"".join(map(_text, ["1/1/2011", "Scan", "a=1", "b", "1.0"])),
    }
    for code in leave:
        del fields[code]
    place = 4 + 8 + 4 + 10 * len(fields)
    head = b"IDAT" + struct.pack("<qi", version, len(fields))
    for code, content in fields.items():
        head += struct.pack("<Hq", code, place)
        place += len(content)
    return head + b"".join(fields.values())


def _text(text):
    length, raw = b"", text.encode("latin-1")
    n = len(raw)
    while n > 127:
        length, n = length + bytes([n & 127 | 128]), n >> 7
    return length + bytes([n]) + raw


COLUMNS = ("IlmnID", "Name", "AddressA_ID", "AlleleA_ProbeSeq", "AddressB_ID",
           "Infinium_Design_Type", "Color_Channel", "UCSC_RefGene_Name")  # fmt: skip


def manifest(probes, columns=COLUMNS, name="IlmnID"):
    """Return a manifest: `probes` is probe -> (address A, address B or None, colour or '')."""
    lines = ["Illumina, Inc.,,,", "[Heading],,,", "Descriptor File Name,toy.csv", "[Assay],,,"]
    lines.append(",".join(columns))
    for probe, (first, second, colour) in probes.items():
        row = {name: probe, "Name": probe, "AddressA_ID": f"{first:010d}",
               "AlleleA_ProbeSeq": "ACGT", "AddressB_ID": "" if second is None else f"{second}",
               "Infinium_Design_Type": "II" if second is None else "I", "Color_Channel": colour,
               "UCSC_RefGene_Name": '"TP53;TP53"'}  # fmt: skip
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
    return tuple(dict(zip(ids.tolist(), rng.integers(0, 60_000, len(ids)).tolist(), strict=True))
                 for _ in COLOURS)  # fmt: skip


def array_files(name, means, **changed):
    """Return the two files of an array: `means` is address -> mean of each colour."""
    return {
        f"{name}_{colour}.idat": idat(list(each), list(each.values()), **changed)
        for colour, each in zip(COLOURS, means, strict=True)
    }
