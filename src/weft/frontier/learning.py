"""Findings of refining: kept beside the URL. Called by `Frontier.learn`."""

from collections.abc import Sequence

import msgspec

from weft.ports import Put
from weft.records import Finding
from weft.urls.host import url_key

from . import keys
from .rows import Learned, decode_learned, encode
from .state import State


class Learning:
    def __init__(self, state: State) -> None:
        self._state = state

    async def learn(self, findings: Sequence[Finding]) -> None:
        """A row of its own per URL, so that it does not matter whether its lease is settled yet."""
        partitions = self._state.config.storage.partitions
        places = [keys.finding_row(url_key(one.url, partitions)) for one in findings]
        known = await self._state.table.get(places)
        rows = {
            place: encode(_learned(finding, before))
            for place, finding, before in zip(places, findings, known, strict=True)
        }
        fresh = [Put(place, rows[place]) for place, before in zip(places, known, strict=True) if rows[place] != before]
        if fresh:
            await self._state.table.write(fresh)


def _learned(finding: Finding, before: bytes | None) -> Learned:
    learned = Learned(
        url=finding.url,
        fetched=finding.fetched,
        body_digest=finding.body_digest,
        text_digest=finding.text_digest,
        simhash=finding.simhash,
        title=finding.title,
        language=finding.language,
        words=finding.words,
        removal=finding.removal.value if finding.removal else "",
        refusal=finding.refusal.value if finding.refusal else "",
        needs_rendering=finding.needs_rendering,
        links_left_out=finding.links_left_out,
    )
    if before is None:
        return learned
    judged = decode_learned(before)  # its verdict was given when its links came in
    return msgspec.structs.replace(
        learned, trail=judged.trail, verdict=judged.verdict, evidence=judged.evidence, view=judged.view
    )
