"""A study that is described, checked and run from Python, by the same workflow as any other."""

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
from genesig.errors import GenesigError, refuse
from genesig.notebook.outcome import Results
from genesig.results.annotated import save_annotated
from genesig.results.files import save_text
from genesig.workflow import command, environment

if TYPE_CHECKING:
    import anndata

HEAD = "# Written by genesig.Study, which writes it anew at each run.\n"
CONFIG = "config.yaml"
DATA = "data.h5ad"
PATIENCE = 20
"""Seconds that an interrupted run has to end its jobs."""


class Study:
    """A study: expression, sample table, the column to predict, and any setting of the config.

    Parameters
    ----------
    expression : AnnData or path
        Samples × genes with the sample table in ``obs``; or a file or folder of any format that is
        read. Of an AnnData, ``X`` is taken, or the layer that ``data={"part": ...}`` names.
    samples : path, optional
        The sample table. None takes what the expression says of its samples.
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
        With a line for each setting that is not understood, before anything is written.

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
            raise refuse("folder", f"'{folder}' is a file; name a folder, new or of this study")
        self._data: dict[str, Any] = {}
        _check_given(expression, samples)
        _check_studies(settings.get("studies"))
        if not isinstance(expression, str | Path | None):
            if samples is not None:
                what = "stands beside an AnnData, which has its own sample table, obs; leave it out"
                raise refuse("samples", what)
            data = settings.get("data", {})
            given_data = expression
            expression = self._kept(DATA, given_data)
            if "annotation" not in data and ("symbol" in data or "symbol" in given_data.var):
                settings["data"] = {"annotation": str(expression), "symbol": "symbol", **data}
        if isinstance(studies := settings.get("studies"), list | tuple):
            settings["studies"] = [self._item(k, each) for k, each in enumerate(studies, 1)]
        given = {"expression": expression, "samples": samples or expression, "label": label}
        named = {key: value for key, value in given.items() if value is not None}
        self.config = with_absolute_names(_plain({**named, **settings}))
        study_config(self.config, load_schema(), source="Study")

    def _kept(self, name: str, data: Any) -> Path:
        """Keep an AnnData that `_write` saves; return its file."""
        self._data[name] = data
        return self.folder / name

    def _item(self, number: int, item: Any) -> Any:
        """Return one of ``studies`` as the config has it, a file in the place of an AnnData."""
        item = {"expression": item} if hasattr(item, "obs_names") else item
        if not isinstance(item, dict) or not hasattr(item.get("expression"), "obs_names"):
            return item
        path = str(self._kept(f"study{number}.h5ad", item["expression"]))
        symbols = "symbol" in item["expression"].var and "annotation" not in item
        about = {"annotation": path, "symbol": "symbol"} if symbols else {}
        return {"name": f"study{number}", **about, **item, "expression": path}

    def __repr__(self) -> str:
        return f"Study of {self.config.get('label')} in {self.folder}"

    def validate(self) -> None:
        """Check everything before anything runs, and print what ``genesig validate`` says.

        Raises
        ------
        GenesigError
            With what stops the study.
        """
        self._write()
        self._call([sys.executable, "-m", "genesig.cli", "validate", CONFIG], quiet=False)

    def run(self, cores: int | None = None, *options: str, quiet: bool = False) -> Results:
        """Run the workflow in the study's folder, in a process of its own; return the results.

        What is finished is kept: with the same settings and data nothing is computed again, with
        others what depends on them.

        Parameters
        ----------
        cores : int, optional
            None takes all that this process may use.
        *options : str
            Snakemake's own, such as ``"--unlock"`` after a run that was killed.
        quiet : bool
            Print nothing while it runs.

        Raises
        ------
        GenesigError
            With the lines that say why it ended.
        """
        self._write()
        cores = cores or len(os.sched_getaffinity(0))
        self._call(command([CONFIG], ["--cores", str(cores), *options]), quiet=quiet)
        return Results(self.folder / "results")

    def _write(self) -> None:
        import yaml

        config = self.folder / CONFIG
        if self.folder.exists() and not _is_own(config) and any(self.folder.iterdir()):
            what = "holds something else than a study of genesig.Study; give another folder="
            raise refuse(self.folder, what)
        for name, data in self._data.items():
            save_annotated(self.folder / name, data)
        text = yaml.safe_dump(self.config, sort_keys=False, allow_unicode=True, width=10_000)
        save_text(config, HEAD + text)

    def _call(self, line: Sequence[str], *, quiet: bool) -> None:
        """Run a program in the study's folder, its lines printed as they come.

        A notebook's own backend of matplotlib is none of the workflow's.
        """
        own = {key: value for key, value in environment().items() if key != "MPLBACKEND"}
        said: list[str] = []
        with subprocess.Popen(
            line,
            cwd=self.folder,
            env=own,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        ) as child:
            try:
                for each in child.stdout or ():
                    said.append(each.rstrip())
                    if not quiet:
                        print(each, end="", flush=True)
            except KeyboardInterrupt:
                _end(child)
                raise
        if child.returncode:
            errors = [line for line in said if line.startswith(("error:", "WorkflowError"))]
            lines = "\n".join(dict.fromkeys(errors or said[-5:]))
            raise GenesigError(f"the study in {self.folder} did not finish:\n{lines}")


def _check_given(expression: Any, samples: Any) -> None:
    """Refuse what is neither an AnnData nor a file: a DataFrame says nothing of its samples."""
    if not isinstance(expression, str | Path | None) and not hasattr(expression, "obs_names"):
        what = f"is a {type(expression).__name__}; give a file, or an AnnData: "
        raise refuse("expression", f"{what}anndata.AnnData(frame, obs=samples), samples × genes")
    if not isinstance(samples, str | Path | None) and not hasattr(expression, "obs_names"):
        what = f"is a {type(samples).__name__}; name a file, or put the table into the obs of "
        raise refuse("samples", f"{what}an AnnData")


def _check_studies(studies: Any) -> None:
    """Refuse studies that are no list, and one whose values stand in something else."""
    if isinstance(studies, dict):
        what = "is a dict; give a list, an AnnData for each study, which may have a name: "
        raise refuse(
            "studies", f"{what}[{{'name': {next(iter(studies), 'A')!r}, 'expression': ...}}]"
        )
    for number, item in enumerate(studies if isinstance(studies, list | tuple) else (), 1):
        given = item
        at = f"studies, item {number}"
        if isinstance(item, dict):
            given = item.get("expression")
            at = f"{at}, expression"
        if hasattr(given, "shape") and not hasattr(given, "obs_names"):
            what = f"is a {type(given).__name__}; give an AnnData for each study: "
            raise refuse(at, f"{what}anndata.AnnData(frame, obs=samples), samples × genes")


def _end(child: subprocess.Popen[str]) -> None:
    """Interrupt a run, and end it where what runs in the background does not hear that."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.terminate()
        child.wait()


def _is_own(config: Path) -> bool:
    return config.is_file() and read_content(config).startswith(HEAD.encode())


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """Write arrays, numbers of numpy, tuples and paths as a config file would have them."""

    def kept(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else os.fspath(value)

    try:
        plain: dict[str, Any] = json.loads(json.dumps(config, default=kept))
    except (TypeError, ValueError) as error:
        raise refuse(
            "Study", f"a setting is neither text, number, list nor dict: {error}"
        ) from None
    return plain
