import time

import pytest

from retinue.kit.egress.retry_after import parse_retry_after

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT
IN_A_MINUTE = "Fri, 15 Jan 2027 08:01:00 GMT"
SENT_LATE = "Fri, 15 Jan 2027 08:00:45 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "0"}, 0),
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "7"}, 7),
        ({"RETRY-AFTER": "  7 "}, 7),
        ({"Retry-After": "0030"}, 30),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "301"}, 300),
        ({"Retry-After": "9" * 400}, 300),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "+5"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "1e3"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "1.5.2"}, None),
        ({"Retry-After": "7, 8"}, None),
        ({"Retry-After": "٣"}, None),
        ({"Retry-After": "²"}, None),
        ({"Retry-After-Ms": "250"}, 0.25),
        ({"Retry-After-Ms": "250", "Retry-After": "9"}, 0.25),
        ({"retry-after-ms": "1.5"}, 0.0015),
        ({"Retry-After-Ms": "9" * 400}, 300),
        ({"Retry-After-Ms": "-250", "Retry-After": "9"}, 9),
        ({"Retry-After-Ms": "soon"}, None),
        ({"Retry-After": IN_A_MINUTE}, 60),
        ({"Retry-After": IN_A_MINUTE, "Date": SENT_LATE}, 15),
        ({"retry-after": IN_A_MINUTE, "date": SENT_LATE}, 15),
        ({"Retry-After": IN_A_MINUTE, "Date": "yesterday"}, 60),
        ({"Retry-After": "Fri, 15 Jan 2027 09:01:00 +0100"}, 60),
        ({"Retry-After": "Friday, 15-Jan-27 08:01:00 GMT"}, 60),
        ({"Retry-After": "Fri Jan 15 08:01:00 2027"}, 60),
        ({"Retry-After": "Fri, 15 Jan 2027 08:01:00 -0000"}, 60),
        ({"Retry-After": "Fri, 15 Jan 2027 07:59:00 GMT"}, 0),
        ({"Retry-After": "Mon, 01 Jan 0001 00:00:00 +2359"}, 0),
        ({"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, 300),
        ({"Retry-After": "Sun, 99 Nov 2026 12:00:09 GMT"}, None),
        ({"Retry-After": "Fri, 15 Jan 99999999999999999999 08:01:00 GMT"}, None),
        ({"Retry-After": "Fri, 15 Jan 2027 08:01:00 +99999999999"}, None),
    ],
)
def test_the_pause_is_read_and_bounded(headers, seconds):
    assert parse_retry_after(headers, NOW, max_seconds=300) == seconds


@pytest.mark.parametrize("date", ["Fri, 15 Jan 2027 08:01:00 -0000", "Fri Jan 15 08:01:00 2027"])
def test_a_date_without_a_zone_is_utc(date, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert parse_retry_after({"Retry-After": date}, NOW, max_seconds=300) == 60
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_cap_is_the_callers():
    assert parse_retry_after({"Retry-After": "50"}, NOW, max_seconds=0) == 0
    assert parse_retry_after({"Retry-After": "50"}, NOW, max_seconds=2.5) == 2.5
