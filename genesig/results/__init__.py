"""Records that the stages hand to each other, each with ``save`` and ``load``.

No pickle anywhere: h5ad, JSON, npz (``allow_pickle=False``) and TSV.
"""

from genesig.response.design import Design
from genesig.results.dataset import Dataset
from genesig.results.files import (
    load_arrays,
    load_json,
    load_table,
    load_tables,
    save_arrays,
    save_json,
    save_table,
    save_tables,
    save_text,
)
from genesig.results.fits import CrossValidation, Fits
from genesig.results.splits import Split, Splits

__all__ = [
    "CrossValidation",
    "Dataset",
    "Design",
    "Fits",
    "Split",
    "Splits",
    "load_arrays",
    "load_json",
    "load_table",
    "load_tables",
    "save_arrays",
    "save_json",
    "save_table",
    "save_tables",
    "save_text",
]
