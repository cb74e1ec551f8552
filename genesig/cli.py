"""The command line: check a study, run it, start one, fetch its data, score new samples."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from genesig import __version__

RUN_OPTIONS = ("--example", "--help", "-h")  # options of `genesig run`; others are Snakemake's


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code: 0, 1 for problems, 2 for usage, 130 for Ctrl-C."""
    from genesig.errors import GenesigError, InvalidInput, printable
    from genesig.machine import check_memory, refusal_problem

    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name may have characters that the terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")
    options = _parse_arguments(arguments)
    try:
        check_memory()
        exit_code = COMMANDS[options.command](options)
        sys.stdout.flush()
    except InvalidInput as error:
        # A command without a config has options instead of settings.
        option_of_setting = {"data.part": "--part"} if "part" in options else {}
        for problem in error.problems:
            print(problem.with_option(option_of_setting), file=sys.stderr)
        return 1
    except GenesigError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return 1
    except BrokenPipeError:  # `genesig parameters | head`
        _discard_output()
        return 1
    except KeyboardInterrupt:
        return 130
    except (OSError, MemoryError, ImportError, RuntimeError) as error:
        problem_of_machine = refusal_problem(error)
        if problem_of_machine is None:
            raise
        print(problem_of_machine, file=sys.stderr)
        _discard_output()
        return 1
    return exit_code


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line; `snakemake_options` are the words that Snakemake gets.

    Only `run` has such words: its first option that is not in `RUN_OPTIONS`, and all words after.

    arguments: words of the command line; None is `sys.argv`.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    n_genesig_words = len(words)
    if words[:1] == ["run"]:
        n_genesig_words = next(
            (
                position
                for position, word in enumerate(words)
                if word.startswith("-") and word not in RUN_OPTIONS
            ),
            len(words),
        )
    parser = _make_parser()
    options = parser.parse_args(words[:n_genesig_words])
    options.snakemake_options = words[n_genesig_words:]
    if options.command == "run" and not options.config and not options.example:
        parser.error(
            "name the config first, then Snakemake's options: genesig run mystudy.yaml --cores 2"
        )
    return options


def _discard_output() -> None:
    """Discard all further output: Python would fail again when it flushes a broken output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@cache
def _make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="genesig", description="Gene signatures from expression data."
    )
    parser.add_argument("--version", action="version", version=f"genesig {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    validate = commands.add_parser("validate", help="check config, sample table and matrix")
    validate.add_argument(
        "config",
        nargs="*",
        default=["config/config.yaml"],
        help="config file (default: config/config.yaml); later files override earlier ones",
    )
    run = commands.add_parser(
        "run",
        help="check a study, then run it in this folder",
        epilog="All other options are Snakemake's: --cores 2, --dry-run, --unlock, "
        "--workflow-profile slurm.",
    )
    run.add_argument("config", nargs="*", help="config file; later files override earlier ones")
    run.add_argument(
        "--example",
        action="store_true",
        help="the leukemia study that comes with genesig, or the example that CONFIG names, such "
        "as counts; its files are copied into this folder",
    )
    init = commands.add_parser("init", help="write a new study folder")
    init.add_argument("folder", metavar="DIR", help="a new or empty folder")
    init.add_argument(
        "-e",
        "--expression",
        metavar="FILE",
        help="your matrix in any supported format, or a series of GEO, to propose the config from",
    )
    init.add_argument(
        "-s",
        "--samples",
        metavar="FILE",
        help="your sample table, if the file of the matrix does not describe its samples",
    )
    init.add_argument("--part", help="matrix to read from a file with several (data.part)")
    fetch = commands.add_parser("fetch", help="download a series from GEO")
    fetch.add_argument("series", help="such as GSE55235, or GSE781-GPL96")
    fetch.add_argument("-d", "--folder", default="data/geo", help="(default: %(default)s)")
    _add_symbols(commands.add_parser("symbols", help="look up gene symbols"))
    _add_predict(commands.add_parser("predict", help="score new samples with a study's model"))
    verify = commands.add_parser("verify", help="list results that changed since the run")
    crate = commands.add_parser("crate", help="describe results as an RO-Crate, for an archive")
    for command in (verify, crate):
        command.add_argument(
            "folder",
            nargs="?",
            default="results",
            metavar="RESULTS",
            help="folder with run.json (default: %(default)s)",
        )
    commands.add_parser("parameters", help="print the table of all settings (Markdown)")
    return parser


def _add_symbols(symbols: argparse.ArgumentParser) -> None:
    """Add the arguments of `symbols`."""
    symbols.description = "Look up gene symbols at MyGene.info, or in a file."
    symbols.add_argument("matrix", help="expression matrix, in any supported format")
    symbols.add_argument(
        "-o",
        "--output",
        default="genes.tsv",
        help="gene table to write, or to add to (default: %(default)s)",
    )
    symbols.add_argument("--species", default="human", help="(default: %(default)s)")
    symbols.add_argument(
        "--offline",
        metavar="TABLE",
        help="table with the symbols: the table of the array's platform (GPL, NetAffx, Illumina), "
        "or hgnc_complete_set.txt of genenames.org, which also replaces former symbols",
    )
    symbols.add_argument("--part", help="matrix to read from a file with several (data.part)")


def _add_predict(predict: argparse.ArgumentParser) -> None:
    """Add the arguments of `predict`."""
    predict.add_argument("model", help="results/model.json of the study")
    predict.add_argument(
        "matrix",
        nargs="+",
        help="expression of the new samples, in any supported format, or files of "
        "arrays (CEL, IDAT, Agilent)",
    )
    predict.add_argument(
        "-o",
        "--output",
        default="predictions.tsv",
        help="table to write; - is the terminal (default: %(default)s)",
    )
    predict.add_argument(
        "--explain",
        metavar="TABLE",
        help="table to write with the contribution of each gene and covariate to each score",
    )
    predict.add_argument(
        "--missing",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="largest share, 0 to 1, of the model's genes that a sample may lack; "
        "they get their training means (default: %(default)s)",
    )
    list_help = "score by the list of nested_lists.tsv at this mu (default: the predictive model)"
    predict.add_argument("--mu", type=float, help=list_help)
    predict.add_argument(
        "--fdr-selected", action="store_true", help="score by the FDR-selected genes alone"
    )
    predict.add_argument("--part", help="matrix to read from a file with several (data.part)")
    predict.add_argument(
        "--samples",
        metavar="TABLE",
        help="sample table of the new samples: covariates for which the model is "
        "adjusted, batches that it corrects; only its samples are scored",
    )
    predict.add_argument(
        "--renamed",
        metavar="TABLE",
        help="hgnc_complete_set.txt of genenames.org: finds genes that were renamed",
    )
    predict.add_argument(
        "--layout",
        metavar="FOLDER",
        help="folder with the layout or manifest of the chip (default: the first array's)",
    )


def _check_study(configs: Sequence[str]) -> int:
    """Print every problem of a study, a summary and its cost; return 1 if there is an error.

    configs: files, of which later ones override earlier ones.
    """
    # Imported here: the help and the version need not wait for numpy and pandas.
    from genesig.data.files.config_text import merge_configs
    from genesig.data.files.readers import load_schema, read_config
    from genesig.data.validate import examine
    from genesig.errors import printable
    from genesig.words import counted

    source = " + ".join(configs)
    examination = examine(merge_configs(*map(read_config, configs)), load_schema(), source)
    for problem in examination.problems:
        print(problem, file=sys.stderr)
    levels = [problem.level for problem in examination.problems]
    errors = levels.count("error")
    warnings = levels.count("warning")
    counts = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
    parts = [f"{source}: {counts}", *([] if errors else [examination.summary, examination.cost])]
    print(printable("; ".join(parts)))
    return 1 if errors else 0


def _run_study(options: argparse.Namespace) -> int:
    """Check a study, then become the process of Snakemake; return 1 if the check finds an error."""
    from genesig.workflow import run_command, run_environment

    configs = _copy_examples(options.config) if options.example else options.config
    command_line = run_command(configs, options.snakemake_options)
    if exit_code := _check_study(configs):
        return exit_code
    sys.stdout.flush()
    # In place of this process, so that signals reach Snakemake and its exit code is the answer.
    os.execve(command_line[0], command_line, run_environment())


def _copy_examples(names: Sequence[str]) -> list[str]:
    """Copy the named examples, or without names the default study, here; return their configs."""
    from genesig.data.files.names import named_files
    from genesig.data.files.readers import read_config
    from genesig.results.new_study import copy_shipped_files
    from genesig.workflow import shipped_folder

    configs = [f"config/examples/{name}.yaml" for name in names] or ["config/config.yaml"]
    for config in configs:
        copy_shipped_files(
            [config, *(file for _, file in named_files(read_config(shipped_folder() / config)))]
        )
    return configs


def _init_folder(options: argparse.Namespace) -> int:
    """Write a new study folder, filled in from the matrix if there is one."""
    from genesig.errors import input_error
    from genesig.results.new_study import Start, check_new_folder, write_study

    check_new_folder(options.folder)
    start = Start()
    if options.expression is not None:
        from genesig.data.files.first_look import first_look

        start = first_look(options.expression, options.part, options.folder, options.samples)
    elif options.samples is not None:
        raise input_error("--samples", "needs the matrix, too; name it by --expression")
    for path in write_study(options.folder, start):
        print(path)
    print(f"next: cd {options.folder} and follow README.md")
    return 0


def _fetch_series(options: argparse.Namespace) -> int:
    """Download a series from GEO."""
    from genesig.data.files.geo_counts import lack_of_values
    from genesig.data.files.names import fetch
    from genesig.errors import Problem

    path = fetch(options.series, options.folder)
    print(path)
    if reason := lack_of_values(path):
        print(Problem(str(path), reason, "warning"), file=sys.stderr)
    return 0


def _look_up_symbols(options: argparse.Namespace) -> int:
    """Write the gene table of a matrix."""
    from genesig.data.files.readers import read_matrix
    from genesig.data.files.symbols import write_symbols

    matrix = read_matrix(options.matrix, options.part)
    output = options.output
    axes = (matrix.rows, matrix.columns)
    report = write_symbols(axes, options.matrix, output, options.species, options.offline)
    print(f"{output}: {report}; in the config it is data: {{annotation: {output}}}")
    return 0


def _predict_samples(options: argparse.Namespace) -> int:
    """Score new samples by a model."""
    from genesig.data.cohorts.new_matrix import read_new_samples
    from genesig.data.files.headers import choose_header
    from genesig.data.files.readers import read_json, read_sample_table
    from genesig.data.files.sample_names import table_of_matrix
    from genesig.errors import Problem, input_error
    from genesig.results.files import check_output, save_table, write_table
    from genesig.selection.model.new_samples import predict_and_explain
    from genesig.selection.model.schema import scoring_model_words
    from genesig.words import counted

    inputs = [options.model, *options.matrix, options.samples or ""]
    if options.output != "-":
        check_output(options.output, inputs)
    if options.explain:
        check_output(options.explain, inputs)
        if Path(options.explain).resolve() == Path(options.output).resolve():
            raise input_error("--explain", "names the file of --output; name another file")
    model = read_json(options.model)
    matrix = read_new_samples(options.matrix, options.part, options.layout)
    n_further_files = len(options.matrix) - 1
    matrix_name = options.matrix[0] + (f" and {n_further_files} more" if n_further_files else "")
    samples = None
    notes: list[Problem] = []  # about the sample table
    if options.samples:
        file_table = read_sample_table(options.samples, names=None, part=None)
        file_table, notes = table_of_matrix(file_table, matrix, options.samples)
        samples = file_table.cells
        matrix = choose_header(matrix, list(map(str, samples.index)))
    predictions = predict_and_explain(
        model,
        matrix,
        matrix_name,
        missing=options.missing,
        mu=options.mu,
        fdr_selected=options.fdr_selected,
        source=options.model,
        samples=samples,
        renamed=options.renamed,
    )
    table = predictions.table
    for line in (*notes, *predictions.problems, f"scale: {predictions.scale}"):
        print(line, file=sys.stderr)
    outputs = {} if options.output == "-" else {options.output: table}
    if options.explain:
        outputs[options.explain] = predictions.contributions.table()
    for path, output_table in outputs.items():
        try:
            save_table(path, output_table)
        except OSError as error:
            raise input_error(path, f"cannot be written: {error.strerror}") from None
    if options.output == "-":
        write_table(sys.stdout, table)
        return 0
    gene_list = scoring_model_words(model, options.mu, fdr_selected=options.fdr_selected)
    print(f"{options.output}: {counted(len(table), 'sample')} scored by {gene_list}")
    return 0


def _verify_results(options: argparse.Namespace) -> int:
    """Compare results with the record of their run; return 1 if a file differs."""
    from genesig.data.files.readers import read_json
    from genesig.results.run import find_changed_fits, find_changes
    from genesig.words import counted

    source = Path(options.folder) / "run.json"
    record = read_json(source)
    results = (record, source.parent, str(source))
    problems = [*find_changes(*results), *find_changed_fits(*results)]
    for problem in problems:
        print(problem, file=sys.stderr)
    files = counted(len(record["results"]), "result")
    files += f", {counted(len(record['fits']), 'file')} of fits" if "fits" in record else ""
    outcome = counted(len(problems), "difference") if problems else "unchanged since the run"
    print(f"{options.folder}: {files}, {outcome}")
    return 1 if problems else 0


def _write_crate(options: argparse.Namespace) -> int:
    """Describe results as an RO-Crate."""
    from genesig.data.files.readers import read_json
    from genesig.results.run import write_crate

    source = Path(options.folder) / "run.json"
    print(write_crate(read_json(source), source.parent, str(source)))
    return 0


def _print_parameters(options: argparse.Namespace) -> int:
    """Print the table of all settings."""
    from genesig.data.files.readers import load_schema
    from genesig.data.study.config_check import parameter_table

    print(parameter_table(load_schema()), end="")
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "validate": lambda options: _check_study(options.config),
    "run": _run_study,
    "init": _init_folder,
    "fetch": _fetch_series,
    "symbols": _look_up_symbols,
    "predict": _predict_samples,
    "verify": _verify_results,
    "crate": _write_crate,
    "parameters": _print_parameters,
}


if __name__ == "__main__":
    sys.exit(main())
