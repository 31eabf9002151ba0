"""`python -m bench`, `make bench`: the short form of every benchmark, one after another.

Each is a program of its own, so that none disturbs the memory and caches of the next; `python -m bench.NAME` runs one
alone, and its docstring says how to run its long form.
"""

import subprocess
import sys
from pathlib import Path

PAGES = Path(__file__).parent.parent.parent / "shared" / "data" / "extraction-dev.parquet"
PROGRAMS: tuple[tuple[str, ...], ...] = (
    ("crawl",),
    ("waiting",),
    ("frontier",),
    ("fetch",),
    ("robots",),
    ("parse",),
    ("archive",),
    ("engines",),
    ("simweb",),
    ("sites",),
)


def main() -> int:
    programs = [*PROGRAMS, *([("text", str(PAGES), "--sample", "200")] if PAGES.exists() else [])]
    failed = []
    for name, *arguments in programs:
        print(f"\n== bench.{name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}", *arguments], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
