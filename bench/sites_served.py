"""Documentation sites from Debian's packages, each served by an nginx of its own on loopback, for `bench.sites`.

Sites come in by name or by the path of an HTML file; the start URL and the log of every request go out.
"""

import glob
import html
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

ADDRESS = "127.83.0.1"  # not 127.0.0.1: guides link to servers that their readers shall start there
PROGRAMS = {"nginx": "nginx-light", "wget": "wget"}  # what must run, and the package it is in
PATIENCE = 10.0  # seconds for nginx to listen


class Site(NamedTuple):
    """Where a package has its pages, and the ones from which links lead to all others (patterns of paths)."""

    name: str
    package: str
    root: Path
    starts: tuple[str, ...] = ("index.html",)

    def found(self) -> list[str]:
        """The start pages that are there; none if the package is missing or was installed without its documentation."""
        found = (path for start in self.starts for path in self.root.glob(start))
        return sorted(str(path.relative_to(self.root)) for path in found)


DOC = Path("/usr/share/doc")
SITES = (
    Site("postgresql", "postgresql-doc-15", DOC / "postgresql-doc-15" / "html"),
    Site("python", "python3-doc", DOC / "python3-doc" / "html"),
    Site("sqlite", "sqlite3-doc", DOC / "sqlite3"),
    Site("django", "python-django-doc", DOC / "python-django-doc" / "html"),
    Site("apache", "apache2-doc", DOC / "apache2-doc" / "manual"),
    Site("erlang", "erlang-doc", DOC / "erlang-doc", ("doc/index.html",)),
    Site("boost", "libboost1.74-doc", DOC / "libboost1.74-doc", ("doc/html/index.html",)),
    Site("handbook", "debian-handbook", DOC / "debian-handbook" / "html", ("*/index.html",)),
)


class Hit(msgspec.Struct, frozen=True):
    """A request, by nginx's log."""

    uri: str
    status: str
    type: str
    agent: str
    referer: str
    completed: str  # "OK" if the answer went out whole

    @property
    def is_page(self) -> bool:
        """Was an HTML page given out?"""
        is_html = self.type.startswith(("text/html", "application/xhtml+xml"))
        return self.status == "200" and is_html and self.completed == "OK"


class Served(NamedTuple):
    """A site that can be asked."""

    site: Site
    start: str  # URL
    log: Path

    def hits(self, of_wget: bool) -> list[Hit]:
        """What one of the two clients asked for so far."""
        lines = self.log.read_bytes().splitlines()
        hits = (msgspec.json.decode(line, type=Hit, strict=False) for line in lines)
        return [hit for hit in hits if hit.agent.startswith("Wget/") == of_wget]

    def url(self, uri: str) -> str:
        return "/".join(self.start.split("/", 3)[:3]) + uri


def chosen(names: Sequence[str]) -> list[Site]:
    """Sites by name, or by the path of the HTML file to start from, whose folder is then served."""
    known = {site.name: site for site in SITES}
    sites = []
    for name in names or known:
        path = Path(name).absolute()
        if name not in known and not path.is_file():
            raise SystemExit(f"{name}: not a file and not one of {', '.join(known)}")
        sites.append(known.get(name) or Site(path.parent.name, "", path.parent, (glob.escape(path.name),)))
    return sites


def provide(sites: Sequence[Site]) -> dict[str, str]:
    """Installs what is missing where we may. Names what is missing still: (site or program, why)."""
    packages = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    packages += [site.package for site in sites if site.package and not site.found()]
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        _install(packages)
    missing = {name: f"not found: package {package}" for name, package in PROGRAMS.items() if not shutil.which(name)}
    return missing | {
        site.name: f"no pages in {site.root}: package {site.package}" for site in sites if not site.found()
    }


def _install(packages: Sequence[str]) -> None:
    """One by one, lest a name that this release does not have keep the others out."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    subprocess.run(["apt-get", "-qq", "update"], **quiet)  # type: ignore[call-overload]
    for package in packages:
        print(f"installing {package} …", file=sys.stderr)
        command = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", package]
        subprocess.run(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, **quiet)  # type: ignore[call-overload]


@contextmanager
def served(site: Site, folder: Path) -> Iterator[Served]:
    """Runs an nginx that serves the site on a free port and keeps all it writes in `folder`."""
    with socket.create_server((ADDRESS, 0)) as probe:
        port = probe.getsockname()[1]
    starts = site.found()
    config, log = folder / "nginx.conf", folder / "access.log"
    config.write_text(_config(site, starts, port, folder))
    command = ["nginx", "-p", str(folder), "-c", str(config), "-e", str(folder / "error.log")]
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait_for(child, port)
        start = starts[0] if len(starts) == 1 else ""
        yield Served(site, f"http://{ADDRESS}:{port}/{start}", log)
    finally:
        child.terminate()
        child.wait()


def _wait_for(child: "subprocess.Popen[bytes]", port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and child.poll() is None:
        try:
            socket.create_connection((ADDRESS, port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise SystemExit(f"nginx does not listen (status {child.poll()})")


def _config(site: Site, starts: Sequence[str], port: int, folder: Path) -> str:
    """One process that stays ours to end; where there are several start pages, `/` links to them."""
    fields = {"uri": "request_uri", "status": "status", "type": "sent_http_content_type", "agent": "http_user_agent"}
    fields |= {"referer": "http_referer", "completed": "request_completion"}
    form = json.dumps({name: f"${variable}" for name, variable in fields.items()})
    kept = "".join(f"    {part}_temp_path {folder};\n" for part in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    links = "".join(f"<li><a href=/{html.escape(start)}>{html.escape(start)}</a>" for start in starts)
    home = f"location = / {{ default_type text/html; return 200 '<title>{site.name}</title><ul>{links}</ul>'; }}"
    return f"""daemon off; master_process off;
pid {folder}/nginx.pid;
events {{}}
http {{
    include {_types()};
    default_type application/octet-stream;
    log_format hits escape=json '{form}';
    access_log {folder}/access.log hits;
{kept}    server {{
        listen {ADDRESS}:{port};
        root {site.root};
        index index.html index.htm;
        autoindex off;
        {home if len(starts) > 1 else ""}
    }}
}}
"""


def _types() -> Path:
    """nginx's own table of content types."""
    for path in (Path("/etc/nginx/mime.types"), Path("/usr/local/etc/nginx/mime.types")):
        if path.exists():
            return path
    raise SystemExit("nginx has no mime.types")
