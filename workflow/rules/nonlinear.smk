# Selection by derivative penalties on the same splits; nothing of it runs where it is switched off.
#
# INPUTS: results/dataset.h5ad, results/splits.json, results/linear/observed/*.npz,
# results/{nested_lists,signature}.tsv, nonlinear.groups
# OUTPUTS: results/nonlinear/*.npz, results/nonlinear*.tsv

NONLINEAR_TABLES = "nonlinear".split() + [
    f"nonlinear_{of}" for of in "scores model predictions agreement difference curves".split()
]
NONLINEAR_SETTINGS = {key: value for key, value in config["nonlinear"].items() if key != "enabled"}


# The longest jobs come first, so that no core waits for the last of them: these, then baselines,
# then the fits.
rule nonlinear_fit:
    input:
        user_files(config["nonlinear"]["groups"]),
        **STUDY,
    output:
        "results/nonlinear/{batch}.npz",
    log:
        "logs/nonlinear/{batch}.log",
    benchmark:
        "results/times/nonlinear/{batch}.tsv"
    priority: 10
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("nonlinear_fit"),
    params:
        sources("nonlinear_fit.py"),
        settings=NONLINEAR_SETTINGS,
        fold_steps=config["normalise"]["folds"],
        copies=file_copies(NONLINEAR_SETTINGS["groups"]),
    script:
        "../scripts/nonlinear_fit.py"


# Early, because `controls` and the report wait for its tables and those of `nonlinear_gather`.
rule nonlinear_final:
    input:
        user_files(config["nonlinear"]["groups"]),
        **STUDY,
    output:
        fits="results/nonlinear/final.npz",
        curves=shown("nonlinear_curves")["nonlinear_curves"],
    log:
        "logs/nonlinear_final.log",
    benchmark:
        "results/times/nonlinear/final.tsv"
    priority: 6
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("nonlinear_final"),
    params:
        sources("nonlinear_final.py"),
        settings=NONLINEAR_SETTINGS,
        fold_steps=config["normalise"]["folds"],
        copies=file_copies(NONLINEAR_SETTINGS["groups"]),
    script:
        "../scripts/nonlinear_final.py"


rule nonlinear_gather:
    input:
        **STUDY,
        lists=["results/nested_lists.tsv", "results/signature.tsv"],
        fits=[file.replace("linear/observed", "nonlinear") for file in batches("observed")],
        final="results/nonlinear/final.npz",
        observed=batches("observed"),
    output:
        **shown(*NONLINEAR_TABLES[:-1]),
    log:
        "logs/nonlinear_gather.log",
    priority: 6
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("nonlinear_gather"),
    params:
        sources("nonlinear_gather.py"),
        cv_frequency=config["signature"]["cv_frequency"],
    script:
        "../scripts/nonlinear_gather.py"
