# Names of the files of several jobs, and of those that a setting asks for.

from os import access, R_OK
from pathlib import Path

from genesig.results.run import sha256


def batches(labels):
    """Return the files of all batches of the outer splits under some labels."""
    count = config["splits"]["batches"]
    return [f"results/linear/{labels}/{i}of{count}.npz" for i in range(1, count + 1)]


def permuted():
    """Return the files of all batches of all label permutations."""
    controls = config["controls"]
    last, step = controls["permutations"], controls["permutations_per_job"]
    ranges = [(first, min(first + step - 1, last)) for first in range(1, last + 1, step)]
    return [file for a, b in ranges for file in batches(f"permuted-{a:03d}-{b:03d}")]


def fits():
    """Return the files that hold all fits, and the settings that permuted ones are read at."""
    observed = batches("observed")
    files = [*observed, *permuted(), "results/null.npz"]
    files += [f"results/linear/{name}.npz" for name in ("chance", "final", "subsamples")]
    names = [*(Path(file).name for file in observed), "final.npz"]
    files += [f"results/nonlinear/{name}" for name in nonlinear(*names)]
    kept = (f"results/sets/{name}.npz" for name in ("known", "final", "subsamples"))
    return [*files, *sets(*of_sets([*observed, *permuted()]), *kept)]


def read_files():
    """Return the files that the matrix, its samples and its genes are read from."""
    studies = config["studies"]
    one = [config[key] for key in ("expression", "samples") if not studies]
    many = [study[key] for study in studies for key in ("expression", "samples", "annotation")]
    return list(dict.fromkeys([*one, *many, config["data"]["annotation"]]))


def digests(*paths):
    """Return the SHA-256 of each of the user's files that is set, for the parameters of a rule.

    A corrected file may be older than the results. One that the workflow fetches has none: it is not
    there when a study begins.
    """
    named = [Path(path) for path in paths if path]
    kept = [path for path in named if path.parent != Path("data/geo") and access(path, R_OK)]
    return {str(path): sha256(path) for path in kept if path.is_file() or path.is_dir()}


def costs():
    """Return the benchmark files of the jobs that compute."""
    fits = [Path(f).relative_to("results/linear") for f in [*batches("observed"), *permuted()]]
    jobs = [*map(Path, ("chance", "fit_final", "fit_subsamples", "baselines")), *fits]
    if config["nonlinear"]["enabled"]:
        names = [Path(file).name for file in batches("observed")]
        jobs += [Path("nonlinear", name) for name in [*names, "final.npz"]]
    return [f"results/times/{job.with_suffix('.tsv')}" for job in jobs]


def tables(*names):
    """Return the result tables of these names, by name."""
    return {name: f"results/{name}.tsv" for name in names}


def shown(*names):
    """Return the result tables of these names, as `snakemake --report` shows them."""
    how = {"category": "Tables", "caption": "../report/table.rst"}
    found = tables(*names).items()
    return {name: report(path, labels={"table": name}, **how) for name, path in found}


def nonlinear(*names):
    """Return the names of these tables of nonlinear selection; none where it is switched off."""
    return names if config["nonlinear"]["enabled"] else ()


def of_sets(files):
    """Return the files of the same splits and labels where sets are selected."""
    return [file.replace("linear", "sets", 1) for file in files]


def sets(*files):
    """Return these; none where no file of sets is named."""
    return files if KNOWN["sets"] else ()


def sets_costs():
    """Return the benchmark files of the jobs that select sets."""
    jobs = sets(*of_sets([*batches("observed"), *permuted()]), "results/sets/final.npz")
    return [f"results/times/{Path(job).relative_to('results').with_suffix('.tsv')}" for job in jobs]


def survival(*names):
    """Return the names of these tables of survival; none where the response is another."""
    return () if isinstance(config["label"], str) else names
