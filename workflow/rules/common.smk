from os import environ
from pathlib import Path

from snakemake.exceptions import WorkflowError

from genesig.data.files.readers import load_schema, read_config
from genesig.data.study.files_check import check_files
from genesig.data.validate import study_config
from genesig.errors import InvalidInput
from genesig.selection.linear.protocol import keywords
from genesig.results.sources import sources as needed

# In a string, or a list of strings, braces are a wildcard to Snakemake, in a dictionary they are
# not: whatever a user may have written reaches a job as a dictionary, `settings`.

ROOT = Path(workflow.basedir)
if set("{}") & set(str(ROOT)):
    raise WorkflowError(f"{ROOT}: braces in a folder's name are a wildcard to Snakemake; rename it")

GATHERED = (
    "signature nested_lists lists blocks prototypes scores predictions rejection stability univariate"
).split()

try:
    given = " + ".join(str(f).removeprefix(f"{Path.cwd()}/") for f in workflow.configfiles)
    # For messages of jobs. As a parameter, a config of another name would be computed anew.
    environ["GENESIG_CONFIG"] = given
    for configfile in workflow.configfiles:
        read_config(configfile)  # which says what YAML reads otherwise than it is written
    config.update(study_config(config, load_schema(), source=given))
    check_files(config)
except InvalidInput as problems:
    raise WorkflowError(f"the config cannot be used:\n{problems}") from None


def sources(script):
    """Return every file of the package that a script needs, as inputs of its rule."""
    return [str(file) for file in needed(ROOT / "workflow/scripts" / script, ROOT)]


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


def optional(*paths):
    """Return those of the config's optional files that are set."""
    return [path for path in paths if path]


def costs():
    """Return the benchmark files of the jobs that compute."""
    fits = [Path(f).relative_to("results/linear") for f in [*batches("observed"), *permuted()]]
    jobs = [*map(Path, ("fit_final", "fit_subsamples", "baselines")), *fits]
    if config["nonlinear"]["enabled"]:
        names = [Path(file).name for file in batches("observed")]
        jobs += [Path("nonlinear", name) for name in [*names, "final.npz"]]
    return [f"results/times/{job.with_suffix('.tsv')}" for job in jobs]


def tables(*names):
    """Return the result tables of these names, by name."""
    return {name: f"results/{name}.tsv" for name in names}


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
