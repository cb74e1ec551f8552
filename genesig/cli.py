"""The command line: ``genesig validate``, ``genesig parameters``, ``genesig --version``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from genesig import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code: 0, 1 for problems of the study, 2 for usage."""
    from genesig.errors import GenesigError

    chosen = _parser().parse_args(arguments)
    try:
        code = COMMANDS[chosen.command](chosen)
        sys.stdout.flush()
    except GenesigError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # `genesig parameters | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="genesig", description="Gene signatures from expression data. The study itself is run "
        "by Snakemake: snakemake --cores 2",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"genesig {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    validate = commands.add_parser("validate", help="check config, sample sheet and matrix")
    validate.add_argument("config", nargs="?", default="config/config.yaml",
                          help="config file (default: %(default)s)")  # fmt: skip
    commands.add_parser("parameters", help="print the table of all settings (Markdown)")
    return parser


def _validate(chosen: argparse.Namespace) -> int:
    # Imported here: the help and the version need not wait for numpy and pandas.
    from genesig.data.readers import load_schema, read_config
    from genesig.data.validate import examine
    from genesig.data.words import counted

    found = examine(read_config(chosen.config), load_schema(), chosen.config)
    for problem in found.problems:
        print(problem, file=sys.stderr)
    errors, warnings = len(found.errors), len(found.problems) - len(found.errors)
    counts = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
    print(f"{chosen.config}: {counts}" + ("" if errors else f"; {found.summary}"))
    return 1 if errors else 0


def _parameters(chosen: argparse.Namespace) -> int:
    from genesig.data.parameters import parameter_table
    from genesig.data.readers import load_schema

    print(parameter_table(load_schema()), end="")
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "validate": _validate,
    "parameters": _parameters,
}


if __name__ == "__main__":
    sys.exit(main())
