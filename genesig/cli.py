"""The command line: validate a study, run it, start one, fetch its data, score new samples."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from genesig import __version__

RUNS_OWN = ("--example", "--help", "-h")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code: 0, 1 for problems, 2 for usage, 130 for Ctrl-C."""
    from genesig.errors import GenesigError, InvalidInput, printable
    from genesig.machine import check_memory, refusal

    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name may hold what the terminal has no sign for.
        sys.stdout.reconfigure(errors="backslashreplace")
    chosen = _chosen(arguments)
    try:
        check_memory()
        code = COMMANDS[chosen.command](chosen)
        sys.stdout.flush()
    except GenesigError as error:
        # Of what was given wrong each problem is a line with its level.
        own = isinstance(error, InvalidInput)
        text = str(error) if own else printable(f"error: {error}")
        # What a config calls data.part, a command that reads no config calls --part.
        print(text.replace("data.part", "--part") if "part" in chosen else text, file=sys.stderr)
        return 1
    except BrokenPipeError:  # `genesig parameters | head`
        return _silenced(1)
    except KeyboardInterrupt:
        return 130
    except (OSError, MemoryError, ImportError, RuntimeError) as error:
        said = refusal(error, None)
        if said is None:
            raise
        print(said, file=sys.stderr)
        return _silenced(1)
    return code


def _chosen(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; after `run`, the first option that it does not know is Snakemake's."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    foreign = [k for k, word in enumerate(words) if word.startswith("-") and word not in RUNS_OWN]
    own = min(foreign, default=len(words)) if words[:1] == ["run"] else len(words)
    parser = _parser()
    chosen = parser.parse_args(words[:own])
    chosen.options = words[own:]
    if chosen.command == "run" and not chosen.config and not chosen.example:
        parser.error("name the config first, then Snakemake's options: "
                     "genesig run mystudy.yaml --cores 2")  # fmt: skip
    return chosen


def _silenced(code: int) -> int:
    """Let what is still to be written at the end go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="genesig", description="Gene signatures from expression data.",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"genesig {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    validate = commands.add_parser("validate", help="check config, sample table and matrix")
    validate.add_argument("config", nargs="*", default=["config/config.yaml"],
                          help="config file (default: config/config.yaml); of several, as with "
                          "--configfile, each stands on top of those before it")  # fmt: skip
    run = commands.add_parser(
        "run", help="check a study, then run it in this folder",
        epilog="All other options are Snakemake's: --cores 2, --dry-run, --unlock, "
        "--workflow-profile slurm.",
    )  # fmt: skip
    run.add_argument("config", nargs="*", help="config file; of several, each stands on top of "
                     "those before it")  # fmt: skip
    run.add_argument("--example", action="store_true", help="the leukemia study that comes with "
                     "genesig, or the example that CONFIG names, such as counts; its files are "
                     "copied into this folder")  # fmt: skip
    init = commands.add_parser("init", help="write a study folder to be filled in")
    init.add_argument("folder", metavar="DIR", help="a new or empty folder")
    init.add_argument("-e", "--expression", metavar="FILE", help="your matrix in any format, "
                      "or a series of GEO: fills config and sample table in")  # fmt: skip
    init.add_argument("-s", "--samples", metavar="FILE", help="your sample table, where the "
                      "matrix's file does not describe its samples")  # fmt: skip
    init.add_argument("--part", help="which matrix of a file that holds several (data.part)")
    fetch = commands.add_parser("fetch", help="download a series from GEO")
    fetch.add_argument("series", help="such as GSE55235, or GSE781-GPL96")
    fetch.add_argument("-d", "--folder", default="data/geo", help="(default: %(default)s)")
    _add_symbols(commands.add_parser("symbols", help="look the symbols of gene ids up"))
    _add_predict(commands.add_parser("predict", help="score new samples with a study's model"))
    verify = commands.add_parser("verify", help="tell which results were changed since the run")
    verify.add_argument("folder", nargs="?", default="results", metavar="RESULTS",
                        help="folder with run.json (default: %(default)s)")  # fmt: skip
    crate = commands.add_parser("crate", help="describe results as an RO-Crate, for an archive")
    crate.add_argument("folder", nargs="?", default="results", metavar="RESULTS",
                       help="folder with run.json (default: %(default)s)")  # fmt: skip
    commands.add_parser("parameters", help="print the table of all settings (Markdown)")
    return parser


def _add_symbols(symbols: argparse.ArgumentParser) -> None:
    symbols.description = "Look ids of genes up at MyGene.info, or in a file."
    symbols.add_argument("matrix", help="expression matrix, in any format that is read")
    symbols.add_argument("-o", "--output", default="genes.tsv", help="gene table to write, or to "
                         "add to (default: %(default)s)")  # fmt: skip
    symbols.add_argument("--species", default="human", help="(default: %(default)s)")
    symbols.add_argument("--offline", metavar="TABLE", help="take the symbols from this table: "
                         "that of the array's platform (GPL, NetAffx, Illumina), or "
                         "hgnc_complete_set.txt of genenames.org, which has present symbols for "
                         "former ones, too")  # fmt: skip
    symbols.add_argument("--part", help="which matrix of a file that holds several (data.part)")


def _add_predict(predict: argparse.ArgumentParser) -> None:
    predict.add_argument("model", help="results/model.json of the study")
    predict.add_argument("matrix", nargs="+", help="expression of the new samples, in any format "
                         "that is read; or files of arrays (CEL, IDAT, Agilent)")  # fmt: skip
    predict.add_argument("-o", "--output", default="predictions.tsv", help="table to write; - is "
                         "the terminal (default: %(default)s)")  # fmt: skip
    predict.add_argument("--missing", type=float, default=0.1, metavar="SHARE",
                         help="largest share, 0 to 1, of the model's genes that a sample may lack; "
                         "they get their training means (default: %(default)s)")  # fmt: skip
    predict.add_argument("--mu", type=float, help="score by the nested list at this mu")
    predict.add_argument(
        "--fdr-selected", action="store_true", help="score by the FDR-selected genes alone"
    )
    predict.add_argument("--part", help="which matrix of a file that holds several (data.part)")
    predict.add_argument("--samples", metavar="TABLE",
                         help="sample table of the new samples: covariates that the model holds "
                         "fixed, batches where it corrects these; it chooses")  # fmt: skip
    predict.add_argument("--renamed", metavar="TABLE", help="hgnc_complete_set.txt of "
                         "genenames.org: finds genes that were renamed")  # fmt: skip
    predict.add_argument("--layout", metavar="FOLDER", help="where the layout or the manifest "
                         "of the arrays' chip is (default: beside the first of them)")  # fmt: skip


def _validate(chosen: argparse.Namespace) -> int:
    return _checked(chosen.config)


def _checked(configs: Sequence[str]) -> int:
    """Print every problem of a study, what it is and what it costs; return 1 for an error."""
    # Imported here: the help and the version need not wait for numpy and pandas.
    from genesig.data.files.config_text import merge_configs
    from genesig.data.files.readers import load_schema, read_config
    from genesig.data.validate import examine
    from genesig.errors import printable
    from genesig.words import counted

    source = " + ".join(configs)
    found = examine(merge_configs(*map(read_config, configs)), load_schema(), source)
    for problem in found.problems:
        print(problem, file=sys.stderr)
    levels = [problem.level for problem in found.problems]
    errors, warnings = levels.count("error"), levels.count("warning")
    counts = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
    said = [f"{source}: {counts}", *([] if errors else [found.summary, found.cost])]
    print(printable("; ".join(said)))
    return 1 if errors else 0


def _run(chosen: argparse.Namespace) -> int:
    from genesig.workflow import command, environment

    configs = _example(chosen.config) if chosen.example else chosen.config
    line = command(configs, chosen.options)
    if code := _checked(configs):
        return code
    sys.stdout.flush()
    # In place of this process, so that signals reach Snakemake and its exit code is the answer.
    os.execve(line[0], line, environment())


def _example(names: Sequence[str]) -> list[str]:
    """Copy shipped studies into this folder; return their configs."""
    from genesig.data.files.names import named_files
    from genesig.data.files.readers import read_config
    from genesig.results.new_study import lay_out
    from genesig.workflow import home

    configs = [f"config/examples/{name}.yaml" for name in names] or ["config/config.yaml"]
    for config in configs:
        lay_out([config, *(file for _, file in named_files(read_config(home() / config)))])
    return configs


def _init(chosen: argparse.Namespace) -> int:
    from genesig.errors import refuse
    from genesig.results.new_study import Start, check_new, write_study

    check_new(chosen.folder)
    start = Start()
    if chosen.expression is not None:
        from genesig.data.files.first_look import first_look

        start = first_look(chosen.expression, chosen.part, chosen.folder, chosen.samples)
    elif chosen.samples is not None:
        raise refuse("--samples", "needs the matrix, too; name it by --expression")
    for path in write_study(chosen.folder, start):
        print(path)
    print(f"next: {Path(chosen.folder) / 'README.md'} says what to fill in, and the commands")
    return 0


def _fetch(chosen: argparse.Namespace) -> int:
    from genesig.data.files.geo_counts import lack_of_values
    from genesig.data.files.names import fetch
    from genesig.errors import Problem

    path = fetch(chosen.series, chosen.folder)
    print(path)
    if reason := lack_of_values(path):
        print(Problem(str(path), reason, "warning"), file=sys.stderr)
    return 0


def _symbols(chosen: argparse.Namespace) -> int:
    from genesig.data.files.readers import read_matrix
    from genesig.data.files.symbols import write_symbols

    matrix, out = read_matrix(chosen.matrix, chosen.part), chosen.output
    axes = (matrix.rows, matrix.columns)
    said = write_symbols(axes, chosen.matrix, out, chosen.species, chosen.offline)
    print(f"{out}: {said}; in the config it is data: {{annotation: {out}}}")
    return 0


def _predict(chosen: argparse.Namespace) -> int:
    from genesig.data.cohorts.new_matrix import read_new
    from genesig.data.files.headers import with_names_of
    from genesig.data.files.readers import read_json, read_samples
    from genesig.data.files.sample_names import table_of_matrix
    from genesig.errors import Problem, refuse
    from genesig.results.files import check_output, save_table, write_table
    from genesig.selection.model.new_samples import predict
    from genesig.selection.model.schema import scored_by
    from genesig.words import counted

    if chosen.output != "-":
        check_output(chosen.output, [chosen.model, *chosen.matrix, chosen.samples or ""])
    model, matrix = read_json(chosen.model), read_new(chosen.matrix, chosen.part, chosen.layout)
    where = chosen.matrix[0] + (f" and {n} more" if (n := len(chosen.matrix) - 1) else "")
    samples = read_samples(chosen.samples, None, None) if chosen.samples else None
    notes: list[Problem] = []
    if samples is not None:
        samples, notes = table_of_matrix(samples, matrix, chosen.samples)
        matrix = with_names_of(matrix, list(map(str, samples.index)))
    table, problems = predict(
        model,
        matrix,
        where,
        missing=chosen.missing,
        mu=chosen.mu,
        fdr_selected=chosen.fdr_selected,
        source=chosen.model,
        samples=samples,
        renamed=chosen.renamed,
    )
    for line in (*notes, *problems, f"scale: {table.attrs['scale']}"):
        print(line, file=sys.stderr)
    if chosen.output == "-":
        write_table(sys.stdout, table)
        return 0
    try:
        save_table(chosen.output, table)
    except OSError as error:
        raise refuse(chosen.output, f"cannot be written: {error.strerror}") from None
    by = scored_by(model, chosen.mu, fdr_selected=chosen.fdr_selected)
    print(f"{chosen.output}: {counted(len(table), 'sample')} scored by {by}")
    return 0


def _verify(chosen: argparse.Namespace) -> int:
    from genesig.data.files.readers import read_json
    from genesig.results.run import changed, changed_fits
    from genesig.words import counted

    source = Path(chosen.folder) / "run.json"
    record = read_json(source)
    told = (changed, changed_fits)
    problems = [each for tell in told for each in tell(record, source.parent, str(source))]
    for problem in problems:
        print(problem, file=sys.stderr)
    files = counted(len(record["results"]), "result")
    files += f", {counted(len(record['fits']), 'file')} of fits" if "fits" in record else ""
    says = counted(len(problems), "difference") if problems else "as the run wrote them"
    print(f"{chosen.folder}: {files}, {says}")
    return 1 if problems else 0


def _crate(chosen: argparse.Namespace) -> int:
    from genesig.data.files.readers import read_json
    from genesig.results.run import write_crate

    source = Path(chosen.folder) / "run.json"
    print(write_crate(read_json(source), source.parent, str(source)))
    return 0


def _parameters(chosen: argparse.Namespace) -> int:
    from genesig.data.files.readers import load_schema
    from genesig.data.study.config_check import parameter_table

    print(parameter_table(load_schema()), end="")
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "validate": _validate,
    "run": _run,
    "init": _init,
    "fetch": _fetch,
    "symbols": _symbols,
    "predict": _predict,
    "verify": _verify,
    "crate": _crate,
    "parameters": _parameters,
}


if __name__ == "__main__":
    sys.exit(main())
