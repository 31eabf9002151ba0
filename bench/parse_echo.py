"""A parser process that answers at once, with a page of usual size: what is left is the cost of the wire."""

from weft.config import Config
from weft.parse.wire import ParseJob
from weft.parse.worker import Read, main
from weft.records import Link, Page

SOURCE = "https://www.site.example/section/page.html"
LINKS = tuple(Link(f"{SOURCE}?number={number}", 3, source=SOURCE, inside=2, key=b"k" * 18) for number in range(142))
ANSWER = Page("<urn:uuid:0>", SOURCE, text="Some words of main text. " * 200, links=LINKS, links_seen=len(LINKS))


def echo(config: Config) -> Read:
    del config
    return answer


def answer(job: ParseJob) -> Page:
    del job
    return ANSWER


if __name__ == "__main__":
    main(echo)
