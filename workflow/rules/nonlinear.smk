# Selection by derivative penalties on the same splits; nothing of it runs where it is switched off.
#
# INPUTS: results/dataset.h5ad, results/splits.json, results/linear/observed/*.npz,
# results/nested_lists.tsv, nonlinear.groups
# OUTPUTS: results/nonlinear/*.npz, results/nonlinear*.tsv

NONLINEAR = "nonlinear".split() + [
    f"nonlinear_{of}" for of in "scores model predictions agreement difference".split()
]


def nonlinear_fits(final=False):
    """Return the files of all batches of nonlinear fits, and that of all samples."""
    names = [Path(file).name for file in batches("observed")]
    return [f"results/nonlinear/{name}" for name in names + ["final.npz"] * final]


def nonlinear_tables(*names):
    """Return the tables of nonlinear selection of these names; none where it is switched off."""
    return tables(*names) if config["nonlinear"]["enabled"] else {}


rule nonlinear_fit:
    input:
        optional(config["nonlinear"]["groups"]),
        dataset="results/dataset.h5ad",
        splits="results/splits.json",
        code=sources("nonlinear_fit.py"),
    output:
        "results/nonlinear/{batch}.npz",
    log:
        "logs/nonlinear/{batch}.log",
    benchmark:
        "results/times/nonlinear/{batch}.tsv"
    params:
        **{key: value for key, value in config["nonlinear"].items() if key != "enabled"},
        folds=config["normalise"]["folds"],
    script:
        "../scripts/nonlinear_fit.py"


rule nonlinear_final:
    input:
        optional(config["nonlinear"]["groups"]),
        dataset="results/dataset.h5ad",
        splits="results/splits.json",
        code=sources("nonlinear_final.py"),
    output:
        fits="results/nonlinear/final.npz",
        curves="results/nonlinear_curves.tsv",
    log:
        "logs/nonlinear_final.log",
    benchmark:
        "results/times/nonlinear/final.tsv"
    params:
        **{key: value for key, value in config["nonlinear"].items() if key != "enabled"},
        folds=config["normalise"]["folds"],
    script:
        "../scripts/nonlinear_final.py"


rule nonlinear_gather:
    input:
        dataset="results/dataset.h5ad",
        splits="results/splits.json",
        fits=nonlinear_fits(),
        final="results/nonlinear/final.npz",
        observed=batches("observed"),
        nested="results/nested_lists.tsv",
        code=sources("nonlinear_gather.py"),
    output:
        **tables(*NONLINEAR),
    log:
        "logs/nonlinear_gather.log",
    params:
        signature=config["signature"],
    script:
        "../scripts/nonlinear_gather.py"
