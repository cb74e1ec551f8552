"""Make the simulated data of config/examples: python tests/materials/example_data.py

In each of them the first genes of the table differ between the classes, and a block of genes
follows each of the first two; everything else is noise, of patients or batches where there are any.
"""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
from array_files import cdf_text, cel_binary, cel_command_console
from format_files import tabbed
from places import ROOT

HOME = ROOT / "resources" / "examples"
Array = np.ndarray[Any, Any]
INFORMATIVE = 6
BLOCK = 8
EFFECT = 1.8
CENTRES = {"basel": 24, "genoa": 20, "lyon": 26, "paris": 22}  # patients of each


def simulated(seed: int, y: Array, n_genes: int) -> Array:
    """Return samples × genes: the first ones follow y, blocks follow the first two."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((len(y), n_genes))
    X[:, :INFORMATIVE] += EFFECT * y[:, None]
    for gene in range(2):
        block = slice(INFORMATIVE + gene * BLOCK, INFORMATIVE + (gene + 1) * BLOCK)
        X[:, block] = 0.9 * X[:, [gene]] + 0.4 * X[:, block]
    return X


def names(stem: str, count: int) -> list[str]:
    """Return ``stem001``, ``stem002``, ..."""
    return [f"{stem}{k:03d}" for k in range(1, count + 1)]


def classes(count: int, pair: tuple[str, str] = ("control", "case")) -> tuple[Array, list[str]]:
    """Return y and its words, in turn."""
    y = np.arange(count) % 2
    return y, [pair[k] for k in y]


def matrix(genes: list[str], samples: list[str], X: Array) -> bytes:
    """Write genes × samples."""
    rows = [
        [gene, *(f"{value:.9g}" for value in row)] for gene, row in zip(genes, X.T, strict=True)
    ]
    return packed(tabbed([["gene", *samples], *rows]).encode())


def packed(content: bytes) -> bytes:
    """Compress without the time of day."""
    return gzip.compress(content, mtime=0)


def counts() -> dict[str, bytes]:
    """RNA-seq counts: libraries between one and four million reads."""
    y, words = classes(30)
    rng = np.random.default_rng(11)
    level = 2 ** (rng.uniform(1, 9, 400) + 0.7 * simulated(1, y, 400))
    depth = rng.uniform(1e6, 4e6, 30)
    expected = level / level.sum(axis=1, keepdims=True) * depth[:, None]
    X = rng.poisson(expected * rng.gamma(20, 1 / 20, expected.shape))
    samples = names("S", 30)
    sheet = [["sample", "condition"], *zip(samples, words, strict=True)]
    return {
        "counts.tsv.gz": matrix(names("gene", 400), samples, X),
        "counts_samples.tsv": tabbed(sheet).encode(),
    }


def pairs() -> dict[str, bytes]:
    """Tumour and normal tissue of 16 patients, who differ more than the tissues do."""
    y, words = classes(32, ("normal", "tumour"))
    patient_noise = np.random.default_rng(12).normal(0, 1.5, (16, 300))
    X = (8 + simulated(2, y, 300) + np.repeat(patient_noise, 2, axis=0)).round(3)
    patients = np.repeat(names("P", 16), 2)
    samples = [f"{patient}_{word}" for patient, word in zip(patients, words, strict=True)]
    sheet = [["sample", "tissue", "patient"], *zip(samples, words, patients, strict=True)]
    return {
        "pairs.tsv.gz": matrix(names("gene", 300), samples, X),
        "pairs_samples.tsv": tabbed(sheet).encode(),
    }


def several() -> dict[str, bytes]:
    """Four kinds of tumour: each of the first three has two of the informative genes higher."""
    kind = np.arange(48) % 4
    words = ["Ewing", "lymphoma", "myosarcoma", "neuroblastoma"]
    X = 8 + simulated(6, np.zeros(48), 300)
    for gene in range(INFORMATIVE):
        X[:, gene] += 2 * EFFECT * (kind == gene % 3)
    samples = names("S", 48)
    sheet = [
        ["sample", "tumour"],
        *((name, words[k]) for name, k in zip(samples, kind, strict=True)),
    ]
    return {
        "several.tsv.gz": matrix(names("gene", 300), samples, X.round(3)),
        "several_samples.tsv": tabbed(sheet).encode(),
    }


def batches() -> dict[str, bytes]:
    """Patients of three centres, each with a shift of its own in every gene."""
    y, words = classes(42)
    centres = np.repeat(["Basel", "Genoa", "Lyon"], 14)
    shift = np.random.default_rng(13).normal(0, 1.5, (3, 300))
    X = (8 + simulated(3, y, 300) + np.repeat(shift, 14, axis=0)).round(3)
    samples = names("S", 42)
    sheet = [["sample", "diagnosis", "centre"], *zip(samples, words, centres, strict=True)]
    return {
        "batches.tsv.gz": matrix(names("gene", 300), samples, X),
        "batches_samples.tsv": tabbed(sheet).encode(),
    }


def covariates() -> dict[str, bytes]:
    """Patients whose relapse depends on their age; genes 23 to 72 follow the age and no more."""
    rng = np.random.default_rng(17)
    age = rng.integers(35, 80, 64)
    sex = rng.integers(0, 2, 64)
    odds = (age - age.mean()) / age.std() + 1.5 * rng.standard_normal(64)
    y = (odds > np.median(odds)).astype(int)
    X = 8 + simulated(6, y, 300)
    X[:, 22:72] += ((age - age.mean()) / age.std())[:, None]
    samples = names("S", 64)
    words = [("no relapse", "relapse")[k] for k in y]
    sexes = [("female", "male")[k] for k in sex]
    rows = zip(samples, words, age.astype(str), sexes, strict=True)
    return {
        "covariates.tsv.gz": matrix(names("gene", 300), samples, X.round(3)),
        "covariates_samples.tsv": tabbed([["sample", "outcome", "age", "sex"], *rows]).encode(),
    }


def survival() -> dict[str, bytes]:
    """Years to a relapse, earlier where the first genes are high; a third is lost to follow-up."""
    rng = np.random.default_rng(17)
    X = simulated(6, np.zeros(120), 250)
    f = 0.7 * X[:, :INFORMATIVE].sum(axis=1)
    relapse = 4 * rng.exponential(np.exp(-f))
    lost = rng.uniform(1, 12, 120)
    status = ["relapse" if is_relapse else "none" for is_relapse in relapse <= lost]
    years = [f"{time:.2f}" for time in np.minimum(relapse, lost)]
    age = [str(age_in_years) for age_in_years in rng.integers(35, 80, 120)]
    samples = names("S", 120)
    sheet = [["sample", "years", "status", "age"], *zip(samples, years, status, age, strict=True)]
    return {
        "survival.tsv.gz": matrix(names("gene", 250), samples, (8 + X).round(3)),
        "survival_samples.tsv": tabbed(sheet).encode(),
    }


def patients(seed: int, count: int) -> list[list[str]]:
    """Return age and sex of each patient, who have nothing to do with the genes."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(35, 80, count)
    sexes = rng.integers(0, 2, count)
    return [[str(age), ("female", "male")[sex]] for age, sex in zip(ages, sexes, strict=True)]


def study(stem: str, label: str, words: list[str], X: Array, seed: int) -> dict[str, bytes]:
    """Write the matrix of some patients, and what is known of them."""
    samples = names(stem[0].upper(), len(words))
    rows = zip(samples, words, patients(seed, len(words)), strict=True)
    sheet = [["sample", label, "age", "sex"], *([name, word, *cells] for name, word, cells in rows)]
    return {
        f"{stem}.tsv.gz": matrix(names("gene", X.shape[1]), samples, (8 + X).round(3)),
        f"{stem}_samples.tsv": tabbed(sheet).encode(),
    }


def noise() -> dict[str, bytes]:
    """Patients whose relapse no gene knows of."""
    _, words = classes(60, ("no relapse", "relapse"))
    return study("noise", "outcome", words, simulated(31, np.zeros(60), 300), 32)


def numbers() -> dict[str, bytes]:
    """Patients whose tumours are larger where the first genes are higher."""
    X = simulated(23, np.zeros(70), 300)
    size_score = X[:, :INFORMATIVE].sum(axis=1) + 1.5 * np.random.default_rng(24).standard_normal(
        70
    )
    size = [f"{max(3.0, 30 + 4 * score):.0f}" for score in size_score]
    return study("numbers", "size_mm", size, X, 25)


def cohort() -> dict[str, bytes]:
    """Patients of two hospitals; at the second the genes differ less, and each has a shift."""
    study_files = {}
    level = np.random.default_rng(28).uniform(-4, 4, 300)
    for stem, seed, count, share in (("cohort", 26, 60, 0.6), ("second_cohort", 27, 40, 0.4)):
        y, words = classes(count, ("benign", "malignant"))
        X = simulated(seed, share * y, 300)
        X += level + np.random.default_rng(seed).normal(0, 0.4, 300)
        study_files |= study(stem, "diagnosis", words, X, seed + 10)
    return study_files


def several_studies() -> dict[str, bytes]:
    """Patients of four centres, each with a gain and an offset of every gene."""
    study_files = {}
    level = np.random.default_rng(41).uniform(-4, 4, 200)
    for number, (centre, count) in enumerate(CENTRES.items()):
        y, words = classes(count, ("healthy", "arthritis"))
        rng = np.random.default_rng(42 + number)
        X = np.exp(rng.normal(0, 0.3, 200)) * simulated(46 + number, 0.4 * y, 200)
        X += level + rng.normal(0, 0.7, 200)
        study_files |= study(centre, "diagnosis", words, X, 50 + number)
    return study_files


def omics() -> dict[str, bytes]:
    """Proteins that differ beside transcripts of noise; one patient in eight lacks the proteins."""
    y, words = classes(64)
    proteins = 0.6 * simulated(8, y, 40)
    transcripts = np.random.default_rng(18).standard_normal((64, 300))
    X = (8 + np.hstack([proteins, transcripts])).round(3)
    genes = [
        *(f"protein:P{k:03d}" for k in range(1, 41)),
        *(f"mrna:gene{k:03d}" for k in range(1, 301)),
    ]
    X[np.arange(64) // 2 % 8 == 0, :40] = np.nan
    samples = names("S", 64)
    rows = [
        [gene, *("NA" if np.isnan(value) else f"{value:.9g}" for value in row)]
        for gene, row in zip(genes, X.T, strict=True)
    ]
    return {
        "omics.tsv.gz": packed(tabbed([["gene", *samples], *rows]).encode()),
        "omics_samples.tsv": tabbed(
            [["sample", "diagnosis"], *zip(samples, words, strict=True)]
        ).encode(),
    }


def annotated() -> Any:
    """Return an AnnData object: X, class and age of each cell line, the symbol of each gene."""
    import anndata
    import pandas as pd

    y, words = classes(36, ("resistant", "sensitive"))
    X = (8 + simulated(4, y, 250)).round(4).astype(np.float32)
    ages = np.random.default_rng(14).integers(30, 80, 36)
    obs = pd.DataFrame({"response": words, "age": ages}, index=names("L", 36))
    genes = names("ENSG", 250)
    var = pd.DataFrame({"symbol": [f"SYM{k}" for k in range(1, 251)]}, index=genes)
    return anndata.AnnData(X, obs=obs, var=var)


def gene_sets() -> dict[str, bytes]:
    """Sets of the symbols of `annotated`: one of the genes that differ, thirty of any others."""
    rng = np.random.default_rng(16)
    start = INFORMATIVE + 2 * BLOCK
    lists = {"DIFFERENT_IN_SENSITIVE_LINES": np.arange(1, start + 1)}
    for k in range(1, 31):
        size = int(rng.integers(12, 31))
        lists[f"OTHER_PATHWAY_{k:02d}"] = rng.choice(np.arange(start + 1, 251), size, replace=False)
    rows = [
        [name, "simulated", *(f"SYM{gene}" for gene in sorted(genes))]
        for name, genes in lists.items()
    ]
    return {"annotated_sets.gmt": tabbed(rows).encode()}


def arrays() -> dict[str, bytes]:
    """Twenty arrays of a small chip, in two of the forms that scanners write, and its layout."""
    y, words = classes(20)
    rng = np.random.default_rng(15)
    side = 36
    n_sets = 80
    n_pairs = 8
    cells = rng.permutation(side * side)[: n_sets * n_pairs * 2].reshape(n_sets, n_pairs, 2)
    sets = [f"{k}_at" for k in range(1001, 1001 + n_sets)]
    affinity = rng.lognormal(6, 0.8, side * side)
    level = 0.7 * simulated(5, y, n_sets)
    samples = names("S", 20)
    files = [f"GSM{9000 + k}_{name}.CEL.gz" for k, name in enumerate(samples)]
    library_files = {
        "arrays/Simulated.cdf.gz": packed(cdf_text(sets, cells, side, side, "Simulated"))
    }
    for k, file in enumerate(files):
        light = affinity * rng.lognormal(0, 0.15, side * side)
        light[cells[:, :, 0]] *= 2 ** level[k][:, None]
        light += rng.normal(100, 15, side * side).clip(1)
        write = cel_binary if k < 10 else cel_command_console
        content = write(light.round().reshape(side, side), "Simulated")
        library_files[f"arrays/{file}"] = packed(content)
    sheet = [["sample", "diagnosis", "file"], *zip(samples, words, files, strict=True)]
    genes = [["probe_set", "symbol"], *([name, f"GENE{k // 2}"] for k, name in enumerate(sets))]
    return library_files | {
        "arrays_samples.tsv": tabbed(sheet).encode(),
        "arrays_genes.tsv": tabbed(genes).encode(),
    }


def files() -> dict[str, bytes]:
    """Return every file but the AnnData one, whose bytes its library decides."""
    simulated = counts() | pairs() | several() | batches() | covariates() | survival()
    return (
        simulated
        | noise()
        | numbers()
        | cohort()
        | gene_sets()
        | arrays()
        | omics()
        | several_studies()
    )


if __name__ == "__main__":
    for name, content in files().items():
        (HOME / name).parent.mkdir(parents=True, exist_ok=True)
        (HOME / name).write_bytes(content)
    annotated().write_h5ad(HOME / "annotated.h5ad", compression="gzip")
