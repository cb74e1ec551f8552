# What several studies say together; nothing of it runs where there is one.
#
# INPUTS: results/dataset.h5ad, results/predictions.tsv
# OUTPUTS: results/{studies,meta}.tsv

STUDIES = ["studies", "meta"] if config["studies"] else []


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
