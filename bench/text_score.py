"""Word F1 of an extracted text against the reference text of a page."""

import re
from collections import Counter

import msgspec

# Each CJK ideograph and kana is a word of its own; everything else is split at non-word characters.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)


class Score(msgspec.Struct, frozen=True):
    """Precision, recall and F1 of one page."""

    precision: float
    recall: float
    f1: float


def words(text: str) -> list[str]:
    """The words of a text as the score counts them."""
    return _WORD.findall(text.lower())


def score(found: str, reference: str) -> Score:
    """Compare two texts as multisets of words."""
    found_words, reference_words = words(found), words(reference)
    if not found_words or not reference_words:
        return Score(0.0, 0.0, 0.0)
    shared = sum((Counter(found_words) & Counter(reference_words)).values())
    precision, recall = shared / len(found_words), shared / len(reference_words)
    return Score(precision, recall, 2 * precision * recall / (precision + recall) if shared else 0.0)
