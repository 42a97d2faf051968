"""Tests of schedules in words."""

import pytest

from retinue.kit.cron import parse_cron
from retinue.kit.cron_words import describe_cron

CASES = [
    ("* * * * *", "Every minute"),
    ("*/15 * * * *", "Every 15 minutes"),
    ("0,30 * * * *", "Every 30 minutes"),
    ("@hourly", "Every hour"),
    ("0 */2 * * *", "Every 2 hours"),
    ("5 * * * *", "At minute 5 of every hour"),
    ("*/7 * * * *", "At minutes 0 to 56 in steps of 7 of every hour"),
    ("5 */2 * * *", "At minute 5 of the hours 00 to 22 in steps of 2"),
    ("*/10 8-17 * * 1-5", "Every 10 minutes of the hours 08 to 17 on Monday to Friday"),
    ("* 8 * * *", "Every minute of the hour 08"),
    ("@daily", "At 00:00 every day"),
    ("0 8 * * mon-fri", "At 08:00 on Monday to Friday"),
    ("0 9,17 * * sat,sun", "At 09:00 and 17:00 on Saturday and Sunday"),
    ("0 0 * * 5-7", "At 00:00 on Friday to Sunday"),
    ("0 0 * * 0", "At 00:00 on Sunday"),
    ("30 8 1 jan,JUL *", "At 08:30 on day 1 of the month in January and July"),
    ("0 8 * 6-8 *", "At 08:00 every day in June to August"),
    ("15 10 1,15 * *", "At 10:15 on day 1 and 15 of the month"),
    # Of two fields of days either one matches, unless one of them begins with an asterisk.
    ("0 9 13 * fri", "At 09:00 on day 13 of the month and on Friday"),
    ("0 9 */10 * fri", "At 09:00 on day 1, 11, 21 and 31 of the month if it is Friday"),
    ("0 9 1-31 * fri", "At 09:00 every day"),
]


@pytest.mark.parametrize(("expression", "words"), CASES)
def test_a_schedule_is_described_in_words(expression: str, words: str) -> None:
    assert describe_cron(parse_cron(expression)) == words
