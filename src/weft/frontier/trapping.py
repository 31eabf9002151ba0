"""The trap defence at work: judges pages by their evidence, holds URLs and tries them.

Pages come in by `Frontier.add_pages`, before their links; each leaves an `Origin` for them. Leasing asks whether a URL
whose turn has come must wait, and for what is to be tried. The rules are in `traps`, what is remembered in `evidence`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import xxhash

from weft.ports import Put
from weft.records import Kind, Link, Page, Via
from weft.urls.host import host_key, host_of, origin_of, url_key

from . import keys, traps
from .awaited import Awaited
from .evidence import Shown, Site
from .holds import Group, Held, Holds, family_group, group_of
from .host import Host
from .rows import IS_SETTLED, Learned, Pending, decode_learned, decode_settled, encode
from .sites import Sites
from .state import State
from .trail import ROOT, Trail, branch_from, branch_of, trail_of
from .traps import Verdict

_TRUSTED: Final = (Via.MANUAL, Via.SITEMAP, Via.FEED)
_FAMILY: Final = b"*"
"""The pattern of a family: its new hosts."""


class Origin(NamedTuple):
    """What a page is for the URLs that it links to, or redirects to."""

    url: str
    root: str  # how URLs of its origin begin
    host: str
    trail: Trail
    pattern: str
    dry: int  # of what it links to
    lent: int  # likewise
    trial: bytes = b""  # of a redirect: what its target is a trial of as well
    passes_on: bool = False  # a redirect: its target is come by as it was itself

    @classmethod
    def of(cls, url: str, trail: Trail, verdict: Verdict) -> "Origin":
        dry, lent = traps.dry_behind(trail, verdict), traps.lent_behind(trail, verdict)
        return cls(url, f"{origin_of(url)}/", host_of(url), trail, traps.pattern_of(url), dry, lent)

    @classmethod
    def redirecting(cls, url: str, trail: Trail, trial: bytes) -> "Origin":
        return cls(url, f"{origin_of(url)}/", host_of(url), trail, "", trail.dry, trail.lent, trial, passes_on=True)


class Judged(NamedTuple):
    """A page on its way to a verdict."""

    page: Page
    key: bytes
    trail: Trail
    trial: bytes
    view: str
    known: Learned | None


class Trapping:
    def __init__(self, state: State, holds: Holds) -> None:
        self._state = state
        self._holds = holds
        config = state.config
        self._sites = Sites(state.table, state.time, config.frontier.evidence_bytes)
        self._partitions = config.storage.partitions
        self.awaited = Awaited(state.time)

    async def judge(self, pages: Sequence[Page]) -> dict[str, Origin]:
        """Verdicts, durable on return; the same page again keeps its own. By URL."""
        for page in pages:
            self.arrived(url_key(page.url, self._partitions))
        judged = await self._looked_up(
            [page for page in pages if page.evidence is not None or page.refusal is not None]
        )
        hosts = await self._state.hosts.load(list({one.key[: keys.HOST_KEY] for one in judged}))
        families = await self._families(judged, hosts)
        affected = [*hosts.values(), *families.values()]
        had_work = {host.key: host.has_work for host in affected}
        sites = await self._sites.load(affected)
        await self._holds.load(affected)
        rows, origins = [], {}
        for one in judged:
            host = hosts.get(one.key[: keys.HOST_KEY])
            if host is None:
                continue
            verdict = self._verdict(one, sites, hosts | families)
            if one.page.evidence is not None:
                rows.append(Put(keys.finding_row(one.key), encode(_with_verdict(one, verdict))))
            origins[one.page.url] = Origin.of(one.page.url, one.trail, verdict)
        if rows:
            idle = [host for host in affected if not had_work[host.key]]
            first = [self._state.hosts.saved(host) for host in affected if host.dirty]
            await self._state.table.write(first + self._holds.changes(affected), rows)
            await self._sites.keep(affected)
            for host in idle:
                self._state.enlist(host)
        return origins

    async def _looked_up(self, pages: Sequence[Page]) -> list[Judged]:
        """With what the rows of their URLs say of how they were come by."""
        places = [url_key(page.url, self._partitions) for page in pages]
        rows = await self._state.table.get([keys.url_row(key) for key in places])
        findings = await self._state.table.get([keys.finding_row(key) for key in places])
        found = {}
        for page, key, row, finding in zip(pages, places, rows, findings, strict=True):
            entry = self._state.leases.get(key)
            if entry is not None:
                trail, trial, source = entry.pending.trail, entry.pending.trial, entry.pending.source
            elif row is not None and row[:1] == IS_SETTLED:
                settled = decode_settled(row[1:])
                trail, trial, source = settled.trail, settled.trial, settled.source
            else:
                trail, trial, source = 0, b"", ""
            known = decode_learned(finding) if finding else None
            found[key] = Judged(page, key, trail_of(trail), trial, traps.view_of(page.url, source), known)
        return list(found.values())

    async def _families(self, judged: Iterable[Judged], hosts: Mapping[bytes, Host]) -> dict[bytes, Host]:
        """Of pages that are the first of a new host, or trials of a family: its row, by key."""
        wanted = {self.family_key(host_of(one.page.url)) for one in judged if one.trail.sprout}
        wanted |= {one.trial[: keys.HOST_KEY] for one in judged if one.trial}
        return await self._state.hosts.load([key for key in wanted if key not in hosts])

    def _verdict(self, one: Judged, sites: Mapping[bytes, Site], hosts: Mapping[bytes, Host]) -> Verdict:
        """Judge the page by what its host, or for its first page its family, has said; and remember it there."""
        evidence, known = one.page.evidence, one.known
        if evidence is None:  # it could not be read, but for its links
            return Verdict.FRUITLESS
        if known and known.verdict and known.evidence and known.evidence.digest == evidence.digest:
            return Verdict(known.verdict)
        host = hosts[one.key[: keys.HOST_KEY]]
        site, shown = sites[host.key], Shown.of(evidence)
        if known and known.verdict:  # it has changed, and is no further page
            verdict = Verdict(known.verdict)
            verdict = verdict if verdict.is_fruitful else site.judge(shown, one.trail, ())
            site.learn(shown)
            return verdict
        verdict = self._remembered(host, site, (shown, one.trail), site.patterns_of(one.page.url, one.view, one.trail))
        family = hosts.get(self.family_key(host.row.name)) if one.trail.sprout else None
        if family is not None:
            verdict = self._remembered(family, sites[family.key], (shown, one.trail), {_FAMILY: "*"})
        if one.trial and verdict.is_fruitful:
            self._holds.proved(hosts.get(one.trial[: keys.HOST_KEY], host), one.trial[keys.HOST_KEY :])
        return verdict

    def _remembered(self, host: Host, site: Site, page: tuple[Shown, Trail], patterns: Mapping[bytes, str]) -> Verdict:
        shown, trail = page
        verdict = site.judge(shown, trail, patterns)
        site.remember(shown, trail, patterns, verdict)
        host.row.judged = site.judged
        host.row.fruitful += verdict.is_fruitful
        host.row.barren = site.barren
        host.dirty = True
        self._state.hosts.weigh(host)
        return verdict

    def trail(self, link: Link, origin: Origin | None) -> Trail:
        """How the link's URL was come by."""
        if origin is None or link.kind is not Kind.PAGE:
            return Trail(branch=branch_of(link.url))
        if not link.url.startswith(origin.root):
            host = host_of(link.url)
            if traps.family_of(host) != traps.family_of(origin.host):
                return Trail(branch=branch_of(link.url))
            if host != origin.host and not origin.passes_on:  # from one of many hosts it is found inside their pattern
                return Trail(origin.dry, self.is_sprout(origin.host), branch_of(link.url), lent=origin.lent)
        if origin.passes_on:
            return origin.trail
        pattern = traps.pattern_of(link.url) if origin.pattern else ""
        branch = origin.trail.branch
        if branch == ROOT:
            branch = branch_from(origin.url, link.url)
        return Trail(origin.dry, bool(pattern) and pattern == origin.pattern, branch, lent=origin.lent)

    # What leasing asks.

    def arrived(self, key: bytes) -> None:
        """What the URL brought is known, or that it brings no page: who waited for that may go on."""
        holder = self.awaited.arrived(key)
        host = self._state.hosts.live(holder) if holder is not None else None
        if host is not None:
            self._state.schedule(host)

    async def ready(self, hosts: Sequence[Host]) -> None:
        """Have what is known of these hosts in memory."""
        await self._sites.load(hosts)
        await self._holds.load(hosts)

    def stops(self, host: Host, pending: Pending) -> bool:
        """Must the URL wait, though its turn has come?"""
        if pending.kind != Kind.PAGE or pending.seed or pending.trial or pending.via in _TRUSTED:
            return False
        site = self._sites.live(host.key)
        if site is None:
            return False
        trail = trail_of(pending.trail)
        patterns = site.patterns_of(pending.url, traps.view_of(pending.url, pending.source), trail)
        return not trail.pardoned and (traps.is_dry(trail) or bool(site.barren_pattern(patterns, trail)))

    def hold(self, host: Host, key: bytes, pending: Pending) -> tuple[Put, Put]:
        """The held row and the URL row of a URL that must wait."""
        site = self._sites.live(host.key)
        if site is not None:
            site.doubt(key)
        return self._holds.hold(host, group_of(site, pending), key, pending)

    async def draw(self, holder: Host) -> Held | None:
        return await self._holds.draw(holder)

    def put_back(self, held: Held) -> None:
        self._holds.put_back(held)

    def changes(self, hosts: Iterable[Host]) -> list[Put]:
        """Rows of groups that changed."""
        return self._holds.changes(hosts)

    def stay(self, tried: Iterable[Held]) -> None:
        self._holds.stay(tried)

    def leave(self, tried: Iterable[Held]) -> None:
        self._holds.leave(tried)

    def rows(self, hosts: Collection[Host]) -> list[Put]:
        """Of hosts, and of their groups that changed."""
        return self._holds.rows(hosts)

    async def member(self, held: Held) -> Host:
        """The new host that a family tries."""
        name = host_of(held.pending.url)
        key = host_key(name, self._partitions)
        host = (await self._state.hosts.load([key])).get(key)
        if host is None:
            host = self._state.hosts.create(key, name)
            self._state.expect(host)
        return host

    # What admission asks.

    def live_site(self, host: bytes) -> Site | None:
        """What is known of a host (by its key), if it is in memory."""
        return self._sites.live(host)

    def family_key(self, name: str) -> bytes:
        family = traps.family_of(name)
        return host_key(family, self._partitions)[:2] + xxhash.xxh3_64_digest(f"*.{family}".encode())

    def is_sprout(self, name: str) -> bool:
        """Would this host, which is not known, be one of many of its domain?"""
        return not traps.is_ordinary(name, traps.family_of(name))

    async def family(self, name: str) -> Host:
        """The row of a new host's family, with what is known of it."""
        key = self.family_key(name)
        host = (await self._state.hosts.load([key])).get(key)
        if host is None:
            host = self._state.hosts.create(key, f"*.{traps.family_of(name)}")
        await self.ready([host])
        return host

    def family_stops(self, family: Host, trail: Trail) -> bool:
        """Must the first URL of a new host wait?"""
        site = self._sites.live(family.key)
        return traps.is_dry(trail) or (site is not None and bool(site.barren_pattern((_FAMILY,), trail)))

    def hold_sprout(self, family: Host, key: bytes, pending: Pending) -> tuple[Put, Put]:
        group: Group = family_group(family.row.name[2:])
        return self._holds.hold(family, group, key, pending)

    async def close(self) -> None:
        await self._sites.close()


def _with_verdict(one: Judged, verdict: Verdict) -> Learned:
    page = one.page
    row = one.known or Learned(
        page.url, 0.0, page.body_digest, page.text_digest, page.simhash, "", "", 0, "", "", False
    )
    trail = one.trail.packed()
    return msgspec.structs.replace(row, trail=trail, verdict=int(verdict), evidence=page.evidence, view=one.view)
