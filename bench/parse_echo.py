"""A parser process that answers at once, with a page of usual size: what is left is the cost of the wire."""

from weft.config import Config
from weft.parse.wire import ParseJob
from weft.parse.worker import Read, main
from weft.records import Link, Page

SOURCE = "https://www.site.example/section/page.html"
TEXT = "Some words of main text. " * 200


def echo(config: Config) -> Read:
    del config
    return answer


def answer(job: ParseJob) -> Page:
    links = tuple(
        Link(f"{SOURCE}?number={number}", 3, source=job.url, inside=2, key=number.to_bytes(18)) for number in range(142)
    )
    return Page(job.id, job.url, text=TEXT + job.id, links=links, links_seen=len(links))


if __name__ == "__main__":
    main(echo)
