# The two-stage l1-l2 protocol: outer splits, all samples, half-subsamples.
#
# INPUTS: results/dataset.h5ad, results/splits.json
# OUTPUTS: results/linear/{labels}/{batch}.npz, results/linear/{chance,final,subsamples}.npz


wildcard_constraints:
    labels=r"observed|permuted-\d+-\d+",
    batch=r"\d+of\d+",


rule fit:
    input:
        **STUDY_AND_CHANCE,
        first="results/linear/final.npz",  # jobs that begin together would each compile
    output:
        "results/linear/{labels}/{batch}.npz",
    log:
        "logs/fit/{labels}/{batch}.log",
    benchmark:
        "results/times/{labels}/{batch}.tsv"
    wildcard_constraints:
        labels=r"permuted-\d+-\d+",
    priority: 5
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("fit"),
    params:
        sources("fit.py"),
        **LINEAR_SETTINGS,
    script:
        "../scripts/fit.py"


# Before the permutations: the short jobs that need no permutation then fill the cores at the end.
use rule fit as fit_observed with:
    wildcard_constraints:
        labels="observed",
    priority: 6
    resources:
        **needs("fit_observed"),


# First of the fits: after an installation it compiles the solver, and it does so once for all.
rule chance:
    input:
        **STUDY,
    output:
        "results/linear/chance.npz",
    log:
        "logs/chance.log",
    benchmark:
        "results/times/chance.tsv"
    priority: 30
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("chance"),
    params:
        sources("chance.py"),
        **LINEAR_SETTINGS,
        permutations=config["signature"]["permutations"],
    script:
        "../scripts/chance.py"


# It compiles what is left.
rule fit_final:
    input:
        **STUDY_AND_CHANCE,
    output:
        "results/linear/final.npz",
    log:
        "logs/fit_final.log",
    benchmark:
        "results/times/fit_final.tsv"
    priority: 20
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("fit_final"),
    params:
        sources("fit_final.py"),
        **LINEAR_SETTINGS,
    script:
        "../scripts/fit_final.py"


# Early for the same reason as `fit_observed`.
rule fit_subsamples:
    input:
        **STUDY_AND_CHANCE,
        first="results/linear/final.npz",  # jobs that begin together would each compile
    output:
        "results/linear/subsamples.npz",
    log:
        "logs/fit_subsamples.log",
    benchmark:
        "results/times/fit_subsamples.tsv"
    priority: 6
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("fit_subsamples"),
    params:
        sources("fit_subsamples.py"),
        **LINEAR_SETTINGS,
    script:
        "../scripts/fit_subsamples.py"
