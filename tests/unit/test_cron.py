"""Tests of the next time of a schedule, in zones whose clocks are set forward and back."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from retinue.kit.cron import CronInvalid, parse_cron

CASES = [
    # What it says, where, after which moment (UTC), and the moments that follow.
    ("*/15 * * * *", "UTC", "2026-11-15T10:07", ["2026-11-15T10:15", "2026-11-15T10:30"]),
    ("0 9 * * mon-fri", "UTC", "2026-11-13T09:00", ["2026-11-16T09:00", "2026-11-17T09:00"]),
    ("30 8 1 jan,JUL *", "UTC", "2026-11-15T00:00", ["2027-01-01T08:30", "2027-07-01T08:30"]),
    ("0 0 13 * 5", "UTC", "2026-11-01T00:00", ["2026-11-06T00:00", "2026-11-13T00:00", "2026-11-20T00:00"]),
    ("0 0 29 2 *", "UTC", "2026-03-01T00:00", ["2028-02-29T00:00", "2032-02-29T00:00"]),
    ("0 0 * * 7", "UTC", "2026-11-15T00:00", ["2026-11-22T00:00"]),
    ("5/20 3 * * *", "UTC", "2026-11-15T00:00", ["2026-11-15T03:05", "2026-11-15T03:25", "2026-11-15T03:45"]),
    ("0 4-4/9 * * *", "UTC", "2026-11-15T00:00", ["2026-11-15T04:00", "2026-11-16T04:00"]),
    ("0 0 1 */12 */7", "UTC", "2026-11-15T00:00", ["2034-01-01T00:00"]),
    ("@daily", "Asia/Tokyo", "2026-11-15T00:00", ["2026-11-15T15:00"]),
    # Berlin jumps from 2:00 to 3:00 on 29 March 2026 (1:00 UTC) and shows 2:00 to 3:00 twice on 25 October.
    ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T00:30"]),
    ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]),
    ("30 * * * *", "Europe/Berlin", "2026-03-29T00:00", ["2026-03-29T00:30", "2026-03-29T01:30"]),
    (
        "30 * * * *",
        "Europe/Berlin",
        "2026-10-25T00:00",
        ["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"],
    ),
    ("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00", ["2018-11-04T03:00", "2018-11-05T02:00"]),
]


def test_the_next_times_are_those_that_the_clocks_of_the_zone_show():
    wrong = []
    for text, zone, after, expected in CASES:
        at = datetime.fromisoformat(after).replace(tzinfo=UTC)
        found = []
        for _ in expected:
            at = parse_cron(text).next_after(at, ZoneInfo(zone))
            found.append(f"{at:%Y-%m-%dT%H:%M}")
        if found != expected:
            wrong.append((text, zone, found, expected))
    assert not wrong


def test_what_is_no_schedule_is_refused():
    for text in (
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8",
        "5-1 * * * *", "*/0 * * * *", "a * * * *", "1,,2 * * * *", "0 0 31 2 *", "-1 * * * *", "*/ * * * *",
        "*/90 * * * *", "0 0 L * *", "0 0 * * mon#2", f"{'9' * 5000} * * * *",
    ):  # fmt: skip
        with pytest.raises(CronInvalid):
            parse_cron(text)
