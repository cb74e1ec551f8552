"""The omics section states the gain of each omic and is absent with one matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from report_records import Study, arguments

from genesig.report.collect import StudyResults, collect
from genesig.report.methods import methods, references
from genesig.report.omics import omics_section
from genesig.report.page.section import Limits
from genesig.report.page.verdict import Grade

LIMITS = Limits(12, 500)


def collected_omics(study=None, factors="learned", **added):
    """Return a study of two omics; `added` are the limits of what each adds."""
    built = arguments(study or Study())
    built["config"]["data"]["omics"] = factors
    limits = {"protein": (0.2, 0.1, 0.3), "<b>rna</b>": (0.01, -0.02, 0.04)} | added
    rows = [
        {
            "row": "genesig",
            "name": "genesig",
            "genes": 40,
            "listed": 6.5,
            "error": 0.2,
            "low": 0.1,
            "high": 0.3,
        }
    ]
    for factor, (name, (value, low, high)) in enumerate(limits.items(), 1):
        rows.append(
            {
                "row": "without",
                "name": name,
                "genes": 20,
                "listed": 3.25,
                "factor": float(factor),
                "factor_low": 1.0,
                "factor_high": 4.0,
                "error": 0.2 + value,
                "low": 0.1,
                "high": 0.5,
                "added": value,
                "added_low": low,
                "added_high": high,
            }
        )
    built["tables"]["omics"] = pd.DataFrame(rows)
    return collect(StudyResults(**built))


def said(data):
    (text,) = omics_section(data, LIMITS).words
    return text.replace("\u00a0", " ")


def test_sentence_names_omics_that_add():
    assert said(collected_omics()) == (
        "Of the omics, protein (20.0 points, 95% CI 10.0 to 30.0) adds to the others; no benefit"
        " of <b>rna</b> (1.0 points, 95% CI −2.0 to 4.0) was shown."
    )


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        ((-0.1, -0.2, -0.05), "prediction was better without protein"),
        ((np.nan, np.nan, np.nan), "No benefit of <b>rna</b>"),
    ],
)
def test_omics_without_gain_are_not_said_to_add(limits, word):
    text = said(collected_omics(protein=limits))
    assert word in text
    assert "adds to" not in text


def test_study_without_signal_has_no_omic_that_adds():
    data = collected_omics(**{"<b>rna</b>": (-0.1, -0.2, -0.05)})
    data["verdict"]["grade"] = Grade.NONE.value
    text = said(data)
    assert "adds to" not in text
    assert "better without" not in text
    assert text.startswith("All omics together do not predict better than chance")


def test_undefined_gains_of_omics_are_stated():
    none = (np.nan, np.nan, np.nan)
    assert "could not be measured" in said(collected_omics(protein=none, **{"<b>rna</b>": none}))


def test_a_number_is_told_in_r2():
    assert "(0.20, 95% CI 0.10 to 0.30)" in said(collected_omics(Study(regression=True)))


def test_the_table_has_all_and_the_error_without_each():
    (table,) = omics_section(collected_omics(), LIMITS).items
    assert [row[0].value for row in table.rows] == ["all omics", "protein", "<b>rna</b>"]
    assert [row[6].value for row in table.rows] == pytest.approx([0.8, 0.6, 0.79])
    assert [row[9].value for row in table.rows] == [None, 0.2, 0.01]
    numbers = omics_section(collected_omics(Study(regression=True)), LIMITS).items[0]
    assert [row[6].value for row in numbers.rows] == pytest.approx([0.8, 0.6, 0.79])


def test_the_methods_say_whether_factors_were_learned():
    learned = collected_omics()
    inputs = collected_omics(factors={"protein": 1, "<b>rna</b>": 2})
    assert "Boulesteix" in " ".join(methods(learned))
    assert any(line.startswith("Boulesteix") for line in references(learned))
    text = " ".join(methods(inputs))
    assert "Boulesteix" not in text
    assert "multiplied by the factor of its omic: 1 for protein and 2 for" in text


def test_page_of_one_omic_has_no_section():
    data = collect(StudyResults(**arguments(Study())))
    assert omics_section(data, LIMITS) is None
    assert "omic" not in " ".join(methods(data))
