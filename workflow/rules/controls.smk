# Methods and lists with which the signature is compared, on the same splits.
#
# INPUTS: results/dataset.h5ad, results/splits.json, results/linear/{observed,permuted-*}/*.npz,
# results/{,nonlinear_,sets_}predictions.tsv
# OUTPUTS: results/{controls,baselines,frequency_curve,null_cv_frequency}.tsv, results/null.npz,
# results/published.tsv where controls.signatures names a file, results/omics.tsv where data.omics
# is set, results/{patients,score_effect,subgroups,next_study}.tsv,
# results/survival{,_curves,_risk}.tsv where the response is survival

OTHER_PREDICTIONS = ["baselines", *nonlinear("nonlinear_predictions"), *sets("sets_predictions")]

SURVIVAL_TABLES = ["survival", "survival_curves", "survival_risk"]

PUBLISHED_TABLES = ["published"] if SIGNATURE_FILE else []

OMICS_TABLES = ["omics"] if config["data"]["omics"] else []

PATIENT_TABLES = ["patients", "score_effect", "subgroups", "next_study"]


# Before the jobs for which the report does not wait.
rule null:
    input:
        **STUDY,
        observed=batches("observed"),
        permuted=permuted(),
    output:
        **shown("frequency_curve"),
        null="results/null.npz",
        null_cv_frequency="results/null_cv_frequency.tsv",
    log:
        "logs/null.log",
    priority: 6
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("null"),
    params:
        sources("null.py"),
    script:
        "../scripts/null.py"


rule baselines:
    input:
        **STUDY,
        first=survival("results/linear/final.npz"),  # both would compile Cox's model
    output:
        "results/baselines.tsv",
    log:
        "logs/baselines.log",
    benchmark:
        "results/times/baselines.tsv"
    priority: 8
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("baselines"),
    params:
        sources("baselines.py"),
        fold_steps=config["normalise"]["folds"],
        baselines=config["controls"]["baselines"],
    script:
        "../scripts/baselines.py"


rule controls:
    input:
        **STUDY,
        observed=batches("observed"),
        null="results/null.npz",
        others=[f"results/{name}.tsv" for name in OTHER_PREDICTIONS],
    output:
        **shown("controls"),
    log:
        "logs/controls.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("controls"),
    params:
        sources("controls.py"),
    script:
        "../scripts/controls.py"


# Published signatures and random lists of genes; only where a file of signatures is named.
rule published:
    input:
        user_files(SIGNATURE_FILE),
        **STUDY,
        observed=batches("observed"),
    output:
        **shown("published"),
    log:
        "logs/published.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("baselines"),
    params:
        sources("published.py"),
        **LINEAR_SETTINGS,
    script:
        "../scripts/published.py"


# The whole procedure without each omic in turn; only where the matrix holds several.
rule omics:
    input:
        **STUDY_AND_CHANCE,
        observed=batches("observed"),
        final="results/linear/final.npz",
    output:
        **shown("omics"),
    log:
        "logs/omics.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("omics"),
    params:
        sources("omics.py"),
        **LINEAR_SETTINGS,
        omic_factors=config["data"]["omics"],
        permutations=config["signature"]["permutations"],
    script:
        "../scripts/omics.py"


# How well held-out survival is predicted; the rule does not run for other kinds of outcome.
rule survival:
    input:
        **STUDY,
        observed=batches("observed"),
    output:
        **shown(*SURVIVAL_TABLES),
    log:
        "logs/survival.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("survival"),
    params:
        sources("survival.py"),
        fold_steps=config["normalise"]["folds"],
    script:
        "../scripts/survival.py"


# The patients of the study, the effect of the held-out score, the size of a validation study.
rule patients:
    input:
        **STUDY,
        predictions="results/predictions.tsv",
    output:
        **shown(*PATIENT_TABLES),
    log:
        "logs/patients.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("patients"),
    params:
        sources("patients.py"),
    script:
        "../scripts/patients.py"
