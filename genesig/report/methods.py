"""The Methods text, written from the resolved config and the results, and its references."""

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
from genesig.report.genes.section import (
    evidence_sentences,
    signature_sentences,
    single_gene_sentences,
)
from genesig.report.nonlinear import nonlinear_sentences
from genesig.report.page.section import Limits, Section
from genesig.report.prediction import decision
from genesig.report.prediction import section as prediction
from genesig.report.quality.section import module_sentences
from genesig.report.record import Report

# every reference that a topic may cite, with its DOI if it has one
REFERENCES = Path(__file__).with_name("references.txt").read_text(encoding="utf-8").splitlines()
_REFERENCE_LINE = re.compile(
    r"(?P<authors>.+?) \((?P<year>\d{4})\)[.,] (?P<title_and_venue>.+?)"
    r"(?: https://doi\.org/(?P<doi>\S+))?$"
)
_JOURNAL = re.compile(r"(?P<journal>[A-Z][\w\s&:]+?) (?P<volume>\d+)(?::(?P<pages>[\w-]+))?$")
_LATEX_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"})


def bibtex(lines: list[str]) -> str:
    """Return a BibTeX entry for each line ``Authors (year). Title. Venue. https://doi.org/..``."""
    keys: dict[str, int] = {}
    entries: list[str] = []
    for line in lines:
        match = _REFERENCE_LINE.match(line)
        if match is None:  # a line of another form becomes a note
            note = f"  note = {{{line.translate(_LATEX_SPECIAL)}}}"
            entries.append(f"@misc{{reference{len(entries) + 1},\n{note}\n}}")
            continue
        stem = re.sub(r"\W", "", match["authors"].split()[0]) + match["year"]
        keys[stem] = keys.get(stem, 0) + 1
        key = stem + ("" if keys[stem] == 1 else chr(ord("a") + keys[stem] - 1))
        entries.append(_bibtex_entry(key, **match.groupdict()))
    return "\n\n".join(entries)


def _bibtex_entry(key: str, authors: str, year: str, title_and_venue: str, doi: str | None) -> str:
    """Return an @article if the venue is a journal with a volume, else a @misc."""
    title, _, venue = title_and_venue.rstrip(".").rpartition(". ")
    title, venue = (title, venue) if title else (venue, "")  # a single part is the title
    names = " and ".join(map(_bibtex_author, re.split(r", | & ", authors.removesuffix("."))))
    fields = {"author": names, "title": f"{{{title.translate(_LATEX_SPECIAL)}}}", "year": year}
    journal = _JOURNAL.match(venue)
    if journal:
        fields |= {name: text for name, text in journal.groupdict().items() if text}
    elif venue:
        fields["howpublished"] = venue.translate(_LATEX_SPECIAL)
    fields |= {"doi": doi} if doi else {}
    field_lines = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items())
    return f"@{'article' if journal else 'misc'}{{{key},\n{field_lines}\n}}"


def _bibtex_author(author: str) -> str:
    """Turn ``De Mol C`` into ``De Mol, C.``; ``others`` and ``et al`` stay."""
    if author in ("et al", "et al."):
        return "others"
    family, _, initials = author.rpartition(" ")
    return f"{family}, {initials}" if family else initials


MAX_AUTHORS = 3  # of a reference up to which the page names all, as references.bib does


# functions that write the sentences of each paragraph of Methods
PARAGRAPHS: tuple[tuple[Callable[[Report], Iterable[str]], ...], ...] = (
    (data.sample_sentences,),
    (studies.study_sentences,),
    (data.normalisation_sentences, module_sentences),
    (prediction.assessment_sentences,),
    (
        prediction.selection_sentences,
        genome.stretch_sentences,
        decision.operating_point_sentences,
    ),
    (covariates.covariate_sentences,),
    (omics.omics_sentences,),
    (survival.survival_sentences,),
    (patients.patient_sentences,),
    (evidence_sentences,),
    (signature_sentences,),
    (sets.sets_sentences,),
    (enrichment.enrichment_sentences,),
    (nonlinear_sentences,),
    (
        prediction.permutation_sentences,
        single_gene_sentences,
        prediction.other_methods_sentences,
        published.published_sentences,
    ),
    (external_sentences,),
)


def methods(data: Report) -> list[str]:
    """Return the paragraphs of the Methods text, ready to be copied and edited."""
    paragraphs = [
        " ".join(text for write in paragraph for text in write(data) if text)
        for paragraph in PARAGRAPHS
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def references(data: Report) -> list[str]:
    """Return the references that the Methods text cites, in alphabetical order."""
    return cited_references(" ".join(methods(data)))


def cited_references(text: str) -> list[str]:
    """Return the lines of `REFERENCES` that a text cites."""
    return [line for line in REFERENCES if _is_cited(line, text)]


def _is_cited(reference: str, text: str) -> bool:
    """Return whether a text has the family name of the first author, followed by the year."""
    authors, year, _ = re.split(r" \((\d{4})\)", reference, maxsplit=1)
    family = authors.split(",")[0].rpartition(" ")[0] or authors  # "De Mol" of "De Mol C, .."
    # Up to 60 letters, of other authors, stand between them: "Anders & Huber 2010".
    return re.search(rf"{re.escape(family)}\b[^()]{{0,60}}?\b{year}", text) is not None


def without_title(reference: str) -> str:
    """Return a reference without its title and later authors, if a DOI leads to them."""
    match = _REFERENCE_LINE.match(reference)
    if match is None or match["doi"] is None:
        return reference
    authors = match["authors"].split(", ")
    names = ", ".join(authors) if len(authors) <= MAX_AUTHORS else f"{authors[0]} et al."
    venue = match["title_and_venue"].rpartition(". ")[2].rstrip(".")
    return f"{names} ({match['year']}). {venue}. https://doi.org/{match['doi']}"


def methods_section(data: Report, limits: Limits) -> Section:
    """Return the section with the Methods text."""
    return Section("methods", "Methods", methods(data), part="writeup", folded=True)


def references_section(data: Report, limits: Limits) -> Section:
    """Return the section with the references of the Methods text; references.bib has titles."""
    return Section(
        "references",
        "References",
        [without_title(reference) for reference in references(data)],
        part="writeup",
        folded=True,
        files=["figures/references.bib"],
    )
