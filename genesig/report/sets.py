"""Selected gene sets, and how well they predict beside single genes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from genesig.report.page import charts
from genesig.report.page.record import PermutationP, Study, TopicResults, float_fields
from genesig.report.page.section import Item, Limits, Paragraph, Section
from genesig.report.page.style import GENESIG_COLOUR, PAPER, RULE
from genesig.report.page.svg import Picture
from genesig.report.page.tables import Difference, at_mu, columns_of, packed_table
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, counted, percent, shorten
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class SelectedSet(TypedDict):
    """A row of sets.tsv."""

    set: str
    genes: int  # measured genes
    named: int  # genes in the file of the sets
    cv_frequency: float  # share of the outer splits that select it
    mean_share: float | None  # share of the score, mean over the splits that select it
    final_share: float  # share of the score of the final model, 0 if it is not in it
    in_list: bool  # whether its cv_frequency reaches the threshold


class ListStability(TypedDict):
    """Stability of lists from separate halves of the samples; None if not measured."""

    value: float | None
    mean_size: float | None


class SetsRecord(TypedDict):
    """The selection of gene sets."""

    n_sets: int  # sets that took part
    sets: list[SelectedSet]  # at most `MAX_SETS`, those selected most often
    n_selected: int  # sets that any split selected
    n_in_list: int  # sets whose frequency reaches the threshold
    n_final: int  # sets of the final model
    sizes: list[float]  # smallest, median and largest number of sets over the splits
    n_unfinished: int  # fits that did not converge
    difference: Difference  # of the error to that of the gene lists
    p: PermutationP
    stability: ListStability  # of the lists of sets
    gene_list_stability: ListStability


class Sets(Study):
    """The keys of report_data.json that this topic reads."""

    sets: SetsRecord | None  # None without gene sets


MAX_SETS = 30


def collect_sets(results: TopicResults) -> SetsRecord:
    """Return the record of the selection of gene sets."""
    tables = results.tables
    selected = tables["sets"]
    splits = tables["sets_scores"]
    error = tables["sets_error"].iloc[0]
    gene_stability = tables["stability"]
    permutations = int(error["permutations"])
    return {
        "n_sets": int(error["sets"]),
        "sets": [_selected_set(row) for row in selected.head(MAX_SETS).to_dict("records")],
        "n_selected": int((selected["cv_frequency"] > 0).sum()),
        "n_in_list": int(selected["in_list"].astype(bool).sum()),
        "n_final": int((selected["final_share"] > 0).sum()),
        "sizes": splits["n_selected"].quantile([0, 0.5, 1]).tolist(),
        "n_unfinished": int(splits["message"].notna().sum()),
        "difference": {
            "error": float(error["error"]),
            "linear": float(error["gene_error"]),
            "difference": float(error["difference"]),
            "low": float(error["difference_low"]),
            "high": float(error["difference_high"]),
        },
        "p": {
            "value": float(error["p_value"]),
            "permutations": permutations,
            "smallest": 1 / (permutations + 1),
        },
        "stability": _list_stability(tables["sets_stability"]),
        "gene_list_stability": _list_stability(gene_stability[at_mu(gene_stability, None)]),
    }


def _selected_set(row: Mapping[Any, Any]) -> SelectedSet:
    """Return the record of a row of sets.tsv."""
    numbers: SelectedSet = float_fields(row, "cv_frequency", "mean_share", "final_share")
    return {
        **numbers,
        "set": str(row["set"]),
        "genes": int(row["genes"]),
        "named": int(row["named"]),
        "in_list": bool(row["in_list"]),
    }


def _list_stability(table: pd.DataFrame) -> ListStability:
    """Return the stability of the lists of half-samples; None values without half-samples."""
    half_rows = table[table["source"] == "half_subsamples"].to_dict("records")
    if not half_rows:
        return {"value": None, "mean_size": None}
    numbers = float_fields(half_rows[0], "stability", "mean_size")
    return {"value": numbers["stability"], "mean_size": numbers["mean_size"]}


def draw_frequencies(rows: Sequence[SelectedSet], threshold: float) -> Figure:
    """Draw how often each set is selected, with the threshold of a list, and its score share."""
    names = [shorten(row["set"].replace("_", " "), 46) for row in rows]
    bold = [row["in_list"] for row in rows]
    figure, frequency_axes, share_axes = charts.frequencies(
        names, bold, threshold, "share of the score"
    )
    for y, row in enumerate(rows):
        frequency_axes.hlines(y, 0, row["cv_frequency"], color=RULE, lw=2.4)
        frequency_axes.scatter(row["cv_frequency"], y, s=26, color=GENESIG_COLOUR, zorder=4)
        if row["mean_share"] is not None:
            share_axes.hlines(y, 0, row["mean_share"], color=GENESIG_COLOUR, lw=3.2)
        if row["final_share"]:
            share_axes.scatter(
                row["final_share"], y, s=24, facecolor=PAPER, edgecolor=GENESIG_COLOUR, zorder=4
            )
    share_axes.set_xlim(left=0)
    return figure


WORDS = Wording(__file__, MAX_SETS_IN_TEXT=3)  # sentences: the macros of sets.j2, by name
# by kind of outcome: loss to which the penalty is added, criterion of the inner folds
LOSS_AND_CRITERION = ByKind(
    {
        "classification": ("least squares", "squared error"),
        "regression": ("least squares", "squared error"),
        SEVERAL_CLASSES: ("least squares on a column for each class", "squared error"),
        "survival": (
            "Cox's partial likelihood",
            "the partial likelihood that left-out samples add to that of the others",
        ),
    }
)


def sets_section(data: Sets, limits: Limits) -> Section | None:
    """Return the section about gene sets; None without gene sets."""
    record = data["sets"]
    if record is None:
        return None
    items: list[Item] = []
    if record["sets"]:
        items.append(_frequency_figure(data, record))
        caption = "Sets selected in any split or in the final model."
        items.append(
            packed_table(data, "sets", caption, limits.table_rows, search=True, without=("about",))
        )
    if record["n_final"]:
        caption = "Genes of the final model's sets, with their weight in the score of the set."
        items.append(packed_table(data, "sets_genes", caption, limits.table_rows, search=True))
    words = WORDS.paragraphs("section", data, record, data["config"]["structured"])
    return Section(
        "sets", "Gene sets", words, items, part="genes", folded=True, files=["sets_scores.tsv"]
    )


def sets_paragraph(data: Sets) -> list[Paragraph]:
    """Return the paragraph of the first screen; [] without gene sets."""
    record = data["sets"]
    if record is None:
        return []
    return [Paragraph("Gene sets.", WORDS.text("first_screen", data, record))]


def _frequency_figure(data: Study, record: SetsRecord) -> Picture:
    """Return the figure of selection frequencies."""
    set_rows = record["sets"]
    threshold = data["config"]["signature"]["cv_frequency"]
    set_texts = "; ".join(
        f"{set_row['set']} {percent(set_row['cv_frequency'])}" for set_row in set_rows[:10]
    )
    return Picture(
        "sets",
        partial(draw_frequencies, set_rows, threshold),
        data=columns_of(set_rows, "set", "cv_frequency", "mean_share", "final_share", "in_list"),
        title="How often gene sets are selected",
        description=f"Selection frequency of {counted(len(set_rows), 'set')} and share of the"
        f" score. {clean(set_texts)}.",
        caption=WORDS.text("figure_caption", record, len(set_rows)),
    )


def sets_sentences(data: Sets) -> list[str]:
    """Return the sentences of Methods about gene sets; [] without gene sets."""
    record = data["sets"]
    if record is None:
        return []
    loss, criterion = LOSS_AND_CRITERION[data["study"]["task"]]
    return WORDS.paragraphs("methods", record, data["config"]["structured"], loss, criterion)
