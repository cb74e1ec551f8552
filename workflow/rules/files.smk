# Names of the files of several jobs, and of those that a setting asks for.

from os import access, R_OK
from pathlib import Path

from genesig.results.run import sha256


def batches(labels):
    """Return the files of all batches of the outer splits.

    labels: "observed", or "permuted-001-050" for the label permutations 1 to 50.
    """
    count = config["splits"]["batches"]
    return [f"results/linear/{labels}/{i}of{count}.npz" for i in range(1, count + 1)]


def permuted():
    """Return the files of all batches of all label permutations."""
    controls = config["controls"]
    last, step = controls["permutations"], controls["permutations_per_job"]
    firsts = range(1, last + 1, step)
    names = [f"permuted-{first:03d}-{min(first + step - 1, last):03d}" for first in firsts]
    return [file for name in names for file in batches(name)]


def fits():
    """Return all files with fits, and those that a report needs to read the fits."""
    observed = batches("observed")
    files = [*observed, *permuted(), "results/null.npz"]
    files += [f"results/linear/{name}.npz" for name in ("chance", "final", "subsamples")]
    names = [*(Path(file).name for file in observed), "final.npz"]
    files += [f"results/nonlinear/{name}" for name in nonlinear(*names)]
    once = (f"results/sets/{name}.npz" for name in ("known", "final", "subsamples"))
    return [*files, *sets(*of_sets([*observed, *permuted()]), *once)]


def read_files():
    """Return the files that the matrix, its samples and its genes are read from; None is not set."""
    studies = config["studies"]
    single = [config[key] for key in ("expression", "samples") if not studies]
    pooled = [study[key] for study in studies for key in ("expression", "samples", "annotation")]
    return list(dict.fromkeys([*single, *pooled, config["data"]["annotation"]]))


def digests(*paths):
    """Return {file: SHA-256} of the user's files that are set, for the parameters of a rule.

    Their dates do not tell: a corrected file may be older than the results. A file that the workflow
    fetches is left out, as it is not there when a study begins.
    """
    files = [Path(path) for path in paths if path]
    files = [path for path in files if path.parent != Path("data/geo") and access(path, R_OK)]
    return {str(path): sha256(path) for path in files if path.is_file() or path.is_dir()}


def costs():
    """Return the files in which Snakemake writes the time of each job of some length."""
    fits = [Path(f).relative_to("results/linear") for f in [*batches("observed"), *permuted()]]
    jobs = [*map(Path, ("chance", "fit_final", "fit_subsamples", "baselines")), *fits]
    if config["nonlinear"]["enabled"]:
        names = [Path(file).name for file in batches("observed")]
        jobs += [Path("nonlinear", name) for name in [*names, "final.npz"]]
    return [f"results/times/{job.with_suffix('.tsv')}" for job in jobs]


def tables(*names):
    """Return name -> file of these result tables, as inputs or outputs of a rule."""
    return {name: f"results/{name}.tsv" for name in names}


def shown(*names):
    """Return name -> file of these result tables, marked to be shown by `snakemake --report`."""
    page = {"category": "Tables", "caption": "../report/table.rst"}
    files = tables(*names).items()
    return {name: report(path, labels={"table": name}, **page) for name, path in files}


def nonlinear(*names):
    """Return the names, of tables or files of nonlinear selection; none if it is switched off."""
    return names if config["nonlinear"]["enabled"] else ()


def of_sets(files):
    """Return the files with fits of gene sets for the splits and labels of files of linear fits."""
    return [file.replace("linear", "sets", 1) for file in files]


def sets(*files):
    """Return the files; none if the config names no file of gene sets."""
    return files if SET_FILE_SETTINGS["sets"] else ()


def sets_costs():
    """Return the files in which Snakemake writes the time of each job that selects sets."""
    jobs = sets(*of_sets([*batches("observed"), *permuted()]), "results/sets/final.npz")
    return [f"results/times/{Path(job).relative_to('results').with_suffix('.tsv')}" for job in jobs]


def survival(*names):
    """Return the names of tables of survival; none if the label is another, a single column."""
    return () if isinstance(config["label"], str) else names
