"""Invalid counts give one line with the place, the cause and the remedy."""

import numpy as np
import pytest

from genesig.data.files.readers import load_schema
from genesig.data.study.config_check import resolve_config
from genesig.data.validate import examine_study
from genesig.errors import InvalidInput

N_GENES = 40
N_SAMPLES_OF_COUNTS = 16
COUNTS = np.random.default_rng(0).negative_binomial(2, 0.02, (N_GENES, N_SAMPLES_OF_COUNTS)) + 1
SIZE = {"step": "size_factors"}
VST = {"step": "vst"}
MOMENTS = [{"step": "centre"}, {"step": "unit_variance"}]


def change_cell(gene, sample, text):
    """Return a change of one cell."""

    def change(table):
        table[gene][sample] = text

    return change


def change_all(samples=slice(None), genes=slice(None), text="0"):
    def change(table):
        for row in table[genes]:
            for k in range(N_SAMPLES_OF_COUNTS)[samples]:
                row[k] = text

    return change


def change_each_row(function):
    def change(table):
        for row in table:
            row[:] = [function(int(cell), k) for k, cell in enumerate(row)]

    return change


def leave_unchanged(table):
    """Leave the counts as they are: the fault is in the steps."""


def scatter_zeros(table):
    """Leave no gene with reads in every sample."""
    for k, row in enumerate(table):
        row[k % N_SAMPLES_OF_COUNTS] = "0"


# What was done to the table; the learned steps; the row-wise steps; what is said.
BROKEN_COUNTS = {
    "a negative count": (
        change_cell(3, 5, "-4"),
        [SIZE],
        [],
        "gene 'g03', sample 's05': the count -4",
    ),
    "negative counts, vst": (
        change_all(slice(2), text="-1"),
        [VST],
        [],
        "(79 further cells); name",
    ),
    "fractions": (
        change_each_row(lambda x, k: f"{np.log2(x + 1):.3f}"),
        [SIZE],
        [],
        "most are no whole numbers (99th percentile ",
    ),
    "fractions, vst": (
        change_each_row(lambda x, k: f"{np.log2(x + 1):.3f}"),
        [VST],
        [],
        "take vst out of normalise.folds, or name the raw counts",
    ),
    "a sample of zeros": (
        change_all(slice(4, 5)),
        [SIZE],
        [],
        "every value of 's04' is 0; take such samples out",
    ),
    "two samples of zeros, vst": (
        change_all(slice(4, 6)),
        [VST],
        [],
        "every value of 's04', 's05' is",
    ),
    "all zeros": (change_all(), [SIZE], [], "0"),
    "text": (change_cell(0, 0, "many"), [SIZE], [], "gene 'g00', sample 's00'"),
    "infinity": (change_cell(0, 1, "inf"), [VST], [], "gene 'g00', sample 's01'"),
    "minus infinity": (change_cell(0, 1, "-inf"), [SIZE], [], "gene 'g00', sample 's01'"),
    "a blank": (change_cell(7, 2, ""), [SIZE], [], "gene 'g07', sample 's02'"),
    "NA": (change_cell(7, 2, "NA"), [VST], [], "gene 'g07', sample 's02'"),
    "a thousand with its comma": (
        change_cell(7, 2, "1,204"),
        [SIZE],
        [],
        "gene 'g07', sample 's02'",
    ),
    "a code for nothing": (change_cell(7, 2, "-999"), [VST], [], "gene 'g07', sample 's02'"),
    "no gene with reads everywhere": (
        scatter_zeros,
        [SIZE],
        [],
        "no gene has reads in every training sample",
    ),
    "no gene with reads everywhere, vst": (scatter_zeros, [VST], [], "set its 'method' to tmm"),
    "log CPM before": (
        leave_unchanged,
        [SIZE],
        [{"step": "log_cpm"}],
        "'size_factors' needs counts as they were read, and 'log_cpm' comes before",
    ),
    "logarithms before": (
        leave_unchanged,
        [VST],
        [{"step": "log2"}],
        "and nothing into normalise.samples",
    ),
    "a filter before": (
        leave_unchanged,
        [{"step": "variance_filter"}, VST],
        [],
        "item 2: 'vst' needs counts as they were read, and 'variance_filter'",
    ),
    "one after the other": (leave_unchanged, [SIZE, VST], [], "and 'size_factors' comes before it"),
    "twice": (leave_unchanged, [VST, VST], [], "'vst' is already item 1"),
    "before the splits": (leave_unchanged, [], [VST], "'vst' learns from several samples"),
    "a method that there is not": (
        leave_unchanged,
        [{"step": "vst", "method": "rle"}],
        [],
        "needs one of median_of_ratios, tmm",
    ),
    "no prior": (leave_unchanged, [{**SIZE, "prior": 0}], [], "prior: found 0"),
}


def problems(folder, change, folds, samples):
    table = COUNTS.astype(str).tolist()
    change(table)
    names = [f"s{k:02}" for k in range(N_SAMPLES_OF_COUNTS)]
    rows = ["\t".join(["gene", *names])]
    rows += ["\t".join([f"g{k:02}", *row]) for k, row in enumerate(table)]
    (folder / "e.tsv").write_text("\n".join(rows) + "\n")
    sheet = [f"{name}\t{'ab'[k % 2]}" for k, name in enumerate(names)]
    (folder / "s.tsv").write_text("sample\tclass\n" + "\n".join(sheet) + "\n")
    config = {
        "expression": "e.tsv",
        "samples": "s.tsv",
        "label": "class",
        "normalise": {"samples": samples, "folds": [*folds, *MOMENTS]},
    }
    try:
        messages = examine_study(resolve_config(config, load_schema()), "config").problems
    except InvalidInput as error:
        messages = error.problems
    return [f"{p.location}: {p.message}" for p in messages if p.level == "error"]


@pytest.mark.parametrize("name", BROKEN_COUNTS)
def test_invalid_counts_are_refused_in_one_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    change, folds, samples, words = BROKEN_COUNTS[name]
    messages = problems(tmp_path, change, folds, samples)
    assert any(words in line for line in messages), messages
    assert not any("\n" in line for line in messages)


@pytest.mark.parametrize("step", [SIZE, VST, {**VST, "method": "tmm"}])
def test_counts_are_taken(step, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        problems(tmp_path, change_all(genes=slice(3, 4)), [step], []) == []
    )  # a gene without reads
