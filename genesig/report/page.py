"""The HTML page and the figure files; the one module of the report that opens files."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def render(
    data: dict[str, Any],
    html_path: str | Path,
    figures_dir: str | Path,
    *,
    title: str,
    top_genes: int,
    table_rows: int,
) -> None:
    """Write the report and its figures from the value of report_data.json alone.

    Parameters
    ----------
    data : dict
        What `collect` returned, or what was read back from report_data.json.
    html_path : path
        One self-contained page.
    figures_dir : path
        Gets one SVG file for each figure.
    title : str
        Title of the page.
    top_genes : int
        Genes that get a plot of their own.
    table_rows : int
        Rows after which a table ends with a link to its TSV.
    """
    raise NotImplementedError
