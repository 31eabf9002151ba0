"""The words of `weft check`: what may be wrong with what is stored, what that means, and what to do about it.

Each stage's `checking` proves its own invariants and says what it finds as remarks; `check` gathers them.
"""

from collections import Counter
from enum import Enum
from typing import NamedTuple, TypeAlias

Checked: TypeAlias = Counter[str]
"""How many rows, records and files were looked at, by what they are."""


class Sort(Enum):
    """How bad it is."""

    FAULT = "fault"  # a promise is broken
    LEFTOVER = "leftover"  # a crash may leave it, and it does no harm
    DRIFT = "drift"  # a count that a crash may leave off, and that decides nothing


_REFINE = "`weft refine DIR` makes the corpus anew from the archive"
_START = "the next `weft crawl --out DIR` deals with it"


class Word(Enum):
    """One thing that may be found: a word for programs, its sort, what it means, what to do ("" if nothing helps)."""

    URL_LOST = "url-lost", Sort.FAULT, "its row names a place where it does not lie: nobody will ask for it"
    URL_MISPLACED = "url-misplaced", Sort.FAULT, "its row lies under the key of another URL"
    ROW_GARBLED = "row-garbled", Sort.FAULT, "the row cannot be read"
    HOST_MISSING = "host-missing", Sort.FAULT, "its host has no row: the crawl cannot start or never asks for it"
    UNKNOWN_URL = "unknown-url", Sort.FAULT, "the page is in the corpus, and the frontier has lost its URL or host"
    UNREACHABLE = "unreachable", Sort.FAULT, "it lies before the place from which its host's rows are read"
    HELD_LOW = "held-low", Sort.FAULT, "more is held than is counted: the last of it will not be tried"
    NOT_ARCHIVED = "not-archived", Sort.FAULT, "it is settled as stored, and the archive's index has no answer of it"
    DAMAGED = "damaged", Sort.FAULT, "records cannot be read"
    DIGEST_WRONG = "digest-wrong", Sort.FAULT, "the record is not what was written"
    INCOMPLETE = "incomplete", Sort.FAULT, "the answer has no metadata record"
    NOT_INDEXED = "not-indexed", Sort.FAULT, "the capture is not in the index: `weft inspect` does not find it"
    NOT_THERE = "not-there", Sort.FAULT, "the index names a record that is not there"
    WARC_MISSING = "warc-missing", Sort.FAULT, "the index names a file that is not there"
    ANNOUNCED_NOWHERE = "announced-nowhere", Sort.FAULT, "it is announced, and not in the archive"
    SEGMENT_MISSING = "segment-missing", Sort.FAULT, "the registered file is not there", _REFINE
    UNREADABLE = "unreadable", Sort.FAULT, "the file is no Parquet that can be read", _REFINE
    ROWS_WRONG = "rows-wrong", Sort.FAULT, "it has not as many rows as are registered", _REFINE
    ROW_TWICE = "row-twice", Sort.FAULT, "the row is in the corpus more than once", _REFINE
    TEXT_TWICE = "text-twice", Sort.FAULT, "two documents have the same text", _REFINE
    CAPTURE_MISSING = "capture-missing", Sort.FAULT, "the archive does not have the capture that the row was made of"
    NO_FINGERPRINT = "no-fingerprint", Sort.FAULT, "if its page comes again it will be a second row", _REFINE
    SPARE_ROW = "spare-row", Sort.LEFTOVER, "the URL's own row names another place; the URL may be asked twice"
    TORN_TAIL = "torn-tail", Sort.LEFTOVER, "the end of an open file is torn", _START
    INDEX_OWED = "index-owed", Sort.LEFTOVER, "a capture behind the checkpoint is not in the index yet", _START
    UNREGISTERED = "unregistered", Sort.LEFTOVER, "the file does not count", _START
    UNFINISHED = "unfinished", Sort.LEFTOVER, "the making of a shard was cut short", _START
    COUNT_OFF = "count-off", Sort.DRIFT, "the count is not what is stored; a kill may leave it off, nothing rests on it"
    TOTAL_OFF = "total-off", Sort.DRIFT, "the report's total is not what is stored; a kill may leave it off"

    sort: Sort
    meaning: str
    remedy: str

    def __new__(cls, word: str, sort: Sort, meaning: str, remedy: str = "") -> "Word":
        member = object.__new__(cls)
        member._value_ = word
        member.sort = sort
        member.meaning = meaning
        member.remedy = remedy
        return member


class Remark(NamedTuple):
    """Something found."""

    word: Word
    what: str  # a URL, host, record or row
    where: str  # in which row or file, and what is wrong there
