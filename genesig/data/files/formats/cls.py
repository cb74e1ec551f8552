"""Broad's CLS: classes of the samples of a GCT file, in its order and without their names.

Source: GenePattern, file formats guide.
"""

from __future__ import annotations

from collections.abc import Sequence

from genesig.data.files.delimited import TextTable
from genesig.errors import input_error
from genesig.words import counted, is_size

CLASS_COLUMN = "class"


def samples(text: str, file_name: str, names: Sequence[str]) -> TextTable:
    """Return the classes as a sample table with one column, ``class``.

    names: the samples of the matrix, in its order; a CLS file names none.

    Raises InvalidInput: counts that disagree, or a third line that two readings of the format
        understand differently: Broad numbers classes by their first sample, other programs by line
        2.
    """
    import pandas as pd

    lines = [line.split() for line in text.strip().split("\n")]
    if lines[0][:1] == ["#numeric"]:
        raise input_error(
            file_name,
            "holds numbers and not classes (#numeric); write them into a sample table",
            line=1,
        )
    if len(lines) != 3 or len(lines[0]) < 2 or not all(map(is_size, lines[0])) or not lines[1]:
        raise input_error(
            file_name, "needs three lines: '48 2 1', '# ALL AML', and the class of each sample"
        )
    classes = [word for word in (lines[1][0].removeprefix("#"), *lines[1][1:]) if word]
    _check_counts(file_name, lines, classes, names)
    table = pd.DataFrame(
        {CLASS_COLUMN: _class_of_samples(lines[2], classes, file_name)},
        index=pd.Index(list(names), name="sample", dtype=object),
        dtype=object,
    )
    return TextTable(table, lines=[3] * len(table))  # the third line has the class of each sample


def _check_counts(
    file_name: str, lines: list[list[str]], classes: list[str], names: Sequence[str]
) -> None:
    """Raise InvalidInput unless classes and labels are as many as line 1 states and `names`.

    lines: words of the three lines.
    """
    n_samples = int(lines[0][0])
    n_classes = int(lines[0][1])
    labels = lines[2]
    if len(classes) != n_classes:
        raise input_error(
            file_name,
            f"names {len(classes)} classes where line 1 says {n_classes}; a class name holds no "
            "blank",
            line=2,
        )
    if len(labels) != n_samples:
        raise input_error(
            file_name,
            f"has {counted(len(labels), 'label')} where line 1 says {n_samples}; give each sample "
            "one",
            line=3,
        )
    if len(labels) != len(names):
        raise input_error(
            file_name,
            f"has {counted(len(labels), 'label')} for the {counted(len(names), 'sample')} of the "
            "matrix; do the two files belong together?",
            line=3,
        )


def _class_of_samples(labels: list[str], classes: list[str], file_name: str) -> list[str]:
    """Return the class of each sample; raise InvalidInput if programs read the labels differently.

    labels: of the samples, words or numbers; classes: of line 2.
    """
    different_labels = list(dict.fromkeys(labels))
    if len(different_labels) != len(classes):
        raise input_error(
            file_name,
            f"has {counted(len(different_labels), 'different label')} where line 2 names "
            f"{len(classes)}; give each class a sample, or take it out there",
            line=3,
        )
    numbered = [str(number) for number in range(len(classes))]
    if different_labels not in (classes, numbered) and set(different_labels) <= {
        *classes,
        *numbered,
    }:
        raise input_error(
            file_name,
            f"begins with '{different_labels[0]}', which programs read as different classes; put "
            "the class names of line 2 in the order of their first sample, and those names here",
            line=3,
        )
    return [dict(zip(different_labels, classes, strict=True))[label] for label in labels]
