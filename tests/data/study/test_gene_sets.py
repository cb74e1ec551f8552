"""Gene-set files are matched to the genes of the study, and each fault gives one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from broken_tables import GMX, GOOD, SETS
from small_study import GENES, Study

from genesig.cli import main
from genesig.data.files.readers import read_sets
from genesig.data.study.gene_sets import PUBLISHED, match_sets
from genesig.errors import InvalidInput
from genesig.results.splits import GeneSets


def read_gene_sets(
    folder: Path,
    text: str,
    genes: list[str],
    symbols: list[str] | None = None,
    name: str = "sets.gmt",
    smallest: int = 1,
    largest: int = 500,
    column: str | None = None,
) -> GeneSets:
    (folder / name).write_text(text)
    return match_sets(
        str(folder / name),
        genes,
        symbols or genes,
        column=column,
        smallest=smallest,
        largest=largest,
    )


def member_names(sets: GeneSets) -> dict[str, list[int]]:
    return {str(name): sets.members(k).tolist() for k, name in enumerate(sets.names)}


def test_broken_gene_set_files_are_more_than_twenty() -> None:
    assert len({tuple(words) for _, words in SETS.values()}) >= 20


def test_a_gmt_and_a_gmx_say_the_same(tmp_path: Path) -> None:
    from_gmt = read_gene_sets(
        tmp_path, "a\tx\tg1\tg2\tg2\n\nb\ty\tg2\tg3\tother\n", ["g1", "g2", "g3"]
    )
    two = read_gene_sets(
        tmp_path, "a\tb\nx\ty\ng1\tg2\ng2\tg3\n\tother\n", ["g1", "g2", "g3"], name="s.gmx"
    )
    assert member_names(from_gmt) == member_names(two) == {"a": [0, 1], "b": [1, 2]}
    assert from_gmt.n_measured.tolist() == two.n_measured.tolist() == [2, 2]
    assert from_gmt.n_listed.tolist() == two.n_listed.tolist() == [2, 3]
    assert from_gmt.descriptions.tolist() == ["x", "y"]


def test_saved_gene_sets_are_loaded_unchanged(tmp_path: Path) -> None:
    sets = read_gene_sets(tmp_path, "a\tx\tg1\nb\t\tg2\tg3\n", ["g1", "g2", "g3"])
    sets.save(tmp_path / "known.npz")
    reloaded = GeneSets.load(tmp_path / "known.npz")
    for name, value in vars(sets).items():
        np.testing.assert_array_equal(getattr(reloaded, name), value)


def test_ids_or_symbols_whichever_know_more(tmp_path: Path) -> None:
    text = "a\tx\tTP53\tMYC\nb\tx\tMYC\tEGFR\n"
    probes = ["1_at", "2_at", "3_at"]
    by_symbol = read_gene_sets(tmp_path, text, probes, ["TP53", "MYC /// MYCN", "MYC"])
    assert member_names(by_symbol) == {"a": [0, 1, 2], "b": [1, 2]}
    assert by_symbol.n_measured.tolist() == [2, 1]  # two probes of one gene count once
    assert member_names(read_gene_sets(tmp_path, text, ["EGFR", "MYC", "TP53"])) == {
        "a": [1, 2],
        "b": [0, 1],
    }


def test_values_of_a_column_are_sets_of_any_size(tmp_path: Path) -> None:
    table = "gene\tlayer\ng1\trna\ng2\tprotein\ng3\trna\ng4\t\ng5\tprotein\nelse\trna\n"
    genes = ["g1", "g2", "g3", "g4", "g5"]
    sets = read_gene_sets(
        tmp_path, table, genes, name="t.tsv", column="layer", smallest=3, largest=3
    )
    assert member_names(sets) == {"rna": [0, 2], "protein": [1, 4]}
    assert sets.n_listed.tolist() == [3, 2]


def test_sets_of_the_wanted_size_and_of_different_genes(tmp_path: Path) -> None:
    text = "big\tx\tg1\tg2\tg3\tg4\na\tx\tg1\tg2\nsmall\tx\tg1\nsame\tx\tg2\tg1\tnone\n"
    sets = read_gene_sets(tmp_path, text, ["g1", "g2", "g3", "g4"], smallest=2, largest=3)
    assert member_names(sets) == {"a": [0, 1]}
    assert [note.split(",")[0] for note in sets.warnings] == [
        "one set is left",
        "of the same measured genes as another",
    ]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (GOOD, []),
        (GOOD + "void\tabout\n", ["without a gene, so left out: 1 set, 'void'"]),
        (GOOD + "new\tx\tgene1\tgene2\t2-Sep\n", ["turned into dates or numbers by a spreadsheet"]),
        (GOOD + "b\tx\tgene7\tGENE8\n", ["1 gene not found for their upper and lower case"]),
        (GOOD + "b\tx\tgene8\t" + "\t".join("pqrstuvwxyz") + "\n", ["11 of its 18 genes are not"]),
    ],
)
def test_doubtful_gene_sets_are_warned_of(
    text: str,
    messages: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = Study(tmp_path)
    study.set("structured", {"sets": "sets.gmt", "smallest": 1})
    study.files["sets.gmt"] = text.encode()
    study.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(messages)
    assert all(
        f"warning: sets.gmt: {words}" in line for line, words in zip(lines, messages, strict=True)
    )


def test_a_gmx_of_the_study_is_sound(tmp_path: Path) -> None:
    (tmp_path / "s.gmx").write_text(GMX)
    assert [gene_set.genes for gene_set in read_sets(tmp_path / "s.gmx", None)] == [
        tuple(GENES)
    ] * 2


def test_messages_name_the_section_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sets.gmt"
    path.write_text("a\tx\tg1\tg2\n")
    genes = ["g1", "g2", "g3"]
    with pytest.raises(InvalidInput, match=r"set enrichment\.smallest and enrichment\.largest"):
        match_sets(
            str(path), genes, genes, column=None, smallest=3, largest=9, section="enrichment"
        )
    for section, count in (("structured", 1), ("enrichment", 0), (PUBLISHED, 0)):
        sets = match_sets(
            str(path), genes, genes, column=None, smallest=1, largest=9, section=section
        )
        assert len(sets.warnings) == count


def test_equal_sets_are_not_left_out_for_their_size(tmp_path: Path) -> None:
    text = "".join(f"s{k}\tx\tg1\tg2\n" for k in range(30))
    sets = read_gene_sets(tmp_path, text, ["g1", "g2"])
    assert len(sets) == 1
    assert not any("for their size" in warning for warning in sets.warnings)
