"""The map of a miniature internet, a pure function of its config: hosts, names, addresses, texts, who links to whom.

Only small tables are kept (a few numbers per host); pages are made on demand. Sites, truth and the server read it.
"""

from functools import cached_property, lru_cache
from random import Random

import msgspec
import xxhash

from . import names
from .article import Article, compose, revise
from .config import POSITIONS, SimWebConfig
from .language import Language, Writer, load_languages

# A host has at most one of these; the rest of a host's habits go together freely.
WHOLE_HOST_CONSENT = frozenset({"aipref-robots", "content-signal", "tdmrep-file", "rsl-robots", "training-tokens"})
CLOSED = frozenset({"robots-closed", "robots-failing", "robots-timeout"})
ENCODINGS = {"gzip": "gzip", "brotli": "br", "zstd": "zstd"}
EXTRA = 1_000_000  # numbers of texts beyond a host's ordinary pages begin here


class Host(msgspec.Struct, frozen=True):
    """One host of the web."""

    index: int
    name: str
    address: str
    template: str
    language: Language
    habit: str  # robots-…, a whole-host consent signal, latency, or nothing
    encoding: str  # content encoding used when the client accepts it

    @property
    def closed(self) -> bool:
        """robots.txt forbids everything, by its rules or by being out of reach."""
        return self.habit in CLOSED


class World:
    """Every host, name, address and text of one config."""

    def __init__(self, config: SimWebConfig) -> None:
        if config.hosts < 1 or config.pages < 1 or config.hosts_per_address < 1:
            raise ValueError("a web needs at least one host, one page and one host per address")
        self.config = config
        self._languages = load_languages()
        self._names = names.Names(config.seed, config.suffix)
        self._habits = self._habit_names()
        self._encodings = [ENCODINGS[name] for name in ENCODINGS if name in config.misbehaviours]
        self.host = lru_cache(maxsize=4096)(self._host)
        self.article = lru_cache(maxsize=512)(self._article)
        self.title = lru_cache(maxsize=65_536)(self._title)

    def dice(self, *key: object) -> int:
        """64 random bits that depend on the seed and the key alone."""
        return xxhash.xxh3_64_intdigest(f"{self.config.seed}/{key}".encode())

    def has(self, name: str) -> bool:
        return name in self.config.misbehaviours

    def carries(self, index: int, name: str) -> bool:
        """Whether a host has this misbehaviour: every 4th does; in a very small web every one."""
        spread = 4 if self.config.hosts >= 8 else 1
        return self.has(name) and (POSITIONS[name] + index) % spread == 0

    # hosts

    def _host(self, index: int) -> Host:
        name, template = self._names.host(index)
        dice = self.dice("host", index)
        # The first host and four of ten others are English; the rest is shared out.
        english, *others = self._languages
        language = english if index == 0 or dice % 10 < 4 else others[(dice >> 8) % len(others)]
        encodings = self._encodings
        return Host(
            index=index,
            name=name,
            address=names.address_of(index // self.config.hosts_per_address),
            template=template,
            language=language,
            habit=self._habit(index),
            encoding=encodings[index % len(encodings)] if encodings else "",
        )

    def _habit_names(self) -> list[str]:
        return [
            name
            for name in POSITIONS
            if name in self.config.misbehaviours
            and (name.startswith("robots-") or name in WHOLE_HOST_CONSENT or name == "latency")
        ]

    def _habit(self, index: int) -> str:
        """The seed's host is plain; of the others every second one, if there are enough to show every habit."""
        count = len(self._habits)
        if index == 0 or not count:
            return ""
        if self.config.hosts - 1 < 2 * count:
            return self._habits[(index - 1) % count]
        turn, plain = divmod((index - 1) % (2 * count), 2)
        return "" if plain else self._habits[turn]

    def neighbour(self, index: int, step: int = 1) -> int:
        """The next host (or the one before) that is not closed; itself when there is no other."""
        for distance in range(1, self.config.hosts + 1):
            other = (index + step * distance) % self.config.hosts
            if not self.host(other).closed:
                return other
        return index

    # names

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {self.host(index).name: index for index in range(self.config.hosts)}

    @cached_property
    def _by_address(self) -> dict[str, int]:
        """The first host of each address."""
        step = self.config.hosts_per_address
        return {self.host(index).address: index for index in range(0, self.config.hosts, step)}

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self._by_address)

    def find(self, host: str) -> int | None:
        """The host that answers to a name (or a subdomain of one), or to an address."""
        index = self._by_name.get(host, self._by_address.get(host))
        if index is None and (self.has("subdomains") or self.config.scenes):
            parent = host.split(".", max(0, host.count(".") - self.config.suffix.count(".") - 1))[-1]
            index = self._by_name.get(parent)
            return index if index is not None and self._has_subdomains(index) else None
        return index

    def _has_subdomains(self, index: int) -> bool:
        scenes = self.config.scenes
        if scenes:
            return any(part.strip().partition(":")[0] == "subdomains" for part in scenes[index].split("+"))
        return self.carries(index, "subdomains")

    def hosts(self) -> dict[str, str]:
        """name → address for a crawler's static table; `*.name` where subdomains are without end."""
        table = {}
        for index in range(self.config.hosts):
            host = self.host(index)
            table[host.name] = host.address
            if self._has_subdomains(index):
                table[f"*.{host.name}"] = host.address
        return table

    # links between hosts

    @cached_property
    def _guests(self) -> dict[int, list[int]]:
        """host → hosts first linked from it: a tree over all hosts whose degrees follow a power law."""
        guests: dict[int, list[int]] = {}
        for index in range(1, self.config.hosts):
            parent = self.popular(self.dice("parent", index), index)
            while self.host(parent).closed:
                parent -= 1
            guests.setdefault(parent, []).append(index)
        return guests

    def guests(self, index: int, page: int) -> list[int]:
        """Hosts that this page must link to, so that a crawl of host 0 finds them all; on the first pages only."""
        places = min(self.config.pages, self.config.fanout + 1)
        return [guest for guest in self._guests.get(index, ()) if guest % places == page]

    def popular(self, dice: int, below: int) -> int:
        """A host below a number, low ones far more often: the cube of an even chance gives a power law."""
        return int(((dice & 0xFFFFFFFF) / 0x100000000) ** 3 * below)

    # texts

    def marker(self, host: int, number: int, version: int = 0) -> str:
        """The word that tells which text this is; a changed page has its version at the end."""
        suffix = f"-{version}" if version else ""
        return f"SW-{names.base36(host)}-{names.base36(number)}{suffix}".upper()

    def extra(self, name: str, turn: int = 0) -> int:
        """The number of a misbehaviour's own text."""
        return EXTRA + POSITIONS[name] * 100 + turn

    def _title(self, host: int, number: int) -> str:
        """Asked for every link on a page, so it needs no article."""
        language, dice = self.host(host).language, self.dice("title", host, number)
        picks = []
        for phrases in (language.titles, language.subjects, language.verbs, language.objects, language.places):
            dice, position = divmod(dice, len(phrases))
            picks.append(phrases[position])
        pattern, subject, verb, thing, place = picks
        time = language.times[dice % len(language.times)]
        text = pattern.format(S=subject, V=verb, O=thing, P=place, T=time)
        return text[0].upper() + text[1:]

    def _article(self, host: int, number: int, version: int = 0) -> Article:
        writer = Writer(self.host(host).language, Random(self.dice("text", host, number, version)))
        return compose(writer, self.title(host, number), self.marker(host, number, version), self.config.words)

    def revision(self, host: int, number: int, own: int) -> Article:
        """A near duplicate of a text, with a number of its own."""
        return revise(self.article(host, number), self.marker(host, own), Random(self.dice("revision", host, own)))
