"""genesig: from an expression matrix and a sample table to a gene signature and a report."""

from snakemake.utils import min_version

min_version("9.19")


# A config given on the command line that names its own data has nothing of the default study.
if "expression" not in config and "geo" not in config:

    configfile: "config/config.yaml"


# Built by `apptainer build genesig.sif workflow/envs/genesig.def`; used with --sdm apptainer only.
container: "genesig.sif"


report: "workflow/report/workflow.rst"


include: "workflow/rules/machine.smk"
include: "workflow/rules/common.smk"
include: "workflow/rules/resources.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/linear.smk"
include: "workflow/rules/nonlinear.smk"
include: "workflow/rules/sets.smk"
include: "workflow/rules/survival.smk"
include: "workflow/rules/controls.smk"
include: "workflow/rules/blocks.smk"
include: "workflow/rules/external.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        "results/report.html",
        "results/signature.h5ad",
        "results/model.json",
        "results/times/jobs.tsv",
