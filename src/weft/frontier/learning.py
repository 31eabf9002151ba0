"""Findings of refining: kept beside the URL, and told to the traps. Called by `Frontier.learn`."""

from collections.abc import Sequence

from weft.ports import Put
from weft.records import Finding
from weft.urls.host import url_key

from . import keys
from .rows import Learned, encode
from .state import State
from .trapping import Trapping


class Learning:
    def __init__(self, state: State, trapping: Trapping) -> None:
        self._state = state
        self._trapping = trapping

    async def learn(self, findings: Sequence[Finding]) -> None:
        """A row of its own per URL, so that it does not matter whether its lease is settled yet."""
        partitions = self._state.config.storage.partitions
        rows = [(keys.finding_row(url_key(one.url, partitions)), encode(_learned(one))) for one in findings]
        known = await self._state.table.get([key for key, _ in rows])
        fresh = [index for index, (_, value) in enumerate(rows) if value != known[index]]
        if fresh:
            await self._trapping.judge([(findings[index].url, findings[index]) for index in fresh])
            await self._state.table.write([Put(*rows[index]) for index in fresh])


def _learned(finding: Finding) -> Learned:
    return Learned(
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
