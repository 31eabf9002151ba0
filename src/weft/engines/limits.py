"""The ports' limits on keys, messages and names, checked alike by every engine."""

import re
from collections.abc import Iterable
from typing import Final

from weft.errors import EngineError, TooLarge
from weft.ports import MAX_MESSAGE

MAX_KEY_PART: Final = 1024

_BLOB_NAME: Final = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*", re.ASCII)


def check_key(group: bytes, item: bytes) -> None:
    if len(group) > MAX_KEY_PART or len(item) > MAX_KEY_PART:
        raise TooLarge(f"a key of {len(group)} + {len(item)} bytes; at most {MAX_KEY_PART} each")


def check_messages(bodies: Iterable[bytes]) -> None:
    for body in bodies:
        if len(body) > MAX_MESSAGE:
            raise TooLarge(f"a message of {len(body)} bytes; at most {MAX_MESSAGE}")


def is_blob_name(name: str) -> bool:
    return _BLOB_NAME.fullmatch(name) is not None and not {".", ".."} & set(name.split("/"))


def check_blob_name(name: str) -> None:
    if not is_blob_name(name):
        raise EngineError(f"not a name for a blob: {name!r}")
