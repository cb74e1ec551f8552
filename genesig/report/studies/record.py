"""What report_data.json keeps of several studies."""

from __future__ import annotations

from typing import Any, TypedDict

from genesig.report.page.record import Study


class HeldOutStudy(TypedDict):
    """A study while it was held out whole; `apart` is whether it disagrees with the others.

    ``measured`` counts columns of its matrix, ``genes`` what they are of, ``lost`` those that
    another study lacks; ``same_sign`` is the share of the listed genes whose effect there has the
    sign of the mean.
    """

    name: str
    samples: int
    value: float | None
    low: float | None
    high: float | None
    error: float | None
    measured: int | None
    genes: int | None
    lost: int | None
    apart: bool
    same_sign: float | None


class StudiesRecord(TypedDict):
    """The studies, their mean, where the next one may lie; effects of the listed genes.

    ``genes`` has the columns of meta.tsv for the genes of the signature, ``columns`` names them.
    """

    measure: str
    whole: bool
    studies: list[HeldOutStudy]
    mean: list[float | None]
    next: list[float | None]
    i2: float | None
    columns: list[str]
    genes: list[list[Any]]
    named: int
    tested: int


class Studies(Study):
    """What this topic reads."""

    studies: StudiesRecord | None
