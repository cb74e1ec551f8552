"""HGNC's table translates former gene symbols in annotations, cohorts and new samples."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from fitted_models import GENES, NAMES
from fitted_models import model_of as _model
from fitted_models import table as _table

from genesig.cli import main
from genesig.data.cohorts.read import take_study_names
from genesig.data.files.readers import read_genes, read_matrix
from genesig.data.files.symbols import needed_names, rows_by_name
from genesig.errors import InvalidInput

HGNC = (
    "hgnc_id\tsymbol\tname\talias_symbol\tprev_symbol\tentrez_id\tensembl_gene_id\n"
    "HGNC:7729\tSEPTIN2\tseptin 2\thNedd5|KIAA0158\tDIFF6|SEPT2\t4735\tENSG00000168385\n"
    "HGNC:26077\tMARCHF1\tring finger 1\tRNF171\tMARCH1\t55016\tENSG00000145416\n"
    "HGNC:1\tABC1\tfirst\tSHARED\tOLD\t1\tENSG00000000001\n"
    "HGNC:2\tABC2\tsecond\tSHARED|ABC1\tOLD\t2\tENSG00000000002\n"
)


@pytest.fixture
def hgnc(tmp_path: Path) -> str:
    (tmp_path / "hgnc_complete_set.txt").write_text(HGNC)
    return str(tmp_path / "hgnc_complete_set.txt")


def test_former_name_maps_to_one_gene_or_none(hgnc: str) -> None:
    rows = rows_by_name(read_genes(hgnc, None))
    assert {rows[name] for name in ("SEPTIN2", "SEPT2", "KIAA0158", "4735", "ENSG00000168385")} == {
        0
    }
    assert rows["ABC1"] == 2  # its own, though an alias of another
    assert not {"OLD", "SHARED"} & set(rows)
    assert needed_names(["SEPT2", "X"], ["SEPTIN2", "ABC1"], rows) == {"SEPT2": "SEPTIN2"}
    assert needed_names(["ENSG00000145416.12"], ["MARCH1"], rows) == {
        "ENSG00000145416.12": "MARCH1"
    }
    # two names here for one gene: which is meant cannot be told; one that is here needs no other
    assert needed_names(["SEPT2", "hNedd5"], ["SEPTIN2"], rows) == {}
    assert needed_names(["SEPT2", "SEPTIN2"], ["SEPTIN2"], rows) == {}


def test_name_of_two_genes_is_not_taken_from_the_aliases_of_a_third(hgnc: str) -> None:
    third_gene = "HGNC:3\tABC3\tthird\tOLD\t\t3\tENSG00000000003\n"
    Path(hgnc).write_text(HGNC + third_gene)
    assert "OLD" not in rows_by_name(read_genes(hgnc, None))


def test_symbols_are_looked_up_in_the_file(hgnc: str, tmp_path: Path) -> None:
    (tmp_path / "e.tsv").write_text("gene\ts1\ts2\nSEPT2\t1\t2\n55016\t2\t3\nno1\t3\t4\n")
    out = str(tmp_path / "genes.tsv")
    assert main(["symbols", str(tmp_path / "e.tsv"), "--offline", hgnc, "-o", out]) == 0
    table = pd.read_csv(out, sep="\t", keep_default_na=False, dtype=str).set_index("gene")
    assert table["symbol"].to_dict() == {"SEPT2": "SEPTIN2", "55016": "MARCHF1", "no1": ""}
    assert table.loc["SEPT2", "entrez"] == "4735"


def test_another_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("gene\tsymbol\ng1\tA\n")
    (tmp_path / "e.tsv").write_text("gene\ts1\ng1\t2\n")
    with pytest.raises(InvalidInput, match="has no column 'prev_symbol', so is not HGNC's table"):
        take_study_names(read_matrix(tmp_path / "e.tsv"), ["A"], str(tmp_path / "g.tsv"), "e.tsv")


def test_new_samples_under_former_names_score_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = _model("plain")
    gene = model["models"][1]["genes"][0]
    (tmp_path / "h.txt").write_text(
        f"hgnc_id\tsymbol\talias_symbol\tprev_symbol\nHGNC:1\tNEW1\tother\t{gene}\n"
    )
    (tmp_path / "model.json").write_text(json.dumps(model))
    scores = []
    for name, options in ((gene, []), ("NEW1", ["--renamed", str(tmp_path / "h.txt")])):
        genes = [name if g == gene else g for g in GENES]
        (tmp_path / "new.tsv").write_text(_table(data.X, NAMES, genes))
        files = [str(tmp_path / file) for file in ("model.json", "new.tsv", "p.tsv")]
        assert main(["predict", *files[:2], "-o", files[2], *options]) == 0
        scores.append(pd.read_csv(files[2], sep="\t")["score"].tolist())
    assert scores[0] == scores[1]
    stderr = capsys.readouterr().err
    assert f"1 gene found under another name, such as '{gene}' as 'NEW1'" in stderr
