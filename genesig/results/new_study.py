"""A study folder to be filled in: config, sample table, where to put the matrix, how to run it."""

from __future__ import annotations

from pathlib import Path

from genesig.errors import InvalidInput, Problem
from genesig.results.files import save_text

CONFIG = """\
# The study. These three keys are needed; paths are seen from the folder where you run genesig.
expression: data/expression.tsv   # genes x samples or samples x genes; many formats are read
samples: samples.tsv              # one row for each sample, its name in the first column
label: diagnosis                  # the column of the sample table that is predicted

# Everything else has a default; `genesig parameters` lists all. Take the # away from what you need.
#
# data:
#   classes: [control, case]      # where the label has more than two values; the second is positive
#   group: patient                # samples of one patient never stand on both sides of a split
#   batch: centre                 # samples that were processed together
#   annotation: data/genes.tsv    # gene id and symbol
# normalise:
#   samples: [{step: log2}]       # where the values were never logged
# splits:
#   scheme: stratified_group_kfold   # goes with data.group
# report:
#   title: My study
"""

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

1. Put the expression matrix into `data/`. Tables (TSV, CSV), GEO series matrices and SOFT files,
   GCT, h5ad, RDS, Agilent and Illumina files are read; name it in `config.yaml` as `expression`.
2. Fill `samples.tsv`: one row for each sample, named as in the matrix. Add any columns you like.
   Where the matrix's file describes its samples (GEO, GCT 1.3, h5ad, ExpressionSet), name that
   file as `samples` instead.
3. Name the column to be predicted in `config.yaml` as `label`.
4. Ask for all problems at once, in seconds:

       genesig validate config.yaml

5. Run it, with genesig's own folder as GENESIG; the results come into this folder:

       snakemake --cores 2 --snakefile GENESIG/Snakefile --configfile config.yaml

   After a crash or a kill, the same command once with `--unlock`, then as above; what was finished
   is kept:

       snakemake --cores 2 --snakefile GENESIG/Snakefile --configfile config.yaml --unlock
       snakemake --cores 2 --snakefile GENESIG/Snakefile --configfile config.yaml

6. Open `results/report.html`. Score new samples with the model:

       genesig predict results/model.json new.tsv -o predictions.tsv
"""

FILES = {
    "config.yaml": CONFIG,
    "samples.tsv": SAMPLES,
    "README.md": README,
    "data/README.md": "The expression matrix of the study goes here.\n",
}


def write_study(folder: str | Path) -> list[Path]:
    """Write the template of a study; return its files.

    Raises
    ------
    InvalidInput
        The folder has files already, or cannot be written: nothing is overwritten.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not an empty folder, and nothing in it will be overwritten; name a new one"
        raise InvalidInput([Problem(str(folder), what)])
    try:
        for name, text in FILES.items():
            save_text(folder / name, text)
    except OSError as error:
        raise InvalidInput([Problem(str(folder), f"cannot be written: {error.strerror}")]) from None
    return [folder / name for name in FILES]
