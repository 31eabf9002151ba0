"""Honest sites of lists with pages: a shop, a forum, a gallery of photographs with captions."""

from collections.abc import Iterator

from .language import Writer
from .part import PER_LIST, Leaf, Part, items, padded, page_of, paged, pager, pages_for, paragraphs, whole
from .prose import WORDS, number_of, slug, title_of
from .sheet import Link

SHELVES = WORDS[20:26]
BOARDS = WORDS[40:44]
PER_ALBUM = 40


class Products(Part):
    """`size` products in six categories: /shop/CATEGORY?page=N → /shop/CATEGORY/SLUG."""

    def entries(self) -> list[Link]:
        return [Link(f"/shop/{name}", name.capitalize()) for name in SHELVES]

    def honest(self) -> Iterator[str]:
        for shelf, name in enumerate(SHELVES):
            yield from (paged(f"/shop/{name}", page) for page in range(1, self._lists(shelf) + 1))
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?")
        parts = path[1:].split("/")
        if parts[0] != "shop" or len(parts) not in (2, 3) or parts[1] not in SHELVES:
            return None
        if len(parts) == 2:
            return self._list(SHELVES.index(parts[1]), query)
        number = number_of(parts[2])
        known = number is not None and number < self.size and self._path(number) == target
        return self._product(number) if known and number is not None else None

    def _lists(self, shelf: int) -> int:
        return pages_for(len(range(shelf, self.size, len(SHELVES))))

    def _path(self, number: int) -> str:
        return f"/shop/{SHELVES[number % len(SHELVES)]}/{slug(number)}"

    def _list(self, shelf: int, query: str) -> Leaf | None:
        page = page_of(query, self._lists(shelf))
        if page is None:
            return None
        numbers = range(shelf, self.size, len(SHELVES))[(page - 1) * PER_LIST : page * PER_LIST]
        links = [Link(self._path(number), title_of(slug(number))) for number in numbers]
        return Leaf(
            SHELVES[shelf].capitalize(), items(links) + pager(f"/shop/{SHELVES[shelf]}", page, self._lists(shelf))
        )

    def _product(self, number: int) -> Leaf:
        writer, shelf = self.prose.writer("product", number), SHELVES[number % len(SHELVES)]
        facts = [("Weight", f"{writer.number(1, 90)} kg"), ("Width", f"{writer.number(10, 200)} cm")]
        table = "".join([f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in facts])
        price = f"Price: € {writer.number(3, 400)}.{writer.number(0, 99):02}. Delivered within three days."
        also = [number + step for step in (6, 12, 18) if number + step < self.size]
        body = paragraphs(price, writer.sentences(2)) + f"<table>{table}</table>\n"
        body += items([Link(self._path(other), title_of(slug(other))) for other in also])
        return Leaf(title_of(slug(number)), body, (Link(f"/shop/{shelf}", shelf.capitalize()),))


class Forum(Part):
    """`size` threads of one to four pages on four boards: /forum/BOARD?page=N → /forum/BOARD/NUMBER?page=K."""

    def entries(self) -> list[Link]:
        return [Link(f"/forum/{name}", name.capitalize()) for name in BOARDS]

    def honest(self) -> Iterator[str]:
        for board, name in enumerate(BOARDS):
            yield from (paged(f"/forum/{name}", page) for page in range(1, self._lists(board) + 1))
        for number in range(self.size):
            yield from (paged(self._path(number), page) for page in range(1, self._pages(number) + 1))

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?")
        parts = path[1:].split("/")
        if parts[0] != "forum" or len(parts) not in (2, 3) or parts[1] not in BOARDS:
            return None
        if len(parts) == 2:
            return self._list(BOARDS.index(parts[1]), query)
        number = whole(parts[2], 0, self.size - 1)
        if number is None or self._path(number) != path:
            return None
        page = page_of(query, self._pages(number))
        return self._thread(number, page) if page else None

    def _lists(self, board: int) -> int:
        return pages_for(len(range(board, self.size, len(BOARDS))))

    def _pages(self, number: int) -> int:
        return 1 + self.prose.dice("thread", number) % 8 // 2

    def _path(self, number: int) -> str:
        return f"/forum/{BOARDS[number % len(BOARDS)]}/{number}"

    def _list(self, board: int, query: str) -> Leaf | None:
        page = page_of(query, self._lists(board))
        if page is None:
            return None
        numbers = range(board, self.size, len(BOARDS))[(page - 1) * PER_LIST : page * PER_LIST]
        links = [Link(self._path(number), self.prose.writer("subject", number).title()) for number in numbers]
        return Leaf(
            BOARDS[board].capitalize(), items(links) + pager(f"/forum/{BOARDS[board]}", page, self._lists(board))
        )

    def _thread(self, number: int, page: int) -> Leaf:
        writer, board = self.prose.writer("posts", number, page), BOARDS[number % len(BOARDS)]
        posts = [_post(writer) for _ in range(writer.number(2, 6))]
        body = "".join(posts) + pager(self._path(number), page, self._pages(number))
        return Leaf(self.prose.writer("subject", number).title(), body, (Link(f"/forum/{board}", board.capitalize()),))


def _post(writer: Writer) -> str:
    user = f"<b>{writer.name()}</b> <small>{writer.number(1, 28)} May, {writer.number(10, 23)}:15</small>"
    return f'<div class="post">{user}<p>{writer.sentences(writer.number(1, 3))}</p></div>\n'


class Gallery(Part):
    """`size` photographs in albums of forty, each page one sentence: /photos/ALBUM/ → /photos/ALBUM/0017."""

    def entries(self) -> list[Link]:
        return [Link("/photos/", "Photographs")]

    def honest(self) -> Iterator[str]:
        yield "/photos/"
        yield from (f"/photos/{WORDS[album]}/" for album in range(pages_for(self.size, PER_ALBUM)))
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        albums = WORDS[: pages_for(self.size, PER_ALBUM)]
        if target == "/photos/":
            return Leaf("Photographs", items([Link(f"/photos/{album}/", album.capitalize()) for album in albums]))
        album, slash, rest = target.removeprefix("/photos/").partition("/")
        if not slash or album not in albums or not target.startswith("/photos/"):
            return None
        first = WORDS.index(album) * PER_ALBUM
        count = min(self.size - first, PER_ALBUM)
        if not rest:
            links = [Link(self._path(first + place), f"Photograph {place + 1}") for place in range(count)]
            return Leaf(f"Album {album}", items(links))
        place = padded(rest, 4, count)
        return self._photo(first + place - 1, album, count) if place else None

    def _path(self, number: int) -> str:
        return f"/photos/{WORDS[number // PER_ALBUM]}/{number % PER_ALBUM + 1:04}"

    def _photo(self, number: int, album: str, count: int) -> Leaf:
        place, caption = number % PER_ALBUM, self.prose.writer("caption", number).sentence()
        near = [
            Link(self._path(number + step), text)
            for step, text in ((-1, "Back"), (1, "Next"))
            if 0 <= place + step < count
        ]
        image = (
            f'<figure><img src="/static/photo-{number % 12}.png" alt=""><figcaption>{caption}</figcaption></figure>\n'
        )
        return Leaf(f"Photograph {place + 1} of {count}", image + items(near), (Link(f"/photos/{album}/", album),))
