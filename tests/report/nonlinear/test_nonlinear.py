"""The nonlinear section agrees with its numbers and is absent if it was switched off."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import curves, dots, segments, y_ticks
from matplotlib.colors import to_hex
from report_records import HOSTILE, Study, arguments, with_nonlinear

from genesig.report.collect import TOPIC_TABLES, StudyResults, collect, tables_in
from genesig.report.methods import methods, references
from genesig.report.nonlinear import (
    NONLINEAR_COLOUR,
    draw_dependence,
    draw_gene_frequencies,
    nonlinear_finding,
    nonlinear_section,
)
from genesig.report.page.section import Limits
from genesig.report.page.style import PAPER

LIMITS = Limits(12, 500)


def collected_nonlinear(study=None, **difference):
    """Return the collected data, with some numbers of the comparison changed."""
    inputs = arguments(study or Study())
    if difference:
        table = inputs["tables"]["nonlinear_difference"]
        for key, value in difference.items():
            table.loc[table["model"] == "nonlinear", key] = value
    return collect(StudyResults(**inputs))


BETTER = {"error": 0.1, "linear": 0.3, "low": -0.3, "high": -0.1}


def make_nonlinear_better(inputs):
    """Let nonlinear models predict better than linear ones, so that the section says more."""
    table = inputs["tables"]["nonlinear_difference"]
    for key, value in BETTER.items():
        table.loc[table["model"] == "nonlinear", key] = value
    return collect(StudyResults(**inputs))


def first_paragraph(data):
    return nonlinear_finding(data, data["nonlinear"])


COMPARED_ERRORS = {
    "better": (BETTER, "Nonlinear selection adds something on these data"),
    "worse": ({"error": 0.3, "linear": 0.1, "low": 0.1, "high": 0.3}, "predicts worse than linear"),
    "open": (
        {"error": 0.1, "linear": 0.12, "low": -0.1, "high": 0.06},
        "No benefit of nonlinear selection was detectable",
    ),
    "no interval": ({"low": np.nan, "high": np.nan}, "a difference without an interval"),
    "nothing measured": ({"error": np.nan}, "could not be measured"),
}


@pytest.mark.parametrize("name", COMPARED_ERRORS)
def test_first_sentence_agrees_with_the_errors(name):
    change, sentence = COMPARED_ERRORS[name]
    text = first_paragraph(collected_nonlinear(**change)).replace("\u00a0", " ")
    assert sentence in text.split(". ")[0]
    if name == "better":
        assert "Its balanced accuracy is 90% against 70%" in text
        assert "(95% CI of the difference 10.0 to 30.0 points)" in text
    assert max(map(len, text.split(". "))) < 260
    other_sentences = [
        words for other_name, (_, words) in COMPARED_ERRORS.items() if other_name != name
    ]
    assert not any(words in text for words in other_sentences)


def test_error_at_chance_is_stated_as_chance():
    inputs = arguments(Study())
    controls = inputs["tables"]["controls"]
    controls.loc[controls["model"].isin(["genesig", "nonlinear"]), "high"] = 0.6
    assert first_paragraph(collect(StudyResults(**inputs))).startswith(
        "Neither nonlinear nor linear selection is better"
    )


@pytest.mark.usefixtures("undrawn")
def test_a_regression_is_told_in_r2():
    data = collected_nonlinear(Study(regression=True), error=0.3, linear=0.5, low=-0.3, high=-0.1)
    text = first_paragraph(data)
    assert "Its R² is 0.70 against 0.50" in text
    assert "0.10 to 0.30" in text
    assert "adds something" in text
    section = nonlinear_section(data, LIMITS)
    assert "the class" not in " ".join(section.words)
    curves = next(item for item in section.items if item.name == "nonlinear_curves")
    assert curves.description.startswith("Mean prediction of the final model along")


@pytest.mark.slow
@pytest.mark.drawn
def test_the_section_shows_figures_and_tables():
    section = nonlinear_section(collected_nonlinear(**BETTER), LIMITS)
    names = [item.name for item in section.items]
    assert names == ["nonlinear_genes", "nonlinear_curves", "nonlinear"]
    words = " ".join(section.words)
    assert "Unselected genes still enter the kernel" in words
    assert "a selected gene has no weight" in words
    assert "before selecting any gene" in words
    assert "path stops where it would select more genes than there are samples" in words
    assert section.words[0] == first_paragraph(collected_nonlinear(**BETTER))


@pytest.mark.usefixtures("undrawn")
def test_without_benefit_the_section_is_one_sentence_and_figures_are_files():
    section = nonlinear_section(collected_nonlinear(), LIMITS)
    assert list(section.words) == [first_paragraph(collected_nonlinear())]
    assert section.items == []
    assert "nonlinear.tsv" in section.files
    assert [item.name for item in section.pictures] == ["nonlinear_genes", "nonlinear_curves"]


@pytest.mark.parametrize(
    ("size", "core", "shared", "sentence"),
    [
        (
            1,
            1,
            1,
            "Its list has one gene, which is also among the 1 gene",
        ),
        (
            1,
            2,
            0,
            "Its list has one gene, which is not among the 2 genes",
        ),
        (
            3,
            1,
            1,
            "Its list has 3 genes; one of them is also among the 1 gene",
        ),
        (
            3,
            4,
            2,
            "Its list has 3 genes; 2 are also among the 4 genes",
        ),
        (
            3,
            4,
            0,
            "Its list has 3 genes; none of them is among the 4 genes",
        ),
    ],
)
def test_shared_genes_are_counted_in_words(size, core, shared, sentence):
    data = collected_nonlinear(Study(named=3))
    counts = {"n_nonlinear": size, "n_linear": core, "shared": shared}
    data["nonlinear"]["agreement"] |= counts
    assert f"{sentence} in at least 75% of the linear lists." in first_paragraph(data)
    data["nonlinear"]["agreement"] |= {"n_linear": 0, "shared": 0}
    assert "; no gene is in at least 75% of the linear lists" in first_paragraph(data)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("change", "expected_words", "unsaid"),
    [
        ({"kernel": "linear"}, "its curves are straight lines on any data", "any smooth way"),
        ({"kernel": "polynomial", "degree": 3}, "a polynomial of degree 3", "any smooth way"),
        ({"penalty": "group"}, "selected (groups of correlated genes)", "elastic"),
        (
            {"penalty": "group", "groups": "sets.tsv"},
            "selected (from a table)",
            "groups of correlated",
        ),
        ({"penalty": "elastic"}, "correlated genes tend to be selected together", "groups"),
    ],
    ids=lambda value: (
        "-".join(value.values()) if isinstance(value, dict) and len(value) == 1 else None
    ),
)
def test_the_words_follow_kernel_and_penalty(change, expected_words, unsaid):
    inputs = arguments(Study())
    inputs["config"]["nonlinear"] |= change
    words = " ".join(nonlinear_section(make_nonlinear_better(inputs), LIMITS).words)
    assert expected_words in words
    assert unsaid not in words


@pytest.mark.usefixtures("undrawn")
def test_a_function_of_no_gene_that_fits_nothing_is_not_talked_of():
    inputs = arguments(Study())
    inputs["tables"]["nonlinear_scores"]["explained_by_none"] = -1e-16
    words = " ".join(nonlinear_section(make_nonlinear_better(inputs), LIMITS).words)
    assert "With no gene at all" not in words
    assert "Errors are for a smooth refit" in words


@pytest.mark.slow
def test_messages_are_not_crowded_out_by_paths_that_ended():
    inputs = arguments(Study())
    table = inputs["tables"]["nonlinear_scores"]
    table["message"] = "a sentence about an early end"
    table["ended_early"] = True
    table.loc[len(table) - 1, ["ended_early", "message"]] = [
        False,
        "too few samples, or no gene that varies",
    ]
    section = nonlinear_section(make_nonlinear_better(inputs), LIMITS)
    assert "Messages of single splits: " in section.words[-1]
    assert "too few samples" in section.words[-1]
    assert "Said" not in [column.label for column in section.items[-1].columns]


@pytest.mark.slow
def test_failed_fits_are_reported():
    inputs = arguments(Study())
    table = inputs["tables"]["nonlinear_scores"]
    table.loc[0, "gap"] = 0.3
    table.loc[1, ["n_genes", "message"]] = [0, "too few samples, or no gene that varies"]
    words = " ".join(nonlinear_section(make_nonlinear_better(inputs), LIMITS).words)
    assert "1 fit did not reach the requested accuracy" in words
    assert "1 split selected no gene at all" in words
    assert "r1f2: too few samples, or no gene that varies" in words


def test_disabled_nonlinear_selection_has_no_section():
    data = collected_nonlinear(Study(nonlinear=False))
    assert data["nonlinear"] is None
    assert nonlinear_section(data, LIMITS) is None
    assert not set(TOPIC_TABLES["nonlinear"].on_page) & set(data["tables"])
    assert not any("onlinear" in text for text in [*methods(data), *references(data)])


def test_switched_on_methods_and_references_name_it():
    data = collected_nonlinear()
    text = " ".join(methods(data))
    assert "penalty was τ times the norm of the partial derivative by each gene" in text
    assert "kept its 50 genes of largest dependence" in text
    assert "Feature Vector Machine (Li et al. 2006; 5 bins" in text
    cited = references(data)
    assert cited == sorted(cited)
    for name in ("Rosasco", "Gregorova", "Li F", "Song"):
        assert any(reference.startswith(name) for reference in cited)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("penalty", ["lasso", "group", "elastic"])
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
def test_methods_follow_the_settings(penalty, kernel):
    inputs = arguments(Study())
    change = {"penalty": penalty, "kernel": kernel, "genes": None, "debias": False, "fvm_genes": []}
    inputs["config"]["nonlinear"] |= change
    text = " ".join(methods(collect(StudyResults(**inputs))))
    kernel_words = {
        "gaussian": "Gaussian (width",
        "polynomial": "a polynomial of",
        "linear": "linear.",
    }
    assert f"Its kernel was {kernel_words[kernel]}" in text
    assert "The second was ν times the squared norm" in text
    assert ("block of correlated genes" in text) == (penalty == "group")
    assert ("elastic penalty" in text) == (penalty == "elastic")
    assert "All genes took part." in text
    assert "Feature Vector" not in text
    assert "{" not in text


@pytest.mark.drawn
@pytest.mark.quick("two genes")
@pytest.mark.parametrize(
    "study",
    [
        Study(names=HOSTILE),
        Study(regression=True),
        Study(genes=2),
        Study(folds=1, repeats=1),
        Study(empty=True),
        Study(signal=0.0),
        Study(samples=10, folds=2, repeats=1),
    ],
    ids=["hostile", "regression", "two genes", "one split", "empty", "no signal", "few samples"],
)
def test_odd_studies_have_their_section(study):
    section = nonlinear_section(collected_nonlinear(study), LIMITS)
    assert section.words
    for word in ("nan", "None", "inf "):
        assert not any(word in text for text in section.words)


@pytest.mark.slow
def test_no_gene_selected_anywhere():
    inputs = arguments(Study())
    nonlinear_names = TOPIC_TABLES["nonlinear"].read
    tables = with_nonlinear(
        {name: table for name, table in inputs["tables"].items() if name not in nonlinear_names},
        inputs["dataset"],
        inputs["splits"],
        inputs["observed"],
    )
    tables["nonlinear"] = tables["nonlinear"].iloc[:0]
    tables["nonlinear_curves"] = tables["nonlinear_curves"].iloc[:0]
    tables["nonlinear_agreement"] = tables["nonlinear_agreement"].assign(
        n_nonlinear=0, shared=0, jaccard=np.nan
    )
    data = collect(StudyResults(**{**inputs, "tables": tables}))
    section = nonlinear_section(data, LIMITS)
    assert "No gene is selected often enough for a list of its own" in section.words[0]


def test_tables_are_told_by_their_names():
    assert tables_in({"nonlinear": "a", "signature": "b", "code": "c"}) == [
        "nonlinear",
        "signature",
    ]


@pytest.mark.usefixtures("undrawn")
def test_what_was_chosen_is_shown_to_the_limit():
    data = collected_nonlinear(**BETTER)
    table = nonlinear_section(data, replace(LIMITS, table_rows=2)).items[-1]
    assert (table.visible_rows, len(table.rows)) == (2, table.total)


def test_frequencies_of_both_selections_stand_on_the_line_of_their_gene():
    rows = [
        {"gene": "g1", "symbol": "", "in_signature": True, "cv_frequency": 0.9}
        | {"linear_cv_frequency": 0.6, "mean_norm": 0.4},
        {"gene": "g2", "symbol": "", "in_signature": False, "cv_frequency": 0.3}
        | {"linear_cv_frequency": 0.8, "mean_norm": None},
    ]
    frequency_axes, norm_axes = draw_gene_frequencies(rows, 0.75).axes
    white = to_hex(PAPER)
    blue = to_hex(NONLINEAR_COLOUR)
    assert dots(frequency_axes) == [([[0.6, 0], [0.8, 1]], white), ([[0.9, 0], [0.3, 1]], blue)]
    ((joined, _),) = segments(frequency_axes)
    assert joined == [[0.6, 0, 0.9, 0], [0.3, 1, 0.8, 1]]
    assert segments(norm_axes) == [([[0, 0, 0.4, 0]], blue)]
    assert norm_axes.get_xlim()[0] == 0
    assert y_ticks(frequency_axes) == {"g1": 0, "g2": 1}


@pytest.mark.parametrize(("count", "n_axes"), [(1, 1), (4, 6)])
def test_each_gene_has_its_curve_and_ticks_of_samples(count, n_axes):
    genes = [
        {"symbol": f"G{k}", "value": [-1.0, 0.0, 1.0], "effect": [0.1 * k, 0.2, 0.5]}
        | {"samples": [2, 0, 1], "r2_with_line": 0.5}
        for k in range(count)
    ]
    axes = draw_dependence(genes, "score").axes
    assert [ax.get_visible() for ax in axes] == [True] * count + [False] * (n_axes - count)
    for k, ax in enumerate(axes[:count]):
        assert curves(ax)[0].tolist() == [[-1, 0.1 * k], [0, 0.2], [1, 0.5]]
        ((ticks, _),) = segments(ax)
        assert [tick[0] for tick in ticks] == [-1, 1]
        assert all(0 == tick[1] < tick[3] < 0.2 for tick in ticks)  # at the lower edge
        assert (ax.get_title(), ax.get_title(loc="right")) == (f"G{k}", "r² 0.50")
