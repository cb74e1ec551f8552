# From the user's files to a normalised data set and its splits.
#
# INPUTS: config["expression"], config["samples"], data.annotation, or those of config["studies"];
# splits.file, structured.sets
# OUTPUTS: results/validation.json, results/data/raw.h5ad, results/dataset.h5ad, results/splits.json,
# results/quality.json, results/modules.tsv, data/geo/*_series_matrix.txt.gz where the config names one

MODULES = ["modules"] if config["quality"]["modules"] else []

KNOWN = {key: config["structured"][key] for key in ("sets", "column", "smallest", "largest")}
# Enrichment holds lists against its own sets, or against those that are selected.
HELD = config["enrichment"] if config["enrichment"]["sets"] else KNOWN
ENRICHED = None if HELD.get("column") else HELD["sets"]
VALIDATED = ("label", "seed", "probabilities", "data", "normalise", "splits", "studies", "across")
SIGNATURES = config["controls"]["signatures"]
NAMED = {key: config[key] for key in ("expression", "samples", "label")}
READ = read_files()


localrules:
    fetch,


# For a config that names such a file as its expression: the file comes from GEO if it is not there.
rule fetch:
    output:
        local("data/geo/{series}_series_matrix.txt.gz"),
    log:
        "logs/fetch/{series}.log",
    wildcard_constraints:
        series=r"GSE\d+(-GPL\d+)?",
    conda:
        "../envs/genesig.yaml"
    script:
        "../scripts/fetch.py"


# Settings are checked when the workflow is read (common.smk); this rule looks at the files. It names
# the keys that concern them, so that other settings may change without reading all again.
rule validate:
    input:
        given(*READ, config["splits"]["file"], KNOWN["sets"], ENRICHED, SIGNATURES),
    output:
        "results/validation.json",
    log:
        "logs/validate.log",
    conda:
        "../envs/genesig.yaml"
    params:
        sources("validate.py"),
        settings={key: config[key] for key in VALIDATED},
        sets={"structured": KNOWN, "enrichment": config["enrichment"], "controls": SIGNATURES},
        read=digests(*READ, config["splits"]["file"], KNOWN["sets"], ENRICHED, SIGNATURES),
    script:
        "../scripts/validate.py"


rule read:
    input:
        "results/validation.json",
        given(*READ),
    output:
        "results/data/raw.h5ad",
    log:
        "logs/read.log",
    conda:
        "../envs/genesig.yaml"
    params:
        sources("read.py"),
        settings={**config["data"], **NAMED, "pooled": pooled_of(config)},
        folds=config["normalise"]["folds"],
        read=digests(*READ),
    script:
        "../scripts/read.py"


rule normalise:
    input:
        dataset="results/data/raw.h5ad",
    output:
        "results/dataset.h5ad",
    log:
        "logs/normalise.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("normalise"),
    params:
        sources("normalise.py"),
        **config["normalise"],
        align=config["across"]["align"],
    script:
        "../scripts/normalise.py"


rule split:
    input:
        given(config["splits"]["file"]),
        dataset="results/dataset.h5ad",
    output:
        "results/splits.json",
    log:
        "logs/split.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("split"),
    params:
        sources("split.py"),
        settings={**config["splits"], "seed": config["seed"]},
    script:
        "../scripts/split.py"


# What the samples look like, for the report; no fit reads it.
rule quality:
    input:
        raw="results/data/raw.h5ad",
        dataset="results/dataset.h5ad",
    output:
        "results/quality.json",
    log:
        "logs/quality.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("quality"),
    params:
        sources("quality.py"),
        folds=config["normalise"]["folds"],
    script:
        "../scripts/quality.py"


# Genes that vary together, without the label; no fit reads it either.
rule modules:
    input:
        dataset="results/dataset.h5ad",
    output:
        **shown("modules"),
    log:
        "logs/modules.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("modules"),
    params:
        sources("modules.py"),
        folds=config["normalise"]["folds"],
        modules=config["quality"]["modules"],
        seed=config["seed"],
    script:
        "../scripts/modules.py"
