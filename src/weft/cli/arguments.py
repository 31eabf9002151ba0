"""The command line: every verb and option with its help, as an argparse parser. No verb is carried out here."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

EPILOG = """\
exit status: 0 the crawl reached its end or its limit; 2 wrong usage or configuration;
             3 stopped before the end, or what is left waits longer than a minute for a host to heal
             (nothing is lost: run the same command again);
             1 anything else, such as seeds of which none has ever brought a page, or a fault that `check` found
"""


class Parser(argparse.ArgumentParser):
    """argparse, with errors as one line, and none of them swallowed."""

    def print_help(self, file: Any = None) -> None:
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> Any:
        self.exit(2, f"weft: {message} (try: {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="weft",
        description="A polite web crawler that turns seed URLs into a clean text corpus.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", parser_class=Parser)
    for declare in (_crawl, _status, _inspect, _dead, _refine, _check, _extract, _robots, _url, _simweb, _demo):
        declare(verbs.add_parser)
    return parser


Declare = Callable[..., argparse.ArgumentParser]


def _verb(add: Declare, name: str, text: str, examples: Sequence[str] = ()) -> argparse.ArgumentParser:
    epilog = "examples:\n" + "".join(f"  {example}\n" for example in examples) if examples else None
    formatter = argparse.RawDescriptionHelpFormatter
    summary = text.partition(". ")[0].rstrip(".")
    return add(name, help=summary[:1].lower() + summary[1:], description=text, epilog=epilog, formatter_class=formatter)


def _with_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object (or one a line) for programs")


def _with_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", metavar="DIR", help="a crawl's directory")


def _crawl(add: Declare) -> None:
    parser = _verb(
        add,
        "crawl",
        "Crawl from seeds into DIR: raw pages, corpus and state. On a DIR that holds a crawl it goes on with it.",
        [
            "weft crawl example.org --out crawl --contact https://me.example/bot",
            "weft crawl --seeds seeds.txt --out crawl --max-pages 10000 --contact me@me.example",
            "weft crawl http://127.0.0.1:8000/ --own 127.0.0.0/8 --delay 0 --out crawl",
        ],
    )
    parser.add_argument("seeds", metavar="SEED", nargs="*", help="a URL, or a bare domain such as example.org")
    parser.add_argument("--out", metavar="DIR", required=True, help="where everything goes")
    parser.add_argument("--seeds", dest="seed_file", metavar="FILE", help="seeds, one a line, # comments; - for stdin")
    parser.add_argument("--max-pages", type=int, metavar="N", help="end this run after N fetched pages")
    parser.add_argument("--max-depth", type=int, metavar="N", help="links from the nearest seed (20)")
    parser.add_argument("--pages-per-host", type=int, metavar="N", help="ask for at most N URLs per host")
    parser.add_argument("--scope", choices=("host", "domain", "any"), help="how far from the seeds to go (domain)")
    parser.add_argument(
        "--own",
        metavar="CIDR|HOST",
        nargs="+",
        action="extend",
        default=[],
        help="hosts that are yours: may be asked faster than 0.5 s apart, may have private addresses",
    )
    parser.add_argument("--delay", type=float, metavar="SECONDS", help="gap between requests to one host (1)")
    parser.add_argument("--contact", metavar="URL|MAIL", help="who runs this crawl; part of the User-Agent")
    parser.add_argument("--again", action="store_true", help="visit once more what DIR has, with conditional requests")
    parser.add_argument("--config", metavar="FILE", help="a TOML file; see docs/configuration.md")
    _with_json(parser)


def _status(add: Declare) -> None:
    parser = _verb(add, "status", "Tell how a crawl stands. Works while it runs.", ["weft status crawl --json"])
    _with_dir(parser)
    _with_json(parser)


def _inspect(add: Declare) -> None:
    parser = _verb(
        add,
        "inspect",
        "Tell the whole story of a URL: found when and where, every attempt, what comes next and why.",
        ["weft inspect crawl https://example.org/page"],
    )
    _with_dir(parser)
    parser.add_argument("url", metavar="URL")
    _with_json(parser)


def _dead(add: Declare) -> None:
    parser = _verb(
        add,
        "dead",
        "List what was given up (dead URLs, parked hosts) and what is held; or give it another chance. Not while it "
        "crawls, but for list.",
        [
            "weft dead crawl",
            "weft dead crawl list --reason timeout",
            "weft dead crawl retry --host example.org",
            "weft dead crawl release 'example.org/p*'",
        ],
    )
    _with_dir(parser)
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "retry", "release"),
        default="list",
        metavar="list|retry|release",
        help="list: print them (the default). retry: what was given up goes back into its queue with all attempts "
        "before it, and what waits for another attempt need not wait. release: what the trap defence holds goes back "
        "into its queue and is never held again. The next `weft crawl --out DIR` asks for it",
    )
    parser.add_argument(
        "pattern",
        nargs="?",
        metavar="PATTERN",
        help="for release: a URL, HOST/p* (* stands for anything), a host, or a name that list shows",
    )
    parser.add_argument("--host", metavar="HOST", help="for list and retry: only this host, or hosts of this domain")
    parser.add_argument("--reason", metavar="WORD", help="for list and retry: only this reason")
    parser.add_argument(
        "--match", metavar="PATTERN", help="for list and retry: only URLs that match; * stands for anything"
    )
    _with_json(parser)


def _refine(add: Declare) -> None:
    parser = _verb(
        add,
        "refine",
        "Make the corpus anew from the archive, without fetching anything; or from WARC files of others. The old "
        "corpus stays until the new one is whole. Status 1 if something could not be read.",
        ["weft refine crawl", "weft refine corpus --from CC-MAIN-*.warc.gz"],
    )
    _with_dir(parser)
    parser.add_argument(
        "--from", dest="warcs", metavar="WARC", nargs="+", default=[], help="WARC files to read instead"
    )
    parser.add_argument(
        "--partial", action="store_true", help="take the new corpus even if the archive could not be read whole"
    )
    _with_json(parser)


def _check(add: Declare) -> None:
    parser = _verb(
        add,
        "check",
        "Prove that state, archive and corpus are whole, and name what is not. Reads everything, changes nothing; not "
        "while a crawl runs. Status 1 if there is a fault. What a kill may leave and does no harm (leftovers, counts "
        "that are off) is named and is no fault.",
        ["weft check crawl", "weft check crawl --json"],
    )
    _with_dir(parser)
    _with_json(parser)


def _extract(add: Declare) -> None:
    parser = _verb(
        add,
        "extract",
        "Print the main text of an HTML file.",
        ["weft extract page.html", "curl -s https://example.org | weft extract - --json"],
    )
    parser.add_argument("file", metavar="FILE", help="an HTML file; - for stdin")
    parser.add_argument("--url", metavar="URL", help="where the page came from, to resolve its links")
    parser.add_argument("--markdown", action="store_true", help="headings, lists, code and tables as Markdown")
    _with_json(parser)


def _robots(add: Declare) -> None:
    parser = _verb(
        add,
        "robots",
        "Tell what a robots.txt file says of URLs, and which rule decides.",
        ["weft robots robots.txt --agent weft https://example.org/a /b"],
    )
    parser.add_argument("file", metavar="FILE", help="a robots.txt file; - for stdin")
    parser.add_argument("--agent", metavar="TOKEN", default="weft", help="product token (weft)")
    parser.add_argument("urls", metavar="URL", nargs="+")
    _with_json(parser)


def _url(add: Declare) -> None:
    parser = _verb(
        add,
        "url",
        "Show URLs as Weft sees them: canonical form, host, registrable domain, partition.",
        ["weft url 'HTTP://Example.org:80/a/../b?utm_source=x#top'"],
    )
    parser.add_argument("urls", metavar="URL", nargs="+")
    parser.add_argument("--base", metavar="URL", help="resolve against this URL")
    _with_json(parser)


def _simweb(add: Declare) -> None:
    parser = _verb(
        add,
        "simweb",
        "Serve a miniature internet on loopback, to try crawlers on.",
        [
            "weft simweb --hosts 20 --pages 50 --port 8000",
            "weft simweb --hosts 20 --pages 50 --port 8000 --with all --truth",
            "weft simweb --port 8000 --scene articles:1000+calendar+facets --scene glossary:5000",
        ],
    )
    parser.add_argument("--hosts", type=int, default=20, metavar="N", help="number of sites (20)")
    parser.add_argument("--pages", type=int, default=25, metavar="M", help="pages per site (25)")
    parser.add_argument("--port", type=int, default=0, metavar="P", help="port of every site; 0 picks a free one")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the same seed, the same web (1)")
    parser.add_argument("--with", dest="features", metavar="NAME,…", help="misbehaviour; `--with help` lists it")
    parser.add_argument(
        "--scene",
        dest="scenes",
        metavar="PART+…",
        action="append",
        default=[],
        help="instead: a host of honest look-alikes and traps; one or more; `--scene help` lists them",
    )
    parser.add_argument("--truth", action="store_true", help="print what a perfect crawler finds, as JSON, and leave")
    parser.add_argument("--names", action="store_true", help="seeds and truth by host name instead of address")
    parser.add_argument("--log", metavar="FILE", help="write every request as a line of JSON")
    _with_json(parser)


def _demo(add: Declare) -> None:
    parser = _verb(add, "demo", "Crawl a small simulated web on this machine and show the corpus. Under a minute.")
    parser.add_argument("--out", metavar="DIR", default="demo-crawl", help="where the crawl goes (demo-crawl)")
    parser.add_argument("--hosts", type=int, default=12, metavar="N", help="sites (12)")
    parser.add_argument("--pages", type=int, default=20, metavar="M", help="pages per site (20)")
    _with_json(parser)
