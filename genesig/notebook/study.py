"""A study that is defined, checked and run from Python, by the same workflow as any other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genesig.data.files.content import read_content
from genesig.data.files.names import with_absolute_names
from genesig.data.files.readers import load_schema
from genesig.data.validate import study_config
from genesig.errors import GenesigError, input_error
from genesig.notebook.outcome import Results
from genesig.results.annotated import save_annotated
from genesig.results.files import save_text
from genesig.workflow import run_command, run_environment

if TYPE_CHECKING:
    import anndata

CONFIG_HEADER = "# Written by genesig.Study, which rewrites it at each run.\n"
CONFIG_FILE = "config.yaml"
DATA_FILE = "data.h5ad"
INTERRUPT_SECONDS = 20  # time in which an interrupted run can end its jobs


class Study:
    """A study: expression, sample table, the column to predict, and any setting of the config.

    Parameters
    ----------
    expression : AnnData or path
        Samples × genes with the sample table in ``obs``; or a file or folder of any format that is
        read. Of an AnnData, ``X`` is taken, or the layer that ``data={"part": ...}`` names.
    samples : path, optional
        The sample table. None uses the description of samples in the expression.
    label : str, optional
        Column of the sample table that is predicted, as the config has it.
    folder : path
        Where the study is written and run; its results are in ``folder/results``. A folder with
        anything but an earlier study of this kind is refused.
    **settings
        Sections and keys of the config: ``data={"group": "patient"}``, ``seed=1``,
        ``geo="GSE55235"``. Several studies are ``studies=[...]``: each an AnnData, named ``study1``
        and so on, or a dict as an item of the config, whose ``expression`` may be an AnnData.

    Raises
    ------
    InvalidInput
        With a line for each setting that is not known, before anything is written.

    Examples
    --------
    >>> study = Study("expression.tsv", "samples.tsv", "diagnosis", data={"covariates": ["age"]})
    >>> study.config["data"]
    {'covariates': ['age']}
    >>> study.folder.exists()  # `validate` and `run` write it
    False
    """

    def __init__(
        self,
        expression: anndata.AnnData | str | Path | None = None,
        samples: str | Path | None = None,
        label: Any = None,
        *,
        folder: str | Path = "study",
        **settings: Any,
    ) -> None:
        self.folder = Path(folder).absolute()
        if self.folder.exists() and not self.folder.is_dir():
            raise input_error(
                "folder", f"'{folder}' is a file; name a folder, new or of this study"
            )
        self._data: dict[str, Any] = {}
        _check_inputs(expression, samples)
        _check_studies(settings.get("studies"))
        if not isinstance(expression, str | Path | None):
            if samples is not None:
                message = (
                    "stands beside an AnnData, which has its own sample table, obs; leave it out"
                )
                raise input_error("samples", message)
            data = settings.get("data", {})
            annotated = expression
            expression = self._register(DATA_FILE, annotated)
            if "annotation" not in data and ("symbol" in data or "symbol" in annotated.var):
                settings["data"] = {"annotation": str(expression), "symbol": "symbol", **data}
        if isinstance(studies := settings.get("studies"), list | tuple):
            settings["studies"] = [
                self._item(number, item) for number, item in enumerate(studies, 1)
            ]
        main_keys = {"expression": expression, "samples": samples or expression, "label": label}
        set_keys = {key: value for key, value in main_keys.items() if value is not None}
        self.config = with_absolute_names(_plain_config({**set_keys, **settings}))
        study_config(self.config, load_schema(), source="Study")

    def _register(self, name: str, data: Any) -> Path:
        """Register an AnnData, which `_write` saves, and return the path of its file."""
        self._data[name] = data
        return self.folder / name

    def _item(self, number: int, item: Any) -> Any:
        """Return an item of ``studies`` for the config, with a file instead of an AnnData."""
        item = {"expression": item} if hasattr(item, "obs_names") else item
        if not isinstance(item, dict) or not hasattr(item.get("expression"), "obs_names"):
            return item
        path = str(self._register(f"study{number}.h5ad", item["expression"]))
        has_symbols = "symbol" in item["expression"].var and "annotation" not in item
        gene_settings = {"annotation": path, "symbol": "symbol"} if has_symbols else {}
        return {"name": f"study{number}", **gene_settings, **item, "expression": path}

    def __repr__(self) -> str:
        return f"Study of {self.config.get('label')} in {self.folder}"

    def validate(self) -> None:
        """Check everything before anything runs, and print the lines of ``genesig validate``.

        Raises
        ------
        GenesigError
            With the errors that stop the study.
        """
        self._write()
        self._call([sys.executable, "-m", "genesig.cli", "validate", CONFIG_FILE], quiet=False)

    def run(self, cores: int | None = None, *options: str, quiet: bool = False) -> Results:
        """Run the workflow in the study's folder, in a separate process, and return the results.

        Finished jobs are kept: only results that depend on changed settings or data are computed
        again.

        Parameters
        ----------
        cores : int, optional
            None uses all cores that this process may use.
        *options : str
            Options of Snakemake, such as ``"--unlock"`` after a run that was killed.
        quiet : bool
            Print nothing while it runs.

        Raises
        ------
        GenesigError
            The run failed; with the lines that explain it.
        """
        self._write()
        cores = cores or len(os.sched_getaffinity(0))
        self._call(run_command([CONFIG_FILE], ["--cores", str(cores), *options]), quiet=quiet)
        return Results(self.folder / "results")

    def _write(self) -> None:
        """Write config and changed AnnData files; raise if the folder is not the study's own."""
        import yaml

        config = self.folder / CONFIG_FILE
        if self.folder.exists() and not _is_written_here(config) and any(self.folder.iterdir()):
            message = "holds something else than a study of genesig.Study; give another folder="
            raise input_error(self.folder, message)
        text = yaml.safe_dump(self.config, sort_keys=False, allow_unicode=True, width=10_000)
        save_text(config, CONFIG_HEADER + text)  # first: it marks the folder as the study's own
        for name, data in self._data.items():
            save_annotated(self.folder / name, data)

    def _call(self, line: Sequence[str], *, quiet: bool) -> None:
        """Run a program in the study's folder, print its lines as they come, and raise if it fails.

        A notebook's backend of matplotlib is not passed to the workflow.
        """
        variables = {key: value for key, value in run_environment().items() if key != "MPLBACKEND"}
        output_lines: list[str] = []
        with subprocess.Popen(
            line,
            cwd=self.folder,
            env=variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        ) as child:
            try:
                for output_line in child.stdout or ():
                    output_lines.append(output_line.rstrip())
                    if not quiet:
                        print(output_line, end="", flush=True)
            except KeyboardInterrupt:
                _interrupt(child)
                raise
        if child.returncode:
            errors = [line for line in output_lines if line.startswith(("error:", "WorkflowError"))]
            lines = "\n".join(dict.fromkeys(errors or output_lines[-5:]))
            raise GenesigError(f"the study in {self.folder} did not finish:\n{lines}")


def _check_inputs(expression: Any, samples: Any) -> None:
    """Raise if an input is neither an AnnData nor a file: a DataFrame has no sample table."""
    if not isinstance(expression, str | Path | None) and not hasattr(expression, "obs_names"):
        message = f"is a {type(expression).__name__}; give a file, or an AnnData: "
        raise input_error(
            "expression", f"{message}anndata.AnnData(frame, obs=samples), samples × genes"
        )
    if not isinstance(samples, str | Path | None) and not hasattr(expression, "obs_names"):
        message = f"is a {type(samples).__name__}; name a file, or put the table into the obs of "
        raise input_error("samples", f"{message}an AnnData")


def _check_studies(studies: Any) -> None:
    """Raise if `studies` is a dict, or if a study is an array or a table instead of an AnnData.

    All other mistakes are left to the check of the config.
    """
    if isinstance(studies, dict):
        message = "is a dict; give a list, an AnnData for each study, which may have a name: "
        raise input_error(
            "studies", f"{message}[{{'name': {next(iter(studies), 'A')!r}, 'expression': ...}}]"
        )
    for number, item in enumerate(studies if isinstance(studies, list | tuple) else (), 1):
        expression = item
        item_place = f"studies, item {number}"
        if isinstance(item, dict):
            expression = item.get("expression")
            item_place = f"{item_place}, expression"
        if hasattr(expression, "shape") and not hasattr(expression, "obs_names"):
            message = f"is a {type(expression).__name__}; give an AnnData for each study: "
            raise input_error(
                item_place, f"{message}anndata.AnnData(frame, obs=samples), samples × genes"
            )


def _interrupt(child: subprocess.Popen[str]) -> None:
    """Interrupt a run, and terminate it if it has not ended after `INTERRUPT_SECONDS`."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(INTERRUPT_SECONDS)
    except subprocess.TimeoutExpired:
        child.terminate()
        child.wait()


def _is_written_here(config: Path) -> bool:
    """Tell whether a config was written by this module."""
    return config.is_file() and read_content(config).startswith(CONFIG_HEADER.encode())


def _plain_config(config: dict[str, Any]) -> dict[str, Any]:
    """Return the config in types of a config file, without arrays, tuples and paths."""

    def plain_value(value: Any) -> Any:
        """Return a value that YAML can hold, for an array or a path."""
        return value.tolist() if hasattr(value, "tolist") else os.fspath(value)

    try:
        plain: dict[str, Any] = json.loads(json.dumps(config, default=plain_value))
    except (TypeError, ValueError) as error:
        raise input_error(
            "Study", f"a setting is neither text, number, list nor dict: {error}"
        ) from None
    return plain
