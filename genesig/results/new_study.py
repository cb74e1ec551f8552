"""The folder of a new study, and the example that comes with the package."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genesig.errors import refuse
from genesig.results.files import save_text, whole_file
from genesig.workflow import home

DOWNLOADS = ("data", "geo")


DOWNLOADED = ("_series_matrix.txt.gz", "_NCBI.tsv.gz", ".annot.tsv.gz")
"""Endings of what is downloaded of a series: its matrix, counts of NCBI, their genes."""


HEAD = """\
# The study. These three keys are needed; paths are seen from the folder where you run genesig.
# Genes x samples or samples x genes; many formats are read.
{expression}
# One row for each sample, its name in the first column.
{samples}
# The column of the sample table that is predicted; of survival two, {{time: ..., event: ...}}.
{label}
"""


FOUND = """
# Seen in the matrix when this file was written, and what follows from it:
{why}
{settings}
"""


OFFER = """
# Everything else has a default; `genesig parameters` lists all. Take the # away from what you need.
#
"""


# Section -> lines; a section that is set already is not offered again.
OFFERED = {
    "data": """\
# data:
#   classes: [control, case]      # those to tell apart; of two the second is positive
#   group: patient                # samples of one patient never stand on both sides of a split
#   annotation: data/genes.tsv    # gene id and symbol
#   covariates: [age, sex]        # held fixed in every model; then without nonlinear selection
""",
    "normalise": """\
# normalise:
#   samples: [{step: log2}]       # where the values were never logged
""",
    "splits": """\
# splits:
#   scheme: stratified_group_kfold   # goes with data.group
""",
    "structured": """\
# structured:
#   sets: data/h.all.symbols.gmt  # gene sets (GMT): which pathways predict, beside the genes
""",
    "report": """\
# report:
#   title: My study
""",
}


# Two of each class, so that nobody takes the template for a study: validation asks for more.
SAMPLES = """\
sample\tdiagnosis\tpatient
sample_1\tcontrol\tpatient_1
sample_2\tcase\tpatient_2
sample_3\tcontrol\tpatient_3
sample_4\tcase\tpatient_4
"""


README = """\
# A genesig study

This folder is one study; another one gets a folder of its own, because the results of a study are
written into the folder it is run in. Go into it first (`cd` and its name): all paths below and in
`config.yaml` are seen from here.

1. {matrix}
2. {samples}
3. Name the column to be predicted in `config.yaml` as `label`: classes, numbers, or two columns,
   `{{time: years, event: status}}`, where an event takes its time.
4. Ask for all problems at once, in seconds:

       genesig validate config.yaml

5. Run it; the results come into this folder. Where your shell does not find `genesig`, write the
   folder of its environment before it (`.venv/bin/genesig`):

       genesig run config.yaml --cores 2

   After a crash or a kill, the same command once with `--unlock`, then as above; what was finished
   is kept:

       genesig run config.yaml --cores 2 --unlock
       genesig run config.yaml --cores 2

6. Open `results/report.html`. Score new samples with the model:

       genesig predict results/model.json new.tsv -o predictions.tsv
"""


PUT = """\
Put the expression matrix into `data/`. Tables (TSV, CSV), GEO series matrices and SOFT files,
   GCT, h5ad, RDS, Agilent and Illumina files are read; name it in `config.yaml` as `expression`."""


NAMED = "The expression matrix is named in `config.yaml` as `expression`: `{expression}`."


FILL = """\
Fill `samples.tsv`: one row for each sample, named as in the matrix. Add any columns you like.
   Where the matrix's file describes its samples (GEO, GCT 1.3, h5ad, ExpressionSet), name that
   file as `samples` instead."""


DESCRIBED = "That file describes its samples, too: it is named as `samples`."


TABLE = "The sample table is named in `config.yaml` as `samples`: `{samples}`."


@dataclass(frozen=True)
class Start:
    """What a new study begins with.

    Attributes
    ----------
    expression, samples, label : str
        Values of the three keys; the label may be a mapping, of times and events.
    sheet : str
        Text of samples.tsv; '' where the study needs none.
    settings : dict
        Further sections of the config.
    why : tuple of str
        Lines that say where the settings come from.
    """

    expression: str = "data/expression.tsv"
    samples: str = "samples.tsv"
    label: str | Mapping[str, str] = "diagnosis"
    sheet: str = SAMPLES
    settings: Mapping[str, Any] = field(default_factory=dict)
    why: tuple[str, ...] = ()

    def config(self) -> str:
        """Return the text of config.yaml."""
        values = {key: getattr(self, key) for key in ("expression", "samples", "label")}
        needed = {
            key: _yaml({key: value}, short_lists=isinstance(value, Mapping))
            for key, value in values.items()
        }
        found = ""
        if self.why or self.settings:
            why = "\n".join(f"# {line}" for line in self.why)
            found = FOUND.format(why=why, settings=_yaml(self.settings, short_lists=True))
        offered = "".join(text for key, text in OFFERED.items() if key not in self.settings)
        return HEAD.format(**needed) + found.rstrip("\n") + "\n" * bool(found) + OFFER + offered

    @property
    def empty(self) -> bool:
        """Whether no matrix was named."""
        return self.expression == Start.expression

    def readme(self) -> str:
        """Return the text of README.md."""
        matrix = PUT if self.empty else NAMED.format(expression=self.expression)
        named = DESCRIBED if self.samples == self.expression else TABLE.format(samples=self.samples)
        return README.format(matrix=matrix, samples=FILL if self.sheet else named)


def _yaml(value: Mapping[str, Any], *, short_lists: bool = False) -> str:
    import yaml

    if not value:
        return ""
    style = None if short_lists else False
    return yaml.safe_dump(
        dict(value), sort_keys=False, default_flow_style=style, allow_unicode=True, width=10_000
    ).strip()


def check_new(folder: str | Path) -> None:
    """Refuse a folder that has files already: nothing is overwritten.

    What an earlier try has downloaded, whole or in part, is no obstacle: it is gone on with.
    """
    folder = Path(folder)
    files = (path for path in folder.rglob("*") if not path.is_dir())
    if folder.exists() and (not folder.is_dir() or any(not _is_download(f) for f in files)):
        what = "is not an empty folder, and nothing in it will be overwritten; name a new one"
        raise refuse(folder, what)


def _is_download(path: Path) -> bool:
    name = path.name.removesuffix(".part").removesuffix(".sha256")
    return path.parent.parts[-2:] == DOWNLOADS and name.endswith(DOWNLOADED)


def write_study(folder: str | Path, start: Start) -> list[Path]:
    """Write a study into a folder that `check_new` has seen; return its files.

    Raises
    ------
    InvalidInput
        The folder cannot be written.
    """
    folder = Path(folder)
    files = {"config.yaml": start.config(), "samples.tsv": start.sheet, "README.md": start.readme()}
    if start.empty:
        files["data/README.md"] = "The expression matrix of the study goes here.\n"
    files = {name: text for name, text in files.items() if text}
    try:
        for name, text in files.items():
            save_text(folder / name, text)
    except OSError as error:
        raise refuse(folder, f"cannot be written: {error.strerror}") from None
    return [folder / name for name in files]


def lay_out(names: Iterable[str]) -> None:
    """Copy shipped files to the same places below the folder that the process is in.

    Parameters
    ----------
    names : iterable of str
        Files and folders as seen from `home`; what is not shipped is left out, what is there
        already and the same stays.

    Raises
    ------
    InvalidInput
        Another file is in a place; then nothing is copied.
    """
    files = [file for name in names for file in _files(name)]
    for file in files:
        if file.exists() and not filecmp.cmp(home() / file, file, shallow=False):
            what = "is not the example's, and is not written over; go to an empty folder"
            raise refuse(file, what)
    for file in files:
        if not file.exists():
            with whole_file(file) as part:
                shutil.copyfile(home() / file, part)


def _files(name: str) -> Iterator[Path]:
    """Yield a shipped file, or those of a shipped folder."""
    place = home() / name
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file() and file.is_relative_to(home()):
            yield file.relative_to(home())
