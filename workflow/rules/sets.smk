# Selection of gene sets on the same splits; nothing of it runs where no file of sets is named.
#
# INPUTS: structured.sets, results/dataset.h5ad, results/splits.json, results/linear/observed/*.npz
# OUTPUTS: results/sets/known.npz, results/sets/{labels}/{batch}.npz,
# results/sets/{final,subsamples}.npz, results/sets*.tsv

SET_TABLES = [
    f"sets{of}" for of in ("", "_scores", "_predictions", "_stability", "_error", "_genes")
]
SET_SETTINGS = {
    key: value for key, value in config["structured"].items() if key not in SET_FILE_SETTINGS
}
FINAL_SETS = {"fits": "results/sets/final.npz", "subsamples": "results/sets/subsamples.npz"}


rule gene_sets:
    input:
        user_files(SET_FILE_SETTINGS["sets"]),
        dataset="results/dataset.h5ad",
    output:
        "results/sets/known.npz",
    log:
        "logs/gene_sets.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("gene_sets"),
    params:
        sources("gene_sets.py"),
        settings={key: value for key, value in SET_FILE_SETTINGS.items() if key != "sets"},
    script:
        "../scripts/gene_sets.py"


rule sets_fit:
    input:
        **STUDY,
        sets="results/sets/known.npz",
    output:
        "results/sets/{labels}/{batch}.npz",
    log:
        "logs/sets/{labels}/{batch}.log",
    benchmark:
        "results/times/sets/{labels}/{batch}.tsv"
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("sets_fit"),
    params:
        sources("sets_fit.py"),
        settings=SET_SETTINGS,
        fold_steps=config["normalise"]["folds"],
    script:
        "../scripts/sets_fit.py"


rule sets_final:
    input:
        **STUDY,
        sets="results/sets/known.npz",
    output:
        **FINAL_SETS,
        genes=shown("sets_genes")["sets_genes"],
    log:
        "logs/sets_final.log",
    benchmark:
        "results/times/sets/final.tsv"
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("sets_final"),
    params:
        sources("sets_final.py"),
        settings=SET_SETTINGS,
        fold_steps=config["normalise"]["folds"],
    script:
        "../scripts/sets_final.py"


rule sets_gather:
    input:
        **{key: f"results/sets/{key}.npz" for key in ("known", "final", "subsamples")},
        **STUDY,
        of_sets=of_sets(batches("observed")),
        permuted=of_sets(permuted()),
        observed=batches("observed"),
    output:
        **shown(*SET_TABLES[:-1]),
    log:
        "logs/sets_gather.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("sets_gather"),
    params:
        sources("sets_gather.py"),
        cv_frequency=config["signature"]["cv_frequency"],
    script:
        "../scripts/sets_gather.py"
