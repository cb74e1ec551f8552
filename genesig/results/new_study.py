"""The folder of a new study, and the example that comes with the package."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genesig.errors import input_error
from genesig.results.files import save_text, whole_file
from genesig.workflow import shipped_folder

DOWNLOAD_FOLDER = ("data", "geo")  # parts of the path of the folder below that of the study
DOWNLOAD_SUFFIXES = ("_series_matrix.txt.gz", "_NCBI.tsv.gz", ".annot.tsv.gz")
"""Suffixes of the files that are downloaded for a series: matrix, counts of NCBI, their genes."""


CONFIG_HEAD = """\
# The study. These three keys are needed; paths are seen from the folder where you run genesig.
# Genes x samples or samples x genes; many formats are read.
{expression}
# One row for each sample, its name in the first column.
{samples}
# The column of the sample table that is predicted; of survival two, {{time: ..., event: ...}}.
{label}
"""


CONFIG_REASONS = """
# Seen in the matrix when this file was written, and what follows from it:
{reasons}
{settings}
"""


CONFIG_OFFER = """
# Everything else has a default; `genesig parameters` lists all. Take the # away from what you need.
#
"""


# Commented lines of each section; a section that is already set is left out.
OPTIONAL_SECTIONS = {
    "data": """\
# data:
#   classes: [control, case]      # the classes to predict; of two the second is positive
#   group: patient                # samples of one patient never stand on both sides of a split
#   annotation: data/genes.tsv    # gene id and symbol
#   covariates: [age, sex]        # adjusted for in every model; then without nonlinear selection
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


# Two samples of each class, so that the template does not pass validation as a study.
SAMPLE_TEMPLATE = """\
sample\tdiagnosis\tpatient
sample_1\tcontrol\tpatient_1
sample_2\tcase\tpatient_2
sample_3\tcontrol\tpatient_3
sample_4\tcase\tpatient_4
"""


README_TEMPLATE = """\
# A genesig study

Work in this folder (`cd`): paths in `config.yaml` start here, and results are written here. A
second study gets a folder of its own. If your shell does not find `genesig`, activate its
environment.

1. Expression matrix: {matrix}
2. Sample table: {samples}
3. Outcome: {label}
4. Read the other lines of `config.yaml`, such as classes and covariates; change them if needed.
5. List all problems of the study, within seconds:

       genesig validate config.yaml

6. Run it:

       genesig run config.yaml --cores 2

   After a crash, unlock the folder, then run again; finished steps are not repeated:

       genesig run config.yaml --cores 2 --unlock
       genesig run config.yaml --cores 2

7. Open `results/report.html`. Score new samples with the model:

       genesig predict results/model.json new.tsv -o predictions.tsv
"""


MATRIX_TODO = """\
put it into `data/` and write its path as `expression` in `config.yaml`. Tables (TSV,
   CSV), GEO series matrices and SOFT files, GCT, h5ad, RDS, Agilent and Illumina files are read."""


MATRIX_SET = "`{expression}` (`expression` in `config.yaml`)."


SAMPLES_TODO = """\
fill in `samples.tsv`. It has one row for each sample, named as in the matrix. Add any
   columns you like. If the matrix's file describes its samples (GEO, GCT 1.3, h5ad,
   ExpressionSet), write that file as `samples` in `config.yaml` instead."""


SAMPLES_IN_MATRIX = "it is in the same file (`samples` in `config.yaml`)."


SAMPLES_SET = "`{samples}` (`samples` in `config.yaml`)."


LABEL_OF_COLUMN = """\
the study predicts the column `{label}` of the sample table. To predict another column,
   change `label` in `config.yaml`. Survival needs two: `label: {{time: years, event: status}}`."""


LABEL_OF_SURVIVAL = """\
the study predicts survival from the columns `{time}` and `{event}` of the sample table.
   To predict another outcome, change `label` in `config.yaml`, such as `label: diagnosis`."""


@dataclass(frozen=True)
class Start:
    """The first settings and files of a new study."""

    # value of the key `expression`; the default is a file that is still to be made
    expression: str = "data/expression.tsv"
    samples: str = "samples.tsv"  # value of the key `samples`
    # value of the key `label`; a mapping for times and events
    label: str | Mapping[str, str] = "diagnosis"
    sheet: str = SAMPLE_TEMPLATE  # text of samples.tsv; "" if the study needs none
    settings: Mapping[str, Any] = field(default_factory=dict)  # further sections of the config
    reasons: tuple[str, ...] = ()  # lines that explain the settings

    def config(self) -> str:
        """Return the text of config.yaml."""
        values = {key: getattr(self, key) for key in ("expression", "samples", "label")}
        needed = {
            key: _to_yaml({key: value}, short_lists=isinstance(value, Mapping))
            for key, value in values.items()
        }
        reasons_text = ""
        if self.reasons or self.settings:
            reasons_text = CONFIG_REASONS.format(
                reasons="\n".join(f"# {line}" for line in self.reasons),
                settings=_to_yaml(self.settings, short_lists=True),
            )
            reasons_text = reasons_text.rstrip("\n") + "\n"
        offered_text = "".join(
            text for key, text in OPTIONAL_SECTIONS.items() if key not in self.settings
        )
        return CONFIG_HEAD.format(**needed) + reasons_text + CONFIG_OFFER + offered_text

    @property
    def lacks_matrix(self) -> bool:
        """Return whether the study still needs an expression matrix."""
        return self.expression == Start.expression

    def readme(self) -> str:
        """Return the text of README.md."""
        matrix = MATRIX_TODO if self.lacks_matrix else MATRIX_SET.format(expression=self.expression)
        samples_text = (
            SAMPLES_IN_MATRIX
            if self.samples == self.expression
            else SAMPLES_SET.format(samples=self.samples)
        )
        if isinstance(self.label, str):
            label = LABEL_OF_COLUMN.format(label=self.label)
        else:
            label = LABEL_OF_SURVIVAL.format(**self.label)
        return README_TEMPLATE.format(
            matrix=matrix, samples=SAMPLES_TODO if self.sheet else samples_text, label=label
        )


def _to_yaml(value: Mapping[str, Any], *, short_lists: bool = False) -> str:
    """Return a mapping as YAML; lists are on one line if `short_lists`."""
    import yaml

    if not value:
        return ""
    style = None if short_lists else False  # None: only a list or mapping of scalars is on one line
    return yaml.safe_dump(
        dict(value), sort_keys=False, default_flow_style=style, allow_unicode=True, width=10_000
    ).strip()


def check_new_folder(folder: str | Path) -> None:
    """Raise if a folder has files: nothing is overwritten.

    Complete or partial downloads of an earlier attempt are allowed: they are continued.
    """
    folder = Path(folder)
    files = (path for path in folder.rglob("*") if not path.is_dir())
    if folder.exists() and (not folder.is_dir() or any(not _is_download(f) for f in files)):
        message = "is not an empty folder, and nothing in it will be overwritten; name a new one"
        raise input_error(folder, message)


def _is_download(path: Path) -> bool:
    """Tell whether a file is a downloaded series, or its checksum."""
    name = path.name.removesuffix(".part").removesuffix(".sha256")
    return path.parent.parts[-2:] == DOWNLOAD_FOLDER and name.endswith(DOWNLOAD_SUFFIXES)


def write_study(folder: str | Path, start: Start) -> list[Path]:
    """Write the files of a study into a folder that passed `check_new_folder`; return their paths.

    Raises InvalidInput: the folder cannot be written.
    """
    folder = Path(folder)
    files = {"config.yaml": start.config(), "samples.tsv": start.sheet, "README.md": start.readme()}
    if start.lacks_matrix:
        files["data/README.md"] = "The expression matrix of the study goes here.\n"
    files = {name: text for name, text in files.items() if text}
    try:
        for name, text in files.items():
            save_text(folder / name, text)
    except OSError as error:
        raise input_error(folder, f"cannot be written: {error.strerror}") from None
    return [folder / name for name in files]


def copy_shipped_files(names: Iterable[str]) -> None:
    """Copy shipped files to the same paths below the working directory.

    names: paths of files and folders below `shipped_folder`. Files that are not shipped are left
        out; identical files that exist already stay.

    Raises InvalidInput: a different file exists at a path; then nothing is copied.
    """
    files = [file for name in names for file in _shipped_files(name)]
    for file in files:
        if file.exists() and not filecmp.cmp(shipped_folder() / file, file, shallow=False):
            message = "is not the example's, and is not written over; go to an empty folder"
            raise input_error(file, message)
    for file in files:
        if not file.exists():
            with whole_file(file) as temporary_path:
                shutil.copyfile(shipped_folder() / file, temporary_path)


def _shipped_files(name: str) -> Iterator[Path]:
    """Yield a shipped file, or those of a shipped folder."""
    source = shipped_folder() / name
    for file in sorted(source.rglob("*")) if source.is_dir() else [source]:
        if file.is_file() and file.is_relative_to(shipped_folder()):
            yield file.relative_to(shipped_folder())
