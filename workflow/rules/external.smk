# The final model on data sets of other studies, one folder for each.
#
# INPUTS: the files of config["external"], results/model.json, results/dataset.h5ad
# OUTPUTS: results/external/validation.json,
# results/external/{name}/{predictions,scores,genes}.tsv, results/external/{name}/about.json

from itertools import chain

COHORT_TABLES = ("predictions", "scores", "genes")
COHORTS = {cohort["name"]: cohort for cohort in config["external"]}
FILES_OF_COHORT = {
    name: [cohort[file] for file in ("expression", "samples", "annotation", "renamed")]
    for name, cohort in COHORTS.items()
}
INPUTS_OF_COHORT = {name: user_files(*files) for name, files in FILES_OF_COHORT.items()}
COHORT_RECORDS = collect("results/external/{name}/about.json", name=COHORTS)
COHORT_TABLE_FILES = collect("results/external/{name}/{of}.tsv", name=COHORTS, of=COHORT_TABLES)
COHORT_OUTPUTS = {
    of: report(
        f"results/external/{{name}}/{of}.tsv",
        category="Other cohorts",
        caption="../report/table.rst",
        labels={"cohort": "{name}", "table": of},
    )
    for of in COHORT_TABLES
}


# A rule of its own, so that another data set is no reason to do the study again; the first to run,
# so that a fault is found before anything is computed.
rule validate_external:
    input:
        *user_files(*STUDY_FILES),
        *INPUTS_OF_COHORT.values(),
    output:
        "results/external/validation.json",
    log:
        "logs/validate_external.log",
    priority: 1
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs_before_reading(),
    params:
        sources("validate_external.py"),
        settings={key: config[key] for key in (*VALIDATED_KEYS, "external")},
        copies=file_copies(*STUDY_FILES, *chain(*FILES_OF_COHORT.values())),
        read=digests(*STUDY_FILES, *chain(*FILES_OF_COHORT.values())),
    script:
        "../scripts/validate_external.py"


rule external:
    input:
        lookup(dpath="{name}", within=INPUTS_OF_COHORT),
        validation="results/external/validation.json",
        dataset="results/dataset.h5ad",
        model="results/model.json",
    output:
        **COHORT_OUTPUTS,
        about="results/external/{name}/about.json",
    log:
        "logs/external/{name}.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("external"),
    params:
        sources("external.py"),
        cohort=lookup(dpath="{name}", within=COHORTS),
        copies=file_copies(*chain(*FILES_OF_COHORT.values())),
    script:
        "../scripts/external.py"
