"""Gene symbols are looked up once by request, and a bad answer of the server is refused."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from genesig.cli import main
from genesig.data.files import symbols
from genesig.data.files.symbols import MYGENE_VARIABLE
from genesig.results.files import load_table

TP53 = "ENSG00000141510"
EGFR = "ENSG00000146648"
UNKNOWN = "ENSG00000000000"
HITS = {
    TP53: [
        {"symbol": "TP53", "entrezgene": "7157", "name": "tumor\nprotein p53"},
        {"symbol": "WRONG"},
    ],
    EGFR: [{"symbol": "EGFR", "entrezgene": 1956, "name": ["not", "text"]}],
}


class Server:
    def __init__(self) -> None:
        self.asked: list[dict[str, list[str]]] = []
        self.answer: bytes | None = None
        self.status = 200

    def handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                server.asked.append(parse_qs(text))
                body = server.answer or json.dumps(server.hits()).encode()
                self.send_response(server.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        return Handler

    def ids(self) -> list[str]:
        """Return what was asked for last, which the client puts in quotes."""
        return self.asked[-1]["q"][0].replace('"', "").split(",")

    def hits(self) -> list[dict[str, Any]]:
        names = self.ids()
        none: list[dict[str, Any]] = [{"notfound": True}]
        return [{"query": name, **hit} for name in names for hit in HITS.get(name, none)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server_state = Server()
    with HTTPServer(("127.0.0.1", 0), server_state.handler()) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        monkeypatch.setenv(MYGENE_VARIABLE, f"http://127.0.0.1:{http.server_port}/v3")
        yield server_state
        http.shutdown()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write([f"{TP53}.18", EGFR, UNKNOWN])
    return tmp_path


def write(genes: list[str]) -> None:
    rows = "".join(f"{gene}\t1.5\t2.5\n" for gene in genes)
    Path("e.tsv").write_text(f"gene\ts1\ts2\n{rows}")


def test_the_table_has_the_best_hit_of_each_id(server: Server, folder: Path, capsys: Any) -> None:
    assert main(["symbols", "e.tsv"]) == 0
    assert Path("genes.tsv").read_text() == (
        "gene\tsymbol\tentrez\tname\n"
        f"{TP53}.18\tTP53\t7157\ttumor protein p53\n{EGFR}\tEGFR\t1956\t\n{UNKNOWN}\t\t\t\n"
    )
    assert server.asked[0]["scopes"] == ["ensembl.gene"]
    assert server.asked[0]["species"] == ["human"]
    refusal = capsys.readouterr().out
    assert refusal.startswith(
        "genes.tsv: 2 of 3 genes have a symbol; 3 were looked up; in the config"
    )


def test_known_symbols_are_not_looked_up_again(server: Server, folder: Path) -> None:
    assert main(["symbols", "e.tsv"]) == 0
    write([EGFR, UNKNOWN, "1007_s_at"])
    assert main(["symbols", "e.tsv", "--species", "mouse"]) == 0
    assert server.ids() == ["1007_s_at", UNKNOWN]  # it may be one of this species
    assert server.asked[1]["scopes"] == ["ensembl.gene,reporter"]
    assert load_table("genes.tsv")["symbol"].fillna("").tolist() == ["TP53", "EGFR", "", ""]
    write([EGFR, f"{TP53}.18"])
    assert main(["symbols", "e.tsv"]) == 0
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("status", "answer"), [(500, b"{}"), (200, b"<html>"), (200, b'[{"a": 1}]'), (200, b"[7]")]
)
def test_bad_answer_of_the_server_gives_one_line(
    server: Server, folder: Path, capsys: Any, status: int, answer: bytes
) -> None:
    server.status = status
    server.answer = answer
    assert main(["symbols", "e.tsv"]) == 1
    refusal = capsys.readouterr().err
    assert refusal.count("\n") == 1
    assert "gave no answer that can be used" in refusal
    assert not Path("genes.tsv").exists()


def test_no_gene_table_is_written_without_network(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv(MYGENE_VARIABLE, "http://127.0.0.1:9/v3")
    assert main(["symbols", "e.tsv"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not Path("genes.tsv").exists()


def test_a_server_that_never_answers_is_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """The client itself would wait for ever."""
    monkeypatch.setattr(symbols, "MYGENE_TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv(MYGENE_VARIABLE, f"http://127.0.0.1:{silent.getsockname()[1]}/v3")
        assert main(["symbols", "e.tsv"]) == 1
    assert "gave no answer" in capsys.readouterr().err


def test_names_that_are_no_ids_are_not_sent_to_the_server(
    server: Server, folder: Path, capsys: Any
) -> None:
    Path("e.tsv").write_text("gene\t1\t2\nTP53\t1.5\t2.5\nEGFR\t1.5\t2.5\nMYC\t1.5\t2.5\n")
    assert main(["symbols", "e.tsv"]) == 1
    assert (
        "names genes ('TP53', 'EGFR', 'MYC') that are no ids of Ensembl" in capsys.readouterr().err
    )
    assert not server.asked


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (b"gene\tmine\na\tb\n", "is another table"),
        (b"", "is empty"),
        (b"\x89PNG\0\1", "zero bytes"),
    ],
)
def test_other_file_is_not_overwritten(
    server: Server, folder: Path, capsys: Any, content: bytes, refusal: str
) -> None:
    Path("genes.tsv").write_bytes(content)
    assert main(["symbols", "e.tsv"]) == 1
    assert refusal in (message := capsys.readouterr().err)
    assert message.count("\n") == 1
    assert Path("genes.tsv").read_bytes() == content
    assert not server.asked


@pytest.mark.parametrize("output", ["e.tsv", "genes.csv", "genes"])
def test_output_that_is_no_table_or_the_matrix_is_refused(
    server: Server, folder: Path, output: str
) -> None:
    assert main(["symbols", "e.tsv", "-o", output]) == 1
    assert not server.asked
