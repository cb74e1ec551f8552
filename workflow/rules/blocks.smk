# From the fits of all splits to the signature, its blocks and the final model.
#
# INPUTS: results/dataset.h5ad, results/splits.json, results/linear/**
# OUTPUTS: the result tables, results/enrichment*.tsv, results/signature.h5ad, results/model.json


rule gather:
    input:
        **STUDY_AND_CHANCE,
        observed=batches("observed"),
        final="results/linear/final.npz",
        subsamples="results/linear/subsamples.npz",
    output:
        **shown(*GATHERED_TABLES, *STRETCH_TABLES, *DECISION_TABLES),
    log:
        "logs/gather.log",
    priority: 6
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("gather"),
    params:
        sources("gather.py"),
        **{key: config["signature"][key] for key in ("cv_frequency", "fdr")},
        **{key: config[key] for key in ("clusters", "probabilities", "decision")},
    script:
        "../scripts/gather.py"


# Which gene sets the lists hold more of than under permuted labels; only where a file of sets is named.
rule enrichment:
    input:
        user_files(ENRICHMENT_FILE),
        **tables("signature", "nested_lists", "blocks"),
        **STUDY,
        observed=batches("observed"),
        permuted=permuted(),
    output:
        **shown(*ENRICHMENT_TABLES),
    log:
        "logs/enrichment.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("enrichment"),
    params:
        sources("enrichment.py"),
        **{key: ENRICHMENT_SETTINGS[key] for key in ("smallest", "largest")},
    script:
        "../scripts/enrichment.py"


rule export:
    input:
        **tables("signature", "nested_lists"),
        dataset="results/dataset.h5ad",
        settings="results/settings.json",
    output:
        "results/signature.h5ad",
    log:
        "logs/export.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("export"),
    params:
        sources("export.py"),
    script:
        "../scripts/export.py"


rule model:
    input:
        **tables("selection"),
        dataset="results/dataset.h5ad",
        final="results/linear/final.npz",
    output:
        "results/model.json",
    log:
        "logs/model.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("model"),
    params:
        sources("model.py"),
        **{key: config[key] for key in ("probabilities", "decision")},
        fold_steps=config["normalise"]["folds"],
    script:
        "../scripts/model.py"
