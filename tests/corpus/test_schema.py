"""The first segment of a crawl must not make everything wait."""

import subprocess
import sys

WATCHED = """
import sys
from weft.corpus import schema

schema.warm_up()
before = set(sys.modules)
schema.encode([{"text": "words", "language_score": 0.5}], schema.DOCUMENTS)
schema.encode([{"text": "words", "filter_reason": "duplicate"}], schema.REMOVED)
print(sorted(set(sys.modules) - before))
"""


def test_nothing_is_left_to_load_for_the_first_segment() -> None:
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
