# From the user's files to a normalised data set and its splits.
#
# INPUTS: config["expression"], config["samples"], data.annotation, or those of config["studies"];
# splits.file, structured.sets
# OUTPUTS: results/validation.json, results/data/raw.h5ad, results/dataset.h5ad, results/splits.json,
# results/quality.json, results/modules.tsv, data/geo/*_series_matrix.txt.gz where the config names one

from re import escape

from genesig.data.files.names import is_copied_as_folder
from genesig.data.files.names import named_files

NO_PATH = "(?!)"  # a pattern that no name fits

MODULE_TABLES = ["modules"] if config["quality"]["modules"] else []

SET_FILE_SETTINGS = {
    key: config["structured"][key] for key in ("sets", "column", "smallest", "largest")
}
# Enrichment compares lists with its own sets or, if it names none, with those that are selected.
ENRICHMENT_SETTINGS = config["enrichment"] if config["enrichment"]["sets"] else SET_FILE_SETTINGS
ENRICHMENT_FILE = None if ENRICHMENT_SETTINGS.get("column") else ENRICHMENT_SETTINGS["sets"]
VALIDATED_KEYS = (
    "label",
    "seed",
    "probabilities",
    "decision",
    "data",
    "normalise",
    "splits",
    "studies",
    "across",
)
SIGNATURE_FILE = config["controls"]["signatures"]
STUDY_FILES = read_files()
CHECKED_FILES = [
    *STUDY_FILES,
    config["splits"]["file"],
    SET_FILE_SETTINGS["sets"],
    ENRICHMENT_FILE,
    SIGNATURE_FILE,
]
# Jobs see no other files without a shared disk. On a shared one, as an input of the rule `validate`
# a changed file of groups would make all be read again.
CHECKED_FILES += [] if SHARED_DISK else [config["nonlinear"]["groups"]]


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
    resources:
        **needs_before_reading(),
    script:
        "../scripts/fetch.py"


if not SHARED_DISK and not REMOTE_JOB:
    UPLOADED = {place_in_storage(path): path for _, path in named_files(config)}
    UPLOADED_FOLDERS = {
        place
        for place, path in UPLOADED.items()
        if Path(path).is_dir() or is_copied_as_folder(path)
    }

    rule upload:
        input:
            lambda wildcards: local(UPLOADED[wildcards.place]),
        output:
            "inputs/{place}",
        log:
            "logs/upload/{place}.log",
        wildcard_constraints:
            place="|".join(map(escape, UPLOADED.keys() - UPLOADED_FOLDERS)) or NO_PATH,
        conda:
            "../envs/genesig.yaml"
        resources:
            **needs_before_reading(),
        params:
            read=lambda wildcards: digests(UPLOADED[wildcards.place]),
        script:
            "../scripts/upload.py"

    rule upload_folder:
        input:
            lambda wildcards: local(UPLOADED[wildcards.place]),
        output:
            directory("inputs/{place}"),
        log:
            "logs/upload/{place}.log",
        wildcard_constraints:
            place="|".join(map(escape, UPLOADED_FOLDERS)) or NO_PATH,
        conda:
            "../envs/genesig.yaml"
        resources:
            **needs_before_reading(),
        params:
            read=lambda wildcards: digests(UPLOADED[wildcards.place]),
        script:
            "../scripts/upload.py"


# Settings are checked when the workflow is read (common.smk); this rule looks at the files. It names
# the keys that concern them, so that other settings may change without reading all again.
rule validate:
    input:
        user_files(*CHECKED_FILES),
    output:
        "results/validation.json",
    log:
        "logs/validate.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs_before_reading(),
    params:
        sources("validate.py"),
        settings={key: config[key] for key in VALIDATED_KEYS},
        copies=file_copies(*CHECKED_FILES),
        sets={
            "structured": SET_FILE_SETTINGS,
            "enrichment": config["enrichment"],
            "controls": SIGNATURE_FILE,
        },
        read=digests(*CHECKED_FILES),
    script:
        "../scripts/validate.py"


rule read:
    input:
        "results/validation.json",
        user_files(*STUDY_FILES),
    output:
        "results/data/raw.h5ad",
    log:
        "logs/read.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs_before_reading(),
    params:
        sources("read.py"),
        settings={key: config[key] for key in READ_KEYS},
        fold_steps=config["normalise"]["folds"],
        copies=file_copies(*STUDY_FILES),
        read=digests(*STUDY_FILES),
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
        user_files(config["splits"]["file"]),
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
        copies=file_copies(config["splits"]["file"]),
    script:
        "../scripts/split.py"


# Quality of the samples, for the report; no fit reads it.
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
        fold_steps=config["normalise"]["folds"],
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
        fold_steps=config["normalise"]["folds"],
        modules=config["quality"]["modules"],
        seed=config["seed"],
    script:
        "../scripts/modules.py"
