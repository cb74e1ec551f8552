"""genesig: `snakemake --cores 2` in this folder; workflow/Snakefile is the table of contents."""


include: "workflow/Snakefile"


# What is included has no say in what is made when no target is named.
use rule all as study
