"""Dates as pages write them: ISO 8601, RFC 2822, JavaScript's, numbers, words of the main European languages.

In: a value of a few words. Out: a moment, or None when it names none that can be. Called by `weft.parse.metadata`.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache

from weft.clock import SystemClock

_LONGEST = 100  # characters looked at
_EARLIEST = 1990  # year: before it there was no web, and zeros and test data lie there
_FARTHEST = timedelta(hours=14)  # of a zone from UTC

_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[-/.年년]\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<![\d./-])(\d{1,2})\s?([-/.])\s?(\d{1,2})\s?\2\s?(\d{4})(?!\d)")
_WORD = r"([^\W\d_]{3,12})"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?"
# Which groups are year, month and day; a time may stand between day and year, as in Unix and in some interfaces.
_WORDED = (
    (
        re.compile(
            rf"{_WORD}\.?[\s/-]*(\d{{1,2}})(?:st|nd|rd|th)?(?:[\s,/-]+|\s{_CLOCK}\s(?:\S{{1,6}}\s)?)(\d{{4}})(?!\d)"
        ),
        (3, 1, 2),
    ),
    (
        re.compile(
            r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º)?[.,]?[\s/-]*(?:de\s|of\s|d['’])?"
            rf"{_WORD}[.,]?[\s/-]*(?:del?\s)?(\d{{4}})(?!\d)"
        ),
        (3, 2, 1),
    ),
    (re.compile(rf"(?<!\d)(\d{{4}})[.,]?[\s/-]+{_WORD}[.,]?[\s/-]*(\d{{1,2}})(?!\d)"), (1, 2, 3)),
)
_MORNING = "上午|凌晨|清晨|早上|午前|오전"
_AFTERNOON = "下午|中午|傍晚|晚上|午後|오후"
_LATER = frozenset(("p", "P", *_AFTERNOON.split("|")))
_TIME = re.compile(
    rf"(?:({_MORNING}|{_AFTERNOON})\s?)?"
    r"(?<!\d)(\d{1,2})[:h](\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?!\d)(?:\s?([ap])\.?m\b\.?)?",
    re.IGNORECASE,
)
_ZONE = re.compile(r"\s?\(?([A-Z]{1,4})?(?![a-z])\s?(?:([-+\u2212])(\d{1,2})(?::?(\d{2}))?(?!\d))?")
# Hours from UTC. What America calls by two letters is an hour off in summer; taking it for UTC would be worse.
_ZONES = (
    "EST-5 EDT-4 CST-6 CDT-5 MST-7 MDT-6 PST-8 PDT-7 ET-5 CT-6 MT-7 PT-8 WEST+1 BST+1 CET+1 CEST+2 MEZ+1 MESZ+2 EET+2 "
    "EEST+3 MSK+3 JST+9 KST+9 AEST+10 AEDT+11"
)
# Without accents. English, German, French, Spanish, Portuguese, Italian, Dutch, Scandinavian, Polish, Czech, Russian,
# Ukrainian, Turkish; no word is another month in another of these.
_MONTHS = """
  january jan januar janner janvier janv enero ene janeiro gennaio gen januari styczen stycznia sty leden ledna
    январь января янв січень січня ocak;
  february feb februar fevrier fevr febrero fevereiro fev febbraio februari luty lutego unor unora февраль
    февраля фев лютии лютого subat;
  march mar marz maerz mrz mars marzo marco maart mrt marts marzec marca brezen brezna март марта мар березень
    березня mart;
  april apr avril avr abril abr aprile kwiecien kwietnia kwi duben dubna апрель апреля апр квітень квітня nisan;
  may mai mayo maio maggio mag mei maj maja kveten kvetna маи мая травень травня mayıs;
  june jun juni juin junio junho giugno giu czerwiec czerwca cze cerven cervna июнь июня июн червень червня
    haziran;
  july jul juli juillet juil julio julho luglio lug lipiec lipca lip cervenec cervence июль июля июл липень
    липня temmuz;
  august aug aout agosto ago augustus augusti sierpien sierpnia sie srpen srpna август августа авг серпень
    серпня agustos;
  september sep sept septembre septiembre setiembre setembro set settembre wrzesien wrzesnia wrz zari сентябрь
    сентября сен сент вересень вересня eylul;
  october oct oktober okt octobre octubre outubro out ottobre ott oktobar pazdziernik pazdziernika paz rijen
    rijna октябрь октября окт жовтень жовтня ekim;
  november nov novembre noviembre novembro listopad listopada lis ноябрь ноября ноя листопад листопада kasım;
  december dec dezember dez decembre diciembre dic dezembro dicembre grudzien grudnia gru prosinec prosince
    декабрь декабря дек грудень грудня aralık desember des
"""


def parse_date(value: str) -> datetime | None:
    """The moment named first; midnight where no time is named, UTC where no zone is."""
    value = " ".join(value[: 2 * _LONGEST].split())[:_LONGEST]
    if value.isascii() and value.isdigit():
        return _plausible(_of_digits(value))
    try:
        return _plausible(datetime.fromisoformat(value))
    except ValueError:
        pass
    for day, start, end in _days(value):
        if _plausible(day):
            return _at_time(day, value[end:]) or _at_time(day, value[start:end]) or _at_time(day, value[:start]) or day
    return None


def _plausible(date: datetime | None) -> datetime | None:
    """The date with its zone, if pages are of such a year."""
    latest = datetime.fromtimestamp(SystemClock().now(), UTC).year + 1
    if date is None or not _EARLIEST <= date.year <= latest:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _of_digits(value: str) -> datetime | None:
    """20240501, with or without the time; seconds or milliseconds since 1970."""
    try:
        if len(value) in (10, 13):
            return datetime.fromtimestamp(int(value[:10]), UTC)
        if len(value) in (8, 12, 14):
            return datetime.strptime(value.ljust(14, "0"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        pass
    return None


def _days(value: str) -> Iterator[tuple[datetime, int, int]]:
    """Days that a value names, each with the place where it is named: numbers are surer than words.

    A month alone is none: there is no day that would not be made up.
    """
    for match in _YEAR_FIRST.finditer(value):
        yield from _day(match, match[1], match[2], match[3])
    for match in _YEAR_LAST.finditer(value):
        first, separator, second, year = match.groups()
        # With points the day comes first wherever it is written so; else only the numbers can tell.
        if separator == "." or int(first) > 12 or first == second:
            yield from _day(match, year, second, first)
        elif int(second) > 12:
            yield from _day(match, year, first, second)
    for pattern, (year_group, month_group, day_group) in _WORDED:
        for match in pattern.finditer(value):
            month = _months().get(_plain(match[month_group]))
            if month:
                yield from _day(match, match[year_group], month, match[day_group])


def _day(match: re.Match[str], year: str, month: str | int, day: str | int) -> Iterator[tuple[datetime, int, int]]:
    try:
        yield datetime(int(year), int(month), int(day), tzinfo=UTC), *match.span()
    except ValueError:
        return


def _at_time(day: datetime, words: str) -> datetime | None:
    """The day at the time that these words name, if they name one."""
    match = _TIME.search(words)
    if match is None:
        return None
    hour, minute, second = int(match[2]), int(match[3]), int(match[4] or 0)
    half = match[1] or match[5]
    if half and hour <= 12:
        hour = hour % 12 + (12 if half in _LATER else 0)
    try:
        return day.replace(hour=hour, minute=minute, second=second, tzinfo=_zone(words[match.end() :]))
    except ValueError:
        return None


def _zone(words: str) -> tzinfo:
    """The zone at the beginning of these words; UTC if there is none, or none that is known."""
    match = _ZONE.match(words)
    if match is None:
        return UTC
    name, sign, hours, minutes = match.groups()
    if not sign:
        return timezone(timedelta(hours=_zones().get(name, 0)))
    distance = timedelta(hours=int(hours), minutes=int(minutes or 0))
    if distance > _FARTHEST:
        return UTC
    return timezone(distance if sign == "+" else -distance)


@cache
def _zones() -> dict[str, int]:
    return {name: int(hours) for name, hours in re.findall(r"([A-Z]+)([-+]\d+)", _ZONES)}


@cache
def _months() -> dict[str, int]:
    return {name: number for number, names in enumerate(_MONTHS.split(";"), 1) for name in names.split()}


def _plain(word: str) -> str:
    """In lower case, without accents."""
    letters = unicodedata.normalize("NFKD", word.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
