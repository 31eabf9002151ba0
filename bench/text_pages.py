"""Development pages for training and validation: features, labels and groups, computed once."""

import zlib
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import tldextract

from bench.text import Page, load
from bench.text_labels import labels
from weft.parse.features import Features, features
from weft.parse.reading import read
from weft.parse.walk import Walk

_CHINESE = 0.3  # share of Han characters in a Chinese text


class Lesson(msgspec.Struct):
    """A page to learn from, or to be examined on."""

    page: Page
    domain: str
    chinese: bool
    walk: Walk
    features: Features
    labels: npt.NDArray[np.float32]
    words: npt.NDArray[np.float32]  # as the score counts them

    def fold(self, folds: int) -> int:
        """Pages of a domain fall into the same fold."""
        return zlib.crc32(self.domain.encode()) % folds


def lessons(path: Path) -> list[Lesson]:
    """Every page that has a reference text and blocks."""
    domains = tldextract.TLDExtract(suffix_list_urls=())
    out = []
    for page in load(path):
        walk = read(page.html).walk
        if not walk.texts:
            continue
        found, words = labels(walk.texts, page.text)
        han = sum("\u4e00" <= character <= "\u9fff" for character in page.text)
        out.append(
            Lesson(
                page,
                domains(page.url).top_domain_under_public_suffix or page.url or page.id,
                han > _CHINESE * len(page.text),
                walk,
                features(walk, page.url or None),
                found,
                words,
            )
        )
    return out
