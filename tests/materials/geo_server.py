"""A server on the loopback that stands in for GEO's: its files, and where it breaks off."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from format_files import Numbers, series_matrix

from genesig.data.files.names import ADDRESS_VARIABLE
from genesig.results import download

CONTENT = gzip.compress(series_matrix(Numbers()).encode() + b"\n" * 300, mtime=0)


class Archive:
    """What the server has, what it was asked, and where it breaks off."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.break_at: int | None = None
        self.ranges = True
        self.refusals: list[int] = []

    def put(self, folder: str, *names: str, content: bytes = CONTENT) -> None:
        """Add files and the listing of their folder, as an ordinary web server writes it."""
        links = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
        self.files[f"/{folder}"] = f'<a href="../">up</a><ul>{links}</ul>'.encode()
        self.files |= {f"/{folder}{name}": content for name in names}


def _handler(archive: Archive) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            byte_range = self.headers.get("Range")
            archive.asked.append((self.path, byte_range))
            if archive.refusals:
                self.send_error(archive.refusals.pop(0))
                return
            content = archive.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            start = int(byte_range[6:-1]) if byte_range and archive.ranges else 0
            if start > len(content):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            stop = archive.break_at if self.path.endswith(".gz") else None
            self.wfile.write(content[start:stop])

        def log_message(self, *words: Any) -> None:
            """Say nothing."""

    return Handler


@pytest.fixture(name="archive")
def geo_archive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    """Run an empty server in place of GEO's until the test ends."""
    archive = Archive()
    monkeypatch.setattr(download, "RETRY_WAITS", ())
    with HTTPServer(("127.0.0.1", 0), _handler(archive)) as server:
        monkeypatch.setenv(ADDRESS_VARIABLE, f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv("no_proxy", "*")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield archive
        server.shutdown()
        thread.join()
