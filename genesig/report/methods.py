"""The Methods text, written from the resolved config and what was measured; its references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from genesig.report import (
    covariates,
    data,
    enrichment,
    genome,
    omics,
    patients,
    published,
    sets,
    studies,
    survival,
)
from genesig.report.external.section import external_sentences
from genesig.report.genes.methods import (
    evidence_sentences,
    signature_sentences,
    single_gene_sentences,
)
from genesig.report.nonlinear.section import nonlinear_sentences
from genesig.report.page.section import Limits, Section
from genesig.report.prediction import methods as prediction
from genesig.report.quality.captions import module_sentences
from genesig.report.record import Report

KNOWN = Path(__file__).with_name("references.txt").read_text(encoding="utf-8").splitlines()
"""Every reference that a topic may cite, one a line; DOIs where there are any."""

_LINE = re.compile(r"(?P<authors>.+?) \((?P<year>\d{4})\)[.,] (?P<rest>.+?)"
                   r"(?: https://doi\.org/(?P<doi>\S+))?$")  # fmt: skip
_JOURNAL = re.compile(r"(?P<journal>[A-Z][\w\s&:]+?) (?P<volume>\d+)(?::(?P<pages>[\w-]+))?$")
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"})


def bibtex(lines: list[str]) -> str:
    """Return one entry for each line ``Authors (year). Title. Venue volume. https://doi.org/..``."""
    keys: dict[str, int] = {}
    entries: list[str] = []
    for line in lines:
        found = _LINE.match(line)
        if found is None:  # not of this form: as it is, so that nothing is lost
            note = f"  note = {{{line.translate(_SPECIAL)}}}"
            entries.append(f"@misc{{reference{len(entries) + 1},\n{note}\n}}")
            continue
        stem = re.sub(r"\W", "", found["authors"].split()[0]) + found["year"]
        keys[stem] = keys.get(stem, 0) + 1
        key = stem + ("" if keys[stem] == 1 else chr(ord("a") + keys[stem] - 1))
        entries.append(_entry(key, **found.groupdict()))
    return "\n\n".join(entries)


def _entry(key: str, authors: str, year: str, rest: str, doi: str | None) -> str:
    title, _, venue = rest.rstrip(".").rpartition(". ")
    title, venue = (title, venue) if title else (venue, "")
    names = " and ".join(map(_name, re.split(r", | & ", authors.removesuffix("."))))
    fields = {"author": names, "title": f"{{{title.translate(_SPECIAL)}}}", "year": year}
    journal = _JOURNAL.match(venue)
    if journal:
        fields |= {name: text for name, text in journal.groupdict().items() if text}
    elif venue:
        fields["howpublished"] = venue.translate(_SPECIAL)
    fields |= {"doi": doi} if doi else {}
    inside = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items())
    return f"@{'article' if journal else 'misc'}{{{key},\n{inside}\n}}"


def _name(author: str) -> str:
    """Turn ``De Mol C`` into ``De Mol, C.``; ``others`` and ``et al`` stay."""
    if author in ("et al", "et al."):
        return "others"
    family, _, initials = author.rpartition(" ")
    return f"{family}, {initials}" if family else initials


PARAGRAPHS: tuple[tuple[Callable[[Report], Iterable[str]], ...], ...] = (
    (data.samples,),
    (studies.study_sentences,),
    (data.normalisation, module_sentences),
    (prediction.assessment_sentences,),
    (prediction.selection_sentences, genome.stretch_sentences),
    (covariates.held_sentences,),
    (omics.sentences,),
    (survival.sentences,),
    (patients.sentences,),
    (evidence_sentences,),
    (signature_sentences,),
    (sets.sets_sentences,),
    (enrichment.enrichment_sentences,),
    (nonlinear_sentences,),
    (
        prediction.permutation_sentences,
        single_gene_sentences,
        prediction.other_methods_sentences,
        published.sentences,
    ),
    (external_sentences,),
)


def methods(data: Report) -> list[str]:
    """Return the Methods text, one string per paragraph, ready to be copied and edited."""
    found = [
        " ".join(text for write in paragraph for text in write(data) if text)
        for paragraph in PARAGRAPHS
    ]
    return [paragraph for paragraph in found if paragraph]


def references(data: Report) -> list[str]:
    """Return what the Methods text cites, in the order of the alphabet."""
    return cited(" ".join(methods(data)))


def cited(text: str) -> list[str]:
    """Return the known references that a text cites."""
    return [line for line in KNOWN if _is_cited(line, text)]


def _is_cited(reference: str, text: str) -> bool:
    """Whether the first author's family name stands in the text with the year behind it."""
    first, year, _ = re.split(r" \((\d{4})\)", reference, maxsplit=1)
    family = first.split(",")[0].rpartition(" ")[0] or first
    return re.search(rf"{re.escape(family)}\b[^()]{{0,60}}?\b{year}", text) is not None


def methods_section(data: Report, limits: Limits) -> Section:
    """Show the Methods text."""
    return Section("methods", "Methods", methods(data), part="writeup", folded=True)


def references_section(data: Report, limits: Limits) -> Section:
    """Show what the Methods text cites."""
    return Section("references", "References", references(data), part="writeup", folded=True,
                   files=["figures/references.bib"])  # fmt: skip
