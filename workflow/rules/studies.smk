# Tables that compare several studies; the rule does not run if there is one study.
#
# INPUTS: results/dataset.h5ad, results/predictions.tsv
# OUTPUTS: results/{studies,meta}.tsv

STUDIES_TABLES = ["studies", "meta"] if config["studies"] else []


rule studies:
    input:
        **tables("predictions"),
        dataset="results/dataset.h5ad",
    output:
        **shown("studies", "meta"),
    log:
        "logs/studies.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("studies"),
    params:
        sources("studies.py"),
    script:
        "../scripts/studies.py"
