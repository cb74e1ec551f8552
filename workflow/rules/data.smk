# From the user's files to a normalised data set and its splits.
#
# INPUTS: config["expression"], config["samples"], data.annotation, splits.file
# OUTPUTS: results/validation.json, results/data/raw.h5ad, results/dataset.h5ad, results/splits.json


rule validate:
    input:
        config["expression"],
        config["samples"],
        optional(config["data"]["annotation"], config["splits"]["file"]),
        code=sources("validate.py"),
    output:
        "results/validation.json",
    params:
        config={k: v for k, v in config.items() if k != "report"},
    log:
        "logs/validate.log",
    script:
        "../scripts/validate.py"


rule read:
    input:
        ancient("results/validation.json"),
        optional(config["data"]["annotation"]),
        expression=config["expression"],
        samples=config["samples"],
        code=sources("read.py"),
    output:
        "results/data/raw.h5ad",
    params:
        label=config["label"],
        **config["data"],
    log:
        "logs/read.log",
    script:
        "../scripts/read.py"


rule normalise:
    input:
        dataset="results/data/raw.h5ad",
        code=sources("normalise.py"),
    output:
        "results/dataset.h5ad",
    params:
        **config["normalise"],
    log:
        "logs/normalise.log",
    script:
        "../scripts/normalise.py"


rule split:
    input:
        optional(config["splits"]["file"]),
        dataset="results/dataset.h5ad",
        code=sources("split.py"),
    output:
        "results/splits.json",
    params:
        seed=config["seed"],
        **config["splits"],
    log:
        "logs/split.log",
    script:
        "../scripts/split.py"
