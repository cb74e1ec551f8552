"""The results of a finished study: tables, signature, model, report and plots."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genesig.data.files.content import read_content
from genesig.data.files.headers import choose_header
from genesig.data.files.readers import read_json, read_sample_table
from genesig.data.files.sample_names import table_of_matrix
from genesig.errors import Problem, input_error
from genesig.notebook.single_steps import matrix_of
from genesig.results.annotated import read_annotated
from genesig.results.files import load_arrays, load_json, load_table
from genesig.results.run import sha256

if TYPE_CHECKING:
    import anndata
    import pandas as pd

    from genesig.notebook.plots import Plots
    from genesig.selection.model.contributions import Contributions

MAX_MISSING_SHARE = 0.1
"""Largest share of the model's genes that a new sample may lack; they get their training means."""


class Tables(Mapping[str, "pd.DataFrame"]):
    """The tables of a results folder by name, read on access."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        paths = sorted(folder.rglob("*.tsv"))
        self._paths = {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Read a table; names of genes and samples stay text even if they look like numbers."""
        from genesig.report.collect import TEXT_COLUMNS

        if name not in self._paths:
            names = ", ".join(self._paths)
            raise KeyError(f"{self.folder} has no table '{name}' (it has: {names})")
        return load_table(self._paths[name], TEXT_COLUMNS)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"Tables({', '.join(self)})"


@dataclass(frozen=True)
class Page:
    """The report of a study, which a notebook displays; `path` is its file."""

    path: Path

    def _repr_html_(self) -> str:
        """Return the page in a frame, as notebooks show it."""
        page = html.escape(read_content(self.path).decode())
        frame = 'width="100%" height="800" style="border: 0" sandbox="allow-scripts"'
        return f'<iframe title="Report" {frame} srcdoc="{page}"></iframe>'


class Results:
    """The results of a finished study.

    Parameters
    ----------
    folder : path
        The folder ``results`` of a study that was run in any way.

    Raises
    ------
    InvalidInput
        There is no finished study in the folder.

    Examples
    --------
    >>> results = Results("mystudy/results")
    >>> list(results.tables["signature"].columns)[:2]
    ['rank', 'gene']
    >>> results.signature.n_vars == len(results.tables["signature"])
    True
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        for name in ("run.json", "model.json", "report.html"):
            if not (self.folder / name).is_file():
                message = f"holds no finished study: {name} is not there; name the folder 'results'"
                raise input_error(self.folder, message)
        self._record_digest = sha256(self.folder / "run.json")
        self._tables = Tables(self.folder)

    def __repr__(self) -> str:
        return f"Results({str(self.folder)!r})"

    @property
    def tables(self) -> Tables:
        """Every table of the folder by its name, as ``results.tables["signature"]``."""
        self._check_same()
        return self._tables

    @cached_property
    def model(self) -> dict[str, Any]:
        """The content of ``model.json``."""
        return dict(read_json(self.folder / "model.json"))

    @cached_property
    def verdict(self) -> str:
        """The conclusion, from "No evidence" to "Better than chance in external cohorts"."""
        return str(load_json(self.folder / "report_data.json")["verdict"]["grade"])

    @cached_property
    def record(self) -> dict[str, Any]:
        """The content of ``run.json``, with settings, seed, versions, checksums of the inputs."""
        return dict(load_json(self.folder / "run.json"))

    @property
    def signature(self) -> anndata.AnnData:
        """The samples and the genes of the signature, with the results of each gene in ``var``."""
        self._check_same()
        path = self.folder / "signature.h5ad"
        return read_annotated(path, str(path))

    @property
    def fdr_selected(self) -> pd.DataFrame:
        """The FDR-selected genes, by falling selection frequency: rows of ``signature``.

        Empty if the study has no stability selection, or selects no gene.
        """
        table = self.tables["signature"]
        if "fdr_selected" not in table:
            return table.iloc[:0]
        return table[table["fdr_selected"].eq(True)].reset_index(drop=True)

    @property
    def null(self) -> Any:
        """Errors of the chosen lists under permuted labels, (permutations,)."""
        self._check_same()
        # The columns are the nested lists by mu; the last one is the chosen list.
        return load_arrays(self.folder / "null.npz")["error"][:, -1]

    @property
    def plot(self) -> Plots:
        """Plots: ``results.plot.roc()``; each takes and returns matplotlib axes."""
        from genesig.notebook.plots import Plots

        return Plots(self)

    def report(self) -> Page:
        """Return the report; a notebook shows it, ``report().path`` is its file."""
        return Page(self.folder / "report.html")

    def predict(
        self,
        new: anndata.AnnData | pd.DataFrame | str | Path,
        *,
        missing: float = MAX_MISSING_SHARE,
        mu: float | None = None,
        fdr_selected: bool = False,
        part: str | None = None,
        samples: str | Path | None = None,
        renamed: str | Path | None = None,
        layout: str | Path | None = None,
    ) -> pd.DataFrame:
        """Score new samples with the final model, as ``genesig predict`` does.

        Parameters
        ----------
        new : AnnData, DataFrame or path
            As measured; a DataFrame may have samples as rows or as columns.
        missing : float
            Largest share, 0 to 1, of the model's genes that a sample may lack.
        mu : float, optional
            Which of the nested models; None is the predictive model.
        fdr_selected : bool
            Score by the FDR-selected genes alone.
        part : str, optional
            Which matrix of a file, or layer of an AnnData.
        samples : path, optional
            Sample table of the new samples, which chooses them, with their covariates and batches.
        renamed : path, optional
            HGNC's table, by which renamed genes are found.
        layout : path, optional
            Folder of the files that describe the chip of new arrays; None is that of the arrays.

        Returns
        -------
        DataFrame (sample, score, predicted, imputed, list, doubt)

        Raises
        ------
        InvalidInput
            With the message of ``genesig predict``.
        """
        return self._predict_and_explain(
            new,
            missing=missing,
            mu=mu,
            fdr_selected=fdr_selected,
            part=part,
            samples=samples,
            renamed=renamed,
            layout=layout,
        )[0]

    def contributions(
        self, new: anndata.AnnData | pd.DataFrame | str | Path, **options: Any
    ) -> pd.DataFrame:
        """Return the contribution of each gene to the scores of new samples.

        It is the gene's weight times its value less its training mean, as ``genesig predict
        --explain`` writes it; those of a sample and its intercept sum to the score.

        Parameters
        ----------
        new : AnnData, DataFrame or path
            As measured.
        **options
            Those of `predict`.

        Returns
        -------
        DataFrame (sample, term, name, symbol, value, mean, weight, contribution)
            With more than two classes also class: each has a score.
        """
        return self._predict_and_explain(new, **options)[1].table()

    def _predict_and_explain(
        self,
        new: anndata.AnnData | pd.DataFrame | str | Path,
        *,
        missing: float = MAX_MISSING_SHARE,
        mu: float | None = None,
        fdr_selected: bool = False,
        part: str | None = None,
        samples: str | Path | None = None,
        renamed: str | Path | None = None,
        layout: str | Path | None = None,
    ) -> tuple[pd.DataFrame, Contributions]:
        """Return the predictions and their contributions, see `predict`; warn of problems."""
        import warnings

        from genesig.selection.model.new_samples import predict_and_explain

        source_name, matrix = matrix_of(new, part, layout)
        sample_table = None
        notes: list[Problem] = []
        if samples is not None:
            file_table = read_sample_table(samples, names=None, part=None)
            file_table, notes = table_of_matrix(file_table, matrix, str(samples))
            sample_table = file_table.cells
            matrix = choose_header(matrix, list(map(str, sample_table.index)))
        predictions = predict_and_explain(
            self.model,
            matrix,
            source_name,
            missing=missing,
            mu=mu,
            fdr_selected=fdr_selected,
            source=str(self.folder / "model.json"),
            samples=sample_table,
            renamed=None if renamed is None else str(renamed),
        )
        for problem in (*notes, *predictions.problems):
            if problem.level != "note":
                warnings.warn(f"{problem.location}: {problem.message}", stacklevel=3)
        return predictions.table, predictions.contributions

    def _check_same(self) -> None:
        """Raise if the folder has been run again since these results were opened."""
        if sha256(self.folder / "run.json") != self._record_digest:
            message = "was run again with other settings; take the results of that run"
            raise input_error(self.folder, message)
