"""Write docs/reference/command_line.md from the parser of the command line.

python docs/site/command_line.py
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from genesig.cli import _make_parser

PAGE = Path(__file__).parents[1] / "reference" / "command_line.md"
EXAMPLES = {
    "validate": "genesig validate mystudy.yaml",
    "run": "genesig run mystudy.yaml --cores 2",
    "init": "genesig init mystudy --expression data/expression.tsv.gz",
    "fetch": "genesig fetch GSE55235",
    "symbols": "genesig symbols data/expression.tsv --offline hgnc_complete_set.txt",
    "predict": "genesig predict results/model.json new.tsv -o predictions.tsv",
    "verify": "genesig verify results",
    "crate": "genesig crate results",
    "parameters": "genesig parameters",
}
HEAD = """# Command line

Every command of `genesig`, with one example each. `genesig predict --help` prints the same for
one. The exit code is 0 if all went well, 1 if a problem was found, 2 for a wrong command, and 130
after Ctrl-C. This page is written by `python docs/site/command_line.py`.
"""


def page() -> str:
    """Return the page as Markdown: one section for each command."""
    (commands,) = (
        action
        for action in _make_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    descriptions = {choice.dest: choice.help for choice in commands._choices_actions}
    lines = [HEAD]
    for name, parser in commands.choices.items():
        lines += [f"## genesig {name}\n", f"{sentence(descriptions[name])}\n"]
        rows = list(arguments(parser))
        if rows:
            lines += ["| argument | meaning |", "| --- | --- |", *rows, ""]
        if parser.epilog:
            lines.append(f"{parser.epilog}\n")
        lines.append(f"    {EXAMPLES[name]}\n")
    return "\n".join(lines).rstrip("\n") + "\n"


def arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a row of the table for each argument of a command."""
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        value = "" if action.nargs == 0 else action.metavar or action.dest.upper()
        label = ", ".join(
            f"`{option} {value}`".replace(" `", "`") for option in action.option_strings
        )
        meaning = (action.help or "") % {"default": action.default}
        yield f"| {label or f'`{action.metavar or action.dest}`'} | {meaning} |"


def sentence(text: str) -> str:
    """Return a help text with a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
