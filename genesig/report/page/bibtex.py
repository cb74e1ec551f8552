"""References as BibTeX, from the lines that the page shows."""

from __future__ import annotations

import re

_LINE = re.compile(r"(?P<authors>.+?) \((?P<year>\d{4})\)[.,] (?P<rest>.+)$")
_JOURNAL = re.compile(r"(?P<journal>[A-Z][\w\s&:]+?) (?P<volume>\d+)(?::(?P<pages>[\w-]+))?$")
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"})


def bibtex(lines: list[str]) -> str:
    """Return one entry for each line ``Authors (year). Title. Venue volume.``."""
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
        entries.append(_entry(key, found["authors"], found["year"], found["rest"]))
    return "\n\n".join(entries)


def _entry(key: str, authors: str, year: str, rest: str) -> str:
    title, _, venue = rest.rstrip(".").rpartition(". ")
    title, venue = (title, venue) if title else (venue, "")
    names = " and ".join(map(_name, re.split(r", | & ", authors.removesuffix("."))))
    fields = {"author": names, "title": f"{{{title.translate(_SPECIAL)}}}", "year": year}
    journal = _JOURNAL.match(venue)
    if journal:
        fields |= {name: text for name, text in journal.groupdict().items() if text}
    elif venue:
        fields["howpublished"] = venue.translate(_SPECIAL)
    inside = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items())
    return f"@{'article' if journal else 'misc'}{{{key},\n{inside}\n}}"


def _name(author: str) -> str:
    """Turn ``De Mol C`` into ``De Mol, C.``; ``others`` and ``et al`` stay."""
    if author in ("et al", "et al."):
        return "others"
    family, _, initials = author.rpartition(" ")
    return f"{family}, {initials}" if family else initials
