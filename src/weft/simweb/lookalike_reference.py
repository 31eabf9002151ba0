"""Honest sites whose pages are short or much alike: API references, manuals, source listings, glossaries, laws."""

from collections.abc import Iterator

from .language import Writer
from .part import PER_LIST, Leaf, Part, items, pages_for, paragraphs, whole
from .prose import WORDS, number_of, slug, title_of
from .sheet import Link

PER_MODULE = 40
PER_CHAPTER = 12
PER_FOLDER = 15
PER_ACT = 60
VERBS = ("get", "set", "find", "open", "close", "merge", "count", "read", "write", "reset")
TYPES = ("int", "str", "bool", "list", "dict", "float", "None")


class Api(Part):
    """`size` functions of 10 to 40 words each: /api/ → /api/MODULE.html → /api/MODULE.FUNCTION.html."""

    def entries(self) -> list[Link]:
        return [Link("/api/", "API reference")]

    def honest(self) -> Iterator[str]:
        yield "/api/"
        yield from (f"/api/{WORDS[module]}.html" for module in range(pages_for(self.size, PER_MODULE)))
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        modules = pages_for(self.size, PER_MODULE)
        if target == "/api/":
            links = [Link(f"/api/{WORDS[module]}.html", WORDS[module]) for module in range(modules)]
            return Leaf("Modules", items(links))
        name = target.removeprefix("/api/").removesuffix(".html")
        if name in WORDS[:modules] and target == f"/api/{name}.html":
            first = WORDS.index(name) * PER_MODULE
            numbers = range(first, min(self.size, first + PER_MODULE))
            return Leaf(name, items([Link(self._path(number), self._name(number)) for number in numbers]))
        number = number_of(name.rpartition("_")[2])
        return self._function(number) if number is not None and self._is(number, target) else None

    def _is(self, number: int, target: str) -> bool:
        return number < self.size and self._path(number) == target

    def _name(self, number: int) -> str:
        return f"{VERBS[number % len(VERBS)]}_{slug(number)}"

    def _path(self, number: int) -> str:
        return f"/api/{WORDS[number // PER_MODULE]}.{self._name(number)}.html"

    def _function(self, number: int) -> Leaf:
        module, writer = WORDS[number // PER_MODULE], self.prose.writer("api", number)
        names = self.prose.words(writer.number(1, 3), "parameters", number)
        signature = f"{module}.{self._name(number)}({', '.join(names)}) -> {writer.pick(TYPES)}"
        about = [f"<dt>{name}</dt><dd>{writer.pick(TYPES)}</dd>" for name in names]
        body = f"<pre>{signature}</pre>\n{paragraphs(writer.sentence())}<dl>{''.join(about)}</dl>\n"
        return Leaf(self._name(number), body, (Link("/api/", "API"), Link(f"/api/{module}.html", module)))


class Manual(Part):
    """Numbered sections that link back, up and on: /manual/ → /manual/CHAPTER.html → /manual/CHAPTER.SECTION.html."""

    def entries(self) -> list[Link]:
        return [Link("/manual/", "Manual")]

    def honest(self) -> Iterator[str]:
        yield "/manual/"
        yield from (f"/manual/{chapter}.html" for chapter in range(1, pages_for(self.size, PER_CHAPTER) + 1))
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        chapters = pages_for(self.size, PER_CHAPTER)
        if target == "/manual/":
            links = [Link(f"/manual/{chapter}.html", f"Chapter {chapter}") for chapter in range(1, chapters + 1)]
            return Leaf("Manual", items(links))
        if not (target.startswith("/manual/") and target.endswith(".html")):
            return None
        first, dot, second = target[8:-5].partition(".")
        chapter, section = whole(first, 1, chapters), whole(second, 1, PER_CHAPTER)
        if not chapter or bool(dot) != bool(section):
            return None
        begin = (chapter - 1) * PER_CHAPTER
        if section:
            return self._section(begin + section - 1) if begin + section <= self.size else None
        numbers = range(begin, min(self.size, begin + PER_CHAPTER))
        return Leaf(f"Chapter {chapter}", items([self._link(number) for number in numbers]))

    def _path(self, number: int) -> str:
        return f"/manual/{number // PER_CHAPTER + 1}.{number % PER_CHAPTER + 1}.html"

    def _link(self, number: int) -> Link:
        path = self._path(number)
        return Link(path, f"{path[8:-5]} {self.prose.writer('section', number).title()}")

    def _section(self, number: int) -> Leaf:
        writer, chapter = self.prose.writer("manual", number), number // PER_CHAPTER + 1
        near = [self._link(other) for other in (number - 1, number + 1) if 0 <= other < self.size]
        body = paragraphs(writer.sentences(writer.number(2, 6))) + items(near)
        up = (Link("/manual/", "Manual"), Link(f"/manual/{chapter}.html", f"Chapter {chapter}"))
        return Leaf(self._link(number).text, body, up)


class Source(Part):
    """Source listings with numbered lines: /src/ → /src/FOLDER/ → /src/FOLDER/FILE.c.html."""

    def entries(self) -> list[Link]:
        return [Link("/src/", "Source code")]

    def honest(self) -> Iterator[str]:
        yield "/src/"
        yield from (f"/src/{WORDS[folder]}/" for folder in range(pages_for(self.size, PER_FOLDER)))
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        folders = WORDS[: pages_for(self.size, PER_FOLDER)]
        if target == "/src/":
            return Leaf("Files", items([Link(f"/src/{name}/", name) for name in folders]))
        folder, slash, file = target.removeprefix("/src/").partition("/")
        if not slash or folder not in folders or not target.startswith("/src/"):
            return None
        if not file:
            first = WORDS.index(folder) * PER_FOLDER
            numbers = range(first, min(self.size, first + PER_FOLDER))
            return Leaf(folder, items([Link(self._path(number), f"{slug(number)}.c") for number in numbers]))
        number = number_of(file.removesuffix(".c.html"))
        known = number is not None and number < self.size and self._path(number) == target
        return self._file(number) if known and number is not None else None

    def _path(self, number: int) -> str:
        return f"/src/{WORDS[number // PER_FOLDER]}/{slug(number)}.c.html"

    def _file(self, number: int) -> Leaf:
        writer, code = self.prose.writer("source", number), ["#include &lt;stdio.h&gt;", ""]
        for _ in range(writer.number(3, 9)):
            name, left, right = self.prose.words(3, "code", number, len(code))
            code += [f"int {name}_{left}(int {right})", "{", f"    int {left} = {right} * {writer.number(2, 99)};"]
            code += [
                f"    if ({left} &gt; {writer.number(2, 9)})",
                f"        return {name};",
                f"    return {left};",
                "}",
            ]
        listing = "\n".join([f'<a name="l{line}"></a>{line:5} {text}' for line, text in enumerate(code, 1)])
        folder = WORDS[number // PER_FOLDER]
        return Leaf(f"{slug(number)}.c", f"<pre>{listing}</pre>\n", (Link(f"/src/{folder}/", folder),))


class Glossary(Part):
    """`size` terms of one sentence each, from lists of a hundred."""

    def entries(self) -> list[Link]:
        return [Link("/glossary/", "Glossary")]

    def honest(self) -> Iterator[str]:
        yield "/glossary/"
        yield from (f"/glossary/part-{part}" for part in range(1, pages_for(self.size, 100) + 1))
        yield from (f"/glossary/{slug(number)}" for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        parts = pages_for(self.size, 100)
        if not target.startswith("/glossary/"):
            return None
        name = target[10:]
        if not name:
            return Leaf(
                "Glossary", items([Link(f"/glossary/part-{part}", f"Part {part}") for part in range(1, parts + 1)])
            )
        part = whole(name[5:], 1, parts) if name.startswith("part-") else None
        if part:
            numbers = range((part - 1) * 100, min(self.size, part * 100))
            links = [Link(f"/glossary/{slug(number)}", title_of(slug(number))) for number in numbers]
            return Leaf(f"Glossary, part {part}", items(links))
        number = number_of(name)
        if number is None or number >= self.size:
            return None
        text = self.prose.writer("glossary", number).sentence()
        return Leaf(
            title_of(name), paragraphs(f"<dfn>{title_of(name)}</dfn>: {text}"), (Link("/glossary/", "Glossary"),)
        )


class Releases(Part):
    """Release notes that mostly say the same: one to three lines of each are its own."""

    def entries(self) -> list[Link]:
        return [Link("/releases/", "Releases")]

    def honest(self) -> Iterator[str]:
        yield "/releases/"
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        if target == "/releases/":
            links = [Link(self._path(number), f"Version {self._path(number)[10:-5]}") for number in range(self.size)]
            return Leaf("All releases", items(links))
        numbers = target.removeprefix("/releases/").removesuffix(".html").split(".")
        if len(numbers) != 3 or not all(text.isdigit() and len(text) < 4 for text in numbers):
            return None
        number = int(numbers[0]) * 100 + int(numbers[1]) * 10 + int(numbers[2]) - 100
        return self._notes(number) if 0 <= number < self.size and self._path(number) == target else None

    def _path(self, number: int) -> str:
        return f"/releases/{number // 100 + 1}.{number // 10 % 10}.{number % 10}.html"

    def _notes(self, number: int) -> Leaf:
        version, writer = self._path(number)[10:-5], self.prose.writer("release", number)
        changes = "".join([f"<li>{writer.sentence()}</li>" for _ in range(writer.number(1, 3))])
        body = paragraphs(
            f"Version {version} is a maintenance release. We recommend that everyone who runs an earlier one upgrades.",
            "A dump and restore is not needed. Stop the server, replace the files and start it again.",
        )
        after = paragraphs("The files are signed with the same key as before. Checksums stand beside the downloads.")
        return Leaf(f"Version {version}", f"{body}<ul>{changes}</ul>\n{after}", (Link("/releases/", "Releases"),))


class Law(Part):
    """Legal paragraphs, numbered, a sentence or two each: /law/ACT/ → /law/ACT/NUMBER."""

    def entries(self) -> list[Link]:
        return [Link("/law/", "Acts")]

    def honest(self) -> Iterator[str]:
        acts = pages_for(self.size, PER_ACT)
        yield "/law/"
        yield from (f"/law/{WORDS[act]}/" for act in range(acts))
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        acts = WORDS[: pages_for(self.size, PER_ACT)]
        if target == "/law/":
            return Leaf("Acts", items([Link(f"/law/{act}/", f"{act.capitalize()} Act") for act in acts]))
        act, slash, rest = target.removeprefix("/law/").partition("/")
        if not slash or act not in acts or not target.startswith("/law/"):
            return None
        first = WORDS.index(act) * PER_ACT
        count = min(self.size - first, PER_ACT)
        if not rest:
            links = [Link(self._path(first + place), f"§ {place + 1}") for place in range(count)]
            return Leaf(f"{act.capitalize()} Act", items(links))
        place = whole(rest, 1, count)
        return self._paragraph(first + place - 1, act) if place else None

    def _path(self, number: int) -> str:
        return f"/law/{WORDS[number // PER_ACT]}/{number % PER_ACT + 1}"

    def _paragraph(self, number: int, act: str) -> Leaf:
        writer: Writer = self.prose.writer("law", number)
        clauses = [f"({clause}) {writer.sentence()}" for clause in range(1, writer.number(1, 3) + 1)]
        up = (Link("/law/", "Acts"), Link(f"/law/{act}/", f"{act.capitalize()} Act"))
        return Leaf(f"§ {number % PER_ACT + 1}", paragraphs(*clauses), up)


class Index(Part):
    """One page with `size` links, each to a short page that is linked only from there."""

    def entries(self) -> list[Link]:
        return [Link("/index-of-everything.html", "Index")]

    def honest(self) -> Iterator[str]:
        yield "/index-of-everything.html"
        yield from (f"/entry/{number}" for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        if target == "/index-of-everything.html":
            return Leaf("Index", items([Link(f"/entry/{number}", f"Entry {number}") for number in range(self.size)]))
        number = whole(target[7:], 0, self.size - 1) if target.startswith("/entry/") else None
        if number is None:
            return None
        return Leaf(f"Entry {number}", paragraphs(self.prose.writer("entry", number).sentences(2 + number % 3)))


class Anchors(Part):
    """One page with `size` links to places inside `size` / 100 pages, as the index of a printed book."""

    def entries(self) -> list[Link]:
        return [Link("/genindex.html", "General index")]

    def honest(self) -> Iterator[str]:
        yield "/genindex.html"
        yield from (f"/topic/{slug(number)}.html" for number in range(pages_for(self.size, 100)))

    def leaf(self, target: str) -> Leaf | None:
        if target == "/genindex.html":
            links = [self._link(number) for number in range(self.size)]
            return Leaf("General index", items(links))
        number = number_of(target.removeprefix("/topic/").removesuffix(".html"))
        if number is None or number >= pages_for(self.size, 100) or target != f"/topic/{slug(number)}.html":
            return None
        writer = self.prose.writer("topic", number)
        parts = [f'<span id="term-{place}"></span>{writer.sentence()}' for place in range(PER_LIST)]
        return Leaf(title_of(slug(number)), paragraphs(*parts))

    def _link(self, number: int) -> Link:
        return Link(f"/topic/{slug(number // 100)}.html#term-{number % 100}", f"{slug(number % 9_000)}")
