"""`[fetch] ca_file` and SSL_CERT_FILE: a site whose certificate a private authority signed, made here by openssl."""

import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.e2e.crawling import report_of, weft
from weft.config import Config

SIGNED = "-addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE"


class Site(BaseHTTPRequestHandler):
    """One page, whatever is asked for; no robots.txt."""

    def do_GET(self) -> None:
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Wool</title><p>Wool becomes yarn, and yarn becomes cloth in the end.</p>")

    def log_message(self, *_: object) -> None:
        pass


def openssl(folder: Path, command: str) -> None:
    subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """Its address; the authority's certificate is tmp_path/ca.pem."""
    openssl(tmp_path, "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=Weavers -keyout ca.key -out ca.pem")
    request = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -CA ca.pem -CAkey ca.key"
    openssl(tmp_path, f"{request} {SIGNED} -keyout site.key -out site.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "site.pem", tmp_path / "site.key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def command(tmp_path: Path, site: str, settings: str = "") -> list[str]:
    config = tmp_path / "config.toml"
    config.write_text(f"[scope]\nown = ['127.0.0.0/8']\n[frontier]\nretry = [0.1]\n[fetch]\n{settings}\n")
    return ["crawl", site, "--out", str(tmp_path / "crawl"), "--config", str(config), "--delay", "0", "--json"]


def test_an_authority_named_by_ca_file_is_trusted_from_then_on(tmp_path: Path, site: str) -> None:
    given = command(tmp_path, site, f"ca_file = '{os.path.relpath(tmp_path / 'ca.pem')}'")
    assert report_of(weft(*given))["documents"] == 1
    kept = Path(Config.load(tmp_path / "crawl" / "weft.toml", {}).fetch.ca_file)
    assert kept.is_absolute()
    assert kept.samefile(tmp_path / "ca.pem")


def test_so_is_one_named_by_the_environment(tmp_path: Path, site: str) -> None:
    done = weft(*command(tmp_path, site), env={**os.environ, "SSL_CERT_FILE": str(tmp_path / "ca.pem")})
    assert report_of(done)["documents"] == 1


def test_and_nobody_else_is(tmp_path: Path, site: str) -> None:
    done = weft(*command(tmp_path, site))
    assert '"documents":0' in done.stdout
    assert "tls-failed" in weft("dead", tmp_path / "crawl").stdout


def test_a_bad_file_of_the_environment_is_one_line(tmp_path: Path, site: str) -> None:
    done = weft(*command(tmp_path, site), env={**os.environ, "SSL_CERT_FILE": str(tmp_path / "none.pem")})
    assert done.returncode == 2
    assert done.stderr == f"weft: SSL_CERT_FILE: {tmp_path / 'none.pem'}: No such file or directory\n"
    assert not (tmp_path / "crawl").exists()
