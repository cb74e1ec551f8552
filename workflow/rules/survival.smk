# How well held-out survival is foretold; nothing of it runs where the response is another.
#
# INPUTS: results/dataset.h5ad, results/splits.json, results/linear/observed/*.npz
# OUTPUTS: results/survival{,_curves,_risk}.tsv

FORETOLD = ["survival", "survival_curves", "survival_risk"]


rule survival:
    input:
        dataset="results/dataset.h5ad",
        splits="results/splits.json",
        observed=batches("observed"),
        code=sources("survival.py"),
    output:
        **tables(*FORETOLD),
    log:
        "logs/survival.log",
    resources:
        **needs("survival"),
    params:
        folds=config["normalise"]["folds"],
    script:
        "../scripts/survival.py"
