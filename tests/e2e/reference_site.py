"""A site in the style of an API reference, made on the spot: path → HTML. Every page is honest, most say little.

/                                   home: packages, manual, index of names
/genindex.html                      every package, class, member and listing, by the alphabet
/api/PACKAGE/index.html             classes
/api/PACKAGE/CLASS.html             members; previous and next class
/api/PACKAGE/CLASS/MEMBER.html      10 to 40 words; previous and next member
/source/PACKAGE/CLASS.html          a listing with line numbers
/manual/index.html, …/CHAPTER.html, …/CHAPTER.SECTION.html     numbered; previous and next; in no index
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

PACKAGES, CLASSES, MEMBERS = 20, 10, 10
CHAPTERS, SECTIONS = 22, 25
_TEXT = """
buffer channel context cursor element entry event filter frame handle index item key layout lock node option parser path
pool queue range reader record region scope signal slot source stream table token
|
add append bind clear close copy create delete find flush get insert is join list load mark merge move open peek poll
put read remove replace reset resize resolve seek select set skip sort write
|
the a of this in to for if not or as when with by from whose first last given current empty new
"""
_NOUNS, _VERBS, _REST = (words.split() for words in _TEXT.split("|"))
_WORDS = [*_NOUNS, *_VERBS, *_REST, *_REST]
_NAVIGATION = [("/", "Home"), ("/genindex.html", "Index"), ("/manual/index.html", "Manual")]


def prose(chance: Random, words: int) -> str:
    """A sentence that means nothing."""
    return " ".join(chance.choice(_WORDS) for _ in range(words)).capitalize() + "."


def page(title: str, body: str, links: Iterable[tuple[str, str]]) -> bytes:
    items = "".join(f'<li><a href="{path}">{text}</a></li>\n' for path, text in links)
    head = f"<!DOCTYPE html><html><head><title>{title}</title></head>"
    return f"{head}<body><main><h1>{title}</h1>\n{body}\n<ul>{items}</ul></main></body></html>".encode()


def numbered_site(pages: int, words: int) -> dict[str, bytes]:
    """A home page and numbered pages of different text."""
    chance = Random(pages)
    home = [("/", "Home")]
    site = {f"/page/{n}": page(f"Page {n}", f"<p>{prose(chance, words)}</p>", home) for n in range(1, pages + 1)}
    return {"/": page("Home", "<p>All pages.</p>", [(path, path) for path in site]), **site}


def reference_site() -> dict[str, bytes]:
    site = dict([*_interface(Random(1)), *_manual(Random(2))])
    names = sorted((path.rpartition("/")[2], path) for path in site if path.startswith(("/api/", "/source/")))
    site["/genindex.html"] = _framed("Index", "<p>All names.</p>", [(path, name) for name, path in names])
    packages = [(path, name) for name, path in names if name == "index.html"]
    site["/"] = _framed("Reference", "<p>Packages.</p>", packages)
    return site


def _framed(title: str, body: str, links: Iterable[tuple[str, str]]) -> bytes:
    """With the bar that all pages have."""
    return page(title, body, [*_NAVIGATION, *links])


def _interface(chance: Random) -> Iterator[tuple[str, bytes]]:
    """Packages, classes, members and listings."""
    for number in range(PACKAGES):
        package = f"{_NOUNS[number]}s"
        classes = [f"{noun.title()}{_NOUNS[number].title()}" for noun in chance.sample(_NOUNS, CLASSES)]
        links = [(f"/api/{package}/{name}.html", name) for name in classes]
        yield f"/api/{package}/index.html", _framed(f"Package {package}", f"<p>{prose(chance, 20)}</p>", links)
        for name, around in zip(classes, _around(links), strict=True):
            yield from _class(chance, package, name, around)


def _class(chance: Random, package: str, name: str, around: Sequence[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    """A class, its members and its source."""
    members = ["toString", *chance.sample([f"{verb}{noun.title()}" for verb in _VERBS for noun in _NOUNS], MEMBERS - 1)]
    links = [(f"/api/{package}/{name}/{member}.html", member) for member in members]
    source = (f"/source/{package}/{name}.html", "Source")
    yield f"/api/{package}/{name}.html", _framed(f"Class {name}", "<p>Members.</p>", [*links, source, *around])
    for (path, member), beside in zip(links, _around(links), strict=True):
        says = "Overrides toString of Object." if member == "toString" else prose(chance, chance.randint(4, 34))
        text = f"<pre>{member}()</pre><p>Member of {package}.{name}. {says}</p>"
        yield path, _framed(f"{name}.{member}", text, beside)
    lines = [f"{n:4}  {chance.choice(_VERBS)}({chance.choice(_NOUNS)});" for n in range(1, chance.randint(12, 60))]
    listing = "\n".join([f"   0  class {name}", *lines])
    yield source[0], _framed(f"{name}.src", f"<pre>{listing}</pre>", [])


def _manual(chance: Random) -> Iterator[tuple[str, bytes]]:
    """Numbered chapters of numbered sections, some of one sentence."""
    chapters = [(f"/manual/{number}.html", f"Chapter {number}") for number in range(1, CHAPTERS + 1)]
    yield "/manual/index.html", _framed("Manual", "<p>Contents.</p>", chapters)
    for number, (path, title) in enumerate(chapters, 1):
        sections = [(f"/manual/{number}.{n}.html", f"Section {number}.{n}") for n in range(1, SECTIONS + 1)]
        yield path, _framed(title, f"<p>{prose(chance, 30)}</p>", sections)
        for (place, name), beside in zip(sections, _around(sections), strict=True):
            yield place, _framed(name, f"<p>{prose(chance, chance.choice([8, 15, 40, 120]))}</p>", beside)


def _around(links: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Previous and next of each."""
    for at in range(len(links)):
        before = [(links[at - 1][0], "Previous")] if at else []
        yield before + [(path, "Next") for path, _ in links[at + 1 : at + 2]]
