"""Messages hold what was announced, within the queue's limit."""

import pytest

from weft.archive.announce import PER_MESSAGE, pack, unpack
from weft.errors import Corrupt
from weft.ports import MAX_MESSAGE
from weft.records import Announcement, Position


def announcement(number: int, length: int = 40) -> Announcement:
    return Announcement(f"<{number}>", f"https://a.example/{'x' * length}", Position("raw/a", number, 9), 1.5, 200)


@pytest.mark.parametrize(("count", "length"), [(0, 0), (1, 5), (PER_MESSAGE * 3 + 1, 40), (200, 2000), (3, 60_000)])
def test_everything_comes_back_in_order(count: int, length: int) -> None:
    sent = [announcement(number, length) for number in range(count)]
    messages = pack(sent)
    assert [one for message in messages for one in unpack(message)] == sent
    assert all(len(message) <= MAX_MESSAGE for message in messages)
    assert all(len(unpack(message)) <= PER_MESSAGE for message in messages)


@pytest.mark.parametrize("message", [b"", b"\xc1", b"\x93\x01\x02\x03", b"text"])
def test_a_strange_message_is_an_error_of_the_engine(message: bytes) -> None:
    with pytest.raises(Corrupt):
        unpack(message)
