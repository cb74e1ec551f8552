"""The data set of a study: samples × genes with both tables and the origin of every value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError, input_error
from genesig.response.covariates import encode_covariates
from genesig.response.design import BALANCED, Design
from genesig.response.kinds import RESPONSES, Response
from genesig.results.annotated import read_h5ad, write_h5ad
from genesig.results.files import whole_file

if TYPE_CHECKING:
    import pandas as pd

PRIOR_WEIGHT = "prior_weight"  # column of the gene table with the weight of each gene's l1 term
UNALIGNED = "unaligned"  # layer of the matrix before studies were aligned
OMIC = "omic"  # column of the gene table that says which omic each gene is of
CHROMOSOME = "chromosome"  # column of the gene table with the chromosome; blank if unknown
POSITION = "position"  # column of the gene table with the position on it; NaN if unknown


@dataclass(frozen=True)
class Dataset:
    """Samples × genes with both tables and the origin of every value.

    Samples and genes of a study are in the order of their names (code points): random draws, and
    the choice between two equal genes, depend on rows and columns.
    """

    X: Array  # (n_samples, n_genes) float64
    obs: pd.DataFrame  # sample table: index = sample names, cells as strings
    # gene table: index = gene ids, at least the column `symbol`; `prior_weight` if the study has
    # such weights, `omic` if it has several omics, `chromosome` and `position` if these are known
    var: pd.DataFrame
    design: Design  # columns of `obs` that are label, groups, batches, covariates and weights
    # `dropped`: list of {kind, name, reason}; `steps`: row-wise steps already applied; `inputs`:
    # {path: sha256}; `warnings`: list of sentences; of several studies `studies`, see
    # `describe_gene_loss`. `normalise_samples` adds further keys.
    provenance: dict[str, Any]
    # (n_samples, n_genes) float64: X before studies were aligned; None unless each training set
    # chooses its own alignment
    unaligned: Array | None = None

    @cached_property
    def samples(self) -> list[str]:
        """Sample names, in the order of the rows."""
        return [str(name) for name in self.obs.index]

    @cached_property
    def genes(self) -> list[str]:
        """Gene ids, in the order of the columns."""
        return [str(name) for name in self.var.index]

    @property
    def response_kind(self) -> Response:
        """The functions of the kind of response."""
        return RESPONSES[self.design.kind]

    def response(self) -> Array:
        """Return y, (n,), in the coding of its kind: ±1 for two classes, numbers for regression."""
        return self.response_kind.read(self.obs, self.design)

    def label_values(self) -> Array:
        """Return the label as one number a sample, (n,) float: class code, number, or time."""
        return self.response_kind.label_values(self.response())

    def groups(self) -> Array | None:
        """Return the group name of each sample, or None if the study has no groups."""
        column = self.design.group
        return None if column is None else self.obs[column].astype(str).to_numpy(dtype=object)

    def batches(self) -> Array | None:
        """Return the batch name of each sample, or None if the study has no batches."""
        column = self.design.batch
        return None if column is None else self.obs[column].astype(str).to_numpy(dtype=object)

    def covariates(self) -> Array:
        """Return the covariates, (n_samples, q), NaN where missing; q is 0 without covariates."""
        return encode_covariates(self.design.covariates, self.obs)

    def sample_weights(self) -> Array | None:
        """Return the weights in a column, (n_samples,), or None for equal or balanced weights."""
        column = self.design.weights
        if column is None or column == BALANCED:
            return None
        return self.obs[column].astype(float).to_numpy()

    def prior_weights(self, factors: Array | None = None) -> Array | None:
        """Return the weight of each gene's l1 term, (n_genes,), or None if all are 1.

        `factors` (n_omics,) multiply the weights of each omic.
        """
        has_weights = PRIOR_WEIGHT in self.var
        gene_weights = self.var[PRIOR_WEIGHT].to_numpy(dtype=float) if has_weights else None
        if factors is None:
            return gene_weights
        omic_weights: Array = factors[self.omic_of()]
        return omic_weights if gene_weights is None else gene_weights * omic_weights

    @cached_property
    def omics(self) -> tuple[str, ...]:
        """Names of the omics, in alphabetical order; empty if there is one matrix."""
        return tuple(sorted(set(self.var[OMIC].astype(str)))) if OMIC in self.var else ()

    def omic_of(self) -> Array:
        """Return the omic of each gene as an index of `omics`, (n_genes,)."""
        number_of_omic = {name: number for number, name in enumerate(self.omics)}
        return np.array(
            [number_of_omic[name] for name in self.var[OMIC].astype(str)], dtype=np.int64
        )

    def without(self, omic: str) -> Dataset:
        """Return the data set without the genes of one omic, given by its name."""
        is_kept = (self.var[OMIC].astype(str) != omic).to_numpy()
        return replace(
            self, X=np.ascontiguousarray(self.X[:, is_kept]), var=self.var[is_kept].copy()
        )

    @property
    def placed(self) -> bool:
        """Tell whether the positions of the genes are known."""
        return POSITION in self.var

    def places(self) -> tuple[Array, Array]:
        """Return chromosome and position of each gene; an unplaced gene has its own chromosome.

        Raises GenesigError: the positions of the genes are not known.
        """
        if not self.placed:
            raise GenesigError("the genes have no places; set data.chromosome and data.position")
        chromosomes = self.var[CHROMOSOME].astype(str).to_numpy(dtype=object, copy=True)
        position = self.var[POSITION].to_numpy(dtype=float, copy=True)
        unplaced = np.flatnonzero(np.isnan(position))
        chromosomes[unplaced] = [f"\0{gene}" for gene in unplaced]
        position[unplaced] = 0.0
        return chromosomes, position

    def rows(self, names: Sequence[str]) -> Array:
        """Return the row numbers of the named samples, in the order of the names."""
        row_of_sample = {name: row for row, name in enumerate(self.samples)}
        return np.array([row_of_sample[name] for name in names], dtype=np.int64)

    def save(self, path: str | Path) -> None:
        """Write an ``.h5ad`` file (X, obs, var; design and provenance as JSON in ``uns``)."""
        notes = {"design": self.design.notes(), "provenance": self.provenance}
        layers = {} if self.unaligned is None else {UNALIGNED: self.unaligned}
        # HDF5 crashes on a full disk, so free space is checked beforehand: that of the values, and
        # about 200 bytes for each sample and gene.
        needed_bytes = (1 + len(layers)) * self.X.nbytes + 200 * sum(self.X.shape) + 65536
        with whole_file(path, needed_bytes) as temporary_path:
            write_h5ad(temporary_path, self.X, self.obs, self.var, json.dumps(notes), layers)

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Read what `save` wrote.

        Raises InvalidInput: the file was not written by `save`, or is damaged.
        """
        content = read_h5ad(path, (UNALIGNED,))
        try:
            notes = json.loads(content.note)
            return cls(
                X=content.X,
                obs=content.obs.astype(str),
                var=content.var.assign(symbol=content.var["symbol"].astype(str)),
                design=Design.from_notes(notes["design"]),
                provenance=notes["provenance"],
                unaligned=content.layers.get(UNALIGNED),
            )
        except (KeyError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:80]
            raise input_error(
                path, f"is no data set of a study ({reason}); remove it, and it is made again"
            ) from None
