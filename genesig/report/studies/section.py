"""The section about several studies, and its sentence on the first screen."""

from __future__ import annotations

from functools import partial

from genesig.report.page.columns import Column
from genesig.report.page.rows import columns_of
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.svg import Picture, picture
from genesig.report.page.tables import Table, filled_table
from genesig.report.page.words import clean, counted, decimal, enumerated, in_words, percent, signed
from genesig.report.studies import figures
from genesig.report.studies.collect import EFFECT_OF
from genesig.report.studies.record import Studies, StudiesRecord
from genesig.selection.studies.effects import EFFECTS

TITLE = "Studies"
CHANCE = {"AUC": 0.5, "C": 0.5, "correlation": 0.0}
EFFECT = {kind: name for kind, (name, _) in EFFECTS.items()}
HETEROGENEOUS = 0.5
"""I² from which on studies are said to differ: about half of what is seen between them is more than
sampling."""
COLUMNS = (
    Column("Study", "name"),
    Column("Samples", "integer"),
    Column("Value", "number"),
    Column("Lower", "number"),
    Column("Upper", "number"),
    Column("Error", "number"),
    Column("Probes", "integer", "Columns of its matrix"),
    Column("Genes", "integer", "What these are of"),
    Column("Lost", "integer", "Genes that another study lacks, so that they take no part"),
    Column("Same sign", "share", "Genes of the signature whose effect has the sign of the mean"),
)
OF_GENE = {
    "gene": Column("Gene", "name"), "symbol": Column("Symbol", "name"),
    "class": Column("Class", "name", "Held against the rest"),
    "effect": Column("Effect", "signed", "Random-effects mean over the studies"),
    "low": Column("Lower", "signed"), "high": Column("Upper", "signed"),
    "q_value": Column("q", "p", "Benjamini and Hochberg, over all genes"),
    "i2": Column("I²", "share", "Share of what is seen between studies that is not sampling"),
    "agree": Column("Same sign", "share", "Studies with the sign of the mean"),
    "least": Column("Smallest", "signed", "Of the means without one study"),
    "most": Column("Largest", "signed", "Of the means without one study"),
}  # fmt: skip


def unseen(data: Studies) -> list[str]:
    """Return the sentence of the first screen; nothing where there is one study."""
    it = data["studies"]
    if it is None:
        return []
    value, low, high = it["mean"]
    if value is None:
        return ["In none of the studies could the signature be tested."]
    where = "In a study it had not seen" if it["whole"] else "In held-out samples of each study"
    reached = f"{it['measure']} {decimal(value)}{_ends(low, high)}"
    few = "; a range for the next study takes three of them"
    ahead = few if it["next"][0] is None else f"; the next study may lie between {_range(it)}"
    odd = [one["name"] for one in it["studies"] if one["apart"]]
    differ = "differs" if len(odd) == 1 else "differ"
    apart = f" {enumerated(odd)} {differ} from the others." if odd else ""
    mean = f"the mean of {in_words(len(it['studies']))} studies"
    return [f"{where}: {reached}, {mean}{ahead}.{apart}"]


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None else f" (95\u00a0% CI {decimal(low)} to {decimal(high)})"


def _range(it: StudiesRecord) -> str:
    return " and ".join(signed(f"{end:.2f}") for end in it["next"] if end is not None)


def studies(data: Studies, limits: Limits) -> Section:
    """Show each study while it was held out, and the genes of the signature in all of them."""
    it = data["studies"]
    if it is None:
        return Section("studies", TITLE, [], part="evidence")
    items: list[Item] = [_forest(it), _table(it, limits)]
    if it["genes"]:
        items += [_genes(data, it, limits), _of_genes(it, limits)]
    return Section("studies", TITLE, _words(data, it), items, part="evidence")


def _words(data: Studies, it: StudiesRecord) -> list[str]:
    found = unseen(data)
    if it["next"][0] is not None:
        found.append(
            "The interval of the mean says how well these studies do together. That of the next"
            " study is wider, since studies differ: with 95\u00a0% a new one lies in it."
        )
    if it["i2"] is not None and it["i2"] >= HETEROGENEOUS:
        found.append(f"Studies differ by more than sampling explains (I² {percent(it['i2'])}).")
    for one in it["studies"]:
        if one["apart"]:
            same = "" if one["same_sign"] is None else (
                f"; {percent(one['same_sign'])} of the signature's genes have there the sign that"
                " they have on average")  # fmt: skip
            found.append(f"{clean(one['name'])} disagrees with the others{same}.")
    lost = [one for one in it["studies"] if one["lost"]]
    if lost:
        told = ", ".join(f"{clean(one['name'])} {one['lost']} of {one['genes']}" for one in lost)
        found.append(f"Only genes that every study measured take part. Left out: {told}.")
    return [*found, *([_tested(it)] if it["tested"] else ())]


def _tested(it: StudiesRecord) -> str:
    return (
        f"Over all studies, {it['named']} of {counted(it['tested'], 'gene')} differ at q ≤ 0.05 by"
        " a random-effects meta-analysis (meta.tsv)."
    )


def _forest(it: StudiesRecord) -> Picture:
    told = "; ".join(f"{clean(one['name'])} {decimal(one['value'])}" for one in it["studies"])
    unseen_ = "by models that had seen none of its samples" if it["whole"] else "while held out"
    return picture(
        "studies_forest",
        partial(figures.forest, it, CHANCE[it["measure"]]),
        data=columns_of(it["studies"], "name", "samples", "value", "low", "high"),
        title="The signature in each study",
        description=f"{it['measure']} of each study {unseen_}: {told}; mean"
        f" {decimal(it['mean'][0])}.",
        caption=f"Each study {unseen_}, with 95 % CI; the square grows with its samples. Diamond:"
        " random-effects mean. Grey bar: where the next study lies with 95 %.",
    )


def _table(it: StudiesRecord, limits: Limits) -> Table:
    keys = ("name", "samples", "value", "low", "high", "error", "measured", "genes", "lost",
            "same_sign")  # fmt: skip
    rows = [[one[key] for key in keys] for one in it["studies"]]  # type: ignore[literal-required]
    caption = f"Each study while it was held out: {it['measure']} with 95\u00a0% CI, error, genes."
    return filled_table("studies", caption, COLUMNS, rows, limits.table_rows,
                        total=len(rows), file="studies.tsv")  # fmt: skip


def _genes(data: Studies, it: StudiesRecord, limits: Limits) -> Picture:
    rows = [dict(zip(it["columns"], row, strict=True)) for row in it["genes"][: limits.top_genes]]
    own = [column for column in it["columns"] if column.startswith(EFFECT_OF)]
    names = [", ".join(filter(None, (str(row["symbol"] or row["gene"]), row.get("class"))))
             for row in rows]  # fmt: skip
    effects = [[row[column] for column in own] for row in rows]
    means = [[row[key] for key in ("effect", "low", "high")] for row in rows]
    effect = EFFECT.get(data["study"]["task"], "effect")
    return picture(
        "studies_genes",
        partial(figures.genes, names, effects, means, effect),
        data={
            "gene": names,
            "effect": [row[0] for row in means],
            **{column: [row[column] for row in rows] for column in own},
        },
        title="Genes of the signature in each study",
        description=f"{effect} of {counted(len(names), 'gene')} in each study and on average.",
        caption=f"{effect} of the genes of the signature, alone, in each study (dots), and its mean"
        " with a 95 % CI. Of few studies the interval is wide.",
    )


def _of_genes(it: StudiesRecord, limits: Limits) -> Table:
    keep = [key for key in OF_GENE if key in it["columns"]]
    place = {key: it["columns"].index(key) for key in keep}
    rows = [[row[place[key]] for key in keep] for row in it["genes"]]
    caption = "Genes of the signature over all studies, each by itself."
    return filled_table("meta", caption, [OF_GENE[key] for key in keep], rows, limits.table_rows,
                        total=len(rows), file="meta.tsv")  # fmt: skip
