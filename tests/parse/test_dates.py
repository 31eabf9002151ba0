"""Dates in the ways pages write them."""

from datetime import UTC, datetime

import pytest

from weft.clock import SystemClock
from weft.parse.dates import _MONTHS, parse_date

DAY = datetime(2024, 5, 1, tzinfo=UTC)
MORNING = DAY.replace(hour=10)
EVENING = DAY.replace(hour=22)


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024-03-01", datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024-03-01T10:00:00Z", datetime(2024, 3, 1, 10, tzinfo=UTC)),
        ("2024-03-01T10:00:00.000+0100", datetime(2024, 3, 1, 9, tzinfo=UTC)),
        ("Fri, 01 Mar 2024 10:00:00 GMT", datetime(2024, 3, 1, 10, tzinfo=UTC)),
        ("Fri, 01 Mar 2024 10:00:00 -0530", datetime(2024, 3, 1, 15, 30, tzinfo=UTC)),
        ("2024/3/1 08:15", datetime(2024, 3, 1, 8, 15, tzinfo=UTC)),
        ("2024年3月1日", datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024년 3월 1일", datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024. 5. 1.", DAY),
        ("20240501", DAY),
        ("20240501100000", MORNING),
        ("2024-05", None),
        ("2024-13", None),
        ("2024-02-30", None),
        ("12024-05-011", None),
        ("yesterday", None),
        ("", None),
        ("9" * 500, None),
        ("1 " * 5000, None),
        ("4" * 99 + "-", None),
    ],
)
def test_numbers_with_the_year_first(written: str, date: datetime | None) -> None:
    assert parse_date(written) == date


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("May 1, 2024 10:00 PM", EVENING),
        ("2024-05-01 10:00 PM", EVENING),
        ("2024年5月1日 下午10:00", EVENING),
        ("2024年5月1日 晚上 10:00", EVENING),
        ("2024年5月1日 上午10:00", MORNING),
        ("2024年5月1日 下午22:00", EVENING),
        ("2024年5月1日 凌晨12:00", DAY),
        ("2024年5月1日 午後10:00", EVENING),
        ("2024. 5. 1. 오후 10:00", EVENING),
        ("2024. 5. 1. 오전 10:00", MORNING),
        ("2024-05-01 10:00 p.m.", EVENING),
        ("May 1, 2024 12:00 AM", DAY),
        ("10:00am 1 May 2024", MORNING),
        ("1. Mai 2024, 10:00 Uhr", MORNING),
        ("1er mai 2024 à 10h00", MORNING),
        ("Wed May 01 2024 10:00:00 GMT+0200 (CEST)", DAY.replace(hour=8)),
        ("Wed May 01 2024 10:00:00 GMT-0700 (Pacific Daylight Time)", DAY.replace(hour=17)),
        ("Wed May  1 10:00:00 2024", MORNING),
        ("Wed May 01 10:00:00 CEST 2024", DAY.replace(hour=8)),
        ("Wed May 01 10:00:00 +0800 2024", DAY.replace(hour=2)),
        ("2024-05-01 10:00:00 EST", DAY.replace(hour=15)),
        ("2024-05-01 10:00:00 UTC", MORNING),
        ("2024-05-01 10:00:00 +02:00", DAY.replace(hour=8)),
        ("2024-05-01 10:00:00 UTC+2", DAY.replace(hour=8)),
        ("2024-05-01 10:00 Someone", MORNING),
        ("2024-05-01 25:61", DAY),
        ("May 1, 2024 at 10:00 +9999", MORNING),
    ],
)
def test_times_and_zones(written: str, date: datetime) -> None:
    assert parse_date(written) == date


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("13.05.2024", DAY.replace(day=13)),
        ("01.05.2024", DAY),
        ("13/05/2024", DAY.replace(day=13)),
        ("05/13/2024", DAY.replace(day=13)),
        ("05-05-2024", DAY.replace(day=5)),
        ("05/06/2024", None),
        ("05-06-2024", None),
        ("1.13.05.2024", None),
        ("32.05.2024", None),
    ],
)
def test_with_the_year_last_only_what_can_be_told(written: str, date: datetime | None) -> None:
    assert parse_date(written) == date


@pytest.mark.parametrize(
    "written",
    [
        "May 1, 2024",
        "May 1st, 2024",
        "MAY 01 2024",
        "1 May 2024",
        "1st of May 2024",
        "01-May-2024",
        "Published: Wednesday, May 1, 2024",
        "Mittwoch, 1. Mai 2024",
        "1er mai 2024",
        "1 de mayo de 2024",
        "1 de maio de 2024",
        "1 maggio 2024",
        "1 mei 2024",
        "1. maj 2024",
        "1 maja 2024",
        "1. května 2024",
        "1 мая 2024 г.",
        "1 травня 2024",
        "1 Mayıs 2024",
        "2024 May 1",
    ],
)
def test_words(written: str) -> None:
    assert parse_date(written) == DAY


@pytest.mark.parametrize("written", ["Part 1, 2024", "May 2024", "2024", "May 12024", "1 Mayor 2024", "May 32, 2024"])
def test_what_is_no_day_is_none(written: str) -> None:
    assert parse_date(written) is None


@pytest.mark.parametrize(
    ("written", "date"),
    [("1714557600", MORNING), ("1714557600000", MORNING), ("0000000000", None), ("17145576000", None)],
)
def test_seconds_and_milliseconds_since_1970(written: str, date: datetime | None) -> None:
    assert parse_date(written) == date


def test_years_in_which_no_page_can_be_of_are_not_said() -> None:
    next_year = datetime.fromtimestamp(SystemClock().now(), UTC).year + 1
    for form in ("{}-01-01T00:00:00Z", "{}/1/1", "1 Jan {}", "Jan 1, {}", "01.01.{}", "{}0101"):
        assert parse_date(form.format(next_year)) == datetime(next_year, 1, 1, tzinfo=UTC)
        for year in ("0001", "1970", "1989", str(next_year + 1), "9999"):
            assert parse_date(form.format(year)) is None
    assert parse_date("9999999999999") is None


def test_no_name_is_that_of_two_months() -> None:
    names = _MONTHS.replace(";", " ").split()
    assert len(names) == len(set(names))
